//! Walks through statements. sqlparser's walk is as large as its grammar and is compiled for each kind of visitor anew: all of
//! ours, a dozen, share one, which asks them through a table of functions.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, GroupByExpr, Ident, ObjectName, OrderBy, OrderByExpr, Query, Select, Statement, TableFactor, ValueWithSpan,
    Visit, VisitMut, Visitor, VisitorMut,
};

/// Visits all that a node has in it, the node first.
pub(crate) fn walk<V: Visitor>(node: &impl Visit, visitor: &mut V) -> ControlFlow<V::Break> {
    let mut kept = Kept { visitor, broken: None };
    let _ = node.visit(&mut Erased(&mut kept));
    kept.broken.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// The same for a visitor that changes what it visits.
pub(crate) fn walk_mut<V: VisitorMut>(node: &mut impl VisitMut, visitor: &mut V) -> ControlFlow<V::Break> {
    let mut kept = KeptMut { visitor, broken: None };
    let _ = node.visit(&mut ErasedMut(&mut kept));
    kept.broken.map_or(ControlFlow::Continue(()), ControlFlow::Break)
}

/// Calls `each` for an expression and all that it has in it.
pub(crate) fn each_expression(of: &Expr, each: &mut dyn FnMut(&Expr)) {
    struct Each<'e>(&'e mut dyn FnMut(&Expr));
    impl Visitor for Each<'_> {
        type Break = ();

        fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<()> {
            (self.0)(expression);
            ControlFlow::Continue(())
        }
    }
    let _ = walk(of, &mut Each(each));
}

/// The calls of visitors, whatever they break with. All that the trait has: what is not passed on is never called.
macro_rules! erased {
    ($visitor:ident, $calls:ident, $kept:ident, $erased:ident: $($method:ident($node:ty))*) => {
        trait $calls {
            $(fn $method(&mut self, node: $node) -> ControlFlow<()>;)*
        }

        /// A visitor, and what it broke with.
        struct $kept<'v, V: $visitor> {
            visitor: &'v mut V,
            broken: Option<V::Break>,
        }

        impl<V: $visitor> $calls for $kept<'_, V> {
            $(fn $method(&mut self, node: $node) -> ControlFlow<()> {
                self.visitor.$method(node).map_break(|broken| self.broken = Some(broken))
            })*
        }

        struct $erased<'a>(&'a mut dyn $calls);

        impl $visitor for $erased<'_> {
            type Break = ();

            $(fn $method(&mut self, node: $node) -> ControlFlow<()> {
                self.0.$method(node)
            })*
        }
    };
}

erased! { Visitor, Calls, Kept, Erased:
    pre_visit_query(&Query) post_visit_query(&Query)
    pre_visit_select(&Select) post_visit_select(&Select)
    pre_visit_relation(&ObjectName) post_visit_relation(&ObjectName)
    pre_visit_table_factor(&TableFactor) post_visit_table_factor(&TableFactor)
    pre_visit_expr(&Expr) post_visit_expr(&Expr)
    pre_visit_statement(&Statement) post_visit_statement(&Statement)
    pre_visit_value(&ValueWithSpan) post_visit_value(&ValueWithSpan)
    pre_visit_ident(&Ident) post_visit_ident(&Ident)
    pre_visit_order_by(&OrderBy) post_visit_order_by(&OrderBy)
    pre_visit_order_by_expr(&OrderByExpr) post_visit_order_by_expr(&OrderByExpr)
    pre_visit_group_by(&GroupByExpr) post_visit_group_by(&GroupByExpr)
}

erased! { VisitorMut, AskedMut, KeptMut, ErasedMut:
    pre_visit_query(&mut Query) post_visit_query(&mut Query)
    pre_visit_select(&mut Select) post_visit_select(&mut Select)
    pre_visit_relation(&mut ObjectName) post_visit_relation(&mut ObjectName)
    pre_visit_table_factor(&mut TableFactor) post_visit_table_factor(&mut TableFactor)
    pre_visit_expr(&mut Expr) post_visit_expr(&mut Expr)
    pre_visit_statement(&mut Statement) post_visit_statement(&mut Statement)
    pre_visit_value(&mut ValueWithSpan) post_visit_value(&mut ValueWithSpan)
    pre_visit_ident(&mut Ident) post_visit_ident(&mut Ident)
    pre_visit_order_by(&mut OrderBy) post_visit_order_by(&mut OrderBy)
    pre_visit_order_by_expr(&mut OrderByExpr) post_visit_order_by_expr(&mut OrderByExpr)
    pre_visit_group_by(&mut GroupByExpr) post_visit_group_by(&mut GroupByExpr)
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::SQLiteDialect;
    use sqlparser::parser::Parser;

    use super::*;

    fn query(sql: &str) -> Statement {
        Parser::parse_sql(&SQLiteDialect {}, sql).unwrap().remove(0)
    }

    /// Writes down its calls and breaks at a name.
    #[derive(Default)]
    struct Names {
        seen: Vec<String>,
        last: &'static str,
    }

    impl Visitor for Names {
        type Break = String;

        fn pre_visit_ident(&mut self, name: &Ident) -> ControlFlow<String> {
            self.seen.push(name.value.clone());
            if name.value == self.last { ControlFlow::Break(name.value.clone()) } else { ControlFlow::Continue(()) }
        }

        fn post_visit_select(&mut self, _: &Select) -> ControlFlow<String> {
            self.seen.push("end".to_owned());
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn a_walk_asks_as_the_parsers_own() {
        let statement = query("SELECT a, b FROM t WHERE c = (SELECT d FROM u)");
        for last in ["", "b", "d"] {
            let (mut ours, mut own) = (Names { last, ..Names::default() }, Names { last, ..Names::default() });
            assert_eq!(walk(&statement, &mut ours), statement.visit(&mut own));
            assert_eq!(ours.seen, own.seen);
        }
    }

    #[test]
    fn what_is_visited_can_be_changed() {
        struct Rename;
        impl VisitorMut for Rename {
            type Break = ();

            fn post_visit_ident(&mut self, name: &mut Ident) -> ControlFlow<()> {
                name.value += "1";
                ControlFlow::Continue(())
            }
        }
        let mut statement = query("SELECT a FROM t");
        assert_eq!(walk_mut(&mut statement, &mut Rename), ControlFlow::Continue(()));
        assert_eq!(statement.to_string(), "SELECT a1 FROM t1");
    }
}
