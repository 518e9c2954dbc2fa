//! The conditions that a question may state: values of columns, numbers, parts of texts; and the features of each.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Implied, Reading, bucket};
use crate::compose::sketch::{Condition, Operand, Relation};
use crate::linking::Words;
use crate::schema_graph::ColumnKind;

/// Stems of columns that hold years without being dates.
const OF_YEARS: [&str; 10] = ["year", "season", "date", "found", "built", "open", "birth", "born", "start", "end"];

/// A condition that a question may state.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::compose) struct Stated {
    pub condition: Condition,
    /// The words that name its value.
    pub words: Range<usize>,
    pub features: Vec<String>,
}

/// Units by their stems: of what, and how many of the smallest.
#[rustfmt::skip]
const UNITS: [(&[&str], &str, f64); 21] = [
    (&["second", "sec"], "time", 1.0), (&["minut", "min"], "time", 60.0), (&["hour", "hr"], "time", 3600.0),
    (&["day"], "time", 86400.0), (&["week"], "time", 604_800.0),
    (&["mg", "milligram"], "mass", 1e-3), (&["g", "gram"], "mass", 1.0), (&["kg", "kilogram", "kilo"], "mass", 1e3),
    (&["ton", "tonn"], "mass", 1e6), (&["ounc", "oz"], "mass", 28.349_523), (&["pound", "lb"], "mass", 453.592_37),
    (&["mm", "millimet"], "length", 1e-3), (&["cm", "centimet"], "length", 1e-2), (&["m", "meter", "metr"], "length", 1.0),
    (&["km", "kilomet"], "length", 1e3), (&["mile", "mi"], "length", 1609.344), (&["inch"], "length", 0.0254),
    (&["feet", "foot", "ft"], "length", 0.3048),
    (&["ml", "millilit"], "volume", 1e-3), (&["liter", "litr"], "volume", 1.0), (&["gallon"], "volume", 3.785_411_8),
];

impl Reading<'_> {
    /// Conditions that the question may state, with features.
    pub fn conditions(&self) -> Vec<Stated> {
        let mut found = Vec::new();
        let texts = |column: usize| self.graph.columns().get(column).is_some_and(|c| c.kind != ColumnKind::Number);
        let mut holding: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for value in self.linked.values.values().flatten() {
            *holding.entry((value.words.start, value.words.end)).or_default() += 1;
        }
        for (&column, values) in &self.linked.values {
            for value in values.iter().filter(|value| !value.is_number) {
                let rivals = holding.get(&(value.words.start, value.words.end)).copied().unwrap_or(1);
                // "Paid orders" are none that are not.
                let relations = [Relation::Equal, Relation::Unequal];
                for relation in relations.into_iter().take(if self.negates() { 2 } else { 1 }) {
                    let features = self.of_value(column, &value.words, relation, rivals, "value");
                    let operand = Operand::Text(value.value.clone());
                    found.push(Stated {
                        condition: Condition { column, relation, operand },
                        words: value.words.clone(),
                        features,
                    });
                }
            }
        }
        let looked_at = self.looked_at();
        let numbers = looked_at.iter().copied().filter(|column| {
            let kind = self.graph.columns().get(*column).map(|column| column.kind);
            let known = self.linked.values.get(column).is_some_and(|values| values.iter().any(|value| value.is_number));
            kind == Some(ColumnKind::Number) || known || kind == Some(ColumnKind::Date)
        });
        self.of_periods(&looked_at, &mut found);
        for implied in self.implied.iter().filter(|implied| looked_at.contains(&implied.column)) {
            let Implied { column, words, relation, operand } = implied.clone();
            let features = self.of_value(column, &words, Relation::Equal, 1, "value");
            let condition = Condition { column, relation, operand };
            found.push(Stated { condition, words, features });
        }
        for column in numbers.filter(|column| !self.dates.contains(column)) {
            for &(at, number) in self.numbers.iter().filter(|(at, _)| !self.is_limit(*at)) {
                let known = self.linked.values.get(&column).into_iter().flatten();
                let known = known.filter(|value| value.is_number).any(|value| value.words.start == at);
                // "In 2025" is no price.
                if !known && self.is_in_year(at) && !self.dates.is_empty() && !self.has_stem(column, &OF_YEARS) {
                    continue;
                }
                // "The 1990s" are no year.
                if self.is_year(at) && self.words.words.get(at + 1).is_some_and(|word| word.text == "s") {
                    continue;
                }
                let said = self.or_beyond(at).or_else(|| self.since(at, column));
                let relations = [
                    Relation::Equal,
                    Relation::Above,
                    Relation::Below,
                    Relation::AtLeast,
                    Relation::AtMost,
                    Relation::Unequal,
                ];
                for relation in relations.into_iter().filter(|relation| said.is_none_or(|said| said == *relation)) {
                    let kind = if known { "known number" } else { "number" };
                    let features = self.of_value(column, &(at..at + 1), relation, 1, kind);
                    let is_number = self.graph.columns().get(column).is_some_and(|c| c.kind == ColumnKind::Number);
                    let (number, end) = self.in_unit(at, number, column);
                    let operand = if is_number {
                        Operand::Number(self.in_full(at, number, column))
                    } else {
                        let text = self.words.words.get(at).map(|word| word.text.clone()).unwrap_or_default();
                        Operand::Text(text)
                    };
                    found.push(Stated { condition: Condition { column, relation, operand }, words: at..end, features });
                }
            }
        }
        for (text, words) in self.patterns() {
            for &column in looked_at.iter().filter(|column| texts(**column)) {
                let before = self.marks.get(..words.start).unwrap_or_default().iter().rev().take(6);
                let starts = before.clone().any(|mark| ["start", "begin"].contains(&mark.as_str()));
                let ends = before.clone().any(|mark| mark == "end");
                let pattern = match (starts, ends) {
                    (true, _) => format!("{text}%"),
                    (_, true) => format!("%{text}"),
                    _ => format!("%{text}%"),
                };
                for (relation, operand) in [
                    (Relation::Like, pattern.clone()),
                    (Relation::Equal, text.clone()),
                    (Relation::Unlike, pattern.clone()),
                ] {
                    // What the column has is a condition already.
                    let has = self.linked.values.get(&column).into_iter().flatten();
                    if relation == Relation::Equal && has.into_iter().any(|value| value.words.start <= words.start) {
                        continue;
                    }
                    let features = self.of_value(column, &words, relation, 1, "pattern");
                    let operand = Operand::Text(operand);
                    found.push(Stated {
                        condition: Condition { column, relation, operand },
                        words: words.clone(),
                        features,
                    });
                }
            }
        }
        found
    }

    /// Dates within the spans that the question names, before and after them.
    fn of_periods(&self, looked_at: &[usize], found: &mut Vec<Stated>) {
        for &column in looked_at.iter().filter(|column| self.dates.contains(column)) {
            for period in &self.periods {
                let words = &period.words;
                let text = |at: Option<usize>| {
                    at.and_then(|at| self.words.words.get(at)).map_or("", |word| word.text.as_str())
                };
                let before = |back: usize| text(words.start.checked_sub(back));
                let with_it = before(2) == "or" && ["on", "in"].contains(&before(3));
                let said = self.or_beyond(words.end.saturating_sub(1)).or(match before(1) {
                    "after" if with_it => Some(Relation::AtLeast),
                    "before" if with_it => Some(Relation::AtMost),
                    "since" | "from" => Some(Relation::AtLeast),
                    "after" => Some(Relation::Above),
                    "before" => Some(Relation::Below),
                    "in" | "during" | "on" => Some(Relation::Equal),
                    _ => None,
                });
                for relation in Relation::ALL.into_iter().filter(|relation| said.is_none_or(|said| said == *relation)) {
                    let Some(operand) = period.operand(relation) else { continue };
                    let features = self.of_value(column, words, relation, 1, "known number");
                    let condition = Condition { column, relation, operand };
                    found.push(Stated { condition, words: words.clone(), features });
                }
            }
        }
    }

    /// What "or later", "or fewer" behind a word, or behind the next, says of it.
    fn or_beyond(&self, at: usize) -> Option<Relation> {
        (at + 1..at + 3).find_map(|or| self.beyond(or))
    }

    /// What an "or" says that begins "or later", "or fewer".
    pub(super) fn beyond(&self, or: usize) -> Option<Relation> {
        const MORE: [&str; 10] =
            ["later", "after", "more", "greater", "above", "newer", "higher", "over", "longer", "larger"];
        const LESS: [&str; 9] = ["earlier", "before", "less", "fewer", "below", "lower", "under", "shorter", "smaller"];
        let text = |at: usize| self.words.words.get(at).map_or("", |word| word.text.as_str());
        match text(or + 1) {
            _ if text(or) != "or" => None,
            word if MORE.contains(&word) => Some(Relation::AtLeast),
            word if LESS.contains(&word) => Some(Relation::AtMost),
            _ => None,
        }
    }

    /// That a year is the first of those that a column of years is held to.
    fn since(&self, at: usize, column: usize) -> Option<Relation> {
        let before = at.checked_sub(1).and_then(|at| self.words.words.get(at));
        let is_since = before.is_some_and(|word| word.text == "since") && self.is_year(at);
        (is_since && self.has_stem(column, &OF_YEARS)).then_some(Relation::AtLeast)
    }

    /// A number with the unit behind it as a column has it, where its name says in which unit it measures, and the word behind
    /// what is read: "two hours" of `delay_minutes` are 120.
    fn in_unit(&self, at: usize, number: f64, column: usize) -> (f64, usize) {
        let unit = |stem: &str| UNITS.iter().find(|(names, ..)| names.contains(&stem));
        let said = self.words.words.get(at + 1).and_then(|word| unit(&word.stem));
        let own = self.stems(column).filter_map(unit).next_back();
        match said.zip(own) {
            Some(((_, kind, said), (_, of, own))) if kind == of => {
                let converted = if said == own { number } else { number * said / own };
                ((converted * 1e6).round() / 1e6, at + 2)
            }
            _ => (number, at + 1),
        }
    }

    /// Texts in quotes, and words that follow those of patterns, with where they stand.
    fn patterns(&self) -> Vec<(String, Range<usize>)> {
        let mut found = Vec::new();
        for text in &self.quoted {
            let stems = Words::of(text).stems();
            let length = stems.len().max(1);
            let texts: Vec<String> = self.words.words.iter().map(|word| word.stem.clone()).collect();
            if let Some(at) = texts.windows(length).position(|window| window == stems.as_slice()) {
                found.push((text.clone(), at..at + length));
            }
        }
        for (at, word) in self.words.words.iter().enumerate() {
            let follows = ["contain", "substr", "letter", "word", "phrase", "includ"].contains(&word.stem.as_str());
            let Some(next) = self.words.words.get(at + 1).filter(|_| follows) else { continue };
            if !next.is_stop && !found.iter().any(|(_, words): &(String, Range<usize>)| words.contains(&(at + 1))) {
                found.push((next.text.clone(), at + 1..at + 2));
            }
        }
        found
    }

    fn of_value(
        &self,
        column: usize,
        words: &Range<usize>,
        relation: Relation,
        rivals: usize,
        kind: &str,
    ) -> Vec<String> {
        let sign = relation.sql();
        let mut features = vec![format!("{kind} {sign}")];
        let (Some(node), Some(mention)) = (self.graph.columns().get(column), self.columns.get(column)) else {
            return features;
        };
        let mut add = |name: String| features.push(name);
        let said = bucket(self.mentioned(column));
        let table = bucket(self.table_odds(node.table));
        add(format!("{kind} said {said}"));
        add(format!("{kind} table {table}"));
        add(format!("{kind} said {said} table {table}"));
        add(format!("{kind} rivals {}", rivals.min(4)));
        add(format!("{kind} rivals {} said {said}", rivals.min(4)));
        add(format!("{kind} length {}", words.len().min(4)));
        add(format!("{kind} is key {}", node.is_key));
        let is_name = self
            .columns
            .iter()
            .chain(&self.tables)
            .any(|mention| mention.spans.iter().any(|&(a, b)| a <= words.start && words.end <= b));
        add(format!("{kind} is a name {is_name} {}", words.len().min(3)));
        let stop = words.clone().all(|at| self.words.words.get(at).is_some_and(|word| word.is_stop));
        add(format!("{kind} stop {stop}"));
        let (one, two, three) = (
            self.mark(words.start.checked_sub(1)),
            self.mark(words.start.checked_sub(2)),
            self.mark(words.start.checked_sub(3)),
        );
        add(format!("{kind} {sign} {one}"));
        add(format!("{kind} {sign} {two} {one}"));
        add(format!("{kind} {sign} {three} {two} {one}"));
        add(format!("{kind} {sign} then {}", self.mark(Some(words.end))));
        add(format!("{kind} {sign} then {} {}", self.mark(Some(words.end)), self.mark(Some(words.end + 1))));
        for mark in self.marks.get(words.start.saturating_sub(5)..words.start).unwrap_or_default() {
            add(format!("{kind} {sign} near {mark}"));
        }
        let distance = mention.words.iter().map(|at| at.abs_diff(words.start)).min().filter(|_| mention.coverage > 0.4);
        let distance = distance.map_or("far", |distance| match distance {
            0..=1 => "beside",
            2..=3 => "near",
            4..=6 => "by",
            _ => "far",
        });
        add(format!("{kind} distance {distance}"));
        add(format!("{kind} distance {distance} said {said}"));
        // Another column that is named nearer.
        let own = mention.words.iter().map(|at| at.abs_diff(words.start)).min().unwrap_or(99);
        let nearer = self.columns.iter().enumerate().any(|(other, of)| {
            other != column
                && of.coverage > 0.99
                && self.mentioned(other) > 0.5
                && of.words.iter().any(|at| at.abs_diff(words.start) < own)
        });
        add(format!("{kind} nearer {nearer} said {said}"));
        for stem in self.stems(column) {
            add(format!("{kind} column {stem}"));
            if kind.ends_with("number") {
                let year = self.is_year(words.start);
                add(format!("{kind} year {year} column {stem}"));
            }
        }
        if let Some(at) = self.tables.get(node.table).filter(|m| m.coverage > 0.99).and_then(|m| m.words.first()) {
            add(format!("{kind} table {}", if *at < words.start { "before" } else { "after" }));
        }
        features
    }
}
