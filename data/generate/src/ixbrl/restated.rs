//! Where a filing states its facts again without tags: the discussion of results, five-year tables, highlights.

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet_document::ReadDocument;
use tabsegnet_document::facts::FactPlace;
use tabsegnet_document::model::{Block, CellRole, Table};
use tabsegnet_document::node_id;
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_lexical::tokenize;

use super::filing::{Fact, recognizable};
use super::period::Calendar;
use tabsegnet_datasets::values::numbers_in;

/// The share of words that labels of one fact have in common, at least.
const ALIKE: f64 = 0.5;
/// A fact's number stands at most so often without tags; one that stands everywhere is no one fact's.
const MOST: usize = 6;

/// A place that shows a number without a tag.
struct Place {
    node: String,
    /// Of its row headers, or of the sentence.
    words: BTreeSet<String>,
    years: BTreeSet<String>,
    is_cell: bool,
}

/// Gives each fact the ids of the nodes that state it without a tag: cells that show its number under a label like that of
/// a cell with a tag, in a column of its year, and sentences with its number, most words of its label and, if any year,
/// its own.
pub(super) fn add(facts: &mut [Fact], read: &ReadDocument, tables: &BTreeMap<usize, &Table>, calendar: &Calendar) {
    let places = places(read);
    let labels: Vec<Vec<BTreeSet<String>>> = facts.iter().map(|fact| labels(fact, tables)).collect();
    for (fact, labels) in facts.iter_mut().zip(labels) {
        let end = fact.span.end();
        let own: BTreeSet<String> =
            calendar.year_ending(end).into_iter().chain([end.year]).map(|year| year.to_string()).collect();
        let shown: BTreeSet<u64> = fact.cells.iter().filter_map(|cell| cell.shown).collect();
        let states = |place: &&Place| {
            let in_year = !place.years.is_disjoint(&own) || (!place.is_cell && place.years.is_empty());
            in_year && labels.iter().any(|label| is_like(label, place))
        };
        let found: Vec<String> = shown
            .iter()
            .filter_map(|number| places.get(number))
            .flatten()
            .filter(states)
            .map(|place| place.node.clone())
            .collect();
        if found.len() <= MOST {
            fact.restated = found;
        }
    }
}

/// The words of the row headers of a fact's cells.
fn labels(fact: &Fact, tables: &BTreeMap<usize, &Table>) -> Vec<BTreeSet<String>> {
    let label = |place: &super::filing::CellPlace| {
        let table = tables.get(&place.table)?;
        let cell = table.cells().iter().find(|cell| node_id::cell(table, cell) == place.node)?;
        Some(words(&table.path(&table.row_headers_of(cell))))
    };
    fact.cells.iter().filter_map(label).filter(|label| !label.is_empty()).collect()
}

fn is_like(label: &BTreeSet<String>, place: &Place) -> bool {
    let common = label.intersection(&place.words).count() as f64;
    let of = if place.is_cell { label.union(&place.words).count() } else { label.len() };
    common >= ALIKE * of as f64
}

/// The places without tags by the number that they show.
fn places(read: &ReadDocument) -> BTreeMap<u64, Vec<Place>> {
    let mut tagged_cells = BTreeSet::new();
    let mut tagged_passages = BTreeSet::new();
    for number in &read.facts.numbers {
        match number.place {
            FactPlace::Cell { table, row, col } => drop(tagged_cells.insert((table, row, col))),
            FactPlace::Passage(passage) => drop(tagged_passages.insert(passage)),
            FactPlace::Caption(_) | FactPlace::Hidden => {}
        }
    }
    let mut places: BTreeMap<u64, Vec<Place>> = BTreeMap::new();
    let mut passage = 0;
    for block in &read.document.blocks {
        match block {
            Block::Heading(_) => {}
            Block::Passage(text) => {
                let node = node_id::passage(passage);
                if !tagged_passages.contains(&passage) {
                    for (at, number) in numbers_in(text) {
                        let shown = text[at..].split(|c: char| !(c.is_ascii_digit() || ",.".contains(c))).next();
                        if let Some(number) =
                            recognizable(shown.unwrap_or_default().trim_end_matches(['.', ',']), number)
                        {
                            let (words, years) = (words(text), years(text));
                            let place = Place { node: node.clone(), words, years, is_cell: false };
                            places.entry(number).or_default().push(place);
                        }
                    }
                }
                passage += 1;
            }
            Block::Table(table) => {
                let data = table.cells().iter().filter(|cell| table.role(cell) == CellRole::Data);
                for cell in data.filter(|cell| !tagged_cells.contains(&(table.number(), cell.row, cell.col))) {
                    let number = parse_cell_number(&cell.text).and_then(|number| recognizable(&cell.text, number));
                    if let Some(number) = number {
                        let words = words(&table.path(&table.row_headers_of(cell)));
                        let years = years(&table.path(&table.column_headers_of(cell)));
                        let place = Place { node: node_id::cell(table, cell), words, years, is_cell: true };
                        places.entry(number).or_default().push(place);
                    }
                }
            }
        }
    }
    places
}

fn words(text: &str) -> BTreeSet<String> {
    let word = |word: &String| word.len() > 2 && word.bytes().all(|b| b.is_ascii_alphabetic());
    let plain = tokenize(text)
        .into_iter()
        .filter(word)
        .filter(|word| !["the", "and", "for", "from", "total"].contains(&word.as_str()));
    plain.map(|word| word.trim_end_matches('s').to_owned()).collect()
}

fn years(text: &str) -> BTreeSet<String> {
    let is_year = |word: &String| word.len() == 4 && word.starts_with("20") && word.bytes().all(|b| b.is_ascii_digit());
    tokenize(text).into_iter().filter(is_year).collect()
}
