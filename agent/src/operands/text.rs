//! Phrases of a question, and the things that it names.

use crate::walk::wording::place;

/// What a question begins with before what it is about.
#[rustfmt::skip]
const LEADS: [&str; 24] = [
    "what was", "what were", "what is", "what are", "what's", "what did", "what do", "what does", "how much was", "how much were",
    "how much is", "how much did", "how much do", "how big was", "how large was", "how high was", "calculate", "compute", "and",
    "the", "its", "their", "a", "our",
];
/// What it ends with behind that.
#[rustfmt::skip]
const ENDS: [&str; 18] = [
    "come to together", "come to", "came to", "amount to", "amounted to", "add up to", "added up to", "sum to", "sum up to", "total",
    "together", "combined", "in total", "altogether", "taken together", "all told", "make up", "be",
];
/// Words of the things that are named; more are a sentence.
const WORDS: usize = 12;

/// A text with itself in lower case, of as many bytes.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    pub text: &'t str,
    pub lower: &'t str,
}

impl<'t> Text<'t> {
    /// What stands before and behind the first place of a phrase.
    pub fn split(self, phrase: &str) -> Option<(Self, Self)> {
        let at = place(self.lower, phrase)?;
        Some((self.part(0, at)?, self.part(at + phrase.len(), self.lower.len())?))
    }

    pub fn part(self, start: usize, end: usize) -> Option<Self> {
        let (text, lower) = (self.text.get(start..end)?, self.lower.get(start..end)?);
        let before = text.len() - text.trim_start().len();
        let length = text.trim().len();
        Some(Self { text: text.trim(), lower: lower.get(before..before + length)? })
    }

    pub fn split_any(self, phrases: &[&str]) -> Option<(Self, Self)> {
        phrases.iter().find_map(|phrase| self.split(phrase))
    }

    /// What stands behind a phrase that it begins with.
    pub fn behind(self, phrase: &str) -> Option<Self> {
        let rest = self.lower.strip_prefix(phrase)?;
        let apart = !rest.starts_with(|c: char| c.is_alphanumeric());
        apart.then(|| self.part(phrase.len(), self.lower.len())).flatten()
    }

    pub fn behind_any(self, phrases: &[&str]) -> Option<Self> {
        phrases.iter().find_map(|phrase| self.behind(phrase))
    }

    pub fn has(self, phrase: &str) -> bool {
        place(self.lower, phrase).is_some()
    }
}

/// A thing without what a question begins and ends with; `None` where nothing, or a sentence, is left.
pub(super) fn name(text: &str) -> Option<String> {
    let marks = |c: char| c.is_whitespace() || matches!(c, ',' | '?' | '.' | ':' | ';' | '–' | '—' | '"');
    let mut text = text.trim_matches(marks);
    loop {
        let lower = text.to_ascii_lowercase();
        let begins = LEADS.iter().find(|lead| lower.strip_prefix(**lead).is_some_and(|rest| rest.starts_with(' ')));
        let ends = ENDS.iter().find(|end| lower.strip_suffix(**end).is_some_and(|rest| rest.ends_with(' ')));
        text = match (begins, ends) {
            (Some(lead), _) => text.get(lead.len()..)?.trim_matches(marks),
            (None, Some(end)) => text.get(..text.len() - end.len())?.trim_matches(marks),
            (None, None) => break,
        };
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let is_sentence = [
        "is", "are", "there", "owe", "counting", "including", "did", "does", "who", "why", "which", "how", "what",
        "or", "that", "them",
    ];
    let is_name = (1..=WORDS).contains(&words.len()) && !words.iter().any(|word| is_sentence.contains(&word.as_str()));
    (is_name && text.contains(char::is_alphabetic)).then(|| text.to_owned())
}
