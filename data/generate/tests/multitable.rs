//! The program `build-multitable`, on files made here and on published ones, where `TABSEGNET_DATASETS` names a folder
//! with `tablecorpus`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tabsegnet_datasets::tables::{read_questions, read_tables};
use tabsegnet_generate::multitable::{Settings, Statistics, Task, build, read_own, read_published, read_sources};
use tabsegnet_test_support::{path_in, say, skipped};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_build-multitable");
    Command::new(program).current_dir(folder).args(arguments).output().unwrap()
}

#[test]
fn the_program_writes_both_forms_and_names_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let table = |id: usize| {
        let rows: Vec<Vec<String>> = (0..5).map(|row| (0..4).map(|c| format!("{id}r{row}c{c}")).collect()).collect();
        serde_json::json!({"id": format!("t{id}"), "title": format!("Coast {id}"), "header": ["a", "b", "c", "d"], "rows": rows})
    };
    let question = |id: usize, table: usize| {
        let text = format!("which captain sailed past coast {id} in a storm?");
        serde_json::json!({"id": format!("q{id}"), "question": text, "tables": [format!("t{table}")]})
    };
    let lines = |values: Vec<serde_json::Value>| values.iter().map(|value| format!("{value}\n")).collect::<String>();
    fs::write(dir.path().join("t.jsonl"), lines((0..6).map(table).collect())).unwrap();
    fs::write(dir.path().join("q.jsonl"), lines((0..6).map(|id| question(id, id)).collect())).unwrap();
    fs::write(dir.path().join("bad.jsonl"), lines(vec![question(0, 77)])).unwrap();

    let given = ["--tables", "t.jsonl", "--questions", "q.jsonl", "--task", "single", "--output", "out"];
    let output = run(dir.path(), &given);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("| built | 12 | 6 |") && text.contains("Table 1"), "{text}");
    let own = read_own(&dir.path().join("out")).unwrap();
    // Any reader of tables and questions reads them, with gold.
    let tables: Vec<_> = read_tables(&dir.path().join("out/tables.jsonl")).unwrap().map(Result::unwrap).collect();
    assert!(tables.iter().eq(own.tables.iter().map(|table| &table.record)));
    let questions = read_questions(&dir.path().join("out/questions.jsonl")).unwrap();
    assert!(questions.map(Result::unwrap).all(|question| (1..=3).contains(&question.tables.len())));

    let published = [given.as_slice(), &["--form", "published", "--name", "x", "--seed", "0"]].concat();
    assert!(run(dir.path(), &published).status.success());
    let read = read_published(&dir.path().join("out"), "x").unwrap();
    assert!(read.tables.iter().map(|t| &t.record.rows).eq(own.tables.iter().map(|t| &t.record.rows)));

    // Published files are read into the form that is indexed and measured, and published again to the byte.
    let back = ["--task", "single", "--output", "back", "--from-published", "out/x"];
    let output = run(dir.path(), &back);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("| built | 12 | 6 |"));
    assert_eq!(read_own(&dir.path().join("back")).unwrap(), read);
    let again = [back.as_slice(), &["--form", "published", "--name", "y"]].concat();
    assert!(run(dir.path(), &again).status.success());
    for what in ["table", "query"] {
        let bytes = |name: &str| fs::read(dir.path().join(format!("{name}_{what}.jsonl"))).unwrap();
        assert_eq!(bytes("back/y"), bytes("out/x"));
    }
    // Of several, each counts its tables from 0.
    let both = [&back[..3], &["both", "--from-published", "out/x", "back/y"]].concat();
    assert!(run(dir.path(), &both).status.success());
    let both = read_own(&dir.path().join("both")).unwrap();
    assert_eq!((both.tables.len(), both.questions.len()), (24, 12));
    assert_eq!((both.tables[0].record.id.as_str(), both.tables[12].record.id.as_str()), ("x/0", "y/0"));
    assert!(both.questions[11].record.tables.iter().all(|table| table.starts_with("y/")));
    let missing = run(dir.path(), &["--task", "single", "--output", "o", "--from-published", "out/z"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("z_table.jsonl"));
    let two_ways = [given.as_slice(), &["--from-published", "out/x"]].concat();
    assert_eq!(run(dir.path(), &two_ways).status.code(), Some(2));

    let bad =
        run(dir.path(), &["--tables", "t.jsonl", "--questions", "bad.jsonl", "--task", "single", "--output", "o"]);
    let message = String::from_utf8(bad.stderr).unwrap();
    assert_eq!(bad.status.code(), Some(1));
    assert!(message.contains("\"q0\"") && message.contains("\"t77\""), "{message}");
    assert!(!dir.path().join("o").exists());
    let wrong =
        run(dir.path(), &["--tables", "t.jsonl", "--questions", "q.jsonl", "--task", "triple", "--output", "o"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn published_tables_and_questions_become_a_benchmark() {
    let test = "published_tables_and_questions_become_a_benchmark";
    let Some(folder) = path_in("TABSEGNET_DATASETS", test, "the folder that holds the data sets") else { return };
    let folder = folder.join("tablecorpus");
    if !folder.is_dir() {
        return skipped(test, &format!("{} is not there", folder.display()));
    }
    let files = |what: &str, names: &[&str]| -> Vec<_> {
        names.iter().map(|name| folder.join(what).join(format!("{name}.jsonl.gz"))).collect()
    };
    let read = read_sources(&files("tables", &["wtq"]), &files("questions", &["sqa", "wtq"])).unwrap();
    let (tables, questions) = (read.tables, read.questions);
    for task in [Task::Single, Task::Multi] {
        let built = build(&tables, &questions, &Settings { task, seed: 0 }).unwrap();
        let statistics = Statistics::of(&built.benchmark);
        say(&statistics.render(task, &built.tally));
        // Two sub-tables a source table, and every level as often as the others.
        assert!(statistics.tables.abs_diff(2 * statistics.sources) <= 2);
        let mut rows: HashMap<&str, usize> = HashMap::new();
        for table in &built.benchmark.tables {
            *rows.entry(&table.source_table).or_default() += table.record.rows.len();
        }
        assert!(
            tables.iter().all(|table| rows.get(table.id.as_str()).is_none_or(|&rows| rows % table.rows.len() == 0))
        );
        let [one, two, three, more] = statistics.gold;
        assert!(more == 0 && [one, two, three].iter().all(|count| count * 4 > statistics.questions));
    }
}
