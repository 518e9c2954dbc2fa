//! An answer put to the nodes of the document: numbers of nodes instead of ids, checked.

use std::collections::HashSet;

use crate::answer::{Answer, Explanation, PageError};
use crate::nodes::Nodes;

/// Shades, from the lightest.
pub(crate) const SHADES: usize = 5;

/// The worst rank that still has each shade, from the lightest.
///
/// Ranks, and not scores: training orders the nodes of a document and leaves open how far apart
/// their scores are, other rankers' scores are of other sizes, and one outlier at the top would
/// leave all others blank on any scale between the least and the greatest. The bounds are those
/// that recall is measured at, so the darkest two shades are what a reader of ten nodes sees.
pub(crate) const WORST_RANK: [usize; SHADES] = [100, 50, 20, 10, 5];

/// A node among the top.
pub(crate) struct Ranked<'a> {
    pub number: usize,
    pub rank: usize,
    pub score: f32,
    pub segment: Option<usize>,
    pub duplicates: Vec<usize>,
    /// With the numbers of its edges' nodes, in the order of the edges.
    pub explanation: Option<(&'a Explanation, Vec<usize>)>,
}

/// A move: numbers of nodes from and to.
pub(crate) type Moved = (Vec<usize>, Vec<usize>);

/// A checked answer.
pub(crate) struct Marks<'a> {
    pub answer: &'a Answer,
    pub ranked: Vec<Ranked<'a>>,
    /// Numbers of the nodes of each shade, from the lightest, ascending.
    pub shades: [Vec<usize>; SHADES],
    /// By node number.
    pub scores: Vec<Option<f32>>,
    /// The moves of each step of the reply's path.
    pub path: Vec<Vec<Moved>>,
}

impl<'a> Marks<'a> {
    /// Whether ranked nodes have scores: those that an answer cites without a ranking, as a statement's, have none.
    pub fn scored(&self) -> bool {
        self.answer.reply.is_none() || !self.answer.scores.is_empty()
    }

    pub fn new(answer: &'a Answer, nodes: &Nodes, document: &str) -> Result<Self, PageError> {
        let checks = Checks { answer, nodes, document };
        let mut scores = vec![None; nodes.all.len()];
        let mut in_order = Vec::with_capacity(answer.scores.len());
        for (id, score) in &answer.scores {
            let number = checks.node(id, || "scores".into())?;
            checks.finite(*score, || format!("the score of node {id}"))?;
            in_order.push((number, *score));
            if let Some(place) = scores.get_mut(number) {
                *place = Some(*score);
            }
        }
        let ranked = checks.ranked()?;
        for strength in &answer.strengths {
            checks.finite(strength.strength, || format!("the strength of {}", strength.edge_type))?;
        }
        let path = checks.path()?;
        Ok(Self { answer, ranked, shades: shades(in_order), scores, path })
    }
}

struct Checks<'a, 'n> {
    answer: &'a Answer,
    nodes: &'n Nodes<'n>,
    document: &'n str,
}

impl<'a> Checks<'a, '_> {
    fn node(&self, id: &str, place: impl FnOnce() -> String) -> Result<usize, PageError> {
        self.nodes.number(id).ok_or_else(|| PageError::UnknownNode {
            question: self.answer.question.clone(),
            place: place(),
            node: id.to_owned(),
            document: self.document.to_owned(),
        })
    }

    fn finite(&self, value: f32, what: impl FnOnce() -> String) -> Result<(), PageError> {
        if value.is_finite() {
            return Ok(());
        }
        Err(PageError::NotFinite { question: self.answer.question.clone(), what: what(), value })
    }

    fn ranked(&self) -> Result<Vec<Ranked<'a>>, PageError> {
        let mut seen = HashSet::new();
        let mut ranked = Vec::with_capacity(self.answer.nodes.len());
        for node in &self.answer.nodes {
            let number = self.node(&node.id, || "nodes".into())?;
            if !seen.insert(number) {
                return Err(PageError::RankedTwice { question: self.answer.question.clone(), node: node.id.clone() });
            }
            self.finite(node.score, || format!("the score of node {}", node.id))?;
            let segments = self.answer.segments.len();
            if let Some(segment) = node.segment.filter(|segment| *segment >= segments) {
                let (question, node) = (self.answer.question.clone(), node.id.clone());
                return Err(PageError::UnknownSegment { question, node, segment, segments });
            }
            let explanation = node.explanation.as_ref();
            let explanation = explanation.map(|explanation| self.explanation(&node.id, explanation)).transpose()?;
            let (rank, score, segment) = (node.rank, node.score, node.segment);
            let duplicates = node.duplicates.iter().map(|id| self.node(id, || "duplicates".into()));
            let duplicates = duplicates.collect::<Result<Vec<_>, _>>()?;
            ranked.push(Ranked { number, rank, score, segment, duplicates, explanation });
        }
        Ok(ranked)
    }

    fn path(&self) -> Result<Vec<Vec<Moved>>, PageError> {
        let Some(reply) = &self.answer.reply else { return Ok(Vec::new()) };
        self.finite(reply.confidence, || "the confidence".into())?;
        let numbers =
            |ids: &[String]| ids.iter().map(|id| self.node(id, || "path".into())).collect::<Result<Vec<_>, _>>();
        let steps = reply.path.iter().map(|step| {
            step.moves.iter().map(|of| Ok((numbers(&of.from)?, numbers(&of.to)?))).collect::<Result<Vec<_>, _>>()
        });
        steps.collect()
    }

    fn explanation(&self, id: &str, explanation: &'a Explanation) -> Result<(&'a Explanation, Vec<usize>), PageError> {
        let what = || format!("the explanation of {id}");
        self.finite(explanation.alone, what)?;
        self.finite(explanation.before.unwrap_or_default(), what)?;
        let mut from = Vec::with_capacity(explanation.edges.len());
        for edge in &explanation.edges {
            self.finite(edge.strength, what)?;
            self.finite(edge.effect, what)?;
            from.push(self.node(&edge.node, what)?);
        }
        Ok((explanation, from))
    }
}

/// Shades by rank; equal scores share the worst rank of theirs, so that the zeros of a lexical
/// ranker have none. In a short document the worse half has none either.
fn shades(mut scores: Vec<(usize, f32)>) -> [Vec<usize>; SHADES] {
    scores.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let half = scores.len().div_ceil(2);
    let mut shades: [Vec<usize>; SHADES] = Default::default();
    let mut rank = 0;
    for equal in scores.chunk_by(|(_, a), (_, b)| a == b) {
        rank += equal.len();
        let shade = WORST_RANK.iter().take_while(|worst| rank <= **worst).count();
        if rank > half || shade == 0 {
            break;
        }
        if let Some(numbers) = shades.get_mut(shade - 1) {
            numbers.extend(equal.iter().map(|(number, _)| *number));
        }
    }
    shades.iter_mut().for_each(|numbers| numbers.sort_unstable());
    shades
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shades_follow_the_ranks_and_ties_share_the_worst() {
        let falling = (0..1000).map(|number| (number, -(number as f32))).collect();
        assert_eq!(shades(falling).map(|numbers| numbers.len()), [50, 30, 10, 5, 5]);
        // Three nodes that match and 997 zeros.
        let zeros = (0..1000).map(|number| (number, if number % 400 == 7 { 2.0 } else { 0.0 })).collect();
        assert_eq!(shades(zeros), [vec![], vec![], vec![], vec![], vec![7, 407, 807]]);
        assert_eq!(shades(vec![(0, 1.0), (1, 1.0)]).concat(), [0; 0]);
        assert_eq!(shades(vec![(0, 0.5)]).concat(), [0]);
    }

    proptest! {
        #[test]
        fn a_better_score_has_no_lighter_shade(scores in prop::collection::vec(-4..4_i8, 0..300)) {
            let shades = shades(scores.iter().map(|score| f32::from(*score)).enumerate().collect());
            let shade = |number: usize| (0..SHADES).rev().find(|level| shades[*level].contains(&number)).map_or(0, |level| level + 1);
            for a in 0..scores.len().min(40) {
                for b in 0..scores.len() {
                    prop_assert!(scores[a] <= scores[b] || shade(a) >= shade(b));
                }
            }
        }
    }
}
