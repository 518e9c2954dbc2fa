//! Parquet files as tables, and results as Parquet: files that pyarrow wrote (`tools/scripts/parquet_examples.py`).

mod common;

use std::path::Path;

use common::run;
use serde_json::{Value, json};

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/records/tests/parquet");

fn rows(database: &str, sql: &str) -> Value {
    let output = run(&["--database", database, "--sql", sql, "--format", "json"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["rows"].take()
}

#[test]
fn values_of_all_kinds() {
    let file = format!("{FILES}/kinds.parquet");
    let one = |sql: &str| rows(&file, sql)[0].clone();
    assert_eq!(
        one("SELECT whole, small, fraction, price, exact_text, count, text, flag FROM kinds"),
        json!([1, 255, 0.1, 12.5, "12345678901234567890.12", 7, "ü, \"x\"", 1])
    );
    assert_eq!(
        one("SELECT day, at, at_ns, time, hex(bytes), list, nested, map, kind, whole_2 FROM kinds"),
        json!([
            "2024-02-29", "2024-02-29 12:34:56.789", "2024-02-29 12:34:56.789", "01:02:03", "00FF", "[1,2,null]",
            "{\"a\":1,\"b\":\"x\"}", "{\"k\":1}", "a", 3
        ])
    );
    // The second row, and the third with nothing in it.
    assert_eq!(
        rows(&file, "SELECT whole, price, exact, count, text, flag, day, list FROM kinds LIMIT 2 OFFSET 1"),
        json!([
            [i64::MIN, -0.05, -12345678901234567890.12, -7, "", 0, "1969-12-31", "[]"],
            [null, null, null, null, null, null, null, null]
        ])
    );
    assert_eq!(
        one("SELECT sum(price) > 12, typeof(at), date(at, '+1 day') FROM kinds"),
        json!([1, "text", "2024-03-01"])
    );
}

#[test]
fn a_folder_with_parquet_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(format!("{FILES}/orders.parquet"), folder.path().join("orders.parquet")).unwrap();
    std::fs::write(folder.path().join("customers.csv"), "customer,city\nAnn,Oslo\nBo,Rome\nCy,Oslo\nDee,Bern\n")
        .unwrap();
    std::fs::write(folder.path().join("broken.parquet"), b"PAR1 no PAR1").unwrap();
    let path = folder.path().to_str().unwrap();
    let sql =
        "SELECT city, sum(amount) FROM orders JOIN customers USING (customer) GROUP BY city ORDER BY 2 DESC LIMIT 1";
    assert_eq!(rows(path, sql), json!([["Oslo", 929.0]]));
    let output =
        run(&["--database", path, "--sql", "SELECT amount FROM orders", "--provenance", "--format", "json"], b"");
    assert!(String::from_utf8_lossy(&output.stderr).contains("broken.parquet"), "{output:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["sources"][3][0]["cited"]["row"], 3);
    let file = folder.path().join("orders.parquet");
    let question = "What is the average amount of orders by Ann?";
    let output = run(&["--database", file.to_str().unwrap(), "--question", question, "--format", "csv"], b"");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().nth(1), Some("140.25"), "{output:?}");
}

#[test]
fn results_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let database = common::database(
        folder.path(),
        "a.db",
        "CREATE TABLE t (a, b, c, d, e, f); INSERT INTO t VALUES (1, 1, 'x', x'00ff', NULL, 1), (NULL, 0.5, '', x'', NULL, 'y')",
    );
    let written = |sql: &str| {
        let output = run(&["--database", database.to_str().unwrap(), "--sql", sql, "--format", "parquet"], b"");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let file = folder.path().join("result.parquet");
        std::fs::write(&file, output.stdout).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let file = written("SELECT a, b, c, d, e, f, a FROM t");
    assert_eq!(
        rows(&file, "SELECT a, b, c, hex(d), e, f, a_2 FROM result"),
        json!([[1, 1.0, "x", "00FF", null, "1", 1], [null, 0.5, "", "", null, "y", null]])
    );
    assert_eq!(rows(&written("SELECT a FROM t WHERE 0"), "SELECT count(*) FROM result"), json!([[0]]));
}

/// Whatever is damaged, there is a message or there are rows, never a crash or a wait.
#[test]
fn damaged_files_end_in_words() {
    let good = std::fs::read(Path::new(FILES).join("kinds.parquet")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let mut random = 7_u64;
    let mut next = |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for number in 0..150 {
        let mut bytes = good.clone();
        match number {
            0 => bytes.clear(),
            1 => bytes.truncate(4),
            2..20 => bytes.truncate(next(good.len())),
            _ => {
                for _ in 0..=next(4) {
                    // The metadata at the end more often than the rest.
                    let from = if number % 2 == 0 { 0 } else { bytes.len() / 2 };
                    let at = from + next(bytes.len() - from);
                    bytes[at] = next(256) as u8;
                }
            }
        }
        std::fs::write(&file, bytes).unwrap();
        let opened = tabsegnet_sql::tables::FileDatabase::open(&file);
        if number < 2 {
            assert!(opened.is_err());
        }
    }
}
