//! Times k-means, PageRank and the local graph on files of f32, for `tools/scripts/bench_gtr.py`: prints one line of JSON.
//!
//!     bench_gtr kmeans VECTORS WIDTH CENTROIDS ROUNDS | seeded VECTORS WIDTH K SEED
//!     bench_gtr pagerank OFFSETS COLUMNS WEIGHTS RESTARTS
//!     bench_gtr graph VECTORS WIDTH TAU

use std::hint::black_box;
use std::time::Instant;

use tabsegnet_corpus::gtr::kmeans::kmeans_from;
use tabsegnet_corpus::gtr::{Direction, Gtr, GtrConfig, PageRankConfig, SparseGraph, Walk, kmeans};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["kmeans", vectors, width, centroids, rounds] => {
            let (vectors, centroids, width) = (floats(vectors)?, floats(centroids)?, width.parse()?);
            let rounds = rounds.parse()?;
            let start = Instant::now();
            let found = kmeans_from(&vectors, width, centroids, rounds)?;
            print(start, found.iterations, found.inertia);
        }
        ["seeded", vectors, width, k, seed] => {
            let (vectors, width) = (floats(vectors)?, width.parse()?);
            let start = Instant::now();
            let found = kmeans(&vectors, width, k.parse()?, seed.parse()?, 300)?;
            print(start, found.iterations, found.inertia);
        }
        ["pagerank", offsets, columns, weights, restarts] => {
            let offsets = numbers(offsets, |bytes| u32::from_le_bytes(bytes) as usize)?;
            let graph = SparseGraph::new(offsets, numbers(columns, u32::from_le_bytes)?, floats(weights)?)?;
            let restarts = floats(restarts)?;
            let restarts: Vec<&[f32]> = restarts.chunks(graph.nodes().max(1)).collect();
            let walk = Walk::new(graph, Direction::Forward);
            let start = Instant::now();
            let found = walk.scores_of_all(&restarts, &PageRankConfig::default())?;
            let steps = found.iter().map(|found| found.steps).sum();
            print(start, steps, found.iter().map(|found| f64::from(found.scores.iter().sum::<f32>())).sum());
        }
        ["graph", vectors, width, tau] => {
            let (vectors, width): (_, usize) = (floats(vectors)?, width.parse()?);
            let config = GtrConfig { tau: tau.parse()?, semantic_only: true, ..GtrConfig::default() };
            let texts = vec![""; vectors.len() / width.max(1)];
            let gtr = Gtr::build(&texts, &vectors, width, config)?;
            let tables: Vec<u32> = (0..gtr.len() as u32).collect();
            let start = Instant::now();
            let graph = black_box(gtr.local_graph(&tables)?);
            print(start, graph.edges(), 0.0);
        }
        _ => return Err("see the head of examples/bench_gtr.rs".into()),
    }
    Ok(())
}

fn print(start: Instant, count: usize, value: f64) {
    println!(r#"{{"seconds": {}, "count": {count}, "value": {value}}}"#, start.elapsed().as_secs_f64());
}

fn floats(file: &str) -> Outcome<Vec<f32>> {
    numbers(file, f32::from_le_bytes)
}

fn numbers<T>(file: &str, number: impl Fn([u8; 4]) -> T) -> Outcome<Vec<T>> {
    let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| number(*bytes)).collect())
}
