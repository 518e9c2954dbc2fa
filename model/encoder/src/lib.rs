//! Text to vectors: sentence encoders and a cache of their vectors.
//!
//! An [`Encoder`] turns texts into rows of one width. Two kinds exist, chosen by
//! [`EncoderConfig`] and opened by [`load`] or, for a GPU, [`load_on`]: [`BertEncoder`], any
//! BERT-family sentence encoder in Hugging Face layout, and [`StaticEncoder`], a table of token
//! vectors that comes with the project. [`EmbeddingCache`] keeps vectors by content, so that a
//! document is encoded once.
//!
//! ```no_run
//! use tabsegnet_encoder::{EmbeddingCache, EncoderConfig, load};
//! use tabsegnet_store::default_cache_dir;
//!
//! # fn main() -> Result<(), tabsegnet_encoder::EncoderError> {
//! let encoder = load(&EncoderConfig::default())?;
//! let cache = EmbeddingCache::open(&default_cache_dir()?)?;
//! let vectors = cache.embed(encoder.as_ref(), &["revenue | 2019 | 12.5"], &mut |_| ())?;
//! assert_eq!(vectors.len(), encoder.dim());
//! # Ok(())
//! # }
//! ```

mod bert;
mod cache;
mod config;
mod error;
mod math;
mod shipped;
mod source;
mod splade;
mod static_table;
mod tensors;
mod tokens;
mod work;

pub use bert::BertEncoder;
pub use cache::EmbeddingCache;
pub use config::{EncoderConfig, EncoderKind, load, load_for, load_in_tensors, load_on, tokenizer_json};
pub use error::EncoderError;
pub use math::Precision;
pub use shipped::{Shipped, shipped, shipped_for};
pub use source::{Hub, Source, hub_name};
pub use splade::{SparseVector, Splade, sparse_product};
pub use static_table::{StaticEncoder, StaticTable, read_static, save_static};

/// A function from texts to vectors of one width.
///
/// What always holds:
///
/// - Row `i` of the result is the vector of `texts[i]`, whatever the order of the others.
/// - Equal texts in one call give equal vectors, bit for bit.
/// - A text gives the same vector within 1e-5 a component, alone or among any others, and the same
///   one bit for bit with one thread or many.
/// - The empty text gives a vector like any other.
/// - Every component is finite: a number that is not is [`EncoderError::NonFinite`], which names
///   the text.
/// - A text longer than the encoder's limit counts up to the limit and no further.
pub trait Encoder: Send + Sync {
    /// Width of a vector.
    fn dim(&self) -> usize;

    /// Hexadecimal digest of everything the vectors depend on: the kind, the weights, the
    /// tokenizer, the pooling, the length limit and the precision. Two encoders of one identity give the same
    /// vectors; a change of any of these changes it.
    fn identity(&self) -> &str;

    /// The vectors of `texts`, row-major `[texts, dim]`; of length 1 where the model's own files
    /// say so. No texts give an empty vector.
    ///
    /// `progress` is called on the calling thread with the number of texts that are done so far:
    /// it never falls and ends at `texts.len()`.
    fn encode(&self, texts: &[&str], progress: &mut dyn FnMut(usize)) -> Result<Vec<f32>, EncoderError>;

    /// The vectors of each text's tokens, special ones left out: `[tokens, dim]` for each text, each of
    /// length 1 (or 0, where all its numbers are).
    ///
    /// # Errors
    /// As [`Encoder::encode`]; an encoder that has no such vectors.
    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let _ = texts;
        Err(EncoderError::NoTokenVectors { reason: "at all" })
    }
}
