//! Filings with inline XBRL as a data set: questions generated from the numbers that a filing tags, with
//! gold cells and gold segments and without annotators.
//!
//! A tagged number in a cell is a fact: a concept, the members it is broken down by, a time, a
//! value. A question asks for one fact or compares several; it is built from the concept's name in
//! words (`NetCashProvidedByUsedInOperatingActivities`: "net cash from operating activities", or
//! what people call it), the members' names ("of the Google Cloud segment", "in China") and the
//! time as the filer names it ("in fiscal 2024"). Its segments are one a fact. Gold are all cells
//! and sentences that tag the fact, and those that state it again without a tag: the same number
//! under a like label and the same year ([`restated`]).
//!
//! Questions to which the answer is known as well, to learn to compute it, have wordings of their own ([`analysts`]).
//!
//! Sentences that give a reason, a plan, a count or an event give questions too, by their form.
//!
//! A document is the whole filing, as questions will be put to it. A third of the questions or more go
//! over two tables: no one table states all their facts.
//!
//! Left out are facts that nobody would want or that words cannot distinguish: what the page
//! says of itself (`dei`), zeros, numbers tagged in sentences alone, times other than years,
//! quarters and days, members without a name, names longer than people speak, facts of different
//! value that have the same words.
//!
//! Companies are split, not filings: a company is of the dev part by a seeded hash of its key.

mod analysts;
mod filing;
mod labels;
mod members;
mod period;
mod prose;
mod questions;
mod restated;
mod spoken;
mod templates;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tabsegnet_datasets::config::{DataConfig, IxbrlConfig, Part, files_with};
use tabsegnet_datasets::sample::{Labels, LeftOut, Question, Sample, Samples};
use tabsegnet_datasets::source::json;
use tabsegnet_datasets::{DataError, Dataset, Inputs};
use tabsegnet_document::model::Document;
use tabsegnet_document::{Format, ReadDocument, ReadOptions};
use tabsegnet_store::Digest;

use crate::dice::Dice;
use filing::Filing;
pub use labels::{FilingLabels, Label, labels, names};
use questions::{Draft, QuestionWriter};

/// Filings with inline XBRL.
pub struct Ixbrl;

impl Dataset for Ixbrl {
    fn name(&self) -> &'static str {
        "ixbrl"
    }

    fn about(&self) -> &'static str {
        "filings with inline XBRL; questions are generated from their tags"
    }

    fn has(&self, config: &DataConfig, part: Part) -> bool {
        !config.train.is_empty() || !config.files(part).is_empty()
    }

    /// A directory stands for the HTML files in it. Where `dev` names no files, both parts are companies of `train`;
    /// else the filings of the other part are [`Inputs::pool`], with whose companies none may be shared.
    fn inputs(&self, config: &DataConfig, part: Part) -> Result<Inputs, DataError> {
        if config.train.is_empty() && (part == Part::Train || config.dev.is_empty()) {
            let message = "names no file; expected a directory of filings or HTML files, such as [\".\"]".into();
            return Err(DataError::Setting { key: Part::Train.key(), message });
        }
        let files = |part: Part| files_with(part.key(), config.paths(config.files(part)), &["htm", "html", "xhtml"]);
        let (files, pool) = match part {
            _ if config.dev.is_empty() => (files(Part::Train)?, Vec::new()),
            Part::Train => (files(Part::Train)?, files(Part::Dev)?),
            Part::Dev => (files(Part::Dev)?, Vec::new()),
        };
        Ok(Inputs { part, files, pool, ..Inputs::default() })
    }

    fn settings(&self, config: &DataConfig, inputs: &Inputs) -> String {
        let companies = match Companies::of(config, inputs) {
            Companies::All => "all",
            Companies::Of(part) => part.name(),
            Companies::Apart(_) => "apart",
        };
        format!("{} {} {companies}", json(&config.ixbrl), config.seed)
    }

    fn read(&self, inputs: &Inputs, config: &DataConfig, _labels: Labels) -> Result<Samples, DataError> {
        let files = inputs.files.clone();
        if files.is_empty() {
            return Ok(Samples::default());
        }
        read(&Filings {
            files,
            companies: Companies::of(config, inputs),
            config: config.ixbrl.clone(),
            seed: config.seed,
        })
    }
}

fn check(config: &IxbrlConfig) -> Result<(), DataError> {
    let setting = |key, message: &str| Err(DataError::Setting { key, message: message.into() });
    if !(config.dev_share > 0.0 && config.dev_share < 1.0) {
        return setting("data.ixbrl.dev_share", "expected a share between 0 and 1, such as 0.2");
    }
    Ok(())
}

/// Which filings of the files are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Companies {
    /// All.
    All,
    /// Those of companies of one part, by the seed and the dev share.
    Of(Part),
    /// All, and none of them may be of a company that has a filing among these files too.
    Apart(Vec<PathBuf>),
}

impl Companies {
    fn of(config: &DataConfig, inputs: &Inputs) -> Self {
        match (config.dev.is_empty(), inputs.part) {
            (true, part) => Self::Of(part),
            (false, Part::Train) => Self::Apart(inputs.pool.clone()),
            (false, Part::Dev) => Self::All,
        }
    }
}

/// Filings that questions are generated from.
#[derive(Debug, Clone, PartialEq)]
struct Filings {
    /// HTML files with inline XBRL.
    files: Vec<PathBuf>,
    /// Which of them.
    companies: Companies,
    /// How questions are generated.
    config: IxbrlConfig,
    /// Other seeds give other questions, documents and parts.
    seed: u64,
}

/// Why a file gives no question.
const NO_COMPANY: &str = "a file without inline XBRL contexts is no filing";
/// Why a filing gives no question.
const NO_QUESTION: &str = "a filing whose tables tag too little to ask about";

/// Generates the questions of filings; documents in the order of the files.
///
/// # Errors
/// A file that cannot be read, two files of one name, no filing among the files, a part without a
/// company, a company in both parts.
fn read(filings: &Filings) -> Result<Samples, DataError> {
    check(&filings.config)?;
    let mut samples = Samples::default();
    // The companies of this part and of the other one.
    let (mut wanted, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut names: BTreeMap<String, &Path> = BTreeMap::new();
    for file in &filings.files {
        let name = name_of(file);
        if let Some(earlier) = names.insert(name.clone(), file) {
            let message =
                format!("{} and {} have one name; documents are called by it", earlier.display(), file.display());
            return Err(DataError::Setting { key: "data.train", message });
        }
        let read = read_filing(file)?;
        let Some(company) = Filing::company(&read) else {
            samples.left_out.push(LeftOut { question: name, reason: NO_COMPANY });
            continue;
        };
        if let Companies::Of(part) = filings.companies
            && part_of(&company, filings) != part
        {
            others.insert(company);
            continue;
        }
        wanted.insert(company);
        match sample_of(Filing::new(read), &name, filings) {
            Some(sample) => samples.samples.push(sample),
            None => samples.left_out.push(LeftOut { question: name, reason: NO_QUESTION }),
        }
    }
    check_companies(filings, &wanted, &others)?;
    Ok(samples)
}

fn read_filing(file: &Path) -> Result<ReadDocument, DataError> {
    let options = ReadOptions { format: Some(Format::Html), ..ReadOptions::default() };
    Ok(tabsegnet_document::read(file, &options)?)
}

/// The file's name as it goes into ids, which hold no blanks.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    stem.split_whitespace().collect::<Vec<_>>().join("_")
}

/// Which part a company is of. It stays there when filings are added.
fn part_of(company: &str, filings: &Filings) -> Part {
    let digest = Digest::new().part("ixbrl companies").part(filings.seed.to_le_bytes()).part(company).bytes();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    let share = u64::from_le_bytes(first) as f64 / u64::MAX as f64;
    if share < filings.config.dev_share { Part::Dev } else { Part::Train }
}

fn check_companies(filings: &Filings, wanted: &BTreeSet<String>, others: &BTreeSet<String>) -> Result<(), DataError> {
    let setting = |key, message| Err(DataError::Setting { key, message });
    if wanted.is_empty() && others.is_empty() {
        let message =
            "none of the files is a filing with inline XBRL; expected annual or quarterly reports in HTML as filed";
        return setting("data.train", message.into());
    }
    match &filings.companies {
        Companies::All => Ok(()),
        Companies::Of(part) => {
            if !wanted.is_empty() && !others.is_empty() {
                return Ok(());
            }
            let lacking = match (part, wanted.is_empty()) {
                (Part::Train, true) | (Part::Dev, false) => "train",
                _ => "dev",
            };
            let companies = wanted.len() + others.len();
            let message = format!(
                "none of {companies} companies is of the {lacking} part; add filings of other companies, change \
                 data.seed or data.ixbrl.dev_share, or name the dev part's filings in data.dev"
            );
            setting("data.ixbrl.dev_share", message)
        }
        Companies::Apart(files) => {
            for file in files {
                if let Some(company) = Filing::company(&read_filing(file)?)
                    && wanted.contains(&company)
                {
                    let message = format!(
                        "{}: data.train and data.dev both have filings of the company with key {company}; a \
                         company's filings repeat each other, so leave them in one part",
                        file.display()
                    );
                    return setting("data.dev", message);
                }
            }
            Ok(())
        }
    }
}

/// A filing with its questions; nothing where it has none.
fn sample_of(filing: Filing, name: &str, filings: &Filings) -> Option<Sample> {
    let config = &filings.config;
    let dice = |purpose: &str| {
        let digest = Digest::new().part("ixbrl questions, version 3").part(filings.seed.to_le_bytes());
        Dice::new(digest.part(name).part(purpose))
    };
    let mut drafts = QuestionWriter::new(&filing).draw(config.questions_per_filing, &mut dice("questions"));
    drafts.extend(QuestionWriter::new(&filing).computed(config.computed_per_filing, &mut dice("computed")));
    drafts.extend(prose::questions(&filing, &mut dice("prose")).into_iter().take(config.prose_per_filing));
    let question = |(number, draft): (usize, Draft)| draft.question(format!("{name}-{number}"), &filing);
    let questions: Vec<Question> = drafts.into_iter().enumerate().map(question).collect();
    let document = Document { id: name.to_owned(), blocks: filing.read.document.blocks };
    (!questions.is_empty()).then_some(Sample { document, questions })
}
