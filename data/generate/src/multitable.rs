//! MultiTableQA (Zou et al. 2025, arXiv 2504.01346, §2): a corpus of sub-tables, and questions that need all parts of
//! one source table, made from tables and questions of any data set.
//!
//! 1. Tables with fewer than 4 rows or columns are left out, and so are copies of an earlier table, whose parts would be
//!    right answers that count as wrong. Questions on a copy go to the table that stays.
//! 2. A third of the tables stays whole (easy), a third is cut in two parts (medium), a third in three (hard); half of
//!    those by rows, half by columns. Parts of a cut by rows have disjoint rows and the same header, parts of a cut by
//!    columns all have the first column. Rows or columns are permuted, captions varied by templates, and the corpus is
//!    shuffled: neither ids nor the order of the file say which parts belong together.
//! 3. Vague, very short and repeated questions are left out; for several hops, questions of a table are joined. What a
//!    question leaves to its table ("this team", "the list") it says itself, in the words of the title and caption.
//! 4. Gold is all parts of the source table.
//!
//! Questions are divided by source table into a part to tune on and a part to measure on ([`Part`]), by a hash of the
//! table's id alone: whatever the task and the seed, a table is on the same side.

mod captions;
mod context;
mod cut;
mod data_sets;
mod files;
mod questions;
mod source;
mod statistics;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tabsegnet_datasets::DataError;
use tabsegnet_datasets::tables::{TableQuestion, TableRecord};
use tabsegnet_store::{Digest, FileError};

use crate::dice::Dice;

pub use data_sets::{DataSet, Published, read_data_sets};
pub use files::{read_own, read_published, read_published_all, write_own, write_published};
pub use source::{ReadSources, SourceQuestion, read_sources};
pub use statistics::Statistics;

/// Rows, and columns, that a table must have (paper, §2.2: those with M ≤ 3 or N ≤ 3 are filtered out).
pub const SMALLEST: usize = 4;

/// Which questions are put to the corpus (paper, A.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Statements that a table supports or refutes; only those in plain words that have a label.
    Verification,
    /// Questions with one answer that no more than one cell is needed for.
    Single,
    /// Sequences of questions, and questions of one table joined.
    Multi,
}

impl Task {
    /// Every task.
    pub const ALL: [Self; 3] = [Self::Verification, Self::Single, Self::Multi];

    /// Its name in arguments and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Single => "single",
            Self::Multi => "multi",
        }
    }
}

impl FromStr for Task {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|task| task.name() == text).ok_or_else(|| format!("is none of {known}"))
    }
}

/// What a benchmark is a function of, beside tables and questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The task.
    pub task: Task,
    /// Seed of cuts, orders, captions and wordings.
    pub seed: u64,
}

impl Settings {
    /// The random choices of something, apart from all others.
    fn dice(&self, of: &str, id: &str) -> Dice {
        Dice::new(Digest::new().part("multitable").part(self.seed.to_le_bytes()).part(of).part(id))
    }
}

/// How a table of the corpus was cut from its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// It is all of it.
    Whole,
    /// It has some rows.
    Rows,
    /// It has the first column and some others.
    Columns,
}

/// A side of the division by source table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// To choose settings and weights on.
    Tune,
    /// To measure on.
    Test,
}

impl Part {
    /// The side of a source table: half of all ids are on each.
    pub fn of(source_table: &str) -> Self {
        let [first, ..] = Digest::new().part("multitable part").part(source_table).bytes();
        if first.is_multiple_of(2) { Self::Tune } else { Self::Test }
    }
}

/// A table of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubTable {
    /// The table. Its id is its place in the corpus; title and section are empty, since they would say which parts
    /// belong together; the caption has what they say.
    pub record: TableRecord,
    /// Id of the table that it was cut from.
    pub source_table: String,
    /// How it was cut.
    pub cut: Cut,
    /// Questions published with it (`example_query`); none where it was built here.
    pub examples: Vec<String>,
}

/// A question to the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiTableQuestion {
    /// The question; its tables are all parts of its source table, in the order of the corpus. The id of a joined
    /// question is that of its questions with `+` between them.
    pub record: TableQuestion,
    /// Id of the table that it was put to.
    pub source_table: String,
    /// Of a statement: whether the table supports it.
    pub label: Option<bool>,
    /// Its answers, of a joined question those of one after the other; empty where none are known.
    pub answers: Vec<String>,
}

/// A corpus and its questions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Benchmark {
    /// The corpus; ids are unique.
    pub tables: Vec<SubTable>,
    /// The questions; each has at least one table, all of the corpus.
    pub questions: Vec<MultiTableQuestion>,
}

/// A benchmark, and what became of the rest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Built {
    /// The benchmark.
    pub benchmark: Benchmark,
    /// How many tables and questions were left out or changed, by why.
    pub tally: BTreeMap<&'static str, usize>,
}

/// No benchmark can be made of these tables and questions, or read from these files.
#[derive(Debug, thiserror::Error)]
pub enum MultiTableError {
    /// A file or folder cannot be read; the message has its path.
    #[error("{0}")]
    Files(String),
    /// A file that cannot be read, or a line of it.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file that cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Two records of one id.
    #[error("{what} {id:?} comes twice: ids must be unique over all files, remove one")]
    Duplicate {
        /// "table" or "question".
        what: &'static str,
        /// The id.
        id: String,
    },
    /// A question of a table that is not there.
    #[error("question {question:?} is of table {table:?}, which no file of tables has: name that file as well")]
    UnknownTable {
        /// Id of the question.
        question: String,
        /// Id of the table.
        table: String,
    },
    /// Nothing to cut.
    #[error("none of the {tables} tables has {SMALLEST} rows and {SMALLEST} columns: there is nothing to cut in parts")]
    NoTable {
        /// Tables that were given.
        tables: usize,
    },
    /// Nothing to ask.
    #[error("none of the {questions} questions can be used for this task: {why}")]
    NoQuestion {
        /// Questions that were given.
        questions: usize,
        /// What they were left out for.
        why: String,
    },
}

/// Makes a benchmark; the same for the same tables, questions and settings, in bytes.
///
/// # Errors
/// Ids that are not unique, a question of a table that is not there, no table that is large enough, and no question left.
pub fn build(
    tables: &[TableRecord],
    questions: &[SourceQuestion],
    settings: &Settings,
) -> Result<Built, MultiTableError> {
    let mut tally = BTreeMap::new();
    let sources = source::Sources::new(tables, &mut tally)?;
    let chosen = questions::choose(&sources, questions, settings, &mut tally)?;
    let (tables, parts) = corpus(&sources, settings);
    let gold = |source: &str| parts.get(source).cloned().unwrap_or_default();
    let questions = chosen.into_iter().map(|chosen| MultiTableQuestion {
        record: TableQuestion {
            id: chosen.id,
            question: chosen.text,
            tables: gold(&chosen.source_table),
            ..TableQuestion::default()
        },
        source_table: chosen.source_table,
        label: chosen.label,
        answers: chosen.answers,
    });
    Ok(Built { benchmark: Benchmark { tables, questions: questions.collect() }, tally })
}

/// All sub-tables, shuffled and numbered, and the ids of each source's, in the order of the corpus.
fn corpus(sources: &source::Sources, settings: &Settings) -> (Vec<SubTable>, HashMap<String, Vec<String>>) {
    let mut order: Vec<&TableRecord> = sources.tables().collect();
    settings.dice("levels", "").shuffle(&mut order);
    let mut tables: Vec<SubTable> = Vec::new();
    for (place, source) in order.into_iter().enumerate() {
        let parts = place % 3 + 1;
        let cut = match (parts, place / 3 % 2) {
            (1, _) => Cut::Whole,
            (_, 0) => Cut::Rows,
            _ => Cut::Columns,
        };
        let grids = cut::parts(source, parts, cut, &mut settings.dice("cut", &source.id));
        let captions = captions::varied(source, parts, &mut settings.dice("captions", &source.id));
        tables.extend(grids.into_iter().zip(captions).map(|((header, rows), caption)| SubTable {
            record: TableRecord {
                source: source.source.clone(),
                caption,
                column_headers: header,
                rows,
                ..TableRecord::default()
            },
            source_table: source.id.clone(),
            cut,
            examples: Vec::new(),
        }));
    }
    settings.dice("corpus", "").shuffle(&mut tables);
    let mut parts: HashMap<String, Vec<String>> = HashMap::new();
    for (number, table) in tables.iter_mut().enumerate() {
        table.record.id = number.to_string();
        parts.entry(table.source_table.clone()).or_default().push(table.record.id.clone());
    }
    (tables, parts)
}

#[cfg(test)]
mod tests;
