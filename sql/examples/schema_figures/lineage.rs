//! What columns of views are made of, beside what sqlglot says.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use tabsegnet_sql::Schema;
use tabsegnet_sql::schema_graph::{SchemaGraph, SqlDialect, lineage};

pub fn figures(data: &Path, wrong: bool) -> Result<()> {
    println!("Lineage of views, one level, against sqlglot's:\n");
    println!("| | views | edges of sqlglot | found | share | edges that it does not have |");
    println!("|---|---:|---:|---:|---:|---:|");
    let folder = data.join("sql/derive");
    let mimic = folder.join("mimic-iv");
    let (schema, _) = Schema::from_ddl(
        &std::fs::read_to_string(mimic.join("buildmimic/postgres/create.sql"))?,
        SqlDialect::Postgres,
    )?;
    let mut views = Vec::new();
    for kind in std::fs::read_dir(mimic.join("concepts_duckdb"))? {
        let kind = kind?.path();
        if kind.is_dir() {
            for file in std::fs::read_dir(kind)? {
                views.push(std::fs::read_to_string(file?.path())?);
            }
        }
    }
    views.sort();
    compare(
        "MIMIC-IV",
        schema,
        &views.join(";\n"),
        SqlDialect::Duckdb,
        &folder.join("mimic-iv_lineage_sqlglot.json"),
        wrong,
    )?;
    let text = std::fs::read_to_string(folder.join("northwind/create.sql"))?;
    let (schema, _) = Schema::from_ddl(&text, SqlDialect::Sqlite)?;
    compare("Northwind", schema, "", SqlDialect::Sqlite, &folder.join("northwind_lineage_sqlglot.json"), wrong)
}

#[derive(serde::Deserialize)]
struct Edges {
    view: String,
    column: String,
    sources: Vec<(String, String)>,
}

fn compare(
    name: &str,
    mut schema: Schema,
    views: &str,
    dialect: SqlDialect,
    expected: &Path,
    wrong: bool,
) -> Result<()> {
    let (more, problems) = Schema::from_ddl(views, dialect)?;
    for problem in problems {
        eprintln!("{name}: {problem}");
    }
    schema.views.extend(more.views);
    let graph = SchemaGraph::new(&schema, &Default::default(), dialect)?;
    for problem in graph.problems() {
        eprintln!("{name}: {problem}");
    }
    let mut gold: BTreeSet<(String, String, String, String)> = BTreeSet::new();
    let mut named = BTreeSet::new();
    for edges in serde_json::from_str::<Vec<Edges>>(&std::fs::read_to_string(expected)?)? {
        named.insert(edges.view.to_lowercase());
        for (table, column) in edges.sources {
            gold.insert((
                edges.view.to_lowercase(),
                edges.column.to_lowercase(),
                table.to_lowercase(),
                column.to_lowercase(),
            ));
        }
    }
    let columns = |name: &str| {
        let table = graph.tables().get(graph.table(name)?)?;
        let columns = graph.columns().get(table.columns.clone())?;
        Some(columns.iter().map(|column| column.name.clone()).collect())
    };
    let mut found = BTreeSet::new();
    for view in schema.views.iter().filter(|view| named.contains(&view.name.to_lowercase())) {
        for derived in lineage(view.sql.as_deref().unwrap_or_default(), dialect, &columns)? {
            for (table, column) in derived.sources {
                let edge = (
                    view.name.to_lowercase(),
                    derived.name.to_lowercase(),
                    table.to_lowercase(),
                    column.to_lowercase(),
                );
                found.insert(edge);
            }
        }
    }
    if wrong {
        gold.difference(&found).for_each(|edge| eprintln!("{name} missed {edge:?}"));
        found.difference(&gold).for_each(|edge| eprintln!("{name} more {edge:?}"));
    }
    let both = gold.intersection(&found).count();
    println!(
        "| {name} | {} | {} | {both} | {:.3} | {} |",
        named.len(),
        gold.len(),
        both as f64 / gold.len() as f64,
        found.len() - both
    );
    Ok(())
}
