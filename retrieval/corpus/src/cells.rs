//! What of a question the rows and cells of a table have.

use std::collections::{BTreeMap, HashMap};

use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_features::{features, flag};

use crate::fields::for_each_term;

/// Cells of a table that are looked at.
const MOST_CELLS: usize = 3000;

features! {
    /// What of the question, by idf, its rows and cells have.
    pub(crate) struct CellMatch {
        best_row,
        second_row,
        rows,
        row_and_schema,
        whole_cells,
        longest_cell,
        headers,
        all,
    }
}

/// A question's terms, numbered by their letters.
pub(crate) struct Words<'q> {
    numbers: HashMap<&'q str, usize>,
    /// `[terms]`: what share of the question each is.
    shares: Vec<f32>,
    /// Whether one begins with a byte: most words of a table are none by their first.
    begins: [bool; 256],
}

impl<'q> Words<'q> {
    pub(crate) fn new(terms: impl Iterator<Item = (&'q str, f32)>) -> Self {
        let terms: BTreeMap<&str, f32> = terms.collect();
        let numbers: HashMap<&str, usize> = terms.keys().zip(0..).map(|(term, number)| (*term, number)).collect();
        let mut begins = [false; 256];
        terms.keys().filter_map(|term| term.bytes().next()).for_each(|first| begins[usize::from(first)] = true);
        Self { numbers, shares: terms.into_values().collect(), begins }
    }

    fn number(&self, term: &str) -> Option<usize> {
        let first = term.bytes().next()?;
        self.begins[usize::from(first)].then(|| self.numbers.get(term).copied()).flatten()
    }

    fn none(&self) -> WordSet {
        WordSet(vec![0; self.shares.len().div_ceil(64)])
    }

    /// Puts the question's terms of a text into `into`; how many of its terms are the question's, and how many it has.
    fn mark(&self, text: &str, into: &mut WordSet) -> (usize, usize) {
        let (mut hits, mut all) = (0, 0);
        for_each_term(text, |term| {
            all += 1;
            if let Some(number) = self.number(term) {
                hits += 1;
                into.0[number / 64] |= 1 << (number % 64);
            }
        });
        (hits, all)
    }

    /// The sum of the shares of some, in the order of their numbers.
    fn sum(&self, set: &WordSet) -> f32 {
        let numbers = set.0.iter().enumerate().flat_map(|(at, &bits)| {
            let rest = |bits: &u64| Some(bits & (bits - 1)).filter(|bits| *bits != 0);
            std::iter::successors(Some(bits).filter(|bits| *bits != 0), rest)
                .map(move |bits| 64 * at + bits.trailing_zeros() as usize)
        });
        numbers.map(|number| self.shares[number]).sum()
    }
}

/// Some of a question's terms, a bit each.
#[derive(Clone)]
struct WordSet(Vec<u64>);

impl WordSet {
    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    fn extend(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(bits, other)| *bits |= other);
    }
}

/// The share of a question's terms from which a row counts as one that has them.
const LEAST_OF_ROW: f32 = 0.25;

impl CellMatch {
    pub(crate) fn of(table: &TableRecord, words: &Words) -> Self {
        let mut headers = words.none();
        table.column_headers.iter().for_each(|text| {
            words.mark(text, &mut headers);
        });
        let mut schema = headers.clone();
        for text in [&table.title, &table.section, &table.caption] {
            words.mark(text, &mut schema);
        }
        let mut found = Self { headers: words.sum(&headers), ..Self::default() };
        if !table.rows.is_empty() {
            found.row_and_schema = words.sum(&schema).max(0.0);
        }
        let (mut whole, mut all) = (words.none(), schema.clone());
        let (mut of_row, mut of_cell) = (words.none(), words.none());
        let mut left = MOST_CELLS;
        for row in &table.rows {
            of_row.clear();
            for cell in row.iter().take(left) {
                of_cell.clear();
                let (hits, terms) = words.mark(cell, &mut of_cell);
                if hits > 0 {
                    of_row.extend(&of_cell);
                }
                if hits > 0 && hits == terms {
                    whole.extend(&of_cell);
                    found.longest_cell = found.longest_cell.max(hits as f32);
                }
            }
            if !of_row.is_empty() {
                found.add_row(words.sum(&of_row));
                all.extend(&of_row);
                of_row.extend(&schema);
                found.row_and_schema = found.row_and_schema.max(words.sum(&of_row));
            }
            left = left.saturating_sub(row.len());
            if left == 0 {
                break;
            }
        }
        found.rows = found.rows.ln_1p();
        found.whole_cells = words.sum(&whole);
        found.all = words.sum(&all);
        found
    }

    fn add_row(&mut self, share: f32) {
        self.rows += flag(share > LEAST_OF_ROW);
        if share > self.best_row {
            self.second_row = self.best_row;
            self.best_row = share;
        } else {
            self.second_row = self.second_row.max(share);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fields::terms;

    fn table(title: &str, columns: &[&str], rows: &[&[&str]]) -> TableRecord {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| texts(row)).collect();
        TableRecord { title: title.into(), column_headers: texts(columns), rows, ..TableRecord::default() }
    }

    #[test]
    fn rows_and_cells_count_by_the_shares_of_their_terms() {
        let words = Words::new([("city", 0.125), ("lima", 0.25), ("peru", 0.5), ("1999", 0.125)].into_iter());
        let rows: &[&[&str]] = &[&["Lima", "in Peru", "1999"], &["Quito", "1999 1999"], &[], &["Peru Lima", "x"]];
        let found = CellMatch::of(&table("Cities", &["City", "Country"], rows), &words);
        assert_eq!(found.headers, 0.125);
        // The rows have 0.875, 0.125, nothing and 0.75; with the title and the headers, 0.125 more each.
        assert_eq!((found.best_row, found.second_row, found.row_and_schema), (0.875, 0.75, 1.0));
        assert_eq!(found.rows, 2.0_f32.ln_1p());
        // "Lima", "1999", "1999 1999" and "Peru Lima" are whole cells of the question's terms, two terms the longest.
        assert_eq!((found.whole_cells, found.longest_cell), (0.875, 2.0));
        assert_eq!(found.all, 1.0);
        let none = CellMatch::of(&table("Cities", &[], &[]), &words);
        assert_eq!((none.row_and_schema, none.all, none.best_row), (0.0, 0.125, 0.0));
    }

    #[test]
    fn cells_beyond_the_limit_are_not_looked_at() {
        let words = Words::new([("lima", 1.0)].into_iter());
        let wide = |at: usize| {
            let row: Vec<&str> = (0..MOST_CELLS + 1).map(|cell| if cell == at { "lima" } else { "x" }).collect();
            CellMatch::of(&table("", &[], &[&row, &["lima"]]), &words).best_row
        };
        assert_eq!((wide(MOST_CELLS - 1), wide(MOST_CELLS)), (1.0, 0.0));
    }

    /// The same with a list for each text, as it is told.
    fn plain(table: &TableRecord, share: &BTreeMap<&str, f32>) -> [f32; 8] {
        let sum = |texts: &[&str]| -> f32 {
            let all: Vec<String> = texts.iter().flat_map(|text| terms(text)).collect();
            share.iter().filter(|(term, _)| all.iter().any(|other| other == *term)).map(|(_, share)| share).sum()
        };
        let header: Vec<&str> = table.column_headers.iter().map(String::as_str).collect();
        let schema: Vec<&str> =
            [table.title.as_str(), &table.section, &table.caption].into_iter().chain(header.iter().copied()).collect();
        let (mut sums, mut with_schema, mut whole, mut longest, mut all) = (vec![], 0.0_f32, vec![], 0, schema.clone());
        for row in &table.rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            sums.push(sum(&cells));
            with_schema = with_schema.max(sum(&[cells.as_slice(), &schema].concat()));
            for &cell in &cells {
                let of_cell = terms(cell);
                if !of_cell.is_empty() && of_cell.iter().all(|term| share.contains_key(term.as_str())) {
                    whole.push(cell);
                    longest = longest.max(of_cell.len());
                }
            }
            all.extend(cells);
        }
        let rows = sums.iter().filter(|sum| **sum > LEAST_OF_ROW).count() as f32;
        sums.extend([0.0, 0.0]);
        sums.sort_by(|a, b| b.total_cmp(a));
        [sums[0], sums[1], rows.ln_1p(), with_schema, sum(&whole), longest as f32, sum(&header), sum(&all)]
    }

    proptest! {
        #[test]
        fn cells_match_as_the_plain_version_has_it(
            texts in proptest::collection::vec("[a-e]{0,2}( [a-eS]{1,2}){0,2}|[0-9,.]{1,4}|ßÉ é", 1..40),
            wanted in proptest::collection::btree_map("[a-e]{1,2}|[0-9]|é|ßé", 0.001..1.0_f32, 0..90),
            columns in 1..5_usize,
        ) {
            let (schema, cells) = texts.split_at(texts.len().min(4));
            let part = |at: usize| schema.get(at).cloned().unwrap_or_default();
            let header = schema.get(2..).unwrap_or_default().to_vec();
            let rows = cells.chunks(columns).map(<[String]>::to_vec).collect();
            let table = TableRecord { title: part(0), caption: part(1), column_headers: header, rows, ..TableRecord::default() };
            let wanted: BTreeMap<&str, f32> = wanted.iter().map(|(term, share)| (term.as_str(), *share)).collect();
            let found = CellMatch::of(&table, &Words::new(wanted.iter().map(|(term, share)| (*term, *share))));
            let found = [
                found.best_row, found.second_row, found.rows, found.row_and_schema, found.whole_cells,
                found.longest_cell, found.headers, found.all,
            ];
            // To the bit, but for the sign of 0.
            let bits = |values: [f32; 8]| values.map(|value| (value + 0.0).to_bits());
            prop_assert_eq!(bits(found), bits(plain(&table, &wanted)));
        }
    }
}
