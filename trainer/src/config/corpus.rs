//! `[corpus]`: for the task `corpus`.

use serde::{Deserialize, Serialize};
use tabsegnet_corpus::gtr::GtrConfig;
use tabsegnet_corpus::{CandidateConfig, IndexConfig};
use tabsegnet_ranker::boosting::training::BoostingConfig;

use super::{ConfigError, Task, in_range};

/// Corpora of tables, and questions to them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CorpusConfig {
    /// Where files are looked for.
    pub root: String,
    /// The most questions of each part's train files, chosen by the seed.
    pub train_questions: usize,
    /// The most questions of each part's dev files, chosen by the seed; 0 takes all.
    pub dev_questions: usize,
    /// How corpora are made.
    pub index: IndexConfig,
    /// What the reranker sees beside words and vectors.
    pub candidates: CandidateConfig,
    /// How the reranker's trees are grown.
    pub boosting: BoostingConfig,
    /// Graph-table retrieval, which the report sets beside the rest.
    pub gtr: GtrConfig,
    /// The corpora.
    pub parts: Vec<CorpusPart>,
}

/// A corpus with questions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CorpusPart {
    /// What reports call it.
    pub name: String,
    /// Files of tables: lines of JSON, or documents.
    pub tables: Vec<String>,
    /// Files of questions to learn from; none for a corpus that is measured alone.
    pub train: Vec<String>,
    /// Which `split` of them; all where it is empty.
    pub train_split: String,
    /// Files of questions to measure on.
    pub dev: Vec<String>,
    /// Which `split` of them; all where it is empty.
    pub dev_split: String,
}

impl Default for CorpusConfig {
    fn default() -> Self {
        Self {
            root: "datasets".into(),
            train_questions: 2000,
            dev_questions: 1000,
            index: IndexConfig::default(),
            candidates: CandidateConfig::default(),
            boosting: BoostingConfig { num_iterations: 300, bagged_models: 1, ..BoostingConfig::default() },
            gtr: GtrConfig::default(),
            parts: Vec::new(),
        }
    }
}

impl CorpusConfig {
    pub(super) fn check(&self, task: Task) -> Result<(), ConfigError> {
        if task != Task::Corpus {
            return Ok(());
        }
        let expected = "at least one [[corpus.parts]] with name, tables and dev";
        in_range(!self.parts.is_empty(), "corpus.parts", "empty", expected)?;
        for part in &self.parts {
            let name = format!("{:?}", part.name);
            let word = !part.name.is_empty() && !part.name.contains(|c: char| c.is_whitespace() || c == '/');
            let own = self.parts.iter().filter(|other| other.name == part.name).count() == 1;
            in_range(word && own, "corpus.parts.name", &name, "a word that no other part has")?;
            let questions = !part.train.is_empty() || !part.dev.is_empty();
            in_range(
                !part.tables.is_empty() && questions,
                "corpus.parts",
                name,
                "files of tables, and of train or dev questions",
            )?;
        }
        in_range(self.train_questions > 0, "corpus.train_questions", 0, "at least 1")
    }
}
