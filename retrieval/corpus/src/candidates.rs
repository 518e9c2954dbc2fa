//! The tables that a question's words and vector put first and those linked to them, with what a reranker sees of each.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_features::{Schema, blocks, features, flag};

use crate::corpus::{Corpus, Hit, Query, Scores, TableRef};
use crate::error::CorpusError;
use crate::fields::{Field, for_each_term};
use crate::links::{self, LinkKind};
use crate::retrieve::Weights;

/// How many tables each signal proposes: their sum, their vectors alone, their words alone.
const BY_SUM: usize = 180;
const BY_VECTOR: usize = 50;
const BY_WORDS: usize = 50;
/// The first tables, from which links are followed.
const SEEDS: usize = 20;
/// A key that more tables have links none of them.
const MOST_LINKED: usize = 60;
/// Candidates at most.
const MOST: usize = 400;
/// Candidates whose cells are looked at.
const READ: usize = 120;
/// Cells of a table that are looked at.
const MOST_CELLS: usize = 3000;
/// What stands for a link that is not there: below any difference of two sums.
const NONE: f32 = -10.0;

blocks! {
    /// What the reranker sees of a candidate.
    struct Row {
        own: Signals = "{}",
        below_best: Signals = "{}.below_best",
        place: Place = "rank.{}",
        linked: Linked = "linked.{}",
        cells: CellMatch = "match.{}",
        shape: Shape = "{}",
    }
}

features! {
    /// The signals that the sum is made of, and the sum.
    struct Signals(lexical: &[f32; Field::COUNT + 1], dense: f32, sum: f32) {
        title: lexical[0],
        section: lexical[1],
        caption: lexical[2],
        header: lexical[3],
        first_column: lexical[4],
        cells: lexical[5],
        any: lexical[6],
        dense: dense,
        sum: sum,
    }
}

features! {
    /// Its rank among the candidates by each signal, as logarithms.
    struct Place(ranks: [usize; 4]) {
        sum: (ranks[0] as f32).ln_1p(),
        dense: (ranks[1] as f32).ln_1p(),
        any: (ranks[2] as f32).ln_1p(),
        cells: (ranks[3] as f32).ln_1p(),
    }
}

features! {
    /// The best sum of a table that it is linked to, less the best of all, by what links them; and how many link to it.
    struct Linked(found: &Found) {
        page: found.best[0],
        header: found.best[1],
        first_column: found.best[2],
        values: found.best[3],
        column: found.best[4],
        part: found.best[1].max(found.best[2]),
        seeds: found.seeds as f32,
        is_seed: flag(found.is_seed),
        seed_parts: found.parts as f32,
    }
}

features! {
    /// What of the question, by idf, its rows and cells have.
    struct CellMatch {
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

features! {
    /// What table and question are like.
    struct Shape(table: &TableRecord, query: &Query) {
        rows: (table.rows.len() as f32).ln_1p(),
        columns: (table.header.len() as f32).ln_1p(),
        has_title: flag(!table.title.is_empty()),
        has_caption: flag(!table.caption.is_empty()),
        question_terms: (query.terms.len() as f32).ln_1p(),
    }
}

/// What links of the first tables lead to a table.
#[derive(Debug, Clone, Copy)]
struct Found {
    best: [f32; LinkKind::COUNT],
    seeds: usize,
    parts: usize,
    is_seed: bool,
}

impl Found {
    const EMPTY: Self = Self { best: [NONE; LinkKind::COUNT], seeds: 0, parts: 0, is_seed: false };
}

/// Candidates for a question.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// By falling sum.
    pub hits: Vec<Hit>,
    /// `[candidates, Candidates::width()]`
    pub rows: Vec<f32>,
}

impl Candidates {
    /// Numbers of a row.
    pub fn width() -> usize {
        Row::COUNT
    }

    /// Names of a row's numbers.
    pub fn names() -> Vec<String> {
        Row::names()
    }

    /// The candidates for a question, by a sum of `weights`.
    ///
    /// # Errors
    /// A damaged file.
    pub fn new(corpus: &Corpus, query: &Query, weights: &Weights) -> Result<Self, CorpusError> {
        let scores = corpus.scores(query, true);
        let mut hits = corpus.best(BY_SUM, |at| weights.of(&scores, at));
        let mut known: HashSet<TableRef> = hits.iter().map(|hit| hit.table).collect();
        let seeds: Vec<Hit> = hits.iter().take(SEEDS).copied().collect();
        let best_sum = hits.first().map_or(0.0, |hit| hit.score);
        let by_words = corpus.best(BY_WORDS, |at| scores.lexical(at)[Field::COUNT] + 1e-3 * scores.lexical(at)[5]);
        for hit in corpus.best(BY_VECTOR, |at| scores.dense(at)).into_iter().chain(by_words) {
            if known.insert(hit.table) {
                hits.push(Hit { score: weights.of(&scores, hit.table), ..hit });
            }
        }
        let (found, linked) = follow(corpus, &seeds, best_sum)?;
        for table in linked {
            if hits.len() >= MOST {
                break;
            }
            if known.insert(table) {
                hits.push(Hit { table, score: weights.of(&scores, table) });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| corpus.id(a.table).cmp(corpus.id(b.table))));
        let rows = rows(corpus, query, &scores, &hits, &found)?;
        Ok(Self { hits, rows })
    }
}

/// What the seeds' links lead to, and the tables in the order in which they were met.
fn follow(
    corpus: &Corpus,
    seeds: &[Hit],
    best_sum: f32,
) -> Result<(HashMap<TableRef, Found>, Vec<TableRef>), CorpusError> {
    let mut found: HashMap<TableRef, Found> = HashMap::new();
    let mut order = Vec::new();
    for seed in seeds {
        found.entry(seed.table).or_insert(Found::EMPTY).is_seed = true;
        let mut reached: HashMap<TableRef, Vec<LinkKind>> = HashMap::new();
        let mut of_seed: Vec<TableRef> = Vec::new();
        for key in links::keys(&corpus.table(seed.table)?) {
            let Some(kind) = LinkKind::of(key) else { continue };
            let mut tables: Vec<TableRef> = Vec::new();
            for (number, segment) in corpus.segments().iter().enumerate() {
                let live = segment.linked(key).iter().filter(|&&table| segment.is_live(table as usize));
                tables.extend(live.map(|&table| TableRef { segment: number as u32, table }));
                if tables.len() > MOST_LINKED {
                    break;
                }
            }
            if tables.len() > MOST_LINKED {
                continue;
            }
            for table in tables.into_iter().filter(|table| *table != seed.table) {
                let kinds = reached.entry(table).or_insert_with(|| {
                    of_seed.push(table);
                    Vec::new()
                });
                kinds.push(kind);
            }
        }
        // Met by keys, which do not depend on segments; of one key by id.
        of_seed.sort_by(|a, b| corpus.id(*a).cmp(corpus.id(*b)));
        for table in of_seed {
            let kinds = &reached[&table];
            let into = found.entry(table).or_insert_with(|| {
                order.push(table);
                Found::EMPTY
            });
            for &kind in kinds {
                let best = &mut into.best[kind as usize];
                *best = best.max(seed.score - best_sum);
            }
            into.seeds += 1;
            into.parts += usize::from(kinds.contains(&LinkKind::Header) || kinds.contains(&LinkKind::FirstColumn));
        }
    }
    Ok((found, order))
}

fn rows(
    corpus: &Corpus,
    query: &Query,
    scores: &Scores,
    hits: &[Hit],
    found: &HashMap<TableRef, Found>,
) -> Result<Vec<f32>, CorpusError> {
    let signals: Vec<Signals> =
        hits.iter().map(|hit| Signals::of(&scores.lexical(hit.table), scores.dense(hit.table), hit.score)).collect();
    let best = Signals::greatest(signals.iter().copied());
    let ranks_by = |of: &dyn Fn(&Signals) -> f32| -> Vec<usize> {
        let mut order: Vec<usize> = (0..hits.len()).collect();
        order.sort_by(|&a, &b| of(&signals[b]).total_cmp(&of(&signals[a])).then(a.cmp(&b)));
        let mut ranks = vec![0; hits.len()];
        order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank);
        ranks
    };
    let (by_dense, by_any, by_cells) =
        (ranks_by(&|of| of.dense), ranks_by(&|of| of.any), ranks_by(&|of| of.cells + of.first_column));
    let words = Words::new(query.terms.iter().zip(&scores.shares).map(|((term, _), share)| (term.as_str(), *share)));
    let width = Row::COUNT;
    let mut rows = vec![0.0; hits.len() * width];
    rows.par_chunks_exact_mut(width).enumerate().try_for_each(|(at, out)| -> Result<(), CorpusError> {
        let table = corpus.table(hits[at].table)?;
        let is_read = at < READ || found.contains_key(&hits[at].table);
        let cells = if is_read { CellMatch::of(&table, &words) } else { CellMatch::default() };
        Row {
            own: signals[at],
            below_best: signals[at].below(best),
            place: Place::of([at, by_dense[at], by_any[at], by_cells[at]]),
            linked: Linked::of(found.get(&hits[at].table).unwrap_or(&Found::EMPTY)),
            cells,
            shape: Shape::of(&table, query),
        }
        .write(out);
        Ok(())
    })?;
    Ok(rows)
}

/// A question's terms, numbered by their letters.
struct Words<'q> {
    numbers: HashMap<&'q str, usize>,
    /// `[terms]`: what share of the question each is.
    shares: Vec<f32>,
    /// Whether one begins with a byte: most words of a table are none by their first.
    begins: [bool; 256],
}

impl<'q> Words<'q> {
    fn new(terms: impl Iterator<Item = (&'q str, f32)>) -> Self {
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
    fn of(table: &TableRecord, words: &Words) -> Self {
        let mut headers = words.none();
        table.header.iter().for_each(|text| {
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

    fn table(title: &str, header: &[&str], rows: &[&[&str]]) -> TableRecord {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| texts(row)).collect();
        TableRecord { title: title.into(), header: texts(header), rows, ..TableRecord::default() }
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
        let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
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
            asked in proptest::collection::btree_map("[a-e]{1,2}|[0-9]|é|ßé", 0.001..1.0_f32, 0..90),
            columns in 1..5_usize,
        ) {
            let (schema, cells) = texts.split_at(texts.len().min(4));
            let part = |at: usize| schema.get(at).cloned().unwrap_or_default();
            let header = schema.get(2..).unwrap_or_default().to_vec();
            let rows = cells.chunks(columns).map(<[String]>::to_vec).collect();
            let table = TableRecord { title: part(0), caption: part(1), header, rows, ..TableRecord::default() };
            let asked: BTreeMap<&str, f32> = asked.iter().map(|(term, share)| (term.as_str(), *share)).collect();
            let found = CellMatch::of(&table, &Words::new(asked.iter().map(|(term, share)| (*term, *share))));
            let found = [
                found.best_row, found.second_row, found.rows, found.row_and_schema, found.whole_cells,
                found.longest_cell, found.headers, found.all,
            ];
            // To the bit, but for the sign of 0.
            let bits = |values: [f32; 8]| values.map(|value| (value + 0.0).to_bits());
            prop_assert_eq!(bits(found), bits(plain(&table, &asked)));
        }
    }
}
