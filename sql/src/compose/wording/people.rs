//! "Who" and "people" as the table that has them.

use super::phrase::Phrase;
use crate::compose::labels::{are_people, names_of};

/// People may be any number of joins away from what is said of them.
const ANY: usize = usize::MAX;

/// The people whom the question is about, where it does not say what they are.
fn meant(phrase: &Phrase<'_, '_>) -> Option<usize> {
    let people: Vec<usize> =
        (0..phrase.graph().tables().len()).filter(|table| are_people(phrase.graph(), *table)).collect();
    let is_said = (0..phrase.len()).filter_map(|at| phrase.table_at(at)).any(|(_, table)| people.contains(&table));
    // Nor by their names.
    let is_named = |table: usize| {
        let names = names_of(phrase.graph(), table);
        (0..phrase.len())
            .filter_map(|at| phrase.value_at(at))
            .any(|(_, of)| of.iter().all(|column| names.contains(column)))
    };
    let found = phrase.nearest(&people, &phrase.named_tables(), ANY).filter(|_| !is_said)?;
    (!is_named(found)).then_some(found)
}

/// "Who knows Python" as which candidates know it.
pub(super) fn who(phrase: &Phrase<'_, '_>) -> Option<String> {
    const BE: [&str; 4] = ["is", "are", "was", "were"];
    if phrase.word(0) != "who" || BE.contains(&phrase.word(1)) && matches!(phrase.word(2), "the" | "a" | "an") {
        return None;
    }
    let name = phrase.table_name(meant(phrase)?);
    phrase.with(&[(0..1, &format!("Which {name}"))])
}

/// "How many people work at each restaurant" as how many employees.
pub(super) fn people(phrase: &Phrase<'_, '_>) -> Option<String> {
    // "Room for 5 people" is of a size.
    let is_said = |at: usize| {
        let is_amount = phrase.before(at).parse::<f64>().is_ok();
        matches!(phrase.word(at), "people" | "persons") && !is_amount && !phrase.is_name(at) && !phrase.is_value(at)
    };
    let at = phrase.find(is_said)?;
    let name = phrase.table_name(meant(phrase)?);
    phrase.with(&[(at..at + 1, &name)])
}
