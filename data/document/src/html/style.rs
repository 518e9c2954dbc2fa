//! What inline styles say about a text: the few properties that tell headers, marks and layout.

use super::dom::{Dom, Id};

/// Whether a browser shows nothing of an element, by its attributes.
pub(super) fn hides(dom: &Dom, id: Id) -> bool {
    dom.attribute(id, "hidden").is_some()
        || dom.attribute(id, "style").is_some_and(|style| style.contains("none") && Declared::parse(style).hidden)
}

/// Whether a style ends a page, `before` or `after` the element that has it.
pub(super) fn breaks_page(style: &str, side: &str) -> bool {
    style.contains("break")
        && style.split(';').filter_map(|declaration| declaration.split_once(':')).any(|(property, value)| {
            let property = property.trim();
            let property = property.strip_prefix("page-").unwrap_or(property);
            property.strip_prefix("break-") == Some(side)
                && matches!(value.trim(), "always" | "page" | "left" | "right")
        })
}

/// The properties of one `style` attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Declared {
    pub bold: Option<bool>,
    pub italic: Option<bool>,
    pub underlined: Option<bool>,
    /// The size of the letters in points, where it is given in units of its own.
    pub size: Option<f32>,
    /// `display: none`.
    pub hidden: bool,
    /// Raised above the line, as footnote marks are.
    pub raised: bool,
    /// Space at the left, in points.
    pub indent: f32,
    /// `display: block` or `table-…` on an element that is inline by itself, or the reverse.
    pub block: Option<bool>,
}

impl Declared {
    pub fn parse(style: &str) -> Self {
        let mut declared = Self::default();
        let (mut lifted, mut relative) = (false, false);
        for declaration in style.split(';') {
            let Some((property, value)) = declaration.split_once(':') else { continue };
            let (property, value) = (property.trim(), value.trim());
            match property {
                "font-weight" => {
                    declared.bold = Some(
                        value == "bold" || value == "bolder" || value.parse().is_ok_and(|weight: u32| weight >= 600),
                    )
                }
                "font-style" => declared.italic = Some(value == "italic" || value == "oblique"),
                "text-decoration" | "text-decoration-line" => declared.underlined = Some(value.contains("underline")),
                "font-size" if ["pt", "px"].iter().any(|unit| value.ends_with(unit)) => {
                    declared.size = Some(points(value)).filter(|size| *size > 0.0);
                }
                "display" => {
                    declared.hidden = value == "none";
                    declared.block = match value {
                        "block" | "flex" | "grid" | "list-item" => Some(true),
                        "inline" => Some(false),
                        _ => None,
                    };
                }
                "vertical-align" => declared.raised |= value == "super" || value == "text-top",
                "position" => relative = value == "relative",
                "top" => lifted = value.starts_with('-'),
                "padding-left" | "margin-left" | "text-indent" => declared.indent += points(value),
                "padding" => declared.indent += left_of_four(value),
                _ => {}
            }
        }
        declared.raised |= relative && lifted;
        declared
    }
}

/// The left one of `top right bottom left` in its short forms.
fn left_of_four(value: &str) -> f32 {
    let parts: Vec<&str> = value.split_whitespace().collect();
    match parts[..] {
        [all] => points(all),
        [_, sides] | [_, sides, _] => points(sides),
        [_, _, _, left] => points(left),
        _ => 0.0,
    }
}

/// A length in points; 0 where it is none.
fn points(value: &str) -> f32 {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let Ok(number) = number.trim().parse::<f32>() else { return 0.0 };
    let scale = match &value[number_len(value)..] {
        "px" => 0.75,
        "em" | "rem" => 10.0,
        "in" => 72.0,
        "cm" => 28.35,
        "%" => 3.0,
        _ => 1.0,
    };
    if number.is_finite() { number * scale } else { 0.0 }
}

fn number_len(value: &str) -> usize {
    value.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%').len()
}

#[cfg(test)]
mod tests {
    use super::Declared;

    #[test]
    fn styles() {
        let declared = Declared::parse("padding:2px 1pt 2px 7.75pt;font-weight:700;text-indent:-4.5pt");
        assert_eq!((declared.bold, declared.indent, declared.raised), (Some(true), 3.25, false));
        assert!(Declared::parse("position:relative; top:-3.5pt").raised);
        assert!(Declared::parse("display: none").hidden);
        assert_eq!(Declared::parse("padding-left:1e99em;nonsense;:;font-weight:x").bold, Some(false));
    }
}
