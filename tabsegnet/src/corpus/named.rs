//! Tables of a ranking that are of something else than the question names.

use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_lexical::{names, tokenize};

/// Letters that two forms of a name share: Norway, Norwegian.
const SHARED: usize = 4;

/// Of each table whether it says nothing of what the question names with a capital and the title of another one names: of "Tesla's
/// revenue" the tables of other companies' reports, where there are tables of Tesla's. Their numbers look like answers.
pub(super) fn of_others(question: &str, tables: &[TableRecord]) -> Vec<bool> {
    let mut names: Vec<String> = names::of(question, None).iter().map(|name| name.to_lowercase()).collect();
    names.retain(|name| tables.iter().any(|table| tokenize(&table.title).contains(name)));
    let begin = |name: &String| name.chars().take(SHARED).collect::<String>();
    let begins: Vec<String> = names.iter().map(begin).collect();
    let says =
        |text: &str| tokenize(text).iter().any(|word| begins.iter().any(|begin| word.starts_with(begin.as_str())));
    let is_of_others = |table: &TableRecord| !begins.is_empty() && !texts(table).any(says);
    tables.iter().map(is_of_others).collect()
}

fn texts(table: &TableRecord) -> impl Iterator<Item = &str> {
    let beside = table.excerpt.iter().map(|excerpt| &excerpt.document);
    let over = [&table.title, &table.section, &table.caption].into_iter().chain(&table.column_headers);
    over.chain(table.rows.iter().flatten()).chain(beside).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_others_say_nothing_of_what_is_named() {
        let table = |title: &str, cell: &str| TableRecord {
            title: title.into(),
            rows: vec![vec![cell.into()]],
            ..TableRecord::default()
        };
        let of = |question: &str| {
            of_others(
                question,
                &[table("Tesla 10-K", "R&D"), table("Nike 10-K", "R&D"), table("Cars", "Tesla Model S")],
            )
        };
        assert_eq!(of("What was Tesla's R&D?"), [false, true, false]);
        assert_eq!(of("Did Tesla or Nike earn more?"), [false; 3]);
        assert_eq!(of("What was R&D?"), [false; 3]);
        assert_eq!(of("What was Adobe's R&D?"), [false; 3]);
        assert_eq!(
            of_others("Which is the longest Norwegian river?", &[table("Norwegian fish", ""), table("Norway", "")]),
            [false; 2]
        );
    }
}
