//! Times the aggregation of messages alone, forward and backward, on one random graph. Prints one
//! line of JSON an aggregation.

use anyhow::Result;
use burn::tensor::{Tensor, TensorData};
use clap::{Args, ValueEnum};
use serde_json::json;
use tabsegnet_benches::{EDGE_TYPES, Times, graph, rng, uniform};
use tabsegnet_ranker::aggregate::aggregate;
use tabsegnet_ranker::config::Aggregation;
use tabsegnet_ranker::device::{DeviceChoice, open_device};
use tabsegnet_ranker::edges::EdgeIndex;

#[derive(Args)]
pub struct Options {
    #[arg(long, default_value_t = 20_000)]
    nodes: usize,
    #[arg(long, default_value_t = 400_000)]
    edges: usize,
    /// Channels.
    #[arg(long, default_value_t = 256)]
    width: usize,
    /// How messages are taken up; several by comma.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "max")]
    aggr: Vec<Aggr>,
    #[arg(long, default_value_t = 10)]
    steps: usize,
    #[arg(long, default_value_t = 2)]
    warmup: usize,
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// auto, cpu, wgpu or cuda; the build has the GPUs that its features name.
    #[arg(long, default_value = "cpu")]
    device: DeviceChoice,
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// PyTorch Geometric's names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Aggr {
    Max,
    Add,
    Mean,
}

pub fn run(options: &Options) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(options.threads).build_global()?;
    let Options { nodes, edges, width, steps, warmup, threads, .. } = *options;
    let mut rng = rng(options.seed);
    let graph = graph(nodes, edges, &mut rng);
    let strengths = graph.types().iter().map(|&edge_type| u32::from(edge_type)).collect();
    let index = EdgeIndex::new(graph.offsets().to_vec(), graph.sources().to_vec(), strengths).into();
    let (device, name) = open_device(options.device)?;
    let device = device.autodiff();
    let mut tensor = |rows: usize, columns: usize| {
        Tensor::<2>::from_data(TensorData::new(uniform(rows * columns, &mut rng), [rows, columns]), &device)
    };
    let x = tensor(nodes, width).require_grad();
    let strength = tensor(1, EDGE_TYPES).require_grad();
    for &aggr in &options.aggr {
        let aggregation = match aggr {
            Aggr::Max => Aggregation::Max,
            Aggr::Add => Aggregation::Sum,
            Aggr::Mean => Aggregation::Mean,
        };
        let times = Times::on(&device, warmup, steps, || {
            let out = aggregate(x.clone(), strength.clone(), &index, aggregation);
            drop(out.sum().backward());
            Ok(())
        })?;
        println!(
            "{}",
            json!({
                "peer": "tabsegnet", "nodes": nodes, "edges": edges, "width": width,
                "aggr": format!("{aggr:?}").to_lowercase(), "threads": threads, "device": name,
                "median_ms": times.median(), "min_ms": times.min(),
            })
        );
    }
    Ok(())
}
