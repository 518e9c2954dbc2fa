//! What a question says is missing: "without an email", "not yet returned".

use std::ops::Range;

use crate::compose::labels::are_people;
use crate::linking::words::stem;
use crate::linking::{Linker, Mention, Words};
use crate::schema_graph::JoinOrigin;

/// What stands before a name of which there is no value.
const WITHOUT: [&str; 7] = ["without", "no", "missing", "lack", "lacks", "lacking", "unknown"];
const BETWEEN: [&str; 10] = ["a", "an", "any", "the", "their", "its", "known", "recorded", "given", "valid"];
/// What stands behind it, after "is".
const UNKNOWN: [&str; 6] = ["missing", "unknown", "null", "empty", "blank", "unset"];
const LINKED: [&str; 9] =
    ["belong", "linked", "assigned", "attached", "connected", "associated", "allocated", "related", "matched"];
const HAVE: [&str; 3] = ["have", "has", "had"];
const NOT: [&str; 4] = ["not", "never", "t", "yet"];
const BE: [&str; 6] = ["been", "be", "yet", "get", "got", "being"];

/// The columns of which a question says that there is no value, with the words that say so.
pub(super) fn missing_of(
    words: &Words,
    (columns, tables): (&[Mention], &[Mention]),
    names: &[Words],
    linker: &Linker<'_>,
) -> Vec<(usize, Range<usize>)> {
    let graph = linker.graph();
    // "Not linked to a campaign" is a missing reference to one.
    let mut named = columns.to_vec();
    for join in graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied) {
        if let ([(from, _)], Some(table)) = (join.pairs.as_slice(), tables.get(join.to)) {
            // "No employees" are none that refer to it, and no missing reference to one.
            let is_one = |&&(_, end): &&(usize, usize)| {
                let last = end.checked_sub(1).and_then(|at| words.words.get(at)).map_or("", |word| word.text.as_str());
                !last.ends_with('s') || last.ends_with("ss") || last.ends_with("us")
            };
            let own = role(words, names.get(*from));
            let of_table = table.spans.iter().filter(|_| join.from != join.to);
            let spans = of_table.chain(&own).filter(is_one).copied();
            named.get_mut(*from).into_iter().for_each(|mention| mention.spans.extend(spans.clone()));
        }
    }
    let mut found =
        missing(words, &named, |column| linker.values().has_nulls(column).then(|| linker.values().holds_dates(column)));
    let has_nulls = |column: &usize| linker.values().has_nulls(*column);
    // "Unpaid invoices" have no day on which they were paid.
    for column in (0..columns.len()).filter(has_nulls).filter(|column| linker.values().holds_dates(*column)) {
        let undone = names.get(column).and_then(|name| undone(words, name));
        found.extend(undone.map(|words| (column, words)));
    }
    // "Tickets with nobody assigned" have no reference to people.
    let is_said = |table: usize| tables.get(table).is_some_and(|mention| mention.coverage > 0.99);
    let to_people = graph.joins().iter().filter(|join| {
        join.origin != JoinOrigin::Implied && join.from != join.to && are_people(graph, join.to) && is_said(join.from)
    });
    let references: Vec<usize> = to_people.filter_map(|join| join.pairs.first()).map(|(from, _)| *from).collect();
    if let ([column], Some(nobody)) =
        (references.iter().filter(|of| has_nulls(of)).collect::<Vec<_>>().as_slice(), nobody(words))
    {
        found.push((**column, nobody));
    }
    found
}

/// Columns of which a question says that there is no value, with the words that say so. `nulls` says of a column that has
/// none in some rows whether it holds dates: "not returned" is a missing date of the return.
fn missing(question: &Words, columns: &[Mention], nulls: impl Fn(usize) -> Option<bool>) -> Vec<(usize, Range<usize>)> {
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
            // "Not in any gallery".
            let is_any = ["any", "a", "an"].contains(&named.map_or("", |at| word(at + 1)));
            if is_any && ["in", "on", "at"].contains(&before(0)) && NOT.contains(&before(1)) {
                return named.map(|at| at - 1..end);
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

/// Columns of days that a question says rows have, with the words that say so: "how many have cancelled", "who have left the
/// company". `is` says of a column whether it has days, and not in all rows.
pub(super) fn done<'q>(
    question: &'q Words,
    columns: &'q [Mention],
    is: impl Fn(usize) -> bool + 'q,
) -> impl Iterator<Item = (usize, Range<usize>)> + 'q {
    const BEFORE: [&str; 9] = ["have", "has", "had", "been", "were", "was", "are", "is", "already"];
    let word = |at: usize| question.words.get(at).map_or("", |word| word.text.as_str());
    let ends = move |at: usize| match question.len() - at {
        1 => true,
        2 => word(at + 1) == "already",
        3 => word(at + 1) == "the",
        _ => false,
    };
    let is_not = question.words.iter().any(|word| NOT.contains(&word.text.as_str()));
    let of = move |(column, mention): (usize, &Mention)| {
        let is_verb = |at: &usize| *at > 0 && BEFORE.contains(&word(at - 1)) && ends(*at);
        let at = mention.words.iter().copied().find(is_verb).filter(|_| !is_not && is(column))?;
        Some((column, at..at + 1))
    };
    columns.iter().enumerate().filter_map(of)
}

/// Where a question has what a reference is called without what only says that it is one: "no supervisor" of `supervisor_id`.
fn role(question: &Words, name: Option<&Words>) -> Option<(usize, usize)> {
    const OF_KEYS: [&str; 5] = ["id", "key", "code", "number", "no"];
    let stems = name?.stems();
    let role: Vec<String> = stems.into_iter().filter(|stem| !OF_KEYS.contains(&stem.as_str())).collect();
    let words = &question.words;
    let at = words.windows(role.len().max(1)).position(|window| window.iter().map(|word| &word.stem).eq(&role))?;
    Some((at, at + role.len()))
}

/// The word that says of what a column has the day of that it is not done: "unpaid" of `paid_on`, "unfilled" of `filled`.
fn undone(question: &Words, name: &Words) -> Option<Range<usize>> {
    let is_undone = |text: &str| {
        let done = text.strip_prefix("un").filter(|done| done.len() > 3);
        done.is_some_and(|done| name.words.first().is_some_and(|first| first.stem == stem(done)))
    };
    question.words.iter().position(|word| is_undone(&word.text)).map(|at| at..at + 1)
}

/// The words that say that nobody has something: "nobody assigned", "not given to anyone".
fn nobody(question: &Words) -> Option<Range<usize>> {
    const ANYONE: [&str; 4] = ["anyone", "anybody", "someone", "somebody"];
    let word = |at: usize| question.words.get(at).map_or("", |word| word.text.as_str());
    let all = question.words.len();
    let is_done = |at: usize| word(at).ends_with("ed") || word(at).ends_with("en");
    if let Some(at) = (0..all).find(|at| word(*at) == "nobody" || word(*at) == "no" && word(at + 1) == "one") {
        let behind = if word(at) == "no" { at + 2 } else { at + 1 };
        let start = if at > 0 && word(at - 1) == "with" { at - 1 } else { at };
        return (is_done(behind) && behind + 1 == all).then_some(start..all);
    }
    let anyone = (0..all).find(|at| ANYONE.contains(&word(*at)) && at + 1 == all)?;
    let not = (0..anyone).find(|at| NOT.contains(&word(*at)))?;
    let mut between = not + 1..anyone;
    let is_plain = between.all(|at| BE.contains(&word(at)) || is_done(at) || matches!(word(at), "to" | "by" | "with"));
    // "Haven't" is two words.
    let start = if word(not) == "t" { not.saturating_sub(1) } else { not };
    is_plain.then_some(start..all)
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
        assert_eq!(of("How many crew are not on any vessel?", (7, 8), false), Some(4..8));
        assert_eq!(of("Which players do not belong to a club?", (7, 8), false), Some(3..8));
        assert_eq!(of("Which films have an unknown budget?", (5, 6), false), Some(4..6));
        assert_eq!(of("Which loans have been returned?", (4, 5), true), None);
        assert_eq!(of("Which customers have an email?", (4, 5), false), None);
        assert_eq!(of("How many were not returned?", (4, 5), false), None);
    }

    #[test]
    fn what_is_done_has_a_day() {
        let of = |question: &str, at: usize| {
            let mention = Mention { words: vec![at], ..Mention::default() };
            done(&Words::of(question), &[mention], |_| true).next().map(|(_, words)| words)
        };
        assert_eq!(of("How many subscribers have cancelled?", 4), Some(4..5));
        assert_eq!(of("Which employees have left the company?", 3), Some(3..4));
        assert_eq!(of("How many invoices were paid late?", 4), None);
        assert_eq!(of("Which employees have not left the company?", 4), None);
    }
}
