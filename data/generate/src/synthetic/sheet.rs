//! A table under construction, with the facts that its cells hold.

use tabsegnet_document::model::{CellSource, Table, TableSource};

use super::amounts::{Measure, cell};
use super::names::Scope;
use super::period::Period;
use super::vocabulary::Concept;

/// A figure of the report and the node that states it.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub concept: &'static Concept,
    pub scope: Scope,
    pub period: Period,
    pub measure: Measure,
    pub value: i64,
    /// Equal for two facts if and only if they are the same figure stated twice.
    pub key: String,
    /// Node id; of a sentence, empty until the sentence has its place.
    pub node: String,
    /// The table's number; `None` for a sentence.
    pub table: Option<usize>,
}

impl Fact {
    /// A fact that no node states yet.
    pub fn new(concept: &'static Concept, scope: Scope, period: Period, measure: Measure, value: i64) -> Self {
        let key = key(concept, &scope, period);
        let node = String::new();
        Self { concept, scope, period, measure, value, key, node, table: None }
    }

    /// The same fact under the key of another concept or period that it coincides with.
    pub fn same_as(mut self, concept: &Concept, period: Period) -> Self {
        self.key = key(concept, &self.scope, period);
        self
    }
}

fn key(concept: &Concept, scope: &Scope, period: Period) -> String {
    format!("{}/{}/{}", concept.id, scope.key, period.key())
}

/// A cell that is the sum of others.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub total: String,
    /// Node ids with the sign they enter by.
    pub parts: Vec<(i64, String)>,
}

/// A table with what is known about it.
#[derive(Debug, Clone)]
pub(super) struct Built {
    pub table: Table,
    /// Sentences that belong directly before the table.
    pub lead: Vec<String>,
    pub facts: Vec<Fact>,
    pub sums: Vec<Sum>,
}

impl Built {
    /// The same under another number; tables are built with the number 0.
    pub fn numbered(mut self, number: usize) -> Self {
        let rename = |node: &mut String| {
            if let Some((_, place)) = node.split_once(':') {
                *node = format!("t{number}:{place}");
            }
        };
        for fact in &mut self.facts {
            rename(&mut fact.node);
            fact.table = Some(number);
        }
        for sum in &mut self.sums {
            rename(&mut sum.total);
            sum.parts.iter_mut().for_each(|(_, part)| rename(part));
        }
        self.table = self.table.with_number(number);
        self
    }
}

/// A table that is filled row by row.
pub(super) struct Sheet {
    header_rows: usize,
    header_cols: usize,
    width: usize,
    rows: Vec<Vec<CellSource>>,
    facts: Vec<Fact>,
    sums: Vec<Sum>,
}

/// A cell that spans rows and columns.
pub(super) fn span(text: &str, rowspan: usize, colspan: usize) -> CellSource {
    CellSource { text: text.into(), rowspan, colspan }
}

impl Sheet {
    /// Starts with the header rows; the first of them says how wide the table is.
    pub fn new(header: Vec<Vec<CellSource>>, header_cols: usize) -> Self {
        let width = header.first().map_or(0, |row| row.iter().map(|cell| cell.colspan).sum());
        Self { header_rows: header.len(), header_cols, width, rows: header, facts: vec![], sums: vec![] }
    }

    /// Adds a row of facts and returns its grid row. `heads` are the row headers that start here.
    pub fn row(&mut self, heads: Vec<CellSource>, facts: Vec<Fact>, dollar: bool) -> usize {
        let row = self.rows.len();
        let mut cells = heads;
        for (offset, mut fact) in facts.into_iter().enumerate() {
            cells.push(cell(fact.value, fact.measure, dollar).into());
            fact.node = node(row, self.header_cols + offset);
            fact.table = Some(0);
            self.facts.push(fact);
        }
        self.rows.push(cells);
        row
    }

    /// Adds a row that is one heading over the table's whole width.
    pub fn heading(&mut self, text: &str) {
        self.rows.push(vec![span(text, 1, self.width)]);
    }

    /// Notes that a row is the sum of others, column by column.
    pub fn sum_rows(&mut self, total: usize, parts: &[(i64, usize)]) {
        for col in self.header_cols..self.width {
            self.sum_rows_in(col, total, parts);
        }
    }

    /// Notes that a cell of one grid column is the sum of others of it.
    pub fn sum_rows_in(&mut self, col: usize, total: usize, parts: &[(i64, usize)]) {
        let parts = parts.iter().map(|&(sign, row)| (sign, node(row, col))).collect();
        self.sums.push(Sum { total: node(total, col), parts });
    }

    /// Notes that in the given rows the last column is the sum of those before it.
    pub fn sum_columns(&mut self, rows: std::ops::Range<usize>) {
        for row in rows {
            let parts = (self.header_cols..self.width - 1).map(|col| (1, node(row, col))).collect();
            self.sums.push(Sum { total: node(row, self.width - 1), parts });
        }
    }

    /// Whether every fact is an amount of money.
    pub fn in_money(&self) -> bool {
        self.facts.iter().all(|fact| fact.measure == Measure::Money)
    }

    /// The finished table.
    pub fn build(self, caption: String, lead: Vec<String>) -> Built {
        let source = TableSource {
            number: 0,
            caption,
            header_rows: self.header_rows,
            header_cols: self.header_cols,
            rows: self.rows,
            row_parents: Vec::new(),
        };
        // Nothing of this comes from outside: a row of the wrong width is a fault of this module.
        let table = Table::new(source).expect("every kind of table fills its own width");
        Built { table, lead, facts: self.facts, sums: self.sums }
    }
}

fn node(row: usize, col: usize) -> String {
    format!("t0:r{row}c{col}")
}
