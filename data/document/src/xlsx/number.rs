//! Numbers as a number format shows them, as far as it matters for reading.

use crate::grid::Stored;
use crate::numbers::parse_annotated_number;

/// A number by its format: decimals, thousands, percent, currency sign, brackets for negatives.
/// Other formats give the number as it is, rounded to 15 significant digits as spreadsheets do.
pub(super) fn format(number: f64, format: &str) -> String {
    shown(number, format, false)
}

/// What a number is in full where its format shows less of it: `1234.567` of `1,235`, `12.5%` of `13%`, `0` of `-`.
pub(super) fn stored(number: f64, format: &str) -> Option<Stored> {
    let section = section(number, format);
    let (text, is_scaled) = match numeric(section).filter(|_| !is_dash(number, section)) {
        None => (exact(number), false),
        Some(digits) if digits.contains('%') => (format!("{}%", plain(number * 100.0)), false),
        Some(digits) => {
            let sign = currency(section).map_or_else(String::new, |sign| format!("{sign} "));
            (sign + &exact(number), scale(section, &digits) > 1.0)
        }
    };
    let of = |text: &str| parse_annotated_number(text).map(|number| number.value);
    let is_all = !is_scaled && of(&text).is_none_or(|value| of(&shown(number, format, false)) == Some(value));
    (!is_all).then(|| Stored { text, in_full: is_scaled.then(|| shown(number, format, true)) })
}

/// A number by its format, of one that shows thousands or millions all of it where it is wanted `in_full`.
fn shown(number: f64, format: &str, in_full: bool) -> String {
    let section = section(number, format);
    if is_dash(number, section) {
        return "-".into();
    }
    let Some(digits) = numeric(section) else { return plain(number) };
    let percent = digits.contains('%');
    let decimals = digits
        .split_once('.')
        .map_or(0, |(_, after)| after.chars().take_while(|c| matches!(c, '0' | '#' | '?')).count());
    let value = match (percent, in_full) {
        (true, _) => number * 100.0,
        (false, true) => number,
        (false, false) => number / scale(section, &digits),
    };
    let fixed = fixed(value.abs(), decimals.min(15));
    let mut shown = if digits.contains(",0") || digits.contains("#,#") { grouped(&fixed) } else { fixed };
    // Places that are optional are left away when they are nothing: `0.##`.
    if digits.contains(".#") {
        shown = shown.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    if percent {
        shown.push('%');
    }
    if let Some(sign) = currency(section) {
        shown = format!("{sign} {shown}");
    }
    let is_zero = !shown.contains(|c: char| ('1'..='9').contains(&c));
    match (number < 0.0 && !is_zero, section.contains('(')) {
        (true, true) => format!("({shown})"),
        (true, false) => format!("-{shown}"),
        (false, _) => shown,
    }
}

/// The section of a format that shows a number.
fn section(number: f64, format: &str) -> &str {
    let mut sections = format.split(';');
    let positive = sections.next().unwrap_or_default();
    let negative = sections.next();
    let zero = sections.next();
    match (number, negative, zero) {
        (0.0, _, Some(zero)) => zero,
        (n, Some(negative), _) if n < 0.0 => negative,
        _ => positive,
    }
}

/// Whether a section has a dash for nothing.
fn is_dash(number: f64, section: &str) -> bool {
    number == 0.0 && !section.contains(['0', '#', '?']) && section.contains('-')
}

/// A section's own letters where it has places for digits, and neither a power nor a fraction.
fn numeric(section: &str) -> Option<String> {
    let digits = unquoted(section);
    (digits.contains(['0', '#', '?']) && !digits.contains(['E', '/'])).then_some(digits)
}

/// A number with so many decimals, of fifteen digits as spreadsheets count, half a place up: 0.125 is 0.13, and so is
/// 1.005 1.01.
fn fixed(value: f64, decimals: usize) -> String {
    let scientific = format!("{value:.14e}");
    let parts = scientific.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?)));
    let Some((digits, power)) = parts else { return format!("{value}") };
    // Digits before the point, one at least.
    let zeros = usize::try_from(-power).unwrap_or(0);
    let mut whole = usize::try_from(power).unwrap_or(0) + 1;
    let mut all: Vec<u8> = vec![b'0'; zeros];
    all.extend(digits.bytes().filter(u8::is_ascii_digit));
    let wanted = whole + decimals;
    let is_up = all.get(wanted).is_some_and(|digit| *digit >= b'5');
    all.resize(wanted, b'0');
    if is_up {
        let nines = all.iter().rev().take_while(|digit| **digit == b'9').count();
        let last = all.len() - nines;
        all[last..].fill(b'0');
        match last.checked_sub(1).and_then(|at| all.get_mut(at)) {
            Some(digit) => *digit += 1,
            None => {
                all.insert(0, b'1');
                whole += 1;
            }
        }
    }
    let mut text: String = all.into_iter().map(char::from).collect();
    if decimals > 0 {
        text.insert(whole, '.');
    }
    text
}

/// Whole numbers to the last digit that is held, others with fifteen.
fn exact(number: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT { format!("{number}") } else { plain(number) }
}

/// Hours, minutes and seconds of a span of days.
pub(super) fn duration(days: f64) -> String {
    let seconds = (days * 86_400.0).round().clamp(-1e15, 1e15) as i64;
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.unsigned_abs();
    format!("{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn plain(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    let shown = format!("{rounded}");
    if shown.len() > 25 { format!("{rounded:e}") } else { shown }
}

/// The section without quoted words and the brackets of colours and conditions.
fn unquoted(section: &str) -> String {
    let mut kept = String::new();
    let (mut quoted, mut bracketed, mut escaped) = (false, false, false);
    for c in section.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' | '_' | '*' if !quoted => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => bracketed = true,
            ']' if !quoted => bracketed = false,
            _ if !quoted && !bracketed => kept.push(c),
            _ => {}
        }
    }
    kept
}

/// What `#,##0.0,,` divides by: a thousand a comma behind the last digit. Where a word says so behind the number, as in
/// `0.0,,"M"`, which would then be no number any more, it stays whole.
fn scale(section: &str, digits: &str) -> f64 {
    let Some(last) = digits.rfind(['0', '#', '?']) else { return 1.0 };
    let commas = digits[last + 1..].chars().take_while(|c| *c == ',').count();
    let words = section.split('"').skip(1).step_by(2).any(|quoted| quoted.contains(char::is_alphabetic));
    if words { 1.0 } else { 1000_f64.powi(i32::try_from(commas).unwrap_or(0).min(4)) }
}

/// The sign or code before a number: what `[$€-407]` holds before its language, else a sign of its own or a quoted code, `"EUR" 0.00`.
fn currency(section: &str) -> Option<String> {
    let mut rest = section;
    let mut own = String::new();
    while let Some((before, bracketed)) = rest.split_once("[$") {
        let (inner, behind) = bracketed.split_once(']')?;
        let sign = inner.split('-').next().unwrap_or_default().trim();
        if !sign.is_empty() {
            return Some(sign.to_owned());
        }
        own += before;
        rest = behind;
    }
    own += rest;
    let sign = ["$", "€", "£", "¥"].into_iter().find(|sign| own.contains(*sign));
    let mut quoted = own.split('"').skip(1).step_by(2).map(str::trim);
    let coded = || quoted.find_map(|word| CODES.iter().find(|(code, _)| *code == word).map(|(_, sign)| *sign));
    sign.or_else(coded).map(str::to_owned)
}

/// Codes that stand in quotes, as signs: a code before a number makes words of it.
const CODES: [(&str, &str); 4] = [("EUR", "€"), ("USD", "$"), ("GBP", "£"), ("JPY", "¥")];

fn grouped(fixed: &str) -> String {
    let (whole, rest) = fixed.split_at(fixed.find('.').unwrap_or(fixed.len()));
    let mut shown = String::with_capacity(fixed.len() * 4 / 3);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_are_shown_as_the_format_says() {
        for (number, format, shown) in [
            (1234.5, "General", "1234.5"),
            (0.1 + 0.2, "General", "0.3"),
            (1234.567, "#,##0.00", "1,234.57"),
            (0.125, "0.0%", "12.5%"),
            (-1234.0, "#,##0_);(#,##0)", "(1,234)"),
            (-5.0, "0", "-5"),
            (1_234_567.0, "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)", "$ 1,234,567"),
            (0.0, "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)", "-"),
            (12.0, "[Red]0.##", "12"),
            (12.0, "0 \"years\"", "12"),
            (3.0, "\"EUR\" 0.00", "€ 3.00"),
            (0.125, "0%", "13%"),
            (2.5, "0", "3"),
            (1.005, "0.00", "1.01"),
            (-0.25, "0.0", "-0.3"),
            (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
            (807.0, "[$CHF-807] 0", "CHF 807"),
            (1234.5, "#,##0.00 [$£-809]", "£ 1,234.50"),
            (5.0, "[$-409]0", "5"),
            (12_345_678.0, "#,##0.0,,", "12.3"),
            (5_500_000.0, "0.0,,\"M\"", "5500000.0"),
            (1e300, "General", "1e300"),
            (f64::NAN, "0.0", "NaN"),
            (1e13, "#,##0.00", "10,000,000,000,000.00"),
            (12_345_678_901_234.5, "#,##0.00", "12,345,678,901,234.50"),
            (123_456_789_012.35, "0.00", "123456789012.35"),
            (999_999_999_999_999.0, "0.00", "999999999999999.00"),
            (1e15, "#,##0", "1,000,000,000,000,000"),
            (0.145, "0%", "15%"),
            (9.996, "0.00", "10.00"),
            (0.04, "0.0", "0.0"),
            (1e-9, "0.00", "0.00"),
            (0.6, "0", "1"),
        ] {
            assert_eq!(super::format(number, format), shown, "{number} {format}");
        }
        assert_eq!(super::duration(1.5), "36:00:00");
    }

    #[test]
    fn what_a_format_leaves_out_is_stored() {
        for (number, format, stored, in_full) in [
            (1234.567, "#,##0", Some("1234.567"), None),
            (1234.0, "#,##0", None, None),
            (0.125, "0%", Some("12.5%"), None),
            (0.12, "0%", None, None),
            (-0.15, "0.0", Some("-0.15"), None),
            (1234.56, "[$€-407] #,##0", Some("€ 1234.56"), None),
            (0.0, "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)", Some("0"), None),
            (12_345_678.0, "#,##0.0,,", Some("12345678"), Some("12,345,678.0")),
            (2_000.0, "#,##0,", Some("2000"), Some("2,000")),
            (5_500_000.0, "0.0,,\"M\"", None, None),
            (9_007_199_254_740_991.0, "General", Some("9007199254740991"), None),
            (0.1 + 0.2, "General", None, None),
            (f64::NAN, "0.0", None, None),
        ] {
            let found = super::stored(number, format);
            let found = found.as_ref().map(|found| (found.text.as_str(), found.in_full.as_deref()));
            assert_eq!(found, stored.map(|stored| (stored, in_full)), "{number} {format}");
        }
    }
}
