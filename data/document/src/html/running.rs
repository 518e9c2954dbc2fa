//! Running heads and feet: what stands again at the head or foot of page after page of a printed report.
//!
//! `ADOBE INC. / NOTES TO CONSOLIDATED FINANCIAL STATEMENTS (Continued)` above the middle of a note would end the note, and
//! `65. Table of Contents Alphabet Inc.` below it would part a sentence that goes on overleaf.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use super::dom::{Data, Dom, Id, ROOT, Step};
use super::style::breaks_page;
use super::text::is_block;
use crate::headers::is_unit_line;

/// Pages that a line has to begin or end.
const PAGES: usize = 5;

/// Lines of a page that may be its head: a way back to the contents, the company, the part of the report. As many may be
/// its foot.
const LINES: usize = 3;

/// Lines that pages begin and end with, counted as the page is read.
#[derive(Debug, Default)]
pub(super) struct Running {
    heads: HashSet<String>,
    /// The first text of each line that is a running foot.
    feet: HashSet<Id>,
    /// What the feet say that amounts are counted in.
    pub unit: Option<String>,
    /// Those that were there, with whether one of them was set off.
    seen: HashMap<String, bool>,
    /// Lines of the page that may still be of its head.
    left: usize,
}

impl Running {
    pub fn of(dom: &Dom) -> Self {
        let (mut heads, mut feet) = (HashMap::<String, usize>::new(), HashMap::<String, Vec<Id>>::new());
        let mut unit = None;
        let (mut left, mut line, mut first) = (0, String::new(), None);
        // The last lines since a table or a page's head.
        let mut last: VecDeque<(Id, String)> = VecDeque::new();
        let mut walk = dom.walk(ROOT);
        while let Some(step) = walk.next() {
            let (Step::Enter(id) | Step::Leave(id)) = step;
            if let Data::Text(text) = &dom.node(id).data {
                if matches!(step, Step::Enter(_)) {
                    first = first.or((!text.trim().is_empty()).then_some(id));
                    line += text;
                }
                continue;
            }
            let table = dom.name(id) == "table";
            if table || is_block(dom.name(id)) {
                let line = std::mem::take(&mut line);
                let key = key(&line);
                if let Some(first) = first.take()
                    && !key.is_empty()
                {
                    // On a page of a few lines the head is no foot.
                    if left > 0 {
                        left -= 1;
                        *heads.entry(key).or_default() += 1;
                    } else {
                        last.push_back((first, line));
                        if last.len() > LINES {
                            last.pop_front();
                        }
                    }
                }
            }
            if table {
                left = 0;
                last.clear();
                if matches!(step, Step::Enter(_)) {
                    walk.pass_over(id);
                }
            } else if breaks(dom, step) {
                left = LINES;
                for (first, line) in last.drain(..) {
                    let times = feet.entry(without_numbers(&line)).or_default();
                    times.push(first);
                    if times.len() == PAGES && is_unit_line(&line) {
                        unit = Some(line.split_whitespace().collect::<Vec<_>>().join(" "));
                    }
                }
            }
        }
        let heads = heads.into_iter().filter(|(_, times)| *times >= PAGES).map(|(line, _)| line).collect();
        let feet = feet.into_values().filter(|times| times.len() >= PAGES).flatten().collect();
        Self { heads, feet, unit, ..Self::default() }
    }

    /// Whether a line that begins with this text is a running foot.
    pub fn is_foot(&self, first: Option<Id>) -> bool {
        first.is_some_and(|first| self.feet.contains(&first))
    }

    /// Takes note of a step of the walk through the page; gives whether a page ends with it.
    pub fn step(&mut self, dom: &Dom, step: Step) -> bool {
        let ends = breaks(dom, step);
        if ends {
            self.left = LINES;
        } else if matches!(step, Step::Enter(id) if dom.name(id) == "table") {
            self.left = 0;
        }
        ends
    }

    /// Whether the next line of the page is a running head that was there before; where it stands first it may be the
    /// heading that the others repeat, and where it is `set_off` for the first time: small heads may say what the heading
    /// below them says.
    pub fn repeats(&mut self, line: &str, set_off: bool) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let key = key(line);
        if !self.heads.contains(&key) {
            return false;
        }
        match self.seen.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(set_off);
                false
            }
            Entry::Occupied(mut before) => {
                let repeats = *before.get() || !set_off;
                *before.get_mut() |= set_off;
                repeats
            }
        }
    }
}

/// Whether a heading says that it goes on with what was headed before: `Note 7. Debt (continued)`.
pub(super) fn is_continued(text: &str) -> bool {
    let text = text.trim_end_matches([')', '.', ' ']).to_lowercase();
    ["continued", "cont'd", "cont’d", "(cont"]
        .iter()
        .any(|end| text.strip_suffix(end).is_some_and(|before| !before.ends_with(char::is_alphanumeric)))
}

/// Whether a page ends between this step and the next.
fn breaks(dom: &Dom, step: Step) -> bool {
    let style = |id: Id| dom.attribute(id, "style").unwrap_or_default();
    match step {
        Step::Enter(id) => breaks_page(style(id), "before"),
        Step::Leave(id) => breaks_page(style(id), "after"),
    }
}

/// What lines are compared by. The number of the page before or behind a name is none of it: `The Acme Company 31`, but
/// `Item 7`.
fn key(line: &str) -> String {
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = match words.as_slice() {
        [name @ .., number] | [number, name @ ..] if name.len() > 1 && is_number(number) => name,
        all => all,
    };
    name.concat().chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What feet are compared by: their page numbers differ.
fn without_numbers(line: &str) -> String {
    let mut digits = false;
    let mut masked = String::new();
    for c in line.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase) {
        let digit = c.is_ascii_digit();
        match (digit, digits) {
            (true, true) => {}
            (true, false) => masked.push('#'),
            (false, _) => masked.push(c),
        }
        digits = digit;
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_headings_go_on() {
        for text in [
            "NOTES (Continued)", "Note 7. Debt - continued", "Note 7 (cont'd)", "Leases (Cont.)", "7. Debt, continued.",
        ] {
            assert!(is_continued(text), "{text}");
        }
        for text in ["Discontinued operations", "Income from discontinued", "Discontinued", "Contents", ""] {
            assert!(!is_continued(text), "{text}");
        }
    }
}
