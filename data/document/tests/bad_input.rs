//! Files that are not what they should be, read as programs read them: each is a clear error, or a
//! document that says what was cut. Nothing here may take much time or memory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tabsegnet_document::model::Table;
use tabsegnet_document::{Format, Limits, Location, ReadDocument, ReadError, ReadOptions, read, read_bytes};
use zip::write::SimpleFileOptions;

/// Writes a file and reads it.
fn read_file(name: &str, bytes: impl AsRef<[u8]>) -> Result<ReadDocument, ReadError> {
    let directory = tempfile::tempdir().unwrap();
    let path: PathBuf = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, &ReadOptions::default())
}

fn good(name: &str, bytes: impl AsRef<[u8]>) -> ReadDocument {
    read_file(name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What the error says; it always names the file.
fn error(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let Err(error) = read_file(name, bytes) else { panic!("{name} was read") };
    let message = error.to_string();
    assert!(message.contains(name), "{message}");
    message
}

fn table(read: &ReadDocument) -> &Table {
    read.document.tables().next().unwrap()
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[test]
fn the_content_decides_where_the_extension_is_wrong() {
    let page = "<!DOCTYPE html><table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>1</td></tr></table>";
    for name in ["x.csv", "x.txt", "x.xls", "x", "x.html"] {
        assert_eq!(good(name, page).format, Format::Html, "{name}");
    }
    assert!(error("x.xlsx", page).contains("is no workbook"));
    assert!(error("x.json", page).contains("the whole file"));
    assert!(error("x.html", "%PDF-1.7").contains("convert it with docling"));
    assert!(error("x.csv", b"\x1f\x8b\x08\0").contains("unpack it"));
    assert!(error("x.docx", b"PK\x03\x04word/document.xml").contains("is an archive but no workbook"));
    assert!(error("x.dat", "a,b").contains("has no known extension"));
}

#[test]
fn an_empty_file_is_an_error_that_says_what_was_expected() {
    for (name, expected) in [
        ("x.html", "a page with text or a table"),
        ("x.md", "text or a table"),
        ("x.csv", "records of values, one a line"),
        ("x.tsv", "records of values, one a line"),
        ("x.txt", "text"),
        ("x.json", "JSON with an id and blocks"),
        ("x.xlsx", "a workbook"),
        ("x", "native (.json), docling (.json), html"),
    ] {
        for bytes in ["", " \n \n", "\u{feff}", "\u{feff}\n"] {
            let message = error(name, bytes);
            assert!(message.contains(&format!(": the file is empty; expected {expected}")), "{message}");
        }
    }
    for format in Format::ALL {
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let error = read_bytes(Path::new("x"), Vec::new(), &options).unwrap_err().to_string();
        assert!(error.starts_with("x: the file is empty; expected ") && !error.contains("native"), "{error}");
    }
}

#[test]
fn scanned_pages_without_text_have_to_be_recognised_first() {
    let docling = r##"{"schema_name": "DoclingDocument", "body": {"children": [{"$ref": "#/pictures/0"}, {"$ref": "#/pictures/1"}, {"$ref": "#/texts/0"}]},
        "texts": [{"text": "12", "label": "page_footer", "content_layer": "furniture"}], "pictures": [{"children": []}, {}]}"##;
    let page = "<html><body><div><img src='1.png'></div><div><img src='2.png'></div><p>2</p></body></html>";
    for (name, text) in [("x.json", docling), ("x.html", page), ("x.md", "![](1.png)\n\n![](2.png)\n")] {
        let message = error(name, text);
        assert!(
            message.contains("has 2 pictures and no text; pages that were scanned") && message.contains("OCR"),
            "{message}"
        );
    }
    // A stamp on each page is hardly any text; a report with some pictures is one.
    let stamped = good("x.html", page.replace("<p>2</p>", "<p>Confidential, copy of the archive</p>"));
    assert!(stamped.warnings[0].contains("2 pictures and hardly any text"), "{:?}", stamped.warnings);
    let report = good("x.html", page.replace("<p>2</p>", &"<p>Revenue rose by 8 % in the year.</p>".repeat(3)));
    assert_eq!(report.warnings, [""; 0]);
    assert!(error("x.html", "<script>write()</script>").contains("a page that a script fills"));
}

#[test]
fn binary_is_no_text() {
    let noise: Vec<u8> = (0..5000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for name in ["x.html", "x.md", "x.csv", "x.txt", "x.json", "x"] {
        assert!(error(name, &noise).contains("is no text"), "{name}");
    }
    assert!(error("x.xlsx", &noise).contains("is no text"));
    assert!(error("x.txt", b"a\nb \0c").contains("is no text: line 2 has a byte 0 in place 3"));
}

#[test]
fn json_of_another_kind_says_what_it_is() {
    let table = "{\"id\": \"a\", \"title\": \"x\", \"rows\": [[\"1\"]]}";
    assert!(error("x.jsonl", table).contains("index makes a corpus of tables, and query --database"));
    assert!(error("corpus.json", "{\"format\": 5}").contains("belongs to a corpus that index made"));
    for format in [Format::Native, Format::Docling] {
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let read = read_bytes(Path::new("x.html"), b"<html><body>x</body></html>".to_vec(), &options);
        let said = read.unwrap_err().to_string();
        assert!(
            said.contains("x.html: the whole file: expected JSON, and it begins with \"<html><body>x</body>\""),
            "{said}"
        );
    }
}

#[test]
fn regression_a_very_wide_table_is_read_in_time() {
    let names = |name: &str| (0..200_000).map(|at| format!("{name}{at}")).collect::<Vec<_>>().join(",");
    let started = Instant::now();
    let read = good("x.csv", names("c") + "\n" + &names("1"));
    assert_eq!(read.document.tables().next().map(|table| (table.rows(), table.cols())), Some((2, 200_000)));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn regression_lines_that_end_in_a_return_alone_are_lines() {
    let read = good("x.csv", "City,Population\rOslo,700000\rRome,2800000\r");
    assert_eq!(read.layout.locations.cell(0, 2, 1), Some(Location::Line(3)));
}

#[test]
fn a_workbook_behind_a_password_says_so() {
    let mut container = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    container.resize(1024, 0);
    container.extend(utf16("EncryptedPackage", u16::to_le_bytes));
    container.resize(4096, 0xff);
    assert!(error("book.xlsx", &container).contains("behind a password"));
    container.truncate(1024);
    assert!(error("book.xls", &container).contains("from before 2007"));
}

#[test]
fn encodings_are_found_and_guesses_are_said() {
    let text = "Umsatz;2024\nMüller;5 €\nÖl;7\n";
    for bytes in [
        utf16(&format!("\u{feff}{text}"), u16::to_le_bytes),
        utf16(&format!("\u{feff}{text}"), u16::to_be_bytes),
        format!("\u{feff}{text}").into_bytes(),
    ] {
        let read = good("x.csv", bytes);
        assert_eq!(table(&read).cell_at(1, 1).unwrap().text, "5 €");
        assert_eq!(read.warnings, [""; 0]);
    }
    assert_eq!(table(&good("x.csv", utf16(text, u16::to_le_bytes))).cell_at(1, 0).unwrap().text, "Müller");
    let western = good("x.csv", b"Umsatz;2024\nM\xfcller;5 \x80\n\xd6l;7\n");
    assert_eq!(table(&western).cell_at(1, 1).unwrap().text, "5 €");
    assert!(western.warnings[0].contains("windows-1252"), "{:?}", western.warnings);
    let torn = good("x.txt", b"\xff\xfea\0\x00\xd8");
    assert!(torn.warnings[0].contains("UTF-16LE"), "{:?}", torn.warnings);
}

#[test]
fn a_table_without_rows_is_none() {
    let page = good("x.html", "<p>before</p><table></table><table><tr></tr></table><p>after</p>");
    assert_eq!((page.tables.len(), page.document.passages().count()), (0, 2));
    assert!(error("x.html", "<table></table>").contains("holds no text; expected"));
    let native = error("x.json", r#"{"id": "r", "blocks": [{"table": {"rows": []}}]}"#);
    assert!(native.contains("blocks[0].table: the table has no cells"), "{native}");
    let docling = r##"{"schema_name": "DoclingDocument", "body": {"children": [{"$ref": "#/tables/0"}]},
        "tables": [{"data": {"num_rows": 0, "num_cols": 3, "table_cells": []}}]}"##;
    assert!(error("x.json", docling).contains("holds no text; expected"));
}

#[test]
fn a_table_of_empty_cells_is_left_out_with_a_warning() {
    let read = good("x.md", "Text.\n\n| | |\n|--|--|\n| | |\n");
    assert_eq!(read.tables.len(), 0);
    assert!(read.warnings[0].contains("all its cells are empty"), "{:?}", read.warnings);
    for (name, text) in [
        ("x.csv", ",,\n , ,\n"),
        ("x.html", "<table><tr><td></td><td>&nbsp;</td></tr></table>"),
        ("x.json", r#"{"id": "r", "blocks": [{"table": {"rows": [["", " "], ["", ""]]}}]}"#),
    ] {
        let message = error(name, text);
        assert!(
            message.contains("holds no text; expected") || message.contains("field blocks: hold no text"),
            "{message}"
        );
    }
}

#[test]
fn five_thousand_columns_are_read() {
    let line = |first: &str, cell: &dyn Fn(usize) -> String| -> Vec<String> {
        std::iter::once(first.to_owned()).chain((1..5000).map(cell)).collect()
    };
    let rows =
        [line("", &|n| format!("c{n}")), line("Sales", &|n| n.to_string()), line("Costs", &|n| (n * 2).to_string())];
    let csv: String = rows.iter().map(|row| row.join(",") + "\n").collect();
    let html = rows.iter().fold(String::from("<table>"), |mut page, row| {
        let _ = write!(page, "<tr><td>{}</td></tr>", row.join("</td><td>"));
        page
    });
    let markdown = format!("|{}|\n{}\n|{}|\n", rows[0].join("|"), "|--".repeat(5000), rows[1].join("|"));
    for (name, text) in [("x.csv", csv), ("x.html", html), ("x.md", markdown)] {
        let read = good(name, text);
        let table = table(&read);
        assert_eq!(table.cols(), 5000, "{name}");
        let cell = table.cell_at(1, 4999).unwrap();
        assert_eq!(table.path(&table.column_headers_of(cell)), "c4999", "{name}");
        assert_eq!(table.path(&table.row_headers_of(cell)), "Sales", "{name}");
    }
}

#[test]
fn right_to_left_text_stays_in_logical_order() {
    let page = "<p dir=rtl>ההכנסות עלו. العائد ارتفع.</p><table dir=rtl><tr><th>مقطع</th><th>2024</th></tr><tr><td>שלום\u{200f}</td><td>٣</td></tr></table>";
    let read = good("x.html", page);
    assert_eq!(read.document.passages().collect::<Vec<_>>(), ["ההכנסות עלו.", "العائد ارتفع."]);
    assert_eq!(table(&read).cell_at(0, 0).unwrap().text, "مقطع");
    assert_eq!(table(&read).cell_at(1, 0).unwrap().text, "שלום\u{200f}");
    let csv = good("x.csv", "מקטע,2024\nענן,1\n");
    assert_eq!(table(&csv).cell_at(1, 0).unwrap().text, "ענן");
}

#[test]
fn spans_of_a_billion_are_cut_or_refused() {
    let page = good(
        "x.html",
        "<table><tr><td colspan=1000000000>a</td></tr><tr><td rowspan=99999999999999999999>b</td><td>1</td></tr></table>",
    );
    assert!(table(&page).rows() * table(&page).cols() <= 4);
    let native = r#"{"id": "r", "blocks": [{"table": {"rows": [[{"text": "a", "colspan": 1000000000}]]}}]}"#;
    assert!(error("x.json", native).contains("more than 4000000 positions"));
    let docling = r##"{"schema_name": "DoclingDocument", "body": {"children": [{"$ref": "#/tables/0"}, {"$ref": "#/texts/0"}]},
        "texts": [{"text": "a", "label": "text"}], "tables": [{"data": {"num_rows": 1, "num_cols": 1000000000, "table_cells": [
            {"text": "x", "start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 999999999, "end_col_offset_idx": 1000000000}]}}]}"##;
    let read = good("x.json", docling);
    assert_eq!(read.tables.len(), 0);
    assert!(read.warnings[0].contains("1000000000 columns"), "{:?}", read.warnings);
}

#[test]
fn regression_attributes_of_a_tag_without_end_are_left_out_with_a_warning() {
    let many: String = (0..200_000).map(|at| format!(" a{at}=1")).collect();
    let read = good("many.html", format!("<table{many}><tr><th>a<td>1<tr><th>b<td>2</table>"));
    assert_eq!(read.tables.len(), 1);
    assert!(read.warnings.iter().any(|warning| warning.contains("attributes")), "{:?}", read.warnings);
}

#[test]
#[cfg(unix)]
fn regression_a_device_is_read_no_further_than_a_file_may_be() {
    let options = ReadOptions { limits: Limits { max_file_bytes: 1 << 20, ..Limits::default() }, ..Default::default() };
    let error = read(Path::new("/dev/zero"), &options).unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { limit, .. } if limit == 1 << 20), "{error}");
}

#[test]
fn a_hundred_thousand_nested_things_are_read_or_refused() {
    let deep = |open: &str| format!("before\n\n{}deep", open.repeat(100_000));
    let page = good("x.html", format!("<p>before</p>{}deep", "<div><b>".repeat(100_000)));
    assert!(page.warnings[0].contains("nested deeper than 512"), "{:?}", page.warnings);
    for open in ["> ", "- ", "[", "*", "![", "`", "<b>", "**a "] {
        assert!(good("x.md", deep(open)).document.passages().next().unwrap().starts_with("before"), "{open}");
    }
    for open in ["[", "{\"a\":", "{\"id\": \"r\", \"blocks\": [{\"table\": "] {
        assert!(matches!(read_file("x.json", open.repeat(100_000)), Err(ReadError::Json { .. })), "{open}");
    }
}

#[test]
fn a_million_records_are_cut_at_the_limit_with_a_warning() {
    let csv = "a,b,c\n".to_owned() + &"x,1,2\n".repeat(1_000_000);
    let read = good("x.csv", csv);
    assert_eq!(table(&read).rows(), 333_333);
    assert!(read.warnings[0].contains("333333 of 1000001 records"), "{:?}", read.warnings);
}

#[test]
fn what_is_cut_says_how_many_rows_of_how_many_were_read() {
    let csv = "a,b\n".to_owned() + &"x,1\n".repeat(9);
    let markdown = "|a|b|\n|--|--|\n".to_owned() + &"|x|1|\n".repeat(9);
    let html = format!("<table><tr><th>a</th><th>b</th></tr>{}</table>", "<tr><td>x</td><td>1</td></tr>".repeat(9));
    let cell = |n: usize| {
        format!(
            r#"{{"text": "x", "start_row_offset_idx": {0}, "end_row_offset_idx": {1}, "start_col_offset_idx": {2}, "end_col_offset_idx": {3}}}"#,
            n / 2,
            n / 2 + 1,
            n % 2,
            n % 2 + 1
        )
    };
    let cells: Vec<String> = (0..20).map(cell).collect();
    let docling = format!(
        r##"{{"schema_name": "DoclingDocument", "body": {{"children": [{{"$ref": "#/tables/0"}}]}},
        "tables": [{{"data": {{"num_rows": 10, "num_cols": 2, "table_cells": [{}]}}}}]}}"##,
        cells.join(",")
    );
    let limits = Limits { max_cells_per_table: 8, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::default() };
    for (name, text) in [("x.csv", csv), ("x.md", markdown), ("x.html", html), ("x.json", docling)] {
        let cut = read_bytes(Path::new(name), text.clone().into_bytes(), &options).unwrap();
        assert_eq!(cut.cuts.iter().map(|cut| (cut.rows, cut.of)).collect::<Vec<_>>(), [(4, Some(10))], "{name}");
        assert!(cut.warnings.contains(&cut.cuts[0].warning), "{name}: {:?}", cut.warnings);
        assert!(good(name, text).cuts.is_empty(), "{name}");
    }
}

#[test]
fn a_zip_bomb_is_refused() {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let blanks = vec![b' '; 1 << 20];
    for part in ["xl/workbook.xml", "xl/worksheets/sheet1.xml"] {
        archive.start_file(part, SimpleFileOptions::default()).unwrap();
        for _ in 0..300 {
            archive.write_all(&blanks).unwrap();
        }
    }
    let bytes = archive.finish().unwrap().into_inner();
    assert!(bytes.len() < 2 << 20);
    assert!(error("bomb.xlsx", bytes).contains("what it unpacks to is"));
}

#[test]
fn a_page_of_entities_and_a_sheet_of_them_stay_small() {
    let laughs = "<!DOCTYPE lolz [<!ENTITY a \"ha\">]><html><p>&a;&a; ".to_owned() + &"&amp;".repeat(100_000) + "</p>";
    let read = good("x.html", laughs);
    assert!(read.document.passages().map(str::len).sum::<usize>() < 200_000);
}

/// The levels of a document's headings, in order.
fn heading_levels(read: &ReadDocument) -> Vec<u8> {
    read.document.headings().map(|heading| heading.level).collect()
}

#[test]
fn a_report_without_any_heading_is_read() {
    let rows = "<tr><td></td><td>2024</td><td>2023</td></tr><tr><td>Cash</td><td>5</td><td>4</td></tr>";
    let page = format!("<p>Cash rose. It was spent.</p><table>{rows}</table><table>{rows}</table>");
    for (name, text) in [
        ("x.html", page.as_str()),
        (
            "x.md",
            "Cash rose. It was spent.\n\n| | 2024 |\n|--|--|\n| Cash | 5 |\n\n| | 2024 |\n|--|--|\n| Cash | 4 |\n",
        ),
    ] {
        let read = good(name, text);
        assert_eq!(
            (heading_levels(&read), read.document.passages().count(), read.tables.len()),
            (vec![], 2, 2),
            "{name}"
        );
        let captions: Vec<&str> = read.document.tables().map(Table::caption).collect();
        assert_eq!(captions, ["", ""], "{name}");
    }
}

#[test]
fn five_thousand_headings_each_head_their_table() {
    let section = |n: usize| format!("## Note {n}\n\nIt is note {n}.\n\n| | 2024 |\n|--|--|\n| Cash | {n} |\n\n");
    let markdown: String = (0..5000).map(section).collect();
    let section = |n: usize| {
        let table = format!("<table><tr><td></td><td>2024</td></tr><tr><td>Cash</td><td>{n}</td></tr></table>");
        format!("<h2>Note {n}</h2><p>It is note {n}.</p>{table}")
    };
    let html: String = (0..5000).map(section).collect();
    for (name, text) in [("x.md", markdown), ("x.html", html)] {
        let read = good(name, text);
        assert_eq!(
            (heading_levels(&read).len(), read.tables.len(), &read.warnings),
            (5000, 5000, &Vec::new()),
            "{name}"
        );
        assert_eq!(read.document.tables().last().map(Table::caption), Some("Note 4999"), "{name}");
    }
}

#[test]
fn headings_nested_thirty_deep_keep_the_levels_that_their_form_has() {
    let html = (0..30).fold(String::new(), |page, n| {
        format!("{page}<section><h{}>Part {n}</h{}><p>Text of part {n}.</p>", n.min(5) + 1, n.min(5) + 1)
    });
    let docling = {
        let header = |n: usize| format!(r#"{{"label": "section_header", "text": "Part {n}", "level": {}}}"#, n + 1);
        let children: Vec<String> = (0..30).map(|n| format!(r##"{{"$ref": "#/texts/{n}"}}"##)).collect();
        let texts: Vec<String> = (0..30).map(header).collect();
        format!(
            r#"{{"schema_name": "DoclingDocument", "body": {{"children": [{}]}}, "texts": [{}]}}"#,
            children.join(","),
            texts.join(",")
        )
    };
    for (name, text, deepest) in [("x.html", html, 6), ("x.json", docling, 31)] {
        let read = good(name, text);
        let levels = heading_levels(&read);
        assert_eq!(
            (levels.len(), levels.iter().max(), levels.is_sorted()),
            (30, Some(&deepest), true),
            "{name}: {levels:?}"
        );
        assert!(read.document.headings().any(|heading| heading.text == "Part 29"), "{name}");
    }
}

#[test]
fn two_filings_in_one_file_are_read_one_after_the_other_with_a_warning() {
    let filing = |year: u32| {
        format!(
            "<!DOCTYPE html><html><head><title>{year}</title></head><body><h1>Report of {year}</h1><p>Sales rose in {year}.</p>\
             <table><tr><td></td><td>{year}</td></tr><tr><td>Sales</td><td>{}</td></tr></table></body></html>",
            year * 2
        )
    };
    let both = good("x.html", filing(2023) + &filing(2024));
    assert!(both.warnings[0].starts_with("2 pages stand in the file one after the other"), "{:?}", both.warnings);
    let passages: Vec<&str> = both.document.passages().collect();
    assert_eq!(passages, ["Sales rose in 2023.", "Sales rose in 2024."]);
    let captions: Vec<(usize, &str)> = both.document.tables().map(|table| (table.number(), table.caption())).collect();
    assert_eq!(captions, [(0, "Report of 2023"), (1, "Report of 2024")]);
    assert_eq!(good("x.html", filing(2024)).warnings, [""; 0]);
}
