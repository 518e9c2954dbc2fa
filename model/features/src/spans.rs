//! The span of years that a question is about, and the nodes at its ends: also where the question names no year but how
//! many ("over the five years"), or nothing at all in a table that follows an investment of 100.
//!
//! A node's years are those of its headers, or else the dates in other cells of its row ("issued", "maturity").

use std::collections::HashMap;

use tabsegnet_graph::{Node, NodeKind};

use crate::dates::{self, Day};
use crate::numbers::{Unit, numbers};
use crate::order::View;
use crate::question::Question;
use crate::schema::flag;

crate::features! {
    /// Of a node for a question.
    pub(crate) struct NodeSpan(node: &NodeInSpan<'_>) {
        start: flag(node.starts),
        end: flag(node.ends),
        within: flag(node.is_within),
        outside: flag(node.is_outside()),
        implied: flag(node.span.implied),
        index: flag(node.table.is_some_and(|table| table.index.is_some())),
        index_start: flag(node.time.step == Some(0)),
        index_steps: node.time.step.map_or(0.0, |step| f32::from(step) / 5.0),
        dated: flag(node.time.dated),
        day: flag(node.time.days.iter().any(|day| node.days.contains(day))),
    }
}

/// A node in the span of a question.
pub(crate) struct NodeInSpan<'a> {
    time: &'a InTime,
    table: Option<&'a TableInTime>,
    span: &'a Span,
    /// Days that the question names.
    days: &'a [Day],
    starts: bool,
    ends: bool,
    is_within: bool,
}

impl NodeInSpan<'_> {
    fn is_outside(&self) -> bool {
        let has_time = !self.time.years.is_empty() || self.time.step.is_some();
        self.span.end.is_some() && has_time && !(self.starts || self.ends || self.is_within)
    }
}

/// What an index begins with.
const BASE: f32 = 100.0;
/// More words than a date has.
const WORDS_OF_A_DATE: usize = 5;
/// Columns of dates are headed by words that begin so.
const DATES: [&str; 11] =
    ["date", "year", "matur", "expir", "due", "issu", "acquired", "closed", "commence", "period", "ended"];
/// Years that a question may count without naming them.
const LONGEST: u16 = 20;
const COUNTS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Where the nodes of a document stand in time.
#[derive(Debug, Clone)]
pub(crate) struct Spans {
    nodes: Vec<InTime>,
    tables: Vec<TableInTime>,
}

/// Where a node stands in time.
#[derive(Debug, Clone)]
pub(crate) struct InTime {
    /// Rising.
    years: Vec<u16>,
    days: Vec<Day>,
    /// Its years are those of other cells of its row.
    dated: bool,
    /// Steps from the beginning of the index that its table is.
    step: Option<u16>,
}

/// Where a table stands in time.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableInTime {
    /// Those of its headers, rising.
    years: Vec<u16>,
    index: Option<Index>,
}

/// A table that follows what 100 became.
#[derive(Debug, Clone)]
pub(crate) struct Index {
    /// It goes along the columns, else along the rows.
    of_columns: bool,
    /// By column or row.
    steps: HashMap<usize, u16>,
    last: u16,
    /// Years in the headers and their steps, rising.
    years: Vec<(u16, u16)>,
}

/// An end of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Year(u16),
    Step(u16),
}

impl InTime {
    fn is_at(&self, end: End) -> bool {
        match end {
            End::Year(year) => self.years.contains(&year),
            End::Step(step) => self.step == Some(step),
        }
    }

    fn is_between(&self, start: End, end: End) -> bool {
        match (start, end) {
            (End::Year(start), End::Year(end)) => self.years.iter().any(|&year| start < year && year < end),
            (End::Step(start), End::Step(end)) => self.step.is_some_and(|step| start < step && step < end),
            _ => false,
        }
    }
}

/// The span of a question in each table.
pub(crate) struct TableSpans {
    of_tables: Vec<Span>,
    of_sentences: Span,
    /// Days that the question names.
    days: Vec<Day>,
}

/// A span of years, in the terms of a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Span {
    start: Option<End>,
    end: Option<End>,
    /// The question does not name it.
    implied: bool,
}

impl Spans {
    pub(crate) fn new(view: &View<'_>) -> Self {
        let View { nodes, strings, phrases, order, .. } = *view;
        let mut cells: Vec<Vec<usize>> = vec![Vec::new(); strings.tables];
        for (number, (node, table)) in nodes.iter().zip(strings.tables_of_nodes()).enumerate() {
            if let (Some(table), NodeKind::Cell) = (table, node.kind) {
                cells[table].push(number);
            }
        }
        let mut tables = cells
            .iter()
            .zip(&phrases.table_years)
            .map(|(cells, years)| TableInTime { years: years.clone(), index: index(nodes, cells) })
            .collect::<Vec<_>>();
        // The dates in the cells of each row of each table.
        let mut dated: Vec<Vec<Vec<u16>>> = order.size.iter().map(|(rows, _)| vec![Vec::new(); *rows]).collect();
        for (dated, cells) in dated.iter_mut().zip(&cells) {
            for &cell in cells {
                if let Some(row) = nodes[cell].place.as_ref().and_then(|place| dated.get_mut(place.row)) {
                    row.extend(date(&nodes[cell].text, strings.text(strings.nodes[cell].parts.column)));
                }
            }
            for row in dated.iter_mut() {
                row.sort_unstable();
                row.dedup();
            }
        }
        let in_time = |(number, node): (usize, &Node)| {
            let (years, days) = (phrases.years_of(number), phrases.days_of(number).collect());
            let mut found = InTime { years, days, dated: false, step: None };
            let (Some(table), Some(place)) = (strings.table_of(number), &node.place) else { return found };
            let of_row = matches!(node.kind, NodeKind::Cell | NodeKind::RowHeader);
            if let (true, true, Some(years)) = (found.years.is_empty(), of_row, dated[table].get(place.row)) {
                found.dated = !years.is_empty();
                found.years.clone_from(years);
            }
            if let Some(Index { of_columns, steps, .. }) = &tables[table].index {
                found.step = steps.get(if *of_columns { &place.col } else { &place.row }).copied();
            }
            found
        };
        let nodes: Vec<InTime> = nodes.iter().enumerate().map(in_time).collect();
        for (node, table) in nodes.iter().zip(strings.tables_of_nodes()) {
            let index = table.and_then(|table| tables[table].index.as_mut());
            if let (Some(index), Some(step)) = (index, node.step) {
                index.years.extend(node.years.iter().map(|&year| (year, step)));
            }
        }
        for index in tables.iter_mut().filter_map(|table| table.index.as_mut()) {
            index.years.sort_unstable();
            index.years.dedup();
        }
        Self { nodes, tables }
    }

    pub(crate) fn of_question(&self, question: &Question) -> TableSpans {
        let years = dates::years(question.text());
        let duration = duration(question.text());
        TableSpans {
            of_tables: self.tables.iter().map(|table| table.span(&years, duration)).collect(),
            of_sentences: named(&years),
            days: dates::days(question.text()),
        }
    }

    pub(crate) fn of_node(&self, query: &TableSpans, node: usize, table: Option<usize>) -> NodeSpan {
        let time = &self.nodes[node];
        let span = table.map_or(&query.of_sentences, |table| &query.of_tables[table]);
        let is_at = |end: Option<End>| end.is_some_and(|end| time.is_at(end));
        NodeSpan::of(&NodeInSpan {
            time,
            table: table.map(|table| &self.tables[table]),
            span,
            days: &query.days,
            starts: is_at(span.start),
            ends: is_at(span.end),
            is_within: span.start.zip(span.end).is_some_and(|(start, end)| time.is_between(start, end)),
        })
    }
}

/// The span between the years that a question names.
fn named(years: &[u16]) -> Span {
    let end = years.last().map(|&year| End::Year(year));
    let start = years.first().filter(|_| years.len() > 1).map(|&year| End::Year(year));
    Span { start, end, implied: false }
}

impl TableInTime {
    fn span(&self, years: &[u16], duration: Option<u16>) -> Span {
        let mut span = named(years);
        // The earliest year of the table that is no more than so many before.
        let before = |end: u16, duration: u16| {
            let first = self.years.iter().find(|&&year| year < end && year + duration >= end);
            first.map(|&year| End::Year(year))
        };
        let of_steps = |start, end, implied| Span { start: Some(End::Step(start)), end: Some(End::Step(end)), implied };
        match (years, duration, &self.index, self.years.last()) {
            // An index that does not reach back so far is another's.
            ([end], Some(duration), Some(index), _) => {
                let steps = index.years.iter().filter(|(year, step)| year == end && *step >= duration);
                let last = steps.map(|(_, step)| *step).max();
                span = last.map_or_else(Span::default, |step| of_steps(step - duration, step, false));
            }
            ([end], Some(duration), None, _) => span.start = before(*end, duration),
            ([], Some(duration), Some(index), _) if duration <= index.last => span = of_steps(0, duration, true),
            ([], None, Some(index), _) => span = of_steps(0, index.last, true),
            ([], Some(duration), None, Some(&last)) => {
                span = Span { start: before(last, duration), end: Some(End::Year(last)), implied: true };
            }
            _ => {}
        }
        span
    }
}

/// The index that a table is: a first or last column, or row, of which all cells are 100.
fn index(nodes: &[Node], cells: &[usize]) -> Option<Index> {
    let along = |of: &dyn Fn(usize) -> usize| {
        // Of each line with numbers whether all of them are 100, and how many there are.
        let mut lines: Vec<(usize, bool, usize)> = Vec::new();
        let mut numbers: Vec<(usize, f32)> =
            cells.iter().filter_map(|&cell| Some((of(cell), amount(&nodes[cell].text)?))).collect();
        numbers.sort_by_key(|(line, _)| *line);
        for (line, number) in numbers {
            match lines.last_mut() {
                Some((last, all, count)) if *last == line => (*all, *count) = (*all && number == BASE, *count + 1),
                _ => lines.push((line, number == BASE, 1)),
            }
        }
        let begins = |line: Option<&(usize, bool, usize)>| line.is_some_and(|(_, all, count)| *all && *count > 1);
        if !begins(lines.first()) {
            lines.reverse();
        }
        let is_index = lines.len() > 1 && begins(lines.first()) && !begins(lines.get(1));
        is_index.then(|| lines.into_iter().map(|(line, ..)| line).collect::<Vec<_>>())
    };
    let place = |cell: usize| nodes[cell].place.as_ref();
    let columns = along(&|cell| place(cell).map_or(0, |place| place.col));
    let of_columns = columns.is_some();
    let lines = columns.or_else(|| along(&|cell| place(cell).map_or(0, |place| place.row)))?;
    let last = u16::try_from(lines.len() - 1).ok()?;
    Some(Index { of_columns, steps: lines.into_iter().zip(0..).collect(), last, years: Vec::new() })
}

/// The amount that a cell is; nothing of a percentage.
fn amount(text: &str) -> Option<f32> {
    let found = numbers(text);
    let number = found.first().filter(|number| number.unit == Unit::None && !text.contains('%'))?;
    number.digits.parse().ok()
}

/// The years of a cell that is a date; `headers` are those of its column.
fn date(text: &str, headers: &str) -> Vec<u16> {
    if text.split_whitespace().count() > WORDS_OF_A_DATE {
        return Vec::new();
    }
    let of_dates = || {
        let headers = headers.to_lowercase();
        headers.split(|c: char| !c.is_alphanumeric()).any(|word| DATES.iter().any(|start| word.starts_with(start)))
    };
    match text.contains(char::is_alphabetic) || of_dates() {
        true => dates::years(text),
        false => Vec::new(),
    }
}

/// How many years a question speaks of: "the five years", "5-year".
fn duration(text: &str) -> Option<u16> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(2).find_map(|pair| {
        let [count, unit] = pair else { return None };
        if !matches!(*unit, "year" | "years" | "yr" | "yrs") {
            return None;
        }
        let named = (1..).zip(COUNTS).find(|(_, name)| name == count).map(|(number, _)| number);
        named.or_else(|| count.parse().ok()).filter(|count| (1..=LONGEST).contains(count))
    })
}

#[cfg(test)]
mod tests {
    use tabsegnet_document::model::{Block, Document, Table, TableSource};
    use tabsegnet_graph::{CellText, Graph};

    use super::*;
    use crate::numbers::Numbers;
    use crate::order::Order;
    use crate::phrases::Phrases;
    use crate::schema::Schema as _;
    use crate::strings::Strings;

    /// The names that are not 0 of each wanted node, in a document of one sentence and a table.
    fn query(rows: &[&[&str]], question: &str, ids: &[&str]) -> Vec<Vec<String>> {
        let rows = rows.iter().map(|row| row.iter().map(|&cell| cell.into()).collect()).collect();
        let table = Table::new(TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap();
        let blocks = vec![Block::Passage("Returns from 2009 to 2011.".into()), Block::Table(table)];
        let nodes: Vec<Node> = Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec();
        let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
        let strings = Strings::new(&nodes, &own);
        let phrases = Phrases::new(&nodes, &strings);
        let (order, numbers) = (Order::new(&nodes, &strings), Numbers::new(&nodes, &strings));
        let spans =
            Spans::new(&View { nodes: &nodes, strings: &strings, phrases: &phrases, order: &order, numbers: &numbers });
        let query = spans.of_question(&Question::new(question));
        let of_id = |id: &&str| {
            let node = nodes.iter().position(|node| node.id == *id).unwrap_or_else(|| panic!("{id}"));
            let mut values = [0.0; NodeSpan::COUNT];
            spans.of_node(&query, node, strings.table_of(node)).write(&mut values);
            NodeSpan::names().into_iter().zip(values).filter(|(_, value)| *value != 0.0).map(|(name, _)| name).collect()
        };
        ids.iter().map(of_id).collect()
    }

    const INDEX: [&[&str]; 3] = [
        &["", "12/31/2009", "12/31/2010", "12/31/2011", "12/31/2012"],
        &["Our stock", "$ 100.00", "$ 90", "$ 110.5", "$ 130"],
        &["S&P 500", "100.00", "105", "107", "140"],
    ];
    const SALES: [&[&str]; 2] = [&["", "2012", "2011", "2010", "2009"], &["Sales", "100", "100", "100", "50"]];
    const NOTES: [&[&str]; 3] = [
        &["Type", "Amount", "Issued", "Maturity"],
        &["Notes", "$ 500", "May 2012", "May 2019"],
        &["Notes", "$ 750", "March 2014", "March 2021"],
    ];

    #[test]
    fn the_ends_of_a_span_are_the_first_and_the_last_year_that_are_named() {
        let found = query(&SALES, "growth of sales from 2009 to 2011", &["t0:r1c1", "t0:r1c2", "t0:r1c3", "t0:h0c4"]);
        assert_eq!(found, [vec!["outside"], vec!["end"], vec!["within"], vec!["start"]]);
        let found = query(&SALES, "sales in 2011", &["t0:r1c1", "t0:r1c2", "t0:r1h0", "p0"]);
        assert_eq!(found, [vec!["outside"], vec!["end"], vec![], vec!["end"]]);
    }

    #[test]
    fn a_number_of_years_ends_with_the_year_that_is_named_or_the_last_of_the_table() {
        let ids = ["t0:r1c1", "t0:r1c2", "t0:r1c3", "t0:r1c4", "p0"];
        let found = query(&SALES, "change over the two years ended 2011", &ids);
        assert_eq!(found, [vec!["outside"], vec!["end"], vec!["within"], vec!["start"], vec!["end"]]);
        let found = query(&SALES, "change over a 2-year period", &ids);
        let implied = [vec!["end", "implied"], vec!["within", "implied"], vec!["start", "implied"]];
        assert_eq!(found[..3], implied);
        assert_eq!(found[3..], [vec!["outside", "implied"], vec![]]);
    }

    #[test]
    fn an_index_spans_from_its_beginning_to_its_end_unless_the_question_says_otherwise() {
        let ids = ["t0:r1c1", "t0:r2c3", "t0:h0c4"];
        let whole = [
            vec!["start", "implied", "index", "index_start"],
            vec!["within", "implied", "index", "index_steps"],
            vec!["end", "implied", "index", "index_steps"],
        ];
        for question in ["did our stock do better than the S&P 500?", "return over the three year period"] {
            assert_eq!(query(&INDEX, question, &ids), whole, "{question}");
        }
        let found = query(&INDEX, "return over two years", &ids);
        assert_eq!(found[1][..2], ["end", "implied"]);
        assert_eq!(found[2][..2], ["outside", "implied"]);
        // It has no five years.
        assert_eq!(query(&INDEX, "return over five years", &["t0:r1c4"]), [["index", "index_steps"]]);
        assert_eq!(query(&INDEX, "return in 2011", &["t0:r1c3"]), [["end", "index", "index_steps"]]);
        let found = query(&INDEX, "return for the two years ended December 31, 2011", &["t0:r1c3", "t0:h0c2"]);
        assert_eq!(found[0], ["end", "index", "index_steps", "day"]);
        assert!(!found[1].iter().any(|name| name == "day"));
        let found = query(&INDEX, "return for the four years ended 2012", &["t0:r1c4"]);
        assert_eq!(found, [["index", "index_steps"]]);
        assert_eq!(query(&SALES, "how did sales grow?", &["t0:r1c1", "t0:r1c4"]), [[""; 0], [""; 0]]);
    }

    #[test]
    fn an_index_may_go_down_the_rows_and_begin_at_their_end() {
        let rows: [&[&str]; 4] =
            [&["", "Stock", "S&P"], &["a", "150", "120"], &["b", "90", "80"], &["c", "100", "100"]];
        let found = query(&rows, "return of the stock", &["t0:r3c1", "t0:r2c1", "t0:r1c1"]);
        assert_eq!(found[0], ["start", "implied", "index", "index_start"]);
        assert_eq!(found[2], ["end", "implied", "index", "index_steps"]);
        // Totals of shares are no index.
        let shares: [&[&str]; 3] = [&["", "2012", "2011"], &["North", "60 %", "40 %"], &["Total", "100 %", "100 %"]];
        assert_eq!(query(&shares, "share of the north", &["t0:r2c1"]), [[""; 0]]);
    }

    #[test]
    fn rows_without_years_have_those_of_their_dates() {
        let found = query(&NOTES, "notes issued in 2014", &["t0:r1c1", "t0:r2c1", "t0:h0c1"]);
        assert_eq!(found, [vec!["outside", "dated"], vec!["end", "dated"], vec![]]);
        // A number is a year under a header of dates alone.
        let rows: [&[&str]; 2] = [&["", "feet", "expiry"], &["Texas", "2015", "2020"]];
        assert_eq!(query(&rows, "feet expiring in 2020", &["t0:r1c1"]), [["end", "dated"]]);
        assert_eq!(query(&rows, "feet in 2015", &["t0:r1c1"]), [["outside", "dated"]]);
    }

    #[test]
    fn numbers_of_years_are_read_in_words_and_digits() {
        let found = ["over the five years", "a 3-year swap", "in two fiscal years", "year 2019", "over 100 years", ""];
        assert_eq!(found.map(duration), [Some(5), Some(3), None, None, None, None]);
    }
}
