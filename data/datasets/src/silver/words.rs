//! Words of questions and headers.

use std::collections::{BTreeSet, HashMap};

use super::headers::{OF_DATES, months};
use tabsegnet_lexical::tokenize;

/// A word as it stands, without punctuation around it, and what of it is compared.
pub(super) struct Word {
    pub(super) text: String,
    pub(super) keys: Vec<String>,
}

/// The words of a text. What holds neither letters nor digits is none, except `%`.
pub(super) fn words(text: &str) -> Vec<Word> {
    let words = text.split_whitespace().map(|text| Word { text: bare(text).to_owned(), keys: keys(text) });
    words.filter(|word| !word.keys.is_empty() || word.text == "%").collect()
}

/// Without quotes, brackets and marks around it. `U.S.` and `(loss)` in one word keep theirs.
pub(super) fn bare(word: &str) -> &str {
    let outer = |c: char| !(c.is_alphanumeric() || matches!(c, '$' | '€' | '£' | '%' | '&' | '-'));
    let bare = word.trim_matches(outer);
    let start = word.find(bare).unwrap_or_default();
    let with_dot = word.get(start..=start + bare.len()).filter(|longer| longer.ends_with('.'));
    with_dot.filter(|_| bare.contains('.') && !bare.contains(|c: char| c.is_ascii_digit())).unwrap_or(bare)
}

/// Lower-cased tokens, plurals as singulars. FinQA has `2019s` for `’s` (its code point is U+2019).
pub(super) fn keys(text: &str) -> Vec<String> {
    let text = ["'s", "’s", "2019s"].iter().fold(text.to_owned(), |text, ending| text.replace(ending, ""));
    tokenize(&text).into_iter().map(singular).collect()
}

fn singular(mut token: String) -> String {
    if token.len() > 4 && token.ends_with("ies") {
        token.truncate(token.len() - 3);
        token.push('y');
    } else if token.len() > 3 && token.ends_with('s') && !token.ends_with("ss") && !token.ends_with("us") {
        token.truncate(token.len() - 1);
    }
    token
}

/// Words that name nothing: grammar, and what questions ask to be done with numbers. Singulars.
#[rustfmt::skip]
const STOP: &[&str] = &[
    "a", "about", "above", "across", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be",
    "been", "before", "between", "both", "but", "by", "can", "could", "did", "do", "doe", "during", "each",
    "ended", "ending", "for", "from", "given", "had", "has", "have", "how", "if", "in", "into", "is", "it",
    "its", "like", "many", "me", "more", "most", "much", "no", "not", "of", "on", "only", "or", "other", "our",
    "out", "over", "per", "respective", "respectively", "s", "same", "should", "since", "so", "such", "than",
    "that", "the", "their", "them", "there", "these", "they", "thi", "this", "those", "through", "to", "under",
    "until", "up", "wa", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whose", "will",
    "with", "within", "would", "you", "your", "year", "company", "million", "thousand", "dollar", "billion",
    "ha", "yes", "include", "included", "including",
];

/// What a question asks to be done, and in which unit.
#[rustfmt::skip]
const QUERIES: &[&str] = &[
    "percentage", "percent", "change", "difference", "increase", "decrease", "growth", "ratio", "average",
    "mean", "sum", "calculate", "compute", "compared", "rate", "amount", "value", "number", "total", "relative",
    "portion", "find",
];

pub(super) fn is_stop(key: &str) -> bool {
    STOP.contains(&key)
}

fn is_content(key: &str) -> bool {
    !is_stop(key) && !QUERIES.contains(&key)
}

/// The content words of a text.
pub(super) fn content(text: &str) -> BTreeSet<String> {
    keys(text).into_iter().filter(|key| is_content(key)).collect()
}

/// 1900 to 2099.
pub(super) fn is_year(key: &str) -> bool {
    key.len() == 4 && (key.starts_with("19") || key.starts_with("20")) && key.bytes().all(|b| b.is_ascii_digit())
}

/// A question, for what texts share with it.
pub(super) struct QuestionWords {
    words: Vec<Word>,
    /// First word of each content key.
    first: HashMap<String, usize>,
}

impl QuestionWords {
    pub(super) fn new(question: &str) -> Self {
        let words = words(question);
        let mut first = HashMap::new();
        for (position, word) in words.iter().enumerate() {
            for key in word.keys.iter().filter(|key| is_content(key)) {
                first.entry(key.clone()).or_insert(position);
            }
        }
        Self { words, first }
    }

    fn shared(&self, text: &str) -> BTreeSet<String> {
        keys(text).into_iter().filter(|key| self.first.contains_key(key)).collect()
    }

    /// Whether a content word of the text is one of the question.
    pub(super) fn names(&self, text: &str) -> bool {
        !self.shared(text).is_empty()
    }

    /// Whether the question has at least half of the content words of the text.
    pub(super) fn names_most(&self, text: &str) -> bool {
        let own = content(text);
        let shared = own.iter().filter(|key| self.first.contains_key(*key)).count();
        shared > 0 && shared * 2 >= own.len()
    }

    /// Whether all that the text shares with the question are years.
    pub(super) fn shares_years_alone(&self, text: &str) -> bool {
        self.shared(text).iter().all(|key| is_year(key))
    }

    /// Where the question names what the text says, rising.
    pub(super) fn positions(&self, text: &str) -> Vec<usize> {
        let shared = self.shared(text);
        let mut positions: Vec<usize> = shared.iter().filter_map(|key| self.first.get(key)).copied().collect();
        positions.sort_unstable();
        // What the question does not name comes last.
        if positions.is_empty() { vec![usize::MAX] } else { positions }
    }

    /// The shortest run of the question's words that holds every content word shared with the text,
    /// the first of equally short ones; none where none is shared. Its years come last, as those of a
    /// cell do, and of several each is a run of its own.
    pub(super) fn covered(&self, text: &str) -> Vec<String> {
        let wanted = self.shared(text);
        let holds = |word: &Word| word.keys.iter().any(|key| wanted.contains(key));
        let places: Vec<usize> = (0..self.words.len()).filter(|&place| holds(&self.words[place])).collect();
        let complete = |from: usize, to: usize| {
            let held: BTreeSet<&String> = self.words[from..=to].iter().flat_map(|word| &word.keys).collect();
            wanted.iter().all(|key| held.contains(key))
        };
        let runs = places.iter().filter_map(|&from| {
            places.iter().copied().find(|&to| to >= from && complete(from, to)).map(|to| (to - from, from))
        });
        match runs.min() {
            Some((length, from)) => years_last(&self.words[from..=from + length]),
            None => Vec::new(),
        }
    }
}

/// What may stand before a year to say when.
#[rustfmt::skip]
const TIMED: &[&str] = &[
    "in", "from", "to", "between", "and", "since", "during", "on", "by", "through", "until", "both", "over",
];

/// The words without years and what says when, once for each of the years, which follows them.
fn years_last(words: &[Word]) -> Vec<String> {
    let whole = || vec![joined(words)];
    let is_time = |word: &Word| {
        let of_time = |key: &String| {
            OF_DATES.contains(&key.as_str())
                || TIMED.contains(&key.as_str())
                || key.parse::<u32>().is_ok_and(|day| day < 32)
        };
        word.keys.iter().all(of_time)
    };
    let mut rest: Vec<&Word> = Vec::new();
    let mut years: Vec<&str> = Vec::new();
    for word in words {
        match word.keys.as_slice() {
            [key] if is_year(key) => {
                while rest.last().is_some_and(|word| is_time(word)) {
                    rest.pop();
                }
                if !years.contains(&word.text.as_str()) {
                    years.push(&word.text);
                }
            }
            _ => rest.push(word),
        }
    }
    let stops = |word: &&&Word| word.keys.iter().all(|key| is_stop(key));
    let start = rest.iter().take_while(stops).count();
    let end = rest.len() - rest[start..].iter().rev().take_while(stops).count();
    let rest = &rest[start..end];
    if years.is_empty() || rest.is_empty() {
        return whole();
    }
    let rest = rest.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    years.into_iter().map(|year| format!("{rest} {year}")).collect()
}

fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

impl QuestionWords {
    /// Whether the question names a month of the text.
    pub(super) fn names_month(&self, text: &str) -> bool {
        let own: Vec<String> = self.words.iter().flat_map(|word| months(&word.text)).collect();
        months(text).iter().any(|month| own.contains(month))
    }
}
