//! Inline XBRL: tags around numbers, and the hidden header that explains their references.

use std::collections::BTreeMap;

use super::dom::{Dom, Id};
use crate::facts::{About, Context, Dimension, Fact, FactPlace, Facts, Period, Unit};

/// The element that tags a number.
pub(super) const NUMBER: &str = "ix:nonfraction";

/// The element that tags a text.
const TEXT: &str = "ix:nonnumeric";

/// A tagged number whose text is still to be read.
pub(super) fn fact(dom: &Dom, id: Id, in_table: bool) -> Fact {
    let attribute = |name: &str| dom.attribute(id, name).map(str::to_owned);
    Fact {
        name: attribute("name").unwrap_or_default(),
        context: attribute("contextref").unwrap_or_default(),
        unit: attribute("unitref"),
        // A scale beyond any number's range is a typing error and must not make infinities.
        scale: attribute("scale")
            .and_then(|scale| scale.trim().parse().ok())
            .filter(|scale: &i32| scale.abs() <= 30)
            .unwrap_or(0),
        negative: attribute("sign").is_some_and(|sign| sign.trim() == "-"),
        decimals: attribute("decimals"),
        format: attribute("format"),
        nil: attribute("xsi:nil").is_some_and(|nil| nil == "true" || nil == "1"),
        text: String::new(),
        place: FactPlace::Hidden,
        in_table,
    }
}

/// Contexts, units and what the page says of itself; its numbers are still to be read.
pub(super) fn references(dom: &Dom) -> Facts {
    let (mut contexts, mut units, mut about) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for id in dom.ids() {
        if dom.name(id) == TEXT {
            about.extend(about_document(dom, id));
            continue;
        }
        let Some(name) = local(dom, id) else { continue };
        let key = || dom.attribute(id, "id").map(str::to_owned);
        match name {
            "context" => {
                if let Some(key) = key() {
                    contexts.insert(key, context(dom, id));
                }
            }
            "unit" => {
                if let Some(key) = key() {
                    units.insert(key, unit(dom, id));
                }
            }
            _ => {}
        }
    }
    Facts { numbers: Vec::new(), contexts, units, about }
}

fn about_document(dom: &Dom, id: Id) -> Option<About> {
    let name = dom.attribute(id, "name").filter(|name| name.starts_with("dei:"))?;
    let context = dom.attribute(id, "contextref").unwrap_or_default();
    Some(About { name: name.to_owned(), context: context.to_owned(), text: dom.text(id).trim().to_owned() })
}

/// The name of an XBRL element without its prefix.
fn local(dom: &Dom, id: Id) -> Option<&str> {
    dom.name(id).split_once(':').map(|(_, local)| local)
}

fn context(dom: &Dom, root: Id) -> Context {
    let (mut instant, mut start, mut end, mut dimensions) = (None, None, None, Vec::new());
    let mut entity = String::new();
    for id in dom.subtree(root) {
        let text = || dom.text(id).trim().to_owned();
        match local(dom, id) {
            Some("identifier") => entity = text(),
            Some("instant") => instant = Some(text()),
            Some("startdate") => start = Some(text()),
            Some("enddate") => end = Some(text()),
            Some("explicitmember" | "typedmember") => {
                let axis = dom.attribute(id, "dimension").unwrap_or_default().to_owned();
                dimensions.push(Dimension { axis, member: text() });
            }
            _ => {}
        }
    }
    let period = match (instant, start, end) {
        (Some(day), _, _) => Period::Instant(day),
        (None, Some(start), Some(end)) => Period::Duration { start, end },
        _ => Period::Forever,
    };
    Context { entity, period, dimensions }
}

fn unit(dom: &Dom, root: Id) -> Unit {
    let mut unit = Unit::default();
    let mut below = false;
    for id in dom.subtree(root) {
        match local(dom, id) {
            Some("unitdenominator") => below = true,
            Some("unitnumerator") => below = false,
            Some("measure") => {
                let measure = dom.text(id).trim().to_owned();
                if below { unit.per.push(measure) } else { unit.measures.push(measure) }
            }
            _ => {}
        }
    }
    unit
}
