//! Reports for people: Markdown and HTML.

mod bars;
mod content;
mod curves;
pub(crate) mod html;
pub(crate) mod markdown;
mod numbers;
mod palette;
mod tables;
mod text;
