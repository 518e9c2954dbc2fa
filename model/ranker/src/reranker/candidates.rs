//! The nodes that a ranker puts first, and what the reranker is told of each.

use tabsegnet_features::{COVERAGE, DocumentQuery, FeatureRows};
use tabsegnet_graph::{Node, NodeKind};

use super::score_context::{self, ScoreContext};
use crate::best;

/// What the ranker's scores say of a candidate, in order; then [`around::NAMES`] and [`COVERAGE`].
const RANKED: [&str; 14] = [
    "kind",
    "score",
    "log_share",
    "rank",
    "below_best",
    "row_below_best",
    "column_below_best",
    "table_below_best",
    "below_row",
    "rank_in_row",
    "text_above_tables",
    "above_tenth",
    "first_above_second",
    "first_above_tenth",
];

/// Numbers of a row beside the features.
const OWN: usize = RANKED.len() + score_context::NAMES.len() + COVERAGE.len();

/// Names of what a candidate's row has after the node's features, in order.
pub fn names() -> impl Iterator<Item = String> {
    let named =
        |group: &'static str, names: &'static [&'static str]| names.iter().map(move |name| format!("{group}.{name}"));
    named("ranked", &RANKED).chain(named("scores", &score_context::NAMES)).chain(named("covered", &COVERAGE))
}

/// What is known of a document when a question is put.
#[derive(Debug, Clone, Copy)]
pub struct QueryContext<'a> {
    /// The nodes, in document order.
    pub nodes: &'a [Node],
    /// `[nodes, features]`
    pub features: &'a dyn FeatureRows,
    /// The question and what is known of its document; without it nothing of what is told from words.
    pub query: Option<DocumentQuery<'a>>,
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
struct Shared {
    row: Option<(usize, usize)>,
    column: Option<(usize, usize)>,
    table: Option<usize>,
}

impl Shared {
    fn of(node: &Node) -> Self {
        let Some(place) = &node.place else { return Self { row: None, column: None, table: None } };
        Self {
            row: score_context::in_row(node.kind).then_some((place.table, place.row)),
            column: score_context::in_column(node.kind).then_some((place.table, place.col)),
            table: Some(place.table),
        }
    }

    /// Whether the other is in the same row, column, table.
    fn same(self, other: Self) -> [bool; 3] {
        let same = |a: Option<(usize, usize)>, b| a.is_some() && a == b;
        [same(self.row, other.row), same(self.column, other.column), self.table == other.table]
    }
}

impl Candidates {
    /// The `count` nodes with the highest `scores` `[nodes]`, equal ones in document order.
    pub fn new(context: &QueryContext<'_>, scores: &[f32], count: usize) -> Self {
        let QueryContext { nodes, features, query } = *context;
        let order: Vec<u32> = best(scores, count).into_iter().map(|node| node as u32).collect();
        let width = features.numbers() / scores.len().max(1);
        let (Some(&first), Some(tenth)) = (order.first(), order.get(9).or(order.last())) else {
            return Self { nodes: order, rows: Vec::new() };
        };
        let score = |node: u32| scores[node as usize];
        let (best, tenth) = (score(first), score(*tenth));
        let second = score(*order.get(1).unwrap_or(&first));
        let (score_context, covered) = rayon::join(
            || ScoreContext::new(nodes, scores, &order, query.map_or([&[]; 2], |query| query.duplicates())),
            || match query {
                Some(query) => query.coverage(&order),
                None => vec![0.0; order.len() * COVERAGE.len()],
            },
        );
        let places: Vec<Shared> = order.iter().map(|&number| Shared::of(&nodes[number as usize])).collect();
        let ten: Vec<(NodeKind, Shared)> =
            order.iter().zip(&places).take(10).map(|(&node, &place)| (nodes[node as usize].kind, place)).collect();
        let of_kind = |wanted: NodeKind| ten.iter().filter(|(kind, _)| *kind == wanted).count() as f32;
        let kinds = score_context::COUNTED.map(of_kind);
        let mut rows = Vec::with_capacity(order.len() * Self::width(width));
        for (rank, ((&number, &place), covered)) in
            order.iter().zip(&places).zip(covered.chunks_exact(COVERAGE.len())).enumerate()
        {
            let (node, own) = (&nodes[number as usize], score(number));
            // Whatever shares a row with a candidate and is above it is a candidate before it.
            let (mut first_of, mut above) = ([None; 3], [0.0; 3]);
            for (&other, shared) in order[..rank].iter().zip(&places) {
                for ((first, above), same) in first_of.iter_mut().zip(&mut above).zip(place.same(*shared)) {
                    if same {
                        *first = first.or(Some(score(other)));
                        *above += f32::from(u8::from(score(other) > own));
                    }
                }
            }
            let [row, column, table] = first_of.map(|first| first.unwrap_or(own));
            let [rank_in_row, above @ ..] = above;
            rows.resize(rows.len() + width, 0.0);
            let start = rows.len() - width;
            features.write(number as usize, width, &mut rows[start..]);
            let kind = NodeKind::ALL.iter().position(|kind| *kind == node.kind).unwrap_or_default();
            rows.extend::<[f32; RANKED.len()]>([
                kind as f32,
                own,
                score_context.log_share(own),
                rank as f32,
                own - best,
                row - best,
                column - best,
                table - best,
                row - own,
                rank_in_row,
                score_context.text_above_tables(),
                own - tenth,
                best - second,
                best - tenth,
            ]);
            let mut in_ten = [0.0; 3];
            for (_, other) in &ten {
                in_ten.iter_mut().zip(place.same(*other)).for_each(|(count, same)| *count += f32::from(u8::from(same)));
            }
            rows.extend(score_context.of(nodes, number, &score_context::Rank { above, in_ten, kinds }));
            rows.extend_from_slice(covered);
        }
        Self { nodes: order, rows }
    }

    /// Numbers that a candidate's row has, beside so many features.
    pub fn width(features: usize) -> usize {
        features + OWN
    }
}
