//! What a question names with a capital.

use std::collections::HashSet;

use tabsegnet_document::months::MONTHS;

use crate::tokenize;

/// Words that say nothing about what the question is about.
pub const STOP: [&str; 58] = [
    "the", "of", "in", "and", "to", "for", "from", "was", "is", "are", "were", "what", "how", "much", "many", "did",
    "does", "do", "a", "an", "at", "on", "by", "as", "that", "which", "its", "their", "be", "would", "during",
    "between", "with", "it", "s", "percent", "percentage", "change", "ratio", "increase", "decrease", "difference",
    "million", "millions", "year", "years", "growth", "portion", "much", "has", "have", "had", "december", "ended",
    "considering", "thousand", "thousands", "company",
];

/// What is written with capitals and names nothing that a document would have to name.
#[rustfmt::skip]
const COMMON: [&str; 39] = [
    "usd", "eur", "gbp", "jpy", "chf", "cad", "aud", "cny", "gaap", "non-gaap", "ifrs", "eps", "ebit", "ebitda", "capex", "opex",
    "fcf", "roe", "roi", "roa", "cagr", "yoy", "ytd", "fy", "ceo", "cfo", "us", "usa", "uk", "sec", "inc", "corp", "ltd",
    "limited", "plc", "llc", "corporation", "incorporated", "gmbh",
];

/// The words of a question that begin with a capital and stay when it is read with a glossary: neither its first word, unless
/// something is of it (`Slack's revenue`), nor months, units and the like. None of a question in capitals. In small letters
/// only what something is of: `tesla's net income`.
pub fn of(question: &str, read_as: Option<&str>) -> Vec<String> {
    let tokens: Vec<&str> = question.split_whitespace().collect();
    // Of a question in capitals, or with one for each word, nothing is told.
    let is_small = |token: &&str| token.starts_with(char::is_lowercase);
    let is_title = |token: &&str| {
        token.starts_with(char::is_uppercase)
            && token.chars().filter(|c| c.is_alphabetic()).nth(1).is_some_and(char::is_lowercase)
    };
    let count = |is: &dyn Fn(&&str) -> bool| tokens.iter().filter(|token| is(token)).count();
    if count(&is_small) == 0 || count(&is_title) > 2 * count(&is_small) {
        return Vec::new();
    }
    let kept = read_as.map(|text| text.split_whitespace().map(bare).collect::<Vec<&str>>());
    let named = tokens.iter().enumerate().filter_map(|(place, token)| {
        let word = bare(token);
        let own = ["'s", "\u{2019}s"].iter().any(|end| token.trim_end_matches(['?', ',']).ends_with(end));
        let lower = word.to_lowercase();
        let is_common = COMMON.contains(&lower.as_str())
            || STOP.contains(&lower.as_str())
            || MONTHS.iter().any(|month| *month == lower || month.get(..3) == Some(&lower))
            || !word.chars().all(|c| c.is_alphabetic() || c == '-')
            || word.chars().count() < 3;
        let is_kept = kept.as_ref().is_none_or(|kept| kept.contains(&word));
        let is_capital = word.starts_with(char::is_uppercase) && (place > 0 || own);
        let is_owner = own && word.chars().count() > 3 && !OWNERS.contains(&word);
        let is_name = (is_capital || is_owner) && !is_common && is_kept;
        is_name.then(|| word.to_owned())
    });
    named.collect()
}

/// What something may be of that no document needs to name.
const OWNERS: [&str; 9] = ["year", "quarter", "today", "what", "that", "there", "here", "company", "management"];

/// A token without what stands around its word.
fn bare(token: &str) -> &str {
    let word = token.trim_matches(|c: char| !c.is_alphanumeric());
    ["'s", "\u{2019}s"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word)
}

/// Letters that two forms of a name share: Norway, Norwegian.
const SHARED: usize = 4;

/// What a question names, to be looked for in texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named(Vec<String>);

impl Named {
    /// What a question names with a capital, or as what something is of.
    pub fn of(question: &str) -> Self {
        Self(of(question, None).iter().map(|name| name.to_lowercase()).collect())
    }

    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names, in small letters.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// One of them alone.
    #[must_use]
    pub fn only(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|of| *of == name).cloned().collect())
    }

    /// Those that a title has.
    #[must_use]
    pub fn in_titles<'t>(mut self, titles: impl Iterator<Item = &'t str>) -> Self {
        let words: HashSet<String> = if self.is_empty() { HashSet::new() } else { titles.flat_map(tokenize).collect() };
        self.0.retain(|name| words.contains(name));
        self
    }

    /// Whether a text says one of them, in any form.
    pub fn is_said_in(&self, text: &str) -> bool {
        // Reports are looked through: most texts have not even the letters.
        let lower = text.to_lowercase();
        let has_letters = self.0.iter().any(|name| lower.contains(begin(name)));
        // "Well" is no form of "Wells".
        let is_form = |word: &String, name: &String| {
            word == name || word.chars().count() > SHARED && word.starts_with(begin(name))
        };
        has_letters && tokenize(&lower).iter().any(|word| self.0.iter().any(|name| is_form(word, name)))
    }
}

fn begin(name: &str) -> &str {
    name.char_indices().nth(SHARED).map_or(name, |(at, _)| &name[..at])
}

/// Whether a text names somebody or something behind its first word: not the company that speaks, nor its country.
pub fn holds_name(text: &str) -> bool {
    let none = ["Company", "We", "Our", "The", "U.S", "US", "I"];
    let mut words = text.split_whitespace().skip(1).map(bare);
    words.any(|word| word.starts_with(char::is_uppercase) && word.len() > 1 && !none.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_found_in_any_form() {
        let named = Named::of("How long are Norway's rivers beside those of Chad?");
        assert!(named.is_said_in("The Norwegian coast") && named.is_said_in("Chad") && !named.is_said_in("Normandy"));
        assert_eq!(named.clone().in_titles(["Rivers of Chad"].into_iter()).names(), ["chad"]);
        assert!(named.only("chad").is_said_in("CHAD") && !named.only("chad").is_said_in("Norway"));
        assert!(!Named::of("What is Wells's income?").is_said_in("as well as"));
        assert!(Named::of("what is the total?").is_empty());
    }

    #[test]
    fn names_are_what_begins_with_a_capital() {
        for (question, read_as, names) in [
            ("What was Slack's revenue in December 2024?", None, &["Slack"][..]),
            ("AMD's EPS in FY2024?", None, &["AMD"]),
            (
                "How did Nike do in Greater China?",
                Some("How did the company do in Greater China?"),
                &["Greater", "China"],
            ),
            ("What did R&D cost?", None, &[]),
            ("WHAT WAS NET INCOME", None, &[]),
            ("what was tesla's net income last year?", None, &["tesla"]),
            ("what was the company's net income?", None, &[]),
            ("What Was Net Income", None, &[]),
            ("", None, &[]),
        ] {
            assert_eq!(of(question, read_as), names, "{question}");
        }
    }
}
