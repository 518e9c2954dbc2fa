//! The `[features]` section of a config.

use serde::{Deserialize, Serialize};

use crate::compare::{COSINE, Column, SIMILAR, WORDS};
use crate::{context, marks, phrases, places, query, segments, spans, table_scorer, tables};

/// Which features a node gets. Without any the model is the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeaturesConfig {
    /// Shares of words, years and other numbers that the question has in common with each part of
    /// the node, weighted by how rare they are in the document.
    pub words: bool,
    /// The same with words that are alike by their vectors.
    pub similar_words: bool,
    /// Cosine of the question's vector to that of each part of the node.
    pub cosine: bool,
    /// Those above less the best of the document, and within the node's own table.
    pub relative: bool,
    /// BM25 of the node's text with and without its headers, and of the best node of its table.
    pub bm25: bool,
    /// Kind of the node, its place in the table, the table's size.
    pub places: bool,
    /// How the node's table fits the sentences around it.
    pub tables: bool,
    /// Stems, runs of words and of letters, and years that the question has in common with the node's
    /// headers, also less the best of the document and of the table.
    pub phrases: bool,
    /// What stands around the node: the sentence before its table, its table as a whole, its row and
    /// column.
    pub context: bool,
    /// What sentences and cells look like: sentences that announce a table, totals, closing balances.
    pub marks: bool,
    /// What kind of question it is.
    pub question_kind: bool,
    /// How likely the node's table is to hold what is wanted, told by a small model of its own from
    /// what table and sentences have in common ([`crate::TableScorer`]).
    pub table_relevance: bool,
    /// What the node's headers have in common with the segment of the question that it answers best.
    pub segments: bool,
    /// Whether the node stands at an end of the span of years that the question asks for, named or not.
    pub spans: bool,
}

/// Parts of a node that are compared with the question, in order.
pub(crate) const PARTS: [&str; 4] = ["own", "row", "column", "table"];

/// BM25's features.
const BM25: [&str; 5] = ["path", "path_of_best", "bare", "bare_of_best", "table_of_best"];

impl FeaturesConfig {
    /// All of them.
    pub const ALL: Self = Self {
        words: true,
        similar_words: true,
        cosine: true,
        relative: true,
        bm25: true,
        places: true,
        tables: true,
        phrases: true,
        context: true,
        marks: true,
        question_kind: true,
        table_relevance: true,
        segments: true,
        spans: true,
    };

    /// Columns of a comparison with one string that are wanted.
    pub(crate) fn columns(self) -> Vec<Column> {
        let mut columns = Vec::new();
        for (wanted, group) in [(self.words, WORDS), (self.cosine, COSINE), (self.similar_words, SIMILAR)] {
            if wanted {
                columns.extend_from_slice(group);
            }
        }
        columns
    }

    /// Names of the features of a node, in order; as many as [`crate::DocumentFeatures::ask`] gives.
    pub fn names(self) -> Vec<String> {
        let columns = self.columns();
        let mut names = Vec::new();
        for part in PARTS {
            names.extend(columns.iter().map(|column| format!("{part}.{}", column.name())));
        }
        if self.relative {
            let relative = columns.iter().filter(|column| column.is_relative());
            let relative: Vec<_> = relative.map(|column| column.name()).collect();
            let kinds = PARTS.map(|part| format!("{part}.{{}}.of_document"));
            for kind in kinds.iter().map(String::as_str).chain([
                "row.{}.of_table",
                "column.{}.of_table",
                "row.{}.best_of_table",
            ]) {
                names.extend(relative.iter().map(|column| kind.replace("{}", column)));
            }
        }
        let mut group = |wanted: bool, prefix: &str, group: &[&str]| {
            if wanted {
                names.extend(group.iter().map(|name| format!("{prefix}.{name}")));
            }
        };
        group(self.bm25, "bm25", &BM25);
        group(self.places, "place", &places::NAMES);
        group(self.tables, "fit", &tables::names());
        if self.phrases {
            names.extend(phrases::names());
        }
        let mut group = |wanted: bool, prefix: &str, group: &[&str]| {
            if wanted {
                names.extend(group.iter().map(|name| format!("{prefix}.{name}")));
            }
        };
        group(self.context, "context", &context::NAMES);
        group(self.marks, "sentence", &marks::SENTENCES);
        group(self.marks, "cell", &marks::CELLS);
        group(self.question_kind, "question", &query::NAMES);
        group(self.table_relevance, "table_relevance", &table_scorer::NAMES);
        group(self.segments, "segment", &segments::NAMES);
        group(self.spans, "span", &spans::NAMES);
        names
    }

    /// Whether vectors of [`crate::Strings::compared`] are wanted.
    pub fn compares(self) -> bool {
        self.cosine || self.tables || self.table_relevance
    }

    /// Whether what stands around the nodes is wanted: phrases, and the order of sentences and tables.
    pub(crate) fn needs_context(self) -> bool {
        self.phrases || self.context || self.marks || self.table_relevance || self.segments || self.spans
    }

    /// How many features a node gets.
    pub fn count(self) -> usize {
        self.names().len()
    }
}
