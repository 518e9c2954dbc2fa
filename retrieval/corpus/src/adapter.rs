//! A linear adapter of questions' vectors: an encoder that knows nothing of tables puts a question beside texts that say the
//! same, not beside the table that answers it.

use std::borrow::Cow;
use std::path::Path;

use tabsegnet_ranker::tensors::{NamedTensors, TensorData, serialize};
use tabsegnet_store::{read_bytes, write_bytes_atomic};

use crate::corpus::Query;
use crate::error::{CorpusError, damaged};

const DOWN: &str = "down";
const UP: &str = "up";

/// q ← (q + q D U) / |q + q D U|; tables keep the vectors that they have.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryAdapter {
    /// D, `[dim, rank]`
    down: Vec<f32>,
    /// U, `[rank, dim]`
    up: Vec<f32>,
    rank: usize,
}

impl QueryAdapter {
    /// Of D `[dim, rank]` and U `[rank, dim]`, row-major.
    pub fn new(down: Vec<f32>, up: Vec<f32>, rank: usize) -> Self {
        Self { down, up, rank: rank.max(1) }
    }

    /// The width of the vectors that it is for.
    pub fn dim(&self) -> usize {
        self.up.len() / self.rank
    }

    /// A question with its vector adapted; one of another width stays as it is.
    pub fn apply<'q>(&self, query: &'q Query) -> Cow<'q, Query> {
        if query.vector.len() != self.dim() {
            return Cow::Borrowed(query);
        }
        let mut low = vec![0.0_f32; self.rank];
        for (value, row) in query.vector.iter().zip(self.down.chunks_exact(self.rank)) {
            low.iter_mut().zip(row).for_each(|(low, weight)| *low += value * weight);
        }
        let mut vector = query.vector.clone();
        for (low, row) in low.iter().zip(self.up.chunks_exact(vector.len())) {
            vector.iter_mut().zip(row).for_each(|(value, weight)| *value += low * weight);
        }
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|value| *value /= length);
        }
        Cow::Owned(Query { vector, ..query.clone() })
    }

    /// The question that what was learnt with an adapter, or without, is put.
    pub fn adapted<'q>(adapter: Option<&Self>, query: &'q Query) -> Cow<'q, Query> {
        adapter.map_or(Cow::Borrowed(query), |adapter| adapter.apply(query))
    }

    /// Writes it to a file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), CorpusError> {
        let tensor = |values: &Vec<f32>, shape: [usize; 2]| TensorData::new(values.clone(), shape);
        let tensors = [
            (DOWN.to_owned(), tensor(&self.down, [self.dim(), self.rank])),
            (UP.to_owned(), tensor(&self.up, [self.rank, self.dim()])),
        ];
        let bytes = serialize(&tensors, path).map_err(|error| damaged(path, error))?;
        Ok(write_bytes_atomic(path, &bytes)?)
    }

    /// Reads what [`QueryAdapter::write`] wrote; a file that is none in words.
    pub(crate) fn read(path: &Path) -> Result<Result<Self, String>, CorpusError> {
        let bytes = read_bytes(path)?;
        Ok(NamedTensors::read(path, &bytes).map_err(|error| error.to_string()).and_then(|tensors| {
            let (down, up) = (tensors.floats(DOWN)?, tensors.floats(UP)?);
            match (down.0, up.0) {
                (&[dim, rank], &[other_rank, other_dim]) if (dim, rank) == (other_dim, other_rank) && rank > 0 => {
                    Ok(Self::new(down.1.to_vec(), up.1.to_vec(), rank))
                }
                (down, up) => Err(format!("its tensors are {down:?} and {up:?}, expected [dim, rank] and [rank, dim]")),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(vector: &[f32]) -> Query {
        Query { text: "q".into(), terms: vec![("q".into(), 1.0)], vector: vector.to_vec() }
    }

    #[test]
    fn a_vector_is_moved_and_has_length_one_again() {
        // Doubles the first number and adds it to the third.
        let adapter = QueryAdapter::new(vec![1.0, 0.0, 0.0], vec![1.0, 0.0, 1.0], 1);
        assert_eq!(adapter.dim(), 3);
        let given = query(&[0.5, 0.25, -0.5]);
        let moved = adapter.apply(&given);
        let length = (1.0_f32 + 0.0625).sqrt();
        assert_eq!(moved.vector, [1.0 / length, 0.25 / length, 0.0]);
        assert_eq!((moved.text.as_str(), moved.terms.len()), ("q", 1));
        // Nothing is left; another width.
        let gone = QueryAdapter::new(vec![1.0], vec![-1.0], 1);
        assert_eq!(gone.apply(&query(&[0.7])).vector, [0.0]);
        let narrow = query(&[1.0, 0.0]);
        assert!(matches!(adapter.apply(&narrow), Cow::Borrowed(_)));
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_another_one_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("adapter.safetensors");
        let adapter = QueryAdapter::new(vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6], vec![6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 2);
        adapter.write(&path).unwrap();
        assert_eq!(QueryAdapter::read(&path).unwrap(), Ok(adapter));
        let wrong = [(DOWN.to_owned(), TensorData::new(vec![0.0_f32; 4], [2, 2]))];
        let missing = serialize(&wrong, &path).unwrap();
        std::fs::write(&path, &missing).unwrap();
        assert!(QueryAdapter::read(&path).unwrap().unwrap_err().contains("up"));
        std::fs::write(&path, b"no").unwrap();
        assert!(QueryAdapter::read(&path).unwrap().is_err());
    }
}
