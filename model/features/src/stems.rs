//! Words of a text as features compare them: lower case, endings off, digits without commas.

/// Words in order. Letters and digits are words of their own, so that "totals2019" is two.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words = Vec::new();
    let mut rest = lower.as_str();
    while let Some(start) = rest.find(|c: char| c.is_alphabetic() || c.is_ascii_digit()) {
        rest = rest.get(start..).unwrap_or_default();
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
        let end =
            if is_number { number_end(rest) } else { rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len()) };
        let (word, after) = rest.split_at(end);
        words.push(if is_number { word.replace(',', "") } else { stem(word).to_owned() });
        rest = after;
    }
    words
}

/// Digits, with commas and points between digits.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while digit(end) || (matches!(bytes.get(end), Some(b'.' | b',')) && digit(end + 1)) {
        end += 1;
    }
    end
}

/// A word without its ending, so that "issuances" is "issuance" and "issued" is "issue".
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 10] = ["ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s", "ly"];
    /// Least letters that stay.
    const STEM: usize = 3;
    if word.len() <= STEM || !word.is_ascii() {
        return word;
    }
    let cut = |ending: &&str| word.strip_suffix(*ending).filter(|left| left.len() >= STEM);
    let mut left = ENDINGS.iter().find_map(cut).unwrap_or(word);
    if left.ends_with("ll") {
        left = left.get(..left.len() - 1).unwrap_or(left);
    }
    left.strip_suffix(['e', 'y']).unwrap_or(left)
}

/// The distinct runs of four letters of a text, all else left out, so that two texts match
/// also where the words of one run together.
pub(crate) fn letter_runs(text: &str) -> Vec<[u8; 4]> {
    let letters: Vec<u8> =
        text.bytes().filter(u8::is_ascii_alphabetic).map(|letter| letter.to_ascii_lowercase()).collect();
    let mut runs: Vec<[u8; 4]> = letters.array_windows().copied().collect();
    runs.sort_unstable();
    runs.dedup();
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn endings_go_and_numbers_stay() {
        assert_eq!(stems("Issuances, issued"), ["issuanc", "issu"]);
        assert_eq!(stems("total companies' 1,234.50 (2019)"), ["total", "compan", "1234.50", "2019"]);
        assert_eq!(stems("selling sells"), ["sel", "sel"]);
        assert_eq!(stems("december312012 12/04"), ["december", "312012", "12", "04"]);
        assert_eq!(stems("Größe"), ["größe"]);
    }

    #[test]
    fn letter_runs_do_not_see_blanks() {
        assert_eq!(letter_runs("to ta"), letter_runs("Tota"));
        assert_eq!(letter_runs("abcde"), [*b"abcd", *b"bcde"]);
        assert!(letter_runs("abc 12").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_has_stems(text in "\\PC{0,40}") {
            prop_assert!(stems(&text).iter().all(|word| !word.is_empty()));
            letter_runs(&text);
        }
    }
}
