//! The learnt choice among candidates: a [`Proposer`] proposes the likeliest, boosted trees choose one of them or none:
//! those of the document's [`Content`].

use std::path::Path;

use tabsegnet::{NodeKind, Ranking};
use tabsegnet_features::wanted::{asks_for_reason, gives_reason};
use tabsegnet_lexical::names;
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::tensors::{TensorData, serialize};
use tabsegnet_store::{FileError, read_bytes, read_text, write_bytes_atomic};

use crate::candidates::{Candidate, candidates};
use crate::facts::{Fact, Facts};
use crate::family::Family;
use crate::features::{Features, flag, nothing};
use crate::prediction::Prediction;
pub use crate::proposals::Proposals;
use crate::proposals::QuestionFeatures;
use crate::proposer::{Proposer, buckets};
use crate::question::{Inquiry, Wanted};
use crate::quotient::Quotient;

/// Best nodes whose kinds the trees are told.
const BEST: usize = 20;
const PROPOSER: &str = "proposer.safetensors";
const ABOUT: &str = "answers.json";

/// What a document holds. To tables alone people put other questions than to reports, and what the words of a question
/// say of how a report's answers are made misleads there: trees of their own, which are not told what the proposer says,
/// choose among cells (docs/experiments.md, "What the words of a question do to tables alone").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Sentences too.
    Texts,
    /// Nothing else.
    Tables,
}

impl Content {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Texts, Self::Tables];

    /// That of a ranking with all nodes of its document.
    fn of(ranking: &Ranking) -> Self {
        match ranking.nodes.iter().any(|node| node.kind == NodeKind::Passage) {
            true => Self::Texts,
            false => Self::Tables,
        }
    }

    /// The file of its trees.
    pub fn file(self) -> &'static str {
        match self {
            Self::Texts => "texts.safetensors",
            Self::Tables => "tables.safetensors",
        }
    }
}

/// The candidates of a question, each with the features that speak for it.
pub struct Candidates {
    /// The question, read.
    pub(crate) inquiry: Inquiry,
    pub(crate) candidates: Vec<Candidate>,
    content: Content,
    /// Whether all are of the row that the question tells.
    is_told: bool,
    /// What each would say.
    pub(crate) predictions: Vec<Prediction>,
    /// Of the question's words, for [`Proposer::families`].
    pub(crate) words: Vec<u32>,
    pub(crate) nothing: Features,
    /// Nodes of the document, passages among the best, words of the question; how much of it the best cell's headers
    /// have, whether some number's headers name its operation, and whether the document has passages at all.
    pub(crate) of_question: QuestionFeatures,
}

/// Whether a sentence leaves what it gives as a reason to others.
fn points_elsewhere(text: &str) -> bool {
    let text = text.to_lowercase();
    ["discussed above", "described above", "mentioned above", "noted above", "discussed below", "described below"]
        .iter()
        .any(|pointer| text.contains(pointer))
}

impl Candidates {
    /// Those of a ranking with all nodes of its document.
    pub fn of(ranking: &Ranking) -> Self {
        Self::of_question(ranking, &ranking.question, ranking.read_as.as_deref())
    }

    /// Those for another question than the ranking's, which its nodes answer too; `read_as` is the same with a glossary's words.
    pub(crate) fn of_question(ranking: &Ranking, question: &str, read_as: Option<&str>) -> Self {
        let inquiry = Inquiry::new(question, read_as);
        let mut facts = Facts::new(ranking, &inquiry);
        let told = Some(&inquiry).filter(|inquiry| inquiry.wanted == Wanted::Value).and_then(|of| facts.told_row(of));
        let is_of_it = |fact: &Fact| told.is_some() && fact.row() == told;
        if let Some(row) = told.filter(|_| !facts.facts.iter().any(is_of_it)) {
            let numbers = facts.row(row, &inquiry);
            facts.facts.extend(numbers);
        }
        let mut candidates = candidates(&facts, &inquiry);
        if let Some(quotient) = Quotient::of(&inquiry.text) {
            candidates.retain(|candidate| match (candidate.family, candidate.facts.as_slice()) {
                (Family::Ratio | Family::Share, [above, below]) => !quotient.is_reversed(above, below, &ranking.nodes),
                _ => true,
            });
        }
        // What is to give a reason or a name says no number.
        if inquiry.wanted != Wanted::Value {
            candidates.retain(|candidate| candidate.outcome.is_none());
        }
        // Nor does a name give a reason; who and where may be one.
        let names = [" who ", " where "].iter().any(|begin| inquiry.text.starts_with(begin));
        let says = |candidate: &Candidate| matches!(candidate.family, Family::Sentence | Family::Span);
        if inquiry.wanted == Wanted::Sentence && !names {
            keep_if_any(&mut candidates, says);
        }
        if inquiry.wanted == Wanted::Sentence && asks_for_reason(question) {
            keep_if_any(&mut candidates, |candidate| candidate.words.iter().any(|text| gives_reason(text)));
            keep_if_any(&mut candidates, |candidate| !candidate.words.iter().any(|text| points_elsewhere(text)));
        }
        // Whose name is wanted is told by words that have one.
        if names && inquiry.wanted == Wanted::Sentence {
            keep_if_any(&mut candidates, |candidate| candidate.words.iter().any(|text| names::holds_name(text)));
        }
        if inquiry.is_comparison() {
            keep_if_any(&mut candidates, |candidate| candidate.family == Family::Greater);
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
        // What stands in a row that the question tells is said, however few such questions were learnt from.
        let is_told = |of: &Candidate| of.family == Family::Lookup && of.facts.first().is_some_and(is_of_it);
        keep_if_any(&mut candidates, is_told);
        let is_told = candidates.iter().all(is_told);
        if inquiry.wants_date() {
            keep_if_any(&mut candidates, Candidate::may_be_date);
        }
        let predictions = candidates.iter().map(|candidate| Prediction::new(candidate, &inquiry)).collect();
        let best = ranking.nodes.iter().take(BEST);
        let passages = best.filter(|node| node.kind == NodeKind::Passage).count();
        let content = Content::of(ranking);
        let most = |of: &dyn Fn(&Fact) -> f32| facts.facts.iter().map(of).fold(0.0, f32::max);
        let of_question = QuestionFeatures {
            nodes: (1.0 + ranking.nodes_in_document as f32).ln(),
            passages: passages as f32 / BEST as f32,
            words: question.split_whitespace().count() as f32,
            covers: most(&|fact| fact.covers),
            names_operation: most(&|fact| fact.operations[0]),
            has_passages: flag(content == Content::Texts),
        };
        let words = buckets(&inquiry.text);
        Self {
            is_told,
            content,
            nothing: nothing(&facts, &inquiry),
            candidates,
            predictions,
            words,
            of_question,
            inquiry,
        }
    }

    /// Keeps those that rest on the ranking's first `nodes` nodes alone.
    pub fn keep_first(&mut self, nodes: usize) {
        let keep: Vec<bool> = self.candidates.iter().map(|of| of.facts.iter().all(|fact| fact.node < nodes)).collect();
        let mut kept = keep.iter();
        self.candidates.retain(|_| kept.next().copied().unwrap_or(false));
        let mut kept = keep.iter();
        self.predictions.retain(|_| kept.next().copied().unwrap_or(false));
    }

    /// What their document holds.
    pub fn content(&self) -> Content {
        self.content
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

/// What proposes, and what chooses among its proposals by the document's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    proposer: Proposer,
    texts: Chooser,
    tables: Chooser,
}

/// Trees that choose, and how sure they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Chooser {
    /// Over rows of [`Proposals::rows`].
    pub trees: BoostedTrees,
    /// How likelihoods become confidences.
    pub calibration: Calibration,
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
    /// Of documents with sentences.
    texts: Calibration,
    /// Of tables alone.
    tables: Calibration,
    families: Vec<String>,
    features: Vec<String>,
}

/// A candidate that is chosen.
pub(crate) struct Chosen {
    pub candidate: usize,
    /// How often such a one is right.
    pub confidence: f32,
    /// Whether that is enough to say it.
    pub is_said: bool,
}

impl Choice {
    /// Of its parts.
    pub fn new(proposer: Proposer, texts: Chooser, tables: Chooser) -> Self {
        Self { proposer, texts, tables }
    }

    /// What the trees choose from.
    pub fn proposals(&self, candidates: &Candidates) -> Proposals {
        Proposals::new(candidates, &self.proposer)
    }

    fn chooser(&self, content: Content) -> &Chooser {
        match content {
            Content::Texts => &self.texts,
            Content::Tables => &self.tables,
        }
    }

    /// The candidates that are chosen, the likeliest first.
    pub(crate) fn choose(&self, candidates: &Candidates) -> Vec<Chosen> {
        let Chooser { trees, calibration } = self.chooser(candidates.content);
        let proposals = self.proposals(candidates);
        let ordered = proposals.ordered(&trees.scores(&proposals.rows(candidates.content)));
        let chosen = ordered.into_iter().filter_map(|(place, likelihood)| {
            let confidence = calibration.confidence(likelihood);
            let is_said = confidence >= calibration.threshold || candidates.is_told;
            Some(Chosen { candidate: *proposals.kept.get(place)?, confidence, is_said })
        });
        chosen.collect()
    }

    /// Writes it into a directory.
    ///
    /// # Errors
    /// The disk.
    pub fn write(&self, directory: &Path) -> Result<(), ChoiceError> {
        let write = |name: &str, tensors: Vec<(String, TensorData)>| {
            let path = directory.join(name);
            let bytes = serialize(&tensors, &path).map_err(|error| damaged(&path, error.to_string()))?;
            Ok::<_, ChoiceError>(write_bytes_atomic(&path, &bytes)?)
        };
        write(PROPOSER, self.proposer.tensors().into())?;
        for content in Content::ALL {
            write(content.file(), self.chooser(content).trees.tensors())?;
        }
        let about = About {
            texts: self.texts.calibration,
            tables: self.tables.calibration,
            families: families(),
            features: Proposals::names(),
        };
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
        let about: About =
            serde_json::from_str(&read_text(&path)?).map_err(|error| damaged(&path, error.to_string()))?;
        if about.families != families() || about.features != Proposals::names() {
            return Err(damaged(&path, "it looks at other families or features than this version has".into()));
        }
        let path = directory.join(PROPOSER);
        let proposer = Proposer::parse(&path, &read_bytes(&path)?).map_err(|message| damaged(&path, message))?;
        let chooser = |content: Content, calibration| {
            let path = directory.join(content.file());
            let trees = BoostedTrees::parse(&path, &read_bytes(&path)?, Proposals::width());
            Ok::<_, ChoiceError>(Chooser { trees: trees.map_err(|message| damaged(&path, message))?, calibration })
        };
        Ok(Self {
            proposer,
            texts: chooser(Content::Texts, about.texts)?,
            tables: chooser(Content::Tables, about.tables)?,
        })
    }
}

fn damaged(path: &Path, message: String) -> ChoiceError {
    ChoiceError::Damaged { file: path.display().to_string(), message }
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
