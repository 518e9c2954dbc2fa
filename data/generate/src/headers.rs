//! Questions generated from the headers of tables, with their segments in the silver form: a segmenter that has
//! read many learns to find rows and years in a question and to copy them, whatever their words.
//!
//! A question takes a table, rows and columns of it by their silver names ([`tabsegnet_datasets::silver`]) and one of the
//! wordings of `templates`. Years move by a common number, so that none is bound to a row; phrases that
//! belong to no segment stand before and after.

mod templates;

use std::collections::BTreeMap;

use tabsegnet_store::Digest;

use crate::dice::Dice;
use tabsegnet_datasets::silver;
use tabsegnet_document::model::{CellRole, Document, Table};
use templates::{AFTER, BEFORE, Shape, TIMES, WORDINGS};

/// The most words of a row's name; a longer one is a sentence.
const LONGEST_ROW: usize = 10;
/// The most words of a column's name.
const LONGEST_COLUMN: usize = 5;
/// Tables that are tried for a shape before another one is taken.
const TRIES: usize = 12;

/// A generated question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedQuestion {
    /// The question.
    pub question: String,
    /// One a fact: the row, then the column, in the order in which the question names them. At least one;
    /// each word of them stands in the question, case aside.
    pub segments: Vec<String>,
}

/// The names of rows and columns that questions are generated from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// Those of a table each, none empty.
    tables: Vec<Vec<Row>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: String,
    /// Years, and other columns.
    years: Vec<i64>,
    others: Vec<String>,
}

impl Headers {
    /// Those of documents' tables.
    pub fn of<'d>(documents: impl IntoIterator<Item = &'d Document>) -> Self {
        let tables = documents.into_iter().flat_map(Document::tables).map(rows_of);
        Self { tables: tables.filter(|rows| !rows.is_empty()).collect() }
    }

    /// Whether there is nothing to generate a question from.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// The names of rows.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tables.iter().flatten().map(|row| row.name.as_str())
    }

    /// Adds all that questions are generated from.
    #[must_use]
    pub fn digest(&self, digest: Digest) -> Digest {
        let text = |row: &Row| format!("{}\n{:?}\n{}\n", row.name, row.years, row.others.join("\n"));
        self.tables.iter().fold(digest, |digest, rows| digest.part(rows.iter().map(text).collect::<String>()))
    }

    /// `count` questions, a function of the headers, seed and epoch; none where there are no headers.
    pub fn questions(&self, count: usize, seed: u64, epoch: u64) -> Vec<GeneratedQuestion> {
        let digest = Digest::new().part("generated questions").part(seed.to_le_bytes()).part(epoch.to_le_bytes());
        let mut dice = Dice::new(digest);
        (0..count).map_while(|_| self.question(&mut dice)).collect()
    }

    fn question(&self, dice: &mut Dice) -> Option<GeneratedQuestion> {
        let (shape, wordings) = wordings(dice);
        let drawn = (0..TRIES).find_map(|_| Drawn::new(shape, dice.choose(&self.tables)?, dice));
        let (wordings, drawn) = match drawn {
            Some(drawn) => (wordings, drawn),
            // Every table has a row.
            None => {
                let (_, _, wordings) = WORDINGS.iter().find(|(shape, ..)| *shape == Shape::Row)?;
                (*wordings, Drawn::new(Shape::Row, dice.choose(&self.tables)?, dice)?)
            }
        };
        Some(drawn.question(dice.choose(wordings)?, dice))
    }
}

/// A shape by its share, and its wordings.
fn wordings(dice: &mut Dice) -> (Shape, &'static [&'static str]) {
    let mut at = dice.below(WORDINGS.iter().map(|(_, share, _)| share).sum());
    for &(shape, share, wordings) in WORDINGS {
        if at < share {
            return (shape, wordings);
        }
        at -= share;
    }
    (Shape::Row, &[])
}

/// The rows of a table that have a name, each with its columns that have one.
fn rows_of(table: &Table) -> Vec<Row> {
    let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
    for cell in table.cells().iter().filter(|cell| table.role(cell) == CellRole::Data) {
        let [name, column] = silver::names(table, cell);
        if !is_name(&name, LONGEST_ROW) {
            continue;
        }
        let row = rows.entry(cell.row).or_insert(Row { name, years: Vec::new(), others: Vec::new() });
        match column.parse::<i64>() {
            Ok(year @ 1950..2100) if !row.years.contains(&year) => row.years.push(year),
            Err(_)
                if is_name(&column, LONGEST_COLUMN) && !row.others.contains(&column) && !share(&row.name, &column) =>
            {
                row.others.push(column);
            }
            _ => {}
        }
    }
    rows.into_values().collect()
}

fn is_name(text: &str, longest: usize) -> bool {
    text.contains(char::is_alphabetic) && !text.contains(['{', '}']) && text.split_whitespace().count() <= longest
}

/// Whether two names have a word in common, case aside.
fn share(a: &str, b: &str) -> bool {
    let b = b.to_lowercase();
    a.to_lowercase().split_whitespace().any(|word| b.split_whitespace().any(|other| other == word))
}

/// What is wanted: texts by the marks of [`templates`], and the facts as pairs of a row and a column.
struct Drawn {
    texts: Vec<(&'static str, String)>,
    /// The years of `{years}`.
    years: Vec<String>,
    facts: Vec<(&'static str, String)>,
}

impl Drawn {
    /// Rows and columns of a table; none where it has too few.
    fn new(shape: Shape, rows: &[Row], dice: &mut Dice) -> Option<Self> {
        let a = dice.choose(rows)?;
        let two_rows = matches!(shape, Shape::Rows | Shape::Each | Shape::Square | Shape::RowsColumn | Shape::Pair);
        let b = match two_rows {
            true => Some(dice.choose(rows).filter(|b| !b.name.eq_ignore_ascii_case(&a.name))?),
            false => None,
        };
        let dated =
            rows.iter().any(|row| row.name.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() == 4));
        let shift = if dated { 0 } else { dice.range(-9, 9) };
        let mut years: Vec<String> = a.years.iter().map(|year| (year + shift).to_string()).collect();
        let mut others = a.others.clone();
        // Most questions name the older year first.
        match dice.chance(65) {
            true => years.sort(),
            false => dice.shuffle(&mut years),
        }
        dice.shuffle(&mut others);
        let (columns, wanted) = match shape {
            Shape::One | Shape::Rows => (years, 1..=1),
            Shape::Change | Shape::Each | Shape::Square => (years, 2..=2),
            Shape::Years => (years, 3..=4),
            Shape::Column | Shape::RowsColumn => (others, 1..=1),
            Shape::Columns => (others, 2..=2),
            Shape::Row | Shape::Pair => (years, 0..=0),
        };
        let columns = columns.get(..columns.len().min(*wanted.end())).filter(|some| some.len() >= *wanted.start())?;
        let overlap = |column: &String| [Some(a), b].into_iter().flatten().any(|row| share(&row.name, column));
        if columns.iter().any(overlap) || matches!(columns, [y, z] if share(y, z)) {
            return None;
        }
        let rows = [("{a}", Some(a)), ("{b}", b)].into_iter().filter_map(|(mark, row)| Some((mark, row?)));
        let rows: Vec<(&'static str, String)> = rows.map(|(mark, row)| (mark, row.name.clone())).collect();
        let mut facts: Vec<(&'static str, String)> = Vec::new();
        for (at, (mark, _)) in rows.iter().enumerate() {
            match columns {
                [] => facts.push((mark, String::new())),
                _ if shape == Shape::Each => facts.extend(columns.get(at).map(|column| (*mark, column.clone()))),
                _ => facts.extend(columns.iter().map(|column| (*mark, column.clone()))),
            }
        }
        let mut texts = rows;
        texts.extend(["{y}", "{z}"].into_iter().zip(columns.iter().cloned()));
        Some(Self { texts, years: columns.to_vec(), facts })
    }

    /// The question in a wording, and its segments.
    fn question(self, wording: &str, dice: &mut Dice) -> GeneratedQuestion {
        let mut question = wording.replace("{years}", &listed(&self.years, dice));
        for (mark, text) in &self.texts {
            let time = format!("{} {text}", dice.pick(TIMES));
            question = question.replace(&mark.replace('{', "{@"), &time);
        }
        // The order in which the question names them is that of the marks.
        let place = |text: &str| question.find(text).unwrap_or(usize::MAX);
        let mark_of =
            |column: &String| self.texts.iter().skip(1).find(|(_, text)| text == column).map(|(mark, _)| *mark);
        let mut facts = self.facts.clone();
        facts.sort_by_cached_key(|(row, column)| {
            let column_place = mark_of(column).map_or(usize::MAX, &place).min(place(column));
            let mut places = [place(row), if column.is_empty() { usize::MAX } else { column_place }];
            places.sort_unstable();
            places
        });
        let name = |mark: &str| self.texts.iter().find(|(known, _)| *known == mark).map_or("", |(_, text)| text);
        let segments: Vec<String> =
            facts.iter().map(|(row, column)| format!("{} {column}", name(row)).trim().to_owned()).collect();
        for (mark, text) in &self.texts {
            let bare = !question.contains(&format!("the {mark}")) && !question.contains(&format!("'s {mark}"));
            let article = if mark.contains(['a', 'b']) && bare && dice.chance(25) { "the " } else { "" };
            question = question.replace(mark, &format!("{article}{text}"));
        }
        finished(question, segments, dice)
    }
}

/// `2010, 2011 and 2012`, or without the last word.
fn listed(years: &[String], dice: &mut Dice) -> String {
    let comma = if dice.chance(50) { ", " } else { " , " };
    match years {
        [rest @ .., last] if !rest.is_empty() => {
            let and = ["and", "and", ", and", "&"][dice.below(4)];
            format!("{} {and} {last}", rest.join(comma)).replace(" , and", ", and")
        }
        years => years.join(comma),
    }
}

/// With phrases before and after it, a mark at the end, and case as one of the data sets has it.
fn finished(question: String, segments: Vec<String>, dice: &mut Dice) -> GeneratedQuestion {
    let before = if dice.chance(8) { dice.pick(BEFORE) } else { "" };
    let after = if dice.chance(22) { dice.pick(AFTER) } else { "" };
    let end = *dice.pick(&["?", "?", "?", "?", "?", "?", "?", " ?", "", "."]);
    let question = format!("{before}{question}{after}{end}");
    if dice.chance(50) {
        let lower = |text: &String| text.to_lowercase();
        return GeneratedQuestion { question: question.to_lowercase(), segments: segments.iter().map(lower).collect() };
    }
    let mut letters = question.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    GeneratedQuestion { question: first + letters.as_str(), segments }
}

#[cfg(test)]
mod tests;
