//! The `[data]` section of a config.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::distractors::DistractorConfig;
use crate::error::DataError;
use crate::ixbrl::{Companies, Filings, IxbrlConfig};
use crate::lexical::Bm25Config;
use crate::mix::SEPARATOR;
use crate::sample::Labels;
use crate::source::Source;
use crate::synthetic::{self, SyntheticConfig};
use crate::{hitab, hybridqa};

/// Which form the files have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataKind {
    /// FinQA as published.
    #[default]
    Finqa,
    /// MultiHierTT as published.
    Multihiertt,
    /// TAT-QA as published.
    Tatqa,
    /// HybridQA as published.
    Hybridqa,
    /// HiTab as published.
    Hitab,
    /// Annual and quarterly reports with inline XBRL; questions are made from their tags.
    Ixbrl,
    /// JSON lines of labelled documents in the native form.
    Native,
    /// Reports made by the project; no files.
    Synthetic,
    /// Several data sets, those of `parts`.
    Mix,
}

impl DataKind {
    /// The name used in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finqa => "finqa",
            Self::Multihiertt => "multihiertt",
            Self::Tatqa => "tatqa",
            Self::Hybridqa => "hybridqa",
            Self::Hitab => "hitab",
            Self::Ixbrl => "ixbrl",
            Self::Native => "native",
            Self::Synthetic => "synthetic",
            Self::Mix => "mix",
        }
    }

    /// Whether the tables are in files of their own.
    fn has_tables(self) -> bool {
        matches!(self, Self::Hybridqa | Self::Hitab)
    }
}

/// Which data to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataConfig {
    /// Which form the files have.
    pub kind: DataKind,
    /// What the data set is called in reports and, in a mix, before its ids; the kind's name unless
    /// given.
    pub name: String,
    /// The directory that the paths below are relative to; relative itself to where the program
    /// is run.
    pub root: String,
    /// Files to train on; for iXBRL filings, where a directory stands for the HTML files in it.
    pub train: Vec<String>,
    /// Files to measure on. For iXBRL none need be named: the filings of some companies of `train`
    /// are taken then (`ixbrl.dev_share`).
    pub dev: Vec<String>,
    /// For HybridQA and HiTab: the files of tables, of both parts. A directory stands for the JSON
    /// files in it.
    pub tables: Vec<String>,
    /// For HybridQA: the files of linked passages, where the tables do not hold them. A directory
    /// stands for the JSON files in it.
    pub passages: Vec<String>,
    /// For FinQA: files whose tables may become distractors; empty means those of `train` and `dev`.
    pub pool: Vec<String>,
    /// Distractor tables added to each FinQA document; other data sets get none.
    pub distractors: usize,
    /// For FinQA: whether characters and blanks that its pages lost are put back ([`crate::finqa::text_repair`]).
    pub text_repair: bool,
    /// The most questions to train on, chosen by the seed; 0 takes all. The dev part stays whole.
    pub limit: usize,
    /// Seed of the distractors' places, of the choice of questions and of those made from filings.
    pub seed: u64,
    /// The data sets, for kind `mix`; each has the keys of this section, its root relative to this one's.
    pub parts: Vec<DataConfig>,
    /// How distractors are found, and the BM25 baseline's settings.
    pub bm25: Bm25Config,
    /// How questions are made from filings, for kind `ixbrl`.
    pub ixbrl: IxbrlConfig,
    /// The generated reports, for kind `synthetic`.
    pub synthetic: SyntheticConfig,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            kind: DataKind::default(),
            name: String::new(),
            root: String::new(),
            train: Vec::new(),
            dev: Vec::new(),
            tables: Vec::new(),
            passages: Vec::new(),
            pool: Vec::new(),
            distractors: 3,
            text_repair: false,
            limit: 0,
            seed: 0,
            parts: Vec::new(),
            bm25: Bm25Config::default(),
            ixbrl: IxbrlConfig::default(),
            synthetic: SyntheticConfig::default(),
        }
    }
}

/// A part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What the model learns from.
    Train,
    /// What choices are made on.
    Dev,
}

impl Part {
    /// `train` or `dev`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
        }
    }
}

impl DataConfig {
    /// Where a part comes from.
    ///
    /// # Errors
    /// A part without files, a file that is not there, settings that do not go together.
    pub fn source(&self, part: Part) -> Result<Source, DataError> {
        self.check()?;
        let source = if self.kind == DataKind::Mix { self.mix(part)? } else { self.single(part)? };
        Ok(match part {
            Part::Train if self.limit > 0 => {
                Source::Limited { source: Box::new(source), questions: self.limit, seed: self.seed }
            }
            _ => source,
        })
    }

    /// What the data set is called.
    pub fn name(&self) -> &str {
        if self.name.is_empty() { self.kind.name() } else { &self.name }
    }

    /// What FinQA documents get as distractors: in a mix what its first FinQA part says.
    pub fn finqa_distractors(&self) -> DistractorConfig {
        let config = self.first(DataKind::Finqa);
        DistractorConfig { count: config.distractors, seed: config.seed, bm25: config.bm25 }
    }

    /// Whether FinQA documents are text_repair: in a mix what its first FinQA part says.
    pub fn finqa_text_repair(&self) -> bool {
        self.first(DataKind::Finqa).text_repair
    }

    /// In a mix its first part of a kind, where it has one.
    fn first(&self, kind: DataKind) -> &Self {
        self.parts.iter().find(|part| part.kind == kind).unwrap_or(self)
    }

    /// How questions are made from filings: in a mix what its first part of filings says.
    pub fn filings(&self, files: Vec<PathBuf>, companies: Companies) -> Filings {
        let config = self.first(DataKind::Ixbrl);
        Filings { files, companies, config: config.ixbrl.clone(), seed: config.seed }
    }

    /// Distractor tables added to each document, where the data have any.
    pub fn distractors(&self) -> usize {
        let finqa = |config: &Self| config.kind == DataKind::Finqa;
        if finqa(self) || self.parts.iter().any(finqa) { self.finqa_distractors().count } else { 0 }
    }

    fn check(&self) -> Result<(), DataError> {
        let setting = |key, message: String| Err(DataError::Setting { key, message });
        let kind = self.kind.name();
        if self.kind == DataKind::Mix {
            for (key, given) in [("data.train", &self.train), ("data.dev", &self.dev), ("data.tables", &self.tables)] {
                if !given.is_empty() {
                    return setting(key, "a mix has no files of its own; name them in [[data.parts]]".into());
                }
            }
            return Ok(());
        }
        if !self.parts.is_empty() {
            return setting("data.parts", format!("is for data.kind = \"mix\", not for {kind:?}"));
        }
        if self.kind.has_tables() && self.tables.is_empty() {
            return setting("data.tables", format!("names no file; {kind} has its tables in files of their own"));
        }
        if !self.kind.has_tables() && !self.tables.is_empty() {
            return setting(
                "data.tables",
                format!("is for hybridqa and hitab; {kind} has its tables beside the questions"),
            );
        }
        if self.kind != DataKind::Hybridqa && !self.passages.is_empty() {
            return setting("data.passages", format!("is for hybridqa, not for {kind}"));
        }
        Ok(())
    }

    fn single(&self, part: Part) -> Result<Source, DataError> {
        let (key, names, synthetic_part) = match part {
            Part::Train => ("data.train", &self.train, synthetic::Part::Train),
            Part::Dev => ("data.dev", &self.dev, synthetic::Part::Dev),
        };
        if self.kind == DataKind::Synthetic {
            return Ok(Source::Synthetic(self.synthetic.clone(), synthetic_part));
        }
        if self.kind == DataKind::Ixbrl {
            return self.ixbrl(part);
        }
        if names.is_empty() {
            let message = "names no file; expected a list of paths, such as [\"train.json\"]".into();
            return Err(DataError::Setting { key, message });
        }
        let files = existing(key, self.paths(names))?;
        let labels = Labels::Required;
        let tables = || json_files("data.tables", self.paths(&self.tables));
        Ok(match self.kind {
            DataKind::Native => Source::Native(files),
            DataKind::Multihiertt => Source::Multihiertt(files, labels),
            DataKind::Tatqa => Source::Tatqa(files, labels),
            DataKind::Hybridqa => {
                let passages = json_files("data.passages", self.paths(&self.passages))?;
                Source::Hybridqa(hybridqa::Files { questions: files, tables: tables()?, passages }, labels)
            }
            DataKind::Hitab => Source::Hitab(hitab::Files { questions: files, tables: tables()? }, labels),
            DataKind::Finqa | DataKind::Ixbrl | DataKind::Synthetic | DataKind::Mix => Source::Finqa {
                files,
                pool: if self.pool.is_empty() {
                    existing("data.train and data.dev", self.paths(self.train.iter().chain(&self.dev)))?
                } else {
                    existing("data.pool", self.paths(&self.pool))?
                },
                distractors: self.finqa_distractors(),
                text_repair: self.text_repair,
                labels,
            },
        })
    }

    fn ixbrl(&self, part: Part) -> Result<Source, DataError> {
        if self.train.is_empty() && (part == Part::Train || self.dev.is_empty()) {
            let message = "names no file; expected a directory of filings or HTML files, such as [\".\"]".into();
            return Err(DataError::Setting { key: "data.train", message });
        }
        let files = |key, names: &[String]| files_with(key, self.paths(names), &["htm", "html", "xhtml"]);
        let train = || files("data.train", &self.train);
        let filings = match part {
            _ if self.dev.is_empty() => self.filings(train()?, Companies::Of(part)),
            Part::Train => self.filings(train()?, Companies::Apart(files("data.dev", &self.dev)?)),
            Part::Dev => self.filings(files("data.dev", &self.dev)?, Companies::All),
        };
        Ok(Source::Ixbrl(filings))
    }

    /// The data sets that have files for the part.
    fn mix(&self, part: Part) -> Result<Source, DataError> {
        let key = "data.parts";
        let mut sources: Vec<(String, Source)> = Vec::new();
        for config in &self.parts {
            let name = config.name();
            let wrong = |message: String| DataError::Setting { key, message: format!("{name}: {message}") };
            if config.kind == DataKind::Mix {
                return Err(wrong("a mix cannot be part of a mix; name its parts here".into()));
            }
            if name.contains(|c: char| c == SEPARATOR || c.is_whitespace()) {
                return Err(wrong(format!("data.name holds a blank or {SEPARATOR:?}; it goes before ids")));
            }
            if self.parts.iter().filter(|other| other.name() == name).count() > 1 {
                return Err(wrong("two parts have this name; give each a data.name of its own".into()));
            }
            let files = match part {
                Part::Dev if config.kind == DataKind::Ixbrl && config.dev.is_empty() => &config.train,
                Part::Train => &config.train,
                Part::Dev => &config.dev,
            };
            if files.is_empty() && config.kind != DataKind::Synthetic {
                continue;
            }
            let root = Path::new(&self.root).join(&config.root).display().to_string();
            let source = Self { root, ..config.clone() }.source(part).map_err(|error| match error {
                DataError::Setting { key, message } => wrong(format!("{key}: {message}")),
                other => other,
            })?;
            sources.push((name.to_owned(), source));
        }
        if sources.is_empty() {
            let part = part.name();
            let message =
                format!("no part has {part} files; expected [[data.parts]] with kind, root, {part} and so on");
            return Err(DataError::Setting { key, message });
        }
        Ok(Source::Mix(sources))
    }

    fn paths<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Vec<PathBuf> {
        names.into_iter().map(|name| Path::new(&self.root).join(name)).collect()
    }
}

fn existing(key: &'static str, files: Vec<PathBuf>) -> Result<Vec<PathBuf>, DataError> {
    match files.iter().find(|file| !file.is_file()) {
        None => Ok(files),
        Some(missing) => Err(no_such(key, missing)),
    }
}

fn no_such(key: &'static str, missing: &Path) -> DataError {
    let from =
        if key.starts_with("data.") { "data.root, that to where the program runs" } else { "where the program runs" };
    let message = format!("{}: there is no such file; paths are relative to {from}", missing.display());
    DataError::Setting { key, message }
}

/// Files as they are, and of directories the JSON files in them, by name.
///
/// # Errors
/// A path that is not there, a directory that cannot be read or has no JSON file.
pub fn json_files(key: &'static str, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, DataError> {
    files_with(key, paths, &["json"])
}

/// Files as they are, and of directories those with an extension of the list, by name.
///
/// # Errors
/// A path that is not there, a directory that cannot be read or has no such file.
pub fn files_with(key: &'static str, paths: Vec<PathBuf>, extensions: &[&str]) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_file() {
            files.push(path);
            continue;
        }
        if !path.is_dir() {
            return Err(no_such(key, &path));
        }
        let unreadable =
            |error: std::io::Error| DataError::Setting { key, message: format!("{}: {error}", path.display()) };
        let entries = std::fs::read_dir(&path).map_err(unreadable)?;
        let mut inside: Vec<PathBuf> =
            entries.map(|entry| Ok(entry.map_err(unreadable)?.path())).collect::<Result<_, DataError>>()?;
        inside.retain(|file| {
            let extension = file.extension().map(|extension| extension.to_string_lossy().to_lowercase());
            file.is_file() && extension.is_some_and(|extension| extensions.contains(&extension.as_str()))
        });
        if inside.is_empty() {
            let known = extensions.join(", .");
            let message = format!("{}: the directory holds no file of the form .{known}", path.display());
            return Err(DataError::Setting { key, message });
        }
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
