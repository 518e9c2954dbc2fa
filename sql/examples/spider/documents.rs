//! Schemas as documents in the native form: what `schema_documents` writes, and where its nodes are.

use serde_json::{Value, json};
use tabsegnet_sql::linking::Linker;
use tabsegnet_sql::schema_graph::{JoinOrigin, SchemaGraph};

use super::{Gold, Question};

/// The id of a question, and of its document.
pub fn id(part: &str, number: usize) -> String {
    format!("{part}-{number}")
}

/// The node of a table: its caption.
pub fn table(table: usize) -> String {
    format!("t{table}")
}

/// The node of a column: its header.
pub fn column(graph: &SchemaGraph, column: usize) -> String {
    let of = graph.columns().get(column).map_or(0, |node| node.table);
    let first = graph.tables().get(of).map_or(0, |node| node.columns.start);
    format!("{}:h0c{}", table(of), column - first)
}

/// A question's schema: a table for each table, captioned by its name, headed by its columns' names, with a row of
/// the tables that columns refer to and one of the values that the question names.
pub fn document(id: &str, question: &Question, linker: &Linker<'_>) -> Value {
    let graph = linker.graph();
    let values = linker.link(&question.question).values;
    let spoken = |name: &str, names: &[String]| names.first().cloned().unwrap_or_else(|| name.replace('_', " "));
    let table_of = |column: usize| {
        let table = graph.tables().get(graph.columns().get(column)?.table)?;
        Some(spoken(&table.name, &table.names))
    };
    let joins = || graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied);
    let blocks = graph.tables().iter().map(|node| {
        let headers = node.columns.clone().filter_map(|at| graph.columns().get(at));
        let headers: Vec<String> = headers.map(|column| spoken(&column.name, &column.names)).collect();
        let keys = node.columns.clone().map(|column| {
            let pairs = joins().flat_map(|join| &join.pairs).filter(|(from, _)| *from == column);
            let refers: Vec<String> = pairs.filter_map(|&(_, to)| table_of(to)).collect();
            let is_key = graph.columns().get(column).is_some_and(|column| column.is_key);
            if refers.is_empty() && is_key { "key".to_owned() } else { refers.join("; ") }
        });
        let found = node.columns.clone().map(|column| {
            let found = values.get(&column).into_iter().flatten().map(|found| found.value.as_str());
            found.collect::<Vec<_>>().join("; ")
        });
        let rows = [headers, keys.collect(), found.collect()];
        let caption = spoken(&node.name, &node.names);
        json!({"table": {"caption": caption, "header_rows": 1, "header_cols": 0, "rows": rows}})
    });
    let gold = Gold::of(question, graph);
    let tables = gold.tables.iter().map(|at| table(*at));
    let gold: Vec<String> = tables.chain(gold.columns.iter().map(|at| column(graph, *at))).collect();
    json!({
        "id": id,
        "blocks": blocks.collect::<Vec<_>>(),
        "questions": [{"id": id, "question": question.question, "gold": gold}],
    })
}
