//! Which names of a statement are those of common table expressions, while it is walked through.

use sqlparser::ast::{Ident, Query};

/// The names of common table expressions that can be seen from where a walk through a statement is.
///
/// Each query is entered before what is in it is visited and left after that; its `WITH` is visited first, as the
/// parser's visitors do.
#[derive(Debug, Default)]
pub(crate) struct LocalNames {
    around: Vec<Around>,
}

/// A query around the place.
#[derive(Debug)]
struct Around {
    names: Vec<String>,
    recursive: bool,
    /// How many of the queries right in it were entered; the first ones are its expressions.
    entered: usize,
}

impl LocalNames {
    /// A query begins; `spelled` gives a name as the database takes it.
    pub(crate) fn enter(&mut self, query: &Query, spelled: impl Fn(&Ident) -> String) {
        if let Some(around) = self.around.last_mut() {
            around.entered += 1;
        }
        let expressions = query.with.iter().flat_map(|with| &with.cte_tables);
        self.around.push(Around {
            names: expressions.map(|table| spelled(&table.alias.name)).collect(),
            recursive: query.with.as_ref().is_some_and(|with| with.recursive),
            entered: 0,
        });
    }

    /// The query that was entered last ends.
    pub(crate) fn leave(&mut self) {
        self.around.pop();
    }

    /// Whether a name means a common table expression here.
    pub(crate) fn has(&self, name: &str) -> bool {
        let innermost = self.around.len().saturating_sub(1);
        self.around.iter().enumerate().any(|(at, around)| {
            let within_expression = at < innermost && around.entered <= around.names.len();
            // An expression sees those before it, of a recursive `WITH` all.
            let seen = match within_expression && !around.recursive {
                true => around.entered.saturating_sub(1),
                false => around.names.len(),
            };
            around.names.iter().take(seen).any(|known| known == name)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use sqlparser::ast::{ObjectName, Visitor};
    use sqlparser::dialect::PostgreSqlDialect;
    use sqlparser::parser::Parser;

    use super::*;

    #[derive(Default)]
    struct Tables {
        local: LocalNames,
        found: Vec<String>,
    }

    impl Visitor for Tables {
        type Break = ();

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            self.local.enter(query, |name| name.value.clone());
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.local.leave();
            ControlFlow::Continue(())
        }

        fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
            let name = name.to_string();
            if !self.local.has(&name) {
                self.found.push(name);
            }
            ControlFlow::Continue(())
        }
    }

    /// The names that mean tables, in the order of the statement.
    fn tables(sql: &str) -> String {
        let mut tables = Tables::default();
        for statement in Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap() {
            let _ = crate::walk::walk(&statement, &mut tables);
        }
        tables.found.join(" ")
    }

    #[test]
    fn an_expression_is_seen_by_what_comes_after_it() {
        for (sql, wanted) in [
            ("WITH a AS (SELECT 1) SELECT 1 FROM a, b", "b"),
            ("WITH a AS (SELECT 1 FROM a) SELECT 1 FROM a", "a"),
            ("WITH a AS (SELECT 1 FROM b), b AS (SELECT 1 FROM a) SELECT 1 FROM a, b", "b"),
            ("WITH RECURSIVE a AS (SELECT 1 FROM b), b AS (SELECT 1 FROM b) SELECT 1", ""),
            ("SELECT 1 FROM (WITH a AS (SELECT 1) SELECT 1 FROM a) x, a", "a"),
            ("WITH a AS (SELECT 1) SELECT (SELECT 1 FROM a) FROM (SELECT 1 FROM (SELECT 1 FROM a) y) x", ""),
            ("WITH a AS (SELECT 1) (SELECT 1 FROM a) UNION SELECT 1 FROM a ORDER BY (SELECT 1 FROM a)", ""),
            ("SELECT 1 FROM a WHERE EXISTS (WITH a AS (SELECT 1 FROM a) SELECT 1 FROM a)", "a a"),
            ("WITH a AS (WITH b AS (SELECT 1 FROM a) SELECT 1 FROM b), b AS (SELECT 1 FROM a) SELECT 1 FROM b", "a"),
        ] {
            assert_eq!(tables(sql), wanted, "{sql}");
        }
    }
}
