use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// A table whose cells are all different.
fn table(id: &str, rows: usize, columns: usize) -> TableRecord {
    TableRecord {
        id: id.to_owned(),
        source: "made".into(),
        title: format!("Harbours near {id}"),
        section: "History -- Ships".into(),
        column_headers: (0..columns).map(|column| format!("head{column}")).collect(),
        rows: (0..rows).map(|row| (0..columns).map(|column| format!("{id}row{row}column{column}")).collect()).collect(),
        ..TableRecord::default()
    }
}

fn question(id: &str, table: &str, text: &str) -> SourceQuestion {
    let record = TableQuestion {
        id: id.to_owned(),
        question: text.to_owned(),
        tables: vec![table.to_owned()],
        ..TableQuestion::default()
    };
    SourceQuestion { record, ..SourceQuestion::default() }
}

fn settings(task: Task, seed: u64) -> Settings {
    Settings { task, seed }
}

/// The tables, and a question of each.
fn given(sizes: &[(usize, usize)]) -> (Vec<TableRecord>, Vec<SourceQuestion>) {
    let ids: Vec<String> = (0..sizes.len()).map(|number| format!("t{number}")).collect();
    let tables = ids.iter().zip(sizes).map(|(id, (rows, columns))| table(id, *rows, *columns)).collect();
    let ask =
        |id: &String| question(&format!("q{id}"), id, &format!("which sailor of harbours near {id} won a medal?"));
    (tables, ids.iter().map(ask).collect())
}

fn texts(built: &Built) -> Vec<&str> {
    built.benchmark.questions.iter().map(|question| question.record.question.as_str()).collect()
}

fn parts<'b>(benchmark: &'b Benchmark, source: &str) -> Vec<&'b SubTable> {
    benchmark.tables.iter().filter(|table| table.source_table == source).collect()
}

fn sorted<T: Ord>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort();
    items
}

fn bytes(benchmark: &Benchmark) -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    write_own(benchmark, dir.path()).unwrap();
    ["tables.jsonl", "questions.jsonl"].map(|name| fs::read(dir.path().join(name)).unwrap()).to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_make_up_their_source_and_are_its_gold(
        sizes in prop::collection::vec((4..12usize, 4..9usize), 1..20),
        seed: u64,
    ) {
        let (tables, questions) = given(&sizes);
        let built = build(&tables, &questions, &settings(Task::Single, seed)).unwrap();
        let benchmark = &built.benchmark;
        let mut levels = [0usize; 3];
        for source in &tables {
            let parts = parts(benchmark, &source.id);
            levels[parts.len() - 1] += 1;
            let captions: BTreeSet<&str> = parts.iter().map(|part| part.record.caption.as_str()).collect();
            prop_assert_eq!(captions.len(), parts.len());
            prop_assert!(captions.iter().all(|caption| caption.contains(&source.title) && caption.contains("Ships")));
            for part in &parts {
                let record = &part.record;
                prop_assert!(record.title.is_empty() && record.section.is_empty());
                prop_assert!(!record.rows.is_empty() && record.column_headers.len() > 1);
                prop_assert!(record.rows.iter().all(|row| row.len() == record.column_headers.len()));
                prop_assert_eq!(&record.column_headers[0], &source.column_headers[0]);
            }
            let cells = |part: &&SubTable| part.record.rows.clone();
            match parts[0].cut {
                Cut::Rows => {
                    prop_assert!(parts.iter().all(|part| part.record.column_headers == source.column_headers));
                    prop_assert_eq!(sorted(parts.iter().flat_map(cells)), sorted(source.rows.clone()));
                }
                Cut::Columns => {
                    let others = parts.iter().flat_map(|part| part.record.column_headers[1..].to_vec());
                    prop_assert_eq!(sorted(others), sorted(source.column_headers[1..].to_vec()));
                    for part in &parts {
                        let first = part.record.rows.iter().map(|row| &row[0]);
                        prop_assert!(first.eq(source.rows.iter().map(|row| &row[0])));
                    }
                    let found = parts.iter().flat_map(cells).flatten().collect::<BTreeSet<_>>();
                    prop_assert_eq!(found, source.rows.iter().flatten().cloned().collect::<BTreeSet<_>>());
                }
                Cut::Whole => {
                    prop_assert_eq!(parts.len(), 1);
                    let flat = sorted(parts.iter().flat_map(cells).flatten());
                    prop_assert_eq!(flat, sorted(source.rows.iter().flatten().cloned()));
                }
            }
        }
        prop_assert!(levels.iter().all(|level| level.abs_diff(levels[0]) <= 1), "{:?}", levels);
        prop_assert_eq!(benchmark.questions.len(), tables.len());
        for question in &benchmark.questions {
            let parts = parts(benchmark, &question.source_table);
            let ids: Vec<&str> = parts.iter().map(|part| part.record.id.as_str()).collect();
            prop_assert_eq!(&question.record.tables, &ids);
        }
    }

    #[test]
    fn a_seed_has_its_bytes_and_both_forms_give_them_back(
        sizes in prop::collection::vec((4..8usize, 4..7usize), 6..12),
        seed: u64,
    ) {
        let (tables, mut questions) = given(&sizes);
        questions[0].answers = vec![json!("Ann"), json!(7)];
        questions[1].answers = vec![json!("Bob")];
        let of = |seed: u64| build(&tables, &questions, &settings(Task::Multi, seed));
        // Questions alone on their table are not joined.
        let none = of(seed).unwrap_err().to_string();
        prop_assert!(none.contains(&format!("nothing to join with {}", tables.len())), "{}", none);
        let of = |seed: u64| build(&tables, &questions, &settings(Task::Single, seed)).unwrap().benchmark;
        let benchmark = of(seed);
        prop_assert_eq!(bytes(&of(seed)), bytes(&benchmark));
        let other = of(seed.wrapping_add(1));
        let captions = |benchmark: &Benchmark| sorted(benchmark.tables.iter().map(|table| table.record.caption.clone()));
        prop_assert_ne!(captions(&other), captions(&benchmark));

        let dir = tempfile::tempdir().unwrap();
        write_own(&benchmark, dir.path()).unwrap();
        prop_assert_eq!(&read_own(dir.path()).unwrap(), &benchmark);
        write_published(&benchmark, dir.path(), "made").unwrap();
        let mut published = benchmark.clone();
        published.tables.iter_mut().for_each(|table| table.record.source.clear());
        for (place, question) in published.questions.iter_mut().enumerate() {
            question.record.id = place.to_string();
        }
        prop_assert_eq!(&read_published(dir.path(), "made").unwrap(), &published);
    }
}

#[test]
fn the_parts_of_the_division_do_not_depend_on_task_and_seed() {
    let half = (0..1000).filter(|number| Part::of(&format!("t{number}")) == Part::Tune).count();
    assert!((400..600).contains(&half), "{half}");
    let (tables, questions) = given(&[(4, 4); 12]);
    let built = build(&tables, &questions, &settings(Task::Single, 1)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write_own(&built.benchmark, dir.path()).unwrap();
    for name in ["tables.jsonl", "questions.jsonl"] {
        for line in fs::read_to_string(dir.path().join(name)).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["split"], json!(Part::of(line["source_table"].as_str().unwrap())));
        }
    }
    let statistics = Statistics::of(&built.benchmark);
    assert_eq!((statistics.tables, statistics.sources, statistics.gold), (24, 12, [4, 4, 4, 0]));
    assert_eq!(statistics.cuts, [4, 10, 10]);
    assert_eq!(statistics.parts.iter().sum::<usize>(), 12);
    assert!(statistics.render(Task::Single, &built.tally).contains("| 17,229 | 6,106 | 7.4 | 4.5 |"));
}

#[test]
fn verification_takes_plain_statements_with_a_label_and_one_of_a_pair() {
    let (tables, _) = given(&[(4, 4), (4, 4)]);
    let statement = |id: &str, text: &str, label: Value, form: &str| SourceQuestion {
        label: Some(label),
        form: Some(form.to_owned()),
        ..question(id, "t0", text)
    };
    let questions = [
        statement("a", "harbours near t0 saw seven grey ships leave early in march", json!(1), "plain"),
        statement("b", "harbours near t0 saw eleven grey ships leave early in march", json!(0), "plain"),
        statement("c", "harbours near t0 never had a pilot called smith", json!(false), "plain"),
        statement("d", "harbour near t0 have a pilot call jones once", json!(1), "lemmatised"),
        statement("e", "harbours near t0 closed when the storms came", Value::Null, "plain"),
        statement("f", "was it so", json!(1), "plain"),
        statement("g", "harbours near t0 are first on the list of ports", json!(1), "plain"),
        statement("h", "it was more than the others of them near t0 are", json!(1), "plain"),
    ];
    let mut kept = BTreeSet::new();
    for seed in 0..20 {
        let built = build(&tables, &questions, &settings(Task::Verification, seed)).unwrap();
        let found =
            built.benchmark.questions.iter().map(|question| (question.record.id.clone(), question.label.unwrap()));
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[1], ("c".to_owned(), false));
        kept.insert(found[0].clone());
        for what in ["lemmatised", "no label", "too short", "ask for the order of rows", "too many stop words"] {
            assert_eq!(built.tally[format!("questions left out: {what}").as_str()], 1, "{what}");
        }
    }
    assert_eq!(kept, BTreeSet::from([("a".to_owned(), true), ("b".to_owned(), false)]));
}

#[test]
fn single_hop_takes_one_answer_that_was_not_computed() {
    let (mut tables, _) = given(&[(4, 4)]);
    tables[0].rows[1][2] = "1,204 ".into();
    let ask = |id: &str, text: &str, answers: &[&str]| SourceQuestion {
        answers: answers.iter().map(|answer| json!(answer)).collect(),
        ..question(id, "t0", text)
    };
    let questions = [
        ask("cell", "what depth had the oldest of the harbours near t0?", &["1,204"]),
        ask("count", "how many captains sailed from harbours near t0?", &["17"]),
        ask("list", "which pilots worked in harbours near t0 together?", &["Ann", "Bob"]),
        ask("word", "which bishop blessed the harbours near t0 yearly?", &["Ann"]),
        ask("unknown", "what colour do lighthouses of harbours near t0 show?", &[]),
        ask("unknown", "what colour do lighthouses of harbours near t0 show?", &[]),
        SourceQuestion { position: Some(1), ..ask("later", "which of those harbours near t0 had a chapel?", &["Ann"]) },
    ];
    let built = build(&tables, &questions, &settings(Task::Single, 3)).unwrap();
    let ids: Vec<&str> = built.benchmark.questions.iter().map(|question| question.record.id.as_str()).collect();
    assert_eq!(ids, ["cell", "word", "unknown"]);
    assert_eq!(built.benchmark.questions[0].answers, ["1,204"]);
}

#[test]
fn sequences_are_joined_in_order_and_other_questions_in_twos_and_threes() {
    let (tables, _) = given(&[(4, 4), (5, 5)]);
    let step = |position: u64, text: &str| SourceQuestion {
        sequence: Some("s".into()),
        position: Some(position),
        answers: vec![json!(position)],
        ..question(&format!("s{position}"), "t0", text)
    };
    let loose = |number: usize| {
        let text = format!("Which captain{number} sailed ship{number} from harbours near t1 to port{number}?");
        question(&format!("l{number}"), "t1", &text)
    };
    let mut questions = vec![
        step(2, "And which of these players is oldest?"),
        step(0, "which harbours near t0 had a lighthouse built of granite?"),
        step(1, "What were their names?"),
    ];
    questions.extend((0..7).map(loose));
    let built = build(&tables, &questions, &settings(Task::Multi, 5)).unwrap();
    let sequence = &built.benchmark.questions[0];
    assert_eq!((sequence.record.id.as_str(), sequence.answers.len()), ("s0+s1+s2", 3));
    let text = &sequence.record.question;
    assert!(text.starts_with("which harbours near t0 had a lighthouse built of granite"), "{text}");
    assert!(text.contains("what were their names") && text.ends_with("which of these players is oldest?"), "{text}");
    assert_eq!(text.matches('?').count(), 1, "{text}");
    let sizes: Vec<usize> =
        built.benchmark.questions[1..].iter().map(|question| question.record.id.split('+').count()).collect();
    let alone = built.tally.get("questions left out: nothing to join with").copied().unwrap_or_default();
    assert_eq!(sizes.iter().sum::<usize>() + alone, 7, "{sizes:?}");
    assert!(sizes.iter().all(|size| (2..=3).contains(size)), "{sizes:?}");
}

#[test]
fn copies_are_one_table_and_the_one_with_a_caption_stays() {
    let (mut tables, _) = given(&[(4, 4), (4, 4)]);
    let mut copy = TableRecord { id: "copy".into(), ..tables[0].clone() };
    copy.rows[0][0] = copy.rows[0][0].to_uppercase() + "\r";
    tables[0] = TableRecord { title: String::new(), section: String::new(), ..tables[0].clone() };
    tables.push(copy);
    let ask = |table: &str| question(table, table, &format!("which {table} sailor of that coast won a golden medal?"));
    let built = build(&tables, &[ask("t0"), ask("copy")], &settings(Task::Single, 0)).unwrap();
    let sources: Vec<&str> = built.benchmark.questions.iter().map(|question| question.source_table.as_str()).collect();
    assert_eq!(sources, ["copy"; 2], "{:?}", texts(&built));
    assert!(parts(&built.benchmark, "t0").is_empty());
    assert!(built.benchmark.questions[1].record.question.contains("Harbours near t0"));
}

#[test]
fn rows_of_other_lengths_lose_no_cell() {
    let (mut tables, questions) = given(&[(4, 4)]);
    tables[0].rows[0].push("more".into());
    tables[0].rows[1].truncate(2);
    let cells = sorted(tables[0].rows.iter().flatten().cloned());
    for seed in 0..4 {
        let built = build(&tables, &questions, &settings(Task::Single, seed)).unwrap();
        let found = built.benchmark.tables.iter().flat_map(|table| table.record.rows.iter().flatten());
        assert_eq!(sorted(found.filter(|cell| !cell.is_empty()).cloned()), cells);
    }
}

#[test]
fn what_cannot_be_used_is_named() {
    let (tables, questions) = given(&[(4, 4), (3, 9), (9, 3)]);
    let error = |tables: &[TableRecord], questions: &[SourceQuestion]| {
        build(tables, questions, &settings(Task::Single, 0)).unwrap_err().to_string()
    };
    assert_eq!(
        error(&tables[1..], &questions),
        "none of the 2 tables has 4 rows and 4 columns: there is nothing to cut in parts"
    );
    let twice = [tables[0].clone(), tables[0].clone()];
    assert_eq!(error(&twice, &questions), "table \"t0\" comes twice: ids must be unique over all files, remove one");
    let moved = [questions[0].clone(), question("qt0", "t1", "which of the harbours is deepest and oldest?")];
    assert!(error(&tables, &moved).starts_with("question \"qt0\" comes twice"));
    let unknown = error(&tables, &[question("q", "no-such", "which of the harbours is deepest and oldest?")]);
    assert!(unknown.contains("\"q\"") && unknown.contains("\"no-such\""), "{unknown}");
    // A table that is known but too small is no error, except where no other question is there.
    assert!(error(&tables, &questions[1..]).contains("of a table that is too small 2"));
    assert!(error(&tables, &[]).contains("none were given"));
}

#[test]
fn the_published_form_is_read_whatever_its_cells_and_labels_are() {
    let dir = tempfile::tempdir().unwrap();
    let write = |tables: &str, questions: &str| {
        fs::write(dir.path().join("x_table.jsonl"), tables).unwrap();
        fs::write(dir.path().join("x_query.jsonl"), questions).unwrap();
        read_published(dir.path(), "x")
    };
    let tables = r#"{"table_idx": 0, "source_table_idx": 7, "split": "train", "caption": null, "table": {"header": ["a", 2], "rows": [[1.5, null]]}, "example_query": ["why?"]}
{"table_idx": 1, "source_table_idx": 7, "table": {"header": ["a", "b"], "rows": []}}
{"table_idx": "u", "source_table_idx": "v", "caption": "c"}"#;
    let questions = r#"{"query": "one?", "source_table_idx": 7, "label": 1}
{"query": "two?", "source_table_idx": "v", "label": ["x", 3]}
{"query": "three?", "source_table_idx": "v", "label": "x"}"#;
    let read = write(tables, questions).unwrap();
    assert_eq!(read.tables[0].record.rows, [["1.5", ""]]);
    assert_eq!((read.tables[0].cut, read.tables[2].cut), (Cut::Columns, Cut::Whole));
    assert_eq!(read.tables[0].examples, ["why?"]);
    assert_eq!(read.questions[0].record.tables, ["0", "1"]);
    assert_eq!((read.questions[0].label, read.questions[1].label), (Some(true), None));
    assert_eq!((&read.questions[1].answers[1], &read.questions[2].answers[0]), (&"3".to_owned(), &"x".to_owned()));

    let message = |tables: &str, questions: &str| write(tables, questions).unwrap_err().to_string();
    assert!(message(tables, r#"{"query": "q", "source_table_idx": 8}"#).contains("\"8\""));
    assert!(message(tables, "\n{\"query\": \"q\"}").contains("line 2"));
    assert!(message("{\"table_idx\": 1}", questions).contains("source_table_idx"));
    let twice = "{\"table_idx\": 1, \"source_table_idx\": 1}\n{\"table_idx\": 1, \"source_table_idx\": 1}";
    assert!(message(twice, "").contains("comes twice"));
    let plain = "{\"id\": \"a\", \"header\": [\"b\"], \"rows\": []}";
    fs::write(dir.path().join("tables.jsonl"), plain).unwrap();
    fs::write(dir.path().join("questions.jsonl"), "").unwrap();
    assert!(read_own(dir.path()).unwrap_err().to_string().contains("source_table"));
}

#[test]
fn a_file_that_cannot_be_written_leaves_no_questions_of_another_benchmark() {
    let (tables, questions) = given(&[(4, 4)]);
    let benchmark = build(&tables, &questions, &settings(Task::Single, 0)).unwrap().benchmark;
    let dir = tempfile::tempdir().unwrap();
    write_own(&benchmark, dir.path()).unwrap();
    fs::remove_file(dir.path().join("tables.jsonl")).unwrap();
    fs::create_dir(dir.path().join("tables.jsonl")).unwrap();
    assert!(write_own(&benchmark, dir.path()).is_err());
    let left: BTreeMap<_, _> = fs::read_dir(dir.path()).unwrap().map(|e| (e.unwrap().file_name(), ())).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
