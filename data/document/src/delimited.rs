//! CSV, TSV and their relatives: one table a file.

use std::path::Path;

use crate::builder::Builder;
use crate::error::ReadError;
use crate::grid::{Grid, RawCell};
use crate::kind::Kind;
use crate::locations::{Location, TableLocation};
use crate::options::ReadOptions;

const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Records that the delimiter is found from.
const SAMPLE: usize = 50;

/// A record, and the line on which it begins, from 1.
struct Record {
    line: u32,
    /// Whether a line without anything stands above it.
    after_blank: bool,
    cells: Vec<RawCell>,
}

/// Reads a file of delimited values. Records may have different lengths.
pub(crate) fn read(path: &Path, text: &str, options: &ReadOptions, builder: &mut Builder) -> Result<(), ReadError> {
    let tabs = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    // What spreadsheets take the delimiter from.
    let said = text.lines().next().and_then(|line| line.strip_prefix("sep=")?.trim_end().bytes().next());
    let said = said.filter(u8::is_ascii);
    let delimiter = said.unwrap_or_else(|| if tabs { b'\t' } else { sniff(text) });
    let max_cells = options.limits.max_cells_per_table;
    let mut rows: Vec<Record> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    let (mut width, mut records) = (0, 0usize);
    let mut record = csv::StringRecord::new();
    let mut reader = reader(text, delimiter);
    let mut is_said = said.is_some();
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) if std::mem::take(&mut is_said) => continue,
            Ok(true) => {}
            Err(error) => {
                let message = format!("record {}: {error}", records + 1);
                return Err(ReadError::Format { file: path.display().to_string(), message });
            }
        }
        records += 1;
        width = width.max(record.len());
        if (rows.len() + 1).saturating_mul(width) <= max_cells {
            // A record's position is that of the blank lines before it.
            let begins = record.position().map_or(counted, |position| position.byte() as usize);
            let blank = text.as_bytes()[begins..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            line += text[counted..begins + blank].matches('\n').count() as u32;
            counted = begins + blank;
            // The end of the record before may be part of it.
            let after_blank = blank > usize::from(text[..begins].ends_with('\r') && text[begins..].starts_with('\n'));
            let cells = record.iter().map(|field| RawCell::new(field.trim())).collect();
            rows.push(Record { line, after_blank, cells });
        }
    }
    if let Some((first, last)) = unclosed(text, delimiter) {
        builder.warn(format!(
            "line {first}: a field that begins with a quote is not closed and was read as one text up to line {last}; \
             close it with a quote, or put it in quotes and double the one that belongs to it"
        ));
    }
    if rows.len() < records {
        let read = rows.len();
        let cut = format!("the table is cut off after {read} of {records} records: a table may have {max_cells} cells");
        builder.cut(read, Some(records), cut);
    }
    let place = format!("{records} records, delimiter {:?}", char::from(delimiter));
    for mut table in tables(rows) {
        let notes = table.split_off(table.len() - notes(&table));
        if let Some(warning) = wider(&table) {
            builder.warn(warning);
        }
        let (lines, cells): (Vec<u32>, Vec<_>) = table.into_iter().map(|record| (record.line, record.cells)).unzip();
        let (grid, _) = Grid::place(cells, max_cells);
        let first = lines.first().map(|&line| Location::Line(line));
        let location = first.map(|first| TableLocation { first, rows: lines, cols: Vec::new() });
        builder.table(grid, "", place.clone(), location);
        for Record { line, cells, .. } in notes {
            builder.at = Some(Location::Line(line));
            cells.first().into_iter().for_each(|cell| drop(builder.paragraph::<()>(&cell.text, &[])));
        }
    }
    Ok(())
}

/// Records that name a table, at most: its title, what it counts in, its period.
const TITLES: usize = 3;

/// Fields with a text.
fn filled(record: &Record) -> usize {
    record.cells.iter().filter(|cell| !cell.text.is_empty()).count()
}

/// Whether only the first field has a text.
fn is_line(record: &Record) -> bool {
    filled(record) == 1 && record.cells.first().is_some_and(|cell| !cell.text.is_empty())
}

/// How many of a table's last records, behind a blank line, are lines of text about it.
fn notes(table: &[Record]) -> usize {
    let lines = table.iter().rev().take_while(|record| is_line(record)).count();
    let (rest, last) = table.split_at(table.len() - lines);
    let first = last.iter().position(|record| record.after_blank && record.cells[0].text.contains(' '));
    first.filter(|_| !rest.is_empty()).map_or(0, |first| last.len() - first)
}

/// Leading records of a table of which the longest says how many fields there are.
const LEADING: usize = 3;

/// Records that have texts behind the fields of the first ones: a delimiter in a text has parted it, as a rule.
fn wider(table: &[Record]) -> Option<String> {
    let width =
        |record: &Record| record.cells.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |last| last + 1);
    let most = table.iter().filter(|record| filled(record) > 1).take(LEADING).map(width).max()?;
    let mut wider = table.iter().filter(|record| width(record) > most);
    let (first, more) = (wider.next()?, wider.count());
    let others = if more > 0 { format!(", and {more} more such records") } else { String::new() };
    Some(format!(
        "line {}: {} fields, where the first records of the table have {most}{others}; put a text that has the delimiter in it in quotes",
        first.line,
        width(first)
    ))
}

/// The tables of a file: behind a blank line, or a record without a text, a title alone and column headers begin another one.
fn tables(rows: Vec<Record>) -> Vec<Vec<Record>> {
    let begins = |at: usize| {
        let behind_blank = rows[at].after_blank || filled(&rows[at - 1]) == 0;
        let titles = rows.iter().skip(at).take(TITLES).take_while(|record| is_line(record)).count();
        let is_header = rows.get(at + titles).is_some_and(|row| {
            let names = |cell: &RawCell| matches!(Kind::of(&cell.text), Kind::Empty | Kind::Text | Kind::Year);
            filled(row) > 1 && row.cells.iter().skip(1).all(names)
        });
        behind_blank && titles > 0 && is_header
    };
    let starts: Vec<usize> = (1..rows.len()).filter(|&at| begins(at)).collect();
    if starts.is_empty() {
        return vec![rows];
    }
    let mut tables = vec![Vec::new()];
    for (at, row) in rows.into_iter().enumerate() {
        if starts.contains(&at) {
            tables.push(Vec::new());
        }
        if let Some(table) = tables.last_mut().filter(|_| filled(&row) > 0) {
            table.push(row);
        }
    }
    tables
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text.as_bytes())
}

/// The lines, from 1, on which the first field begins and ends whose quote was never closed. Its end is that of the file,
/// or a quote on a later line that text follows: one that was to begin another field.
fn unclosed(text: &str, delimiter: u8) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    // In a quoted field, the line on which it begins.
    let mut quoted: Option<usize> = None;
    let (mut line, mut begins, mut at) = (1usize, true, 0usize);
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match (quoted, byte) {
            (Some(_), b'"') if next == Some(b'"') => at += 1,
            (Some(first), b'"') => {
                let ends = next.is_none_or(|next| next == delimiter || next.is_ascii_whitespace());
                if first < line && !ends {
                    return Some((first, line));
                }
                (quoted, begins) = (None, false);
            }
            (None, b'"') if begins => quoted = Some(line),
            (None, _) => begins = byte == delimiter || matches!(byte, b'\r' | b'\n'),
            (Some(_), _) => {}
        }
        line += usize::from(byte == b'\n');
        at += 1;
    }
    quoted.map(|first| (first, text.lines().count()))
}

/// The delimiter that parts most records into the same number of fields, the more fields the
/// better; a comma where none does.
fn sniff(text: &str) -> u8 {
    let score = |delimiter: u8| {
        let lengths: Vec<usize> =
            reader(text, delimiter).records().take(SAMPLE).map_while(Result::ok).map(|record| record.len()).collect();
        let most = lengths
            .iter()
            .copied()
            .filter(|&length| length > 1)
            .max_by_key(|length| lengths.iter().filter(|l| *l == length).count())?;
        let alike = lengths.iter().filter(|&&length| length == most).count();
        Some((alike * 100 / lengths.len(), most))
    };
    let mut best = (b',', None);
    for delimiter in DELIMITERS {
        let score = score(delimiter);
        if score > best.1 {
            best = (delimiter, score);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::model::Table;
    use crate::{Limits, ReadDocument, ReadOptions, read_bytes};

    #[test]
    fn a_title_and_headers_behind_a_blank_record_begin_another_table() {
        let text = "Income statement (in millions),,\n,2024,2023\nSales,9,8\n,,\nCosts,4,3\n,,\nBalance sheet,,\n(in thousands),,\n\
                    ,2024,2023\nCash,21,20\n";
        let read = read("x.csv", text);
        let tables: Vec<&Table> = read.document.tables().collect();
        let captions: Vec<&str> = tables.iter().map(|table| table.caption()).collect();
        assert_eq!(captions, ["Income statement (in millions)", "Balance sheet (in thousands)"]);
        assert_eq!(tables[1].cell_at(1, 1).unwrap().text, "21");
        // A blank record alone parts nothing.
        assert!(tables[0].cells().iter().any(|cell| cell.text == "Costs"));
    }

    #[test]
    fn records_with_more_fields_than_the_first_ones_are_told() {
        let told = |text: &str| read("x.csv", text).warnings;
        let warnings = told("name,city\nAnn,Rome\nBo,Oslo\nCy,Ulm\nDee, Paris, France\nEve,Bonn,x,y\n");
        let expected = "line 5: 3 fields, where the first records of the table have 2, and 1 more such records; ";
        assert!(matches!(warnings.as_slice(), [one] if one.starts_with(expected)), "{warnings:?}");
        // Two rows of headers of which the second is the longer, blanks at the end, and fewer fields.
        assert_eq!(told("Region,2023\n,Q1,Q2\nNorth,1,2\nSouth,3\nWest,4,5,,\n"), Vec::<String>::new());
    }

    #[test]
    fn regression_blank_lines_part_tables_and_what_stands_below_is_text() {
        for end in ["\n", "\r\n"] {
            let text = "Sales,,\nname,2023,2024\npears,3,4\n\nStaff,,\nname,2023,2024\nHR,7,8\n\n\"Note: all of it, unaudited.\"\n";
            let read = read("x.csv", &text.replace('\n', end));
            let captions: Vec<&str> = read.document.tables().map(Table::caption).collect();
            assert_eq!(captions, ["Sales", "Staff"]);
            assert_eq!(read.document.tables().map(Table::rows).collect::<Vec<_>>(), [2, 2]);
            assert_eq!(read.document.passages().collect::<Vec<_>>(), ["Note: all of it, unaudited."]);
            assert_eq!(read.layout.locations.passage(0), Some(crate::Location::Line(9)));
        }
        // A list has no notes, and a last row without a value is a row.
        assert_eq!(read("x.csv", "name\na b\n\nc d\n").document.passages().count(), 0);
        assert_eq!(read("x.csv", "name,n\na b,1\nc d,\n").document.passages().count(), 0);
    }

    fn read(name: &str, text: &str) -> ReadDocument {
        read_bytes(Path::new(name), text.into(), &ReadOptions::default()).unwrap()
    }

    fn table(read: &ReadDocument) -> &Table {
        read.document.tables().next().unwrap()
    }

    #[test]
    fn delimiters_are_found() {
        for text in
            ["a;b\n1,5;2,5\n3;4\n", "a\tb\n1,5\t2,5\n3\t4\n", "a|b\n1,5|2,5\n3|4\n", "a,b\n\"1,5\",\"2,5\"\n3,4\n"]
        {
            let read = read("x.csv", text);
            let table = table(&read);
            assert_eq!((table.rows(), table.cols(), table.num_header_rows()), (3, 2, 1), "{text}");
            assert_eq!(table.cell_at(1, 1).unwrap().text, "2,5");
        }
    }

    #[test]
    fn a_first_line_may_say_the_delimiter() {
        let read = read("x.csv", "sep=;\nname;1,2\npears;3,4\n");
        assert_eq!((table(&read).rows(), table(&read).cols(), table(&read).caption()), (2, 2, ""));
        assert_eq!(read.layout.locations.cell(0, 1, 0), Some(crate::Location::Line(3)));
    }

    #[test]
    fn a_title_line_becomes_the_caption() {
        let read = read("x.csv", "Revenue by segment\n\nSegment,2023,2024\nCloud,1,2\nOther,3,4\n");
        let table = table(&read);
        assert_eq!(table.caption(), "Revenue by segment");
        let cell = table.cell_at(1, 2).unwrap();
        assert_eq!(
            (table.path(&table.column_headers_of(cell)), table.path(&table.row_headers_of(cell))),
            ("2024".into(), "Cloud".into())
        );
    }

    #[test]
    fn quotes_and_ragged_records_are_read() {
        let read = read("x.csv", "name,text\r\n\"a\nb\",\"say \"\"hi\"\"\"\r\nc\r\nd,e,f\r\n");
        let table = table(&read);
        assert_eq!((table.rows(), table.cols()), (4, 3));
        assert_eq!(table.cell_at(1, 1).unwrap().text, "say \"hi\"");
    }

    #[test]
    fn a_quote_that_is_not_closed_is_said_with_its_lines() {
        for (text, lines) in [
            ("a,b\n\"x,1\ny,2\n", ["line 2: ", "up to line 3;"]),
            ("a,b\nx,\"1", ["line 2: ", "up to line 2;"]),
            // It ends at the quote that was to begin the next field.
            ("a,b\n\"x,1\ny,2\n\"z\",3\n", ["line 2: ", "up to line 4;"]),
        ] {
            let read = read("x.csv", text);
            assert_eq!(read.warnings.len(), 1, "{text}");
            assert!(lines.iter().all(|line| read.warnings[0].contains(line)), "{:?}", read.warnings);
        }
        let closed = "name,text\r\n\"a\r\nb\" ,\"say \"\"hi\"\"\"\r\n5\" pipe,\"\"\r\n\"big\" sale,\"x\"";
        assert_eq!(read("x.csv", closed).warnings, [""; 0]);
    }

    #[test]
    fn a_long_column_of_words_makes_no_deep_outline() {
        let text = "name,value\n".to_owned() + &"word,\n".repeat(200_000) + "last,1\n";
        let read = read("x.csv", &text);
        let table = table(&read);
        let last = table.cell_at(table.rows() - 1, 1).unwrap();
        assert!(table.row_headers_of(last).len() <= 7);
    }

    #[test]
    fn a_million_records_are_cut_with_a_warning() {
        let text = "a,b\n".to_owned() + &"1,2\n".repeat(1_000_000);
        let options =
            ReadOptions { limits: Limits { max_cells_per_table: 10_000, ..Limits::default() }, ..Default::default() };
        let read = read_bytes(Path::new("x.csv"), text.into(), &options).unwrap();
        assert_eq!(table(&read).rows(), 5000);
        assert!(read.warnings[0].contains("5000 of 1000001 records"), "{:?}", read.warnings);
        assert_eq!((read.cuts[0].rows, read.cuts[0].of), (5000, Some(1_000_001)));
    }
}
