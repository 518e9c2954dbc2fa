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

/// The number that a cell of a published table shows, or `None`: as [`parse_number`], and besides
/// other currencies' signs, the typographic minus, brackets around sign or unit (`$ (12)%`), a
/// dash as 0, and a footnote mark after the number (`12 (a)`, `12*`).
pub fn parse_cell_number(text: &str) -> Option<f64> {
    let compact: String = text
        .chars()
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

#[cfg(test)]
mod tests {
    use super::{parse_cell_number, parse_number};

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
