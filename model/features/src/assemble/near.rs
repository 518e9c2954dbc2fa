//! Phrases and context of a question.

use super::ContextIndex;
use super::query::Out;
use crate::config::FeaturesConfig;
use crate::context::{self, View};
use crate::phrases;
use crate::question::Question;
use crate::strings::Strings;

/// What the texts around nodes say of a question.
pub(super) struct Near {
    query: phrases::QueryPhrases,
    shared: Vec<phrases::Shared>,
    best: phrases::BestShared,
    years: Vec<f32>,
    most_years: f32,
    /// `[nodes]`, or empty; what vectors say is not in it yet.
    context: Vec<context::Row>,
}

impl Near {
    pub(super) fn of(
        context_index: &ContextIndex,
        strings: &Strings,
        question: &Question,
        config: FeaturesConfig,
    ) -> Self {
        let query = phrases::QueryPhrases::new(question, &context_index.phrases);
        let shared = query.shared_of_nodes(&context_index.phrases);
        let years = query.years_of_tables(&context_index.phrases);
        let most_years = years.iter().copied().fold(0.0, f32::max);
        let (context, best) = rayon::join(
            || match config.context {
                true => context::of_texts(&view(context_index, strings), &query, &shared),
                false => Vec::new(),
            },
            || phrases::BestShared::of(&shared, strings),
        );
        Self { best, query, shared, years, most_years, context }
    }

    /// The context with what the cosines `[nodes]` of nodes and question say.
    pub(super) fn context(
        &self,
        context_index: &ContextIndex,
        strings: &Strings,
        cosines: &[f32],
    ) -> Vec<context::Row> {
        let mut context = self.context.clone();
        if !context.is_empty() {
            context::add_vectors(&view(context_index, strings), cosines, &mut context);
        }
        context
    }

    pub(super) fn write_phrases(
        &self,
        context_index: &ContextIndex,
        table: Option<usize>,
        node: usize,
        out: &mut Out<'_>,
    ) {
        self.best.write(&self.shared[node], table, out.take(phrases::SHARED_COUNT));
        self.query.write_years(&context_index.phrases, node, out.take(phrases::YEARS_COUNT));
        let years = table.map_or(0.0, |table| self.years[table]);
        out.push(years);
        out.push(years - self.most_years);
    }
}

fn view<'a>(context_index: &'a ContextIndex, strings: &'a Strings) -> View<'a> {
    let ContextIndex { phrases, order, lines } = context_index;
    View { strings, phrases, order, lines }
}
