//! What the trees choose from: the likeliest candidates, and what the proposer says of them.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use tabsegnet_features::{Schema, features};

use crate::choice::{Candidates, Content};
use crate::family::Family;
use crate::features::{WIDTH, names};
use crate::proposer::Proposer;

/// Candidates that the trees look at, beside "none of them".
const KEPT: usize = 80;

features! {
    /// What the trees are told beside a candidate's own features: of the proposer, ...
    struct ProposalFeatures {
        likelihood = "proposal: likelihood",
        behind = "proposal: behind",
        place = "proposal: place",
        of_value = "proposal: of value",
        value_place = "proposal: value place",
        of_nothing = "proposal: of nothing",
        of_family = "proposal: of family",
        place_in_family = "proposal: place in family",
        place_of_node = "proposal: place of node in family",
        words = "words: family",
        words_behind = "words: family behind",
        words_place = "words: family place",
    }
}

features! {
    /// ... and of question and document.
    pub(crate) struct QuestionFeatures {
        nodes = "document: nodes",
        passages = "document: passages among the best",
        words = "question: words",
        covers = "best lookup: covers",
        names_operation = "best lookup: names operation",
        has_passages = "document: has passages",
    }
}

/// What the trees choose from: "none of them", and the likeliest candidates by the proposer.
pub struct Proposals {
    /// Which candidates.
    pub kept: Vec<usize>,
    rows: Vec<f32>,
    /// The same text for candidates that say the same.
    keys: Vec<String>,
}

impl Proposals {
    /// Numbers of a row.
    pub fn width() -> usize {
        WIDTH + ProposalFeatures::COUNT + QuestionFeatures::COUNT
    }

    /// Their names.
    pub fn names() -> Vec<String> {
        [names(), ProposalFeatures::names(), QuestionFeatures::names()].concat()
    }

    /// The likeliest candidates, of equals the earlier first.
    pub fn new(candidates: &Candidates, proposer: &Proposer) -> Self {
        let list = &candidates.candidates;
        let families = OfFamily::all(candidates, proposer);
        let of_words = |family: Family| families.get(&family).map_or(0.0, |of| of.likelihood);
        let of_list = list.iter().map(|of| proposer.score(of.family, of_words(of.family), &of.features));
        let nothing = proposer.score(Family::Nothing, 1.0, &candidates.nothing);
        let scores: Vec<f32> = std::iter::once(nothing).chain(of_list).collect();
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let likelihoods = tabsegnet_choice::likelihoods(&scores);
        let of_nothing = likelihoods.first().copied().unwrap_or(0.0);
        let likelihood = |number: usize| likelihoods.get(number + 1).copied().unwrap_or(0.0);
        let behind = |at: usize| highest - scores.get(at).copied().unwrap_or(highest);
        // What says the same speaks for it together.
        let mut of_value: HashMap<&str, f32> = HashMap::new();
        for (number, prediction) in candidates.predictions.iter().enumerate() {
            *of_value.entry(prediction.key()).or_default() += likelihood(number);
        }
        let mut values: Vec<(&str, f32)> = of_value.iter().map(|(key, share)| (*key, *share)).collect();
        values.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let places: HashMap<&str, usize> = values.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        let nodes = first_nodes(candidates);
        let mut in_family: HashMap<Family, (f32, usize)> = HashMap::new();
        for (number, candidate) in list.iter().enumerate() {
            in_family.entry(candidate.family).or_default().0 += likelihood(number);
        }
        let mut kept: Vec<usize> = (0..list.len()).collect();
        kept.sort_by(|a, b| likelihood(*b).total_cmp(&likelihood(*a)));
        kept.truncate(KEPT);
        let mut rows = Vec::with_capacity((kept.len() + 1) * Self::width());
        let mut row = |features: &[(u16, f32)], of_proposal: &ProposalFeatures| {
            let start = rows.len();
            rows.resize(start + Self::width(), 0.0_f32);
            let (own, more) = rows[start..].split_at_mut(WIDTH);
            for (feature, value) in features {
                if let Some(number) = own.get_mut(usize::from(*feature)) {
                    *number = *value;
                }
            }
            let (proposal, question) = more.split_at_mut(ProposalFeatures::COUNT);
            of_proposal.write(proposal);
            candidates.of_question.write(question);
        };
        let of_none = ProposalFeatures {
            likelihood: of_nothing,
            behind: behind(0),
            of_nothing,
            of_family: of_nothing,
            ..ProposalFeatures::default()
        };
        row(&candidates.nothing, &of_none);
        let mut keys = Vec::with_capacity(kept.len());
        for (place, &number) in kept.iter().enumerate() {
            let (Some(candidate), Some(prediction)) = (list.get(number), candidates.predictions.get(number)) else {
                continue;
            };
            let key = prediction.key();
            let family = families.get(&candidate.family).copied().unwrap_or_default();
            let (of_family, place_in_family) = in_family.entry(candidate.family).or_default();
            let nodes = nodes.get(&candidate.family).map(|nodes| nodes.range(..candidate.first_node()).count());
            let of_proposal = ProposalFeatures {
                likelihood: likelihood(number),
                behind: behind(number + 1),
                place: (place + 1) as f32,
                of_value: of_value.get(key).copied().unwrap_or(0.0),
                value_place: places.get(key).map_or(0, |place| place + 1) as f32,
                of_nothing,
                of_family: *of_family,
                place_in_family: *place_in_family as f32,
                place_of_node: nodes.unwrap_or(0) as f32,
                words: family.likelihood,
                words_behind: family.behind,
                words_place: family.place as f32,
            };
            *place_in_family += 1;
            row(&candidate.features, &of_proposal);
            keys.push(key.to_owned());
        }
        Self { keys, kept, rows }
    }

    /// What the trees of a document's content look at: `[1 + kept, Proposals::width()]`, the first row that of "none of
    /// them". Those of tables alone are not told what the proposer says.
    pub fn rows(&self, content: Content) -> Cow<'_, [f32]> {
        match content {
            Content::Texts => Cow::Borrowed(&self.rows),
            Content::Tables => {
                let mut rows = self.rows.clone();
                for row in rows.chunks_exact_mut(Self::width()) {
                    row.iter_mut().skip(WIDTH).take(ProposalFeatures::COUNT).for_each(|value| *value = 0.0);
                }
                Cow::Owned(rows)
            }
        }
    }

    /// The best value by scores of the rows: the place in `kept` of the candidate that says it best, and its likelihood;
    /// `None` without candidates.
    pub fn best(&self, scores: &[f32]) -> Option<(usize, f32)> {
        self.ordered(scores).into_iter().next()
    }

    /// The values, the likeliest first, of equals the earlier; each as [`Proposals::best`] has it.
    pub(crate) fn ordered(&self, scores: &[f32]) -> Vec<(usize, f32)> {
        let likelihoods = tabsegnet_choice::likelihoods(scores);
        // In the order of the proposals, whatever the hash.
        let mut values: Vec<(f32, usize, f32)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, (key, &likelihood)) in self.keys.iter().zip(likelihoods.iter().skip(1)).enumerate() {
            let at = *places.entry(key).or_insert(values.len());
            match values.get_mut(at) {
                Some((sum, best, of_best)) => {
                    *sum += likelihood;
                    if likelihood > *of_best {
                        (*best, *of_best) = (place, likelihood);
                    }
                }
                None => values.push((likelihood, place, likelihood)),
            }
        }
        values.sort_by(|a, b| b.0.total_cmp(&a.0));
        values.into_iter().map(|(sum, place, _)| (place, sum.clamp(0.0, 1.0))).collect()
    }
}

/// A family by the question's words.
#[derive(Debug, Clone, Copy, Default)]
struct OfFamily {
    likelihood: f32,
    /// ln of the likeliest family's likelihood over its own.
    behind: f32,
    place: usize,
}

impl OfFamily {
    /// Those of the candidates.
    fn all(candidates: &Candidates, proposer: &Proposer) -> HashMap<Family, Self> {
        let families = candidates.families();
        let likelihoods = proposer.families().likelihoods(&candidates.words, &families);
        let mut sorted: Vec<(Family, f32)> = families.into_iter().zip(likelihoods).collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        let highest = sorted.first().map_or(1.0, |(_, likelihood)| *likelihood);
        let of = sorted.into_iter().enumerate().map(|(place, (family, likelihood))| {
            let behind = (highest / likelihood.max(f32::MIN_POSITIVE)).ln();
            (family, Self { likelihood, behind, place })
        });
        of.collect()
    }
}

/// The nodes that candidates of a family begin with.
fn first_nodes(candidates: &Candidates) -> HashMap<Family, BTreeSet<usize>> {
    let mut nodes: HashMap<Family, BTreeSet<usize>> = HashMap::new();
    for candidate in &candidates.candidates {
        nodes.entry(candidate.family).or_default().insert(candidate.first_node());
    }
    nodes
}
