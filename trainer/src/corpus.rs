//! Learning to rank the tables of corpora, and measuring ways to rank them.

mod adapter;
mod fusion;
mod measuring;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail, ensure};
use rayon::prelude::*;
use tabsegnet_corpus::{
    CandidateConfig, Candidates, Corpus, FORMAT, Listwise, Query, QueryAdapter, Rerank, Weights, Writer,
};
use tabsegnet_datasets::tables::{TableQuestion, read_questions};
use tabsegnet_encoder::{Encoder, load};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::Lists;
use tabsegnet_store::{Digest, Staging, eprintln, write_bytes_atomic};

use crate::cli::print;
use crate::config::{Config, CorpusPart};
use crate::layout::Layout;
use crate::progress::Progress;
use crate::training::Outcome;
use crate::trees;

/// Lists that the bins of features are computed from.
const LISTS_OF_BINS: usize = 600;
/// Trees learn from vectors that are adapted, and those that see candidates beside each other from scores, out of fold, of so
/// many folds.
const FOLDS: usize = 2;
/// Lists whose rows are made together.
const LISTS_AT_A_TIME: usize = 256;

/// A corpus with questions.
struct Part {
    name: String,
    corpus: Corpus,
    train: Vec<TableQuestion>,
    /// The same as they are put; nothing where none is learnt from.
    queries: Vec<Query>,
    dev: Vec<TableQuestion>,
}

/// Learns the sum that proposes candidates and the trees that order them.
///
/// # Errors
/// Files that cannot be read; no question whose gold is among its candidates.
pub fn train(config: &Config, stop: &AtomicBool) -> Result<Outcome> {
    let mut parts = parts(config)?;
    let questions: usize = parts.iter().map(|part| part.train.len()).sum();
    ensure!(questions > 0, "no part has train files; expected [[corpus.parts]] with train");
    for part in &mut parts {
        let texts: Vec<&str> = part.train.iter().map(|question| question.question.as_str()).collect();
        part.queries = part.corpus.queries(&texts)?;
    }
    let parts = parts;
    let mut adapters = [const { None }; FOLDS];
    let mut adapter = None;
    if config.corpus.candidates.adapter {
        for (fold, of_fold) in adapters.iter_mut().enumerate() {
            *of_fold = adapter::learnt(&parts, config.task.seed, Some(fold), stop)?;
        }
        adapter = adapter::learnt(&parts, config.task.seed, None, stop)?;
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Stopped);
        }
    }
    let first = rows(&parts, &adapters, &Weights::default(), &config.corpus.candidates, stop)?;
    let Some(first) = first else { return Ok(Outcome::Stopped) };
    let lists: Vec<(&[f32], &[bool])> = first.iter().map(|list| (&list.candidates.rows[..], &list.gold[..])).collect();
    let weights = fusion::fitted(&lists);
    drop(lists);
    drop(first);
    let Some(lists) = rows(&parts, &adapters, &weights, &config.corpus.candidates, stop)? else {
        return Ok(Outcome::Stopped);
    };
    let with_gold = lists.iter().filter(|list| list.gold.contains(&true)).count();
    ensure!(with_gold > 0, "no train question has a gold table among its candidates");
    let alone = |list: &List| (list.candidates.rows.clone(), list.gold.clone());
    let all: Vec<&List> = lists.iter().collect();
    let listwise = match config.corpus.candidates.listwise {
        true => {
            let others = |fold: usize| lists.iter().filter(move |list| list.fold != fold);
            let taught = |fold: usize| others(fold).any(|list| list.gold.contains(&true));
            ensure!(
                (0..FOLDS).all(taught),
                "too few train questions for {FOLDS} folds; set corpus.candidates.listwise = false"
            );
            let grown_on = |fold: usize| {
                let others: Vec<&List> = others(fold).collect();
                grown(config, &format!("fold {fold}"), Candidates::width(), &others, &alone, stop)
            };
            let of_folds: Option<Vec<BoostedTrees>> = (0..FOLDS).map(grown_on).collect();
            let Some(of_folds) = of_folds else { return Ok(Outcome::Stopped) };
            let beside = |list: &List| {
                let scores = of_folds[list.fold].scores(&list.candidates.rows);
                let Listwise { places, rows, .. } = Listwise::new(&parts[list.part].corpus, &list.candidates, &scores);
                let seen = places.iter().take(rows.len() / Listwise::width());
                let gold: Vec<bool> = seen.map(|&place| list.gold[place]).collect();
                (rows, gold)
            };
            let trees = grown(config, "beside each other", Listwise::width(), &all, &beside, stop);
            if trees.is_none() {
                return Ok(Outcome::Stopped);
            }
            trees
        }
        false => None,
    };
    let Some(trees) = grown(config, "each alone", Candidates::width(), &all, &alone, stop) else {
        return Ok(Outcome::Stopped);
    };
    let encoder = parts.first().map_or("", |part| &part.corpus.manifest().encoder_identity);
    let rerank = Rerank::new(adapter, weights, config.corpus.candidates.clone(), trees, listwise, encoder);
    let layout = Layout::new(config);
    let staging = Staging::new(&layout.best())?;
    rerank.write(staging.path())?;
    write_bytes_atomic(&staging.path().join("config.toml"), config.to_toml()?.as_bytes())?;
    write_bytes_atomic(&staging.path().join("README.md"), card(config, &parts, with_gold).as_bytes())?;
    staging.commit()?;
    print(&format!("reranker of tables: {}\n", layout.best().display()))?;
    if config.evaluation.after_training {
        let text = measuring::measure(config, &parts, &[layout.best()], &layout.report())?;
        print(&format!("\n{text}\n"))?;
    }
    Ok(Outcome::Finished)
}

/// Rows of a list, `[rows, width]`, and which of them are gold.
type Rows = (Vec<f32>, Vec<bool>);

/// Trees grown on what `rows` makes of the lists; nothing on a request to stop.
fn grown(
    config: &Config,
    name: &str,
    width: usize,
    lists: &[&List],
    rows: &(dyn Fn(&List) -> Rows + Sync),
    stop: &AtomicBool,
) -> Option<BoostedTrees> {
    let name = format!("trees, {name}");
    let step = lists.len().div_ceil(LISTS_OF_BINS).max(1);
    let sample: Vec<f32> = lists.iter().step_by(step).flat_map(|list| rows(list).0).collect();
    let mut grown_on = Lists::new(Bins::new(&sample, width));
    for some in lists.chunks(LISTS_AT_A_TIME) {
        if stop.load(Ordering::Relaxed) {
            eprintln!("{name}: stopped");
            return None;
        }
        let some: Vec<Rows> = some.par_iter().map(|list| rows(list)).collect();
        some.iter().for_each(|(rows, gold)| grown_on.push(rows, gold));
    }
    trees::grown(&grown_on, &config.corpus.boosting, config.task.seed, &name, stop)
}

/// Measures rerankers of tables and what they are set beside on the parts' dev questions; the report as Markdown.
///
/// # Errors
/// Files that cannot be read or written; a damaged reranker.
pub fn evaluate(config: &Config, rerankers: &[PathBuf], output: &Path) -> Result<String> {
    measuring::measure(config, &parts(config)?, rerankers, output)
}

fn parts(config: &Config) -> Result<Vec<Part>> {
    let encoder: Arc<dyn Encoder> = load(&config.encoder)?.into();
    let opened: Result<Vec<Part>> = config.corpus.parts.iter().map(|part| open(config, part, &encoder)).collect();
    let mut parts = opened?;
    apart(&mut parts);
    let (most, seed) = (&config.corpus, config.task.seed);
    for part in &mut parts {
        part.train = chosen(std::mem::take(&mut part.train), most.train_questions, seed);
        part.dev = chosen(std::mem::take(&mut part.dev), most.dev_questions, seed);
    }
    Ok(parts)
}

/// Takes out the training questions about a table that a dev question of any part is about, whole or of a piece of it, and
/// those in the words of one: the parts share tables and questions, and each alone is divided already.
fn apart(parts: &mut [Part]) {
    let dev = || parts.iter().flat_map(|part| &part.dev);
    let about: HashSet<String> = dev().flat_map(sources).cloned().collect();
    let said: HashSet<String> = dev().map(words).collect();
    for part in parts {
        let all = part.train.len();
        part.train.retain(|question| {
            !sources(question).iter().any(|source| about.contains(source)) && !said.contains(&words(question))
        });
        let left_out = all - part.train.len();
        if left_out > 0 {
            eprintln!(
                "{}: {left_out} of {all} training questions are about tables of dev questions, or in their words, and are left out",
                part.name
            );
        }
    }
}

/// The tables that a question is about: where its gold is pieces of one, that.
fn sources(question: &TableQuestion) -> &[String] {
    match question.source_table.is_empty() {
        true => &question.tables,
        false => std::slice::from_ref(&question.source_table),
    }
}

/// Questions about the same table, whole or in pieces, are of one fold.
fn fold_of(question: &TableQuestion) -> usize {
    let about = sources(question).first().map_or("", String::as_str);
    let [first, ..] = Digest::new().part("fold").part(about).bytes();
    usize::from(first) % FOLDS
}

/// What a question says, in whatever case and with whatever stands between its words.
fn words(question: &TableQuestion) -> String {
    let lower = question.question.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn open(config: &Config, part: &CorpusPart, encoder: &Arc<dyn Encoder>) -> Result<Part> {
    let settings = &config.corpus;
    let path = |name: &String| Path::new(&settings.root).join(name);
    // By what it is made of: parts of several configs share it.
    let made_as = format!("{FORMAT} {:?} {:?}", settings.index, part.tables);
    let key = Digest::new().part(encoder.identity()).part(made_as).hex();
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
    let read = |files: &[String], split: &str| -> Result<Vec<TableQuestion>> {
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
        Ok(questions)
    };
    let (train, dev) = (read(&part.train, &part.train_split)?, read(&part.dev, &part.dev_split)?);
    progress.finish(&format!("{} tables, {} train and {} dev questions", change.tables, train.len(), dev.len()));
    Ok(Part { name: part.name.clone(), corpus, train, queries: Vec::new(), dev })
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
    /// Of which part.
    part: usize,
    candidates: Candidates,
    gold: Vec<bool>,
    /// Which fold it is of; questions about the same table are of one.
    fold: usize,
}

/// Those of all train questions; nothing on a request to stop.
fn rows(
    parts: &[Part],
    adapters: &[Option<QueryAdapter>; FOLDS],
    weights: &Weights,
    config: &CandidateConfig,
    stop: &AtomicBool,
) -> Result<Option<Vec<List>>> {
    let all: usize = parts.iter().map(|part| part.train.len()).sum();
    let mut progress = Progress::new("candidates", all);
    let mut lists = Vec::with_capacity(all);
    for (number, part) in parts.iter().enumerate() {
        let taught: Vec<(&TableQuestion, &Query)> = part.train.iter().zip(&part.queries).collect();
        for questions in taught.chunks(64) {
            if stop.load(Ordering::Relaxed) {
                progress.finish("stopped");
                return Ok(None);
            }
            let found: Vec<Result<List>> = questions
                .par_iter()
                .map(|(question, query)| {
                    let fold = fold_of(question);
                    let query = QueryAdapter::adapted(adapters[fold].as_ref(), query);
                    let candidates = Candidates::new(&part.corpus, &query, weights, config)?;
                    let is_gold = |id: &str| question.tables.iter().any(|gold| gold == id);
                    let gold = candidates.hits.iter().map(|hit| is_gold(part.corpus.id(hit.table))).collect();
                    Ok(List { part: number, candidates, gold, fold })
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

/// What a checkpoint says of itself.
fn card(config: &Config, parts: &[Part], with_gold: usize) -> String {
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
    let _ = writeln!(card, "- Candidates come from a sum of signals, whose learnt weights are in retriever.json");
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
    fn what_dev_questions_are_about_is_not_learnt_from_in_any_part() {
        let directory = tempfile::tempdir().unwrap();
        let encoder: Arc<dyn Encoder> = load(&Config::default().encoder).unwrap().into();
        let writer =
            Writer::open(directory.path(), encoder.as_ref(), &Config::default().encoder, &Default::default()).unwrap();
        writer.commit(&mut |_| {}).unwrap();
        let question = |text: &str, table: &str, source: &str| TableQuestion {
            question: text.into(),
            tables: vec![table.into()],
            source_table: source.into(),
            ..TableQuestion::default()
        };
        let part = |train: Vec<TableQuestion>, dev: Vec<TableQuestion>| Part {
            name: "part".into(),
            corpus: Corpus::open_with(directory.path(), Arc::clone(&encoder)).unwrap(),
            train,
            queries: Vec::new(),
            dev,
        };
        let mut parts = [
            // Numbers of pieces tell nothing outside their own set: 7 is not t/7.
            part(vec![question("a", "7", "t/1"), question("b", "8", "t/2")], vec![question("c", "9", "t/3")]),
            part(
                vec![question("d", "t/3", ""), question("C ?", "t/4", ""), question("e", "t/5", "")],
                vec![question("f", "t/2", ""), question("g", "7", "")],
            ),
        ];
        apart(&mut parts);
        let left = parts.each_ref().map(|part| part.train.iter().map(|q| q.question.as_str()).collect::<Vec<_>>());
        assert_eq!(left, [vec!["a"], vec!["e"]]);
    }

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
