//! Question segmenters: the parts of a question that each ask for one thing.
//!
//! A [`Segmenter`] is opened by [`load_segmenter`]. The kind `rules` ([`rules`]) needs no model, `given` stands for
//! the segments that a data set has. The kind `t5` runs any T5 in Hugging Face layout
//! ([`T5Segmenter`], through candle); with the feature `training` the same model in burn's tensors
//! ([`t5::T5`]) is what `train` fits, and what it writes opens here, in candle and in Python's
//! transformers.
//!
//! ```no_run
//! use tabsegnet_segmenter::{SegmenterConfig, load_segmenter};
//!
//! # fn main() -> Result<(), tabsegnet_segmenter::SegmenterError> {
//! let config = SegmenterConfig { kind: "t5".into(), model: "runs/segmenter/best".into(), ..SegmenterConfig::default() };
//! let segmenter = load_segmenter(&config)?;
//! println!("{:?}", segmenter.segments("What was revenue in 2019 and in 2018?")?);
//! # Ok(())
//! # }
//! ```

mod beam;
pub mod buckets;
mod config;
pub mod data;
mod engine;
mod error;
mod generate;
pub mod measures;
mod model_config;
pub mod pointing;
pub mod prompt;
pub mod rules;
mod segmenter;
#[cfg(feature = "training")]
pub mod t5;
mod t5_segmenter;
mod threads;
mod tokenizer;
mod unigram;
mod weights;

pub use config::{SegmenterConfig, load_segmenter, load_segmenter_for};
pub use engine::WeightKind;
pub use error::SegmenterError;
pub use generate::{Generated, Generator, Limits};
pub use model_config::{FeedForward, T5Config};
pub use pointing::Pointing;
pub use prompt::Prompt;
pub use rules::Rules;
pub use segmenter::{GivenSegments, NoSegments, Segmenter};
pub use t5_segmenter::{FORMAT_VERSION, Found, T5Segmenter, segments_of};
pub use threads::say_thread_count;
pub use tokenizer::T5Tokenizer;
pub use unigram::train_unigram;
pub use weights::{ModelFiles, Weights, serialize};

/// Gives a tensor's values by its name and shape.
pub(crate) type Floats<'a, E> = dyn FnMut(&str, &[usize]) -> Result<Vec<f32>, E> + 'a;
