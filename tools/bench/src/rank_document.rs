//! Ranks a document of 10,000 nodes (50 tables) for question after question and prints one JSON
//! line of times, for `tools/scripts/bench_infer.py`.
//!
//! ```sh
//! cargo run --release --bin bench rank_document
//! ```
//!
//! Without --checkpoint the model is a new one of preset large over the shipped static encoder, or
//! over the one that --bert names: how fast a model ranks does not depend on its weights.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use serde_json::json;
use tabsegnet::settings::RankerSettings;
use tabsegnet::{ReadOptions, Session, SessionOptions};
use tabsegnet_document::model::{Block, Document, Table, TableSource};
use tabsegnet_document::native::document_json;
use tabsegnet_encoder::{EncoderConfig, EncoderKind, load};
use tabsegnet_ranker::checkpoint::{self, Manifest};
use tabsegnet_ranker::device::{DeviceChoice, open_device};
use tabsegnet_ranker::{ModelConfig, TabSegNet};
use tabsegnet_segmenter::load_segmenter;
use tabsegnet_store::write_bytes_atomic;

#[derive(Args)]
pub struct Options {
    /// A checkpoint instead of a new model.
    #[arg(long)]
    checkpoint: Option<PathBuf>,
    /// Directory of a BERT-family encoder for the new model.
    #[arg(long)]
    bert: Option<PathBuf>,
    /// Different questions to time.
    #[arg(long, default_value_t = 300)]
    questions: usize,
    /// Tables of 19 rows and 10 columns, each after 9 sentences: 200 nodes.
    #[arg(long, default_value_t = 50)]
    tables: usize,
    /// Keeps the encoded document in this directory, or takes it from there.
    #[arg(long)]
    cache: Option<PathBuf>,
    /// auto, cpu, wgpu or cuda; the build has the GPUs that its features name.
    #[arg(long, default_value = "cpu")]
    device: DeviceChoice,
    /// Writes the document here as native JSON, and a checkpoint beside it, and measures nothing.
    #[arg(long)]
    write: Option<PathBuf>,
}

#[rustfmt::skip]
const ITEMS: [&str; 18] = [
    "Net sales", "Cost of revenue", "Gross profit", "Research and development", "Selling expenses",
    "Operating income", "Interest expense", "Other income", "Income taxes", "Net income", "Depreciation",
    "Amortization of intangibles", "Deferred revenue", "Accounts receivable", "Inventories", "Goodwill",
    "Long-term debt", "Accrued liabilities",
];
#[rustfmt::skip]
const SEGMENTS: [&str; 10] = [
    "Products", "Services", "Americas", "Europe", "Asia Pacific", "Cloud", "Hardware", "Licensing",
    "Consulting", "Retail",
];

/// A linear congruential generator: the same document everywhere.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn amount(&mut self) -> String {
        match self.below(30) {
            0 => "—".into(),
            _ => format!("$ {},{:03}", 1 + self.below(999), self.below(1000)),
        }
    }
}

fn generated(tables: usize) -> Result<Document> {
    let mut dice = Dice(1);
    let mut blocks = Vec::new();
    for number in 0..tables {
        let segment = SEGMENTS[number % SEGMENTS.len()];
        for _ in 0..9 {
            blocks.push(Block::Passage(format!(
                "In fiscal {} {} of the {} segment rose by {} . {} % to {} million , mainly because of {} .",
                2001 + dice.below(20),
                dice.of(&ITEMS).to_lowercase(),
                dice.of(&SEGMENTS),
                dice.below(90),
                dice.below(10),
                dice.amount(),
                dice.of(&ITEMS).to_lowercase()
            )));
        }
        let year = 2001 + dice.below(12);
        let mut rows = vec![vec!["".into()]];
        rows[0].extend((0..9).map(|column| format!("Year ended December 31 , {}", year + column).into()));
        for item in ITEMS {
            let mut row = vec![format!("{item} , {segment}").into()];
            row.extend((0..9).map(|_| dice.amount().into()));
            rows.push(row);
        }
        let caption = format!("{segment} : selected data {number}");
        blocks.push(Block::Table(Table::new(TableSource {
            number,
            caption,
            header_rows: 1,
            header_cols: 1,
            rows,
            ..TableSource::default()
        })?));
    }
    Ok(Document { id: "large".into(), blocks })
}

fn question(dice: &mut Dice, number: usize) -> String {
    let (item, segment, year) = (dice.of(&ITEMS).to_lowercase(), dice.of(&SEGMENTS), 2001 + dice.below(20));
    match number % 3 {
        0 => format!("What was the {item} of {segment} in {year}?"),
        1 => format!("By how much did {item} in the {segment} segment change from {year} to {}?", year + 1),
        _ => format!("{item} {segment} {year}, share of the total (no. {number})"),
    }
}

/// A checkpoint of a new model.
fn new_checkpoint(directory: &Path, bert: Option<&Path>) -> Result<()> {
    let (device, _) = open_device(DeviceChoice::Cpu)?;
    let mut settings = RankerSettings { encoder: EncoderConfig::default(), ..RankerSettings::default() };
    let mut config = "[encoder]\nkind = \"static\"\n".to_owned();
    if let Some(bert) = bert {
        settings.encoder.kind = EncoderKind::Bert;
        settings.encoder.model = bert.canonicalize()?.display().to_string();
        config = format!("[encoder]\nkind = \"bert\"\nmodel = {:?}\n", settings.encoder.model);
    }
    let encoder = load(&settings.encoder)?;
    let segmenter = load_segmenter(&settings.segmenter)?;
    let model_config = ModelConfig::default().resolved();
    let model = TabSegNet::new(&model_config, encoder.dim(), 0, &device);
    let manifest = Manifest::new(&model_config, encoder.dim(), encoder.identity(), segmenter.identity(), 0);
    Ok(checkpoint::write(directory, &model, &[], None, manifest, &config, "# A new model, to measure speed with\n")?)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Largest memory of this process so far.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<f64>().ok().map(|kib| kib / 1024.0)
}

/// User and system time of this process so far, in steps of 10 ms; Linux counts it in hundredths.
fn cpu_ms() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) * 10.0)
}

pub fn run(options: &Options) -> Result<()> {
    let document = generated(options.tables)?;
    if let Some(path) = &options.write {
        write_bytes_atomic(path, document_json(&document).as_bytes())?;
        return new_checkpoint(&path.with_extension("checkpoint"), options.bert.as_deref());
    }
    let own = tempfile::tempdir()?;
    let directory = match &options.checkpoint {
        Some(directory) => directory.clone(),
        None => {
            let directory = own.path().join("checkpoint");
            new_checkpoint(&directory, options.bert.as_deref())?;
            directory
        }
    };
    let settings = SessionOptions {
        device: options.device,
        cache: Some(options.cache.clone().unwrap_or_else(|| own.path().to_owned())),
        ..SessionOptions::default()
    };
    let start = Instant::now();
    let session = Session::open_with(&directory, &settings)?;
    let session_ms = milliseconds(start);
    let (json, native) = (document_json(&document), ReadOptions::default());
    // Encoded where it is not kept; then taken from the cache.
    let start = Instant::now();
    session.open_bytes("large.json", json.as_str(), &native)?.keep()?;
    let encode_ms = milliseconds(start);
    let start = Instant::now();
    let open = session.open_bytes("large.json", json, &native)?;
    let open_ms = milliseconds(start);
    let (nodes, edges) = (open.nodes().len(), open.graph().adjacency().edges());

    let mut dice = Dice(7);
    let mut times = Vec::with_capacity(options.questions);
    let mut cpu = None;
    for number in 0..options.questions.max(1) + 20 {
        if number == 20 {
            cpu = cpu_ms();
        }
        let question = question(&mut dice, number);
        let start = Instant::now();
        let ranking = open.rank(&question)?;
        // The first few wake threads and fill caches.
        if number >= 20 {
            times.push(milliseconds(start));
        }
        assert_eq!(ranking.nodes.len(), 10.min(nodes));
    }
    let cpu_per_question = cpu.zip(cpu_ms()).map(|(before, after)| (after - before) / times.len() as f64);
    times.sort_by(f64::total_cmp);
    let quantile = |q: f64| times[((times.len() as f64 * q).ceil() as usize).clamp(1, times.len()) - 1];
    println!(
        "{}",
        json!({
            "nodes": nodes, "tables": options.tables, "edges": edges, "d_enc": session.manifest().d_enc,
            "device": session.device(), "questions": times.len(), "min_ms": times[0], "p50_ms": quantile(0.5),
            "p99_ms": quantile(0.99), "cpu_ms_per_question": cpu_per_question, "peak_mib": peak_mib(),
            "session_ms": session_ms, "encode_ms": encode_ms, "open_ms": open_ms,
        })
    );
    Ok(())
}
