//! Conditions on values that a question names.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::known::{Cell, Field, Known};
use super::question::{Token, is_stop};
use crate::catalogue::literal;

/// The longest part of a value that is looked for, in words.
const WORDS: usize = 8;

/// At most so many conditions on values, and on numbers.
const VALUES: usize = 8;
const NUMBERS: usize = 12;

/// How a condition holds a field against what the question has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Relation {
    /// The whole value.
    Is,
    /// A part of the value.
    Has,
    /// The number.
    Equal,
    Above,
    Below,
    AtLeast,
    AtMost,
}

impl Relation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Is => "is",
            Self::Has => "has",
            Self::Equal => "equal",
            Self::Above => "above",
            Self::Below => "below",
            Self::AtLeast => "at_least",
            Self::AtMost => "at_most",
        }
    }
}

/// A condition, with the tokens of the question that state it.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub field: usize,
    pub relation: Relation,
    pub span: Range<usize>,
    /// The value as SQL.
    pub value: String,
    /// Rows that it holds for.
    pub rows: Vec<usize>,
}

impl Condition {
    /// Whether a value of the database stands in the question.
    pub fn names_value(&self) -> bool {
        matches!(self.relation, Relation::Is | Relation::Has)
    }

    /// The condition on the field as SQL names it.
    pub fn sql(&self, field: &str) -> String {
        let sign = match self.relation {
            Relation::Is | Relation::Equal => "=",
            Relation::Has => return format!("{field} LIKE {}", self.value),
            Relation::Above => ">",
            Relation::Below => "<",
            Relation::AtLeast => ">=",
            Relation::AtMost => "<=",
        };
        format!("{field} {sign} {}", self.value)
    }
}

/// The conditions that a question may state, those with most words first.
pub(super) fn conditions(text: &str, tokens: &[Token], numbers: &[(f64, usize)], known: &Known) -> Vec<Condition> {
    let mut values = Vec::new();
    for (at, field) in known.fields.iter().enumerate().filter(|(_, field)| !field.number) {
        values.extend(of_texts(at, field, tokens));
    }
    values.sort_by_key(|found: &Condition| {
        (std::cmp::Reverse(found.span.len()), found.relation != Relation::Is, found.span.start, found.field)
    });
    // A part of what another condition has in the same field says less.
    let mut kept: Vec<Condition> = Vec::new();
    for found in values {
        let within = |other: &Condition| other.span.start <= found.span.start && found.span.end <= other.span.end;
        let covered = kept
            .iter()
            .any(|other| within(other) && (other.field == found.field || other.span.len() > found.span.len() + 1));
        if !covered && kept.len() < VALUES {
            kept.push(found);
        }
    }
    let compares = compares(text);
    let of_years = known.fields.iter().any(Field::is_of_years);
    let mut of_numbers = Vec::new();
    for (at, field) in known.fields.iter().enumerate().filter(|(_, field)| field.number && !field.key) {
        let is_month = field.reading_of.as_ref().is_some_and(|(_, part)| part.ends_with("month"));
        let is_time = field.is_time() && (field.is_of_years() || !of_years);
        for &(number, token) in numbers {
            let named =
                tokens.get(token).is_some_and(|token| token.stem.starts_with(|first: char| first.is_alphabetic()));
            let month = named
                && number > 0.0
                && tokens
                    .get(token)
                    .is_some_and(|token| tabsegnet_document::months::MONTHS.contains(&token.stem.as_str()));
            if month != is_month || !is_time && is_dated(tokens, token, number) {
                continue;
            }
            // "The budget of 2023" is a column.
            let is_label =
                |field: &Field| tokens.get(token).is_some_and(|token| field.label_words.contains(&token.stem));
            if known.fields.iter().any(is_label) {
                continue;
            }
            let relations = match stated(tokens, token) {
                Some(relation) => vec![relation],
                None if compares && !month => {
                    vec![Relation::Equal, Relation::Above, Relation::Below, Relation::AtLeast, Relation::AtMost]
                }
                None => vec![Relation::Equal],
            };
            for relation in relations {
                let rows: Vec<usize> = field
                    .values
                    .iter()
                    .enumerate()
                    .filter(|(_, cell)| cell.number.is_some_and(|value| holds(relation, value, number)))
                    .map(|(row, _)| row)
                    .collect();
                if !rows.is_empty() && rows.len() < field.values.len() {
                    let value = format!("{number}");
                    of_numbers.push(Condition { field: at, relation, span: token..token + 1, value, rows });
                }
            }
        }
    }
    of_numbers.sort_by_key(|found| (found.relation != Relation::Equal, found.span.start, found.field));
    let (equal, compared): (Vec<_>, Vec<_>) =
        of_numbers.into_iter().partition(|found| found.relation == Relation::Equal);
    kept.extend(equal.into_iter().take(NUMBERS / 2));
    kept.extend(compared.into_iter().take(NUMBERS));
    kept
}

/// Whether a number is a year by the word before it: "before 1990".
fn is_dated(tokens: &[Token], at: usize, number: f64) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map_or("", |token| token.stem.as_str());
    let is_year = number.fract() == 0.0 && (1800.0..2100.0).contains(&number);
    is_year && ["in", "before", "after", "since", "until", "during"].contains(&before)
}

fn holds(relation: Relation, value: f64, number: f64) -> bool {
    match relation {
        Relation::Above => value > number,
        Relation::Below => value < number,
        Relation::AtLeast => value >= number,
        Relation::AtMost => value <= number,
        _ => (value - number).abs() < 1e-9,
    }
}

/// Words with which numbers are compared.
const COMPARING: &str = "more over above greater least less under fewer below before after since most exceed exceeded higher \
    lower later earlier prior than between from up until minimum maximum past top";

fn compares(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| COMPARING.split_whitespace().any(|cue| cue == word))
}

/// What the words around a number say of it: "more than 5", "5 or more".
fn stated(tokens: &[Token], number: usize) -> Option<Relation> {
    const MORE: [&str; 8] = ["more", "greater", "higher", "larger", "bigger", "longer", "older", "taller"];
    const LESS: [&str; 7] = ["less", "fewer", "lower", "smaller", "shorter", "younger", "lighter"];
    let before =
        |back: usize| number.checked_sub(back).and_then(|at| tokens.get(at)).map_or("", |token| token.stem.as_str());
    let after = |on: usize| tokens.get(number + on).map_or("", |token| token.stem.as_str());
    let is_not = ["no", "not"].contains(&before(3));
    match (before(2), before(1)) {
        ("at", "least") => Some(Relation::AtLeast),
        ("at", "most") | ("up", "to") => Some(Relation::AtMost),
        (more, "than") if MORE.contains(&more) => Some(if is_not { Relation::AtMost } else { Relation::Above }),
        (less, "than") if LESS.contains(&less) => Some(if is_not { Relation::AtLeast } else { Relation::Below }),
        (_, "over" | "above" | "exceeding") => Some(Relation::Above),
        (_, "under" | "below") => Some(Relation::Below),
        _ if after(1) == "or" && (MORE.contains(&after(2)) || ["over", "above"].contains(&after(2))) => {
            Some(Relation::AtLeast)
        }
        _ if after(1) == "or" && (LESS.contains(&after(2)) || ["under", "below"].contains(&after(2))) => {
            Some(Relation::AtMost)
        }
        _ => None,
    }
}

/// Values of a field of texts that stand in the question, whole or in part.
fn of_texts(at: usize, field: &Field, tokens: &[Token]) -> Vec<Condition> {
    let present: HashSet<&str> = tokens.iter().map(|token| token.stem.as_str()).collect();
    // Per span of the question, the rows that have it and where it stands in the first.
    let mut found: HashMap<(usize, usize), (bool, Vec<usize>, String)> = HashMap::new();
    for (row, cell) in field.values.iter().enumerate() {
        if !cell.tokens.iter().any(|token| present.contains(token.stem.as_str())) {
            continue;
        }
        for (start, end, from) in matches(cell, tokens) {
            let whole = end - start == cell.tokens.len();
            let entry = found.entry((start, end)).or_insert_with(|| (whole, Vec::new(), String::new()));
            let first = cell.tokens.get(from).map_or(0, |token| token.start);
            let last = cell.tokens.get(from + end - start - 1).map_or(0, |token| token.end);
            if whole && (!entry.0 || entry.1.is_empty()) {
                // A whole value counts more than a part of one.
                (entry.0, entry.2) = (true, cell.text.clone());
                entry.1.retain(|_| false);
            } else if entry.1.is_empty() {
                entry.2 = cell.text.get(first..last).unwrap_or_default().to_owned();
            }
            if whole == entry.0 && entry.1.last() != Some(&row) {
                entry.1.push(row);
            }
        }
    }
    let mut conditions = Vec::new();
    for ((start, end), (whole, rows, text)) in found {
        let (relation, value) = if whole {
            (Relation::Is, literal(&text))
        } else {
            let pattern = text.replace(['%', '_'], "_");
            (Relation::Has, literal(&format!("%{pattern}%")))
        };
        conditions.push(Condition { field: at, relation, span: start..end, value, rows });
    }
    conditions
}

/// The longest runs of words that a value and the question have in common: where they begin and end in the question, and
/// begin in the value.
fn matches(cell: &Cell, tokens: &[Token]) -> Vec<(usize, usize, usize)> {
    let mut found = Vec::new();
    for start in 0..tokens.len() {
        for from in 0..cell.tokens.len() {
            let same = tokens.iter().skip(start).zip(cell.tokens.iter().skip(from)).take(WORDS);
            let length = same.take_while(|(one, other)| one.stem == other.stem).count();
            let longer_before = start > 0
                && from > 0
                && tokens
                    .get(start - 1)
                    .zip(cell.tokens.get(from - 1))
                    .is_some_and(|(one, other)| one.stem == other.stem);
            if length == 0 || longer_before {
                continue;
            }
            let run = tokens.get(start..start + length).unwrap_or_default();
            let says =
                run.iter().any(|token| !is_stop(&token.stem) && (token.stem.len() > 2 || length == cell.tokens.len()));
            if says {
                found.push((start, start + length, from));
            }
        }
    }
    found
}
