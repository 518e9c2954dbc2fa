//! Settings of the data sets that `tabsegnet-generate` generates. They stand here, since every config has them.

use serde::{Deserialize, Serialize};

/// How questions are generated from filings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IxbrlConfig {
    /// Documents from one filing, at most; each is a part of it.
    pub documents_per_filing: usize,
    /// Questions put to one document, at most.
    pub questions_per_document: usize,
    /// Tables of a document: half as many to as many.
    pub tables: usize,
    /// Nodes that a document's tables may have together; its sentences come on top.
    pub nodes: usize,
    /// Sentences before and after each table.
    pub sentences: usize,
    /// Questions that a sentence answers, put to one document, at most.
    pub prose_per_document: usize,
    /// Sentences of the whole filing that have most in common with each question.
    pub hard_negatives: usize,
    /// Stretches of sentences from anywhere in the filing.
    pub stretches: usize,
    /// The share of companies whose filings are the dev part, where `data.dev` names no files.
    pub dev_share: f64,
}

impl Default for IxbrlConfig {
    fn default() -> Self {
        Self {
            documents_per_filing: 8,
            questions_per_document: 12,
            tables: 10,
            nodes: 900,
            sentences: 4,
            prose_per_document: 8,
            hard_negatives: 5,
            stretches: 8,
            dev_share: 0.2,
        }
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
