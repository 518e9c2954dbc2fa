//! `build-multitable`: a corpus of sub-tables and questions that need all parts of one, from tables and questions.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Parser, ValueEnum};
use tabsegnet_generate::multitable::{
    Built, Published, Settings, Statistics, Task, build, read_data_sets, read_published_all, read_sources, write_own,
    write_published,
};
use tabsegnet_store::eprintln;

/// Cuts tables in one, two or three parts and asks questions that need all parts of one (MultiTableQA, arXiv 2504.01346).
///
/// Files of tables have lines {"id", "title", "section", "caption", "header": […], "rows": [[…]…]}, or are documents of every
/// form that infer reads, whose tables have the ids FILE#t0, FILE#t1, …; files of questions have lines
/// {"id", "question", "tables": […]} with `answers`, `label`, `form`, `sequence` and `position` where they are known;
/// both may be packed (.gz). --data-set reads WTQ, SQA, TabFact, OTT-QA and HybridQA as they are downloaded: wtq=FOLDER with csv/,
/// data/ and misc/; sqa=FOLDER with table_csv/ and *.tsv; tabfact=FOLDER with data/all_csv/, data/table_to_page.json and
/// collected_data/, tokenized_data/ or pairwise_data/; ottqa=FOLDER (hybridqa=FOLDER) with tables as JSON files or lines, and
/// files of questions. Published files (--from-published) are taken as they are, to be indexed and measured in the own
/// form. Prints what was built or read beside the paper's counts. Exit codes: 0 done, 1 failed, 2 wrong usage.
#[derive(Parser)]
#[command(name = "build-multitable", version)]
struct Arguments {
    /// Files of tables, and folders with such files below them.
    #[arg(long, required_unless_present_any = ["from_published", "data_set"], num_args = 1.., value_name = "FILE-OR-FOLDER")]
    tables: Vec<PathBuf>,
    /// Files of questions.
    #[arg(long, required_unless_present_any = ["from_published", "data_set"], num_args = 1.., value_name = "FILE")]
    questions: Vec<PathBuf>,
    /// Data sets as they are downloaded, beside tables and questions or in their place.
    #[arg(long, num_args = 1.., value_name = "NAME=FOLDER")]
    data_set: Vec<Published>,
    /// Published files to read in place of tables that are cut: FOLDER/NAME for NAME_table.jsonl and NAME_query.jsonl there.
    /// Several make one corpus, in which ids have NAME/ before them.
    #[arg(long, num_args = 1.., value_name = "FOLDER/NAME", conflicts_with_all = ["tables", "questions", "data_set", "seed"])]
    from_published: Vec<PathBuf>,
    /// verification, single or multi; of published files, which of the paper's counts to print.
    #[arg(long)]
    task: Task,
    /// The folder to write into; it is created.
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Seed of cuts, orders, captions and wordings.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// own: tables.jsonl and questions.jsonl. published: NAME_table.jsonl and NAME_query.jsonl.
    #[arg(long, value_enum, default_value = "own")]
    form: Form,
    /// NAME of the published form; by default that of the task.
    #[arg(long)]
    name: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Own,
    Published,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let built = match arguments.from_published.is_empty() {
        true => {
            let mut read = read_sources(&arguments.tables, &arguments.questions)?;
            let more = read_data_sets(&arguments.data_set)?;
            read.left_out.iter().chain(&more.left_out).for_each(|why| eprintln!("warning: left out: {why}"));
            read.tables.extend(more.tables);
            read.questions.extend(more.questions);
            build(&read.tables, &read.questions, &Settings { task: arguments.task, seed: arguments.seed })?
        }
        false => Built { benchmark: read_published_all(&arguments.from_published)?, ..Built::default() },
    };
    match arguments.form {
        Form::Own => write_own(&built.benchmark, &arguments.output),
        Form::Published => {
            let name = arguments.name.as_deref().unwrap_or(arguments.task.name());
            write_published(&built.benchmark, &arguments.output, name)
        }
    }?;
    let text = Statistics::of(&built.benchmark).render(arguments.task, &built.tally);
    // Who reads only the first lines closes the pipe; the files are written.
    tabsegnet_store::print_if_read(&text).context("standard output: could not write")
}
