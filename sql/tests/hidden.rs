//! A hidden table is as if it were not there: what a statement gets is what it gets from a database without it.

mod common;

use common::{ask, database, hiding};
use tabsegnet_sql::{Database, QueryError};

const SEEN: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, boss INTEGER REFERENCES people);
    INSERT INTO people VALUES (1, 'Ada', NULL), (2, 'Bo', 1);
    CREATE VIEW names AS SELECT name FROM people;
    CREATE VIEW of_names AS SELECT count(*) AS n FROM names;
    CREATE VIEW dangling AS SELECT * FROM nowhere;
    CREATE VIEW cycle_a AS SELECT * FROM cycle_b;
    CREATE VIEW cycle_b AS SELECT * FROM cycle_a;
    CREATE VIRTUAL TABLE notes USING fts5(text);
    INSERT INTO notes VALUES ('seen by all');
";

const HIDDEN: &str = "
    CREATE TABLE accounts (number INTEGER PRIMARY KEY, pin TEXT);
    INSERT INTO accounts VALUES (7, 'hunter2');
    CREATE INDEX accounts_pin ON accounts(pin);
    CREATE VIEW pins AS SELECT pin FROM Accounts;
    CREATE VIEW over_pins AS SELECT * FROM pins;
    CREATE VIEW mixed AS SELECT name, (SELECT max(pin) FROM accounts) AS pin FROM people;
    CREATE VIEW counted AS SELECT count(*) AS n FROM accounts;
    CREATE VIEW \"is there\" AS SELECT 1 AS yes WHERE EXISTS (SELECT 1 FROM \"accounts\");
    CREATE VIEW listed AS SELECT 7 IN accounts AS yes FROM people;
    CREATE VIEW broken AS SELECT accounts.absent FROM accounts;
    CREATE VIEW over_broken AS SELECT * FROM broken;
    CREATE VIRTUAL TABLE diary USING fts5(text);
    INSERT INTO diary VALUES ('hunter2 again');
    CREATE VIRTUAL TABLE found USING fts5(pin, content='accounts', content_rowid='number');
    INSERT INTO found(found) VALUES ('rebuild');
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab('diary', 'row');
    CREATE VIEW dead AS SELECT id FROM people WHERE 1 OR EXISTS (SELECT 1 FROM accounts);
    CREATE VIEW over_dead AS SELECT id, (SELECT 1 FROM dead) AS one FROM people;
    CREATE VIEW marked AS SELECT pin FROM \u{feff}accounts;
    CREATE TRIGGER audit AFTER UPDATE ON people BEGIN UPDATE accounts SET pin = 0; END;
";

const HIDE: [&str; 2] = ["ACCOUNTS", "diary"];

const NAMES: [&str; 19] = [
    "\u{feff}accounts", "accounts", "ACCOUNTS", "\"Accounts\"", "[accounts]", "`aCCounts`", "'accounts'",
    "main.accounts", "\"main\".accounts", "temp.accounts", "pins", "over_pins", "mixed", "counted", "\"is there\"",
    "diary", "diary_content", "found", "broken",
];

const MORE_NAMES: [&str; 8] =
    ["marked", "dead", "over_dead", "vocabulary", "listed", "over_broken", "found_data", "accounts_pin"];

const STATEMENTS: [&str; 44] = [
    // What SQLite leaves out, as it cannot change the answer.
    "SELECT id FROM people WHERE 1 OR (SELECT count(*) FROM {})",
    "SELECT id FROM people WHERE 0 AND EXISTS (SELECT 1 FROM {})",
    "SELECT id FROM (SELECT id, (SELECT count(*) FROM {}) AS c FROM people)",
    "SELECT CASE WHEN 0 THEN (SELECT 1 FROM {}) ELSE 2 END",
    "SELECT count(*) FROM people LEFT JOIN {} ON 0",
    "SELECT id FROM people ORDER BY (SELECT 1 FROM {}) LIMIT 0",
    "SELECT * FROM {}",
    "SELECT count(*) FROM {}",
    "SELECT 1 FROM {} LIMIT 1",
    "SELECT absent FROM {}",
    "SELECT pin FROM {}",
    "SELECT max(rowid) FROM {}",
    "SELECT 2 WHERE 1 IN {}",
    "SELECT (SELECT count(*) FROM {})",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM {})",
    "SELECT 1 FROM people, {}",
    "SELECT 1 FROM {}, people",
    "SELECT * FROM people NATURAL JOIN {}",
    "SELECT * FROM people JOIN {} USING (absent)",
    "SELECT name, name FROM people UNION SELECT * FROM {}",
    "SELECT * FROM {} x WHERE x.pin = 1 AND x.absent = 2",
    "SELECT {}.pin",
    "SELECT {}.pin FROM people",
    "SELECT {}.* FROM people",
    "SELECT * FROM {}('hunter2')",
    "SELECT * FROM {} INDEXED BY accounts_pin",
    "SELECT * FROM people INDEXED BY accounts_pin",
    "SELECT printf('x') FROM {}",
    "SELECT printf('x'), absent FROM people WHERE id IN (SELECT absent FROM {})",
    "SELECT * FROM {} WHERE absent MATCH 'a'",
    "WITH q AS (SELECT * FROM {}) SELECT 1",
    "WITH q AS (SELECT * FROM {}) SELECT count(*) FROM q",
    "WITH RECURSIVE q(x) AS (SELECT 1 UNION SELECT pin FROM {}) SELECT * FROM q",
    "WITH accounts AS (SELECT 5 AS five) SELECT count(*) FROM accounts",
    "WITH accounts AS (SELECT 5 AS five) SELECT five, pin FROM accounts",
    "WITH accounts AS (SELECT 5 AS five) SELECT count(*) FROM accounts, {}",
    "SELECT count(*) FROM (WITH accounts AS (SELECT 5) SELECT 1 FROM accounts), people",
    "SELECT count(*) FROM (SELECT 1) AS {}",
    "SELECT accounts.name FROM people AS accounts",
    "WITH q AS (SELECT 1) DELETE FROM {}",
    "WITH q AS (SELECT 1) INSERT INTO {} SELECT * FROM q",
    "EXPLAIN SELECT * FROM {}",
    "PRAGMA table_info({})",
    "SELECT * FROM pragma_table_xinfo('accounts') WHERE name IN (SELECT 1 FROM {})",
];

const OTHERS: [&str; 10] = [
    "SELECT * FROM names",
    "SELECT n FROM of_names",
    "SELECT * FROM dangling",
    "SELECT x FROM dangling",
    "SELECT * FROM cycle_a",
    "SELECT absent FROM names",
    "SELECT name FROM sqlite_schema",
    "SELECT * FROM dbstat",
    "SELECT text FROM notes WHERE notes MATCH 'seen'",
    "SELECT text FROM notes WHERE absent MATCH 'seen'",
];

#[test]
fn like_a_database_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let with = database(folder.path(), "with.db", &format!("{SEEN}{HIDDEN}"));
    let without = database(folder.path(), "without.db", SEEN);
    let with = Database::open(&with, &hiding(&HIDE)).unwrap();
    let without = Database::open(&without, &hiding(&[])).unwrap();
    let names = NAMES.iter().chain(&MORE_NAMES);
    let named = names.flat_map(|name| STATEMENTS.iter().map(move |sql| sql.replace("{}", name)));
    let mut answered = 0;
    let mut put = 0;
    for sql in named.chain(OTHERS.map(str::to_owned)) {
        let (got, wanted) = (with.query(&sql), without.query(&sql));
        assert_eq!(got, wanted, "{sql}");
        assert!(!format!("{got:?}").contains("hunter2") || sql.contains("hunter2"), "{sql}");
        put += 1;
        answered += usize::from(got.is_ok());
    }
    assert!(with.query("SELECT text FROM notes WHERE notes MATCH 'seen'").is_ok());
    assert_eq!(with.schema().unwrap(), without.schema().unwrap());
    assert!(answered > 50 && put > 800, "{answered} of {put}");
    tabsegnet_test_support::say(&format!("hidden tables: {put} statements, {answered} of them answered, all alike"));
}

#[test]
fn regression_views_that_double_are_hidden_without_being_expanded() {
    let folder = tempfile::tempdir().unwrap();
    let mut sql = "CREATE TABLE t (a); CREATE TABLE u (b); CREATE VIEW v0 AS SELECT a FROM t;".to_owned();
    for view in 1..40 {
        sql += &format!("CREATE VIEW v{view} AS SELECT x.a FROM v{0} x, v{0} y;", view - 1);
    }
    let path = database(folder.path(), "doubling.db", &sql);
    let opened = Database::open(&path, &hiding(&["t"])).unwrap();
    let schema = opened.schema().unwrap();
    assert_eq!((schema.tables.len(), schema.views.len()), (1, 0));
    assert!(matches!(opened.query("SELECT * FROM v39"), Err(QueryError::Refused { .. })));
}

#[test]
fn regression_of_many_tables_a_fault_is_told_and_not_the_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let tables: String = (0..5000).map(|table| format!("CREATE TABLE t{table} (a);")).collect();
    let path = database(folder.path(), "many.db", &format!("BEGIN; {tables} COMMIT;"));
    let opened = Database::open(&path, &hiding(&["t17"])).unwrap();
    for sql in
        ["SELECT absent FROM t18", "SELECT * FROM t17", "SELECT a FROM t18 WHERE 1 OR EXISTS (SELECT 1 FROM t17)"]
    {
        assert!(matches!(opened.query(sql), Err(QueryError::Refused { .. })), "{sql}: {:?}", opened.query(sql));
    }
    assert!(opened.query("WITH t17 AS (SELECT a FROM t18) SELECT * FROM t17").is_ok());
}

#[test]
fn the_message_is_that_of_a_table_that_does_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "with.db", &format!("{SEEN}{HIDDEN}"));
    for name in ["accounts", "Accounts", "over_pins", "diary", "mixed", "missing"] {
        let refused = QueryError::Refused { reason: format!("no such table: {name}") };
        assert_eq!(ask(&path, &HIDE, &format!("SELECT absent FROM {name}")), Err(refused));
    }
    assert!(ask(&path, &[], "SELECT pin FROM over_pins").is_ok());
}

/// A foreign key to a hidden table is not shown, and its column is one like others.
#[test]
fn keys_to_a_hidden_table_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(
        folder.path(),
        "keys.db",
        "CREATE TABLE secret (id INTEGER PRIMARY KEY);
         CREATE TABLE seen (id INTEGER PRIMARY KEY, a REFERENCES SECRET, b REFERENCES seen(id));
         CREATE VIEW unused AS WITH q AS (SELECT * FROM secret) SELECT id FROM seen;",
    );
    let schema = Database::open(&path, &hiding(&["secret"])).unwrap().schema().unwrap();
    assert_eq!(schema.tables.len(), 1);
    assert_eq!(schema.tables[0].foreign_keys.len(), 1);
    assert_eq!(schema.tables[0].foreign_keys[0].table, "seen");
    assert!(!format!("{schema:?}").contains("secret"), "{schema:?}");
}

#[test]
fn a_broken_schema_does_not_name_what_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(
        folder.path(),
        "broken.db",
        "CREATE TABLE secret (a); CREATE TABLE t (a);
         PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE secret (' WHERE name = 'secret';",
    );
    let Err(QueryError::Failed { message }) = ask(&path, &["secret"], "SELECT 1") else { panic!() };
    assert!(message.contains("malformed") && !message.contains("secret"), "{message}");
}

#[test]
fn names_to_hide_that_are_not_there_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", "CREATE TABLE t (a); CREATE VIEW v AS SELECT 1");
    let opened = Database::open(&path, &hiding(&["T", "v", "tt"])).unwrap();
    assert_eq!(opened.not_there(), ["tt"]);
}
