//! Links between the candidates for a question alone: rows lead to texts whose titles have a cell as a part of them, such as
//! "Evansville" to "Evansville, Indiana". Over all chunks that would be too many.

use std::collections::HashMap;

use crate::links::{Links, MOST_OF_ROW, Row};

/// Titles among the candidates that have a cell as their part, at most: what more have names none of them.
const MOST_TITLES: usize = 20;

/// Such links, beside those of [`Links`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PartialLinks {
    rows_of: HashMap<usize, Vec<Row>>,
    texts_of: HashMap<Row, Vec<u32>>,
    /// Of each text the terms, each once, of the headers over these cells.
    headers_of: HashMap<usize, Vec<String>>,
}

impl PartialLinks {
    /// Between `chunks`.
    pub fn new(links: &Links, chunks: &[usize]) -> Self {
        let words = |chunk: usize| links.words.get(chunk);
        let mut cells: HashMap<u32, Vec<(Row, u32)>> = HashMap::new();
        for &chunk in chunks {
            for &(cell, row, column) in words(chunk).into_iter().flat_map(|words| &words.cells) {
                cells.entry(cell).or_default().push((Row { chunk: chunk as u32, row }, column));
            }
        }
        let mut titles: HashMap<u32, Vec<usize>> = HashMap::new();
        for &chunk in chunks {
            let runs = words(chunk).into_iter().flat_map(|words| &words.title_runs);
            runs.filter(|run| cells.contains_key(run)).for_each(|run| titles.entry(*run).or_default().push(chunk));
        }
        titles.retain(|_, texts| texts.len() <= MOST_TITLES);
        let mut found: Vec<(usize, Row, u32)> = Vec::new();
        for (run, texts) in &titles {
            let named =
                |(row, column): &(Row, u32)| texts.iter().map(|text| (*text, *row, *column)).collect::<Vec<_>>();
            found.extend(cells.get(run).into_iter().flatten().flat_map(named));
        }
        found.sort_unstable();
        found.dedup_by_key(|(text, row, _)| (*text, *row));
        let mut of = Self::default();
        for (text, row, column) in found {
            let is_known = links.rows_of.get(text).is_some_and(|rows| rows.contains(&row));
            let texts = of.texts_of.entry(row).or_default();
            if is_known || texts.len() >= MOST_OF_ROW {
                continue;
            }
            texts.push(text as u32);
            of.rows_of.entry(text).or_default().push(row);
            let known = of.headers_of.entry(text).or_default();
            if let Some(words) = words(row.chunk as usize) {
                words.add_header(column as usize, known);
            }
        }
        of
    }

    /// The rows that lead to a text.
    pub fn rows_of(&self, text: usize) -> &[Row] {
        self.rows_of.get(&text).map_or(&[], Vec::as_slice)
    }

    /// The texts that a row leads to.
    pub fn texts_of(&self, row: Row) -> &[u32] {
        self.texts_of.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Terms of the headers over the cells that lead to a text.
    pub fn headers_of(&self, text: usize) -> &[String] {
        self.headers_of.get(&text).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use tabsegnet_corpus::terms;
    use tabsegnet_datasets::tables::TableRecord;

    use super::*;

    #[test]
    fn rows_lead_to_titles_with_a_cell_as_their_part() {
        let text = |title: &str| TableRecord { title: title.into(), caption: "about".into(), ..TableRecord::default() };
        let table = TableRecord {
            title: "Stations".into(),
            column_headers: vec!["Year".into(), "City of licence".into()],
            rows: vec![vec!["2013".into(), "Evansville".into()], vec!["2014".into(), "Munich".into()]],
            ..TableRecord::default()
        };
        let texts = ["Evansville, Indiana", "2013 A-League Grand Final", "Munich (city)", "Old Evansville Road"];
        let records: Vec<TableRecord> = texts.into_iter().map(text).chain([table]).collect();
        let links = Links::new(&records, &[0, 1, 2, 3, 4]);
        let of = PartialLinks::new(&links, &[0, 1, 2, 4]);
        let row = |row| Row { chunk: 4, row };
        assert_eq!(of.texts_of(row(0)), [0, 1], "the fourth is no candidate");
        assert_eq!(of.rows_of(0), [row(0)]);
        assert_eq!(of.headers_of(0), terms("City of licence"));
        assert_eq!(of.headers_of(1), terms("Year"));
        assert_eq!((of.rows_of(2), of.texts_of(row(1))), (&[][..], &[][..]), "its whole title leads there already");
    }

    #[test]
    fn what_many_titles_have_leads_to_none() {
        let text = |number: usize| TableRecord { title: format!("Paris {number}"), ..TableRecord::default() };
        let table = TableRecord {
            column_headers: vec!["City".into()],
            rows: vec![vec!["Paris".into()]],
            ..TableRecord::default()
        };
        for (count, expected) in [(MOST_TITLES, MOST_TITLES), (MOST_TITLES + 1, 0)] {
            let records: Vec<TableRecord> = (0..count).map(text).chain([table.clone()]).collect();
            let all: Vec<usize> = (0..=count).collect();
            let of = PartialLinks::new(&Links::new(&records, &all), &all);
            assert_eq!(of.texts_of(Row { chunk: count as u32, row: 0 }).len(), expected);
        }
    }
}
