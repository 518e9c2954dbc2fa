//! A labelled document: what every data set is read into.

use std::collections::HashMap;
use std::hash::Hash;

use tabsegnet_document::model::Document;

use crate::error::DataError;

/// A document and the questions put to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The document, distractors not yet added.
    pub document: Document,
    /// Questions with gold nodes. May be empty.
    pub questions: Vec<Question>,
}

/// A question and its gold nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Unique in its data set.
    pub id: String,
    /// The question as put.
    pub text: String,
    /// Ids of the gold nodes; empty where the gold is not known.
    pub gold: Vec<String>,
    /// The parts of the question that ask for one thing each, in the question's order, where the
    /// data set says which they are; else empty.
    pub segments: Vec<Segment>,
    /// What the data set says the answer is, where it does.
    pub answer: Option<GoldAnswer>,
}

/// The answer that a data set gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoldAnswer {
    /// Numbers and texts as the data set writes them: one, or several where the answer is a list.
    pub values: Vec<String>,
    /// `thousand`, `million`, `billion`, `percent`, or nothing.
    pub scale: String,
    /// What gives it, as the data set writes it: FinQA's program, TAT-QA's derivation, HiTab's aggregation. Empty
    /// where it is not given.
    pub program: String,
    /// The data set's kind of answer, such as TAT-QA's `multi-span`; empty where there is one alone.
    pub kind: String,
}

/// What a question asks for in one place: the phrase that names it, whole in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The phrase, such as `net income in fiscal 2024`.
    pub text: String,
    /// Ids of the nodes that show it, all of them gold of the question.
    pub nodes: Vec<String>,
}

/// What questions are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// Gold nodes are needed: a question without what they follow from is an error, and one that
    /// has none is left out.
    Required,
    /// Gold nodes are taken where the file has them; every question stays.
    Optional,
}

/// A question that no measure can be taken of, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The question's id.
    pub question: String,
    /// Why it is left out; the same words for the same reason, so that they can be counted.
    pub reason: &'static str,
}

/// What a file of a data set holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Samples {
    /// Documents in the order in which they first occur.
    pub samples: Vec<Sample>,
    /// Questions left out.
    pub left_out: Vec<LeftOut>,
}

impl Samples {
    /// Adds a document without questions and returns its position.
    pub fn add_document(&mut self, document: Document) -> usize {
        self.samples.push(Sample { document, questions: Vec::new() });
        self.samples.len() - 1
    }

    /// Adds a question to the document at a position; without gold, where that is needed, it is left out and
    /// `no_gold` says why.
    pub(crate) fn add_question(&mut self, document: usize, question: Question, labels: Labels, no_gold: &'static str) {
        if labels == Labels::Required && question.gold.is_empty() {
            self.left_out.push(LeftOut { question: question.id, reason: no_gold });
        } else {
            self.samples[document].questions.push(question);
        }
    }
}

impl Question {
    /// A question whose segments are not known.
    pub(crate) fn new(id: String, text: String, gold: impl IntoIterator<Item = String>) -> Self {
        Self { id, text, gold: gold.into_iter().collect(), segments: Vec::new(), answer: None }
    }
}

/// Where the documents of records are among the samples, by what records of one document have in common.
#[derive(Default)]
pub(crate) struct Places<K>(HashMap<K, usize>);

impl<K: Eq + Hash> Places<K> {
    /// The document's position; it is added where this is its first record.
    pub fn of(
        &mut self,
        samples: &mut Samples,
        key: K,
        document: impl FnOnce() -> Result<Document, DataError>,
    ) -> Result<usize, DataError> {
        if let Some(&position) = self.0.get(&key) {
            return Ok(position);
        }
        let position = samples.add_document(document()?);
        self.0.insert(key, position);
        Ok(position)
    }
}
