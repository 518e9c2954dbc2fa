//! What can go wrong with a report.

use tabsegnet_store::FileError;

use crate::significance::SignificanceError;

/// A report could not be built, written or read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// Nothing to report on.
    #[error("a report needs at least one {0}")]
    Empty(&'static str),
    /// Two methods or questions with one name.
    #[error("two {what}s are called {name:?}: give each a name of its own")]
    NotUnique {
        /// "method" or "question".
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The rankings are not one a question.
    #[error("method {method:?} has {found} rankings for {expected} questions: one a question, in their order")]
    Rankings {
        /// Name of the method.
        method: String,
        /// Number of rankings.
        found: usize,
        /// Number of questions.
        expected: usize,
    },
    /// A ranking cannot be one of its question.
    #[error(
        "method {method:?}, question {question:?}: the ranking has {found}, the question {expected}: \
         are the rankings in the order of the questions?"
    )]
    Mismatch {
        /// Name of the method.
        method: String,
        /// Id of the question.
        question: String,
        /// What the ranking says.
        found: String,
        /// What the question says.
        expected: String,
    },
    /// A time that is none.
    #[error("method {method:?}: {seconds} seconds per question is no time, expected a finite number >= 0")]
    Seconds {
        /// Name of the method.
        method: String,
        /// What was given.
        seconds: f64,
    },
    /// Intervals and p-values.
    #[error(transparent)]
    Significance(#[from] SignificanceError),
    /// The file itself.
    #[error(transparent)]
    File(#[from] FileError),
    /// No report, or one of another version.
    #[error("{path}: {reason}")]
    Json {
        /// The file.
        path: String,
        /// What is wrong where, and what was expected.
        reason: String,
    },
}
