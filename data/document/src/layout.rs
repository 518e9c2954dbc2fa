//! How a document stood in its source: sentences as paragraphs, and where each thing is in the file.

use std::ops::Range;

use crate::locations::Locations;

/// What the document model, which holds sentences and grids, does not say. Passages that no
/// paragraph names, as those of a native document, stand alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Paragraphs in reading order; no two share a passage. Each is the numbers `n` of the node ids `p{n}`.
    pub paragraphs: Vec<Range<usize>>,
    /// Where its nodes stand in the file.
    pub locations: Locations,
}
