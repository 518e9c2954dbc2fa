//! The blocks of a page in reading order.

use super::dom::{Dom, Id, ROOT, Step};
use super::headings::Levels;
use super::ixbrl::references;
use super::running::{Running, is_continued};
use super::table::{self, Read, is_bullet};
use super::text::{Flow, Reading, Run, is_block};
use crate::builder::Builder;
use crate::facts::FactPlace;
use crate::facts::Facts;
use crate::locations::{Location, TableLocation};
use crate::options::Limits;

/// Walks the page and puts what it finds into a document.
pub(super) fn read(dom: &Dom, limits: &Limits, builder: &mut Builder) {
    let mut page = Page {
        dom,
        limits,
        builder,
        facts: references(dom),
        reading: Reading::default(),
        bullet: Run::default(),
        frames: 0,
        tables: 0,
        levels: Levels::of_page(dom),
        running: Running::of(dom),
        held: None,
        page: 0,
    };
    page.builder.unit = page.running.unit.take();
    page.walk();
    let Page { facts, builder, .. } = page;
    builder.facts = facts;
}

struct Page<'a, 'o> {
    dom: &'a Dom,
    limits: &'a Limits,
    builder: &'a mut Builder<'o>,
    facts: Facts,
    reading: Reading,
    /// A bullet waiting for its paragraph.
    bullet: Run,
    /// How many frames of tables the walk is in.
    frames: usize,
    /// Tables of the page so far, whatever they were read as.
    tables: usize,
    levels: Levels,
    running: Running,
    /// The last paragraph, where it breaks off without the end of a sentence, and the page that it stands on: it may go on
    /// overleaf.
    held: Option<(Run, usize)>,
    /// Pages that have ended.
    page: usize,
}

impl Page<'_, '_> {
    fn walk(&mut self) {
        let dom = self.dom;
        let mut walk = dom.walk(ROOT);
        while let Some(step) = walk.next() {
            match step {
                Step::Enter(id) if dom.name(id) == "table" => {
                    self.flush(None);
                    if self.reading.enter(dom, id, true, &mut self.facts.numbers) == Flow::Hidden {
                        walk.pass_over(id);
                    } else if self.table(id) {
                        self.reading.leave(id, &mut self.facts.numbers);
                        walk.pass_over(id);
                    } else {
                        // What stands in its cells is read block by block.
                        self.frames += 1;
                    }
                }
                Step::Enter(id) => match self.reading.enter(dom, id, self.frames > 0, &mut self.facts.numbers) {
                    Flow::Hidden => walk.pass_over(id),
                    Flow::Block => self.flush(None),
                    Flow::Inline => {}
                },
                Step::Leave(id) => {
                    let name = dom.name(id);
                    if is_block(name) || dom.attribute(id, "style").is_some_and(|style| style.contains("display:block"))
                    {
                        self.flush(heading_level(name));
                    }
                    if name == "table" {
                        self.frames -= 1;
                    }
                    self.reading.leave(id, &mut self.facts.numbers);
                }
            }
            if self.running.step(dom, step) {
                self.page += 1;
            }
        }
        self.flush(None);
        let bullet = std::mem::take(&mut self.bullet);
        self.passage(bullet, None);
        self.release();
    }

    /// Ends the paragraph that was being read, or the heading of a marked level.
    fn flush(&mut self, heading: Option<u8>) {
        let run = std::mem::take(&mut self.reading.run);
        self.paragraph(run, heading);
    }

    fn paragraph(&mut self, run: Run, heading: Option<u8>) {
        if run.is_empty() {
            return;
        }
        if is_bullet(&run.text) && run.facts.is_empty() {
            self.bullet = run;
            return;
        }
        let mut line = std::mem::take(&mut self.bullet);
        line.append(run);
        self.passage(line, heading);
    }

    fn passage(&mut self, run: Run, heading: Option<u8>) {
        // Page numbers, and ways back to the contents.
        let furniture = heading.is_none() && run.text.len() <= 4 && run.text.bytes().all(|b| b.is_ascii_digit())
            || run.linked > 0 && run.linked == run.solid;
        let furniture = furniture || heading.is_none() && self.running.is_foot(run.first);
        if run.is_empty() || (furniture && run.facts.is_empty()) {
            return;
        }
        let set_off = heading.is_some() || self.levels.emphasis(&run).is_some();
        let repeats = self.running.repeats(&run.text, set_off) || (set_off && is_continued(&run.text));
        if repeats && run.facts.is_empty() {
            return;
        }
        // A tagged number is of a passage.
        let level = if run.facts.is_empty() { self.levels.of(&run, heading) } else { None };
        if let Some(level) = level {
            self.release();
            self.builder.heading(&run.text, level);
            return;
        }
        let goes_on = run.text.starts_with(char::is_lowercase);
        let run = match self.held.take() {
            Some((mut before, page)) if page < self.page && goes_on => {
                before.append(run);
                before
            }
            before => {
                self.held = before;
                self.release();
                run
            }
        };
        match run.text.ends_with(['.', '!', '?', ':', ';']) {
            true => self.put(&run),
            false => self.held = Some((run, self.page)),
        }
    }

    /// Lets a paragraph that was held end where it broke off.
    fn release(&mut self) {
        if let Some((run, _)) = self.held.take() {
            self.put(&run);
        }
    }

    fn put(&mut self, run: &Run) {
        for (fact, passage) in self.builder.paragraph(&run.text, &run.facts) {
            self.facts.numbers[fact].place = FactPlace::Passage(passage);
        }
    }

    /// Reads a table; false where it is a frame around others.
    fn table(&mut self, id: Id) -> bool {
        self.tables += 1;
        match table::read(self.dom, id, self.limits.max_cells_per_table, &mut self.facts.numbers) {
            Read::Frame => return false,
            Read::Empty => {}
            Read::Layout(rows) => rows.into_iter().for_each(|row| self.paragraph(row, None)),
            Read::Table { grid, caption, cut } => {
                self.release();
                // Within Markdown the page is a block of it.
                let above = if let Some(Location::Line(line)) = self.builder.at { line - 1 } else { 0 };
                let place = format!("table {} of the page, line {}", self.tables, above + self.dom.node(id).line);
                let location = self.builder.at.clone().map(TableLocation::at);
                if let Some((rows, of)) = cut {
                    let most = self.limits.max_cells_per_table;
                    self.builder.cut(rows, Some(of), format!("{place}: the table is cut off after {most} cells"));
                }
                // A statement that has its title in its first cell stands under it all the same.
                if let Some(title) = grid.filled(0).next()
                    && let Some(level) = self.levels.of_title(&title.text)
                {
                    self.builder.heading(&title.text, level);
                }
                let number = self.builder.table_number();
                for &(_, fact) in &caption.facts {
                    self.facts.numbers[fact].place = FactPlace::Caption(number);
                }
                for (fact, found) in self.builder.table(grid, &caption.text, place, location) {
                    self.facts.numbers[fact].place = found;
                }
            }
        }
        self.nested(id);
        true
    }

    /// Tables in the cells of a table come after it.
    fn nested(&mut self, outer: Id) {
        let inner: Vec<Id> =
            self.dom.subtree(outer).filter(|&id| id != outer && self.dom.name(id) == "table").collect();
        for id in inner {
            // Only those right inside: theirs follow with them.
            let mut above = self.dom.parent(id);
            while let Some(node) = above.filter(|&node| self.dom.name(node) != "table") {
                above = self.dom.parent(node);
            }
            if above == Some(outer) && !self.table(id) {
                self.nested(id);
            }
        }
    }
}

/// 1 for `h1` to 6 for `h6`.
fn heading_level(name: &str) -> Option<u8> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}
