//! Which cells a question names.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::words::{Words, compatriots};
use crate::error::QueryError;
use crate::rows::{Rows, Value};
use crate::schema_graph::{SchemaGraph, SqlDialect};

/// How much of a database an index of values holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ValueLimits {
    /// Distinct values of a column.
    pub per_column: usize,
    /// Values in all.
    pub total: usize,
    /// Letters of a value; longer ones are prose, which nobody names whole.
    pub letters: usize,
    /// Rows of a table that are looked at, the first ones.
    pub rows: usize,
}

impl Default for ValueLimits {
    fn default() -> Self {
        Self { per_column: 2000, total: 500_000, letters: 60, rows: 500_000 }
    }
}

/// Words of a value at most: what a question is searched for.
const WORDS: usize = 8;

/// A value that a question names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundValue {
    /// The value as the database has it.
    pub value: String,
    /// The words of the question that name it, from the first one's number to that after the last.
    pub words: std::ops::Range<usize>,
    /// Whether it is a number.
    pub is_number: bool,
}

/// A sample of the values of each column, found by their words.
#[derive(Debug, Clone, Default)]
pub struct ValueIndex {
    /// By the stems of a value, joined with blanks: columns with the value as it is there.
    texts: HashMap<String, Vec<(u32, String)>>,
    /// By a number: columns.
    numbers: HashMap<String, Vec<u32>>,
    /// By column, how its sampled values are written.
    written: HashMap<u32, Written>,
    held: usize,
}

/// How many values of a column are texts, of these ISO dates, and how many numbers; and whether some are missing.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    texts: usize,
    dates: usize,
    numbers: usize,
    has_nulls: bool,
    /// Different values.
    different: usize,
    /// Whether there may be more of these.
    is_cut: bool,
    /// What is neither 0, 1 nor a word for yes or no.
    others: usize,
}

/// Words for yes and no, as stems.
const YES: [&str; 4] = ["y", "yes", "true", "t"];
const NO: [&str; 4] = ["n", "no", "fals", "f"];

/// Rows that tell whether a column's values differ from row to row.
const MANY: usize = 12;

/// Values of one column that differ in their endings alone, at most.
const ALIKE: usize = 4;

impl ValueIndex {
    /// Reads a sample of each column's distinct values by `run`; a column that cannot be read in its time has none. Hidden
    /// columns and views are passed over.
    ///
    /// # Errors
    /// Where the database itself can no longer be read.
    pub fn read(
        graph: &SchemaGraph,
        limits: ValueLimits,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    ) -> Result<Self, QueryError> {
        let mut index = Self::default();
        for table in graph.tables().iter().filter(|table| !table.is_view) {
            let name = table.quoted();
            // Of a column with few values every row would be read.
            let large = match run(&format!("SELECT 1 FROM {name} LIMIT 1 OFFSET {}", limits.rows)) {
                Ok(rows) => !rows.rows.is_empty(),
                Err(error @ QueryError::Failed { .. }) => return Err(error),
                Err(error) => matches!(error, QueryError::Stopped { .. }),
            };
            // The first rows in the order of an index have the least values alone.
            let unordered = if graph.dialect() == SqlDialect::Sqlite { " NOT INDEXED" } else { "" };
            for number in table.columns.clone() {
                if graph.columns().get(number).is_none_or(|column| column.hidden) {
                    continue;
                }
                let column = graph.column_sql(number, false);
                let (column, from) = if large {
                    let rows = limits.rows;
                    ("v".to_owned(), format!("(SELECT {column} AS v FROM {name}{unordered} LIMIT {rows}) AS few"))
                } else {
                    (column, name.clone())
                };
                match run(&format!("SELECT DISTINCT {column} FROM {from} LIMIT {}", limits.per_column)) {
                    Ok(rows) => index.add(number, rows.rows.into_iter().flatten(), limits),
                    Err(error @ QueryError::Failed { .. }) => return Err(error),
                    Err(_) => {}
                }
            }
        }
        Ok(index)
    }

    /// Adds values of a column by its number.
    pub fn add(&mut self, column: usize, values: impl IntoIterator<Item = Value>, limits: ValueLimits) {
        let column = column as u32;
        for (count, value) in values.into_iter().take(limits.per_column).enumerate() {
            if self.held >= limits.total {
                return;
            }
            if !matches!(value, Value::Null) {
                let written = self.written.entry(column).or_default();
                written.different += 1;
                written.is_cut |= count + 1 == limits.per_column;
            }
            match value {
                Value::Integer(number) => {
                    let written = self.written.entry(column).or_default();
                    written.numbers += 1;
                    written.others += usize::from(!(0..=1).contains(&number));
                    self.add_number(column, number.to_string());
                }
                Value::Real(number) => {
                    let written = self.written.entry(column).or_default();
                    written.numbers += 1;
                    written.others += 1;
                    self.add_number(column, number.to_string());
                }
                Value::Text(text) => {
                    let text = text.trim();
                    let written = self.written.entry(column).or_default();
                    let is_number = text.parse::<f64>().is_ok();
                    written.numbers += usize::from(is_number);
                    written.texts += usize::from(!is_number && !text.is_empty());
                    written.dates += usize::from(is_date(text));
                    let lower = text.to_lowercase();
                    let is_flag = YES.contains(&lower.as_str()) || NO.contains(&lower.as_str()) || lower == "false";
                    written.others += usize::from(!(is_flag || text == "0" || text == "1"));
                    if text.is_empty() || text.chars().count() > limits.letters {
                        continue;
                    }
                    if is_number {
                        self.add_number(column, text.to_owned());
                        continue;
                    }
                    let words = Words::of(text);
                    if words.is_empty() || words.len() > WORDS {
                        continue;
                    }
                    let columns = self.texts.entry(words.stems().join(" ")).or_default();
                    let alike = columns.iter().rev().take_while(|(of, _)| *of == column).count();
                    let same = |(of, known): &(u32, String)| *of == column && known.eq_ignore_ascii_case(text);
                    if alike < ALIKE && !columns.iter().rev().take(alike).any(same) {
                        columns.push((column, text.to_owned()));
                        self.held += 1;
                    }
                }
                Value::Null => self.written.entry(column).or_default().has_nulls = true,
                Value::Blob(_) => {}
            }
        }
    }

    fn add_number(&mut self, column: u32, number: String) {
        let columns = self.numbers.entry(number).or_default();
        if columns.last() != Some(&column) {
            columns.push(column);
            self.held += 1;
        }
    }

    /// By column the values that the question names, the longest first. A value within another that is named too is
    /// left out where both are of one column. A text of one letter, and a word that says nothing, is no name.
    pub fn find(&self, question: &Words) -> BTreeMap<usize, Vec<FoundValue>> {
        let mut found: BTreeMap<usize, Vec<FoundValue>> = BTreeMap::new();
        let words = &question.words;
        for length in (1..=WORDS.min(words.len())).rev() {
            for (start, span) in words.windows(length).enumerate() {
                let before = start.checked_sub(1).and_then(|at| words.get(at)).map_or("", |word| word.text.as_str());
                // "Members with no bookings" name no value "no".
                let is_no =
                    length == 1 && span[0].text == "no" && !["is", "are", "was", "were", "as"].contains(&before);
                let is_plain = is_no || span.iter().all(|word| word.is_stop || word.text.chars().count() < 2);
                let stems: Vec<&str> = span.iter().map(|word| word.stem.as_str()).collect();
                let mut put = |column: usize, value: &str, is_number: bool| {
                    let of = found.entry(column).or_default();
                    let within = |other: &FoundValue| other.words.start <= start && other.words.end >= start + length;
                    if !of.iter().any(within) {
                        of.push(FoundValue { value: value.to_owned(), words: start..start + length, is_number });
                    }
                };
                if !is_plain {
                    let alike = self.texts.get(&stems.join(" ")).map_or(&[][..], Vec::as_slice);
                    // "Engineering" is no "Engineer" where there is such a value.
                    let is_same = |value: &str| {
                        let of = Words::of(value);
                        of.words.iter().map(|word| &word.text).eq(span.iter().map(|word| &word.text))
                    };
                    let has_same = alike.iter().any(|(_, value)| is_same(value));
                    let is_near = |value: &str| {
                        let of = Words::of(value);
                        of.words.iter().zip(span).all(|(a, b)| is_of_who_does(&a.text) == is_of_who_does(&b.text))
                    };
                    for (column, value) in
                        alike.iter().filter(|(_, value)| is_same(value) || !has_same && is_near(value))
                    {
                        put(*column as usize, value, false);
                    }
                    // "Brazilian players" of the country "Brazil".
                    let said: Vec<&str> = span.iter().map(|word| word.text.as_str()).collect();
                    for other in compatriots(&said.join(" ")).filter(|_| alike.is_empty()) {
                        let of = self.texts.get(&Words::of(other).stems().join(" ")).into_iter().flatten();
                        of.for_each(|(column, value)| put(*column as usize, value, false));
                    }
                }
                if let [word] = span
                    && word.text.starts_with(|c: char| c.is_ascii_digit())
                {
                    for column in self.numbers.get(&word.text).into_iter().flatten() {
                        put(*column as usize, &word.text, true);
                    }
                }
            }
        }
        found
    }

    /// Whether a value is of one word, which is this.
    pub(crate) fn has(&self, text: &str, stem: &str) -> bool {
        let values = self.texts.get(stem).into_iter().flatten();
        values.into_iter().any(|(_, value)| is_of_who_does(&value.to_lowercase()) == is_of_who_does(text))
    }

    /// Whether a column holds dates as ISO writes them, as far as its sample tells.
    pub fn holds_dates(&self, column: usize) -> bool {
        self.written(column).is_some_and(|of| of.dates > 0 && of.dates == of.texts && of.numbers == 0)
    }

    /// Whether a column holds texts alone, dates among them.
    pub fn holds_texts(&self, column: usize) -> bool {
        self.written(column).is_some_and(|of| of.texts > 0 && of.numbers == 0)
    }

    /// Whether a column has a value of its own for each of the table's `key`, as far as their samples tell.
    pub fn is_unique(&self, column: usize, key: usize) -> bool {
        let [of, key] = [column, key].map(|column| self.written(column));
        let has_all = |of: &Written| of.different >= MANY && !of.is_cut && !of.has_nulls;
        of.zip(key).is_some_and(|(of, key)| has_all(of) && has_all(key) && of.different == key.different)
    }

    /// Whether a column has a value of its own for most of the table's `key`, but not for all: people's names.
    pub fn is_nearly_unique(&self, column: usize, key: usize) -> bool {
        let [of, key] = [column, key].map(|column| self.written(column));
        let is_whole = |of: &Written| of.different >= MANY && !of.is_cut;
        of.zip(key).is_some_and(|(of, key)| {
            is_whole(of) && is_whole(key) && of.different < key.different && of.different * 2 > key.different
        })
    }

    /// Whether a column has no value in some rows, as far as its sample tells.
    pub fn has_nulls(&self, column: usize) -> bool {
        self.written(column).is_some_and(|of| of.has_nulls)
    }

    /// What a column of yes and no has for both, where it is one.
    pub fn flags(&self, column: usize) -> Option<[Value; 2]> {
        let number = u32::try_from(column).ok()?;
        let written = self.written(column).filter(|of| of.others == 0)?;
        let has = |text: &str| self.numbers.get(text).is_some_and(|columns| columns.contains(&number));
        let text = |words: &[&str]| words.iter().find_map(|word| self.spelt(column, word)).map(Value::Text);
        match (written.texts, written.numbers) {
            (0, 1..) if has("0") && has("1") => Some([Value::Integer(1), Value::Integer(0)]),
            (1.., 0) => Some([text(&YES)?, text(&NO)?]),
            _ => None,
        }
    }

    /// The value of a column with these stems, as it is there.
    pub(crate) fn spelt(&self, column: usize, stems: &str) -> Option<String> {
        let of_column = |(of, _): &&(u32, String)| usize::try_from(*of) == Ok(column);
        self.texts.get(stems)?.iter().find(of_column).map(|(_, text)| text.clone())
    }

    fn written(&self, column: usize) -> Option<&Written> {
        u32::try_from(column).ok().and_then(|column| self.written.get(&column))
    }

    /// How many values it holds.
    pub fn len(&self) -> usize {
        self.held
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }
}

/// Whether a word is of who does something: a "manager" is not what is "managed".
fn is_of_who_does(word: &str) -> bool {
    ["er", "or", "ers", "ors"].iter().any(|end| word.ends_with(end))
}

/// `2024-03-01`, with a time behind it or without.
fn is_date(text: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        text.as_bytes().get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let parted = [4, 7].iter().all(|at| text.as_bytes().get(*at) == Some(&b'-'));
    let ends = matches!(text.as_bytes().get(10), None | Some(b' ' | b'T'));
    parted && ends && digits(0..4) && digits(5..7) && digits(8..10)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::schema_graph::Semantics;
    use crate::{Database, Sandbox};

    #[test]
    fn of_a_large_table_the_first_rows_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        let tables = "CREATE TABLE sale (id INTEGER PRIMARY KEY, kind TEXT); CREATE INDEX by_kind ON sale(kind);
            INSERT INTO sale(kind) VALUES ('zinc'), ('tin'), ('zinc'), ('iron')";
        connection.execute_batch(tables).unwrap();
        connection.close().unwrap();
        let database = Database::open(&path, &Sandbox::default()).unwrap();
        let graph = SchemaGraph::new(&database.schema().unwrap(), &Semantics::default(), SqlDialect::Sqlite).unwrap();
        let kinds = |rows: usize| {
            let limits = ValueLimits { rows, ..ValueLimits::default() };
            let index = ValueIndex::read(&graph, limits, &mut |sql| database.query(sql)).unwrap();
            let mut found = index.find(&Words::of("zinc, tin and iron"));
            found.remove(&1).unwrap_or_default().into_iter().map(|value| value.value).collect::<Vec<_>>()
        };
        assert_eq!(kinds(4), ["zinc", "tin", "iron"]);
        assert_eq!(kinds(3), ["zinc", "tin"]);
    }

    #[test]
    fn values_are_found_whole_and_in_any_case() {
        let mut index = ValueIndex::default();
        let texts = |texts: &[&str]| texts.iter().map(|text| Value::Text((*text).to_owned())).collect::<Vec<_>>();
        index.add(
            0,
            texts(&["New York", "York", "the", "x", " ", "a very long text with far more words than eight"]),
            ValueLimits::default(),
        );
        index.add(3, texts(&["YORK", "2014"]), ValueLimits::default());
        index.add(5, [Value::Integer(2014), Value::Null, Value::Real(1.5)], ValueLimits::default());
        let found = index.find(&Words::of("Who lived in new york in 2014, at the X?"));
        let shown: Vec<(usize, Vec<&str>)> =
            found.iter().map(|(column, values)| (*column, values.iter().map(|v| v.value.as_str()).collect())).collect();
        assert_eq!(shown, [(0, vec!["New York"]), (3, vec!["YORK", "2014"]), (5, vec!["2014"])]);
        index.add(7, texts(&["Engineering", "Managers", "Management"]), ValueLimits::default());
        index.add(8, texts(&["Engineer", "2024-03-01"]), ValueLimits::default());
        let found = index.find(&Words::of("managers in Engineering"));
        assert_eq!((found[&7].len(), found[&7][0].value.as_str(), found.get(&8)), (2, "Managers", None));
        assert!(!index.holds_dates(8) && index.holds_texts(8) && !index.holds_texts(5));
        index.add(13, [Value::Integer(1), Value::Null, Value::Integer(0)], ValueLimits::default());
        index.add(14, texts(&["Yes", "No"]), ValueLimits::default());
        index.add(15, [Value::Integer(1), Value::Integer(2), Value::Integer(0)], ValueLimits::default());
        assert_eq!(index.flags(13), Some([Value::Integer(1), Value::Integer(0)]));
        assert_eq!(index.flags(14), Some([Value::Text("Yes".to_owned()), Value::Text("No".to_owned())]));
        assert_eq!((index.flags(15), index.flags(5), index.has_nulls(13)), (None, None, true));
        index.add(11, texts(&["Brazil", "Swedish"]), ValueLimits::default());
        let found = index.find(&Words::of("Brazilians from Sweden"));
        let of: Vec<&str> = found[&11].iter().map(|value| value.value.as_str()).collect();
        assert_eq!(of, ["Brazil", "Swedish"]);
        index.add(9, texts(&["2024-03-01", "2024-03-02 10:00:00"]), ValueLimits::default());
        assert!(index.holds_dates(9));
        let limits = ValueLimits { total: 1, ..ValueLimits::default() };
        let mut small = ValueIndex::default();
        small.add(0, texts(&["a1", "b2", "c3"]), limits);
        assert_eq!(small.len(), 1);
    }
}
