use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use tabsegnet_document::model::{Block, CellSource, TableSource};

fn document(rows: &[Vec<String>]) -> Document {
    let rows = rows.iter().map(|row| row.iter().map(|text| CellSource::from(text.as_str())).collect()).collect();
    let table = TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
    Document { id: "d".into(), blocks: vec![Block::Table(Table::new(table).unwrap())] }
}

fn lines(rows: &[&[&str]]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|&text| text.to_owned()).collect()).collect()
}

fn report() -> Headers {
    Headers::of(&[document(&lines(&[
        &["( in millions )", "2019", "December 31, 2018", "2017", "Weighted average price"],
        &["Net revenue (1)", "4", "3", "2", "1"],
        &["Cost of sales", "4", "3", "2", "1"],
        &["", "4", "3", "2", "1"],
    ]))])
}

fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
}

#[test]
fn rows_and_columns_have_their_silver_names() {
    let headers = report();
    let rows = &headers.tables[0];
    assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["Net revenue", "Cost of sales"]);
    assert_eq!(
        (rows[0].years.clone(), rows[0].others.clone()),
        (vec![2019, 2018, 2017], vec!["Weighted average price".into()])
    );
}

#[test]
fn a_change_makes_two_segments_and_two_rows_one_each() {
    let question = |shape, wording: &str| {
        let headers = report();
        let mut dice = Dice::new(Digest::new());
        let drawn = loop {
            if let Some(drawn) = Drawn::new(shape, &headers.tables[0], &mut dice) {
                break drawn;
            }
        };
        let texts: Vec<String> = drawn.texts.iter().map(|(_, text)| text.clone()).collect();
        (drawn.question(wording, &mut dice).segments.join("; ").to_lowercase(), texts)
    };
    let (segments, texts) = question(Shape::Change, "what was the change in {a} from {y} to {z}");
    assert_eq!(segments, format!("{0} {1}; {0} {2}", texts[0], texts[1], texts[2]).to_lowercase());
    // In the order of the question, not of the table.
    let (segments, texts) = question(Shape::Rows, "what percent of {b} is {a} {@y}");
    assert_eq!(segments, format!("{1} {2}; {0} {2}", texts[0], texts[1], texts[2]).to_lowercase());
    let (segments, texts) = question(Shape::Each, "what was {b} in {z} and {a} in {y}");
    assert_eq!(segments, format!("{1} {3}; {0} {2}", texts[0], texts[1], texts[2], texts[3]).to_lowercase());
    let (segments, texts) = question(Shape::Pair, "what is the ratio of {b} to {a}");
    assert_eq!(segments, format!("{1}; {0}", texts[0], texts[1]).to_lowercase());
}

#[test]
fn every_wording_names_what_its_shape_asks_for() {
    let mut all = BTreeSet::new();
    for (shape, _, wordings) in WORDINGS {
        let wanted: &[&str] = match shape {
            Shape::One | Shape::Column => &["a", "y"],
            Shape::Change | Shape::Columns => &["a", "y", "z"],
            Shape::Years => &["a", "years"],
            Shape::Rows | Shape::RowsColumn => &["a", "b", "y"],
            Shape::Each | Shape::Square => &["a", "b", "y", "z"],
            Shape::Row => &["a"],
            Shape::Pair => &["a", "b"],
        };
        for wording in *wordings {
            let mut marks: Vec<&str> = wording.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
            marks.iter_mut().for_each(|mark| *mark = mark.trim_start_matches('@'));
            marks.sort_unstable();
            assert_eq!(marks, wanted, "{wording}");
            assert!(all.insert(*wording), "{wording} stands twice");
        }
    }
    assert!(all.len() >= 30, "{} wordings", all.len());
}

#[test]
fn seed_and_epoch_make_the_questions() {
    let headers = report();
    let of = |seed, epoch| headers.questions(50, seed, epoch);
    assert_eq!(of(1, 1), of(1, 1));
    assert!(of(1, 1) != of(1, 2) && of(1, 1) != of(2, 1));
    assert_eq!(headers.questions(20, 1, 1), of(1, 1)[..20]);
    assert!(Headers::default().is_empty() && Headers::default().questions(3, 0, 0).is_empty());
    assert!(headers.digest(Digest::new()).hex() != Headers::default().digest(Digest::new()).hex());
}

proptest! {
    /// Of any table with a named row as many questions as wanted, none of them empty, whose segments are
    /// copied from them.
    #[test]
    fn each_word_of_a_segment_stands_in_the_question(
        rows in proptest::collection::vec(proptest::collection::vec("[a-cA-C]{0,3}( [0-9a-c&%-]{1,3})?|20[01][0-9]", 4), 2..5),
        seed in 0..1000_u64,
    ) {
        let headers = Headers::of(&[document(&rows)]);
        let generated = headers.questions(20, seed, 1);
        prop_assert_eq!(generated.len(), if headers.is_empty() { 0 } else { 20 });
        for GeneratedQuestion { question, segments } in generated {
            prop_assert!(!segments.is_empty() && !question.contains(['{', '}']), "{question}: {segments:?}");
            for segment in &segments {
                prop_assert!(!segment.trim().is_empty());
                prop_assert!(words(segment).is_subset(&words(&question)), "{question}: {segment}");
            }
        }
    }
}
