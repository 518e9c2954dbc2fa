//! HTML pages, with the tagged numbers of inline XBRL.

mod blocks;
mod compact;
mod dom;
mod headings;
mod ixbrl;
mod single;
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
    if dom.pages > 1 {
        builder.warn(format!(
            "{} pages stand in the file one after the other and are read as one document; give each a file of its own to \
             ask about one",
            dom.pages
        ));
    }
    builder.pictures += dom.ids().filter(|&id| dom.name(id) == "img").count();
    blocks::read(&dom, limits, builder);
}

/// The first table of the markup, position by position as written, empty where there is none.
/// `None` where it has more cells than a table may have.
pub(crate) fn first_table(text: &str, limits: &Limits) -> Option<crate::grid::Grid> {
    let (grid, cut) = single::first_table(text, limits.max_depth, limits.max_cells_per_table).unwrap_or_default();
    (!cut).then_some(grid)
}

#[cfg(test)]
mod tests;
