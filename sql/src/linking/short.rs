//! Words that a schema writes short in its own way: the students of a table `stud`, the rooms of `rm`.

use std::collections::BTreeSet;

use super::words::{SHORT, Words, parted};
use crate::schema_graph::SchemaGraph;

/// Letters at least of what is the beginning of a word, and of what is that of its consonants.
const BEGINNING: usize = 4;
const CONSONANTS: usize = 3;

/// The words of a schema's names as they are written, in lower case.
pub(super) fn written(graph: &SchemaGraph) -> BTreeSet<String> {
    let tables = graph.tables().iter().map(|table| table.own_name());
    let names = tables.chain(graph.columns().iter().map(|column| column.name.as_str()));
    // What is usually written short in one way is no other word's.
    let words = names.flat_map(|name| tabsegnet_lexical::tokenize(&parted(name)));
    words.filter(|word| SHORT.iter().all(|(short, _)| short != word)).collect()
}

/// A question with the words that one word of a schema alone writes short as it has them; of those that are `known` each stays.
pub(super) fn as_written(question: &str, written: &BTreeSet<String>, known: impl Fn(&str, &str) -> bool) -> String {
    let mut read = String::with_capacity(question.len());
    let mut rest = question;
    while let Some(start) = rest.find(char::is_alphabetic) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len()));
        read += before;
        let is_plain = Words::of(word).words.first().is_none_or(|of| of.is_stop || known(&of.text, &of.stem));
        read += short_for(&word.to_lowercase(), written).filter(|_| !is_plain).unwrap_or(word);
        rest = after;
    }
    read + rest
}

/// The one word that writes another short: by its beginning or its consonants, else by some of these.
fn short_for<'w>(word: &str, written: &'w BTreeSet<String>) -> Option<&'w str> {
    let all = |by_some: bool| written.iter().filter(|short| is_short(short, word, by_some)).collect::<Vec<_>>();
    let found = Some(all(false)).filter(|found| !found.is_empty()).unwrap_or_else(|| all(true));
    if let [short] = found[..] { Some(short) } else { None }
}

fn is_short(short: &str, word: &str, by_some: bool) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let is_less = short.len() + 1 < word.len() && short.chars().all(|c| c.is_ascii_lowercase());
    let has_no_vowels = consonants(short) == short && short.len() > 1;
    let is_of = |word: &str| {
        let consonants = consonants(word);
        match by_some {
            // `mbr` is a member.
            true => {
                short.len() >= CONSONANTS
                    && consonants.chars().last() == short.chars().last()
                    && is_within(short, &consonants)
            }
            false => consonants == short || short.len() >= CONSONANTS && consonants.starts_with(short),
        }
    };
    let begins = !by_some && short.len() >= BEGINNING && word.starts_with(short);
    is_less && (begins || has_no_vowels && (is_of(word) || is_of(singular)))
}

/// Whether letters stand in a word in their order.
fn is_within(letters: &str, word: &str) -> bool {
    let mut of_word = word.chars();
    letters.chars().all(|letter| of_word.any(|other| other == letter)) && letters.chars().next() == word.chars().next()
}

/// The first letter and all consonants behind it.
fn consonants(word: &str) -> String {
    let is_consonant = |(at, c): &(usize, char)| *at == 0 || !"aeiou".contains(*c);
    word.chars().enumerate().filter(is_consonant).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_the_schema_writes_them() {
        let written: BTreeSet<String> =
            ["mbr", "vlg", "stud", "rm", "crs", "bdgt", "cntry", "name", "st", "port"].map(str::to_owned).into();
        let read = |question: &str| as_written(question, &written, |_, stem| stem == "portfolio" || stem == "start");
        assert_eq!(read("How many students are in Course rooms?"), "How many stud are in crs rm?");
        assert_eq!(read("The budget per country, please"), "The bdgt per cntry, please");
        assert_eq!(read("members of villages"), "mbr of vlg");
        // Which has all of a word's consonants goes before one that has some.
        let both: BTreeSet<String> = ["crs", "crdts"].map(str::to_owned).into();
        assert_eq!(as_written("credits of courses", &both, |_, _| false), "crdts of crs");
        // What is known, what says nothing, and what two words may be short for.
        assert_eq!(read("portfolio at the start of names"), "portfolio at the start of names");
        let two: BTreeSet<String> = ["stud", "stdnt"].map(str::to_owned).into();
        assert_eq!(as_written("students", &two, |_, _| false), "students");
    }
}
