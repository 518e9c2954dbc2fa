//! What one thing has, wanted by a verb or an adjective: "how big is Cold Acre", "what does Rosa Delgado charge".

use std::ops::Range;

use super::phrase::Phrase;

/// By an adjective or verb the stems of columns that have what it asks for, the likeliest first.
#[rustfmt::skip]
const ATTRIBUTES: [(&[&str], &[&str]); 12] = [
    (&["big", "large", "small"], &["area", "hectar", "acr", "size", "sqm", "popul", "capac"]),
    (&["old"], &["age"]),
    (&["tall", "high"], &["height", "elev", "altitud"]),
    (&["heavy", "weigh"], &["weight", "mass", "tonnag"]),
    (&["long"], &["length", "durat", "distanc", "runtim", "minut"]),
    (&["far"], &["distanc"]),
    (&["deep"], &["depth"]),
    (&["wide"], &["width"]),
    (&["fast"], &["speed"]),
    (&["expensive", "cheap", "cost"], &["price", "cost", "fee", "fare", "rate"]),
    (&["charge"], &["rate", "fee", "price", "charg"]),
    (&["earn", "make", "paid"], &["salari", "wage", "pay", "incom"]),
];

pub(in crate::compose) fn attribute(word: &str) -> Option<&'static [&'static str]> {
    let plain = word.strip_suffix('s').unwrap_or(word);
    ATTRIBUTES.iter().find(|(words, _)| words.contains(&word) || words.contains(&plain)).map(|(_, stems)| *stems)
}

/// As "what is the area of Cold Acre".
pub(super) fn of_one(phrase: &Phrase<'_, '_>) -> Option<String> {
    const DOES: [&str; 6] = ["does", "do", "did", "is", "are", "was"];
    let (verb, thing) = match (phrase.word(0), phrase.word(1), phrase.word(2)) {
        ("how", "much", does) if DOES.contains(&does) => ends_in_verb(phrase, 3)?,
        ("what", does, _) if DOES[..3].contains(&does) => ends_in_verb(phrase, 2)?,
        ("how", _, be) if DOES[3..].contains(&be) => (1, of_values(phrase, 3)?),
        _ => return None,
    };
    let stems = attribute(phrase.word(verb))?;
    let (_, columns) = phrase.value_at(thing.start)?;
    let tables: Vec<usize> = columns.iter().filter_map(|column| phrase.table_of(*column)).collect();
    let [column] = phrase.measures(&tables, stems)[..] else { return None };
    // What is said behind it, "per hour", has to be in the column's name.
    let behind = verb.max(thing.end.saturating_sub(1)) + 1..phrase.len();
    let own = phrase.column_stems(column);
    let is_own = |at: usize| {
        phrase.word(at) == "per" || own.iter().any(|stem| crate::linking::alike(stem, phrase.stem(at)) > 0.5)
    };
    if !behind.clone().all(is_own) {
        return None;
    }
    let name = phrase.column_name(column);
    phrase.with(&[(0..phrase.len(), &format!("What is the {name} of {}", phrase.written(thing)))])
}

/// Values from a word on to a verb: "does Rosa Delgado charge".
fn ends_in_verb(phrase: &Phrase<'_, '_>, start: usize) -> Option<(usize, Range<usize>)> {
    let values = of_values(phrase, start)?;
    Some((values.end, values))
}

/// The values that stand one behind the other from a word on, an article before them.
fn of_values(phrase: &Phrase<'_, '_>, start: usize) -> Option<Range<usize>> {
    let start =
        if matches!(phrase.word(start), "the" | "a" | "an") && !phrase.is_value(start) { start + 1 } else { start };
    let mut end = start;
    while let Some((words, _)) = phrase.value_at(end) {
        end = words.end;
    }
    (end > start).then_some(start..end)
}
