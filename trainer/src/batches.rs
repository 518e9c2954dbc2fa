//! Questions of a part as batches of the model.

use std::borrow::Cow;

use burn::tensor::{Device, TensorData};
use rayon::prelude::*;
use tabsegnet::Embedded;
use tabsegnet::embedded::TableScores;
use tabsegnet_graph::Adjacency;
use tabsegnet_ranker::batch::BatchError;
use tabsegnet_ranker::{Batch, Example, ModelConfig};

use crate::sampling::Sampling;

/// Nodes that are scored at once; sets memory, not results.
const NODES_PER_BATCH: usize = 8192;

/// Groups questions in order so that a group's documents have about [`NODES_PER_BATCH`] nodes.
pub fn groups(embedded: &Embedded, questions: impl IntoIterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut nodes = usize::MAX;
    for question in questions {
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

/// What a batch has of a question's document: all of it, or some nodes.
struct Part<'a> {
    graph: Cow<'a, Adjacency>,
    u: Cow<'a, [f32]>,
    features: Vec<f32>,
    gold: Cow<'a, [u32]>,
}

impl<'a> Part<'a> {
    fn new(
        embedded: &'a Embedded,
        question: usize,
        nodes: Option<&[u32]>,
        tables: &TableScores,
        config: &ModelConfig,
    ) -> Self {
        let features = match config.features {
            0 => Vec::new(),
            _ => embedded.features_of(question, tables, nodes),
        };
        let (graph, u, gold) = (
            embedded.document_of(question).graph.adjacency(),
            embedded.nodes_of(question),
            &embedded.questions[question].gold,
        );
        match nodes {
            None => Self { graph: Cow::Borrowed(graph), u: u.into(), features, gold: gold.into() },
            Some(nodes) => {
                let d_enc = embedded.d_enc();
                let vector = |&node: &u32| &u[node as usize * d_enc..(node as usize + 1) * d_enc];
                let place = |node: &u32| nodes.binary_search(node).ok().map(|place| place as u32);
                Self {
                    graph: Cow::Owned(graph.among(nodes)),
                    u: nodes.iter().flat_map(vector).copied().collect(),
                    features,
                    gold: gold.iter().filter_map(place).collect(),
                }
            }
        }
    }
}

/// Questions by number as a batch of the model; of large documents the nodes that a sampling takes in an epoch, where
/// one is given.
///
/// # Errors
/// Vectors or features that do not fit the model.
pub fn batch(
    embedded: &Embedded,
    questions: &[usize],
    sampled: Option<(&Sampling, usize)>,
    tables: &TableScores,
    config: &ModelConfig,
    device: &Device,
) -> Result<Batch, BatchError> {
    let part = |&question: &usize| {
        let nodes = sampled.and_then(|(sampling, epoch)| sampling.nodes(embedded, question, epoch));
        Part::new(embedded, question, nodes.as_deref(), tables, config)
    };
    let parts: Vec<Part<'_>> = questions.par_iter().map(part).collect();
    let examples: Vec<Example<'_>> = questions
        .iter()
        .zip(&parts)
        .map(|(&question, Part { graph, u, features, gold })| Example {
            features,
            graph,
            u,
            q: embedded.question(question),
            segments: embedded.query(question),
            gold,
        })
        .collect();
    Batch::new(&examples, config, embedded.d_enc(), device)
}

/// The values of a tensor that a model computed, which is f32 on every device.
pub fn floats(data: TensorData) -> Vec<f32> {
    data.iter::<f32>().collect()
}
