//! A question's words with where they stand in it, and what of the schema each may name.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use crate::linking::{Linker, Words};
use crate::schema_graph::{ColumnKind, JoinOrigin, SchemaGraph};

/// How many joins away from each thing that a question names what is measured of them is, at most.
pub(in crate::compose) const NEAR: usize = 2;

pub(in crate::compose) struct Phrase<'l, 'g> {
    text: &'l str,
    pub words: Words,
    /// The bytes of each word.
    places: Vec<Range<usize>>,
    /// Texts of cells, by their words, with their columns.
    values: Vec<(Range<usize>, usize, String)>,
    linker: &'l Linker<'g>,
}

impl<'l, 'g> Phrase<'l, 'g> {
    /// None where letters change their length in lower case, or a word is not found again.
    pub fn new(text: &'l str, linker: &'l Linker<'g>) -> Option<Self> {
        let lower = text.to_lowercase();
        if lower.len() != text.len() {
            return None;
        }
        let words = Words::of(text);
        let (mut places, mut from) = (Vec::new(), 0);
        for word in &words.words {
            // "30,000" is one without the comma.
            let found = lower.get(from..)?.find(&word.text).map(|at| from + at..from + at + word.text.len());
            let place = match found {
                Some(place) => place,
                None => from..from,
            };
            if word.text.chars().any(char::is_alphabetic) && place.is_empty() {
                return None;
            }
            from = place.end;
            places.push(place);
        }
        let values = linker.values().find(&words).into_iter();
        let of_column = |(column, values): (usize, Vec<crate::linking::FoundValue>)| {
            let texts = values.into_iter().filter(|value| !value.is_number);
            texts.map(move |value| (value.words, column, value.value)).collect::<Vec<_>>()
        };
        Some(Self { text, places, values: values.flat_map(of_column).collect(), words, linker })
    }

    pub fn graph(&self) -> &'g SchemaGraph {
        self.linker.graph()
    }

    pub fn len(&self) -> usize {
        self.words.words.len()
    }

    /// A word in lower case; nothing beyond the last.
    pub fn word(&self, at: usize) -> &str {
        self.words.words.get(at).map_or("", |word| word.text.as_str())
    }

    pub fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    pub fn stem(&self, at: usize) -> &str {
        self.words.words.get(at).map_or("", |word| word.stem.as_str())
    }

    /// Words as they are written.
    pub fn written(&self, words: Range<usize>) -> &str {
        let (first, last) = (self.places.get(words.start), words.end.checked_sub(1).and_then(|at| self.places.get(at)));
        first.zip(last).and_then(|(first, last)| self.text.get(first.start..last.end)).unwrap_or_default()
    }

    pub fn find(&self, is: impl Fn(usize) -> bool) -> Option<usize> {
        (0..self.len()).find(|at| is(*at))
    }

    /// The question with other words in some places, which do not overlap.
    pub fn with(&self, edits: &[(Range<usize>, &str)]) -> Option<String> {
        let mut edits: Vec<&(Range<usize>, &str)> = edits.iter().collect();
        edits.sort_by_key(|(words, _)| words.start);
        let mut text = self.text.to_owned();
        for (words, other) in edits.into_iter().rev() {
            let start = self.places.get(words.start)?.start;
            let end = words.end.checked_sub(1).and_then(|at| self.places.get(at)).map_or(start, |place| place.end);
            text.replace_range(start..end.max(start), other);
        }
        let parts: Vec<&str> = text.split_whitespace().collect();
        Some(parts.join(" "))
    }

    /// Whether a word is of a value.
    pub fn is_value(&self, at: usize) -> bool {
        self.values.iter().any(|(words, ..)| words.contains(&at))
    }

    /// The longest value that begins at a word, with the columns that have it.
    pub fn value_at(&self, at: usize) -> Option<(Range<usize>, Vec<usize>)> {
        let words =
            self.values.iter().map(|(words, ..)| words).filter(|words| words.start == at).max_by_key(|of| of.end)?;
        let columns = self.values.iter().filter(|(of, ..)| of == words).map(|(_, column, _)| *column).collect();
        Some((words.clone(), columns))
    }

    /// What a column has that words name.
    pub fn value(&self, words: &Range<usize>, column: usize) -> Option<String> {
        let found = self.values.iter().find(|(of, other, _)| of == words && *other == column)?;
        Some(found.2.clone())
    }

    /// The table whose whole name begins at a word, the longest.
    pub fn table_at(&self, at: usize) -> Option<(Range<usize>, usize)> {
        let tables = self.graph().tables().iter().enumerate();
        let named = tables.flat_map(|(table, node)| {
            let names = std::iter::once(node.own_name()).chain(node.names.iter().map(String::as_str));
            names.map(move |name| (table, Words::of_name(name).stems()))
        });
        let is_here =
            |stems: &[String]| !stems.is_empty() && stems.iter().zip(at..).all(|(stem, at)| self.stem(at) == stem);
        let here = named.filter(|(_, stems)| is_here(stems));
        here.max_by_key(|(_, stems)| stems.len()).map(|(table, stems)| (at..at + stems.len(), table))
    }

    /// The stems of a column's name.
    pub fn column_stems(&self, column: usize) -> Vec<String> {
        self.graph().columns().get(column).map(|node| Words::of_name(&node.name).stems()).unwrap_or_default()
    }

    /// Whether a name of the schema has a word.
    pub fn is_name(&self, at: usize) -> bool {
        let has = |name: &str| Words::of_name(name).has(self.stem(at));
        let tables =
            self.graph().tables().iter().any(|table| has(table.own_name()) || table.names.iter().any(|of| has(of)));
        tables || self.graph().columns().iter().any(|column| has(&column.name) || column.names.iter().any(|of| has(of)))
    }

    /// A table's name, and a column's, as words.
    pub fn table_name(&self, table: usize) -> String {
        self.graph().tables().get(table).map(|node| in_words(node.own_name())).unwrap_or_default()
    }

    pub fn column_name(&self, column: usize) -> String {
        self.graph().columns().get(column).map(|node| in_words(&node.name)).unwrap_or_default()
    }

    pub fn table_of(&self, column: usize) -> Option<usize> {
        self.graph().columns().get(column).map(|node| node.table)
    }

    /// The column of yes and no that a word is the name of.
    pub fn flag_at(&self, at: usize) -> Option<usize> {
        const EMPTY: [&str; 5] = ["is", "has", "was", "flag", "are"];
        let is_called = |column: &usize| {
            let stems = self.column_stems(*column);
            stems.iter().filter(|stem| !EMPTY.contains(&stem.as_str())).eq([self.stem(at)])
        };
        let is_flag = |column: &usize| self.linker.values().flags(*column).is_some();
        let found: Vec<usize> = (0..self.graph().columns().len()).filter(is_called).filter(is_flag).collect();
        if let [column] = found[..] { Some(column) } else { None }
    }

    /// Columns of dates of a table whose names have one of these stems.
    pub fn days(&self, table: usize, stems: &[&str]) -> Vec<usize> {
        let columns = self.graph().tables().get(table).map(|node| node.columns.clone()).unwrap_or_default();
        let has = |column: &usize| self.column_stems(*column).iter().any(|stem| stems.contains(&stem.as_str()));
        columns.filter(|column| self.linker.values().holds_dates(*column)).filter(has).collect()
    }

    /// Whether a column counts or measures something: its numbers are neither keys nor yes and no.
    pub fn is_measure(&self, column: usize) -> bool {
        let refers = |column: usize| {
            let mut joins = self.graph().joins().iter().filter(|join| join.origin != JoinOrigin::Implied);
            joins.any(|join| join.pairs.iter().any(|(from, _)| *from == column))
        };
        let is_number = self
            .graph()
            .columns()
            .get(column)
            .is_some_and(|node| node.kind == ColumnKind::Number && !node.is_key && !node.hidden);
        is_number && !refers(column) && self.linker.values().flags(column).is_none()
    }

    /// Columns of measures of these tables whose names have a stem, by the first of the stems that any has.
    pub fn measures(&self, tables: &[usize], stems: &[&str]) -> Vec<usize> {
        let graph = self.graph();
        let of = tables.iter().filter_map(|table| graph.tables().get(*table)).flat_map(|table| table.columns.clone());
        let of: Vec<usize> = of.filter(|column| self.is_measure(*column)).collect();
        // Neither a price per kg nor an hourly rate counts kilograms or hours.
        let is_called = |column: &usize, stem: &str| {
            let name = self.graph().columns().get(*column).map(|node| Words::of_name(&node.name)).unwrap_or_default();
            let is_rate = name.words.iter().any(|word| word.text == "per");
            !is_rate && name.words.iter().any(|word| word.stem == stem && !word.text.ends_with("ly"))
        };
        let named =
            |stem: &&str| -> Vec<usize> { of.iter().copied().filter(|column| is_called(column, stem)).collect() };
        stems.iter().map(named).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// The one column of measures with such a name that is nearest to what the question names.
    pub fn measure(&self, stems: &[&str]) -> Option<usize> {
        let near = self.named_tables();
        let all: Vec<usize> =
            (0..self.graph().tables().len()).filter(|of| !self.measures(&[*of], stems).is_empty()).collect();
        let table = self.nearest(&all, &near, NEAR)?;
        let found = self.measures(&[table], stems);
        if let [column] = found[..] { Some(column) } else { None }
    }

    /// The tables that the question names, and those of the values that it names, each with the others that it may be of.
    pub fn named_tables(&self) -> Vec<Vec<usize>> {
        let named = (0..self.len()).filter_map(|at| self.table_at(at)).map(|(_, table)| vec![table]);
        let mut found: BTreeSet<Vec<usize>> = named.collect();
        for at in 0..self.len() {
            if let Some((_, columns)) = self.value_at(at) {
                let tables: BTreeSet<usize> = columns.iter().filter_map(|column| self.table_of(*column)).collect();
                found.insert(tables.into_iter().collect());
            }
        }
        found.into_iter().collect()
    }

    /// The one of some tables with the fewest joins to others, at most `far` to each; where nothing is to be near to, the only one.
    pub fn nearest(&self, tables: &[usize], near: &[Vec<usize>], far: usize) -> Option<usize> {
        let cost = |table: usize| -> Option<usize> {
            let hops = self.hops(table);
            let to = |of: &Vec<usize>| {
                let hop = of.iter().filter_map(|other| hops.get(*other).copied().flatten()).min();
                hop.filter(|hop| *hop <= far)
            };
            near.iter().map(to).sum()
        };
        let mut costs: Vec<(usize, usize)> = tables.iter().filter_map(|table| Some((cost(*table)?, *table))).collect();
        costs.sort_unstable();
        match costs[..] {
            [(_, table)] => Some(table),
            [(cost, table), (next, _), ..] => (cost < next).then_some(table),
            [] => None,
        }
    }

    /// How many joins away each table is.
    fn hops(&self, from: usize) -> Vec<Option<usize>> {
        let mut hops = vec![None; self.graph().tables().len()];
        let mut queue = VecDeque::from([(from, 0)]);
        while let Some((table, hop)) = queue.pop_front() {
            match hops.get_mut(table) {
                Some(of @ None) => *of = Some(hop),
                _ => continue,
            }
            for join in self.graph().joins().iter().filter(|join| join.origin != JoinOrigin::Implied) {
                match (join.from == table, join.to == table) {
                    (true, _) => queue.push_back((join.to, hop + 1)),
                    (_, true) => queue.push_back((join.from, hop + 1)),
                    _ => {}
                }
            }
        }
        hops
    }
}

/// A name as words, without what is written as one.
fn in_words(name: &str) -> String {
    Words::of_name(name).words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}
