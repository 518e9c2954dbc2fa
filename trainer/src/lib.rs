//! Training and measuring: what the programs `train` and `evaluate` consist of.

pub mod answers;
mod batches;
pub mod card;
pub mod cli;
pub mod config;
pub mod corpus;
pub mod evaluation;
mod folds;
pub mod inputs;
pub mod language_model;
pub mod layout;
pub mod progress;
pub mod reranker;
pub mod sampling;
pub mod segmenter;
pub mod segments;
pub mod start_from;
pub mod state;
pub mod static_encoder;
pub mod table_scorer;
pub mod train_state;
pub mod training;
mod trees;
