//! Abbreviations that a document explains: "traffic acquisition costs (TAC)".
//!
//! Found as Schwartz and Hearst do ("A simple algorithm for identifying abbreviation definitions in biomedical text", 2003):
//! each character of what stands in the parentheses is sought from the last to the first in the words before, the first one
//! at the beginning of a word.

use std::collections::BTreeMap;

/// Bytes of an abbreviation.
const LENGTH: std::ops::RangeInclusive<usize> = 2..=10;

/// An abbreviation and what it stands for, both as the document writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abbreviation {
    /// `TAC`.
    pub short: String,
    /// `traffic acquisition costs`.
    pub long: String,
}

/// Those that texts explain, by their letters; where one is explained twice the first counts.
pub fn abbreviations<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<Abbreviation> {
    let mut found: BTreeMap<&str, &str> = BTreeMap::new();
    for text in texts {
        for (open, _) in text.match_indices('(') {
            let Some(inside) = text[open + 1..].split(')').next() else { continue };
            let inside = inside.trim();
            let short = inside.strip_prefix("the ").unwrap_or(inside).trim_matches(is_quote);
            if is_short(short)
                && let Some(long) = long_form(short, text[..open].trim_end())
            {
                found.entry(short).or_insert(long);
            }
        }
    }
    found.into_iter().map(|(short, long)| Abbreviation { short: short.to_owned(), long: long.to_owned() }).collect()
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '“' | '”' | '‘' | '’')
}

/// Two capitals or more, and nothing but letters, digits and what joins them.
pub(crate) fn is_short(text: &str) -> bool {
    LENGTH.contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'&' | b'/' | b'-'))
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && text.bytes().filter(u8::is_ascii_uppercase).count() >= 2
}

/// The words at the end of `before` that a short form stands for.
fn long_form<'t>(short: &str, before: &'t str) -> Option<&'t str> {
    let words = (short.len() + 5).min(2 * short.len());
    let from = before.rmatch_indices(' ').nth(words - 1).map_or(0, |(at, _)| at + 1);
    let before = &before[from..];
    let chars: Vec<(usize, char)> = before.char_indices().collect();
    let mut end = chars.len();
    let wanted: Vec<char> = short.chars().filter(|c| c.is_alphanumeric()).collect();
    for (number, c) in wanted.iter().enumerate().rev() {
        let begins = |at: usize| at == 0 || !chars[at - 1].1.is_alphanumeric();
        end = (0..end).rev().find(|&at| chars[at].1.eq_ignore_ascii_case(c) && (number > 0 || begins(at)))?;
    }
    let start = before[..chars[end].0].rfind(' ').map_or(0, |at| at + 1);
    let long =
        before[start..].trim_matches(|c: char| is_quote(c) || c.is_whitespace() || matches!(c, '•' | ',' | ';' | ':'));
    let says_more = long.contains(' ') && long.len() > short.len() && !long.split(' ').any(|word| word == short);
    (says_more && long.starts_with(|c: char| c.is_alphanumeric())).then_some(long)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        abbreviations([text]).into_iter().map(|Abbreviation { short, long }| (short, long)).collect()
    }

    fn pair(short: &str, long: &str) -> Vec<(String, String)> {
        vec![(short.into(), long.into())]
    }

    #[test]
    fn what_is_explained_is_found() {
        assert_eq!(found("We pay traffic acquisition costs (TAC) to them."), pair("TAC", "traffic acquisition costs"));
        assert_eq!(found("•Average Revenue Per Person (“ARPP”)."), pair("ARPP", "Average Revenue Per Person"));
        assert_eq!(
            found("Europe, the Middle East, and Africa (the \"EMEA\")"),
            pair("EMEA", "Europe, the Middle East, and Africa")
        );
        assert_eq!(found("Other income (expense), net (OI&E)"), pair("OI&E", "Other income (expense), net"));
    }

    #[test]
    fn what_explains_nothing_is_not() {
        for text in
            ["in millions (USD)", "sales (see Note 3)", "(TAC)", "the increase (Cloud) was", "revenue (R", "costs (12)"]
        {
            assert_eq!(found(text), Vec::new(), "{text}");
        }
        let twice = abbreviations(["gross dollar volume (GDV)", "great dog voice (GDV)"]);
        assert_eq!(twice, [Abbreviation { short: "GDV".into(), long: "gross dollar volume".into() }]);
    }

    proptest! {
        /// The long form has the letters of the short one in their order, the first at its beginning.
        #[test]
        fn letters_stand_in_order(text in "[a-c A-C]{0,20}\\([A-C]{2,4}\\)\\PC{0,5}") {
            for Abbreviation { short, long } in abbreviations([text.as_str()]) {
                let mut letters = long.chars();
                prop_assert!(short.chars().all(|c| letters.any(|other| other.eq_ignore_ascii_case(&c))));
                prop_assert!(text.contains(&long));
            }
        }
    }
}
