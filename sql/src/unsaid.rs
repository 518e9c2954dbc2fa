//! What a question says and a statement does not: a name that the database has nowhere.

use std::collections::HashSet;

use crate::linking::words::{parted, stem};
use crate::schema_graph::SchemaGraph;

/// Words of a question that name something, are in no statement for it and in no name of the schema: those in quotes, those with a
/// capital that do not begin it, and what "how many" counts. A statement that leaves one out answers another question.
fn unsaid(question: &str, sql: &str, graph: &SchemaGraph) -> Vec<String> {
    let stems = |text: &str| words(&text.to_lowercase()).into_iter().map(|word| stem(&word)).collect::<Vec<String>>();
    let mut known: HashSet<String> = stems(sql).into_iter().collect();
    let of_columns = graph.columns().iter().flat_map(|column| [&column.name].into_iter().chain(&column.names));
    let of_tables = graph.tables().iter().flat_map(|table| [&table.name].into_iter().chain(&table.names));
    for name in of_columns.chain(of_tables) {
        known.extend(stems(&parted(name)));
    }
    let mut found: Vec<String> = Vec::new();
    for word in named(question) {
        let wanted = stem(&word.to_lowercase());
        let is_known = known.iter().any(|known| {
            let (short, long) = if known.len() < wanted.len() { (known, &wanted) } else { (&wanted, known) };
            // Words of one root, as "Italian" and "Italy", and words within others, as in names without a break.
            short == long || short.len() >= 4 && long.contains(short.as_str()) || common(short, long) >= ROOT
        });
        if !is_known && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// The same as notes on the statement, in sentences.
pub(crate) fn notes(question: &str, sql: &str, graph: &SchemaGraph) -> Vec<String> {
    let note = |word: String| {
        format!("\"{word}\" of the question is in no name and in no value that was found; the statement leaves it out")
    };
    unsaid(question, sql, graph).into_iter().map(note).collect()
}

/// Letters at the beginning that words of one root share.
const ROOT: usize = 4;

fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The words of a question that name something.
fn named(question: &str) -> Vec<String> {
    let mut found = Vec::new();
    let quoted = question.split(['"', '\u{201c}', '\u{201d}']).enumerate().filter(|(part, _)| part % 2 == 1);
    quoted.for_each(|(_, text)| found.extend(words(text)));
    let all = words(question);
    let is_word = |word: &String| word.chars().all(char::is_alphabetic) && word.chars().count() >= 3;
    let capital = |word: &&String| word.starts_with(char::is_uppercase) && word.chars().any(char::is_lowercase);
    // In a question in capitals they say nothing.
    let many = all.iter().filter(capital).count() * 2 > all.len();
    if !many {
        found.extend(all.iter().skip(1).filter(capital).filter(|word| is_word(word)).cloned());
    }
    let counted = all.windows(3).filter(|three| {
        three[0].eq_ignore_ascii_case("how") && three[1].eq_ignore_ascii_case("many") && is_word(&three[2])
    });
    // "How many different dogs": the word after it need not be what is counted.
    found.extend(counted.map(|three| three[2].clone()).filter(|word| word.to_lowercase().ends_with('s')));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::schema_graph::{Semantics, SqlDialect};

    #[test]
    fn what_a_statement_leaves_out_is_told() {
        let text = "CREATE TABLE Dogs (dog_id INT PRIMARY KEY, name TEXT, breedCode TEXT); CREATE TABLE flight (city TEXT, price INT)";
        let (schema, _) = Schema::from_ddl(text, SqlDialect::Generic).unwrap();
        let graph = SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap();
        let of = |question: &str, sql: &str| unsaid(question, sql, &graph);
        let count = "SELECT count(*) FROM \"Dogs\"";
        assert_eq!(of("How many unicorns are there?", count), ["unicorns"]);
        for known in
            ["How many dogs are there?", "How many breeds are there?", "How many different dogs?", "HOW MANY DOGS?"]
        {
            assert_eq!(of(known, count), Vec::<String>::new(), "{known}");
        }
        let price = "SELECT avg(price) FROM flight";
        assert_eq!(of("What is the average price for Zanzibar?", price), ["Zanzibar"]);
        assert_eq!(of("What is the price of \"zoe\"?", price), ["zoe"]);
        let there = "SELECT avg(price) FROM flight WHERE city = 'Zanzibar'";
        assert_eq!(of("What is the average Price for Zanzibar?", there), Vec::<String>::new());
        assert_eq!(of("Flights of Italians?", "SELECT * FROM flight WHERE city = 'Italy'"), Vec::<String>::new());
    }
}
