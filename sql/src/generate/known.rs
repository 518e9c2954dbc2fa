//! What is known of a database before a question comes: fields, what people call them, and their values.

use std::collections::{HashMap, HashSet};

use crate::catalogue::quote;
use crate::error::QueryError;
use crate::rows::{Rows, Value};
use crate::schema::Schema;

use super::question::{Token, words};

/// Rows of a table that are looked at.
const ROWS: usize = 5000;

/// What people call columns, by table and column as they were created.
pub type Labels = HashMap<(String, String), String>;

/// A column that a statement may name.
#[derive(Debug, Clone)]
pub struct Field {
    /// The table, by its place.
    pub table: usize,
    /// The column as it was created.
    pub column: String,
    /// Its place among the columns of the table.
    pub place: usize,
    /// What people call it.
    pub label: String,
    /// The words of that.
    pub(super) label_words: Vec<String>,
    /// The type as it was declared, in capitals.
    pub declared_type: String,
    /// Whether it holds numbers.
    pub number: bool,
    /// The field that shows the same cells as they were written, and what of them this one is: `number`, `year`, `first`.
    pub reading_of: Option<(usize, String)>,
    /// The values in the order of the rows, as texts.
    pub(super) values: Vec<Cell>,
    /// Whether it numbers the rows: an integer primary key.
    pub key: bool,
}

impl Field {
    /// Whether it holds dates that sort as texts.
    pub(super) fn is_date(&self) -> bool {
        self.reading_of.as_ref().is_some_and(|(_, part)| part.ends_with("parsed"))
            || self.declared_type.starts_with("DATE")
            || self.declared_type.starts_with("TIMESTAMP")
    }

    /// Whether it names or numbers the rows, so that its sum and mean say nothing: integers, each of them once, under such a
    /// name.
    pub(crate) fn is_number_of_row(&self) -> bool {
        const NAMES: [&str; 9] = ["id", "no", "nr", "number", "order", "code", "key", "invoice", "rank"];
        self.number && self.label_words.last().is_some_and(|word| NAMES.contains(&word.as_str())) && !self.repeats()
    }

    /// Whether it holds years alone.
    pub(super) fn is_of_years(&self) -> bool {
        let numbers = self.values.iter().filter_map(|cell| cell.number);
        let is_year = |number: f64| number.fract() == 0.0 && (1000.0..2200.0).contains(&number);
        self.number && numbers.clone().next().is_some() && numbers.into_iter().all(is_year)
    }

    /// Whether it may say when.
    pub(crate) fn is_time(&self) -> bool {
        const NAMES: [&str; 9] = ["date", "year", "month", "day", "time", "season", "when", "week", "period"];
        let named = self.label_words.iter().any(|word| NAMES.contains(&word.as_str()));
        named || self.is_date() || self.is_of_years()
    }

    /// Whether its numbers are no count of the rows, 1, 2, 3 and so on.
    pub(super) fn repeats_or_jumps(&self) -> bool {
        let numbers: Vec<f64> = self.values.iter().filter_map(|cell| cell.number).collect();
        !numbers.windows(2).all(|two| matches!(two, [one, next] if (next - one).abs() == 1.0))
    }

    /// Whether several rows have one value.
    pub(super) fn repeats(&self) -> bool {
        let mut seen = HashSet::new();
        self.values.iter().any(|cell| !cell.text.is_empty() && !seen.insert(cell.text.as_str()))
    }
}

/// A value with its words.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub text: String,
    pub tokens: Vec<Token>,
    pub number: Option<f64>,
}

/// A table.
#[derive(Debug, Clone)]
pub struct KnownTable {
    /// The name.
    pub name: String,
    /// The name as a statement has it.
    pub quoted: String,
    /// What orders its rows as they were written: SQLite's row id.
    pub order: Option<String>,
    /// Where one of the rows sums up the others: the field, and the value that says so there.
    pub total: Option<(usize, String)>,
}

/// The tables and fields of a database.
#[derive(Debug, Clone)]
pub struct Known {
    /// The tables, as in the schema.
    pub tables: Vec<KnownTable>,
    /// Their fields, table by table.
    pub fields: Vec<Field>,
}

/// Where a statement reads from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The `FROM` clause without its first word.
    pub from: String,
    /// The tables in it, by their places in [`Known::tables`].
    pub tables: Vec<usize>,
}

impl Known {
    /// Reads the values of all tables. `order` is whether rows have SQLite's row ids. Of columns without a label the
    /// name is taken; columns that have an empty one are left out.
    ///
    /// # Errors
    /// What `run` gives.
    pub fn read(
        schema: &Schema,
        labels: &Labels,
        order: bool,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    ) -> Result<Self, QueryError> {
        let mut known = Self { tables: Vec::new(), fields: Vec::new() };
        for table in &schema.tables {
            let at = known.tables.len();
            let columns: Vec<_> = table.columns.iter().enumerate().collect();
            let row_id = ["rowid", "oid", "_rowid_"]
                .into_iter()
                .find(|row_id| !columns.iter().any(|(_, column)| column.name.eq_ignore_ascii_case(row_id)));
            let order = row_id.filter(|_| order && table.module.is_none()).map(str::to_owned);
            let quoted = table.quoted();
            known.tables.push(KnownTable { name: table.name.clone(), quoted: quoted.clone(), order, total: None });
            if columns.is_empty() {
                continue;
            }
            let listed: Vec<String> = columns.iter().map(|(_, column)| quote(&column.name)).collect();
            let rows = run(&format!("SELECT {} FROM {quoted} LIMIT {ROWS}", listed.join(", ")))?;
            let first = known.fields.len();
            for (place, column) in columns {
                let label = labels.get(&(table.name.clone(), column.name.clone()));
                if label.is_some_and(String::is_empty) {
                    continue;
                }
                let reading_of =
                    known.fields.iter().enumerate().skip(first).filter(|(_, base)| base.reading_of.is_none()).find_map(
                        |(base, field)| {
                            let rest = column.name.strip_prefix(&field.column)?.strip_prefix('_')?;
                            Some((base, rest.to_owned()))
                        },
                    );
                let label = label.cloned().unwrap_or_else(|| match &reading_of {
                    Some((base, _)) => known.fields.get(*base).map_or(String::new(), |base| base.label.clone()),
                    None => column.name.replace('_', " "),
                });
                let kind = column.declared_type.to_ascii_uppercase();
                let number = ["INT", "REAL", "FLOA", "DOUB", "NUM", "DEC"].iter().any(|name| kind.contains(name));
                let values = rows.rows.iter().map(|row| Cell::new(row.get(place).unwrap_or(&Value::Null))).collect();
                let key = kind == "INTEGER" && table.primary_key == [column.name.clone()];
                let label_words = words(&label);
                let column = column.name.clone();
                known.fields.push(Field {
                    table: at,
                    column,
                    place,
                    label,
                    label_words,
                    declared_type: kind,
                    number,
                    reading_of,
                    values,
                    key,
                });
            }
            let total = known.total(first);
            if let Some(table) = known.tables.last_mut() {
                table.total = total;
            }
        }
        Ok(known)
    }

    /// Where one row of the last table, whose fields begin with `first`, sums up the others: "Total" among its first texts, or
    /// "All regions" where its numbers are the sums.
    fn total(&self, first: usize) -> Option<(usize, String)> {
        const TOTALS: [&str; 5] = ["total", "totals", "grand total", "sum", "overall"];
        const BEGIN: [&str; 4] = ["all ", "total ", "grand total", "overall "];
        let (at, field) = self.fields.iter().enumerate().skip(first).find(|(_, field)| !field.number)?;
        let is_total = |(row, cell): &(usize, &Cell)| {
            let text = cell.text.trim().trim_end_matches(':').to_lowercase();
            TOTALS.contains(&text.as_str())
                || BEGIN.iter().any(|begin| text.starts_with(begin)) && self.sums_up(first, *row)
        };
        let mut totals = field.values.iter().enumerate().filter(is_total);
        let (_, total) = totals.next()?;
        (totals.next().is_none() && field.values.len() > 2).then(|| (at, total.text.clone()))
    }

    /// Whether a row of the last table has in a column of numbers the sum of all other rows.
    fn sums_up(&self, first: usize, row: usize) -> bool {
        self.fields.iter().skip(first).filter(|field| field.number).any(|field| {
            let number = |cell: &Cell| cell.number.unwrap_or(0.0);
            let own = field.values.get(row).map_or(0.0, number);
            let others = field.values.iter().map(number).sum::<f64>() - own;
            own != 0.0 && (own - others).abs() <= 1e-6 * own.abs()
        })
    }

    /// A table alone.
    pub fn table(&self, table: usize) -> Option<Scope> {
        let from = self.tables.get(table)?.quoted.clone();
        Some(Scope { from, tables: vec![table] })
    }

    /// The table whose values and labels the question has most words of, the first of several.
    pub fn likeliest_table(&self, question: &str) -> Option<Scope> {
        let question = words(question);
        let share = |table: usize| {
            let mut found = std::collections::HashSet::new();
            for field in self.fields.iter().filter(|field| field.table == table) {
                let of_values = field.values.iter().flat_map(|cell| cell.tokens.iter().map(|token| &token.stem));
                found.extend(of_values.chain(&field.label_words).filter(|word| question.contains(word)).cloned());
            }
            found.len()
        };
        let best = (0..self.tables.len()).max_by_key(|&table| (share(table), std::cmp::Reverse(table)))?;
        self.table(best)
    }

    /// The field that shows the cells of this one as they were written.
    pub(super) fn base(&self, field: usize) -> usize {
        self.fields.get(field).and_then(|field| field.reading_of.as_ref()).map_or(field, |(base, _)| *base)
    }

    /// A field as a statement names it in a scope.
    pub(super) fn sql(&self, field: usize, scope: &Scope) -> String {
        let Some(field) = self.fields.get(field) else { return "NULL".to_owned() };
        let column = quote(&field.column);
        match self.tables.get(field.table).filter(|_| scope.tables.len() > 1) {
            Some(table) => format!("{}.{column}", table.quoted),
            None => column,
        }
    }
}

impl Cell {
    fn new(value: &Value) -> Self {
        let (text, number) = match value {
            Value::Null | Value::Blob(_) => (String::new(), None),
            #[allow(clippy::cast_precision_loss, reason = "compared with numbers of a question")]
            Value::Integer(value) => (value.to_string(), Some(*value as f64)),
            Value::Real(value) => (value.to_string(), Some(*value)),
            Value::Text(text) => (text.clone(), None),
        };
        let tokens = super::question::tokens(&text);
        Self { text, tokens, number }
    }
}
