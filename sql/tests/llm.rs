//! `query --question` with a language model: a server that says what it was given to say.

mod common;

use std::path::Path;

use common::{database, run_with};
use serde_json::{Value, json};
use tabsegnet_test_support::{ChatServer, completion, status};

const SHOP: &str = "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, amount REAL);
    INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bo'); INSERT INTO purchase VALUES (1, 1, 10.5), (2, 2, 7);";
const QUESTION: &str = "What are the names of all customers?";

fn server<const N: usize>(statements: &[&'static str; N]) -> ChatServer {
    let statements = *statements;
    ChatServer::start(move |number, request| {
        let sql = statements.get(number).copied().unwrap_or_default();
        completion(request, &json!({"thought": "t", "sql": sql}).to_string())
    })
}

/// Exit code, standard output, standard error.
fn ask(database: &Path, url: Option<&str>, more: &[&str]) -> (Option<i32>, String, String) {
    let mut arguments = vec!["--database", database.to_str().unwrap(), "--question", QUESTION];
    arguments.extend(more);
    let variables: Vec<(&str, &str)> =
        url.iter().flat_map(|url| [("TABSEGNET_LLM_URL", *url), ("TABSEGNET_LLM_MODEL", "fake")]).collect();
    let output = run_with(&arguments, b"", &variables);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_model_writes_the_statement() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SHOP);
    let server = server(&["SELECT name FROM customers", "SELECT name FROM customer ORDER BY name DESC"]);
    let url = server.base_url();
    let record = folder.path().join("replies.jsonl");
    let record = record.to_str().unwrap();
    let (code, text, error) = ask(&path, Some(&url), &["--format", "json", "--provenance", "--record", record]);
    assert_eq!(code, Some(0), "{error}");
    assert!(
        error.contains(&format!("policy: llm, fake at {url}")) && error.contains("no such table: customers"),
        "{error}"
    );
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&found["rows"], &found["repaired"][0]),
        (&json!([["Bo"], ["Ann"]]), &json!("SELECT name FROM customers"))
    );
    assert_eq!(found["sources"][0][0]["row_id"], 2);
    let received = server.received();
    assert_eq!(received.len(), 2);
    let prompt = |at: usize| received[at].body["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(
        prompt(0).contains("purchase.customer_id = customer.id (many to one)") && prompt(0).contains("\"Ann\""),
        "{}",
        prompt(0)
    );
    assert!(prompt(1).contains("Why: \"refused: no such table: customers\""), "{}", prompt(1));
    // The same from the record, without a server.
    let config = folder.path().join("llm.toml");
    std::fs::write(&config, "[llm]\nmodel = 'fake'\n").unwrap();
    let more = ["--format", "csv", "--policy", "llm", "--replay", record, "--config", config.to_str().unwrap()];
    let (code, again, error) = ask(&path, None, &more);
    assert_eq!((code, again.as_str()), (Some(0), "name\r\nBo\r\nAnn\r\n"), "{error}");
}

#[test]
fn regression_what_a_models_statement_counts_twice_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SHOP);
    let sql = "SELECT count(c.name) FROM customer c JOIN purchase p ON p.customer_id = c.id";
    let (code, text, error) = ask(&path, Some(&server(&[sql]).base_url()), &["--format", "json"]);
    assert_eq!(code, Some(0), "{error}");
    let found: Value = serde_json::from_str(&text).unwrap();
    let told = "fan-out: a row of customer appears once for each of its rows of purchase";
    assert!(found["notes"][0].as_str().unwrap().starts_with(told) && error.contains(told), "{text} {error}");
}

#[test]
fn what_cannot_be_run_gives_the_learnt_statement() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SHOP);
    let before = std::fs::read(&path).unwrap();
    let writes = server(&["DROP TABLE customer", "DELETE FROM customer"]);
    let (code, text, error) = ask(&path, Some(&writes.base_url()), &["--policy", "llm", "--format", "csv"]);
    assert_eq!((code, text.as_str()), (Some(0), "name\r\nAnn\r\nBo\r\n"), "{error}");
    assert!(error.contains("DROP is not allowed") && error.contains("the learnt statement is taken"), "{error}");
    assert_eq!((writes.received().len(), std::fs::read(&path).unwrap()), (2, before));
    let nothing = server(&[""]);
    let (code, _, error) = ask(&path, Some(&nothing.base_url()), &[]);
    assert!(code == Some(0) && error.contains("finds no statement for it; the learnt"), "{error}");
    // A server that refuses: an error with --policy llm, else the learnt statement.
    let refusing = ChatServer::start(|_, _| status(401, "", "{\"error\": {\"message\": \"no\"}}"));
    let url = refusing.base_url();
    assert_eq!(ask(&path, Some(&url), &["--policy", "llm"]).0, Some(1));
    let (code, text, error) = ask(&path, Some(&url), &[]);
    assert!(code == Some(0) && text.contains("Ann") && error.contains("the learnt statement is taken"), "{error}");
    assert_eq!(ask(&path, Some(&url), &["--policy", "learnt"]).0, Some(0));
}

#[test]
fn settings_that_do_not_fit_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = database(folder.path(), "a.db", SHOP);
    let (code, _, error) = ask(&path, None, &["--policy", "llm"]);
    assert!(code == Some(2) && error.contains("no language model is set"), "{error}");
    let config = folder.path().join("llm.toml");
    let with = |text: &str| {
        std::fs::write(&config, text).unwrap();
        ask(&path, None, &["--config", config.to_str().unwrap()])
    };
    let (code, _, error) = with("[llm]\napi_key = 'sk-123'\n");
    assert!(code == Some(2) && error.contains("a key does not belong") && !error.contains("sk-123"), "{error}");
    let (code, _, error) = with("[lm]\n");
    assert!(code == Some(2) && error.contains("unknown field `lm`"), "{error}");
    let (code, _, error) = with("[llm]\nbase_url = 'ftp://there'\nmodel = 'm'\n");
    assert!(code == Some(2) && error.contains("llm.base_url"), "{error}");
    let (code, _, error) = ask(&path, None, &["--config", "/no/such.toml"]);
    assert!(code == Some(2) && error.contains("/no/such.toml"), "{error}");
    assert_eq!(with("[agent]\nrounds = 2\n[tablerag]\n").0, Some(0));
}
