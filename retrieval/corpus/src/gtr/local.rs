//! The graph between the tables that the coarse stage leaves: an edge where two tables' vectors are near.

use rayon::prelude::*;

use super::GtrError;
use super::matrix::products;
use super::pagerank::SparseGraph;

/// Tables whose products with the others a thread computes at a time, and with how many others: the products stay in a
/// core's cache until they are compared with τ.
const ROWS: usize = 192;
const COLUMNS: usize = 768;
/// Blocks of rows between two looks at how many edges there are.
const WAVE: usize = 16;

/// Edges of a row to columns from its own on.
type Upper = Vec<(Vec<u32>, Vec<f32>)>;

/// The graph of cosines ≥ τ between `vectors`, `[nodes, width]`, of length 1 or 0; symmetric. A node that has a length is
/// its own neighbour with weight 1, as the paper's edges are all pairs of C* × C*.
///
/// The products are computed by blocks and only those that are edges are kept: 8 bytes an edge, 12 while the graph is
/// being built.
///
/// # Errors
/// [`GtrError::GraphTooLarge`] where there would be more than `most_edges`.
pub(super) fn local_graph(vectors: &[f32], width: usize, tau: f32, most_edges: usize) -> Result<SparseGraph, GtrError> {
    let nodes = vectors.len() / width.max(1);
    let blocks: Vec<usize> = (0..nodes).step_by(ROWS).collect();
    let mut upper: Upper = Vec::with_capacity(nodes);
    let mut edges = 0;
    for wave in blocks.chunks(WAVE) {
        let found: Vec<Upper> = wave.par_iter().map(|&first| block(vectors, width, tau, first)).collect();
        for row in found.into_iter().flatten() {
            // Each edge stands for its reverse too, the first of a row for itself alone.
            let own = usize::from(row.0.first() == Some(&(upper.len() as u32)));
            edges += 2 * row.0.len() - own;
            upper.push(row);
        }
        if edges > most_edges {
            return Err(GtrError::GraphTooLarge { nodes, seen: upper.len(), edges, most_edges, tau });
        }
    }
    mirrored(upper, edges)
}

/// The upper edges of the rows from `first` on.
fn block(vectors: &[f32], width: usize, tau: f32, first: usize) -> Upper {
    let nodes = vectors.len() / width;
    let last = (first + ROWS).min(nodes);
    let rows = &vectors[first * width..last * width];
    let mut upper: Upper = vec![Default::default(); last - first];
    let mut dots = vec![0.0; (last - first) * COLUMNS];
    let mut start = first;
    while start < nodes {
        let end = (start + COLUMNS).min(nodes);
        let columns = &vectors[start * width..end * width];
        let dots = &mut dots[..(last - first) * (end - start)];
        products(rows, columns, width, dots);
        for ((at, (to, weights)), dots) in upper.iter_mut().enumerate().zip(dots.chunks_exact(end - start)) {
            let row = first + at;
            for (column, &cosine) in (start..end).zip(dots).skip(row.saturating_sub(start)) {
                if column == row {
                    // Rounding takes nothing from it.
                    if cosine > 0.5 {
                        to.push(column as u32);
                        weights.push(1.0);
                    }
                } else if cosine >= tau {
                    to.push(column as u32);
                    weights.push(cosine);
                }
            }
        }
        start = end;
    }
    upper
}

/// The whole of a symmetric matrix of its upper half.
fn mirrored(upper: Upper, edges: usize) -> Result<SparseGraph, GtrError> {
    let mut offsets = vec![0; upper.len() + 1];
    for (row, (columns, _)) in upper.iter().enumerate() {
        offsets[row + 1] += columns.len();
        for &column in columns {
            if column as usize != row {
                offsets[column as usize + 1] += 1;
            }
        }
    }
    for row in 0..upper.len() {
        offsets[row + 1] += offsets[row];
    }
    let mut next = offsets.clone();
    let (mut columns, mut weights) = (vec![0; edges], vec![0.0; edges]);
    // Row by row: what is mirrored into a row comes by rising column, before the row's own.
    for (row, (to, upper)) in upper.into_iter().enumerate() {
        let own = next[row];
        columns[own..own + to.len()].copy_from_slice(&to);
        weights[own..own + to.len()].copy_from_slice(&upper);
        for (&column, &weight) in to.iter().zip(&upper) {
            if column as usize != row {
                let place = &mut next[column as usize];
                columns[*place] = row as u32;
                weights[*place] = weight;
                *place += 1;
            }
        }
    }
    Ok(SparseGraph::new(offsets, columns, weights)?)
}
