//! The numbers among the best nodes of a ranking: what each stands for, and how well that fits a question.

use std::collections::{HashMap, HashSet};

use rust_decimal::Decimal;
use tabsegnet::ranking::Position;
use tabsegnet::{NodeKind, RankedNode, Ranking};
use tabsegnet_document::numbers::with_points;

use crate::program::Argument;
use crate::quantity::{Quantity, Unit, Written, of_cell, of_sentence};
use crate::question::{Inquiry, operations, stems};
use crate::table_units::TableUnits;

/// Best nodes whose numbers are looked at.
const NODES: usize = 40;
/// Best nodes among which a likelihood is shared out.
const SHARED: usize = 20;
/// Best cells whose whole rows are looked at.
const ROWS: usize = 4;
/// Numbers that programs are made of.
const FACTS: usize = 14;
/// Numbers of one sentence that are looked at.
const NUMBERS: usize = 200;
/// Bytes before and behind a number of a sentence that say what it is.
const WINDOW: usize = 70;

/// What a sentence says of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// How much it is; so of all cells.
    Level,
    /// How much it was before: "from 120", "compared with 120".
    Before,
    /// How far it is from another: "by 14", "38 under the budget".
    Difference,
}

impl Said {
    /// Of the number from `start` to `end` of a sentence.
    fn of(text: &str, start: usize, end: usize) -> Self {
        const BEFORE: [&str; 8] = ["from", "compared with", "compared to", "against", "versus", "vs", "vs.", "than"];
        const BEYOND: [&str; 8] = ["under", "below", "above", "over", "less", "more", "lower", "higher"];
        let (before, _, after) = parts(text, start, end);
        let before = before.to_lowercase();
        let before = before.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '.');
        let before =
            ["approximately", "about", "nearly"].iter().find_map(|word| before.strip_suffix(word)).unwrap_or(before);
        let ends = |words: &str| {
            let rest = before.trim_end().strip_suffix(words);
            rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
        };
        let behind = after.to_lowercase();
        let mut behind = behind.split(|c: char| !c.is_alphanumeric() && c != '%').filter(|word| !word.is_empty());
        let scales = ["million", "billion", "thousand", "%", "percent", "points"];
        let next = behind.find(|word| !scales.contains(word)).unwrap_or("");
        if ends("by") || BEYOND.contains(&next) {
            Self::Difference
        } else if BEFORE.iter().any(|words| ends(words)) {
            Self::Before
        } else {
            Self::Level
        }
    }
}

/// A number of the document.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    /// Which node of the ranking, from 0.
    pub node: usize,
    /// Table, row and column of a cell.
    pub place: Option<(usize, usize, usize)>,
    /// 0 where it is no number.
    pub quantity: Quantity,
    /// As it is written: a cell's text, or the digits of a sentence.
    pub text: String,
    /// Whether `%` stands behind the number itself.
    pub percent_sign: bool,
    /// The years that it is of.
    pub years: Vec<u16>,
    /// Row header of a cell, in lower case; what stands around the number of a sentence.
    pub label: String,
    /// Where the question first has a word of the label.
    pub mentioned: Option<usize>,
    /// Position among the numbers of its sentence.
    pub number: usize,
    /// What its sentence says of it.
    pub said: Said,
    /// Score of the best node less that of this one.
    pub gap: f32,
    /// Softmax of the node's score among the best.
    pub likelihood: f32,
    /// Shares of words that the question has: of the innermost and the outer row headers, of the innermost and the outer
    /// column headers.
    pub named: [f32; 4],
    /// Whether no cell of its row, or column, is ranked above it.
    pub best_of_row: bool,
    pub best_of_column: bool,
    pub is_header: bool,
    /// Share of the question's words that the caption or section has.
    pub heading: f32,
    /// Operations that both the question and the headers name, that the headers alone name, that the question alone
    /// names; in thirds.
    pub operations: [f32; 3],
    /// Share of the question's words that the label has.
    pub covers: f32,
    /// Share of the label's words that the question has.
    pub covered: f32,
    /// How promising, before programs are made.
    prior: f32,
}

impl Fact {
    /// As an argument of a program.
    pub fn argument(&self) -> Argument {
        Argument::Number { value: self.quantity.value, percent: self.percent_sign }
    }

    /// Whether it is known to be a percentage.
    pub fn is_percent(&self) -> bool {
        self.quantity.unit == Some(Unit::Percent)
    }

    pub fn table(&self) -> Option<usize> {
        self.place.map(|(table, ..)| table)
    }

    pub fn row(&self) -> Option<(usize, usize)> {
        self.place.map(|(table, row, _)| (table, row))
    }

    pub fn column(&self) -> Option<(usize, usize)> {
        self.place.map(|(table, _, column)| (table, column))
    }

    pub fn has_year(&self, wanted: &[u16]) -> bool {
        self.years.iter().any(|year| wanted.contains(year))
    }

    pub fn latest(&self) -> Option<u16> {
        self.years.iter().max().copied()
    }
}

/// Facts of a ranking, the most promising first, and the tables that they stand in.
#[derive(Debug)]
pub(crate) struct Facts<'r> {
    pub nodes: &'r [RankedNode],
    pub facts: Vec<Fact>,
    units: TableUnits<'r>,
    /// By table and row, and by table and column: column, or row, and node of each of its cells, the best first.
    rows: HashMap<(usize, usize), Vec<(usize, usize)>>,
    columns: HashMap<(usize, usize), Vec<(usize, usize)>>,
    /// Sum of e to the power of scores less that of the best.
    sum: f32,
}

impl<'r> Facts<'r> {
    /// `ranking` with as many nodes as there are: rows are completed from those far down.
    pub fn new(ranking: &'r Ranking, inquiry: &Inquiry) -> Self {
        let nodes = ranking.nodes.as_slice();
        let best = nodes.first().map_or(0.0, |node| node.score);
        let sum = nodes.iter().take(SHARED).map(|node| (node.score - best).exp()).sum::<f32>().max(1.0);
        let tables: HashSet<usize> = nodes.iter().take(NODES).filter_map(table_of).collect();
        let mut found = Self {
            nodes,
            facts: Vec::new(),
            units: TableUnits::new(nodes, &tables),
            rows: HashMap::new(),
            columns: HashMap::new(),
            sum,
        };
        let mut wanted: Vec<usize> = (0..nodes.len().min(NODES)).collect();
        let best_rows: HashSet<(usize, usize)> = nodes
            .iter()
            .filter(|node| node.kind == NodeKind::Cell)
            .filter_map(|node| row_of(&node.position))
            .take(ROWS)
            .collect();
        for (number, node) in nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Cell) {
            if let Position::Cell { table, row, col, .. } = node.position
                && tables.contains(&table)
            {
                found.rows.entry((table, row)).or_default().push((col, number));
                found.columns.entry((table, col)).or_default().push((row, number));
                if number >= NODES && best_rows.contains(&(table, row)) {
                    wanted.push(number);
                }
            }
        }
        let mut facts: Vec<Fact> = wanted.into_iter().flat_map(|number| found.of_node(number, inquiry)).collect();
        // Stable: of equals the better ranked first.
        facts.sort_by(|a, b| b.prior.total_cmp(&a.prior));
        facts.truncate(FACTS);
        found.facts = facts;
        found
    }

    /// What stands over a table and over its header columns.
    pub fn headings(&self, table: usize) -> &[&'r str] {
        self.units.headings(table)
    }

    /// The numbers of one node.
    pub fn of_node(&self, number: usize, inquiry: &Inquiry) -> Vec<Fact> {
        let Some(node) = self.nodes.get(number) else { return Vec::new() };
        match (node.kind, &node.position) {
            (NodeKind::Cell, &Position::Cell { table, row, col, .. }) => {
                let (above, left) = (node.column_headers.as_deref(), node.row_headers.as_deref());
                let section = node.section.last().map(String::as_str);
                let own = self.units.are_percentages(table, col).then_some("%");
                let headings = own.into_iter().chain(left).chain(above);
                let of_cell_alone = headings.clone().count();
                let headings = headings.chain(self.units.headings(table).iter().copied()).chain(section);
                let shown = if self.units.has_commas(table) { &with_points(&node.text) } else { &node.text };
                let silent = self.units.silent(table).filter(|_| !inquiry.counts(left, above));
                let Some(quantity) = of_cell(shown, headings, of_cell_alone, silent) else { return Vec::new() };
                let label = format!("{} {}", left.unwrap_or(""), above.unwrap_or("")).to_lowercase();
                let years = inquiry.years_in(&label);
                let fact = self.fact(number, quantity, node.score, years, &label, inquiry);
                let label = left.or(above).unwrap_or("").to_lowercase();
                let text = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
                let percent_sign = node.text.contains('%');
                vec![Fact { place: Some((table, row, col)), percent_sign, label, text, ..fact }]
            }
            (NodeKind::Passage, _) => self.of_passage(number, node, inquiry),
            _ => Vec::new(),
        }
    }

    /// A node as it stands, whether or not it holds a number.
    pub fn of_words(&self, number: usize, inquiry: &Inquiry) -> Fact {
        let quantity = Quantity { value: Decimal::ZERO, unit: None, scale: None };
        let Some(node) = self.nodes.get(number) else {
            return self.fact(number, quantity, 0.0, Vec::new(), "", inquiry);
        };
        let label = node.headers().collect::<Vec<_>>().join(" ");
        let label = if label.is_empty() { node.text.to_lowercase() } else { label.to_lowercase() };
        let years = inquiry.years_in(&label);
        let place = match node.position {
            Position::Cell { table, row, col, .. } => Some((table, row, col)),
            _ => None,
        };
        let text = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
        Fact { place, text, ..self.fact(number, quantity, node.score, years, &label, inquiry) }
    }

    fn of_passage(&self, number: usize, node: &RankedNode, inquiry: &Inquiry) -> Vec<Fact> {
        let text = node.text.as_str();
        let mut written = of_sentence(text);
        // FinQA writes what it has read behind what stands there: 75% ( 75 % ).
        let twice = |a: &Written, b: &Written| {
            a.quantity.value.abs() == b.quantity.value.abs() && b.start.saturating_sub(a.end) <= 6
        };
        written.dedup_by(|later, earlier| twice(earlier, later));
        written.truncate(NUMBERS);
        let named = inquiry.years_at(text);
        let respectively = text.to_lowercase().contains("respectively") && !named.is_empty();
        let aligned = respectively && written.len().is_multiple_of(named.len());
        let only: HashSet<u16> = named.iter().map(|(year, _)| *year).collect();
        let of_number = |position: usize, start: usize| -> Vec<u16> {
            if aligned {
                return named.get(position % named.len()).map(|(year, _)| *year).into_iter().collect();
            }
            if only.len() == 1 {
                return only.iter().copied().collect();
            }
            let near = named.iter().filter(|(_, at)| at.abs_diff(start) <= WINDOW);
            near.min_by_key(|(_, at)| at.abs_diff(start)).map(|(year, _)| *year).into_iter().collect()
        };
        let facts = written.iter().enumerate().map(|(position, written)| {
            let label = around(text, written.start, written.end).to_lowercase();
            let years = of_number(position, written.start);
            let fact = self.fact(number, written.quantity, node.score, years, &label, inquiry);
            let percent_sign = text.get(written.end..).is_some_and(|after| after.trim_start().starts_with('%'));
            let said = Said::of(text, written.start, written.end);
            let text = text.get(written.start..written.end).unwrap_or("").to_owned();
            Fact { number: position, said, percent_sign, text, ..fact }
        });
        facts.collect()
    }

    fn fact(
        &self,
        number: usize,
        quantity: Quantity,
        score: f32,
        years: Vec<u16>,
        label: &str,
        inquiry: &Inquiry,
    ) -> Fact {
        let of_label: HashSet<String> = stems(label).collect();
        let shared = inquiry.words.intersection(&of_label).count() as f32;
        let share = |of: usize| if of == 0 { 0.0 } else { shared / of as f32 };
        let (covers, covered) = (share(inquiry.words.len()), share(of_label.len()));
        let mentioned = inquiry.places.iter().find(|(word, _)| of_label.contains(word)).map(|(_, at)| *at);
        let best = self.nodes.first().map_or(0.0, |node| node.score);
        let year =
            match (inquiry.years.is_empty() || years.is_empty(), years.iter().any(|year| inquiry.years.contains(year)))
            {
                (false, true) => 1.0,
                (false, false) => -1.0,
                _ => 0.0,
            };
        let node = self.nodes.get(number);
        let share_of = |text: &str| {
            let of: Vec<String> = stems(&text.to_lowercase()).collect();
            let shared = of.iter().filter(|word| inquiry.words.contains(*word)).count();
            if of.is_empty() { 0.0 } else { shared as f32 / of.len() as f32 }
        };
        let levels = |path: Option<&String>| match path.map(|path| path.rsplit_once(" > ").unwrap_or(("", path))) {
            Some((outer, inner)) => [share_of(inner), share_of(outer)],
            None => [0.0, 0.0],
        };
        let [row, row_outer] = levels(node.and_then(|node| node.row_headers.as_ref()));
        let [column, column_outer] = levels(node.and_then(|node| node.column_headers.as_ref()));
        let (best_of_row, best_of_column) = match node.map(|node| &node.position) {
            Some(&Position::Cell { table, row, col, .. }) => {
                let is_best = |line: Option<&Vec<(usize, usize)>>| {
                    line.and_then(|line| line.first()).is_some_and(|(_, best)| *best == number)
                };
                (is_best(self.rows.get(&(table, row))), is_best(self.columns.get(&(table, col))))
            }
            _ => (false, false),
        };
        let outer: HashSet<String> = node
            .and_then(table_of)
            .into_iter()
            .flat_map(|table| self.units.headings(table).iter().copied())
            .chain(node.and_then(|node| node.section.last()).map(String::as_str))
            .flat_map(|text| stems(&text.to_lowercase()))
            .collect();
        let heading = match inquiry.words.len() {
            0 => 0.0,
            count => inquiry.words.intersection(&outer).count() as f32 / count as f32,
        };
        let path = |path: Option<&String>| path.map_or_else(String::new, |path| format!(" {} ", path.to_lowercase()));
        let own = path(node.and_then(|node| node.row_headers.as_ref()))
            + &path(node.and_then(|node| node.column_headers.as_ref()));
        let (of_question, of_own) = (operations(&inquiry.text), operations(&own));
        let count = |which: fn(bool, bool) -> bool| {
            of_question.iter().zip(of_own).filter(|(question, own)| which(**question, *own)).count() as f32 / 3.0
        };
        let operations = [
            count(|question, own| question && own),
            count(|question, own| !question && own),
            count(|question, own| question && !own),
        ];
        let is_header = node.is_some_and(|node| matches!(node.kind, NodeKind::RowHeader | NodeKind::ColumnHeader));
        let prior = -0.8 * ((number + 1) as f32).ln() + 0.8 * year + covers + 0.3 * covered;
        Fact {
            node: number,
            place: None,
            quantity,
            text: String::new(),
            percent_sign: false,
            years,
            label: label.to_owned(),
            mentioned,
            number: 0,
            said: Said::Level,
            gap: (best - score).clamp(0.0, 20.0),
            likelihood: (score - best).exp().min(1.0) / self.sum,
            named: [row, row_outer, column, column_outer],
            best_of_row,
            best_of_column,
            is_header,
            heading,
            operations,
            covers,
            covered,
            prior,
        }
    }

    /// The row that a question for how much tells by two of its cells, words and all: "how many pilots … amendable in 2020" where
    /// the row has `Pilots` and `2020`. None where another is told as well.
    pub fn told_row(&self, inquiry: &Inquiry) -> Option<(usize, usize)> {
        let told = |(row, cells): (&(usize, usize), &Vec<(usize, usize)>)| {
            let nodes = || cells.iter().filter_map(|(_, number)| self.nodes.get(*number));
            let named: HashSet<&str> =
                nodes().map(|node| node.text.as_str()).filter(|text| inquiry.tells(text)).collect();
            let has_words = named.iter().any(|text| stems(&text.to_lowercase()).next().is_some());
            let of_headers = |node: &RankedNode| {
                stems(&node.row_headers.as_deref().unwrap_or("").to_lowercase())
                    .filter(|word| inquiry.words.contains(word))
                    .count()
            };
            (has_words && named.len() > 1).then(|| ((named.len(), nodes().map(of_headers).max()), *row))
        };
        let asks = ["how many ", "how much "].iter().any(|asks| inquiry.has(asks));
        let rows: Vec<_> = self.rows.iter().filter(|_| asks).filter_map(told).collect();
        let most = rows.iter().map(|(how, _)| *how).max()?;
        let mut best = rows.iter().filter(|(how, _)| *how == most);
        let row = best.next()?.1;
        best.next().is_none().then_some(row)
    }

    /// The numbers of a row, left to right; cells that are none are passed over.
    pub fn row(&self, row: (usize, usize), inquiry: &Inquiry) -> Vec<Fact> {
        self.line(self.rows.get(&row), inquiry)
    }

    /// The numbers of a column, top to bottom.
    pub fn column(&self, column: (usize, usize), inquiry: &Inquiry) -> Vec<Fact> {
        self.line(self.columns.get(&column), inquiry)
    }

    fn line(&self, line: Option<&Vec<(usize, usize)>>, inquiry: &Inquiry) -> Vec<Fact> {
        let mut cells = line.cloned().unwrap_or_default();
        cells.sort_unstable();
        cells.into_iter().flat_map(|(_, node)| self.of_node(node, inquiry)).collect()
    }
}

/// At most [`WINDOW`] bytes on each side, cut where characters begin.
fn around(text: &str, start: usize, end: usize) -> &str {
    let (before, _, after) = parts(text, start, end);
    text.get(start - before.len()..end + after.len()).unwrap_or("")
}

/// What stands near a number before it, the number, and what stands near behind it.
fn parts(text: &str, start: usize, end: usize) -> (&str, &str, &str) {
    let from = (start.saturating_sub(WINDOW)..=start).find(|&at| text.is_char_boundary(at)).unwrap_or(start);
    let until = (end..=text.len().min(end + WINDOW)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(end);
    let get = |range: std::ops::Range<usize>| text.get(range).unwrap_or("");
    (get(from..start), get(start..end), get(end..until))
}

fn table_of(node: &RankedNode) -> Option<usize> {
    match node.position {
        Position::Cell { table, .. } | Position::Table { table } => Some(table),
        _ => None,
    }
}

/// Table and row of a cell.
pub(crate) fn row_of(position: &Position) -> Option<(usize, usize)> {
    match *position {
        Position::Cell { table, row, .. } => Some((table, row)),
        _ => None,
    }
}
