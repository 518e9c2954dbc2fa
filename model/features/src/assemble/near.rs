//! What phrases have of a question.

use super::ContextIndex;
use crate::context::{self, Context};
use crate::phrases::{BestOverlaps, NodePhrases, Overlap, Paths, PhraseMatches, TableYears};
use crate::question::Question;
use crate::sections::{NodeSection, Sections};
use crate::strings::Strings;

/// What the document's phrases have of a question.
pub(super) struct Near {
    query: PhraseMatches,
    overlaps: Vec<Paths<Overlap>>,
    best: BestOverlaps,
    /// The share of the question's years that each table has, and the greatest.
    years: Vec<f32>,
    most_years: f32,
    /// `[nodes]`, or empty; the cosines are not in it yet.
    pub(super) context: Vec<Context>,
}

impl Near {
    pub(super) fn new(context_index: &ContextIndex, strings: &Strings, question: &Question, context: bool) -> Self {
        let query = PhraseMatches::new(question, &context_index.phrases);
        let overlaps = query.overlaps(&context_index.phrases);
        let years = query.years_of_tables(&context_index.phrases);
        let most_years = years.iter().copied().fold(0.0, f32::max);
        let (context, best) = rayon::join(
            || match context {
                true => context::of_texts(&context_index.view(strings), &query, &overlaps),
                false => Vec::new(),
            },
            || BestOverlaps::new(&overlaps, strings),
        );
        Self { best, query, overlaps, years, most_years, context }
    }

    /// Of each node; `cosines` `[nodes]` are those of their vectors.
    pub(super) fn sections(&self, index: &ContextIndex, sections: &Sections, cosines: &[f32]) -> Vec<NodeSection> {
        sections.of_question(&index.phrases, &self.query, &self.overlaps, cosines)
    }

    pub(super) fn phrases(&self, context_index: &ContextIndex, table: Option<usize>, node: usize) -> NodePhrases {
        let Paths { headers, row, column } = self.best.relative(&self.overlaps[node], table);
        let years = self.query.years(&context_index.phrases, node);
        NodePhrases {
            headers,
            row,
            column,
            headers_years: years.headers,
            row_years: years.row,
            column_years: years.column,
            table: TableYears::of(table.map_or(0.0, |table| self.years[table]), self.most_years),
        }
    }
}
