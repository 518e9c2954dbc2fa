//! Late interaction: a question's tokens, each with the likest token of a node.

use rayon::prelude::*;
use tabsegnet_encoder::Encoder;

use super::by_document;
use crate::{Embedded, RankingError};

/// For each question one score a node of its document.
pub(super) fn scores(embedded: &Embedded, encoder: &dyn Encoder) -> Result<Vec<Vec<f32>>, RankingError> {
    let query: Vec<&str> = embedded.questions.iter().map(|question| question.text.as_str()).collect();
    let query = encoder.encode_tokens(&query)?;
    let dim = encoder.dim();
    by_document(embedded, |document, questions| {
        let texts: Vec<&str> = embedded.documents[document].ranking_texts.iter().map(String::as_str).collect();
        let nodes = encoder.encode_tokens(&texts)?;
        let scores = |&question: &usize| nodes.par_iter().map(|node| max_sim(&query[question], node, dim)).collect();
        Ok(questions.iter().map(scores).collect())
    })
}

/// `Σ_i max_j q_i · u_j` of `q` `[tokens, dim]` and `u` `[tokens, dim]`; 0 without tokens.
fn max_sim(q: &[f32], u: &[f32], dim: usize) -> f32 {
    let product = |q: &[f32], u: &[f32]| q.iter().zip(u).map(|(q, u)| q * u).sum::<f32>();
    let largest = |q: &[f32]| u.chunks_exact(dim).map(|u| product(q, u)).fold(f32::NEG_INFINITY, f32::max);
    if u.is_empty() { 0.0 } else { q.chunks_exact(dim).map(largest).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_of_the_question_counts_its_likest() {
        let node = [1.0, 0.0, 0.6, 0.8];
        assert!((max_sim(&[1.0, 0.0, 0.0, 1.0], &node, 2) - 1.8).abs() < 1e-6);
        assert!((max_sim(&[-1.0, 0.0], &node, 2) + 0.6).abs() < 1e-6, "the likest may be unlike");
        assert_eq!(max_sim(&[1.0, 0.0], &[], 2), 0.0);
    }
}
