//! How near segmenters come to the segments that the data give (silver or gold), as Markdown: the
//! question itself as one segment, the rules, and those T5s whose directories are named. One table a data
//! set; those of a mix each have their own. Times are of one question after the other on one thread.
//!
//! ```sh
//! cargo run --release -p tabsegnet-trainer --example segment_quality -- \
//!     --config configs/tatqa.toml [--set data.root=DIR] [--part dev] [--t5 runs/segmenter/best]… [--worst 20] [--values FILE]
//! ```

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Parser;
use serde_json::json;
use tabsegnet_datasets::config::Part;
use tabsegnet_datasets::mix::dataset_of;
use tabsegnet_datasets::prepared::{PreparedQuestion, prepare_in_memory};
use tabsegnet_segmenter::measures::SegmentMeasures;
use tabsegnet_segmenter::{Segmenter, SegmenterConfig, load_segmenter};
use tabsegnet_store::write_bytes_atomic;
use tabsegnet_trainer::config::Config;

/// Measures segmenters on a part of a config's data.
#[derive(Parser)]
struct Arguments {
    /// The config file (TOML).
    #[arg(long)]
    config: PathBuf,
    /// Overrides one key of the config; may be given several times.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// train or dev.
    #[arg(long, default_value = "dev")]
    part: String,
    /// The directory of a T5 to measure as well; may be given several times. Its limits are those of [segmenter].
    #[arg(long, value_name = "DIR")]
    t5: Vec<String>,
    /// Also lists so many questions on which the last method comes least near.
    #[arg(long, default_value_t = 0)]
    worst: usize,
    /// Also writes the token F1 of each question by each method, JSON lines.
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
}

/// A way to find segments; without a segmenter the question itself.
struct Method {
    name: String,
    segmenter: Option<Box<dyn Segmenter>>,
}

/// What a method finds in each question.
struct Measured {
    found: Vec<Vec<String>>,
    measures: Vec<SegmentMeasures>,
    /// Median, in microseconds.
    time: f64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let part = match arguments.part.as_str() {
        "train" => Part::Train,
        "dev" => Part::Dev,
        other => bail!("--part {other}: expected train or dev"),
    };
    let config = Config::load(&arguments.config, &arguments.overrides)?;
    let mut methods = vec![
        Method { name: "the question itself".into(), segmenter: None },
        Method { name: "rules".into(), segmenter: Some(open(&config, "rules", "")?) },
    ];
    for model in &arguments.t5 {
        methods.push(Method { name: model.clone(), segmenter: Some(open(&config, "t5", model)?) });
    }
    let prepared = prepare_in_memory(&config.source(part)?, &config.prepare())?;
    ensure!(
        prepared.questions.iter().any(|question| !question.segments.is_empty()),
        "no question of the {} part has segments to compare with",
        part.name()
    );
    let names = match config.data.is_mix() {
        true => config.data.parts.iter().map(|part| part.name().to_owned()).collect(),
        false => vec![config.data.name().to_owned()],
    };
    let mut values = String::new();
    for name in names {
        let of_set = |question: &&PreparedQuestion| !config.data.is_mix() || dataset_of(&question.id) == name;
        let questions: Vec<&PreparedQuestion> = prepared.questions.iter().filter(of_set).collect();
        if !questions.is_empty() {
            values += &report(&format!("{name}, {}", part.name()), &questions, &methods, arguments.worst)?;
        }
    }
    if let Some(path) = arguments.values {
        write_bytes_atomic(&path, values.as_bytes())?;
    }
    Ok(())
}

fn open(config: &Config, kind: &str, model: &str) -> Result<Box<dyn Segmenter>> {
    let config = SegmenterConfig { kind: kind.into(), model: model.into(), ..config.segmenter.clone() };
    Ok(load_segmenter(&config)?)
}

/// One table, over the questions that have segments; the token F1 of each.
fn report(name: &str, questions: &[&PreparedQuestion], methods: &[Method], worst: usize) -> Result<String> {
    let all = questions.len();
    let questions: Vec<&PreparedQuestion> =
        questions.iter().copied().filter(|question| !question.segments.is_empty()).collect();
    let mut out = io::stdout().lock();
    writeln!(out, "\n### {name}\n\n{} questions with segments, {} without.\n", questions.len(), all - questions.len())?;
    writeln!(out, "| segments by | exact set | token F1 | a question | wanted | p50 |")?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|")?;
    let (mut last, mut values) = (None, String::new());
    for method in methods {
        let measured = measure(method, &questions)?;
        let SegmentMeasures { exact, token_f1, found, wanted } = SegmentMeasures::mean(&measured.measures);
        let time = if measured.time < 1000.0 {
            format!("{:.1} µs", measured.time)
        } else {
            format!("{:.1} ms", measured.time / 1000.0)
        };
        writeln!(out, "| {} | {exact:.3} | {token_f1:.3} | {found:.2} | {wanted:.2} | {time} |", method.name)?;
        for (question, SegmentMeasures { token_f1, .. }) in questions.iter().zip(&measured.measures) {
            values += &json!({"id": question.id, "method": method.name, "token_f1": token_f1}).to_string();
            values.push('\n');
        }
        last = Some(measured);
    }
    let Some(Measured { found, measures, .. }) = last else { return Ok(values) };
    let mut order: Vec<usize> = (0..questions.len()).collect();
    order.sort_by(|&a, &b| measures[a].token_f1.total_cmp(&measures[b].token_f1));
    for &index in order.iter().take(worst) {
        let wanted: Vec<&str> = questions[index].segments.iter().map(|segment| segment.text.as_str()).collect();
        let score = measures[index].token_f1;
        writeln!(out, "\n{score:.2} {}\n  wanted {wanted:?}\n  found  {:?}", questions[index].text, found[index])?;
    }
    out.flush()?;
    Ok(values)
}

fn measure(method: &Method, questions: &[&PreparedQuestion]) -> Result<Measured> {
    let (mut found, mut measures, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for question in questions {
        let started = Instant::now();
        let segments = match &method.segmenter {
            Some(segmenter) => segmenter.segments(&question.text).with_context(|| question.id.clone())?,
            None => vec![question.text.clone()],
        };
        times.push(started.elapsed().as_secs_f64() * 1e6);
        let wanted: Vec<&str> = question.segments.iter().map(|segment| segment.text.as_str()).collect();
        measures.push(SegmentMeasures::of(&segments, &wanted));
        found.push(segments);
    }
    times.sort_by(f64::total_cmp);
    Ok(Measured { found, measures, time: times.get(times.len() / 2).copied().unwrap_or_default() })
}
