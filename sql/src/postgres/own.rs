//! What of a database runs functions of its users where values are only looked at.
//!
//! Functions and operators are found by their names, which the search path decides, but casts are not: a value of a type
//! is cast where something else is expected, or where it is written as a text. Values that become those of a domain are
//! checked by its conditions. Functions of extensions are trusted with both.

use std::collections::BTreeSet;

use postgres::Transaction;

use crate::error::QueryError;

/// The first number of what is not the server's own.
pub(super) const FIRST: u32 = 16384;

/// Casts by functions of users: from and to.
const CASTS: &str = "
    SELECT c.castsource, c.casttarget, c.castsource::regtype::text, c.casttarget::regtype::text
    FROM pg_cast c WHERE c.castfunc >= $1 AND NOT EXISTS (
        SELECT 1 FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = c.castfunc AND e.deptype = 'e')";

/// Domains with conditions that call functions of users, also by operators.
const DOMAINS: &str = "
    SELECT k.contypid FROM pg_constraint k JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = k.oid
        AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
    WHERE k.contypid <> 0 AND d.refobjid >= $1 AND NOT EXISTS (
        SELECT 1 FROM pg_depend e WHERE e.classid = d.refclassid AND e.objid = d.refobjid AND e.deptype = 'e')";

/// Tables and views with values of some types: arrays, domains, ranges and rows are of what is in them.
const RELATIONS: &str = "
    WITH RECURSIVE parts(whole, part) AS (
        SELECT oid, typelem FROM pg_type WHERE typelem <> 0
        UNION ALL SELECT oid, typbasetype FROM pg_type WHERE typbasetype <> 0
        UNION ALL SELECT rngtypid, rngsubtype FROM pg_range
        UNION ALL SELECT (to_jsonb(r) ->> 'rngmultitypid')::oid, rngtypid FROM pg_range r
        UNION ALL SELECT c.reltype, a.atttypid FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
            WHERE a.attnum > 0 AND NOT a.attisdropped AND c.reltype <> 0),
    own(oid) AS (SELECT unnest($1::oid[]) UNION SELECT whole FROM own JOIN parts ON part = own.oid)
    SELECT c.oid FROM pg_class c JOIN own ON own.oid = c.reltype";

/// What of a database runs functions of its users.
pub(super) struct Own {
    /// Tables and views with values that are cast or checked so.
    relations: BTreeSet<u32>,
    /// A cast from one of the server's types to another, which any statement may make.
    cast: Option<String>,
}

impl Own {
    /// Reads it; the search path is the server's own.
    pub fn read(transaction: &mut Transaction<'_>) -> Result<Self, postgres::Error> {
        let mut own = Self { relations: BTreeSet::new(), cast: None };
        let mut types: BTreeSet<u32> = BTreeSet::new();
        for row in &transaction.query(CASTS, &[&FIRST])? {
            let (from, to): (u32, u32) = (row.try_get(0)?, row.try_get(1)?);
            if from < FIRST && to < FIRST {
                let (from, to): (String, String) = (row.try_get(2)?, row.try_get(3)?);
                own.cast = Some(format!("{from} to {to}"));
            }
            types.extend([from, to].into_iter().filter(|of| *of >= FIRST));
        }
        for row in &transaction.query(DOMAINS, &[&FIRST])? {
            types.insert(row.try_get(0)?);
        }
        if !types.is_empty() {
            let types: Vec<u32> = types.into_iter().collect();
            for row in &transaction.query(RELATIONS, &[&types])? {
                own.relations.insert(row.try_get(0)?);
            }
        }
        Ok(own)
    }

    /// Whether a statement may be sent at all.
    ///
    /// # Errors
    /// [`QueryError::Refused`] where any statement could call a function.
    pub fn allow(&self) -> Result<(), QueryError> {
        match &self.cast {
            Some(cast) => Err(QueryError::refused(format!(
                "the database casts {cast} by a function of its own, which any statement could call"
            ))),
            None => Ok(()),
        }
    }

    /// Whether a statement that reads a table or view could call a function.
    pub fn is_in(&self, relation: u32) -> bool {
        self.relations.contains(&relation)
    }
}
