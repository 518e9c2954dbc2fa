//! `infer`: ranks the nodes of a document for questions, or for every question of a data set.

mod arguments;
mod corpus;
mod dataset;
mod document;
mod output;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser as _;
use tabsegnet::progress::on_stderr;
use tabsegnet::{Opening, exit_code};
use tabsegnet_graph::Graph;
use tabsegnet_store::{Store, default_cache_dir, eprintln, exit};

use arguments::{Arguments, Input};
use output::Writer;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // SAFETY: the first that the program does.
    #[allow(unsafe_code)]
    unsafe {
        tabsegnet_segmenter::say_thread_count();
        tabsegnet_ranker::device::look_without_a_desktop();
    }
    exit(run(&Arguments::parse()), exit_code)
}

/// The user's cache directory; nothing, which is said, where there is none that can be written.
fn own_cache() -> Option<PathBuf> {
    let opened = default_cache_dir().and_then(|directory| {
        let store = Store::open(&directory)?;
        // Said once in a process.
        store.notice().into_iter().for_each(|notice| eprintln!("{notice}"));
        Ok(directory)
    });
    opened
        .map_err(|error| eprintln!("warning: nothing is kept for the next run: {error}; name a directory with --cache"))
        .ok()
}

fn run(arguments: &Arguments) -> Result<()> {
    match arguments.input()? {
        Input::Corpus(request) => corpus::rank(arguments, &request),
        Input::Document(request) => {
            if let Some(path) = &arguments.graph {
                let read = tabsegnet_document::read(request.path, &arguments.read_options())?;
                output::write_graph(path, &Graph::of(&read.document))?;
            }
            let (checkpoint, opening, mut writer) = open(arguments)?;
            document::rank(opening, checkpoint, arguments, &request, &mut writer)
        }
        Input::Dataset(files) => {
            let (_, opening, mut writer) = open(arguments)?;
            dataset::rank(&opening.finish()?, &files, arguments.top_k(), &mut writer)
        }
    }
}

/// The checkpoint that ranks, by its folder and opened, what is to be known of it told on stderr, and where rankings go.
fn open(arguments: &Arguments) -> Result<(&Path, Opening, Writer<'_>)> {
    let checkpoint = arguments.checkpoint.as_deref().context("--checkpoint DIR is missing")?;
    let options = arguments.session_options(arguments.cache.clone().or_else(own_cache));
    let opening = Opening::read(checkpoint, &options)?.with_progress(on_stderr());
    eprintln!("device: {}", opening.device());
    if let Some(warning) = opening.warning() {
        eprintln!("warning: {warning}");
    }
    if let Some(notice) = opening.segmenter_notice() {
        eprintln!("{notice}");
    }
    let about = [("checkpoint", checkpoint.display().to_string()), ("device", opening.device().to_owned())];
    let about = about.map(|(what, value)| (what.to_owned(), value)).to_vec();
    let writer = Writer::new(arguments.format, arguments.output.as_deref(), about);
    Ok((checkpoint, opening, writer))
}
