//! Fields that a semantic file adds to a table: an expression over the columns of a row.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, Ident, Query, VisitorMut};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::ddl::SqlDialect;
use crate::origins::AGGREGATES;
use crate::walk::walk_mut;

/// How deep an expression may be nested.
const NESTING: usize = 50;
/// Functions of many rows that SQLite does not have.
const OF_SERVERS: [&str; 3] = ["array_agg", "stddev", "variance"];

/// An expression over a table's columns, which stand in it with the table's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Calculated {
    /// In parentheses, as a statement takes it.
    pub sql: String,
    /// The columns that it reads, as the table spells them.
    pub columns: BTreeSet<String>,
    /// The type of its values, empty where that is not seen.
    pub declared_type: &'static str,
}

/// Why an expression cannot be taken.
pub(super) enum Refused {
    /// In words.
    Because(String),
    /// A column that the table does not have.
    Column(String),
}

/// Reads an expression. `table` are the parts of the table's name, `column` gives the spelling of a column of it.
pub(super) fn calculated(
    expression: &str,
    table: &[&str],
    dialect: SqlDialect,
    column: &dyn Fn(&str) -> Option<String>,
) -> Result<Calculated, Refused> {
    let because = |error: &dyn std::fmt::Display| Refused::Because(error.to_string());
    let tokens = dialect.tokens(expression).map_err(Refused::Because)?;
    let parser = dialect.parser();
    let mut parser = Parser::new(&*parser).with_recursion_limit(NESTING).with_tokens_with_locations(tokens);
    let mut parsed = parser.parse_expr().map_err(|error| because(&error))?;
    parser.expect_token(&Token::EOF).map_err(|error| because(&error))?;
    let declared_type = type_of(&parsed);
    let mut reader = Reader { table, column, columns: BTreeSet::new() };
    if let ControlFlow::Break(refused) = walk_mut(&mut parsed, &mut reader) {
        return Err(refused);
    }
    if reader.columns.is_empty() {
        return Err(Refused::Because("it reads no column".into()));
    }
    Ok(Calculated { sql: format!("({parsed})"), columns: reader.columns, declared_type })
}

fn type_of(expression: &Expr) -> &'static str {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus, StringConcat};
    match expression {
        Expr::Nested(inner) => type_of(inner),
        Expr::BinaryOp { op: Plus | Minus | Multiply | Divide | Modulo, .. } => "NUMERIC",
        Expr::BinaryOp { op: StringConcat, .. } => "TEXT",
        _ => "",
    }
}

struct Reader<'r> {
    table: &'r [&'r str],
    column: &'r dyn Fn(&str) -> Option<String>,
    columns: BTreeSet<String>,
}

impl Reader<'_> {
    fn column(&mut self, name: &str) -> Result<Expr, Refused> {
        let spelt = (self.column)(name).ok_or_else(|| Refused::Column(name.to_owned()))?;
        let path = self.table.iter().copied().chain([spelt.as_str()]);
        let path = path.map(|part| Ident::with_quote('"', part.replace('"', "\"\""))).collect();
        self.columns.insert(spelt);
        Ok(Expr::CompoundIdentifier(path))
    }

    /// Whether names are those of the table, its schema left out or not.
    fn is_table(&self, names: &[Ident]) -> bool {
        let same = |(name, part): (&Ident, &&str)| name.value.eq_ignore_ascii_case(part);
        names.len() <= self.table.len() && names.iter().rev().zip(self.table.iter().rev()).all(same)
    }
}

impl VisitorMut for Reader<'_> {
    type Break = Refused;

    fn pre_visit_query(&mut self, _query: &mut Query) -> ControlFlow<Refused> {
        ControlFlow::Break(Refused::Because("it has a SELECT; expected columns of the own row".into()))
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Refused> {
        let name = match expr {
            Expr::Identifier(name) => name.value.clone(),
            Expr::CompoundIdentifier(path) => match path.as_slice() {
                [table @ .., name] if self.is_table(table) => name.value.clone(),
                _ => return ControlFlow::Break(Refused::Column(expr.to_string())),
            },
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                // Of several values in a row SQLite's max and min take one.
                let of_row = ["max", "min"].contains(&name.as_str()) && function.args.to_string().contains(',');
                let is_aggregate = AGGREGATES.iter().chain(&OF_SERVERS).any(|aggregate| *aggregate == name);
                return match function.over.is_some() || is_aggregate && !of_row {
                    true => ControlFlow::Break(Refused::Because(format!("{name} reads several rows; expected one"))),
                    false => ControlFlow::Continue(()),
                };
            }
            _ => return ControlFlow::Continue(()),
        };
        match self.column(&name) {
            Ok(path) => *expr = path,
            Err(refused) => return ControlFlow::Break(refused),
        }
        ControlFlow::Continue(())
    }
}
