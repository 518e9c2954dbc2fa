//! The tables that a question's words and vector put first and those linked to them, with what a reranker sees of each.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_features::{Schema, blocks, features, flag};

use crate::cells::{CellMatch, Words};
use crate::corpus::{Corpus, Hit, Query, TableRef};
use crate::error::CorpusError;
use crate::fields::Field;
use crate::links::{self, LinkKind};
use crate::listwise::Marks;
use crate::retrieve::Weights;
use crate::scores::Scores;

/// How many tables each signal proposes: their sum, their vectors alone, their words alone.
const BY_SUM: usize = 180;
const BY_VECTOR: usize = 50;
const BY_WORDS: usize = 50;
/// The first tables, from which links are followed.
const SEEDS: usize = 20;
/// A key that more tables have links the [`NEAREST`] alone, where it speaks of parts of one table, else none of them.
const MOST_LINKED: usize = 60;
/// A key that more tables have links none of them.
const MOST_COMPARED: usize = 4000;
/// Of many tables with the columns, or the first column, of a seed, those whose vectors are nearest to its own.
const NEAREST: usize = 10;
/// Candidates at most.
const MOST: usize = 400;
/// Candidates whose cells are looked at.
const READ: usize = 120;
/// What stands for a link that is not there: below any difference of two sums.
const NONE: f32 = -10.0;

/// What is looked at beside a question's words and vector; a part that is left out costs no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CandidateConfig {
    /// The links that are followed.
    pub links: Vec<LinkKind>,
    /// Whether rows and cells of the first candidates are looked at.
    pub cells: bool,
    /// Whether the first candidates are put in order once more, seen beside each other.
    pub listwise: bool,
    /// Whether questions' vectors are moved to where those of their tables were in training.
    pub adapter: bool,
}

impl Default for CandidateConfig {
    fn default() -> Self {
        Self { links: LinkKind::ALL.to_vec(), cells: true, listwise: true, adapter: true }
    }
}

blocks! {
    /// What the reranker sees of a candidate.
    struct Row {
        own: Signals = "{}",
        below_best: Signals = "{}.below_best",
        place: Place = "rank.{}",
        linked: Linked = "linked.{}",
        near: Near = "near.{}",
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
    /// How near its vector is to those of the first tables beside it: parts of one table say the same of themselves.
    struct Near(first: f32, seed: (f32, f32), found: &Found) {
        first: first,
        seed: seed.0,
        seed_sum: seed.1,
        part: found.nearest_part,
    }
}

features! {
    /// What table and question are like.
    struct Shape(table: &TableRecord, query: &Query) {
        rows: (table.rows.len() as f32).ln_1p(),
        columns: (table.column_headers.len() as f32).ln_1p(),
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
    /// The greatest product of vectors with a seed that it may be a part of one table with; 0 where there is none.
    nearest_part: f32,
}

impl Found {
    const EMPTY: Self = Self { best: [NONE; LinkKind::COUNT], seeds: 0, parts: 0, is_seed: false, nearest_part: 0.0 };
}

/// A first table and its vector.
pub(crate) struct Seed {
    pub(crate) hit: Hit,
    vector: Vec<f32>,
}

impl Seed {
    pub(crate) fn new(corpus: &Corpus, hit: Hit) -> Self {
        Self { hit, vector: corpus.vector(hit.table) }
    }

    /// Its vector · that of a table.
    pub(crate) fn product(&self, corpus: &Corpus, at: TableRef) -> f32 {
        corpus.segment(at).map_or(0.0, |segment| segment.product(at.table, &self.vector))
    }
}

/// Candidates for a question.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// By falling sum.
    pub hits: Vec<Hit>,
    /// `[candidates, Candidates::width()]`
    pub rows: Vec<f32>,
    /// Of each what tells whether it and another are parts of one table; nothing where they are not seen beside each other.
    pub(crate) marks: Vec<Marks>,
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
    pub fn new(
        corpus: &Corpus,
        query: &Query,
        weights: &Weights,
        config: &CandidateConfig,
    ) -> Result<Self, CorpusError> {
        let scores = corpus.scores(query, true);
        Self::of(corpus, query, &scores, &Proposed::new(corpus, &scores, weights, &config.links)?, config)
    }

    /// Those that are proposed.
    pub(crate) fn of(
        corpus: &Corpus,
        query: &Query,
        scores: &Scores,
        proposed: &Proposed,
        config: &CandidateConfig,
    ) -> Result<Self, CorpusError> {
        let Proposed { hits, found, seeds } = proposed;
        let (rows, marks) = rows(corpus, query, scores, hits, (found, seeds), config)?;
        Ok(Self { hits: hits.clone(), rows, marks })
    }

    /// The hits with other scores, by falling score, each with its place among them.
    pub(crate) fn ordered(&self, corpus: &Corpus, scores: &[f32]) -> Vec<(usize, Hit)> {
        let hits = self.hits.iter().zip(scores).map(|(hit, &score)| Hit { score, ..*hit });
        let mut order: Vec<(usize, Hit)> = hits.enumerate().collect();
        order.sort_by(|(_, a), (_, b)| corpus.order(a, b));
        order
    }
}

/// The tables that words, vector and links propose.
pub(crate) struct Proposed {
    /// By falling sum.
    pub(crate) hits: Vec<Hit>,
    found: HashMap<TableRef, Found>,
    seeds: Vec<Seed>,
}

impl Proposed {
    pub(crate) fn new(
        corpus: &Corpus,
        scores: &Scores,
        weights: &Weights,
        links: &[LinkKind],
    ) -> Result<Self, CorpusError> {
        let mut hits = corpus.best(BY_SUM, |at| weights.of(scores, at));
        let mut known: HashSet<TableRef> = hits.iter().map(|hit| hit.table).collect();
        let seeds: Vec<Seed> = hits.iter().take(SEEDS).map(|hit| Seed::new(corpus, *hit)).collect();
        let best_sum = hits.first().map_or(0.0, |hit| hit.score);
        let by_words = corpus.best(BY_WORDS, |at| scores.lexical(at)[Field::COUNT] + 1e-3 * scores.lexical(at)[5]);
        for hit in corpus.best(BY_VECTOR, |at| scores.dense(at)).into_iter().chain(by_words) {
            if known.insert(hit.table) {
                hits.push(Hit { score: weights.of(scores, hit.table), ..hit });
            }
        }
        let (found, linked) = follow(corpus, &seeds, best_sum, links)?;
        for table in linked {
            if hits.len() >= MOST {
                break;
            }
            if known.insert(table) {
                hits.push(Hit { table, score: weights.of(scores, table) });
            }
        }
        hits.sort_by(|a, b| corpus.order(a, b));
        Ok(Self { hits, found, seeds })
    }

    /// Adds the tables that are likely parts of one table with a good one; whether there are any that were not proposed.
    pub(crate) fn add_parts(
        &mut self,
        corpus: &Corpus,
        scores: &Scores,
        weights: &Weights,
        links: &[LinkKind],
        good: Vec<TableRef>,
    ) -> Result<bool, CorpusError> {
        let mut known: HashSet<TableRef> = self.hits.iter().map(|hit| hit.table).collect();
        let before = known.len();
        let best_sum = self.seeds.first().map_or(0.0, |seed| seed.hit.score);
        for table in good {
            let seed = Seed::new(corpus, Hit { table, score: weights.of(scores, table) });
            let record = corpus.table(table)?;
            let marks = Marks::of(corpus, &record);
            for key in [links::header_key(&record), links::first_column_key(&record)].into_iter().flatten() {
                let Some(kind) = LinkKind::of(key).filter(|kind| links.contains(kind)) else { continue };
                for part in nearest(corpus, key, &seed, 0) {
                    if known.contains(&part) || !Marks::of(corpus, &corpus.table(part)?).is_part_with(&marks) {
                        continue;
                    }
                    known.insert(part);
                    let mut found =
                        Found { seeds: 1, parts: 1, nearest_part: seed.product(corpus, part), ..Found::EMPTY };
                    found.best[kind as usize] = seed.hit.score - best_sum;
                    self.found.entry(part).or_insert(found);
                    self.hits.push(Hit { table: part, score: weights.of(scores, part) });
                }
            }
        }
        self.hits.sort_by(|a, b| corpus.order(a, b));
        Ok(known.len() > before)
    }
}

/// What the seeds' links lead to, and the tables in the order in which they were met, possible parts of a seed's table first.
fn follow(
    corpus: &Corpus,
    seeds: &[Seed],
    best_sum: f32,
    kinds: &[LinkKind],
) -> Result<(HashMap<TableRef, Found>, Vec<TableRef>), CorpusError> {
    let mut found: HashMap<TableRef, Found> = HashMap::new();
    let (mut parts, mut others) = (Vec::new(), Vec::new());
    for seed in seeds {
        let hit = seed.hit;
        found.entry(hit.table).or_insert(Found::EMPTY).is_seed = true;
        let mut reached: HashMap<TableRef, Vec<LinkKind>> = HashMap::new();
        let mut of_seed: Vec<TableRef> = Vec::new();
        if kinds.is_empty() {
            continue;
        }
        for key in links::keys(&corpus.table(hit.table)?) {
            let Some(kind) = LinkKind::of(key).filter(|kind| kinds.contains(kind)) else { continue };
            let tables = match kind {
                LinkKind::Header | LinkKind::FirstColumn => nearest(corpus, key, seed, MOST_LINKED),
                LinkKind::Page | LinkKind::Values | LinkKind::Column => with_key(corpus, key, MOST_LINKED),
            };
            for table in tables.into_iter().filter(|table| *table != hit.table) {
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
            let is_part = kinds.contains(&LinkKind::Header) || kinds.contains(&LinkKind::FirstColumn);
            let into = found.entry(table).or_insert_with(|| {
                if is_part { &mut parts } else { &mut others }.push(table);
                Found::EMPTY
            });
            for &kind in kinds {
                let best = &mut into.best[kind as usize];
                *best = best.max(hit.score - best_sum);
            }
            into.seeds += 1;
            if is_part {
                into.parts += 1;
                into.nearest_part = into.nearest_part.max(seed.product(corpus, table));
            }
        }
    }
    parts.append(&mut others);
    Ok((found, parts))
}

/// The tables that have a key; none where more than `most` have it.
fn with_key(corpus: &Corpus, key: u64, most: usize) -> Vec<TableRef> {
    let mut tables: Vec<TableRef> = Vec::new();
    for (number, segment) in corpus.segments().iter().enumerate() {
        let live = segment.linked(key).iter().filter(|&&table| segment.is_live(table as usize));
        tables.extend(live.map(|&table| TableRef { segment: number as u32, table }));
        if tables.len() > most {
            return Vec::new();
        }
    }
    tables
}

/// The tables that have a key of a seed; of more than `few` those with the nearest vectors.
fn nearest(corpus: &Corpus, key: u64, seed: &Seed, few: usize) -> Vec<TableRef> {
    let mut tables = with_key(corpus, key, MOST_COMPARED);
    if tables.len() <= few {
        return tables;
    }
    tables.retain(|table| *table != seed.hit.table);
    let mut hits: Vec<Hit> =
        tables.into_iter().map(|table| Hit { table, score: seed.product(corpus, table) }).collect();
    hits.sort_by(|a, b| corpus.order(a, b));
    hits.into_iter().take(NEAREST).map(|hit| hit.table).collect()
}

fn rows(
    corpus: &Corpus,
    query: &Query,
    scores: &Scores,
    hits: &[Hit],
    (found, seeds): (&HashMap<TableRef, Found>, &[Seed]),
    config: &CandidateConfig,
) -> Result<(Vec<f32>, Vec<Marks>), CorpusError> {
    let signals: Vec<Signals> =
        hits.iter().map(|hit| Signals::of(&scores.lexical(hit.table), scores.dense(hit.table), hit.score)).collect();
    let best = Signals::greatest(signals.iter().copied());
    let best_sum = seeds.first().map_or(0.0, |seed| seed.hit.score);
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
    let marks = rows.par_chunks_exact_mut(width).enumerate().map(|(at, out)| -> Result<Marks, CorpusError> {
        let table = corpus.table(hits[at].table)?;
        let is_read = config.cells && (at < READ || found.contains_key(&hits[at].table));
        let cells = if is_read { CellMatch::of(&table, &words) } else { CellMatch::default() };
        let found = found.get(&hits[at].table).unwrap_or(&Found::EMPTY);
        let others = seeds.iter().filter(|seed| seed.hit.table != hits[at].table);
        let products: Vec<(f32, f32)> =
            others.map(|seed| (seed.product(corpus, hits[at].table), seed.hit.score - best_sum)).collect();
        let nearest = products.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Row {
            own: signals[at],
            below_best: signals[at].below(best),
            place: Place::of([at, by_dense[at], by_any[at], by_cells[at]]),
            linked: Linked::of(found),
            near: Near::of(products.first().map_or(0.0, |of| of.0), nearest.unwrap_or((0.0, NONE)), found),
            cells,
            shape: Shape::of(&table, query),
        }
        .write(out);
        Ok(if config.listwise { Marks::of(corpus, &table) } else { Marks::default() })
    });
    let marks: Vec<Marks> = marks.collect::<Result<_, _>>()?;
    Ok((rows, marks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::corpus_of;

    #[test]
    fn regression_parts_of_a_good_table_come_along_that_nothing_proposed() {
        let directory = tempfile::tempdir().unwrap();
        let record = |id: &str, caption: &str, header: [&str; 2], rows: &[[&str; 2]]| {
            serde_json::json!({"id": id, "caption": caption, "header": header, "rows": rows}).to_string()
        };
        let river = |number: usize| {
            record(&format!("r{number}"), &format!("Rivers of region {number}"), ["River", "Length"], &[["Po", "1"]])
        };
        let mut lines: Vec<String> = (0..500).map(river).collect();
        let counted = ["Herd", "Counted"];
        let medals = [["Gold", "x"], ["Gold", "y"], ["Silver", "z"]];
        lines.extend([
            record("first", "Zebra census: Kruger 1990", counted, &[["a", "1"]]),
            record("second", "Kruger 1990 of zebra census", counted, &[["b", "2"]]),
            record("other", "Budget hearing schedule", counted, &[["c", "3"]]),
            record("medals", "Figures on Lahti skiing winners", ["Medal", "Who"], &medals),
            record("of-medals", "Lahti skiing winners", ["Medal", "When"], &medals),
        ]);
        let corpus = corpus_of(directory.path(), &lines);
        let query = corpus.query("rivers of the regions").unwrap();
        let (scores, weights) = (corpus.scores(&query, true), Weights::default());
        let mut proposed = Proposed::new(&corpus, &scores, &weights, &LinkKind::ALL).unwrap();
        let before = proposed.hits.len();
        let has = |proposed: &Proposed, id: &str| {
            let table = corpus.find(id).unwrap();
            proposed.hits.iter().any(|hit| hit.table == table)
        };
        assert!(before < 500 && !has(&proposed, "second") && !has(&proposed, "of-medals"));
        let good = ["first", "medals"].map(|id| corpus.find(id).unwrap()).to_vec();
        assert!(proposed.add_parts(&corpus, &scores, &weights, &LinkKind::ALL, good.clone()).unwrap());
        assert!(has(&proposed, "second") && has(&proposed, "of-medals") && !has(&proposed, "other"));
        assert!(proposed.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
        assert!(!proposed.add_parts(&corpus, &scores, &weights, &LinkKind::ALL, good.clone()).unwrap());
        let mut none = Proposed::new(&corpus, &scores, &weights, &[]).unwrap();
        assert!(!none.add_parts(&corpus, &scores, &weights, &[], good).unwrap());
    }
}
