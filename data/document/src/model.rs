//! The document model: headings, passages (sentences) and tables in reading order.

mod table;

pub use table::{
    Cell, CellRole, CellSource, MAX_GRID_POSITIONS, MAX_ROW_LEVELS, Table, TableError, TableSource, join_non_empty,
};

/// A document: headings, passages and tables in reading order.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The document's own name, such as `SPGI/2018/page_74.pdf`.
    pub id: String,
    /// Headings, passages and tables in reading order.
    pub blocks: Vec<Block>,
}

/// One heading, passage or table.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// One heading. The `n`-th of the document (from 0) has the node id `s{n}`.
    Heading(Heading),
    /// One sentence. The `n`-th passage of the document (from 0) has the node id `p{n}`.
    Passage(String),
    /// One table.
    Table(Table),
}

/// A heading. What follows stands under it, up to the next one of its level or of one further out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 for the outermost; those further in have greater levels, with gaps or without.
    pub level: u8,
    /// Its text.
    pub text: String,
}

/// Characters that an outer heading has in a line that names all of them.
const OUTER: usize = 32;

/// The headings that something stands under, outermost first, in one line: all but the innermost are cut short.
pub fn path_in_short<'t>(headings: impl IntoIterator<Item = &'t str>) -> String {
    let mut headings: Vec<&str> = headings.into_iter().collect();
    let innermost = headings.pop().unwrap_or_default();
    let short = |heading: &str| match heading.char_indices().nth(OUTER) {
        Some((at, _)) => format!("{}…", heading[..at].trim_end()),
        None => heading.to_owned(),
    };
    headings.into_iter().map(short).chain([innermost.to_owned()]).collect::<Vec<_>>().join(" > ")
}

/// The headings that a place of a document stands under, while its blocks are walked in order. `T` is whatever names
/// a heading.
#[derive(Debug, Clone)]
pub struct Outline<T> {
    /// Outermost first, of rising levels.
    open: Vec<(u8, T)>,
}

impl<T> Default for Outline<T> {
    /// Under no heading.
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<T: Copy> Outline<T> {
    /// Goes on to what stands under a heading; gives the one that it stands under itself.
    pub fn enter(&mut self, level: u8, heading: T) -> Option<T> {
        self.open.retain(|(outer, _)| *outer < level);
        let outer = self.innermost();
        self.open.push((level, heading));
        outer
    }

    /// All of them, outermost first.
    pub fn path(&self) -> impl Iterator<Item = T> {
        self.open.iter().map(|(_, heading)| *heading)
    }

    /// The nearest heading.
    pub fn innermost(&self) -> Option<T> {
        self.open.last().map(|(_, heading)| *heading)
    }
}

impl Document {
    /// The headings in reading order.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Heading(heading) => Some(heading),
            Block::Passage(_) | Block::Table(_) => None,
        })
    }

    /// The passages in reading order.
    pub fn passages(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Passage(text) => Some(text.as_str()),
            Block::Heading(_) | Block::Table(_) => None,
        })
    }

    /// The tables in reading order (not in the order of their numbers).
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Heading(_) | Block::Passage(_) => None,
        })
    }
}
