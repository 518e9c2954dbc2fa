use super::*;
use crate::rows::Value;
use crate::schema::Schema;
use crate::schema_graph::{Semantics, SqlDialect};

fn graph(semantics: &str) -> SchemaGraph {
    let ddl = "CREATE TABLE singer (singer_id INT PRIMARY KEY, name TEXT, country TEXT, age INT);
        CREATE TABLE concert (concert_id INT PRIMARY KEY, concert_name TEXT, theme TEXT, year TEXT);
        CREATE TABLE singer_in_concert (singer_id INT REFERENCES singer, concert_id INT REFERENCES concert,
          PRIMARY KEY (singer_id, concert_id));
        CREATE TABLE shop (shop_id INT PRIMARY KEY, name TEXT, city TEXT)";
    let (schema, _) = Schema::from_ddl(ddl, SqlDialect::Generic).unwrap();
    SchemaGraph::new(&schema, &Semantics::parse(semantics).unwrap(), SqlDialect::Generic).unwrap()
}

fn best(graph: &SchemaGraph, values: ValueIndex, question: &str) -> (Vec<String>, Vec<String>) {
    let linker = Linker::new(graph, values, Model::shipped());
    let linked = linker.link(question);
    let columns = linked.columns.iter().filter(|c| c.probability > 0.5).map(|c| graph.column_id(c.column));
    let tables = linked.sets[0].tree.tables.iter().map(|&table| graph.tables()[table].name.clone());
    (columns.collect(), tables.collect())
}

#[test]
fn names_and_values_are_linked() {
    let graph = graph("");
    let (columns, tables) = best(&graph, ValueIndex::default(), "What is the average age of all singers?");
    assert_eq!((columns.as_slice(), tables.as_slice()), (&["singer.age".to_owned()][..], &["singer".to_owned()][..]));
    let mut values = ValueIndex::default();
    let country = graph.column(0, "country").unwrap();
    values.add(country, [Value::Text("France".into())], ValueLimits::default());
    let (columns, _) = best(&graph, values, "Show the names of singers from France");
    assert!(columns.contains(&"singer.country".to_owned()), "{columns:?}");
    let (_, tables) = best(&graph, ValueIndex::default(), "Show the names of singers and the themes of their concerts");
    assert_eq!(tables, ["singer", "concert", "singer_in_concert"]);
}

#[test]
fn synonyms_count_and_hidden_columns_are_never_proposed() {
    let graph = graph("[tables.shop]\nsynonyms=['boutique']\n[tables.singer.columns.age]\nhidden=true");
    let (_, tables) = best(&graph, ValueIndex::default(), "How many boutiques are there?");
    assert_eq!(tables, ["shop"]);
    let linker = Linker::new(&graph, ValueIndex::default(), Model::shipped());
    let linked = linker.link("ages of singers");
    assert!(linked.columns.iter().all(|column| graph.column_id(column.column) != "singer.age"));
}

#[test]
fn questions_of_any_kind_are_answered() {
    let graph = graph("");
    let linker = Linker::new(&graph, ValueIndex::default(), Model::shipped());
    let huge = "singer ".repeat(100_000);
    for question in ["", " ", "¿Cuántos?", "SELECT * FROM singer; DROP TABLE singer", "\0\u{202e}", &huge] {
        let linked = linker.link(question);
        assert_eq!(linked.columns.len(), graph.columns().len());
        assert!(linked.columns.iter().all(|column| column.probability.is_finite()));
    }
    let (schema, _) = Schema::from_ddl("", SqlDialect::Generic).unwrap();
    let empty = SchemaGraph::new(&schema, &Semantics::default(), SqlDialect::Generic).unwrap();
    let linked = Linker::new(&empty, ValueIndex::default(), Model::shipped()).link("singers");
    assert!(linked.columns.is_empty() && linked.sets.is_empty());
}
