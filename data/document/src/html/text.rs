//! Texts of a page: blanks as browsers show them, and what was tagged or bold in them.

use super::dom::{Data, Dom, Id, Step};
use super::ixbrl;
use super::style::{Declared, hides};
use crate::facts::Fact;

/// A text that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub text: String,
    /// Where in the text each tagged number begins.
    pub facts: Vec<(usize, usize)>,
    /// The indent where the text begins, in points.
    pub indent: f32,
    /// How many characters that are no blanks there are; how many of them bold, raised, in links
    /// within the page.
    pub solid: usize,
    pub bold: usize,
    pub italic: usize,
    pub underlined: usize,
    pub raised: usize,
    pub linked: usize,
    /// Letters that are capitals, and all letters.
    capitals: usize,
    letters: usize,
    /// The size of the first letter, in points.
    size: f32,
    /// The node of the page that its first letter is of.
    pub first: Option<Id>,
    blank: bool,
    /// No-break spaces before the text.
    leading: usize,
}

impl Run {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// A break: a blank if there is text before and after it.
    pub fn gap(&mut self) {
        self.blank = true;
    }

    /// How the whole text is set off, if it is, where letters of `large` points are larger than those of running text: what
    /// headings of one level have in common.
    pub fn emphasis(&self, large: f32) -> Option<Emphasis> {
        self.set_off(large, |count| count > 0 && count == self.solid)
    }

    /// How most of the text is set off, if it is.
    pub fn most_emphasis(&self, large: f32) -> Option<Emphasis> {
        self.set_off(large, |count| 2 * count > self.solid)
    }

    /// Whether all of it is bold.
    pub fn is_bold(&self) -> bool {
        self.bold > 0 && self.bold == self.solid
    }

    fn set_off(&self, large: f32, is: impl Fn(usize) -> bool) -> Option<Emphasis> {
        let (bold, italic, underlined) = (is(self.bold), is(self.italic), is(self.underlined));
        (bold || italic || underlined || self.size >= large).then(|| Emphasis {
            bold,
            italic,
            underlined,
            capitals: self.letters > 3 && self.capitals == self.letters,
            half_points: (2.0 * self.size).round() as u16,
        })
    }

    /// Puts another run behind this one.
    pub fn append(&mut self, other: Run) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = other;
            return;
        }
        self.text.push(' ');
        let offset = self.text.len();
        self.text += &other.text;
        self.facts.extend(other.facts.into_iter().map(|(at, fact)| (at + offset, fact)));
        self.solid += other.solid;
        self.bold += other.bold;
        self.italic += other.italic;
        self.underlined += other.underlined;
        self.capitals += other.capitals;
        self.letters += other.letters;
        self.raised += other.raised;
        self.linked += other.linked;
    }

    /// Puts what is raised behind this text: a footnote mark is left out; the exponent of a power of ten gets its sign.
    fn raise(&mut self, text: &str, look: &Look) {
        let number = self.text.rsplit(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).next();
        let ordinal =
            self.text.ends_with(|c: char| c.is_ascii_digit()) && ["st", "nd", "rd", "th"].contains(&text.trim());
        if !self.blank && number == Some("10") && text.trim().bytes().all(|byte| byte.is_ascii_digit()) {
            self.push("^", look);
        } else if is_mark(text) && self.takes_marks() && !ordinal {
            return;
        }
        self.push(text, look);
    }

    /// Whether a raised number behind this text is a footnote mark and no exponent: `m²` and `R²` have one.
    fn takes_marks(&self) -> bool {
        let unit = self.text.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        !self.is_empty() && unit.chars().count() != 1 && !["km", "cm", "mm", "ft", "in", "mi"].contains(&unit)
    }

    fn push(&mut self, text: &str, look: &Look) {
        for c in text.chars() {
            if c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}' | '\u{ad}') {
                self.leading += usize::from(c == '\u{a0}' && self.text.is_empty());
                self.blank |= c.is_whitespace();
                continue;
            }
            if self.text.is_empty() {
                self.indent = look.indent + 2.5 * self.leading as f32;
                self.size = look.size;
            } else if self.blank {
                self.text.push(' ');
            }
            self.blank = false;
            self.text.push(c);
            self.solid += 1;
            self.bold += usize::from(look.bold);
            self.italic += usize::from(look.italic);
            self.underlined += usize::from(look.underlined);
            self.letters += usize::from(c.is_alphabetic());
            self.capitals += usize::from(c.is_uppercase());
            self.raised += usize::from(look.raised);
            self.linked += usize::from(look.linked);
        }
    }

    /// Where the next character will stand.
    fn position(&self) -> usize {
        self.text.len() + usize::from(self.blank && !self.text.is_empty())
    }
}

/// How a line that is set off from the text around it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Emphasis {
    pub bold: bool,
    pub italic: bool,
    pub underlined: bool,
    /// All letters are capitals.
    pub capitals: bool,
    /// The size of its letters; 0 where no style says.
    pub half_points: u16,
}

impl Emphasis {
    /// Whether a heading that looks so never stands under one that looks like `other`: its letters are larger, or capitals
    /// of the same size.
    pub fn outranks(&self, other: Self) -> bool {
        let sized = self.half_points > 0 && other.half_points > 0;
        sized && self.half_points > other.half_points
            || self.half_points == other.half_points && self.capitals && !other.capitals && self.bold >= other.bold
    }
}

/// What is inherited from the elements around a text.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    bold: bool,
    italic: bool,
    underlined: bool,
    /// In points; 0 where no style gives it.
    size: f32,
    raised: bool,
    linked: bool,
    indent: f32,
}

/// Reads texts in the course of a walk; keeps what the open elements say.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub run: Run,
    open: Vec<(Id, Look)>,
    /// Tagged numbers that are open, by index.
    tagged: Vec<(Id, usize)>,
}

/// What an element is for the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// It and all in it is not shown.
    Hidden,
    Inline,
    /// It stands on lines of its own.
    Block,
}

impl Reading {
    /// Enters a node: takes its text, or what it says about the texts in it.
    pub fn enter(&mut self, dom: &Dom, id: Id, in_table: bool, facts: &mut Vec<Fact>) -> Flow {
        match &dom.node(id).data {
            Data::Text(text) => {
                let look = self.look();
                for &(_, fact) in &self.tagged {
                    facts[fact].text += text;
                }
                let begins = self.run.is_empty();
                match look.raised {
                    true => self.run.raise(text, &look),
                    false => self.run.push(text, &look),
                }
                if begins && !self.run.is_empty() {
                    self.run.first = Some(id);
                }
                Flow::Inline
            }
            Data::Other => Flow::Inline,
            Data::Element { .. } => {
                let name = dom.name(id);
                if hides(dom, id) || is_hidden(name) {
                    return Flow::Hidden;
                }
                let declared = dom.attribute(id, "style").map(Declared::parse).unwrap_or_default();
                let mut look = self.look();
                look.bold = declared.bold.unwrap_or(look.bold || matches!(name, "b" | "strong" | "th"));
                look.italic = declared.italic.unwrap_or(look.italic || matches!(name, "i" | "em"));
                // An underline of what is around goes through what is inside.
                look.underlined |= declared.underlined.unwrap_or(name == "u");
                look.size = declared.size.unwrap_or(look.size);
                look.raised |= declared.raised || name == "sup";
                look.linked |= name == "a" && dom.attribute(id, "href").is_some_and(|href| href.starts_with('#'));
                look.indent += declared.indent;
                self.open.push((id, look));
                if name == ixbrl::NUMBER {
                    self.tagged.push((id, facts.len()));
                    self.run.facts.push((self.run.position(), facts.len()));
                    facts.push(ixbrl::fact(dom, id, in_table));
                }
                let block = declared.block.unwrap_or(false) || is_block(name);
                if name == "br" {
                    self.run.gap();
                }
                if block { Flow::Block } else { Flow::Inline }
            }
        }
    }

    /// Leaves an element that was entered.
    pub fn leave(&mut self, id: Id, facts: &mut [Fact]) {
        if self.open.last().is_some_and(|(open, _)| *open == id) {
            self.open.pop();
        }
        if let Some(&(open, fact)) = self.tagged.last()
            && open == id
        {
            self.tagged.pop();
            facts[fact].text = facts[fact].text.trim().to_owned();
        }
    }

    fn look(&self) -> Look {
        self.open.last().map(|(_, look)| *look).unwrap_or_default()
    }
}

/// All text of a subtree as one run, blocks parted by blanks; nested tables are left out.
pub(super) fn read_all(dom: &Dom, root: Id, facts: &mut Vec<Fact>) -> Run {
    let mut reading = Reading::default();
    let mut walk = dom.walk(root);
    while let Some(step) = walk.next() {
        match step {
            Step::Enter(id) if id != root && dom.name(id) == "table" => {
                reading.run.gap();
                walk.pass_over(id);
            }
            Step::Enter(id) => match reading.enter(dom, id, true, facts) {
                Flow::Hidden => walk.pass_over(id),
                Flow::Block => reading.run.gap(),
                Flow::Inline => {}
            },
            Step::Leave(id) => {
                reading.leave(id, facts);
                if is_block(dom.name(id)) {
                    reading.run.gap();
                }
            }
        }
    }
    reading.run
}

/// `(1)`, `a`, `*`, `1,2`: a footnote mark once it is raised.
pub(super) fn is_mark(text: &str) -> bool {
    let text = text.trim();
    text.len() <= 12
        && text.split([',', ' ', '(', ')', '[', ']']).all(|part| {
            part.len() <= 2 && part.chars().all(|c| c.is_ascii_alphanumeric())
                || part.chars().all(|c| matches!(c, '*' | '†' | '‡' | '§' | '#'))
        })
}

/// Elements whose text is not shown.
#[rustfmt::skip]
fn is_hidden(name: &str) -> bool {
    matches!(
        name,
        "script" | "style" | "head" | "title" | "template" | "noscript" | "ix:header" | "iframe" | "object"
        | "select" | "textarea" | "svg" | "math" | "audio" | "video" | "nav"
    )
}

/// Elements that end a line of text.
#[rustfmt::skip]
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "html" | "body" | "div" | "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "li" | "dl"
        | "dt" | "dd" | "blockquote" | "pre" | "hr" | "section" | "article" | "header" | "footer" | "main"
        | "aside" | "address" | "figure" | "figcaption" | "form" | "fieldset" | "table" | "caption" | "thead"
        | "tbody" | "tfoot" | "tr" | "td" | "th" | "center" | "details" | "summary"
    )
}
