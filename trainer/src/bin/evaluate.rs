//! `evaluate`: measures checkpoints and baselines on the dev part of a config.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use tabsegnet_datasets::config::Part;
use tabsegnet_ranker::device::DeviceChoice;
use tabsegnet_trainer::config::{Config, Task};
use tabsegnet_trainer::evaluation::Inputs;
use tabsegnet_trainer::inputs::Encoding;
use tabsegnet_trainer::layout::Layout;
use tabsegnet_trainer::{answers, cli, corpus, evaluation};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures checkpoints and baselines on the dev part of a config.
///
/// Writes report.json, report.md, report.html, qrels.trec and runs/METHOD.trec. Exit codes: 0
/// done, 1 failed, 2 wrong usage or config.
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
        let encoding = Encoding::open(&config, &device)?;
        let checkpoints = evaluation::open_checkpoints(&directories, &encoding, &device)?;
        let dev = encoding.input(&config, Part::Dev)?;
        let tuned_on = evaluation::needs_training(&config).then(|| encoding.input(&config, Part::Train)).transpose()?;
        let inputs = Inputs { encoding: &encoding, dev: &dev, training: tuned_on.as_ref() };
        evaluation::evaluate(&config, &inputs, &checkpoints, &device, &output)
    })?;
    cli::print(&format!("{}\n\nreport: {}\n", evaluation::summary(&report), output.join("report.html").display()))?;
    Ok(ExitCode::SUCCESS)
}
