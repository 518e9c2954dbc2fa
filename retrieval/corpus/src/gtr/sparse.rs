//! Sparse vectors, one a row, and TF-IDF of texts.

use std::collections::HashMap;

use tabsegnet_lexical::tokenize;

/// Sparse vectors; a row's columns rise.
#[derive(Debug, Clone, Default)]
pub(super) struct SparseRows {
    /// Columns that a row may have.
    pub(super) width: usize,
    /// Where each row starts, and where the last ends.
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl SparseRows {
    pub(super) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// (column, value) of a row.
    #[inline]
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let range = self.offsets[row]..self.offsets[row + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    pub(super) fn dot(&self, a: usize, b: usize) -> f32 {
        let (mut left, mut right) = (self.row(a).peekable(), self.row(b).peekable());
        let mut sum = 0.0;
        while let (Some(&(a, x)), Some(&(b, y))) = (left.peek(), right.peek()) {
            if a == b {
                sum += x * y;
            }
            if a <= b {
                left.next();
            }
            if b <= a {
                right.next();
            }
        }
        sum
    }
}

/// Weights of terms: term counts times idf = ln((1 + N) / (1 + n)) + 1, brought to length 1, as scikit-learn's default.
/// The columns are all terms of the texts, in order of first appearance: nothing is hashed together.
#[derive(Debug, Clone)]
pub(super) struct TfIdf {
    terms: HashMap<String, u32>,
    idf: Vec<f64>,
}

impl TfIdf {
    /// Weights for texts, and the vectors of them.
    pub(super) fn of<T: AsRef<str>>(texts: &[T]) -> (Self, SparseRows) {
        let mut terms: HashMap<String, u32> = HashMap::new();
        let mut holding: Vec<u32> = Vec::new();
        let counted: Vec<Vec<(u32, u32)>> = texts
            .iter()
            .map(|text| {
                let numbers = tokenize(text.as_ref()).into_iter().map(|token| {
                    let next = terms.len() as u32;
                    *terms.entry(token).or_insert(next)
                });
                let counts = counted(numbers.collect());
                holding.resize(terms.len(), 0);
                counts.iter().for_each(|&(term, _)| holding[term as usize] += 1);
                counts
            })
            .collect();
        let count = texts.len() as f64;
        let idf = holding.iter().map(|&holding| ((1.0 + count) / (1.0 + f64::from(holding))).ln() + 1.0).collect();
        let weights = Self { terms, idf };
        // A text without words has a row of its own too: k-means wants a width of 1 at least.
        let mut rows = SparseRows { width: weights.idf.len().max(1), offsets: vec![0], ..SparseRows::default() };
        for counts in &counted {
            for (term, weight) in weights.weighted(counts) {
                rows.columns.push(term);
                rows.values.push(weight);
            }
            rows.offsets.push(rows.columns.len());
        }
        (weights, rows)
    }

    /// (term, weight) of a text, by rising term; terms that no text of the corpus holds are left out.
    pub(super) fn vector(&self, text: &str) -> Vec<(u32, f32)> {
        let known = tokenize(text).iter().filter_map(|token| self.terms.get(token).copied()).collect();
        self.weighted(&counted(known))
    }

    fn weighted(&self, counts: &[(u32, u32)]) -> Vec<(u32, f32)> {
        let weights: Vec<f64> =
            counts.iter().map(|&(term, count)| f64::from(count) * self.idf[term as usize]).collect();
        let length = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        counts.iter().zip(weights).map(|(&(term, _), weight)| (term, (weight / length) as f32)).collect()
    }
}

/// Each number with how often it stands there, rising.
fn counted(mut numbers: Vec<u32>) -> Vec<(u32, u32)> {
    numbers.sort_unstable();
    numbers.chunk_by(|a, b| a == b).filter_map(|same| Some((*same.first()?, same.len() as u32))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tf_idf_as_scikit_learn() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/reference/gtr.json")).unwrap();
        let case = &reference["tf_idf"];
        let strings =
            |key: &str| -> Vec<&str> { case[key].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect() };
        let texts = strings("texts");
        let (weights, rows) = TfIdf::of(&texts);
        let mut expected = case["cosines"].as_array().unwrap().iter();
        for query in strings("queries") {
            let query = weights.vector(query);
            for text in 0..rows.len() {
                let cosine: f32 = rows
                    .row(text)
                    .map(|(term, x)| x * query.iter().find(|(other, _)| *other == term).map_or(0.0, |(_, y)| *y))
                    .sum();
                let expected = expected.next().unwrap().as_f64().unwrap();
                assert!((f64::from(cosine) - expected).abs() < 1e-6, "{cosine}, expected {expected}");
            }
        }
        assert!((rows.dot(0, 0) - 1.0).abs() < 1e-6);
    }
}
