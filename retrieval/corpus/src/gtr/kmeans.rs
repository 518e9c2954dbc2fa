//! k-means (Lloyd's algorithm, k-means++ seeds) over dense or sparse vectors; the same bytes with any number of threads.

use std::cmp::Ordering;
use std::ops::Range;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::matrix::{dot, products, vectorised};
use super::sparse::SparseRows;

/// Points that the seeds are chosen among: of more, a random sample this large is taken.
const SEEDED: usize = 1 << 14;
/// Points whose products with all centroids are computed at a time: they stay in a core's cache until they are added to
/// their clusters' sums.
const BLOCK: usize = 256;
/// Squared lengths from here on would overflow in differences.
const LONGEST: f32 = 1e30;

/// What k-means finds no clusters in.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KMeansError {
    /// No clusters were wanted.
    #[error("k-means has 0 clusters to find: give 1 or more")]
    NoClusters,
    /// The numbers are no whole number of vectors.
    #[error("{numbers} numbers are no whole number of vectors of {width}")]
    Width {
        /// How many numbers there are.
        numbers: usize,
        /// Length of a vector.
        width: usize,
    },
    /// A vector holds what is not a number, or one too large to be squared.
    #[error("vector {row} holds a number that is not finite or too large to be squared")]
    NotFinite {
        /// Which vector, from 0.
        row: usize,
    },
}

/// What k-means found.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// The centroids, `[clusters, width]`: as many as were wanted, fewer where there are fewer distinct points.
    pub centroids: Vec<f32>,
    /// The cluster of each point, `[points]`: the one of the nearest centroid, the lower number of two as near.
    pub assignment: Vec<u32>,
    /// Sum of the squared distances of points from their centroids.
    pub inertia: f64,
    /// Rounds that moved the centroids.
    pub iterations: usize,
    /// Whether the last round moved no point.
    pub converged: bool,
}

impl Clusters {
    /// How many clusters there are; some may hold no point.
    pub fn count(&self, width: usize) -> usize {
        self.centroids.len() / width.max(1)
    }
}

/// Clusters `vectors`, `[points, width]`, into at most `k`.
///
/// Seeds are chosen by greedy k-means++, on a sample where there are more than 16,384 points. Rounds end when no point
/// changes its cluster, after `most_iterations` at the latest. A cluster that loses all its points takes the point
/// farthest from its centroid, as scikit-learn has it. Points that are all equal are one cluster; no point, no cluster.
///
/// # Errors
/// See [`KMeansError`].
pub fn kmeans(
    vectors: &[f32],
    width: usize,
    k: usize,
    seed: u64,
    most_iterations: usize,
) -> Result<Clusters, KMeansError> {
    cluster(&Dense::new(vectors, width)?, k, seed, most_iterations)
}

/// As [`kmeans`], from given centroids, `[k, width]`.
///
/// # Errors
/// See [`KMeansError`].
pub fn kmeans_from(
    vectors: &[f32],
    width: usize,
    centroids: Vec<f32>,
    most_iterations: usize,
) -> Result<Clusters, KMeansError> {
    let k = Dense::new(&centroids, width)?.len();
    let points = Dense::new(vectors, width)?;
    if k == 0 {
        return Err(KMeansError::NoClusters);
    }
    squares(&Dense::new(&centroids, width)?)?;
    let squares = squares(&points)?;
    Ok(lloyd(&points, &squares, centroids, most_iterations))
}

/// Vectors to cluster.
pub(super) trait Points: Sync {
    /// How many.
    fn len(&self) -> usize;
    /// Their length.
    fn width(&self) -> usize;
    /// The product of two of them; that of a point with an equal one is exactly that with itself.
    fn dot(&self, a: usize, b: usize) -> f32;
    /// The centroids, `[k, width]`, as [`Self::products`] wants them.
    fn prepared(&self, centroids: &[f32]) -> Vec<f32>;
    /// Products of the points of a range with each centroid, `[points, k]`.
    fn products(&self, points: Range<usize>, prepared: &[f32], out: &mut [f32]);
    /// Adds the points of a range to the sums of their clusters, `[k, width]`.
    fn add(&self, points: Range<usize>, clusters: &[u32], sums: &mut [f32]);
    /// Into how many parts the points are split at most; each has sums of its own.
    fn most_parts(&self) -> usize;
}

struct Dense<'a> {
    vectors: &'a [f32],
    width: usize,
}

impl<'a> Dense<'a> {
    fn new(vectors: &'a [f32], width: usize) -> Result<Self, KMeansError> {
        if width == 0 || !vectors.len().is_multiple_of(width) {
            return Err(KMeansError::Width { numbers: vectors.len(), width });
        }
        Ok(Self { vectors, width })
    }

    fn rows(&self, points: Range<usize>) -> &'a [f32] {
        &self.vectors[points.start * self.width..points.end * self.width]
    }
}

impl Points for Dense<'_> {
    fn len(&self) -> usize {
        self.vectors.len() / self.width
    }

    fn width(&self) -> usize {
        self.width
    }

    fn dot(&self, a: usize, b: usize) -> f32 {
        vectorised(
            (self.rows(a..a + 1), self.rows(b..b + 1)),
            #[inline(always)]
            |(a, b)| dot(a, b),
        )
    }

    fn prepared(&self, centroids: &[f32]) -> Vec<f32> {
        centroids.to_vec()
    }

    fn products(&self, points: Range<usize>, prepared: &[f32], out: &mut [f32]) {
        products(self.rows(points), prepared, self.width, out);
    }

    fn add(&self, points: Range<usize>, clusters: &[u32], sums: &mut [f32]) {
        vectorised(
            (self.rows(points), sums),
            #[inline(always)]
            |(rows, sums): (&[f32], &mut [f32])| {
                for (row, &cluster) in rows.chunks_exact(self.width).zip(clusters) {
                    let sum = &mut sums[cluster as usize * self.width..][..self.width];
                    for (sum, x) in sum.iter_mut().zip(row) {
                        *sum += x;
                    }
                }
            },
        );
    }

    fn most_parts(&self) -> usize {
        64
    }
}

impl Points for SparseRows {
    fn len(&self) -> usize {
        SparseRows::len(self)
    }

    fn width(&self) -> usize {
        self.width
    }

    fn dot(&self, a: usize, b: usize) -> f32 {
        SparseRows::dot(self, a, b)
    }

    fn prepared(&self, centroids: &[f32]) -> Vec<f32> {
        let k = centroids.len() / self.width.max(1);
        let mut columns = vec![0.0; centroids.len()];
        for (cluster, centroid) in centroids.chunks_exact(self.width.max(1)).enumerate() {
            for (column, &x) in columns.chunks_exact_mut(k).zip(centroid) {
                column[cluster] = x;
            }
        }
        columns
    }

    fn products(&self, points: Range<usize>, prepared: &[f32], out: &mut [f32]) {
        let k = prepared.len() / self.width.max(1);
        for (point, out) in points.zip(out.chunks_exact_mut(k)) {
            out.fill(0.0);
            for (column, x) in self.row(point) {
                for (out, centroid) in out.iter_mut().zip(&prepared[column as usize * k..][..k]) {
                    *out += x * centroid;
                }
            }
        }
    }

    fn add(&self, points: Range<usize>, clusters: &[u32], sums: &mut [f32]) {
        for (point, &cluster) in points.zip(clusters) {
            for (column, x) in self.row(point) {
                sums[cluster as usize * self.width + column as usize] += x;
            }
        }
    }

    fn most_parts(&self) -> usize {
        // The sums are dense over all terms.
        8
    }
}

/// As [`kmeans`], of vectors of any kind, which are `k` at least where there is one.
pub(super) fn cluster(
    points: &impl Points,
    k: usize,
    seed: u64,
    most_iterations: usize,
) -> Result<Clusters, KMeansError> {
    if k == 0 {
        return Err(KMeansError::NoClusters);
    }
    let squares = squares(points)?;
    let seeds = seeds(points, &squares, k, seed);
    let mut centroids = vec![0.0; seeds.len() * points.width()];
    for (number, &seed) in seeds.iter().enumerate() {
        points.add(seed..seed + 1, &[number as u32], &mut centroids);
    }
    Ok(lloyd(points, &squares, centroids, most_iterations))
}

/// The squared length of each point.
fn squares(points: &impl Points) -> Result<Vec<f32>, KMeansError> {
    let squares: Vec<f32> =
        (0..points.len()).into_par_iter().with_min_len(BLOCK).map(|point| points.dot(point, point)).collect();
    // NaN is below nothing.
    match squares.iter().position(|square| square.partial_cmp(&LONGEST) != Some(Ordering::Less)) {
        Some(row) => Err(KMeansError::NotFinite { row }),
        None => Ok(squares),
    }
}

/// Distinct points to start from, at most `k`: greedy k-means++ (Arthur and Vassilvitskii 2007; of 2 + ln k draws in
/// proportion to the squared distance from the seeds so far, the one that leaves the least).
fn seeds(points: &impl Points, squares: &[f32], k: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let candidates: Vec<usize> = if points.len() > SEEDED {
        // The first of a shuffle.
        let mut all: Vec<usize> = (0..points.len()).collect();
        for at in 0..SEEDED {
            let other = rng.random_range(at..all.len());
            all.swap(at, other);
        }
        all.truncate(SEEDED);
        all
    } else {
        (0..points.len()).collect()
    };
    if candidates.is_empty() {
        return Vec::new();
    }
    let distances = |seed: usize| -> Vec<f64> {
        let distance = |&point: &usize| {
            let squares = f64::from(squares[point]) + f64::from(squares[seed]);
            (squares - 2.0 * f64::from(points.dot(point, seed))).max(0.0)
        };
        candidates.par_iter().with_min_len(BLOCK).map(distance).collect()
    };
    let first = candidates[rng.random_range(0..candidates.len())];
    let mut seeds = vec![first];
    let mut nearest = distances(first);
    let trials = 2 + (k as f64).ln() as usize;
    while seeds.len() < k {
        let total: f64 = nearest.iter().sum();
        if total <= 0.0 {
            break;
        }
        let mut best: Option<(f64, usize, Vec<f64>)> = None;
        for _ in 0..trials {
            let drawn = candidates[draw(&nearest, rng.random::<f64>() * total)];
            let left: Vec<f64> = distances(drawn).iter().zip(&nearest).map(|(a, b)| a.min(*b)).collect();
            let sum = left.iter().sum();
            if best.as_ref().is_none_or(|(least, ..)| sum < *least) {
                best = Some((sum, drawn, left));
            }
        }
        let Some((_, drawn, left)) = best else { break };
        seeds.push(drawn);
        nearest = left;
    }
    seeds
}

/// The place where the running sum passes `mark`; never one of weight 0.
fn draw(weights: &[f64], mark: f64) -> usize {
    let mut sum = 0.0;
    let mut last = 0;
    for (at, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = at;
            sum += weight;
            if sum > mark {
                break;
            }
        }
    }
    last
}

/// What a part of the points gives in a round.
struct Part {
    sums: Vec<f32>,
    counts: Vec<u32>,
    inertia: f64,
    moved: bool,
}

fn lloyd(points: &impl Points, squares: &[f32], mut centroids: Vec<f32>, most_iterations: usize) -> Clusters {
    let mut assignment = vec![u32::MAX; points.len()];
    if points.len() == 0 {
        return Clusters { centroids: Vec::new(), assignment, inertia: 0.0, iterations: 0, converged: true };
    }
    let (mut iterations, mut converged) = (0, false);
    let mut inertia;
    loop {
        let parts = round(points, squares, &centroids, &mut assignment);
        inertia = parts.iter().map(|part| part.inertia).sum();
        if !parts.iter().any(|part| part.moved) {
            converged = true;
            break;
        }
        if iterations == most_iterations {
            break;
        }
        iterations += 1;
        update(points, squares, &parts, &assignment, &mut centroids);
    }
    Clusters { centroids, assignment, inertia, iterations, converged }
}

/// Gives each point to its nearest centroid. The parts depend on the number of points alone, and come in order.
fn round(points: &impl Points, squares: &[f32], centroids: &[f32], assignment: &mut [u32]) -> Vec<Part> {
    let width = points.width();
    let k = centroids.len() / width;
    let prepared = points.prepared(centroids);
    let lengths: Vec<f32> =
        centroids.chunks_exact(width).map(|c| c.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>() as f32).collect();
    let size = points.len().div_ceil(points.most_parts()).next_multiple_of(BLOCK);
    let part = |(number, assignment): (usize, &mut [u32])| {
        let mut part = Part { sums: vec![0.0; k * width], counts: vec![0; k], inertia: 0.0, moved: false };
        let mut dots = vec![0.0; BLOCK * k];
        let mut start = number * size;
        for assignment in assignment.chunks_mut(BLOCK) {
            let range = start..start + assignment.len();
            let dots = &mut dots[..assignment.len() * k];
            points.products(range.clone(), &prepared, dots);
            for ((cluster, dots), square) in
                assignment.iter_mut().zip(dots.chunks_exact(k)).zip(&squares[range.clone()])
            {
                // ‖x − c‖² = ‖x‖² + (‖c‖² − 2 x·c)
                let (mut nearest, mut least) = (0, f32::INFINITY);
                for (number, (dot, length)) in dots.iter().zip(&lengths).enumerate() {
                    let distance = length - 2.0 * dot;
                    if distance < least {
                        (nearest, least) = (number, distance);
                    }
                }
                part.moved |= *cluster != nearest as u32;
                *cluster = nearest as u32;
                part.counts[nearest] += 1;
                part.inertia += f64::from(square + least).max(0.0);
            }
            points.add(range, assignment, &mut part.sums);
            start += assignment.len();
        }
        part
    };
    assignment.par_chunks_mut(size).enumerate().map(part).collect()
}

/// Moves each centroid to the mean of its points, and those without points to the points farthest from theirs.
fn update(points: &impl Points, squares: &[f32], parts: &[Part], assignment: &[u32], centroids: &mut [f32]) {
    let width = points.width();
    let mut counts = vec![0_u64; centroids.len() / width];
    for part in parts {
        counts.iter_mut().zip(&part.counts).for_each(|(sum, &count)| *sum += u64::from(count));
    }
    let mut sums: Vec<f64> = vec![0.0; centroids.len()];
    sums.par_chunks_mut(width).enumerate().for_each(|(cluster, sums)| {
        for part in parts {
            sums.iter_mut().zip(&part.sums[cluster * width..]).for_each(|(sum, &x)| *sum += f64::from(x));
        }
    });
    if counts.contains(&0) {
        fill_empty(points, squares, assignment, centroids, &mut sums, &mut counts);
    }
    for ((centroid, sums), &count) in centroids.chunks_exact_mut(width).zip(sums.chunks_exact(width)).zip(&counts) {
        // One that stays empty stays where it is.
        if count > 0 {
            centroid.iter_mut().zip(sums).for_each(|(x, sum)| *x = (sum / count as f64) as f32);
        }
    }
}

/// Takes for each empty cluster the farthest point out of its own, the lower number of two as far.
fn fill_empty(
    points: &impl Points,
    squares: &[f32],
    assignment: &[u32],
    centroids: &[f32],
    sums: &mut [f64],
    counts: &mut [u64],
) {
    let width = points.width();
    let distance = |point: usize| {
        let mut row = vec![0.0; width];
        points.add(point..point + 1, &[0], &mut row);
        let centroid = &centroids[assignment[point] as usize * width..][..width];
        row.iter().zip(centroid).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>()
    };
    let mut far: Vec<(f64, usize)> =
        (0..squares.len()).into_par_iter().with_min_len(BLOCK).map(|point| (distance(point), point)).collect();
    far.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let empty: Vec<usize> = (0..counts.len()).filter(|&cluster| counts[cluster] == 0).collect();
    let mut far = far.into_iter();
    for cluster in empty {
        // A cluster's last point stays.
        let Some((_, point)) = far.find(|&(distance, point)| distance > 0.0 && counts[assignment[point] as usize] > 1)
        else {
            break;
        };
        let from = assignment[point] as usize;
        let mut row = vec![0.0; width];
        points.add(point..point + 1, &[0], &mut row);
        for (at, &x) in row.iter().enumerate() {
            sums[from * width + at] -= f64::from(x);
            sums[cluster * width + at] += f64::from(x);
        }
        counts[from] -= 1;
        counts[cluster] += 1;
    }
}
