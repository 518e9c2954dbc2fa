//! A question as words, numbers and what of the database it names.

use tabsegnet_document::months::MONTHS;

use super::conditions::{Condition, conditions};
use super::known::Known;
use crate::linking::words::NUMBERS;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case, without the `s` of a plural.
    pub stem: String,
    /// Bytes of the text.
    pub start: usize,
    pub end: usize,
}

/// Runs of letters and digits; commas and points between digits belong to them.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let digit = |at: usize| letters.get(at).is_some_and(|(_, letter)| letter.is_ascii_digit());
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&(start, letter)) = letters.get(at) {
        if !letter.is_alphanumeric() {
            at += 1;
            continue;
        }
        let mut word = String::new();
        while let Some(&(_, letter)) = letters.get(at) {
            let inner = matches!(letter, ',' | '.') && at > 0 && digit(at - 1) && digit(at + 1);
            if !(letter.is_alphanumeric() || inner) {
                break;
            }
            if letter != ',' {
                word.extend(letter.to_lowercase());
            }
            at += 1;
        }
        let end = letters.get(at).map_or(text.len(), |(end, _)| *end);
        found.push(Token { stem: stem(&word), start, end });
    }
    found
}

/// The stems of a text.
pub(super) fn words(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.stem).collect()
}

fn stem(word: &str) -> String {
    if word.len() > 4 && word.ends_with("ies") {
        return format!("{}y", word.trim_end_matches("ies"));
    }
    let plural = word.len() > 3 && word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    if plural { word.strip_suffix('s').unwrap_or(word).to_owned() } else { word.to_owned() }
}

/// Words that name nothing by themselves.
const STOP: &str = "a about after all also an and any are at be been before between by can come did do does each ever for from \
    get give had has have he her him his how i in into is it its last least less list long made many me more most much name \
    next no not of on only or other out over she show so some take tell than that the their them then there they this those \
    to total under until up was we were what when where which who whose why will with would you above below first same";

pub(super) fn is_stop(word: &str) -> bool {
    STOP.split_whitespace().any(|stop| stop == word)
}

/// What a question begins with.
const OPENINGS: [&str; 12] = [
    "how many", "how much", "how long", "how old", "who", "when", "where", "which", "what", "whose", "name", "in what",
];

pub(super) struct Question {
    pub tokens: Vec<Token>,
    /// The opening among [`OPENINGS`], else `other`.
    pub opening: &'static str,
    /// The word that says what is wanted: the first behind `which`, `what`, `how many`.
    pub head: String,
    /// Numbers and the tokens they stand at.
    pub numbers: Vec<(f64, usize)>,
    /// Conditions that it may state, the best first.
    pub conditions: Vec<Condition>,
    /// Per field, the share of its label's words that the question has.
    pub overlaps: Vec<f32>,
    /// Per field, the token at which its label first begins.
    pub label_at: Vec<Option<usize>>,
    /// Per token, whether it is a word of some label, or of a value.
    pub in_label: Vec<bool>,
    pub in_value: Vec<bool>,
}

impl Question {
    pub fn new(text: &str, known: &Known) -> Self {
        let tokens = tokens(text);
        let stems: Vec<&str> = tokens.iter().map(|token| token.stem.as_str()).collect();
        let joined = format!(" {} ", stems.join(" "));
        let begins = |opening: &&&str| joined.starts_with(&format!(" {opening} "));
        let within = |opening: &&&str| joined.contains(&format!(" {opening} "));
        let opening = OPENINGS.iter().find(begins).or_else(|| OPENINGS.iter().find(within)).copied().unwrap_or("other");
        let head = ["which", "what", "many", "much", "whose", "name", "the"]
            .iter()
            .find_map(|word| stems.iter().position(|stem| stem == word))
            .and_then(|at| stems.iter().skip(at + 1).find(|stem| !is_stop(stem)))
            .map_or(String::new(), |stem| (*stem).to_owned());
        let mut numbers = Vec::new();
        for (at, stem) in stems.iter().enumerate() {
            if let Ok(number) = stem.parse::<f64>()
                && number.is_finite()
            {
                numbers.push((number, at));
            } else if let Some(number) = NUMBERS.iter().position(|count| count == stem)
                && (*stem != "one" || at + 1 < stems.len())
            {
                numbers.push((f64::from(u8::try_from(number).unwrap_or(0)), at));
            } else if let Some(month) = MONTHS.iter().position(|month| month == stem) {
                numbers.push((f64::from(u8::try_from(month).unwrap_or(0)) + 1.0, at));
            }
        }
        let mut in_label = vec![false; tokens.len()];
        let (mut overlaps, mut label_at) = (Vec::new(), Vec::new());
        for field in &known.fields {
            let mut first = None;
            for (at, stem) in stems.iter().enumerate() {
                if !is_stop(stem) && field.label_words.iter().any(|word| alike(word, stem)) {
                    first = first.or(Some(at));
                    in_label.get_mut(at).into_iter().for_each(|within| *within = true);
                }
            }
            let words = field.label_words.iter().filter(|word| !is_stop(word));
            let (mut all, mut found) = (0.0, 0.0);
            for word in words {
                all += 1.0;
                found += f32::from(u8::from(stems.iter().any(|stem| alike(word, stem))));
            }
            overlaps.push(if all > 0.0 { found / all } else { 0.0 });
            label_at.push(first);
        }
        let conditions = conditions(text, &tokens, &numbers, known);
        let mut in_value = vec![false; tokens.len()];
        for condition in conditions.iter().filter(|condition| condition.names_value()) {
            for at in condition.span.clone() {
                in_value.get_mut(at).into_iter().for_each(|within| *within = true);
            }
        }
        Self { tokens, opening, head, numbers, conditions, overlaps, label_at, in_label, in_value }
    }

    /// Whether it has a word, as [`tokens`] stems it.
    pub fn has(&self, word: &str) -> bool {
        let word = stem(word);
        self.tokens.iter().any(|token| token.stem == word)
    }
}

/// Whether two stems are of one word, as `win` and `winner`, `nation` and `nationality`.
fn alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    short.len() >= 4 && long.len() <= short.len() + 4 && long.starts_with(short)
}
