//! Seeded inputs of a stated size and timing, for the programs that are set beside other people's
//! work (`src/bin`, driven by `tools/scripts/bench.py`) and for the micro benchmarks (`benches`).

use std::time::Instant;

use burn::tensor::Device;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_graph::{Adjacency, TypeNames};
use tabsegnet_ranker::Example;
use tabsegnet_ranker::device::guard;

/// Edge types of a graph; all are used.
pub const EDGE_TYPES: usize = 28;

/// Segments of a question; each node takes the best of them.
pub const SEGMENTS: usize = 3;

/// A generator whose numbers depend on the seed alone.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Uniform numbers in [−1, 1).
pub fn uniform(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Random vectors of length 1, `[count, d]`.
pub fn unit_vectors(count: usize, d: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let mut values = uniform(count * d, rng);
    for vector in values.chunks_exact_mut(d.max(1)) {
        let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|v| *v /= length);
    }
    values
}

/// A graph whose edges begin and end anywhere, of any type.
pub fn graph(nodes: usize, edges: usize, rng: &mut ChaCha8Rng) -> Adjacency {
    assert_eq!(TypeNames::default().len(), EDGE_TYPES, "the graph has another number of edge types");
    let edges: Vec<(u32, u32, u8)> = (0..edges)
        .map(|_| {
            let mut node = || rng.random_range(0..nodes) as u32;
            (node(), node(), rng.random_range(0..EDGE_TYPES) as u8)
        })
        .collect();
    Adjacency::new(nodes, TypeNames::default(), &edges)
        .unwrap_or_else(|dangling| panic!("made an edge to nowhere: {dangling}"))
}

/// A document with a question, as the model takes it.
pub struct Document {
    graph: Adjacency,
    u: Vec<f32>,
    q: Vec<f32>,
    segments: Vec<f32>,
    gold: Vec<u32>,
}

impl Document {
    /// A random graph with random vectors of width `d_enc`, its first `gold` nodes being gold.
    pub fn random(nodes: usize, edges: usize, gold: usize, d_enc: usize, rng: &mut ChaCha8Rng) -> Self {
        Self {
            graph: graph(nodes, edges, rng),
            u: unit_vectors(nodes, d_enc, rng),
            q: unit_vectors(1, d_enc, rng),
            segments: unit_vectors(SEGMENTS, d_enc, rng),
            gold: (0..gold.min(nodes) as u32).collect(),
        }
    }

    /// What a batch is made of.
    pub fn example(&self) -> Example<'_> {
        Example {
            graph: &self.graph,
            u: &self.u,
            q: &self.q,
            segments: &self.segments,
            features: &[],
            gold: &self.gold,
        }
    }
}

/// Times of repeated runs, in milliseconds.
pub struct Times(Vec<f64>);

impl Times {
    /// Runs `warmup` times, then `runs` times (at least once) under the clock.
    ///
    /// # Errors
    /// Of the first run that has one.
    pub fn of<E>(warmup: usize, runs: usize, mut run: impl FnMut() -> Result<(), E>) -> Result<Self, E> {
        (0..warmup).try_for_each(|_| run())?;
        let mut times = Vec::with_capacity(runs);
        for _ in 0..runs.max(1) {
            let start = Instant::now();
            run()?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_unstable_by(f64::total_cmp);
        Ok(Self(times))
    }

    /// [`Times::of`] something that cannot fail.
    pub fn of_sure(warmup: usize, runs: usize, mut run: impl FnMut()) -> Self {
        Self::of(warmup, runs, || {
            run();
            Ok::<_, std::convert::Infallible>(())
        })
        .unwrap_or_else(|never| match never {})
    }

    /// [`Times::of`] work on a device, each run until the device has done it.
    ///
    /// # Errors
    /// Of the first run that has one; a failure of the device.
    pub fn on(
        device: &Device,
        warmup: usize,
        runs: usize,
        mut run: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        Self::of(warmup, runs, || {
            guard(device, || {
                run()?;
                Ok(device.sync()?)
            })?
        })
    }

    /// The middle one.
    pub fn median(&self) -> f64 {
        self.0[self.0.len() / 2]
    }

    /// The least.
    pub fn min(&self) -> f64 {
        self.0[0]
    }
}

/// The most memory that this program has held, in MiB, where the system says (Linux).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_random_graphs_have_the_edge_types_of_documents() {
        let document = Document::random(16, 64, 2, 8, &mut rng(0));
        assert_eq!(document.graph.types().len(), 64);
        assert!(document.graph.types().iter().all(|&edge_type| usize::from(edge_type) < EDGE_TYPES));
    }
}
