//! Readers while a writer changes and merges.

use std::sync::atomic::{AtomicBool, Ordering};

use tabsegnet_corpus::{Corpus, CorpusError};

use crate::support::{
    QUESTIONS, Ranking, TableFile, answers, answers_of, open, quick_retrievers, ranking, settings, table_files,
    take_in, writer,
};

/// What tells one state from the others, soon computed.
fn short(corpus: &Corpus) -> Vec<Ranking> {
    let retrievers = quick_retrievers();
    let all = QUESTIONS[..4].iter().flat_map(|text| {
        let query = corpus.query(text).unwrap();
        retrievers[..2].iter().map(move |one| ranking(corpus, &one.retrieve(corpus, &query, 9).unwrap()))
    });
    all.collect()
}

#[test]
fn readers_have_the_corpus_before_or_after_each_change() {
    // A file that is added or replaced with every change; what is replaced is merged away.
    let mut changes: Vec<TableFile> = table_files(&[20; 24], 31);
    for (number, file) in changes.iter_mut().enumerate() {
        file.name = format!("file-{}", number % 5);
    }
    let expected: Vec<Vec<Ranking>> = (1..=changes.len())
        .map(|count| {
            let dir = tempfile::tempdir().unwrap();
            let last: Vec<&TableFile> = (0..5)
                .filter_map(|name| changes[..count].iter().rev().find(|file| file.name == format!("file-{name}")))
                .collect();
            take_in(dir.path(), &settings(9), last).unwrap();
            short(&open(dir.path()).unwrap())
        })
        .collect();
    let dir = tempfile::tempdir().unwrap();
    take_in(dir.path(), &settings(2), &changes[..1]).unwrap();
    let first = open(dir.path()).unwrap();
    let all_of_first = answers_of(&first).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let old = scope.spawn(|| {
            let mut times = 0;
            while !done.load(Ordering::Relaxed) {
                assert_eq!(answers_of(&first).unwrap(), all_of_first);
                times += 1;
            }
            times
        });
        let new = scope.spawn(|| {
            let (mut at, mut seen) = (0, 0);
            loop {
                let last = done.load(Ordering::Relaxed);
                let found = short(&open(dir.path()).unwrap());
                let state = expected[at..].iter().position(|state| *state == found).expect("an old or the new corpus");
                seen += usize::from(state > 0);
                at += state;
                if last {
                    return (at, seen);
                }
            }
        });
        for change in &changes[1..] {
            take_in(dir.path(), &settings(2), [change]).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        let (at, seen) = new.join().unwrap();
        assert_eq!(at + 1, changes.len());
        println!("{} answers of the first corpus, {seen} changes seen by a reader", old.join().unwrap());
    });
    assert_eq!(answers_of(&first).unwrap(), all_of_first);
}

#[test]
fn a_second_writer_is_refused_until_the_first_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let made = table_files(&[4], 1);
    take_in(dir.path(), &settings(2), &made).unwrap();
    let first = writer(dir.path(), &settings(2)).unwrap();
    let error = writer(dir.path(), &settings(2)).err().unwrap();
    assert!(matches!(&error, CorpusError::Locked { .. }));
    let expected = format!("{}: another process is changing this corpus; wait until it is done", dir.path().display());
    assert_eq!(error.to_string(), expected);
    assert_eq!(answers(dir.path()).rankings[0].2.len(), 4, "it can be read");
    // A process that is started meanwhile does not hold the lock for a moment longer.
    let starts = std::thread::spawn(|| {
        for _ in 0..20 {
            std::process::Command::new("true").status().unwrap();
        }
    });
    drop(first);
    for _ in 0..200 {
        drop(writer(dir.path(), &settings(2)).unwrap());
    }
    starts.join().unwrap();
    writer(dir.path(), &settings(2)).unwrap().commit(&mut |_| ()).unwrap();
}
