//! How a table fits the sentences of its document: which of several similar tables they are about. No
//! question changes it.

use std::collections::BTreeSet;

use tabsegnet_graph::{Node, NodeKind};

use crate::schema::{Schema as _, flag};
use crate::strings::Strings;
use crate::vectors::{Vectors, dot};

/// Sentences before and after a table that stand near it.
const NEAR: usize = 3;
/// Least digits of a number that is distinctive.
const DIGITS: usize = 3;

crate::blocks! {
    /// Of a node's table.
    pub(crate) struct TableFit {
        own: Fit = "{}",
        below_best: Fit = "{}.below_best",
        years: Years = "{}",
    }
}

crate::features! {
    /// Of a table and the document's sentences.
    pub(crate) struct Fit(table: &Member, text: &Text<'_>, near: &BTreeSet<u32>) {
        numbers: text.mentions(&table.numbers).ln_1p(),
        share_of_numbers: text.mentions(&table.numbers) / table.numbers.len().max(1) as f32,
        share_of_words: text.share(&table.words, &text.words),
        share_of_words_near: text.share(&table.words, near),
        share_of_near: text.share(near, &table.words),
        share_of_years: text.mentions(&table.years) / table.years.len().max(1) as f32,
        cosine: dot(text.vectors.of_string(table.string), &text.mean),
    }
}

crate::features! {
    /// Of a table's last year, and those of the sentences and of all tables.
    pub(crate) struct Years(last: Option<u16>, of_text: Option<u16>, of_tables: Option<u16>) {
        years_after_text: years_after(last, of_text).clamp(-3.0, 3.0) / 3.0,
        years_after_tables: years_after(last, of_tables).clamp(-4.0, 0.0) / 4.0,
        has_year: flag(last.is_some()),
    }
}

fn years_after(year: Option<u16>, other: Option<u16>) -> f32 {
    year.zip(other).map_or(0.0, |(year, other)| f32::from(year) - f32::from(other))
}

/// A table.
pub(crate) struct Member {
    words: BTreeSet<u32>,
    /// Those of its words that are distinctive numbers, and those that are years.
    numbers: Vec<u32>,
    years: Vec<u32>,
    first: usize,
    last: usize,
    /// The text for it.
    string: u32,
}

impl Member {
    fn last_year(&self, strings: &Strings) -> Option<u16> {
        last_year(strings, &self.words)
    }
}

/// The document's sentences.
pub(crate) struct Text<'a> {
    strings: &'a Strings,
    vectors: &'a Vectors<'a>,
    words: BTreeSet<u32>,
    /// Mean of the sentences' vectors.
    mean: Vec<f32>,
}

impl Text<'_> {
    /// How many of `words` stand in the sentences.
    fn mentions(&self, words: &[u32]) -> f32 {
        words.iter().filter(|word| self.words.contains(word)).count() as f32
    }

    /// The share, by idf, of words of one set that stand in another; numbers do not count.
    fn share(&self, of: &BTreeSet<u32>, within: &BTreeSet<u32>) -> f32 {
        let word = |number: &u32| self.strings.known[*number as usize];
        let words = || of.iter().filter(|number| !word(number).number);
        let all: f32 = words().map(|number| word(number).idf).sum();
        let found: f32 = words().filter(|number| within.contains(number)).map(|number| word(number).idf).sum();
        if all > 0.0 { found / all } else { 0.0 }
    }
}

/// Of each table.
pub(crate) fn tables(nodes: &[Node], strings: &Strings, vectors: &Vectors<'_>) -> Vec<TableFit> {
    let mut tables: Vec<Option<Member>> = (0..strings.tables).map(|_| None).collect();
    let mut passages = Vec::new();
    for (number, (node, of)) in nodes.iter().zip(&strings.nodes).enumerate() {
        let string = if node.kind == NodeKind::Cell { of.bare } else { of.parts.own };
        match strings.table_of(number) {
            None => passages.push((number, string)),
            Some(table) => {
                let member = tables[table].get_or_insert_with(|| Member {
                    words: BTreeSet::new(),
                    numbers: Vec::new(),
                    years: Vec::new(),
                    first: number,
                    last: number,
                    string: of.parts.table,
                });
                member.words.extend(strings.words_of(string));
                member.last = number;
            }
        }
    }
    let mut tables: Vec<Member> = tables.into_iter().flatten().collect();
    let digits = |word: u32| strings.words()[word as usize].bytes().filter(u8::is_ascii_digit).count();
    for table in &mut tables {
        for &number in &table.words {
            let word = strings.known[number as usize];
            if word.year.is_some() {
                table.years.push(number);
            } else if word.number && digits(number) >= DIGITS {
                table.numbers.push(number);
            }
        }
    }
    let text = Text {
        strings,
        vectors,
        words: words_of(strings, passages.iter()),
        mean: mean(passages.iter().map(|(node, _)| vectors.of_node(*node))),
    };
    let near = |table: &Member| {
        let before = passages.iter().rev().filter(|(node, _)| *node < table.first).take(NEAR);
        let after = passages.iter().filter(|(node, _)| *node > table.last).take(NEAR);
        words_of(strings, before.chain(after))
    };
    let fits: Vec<Fit> = tables.iter().map(|table| Fit::of(table, &text, &near(table))).collect();
    let best = Fit::greatest(fits.iter().copied());
    let of_text = last_year(strings, &text.words);
    let of_tables = tables.iter().filter_map(|table| table.last_year(strings)).max();
    let of_table = |(table, &own): (&Member, &Fit)| TableFit {
        own,
        below_best: own.below(best),
        years: Years::of(table.last_year(strings), of_text, of_tables),
    };
    tables.iter().zip(&fits).map(of_table).collect()
}

fn words_of<'p>(strings: &Strings, passages: impl Iterator<Item = &'p (usize, u32)>) -> BTreeSet<u32> {
    passages.flat_map(|(_, string)| strings.words_of(*string)).copied().collect()
}

fn last_year(strings: &Strings, words: &BTreeSet<u32>) -> Option<u16> {
    words.iter().filter_map(|&word| strings.known[word as usize].year).max()
}

fn mean(vectors: impl Iterator<Item = Vec<f32>>) -> Vec<f32> {
    let (mut sum, mut count) = (Vec::new(), 0);
    for vector in vectors {
        sum.resize(vector.len(), 0.0);
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        count += 1;
    }
    sum.iter_mut().for_each(|sum| *sum /= count.max(1) as f32);
    sum
}
