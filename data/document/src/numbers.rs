//! Numbers as tables and programs write them.

/// The number a text is, or `None`: blanks, `$`, `,` and `%` are dropped, `( 12 )` is −12.
/// FinQA writes some cells twice, as shown and as meant (`-2 ( 2 )`,
/// `12% ( 12 % )`): there the first form counts.
pub fn parse_number(text: &str) -> Option<f64> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '$' | ',' | '%')).collect();
    if let Some(number) = plain(&compact) {
        return Some(number);
    }
    let (shown, bracketed) = compact.strip_suffix(')')?.split_once('(')?;
    let bracketed = plain(bracketed)?;
    if shown.is_empty() {
        return Some(-bracketed);
    }
    plain(shown).filter(|shown| shown.abs() == bracketed.abs())
}

/// Digits with at most one point and one leading sign; `inf`, `nan` and exponents are words here.
fn plain(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric =
        digits.contains(|c: char| c.is_ascii_digit()) && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    if numeric { text.parse().ok() } else { None }
}

/// A number with commas between its thousands: 12345 as `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The number that a cell of a published table shows, or `None`: as [`parse_number`], and besides
/// other currencies' signs, the typographic minus, brackets around sign or unit (`$ (12)%`), a
/// dash as 0, and a footnote mark after the number (`12 (a)`, `12*`).
pub fn parse_cell_number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    // 1'250'000, as the Swiss write it.
    let between = |&(at, c): &(usize, char)| {
        matches!(c, '\'' | '\u{2019}') && is_digit(at.checked_sub(1)) && is_digit(Some(at + c.len_utf8()))
    };
    let compact: String = text
        .char_indices()
        .filter(|place| !between(place))
        .map(|(_, c)| c)
        .filter(|c| !c.is_whitespace() && !matches!(c, '$' | ',' | '%' | '€' | '£' | '¥' | '\u{200b}'))
        .map(|c| if matches!(c, '−' | '–' | '—' | '‑') { '-' } else { c })
        .collect();
    if compact == "-" {
        return Some(0.0);
    }
    if let Some(number) = parse_number(&compact) {
        return Some(number);
    }
    // An opened bracket whose other half got lost still says that the number is negative.
    if let Some(number) = compact.strip_prefix('(').and_then(plain) {
        return Some(-number);
    }
    let unmarked = compact.trim_end_matches(['*', '†', '‡']);
    let unmarked = match unmarked.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        Some((before, mark)) if !before.is_empty() && mark.len() <= 2 => before,
        _ => unmarked,
    };
    if unmarked.len() < compact.len() && !unmarked.is_empty() { parse_number(unmarked) } else { None }
}

/// Whether a comma stands before a number's fraction: in `7,25` and `1.410,75`, not in `1,410` and `1,410.75`.
pub fn has_decimal_comma(text: &str) -> bool {
    if text.chars().filter(|c| c.is_alphabetic()).count() > 3 {
        return false;
    }
    let core: String = text.chars().filter(|c| c.is_ascii_digit() || matches!(c, ',' | '.')).collect();
    let Some((whole, fraction)) = core.split_once(',') else { return false };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split('.');
    let grouped = groups.next().is_some_and(digits) && groups.all(|group| group.len() == 3 && digits(group));
    grouped && digits(fraction) && (fraction.len() != 3 || whole == "0" || whole.contains('.'))
}

/// A number with the point before its fraction, which has the comma there.
pub fn with_points(text: &str) -> String {
    let swapped = text.chars().map(|c| match c {
        ',' => '.',
        '.' => ',',
        other => other,
    });
    swapped.collect()
}

/// What the number of a cell counts, as far as a sign says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sign {
    /// `%`; the value is as written, 12 for `12 %`.
    Percent,
    /// A currency, by its sign.
    Currency(char),
    /// `#4`.
    Rank,
}

/// A number with what stands beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnnotatedNumber {
    /// As written: −12 for `(12)`.
    pub value: f64,
    /// What it counts.
    pub sign: Option<Sign>,
    /// Whether the cell says no more than that: no remark in brackets, no mark, no "about".
    pub bare: bool,
}

/// Letters that mark a number: footnotes, records, ties.
const MARKS: [char; 19] =
    ['*', '†', '‡', '+', '#', '^', '~', '°', '•', '♦', '§', '¤', '?', '=', 'ª', '¹', '²', '³', '\u{200b}'];

/// What stands before a number that is not quite it.
const ABOUT: [&str; 12] = ["~", "±", "≈", "<", ">", "≥", "≤", "=", "ca.", "circa", "about", "c."];

/// The number that a cell of a table of data shows, or `None`: as [`parse_cell_number`], but read strictly, so that
/// `2007, 2010` and `1,2` are none, and with what people write beside it: remarks in brackets (`17.3 (63.1)`,
/// `12 [a]`), marks (`2=`, `7*`), `#4`, `4.`, `c. 1860`. A dash is none; see [`is_missing`].
pub fn parse_annotated_number(text: &str) -> Option<AnnotatedNumber> {
    let text = text.trim();
    if is_missing(text) {
        return None;
    }
    let (mut core, mut bare, mut sign) = (text, true, None);
    if let Some(rest) = ABOUT.iter().find_map(|word| core.strip_prefix(word)) {
        (core, bare) = (rest.trim_start(), false);
    } else if let Some(rest) = core.strip_prefix('#') {
        (core, sign) = (rest.trim_start(), Some(Sign::Rank));
    }
    loop {
        let before = core.trim_end();
        let shorter = match before.chars().next_back() {
            Some(']') => before.rfind('[').map(|at| &before[..at]),
            Some(')') => before.rfind('(').map(|at| &before[..at]),
            Some(mark) if MARKS.contains(&mark) => before.strip_suffix(mark),
            _ => None,
        };
        // A bracket around the whole number belongs to it.
        match shorter.filter(|shorter| shorter.contains(|c: char| c.is_ascii_digit())) {
            Some(shorter) => (core, bare) = (shorter, false),
            None => {
                core = before.strip_suffix('.').unwrap_or(before);
                break;
            }
        }
    }
    // A number of a note, alone.
    let core = core.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(core);
    if !is_grouped(core) {
        return None;
    }
    if core.contains('%') {
        sign = Some(Sign::Percent);
    } else if let Some(currency) = core.chars().find(|c| matches!(c, '$' | '€' | '£' | '¥')) {
        sign = Some(Sign::Currency(currency));
    }
    let core = core.strip_prefix("US$").map_or_else(|| core.to_owned(), |rest| format!("${rest}"));
    let value = parse_cell_number(&core)?;
    Some(AnnotatedNumber { value, sign, bare })
}

/// Whether the text has one number, whose commas or blanks part thousands (`1,115`, `12 345`), lakhs or crores
/// (`1,23,456`).
fn is_grouped(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.trim_start_matches(is_digit).contains(is_digit) {
        return false;
    }
    let whole = whole.trim_matches(|c| !is_digit(c));
    let Some(separator) = whole.chars().find(|&c| !is_digit(c)) else {
        return !whole.is_empty() || fraction.starts_with(is_digit);
    };
    let groups: Vec<&str> = whole.split(separator).collect();
    let [first, middle @ .., last] = groups.as_slice() else { return false };
    let least = if separator == ',' { 2 } else { 3 };
    matches!(separator, ',' | ' ' | '\u{a0}' | '\u{202f}')
        && groups.iter().all(|group| group.chars().all(is_digit))
        && (1..=3).contains(&first.len())
        && middle.iter().all(|group| (least..=3).contains(&group.len()))
        && last.len() == 3
}

/// Whether a text stands where a value is missing: nothing, a dash, `n/a`, `unknown`, `TBA`.
pub fn is_missing(text: &str) -> bool {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text);
    // No formula, but a rank that is shared: `=10`.
    let tie =
        text.strip_prefix('=').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty());
    text.is_empty()
        || !tie && crate::kind::is_missing(text)
        || ["unknown", "?", "??", "???", "tba", "tbd", "tbc", "null", "n/a", "n/d", "nd", "no data", "="]
            .iter()
            .any(|word| inner.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::{
        AnnotatedNumber, Sign, has_decimal_comma, parse_annotated_number, parse_cell_number, parse_number, with_points,
    };

    #[test]
    fn cells_show_numbers_in_more_ways() {
        for (text, number) in [
            ("—", 0.0),
            ("$ —", 0.0),
            ("€ 1,5", 15.0),
            ("$ (12)%", -12.0),
            ("(12", -12.0),
            ("12 (a)", 12.0),
            ("12*", 12.0),
            ("(3) (1)", -3.0),
            ("−7", -7.0),
        ] {
            assert_eq!(parse_cell_number(text), Some(number), "{text}");
        }
        for text in ["", "a", "12 (note)", "two", "( a )", "*"] {
            assert_eq!(parse_cell_number(text), None, "{text}");
        }
    }

    #[test]
    fn regression_a_comma_before_the_fraction_is_told_from_one_between_thousands() {
        for text in ["7,25", "6,8 %", "1.410,75", "€ 0,125", "12.345.678,9", "-2,5"] {
            assert!(has_decimal_comma(text), "{text}");
        }
        for text in ["1,410", "1,410.75", "12,345,678", "7.25", "725", "notes 1,2 and 4", ",5", "1.41,5"] {
            assert!(!has_decimal_comma(text), "{text}");
        }
        assert_eq!(with_points("1.410,75"), "1,410.75");
    }

    #[test]
    fn annotated_numbers_are_read_strictly() {
        let read = |text| parse_annotated_number(text);
        let number = |value, sign, bare| Some(AnnotatedNumber { value, sign, bare });
        for (text, value) in [
            ("1,115", 1115.0),
            ("(1,234)", -1234.0),
            ("−7", -7.0),
            ("12 345", 12345.0),
            ("1,23,456", 123_456.0),
            ("4.", 4.0),
            (".5", 0.5),
            ("[3]", 3.0),
        ] {
            assert_eq!(read(text), number(value, None, true), "{text}");
        }
        for (text, value) in
            [("17.3\n(63.1)", 17.3), ("2=", 2.0), ("=10", 10.0), ("12 [a][b]", 12.0), ("c. 1860", 1860.0)]
        {
            assert_eq!(read(text), number(value, None, false), "{text}");
        }
        assert_eq!(read("12 %"), number(12.0, Some(Sign::Percent), true));
        assert_eq!(read("US$ 1,200"), number(1200.0, Some(Sign::Currency('$')), true));
        assert_eq!(read("#4"), number(4.0, Some(Sign::Rank), true));
        for text in ["", "–", "2007, 2010", "1,2", "12–17", "0\n3", "n/a", "TBA", "1/2", "4b", "1.2.3", "UK", "(N/A)"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_as_filings_write_them() {
        for (text, number) in [
            ("12", 12.0),
            ("$ 1,234.5", 1234.5),
            ("12.5 %", 12.5),
            ("( 12 )", -12.0),
            ("$ ( 1,000 )", -1000.0),
            ("-2 ( 2 )", -2.0),
            ("75% ( 75 % )", 75.0),
            (".5", 0.5),
            ("-.5", -0.5),
        ] {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
    }

    #[test]
    fn words_are_no_numbers() {
        for text in
            ["", "-", "n/a", "inf", "NaN", "1e5", "1.2.3", "( a )", "2014 ( 3 )", "$ 739 million", "()", "(", "- 2 -"]
        {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
