//! Tables and views of definitions that are as if they were not there.

use std::collections::HashSet;

use super::ddl::SqlDialect;
use super::lineage::tables_read;
use super::problem::Problem;
use super::semantics::Semantics;
use crate::catalogue::mentions;
use crate::schema::{Schema, View};

/// What is hidden of a schema that no database has: what was named, in any case, and the views that read it, also through
/// others. A view that cannot be read may read anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// In small letters.
    names: HashSet<String>,
}

impl Hidden {
    /// What is hidden where these tables and views are; `dialect` is that of the views.
    pub fn of(schema: &Schema, hide: &[String], dialect: SqlDialect) -> Self {
        let mut hidden = Self { names: hide.iter().map(|name| name.to_lowercase()).collect() };
        if hidden.names.is_empty() {
            return hidden;
        }
        let reads: Vec<_> = schema.views.iter().map(|view| (view, tables_read_by(view, dialect))).collect();
        loop {
            let more: Vec<String> = reads
                .iter()
                .filter(|(view, reads)| !hidden.has(&view.name) && hidden.is_read(view, reads.as_ref()))
                .map(|(view, _)| view.name.to_lowercase())
                .collect();
            if more.is_empty() {
                return hidden;
            }
            hidden.names.extend(more);
        }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(&name.to_lowercase())
    }

    fn is_read(&self, view: &View, reads: Option<&HashSet<String>>) -> bool {
        match (reads, &view.sql) {
            (Some(reads), _) => !reads.is_disjoint(&self.names),
            (None, Some(sql)) => mentions(&sql.to_lowercase(), &self.names),
            (None, None) => true,
        }
    }

    /// What may be seen of the schema. A foreign key to a hidden table is left out.
    pub fn schema(&self, schema: &Schema) -> Schema {
        let mut seen = schema.clone();
        seen.tables.retain(|table| !self.has(&table.name));
        seen.views.retain(|view| !self.has(&view.name));
        for table in &mut seen.tables {
            table.foreign_keys.retain(|key| !self.has(&key.table));
        }
        seen
    }

    /// What is said of what may be seen.
    pub fn semantics(&self, semantics: &Semantics) -> Semantics {
        let mut seen = semantics.clone();
        seen.tables.retain(|table, _| !self.has(table));
        seen.relations.retain(|relation| !self.has(&relation.from) && !self.has(&relation.to));
        seen
    }

    /// The problems that name nothing hidden.
    pub fn problems(&self, problems: &[Problem]) -> Vec<Problem> {
        let names = |problem: &&Problem| mentions(&problem.to_string().to_lowercase(), &self.names);
        problems.iter().filter(|problem| !names(problem)).cloned().collect()
    }
}

/// In small letters.
fn tables_read_by(view: &View, dialect: SqlDialect) -> Option<HashSet<String>> {
    let read = tables_read(view.sql.as_deref()?, dialect)?;
    Some(read.into_iter().map(|name| name.to_lowercase()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_graph::SchemaGraph;

    #[test]
    fn views_of_a_hidden_table_are_hidden_and_nothing_names_it() {
        let ddl = "CREATE TABLE secret (id INT PRIMARY KEY, pin TEXT);
            CREATE TABLE seen (id INT PRIMARY KEY, a INT REFERENCES secret (id), b INT REFERENCES seen (id));
            CREATE VIEW pins AS SELECT pin FROM Secret;
            CREATE VIEW over_pins AS SELECT * FROM pins;
            CREATE VIEW counted AS SELECT (SELECT count(*) FROM shop.secret) AS n FROM seen;
            CREATE VIEW behind AS WITH secret AS (SELECT * FROM secret) SELECT * FROM secret;
            CREATE TABLE copied AS SELECT * FROM over_pins;
            CREATE VIEW says AS SELECT 'secret' AS word, id FROM seen;
            CREATE VIEW own AS WITH secret AS (SELECT id FROM seen) SELECT id FROM secret;";
        let (schema, problems) = Schema::from_ddl(ddl, SqlDialect::Generic).unwrap();
        assert_eq!((problems.len(), schema.views.len()), (0, 7));
        let hidden = Hidden::of(&schema, &["SECRET".to_owned()], SqlDialect::Generic);
        let seen = hidden.schema(&schema);
        let names: Vec<&String> =
            seen.tables.iter().map(|table| &table.name).chain(seen.views.iter().map(|view| &view.name)).collect();
        assert_eq!(names, ["seen", "says", "own"]);
        assert_eq!(seen.tables[0].foreign_keys.len(), 1);
        let graph = SchemaGraph::new(&seen, &Semantics::default(), SqlDialect::Generic).unwrap();
        assert!(graph.problems().is_empty(), "{:?}", graph.problems());
        let named = [
            Problem::Said { message: "secret.pin is described and not there".to_owned() },
            Problem::CyclicView { view: "seen".to_owned() },
        ];
        assert_eq!(hidden.problems(&named), named[1..]);
        let nothing = Hidden::of(&schema, &[], SqlDialect::Generic);
        assert_eq!((nothing.schema(&schema), nothing.problems(&named)), (schema, named.to_vec()));
    }

    #[test]
    fn a_view_that_cannot_be_read_may_read_anything() {
        let view = |name: &str, sql: Option<&str>| View {
            name: name.to_owned(),
            schema: None,
            columns: Vec::new(),
            sql: sql.map(str::to_owned),
            problem: None,
        };
        let schema = Schema {
            tables: Vec::new(),
            views: vec![
                view("unknown", None),
                view("broken", Some("SELECT FROM WHERE \"Secret\"")),
                view("other", Some("SELECT FROM WHERE")),
            ],
        };
        let hidden = Hidden::of(&schema, &["secret".to_owned()], SqlDialect::Generic);
        let names: Vec<String> = hidden.schema(&schema).views.into_iter().map(|view| view.name).collect();
        assert_eq!(names, ["other"]);
    }
}
