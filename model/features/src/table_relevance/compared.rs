//! What tables and sentences have that can be compared.

use std::collections::{HashMap, HashSet};

use crate::dates::Day;
use crate::numbers::{Unit, significant};
use crate::order::View;

/// Least digits of a number that is found again rounded or as a difference.
const DIGITS: usize = 3;

/// What is compared of a table. Of what is worked out of its numbers there is what sentences mention: a table of a hundred
/// thousand rows has millions that nothing is compared with.
pub(super) struct Table {
    pub(super) words: HashSet<u32>,
    /// The first digits of its numbers, where an amount in millions has them.
    pub(super) starts: HashSet<String>,
    /// Differences of two of its numbers in a row that a sentence mentions.
    pub(super) differences: HashSet<String>,
    /// Changes between two of its numbers in a row, in percent, that a sentence mentions.
    pub(super) changes: HashSet<String>,
    pub(super) days: HashSet<Day>,
}

/// What all sentences mention.
#[derive(Default)]
pub(super) struct Mentioned {
    pub(super) words: HashSet<u32>,
    pub(super) numbers: HashSet<String>,
    /// Digits of amounts in millions, and of all numbers.
    pub(super) rounded: HashSet<String>,
    pub(super) significant: HashSet<String>,
    pub(super) percents: HashSet<String>,
    pub(super) years: HashSet<u16>,
    pub(super) days: HashSet<Day>,
}

impl Mentioned {
    /// Whether a sentence has the digits of a difference.
    fn has_difference(&self, digits: &String) -> bool {
        self.rounded.contains(digits) || self.significant.contains(digits)
    }
}

/// In how many tables things are.
pub(super) struct Counts<'t> {
    pub(super) words: HashMap<&'t u32, usize>,
    pub(super) numbers: HashMap<&'t String, usize>,
    pub(super) starts: HashMap<&'t String, usize>,
    pub(super) changes: HashMap<&'t String, usize>,
    pub(super) days: HashMap<&'t Day, usize>,
}

impl<'t> Counts<'t> {
    pub(super) fn new(view: &'t View<'_>, tables: &'t [Table]) -> Self {
        Self {
            words: counts(tables.iter().map(|table| &table.words)),
            numbers: counts(view.numbers.of_table.iter()),
            starts: counts(tables.iter().map(|table| &table.starts)),
            changes: counts(tables.iter().map(|table| &table.changes)),
            days: counts(tables.iter().map(|table| &table.days)),
        }
    }
}

/// In how many of the sets each member is.
fn counts<'s, T: std::hash::Hash + Eq + 's>(sets: impl Iterator<Item = &'s HashSet<T>>) -> HashMap<&'s T, usize> {
    let mut counts = HashMap::new();
    for member in sets.flatten() {
        *counts.entry(member).or_insert(0) += 1;
    }
    counts
}

/// Those that are in one table alone.
pub(super) fn alone<T: std::hash::Hash + Eq>(found: &[&T], counts: &HashMap<&T, usize>) -> f32 {
    found.iter().filter(|found| counts.get(*found) == Some(&1)).count() as f32
}

impl View<'_> {
    /// Stems of a node that are words.
    pub(super) fn words_of(&self, node: usize) -> impl Iterator<Item = u32> {
        let phrases = self.phrases.of_node[node].map(|phrase| &self.phrases.phrases[phrase as usize]);
        phrases.into_iter().flat_map(|phrase| &phrase.distinct).copied().filter(|&stem| self.phrases.is_word(stem))
    }

    pub(super) fn mentioned(&self) -> Mentioned {
        let Self { order, numbers, phrases, .. } = self;
        let mut mentioned = Mentioned::default();
        for &node in &order.passages {
            mentioned.words.extend(self.words_of(node));
            mentioned.years.extend(phrases.years_of(node));
            mentioned.days.extend(phrases.days_of(node));
            for number in &numbers.of_node[node] {
                let digits = number.significant();
                if number.unit == Unit::Large && digits.len() >= DIGITS {
                    mentioned.rounded.insert(digits.clone());
                }
                if number.unit == Unit::Percent {
                    mentioned.percents.insert(number.digits.clone());
                }
                if number.is_distinctive() {
                    mentioned.numbers.insert(number.digits.clone());
                    mentioned.significant.insert(digits);
                }
            }
        }
        mentioned
    }

    pub(super) fn table(&self, members: &[usize], mentioned: &Mentioned) -> Table {
        let mut table = Table {
            words: members.iter().flat_map(|&node| self.words_of(node)).collect(),
            starts: HashSet::new(),
            differences: HashSet::new(),
            changes: HashSet::new(),
            days: members.iter().flat_map(|&node| self.phrases.days_of(node)).collect(),
        };
        let mut grid: HashMap<(usize, usize), f64> = HashMap::new();
        for &node in members {
            let (Some(place), Some(number)) = (&self.nodes[node].place, self.numbers.of_node[node].first()) else {
                continue;
            };
            if let Ok(value) = number.digits.parse() {
                grid.insert((place.row, place.col), value);
            }
            if mentioned.rounded.is_empty() {
                continue;
            }
            for number in self.numbers.of_node[node].iter().filter(|number| number.is_distinctive()) {
                let digits = number.significant();
                let starts = (DIGITS..=5).filter_map(|length| digits.get(..length));
                table.starts.extend(starts.filter(|start| mentioned.rounded.contains(*start)).map(str::to_owned));
            }
        }
        let differences = !(mentioned.rounded.is_empty() && mentioned.significant.is_empty());
        let changes = !mentioned.percents.is_empty();
        for (&(row, col), &value) in &grid {
            for other in [1, 2].iter().filter_map(|step| grid.get(&(row, col + step))).filter(|other| **other != 0.0) {
                if differences {
                    let difference = (value - other).abs();
                    let written = (0..3).map(|digits| significant(&format!("{difference:.digits$}")));
                    let written = written.filter(|written| written.len() >= DIGITS);
                    table.differences.extend(written.filter(|written| mentioned.has_difference(written)));
                }
                if value == 0.0 || !changes {
                    continue;
                }
                for change in [(value - other) / other, (other - value) / value] {
                    let written = (0..3).map(|digits| format!("{:.digits$}", change.abs() * 100.0));
                    let written = written.filter(|written| written.len() > 1);
                    table.changes.extend(written.filter(|written| mentioned.percents.contains(written)));
                }
            }
        }
        table
    }
}
