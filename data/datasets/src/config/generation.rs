//! Settings of the data sets that `tabsegnet-generate` generates. They stand here, since every config has them.

use serde::{Deserialize, Serialize};

/// How questions are generated from filings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IxbrlConfig {
    /// Questions put to the tagged numbers of a filing, at most.
    pub questions_per_filing: usize,
    /// Questions that a sentence of a filing answers, at most.
    pub prose_per_filing: usize,
    /// Questions with the number that answers them, at most.
    pub computed_per_filing: usize,
    /// The share of companies whose filings are the dev part, where `data.dev` names no files.
    pub dev_share: f64,
}

impl Default for IxbrlConfig {
    fn default() -> Self {
        Self { questions_per_filing: 120, prose_per_filing: 60, computed_per_filing: 0, dev_share: 0.2 }
    }
}

/// Which reports are generated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticConfig {
    /// Documents of the train part.
    pub train_documents: usize,
    /// Documents of the dev part.
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
