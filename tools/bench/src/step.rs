//! Times training steps and inference passes on random graphs of a stated shape.
//!
//! A training step is what is left when a batch's tensors are there: forward, pairwise hinge,
//! backward, Adam. A projected inference pass begins with u C_u in place, as for a document that had
//! a question before. Prints one line of JSON for each number of documents, mode and precision: times
//! in milliseconds, the step's operations in matrix products (`gflop`), the program's peak memory.

use anyhow::{Context as _, Result};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;
use clap::{Args, ValueEnum};
use rayon::prelude::*;
use serde_json::json;
use tabsegnet_benches::{Document, EDGE_TYPES, SEGMENTS, Times, peak_memory, rng};
use tabsegnet_features::rows::NO_FEATURES;
use tabsegnet_ranker::config::Aggregation;
use tabsegnet_ranker::device::{DeviceChoice, guard, open_device};
use tabsegnet_ranker::loss::pairwise_hinge;
use tabsegnet_ranker::{Batch, Example, Inference, ModelConfig, ModelInput, Precision, TabSegNet};

#[derive(Args)]
pub struct Options {
    /// Documents in the batch, each with one question; several numbers by comma.
    #[arg(long, value_delimiter = ',', default_value = "32")]
    docs: Vec<usize>,
    /// What to time; several by comma.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "train")]
    mode: Vec<Mode>,
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
    /// Number type of the products over all nodes, f32, bf16 or f16; several by comma.
    #[arg(long, default_value = "f32", value_delimiter = ',', value_parser = precision)]
    precision: Vec<Precision>,
    /// Seed of graphs, vectors and weights.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn precision(name: &str) -> Result<Precision, serde_json::Error> {
    serde_json::from_value(name.into())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Forward, loss, backward, Adam.
    Train,
    /// The forward pass alone, without autodiff.
    Infer,
    /// The same with u C_u there already.
    Projected,
}

/// PyTorch Geometric's names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Aggr {
    Max,
    Add,
    Mean,
}

impl Options {
    fn config(&self) -> ModelConfig {
        let Options { d_edge, d_in, d_out, layers, .. } = *self;
        let aggregation = match self.aggr {
            Aggr::Max => Aggregation::Max,
            Aggr::Add => Aggregation::Sum,
            Aggr::Mean => Aggregation::Mean,
        };
        ModelConfig { d_in, d_out, d_edge, layers, aggregation, segments: true, ..ModelConfig::default() }
    }

    /// 10⁹ floating point operations of the matrix products in a step.
    fn gflop(&self, docs: usize, mode: Mode) -> f64 {
        let nodes = docs * self.nodes;
        let shared = docs * (1 + SEGMENTS) * self.d_enc * self.d_in;
        let own = if mode == Mode::Projected { 0 } else { nodes * self.d_enc * self.d_in };
        let convolutions: usize = (0..self.layers)
            .map(|layer| 2 * nodes * if layer == 0 { self.d_in } else { self.d_out } * self.d_out)
            .sum();
        let score = nodes * self.d_out;
        // Backward: as much again for the weights, and for what the products were fed with, except
        // the encoder's vectors.
        let products = match mode {
            Mode::Train => 2 * (own + shared) + 3 * (convolutions + score),
            Mode::Infer | Mode::Projected => own + shared + convolutions + score,
        };
        2e-9 * products as f64
    }

    fn times(&self, examples: &[Example], mode: Mode, precision: Precision, device: &Device) -> Result<Times> {
        let Options { d_enc, steps, warmup, seed, .. } = *self;
        let config = self.config();
        let model = |device: &Device| TabSegNet::new(&config, d_enc, seed, device).with_precision(precision);
        match mode {
            Mode::Projected => {
                let inference = Inference::new(model(device), &config, d_enc, device);
                let open = examples.iter().map(|example| inference.open(example.graph, example.u));
                let open = open.collect::<Result<Vec<_>, _>>()?;
                let pass = || -> Result<(), _> {
                    let all = open.par_iter().zip(examples);
                    all.map(|(open, example)| {
                        let (u, q, segments) = (example.u, example.q, example.segments);
                        let input = ModelInput { u, q, segments, features: NO_FEATURES, products: &[] };
                        inference.scores(open, &input).map(drop)
                    })
                    .collect()
                };
                Times::on(device, warmup, steps, || Ok(pass()?))
            }
            Mode::Infer => {
                let model = model(device);
                let batch = Batch::new(examples, &config, d_enc, device)?;
                Times::on(device, warmup, steps, || {
                    drop(model.forward(&batch));
                    Ok(())
                })
            }
            Mode::Train => {
                let device = device.clone().autodiff();
                let mut model = model(&device);
                let batch = Batch::new(examples, &config, d_enc, &device)?;
                let pairs = batch.pairs.as_ref().context("a question needs gold nodes and others to train on")?;
                let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
                Times::on(&device, warmup, steps, || {
                    let loss = pairwise_hinge(model.forward(&batch), pairs, 1.0);
                    let gradients = GradientsParams::from_grads(loss.backward(), &model);
                    model = optimiser.step(1e-3, model.clone(), gradients);
                    Ok(())
                })
            }
        }
    }
}

pub fn run(options: &Options) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global()?;
    let Options { nodes, edges, gold, d_enc, d_edge, d_in, d_out, layers, steps, warmup, threads, seed, .. } = *options;
    let (device, name) = open_device(options.device)?;
    options.precision.iter().try_for_each(|precision| precision.check(&device))?;
    let tf32 = guard(&device, || Precision::f32_is_tf32(&device))?;
    for &docs in &options.docs {
        let mut rng = rng(seed);
        let documents: Vec<_> = (0..docs).map(|_| Document::random(nodes, edges, gold, d_enc, &mut rng)).collect();
        let examples: Vec<_> = documents.iter().map(Document::example).collect();
        for (&mode, &precision) in options.mode.iter().flat_map(|mode| options.precision.iter().map(move |p| (mode, p)))
        {
            let times = options.times(&examples, mode, precision, &device)?;
            println!(
                "{}",
                json!({
                    "peer": "tabsegnet", "mode": format!("{mode:?}").to_lowercase(), "device": name,
                    "precision": precision.name(), "tf32": tf32,
                    "docs": docs, "nodes": nodes, "edges": edges, "gold": gold, "edge_types": EDGE_TYPES,
                    "d_enc": d_enc, "d_edge": d_edge, "d_in": d_in, "d_out": d_out, "layers": layers,
                    "aggr": format!("{:?}", options.aggr).to_lowercase(),
                    "steps": steps, "warmup": warmup, "threads": threads, "seed": seed,
                    "median_ms": times.median(), "min_ms": times.min(), "gflop": options.gflop(docs, mode),
                    "peak_mib": peak_memory(),
                })
            );
        }
    }
    Ok(())
}
