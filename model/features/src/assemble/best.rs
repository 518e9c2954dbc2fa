//! The best of a document, and BM25.

use std::collections::BTreeSet;

use tabsegnet_lexical::{Bm25Config, LexicalIndex};

use super::BM25_UNIT;
use crate::compare::{Column, Comparison};
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
    /// Of the distinct strings of `places` as they are `compared`, with the cosines `[nodes]` of whole nodes, which may
    /// be empty.
    pub(super) fn of(places: &Distinct, compared: &[Comparison], cosines: &[f32]) -> Self {
        let best = |strings: &Vec<u32>| {
            let mut best = [f32::NEG_INFINITY; crate::compare::COLUMNS];
            for &string in strings {
                let values = &compared[string as usize];
                best.iter_mut().zip(values).for_each(|(best, value)| *best = best.max(*value));
            }
            best
        };
        let mut of_document = places.of_document.each_ref().map(best);
        if !cosines.is_empty() {
            of_document[0][Column::Cosine as usize] = cosines.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        }
        Self { of_document, of_table: places.of_table.iter().map(|lines| lines.each_ref().map(best)).collect() }
    }
}

/// The distinct strings that stand somewhere.
#[derive(Debug, Clone)]
pub(super) struct Distinct {
    /// For each part.
    of_document: [Vec<u32>; PARTS.len()],
    /// For each table, of row and column paths.
    of_table: Vec<[Vec<u32>; 2]>,
}

impl Distinct {
    pub(super) fn new(strings: &Strings) -> Self {
        let mut of_document: [BTreeSet<u32>; PARTS.len()] = Default::default();
        let mut of_table: Vec<[BTreeSet<u32>; 2]> = vec![Default::default(); strings.tables];
        for (node, table) in strings.nodes.iter().zip(&strings.table) {
            of_document.iter_mut().zip(node.parts).for_each(|(known, string)| {
                known.insert(string);
            });
            if let Some(table) = table {
                let lines = of_table[*table as usize].iter_mut().zip(&node.parts[1..]);
                lines.for_each(|(known, string)| {
                    known.insert(*string);
                });
            }
        }
        let list = |set: BTreeSet<u32>| set.into_iter().collect();
        Self { of_document: of_document.map(list), of_table: of_table.into_iter().map(|sets| sets.map(list)).collect() }
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
