//! Which lines of a page are headings, and of which level.
//!
//! `h1` to `h6` say so themselves. Filings have none: there a line is one that is bold, italic, underlined or large as a whole.
//! Parts, items and notes of a report have the outer levels by their words. Other lines stand under them by their looks,
//! since headings of one level look alike: one that looks like a heading that it would stand under is its neighbour, and
//! one that looks like none of them stands under the last.

use super::text::{Emphasis, Run};

/// The longest line that is a heading by its looks.
const LONGEST: usize = 160;
/// The longest of those that are not bold, which may well be sentences.
const LONGEST_LIGHT: usize = 100;
/// Levels by looks under one that is marked or known by its words.
const MOST_LOOKS: usize = 6;

/// The levels of headings, found one after the other.
#[derive(Debug, Default)]
pub(super) struct Levels {
    /// The last level that was marked or known by its words; 0 before the first.
    outer: u8,
    /// The looks of the headings under it that the next one may stand under, outermost first.
    looks: Vec<Emphasis>,
}

impl Levels {
    /// The level of a line that is a heading, be it `marked` or by its looks.
    pub fn of(&mut self, line: &Run, marked: Option<u8>) -> Option<u8> {
        let level = match (marked, by_words(&line.text), line.emphasis()) {
            (Some(level), ..) => level,
            (None, Some(level), Some(emphasis)) if is_heading(&line.text, emphasis) => level,
            (None, None, Some(emphasis)) if is_heading(&line.text, emphasis) => return Some(self.by_looks(emphasis)),
            _ => return None,
        };
        self.outer = level;
        self.looks.clear();
        Some(level)
    }

    fn by_looks(&mut self, emphasis: Emphasis) -> u8 {
        let place = self.looks.iter().position(|known| *known == emphasis).unwrap_or(self.looks.len());
        let place = place.min(MOST_LOOKS - 1);
        self.looks.truncate(place);
        self.looks.push(emphasis);
        // At most MOST_LOOKS below a level of six.
        self.outer + 1 + place as u8
    }
}

/// Whether a line that is set off is a heading and no unit, note or sentence.
fn is_heading(text: &str, emphasis: Emphasis) -> bool {
    let begins = text.chars().find(|c| c.is_alphanumeric());
    let words = text.chars().filter(|c| c.is_alphabetic()).count() >= 2;
    let sentence = text.ends_with(['.', ':', ';', ',', '!', '?']);
    words
        && text.len() <= if emphasis.bold { LONGEST } else { LONGEST_LIGHT }
        && !text.starts_with(['(', '*', '•'])
        && (emphasis.bold || (!sentence && begins.is_some_and(|c| c.is_uppercase() || c.is_numeric())))
}

/// The level of a part, an item or a note of a report.
fn by_words(text: &str) -> Option<u8> {
    let mut words = text.split(|c: char| c.is_whitespace() || ".:,–—-".contains(c)).filter(|word| !word.is_empty());
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    let numbered = second.starts_with(|c: char| c.is_ascii_digit()) && second.len() <= 3;
    let roman = !second.is_empty() && second.bytes().all(|b| matches!(b, b'I' | b'V' | b'X'));
    match first.to_lowercase().as_str() {
        "part" if roman => Some(1),
        "item" if numbered => Some(2),
        "note" if numbered => Some(3),
        // `7. Income Taxes`
        _ => {
            let (number, rest) = text.split_once(". ")?;
            let is_note = number.len() <= 2 && number.bytes().all(|b| b.is_ascii_digit());
            (is_note && rest.starts_with(char::is_uppercase)).then_some(3)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_parts_items_and_notes() {
        let lines = [
            "PART II",
            "Item 1A. Risk Factors",
            "NOTE 7 — INCOME TAXES",
            "3. Leases",
            "Part of it",
            "Item",
            "1.5 times",
        ];
        assert_eq!(lines.map(by_words), [Some(1), Some(2), Some(3), Some(3), None, None, None]);
    }

    #[test]
    fn looks_tell_what_stands_under_what() {
        let mut levels = Levels::default();
        let mut level = |text: &str, style: &str| {
            let page = format!("<div style=\"{style}\">{text}</div>");
            let dom = crate::html::dom::Dom::parse(&page, 64);
            let run = crate::html::text::read_all(&dom, crate::html::dom::ROOT, &mut Vec::new());
            levels.of(&run, None)
        };
        let (bold, italic) = ("font-weight:700", "font-style:italic");
        assert_eq!(level("Overview", bold), Some(1));
        assert_eq!(level("Item 7. Results", bold), Some(2));
        assert_eq!(level("Revenue", bold), Some(3));
        assert_eq!(level("By segment", italic), Some(4));
        assert_eq!(level("By region", italic), Some(4));
        assert_eq!(level("Costs", bold), Some(3));
        assert_eq!(level("COSTS", bold), Some(4));
        assert_eq!(level("By region", italic), Some(5));
        assert_eq!(level("Costs", "font-weight:700;font-size:12pt"), Some(6));
        assert_eq!(level("See the notes to these statements.", italic), None);
        assert_eq!(level("(in millions)", bold), None);
        assert_eq!(level("Plain", ""), None);
        assert_eq!(level("Note 3 Leases", bold), Some(3));
        assert_eq!(level("Terms", italic), Some(4));
    }
}
