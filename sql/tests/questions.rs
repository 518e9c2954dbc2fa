//! `query --question --explain` and `query --schema`, and linking on Spider where it is there.

mod common;

use common::{database, run};

const LEAGUE: &str = "CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE game (id INTEGER PRIMARY KEY, home_team INTEGER REFERENCES team, away_team INTEGER REFERENCES team, goals INTEGER);
    CREATE TABLE secret (id INTEGER PRIMARY KEY, city TEXT);
    CREATE VIEW hosts AS SELECT t.name AS host, g.goals FROM game g JOIN team t ON t.id = g.home_team;
    INSERT INTO team VALUES (1, 'Ajax', 'Amsterdam'), (2, 'Bayern', 'Munich');
    INSERT INTO game VALUES (1, 1, 2, 3);";

fn output(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = run(arguments, b"");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_question_gives_columns_tables_and_joins() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "league.db", LEAGUE);
    let path = path.to_str().unwrap();
    let question = "What is the total number of goals in games with the away team from Munich?";
    let (code, text, _) = output(&["--database", path, "--question", question, "--explain"]);
    assert_eq!(code, Some(0));
    for part in
        ["team.city  value \"Munich\"", "game.goals", "game.away_team = team.id  (many to one", "told by \"away\""]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (code, text, _) =
        output(&["--database", path, "--question", question, "--explain", "--format", "json", "--hide", "secret"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &found["joins"][0]["on"]), (Some(0), &"game.away_team = team.id".into()));
    assert!(!text.contains("secret"));
    assert_eq!(output(&["--database", path, "--question", "x", "--sql", "SELECT 1"]).0, Some(2));
    assert_eq!(output(&["--database", path]).0, Some(2));
}

#[test]
fn a_schema_is_written_in_all_forms() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "league.db", LEAGUE);
    let path = path.to_str().unwrap();
    let semantics = folder.path().join("semantics.toml");
    std::fs::write(&semantics, "[tables.secret]\nhidden = true\n[tables.team]\nname = '<club>'").unwrap();
    let semantics = semantics.to_str().unwrap();
    for (format, part) in [
        ("html", "<h2>team</h2>"),
        ("dot", "hosts.goals\\n"),
        ("graphml", ">derivation<"),
        ("json", "\"derivations\":[["),
    ] {
        let (code, text, error) = output(&["--database", path, "--schema", format, "--semantics", semantics]);
        assert_eq!(code, Some(0), "{error}");
        assert!(text.contains(part) && !text.contains("secret"), "{format}: {text}");
    }
    std::fs::write(semantics, "[tables.taem]").unwrap();
    let (code, _, error) = output(&["--database", path, "--schema", "dot", "--semantics", semantics]);
    assert_eq!(code, Some(1));
    assert!(error.contains("the nearest is \"team\""), "{error}");
}

#[path = "../examples/spider/mod.rs"]
mod spider;

/// What the shipped weights reach on Spider's development part, a little lower than docs/sql.md has it.
#[test]
fn questions_of_spider_are_linked() {
    use std::collections::BTreeSet;

    use tabsegnet_sql::linking::{Linker, Model};

    let what = "the folder with the published data sets (sql/spider)";
    let Some(data) = tabsegnet_test_support::path_in("TABSEGNET_DATASETS", "questions_of_spider_are_linked", what)
    else {
        return;
    };
    let (questions, databases) = spider::of_spider(&data, "dev", true).unwrap();
    let linkers: Vec<Linker<'_>> = databases
        .graphs
        .iter()
        .zip(&databases.values)
        .map(|(graph, values)| Linker::new(graph, values.clone(), Model::shipped()))
        .collect();
    let (mut recall, mut exact, mut ranked) = (0.0, 0, 0);
    for question in &questions {
        let linker = &linkers[databases.names.binary_search(&question.db).unwrap()];
        let gold = spider::Gold::of(question, linker.graph());
        let linked = linker.link(&question.question);
        let tables: BTreeSet<usize> = linked.sets[0].tree.tables.iter().copied().collect();
        exact += usize::from(tables == gold.tables);
        if !gold.columns.is_empty() {
            ranked += 1;
            let found = linked.columns.iter().take(5).filter(|column| gold.columns.contains(&column.column)).count();
            recall += found as f64 / gold.columns.len() as f64;
        }
    }
    let (recall, exact) = (recall / f64::from(ranked), exact as f64 / questions.len() as f64);
    assert!(recall >= 0.92 && exact >= 0.85, "recall@5 {recall}, exact sets {exact}");
}
