//! What rows are told by: the names of people, the titles of things, the descriptions of codes.

use crate::linking::Words;
use crate::schema_graph::{ColumnKind, JoinOrigin, SchemaGraph};

/// What people are called, as stems.
#[rustfmt::skip]
const PEOPLE: [&str; 40] = [
    "person", "peopl", "employe", "staff", "worker", "user", "usr", "agent", "agt", "member", "student", "pupil", "teacher", "lectur",
    "professor", "instructor", "doctor", "physician", "nurs", "patient", "lawyer", "attorney", "candid", "applic", "consult", "driver",
    "pilot", "player", "coach", "author", "artist", "actor", "singer", "director", "volunt", "donor", "custom", "guest", "subscrib", "passeng",
];

/// Words of columns that people alone have.
#[rustfmt::skip]
const OF_PEOPLE: [&str; 10] = [
    "birth", "birthdat", "dob", "gender", "sex", "salari", "hire", "age", "surnam", "nation",
];

/// The columns that have people's names: the first and last, or the whole one.
pub(in crate::compose) fn names_of(graph: &SchemaGraph, table: usize) -> Vec<usize> {
    let columns = graph.tables().get(table).map(|node| node.columns.clone()).unwrap_or_default();
    columns.filter(|column| stems_of(graph, *column).iter().any(|stem| stem == "name" || stem == "surnam")).collect()
}

/// Whether the rows of a table are people.
pub(in crate::compose) fn are_people(graph: &SchemaGraph, table: usize) -> bool {
    let Some(node) = graph.tables().get(table) else { return false };
    let names: Vec<Vec<String>> = names_of(graph, table).into_iter().map(|column| stems_of(graph, column)).collect();
    let has = |half: &[&str]| names.iter().any(|stems| stems.iter().any(|stem| half.contains(&stem.as_str())));
    let is_whole = has(&["full"]) || has(&["first", "given"]) && has(&["last", "famili", "surnam"]);
    let is_called =
        || Words::of_name(node.own_name()).stems().last().is_some_and(|stem| PEOPLE.contains(&stem.as_str()));
    let is_of_people =
        || node.columns.clone().any(|of| stems_of(graph, of).iter().any(|stem| OF_PEOPLE.contains(&stem.as_str())));
    is_whole || !names.is_empty() && (is_called() || is_of_people())
}

fn stems_of(graph: &SchemaGraph, column: usize) -> Vec<String> {
    graph.columns().get(column).map(|node| Words::of_name(&node.name).stems()).unwrap_or_default()
}

/// Words of columns that tell what a row is, where none is called a name: the first of these that a table has.
const LABELS: [&str; 4] = ["label", "subject", "descript", "caption"];

/// `[columns]`: whether rows are told by it. The title of people who have names is their job.
pub(super) fn labels(graph: &SchemaGraph) -> Vec<bool> {
    let mut found = vec![false; graph.columns().len()];
    for (table, node) in graph.tables().iter().enumerate() {
        let titled = |column: &usize| stems_of(graph, *column).iter().any(|stem| stem == "titl");
        let mut named = names_of(graph, table);
        if !are_people(graph, table) {
            named.extend(node.columns.clone().filter(titled));
        }
        let own: Vec<usize> = if named.is_empty() {
            let has = |word: &&str| -> Vec<usize> {
                node.columns
                    .clone()
                    .filter(|column| stems_of(graph, *column).iter().any(|stem| stem == *word))
                    .collect()
            };
            LABELS.iter().map(has).find(|columns| !columns.is_empty()).unwrap_or_else(|| only_text(graph, table))
        } else {
            named
        };
        own.into_iter().for_each(|column| found[column] = true);
    }
    found
}

/// Texts that tell more of a row, and not which it is.
const MORE: [&str; 8] = ["detail", "note", "comment", "email", "phone", "gender", "address", "date"];

/// The one text of a table beside keys.
fn only_text(graph: &SchemaGraph, table: usize) -> Vec<usize> {
    let Some(node) = graph.tables().get(table) else { return Vec::new() };
    let refers = |column: usize| {
        let mut joins = graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied);
        joins.any(|join| join.pairs.iter().any(|(from, _)| *from == column))
    };
    let is_text = |column: &usize| {
        let of = &graph.columns()[*column];
        let is_more = stems_of(graph, *column).iter().any(|stem| MORE.contains(&stem.as_str()));
        of.kind == ColumnKind::Text && !of.is_key && !of.hidden && !is_more && !refers(*column)
    };
    let texts: Vec<usize> = node.columns.clone().filter(is_text).collect();
    if node.columns.len() <= 4 && texts.len() == 1 { texts } else { Vec::new() }
}
