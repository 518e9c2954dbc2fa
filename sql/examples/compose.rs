//! Fits the weights that compose statements over several tables, `sql/src/compose/weights.json`, on Spider's training
//! part, and measures them.
//!
//!     compose DATASETS oracle train|dev
//!     compose DATASETS fit OUTPUT [EVERY]
//!     compose DATASETS answer train|dev OUTPUT [--weights FILE] [--every N]
//!     compose DATASETS joins train|dev
//!
//! DATASETS has the folder `sql/spider`. With EVERY, the last choice is fitted to one question in so many. `oracle` counts
//! the gold statements that a sketch can say: whose sketch, written as SQL, has the gold rows; `joins` the questions that
//! are answered by graphs with joins and without. OUTPUT of `answer` has a line a question. Statements are right where
//! they have the gold rows by Spider's rule: `DISTINCT` is left out of both, columns may be in another order, rows too
//! where the gold statement has no ORDER BY.

#[path = "spider/gold.rs"]
mod gold;
#[path = "spider/rows.rs"]
mod rows;
mod spider;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rows::{GOLD_ROWS, Gold, MOST_ROWS, run, without_distinct};
use rusqlite::Connection;
use spider::{Databases, Joins, Question, examples, of_spider};
use tabsegnet_sql::compose::fit::{Labelled, Scored, confidences, fit_parts, fit_rank, scored};
use tabsegnet_sql::compose::{Composer, Model, Operand, Relation, Sketch};
use tabsegnet_sql::generate::Generation;
use tabsegnet_sql::linking::fit::{Settings, hold_out};
use tabsegnet_sql::linking::{Linked, Linker, Model as LinkingModel, Weights};
use tabsegnet_sql::schema_graph::SchemaGraph;

/// What composing and linking may take.
const TIME: Duration = Duration::from_secs(5);

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [data, "oracle", part] => oracle(data.as_ref(), part),
        [data, "joins", part] => with_and_without_joins(data.as_ref(), part),
        [data, "fit", output] => fit_on(data.as_ref(), output.as_ref(), 1),
        [data, "fit", output, every] => fit_on(data.as_ref(), output.as_ref(), every.parse::<usize>()?.max(1)),
        [data, "answer", part, output, more @ ..] => {
            let (mut model, mut every) = (Model::shipped().clone(), 1);
            for pair in more.chunks(2) {
                match pair {
                    ["--weights", file] => model = serde_json::from_str(&std::fs::read_to_string(file)?)?,
                    ["--every", number] => every = number.parse::<usize>()?.max(1),
                    _ => bail!("see the head of this file"),
                }
            }
            answer(data.as_ref(), part, output.as_ref(), &model, every)
        }
        _ => bail!("see the head of this file"),
    }
}

/// The databases of questions, open.
struct Open {
    databases: Databases,
    connections: BTreeMap<String, Connection>,
}

fn open(data: &Path, part: &str, joins: Joins) -> Result<(Vec<Question>, Open)> {
    let (questions, databases) = of_spider(data, part, joins)?;
    let mut connections = BTreeMap::new();
    for name in &databases.names {
        let connection = rows::open(data, name)?;
        connections.insert(name.clone(), connection);
    }
    Ok((questions, Open { databases, connections }))
}

fn linkers(databases: &Databases) -> Vec<Linker<'_>> {
    let pairs = databases.graphs.iter().zip(&databases.values);
    pairs.map(|(graph, values)| Linker::new(graph, values.clone(), LinkingModel::shipped())).collect()
}

fn composers<'l, 'g>(linkers: &'l [Linker<'g>], model: &Model) -> Vec<Composer<'l, 'g>> {
    linkers.iter().map(|linker| Composer::new(linker, model)).collect()
}

/// A question with what is composed for it.
struct Composed<'o> {
    /// The number of its database.
    at: usize,
    connection: &'o Connection,
    gold: Gold,
    found: Generation,
    ms: f64,
}

/// Composes for a question; nothing where its gold statement does not run.
fn composed<'o>(question: &Question, open: &'o Open, composers: &[Composer<'_, '_>]) -> Result<Option<Composed<'o>>> {
    let at = open.databases.names.binary_search(&question.db).ok().context("a database")?;
    let connection = &open.connections[&question.db];
    let Ok(gold) = Gold::new(&question.sql, connection) else { return Ok(None) };
    let start = Instant::now();
    let found = composers[at].compose(&question.question, TIME, &mut |sql| run(connection, sql, MOST_ROWS));
    Ok(Some(Composed { at, connection, gold, found, ms: start.elapsed().as_secs_f64() * 1000.0 }))
}

fn oracle(data: &Path, part: &str) -> Result<()> {
    let (questions, open) = open(data, part, Joins::ALL)?;
    let linkers = linkers(&open.databases);
    let (mut said, mut right) = (0, 0);
    for question in &questions {
        let at = open.databases.names.binary_search(&question.db).ok().context("a database")?;
        let (linker, connection) = (&linkers[at], &open.connections[&question.db]);
        let Some(sketch) = gold::sketch(&question.sql, linker.graph()) else {
            println!("not said\t{}", question.sql);
            continue;
        };
        said += 1;
        let Some((sql, _)) = sketch.sql(linker.graph(), linker.joiner(), &[]) else { continue };
        let gold = Gold::new(&question.sql, connection).context("gold")?;
        match run(connection, &without_distinct(&sql), GOLD_ROWS) {
            Ok(rows) if gold.is(&rows) => right += 1,
            other => {
                println!("other\t{}\t{sql}\t{}", question.sql, other.err().map_or(String::new(), |e| e.to_string()))
            }
        }
    }
    println!("{part}: {} questions, a sketch says {said}, {right} with the gold rows", questions.len());
    Ok(())
}

fn fit_on(data: &Path, output: &Path, every: usize) -> Result<()> {
    let start = Instant::now();
    let (mut questions, open) = open(data, "train", Joins::ALL)?;
    let mut linkers = linkers(&open.databases);
    // Statements learn from links made as later ones are: to databases that the linker has not learnt from.
    hold_out(&mut linkers, &examples(&questions, &open.databases), Settings::default());
    println!("linkers, {:?}", start.elapsed());
    for question in questions.iter_mut().step_by(SHORTENED) {
        question.question = without_opening(&question.question);
    }
    let mut labelled: Vec<(usize, Labelled<'_, '_>)> = Vec::new();
    for question in &questions {
        let at = open.databases.names.binary_search(&question.db).ok().context("a database")?;
        if let Some(sketch) = gold::sketch(&question.sql, linkers[at].graph()) {
            labelled.push((at, Labelled { question: question.question.clone(), linker: &linkers[at], sketch }));
        }
    }
    println!("{} questions with a sketch, {:?}", labelled.len(), start.elapsed());
    let mut model = fit_parts(labelled.iter().map(|(_, of)| of));
    println!("parts, {:?}", start.elapsed());
    let mut ranks = Vec::new();
    for split in 0..SPLITS {
        // The last choice learns from parts that were fitted to other databases.
        let half = |at: usize| (at >> split) & 1;
        let of = |half_of: usize| labelled.iter().filter(move |(at, _)| half(*at) != half_of).map(|(_, of)| of);
        let halves = [fit_parts(of(0)), fit_parts(of(1))];
        println!("halves, {:?}", start.elapsed());
        let mut scored_questions: Vec<Scored> = Vec::new();
        let (mut reached, mut unanswerable) = (0, Unanswerable::default());
        for (number, question) in questions.iter().enumerate().filter(|(number, _)| number % every == 0) {
            let at = open.databases.names.binary_search(&question.db).ok().context("a database")?;
            let connection = &open.connections[&question.db];
            let Ok(gold) = Gold::new(&question.sql, connection) else { continue };
            let parts = &halves[half(at)];
            let found = scored(
                &linkers[at],
                parts,
                &question.question,
                &mut |sql| run(connection, sql, MOST_ROWS),
                &mut |sql, rows| {
                    if sql.contains("DISTINCT") { gold.is_of(sql, connection) } else { gold.is(rows) }
                },
            );
            reached += usize::from(found.any());
            scored_questions.push(found);
            let sketch = gold::sketch(&question.sql, linkers[at].graph());
            if let Some(other) = sketch.and_then(|sketch| unanswerable.of(&question.question, &question.db, &sketch)) {
                let run = &mut |sql: &str| run(connection, sql, MOST_ROWS);
                scored_questions.push(scored(&linkers[at], parts, &other, run, &mut |_, _| false));
            }
            if number % 500 == 0 {
                println!("{number}: {reached} of {} reached, {:?}", scored_questions.len(), start.elapsed());
            }
        }
        let made = unanswerable.made;
        println!(
            "{} questions, {made} of them made unanswerable, {reached} with a right statement, {:?}",
            scored_questions.len(),
            start.elapsed()
        );
        model.rank = fit_rank(&scored_questions);
        println!("rank, {:?}", start.elapsed());
        let mut sure = confidences(&scored_questions, &model);
        sure.sort_by(|a, b| b.0.total_cmp(&a.0));
        tell(&sure);
        ranks.push(std::mem::take(&mut model.rank));
    }
    model.rank = Weights::mean(&ranks);
    std::fs::write(output, serde_json::to_string_pretty(&model)? + "\n")?;
    Ok(())
}

/// In so many ways the databases are put in halves; the last choice's weights are the mean of what is learnt by each, as what one
/// learns hangs on which databases are together.
const SPLITS: usize = 3;

/// One of so many questions is put as people type it, "singers over 40", which published questions do not teach.
const SHORTENED: usize = 3;

/// A question without the words that only say it is one: "What are the names of singers?" as "names of singers".
fn without_opening(question: &str) -> String {
    const OPENINGS: [&str; 18] = [
        "what is the", "what are the", "what was the", "what were the", "what are", "what is", "show me the",
        "show the", "show", "list the", "list all", "list", "find the", "find", "give me the", "give the",
        "return the", "tell me the",
    ];
    const MORE: [&str; 3] = ["all the", "all", "the"];
    let lower = question.to_lowercase();
    let rest = |openings: &[&str], text: &str| {
        openings.iter().find_map(|opening| text.strip_prefix(opening)?.strip_prefix(' ').map(str::len))
    };
    let Some(mut left) = rest(&OPENINGS, &lower) else { return question.to_owned() };
    let of = |left: usize| lower.get(lower.len() - left..).unwrap_or_default();
    left = rest(&MORE, of(left)).unwrap_or(left);
    // In the letters of the question, where lower case has as many.
    let from = question.len().checked_sub(left).filter(|_| question.len() == lower.len());
    let short = from.and_then(|from| question.get(from..)).unwrap_or_else(|| of(left));
    let short = short.trim_end_matches(['?', '.', ' ']);
    if short.split_whitespace().count() < 2 { question.to_owned() } else { short.to_owned() }
}

/// Makes questions that nothing in their database answers: with the value of another database in the place of their own. No
/// statement is right for them, which published questions do not teach.
#[derive(Default)]
struct Unanswerable {
    /// Values of the questions so far, with their databases.
    values: Vec<(String, String)>,
    seen: usize,
    made: usize,
}

/// One of so many questions with a value is made unanswerable as well.
const UNANSWERABLE: usize = 3;

impl Unanswerable {
    fn of(&mut self, question: &str, db: &str, sketch: &Sketch) -> Option<String> {
        let value = sketch.conditions.iter().find_map(|condition| match (&condition.operand, condition.relation) {
            (Operand::Text(text), Relation::Equal) if question.contains(text.as_str()) && text.len() > 2 => Some(text),
            _ => None,
        })?;
        self.seen += 1;
        let others: Vec<&String> = self.values.iter().filter(|(of, _)| of != db).map(|(_, value)| value).collect();
        // Another one each time.
        let other = others.get((self.seen * 7919) % others.len().max(1)).map(|other| (*other).clone());
        self.values.push((db.to_owned(), value.clone()));
        let other = other.filter(|_| self.seen.is_multiple_of(UNANSWERABLE))?;
        self.made += 1;
        Some(question.replacen(value.as_str(), &other, 1))
    }
}

fn answer(data: &Path, part: &str, output: &Path, model: &Model, every: usize) -> Result<()> {
    let (questions, open) = open(data, part, Joins::ALL)?;
    let linkers = linkers(&open.databases);
    let composers = composers(&linkers, model);
    let mut lines = String::new();
    let (mut all, mut right, mut said, mut said_right, mut reached) = (0, 0, 0, 0, 0);
    let (mut exact, mut joined) = ([(0, 0); 3], 0);
    let (mut times, mut times_linked) = (Vec::new(), Vec::new());
    let mut by_confidence: Vec<(f32, bool)> = Vec::new();
    for question in questions.iter().step_by(every) {
        let Some(Composed { at, connection, gold, found, ms }) = composed(question, &open, &composers)? else {
            continue;
        };
        times.push(ms);
        let mut any = false;
        let mut check = |sql: &str| {
            let holds = gold.is_of(sql, connection);
            any |= holds;
            holds
        };
        let best = found.proposals.first();
        let is_right = best.is_some_and(|best| check(&best.sql));
        found.proposals.iter().skip(1).for_each(|other| {
            check(&other.sql);
        });
        all += 1;
        right += usize::from(is_right);
        reached += usize::from(any);
        said += usize::from(!found.abstained);
        said_right += usize::from(!found.abstained && is_right);
        by_confidence.push((best.map_or(0.0, |best| best.confidence), is_right));
        let of = spider::Gold::of(question, linkers[at].graph());
        let start = Instant::now();
        let (linked, _) = composers[at].link(&question.question, TIME, &mut |sql| run(connection, sql, MOST_ROWS));
        times_linked.push(start.elapsed().as_secs_f64() * 1000.0);
        let ways = [
            likeliest(&linkers[at].link(&question.question), linkers[at].graph()),
            likeliest(&linked, linkers[at].graph()),
            best.map(|best| parts(&best.sql, linkers[at].graph())).unwrap_or_default(),
        ];
        joined += usize::from(!of.joins.is_empty());
        for ((tables, joins), (exact_tables, exact_joins)) in ways.iter().zip(&mut exact) {
            *exact_tables += usize::from(*tables == of.tables);
            *exact_joins += usize::from(!of.joins.is_empty() && *joins == of.joins);
        }
        let record = serde_json::json!({
            "db": question.db, "question": question.question, "gold": question.sql, "right": is_right,
            "in_five": any, "abstained": found.abstained,
            "confidence": best.map_or(0.0, |best| best.confidence), "sql": best.map_or("", |best| &best.sql),
        });
        writeln!(lines, "{record}")?;
    }
    std::fs::write(output, lines)?;
    times.sort_by(f64::total_cmp);
    let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
    println!("SQL over several tables, Spider's {part} part, right by Spider's rule:\n");
    println!(
        "| questions | answered | right of all, nothing held back | right of all | right of answered | right among the first five | median ms |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    println!(
        "| {all} | {said} | {:.3} | {:.3} | {:.3} | {:.3} | {:.1} |",
        share(right, all),
        share(said_right, all),
        share(said_right, said),
        share(reached, all),
        times.get(times.len() / 2).copied().unwrap_or_default()
    );
    times_linked.sort_by(f64::total_cmp);
    println!("\n| | exact tables | exact joins, of {joined} questions that join |\n|---|---:|---:|");
    let names = ["the linker", "the linker and the likely statements", "the likeliest statement"];
    for (name, (tables, joins)) in names.iter().zip(exact) {
        println!("| {name} | {:.3} | {:.3} |", share(tables, all), share(joins, joined));
    }
    let median = times_linked.get(times_linked.len() / 2).copied().unwrap_or_default();
    println!("\nThe linker with the likely statements takes {median:.1} ms a question (median).\n");
    by_confidence.sort_by(|a, b| b.0.total_cmp(&a.0));
    tell(&by_confidence);
    Ok(())
}

/// What statements are worth by the joins that the schema's graph has.
fn with_and_without_joins(data: &Path, part: &str) -> Result<()> {
    println!(
        "Statements by the joins that the graph has, Spider's {part} part, right by Spider's rule, nothing held back:\n"
    );
    println!("| joins | right of all | of one table | of several | right of answered |\n|---|---:|---:|---:|---:|");
    let graphs = [
        ("none", Joins { declared: false, guessed: false }),
        ("guessed from names of columns", Joins { declared: false, guessed: true }),
        ("foreign keys", Joins::DECLARED),
        ("foreign keys, and guessed ones", Joins::ALL),
    ];
    for (name, joins) in graphs {
        let (questions, open) = open(data, part, joins)?;
        let linkers = linkers(&open.databases);
        let composers = composers(&linkers, Model::shipped());
        // Right and all, of one table and of several; of those that are not held back.
        let (mut of, mut said) = ([(0, 0); 2], (0, 0));
        for question in &questions {
            let Some(Composed { connection, gold, found, .. }) = composed(question, &open, &composers)? else {
                continue;
            };
            let right = found.proposals.first().is_some_and(|best| gold.is_of(&best.sql, connection));
            let several = question.gold_tables.as_ref().is_some_and(|tables| tables.len() > 1);
            let add = |(hits, all): &mut (usize, usize)| (*hits, *all) = (*hits + usize::from(right), *all + 1);
            add(&mut of[usize::from(several)]);
            if !found.abstained {
                add(&mut said);
            }
        }
        let share = |(hits, all): (usize, usize)| hits as f64 / all.max(1) as f64;
        let all = (of[0].0 + of[1].0, of[0].1 + of[1].1);
        println!("| {name} | {:.3} | {:.3} | {:.3} | {:.3} |", share(all), share(of[0]), share(of[1]), share(said));
    }
    Ok(())
}

/// How many are right of the surest.
fn tell(by_confidence: &[(f32, bool)]) {
    println!("| the surest | confidence, at least | right of them |\n|---:|---:|---:|");
    let mut hits = 0;
    for (count, (confidence, right)) in by_confidence.iter().enumerate() {
        hits += usize::from(*right);
        if (count + 1) % (by_confidence.len() / 10).max(1) == 0 {
            println!("| {} | {confidence:.2} | {:.3} |", count + 1, hits as f64 / (count + 1) as f64);
        }
    }
}

/// The tables that a question likely needs, and the pairs of columns that they are joined by.
fn likeliest(linked: &Linked, graph: &SchemaGraph) -> (BTreeSet<usize>, BTreeSet<(usize, usize)>) {
    let Some(set) = linked.sets.first() else { return Default::default() };
    let joins = set.tree.joins_in(graph);
    let pairs = joins.flat_map(|join| join.pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))));
    (set.tree.tables.iter().copied().collect(), pairs.collect())
}

/// The tables that a statement of ours has, and the pairs of columns that it joins by.
fn parts(sql: &str, graph: &SchemaGraph) -> (BTreeSet<usize>, BTreeSet<(usize, usize)>) {
    let name = |text: &str| text.trim_matches(['(', ')', '"']).to_owned();
    let column = |text: &str| {
        let (table, column) = text.split_once("\".\"")?;
        graph.column(graph.table(&name(table))?, &name(column))
    };
    let words: Vec<&str> = sql.split(' ').collect();
    let (mut tables, mut joins) = (BTreeSet::new(), BTreeSet::new());
    for window in words.windows(3) {
        if let ["FROM" | "JOIN", table, _] = window {
            tables.extend(graph.table(&name(table)));
        }
        if let [a, "=", b] = window
            && let (Some(a), Some(b)) = (column(a), column(b))
        {
            joins.insert((a.min(b), a.max(b)));
        }
    }
    // At the end of a statement.
    if let [.., "FROM" | "JOIN", table] = words.as_slice() {
        tables.extend(graph.table(&name(table)));
    }
    (tables, joins)
}
