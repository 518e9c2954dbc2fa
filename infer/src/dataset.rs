//! Every question of a data set's files.

use std::path::Path;

use anyhow::Result;
use tabsegnet::Ranker;
use tabsegnet::ranker::ranking;
use tabsegnet_datasets::Inputs;
use tabsegnet_datasets::config::{Part, json_files};
use tabsegnet_datasets::prepared::prepare_in_memory;
use tabsegnet_datasets::sample::Labels;
use tabsegnet_datasets::source::Source;
use tabsegnet_encoder::EmbeddingCache;

use crate::arguments::Files;
use crate::output::Writer;

/// Ranks for every question. In tables the gold nodes, as far as the files name them, get a star.
pub fn rank(ranker: &Ranker, files: &Files<'_>, top_k: usize, cache: &Path, writer: &mut Writer<'_>) -> Result<()> {
    let inputs = Inputs {
        part: Part::Dev,
        files: files.input.to_vec(),
        tables: json_files("--tables", files.tables.to_vec())?,
        passages: json_files("--passages", files.passages.to_vec())?,
        pool: files.pool.to_vec(),
    };
    let config = ranker.settings().data.of_kind(files.dataset.name());
    let source = Source::new(files.dataset, inputs, config, Labels::Optional);
    let prepared = prepare_in_memory(&source, &ranker.settings().prepare())?;
    eprintln!(
        "{} questions, {} documents, {} nodes",
        prepared.questions.len(),
        prepared.documents.len(),
        prepared.statistics.nodes
    );
    let mut last = std::time::Instant::now();
    let vectors = ranker.keeps_vectors().then(|| EmbeddingCache::open(cache)).transpose()?;
    let embedded = ranker.embed(prepared.documents, prepared.questions, vectors.as_ref(), &mut |done, of| {
        if last.elapsed().as_secs() >= 10 {
            last = std::time::Instant::now();
            eprintln!("encode: {done}/{of} texts");
        }
    })?;
    if ranker.takes_given_segments() {
        eprintln!(
            "segments: those that the data set gives, an upper bound; {} of {} questions have none and are their own",
            embedded.without_segments(),
            embedded.questions.len()
        );
    }
    let scores = ranker.scores(&embedded)?;
    for (index, question) in embedded.questions.iter().enumerate() {
        let nodes = embedded.document_of(index).nodes();
        let gold: Vec<&str> = question.gold.iter().map(|&node| nodes[node as usize].id.as_str()).collect();
        writer.add(ranking(&embedded, index, &scores[index], top_k), &gold, None)?;
    }
    writer.finish(None)
}
