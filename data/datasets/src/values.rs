//! Values in running text: which numbers it holds, and whether it holds a phrase.

use tabsegnet_document::numbers::parse_cell_number;

/// The numbers of a text without their signs, in order, with the byte each begins at: digits with
/// thousands commas and one point. Digits inside a word (`FY19`, `Q4`) are none.
pub fn numbers_in(text: &str) -> Vec<(usize, f64)> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        let mut point = false;
        while at < bytes.len() {
            let thousands = bytes[at] == b',' && !point && (1..=3).all(|next| digit(at + next)) && !digit(at + 4);
            let decimal = bytes[at] == b'.' && !point && digit(at + 1);
            point |= decimal;
            if !(digit(at) || thousands || decimal) {
                break;
            }
            at += 1;
        }
        let inside_word = text[..start].chars().next_back().is_some_and(char::is_alphabetic);
        if !inside_word && let Ok(number) = text[start..at].replace(',', "").parse() {
            numbers.push((start, number));
        }
    }
    numbers
}

/// A text as it is compared: lower case, blanks as one, typographic quotes and dashes plain,
/// without points at the end.
pub(crate) fn normalised(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| match c {
            '’' | '‘' => '\'',
            '“' | '”' => '"',
            '–' | '—' | '−' | '‑' => '-',
            c => c,
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ").to_lowercase().trim_end_matches(['.', ' ']).to_owned()
}

/// Whether a normalised text holds a normalised phrase as whole words: `4` stands neither in
/// `2014` nor in `1.4`.
pub(crate) fn holds(text: &str, phrase: &str) -> bool {
    if phrase.is_empty() {
        return false;
    }
    text.match_indices(phrase).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + phrase.len()..]);
        let joins = |outer: Option<char>, beyond: Option<char>, inner: Option<char>| match (outer, inner) {
            (Some(outer), Some(inner)) if outer.is_alphanumeric() && inner.is_alphanumeric() => true,
            // The point or comma of a number.
            (Some('.' | ','), Some(inner)) => inner.is_ascii_digit() && beyond.is_some_and(|c| c.is_ascii_digit()),
            _ => false,
        };
        let (mut left, mut right) = (before.chars().rev(), after.chars());
        !joins(left.next(), left.next(), phrase.chars().next())
            && !joins(right.next(), right.next(), phrase.chars().next_back())
    })
}

/// The number that a cell shows, without its sign.
pub(crate) fn amount(text: &str) -> Option<f64> {
    // A dash is no value that anything could name.
    if !text.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    parse_cell_number(text).map(f64::abs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_derivations_and_sentences() {
        let values = |text: &str| numbers_in(text).into_iter().map(|(_, number)| number).collect::<Vec<_>>();
        assert_eq!(values("(27,633+ 32,389)/2"), [27633.0, 32389.0, 2.0]);
        assert_eq!(
            values("$1.5 million in 2019, 2018 and FY17; Q4, 1,313,323,941."),
            [1.5, 2019.0, 2018.0, 1313323941.0]
        );
        assert_eq!(values("-1.9-(-2.2) 2019,2018 7,"), [1.9, 2.2, 2019.0, 2018.0, 7.0]);
        assert_eq!(numbers_in("é 12")[0], (3, 12.0));
    }

    #[test]
    fn phrases_are_whole_words() {
        for (text, phrase, held) in [
            ("December 31, 2014", "31, 2014", true),
            ("in 2014", "4", false),
            ("rose by 1.4 points", "4", false),
            ("1,400", "400", false),
            ("equals 4.", "4", true),
            ("19.0% of income", "19.0%", true),
            ("“Other”  income", "other", true),
            ("anything", "", false),
        ] {
            assert_eq!(holds(&normalised(text), &normalised(phrase)), held, "{phrase} in {text}");
        }
    }

    #[test]
    fn amounts_have_no_sign_and_dashes_none() {
        assert_eq!(amount("$(426)"), Some(426.0));
        assert_eq!(amount("—"), None);
        assert_eq!(amount("2019"), Some(2019.0));
    }
}
