//! Which lines of a page are headings, and of which level.
//!
//! `h1` to `h6` say so themselves. Filings have none: there a line is one that is bold, italic, underlined or large as a whole.
//! Parts, items, notes and statements of a report have the outer levels by their words. Other lines stand under them by their looks,
//! since headings of one level look alike: one that looks like a heading that it would stand under is its neighbour, and
//! one that looks like none of them stands under the last.

use std::collections::HashMap;

use super::dom::{Data, Dom, ROOT, Step};
use super::style::Declared;
use super::text::{Emphasis, Run};

/// The longest line that is a heading by its looks.
const LONGEST: usize = 160;
/// The longest of those that are not bold, which may well be sentences.
const LONGEST_LIGHT: usize = 100;
/// Levels by looks under one that is marked or known by its words.
const MOST_LOOKS: usize = 6;

/// The level of an item of a report; its parts stand above.
const ITEM: u8 = 2;

/// Points from which letters are large, whatever those of running text are.
const LARGE: f32 = 14.0;
/// How much larger than those of running text.
const LARGER: f32 = 1.25;
/// Characters from which on a text is running text.
const RUNNING: usize = 80;

/// The levels of headings, found one after the other.
#[derive(Debug)]
pub(super) struct Levels {
    /// Points from which letters are larger than those of running text.
    large: f32,
    /// The last level that was marked or known by its words; 0 before the first.
    outer: u8,
    /// The looks of the statement's title that it was, if it was one: what looks the same stands beside it.
    title: Option<Emphasis>,
    /// The looks of the headings under it that the next one may stand under, outermost first.
    looks: Vec<Emphasis>,
}

impl Levels {
    /// Of a page, before its first heading.
    pub fn of_page(dom: &Dom) -> Self {
        let large = size_of_text(dom).map_or(LARGE, |size| LARGE.min(LARGER * size));
        Self { large, outer: 0, title: None, looks: Vec::new() }
    }

    /// How a whole line is set off, if it is.
    pub fn emphasis(&self, line: &Run) -> Option<Emphasis> {
        line.emphasis(self.large)
    }

    /// The level of a line that is a heading, be it `marked` or by its looks.
    pub fn of(&mut self, line: &Run, marked: Option<u8>) -> Option<u8> {
        // An entry of a list of contents: its name leads to a page.
        if marked.is_none() && line.linked > 0 && line.text.ends_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let words = by_words(&line.text);
        let set_off = |emphasis: Option<Emphasis>| emphasis.filter(|emphasis| is_heading(&line.text, *emphasis, words));
        let level = match (marked, words) {
            (Some(level), _) => level,
            // `Item 7.` may stand before an underlined name.
            (None, Some(level)) if set_off(self.emphasis(line)).is_some() || self.is_item(level, line) => level,
            (None, Some(_)) => return None,
            (None, None) => return set_off(self.emphasis(line)).map(|emphasis| self.by_looks(emphasis)),
        };
        self.title = self.emphasis(line).filter(|_| marked.is_none() && is_title(&line.text));
        self.outer = level;
        self.looks.clear();
        Some(level)
    }

    /// The level of a statement's title, wherever it stands.
    pub fn of_title(&mut self, text: &str) -> Option<u8> {
        let level = by_words(text).filter(|_| is_title(text) && text.len() <= LONGEST_LIGHT)?;
        (self.outer, self.title) = (level, None);
        self.looks.clear();
        Some(level)
    }

    /// Whether a line that begins as a part or an item of a report is set off for the most part. Its full stop is no
    /// sentence's.
    fn is_item(&self, level: u8, line: &Run) -> bool {
        let text = line.text.trim_end_matches('.');
        level <= ITEM && line.most_emphasis(self.large).is_some_and(|emphasis| is_heading(text, emphasis, Some(level)))
    }

    fn by_looks(&mut self, emphasis: Emphasis) -> u8 {
        if self.title == Some(emphasis) {
            self.looks.clear();
            return self.outer;
        }
        let place = self.looks.iter().position(|known| *known == emphasis || emphasis.outranks(*known));
        let place = place.unwrap_or(self.looks.len());
        let place = place.min(MOST_LOOKS - 1);
        self.looks.truncate(place);
        self.looks.push(emphasis);
        // At most MOST_LOOKS below a level of six.
        self.outer + 1 + place as u8
    }
}

/// Whether a line that is set off, and has a level by its words, is a heading and no unit, note or sentence.
fn is_heading(text: &str, emphasis: Emphasis, level: Option<u8>) -> bool {
    // The names of some items are long: `Item 5. Market for Registrant's Common Equity, Related Stockholder Matters and …`
    let longest = if emphasis.bold || level.is_some_and(|level| level <= ITEM) { LONGEST } else { LONGEST_LIGHT };
    let begins = text.chars().find(|c| c.is_alphanumeric());
    let words = text.chars().filter(|c| c.is_alphabetic()).count() >= 2;
    let sentence = text.ends_with(['.', ':', ';', ',', '!', '?']);
    // Over the numbers of a list of contents.
    let page = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("page")) && text.len() <= 8;
    words
        && !page
        && text.len() <= longest
        && !text.starts_with(['(', '*', '•'])
        && (emphasis.bold || (!sentence && begins.is_some_and(|c| c.is_uppercase() || c.is_numeric())))
}

/// The size of the letters of running text, in points: the one that most of it has, of equals the smaller.
fn size_of_text(dom: &Dom) -> Option<f32> {
    let (mut sizes, mut letters) = (Vec::new(), HashMap::<u32, usize>::new());
    for step in dom.walk(ROOT) {
        match step {
            Step::Enter(id) => match &dom.node(id).data {
                Data::Text(text) if text.len() >= RUNNING => {
                    let size: f32 = sizes.last().copied().unwrap_or(0.0);
                    *letters.entry(size.to_bits()).or_default() += text.len();
                }
                Data::Text(_) | Data::Other => {}
                Data::Element { .. } => {
                    let style = dom.attribute(id, "style").filter(|style| style.contains("font-size"));
                    let own = style.and_then(|style| Declared::parse(style).size);
                    sizes.push(own.or(sizes.last().copied()).unwrap_or(0.0));
                }
            },
            Step::Leave(id) => {
                if matches!(dom.node(id).data, Data::Element { .. }) {
                    sizes.pop();
                }
            }
        }
    }
    // The bits of numbers that are not negative are in their order.
    let most = letters.into_iter().max_by_key(|&(size, letters)| (letters, std::cmp::Reverse(size)));
    most.map(|(size, _)| f32::from_bits(size)).filter(|size| *size > 0.0)
}

/// What the statements of a report and what stands around them are called.
const TITLES: [&str; 13] = [
    "statement of income", "statement of operations", "statement of earnings", "statement of comprehensive",
    "statement of cash flows", "statement of financial position", "statement of financial condition",
    "statement of changes in", "statement of shareholders", "statement of stockholders",
    "notes to financial statement", "report of independent", "exhibit index",
];

/// Whether a text begins as the title of a statement: `CONSOLIDATED BALANCE SHEETS`, `Notes to the Consolidated Financial
/// Statements`.
fn is_title(text: &str) -> bool {
    let words = text.split_whitespace().take(8).map(|word| match word.to_lowercase().as_str() {
        "statements" => "statement".to_owned(),
        other => other.to_owned(),
    });
    let more = ["consolidated", "condensed", "unaudited", "the", "supplemental"];
    let words: Vec<String> = words.filter(|word| !more.contains(&word.as_str())).collect();
    let title = words.join(" ");
    // `Balance sheet hedges` is none.
    title == "balance sheet" || title == "balance sheets" || TITLES.iter().any(|of| title.starts_with(of))
}

/// The level of a part, an item, a note or a statement of a report.
fn by_words(text: &str) -> Option<u8> {
    let mut words = text.split(|c: char| c.is_whitespace() || ".:,–—-".contains(c)).filter(|word| !word.is_empty());
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    let numbered = second.starts_with(|c: char| c.is_ascii_digit()) && second.len() <= 3;
    let roman = !second.is_empty() && second.bytes().all(|b| matches!(b, b'I' | b'V' | b'X'));
    match first.to_lowercase().as_str() {
        "part" if roman => Some(1),
        "item" if numbered => Some(ITEM),
        "note" if numbered => Some(3),
        _ if is_title(text) => Some(3),
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
            "CONSOLIDATED BALANCE SHEETS",
            "Notes to the Consolidated Financial Statements",
            "Condensed Statements of Cash Flows",
            "Statements that look ahead",
            "Balance Sheet Hedges",
        ];
        let levels = [Some(1), Some(2), Some(3), Some(3), None, None, None, Some(3), Some(3), Some(3), None, None];
        assert_eq!(lines.map(by_words), levels);
    }

    #[test]
    fn looks_tell_what_stands_under_what() {
        let mut levels = Levels { large: LARGE, outer: 0, title: None, looks: Vec::new() };
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
        assert_eq!(level("COSTS", bold), Some(3));
        assert_eq!(level("By region", italic), Some(4));
        assert_eq!(level("Costs", "font-weight:700;font-size:12pt"), Some(5));
        assert_eq!(level("Sales", "font-weight:700;font-size:14pt"), Some(5));
        assert_eq!(level("See the notes to these statements.", italic), None);
        assert_eq!(level("(in millions)", bold), None);
        assert_eq!(level("Plain", ""), None);
        assert_eq!(level("Note 3 Leases", bold), Some(3));
        assert_eq!(level("Terms", italic), Some(4));
        let underlined = "<span style=\"text-decoration:underline\">";
        assert_eq!(level(&format!("Item 7. {underlined}Discussion and Analysis.</span>"), ""), Some(2));
        assert_eq!(level(&format!("Item 7. {underlined}See</span> there for more of it"), ""), None);
        assert_eq!(level(&format!("Lease {underlined}obligations of others.</span>"), ""), None);
    }
    #[test]
    fn what_is_large_depends_on_the_running_text() {
        let level = |sizes: [u8; 2], text: &str| {
            let running = format!("<p style=\"font-size:{}pt\">{}</p>", sizes[0], "We sold more. ".repeat(20));
            let page = format!("{running}<p style=\"font-size:{}pt\">{text}</p>", sizes[1]);
            let dom = Dom::parse(&page, 64);
            let line = dom.ids().filter(|&id| dom.name(id) == "p").last().unwrap();
            let run = crate::html::text::read_all(&dom, line, &mut Vec::new());
            Levels::of_page(&dom).of(&run, None)
        };
        assert_eq!(level([9, 12], "Consolidated Statement of Operations"), Some(3));
        assert_eq!(level([9, 10], "Consolidated Statement of Operations"), None);
        assert_eq!(level([12, 14], "Overview"), Some(1));
        assert_eq!(level([12, 13], "Overview"), None);
        assert_eq!(level([9, 14], "Page"), None);
    }
}
