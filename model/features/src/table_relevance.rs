//! Which of a document's tables its sentences speak of: what a table and the sentences have in common
//! that no other table has. No question changes it.

use std::collections::{HashMap, HashSet};

use tabsegnet_graph::{Node, NodeKind};

use crate::dates::{DAYS_OF_A_YEAR, Day};
use crate::marks::{Numbers, Order, announces, ends_in_colon, flag};
use crate::numbers::{Unit, significant};
use crate::phrases::Phrases;
use crate::strings::Strings;
use crate::vectors::dot;

/// Mentions as they are and less the best of the document's tables.
const COMPARED: [&str; 37] = [
    "numbers",
    "share_of_numbers",
    "numbers_of_its_own",
    "rounded_numbers",
    "rounded_numbers_of_its_own",
    "percents",
    "differences",
    "percents_of_its_own",
    "share_of_words",
    "share_of_sentences",
    "words_of_its_own",
    "share_of_words_of_its_own",
    "rarest_word_of_its_own",
    "before",
    "after",
    "before_of_its_own",
    "after_of_its_own",
    "rare_words",
    "before.cosine",
    "after.cosine",
    "row.cosine",
    "rows.cosine",
    "best.cosine",
    "cosine",
    "column.cosine",
    "best_three.cosine",
    "last_year",
    "share_of_years",
    "share_of_told_years",
    "days",
    "share_of_days",
    "days_of_its_own",
    "first_day",
    "last_day",
    "share_of_days_of_the_year",
    "first_year",
    "latest_year",
];

/// Mentions as they are.
const PLAIN: [&str; 16] = [
    "has_year",
    "last_year_of_tables",
    "years_before",
    "colon_before",
    "announced",
    "after_sentence",
    "gap",
    "tables_of_sentence",
    "numbers_after",
    "numbers_before",
    "rows",
    "columns",
    "caption_before",
    "place",
    "words_before",
    "unit_before",
];

/// Features a table.
pub(crate) const COUNT: usize = 2 * COMPARED.len() + PLAIN.len();

/// Sentences before and after a table whose vectors are compared with it.
const NEARBY: usize = 24;
/// Least digits of a number that is found again rounded or as a difference.
const DIGITS: usize = 3;
/// Least share of the greatest idf at which a word is rare.
const RARE: f32 = 0.7;
/// Nodes between a table and the sentence before it beyond which more do not count.
const FARTHEST: usize = 50;

/// What is compared of a table.
struct Table {
    words: HashSet<u32>,
    /// The first digits of its numbers.
    starts: HashSet<String>,
    /// Differences of two of its numbers in a row.
    differences: HashSet<String>,
    /// Changes between two of its numbers in a row, in percent.
    changes: HashSet<String>,
    days: HashSet<Day>,
}

/// What all sentences tell.
struct Mentions {
    words: HashSet<u32>,
    numbers: HashSet<String>,
    /// Digits of amounts in millions, and of all numbers.
    rounded: HashSet<String>,
    significant: HashSet<String>,
    percents: HashSet<String>,
    years: HashSet<u16>,
    days: HashSet<Day>,
}

/// What is looked at.
pub(crate) struct View<'a, 'v> {
    pub(crate) nodes: &'a [Node],
    pub(crate) strings: &'a Strings,
    pub(crate) phrases: &'a Phrases,
    pub(crate) order: &'a Order,
    pub(crate) numbers: &'a Numbers,
    /// Of length 1 or 0.
    pub(crate) node_vector: &'a dyn Fn(usize) -> &'v [f32],
    pub(crate) string_vector: &'a dyn Fn(u32) -> &'v [f32],
}

/// `[tables, COUNT]`
pub(crate) fn table_relevance(view: &View<'_, '_>) -> Vec<f32> {
    let View { strings, phrases, order, numbers, .. } = *view;
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); strings.tables];
    for (node, table) in strings.table.iter().enumerate() {
        if let Some(table) = table {
            members[*table as usize].push(node);
        }
    }
    let mentioned = view.mentioned();
    let tables: Vec<Table> = members.iter().map(|members| view.table(members)).collect();
    let words = counts(tables.iter().map(|table| &table.words));
    let own = counts(numbers.of_table.iter());
    let starts = counts(tables.iter().map(|table| &table.starts));
    let changes = counts(tables.iter().map(|table| &table.changes));
    let days = counts(tables.iter().map(|table| &table.days));
    let latest = phrases.table_years.iter().filter_map(|years| years.last()).max().copied();

    let mut values = vec![0.0; strings.tables * COUNT];
    for (number, (table, out)) in tables.iter().zip(values.chunks_exact_mut(COUNT)).enumerate() {
        let (compared, rest) = out.split_at_mut(COMPARED.len());
        let (of_numbers, rest_compared) = compared.split_at_mut(8);
        let found: Vec<&String> = numbers.of_table[number].intersection(&mentioned.numbers).collect();
        let alone = |counts: &HashMap<&String, usize>, found: &[&String]| {
            (found.iter().filter(|found| counts.get(*found) == Some(&1)).count() as f32).ln_1p()
        };
        let rounded: Vec<&String> = mentioned.rounded.intersection(&table.starts).collect();
        let percents: Vec<&String> = mentioned.percents.intersection(&table.changes).collect();
        let differences = table.differences.difference(&numbers.of_table[number]);
        let differences =
            differences.filter(|d| mentioned.rounded.contains(*d) || mentioned.significant.contains(*d)).count();
        of_numbers.copy_from_slice(&[
            (found.len() as f32).ln_1p(),
            found.len() as f32 / numbers.of_table[number].len().max(1) as f32,
            alone(&own, &found),
            (rounded.len() as f32).ln_1p(),
            alone(&starts, &rounded),
            (percents.len() as f32).ln_1p(),
            (differences as f32).ln_1p(),
            alone(&changes, &percents),
        ]);
        let (of_words, rest_compared) = rest_compared.split_at_mut(10);
        view.words(number, table, &mentioned, &words, of_words);
        let (of_vectors, of_time) = rest_compared.split_at_mut(8);
        let (of_years, of_days) = of_time.split_at_mut(3);
        view.vectors(number, &members[number], of_vectors);
        let mentioned_days: Vec<&Day> = table.days.intersection(&mentioned.days).collect();
        let own_days = mentioned_days.iter().filter(|day| days.get(*day) == Some(&1)).count();
        let is_mentioned = |day: Option<&Day>| flag(day.is_some_and(|day| mentioned.days.contains(day)));
        let of_the_year =
            |day: &&Day| mentioned.days.iter().any(|mentioned| mentioned % DAYS_OF_A_YEAR == **day % DAYS_OF_A_YEAR);
        let count = table.days.len().max(1) as f32;
        let is_year_mentioned = |year: Option<&u16>| flag(year.is_some_and(|year| mentioned.years.contains(year)));
        let years = &phrases.table_years[number];
        of_days.copy_from_slice(&[
            (mentioned_days.len() as f32).ln_1p(),
            mentioned_days.len() as f32 / count,
            (own_days as f32).ln_1p(),
            is_mentioned(table.days.iter().min()),
            is_mentioned(table.days.iter().max()),
            table.days.iter().filter(of_the_year).count() as f32 / count,
            is_year_mentioned(years.first()),
            is_year_mentioned(years.last()),
        ]);
        let mentioned_years = years.iter().filter(|year| mentioned.years.contains(year)).count() as f32;
        if let Some(&last) = years.last() {
            let last_mentioned = mentioned.years.iter().max().copied().unwrap_or(last);
            let after = |other: u16| f32::from(last) - f32::from(other);
            of_years[0] = after(last_mentioned).clamp(-4.0, 4.0);
            of_years[1] = mentioned_years / years.len() as f32;
            of_years[2] = mentioned_years / mentioned.years.len().max(1) as f32;
            rest[0] = 1.0;
            rest[1] = latest.map_or(0.0, |latest| after(latest).clamp(-5.0, 0.0));
            let before = order.near[number][0].map_or_else(Vec::new, |sentence| phrases.years_of(sentence));
            rest[2] = years.iter().filter(|year| before.contains(year)).count() as f32 / years.len() as f32;
        }
        view.plain(number, &members[number], &mut rest[3..PLAIN.len()]);
    }
    below_best(&mut values);
    values
}

fn below_best(values: &mut [f32]) {
    let mut best = [f32::NEG_INFINITY; COMPARED.len()];
    for row in values.chunks_exact(COUNT) {
        best.iter_mut().zip(row).for_each(|(best, value)| *best = best.max(*value));
    }
    for row in values.chunks_exact_mut(COUNT) {
        let (plain, below) = row.split_at_mut(COMPARED.len() + PLAIN.len());
        below.iter_mut().zip(plain.iter().zip(&best)).for_each(|(below, (value, best))| *below = value - best);
    }
}

/// In how many of the sets each member is.
fn counts<'s, T: std::hash::Hash + Eq + 's>(sets: impl Iterator<Item = &'s HashSet<T>>) -> HashMap<&'s T, usize> {
    let mut counts = HashMap::new();
    for member in sets.flatten() {
        *counts.entry(member).or_insert(0) += 1;
    }
    counts
}

impl View<'_, '_> {
    fn stems(&self, node: usize) -> impl Iterator<Item = u32> {
        let phrases = self.phrases.of_node[node].map(|phrase| &self.phrases.phrases[phrase as usize]);
        phrases.into_iter().flat_map(|phrase| &phrase.distinct).copied().filter(|&stem| self.phrases.is_word(stem))
    }

    fn mentioned(&self) -> Mentions {
        let Self { order, numbers, phrases, .. } = self;
        let mut mentioned = Mentions {
            words: HashSet::new(),
            numbers: HashSet::new(),
            rounded: HashSet::new(),
            significant: HashSet::new(),
            percents: HashSet::new(),
            years: HashSet::new(),
            days: HashSet::new(),
        };
        for &node in &order.passages {
            mentioned.words.extend(self.stems(node));
            mentioned.years.extend(phrases.years_of(node));
            mentioned.days.extend(phrases.days_of(node));
            for number in &numbers.of_node[node] {
                let digits = number.significant();
                if number.unit == Unit::Large && digits.len() >= DIGITS {
                    mentioned.rounded.insert(digits.clone());
                }
                if number.unit == Unit::Percent {
                    mentioned.percents.insert(number.digits.clone());
                }
                if number.tells() {
                    mentioned.numbers.insert(number.digits.clone());
                    mentioned.significant.insert(digits);
                }
            }
        }
        mentioned
    }

    fn table(&self, members: &[usize]) -> Table {
        let mut table = Table {
            words: members.iter().flat_map(|&node| self.stems(node)).collect(),
            starts: HashSet::new(),
            differences: HashSet::new(),
            changes: HashSet::new(),
            days: members.iter().flat_map(|&node| self.phrases.days_of(node)).collect(),
        };
        let mut grid: HashMap<(usize, usize), f64> = HashMap::new();
        for &node in members {
            let (Some(place), Some(number)) = (&self.nodes[node].place, self.numbers.of_node[node].first()) else {
                continue;
            };
            if let Ok(value) = number.digits.parse() {
                grid.insert((place.row, place.col), value);
            }
            for number in self.numbers.of_node[node].iter().filter(|number| number.tells()) {
                let digits = number.significant();
                let starts = (DIGITS..=5).filter_map(|length| digits.get(..length));
                table.starts.extend(starts.map(str::to_owned));
            }
        }
        for (&(row, col), &value) in &grid {
            for other in [1, 2].iter().filter_map(|step| grid.get(&(row, col + step))).filter(|other| **other != 0.0) {
                let difference = (value - other).abs();
                let written = (0..3).map(|digits| significant(&format!("{difference:.digits$}")));
                table.differences.extend(written.filter(|written| written.len() >= DIGITS));
                if value == 0.0 {
                    continue;
                }
                for change in [(value - other) / other, (other - value) / value] {
                    let written = (0..3).map(|digits| format!("{:.digits$}", change.abs() * 100.0));
                    table.changes.extend(written.filter(|written| written.len() > 1));
                }
            }
        }
        table
    }

    /// Words of table and sentences, by idf.
    fn words(
        &self,
        number: usize,
        table: &Table,
        mentioned: &Mentions,
        counts: &HashMap<&u32, usize>,
        out: &mut [f32],
    ) {
        let Self { phrases, order, .. } = self;
        let greatest = phrases.greatest_idf();
        let idf = |word: &u32| phrases.idf[*word as usize] / greatest;
        let alone = |word: &u32| counts.get(word) == Some(&1);
        // Sums over sorted words: the order of a set would change the last bits.
        let sum = |words: &mut dyn Iterator<Item = &u32>| {
            let mut words: Vec<u32> = words.copied().collect();
            words.sort_unstable();
            words.iter().map(idf).sum::<f32>()
        };
        let share = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
        let both: HashSet<u32> = table.words.intersection(&mentioned.words).copied().collect();
        let (of_both, of_table) = (sum(&mut both.iter()), sum(&mut table.words.iter()));
        let only = sum(&mut both.iter().filter(|word| alone(word)));
        let all_only = sum(&mut table.words.iter().filter(|word| alone(word)));
        out[0] = share(of_both, of_table);
        out[1] = share(of_both, sum(&mut mentioned.words.iter()));
        out[2] = only.ln_1p();
        out[3] = if all_only > 0.0 { only / all_only } else { 0.5 };
        out[4] = both.iter().filter(|word| alone(word)).map(idf).fold(0.0, f32::max);
        for (at, sentence) in order.near[number].iter().enumerate() {
            if let Some(sentence) = sentence {
                let words: HashSet<u32> = self.stems(*sentence).collect();
                let found: HashSet<u32> = words.intersection(&table.words).copied().collect();
                out[5 + at] = share(sum(&mut found.iter()), sum(&mut words.iter()));
                out[7 + at] = sum(&mut found.iter().filter(|word| alone(word)));
            }
        }
        out[9] = (both.iter().filter(|word| idf(word) > RARE).count() as f32).ln_1p();
    }

    /// Likeness of caption, rows, columns and table to the sentences around.
    fn vectors(&self, number: usize, members: &[usize], out: &mut [f32]) {
        let Self { nodes, strings, order, node_vector, string_vector, .. } = self;
        let (first, last) = order.ends[number];
        for (out, sentence) in out.iter_mut().zip(order.near[number]) {
            *out = sentence.map_or(0.0, |sentence| dot(node_vector(first), node_vector(sentence)));
        }
        let place = order.passages.partition_point(|&node| node < first);
        let nearby = order.passages.get(place.saturating_sub(NEARBY)..).unwrap_or_default().iter();
        let sentences: Vec<&[f32]> = nearby
            .take(2 * NEARBY)
            .filter(|&&node| node < first || node > last)
            .map(|&node| node_vector(node))
            .collect();
        if sentences.is_empty() {
            return;
        }
        let best = |vector: &[f32]| sentences.iter().map(|s| dot(vector, s)).fold(f32::NEG_INFINITY, f32::max);
        let of = |kind: NodeKind| -> Vec<f32> {
            let members = members.iter().filter(|&&node| nodes[node].kind == kind && nodes[node].text.len() > 2);
            members.map(|&node| best(node_vector(node))).collect()
        };
        let greatest = |values: &[f32]| values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len().max(1) as f32;
        let rows = of(NodeKind::RowHeader);
        if !rows.is_empty() {
            (out[2], out[3]) = (greatest(&rows), mean(&rows));
        }
        let columns = of(NodeKind::ColumnHeader);
        if !columns.is_empty() {
            out[6] = greatest(&columns);
        }
        let whole = string_vector(strings.nodes[first].parts[3]);
        let mut likeness: Vec<f32> = sentences.iter().map(|sentence| dot(whole, sentence)).collect();
        (out[4], out[5]) = (greatest(&likeness), mean(&likeness));
        likeness.sort_by(|a, b| b.total_cmp(a));
        out[7] = mean(likeness.get(..3).unwrap_or(&likeness));
    }

    /// Of [`PLAIN`], those after the years.
    fn plain(&self, number: usize, members: &[usize], out: &mut [f32]) {
        let Self { nodes, strings, order, numbers, phrases, .. } = self;
        let [before, after] = order.near[number];
        let (first, _) = order.ends[number];
        let text = before.map_or("", |sentence| nodes[sentence].text.as_str());
        let lower = text.to_lowercase();
        let count = |sentence: Option<usize>| sentence.map_or(0.0, |node| numbers.of_node[node].len() as f32);
        let headers =
            members.iter().filter(|&&node| matches!(nodes[node].kind, NodeKind::Caption | NodeKind::ColumnHeader));
        let headers: Vec<String> = headers.map(|&node| nodes[node].text.to_lowercase()).collect();
        let unit = ["in millions", "in thousands", "in billions"]
            .iter()
            .find(|unit| headers.iter().any(|header| header.contains(**unit)));
        let sentence: HashSet<u32> = before.map_or_else(HashSet::new, |sentence| self.stems(sentence).collect());
        let mut in_caption: Vec<u32> = self.stems(first).filter(|stem| sentence.contains(stem)).collect();
        in_caption.sort_unstable();
        in_caption.dedup();
        let (rows, cols) = order.size[number];
        let place = order.passages.partition_point(|&node| node < first);
        out.copy_from_slice(&[
            flag(ends_in_colon(text)),
            flag(announces(text)),
            flag(first > 0 && strings.table[first - 1].is_none()),
            before.map_or(FARTHEST, |sentence| (first - sentence - 1).min(FARTHEST)) as f32,
            order.near.iter().filter(|near| near[0] == before).count() as f32,
            count(after),
            count(before),
            rows as f32,
            cols as f32,
            in_caption.iter().map(|&stem| phrases.idf[stem as usize] / phrases.greatest_idf()).sum(),
            place as f32 / order.passages.len().max(1) as f32,
            text.split_whitespace().count() as f32,
            flag(unit.is_some_and(|unit| lower.contains(unit))),
        ]);
    }
}
