//! The learnt choice among candidates: a [`Proposer`] proposes the likeliest, boosted trees choose one of them or none.

use std::path::Path;

use tabsegnet::{NodeKind, Ranking};
use tabsegnet_document::months::MONTHS;
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::tensors::serialize;
use tabsegnet_store::{FileError, read_bytes, read_text, write_bytes_atomic};

use crate::candidates::{Candidate, candidates};
use crate::facts::Facts;
use crate::family::Family;
use crate::features::{Features, nothing};
use crate::prediction::Prediction;
pub use crate::proposals::Proposals;
use crate::proposer::{Proposer, buckets};
use crate::question::{Inquiry, Wanted};

/// Best nodes whose kinds the trees are told.
const BEST: usize = 20;
const TREES: &str = "answers.safetensors";
const ABOUT: &str = "answers.json";

/// The candidates of a question, each with the features that speak for it.
pub struct Candidates {
    /// The question, read.
    pub(crate) inquiry: Inquiry,
    pub(crate) candidates: Vec<Candidate>,
    /// What each would say.
    pub(crate) predictions: Vec<Prediction>,
    /// Of the question's words, for [`Proposer::families`].
    pub(crate) words: Vec<u32>,
    pub(crate) nothing: Features,
    /// Nodes of the document, passages among the best, words of the question; how much of it the best cell's headers
    /// have, whether some number's headers name its operation, and whether the document has passages at all: to tables
    /// alone people put other questions than to reports.
    pub(crate) of_question: [f32; 6],
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
        if inquiry.wanted == Wanted::Sentence && !names {
            keep_if_any(&mut candidates, says);
        }
        // Where the smallest is wanted, what is largest along a line is no answer, nor what merely stands somewhere.
        if let Wanted::Extreme { largest, .. } = inquiry.wanted {
            let wanted = Family::extreme(largest);
            keep_if_any(&mut candidates, |candidate| candidate.family == wanted);
        }
        // A year that the question names is not what it wants, unless it is to choose one of two.
        if !inquiry.has(" or ") {
            keep_if_any(&mut candidates, |candidate| !candidate.says_year_of(&inquiry));
        }
        // The words of a table that say when name a month or have a digit.
        if ["when ", "since when "].iter().any(|begin| inquiry.text.trim_start().starts_with(begin)) {
            let is_date = |word: &String| {
                let word = word.to_lowercase();
                word.contains(|c: char| c.is_ascii_digit()) || MONTHS.iter().any(|month| word.contains(month))
            };
            keep_if_any(&mut candidates, |candidate| {
                !matches!(candidate.family, Family::Word | Family::Header) || candidate.words.iter().all(is_date)
            });
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
            f32::from(u8::from(ranking.nodes.iter().any(|node| node.kind == NodeKind::Passage))),
        ];
        let words = buckets(&inquiry.text);
        Self { nothing: nothing(&facts, &inquiry), candidates, predictions, words, of_question, inquiry }
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

    /// The families that they are of, each once.
    pub(crate) fn families(&self) -> Vec<Family> {
        let has = |family: &Family| self.candidates.iter().any(|candidate| candidate.family == *family);
        Family::ALL.into_iter().map(|(family, _)| family).filter(has).collect()
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
    proposer: Proposer,
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
    families: Vec<String>,
    features: Vec<String>,
}

/// The candidate that is chosen.
pub(crate) struct Chosen {
    pub candidate: usize,
    /// By the trees, before calibration.
    pub likelihood: f32,
}

impl Choice {
    /// Of its parts.
    pub fn new(proposer: Proposer, trees: BoostedTrees, calibration: Calibration) -> Self {
        Self { proposer, trees, calibration }
    }

    /// How likelihoods become confidences.
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// What the trees choose from.
    pub fn proposals(&self, candidates: &Candidates) -> Proposals {
        Proposals::new(candidates, &self.proposer)
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
        let tensors: Vec<_> = self.trees.tensors().into_iter().chain(self.proposer.tensors()).collect();
        let bytes = serialize(&tensors, &path).map_err(|error| damaged(&path, error.to_string()))?;
        write_bytes_atomic(&path, &bytes)?;
        let about = About { calibration: self.calibration, families: families(), features: Proposals::names() };
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
        if about.families != families() || about.features != Proposals::names() {
            return Err(damaged(&path, "it looks at other families or features than this version has".into()));
        }
        let path = directory.join(TREES);
        let bytes = read_bytes(&path)?;
        let of_file = |message| damaged(&path, message);
        let trees = BoostedTrees::parse(&path, &bytes, Proposals::width()).map_err(of_file)?;
        let proposer = Proposer::parse(&path, &bytes).map_err(of_file)?;
        Ok(Self { proposer, trees, calibration: about.calibration })
    }
}

/// Keeps those of a kind, where there are any.
fn keep_if_any(candidates: &mut Vec<Candidate>, is: impl Fn(&Candidate) -> bool) {
    if candidates.iter().any(&is) {
        candidates.retain(is);
    }
}

fn families() -> Vec<String> {
    Family::ALL.iter().map(|(_, name)| (*name).to_owned()).collect()
}
