//! Who answers, and answers by rules alone: without a language model, and without anything learnt.

use tabsegnet::{RankedNode, Ranking};

use crate::answer::Answer;
use crate::choice::Candidates;
use crate::family::Family;
use crate::learnt::given;
use crate::question::Wanted;

/// Answers questions from ranked nodes.
///
/// What always holds: the same ranking gives the same answer; a ranking without nodes gives an abstention; the
/// confidence is from 0 to 1; an answer that is not an abstention cites at least one node, and all its checks pass; its
/// program, where it has one, gives its value from the cited nodes.
pub trait Policy: Sync {
    /// What answers call it: a word.
    fn name(&self) -> &'static str;

    /// Answers the ranking's question. Rows are completed from nodes far down: `ranking` should hold all of them.
    fn answer(&self, ranking: &Ranking) -> Answer;
}

/// Likelihood below which nothing is said.
const LEAST: f32 = 0.05;
/// Best nodes among which a likelihood is shared out.
const SHARED: usize = 20;

/// Rules: what is wanted follows from the question's words, and the best node of that kind has it. Nothing is computed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Policy for Rules {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn answer(&self, ranking: &Ranking) -> Answer {
        let candidates = Candidates::of(ranking);
        let wanted: &[Family] = match candidates.inquiry.wanted {
            Wanted::Sentence => &[Family::Sentence],
            Wanted::Extreme { largest, .. } => &[Family::extreme(largest)],
            Wanted::Value => &[Family::Lookup, Family::Word],
        };
        // Candidates along lines come with that of the best cell first.
        let along_line = !matches!(wanted, [Family::Lookup, ..] | [Family::Sentence]);
        let all =
            candidates.candidates.iter().zip(&candidates.predictions).filter(|(of, _)| wanted.contains(&of.family));
        let best = all.min_by_key(|(candidate, _)| if along_line { 0 } else { candidate.first_node() });
        let answer = match best {
            Some(best @ (candidate, _)) => {
                let node = ranking.nodes.get(candidate.first_node());
                let confidence = node.map_or(0.0, |node| likelihood(ranking, node));
                if confidence >= LEAST {
                    given(ranking, &candidates.inquiry, best, confidence)
                } else {
                    Answer::abstention(confidence, Vec::new())
                }
            }
            None => Answer::abstention(0.0, Vec::new()),
        };
        answer.of(ranking, self.name())
    }
}

/// The softmax of a node's score among the best nodes: what the reranker's trees are trained to give.
fn likelihood(ranking: &Ranking, node: &RankedNode) -> f32 {
    let sum: f32 = ranking.nodes.iter().take(SHARED).map(|other| (other.score - node.score).exp()).sum();
    if sum.is_finite() && sum > 0.0 { (1.0 / sum).min(1.0) } else { 0.0 }
}
