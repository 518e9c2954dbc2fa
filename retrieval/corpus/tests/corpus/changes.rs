//! Files that are added, replaced, broken, repaired and removed.

use std::path::{Path, PathBuf};

use tabsegnet_corpus::{CorpusError, FileChange, files, join};

use crate::support::{
    Drawn, TableFile, add, answers, answers_at_once, assert_clean, names, open, segments, settings, table, table_files,
    take_in, writer,
};

fn lines(tables: &TableFile) -> String {
    tables.tables.iter().map(|table| serde_json::to_string(table).unwrap() + "\n").collect()
}

fn index(directory: &Path, paths: &[&Path]) -> Vec<FileChange> {
    let mut writer = writer(directory, &settings(12)).unwrap();
    let changes = paths.iter().map(|path| writer.add_file(path, &mut |_| ()).unwrap()).collect();
    writer.commit(&mut |_| ()).unwrap();
    changes
}

#[test]
fn files_are_added_replaced_and_removed_and_an_unchanged_one_is_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    let mut made = table_files(&[6, 7], 1);
    let paths: Vec<PathBuf> = ["a.jsonl", "b.jsonl"].iter().map(|name| dir.path().join(name)).collect();
    for (file, path) in made.iter_mut().zip(&paths) {
        file.name = path.display().to_string();
        std::fs::write(path, lines(file)).unwrap();
    }
    let both: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let first = index(&corpus, &both);
    assert!(first.iter().all(|change| !change.unchanged && change.problems.is_empty()), "{first:?}");
    assert_eq!([first[0].tables, first[1].tables], [6, 7]);
    let expected = answers_at_once(&made);
    assert_eq!(answers(&corpus), expected);

    let again = index(&corpus, &both);
    assert!(again.iter().all(|change| change.unchanged && change.tables == 0));
    assert_eq!(answers(&corpus), expected);

    made[0].tables.truncate(2);
    made[0].tables[1].title = "New".into();
    std::fs::write(&paths[0], lines(&made[0])).unwrap();
    let changed = index(&corpus, &both);
    assert!(!changed[0].unchanged && changed[1].unchanged);
    assert_eq!(answers(&corpus), answers_at_once(&made));

    let mut change = writer(&corpus, &settings(12)).unwrap();
    assert_eq!(change.files().collect::<Vec<_>>(), [&made[0].name, &made[1].name]);
    assert_eq!(change.remove(&made[0].name), 2);
    change.commit(&mut |_| ()).unwrap();
    assert_eq!(answers(&corpus), answers_at_once(&made[1..]));
    // One that is gone is told; what the corpus has of it stays.
    std::fs::remove_file(&paths[1]).unwrap();
    let gone = index(&corpus, &[&paths[1]]);
    assert!(gone[0].problems[0].contains("b.jsonl"), "{gone:?}");
    assert_eq!(answers(&corpus), answers_at_once(&made[1..]));
}

#[test]
fn a_corpus_without_tables_opens_answers_nothing_and_takes_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let made = table_files(&[9], 2);
    for round in 0..3 {
        let mut change = writer(dir.path(), &settings(2)).unwrap();
        change.remove(&made[0].name);
        let change = change.commit(&mut |_| ()).unwrap();
        assert_eq!((change.tables, change.segments), (0, 0));
        let corpus = open(dir.path()).unwrap();
        assert!(corpus.is_empty() && corpus.tables().is_empty());
        assert!(answers(dir.path()).rankings.iter().all(|(_, _, hits)| hits.is_empty()), "round {round}");
        assert_clean(dir.path());
        take_in(dir.path(), &settings(2), &made).unwrap();
        assert_eq!(answers(dir.path()), answers_at_once(&made));
    }
    let joined = dir.path().join("joined");
    let empty = dir.path().join("empty");
    take_in(&empty, &settings(2), []).unwrap();
    join(&joined, &[empty.clone(), empty]).unwrap();
    assert!(open(&joined).unwrap().is_empty());
}

#[test]
fn an_id_that_two_files_have_is_said_with_both() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    let (a, b) = (dir.path().join("a.jsonl"), dir.path().join("b.jsonl"));
    let lines = |tables: &[(&str, &str)]| -> String {
        let line = |(id, title): &(&str, &str)| format!("{{\"id\":{id:?},\"title\":{title:?},\"rows\":[[1]]}}\n");
        tables.iter().map(line).collect()
    };
    std::fs::write(&a, lines(&[("one", "of a"), ("two", "")])).unwrap();
    std::fs::write(&b, lines(&[("three", ""), ("one", "of b"), ("three", "")])).unwrap();
    let changes = index(&corpus, &[&a, &b]);
    let expected = |id: &str, first: &Path| {
        format!("{}: table {id:?}: its id is taken by a table of {}", b.display(), first.display())
    };
    assert!(changes[0].problems.is_empty());
    assert_eq!(changes[1].problems, [expected("one", &a), expected("three", &b)]);
    let title = |directory: &Path| {
        let corpus = open(directory).unwrap();
        corpus.table(corpus.find("one").unwrap()).unwrap().title
    };
    assert_eq!((title(&corpus), open(&corpus).unwrap().len()), ("of a".to_owned(), 3));
    // It is read again, and said again.
    let again = index(&corpus, &[&a, &b]);
    assert_eq!((again[1].unchanged, again[0].unchanged), (false, false));
    assert_eq!(again[1].problems, changes[1].problems);
    let turned = index(&corpus, &[&b, &a]);
    assert!(turned[1].problems[0].ends_with(&format!("taken by a table of {}", b.display())), "{turned:?}");
    assert_eq!((title(&corpus), open(&corpus).unwrap().len()), ("of b".to_owned(), 3));

    // Joined, as made at once: the first counts, both are told of, and both are read again.
    let (of_a, of_b, joined) = (dir.path().join("of_a"), dir.path().join("of_b"), dir.path().join("joined"));
    index(&of_a, &[&a]);
    index(&of_b, &[&b]);
    let (change, problems) = join(&joined, &[of_a.clone(), of_b]).unwrap();
    assert_eq!(problems, [expected("one", &a)]);
    assert_eq!((change.added, title(&joined), open(&joined).unwrap().len()), (3, "of a".to_owned(), 3));
    assert_eq!(index(&joined, &[&a, &b])[1].problems, changes[1].problems);
    // One file that both have is no loss; another one of its name is.
    let (again, other) = (dir.path().join("again"), dir.path().join("other"));
    assert_eq!(join(&again, &[of_a.clone(), of_a.clone()]).unwrap().1, Vec::<String>::new());
    assert_eq!(open(&again).unwrap().len(), 2);
    let before = std::fs::read(&a).unwrap();
    std::fs::write(&a, lines(&[("four", "")])).unwrap();
    index(&other, &[&a]);
    std::fs::write(&a, before).unwrap();
    let (change, problems) = join(&dir.path().join("named_alike"), &[of_a, other]).unwrap();
    assert!(problems[0].contains("a.jsonl: another file of this name is in an earlier corpus"), "{problems:?}");
    assert_eq!((problems.len(), change.tables), (1, 2));

    // One after the other the later replaces; together again they are told.
    let apart = dir.path().join("apart");
    index(&apart, &[&a]);
    index(&apart, &[&b]);
    assert_eq!((title(&apart), open(&apart).unwrap().len()), ("of b".to_owned(), 3));
    assert_eq!(index(&apart, &[&a, &b])[1].problems, changes[1].problems);
    assert_eq!(title(&apart), "of a");
    // A file whose table another took over is read again when that one goes.
    index(&apart, &[&b]);
    let mut change = writer(&apart, &settings(12)).unwrap();
    change.remove(&b.display().to_string());
    assert!(!change.add_file(&a, &mut |_| ()).unwrap().unchanged);
    change.commit(&mut |_| ()).unwrap();
    assert_eq!((title(&apart), open(&apart).unwrap().len()), ("of a".to_owned(), 2));
}

#[test]
fn broken_lines_are_said_with_file_and_line_and_the_rest_counts() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    let path = dir.path().join("t.jsonl");
    std::fs::write(
        &path,
        "{\"id\":\"a\",\"rows\":[[1]]}\n{\"id\":\n\n{\"title\":\"no id\"}\n{\"id\":\"b\",\"rows\":7}\n\u{0}\n{\"id\":\"c\",\"rows\":[[1]]}",
    )
    .unwrap();
    let change = index(&corpus, &[&path]).remove(0);
    assert_eq!((change.tables, change.problems.len()), (2, 4), "{change:?}");
    for (problem, line) in change.problems.iter().zip(["line 2", "line 4", "line 5", "line 6"]) {
        assert!(problem.contains("t.jsonl") && problem.contains(line), "{problem}");
    }
    let ids = |directory: &Path| {
        let corpus = open(directory).unwrap();
        corpus.tables().into_iter().map(|at| corpus.id(at).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&corpus), ["a", "c"]);
    // It is read again as long as it is broken, and a last time when it is whole.
    assert_eq!(index(&corpus, &[&path])[0].problems, change.problems);
    std::fs::write(&path, "{\"id\":\"a\",\"rows\":[[1]]}\n{\"id\":\"b\",\"rows\":[[1]]}\n").unwrap();
    let repaired = index(&corpus, &[&path]);
    assert_eq!((repaired[0].tables, repaired[0].problems.len()), (2, 0));
    assert_eq!(ids(&corpus), ["a", "b"]);
    assert!(index(&corpus, &[&path])[0].unchanged);
}

/// A packed file that is cut off, and one that is none: said, in an end of time.
#[test]
fn packed_files_that_are_cut_off_or_none_end() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    let plain = dir.path().join("t.jsonl");
    std::fs::write(&plain, lines(&table_files(&[300], 3)[0])).unwrap();
    assert!(std::process::Command::new("gzip").arg(&plain).status().unwrap().success());
    let path = dir.path().join("t.jsonl.gz");
    let whole = std::fs::read(&path).unwrap();
    for cut in [0, 1, 5, 12, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let change = index(&corpus, &[&path]).remove(0);
        assert!(
            cut == 0 || change.problems.len() == 1 && change.problems[0].contains("t.jsonl.gz"),
            "{cut}: {change:?}"
        );
    }
    std::fs::write(&path, "{\"id\":\"a\",\"rows\":[[1]]}\n").unwrap();
    assert_eq!(index(&corpus, &[&path])[0].problems.len(), 1);
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(index(&corpus, &[&path])[0].tables, 300);
}

#[test]
fn files_of_folders_come_by_name_and_links_lead_in_no_circle() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("b/c")).unwrap();
    std::fs::create_dir(at(".git")).unwrap();
    for name in ["b/c/z.md", "a.md", "b/y.md", ".hidden.md", ".git/x.md"] {
        std::fs::write(at(name), "x").unwrap();
    }
    let mut expected = vec![at("a.md"), at("b/c/z.md"), at("b/y.md")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(dir.path(), at("b/circle")).unwrap();
        std::os::unix::fs::symlink(at("a.md"), at("link.md")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("lost.md")).unwrap();
        // Reading it would wait for ever.
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        expected.extend([at("link.md"), at("lost.md")]);
    }
    // What cannot be read, and what is no file, is told; the rest counts.
    let (found, problems) = files(&[at("none"), dir.path().to_owned(), at("b/../b/./"), at("a.md")]);
    assert_eq!(found, expected);
    assert!(problems[0].contains("none: could not read"), "{problems:?}");
    #[cfg(unix)]
    for told in ["pipe: is no file, such as a pipe or device", "circle: is a link to a folder, which is not followed"] {
        assert!(problems.len() == 3 && problems.iter().any(|problem| problem.contains(told)), "{problems:?}");
    }
    assert_eq!(files(&[at(".hidden.md")]), (vec![at(".hidden.md")], vec![]));
    #[cfg(unix)]
    assert!(files(&[at("pipe")]).1[0].contains("pipe: is no file"));
    // What an index made is no source of another; a file of that name alone is.
    take_in(&at("b/corpus"), &settings(2), &table_files(&[3], 4)).unwrap();
    assert_eq!(files(&[dir.path().to_owned()]).0, expected);
    std::fs::write(at("b/c/corpus.json"), "{}").unwrap();
    assert_eq!(files(&[at("b/c")]).0, [at("b/c/corpus.json"), at("b/c/z.md")]);
}

#[test]
fn a_table_of_a_document_keeps_its_place_and_the_sentences_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    let path = dir.path().join("r.html");
    let table = "<table><tr><th rowspan=2></th><th colspan=2>2023</th></tr><tr><th>Q1</th><th>Q2</th></tr>\
                 <tr><td>Bonds</td><td>12</td><td>11</td></tr><tr><td>Loans</td><td>7</td><td>9</td></tr></table>";
    let page = format!("<p>Alone.</p><h1>Debt</h1><p>It rose.</p>{table}<p>Loans fell.</p><h1>Tax</h1><p>None.</p>");
    std::fs::write(&path, page).unwrap();
    let change = index(&corpus, &[&path]).remove(0);
    assert_eq!((change.tables, change.problems.len()), (1, 0), "{change:?}");
    let corpus = open(&corpus).unwrap();
    let record = corpus.table(corpus.tables()[0]).unwrap();
    assert_eq!(record.column_headers, ["", "2023 Q1", "2023 Q2"]);
    let excerpt = record.excerpt.unwrap();
    assert_eq!(excerpt.passage, 1);
    for part in ["It rose.", "Loans fell.", "\"header_rows\":2", "\"colspan\":2"] {
        assert!(excerpt.document.contains(part), "{part}: {}", excerpt.document);
    }
    for other in ["Alone.", "None.", "Tax"] {
        assert!(!excerpt.document.contains(other), "{other}: {}", excerpt.document);
    }
    // What a reader guesses or cuts off is told.
    let open_quote = dir.path().join("q.csv");
    std::fs::write(&open_quote, "a,b\n1,\"2\n3,4\n").unwrap();
    let change = index(&dir.path().join("other"), &[&open_quote]).remove(0);
    assert!(change.warnings[0].contains("q.csv: line 2: a field that begins with a quote is not closed"), "{change:?}");
}

/// What a file is called is what was given when it was taken in; where it lies says which file it is.
#[test]
fn a_file_is_known_by_where_it_lies() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    std::fs::create_dir_all(dir.path().join("in/deep")).unwrap();
    let path = dir.path().join("in/deep/t.jsonl");
    std::fs::write(&path, "{\"id\":\"a\",\"rows\":[[1]]}\n").unwrap();
    let up = dir.path().join("in/../in/deep/t.jsonl");
    index(&corpus, &[&up]);
    let change = writer(&corpus, &settings(12)).unwrap();
    let name = path.display().to_string();
    assert_eq!(change.files().collect::<Vec<_>>(), [&name]);
    assert_eq!(change.name_of(&path), name);
    // Those below a folder, a file that is gone, and what is none of it.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(change.files_of(&dir.path().join("in/deep/..")), [name.as_str()]);
    assert_eq!(change.files_of(&dir.path().join("in/../in/deep/t.jsonl")), [name.as_str()]);
    assert_eq!(change.files_of(&dir.path().join("in/dee")), Vec::<String>::new());
}

#[test]
fn regression_a_file_is_one_however_its_path_is_written_and_keeps_its_tables_until_it_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    std::fs::create_dir(dir.path().join("b")).unwrap();
    let path = dir.path().join("t.jsonl");
    std::fs::write(&path, "{\"id\":\"a\",\"rows\":[[1]]}\n{\"id\":\"b\",\"rows\":[[1]]}\n").unwrap();
    index(&corpus, &[&path]);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, dir.path().join("link.jsonl")).unwrap();
    for same in ["./t.jsonl", "b/../t.jsonl", "link.jsonl"].into_iter().take(if cfg!(unix) { 3 } else { 2 }) {
        assert!(index(&corpus, &[&dir.path().join(same)])[0].unchanged, "{same}");
    }
    let tables = || open(&corpus).unwrap().len();
    std::fs::write(&path, "garbage\n".repeat(30)).unwrap();
    let change = index(&corpus, &[&path]).remove(0);
    assert_eq!((change.tables, change.problems.len(), tables()), (0, 11, 2), "{change:?}");
    assert!(change.problems[10].ends_with("and 20 more lines"), "{change:?}");
    // It is empty because somebody wants it so.
    std::fs::write(&path, "").unwrap();
    assert_eq!((index(&corpus, &[&path])[0].problems.len(), tables()), (0, 0));
}

#[test]
fn regression_a_file_that_changes_while_it_is_read_is_taken_in_as_one_state_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    let path = dir.path().join("t.jsonl");
    // More than a change keeps in memory: progress is told before the end is read.
    let long = |mark: usize| {
        let cell = "x".repeat(1200 + mark);
        let line = |number: usize| format!("{{\"id\":\"long {number}\",\"rows\":[[\"{cell}\"]]}}\n");
        std::fs::write(&path, (0..3000).map(line).collect::<String>()).unwrap();
    };
    let ids = || {
        let corpus = open(&corpus).unwrap();
        corpus.tables().into_iter().map(|at| corpus.id(at).to_owned()).collect::<Vec<_>>()
    };
    let other = dir.path().join("other.jsonl");
    std::fs::write(&path, "{\"id\":\"old\",\"rows\":[[1]]}\n").unwrap();
    std::fs::write(&other, "{\"id\":\"long 7\",\"rows\":[[1]]}\n").unwrap();
    index(&corpus, &[&path, &other]);

    // It changes at every reading: what the corpus has of it stays, and what a table of it took the place of.
    long(0);
    let (mut told, mut times) = (0, 0);
    let mut change = writer(&corpus, &settings(12)).unwrap();
    let found = change.add_file(&path, &mut |_| {
        told += 1;
        if told % 1000 == 1 {
            times += 1;
            long(times);
        }
    });
    let found = found.unwrap();
    assert_eq!((found.unchanged, found.tables, found.problems.len()), (false, 0, 1), "{found:?}");
    assert!(found.problems[0].contains("t.jsonl: changed each of the 3 times that it was read"), "{found:?}");
    let done = change.commit(&mut |_| ()).unwrap();
    assert_eq!((done.added, done.removed, ids()), (0, 0, vec!["long 7".to_owned(), "old".to_owned()]));
    assert_clean(&corpus);

    // It changes once: it is read again.
    let mut written = false;
    let mut change = writer(&corpus, &settings(12)).unwrap();
    let found = change.add_file(&path, &mut |_| {
        if !std::mem::replace(&mut written, true) {
            std::fs::write(&path, "{\"id\":\"a\",\"rows\":[[1]]}\n{\"id\":\"b\",\"rows\":[[1]]}\n").unwrap();
        }
    });
    let found = found.unwrap();
    assert!(written && found.problems.is_empty(), "{found:?}");
    let done = change.commit(&mut |_| ()).unwrap();
    assert_eq!((found.tables, done.added, done.removed), (2, 2, 1));
    assert_eq!(ids(), ["a", "b", "long 7"]);
    assert!(index(&corpus, &[&path])[0].unchanged);
    assert_clean(&corpus);
}

#[test]
fn settings_out_of_range_are_said() {
    let dir = tempfile::tempdir().unwrap();
    for config in [settings(0), tabsegnet_corpus::IndexConfig { memory: 0, ..settings(1) }] {
        let error = writer(dir.path(), &config).err().unwrap();
        assert!(error.to_string().ends_with("is 0; expected at least 1"), "{error}");
    }
}

#[test]
fn a_change_that_is_dropped_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let made = table_files(&[30, 2000], 7);
    take_in(dir.path(), &settings(3), &made[..1]).unwrap();
    let before = answers(dir.path());
    let mut change = writer(dir.path(), &settings(3)).unwrap();
    change.remove(&made[0].name);
    add(&mut change, &made[1]);
    drop(change);
    assert_eq!(answers(dir.path()), before);
    std::fs::write(dir.path().join("notes.segment"), "of somebody else").unwrap();
    drop(writer(dir.path(), &settings(3)).unwrap());
    assert!(names(dir.path()).contains("notes.segment"), "only what the corpus wrote is cleared");
    std::fs::remove_file(dir.path().join("notes.segment")).unwrap();
    assert_clean(dir.path());
}

#[test]
fn joining_says_what_does_not_fit_and_leaves_the_parts_whole() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let made = table_files(&[12, 5], 8);
    take_in(&at("one"), &settings(3), &made[..1]).unwrap();
    take_in(&at("two"), &settings(3), &made[1..]).unwrap();
    let (one, two) = (answers(&at("one")), answers(&at("two")));
    // A part that is missing, and then the same again, twice: what the first call left are the parts' own files.
    for _ in 0..2 {
        let error = join(&at("joined"), &[at("one"), at("two"), at("three")]).unwrap_err();
        assert!(matches!(&error, CorpusError::Missing { directory } if directory.ends_with("three")), "{error}");
        assert!(!at("joined").join("corpus.json").exists());
    }
    assert_eq!((answers(&at("one")), answers(&at("two"))), (one, two));
    join(&at("joined"), &[at("one"), at("two")]).unwrap();
    assert_eq!(answers(&at("joined")), answers_at_once(&made));
    // The parts may go or change.
    let mut drawn = Drawn(3);
    let other = TableFile { name: made[0].name.clone(), tables: vec![table("new", &mut drawn)] };
    take_in(&at("one"), &settings(1), [&other]).unwrap();
    std::fs::remove_dir_all(at("two")).unwrap();
    assert_eq!(answers(&at("joined")), answers_at_once(&made));
    assert_eq!(segments(&at("joined")).len(), 2);

    let error = join(&at("joined"), &[at("one")]).unwrap_err().to_string();
    assert!(error.contains("expected a directory without a corpus"), "{error}");
    let error = join(&at("none"), &[]).unwrap_err().to_string();
    assert!(error.contains("at least one corpus"), "{error}");
    let other = crate::support::WordHashes { identity: "others" };
    let change = tabsegnet_corpus::Writer::open(&at("other"), &other, &Default::default(), &settings(1)).unwrap();
    change.commit(&mut |_| ()).unwrap();
    let error = join(&at("none"), &[at("one"), at("other")]).unwrap_err();
    assert!(matches!(&error, CorpusError::OtherEncoder { .. }) && error.to_string().contains("others"), "{error}");
    let locked = writer(&at("busy"), &settings(1)).unwrap();
    assert!(matches!(join(&at("busy"), &[at("one")]), Err(CorpusError::Locked { .. })));
    drop(locked);
}
