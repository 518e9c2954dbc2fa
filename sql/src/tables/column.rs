//! The type of a column, and its values.

use std::collections::HashSet;

use rusqlite::types::Value;
use tabsegnet_document::numbers::{AnnotatedNumber, Sign, is_missing, parse_annotated_number, with_points};

use super::ColumnType;

/// What a column's cells are.
pub(super) struct Inferred {
    pub kind: ColumnType,
    pub sign: Option<Sign>,
    /// One a cell.
    pub values: Vec<Value>,
    /// Whether the values say all that the cells do, missing values aside.
    pub whole: bool,
}

/// A word may stand instead of numbers in up to so many cells, as a share of the numbers (`bye`, `test driver`).
const WORDS_OF_ONE_KIND: f64 = 0.45;

/// Numbers that a column must have for each word in its last rows (`Total`, `Final`) and each total between.
const NUMBERS_OVER_A_WORD: usize = 4;
/// Last rows that may have words.
const LAST_ROWS: usize = 3;

/// Integers that `f64` holds exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A cell of a text column.
pub(super) fn text(cell: &str) -> Value {
    if cell.is_empty() { Value::Null } else { Value::Text(cell.to_owned()) }
}

/// The type and the values of a column of trimmed cells.
pub(super) fn infer(cells: &[&str]) -> Inferred {
    let texts = || Inferred {
        kind: ColumnType::Text,
        sign: None,
        values: cells.iter().map(|cell| text(cell)).collect(),
        whole: true,
    };
    let numbers = read(cells);
    let found: Vec<AnnotatedNumber> = numbers.iter().copied().flatten().collect();
    let is_text = |(cell, number): (&&str, &Option<AnnotatedNumber>)| number.is_none() && !is_missing(cell);
    let words: Vec<&str> = cells.iter().zip(&numbers).filter(|pair| is_text(*pair)).map(|(cell, _)| *cell).collect();
    if found.is_empty() || cells.iter().any(|cell| is_code(cell)) || !are_few(&words, found.len(), cells) {
        return texts();
    }
    let mut signs: Vec<Option<Sign>> =
        found.iter().filter(|number| number.value != 0.0).map(|number| number.sign).collect();
    signs.sort();
    signs.dedup();
    let sign = match signs.as_slice() {
        [] => found.iter().find_map(|number| number.sign),
        [sign] => *sign,
        _ => return texts(),
    };
    let integers = found.iter().all(|number| number.value.fract() == 0.0 && number.value.abs() < EXACT);
    // Ids of more digits than a float holds are kept as they are.
    if !integers && found.iter().all(|number| number.value.fract() == 0.0 && number.bare) {
        let whole = |(cell, number): (&&str, &Option<AnnotatedNumber>)| match number {
            Some(_) => cell.replace(',', "").parse::<i64>().ok().map(Value::Integer),
            None => Some(Value::Null),
        };
        return match cells.iter().zip(&numbers).map(whole).collect::<Option<Vec<Value>>>() {
            Some(values) => Inferred { kind: ColumnType::Integer, sign, values, whole: words.is_empty() },
            None => texts(),
        };
    }
    let value = |number: &Option<AnnotatedNumber>| match number {
        None => Value::Null,
        #[allow(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
        Some(number) if integers => Value::Integer(number.value as i64),
        Some(number) => Value::Real(number.value),
    };
    Inferred {
        kind: if integers { ColumnType::Integer } else { ColumnType::Real },
        sign,
        values: numbers.iter().map(value).collect(),
        whole: words.is_empty() && found.iter().all(|number| number.bare),
    }
}

/// The numbers of the cells. Where a cell can only be read with a comma before the fraction, all are, if they can.
fn read(cells: &[&str]) -> Vec<Option<AnnotatedNumber>> {
    let with_point: Vec<_> = cells.iter().map(|cell| parse_annotated_number(cell)).collect();
    let with_comma = |cell: &str| parse_annotated_number(&with_points(cell));
    let needed = cells
        .iter()
        .zip(&with_point)
        .any(|(cell, number)| number.is_none() && cell.matches(',').count() == 1 && with_comma(cell).is_some());
    if !needed {
        return with_point;
    }
    let swapped: Vec<_> = cells.iter().map(|cell| with_comma(cell)).collect();
    if cells.iter().zip(&swapped).all(|(cell, number)| number.is_some() || is_missing(cell)) {
        return swapped;
    }
    // Both in one column: `4,02` and `1.38`.
    let grouped = cells.iter().zip(&with_point).any(|(cell, number)| number.is_some() && cell.contains(','));
    if grouped {
        with_point
    } else {
        with_point.into_iter().zip(swapped).map(|(point, comma)| point.or(comma)).collect()
    }
}

/// `05575`, a number whose zeros count, and `+4912345`, one that is called.
fn is_code(cell: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_called = cell.strip_prefix('+').is_some_and(|number| number.len() > 6 && digits(number));
    is_called || cell.len() > 2 && cell.starts_with('0') && digits(cell)
}

/// Whether so many words leave a column one of numbers.
#[allow(clippy::cast_precision_loss, reason = "a count of cells")]
fn are_few(words: &[&str], numbers: usize, cells: &[&str]) -> bool {
    if words.is_empty() {
        return true;
    }
    let share = words.len() as f64 / numbers as f64;
    let kinds = words.iter().map(|word| word.to_lowercase()).collect::<HashSet<_>>().len();
    let without_digits = words.iter().all(|word| !word.contains(|c: char| c.is_ascii_digit()));
    let are_last = cells.ends_with(words) && words.len() <= LAST_ROWS;
    let are_totals = words.iter().all(|word| {
        let word = word.to_lowercase();
        word.ends_with("total") || word.ends_with("totals")
    });
    // One alone may have digits: `Total of 4`.
    let are_below = are_last && words.len() == 1 || without_digits && (are_last || are_totals);
    let over_them = numbers >= NUMBERS_OVER_A_WORD * words.len();
    are_below && over_them || without_digits && kinds == 1 && share <= WORDS_OF_ONE_KIND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_types() {
        for (cells, kind) in [
            (&["1", "2", ""][..], ColumnType::Integer),
            (&["1.", "2.", "3."], ColumnType::Integer),
            (&["12 %", "0", "3 %"], ColumnType::Integer),
            (&["1,5", "2,25"], ColumnType::Real),
            (&["1.234,5", "7"], ColumnType::Real),
            (&["4", "bye", "5", "6"], ColumnType::Integer),
            (&["1", "2", "3", "4", "Total of 4"], ColumnType::Integer),
            (&["1", "2", "3", "4", "5", "6", "7", "8", "Semi-final", "Final"], ColumnType::Integer),
            (&["1", "2", "3", "4", "DEN total", "5", "6", "7", "8", "All Totals"], ColumnType::Integer),
            (&["1", "2", "3", "4", "Final", "5", "6", "7", "8", "Shield"], ColumnType::Text),
            (&["1", "2 %"], ColumnType::Text),
            (&["05575", "10425"], ColumnType::Text),
            (&["2007, 2010", "2011"], ColumnType::Text),
            (&["3–4", "5"], ColumnType::Text),
            (&["2024-12-31", "2024-11-30"], ColumnType::Text),
            (&["–", "n/a"], ColumnType::Text),
            (&["a", "1", "b"], ColumnType::Text),
            (&[], ColumnType::Text),
        ] {
            assert_eq!(infer(cells).kind, kind, "{cells:?}");
        }
        assert_eq!(infer(&["1.234,5"]).values, [Value::Real(1234.5)]);
        assert_eq!(infer(&["$5", "$1,000"]).sign, Some(Sign::Currency('$')));
        // More digits than a float holds.
        assert_eq!(infer(&["9007199254740993", "-"]).values, [Value::Integer(9_007_199_254_740_993), Value::Null]);
        assert_eq!(infer(&["12345678901234567890", "1"]).kind, ColumnType::Text);
        assert_eq!(infer(&["+4912345678", "+4912345679"]).kind, ColumnType::Text);
        assert_eq!(infer(&["+5", "-3"]).kind, ColumnType::Integer);
    }
}
