//! SQL over several tables from a question without a language model.
//!
//! A question is read ([`crate::linking`]); log-linear models say what the shape of the statement is, what each column
//! does in it and which conditions are stated; the likeliest parts are put together and joined ([`crate::joins`]), run,
//! and another model takes one of the statements by their parts and results, or none.

mod candidates;
#[cfg(feature = "training")]
pub mod fit;
mod labels;
mod model;
mod paths;
mod reading;
mod relatives;
mod saying;
mod shape;
mod shares;
mod sketch;
mod wording;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::error::QueryError;
use crate::generate::{Generation, NO_ROOM, NO_TIME, Proposal, ROOM, ranked};
use crate::linking::{ExplainedJoin, Linked, Linker, Words};
use crate::rows::{Rows, Value};
use crate::unsaid::verdict_note;
use candidates::{Candidate, Maker};
use model::Compiled;
pub use model::Model;
use reading::Reading;
pub(crate) use reading::periods;
pub use saying::LEAST;
use shape::Shape;
pub use sketch::{Condition, DatePart, Function, Item, Joined, Operand, Order, Relation, Sketch, Without};

/// Why there is no statement.
const NOTHING: &str = "no word of the question is in a name of the database or in a value that was found";

/// The likelihood of the statements over a set of tables for which none was made.
const LEAST_OF_SET: f32 = 0.001;

/// Composes statements for the questions to one database.
pub struct Composer<'l, 'g> {
    linker: &'l Linker<'g>,
    model: Compiled,
}

/// A statement that was run.
struct Ran {
    candidate: Candidate,
    rows: Rows,
    features: Vec<(String, f32)>,
    key: String,
    /// How likely it was before it was run, as the others' are counted.
    score: f32,
}

/// Statements that were run, and the places of the likeliest of each answer among them with how likely it is, the likeliest first.
struct Ranked {
    ran: Vec<Ran>,
    order: Vec<(f32, usize)>,
}

/// What became of the statements for a question.
#[derive(Default)]
struct Runs {
    /// Why not all were run, in a sentence.
    note: Option<&'static str>,
    /// The likeliest of those that were stopped, with its score and what it was told.
    stopped: Option<(f32, String)>,
}

impl<'l, 'g> Composer<'l, 'g> {
    /// With what links questions to the schema.
    pub fn new(linker: &'l Linker<'g>, model: &Model) -> Self {
        Self { linker, model: Compiled::new(model) }
    }

    /// Proposes a statement. `run` runs one that reads; it is called up to some hundred times, and not after `time`.
    pub fn compose(
        &self,
        question: &str,
        time: Duration,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    ) -> Generation {
        let question = self.linker.as_written(question);
        if let Some(found) = related(&question, self.linker, run) {
            return found;
        }
        if let Some(counted) = shares::counted(&question) {
            let (found, chosen) = self.composed(&wording::plain(&counted, self.linker), time, run);
            let share = chosen.and_then(|of| shares::share(&of.sketch, &of.tree, self.linker));
            if let Some((confidence, (sql, rows))) =
                found.chosen().map(|of| of.confidence).zip(share.and_then(|sql| Some((sql.clone(), run(&sql).ok()?))))
            {
                return Generation { proposals: vec![Proposal { sql, rows, confidence }], ..found };
            }
        }
        self.composed(&wording::plain(&question, self.linker), time, run).0
    }

    /// The statements for a question that is said as they are learnt from, and the parts of the one that is said.
    fn composed(
        &self,
        question: &str,
        time: Duration,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    ) -> (Generation, Option<Candidate>) {
        let (Ranked { ran, order }, Runs { note, stopped }) = self.ranked(question, time, run);
        let least = self.least(question, &order, &ran);
        let mut found =
            Generation::of(&order, least, |at| ran.get(at).map(|each| (each.candidate.sql.as_str(), &each.rows)));
        found.notes.extend(note.map(str::to_owned));
        let chosen = order.first().and_then(|(_, at)| ran.get(*at)).filter(|_| !found.abstained);
        if let Some(of) = chosen {
            let (doubts, _) = self.doubts(&of.candidate);
            let tree = &of.candidate.tree;
            found.joins = ExplainedJoin::of_tree(self.linker, &Words::of(question), &tree.joins, &tree.tables);
            found.notes.extend(doubts);
            found.hold_back(self.objections(question, of));
        }
        // What is not known may be the answer.
        let score = chosen.map_or(f32::NEG_INFINITY, |chosen| chosen.score);
        found.hold_back(stopped.filter(|(of, _)| *of >= score).map(|(_, told)| told).into_iter().collect());
        found.hold_back(verdict_note(question).into_iter().collect());
        let said = chosen.map(|of| of.candidate.clone());
        (found, said)
    }

    /// The statements that are made for a question, with the likeliest of those of each answer and meaning first.
    fn ranked(
        &self,
        question: &str,
        time: Duration,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    ) -> (Ranked, Runs) {
        let mut ran = Vec::new();
        let runs = self.each(question, time, run, &mut |each| ran.push(each));
        let scores: Vec<f32> = ran.iter().map(|each| self.model.rank(&each.features)).collect();
        let ranked = ranked(self.model.rank(&none()), &scores, ran.iter().map(|each| each.key.as_str()));
        let shows_key = |at: usize| ran.get(at).is_some_and(|each| each.candidate.shows_key);
        let order = by_meaning(ranked, |at| ran.get(at).map_or("", |each| each.candidate.meaning.as_str()), shows_key);
        (Ranked { ran, order }, runs)
    }

    /// What the question needs of the schema, by the linker and by the statements that it is likely to mean: the likelihood
    /// of each set of tables is multiplied by that of the statements over it. `run` and `time` as for [`Composer::compose`];
    /// beside it why not all of them were run, in a sentence.
    pub fn link(
        &self,
        question: &str,
        time: Duration,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    ) -> (Linked, Option<&'static str>) {
        let question = &wording::plain(&self.linker.as_written(question), self.linker);
        let (mut tables, mut scores) = (Vec::new(), Vec::new());
        let Runs { note, .. } = self.each(question, time, run, &mut |each| {
            scores.push(self.model.rank(&each.features));
            tables.push(each.candidate.tables);
        });
        let mut of_set: BTreeMap<Vec<usize>, f32> = BTreeMap::new();
        for (tables, likelihood) in tables.into_iter().zip(tabsegnet_choice::likelihoods(&scores)) {
            *of_set.entry(tables).or_default() += likelihood;
        }
        let of = |tables: &[usize]| of_set.get(tables).copied().unwrap_or_default().max(LEAST_OF_SET);
        (self.linker.link_by(question, &of), note)
    }

    /// Puts statements together and runs them.
    fn each(
        &self,
        question: &str,
        time: Duration,
        run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
        each: &mut dyn FnMut(Ran),
    ) -> Runs {
        let start = Instant::now();
        let reading = Reading::new(question, self.linker);
        if reading.says_nothing() {
            return Runs { note: Some(NOTHING), stopped: None };
        }
        let maker = Maker::new(&reading, &self.model, self.linker.joiner());
        let wants_one = reading.wants_one_total();
        let mut held = 0_usize;
        let scored = maker.candidates().into_iter().map(|candidate| (self.model.rank(&candidate.features), candidate));
        let mut scored: Vec<(f32, Candidate)> = scored.collect();
        // The likeliest first, for which there is time then.
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let best = scored.first().map_or(0.0, |(score, _)| *score);
        // What rows say cannot make up for more than this: such statements are not run.
        let mut runs = Runs::default();
        for (score, candidate) in scored.into_iter().take_while(|(score, _)| *score >= best - BEHIND) {
            if start.elapsed() > time {
                runs.note = Some(NO_TIME);
                return runs;
            }
            let rows = match run(&candidate.sql) {
                Ok(rows) => rows,
                Err(QueryError::Stopped { limit }) => {
                    let told = || {
                        format!("{} was stopped before it ended ({limit}), and may be what is wanted", candidate.sql)
                    };
                    runs.stopped.get_or_insert_with(|| (score, told()));
                    continue;
                }
                Err(_) => continue,
            };
            if wants_one && rows.rows.len() > 1 {
                continue;
            }
            let mut features = candidate.features.clone();
            of_rows(&candidate, &rows, &mut features);
            let key = key(&rows);
            held = held.saturating_add(rows.bytes()).saturating_add(key.len());
            each(Ran { candidate, rows, features, key, score });
            if held > ROOM {
                runs.note = Some(NO_ROOM);
                return runs;
            }
        }
        runs
    }
}

/// The statement for a question about rows that refer to others of their own table, where it is one.
fn related(
    question: &str,
    linker: &Linker<'_>,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
) -> Option<Generation> {
    let sql = relatives::statement(question, linker)?;
    let rows = run(&sql).ok()?;
    let proposals = vec![Proposal { sql, rows, confidence: relatives::LIKELY }];
    Some(Generation { proposals, abstained: false, joins: Vec::new(), notes: Vec::new() })
}

/// Answers that say the same of one thing, by its name or by its key: the likeliest of them, of one by its key that by its name
/// which is next, is as likely as all together.
fn by_meaning<'m>(
    ranked: Vec<(f32, usize)>,
    meaning: impl Fn(usize) -> &'m str,
    shows_key: impl Fn(usize) -> bool,
) -> Vec<(f32, usize)> {
    let mut all: BTreeMap<&str, (f32, usize)> = BTreeMap::new();
    for (likelihood, at) in &ranked {
        let (of, said) = all.entry(meaning(*at)).or_insert((0.0, *at));
        *of += likelihood;
        if shows_key(*said) && !shows_key(*at) && likelihood * NAMED >= *of {
            *said = *at;
        }
    }
    let mut by_meaning: Vec<(f32, usize)> = Vec::new();
    for (_, at) in ranked {
        // What the others of a meaning had is counted with the one that is said, and they stand behind all meanings.
        let of = all.get(meaning(at)).filter(|(_, said)| *said == at);
        by_meaning.push((of.map_or(0.0, |(of, _)| *of), at));
    }
    by_meaning.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    by_meaning
}

/// How many times likelier all that is said of a thing by its key may be for it to be said by its name.
const NAMED: f32 = 12.0;

/// How far behind the likeliest, in logarithms, a statement may be before it is run.
const BEHIND: f32 = 6.0;

/// The features of no answer.
fn none() -> Vec<(String, f32)> {
    vec![("nothing".to_owned(), 1.0)]
}

fn of_rows(candidate: &Candidate, rows: &Rows, features: &mut Vec<(String, f32)>) {
    let count = match rows.rows.len() {
        0 => "no",
        1 => "one",
        2..=9 => "few",
        _ => "many",
    };
    features.push((format!("{count} rows"), 1.0));
    let sketch = &candidate.described;
    let kind = match (&sketch.order, sketch.limit, sketch.conditions.is_empty(), &sketch.without) {
        (_, _, _, Some(_)) => "without",
        (Some(_), Some(_), ..) => "first",
        (_, _, false, _) => "filtered",
        _ => "all",
    };
    features.push((format!("{count} rows {kind} {}", sketch.joined.name()), 1.0));
    if let Some(shape) = Shape::of(sketch).map(Shape::name) {
        features.push((format!("{count} rows, {shape}"), 1.0));
        features.push((format!("{} shown, {shape}", sketch.shown.len()), 1.0));
        features.push((format!("{} conditions, {shape}", sketch.conditions.len()), 1.0));
    }
    let null = rows.rows.iter().flatten().any(|value| matches!(value, Value::Null));
    if null {
        features.push(("null".to_owned(), 1.0));
    }
    let zero = matches!(rows.rows.as_slice(), [row] if matches!(row.as_slice(), [Value::Integer(0)]));
    if zero {
        features.push(("zero".to_owned(), 1.0));
    }
    let mut lines: Vec<String> = rows.rows.iter().map(|row| line(row)).collect();
    let all = lines.len();
    lines.sort();
    lines.dedup();
    if lines.len() < all {
        features.push(("equal rows".to_owned(), 1.0));
        features.push((format!("equal rows {}", sketch.group.is_empty()), 1.0));
    }
}

fn line(row: &[Value]) -> String {
    let mut texts: Vec<String> = row.iter().map(text).collect();
    texts.sort();
    texts.join("\u{1}")
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "\u{0}".to_owned(),
        Value::Integer(value) => value.to_string(),
        #[allow(clippy::float_cmp, reason = "a whole number is one exactly")]
        Value::Real(value) if value.trunc() == *value && value.abs() < 1e15 => format!("{value:.0}"),
        Value::Real(value) => value.to_string(),
        Value::Text(text) => text.clone(),
        Value::Blob(_) => "\u{2}".to_owned(),
    }
}

/// The rows for comparing with others: neither their order nor that of the columns counts, nor how often a row is there.
fn key(rows: &Rows) -> String {
    let mut lines: Vec<String> = rows.rows.iter().map(|row| line(row)).collect();
    lines.sort();
    lines.dedup();
    lines.join("\n")
}

#[cfg(test)]
mod tests;
