//! Sums of words without most of the postings are those with all of them.

use proptest::prelude::*;
use tabsegnet_corpus::{Corpus, Fusion, Hit, IndexConfig, Retriever, Weights};
use tabsegnet_datasets::tables::TableRecord;

use crate::support::{Drawn, TableFile, open, take_in};

/// A word, the first ones most often, as in texts.
fn word(drawn: &mut Drawn) -> String {
    let most = 1 + drawn.below(400);
    let most = 1 + drawn.below(most);
    format!("w{}x", letters(drawn.below(most)))
}

fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

fn words(drawn: &mut Drawn, most: usize) -> String {
    let count = drawn.below(most + 1);
    (0..count).map(|_| word(drawn)).collect::<Vec<_>>().join(" ")
}

fn tables(count: usize, drawn: &mut Drawn) -> Vec<TableRecord> {
    let mut all: Vec<TableRecord> = Vec::new();
    for number in 0..count {
        let id = format!("{:05}", number * 7919 % 100_003);
        if drawn.below(8) == 0 && number > 0 {
            let copied = all[drawn.below(number)].clone();
            all.push(TableRecord { id, ..copied });
            continue;
        }
        let (columns, rows) = (drawn.below(4), drawn.below(5));
        all.push(TableRecord {
            id,
            title: words(drawn, 6),
            section: words(drawn, 2),
            caption: words(drawn, 5),
            column_headers: (0..columns).map(|_| word(drawn)).collect(),
            rows: (0..rows).map(|_| (0..columns).map(|_| words(drawn, 3)).collect()).collect(),
            ..TableRecord::default()
        });
    }
    all
}

/// In several segments, some tables removed: `parts` files, of which the second one replaces tables of the first.
fn corpus(count: usize, parts: usize, drawn: &mut Drawn) -> (tempfile::TempDir, Corpus) {
    let dir = tempfile::tempdir().unwrap();
    let config = IndexConfig { segments: 100, ..IndexConfig::default() };
    let all = tables(count, drawn);
    let each = count.div_ceil(parts);
    for (number, part) in all.chunks(each).enumerate() {
        let mut part = part.to_vec();
        if number == 1 {
            part.extend(tables(each.min(40), drawn));
        }
        take_in(dir.path(), &config, [&TableFile { name: number.to_string(), tables: part }]).unwrap();
    }
    let corpus = open(dir.path()).unwrap();
    (dir, corpus)
}

/// The first of all tables, and that of a wanted number.
fn assert_same(corpus: &Corpus, question: &str, weights: Weights, counts: &[usize]) {
    let fusion = Fusion::new("words", weights);
    let query = corpus.query(question).unwrap();
    let bits = |hits: &[Hit]| hits.iter().map(|hit| (hit.table, hit.score.to_bits())).collect::<Vec<_>>();
    // More than there are: nothing is left out.
    let all = fusion.retrieve(corpus, &query, corpus.len() + 1).unwrap();
    assert_eq!(all.len(), corpus.len());
    for &count in counts {
        let found = fusion.retrieve(corpus, &query, count).unwrap();
        assert_eq!(bits(&found), bits(&all[..count.min(all.len())]), "the first {count} for {question:?}, {weights:?}");
    }
}

fn weights(drawn: &mut Drawn) -> Weights {
    let mut weight = || [0.0, 0.1, 0.5, 1.0, 3.0][drawn.below(5)];
    Weights {
        title: weight(),
        section: weight(),
        caption: weight(),
        header: weight(),
        first_column: weight(),
        cells: weight(),
        any: weight(),
        dense: 0.0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn whatever_the_tables_and_weights(seed: u64, count in 1..3000_usize, parts in 1..5_usize) {
        let mut drawn = Drawn(seed);
        let (_dir, corpus) = corpus(count, parts, &mut drawn);
        for _ in 0..12 {
            let question = words(&mut drawn, 14);
            for weights in [Weights::FIELDS, Weights::SCHEMA, weights(&mut drawn)] {
                assert_same(&corpus, &question, weights, &[0, 1, 10, 100, count]);
            }
        }
    }
}

/// Where frequent words are many and looked up rather than read.
#[test]
fn with_many_tables_and_frequent_words() {
    let mut drawn = Drawn(6);
    let (_dir, corpus) = corpus(12_000, 2, &mut drawn);
    for _ in 0..40 {
        let rare = words(&mut drawn, 4);
        let question = format!("{rare} wax wbx wcx wdx wex wfx {}", words(&mut drawn, 3));
        let more = weights(&mut drawn);
        for weights in [Weights::FIELDS, Weights::SCHEMA, more] {
            assert_same(&corpus, &question, weights, &[1, 3, 10, 50]);
        }
        // Weights below 0 and none at all.
        assert_same(&corpus, &question, Weights { cells: -0.5, ..more }, &[10]);
    }
    assert_same(&corpus, "wax wax", Weights::ZERO, &[10]);
    assert_same(&corpus, "no word of it", Weights::FIELDS, &[10]);
}
