//! Times one training step or one inference pass on random graphs of a stated shape.
//!
//! A training step is what is left when a batch's tensors are there: forward, pairwise hinge,
//! backward, Adam. With `--projected` an inference pass begins with u C_u in place, as for a
//! document that had a question before. Prints one line of JSON: times in milliseconds, the step's
//! operations in matrix products (`gflop`), the program's peak memory.

use anyhow::{Context as _, Result};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;
use clap::{Parser, ValueEnum};
use rayon::prelude::*;
use serde_json::json;
use tabsegnet_benches::{Document, EDGE_TYPES, SEGMENTS, Times, peak_memory, rng};
use tabsegnet_features::rows::NO_FEATURES;
use tabsegnet_ranker::config::Aggregation;
use tabsegnet_ranker::device::{DeviceChoice, guard, open_device};
use tabsegnet_ranker::loss::pairwise_hinge;
use tabsegnet_ranker::{Batch, Inference, ModelConfig, ModelInput, Precision, TabSegNet};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    /// Number type of the products over all nodes: f32, bf16 or f16.
    #[arg(long, default_value = "f32", value_parser = precision)]
    precision: Precision,
    /// The forward pass alone, without autodiff.
    #[arg(long)]
    infer: bool,
    /// With --infer: u C_u is there already.
    #[arg(long, requires = "infer")]
    projected: bool,
    /// Seed of graphs, vectors and weights.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn precision(name: &str) -> Result<Precision, serde_json::Error> {
    serde_json::from_value(name.into())
}

/// PyTorch Geometric's names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Aggr {
    Max,
    Add,
    Mean,
}

impl Options {
    /// 10⁹ floating point operations of the matrix products in a step.
    fn gflop(&self) -> f64 {
        let nodes = self.docs * self.nodes;
        let shared = self.docs * (1 + SEGMENTS) * self.d_enc * self.d_in;
        let own = if self.projected { 0 } else { nodes * self.d_enc * self.d_in };
        let convolutions: usize = (0..self.layers)
            .map(|layer| 2 * nodes * if layer == 0 { self.d_in } else { self.d_out } * self.d_out)
            .sum();
        let score = nodes * self.d_out;
        // Backward: as much again for the weights, and for what the products were fed with, except
        // the encoder's vectors.
        let products = if self.infer {
            own + shared + convolutions + score
        } else {
            2 * (own + shared) + 3 * (convolutions + score)
        };
        2e-9 * products as f64
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global()?;
    let Options { docs, nodes, edges, gold, d_enc, d_edge, d_in, d_out, layers, steps, warmup, seed, .. } = options;
    let aggregation = match options.aggr {
        Aggr::Max => Aggregation::Max,
        Aggr::Add => Aggregation::Sum,
        Aggr::Mean => Aggregation::Mean,
    };
    let config = ModelConfig { d_in, d_out, d_edge, layers, aggregation, segments: true, ..ModelConfig::default() };
    let (device, name) = open_device(options.device)?;
    options.precision.check(&device)?;
    let tf32 = guard(&device, || Precision::f32_is_tf32(&device))?;
    let model = |device: &Device| TabSegNet::new(&config, d_enc, seed, device).with_precision(options.precision);

    let mut rng = rng(seed);
    let documents: Vec<_> = (0..docs).map(|_| Document::random(nodes, edges, gold, d_enc, &mut rng)).collect();
    let examples: Vec<_> = documents.iter().map(Document::example).collect();
    let times = if options.projected {
        let inference = Inference::new(model(&device), &config, d_enc, &device);
        let open = examples.iter().map(|example| inference.open(example.graph, example.u));
        let open = open.collect::<Result<Vec<_>, _>>()?;
        let pass = || -> Result<(), _> {
            let all = open.par_iter().zip(&examples);
            all.map(|(open, example)| {
                let (q, segments) = (example.q, example.segments);
                inference.scores(open, &ModelInput { q, segments, features: NO_FEATURES, products: &[] }).map(drop)
            })
            .collect()
        };
        Times::on(&device, warmup, steps, || Ok(pass()?))?
    } else if options.infer {
        let model = model(&device);
        let batch = Batch::new(&examples, &config, d_enc, &device)?;
        Times::on(&device, warmup, steps, || {
            drop(model.forward(&batch));
            Ok(())
        })?
    } else {
        let device = device.autodiff();
        let mut model = model(&device);
        let batch = Batch::new(&examples, &config, d_enc, &device)?;
        let pairs = batch.pairs.as_ref().context("a question needs gold nodes and others to train on")?;
        let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
        Times::on(&device, warmup, steps, || {
            let loss = pairwise_hinge(model.forward(&batch), pairs, 1.0);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimiser.step(1e-3, model.clone(), gradients);
            Ok(())
        })?
    };
    println!(
        "{}",
        json!({
            "peer": "tabsegnet", "mode": if options.infer { "infer" } else { "train" }, "device": name,
            "precision": options.precision.name(), "tf32": tf32,
            "projected": options.projected,
            "docs": docs, "nodes": nodes, "edges": edges, "gold": gold, "edge_types": EDGE_TYPES,
            "d_enc": d_enc, "d_edge": d_edge, "d_in": d_in, "d_out": d_out, "layers": layers,
            "aggr": format!("{:?}", options.aggr).to_lowercase(),
            "steps": steps, "warmup": warmup, "threads": options.threads, "seed": seed,
            "median_ms": times.median(), "min_ms": times.min(), "gflop": options.gflop(), "peak_mib": peak_memory(),
        })
    );
    Ok(())
}
