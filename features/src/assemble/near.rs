//! Phrases and context of a question.

use super::{Around, Out};
use crate::config::FeaturesConfig;
use crate::question::Question;
use crate::strings::Strings;
use crate::{context, phrases};

/// Phrases and context of a question.
pub(super) struct Near {
    pub(super) asked: phrases::Asked,
    pub(super) shared: Vec<phrases::Shared>,
    pub(super) best: phrases::BestShared,
    pub(super) years: Vec<f32>,
    pub(super) most_years: f32,
    pub(super) context: Vec<[f32; context::NAMES.len()]>,
}

impl Near {
    pub(super) fn of(
        around: &Around,
        strings: &Strings,
        question: &Question,
        cosine: &[f32],
        config: FeaturesConfig,
    ) -> Self {
        let Around { phrases, order, lines } = around;
        let asked = phrases::Asked::new(question, phrases);
        let shared = asked.shared_of_nodes(phrases);
        let years = asked.years_of_tables(phrases);
        let context = match config.context {
            true => {
                let shares: Vec<[f32; 3]> = shared.iter().map(|shared| shared.map(|part| part[0])).collect();
                let row_text: Vec<f32> = shared.iter().map(|shared| shared[1][1]).collect();
                let sight = context::Sight {
                    strings,
                    phrases,
                    order,
                    lines,
                    asked: &asked,
                    cosine,
                    shares: &shares,
                    row_text: &row_text,
                };
                context::context(&sight)
            }
            false => Vec::new(),
        };
        let most_years = years.iter().copied().fold(0.0, f32::max);
        Self { best: phrases::BestShared::of(&shared, strings), asked, shared, years, most_years, context }
    }

    pub(super) fn write(
        &self,
        around: &Around,
        strings: &Strings,
        node: usize,
        config: FeaturesConfig,
        out: &mut Out<'_>,
    ) {
        if config.phrases {
            let table = strings.table[node].map(|table| table as usize);
            self.best.write(&self.shared[node], table, out.take(phrases::SHARED_COUNT));
            self.asked.write_years(&around.phrases, node, out.take(phrases::YEARS_COUNT));
            let years = table.map_or(0.0, |table| self.years[table]);
            out.push(years);
            out.push(years - self.most_years);
        }
        if config.context {
            out.take(context::NAMES.len()).copy_from_slice(&self.context[node]);
        }
    }
}
