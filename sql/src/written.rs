//! Statements written out so that they read as they were understood.
//!
//! The parser's writer does not know whether what stands between quotes is escaped already, and takes two quotes in a
//! row, and one behind a backslash, for escaped ones: the text `\'; x` would be written `'\'; x'`, which ends at the
//! backslash.

use std::ops::ControlFlow;

use sqlparser::ast::{Ident, Query, Select, Value, ValueWithSpan, VisitorMut};

use crate::walk::walk_mut;

/// Whose SQL is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// SQLite's: names and texts are kept in the quotes that they have.
    Sqlite,
    /// PostgreSQL's: names between double quotes or none, and texts of all kinds as plain ones.
    #[cfg(feature = "postgres")]
    Postgres,
}

/// The text of a query, which changes what is between quotes in it.
///
/// # Errors
/// What cannot be written for sure, in words.
pub(crate) fn written(query: &mut Query, of: Written) -> Result<String, String> {
    match walk_mut(query, &mut Escaping(of)) {
        ControlFlow::Break(reason) => Err(reason),
        ControlFlow::Continue(()) => Ok(query.to_string()),
    }
}

struct Escaping(Written);

fn double(text: &mut String, quote: char) {
    if text.contains(quote) {
        *text = text.replace(quote, &format!("{quote}{quote}"));
    }
}

impl VisitorMut for Escaping {
    type Break = String;

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<String> {
        // Comments, which an extension of a server may take for orders.
        select.optimizer_hints.clear();
        ControlFlow::Continue(())
    }

    fn pre_visit_ident(&mut self, name: &mut Ident) -> ControlFlow<String> {
        match (self.0, name.quote_style) {
            // Nothing is escaped between these.
            (Written::Sqlite, None | Some('[')) => {}
            (_, Some('"')) => double(&mut name.value, '"'),
            (Written::Sqlite, Some(quote)) => double(&mut name.value, quote),
            #[cfg(feature = "postgres")]
            (Written::Postgres, quote) => {
                if !is_plain(&name.value, quote) {
                    return ControlFlow::Break(format!("the name {name} is not allowed"));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &mut ValueWithSpan) -> ControlFlow<String> {
        match (self.0, &mut value.value) {
            (_, Value::SingleQuotedString(text)) => double(text, '\''),
            (Written::Sqlite, _) => {}
            #[cfg(feature = "postgres")]
            (Written::Postgres, other) => match plain(other) {
                Ok(None) => {}
                Ok(Some(mut text)) => {
                    double(&mut text, '\'');
                    *other = Value::SingleQuotedString(text);
                }
                Err(reason) => return ControlFlow::Break(reason),
            },
        }
        ControlFlow::Continue(())
    }
}

/// Whether a name stands for itself: one word without quotes, letters and digits between single ones, as in
/// `extract('year' FROM d)`.
#[cfg(feature = "postgres")]
fn is_plain(name: &str, quote: Option<char>) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii();
    match quote {
        None => {
            let begins = name.chars().next().is_some_and(|first| is_letter(first) && !first.is_ascii_digit());
            begins && name.chars().all(|letter| is_letter(letter) || letter == '$')
        }
        Some('\'') => name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'),
        Some(_) => false,
    }
}

/// The text of a literal that is written as a plain one; none where the literal is sure to be read as it is written.
#[cfg(feature = "postgres")]
fn plain(value: &Value) -> Result<Option<String>, String> {
    match value {
        Value::EscapedStringLiteral(text) | Value::UnicodeStringLiteral(text) | Value::NationalStringLiteral(text) => {
            Ok(Some(text.clone()))
        }
        Value::DollarQuotedString(quoted) => Ok(Some(quoted.value.clone())),
        Value::Number(..) | Value::Boolean(_) | Value::Null => Ok(None),
        Value::HexStringLiteral(digits) | Value::SingleQuotedByteStringLiteral(digits)
            if digits.chars().all(|digit| digit.is_ascii_hexdigit()) =>
        {
            Ok(None)
        }
        Value::Placeholder(_) => Err("parameters ($1) have no value here".to_owned()),
        other => Err(format!("{other} is not allowed")),
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::ast::Statement;
    use sqlparser::dialect::{Dialect, SQLiteDialect};
    use sqlparser::parser::Parser;

    use super::*;

    fn again(sql: &str, dialect: &dyn Dialect, of: Written) -> Result<String, String> {
        let mut statements = Parser::parse_sql(dialect, sql).unwrap();
        let [Statement::Query(query)] = statements.as_mut_slice() else { panic!("{sql}") };
        written(query, of)
    }

    #[test]
    fn quotes_stay_where_they_are() {
        for sql in [
            r"SELECT '\'' || x --'",
            "SELECT 'a''''b', 'it''s', '''', '\\''''\\'",
            "SELECT \"a\"\"b\", \"\\\"\"\" FROM \"x\"\"\"\"y\" AS \"\\\"",
        ] {
            assert_eq!(again(sql, &SQLiteDialect {}, Written::Sqlite).unwrap(), sql);
            #[cfg(feature = "postgres")]
            assert_eq!(again(sql, &sqlparser::dialect::PostgreSqlDialect {}, Written::Postgres).unwrap(), sql);
        }
        let odd = "SELECT [a b], `c``d` FROM t";
        assert_eq!(again(odd, &SQLiteDialect {}, Written::Sqlite).unwrap(), odd);
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn texts_of_all_kinds_are_plain_ones_for_postgres() {
        let dialect = sqlparser::dialect::PostgreSqlDialect {};
        for (sql, wanted) in [
            ("SELECT $a$it's $b$ \\$a$", "SELECT 'it''s $b$ \\'"),
            (r"SELECT E'a\'b\\'", r"SELECT 'a''b\'"),
            ("SELECT N'a''b'", "SELECT 'a''b'"),
            ("SELECT /*+ Set(statement_timeout 0) */ 1", "SELECT 1"),
            ("SELECT --+ x\n 1", "SELECT 1"),
            ("SELECT -1, 1.5e3, true, NULL, X'1f', B'01'", "SELECT -1, 1.5e3, true, NULL, X'1f', B'01'"),
        ] {
            assert_eq!(again(sql, &dialect, Written::Postgres).as_deref(), Ok(wanted), "{sql}");
        }
        assert!(again("SELECT $1", &dialect, Written::Postgres).is_err());
        assert!(again("SELECT X'1'' || pg_sleep(1) || '''", &dialect, Written::Postgres).is_err());
    }
}
