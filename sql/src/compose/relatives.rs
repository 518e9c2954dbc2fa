//! Rows that refer to others of their own table: whom somebody reports to, whose manager somebody is; and those that have more of
//! something than one that is named. A [`Sketch`](super::Sketch) has each table once, so these are written here, and only where each
//! word of the question is for something in them.

use std::ops::Range;

use super::labels::{are_people, names_of};
use super::wording::{Phrase, attribute};
use crate::catalogue::literal;
use crate::linking::words::kin;
use crate::linking::{Linker, Words, alike};
use crate::schema_graph::{JoinOrigin, SchemaGraph};

/// How likely such a statement counts as: nothing of it was chosen among others.
pub(super) const LIKELY: f32 = 0.9;

/// Words between those that say something.
#[rustfmt::skip]
const BETWEEN: [&str; 24] = [
    "who", "whom", "which", "what", "is", "are", "was", "were", "the", "a", "an", "of", "s", "to", "by", "do", "does", "did", "has", "have",
    "all", "list", "show", "as",
];

/// The statement, where the question wants one of these.
pub(super) fn statement(question: &str, linker: &Linker<'_>) -> Option<String> {
    let phrase = Phrase::new(question, linker)?;
    let graph = linker.graph();
    (0..graph.tables().len()).filter(|table| are_people(graph, *table)).find_map(|table| {
        let person = person_of(&phrase, table)?;
        related(&phrase, table, &person).or_else(|| beyond(&phrase, table, &person))
    })
}

/// A person whom the question names, with the condition that holds a table's rows to them.
struct Person {
    words: Range<usize>,
    is: String,
}

fn person_of(phrase: &Phrase<'_, '_>, table: usize) -> Option<Person> {
    let names = names_of(phrase.graph(), table);
    let of_name = |at: usize| {
        let (words, columns) = phrase.value_at(at)?;
        let column = columns.into_iter().find(|column| names.contains(column))?;
        Some((words, column))
    };
    let (first, column) = (0..phrase.len()).find_map(of_name)?;
    let mut parts = vec![(first.clone(), column)];
    parts.extend(of_name(first.end).filter(|(_, other)| *other != column));
    // A first name alone may be of several.
    let is_whole = parts.len() == 2 || names.len() == 1;
    let words = first.start..parts.last()?.0.end;
    let is = parts.iter().map(|(words, column)| {
        let value = phrase.value(words, *column).unwrap_or_default();
        format!("{} = {}", phrase.graph().column_sql(*column, false), literal(&value))
    });
    let is = is.collect::<Vec<_>>().join(" AND ");
    is_whole.then_some(Person { words, is })
}

/// Whom a row refers to, and what rows refer to it: "who reports to Ann Lund", "Ann Lund's manager".
fn related(phrase: &Phrase<'_, '_>, table: usize, person: &Person) -> Option<String> {
    let graph = phrase.graph();
    let is_own = |join: &&crate::schema_graph::Join| {
        join.from == table && join.to == table && join.origin != JoinOrigin::Implied
    };
    let join = graph.joins().iter().find(is_own)?;
    let [(from, to)] = join.pairs[..] else { return None };
    let role = role_of(graph, from);
    let is_role = |at: usize| is_of_role(phrase, at, &role);
    let at = phrase.find(|at| !person.words.contains(&at) && is_role(at))?;
    let is_rest = |other: usize| {
        let is_table = phrase.table_at(other).is_some_and(|(_, of)| of == table);
        other == at || person.words.contains(&other) || BETWEEN.contains(&phrase.word(other)) || is_table
    };
    if !(0..phrase.len()).all(is_rest) {
        return None;
    }
    let down = looks_down(phrase, at, person)?;
    let (shown, of) = (shown(graph, table), graph.tables().get(table)?.quoted());
    let [from, to] = [from, to].map(|column| graph.column_sql(column, false));
    let is = &person.is;
    Some(match down {
        true => format!("SELECT {shown} FROM {of} WHERE {from} IN (SELECT {to} FROM {of} WHERE {is})"),
        false => format!("SELECT {shown} FROM {of} WHERE {to} IN (SELECT {from} FROM {of} WHERE {is})"),
    })
}

/// Whether those are wanted who refer to the person, and not the one whom the person refers to; none where it says neither.
fn looks_down(phrase: &Phrase<'_, '_>, at: usize, person: &Person) -> Option<bool> {
    let word = phrase.word(at);
    let is_done = word.ends_with("ed");
    let behind = phrase.word(at + 1);
    match () {
        // "Reports to Ann", "managed by Ann".
        () if word.starts_with("report") && behind == "to" && at < person.words.start => Some(true),
        () if is_done && behind == "by" && at < person.words.start => Some(true),
        // "Ann's manager", "the manager of Ann".
        () if phrase.word(person.words.end) == "s" && at == person.words.end + 1 => Some(false),
        () if !is_done && behind == "of" && at < person.words.start => Some(false),
        // "Who manages Ann", "who referred Ann".
        () if phrase.word(0) == "who" && at == 1 && person.words.start == 2 => Some(false),
        // "Who does Ann report to".
        () if word == "report" && at == person.words.end => Some(false),
        () => None,
    }
}

/// What a reference says of whom it refers to: `supervisor` of `supervisor_id`, `referred` of `referred_by`.
fn role_of(graph: &SchemaGraph, column: usize) -> Vec<String> {
    const OTHERS: [&str; 6] = ["id", "key", "by", "to", "code", "number"];
    let stems = graph.columns().get(column).map(|node| Words::of_name(&node.name).stems()).unwrap_or_default();
    stems.into_iter().filter(|stem| !OTHERS.contains(&stem.as_str())).collect()
}

fn is_of_role(phrase: &Phrase<'_, '_>, at: usize, role: &[String]) -> bool {
    const LEADS: [&str; 7] = ["manag", "supervisor", "boss", "report", "reportsto", "lead", "superior"];
    let [role] = role else { return false };
    let stem = phrase.stem(at);
    let leads = LEADS.contains(&role.as_str());
    alike(stem, role) > 0.6
        || kin(stem).contains(role)
        || leads && (phrase.word(at).starts_with("report") || alike(stem, "supervis") > 0.9)
}

/// Those with more of something than the person has: "who charges more than Ann Lund".
fn beyond(phrase: &Phrase<'_, '_>, table: usize, person: &Person) -> Option<String> {
    let graph = phrase.graph();
    let than = person.words.start.checked_sub(1).filter(|at| phrase.word(*at) == "than")?;
    let sign = match phrase.before(than) {
        "more" => ">",
        "less" => "<",
        _ => return None,
    };
    let verb = than.checked_sub(2)?;
    let [column] = phrase.measures(&[table], attribute(phrase.word(verb))?)[..] else { return None };
    let is_opening = |at: usize| {
        matches!(phrase.word(at), "who" | "which" | "what" | "the" | "list" | "show")
            || phrase.table_at(at).is_some_and(|(_, of)| of == table)
    };
    if !(0..verb).all(is_opening) || person.words.end != phrase.len() {
        return None;
    }
    let (shown, of, is) = (shown(graph, table), graph.tables().get(table)?.quoted(), &person.is);
    let column = graph.column_sql(column, false);
    Some(format!("SELECT {shown} FROM {of} WHERE {column} {sign} (SELECT {column} FROM {of} WHERE {is})"))
}

fn shown(graph: &SchemaGraph, table: usize) -> String {
    let names = names_of(graph, table).into_iter().map(|column| graph.column_sql(column, false));
    names.collect::<Vec<_>>().join(", ")
}
