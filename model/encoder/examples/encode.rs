//! Encodes a file of texts, one a line, and says how fast.
//!
//! ```text
//! cargo run --release -p tabsegnet-encoder --example encode -- DIR TEXTS [--out vectors.f32]
//!     [--repeat N] [--alone N] [--cache DIR] [--kind bert|static] [--precision f32|int8]
//!     [--max-tokens N] [--batch-tokens N]
//! ```
//!
//! Prints one line of JSON a repetition: texts, seconds, texts a second, threads (set by
//! RAYON_NUM_THREADS). `--alone` encodes the first N texts one at a time instead and prints the
//! least, the median and the 95th percentile of their milliseconds. `--out` takes the vectors as
//! little-endian f32, row-major; with `--cache` they go through an embedding cache.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use tabsegnet_encoder::{EmbeddingCache, EncoderConfig, load};

struct Arguments {
    texts: PathBuf,
    out: Option<PathBuf>,
    cache: Option<PathBuf>,
    repeat: usize,
    alone: usize,
    config: EncoderConfig,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut next = |what: &str| words.next().ok_or(format!("expected {what}"));
    let mut config: EncoderConfig = serde_json::from_str(r#"{"kind": "bert"}"#)?;
    config.model = next("the encoder's directory")?;
    let texts = next("a file of texts")?.into();
    let mut arguments = Arguments { texts, out: None, cache: None, repeat: 1, alone: 0, config };
    while let Ok(option) = next("an option") {
        let value = next(&format!("a value after {option}"))?;
        match option.as_str() {
            "--out" => arguments.out = Some(value.into()),
            "--alone" => arguments.alone = value.parse()?,
            "--cache" => arguments.cache = Some(value.into()),
            "--repeat" => arguments.repeat = value.parse()?,
            "--kind" => arguments.config.kind = serde_json::from_value(value.into())?,
            "--precision" => arguments.config.precision = serde_json::from_value(value.into())?,
            "--max-tokens" => arguments.config.max_tokens = value.parse()?,
            "--batch-tokens" => arguments.config.batch_tokens = value.parse()?,
            _ => return Err(format!("{option}: no such option").into()),
        }
    }
    Ok(arguments)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    let content = std::fs::read_to_string(&arguments.texts)?;
    let texts: Vec<&str> = content.lines().collect();
    let encoder = load(&arguments.config)?;
    let cache = arguments.cache.as_deref().map(EmbeddingCache::open).transpose()?;
    // Threads and the processor's clock are up before the first measurement.
    encoder.encode(texts.get(..64).unwrap_or(&texts), &mut |_| ())?;
    if arguments.alone > 0 {
        let mut times = Vec::new();
        for text in texts.iter().cycle().take(arguments.alone) {
            let start = Instant::now();
            encoder.encode(&[*text], &mut |_| ())?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100);
        let times = serde_json::json!({"peer": "tabsegnet", "min_ms": at(0), "p50_ms": at(50), "p95_ms": at(95)});
        println!("{times}");
        return Ok(());
    }
    for _ in 0..arguments.repeat {
        let start = Instant::now();
        let vectors = match &cache {
            Some(cache) => cache.embed(encoder.as_ref(), &texts, &mut |_| ())?,
            None => encoder.encode(&texts, &mut |_| ())?,
        };
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{}",
            serde_json::json!({
                "peer": "tabsegnet",
                "texts": texts.len(),
                "seconds": seconds,
                "texts_per_s": texts.len() as f64 / seconds,
                "threads": rayon::current_num_threads(),
            })
        );
        if let Some(out) = &arguments.out {
            let bytes: Vec<u8> = vectors.iter().flat_map(|value| value.to_le_bytes()).collect();
            std::fs::write(out, bytes)?;
        }
    }
    Ok(())
}
