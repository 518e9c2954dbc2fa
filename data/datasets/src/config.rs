//! The `[data]` section of a config.

mod generation;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use tabsegnet_lexical::Bm25Config;

use crate::dataset::{Extra, Registry};
use crate::error::DataError;
use crate::mix::SEPARATOR;
use crate::sample::Labels;
use crate::source::Source;

pub use crate::distractors::Placement;
pub use generation::{IxbrlConfig, SyntheticConfig};

/// The kind of a config with several data sets.
pub const MIX: &str = "mix";

/// Which data to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataConfig {
    /// Which data set: the name of a registered one, or `mix` for those of `parts`.
    pub kind: String,
    /// What the data set is called in reports and, in a mix, before its ids; the kind's name unless
    /// given.
    pub name: String,
    /// The directory that the paths below are relative to; relative itself to where the program
    /// is run.
    pub root: String,
    /// Files to train on; for filings, where a directory stands for the HTML files in it.
    pub train: Vec<String>,
    /// Files to measure on. For filings none need be named: the filings of some companies of `train`
    /// are taken then (`ixbrl.dev_share`).
    pub dev: Vec<String>,
    /// Where tables are in files of their own: those of both parts. A directory stands for the JSON
    /// files in it.
    pub tables: Vec<String>,
    /// Files of linked passages, where the tables do not hold them. A directory stands for the JSON
    /// files in it.
    pub passages: Vec<String>,
    /// Files whose tables may become distractors; empty means those of `train` and `dev`.
    pub pool: Vec<String>,
    /// Distractor tables added to each document, where the data set takes a pool of them.
    pub distractors: usize,
    /// Whether they stand alone at random places, as in the paper, or behind the sentences that announce them.
    pub distractor_placement: Placement,
    /// For FinQA: whether characters and blanks that its pages lost are put back (`finqa/text_repair.rs`).
    pub text_repair: bool,
    /// The most questions to train on, chosen by the seed; 0 takes all. The dev part stays whole.
    pub limit: usize,
    /// Seed of the distractors' places, of the choice of questions and of those generated from filings.
    pub seed: u64,
    /// The data sets, for kind `mix`; each has the keys of this section, its root relative to this one's.
    pub parts: Vec<DataConfig>,
    /// How distractors are found, and the BM25 baseline's settings.
    pub bm25: Bm25Config,
    /// How questions are generated from filings, for kind `ixbrl`.
    pub ixbrl: IxbrlConfig,
    /// The generated reports, for kind `synthetic`.
    pub synthetic: SyntheticConfig,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            kind: "finqa".into(),
            name: String::new(),
            root: String::new(),
            train: Vec::new(),
            dev: Vec::new(),
            tables: Vec::new(),
            passages: Vec::new(),
            pool: Vec::new(),
            distractors: 3,
            distractor_placement: Placement::Random,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// What the model learns from.
    #[default]
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

    /// The key of its files in `[data]`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Train => "data.train",
            Self::Dev => "data.dev",
        }
    }
}

impl DataConfig {
    /// Where a part comes from.
    ///
    /// # Errors
    /// A kind that is not registered, a part without files, a file that is not there, settings that do not go
    /// together.
    pub fn source(&self, part: Part, datasets: &Registry) -> Result<Source, DataError> {
        self.check(datasets)?;
        let source = match self.is_mix() {
            true => self.mix(part, datasets)?,
            false => {
                let dataset = datasets.get(&self.kind)?;
                Source::new(dataset, dataset.inputs(self, part)?, self, Labels::Required)
            }
        };
        Ok(match part {
            Part::Train if self.limit > 0 => {
                Source::Limited { source: Box::new(source), questions: self.limit, seed: self.seed }
            }
            _ => source,
        })
    }

    /// Whether it is several data sets.
    pub fn is_mix(&self) -> bool {
        self.kind == MIX
    }

    /// What the data set is called.
    pub fn name(&self) -> &str {
        if self.name.is_empty() { &self.kind } else { &self.name }
    }

    /// What holds for a data set: in a mix its first part of that kind, else, or where it has none, this section.
    pub fn of_kind(&self, kind: &str) -> &Self {
        self.parts.iter().find(|part| part.kind == kind).unwrap_or(self)
    }

    /// Distractor tables added to each document, where the data set takes a pool of them.
    pub fn distractors(&self, datasets: &Registry) -> usize {
        let takes = datasets.get(&self.kind).is_ok_and(|dataset| dataset.takes().contains(&Extra::Pool));
        if takes { self.distractors } else { 0 }
    }

    /// The names of the files with questions of a part.
    pub fn files(&self, part: Part) -> &[String] {
        match part {
            Part::Train => &self.train,
            Part::Dev => &self.dev,
        }
    }

    /// The names of extra files.
    pub fn extra(&self, extra: Extra) -> &[String] {
        match extra {
            Extra::Tables => &self.tables,
            Extra::Passages => &self.passages,
            Extra::Pool => &self.pool,
        }
    }

    /// Whether the kinds, those of parts too, are registered.
    ///
    /// # Errors
    /// Which one is not; the message has those that are.
    pub fn check_kinds(&self, datasets: &Registry) -> Result<(), DataError> {
        let all = std::iter::once(self).chain(&self.parts);
        all.filter(|config| !config.is_mix()).try_for_each(|config| datasets.get(&config.kind).map(|_| ()))
    }

    /// Whether the kind is registered and the extra files are those that it takes; of all parts, too.
    ///
    /// # Errors
    /// Which setting is wrong and what to do.
    pub fn check(&self, datasets: &Registry) -> Result<(), DataError> {
        let setting = |key, message: String| Err(DataError::Setting { key, message });
        if !self.is_mix() {
            if !self.parts.is_empty() {
                return setting("data.parts", format!("is for data.kind = {MIX:?}, not for {:?}", self.kind));
            }
            let given = |extra| !self.extra(extra).is_empty();
            return datasets
                .check(datasets.get(&self.kind)?, given)
                .or_else(|(extra, message)| setting(extra.key(), message));
        }
        let own = [("data.train", &self.train), ("data.dev", &self.dev), ("data.tables", &self.tables)];
        if let Some((key, _)) = own.into_iter().find(|(_, given)| !given.is_empty()) {
            return setting(key, "a mix has no files of its own; name them in [[data.parts]]".into());
        }
        for part in &self.parts {
            let name = part.name();
            let wrong = |message: String| setting("data.parts", format!("{name}: {message}"));
            if part.is_mix() {
                return wrong("a mix cannot be part of a mix; name its parts here".into());
            }
            if name.contains(|c: char| c == SEPARATOR || c.is_whitespace()) {
                return wrong(format!("data.name holds a blank or {SEPARATOR:?}; it goes before ids"));
            }
            if self.parts.iter().filter(|other| other.name() == name).count() > 1 {
                return wrong("two parts have this name; give each a data.name of its own".into());
            }
            part.check(datasets).map_err(|error| of_part(name, error))?;
        }
        Ok(())
    }

    /// The data sets that have something for the part.
    fn mix(&self, part: Part, datasets: &Registry) -> Result<Source, DataError> {
        let mut sources: Vec<(String, Source)> = Vec::new();
        for config in &self.parts {
            if !datasets.get(&config.kind)?.has(config, part) {
                continue;
            }
            let root = Path::new(&self.root).join(&config.root).display().to_string();
            let source = Self { root, ..config.clone() }.source(part, datasets);
            sources.push((config.name().to_owned(), source.map_err(|error| of_part(config.name(), error))?));
        }
        if sources.is_empty() {
            let part = part.name();
            let message =
                format!("no part has {part} files; expected [[data.parts]] with kind, root, {part} and so on");
            return Err(DataError::Setting { key: "data.parts", message });
        }
        Ok(Source::Mix(sources))
    }

    /// Names of files as paths.
    pub fn paths<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Vec<PathBuf> {
        names.into_iter().map(|name| Path::new(&self.root).join(name)).collect()
    }
}

/// An error of a part of a mix.
fn of_part(name: &str, error: DataError) -> DataError {
    match error {
        DataError::Setting { key, message } => {
            DataError::Setting { key: "data.parts", message: format!("{name}: {key}: {message}") }
        }
        other => other,
    }
}

pub(crate) fn existing(key: &'static str, files: Vec<PathBuf>) -> Result<Vec<PathBuf>, DataError> {
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
