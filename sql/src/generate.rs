//! SQL from a question without a language model: candidate statements over linked columns and values, of which a
//! log-linear model takes one, or none.
//!
//! Candidates are made over a [`Scope`], which is a table, or tables with the `FROM` clause that joins them.

mod candidates;
mod conditions;
mod features;
#[cfg(feature = "training")]
pub mod fit;
mod known;
mod question;
mod weights;

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::QueryError;
use crate::linking::ExplainedJoin;
use crate::rows::{Rows, Value};
use crate::schema_graph::SchemaGraph;
use crate::unsaid;
use candidates::Candidate;
use features::Featurizer;
pub use known::{Field, Known, Labels, Scope};
use question::Question;
use weights::Weights;

/// A candidate whose rows have more different values than this answers no question.
const MOST_ROWS: usize = 10;

/// How likely a statement must be to be proposed; [`Generation::chosen`] says what is below it.
pub const LEAST: f32 = 0.25;

/// A statement for a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    /// The statement.
    pub sql: String,
    /// What it answers.
    pub rows: Rows,
    /// How likely its answer is right, from 0 to 1, all statements with the same answer taken together.
    pub confidence: f32,
}

/// What was made of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Generation {
    /// The best statements by their answers, the likeliest first; each has another answer. At most five.
    pub proposals: Vec<Proposal>,
    /// Whether nothing is said: the best is not likely enough, or there is none.
    pub abstained: bool,
    /// What joins the tables of the statement that is said, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<ExplainedJoin>,
    /// What was not looked at, in sentences: tables of very many, or what there was no time for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Generation {
    /// The first of the [`ranked`] statements, each with its rows; nothing is said below `least`.
    pub(crate) fn of<'a>(
        ranked: &[(f32, usize)],
        least: f32,
        statement: impl Fn(usize) -> Option<(&'a str, &'a Rows)>,
    ) -> Self {
        let proposal = |(confidence, at): &(f32, usize)| {
            let (sql, rows) = statement(*at)?;
            Some(Proposal { sql: sql.to_owned(), rows: rows.clone(), confidence: confidence.min(1.0) })
        };
        let proposals: Vec<Proposal> = ranked.iter().take(NAMED).filter_map(proposal).collect();
        let abstained = proposals.first().is_none_or(|best| best.confidence < least);
        Self { proposals, abstained, joins: Vec::new(), notes: Vec::new() }
    }

    /// Says nothing where the statement is about something else than what the question names, but that it is.
    pub(crate) fn hold_back_another(&mut self, question: &str, graph: &SchemaGraph) {
        if let Some(chosen) = self.chosen() {
            self.hold_back(unsaid::about_another(question, &chosen.sql, &chosen.rows, graph));
        }
    }

    /// Says nothing where there is something against the statement, but what.
    pub(crate) fn hold_back(&mut self, against: Vec<String>) {
        self.abstained |= !against.is_empty();
        self.notes.extend(against);
    }

    /// The statement, unless nothing is said.
    pub fn chosen(&self) -> Option<&Proposal> {
        self.proposals.first().filter(|_| !self.abstained)
    }
}

/// How many proposals are named.
const NAMED: usize = 5;

/// A candidate that was run.
struct Answered {
    candidate: Candidate,
    rows: Rows,
    /// Its values, for comparing with others.
    answer: Vec<String>,
}

/// What is said where there was no time for all statements, and where their rows were too many to be kept for the choice.
pub(crate) const NO_TIME: &str = "time ran out before all likely statements were run";
pub(crate) const NO_ROOM: &str = "the rows of likely statements were too many, and not all of them were run";

/// Memory for rows among which is chosen, in bytes.
pub(crate) const ROOM: usize = 200_000_000;

/// Proposes a statement. `run` runs one that reads; it is called up to some hundred times, and not after `time`.
pub fn generate(
    question: &str,
    known: &Known,
    scopes: &[Scope],
    time: Duration,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Generation {
    let weights = Weights::shipped();
    let mut names = weights;
    let read = Question::new(question, known);
    let start = Instant::now();
    let (mut answered, mut note, mut held) = (Vec::new(), None, 0_usize);
    for scope in scopes {
        answered.extend(answer(&read, known, scope, &mut |sql| {
            if start.elapsed() > time {
                note = Some(NO_TIME);
            }
            if note.is_some() {
                return Err(QueryError::stopped("time"));
            }
            let rows = run(sql)?;
            held = held.saturating_add(rows.bytes());
            if held > ROOM {
                note = Some(NO_ROOM);
            }
            Ok(rows)
        }));
    }
    let mut features = Featurizer::new(&read, known);
    let none = weights.score(&features.none(&mut names));
    let scores: Vec<f32> =
        answered.iter().map(|each| weights.score(&features.of(&each.candidate, &each.rows, &mut names))).collect();
    let ranked = ranked(none, &scores, answered.iter().map(|each| each.answer.as_slice()));
    let mut found =
        Generation::of(&ranked, LEAST, |at| answered.get(at).map(|each| (each.candidate.sql.as_str(), &each.rows)));
    found.notes.extend(note.map(str::to_owned));
    let share = found.chosen().and_then(|chosen| unsaid::share_note(question, &chosen.sql));
    found.hold_back(share.into_iter().chain(unsaid::verdict_note(question)).collect());
    found
}

/// The answers, the likeliest first: how likely each is, all statements with it taken together, and the likeliest of
/// them; `none` is the score of no answer, `answers` are those of the scored statements.
pub(crate) fn ranked<A: Eq + Hash>(none: f32, scores: &[f32], answers: impl Iterator<Item = A>) -> Vec<(f32, usize)> {
    let all: Vec<f32> = std::iter::once(none).chain(scores.iter().copied()).collect();
    let likelihoods = tabsegnet_choice::likelihoods(&all);
    let mut of_answer: HashMap<A, (f32, f32, usize)> = HashMap::new();
    for (at, (answer, likelihood)) in answers.zip(likelihoods.iter().skip(1)).enumerate() {
        let (all, best, best_at) = of_answer.entry(answer).or_insert((0.0, -1.0, at));
        *all += likelihood;
        if likelihood > best {
            (*best, *best_at) = (*likelihood, at);
        }
    }
    let mut ranked: Vec<(f32, usize)> = of_answer.into_values().map(|(all, _, at)| (all, at)).collect();
    ranked.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
    ranked
}

/// Makes the candidates of a scope and runs them; those that say nothing, or too much, are left out.
fn answer(
    question: &Question,
    known: &Known,
    scope: &Scope,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Vec<Answered> {
    let mut answered = Vec::new();
    for candidate in candidates::candidates(question, known, scope) {
        let Ok(rows) = run(&candidate.sql) else { continue };
        let answer = answer_of(&rows);
        if !answer.is_empty() && answer.len() <= MOST_ROWS && !rows.truncated {
            answered.push(Answered { candidate, rows, answer });
        }
    }
    answered
}

/// The different values of the first column in order; empty where one is NULL.
fn answer_of(rows: &Rows) -> Vec<String> {
    let mut answer = Vec::new();
    for row in &rows.rows {
        let text = match row.first() {
            Some(Value::Integer(value)) => value.to_string(),
            // As the integer that it is.
            #[allow(clippy::float_cmp, reason = "a whole number is one exactly")]
            Some(Value::Real(value)) if value.trunc() == *value && value.abs() < 1e15 => format!("{value:.0}"),
            Some(Value::Real(value)) => format!("{value}"),
            Some(Value::Text(text)) if !text.trim().is_empty() => text.trim().to_lowercase(),
            _ => return Vec::new(),
        };
        answer.push(text);
    }
    answer.sort();
    answer.dedup();
    answer
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use rusqlite::Connection;

    use super::*;
    use crate::tables::Import;
    use crate::{Database, Sandbox};

    struct Opened {
        _folder: tempfile::TempDir,
        database: Database,
        known: Known,
    }

    fn open(header: &[&str], rows: &[&[&str]]) -> Opened {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        let import = Import::new(&own(header), &rows.iter().map(|row| own(row)).collect::<Vec<_>>());
        import.write(&connection, "t").unwrap();
        connection.close().unwrap();
        let database = Database::open(&path, &Sandbox::default()).unwrap();
        let schema = database.schema().unwrap();
        let known = Known::read(&schema, &Labels::new(), true, &mut |sql| database.query(sql)).unwrap();
        Opened { _folder: folder, database, known }
    }

    fn medals() -> Opened {
        open(
            &["Nation", "Gold", "City", "It's \"odd\""],
            &[
                &["New Zealand", "4", "Auckland", "a"],
                &["Zealandia", "7", "St. Louis", "b"],
                &["Peru", "1", "Lima", "a"],
                &["Chile", "0", "Santiago", "c"],
            ],
        )
    }

    fn made(opened: &Opened, question: &str) -> HashSet<String> {
        let read = Question::new(question, &opened.known);
        let scope = opened.known.table(0).unwrap();
        candidates::candidates(&read, &opened.known, &scope).into_iter().map(|candidate| candidate.sql).collect()
    }

    #[test]
    fn candidates_are_what_a_question_may_mean() {
        let opened = medals();
        for (question, sql) in [
            ("how many nations are there?", "SELECT count(*) FROM \"t\""),
            (
                "which nation won the most gold?",
                "SELECT \"nation\" FROM \"t\" WHERE \"gold\" IS NOT NULL ORDER BY \"gold\" DESC LIMIT 1",
            ),
            ("how much gold did new zealand win?", "SELECT \"gold\" FROM \"t\" WHERE \"nation\" = 'New Zealand'"),
            ("which nation has st louis?", "SELECT \"nation\" FROM \"t\" WHERE \"city\" = 'St. Louis'"),
            ("how many nations have more than 1 gold?", "SELECT count(*) FROM \"t\" WHERE \"gold\" > 1"),
            (
                "which nation is listed after peru?",
                "SELECT \"nation\" FROM \"t\" WHERE rowid > (SELECT max(rowid) FROM \"t\" WHERE \"nation\" = 'Peru') ORDER BY rowid LIMIT 1",
            ),
            (
                "how much more gold has peru than chile?",
                "SELECT abs((SELECT \"gold\" FROM \"t\" WHERE \"nation\" = 'Peru' LIMIT 1) - (SELECT \"gold\" FROM \"t\" WHERE \"nation\" = 'Chile' LIMIT 1))",
            ),
        ] {
            let made = made(&opened, question);
            assert!(made.contains(sql), "{question}: {sql} is not among {} candidates", made.len());
        }
        assert!(!made(&opened, "what of new zealand?").iter().any(|sql| sql.contains("'%Zealand%'")));
    }

    #[test]
    fn a_row_that_sums_up_the_others_is_none_of_them() {
        let opened = open(
            &["Department", "Budget", "Year", "Order"],
            &[&["Police", "70", "2001", "1"], &["Fire", "50", "1990", "2"], &["Grand total", "120", "", "3"]],
        );
        let all = |question: &str| made(&opened, question);
        let largest = all("Which department has the highest budget?");
        let without =
            "WHERE coalesce(\"department\", '') <> 'Grand total' AND \"budget\" IS NOT NULL ORDER BY \"budget\"";
        assert!(largest.contains(&format!("SELECT \"department\" FROM \"t\" {without} DESC LIMIT 1")), "{largest:?}");
        // A word for one end leaves the other out.
        assert!(!largest.contains(&format!("SELECT \"department\" FROM \"t\" {without} LIMIT 1")));
        let smallest = all("Which department has the smallest budget?");
        assert!(smallest.contains(&format!("SELECT \"department\" FROM \"t\" {without} LIMIT 1")));
        // What is named is wanted; what numbers rows is not added up; "when" wants no amount; years are held against years.
        assert!(
            all("What is the budget of the grand total?")
                .contains("SELECT \"budget\" FROM \"t\" WHERE \"department\" = 'Grand total'")
        );
        assert!(!all("What is the sum of order?").iter().any(|sql| sql.contains("sum(\"order\")")));
        let when = all("When was the fire department's budget made?");
        assert!(when.contains("SELECT \"year\" FROM \"t\" WHERE \"department\" = 'Fire'"), "{when:?}");
        assert!(!when.contains("SELECT \"budget\" FROM \"t\" WHERE \"department\" = 'Fire'"));
        assert!(!all("How many departments began before 2000?").iter().any(|sql| sql.contains("\"budget\" < 2000")));
    }

    #[test]
    fn how_many_of_what_a_column_counts_counts_no_rows() {
        let opened = open(&["Region", "Units"], &[&["North", "1200"], &["North", "300"], &["South", "950"]]);
        let made = made(&opened, "how many units were sold in the north?");
        assert!(made.contains("SELECT sum(\"units\") FROM \"t\" WHERE \"region\" = 'North'"));
        assert!(!made.contains("SELECT count(*) FROM \"t\" WHERE \"region\" = 'North'"));
    }

    #[test]
    fn a_joined_scope_names_tables() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE city (name TEXT, land INT); CREATE TABLE land (id INTEGER PRIMARY KEY, land_name TEXT);
                 INSERT INTO city VALUES ('Rome', 1), ('Oslo', 2); INSERT INTO land VALUES (1, 'Italy'), (2, 'Norway')",
            )
            .unwrap();
        let database = Database::open(&path, &Sandbox::default()).unwrap();
        let known =
            Known::read(&database.schema().unwrap(), &Labels::new(), true, &mut |sql| database.query(sql)).unwrap();
        let from = "\"city\" JOIN \"land\" ON \"city\".\"land\" = \"land\".\"id\"".to_owned();
        let scope = Scope { from, tables: vec![0, 1] };
        let read = Question::new("which city is in norway?", &known);
        let wanted = "SELECT \"city\".\"name\" FROM \"city\" JOIN \"land\" ON \"city\".\"land\" = \"land\".\"id\" WHERE \"land\".\"land_name\" = 'Norway'";
        let made = candidates::candidates(&read, &known, &scope);
        assert!(made.iter().any(|candidate| candidate.sql == wanted));
        assert_eq!(database.query(wanted).unwrap().rows, [[Value::Text("Oslo".to_owned())]]);
        assert!(made.iter().all(|candidate| !candidate.sql.contains("rowid")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Whatever is written: no panic, statements that run, likelihoods from 0 to 1, the same twice.
        #[test]
        fn any_question_over_any_table(
            question in "[a-z0-9 '\"%_,?üé]{0,60}|how many (peru|chile|more|than|gold| |1|'){0,8}",
            cells in proptest::collection::vec(proptest::collection::vec("[a-c0-3 '\"%_,.é]{0,6}|peru|chile", 2..4), 0..7),
        ) {
            let rows: Vec<Vec<&str>> = cells.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
            let opened = open(&["gold", "", "gold"], &rows);
            for sql in made(&opened, &question) {
                prop_assert!(opened.database.query(&sql).is_ok(), "{}", sql);
            }
            let scopes: Vec<Scope> = opened.known.likeliest_table(&question).into_iter().collect();
            let mut run = |sql: &str| opened.database.query(sql);
            let found = generate(&question, &opened.known, &scopes, Duration::from_secs(60), &mut run);
            let sum: f32 = found.proposals.iter().map(|each| each.confidence).sum();
            prop_assert!(sum <= 1.001 && found.proposals.iter().all(|each| (0.0..=1.0).contains(&each.confidence)));
            prop_assert_eq!(&found, &generate(&question, &opened.known, &scopes, Duration::from_secs(60), &mut run));
        }
    }
}
