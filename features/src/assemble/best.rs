//! The best of a document, and BM25.

use tabsegnet_data::lexical::{Bm25Config, LexicalIndex};

use super::BM25_UNIT;
use crate::compare::Comparison;
use crate::config::PARTS;
use crate::question::Question;
use crate::strings::Strings;

/// Greatest values.
pub(super) struct Best {
    /// For each part.
    pub(super) of_document: [Comparison; PARTS.len()],
    /// For each table, of row and column paths.
    pub(super) of_table: Vec<[Comparison; 2]>,
}

impl Best {
    pub(super) fn of(parts: &[[Comparison; PARTS.len()]], strings: &Strings) -> Self {
        const LOWEST: Comparison = [f32::NEG_INFINITY; crate::compare::COLUMNS];
        let raise = |best: &mut Comparison, values: &Comparison| {
            best.iter_mut().zip(values).for_each(|(best, value)| *best = best.max(*value));
        };
        let mut found = Self { of_document: [LOWEST; PARTS.len()], of_table: vec![[LOWEST; 2]; strings.tables] };
        for (parts, table) in parts.iter().zip(&strings.table) {
            found.of_document.iter_mut().zip(parts).for_each(|(best, part)| raise(best, part));
            if let Some(table) = table {
                let [row, column] = &mut found.of_table[*table as usize];
                raise(row, &parts[1]);
                raise(column, &parts[2]);
            }
        }
        found
    }
}

/// BM25 of each node.
pub(super) struct Bm25 {
    pub(super) scores: [Vec<f32>; 2],
    pub(super) best: [f32; 2],
    /// Of each table's best node, by the first index.
    pub(super) of_table: Vec<f32>,
}

impl Bm25 {
    pub(super) fn of(indices: &[LexicalIndex; 2], question: &Question, strings: &Strings) -> Self {
        let scores = indices.each_ref().map(|index| index.bm25(question.text(), Bm25Config::default()));
        let best = scores.each_ref().map(|scores| scores.iter().fold(1e-6, |best: f32, score| best.max(*score)));
        let mut of_table = vec![0.0_f32; strings.tables];
        for (score, table) in scores[0].iter().zip(&strings.table) {
            if let Some(table) = table {
                let best = &mut of_table[*table as usize];
                *best = best.max(*score);
            }
        }
        Self { scores, best, of_table }
    }

    pub(super) fn of_node(&self, node: usize, strings: &Strings) -> [f32; 5] {
        let [path, bare] = [self.scores[0][node], self.scores[1][node]];
        let table = strings.table[node].map_or(0.0, |table| self.of_table[table as usize]);
        [path / BM25_UNIT, path / self.best[0], bare / BM25_UNIT, bare / self.best[1], table / self.best[0]]
    }
}
