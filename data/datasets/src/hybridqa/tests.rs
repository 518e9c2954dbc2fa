use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::testing::read_inputs;

fn question() -> Value {
    json!([{"question_id": "q", "question": "who?", "table_id": "T_0", "answer-text": "Jerry", "question_postag": "WP .",
            "answer-node": [["Emmitt", [0, 1], "/wiki/Emmitt", "passage"], ["2", [1, 0], null, "table"]]}])
}

fn table() -> Value {
    json!({"url": "u", "title": "Leaders", "header": [["Rank", []], ["Player", []]],
           "data": [[["1", []], ["Emmitt", ["/wiki/Emmitt"]]], [["2", []], ["Walter", ["/wiki/Walter", "/wiki/Emmitt", "/wiki/None"]]]],
           "section_title": "Career", "section_text": " ", "uid": "T_0", "intro": "A list.",
           "passages": {"/wiki/Walter": "Walter Jerry Payton.", "/wiki/Emmitt": "Emmitt Smith."}})
}

fn read_in(dir: &Path, questions: &Value, table: &Value, labels: Labels) -> Result<Samples, DataError> {
    let (files, tables) = (vec![dir.join("q.json")], vec![dir.join("t.jsonl")]);
    fs::write(&files[0], questions.to_string()).unwrap();
    fs::write(&tables[0], format!("{table}\n\n")).unwrap();
    read_inputs(&Hybridqa, &Inputs { files, tables, ..Inputs::default() }, labels)
}

fn read_json(questions: &Value, table: &Value) -> Result<Samples, DataError> {
    read_in(tempfile::tempdir().unwrap().path(), questions, table, Labels::Required)
}

fn message(change: impl FnOnce(&mut Value, &mut Value)) -> String {
    let (mut questions, mut table) = (question(), table());
    change(&mut questions, &mut table);
    read_json(&questions, &table).unwrap_err().to_string()
}

#[test]
fn linked_passages_come_after_the_table_in_the_order_of_their_links() {
    let samples = read_json(&question(), &table()).unwrap();
    let document = &samples.samples[0].document;
    assert_eq!(document.passages().collect::<Vec<_>>(), ["A list.", "Emmitt Smith.", "Walter Jerry Payton."]);
    assert!(matches!(&document.blocks[1], Block::Table(table) if table.caption() == "Leaders | Career"));
    let table = document.tables().next().unwrap();
    assert_eq!((table.num_header_rows(), table.rows()), (1, 3));
    let gold = &samples.samples[0].questions[0].gold;
    assert_eq!(gold[0], "p1");
    assert_eq!(gold[1], node_id::cell(table, table.cell_at(2, 0).unwrap()));
}

#[test]
fn tables_and_passages_one_a_file_are_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let whole = read_in(dir.path(), &question(), &table(), Labels::Required).unwrap();
    let mut table = table();
    let passages = table.as_object_mut().unwrap().remove("passages").unwrap();
    for (folder, content) in [("tables_tok", &table), ("request_tok", &passages)] {
        fs::create_dir(dir.path().join(folder)).unwrap();
        fs::write(dir.path().join(folder).join("T_0.json"), content.to_string()).unwrap();
    }
    let inputs = Inputs {
        files: vec![dir.path().join("q.json")],
        tables: vec![dir.path().join("tables_tok/T_0.json")],
        passages: vec![dir.path().join("request_tok/T_0.json")],
        ..Inputs::default()
    };
    assert_eq!(read_inputs(&Hybridqa, &inputs, Labels::Required).unwrap(), whole);
}

#[test]
fn questions_without_all_of_their_gold_are_left_out() {
    let reason = |nodes: Value| {
        let mut questions = question();
        questions[0]["answer-node"] = nodes;
        read_json(&questions, &table()).unwrap().left_out[0].reason
    };
    assert_eq!(reason(json!([])), NO_GOLD);
    assert_eq!(reason(json!([["2", [1, 0], null, "table"], ["x", [1, 1], "/wiki/None", "passage"]])), NOT_LINKED);
    let mut test = question();
    test[0].as_object_mut().unwrap().remove("answer-node");
    let samples = read_in(tempfile::tempdir().unwrap().path(), &test, &table(), Labels::Optional).unwrap();
    assert!(samples.samples[0].questions[0].gold.is_empty());
    assert!(read_json(&test, &table()).unwrap_err().to_string().contains("record q, field answer-node: is missing"));
}

#[test]
fn errors_name_record_and_field() {
    for field in ["question", "table_id"] {
        let error = message(|q, _| {
            q[0].as_object_mut().unwrap().remove(field);
        });
        assert!(error.contains(&format!("q.json: record q, field {field}: is missing")), "{error}");
    }
    for field in ["header", "data", "passages"] {
        let error = message(|_, t| {
            t.as_object_mut().unwrap().remove(field);
        });
        assert!(error.contains(&format!("t.jsonl: record T_0, field {field}: is missing")), "{error}");
    }
    for (node, expected) in [
        (json!(["2", [2, 0], null, "table"]), "[2, 0] is out of range: the table has 2 rows and 2 columns"),
        (json!(["2", [0, 2], null, "table"]), "[0, 2] is out of range"),
        (json!(["2", [-2, 0], null, "table"]), "[-2, 0] is out of range"),
        (json!(["2", [0, 0], null, "passage"]), "is in a passage but has no link"),
        (json!(["2", [0, 0], null, "page"]), "is in \"page\"; expected"),
    ] {
        let error = message(|q, _| q[0]["answer-node"] = json!([node]));
        assert!(error.contains("record q, field answer-node[0]: ") && error.contains(expected), "{error}");
    }
    assert!(message(|q, _| q[0]["table_id"] = "U".into()).contains("field table_id: no file of tables has U"));
    assert!(message(|_, t| t["data"][1] = json!([["a", []]])).contains("field data[1]: has 1 cells, the header has 2"));
    let error = message(|q, _| q[0]["answer-node"][0][1] = json!("x"));
    assert!(error.contains("q.json: [0].answer-node[0][1]: invalid type"), "{error}");
    assert!(message(|_, t| t["header"] = json!(7)).contains("t.jsonl: line 1, header: invalid type"));
    assert!(message(|q, _| *q = json!([q[0], q[0]])).contains("field question_id: "));
}
