//! What the nodes of a ranking hold of a question, beside what the nodes before them hold: where two nodes answer a question
//! together, the second holds what the first leaves open.

use crate::dates;
use crate::phrases::{Phrases, merge};
use crate::query::Query;
use crate::question::Question;
use crate::schema::flag;

crate::features! {
    /// Of a node of a ranking. Shares are of the question's stems by idf, or of a segment's; "first" to "fifth" are the
    /// nodes of the ranking down to there, together.
    pub struct Coverage(node: &Held, ranking: &Ranking<'_>, before: &Before) {
        /// Share of the question that it holds.
        held: ranking.wanted.share(node.set),
        /// What it adds to the first.
        new_after_first: ranking.wanted.share(node.set & !ranking.first.stems),
        /// What it adds to the first two.
        new_after_second: ranking.wanted.share(node.set & !ranking.second.stems),
        /// What it adds to the first three.
        new_after_third: ranking.wanted.share(node.set & !ranking.third.stems),
        /// What it adds to the first five.
        new_after_fifth: ranking.wanted.share(node.set & !ranking.fifth.stems),
        /// What it adds to all before it.
        new_after_all_before: ranking.wanted.share(node.set & !before.stems),
        /// What the first holds and it does not.
        of_first_alone: ranking.wanted.share(ranking.best.set & !node.set),
        /// What it and the first hold.
        with_first: ranking.wanted.share(ranking.best.set | node.set),
        /// What the first three leave open.
        left_by_third: 1.0 - ranking.wanted.share(ranking.third.stems),
        /// Years of the question.
        years_of_query: ranking.years.len() as f32,
        /// Those that it has.
        years: node.years_of_query(ranking).count() as f32,
        /// Those that it adds to the first.
        years_new_after_first: node.years_beside(ranking, &ranking.first),
        /// Those that the first three do not have.
        years_left_by_third: (ranking.years.len() - ranking.third.years.len()) as f32,
        /// Those that it adds to the first three.
        years_new_after_third: node.years_beside(ranking, &ranking.third),
        /// Years that it has and the question does not.
        other_years: (node.years.len() - node.years_of_query(ranking).count()) as f32,
        /// Whether it holds most of the same segment as the first.
        segment_of_first: flag(node.segment == ranking.best.segment),
        /// Its rank among the nodes that hold most of the same segment.
        rank_in_segment: before.of_segment,
        /// Segments of the question.
        segments: ranking.wanted.segments.len() as f32,
        /// Share of the segment that it holds most of.
        share_of_segment: node.segments.get(node.segment).copied().unwrap_or_default(),
        /// The most by which it holds more of a segment than the first.
        segment_above_first: node.above(&ranking.first.segments),
        /// The same than the best of the first three.
        segment_above_third: node.above(&ranking.third.segments),
        /// Share of the segment of which the first three hold least.
        least_segment_by_third: ranking.third.segments.iter().copied().reduce(f32::min).unwrap_or_default(),
        /// Share of the stems of it and the first that both have.
        like_first: overlap(&node.stems, &ranking.best.stems),
        /// Whether it has the first's row path.
        row_of_first: flag(node.row != 0 && node.row == ranking.best.row),
        /// Whether it has the first's column path.
        column_of_first: flag(node.column != 0 && node.column == ranking.best.column),
        /// Whether it is in the first's table.
        table_of_first: flag(node.table.is_some() && node.table == ranking.best.table),
    }
}

/// Stems of a question and its segments that are looked at.
const STEMS: usize = 128;
/// Sets of the stems of a question and its segments, by bit. Unlike [`crate::phrases::PhraseMatches`], which looks
/// at every phrase of the document, it looks at the ranking's nodes alone, and at all segments at once.
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
    fn new(phrases: &Phrases, query: &Query) -> Self {
        let mut wanted = Self { bits: Vec::new(), weights: Vec::new(), question: 0, segments: Vec::new() };
        wanted.question = wanted.set(phrases, query.question());
        wanted.segments = query.segments().iter().map(|segment| wanted.set(phrases, segment)).collect();
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

    /// Share of the question.
    fn share(&self, set: u128) -> f32 {
        self.share_of(set, self.question)
    }

    fn share_of(&self, set: u128, of: u128) -> f32 {
        let all = self.weight(of);
        if all > 0.0 { self.weight(set & of) / all } else { 0.0 }
    }
}

/// What a node of the ranking holds.
pub struct Held {
    stems: Vec<u32>,
    set: u128,
    years: Vec<u16>,
    /// Share of each segment.
    segments: Vec<f32>,
    /// The segment of which it holds most.
    segment: usize,
    /// Its phrases by number; 0 for none.
    row: u32,
    column: u32,
    table: Option<u32>,
}

impl Held {
    fn new(phrases: &Phrases, tables: &[Option<u32>], wanted: &Wanted, node: u32) -> Self {
        let node = node as usize;
        let stems = phrases.stems_of(node);
        let set = wanted.held(&stems);
        let segments: Vec<f32> = wanted.segments.iter().map(|&segment| wanted.share_of(set, segment)).collect();
        let most = segments.iter().copied().enumerate().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let [row, column] = phrases.of_node[node];
        Self {
            stems,
            set,
            years: phrases.years_of(node),
            segment: most.map_or(0, |(segment, _)| segment),
            segments,
            row,
            column,
            table: tables[node],
        }
    }

    fn years_of_query(&self, ranking: &Ranking<'_>) -> impl Iterator<Item = &u16> {
        self.years.iter().filter(|year| ranking.years.contains(year))
    }

    fn years_beside(&self, ranking: &Ranking<'_>, others: &Together) -> f32 {
        self.years_of_query(ranking).filter(|year| !others.years.contains(year)).count() as f32
    }

    fn above(&self, others: &[f32]) -> f32 {
        self.segments.iter().zip(others).map(|(own, other)| own - other).reduce(f32::max).unwrap_or_default()
    }
}

/// What the first nodes of a ranking hold together.
struct Together {
    stems: u128,
    /// Years of the question.
    years: Vec<u16>,
    /// The greatest share of each segment.
    segments: Vec<f32>,
}

impl Together {
    fn new(wanted: &Wanted, years: &[u16], nodes: &[Held], count: usize) -> Self {
        let first = &nodes[..count.min(nodes.len())];
        let segment = |segment: usize| first.iter().map(|node| node.segments[segment]).fold(0.0, f32::max);
        Self {
            stems: first.iter().fold(0, |set, node| set | node.set),
            years: years.iter().filter(|year| first.iter().any(|node| node.years.contains(year))).copied().collect(),
            segments: (0..wanted.segments.len()).map(segment).collect(),
        }
    }
}

/// A ranking and its first nodes.
pub struct Ranking<'a> {
    wanted: Wanted,
    /// Those of the question.
    years: Vec<u16>,
    best: &'a Held,
    first: Together,
    second: Together,
    third: Together,
    fifth: Together,
}

/// What the nodes before one of the ranking hold.
pub struct Before {
    stems: u128,
    /// Nodes before it that hold most of the same segment.
    of_segment: f32,
}

/// Of nodes by number, best first.
pub(crate) fn coverage(phrases: &Phrases, tables: &[Option<u32>], query: &Query, order: &[u32]) -> Vec<Coverage> {
    let wanted = Wanted::new(phrases, query);
    let nodes: Vec<Held> = order.iter().map(|&node| Held::new(phrases, tables, &wanted, node)).collect();
    let Some(best) = nodes.first() else { return Vec::new() };
    let years = dates::years(query.question().text());
    let together = |count| Together::new(&wanted, &years, &nodes, count);
    let [first, second, third, fifth] = [1, 2, 3, 5].map(together);
    let mut of_segments = vec![0.0; wanted.segments.len().max(1)];
    let ranking = Ranking { wanted, years, best, first, second, third, fifth };
    let mut stems = 0;
    let of_node = |node: &Held| {
        let of_segment = &mut of_segments[node.segment];
        let coverage = Coverage::of(node, &ranking, &Before { stems, of_segment: *of_segment });
        *of_segment += 1.0;
        stems |= node.set;
        coverage
    };
    nodes.iter().map(of_node).collect()
}

/// What two rising lists share, of all that they hold.
fn overlap(a: &[u32], b: &[u32]) -> f32 {
    let mut all = 0;
    merge(a, b, |_| all += 1);
    (a.len() + b.len() - all) as f32 / all.max(1) as f32
}

#[cfg(test)]
mod tests;
