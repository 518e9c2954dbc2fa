//! How passages stood in the source: sentences as paragraphs, headings by level.

use std::ops::Range;

/// The level of a line that is a heading by its looks alone, such as a short bold one: below the
/// levels that markup commonly gives.
pub const BOLD_LINE: u8 = 4;

/// What the document model, which holds sentences, does not say of its passages. Passages that no
/// paragraph names, as those of a native document, stand alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Paragraphs in reading order; no two share a passage.
    pub paragraphs: Vec<Paragraph>,
}

/// Passages that one paragraph of the source was split into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paragraph {
    /// The numbers `n` of the node ids `p{n}`.
    pub passages: Range<usize>,
    /// 1 for the outermost headings to 6; `None` for text.
    pub heading: Option<u8>,
}
