//! What a gold statement says, as far as a sketch can say it.

use sqlparser::ast::{
    BinaryOperator, Distinct, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, InTarget,
    LimitClause, OrderByKind, OrderBySort, Query, Select, SelectItem, SetExpr, SetOperator, TableFactor, UnaryOperator,
    Value,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use tabsegnet_sql::compose::{Condition, Function, Item, Joined, Operand, Order, Relation, Sketch, Without};
use tabsegnet_sql::schema_graph::SchemaGraph;

/// The sketch of a statement; none where it says more than a sketch can.
pub fn sketch(sql: &str, graph: &SchemaGraph) -> Option<Sketch> {
    let mut statements = Parser::parse_sql(&SQLiteDialect {}, sql).ok()?;
    let sqlparser::ast::Statement::Query(query) = statements.pop()? else { return None };
    of_query(&query, graph)
}

/// Tables by what a statement calls them.
struct Scope<'g> {
    graph: &'g SchemaGraph,
    tables: Vec<(String, usize)>,
}

fn of_query(query: &Query, graph: &SchemaGraph) -> Option<Sketch> {
    match query.body.as_ref() {
        SetExpr::Select(select) => {
            let (mut sketch, scope) = of_select(select, graph)?;
            if let Some(order) = &query.order_by {
                let OrderByKind::Expressions(by) = &order.kind else { return None };
                let first = by.first()?;
                sketch.order = Some(Order {
                    item: item(&first.expr, &scope)?,
                    descending: matches!(first.options.sort, Some(OrderBySort::Desc)),
                });
            }
            match &query.limit_clause {
                None => {}
                Some(LimitClause::LimitOffset { limit: Some(limit), offset: None, .. }) => {
                    sketch.limit = Some(number(limit)? as usize);
                }
                Some(_) => return None,
            }
            Some(sketch)
        }
        SetExpr::SetOperation { op, left, right, .. } => {
            let select = |body: &SetExpr| match body {
                SetExpr::Select(select) => of_select(select, graph).map(|(sketch, _)| sketch),
                _ => None,
            };
            let (mut left, right) = (select(left)?, select(right)?);
            if left.without.is_some() || right.without.is_some() || !left.group.is_empty() || !right.group.is_empty() {
                return None;
            }
            match op {
                SetOperator::Intersect | SetOperator::Union => {
                    if left.shown != right.shown || left.conditions.is_empty() || right.conditions.is_empty() {
                        return None;
                    }
                    left.joined = if matches!(op, SetOperator::Union) { Joined::Or } else { Joined::Intersect };
                    left.conditions.extend(right.conditions);
                    left.tables.extend(right.tables);
                }
                SetOperator::Except => {
                    let (outer, inner) = (left.shown.first()?.column?, right.shown.first()?.column?);
                    left.without = Some(Without { outer, inner, tables: right.tables, conditions: right.conditions });
                }
                _ => return None,
            }
            Some(left)
        }
        _ => None,
    }
}

fn of_select<'g>(select: &Select, graph: &'g SchemaGraph) -> Option<(Sketch, Scope<'g>)> {
    let mut scope = Scope { graph, tables: Vec::new() };
    for from in &select.from {
        for factor in std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)) {
            let TableFactor::Table { name, alias, .. } = factor else { return None };
            let name = name.0.last()?.as_ident()?.value.clone();
            let table = graph.table(&name)?;
            let called = alias.as_ref().map_or(name, |alias| alias.name.value.clone());
            // A table joined with itself.
            if scope.tables.iter().any(|(_, other)| *other == table) {
                return None;
            }
            scope.tables.push((called.to_lowercase(), table));
        }
    }
    let mut sketch = Sketch { tables: scope.tables.iter().map(|(_, table)| *table).collect(), ..Sketch::default() };
    sketch.distinct = matches!(select.distinct, Some(Distinct::Distinct));
    for shown in &select.projection {
        match shown {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                sketch.shown.push(item(expr, &scope)?);
            }
            SelectItem::Wildcard(_) => {
                let table = graph.tables().get(scope.tables.first()?.1)?;
                sketch.shown.extend(table.columns.clone().map(Item::plain));
            }
            _ => return None,
        }
    }
    if let Some(condition) = &select.selection {
        conditions(condition, &scope, &mut sketch)?;
    }
    if let GroupByExpr::Expressions(by, _) = &select.group_by {
        for expr in by {
            sketch.group.push(item(expr, &scope)?.column?);
        }
    }
    if let Some(having) = &select.having {
        let Expr::BinaryOp { left, op, right } = having else { return None };
        sketch.having = Some((item(left, &scope)?, relation(op)?, number(right)?));
    }
    Some((sketch, scope))
}

fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => number.to_string().parse().ok(),
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => text.parse().ok(),
            _ => None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => Some(-number(expr)?),
        _ => None,
    }
}

fn relation(op: &BinaryOperator) -> Option<Relation> {
    Some(match op {
        BinaryOperator::Eq => Relation::Equal,
        BinaryOperator::NotEq => Relation::Unequal,
        BinaryOperator::Gt => Relation::Above,
        BinaryOperator::Lt => Relation::Below,
        BinaryOperator::GtEq => Relation::AtLeast,
        BinaryOperator::LtEq => Relation::AtMost,
        _ => return None,
    })
}

fn column(expr: &Expr, scope: &Scope<'_>) -> Option<usize> {
    match expr {
        Expr::Identifier(name) => scope.tables.iter().find_map(|(_, table)| scope.graph.column(*table, &name.value)),
        Expr::CompoundIdentifier(parts) => {
            let [table, name] = parts.as_slice() else { return None };
            let called = table.value.to_lowercase();
            let (_, table) = scope.tables.iter().find(|(of, _)| *of == called)?;
            scope.graph.column(*table, &name.value)
        }
        Expr::Nested(inner) => column(inner, scope),
        _ => None,
    }
}

fn item(expr: &Expr, scope: &Scope<'_>) -> Option<Item> {
    let Expr::Function(function) = expr else { return column(expr, scope).map(Item::plain) };
    let FunctionArguments::List(list) = &function.args else { return None };
    let different = list.duplicate_treatment.is_some();
    let [FunctionArg::Unnamed(argument)] = list.args.as_slice() else { return None };
    let of = match argument {
        FunctionArgExpr::Wildcard => None,
        FunctionArgExpr::Expr(expr) => Some(column(expr, scope)?),
        _ => return None,
    };
    let name = function.name.0.last()?.as_ident()?.value.to_lowercase();
    let made = match (name.as_str(), different) {
        ("count", true) => Function::CountDifferent,
        // Counting a column counts rows, but for those without a value.
        ("count", false) => return Some(Item::ROWS),
        ("max", _) => Function::Max,
        ("min", _) => Function::Min,
        ("avg", _) => Function::Mean,
        ("sum", _) => Function::Sum,
        _ => return None,
    };
    Some(Item { function: Some(made), column: Some(of?) })
}

fn operand(expr: &Expr, of: usize, scope: &Scope<'_>) -> Option<Operand> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Some(Operand::Number(number.to_string().parse().ok()?)),
            Value::SingleQuotedString(text) | Value::DoubleQuotedString(text) => Some(Operand::Text(text.clone())),
            _ => None,
        },
        Expr::UnaryOp { .. } => Some(Operand::Number(number(expr)?)),
        // "France" in double quotes.
        Expr::Identifier(name) if name.quote_style.is_some() => Some(Operand::Text(name.value.clone())),
        Expr::Subquery(query) => {
            let inner = of_query(query, scope.graph)?;
            match inner.shown.as_slice() {
                [Item { function: Some(function), column: Some(column) }]
                    if *column == of && inner.conditions.is_empty() =>
                {
                    Some(Operand::Of(*function))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn conditions(expr: &Expr, scope: &Scope<'_>, sketch: &mut Sketch) -> Option<()> {
    let mut push = |column: usize, relation: Relation, operand: Operand| {
        sketch.conditions.push(Condition { column, relation, operand });
        Some(())
    };
    match expr {
        Expr::Nested(inner) => conditions(inner, scope, sketch),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            if sketch.joined == Joined::Or {
                return None;
            }
            conditions(left, scope, sketch)?;
            conditions(right, scope, sketch)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
            conditions(left, scope, sketch)?;
            conditions(right, scope, sketch)?;
            sketch.joined = Joined::Or;
            Some(())
        }
        Expr::BinaryOp { left, op, right } => {
            let of = column(left, scope)?;
            let operand = operand(right, of, scope)?;
            push(of, relation(op)?, operand)
        }
        Expr::Like { negated, expr, pattern, .. } => {
            let of = column(expr, scope)?;
            let relation = if *negated { Relation::Unlike } else { Relation::Like };
            push(of, relation, operand(pattern, of, scope)?)
        }
        Expr::Between { expr, low, high, negated: false } => {
            let of = column(expr, scope)?;
            push(of, Relation::AtLeast, operand(low, of, scope)?)?;
            push(of, Relation::AtMost, operand(high, of, scope)?)
        }
        Expr::In { expr, target: InTarget::Subquery(subquery), negated, .. } => {
            let (outer, inner) = (column(expr, scope)?, of_query(subquery, scope.graph)?);
            let of = inner.shown.first()?.column?;
            if sketch.without.is_some() || !inner.group.is_empty() || inner.limit.is_some() || inner.without.is_some() {
                return None;
            }
            if *negated {
                sketch.without = Some(Without { outer, inner: of, tables: inner.tables, conditions: inner.conditions });
            } else {
                sketch.tables.extend(inner.tables);
                sketch.conditions.extend(inner.conditions);
            }
            Some(())
        }
        _ => None,
    }
}
