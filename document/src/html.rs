//! HTML pages, with the tagged numbers of inline XBRL.

mod blocks;
mod compact;
mod dom;
mod ixbrl;
mod style;
mod table;
mod text;

use crate::builder::Builder;
use crate::options::Limits;

/// Reads a page.
pub(crate) fn read(text: &str, limits: &Limits, builder: &mut Builder) {
    let dom = dom::Dom::parse(text, limits.max_depth);
    if dom.too_deep {
        builder.warn(format!("tags nested deeper than {} are left out, their texts stay", limits.max_depth));
    }
    if dom.too_many {
        builder.warn("misnested tags multiply beyond what a page of this size may hold; the rest is left out".into());
    }
    blocks::read(&dom, limits, builder);
}

#[cfg(test)]
mod tests;
