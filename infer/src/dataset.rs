//! Every question of a data set's files.

use std::path::Path;

use anyhow::Result;
use tabsegnet::Ranker;
use tabsegnet::ranker::ranking;
use tabsegnet_datasets::config::{files_with, json_files};
use tabsegnet_datasets::ixbrl::Companies;
use tabsegnet_datasets::prepared::prepare_in_memory;
use tabsegnet_datasets::sample::Labels;
use tabsegnet_datasets::source::Source;
use tabsegnet_datasets::{hitab, hybridqa};
use tabsegnet_encoder::EmbeddingCache;

use crate::arguments::{DatasetKind, Files};
use crate::output::Writer;

/// Ranks for every question. In tables the gold nodes, as far as the files name them, get a star.
pub fn rank(ranker: &Ranker, files: &Files<'_>, top_k: usize, cache: &Path, writer: &mut Writer<'_>) -> Result<()> {
    let (questions, labels) = (files.input.to_vec(), Labels::Optional);
    let tables = || json_files("--tables", files.tables.to_vec());
    let source = match files.kind {
        DatasetKind::Finqa => {
            let data = &ranker.settings().data;
            let (distractors, text_repair) = (data.finqa_distractors(), data.finqa_text_repair());
            Source::Finqa { files: questions, pool: files.pool.to_vec(), distractors, text_repair, labels }
        }
        DatasetKind::Multihiertt => Source::Multihiertt(questions, labels),
        DatasetKind::Tatqa => Source::Tatqa(questions, labels),
        DatasetKind::Hybridqa => {
            let passages = json_files("--passages", files.passages.to_vec())?;
            Source::Hybridqa(hybridqa::Files { questions, tables: tables()?, passages }, labels)
        }
        DatasetKind::Hitab => Source::Hitab(hitab::Files { questions, tables: tables()? }, labels),
        DatasetKind::Ixbrl => {
            let filings = files_with("--input", questions, &["htm", "html", "xhtml"])?;
            Source::Ixbrl(ranker.settings().data.filings(filings, Companies::All))
        }
        DatasetKind::Native => Source::Native(questions),
    };
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
