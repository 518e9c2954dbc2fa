//! The `[features]` section of a config, and which features its groups switch.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::bm25::NodeBm25;
use crate::compare;
use crate::context::Context;
use crate::kind::Kind;
use crate::marks::{CellMarks, SentenceMarks};
use crate::naming::NodeNaming;
use crate::phrases::NodePhrases;
use crate::places::NodePlace;
use crate::schema::{Feature, Schema};
use crate::sections::NodeSection;
use crate::segments::NodeSegment;
use crate::spans::NodeSpan;
use crate::table_scorer::TableScore;
use crate::tables::TableFit;

/// The settings, each with what it switches.
macro_rules! groups {
    ($($(#[$doc:meta])* $group:ident;)*) => {
        /// Which features a node gets. Without any the model is the paper's.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct FeaturesConfig {
            $($(#[$doc])* pub $group: bool,)*
        }

        impl FeaturesConfig {
            /// All of them.
            pub const ALL: Self = Self { $($group: true,)* };

            /// Each group without the others, by name.
            #[cfg(test)]
            pub(crate) const GROUPS: &[(&str, Self)] =
                &[$((stringify!($group), Self { $group: true, ..Self::NONE })),*];

            #[cfg(test)]
            const NONE: Self = Self { $($group: false,)* };

            /// Those of both.
            #[cfg(test)]
            pub(crate) fn without(self, other: Self) -> Self {
                Self { $($group: self.$group && !other.$group,)* }
            }
        }
    };
}

groups! {
    /// Shares of words, years and other numbers that the question has in common with each part of
    /// the node, weighted by how rare they are in the document.
    words;
    /// The same with words whose vectors are similar.
    similar_words;
    /// Cosine of the question's vector to that of each part of the node.
    cosine;
    /// Those above less the best of the document, and within the node's own table.
    relative;
    /// BM25 of the node's text with and without its headers, and of the best node of its table.
    bm25;
    /// Kind of the node, its place in the table, the table's size.
    places;
    /// How the node's table fits the sentences of the document.
    tables;
    /// Stems, runs of words and of letters, and years that the question has in common with the node's
    /// headers, also less the best of the document and of the table.
    phrases;
    /// The node's context: the sentence before its table, its table as a whole, its row and column.
    context;
    /// What sentences and cells look like: sentences that announce a table, totals, closing balances.
    marks;
    /// What kind of question it is.
    question_kind;
    /// How likely the node's table is to hold what is wanted, by a small model of its own from what table and
    /// sentences have in common ([`crate::TableScorer`]).
    table_relevance;
    /// What the node's headers have in common with the segment of the question that it answers best.
    segments;
    /// Whether the node stands at an end of the span of years that the question is about, named or not.
    spans;
    /// What the headings over the node, and all that stands under them, have in common with the question.
    sections;
    /// What the rows that name a passage, and the passages that a row names, have of the question together.
    naming;
}

node_features! {
    /// Each part of the node compared with the question.
    parts = (compare::parts);
    /// The same less the best of the document and of the table.
    relative = (compare::relative);
    bm25 = (NodeBm25, "bm25.{}", bm25, question);
    places = (NodePlace, "place.{}", places, document);
    tables = (TableFit, "fit.{}", tables, document);
    phrases = (NodePhrases, "{}", phrases, question);
    context = (Context, "context.{}", context, question);
    sentences = (SentenceMarks, "sentence.{}", marks, document);
    cells = (CellMarks, "cell.{}", marks, document);
    kind = (Kind, "question.{}", question_kind, question);
    table_relevance = (TableScore, "table_relevance.{}", table_relevance, document);
    segments = (NodeSegment, "segment.{}", segments, question);
    spans = (NodeSpan, "span.{}", spans, question);
    sections = (NodeSection, "section.{}", sections, question);
    naming = (NodeNaming, "naming.{}", naming, question);
}

impl FeaturesConfig {
    /// Names of the features of a node, in order.
    pub fn names(self) -> Vec<String> {
        self.features().into_iter().map(|feature| feature.name).collect()
    }

    /// How many features a node gets.
    pub fn count(self) -> usize {
        Layout::new(self).count
    }

    /// Whether vectors of [`crate::Strings::compared`] are wanted.
    pub fn compares(self) -> bool {
        self.cosine || self.tables || self.table_relevance
    }

    /// Whether phrases, and the order of sentences and tables, are wanted.
    pub(crate) fn needs_context(self) -> bool {
        self.phrases
            || self.context
            || self.marks
            || self.table_relevance
            || self.segments
            || self.spans
            || self.sections
    }
}
