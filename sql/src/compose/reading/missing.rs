//! What a question says is missing: "without an email", "not yet returned".

use std::ops::Range;

use crate::linking::{Mention, Words};

/// What stands before a name of which there is no value.
const WITHOUT: [&str; 6] = ["without", "no", "missing", "lack", "lacks", "lacking"];
const BETWEEN: [&str; 10] = ["a", "an", "any", "the", "their", "its", "known", "recorded", "given", "valid"];
/// What stands behind it, after "is".
const UNKNOWN: [&str; 6] = ["missing", "unknown", "null", "empty", "blank", "unset"];
const LINKED: [&str; 8] =
    ["linked", "assigned", "attached", "connected", "associated", "allocated", "related", "matched"];
const HAVE: [&str; 3] = ["have", "has", "had"];
const NOT: [&str; 4] = ["not", "never", "t", "yet"];
const BE: [&str; 6] = ["been", "be", "yet", "get", "got", "being"];

/// Columns of which a question says that there is no value, with the words that say so. `nulls` says of a column that has
/// none in some rows whether it holds dates: "not returned" is a missing date of the return.
pub(super) fn missing(
    question: &Words,
    columns: &[Mention],
    nulls: impl Fn(usize) -> Option<bool>,
) -> Vec<(usize, Range<usize>)> {
    let word = |at: usize| question.words.get(at).map_or("", |word| word.text.as_str());
    let mut found = Vec::new();
    for (column, mention) in columns.iter().enumerate() {
        let Some(is_date) = nulls(column) else { continue };
        let spans = mention.spans.iter().filter_map(|&(start, end)| {
            let named = (0..start).rev().find(|at| !BETWEEN.contains(&word(*at)));
            if let Some(cue) = named.filter(|at| WITHOUT.contains(&word(*at))) {
                return Some(cue..end);
            }
            // "Don't have a phone".
            let says_not = |at: usize| at.checked_sub(1).is_some_and(|before| NOT.contains(&word(before)));
            if let Some(have) = named.filter(|at| HAVE.contains(&word(*at)) && says_not(*at)) {
                return Some(have.saturating_sub(2)..end);
            }
            // "Not linked to any campaign".
            let before = |back: usize| named.and_then(|at| at.checked_sub(back)).map_or("", word);
            if before(0) == "to" && LINKED.contains(&before(1)) && NOT.contains(&before(2)) {
                return named.map(|at| at - 2..end);
            }
            let is = matches!(word(end), "is" | "are" | "was" | "were");
            (is && UNKNOWN.contains(&word(end + 1))).then(|| start..end + 2)
        });
        let undone = mention.words.iter().filter(|_| is_date).filter_map(|&at| {
            let cue = (0..at).rev().find(|at| !BE.contains(&word(*at)) || word(*at) == "yet")?;
            let is_verb = word(at).ends_with("ed") || word(at).ends_with("en") || word(at).ends_with("id");
            let cue = if word(cue) == "yet" && cue > 0 && NOT.contains(&word(cue - 1)) { cue - 1 } else { cue };
            (is_verb && NOT.contains(&word(cue))).then(|| cue..at + 1)
        });
        found.extend(spans.chain(undone).next().map(|words| (column, words)));
    }
    found
}

/// The words that say that of something a column counts there is nothing left: "out of stock", but not "4 out of 5 stars".
pub(super) fn used_up(question: &Words, mention: &Mention) -> Option<Range<usize>> {
    let word = |at: usize| question.words.get(at).map_or("", |word| word.text.as_str());
    let before = |at: usize, back: usize| at.checked_sub(back).map_or("", word);
    let is_used_up = |at: &&usize| {
        let is_share = before(**at, 3).contains(|c: char| c.is_ascii_digit());
        (before(**at, 2), before(**at, 1)) == ("out", "of") && !is_share
    };
    mention.words.iter().find(is_used_up).map(|&at| at - 2..at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_found() {
        let of = |question: &str, (start, end): (usize, usize), is_date: bool| {
            let mention = Mention {
                words: (start..end).collect(),
                spans: vec![(start, end)],
                coverage: 1.0,
                ..Mention::default()
            };
            missing(&Words::of(question), &[mention], |_| Some(is_date)).pop().map(|(_, words)| words)
        };
        assert_eq!(of("How many customers without an email?", (5, 6), false), Some(3..6));
        assert_eq!(of("Which customers have no phone number?", (4, 6), false), Some(3..6));
        assert_eq!(of("List orders whose ship date is unknown", (3, 5), true), Some(3..7));
        assert_eq!(of("Which loans have not yet been returned?", (6, 7), true), Some(3..7));
        assert_eq!(of("Which loans haven't been returned?", (5, 6), true), Some(3..6));
        assert_eq!(of("Which gifts are not linked to a campaign?", (7, 8), false), Some(3..8));
        assert_eq!(of("Which loans have been returned?", (4, 5), true), None);
        assert_eq!(of("Which customers have an email?", (4, 5), false), None);
        assert_eq!(of("How many were not returned?", (4, 5), false), None);
    }
}
