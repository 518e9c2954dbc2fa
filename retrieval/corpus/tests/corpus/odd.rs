//! Odd tables and questions.

use std::path::Path;

use tabsegnet_corpus::{
    CandidateConfig, Candidates, Corpus, CorpusError, Fusion, Hit, LinkRank, Listwise, Rerank, Retriever, Weights,
    files,
};
use tabsegnet_datasets::tables::TableRecord;

use crate::support::{
    Drawn, TableFile, answers, answers_at_once, answers_of, open, ranking, reranker, retrievers, settings, table,
    table_files, take_in, writer,
};

fn corpus_of(tables: Vec<TableRecord>) -> (tempfile::TempDir, Corpus) {
    let dir = tempfile::tempdir().unwrap();
    take_in(dir.path(), &settings(9), [&TableFile { name: "all".into(), tables }]).unwrap();
    let corpus = open(dir.path()).unwrap();
    (dir, corpus)
}

fn of(id: &str, title: &str, header: &[&str], rows: &[&[&str]]) -> TableRecord {
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let rows = rows.iter().map(|row| texts(row)).collect();
    TableRecord { id: id.into(), title: title.into(), column_headers: texts(header), rows, ..TableRecord::default() }
}

#[test]
fn one_table_is_found_by_every_retriever() {
    let (_dir, corpus) = corpus_of(vec![of("only", "Cities of Peru", &["City"], &[&["Lima"]])]);
    for retriever in retrievers(&corpus).unwrap() {
        let query = corpus.query("which city").unwrap();
        let hits = retriever.retrieve(&corpus, &query, 5).unwrap();
        assert_eq!(hits.len(), 1, "{}", retriever.name());
        assert!(hits[0].score.is_finite());
    }
}

#[test]
fn what_the_best_table_is_linked_to_comes_before_strangers() {
    let rows: &[&[&str]] = &[&["Lima", "1"], &["Cusco", "2"], &["Ica", "3"]];
    let (_dir, corpus) = corpus_of(vec![
        of("a", "", &["Weekday", "Colour"], &[&["x", "y"]]),
        of("z", "", &["City", "Rank"], rows),
        of("m", "Peru's towns of the coast", &["City", "Year"], rows),
    ]);
    let query = corpus.query("towns of the coast").unwrap();
    let order = |retriever: &dyn Retriever| {
        let hits = retriever.retrieve(&corpus, &query, 3).unwrap();
        hits.iter().map(|hit| corpus.id(hit.table).to_owned()).collect::<Vec<_>>()
    };
    // Neither of the others has a word of the question.
    assert_eq!(order(&Fusion::new("words", Weights::SCHEMA)), ["m", "a", "z"]);
    assert_eq!(order(&LinkRank::new("links", Weights::SCHEMA)), ["m", "z", "a"]);
}

#[test]
fn as_many_as_asked_and_no_more_than_there_are() {
    let (_dir, corpus) = corpus_of(table_files(&[30], 51).remove(0).tables);
    for text in ["cities of Peru", "zzz unknown qqq", "", "  ?!  "] {
        let query = corpus.query(text).unwrap();
        for retriever in retrievers(&corpus).unwrap() {
            let name = retriever.name();
            let get = |top_k| retriever.retrieve(&corpus, &query, top_k).unwrap();
            assert!(get(0).is_empty(), "{name}");
            let all = get(usize::MAX);
            assert_eq!(ranking(&corpus, &all), ranking(&corpus, &get(31)), "{name} {text:?}");
            for top_k in [1, 5, 29] {
                let first = &all[..all.len().min(top_k)];
                assert_eq!(ranking(&corpus, &get(top_k)), ranking(&corpus, first), "{name} {text:?} {top_k}");
            }
            for pair in all.windows(2) {
                let by_id = corpus.id(pair[0].table) < corpus.id(pair[1].table);
                assert!(pair[0].score > pair[1].score || pair[0].score == pair[1].score && by_id, "{name} {text:?}");
            }
            assert!(retriever.retrieve_all(&corpus, &[], 3).unwrap().is_empty());
        }
    }
}

#[test]
fn equal_tables_come_by_id() {
    let ids = ["m", "b", "z", "a", "é", "B", "10", "9"];
    let (_dir, corpus) =
        corpus_of(ids.iter().map(|id| of(id, "Rivers", &["Name", "Length"], &[&["Ucayali", "1,771"]])).collect());
    let mut sorted = ids;
    sorted.sort_unstable();
    for retriever in retrievers(&corpus).unwrap() {
        let hits = retriever.retrieve(&corpus, &corpus.query("length of rivers").unwrap(), 8).unwrap();
        let mut found: Vec<&str> = hits.iter().map(|hit| corpus.id(hit.table)).collect();
        // Its trees see places too, which equal tables do not share.
        if retriever.name() == "rerank" {
            found.sort_unstable();
        }
        assert_eq!(found, sorted[..found.len()], "{}", retriever.name());
        assert!(
            hits.windows(2).all(|pair| pair[0].score == pair[1].score)
                || retriever.name() == "rrf"
                || retriever.name() == "rerank"
        );
    }
}

#[test]
fn databases_and_parquet_are_tables_under_their_own_names() {
    let dir = tempfile::tempdir().unwrap();
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/records/tests/parquet/orders.parquet");
    // The content says what it is, whatever its name.
    let (database, damaged) = (dir.path().join("stables.data"), dir.path().join("damaged.sqlite"));
    rusqlite::Connection::open(&database)
        .unwrap()
        .execute_batch(
            "CREATE TABLE jockeys (name, weight REAL); INSERT INTO jockeys VALUES ('Dettori', 54.5);
             CREATE TABLE races (course, going); INSERT INTO races VALUES ('Ascot', 'firm');",
        )
        .unwrap();
    let bytes = std::fs::read(&database).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() / 3]).unwrap();
    let corpus = dir.path().join("corpus");
    let mut change = writer(&corpus, &settings(1)).unwrap();
    let mut add = |path: &Path| change.add_file(path, &mut |_| ()).unwrap();
    assert_eq!([add(&orders).tables, add(&database).tables], [1, 2]);
    let of_damaged = add(&damaged);
    assert!(of_damaged.problems[0].contains("damaged.sqlite") && of_damaged.tables == 0, "{of_damaged:?}");
    assert!(add(&database).unchanged);
    // A program that has it open still writes to its log.
    let live = dir.path().join("live.db");
    let opened = rusqlite::Connection::open(&live).unwrap();
    opened
        .execute_batch(
            "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;
             CREATE TABLE stalls (trainer); INSERT INTO stalls VALUES ('Cecil');",
        )
        .unwrap();
    assert_eq!(add(&live).tables, 1);
    opened.execute("INSERT INTO stalls VALUES ('Gosden')", []).unwrap();
    assert!(!add(&live).unchanged);
    change.commit(&mut |_| ()).unwrap();
    let corpus = open(&corpus).unwrap();
    let first = |question: &str| {
        let hits = Fusion::new("bm25", Weights::FIELDS).retrieve(&corpus, &corpus.query(question).unwrap(), 1).unwrap();
        corpus.table(hits[0].table).unwrap()
    };
    let jockeys = first("weight of the jockeys");
    assert_eq!((jockeys.title.as_str(), jockeys.caption.as_str()), ("stables", "jockeys"));
    assert_eq!(jockeys.rows, [["Dettori", "54.5"]]);
    assert!(jockeys.id.ends_with("stables.data#t0"), "{}", jockeys.id);
    assert_eq!(first("going at Ascot").caption, "races");
    assert_eq!(first("trainers of stalls").rows, [["Cecil"], ["Gosden"]]);
    assert_eq!(first("orders by customer").column_headers[1], "customer");
}

#[test]
fn odd_tables_come_back_as_they_were_and_are_searched() {
    let mut rows: Vec<Vec<String>> = (0..2000).map(|row| vec![format!("row {row}"), format!("{}", row * 7)]).collect();
    rows[1999][1] = "needle".into();
    let long = "wide ".repeat(200_000) + "thread";
    let tables = vec![
        of("ragged", "Ragged", &["A"], &[&["x", "y", "z"], &[], &["", ""], &["w"]]),
        of("header only", "", &["Spindle", "Loom"], &[]),
        of("no header", "", &[], &[&["Weft", "Warp"]]),
        of("nothing", "", &[], &[]),
        of("empty strings", "", &["", ""], &[&["", ""], &["", ""]]),
        TableRecord { rows, ..of("long", "Long", &["Row", "Seven"], &[]) },
        of("wide cell", "", &["Text"], &[&[&long]]),
        of("control \u{0}\t\n\"\\ \u{7f}\u{202e}", "a\u{0}b\r\n", &["\u{1b}[31m"], &[&["\u{feff}Shuttle", "\u{2028}"]]),
        of("other case", "CITIES OF PERU", &["NAME"], &[&["LIMA"]]),
        of("huge number", "", &["n"], &[&["123456789012345678901234567890.5", "1,234,567", "−5", "½"]]),
    ];
    let file = TableFile { name: "odd".into(), tables: tables.clone() };
    let dir = tempfile::tempdir().unwrap();
    take_in(dir.path(), &settings(1), [&file]).unwrap();
    let corpus = open(dir.path()).unwrap();
    for table in &tables {
        assert_eq!(&corpus.table(corpus.find(&table.id).unwrap()).unwrap(), table);
        assert_eq!(corpus.source(corpus.find(&table.id).unwrap()), "odd");
    }
    let all = Fusion::new("fields", Weights::FIELDS);
    for (text, id) in [
        ("needle", "long"),
        ("threads", "wide cell"),
        ("SPINDLE", "header only"),
        ("warp of the weft", "no header"),
        ("shuttles", "control \u{0}\t\n\"\\ \u{7f}\u{202e}"),
        ("City of Peru lima", "other case"),
        ("1234567", "huge number"),
    ] {
        let hits = all.retrieve(&corpus, &corpus.query(text).unwrap(), 1).unwrap();
        assert_eq!(corpus.id(hits[0].table), id, "{text}");
        assert!(hits[0].score > 0.0);
    }
    answers_of(&corpus).unwrap();
    let more = table_files(&[20], 3).remove(0);
    take_in(dir.path(), &settings(1), [&more]).unwrap();
    assert_eq!(answers(dir.path()), answers_at_once([&file, &more]));
}

#[test]
fn a_question_of_ten_thousand_words() {
    let (_dir, corpus) = corpus_of(table_files(&[40], 61).remove(0).tables);
    let mut drawn = Drawn(6);
    let words: Vec<String> = (0..10_000)
        .map(|number| if number % 9 == 0 { "cities".into() } else { format!("w{} {}", drawn.below(5000), number) })
        .collect();
    let query = corpus.query(&words.join(" ")).unwrap();
    for retriever in retrievers(&corpus).unwrap() {
        let hits = retriever.retrieve(&corpus, &query, 10).unwrap();
        assert!(hits.iter().all(|hit| hit.score.is_finite()), "{}", retriever.name());
    }
}

#[test]
fn titles_in_other_case_are_of_one_page() {
    let mut tables: Vec<TableRecord> = (0..40).map(|n| table(&format!("t{n}"), &mut Drawn(n))).collect();
    tables.push(of("first", "Peru – Rivers!", &["River", "Length"], &[&["Ucayali", "1771"]]));
    tables.push(of("linked", "PERU RIVERS", &["qqq"], &[]));
    let (_dir, corpus) = corpus_of(tables);
    let query = corpus.query("length of the Ucayali river").unwrap();
    let Candidates { hits, rows, .. } =
        Candidates::new(&corpus, &query, &Weights::FIELDS, &CandidateConfig::default()).unwrap();
    let page = Candidates::names().iter().position(|name| name == "linked.page").unwrap();
    let at = hits.iter().position(|hit| corpus.id(hit.table) == "linked").unwrap();
    assert_eq!(corpus.id(hits[0].table), "first");
    assert_eq!(rows[at * Candidates::width() + page], 0.0, "linked to the best one");
    assert_eq!(rows.len(), hits.len() * Candidates::width());
}

#[test]
fn of_many_tables_with_the_same_columns_those_that_say_the_same_of_themselves_are_linked() {
    let columns = ["Name", "Length"];
    let mut tables: Vec<TableRecord> =
        (0..500).map(|n| of(&format!("t{n}"), &format!("Lake {n} of {}", n * n), &columns, &[])).collect();
    tables.push(of("first", "Ucayali basin", &columns, &[&["Tambo", "159"]]));
    tables.push(of("other part", "basin Ucayali", &columns, &[&["Perené", "180"]]));
    let (_dir, corpus) = corpus_of(tables);
    let query = corpus.query("Tambo").unwrap();
    let Candidates { hits, rows, .. } =
        Candidates::new(&corpus, &query, &Weights::FIELDS, &CandidateConfig::default()).unwrap();
    let header = Candidates::names().iter().position(|name| name == "linked.header").unwrap();
    let linked = rows.chunks_exact(Candidates::width()).map(|row| row[header] == 0.0);
    let linked: Vec<&str> =
        hits.iter().zip(linked).filter(|(_, is)| *is).map(|(hit, _)| corpus.id(hit.table)).collect();
    assert_eq!(corpus.id(hits[0].table), "first");
    assert!(linked.len() == 10 && linked.contains(&"other part"), "{linked:?}");
}

/// A number of a row.
fn of_row(listwise: &Listwise, rank: usize, name: &str) -> f32 {
    let at = Listwise::names().iter().position(|known| known == name).unwrap();
    listwise.rows[rank * Listwise::width() + at]
}

#[test]
fn parts_of_the_first_table_are_seen_beside_it() {
    let columns = ["Name", "Length"];
    let rows: &[&[&str]] = &[&["Tambo", "159"], &["Perené", "180"], &["Ene", "180"]];
    let mut tables: Vec<TableRecord> =
        (0..30).map(|n| of(&format!("t{n:02}"), &format!("Tambo {n}"), &["Lake", "Area"], &[])).collect();
    tables.push(of("a first", "Rivers of the Ucayali basin", &columns, rows));
    tables.push(of("b by rows", "Ucayali basin: the rivers", &columns, &[&["Tambo", "7"]]));
    tables.push(of("c by columns", "Tambo, Ucayali", &["Name", "Mouth"], rows));
    let (_dir, corpus) = corpus_of(tables);
    let query = corpus.query("Tambo").unwrap();
    let candidates = Candidates::new(&corpus, &query, &Weights::FIELDS, &CandidateConfig::default()).unwrap();
    // The three parts first, by their ids.
    let score = |hit: &Hit| -(f32::from(corpus.id(hit.table).as_bytes()[0] - b'a'));
    let scores: Vec<f32> = candidates.hits.iter().map(score).collect();
    let listwise = Listwise::new(&corpus, &candidates, &scores);
    let ids: Vec<&str> = listwise.hits.iter().take(4).map(|hit| corpus.id(hit.table)).collect();
    assert_eq!(ids, ["a first", "b by rows", "c by columns", "t00"]);
    let of = |rank, name| of_row(&listwise, rank, &format!("beside.{name}"));
    assert_eq!([0, 1, 2, 3].map(|rank| of(rank, "parts.count")), [2.0, 1.0, 1.0, 16.0]);
    assert_eq!([0, 1, 2, 3].map(|rank| of(rank, "best.header")), [1.0, 1.0, 0.0, 0.0]);
    assert_eq!([0, 1, 2, 3].map(|rank| of(rank, "best.first_column")), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!([1, 2, 3].map(|rank| of(rank, "parts.below_best")), [0.0, 0.0, -19.0]);
    // Of the first one's five words four; of six words one.
    let words = [1, 2].map(|rank| of(rank, "best.words"));
    assert!((words[0] - 4.0 / 5.0).abs() < 1e-6 && (words[1] - 1.0 / 6.0).abs() < 1e-6, "{words:?}");
    assert!(of(1, "best.product") > of(3, "best.product"));
    assert!(of(1, "parts.share") > 0.5 && of(3, "parts.share") < 0.01);
    assert!(listwise.rows.iter().all(|number| number.is_finite()));
}

#[test]
fn those_behind_the_first_stay_behind_them() {
    let mut tables = table_files(&[400], 83).remove(0).tables;
    // No two are parts of one.
    for (number, table) in tables.iter_mut().enumerate() {
        table.column_headers.push(format!("column {number}"));
        table.rows.iter_mut().filter_map(|row| row.first_mut()).for_each(|cell| *cell = format!("{cell} {number}"));
    }
    let (_dir, corpus) = corpus_of(tables);
    let query = corpus.query("wins of the teams in 2004").unwrap();
    let rerank = reranker(Weights::default());
    let candidates = rerank.candidates(&corpus, &query).unwrap();
    let alone = Listwise::new(&corpus, &candidates, &crate::support::trees().0.scores(&candidates.rows));
    let seen = alone.rows.len() / Listwise::width();
    assert!(seen < alone.hits.len(), "{seen}");
    let ids = |hits: &[Hit]| hits.iter().map(|hit| corpus.id(hit.table).to_owned()).collect::<Vec<_>>();
    let hits = rerank.retrieve(&corpus, &query, 1000).unwrap();
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert_eq!(ids(&hits[seen..]), ids(&alone.hits[seen..]));
    let sorted = |hits: &[Hit]| {
        let mut ids = ids(hits);
        ids.sort_unstable();
        ids
    };
    assert_ne!(ids(&hits[..seen]), ids(&alone.hits[..seen]));
    assert_eq!(sorted(&hits[..seen]), sorted(&alone.hits[..seen]));
}

#[test]
fn a_reranker_comes_back_as_it_was_written_and_a_damaged_one_is_said() {
    let rerank = reranker(Weights { caption: 0.3, ..Weights::FIELDS });
    let dir = tempfile::tempdir().unwrap();
    rerank.write(dir.path()).unwrap();
    assert_eq!(Rerank::read(dir.path()).unwrap(), rerank);
    assert_eq!(rerank.fusion("sum").weights.caption, 0.3);
    let trees = crate::support::trees().0.clone();
    let alone = Rerank::new(None, rerank.fusion("sum").weights, CandidateConfig::default(), trees, None, "");
    let other = tempfile::tempdir().unwrap();
    alone.write(other.path()).unwrap();
    assert_eq!(Rerank::read(other.path()).unwrap(), alone);
    assert_ne!(alone, rerank);

    for name in ["retriever.json", "adapter.safetensors", "reranker.safetensors", "listwise.safetensors"] {
        let path = dir.path().join(name);
        let bytes = std::fs::read(&path).unwrap();
        for length in [0, 1, 9, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let error = Rerank::read(dir.path()).unwrap_err();
            assert!(matches!(&error, CorpusError::Damaged { file, .. } if file.ends_with(name)), "{length}: {error}");
        }
        std::fs::write(&path, bytes).unwrap();
    }
    let path = dir.path().join("retriever.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"match.all\"", "\"match.none\"")).unwrap();
    let error = Rerank::read(dir.path()).unwrap_err().to_string();
    assert!(error.contains("looks at other features than this version has; train it again"), "{error}");
}

#[test]
fn a_page_that_has_a_title_gives_it_to_its_tables() {
    let dir = tempfile::tempdir().unwrap();
    let corpus = dir.path().join("corpus");
    let page = "<table><tr><th>Name</th><th>Depth</th></tr><tr><td>Baikal</td><td>1642</td></tr></table>";
    let mut change = crate::support::writer(&corpus, &settings(2)).unwrap();
    for (name, page) in
        [("page_1.html", format!("<title>Lakes of Asia</title>{page}")), ("page_2.html", page.to_owned())]
    {
        let path = dir.path().join(name);
        std::fs::write(&path, page).unwrap();
        assert_eq!(change.add_file(&path, &mut |_| ()).unwrap().tables, 1);
    }
    change.commit(&mut |_| ()).unwrap();
    let corpus = open(&corpus).unwrap();
    let mut titles: Vec<String> = corpus.tables().iter().map(|table| corpus.table(*table).unwrap().title).collect();
    titles.sort();
    assert_eq!(titles, ["Lakes of Asia", "page_2"]);
}

#[test]
fn a_document_gives_its_tables_with_their_headings() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.md");
    std::fs::write(&path, "# Peru\n\n## Rivers\n\n| Name | Length |\n|---|---|\n| Ucayali | 1771 |\n").unwrap();
    let corpus = dir.path().join("corpus");
    let mut change = crate::support::writer(&corpus, &settings(2)).unwrap();
    for path in files(&[dir.path().to_owned()]).0.iter().filter(|path| path.ends_with("report.md")) {
        let change = change.add_file(path, &mut |_| ()).unwrap();
        assert_eq!((change.tables, change.problems.len()), (1, 0));
    }
    change.commit(&mut |_| ()).unwrap();
    let corpus = open(&corpus).unwrap();
    let table = corpus.table(corpus.tables()[0]).unwrap();
    assert_eq!(
        (table.section.as_str(), table.column_headers),
        ("Peru -- Rivers", vec!["Name".to_owned(), "Length".into()])
    );
    assert!(table.id.starts_with(&path.display().to_string()), "{}", table.id);
}

#[test]
fn regression_what_lies_beside_a_corpus_is_found() {
    let folder = tempfile::tempdir().unwrap();
    take_in(folder.path(), &settings(9), table_files(&[3], 7).iter()).unwrap();
    std::fs::write(folder.path().join("staff.csv"), "name,city\nAnn,Rome\n").unwrap();
    assert_eq!(files(&[folder.path().to_owned()]), (vec![folder.path().join("staff.csv")], vec![]));
}
