//! What fitting the weights takes: candidates of a ranking with their features.

use tabsegnet::Ranking;

use crate::candidates::{candidates, names, nothing};
use crate::facts::Facts;
use crate::question::Inquiry;
use crate::run::Outcome;

/// A candidate with what speaks for it: numbers of features in [`feature_names`], and their values.
#[derive(Debug, Clone)]
pub struct Scored {
    /// What its program gives.
    pub outcome: Outcome,
    /// Whether it is a number as the document has it.
    pub looked_up: bool,
    /// Its features.
    pub features: Vec<(u16, f32)>,
}

/// The features of no answer, and all candidates of a ranking's question.
pub fn scored_candidates(ranking: &Ranking) -> (Vec<(u16, f32)>, Vec<Scored>) {
    let inquiry = Inquiry::new(&ranking.question, ranking.read_as.as_deref());
    let facts = Facts::new(ranking, &inquiry);
    let scored = candidates(&facts, &inquiry).into_iter().map(|candidate| Scored {
        outcome: candidate.outcome,
        looked_up: candidate.program.is_none(),
        features: candidate.features,
    });
    (nothing(&facts, &inquiry), scored.collect())
}

/// The names of the features, by number.
pub fn feature_names() -> Vec<String> {
    names()
}
