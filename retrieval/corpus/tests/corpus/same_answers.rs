//! The same corpus answers the same to the bit, whatever its segments are and however many threads there are.

use proptest::prelude::*;
use tabsegnet_corpus::{IndexConfig, VectorKind, join};
use tabsegnet_datasets::tables::TableRecord;

use crate::support::{
    Answers, Drawn, TableFile, add, answers, answers_at_once, open, quick_answers, settings, table, table_files,
    take_in, writer,
};

fn assert_same(found: &Answers, expected: &Answers, how: &str) {
    for (found, expected) in found.rankings.iter().zip(&expected.rankings) {
        assert_eq!(found, expected, "{how}");
    }
    assert_eq!(found, expected, "{how}");
}

/// All ways to make a corpus of files, each with what it answers.
fn every_way(files: &[TableFile], kind: VectorKind, seed: u64) -> Vec<(&'static str, Answers)> {
    let mut drawn = Drawn(seed);
    let config = |segments| IndexConfig { vectors: kind, ..settings(segments) };
    let dir = || tempfile::tempdir().unwrap();
    let mut found = Vec::new();

    let at_once = dir();
    take_in(at_once.path(), &config(12), files).unwrap();
    found.push(("at once", answers(at_once.path())));

    for (how, segments) in [("a change a file", 100), ("merged all along", 1), ("merged at times", 3)] {
        let at = dir();
        let mut order: Vec<&TableFile> = files.iter().collect();
        drawn.shuffle(&mut order);
        for file in order {
            take_in(at.path(), &config(segments), [file]).unwrap();
        }
        found.push((how, answers(at.path())));
    }

    // What is wrong at first is replaced and removed; tables of one file are taken over from another.
    let changed = dir();
    let extra =
        TableFile { name: "extra".into(), tables: (0..4).map(|n| table(&format!("x{n}"), &mut drawn)).collect() };
    take_in(changed.path(), &config(4), [&extra]).unwrap();
    for file in files {
        let mut wrong = file.clone();
        wrong.tables.iter_mut().step_by(2).for_each(|of| *of = table(&of.id, &mut drawn));
        wrong.tables.push(table(&format!("{} wrong", file.name), &mut drawn));
        take_in(changed.path(), &config(4), [&wrong]).unwrap();
    }
    let moved = files.iter().flat_map(|file| file.tables.iter().take(1)).map(|of| table(&of.id, &mut drawn)).collect();
    take_in(changed.path(), &config(4), [&TableFile { name: "moved".into(), tables: moved }]).unwrap();
    for file in files {
        take_in(changed.path(), &config(4), [file]).unwrap();
    }
    let mut last = writer(changed.path(), &config(4)).unwrap();
    assert_eq!((last.remove("extra"), last.remove("moved"), last.remove("no such")), (extra.tables.len(), 0, 0));
    last.commit(&mut |_| ()).unwrap();
    found.push(("replaced and removed", answers(changed.path())));
    let copy = dir();
    let whole = copy.path().join("whole");
    join(&whole, &[changed.path().to_owned()]).unwrap();
    found.push(("joined of one with removed tables", answers(&whole)));
    take_in(&whole, &config(1), []).unwrap();
    found.push(("joined and merged", answers(&whole)));

    // Made apart; the first of a file counts, as the last shard, which has the first one's files too, shows.
    let parts: Vec<_> = (0..3).map(|_| dir()).collect();
    for (number, part) in parts.iter().enumerate() {
        let mut own: Vec<TableFile> = files.iter().skip(number).step_by(3).cloned().collect();
        if number == 2 {
            let first = files.iter().step_by(3);
            own.extend(first.cloned().map(|mut file| {
                file.tables.iter_mut().for_each(|of| *of = table(&of.id, &mut drawn));
                file
            }));
        }
        for file in &own {
            take_in(part.path(), &config(2), [file]).unwrap();
        }
        take_in(part.path(), &config(2), []).unwrap();
    }
    let joined = dir();
    let directory = joined.path().join("joined");
    join(&directory, &parts.iter().map(|part| part.path().to_owned()).collect::<Vec<_>>()).unwrap();
    found.push(("joined", answers(&directory)));
    found
}

fn assert_all_same(ways: &[(&'static str, Answers)]) {
    for (how, found) in ways {
        assert_same(found, &ways[0].1, how);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn whatever_the_segments(
        sizes in proptest::collection::vec(0..9_usize, 1..6),
        int8: bool,
        seed: u64,
    ) {
        let kind = if int8 { VectorKind::Int8 } else { VectorKind::F32 };
        assert_all_same(&every_way(&table_files(&sizes, seed), kind, seed ^ 1));
    }
}

#[test]
fn with_one_thread_and_four() {
    let files = table_files(&[40, 3, 25, 60], 3);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| every_way(&files, VectorKind::F32, 9))
    };
    let (one, four) = (with(1), with(4));
    assert_all_same(&one);
    for ((how, one), (_, four)) in one.iter().zip(&four) {
        assert_same(one, four, how);
    }
}

/// More tables than are scored in one go, many of them alike, in segments as memory has them.
#[test]
fn with_thousands_of_tables() {
    let mut drawn = Drawn(4);
    let mut tables: Vec<_> =
        (0..5000).map(|number| table(&format!("{:05}", number * 7919 % 10_000), &mut drawn)).collect();
    let equal = tables[17].clone();
    tables.iter_mut().step_by(3).for_each(|table| *table = TableRecord { id: table.id.clone(), ..equal.clone() });
    // Words of their own, so that a megabyte is soon full.
    for (number, table) in tables.iter_mut().enumerate().skip(1).step_by(3) {
        table.rows.push((0..20).map(|cell| format!("w{}", letters(number * 20 + cell))).collect());
    }
    let file = TableFile { name: "all".into(), tables };
    let at_once = tempfile::tempdir().unwrap();
    let large = IndexConfig { memory: 512, segments: 12, ..IndexConfig::default() };
    assert_eq!(take_in(at_once.path(), &large, [&file]).unwrap().segments, 1);
    let in_parts = tempfile::tempdir().unwrap();
    assert!(take_in(in_parts.path(), &settings(12), [&file]).unwrap().segments > 2);
    let expected = quick_answers(at_once.path());
    assert_same(&quick_answers(in_parts.path()), &expected, "in parts");
    let merged = tempfile::tempdir().unwrap();
    assert_eq!(take_in(merged.path(), &settings(1), [&file]).unwrap().segments, 1);
    assert_same(&quick_answers(merged.path()), &expected, "merged");
    let found = std::fs::read(crate::support::segments(merged.path()).pop().unwrap()).unwrap();
    let expected = std::fs::read(crate::support::segments(at_once.path()).pop().unwrap()).unwrap();
    assert!(found == expected, "a merged segment is the one that is made at once");
}

fn letters(mut number: usize) -> String {
    let mut text = String::new();
    while number > 0 {
        text.push((b'a' + (number % 26) as u8) as char);
        number /= 26;
    }
    text
}

#[test]
fn a_file_that_is_begun_again_or_removed_in_one_change_counts_as_it_was_last() {
    let files = table_files(&[5, 8, 3], 11);
    let expected = answers_at_once(&files[..2]);
    let dir = tempfile::tempdir().unwrap();
    let mut change = writer(dir.path(), &settings(12)).unwrap();
    let mut wrong = files[1].clone();
    wrong.tables.iter_mut().for_each(|of| of.title = "wrong".into());
    add(&mut change, &wrong);
    add(&mut change, &files[2]);
    add(&mut change, &files[0]);
    assert_eq!(change.begin(&files[1].name, ""), 8);
    add(&mut change, &files[1]);
    assert_eq!(change.remove(&files[2].name), 3);
    let done = change.commit(&mut |_| ()).unwrap();
    assert_eq!((done.tables, done.added - done.removed), (13, 13));
    assert_same(&answers(dir.path()), &expected, "begun again");
    let corpus = open(dir.path()).unwrap();
    for table in files[..2].iter().flat_map(|file| &file.tables) {
        assert_eq!(&corpus.table(corpus.find(&table.id).unwrap()).unwrap(), table);
    }
    assert!(corpus.find(&files[2].tables[0].id).is_err());
    assert_eq!(corpus.manifest().files(dir.path()).unwrap().len(), 2);
    take_in(dir.path(), &settings(12), [&files[1]]).unwrap();
    assert_same(&answers(dir.path()), &expected, "and replaced");
}
