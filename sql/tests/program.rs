//! The program `query`: exit codes, formats, and files as they are found.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{QUERY, ask, contents, database, run};
use rusqlite::Connection;
use tabsegnet_sql::{QueryError, Rows, Value};

const SQL: &str = "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t VALUES (1, 'one'), (2, NULL), (3, 'x,\"y');";

/// Exit code, standard output, standard error.
fn query(arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let output = run(arguments, input);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn failed(path: &Path) -> String {
    match ask(path, &[], "SELECT count(*) FROM t") {
        Err(QueryError::Failed { message }) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SQL);
    let path = path.to_str().unwrap();
    let (code, out, _) =
        query(&["--database", path, "--sql", "SELECT a, b, a*1.5 AS c FROM t", "--format", "json"], b"");
    assert_eq!(code, Some(0));
    assert_eq!(
        out.trim(),
        r#"{"columns":[{"name":"a","table":"t","column":"a"},{"name":"b","table":"t","column":"b"},{"name":"c"}],"rows":[[1,"one",1.5],[2,null,3.0],[3,"x,\"y",4.5]],"truncated":false}"#
    );
    let (_, out, _) = query(&["--database", path, "--sql", "-", "--format", "csv"], b"SELECT * FROM t");
    assert_eq!(out, "a,b\r\n1,one\r\n2,\r\n3,\"x,\"\"y\"\r\n");
    let (_, out, err) = query(&["--database", path, "--sql", "SELECT * FROM t", "--rows", "2"], b"");
    assert_eq!(out, "a  b\n-  ----\n1  one\n2  NULL\n");
    assert!(err.contains("more rows than these 2"), "{err}");
    let (_, out, _) = query(&["--database", path, "--sql", "SELECT * FROM t", "--rows", "3", "--format", "json"], b"");
    assert!(!serde_json::from_str::<Rows>(&out).unwrap().truncated);
}

#[test]
fn an_aggregate_says_what_it_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SQL);
    let with = |sql: &str, more: &[&str]| {
        query(&[&["--database", path.to_str().unwrap(), "--sql", sql, "--provenance"], more].concat(), b"")
    };
    let (code, out, err) = with("SELECT sum(a) FROM t WHERE a > 1", &[]);
    assert_eq!((code, out.as_str()), (Some(0), "sum(a)  source\n------  --------\n5       t:2, t:3\n"));
    assert!(err.contains("made of 2 rows"), "{err}");
    let (_, out, _) = with("SELECT sum(a) FROM t WHERE a > 1", &["--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["behind"]["rows"], serde_json::json!([[2], [3]]));
    assert_eq!(found["behind"]["sources"][1][0]["row_id"], 3);
    let (_, _, err) = with("SELECT sum(a) FROM t GROUP BY b HAVING count(*) > 0", &[]);
    assert!(err.contains("made of"), "{err}");
    // Of several groups each names its own rows, where it says which group it is.
    let (_, out, _) = with("SELECT b, count(*) FROM t WHERE b IS NOT NULL GROUP BY b", &["--format", "csv"]);
    assert_eq!(out, "b,count(*),source\r\none,1,t:1\r\n\"x,\"\"y\",1,t:3\r\n");
    let (_, out, _) = with("SELECT count(*) FROM t GROUP BY b", &["--format", "csv"]);
    assert_eq!(out, "count(*),source\r\n1,\r\n1,\r\n1,\r\n");
    let (_, _, err) = with("SELECT sum(a) FROM t GROUP BY b, a", &[]);
    assert!(err.contains("it is not known which rows"), "{err}");
    let (code, out, err) = query(&["--database", path.to_str().unwrap(), "--sql", "SELECT 1", "--explain"], b"");
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
}

#[test]
fn regression_a_total_is_no_row_and_a_digit_of_a_name_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sales.csv");
    let path = file.to_str().unwrap();
    let of = |question: &str| {
        let (code, out, err) = query(&["--database", path, "--question", question, "--format", "json"], b"");
        assert_eq!(code, Some(0), "{question}: {err}");
        serde_json::from_str::<Rows>(&out).unwrap().rows
    };
    for total in ["Total", "All regions", "Grand total"] {
        std::fs::write(&file, format!("Region,Q1,Q2\nNorth,10,20\nSouth,30,40\n{total},40,60\n")).unwrap();
        assert_eq!(of("What is the sum of Q1?"), [[Value::Integer(40)]], "{total}");
        assert_eq!(of("What is the average Q2?"), [[Value::Real(30.0)]], "{total}");
        assert_eq!(of("Which region has the highest Q1?"), [[Value::Text("South".into())]], "{total}");
    }
    std::fs::write(&file, "Region,Q1,Q3\nNorth,0.5,2\nSouth,3,40\nEast,2,1\n").unwrap();
    let (_, out, err) = query(&["--database", path, "--question", "Which region has the highest Q3?"], b"");
    assert!(out.contains("South") && !err.contains("= 3"), "{out} {err}");
}

#[test]
fn regression_a_folder_is_read_with_the_folders_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sold) in [("2022/sales.csv", 3), ("2023/sales.csv", 5)] {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, format!("Region,Sold\nEast,{sold}\n")).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let sql = "SELECT a.sold, b.sold FROM _2022_sales AS a, _2023_sales AS b";
    let (code, out, err) = query(&["--database", path, "--sql", sql, "--format", "csv"], b"");
    assert_eq!((code, out.as_str()), (Some(0), "sold,sold\r\n3,5\r\n"), "{err}");
}

#[test]
fn regression_a_question_with_a_hidden_table_beside_says_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("orders.csv"), "order_id,product\n1,Mug\n2,Pan\n").unwrap();
    std::fs::write(folder.path().join("staff.md"), "| Office | Head |\n|---|---|\n| Oslo | Ann |\n").unwrap();
    let files = folder.path().to_str().unwrap();
    let (code, out, err) =
        query(&["--database", files, "--hide", "staff", "--question", "How many orders are there?"], b"");
    assert_eq!((code, out.as_str()), (Some(0), "count(*)\n--------\n2\n"), "{err}");
    assert!(!err.contains("staff"), "{err}");
}

#[test]
fn exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SQL);
    let path = path.to_str().unwrap();
    let with = |sql: &str, more: &[&str]| query(&[&["--database", path, "--sql", sql], more].concat(), b"");
    let (code, out, err) = with("DROP TABLE t", &[]);
    assert_eq!((code, out.as_str()), (Some(3), ""));
    assert!(err.starts_with("refused: DROP is not allowed"), "{err}");
    let (code, _, err) = with("SELECT * FROM t", &["--hide", "T"]);
    assert_eq!((code, err.as_str()), (Some(3), "refused: no such table: t\n"));
    let (code, _, err) = with("SELECT x FROM t", &[]);
    assert_eq!((code, err.as_str()), (Some(3), "refused: no such column: x; the nearest that there are: t.a, t.b\n"));
    let two = database(folder.path(), "two.db", "CREATE TABLE city (a); CREATE TABLE cite (b)");
    let (_, _, err) =
        query(&["--database", two.to_str().unwrap(), "--hide", "cite", "--sql", "SELECT * FROM cites"], b"");
    assert_eq!(err, "refused: no such table: cites; the nearest that there is: city\n");
    let (code, _, err) = with("SELECT * FROM t", &["--hide", "tt"]);
    assert_eq!(code, Some(0));
    assert!(err.starts_with("warning: --hide tt"), "{err}");
    let endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT count(*) FROM r";
    let (code, _, err) = with(endless, &["--deadline", "0.2"]);
    assert_eq!((code, err.as_str()), (Some(4), "stopped: time: 0.2 s\n"));
    let (code, _, err) = with("SELECT zeroblob(2000000)", &[]);
    assert_eq!(code, Some(4), "{err}");
    let (code, _, err) = with("SELECT 1\u{1b}[2J", &[]);
    assert_eq!(code, Some(3));
    assert!(!err.contains('\u{1b}'), "{err}");
    let (code, _, err) = query(&["--database", "/no/such/file", "--sql", "SELECT 1"], b"");
    assert_eq!(code, Some(1));
    assert!(err.starts_with("error: /no/such/file cannot be read"), "{err}");
    for (question, said) in
        [(" ?", "the question is blank"), (&"and ".repeat(3000), "the question has 12000 characters")]
    {
        let (code, _, err) = query(&["--database", path, "--question", question], b"");
        assert!(code == Some(2) && err.contains(said), "{err}");
    }
    let (code, _, err) = query(&["--database", path, "--sql", "SELECT 1", "--record", path], b"");
    assert!(
        code == Some(2) && err.contains("--record") && err.contains("--database") && err.contains("one file"),
        "{err}"
    );
    for wrong in
        [&["--database", path][..], &["--sql", "SELECT 1"], &["--database", path, "--sql", "SELECT 1", "--rows", "x"]]
    {
        assert_eq!(query(wrong, b"").0, Some(2));
    }
    for seconds in ["0", "-1", "nan", "1e9", "x"] {
        assert_eq!(with("SELECT 1", &[&format!("--deadline={seconds}")]).0, Some(2), "{seconds}");
    }
    let (code, _, err) = query(&["--database", path, "--sql", "-"], b"SELECT '\xff'");
    assert_eq!((code, err.as_str()), (Some(3), "refused: the statement is not UTF-8\n"));
    let long = format!("SELECT '{}'", "é".repeat(1_000_000));
    assert_eq!(query(&["--database", path, "--sql", "-"], long.as_bytes()).0, Some(4));
    assert_eq!(query(&["--database", path, "--sql", "-"], b"").0, Some(3));
}

#[test]
fn regression_json_that_nobody_reads_is_success() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SQL);
    let path = path.to_str().unwrap();
    for what in [&["--schema", "json"][..], &["--question", "how many t?", "--explain", "--format", "json"]] {
        let arguments = [&["--database", path], what].concat();
        let mut child =
            Command::new(QUERY).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{what:?}");
    }
}

#[test]
fn values_of_all_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SQL);
    let rows = ask(
        &path,
        &[],
        "SELECT NULL, 9223372036854775807, 0.1, 9e999, -9e999, 'ü', x'00ff', CAST(x'ff41' AS TEXT), 2.0",
    )
    .unwrap();
    assert_eq!(
        rows.rows[0],
        [
            Value::Null,
            Value::Integer(i64::MAX),
            Value::Real(0.1),
            Value::Real(f64::INFINITY),
            Value::Real(f64::NEG_INFINITY),
            Value::Text("ü".to_owned()),
            Value::Blob(vec![0, 255]),
            Value::Blob(vec![0xff, 0x41]),
            Value::Real(2.0),
        ]
    );
    let big = ask(&path, &[], "SELECT hex(zeroblob(200000)) FROM t a, t b").unwrap();
    assert_eq!((big.rows.len(), big.truncated), (2, true));
}

#[test]
fn files_that_are_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", &format!("{SQL} CREATE INDEX i ON t(b);"));
    let good = std::fs::read(&path).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    assert!(failed(&write("empty", b"")).ends_with("is empty"));
    assert!(failed(&write("text", b"SQLite format 4")).contains("not a SQLite database"));
    for cut in [100, 600, good.len() - 1] {
        assert!(failed(&write("cut", good.get(..cut).unwrap())).contains("is cut off"));
    }
    let noise: Vec<u8> = (0..good.len()).map(|at| (at * 97 % 251) as u8).collect();
    assert!(failed(&write("encrypted", &noise)).contains("encrypted"));
    assert!(failed(folder.path()).contains("not a regular file"));
    let mut broken = good.clone();
    broken.truncate(16);
    broken.extend(&noise);
    failed(&write("noise", &broken));
    // Every page destroyed in turn: an answer or a message, never a crash.
    for start in (100..good.len()).step_by(512) {
        let mut bytes = good.clone();
        for (byte, noise) in bytes.iter_mut().skip(start).take(300).zip(&noise) {
            *byte ^= noise;
        }
        let found = ask(&write("page", &bytes), &[], "SELECT count(*), max(b) FROM t");
        assert!(!matches!(&found, Err(QueryError::Stopped { limit }) if limit.contains("crash")), "{found:?}");
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_files_or_odd() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a?mode=rw&x=#%20 'b\".db", SQL);
    assert!(ask(&path, &[], "SELECT * FROM t").is_ok());
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(ask(&link, &[], "SELECT * FROM t").is_ok());
    assert!(failed(Path::new("/dev/zero")).contains("not a regular file"));
}

/// A database in WAL mode is read as it is, and nothing is made or changed beside it.
#[test]
fn write_ahead_logs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wal.db");
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch(&format!("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; {SQL}")).unwrap();
    let count = |path: &Path| ask(path, &[], "SELECT count(*) FROM t").map(|rows| rows.rows[0][0].clone());
    // Its writer is alive: the rows are in the log alone.
    let before = contents(folder.path());
    assert_eq!(before.len(), 3);
    assert_eq!(count(&path), Ok(Value::Integer(3)));
    assert!(before == contents(folder.path()));
    // Its writer died: what it left is a copy of the three files.
    let left = tempfile::tempdir().unwrap();
    for ending in ["", "-wal", "-shm"] {
        let name = format!("wal.db{ending}");
        std::fs::copy(folder.path().join(&name), left.path().join(&name)).unwrap();
    }
    let copy = left.path().join("wal.db");
    let before = contents(left.path());
    assert_eq!(count(&copy), Ok(Value::Integer(3)));
    assert!(before == contents(left.path()));
    // The index of the log is missing: it cannot be read without making one.
    std::fs::remove_file(left.path().join("wal.db-shm")).unwrap();
    let before = contents(left.path());
    assert!(failed(&copy).contains("WAL mode"));
    assert!(before == contents(left.path()));
    // Closed as it should be: there is no log.
    writer.close().unwrap();
    assert_eq!(contents(folder.path()).len(), 1);
    assert_eq!(count(&path), Ok(Value::Integer(3)));
    assert_eq!(contents(folder.path()).len(), 1);
}

#[test]
fn a_locked_database_and_a_journal_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SQL);
    let writer = Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(failed(&path).contains("locked"));
    writer.execute_batch("ROLLBACK; PRAGMA cache_size=1; PRAGMA journal_mode=PERSIST").unwrap();
    writer.execute_batch("INSERT INTO t VALUES (4, 'four')").unwrap();
    writer.close().unwrap();
    assert!(folder.path().join("a.db-journal").exists());
    assert!(ask(&path, &[], "SELECT * FROM t").is_ok());
    // As after a crash in the middle of a change, which is to be taken back before anything is read.
    let writer = Connection::open(&path).unwrap();
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) INSERT INTO t SELECT i, hex(randomblob(200)) FROM n";
    writer.execute_batch(&format!("PRAGMA cache_size=1; BEGIN; UPDATE t SET b = 'z'; {many}")).unwrap();
    let left = tempfile::tempdir().unwrap();
    for name in ["a.db", "a.db-journal"] {
        std::fs::copy(folder.path().join(name), left.path().join(name)).unwrap();
    }
    let message = failed(&left.path().join("a.db"));
    assert!(message.contains("broken off") && message.contains("a.db-journal"), "{message}");
}

#[test]
fn files_are_databases_and_values_are_cited() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sales.csv"), "City,Sold (units)\nRome,\"1,115\"\nOslo,–\nBern,20\n").unwrap();
    std::fs::write(folder.path().join("where.jsonl"), "{\"city\": \"Rome\", \"land\": \"Italy\"}\n").unwrap();
    let path = folder.path().to_str().unwrap();
    let sql =
        "SELECT s.city, sold_units, land FROM sales s LEFT JOIN \"where\" w USING (city) ORDER BY sold_units DESC";
    let (code, out, err) = query(&["--database", path, "--sql", sql, "--format", "csv", "--provenance"], b"");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(
        out,
        "city,sold_units,land,source\r\nRome,1115,Italy,\"sales.csv t0:r1h0, sales.csv t0:r1c1, where.jsonl r0c1\"\r\n\
         Bern,20,,\"sales.csv t0:r3h0, sales.csv t0:r3c1\"\r\nOslo,,,\"sales.csv t0:r2h0, sales.csv t0:r2c1\"\r\n"
    );
    let csv = folder.path().join("sales.csv");
    let csv = csv.to_str().unwrap();
    let arguments =
        ["--database", csv, "--sql", "SELECT sold_units FROM sales LIMIT 1", "--format", "json", "--provenance"];
    let (_, out, _) = query(&arguments, b"");
    let source = &serde_json::from_str::<serde_json::Value>(&out).unwrap()["sources"][0][0];
    assert_eq!((&source["cited"]["node"], &source["cited"]["header"]), (&"t0:r1c1".into(), &"Sold (units)".into()));
    let (_, out, _) =
        query(&["--database", csv, "--sql", "SELECT sum(sold_units) AS s FROM sales", "--format", "csv"], b"");
    assert_eq!(out, "s\r\n1135\r\n");
    let (code, _, err) = query(&["--database", "/no/such.csv", "--sql", "SELECT 1"], b"");
    assert_eq!(code, Some(1));
    assert!(err.contains("/no/such.csv"), "{err}");
}

#[test]
fn questions_become_statements() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cities.csv");
    std::fs::write(
        &path,
        "City,Country,Population\nRome,Italy,\"2,800,000\"\nMilan,Italy,\"1,400,000\"\nOslo,Norway,\"700,000\"\nBergen,Norway,\"280,000\"\nParis,France,\"2,100,000\"\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    let found = |question: &str| {
        let (code, out, err) = query(&["--database", path, "--question", question, "--format", "csv"], b"");
        assert_eq!(code, Some(0), "{question}: {err}");
        out.lines().nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(found("which city has the largest population?"), "Rome");
    assert_eq!(found("how many cities are in Norway?"), "2");
    assert_eq!(found("what is the population of Bergen?"), "280000");
    for blank in ["", " \t\n"] {
        for more in [&["--format", "json"][..], &["--explain"]] {
            let (code, out, err) = query(&[&["--database", path, "--question", blank], more].concat(), b"");
            assert_eq!(
                (code, out.as_str(), err.as_str()),
                (Some(2), "", "error: the question is blank; expected a question in words\n")
            );
        }
    }
    let (code, out, err) = query(&["--database", path, "--question", "?!", "--format", "json"], b"");
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("the question is blank"), "{err}");
    let arguments =
        ["--database", path, "--question", "what is the population of Bergen?", "--format", "json", "--provenance"];
    let (_, out, _) = query(&arguments, b"");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["sources"][0][0]["cited"]["node"], "t0:r4c2", "{json}");
    assert!(json["confidence"].as_f64().unwrap() > 0.25 && json["sql"].as_str().unwrap().starts_with("SELECT"));
    let (code, ..) = query(&["--database", path, "--question", "a", "--sql", "SELECT 1"], b"");
    assert_eq!(code, Some(2));
}

#[test]
fn a_database_without_tables_is_said_to_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "none.db", "PRAGMA user_version=1");
    let path = path.to_str().unwrap();
    let (code, out, err) = query(&["--database", path, "--question", "how many singers?", "--explain"], b"");
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "warnings\n  there are no tables\n", ""));
    let (code, out, err) =
        query(&["--database", path, "--question", "how many singers?", "--policy", "learnt", "--format", "json"], b"");
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &found["notes"]), (Some(5), &serde_json::json!(["there are no tables"])), "{out}");
    assert!(err.contains("note: there are no tables\n"), "{err}");
}

#[test]
fn no_message_has_the_password_of_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("u:s3cret-pw@h");
    for name in [
        "mysql://u:s3cret-pw@h/d",
        "mysql://u:a@s3cret-pw@h/d",
        "host=h user=u password=s3cret-pw dbname=d",
        "Server=h;Pwd=s3cret-pw;Database=d",
        file.to_str().unwrap(),
    ] {
        for more in
            [&["--sql", "SELECT 1"][..], &["--question", "how many?", "--policy", "learnt"], &["--schema", "json"]]
        {
            let (code, out, err) = query(&[&["--database", name], more].concat(), b"");
            assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
            assert!(!err.contains("s3cret-pw") && err.contains("***"), "{err}");
        }
    }
    // In any case of its letters it is the URL of a server.
    let url = "PostgreSQL://u:s3cret-pw@127.0.0.1:1/d?connect_timeout=1";
    let (code, _, err) = query(&["--database", url, "--sql", "SELECT 1"], b"");
    assert_eq!(code, Some(1));
    assert!(err.contains("PostgreSQL") && !err.contains("s3cret-pw") && !err.contains("no file"), "{err}");
}
