//! What is in a PostgreSQL database by name, and what of it is hidden.

use std::collections::{BTreeSet, HashMap, HashSet};

use postgres::Transaction;

use super::own::{FIRST, Own};
use crate::catalogue::mentions;
use crate::schema::{ColumnInfo, ForeignKey, Schema, Table, View};

/// A table or view of a schema that is not the server's own.
pub(super) struct Relation {
    pub oid: u32,
    pub schema: String,
    pub name: String,
    is_view: bool,
    /// Whether its name without the schema means it.
    found_by_name: bool,
}

impl Relation {
    /// As a statement can name it.
    pub fn shown(&self) -> String {
        if self.found_by_name { self.name.clone() } else { format!("{}.{}", self.schema, self.name) }
    }

    /// The schema, where it has to be named.
    fn named_schema(&self) -> Option<String> {
        (!self.found_by_name).then(|| self.schema.clone())
    }
}

/// Names of table and column, by the server's numbers of both.
type Origins = HashMap<(u32, i16), (String, String)>;

/// Names behind a dot that the server may take for functions, and the visible tables that have columns called so.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub names: BTreeSet<String>,
    columns: BTreeSet<(u32, String)>,
}

impl Attributes {
    /// Those that a table has as columns.
    pub fn of(&self, relation: u32) -> BTreeSet<String> {
        let has = |name: &&String| self.columns.contains(&(relation, (*name).clone()));
        self.names.iter().filter(has).cloned().collect()
    }
}

pub(super) struct Catalogue {
    /// In the order of their making.
    visible: Vec<Relation>,
    hidden: BTreeSet<String>,
    /// Names to be hidden that are not there.
    pub not_there: Vec<String>,
    pub own: Own,
}

/// What is hidden: what is named, views that may read anything, and what reads any of these or shares its rows. A view may
/// read anything where it calls a function that is not the server's, one of the server's that runs statements or reads
/// files, or reads the server's own tables, which tell of all others. Operators of extensions only compute.
const HIDDEN: &str = r"
    WITH RECURSIVE reads(by, of) AS (
        SELECT r.ev_class, d.refobjid FROM pg_rewrite r JOIN pg_depend d
            ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
               AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
        UNION SELECT inhparent, inhrelid FROM pg_inherits
        UNION SELECT inhrelid, inhparent FROM pg_inherits),
    views(oid) AS (SELECT oid FROM pg_class WHERE relkind IN ('v', 'm') AND oid >= $2),
    touched(oid) AS (
        SELECT unnest($1::oid[])
        UNION (
            SELECT v.oid FROM views v JOIN pg_rewrite r ON r.ev_class = v.oid
                JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
            WHERE d.refclassid = 'pg_proc'::regclass OR d.refclassid = 'pg_operator'::regclass AND NOT EXISTS (
                SELECT 1 FROM pg_depend e
                WHERE e.classid = d.refclassid AND e.objid = d.refobjid AND e.deptype = 'e')
            UNION SELECT oid FROM views
            WHERE pg_get_viewdef(oid) ~ '\m(pg_|information_schema\.|lo_get|ts_stat|ts_rewrite)|_to_xml')
        UNION SELECT by FROM reads JOIN touched ON touched.oid = of)
    SELECT oid FROM touched";

impl Catalogue {
    /// Reads the names, and leaves the transaction with a search path on which nothing but the server's own is found. A
    /// table to be hidden may be named with its schema or without, in any case; with it is hidden what reads it by a view,
    /// what shares rows with it by inheritance, and views that may read anything, whether a table is hidden or not.
    pub fn read(transaction: &mut Transaction<'_>, hide: &[String]) -> Result<Self, postgres::Error> {
        // With the path that names are looked up on, on which operators may be anybody's.
        let rows = transaction.query(
            "SELECT oid FROM pg_catalog.pg_class
             WHERE oid OPERATOR(pg_catalog.>=) $1 AND pg_catalog.pg_table_is_visible(oid)",
            &[&FIRST],
        )?;
        let by_name: Result<HashSet<u32>, postgres::Error> = rows.iter().map(|row| row.try_get(0)).collect();
        let by_name = by_name?;
        transaction.batch_execute("SET LOCAL search_path = pg_catalog, pg_temp")?;
        let rows = transaction.query(
            "SELECT c.oid, n.nspname::text, c.relname::text, c.relkind IN ('v', 'm'),
                    has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
             FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             WHERE c.relkind IN ('r', 'v', 'm', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
             ORDER BY c.oid",
            &[],
        )?;
        let (mut relations, mut readable) = (Vec::new(), BTreeSet::new());
        for row in &rows {
            let oid: u32 = row.try_get(0)?;
            relations.push(Relation {
                oid,
                schema: row.try_get(1)?,
                name: row.try_get(2)?,
                is_view: row.try_get(3)?,
                found_by_name: by_name.contains(&oid),
            });
            if row.try_get(4)? {
                readable.insert(oid);
            }
        }
        let named = |relation: &Relation, hidden: &str| {
            hidden.eq_ignore_ascii_case(&relation.name)
                || hidden.eq_ignore_ascii_case(&format!("{}.{}", relation.schema, relation.name))
        };
        let not_there = hide.iter().filter(|name| !relations.iter().any(|relation| named(relation, name))).cloned();
        let not_there = not_there.collect();
        let first: Vec<u32> = relations
            .iter()
            .filter(|relation| hide.iter().any(|name| named(relation, name)))
            .map(|relation| relation.oid)
            .collect();
        let mut touched = BTreeSet::new();
        if !hide.is_empty() {
            for row in &transaction.query(HIDDEN, &[&first, &FIRST])? {
                touched.insert(row.try_get::<_, u32>(0)?);
            }
        }
        let hidden = relations.iter().filter(|relation| touched.contains(&relation.oid));
        let hidden = hidden.map(|relation| relation.name.clone()).collect();
        relations.retain(|relation| readable.contains(&relation.oid) && !touched.contains(&relation.oid));
        Ok(Self { visible: relations, hidden, not_there, own: Own::read(transaction)? })
    }

    /// The visible table or view that a name means, with its schema or without.
    pub fn find(&self, schema: Option<&str>, name: &str) -> Option<&Relation> {
        self.visible.iter().find(|relation| {
            relation.name == name && schema.map_or(relation.found_by_name, |schema| relation.schema == schema)
        })
    }

    /// Which of a statement's names behind a dot the server may take for functions or types of its own.
    pub fn attributes(
        &self,
        transaction: &mut Transaction<'_>,
        names: &BTreeSet<String>,
    ) -> Result<Attributes, postgres::Error> {
        let mut found = Attributes::default();
        if names.is_empty() {
            return Ok(found);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let rows = transaction.query(
            "SELECT proname::text FROM pg_proc
             WHERE pronamespace = 'pg_catalog'::regnamespace AND proname::text = ANY($1)
             UNION SELECT typname::text FROM pg_type
             WHERE typnamespace = 'pg_catalog'::regnamespace AND typname::text = ANY($1)",
            &[&names],
        )?;
        for row in &rows {
            found.names.insert(row.try_get(0)?);
        }
        if !found.names.is_empty() {
            let oids: Vec<u32> = self.visible.iter().map(|relation| relation.oid).collect();
            let rows = transaction.query(
                "SELECT attrelid, attname::text FROM pg_attribute
                 WHERE attrelid = ANY($1) AND attname::text = ANY($2) AND NOT attisdropped",
                &[&oids, &names],
            )?;
            for row in &rows {
                found.columns.insert((row.try_get(0)?, row.try_get(1)?));
            }
        }
        Ok(found)
    }

    /// Tables and columns by the server's numbers.
    pub fn columns(&self, transaction: &mut Transaction<'_>, keys: &[(u32, i16)]) -> Result<Origins, postgres::Error> {
        let tables: Vec<u32> = keys.iter().map(|(table, _)| *table).collect::<BTreeSet<_>>().into_iter().collect();
        let mut found = HashMap::new();
        if tables.is_empty() {
            return Ok(found);
        }
        let rows = transaction.query(
            "SELECT attrelid, attnum, attname::text FROM pg_catalog.pg_attribute WHERE attrelid = ANY($1)",
            &[&tables],
        )?;
        for row in &rows {
            let oid: u32 = row.try_get(0)?;
            if let Some(relation) = self.visible.iter().find(|relation| relation.oid == oid) {
                found.insert((oid, row.try_get(1)?), (relation.shown(), row.try_get(2)?));
            }
        }
        Ok(found)
    }

    /// The columns of primary keys by the server's number of the table, of tables that can be seen. A table that others
    /// inherit from shows their rows too, among which a key may come again: it has none.
    pub fn keys(&self, transaction: &mut Transaction<'_>) -> Result<HashMap<u32, Vec<String>>, postgres::Error> {
        let oids: Vec<u32> = self.visible.iter().map(|relation| relation.oid).collect();
        let rows = transaction.query(
            "SELECT p.conrelid,
                    ARRAY(SELECT a.attname::text FROM unnest(p.conkey) WITH ORDINALITY k(n, place)
                          JOIN pg_catalog.pg_attribute a ON a.attrelid = p.conrelid AND a.attnum = k.n ORDER BY place)
             FROM pg_catalog.pg_constraint p JOIN pg_catalog.pg_class c ON c.oid = p.conrelid
             WHERE p.contype = 'p' AND p.conrelid = ANY($1) AND NOT (c.relkind = 'r' AND c.relhassubclass)",
            &[&oids],
        )?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// The schema of what is visible.
    pub fn schema(&self, transaction: &mut Transaction<'_>) -> Result<Schema, postgres::Error> {
        let oids: Vec<u32> = self.visible.iter().map(|relation| relation.oid).collect();
        let mut columns: HashMap<u32, Vec<ColumnInfo>> = HashMap::new();
        let rows = transaction.query(
            "SELECT attrelid, attname::text, pg_catalog.format_type(atttypid, atttypmod), attnotnull, attgenerated <> ''
             FROM pg_catalog.pg_attribute WHERE attrelid = ANY($1) AND attnum > 0 AND NOT attisdropped
             ORDER BY attrelid, attnum",
            &[&oids],
        )?;
        for row in &rows {
            columns.entry(row.try_get(0)?).or_default().push(ColumnInfo {
                name: row.try_get(1)?,
                declared_type: row.try_get(2)?,
                not_null: row.try_get(3)?,
                generated: row.try_get(4)?,
            });
        }
        let (mut primary, mut foreign): (HashMap<u32, Vec<String>>, HashMap<u32, Vec<ForeignKey>>) = Default::default();
        let rows = transaction.query(
            "SELECT conrelid, contype::text, confrelid,
                    ARRAY(SELECT a.attname::text FROM unnest(conkey) WITH ORDINALITY k(n, place)
                          JOIN pg_catalog.pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.n ORDER BY place),
                    ARRAY(SELECT a.attname::text FROM unnest(confkey) WITH ORDINALITY k(n, place)
                          JOIN pg_catalog.pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.n ORDER BY place)
             FROM pg_catalog.pg_constraint WHERE conrelid = ANY($1) AND contype IN ('p', 'f') ORDER BY oid",
            &[&oids],
        )?;
        for row in &rows {
            let (table, kind, to): (u32, String, u32) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            let of: Vec<String> = row.try_get(3)?;
            if kind == "p" {
                primary.insert(table, of);
            } else if let Some(to) = self.visible.iter().find(|relation| relation.oid == to) {
                let referenced = row.try_get(4)?;
                let key = ForeignKey { columns: of, table: to.shown(), referenced, dangling: false };
                foreign.entry(table).or_default().push(key);
            }
        }
        let views: Vec<u32> = self.visible.iter().filter(|of| of.is_view).map(|of| of.oid).collect();
        let mut statements: HashMap<u32, String> = HashMap::new();
        let rows = transaction
            .query("SELECT oid, pg_catalog.pg_get_viewdef(oid) FROM unnest($1::oid[]) AS views(oid)", &[&views])?;
        for row in &rows {
            // None of a view that was dropped just now.
            if let Some(sql) = row.try_get::<_, Option<String>>(1)? {
                statements.insert(row.try_get(0)?, sql);
            }
        }
        let hidden: HashSet<String> = self.hidden.iter().map(|name| name.to_ascii_lowercase()).collect();
        let mut schema = Schema { tables: Vec::new(), views: Vec::new() };
        for relation in &self.visible {
            let (name, named) = (relation.shown(), relation.named_schema());
            let columns = columns.remove(&relation.oid).unwrap_or_default();
            if relation.is_view {
                let sql = statements.remove(&relation.oid).filter(|sql| !mentions(sql, &hidden));
                schema.views.push(View { name, schema: named, columns, sql, problem: None });
            } else {
                schema.tables.push(Table {
                    name,
                    schema: named,
                    columns,
                    primary_key: primary.remove(&relation.oid).unwrap_or_default(),
                    foreign_keys: foreign.remove(&relation.oid).unwrap_or_default(),
                    module: None,
                    problem: None,
                });
            }
        }
        Ok(schema)
    }
}
