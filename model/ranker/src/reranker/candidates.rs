//! The nodes that a ranker puts first, and what the reranker sees of each.

use tabsegnet_features::{Coverage, DocumentFeatures, FeatureRows, Query, Schema, blocks, features, flag};
use tabsegnet_graph::{Node, NodeKind};

use super::score_context::{self, ContextScores, Counts, NamingScores, ScoreContext, SectionScores};
use crate::best;

blocks! {
    /// What a candidate's row has after the node's features.
    struct CandidateFeatures {
        ranked: Ranked = "ranked.{}",
        scores: ContextScores = "scores.{}",
        covered: Coverage = "covered.{}",
        section: SectionScores = "section_scores.{}",
        naming: NamingScores = "naming_scores.{}",
    }
}

features! {
    /// A candidate's score and rank, which counts from 0, beside others.
    pub(super) struct Ranked(candidate: &Candidate<'_>, ranking: &Ranking<'_>) {
        kind: NodeKind::ALL.iter().position(|kind| *kind == candidate.node.kind).unwrap_or_default() as f32,
        score: candidate.score,
        log_share: ranking.context.log_share(candidate.score),
        rank: candidate.rank as f32,
        below_best: candidate.score - ranking.best,
        row_below_best: candidate.best_of.row - ranking.best,
        column_below_best: candidate.best_of.column - ranking.best,
        table_below_best: candidate.best_of.table - ranking.best,
        below_row: candidate.best_of.row - candidate.score,
        rank_in_row: candidate.above.row,
        text_above_tables: ranking.context.text_above_tables(),
        above_tenth: candidate.score - ranking.tenth,
        first_above_second: ranking.best - ranking.second,
        first_above_tenth: ranking.best - ranking.tenth,
    }
}

/// Names of what a candidate's row has after the node's features, in order.
pub fn names() -> Vec<String> {
    CandidateFeatures::names()
}

/// What is known of a document and a question. It borrows what a [`Query`] does not hold: the document's side.
#[derive(Debug, Clone, Copy)]
pub struct QueryContext<'a> {
    /// The nodes, in document order.
    pub nodes: &'a [Node],
    /// `[nodes, features]`
    pub features: &'a dyn FeatureRows,
    /// The document's own features and the question; without them what comes from words is 0.
    pub query: Option<(&'a DocumentFeatures, &'a Query)>,
}

/// The nodes that a ranker puts first, best first, with what is known of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Their numbers.
    pub nodes: Vec<u32>,
    /// `[candidates, width]`: the features of each node, then [`names`].
    pub rows: Vec<f32>,
}

/// What a node shares with others: its row, its column, its table; the sentences are one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lines {
    row: Option<(usize, usize)>,
    column: Option<(usize, usize)>,
    table: Option<usize>,
}

/// One of each of [`Lines`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OfLines<T> {
    pub(super) row: T,
    pub(super) column: T,
    pub(super) table: T,
}

impl<T> OfLines<T> {
    fn map<U>(self, of: impl Fn(T) -> U) -> OfLines<U> {
        OfLines { row: of(self.row), column: of(self.column), table: of(self.table) }
    }

    fn each_mut(&mut self) -> [&mut T; 3] {
        [&mut self.row, &mut self.column, &mut self.table]
    }
}

impl Lines {
    fn of(node: &Node) -> Self {
        let Some(place) = &node.place else { return Self { row: None, column: None, table: None } };
        Self {
            row: score_context::in_row(node.kind).then_some((place.table, place.row)),
            column: score_context::in_column(node.kind).then_some((place.table, place.col)),
            table: Some(place.table),
        }
    }

    /// Whether the other is in the same row, column, table; in this order, as [`OfLines::each_mut`].
    fn same(self, other: Self) -> [bool; 3] {
        let same = |a: Option<(usize, usize)>, b| a.is_some() && a == b;
        [same(self.row, other.row), same(self.column, other.column), self.table == other.table]
    }
}

/// A ranking by the ranker's scores.
struct Ranking<'a> {
    context: ScoreContext<'a>,
    /// The scores of the first, the second and the tenth, or of the last where there are fewer.
    best: f32,
    second: f32,
    tenth: f32,
}

/// A node of the ranking.
struct Candidate<'a> {
    node: &'a Node,
    score: f32,
    rank: usize,
    /// The highest scores of its lines, and how many of their nodes have higher scores than its own.
    best_of: OfLines<f32>,
    above: OfLines<f32>,
}

impl Candidates {
    /// The `count` nodes with the highest `scores` `[nodes]`, equal ones in document order.
    pub fn new(context: &QueryContext<'_>, scores: &[f32], count: usize) -> Self {
        let QueryContext { nodes, features, query } = *context;
        let order: Vec<u32> = best(scores, count).into_iter().map(|node| node as u32).collect();
        let features_of_node = features.numbers() / scores.len().max(1);
        let (Some(&first), Some(tenth)) = (order.first(), order.get(9).or(order.last())) else {
            return Self { nodes: order, rows: Vec::new() };
        };
        let naming = query.and_then(|(document, _)| document.naming());
        let score = |node: u32| scores[node as usize];
        let (context, covered) = rayon::join(
            || ScoreContext::new(nodes, scores, &order, query.map_or([&[]; 2], |(document, _)| document.duplicates())),
            || match query {
                Some((document, query)) => document.coverage(query, &order),
                None => vec![Coverage::default(); order.len()],
            },
        );
        let ranking = Ranking {
            context,
            best: score(first),
            second: score(*order.get(1).unwrap_or(&first)),
            tenth: score(*tenth),
        };
        let lines: Vec<Lines> = order.iter().map(|&number| Lines::of(&nodes[number as usize])).collect();
        let ten: Vec<(NodeKind, Lines)> =
            order.iter().zip(&lines).take(10).map(|(&node, &lines)| (nodes[node as usize].kind, lines)).collect();
        let of_kind = |wanted: NodeKind| ten.iter().filter(|(kind, _)| *kind == wanted).count() as f32;
        let width = Self::width(features_of_node);
        let mut rows = vec![0.0; order.len() * width];
        for (rank, (((&number, &own), covered), out)) in
            order.iter().zip(&lines).zip(covered).zip(rows.chunks_exact_mut(width)).enumerate()
        {
            let (of_node, of_candidate) = out.split_at_mut(features_of_node);
            features.write(number as usize, features_of_node, of_node);
            let (node, score_of_node) = (&nodes[number as usize], score(number));
            // Whatever shares a row with a candidate and is above it is a candidate before it.
            let (mut first_of, mut above) = (OfLines::<Option<f32>>::default(), OfLines::<f32>::default());
            for (&other, shared) in order[..rank].iter().zip(&lines) {
                for ((first, above), same) in
                    first_of.each_mut().into_iter().zip(above.each_mut()).zip(own.same(*shared))
                {
                    if same {
                        *first = first.or(Some(score(other)));
                        *above += flag(score(other) > score_of_node);
                    }
                }
            }
            let mut in_ten = OfLines::<f32>::default();
            for (_, other) in &ten {
                in_ten.each_mut().into_iter().zip(own.same(*other)).for_each(|(count, same)| *count += flag(same));
            }
            let best_of = first_of.map(|first| first.unwrap_or(score_of_node));
            let counts = Counts { above, in_ten, of_kind: &of_kind };
            let candidate = Candidate { node, score: score_of_node, rank, best_of, above };
            CandidateFeatures {
                ranked: Ranked::of(&candidate, &ranking),
                scores: ranking.context.of(nodes, number, &counts),
                covered,
                section: ranking.context.of_section(nodes, number),
                naming: naming
                    .map_or_else(NamingScores::default, |naming| ranking.context.of_naming(naming, nodes, number)),
            }
            .write(of_candidate);
        }
        Self { nodes: order, rows }
    }

    /// Numbers that a candidate's row has, beside so many features.
    pub fn width(features: usize) -> usize {
        features + CandidateFeatures::COUNT
    }
}
