//! What the candidates for a question have of its words, alone and together with what they are linked to.

use std::collections::HashMap;

use tabsegnet_corpus::{Query, terms};
use tabsegnet_features::flag;

use crate::candidates::MOST;
use crate::links::{Links, Row, Words, hash, pair};
use crate::partial_links::PartialLinks;
use crate::reranker::Features;

/// Terms of a question that are looked at: bits of a mask.
pub(crate) const TERMS: usize = 64;

/// A question's terms as bits, with the share of each.
pub(crate) struct Terms {
    hashes: Vec<u32>,
    shares: Vec<f32>,
    /// Words beside each other, and the share of both.
    pairs: Vec<(u32, f32)>,
}

impl Terms {
    pub(crate) fn new(question: &str, query: &Query, shares: &[f32]) -> Self {
        let hashes = query.terms.iter().take(TERMS).map(|(term, _)| hash(term)).collect();
        let of: HashMap<&str, f32> =
            query.terms.iter().zip(shares).map(|((term, _), share)| (term.as_str(), *share)).collect();
        let words = terms(question);
        let share = |word: &String| of.get(word.as_str()).copied().unwrap_or(0.0);
        let pairs = words.iter().zip(words.iter().skip(1)).take(TERMS);
        let pairs = pairs.map(|(first, second)| (pair(first, second), share(first).min(share(second)))).collect();
        Self { hashes, shares: shares.iter().take(TERMS).copied().collect(), pairs }
    }

    fn of_pairs(&self, pairs: &[u32]) -> f32 {
        self.pairs.iter().filter(|(pair, _)| pairs.binary_search(pair).is_ok()).map(|(_, share)| share).sum()
    }

    fn mask(&self, words: &[u32]) -> u64 {
        let has = |hash: &u32| words.binary_search(hash).is_ok();
        self.hashes.iter().enumerate().filter(|(_, hash)| has(hash)).fold(0, |mask, (bit, _)| mask | 1 << bit)
    }

    pub(crate) fn share(&self, mask: u64) -> f32 {
        self.shares.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, share)| share).sum()
    }
}

/// What a question begins with.
pub(crate) struct Kind {
    who: f32,
    when: f32,
    place: f32,
    how_many: f32,
}

impl Kind {
    pub(crate) fn of(question: &str) -> Self {
        let text = format!(" {} ", question.to_lowercase());
        let has = |words: &[&str]| flag(words.iter().any(|word| text.contains(&format!(" {word} "))));
        Self {
            who: has(&["who", "whose", "whom"]),
            when: has(&["when", "what year", "which year", "what date"]),
            place: has(&["where", "what city", "what country", "which country", "which city"]),
            how_many: has(&["how many", "how much", "number of", "how long"]),
        }
    }
}

/// What the candidates have of the question, masks of terms by chunk.
pub(crate) struct Seen<'a> {
    links: &'a Links,
    partial: &'a PartialLinks,
    terms: &'a Terms,
    sums: &'a HashMap<usize, f32>,
    best: f32,
    /// Of each candidate its place by sum.
    ranks: HashMap<usize, usize>,
    /// Of each candidate its place by sum among tables.
    table_ranks: HashMap<usize, usize>,
    /// Of each candidate the terms in its title, and in its title and body.
    schema: HashMap<usize, (u64, u64)>,
    /// Of each table the terms of its rows, and the share of the best.
    rows: HashMap<usize, (Vec<u64>, f32)>,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(
        links: &'a Links,
        partial: &'a PartialLinks,
        chunks: &[usize],
        sums: &'a HashMap<usize, f32>,
        terms: &'a Terms,
    ) -> Self {
        let mut order: Vec<usize> = chunks.to_vec();
        let sum = |chunk: &usize| sums.get(chunk).copied().unwrap_or(0.0);
        order.sort_by(|a, b| sum(b).total_cmp(&sum(a)).then(a.cmp(b)));
        let is_table = |chunk: usize| links.words.get(chunk).is_some_and(|words| words.is_table);
        let ranks = order.iter().enumerate().map(|(rank, chunk)| (*chunk, rank)).collect();
        let tables = order.iter().filter(|chunk| is_table(**chunk));
        let table_ranks = tables.enumerate().map(|(rank, chunk)| (*chunk, rank)).collect();
        let (mut schema, mut rows) = (HashMap::new(), HashMap::new());
        for &chunk in chunks {
            let Some(Words { title, body, rows: of_rows, is_table, .. }) = links.words.get(chunk) else { continue };
            let title = terms.mask(title);
            schema.insert(chunk, (title, title | terms.mask(body)));
            if *is_table {
                let masks: Vec<u64> = of_rows.iter().map(|row| terms.mask(row)).collect();
                let best = masks.iter().map(|mask| terms.share(*mask)).fold(0.0, f32::max);
                rows.insert(chunk, (masks, best));
            }
        }
        let best = order.first().map_or(0.0, sum);
        Self { links, partial, terms, sums, best, ranks, table_ranks, schema, rows }
    }

    fn texts_of(&self, row: Row) -> impl Iterator<Item = u32> {
        self.links.texts_of.get(&row).into_iter().flatten().chain(self.partial.texts_of(row)).copied()
    }

    pub(crate) fn features(&self, chunk: usize, lexical: &[f32; 7], dense: f32, kind: &Kind) -> (Features, u64) {
        let [title, section, caption, header, first_column, cells, any] = *lexical;
        let sum = self.sums.get(&chunk).copied().unwrap_or(0.0);
        let (in_title, own) = self.schema.get(&chunk).copied().unwrap_or_default();
        let words = self.links.words.get(chunk);
        let title_length = words.map_or(0, |words| words.title.len());
        let is_table = words.is_some_and(|words| words.is_table);
        let mut found = Features {
            title,
            section,
            caption,
            header,
            first_column,
            cells,
            any,
            dense,
            sum,
            sum_below_best: sum - self.best,
            sum_rank: (self.ranks.get(&chunk).copied().unwrap_or(MOST) as f32).ln_1p(),
            is_table: flag(is_table),
            title_terms: self.terms.share(in_title),
            title_whole: flag(title_length > 0 && in_title.count_ones() as usize == title_length),
            own_terms: self.terms.share(own),
            linked_rank: (MOST as f32).ln_1p(),
            who: kind.who,
            when: kind.when,
            what_place: kind.place,
            how_many: kind.how_many,
            question_terms: (self.terms.hashes.len() as f32).ln_1p(),
            ..Features::default()
        };
        found.pairs = words.map_or(0.0, |words| self.terms.of_pairs(&words.pairs));
        for &other in self.links.beside.get(chunk).into_iter().flatten() {
            let other = other as usize;
            // What is not among the candidates has less than any of them.
            let (Some(sum), Some((_, mask))) = (self.sums.get(&other), self.schema.get(&other)) else { continue };
            found.beside_sum = found.beside_sum.max(*sum);
            found.beside_terms = found.beside_terms.max(self.terms.share(*mask));
            found.beside_gain = found.beside_gain.max(self.terms.share(mask | own) - self.terms.share(own));
        }
        let covered = match is_table {
            true => self.of_table(chunk, own, &mut found),
            false => self.of_text(chunk, own, &mut found),
        };
        (found, covered)
    }

    fn of_table(&self, chunk: usize, own: u64, found: &mut Features) -> u64 {
        let Some((masks, best)) = self.rows.get(&chunk) else { return own };
        let mut covered = own;
        found.best_row = *best;
        found.rows = (masks.len() as f32).ln_1p();
        found.linked_rank = (self.table_ranks.get(&chunk).copied().unwrap_or(MOST) as f32).ln_1p();
        for pairs in self.links.words.get(chunk).into_iter().flat_map(|words| &words.row_pairs) {
            found.row_pairs = found.row_pairs.max(self.terms.of_pairs(pairs));
        }
        for (row, mask) in masks.iter().enumerate() {
            let together = self.terms.share(own | mask);
            if together > found.row_and_schema {
                found.row_and_schema = together;
                covered = own | mask;
            }
            let row = Row { chunk: chunk as u32, row: row as u32 };
            for text in self.texts_of(row) {
                let Some((_, of_text)) = self.schema.get(&(text as usize)) else { continue };
                found.links += 1.0;
                found.linked_union = found.linked_union.max(self.terms.share(own | mask | of_text));
                found.linked_sum = found.linked_sum.max(self.sums.get(&(text as usize)).copied().unwrap_or(0.0));
            }
        }
        found.linked_gain = (found.linked_union - found.row_and_schema).max(0.0);
        found.links = found.links.ln_1p();
        covered
    }

    fn of_text(&self, chunk: usize, own: u64, found: &mut Features) -> u64 {
        let (mut best, mut covered) = (f32::NEG_INFINITY, 0);
        let by_title = self.links.rows_of.get(chunk).map_or(&[][..], Vec::as_slice);
        let rows: Vec<Row> = by_title.iter().chain(self.partial.rows_of(chunk)).copied().collect();
        found.links = (rows.len() as f32).ln_1p();
        let headers = self.links.headers_of.get(chunk).into_iter().flatten().chain(self.partial.headers_of(chunk));
        let mut headers: Vec<u32> = headers.map(|term| hash(term)).collect();
        headers.sort_unstable();
        found.linked_header = self.terms.share(self.terms.mask(&headers));
        for (at, row) in rows.iter().enumerate() {
            let table = row.chunk as usize;
            let (Some((masks, best_row)), Some((_, schema))) = (self.rows.get(&table), self.schema.get(&table)) else {
                continue;
            };
            let mask = masks.get(row.row as usize).copied().unwrap_or(0);
            let union = self.terms.share(own | mask | schema);
            let siblings = self.texts_of(*row).map(|text| text as usize);
            for sibling in siblings.filter(|sibling| *sibling != chunk) {
                let Some((_, of_sibling)) = self.schema.get(&sibling) else { continue };
                found.sibling_union = found.sibling_union.max(self.terms.share(own | mask | schema | of_sibling));
                found.sibling_sum = found.sibling_sum.max(self.sums.get(&sibling).copied().unwrap_or(0.0));
            }
            let of_table = self.sums.get(&table).copied().unwrap_or(0.0);
            let goodness = union + of_table;
            found.linked_table_best = found.linked_table_best.max(*best_row);
            if goodness > best {
                best = goodness;
                found.linked_by_title = flag(at < by_title.len());
                covered = mask | schema;
                found.linked_row = self.terms.share(mask);
                found.linked_schema = self.terms.share(*schema);
                found.row_and_schema = self.terms.share(mask | schema);
                found.linked_union = union;
                let words = self.links.words.get(table);
                found.row_pairs =
                    words.and_then(|of| of.row_pairs.get(row.row as usize)).map_or(0.0, |of| self.terms.of_pairs(of));
                found.linked_pairs = words.map_or(0.0, |of| self.terms.of_pairs(&of.pairs));
                found.linked_gain = union - self.terms.share(mask | schema);
                found.linked_sum = of_table;
                found.linked_rank = (self.table_ranks.get(&table).copied().unwrap_or(MOST) as f32).ln_1p();
                found.linked_is_best_row = flag(found.linked_row >= *best_row && *best_row > 0.0);
            }
        }
        found.sibling_gain = (found.sibling_union - found.linked_union).max(0.0);
        covered
    }
}
