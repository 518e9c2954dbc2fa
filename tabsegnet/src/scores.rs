//! One score a node: what a checkpoint makes of a question, alone or among those of a data set.

use rayon::prelude::*;
use tabsegnet_datasets::prepared::PreparedQuestion;
use tabsegnet_graph::Node;
use tabsegnet_ranker::reranker::{QueryContext, Reranker};
use tabsegnet_ranker::{Inference, ModelInput, OpenGraph};

use crate::encoded::check_finite;
use crate::{Embedded, RankingError};

/// A model laid out for ranking and, where there is one, its reranker.
#[derive(Clone, Copy)]
pub struct Scorer<'a> {
    /// The model.
    pub inference: &'a Inference,
    /// What orders the first nodes anew.
    pub reranker: Option<&'a Reranker>,
}

impl Scorer<'_> {
    /// The scores `[nodes]` of an open document for one question. `first` sees those before the reranker.
    ///
    /// # Errors
    /// Vectors that do not fit the model; a score that is not finite.
    pub(crate) fn score(
        &self,
        question_id: &str,
        graph: &OpenGraph,
        input: &ModelInput<'_>,
        context: &QueryContext<'_>,
        first: impl FnOnce(&[f32]),
    ) -> Result<Vec<f32>, RankingError> {
        let mut scores = self.inference.scores(graph, input)?;
        check(question_id, context.nodes, &scores)?;
        first(&scores);
        if let Some(reranker) = self.reranker {
            reranker.rescore(context, &mut scores);
            check(question_id, context.nodes, &scores)?;
        }
        Ok(scores)
    }

    /// For each question one score a node of its document. Each document is opened once for all of its questions.
    ///
    /// # Errors
    /// Vectors that do not fit the model or are not finite; a score that is not finite.
    pub fn scores(&self, embedded: &Embedded) -> Result<Vec<Vec<f32>>, RankingError> {
        let mut of_document = embedded.questions_of_documents();
        of_document.retain(|questions| !questions.is_empty());
        let tables = embedded.table_scores(self.inference.model().table_scorer().as_ref());
        let scored = of_document.par_iter().map(|questions| {
            let first = questions[0];
            let (document, d_enc) = (embedded.document_of(first), embedded.d_enc());
            let u = embedded.nodes_of(first);
            check_finite(u, d_enc, |node| format!("node {} of document {}", document.nodes()[node].id, document.id))?;
            let open = self.inference.open(document.graph.adjacency(), u)?;
            let score = |&question: &usize| {
                let PreparedQuestion { id, .. } = &embedded.questions[question];
                let q = embedded.question(question);
                check_finite(q, d_enc, |_| format!("question {id}"))?;
                // A model without features sees none, and its reranker neither.
                let features = match self.inference.config().features {
                    0 => Vec::new(),
                    _ => embedded.features(question, &tables),
                };
                let segments = embedded.query(question);
                let input = ModelInput { u, q, segments, features: &features, products: &[] };
                let context = embedded.query_context(question, &features);
                Ok((question, self.score(id, &open, &input, &context, |_| {})?))
            };
            questions.iter().map(score).collect::<Result<Vec<_>, RankingError>>()
        });
        let mut scored: Vec<(usize, Vec<f32>)> = scored.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        scored.sort_unstable_by_key(|(question, _)| *question);
        Ok(scored.into_iter().map(|(_, scores)| scores).collect())
    }
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
