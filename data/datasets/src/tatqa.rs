//! TAT-QA as published (Zhu et al. 2021, <https://github.com/NExTplusplus/TAT-QA>): lists of
//! documents with `table` (`uid`, `table`), `paragraphs` (`order`, `text`) and `questions`.
//!
//! A document is its table as `t0`, whose header rows and columns are inferred, and after it each
//! paragraph as one passage, in their order: the data set marks whole paragraphs, and where the
//! table stood among them it does not say.

mod gold;

use serde::Deserialize;
use serde_json::Value;
use tabsegnet_document::model::{Block, Document};
use tabsegnet_document::{KnownTable, table_with};

use crate::config::DataConfig;
use crate::dataset::{AnswerRule, Dataset, Inputs};
use crate::error::DataError;
use crate::record::{Ids, Place, read_all, read_list};
use crate::sample::{GoldAnswer, Labels, Question, Samples};
use crate::silver::{self, Rows};

#[derive(Deserialize)]
struct Record {
    table: Option<TableRecord>,
    paragraphs: Option<Vec<Paragraph>>,
    questions: Option<Vec<QuestionRecord>>,
}

#[derive(Deserialize)]
struct TableRecord {
    uid: Option<String>,
    table: Option<Vec<Vec<String>>>,
}

#[derive(Deserialize)]
struct Paragraph {
    order: Option<usize>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct QuestionRecord {
    uid: Option<String>,
    question: Option<String>,
    answer: Option<Value>,
    #[serde(default)]
    derivation: String,
    answer_type: Option<String>,
    answer_from: Option<String>,
    #[serde(default)]
    rel_paragraphs: Vec<OrderRecord>,
    #[serde(default)]
    scale: String,
}

/// `rel_paragraphs` names paragraphs by their order, as text in the published files.
#[derive(Deserialize)]
#[serde(untagged, expecting = "the order of a paragraph: a number, or a text of one")]
enum OrderRecord {
    Number(usize),
    Text(String),
}

/// Why a question is left out of every measure.
const NO_GOLD: &str =
    "no gold node (neither the table nor rel_paragraphs hold a value of the derivation or the answer)";

/// TAT-QA: one table of a report and the paragraphs beside it.
///
/// # Errors
/// A file that is not a list of documents, a document or question without what it needs, a
/// paragraph that is not there, two questions of one id: each names the file, the record and the
/// field.
pub struct Tatqa;

impl Dataset for Tatqa {
    fn name(&self) -> &'static str {
        "tatqa"
    }

    fn about(&self) -> &'static str {
        "TAT-QA as published"
    }

    fn answers(&self) -> AnswerRule {
        AnswerRule::Span
    }

    fn read(&self, inputs: &Inputs, _config: &DataConfig, labels: Labels) -> Result<Samples, DataError> {
        let mut samples = Samples::default();
        let (mut documents, mut questions) = (Ids::default(), Ids::default());
        for (mut place, record) in read_all(&inputs.files, |file| read_list::<Record>(file, "TAT-QA document"))? {
            let table = place.require(record.table, "table", "uid and table")?;
            let id = documents.take(&mut place, table.uid, "table.uid")?;
            let rows = place.require(table.table, "table.table", "a list of rows of texts")?;
            let (table, _) = table_with(&rows, &[], KnownTable::default())
                .map_err(|error| place.error("table.table", error.to_string()))?;
            let paragraphs = Paragraphs::new(&place, record.paragraphs)?;
            let passages = paragraphs.texts.iter().cloned().map(Block::Passage);
            let blocks = std::iter::once(Block::Table(table.clone())).chain(passages).collect();
            let document = samples.add_document(Document { id, blocks });

            for (index, record) in place.require(record.questions, "questions", "a list")?.into_iter().enumerate() {
                let mut place = Place { record: format!("{}, questions[{index}]", place.record), ..place };
                let id = questions.take(&mut place, record.uid, "uid")?;
                let text = place.question(record.question, "question")?;
                let labelled = labels == Labels::Required || record.answer.is_some();
                let mut known = None;
                let gold = if labelled {
                    let kind = record.answer_type.clone().unwrap_or_default();
                    let related = paragraphs.places(&place, &record.rel_paragraphs)?;
                    let answer = Answer::new(&place, record.answer, record.answer_type, record.answer_from)?;
                    let gold = gold::gold_nodes(&table, &paragraphs.texts, &related, &answer, &record.derivation);
                    let (scale, program) = (record.scale, record.derivation);
                    known = Some(GoldAnswer { values: answer.values, scale, program, kind });
                    gold
                } else {
                    Vec::new()
                };
                let question = Question { answer: known, ..Question::new(id, text, gold) };
                samples.add_question(document, question, labels, NO_GOLD);
            }
        }
        silver::label(&mut samples, Rows::Measures);
        Ok(samples)
    }
}

/// Paragraphs by their order.
struct Paragraphs {
    orders: Vec<usize>,
    texts: Vec<String>,
}

impl Paragraphs {
    fn new(place: &Place<'_>, records: Option<Vec<Paragraph>>) -> Result<Self, DataError> {
        let mut paragraphs = Vec::new();
        for (index, record) in place.require(records, "paragraphs", "a list")?.into_iter().enumerate() {
            let order = place.require(record.order, &format!("paragraphs[{index}].order"), "a number")?;
            paragraphs.push((order, place.require(record.text, &format!("paragraphs[{index}].text"), "a text")?));
        }
        paragraphs.sort_by_key(|&(order, _)| order);
        if let Some(twice) = paragraphs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(place.error("paragraphs", format!("two paragraphs have the order {}", twice[0].0)));
        }
        let (orders, texts) = paragraphs.into_iter().unzip();
        Ok(Self { orders, texts })
    }

    /// Positions of the paragraphs that a question names.
    fn places(&self, place: &Place<'_>, named: &[OrderRecord]) -> Result<Vec<usize>, DataError> {
        let position = |(index, named): (usize, &OrderRecord)| {
            let order = match named {
                OrderRecord::Number(order) => Some(*order),
                OrderRecord::Text(text) => text.trim().parse().ok(),
            };
            order.and_then(|order| self.orders.binary_search(&order).ok()).ok_or_else(|| {
                let orders: Vec<String> = self.orders.iter().map(usize::to_string).collect();
                let message = format!("is no paragraph of the document; their orders are {}", orders.join(", "));
                place.error(&format!("rel_paragraphs[{index}]"), message)
            })
        };
        named.iter().enumerate().map(position).collect()
    }
}

/// What kind of answer a question has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerType {
    /// Texts of the document.
    Spans,
    /// How many things the derivation lists.
    Count,
    /// What the derivation computes.
    Arithmetic,
}

struct Answer {
    kind: AnswerType,
    /// One, or several where the answer is a list.
    values: Vec<String>,
    in_table: bool,
    in_text: bool,
}

impl Answer {
    fn new(
        place: &Place<'_>,
        answer: Option<Value>,
        kind: Option<String>,
        from: Option<String>,
    ) -> Result<Self, DataError> {
        let kind = match place.require(kind, "answer_type", KINDS)?.as_str() {
            "span" | "multi-span" => AnswerType::Spans,
            "count" => AnswerType::Count,
            "arithmetic" => AnswerType::Arithmetic,
            other => return Err(place.error("answer_type", format!("is {other:?}; expected {KINDS}"))),
        };
        let (in_table, in_text) = match place.require(from, "answer_from", SOURCES)?.as_str() {
            "table" => (true, false),
            "text" => (false, true),
            "table-text" => (true, true),
            other => return Err(place.error("answer_from", format!("is {other:?}; expected {SOURCES}"))),
        };
        let values = match place.require(answer, "answer", "a number, a text or a list of texts")? {
            Value::Array(values) => values,
            value => vec![value],
        };
        let values = values.into_iter().map(|value| match value {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            other => Err(place.error("answer", format!("holds {other}; expected numbers and texts"))),
        });
        Ok(Self { kind, values: values.collect::<Result<_, _>>()?, in_table, in_text })
    }
}

const KINDS: &str = "span, multi-span, count or arithmetic";
const SOURCES: &str = "table, text or table-text";

#[cfg(test)]
mod tests;
