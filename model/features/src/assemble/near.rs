//! Phrases and context of a question.

use super::Around;
use super::asked::Out;
use crate::config::FeaturesConfig;
use crate::context::{self, Sight};
use crate::phrases;
use crate::question::Question;
use crate::strings::Strings;

/// What the texts around nodes say of a question.
pub(super) struct Near {
    asked: phrases::Asked,
    shared: Vec<phrases::Shared>,
    best: phrases::BestShared,
    years: Vec<f32>,
    most_years: f32,
    /// `[nodes]`, or empty; what vectors say is not in it yet.
    context: Vec<context::Row>,
}

impl Near {
    pub(super) fn of(around: &Around, strings: &Strings, question: &Question, config: FeaturesConfig) -> Self {
        let asked = phrases::Asked::new(question, &around.phrases);
        let shared = asked.shared_of_nodes(&around.phrases);
        let years = asked.years_of_tables(&around.phrases);
        let most_years = years.iter().copied().fold(0.0, f32::max);
        let (context, best) = rayon::join(
            || match config.context {
                true => context::of_texts(&sight(around, strings), &asked, &shared),
                false => Vec::new(),
            },
            || phrases::BestShared::of(&shared, strings),
        );
        Self { best, asked, shared, years, most_years, context }
    }

    /// The context with what the cosines `[nodes]` of nodes and question say.
    pub(super) fn context(&self, around: &Around, strings: &Strings, cosines: &[f32]) -> Vec<context::Row> {
        let mut context = self.context.clone();
        if !context.is_empty() {
            context::add_vectors(&sight(around, strings), cosines, &mut context);
        }
        context
    }

    pub(super) fn write_phrases(&self, around: &Around, table: Option<usize>, node: usize, out: &mut Out<'_>) {
        self.best.write(&self.shared[node], table, out.take(phrases::SHARED_COUNT));
        self.asked.write_years(&around.phrases, node, out.take(phrases::YEARS_COUNT));
        let years = table.map_or(0.0, |table| self.years[table]);
        out.push(years);
        out.push(years - self.most_years);
    }
}

fn sight<'a>(around: &'a Around, strings: &'a Strings) -> Sight<'a> {
    let Around { phrases, order, lines } = around;
    Sight { strings, phrases, order, lines }
}
