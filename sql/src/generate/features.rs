//! What speaks for a candidate.

use std::collections::HashMap;
use std::fmt::Write as _;

use tabsegnet_choice::Features;

use super::candidates::{Candidate, Form, Joined};
use super::conditions::Relation;
use super::known::{Field, Known};
use super::question::{Question, is_stop};
use crate::rows::{Rows, Value};

/// Where numbers of features come from.
pub(super) trait Names {
    /// The number of a feature; `None` leaves it out.
    fn id(&mut self, name: &str) -> Option<u32>;

    /// Whether features may have these words.
    fn has_phrase(&self, phrase: &str) -> bool;
}

/// The words and pairs of words of a question; values and numbers are `@v` and `@n`.
pub(super) fn phrases(question: &Question) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (at, token) in question.tokens.iter().enumerate() {
        let word = if question.in_value.get(at) == Some(&true) {
            "@v"
        } else if token.stem.starts_with(|first: char| first.is_ascii_digit()) {
            "@n"
        } else {
            &token.stem
        };
        if words.last().is_none_or(|last| last != word || word != "@v") {
            words.push(word.to_owned());
        }
    }
    let mut found: Vec<String> = words.windows(2).map(|pair| pair.join(" ")).collect();
    found.extend(words);
    found.sort();
    found.dedup();
    found
}

/// Makes the features of one question's candidates.
pub(super) struct Featurizer<'a> {
    question: &'a Question,
    known: &'a Known,
    phrases: Vec<String>,
    /// Per form, the features of its words.
    of_form: HashMap<Form, Vec<u32>>,
    /// Words that name a largest or smallest.
    superlatives: Vec<String>,
    /// The most tokens of values that conditions without a common token cover.
    values: usize,
    buffer: String,
}

/// The first three words of a column's label, as far as there are weights for them.
fn known_labels(field: &Field, names: &dyn Names) -> Vec<String> {
    let words = field.label_words.iter().take(3);
    words.filter(|word| names.has_phrase(&format!("label {word}"))).cloned().collect()
}

fn bucket(share: f32) -> &'static str {
    match share {
        share if share >= 0.99 => "all",
        share if share > 0.0 => "part",
        _ => "none",
    }
}

fn count(number: usize) -> &'static str {
    match number {
        0 => "0",
        1 => "1",
        2 => "2",
        3..=4 => "3",
        _ => "5",
    }
}

impl<'a> Featurizer<'a> {
    pub fn new(question: &'a Question, known: &'a Known) -> Self {
        let superlatives = question
            .tokens
            .iter()
            .map(|token| token.stem.clone())
            .filter(|stem| {
                stem.len() > 4 && stem.ends_with("est")
                    || ["most", "least", "last", "first", "top", "best", "final", "more", "less", "fewer"]
                        .contains(&stem.as_str())
                    || stem.len() > 4 && stem.ends_with("er")
            })
            .collect();
        let values = question.in_value.iter().filter(|within| **within).count();
        let phrases = phrases(question);
        Self { question, known, phrases, of_form: HashMap::new(), superlatives, values, buffer: String::new() }
    }

    /// Those of saying nothing.
    pub fn none(&mut self, names: &mut dyn Names) -> Features<u32> {
        let mut features = Vec::new();
        for name in [
            "nothing".to_owned(),
            format!("nothing {}", self.question.opening),
            format!("nothing values {}", count(self.values)),
        ] {
            features.extend(names.id(&name).map(|id| (id, 1.0)));
        }
        features
    }

    fn add(&mut self, features: &mut Features<u32>, names: &mut dyn Names, parts: &[&str]) {
        self.buffer.clear();
        for (at, part) in parts.iter().enumerate() {
            let _ = write!(self.buffer, "{}{part}", if at > 0 { "|" } else { "" });
        }
        features.extend(names.id(&self.buffer).map(|id| (id, 1.0)));
    }

    /// Those of a candidate that answered.
    pub fn of(&mut self, candidate: &Candidate, rows: &Rows, names: &mut dyn Names) -> Features<u32> {
        let (question, known) = (self.question, self.known);
        let form = candidate.form.name();
        let mut features: Features<u32> = self.words(candidate.form, names).iter().map(|id| (*id, 1.0)).collect();
        self.add(&mut features, names, &["form", form]);
        self.add(&mut features, names, &["form opening", form, question.opening]);
        self.shown(candidate, names, &mut features);
        if let Some(field) = candidate.measure.and_then(|measure| known.fields.get(measure)) {
            let overlap = candidate.measure.and_then(|measure| question.overlaps.get(measure)).copied().unwrap_or(0.0);
            self.add(&mut features, names, &["measure label", bucket(overlap)]);
            self.add(&mut features, names, &["measure label", form, bucket(overlap)]);
            let part = field.reading_of.as_ref().map_or("", |(_, part)| part.as_str()).to_owned();
            self.add(&mut features, names, &["measure part", &part]);
            let labels = known_labels(field, names);
            for label in &labels {
                self.add(&mut features, names, &["measure form", form, label]);
                for word in self.superlatives.clone() {
                    if !names.has_phrase(&word) {
                        continue;
                    }
                    self.add(&mut features, names, &["superlative", form, &word, label]);
                }
            }
            if candidate.shown == candidate.measure {
                self.add(&mut features, names, &["measure shown"]);
            }
        }
        self.conditions(candidate, names, &mut features);
        self.answer(candidate, rows, names, &mut features);
        features
    }

    fn words(&mut self, form: Form, names: &mut dyn Names) -> Vec<u32> {
        if let Some(found) = self.of_form.get(&form) {
            return found.clone();
        }
        let mut found = Vec::new();
        for phrase in &self.phrases {
            if !names.has_phrase(phrase) {
                continue;
            }
            self.buffer.clear();
            let _ = write!(self.buffer, "word|{}|{phrase}", form.name());
            found.extend(names.id(&self.buffer));
        }
        self.of_form.insert(form, found.clone());
        found
    }

    fn shown(&mut self, candidate: &Candidate, names: &mut dyn Names, features: &mut Features<u32>) {
        let (question, known) = (self.question, self.known);
        let form = candidate.form.name();
        let Some((at, field)) = candidate.shown.and_then(|at| Some((at, known.fields.get(at)?))) else { return };
        let overlap = question.overlaps.get(at).copied().unwrap_or(0.0);
        self.add(features, names, &["shown label", bucket(overlap)]);
        self.add(features, names, &["shown label", form, bucket(overlap)]);
        let position = match question.label_at.get(at).copied().flatten() {
            None => "none",
            Some(0..=3) => "start",
            Some(token) if token + 3 > question.tokens.len() => "end",
            Some(_) => "middle",
        };
        self.add(features, names, &["shown at", position]);
        let headed = !question.head.is_empty() && field.label_words.contains(&question.head);
        self.add(features, names, &["shown is head", if headed { "yes" } else { "no" }]);
        let place = match field.place {
            0..=1 => "first",
            2..=3 => "second",
            _ => "later",
        };
        self.add(features, names, &["shown place", place, question.opening]);
        let kind = self.kind(at);
        self.add(features, names, &["shown kind", kind, question.opening]);
        let part = field.reading_of.as_ref().map_or("", |(_, part)| part.as_str()).to_owned();
        self.add(features, names, &["shown part", &part]);
        let known_labels = known_labels(field, names);
        let head = names.has_phrase(&format!("head {}", question.head));
        for label in &known_labels {
            self.add(features, names, &["opening label", question.opening, label]);
            if head {
                self.add(features, names, &["head label", &question.head, label]);
            }
        }
        if head {
            self.add(features, names, &["head kind", &question.head, kind]);
        }
        let of_conditions = candidate.conditions.iter().filter_map(|at| question.conditions.get(*at));
        if of_conditions.into_iter().any(|found| known.base(found.field) == known.base(at)) {
            self.add(features, names, &["shown is condition", form]);
        }
    }

    /// What a field's values are.
    fn kind(&self, field: usize) -> &'static str {
        let Some(found) = self.known.fields.get(field) else { return "none" };
        let readings: Vec<&str> = self
            .known
            .fields
            .iter()
            .filter(|other| other.reading_of.as_ref().is_some_and(|(base, _)| *base == field))
            .filter_map(|other| other.reading_of.as_ref().map(|(_, part)| part.as_str()))
            .collect();
        let years =
            found.values.iter().filter(|cell| cell.text.len() == 4 && cell.text.starts_with(['1', '2'])).count();
        if readings.iter().any(|part| part.ends_with("year") || part.ends_with("month")) {
            "date"
        } else if found.number || readings.contains(&"number") {
            if years * 2 > found.values.len() { "year" } else { "number" }
        } else {
            "text"
        }
    }

    fn conditions(&mut self, candidate: &Candidate, names: &mut dyn Names, features: &mut Features<u32>) {
        let (question, known) = (self.question, self.known);
        let form = candidate.form.name();
        let found: Vec<_> = candidate.conditions.iter().filter_map(|at| question.conditions.get(*at)).collect();
        self.add(features, names, &["conditions", count(found.len()), candidate.joined.name()]);
        self.add(features, names, &["conditions form", form, count(found.len()), candidate.joined.name()]);
        let mut covered = vec![false; question.tokens.len()];
        for condition in &found {
            for at in condition.span.clone() {
                covered.get_mut(at).into_iter().for_each(|token| *token = true);
            }
        }
        let open = question.in_value.iter().zip(&covered).filter(|(value, covered)| **value && !**covered).count();
        self.add(features, names, &["values left", count(open)]);
        self.add(features, names, &["values left form", form, count(open)]);
        let numbers = question
            .numbers
            .iter()
            .filter(|(_, at)| covered.get(*at) != Some(&true) && question.in_value.get(*at) != Some(&true))
            .count();
        self.add(features, names, &["numbers left", count(numbers)]);
        let labels = [candidate.shown, candidate.measure];
        let label_words = |field: usize| known.fields.get(field).map_or(&[][..], |field| field.label_words.as_slice());
        let used: Vec<&String> = labels
            .into_iter()
            .flatten()
            .chain(found.iter().map(|condition| condition.field))
            .flat_map(label_words)
            .collect();
        let tokens = question.tokens.iter().zip(&question.in_label).zip(&covered);
        let left =
            tokens.filter(|((token, label), covered)| **label && !**covered && !used.contains(&&token.stem)).count();
        self.add(features, names, &["labels left", count(left)]);
        for condition in found {
            let relation = condition.relation.name();
            let overlap = question.overlaps.get(condition.field).copied().unwrap_or(0.0);
            self.add(features, names, &["relation", relation, bucket(overlap)]);
            self.add(features, names, &["relation length", relation, count(condition.span.len())]);
            self.add(features, names, &["relation rows", relation, count(condition.rows.len())]);
            let rivals =
                question.conditions.iter().filter(|other| other.span == condition.span && other.names_value()).count();
            self.add(features, names, &["relation rivals", relation, count(rivals)]);
            let single = condition.span.len() == 1;
            let token = question.tokens.get(condition.span.start).map_or("", |token| token.stem.as_str());
            if single && question.in_label.get(condition.span.start) == Some(&true) {
                self.add(features, names, &["relation label word", relation]);
            }
            if single && is_stop(token) {
                self.add(features, names, &["relation stop word", relation]);
            }
            if !matches!(condition.relation, Relation::Is | Relation::Has) {
                let before = [1, 2, 3]
                    .into_iter()
                    .filter_map(|back| condition.span.start.checked_sub(back))
                    .filter_map(|at| question.tokens.get(at));
                let words: Vec<String> = before.map(|token| token.stem.clone()).collect();
                for (back, word) in words.iter().enumerate() {
                    if !names.has_phrase(word) {
                        continue;
                    }
                    self.add(features, names, &["before number", relation, if back < 1 { "1" } else { "2" }, word]);
                }
                let part = known
                    .fields
                    .get(condition.field)
                    .and_then(|field| field.reading_of.as_ref())
                    .map_or("", |(_, part)| part.as_str())
                    .to_owned();
                self.add(features, names, &["number part", relation, &part]);
            }
        }
    }

    fn answer(&mut self, candidate: &Candidate, rows: &Rows, names: &mut dyn Names, features: &mut Features<u32>) {
        let form = candidate.form.name();
        let opening = self.question.opening;
        self.add(features, names, &["rows", form, count(rows.rows.len())]);
        self.add(features, names, &["rows opening", opening, count(rows.rows.len())]);
        let first = rows.rows.first().and_then(|row| row.first());
        let kind = match first {
            Some(Value::Integer(0)) => "zero",
            Some(Value::Integer(1)) => "one",
            Some(Value::Integer(_) | Value::Real(_)) => "number",
            Some(Value::Text(text)) if text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-')) => {
                "digits"
            }
            Some(Value::Text(text)) if text.chars().any(|c| c.is_ascii_digit()) => "mixed",
            Some(Value::Text(_)) => "words",
            _ => "other",
        };
        self.add(features, names, &["answer", opening, kind]);
        self.add(features, names, &["answer form", form, kind]);
        if !self.question.head.is_empty() && names.has_phrase(&format!("head {}", self.question.head)) {
            let head = self.question.head.clone();
            self.add(features, names, &["answer head", &head, kind]);
        }
        if let Some(Value::Text(text)) = first {
            let words = super::question::words(text);
            let joined = |words: &[String]| format!(" {} ", words.join(" "));
            let of_question: Vec<String> = self.question.tokens.iter().map(|token| token.stem.clone()).collect();
            if !words.is_empty() && joined(&of_question).contains(&joined(&words)) {
                self.add(
                    features,
                    names,
                    &["answer in question", if candidate.joined == Joined::Either { "either" } else { form }],
                );
            }
        }
    }
}
