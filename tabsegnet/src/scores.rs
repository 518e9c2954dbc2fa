//! One score a node: by a model, or by a baseline.

use burn::tensor::Device;
use rayon::prelude::*;
use tabsegnet_datasets::prepared::PreparedQuestion;
use tabsegnet_graph::Node;
use tabsegnet_ranker::reranker::Reranker;
use tabsegnet_ranker::{Inference, ModelConfig, ModelInput, TabSegNet};

use crate::embedded::TableScores;
use crate::encoded::check_finite;
use crate::{Embedded, RankingError};

/// Nodes that are scored at once; sets memory, not results.
const NODES_PER_BATCH: usize = 8192;

/// Groups questions in order so that a group's documents have about `NODES_PER_BATCH` nodes.
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

/// The model's scores, and where there is one its reranker's: for each question one a node of its document.
///
/// # Errors
/// Vectors that do not fit the model; a score that is not finite.
pub fn model(
    model: &TabSegNet,
    reranker: Option<&Reranker>,
    config: &ModelConfig,
    embedded: &Embedded,
    device: &Device,
) -> Result<Vec<Vec<f32>>, RankingError> {
    let mut all = Vec::with_capacity(embedded.questions.len());
    let tables = embedded.table_scores(model.table_scorer().as_ref());
    for group in groups(embedded) {
        let batch = embedded.batch(&group, &tables, config, device)?;
        let scores = floats(model.forward(&batch).into_data());
        for (&question, scores) in group.iter().zip(batch.split(&scores)) {
            let nodes = embedded.document_of(question).nodes();
            check(&embedded.questions[question].id, nodes, scores)?;
            let mut scores = scores.to_vec();
            if let Some(reranker) = reranker {
                let features = looked_at(config, embedded, question, &tables);
                reranker.rescore(&embedded.query_context(question, &features), &mut scores);
                check(&embedded.questions[question].id, nodes, &scores)?;
            }
            all.push(scores);
        }
    }
    Ok(all)
}

/// The values of a tensor that the model computed, which is f32 on every device.
pub fn floats(data: burn::tensor::TensorData) -> Vec<f32> {
    data.iter::<f32>().collect()
}

/// The scores of [`model`], a document at a time: what no question changes is computed once.
///
/// # Errors
/// Vectors that do not fit the model or are not finite; a score that is not finite.
pub(crate) fn inference(
    inference: &Inference,
    reranker: Option<&Reranker>,
    embedded: &Embedded,
) -> Result<Vec<Vec<f32>>, RankingError> {
    let mut of_document: Vec<Vec<usize>> = vec![Vec::new(); embedded.documents.len()];
    for (index, question) in embedded.questions.iter().enumerate() {
        of_document[question.document].push(index);
    }
    of_document.retain(|questions| !questions.is_empty());
    let tables = embedded.table_scores(inference.model().table_scorer().as_ref());
    let scored = of_document.par_iter().map(|questions| {
        let first = questions[0];
        let (document, d_enc) = (embedded.document_of(first), embedded.d_enc());
        let u = embedded.nodes_of(first);
        check_finite(u, d_enc, |node| format!("node {} of document {}", document.nodes()[node].id, document.id))?;
        let open = inference.open(document.graph.adjacency(), u)?;
        let score = |&question: &usize| {
            let PreparedQuestion { id, .. } = &embedded.questions[question];
            let q = embedded.question(question);
            check_finite(q, d_enc, |_| format!("question {id}"))?;
            let features = looked_at(inference.config(), embedded, question, &tables);
            let query = ModelInput { q, segments: embedded.query(question), features: &features, products: &[] };
            let mut scores = inference.scores(&open, &query)?;
            check(id, document.nodes(), &scores)?;
            if let Some(reranker) = reranker {
                reranker.rescore(&embedded.query_context(question, &features), &mut scores);
                check(id, document.nodes(), &scores)?;
            }
            Ok((question, scores))
        };
        questions.iter().map(score).collect::<Result<Vec<_>, RankingError>>()
    });
    let mut scored: Vec<(usize, Vec<f32>)> = scored.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    scored.sort_unstable_by_key(|(question, _)| *question);
    Ok(scored.into_iter().map(|(_, scores)| scores).collect())
}

/// A question's features, of which a model without any sees none, and its reranker neither.
fn looked_at(config: &ModelConfig, embedded: &Embedded, question: usize, tables: &TableScores) -> Vec<f32> {
    if config.features == 0 { Vec::new() } else { embedded.features(question, tables) }
}

/// That all scores `[nodes]` are finite.
///
/// # Errors
/// One that is not.
pub fn check(question: &str, nodes: &[Node], scores: &[f32]) -> Result<(), RankingError> {
    match scores.iter().position(|score| !score.is_finite()) {
        None => Ok(()),
        Some(node) => Err(RankingError::NotFinite {
            question: question.to_owned(),
            node: nodes[node].id.clone(),
            score: scores[node],
        }),
    }
}
