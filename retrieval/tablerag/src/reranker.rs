//! What proposes, recalls and orders chunks, and the features that it looks at.

use std::path::Path;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use tabsegnet_corpus::Weights;
use tabsegnet_features::{Schema, features};
use tabsegnet_ranker::boosting::BoostedTrees;

use crate::error::LibraryError;

features! {
    /// What a chunk has of a question.
    pub(crate) struct Features {
        title,
        section,
        caption,
        header,
        first_column,
        cells,
        any,
        dense,
        sum,
        sum_below_best,
        sum_rank,
        is_table,
        title_terms,
        title_whole,
        own_terms,
        best_row,
        row_and_schema,
        rows,
        links,
        linked_by_title,
        linked_row,
        linked_schema,
        linked_union,
        linked_gain,
        linked_sum,
        linked_rank,
        linked_is_best_row,
        linked_table_best,
        linked_header,
        sibling_union,
        sibling_gain,
        sibling_sum,
        who,
        when,
        what_place,
        how_many,
        question_terms,
        pairs,
        row_pairs,
        linked_pairs,
        beside_sum,
        beside_terms,
        beside_gain,
    }
}

features! {
    /// What the trees see beside: how near the question's words are to a chunk's, by their vectors.
    pub(crate) struct Near {
        recalled,
        recalled_below_best,
        rank,
        near,
        near_of_missing,
        missing,
        near_title,
        near_header,
        digits,
        length,
    }
}

/// What proposes, recalls and orders chunks, fitted on HybridQA's training part.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranker {
    /// What the sum counts.
    pub weights: Weights,
    /// What recall counts, one a feature.
    pub recall: Vec<f32>,
    /// The order of what was recalled.
    pub trees: BoostedTrees,
}

#[derive(Serialize, Deserialize)]
struct About {
    weights: Weights,
    features: Vec<String>,
    recall: Vec<f32>,
}

/// What proposes chunks unless something else was fitted: words and vectors alike.
pub const PROPOSING: Weights = Weights {
    title: 1.0,
    section: 0.5,
    caption: 1.0,
    header: 0.5,
    first_column: 0.5,
    cells: 0.5,
    any: 1.0,
    dense: 1.0,
};

impl Reranker {
    /// The one that comes with the project.
    ///
    /// # Errors
    /// It was fitted to other features than this version has.
    pub fn shipped() -> Result<&'static Self, LibraryError> {
        static SHIPPED: OnceLock<Result<Reranker, String>> = OnceLock::new();
        let read = || {
            Self::parse(include_str!("reranker.json"), include_bytes!("reranker.safetensors"))
                .map_err(|error| error.to_string())
        };
        SHIPPED.get_or_init(read).as_ref().map_err(|reason| LibraryError::Reranker(reason.clone()))
    }

    /// Reads weights and trees.
    ///
    /// # Errors
    /// They are damaged, or of other features than this version has.
    pub fn parse(json: &str, trees: &[u8]) -> Result<Self, LibraryError> {
        let wrong =
            |reason: String| LibraryError::Reranker(format!("{reason}; fit it again with --example fit_chunks"));
        let names: Vec<String> = Features::names().into_iter().chain(Near::names()).collect();
        let About { weights, features, recall } =
            serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
        if features != names || recall.len() != Features::COUNT {
            return Err(wrong("it looks at other features than this version has".to_owned()));
        }
        let trees = BoostedTrees::parse(Path::new("reranker.safetensors"), trees, Reranker::width_of_trees());
        let trees = trees.map_err(wrong)?;
        Ok(Self { weights, recall, trees })
    }

    /// Weights as JSON, as [`Reranker::parse`] reads them.
    ///
    /// # Errors
    /// A weight that is no number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let features = Features::names().into_iter().chain(Near::names()).collect();
        let about = About { weights: self.weights, features, recall: self.recall.clone() };
        serde_json::to_string_pretty(&about)
    }

    /// How many features recall looks at.
    pub fn width() -> usize {
        Features::COUNT
    }

    /// How many the trees look at.
    pub fn width_of_trees() -> usize {
        Features::COUNT + Near::COUNT
    }

    /// What it recalls.
    pub fn score(&self, row: &[f32]) -> f32 {
        self.recall.iter().zip(row).map(|(weight, value)| weight * value).sum()
    }
}
