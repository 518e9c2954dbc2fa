//! Measures schema linking, joins and lineage, as tables in Markdown.
//!
//!     schema_figures DATASETS [--part dev|train] [--weights FILE] [--ranking NAME=FILE]... [--wrong]
//!
//! DATASETS has the folder `sql`. With `--weights` other weights than the shipped ones; `--ranking` is another ranking of
//! the columns and tables of Spider's questions, TREC lines over the documents of `schema_documents`: several of one
//! name are measured together; `--wrong` also prints the questions whose tables or joins are not right.

mod spider;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use spider::{Databases, Gold, Question, documents, of_beaver, of_bird, of_spider};
use tabsegnet_sql::Schema;
use tabsegnet_sql::joins::{JoinTree, Joiner};
use tabsegnet_sql::linking::{Linker, Model, Similarity, ValueIndex, Words};
use tabsegnet_sql::schema_graph::{SchemaGraph, SqlDialect, lineage};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut data = None;
    let (mut part, mut model, mut wrong) = ("dev".to_owned(), Model::shipped().clone(), false);
    let mut rankings: Vec<(String, Vec<Ranking>)> = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--part" => part = arguments.next().context("--part PART")?,
            "--weights" => {
                let file = arguments.next().context("--weights FILE")?;
                model = serde_json::from_str(&std::fs::read_to_string(&file).context(file)?)?;
            }
            "--ranking" => {
                let ranking = arguments.next().context("--ranking NAME=FILE")?;
                let (name, file) = ranking.split_once('=').context("--ranking NAME=FILE")?;
                let read = Ranking::read(Path::new(file))?;
                match rankings.iter_mut().find(|(other, _)| other == name) {
                    Some((_, several)) => several.push(read),
                    None => rankings.push((name.to_owned(), vec![read])),
                }
            }
            "--wrong" => wrong = true,
            _ => data = Some(PathBuf::from(argument)),
        }
    }
    let Some(data) = data else { bail!("see the head of this file") };
    linking(&data, &part, &model, &rankings, wrong)?;
    pooled(&data, &part, &model)?;
    joins(&data, &model, wrong, &part)?;
    with_and_without(&data, &part, &model)?;
    derivations(&data, wrong)
}

/// Sums of figures by name, in the order of the names.
#[derive(Default)]
struct Sums(BTreeMap<&'static str, (f64, usize)>);

impl Sums {
    fn add(&mut self, name: &'static str, value: f64) {
        let of = self.0.entry(name).or_default();
        of.0 += value;
        of.1 += 1;
    }

    fn mean(&self, name: &str) -> f64 {
        self.0.get(name).map_or(f64::NAN, |(sum, count)| sum / (*count).max(1) as f64)
    }
}

fn is(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

const AT: [(usize, &str, &str); 3] =
    [(5, "recall@5", "all@5"), (10, "recall@10", "all@10"), (20, "recall@20", "all@20")];

/// What a ranking of columns, the best first with scores, is worth.
fn rank(sums: &mut Sums, order: &[(usize, f32)], gold: &BTreeSet<usize>) {
    if gold.is_empty() {
        return;
    }
    for (k, recall, all) in AT {
        let found = order.iter().take(k).filter(|(column, _)| gold.contains(column)).count();
        sums.add(recall, found as f64 / gold.len() as f64);
        sums.add(all, is(found == gold.len()));
    }
    let (right, others): (Vec<&(usize, f32)>, Vec<_>) = order.iter().partition(|(column, _)| gold.contains(column));
    if !others.is_empty() && !right.is_empty() {
        let beats = |a: f32, b: f32| {
            if a > b {
                1.0
            } else if a == b {
                0.5
            } else {
                0.0
            }
        };
        let won: f64 = right.iter().flat_map(|(_, a)| others.iter().map(move |(_, b)| beats(*a, *b))).sum();
        sums.add("AUC", won / (right.len() * others.len()) as f64);
    }
}

fn recall_of_tables(sums: &mut Sums, order: impl Iterator<Item = usize> + Clone, gold: &Gold) {
    for (k, recall) in [(1, "recall@1"), (2, "recall@2"), (3, "recall@3")] {
        let found = order.clone().take(k).filter(|table| gold.tables.contains(table)).count();
        sums.add(recall, found as f64 / gold.tables.len() as f64);
    }
}

/// Scores of nodes by question and node.
struct Ranking(HashMap<String, HashMap<String, f32>>);

impl Ranking {
    /// From TREC lines: question, Q0, node, rank, score, name.
    fn read(file: &Path) -> Result<Self> {
        let mut scores: HashMap<String, HashMap<String, f32>> = HashMap::new();
        for line in std::fs::read_to_string(file).with_context(|| file.display().to_string())?.lines() {
            let [question, _, node, _, score, _] = line.split(' ').collect::<Vec<_>>()[..] else {
                bail!("{}: no TREC line: {line}", file.display());
            };
            scores.entry(question.to_owned()).or_default().insert(node.to_owned(), score.parse()?);
        }
        Ok(Self(scores))
    }

    fn score(&self, question: &str, node: &str) -> Option<f32> {
        self.0.get(question)?.get(node).copied()
    }
}

/// Things by their scores, the best first, of equal ones the first.
fn by_score(count: usize, score: impl Fn(usize) -> Result<f32>) -> Result<Vec<(usize, f32)>> {
    let mut order: Vec<(usize, f32)> = (0..count).map(|at| Ok((at, score(at)?))).collect::<Result<_>>()?;
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(order)
}

fn linkers<'g>(databases: &'g Databases, model: &Model, with_values: bool) -> Vec<Linker<'g>> {
    let values = |values: &ValueIndex| if with_values { values.clone() } else { ValueIndex::default() };
    databases.graphs.iter().zip(&databases.values).map(|(graph, of)| Linker::new(graph, values(of), model)).collect()
}

fn pairs(graph: &SchemaGraph, tree: &JoinTree) -> BTreeSet<(usize, usize)> {
    let joins = tree.joins.iter().filter_map(|&join| graph.joins().get(join));
    joins.flat_map(|join| join.pairs.iter().map(|&(a, b)| (a.min(b), a.max(b)))).collect()
}

/// Which columns are equal in the end, whichever pairs say so.
fn classes(pairs: &BTreeSet<(usize, usize)>) -> BTreeSet<BTreeSet<usize>> {
    let mut classes: Vec<BTreeSet<usize>> = Vec::new();
    for &(a, b) in pairs {
        let (mut joined, rest): (Vec<_>, Vec<_>) = classes.into_iter().partition(|c| c.contains(&a) || c.contains(&b));
        joined.push(BTreeSet::from([a, b]));
        classes = rest;
        classes.push(joined.into_iter().flatten().collect());
    }
    classes.into_iter().collect()
}

fn shown(graph: &SchemaGraph, pairs: &BTreeSet<(usize, usize)>) -> String {
    let pair = |&(a, b): &(usize, usize)| format!("{}={}", graph.column_id(a), graph.column_id(b));
    pairs.iter().map(pair).collect::<Vec<_>>().join(" ")
}

fn linking(data: &Path, part: &str, model: &Model, rankings: &[(String, Vec<Ranking>)], wrong: bool) -> Result<()> {
    let (questions, databases) = of_spider(data, part, true)?;
    println!(
        "Schema linking on Spider, {part} part ({} questions, {} databases):\n",
        questions.len(),
        databases.names.len()
    );
    println!("| | recall@5 | @10 | @20 | all of them @5 | @10 | @20 | AUC |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    let line = |name: &str, sums: &Sums| {
        let names = ["recall@5", "recall@10", "recall@20", "all@5", "all@10", "all@20", "AUC"];
        let cells: Vec<String> = names.iter().map(|name| format!("{:.3}", sums.mean(name))).collect();
        println!("| {name} | {} |", cells.join(" | "));
    };
    let mut tables = Sums::default();
    for (name, with_values) in [("columns, fitted weights", true), ("the same without values", false)] {
        let linkers = linkers(&databases, model, with_values);
        let mut sums = Sums::default();
        for question in &questions {
            let Some(linker) = databases.names.binary_search(&question.db).ok().and_then(|at| linkers.get(at)) else {
                continue;
            };
            let gold = Gold::of(question, linker.graph());
            let start = Instant::now();
            let linked = linker.link(&question.question);
            let seconds = start.elapsed().as_secs_f64();
            let order: Vec<(usize, f32)> = linked.columns.iter().map(|c| (c.column, c.probability)).collect();
            rank(&mut sums, &order, &gold.columns);
            if !with_values {
                continue;
            }
            tables.add("ms", seconds * 1000.0);
            recall_of_tables(&mut tables, linked.tables.iter().map(|table| table.table), &gold);
            let set =
                |at: usize| linked.sets.get(at).map(|set| set.tree.tables.iter().copied().collect::<BTreeSet<_>>());
            let exact = set(0).as_ref() == Some(&gold.tables);
            tables.add("exact", is(exact));
            tables.add("in three", is((0..3).any(|at| set(at).as_ref() == Some(&gold.tables))));
            tables.add("in ten", is((0..10).any(|at| set(at).as_ref() == Some(&gold.tables))));
            let sure = linked.sets.first().is_some_and(|best| best.probability >= 0.8);
            tables.add("sure", is(sure));
            if sure {
                tables.add("exact, sure", is(exact));
            }
            if wrong && !exact {
                let names = |set: &BTreeSet<usize>| {
                    let name = |&table: &usize| linker.graph().tables().get(table).map(|t| t.name.to_lowercase());
                    set.iter().filter_map(name).collect::<Vec<_>>().join(",")
                };
                eprintln!(
                    "tables\t{}\t{}\tgold {}\tfound {}",
                    question.db,
                    question.question,
                    names(&gold.tables),
                    names(&set(0).unwrap_or_default())
                );
            }
        }
        line(name, &sums);
    }
    let mut sums = Sums::default();
    let similar: Vec<Similarity> = databases.graphs.iter().map(|graph| Similarity::new(graph, &[])).collect();
    for question in &questions {
        let Ok(at) = databases.names.binary_search(&question.db) else { continue };
        let (Some(similar), Some(graph)) = (similar.get(at), databases.graphs.get(at)) else { continue };
        let scores = similar.scores(&Words::of(&question.question));
        let order = by_score(scores.len(), |at| Ok(scores.get(at).copied().unwrap_or_default()))?;
        rank(&mut sums, &order, &Gold::of(question, graph).columns);
    }
    line("columns, eq. 2 of SGAM on TF-IDF", &sums);
    let mut others = Vec::new();
    for (name, rankings) in rankings {
        let (mut sums, mut tables) = (Sums::default(), Sums::default());
        for (number, question) in questions.iter().enumerate() {
            let Ok(at) = databases.names.binary_search(&question.db) else { continue };
            let Some(graph) = databases.graphs.get(at) else { continue };
            let gold = Gold::of(question, graph);
            for ranking in rankings {
                let id = documents::id(part, number);
                let of = |node: &str| ranking.score(&id, node).with_context(|| format!("{name}: {id} has no {node}"));
                rank(
                    &mut sums,
                    &by_score(graph.columns().len(), |at| of(&documents::column(graph, at)))?,
                    &gold.columns,
                );
                let order = by_score(graph.tables().len(), |at| of(&documents::table(at)))?;
                recall_of_tables(&mut tables, order.iter().map(|(table, _)| *table), &gold);
            }
        }
        line(&format!("columns, {name}"), &sums);
        others.push((name, tables));
    }
    let headers: String = others.iter().map(|(name, _)| format!(" {name} |")).collect();
    println!("\n| tables | fitted weights |{headers}\n|---|---:|{}", "---:|".repeat(others.len()));
    for (name, of) in [
        ("recall@1", "recall@1"),
        ("recall@2", "recall@2"),
        ("recall@3", "recall@3"),
        ("exact set", "exact"),
        ("exact set among the first three", "in three"),
        ("exact set among the first ten", "in ten"),
        ("share of questions with a set of probability ≥ .8", "sure"),
        ("exact set, of those", "exact, sure"),
    ] {
        let cell = |(_, sums): &(&String, Sums)| match sums.mean(of) {
            mean if mean.is_nan() => " |".to_owned(),
            mean => format!(" {mean:.3} |"),
        };
        println!("| {name} | {:.3} |{}", tables.mean(of), others.iter().map(cell).collect::<String>());
    }
    println!("| milliseconds a question, mean | {:.2} |{}\n", tables.mean("ms"), " |".repeat(others.len()));
    Ok(())
}

/// Each question put to all databases of a part at once: tables by their own probability times that of the likeliest table
/// of their database, which says how much the question is about it at all.
fn pooled(data: &Path, part: &str, model: &Model) -> Result<()> {
    let (questions, databases) = of_spider(data, part, true)?;
    let linkers = linkers(&databases, model, true);
    let mut sums = Sums::default();
    for question in &questions {
        let mut tables: Vec<(usize, usize, f32)> = Vec::new();
        let mut gold = BTreeSet::new();
        for (at, linker) in linkers.iter().enumerate() {
            let linked = linker.link(&question.question);
            let best = linked.tables.iter().map(|table| table.alone).fold(0.0, f32::max);
            tables.extend(linked.tables.iter().map(|table| (at, table.table, table.alone * best)));
            if databases.names.get(at) == Some(&question.db) {
                gold.extend(Gold::of(question, linker.graph()).tables.into_iter().map(|table| (at, table)));
            }
        }
        tables.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        for (k, recall) in [(1, "recall@1"), (2, "recall@2"), (3, "recall@3"), (5, "recall@5"), (10, "recall@10")] {
            let found = tables.iter().take(k).filter(|(at, table, _)| gold.contains(&(*at, *table))).count();
            sums.add(recall, found as f64 / gold.len().max(1) as f64);
        }
    }
    let tables: usize = linkers.iter().map(|linker| linker.graph().tables().len()).sum();
    println!("Tables among those of all {} databases, {tables} in all:\n", linkers.len());
    println!("| recall@1 | @2 | @3 | @5 | @10 |\n|---:|---:|---:|---:|---:|");
    let names = ["recall@1", "recall@2", "recall@3", "recall@5", "recall@10"];
    let cells: Vec<String> = names.iter().map(|name| format!("{:.3}", sums.mean(name))).collect();
    println!("| {} |\n", cells.join(" | "));
    Ok(())
}

fn joins(data: &Path, model: &Model, wrong: bool, part: &str) -> Result<()> {
    println!("Joins, of questions whose statement joins two tables or more:\n");
    println!("| | questions | exact joins | the same columns equal |");
    println!("|---|---:|---:|---:|");
    for (guess, how) in [(false, "declared joins"), (true, "and guessed ones")] {
        let spider = of_spider(data, part, guess)?;
        let linkers = linkers(&spider.1, model, true);
        let name = format!("Spider, from the question alone, {how}");
        report(&name, part, &spider, wrong && guess, |question, at, _| {
            linkers
                .get(at)
                .and_then(|linker| linker.link(&question.question).sets.into_iter().next())
                .map(|set| set.tree)
        });
        let given = |question: &Question, databases: &Databases, at: usize, gold: &Gold| {
            let graph = databases.graphs.get(at)?;
            let joiner = Joiner::new(graph);
            let tables: Vec<usize> = gold.tables.iter().copied().collect();
            Some(joiner.tree(&tables, &joiner.costs(&Words::of(&question.question))))
        };
        let name = format!("Spider, from the gold tables, {how}");
        report(&name, part, &spider, wrong && guess, |q, at, gold| given(q, &spider.1, at, gold));
        let bird = of_bird(data, guess)?;
        let name = format!("BIRD, from the gold tables, {how}");
        report(&name, "dev", &bird, wrong && guess, |q, at, gold| given(q, &bird.1, at, gold));
        let beaver = of_beaver(data, guess)?;
        let name = format!("BEAVER dw, from the gold tables, {how}");
        report(&name, "visible", &beaver, wrong && guess, |q, at, gold| given(q, &beaver.1, at, gold));
    }
    println!();
    Ok(())
}

/// By which columns tables are taken.
#[derive(Clone, Copy)]
enum By {
    /// Those of which eq. 2 says at least so much.
    Similarity(f32),
    /// Those that the fitted model finds mentioned rather than not.
    Mention,
}

/// What joins them.
#[derive(Clone, Copy)]
enum Graph {
    Nothing,
    Anchor,
    Tree,
}

/// How often tables and joins are exact when tables are those of single columns, with and without the graph.
fn with_and_without(data: &Path, part: &str, model: &Model) -> Result<()> {
    let train = of_spider(data, "train", false)?;
    let of_train = linkers(&train.1, model, true);
    let steps = (1..20).map(|step| step as f32 / 20.0);
    let reached = |least: f32| columns_joined(&train, &of_train, By::Similarity(least), Graph::Anchor).1;
    let best = steps.map(|least| (reached(least), least)).max_by(|a, b| a.0.total_cmp(&b.0));
    let least = best.map_or(0.5, |(_, least)| least);
    let asked = of_spider(data, part, false)?;
    let linkers = linkers(&asked.1, model, true);
    println!("Tables of single columns, with and without the graph, Spider's {part} part, declared joins:\n");
    println!("| columns | joined by | exact tables | exact joins |\n|---|---|---:|---:|");
    for (columns, by) in [
        (format!("eq. 2 of SGAM ≥ {least:.2} (from the training part)"), By::Similarity(least)),
        ("mentioned, fitted".to_owned(), By::Mention),
    ] {
        for (joined, graph) in [
            ("nothing", Graph::Nothing),
            ("paths to v* (eq. 8), pruned and merged", Graph::Anchor),
            ("the cheapest tree", Graph::Tree),
        ] {
            let (tables, joins) = columns_joined(&asked, &linkers, by, graph);
            println!("| {columns} | {joined} | {tables:.3} | {joins:.3} |");
        }
    }
    println!();
    Ok(())
}

/// The share of questions with exact tables, and of those that join the share with exact joins.
fn columns_joined(
    (questions, databases): &(Vec<Question>, Databases),
    linkers: &[Linker<'_>],
    by: By,
    how: Graph,
) -> (f64, f64) {
    let similar: Vec<Similarity> = databases.graphs.iter().map(|graph| Similarity::new(graph, &[])).collect();
    let (mut exact, mut joining, mut exact_joins) = (0, 0, 0);
    for question in questions {
        let Ok(at) = databases.names.binary_search(&question.db) else { continue };
        let (Some(linker), Some(similar)) = (linkers.get(at), similar.get(at)) else { continue };
        let graph = linker.graph();
        let words = Words::of(&question.question);
        let columns: Vec<usize> = match by {
            By::Similarity(least) => {
                let scores = similar.scores(&words).into_iter().enumerate();
                scores.filter(|(_, score)| *score >= least).map(|(column, _)| column).collect()
            }
            By::Mention => {
                let columns = linker.link(&question.question).columns;
                columns.into_iter().filter(|column| column.mentioned >= 0.5).map(|column| column.column).collect()
            }
        };
        let tables = columns.iter().filter_map(|&column| graph.columns().get(column)).map(|column| column.table);
        let tables: Vec<usize> = tables.collect::<BTreeSet<_>>().into_iter().collect();
        let tree = match how {
            Graph::Nothing => JoinTree { tables, joins: Vec::new(), cost: 0.0 },
            Graph::Anchor => linker.joiner().paths_to_anchor(&tables),
            Graph::Tree => linker.joiner().tree(&tables, &linker.joiner().costs(&words)),
        };
        let gold = Gold::of(question, graph);
        exact += usize::from(tree.tables.iter().copied().collect::<BTreeSet<_>>() == gold.tables);
        if !gold.joins.is_empty() {
            joining += 1;
            exact_joins += usize::from(pairs(graph, &tree) == gold.joins);
        }
    }
    let share = |of: usize, all: usize| of as f64 / all.max(1) as f64;
    (share(exact, questions.len()), share(exact_joins, joining))
}

fn report(
    name: &str,
    part: &str,
    (questions, databases): &(Vec<Question>, Databases),
    wrong: bool,
    tree: impl Fn(&Question, usize, &Gold) -> Option<JoinTree>,
) {
    let (mut count, mut exact, mut equal) = (0, 0, 0);
    for question in questions {
        let Ok(at) = databases.names.binary_search(&question.db) else { continue };
        let Some(graph) = databases.graphs.get(at) else { continue };
        let gold = Gold::of(question, graph);
        let written = question.gold_joins.as_ref().map_or(0, Vec::len);
        let tables = question.gold_tables.as_ref().map_or(0, |tables| tables.iter().collect::<BTreeSet<_>>().len());
        if tables < 2 || written == 0 {
            continue;
        }
        count += 1;
        let found = tree(question, at, &gold).map(|tree| pairs(graph, &tree)).unwrap_or_default();
        let right = found == gold.joins;
        exact += usize::from(right);
        equal += usize::from(classes(&found) == classes(&gold.joins));
        if wrong && !right {
            eprintln!(
                "{name}\t{}\t{}\tgold {}\tfound {}",
                question.db,
                question.question,
                shown(graph, &gold.joins),
                shown(graph, &found)
            );
        }
    }
    let share = |of: usize| of as f64 / f64::from(count.max(1));
    println!("| {name} ({part}) | {count} | {:.3} | {:.3} |", share(exact), share(equal));
}

fn derivations(data: &Path, wrong: bool) -> Result<()> {
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
