//! The learnt choice among candidates: a log-linear model proposes the likeliest, boosted trees choose one of them or
//! none.

use std::collections::HashMap;
use std::path::Path;

use tabsegnet::{NodeKind, Ranking};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::tensors::serialize;
use tabsegnet_store::{FileError, read_bytes, read_text, write_bytes_atomic};

use crate::candidates::{Candidate, DENSE, Family, candidates, dense, dense_names, names, nothing};
use crate::facts::Facts;
use crate::prediction::Prediction;
use crate::question::{Inquiry, Wanted};

/// Candidates that the trees look at, beside "none of them".
const KEPT: usize = 80;
/// Best nodes whose kinds the trees are told.
const BEST: usize = 20;
/// What the trees are told beside a candidate's own features.
const OF_PROPOSAL: [&str; 13] = [
    "proposal: likelihood",
    "proposal: behind",
    "proposal: place",
    "proposal: of value",
    "proposal: value place",
    "proposal: of nothing",
    "proposal: of family",
    "proposal: place in family",
    "document: nodes",
    "document: passages among the best",
    "question: words",
    "best lookup: covers",
    "best lookup: names operation",
];
const TREES: &str = "answers.safetensors";
const ABOUT: &str = "answers.json";

/// The candidates of a question, each with the features that speak for it.
pub struct Candidates {
    pub(crate) candidates: Vec<Candidate>,
    /// What each would say.
    pub(crate) predictions: Vec<Prediction>,
    nothing: Vec<(u16, f32)>,
    /// Nodes of the document, passages among the best, words of the question; how much of it the best cell's headers
    /// have, and whether some number's headers name its operation.
    of_question: [f32; 5],
}

impl Candidates {
    /// Those of a ranking with all nodes of its document.
    pub fn of(ranking: &Ranking) -> Self {
        let inquiry = Inquiry::new(&ranking.question, ranking.read_as.as_deref());
        let facts = Facts::new(ranking, &inquiry);
        let mut candidates = candidates(&facts, &inquiry);
        // Who is to give a reason or a name says no number.
        if inquiry.wanted != Wanted::Value {
            candidates.retain(|candidate| candidate.outcome.is_none());
        }
        // Nor does a name give a reason; who and where may be one.
        let names = [" who ", " where "].iter().any(|begin| inquiry.text.starts_with(begin));
        let says = |candidate: &Candidate| matches!(candidate.family, Family::Sentence | Family::Span);
        if inquiry.wanted == Wanted::Sentence && !names && candidates.iter().any(says) {
            candidates.retain(says);
        }
        let predictions = candidates.iter().map(|candidate| Prediction::new(candidate, &inquiry)).collect();
        let best = ranking.nodes.iter().take(BEST);
        let passages = best.filter(|node| node.kind == NodeKind::Passage).count();
        let of_question = [
            (1.0 + ranking.nodes_in_document as f32).ln(),
            passages as f32 / BEST as f32,
            ranking.question.split_whitespace().count() as f32,
            facts.facts.iter().map(|fact| fact.covers).fold(0.0, f32::max),
            facts.facts.iter().map(|fact| fact.operations[0]).fold(0.0, f32::max),
        ];
        Self { nothing: nothing(&facts, &inquiry), candidates, predictions, of_question }
    }

    /// Keeps those that rest on the ranking's first `nodes` nodes alone.
    pub fn keep_first(&mut self, nodes: usize) {
        let keep: Vec<bool> = self.candidates.iter().map(|of| of.facts.iter().all(|fact| fact.node < nodes)).collect();
        let mut kept = keep.iter();
        self.candidates.retain(|_| kept.next().copied().unwrap_or(false));
        let mut kept = keep.iter();
        self.predictions.retain(|_| kept.next().copied().unwrap_or(false));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.candidates.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// What each would say.
    pub fn predictions(&self) -> &[Prediction] {
        &self.predictions
    }

    /// Numbers of the ranking's nodes that a candidate rests on, the one that says it first.
    pub fn nodes(&self, candidate: usize) -> Vec<usize> {
        self.candidates.get(candidate).map_or_else(Vec::new, |of| of.facts.iter().map(|fact| fact.node).collect())
    }

    /// Whether a candidate is computed or found along a line, and not what one place of the document says.
    pub fn is_computed(&self, candidate: usize) -> bool {
        self.candidates.get(candidate).is_some_and(|of| of.is_computed())
    }

    /// Whether a candidate is a whole cell, header or sentence of the document.
    pub fn is_whole(&self, candidate: usize) -> bool {
        let whole = [Family::Lookup, Family::Word, Family::Sentence];
        self.candidates.get(candidate).is_some_and(|of| whole.contains(&of.family))
    }

    /// The features of "none of them", then of each candidate: numbers in [`feature_names`], and values.
    pub fn features(&self) -> impl Iterator<Item = &[(u16, f32)]> {
        std::iter::once(self.nothing.as_slice()).chain(self.candidates.iter().map(|of| of.features.as_slice()))
    }
}

/// The names of the proposing model's features, by number.
pub fn feature_names() -> Vec<String> {
    names()
}

/// A weight a feature of [`feature_names`].
#[derive(Debug, Clone, PartialEq)]
pub struct Weights(pub Vec<f32>);

impl Weights {
    /// Sum of weight times value, in the features' order.
    pub fn score(&self, features: &[(u16, f32)]) -> f32 {
        tabsegnet_choice::score(&self.0, features)
    }
}

/// What the trees choose from: "none of them", and the likeliest candidates by the proposing model.
pub struct Proposals {
    /// Which candidates.
    pub kept: Vec<usize>,
    /// `[1 + kept, Proposals::width()]`; the first row is that of "none of them".
    pub rows: Vec<f32>,
    /// The same text for candidates that say the same.
    keys: Vec<String>,
}

impl Proposals {
    /// Numbers of a row.
    pub fn width() -> usize {
        DENSE + OF_PROPOSAL.len()
    }

    /// Their names.
    pub fn names() -> Vec<String> {
        dense_names().into_iter().chain(OF_PROPOSAL.map(ToOwned::to_owned)).collect()
    }

    /// The likeliest candidates, of equals the earlier first.
    pub fn new(candidates: &Candidates, weights: &Weights) -> Self {
        let scores: Vec<f32> = candidates.features().map(|features| weights.score(features)).collect();
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        let likelihoods = tabsegnet_choice::likelihoods(&scores);
        let share = |at: usize| likelihoods.get(at).copied().unwrap_or(0.0);
        // What says the same speaks for it together.
        let mut of_value: HashMap<&str, f32> = HashMap::new();
        for (number, prediction) in candidates.predictions.iter().enumerate() {
            *of_value.entry(prediction.key()).or_default() += share(number + 1);
        }
        let mut of_family: HashMap<Family, f32> = HashMap::new();
        for (number, candidate) in candidates.candidates.iter().enumerate() {
            *of_family.entry(candidate.family).or_default() += share(number + 1);
        }
        let mut values: Vec<(&str, f32)> = of_value.iter().map(|(key, share)| (*key, *share)).collect();
        values.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let places: HashMap<&str, usize> = values.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        let mut kept: Vec<usize> = (0..candidates.len()).collect();
        let score = |number: &usize| scores.get(number + 1).copied().unwrap_or(f32::MIN);
        kept.sort_by(|a, b| score(b).total_cmp(&score(a)));
        kept.truncate(KEPT);
        let mut rows = Vec::with_capacity((kept.len() + 1) * Self::width());
        let mut in_family: HashMap<Family, usize> = HashMap::new();
        let mut row = |features: &[(u16, f32)], at: usize, place: usize, key: Option<&str>, family: Family| {
            let start = rows.len();
            rows.resize(start + DENSE, 0.0_f32);
            for (feature, value) in features {
                if let Some(number) = rows.get_mut(start + dense(usize::from(*feature))) {
                    *number = *value;
                }
            }
            let of_value = key.and_then(|key| of_value.get(key)).copied().unwrap_or(0.0);
            let value_place = key.and_then(|key| places.get(key)).map_or(0, |place| place + 1);
            let behind = highest - scores.get(at).copied().unwrap_or(highest);
            rows.extend([share(at), behind, place as f32, of_value, value_place as f32, share(0)]);
            let place = in_family.entry(family).or_default();
            rows.extend([of_family.get(&family).copied().unwrap_or_else(|| share(0)), *place as f32]);
            *place += 1;
            rows.extend(candidates.of_question);
        };
        row(&candidates.nothing, 0, 0, None, Family::Nothing);
        for (place, &number) in kept.iter().enumerate() {
            if let (Some(candidate), Some(prediction)) =
                (candidates.candidates.get(number), candidates.predictions.get(number))
            {
                row(&candidate.features, number + 1, place + 1, Some(prediction.key()), candidate.family);
            }
        }
        let key = |number: &usize| {
            candidates.predictions.get(*number).map_or_else(String::new, |prediction| prediction.key().to_owned())
        };
        Self { keys: kept.iter().map(key).collect(), kept, rows }
    }

    /// The best value by scores of the rows: the place in `kept` of the candidate that says it best, and its likelihood;
    /// `None` without candidates.
    pub fn best(&self, scores: &[f32]) -> Option<(usize, f32)> {
        let likelihoods = tabsegnet_choice::likelihoods(scores);
        // In the order of the proposals, whatever the hash.
        let mut values: Vec<(&str, f32, usize, f32)> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, (key, &likelihood)) in self.keys.iter().zip(likelihoods.get(1..)?).enumerate() {
            let at = *places.entry(key).or_insert(values.len());
            match values.get_mut(at) {
                Some((_, sum, best, of_best)) => {
                    *sum += likelihood;
                    if likelihood > *of_best {
                        (*best, *of_best) = (place, likelihood);
                    }
                }
                None => values.push((key, likelihood, place, likelihood)),
            }
        }
        let best = values.into_iter().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        Some((best.2, best.1.clamp(0.0, 1.0)))
    }
}

/// Why a choice cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ChoiceError {
    /// The disk.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file that is no choice of this version.
    #[error("{file}: {message}; train it again with train --config configs/answers.toml")]
    Damaged {
        /// Which.
        file: String,
        /// What is wrong.
        message: String,
    },
}

/// Both models, and how sure they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    weights: Weights,
    trees: BoostedTrees,
    calibration: Calibration,
}

/// From the trees' likelihood p to how often such an answer is right: σ(slope · logit p + intercept).
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Of the logit.
    pub slope: f32,
    /// Added.
    pub intercept: f32,
    /// Confidence below which nothing is said.
    pub threshold: f32,
}

impl Calibration {
    /// The confidence of a likelihood.
    pub fn confidence(&self, likelihood: f32) -> f32 {
        let p = likelihood.clamp(1e-6, 1.0 - 1e-6);
        1.0 / (1.0 + (-(self.slope * (p / (1.0 - p)).ln() + self.intercept)).exp())
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    calibration: Calibration,
    features: Vec<String>,
    /// Weights of the proposing model, those that are not 0.
    weights: std::collections::BTreeMap<String, f32>,
}

/// The candidate that is chosen.
pub(crate) struct Chosen {
    pub candidate: usize,
    /// By the trees, before calibration.
    pub likelihood: f32,
}

impl Choice {
    /// Of its parts.
    pub fn new(weights: Weights, trees: BoostedTrees, calibration: Calibration) -> Self {
        Self { weights, trees, calibration }
    }

    /// How likelihoods become confidences.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// What the trees choose from.
    pub fn proposals(&self, candidates: &Candidates) -> Proposals {
        Proposals::new(candidates, &self.weights)
    }

    pub(crate) fn choose(&self, candidates: &Candidates) -> Option<Chosen> {
        let proposals = self.proposals(candidates);
        let (place, likelihood) = proposals.best(&self.trees.scores(&proposals.rows))?;
        Some(Chosen { candidate: *proposals.kept.get(place)?, likelihood })
    }

    /// Writes it into a directory.
    ///
    /// # Errors
    /// The disk.
    pub fn write(&self, directory: &Path) -> Result<(), ChoiceError> {
        let path = directory.join(TREES);
        let damaged = |path: &Path, message: String| ChoiceError::Damaged { file: path.display().to_string(), message };
        let bytes = serialize(&self.trees.tensors(), &path).map_err(|error| damaged(&path, error.to_string()))?;
        write_bytes_atomic(&path, &bytes)?;
        let weights = names().into_iter().zip(&self.weights.0).filter(|(_, weight)| **weight != 0.0);
        let weights = weights.map(|(name, weight)| (name, *weight)).collect();
        let about = About { calibration: self.calibration, features: Proposals::names(), weights };
        let path = directory.join(ABOUT);
        let json = serde_json::to_vec_pretty(&about).map_err(|error| damaged(&path, error.to_string()))?;
        Ok(write_bytes_atomic(&path, &json)?)
    }

    /// Reads what [`Choice::write`] wrote.
    ///
    /// # Errors
    /// A file that is missing or damaged, or that looks at other features than this version has.
    pub fn read(directory: &Path) -> Result<Self, ChoiceError> {
        let path = directory.join(ABOUT);
        let damaged = |path: &Path, message: String| ChoiceError::Damaged { file: path.display().to_string(), message };
        let about: About =
            serde_json::from_str(&read_text(&path)?).map_err(|error| damaged(&path, error.to_string()))?;
        let names = names();
        let known = about.weights.keys().all(|name| names.contains(name));
        if !known || about.features != Proposals::names() {
            return Err(damaged(&path, "it looks at other features than this version has".into()));
        }
        let weights = Weights(names.iter().map(|name| about.weights.get(name).copied().unwrap_or(0.0)).collect());
        let path = directory.join(TREES);
        let trees = BoostedTrees::parse(&path, &read_bytes(&path)?, Proposals::width());
        let trees = trees.map_err(|message| damaged(&path, message))?;
        Ok(Self { weights, trees, calibration: about.calibration })
    }
}
