//! Numbers as a number format shows them, as far as it matters for reading.

/// A number by its format: decimals, thousands, percent, currency sign, brackets for negatives.
/// Other formats give the number as it is, rounded to 15 significant digits as spreadsheets do.
pub(super) fn format(number: f64, format: &str) -> String {
    let mut sections = format.split(';');
    let positive = sections.next().unwrap_or_default();
    let negative = sections.next();
    let zero = sections.next();
    let section = match (number, negative, zero) {
        (0.0, _, Some(zero)) => zero,
        (n, Some(negative), _) if n < 0.0 => negative,
        _ => positive,
    };
    if number == 0.0 && !section.contains(['0', '#', '?']) && section.contains('-') {
        return "-".into();
    }
    let digits: String = unquoted(section);
    if !digits.contains(['0', '#', '?']) || digits.contains(['E', '/']) {
        return plain(number);
    }
    let percent = digits.contains('%');
    let decimals = digits
        .split_once('.')
        .map_or(0, |(_, after)| after.chars().take_while(|c| matches!(c, '0' | '#' | '?')).count());
    let value = if percent { number * 100.0 } else { number / scale(section, &digits) };
    // Half a place goes up, of fifteen digits as spreadsheets count: 0.125 is 0.13, and so is 1.005 1.01.
    let fixed = format!("{:.*}", decimals.min(15), value.abs() * (1.0 + 4.0 * f64::EPSILON));
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
        ] {
            assert_eq!(super::format(number, format), shown, "{number} {format}");
        }
        assert_eq!(super::duration(1.5), "36:00:00");
    }
}
