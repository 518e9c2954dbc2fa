//! `train`: trains what a config says.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use burn::tensor::Device;
use clap::Parser;
use tabsegnet_datasets::config::Part;
use tabsegnet_ranker::device::DeviceChoice;
use tabsegnet_trainer::config::{Config, Task};
use tabsegnet_trainer::evaluation::Inputs;
use tabsegnet_trainer::inputs::{Encoding, lock, prepared};
use tabsegnet_trainer::language_model::LanguageModel;
use tabsegnet_trainer::layout::Layout;
use tabsegnet_trainer::segmenter::SegmenterTraining;
use tabsegnet_trainer::start_from::{beginning, with_edge_types_of};
use tabsegnet_trainer::training::{Outcome, Training};
use tabsegnet_trainer::{answers, cli, corpus, evaluation, static_encoder};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Trains a ranker, a segmenter, a static encoder, a reranker of tables or the choice of answers as a config says.
///
/// Results go below output.directory: best/ and last/ (checkpoints), state/ (for --resume),
/// metrics.jsonl (one line an epoch), report/ (a ranker beside baselines, unless
/// evaluation.after_training is false). Exit codes: 0 done, 1 failed or interrupted, 2 wrong usage
/// or config.
#[derive(Parser)]
#[command(name = "train", version)]
struct Arguments {
    /// The config file (TOML).
    #[arg(long)]
    config: PathBuf,
    /// Overrides one key of the config; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// auto, cpu, wgpu or cuda.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Goes on with an interrupted training; starts one where there is none.
    #[arg(long)]
    resume: bool,
    /// Prints the whole config, defaults filled in, and ends.
    #[arg(long)]
    print_config: bool,
    /// Prepares the data, prints its statistics, and ends.
    #[arg(long)]
    prepare: bool,
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
    if arguments.print_config {
        cli::print(&config.to_toml()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    anyhow::ensure!(
        !arguments.prepare || !matches!(config.task.kind, Task::Segmenter | Task::Corpus | Task::Answers),
        "the training data of a segmenter, a reranker of tables or answers need no preparing; run without --prepare"
    );
    if arguments.prepare {
        for part in [Part::Train, Part::Dev] {
            cli::print(&format!("{}\n{}\n", part.name(), prepared(&config, part)?.statistics))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let stop = cli::stop_flag()?;
    let device = cli::open_device(arguments.device)?;
    let _lock = lock(config.output.directory.as_ref())?;
    let from_the_start = |what: &str| -> Result<()> {
        anyhow::ensure!(!arguments.resume, "{what} in minutes and cannot be resumed; run without --resume");
        Ok(())
    };
    let outcome = cli::on_device(&device, || match config.task.kind {
        Task::Ranker => ranker(&config, &device, arguments.resume, &stop),
        Task::Segmenter => segmenter(&config, &device, arguments.resume, &stop),
        Task::StaticEncoder => {
            from_the_start("a static encoder is trained")?;
            static_encoder::train(&config, &device, &stop)
        }
        Task::Corpus => {
            from_the_start("a reranker of tables is trained")?;
            corpus::train(&config, &stop)
        }
        Task::Answers => {
            from_the_start("answers are learnt")?;
            answers::train(&config, &stop)
        }
    })?;
    Ok(exit_code(outcome))
}

fn ranker(config: &Config, device: &Device, resume: bool, stop: &AtomicBool) -> Result<Outcome> {
    let encoding = Encoding::open(config, device)?;
    // What is missing for the report at the end is better said now.
    let model = LanguageModel::of_baselines(config).filter(|_| config.evaluation.after_training).transpose()?;
    let beginning = beginning(config, &encoding, device)?;
    let config = &beginning.as_ref().map_or_else(|| config.clone(), |start| with_edge_types_of(start, config));
    let train = encoding.input(config, Part::Train)?;
    let dev = encoding.input(config, Part::Dev)?;
    let training = Training::new(config, &train, &dev, &encoding, device.clone(), beginning, resume);
    let outcome = training?.run(stop)?;
    if outcome == Outcome::Finished {
        let best = Layout::new(config).best();
        cli::print(&format!("checkpoint: {}\n", best.display()))?;
        if config.evaluation.after_training {
            let inputs = Inputs { encoding: &encoding, dev: &dev, training: Some(&train), model: model.as_ref() };
            report(config, best, &inputs, device)?;
        }
    }
    Ok(outcome)
}

fn segmenter(config: &Config, device: &Device, resume: bool, stop: &AtomicBool) -> Result<Outcome> {
    let outcome = SegmenterTraining::new(config, device.clone(), resume)?.run(stop)?;
    if outcome == Outcome::Finished {
        cli::print(&format!("segmenter: {}\n", Layout::new(config).best().display()))?;
    }
    Ok(outcome)
}

/// Measures a checkpoint, prints its figures and example rankings.
fn report(config: &Config, checkpoint: PathBuf, inputs: &Inputs<'_>, device: &Device) -> Result<()> {
    let checkpoints = evaluation::open_checkpoints(&[checkpoint], inputs.encoding, device)?;
    let output = Layout::new(config).report();
    let report = evaluation::evaluate(config, inputs, &checkpoints, device, &output)?;
    let page = output.join("report.html");
    cli::print(&format!("\n{}\n\nreport: {}\n", evaluation::summary(&report), page.display()))?;
    for checkpoint in &checkpoints {
        let count = config.evaluation.examples;
        cli::print(&format!("\n{}", evaluation::examples(&inputs.dev.embedded, checkpoint, device, count)?))?;
    }
    Ok(())
}

/// An interrupted training is not done: a script must not go on as if it were.
fn exit_code(outcome: Outcome) -> ExitCode {
    match outcome {
        Outcome::Finished => ExitCode::SUCCESS,
        Outcome::Stopped => ExitCode::from(1),
    }
}
