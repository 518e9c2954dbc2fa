//! `infer`: ranks the nodes of a document for a question, or of a whole file of questions.

mod arguments;
mod dataset;
mod output;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use tabsegnet_data::graph::DocumentGraph;
use tabsegnet_document::model::Document;
use tabsegnet_encoder::{EmbeddingCache, default_cache_dir};
use tabsegnet_model::device::DeviceError;
use tabsegnet_ranking::Ranker;

use arguments::{Arguments, Input, UsageError};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Exit code for wrong usage.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            let usage = error.chain().any(|cause| cause.is::<UsageError>() || cause.is::<DeviceError>());
            ExitCode::from(if usage { USAGE } else { 1 })
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let input = arguments.input()?;
    match input {
        Input::Document { document: path, question } => {
            let document = read_document(path, arguments)?;
            if let Some(path) = &arguments.graph {
                output::write_graph(path, &DocumentGraph::new(&document))?;
            }
            let (ranker, cache) = open(arguments)?;
            let ranking = ranker
                .rank(&document, question, arguments.top_k(), &cache)
                .with_context(|| format!("{}: could not be ranked", path.display()))?;
            output::write(&[ranking], &[Vec::new()], arguments.format, arguments.output.as_deref())
        }
        Input::Dataset(files) => {
            let (ranker, cache) = open(arguments)?;
            let (rankings, gold) = dataset::rank(&ranker, &files, arguments.top_k(), &cache)?;
            output::write(&rankings, &gold, arguments.format, arguments.output.as_deref())
        }
    }
}

/// The checkpoint on the device, and the cache of vectors.
fn open(arguments: &Arguments) -> Result<(Ranker, EmbeddingCache)> {
    let (device, name) = arguments.device.open()?;
    eprintln!("device: {name}");
    let ranker = Ranker::open(&arguments.checkpoint, device)?;
    let cache = match &arguments.cache {
        Some(directory) => directory.clone(),
        None => default_cache_dir()?,
    };
    Ok((ranker, EmbeddingCache::open(&cache)?))
}

/// Reads a document of any form and says on stderr what a person should know of the reading.
fn read_document(path: &Path, arguments: &Arguments) -> Result<Document> {
    let read = tabsegnet_document::read(path, &arguments.read_options())?;
    for warning in &read.warnings {
        eprintln!("warning: {}: {warning}", path.display());
    }
    if arguments.show_tables {
        for table in &read.tables {
            eprintln!("{table}");
        }
    }
    Ok(read.document)
}
