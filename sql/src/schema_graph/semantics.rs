//! What a schema does not say of itself: names that people use, descriptions, relations, hidden fields.
//!
//! ```toml
//! [tables.gv]
//! name = "vehicle"
//! synonyms = ["car", "truck"]
//! description = "one row for each vehicle in a crash"
//!
//! [tables.gv.columns.activate]
//! name = "system activation"
//! context = ["equip", "avail"]   # has a meaning together with these alone
//!
//! [tables.gv.columns.vin]
//! hidden = true
//!
//! [tables.gv.columns.change]     # the table has no column of this name
//! expression = "speed_after - speed_before"
//!
//! [[relations]]
//! from = "gv"
//! from_columns = ["caseid"]
//! to = "crash"
//! to_columns = ["caseid"]
//! cardinality = "many-to-one"
//! role = "involved"
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// What a schema does not say of itself. Names of tables and columns are looked up in any case.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Semantics {
    /// By the name of a table or view.
    pub tables: BTreeMap<String, TableSemantics>,
    /// What joins tables beside declared foreign keys.
    pub relations: Vec<Relation>,
}

/// What a table does not say of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableSemantics {
    /// What people call it; its own name without.
    pub name: Option<String>,
    /// What else people call it.
    pub synonyms: Vec<String>,
    /// What it holds.
    pub description: Option<String>,
    /// Left out of the graph, with all that leads to it.
    pub hidden: bool,
    /// By the name of a column.
    pub columns: BTreeMap<String, ColumnSemantics>,
}

/// What a column does not say of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnSemantics {
    /// What people call it; its own name without.
    pub name: Option<String>,
    /// What else people call it.
    pub synonyms: Vec<String>,
    /// What it holds.
    pub description: Option<String>,
    /// Never proposed for a question; keys still join by it.
    pub hidden: bool,
    /// Columns of the table without which it has no meaning.
    pub context: Vec<String>,
    /// Of a field that the table does not have: what it is calculated by, in SQL, from the columns of a row.
    pub expression: Option<String>,
}

/// Something that joins two tables.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Relation {
    /// The table that refers.
    pub from: String,
    /// Its columns.
    pub from_columns: Vec<String>,
    /// The table it refers to.
    pub to: String,
    /// Its columns, one for each of the others.
    pub to_columns: Vec<String>,
    /// How many rows meet how many.
    pub cardinality: Cardinality,
    /// What the one is for the other, where there are several relations: "home", "billing".
    pub role: Option<String>,
}

/// How many rows of the table that refers meet how many of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cardinality {
    /// Many rows refer to one.
    #[default]
    ManyToOne,
    /// One row refers to one.
    OneToOne,
    /// Many rows meet many.
    ManyToMany,
}

impl Cardinality {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::ManyToOne => "many to one",
            Self::OneToOne => "one to one",
            Self::ManyToMany => "many to many",
        }
    }
}

/// A semantic file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SemanticsError {
    /// No TOML, or a value of another kind.
    #[error("the semantic file: {message}")]
    Syntax {
        /// What is wrong, and where.
        message: String,
    },
    /// A key that nothing reads.
    #[error("the semantic file: unknown key {key}; the nearest known key is {nearest}")]
    UnknownKey {
        /// The whole path of the key.
        key: String,
        /// The most similar one that there is in its place.
        nearest: String,
    },
    /// A table or column that the schema does not have.
    #[error("the semantic file: {place} names {name:?}, which is not there{}", hint(.nearest))]
    UnknownName {
        /// Where the name stands.
        place: String,
        /// The name.
        name: String,
        /// The most similar one that there is.
        nearest: Option<String>,
    },
    /// A calculated field that cannot be.
    #[error("the semantic file: {place}.expression: {message}")]
    Expression {
        /// The field's place.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// A relation that does not name as many columns on both sides, or none.
    #[error(
        "the semantic file: the relation from {from} to {to} names {left} and {right} columns; expected as many on \
         both sides, at least one"
    )]
    Columns {
        /// The table that refers.
        from: String,
        /// The other.
        to: String,
        /// Columns named of the first.
        left: usize,
        /// Columns named of the second.
        right: usize,
    },
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; the nearest is {name:?}"))
}

/// The most similar of some names.
pub(crate) fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let name = name.to_lowercase();
    known.into_iter().min_by_key(|known| strsim::damerau_levenshtein(&name, &known.to_lowercase())).map(str::to_owned)
}

const FILE: [&str; 2] = ["tables", "relations"];
const OF_TABLE: [&str; 5] = ["name", "synonyms", "description", "hidden", "columns"];
const OF_COLUMN: [&str; 6] = ["name", "synonyms", "description", "hidden", "context", "expression"];
const OF_RELATION: [&str; 6] = ["from", "from_columns", "to", "to_columns", "cardinality", "role"];

impl Semantics {
    /// What this one says, and of the rest what another one does.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        for (name, of) in other.tables {
            let known = self.tables.keys().find(|known| known.to_lowercase() == name.to_lowercase()).cloned();
            let own = self.tables.entry(known.unwrap_or(name)).or_default();
            own.name = own.name.take().or(of.name);
            own.description = own.description.take().or(of.description);
            own.synonyms.extend(of.synonyms);
            own.hidden |= of.hidden;
            for (name, of) in of.columns {
                let known = own.columns.keys().find(|known| known.to_lowercase() == name.to_lowercase()).cloned();
                let own = own.columns.entry(known.unwrap_or(name)).or_default();
                own.name = own.name.take().or(of.name);
                own.description = own.description.take().or(of.description);
                own.synonyms.extend(of.synonyms);
                own.hidden |= of.hidden;
                own.context.extend(of.context);
                own.expression = own.expression.take().or(of.expression);
            }
        }
        // A relation that comes later says more of one that is there.
        let mut relations = other.relations;
        relations.append(&mut self.relations);
        self.relations = relations;
        self
    }

    /// Reads the TOML that the head of this module shows.
    ///
    /// # Errors
    /// [`SemanticsError`] where it is no TOML, or has a key that nothing reads.
    pub fn parse(text: &str) -> Result<Self, SemanticsError> {
        let syntax =
            |error: toml::de::Error| SemanticsError::Syntax { message: error.to_string().trim_end().to_owned() };
        let table: Table = toml::from_str(text).map_err(syntax)?;
        check("", &table, &FILE)?;
        if let Some(Value::Table(tables)) = table.get("tables") {
            for (name, value) in tables {
                let Value::Table(of) = value else { continue };
                check(&format!("tables.{name}."), of, &OF_TABLE)?;
                let Some(Value::Table(columns)) = of.get("columns") else { continue };
                for (column, value) in columns {
                    let Value::Table(of) = value else { continue };
                    check(&format!("tables.{name}.columns.{column}."), of, &OF_COLUMN)?;
                }
            }
        }
        if let Some(Value::Array(relations)) = table.get("relations") {
            for (place, value) in relations.iter().enumerate() {
                let Value::Table(of) = value else { continue };
                check(&format!("relations[{place}]."), of, &OF_RELATION)?;
            }
        }
        toml::from_str(text).map_err(syntax)
    }
}

fn check(prefix: &str, table: &Table, known: &[&str]) -> Result<(), SemanticsError> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(SemanticsError::UnknownKey {
            key: format!("{prefix}{key}"),
            nearest: format!("{prefix}{}", nearest(key, known.iter().copied()).unwrap_or_default()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_name_the_nearest_known_one() {
        let message = |text: &str| Semantics::parse(text).unwrap_err().to_string();
        assert_eq!(
            message("[tables.a]\nsynonym = []"),
            "the semantic file: unknown key tables.a.synonym; the nearest known key is tables.a.synonyms"
        );
        assert!(message("[tables.a.columns.b]\nhiden = true").ends_with("is tables.a.columns.b.hidden"));
        assert!(message("[[relation]]").ends_with("is relations"));
        assert!(message("[[relations]]\nform = 'a'").ends_with("is relations[0].from"));
        assert!(message("[tables.a]\nhidden = 3").contains("invalid type"));
        assert!(message("[[relations]]\ncardinality = 'few'").contains("many-to-one"));
        assert!(message("a = ").contains("TOML parse error"));
    }
}
