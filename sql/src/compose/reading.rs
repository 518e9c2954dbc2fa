//! A question as what statements are made of: its words, its numbers, the columns, tables and values that it names; and
//! the features of each part.

mod conditions;
mod flags;
mod missing;
mod periods;

use std::collections::BTreeSet;

use super::sketch::Function;
use crate::linking::{Linked, Linker, Mention, ValueIndex, Words};
use crate::rows::Value;
use crate::schema_graph::{ColumnKind, JoinOrigin, SchemaGraph};

pub(super) use conditions::Stated;
pub use periods::DatePart;
use periods::Period;
pub(crate) use periods::periods;

const NUMBERS: [&str; 13] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// Words that say what is done with the column behind them, as stems.
const CUES: &str = "whose where that with which who have has had sort order descend ascend alphabet each per by in of for from \
    than most least highest lowest largest smallest oldest youngest average averag total sum number maximum minimum more less above \
    below after before between fewest earliest latest mean max min distinct differ not without except common or both and whom \
    contain start end letter";

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
    /// Columns that have no value, with the words that say so.
    missing: Vec<(usize, std::ops::Range<usize>)>,
    flags: Vec<Flag>,
    /// Columns of dates, and those of texts alone, by their values.
    dates: BTreeSet<usize>,
    texts: BTreeSet<usize>,
    /// Texts in quotes.
    quoted: Vec<String>,
    /// How likely each table is needed.
    table_odds: Vec<f32>,
    /// How likely each column is mentioned.
    mentioned: Vec<f32>,
}

/// A column of yes and no that the question names, with the words that do.
#[derive(Debug, Clone)]
struct Flag {
    column: usize,
    words: std::ops::Range<usize>,
    value: Value,
}

fn bucket(probability: f32) -> &'static str {
    match probability {
        p if p > 0.95 => "9",
        p if p > 0.8 => "8",
        p if p > 0.5 => "5",
        p if p > 0.2 => "2",
        p if p > 0.05 => "1",
        _ => "0",
    }
}

impl<'g> Reading<'g> {
    pub fn new(question: &str, linker: &Linker<'g>) -> Self {
        let graph = linker.graph();
        let crate::linking::Read { words, linked, columns, tables } = linker.read(question);
        let mut marks: Vec<String> = words.words.iter().map(|word| word.stem.clone()).collect();
        let mut numbers = Vec::new();
        for (at, word) in words.words.iter().enumerate() {
            let number = word.text.parse::<f64>().ok().filter(|number| number.is_finite()).or_else(|| {
                let count = NUMBERS.iter().position(|name| *name == word.text)?;
                Some(f64::from(u8::try_from(count).ok()?))
            });
            if let Some(number) = number {
                numbers.push((at, number));
                if word.text.starts_with(|c: char| c.is_ascii_digit())
                    && let Some(mark) = marks.get_mut(at)
                {
                    *mark = "#".to_owned();
                }
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
        // "Not linked to a campaign" is a missing reference to one.
        let mut named = columns.clone();
        for join in graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied) {
            if let ([(from, _)], Some(table)) = (join.pairs.as_slice(), tables.get(join.to)) {
                named.get_mut(*from).into_iter().for_each(|mention| mention.spans.extend(&table.spans));
            }
        }
        let missing = missing::missing(&words, &named, |column| {
            linker.values().has_nulls(column).then(|| linker.values().holds_dates(column))
        });
        let flags: Vec<Flag> = (0..graph.columns().len())
            .filter_map(|column| {
                let [yes, no] = linker.values().flags(column)?;
                let (words, holds) = flags::flag(&words, &graph.columns().get(column)?.name)?;
                Some(Flag { column, words, value: if holds { yes } else { no } })
            })
            .collect();
        let said = missing.iter().map(|(_, words)| words).chain(flags.iter().map(|flag| &flag.words));
        for at in said.flat_map(Clone::clone) {
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
        let is_name = |at: usize| {
            let names = columns.iter().chain(&tables).filter(|mention| mention.coverage > 0.99);
            names.into_iter().any(|mention| mention.words.contains(&at))
        };
        let per = periods::per_part(&words).filter(|(_, words)| !dates.is_empty() && !words.clone().any(is_name));
        // To the models the question is one without it.
        let is_each = |at: usize| !matches!(words.words.get(at).map(|word| word.text.as_str()), Some("which" | "what"));
        if let Some((_, each)) = per.as_ref().filter(|(_, words)| is_each(words.start)) {
            each.clone().filter_map(|at| marks.get_mut(at).map(String::clear)).for_each(drop);
        }
        Self {
            periods,
            per,
            missing,
            flags,
            dates,
            texts,
            graph,
            words,
            linked,
            columns,
            tables,
            marks,
            numbers,
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

    /// Whether a column holds dates.
    pub fn holds_dates(&self, column: usize) -> bool {
        self.dates.contains(&column)
    }

    /// Whether a column holds texts alone, dates among them, which have no sum and no mean.
    pub fn holds_texts(&self, column: usize) -> bool {
        self.texts.contains(&column)
    }

    /// Whether no word of it is in a name or a value, nor says what is done with any.
    pub fn says_nothing(&self) -> bool {
        const OF_ROWS: [&str; 6] = ["row", "record", "entri", "mani", "count", "tabl"];
        let known = self.columns.iter().chain(&self.tables).any(|mention| !mention.words.is_empty());
        let is_cue = |mark: &String| CUES.split_whitespace().chain(OF_ROWS).any(|cue| cue == mark);
        !known && self.linked.values.is_empty() && !self.marks.iter().any(is_cue)
    }

    /// Whether it asks which or who, and not how many.
    pub fn asks_which(&self) -> bool {
        let opening =
            self.words.words.iter().map(|word| word.text.as_str()).find(|word| *word != "in" && *word != "for");
        let counts = ["many", "number", "count", "total", "much"];
        opening.is_some_and(|word| ["which", "who", "whom", "list"].contains(&word))
            && !self.words.words.iter().any(|word| counts.contains(&word.text.as_str()))
    }

    /// Whether it begins with "how much".
    pub fn asks_how_much(&self) -> bool {
        matches!(self.words.words.as_slice(), [how, much, ..] if how.text == "how" && much.text == "much")
    }

    /// Whether it wants things, and says nothing of what is to be shown of them: "which members", "members without".
    pub fn wants_things(&self) -> bool {
        let is_table = self.tables.iter().any(|table| table.coverage > 0.99 && table.words.contains(&0));
        self.asks_which() || is_table
    }

    /// The word for what it wants a row for each of: "per course", "for each course", "number of schools by county", where "per"
    /// and "by" are in no name.
    pub fn wants_groups(&self) -> Option<usize> {
        const TOTALS: [&str; 12] = [
            "number", "many", "count", "total", "average", "mean", "sum", "maximum", "minimum", "highest", "lowest",
            "avg",
        ];
        let word = |at: usize| self.words.words.get(at).map_or("", |word| word.text.as_str());
        let named = |at: usize| {
            let spans = self.columns.iter().chain(&self.tables).flat_map(|mention| &mention.spans);
            spans.into_iter().any(|&(start, end)| start <= at && at < end)
        };
        let is_known = |at: usize| {
            let of = |mention: &Mention| mention.coverage > 0.4 && mention.words.contains(&at);
            self.columns.iter().chain(&self.tables).any(of)
        };
        (0..self.words.words.len()).find_map(|at| {
            let before = at.checked_sub(1).map_or("", word);
            // Neither "ordered by" nor "written by".
            let is_done = ["ed", "en", "ld", "de", "order", "wn"].iter().any(|end| before.ends_with(end));
            let each = match word(at) {
                "per" => true,
                "each" => before == "for",
                // "Orders by customers" are those that they made.
                "by" => !is_done && !word(at + 1).ends_with('s') && (0..at).any(|at| TOTALS.contains(&word(at))),
                _ => false,
            };
            let of = at + 1 + usize::from(matches!(word(at + 1), "the" | "each" | "their"));
            (each && !named(at) && is_known(of)).then_some(of)
        })
    }

    /// Whether a word of the question is for a column, or for its table.
    pub fn is_for(&self, at: usize, column: usize) -> bool {
        let table = self.graph.columns().get(column).and_then(|node| self.tables.get(node.table));
        self.columns.get(column).into_iter().chain(table).any(|mention| mention.words.contains(&at))
    }

    /// Whether it wants what is the most or the least of something.
    pub fn has_superlative(&self) -> bool {
        const MOST: [&str; 8] = ["most", "least", "top", "first", "last", "best", "worst", "maximum"];
        let is = |text: &str| MOST.contains(&text) || text.len() > 4 && text.ends_with("est");
        self.words.words.iter().any(|word| is(&word.text))
    }

    /// Whether rows in this order of a column begin with the other end: the oldest have the first dates and years, and the
    /// highest ages.
    pub fn is_other_way(&self, column: usize, descending: bool) -> bool {
        const FIRST: [&str; 3] = ["oldest", "earliest", "eldest"];
        const LAST: [&str; 4] = ["newest", "latest", "youngest", "recent"];
        let has = |of: &[&str]| self.words.words.iter().any(|word| of.contains(&word.text.as_str()));
        let stems = self.graph.columns().get(column).map(|node| Words::of_name(&node.name).stems()).unwrap_or_default();
        let is = |of: &[&str]| stems.iter().any(|stem| of.contains(&stem.as_str()));
        let of_time =
            self.dates.contains(&column) || is(&["date", "year", "birth", "birthday", "dob", "found", "open", "built"]);
        let from_first = match (has(&FIRST), has(&LAST)) {
            (true, false) => true,
            (false, true) => false,
            _ => return false,
        };
        match (of_time, is(&["age"])) {
            (true, _) => descending == from_first,
            (false, true) => descending != from_first,
            (false, false) => false,
        }
    }

    /// Whether a number says how many rows are wanted: "top 5", "the 3 largest".
    pub fn is_limit(&self, at: usize) -> bool {
        let word = |at: usize| self.words.words.get(at).map_or("", |word| word.text.as_str());
        let before = at.checked_sub(1).map_or("", word);
        let next = word(at + 1);
        // "The 3 passengers who spent most".
        let opens = at == 0 || at == 1 && before == "the";
        let is_counted = || self.tables.iter().any(|table| table.coverage > 0.4 && table.words.contains(&(at + 1)));
        matches!(before, "top" | "bottom" | "first" | "last")
            || next == "most"
            || next.len() > 4 && next.ends_with("est")
            || opens && is_counted()
    }

    /// Whether a number is written as a year.
    pub fn is_year(&self, at: usize) -> bool {
        self.words
            .words
            .get(at)
            .is_some_and(|word| word.text.len() == 4 && (word.text.starts_with("19") || word.text.starts_with("20")))
    }

    /// Whether a number is of something measured, "60 minutes", and not of rows.
    pub fn is_measure(&self, at: usize) -> bool {
        const UNITS: [&str; 30] = [
            "second", "minut", "hour", "day", "week", "month", "year", "dollar", "euro", "pound", "usd", "eur", "cent",
            "percent", "km", "kilomet", "mile", "meter", "metr", "feet", "foot", "inch", "cm", "kg", "kilogram", "ton",
            "gram", "liter", "degre", "kwh",
        ];
        self.words.words.get(at + 1).is_some_and(|word| UNITS.contains(&word.stem.as_str()))
    }

    fn mark(&self, at: Option<usize>) -> &str {
        at.and_then(|at| self.marks.get(at)).map_or("-", String::as_str)
    }

    fn cue_before(&self, at: usize) -> &str {
        let before = self.marks.get(..at).unwrap_or_default().iter().rev();
        before
            .into_iter()
            .find(|mark| CUES.split_whitespace().any(|cue| cue == mark.as_str()))
            .map_or("-", String::as_str)
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

    /// Features of what a column does.
    pub fn of_column(&self, column: usize) -> Vec<String> {
        let mut features = vec!["bias".to_owned()];
        let (Some(node), Some(mention)) = (self.graph.columns().get(column), self.columns.get(column)) else {
            return features;
        };
        let mut add = |name: String| features.push(name);
        let kind = match (node.is_key, node.kind) {
            (true, _) => "key",
            _ if self.dates.contains(&column) => "date",
            (_, ColumnKind::Text) => "text",
            (_, ColumnKind::Number) => "number",
            (_, ColumnKind::Date) => "date",
            (_, ColumnKind::Other) => "other",
        };
        let said = bucket(self.mentioned(column));
        let table = bucket(self.table_odds(node.table));
        let coverage = match mention.coverage {
            c if c > 0.99 && !mention.spans.is_empty() => "whole",
            c if c > 0.99 => "all",
            c if c > 0.4 => "half",
            c if c > 0.0 => "part",
            _ => "none",
        };
        add(format!("said {said}"));
        add(format!("table {table}"));
        add(format!("said {said} table {table}"));
        add(format!("coverage {coverage}"));
        add(format!("kind {kind}"));
        add(format!("kind {kind} said {said}"));
        let opening: Vec<&str> = (0..2).map(|at| self.mark(Some(at))).collect();
        add(format!("opening {}", opening.join(" ")));
        add(format!("opening {} said {said}", opening.join(" ")));
        let value = self.linked.values.get(&column);
        let text = value.is_some_and(|values| values.iter().any(|value| !value.is_number))
            || self.missing.iter().any(|(missing, _)| *missing == column)
            || self.flags.iter().any(|flag| flag.column == column);
        let number = value.is_some_and(|values| values.iter().any(|value| value.is_number));
        add(format!("value {text} {number}"));
        add(format!("value {text} {number} {coverage}"));
        let place = self.graph.tables().get(node.table).map_or(0, |table| column - table.columns.start);
        add(format!("place {} {kind}", place.min(3)));
        let start = mention.spans.first().map(|span| span.0).or_else(|| mention.words.first().copied());
        let table_mention = self.tables.get(node.table);
        let table_at = table_mention.filter(|m| m.coverage > 0.99).and_then(|m| m.words.first().copied());
        // Whether another column has more of the same words.
        let rival = self.columns.iter().enumerate().any(|(other, of)| {
            other != column
                && of.coverage > 0.4
                && self.mentioned(other) > self.mentioned(column)
                && of.words.iter().any(|word| mention.words.contains(word))
        });
        add(format!("rival {rival} {coverage}"));
        add(format!("rival {rival} said {said}"));
        // The name of what a question wants, which goes without saying.
        let stems = Words::of_name(&node.name).stems();
        let is_name = stems.iter().any(|stem| ["name", "titl"].contains(&stem.as_str()));
        if let Some(last) = stems.last() {
            add(format!("last {last} {}", bucket(self.mentioned(column))));
        }
        if let Some(at) = table_at {
            let first = self.first_table() == Some(node.table);
            let cue = self.cue_before(at);
            add(format!("table at {} first {first}", at.min(6)));
            add(format!("table at {} name {is_name} {kind}", at.min(6)));
            add(format!("table first {first} name {is_name} said {said}"));
            add(format!("table before {} name {is_name}", self.mark(at.checked_sub(1))));
            add(format!("table cue {cue} name {is_name}"));
            add(format!("table cue {cue} name {is_name} said {said}"));
        } else {
            add(format!("table silent name {is_name} said {said}"));
        }
        if let Some(at) = start.filter(|_| mention.coverage > 0.4) {
            let end = mention.spans.first().map_or(at + 1, |span| span.1);
            let (before, second) = (self.mark(at.checked_sub(1)), self.mark(at.checked_sub(2)));
            let (after, next) = (self.mark(Some(end)), self.mark(Some(end + 1)));
            let cue = self.cue_before(at);
            let quarter = 4 * at / self.marks.len().max(1);
            add(format!("before {before}"));
            add(format!("before {second} {before}"));
            add(format!("after {after}"));
            add(format!("after {after} {next}"));
            add(format!("cue {cue}"));
            add(format!("cue {cue} {kind}"));
            add(format!("cue {cue} after {after}"));
            add(format!("cue {cue} {coverage}"));
            add(format!("quarter {quarter}"));
            add(format!("quarter {quarter} {coverage} {kind}"));
            add(format!("at {}", at.min(8)));
            let earlier = self.columns.iter().filter(|other| other.coverage > 0.99).filter(|other| {
                let first = other.spans.first().map(|span| span.0).or_else(|| other.words.first().copied());
                first.is_some_and(|first| first < at)
            });
            add(format!("earlier {}", earlier.count().min(4)));
            for word in self.marks.iter().take(at).collect::<BTreeSet<_>>() {
                if CUES.split_whitespace().any(|cue| cue == word) {
                    add(format!("has before {word}"));
                }
            }
            for word in self.marks.iter().skip(end).collect::<BTreeSet<_>>() {
                if CUES.split_whitespace().any(|cue| cue == word) {
                    add(format!("has after {word}"));
                }
            }
        }
        features
    }

    /// How many columns are listed before anything else is said of them.
    pub fn listed(&self) -> usize {
        const ENDS: [&str; 14] = [
            "whose", "where", "that", "with", "who", "have", "order", "sort", "for", "by", "in", "from", "when", "than",
        ];
        let end = self.marks.iter().skip(2).position(|mark| ENDS.contains(&mark.as_str()));
        let end = end.map_or(self.marks.len(), |at| at + 2);
        let said = self.columns.iter().enumerate().filter(|(column, _)| self.mentioned(*column) > 0.3);
        let starts = said.filter_map(|(_, mention)| mention.spans.first()).filter(|span| span.0 < end);
        starts.map(|span| span.1).collect::<BTreeSet<_>>().len()
    }

    /// The table that is named first.
    fn first_table(&self) -> Option<usize> {
        let named = self.tables.iter().enumerate().filter(|(_, mention)| mention.coverage > 0.99);
        named.filter_map(|(table, mention)| Some((*mention.words.first()?, table))).min().map(|(_, table)| table)
    }

    /// Features of the question as a whole: its words and pairs of words.
    pub fn of_question(&self) -> Vec<String> {
        let mut features = vec!["bias".to_owned()];
        let mut words: Vec<&str> = self.marks.iter().map(String::as_str).filter(|mark| !mark.is_empty()).collect();
        words.dedup_by(|a, b| a == b && *a == "@");
        let mut seen = BTreeSet::new();
        for word in &words {
            if seen.insert((*word).to_owned()) {
                features.push((*word).to_owned());
            }
        }
        let ends = std::iter::once("^").chain(words.iter().copied()).chain(["$"]).collect::<Vec<_>>();
        for pair in ends.windows(2) {
            let pair = pair.join(" ");
            if seen.insert(pair.clone()) {
                features.push(pair);
            }
        }
        for triple in ends.windows(3) {
            let triple = triple.join(" ");
            if seen.insert(triple.clone()) {
                features.push(triple);
            }
        }
        let values = words.iter().filter(|word| **word == "@").count();
        features.push(format!("values {}", values.min(3)));
        features.push(format!("numbers {}", self.numbers.len().min(3)));
        let said = self.linked.columns.iter().filter(|column| column.mentioned > 0.5).count();
        features.push(format!("columns {}", said.min(5)));
        let tables = self.linked.sets.first().map_or(0, |set| set.tree.tables.len());
        features.push(format!("tables {}", tables.min(4)));
        features
    }
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
