//! A question as what statements are made of: its words, its numbers, the columns, tables and values that it names; and
//! the features of each part.

mod conditions;
mod features;
mod flags;
mod implied;
mod missing;
mod periods;
mod wants;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::sketch::{DatePart, Function};
use crate::linking::words::NUMBERS;
use crate::linking::{Linked, Linker, Mention, ValueIndex, Words};
use crate::schema_graph::SchemaGraph;

pub(super) use conditions::Stated;
use features::bucket;
use implied::{Implied, implied};
use periods::Period;
pub(crate) use periods::periods;

/// Words that say what is done with the column behind them, as stems.
const CUES: &str = "whose where that with which who have has had sort order descend ascend alphabet each per by in of for from \
    than most least highest lowest oldest youngest average averag total sum number maximum minimum more less higher lower abov \
    below after befor between fewest earliest latest mean max min distinct differ not without except common or both and whom \
    contain start end letter";

/// What is read as another of the same meaning: of most of these a training part has too few to learn from.
#[rustfmt::skip]
const READ_AS: [(&str, &[&str]); 8] = [
    ("highest", &[
        "largest", "greatest", "biggest", "longest", "tallest", "heaviest", "furthest", "farthest", "deepest", "widest", "strongest",
        "fastest", "richest", "hottest", "warmest", "priciest", "dearest", "costliest",
    ]),
    ("lowest", &["smallest", "shortest", "lightest", "cheapest", "slowest", "weakest", "coldest", "narrowest", "shallowest"]),
    ("oldest", &["eldest"]),
    ("latest", &["newest"]),
    ("higher", &["greater", "larger", "bigger", "longer", "taller", "heavier", "deeper", "wider", "stronger", "faster", "warmer", "hotter"]),
    ("lower", &["smaller", "shorter", "lighter", "cheaper", "slower", "weaker", "colder", "narrower"]),
    ("less", &["fewer"]),
    ("abov", &["over", "exceed"]),
];

fn read_as(stem: &str) -> &str {
    READ_AS.iter().find(|(_, words)| words.contains(&stem)).map_or(stem, |(read, _)| read)
}

/// What is said behind a number: "2 million", "500k".
#[rustfmt::skip]
pub(super) const SCALES: [(&str, f64); 7] = [
    ("thousand", 1e3), ("k", 1e3), ("million", 1e6), ("mn", 1e6), ("billion", 1e9), ("bn", 1e9), ("trillion", 1e12),
];

/// What a column does in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Role {
    /// Shown as it is.
    Shown,
    /// A function of it is shown.
    ShownOf(Function),
    /// Rows are ordered by it, or by a function of it.
    Order,
    /// Rows are grouped by it, without its being shown.
    Group,
    /// A condition is on it.
    Condition,
}

impl Role {
    pub const ALL: [Self; 9] = [
        Self::Shown,
        Self::ShownOf(Function::CountDifferent),
        Self::ShownOf(Function::Max),
        Self::ShownOf(Function::Min),
        Self::ShownOf(Function::Mean),
        Self::ShownOf(Function::Sum),
        Self::Order,
        Self::Group,
        Self::Condition,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::ShownOf(function) => function.name(),
            Self::Order => "order",
            Self::Group => "group",
            Self::Condition => "condition",
        }
    }
}

/// A question.
pub(super) struct Reading<'g> {
    pub graph: &'g SchemaGraph,
    pub words: Words,
    /// `[columns]`: the words of their names.
    names: Arc<[Words]>,
    pub linked: Linked,
    pub columns: Vec<Mention>,
    pub tables: Vec<Mention>,
    /// Stems; `@` for words of values, `#` for numbers.
    pub marks: Vec<String>,
    /// Numbers by the word they are.
    pub numbers: Vec<(usize, f64)>,
    /// Spans of time.
    periods: Vec<Period>,
    /// The part of dates that a row is wanted for each of, with the words that say so.
    pub per: Option<(DatePart, std::ops::Range<usize>)>,
    /// Columns that are held to something without its being named.
    implied: Vec<Implied>,
    /// Columns of dates, and those of texts alone, by their values.
    dates: BTreeSet<usize>,
    texts: BTreeSet<usize>,
    /// Columns of which every row has a value of its own, and texts of which most have.
    unique: BTreeSet<usize>,
    nearly_unique: BTreeSet<usize>,
    /// Columns of yes and no.
    flags: BTreeSet<usize>,
    /// Whether rows are told by each column.
    labels: Vec<bool>,
    /// Texts in quotes.
    quoted: Vec<String>,
    /// How likely each table is needed.
    table_odds: Vec<f32>,
    /// How likely each column is mentioned.
    mentioned: Vec<f32>,
}

impl<'g> Reading<'g> {
    pub fn new(question: &str, linker: &Linker<'g>) -> Self {
        let graph = linker.graph();
        let crate::linking::Read { words, linked, columns, tables, names } = linker.read(question);
        let mut marks: Vec<String> = words.words.iter().map(|word| read_as(&word.stem).to_owned()).collect();
        let mut numbers = Vec::new();
        for (at, word) in words.words.iter().enumerate() {
            let Some(number) = number_of(&word.text) else { continue };
            // "Q3" is a name, and states no number.
            let is_of_name = |of: &Mention| of.coverage > 0.99 && of.spans.iter().any(|&(a, b)| a < at && at < b);
            if !columns.iter().any(is_of_name) {
                numbers.push((at, number));
            }
            let is_scaled = scale_behind(&words, at).is_some();
            let of_number = at..at + if is_scaled { 2 } else { 1 };
            if is_scaled || word.text.starts_with(|c: char| c.is_ascii_digit()) {
                marks.get_mut(of_number).into_iter().flatten().for_each(|mark| "#".clone_into(mark));
            }
        }
        for value in linked.values.values().flatten().filter(|value| !value.is_number) {
            // A value that is one word of a name is more often the name.
            let is_name = columns
                .iter()
                .chain(&tables)
                .any(|mention| mention.spans.iter().any(|&(a, b)| a <= value.words.start && value.words.end <= b));
            if !is_name {
                for at in value.words.clone() {
                    marks.get_mut(at).into_iter().for_each(|mark| "@".clone_into(mark));
                }
            }
        }
        let implied = implied(&words, (&columns, &tables), &names, linker);
        for at in implied.iter().flat_map(|implied| implied.words.clone()) {
            marks.get_mut(at).into_iter().for_each(|mark| "@".clone_into(mark));
        }
        let mut table_odds = vec![0.0; graph.tables().len()];
        for table in &linked.tables {
            table_odds.get_mut(table.table).into_iter().for_each(|odds| *odds = table.probability);
        }
        let mut mentioned = vec![0.0; graph.columns().len()];
        for column in &linked.columns {
            mentioned.get_mut(column.column).into_iter().for_each(|of| *of = column.mentioned);
        }
        let quoted = quoted(question);
        let periods = periods(&words);
        let held = |is: fn(&ValueIndex, usize) -> bool| {
            (0..graph.columns().len()).filter(|column| is(linker.values(), *column)).collect()
        };
        let (dates, texts): (BTreeSet<usize>, _) = (held(ValueIndex::holds_dates), held(ValueIndex::holds_texts));
        let by_key = |is: fn(&ValueIndex, usize, usize) -> bool| {
            let has = |column: &usize| {
                let table = graph.columns().get(*column).and_then(|node| graph.tables().get(node.table));
                let key = table.map_or(&[][..], |table| table.primary_key.as_slice());
                if let [key] = key { is(linker.values(), *column, *key) } else { false }
            };
            (0..graph.columns().len()).filter(has).collect::<BTreeSet<usize>>()
        };
        let (unique, nearly_unique) = (by_key(ValueIndex::is_unique), by_key(ValueIndex::is_nearly_unique));
        let flags = (0..graph.columns().len()).filter(|column| linker.values().flags(*column).is_some()).collect();
        let is_name = |at: usize| {
            let names = columns.iter().chain(&tables).filter(|mention| mention.coverage > 0.99);
            names.into_iter().any(|mention| mention.words.contains(&at))
        };
        let per = periods::per_part(&words).filter(|(_, words)| !dates.is_empty() && !words.clone().any(is_name));
        // To the models the question is one without it, but for "which month", which is what it wants.
        if let Some((_, each)) = &per
            && !matches!(words.words.get(each.start).map(|word| word.text.as_str()), Some("which" | "what"))
        {
            for at in each.clone() {
                marks.get_mut(at).into_iter().for_each(String::clear);
            }
        }
        Self {
            periods,
            per,
            implied,
            names,
            dates,
            unique,
            nearly_unique: nearly_unique.intersection(&texts).copied().collect(),
            flags,
            texts,
            graph,
            words,
            linked,
            columns,
            tables,
            marks,
            numbers,
            labels: super::labels::labels(graph),
            quoted,
            table_odds,
            mentioned,
        }
    }

    pub fn table_odds(&self, table: usize) -> f32 {
        self.table_odds.get(table).copied().unwrap_or_default()
    }

    pub fn mentioned(&self, column: usize) -> f32 {
        self.mentioned.get(column).copied().unwrap_or_default()
    }

    /// Whether every row has a value of its own in a column.
    pub fn is_unique(&self, column: usize) -> bool {
        self.unique.contains(&column)
    }

    /// Whether most rows have a value of their own in a column of texts, but not all.
    pub fn is_nearly_unique(&self, column: usize) -> bool {
        self.nearly_unique.contains(&column)
    }

    /// Whether a column is one of yes and no.
    pub fn is_flag(&self, column: usize) -> bool {
        self.flags.contains(&column)
    }

    /// Whether rows are told by a column: names, titles of what has none.
    pub fn is_label(&self, column: usize) -> bool {
        self.labels.get(column).copied().unwrap_or_default()
    }

    /// Whether rows are told by a column: by the key where nothing else tells them.
    pub fn tells(&self, column: usize) -> bool {
        let Some(node) = self.graph.columns().get(column) else { return false };
        let mut others = self.graph.tables().get(node.table).into_iter().flat_map(|table| table.columns.clone());
        self.is_label(column) || node.is_key && !others.any(|other| self.is_label(other))
    }

    /// Spans of time that it names.
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// Whether a column holds dates.
    pub fn holds_dates(&self, column: usize) -> bool {
        self.dates.contains(&column)
    }

    /// Whether a column holds texts alone, dates among them, which have no sum and no mean.
    pub fn holds_texts(&self, column: usize) -> bool {
        self.texts.contains(&column)
    }

    /// Whether a word says what is done with a column, and nothing of what it holds.
    pub fn is_cue(&self, at: usize) -> bool {
        const OTHERS: [&str; 14] = [
            "per", "top", "bottom", "first", "last", "uniqu", "name", "overal", "altogeth", "combin", "group", "every",
            "current", "best",
        ];
        self.marks.get(at).is_some_and(|mark| {
            let mark = mark.as_str();
            OTHERS.contains(&mark) || mark.ends_with("est") || CUES.split_whitespace().any(|cue| cue == mark)
        })
    }

    /// A number of the question as a column has it: in full, but where the column's name says in what it counts.
    fn in_full(&self, at: usize, number: f64, column: usize) -> f64 {
        match scale_behind(&self.words, at) {
            Some(scale) if !self.has_stem(column, &["thousand", "million", "billion"]) => number * scale,
            _ => number,
        }
    }

    /// Whether no word of it is in a name or a value, nor says what is done with any.
    pub fn says_nothing(&self) -> bool {
        const OF_ROWS: [&str; 6] = ["row", "record", "entri", "mani", "count", "tabl"];
        let known = self.columns.iter().chain(&self.tables).any(|mention| !mention.words.is_empty());
        let is_cue = |mark: &String| CUES.split_whitespace().chain(OF_ROWS).any(|cue| cue == mark);
        !known && self.linked.values.is_empty() && !self.marks.iter().any(is_cue)
    }

    /// The stems of a column's name.
    pub fn stems(&self, column: usize) -> impl DoubleEndedIterator<Item = &str> {
        self.names.get(column).into_iter().flat_map(|name| &name.words).map(|word| word.stem.as_str())
    }

    /// Whether a column's name has one of these stems.
    pub fn has_stem(&self, column: usize, of: &[&str]) -> bool {
        self.stems(column).any(|stem| of.contains(&stem))
    }

    /// The words of a column's name as they are written, in full where they are written short.
    pub fn name(&self, column: usize) -> String {
        let words = self.names.get(column).into_iter().flat_map(|name| &name.words);
        words.map(|word| word.text.as_str()).collect::<Vec<&str>>().join(" ")
    }

    fn mark(&self, at: Option<usize>) -> &str {
        at.and_then(|at| self.marks.get(at)).map_or("-", String::as_str)
    }

    /// The columns that are looked at: those of likely tables, and those that are named.
    pub fn looked_at(&self) -> Vec<usize> {
        let nodes = self.graph.columns().iter().enumerate().filter(|(_, node)| !node.hidden);
        let mut found: Vec<usize> = nodes
            .filter(|(at, node)| self.table_odds(node.table) > 0.02 || self.mentioned(*at) > 0.1)
            .map(|(at, _)| at)
            .collect();
        if found.len() > 80 {
            let by = |at: &usize| {
                let table = self.graph.columns().get(*at).map_or(0.0, |node| self.table_odds(node.table));
                self.mentioned(*at) + table
            };
            found.sort_by(|a, b| by(b).total_cmp(&by(a)).then(a.cmp(b)));
            found.truncate(80);
            found.sort_unstable();
        }
        found
    }
}

/// What a number is multiplied by.
fn scale_behind(words: &Words, at: usize) -> Option<f64> {
    let next = words.words.get(at + 1)?;
    SCALES.iter().find(|(name, _)| *name == next.text).map(|(_, scale)| *scale)
}

/// A number in digits or as a word.
pub(super) fn number_of(word: &str) -> Option<f64> {
    word.parse::<f64>().ok().filter(|number| number.is_finite()).or_else(|| {
        let count = NUMBERS.iter().position(|name| *name == word)?;
        Some(f64::from(u8::try_from(count).ok()?))
    })
}

/// What stands between quotes.
fn quoted(question: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = question;
    while let Some(start) = rest.find(['"', '\'', '“', '‘']) {
        let is_apostrophe = rest.get(..start).is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric()));
        let Some(open) = rest.get(start..).and_then(|rest| rest.chars().next()) else { break };
        let after = rest.get(start + open.len_utf8()..).unwrap_or_default();
        if is_apostrophe {
            rest = after;
            continue;
        }
        let close = match open {
            '“' => '”',
            '‘' => '’',
            other => other,
        };
        let Some(end) = after.find(close) else { break };
        let inner = after.get(..end).unwrap_or_default().trim();
        if !inner.is_empty() && inner.len() <= 60 {
            found.push(inner.to_owned());
        }
        rest = after.get(end + close.len_utf8()..).unwrap_or_default();
    }
    found
}
