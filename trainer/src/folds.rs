//! Rankers that have each not learnt from a part of the training documents, kept for trainings that need rankings of these.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tabsegnet::{Session, SessionOptions};
use tabsegnet_datasets::mix::own_id;
use tabsegnet_ranker::checkpoint::{self, Manifest};
use tabsegnet_store::{read_text, write_bytes_atomic};

use crate::reranker::Folds;

/// Beside the rankers: the fold of each training document, by its own id.
const DOCUMENTS: &str = "documents.json";

/// The checkpoint of a fold.
fn checkpoint_of(directory: &Path, fold: usize) -> PathBuf {
    directory.join(fold.to_string())
}

/// Writes a checkpoint a fold, and which documents it has not learnt from.
pub fn write(directory: &Path, folds: &Folds, ids: &[&str], manifest: Manifest, config: &str) -> Result<()> {
    // What is measured is the ranker of all folds.
    let manifest = Manifest { dev: BTreeMap::new(), ..manifest };
    for (number, (ranker, reranker)) in folds.rankers.iter().enumerate() {
        let card = format!(
            "# Ranker of a fold\n\nNot for use on documents: it has learnt from the training documents that are not of fold {number} \
             in `../{DOCUMENTS}`, and ranks those of the fold for what learns from rankings of them (`answers.fold_rankers`).\n"
        );
        checkpoint::write(
            &checkpoint_of(directory, number),
            ranker,
            &[],
            Some(reranker),
            manifest.clone(),
            config,
            &card,
        )?;
    }
    let documents: BTreeMap<&str, usize> =
        ids.iter().zip(&folds.of_documents).map(|(id, fold)| (own_id(id), *fold)).collect();
    write_bytes_atomic(&directory.join(DOCUMENTS), serde_json::to_string(&documents)?.as_bytes())?;
    Ok(())
}

/// Rankers of folds, opened.
pub struct FoldRankers {
    rankers: Vec<Session>,
    documents: BTreeMap<String, usize>,
}

impl FoldRankers {
    /// Those below a directory.
    ///
    /// # Errors
    /// A directory that no training with `output.fold_rankers` wrote.
    pub fn open(directory: &Path, options: &SessionOptions) -> Result<Self> {
        let file = directory.join(DOCUMENTS);
        let text = read_text(&file).with_context(|| {
            format!(
                "answers.fold_rankers: {} is not what a training with output.fold_rankers writes; train the ranker \
                 (configs/general.toml), or do without: --set answers.fold_rankers=",
                directory.display()
            )
        })?;
        let documents: BTreeMap<String, usize> =
            serde_json::from_str(&text).with_context(|| format!("{}: expected documents and folds", file.display()))?;
        let folds = documents.values().max().map_or(0, |last| last + 1);
        if folds == 0 {
            bail!("{}: names no document", file.display());
        }
        let open = |number: usize| Ok(Session::open_with(checkpoint_of(directory, number), options)?);
        Ok(Self { rankers: (0..folds).map(open).collect::<Result<_>>()?, documents })
    }

    /// The ranker that has not learnt from a document; nothing where none has.
    pub fn of(&self, document: &str) -> Option<&Session> {
        self.rankers.get(*self.documents.get(own_id(document))?)
    }

    /// How many of some documents a ranker has learnt from.
    pub fn known<'a>(&self, documents: impl Iterator<Item = &'a str>) -> usize {
        documents.filter(|id| self.documents.contains_key(own_id(id))).count()
    }
}
