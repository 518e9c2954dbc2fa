//! Encodes a file of texts, one a line, and says how fast.
//!
//! Prints one line of JSON a repetition: texts, seconds, texts a second, threads (set by RAYON_NUM_THREADS), the
//! device.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
use tabsegnet_encoder::{EmbeddingCache, EncoderConfig, EncoderKind, Precision, load_on};
use tabsegnet_ranker::device::{DeviceChoice, guard, open_device};

#[derive(Args)]
pub struct Options {
    /// The encoder's directory.
    model: String,
    /// A file with one text a line.
    texts: PathBuf,
    /// Writes the vectors as little-endian f32, row-major.
    #[arg(long)]
    out: Option<PathBuf>,
    /// How often.
    #[arg(long, default_value_t = 1)]
    repeat: usize,
    /// Encodes so many texts one at a time instead and prints the least, the median and the 95th percentile of their
    /// milliseconds.
    #[arg(long, default_value_t = 0)]
    alone: usize,
    /// Vectors go through an embedding cache in this directory.
    #[arg(long)]
    cache: Option<PathBuf>,
    /// bert or static.
    #[arg(long, default_value = "bert", value_parser = |name: &str| serde_json::from_value::<EncoderKind>(name.into()))]
    kind: EncoderKind,
    /// f32 or int8.
    #[arg(long, default_value = "f32", value_parser = |name: &str| serde_json::from_value::<Precision>(name.into()))]
    precision: Precision,
    #[arg(long)]
    max_tokens: Option<usize>,
    #[arg(long)]
    batch_tokens: Option<usize>,
    /// auto, cpu, wgpu or cuda; the build has the GPUs that its features name.
    #[arg(long, default_value = "cpu")]
    device: DeviceChoice,
}

pub fn run(options: &Options) -> Result<()> {
    let (device, name) = open_device(options.device)?;
    guard(&device, || {
        let content = std::fs::read_to_string(&options.texts).with_context(|| options.texts.display().to_string())?;
        let texts: Vec<&str> = content.lines().collect();
        let usual = EncoderConfig::default();
        let config = EncoderConfig {
            kind: options.kind,
            model: options.model.clone(),
            precision: options.precision,
            max_tokens: options.max_tokens.unwrap_or(usual.max_tokens),
            batch_tokens: options.batch_tokens.unwrap_or(usual.batch_tokens),
            ..usual
        };
        let encoder = load_on(&config, &device)?;
        let cache = options.cache.as_deref().map(EmbeddingCache::open).transpose()?;
        // Threads, kernels and the processor's clock are up before the first measurement.
        encoder.encode(texts.get(..64).unwrap_or(&texts), &mut |_| ())?;
        if options.alone > 0 {
            let mut times = Vec::new();
            for text in texts.iter().cycle().take(options.alone) {
                let start = Instant::now();
                encoder.encode(&[*text], &mut |_| ())?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            }
            times.sort_by(f64::total_cmp);
            let at = |share: usize| times.get(times.len() * share / 100);
            println!("{}", json!({"peer": "tabsegnet", "min_ms": at(0), "p50_ms": at(50), "p95_ms": at(95)}));
            return Ok(());
        }
        for _ in 0..options.repeat {
            let start = Instant::now();
            let vectors = match &cache {
                Some(cache) => cache.embed(encoder.as_ref(), &texts, &mut |_| ())?,
                None => encoder.encode(&texts, &mut |_| ())?,
            };
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{}",
                json!({
                    "peer": "tabsegnet", "texts": texts.len(), "seconds": seconds,
                    "texts_per_s": texts.len() as f64 / seconds, "threads": rayon::current_num_threads(),
                    "device": name,
                })
            );
            if let Some(out) = &options.out {
                let bytes: Vec<u8> = vectors.iter().flat_map(|value| value.to_le_bytes()).collect();
                std::fs::write(out, bytes)?;
            }
        }
        Ok(())
    })?
}
