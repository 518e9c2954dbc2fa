//! CSV, TSV and their relatives: one table a file.

use std::path::Path;

use crate::builder::Builder;
use crate::error::ReadError;
use crate::grid::{Grid, RawCell};
use crate::kind::Kind;
use crate::options::ReadOptions;

const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Records that the delimiter is found from.
const SAMPLE: usize = 50;

/// Reads a file of delimited values. Records may have different lengths.
pub(crate) fn read(path: &Path, text: &str, options: &ReadOptions, builder: &mut Builder) -> Result<(), ReadError> {
    let tabs = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let delimiter = if tabs { b'\t' } else { sniff(text) };
    let max_cells = options.limits.max_cells_per_table;
    let mut rows: Vec<Vec<RawCell>> = Vec::new();
    let (mut width, mut records) = (0, 0usize);
    let mut record = csv::StringRecord::new();
    let mut reader = reader(text, delimiter);
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => break,
            Ok(true) => {}
            Err(error) => {
                let message = format!("record {}: {error}", records + 1);
                return Err(ReadError::Format { file: path.display().to_string(), message });
            }
        }
        records += 1;
        width = width.max(record.len());
        if (rows.len() + 1).saturating_mul(width) <= max_cells {
            rows.push(record.iter().map(|field| RawCell::new(field.trim())).collect());
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
    for table in tables(rows) {
        let (grid, _) = Grid::place(table, max_cells);
        builder.table(grid, "", place.clone());
    }
    Ok(())
}

/// Records that name a table, at most: its title, what it counts in, its period.
const TITLES: usize = 3;

/// The tables of a file: behind a record without a text a title alone and column headers begin another one.
fn tables(rows: Vec<Vec<RawCell>>) -> Vec<Vec<Vec<RawCell>>> {
    let filled = |row: &[RawCell]| row.iter().filter(|cell| !cell.text.is_empty()).count();
    let is_title = |row: &&Vec<RawCell>| filled(row) == 1 && row.first().is_some_and(|cell| !cell.text.is_empty());
    let begins = |at: usize| {
        let behind_blank = at.checked_sub(1).and_then(|before| rows.get(before)).is_some_and(|row| filled(row) == 0);
        let titles = rows.iter().skip(at).take(TITLES).take_while(is_title).count();
        let is_header = rows.get(at + titles).is_some_and(|row| {
            let names = |cell: &RawCell| matches!(Kind::of(&cell.text), Kind::Empty | Kind::Text | Kind::Year);
            filled(row) > 1 && row.iter().skip(1).all(names)
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
