//! Where documents and questions come from.

use serde::Serialize;
use tabsegnet_store::{Digest, sha256_file};

use crate::config::DataConfig;
use crate::dataset::{Dataset, Inputs};
use crate::error::DataError;
use crate::mix;
use crate::sample::{Labels, Samples};

/// Where the documents and questions of one part come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// One data set.
    Dataset {
        /// Which.
        dataset: &'static dyn Dataset,
        /// What it is read from.
        inputs: Inputs,
        /// Its section.
        config: Box<DataConfig>,
        /// Whether gold is needed.
        labels: Labels,
    },
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
    /// One data set.
    pub fn new(dataset: &'static dyn Dataset, inputs: Inputs, config: &DataConfig, labels: Labels) -> Self {
        Self::Dataset { dataset, inputs, config: Box::new(config.clone()), labels }
    }

    /// Reads it.
    ///
    /// # Errors
    /// What is wrong with a file: each error names the file, the record and the field.
    pub fn read(&self) -> Result<Samples, DataError> {
        match self {
            Self::Dataset { dataset, inputs, config, labels } => dataset.read(inputs, config, *labels),
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

    /// The same, with questions whose gold is not known.
    #[must_use]
    pub fn unlabelled_too(self) -> Self {
        match self {
            Self::Dataset { dataset, inputs, config, .. } => {
                Self::Dataset { dataset, inputs, config, labels: Labels::Optional }
            }
            Self::Limited { source, questions, seed } => {
                Self::Limited { source: Box::new(source.unlabelled_too()), questions, seed }
            }
            Self::Mix(parts) => {
                Self::Mix(parts.into_iter().map(|(name, source)| (name, source.unlabelled_too())).collect())
            }
        }
    }

    /// The files with questions, for messages.
    pub fn describe(&self) -> String {
        let join = |names: Vec<String>| names.join(", ");
        match self {
            Self::Dataset { dataset, inputs, .. } if inputs.files.is_empty() => format!("data set {}", dataset.name()),
            Self::Dataset { inputs, .. } => join(inputs.files.iter().map(|file| file.display().to_string()).collect()),
            Self::Limited { source, .. } => source.describe(),
            Self::Mix(parts) => join(parts.iter().map(|(_, source)| source.describe()).collect()),
        }
    }

    /// The names of a mix's data sets; none for any other source.
    pub fn datasets(&self) -> Vec<&str> {
        match self {
            Self::Mix(parts) => parts.iter().map(|(name, _)| name.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    /// Adds everything that the samples depend on: names and bytes of files, and settings.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn digest(&self, digest: Digest) -> Result<Digest, DataError> {
        match self {
            Self::Dataset { dataset, inputs, config, labels } => {
                let settings = dataset.settings(config, inputs);
                let mut digest = digest.part(dataset.name()).part(format!("{labels:?}")).part(settings);
                for (role, files) in inputs.all() {
                    digest = digest.part(role);
                    for file in files {
                        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
                        digest = digest.part(name.unwrap_or_default()).part(sha256_file(file)?);
                    }
                }
                Ok(digest)
            }
            Self::Limited { source, questions, seed } => {
                source.digest(digest.part("limited").part(questions.to_le_bytes()).part(seed.to_le_bytes()))
            }
            Self::Mix(parts) => {
                parts.iter().try_fold(digest.part("mix"), |digest, (name, source)| source.digest(digest.part(name)))
            }
        }
    }
}

/// Settings as text. They are numbers, names and lists of them: there is nothing JSON cannot hold.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
