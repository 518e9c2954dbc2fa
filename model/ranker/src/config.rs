//! The `[model]` section of a config.

use serde::{Deserialize, Serialize};
use tabsegnet_graph::TypeNames;

/// Widths by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// d_in 120, d_out 150, d_edge 10.
    Base,
    /// d_in 128, d_out 256, d_edge 128.
    #[default]
    Large,
}

impl Preset {
    fn widths(self) -> (usize, usize, usize) {
        match self {
            Self::Base => (120, 150, 10),
            Self::Large => (128, 256, 128),
        }
    }
}

/// How a node takes up its neighbours' messages (8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The greatest message of each channel; the paper's.
    #[default]
    Max,
    /// The sum of the messages.
    Sum,
    /// The mean of the messages.
    Mean,
}

/// Which edges the model tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeTypes {
    /// Every type of the graph.
    #[default]
    Typed,
    /// None: one type for all (the paper's TabNet_No_Etype).
    Single,
    /// There are no edges: each node stands for itself, an ablation.
    None,
}

/// How an edge strength s(e | q) is made of r = (q W_q) · tanh(R[t(e)] A + b).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// r, the paper's (5). It starts near 0 with a random sign: some trainings never learn to listen.
    #[default]
    Paper,
    /// 1 + tanh(r): starts near 1 and never turns round, so that every training starts by listening.
    Residual,
}

/// What the scorer is made of. A width of 0 stands for the preset's.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// Widths by name.
    pub preset: Preset,
    /// Width of x⁰.
    pub d_in: usize,
    /// Width of x¹ … x^L.
    pub d_out: usize,
    /// Width of an edge type's vector.
    pub d_edge: usize,
    /// Graph convolutions L, at least 1; 0 stands for 1, the paper's.
    pub layers: usize,
    /// How messages are taken up.
    pub aggregation: Aggregation,
    /// Whether a node's best segment enters its initialisation: (7), or (6) without (TabNet).
    pub segments: bool,
    /// Which edges are told apart.
    pub edge_types: EdgeTypes,
    /// Names of the edge types that the weights were trained with, in the order of the rows of `R`: a document's,
    /// or those of a checkpoint's manifest. Edges of other types carry no message.
    #[serde(skip)]
    pub edge_type_names: TypeNames,
    /// How edge strengths are made.
    pub strength: Strength,
    /// Features a node, which enter the node initialisation and again the scorer; 0 for none. No setting: it
    /// follows from `[features]`, and in a checkpoint from the weights.
    #[serde(skip)]
    pub features: usize,
    /// Whether the checkpoint carries a table scorer, whose scores are among the features. No setting, as `features`.
    #[serde(skip)]
    pub table_scorer: bool,
}

impl ModelConfig {
    /// Rows of `R`.
    pub fn edge_rows(&self) -> usize {
        match self.edge_types {
            EdgeTypes::Typed => self.edge_type_names.len(),
            EdgeTypes::Single | EdgeTypes::None => 1,
        }
    }

    /// The same with every 0 replaced by what it stands for.
    #[must_use]
    pub fn resolved(&self) -> Self {
        let (d_in, d_out, d_edge) = self.preset.widths();
        let or = |value: usize, default: usize| if value == 0 { default } else { value };
        Self {
            d_in: or(self.d_in, d_in),
            d_out: or(self.d_out, d_out),
            d_edge: or(self.d_edge, d_edge),
            layers: or(self.layers, 1),
            ..self.clone()
        }
    }
}
