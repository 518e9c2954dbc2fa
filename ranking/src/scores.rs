//! One score a node: by a model, or by a baseline.

use burn::tensor::Device;
use tabsegnet_model::{ModelConfig, TabSegNet};

use crate::{Embedded, RankingError};

/// Nodes that are scored at once; sets memory, not results.
const NODES_PER_BATCH: usize = 8192;

/// Groups questions in order so that a group's documents have about [`NODES_PER_BATCH`] nodes.
pub fn groups(embedded: &Embedded) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut nodes = usize::MAX;
    for question in 0..embedded.questions.len() {
        let own = embedded.document_of(question).nodes.len();
        nodes = nodes.saturating_add(own);
        match groups.last_mut() {
            Some(group) if nodes <= NODES_PER_BATCH => group.push(question),
            _ => {
                groups.push(vec![question]);
                nodes = own;
            }
        }
    }
    groups
}

/// The model's scores: for each question one a node of its document.
///
/// # Errors
/// Vectors that do not fit the model; a score that is not finite.
pub fn model(
    model: &TabSegNet,
    config: &ModelConfig,
    embedded: &Embedded,
    device: &Device,
) -> Result<Vec<Vec<f32>>, RankingError> {
    let mut all = Vec::with_capacity(embedded.questions.len());
    for group in groups(embedded) {
        let batch = embedded.batch(&group, config, device)?;
        let scores = floats(model.forward(&batch).into_data());
        for (&question, scores) in group.iter().zip(batch.split(&scores)) {
            check(embedded, question, scores)?;
            all.push(scores.to_vec());
        }
    }
    Ok(all)
}

/// The values of a tensor that the model computed, which is f32 on every device.
pub fn floats(data: burn::tensor::TensorData) -> Vec<f32> {
    data.iter::<f32>().collect()
}

fn check(embedded: &Embedded, question: usize, scores: &[f32]) -> Result<(), RankingError> {
    match scores.iter().position(|score| !score.is_finite()) {
        None => Ok(()),
        Some(node) => Err(RankingError::NotFinite {
            question: embedded.questions[question].id.clone(),
            node: embedded.document_of(question).nodes[node].id.clone(),
            score: scores[node],
        }),
    }
}
