//! A document as a language model reads it whole: line by line, every node with its id, in windows that fit a prompt.

use std::collections::BTreeSet;

use tabsegnet::NodeKind;
use tabsegnet_llm::estimated_tokens;

use crate::walk::cells::CellGraph;

/// Of a window, the part that repeated caption and headers of a table may take.
const REPEATED: u64 = 4;

/// The document in windows of at most about `room` tokens each: headings, sentences and tables in their order, a table row by
/// row. Where a table goes on in the next window, its caption and header rows are repeated there, as far as a quarter of the
/// room goes.
///
/// What always holds: every node stands in at least one window; a window has one line at least, which alone may be longer
/// than the room.
pub(crate) fn windows(cells: &CellGraph<'_>, room: u64) -> Vec<String> {
    let mut windows = Windows { room: room.max(1), done: Vec::new(), text: String::new(), used: 0 };
    let mut seen = BTreeSet::new();
    let mut number = 0;
    while let Some(node) = cells.node(number) {
        match &node.place {
            None => windows.add(&cells.shown(number), ""),
            Some(place) if seen.insert(place.table) => windows.table(cells, place.table),
            Some(_) => {}
        }
        number += 1;
    }
    windows.close();
    windows.done
}

struct Windows {
    room: u64,
    done: Vec<String>,
    text: String,
    used: u64,
}

impl Windows {
    fn close(&mut self) {
        if !self.text.is_empty() {
            self.done.push(std::mem::take(&mut self.text));
            self.used = 0;
        }
    }

    /// Adds a line; where it begins another window, `head` stands there first.
    fn add(&mut self, line: &str, head: &str) {
        // With the line's end.
        let tokens = estimated_tokens(line) + 1;
        if self.used + tokens > self.room && self.used > 0 {
            self.close();
            self.text.push_str(head);
            self.used = estimated_tokens(head);
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.used += tokens;
    }

    fn table(&mut self, cells: &CellGraph<'_>, table: usize) {
        let caption = cells.caption(table).map_or_else(|| format!("t{table}"), |caption| cells.shown(caption));
        let caption = format!("Table {caption}");
        self.add(&caption, "");
        let mut head = format!("{caption}, continued\n");
        let mut is_head = true;
        for row in cells.rows(table) {
            let all = |kind| row.iter().all(|&cell| cells.node(cell).is_some_and(|node| node.kind == kind));
            is_head = is_head && all(NodeKind::ColumnHeader);
            for line in self.parts(row.iter().map(|&cell| cells.shown(cell))) {
                self.add(&line, &head);
                if is_head && estimated_tokens(&head) + estimated_tokens(&line) < self.room / REPEATED {
                    head.push_str(&line);
                    head.push('\n');
                }
            }
        }
    }

    /// A row in lines that fit half a window each, as far as single cells do.
    fn parts(&self, cells: impl Iterator<Item = String>) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for cell in cells {
            match lines.last_mut() {
                Some(line) if estimated_tokens(line) + estimated_tokens(&cell) < self.room / 2 => {
                    line.push_str(" | ");
                    line.push_str(&cell);
                }
                _ => lines.push(cell),
            }
        }
        lines
    }
}
