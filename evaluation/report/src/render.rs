//! Reports for people: Markdown and HTML.

mod bars;
mod content;
mod curves;
pub(crate) mod html;
pub(crate) mod markdown;
mod numbers;
mod palette;
pub(crate) mod risk_coverage;
pub(crate) mod table_retrieval;
mod tables;
mod text;
