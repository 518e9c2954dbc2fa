use serde_json::{Value, json};

use super::*;
use crate::sample::LeftOut;
use crate::testing;

fn record() -> Value {
    json!({
        "uid": "one",
        "paragraphs": ["Sales rose.", "## Table 0 ##", "See below.", "Rates:"],
        "tables": [
            "<table><tr><td></td><td colspan=\"2\">Year</td></tr><tr><td></td><td>2005</td><td>2004</td></tr>\
             <tr><td>Net income</td><td>$12,891</td><td>-402</td></tr></table>",
            "<table><tr><td></td><td>Rate</td></tr><tr><td>Short</td><td>5.1%</td></tr></table>"],
        "table_description": {"0-2-1": "The Net income of Year 2005 is $12,891.", "0-2-2": "The Net income of Year 2004 is (402)."},
        "qa": {"question": "what?", "answer": "1", "program": "add(12891,-402)",
               "text_evidence": [0], "table_evidence": ["0-2-1", "0-2-2"]}
    })
}

fn read_json(content: &Value, labels: Labels) -> Result<Samples, DataError> {
    testing::read(&Multihiertt, content, labels)
}

fn changed(change: impl FnOnce(&mut Value)) -> Result<Samples, DataError> {
    let mut record = record();
    change(&mut record);
    read_json(&json!([record]), Labels::Required)
}

fn message(change: impl FnOnce(&mut Value)) -> String {
    changed(change).unwrap_err().to_string()
}

fn gold(samples: &Samples) -> &[String] {
    &samples.samples[0].questions[0].gold
}

#[test]
fn tables_stand_where_their_lines_are_and_cells_keep_their_positions() {
    let samples = changed(|_| {}).unwrap();
    let document = &samples.samples[0].document;
    assert!(matches!(document.blocks[1], Block::Table(_)));
    assert!(matches!(&document.blocks[4], Block::Table(table) if table.number() == 1));
    assert_eq!(document.passages().collect::<Vec<_>>(), ["Sales rose.", "See below.", "Rates:"]);
    let table = document.tables().next().unwrap();
    assert_eq!((table.num_header_rows(), table.num_header_cols()), (2, 1));
    assert_eq!(gold(&samples), ["p0", "t0:r2c1", "t0:r2c2"]);
}

#[test]
fn evidence_at_a_tables_line_is_its_caption_and_lines_are_counted_with_tables() {
    let samples = changed(|r| r["qa"]["text_evidence"] = json!([1, 2])).unwrap();
    assert_eq!(gold(&samples)[..2], ["p1", "t0"]);
}

#[test]
fn the_other_name_of_paragraphs_is_read_too() {
    let renamed = changed(|r| {
        let paragraphs = r.as_object_mut().unwrap().remove("paragraphs").unwrap();
        r["paragraph_lines"] = paragraphs;
        r.as_object_mut().unwrap().remove("table_description");
    });
    assert_eq!(renamed.unwrap(), changed(|_| {}).unwrap());
}

#[test]
fn questions_on_one_page_share_its_document() {
    let mut other = record();
    other["uid"] = "two".into();
    let samples = read_json(&json!([record(), other]), Labels::Required).unwrap();
    assert_eq!(samples.samples.len(), 1);
    assert_eq!(samples.samples[0].questions[1].id, "two");
}

#[test]
fn a_cell_that_is_not_what_its_description_says_is_no_gold() {
    let samples = changed(|r| r["table_description"]["0-2-1"] = "The Net income of 2005 is 13.".into()).unwrap();
    assert_eq!(samples.left_out, [LeftOut { question: "one".into(), reason: DISAGREES }]);
    let none = changed(|r| r["qa"]["text_evidence"] = json!([])).unwrap();
    assert_eq!(none.left_out, []);
    let none = changed(|r| {
        r["qa"]["text_evidence"] = json!([]);
        r["qa"]["table_evidence"] = json!([]);
    });
    assert_eq!(none.unwrap().left_out[0].reason, NO_GOLD);
}

#[test]
fn unlabelled_records_can_be_ranked() {
    let mut record = record();
    record["qa"] = json!({"question": "what?"});
    let samples = read_json(&json!([record]), Labels::Optional).unwrap();
    assert!(gold(&samples).is_empty());
    let error = read_json(&json!([record]), Labels::Required).unwrap_err().to_string();
    assert!(error.contains("record one, field qa.text_evidence: is missing"), "{error}");
}

#[test]
fn errors_name_record_and_field() {
    for field in ["paragraphs", "tables", "qa"] {
        let error = message(|r| {
            r.as_object_mut().unwrap().remove(field);
        });
        assert!(error.contains(&format!("record one, field {field}: is missing")), "{error}");
    }
    let error = message(|r| {
        r.as_object_mut().unwrap().remove("uid");
    });
    assert!(error.contains("record #0, field uid: is missing"), "{error}");
    for (evidence, expected) in [
        ("2-0-0", "2-0-0 is out of range: there are 2 tables"),
        ("0-3-0", "0-3-0 is out of range: table 0 has 3 rows and 3 columns"),
        ("0-0-3", "0-0-3 is out of range"),
        ("0-1", "expected TABLE-ROW-COLUMN"),
        ("0-1-1-1", "expected TABLE-ROW-COLUMN"),
        ("a-1-1", "expected TABLE-ROW-COLUMN"),
    ] {
        let error = message(|r| r["qa"]["table_evidence"] = json!(["0-2-1", evidence]));
        assert!(error.contains("record one, field qa.table_evidence[1]: ") && error.contains(expected), "{error}");
    }
    let error = message(|r| r["qa"]["text_evidence"] = json!([4]));
    assert!(error.contains("field qa.text_evidence[0]: 4 is out of range: there are 4 paragraphs"), "{error}");
    let error = message(|r| r["paragraphs"][3] = "## Table 2 ##".into());
    assert!(error.contains("field paragraphs[3]: \"## Table 2 ##\" names a table that is not there"), "{error}");
    let error = message(|r| r["tables"][1] = "no markup".into());
    assert!(error.contains("field tables[1]: the table has no cells"), "{error}");
    let error = message(|r| r["qa"]["table_evidence"] = json!([7]));
    assert!(error.contains("[0].qa.table_evidence[0]: invalid type: integer"), "{error}");
    let error = read_json(&json!([record(), record()]), Labels::Required).unwrap_err().to_string();
    assert!(error.contains("field uid: ") && error.contains("already"), "{error}");
}
