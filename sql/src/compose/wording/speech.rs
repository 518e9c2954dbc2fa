//! What speakers say of themselves, and words that only carry others.

use super::phrase::Phrase;
use crate::compose::reading::{SCALES, number_of};

/// "What's" as "what is".
pub(super) fn in_full(phrase: &Phrase<'_, '_>) -> Option<String> {
    const ASK: [&str; 6] = ["what", "who", "where", "when", "how", "which"];
    let first = phrase.word(0).to_owned();
    let is_short = ASK.contains(&first.as_str()) && phrase.word(1) == "s";
    if is_short { phrase.with(&[(0..2, &format!("{} is", phrase.written(0..1)))]) } else { None }
}

/// "Half a million" as 500 thousand, "two and a half" as 2.5.
pub(super) fn halves(phrase: &Phrase<'_, '_>) -> Option<String> {
    let half = phrase.find(|at| phrase.word(at) == "half")?;
    if phrase.word(half + 1) == "a" {
        let (_, scale) = SCALES.iter().find(|(name, _)| *name == phrase.word(half + 2))?;
        return phrase.with(&[(half..half + 3, &format!("{}", scale / 2.0))]);
    }
    let number = half.checked_sub(3).filter(|_| phrase.before(half) == "a" && phrase.word(half - 2) == "and")?;
    let whole = number_of(phrase.word(number))?;
    phrase.with(&[(number..half + 1, &format!("{}", whole + 0.5))])
}

/// "Our products" as the products, "booked with us" as booked.
pub(super) fn without_speaker(phrase: &Phrase<'_, '_>) -> Option<String> {
    const OURS: [&str; 2] = ["our", "your"];
    const TOWARDS: [&str; 5] = ["with", "to", "for", "from", "by"];
    let mut edits = Vec::new();
    for at in 0..phrase.len() {
        if OURS.contains(&phrase.word(at)) && !phrase.is_value(at) && !phrase.is_name(at) {
            edits.push((at..at + 1, "the"));
        }
        // "US" is a country.
        if phrase.written(at..at + 1) == "us" && at > 0 && !phrase.is_value(at) && phrase.before(at) != "show" {
            let start = if TOWARDS.contains(&phrase.before(at)) { at - 1 } else { at };
            edits.push((start..at + 1, ""));
        }
    }
    if edits.is_empty() { None } else { phrase.with(&edits) }
}

/// "The biggest we ever sent" as the biggest, "who have ever won" as who have won.
pub(super) fn without_ever(phrase: &Phrase<'_, '_>) -> Option<String> {
    let at = phrase.find(|at| phrase.word(at) == "ever" && !phrase.is_value(at))?;
    let is_all = phrase.before(at) == "we" && at + 2 == phrase.len() && !phrase.is_name(at + 1);
    phrase.with(&[(if is_all { at - 1..at + 2 } else { at..at + 1 }, "")])
}

/// "Dishes that contain garlic" as those that have it, where it is a value.
pub(super) fn having(phrase: &Phrase<'_, '_>) -> Option<String> {
    const VERBS: [&str; 12] = [
        "contain", "contains", "containing", "include", "includes", "including", "use", "uses", "using", "know",
        "knows", "own",
    ];
    let is_verb =
        |at: usize| VERBS.contains(&phrase.word(at)) && !phrase.is_name(at) && phrase.value_at(at + 1).is_some();
    let at = phrase.find(is_verb)?;
    let have = if phrase.word(at).ends_with("ing") { "with" } else { "have" };
    phrase.with(&[(at..at + 1, have)])
}
