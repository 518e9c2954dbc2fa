//! A document with the answers to questions marked in it, as one HTML page.
//!
//! The page loads nothing and works from a file: passages as paragraphs and headings, tables as
//! tables, nodes shaded by rank, the top nodes numbered and, with segments, lettered; beside it a
//! panel of ranks with a jump to each, segments, edge strengths, and for a chosen node what its
//! neighbours add to its score. Of a question that was answered it shows the answer, its program and checks, and the way
//! over the nodes, drawn step by step. Without JavaScript it shows the first answer.
//!
//! ```
//! use tabsegnet_document::model::{Block, Document};
//! use tabsegnet_page::{Answer, Page, RankedNode};
//!
//! # fn main() -> Result<(), tabsegnet_page::PageError> {
//! let document = Document { id: "report".into(), blocks: vec![Block::Passage("Revenue rose.".into())] };
//! let top = RankedNode { id: "p0".into(), rank: 1, score: 2.5, segment: None, duplicates: Vec::new(), explanation: None };
//! let answer = Answer { question: "Did revenue rise?".into(), nodes: vec![top], ..Answer::default() };
//! let page = Page { title: "report", about: &[], document: &document, layout: None, answers: &[answer] };
//! assert!(page.html()?.contains("Revenue rose."));
//! # Ok(())
//! # }
//! ```

mod answer;
mod data;
mod html;
pub mod kit;
mod marks;
mod nodes;
mod palette;
mod panel;
mod reading;
mod reply;
mod text;

pub use answer::{Answer, EdgeStrength, Explanation, InEdge, Move, PageError, PathStep, RankedNode, Reply};

use std::collections::BTreeMap;

use tabsegnet_document::Layout;
use tabsegnet_document::model::Document;

/// What a page shows.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// The page's title and first heading.
    pub title: &'a str,
    /// What produced the ranking, such as ("checkpoint", "runs/quickstart/best").
    pub about: &'a [(String, String)],
    /// The document.
    pub document: &'a Document,
    /// Its paragraphs and headings; without it each passage is a paragraph of its own.
    pub layout: Option<&'a Layout>,
    /// One answer a question, in the order in which the page offers them; none is allowed.
    pub answers: &'a [Answer],
}

impl Page<'_> {
    /// The page: UTF-8 text of a whole file, without scripts, styles or images from elsewhere. The
    /// same input gives the same bytes.
    ///
    /// # Errors
    /// An answer names a node that the document does not have or a segment that the question does
    /// not have, or has a number that is not finite.
    pub fn html(&self) -> Result<String, PageError> {
        html::render(self, &BTreeMap::new())
    }

    /// The page of a document whose tables are cut down to some rows: `rows` has by the table's number the row of the whole
    /// table that each of its rows is, so that nodes keep the ids that they have there.
    ///
    /// # Errors
    /// As [`Page::html`].
    pub fn html_of_part(&self, rows: &BTreeMap<usize, Vec<usize>>) -> Result<String, PageError> {
        html::render(self, rows)
    }
}
