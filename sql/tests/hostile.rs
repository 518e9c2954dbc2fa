//! Statements that want to write, to see more than they may or to exhaust the machine; and harmless ones.

mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{ask, contents, database, hiding};
use tabsegnet_sql::{Database, QueryError, Rows};
use tabsegnet_test_support::{path_in, say};

/// The longest that any statement may take with the default deadline.
const LONGEST: Duration = Duration::from_millis(1500);

fn items(folder: &Path) -> PathBuf {
    let mut sql = String::from(
        "CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, price REAL);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
             INSERT INTO items(name, price) SELECT 'item ' || i, i * 1.5 FROM n;
         CREATE INDEX by_name ON items(name);
         ANALYZE;
         CREATE VIRTUAL TABLE pages USING dbstat(main);
         CREATE VIRTUAL TABLE texts USING fts5(text);
         INSERT INTO texts VALUES ('one two'), ('two three');
         CREATE VIRTUAL TABLE boxes USING rtree(id, low, high);
         INSERT INTO boxes VALUES (1, 0, 2), (2, 5, 6);
         CREATE VIEW cheap AS SELECT name, price FROM items WHERE price < 10;
         CREATE VIEW v0 AS SELECT a.id FROM items a, items b;\n",
    );
    for level in 1..=40 {
        let below = level - 1;
        writeln!(sql, "CREATE VIEW v{level} AS SELECT a.id FROM v{below} a, v{below} b;").unwrap();
    }
    database(folder, "items.db", &sql)
}

/// Statements that must be refused.
const REFUSED: &[&str] = &[
    // They write.
    "INSERT INTO items VALUES (900, 'x', 1.0)",
    "insert or ignore into items default values",
    "WITH d AS (SELECT id FROM items) UPDATE items SET price = 0 WHERE id IN d",
    "WITH d AS (SELECT 1) DELETE FROM items RETURNING *",
    "WITH d AS (VALUES (1)) REPLACE INTO items(id) SELECT * FROM d",
    "WITH d AS (VALUES (1)) INSERT INTO texts SELECT 'x' FROM d",
    "CREATE TEMP TABLE x AS SELECT * FROM items",
    "CREATE TRIGGER t AFTER INSERT ON items BEGIN SELECT 1; END",
    "DROP TABLE items",
    "ALTER TABLE items RENAME TO other",
    "ANALYZE items",
    "REINDEX items",
    "SAVEPOINT s",
    "BEGIN IMMEDIATE",
    "COMMIT",
    // They reach files or settings.
    "ATTACH DATABASE ':memory:' AS m",
    "ATTACH 'file:/tmp/z?mode=rwc' AS z",
    "VACUUM main INTO 'copy.db'",
    "PRAGMA journal_mode=DELETE",
    "PRAGMA table_info(items)",
    "pragma main.user_version",
    "/* hi */ PRAGMA query_only=0",
    "SELECT load_extension('/tmp/a.so')",
    "SELECT readfile('/etc/hostname')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT * FROM items WHERE id IN '/etc/hostname'",
    // They look behind the tables.
    "EXPLAIN SELECT * FROM items",
    "EXPLAIN QUERY PLAN SELECT * FROM items",
    "SELECT sqlite_version()",
    "SELECT sqlite_compileoption_get(1)",
    "SELECT sqlite_offset(id) FROM items",
    "SELECT last_insert_rowid()",
    "SELECT total_changes()",
    "SELECT fts5_source_id()",
    "SELECT rtreecheck('boxes')",
    "SELECT name FROM sqlite_master",
    "SELECT count(*) FROM SQLITE_MASTER",
    "SELECT \"sql\" FROM \"main\".\"sqlite_schema\"",
    "SELECT count(*) FROM main.sqlite_schema",
    "SELECT * FROM sqlite_temp_schema",
    "SELECT seq FROM [sqlite_sequence]",
    "SELECT count(*) FROM sqlite_stat1",
    "SELECT * FROM pragma_table_info('items')",
    "SELECT count(*) FROM pragma_function_list()",
    "SELECT 1 FROM dbstat",
    "SELECT (SELECT count(*) FROM `DbStat`)",
    "SELECT name FROM pages",
    "SELECT count(*) FROM pages",
    "SELECT * FROM sqlite_stmt",
    "SELECT * FROM bytecode('select 1')",
    "SELECT * FROM fts3tokenize WHERE input = 'a b'",
    "SELECT 1 FROM items WHERE EXISTS (SELECT 1 FROM temp.sqlite_schema)",
    // They call what never looks at the clock, or what is not there.
    "SELECT printf('%d', 1)",
    "SELECT FoRmAt('%.*c', 1000000, 'x')",
    "SELECT 'a' REGEXP '(a+)+$'",
    "SELECT name MATCH 'x' FROM items",
    "SELECT count(*) FROM generate_series(1, 10)",
    // They are more than one, or none, or no SQL.
    "SELECT 1;SELECT 1",
    "SELECT 1; /* */ ; VALUES(2)",
    "SELECT 1;\u{a0}",
    ";SELECT 1",
    "SELECT 1; \0",
    "SELECT 1 \0 FROM items",
    "SELECT * FROM items WHERE",
    "SELECT * FRM items",
    "SELECT \"no such name\"",
    "SELECT count(*) FROM items WHERE name <> \"item 7\"",
    "\u{200b}SELECT 1",
    "SELECT '",
    "SELECT [a",
    "((((SELECT 1))))",
    "SELECT x'0'",
    "SELECT 1 /* ; */ ; -- ; \n DROP TABLE items",
    "SELECT * FROM items WHERE id = ?1",
    "SELECT $x",
    "SELECT :a + @b",
    "SELECT json('{')",
    "SELECT abs(-9223372036854775808)",
    "SELECT text FROM texts WHERE texts MATCH '\"'",
];

/// Statements that must be answered.
const ANSWERED: &[&str] = &[
    "SELECT count(*) FROM items",
    "SELECT * FROM cheap",
    "WITH c AS (SELECT 1) SELECT count(*) FROM c",
    "WITH c(x) AS (VALUES (1), (2)) SELECT 1 FROM c",
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT sum(i) FROM n",
    "SELECT name, rank() OVER (ORDER BY price DESC) FROM items LIMIT 3",
    "SELECT text, snippet(texts, 0, '[', ']', '', 5) FROM texts WHERE texts MATCH 'two' ORDER BY bm25(texts)",
    "SELECT id FROM boxes WHERE low > 1 AND high < 10",
    "SELECT value FROM json_each('[1, 2]')",
    "SELECT count(*) FROM json_tree('{\"a\": [1]}')",
    "SELECT '{\"a\": 1}' ->> 'a', 'x' LIKE '%X%', 'x' GLOB '[a-z]'",
    "SELECT date('2024-01-31', '+1 month'), strftime('%Y', 0, 'unixepoch'), julianday('now')",
    "SELECT group_concat(name, ';') FROM (SELECT name FROM items LIMIT 5)",
    "SELECT 'DROP TABLE items', '; DELETE FROM items', \"name\" FROM \"items\" LIMIT 1",
    "SELECT rowid, * FROM items INDEXED BY by_name WHERE name = 'item 7';; -- the end",
    "SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 1",
    "SELECT CAST('12' AS INTEGER), total(price), median FROM items, (SELECT 1 AS median)",
    "SELECT upper(hex(zeroblob(3))), iif(1, 'a', 'b'), coalesce(NULL, 2), nullif(1, 1)",
];

/// Statements that ask for too much: whatever comes of them must come soon.
fn heavy() -> Vec<String> {
    let mega = "hex(zeroblob(499990))";
    let cross = "items a, items b, items c, items d, items e";
    let mut heavy: Vec<String> = [
        "WITH RECURSIVE r(a) AS (VALUES (1) UNION SELECT a + 1 FROM r) SELECT a FROM r ORDER BY a DESC",
        "WITH RECURSIVE r(a) AS (VALUES (1) UNION ALL SELECT a FROM r) SELECT count(*) FROM r",
        "WITH RECURSIVE r(s) AS (SELECT 'x' UNION ALL SELECT s || hex(randomblob(1000)) FROM r) SELECT count(s) FROM r ORDER BY s",
        "WITH RECURSIVE r(s, t) AS (SELECT 'x', 'y' UNION ALL SELECT t || s, s || t FROM r) SELECT max(s) FROM r",
        "SELECT * FROM items a, items b, items c LIMIT -1 OFFSET 9000000000000000000",
        "SELECT randomblob(9223372036854775807)",
        "SELECT zeroblob(999999999999)",
        "SELECT count(*) FROM v3",
        "SELECT count(*) FROM v40",
        "SELECT * FROM v39 x, v40 y",
        "SELECT count(*) FROM items a LEFT JOIN items b ON a.id <> b.id LEFT JOIN items c ON b.id <> c.id LEFT JOIN items d ON c.id <> d.id",
        "SELECT name FROM items a WHERE (SELECT count(*) FROM items b, items c WHERE b.id + c.id > a.id) > 0",
        "SELECT sum(a.id) OVER (ORDER BY b.price ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING) FROM items a, items b",
        "SELECT avg(a.id) OVER (ORDER BY b.price RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM items a, items b, items c",
        "SELECT text FROM texts WHERE texts MATCH 'two OR two OR two OR two*' AND (SELECT count(*) FROM items a, items b, items c, items d) > 0",
    ]
    .map(str::to_owned)
    .to_vec();
    heavy.extend([
        // Quadratic in a megabyte, and deaf to the progress handler.
        format!("SELECT instr({mega}, hex(zeroblob(249990)) || '1')"),
        format!("SELECT replace({mega}, hex(zeroblob(249990)) || '1', 'x')"),
        format!("SELECT trim({mega}, replace(hex(zeroblob(30000)), '0', '1') || '0')"),
        format!("SELECT ltrim({mega}, replace(hex(zeroblob(30000)), '0', 'é') || '0')"),
        format!("SELECT rtrim({mega}, replace(hex(zeroblob(30000)), '0', '1') || '0') FROM items"),
        format!("SELECT {mega} LIKE '{}1'", "%0".repeat(99)),
        format!("SELECT {mega} GLOB '{}1'", "*0".repeat(99)),
        format!("SELECT {mega} LIKE '{}'", "%0".repeat(150)),
        format!("SELECT {mega} GLOB '{}'", "[^1-9]*".repeat(28)),
        format!("SELECT max(replace({mega}, '0', 'a')) FROM {cross}"),
        format!("SELECT sum(length(unhex({mega}))) FROM {cross}"),
        format!("SELECT count(DISTINCT {mega} || random()) FROM {cross}"),
        format!("SELECT count(DISTINCT hex(randomblob(500))) FROM {cross}"),
        format!("SELECT DISTINCT hex(randomblob(5000)) FROM {cross} ORDER BY 1"),
        format!("SELECT a.id FROM {cross} ORDER BY random() LIMIT 1"),
        format!("SELECT a.id, count(*) FROM {cross} GROUP BY a.id, b.id, c.id"),
        format!("SELECT group_concat(hex(zeroblob(1000)), '') FROM {cross}"),
        format!("SELECT string_agg(a.name, b.name) FROM {cross}"),
        format!("SELECT json_group_array(hex(randomblob(10000))) FROM {cross}"),
        format!("SELECT json_group_object(a.name || b.name, hex(randomblob(1000))) FROM {cross}"),
        format!("SELECT jsonb_group_array(a.name) FROM {cross}"),
        format!("SELECT json(replace({mega}, '00', '['))"),
        format!("SELECT count(*) FROM json_tree('[' || replace({mega}, '00', '1,') || '1]'), {cross}"),
        format!(
            "SELECT json_extract('[' || replace(hex(zeroblob(300000)), '00', '1,') || '1]', '$[#-1]') FROM {cross}"
        ),
        "SELECT strftime(replace(hex(zeroblob(200000)), '0', '%s'))".to_owned(),
        format!("SELECT quote({mega}) FROM {cross}"),
        format!("SELECT unistr(replace({mega}, '0000', '\\0041')) FROM {cross}"),
        format!("SELECT soundex({mega}), upper({mega}), lower({mega}) FROM {cross}"),
        format!("SELECT {}", vec![mega; 400].join(", ")),
        format!("SELECT * FROM (SELECT {}) x, items", vec![mega; 100].join(", ")),
        format!("SELECT concat({})", vec![mega; 50].join(", ")),
        // Deep or wide.
        format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("SELECT {}1{}", "(SELECT ".repeat(5_000), ")".repeat(5_000)),
        format!("SELECT * FROM {}items{}", "(SELECT * FROM ".repeat(3_000), ")".repeat(3_000)),
        format!("SELECT * FROM {}items{}", "(SELECT * FROM ".repeat(150), ")".repeat(150)),
        format!("SELECT * FROM {}items{}", "(".repeat(3_000), ")".repeat(3_000)),
        format!("SELECT {}1{}", "CASE WHEN 1 THEN ".repeat(3_000), " END".repeat(3_000)),
        format!("SELECT 1 WHERE {}1{}", "EXISTS (SELECT 1 WHERE ".repeat(2_000), ")".repeat(2_000)),
        format!("SELECT {}1", "- ".repeat(40_000)),
        format!("SELECT {}1", "NOT ".repeat(20_000)),
        format!("SELECT 1{}", " + 1".repeat(20_000)),
        format!("SELECT 1{}", " COLLATE nocase".repeat(5_000)),
        format!("SELECT '{{}}'{}", " -> 'a'".repeat(5_000)),
        format!("SELECT {}", vec!["1"; 3_000].join(", ")),
        format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(4_000)),
        format!("VALUES (1){}", ", (1)".repeat(15_000)),
        format!("SELECT 1 WHERE 1 IN (0{})", ", 1".repeat(30_000)),
        format!("SELECT * FROM items x0{}", (1..80).map(|n| format!(", items x{n}")).collect::<String>()),
        format!("SELECT * FROM items x0{}", (1..60).map(|n| format!(" NATURAL JOIN items x{n}")).collect::<String>()),
        format!(
            "SELECT count(*) FROM items x0{}",
            (1..60).map(|n| format!(" JOIN items x{n} ON x{n}.name > x{}.name", n - 1)).collect::<String>()
        ),
        format!(
            "WITH a0 AS (SELECT 1){} SELECT count(*) FROM a40",
            (1..=40).map(|n| format!(", a{n} AS (SELECT 1 FROM a{0} x, a{0} y)", n - 1)).collect::<String>()
        ),
        format!("SELECT coalesce({})", vec!["NULL"; 5_000].join(", ")),
        format!("SELECT count(*) FROM items WHERE {}", vec!["name LIKE '%1%'"; 2_000].join(" OR ")),
        format!("SELECT '{}'", "y".repeat(2_000_000)),
    ]);
    heavy
}

/// Asks, and once more where it took too long: a busy machine can hold up any process.
fn timed(path: &Path, hide: &[&str], sql: &str) -> (Result<Rows, QueryError>, Duration) {
    let ask = || {
        let start = Instant::now();
        (ask(path, hide, sql), start.elapsed())
    };
    let (first, took) = ask();
    if took > LONGEST { ask() } else { (first, took) }
}

/// What went wrong with one statement, if anything.
fn told(sql: &str, wanted: &str, outcome: &Result<Rows, QueryError>, took: Duration) -> Option<String> {
    let held = match outcome {
        Ok(_) => ["answered", "bounded"].contains(&wanted),
        Err(QueryError::Refused { .. }) => wanted != "answered",
        Err(QueryError::Stopped { .. }) => ["bounded", "not answered"].contains(&wanted),
        Err(QueryError::Failed { .. }) => false,
    };
    let start: String = sql.chars().take(100).collect();
    if !held {
        let outcome = outcome.as_ref().map(|rows| rows.rows.len());
        return Some(format!("{start}: should be {wanted}, was {outcome:?} rows"));
    }
    (took > LONGEST).then(|| format!("{start}: took {took:?}"))
}

#[test]
fn statements_of_our_own_are_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = items(folder.path());
    let before = contents(folder.path());
    let mut wrong = Vec::new();
    let mut slowest = Duration::ZERO;
    let heavy = heavy();
    let cases = REFUSED.iter().map(|sql| (*sql, "refused")).chain(ANSWERED.iter().map(|sql| (*sql, "answered")));
    let cases: Vec<(&str, &str)> = cases.chain(heavy.iter().map(|sql| (sql.as_str(), "bounded"))).collect();
    for (sql, wanted) in &cases {
        let (outcome, took) = timed(&path, &[], sql);
        slowest = slowest.max(took);
        if std::env::var_os("TABSEGNET_SHOW").is_some() {
            let outcome = outcome.as_ref().map(|rows| (rows.rows.len(), rows.truncated));
            say(&format!("{took:?} {} {outcome:?}", sql.chars().take(90).collect::<String>()));
        }
        wrong.extend(told(sql, wanted, &outcome, took));
        assert!(before == contents(folder.path()), "{sql} changed a file");
    }
    say(&format!(
        "hostile statements of our own: {} refused, {} answered, {} bounded wanted; {} went wrong; the slowest took {slowest:?}",
        REFUSED.len(),
        ANSWERED.len(),
        heavy.len(),
        wrong.len()
    ));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// In the library's own process: what the authorizer and the limits hold without a process to kill.
#[test]
fn refused_and_answered_in_one_process_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = items(folder.path());
    let before = contents(folder.path());
    let opened = Database::open(&path, &hiding(&[])).unwrap();
    let cases = REFUSED.iter().map(|sql| (*sql, "refused")).chain(ANSWERED.iter().map(|sql| (*sql, "answered")));
    let wrong: Vec<String> =
        cases.filter_map(|(sql, wanted)| told(sql, wanted, &opened.query(sql), Duration::ZERO)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(before == contents(folder.path()));
}

/// The list of hostile statements: every one must be held, every harmless one answered.
#[test]
fn the_list_is_held() {
    let test = "the list of hostile SQL";
    let Some(folder) = path_in("TABSEGNET_DATASETS", test, "the folder that holds the data sets") else { return };
    let list = folder.join("sql/hostile.json.gz");
    let file = std::fs::File::open(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
    let cases: Vec<std::collections::HashMap<String, String>> =
        serde_json::from_reader(flate2::read::GzDecoder::new(file)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = database(
        folder.path(),
        "list.db",
        "CREATE TABLE t(a, b);
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) INSERT INTO t SELECT i, i % 7 FROM n;
         CREATE TABLE secret(password);
         INSERT INTO secret VALUES ('hunter2');
         CREATE VIEW view_on_secret AS SELECT password FROM secret;",
    );
    let before = contents(folder.path());
    let (mut wrong, mut slowest, mut counts) = (Vec::new(), Duration::ZERO, [0; 3]);
    for case in &cases {
        let sql = &case["sql"];
        let (place, wanted) = match case["want"].as_str() {
            "deny" => (0, "not answered"),
            "bounded" => (1, "bounded"),
            "answer" => (2, "answered"),
            other => panic!("{}: {other}", list.display()),
        };
        counts[place] += 1;
        let (outcome, took) = timed(&path, &["secret"], sql);
        slowest = slowest.max(took);
        wrong.extend(told(sql, wanted, &outcome, took));
        if let Ok(rows) = &outcome {
            assert!(!format!("{rows:?}").contains("hunter2"), "{sql}");
        }
        assert!(before == contents(folder.path()), "{sql} changed a file");
    }
    say(&format!(
        "the list of hostile SQL: {} to deny, {} to bound, {} to answer; {} went wrong; the slowest took {slowest:?}",
        counts[0],
        counts[1],
        counts[2],
        wrong.len()
    ));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
