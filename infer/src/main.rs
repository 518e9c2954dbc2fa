//! `infer`: ranks the nodes of a document for questions, or for every question of a data set.

mod arguments;
mod dataset;
mod document;
mod output;
mod questions;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser as _;
use tabsegnet::ranker::Opening;
use tabsegnet_graph::Graph;
use tabsegnet_ranker::device::guard;
use tabsegnet_store::default_cache_dir;

use arguments::{Arguments, Input, UsageError};
use output::Writer;

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
    if let (Some(path), Input::Document(questions)) = (&arguments.graph, &input) {
        let read = tabsegnet_document::read(questions.document, &arguments.read_options())?;
        output::write_graph(path, &Graph::of(&read.document))?;
    }
    let (device, name) = arguments.device.open()?;
    eprintln!("device: {name}");
    let opening = guard(&device, || Opening::read(&arguments.checkpoint, device.clone()))??;
    if let Some(warning) = opening.warning() {
        eprintln!("warning: {warning}");
    }
    let about = [("checkpoint", arguments.checkpoint.display().to_string()), ("device", name)];
    let about = about.map(|(what, value)| (what.to_owned(), value)).to_vec();
    guard(&device, || rank(arguments, input, opening, about))?
}

fn rank(arguments: &Arguments, input: Input<'_>, opening: Opening, about: Vec<(String, String)>) -> Result<()> {
    let cache = match &arguments.cache {
        Some(directory) => directory.clone(),
        None => default_cache_dir()?,
    };
    let mut writer = Writer::new(arguments.format, arguments.output.as_deref(), arguments.tokens(), about);
    match input {
        Input::Document(questions) => document::rank(opening, arguments, &questions, &cache, &mut writer),
        Input::Dataset(files) => dataset::rank(&opening.finish()?, &files, arguments.top_k(), &cache, &mut writer),
    }
}
