//! Schemas as they are found.

mod common;

use std::fmt::Write as _;

use common::{database, hiding};
use tabsegnet_sql::{Database, ForeignKey, Schema, Value};

fn schema(sql: &str) -> Schema {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "schema.db", sql);
    Database::open(&path, &hiding(&[])).unwrap().schema().unwrap()
}

fn key(columns: &[&str], table: &str, referenced: &[&str], dangling: bool) -> ForeignKey {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    ForeignKey { columns: own(columns), table: table.to_owned(), referenced: own(referenced), dangling }
}

#[test]
fn no_table_at_all() {
    let schema = schema("PRAGMA user_version=1");
    assert!(schema.tables.is_empty() && schema.views.is_empty());
}

#[test]
fn odd_names_can_be_read_and_asked() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "select", "we\"ird", "it's", "two words", "Straße", "STRASSE", "表", "table", "a]b", "a`b", " ", "x;--", "%s",
        "Ä", "ä", "emoji 🦀", "sqlite", "pragma_x", "dbstat", "json_each", "line\nbreak", "1", "a.b",
    ];
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut sql = String::new();
    for name in names {
        let name = quoted(name);
        writeln!(sql, "CREATE TABLE {name} ({name} TEXT, \"group\" INTEGER); INSERT INTO {name} VALUES ({name}, 1);")
            .unwrap();
    }
    let path = database(
        folder.path(),
        "odd.db",
        &sql.replace("VALUES (\"", "VALUES ('").replace("\", 1)", "', 1)").replace("it's', 1", "it''s', 1"),
    );
    let opened = Database::open(&path, &hiding(&[])).unwrap();
    let schema = opened.schema().unwrap();
    assert_eq!(schema.tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(), names);
    for (table, name) in schema.tables.iter().zip(names) {
        assert_eq!(table.columns[0].name, name);
        assert_eq!(table.columns[1].name, "group");
        let rows = opened.query(&format!("SELECT {0}, {0}.\"group\" FROM {0}", quoted(name))).unwrap();
        assert_eq!(rows.columns[0].table.as_deref(), Some(name));
        assert_eq!(rows.columns[0].column.as_deref(), Some(name));
        assert_eq!(rows.rows[0][1], Value::Integer(1));
    }
    // Each of them hidden, the others stay.
    for name in names {
        let opened = Database::open(&path, &hiding(&[name])).unwrap();
        assert_eq!(opened.schema().unwrap().tables.len(), names.len() - 1, "{name}");
        let built_in = ["dbstat", "json_each", "pragma_x"].contains(&name);
        let told = opened.query(&format!("SELECT count(*) FROM {}", quoted(name)));
        assert!(built_in || told == Err(refused(&format!("no such table: {name}"))), "{told:?}");
        assert!(!format!("{told:?}").contains("Integer(1)"), "{told:?}");
    }
}

fn refused(reason: &str) -> tabsegnet_sql::QueryError {
    tabsegnet_sql::QueryError::Refused { reason: reason.to_owned() }
}

#[test]
fn keys_of_all_kinds() {
    let schema = schema(
        "CREATE TABLE airport (country TEXT, code TEXT, name TEXT, PRIMARY KEY (code, country)) WITHOUT ROWID;
         CREATE TABLE flight (
             id INTEGER PRIMARY KEY, from_code TEXT, from_country TEXT, to_code TEXT, TO_country TEXT, next INTEGER REFERENCES flight,
             gone INTEGER REFERENCES nowhere(id), implied INTEGER REFERENCES nowhere, wrong INTEGER REFERENCES flight(absent),
             FOREIGN KEY (from_code, FROM_COUNTRY) REFERENCES AIRPORT(CODE, country),
             FOREIGN KEY (to_code, to_country) REFERENCES airport,
             FOREIGN KEY (to_code) REFERENCES airport);
         CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b(id));
         CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a(id), a2 INTEGER REFERENCES a(id));",
    );
    let airport = &schema.tables[0];
    assert_eq!(airport.primary_key, ["code", "country"]);
    assert!(airport.columns[0].not_null && airport.columns[0].declared_type == "TEXT");
    assert_eq!(
        schema.tables[1].foreign_keys,
        [
            key(&["next"], "flight", &["id"], false),
            key(&["gone"], "nowhere", &["id"], true),
            key(&["implied"], "nowhere", &[], true),
            key(&["wrong"], "flight", &["absent"], true),
            key(&["from_code", "from_country"], "airport", &["code", "country"], false),
            key(&["to_code", "TO_country"], "airport", &["code", "country"], false),
            key(&["to_code"], "airport", &["code", "country"], true),
        ]
    );
    assert_eq!(schema.tables[2].foreign_keys, [key(&["b"], "b", &["id"], false)]);
    assert_eq!(schema.tables[3].foreign_keys.len(), 2);
}

#[test]
fn wide_generated_virtual_and_views() {
    let columns: Vec<String> = (0..200).map(|number| format!("c{number} REAL")).collect();
    let schema = schema(&format!(
        "CREATE TABLE wide ({});
         CREATE TABLE computed (a INTEGER, b INTEGER AS (a + 1), c TEXT GENERATED ALWAYS AS (a || '!') STORED);
         CREATE VIRTUAL TABLE texts USING fts5(title, body);
         CREATE VIRTUAL TABLE boxes USING rtree(id, low, high);
         CREATE VIEW both AS SELECT a AS first, b FROM computed;
         CREATE VIEW gone AS SELECT * FROM nowhere;
         CREATE TRIGGER t AFTER INSERT ON computed BEGIN SELECT 1; END;
         CREATE TABLE untyped (a, b WEIRD TYPE(3, 4));",
        columns.join(", ")
    ));
    let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["wide", "computed", "texts", "boxes", "untyped"]);
    assert_eq!(schema.tables[0].columns.len(), 200);
    let generated: Vec<bool> = schema.tables[1].columns.iter().map(|column| column.generated).collect();
    assert_eq!(generated, [false, true, true]);
    assert_eq!(schema.tables[2].module.as_deref(), Some("fts5"));
    assert_eq!(schema.tables[2].columns.len(), 2);
    assert_eq!(schema.tables[4].columns[1].declared_type, "WEIRD TYPE(3, 4)");
    assert_eq!(schema.views[0].columns[0].name, "first");
    assert_eq!(schema.views[0].columns[0].declared_type, "INTEGER");
    assert!(schema.views[0].problem.is_none() && schema.views[0].sql.is_some());
    assert!(
        schema.views[1].problem.as_ref().is_some_and(|problem| problem.contains("nowhere")),
        "{:?}",
        schema.views[1]
    );
}

#[test]
fn a_virtual_table_of_an_unknown_module() {
    let schema = schema(
        "CREATE TABLE t (a);
         PRAGMA writable_schema=ON;
         INSERT INTO sqlite_schema VALUES ('table', 'odd', 'odd', 0, 'CREATE VIRTUAL TABLE odd USING no_such_module(x)');",
    );
    // Nothing can be read of it, and nothing is shown of it.
    assert_eq!(schema.tables.len(), 1);
}

#[test]
fn columns_know_where_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(
        folder.path(),
        "origin.db",
        "CREATE TABLE t (Id INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, x'00ff');
         CREATE VIEW v AS SELECT b AS bee, id + 1 AS next FROM t;",
    );
    let opened = Database::open(&path, &hiding(&[])).unwrap();
    let rows = opened.query("SELECT q.bee AS other, next, x.id, rowid FROM (SELECT * FROM v) q, T x").unwrap();
    let origin = |index: usize| (rows.columns[index].table.as_deref(), rows.columns[index].column.as_deref());
    assert_eq!(origin(0), (Some("t"), Some("b")));
    assert_eq!(origin(1), (None, None));
    assert_eq!(origin(2), (Some("t"), Some("Id")));
    assert_eq!(rows.rows[0][0], Value::Blob(vec![0, 255]));
    assert_eq!(rows.columns[0].name, "other");
}

/// Views that double what they read, forty times over: they alone cannot be read.
#[test]
fn views_that_explode() {
    let mut sql = String::from(
        "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TABLE secret (b); CREATE VIEW v0 AS SELECT a, 'secret' AS secret FROM t;",
    );
    for level in 1..=40 {
        write!(sql, "CREATE VIEW v{level} AS SELECT x.a FROM v{0} x, v{0} y;", level - 1).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "views.db", &sql);
    for hide in [&[][..], &["secret"]] {
        let opened = Database::open(&path, &hiding(hide)).unwrap();
        assert_eq!(opened.query("SELECT a FROM t").unwrap().rows, [[Value::Integer(1)]]);
        assert_eq!(opened.query("SELECT a FROM v2").unwrap().rows, [[Value::Integer(1)]]);
        assert_eq!(opened.query("SELECT x FROM t"), Err(refused("no such column: x")));
        assert!(opened.query("SELECT a FROM v40").is_err());
    }
}
