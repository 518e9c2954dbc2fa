//! Questions of a part as batches of the model.

use burn::tensor::{Device, TensorData};
use rayon::prelude::*;
use tabsegnet::Embedded;
use tabsegnet::embedded::TableScores;
use tabsegnet_ranker::batch::BatchError;
use tabsegnet_ranker::{Batch, Example, ModelConfig};

/// Nodes that are scored at once; sets memory, not results.
const NODES_PER_BATCH: usize = 8192;

/// Groups questions in order so that a group's documents have about [`NODES_PER_BATCH`] nodes.
pub fn groups(embedded: &Embedded) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut nodes = usize::MAX;
    for question in 0..embedded.questions.len() {
        let own = embedded.document_of(question).nodes().len();
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

/// Questions by number as a batch of the model.
///
/// # Errors
/// Vectors or features that do not fit the model.
pub fn batch(
    embedded: &Embedded,
    questions: &[usize],
    tables: &TableScores,
    config: &ModelConfig,
    device: &Device,
) -> Result<Batch, BatchError> {
    let features: Vec<Vec<f32>> = match config.features {
        0 => vec![Vec::new(); questions.len()],
        _ => questions.par_iter().map(|&question| embedded.features(question, tables)).collect(),
    };
    let examples: Vec<Example<'_>> = questions
        .iter()
        .zip(&features)
        .map(|(&question, features)| Example {
            features,
            graph: embedded.document_of(question).graph.adjacency(),
            u: embedded.nodes_of(question),
            q: embedded.question(question),
            segments: embedded.query(question),
            gold: &embedded.questions[question].gold,
        })
        .collect();
    Batch::new(&examples, config, embedded.d_enc(), device)
}

/// The values of a tensor that a model computed, which is f32 on every device.
pub fn floats(data: TensorData) -> Vec<f32> {
    data.iter::<f32>().collect()
}
