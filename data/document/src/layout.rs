//! How passages stood in the source: sentences as paragraphs.

use std::ops::Range;

/// What the document model, which holds sentences, does not say of its passages. Passages that no
/// paragraph names, as those of a native document, stand alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Paragraphs in reading order; no two share a passage. Each is the numbers `n` of the node ids `p{n}`.
    pub paragraphs: Vec<Range<usize>>,
}
