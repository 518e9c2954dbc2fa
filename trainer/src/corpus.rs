//! Learning to rank the tables of corpora, and measuring ways to rank them.

mod fusion;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use rayon::prelude::*;
use tabsegnet_corpus::gtr::GtrConfig;
use tabsegnet_corpus::{Candidates, Corpus, Fusion, GtrRetriever, Rerank, Retriever, Rrf, Weights, Writer};
use tabsegnet_datasets::tables::{TableQuestion, read_questions};
use tabsegnet_encoder::{Encoder, load};
use tabsegnet_evaluation::trec::{RankedQuestion, write_run};
use tabsegnet_evaluation::{Resampling, TableGold, TableMethod, TableRanking, compare_tables};
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::{Lists, grow};
use tabsegnet_store::{Digest, Staging, write_bytes_atomic};

use crate::config::{Config, CorpusPart};
use crate::layout::Layout;
use crate::progress::Progress;
use crate::training::Outcome;

/// Tables of a ranking that are measured.
const DEPTH: usize = 50;
/// Lists that the bins of features are computed from.
const LISTS_OF_BINS: usize = 600;

/// A corpus with questions.
struct Part {
    name: String,
    corpus: Corpus,
    train: Vec<TableQuestion>,
    dev: Vec<TableQuestion>,
}

/// Learns the sum that proposes candidates and the trees that order them.
///
/// # Errors
/// Files that cannot be read; no question whose gold is among its candidates.
pub fn train(config: &Config, stop: &AtomicBool) -> Result<Outcome> {
    let parts = parts(config)?;
    let questions: usize = parts.iter().map(|part| part.train.len()).sum();
    ensure!(questions > 0, "no part has train files; expected [[corpus.parts]] with train");
    let first = rows(&parts, &Weights::default(), stop)?;
    let Some(first) = first else { return Ok(Outcome::Stopped) };
    let weights = fusion::fitted(&first);
    drop(first);
    let Some(lists) = rows(&parts, &weights, stop)? else { return Ok(Outcome::Stopped) };
    let with_gold = lists.iter().filter(|list| list.gold.contains(&true)).count();
    ensure!(with_gold > 0, "no train question has a gold table among its candidates");
    let step = lists.len().div_ceil(LISTS_OF_BINS).max(1);
    let sample: Vec<f32> = lists.iter().step_by(step).flat_map(|list| list.rows.iter().copied()).collect();
    let mut grown_on = Lists::new(Bins::new(&sample, Candidates::width()));
    drop(sample);
    lists.into_iter().for_each(|list| grown_on.push(&list.rows, &list.gold));
    let boosting = &config.corpus.boosting;
    let mut progress = Progress::new("reranker of tables", boosting.count());
    let trees =
        grow(&grown_on, boosting, config.task.seed, &mut |trees| progress.set(trees, boosting.count(), "trees"));
    progress.finish(&format!("{} trees from {with_gold} questions", trees.count()));
    let rerank = Rerank::new(weights, trees);
    let layout = Layout::new(config);
    let staging = Staging::new(&layout.best())?;
    rerank.write(staging.path())?;
    write_bytes_atomic(&staging.path().join("config.toml"), config.to_toml()?.as_bytes())?;
    write_bytes_atomic(&staging.path().join("README.md"), card(config, &parts, &weights, with_gold).as_bytes())?;
    staging.commit()?;
    println!("reranker of tables: {}", layout.best().display());
    if config.evaluation.after_training {
        let text = measure(config, &parts, &[layout.best()], &layout.report())?;
        println!("\n{text}");
    }
    Ok(Outcome::Finished)
}

/// Measures rerankers of tables and what they are set beside on the parts' dev questions; the report as Markdown.
///
/// # Errors
/// Files that cannot be read or written; a damaged reranker.
pub fn evaluate(config: &Config, rerankers: &[PathBuf], output: &Path) -> Result<String> {
    measure(config, &parts(config)?, rerankers, output)
}

fn parts(config: &Config) -> Result<Vec<Part>> {
    let encoder: Arc<dyn Encoder> = load(&config.encoder)?.into();
    config.corpus.parts.iter().map(|part| open(config, part, &encoder)).collect()
}

fn open(config: &Config, part: &CorpusPart, encoder: &Arc<dyn Encoder>) -> Result<Part> {
    let settings = &config.corpus;
    let path = |name: &String| Path::new(&settings.root).join(name);
    // By what it is made of: parts of several configs share it.
    let key = Digest::new().part(encoder.identity()).part(format!("{:?} {:?}", settings.index, part.tables)).hex();
    let directory = config.cache()?.join("corpora").join(format!("{}-{}", part.name, &key[..12]));
    let mut writer = Writer::open(&directory, encoder.as_ref(), &config.encoder, &settings.index)?;
    let mut progress = Progress::new(&format!("corpus {}", part.name), 0);
    let mut encoded = 0;
    for file in &part.tables {
        let change = writer.add_file(&path(file), &mut |tables| {
            encoded += tables;
            progress.set(encoded, 0, "tables");
        })?;
        if let Some(problem) = change.problems.first() {
            bail!("{problem}");
        }
    }
    let change = writer.commit(&mut |tables| {
        encoded += tables;
        progress.set(encoded, 0, "tables");
    })?;
    let corpus = Corpus::open_with(&directory, Arc::clone(encoder))?;
    let known = |question: &TableQuestion| question.tables.iter().all(|id| corpus.find(id).is_ok());
    let read = |files: &[String], split: &str, most: usize| -> Result<Vec<TableQuestion>> {
        let mut questions = Vec::new();
        let mut unknown = 0;
        for file in files {
            for question in read_questions(&path(file))? {
                let question = question?;
                match !question.tables.is_empty() && known(&question) {
                    true => questions.push(question),
                    false => unknown += 1,
                }
            }
        }
        if unknown > 0 {
            eprintln!(
                "{}: {unknown} questions have no gold, or gold that the corpus does not hold, and are left out",
                part.name
            );
        }
        if !split.is_empty() {
            if SIDES.contains(&split) {
                divide(&mut questions);
            }
            questions.retain(|question| question.split == split);
        }
        Ok(chosen(questions, most, config.task.seed))
    };
    let (train, dev) = (
        read(&part.train, &part.train_split, settings.train_questions)?,
        read(&part.dev, &part.dev_split, settings.dev_questions)?,
    );
    progress.finish(&format!("{} tables, {} train and {} dev questions", change.tables, train.len(), dev.len()));
    Ok(Part { name: part.name.clone(), corpus, train, dev })
}

/// The splits that questions without one of these get one of, where one of them is wanted.
const SIDES: [&str; 2] = ["tune", "test"];

/// Gives questions of other splits, or none, one of [`SIDES`], so that no table is gold on both sides: questions that share
/// gold, through others too, go together, by the lowest id of their tables.
fn divide(questions: &mut [TableQuestion]) {
    let has_side = |question: &TableQuestion| SIDES.contains(&question.split.as_str());
    let mut lowest: BTreeMap<String, String> = BTreeMap::new();
    fn root(lowest: &BTreeMap<String, String>, id: &str) -> String {
        let mut at = id;
        while let Some(lower) = lowest.get(at).filter(|lower| lower.as_str() != at) {
            at = lower;
        }
        at.to_owned()
    }
    for question in questions.iter().filter(|question| !has_side(question)) {
        let roots: Vec<String> = question.tables.iter().map(|id| root(&lowest, id)).collect();
        let Some(least) = roots.iter().min() else { continue };
        for id in roots.iter().chain(&question.tables) {
            lowest.insert(id.clone(), least.clone());
        }
    }
    for question in questions.iter_mut().filter(|question| !has_side(question)) {
        let Some(first) = question.tables.first() else { continue };
        let [side, ..] = Digest::new().part("split").part(root(&lowest, first)).bytes();
        question.split = SIDES[usize::from(!side.is_multiple_of(2))].to_owned();
    }
}

/// At most so many questions, by seed and ids alone.
fn chosen(mut questions: Vec<TableQuestion>, most: usize, seed: u64) -> Vec<TableQuestion> {
    if most == 0 || questions.len() <= most {
        return questions;
    }
    questions.sort_by_cached_key(|question| Digest::new().part(seed.to_le_bytes()).part(&question.id).bytes());
    questions.truncate(most);
    questions.sort_by(|a, b| a.id.cmp(&b.id));
    questions
}

/// The candidates of a question.
struct List {
    rows: Vec<f32>,
    gold: Vec<bool>,
}

/// Those of all train questions; nothing on a request to stop.
fn rows(parts: &[Part], weights: &Weights, stop: &AtomicBool) -> Result<Option<Vec<List>>> {
    let all: usize = parts.iter().map(|part| part.train.len()).sum();
    let mut progress = Progress::new("candidates", all);
    let mut lists = Vec::with_capacity(all);
    for part in parts {
        for questions in part.train.chunks(64) {
            if stop.load(Ordering::Relaxed) {
                progress.finish("stopped");
                return Ok(None);
            }
            let found: Vec<Result<List>> = questions
                .par_iter()
                .map(|question| {
                    let Candidates { hits, rows } =
                        Candidates::new(&part.corpus, &part.corpus.query(&question.question)?, weights)?;
                    let is_gold = |id: &str| question.tables.iter().any(|gold| gold == id);
                    let gold = hits.iter().map(|hit| is_gold(part.corpus.id(hit.table))).collect();
                    Ok(List { rows, gold })
                })
                .collect();
            for list in found {
                lists.push(list?);
            }
            progress.set(lists.len(), all, "questions");
        }
    }
    progress.finish(&format!("of {} questions", lists.len()));
    Ok(Some(lists))
}

/// Ways to rank that need no training but what `weights` say.
fn methods(corpus: &Corpus, gtr: &GtrConfig) -> Result<Vec<Box<dyn Retriever>>> {
    let fusion = |name: &str, weights| Box::new(Fusion::new(name, weights)) as Box<dyn Retriever>;
    let three = || {
        vec![fusion("bm25", Weights::FIELDS), fusion("bm25-schema", Weights::SCHEMA), fusion("dense", Weights::DENSE)]
    };
    let mut all = three();
    all.push(Box::new(Rrf { name: "rrf".into(), of: three(), depth: 100 }));
    all.push(Box::new(GtrRetriever::new(corpus, "gtr", gtr)?));
    Ok(all)
}

fn measure(config: &Config, parts: &[Part], rerankers: &[PathBuf], output: &Path) -> Result<String> {
    let trained: Vec<(String, Rerank)> = rerankers
        .iter()
        .map(|directory| {
            let name = if rerankers.len() == 1 { "rerank".to_owned() } else { directory.display().to_string() };
            Ok((name, Rerank::read(directory)?))
        })
        .collect::<Result<_>>()?;
    let resampling =
        Resampling { resamples: config.evaluation.resamples, rounds: config.evaluation.rounds, seed: config.task.seed };
    let mut text = String::new();
    let mut json = BTreeMap::new();
    for part in parts.iter().filter(|part| !part.dev.is_empty()) {
        let mut methods = methods(&part.corpus, &config.corpus.gtr)?;
        for (name, rerank) in &trained {
            methods.push(Box::new(Fusion::new(&format!("fusion of {name}"), *rerank.weights())));
            methods.push(Box::new(Named(name.clone(), rerank.clone())));
        }
        let queries: Vec<tabsegnet_corpus::Query> =
            part.dev.par_iter().map(|question| part.corpus.query(&question.question)).collect::<Result<_, _>>()?;
        let mut progress = Progress::new(&format!("measures {}", part.name), methods.len());
        let mut ranked: Vec<TableMethod> = Vec::new();
        for method in &methods {
            let found = method
                .retrieve_all(&part.corpus, &queries, DEPTH)
                .with_context(|| format!("{}: {}", part.name, method.name()))?;
            let ranking = |(question, hits): (&TableQuestion, Vec<tabsegnet_corpus::Hit>)| {
                let ranked = hits.iter().map(|hit| part.corpus.id(hit.table).to_owned()).collect();
                TableRanking { question: question.id.clone(), ranked }
            };
            let rankings: Vec<TableRanking> = part.dev.iter().zip(found).map(ranking).collect();
            // A run has no line for a question without a table.
            let found = rankings.iter().filter(|ranking| !ranking.ranked.is_empty());
            let run: Vec<RankedQuestion> = found.map(RankedQuestion::from).collect();
            let file =
                output.join("runs").join(format!("{}.{}.trec", part.name, method.name().replace(['/', ' '], "-")));
            write_run(&file, &method.name().replace(' ', "-"), &run)?;
            ranked.push(TableMethod { name: method.name(), rankings });
            progress.set(ranked.len(), methods.len(), "methods");
        }
        progress.finish(&format!("{} questions", part.dev.len()));
        let gold: Vec<TableGold> = part
            .dev
            .iter()
            .map(|question| TableGold {
                question: question.id.clone(),
                gold: question.tables.clone(),
                group: match question.source_table.is_empty() {
                    true => question.tables.first().cloned().unwrap_or_default(),
                    false => question.source_table.clone(),
                },
            })
            .collect();
        let against = trained.first().map(|(name, _)| name.as_str());
        let comparison = compare_tables(&gold, &ranked, against, &resampling)?;
        let _ = writeln!(
            text,
            "## {}\n\n{} tables, {} questions of {} source tables; in % of the questions.\n",
            part.name,
            part.corpus.len(),
            part.dev.len(),
            comparison.groups
        );
        let _ = writeln!(text, "{}", comparison.markdown());
        let _ = writeln!(text, "{}\n", survival(config, part, &queries, trained.first().map(|(_, rerank)| rerank))?);
        json.insert(part.name.clone(), comparison);
    }
    let write = |name: &str, bytes: &[u8]| write_bytes_atomic(&output.join(name), bytes);
    write("corpus.md", text.as_bytes())?;
    write("corpus.json", &serde_json::to_vec_pretty(&json)?)?;
    Ok(format!("{text}report: {}", output.join("corpus.md").display()))
}

/// The share of the questions all of whose gold is left by a stage, and how many tables are left.
fn survival(
    config: &Config,
    part: &Part,
    queries: &[tabsegnet_corpus::Query],
    rerank: Option<&Rerank>,
) -> Result<String> {
    let gtr = GtrRetriever::new(&part.corpus, "gtr", &config.corpus.gtr)?;
    let kept = |left: &dyn Fn(&tabsegnet_corpus::Query) -> Result<Vec<String>>| -> Result<(f64, f64)> {
        let (mut whole, mut tables) = (0, 0);
        for (question, query) in part.dev.iter().zip(queries) {
            let left = left(query)?;
            tables += left.len();
            let left: std::collections::HashSet<String> = left.into_iter().collect();
            whole += usize::from(question.tables.iter().all(|id| left.contains(id)));
        }
        let questions = part.dev.len().max(1) as f64;
        Ok((100.0 * f64::from(whole as u32) / questions, tables as f64 / questions))
    };
    let (whole, tables) =
        kept(&|query| Ok(gtr.coarse(query)?.into_iter().map(|table| part.corpus.id(table).to_owned()).collect()))?;
    let mut text =
        format!("GTR's coarse stage keeps all gold of {whole:.1} % of the questions, in {tables:.0} tables.");
    if let Some(rerank) = rerank {
        let (whole, tables) = kept(&|query| {
            let Candidates { hits, .. } = Candidates::new(&part.corpus, query, rerank.weights())?;
            Ok(hits.iter().map(|hit| part.corpus.id(hit.table).to_owned()).collect())
        })?;
        let _ =
            write!(text, " The reranker's candidates hold all gold of {whole:.1} %, {tables:.0} tables a question.");
    }
    Ok(text)
}

/// A reranker under another name.
struct Named(String, Rerank);

impl Retriever for Named {
    fn name(&self) -> String {
        self.0.clone()
    }

    fn retrieve(
        &self,
        corpus: &Corpus,
        query: &tabsegnet_corpus::Query,
        top_k: usize,
    ) -> Result<Vec<tabsegnet_corpus::Hit>, tabsegnet_corpus::CorpusError> {
        self.1.retrieve(corpus, query, top_k)
    }
}

/// What a checkpoint says of itself.
fn card(config: &Config, parts: &[Part], weights: &Weights, with_gold: usize) -> String {
    let mut card =
        String::from("# Reranker of tables\n\nOrders the tables of a corpus for a question (`infer --corpus`).\n\n");
    for part in parts.iter().filter(|part| !part.train.is_empty()) {
        let _ = writeln!(card, "- {}: {} questions, {} tables", part.name, part.train.len(), part.corpus.len());
    }
    let _ = writeln!(
        card,
        "- Learnt from {with_gold} questions with gold among their candidates, {} trees, seed {}",
        config.corpus.boosting.count(),
        config.task.seed
    );
    let _ = writeln!(card, "- Candidates come from a sum of signals, weights learnt: {weights:?}");
    let _ = writeln!(card, "\nLimits: English; scores order the tables of one question and are no probabilities.");
    if !config.output.note.is_empty() {
        let _ = writeln!(card, "\n{}", config.output.note);
    }
    card
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_share_gold_are_on_one_side() {
        let question = |id: usize, tables: &[usize]| TableQuestion {
            id: id.to_string(),
            question: "?".into(),
            tables: tables.iter().map(|table| format!("t{table}")).collect(),
            ..TableQuestion::default()
        };
        let mut questions: Vec<TableQuestion> =
            (0..40).map(|number| question(number, &[2 * number, 2 * number + 1])).collect();
        // Joins the first with the last, through a third.
        questions.push(question(40, &[1, 90]));
        questions.push(question(41, &[90, 79]));
        divide(&mut questions);
        let side = |number: usize| questions[number].split.as_str();
        assert_eq!([side(0), side(39), side(40)], [side(41); 3]);
        let tuned = questions.iter().filter(|question| question.split == "tune").count();
        assert!((8..34).contains(&tuned), "{tuned}");
    }
}
