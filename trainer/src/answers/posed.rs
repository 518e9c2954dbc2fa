//! Training questions put to documents, which rankers that have not learnt from these rank.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use rayon::prelude::*;
use tabsegnet::{OpenDocument, Ranking, Session, SessionOptions};
use tabsegnet_datasets::AnswerRule;
use tabsegnet_datasets::sample::{Question, Sample};
use tabsegnet_document::model::Block;
use tabsegnet_store::Digest;

use super::{Data, open, rank};
use crate::config::Config;
use crate::folds::FoldRankers;
use crate::progress::Progress;

/// Parts of the training documents: what a question's candidates are proposed by has not learnt from its document.
pub(super) const FOLDS: usize = 3;

/// What a question is put to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    /// Its document.
    Own,
    /// Its document's tables alone, where they hold all its gold.
    OwnTables,
    /// A document that has no answer to it.
    Foreign,
}

/// A question put to a document.
pub(super) struct Posed<'a> {
    /// Which data set it is of.
    pub(super) data: usize,
    pub(super) rule: AnswerRule,
    pub(super) fold: usize,
    pub(super) question: &'a Question,
    pub(super) ranking: &'a Ranking,
    pub(super) to: To,
}

/// A document's tables alone, and its questions whose gold they hold all of; nothing where there is none, and of a
/// document without passages.
fn tables_alone(sample: &Sample) -> Option<Sample> {
    let is_passage = |block: &Block| matches!(block, Block::Passage(_));
    let in_tables =
        |question: &&Question| !question.gold.is_empty() && question.gold.iter().all(|node| node.starts_with('t'));
    let questions: Vec<Question> = sample.questions.iter().filter(in_tables).cloned().collect();
    if questions.is_empty() || !sample.document.blocks.iter().any(is_passage) {
        return None;
    }
    let mut document = sample.document.clone();
    document.blocks.retain(|block| !is_passage(block));
    Some(Sample { document, questions })
}

/// Calls `work` for every question of the training data: with its own document, some also with a foreign one, and, where
/// `to_tables` says so, those that tables answer with these alone. Results come in the order of the data.
pub(super) fn for_each<T: Send>(
    config: &Config,
    rankers: &Rankers,
    data: &[Data],
    to_tables: bool,
    stop: &AtomicBool,
    work: impl Fn(Posed<'_>) -> T + Sync,
) -> Result<Option<Vec<T>>> {
    let mut all = Vec::new();
    for (number, data) in data.iter().enumerate() {
        let mut progress = Progress::new(&format!("questions of {}", data.name), data.samples.len());
        let mut done = 0;
        for (first, samples) in (0..).step_by(64).zip(data.samples.chunks(64)) {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let found: Vec<Vec<T>> = samples
                .par_iter()
                .enumerate()
                .map(|(at, sample)| {
                    let ranker = rankers.of(&sample.document.id);
                    let document = open(ranker, sample)?;
                    let id = sample.document.id.rsplit_once('/').map_or(sample.document.id.as_str(), |(_, id)| id);
                    let fold = number_of(id, config.task.seed) as usize % FOLDS;
                    let mut found = Vec::new();
                    let mut pose = |question: &Question, document: &OpenDocument, to: To| -> Result<()> {
                        let ranking = &rank(document, question)?;
                        found.push(work(Posed { data: number, rule: data.rule, fold, question, ranking, to }));
                        Ok(())
                    };
                    for question in &sample.questions {
                        pose(question, &document, To::Own)?;
                    }
                    if let Some(tables) = to_tables.then(|| tables_alone(sample)).flatten() {
                        let document = open(ranker, &tables)?;
                        for question in &tables.questions {
                            pose(question, &document, To::OwnTables)?;
                        }
                    }
                    // Questions of the document half the data away.
                    let other = (first + at + data.samples.len() / 2) % data.samples.len();
                    let foreign = data.samples.get(other).filter(|other| other.document.id != sample.document.id);
                    for question in foreign.into_iter().flat_map(|other| &other.questions) {
                        let share = (number_of(&question.id, config.task.seed) % 1000) as f64 / 1000.0;
                        if share < config.answers.foreign {
                            pose(question, &document, To::Foreign)?;
                        }
                    }
                    Ok(found)
                })
                .collect::<Result<_>>()?;
            all.extend(found.into_iter().flatten());
            done += samples.len();
            progress.set(done, data.samples.len(), "documents");
        }
        progress.finish(&format!("{done} documents"));
    }
    Ok(Some(all))
}

/// A number that depends on a name and the seed alone.
fn number_of(name: &str, seed: u64) -> u64 {
    let hex = Digest::new().part(name).part(seed.to_le_bytes()).hex();
    u64::from_str_radix(&hex[..12], 16).unwrap_or(0)
}

/// What ranks training documents.
pub(super) struct Rankers {
    all: Session,
    pub(super) folds: Option<FoldRankers>,
}

impl Rankers {
    pub(super) fn open(config: &Config) -> Result<Self> {
        let directory = &config.answers.fold_rankers;
        let folds = match directory.as_str() {
            "" => None,
            _ => Some(FoldRankers::open(Path::new(directory), &options())?),
        };
        Ok(Self { all: session(config)?, folds })
    }

    /// One that has not learnt from a document, where there is one.
    fn of(&self, document: &str) -> &Session {
        self.folds.as_ref().and_then(|folds| folds.of(document)).unwrap_or(&self.all)
    }
}

fn options() -> SessionOptions {
    SessionOptions { cache: None, ..SessionOptions::default() }
}

pub(super) fn session(config: &Config) -> Result<Session> {
    Ok(Session::open_with(Path::new(&config.answers.checkpoint), &options())?)
}

#[cfg(test)]
mod tests {
    use tabsegnet_datasets::sample::{Question, Sample};
    use tabsegnet_document::model::{Block, Document, Heading, Table, TableSource};

    use super::tables_alone;

    fn question(id: &str, gold: &[&str]) -> Question {
        Question {
            id: id.into(),
            text: "What were sales?".into(),
            gold: gold.iter().map(|node| (*node).to_owned()).collect(),
            segments: Vec::new(),
            answer: None,
        }
    }

    #[test]
    fn tables_alone_keep_the_questions_that_they_answer() {
        let rows = vec![vec!["".into(), "2016".into()], vec!["sales".into(), "120".into()]];
        let source = TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
        let table = Block::Table(Table::new(source).expect("a table"));
        let heading = Block::Heading(Heading { level: 1, text: "Results".into() });
        let sentence = Block::Passage("Sales rose.".into());
        let sample = |blocks: &[&Block]| Sample {
            document: Document { id: "d".into(), blocks: blocks.iter().map(|block| (*block).clone()).collect() },
            questions: vec![
                question("in tables", &["t0:r1c1"]),
                question("in both", &["t0:r1c1", "p0"]),
                question("unknown", &[]),
            ],
        };
        let alone = tables_alone(&sample(&[&heading, &sentence, &table])).expect("a question that tables answer");
        assert_eq!(alone.document.blocks, [heading, table.clone()]);
        assert_eq!(alone.questions, [question("in tables", &["t0:r1c1"])]);
        // Nothing new to learn from where there are tables alone anyway.
        assert_eq!(tables_alone(&sample(&[&table])), None);
    }
}
