//! What a node's headers have in common with the one of the question's segments that it answers best.

use rayon::prelude::*;

use crate::phrases::{Phrases, QueryPhrases};
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

/// Of a node.
pub(crate) type Row = [f32; NAMES.len()];

/// What a segment without a year says of years.
const NO_YEAR: f32 = 0.5;

/// What texts say of a question's segment: what it has of the document's phrases, and of each node's headers.
pub(crate) struct Segment {
    query: QueryPhrases,
    /// `[nodes]`
    headers: Vec<[f32; 6]>,
}

impl Segment {
    pub(crate) fn of(segment: &Question, phrases: &Phrases) -> Self {
        let query = QueryPhrases::new(segment, phrases);
        Self { headers: query.headers_of_nodes(phrases), query }
    }
}

/// `[nodes]`. `cosine` is that of a node and of a segment.
pub(crate) fn segments(
    phrases: &Phrases,
    segments: &[Segment],
    cosine: impl Fn(usize, usize) -> f32 + Sync,
) -> Vec<Row> {
    let nodes = phrases.of_node.len();
    let best = |node: usize| {
        let (mut out, mut highest) = ([0.0; NAMES.len()], f32::NEG_INFINITY);
        for (number, Segment { query, headers }) in segments.iter().enumerate() {
            let [of_segment, of_text, run, _, letters, _] = headers[node];
            let cosine = cosine(node, number);
            let year = query.has_year_of(phrases, node).map_or(NO_YEAR, |held| f32::from(u8::from(held)));
            // Most of the segment first, then the nearest.
            let own = of_segment + (of_text + cosine) / 10.0;
            if own > highest {
                highest = own;
                out[..OWN].copy_from_slice(&[of_segment, of_text, of_segment * of_text, run, letters, year, cosine]);
            }
        }
        out
    };
    let mut out: Vec<Row> = (0..nodes).into_par_iter().with_min_len(256).map(best).collect();
    let mut greatest = [f32::NEG_INFINITY; OWN];
    for row in &out {
        greatest.iter_mut().zip(row).for_each(|(greatest, value)| *greatest = greatest.max(*value));
    }
    for row in &mut out {
        let (own, relative) = row.split_at_mut(OWN);
        relative.iter_mut().zip(own.iter().zip(&greatest)).for_each(|(out, (own, greatest))| *out = own - greatest);
    }
    out
}
