//! What a data set is, and which there are.

use std::fmt;
use std::path::PathBuf;

use crate::config::{DataConfig, Part, existing, json_files};
use crate::error::DataError;
use crate::sample::{Labels, Samples};

/// A data set: documents and questions about them, read from files or generated.
///
/// What always holds, for every one that is registered (`tests/laws.rs` of `tabsegnet-generate` checks it):
///
/// - The same inputs and settings give the same samples. Documents come in the order in which the files name them
///   first, the questions of a document in the files' order.
/// - Ids of documents and ids of questions are unique. Gold nodes, and the nodes of segments, are nodes of the
///   question's document; a segment's nodes are gold.
/// - With [`Labels::Required`] every question has gold, or it is left out with a reason. With [`Labels::Optional`] the
///   same documents come with the same questions and those that were left out.
/// - No files give no samples. A file without a record is an error that names it.
/// - Every file that is read is among the inputs, and every setting that is looked at is in
///   [`settings`](Self::settings): prepared data are kept by their digest.
pub trait Dataset: Sync {
    /// What `data.kind` and `infer --dataset` call it: a word.
    fn name(&self) -> &'static str;

    /// What it is, in a line.
    fn about(&self) -> &'static str;

    /// What counts as a right answer to its questions.
    fn answers(&self) -> AnswerRule {
        AnswerRule::Nodes
    }

    /// Which files it takes beside those with questions.
    fn takes(&self) -> &'static [Extra] {
        &[]
    }

    /// Whether a config gives it something to read for a part.
    fn has(&self, config: &DataConfig, part: Part) -> bool {
        !config.files(part).is_empty()
    }

    /// The files of a part that a config names.
    ///
    /// # Errors
    /// A part without files, a file that is not there.
    fn inputs(&self, config: &DataConfig, part: Part) -> Result<Inputs, DataError> {
        Inputs::of(self.takes(), config, part)
    }

    /// The settings that [`read`](Self::read) looks at, in any text that differs where they do.
    fn settings(&self, _config: &DataConfig, _inputs: &Inputs) -> String {
        String::new()
    }

    /// Reads all documents and questions.
    ///
    /// # Errors
    /// What is wrong with a file: each error names the file, the record and the field.
    fn read(&self, inputs: &Inputs, config: &DataConfig, labels: Labels) -> Result<Samples, DataError>;
}

impl fmt::Debug for dyn Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What counts as a right answer, as the authors of a data set count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerRule {
    /// What the published program gives (FinQA: execution and program accuracy).
    Program,
    /// The published span, number and scale (TAT-QA: exact match and F1).
    Span,
    /// The published words or number (HiTab, AIT-QA: exact match).
    Match,
    /// No answer is published: the gold nodes say it, or the number in full where something is computed.
    Nodes,
}

/// Files that some data sets take beside those with questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extra {
    /// Tables, where they are in files of their own. A data set that takes them needs them.
    Tables,
    /// Passages that tables link to, where the tables do not hold them.
    Passages,
    /// Files whose tables may become distractors; those with questions unless given.
    Pool,
}

impl Extra {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tables, Self::Passages, Self::Pool];

    /// The key in `[data]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tables => "data.tables",
            Self::Passages => "data.passages",
            Self::Pool => "data.pool",
        }
    }

    /// The same without its section, as an option of a command line has it.
    pub fn name(self) -> &'static str {
        self.key().trim_start_matches("data.")
    }
}

/// What a data set is read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Which part it is.
    pub part: Part,
    /// Files with questions; none for a data set that is generated.
    pub files: Vec<PathBuf>,
    /// [`Extra::Tables`].
    pub tables: Vec<PathBuf>,
    /// [`Extra::Passages`].
    pub passages: Vec<PathBuf>,
    /// [`Extra::Pool`].
    pub pool: Vec<PathBuf>,
    /// Documents that the files with questions name, where they are files of their own.
    pub documents: Vec<PathBuf>,
}

impl Inputs {
    /// What a config names for a part, of which only the extras in `takes` are wanted.
    pub(crate) fn of(takes: &[Extra], config: &DataConfig, part: Part) -> Result<Self, DataError> {
        let (key, names) = (part.key(), config.files(part));
        if names.is_empty() {
            let message = "names no file; expected a list of paths, such as [\"train.json\"]".into();
            return Err(DataError::Setting { key, message });
        }
        let files = existing(key, config.paths(names))?;
        let listed = |extra: Extra| match takes.contains(&extra) {
            true => json_files(extra.key(), config.paths(config.extra(extra))),
            false => Ok(Vec::new()),
        };
        let pool = match (takes.contains(&Extra::Pool), config.pool.is_empty()) {
            (false, _) => Vec::new(),
            (true, false) => existing(Extra::Pool.key(), config.paths(&config.pool))?,
            (true, true) => existing("data.train and data.dev", config.paths(config.train.iter().chain(&config.dev)))?,
        };
        let (tables, passages) = (listed(Extra::Tables)?, listed(Extra::Passages)?);
        Ok(Self { part, files, tables, passages, pool, documents: Vec::new() })
    }

    /// All files by what they are for.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, &[PathBuf])> {
        let Self { part: _, files, tables, passages, pool, documents } = self;
        let lists: [(_, &[PathBuf]); 5] =
            [("files", files), ("tables", tables), ("passages", passages), ("pool", pool), ("documents", documents)];
        // Few data sets have any: the digests of the others stay what they were.
        lists.into_iter().filter(|(role, files)| *role != "documents" || !files.is_empty())
    }
}

/// The data sets that a program knows.
#[derive(Debug, Clone)]
pub struct Registry(Vec<&'static dyn Dataset>);

impl Registry {
    /// Of some data sets.
    pub fn new(datasets: impl IntoIterator<Item = &'static dyn Dataset>) -> Self {
        Self(datasets.into_iter().collect())
    }

    /// All of them, in the order of their registration.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Dataset> {
        self.0.iter().copied()
    }

    /// The one of a name.
    ///
    /// # Errors
    /// A name that none has; the message has those that there are.
    pub fn get(&self, name: &str) -> Result<&'static dyn Dataset, DataError> {
        self.iter().find(|dataset| dataset.name() == name).ok_or_else(|| {
            let known: Vec<&str> = self.iter().map(Dataset::name).collect();
            let message = format!("is {name:?}; expected {} or mix", known.join(", "));
            DataError::Setting { key: "data.kind", message }
        })
    }

    /// Whether a data set is given the extra files that it takes, and no others.
    ///
    /// # Errors
    /// Which extra is amiss, and what to say of it.
    pub fn check(&self, dataset: &dyn Dataset, given: impl Fn(Extra) -> bool) -> Result<(), (Extra, String)> {
        let name = dataset.name();
        for extra in Extra::ALL {
            let takes = dataset.takes().contains(&extra);
            if given(extra) && !takes {
                let others: Vec<&str> =
                    self.iter().filter(|other| other.takes().contains(&extra)).map(Dataset::name).collect();
                let others = match others.split_last() {
                    Some((last, [])) => (*last).to_owned(),
                    Some((last, before)) => format!("{} and {last}", before.join(", ")),
                    None => "no data set".to_owned(),
                };
                return Err((extra, format!("is for {others}, not for {name}")));
            }
            if extra == Extra::Tables && takes && !given(extra) {
                return Err((extra, format!("names no file; {name} has its tables in files of their own")));
            }
        }
        Ok(())
    }
}
