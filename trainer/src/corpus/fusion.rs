//! The weights of the sum that proposes candidates: −log of the share that the gold tables have among the candidates, by
//! Adam over all lists at once.

use rayon::prelude::*;
use tabsegnet_corpus::{Candidates, Weights};

const SIGNALS: [&str; 8] = ["title", "section", "caption", "header", "first_column", "cells", "any", "dense"];
const STEPS: usize = 300;
const LEARNING_RATE: f64 = 0.2;
/// Lists whose gradients are summed together; the order of the sums does not depend on threads.
const BLOCK: usize = 64;

/// The weights for lists of rows `[candidates, Candidates::width()]` and which of them are gold, no one below 0: a word more
/// makes no table worse.
pub fn fitted(lists: &[(&[f32], &[bool])]) -> Weights {
    let names = Candidates::names();
    let columns = SIGNALS.map(|signal| names.iter().position(|name| name == signal).unwrap_or_default());
    let width = Candidates::width();
    let taught: Vec<&(&[f32], &[bool])> = lists.iter().filter(|(_, gold)| gold.contains(&true)).collect();
    let mut weights = [8.0_f64; SIGNALS.len()];
    let (mut first, mut second) = ([0.0_f64; SIGNALS.len()], [0.0_f64; SIGNALS.len()]);
    for step in 1..=STEPS {
        let of_blocks: Vec<[f64; SIGNALS.len()]> = taught
            .par_chunks(BLOCK)
            .map(|lists| {
                let mut gradient = [0.0; SIGNALS.len()];
                for &&list in lists {
                    add_gradient(list, &columns, width, &weights, &mut gradient);
                }
                gradient
            })
            .collect();
        for signal in 0..SIGNALS.len() {
            let sum: f64 = of_blocks.iter().map(|gradient| gradient[signal]).sum();
            let gradient = sum / taught.len().max(1) as f64;
            first[signal] = 0.9 * first[signal] + 0.1 * gradient;
            second[signal] = 0.999 * second[signal] + 0.001 * gradient * gradient;
            let mean = first[signal] / (1.0 - 0.9_f64.powi(step as i32));
            let square = second[signal] / (1.0 - 0.999_f64.powi(step as i32));
            weights[signal] = (weights[signal] - LEARNING_RATE * mean / (square.sqrt() + 1e-8)).max(0.0);
        }
    }
    // Only what they are beside each other counts.
    let greatest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let [title, section, caption, header, first_column, cells, any, dense] =
        weights.map(|weight| (weight / greatest) as f32);
    Weights { title, section, caption, header, first_column, cells, any, dense }
}

fn add_gradient(
    (rows, gold): (&[f32], &[bool]),
    columns: &[usize; SIGNALS.len()],
    width: usize,
    weights: &[f64; SIGNALS.len()],
    gradient: &mut [f64; SIGNALS.len()],
) {
    let value = |row: &[f32], signal: usize| f64::from(row[columns[signal]]);
    let scores: Vec<f64> = rows
        .chunks_exact(width)
        .map(|row| (0..SIGNALS.len()).map(|signal| weights[signal] * value(row, signal)).sum())
        .collect();
    let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let all: f64 = shares.iter().sum();
    let of_gold: f64 = shares.iter().zip(gold).filter(|(_, gold)| **gold).map(|(share, _)| share).sum();
    if of_gold <= 0.0 || all <= 0.0 {
        return;
    }
    for ((row, share), is_gold) in rows.chunks_exact(width).zip(&shares).zip(gold) {
        let pull = share / all - if *is_gold { share / of_gold } else { 0.0 };
        for (signal, gradient) in gradient.iter_mut().enumerate() {
            *gradient += pull * value(row, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_tells_gold_counts_and_one_that_does_not_counts_less() {
        let names = Candidates::names();
        let at = |name: &str| names.iter().position(|other| other == name).unwrap();
        let lists: Vec<(Vec<f32>, Vec<bool>)> = (0..40)
            .map(|list| {
                let mut rows = vec![0.0; 5 * Candidates::width()];
                for row in 0..5 {
                    rows[row * Candidates::width() + at("title")] = if row == list % 5 { 0.8 } else { 0.3 };
                    rows[row * Candidates::width() + at("cells")] = ((row * 7 + list * 3) % 5) as f32 / 5.0;
                }
                (rows, (0..5).map(|row| row == list % 5).collect())
            })
            .collect();
        let lists: Vec<(&[f32], &[bool])> = lists.iter().map(|(rows, gold)| (&rows[..], &gold[..])).collect();
        let weights = fitted(&lists);
        assert!(weights.title > 0.9 && weights.cells < 0.3, "{weights:?}");
        assert_eq!(weights, rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(|| fitted(&lists)));
    }
}
