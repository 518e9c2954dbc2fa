//! Words put in the order that published questions have.

use super::phrase::Phrase;
use crate::compose::reading::periods;
use crate::derived::PLANNED;

/// "March 2024 bookings" as bookings in March 2024.
pub(super) fn spans_behind(phrase: &Phrase<'_, '_>) -> Option<String> {
    const BEFORE: [&str; 14] =
        ["in", "of", "on", "before", "after", "since", "during", "until", "between", "and", "from", "to", "for", "by"];
    periods(&phrase.words).into_iter().find_map(|period| {
        let span = period.words;
        let (table, _) = phrase.table_at(span.end)?;
        let is_free = !BEFORE.contains(&phrase.before(span.start)) && !(span.clone()).any(|at| phrase.is_value(at));
        let behind = format!("{} in {}", phrase.written(table.clone()), phrase.written(span.clone()));
        if is_free { phrase.with(&[(span.start..table.end, &behind)]) } else { None }
    })
}

/// "Later than planned" as late.
pub(super) fn late(phrase: &Phrase<'_, '_>) -> Option<String> {
    let at = phrase.find(|at| phrase.word(at) == "later" && phrase.word(at + 1) == "than")?;
    if PLANNED.contains(&phrase.word(at + 2)) { phrase.with(&[(at..at + 3, "late")]) } else { None }
}

/// "Got cancelled" as were cancelled.
pub(super) fn done(phrase: &Phrase<'_, '_>) -> Option<String> {
    const DONE: [&str; 8] = ["lost", "sold", "paid", "sent", "built", "hurt", "made", "held"];
    let is_done = |at: usize| {
        let word = phrase.word(at);
        word.len() > 3 && (word.ends_with("ed") || word.ends_with("en") || DONE.contains(&word))
    };
    let at = phrase.find(|at| phrase.word(at) == "got" && is_done(at + 1))?;
    phrase.with(&[(at..at + 1, "were")])
}

/// "How many tickets in each status" as for each, and "how many work at each shop" too.
pub(super) fn for_each(phrase: &Phrase<'_, '_>) -> Option<String> {
    const BE: [&str; 10] = ["work", "works", "working", "live", "are", "is", "there", "belong", "employed", "based"];
    const NUMBERS: [&str; 5] = ["how", "number", "total", "average", "count"];
    if !NUMBERS.contains(&phrase.word(0)) {
        return None;
    }
    let at = phrase.find(|at| matches!(phrase.word(at), "in" | "at") && phrase.word(at + 1) == "each")?;
    phrase.table_at(at + 2)?;
    let start = (0..at).rev().take_while(|at| BE.contains(&phrase.word(*at)) && !phrase.is_name(*at)).last();
    phrase.with(&[(start.unwrap_or(at)..at + 1, "for")])
}

/// "VIPs in finance" as VIP users in finance: what a column of yes and no says of rows stands for them where nothing names them.
pub(super) fn of_flag(phrase: &Phrase<'_, '_>) -> Option<String> {
    let table = phrase.table_of(phrase.flag_at(0)?)?;
    if phrase.is_value(0) || (0..phrase.len()).any(|at| phrase.table_at(at).is_some()) {
        return None;
    }
    let of = if phrase.value_at(1).is_some() { " in" } else { "" };
    let name = phrase.table_name(table);
    phrase.with(&[(0..1, &format!("{} {name}{of}", phrase.written(0..1).trim_end_matches('s')))])
}
