use serde_json::{Value, json};

use super::*;
use crate::sample::LeftOut;
use crate::testing;

fn record() -> Value {
    json!({
        "id": "ABC/2018/page_7.pdf-1", "filename": "ABC/2018/page_7.pdf",
        "pre_text": ["first .", "second ."], "post_text": ["third ."],
        "table": [["( in millions )", "2018", "2017"], ["net sales", "$ 480", "( 415 )"],
                  ["cost , net ( a )", "1,000", "n/a"], ["total", "-2 ( 2 )", "7"]],
        "qa": {"question": "what ?", "program": "divide(480, 415)",
               "gold_inds": {"text_2": "third .", "table_1": "…"}, "exe_ans": 1.2}
    })
}

fn read_json(content: &Value, labels: Labels) -> Result<Samples, DataError> {
    testing::read(&Finqa, content, labels)
}

fn gold(program: &str, key: &str) -> Vec<String> {
    let mut record = record();
    record["qa"]["program"] = program.into();
    record["qa"]["gold_inds"] = json!({ key: "" });
    read_json(&json!([record]), Labels::Required).unwrap().samples[0].questions[0].gold.clone()
}

fn message(change: impl FnOnce(&mut Value)) -> String {
    let mut record = record();
    change(&mut record);
    read_json(&json!([record]), Labels::Required).unwrap_err().to_string()
}

#[test]
fn a_page_is_a_document_and_its_records_are_questions() {
    let mut second = record();
    second["id"] = "ABC/2018/page_7.pdf-2".into();
    let samples = read_json(&json!([record(), second]), Labels::Required).unwrap();
    assert_eq!(samples.samples.len(), 1);
    let sample = &samples.samples[0];
    assert_eq!(sample.questions.len(), 2);
    assert_eq!(sample.questions[0].gold, ["p2", "t0:r1c1", "t0:r1c2"]);
    assert_eq!(sample.document.passages().collect::<Vec<_>>(), ["first .", "second .", "third ."]);
    assert!(matches!(sample.document.blocks[2], Block::Table(_)));
}

#[test]
fn gold_follows_the_protocol() {
    assert_eq!(gold("divide(480, const_415)", "table_1"), ["t0:r1c1"]);
    assert_eq!(gold("table_sum(cost , net ( a ), none)", "table_2"), ["t0:r2c1", "t0:r2c2"]);
    assert_eq!(gold("table_sum(total, none)", "table_2"), ["t0:r2h0"]);
    assert_eq!(gold("add(#0, 99)", "table_2"), ["t0:r2h0"]);
    assert_eq!(gold("add(2, const_7)", "table_3"), ["t0:r3c1"]);
    assert_eq!(gold("add(2017, 1)", "table_0"), ["t0:h0c2"]);
    assert_eq!(gold("add(1, 1)", "table_0"), ["t0"]);
    assert_eq!(gold("add(1, 1)", "text_0"), ["p0"]);
}

#[test]
fn a_question_without_gold_is_left_out_and_counted() {
    let mut second = record();
    second["id"] = "other".into();
    second["qa"]["gold_inds"] = json!({});
    let samples = read_json(&json!([record(), second]), Labels::Required).unwrap();
    assert_eq!(samples.samples[0].questions.len(), 1);
    assert_eq!(samples.left_out, [LeftOut { question: "other".into(), reason: NO_GOLD }]);
}

#[test]
fn unlabelled_records_can_be_ranked_and_pooled_but_not_measured() {
    let mut record = record();
    record["qa"] = json!({"question": "what ?"});
    let content = json!([record]);
    assert!(read_json(&content, Labels::Optional).unwrap().samples[0].questions[0].gold.is_empty());
    let message = read_json(&content, Labels::Required).unwrap_err().to_string();
    assert!(message.contains("page_7.pdf-1, field qa.program: is missing"), "{message}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content.to_string()).unwrap();
    assert_eq!(read_pool(&[file.path().to_owned()], Placement::Random).unwrap().len(), 1);
}

#[test]
fn a_foreign_table_can_bring_its_lead_in() {
    let mut other = record();
    (other["id"], other["filename"]) = ("other".into(), "XYZ/2018/page_1.pdf".into());
    other["pre_text"] = json!(["far away .", "the following table shows net sales :", "( in millions ) ."]);
    other["table"][1][0] = "net revenue".into();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, json!([record(), other]).to_string().as_bytes()).unwrap();
    let files = vec![file.path().to_owned()];
    let inputs = Inputs { files: files.clone(), pool: files.clone(), ..Inputs::default() };
    let read = |distractors, distractor_placement| {
        let config = DataConfig { distractors, distractor_placement, ..DataConfig::default() };
        Finqa.read(&inputs, &config, Labels::Required).unwrap().samples.swap_remove(0)
    };
    let (alone, random, with) =
        (read(0, Placement::WithLeadIn), read(1, Placement::Random), read(1, Placement::WithLeadIn));
    assert_eq!(random.document.passages().collect::<Vec<_>>(), alone.document.passages().collect::<Vec<_>>());
    assert_eq!(with.document.passages().count(), 5);
    assert_eq!(with.document.tables().count(), 2);
    let at = with.document.blocks.iter().position(|block| matches!(block, Block::Table(table) if table.number() == 1));
    let [Block::Passage(first), Block::Passage(second)] = &with.document.blocks[at.unwrap() - 2..at.unwrap()] else {
        panic!("two sentences before the table")
    };
    assert_eq!([first.as_str(), second.as_str()], ["the following table shows net sales :", "( in millions ) ."]);
    // Gold is the third sentence of the page, wherever it stands now.
    let gold = &with.questions[0].gold;
    let third = with.document.passages().position(|text| text == "third .").unwrap();
    assert_eq!(*gold, [format!("p{third}"), "t0:r1c1".into(), "t0:r1c2".into()]);

    let mut bare = record();
    bare.as_object_mut().unwrap().remove("pre_text");
    std::fs::write(file.path(), json!([bare]).to_string()).unwrap();
    assert!(read_pool(&files, Placement::Random).is_ok());
    let message = read_pool(&files, Placement::WithLeadIn).unwrap_err().to_string();
    assert!(message.contains("field pre_text: is missing"), "{message}");
}

#[test]
fn errors_name_record_and_field() {
    let remove = |field: &'static str| {
        message(move |record| {
            record.as_object_mut().unwrap().remove(field);
        })
    };
    assert!(remove("id").contains("record #0, field id: is missing"));
    for field in ["table", "pre_text", "post_text", "filename", "qa"] {
        let expected = format!("record ABC/2018/page_7.pdf-1, field {field}: is missing");
        assert!(remove(field).contains(&expected), "{}", remove(field));
    }
    assert!(message(|r| r["qa"]["question"] = " ".into()).contains("field qa.question: is blank"));
    assert!(message(|r| r["qa"]["program"] = "divide".into()).contains("field qa.program: expected"));
    for (key, expected) in [
        ("text_3", "is out of range: the page has 3 sentences"),
        ("table_4", "is out of range: the table has 4 rows"),
        ("row_1", "expected text_K or table_R"),
        ("text_x", "expected text_K or table_R"),
    ] {
        let message = message(|r| r["qa"]["gold_inds"] = json!({ key: "" }));
        assert!(message.contains(&format!("field qa.gold_inds.{key}: {expected}")), "{message}");
    }
    let ragged = message(|r| r["table"][1] = json!(["a", "b"]));
    assert!(ragged.contains("field table: row 1 covers 2 columns, row 0 covers 3"), "{ragged}");
    assert!(message(|r| r["table"] = json!([])).contains("field table: the table has no cells"));
    assert!(message(|r| r["table"][1][0] = json!(7)).contains("[0].table[1][0]: invalid type: integer"));
}

#[test]
fn files_that_are_no_lists_of_records_are_refused() {
    let of = |text: &str| testing::read(&Finqa, text, Labels::Required).unwrap_err().to_string();
    let whole = json!([record()]).to_string();
    assert!(of("").contains("the file is empty"));
    assert!(of("[]").contains("the list of records is empty"));
    assert!(of("{}").contains("expected "), "{}", of("{}"));
    assert!(of(&whole[..whole.len() / 2]).contains("EOF while parsing"));
    let twice = json!([record(), record()]).to_string();
    assert!(of(&twice).contains("field id: "), "{}", of(&twice));
    let mut other = record();
    other["id"] = "b".into();
    other["pre_text"] = json!(["changed .", "second ."]);
    assert!(of(&json!([record(), other]).to_string()).contains("record b, field filename: page"));
}
