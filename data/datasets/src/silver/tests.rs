use proptest::prelude::*;

use super::*;
use tabsegnet_document::model::{CellSource, TableSource};

fn table(number: usize, caption: &str, headers: (usize, usize), rows: &[&[&str]]) -> Table {
    let rows = rows.iter().map(|row| row.iter().map(|&text| CellSource::from(text)).collect()).collect();
    let (header_rows, header_cols) = headers;
    Table::new(TableSource {
        number,
        caption: caption.into(),
        header_rows,
        header_cols,
        rows,
        ..TableSource::default()
    })
    .unwrap()
}

fn document(passages: &[&str], tables: Vec<Table>) -> Document {
    let passages = passages.iter().map(|&text| Block::Passage(text.into()));
    Document { id: "d".into(), blocks: passages.chain(tables.into_iter().map(Block::Table)).collect() }
}

/// The silver segments of a question.
fn segments(document: &Document, question: &str, gold: &[String], rows: Rows) -> Vec<Segment> {
    Nodes::new(document).segments(question, gold, rows)
}

/// The texts of the segments.
fn texts(document: &Document, question: &str, gold: &[&str], rows: Rows) -> Vec<String> {
    let gold: Vec<String> = gold.iter().map(|&id| id.to_owned()).collect();
    segments(document, question, &gold, rows).into_iter().map(|segment| segment.text).collect()
}

fn revenue(columns: [&str; 3]) -> Document {
    let rows: [&[&str]; 4] = [
        &["( in millions )", columns[0], columns[1], columns[2]],
        &["net revenue ( 1 )", "3", "2", "1"],
        &["cost of sales *", "6", "5", "4"],
        &["revenue growth", "9", "8", "7"],
    ];
    document(
        &["rent expense was $ 3 in 2010 and $ 2 in 2009 .", "all other matters ."],
        vec![table(0, "", (1, 1), &rows)],
    )
}

const YEARS: [&str; 3] = ["2010", "2009", "2008"];

#[test]
fn cells_ask_for_row_and_column_in_the_order_of_the_question() {
    let document = revenue(YEARS);
    let question = "what was the change in net revenue from 2009 to 2010, before cost of sales in 2010?";
    let gold = ["t0:r2c1", "t0:r1c1", "t0:r1c2"].map(str::to_owned);
    let found = segments(&document, question, &gold, Rows::Measures);
    let found: Vec<(&str, &[String])> = found.iter().map(|s| (s.text.as_str(), s.nodes.as_slice())).collect();
    let expected = [
        ("net revenue 2009", &["t0:r1c2".to_owned()][..]),
        ("net revenue 2010", &["t0:r1c1".to_owned()][..]),
        ("cost of sales 2010", &["t0:r2c1".to_owned()][..]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn dates_are_years_and_units_and_footnotes_are_dropped() {
    let question = "what was net revenue in 2009 over 2010?";
    for columns in [
        ["december 31 , 2010", "december 31 , 2009", "december 31 , 2008"],
        ["2010 ( in millions )", "2009 ( in millions )", "2008 ( unaudited )"],
        ["year ended dec . 31 2010", "$ 2009", "fiscal 2008"],
        ["31-dec-2010", "2009 (2)", "2008"],
    ] {
        let found = texts(&revenue(columns), question, &["t0:r1c1", "t0:r1c2"], Rows::Measures);
        assert_eq!(found, ["net revenue 2009", "net revenue 2010"], "{columns:?}");
    }
    let quarters = revenue(["march 31 , 2010", "june 30 , 2010", "2009"]);
    assert_eq!(texts(&quarters, question, &["t0:r1c2"], Rows::Measures), ["net revenue june 30 2010"]);
    let named = revenue(["december 31 , 2010", "december 31 , 2009", "2008"]);
    let month = "what was net revenue at december 31 , 2009?";
    assert_eq!(texts(&named, month, &["t0:r1c2"], Rows::Measures), ["net revenue december 31 2009"]);
    assert_eq!(
        texts(&revenue(["2000-10", "a", "b"]), "revenue?", &["t0:r1c1"], Rows::Measures),
        ["net revenue 2000-10"]
    );
}

#[test]
fn repeated_words_and_equal_paths_are_there_once() {
    let document = revenue(["Net Revenue 2010", "net revenue", "Net revenue"]);
    let gold = ["t0:r1c1", "t0:r1c2", "t0:r1c3"].map(str::to_owned);
    let found = segments(&document, "net revenue of 2010 and net revenue", &gold, Rows::Measures);
    assert_eq!(found.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["net revenue", "Net Revenue 2010"]);
    assert_eq!(found[0].nodes, ["t0:r1c2", "t0:r1c3"]);
}

#[test]
fn a_whole_row_is_one_segment_unless_its_columns_are_named() {
    let document = revenue(YEARS);
    let row = ["t0:r1c1", "t0:r1c2", "t0:r1c3"];
    assert_eq!(texts(&document, "what is the average net revenue?", &row, Rows::Measures), ["net revenue"]);
    let named = texts(&document, "average net revenue of 2008, 2009 and 2010?", &row, Rows::Measures);
    assert_eq!(named, ["net revenue 2008", "net revenue 2009", "net revenue 2010"]);
    let column = ["t0:r1c1", "t0:r2c1", "t0:r3c1"];
    assert_eq!(texts(&document, "what is the largest of 2010?", &column, Rows::Measures), ["2010"]);
}

#[test]
fn very_many_segments_are_made_whole_rows_or_columns() {
    let names: Vec<String> = (0..9).map(|row| format!("unit {row}")).collect();
    let mut rows: Vec<Vec<&str>> = vec![vec!["", "2010", "2009", "2008"]];
    rows.extend(names.iter().map(|name| vec![name.as_str(), "1", "2", "3"]));
    let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
    let document = document(&[], vec![table(0, "", (1, 1), &rows)]);
    let of = |rows: std::ops::RangeInclusive<usize>, cols: usize| -> Vec<String> {
        rows.flat_map(|row| (1..=cols).map(move |col| format!("t0:r{row}c{col}"))).collect()
    };
    let question = "unit in 2010 and 2009";
    let wide = segments(&document, question, &of(1..=4, 2), Rows::Measures);
    let wide: Vec<(&str, usize)> = wide.iter().map(|s| (s.text.as_str(), s.nodes.len())).collect();
    assert_eq!(wide, [("2010", 4), ("2009", 4)]);
    let flat: Vec<String> = (1..=9).map(|row| format!("t0:r{row}c{}", 1 + row % 3)).collect();
    assert_eq!(segments(&document, question, &flat, Rows::Measures).len(), 3);
    let sentences: Vec<String> = (0..9).map(|i| format!("w{i}")).collect();
    let passages: Vec<&str> = sentences.iter().map(String::as_str).collect();
    let many = self::document(&passages, vec![]);
    let gold: Vec<String> = (0..9).map(|i| format!("p{i}")).collect();
    let kept: Vec<String> =
        segments(&many, &passages.join(" "), &gold, Rows::Measures).into_iter().map(|s| s.text).collect();
    assert_eq!(kept, ["w0", "w1", "w2", "w3", "w4", "w5"]);
}

#[test]
fn sentences_ask_for_what_they_cover() {
    let document = revenue(YEARS);
    let question = "what was the rent expense in 2010, in millions?";
    assert_eq!(texts(&document, question, &["p0"], Rows::Measures), ["rent expense 2010"]);
    assert!(texts(&document, question, &["p1"], Rows::Measures).is_empty());
    let both = "rent expense from december 31 , 2009 to 2010 of the company 2019s stores?";
    assert_eq!(texts(&document, both, &["p0"], Rows::Measures), ["rent expense 2009", "rent expense 2010"]);
    // It shares nothing but the year.
    assert_eq!(texts(&document, "net revenue in 2010?", &["p0", "t0:r1c1"], Rows::Measures), ["net revenue 2010"]);
    assert!(texts(&document, "gains in 2010?", &["p0"], Rows::Measures).is_empty());
    // The cells hold all of it.
    let gold = ["p0", "t0:r1c1"].map(str::to_owned);
    let found = segments(&document, "2010 net revenue expense?", &gold, Rows::Measures);
    assert_eq!(found.len(), 2);
    assert!(segments(&document, "", &gold, Rows::Measures).iter().all(|segment| !segment.text.is_empty()));
}

#[test]
fn a_header_of_a_year_asks_for_nothing_that_its_cells_ask_for() {
    let document = revenue(YEARS);
    let gold = ["t0:h0c1", "t0:r1c1"].map(str::to_owned);
    let found = segments(&document, "net revenue in 2010?", &gold, Rows::Measures);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].text.as_str(), found[0].nodes.as_slice()), ("net revenue 2010", gold.as_slice()));
    assert_eq!(texts(&document, "which year, 2010 or 2009?", &["t0:h0c1"], Rows::Measures), ["2010"]);
}

#[test]
fn headers_ask_for_their_path_unless_they_are_the_answer() {
    let rows: [&[&str]; 3] = [&["club", "division"], &["bradford", "third"], &["leeds", "first"]];
    let document = document(&[], vec![table(0, "", (1, 1), &rows)]);
    assert_eq!(texts(&document, "what of leeds?", &["t0:r2h0"], Rows::Measures), ["leeds"]);
    assert_eq!(texts(&document, "which club was first?", &["t0:r2h0"], Rows::Entities), ["club"]);
    // The row of an entity that the question does not name is not in it either.
    assert_eq!(texts(&document, "which division?", &["t0:r2c1"], Rows::Entities), ["division"]);
    assert_eq!(texts(&document, "division of Leeds?", &["t0:r2c1"], Rows::Entities), ["leeds division"]);
    assert_eq!(texts(&document, "which tier?", &["t0:r2c1"], Rows::Measures), ["leeds"]);
}

#[test]
fn captions_tell_tables_apart() {
    let rows: [&[&str]; 2] = [&["", "2010"], &["sales", "1"]];
    let both = |captions: [&str; 2]| {
        let tables = captions.into_iter().enumerate().map(|(number, caption)| table(number, caption, (1, 1), &rows));
        texts(&document(&[], tables.collect()), "sales 2010", &["t0:r1c1", "t1:r1c1"], Rows::Measures)
    };
    assert_eq!(both(["Europe (1)", "Asia"]), ["sales 2010 Europe", "sales 2010 Asia"]);
    assert_eq!(both(["Europe", "europe"]), ["sales 2010 Europe"]);
    assert_eq!(both(["", "Asia"]), ["sales 2010"]);
}

#[test]
fn cells_without_headers_ask_for_what_their_text_covers() {
    let document = document(&[], vec![table(0, "", (0, 0), &[&["Paul Smith", "7"], &["8", "9"]])]);
    assert_eq!(texts(&document, "when was Smith born?", &["t0:r0c0", "t0:r1c1"], Rows::Measures), ["Smith"]);
    assert!(texts(&document, "when?", &["t0:r0c0", "t9:r0c0"], Rows::Measures).is_empty());
}

proptest! {
    #[test]
    fn segments_are_few_distinct_and_of_gold(
        texts in prop::collection::vec("[a-c ,()$%*é0-9\u{2009}]{0,8}|2009|december 31 , 2009|( in millions )", 12),
        headers in (0..3_usize, 0..3_usize),
        question in "([a-cé]{1,3}|2009|of|,){0,9}( [a-c]| 2009| and){0,9}",
        gold in prop::collection::vec(0..20_usize, 0..16),
        entities: bool,
    ) {
        let rows: Vec<Vec<&str>> = texts.chunks(4).map(|row| row.iter().map(String::as_str).collect()).collect();
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        let document = document(&[&texts[0], &texts[5]], vec![table(0, &texts[7], headers, &rows)]);
        let ids: Vec<String> =
            tabsegnet_graph::Graph::of(&document).nodes().iter().map(|node| node.id.clone()).collect();
        let gold: Vec<String> = gold.into_iter().filter_map(|node| ids.get(node).cloned()).collect();
        let rows = if entities { Rows::Entities } else { Rows::Measures };
        let found = segments(&document, &question, &gold, rows);
        prop_assert!(found.len() <= MOST);
        let mut known = Vec::new();
        for segment in &found {
            prop_assert_eq!(segment.text.trim(), &segment.text);
            prop_assert!(!segment.text.is_empty() && !segment.nodes.is_empty());
            prop_assert!(segment.nodes.iter().all(|node| gold.contains(node)));
            prop_assert!(!known.contains(&segment.text.to_lowercase()));
            known.push(segment.text.to_lowercase());
        }
        prop_assert_eq!(segments(&document, &question, &gold, rows), found);
    }
}
