//! What the nodes of a ranking hold of a question, beside what the nodes before them hold: where two nodes answer a question
//! together, the second holds what the first leaves open.

use crate::dates;
use crate::phrases::{Phrases, merge};
use crate::question::Question;

/// Numbers of a node, in order. Shares are of the question's stems by idf, or of a segment's; "first" to "fifth" are
/// the nodes of the ranking down to there, together.
pub(crate) const NAMES: [&str; 26] = [
    "held",
    "new_after_first",
    "new_after_second",
    "new_after_third",
    "new_after_fifth",
    "new_after_all_before",
    "of_first_alone",
    "with_first",
    "left_by_third",
    "years_of_query",
    "years",
    "years_new_after_first",
    "years_left_by_third",
    "years_new_after_third",
    "other_years",
    "segment_of_first",
    "rank_in_segment",
    "segments",
    "share_of_segment",
    "segment_above_first",
    "segment_above_third",
    "least_segment_by_third",
    "like_first",
    "row_of_first",
    "column_of_first",
    "table_of_first",
];

/// Stems of a question and its segments that are looked at.
const STEMS: usize = 128;
/// How many nodes "first" to "fifth" are.
const PREFIXES: [usize; 4] = [1, 2, 3, 5];

/// Sets of the stems of a question and its segments, by bit. Unlike [`crate::phrases::QueryPhrases`], which looks at every phrase of
/// the document, it is put to the ranking's nodes alone, and of all segments at once.
#[derive(Debug, Clone)]
struct Wanted {
    /// Those that the document has, by number, each with its bit.
    bits: Vec<(u32, u32)>,
    /// The idf of each.
    weights: Vec<f32>,
    question: u128,
    segments: Vec<u128>,
}

impl Wanted {
    fn new(phrases: &Phrases, question: &Question, segments: &[Question]) -> Self {
        let mut wanted = Self { bits: Vec::new(), weights: Vec::new(), question: 0, segments: Vec::new() };
        wanted.question = wanted.set(phrases, question);
        wanted.segments = segments.iter().map(|segment| wanted.set(phrases, segment)).collect();
        wanted.bits.sort_unstable();
        wanted
    }

    fn set(&mut self, phrases: &Phrases, question: &Question) -> u128 {
        let mut set = 0;
        for stem in question.stems().iter().filter_map(|stem| phrases.stem(stem)) {
            let known = self.bits.iter().find(|(known, _)| *known == stem).map(|(_, bit)| *bit);
            let bit = known.or_else(|| {
                let next = self.weights.len();
                (next < STEMS).then(|| {
                    self.weights.push(phrases.idf[stem as usize]);
                    self.bits.push((stem, next as u32));
                    next as u32
                })
            });
            set |= bit.map_or(0, |bit| 1 << bit);
        }
        set
    }

    /// Those of some stems.
    fn held(&self, stems: &[u32]) -> u128 {
        let bit = |stem: &u32| self.bits.binary_search_by_key(stem, |(known, _)| *known).ok();
        stems.iter().filter_map(bit).fold(0, |set, at| set | 1 << self.bits[at].1)
    }

    /// Sum of idf.
    fn weight(&self, set: u128) -> f32 {
        let (mut left, mut sum) = (set, 0.0);
        while left != 0 {
            sum += self.weights[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        sum
    }
}

/// What a node of the ranking holds.
struct Held {
    stems: Vec<u32>,
    set: u128,
    years: Vec<u16>,
    /// Share of each segment.
    segments: Vec<f32>,
    /// The segment of which it holds most.
    segment: usize,
}

/// `[order, NAMES]` of nodes by number, best first.
pub(crate) fn coverage(
    phrases: &Phrases,
    tables: &[Option<u32>],
    question: &Question,
    segments: &[Question],
    order: &[u32],
) -> Vec<f32> {
    let wanted = Wanted::new(phrases, question, segments);
    let share = |set: u128, of: u128| {
        let all = wanted.weight(of);
        if all > 0.0 { wanted.weight(set & of) / all } else { 0.0 }
    };
    let of_question = |set: u128| share(set, wanted.question);
    let years_of_query = dates::years(question.text());
    let held: Vec<Held> = order
        .iter()
        .map(|&node| {
            let stems = phrases.stems_of(node as usize);
            let set = wanted.held(&stems);
            let segments: Vec<f32> = wanted.segments.iter().map(|&segment| share(set, segment)).collect();
            let most = segments.iter().copied().enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a });
            Held {
                stems,
                set,
                years: phrases.years_of(node as usize),
                segment: most.map_or(0, |(segment, _)| segment),
                segments,
            }
        })
        .collect();
    let Some(first) = held.first() else { return Vec::new() };
    let together = |count: usize| held.iter().take(count).fold(0, |set, held| set | held.set);
    let prefixes = PREFIXES.map(together);
    let query_of = |count: usize| {
        let of = |year: &&u16| held.iter().take(count).any(|held| held.years.contains(year));
        years_of_query.iter().filter(of).copied().collect::<Vec<u16>>()
    };
    let (years_first, years_third) = (query_of(1), query_of(3));
    let of_third: Vec<f32> = (0..wanted.segments.len())
        .map(|segment| held.iter().take(3).map(|held| held.segments[segment]).fold(0.0, f32::max))
        .collect();
    let least_by_third = of_third.iter().copied().reduce(f32::min).unwrap_or_default();
    let mut ranks = vec![0.0; wanted.segments.len().max(1)];
    let mut before = 0;
    let mut rows = Vec::with_capacity(order.len() * NAMES.len());
    for (held, &node) in held.iter().zip(order) {
        let query: Vec<u16> = held.years.iter().filter(|year| years_of_query.contains(year)).copied().collect();
        let beside = |others: &[u16]| query.iter().filter(|year| !others.contains(year)).count() as f32;
        let above = |others: &[f32]| {
            held.segments.iter().zip(others).map(|(own, other)| own - other).reduce(f32::max).unwrap_or_default()
        };
        let rank = &mut ranks[held.segment];
        let same = |at: usize| {
            let phrase = |node: u32| phrases.of_node[node as usize][at];
            f32::from(u8::from(phrase(node) != 0 && phrase(node) == phrase(order[0])))
        };
        let table = tables[node as usize];
        rows.push(of_question(held.set));
        rows.extend(prefixes.map(|prefix| of_question(held.set & !prefix)));
        rows.extend::<[f32; NAMES.len() - 1 - PREFIXES.len()]>([
            of_question(held.set & !before),
            of_question(first.set & !held.set),
            of_question(first.set | held.set),
            1.0 - of_question(prefixes[2]),
            years_of_query.len() as f32,
            query.len() as f32,
            beside(&years_first),
            (years_of_query.len() - years_third.len()) as f32,
            beside(&years_third),
            (held.years.len() - query.len()) as f32,
            f32::from(u8::from(held.segment == first.segment)),
            *rank,
            wanted.segments.len() as f32,
            held.segments.get(held.segment).copied().unwrap_or_default(),
            above(&first.segments),
            above(&of_third),
            least_by_third,
            duplicates(&held.stems, &first.stems),
            same(0),
            same(1),
            f32::from(u8::from(table.is_some() && table == tables[order[0] as usize])),
        ]);
        *rank += 1.0;
        before |= held.set;
    }
    rows
}

/// What two rising lists share, of all that they hold.
fn duplicates(a: &[u32], b: &[u32]) -> f32 {
    let mut all = 0;
    merge(a, b, |_| all += 1);
    (a.len() + b.len() - all) as f32 / all.max(1) as f32
}

#[cfg(test)]
mod tests;
