//! Speed and memory of T5s of one's own shape, random weights.
//!
//! ```sh
//! cargo run --release -p tabsegnet-segmenter --features training --example t5_speed -- train
//! ```
//!
//! `train` prints training tokens/s, `generate` the time a question, `base` the peak memory of a model
//! in T5-base's shape that is written, opened and run, `write DIR` a model of the nano shape.
//! tools/scripts/bench_t5.py sets the first beside Python's transformers.

use std::path::{Path, PathBuf};
use std::time::Instant;

use burn::module::Module as _;
use burn::optim::{AdamWConfig, GradientsAccumulator, GradientsParams};
use burn::tensor::Device;
use clap::Parser;
use rayon::prelude::*;
use tabsegnet_segmenter::t5::{Batch, Dropout, Pair, T5};
use tabsegnet_segmenter::{FeedForward, Generator, Limits, ModelFiles, T5Config, WeightKind, serialize};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Training steps of the nano shape.
    Train {
        /// Pairs a step.
        #[arg(long, default_value_t = 32)]
        batch: usize,
        /// Pairs a part of a step.
        #[arg(long, default_value_t = 8)]
        micro: usize,
        /// Timed steps.
        #[arg(long, default_value_t = 5)]
        steps: usize,
        /// Tokens read and written.
        #[arg(long, num_args = 2, default_values_t = [48, 24])]
        lengths: Vec<usize>,
    },
    /// Questions answered by the nano shape, greedily and with 4 beams.
    Generate {
        /// Questions.
        #[arg(long, default_value_t = 100)]
        questions: usize,
        /// Tokens read and written.
        #[arg(long, num_args = 2, default_values_t = [48, 24])]
        lengths: Vec<usize>,
        /// Number type of the weights: f32, q8_0, q4_0.
        #[arg(long, default_value = "f32", value_parser = weight_kind)]
        weights: WeightKind,
    },
    /// Writes the weights of a model in T5-base's shape.
    WriteBase {
        /// Where to.
        directory: PathBuf,
    },
    /// Opens what `write-base` wrote, asks it, prints the peak memory.
    Base {
        /// Where it is.
        directory: PathBuf,
        /// Number type of the weights: f32, q8_0, q4_0.
        #[arg(long, default_value = "f32", value_parser = weight_kind)]
        weights: WeightKind,
    },
    /// Logits of a model for fixed tokens, for `tools/scripts/t5_reference.py --check`.
    Logits {
        /// The model.
        directory: PathBuf,
        /// The JSON file to write.
        file: PathBuf,
    },
}

fn weight_kind(name: &str) -> Result<WeightKind, serde_json::Error> {
    serde_json::from_value(name.into())
}

/// About 5 million parameters.
fn nano() -> T5Config {
    T5Config {
        vocab_size: 8000,
        d_model: 224,
        d_kv: 32,
        d_ff: 448,
        num_layers: 4,
        num_decoder_layers: 2,
        num_heads: 7,
        buckets: 32,
        max_distance: 128,
        eps: 1e-6,
        feed_forward: FeedForward::GatedGelu,
        scaled_output: true,
        pad: 0,
        eos: 1,
        start: 0,
    }
}

fn base() -> T5Config {
    T5Config {
        vocab_size: 32128,
        d_model: 768,
        d_kv: 64,
        d_ff: 3072,
        num_layers: 12,
        num_decoder_layers: 12,
        num_heads: 12,
        feed_forward: FeedForward::Relu,
        ..nano()
    }
}

fn tokens(length: usize, seed: usize) -> Vec<u32> {
    (0..length).map(|i| if i + 1 == length { 1 } else { 3 + ((i * 7919 + seed * 104_729) % 7900) as u32 }).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match Arguments::parse().what {
        What::Train { batch, micro, steps, lengths } => train(batch, micro, steps, &lengths),
        What::Generate { questions, lengths, weights } => return generate(questions, &lengths, weights),
        What::WriteBase { directory } => return write_base(&directory),
        What::Base { directory, weights } => return open_base(&directory, weights),
        What::Logits { directory, file } => return logits(&directory, &file),
    }
    Ok(())
}

fn train(batch: usize, micro: usize, steps: usize, lengths: &[usize]) {
    let device = Device::flex().autodiff();
    let config = nano();
    let mut model = T5::new(&config, false, &[], 0, &device);
    let count: usize = config.parameters(false).iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
    let pairs: Vec<Pair> =
        (0..batch).map(|i| Pair { input: tokens(lengths[0], i), target: tokens(lengths[1], i + 1000) }).collect();
    let pairs: Vec<&Pair> = pairs.iter().collect();
    let mut optimiser = AdamWConfig::new().init();
    let mut best = f64::INFINITY;
    let mut first = 0.0;
    for step in 0..=steps {
        let started = Instant::now();
        let parts: Vec<(f32, GradientsParams)> = pairs
            .par_chunks(micro)
            .map(|part| {
                let model = model.clone().fork(&device);
                let loss = model.loss(&Batch::new(part, &config, &device), &mut Dropout::none());
                let slope = loss.slope / (batch * lengths[1]) as f64;
                (loss.value.into_scalar::<f32>(), GradientsParams::from_grads(slope.backward(), &model))
            })
            .collect();
        let mut gradients = GradientsAccumulator::new();
        let mut value = 0.0;
        for (part, gradient) in parts {
            value += part;
            gradients.accumulate(&model, gradient);
        }
        model = optimiser.step(1e-4, model, gradients.grads());
        let seconds = started.elapsed().as_secs_f64();
        if step == 0 {
            first = value / (batch * lengths[1]) as f32;
        } else {
            best = best.min(seconds);
        }
    }
    let read = (batch * (lengths[0] + lengths[1])) as f64;
    println!("{count} parameters; first loss {first:.4}; best step {:.1} ms; {:.0} tokens/s", best * 1e3, read / best);
}

fn generator(config: &T5Config, limits: Limits, weights: WeightKind) -> Result<Generator, Box<dyn std::error::Error>> {
    let mut tensors: std::collections::HashMap<_, _> = T5::new(config, false, &[], 0, &Device::flex())
        .parameters()
        .into_iter()
        .map(|(name, _, values)| (name, values))
        .collect();
    Ok(Generator::new(config, false, limits, weights, &mut |name, _| Ok(tensors.remove(name).unwrap_or_default()))?)
}

fn generate(questions: usize, lengths: &[usize], weights: WeightKind) -> Result<(), Box<dyn std::error::Error>> {
    for beams in [1, 4] {
        let generator = generator(&nano(), Limits { input: 512, output: lengths[1], beams }, weights)?;
        let mut times = Vec::new();
        let mut written = 0;
        for question in 0..questions {
            let started = Instant::now();
            written += generator.generate(&tokens(lengths[0], question))?.tokens.len();
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let all: Vec<Vec<u32>> = (0..questions).map(|question| tokens(lengths[0], question)).collect();
        let started = Instant::now();
        let done: usize = all.par_iter().filter_map(|input| generator.generate(input).ok()).count();
        println!(
            "beams {beams}: {} tokens read, {:.1} written; p50 {:.1} ms, p95 {:.1} ms; many at a time {:.1} ms each",
            lengths[0],
            written as f64 / questions as f64,
            times[questions / 2],
            times[questions * 95 / 100],
            started.elapsed().as_secs_f64() * 1e3 / done as f64
        );
    }
    Ok(())
}

fn write_base(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(directory)?;
    let config = base();
    let path = directory.join("model.safetensors");
    let model = T5::new(&config, false, &[], 0, &Device::flex());
    std::fs::write(&path, serialize(&model.parameters(), false, &path)?)?;
    std::fs::write(directory.join("config.json"), config.json().to_string())?;
    Ok(())
}

fn open_base(directory: &Path, kind: WeightKind) -> Result<(), Box<dyn std::error::Error>> {
    let files = ModelFiles::directory(directory);
    let (path, bytes) = files.read("config.json")?;
    let config = T5Config::parse(&path, &bytes)?;
    let weights = files.weights()?;
    let started = Instant::now();
    let limits = Limits { output: 24, ..Limits::default() };
    let generator = Generator::new(&config, false, limits, kind, &mut |name, shape| weights.floats(name, shape))?;
    let opened = started.elapsed();
    let started = Instant::now();
    let written = generator.generate(&tokens(48, 0))?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM is not known here");
    println!(
        "{} parameters; opened in {:.1} s; {} tokens written in {:.2} s; {peak}",
        config.parameters(false).iter().map(|(_, shape)| shape.iter().product::<usize>()).sum::<usize>(),
        opened.as_secs_f64(),
        written.tokens.len(),
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

fn logits(directory: &Path, file: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let files = ModelFiles::directory(directory);
    let (path, bytes) = files.read("config.json")?;
    let config = T5Config::parse(&path, &bytes)?;
    let weights = files.weights()?;
    let own_head = weights.has("lm_head.weight");
    let generator = Generator::new(&config, own_head, Limits::default(), WeightKind::F32, &mut |name, shape| {
        weights.floats(name, shape)
    })?;
    let within = |length, seed| -> Vec<u32> {
        tokens(length, seed).into_iter().map(|token| token % config.vocab_size as u32).collect()
    };
    let (input, output) = (within(40, 1), within(30, 2));
    let logits = generator.logits(&input, &output)?;
    std::fs::write(file, serde_json::json!({"input": input, "output": output, "logits": logits}).to_string())?;
    Ok(())
}
