//! What a node's headers have in common with the one of the question's segments that it answers best.

use rayon::prelude::*;

use crate::phrases::{Overlap, PhraseMatches, Phrases};
use crate::question::Question;
use crate::schema::Schema as _;

crate::blocks! {
    /// Of a node: as it is, and less the best of the document.
    pub(crate) struct NodeSegment {
        own: Best = "{}",
        of_document: Best = "{}.of_document",
    }
}

crate::features! {
    /// Of a node's headers and a segment.
    pub(crate) struct Best(headers: &Overlap, year: f32, cosine: f32) {
        share_of_segment: headers.stems_of_question,
        share_of_text: headers.stems_of_text,
        both_shares: headers.stems_of_question * headers.stems_of_text,
        run_of_words: headers.run_of_words,
        letters: headers.letters_of_question,
        year: year,
        cosine: cosine,
    }
}

/// The year's feature of a segment that names none.
const NO_YEAR: f32 = 0.5;

/// What texts have of a segment, before vectors are known: the document's phrases, and each node's headers.
pub(crate) struct Segment {
    query: PhraseMatches,
    /// `[nodes]`
    headers: Vec<Overlap>,
}

impl Segment {
    pub(crate) fn new(segment: &Question, phrases: &Phrases) -> Self {
        let query = PhraseMatches::new(segment, phrases);
        Self { headers: query.headers_of_nodes(phrases), query }
    }
}

/// Of each node. `cosine` is that of a node and of a segment.
pub(crate) fn segments(
    phrases: &Phrases,
    segments: &[Segment],
    cosine: impl Fn(usize, usize) -> f32 + Sync,
) -> Vec<NodeSegment> {
    let best = |node: usize| {
        let (mut best, mut highest) = (Best::default(), f32::NEG_INFINITY);
        for (number, Segment { query, headers }) in segments.iter().enumerate() {
            let (headers, cosine) = (&headers[node], cosine(node, number));
            // Most of the segment first, then the nearest.
            let own = headers.stems_of_question + (headers.stems_of_text + cosine) / 10.0;
            if own > highest {
                highest = own;
                best = Best::of(headers, query.has_year_of(phrases, node).unwrap_or(NO_YEAR), cosine);
            }
        }
        best
    };
    let nodes = (0..phrases.of_node.len()).into_par_iter().with_min_len(256);
    let own: Vec<Best> = nodes.map(best).collect();
    let greatest = Best::greatest(own.iter().copied());
    own.into_iter().map(|own| NodeSegment { own, of_document: own.below(greatest) }).collect()
}
