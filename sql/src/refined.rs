//! What is changed in a statement over one table that people read: the row that sums up the others is none of them, and of one
//! row that says how many there are the number is wanted.

use sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, Select, SelectItem, SetExpr, Statement, Value as Literal, ValueWithSpan,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

use crate::catalogue::{literal, quote};
use crate::error::QueryError;
use crate::generate::{Field, Generation, Known};
use crate::linking::words::stem;
use crate::rows::{Rows, Value};
use crate::statement::look_into;
use crate::unsaid::words;
use crate::written::{Written, written};

/// The likeliest statement of a generation as it is meant; one that cannot be run stays as it was.
pub(crate) fn refined(
    mut found: Generation,
    question: &str,
    known: &Known,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Generation {
    let Some(best) = found.proposals.first_mut() else { return found };
    let Some(table) = known.tables.iter().position(|table| best.sql.contains(&format!("FROM {}", table.quoted))) else {
        return found;
    };
    let total = known.tables[table].total.as_ref().and_then(|(field, value)| {
        let column = &known.fields.get(*field)?.column;
        look_into(&best.sql, |sql| without_row(sql, column, value))
    });
    let number = || {
        let counts_one = matches!(best.rows.rows.as_slice(), [row] if matches!(row.as_slice(), [Value::Integer(1)]));
        let measure = measure(known, table).filter(|_| counts_one)?;
        look_into(&best.sql, |sql| number_of_row(sql, question, &measure.column))
    };
    let Some(sql) = total.or_else(number) else { return found };
    if let Ok(rows) = run(&sql)
        && !rows.rows.is_empty()
        && rows.rows != best.rows.rows
    {
        (best.sql, best.rows) = (sql, rows);
    }
    found
}

/// The one column of a table that counts or measures something, where there is one.
fn measure(known: &Known, table: usize) -> Option<&Field> {
    let is_measure = |field: &&Field| {
        let is_other = field.key || field.is_time() || field.is_number_of_row() || field.reading_of.is_some();
        field.table == table && field.number && !is_other
    };
    let mut measures = known.fields.iter().filter(is_measure);
    measures.next().filter(|_| measures.next().is_none())
}

/// A statement's one `SELECT` from one table.
fn changed(sql: &str, change: impl FnOnce(&mut Select) -> Option<()>) -> Option<String> {
    let mut statements = Parser::parse_sql(&SQLiteDialect {}, sql).ok()?;
    let [Statement::Query(query)] = statements.as_mut_slice() else { return None };
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    if query.with.is_some() || !matches!(select.from.as_slice(), [one] if one.joins.is_empty()) {
        return None;
    }
    change(select)?;
    written(query, Written::Sqlite).ok()
}

/// A statement without the row in which a column has a value, where it does not name that value.
fn without_row(sql: &str, column: &str, value: &str) -> Option<String> {
    if sql.contains(&literal(value)) {
        return None;
    }
    let condition = format!("coalesce({}, '') <> {}", quote(column), literal(value));
    let condition = Parser::new(&SQLiteDialect {}).try_with_sql(&condition).ok()?.parse_expr().ok()?;
    changed(sql, |select| {
        select.selection = Some(match select.selection.take() {
            Some(of @ Expr::BinaryOp { op: BinaryOperator::Or, .. }) => and(Expr::Nested(Box::new(of)), condition),
            Some(of) => and(of, condition),
            None => condition,
        });
        Some(())
    })
}

fn and(one: Expr, other: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(one), op: BinaryOperator::And, right: Box::new(other) }
}

/// Of "how many hornbeams" as a count of the rows that are a hornbeam what the one row says.
fn number_of_row(sql: &str, question: &str, measure: &str) -> Option<String> {
    let wanted = words(&question.to_lowercase());
    let thing = wanted.windows(3).find(|three| three[0] == "how" && three[1] == "many").map(|three| stem(&three[2]))?;
    changed(sql, |select| {
        let counts_rows = matches!(select.projection.as_slice(), [SelectItem::UnnamedExpr(Expr::Function(function))]
            if function.to_string().eq_ignore_ascii_case("count(*)"));
        let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
        let Some(Expr::BinaryOp { op: BinaryOperator::Eq, right, .. }) = &select.selection else { return None };
        let Expr::Value(ValueWithSpan { value: Literal::SingleQuotedString(value), .. }) = right.as_ref() else {
            return None;
        };
        let is_thing = words(&value.to_lowercase()).iter().any(|word| stem(word) == thing);
        if !counts_rows || is_grouped || !is_thing {
            return None;
        }
        select.projection = vec![SelectItem::UnnamedExpr(Expr::Identifier(Ident::with_quote('"', measure)))];
        Some(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_that_sums_up_the_others_is_left_out_unless_it_is_named() {
        let of = |sql: &str| without_row(sql, "region", "All regions");
        let left_out = "coalesce(\"region\", '') <> 'All regions'";
        for (sql, without) in [
            ("SELECT sum(\"q1\") FROM \"t\"", format!("SELECT sum(\"q1\") FROM \"t\" WHERE {left_out}")),
            (
                "SELECT \"region\" FROM \"t\" WHERE \"q1\" > 1 OR \"q2\" > 1 ORDER BY \"q1\" DESC LIMIT 1",
                format!(
                    "SELECT \"region\" FROM \"t\" WHERE (\"q1\" > 1 OR \"q2\" > 1) AND {left_out} ORDER BY \"q1\" DESC LIMIT 1"
                ),
            ),
        ] {
            assert_eq!(of(sql), Some(without));
        }
        for sql in ["SELECT \"q1\" FROM \"t\" WHERE \"region\" = 'All regions'", "SELECT 1 FROM a JOIN b", "no"] {
            assert_eq!(of(sql), None, "{sql}");
        }
    }

    #[test]
    fn of_one_row_with_a_number_the_number_is_wanted() {
        let of = |sql: &str, question: &str| number_of_row(sql, question, "trees");
        let count = "SELECT count(*) FROM \"planted\" WHERE \"species\" = 'Hornbeam'";
        let number = "SELECT \"trees\" FROM \"planted\" WHERE \"species\" = 'Hornbeam'";
        assert_eq!(of(count, "How many hornbeams were planted?").as_deref(), Some(number));
        assert_eq!(of(count, "How many districts have a hornbeam?"), None);
        assert_eq!(of("SELECT count(*) FROM \"planted\"", "How many hornbeams?"), None);
        assert_eq!(of(number, "How many hornbeams were planted?"), None);
    }
}
