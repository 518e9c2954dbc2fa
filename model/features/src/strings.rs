//! The distinct strings of a document and the words in them.

use std::collections::{BTreeSet, HashMap};

use tabsegnet_graph::{Node, NodeKind};
use tabsegnet_lexical::{for_each_token, number_of};

/// A word as the features see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Word {
    /// ln(1 + (N − n + ½) / (n + ½)) over the document's sentences, captions and headers.
    pub(crate) idf: f32,
    /// It starts with a digit.
    pub(crate) number: bool,
    /// The year that it is.
    pub(crate) year: Option<u16>,
}

impl Word {
    pub(crate) fn new(word: &str, holding: usize, units: usize) -> Self {
        let (holding, units) = (holding as f32, units as f32);
        let is_year = word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
        Self {
            idf: (1.0 + (units - holding + 0.5) / (holding + 0.5)).ln(),
            number: word.starts_with(|c: char| c.is_ascii_digit()),
            year: is_year.then(|| word.parse().ok()).flatten(),
        }
    }
}

/// One of each part of a node that is compared with the question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Parts<T> {
    /// Its own text.
    pub(crate) own: T,
    /// The path of its row headers.
    pub(crate) row: T,
    /// The path of its column headers.
    pub(crate) column: T,
    /// A text for its whole table.
    pub(crate) table: T,
}

impl<T> Parts<T> {
    pub(crate) fn map<U>(self, mut of: impl FnMut(T) -> U) -> Parts<U> {
        Parts { own: of(self.own), row: of(self.row), column: of(self.column), table: of(self.table) }
    }

    pub(crate) fn each_ref(&self) -> Parts<&T> {
        Parts { own: &self.own, row: &self.row, column: &self.column, table: &self.table }
    }

    /// In the order of the features.
    pub(crate) fn in_order(self) -> [T; 4] {
        [self.own, self.row, self.column, self.table]
    }
}

impl Parts<&str> {
    pub(crate) const NAMES: Self = Self { own: "own", row: "row", column: "column", table: "table" };
}

/// The strings of a node, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeStrings {
    pub(crate) parts: Parts<u32>,
    /// The text without headers.
    pub(crate) bare: u32,
}

/// Distinct strings of a document, each with its distinct words.
#[derive(Debug, Clone)]
pub struct Strings {
    texts: Vec<String>,
    words: Vec<String>,
    pub(crate) by_word: HashMap<String, u32>,
    pub(crate) known: Vec<Word>,
    /// How many sentences, captions and headers there are.
    pub(crate) units: usize,
    /// `[strings + 1]`
    offsets: Vec<u32>,
    /// Distinct words of each string, rising.
    types: Vec<u32>,
    /// Words of each string, counted as often as they stand there.
    pub(crate) lengths: Vec<u32>,
    pub(crate) nodes: Vec<NodeStrings>,
    /// Table of each node, counted from 0 by first node; `None` for passages.
    pub(crate) table: Vec<Option<u32>>,
    pub(crate) tables: usize,
    /// Strings other than whole nodes whose vectors are compared.
    compared: Vec<u32>,
}

impl Strings {
    /// Of a document's nodes and what the rankers read of them (`own`, `[nodes]`).
    pub fn new(nodes: &[Node], own: &[String]) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut texts = Vec::new();
        let mut number = |text: &str| {
            let number = number_of(&mut numbers, text);
            if number as usize == texts.len() {
                texts.push(text.to_owned());
            }
            number
        };
        number("");
        let (table, tables) = tables_of(nodes);
        let of_tables: Vec<u32> = table_texts(nodes, own, &table, tables).iter().map(|text| number(text)).collect();
        let strings = nodes.iter().zip(own).zip(&table).map(|((node, own), table)| {
            let (row, column) = match (&node.place, node.kind) {
                (Some(place), NodeKind::Cell) => (place.row_path.as_str(), place.column_path.as_str()),
                (_, NodeKind::RowHeader) => (own.as_str(), ""),
                (_, NodeKind::ColumnHeader) => ("", own.as_str()),
                _ => ("", ""),
            };
            let of_table = table.map_or(0, |table| of_tables[table as usize]);
            let parts = Parts { own: number(own), row: number(row), column: number(column), table: of_table };
            NodeStrings { parts, bare: number(&node.text) }
        });
        let strings: Vec<NodeStrings> = strings.collect();
        let others = |node: &NodeStrings| [node.parts.row, node.parts.column, node.parts.table];
        let compared: BTreeSet<u32> = strings.iter().flat_map(others).filter(|&string| string > 0).collect();
        let units: BTreeSet<u32> = nodes
            .iter()
            .zip(&strings)
            .filter(|(node, _)| node.kind != NodeKind::Cell)
            .map(|(_, strings)| strings.parts.own)
            .collect();

        let mut by_word: HashMap<String, u32> = HashMap::new();
        let mut words = Vec::new();
        let (mut offsets, mut types, mut lengths) = (vec![0], Vec::new(), Vec::new());
        for text in &texts {
            let mut own = Vec::new();
            for_each_token(text, |token| {
                let word = number_of(&mut by_word, token);
                if word as usize == words.len() {
                    words.push(token.clone());
                }
                own.push(word);
            });
            lengths.push(own.len() as u32);
            own.sort_unstable();
            own.dedup();
            types.extend(own);
            offsets.push(types.len() as u32);
        }
        let mut holding = vec![0; words.len()];
        for &unit in &units {
            for &word in &types[offsets[unit as usize] as usize..offsets[unit as usize + 1] as usize] {
                holding[word as usize] += 1;
            }
        }
        let known = words.iter().zip(&holding).map(|(word, &holding)| Word::new(word, holding, units.len())).collect();
        Self {
            texts,
            words,
            by_word,
            known,
            units: units.len(),
            offsets,
            types,
            lengths,
            nodes: strings,
            table,
            tables,
            compared: compared.into_iter().collect(),
        }
    }

    /// The words, for which vectors are wanted.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Paths and tables, for which vectors of the ranker's encoder are wanted, in order of their
    /// numbers.
    pub fn compared(&self) -> impl ExactSizeIterator<Item = &str> {
        self.compared.iter().map(|&string| self.texts[string as usize].as_str())
    }

    pub(crate) fn compared_numbers(&self) -> &[u32] {
        &self.compared
    }

    /// The table of each node.
    pub(crate) fn tables_of_nodes(&self) -> impl Iterator<Item = Option<usize>> {
        self.table.iter().map(|table| table.map(|table| table as usize))
    }

    /// The table of a node.
    pub(crate) fn table_of(&self, node: usize) -> Option<usize> {
        self.table[node].map(|table| table as usize)
    }

    pub(crate) fn text(&self, string: u32) -> &str {
        &self.texts[string as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Distinct words of a string, by number, rising.
    pub(crate) fn words_of(&self, string: u32) -> &[u32] {
        &self.types[self.offsets[string as usize] as usize..self.offsets[string as usize + 1] as usize]
    }
}

fn tables_of(nodes: &[Node]) -> (Vec<Option<u32>>, usize) {
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    let table = nodes.iter().map(|node| {
        let place = node.place.as_ref()?;
        let next = numbers.len() as u32;
        Some(*numbers.entry(place.table).or_insert(next))
    });
    let table = table.collect();
    (table, numbers.len())
}

/// A text for each table: its caption and its row headers, each once.
fn table_texts(nodes: &[Node], own: &[String], table: &[Option<u32>], tables: usize) -> Vec<String> {
    let mut seen: Vec<BTreeSet<&str>> = vec![BTreeSet::new(); tables];
    let mut texts = vec![String::new(); tables];
    for ((node, own), table) in nodes.iter().zip(own).zip(table) {
        let Some(table) = table.map(|table| table as usize) else { continue };
        if matches!(node.kind, NodeKind::Caption | NodeKind::RowHeader) && !own.is_empty() && seen[table].insert(own) {
            if !texts[table].is_empty() {
                texts[table].push_str(" | ");
            }
            texts[table].push_str(own);
        }
    }
    texts
}
