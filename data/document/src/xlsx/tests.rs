use std::io::{Cursor, Write as _};
use std::path::Path;

use zip::write::SimpleFileOptions;

use crate::{Limits, ReadDocument, ReadError, ReadOptions, read_bytes};

/// A workbook of sheets given as the XML of their rows and merged cells.
fn workbook(sheets: &[(&str, &str, &str)]) -> Vec<u8> {
    workbook_with(sheets, "")
}

/// The same with what the workbook says of its calculation.
fn workbook_with(sheets: &[(&str, &str, &str)], calculation: &str) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, text: &str| {
        archive.start_file(name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    };
    let part = |index: usize| format!("worksheets/sheet{}.xml", index + 1);
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let (mut list, mut targets) = (String::new(), String::new());
    for (index, (name, rows, merged)) in sheets.iter().enumerate() {
        list += &format!("<sheet name=\"{name}\" sheetId=\"{0}\" r:id=\"r{0}\"/>", index + 1);
        targets +=
            &format!("<Relationship Id=\"r{}\" Type=\"{relations}/worksheet\" Target=\"{}\"/>", index + 1, part(index));
        add(
            &format!("xl/{}", part(index)),
            &format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData>{merged}</worksheet>"),
        );
    }
    add("[Content_Types].xml", "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>");
    add(
        "_rels/.rels",
        &format!(
            "<Relationships xmlns=\"{package}\"><Relationship Id=\"r\" Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    add(
        "xl/workbook.xml",
        &format!("<workbook xmlns=\"{main}\" xmlns:r=\"{relations}\"><sheets>{list}</sheets>{calculation}</workbook>"),
    );
    add(
        "xl/_rels/workbook.xml.rels",
        &format!(
            "<Relationships xmlns=\"{package}\">{targets}<Relationship Id=\"s\" Type=\"{relations}/styles\" Target=\"styles.xml\"/></Relationships>"
        ),
    );
    add(
        "xl/styles.xml",
        &format!(
            "<styleSheet xmlns=\"{main}\"><numFmts count=\"2\"><numFmt numFmtId=\"164\" formatCode=\"#,##0_);(#,##0)\"/>\
        <numFmt numFmtId=\"165\" formatCode=\"#,##0,\"/></numFmts>\
        <fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>\
        <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"10\"/><xf numFmtId=\"164\"/><xf numFmtId=\"165\"/></cellXfs></styleSheet>"
        ),
    );
    archive.finish().unwrap().into_inner()
}

/// Rows of cells; `#3:` before a number gives it the style 3, `=` a formula with its value, `?` one without.
fn rows(first: usize, lines: &[&[&str]]) -> String {
    let cell = |row: usize, col: usize, text: &str| {
        let place = format!("{}{row}", char::from(b'A' + col as u8));
        if let Some((style, number)) = text.strip_prefix('#').and_then(|text| text.split_once(':')) {
            return format!("<c r=\"{place}\" s=\"{style}\"><v>{number}</v></c>");
        }
        if let Some(formula) = text.strip_prefix('?') {
            return format!("<c r=\"{place}\"><f>{formula}</f></c>");
        }
        match text.strip_prefix('=') {
            Some(value) => format!("<c r=\"{place}\"><f>SUM(A1:B2)</f><v>{value}</v></c>"),
            None if text.is_empty() => String::new(),
            None => format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>"),
        }
    };
    let row = |(index, line): (usize, &&[&str])| {
        let cells: String = line.iter().enumerate().map(|(col, text)| cell(first + index, col, text)).collect();
        format!("<row r=\"{}\">{cells}</row>", first + index)
    };
    lines.iter().enumerate().map(row).collect()
}

fn read(bytes: Vec<u8>) -> Result<ReadDocument, ReadError> {
    read_bytes(Path::new("book.xlsx"), bytes, &ReadOptions::default())
}

#[test]
fn values_dates_formats_and_merged_cells() {
    let cells = rows(
        1,
        &[
            &["Segment", "Sales", ""],
            &["", "#1:45657", "#1:45291"],
            &["Cloud", "#3:-1234", "=56.5"],
            &["Share", "#2:0.125", "#2:1"],
        ],
    );
    let merged = "<mergeCells count=\"1\"><mergeCell ref=\"B1:C1\"/></mergeCells>";
    let read = read(workbook(&[("Results", &cells, merged)])).unwrap();
    let table = read.document.tables().next().unwrap();
    let cell = table.cell_at(2, 1).unwrap();
    assert_eq!(cell.text, "(1,234)");
    assert_eq!(table.path(&table.column_headers_of(cell)), "Sales > 2024-12-31");
    assert_eq!(table.cell_at(2, 2).unwrap().text, "56.5");
    assert_eq!(table.cell_at(3, 1).unwrap().text, "12.50%");
    assert_eq!((table.num_header_rows(), table.num_header_cols(), table.caption()), (2, 1, "Results"));
    assert_eq!(read.tables[0].source, "sheet \"Results\", A1:C4");
}

#[test]
fn formulas_without_a_value_are_shown_and_counted() {
    let first = rows(
        1,
        &[&["", "2023", "2024"], &["Sales", "#0:5", "#0:7"], &["Costs", "#0:2", "=3"], &["Net", "?B2-B3", "?C2-C3"]],
    );
    // As openpyxl writes them, as a program writes one whose value is an empty text, and one with a style and no formula.
    let second = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>a</t></is></c><c r=\"B1\"><f>1+1</f><v></v></c></row>\
        <row r=\"2\"><c r=\"A2\"><f>2+2</f><v/></c><c r=\"B2\" t=\"str\"><f>IF(1,\"\",2)</f><v></v></c><c r=\"C2\" s=\"1\"/></row>\
        <row r=\"3\"><c r=\"A3\"><v>1</v></c><c r=\"B3\"><f t=\"shared\" ref=\"B3:C3\" si=\"0\">A1+$A$2</f></c><c r=\"C3\"><f t=\"shared\" si=\"0\"/></c></row>";
    let read = read(workbook(&[("Results", &first, ""), ("Notes", second, "")])).unwrap();
    let table = read.document.tables().next().unwrap();
    let net = table.cell_at(3, 2).unwrap();
    assert_eq!((net.text.as_str(), table.path(&table.row_headers_of(net))), ("=C2-C3", "Net".into()));
    assert_eq!((table.cell_at(2, 2).unwrap().text.as_str(), table.num_header_rows()), ("3", 1));
    let notes = read.document.tables().nth(1).unwrap().cells().iter().map(|cell| cell.text.as_str());
    let formulas: Vec<&str> = notes.filter(|text| text.starts_with('=')).collect();
    assert_eq!(formulas, ["=1+1", "=2+2", "=A1+$A$2", "=B1+$A$2"]);
    let expected =
        "6 formulas are not computed, their cells show the formula (sheets \"Results\": 2, \"Notes\": 4); open";
    assert!(read.warnings[0].starts_with(expected), "{:?}", read.warnings);
    assert_eq!(read.warnings.len(), 1);
}

#[test]
fn zeros_of_a_workbook_that_was_never_calculated_are_no_values() {
    let asks = "<calcPr calcId=\"124519\" fullCalcOnLoad=\"1\"/>";
    let written = |last| rows(1, &[&["", "a", "b"], &["x", "#0:0", "#0:7"], &["y", "=0", last]]);
    let of = |rows: &str, calculation: &str| {
        let read = read(workbook_with(&[("s", rows, "")], calculation)).unwrap();
        let texts = read.document.tables().next().unwrap().cells()[6..].iter().map(|cell| cell.text.clone());
        (texts.collect::<Vec<_>>().join(" "), read.warnings.len())
    };
    assert_eq!(of(&written("=0"), asks), ("y =SUM(A1:B2) =SUM(A1:B2)".into(), 1));
    // It was calculated after all, or does not ask to be.
    assert_eq!(of(&written("=5"), asks), ("y 0 5".into(), 0));
    assert_eq!(of(&written("=0"), ""), ("y 0 0".into(), 0));
}

#[test]
fn several_tables_on_several_sheets() {
    let first = rows(1, &[&["Annual figures"]])
        + &rows(3, &[&["", "2023", "2024"], &["Cash", "#0:1", "#0:2"]])
        + &rows(8, &[&["", "Q1", "Q2"], &["Debt", "#0:3", "#0:4"]]);
    let second = rows(2, &[&["a", "b", "", "c", "d"], &["x", "#0:1", "", "y", "#0:2"]]);
    let read = read(workbook(&[("One", &first, ""), ("Two", &second, "")])).unwrap();
    let places: Vec<&str> = read.tables.iter().map(|table| table.source.as_str()).collect();
    assert_eq!(
        places,
        ["sheet \"One\", A3:C4", "sheet \"One\", A8:C9", "sheet \"Two\", A2:B3", "sheet \"Two\", D2:E3"]
    );
    assert_eq!(read.document.passages().collect::<Vec<_>>(), ["Annual figures"]);
    assert_eq!(read.document.headings().map(|heading| heading.text.as_str()).collect::<Vec<_>>(), ["One", "Two"]);
}

#[test]
fn a_cell_in_the_last_row_and_column_takes_no_memory() {
    let cells = "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1048576\"><c r=\"XFD1048576\"><v>2</v></c></row>";
    let read =
        read(workbook(&[("Far", cells, "<mergeCells><mergeCell ref=\"A1:XFD1048575\"/></mergeCells>")])).unwrap();
    assert_eq!(read.document.blocks.len(), 1 + read.document.passages().count() + read.tables.len());
}

#[test]
fn a_sheet_beyond_the_limit_is_cut_after_the_rows_that_were_read() {
    let cells = rows(1, &[&["a", "b"], &["x", "#0:1"], &["y", "#0:2"], &["z", "#0:3"]]);
    let limits = Limits { max_cells_per_table: 4, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::default() };
    let read = read_bytes(Path::new("book.xlsx"), workbook(&[("s", &cells, "")]), &options).unwrap();
    assert_eq!(read.cuts.iter().map(|cut| (cut.rows, cut.of)).collect::<Vec<_>>(), [(2, None)]);
    assert_eq!(read.warnings, [read.cuts[0].warning.as_str()]);
}

#[test]
fn a_bomb_is_refused_before_it_is_read() {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let packed = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("xl/workbook.xml", packed).unwrap();
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..64 {
        archive.write_all(&blanks).unwrap();
    }
    let bytes = archive.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 18);
    let options =
        ReadOptions { limits: Limits { max_unpacked_bytes: 8 << 20, ..Limits::default() }, ..Default::default() };
    let error = read_bytes(Path::new("bomb.xlsx"), bytes, &options).unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { limit, .. } if limit == 8 << 20), "{error}");
}

#[test]
fn damaged_workbooks_are_errors() {
    let good = workbook(&[("a", &rows(1, &[&["a", "#0:1"]]), "")]);
    for length in [4, 100, good.len() / 2, good.len() - 1] {
        assert!(matches!(read(good[..length].to_vec()), Err(ReadError::Format { .. })), "{length}");
    }
    assert!(matches!(read(b"not a workbook".to_vec()), Err(ReadError::Format { .. })));
}

#[test]
fn regression_a_workbook_that_says_it_has_more_texts_than_bytes_is_refused() {
    let good = workbook(&[("a", &rows(1, &[&["a", "#0:1"]]), "")]);
    let with = |said: &str| {
        let mut archive = zip::ZipWriter::new_append(Cursor::new(good.clone())).unwrap();
        archive.start_file("xl/sharedStrings.xml", SimpleFileOptions::default()).unwrap();
        archive.write_all(format!("<sst {said}><si><t>a</t></si></sst>").as_bytes()).unwrap();
        read(archive.finish().unwrap().into_inner())
    };
    for said in ["9223372036854775807", "99999999999999999999999", "4000000000"] {
        let error = with(&format!("uniqueCount=\"{said}\"")).unwrap_err().to_string();
        assert!(error.contains("more than it has bytes for"), "{error}");
    }
    assert!(with("count=\"1\" uniqueCount=\"1\"").is_ok() && with("").is_ok());
}

#[test]
fn nodes_say_which_cell_they_are() {
    let first = rows(3, &[&["", "", "name", "", "sold"], &["", "", "pears", "", "3"]]);
    let more = rows(6, &[&["", "", "plums", "", "5"]]) + &rows(9, &[&["A note."]]);
    let file = workbook(&[("Q3 results", &(first + &more), "")]);
    let read = read_bytes(Path::new("x.xlsx"), file, &ReadOptions::default()).unwrap();
    let at = |table: usize, row, col| read.layout.locations.cell(table, row, col).unwrap().to_string();
    let table = read.document.tables().next().unwrap();
    assert_eq!(table.cell_at(2, 1).unwrap().text, "5");
    assert_eq!([at(0, 1, 0), at(0, 2, 1)], ["'Q3 results'!C4", "'Q3 results'!E6"]);
    assert_eq!(read.layout.locations.passage(0).unwrap().to_string(), "'Q3 results'!A9");
    assert_eq!(read.layout.locations.heading(0).unwrap().to_string(), "'Q3 results'!A1");
}

#[test]
fn a_total_behind_a_blank_row_is_none_of_the_group_above() {
    let head =
        rows(1, &[&["", "2024", "2023"], &["Current assets:", "", ""], &["Cash", "3", "2"], &["Stock", "4", "3"]]);
    let more = rows(5, &[&["Other assets:", "", ""], &["Land", "9", "8"]]) + &rows(8, &[&["Total assets", "16", "13"]]);
    let file = workbook(&[("Sheet", &(head + &more), "")]);
    let read = read_bytes(Path::new("x.xlsx"), file, &ReadOptions::default()).unwrap();
    let table = read.document.tables().next().unwrap();
    let path = |row: usize| table.path(&table.row_headers_of(table.cell_at(row, 1).unwrap()));
    assert_eq!((path(5), path(6)), ("Other assets: > Land".into(), "Total assets".into()), "{}", read.tables[0].why);
}

#[test]
fn hidden_rows_and_columns_are_read_and_told() {
    let shown = rows(1, &[&["Item", "2024"], &["Sales", "5"], &["Adjustment", "999"]]);
    let hidden = shown.replace("<row r=\"3\"", "<row hidden=\"1\" r=\"3\"");
    assert_ne!(shown, hidden);
    let read = |rows: &str, columns: &str| {
        let bytes = workbook(&[("P&amp;L", rows, ""), ("Other", &shown, "")]);
        let mut from = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut to = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for index in 0..from.len() {
            let mut entry = from.by_index(index).unwrap();
            let (name, mut text) = (entry.name().unwrap().into_owned(), String::new());
            std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
            to.start_file(&name, SimpleFileOptions::default()).unwrap();
            let text = if name.ends_with("sheet1.xml") { text.replace("<sheetData>", columns) } else { text };
            to.write_all(text.as_bytes()).unwrap();
        }
        let bytes = to.finish().unwrap().into_inner();
        read_bytes(Path::new("a.xlsx"), bytes, &ReadOptions::default()).unwrap()
    };
    let cells =
        "<cols><col min=\"2\" max=\"2\" hidden=\"true\"/><col min=\"9\" max=\"16384\" hidden=\"1\"/></cols><sheetData>";
    let told = |found: &ReadDocument| {
        found.warnings.iter().filter(|warning| warning.contains("hidden")).cloned().collect::<Vec<_>>()
    };
    let found = read(&hidden, cells);
    assert_eq!(told(&found), ["sheet \"P&L\": 1 row and 1 column are hidden, and read as the others are"]);
    assert!(found.document.tables().next().unwrap().cells().iter().any(|cell| cell.text == "999"));
    assert_eq!(told(&read(&shown, "<sheetData>")), Vec::<String>::new());
}

#[test]
fn regression_what_a_format_shows_less_of_is_stored_in_full() {
    let table = |rows: &str| {
        let read = read(workbook(&[("s", rows, "")])).unwrap();
        read.document.tables().next().unwrap().clone()
    };
    let of = |table: &crate::model::Table, row: usize, col: usize| {
        let text = table.cell_at(row, col).unwrap().text.clone();
        (text, table.value_at(row, col).unwrap().to_owned())
    };
    let lines =
        |unit| rows(1, &[&["Item", unit, "Rate"], &["a", "#4:1234500", "#2:0.123456"], &["b", "#3:10.75", "#0:7"]]);
    // Thousands that nothing tells are shown in full.
    let plain = table(&lines("Sales"));
    assert_eq!(of(&plain, 1, 1), ("1,234,500".into(), "1234500".into()));
    assert_eq!(of(&plain, 1, 2), ("12.35%".into(), "12.3456%".into()));
    assert_eq!(of(&plain, 2, 1), ("11".into(), "10.75".into()));
    for unit in ["Sales (in thousands)", "Sales (\u{a3}000)", "\u{20ac}k"] {
        assert_eq!(of(&table(&lines(unit)), 1, 1), ("1,235".into(), "1234500".into()), "{unit}");
    }
    assert_eq!(plain.with_number(3).value_at(1, 1), Some("1234500"));
}

#[test]
fn regression_what_is_no_day_of_the_calendar_is_a_number() {
    let lines = rows(1, &[&["a", "b"], &["#1:-5", "#1:1e300"], &["#1:2958465", "#1:2958466"]]);
    let read = read(workbook(&[("s", &lines, "")])).unwrap();
    let texts = read.document.tables().next().unwrap().cells()[2..].iter().map(|cell| cell.text.clone());
    assert_eq!(texts.collect::<Vec<_>>(), ["-5", "1e300", "9999-12-31", "2958466"]);
}
