//! Where documents and questions come from.

use std::path::PathBuf;

use serde::Serialize;
use tabsegnet_store::{Digest, sha256_file};

use crate::distractors::{DistractorConfig, DistractorPool};
use crate::error::DataError;
use crate::sample::{Labels, Samples};
use crate::synthetic::{self, SyntheticConfig};
use crate::{finqa, hitab, hybridqa, ixbrl, mix, multihiertt, native, tatqa};

/// Where the documents and questions of one part come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// FinQA files, and the files whose tables may become distractors.
    Finqa {
        /// Records with questions.
        files: Vec<PathBuf>,
        /// Records with tables.
        pool: Vec<PathBuf>,
        /// Which of them.
        distractors: DistractorConfig,
        /// Whether what was lost on the way from the reports is put back ([`finqa::text_repair`]).
        text_repair: bool,
        /// Whether gold is needed.
        labels: Labels,
    },
    /// MultiHierTT files.
    Multihiertt(Vec<PathBuf>, Labels),
    /// TAT-QA files.
    Tatqa(Vec<PathBuf>, Labels),
    /// HybridQA files.
    Hybridqa(hybridqa::Files, Labels),
    /// HiTab files.
    Hitab(hitab::Files, Labels),
    /// Filings that questions are made from.
    Ixbrl(ixbrl::Filings),
    /// Labelled documents, one a line.
    Native(Vec<PathBuf>),
    /// Made reports.
    Synthetic(SyntheticConfig, synthetic::Part),
    /// Some questions of another source, and the documents they are put to.
    Limited {
        /// The other source.
        source: Box<Self>,
        /// At most so many questions.
        questions: usize,
        /// Which ones.
        seed: u64,
    },
    /// Several data sets, by name: `NAME/` goes before the ids of their documents and questions.
    Mix(Vec<(String, Self)>),
}

impl Source {
    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with a file: each error names the file, the record and the field.
    pub fn read(&self) -> Result<Samples, DataError> {
        match self {
            Self::Finqa { files, pool, distractors, text_repair, labels } => {
                let mut samples = finqa::read(files, *labels)?;
                if distractors.count > 0 {
                    let pool = DistractorPool::new(finqa::read_pool(pool)?, distractors.bm25);
                    for sample in &mut samples.samples {
                        pool.add_to(&mut sample.document, distractors.count, distractors.seed);
                    }
                }
                // After gold and distractors are chosen, which it does not change.
                if *text_repair {
                    samples.samples.iter_mut().for_each(|sample| finqa::text_repair::repair(&mut sample.document));
                }
                Ok(samples)
            }
            Self::Multihiertt(files, labels) => multihiertt::read(files, *labels),
            Self::Tatqa(files, labels) => tatqa::read(files, *labels),
            Self::Hybridqa(files, labels) => hybridqa::read(files, *labels),
            Self::Hitab(files, labels) => hitab::read(files, *labels),
            Self::Ixbrl(filings) => ixbrl::read(filings),
            Self::Native(files) => {
                let mut samples = Samples::default();
                for file in files {
                    samples.samples.extend(native::read_samples(file)?);
                }
                Ok(samples)
            }
            Self::Synthetic(config, part) => {
                Ok(Samples { samples: synthetic::generate(config, *part), left_out: Vec::new() })
            }
            Self::Limited { source, questions, seed } => Ok(mix::limited(source.read()?, *questions, *seed)),
            Self::Mix(parts) => {
                let mut all = Samples::default();
                for (name, source) in parts {
                    mix::add(&mut all, name, source.read()?);
                }
                Ok(all)
            }
        }
    }

    /// The files with questions, for messages.
    pub fn describe(&self) -> String {
        match self {
            Self::Finqa { files, .. }
            | Self::Multihiertt(files, _)
            | Self::Tatqa(files, _)
            | Self::Hybridqa(hybridqa::Files { questions: files, .. }, _)
            | Self::Hitab(hitab::Files { questions: files, .. }, _)
            | Self::Ixbrl(ixbrl::Filings { files, .. })
            | Self::Native(files) => files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", "),
            Self::Synthetic(..) => "the generated reports".into(),
            Self::Limited { source, .. } => source.describe(),
            Self::Mix(parts) => parts.iter().map(|(_, source)| source.describe()).collect::<Vec<_>>().join(", "),
        }
    }

    /// The names of a mix's data sets; none for any other source.
    pub fn datasets(&self) -> Vec<&str> {
        match self {
            Self::Mix(parts) => parts.iter().map(|(name, _)| name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// Adds everything that the samples are made from: the bytes of files and the settings.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn digest(&self, digest: Digest) -> Result<Digest, DataError> {
        Ok(match self {
            Self::Finqa { files, pool, distractors, text_repair, labels } => {
                let digest = if *text_repair { digest.part(finqa::text_repair::VERSION) } else { digest };
                let digest = contents(digest.part(format!("finqa {labels:?}")), "files", files)?;
                // Without distractors the pool is not read.
                if distractors.count == 0 {
                    return Ok(digest);
                }
                contents(digest.part(json(distractors)), "pool", pool)?
            }
            Self::Multihiertt(files, labels) => contents(digest.part(format!("{labels:?}")), "multihiertt", files)?,
            Self::Tatqa(files, labels) => contents(digest.part(format!("{labels:?}")), "tatqa", files)?,
            Self::Hybridqa(files, labels) => {
                let digest = contents(digest.part(format!("{labels:?}")), "hybridqa", &files.questions)?;
                named_contents(named_contents(digest, "tables", &files.tables)?, "passages", &files.passages)?
            }
            Self::Hitab(files, labels) => {
                let digest = contents(digest.part(format!("{labels:?}")), "hitab", &files.questions)?;
                named_contents(digest, "tables", &files.tables)?
            }
            Self::Ixbrl(filings) => {
                let ixbrl::Filings { files, companies, config, seed } = filings;
                let digest = digest.part(json(config)).part(seed.to_le_bytes());
                let digest = named_contents(digest, "ixbrl", files)?;
                match companies {
                    ixbrl::Companies::All => digest.part("all"),
                    ixbrl::Companies::Of(part) => digest.part(part.name()),
                    ixbrl::Companies::Apart(others) => named_contents(digest, "apart", others)?,
                }
            }
            Self::Native(files) => contents(digest, "native", files)?,
            Self::Synthetic(config, part) => digest.part("synthetic").part(format!("{part:?}")).part(json(config)),
            Self::Limited { source, questions, seed } => {
                source.digest(digest.part("limited").part(questions.to_le_bytes()).part(seed.to_le_bytes()))?
            }
            Self::Mix(parts) => {
                parts.iter().try_fold(digest.part("mix"), |digest, (name, source)| source.digest(digest.part(name)))?
            }
        })
    }
}

fn contents(digest: Digest, name: &str, files: &[PathBuf]) -> Result<Digest, DataError> {
    files.iter().try_fold(digest.part(name), |digest, file| Ok(digest.part(sha256_file(file)?)))
}

/// As [`contents`], where the files' names count too.
fn named_contents(digest: Digest, name: &str, files: &[PathBuf]) -> Result<Digest, DataError> {
    files.iter().try_fold(digest.part(name), |digest, file| {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(digest.part(name).part(sha256_file(file)?))
    })
}

/// Settings are numbers, names and lists of them: there is nothing JSON cannot hold.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
