use super::{characters, repair};
use tabsegnet_document::model::{Block, Document, Table, TableSource};

#[test]
fn characters_of_which_the_code_point_is_left_come_back() {
    for (lost, expected) in [
        ("the company 2019s shares", "the company’s shares"),
        ("shareholders 2019 equity", "shareholders’ equity"),
        ("( 201cpnc 201d ) and 2018 2018adjusted 2019 2019 cash", "( “pnc ” ) and “adjusted” cash"),
        ("2022 level 1 2013 quoted prices ; 2022 others", "• level 1 – quoted prices ; • others"),
        ("note 16 2014stockholders and 20ac590.5 million", "note 16 — stockholders and €590.5 million"),
        ("net income per share 2014basic", "net income per share — basic"),
        ("notes to financial statements 2014 ( continued )", "notes to financial statements — ( continued )"),
        // What may be a year is one.
        ("in 2014 and 2013 , the years 2019 and 2022", "in 2014 and 2013 , the years 2019 and 2022"),
        ("due april 2014 or december 31 , 2019 .", "due april 2014 or december 31 , 2019 ."),
        ("2022 , 2014 and beyond , 2022and", "2022 , 2014 and beyond , 2022and"),
        ("revenues 2019", "revenues 2019"),
    ] {
        assert_eq!(characters(lost, Some(2009)), expected);
        assert_eq!(characters(expected, Some(2009)), expected, "a second time");
    }
    // Of a page of those years it may be the year.
    assert_eq!(characters("our 2014 plan", Some(2013)), "our 2014 plan");
    assert_eq!(characters("our 2014 plan", None), "our 2014 plan");
}

fn page(id: &str, passages: &[&str], rows: &[&[&str]]) -> Document {
    let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).into()).collect()).collect();
    let table = Table::new(TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap();
    let mut blocks: Vec<Block> = passages.iter().map(|text| Block::Passage((*text).into())).collect();
    blocks.push(Block::Table(table));
    Document { id: id.into(), blocks }
}

fn repaired(mut document: Document) -> Vec<String> {
    repair(&mut document);
    let table = document.tables().next().unwrap();
    table.cells().iter().map(|cell| cell.text.clone()).collect()
}

#[test]
fn a_dash_among_amounts_is_told_from_a_year() {
    let cells = repaired(page(
        "A/2009/page_1.pdf",
        &[],
        &[&["", "2013", "2014"], &["debt", "2014", "$ 2014"], &["cash", "12", "2013"], &["2014", "7", "8"]],
    ));
    assert_eq!(cells, ["", "2013", "2014", "debt", "—", "$ —", "cash", "12", "–", "2014", "7", "8"]);
    // Beside other years it is one.
    let cells =
        repaired(page("A/2009/page_1.pdf", &[], &[&["", "due", "amount"], &["a", "2014", "5"], &["b", "2016", "6"]]));
    assert_eq!(cells[4], "2014");
}

#[test]
fn words_that_run_together_are_told_apart_by_the_documents_own() {
    let text = [
        "cruise guests of european lines marketed globally , by supply of berths",
        "an investment in operating assets",
    ];
    let rows: [&[&str]; 3] = [
        &["year", "EuropeanCruiseGuests ( 3 )", "supplyofberthsmarketedglobally"],
        &["invest ment", "ment", "invest"],
        &["investment", "operating", "unheardofwords"],
    ];
    let cells = repaired(page("A/2009/page_1.pdf", &text, &rows));
    assert_eq!(cells[1], "European Cruise Guests ( 3 )");
    assert_eq!(cells[2], "supply of berths marketed globally");
    assert_eq!(cells[6..], ["investment", "operating", "unheardofwords"], "whole words of the sentences");
}

#[test]
fn parts_of_broken_words_are_none() {
    let text = ["valua- tion of invest - ment"];
    let cells = repaired(page("A/2009/page_1.pdf", &text, &[&["", "valuation"], &["investment", "1"]]));
    assert_eq!(cells[1..3], ["valuation", "investment"]);
}
