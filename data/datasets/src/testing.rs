//! Reading what a test writes.

use std::io::Write as _;

use crate::config::DataConfig;
use crate::dataset::{Dataset, Inputs};
use crate::error::DataError;
use crate::sample::{Labels, Samples};

/// Reads one file of this content; no distractors are added.
pub fn read(dataset: &dyn Dataset, content: impl std::fmt::Display, labels: Labels) -> Result<Samples, DataError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{content}").unwrap();
    read_inputs(dataset, &Inputs { files: vec![file.path().to_owned()], ..Inputs::default() }, labels)
}

/// Reads files; no distractors are added.
pub fn read_inputs(dataset: &dyn Dataset, inputs: &Inputs, labels: Labels) -> Result<Samples, DataError> {
    dataset.read(inputs, &DataConfig { distractors: 0, ..DataConfig::default() }, labels)
}
