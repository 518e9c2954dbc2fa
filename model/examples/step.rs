//! Times one training step or one inference pass on random graphs of a stated shape, the program
//! that `scripts/bench_step.py` sets beside PyTorch Geometric's.
//!
//! A training step is what is left when a batch's tensors are there: forward, pairwise hinge,
//! backward, Adam. Prints one line of JSON; times are in milliseconds, `docs_per_s` is documents a
//! second at the median.

use std::time::Instant;

use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;
use clap::{Parser, ValueEnum};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use tabsegnet_data::graph::CompressedGraph;
use tabsegnet_model::config::{Aggregation, EdgeTypes};
use tabsegnet_model::device::{DeviceChoice, guard};
use tabsegnet_model::loss::pairwise_hinge;
use tabsegnet_model::{Batch, Example, ModelConfig, Precision, TabSegNet};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Segments of a question; each node takes the best of them.
const SEGMENTS: usize = 3;

/// The graph's edge types (22) are all used.
#[derive(Parser)]
struct Options {
    /// Documents in the batch, each with one question.
    #[arg(long, default_value_t = 32)]
    docs: usize,
    /// Nodes of a document.
    #[arg(long, default_value_t = 128)]
    nodes: usize,
    /// Directed edges of a document.
    #[arg(long, default_value_t = 896)]
    edges: usize,
    /// Gold nodes of a question.
    #[arg(long, default_value_t = 2)]
    gold: usize,
    /// Width of the encoder's vectors.
    #[arg(long, default_value_t = 384)]
    d_enc: usize,
    /// Width of an edge type's vector.
    #[arg(long, default_value_t = 128)]
    d_edge: usize,
    /// Width of the initial node features.
    #[arg(long, default_value_t = 128)]
    d_in: usize,
    /// Width of a graph convolution's result.
    #[arg(long, default_value_t = 256)]
    d_out: usize,
    /// Graph convolutions.
    #[arg(long, default_value_t = 1)]
    layers: usize,
    /// How messages are taken up.
    #[arg(long, value_enum, default_value_t = Aggr::Max)]
    aggr: Aggr,
    /// Steps to time.
    #[arg(long, default_value_t = 20)]
    steps: usize,
    /// Steps before those.
    #[arg(long, default_value_t = 3)]
    warmup: usize,
    /// Threads.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// auto, cpu, wgpu or cuda; the build has the GPUs that its features name.
    #[arg(long, default_value = "cpu")]
    device: DeviceChoice,
    /// Number type of the products over all nodes.
    #[arg(long, value_enum, default_value_t = Number::F32)]
    precision: Number,
    /// The forward pass alone, without autodiff.
    #[arg(long)]
    infer: bool,
    /// Seed of graphs, vectors and weights.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// PyTorch Geometric's names.
#[derive(Clone, Copy, ValueEnum)]
enum Aggr {
    Max,
    Add,
    Mean,
}

/// The number types.
#[derive(Clone, Copy, ValueEnum)]
enum Number {
    F32,
    Bf16,
    F16,
}

impl From<Number> for Precision {
    fn from(number: Number) -> Self {
        match number {
            Number::F32 => Self::F32,
            Number::Bf16 => Self::Bf16,
            Number::F16 => Self::F16,
        }
    }
}

struct Document {
    graph: CompressedGraph,
    u: Vec<f32>,
    q: Vec<f32>,
    segments: Vec<f32>,
    gold: Vec<u32>,
}

/// Random vectors of length 1, `[count, d]`.
fn unit_vectors(count: usize, d: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let mut values: Vec<f32> = (0..count * d).map(|_| rng.random_range(-1.0..1.0)).collect();
    for vector in values.chunks_exact_mut(d.max(1)) {
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|v| *v /= length);
    }
    values
}

fn document(options: &Options, rng: &mut ChaCha8Rng) -> Result<Document, Box<dyn std::error::Error>> {
    let Options { nodes, edges, gold, d_enc, .. } = *options;
    let types = EdgeTypes::Typed.count();
    let edges: Vec<(u32, u32, u8)> = (0..edges)
        .map(|_| {
            let mut node = || rng.random_range(0..nodes) as u32;
            (node(), node(), rng.random_range(0..types) as u8)
        })
        .collect();
    Ok(Document {
        graph: CompressedGraph::new(nodes, &edges)?,
        u: unit_vectors(nodes, d_enc, rng),
        q: unit_vectors(1, d_enc, rng),
        segments: unit_vectors(SEGMENTS, d_enc, rng),
        gold: (0..gold.min(nodes) as u32).collect(),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global()?;
    let Options { docs, nodes, edges, gold, d_enc, d_edge, d_in, d_out, layers, .. } = options;
    let (aggregation, aggr) = match options.aggr {
        Aggr::Max => (Aggregation::Max, "max"),
        Aggr::Add => (Aggregation::Sum, "add"),
        Aggr::Mean => (Aggregation::Mean, "mean"),
    };
    let config = ModelConfig { d_in, d_out, d_edge, layers, aggregation, segments: true, ..ModelConfig::default() };

    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let documents = (0..docs).map(|_| document(&options, &mut rng)).collect::<Result<Vec<_>, _>>()?;
    let examples: Vec<_> = documents
        .iter()
        .map(|document| Example {
            graph: &document.graph,
            u: &document.u,
            q: &document.q,
            segments: &document.segments,
            gold: &document.gold,
        })
        .collect();
    let (plain, name) = options.device.open()?;
    let precision = Precision::from(options.precision);
    precision.check(&plain)?;
    let device = if options.infer { plain.clone() } else { plain.clone().autodiff() };
    let batch = Batch::new(&examples, &config, d_enc, &device)?;
    let mut model = TabSegNet::new(&config, d_enc, options.seed, &device).with_precision(precision);

    let mut times = if options.infer {
        time(&options, &plain, || drop(model.forward(&batch)))?
    } else {
        let pairs = batch.pairs.as_ref().ok_or("a question needs gold nodes and others to train on")?;
        let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
        time(&options, &plain, || {
            let loss = pairwise_hinge(model.forward(&batch), pairs, 1.0);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimiser.step(1e-3, model.clone(), gradients);
        })?
    };
    times.sort_unstable_by(f64::total_cmp);
    let (Some(&min), Some(&median)) = (times.first(), times.get(times.len() / 2)) else {
        return Err("--steps must be at least 1".into());
    };
    println!(
        "{}",
        json!({
            "peer": "tabsegnet", "mode": if options.infer { "infer" } else { "train" },
            "docs": docs, "nodes": nodes, "edges": edges, "gold": gold,
            "edge_types": EdgeTypes::Typed.count(),
            "d_enc": d_enc, "d_edge": d_edge, "d_in": d_in, "d_out": d_out, "layers": layers, "aggr": aggr,
            "steps": options.steps, "warmup": options.warmup, "threads": options.threads, "seed": options.seed,
            "device": name, "precision": precision.name(),
            "median_ms": median, "min_ms": min, "docs_per_s": docs as f64 / median * 1e3,
        })
    );
    Ok(())
}

/// Milliseconds of each step after the warm-up, until the device has done it.
fn time(options: &Options, device: &Device, mut step: impl FnMut()) -> Result<Vec<f64>, Box<dyn std::error::Error>> {
    let mut times = Vec::with_capacity(options.warmup + options.steps);
    for _ in 0..options.warmup + options.steps {
        let start = Instant::now();
        guard(device, &mut step)?;
        device.sync()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times.split_off(options.warmup))
}
