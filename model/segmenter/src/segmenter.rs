//! What a segmenter is, the one that finds nothing, and the one that takes segments from the data.

use crate::SegmenterError;

/// Splits a question into segments.
///
/// What always holds: no segment is empty or holds a line break, and the same question gives the same
/// segments. No segments is a valid answer.
pub trait Segmenter: Send + Sync {
    /// Names everything that the segments depend on.
    fn identity(&self) -> &str;

    /// Whether a look into a cache on the disk takes less time than to find the segments.
    fn is_costly(&self) -> bool {
        false
    }

    /// Whether the segments are those that the data set gives with a question: they are taken from there, and
    /// [`Segmenter::segments`] always fails.
    fn is_given(&self) -> bool {
        false
    }

    /// The segments of `question`, in the order in which the segmenter gives them.
    ///
    /// # Errors
    /// A model that fails on the question.
    fn segments(&self, question: &str) -> Result<Vec<String>, SegmenterError>;

    /// [`Segmenter::segments`] of several questions, in their order; `progress` is called with the
    /// number of questions that are done.
    ///
    /// # Errors
    /// As [`Segmenter::segments`].
    fn segments_of_all(
        &self,
        questions: &[&str],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<String>>, SegmenterError> {
        let mut all = Vec::with_capacity(questions.len());
        for question in questions {
            all.push(self.segments(question)?);
            progress(all.len());
        }
        Ok(all)
    }
}

/// The segmenter that finds no segments.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSegments;

impl Segmenter for NoSegments {
    fn identity(&self) -> &str {
        "none"
    }

    fn segments(&self, _question: &str) -> Result<Vec<String>, SegmenterError> {
        Ok(Vec::new())
    }
}

/// Stands for the segments that a data set gives with its questions (silver or gold). They are derived from
/// the answer's nodes, so that what is measured with them is an upper bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct GivenSegments;

impl Segmenter for GivenSegments {
    fn identity(&self) -> &str {
        "given"
    }

    fn is_given(&self) -> bool {
        true
    }

    fn segments(&self, _question: &str) -> Result<Vec<String>, SegmenterError> {
        Err(SegmenterError::Given)
    }
}
