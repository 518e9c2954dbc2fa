//! Reports for people: Markdown and HTML.

pub(crate) mod html;
pub(crate) mod markdown;
