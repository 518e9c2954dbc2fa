//! What the first candidates of a question are to each other: parts of one table are wanted together or not at all.

use std::collections::BTreeMap;

use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_features::{Schema as _, blocks, features, flag};

use crate::candidates::{Candidates, Seed};
use crate::corpus::{Corpus, Hit};
use crate::fields::for_each_term;
use crate::links;

/// Candidates that are put in order once more; fewer are left as they are.
pub(crate) const ORDERED: usize = 150;
/// The first of them, which the others are set beside.
const FIRST: usize = 20;
/// The share of common words, weighed by idf, from which tables with the same columns, or first column, are parts of one.
const SAME_WORDS: f32 = 0.5;
/// How much of the way to the best part's score another is lifted. This and the share were chosen on training questions that the
/// trees had not seen: 538 to 1,000 a set.
const PULL: f32 = 0.8;
/// What stands for a part that is not there: below any difference of two scores.
const NONE: f32 = -30.0;

blocks! {
    /// What is seen of a candidate beside its own row.
    struct Beside {
        standing: Standing = "{}",
        best: Likeness = "best.{}",
        parts: Parts = "parts.{}",
        nearest: Nearest = "nearest.{}",
    }
}

features! {
    /// Its score by the trees that see it alone.
    struct Standing(score: f32, best: f32, rank: usize) {
        score: score,
        below_best: score - best,
        rank: (rank as f32).ln_1p(),
    }
}

features! {
    /// What it and another table have in common; of the best one, or the next best for the best.
    struct Likeness(a: &Marks, b: &Marks, product: f32) {
        header: flag(a.same_header(b)),
        first_column: flag(a.same_first_column(b)),
        words: a.share_in_common(b, |_| 1.0),
        product: product,
    }
}

features! {
    /// The first tables that may be parts of one table with it: with the same columns or the same first column.
    struct Parts {
        /// How many.
        count,
        /// The best one's score, less the best of all.
        below_best,
        /// The greatest share of words in common, and product of vectors.
        words,
        product,
        /// Their shares of the question, of those with the same words, of all by words and by products.
        share,
        share_same,
        share_words,
        share_product,
    }
}

features! {
    /// Of these the one that says most nearly the same of itself.
    struct Nearest {
        below_best,
        rank,
        words,
        product,
        header,
        first_column,
    }
}

/// What tells whether two tables are parts of one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Marks {
    header: Option<u64>,
    first_column: Option<u64>,
    /// Of title, headings and caption, as hashes, rising, each with its idf.
    words: Vec<(u32, f32)>,
}

impl Marks {
    pub(crate) fn of(corpus: &Corpus, table: &TableRecord) -> Self {
        let mut words = BTreeMap::new();
        for text in [&table.title, &table.section, &table.caption] {
            for_each_term(text, |term| {
                words.entry(links::hash([term]) as u32).or_insert_with(|| corpus.idf(term));
            });
        }
        Self {
            header: links::header_key(table),
            first_column: links::first_column_key(table),
            words: words.into_iter().collect(),
        }
    }

    fn same_header(&self, other: &Self) -> bool {
        self.header.is_some() && self.header == other.header
    }

    fn same_first_column(&self, other: &Self) -> bool {
        self.first_column.is_some() && self.first_column == other.first_column
    }

    /// Whether it and another have the same columns or first column, and most of what their words tell.
    pub(crate) fn is_part_with(&self, other: &Self) -> bool {
        (self.same_header(other) || self.same_first_column(other))
            && self.share_in_common(other, |idf| idf) >= SAME_WORDS
    }

    /// The share of the words of both that both have, each with the weight that its idf gives it.
    fn share_in_common(&self, other: &Self, weight: impl Fn(f32) -> f32) -> f32 {
        let sum = |words: &[(u32, f32)]| words.iter().map(|(_, idf)| weight(*idf)).sum::<f32>();
        let is_common = |word: &u32| other.words.binary_search_by_key(word, |(word, _)| *word).is_ok();
        let common: f32 = self.words.iter().filter(|(word, _)| is_common(word)).map(|(_, idf)| weight(*idf)).sum();
        let all = sum(&self.words) + sum(&other.words) - common;
        if all > 0.0 { common / all } else { 0.0 }
    }
}

/// The first candidates in the order of the trees that see each alone, with what is seen of them beside the others.
#[derive(Debug, Clone)]
pub struct Listwise {
    /// By falling score.
    pub hits: Vec<Hit>,
    /// Their places among the candidates.
    pub places: Vec<usize>,
    /// `[ORDERED at most, Listwise::width()]`
    pub rows: Vec<f32>,
}

impl Listwise {
    /// Numbers of a row.
    pub fn width() -> usize {
        Candidates::width() + Beside::COUNT
    }

    /// Names of a row's numbers.
    pub fn names() -> Vec<String> {
        let mut names = Candidates::names();
        names.extend(Beside::names().iter().map(|name| format!("beside.{name}")));
        names
    }

    /// All candidates by their `scores`, and the rows of the first.
    pub fn new(corpus: &Corpus, candidates: &Candidates, scores: &[f32]) -> Self {
        let (places, hits): (Vec<usize>, Vec<Hit>) = candidates.ordered(corpus, scores).into_iter().unzip();
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let first: Vec<Seed> = hits.iter().take(FIRST).map(|hit| Seed::new(corpus, *hit)).collect();
        let sum: f32 = hits.iter().map(|hit| (hit.score - best).exp()).sum();
        let width = Candidates::width();
        let mut rows = Vec::with_capacity(ORDERED.min(hits.len()) * Self::width());
        for (rank, (hit, &place)) in hits.iter().zip(&places).take(ORDERED).enumerate() {
            rows.extend_from_slice(&candidates.rows[place * width..(place + 1) * width]);
            let start = rows.len();
            rows.resize(start + Beside::COUNT, 0.0);
            let marks = &candidates.marks[place];
            let others: Vec<Other> = first
                .iter()
                .zip(&places)
                .enumerate()
                .filter(|(at, _)| *at != rank)
                .map(|(at, (seed, &place))| Other {
                    rank: at,
                    below_best: seed.hit.score - best,
                    likeness: Likeness::of(marks, &candidates.marks[place], seed.product(corpus, hit.table)),
                })
                .collect();
            Beside {
                standing: Standing::of(hit.score, best, rank),
                best: others.first().map_or_else(Likeness::default, |other| other.likeness),
                parts: Parts::of(&others, sum),
                nearest: Nearest::of(&others),
            }
            .write(&mut rows[start..]);
        }
        Self { hits, places, rows }
    }

    /// The hits with the scores of their rows, those without a row behind them; then by falling score, parts of one table nearer
    /// to the best of them.
    pub(crate) fn ordered(mut self, corpus: &Corpus, candidates: &Candidates, scores: &[f32]) -> Vec<Hit> {
        let least = scores.iter().copied().fold(f32::INFINITY, f32::min);
        let last = self.hits.get(scores.len().saturating_sub(1)).map_or(0.0, |hit| hit.score);
        for (at, hit) in self.hits.iter_mut().enumerate() {
            hit.score = scores.get(at).copied().unwrap_or(least + (hit.score - last) - 1.0);
        }
        let marks: Vec<&Marks> = self.places.iter().map(|&place| &candidates.marks[place]).collect();
        let scores: Vec<f32> = self.hits.iter().map(|hit| hit.score).collect();
        self.hits.iter_mut().zip(lifted(&marks, &scores)).for_each(|(hit, score)| hit.score = score);
        self.hits.sort_by(|a, b| corpus.order(a, b));
        self.hits
    }
}

/// The scores, those of parts of one table nearer to the best of them.
fn lifted(marks: &[&Marks], scores: &[f32]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    let mut lifted = scores.to_vec();
    // By falling score: the first of each is its best.
    let mut of_one_table: Vec<Vec<usize>> = Vec::new();
    for at in order {
        let is_part = |other: &usize| marks[at].is_part_with(marks[*other]);
        match of_one_table.iter_mut().find(|parts| parts.iter().any(is_part)) {
            Some(parts) => {
                lifted[at] += PULL * (scores[parts[0]] - scores[at]);
                parts.push(at);
            }
            None => of_one_table.push(vec![at]),
        }
    }
    lifted
}

/// One of the first tables, as a candidate sees it.
struct Other {
    rank: usize,
    below_best: f32,
    likeness: Likeness,
}

impl Likeness {
    fn is_part(&self) -> bool {
        self.header > 0.0 || self.first_column > 0.0
    }
}

impl Parts {
    fn of(others: &[Other], sum: f32) -> Self {
        let mut found = Self { below_best: NONE, ..Self::default() };
        for Other { below_best, likeness, .. } in others {
            let share = below_best.exp() / sum.max(f32::MIN_POSITIVE);
            found.share_words += share * likeness.words;
            found.share_product += share * likeness.product;
            if likeness.is_part() {
                found.count += 1.0;
                found.below_best = found.below_best.max(*below_best);
                found.words = found.words.max(likeness.words);
                found.product = found.product.max(likeness.product);
                found.share += share;
                found.share_same += share * likeness.words * likeness.words;
            }
        }
        found
    }
}

impl Nearest {
    fn of(others: &[Other]) -> Self {
        let nearness = |of: &Other| of.likeness.words + of.likeness.product;
        let parts = others.iter().filter(|other| other.likeness.is_part());
        // Of equal ones the one with the higher score.
        let nearest = parts.reduce(|best, next| if nearness(next) > nearness(best) { next } else { best });
        match nearest {
            Some(Other { rank, below_best, likeness }) => Self {
                below_best: *below_best,
                rank: (*rank as f32).ln_1p(),
                words: likeness.words,
                product: likeness.product,
                header: likeness.header,
                first_column: likeness.first_column,
            },
            None => Self { below_best: NONE, rank: (FIRST as f32).ln_1p(), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_table_go_to_the_best_of_them() {
        let marks = |header: u64, first_column: u64, words: &[u32]| Marks {
            header: Some(header),
            first_column: (first_column > 0).then_some(first_column),
            words: words.iter().map(|word| (*word, 1.0)).collect(),
        };
        let best = marks(1, 5, &[1, 2, 3]);
        let by_rows = marks(1, 0, &[1, 2, 3, 4]);
        let of_that_by_columns = marks(2, 5, &[1, 2]);
        let other_words = marks(1, 5, &[3, 7, 8, 9]);
        let other_columns = marks(3, 0, &[1, 2, 3]);
        let all = [&by_rows, &other_words, &best, &other_columns, &of_that_by_columns];
        let scores = lifted(&all, &[-1.0, 0.5, 2.0, 0.0, -3.0]);
        let expected = [-1.0 + PULL * 3.0, 0.5, 2.0, 0.0, -3.0 + PULL * 5.0];
        assert!(scores.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{scores:?}");
        assert!(lifted(&[], &[]).is_empty());
    }
}
