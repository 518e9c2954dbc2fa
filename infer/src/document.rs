//! One document, many questions.

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result};
use tabsegnet::ranker::Opening;
use tabsegnet::{DocumentCache, DocumentKey, EncodedDocument, OpenDocument, Ranker, RankingError, documents};
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_encoder::EmbeddingCache;

use crate::arguments::{Arguments, DocumentQuestions, More};
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
    arguments: &Arguments,
    query: &DocumentQuestions<'_>,
    cache: &Path,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let DocumentQuestions { document: path, questions: given, more } = *query;
    let documents = DocumentCache::open(cache, documents::LIMIT)?;
    let failed = || format!("{}: could not be ranked", path.display());
    if given.iter().any(|question| question.trim().is_empty()) {
        return Err(RankingError::BlankQuestion).with_context(failed);
    }
    let mut questions = Questions::default();
    let file = if let More::File(file) = more { Some(file) } else { None };
    let mut listed = questions.listed(given, file)?;
    if let ([question], More::None) = (listed.as_mut_slice(), more) {
        question.id.clear();
    }

    opening
        .answers_own_questions()
        .with_context(|| format!("{}: takes no questions", arguments.checkpoint.display()))?;
    let options = arguments.read_options();
    let source = tabsegnet_document::read_source(path, &options)?;
    let graph = opening.settings().graph.clone();
    // The name gives a document its id, and its form where nothing else does.
    let reading = format!("{:?} {options:?}", path.file_name());
    let key = DocumentKey::new(&source, &reading, &graph, opening.encoder(), opening.compares());
    let load = || {
        let kept = documents.read(key).unwrap_or_else(|damaged| {
            eprintln!("{damaged}; the document is encoded anew");
            None
        });
        let shown = arguments.show_tables || arguments.format.shows_document();
        let read = || tabsegnet_document::read_bytes(path, source, &options);
        anyhow::Ok(match kept {
            Some(document) if !shown => (Loaded::Kept(document), None),
            Some(document) => (Loaded::Kept(document), Some(read()?)),
            None => {
                let read = read()?;
                (Loaded::Prepared(PreparedDocument::new(&read.document, &graph)), Some(read))
            }
        })
    };
    let (ranker, loaded) = rayon::join(|| opening.finish(), load);
    let (ranker, (loaded, read)) = (ranker?, loaded?);
    let (document, in_cache) = match loaded {
        Loaded::Kept(document) => (document, true),
        Loaded::Prepared(document) => {
            let mut document = encode(&ranker, document, cache).with_context(failed)?;
            document.warnings = read.as_ref().map_or_else(Vec::new, |read| read.warnings.clone());
            (document, false)
        }
    };
    if let (Some(read), true) = (&read, arguments.show_tables) {
        read.tables.iter().for_each(|table| eprintln!("{table}"));
    }
    for warning in &document.warnings {
        eprintln!("warning: {}: {warning}", path.display());
    }
    let open = ranker.open_document(document).with_context(failed)?;

    let mut answer = |question: &Question| -> Result<()> {
        let Question { id, text } = question;
        if !arguments.explains() {
            let ranking = open.rank(id, text, arguments.top_k()).with_context(failed)?;
            return writer.add(ranking, &[], read.as_ref().map(|read| &read.document));
        }
        let (ranking, scores) = open.rank_explained(id, text, arguments.top_k()).with_context(failed)?;
        writer.add_explained(ranking, open.document().nodes(), &scores)
    };
    // Nobody waits for the file.
    let keep = || {
        if !in_cache {
            self::keep(&documents, key, &open)
        }
    };
    listed.iter().try_for_each(&mut answer)?;
    if more != More::Stdin {
        writer.finish(read.as_ref())?;
        keep();
        return Ok(());
    }
    thread::scope(|scope| {
        scope.spawn(keep);
        questions.stdin().try_for_each(|question| answer(&question?))
    })
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
