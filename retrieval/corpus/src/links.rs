//! What joins tables: keys that two tables share where they stand on one page, have the same columns, the same first column,
//! or columns with common values. Each table has its keys, and the index says which tables have a key.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tabsegnet_datasets::tables::TableRecord;

/// How two tables belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u64)]
pub enum LinkKind {
    /// Of one page: the same title.
    Page,
    /// Unionable: the same column headers, in any order.
    Header,
    /// The same values in the first column: columns of one table, apart.
    FirstColumn,
    /// Joinable: columns with common values, by sketches of them.
    Values,
    /// A column header in common.
    Column,
}

impl LinkKind {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 5] = [Self::Page, Self::Header, Self::FirstColumn, Self::Values, Self::Column];
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();
    const BITS: u32 = 3;

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Header => "header",
            Self::FirstColumn => "first_column",
            Self::Values => "values",
            Self::Column => "column",
        }
    }

    /// The kind of a key.
    pub(crate) fn of(key: u64) -> Option<Self> {
        Self::ALL.get((key & ((1 << Self::BITS) - 1)) as usize).copied()
    }

    fn key(self, hash: u64) -> u64 {
        hash << Self::BITS | self as u64
    }
}

/// Least values of a column that say something of it.
const LEAST_VALUES: usize = 3;
/// Smallest hashes of a column's values that stand for it (bottom-k sketch).
const SKETCH: usize = 4;
/// Columns of a table that are sketched at most.
const MOST_COLUMNS: usize = 64;

/// FNV-1a with a last mixing; the same on every machine, since the index keeps it.
pub(crate) fn hash(parts: impl IntoIterator<Item = impl AsRef<str>>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for &byte in part.as_ref().as_bytes().iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 32
}

/// A text without case, blanks and signs.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The key of its column headers, in any order; none of less than two.
pub(crate) fn header_key(table: &TableRecord) -> Option<u64> {
    let header = plain_headers(table);
    (header.len() > 1).then(|| LinkKind::Header.key(hash(&header)))
}

/// The key of the values of its first column; where it has few, of its cells in their order; none of few cells.
pub(crate) fn first_column_key(table: &TableRecord) -> Option<u64> {
    let values = values(table, 0);
    if values.len() >= LEAST_VALUES {
        return Some(LinkKind::FirstColumn.key(hash(&values)));
    }
    let cells: Vec<String> = table.rows.iter().filter_map(|row| row.first()).map(|text| plain(text)).collect();
    // Begins with what no value is.
    (!values.is_empty() && cells.len() >= LEAST_VALUES)
        .then(|| LinkKind::FirstColumn.key(hash(std::iter::once(" ").chain(cells.iter().map(String::as_str)))))
}

fn plain_headers(table: &TableRecord) -> BTreeSet<String> {
    table.column_headers.iter().map(|text| plain(text)).filter(|text| !text.is_empty()).collect()
}

/// The values of a column.
fn values(table: &TableRecord, column: usize) -> BTreeSet<String> {
    let cells = table.rows.iter().filter_map(|row| row.get(column));
    cells.map(|text| plain(text)).filter(|text| !text.is_empty()).collect()
}

/// The keys of a table, rising, each once.
pub(crate) fn keys(table: &TableRecord) -> Vec<u64> {
    let mut keys = BTreeSet::new();
    let title = plain(&table.title);
    if !title.is_empty() {
        keys.insert(LinkKind::Page.key(hash([&title])));
    }
    keys.extend(header_key(table));
    keys.extend(first_column_key(table));
    let header = plain_headers(table);
    keys.extend(header.iter().take(MOST_COLUMNS).map(|name| LinkKind::Column.key(hash([name]))));
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0).min(MOST_COLUMNS);
    for column in 0..columns {
        let values = values(table, column);
        if values.len() < LEAST_VALUES {
            continue;
        }
        // Short numbers stand in any two tables.
        let telling = values.iter().filter(|text| text.len() > 2 && text.chars().any(char::is_alphabetic));
        let hashes: BTreeSet<u64> = telling.map(|text| hash([text])).collect();
        if hashes.len() >= LEAST_VALUES {
            keys.extend(hashes.into_iter().take(SKETCH).map(|hash| LinkKind::Values.key(hash)));
        }
    }
    keys.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(title: &str, columns: &[&str], rows: &[&[&str]]) -> TableRecord {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        TableRecord {
            id: "t".into(),
            title: title.into(),
            column_headers: texts(columns),
            rows: rows.iter().map(|row| texts(row)).collect(),
            ..TableRecord::default()
        }
    }

    fn shared(a: &TableRecord, b: &TableRecord) -> Vec<LinkKind> {
        let b = keys(b);
        let mut kinds: Vec<LinkKind> =
            keys(a).into_iter().filter(|key| b.contains(key)).filter_map(LinkKind::of).collect();
        kinds.dedup();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    #[test]
    fn parts_of_a_table_are_linked_and_strangers_are_not() {
        let rows: &[&[&str]] = &[&["Ada", "x1"], &["Bob", "x2"], &["Cyd", "x3"]];
        let whole = table("People", &["Name", "Year"], rows);
        let later = table("", &["year", "name"], &[&["Dee", "y1"], &["Eve", "y2"], &["Flo", "y3"]]);
        assert_eq!(shared(&whole, &later), [LinkKind::Header, LinkKind::Column]);
        let columns = table("people", &["Name", "City"], &[&["Cyd", "R"], &["ada", "P"], &["bob", "Q"]]);
        let expected = [LinkKind::Page, LinkKind::FirstColumn, LinkKind::Values, LinkKind::Column];
        assert_eq!(shared(&whole, &columns), expected);
        assert!(shared(&whole, &table("Else", &["A", "B"], &[&["1", "2"]])).is_empty());
        assert!(keys(&table("", &[], &[])).is_empty());
    }

    #[test]
    fn a_title_is_one_page_in_any_case_and_with_any_signs() {
        let of = |title: &str| table(title, &[], &[]);
        assert_eq!(shared(&of("List of rivers (Peru)"), &of("LIST OF RIVERS — PERU")), [LinkKind::Page]);
        assert_eq!(shared(&of("Año 1"), &of("año-1")), [LinkKind::Page]);
        assert!(shared(&of("Rivers 1"), &of("Rivers 2")).is_empty());
        // Signs alone are no title.
        assert!(keys(&of(" – ")).is_empty());
    }

    #[test]
    fn headers_link_in_any_order_and_one_alone_as_a_column() {
        let of = |header: &[&str]| table("", header, &[]);
        let all = [LinkKind::Header, LinkKind::Column];
        assert_eq!(shared(&of(&["A", "B", ""]), &of(&["b!", "a", "A"])), all);
        assert_eq!(shared(&of(&["A", "B"]), &of(&["A", "B", "C"])), [LinkKind::Column]);
        assert_eq!(shared(&of(&["A"]), &of(&["A"])), [LinkKind::Column]);
        assert!(shared(&of(&["AB", "C"]), &of(&["A", "BC"])).is_empty(), "where a name ends counts");
        let many: Vec<String> = (0..200).map(|n| format!("c{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(keys(&of(&many)).len(), 1 + MOST_COLUMNS);
    }

    #[test]
    fn values_link_where_there_are_three_that_tell_something() {
        let rows = |values: &[&str]| values.iter().map(|&value| vec!["".to_owned(), value.to_owned()]).collect();
        let of = |values: &[&str]| TableRecord { rows: rows(values), ..TableRecord::default() };
        let values = [LinkKind::Values];
        assert_eq!(shared(&of(&["Lima", "Cusco", "Ica", "ica"]), &of(&["ICA", "x", "lima", "cusco"])), values);
        assert!(keys(&of(&["Lima", "Cusco", "lima"])).is_empty(), "two values");
        assert!(keys(&of(&["1999", "2000", "2001", "ab"])).is_empty(), "numbers and short ones stand anywhere");
        let many: Vec<String> = (0..50).map(|n| format!("value {n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(keys(&of(&many)).len(), SKETCH);
        // The first column's values as a whole, numbers too.
        let first = |values: &[&str]| table("", &[], &values.iter().map(std::slice::from_ref).collect::<Vec<_>>());
        assert_eq!(shared(&first(&["1", "2", "3"]), &first(&["3", "", "2", "1", "1"])), [LinkKind::FirstColumn]);
        assert!(shared(&first(&["1", "2", "3"]), &first(&["1", "2", "3", "4"])).is_empty());
        // Of few values their order tells: medals of one table, not of all.
        let medals = ["Gold", "Gold", "Silver", "Gold"];
        assert_eq!(shared(&first(&medals), &first(&["gold", "GOLD", "silver", "gold"])), [LinkKind::FirstColumn]);
        assert!(shared(&first(&medals), &first(&["Gold", "Silver", "Gold", "Gold"])).is_empty());
        assert!(keys(&first(&["Gold", "Gold"])).is_empty() && keys(&first(&["", "", ""])).is_empty());
        let wide: Vec<Vec<String>> =
            (0..3).map(|row| (0..100).map(|column| format!("value {row} {column}")).collect()).collect();
        assert_eq!(keys(&TableRecord { rows: wide, ..TableRecord::default() }).len(), 1 + MOST_COLUMNS * 3);
    }

    #[test]
    fn keys_rise_and_say_their_kind() {
        let all = keys(&table("T", &["A", "B"], &[&["one", "x"], &["two", "y"], &["three", "z"]]));
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        let mut kinds: Vec<LinkKind> = all.iter().filter_map(|key| LinkKind::of(*key)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds, LinkKind::ALL);
        assert_eq!(LinkKind::ALL.map(|kind| LinkKind::of(kind.key(1)).unwrap().name()).len(), LinkKind::COUNT);
        assert_eq!(LinkKind::of(7), None);
    }
}
