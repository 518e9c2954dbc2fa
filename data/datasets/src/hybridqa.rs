//! HybridQA as published (Chen et al. 2020, <https://github.com/wenhuchen/HybridQA>): lists of
//! questions with traced answers (`question_id`, `question`, `table_id`, `answer-node`), and beside
//! them the tables (`header` and `data` as `[text, [links]]`) with the passages they link to.
//!
//! Tables come one a line (`.jsonl`, named by `uid`) or one a file (`tables_tok/UID.json`); their
//! passages by link, as the table's `passages` or in a file of their own (`request_tok/UID.json`).
//!
//! A table is one document: what the page says before it (`intro`, `section_text`) as passages, the
//! table as `t0` under its title with one header row, and each linked passage as one passage, in
//! the order of the links. The data set marks whole passages, so they are not split.
//!
//! Gold are the nodes that hold the answer (`answer-node`): a cell where it was traced to the table,
//! the linked passage where it was traced to a passage.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;
use tabsegnet_document::model::{Block, Document, Table, join_non_empty};
use tabsegnet_document::{KnownTable, node_id, table_with};

use crate::config::DataConfig;
use crate::dataset::{Dataset, Extra, Inputs};
use crate::error::DataError;
use crate::record::{Ids, Place, no_such_table, read_all, read_list, read_named};
use crate::sample::{Labels, Question, Samples};
use crate::silver::{self, Rows};

#[derive(Deserialize)]
struct Record {
    question_id: Option<String>,
    question: Option<String>,
    table_id: Option<String>,
    #[serde(rename = "answer-node")]
    answer_node: Option<Vec<AnswerNode>>,
}

/// `[text, [row, column], link, "table" | "passage"]`; the header is row -1.
#[derive(Deserialize)]
struct AnswerNode(#[allow(dead_code)] String, (i64, usize), Option<String>, String);

#[derive(Deserialize)]
struct TableRecord {
    uid: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    section_title: String,
    #[serde(default)]
    section_text: String,
    #[serde(default)]
    intro: String,
    header: Option<Vec<LinkedText>>,
    data: Option<Vec<Vec<LinkedText>>>,
    passages: Option<HashMap<String, String>>,
}

/// `[text, [links]]`.
#[derive(Deserialize)]
struct LinkedText(String, Vec<String>);

/// Why questions are left out of every measure.
const NO_GOLD: &str = "no gold node (answer-node is empty: the answer was not traced)";
const NOT_LINKED: &str = "answer-node names a passage that the table does not link";

/// HybridQA: one table and the passages it links to.
///
/// Its documents are the tables that questions are put to, in the order of
/// their first question.
///
/// # Errors
/// A file of another form, a question without what it needs, a table that is not there, an answer
/// outside of it, two questions of one id: each names the file, the record and the field.
pub struct Hybridqa;

impl Dataset for Hybridqa {
    fn name(&self) -> &'static str {
        "hybridqa"
    }

    fn about(&self) -> &'static str {
        "HybridQA as published; its tables are in files of their own"
    }

    fn takes(&self) -> &'static [Extra] {
        &[Extra::Tables, Extra::Passages]
    }

    fn read(&self, inputs: &Inputs, _config: &DataConfig, labels: Labels) -> Result<Samples, DataError> {
        let records = read_all(&inputs.files, |file| read_list::<Record>(file, "HybridQA question"))?;
        let wanted = records.iter().filter_map(|(_, record)| record.table_id.clone()).collect();
        let mut tables = read_named::<TableRecord>(&inputs.tables, &wanted, |table| table.uid.as_deref(), "uid")?;
        let mut passages =
            read_named::<HashMap<String, String>>(&inputs.passages, &wanted, |_| None, "the file's name")?;

        let mut samples = Samples::default();
        let mut pages: HashMap<String, (usize, Page)> = HashMap::new();
        let mut ids = Ids::default();
        for (mut place, record) in records {
            let id = ids.take(&mut place, record.question_id, "question_id")?;
            let text = place.question(record.question, "question")?;
            let table_id = place.require(record.table_id, "table_id", "the table's name")?;
            if !pages.contains_key(&table_id) {
                let (file, table) = tables.remove(&table_id).ok_or_else(|| no_such_table(&place, &table_id))?;
                let apart = passages.remove(&table_id).map(|(_, passages)| passages);
                let (document, page) = Page::new(&Place { file: &file, record: table_id.clone() }, table, apart)?;
                pages.insert(table_id.clone(), (samples.add_document(document), page));
            }
            let Some((document, page)) = pages.get(&table_id) else { continue };
            let nodes = match labels {
                Labels::Required => place.require(record.answer_node, "answer-node", ANSWER_NODE)?,
                Labels::Optional => record.answer_node.unwrap_or_default(),
            };
            let gold = page.gold(&place, &nodes)?;
            let no_gold = gold.as_ref().err().copied().unwrap_or(NO_GOLD);
            samples.add_question(*document, Question::new(id, text, gold.unwrap_or_default()), labels, no_gold);
        }
        silver::label(&mut samples, Rows::Entities);
        Ok(samples)
    }
}

const ANSWER_NODE: &str =
    "a list (the traced files have it); a file without gold can be ranked (infer), not be measured";

struct Page {
    table: Table,
    /// The node of each linked passage.
    passages: HashMap<String, String>,
}

impl Page {
    fn new(
        place: &Place<'_>,
        record: TableRecord,
        apart: Option<HashMap<String, String>>,
    ) -> Result<(Document, Self), DataError> {
        let header = place.require(record.header, "header", "a list of [text, [links]]")?;
        let data = place.require(record.data, "data", "a list of rows of [text, [links]]")?;
        let texts_by_link = place.require(
            record.passages.or(apart),
            "passages",
            "the linked passages (or data.passages a file of them)",
        )?;
        let mut rows = Vec::with_capacity(data.len() + 1);
        let mut links = Vec::new();
        for row in std::iter::once(header).chain(data) {
            let mut texts = Vec::with_capacity(row.len());
            for LinkedText(text, linked) in row {
                texts.push(text);
                links.extend(linked);
            }
            rows.push(texts);
        }
        if let Some(ragged) = rows.iter().position(|row| row.len() != rows[0].len()) {
            let message = format!("has {} cells, the header has {}", rows[ragged].len(), rows[0].len());
            return Err(place.error(&format!("data[{}]", ragged.saturating_sub(1)), message));
        }
        let caption = join_non_empty([record.title.as_str(), &record.section_title].into_iter(), " | ");
        let known = KnownTable { caption, header_rows: Some(1), ..KnownTable::default() };
        let (table, _) = table_with(&rows, &[], known).map_err(|error| place.error("data", error.to_string()))?;

        let before = [record.intro, record.section_text].into_iter().filter(|text| !text.trim().is_empty());
        let mut blocks: Vec<Block> = before.map(Block::Passage).collect();
        let mut next = blocks.len();
        blocks.push(Block::Table(table.clone()));
        let mut passages = HashMap::new();
        for link in links {
            // Not every link leads to a passage that was kept.
            if let Some(text) = texts_by_link.get(&link)
                && !passages.contains_key(&link)
            {
                passages.insert(link, node_id::passage(next));
                blocks.push(Block::Passage(text.clone()));
                next += 1;
            }
        }
        Ok((Document { id: place.record.clone(), blocks }, Self { table, passages }))
    }

    /// The gold nodes, or why they are not all there.
    fn gold(
        &self,
        place: &Place<'_>,
        nodes: &[AnswerNode],
    ) -> Result<Result<BTreeSet<String>, &'static str>, DataError> {
        let mut gold = BTreeSet::new();
        let mut complete = true;
        for (index, AnswerNode(_, (row, col), link, kind)) in nodes.iter().enumerate() {
            let error = |message: String| place.error(&format!("answer-node[{index}]"), message);
            match (kind.as_str(), link) {
                ("table", _) => {
                    let cell = row.checked_add(1).and_then(|row| self.table.cell_at(usize::try_from(row).ok()?, *col));
                    let cell = cell.ok_or_else(|| {
                        let (rows, cols) = (self.table.rows() - 1, self.table.cols());
                        error(format!(
                            "[{row}, {col}] is out of range: the table has {rows} rows and {cols} columns, from 0"
                        ))
                    })?;
                    gold.insert(node_id::cell(&self.table, cell));
                }
                ("passage", Some(link)) => match self.passages.get(link) {
                    Some(passage) => {
                        gold.insert(passage.clone());
                    }
                    None => complete = false,
                },
                ("passage", None) => return Err(error("is in a passage but has no link".into())),
                (other, _) => return Err(error(format!("is in {other:?}; expected \"table\" or \"passage\""))),
            }
        }
        Ok(if complete { Ok(gold) } else { Err(NOT_LINKED) })
    }
}

#[cfg(test)]
mod tests;
