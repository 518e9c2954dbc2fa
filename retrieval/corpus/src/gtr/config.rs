//! Settings of graph-table retrieval, and what can go wrong with it.

use serde::{Deserialize, Serialize};

use super::kmeans::KMeansError;
use super::pagerank::{PageRankConfig, PageRankError};

/// What stops GTR.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GtrError {
    /// A setting that cannot be.
    #[error("{name} = {value}: {wanted}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What may be given.
        wanted: &'static str,
    },
    /// Texts and vectors are not of the same tables, or a question's vector is not as long as the tables'.
    #[error("{found} numbers where {texts} vectors of {width} are {}", texts * width)]
    Vectors {
        /// How many numbers there are.
        found: usize,
        /// How many vectors there should be.
        texts: usize,
        /// How long each.
        width: usize,
    },
    /// A question's vector holds what is not a number.
    #[error("the question's vector holds a number that is not finite")]
    NotFinite,
    /// A table that the corpus does not have.
    #[error("table {table} of a corpus of {tables}")]
    NoSuchTable {
        /// The table.
        table: u32,
        /// How many there are.
        tables: usize,
    },
    /// The local graph takes more memory than allowed.
    #[error(
        "the local graph of {nodes} tables has {edges} edges after {seen} of them, more than most_edges = {most_edges} \
         ({} MB): raise tau (now {tau}), make more clusters, or allow more edges", most_edges >> 17
    )]
    GraphTooLarge {
        /// Tables in the graph.
        nodes: usize,
        /// Tables whose edges were counted.
        seen: usize,
        /// Edges so far.
        edges: usize,
        /// Most edges allowed.
        most_edges: usize,
        /// τ.
        tau: f32,
    },
    /// Vectors that cannot be clustered.
    #[error(transparent)]
    KMeans(#[from] KMeansError),
    /// A graph that cannot be walked.
    #[error(transparent)]
    PageRank(#[from] PageRankError),
}

/// Settings of GTR, the paper's values the default. Symbols of the paper can be written as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GtrConfig {
    /// K: clusters of each kind of features.
    #[serde(alias = "K")]
    pub clusters: usize,
    /// k: typical nodes of a cluster, those nearest its centroid.
    #[serde(alias = "k")]
    pub typical: usize,
    /// τ: least cosine of an edge, 0 to 1. The paper tunes it for each task and names no value.
    #[serde(alias = "τ")]
    pub tau: f32,
    /// α: the share of a step along the edges.
    #[serde(alias = "α")]
    pub alpha: f64,
    /// ε: a walk ends when a step changes less.
    #[serde(alias = "ε")]
    pub epsilon: f64,
    /// Most steps of a walk.
    pub steps: usize,
    /// Most rounds of k-means.
    pub rounds: usize,
    /// Seed of k-means.
    pub seed: u64,
    /// Pᵀ v in place of the paper's P v, as in the authors' code.
    pub transposed: bool,
    /// Semantic vectors for all kinds of features, as in the authors' code; as the three are then the same, one is made.
    pub semantic_only: bool,
    /// Most edges of the local graph, of 8 bytes each, 12 while it is built: more are an error.
    pub most_edges: usize,
}

impl Default for GtrConfig {
    fn default() -> Self {
        let PageRankConfig { alpha, epsilon, steps } = PageRankConfig::default();
        Self {
            clusters: 10,
            typical: 100,
            tau: 0.3,
            alpha,
            epsilon,
            steps,
            rounds: 100,
            seed: 0,
            transposed: false,
            semantic_only: false,
            most_edges: 1 << 28,
        }
    }
}

impl GtrConfig {
    /// The paper's symbols and the settings that they are.
    pub const SYMBOLS: [(&'static str, &'static str); 5] =
        [("K", "clusters"), ("k", "typical"), ("τ", "tau"), ("α", "alpha"), ("ε", "epsilon")];

    pub(super) fn check(&self) -> Result<(), GtrError> {
        let setting = |name, value, wanted| Err(GtrError::Setting { name, value, wanted });
        if self.clusters == 0 {
            return setting("clusters", 0.0, "1 or more");
        }
        if self.typical == 0 {
            return setting("typical", 0.0, "1 or more");
        }
        if self.rounds == 0 {
            return setting("rounds", 0.0, "1 or more");
        }
        if !(0.0..=1.0).contains(&self.tau) {
            return setting("tau", self.tau.into(), "from 0 to 1");
        }
        if !(0.0..1.0).contains(&self.alpha) {
            return setting("alpha", self.alpha, "at least 0 and below 1");
        }
        if self.epsilon.is_nan() || self.epsilon < 0.0 {
            return setting("epsilon", self.epsilon, "0 or more");
        }
        Ok(())
    }

    pub(super) fn walk(&self) -> PageRankConfig {
        PageRankConfig { alpha: self.alpha, epsilon: self.epsilon, steps: self.steps }
    }
}
