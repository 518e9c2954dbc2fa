use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::dataset::Inputs;
use crate::sample::{LeftOut, Samples};
use crate::testing::read_inputs;

/// A place of a header tree with what is below it.
fn node(row: i64, col: i64, children: Vec<Value>) -> Value {
    json!({"row_index": row, "column_index": col, "children": children})
}

fn question() -> Value {
    json!({"id": "q", "table_id": "T", "question": "how many?", "answer": [3.0], "aggregation": ["none"],
           "linked_cells": {
               "entity_link": {"top": {"2018": {"(1, 1)": 2018.0}}, "left": {"[ANSWER]": {"(4, 0)": "women"}}, "top_left_corner": {}},
               "quantity_link": {"[ANSWER]": {"(3, 1)": 3.0}, "five": {"(4, 2)": 5.0}}}})
}

fn table() -> Value {
    json!({"title": "workers", "table_id": "T",
           "texts": [["group", "year", ""], ["", "2018", "2017"], ["all", "9", "8"], ["men", "3", "4"], ["women", "6", "5"]],
           "merged_regions": [{"first_row": 0, "last_row": 1, "first_column": 0, "last_column": 0}],
           "top_root": node(-1, -1, vec![node(0, 1, vec![node(1, 1, vec![]), node(1, 2, vec![])])]),
           "left_root": node(-1, -1, vec![node(2, 0, vec![node(3, 0, vec![]), node(4, 0, vec![])])]),
           "top_header_rows_num": 3, "left_header_columns_num": 1})
}

fn read_json(question: &Value, table: &Value, labels: Labels) -> Result<Samples, DataError> {
    let dir = tempfile::tempdir().unwrap();
    let (files, tables) = (vec![dir.path().join("q.jsonl")], vec![dir.path().join("T.json")]);
    fs::write(&files[0], format!("{question}\n")).unwrap();
    fs::write(&tables[0], table.to_string()).unwrap();
    read_inputs(&HITAB, &Inputs { files, tables, ..Inputs::default() }, labels)
}

fn message(change: impl FnOnce(&mut Value, &mut Value)) -> String {
    let (mut question, mut table) = (question(), table());
    change(&mut question, &mut table);
    read_json(&question, &table, Labels::Required).unwrap_err().to_string()
}

#[test]
fn header_trees_give_headers_spans_and_outer_rows() {
    let samples = read_json(&question(), &table(), Labels::Required).unwrap();
    let table = samples.samples[0].document.tables().next().unwrap();
    assert_eq!((table.num_header_rows(), table.num_header_cols(), table.caption()), (2, 1, "workers"));
    let cell = table.cell_at(3, 2).unwrap();
    assert_eq!(table.path(&table.row_headers_of(cell)), "all > men");
    assert_eq!(table.path(&table.column_headers_of(cell)), "year > 2017");
    assert_eq!(samples.samples[0].questions[0].gold, ["t0:r3c1", "t0:r4c2", "t0:r4h0"]);
}

#[test]
fn a_header_covers_the_blanks_that_its_children_are_in() {
    let mut table = table();
    table["texts"] = json!([["", "", "2018"], ["all", "men", "3"], ["", "women", "6"], ["none", "", "0"]]);
    table["merged_regions"] = json!([]);
    table["top_root"] = node(-1, -1, vec![node(0, 2, vec![])]);
    let all = node(1, 0, vec![node(1, 1, vec![]), node(2, 1, vec![])]);
    table["left_root"] = node(-1, -1, vec![all, node(3, 0, vec![])]);
    let mut question = question();
    question["linked_cells"] = json!({"entity_link": {}, "quantity_link": {"[ANSWER]": {"(2, 2)": 6.0}}});
    let samples = read_json(&question, &table, Labels::Required).unwrap();
    let table = samples.samples[0].document.tables().next().unwrap();
    assert_eq!((table.num_header_rows(), table.num_header_cols()), (1, 2));
    assert_eq!(table.cell_at(2, 0).unwrap().text, "all");
    assert_eq!(table.path(&table.row_headers_of(table.cell_at(2, 2).unwrap())), "all > women");
}

#[test]
fn a_unit_over_the_data_columns_names_the_rows_below_and_is_no_header_column() {
    let mut table = table();
    table["texts"] = json!([["", "2018", "2017"], ["", "percent", ""], ["men", "3", "4"], ["women", "6", "5"]]);
    table["merged_regions"] = json!([{"first_row": 1, "last_row": 1, "first_column": 1, "last_column": 2}]);
    table["top_root"] = node(-1, -1, vec![node(0, 1, vec![]), node(0, 2, vec![])]);
    table["left_root"] = node(-1, -1, vec![node(1, 1, vec![node(2, 0, vec![]), node(3, 0, vec![])])]);
    let mut question = question();
    question["linked_cells"] = json!({"quantity_link": {"[ANSWER]": {"(3, 2)": 5.0}}});
    let samples = read_json(&question, &table, Labels::Required).unwrap();
    let table = samples.samples[0].document.tables().next().unwrap();
    assert_eq!((table.num_header_rows(), table.num_header_cols()), (1, 1));
    assert_eq!(table.path(&table.row_headers_of(table.cell_at(3, 2).unwrap())), "percent > women");
    assert_eq!(samples.samples[0].questions[0].gold, ["t0:r3c2"]);
}

#[test]
fn trees_that_point_outside_of_the_table_do_no_harm() {
    let mut table = table();
    table["left_root"] = node(-1, -1, vec![node(99, 99, vec![node(3, 0, vec![node(2, 0, vec![])])])]);
    table["merged_regions"] = json!([{"first_row": 4, "last_row": 90, "first_column": 2, "last_column": 1}]);
    let samples = read_json(&question(), &table, Labels::Required).unwrap();
    assert_eq!(samples.samples[0].document.tables().next().unwrap().num_header_cols(), 1);
}

#[test]
fn questions_without_gold_are_left_out_and_unlabelled_ones_can_be_ranked() {
    let mut none = question();
    none["linked_cells"] = json!({"entity_link": {"top": {"2018": {"(1, 1)": 2018.0}}}, "quantity_link": {}});
    let samples = read_json(&none, &table(), Labels::Required).unwrap();
    assert_eq!(samples.left_out, [LeftOut { question: "q".into(), reason: NO_GOLD }]);
    none.as_object_mut().unwrap().remove("linked_cells");
    assert!(read_json(&none, &table(), Labels::Optional).unwrap().samples[0].questions[0].gold.is_empty());
    let error = read_json(&none, &table(), Labels::Required).unwrap_err().to_string();
    assert!(error.contains("q.jsonl: record q, field linked_cells: is missing"), "{error}");
}

#[test]
fn errors_name_record_and_field() {
    for field in ["question", "table_id"] {
        let error = message(|q, _| {
            q.as_object_mut().unwrap().remove(field);
        });
        assert!(error.contains(&format!("record q, field {field}: is missing")), "{error}");
    }
    for field in ["texts", "top_root", "left_root"] {
        let error = message(|_, t| {
            t.as_object_mut().unwrap().remove(field);
        });
        assert!(error.contains(&format!("T.json: record T, field {field}: is missing")), "{error}");
    }
    for (position, expected) in [
        ("(5, 0)", "is out of range: the table has 5 rows and 3 columns, from 0"),
        ("(0, 3)", "is out of range"),
        ("5, 0", "expected (row, column)"),
        ("(-1, 0)", "expected (row, column)"),
    ] {
        let error = message(|q, _| q["linked_cells"]["quantity_link"] = json!({"[ANSWER]": { position: 1 }}));
        let field = format!("record q, field linked_cells.quantity_link.\"[ANSWER]\".\"{position}\": ");
        assert!(error.contains(&field) && error.contains(expected), "{error}");
    }
    assert!(message(|q, _| q["table_id"] = "U".into()).contains("field table_id: no file of tables has U"));
    assert!(message(|_, t| t["texts"] = json!([])).contains("field texts: the table has no cells"));
    let error = message(|_, t| t["left_root"]["children"][0]["row_index"] = "x".into());
    assert!(error.contains("T.json: left_root.children[0].row_index: invalid type: string"), "{error}");
    let error = message(|q, _| q["linked_cells"]["quantity_link"] = json!({"[ANSWER]": 7}));
    assert!(
        error.contains("q.jsonl: line 1, linked_cells.quantity_link.\"[ANSWER]\"")
            || error.contains("linked_cells.quantity_link.[ANSWER]"),
        "{error}"
    );
}
