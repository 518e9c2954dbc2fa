//! What a schema has in place of a table or column that is not there.

use strsim::damerau_levenshtein;

use crate::schema::Schema;

/// Names that are told at most.
const TOLD: usize = 3;

/// Words for the names of a schema that are nearest to the table or column that a refusal says is not there: `the nearest that there
/// are: cities, rivers`. Of columns those of tables that the statement names count, if it names one. Nothing for another refusal,
/// and for a schema without names; what a schema hides is not in it.
pub fn nearest(reason: &str, sql: &str, schema: &Schema) -> Option<String> {
    let views = || schema.views.iter().map(|view| (view.name.as_str(), view.columns.as_slice()));
    let all = || schema.tables.iter().map(|table| (table.name.as_str(), table.columns.as_slice())).chain(views());
    let (wanted, mut names): (&str, Vec<String>) = match reason.strip_prefix("no such table: ") {
        Some(table) => (table, all().map(|(name, _)| name.to_owned()).collect()),
        None => {
            let column = reason.strip_prefix("no such column: ")?;
            let sql = sql.to_lowercase();
            let is_named = |name: &str| sql.contains(&name.to_lowercase());
            let names_one = all().any(|(name, _)| is_named(name));
            let of = all().filter(|(name, _)| !names_one || is_named(name));
            let columns =
                of.flat_map(|(table, columns)| columns.iter().map(move |column| format!("{table}.{}", column.name)));
            (column.split(" - ").next().unwrap_or(column), columns.collect())
        }
    };
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).trim_matches('"').to_lowercase();
    let wanted = last(wanted);
    names.sort_by_cached_key(|name| damerau_levenshtein(&wanted, &last(name)));
    names.truncate(TOLD);
    match names.as_slice() {
        [] => None,
        [name] => Some(format!("the nearest that there is: {name}")),
        names => Some(format!("the nearest that there are: {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_graph::SqlDialect;

    #[test]
    fn the_nearest_names_are_told() {
        let ddl = "CREATE TABLE cities (city TEXT, country TEXT); CREATE TABLE rivers (river TEXT, length INT);\
                   CREATE VIEW long AS SELECT river FROM rivers WHERE length > 1000;";
        let (schema, _) = Schema::from_ddl(ddl, SqlDialect::Sqlite).unwrap();
        let of = |reason: &str, sql: &str| nearest(reason, sql, &schema).unwrap_or_default();
        assert!(of("no such table: main.citys", "").starts_with("the nearest that there are: cities, "));
        let column = "no such column: \"cty\" - should this be a string literal in single-quotes?";
        assert_eq!(of(column, "select \"cty\" from Cities"), "the nearest that there are: cities.city, cities.country");
        assert!(of("no such column: r.lenght", "").starts_with("the nearest that there are: rivers.length"));
        assert_eq!(nearest("DROP is not allowed", "", &schema), None);
        let empty = Schema { tables: Vec::new(), views: Vec::new() };
        assert_eq!(nearest("no such table: x", "", &empty), None);
    }
}
