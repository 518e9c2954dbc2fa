//! A document opened with a ranker: a question costs what depends on it, and no more.

use tabsegnet_model::OpenGraph;

use crate::encoded::{EncodedDocument, check_finite};
use crate::ranker::{Ranker, Ranking, Subject, ranked};
use crate::{RankingError, scores};

/// A document that many questions can be asked of, one after the other or from several threads.
pub struct OpenDocument<'r> {
    ranker: &'r Ranker,
    document: EncodedDocument,
    graph: OpenGraph,
}

impl<'r> OpenDocument<'r> {
    pub(crate) fn new(ranker: &'r Ranker, document: EncodedDocument) -> Result<Self, RankingError> {
        let graph = ranker.inference().open(&document.graph, document.vectors())?;
        Ok(Self { ranker, document, graph })
    }

    /// The document in encoded form.
    pub fn document(&self) -> &EncodedDocument {
        &self.document
    }

    /// The `top_k` best nodes for a question, best first; equal scores in document order.
    ///
    /// # Errors
    /// A blank question; one that cannot be encoded; a score that is not finite.
    pub fn rank(&self, question_id: &str, question: &str, top_k: usize) -> Result<Ranking, RankingError> {
        if question.trim().is_empty() {
            return Err(RankingError::BlankQuestion);
        }
        let segments = self.ranker.segmenter().segments(question)?;
        // Not through the cache: to keep one vector costs a write to the disk, more than to make it.
        let texts: Vec<&str> = std::iter::once(question).chain(segments.iter().map(String::as_str)).collect();
        let vectors = self.ranker.encoder().encode(&texts, &mut |_| {})?;
        let d_enc = self.document.d_enc();
        let name = |row| texts.get(row).map_or_else(String::new, |text| format!("the question {text:?}"));
        check_finite(&vectors, d_enc, name)?;
        let (q, segment_vectors) = vectors.split_at(d_enc.min(vectors.len()));
        // A question without segments is its own segment.
        let asked = if segment_vectors.is_empty() { q } else { segment_vectors };
        let scores = self.ranker.inference().scores(&self.graph, q, asked)?;
        let subject =
            Subject { id: &self.document.id, nodes: &self.document.nodes, vectors: self.document.vectors(), d_enc };
        scores::check(question_id, subject.nodes, &scores)?;
        Ok(ranked(&subject, question_id, question, &segments, segment_vectors, &scores, top_k))
    }
}
