//! Schema files of published data sets: Spider and BIRD (`tables.json`), BEAVER (`tables.json`, `dw_join_keys.json`).

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use tabsegnet_sql::schema_graph::{Cardinality, ColumnSemantics, Relation, Semantics, TableSemantics};
use tabsegnet_sql::{ColumnInfo, ForeignKey, Schema, Table};

const FORM: &str = "the schema file is not of the published form";

/// A database of a published schema file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its name.
    pub database: String,
    /// Its tables.
    pub schema: Schema,
    /// The names that the file has for people, and the joins that it does not call foreign keys.
    pub semantics: Semantics,
}

#[derive(Deserialize)]
struct SpiderDatabase {
    db_id: String,
    table_names_original: Vec<String>,
    #[serde(default)]
    table_names: Vec<String>,
    column_names_original: Vec<(i64, String)>,
    #[serde(default)]
    column_names: Vec<(i64, String)>,
    #[serde(default)]
    column_types: Vec<String>,
    primary_keys: Vec<KeyPlaces>,
    foreign_keys: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum KeyPlaces {
    One(usize),
    Several(Vec<usize>),
}

impl KeyPlaces {
    fn places(&self) -> &[usize] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several,
        }
    }
}

/// Reads `tables.json` of Spider or BIRD. Names that differ from those of the database are what people call things.
/// Places that are not there are passed over.
pub fn spider(text: &str) -> Result<Vec<Published>> {
    let databases: Vec<SpiderDatabase> = serde_json::from_str(text).context(FORM)?;
    Ok(databases.into_iter().map(SpiderDatabase::published).collect())
}

impl SpiderDatabase {
    fn published(self) -> Published {
        let mut semantics = Semantics::default();
        let mut tables: Vec<Table> = self.table_names_original.iter().map(|name| empty(name)).collect();
        for (table, name) in self.table_names_original.iter().zip(&self.table_names) {
            semantics.tables.insert(table.clone(), TableSemantics { name: Some(name.clone()), ..Default::default() });
        }
        // The table and name of each column's place.
        let place = |at: usize| -> Option<(usize, &String)> {
            let (table, name) = self.column_names_original.get(at)?;
            Some((usize::try_from(*table).ok()?, name))
        };
        for at in 0..self.column_names_original.len() {
            let Some((table, name)) = place(at) else { continue };
            let declared_type = self.column_types.get(at).cloned().unwrap_or_default();
            // Spider's "others" says nothing.
            let declared_type = if declared_type == "time" { "datetime".to_owned() } else { declared_type };
            let Some(of) = tables.get_mut(table) else { continue };
            of.columns.push(ColumnInfo { name: name.clone(), declared_type, ..ColumnInfo::default() });
            if let Some((_, said)) = self.column_names.get(at) {
                let column = ColumnSemantics { name: Some(said.clone()), ..Default::default() };
                semantics.tables.entry(of.name.clone()).or_default().columns.insert(name.clone(), column);
            }
        }
        for at in self.primary_keys.iter().flat_map(|key| key.places()) {
            let Some((table, name)) = place(*at) else { continue };
            if let Some(of) = tables.get_mut(table) {
                of.primary_key.push(name.clone());
            }
        }
        for &(from, to) in &self.foreign_keys {
            let (Some((table, column)), Some((other, referenced))) = (place(from), place(to)) else { continue };
            let Some(other) = self.table_names_original.get(other) else { continue };
            if let Some(of) = tables.get_mut(table) {
                of.foreign_keys.push(ForeignKey {
                    columns: vec![column.clone()],
                    table: other.clone(),
                    referenced: vec![referenced.clone()],
                    dangling: false,
                });
            }
        }
        let mut schema = Schema { tables, views: Vec::new() };
        schema.settle_foreign_keys();
        Published { database: self.db_id, schema, semantics }
    }
}

fn empty(name: &str) -> Table {
    Table { name: name.to_owned(), ..Table::default() }
}

#[derive(Deserialize)]
struct BeaverTable {
    db_id: String,
    table_name_original: String,
    column_names_original: Vec<String>,
    #[serde(default)]
    column_types: Vec<String>,
    primary_key: Option<Vec<String>>,
    foreign_key: Option<Vec<BeaverKey>>,
}

#[derive(Deserialize)]
struct BeaverKey {
    column_name: String,
    referenced_table_name: String,
    referenced_column_name: String,
}

/// Reads BEAVER's `tables.json`; `joins` is the text of `dw_join_keys.json`, pairs of `TABLE.COLUMN` that may be joined
/// in the database `dw`, which declares no keys. A pair of which one side is not there is passed over.
pub fn beaver(text: &str, joins: Option<&str>) -> Result<Vec<Published>> {
    // A map keeps the order of names, the file's is of no meaning.
    let all: BTreeMap<String, BeaverTable> = serde_json::from_str(text).context(FORM)?;
    let pairs: Vec<(String, String)> = joins.map(serde_json::from_str).transpose().context(FORM)?.unwrap_or_default();
    let mut found: BTreeMap<String, Published> = BTreeMap::new();
    for of in all.into_values() {
        let published = found.entry(of.db_id.clone()).or_insert_with(|| Published {
            database: of.db_id.clone(),
            schema: Schema { tables: Vec::new(), views: Vec::new() },
            semantics: Semantics::default(),
        });
        let types = of.column_types.into_iter().chain(std::iter::repeat(String::new()));
        let column = |(name, declared_type)| ColumnInfo { name, declared_type, ..ColumnInfo::default() };
        let key = |key: BeaverKey| ForeignKey {
            columns: vec![key.column_name],
            table: key.referenced_table_name.rsplit("#sep#").next().unwrap_or_default().to_owned(),
            referenced: vec![key.referenced_column_name],
            dangling: false,
        };
        published.schema.tables.push(Table {
            columns: of.column_names_original.into_iter().zip(types).map(column).collect(),
            primary_key: of.primary_key.unwrap_or_default(),
            foreign_keys: of.foreign_key.unwrap_or_default().into_iter().map(key).collect(),
            ..empty(&of.table_name_original)
        });
    }
    for published in found.values_mut() {
        published.schema.settle_foreign_keys();
    }
    if let Some(dw) = found.get_mut("dw") {
        let has = |name: &str, column: &str| {
            dw.schema.tables.iter().any(|table| {
                table.name.eq_ignore_ascii_case(name)
                    && table.columns.iter().any(|known| known.name.eq_ignore_ascii_case(column))
            })
        };
        let split = |id: &str| -> Option<(String, String)> {
            let (table, column) = id.split_once('.')?;
            has(table, column).then(|| (table.to_owned(), column.to_owned()))
        };
        let relation = |(a, b): &(String, String)| {
            let ((from, from_column), (to, to_column)) = (split(a)?, split(b)?);
            Some(Relation {
                from,
                from_columns: vec![from_column],
                to,
                to_columns: vec![to_column],
                cardinality: Cardinality::ManyToMany,
                role: None,
            })
        };
        dw.semantics.relations = pairs.iter().filter_map(relation).collect();
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_names_of_spider() {
        let text = r#"[{"db_id": "d", "table_names_original": ["A", "B"], "table_names": ["a thing", "b"],
            "column_names_original": [[-1, "*"], [0, "Id"], [1, "AId"], [1, "Nr"]],
            "column_names": [[-1, "*"], [0, "id"], [1, "a id"], [1, "number"]],
            "column_types": ["text", "number", "number", "time"],
            "primary_keys": [1, [2, 3], 99], "foreign_keys": [[2, 1], [2, 77]]}]"#;
        let [found] = spider(text).unwrap().try_into().unwrap();
        let [a, b] = found.schema.tables.as_slice() else { panic!() };
        assert_eq!(
            (a.primary_key.as_slice(), b.primary_key.as_slice()),
            (&["Id".into()][..], &["AId".into(), "Nr".into()][..])
        );
        assert_eq!((b.foreign_keys[0].table.as_str(), b.foreign_keys[0].dangling), ("A", false));
        assert_eq!(found.semantics.tables["B"].columns["Nr"].name.as_deref(), Some("number"));
        assert!(spider("{}").is_err());
    }

    #[test]
    fn joins_of_beaver_are_relations() {
        let text = r#"{"dw#sep#A": {"db_id": "dw", "table_name_original": "A", "column_names_original": ["K"]},
            "dw#sep#B": {"db_id": "dw", "table_name_original": "B", "column_names_original": ["K"], "primary_key": ["K"],
            "foreign_key": [{"column_name": "K", "referenced_table_name": "dw#sep#A", "referenced_column_name": "K"}]}}"#;
        let [found] = beaver(text, Some(r#"[["A.K", "B.K"], ["A.K", "C.K"]]"#)).unwrap().try_into().unwrap();
        assert_eq!((found.schema.tables.len(), found.semantics.relations.len()), (2, 1));
        assert!(!found.schema.tables[1].foreign_keys[0].dangling);
    }
}
