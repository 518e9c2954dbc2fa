//! Small generated financial reports with questions and gold nodes: a data set that needs no
//! download.
//!
//! A report is a company's page of sentences and three to five tables whose amounts agree. Its
//! questions often name things in other words than the report does (`turnover` for `Net sales`,
//! `the year before fiscal 2018` for a column `2017`); the words are the same in both parts, the
//! companies, numbers and tables are not. Gold are exactly the nodes that state the figures: the
//! cells and sentences, all of them where a figure stands in several places, and not the sentence
//! that says which fiscal year is reported on.
//!
//! A document depends on the seed, its part and its place in it alone, on every platform.

mod amounts;
mod books;
mod comparisons;
mod fact_sentences;
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
mod vocabulary;

use tabsegnet_datasets::config::{DataConfig, Part, SyntheticConfig};
use tabsegnet_datasets::sample::{Labels, Question, Sample, Samples};
use tabsegnet_datasets::source::json;
use tabsegnet_datasets::{DataError, Dataset, Inputs};
use tabsegnet_document::model::{Block, Document};
use tabsegnet_store::Digest;

use crate::dice::{self, Dice};

use fact_sentences::FactSentence;
use questions::{Draft, QuestionWriter};
use report::Report;
use sheet::{Fact, Sum};

/// Generated reports.
pub struct Synthetic;

impl Dataset for Synthetic {
    fn name(&self) -> &'static str {
        "synthetic"
    }

    fn about(&self) -> &'static str {
        "generated reports; no files"
    }

    fn has(&self, _config: &DataConfig, _part: Part) -> bool {
        true
    }

    fn inputs(&self, _config: &DataConfig, part: Part) -> Result<Inputs, DataError> {
        Ok(Inputs { part, ..Inputs::default() })
    }

    fn settings(&self, config: &DataConfig, inputs: &Inputs) -> String {
        format!("{} {}", inputs.part.name(), json(&config.synthetic))
    }

    fn read(&self, inputs: &Inputs, config: &DataConfig, _labels: Labels) -> Result<Samples, DataError> {
        Ok(Samples { samples: generate(&config.synthetic, inputs.part), left_out: Vec::new() })
    }
}

/// The companies of a part; the parts share words and no company.
fn stems(part: Part) -> &'static [&'static str] {
    match part {
        Part::Train => names::TRAIN_STEMS,
        Part::Dev => names::DEV_STEMS,
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
        let report = Report::draw(&mut dice, stems(part));
        let tables = tables::draw(&report, &mut dice);
        let mut facts: Vec<Fact> = tables.iter().flat_map(|built| built.facts.clone()).collect();
        let sums = tables.iter().flat_map(|built| built.sums.clone()).collect();

        let opening = sentences::opening(&report, &mut dice);
        let mut loose = fact_sentences::draw(&report, &mut dice, &tables);
        let leads: usize = tables.iter().map(|built| built.lead.len()).sum();
        let passages = dice.range(14, 25) as usize;
        let silent = passages.saturating_sub(opening.len() + leads + loose.len()).max(2);
        let talk = sentences::talk(&report, &mut dice, &facts, silent);
        loose.extend(talk.into_iter().map(|text| FactSentence { text, facts: vec![] }));
        dice.shuffle(&mut loose);

        // Each loose sentence goes before one of the tables or to the end; a table's own sentence
        // stands directly before it.
        let mut gaps: Vec<Vec<FactSentence>> = (0..=tables.len()).map(|_| vec![]).collect();
        for sentence in loose {
            gaps[dice.below(tables.len() + 1)].push(sentence);
        }
        let mut blocks: Vec<Block> = opening.into_iter().map(Block::Passage).collect();
        let mut passages = blocks.len();
        let mut tables = tables.into_iter();
        for gap in gaps {
            for sentence in gap {
                let node = format!("p{passages}");
                facts.extend(sentence.facts.into_iter().map(|fact| Fact { node: node.clone(), ..fact }));
                blocks.push(Block::Passage(sentence.text));
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
        let writer = QuestionWriter::new(&self.report, &self.facts, &self.sums);
        let mut dice = dice_for(self.seed, self.part, self.index, "questions");
        writer.draw(&mut dice, config.questions_per_document)
    }

    fn sample(self, config: &SyntheticConfig) -> Sample {
        let question = |(number, draft): (usize, Draft)| Question {
            id: format!("{}-{number}", self.document.id),
            text: draft.text,
            gold: draft.gold,
            segments: draft.segments,
            answer: None,
        };
        let questions = self.drafts(config).into_iter().enumerate().map(question).collect();
        Sample { document: self.document, questions }
    }
}
