//! Tables of a ranking that are of something else than the question names.

use rayon::prelude::*;
use tabsegnet_datasets::tables::TableRecord;
use tabsegnet_lexical::names::Named;

use crate::corpus::{Corpus, Hit};
use crate::error::CorpusError;

/// Of each table whether it says nothing of what the question names with a capital and the title of another one names: of "Tesla's
/// revenue" the tables of other companies' reports, where there are tables of Tesla's. Their numbers look like answers.
pub fn of_others(question: &str, tables: &[TableRecord]) -> Vec<bool> {
    let named = Named::of(question).in_titles(tables.iter().map(|table| table.title.as_str()));
    let is_of_others = |table: &TableRecord| !named.is_empty() && !texts(table).any(|text| named.is_said_in(text));
    tables.par_iter().map(is_of_others).collect()
}

/// Puts the tables that are [`of_others`] behind all others, their scores lowered by as much as that takes.
pub(crate) fn behind(corpus: &Corpus, question: &str, mut hits: Vec<Hit>) -> Result<Vec<Hit>, CorpusError> {
    if Named::of(question).is_empty() {
        return Ok(hits);
    }
    let tables = hits.par_iter().map(|hit| corpus.table(hit.table)).collect::<Result<Vec<TableRecord>, _>>()?;
    let of_others = of_others(question, &tables);
    let span = hits.first().zip(hits.last()).map_or(0.0, |(first, last)| first.score - last.score);
    hits.iter_mut().zip(of_others).filter(|(_, is)| *is).for_each(|(hit, _)| hit.score -= span + 1.0);
    hits.sort_by(|a, b| corpus.order(a, b));
    Ok(hits)
}

fn texts(table: &TableRecord) -> impl Iterator<Item = &str> {
    let beside = table.excerpt.iter().map(|excerpt| &excerpt.document);
    let over = [&table.title, &table.section, &table.caption].into_iter().chain(&table.column_headers);
    over.chain(table.rows.iter().flatten()).chain(beside).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::TableRef;
    use crate::testing::corpus_of;

    #[test]
    fn regression_tables_of_others_stand_behind_those_of_what_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let record = |id: &str, title: &str| {
            serde_json::json!({"id": id, "title": title, "header": ["", "2024"], "rows": [["Net income", "7"]]})
                .to_string()
        };
        let titles = [("a", "Tesla 10-K"), ("b", "Nike 10-K"), ("c", "Adobe 10-K")];
        let corpus = corpus_of(directory.path(), &titles.map(|(id, title)| record(id, title)));
        let hits: Vec<Hit> =
            (0..3).map(|table| Hit { table: TableRef { segment: 0, table }, score: 3.0 - table as f32 }).collect();
        let of = |question: &str| {
            let ranked = behind(&corpus, question, hits.clone()).unwrap();
            assert!(ranked.windows(2).all(|pair| pair[0].score >= pair[1].score), "{ranked:?}");
            ranked.iter().map(|hit| corpus.id(hit.table).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("What was Nike's net income?"), ["b", "a", "c"]);
        assert_eq!(of("What was net income?"), ["a", "b", "c"]);
        assert_eq!(of("What was Oracle's net income?"), ["a", "b", "c"]);
        assert!(behind(&corpus, "What was Nike's net income?", Vec::new()).unwrap().is_empty());
    }

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
