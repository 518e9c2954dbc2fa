//! `query --question --explain` and `query --schema`, and linking on Spider where it is there.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

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

#[test]
fn what_is_wrong_with_a_schema_is_told_beside_each_form() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("schema.sql");
    std::fs::write(&file, "CREATE TABLE game (id INTEGER PRIMARY KEY, team INTEGER REFERENCES team);").unwrap();
    for format in ["html", "json", "dot", "graphml"] {
        let (code, text, error) = output(&["--database", file.to_str().unwrap(), "--schema", format]);
        assert_eq!(code, Some(0), "{error}");
        assert!(format!("{text}{error}").contains("team"), "{format}");
        let told = if matches!(format, "html" | "json") { &text } else { &error };
        assert!(told.contains("leads nowhere") || told.contains("dangling_key"), "{format}: {told}");
    }
}

#[test]
fn a_file_with_names_of_columns_alone_has_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sales.csv");
    std::fs::write(&file, "region,amount\n").unwrap();
    let (code, text, error) =
        output(&["--database", file.to_str().unwrap(), "--sql", "SELECT count(*) FROM sales", "--format", "csv"]);
    assert_eq!((code, text.lines().last()), (Some(0), Some("0")), "{error}");
}

#[test]
fn a_question_over_joined_tables_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "league.db", LEAGUE);
    let path = path.to_str().unwrap();
    let question = "What are the names of teams in the city of Munich?";
    let (code, text, error) = output(&["--database", path, "--question", question, "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text} {error}"));
    assert_eq!((code, &found["rows"]), (Some(0), &serde_json::json!([["Bayern"]])), "{text}");
    assert!(found["confidence"].as_f64().unwrap() >= 0.5);
    // Of a hidden table nothing is said, not even among what was not likely enough.
    let hidden = "What are the cities of secret?";
    let (_, text, error) = output(&["--database", path, "--question", hidden, "--hide", "secret", "--format", "json"]);
    let own_word = "the statement leaves \"secret\" of the question out";
    let told = format!("{text}{error}").replace("\\\"", "\"").replace(own_word, "");
    assert!(!told.contains("\"secret\""), "{told}");
    let without = database(folder.path(), "without.db", &format!("{LEAGUE} DROP TABLE secret;"));
    let (_, of_none, error_of_none) =
        output(&["--database", without.to_str().unwrap(), "--question", hidden, "--format", "json"]);
    assert_eq!((text, error), (of_none, error_of_none));
    let (code, text, _) = output(&["--database", path, "--question", "quelle heure est-il ?"]);
    assert_eq!((code, text.as_str()), (Some(5), ""));
}

#[test]
fn files_are_joined_by_a_column_that_tells_rows_apart() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("customers.csv", "customer_id,name,city\n1,Ann,Bergen\n2,Bo,Oslo\n3,Cy,Bergen\n");
    write("orders.csv", "order_id,customer_id,amount\n1,1,10\n2,1,7\n3,3,5\n4,2,8\n");
    let question = "What are the names of customers with an order of amount above 9?";
    let path = folder.path().to_str().unwrap();
    let (code, text, error) = output(&["--database", path, "--question", question, "--format", "csv"]);
    assert_eq!((code, text.lines().collect::<Vec<_>>()), (Some(0), vec!["name", "Ann"]), "{error}");
}

#[test]
fn a_table_of_records_is_asked_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("orders.csv");
    let rows = "2001,Ann,120.5,2024-01-05\n2002,Bo,35,2024-02-05\n2003,Ann,60.25,2024-03-05\n2004,Cy,500,2024-04-05\n\
                2005,Bo,12,2024-05-05\n2006,Dee,75.5,2024-06-05\n2007,Cy,8.25,2024-07-05\n2008,Ann,240,2024-08-05\n";
    std::fs::write(&path, format!("order_id,customer,amount,order_date\n{rows}")).unwrap();
    for (question, wanted) in [
        ("What is the amount of the order with id 2004?", "500.0"),
        ("What is the average amount of orders by Ann?", "140.25"),
        ("How many orders are there?", "8"),
        ("Which customer has the most orders?", "Ann"),
        ("How many orders did Bo place?", "2"),
    ] {
        let path = path.to_str().unwrap();
        let (code, text, error) = output(&["--database", path, "--question", question, "--format", "csv"]);
        assert_eq!((code, text.lines().nth(1)), (Some(0), Some(wanted)), "{question}: {text}{error}");
    }
}

#[test]
fn definitions_have_a_schema_and_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let ddl = write(
        "shop.sql",
        "CREATE TABLE a (id INT PRIMARY KEY, \"name\" TEXT);\nCREATE TABLE b (a_id INT REFERENCES a);\nCREATE VIEW v AS SELECT name FROM a;\nCREATE TABLE (",
    );
    let (code, text, error) = output(&["--database", &ddl, "--schema", "json"]);
    assert_eq!(code, Some(0), "{error}");
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&found["joins"][0]["pairs"], &found["derivations"]),
        (&serde_json::json!([[2, 0]]), &serde_json::json!([[3, 1]]))
    );
    assert!(found["problems"][0]["definition"]["line"] == 4, "{text}");
    let (code, text, _) = output(&["--database", &ddl, "--question", "What are the names of all a?", "--explain"]);
    assert!(code == Some(0) && text.contains("a.name"), "{text}");
    for arguments in [["--sql", "SELECT 1"], ["--question", "How many a?"]] {
        let (code, _, error) = output(&["--database", &ddl, arguments[0], arguments[1]]);
        assert!(code == Some(3) && error.starts_with("refused: definitions have no rows"), "{error}");
    }
    let none = write("none.sql", "SELECT 1");
    assert!(output(&["--database", &none, "--schema", "json"]).2.contains("no definition was found"));
    write("shop/dbt_project.yml", "name: shop\n");
    write("shop/seeds/raw.csv", "id,name\n1,Ann\n");
    write("shop/models/people.sql", "select id as person_id, name from {{ ref('raw') }}");
    write("shop/models/schema.yml", "models:\n  - name: people\n    description: Who is known\n");
    let project = folder.path().join("shop");
    let (code, text, error) = output(&["--database", project.to_str().unwrap(), "--schema", "json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{error}"));
    assert_eq!((code, &found["derivations"]), (Some(0), &serde_json::json!([[2, 0], [3, 1]])));
    assert_eq!(found["tables"][1]["description"], "Who is known");
}

/// Writes files into a folder; their paths.
fn write_files(folder: &Path, files: &[(&str, &str)]) -> Vec<String> {
    let write = |(name, text): &(&str, &str)| {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    files.iter().map(write).collect()
}

#[test]
fn what_reads_a_hidden_table_of_definitions_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let ddl = "CREATE TABLE secret (id INT PRIMARY KEY, pin TEXT);
        CREATE TABLE people (id INT PRIMARY KEY, name TEXT, vault INT REFERENCES secret (id));
        CREATE VIEW pins AS SELECT s.pin AS number, p.name FROM people p JOIN secret s ON s.id = p.vault;
        CREATE VIEW over_pins AS SELECT number AS again FROM pins;
        CREATE VIEW names AS SELECT name FROM people;";
    let model = "select id as person_id, pin from {{ ref('secret') }}";
    let yml =
        "models:\n  - name: people\n    description: Who is known\nseeds:\n  - name: secret\n    description: Of all\n";
    let paths = write_files(
        folder.path(),
        &[
            ("d.sql", ddl),
            ("shop/dbt_project.yml", "name: shop\n"),
            ("shop/seeds/secret.csv", "id,pin\n1,7\n"),
            ("shop/seeds/city.csv", "id,name\n1,Rome\n"),
            ("shop/models/people.sql", model),
            ("shop/models/towns.sql", "select name from {{ ref('city') }}"),
            ("shop/models/odd_secret.sql", "select {{ dbt_utils.star(ref('secret')) }} from {{ ref('secret') }}"),
            ("shop/models/schema.yml", yml),
        ],
    );
    let project = folder.path().join("shop");
    let tables = |database: &str, wanted: &[&str]| {
        let (code, text, error) = output(&["--database", database, "--schema", "json", "--hide", "SECRET"]);
        assert_eq!((code, error.as_str()), (Some(0), ""));
        assert!(!text.contains("secret") && !text.contains("pin"), "{text}");
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let names: Vec<&str> =
            found["tables"].as_array().unwrap().iter().map(|table| table["name"].as_str().unwrap()).collect();
        assert_eq!((names.as_slice(), &found["problems"]), (wanted, &serde_json::json!([])));
        let question =
            ["--question", "What is the number and the pin of all secrets?", "--explain", "--hide", "secret"];
        let (code, text, error) = output(&[&["--database", database], &question[..]].concat());
        assert_eq!(code, Some(0), "{error}");
        assert!(!text.contains("secret") && !text.contains("pin") && !text.contains("number"), "{text}");
    };
    tables(&paths[0], &["people", "names"]);
    tables(project.to_str().unwrap(), &["city", "towns"]);
}

#[test]
fn a_folder_of_definitions_is_one_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let (code, _, error) = output(&["--database", path, "--schema", "json"]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains("no table was found") && error.contains(".sql") && error.contains("dbt_project.yml"),
        "{error}"
    );
    write_files(
        folder.path(),
        &[
            ("2_line.sql", "CREATE TABLE line (id INT PRIMARY KEY, city INT REFERENCES city);\nCREATE TABLE (;"),
            ("1_city.sql", "CREATE TABLE city (id INT PRIMARY KEY, name TEXT)"),
            ("README.md", "# Tables\n\nNone here.\n"),
        ],
    );
    let (code, text, error) = output(&["--database", path, "--schema", "json"]);
    assert_eq!(code, Some(0), "{error}");
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["joins"][0]["pairs"], serde_json::json!([[3, 0]]));
    assert!(text.contains("2_line.sql") && text.contains("the definition in line 2 is left out"), "{text}");
    assert_eq!(output(&["--database", path, "--sql", "SELECT 1"]).0, Some(3));
    // Rows go before definitions.
    write_files(folder.path(), &[("a.csv", "x,y\n1,2\n")]);
    assert_eq!(output(&["--database", path, "--sql", "SELECT x FROM a"]).0, Some(0));
}

#[test]
fn of_very_many_tables_those_of_the_question_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let table = |at: usize| {
        format!(
            "CREATE TABLE tab{at} (id INTEGER PRIMARY KEY, name TEXT, v{at} INTEGER, prev INTEGER REFERENCES tab{}(id));
             INSERT INTO tab{at} VALUES (1, 'a', {at}, 1), (2, 'b', 7, 1);",
            at.saturating_sub(1)
        )
    };
    let path = database(folder.path(), "many.db", &(0..1000).map(table).collect::<String>());
    let question = ["--question", "name of tab421 with the largest v421", "--policy", "learnt", "--deadline", "20"];
    let database = ["--database", path.to_str().unwrap(), "--format", "json"];
    let start = Instant::now();
    let (code, text, error) = output(&[&database[..], &question].concat());
    assert!(code == Some(0) || code == Some(5), "{error}");
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.starts_with("800 tables were not looked at") && error.contains(note), "{text} {error}");
    assert!(found["proposals"][0]["sql"].as_str().unwrap().contains("\"tab421\""), "{text}");
    let (code, text, error) = output(&[&database[..], &question, &["--explain"]].concat());
    assert_eq!(code, Some(0), "{error}");
    assert!(text.contains("\"tables\":[\"tab421\"]") && text.contains(note), "{text}");
}

/// What is run before a statement is taken has no more memory than the statement itself.
#[cfg(target_os = "linux")]
#[test]
fn likely_statements_are_run_in_little_memory() {
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE book (id INTEGER PRIMARY KEY, author_id INTEGER REFERENCES author, title TEXT);
        INSERT INTO author VALUES (1, 'Ann');
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO book SELECT i, 1, 'title ' || i FROM n;
        CREATE VIEW essay AS SELECT id AS essay_id, hex(randomblob(450000)) AS body FROM book ORDER BY body;";
    let path = database(folder.path(), "big.db", sql);
    let mut child = Command::new(common::QUERY)
        .args(["--database", path.to_str().unwrap(), "--question", "List the body of all essays"])
        .args(["--policy", "learnt", "--deadline", "4"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut highest = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        highest = highest.max(peak.and_then(|peak| peak.parse::<u64>().ok()).unwrap_or_default());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(highest > 0 && highest < 700_000, "{highest} kB");
}

#[path = "../examples/spider/mod.rs"]
mod spider;

/// The nodes that a ranker of schemas is told are gold are the captions and headers of what the statement has.
#[test]
fn schemas_as_documents_have_their_tables_and_columns_where_they_say() {
    use spider::{Question, documents};
    use tabsegnet_document::native::DocumentJson;
    use tabsegnet_graph::Graph;
    use tabsegnet_sql::Schema;
    use tabsegnet_sql::Value;
    use tabsegnet_sql::linking::{Linker, Model, ValueIndex, ValueLimits};
    use tabsegnet_sql::schema_graph::{SchemaGraph, Semantics, SqlDialect};

    let (schema, _) = Schema::from_ddl(LEAGUE.split("CREATE VIEW").next().unwrap(), SqlDialect::Generic).unwrap();
    let graph = SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap();
    let mut values = ValueIndex::default();
    values.add(graph.column(0, "city").unwrap(), [Value::Text("Munich".into())], ValueLimits::default());
    let linker = Linker::new(&graph, values, Model::shipped());
    let question: Question = serde_json::from_value(serde_json::json!({
        "db": "league", "question": "How many goals were shot away by the team from Munich?",
        "gold_tables": ["team", "game"], "gold_columns": ["game.goals", "team.city", "game.away_team", "team.id"],
    }))
    .unwrap();
    let json = documents::document("dev-0", &question, &linker);
    let gold: Vec<String> = serde_json::from_value(json["questions"][0]["gold"].clone()).unwrap();
    let document: DocumentJson<serde_json::Value> = serde_json::from_value(json).unwrap();
    let nodes = Graph::of(&document.into_document("dev.jsonl".as_ref()).unwrap());
    let text = |id: &str| nodes.nodes().iter().find(|node| node.id == id).map(|node| node.text.clone());
    let mut texts: Vec<String> = gold.iter().map(|id| text(id).unwrap()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["away team", "city", "game", "goals", "id", "team"]);
    let has = |text: &str| nodes.nodes().iter().any(|node| node.text == text);
    assert!(has("Munich") && has("key"), "the value that is named, and keys");
}

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
    let (questions, databases) = spider::of_spider(&data, "dev", spider::Joins::ALL).unwrap();
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

#[path = "../examples/spider/rows.rs"]
mod rows;

/// What the shipped weights reach on every fifth question of Spider's development part, lower than docs/sql.md has it.
#[test]
fn questions_of_spider_are_answered() {
    use tabsegnet_sql::compose::{Composer, Model};
    use tabsegnet_sql::linking::{Linker, Model as LinkingModel};

    let what = "the folder with the published data sets (sql/spider)";
    let Some(data) = tabsegnet_test_support::path_in("TABSEGNET_DATASETS", "questions_of_spider_are_answered", what)
    else {
        return;
    };
    let (questions, databases) = spider::of_spider(&data, "dev", spider::Joins::ALL).unwrap();
    let (mut all, mut right, mut said, mut said_right) = (0, 0, 0, 0);
    for question in questions.iter().step_by(5) {
        let at = databases.names.binary_search(&question.db).unwrap();
        let connection = rows::open(&data, &question.db).unwrap();
        let linker = Linker::new(&databases.graphs[at], databases.values[at].clone(), LinkingModel::shipped());
        let composer = Composer::new(&linker, Model::shipped());
        let found = composer.compose(&question.question, Duration::from_secs(30), &mut |sql| {
            rows::run(&connection, sql, rows::MOST_ROWS)
        });
        let gold = rows::Gold::new(&question.sql, &connection).unwrap();
        let holds = |sql: &str| gold.is_of(sql, &connection);
        all += 1;
        right += usize::from(found.proposals.first().is_some_and(|best| holds(&best.sql)));
        if let Some(chosen) = found.chosen() {
            said += 1;
            said_right += usize::from(holds(&chosen.sql));
        }
    }
    assert!(right * 100 >= all * 50, "{right} right of {all}");
    assert!(said_right * 100 >= said * 72, "{said_right} right of {said} that were said");
}
