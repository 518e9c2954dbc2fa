use serde_json::json;

use super::*;
use crate::sample::LeftOut;
use crate::testing;

fn record() -> serde_json::Value {
    json!({
        "table": {"uid": "T", "table": [["", "2019", "2018"], ["Sales", "$1,200", "1,000"], ["Costs", "(300)", "250"],
                                        ["Year ended May 31", "2", "2"]]},
        "paragraphs": [{"uid": "b", "order": 2, "text": "Sales of $1,200 rose; fees were $0.8 million."},
                       {"uid": "a", "order": 1, "text": "Costs fell in 2019."}],
        "questions": [question()]
    })
}

fn question() -> serde_json::Value {
    json!({"uid": "q", "order": 1, "question": "what?", "answer": 200, "derivation": "1,200 - 1,000",
           "answer_type": "arithmetic", "answer_from": "table", "rel_paragraphs": [], "req_comparison": false, "scale": ""})
}

fn read_json(content: &serde_json::Value, labels: Labels) -> Result<Samples, DataError> {
    testing::read(&Tatqa, content, labels)
}

/// The record with fields of its question set.
fn with(fields: serde_json::Value) -> serde_json::Value {
    let mut record = record();
    for (field, value) in fields.as_object().unwrap() {
        record["questions"][0][field] = value.clone();
    }
    json!([record])
}

fn gold(fields: serde_json::Value) -> Vec<String> {
    let samples = read_json(&with(fields), Labels::Required).unwrap();
    samples.samples[0].questions.first().map(|question| question.gold.clone()).unwrap_or_default()
}

fn message(content: &serde_json::Value) -> String {
    read_json(content, Labels::Required).unwrap_err().to_string()
}

#[test]
fn a_document_is_its_table_and_its_paragraphs_in_order() {
    let samples = read_json(&json!([record()]), Labels::Required).unwrap();
    let document = &samples.samples[0].document;
    assert_eq!(document.id, "T");
    assert_eq!(document.passages().next(), Some("Costs fell in 2019."));
    let table = document.tables().next().unwrap();
    assert_eq!((table.num_header_rows(), table.num_header_cols()), (1, 1));
    assert_eq!(samples.samples[0].questions[0].gold, ["t0:r1c1", "t0:r1c2"]);
}

#[test]
fn gold_are_the_cells_and_paragraphs_that_hold_a_value() {
    // A number is the same with another sign or a currency.
    assert_eq!(gold(json!({"derivation": "-300 + 250"})), ["t0:r2c1", "t0:r2c2"]);
    assert_eq!(gold(json!({"answer_type": "span", "answer": ["$(300)"], "derivation": ""})), ["t0:r2c1"]);
    // The divisor of a mean stands in the table by chance.
    assert_eq!(gold(json!({"derivation": "(1,200 + 1,000) / 2"})), ["t0:r1c1", "t0:r1c2"]);
    // Text: only the paragraphs that the question names.
    let text = json!({"answer_type": "span", "answer": ["$0.8 million"], "derivation": "", "answer_from": "text", "rel_paragraphs": ["2"]});
    assert_eq!(gold(text), ["p1"]);
    let both = json!({"derivation": "1,200 - 300", "answer_from": "table-text", "rel_paragraphs": [2]});
    assert_eq!(gold(both), ["p1", "t0:r1c1", "t0:r2c1"]);
    // What a count lists, and a comparison's numbers.
    let count = json!({"answer_type": "count", "answer": "2", "derivation": "Sales##Costs"});
    assert_eq!(gold(count), ["t0:r1h0", "t0:r2h0"]);
    let compared = json!({"answer_type": "span", "answer": ["2019"], "derivation": "300 > 250"});
    assert_eq!(gold(compared), ["t0:h0c1", "t0:r2c1", "t0:r2c2"]);
    // A value that no cell shows alone: the header that holds it.
    assert_eq!(gold(json!({"answer_type": "span", "answer": ["May 31"], "derivation": ""})), ["t0:r3h0"]);
    // An answer put together from a text is in all the paragraphs that the question names.
    let anywhere = json!({"answer_type": "span", "answer": ["nowhere"], "derivation": "", "answer_from": "text", "rel_paragraphs": ["1", "2"]});
    assert_eq!(gold(anywhere), ["p0", "p1"]);
}

#[test]
fn a_question_whose_values_are_nowhere_is_left_out() {
    let samples = read_json(&with(json!({"derivation": "77 - 66"})), Labels::Required).unwrap();
    assert_eq!(samples.left_out, [LeftOut { question: "q".into(), reason: NO_GOLD }]);
    assert!(samples.samples[0].questions.is_empty());
}

#[test]
fn unlabelled_questions_can_be_ranked() {
    let mut record = record();
    record["questions"] = json!([{"uid": "q", "order": 1, "question": "what?"}]);
    let samples = read_json(&json!([record]), Labels::Optional).unwrap();
    assert!(samples.samples[0].questions[0].gold.is_empty());
    assert!(message(&json!([record])).contains("record q, field answer_type: is missing"));
}

#[test]
fn errors_name_record_and_field() {
    let mut lost = record();
    lost["table"].as_object_mut().unwrap().remove("uid");
    assert!(message(&json!([lost])).contains("record #0, field table.uid: is missing"));
    for (path, expected) in
        [("paragraphs", "record T, field paragraphs: is missing"), ("questions", "field questions: is missing")]
    {
        let mut lost = record();
        lost.as_object_mut().unwrap().remove(path);
        assert!(message(&json!([lost])).contains(expected), "{}", message(&json!([lost])));
    }
    for (fields, expected) in [
        (
            json!({"rel_paragraphs": ["3"]}),
            "record q, field rel_paragraphs[0]: is no paragraph of the document; their orders are 1, 2",
        ),
        (json!({"rel_paragraphs": ["x"]}), "field rel_paragraphs[0]: is no paragraph"),
        (json!({"answer_type": "sum"}), "field answer_type: is \"sum\"; expected span"),
        (json!({"answer_from": "page"}), "field answer_from: is \"page\"; expected table"),
        (json!({"answer": {"a": 1}}), "field answer: holds {\"a\":1}"),
        (json!({"question": " "}), "field question: is blank"),
        (json!({"derivation": 7}), "[0].questions[0].derivation: invalid type: integer"),
    ] {
        let message = message(&with(fields));
        assert!(message.contains(expected), "{message}");
    }
    let mut twice = record();
    twice["paragraphs"][0]["order"] = 1.into();
    assert!(message(&json!([twice])).contains("field paragraphs: two paragraphs have the order 1"));
    let mut again = record();
    again["table"]["uid"] = "U".into();
    assert!(message(&json!([record(), again])).contains("record q, field uid: "));
}
