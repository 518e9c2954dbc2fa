//! Which rows an aggregate was made of, as a statement that shows them.

use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident, InTarget, OrderByKind,
    Query, Select, SelectItem, SetExpr, Statement,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;

use crate::statement::look_into;
use crate::walk::each_expression;
use crate::written::{Written, written};

/// A statement that shows the rows behind a statement's aggregates: of `SELECT sum(a) FROM t WHERE b = 1`,
/// `SELECT a, b FROM t WHERE b = 1`; of `SELECT k FROM t GROUP BY k ORDER BY count(*) DESC LIMIT 1` those of the groups that it
/// gives, `SELECT k FROM t WHERE k IN (…)` around it. Its first columns are the one that is grouped by, what is aggregated, then
/// those that the conditions name. It is to be run in the sandbox as any other.
///
/// Nothing for what is no single `SELECT` with an aggregate, is grouped by anything but a column, is distinct, or reads from
/// a query.
pub fn rows_behind(sql: &str) -> Option<String> {
    look_into(sql, rewrite)
}

fn rewrite(sql: &str) -> Option<String> {
    let mut statements = Parser::parse_sql(&SQLiteDialect {}, sql).ok()?;
    let [Statement::Query(query)] = statements.as_mut_slice() else { return None };
    if query.with.is_some() {
        return None;
    }
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let key = match &select.group_by {
        GroupByExpr::Expressions(by, more) if more.is_empty() => match by.as_slice() {
            [] => None,
            [key @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_))] => Some(key.clone()),
            _ => return None,
        },
        _ => return None,
    };
    if select.distinct.is_some() || (key.is_none() && select.having.is_some()) {
        return None;
    }
    let in_groups = match &key {
        Some(key) => Some(in_groups(query, key)?),
        None => None,
    };
    query.limit_clause = None;
    if query.order_by.as_ref().is_some_and(|order| matches!(order.kind, OrderByKind::Expressions(_))) {
        query.order_by = None;
    }
    let SetExpr::Select(select) = query.body.as_mut() else { return None };
    let shown = shown(select, key.as_ref())?;
    select.projection = shown.into_iter().map(SelectItem::UnnamedExpr).collect();
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    select.having = None;
    select.selection = match (select.selection.take(), in_groups) {
        (Some(condition), Some(in_groups)) => Some(Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(condition))),
            op: BinaryOperator::And,
            right: Box::new(in_groups),
        }),
        (condition, in_groups) => condition.or(in_groups),
    };
    written(query, Written::Sqlite).ok()
}

/// That a row is of the groups that a query gives; nothing where its order names what it shows.
fn in_groups(query: &Query, key: &Expr) -> Option<Expr> {
    let mut groups = query.clone();
    let SetExpr::Select(select) = groups.body.as_mut() else { return None };
    let has_alias = |item: &SelectItem| matches!(item, SelectItem::ExprWithAlias { .. });
    if groups.order_by.is_some() && select.projection.iter().any(has_alias) {
        return None;
    }
    select.projection = vec![SelectItem::UnnamedExpr(key.clone())];
    let target = InTarget::Subquery(Box::new(groups));
    Some(Expr::In { expr: Box::new(key.clone()), target, negated: false, global: false })
}

/// The key of groups, the columns that an aggregate takes, then those of the conditions.
fn shown(select: &Select, key: Option<&Expr>) -> Option<Vec<Expr>> {
    let mut aggregates = key.is_some();
    let mut found: Vec<Expr> = key.cloned().into_iter().collect();
    for item in &select.projection {
        let (SelectItem::UnnamedExpr(of) | SelectItem::ExprWithAlias { expr: of, .. }) = item else { return None };
        each_expression(of, &mut |part| {
            if let Expr::Function(function) = part
                && function.over.is_none()
                && AGGREGATES.contains(&function.name.to_string().to_ascii_lowercase().as_str())
                && let FunctionArguments::List(list) = &function.args
            {
                aggregates = true;
                for argument in &list.args {
                    if let FunctionArg::Unnamed(FunctionArgExpr::Expr(taken)) = argument {
                        columns(taken, &mut found);
                    }
                }
            }
        });
    }
    if !aggregates {
        return None;
    }
    if let Some(condition) = &select.selection {
        columns(condition, &mut found);
    }
    if found.is_empty() {
        found.push(Expr::Identifier(Ident::new("rowid")));
    }
    Some(found)
}

const AGGREGATES: [&str; 6] = ["sum", "avg", "count", "min", "max", "total"];

/// The columns that an expression names, each once.
fn columns(of: &Expr, into: &mut Vec<Expr>) {
    each_expression(of, &mut |part| {
        if matches!(part, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) && !into.contains(part) {
            into.push(part.clone());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::rows_behind;

    #[test]
    fn an_aggregate_becomes_its_rows() {
        for (sql, behind) in [
            ("SELECT sum(\"a\") FROM \"t\" WHERE \"b\" = 1", "SELECT \"a\", \"b\" FROM \"t\" WHERE \"b\" = 1"),
            (
                "SELECT count(*) FROM t WHERE b > 1 AND c LIKE '%x%' LIMIT 1",
                "SELECT b, c FROM t WHERE b > 1 AND c LIKE '%x%'",
            ),
            ("SELECT count(*) FROM t", "SELECT rowid FROM t"),
            ("SELECT max(a) - min(a) FROM t", "SELECT a FROM t"),
            (
                "SELECT k FROM t WHERE b = 1 OR c = 2 GROUP BY k ORDER BY count(*) DESC LIMIT 1",
                "SELECT k, b, c FROM t WHERE (b = 1 OR c = 2) AND k IN (SELECT k FROM t WHERE b = 1 OR c = 2 GROUP BY k \
                 ORDER BY count(*) DESC LIMIT 1)",
            ),
            (
                "SELECT t.k, sum(t.a) FROM t GROUP BY t.k HAVING count(*) > 1",
                "SELECT t.k, t.a FROM t WHERE t.k IN (SELECT t.k FROM t GROUP BY t.k HAVING count(*) > 1)",
            ),
        ] {
            assert_eq!(rows_behind(sql).as_deref(), Some(behind), "{sql}");
        }
        for sql in [
            "SELECT a FROM t",
            "SELECT b, sum(a) FROM t GROUP BY b, c",
            "SELECT sum(a) AS s FROM t GROUP BY b ORDER BY s LIMIT 1",
            "SELECT sum(a) FROM t GROUP BY b + 1",
            "SELECT sum(a) FROM t UNION SELECT 1",
            "WITH t AS (SELECT 1) SELECT count(*) FROM t",
            "DELETE FROM t",
            "SELECT sum(a) OVER () FROM t",
            "",
        ] {
            assert_eq!(rows_behind(sql), None, "{sql}");
        }
    }
}
