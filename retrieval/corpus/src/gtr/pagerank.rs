//! Personalised PageRank over a sparse weighted graph; the same bytes with any number of threads, and for a question by
//! itself or among others.

use rayon::prelude::*;

use super::matrix::vectorised;

/// Rows of which one thread computes the next scores at a time.
const ROWS: usize = 256;
/// Edges from which on a step is worth several threads.
const SHARED: usize = 1 << 15;
/// Restarts that walk over the graph together: an edge is brought from memory once for all of them.
const TOGETHER: usize = 8;
/// Sums of a row that are taken side by side.
const CHAINS: usize = 4;

/// What no walk can be made over, or from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PageRankError {
    /// Offsets, columns and weights do not fit each other.
    #[error(
        "no graph of {nodes} nodes: offsets must rise from 0 to the number of columns, and each column name a node"
    )]
    Shape {
        /// How many nodes the offsets tell of.
        nodes: usize,
    },
    /// A weight is negative or no number.
    #[error("edge {edge} has weight {weight}: weights are 0 or more, and finite")]
    Weight {
        /// Which edge, in the order of rows.
        edge: usize,
        /// Its weight.
        weight: f32,
    },
    /// The restart's length is not that of the graph.
    #[error("a restart of {restart} numbers for a graph of {nodes} nodes")]
    RestartLength {
        /// How many numbers there are.
        restart: usize,
        /// How many nodes.
        nodes: usize,
    },
    /// The restart is negative somewhere, no number, or 0 everywhere.
    #[error("a restart's numbers are 0 or more and finite, and one of them above 0")]
    Restart,
    /// α is not a share.
    #[error("alpha is {0}: it is at least 0 and below 1")]
    Alpha(f64),
}

/// When a walk ends, and how much of it is restart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRankConfig {
    /// α: the share of a step along the edges; 1 − α goes back to the restart.
    pub alpha: f64,
    /// ε: a walk ends when a step changes the scores by less, in sum of absolute differences.
    pub epsilon: f64,
    /// Most steps.
    pub steps: usize,
}

impl Default for PageRankConfig {
    fn default() -> Self {
        Self { alpha: 0.85, epsilon: 1e-6, steps: 50 }
    }
}

/// Which way scores go along an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// `v ← (1 − α) h + α P v`: a node takes the weighted mean of the nodes that its edges lead to (the paper's).
    Forward,
    /// `v ← (1 − α) h + α Pᵀ v`: a node gives its score to the nodes that its edges lead to; scores sum to 1
    /// (PageRank as usually meant).
    Transposed,
}

/// A weighted graph as a sparse matrix by rows: node `i`'s edges are `offsets[i]..offsets[i + 1]` of the columns (the
/// nodes they lead to) and the weights. Edges from a node to itself and several to the same node are allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseGraph {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f32>,
}

impl SparseGraph {
    /// The graph of `offsets.len() − 1` nodes.
    ///
    /// # Errors
    /// Where the three do not fit, or a weight is negative or not finite.
    pub fn new(offsets: Vec<usize>, columns: Vec<u32>, weights: Vec<f32>) -> Result<Self, PageRankError> {
        let nodes = offsets.len().saturating_sub(1);
        let fits = offsets.first() == Some(&0)
            && offsets.last() == Some(&columns.len())
            && offsets.is_sorted()
            && columns.len() == weights.len()
            && u32::try_from(nodes).is_ok()
            && columns.iter().all(|&column| (column as usize) < nodes);
        if !fits {
            return Err(PageRankError::Shape { nodes });
        }
        if let Some(edge) = weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
            return Err(PageRankError::Weight { edge, weight: weights.get(edge).copied().unwrap_or(f32::NAN) });
        }
        Ok(Self { offsets, columns, weights })
    }

    /// The graph of `nodes` nodes with edges (from, to, weight), in any order.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_edges(nodes: usize, edges: &[(u32, u32, f32)]) -> Result<Self, PageRankError> {
        if edges.iter().any(|&(from, ..)| from as usize >= nodes) {
            return Err(PageRankError::Shape { nodes });
        }
        let mut sorted = edges.to_vec();
        sorted.sort_by_key(|&(from, to, _)| (from, to));
        let mut offsets = vec![0; nodes + 1];
        sorted.iter().for_each(|&(from, ..)| offsets[from as usize + 1] += 1);
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let columns = sorted.iter().map(|&(_, to, _)| to).collect();
        Self::new(offsets, columns, sorted.iter().map(|&(.., weight)| weight).collect())
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.columns.len()
    }

    /// What node `i` gives to whom and with which weight; nothing for a node that is not there.
    pub fn edges_of(&self, node: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = match (self.offsets.get(node), self.offsets.get(node + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        };
        self.columns[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The same edges the other way round.
    fn transposed(&self) -> Self {
        let nodes = self.nodes();
        let mut offsets = vec![0; nodes + 1];
        self.columns.iter().for_each(|&column| offsets[column as usize + 1] += 1);
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let (mut columns, mut weights) = (vec![0; self.edges()], vec![0.0; self.edges()]);
        for row in 0..nodes {
            for (column, weight) in self.edges_of(row) {
                let place = &mut next[column as usize];
                columns[*place] = row as u32;
                weights[*place] = weight;
                *place += 1;
            }
        }
        Self { offsets, columns, weights }
    }
}

/// A graph made ready for walks: weights normalised by row, P_ij = w_ij / Σ_j w_ij.
///
/// A row without weights, of a node that leads nowhere, is replaced by the restart h: who stands there jumps back. Forward,
/// such a node takes Σ_j h_j v_j, the mean score of where the walk starts; transposed, its score is given out in
/// proportion to h.
#[derive(Debug, Clone)]
pub struct Walk {
    /// Row i holds what goes into the next score of node i.
    graph: SparseGraph,
    /// Nodes that lead nowhere, rising.
    empty: Vec<u32>,
    direction: Direction,
}

/// What a walk found.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRank {
    /// Each node's score.
    pub scores: Vec<f32>,
    /// Steps taken.
    pub steps: usize,
    /// By how much the last step changed the scores, in sum of absolute differences; from ε on where the steps ran out.
    pub change: f64,
}

/// Scores of nodes for one restart: [`Walk::new`] and [`Walk::scores`] at once. `restart` is brought to sum 1.
///
/// # Errors
/// See [`PageRankError`].
pub fn personalised_pagerank(
    graph: SparseGraph,
    direction: Direction,
    restart: &[f32],
    config: &PageRankConfig,
) -> Result<PageRank, PageRankError> {
    Walk::new(graph, direction).scores(restart, config)
}

impl Walk {
    /// Normalises the weights of each row to sum 1.
    pub fn new(mut graph: SparseGraph, direction: Direction) -> Self {
        let mut empty = Vec::new();
        for (row, ends) in graph.offsets.windows(2).enumerate() {
            let weights = &mut graph.weights[ends[0]..ends[1]];
            let sum: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            if sum > 0.0 {
                weights.iter_mut().for_each(|weight| *weight = (f64::from(*weight) / sum) as f32);
            } else {
                empty.push(row as u32);
            }
        }
        let graph = match direction {
            Direction::Forward => graph,
            Direction::Transposed => graph.transposed(),
        };
        Self { graph, empty, direction }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.graph.edges()
    }

    /// How many nodes lead nowhere.
    pub fn empty(&self) -> usize {
        self.empty.len()
    }

    /// The scores v of nodes for a restart h, which is brought to sum 1: v starts as h and takes steps until it changes by
    /// less than ε, or the steps run out.
    ///
    /// # Errors
    /// See [`PageRankError`].
    pub fn scores(&self, restart: &[f32], config: &PageRankConfig) -> Result<PageRank, PageRankError> {
        let restart = self.restart(restart, config)?;
        Ok(self.walk::<1>(&[restart], config).into_iter().next().unwrap_or_else(|| PageRank {
            scores: Vec::new(),
            steps: 0,
            change: 0.0,
        }))
    }

    /// As [`Self::scores`] for each of several restarts, to the bit; together they take much less time.
    ///
    /// # Errors
    /// As [`Self::scores`].
    pub fn scores_of_all<H: AsRef<[f32]>>(
        &self,
        restarts: &[H],
        config: &PageRankConfig,
    ) -> Result<Vec<PageRank>, PageRankError> {
        let restarts: Vec<Vec<f32>> =
            restarts.iter().map(|restart| self.restart(restart.as_ref(), config)).collect::<Result<_, _>>()?;
        let together = |restarts: &[Vec<f32>]| match restarts.len() {
            1 => self.walk::<1>(restarts, config),
            2..=4 => self.walk::<4>(restarts, config),
            _ => self.walk::<TOGETHER>(restarts, config),
        };
        Ok(restarts.chunks(TOGETHER).flat_map(together).collect())
    }

    /// The restart, brought to sum 1.
    fn restart(&self, restart: &[f32], config: &PageRankConfig) -> Result<Vec<f32>, PageRankError> {
        if !(0.0..1.0).contains(&config.alpha) {
            return Err(PageRankError::Alpha(config.alpha));
        }
        if restart.len() != self.nodes() {
            return Err(PageRankError::RestartLength { restart: restart.len(), nodes: self.nodes() });
        }
        let sum: f64 = restart.iter().map(|&h| f64::from(h)).sum();
        if !restart.iter().all(|h| *h >= 0.0 && h.is_finite()) || sum <= 0.0 {
            return Err(PageRankError::Restart);
        }
        Ok(restart.iter().map(|&h| (f64::from(h) / sum) as f32).collect())
    }

    /// Walks from up to `W` restarts at once. Each has sums of its own, and ends by itself.
    fn walk<const W: usize>(&self, restarts: &[Vec<f32>], config: &PageRankConfig) -> Vec<PageRank> {
        let mut h = vec![[0.0_f32; W]; self.nodes()];
        for (lane, restart) in restarts.iter().enumerate().take(W) {
            h.iter_mut().zip(restart).for_each(|(h, &x)| h[lane] = x);
        }
        let column = |v: &[[f32; W]], lane: usize| v.iter().map(|v| v[lane]).collect::<Vec<f32>>();
        let (mut v, mut next) = (h.clone(), h.clone());
        let mut done: Vec<Option<PageRank>> = vec![None; restarts.len().min(W)];
        let mut change = [f64::INFINITY; W];
        for step in 1..=config.steps {
            change = self.step(config.alpha, &h, &v, &mut next);
            std::mem::swap(&mut v, &mut next);
            for (lane, done) in done.iter_mut().enumerate() {
                if done.is_none() && change[lane] < config.epsilon {
                    *done = Some(PageRank { scores: column(&v, lane), steps: step, change: change[lane] });
                }
            }
            if done.iter().all(Option::is_some) {
                break;
            }
        }
        let ran_out = |lane: usize| PageRank { scores: column(&v, lane), steps: config.steps, change: change[lane] };
        done.into_iter().enumerate().map(|(lane, done)| done.unwrap_or_else(|| ran_out(lane))).collect()
    }

    /// `next = (1 − α) h + α P v`; returns Σ |next − v|.
    fn step<const W: usize>(&self, alpha: f64, h: &[[f32; W]], v: &[[f32; W]], next: &mut [[f32; W]]) -> [f64; W] {
        let mut jumping = [0.0_f64; W];
        match self.direction {
            Direction::Forward if self.empty.is_empty() => {}
            Direction::Forward => {
                for (h, v) in h.iter().zip(v) {
                    for lane in 0..W {
                        jumping[lane] += f64::from(h[lane]) * f64::from(v[lane]);
                    }
                }
            }
            Direction::Transposed => {
                for &node in &self.empty {
                    for lane in 0..W {
                        jumping[lane] += f64::from(v[node as usize][lane]);
                    }
                }
            }
        }
        let block = |(number, next): (usize, &mut [[f32; W]])| {
            let first = number * ROWS;
            let mut change = vectorised(
                (self, alpha as f32, &h[first..], v, first, &mut *next),
                #[inline(always)]
                |(walk, alpha, h, v, first, next)| walk.rows(alpha, h, v, first, next),
            );
            self.jump(alpha, &jumping, &h[first..], &v[first..], first, next, &mut change);
            change
        };
        let changes: Vec<[f64; W]> = if self.edges() >= SHARED {
            next.par_chunks_mut(ROWS).enumerate().map(block).collect()
        } else {
            next.chunks_mut(ROWS).enumerate().map(block).collect()
        };
        let mut sums = [0.0; W];
        for change in changes {
            for lane in 0..W {
                sums[lane] += change[lane];
            }
        }
        sums
    }

    /// The next scores of the nodes from `first` on, without what jumps back.
    #[inline(always)]
    fn rows<const W: usize>(
        &self,
        alpha: f32,
        h: &[[f32; W]],
        v: &[[f32; W]],
        first: usize,
        next: &mut [[f32; W]],
    ) -> [f64; W] {
        let graph = &self.graph;
        let mut changes = [0.0_f64; W];
        let ends = graph.offsets[first..].windows(2);
        for (((next, ends), h), old) in next.iter_mut().zip(ends).zip(h).zip(&v[first..]) {
            let (columns, rest) = graph.columns[ends[0]..ends[1]].as_chunks::<CHAINS>();
            let (weights, weights_rest) = graph.weights[ends[0]..ends[1]].as_chunks::<CHAINS>();
            let mut sums = [[0.0_f32; W]; CHAINS];
            for (columns, weights) in columns.iter().zip(weights) {
                for chain in 0..CHAINS {
                    let v = &v[columns[chain] as usize];
                    for lane in 0..W {
                        sums[chain][lane] += weights[chain] * v[lane];
                    }
                }
            }
            for ((column, weight), sums) in rest.iter().zip(weights_rest).zip(&mut sums) {
                let v = &v[*column as usize];
                for lane in 0..W {
                    sums[lane] += weight * v[lane];
                }
            }
            for lane in 0..W {
                let sum = (sums[0][lane] + sums[1][lane]) + (sums[2][lane] + sums[3][lane]);
                next[lane] = (1.0 - alpha) * h[lane] + alpha * sum;
                changes[lane] += f64::from((next[lane] - old[lane]).abs());
            }
        }
        changes
    }

    /// Adds what jumps back to the next scores of the nodes from `first` on, and corrects their change.
    #[allow(clippy::too_many_arguments)]
    fn jump<const W: usize>(
        &self,
        alpha: f64,
        jumping: &[f64; W],
        h: &[[f32; W]],
        v: &[[f32; W]],
        first: usize,
        next: &mut [[f32; W]],
        change: &mut [f64; W],
    ) {
        if self.empty.is_empty() {
            return;
        }
        let change_of = |next: &[[f32; W]]| {
            let mut sums = [0.0; W];
            for (next, v) in next.iter().zip(v) {
                for lane in 0..W {
                    sums[lane] += f64::from((next[lane] - v[lane]).abs());
                }
            }
            sums
        };
        match self.direction {
            Direction::Forward => {
                let start = self.empty.partition_point(|&node| (node as usize) < first);
                for &node in &self.empty[start..] {
                    let Some(next) = next.get_mut(node as usize - first) else { break };
                    for lane in 0..W {
                        next[lane] += (alpha * jumping[lane]) as f32;
                    }
                }
            }
            Direction::Transposed => {
                for (next, h) in next.iter_mut().zip(h) {
                    for lane in 0..W {
                        next[lane] += (alpha * jumping[lane] * f64::from(h[lane])) as f32;
                    }
                }
            }
        }
        *change = change_of(next);
    }
}
