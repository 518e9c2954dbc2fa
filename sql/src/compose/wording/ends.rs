//! The most and the least by an adjective or verb, where one column has what it means: the priciest dish is that with the highest price.

use std::ops::Range;

use super::attributes::attribute;
use super::phrase::Phrase;
use crate::compose::labels::are_people;

const MONEY: &[&str] = &["price", "cost", "fee", "fare", "amount", "rate"];
const SIZE: &[&str] = &["area", "hectar", "acr", "size", "sqm", "capac", "seat", "amount", "popul", "total"];
const PAY: &[&str] = &["salari", "wage", "pay", "incom"];

/// Adjectives, whether they mean the most, and of what.
#[rustfmt::skip]
const ENDS: [(&[&str], bool, &[&str]); 12] = [
    (&["priciest", "dearest", "costliest", "most expensive"], true, MONEY),
    (&["cheapest", "least expensive"], false, MONEY),
    (&["biggest", "largest"], true, SIZE),
    (&["smallest"], false, SIZE),
    (&["heaviest"], true, &["weight", "mass", "tonnag"]),
    (&["lightest"], false, &["weight", "mass", "tonnag"]),
    (&["tallest"], true, &["height"]),
    (&["longest"], true, &["length", "durat", "distanc", "runtim", "minut", "page"]),
    (&["shortest"], false, &["length", "durat", "distanc", "runtim", "minut", "height"]),
    (&["fastest"], true, &["speed"]),
    (&["best paid", "highest paid", "top paid"], true, PAY),
    (&["worst paid", "lowest paid"], false, PAY),
];

/// "The 3 best paid vacancies" as the 3 vacancies with the highest salary.
pub(super) fn end(phrase: &Phrase<'_, '_>) -> Option<String> {
    ENDS.into_iter().find_map(|(words, most, stems)| {
        let (adjective, things, table) = (0..phrase.len()).find_map(|at| {
            let length =
                words.iter().filter(|words| is_at(phrase, at, words)).map(|words| words.split(' ').count()).max()?;
            let (things, table) = things_at(phrase, at + length)?;
            Some((at..at + length, things, table))
        })?;
        let [column] = phrase.measures(&[table], stems)[..] else { return None };
        if is_said(phrase, table) {
            return None;
        }
        let (end, name) = (if most { "highest" } else { "lowest" }, phrase.column_name(column));
        let anew = format!("{} with the {end} {name}", phrase.written(things.clone()));
        phrase.with(&[(adjective.start..things.end, &anew)])
    })
}

/// "Who is the longest serving lawyer" as which was hired earliest.
pub(super) fn longest_serving(phrase: &Phrase<'_, '_>) -> Option<String> {
    const OPENING: [&str; 6] = ["who", "which", "what", "is", "are", "the"];
    let at = phrase.find(|at| phrase.word(at) == "longest" && matches!(phrase.word(at + 1), "serving" | "standing"))?;
    let (things, table) = phrase.table_at(at + 2)?;
    let [column] = phrase.days(table, &["hire", "start", "join", "employ"])[..] else { return None };
    let name = phrase.column_name(column);
    let done = name.split(' ').next().filter(|first| first.ends_with("ed"))?;
    let is_all = (0..at).all(|at| OPENING.contains(&phrase.word(at))) && things.end == phrase.len();
    let anew = format!("Which {} was {done} earliest", phrase.written(things));
    if is_all { phrase.with(&[(0..phrase.len(), &anew)]) } else { None }
}

/// "Who earns the most" as with the highest salary.
pub(super) fn most_of_verb(phrase: &Phrase<'_, '_>) -> Option<String> {
    let at = phrase.find(|at| {
        matches!(phrase.word(at + 2), "most" | "least") && phrase.word(at + 1) == "the" && at + 3 == phrase.len()
    })?;
    let stems = attribute(phrase.word(at)).filter(|_| !phrase.is_name(at))?;
    let tables: Vec<usize> = (0..at).filter_map(|at| phrase.table_at(at)).map(|(_, table)| table).collect();
    let table = match tables[..] {
        [table] => table,
        _ => return None,
    };
    let [column] = phrase.measures(&[table], stems)[..] else { return None };
    let end = if phrase.word(at + 2) == "most" { "highest" } else { "lowest" };
    let is_person = are_people(phrase.graph(), table);
    let has = if is_person || phrase.word(at).ends_with('s') { "has" } else { "have" };
    phrase.with(&[(at..at + 3, &format!("{has} the {end} {}", phrase.column_name(column)))])
}

fn is_at(phrase: &Phrase<'_, '_>, at: usize, words: &str) -> bool {
    words.split(' ').zip(at..).all(|(word, at)| phrase.word(at) == word)
}

/// The things that stand at a word: a table's name, or a value that says what kind of its rows.
fn things_at(phrase: &Phrase<'_, '_>, at: usize) -> Option<(Range<usize>, usize)> {
    let found = phrase.table_at(at).or_else(|| {
        let (words, columns) = phrase.value_at(at)?;
        if let [column] = columns[..] { Some((words, phrase.table_of(column)?)) } else { None }
    });
    // "Staff members" and "first class tickets" are said in more words.
    let ends =
        |words: &Range<usize>| phrase.words.words.get(words.end).is_none_or(|next| next.is_stop || next.text == "per");
    found.filter(|(words, _)| ends(words))
}

/// Whether the question names a measure of a table already.
fn is_said(phrase: &Phrase<'_, '_>, table: usize) -> bool {
    let columns = phrase.graph().tables().get(table).map(|node| node.columns.clone()).unwrap_or_default();
    let own = phrase
        .graph()
        .tables()
        .get(table)
        .map(|node| crate::linking::Words::of_name(node.own_name()).stems())
        .unwrap_or_default();
    let has = |column: usize| {
        let stems = phrase.column_stems(column);
        stems.iter().filter(|stem| !own.contains(stem)).any(|stem| phrase.words.has(stem))
    };
    columns.into_iter().filter(|column| phrase.is_measure(*column)).any(has)
}
