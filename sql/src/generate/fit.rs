//! What fitting the weights takes: the candidates of questions with their features.

use std::collections::{HashMap, HashSet};

use tabsegnet_choice::Features;

use super::features::{self, Featurizer, Names};
use super::known::{Known, Scope};
use super::question::Question;
use crate::error::QueryError;
use crate::rows::Rows;

/// Numbers of features by their names.
#[derive(Debug, Default)]
pub struct Vocabulary {
    ids: HashMap<String, u32>,
    /// Runs of words that features may have; where there are none, all.
    phrases: HashSet<String>,
}

impl Vocabulary {
    /// With the words, pairs of words and label words that enough questions have.
    pub fn new(phrases: HashSet<String>) -> Self {
        Self { ids: HashMap::new(), phrases }
    }

    /// The names in the order of their numbers.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<(&String, &u32)> = self.ids.iter().collect();
        names.sort_by_key(|(_, id)| **id);
        names.into_iter().map(|(name, _)| name.clone()).collect()
    }
}

impl Names for Vocabulary {
    /// New names get numbers.
    fn id(&mut self, name: &str) -> Option<u32> {
        if let Some(id) = self.ids.get(name) {
            return Some(*id);
        }
        let id = u32::try_from(self.ids.len()).ok()?;
        self.ids.insert(name.to_owned(), id);
        Some(id)
    }

    fn has_phrase(&self, phrase: &str) -> bool {
        self.phrases.is_empty() || self.phrases.contains(phrase)
    }
}

/// A candidate: its answer and its features.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The statement.
    pub sql: String,
    /// The different values of its first column.
    pub answer: Vec<String>,
    /// Its features, by the vocabulary's numbers.
    pub features: Features<u32>,
}

/// The features of no answer, and all candidates of a question. New features get numbers.
pub fn scored(
    question: &str,
    known: &Known,
    scopes: &[Scope],
    vocabulary: &mut Vocabulary,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> (Features<u32>, Vec<Scored>) {
    let read = Question::new(question, known);
    let mut features = Featurizer::new(&read, known);
    let none = features.none(vocabulary);
    let mut all = Vec::new();
    for scope in scopes {
        for each in super::answer(&read, known, scope, run) {
            let of = features.of(&each.candidate, &each.rows, vocabulary);
            all.push(Scored { sql: each.candidate.sql, answer: each.answer, features: of });
        }
    }
    (none, all)
}

/// The words, pairs of words, words of labels (`label ...`) and head words (`head ...`) of a question: what a
/// [`Vocabulary`] is made of.
pub fn phrases(question: &str, known: &Known) -> Vec<String> {
    let question = Question::new(question, known);
    let mut found = features::phrases(&question);
    let mut labels: Vec<String> =
        known.fields.iter().flat_map(|field| &field.label_words).map(|word| format!("label {word}")).collect();
    labels.sort();
    labels.dedup();
    found.extend(labels);
    found.push(format!("head {}", question.head));
    found
}
