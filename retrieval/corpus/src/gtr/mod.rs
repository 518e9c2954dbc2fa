//! Graph-table retrieval as the paper has it (GTR, arXiv 2504.01346, sections 3.1 to 3.3): tables are clustered by three
//! kinds of features; a question picks one cluster of each; PageRank over the picked tables ranks them.
//!
//! Where the paper is silent: negative cosines count as 0; a node without neighbours jumps back to the restart; ties go
//! to the lower number; structural features are taken as they are, on no common scale, so that the number of tokens
//! outweighs the rest; TF-IDF is over all terms of the corpus. The paper's evaluation keeps only clusters that hold the
//! gold where any does; nothing here sees gold.

mod config;
pub mod kmeans;
mod local;
mod matrix;
pub mod pagerank;
mod sparse;
mod structural;

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use config::{GtrConfig, GtrError};
pub use kmeans::{Clusters, KMeansError, kmeans};
pub use pagerank::{Direction, PageRank, PageRankConfig, PageRankError, SparseGraph, Walk, personalised_pagerank};

use matrix::{dot, make_unit, unit};
use sparse::{SparseRows, TfIdf};
use structural::FEATURES;

/// Kinds of features φ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// The encoder's vector.
    Semantic,
    /// How long a text is, and of which parts of speech.
    Structural,
    /// TF-IDF.
    Heuristic,
}

/// The hyperedges of one kind of features.
#[derive(Debug, Clone)]
struct Hyperedges {
    feature: Feature,
    /// Tables of each cluster, rising; none is empty.
    members: Vec<Vec<u32>>,
    /// Mean of the unit vectors of each cluster's typical nodes, `[clusters, width]`: its product with a unit vector is
    /// the mean of the cosines.
    typical: Vec<f32>,
    width: usize,
}

/// A question as GTR sees it.
#[derive(Debug, Clone)]
pub struct GtrQuery {
    /// Of length 1, or 0.
    semantic: Vec<f32>,
    structural: [f32; FEATURES],
    heuristic: Vec<(u32, f32)>,
}

/// The cluster that a question picked for one kind of features.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Picked {
    /// The kind of features.
    pub feature: Feature,
    /// Number of the cluster.
    pub cluster: usize,
    /// Mean cosine of the question and the cluster's typical nodes.
    pub cosine: f32,
    /// Tables in the cluster.
    pub tables: usize,
}

/// What the coarse stage leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coarse {
    /// One cluster of each kind of features that says something about the question: none where its vector is 0, as
    /// TF-IDF is of a question without a known word.
    pub picked: Vec<Picked>,
    /// C*: the tables of those clusters, rising, each once.
    pub tables: Vec<u32>,
}

/// Tables and the edges between them, over which any number of questions walk.
#[derive(Debug, Clone)]
pub struct LocalGraph {
    tables: Vec<u32>,
    /// Unit vectors of the tables, `[tables, width]`.
    vectors: Vec<f32>,
    walk: Walk,
}

impl LocalGraph {
    /// The tables, in the order given.
    pub fn tables(&self) -> &[u32] {
        &self.tables
    }

    /// How many edges there are; one between two tables counts twice, that of a table to itself once.
    pub fn edges(&self) -> usize {
        self.walk.edges()
    }
}

/// What the fine stage finds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fine {
    /// Tables with their scores, the best first, the lower number of two as good.
    pub ranking: Vec<(u32, f32)>,
    /// Steps that PageRank took.
    pub steps: usize,
}

/// What each stage left of the corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// The ranking.
    pub fine: Fine,
    /// What the coarse stage left.
    pub coarse: Coarse,
    /// Edges of the local graph.
    pub edges: usize,
}

/// A corpus of tables as a hypergraph.
#[derive(Debug, Clone)]
pub struct Gtr {
    config: GtrConfig,
    /// Unit vectors, `[tables, width]`.
    vectors: Vec<f32>,
    width: usize,
    weights: TfIdf,
    hyperedges: Vec<Hyperedges>,
}

/// A table as the paper writes it: `[Table] [Caption] caption [Header] h1 [Header] h2 …`.
pub fn linearised<T: AsRef<str>>(caption: &str, headers: &[T]) -> String {
    let mut text = format!("[Table] [Caption] {caption}");
    for header in headers {
        text.push_str(" [Header] ");
        text.push_str(header.as_ref());
    }
    text
}

impl Gtr {
    /// Clusters a corpus. `texts` are the tables as text ([`linearised`]), `vectors` the encoder's vectors of them,
    /// `[tables, width]`, of any length.
    ///
    /// # Errors
    /// Settings that cannot be, numbers of vectors and texts that differ, and numbers that are not finite.
    pub fn build<T: AsRef<str> + Sync>(
        texts: &[T],
        vectors: &[f32],
        width: usize,
        config: GtrConfig,
    ) -> Result<Self, GtrError> {
        config.check()?;
        if width == 0 || texts.len().checked_mul(width) != Some(vectors.len()) || u32::try_from(texts.len()).is_err() {
            return Err(GtrError::Vectors { found: vectors.len(), texts: texts.len(), width });
        }
        let (k, seed, rounds) = (config.clusters, config.seed, config.rounds);
        let clusters = kmeans(vectors, width, k, seed, rounds)?;
        let mut unit = vectors.to_vec();
        unit.par_chunks_mut(width).for_each(make_unit);
        let mut hyperedges = vec![dense(Feature::Semantic, &clusters, &unit, width, config.typical)];

        let mut weights = TfIdf::of::<&str>(&[]).0;
        if !config.semantic_only {
            let rows: Vec<_> = texts.par_iter().map(|text| structural::features(text.as_ref())).collect();
            let mut features = rows.concat();
            let clusters = kmeans(&features, FEATURES, k, seed, rounds)?;
            features.chunks_exact_mut(FEATURES).for_each(make_unit);
            hyperedges.push(dense(Feature::Structural, &clusters, &features, FEATURES, config.typical));

            let (tf_idf, rows) = TfIdf::of(texts);
            weights = tf_idf;
            let clusters = kmeans::cluster(&rows, k, seed, rounds)?;
            hyperedges.push(sparse(&clusters, &rows, config.typical));
        }
        Ok(Self { config, vectors: unit, width, weights, hyperedges })
    }

    /// How many tables there are.
    pub fn len(&self) -> usize {
        self.vectors.len() / self.width
    }

    /// Whether there is no table.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Tables in each cluster of each kind of features.
    pub fn clusters(&self) -> Vec<(Feature, Vec<usize>)> {
        self.hyperedges.iter().map(|edges| (edges.feature, edges.members.iter().map(Vec::len).collect())).collect()
    }

    /// The features of a question: of its text, and the encoder's vector of it, `[width]`.
    ///
    /// # Errors
    /// Where the vector is not as long as the tables' or not finite.
    pub fn query(&self, text: &str, vector: &[f32]) -> Result<GtrQuery, GtrError> {
        if vector.len() != self.width {
            return Err(GtrError::Vectors { found: vector.len(), texts: 1, width: self.width });
        }
        if !vector.iter().all(|x| x.is_finite()) {
            return Err(GtrError::NotFinite);
        }
        let heuristic = self.weights.vector(text);
        Ok(GtrQuery { semantic: unit(vector), structural: structural::features(text), heuristic })
    }

    /// The coarse stage: for each kind of features the cluster C*(φ) = argmax_j mean cosine of the question and the
    /// cluster's typical nodes, and the union of them. Nothing is left of a question whose features are all 0.
    pub fn coarse(&self, query: &GtrQuery) -> Coarse {
        let picked: Vec<Picked> = self.hyperedges.iter().filter_map(|edges| edges.pick(query)).collect();
        let mut tables: Vec<u32> = picked.iter().flat_map(|picked| self.members(picked)).copied().collect();
        tables.sort_unstable();
        tables.dedup();
        Coarse { picked, tables }
    }

    /// The tables of a picked cluster, rising: what survives by each kind of features alone.
    pub fn members(&self, picked: &Picked) -> &[u32] {
        let edges = self.hyperedges.iter().find(|edges| edges.feature == picked.feature);
        edges.and_then(|edges| edges.members.get(picked.cluster)).map_or(&[], Vec::as_slice)
    }

    /// The graph of the given tables, each once, with edges where the cosine of their vectors is at least τ.
    ///
    /// # Errors
    /// A table that is not there, and [`GtrError::GraphTooLarge`].
    pub fn local_graph(&self, tables: &[u32]) -> Result<LocalGraph, GtrError> {
        let mut vectors = Vec::with_capacity(tables.len() * self.width);
        for &table in tables {
            let start = table as usize * self.width;
            let vector = self.vectors.get(start..start + self.width);
            vectors.extend_from_slice(vector.ok_or(GtrError::NoSuchTable { table, tables: self.len() })?);
        }
        let graph = local::local_graph(&vectors, self.width, self.config.tau, self.config.most_edges)?;
        let direction = if self.config.transposed { Direction::Transposed } else { Direction::Forward };
        Ok(LocalGraph { tables: tables.to_vec(), vectors, walk: Walk::new(graph, direction) })
    }

    /// The fine stage: the `top` best of a local graph's tables by PageRank from h_i = max(0, cos(q, s_i)), for each
    /// question. Where no table's cosine is above 0, h is the same for all.
    ///
    /// # Errors
    /// None for queries of this corpus.
    pub fn fine(&self, graph: &LocalGraph, queries: &[&GtrQuery], top: usize) -> Result<Vec<Fine>, GtrError> {
        if graph.tables.is_empty() {
            return Ok(vec![Fine::default(); queries.len()]);
        }
        let restart = |query: &&GtrQuery| {
            let cosine = |vector: &[f32]| dot(vector, &query.semantic).max(0.0);
            let mut h: Vec<f32> = graph.vectors.par_chunks_exact(self.width).with_min_len(256).map(cosine).collect();
            if !h.iter().any(|h| *h > 0.0) {
                h.fill(1.0);
            }
            h
        };
        let restarts: Vec<Vec<f32>> = queries.iter().map(restart).collect();
        let walks = graph.walk.scores_of_all(&restarts, &self.config.walk())?;
        let fine = |walk: PageRank| Fine { ranking: best(&graph.tables, &walk.scores, top), steps: walk.steps };
        Ok(walks.into_iter().map(fine).collect())
    }

    /// Both stages for one question.
    ///
    /// # Errors
    /// As [`Self::local_graph`].
    pub fn rank(&self, query: &GtrQuery, top: usize) -> Result<Ranked, GtrError> {
        let coarse = self.coarse(query);
        let graph = self.local_graph(&coarse.tables)?;
        let fine = self.fine(&graph, &[query], top)?.pop().unwrap_or_default();
        Ok(Ranked { fine, coarse, edges: graph.edges() })
    }

    /// As [`Self::rank`] for many questions, to the bit: those that are left the same tables share a graph and walk
    /// together.
    ///
    /// # Errors
    /// As [`Self::local_graph`].
    pub fn rank_all(&self, queries: &[GtrQuery], top: usize) -> Result<Vec<Ranked>, GtrError> {
        let coarse: Vec<Coarse> = queries.par_iter().map(|query| self.coarse(query)).collect();
        let mut alike: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
        for (number, coarse) in coarse.iter().enumerate() {
            alike.entry(&coarse.tables).or_default().push(number);
        }
        let mut ranked: Vec<Option<Ranked>> = vec![None; queries.len()];
        for (tables, numbers) in alike {
            let graph = self.local_graph(tables)?;
            let alike_queries: Vec<&GtrQuery> = numbers.iter().map(|&number| &queries[number]).collect();
            for (number, fine) in numbers.into_iter().zip(self.fine(&graph, &alike_queries, top)?) {
                let coarse = coarse[number].clone();
                ranked[number] = Some(Ranked { fine, coarse, edges: graph.edges() });
            }
        }
        Ok(ranked.into_iter().flatten().collect())
    }
}

impl Hyperedges {
    fn pick(&self, query: &GtrQuery) -> Option<Picked> {
        let vectors = self.typical.chunks_exact(self.width.max(1));
        let cosines: Vec<f32> = match self.feature {
            Feature::Semantic => with(&query.semantic, vectors)?,
            Feature::Structural => with(&unit(&query.structural), vectors)?,
            Feature::Heuristic if query.heuristic.is_empty() => return None,
            Feature::Heuristic => vectors
                .map(|mean| query.heuristic.iter().filter_map(|&(term, x)| Some(x * mean.get(term as usize)?)).sum())
                .collect(),
        };
        let mut picked: Option<(usize, f32)> = None;
        for (cluster, &cosine) in cosines.iter().enumerate() {
            if picked.is_none_or(|(_, best)| cosine > best) {
                picked = Some((cluster, cosine));
            }
        }
        let (cluster, cosine) = picked?;
        let tables = self.members.get(cluster).map_or(0, Vec::len);
        Some(Picked { feature: self.feature, cluster, cosine, tables })
    }
}

/// The products of a vector with others; nothing of one that is 0.
fn with<'v>(vector: &[f32], others: impl Iterator<Item = &'v [f32]>) -> Option<Vec<f32>> {
    vector.iter().any(|x| *x != 0.0).then(|| others.map(|other| dot(vector, other)).collect())
}

/// Tables of each cluster that has any, and its number.
fn members(clusters: &Clusters, width: usize) -> Vec<(usize, Vec<u32>)> {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); clusters.count(width)];
    for (table, &cluster) in clusters.assignment.iter().enumerate() {
        if let Some(members) = members.get_mut(cluster as usize) {
            members.push(table as u32);
        }
    }
    members.into_iter().enumerate().filter(|(_, members)| !members.is_empty()).collect()
}

/// The tables of a cluster that are nearest its centroid.
fn typical(members: &[u32], cosine: impl Fn(u32) -> f32, most: usize) -> Vec<u32> {
    let cosines: Vec<f32> = members.iter().map(|&table| cosine(table)).collect();
    best(members, &cosines, most).into_iter().map(|(table, _)| table).collect()
}

/// The hyperedges of dense features; `unit` are the unit vectors, `[tables, width]`.
fn dense(feature: Feature, clusters: &Clusters, unit: &[f32], width: usize, most: usize) -> Hyperedges {
    let row = |table: u32| &unit[table as usize * width..][..width];
    let mut means = Vec::new();
    let mut kept = Vec::new();
    for (cluster, members) in members(clusters, width) {
        let centroid = &clusters.centroids[cluster * width..][..width];
        let typical = typical(&members, |table| dot(row(table), centroid), most);
        let mean =
            |at: usize| typical.iter().map(|&table| f64::from(row(table)[at])).sum::<f64>() / typical.len() as f64;
        means.extend((0..width).map(|at| mean(at) as f32));
        kept.push(members);
    }
    Hyperedges { feature, members: kept, typical: means, width }
}

/// The hyperedges of TF-IDF; the rows have length 1.
fn sparse(clusters: &Clusters, rows: &SparseRows, most: usize) -> Hyperedges {
    let width = rows.width;
    let mut means = Vec::new();
    let mut kept = Vec::new();
    for (cluster, members) in members(clusters, width) {
        let centroid = &clusters.centroids[cluster * width..][..width];
        let cosine = |table: u32| rows.row(table as usize).map(|(term, x)| x * centroid[term as usize]).sum();
        let typical = typical(&members, cosine, most);
        let mut sums = vec![0.0_f64; width];
        for &table in &typical {
            rows.row(table as usize).for_each(|(term, x)| sums[term as usize] += f64::from(x));
        }
        means.extend(sums.into_iter().map(|sum| (sum / typical.len() as f64) as f32));
        kept.push(members);
    }
    Hyperedges { feature: Feature::Heuristic, members: kept, typical: means, width }
}

/// The `top` best of tables by score, the best first, the lower number of two as good.
fn best(tables: &[u32], scores: &[f32], top: usize) -> Vec<(u32, f32)> {
    let mut ranked: Vec<(u32, f32)> = tables.iter().copied().zip(scores.iter().copied()).collect();
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if top < ranked.len() {
        ranked.select_nth_unstable_by(top, order);
        ranked.truncate(top);
    }
    ranked.sort_unstable_by(order);
    ranked
}
