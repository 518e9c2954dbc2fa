//! `evaluate`: measures checkpoints and baselines on the dev part of a config.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use tabsegnet_datasets::config::Part;
use tabsegnet_ranker::device::DeviceChoice;
use tabsegnet_segmenter::{SegmenterConfig, load_segmenter};
use tabsegnet_store::{UsageError, check_folder, eprintln};
use tabsegnet_trainer::config::{Config, Task};
use tabsegnet_trainer::evaluation::Inputs;
use tabsegnet_trainer::inputs::Encoding;
use tabsegnet_trainer::language_model::LanguageModel;
use tabsegnet_trainer::layout::Layout;
use tabsegnet_trainer::{answers, cli, corpus, evaluation};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures checkpoints and baselines on the dev part of a config.
///
/// Writes report.json, report.md, report.html, qrels.trec and runs/METHOD.trec; of answers answers.md, answers.json,
/// risk_coverage.json and answers.html, where risk over coverage is drawn; of corpora corpus.md, corpus.json, corpus.html,
/// qrels/PART.trec and runs/PART.METHOD.trec. Exit codes: 0 done, 1 failed, 2 wrong usage or
/// config.
#[derive(Parser)]
#[command(name = "evaluate", version)]
struct Arguments {
    /// The config file (TOML).
    #[arg(long)]
    config: PathBuf,
    /// A checkpoint to measure; may be given several times. Without one, the best checkpoint below
    /// output.directory.
    #[arg(long = "checkpoint", value_name = "DIR")]
    checkpoints: Vec<PathBuf>,
    /// Measures the baselines alone.
    #[arg(long, conflicts_with = "checkpoints")]
    baselines: bool,
    /// Measures rankers with segments by another segmenter than the one that they learnt from: rules, t5, none, the folder of a T5,
    /// or llm, the language model of [llm].
    #[arg(long, value_name = "NAME")]
    segmenter: Option<String>,
    /// Where the report goes; by default report/ below output.directory.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Overrides one key of the config; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// auto, cpu, wgpu or cuda.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
}

fn main() -> ExitCode {
    // SAFETY: the first that the program does.
    #[allow(unsafe_code)]
    unsafe {
        tabsegnet_segmenter::say_thread_count();
        tabsegnet_ranker::device::look_without_a_desktop();
    }
    cli::exit(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let config = Config::load(&arguments.config, &arguments.overrides)?;
    let layout = Layout::new(&config);
    let directories = match (arguments.baselines, arguments.checkpoints.as_slice()) {
        (true, _) => Vec::new(),
        (false, []) => vec![layout.best()],
        (false, given) => given.to_vec(),
    };
    let output = arguments.output.clone().unwrap_or_else(|| layout.report());
    check_folder("--output", &output)?;
    anyhow::ensure!(
        arguments.segmenter.is_none() || config.task.kind == Task::Ranker,
        UsageError("--segmenter goes with rankers (task.kind = \"ranker\")".into())
    );
    if config.task.kind == Task::Corpus {
        cli::print(&format!("{}\n", corpus::evaluate(&config, &directories, &output)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    if config.task.kind == Task::Answers {
        cli::print(&format!("{}\n", answers::evaluate(&config, &directories, &output)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let device = cli::open_device(arguments.device)?;
    let report = cli::on_device(&device, || {
        let other =
            arguments.segmenter.as_deref().filter(|name| *name != "llm").map(SegmenterConfig::named).transpose()?;
        let model = match arguments.segmenter.as_deref() {
            Some("llm") => Some(LanguageModel::open(&config, "--segmenter llm")?),
            _ => LanguageModel::of_baselines(&config).transpose()?,
        };
        let mut encoding = Encoding::open(&config, &device)?;
        if arguments.segmenter.is_some() {
            let other = match (&other, &model) {
                (Some(config), _) => load_segmenter(config)?,
                (None, model) => model.as_ref().context("--segmenter llm: no language model")?.segmenter(),
            };
            eprintln!("segments: by {}, whatever checkpoints learnt from", other.identity());
            encoding = encoding.with_segmenter(other);
        }
        let checkpoints = evaluation::open_checkpoints(&directories, &encoding, &device)?;
        let dev = encoding.input(&config, Part::Dev)?;
        let tuned_on = evaluation::needs_training(&config).then(|| encoding.input(&config, Part::Train)).transpose()?;
        let inputs = Inputs { encoding: &encoding, dev: &dev, training: tuned_on.as_ref(), model: model.as_ref() };
        evaluation::evaluate(&config, &inputs, &checkpoints, &device, &output)
    })?;
    cli::print(&format!("{}\n\nreport: {}\n", evaluation::summary(&report), output.join("report.html").display()))?;
    Ok(ExitCode::SUCCESS)
}
