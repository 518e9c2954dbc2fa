//! Running heads: what stands again at the head of page after page of a printed report, and heads nothing.
//!
//! `ADOBE INC. / NOTES TO CONSOLIDATED FINANCIAL STATEMENTS (Continued)` above the middle of a note would end the note.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use super::dom::{Data, Dom, Id, ROOT, Step};
use super::style::breaks_page;
use super::text::is_block;

/// Pages that a line has to begin.
const PAGES: usize = 5;

/// Lines of a page that may be its head: a way back to the contents, the company, the part of the report.
const LINES: usize = 3;

/// Lines that a page begins with, counted as the page is read.
#[derive(Debug, Default)]
pub(super) struct RunningHeads {
    running: HashSet<String>,
    /// Those that were there, with whether one of them was set off.
    seen: HashMap<String, bool>,
    /// Lines of the page that may still be of its head.
    left: usize,
}

impl RunningHeads {
    pub fn of(dom: &Dom) -> Self {
        let mut times: HashMap<String, usize> = HashMap::new();
        let (mut left, mut line) = (0, String::new());
        let mut walk = dom.walk(ROOT);
        while let Some(step) = walk.next() {
            let (Step::Enter(id) | Step::Leave(id)) = step;
            if let Data::Text(text) = &dom.node(id).data {
                if left > 0 && matches!(step, Step::Enter(_)) {
                    line += text;
                }
                continue;
            }
            let table = dom.name(id) == "table";
            if left > 0 && (table || is_block(dom.name(id))) {
                let line = key(&std::mem::take(&mut line));
                if !line.is_empty() {
                    left -= 1;
                    *times.entry(line).or_default() += 1;
                }
            }
            if table {
                left = 0;
                if matches!(step, Step::Enter(_)) {
                    walk.pass_over(id);
                }
            } else if breaks(dom, step) {
                left = LINES;
            }
        }
        let running = times.into_iter().filter(|(_, times)| *times >= PAGES).map(|(line, _)| line).collect();
        Self { running, seen: HashMap::new(), left: 0 }
    }

    /// Takes note of a step of the walk through the page.
    pub fn step(&mut self, dom: &Dom, step: Step) {
        if breaks(dom, step) {
            self.left = LINES;
        } else if matches!(step, Step::Enter(id) if dom.name(id) == "table") {
            self.left = 0;
        }
    }

    /// Whether the next line of the page is a running head that was there before; where it stands first it may be the
    /// heading that the others repeat, and where it is `set_off` for the first time: small heads may say what the heading
    /// below them says.
    pub fn repeats(&mut self, line: &str, set_off: bool) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let key = key(line);
        if !self.running.contains(&key) {
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

/// What lines are compared by.
fn key(line: &str) -> String {
    line.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_headings_go_on() {
        for text in [
            "NOTES (Continued)",
            "Note 7. Debt - continued",
            "Note 7 (cont'd)",
            "Leases (Cont.)",
            "7. Debt, continued.",
        ] {
            assert!(is_continued(text), "{text}");
        }
        for text in ["Discontinued operations", "Income from discontinued", "Discontinued", "Contents", ""] {
            assert!(!is_continued(text), "{text}");
        }
    }
}
