//! Distractor tables: tables of other documents that look like a document's own.
//!
//! Gold is known before tables are added, and never lies in what is added. Tables are numbered after the document's
//! own, so that their ids `t{n}…` are new and the own ones stay. Sentences have no numbers but their places: where
//! some are added ([`Placement::WithLeadIn`]) `p{n}` counts them too, and the ids of the document's own sentences in
//! gold and segments are counted anew, so that each names the text that it named before.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use tabsegnet_document::model::{Block, Document, Table};
use tabsegnet_document::node_id;
use tabsegnet_lexical::{Bm25Config, LexicalIndex};
use tabsegnet_store::Digest;

use crate::config::DataConfig;
use crate::sample::Sample;

/// The least words of a sentence that can announce a table by itself; "( in millions ) ." cannot.
const LEAST_WORDS: usize = 5;
/// The most sentences of a lead-in.
const MOST_SENTENCES: usize = 3;

/// What distractor tables bring along, and where they are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The table alone, at a random place between blocks.
    #[default]
    Random,
    /// The table behind its lead-in, the sentence that stands before it on its own page (where that has fewer than five
    /// words, with those before it, three at most), at a random place that parts no other table from its lead-in.
    WithLeadIn,
}

impl Placement {
    /// Whether it is the default, which digests of settings leave out: they are older than the choice.
    fn is_random(&self) -> bool {
        *self == Self::Random
    }
}

/// Which tables are added to a document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DistractorConfig {
    /// Tables added to each document.
    pub count: usize,
    /// Seed of their places.
    pub seed: u64,
    /// How they are found.
    pub bm25: Bm25Config,
    /// How they are put among the document's blocks.
    #[serde(skip_serializing_if = "Placement::is_random")]
    pub placement: Placement,
}

impl DistractorConfig {
    /// What a section says.
    pub fn of(config: &DataConfig) -> Self {
        Self { count: config.distractors, seed: config.seed, bm25: config.bm25, placement: config.distractor_placement }
    }
}

/// A table that may become a distractor.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolTable {
    /// Id of its document.
    pub document: String,
    /// The table.
    pub table: Table,
    /// The sentences that announce it there; needed for [`Placement::WithLeadIn`] alone.
    pub lead_in: Vec<String>,
}

/// The last of the sentences before a table: those that announce it.
pub fn lead_in<T: AsRef<str>>(before: &[T]) -> &[T] {
    let words = |sentence: &T| {
        let words = sentence.as_ref().split_whitespace();
        words.filter(|word| word.contains(char::is_alphabetic)).count()
    };
    let near = before.len().saturating_sub(MOST_SENTENCES);
    let whole = (near..before.len()).rev().find(|&at| words(&before[at]) >= LEAST_WORDS);
    // Without one the last stands for the others.
    &before[whole.unwrap_or(before.len().saturating_sub(1))..]
}

/// Tables of many documents, indexed by BM25 over their tokens.
pub struct DistractorPool {
    tables: Vec<PoolTable>,
    index: LexicalIndex,
    bm25: Bm25Config,
}

impl DistractorPool {
    /// A pool of tables. The order matters only between equally near tables.
    pub fn new(tables: Vec<PoolTable>, bm25: Bm25Config) -> Self {
        let index = LexicalIndex::new(tables.iter().map(|found| table_text(&found.table)));
        Self { tables, index, bm25 }
    }

    /// The `count` tables nearest to `own` by BM25 with its whole text as query, nearest first.
    /// Tables of the document itself and copies of `own` (the same cells on another page, which
    /// would be evidence that no gold names) are no distractors.
    pub fn nearest(&self, document: &str, own: &Table, count: usize) -> Vec<&PoolTable> {
        let scores = self.index.bm25(&table_text(own), self.bm25);
        let mut order: Vec<usize> = (0..self.tables.len())
            .filter(|&i| self.tables[i].document != document && self.tables[i].table.cells() != own.cells())
            .collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        order.into_iter().take(count).map(|i| &self.tables[i]).collect()
    }

    /// Adds distractors. They are numbered after the document's own tables, nearest first. The places depend on the
    /// seed and the document's id alone. A document without a table of its own gets none.
    pub fn add_to(&self, sample: &mut Sample, config: &DistractorConfig) {
        let document = &mut sample.document;
        let own: Vec<Table> = document.tables().cloned().collect();
        let Some(first) = own.iter().min_by_key(|table| table.number()) else { return };
        let next = own.iter().map(Table::number).max().map_or(0, |last| last + 1);
        let stream = Digest::new().part(b"distractors").part(config.seed.to_le_bytes()).part(&document.id);
        let mut rng = ChaCha8Rng::from_seed(stream.bytes());
        let nearest = self.nearest(&document.id, first, config.count).into_iter().zip(next..);
        let numbered = nearest.map(|(found, number)| (found.table.clone().with_number(number), &found.lead_in));
        match config.placement {
            Placement::Random => {
                for (table, _) in numbered {
                    let place = rng.random_range(0..=document.blocks.len());
                    document.blocks.insert(place, Block::Table(table));
                }
            }
            Placement::WithLeadIn => {
                let gaps = gaps(document);
                let mut added: Vec<Vec<Block>> = vec![Vec::new(); document.blocks.len() + 1];
                for (table, lead_in) in numbered {
                    let at = &mut added[gaps[rng.random_range(0..gaps.len())]];
                    at.extend(lead_in.iter().cloned().map(Block::Passage));
                    at.push(Block::Table(table));
                }
                insert(sample, added);
            }
        }
    }
}

/// The places between a document's blocks, by the number of the block after each, that part no table from its lead-in.
/// The end is always one.
fn gaps(document: &Document) -> Vec<usize> {
    let mut allowed = vec![true; document.blocks.len() + 1];
    let mut before: Vec<&str> = Vec::new();
    for (at, block) in document.blocks.iter().enumerate() {
        match block {
            Block::Heading(_) => before.clear(),
            Block::Passage(text) => before.push(text),
            Block::Table(_) => {
                let sentences = lead_in(&before).len();
                allowed[at + 1 - sentences..=at].fill(false);
                before.clear();
            }
        }
    }
    (0..allowed.len()).filter(|&at| allowed[at]).collect()
}

/// Puts blocks before each block of a document, the last of them at its end, and counts the ids of its own sentences anew.
fn insert(sample: &mut Sample, added: Vec<Vec<Block>>) {
    let is_passage = |block: &&Block| matches!(block, Block::Passage(_));
    let mut own = std::mem::take(&mut sample.document.blocks).into_iter();
    let (mut blocks, mut passages, mut moved) = (Vec::new(), 0, Vec::new());
    for group in added {
        passages += group.iter().filter(is_passage).count();
        blocks.extend(group);
        let Some(block) = own.next() else { continue };
        if is_passage(&&block) {
            moved.push(passages);
            passages += 1;
        }
        blocks.push(block);
    }
    sample.document.blocks = blocks;
    for question in &mut sample.questions {
        let of_segments = question.segments.iter_mut().flat_map(|segment| &mut segment.nodes);
        for id in question.gold.iter_mut().chain(of_segments) {
            let number = id.strip_prefix('p').and_then(|number| number.parse::<usize>().ok());
            if let Some(&now) = number.and_then(|number| moved.get(number)) {
                *id = node_id::passage(now);
            }
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
    use crate::sample::{Question, Segment};
    use proptest::prelude::*;
    use tabsegnet_document::model::TableSource;
    use tabsegnet_graph::{Graph, Node, NodeKind};

    fn table_of(header: &str, values: &[&str]) -> Table {
        let mut rows = vec![vec!["".into(), header.into()]];
        rows.extend(values.iter().map(|&value| vec![value.into(), "1".into()]));
        Table::new(TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap()
    }

    fn pool() -> DistractorPool {
        let table = |document: &str, header, values: &[&str]| PoolTable {
            document: document.into(),
            table: table_of(header, values),
            lead_in: vec![format!("the table of {document} is as follows :"), "( in millions ) .".into()],
        };
        let tables = vec![
            table("own", "2018", &["net sales", "cost of sales"]),
            table("copy", "2018", &["net sales", "cost of sales"]),
            table("far", "2001", &["employees"]),
            table("near", "2018", &["net sales", "gross margin"]),
            table("middle", "2018", &["dividends"]),
        ];
        DistractorPool::new(tables, Bm25Config::default())
    }

    fn config(count: usize, seed: u64, placement: Placement) -> DistractorConfig {
        DistractorConfig { count, seed, bm25: Bm25Config::default(), placement }
    }

    /// A page with a question whose gold, and whose only segment, is every node of it.
    fn sample(passages: usize) -> Sample {
        let sentence =
            |i: usize| if i.is_multiple_of(3) { format!("{i} .") } else { format!("sentence {i} of the own page .") };
        let mut blocks: Vec<Block> = (0..passages).map(|i| Block::Passage(sentence(i))).collect();
        blocks.insert(passages / 2, Block::Table(table_of("2018", &["net sales", "cost of sales"])));
        let document = Document { id: "own".into(), blocks };
        let gold: Vec<String> = Graph::of(&document).nodes().iter().map(|node| node.id.clone()).collect();
        let segments = vec![Segment { text: "all".into(), nodes: gold.clone() }];
        let questions = vec![Question { id: "q".into(), text: "?".into(), gold, segments, answer: None }];
        Sample { document, questions }
    }

    #[test]
    fn the_nearest_tables_of_other_documents_are_chosen_and_copies_are_not() {
        let pool = pool();
        let own = table_of("2018", &["net sales", "cost of sales"]);
        let near: Vec<_> = pool.nearest("own", &own, 3).iter().map(|found| found.document.as_str()).collect();
        assert_eq!(near, ["near", "middle", "far"]);
        assert_eq!(pool.nearest("own", &own, 9).len(), 3);
    }

    #[test]
    fn a_lead_in_goes_back_to_a_whole_sentence() {
        let whole = "sales were as follows in 2018 :";
        for (before, expected) in [
            (vec!["a sentence that is far away .", whole], 1),
            (vec![whole, "( in millions ) ."], 2),
            (vec![whole, "2018 2017", "( in millions ) ."], 3),
            (vec![whole, "( a )", "2018 2017 2016 2015 2014", "."], 1),
            (vec!["."], 1),
            (vec![], 0),
        ] {
            assert_eq!(lead_in(&before), &before[before.len() - expected..]);
        }
    }

    #[test]
    fn the_default_placement_leaves_digests_as_they_were() {
        let of = |placement| crate::source::json(&config(3, 0, placement));
        assert_eq!(of(Placement::Random), r#"{"count":3,"seed":0,"bm25":{"k1":1.5,"b":0.75}}"#);
        assert!(of(Placement::WithLeadIn).ends_with(r#","placement":"with_lead_in"}"#));
    }

    /// Kind and text of the nodes of the ids.
    fn named<'a>(graph: &'a Graph, ids: &[String]) -> Vec<(NodeKind, &'a str)> {
        let find = |id: &String| graph.nodes().iter().find(|node| node.id == *id).expect("an id of a node");
        ids.iter().map(find).map(|node| (node.kind, node.text.as_str())).collect()
    }

    proptest! {
        /// Ids depend on the source document alone.
        #[test]
        fn ids_and_texts_are_stable_under_distractors(passages in 0..9_usize, seed: u64, count in 0..4_usize) {
            let plain = sample(passages);
            let mut with = plain.clone();
            pool().add_to(&mut with, &config(count, seed, Placement::Random));
            prop_assert_eq!(with.document.tables().count(), 1 + count.min(3));
            prop_assert_eq!(&plain.questions, &with.questions);
            let (before, after) = (Graph::of(&plain.document), Graph::of(&with.document));
            let own: Vec<_> = after
                .nodes()
                .iter()
                .filter(|node| node.place.as_ref().is_none_or(|place| place.table == 0))
                .collect();
            prop_assert_eq!(before.nodes().iter().collect::<Vec<_>>(), own);

            let mut again = plain.clone();
            pool().add_to(&mut again, &config(count, seed, Placement::Random));
            prop_assert_eq!(again, with);
        }

        #[test]
        fn with_lead_ins_gold_names_the_same_texts_and_no_table_loses_its_own(
            passages in 0..9_usize, seed: u64, count in 0..4_usize
        ) {
            let plain = sample(passages);
            let mut with = plain.clone();
            pool().add_to(&mut with, &config(count, seed, Placement::WithLeadIn));
            let (before, after) = (Graph::of(&plain.document), Graph::of(&with.document));
            let (question, moved) = (&plain.questions[0], &with.questions[0]);
            prop_assert_eq!(named(&before, &question.gold), named(&after, &moved.gold));
            prop_assert_eq!(&moved.segments[0].nodes, &moved.gold);
            // Gold was every node of the page, so that what was added is all of the rest.
            let added: Vec<&Node> = after.nodes().iter().filter(|node| !moved.gold.contains(&node.id)).collect();
            let foreign = added.iter().filter(|node| node.place.is_none());
            prop_assert_eq!(foreign.count(), 2 * count.min(3));
            prop_assert!(added.iter().all(|node| node.place.as_ref().is_none_or(|place| place.table > 0)));

            let blocks = &with.document.blocks;
            let passage = |at: usize| match &blocks[at] {
                Block::Passage(text) => text.as_str(),
                _ => "",
            };
            let own: Vec<&str> = plain.document.passages().take(passages / 2).collect();
            for (at, block) in blocks.iter().enumerate() {
                let Block::Table(table) = block else { continue };
                let expected: Vec<&str> = match table.number() {
                    0 => lead_in(&own).to_vec(),
                    _ => {
                        prop_assert!(passage(at - 2).starts_with("the table of "));
                        vec!["( in millions ) ."]
                    }
                };
                let found: Vec<&str> = (at - expected.len()..at).map(passage).collect();
                prop_assert_eq!(found, expected);
            }

            let mut again = plain.clone();
            pool().add_to(&mut again, &config(count, seed, Placement::WithLeadIn));
            prop_assert_eq!(again, with);
        }
    }
}
