//! Whether labels of filings that nothing was learnt from are nearest to labels of the same concept.

use std::collections::BTreeSet;
use std::fmt;

use anyhow::{Result, ensure};
use rayon::prelude::*;
use tabsegnet_generate::ixbrl::Label;
use tabsegnet_lexical::tokenize;

use super::paraphrases::Paraphrases;
use super::table::TokenTable;
use super::vocabulary::Vocabulary;
use crate::batches::floats;

/// Labels to look for among others.
pub(super) struct Nearest {
    /// The labels that were learnt from, alone.
    known: Paraphrases,
    sought: Vec<Sought>,
}

/// A label of a filing that is held out.
struct Sought {
    tokens: Vec<u32>,
    /// Known texts of its concept; never empty.
    same: Vec<usize>,
    /// None of these is the same text but for case and punctuation.
    reworded: bool,
}

/// How high the first label of the same concept is ranked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranks {
    labels: usize,
    first: f64,
    first_5: f64,
    reciprocal: f64,
}

impl Nearest {
    /// Of labels whose concepts have known ones, each text once a concept.
    ///
    /// # Errors
    /// No such label.
    pub fn new(
        known: Paraphrases,
        held_out: impl Iterator<Item = Label>,
        vocabulary: &Vocabulary,
        max_tokens: usize,
    ) -> Result<Self> {
        let words: Vec<Vec<String>> = known.texts.iter().map(|text| tokenize(text)).collect();
        let mut sought = Vec::new();
        let mut seen = BTreeSet::new();
        for Label { concept, text } in held_out {
            let same = known.of_concept(&concept);
            let own = tokenize(&text);
            if same.is_empty() || !seen.insert((concept, own.clone())) {
                continue;
            }
            let tokens = vocabulary.encode(&[&text], max_tokens)?.concat();
            let reworded = same.iter().all(|&known| words[known] != own);
            sought.push(Sought { tokens, same, reworded });
        }
        ensure!(
            !sought.is_empty(),
            "static_encoder.contrastive.held_out: no filing has a concept of those of static_encoder.contrastive.filings"
        );
        Ok(Self { known, sought })
    }

    /// Ranks of all, and of those that are worded as no known label of their concept is.
    pub fn measure(&self, table: &TokenTable) -> [Ranks; 2] {
        let known = table.forward(self.known.tokens());
        let dim = known.dims()[1];
        let known = floats(known.into_data());
        let sought = floats(table.forward(self.sought.iter().map(|sought| sought.tokens.as_slice())).into_data());
        let ranks: Vec<usize> = self
            .sought
            .par_iter()
            .zip(sought.par_chunks(dim))
            .map(|(sought, vector)| {
                let cosines: Vec<f32> =
                    known.chunks(dim).map(|known| known.iter().zip(vector).map(|(a, b)| a * b).sum()).collect();
                rank(&cosines, &sought.same)
            })
            .collect();
        let reworded = ranks.iter().zip(&self.sought).filter(|(_, sought)| sought.reworded).map(|(&rank, _)| rank);
        [Ranks::of(&ranks), Ranks::of(&reworded.collect::<Vec<_>>())]
    }
}

/// The rank, from 1, of the best of `wanted`; what ties with it stands before it.
fn rank(scores: &[f32], wanted: &[usize]) -> usize {
    let best = wanted.iter().map(|&at| scores[at]).fold(f32::NEG_INFINITY, f32::max);
    1 + scores.iter().enumerate().filter(|(at, score)| **score >= best && !wanted.contains(at)).count()
}

impl Ranks {
    fn of(ranks: &[usize]) -> Self {
        let mean = |value: &dyn Fn(usize) -> f64| {
            ranks.iter().map(|&rank| value(rank)).sum::<f64>() / ranks.len().max(1) as f64
        };
        let within = |most: usize| mean(&|rank| f64::from(u8::from(rank <= most)));
        Self { labels: ranks.len(), first: within(1), first_5: within(5), reciprocal: mean(&|rank| 1.0 / rank as f64) }
    }
}

impl fmt::Display for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { labels, first, first_5, reciprocal } = self;
        write!(f, "recall@1 {first:.3}, recall@5 {first_5:.3}, MRR {reciprocal:.3} of {labels} labels")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_the_wanted_counts_and_ties_stand_before_it() {
        assert_eq!(rank(&[0.9, 0.5, 0.7, 0.5], &[1, 2]), 2);
        assert_eq!(rank(&[0.9, 0.5, 0.7, 0.5], &[1]), 4);
        assert_eq!(Ranks::of(&[1, 4, 8]).to_string(), "recall@1 0.333, recall@5 0.667, MRR 0.458 of 3 labels");
        assert_eq!(Ranks::of(&[]).labels, 0);
    }
}
