//! `infer`: ranks the nodes of a document for a question, or of a whole file of questions.

mod arguments;
mod dataset;
mod output;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use tabsegnet_data::graph::DocumentGraph;
use tabsegnet_data::native::read_document;
use tabsegnet_encoder::{EmbeddingCache, default_cache_dir};
use tabsegnet_model::device::guard;
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
            ExitCode::from(if error.chain().any(|cause| cause.is::<UsageError>()) { USAGE } else { 1 })
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let input = arguments.input()?;
    if let Some(path) = &arguments.graph {
        let Input::Document { document, .. } = &input else {
            return Err(UsageError("--graph goes with --document".into()).into());
        };
        let graph = DocumentGraph::new(&read_document(document)?);
        output::write_graph(path, &graph)?;
    }
    let (device, name) = arguments.device.open()?;
    eprintln!("device: {name}");
    let ranker = guard(&device, || Ranker::open(&arguments.checkpoint, device.clone()))??;
    guard(&device, || rank(arguments, input, &ranker))?
}

fn rank(arguments: &Arguments, input: Input<'_>, ranker: &Ranker) -> Result<()> {
    let cache = match &arguments.cache {
        Some(directory) => directory.clone(),
        None => default_cache_dir()?,
    };
    let cache = EmbeddingCache::open(&cache)?;
    match input {
        Input::Document { document, question } => {
            let document_path = document;
            let document = read_document(document_path)?;
            let ranking = ranker
                .rank(&document, question, arguments.top_k(), &cache)
                .with_context(|| format!("{}: could not be ranked", document_path.display()))?;
            output::write(&[ranking], &[Vec::new()], arguments.format, arguments.output.as_deref())
        }
        Input::Dataset(files) => {
            let (rankings, gold) = dataset::rank(ranker, &files, arguments.top_k(), &cache)?;
            output::write(&rankings, &gold, arguments.format, arguments.output.as_deref())
        }
    }
}
