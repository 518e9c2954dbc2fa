//! Edges as the arrays that training and ranking use.

use std::ops::Range;

use crate::error::GraphError;
use crate::names::TypeNames;

/// Edges as compressed sparse rows: sorted by destination, then source, then type, and for each node where its
/// in-edges begin. Which edges there are, of which types by name and how heavy is all it knows: texts and ids stay
/// with the nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Adjacency {
    names: TypeNames,
    /// `[nodes + 1]`: node `v`'s in-edges are `offsets[v]..offsets[v + 1]`.
    offsets: Vec<u32>,
    /// `[edges]`: where each edge comes from.
    sources: Vec<u32>,
    /// `[edges]`: each edge's type number.
    types: Vec<u8>,
    /// `[edges]`, or empty where all weights are 1.
    weights: Vec<f32>,
}

impl Adjacency {
    /// Sorts edges given as (source, destination, type) in any order; `names` are those of the types. Every weight
    /// is 1.
    ///
    /// # Errors
    /// An edge to or from a node that is not there, or of a type without a name.
    pub fn new(nodes: usize, names: TypeNames, edges: &[(u32, u32, u8)]) -> Result<Self, GraphError> {
        check(nodes, &names, edges)?;
        let mut sorted: Vec<(u32, u32, u8)> = edges.iter().map(|&(s, d, t)| (d, s, t)).collect();
        sorted.sort_unstable();
        Ok(Self::of_sorted(nodes, names, &sorted))
    }

    /// As [`Adjacency::new`], with the `weights` `[edges]`, finite and at least 0.
    ///
    /// # Errors
    /// As [`Adjacency::new`]; a weight that is negative or not finite; not as many weights as edges.
    pub fn weighted(
        nodes: usize,
        names: TypeNames,
        edges: &[(u32, u32, u8)],
        weights: &[f32],
    ) -> Result<Self, GraphError> {
        check(nodes, &names, edges)?;
        let wrong = |at: usize| GraphError::Weight {
            at,
            found: weights.get(at).copied().unwrap_or(f32::NAN),
            edges: edges.len(),
        };
        if weights.len() != edges.len() {
            return Err(wrong(weights.len().min(edges.len())));
        }
        if let Some(at) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            return Err(wrong(at));
        }
        let mut order: Vec<((u32, u32, u8), f32)> =
            edges.iter().zip(weights).map(|(&(s, d, t), &weight)| ((d, s, t), weight)).collect();
        order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (sorted, weights): (Vec<_>, Vec<f32>) = order.into_iter().unzip();
        Ok(Self { weights: plain(weights), ..Self::of_sorted(nodes, names, &sorted) })
    }

    /// From edges (destination, source, type) in this order.
    fn of_sorted(nodes: usize, names: TypeNames, sorted: &[(u32, u32, u8)]) -> Self {
        let mut offsets = vec![0; nodes + 1];
        for (destination, _, _) in sorted {
            offsets[*destination as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let (sources, types) = sorted.iter().map(|&(_, source, edge_type)| (source, edge_type)).unzip();
        Self { names, offsets, sources, types, weights: Vec::new() }
    }

    /// The edges between some of the nodes, which are given rising, each once, and numbered anew from 0 in that order.
    /// Numbers of nodes that are not there have no edges.
    #[must_use]
    pub fn among(&self, nodes: &[u32]) -> Self {
        let mut numbers = vec![u32::MAX; self.nodes()];
        for (number, &node) in (0..).zip(nodes) {
            if let Some(place) = numbers.get_mut(node as usize) {
                *place = number;
            }
        }
        let (mut sorted, mut weights) = (Vec::new(), Vec::new());
        for (number, &node) in (0..).zip(nodes) {
            for edge in self.edges_into(node) {
                let source = numbers[self.sources[edge] as usize];
                if source != u32::MAX {
                    sorted.push((number, source, self.types[edge]));
                    weights.extend(self.weights.get(edge));
                }
            }
        }
        Self { weights: plain(weights), ..Self::of_sorted(nodes.len(), self.names.clone(), &sorted) }
    }

    /// Names of the edge types, by number.
    pub fn type_names(&self) -> &TypeNames {
        &self.names
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of directed edges.
    pub fn edges(&self) -> usize {
        self.sources.len()
    }

    /// `[nodes + 1]`: node `v`'s in-edges are `offsets()[v]..offsets()[v + 1]`.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// `[edges]`: where each edge comes from.
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// `[edges]`: each edge's type number.
    pub fn types(&self) -> &[u8] {
        &self.types
    }

    /// `[edges]`, or empty where all weights are 1.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The weight of an edge by its position, 1 where the graph has none.
    pub fn weight(&self, edge: usize) -> f32 {
        self.weights.get(edge).copied().unwrap_or(1.0)
    }

    /// The name of an edge's type, by the edge's position; empty for an edge that is not there.
    pub fn type_name(&self, edge: usize) -> &str {
        self.types.get(edge).and_then(|&number| self.names.name(number)).unwrap_or_default()
    }

    /// Positions of the edges into a node; none for one that is not there.
    pub fn edges_into(&self, node: u32) -> Range<usize> {
        match self.offsets.get(node as usize..).unwrap_or_default() {
            [first, end, ..] => *first as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// All edges as (source, destination, type), by destination, source, type.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, u8)> + '_ {
        (0..self.nodes() as u32)
            .flat_map(move |node| self.edges_into(node).map(move |edge| (self.sources[edge], node, self.types[edge])))
    }
}

/// Weights, or none where all are 1.
fn plain(weights: Vec<f32>) -> Vec<f32> {
    if weights.iter().all(|&weight| weight == 1.0) { Vec::new() } else { weights }
}

/// Edges join nodes that are there and are of types that have a name.
fn check(nodes: usize, names: &TypeNames, edges: &[(u32, u32, u8)]) -> Result<(), GraphError> {
    for (edge, &(source_node, destination, edge_type)) in edges.iter().enumerate() {
        if [source_node, destination].iter().any(|&node| node as usize >= nodes) {
            return Err(GraphError::Dangling { edge, source_node, destination, nodes });
        }
        if usize::from(edge_type) >= names.len() {
            return Err(GraphError::TypeNumber { edge, edge_type, types: names.len() });
        }
    }
    Ok(())
}
