//! A question in other words: what people say every day is put as published questions have it, from which the models learn. Who works
//! in the London office are the lawyers there, kilos are what a column of weights in kg has, and what nobody planted is without plantings.
//!
//! Each rule looks at the words, the schema's names and the values that were found, and says the question anew, or leaves it. Nothing
//! is put in other words that one name or value of the schema does not bear out.

mod absence;
mod attributes;
mod ends;
mod measures;
mod order;
mod people;
mod phrase;
mod speech;

pub(super) use attributes::attribute;
pub(super) use phrase::Phrase;

use crate::linking::Linker;

/// Says a question anew, or leaves it.
type Rule = fn(&Phrase<'_, '_>) -> Option<String>;

/// In their order: later ones read what earlier ones say.
const RULES: [Rule; 19] = [
    speech::in_full,
    speech::halves,
    speech::without_speaker,
    speech::without_ever,
    order::late,
    order::spans_behind,
    order::done,
    order::for_each,
    order::of_flag,
    absence::without,
    measures::units,
    measures::much,
    measures::takings,
    attributes::of_one,
    people::who,
    people::people,
    ends::longest_serving,
    ends::most_of_verb,
    ends::end,
];

/// The question as the models know it.
pub(super) fn plain(question: &str, linker: &Linker<'_>) -> String {
    let mut text = question.to_owned();
    for rule in RULES.into_iter().chain([speech::having as Rule]) {
        let Some(next) = Phrase::new(&text, linker).and_then(|phrase| rule(&phrase)) else { continue };
        text = next;
    }
    text
}
