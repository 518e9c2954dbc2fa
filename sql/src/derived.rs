//! Fields that a question takes for granted and no column has, as calculated ones: what came after the day on which it was due, and
//! what amounts are worth.

use crate::catalogue::quote;
use crate::linking::Words;
use crate::schema::{Schema, Table};
use crate::schema_graph::{ColumnKind, ColumnSemantics, Semantics};

/// Semantics with the fields that a question names and no column of the schema.
pub(crate) fn with_fields(question: &str, schema: &Schema, semantics: &Semantics) -> Semantics {
    const WORTH: [&str; 3] = ["value", "worth", "revenue"];
    let words = Words::of(question);
    let said = |text: &&str| words.words.iter().any(|word| word.text == **text);
    let is_late = said(&"late") || said(&"later") && said(&"than") && PLANNED.iter().any(said);
    let columns = || schema.tables.iter().flat_map(|table| &table.columns);
    let is_new = |of: &&str| !columns().any(|column| has(&column.name, &[of]));
    let worth = WORTH.into_iter().find(said).filter(is_new);
    let mut semantics = semantics.clone();
    for table in &schema.tables {
        let late = if is_late && is_new(&"late") { late(table) } else { None };
        let fields = late.into_iter().chain(worth.and_then(|of| Some((of.to_owned(), value(table)?))));
        for (name, expression) in fields {
            let field = ColumnSemantics { expression: Some(expression), ..ColumnSemantics::default() };
            semantics.tables.entry(table.name.clone()).or_default().columns.entry(name).or_insert(field);
        }
    }
    semantics
}

/// What a day is called by which something is to be done.
pub(crate) const PLANNED: [&str; 6] = ["planned", "due", "scheduled", "expected", "promised", "required"];

fn has(name: &str, of: &[&str]) -> bool {
    Words::of_name(name).words.iter().any(|word| of.contains(&word.text.as_str()))
}

/// Whether rows have a later day than the one that was due; the next day that a table has is the one on which it was done: `due_on`,
/// `paid_on`.
fn late(table: &Table) -> Option<(String, String)> {
    const DAYS: [&str; 8] = ["on", "at", "date", "day", "time", "end", "arrival", "departure"];
    let mut days = table.columns.iter().map(|column| column.name.as_str()).filter(|name| has(name, &DAYS));
    let due = days.find(|name| has(name, &PLANNED))?;
    let done = days.next()?;
    let first = Words::of_name(done).words.into_iter().next()?.text;
    Some((format!("{first} late"), format!("CASE WHEN {} > {} THEN 1 ELSE 0 END", quote(done), quote(due))))
}

/// The one amount of a table by the one price of its unit: `weight_kg * price_per_kg`.
fn value(table: &Table) -> Option<String> {
    const AMOUNTS: [&str; 7] = ["quantity", "qty", "weight", "hours", "days", "units", "amount"];
    const PRICES: [&str; 3] = ["price", "rate", "cost"];
    let is_number = |name: &&str| {
        table
            .columns
            .iter()
            .any(|column| column.name == **name && ColumnKind::of(&column.declared_type) == ColumnKind::Number)
    };
    let names = || table.columns.iter().map(|column| column.name.as_str()).filter(is_number);
    let prices: Vec<&str> = names().filter(|name| has(name, &PRICES)).collect();
    let amounts: Vec<&str> = names().filter(|name| has(name, &AMOUNTS) && !has(name, &PRICES)).collect();
    let ([price], [amount]) = (prices.as_slice(), amounts.as_slice()) else { return None };
    Some(format!("{} * {}", quote(amount), quote(price)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ColumnInfo;

    #[test]
    fn what_no_column_has_is_calculated() {
        let column = |name: &&str| ColumnInfo {
            name: (*name).to_owned(),
            declared_type: if name.ends_with("_on") { "DATE" } else { "REAL" }.to_owned(),
            ..ColumnInfo::default()
        };
        let of = |names: &[&str], question: &str| {
            let columns = names.iter().map(column).collect();
            let tables = vec![Table { name: "t".to_owned(), columns, ..Table::default() }];
            let semantics = with_fields(question, &Schema { tables, views: Vec::new() }, &Semantics::default());
            let fields = semantics.tables.into_values().flat_map(|table| table.columns);
            fields.map(|(name, field)| format!("{name}: {}", field.expression.unwrap_or_default())).collect::<Vec<_>>()
        };
        let days = ["issued_on", "due_on", "fee", "paid_on"];
        let late = "paid late: CASE WHEN \"paid_on\" > \"due_on\" THEN 1 ELSE 0 END";
        assert_eq!(of(&days, "How many were paid late?"), [late]);
        assert_eq!(of(&days, "Which were done later than planned?"), [late]);
        assert!(of(&days, "The latest invoices").is_empty() && of(&days[..2], "How many were late?").is_empty());
        let sold = ["weight_kg", "price_per_kg"];
        assert_eq!(of(&sold, "Total value per crop"), ["value: \"weight_kg\" * \"price_per_kg\""]);
        assert!(of(&["weight_kg", "price", "cost"], "Total value").is_empty() && of(&sold, "Total weight").is_empty());
        assert!(of(&["value", "weight_kg", "price_per_kg"], "Total value").is_empty());
    }
}
