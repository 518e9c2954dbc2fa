//! What a question and a schema have in common, word by word.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::values::FoundValue;
use super::words::{Words, kin};
use crate::schema_graph::{ColumnKind, JoinOrigin, SchemaGraph};

/// A name as stems.
type Name = Vec<String>;

/// What of a schema does not depend on the question.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    /// `[columns]`: each name that a column goes by.
    columns: Vec<Vec<Name>>,
    /// `[tables]`.
    tables: Vec<Vec<Name>>,
    /// `[columns]`: the words of the columns' own names.
    pub(super) own: Arc<[Words]>,
    /// `[columns]`: all stems of a column's names, each once.
    pub(super) stems: Vec<Vec<String>>,
    /// How much a stem tells, by how many columns have it: ln(1 + columns / n).
    idf: HashMap<String, f32>,
    /// `[columns]`: stems of the description.
    descriptions: Vec<BTreeSet<String>>,
    /// `[columns]`: numbers of the other columns that have one of its names.
    rivals: Vec<Vec<usize>>,
    /// `[columns]`: (refers, is referred to).
    pub(super) keys: Vec<(bool, bool)>,
    /// `[columns]`: the place in the table.
    places: Vec<usize>,
    /// `[tables]`: whether all its columns are of keys, the name has those of other tables, or it joins two others.
    pub(super) bridges: Vec<bool>,
}

impl Vocabulary {
    pub(super) fn new(graph: &SchemaGraph) -> Self {
        let all = |name: &str, names: &[String]| -> Vec<Name> {
            let mut found: Vec<Name> = Vec::new();
            for name in std::iter::once(name).chain(names.iter().map(String::as_str)) {
                let stems = Words::of_name(name).stems();
                if !stems.is_empty() && !found.contains(&stems) {
                    found.push(stems);
                }
            }
            found
        };
        let own = graph.columns().iter().map(|column| Words::of_name(&column.name)).collect();
        let columns: Vec<Vec<Name>> = graph.columns().iter().map(|column| all(&column.name, &column.names)).collect();
        let tables = graph.tables().iter().map(|table| {
            let whole = table.schema.is_some().then(|| table.name.clone());
            all(table.own_name(), &table.names.iter().cloned().chain(whole).collect::<Vec<_>>())
        });
        let tables: Vec<Vec<Name>> = tables.collect();
        let stems: Vec<Vec<String>> = columns
            .iter()
            .map(|names| names.iter().flatten().cloned().collect::<BTreeSet<String>>().into_iter().collect())
            .collect();
        let mut counts: HashMap<String, f32> = HashMap::new();
        for stem in stems.iter().flatten() {
            *counts.entry(stem.clone()).or_default() += 1.0;
        }
        let total = columns.len() as f32;
        let idf = counts.into_iter().map(|(stem, count)| (stem, (1.0 + total / count).ln())).collect();
        let descriptions = graph
            .columns()
            .iter()
            .map(|column| {
                let words = Words::of(column.description.as_deref().unwrap_or_default());
                words.words.into_iter().filter(|word| !word.is_stop).map(|word| word.stem).collect()
            })
            .collect();
        let mut by_name: HashMap<&Name, Vec<usize>> = HashMap::new();
        for (column, names) in columns.iter().enumerate() {
            names.iter().for_each(|name| by_name.entry(name).or_default().push(column));
        }
        let rivals = columns
            .iter()
            .enumerate()
            .map(|(column, names)| {
                let same = names.iter().filter_map(|name| by_name.get(name)).flatten().copied();
                let others: BTreeSet<usize> = same.filter(|other| *other != column).collect();
                others.into_iter().take(64).collect()
            })
            .collect();
        let mut keys = vec![(false, false); columns.len()];
        let mut referring = vec![0_usize; tables.len()];
        for join in graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied) {
            if let Some(count) = referring.get_mut(join.from) {
                *count += 1;
            }
            for &(from, to) in &join.pairs {
                if let Some(key) = keys.get_mut(from) {
                    key.0 = true;
                }
                if let Some(key) = keys.get_mut(to) {
                    key.1 = true;
                }
            }
        }
        let bridges = referring.iter().map(|count| *count > 1).collect();
        let places = graph
            .columns()
            .iter()
            .enumerate()
            .map(|(at, column)| at - graph.tables().get(column.table).map_or(at, |table| table.columns.start))
            .collect();
        Self { columns, tables, own, stems, idf, descriptions, rivals, keys, places, bridges }
    }

    /// Whether a name of a column or table has the word.
    pub(super) fn has(&self, stem: &str) -> bool {
        self.idf.contains_key(stem) || self.tables.iter().flatten().flatten().any(|other| other == stem)
    }

    fn idf(&self, stem: &str) -> f32 {
        self.idf.get(stem).copied().unwrap_or(1.0)
    }
}

/// How a question mentions a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mention {
    /// The part of the name that the question has, 0 to 1, by how much each word tells.
    pub(crate) coverage: f32,
    /// Words of the name.
    pub(crate) length: usize,
    /// Numbers of the question's words, rising.
    pub(crate) words: Vec<usize>,
    /// Where the whole name stands word after word.
    pub(crate) spans: Vec<(usize, usize)>,
    /// How much the question has a word that begins like one of the name, 0 to 1, where it does not have the word.
    pub(crate) similar: f32,
}

/// What a question and a schema have in common.
pub(super) struct Evidence<'a> {
    pub(super) question: &'a Words,
    /// `[columns]`.
    pub(super) columns: Vec<Mention>,
    /// `[tables]`.
    pub(super) tables: Vec<Mention>,
    /// By column.
    pub(super) values: &'a BTreeMap<usize, Vec<FoundValue>>,
    graph: &'a SchemaGraph,
    vocabulary: &'a Vocabulary,
    /// `[columns]`: whether each place of its name is within a longer name that is mentioned.
    dominated: Vec<bool>,
    has_many: bool,
    has_order: bool,
}

/// Words that count or add.
const AGGREGATES: [&str; 9] = ["averag", "total", "sum", "mean", "maximum", "minimum", "max", "min", "combin"];

/// Words that order.
const ORDERS: [&str; 16] = [
    "most", "least", "highest", "lowest", "largest", "smallest", "more", "less", "than", "fewest", "greater", "sort",
    "order", "descend", "ascend", "between",
];

impl<'a> Evidence<'a> {
    pub(super) fn new(
        question: &'a Words,
        graph: &'a SchemaGraph,
        vocabulary: &'a Vocabulary,
        values: &'a BTreeMap<usize, Vec<FoundValue>>,
    ) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        // "List the cars" says nothing of a list price.
        let opens = |place: usize, text: &str| place == 0 && ["list", "show", "find", "give", "return"].contains(&text);
        for (place, word) in question.words.iter().enumerate().filter(|(place, word)| !opens(*place, &word.text)) {
            places.entry(word.stem.as_str()).or_default().push(place);
        }
        // What no name has may stand for its kin there: "born" for "birth date".
        for (place, word) in question.words.iter().enumerate() {
            if !word.is_stop && !vocabulary.has(&word.stem) {
                kin(&word.stem).iter().for_each(|kin| places.entry(kin).or_default().push(place));
            }
        }
        let mention = |names: &Vec<Name>| mention(question, &places, vocabulary, names);
        let columns: Vec<Mention> = vocabulary.columns.iter().map(mention).collect();
        let tables: Vec<Mention> = vocabulary.tables.iter().map(mention).collect();
        // The longest name of more than one word that begins at each place of the question.
        let mut longest: BTreeSet<(usize, usize)> = BTreeSet::new();
        for mention in columns.iter().chain(&tables) {
            longest.extend(mention.spans.iter().filter(|(start, end)| end - start > 1));
        }
        let dominated = columns
            .iter()
            .map(|mention| {
                let within = |&(start, end): &(usize, usize)| {
                    longest.iter().any(|&(a, b)| a <= start && end <= b && b - a > end - start)
                };
                !mention.spans.is_empty() && mention.spans.iter().all(within)
            })
            .collect();
        let has = |stems: &[&str]| question.words.iter().any(|word| stems.contains(&word.stem.as_str()));
        let has_many = has(&AGGREGATES);
        let has_order = has(&ORDERS);
        Self { question, columns, tables, values, graph, vocabulary, dominated, has_many, has_order }
    }

    /// Whether the question has a word that adds or averages.
    pub(super) fn aggregates(&self) -> bool {
        self.has_many
            || self.question.words.windows(2).any(|w| matches!(w, [a, b] if a.text == "how" && b.text == "many"))
    }

    /// The least number of words between a column's mention and its table's.
    fn distance(&self, column: usize) -> Option<usize> {
        let node = self.graph.columns().get(column)?;
        let (own, table) = (self.columns.get(column)?, self.tables.get(node.table)?);
        if table.coverage < 0.99 {
            return None;
        }
        let pairs = own.words.iter().flat_map(|a| table.words.iter().map(move |b| a.abs_diff(*b)));
        pairs.filter(|distance| *distance > 0).min()
    }

    /// Numbers of the other columns that have one of its names.
    pub(super) fn rivals(&self, column: usize) -> &'a [usize] {
        self.vocabulary.rivals.get(column).map(Vec::as_slice).unwrap_or_default()
    }

    /// Features of whether the question mentions a column.
    pub(super) fn column_features(&self, column: usize) -> Vec<(&'static str, f32)> {
        let mut features = vec![("bias", 1.0)];
        let (Some(node), Some(own)) = (self.graph.columns().get(column), self.columns.get(column)) else {
            return features;
        };
        let Some(table) = self.tables.get(node.table) else { return features };
        let mut add = |name: &'static str, value: f32| {
            if value != 0.0 {
                features.push((name, value));
            }
        };
        let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
        let full = own.coverage > 0.99;
        let said = !own.spans.is_empty();
        add("coverage", own.coverage);
        add("coverage squared", own.coverage * own.coverage);
        add("full", flag(full));
        add("said whole", flag(said));
        add("said whole, long", if said { (own.length.min(4) - 1) as f32 } else { 0.0 });
        add("within a longer name", flag(self.dominated.get(column).copied().unwrap_or_default()));
        add("similar", own.similar * (1.0 - own.coverage));
        add("table coverage", table.coverage);
        add("table full", flag(table.coverage > 0.99));
        add("table said whole", flag(!table.spans.is_empty()));
        add("full, table full", flag(full && table.coverage > 0.99));
        add("half, table full", flag(own.coverage > 0.4 && !full && table.coverage > 0.99));
        let distance = self.distance(column);
        add("near its table", distance.map_or(0.0, |distance| 1.0 / distance as f32));
        // Words of the name that are not the table's.
        let table_stems = self.vocabulary.tables.get(node.table);
        let is_of_table = |stem: &String| table_stems.into_iter().flatten().flatten().any(|other| other == stem);
        let own_stems = self.vocabulary.stems.get(column).map(Vec::as_slice).unwrap_or_default();
        let rest: Vec<&String> = own_stems.iter().filter(|stem| !is_of_table(stem)).collect();
        if !rest.is_empty() && rest.len() < own_stems.len() {
            let has = rest.iter().filter(|stem| self.question.has(stem)).count();
            add("rest of the name", has as f32 / rest.len() as f32);
            add("rest missing", flag(has == 0));
        }
        if full {
            let rivals = self.rivals(column);
            let others = || rivals.iter().filter_map(|other| self.graph.columns().get(*other));
            let best =
                others().filter_map(|other| self.tables.get(other.table)).map(|t| t.coverage).fold(0.0, f32::max);
            add("rivals", (1.0 + rivals.len() as f32).ln());
            add("rival's table better", (best - table.coverage).max(0.0));
            add("table better than rivals'", if rivals.is_empty() { 0.0 } else { (table.coverage - best).max(0.0) });
            let nearest = rivals.iter().filter_map(|&other| self.distance(other)).min();
            let own = distance.unwrap_or(99);
            add("rival nearer", flag(nearest.is_some_and(|nearest| nearest < own)));
            add("nearer than rivals", flag(nearest.is_some_and(|nearest| nearest > own)));
        }
        let described = self.vocabulary.descriptions.get(column);
        if let Some(described) = described.filter(|described| !described.is_empty()) {
            let words = self.question.words.iter().filter(|word| !word.is_stop);
            let has = words.filter(|word| described.contains(&word.stem)).count();
            add("description", (has as f32 / described.len().clamp(1, 8) as f32).min(1.0));
        }
        for value in self.values.get(&column).into_iter().flatten().take(1) {
            let length = value.words.len();
            let holding = self.values.values().flatten().filter(|other| other.words == value.words).count();
            let longer = self.values.values().flatten().any(|other| {
                other.words.len() > length
                    && other.words.start <= value.words.start
                    && value.words.end <= other.words.end
            });
            let share = 1.0 / holding.max(1) as f32;
            if value.is_number {
                add("number", 1.0);
                add("number, share", share);
                add("number, name", own.coverage);
            } else {
                add("value", 1.0);
                add("value, long", (length.min(4) - 1) as f32);
                add("value, share", share);
                add("value, name", own.coverage);
                add("value, table", table.coverage);
                // "French" is no value where it is a word of a name.
                let is_name = |mention: &Mention| {
                    mention.spans.iter().any(|&(a, b)| a <= value.words.start && value.words.end <= b)
                };
                add("value is a name", flag(self.columns.iter().chain(&self.tables).any(is_name)));
            }
            add("value within a longer one", flag(longer));
        }
        let (refers, referred) = self.vocabulary.keys.get(column).copied().unwrap_or_default();
        add("primary key", flag(node.is_key));
        add("refers", flag(refers));
        add("referred to", flag(referred));
        add("key, said", flag((node.is_key || refers) && full));
        let plain = !node.is_key && !refers;
        add("aggregate, number", flag(self.has_many && plain && node.kind == ColumnKind::Number));
        add("order, number", flag(self.has_order && plain && node.kind == ColumnKind::Number));
        match node.kind {
            ColumnKind::Text => add("text", 1.0),
            ColumnKind::Number => add("kind number", 1.0),
            ColumnKind::Date => add("date", 1.0),
            ColumnKind::Other => {}
        }
        let place = self.vocabulary.places.get(column).copied().unwrap_or_default();
        add("first", flag(place == 0));
        add("second", flag(place == 1));
        add("second, table full", flag(place == 1 && table.coverage > 0.99));
        add("schema", (1.0 + self.columns.len() as f32).ln());
        features
    }

    /// Pairs of a word of the question, which is not in the name, and what the column is.
    pub(super) fn pairs(&self, column: usize) -> Vec<(&'static str, &str, &str)> {
        let mut found = Vec::new();
        let Some(node) = self.graph.columns().get(column) else { return found };
        let stems = self.vocabulary.stems.get(column).map(Vec::as_slice).unwrap_or_default();
        let kind = match (node.is_key, node.kind) {
            (true, _) => "key",
            (_, ColumnKind::Text) => "text",
            (_, ColumnKind::Number) => "number",
            (_, ColumnKind::Date) => "date",
            (_, ColumnKind::Other) => "other",
        };
        let mut seen = BTreeSet::new();
        for word in &self.question.words {
            if stems.contains(&word.stem) || !seen.insert(&word.stem) {
                continue;
            }
            found.push(("kind", word.stem.as_str(), kind));
            found.extend(stems.iter().map(|stem| ("word", word.stem.as_str(), stem.as_str())));
        }
        found.extend(stems.iter().map(|stem| ("name", "-", stem.as_str())));
        found
    }

    /// Features of whether the question needs a table; `mentioned` are the probabilities of all columns.
    pub(super) fn table_features(&self, table: usize, mentioned: &[f32]) -> Vec<(&'static str, f32)> {
        let mut features = vec![("bias", 1.0)];
        let (Some(node), Some(own)) = (self.graph.tables().get(table), self.tables.get(table)) else { return features };
        let mut add = |name: &'static str, value: f32| {
            if value != 0.0 {
                features.push((name, value));
            }
        };
        let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
        let within = |(a, b): &(usize, usize)| {
            self.tables.iter().any(|other| other.spans.iter().any(|(c, d)| c <= a && b <= d && d - c > b - a))
        };
        add("coverage", own.coverage);
        add("full", flag(own.coverage > 0.99));
        add("said whole", flag(!own.spans.is_empty()));
        add("said whole, long", if own.spans.is_empty() { 0.0 } else { (own.length.min(3) - 1) as f32 });
        add("within a longer name", flag(!own.spans.is_empty() && own.spans.iter().all(within)));
        add("similar", own.similar * (1.0 - own.coverage));
        let mut best: Vec<f32> = mentioned.get(node.columns.clone()).unwrap_or_default().to_vec();
        best.sort_by(|a, b| b.total_cmp(a));
        for (name, value) in ["best column", "second column", "third column"].into_iter().zip(&best) {
            add(name, *value);
        }
        let highest = mentioned.iter().copied().fold(0.0, f32::max);
        add("behind the best column", highest - best.first().copied().unwrap_or_default());
        // Columns that no other table has by this name.
        let alone = node.columns.clone().filter(|column| {
            self.columns.get(*column).is_some_and(|mention| mention.coverage > 0.99)
                && self.vocabulary.rivals.get(*column).is_some_and(Vec::is_empty)
        });
        add("columns of its own", alone.count().min(3) as f32);
        let values = node
            .columns
            .clone()
            .filter(|column| self.values.get(column).is_some_and(|values| values.iter().any(|value| !value.is_number)));
        add("values", flag(values.count() > 0));
        let within_column = |(a, b): &(usize, usize)| {
            self.columns.iter().any(|mention| mention.spans.iter().any(|(c, d)| c <= a && b <= d && d - c > b - a))
        };
        add("within a column's name", flag(!own.spans.is_empty() && own.spans.iter().all(within_column)));
        add("said, no column", flag(own.coverage > 0.99) * (1.0 - best.first().copied().unwrap_or_default()));
        add("counted", flag(self.is_counted(table)));
        add("bridge", flag(self.vocabulary.bridges.get(table).copied().unwrap_or_default()));
        add("columns", (1.0 + node.columns.len() as f32).ln());
        add("tables", (1.0 + self.tables.len() as f32).ln());
        add("first word", own.words.first().map_or(0.0, |first| 1.0 / (1.0 + *first as f32)));
        features
    }

    /// Words for what a row is wanted for each of, "per course", "number of schools by county", where neither is in a name: the
    /// numbers of "per" and "by".
    pub(super) fn groups(&self) -> Vec<usize> {
        const TOTALS: [&str; 12] = [
            "number", "many", "count", "total", "average", "mean", "sum", "maximum", "minimum", "highest", "lowest",
            "avg",
        ];
        let word = |at: usize| self.question.words.get(at).map_or("", |word| word.text.as_str());
        let is_group = |at: &usize| {
            let at = *at;
            let before = at.checked_sub(1).map_or("", word);
            // Neither "ordered by" nor "written by".
            let is_done = ["ed", "en", "ld", "de", "order", "wn"].iter().any(|end| before.ends_with(end));
            let each = match word(at) {
                "per" => true,
                // "Orders by customers" are those that they made.
                "by" => !is_done && !word(at + 1).ends_with('s') && (0..at).any(|at| TOTALS.contains(&word(at))),
                _ => false,
            };
            each && grouped_by(at, self.question, &self.columns, &self.tables).is_some()
        };
        (0..self.question.words.len()).filter(is_group).collect()
    }

    /// Whether the question wants to know how many there are of a table: "how many singers".
    pub(super) fn is_counted(&self, table: usize) -> bool {
        let Some(own) = self.tables.get(table) else { return false };
        own.words.iter().any(|&at| {
            at > 1 && {
                let before = |back: usize| {
                    at.checked_sub(back).and_then(|at| self.question.words.get(at)).map(|w| w.text.as_str())
                };
                (before(1), before(2)) == (Some("many"), Some("how"))
                    || before(1) == Some("of") && before(2) == Some("number")
            }
        })
    }

    /// For each word of the question how well a table has it, 0 to 1: by its name or by one of its columns.
    pub(super) fn covered(&self, table: usize) -> Vec<f32> {
        let mut covered = vec![0.0_f32; self.question.words.len()];
        let Some(node) = self.graph.tables().get(table) else { return covered };
        let mentions = self.columns.get(node.columns.clone()).unwrap_or_default().iter().chain(self.tables.get(table));
        for mention in mentions {
            for &word in &mention.words {
                if let Some(of) = covered.get_mut(word) {
                    *of = of.max(mention.coverage);
                }
            }
        }
        for value in node.columns.clone().filter_map(|column| self.values.get(&column)).flatten() {
            if !value.is_number {
                covered.iter_mut().take(value.words.end).skip(value.words.start).for_each(|of| *of = 1.0);
            }
        }
        for (of, word) in covered.iter_mut().zip(&self.question.words) {
            if word.is_stop {
                *of = 0.0;
            }
        }
        covered
    }
}

/// The word for what a row is wanted for each of, behind "each", "per" or "by" at a place that is in no name: it is of a column or
/// a table.
pub(crate) fn grouped_by(at: usize, question: &Words, columns: &[Mention], tables: &[Mention]) -> Option<usize> {
    let mentions = || columns.iter().chain(tables);
    let is_named = mentions().flat_map(|mention| &mention.spans).any(|&(start, end)| start <= at && at < end);
    let next = question.words.get(at + 1).map_or("", |word| word.text.as_str());
    let of = at + 1 + usize::from(matches!(next, "the" | "each" | "their"));
    let is_known = || mentions().any(|mention| mention.coverage > 0.4 && mention.words.contains(&of));
    (!is_named && is_known()).then_some(of)
}

fn mention(question: &Words, places: &HashMap<&str, Vec<usize>>, vocabulary: &Vocabulary, names: &[Name]) -> Mention {
    let mut best = Mention::default();
    for name in names {
        let (mut has, mut all) = (0.0, 0.0);
        let mut words = BTreeSet::new();
        let mut similar = 0.0_f32;
        for stem in name {
            let idf = vocabulary.idf(stem);
            all += idf;
            match places.get(stem.as_str()) {
                Some(at) => {
                    has += idf;
                    words.extend(at.iter().copied());
                }
                None => {
                    let alike = |word: &super::words::Word| if word.is_stop { 0.0 } else { alike(&word.stem, stem) };
                    similar = similar.max(question.words.iter().map(alike).fold(0.0, f32::max));
                }
            }
        }
        let coverage: f32 = if all > 0.0 { has / all } else { 0.0 };
        let mut spans = Vec::new();
        if coverage > 0.99 {
            let stands = |start: usize| {
                name.iter().zip(start..).all(|(stem, at)| places.get(stem.as_str()).is_some_and(|of| of.contains(&at)))
            };
            spans.extend((0..question.words.len()).filter(|start| stands(*start)).map(|at| (at, at + name.len())));
        }
        best.similar = best.similar.max(similar);
        let better = (coverage, !spans.is_empty(), name.len()) > (best.coverage, !best.spans.is_empty(), best.length);
        if better || best.length == 0 {
            best = Mention {
                coverage,
                length: name.len(),
                words: words.into_iter().collect(),
                spans,
                similar: best.similar,
            };
        }
    }
    best
}

/// How much of two stems is the same from the beginning, where that is four letters at least, or the one is the
/// initials' or cut form of the other.
pub(crate) fn alike(a: &str, b: &str) -> f32 {
    let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    if common >= 4 || common == short && short >= 3 {
        common as f32 / long as f32
    } else if short >= 4 && (a.contains(b) || b.contains(a)) {
        short as f32 / long as f32
    } else {
        0.0
    }
}
