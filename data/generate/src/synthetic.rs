//! Small made-up financial reports with questions and gold nodes: a data set that needs no
//! download.
//!
//! A report is a company's page of sentences and three to five tables whose amounts agree. Its
//! questions often name things in other words than the report does (`turnover` for `Net sales`,
//! `the year before fiscal 2018` for a column `2017`); the words are the same in both parts, the
//! companies, numbers and tables are not. Gold are exactly the nodes that tell the figures: the
//! cells and sentences, all of them where a figure stands in several places, and not the sentence
//! that says which fiscal year is reported on.
//!
//! A document depends on the seed, its part and its place in it alone, on every platform.

mod amounts;
mod books;
mod comparisons;
mod names;
mod nouns;
mod payments;
mod period;
mod questions;
mod report;
mod schedules;
mod segments;
mod sentences;
mod sheet;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod told;
mod vocabulary;

use tabsegnet_store::Digest;

use crate::dice::{self, Dice};
use crate::document::{Block, Document};
use crate::sample::{Question, Sample};

use questions::{Asker, Draft};
use report::Report;
use sheet::{Fact, Sum};
use told::Told;

/// What is generated.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticConfig {
    /// Documents of [`Part::Train`].
    pub train_documents: usize,
    /// Documents of [`Part::Dev`].
    pub dev_documents: usize,
    /// Questions put to each document. A report has some dozens to give.
    pub questions_per_document: usize,
    /// Other seeds give other documents.
    pub seed: u64,
}

impl Default for SyntheticConfig {
    fn default() -> Self {
        Self { train_documents: 200, dev_documents: 60, questions_per_document: 3, seed: 0 }
    }
}

/// Which part of the data set. The parts share words and no company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// To learn from.
    Train,
    /// To measure by.
    Dev,
}

impl Part {
    /// As it stands in the ids of documents (`dev-0012`) and questions (`dev-0012-2`).
    fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
        }
    }

    fn stems(self) -> &'static [&'static str] {
        match self {
            Self::Train => names::TRAIN_STEMS,
            Self::Dev => names::DEV_STEMS,
        }
    }
}

/// The documents of a part with their questions, 100 to 250 nodes each. A greater number of
/// documents or questions leaves the earlier ones as they are.
pub fn generate(config: &SyntheticConfig, part: Part) -> Vec<Sample> {
    let documents = match part {
        Part::Train => config.train_documents,
        Part::Dev => config.dev_documents,
    };
    (0..documents).map(|index| Draw::new(config.seed, part, index).sample(config)).collect()
}

/// The stream for one purpose of one document of one part.
fn dice_for(seed: u64, part: Part, index: usize, purpose: &str) -> Dice {
    let digest = Digest::new().part("synthetic reports, version 1").part(seed.to_le_bytes()).part(part.name());
    Dice::new(digest.part((index as u64).to_le_bytes()).part(purpose))
}

/// One document and what is known about it.
struct Draw {
    seed: u64,
    part: Part,
    index: usize,
    report: Report,
    document: Document,
    facts: Vec<Fact>,
    sums: Vec<Sum>,
}

impl Draw {
    fn new(seed: u64, part: Part, index: usize) -> Self {
        let mut dice = dice_for(seed, part, index, "report");
        let report = Report::draw(&mut dice, part.stems());
        let tables = tables::draw(&report, &mut dice);
        let mut facts: Vec<Fact> = tables.iter().flat_map(|built| built.facts.clone()).collect();
        let sums = tables.iter().flat_map(|built| built.sums.clone()).collect();

        let opening = sentences::opening(&report, &mut dice);
        let mut loose = told::telling(&report, &mut dice, &tables);
        let leads: usize = tables.iter().map(|built| built.lead.len()).sum();
        let passages = dice.range(14, 25) as usize;
        let silent = passages.saturating_sub(opening.len() + leads + loose.len()).max(2);
        let talk = sentences::talk(&report, &mut dice, &facts, silent);
        loose.extend(talk.into_iter().map(|text| Told { text, facts: vec![] }));
        dice.shuffle(&mut loose);

        // Each loose sentence goes before one of the tables or to the end; a table's own sentence
        // stands directly before it.
        let mut gaps: Vec<Vec<Told>> = (0..=tables.len()).map(|_| vec![]).collect();
        for told in loose {
            gaps[dice.below(tables.len() + 1)].push(told);
        }
        let mut blocks: Vec<Block> = opening.into_iter().map(Block::Passage).collect();
        let mut passages = blocks.len();
        let mut tables = tables.into_iter();
        for gap in gaps {
            for told in gap {
                let node = format!("p{passages}");
                facts.extend(told.facts.into_iter().map(|fact| Fact { node: node.clone(), ..fact }));
                blocks.push(Block::Passage(told.text));
                passages += 1;
            }
            if let Some(built) = tables.next() {
                passages += built.lead.len();
                blocks.extend(built.lead.into_iter().map(Block::Passage));
                blocks.push(Block::Table(built.table));
            }
        }
        let document = Document { id: format!("{}-{index:04}", part.name()), blocks };
        Self { seed, part, index, report, document, facts, sums }
    }

    fn drafts(&self, config: &SyntheticConfig) -> Vec<Draft> {
        let asker = Asker::new(&self.report, &self.facts, &self.sums);
        let mut dice = dice_for(self.seed, self.part, self.index, "questions");
        asker.draw(&mut dice, config.questions_per_document)
    }

    fn sample(self, config: &SyntheticConfig) -> Sample {
        let question = |(number, draft): (usize, Draft)| Question {
            id: format!("{}-{number}", self.document.id),
            text: draft.text,
            gold: draft.gold,
            segments: draft.segments,
        };
        let questions = self.drafts(config).into_iter().enumerate().map(question).collect();
        Sample { document: self.document, questions }
    }
}
