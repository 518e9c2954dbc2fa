//! How a table fits the sentences of its document: which of several like tables they speak of. No
//! question changes it.

use std::collections::BTreeSet;

use tabsegnet_graph::{Node, NodeKind};

use crate::strings::Strings;
use crate::vectors::dot;

const FIT: [&str; 7] = [
    "numbers",
    "share_of_numbers",
    "share_of_words",
    "share_of_words_near",
    "share_of_near",
    "share_of_years",
    "cosine",
];
const YEARS: [&str; 3] = ["years_after_text", "years_after_tables", "has_year"];
/// Sentences before and after a table that stand near it.
const NEAR: usize = 3;
/// Least digits of a number that tells something.
const DIGITS: usize = 3;

/// Each fit, then each less the best of the tables, then the years.
pub(crate) fn names() -> Vec<&'static str> {
    const BELOW_BEST: [&str; 7] = [
        "numbers.below_best",
        "share_of_numbers.below_best",
        "share_of_words.below_best",
        "share_of_words_near.below_best",
        "share_of_near.below_best",
        "share_of_years.below_best",
        "cosine.below_best",
    ];
    FIT.into_iter().chain(BELOW_BEST).chain(YEARS).collect()
}

struct Member {
    words: BTreeSet<u32>,
    first: usize,
    last: usize,
    string: u32,
}

/// `[nodes, 17]`. `vectors` `[nodes, d]` and those of the tables' strings are of length 1 or 0.
pub(crate) fn tables<'v>(
    nodes: &[Node],
    strings: &Strings,
    node_vector: &dyn Fn(usize) -> &'v [f32],
    string_vector: &dyn Fn(u32) -> &'v [f32],
) -> Vec<f32> {
    let width = 2 * FIT.len() + YEARS.len();
    let mut values = vec![0.0; nodes.len() * width];
    let mut tables: Vec<Option<Member>> = (0..strings.tables).map(|_| None).collect();
    let mut passages = Vec::new();
    for (number, (node, of)) in nodes.iter().zip(&strings.nodes).enumerate() {
        let string = if node.kind == NodeKind::Cell { of.bare } else { of.parts[0] };
        match strings.table[number] {
            None => passages.push((number, string)),
            Some(table) => {
                let new = || Member { words: BTreeSet::new(), first: number, last: number, string: of.parts[3] };
                let member = tables[table as usize].get_or_insert_with(new);
                member.words.extend(strings.words_of(string));
                member.last = number;
            }
        }
    }
    let mentioned: BTreeSet<u32> = passages.iter().flat_map(|(_, string)| strings.words_of(*string)).copied().collect();
    let mean = mean(passages.iter().map(|(node, _)| node_vector(*node)));
    let tables: Vec<Member> = tables.into_iter().flatten().collect();
    let latest = tables.iter().filter_map(|table| last_year(strings, &table.words)).max();
    let latest_mentioned = last_year(strings, &mentioned);
    let fits: Vec<([f32; FIT.len()], [f32; YEARS.len()])> = tables
        .iter()
        .map(|table| {
            let before = passages.iter().rev().filter(|(node, _)| *node < table.first).take(NEAR);
            let after = passages.iter().filter(|(node, _)| *node > table.last).take(NEAR);
            let near: BTreeSet<u32> =
                before.chain(after).flat_map(|(_, string)| strings.words_of(*string)).copied().collect();
            let years = match last_year(strings, &table.words) {
                Some(year) => {
                    let after = |other: Option<u16>| other.map_or(0.0, |other| f32::from(year) - f32::from(other));
                    [after(latest_mentioned).clamp(-3.0, 3.0) / 3.0, after(latest).clamp(-4.0, 0.0) / 4.0, 1.0]
                }
                None => [0.0; 3],
            };
            (fit(strings, table, &mentioned, &near, dot(string_vector(table.string), &mean)), years)
        })
        .collect();
    let mut best = [f32::NEG_INFINITY; FIT.len()];
    for (fit, _) in &fits {
        best.iter_mut().zip(fit).for_each(|(best, value)| *best = best.max(*value));
    }
    for (table, out) in strings.table.iter().zip(values.chunks_exact_mut(width)) {
        if let Some((fit, years)) = table.and_then(|table| fits.get(table as usize)) {
            let (own, rest) = out.split_at_mut(FIT.len());
            let (below, of_years) = rest.split_at_mut(FIT.len());
            own.copy_from_slice(fit);
            below.iter_mut().zip(fit.iter().zip(&best)).for_each(|(out, (value, best))| *out = value - best);
            of_years.copy_from_slice(years);
        }
    }
    values
}

fn fit(
    strings: &Strings,
    table: &Member,
    mentioned: &BTreeSet<u32>,
    near: &BTreeSet<u32>,
    cosine: f32,
) -> [f32; FIT.len()] {
    let word = |number: &u32| strings.known[*number as usize];
    let long = |number: &u32| strings.words()[*number as usize].bytes().filter(u8::is_ascii_digit).count() >= DIGITS;
    let numbers: Vec<u32> = table
        .words
        .iter()
        .copied()
        .filter(|number| word(number).number && word(number).year.is_none() && long(number))
        .collect();
    let mentioned_numbers = numbers.iter().filter(|number| mentioned.contains(number)).count() as f32;
    // The share, by idf, of words of one set that stand in another.
    let share = |of: &BTreeSet<u32>, within: &BTreeSet<u32>| {
        let words = || of.iter().filter(|number| !word(number).number);
        let all: f32 = words().map(|number| word(number).idf).sum();
        let found: f32 = words().filter(|number| within.contains(number)).map(|number| word(number).idf).sum();
        if all > 0.0 { found / all } else { 0.0 }
    };
    let years: Vec<&u32> = table.words.iter().filter(|number| word(number).year.is_some()).collect();
    let mentioned_years = years.iter().filter(|number| mentioned.contains(number)).count() as f32;
    [
        mentioned_numbers.ln_1p(),
        mentioned_numbers / numbers.len().max(1) as f32,
        share(&table.words, mentioned),
        share(&table.words, near),
        share(near, &table.words),
        mentioned_years / years.len().max(1) as f32,
        cosine,
    ]
}

fn last_year(strings: &Strings, words: &BTreeSet<u32>) -> Option<u16> {
    words.iter().filter_map(|&word| strings.known[word as usize].year).max()
}

fn mean<'v>(vectors: impl Iterator<Item = &'v [f32]>) -> Vec<f32> {
    let (mut sum, mut count) = (Vec::new(), 0);
    for vector in vectors {
        sum.resize(vector.len(), 0.0);
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        count += 1;
    }
    sum.iter_mut().for_each(|sum| *sum /= count.max(1) as f32);
    sum
}
