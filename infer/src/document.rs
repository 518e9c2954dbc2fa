//! One document, many questions.

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result};
use tabsegnet_data::graph::GraphConfig;
use tabsegnet_data::native::parse_document;
use tabsegnet_data::prepared::PreparedDocument;
use tabsegnet_encoder::EmbeddingCache;
use tabsegnet_files::read_text;
use tabsegnet_ranking::ranker::Opening;
use tabsegnet_ranking::{DocumentCache, DocumentKey, EncodedDocument, OpenDocument, Ranker, RankingError, documents};

use crate::arguments::More;
use crate::output::Writer;
use crate::questions::{Question, Questions};

/// Where a document's encoded form comes from.
enum Loaded {
    /// From the cache.
    Kept(EncodedDocument),
    /// It has to be encoded.
    Prepared(PreparedDocument),
}

/// Answers the questions in order: the listed ones when all have been read, those of stdin as they
/// come.
pub fn rank(
    opening: Opening,
    path: &Path,
    arguments: &[String],
    more: More<'_>,
    top_k: usize,
    cache: &Path,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let documents = DocumentCache::open(cache, documents::LIMIT)?;
    let failed = || format!("{}: could not be ranked", path.display());
    if arguments.iter().any(|question| question.trim().is_empty()) {
        return Err(RankingError::BlankQuestion).with_context(failed);
    }
    let mut questions = Questions::default();
    let file = if let More::File(file) = more { Some(file) } else { None };
    let mut listed = questions.listed(arguments, file)?;
    if let ([question], More::None) = (listed.as_mut_slice(), more) {
        question.id.clear();
    }

    let source = read_text(path)?;
    let graph = opening.settings().graph.clone();
    let key = DocumentKey::new(source.as_bytes(), &graph, opening.encoder());
    let (ranker, loaded) = rayon::join(|| opening.finish(), || load(&documents, key, path, &source, &graph));
    let ranker = ranker?;
    let (document, kept) = match loaded? {
        Loaded::Kept(document) => (document, true),
        Loaded::Prepared(document) => (encode(&ranker, document, cache).with_context(failed)?, false),
    };
    let open = ranker.open_document(document).with_context(failed)?;

    let mut answer = |question: &Question| -> Result<()> {
        let ranking = open.rank(&question.id, &question.text, top_k).with_context(failed)?;
        writer.add(ranking, &[])
    };
    // Nobody waits for the file.
    let keep = || {
        if !kept {
            self::keep(&documents, key, &open)
        }
    };
    listed.iter().try_for_each(&mut answer)?;
    if more != More::Stdin {
        writer.finish()?;
        keep();
        return Ok(());
    }
    thread::scope(|scope| {
        scope.spawn(keep);
        questions.stdin().try_for_each(|question| answer(&question?))
    })
}

fn load(documents: &DocumentCache, key: DocumentKey, path: &Path, source: &str, graph: &GraphConfig) -> Result<Loaded> {
    match documents.read(key) {
        Ok(Some(document)) => return Ok(Loaded::Kept(document)),
        Ok(None) => {}
        Err(damaged) => eprintln!("{damaged}; the document is encoded anew"),
    }
    Ok(Loaded::Prepared(PreparedDocument::new(&parse_document(path, source)?, graph)))
}

fn encode(ranker: &Ranker, document: PreparedDocument, cache: &Path) -> Result<EncodedDocument> {
    let vectors = ranker.keeps_vectors().then(|| EmbeddingCache::open(cache)).transpose()?;
    Ok(ranker.encode(document, vectors.as_ref())?)
}

/// The answers are given: that the next run has to encode anew is worth a message, not a failure.
fn keep(documents: &DocumentCache, key: DocumentKey, open: &OpenDocument<'_>) {
    if let Err(error) = documents.write(key, open.document()) {
        eprintln!("the document's encoded form is not kept: {error}");
    }
}
