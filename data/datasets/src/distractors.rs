//! Distractor tables: tables of other documents that look like a document's own.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_lexical::{Bm25Config, LexicalIndex};
use tabsegnet_store::Digest;

use crate::config::DataConfig;

/// Which tables are added to a document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DistractorConfig {
    /// Tables added to each document.
    pub count: usize,
    /// Seed of their places.
    pub seed: u64,
    /// How they are found.
    pub bm25: Bm25Config,
}

impl DistractorConfig {
    /// What a section says.
    pub fn of(config: &DataConfig) -> Self {
        Self { count: config.distractors, seed: config.seed, bm25: config.bm25 }
    }
}

/// Tables of many documents, indexed by BM25 over their tokens.
pub struct DistractorPool {
    tables: Vec<(String, Table)>,
    index: LexicalIndex,
    bm25: Bm25Config,
}

impl DistractorPool {
    /// A pool of (document id, table). The order matters only between equally near tables.
    pub fn new(tables: Vec<(String, Table)>, bm25: Bm25Config) -> Self {
        let index = LexicalIndex::new(tables.iter().map(|(_, table)| table_text(table)));
        Self { tables, index, bm25 }
    }

    /// The `count` tables nearest to `own` by BM25 with its whole text as query, nearest first.
    /// Tables of the document itself and copies of `own` (the same cells on another page, which
    /// would be evidence that no gold names) are no distractors.
    pub fn nearest(&self, document: &str, own: &Table, count: usize) -> Vec<&Table> {
        let scores = self.index.bm25(&table_text(own), self.bm25);
        let mut order: Vec<usize> = (0..self.tables.len())
            .filter(|&i| self.tables[i].0 != document && self.tables[i].1.cells() != own.cells())
            .collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        order.into_iter().take(count).map(|i| &self.tables[i].1).collect()
    }

    /// Adds `count` distractors, each at a random place between blocks. They are numbered after
    /// the document's own tables, nearest first. The places depend on `seed` and the document's
    /// id alone. A document without a table of its own gets none.
    pub fn add_to(&self, document: &mut Document, count: usize, seed: u64) {
        let own: Vec<Table> = document.tables().cloned().collect();
        let Some(first) = own.iter().min_by_key(|table| table.number()) else { return };
        let next = own.iter().map(Table::number).max().map_or(0, |last| last + 1);
        let stream = Digest::new().part(b"distractors").part(seed.to_le_bytes()).part(&document.id);
        let mut rng = ChaCha8Rng::from_seed(stream.bytes());
        for (i, table) in self.nearest(&document.id, first, count).into_iter().enumerate() {
            let place = rng.random_range(0..=document.blocks.len());
            document.blocks.insert(place, Block::Table(table.clone().with_number(next + i)));
        }
    }
}

fn table_text(table: &Table) -> String {
    let mut text = table.caption().to_owned();
    for cell in table.cells() {
        text.push(' ');
        text.push_str(&cell.text);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tabsegnet_document::model::TableSource;
    use tabsegnet_graph::Graph;

    fn table_of(header: &str, values: &[&str]) -> Table {
        let mut rows = vec![vec!["".into(), header.into()]];
        rows.extend(values.iter().map(|&value| vec![value.into(), "1".into()]));
        Table::new(TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap()
    }

    fn pool() -> DistractorPool {
        let tables = vec![
            ("own".to_owned(), table_of("2018", &["net sales", "cost of sales"])),
            ("copy".to_owned(), table_of("2018", &["net sales", "cost of sales"])),
            ("far".to_owned(), table_of("2001", &["employees"])),
            ("near".to_owned(), table_of("2018", &["net sales", "gross margin"])),
            ("middle".to_owned(), table_of("2018", &["dividends"])),
        ];
        DistractorPool::new(tables, Bm25Config::default())
    }

    fn document(passages: usize) -> Document {
        let mut blocks: Vec<Block> = (0..passages).map(|i| Block::Passage(format!("{i} ."))).collect();
        blocks.insert(passages / 2, Block::Table(table_of("2018", &["net sales", "cost of sales"])));
        Document { id: "own".into(), blocks }
    }

    #[test]
    fn the_nearest_tables_of_other_documents_are_chosen_and_copies_are_not() {
        let pool = pool();
        let own = table_of("2018", &["net sales", "cost of sales"]);
        let headers: Vec<_> = pool.nearest("own", &own, 3).iter().map(|t| t.cells().last().unwrap().row).collect();
        assert_eq!(headers, [2, 1, 1]);
        assert_eq!(pool.nearest("own", &own, 9).len(), 3);
    }

    proptest! {
        /// Ids depend on the source document alone.
        #[test]
        fn ids_and_texts_are_stable_under_distractors(passages in 0..9_usize, seed: u64, count in 0..4_usize) {
            let plain = document(passages);
            let mut with = plain.clone();
            pool().add_to(&mut with, count, seed);
            prop_assert_eq!(with.tables().count(), 1 + count.min(3));
            let (before, after) = (Graph::of(&plain), Graph::of(&with));
            let own: Vec<_> = after
                .nodes()
                .iter()
                .filter(|node| node.place.as_ref().is_none_or(|place| place.table == 0))
                .collect();
            prop_assert_eq!(before.nodes().iter().collect::<Vec<_>>(), own);

            let mut again = plain.clone();
            pool().add_to(&mut again, count, seed);
            prop_assert_eq!(again, with);
        }
    }
}
