//! What a node's headers have in common with the one of the question's segments that it answers best.

use rayon::prelude::*;

use crate::phrases::{Asked, Phrases};
use crate::question::Question;

const OWN: usize = 7;

/// Each as it is, then each less the best of the document.
pub(crate) const NAMES: [&str; 2 * OWN] = [
    "share_of_segment",
    "share_of_text",
    "both_shares",
    "run_of_words",
    "letters",
    "year",
    "cosine",
    "share_of_segment.of_document",
    "share_of_text.of_document",
    "both_shares.of_document",
    "run_of_words.of_document",
    "letters.of_document",
    "year.of_document",
    "cosine.of_document",
];

/// What a segment without a year says of years.
const NO_YEAR: f32 = 0.5;

/// `[nodes]`. `cosines` `[segments][nodes]` are those of nodes and segments.
pub(crate) fn segments(phrases: &Phrases, segments: &[Question], cosines: &[Vec<f32>]) -> Vec<[f32; NAMES.len()]> {
    let nodes = phrases.of_node.len();
    let mut best = vec![([0.0; NAMES.len()], f32::NEG_INFINITY); nodes];
    for (segment, cosines) in segments.iter().zip(cosines) {
        let asked = Asked::new(segment, phrases);
        let shared = asked.shared_of_nodes(phrases);
        best.par_iter_mut().with_min_len(256).zip(&shared).enumerate().for_each(|(node, ((out, key), shared))| {
            let [of_segment, of_text, run, _, letters, _] = shared[0];
            let cosine = cosines[node];
            let year = asked.has_year_of(phrases, node).map_or(NO_YEAR, |held| f32::from(u8::from(held)));
            // Most of the segment first, then the nearest.
            let own = of_segment + (of_text + cosine) / 10.0;
            if own > *key {
                *key = own;
                out[..OWN].copy_from_slice(&[of_segment, of_text, of_segment * of_text, run, letters, year, cosine]);
            }
        });
    }
    let mut out: Vec<[f32; NAMES.len()]> = best.into_iter().map(|(row, _)| row).collect();
    for at in 0..OWN {
        let greatest = out.iter().map(|row| row[at]).fold(f32::NEG_INFINITY, f32::max);
        out.iter_mut().for_each(|row| row[OWN + at] = row[at] - greatest);
    }
    out
}
