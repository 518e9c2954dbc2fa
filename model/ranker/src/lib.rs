//! TabSegNet's scorer (equation numbers are the paper's): graphs and vectors
//! go in, one score a node comes out.
//!
//! Symbols keep the paper's names: `u`, `q`, `s` are the vectors of nodes, questions and segments,
//! `R`, `A`, `b`, `W_q` make the edge strengths (5), `C`, `d` the node initialisation (6, 7),
//! `W_1`, `W_2` the graph convolution (8). Shapes stand at the end of the line.

pub mod activation;
pub mod aggregate;
pub mod batch;
mod best;
pub mod boosting;
pub mod checkpoint;
pub mod config;
pub mod device;
#[cfg(feature = "training")]
pub mod dropout;
pub mod edges;
mod flex;
#[cfg(feature = "gpu")]
mod gpu;
mod linear;
pub mod loss;
pub mod open;
pub mod precision;
mod product;
pub mod reranker;
pub mod scorer;
pub mod tensors;
#[cfg(test)]
mod testing;

pub use batch::{Batch, Example};
pub use best::best;
pub use config::ModelConfig;
pub use open::{EdgeEffect, Explanation, Inference, ModelInput, OpenGraph};
pub use precision::Precision;
pub use scorer::TabSegNet;
