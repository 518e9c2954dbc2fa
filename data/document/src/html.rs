//! HTML pages, with the tagged numbers of inline XBRL.

mod attributes;
mod blocks;
mod compact;
mod dom;
mod headings;
mod ixbrl;
mod running;
mod single;
mod style;
mod table;
mod text;

use crate::builder::Builder;
use crate::facts::About;
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
    if dom.too_many_attributes {
        builder.warn(format!("attributes of tags beyond the first {} are left out", attributes::MOST));
    }
    if dom.pages > 1 {
        builder.warn(format!(
            "{} pages stand in the file one after the other and are read as one document; give each a file of its own to \
             ask about one",
            dom.pages
        ));
    }
    let unknown = dom.ids().filter(|&id| is_unknown_heading(dom.name(id))).count();
    if unknown > 0 {
        builder.warn(format!(
            "{unknown} headings are marked h7 or deeper, levels that HTML does not have, and are read as text; mark them \
             h1 to h6 to have what follows stand under them"
        ));
    }
    // Of several pages each would have its own.
    if builder.title.is_none() && dom.pages <= 1 {
        builder.title = title(&dom);
    }
    builder.pictures += dom.ids().filter(|&id| dom.name(id) == "img").count();
    blocks::read(&dom, limits, builder);
    if let Some(title) = title_of_filing(&builder.facts.about).filter(|_| dom.pages <= 1) {
        builder.title = Some(title);
    }
}

/// The first table of the markup, position by position as written, empty where there is none.
/// `None` where it has more cells than a table may have.
pub(crate) fn first_table(text: &str, limits: &Limits) -> Option<crate::grid::Grid> {
    let (grid, cut) = single::first_table(text, limits.max_depth, limits.max_cells_per_table).unwrap_or_default();
    cut.is_none().then_some(grid)
}

/// `h7` and deeper.
fn is_unknown_heading(name: &str) -> bool {
    name.strip_prefix('h').and_then(|level| level.parse::<u32>().ok()).is_some_and(|level| level > 6)
}

/// What a page calls itself: the `<title>` of its head, which pictures in it may have as well.
fn title(dom: &dom::Dom) -> Option<String> {
    let in_head = |id: dom::Id| dom.parent(id).is_some_and(|above| dom.name(above) == "head");
    let title = dom.ids().find(|&id| dom.name(id) == "title" && in_head(id))?;
    let text = dom.text(title).split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Whose filing a page is, of which kind and year, as its tags say: its `<title>` is the name of a file (`nvda-20250126`).
fn title_of_filing(about: &[About]) -> Option<String> {
    let tagged = |name: &str| about.iter().find(|about| about.name == name).map(|about| about.text.trim());
    let name = tagged("dei:EntityRegistrantName").filter(|name| !name.is_empty())?;
    let more: Vec<&str> = ["dei:DocumentType", "dei:DocumentFiscalYearFocus"].into_iter().filter_map(tagged).collect();
    let comma = if more.is_empty() { "" } else { ", " };
    Some(format!("{name}{comma}{}", more.join(" ")))
}

#[cfg(test)]
mod tests;
