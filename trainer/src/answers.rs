//! Learning to answer from ranked nodes, and measuring answers.

mod calibration;
mod language_model;
mod measuring;
mod rule;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;
use tabsegnet::{OpenDocument, Question as Query, Ranking, Session, SessionOptions};
use tabsegnet_agent::choice::{Chooser, Content, Proposals};
use tabsegnet_agent::proposer::{Families, Proposer, TrainingExample, fit, fit_families};
use tabsegnet_agent::{Candidates, Choice};
use tabsegnet_datasets::config::Part;
use tabsegnet_datasets::sample::{Question, Sample, Samples};
use tabsegnet_document::model::Block;
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::Lists;
use tabsegnet_store::{Digest, Staging, write_bytes_atomic};

use crate::config::Config;
use crate::folds::FoldRankers;
use crate::layout::Layout;
use crate::progress::Progress;
use crate::training::Outcome;
use crate::trees;

use calibration::calibrated;
use rule::{Rule, is_right, right};

/// Parts of the training documents: what a question's candidates are proposed by has not learnt from its document.
const FOLDS: usize = 3;
/// Lists that the bins of features are computed from.
const LISTS_OF_BINS: usize = 800;

/// Documents with questions of one data set.
struct Data {
    name: String,
    rule: Rule,
    samples: Vec<Sample>,
}

impl Data {
    /// Keeps so many questions, evenly spaced; 0 keeps all.
    fn keep(&mut self, most: usize) {
        let all: usize = self.samples.iter().map(|sample| sample.questions.len()).sum();
        if most == 0 || most >= all {
            return;
        }
        let mut seen = 0;
        for sample in &mut self.samples {
            sample.questions.retain(|_| {
                seen += 1;
                seen * most / all > (seen - 1) * most / all
            });
        }
        self.samples.retain(|sample| !sample.questions.is_empty());
    }
}

/// The data sets of a part.
fn read(config: &Config, part: Part) -> Result<Vec<Data>> {
    let Samples { samples, .. } = config.source(part)?.unlabelled_too().read()?;
    let parts: Vec<(String, Rule)> = match config.data.is_mix() {
        true => config.data.parts.iter().map(|part| (part.name().to_owned(), Rule::of(&part.kind))).collect(),
        false => vec![(config.data.name().to_owned(), Rule::of(&config.data.kind))],
    };
    let of = |id: &str| match config.data.is_mix() {
        true => id.split_once('/').map_or(String::new(), |(name, _)| name.to_owned()),
        false => config.data.name().to_owned(),
    };
    let mut by_name: BTreeMap<String, Vec<Sample>> = BTreeMap::new();
    samples.into_iter().for_each(|sample| by_name.entry(of(&sample.document.id)).or_default().push(sample));
    let data = parts.into_iter().filter_map(|(name, rule)| {
        let mut samples = by_name.remove(&name)?;
        if part == Part::Train {
            // Which of several gold nodes answer, and how, is not known.
            let known = |question: &Question| question.answer.is_some() || question.segments.len() <= 1;
            samples.iter_mut().for_each(|sample| sample.questions.retain(known));
        }
        Some(Data { name, rule, samples })
    });
    Ok(data.collect())
}

fn open(session: &Session, sample: &Sample) -> Result<OpenDocument> {
    let document = &sample.document;
    session.open_made("document.json", document).with_context(|| format!("document {}", document.id))
}

fn rank(document: &OpenDocument, question: &Question) -> Result<Ranking> {
    let query = Query::new(&question.text).id(&question.id).top(usize::MAX).each_place();
    document.rank(query).with_context(|| format!("question {}", question.id))
}

/// A question's proposals, "none of them" first, with the fold of its document.
struct List {
    /// Which data set the question is of.
    data: usize,
    to: To,
    fold: usize,
    content: Content,
    proposals: Proposals,
    gold: Vec<bool>,
}

impl List {
    /// Whether trees for documents of a content learn from it: those of texts learn from documents as they are, those of
    /// tables alone, for which there are few others, from all.
    fn teaches(&self, content: Content) -> bool {
        content == Content::Tables || self.to != To::OwnTables
    }
}

/// What a question is put to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    /// Its document.
    Own,
    /// Its document's tables alone, where they hold all its gold.
    OwnTables,
    /// A document that has no answer to it.
    Foreign,
}

/// A question put to a document.
struct Posed<'a> {
    /// Which data set it is of.
    data: usize,
    rule: Rule,
    fold: usize,
    question: &'a Question,
    ranking: &'a Ranking,
    to: To,
}

/// A document's tables alone, and its questions whose gold they hold all of; nothing where it has no passages.
fn tables_alone(sample: &Sample) -> Option<Sample> {
    let is_passage = |block: &Block| matches!(block, Block::Passage(_));
    let mut document = sample.document.clone();
    document.blocks.retain(|block| !is_passage(block));
    if document.blocks.len() == sample.document.blocks.len() {
        return None;
    }
    let in_tables =
        |question: &&Question| !question.gold.is_empty() && question.gold.iter().all(|node| node.starts_with('t'));
    let questions: Vec<Question> = sample.questions.iter().filter(in_tables).cloned().collect();
    (!questions.is_empty()).then_some(Sample { document, questions })
}

/// Calls `work` for every question of the training data: with its own document, some also with a foreign one, and, where
/// `to_tables` says so, those that tables answer with these alone. Results come in the order of the data.
fn for_each<T: Send>(
    config: &Config,
    rankers: &Rankers,
    data: &[Data],
    to_tables: bool,
    stop: &AtomicBool,
    work: impl Fn(Posed<'_>) -> T + Sync,
) -> Result<Option<Vec<T>>> {
    let mut all = Vec::new();
    for (number, data) in data.iter().enumerate() {
        let mut progress = Progress::new(&format!("questions of {}", data.name), data.samples.len());
        let mut done = 0;
        for (first, samples) in (0..).step_by(64).zip(data.samples.chunks(64)) {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let found: Vec<Vec<T>> = samples
                .par_iter()
                .enumerate()
                .map(|(at, sample)| {
                    let ranker = rankers.of(&sample.document.id);
                    let document = open(ranker, sample)?;
                    let id = sample.document.id.rsplit_once('/').map_or(sample.document.id.as_str(), |(_, id)| id);
                    let fold = number_of(id, config.task.seed) as usize % FOLDS;
                    let mut found = Vec::new();
                    let mut pose = |question: &Question, document: &OpenDocument, to: To| -> Result<()> {
                        let ranking = &rank(document, question)?;
                        found.push(work(Posed { data: number, rule: data.rule, fold, question, ranking, to }));
                        Ok(())
                    };
                    for question in &sample.questions {
                        pose(question, &document, To::Own)?;
                    }
                    if let Some(tables) = tables_alone(sample).filter(|_| to_tables) {
                        let document = open(ranker, &tables)?;
                        for question in &tables.questions {
                            pose(question, &document, To::OwnTables)?;
                        }
                    }
                    // Questions of the document half the data away.
                    let other = (first + at + data.samples.len() / 2) % data.samples.len();
                    let foreign = data.samples.get(other).filter(|other| other.document.id != sample.document.id);
                    for question in foreign.into_iter().flat_map(|other| &other.questions) {
                        let share = (number_of(&question.id, config.task.seed) % 1000) as f64 / 1000.0;
                        if share < config.answers.foreign {
                            pose(question, &document, To::Foreign)?;
                        }
                    }
                    Ok(found)
                })
                .collect::<Result<_>>()?;
            all.extend(found.into_iter().flatten());
            done += samples.len();
            progress.set(done, data.samples.len(), "documents");
        }
        progress.finish(&format!("{done} documents"));
    }
    Ok(Some(all))
}

/// A number that depends on a name and the seed alone.
fn number_of(name: &str, seed: u64) -> u64 {
    let hex = Digest::new().part(name).part(seed.to_le_bytes()).hex();
    u64::from_str_radix(&hex[..12], 16).unwrap_or(0)
}

/// Whether a question's candidates teach: how an answer is written may be why none of them seems right.
fn teaches(question: &Question, to: To, reached: bool) -> bool {
    reached || to == To::Foreign || question.answer.as_ref().is_none_or(|gold| gold.kind != "written")
}

/// For each fold a proposer that has not learnt from it, and one that has learnt from all.
fn proposers(examples: &[(usize, TrainingExample)]) -> Vec<Proposer> {
    let others = |fold: usize| examples.iter().filter(move |(of, _)| *of != fold);
    let families: Vec<Families> = (0..=FOLDS)
        .into_par_iter()
        .map(|fold| fit_families(&others(fold).map(|(_, example)| example).collect::<Vec<_>>()))
        .collect();
    let fitted = |fold: usize| {
        let of: Vec<(&TrainingExample, &Families)> =
            others(fold).map(|(of, example)| (example, &families[*of])).collect();
        fit(&of, families[fold].clone())
    };
    (0..=FOLDS).into_par_iter().map(fitted).collect()
}

/// Learns the model that proposes and the trees that choose.
///
/// # Errors
/// Files that cannot be read, a ranker that cannot be opened, no question with a right candidate.
pub fn train(config: &Config, stop: &AtomicBool) -> Result<Outcome> {
    let rankers = Rankers::open(config)?;
    let data = read(config, Part::Train)?;
    let ids = || data.iter().flat_map(|data| &data.samples).map(|sample| sample.document.id.as_str());
    if let Some(folds) = &rankers.folds {
        println!(
            "{} of {} documents are ranked out of fold, the others are new to the ranker",
            folds.known(ids()),
            ids().count()
        );
    }
    let examples = for_each(config, &rankers, &data, false, stop, |posed| {
        let Posed { rule, fold, question, ranking, to, .. } = posed;
        let candidates = Candidates::of(ranking);
        let right = match to {
            To::Foreign => vec![false; candidates.len()],
            _ => right(rule, question, ranking, &candidates),
        };
        teaches(question, to, right.contains(&true)).then(|| (fold, TrainingExample::new(&candidates, &right)))
    })?;
    let Some(examples) = examples else { return Ok(Outcome::Stopped) };
    let examples: Vec<(usize, TrainingExample)> = examples.into_iter().flatten().collect();
    let reached = examples.iter().filter(|(_, example)| example.is_reached()).count();
    ensure!(reached > 0, "no training question has a right answer among its candidates");
    println!("{} questions, {reached} with a right candidate", examples.len());
    let mut proposers = proposers(&examples);
    drop(examples);
    let lists = for_each(config, &rankers, &data, true, stop, |posed| {
        let Posed { data, rule, fold, question, ranking, to } = posed;
        let candidates = Candidates::of(ranking);
        let proposals = Proposals::new(&candidates, &proposers[fold]);
        let mut gold = vec![false];
        for &number in &proposals.kept {
            let prediction = candidates.predictions().get(number).filter(|_| to != To::Foreign);
            let is_right = |prediction| is_right(rule, question, ranking, &candidates, number, prediction);
            gold.push(prediction.is_some_and(is_right));
        }
        if !teaches(question, to, gold.contains(&true)) {
            return None;
        }
        gold[0] = !gold.contains(&true);
        Some(List { data, to, fold, content: Content::of(ranking), proposals, gold })
    })?;
    let Some(lists) = lists else { return Ok(Outcome::Stopped) };
    let lists: Vec<List> = lists.into_iter().flatten().collect();
    // Of each data set, the questions whose first choice is right, and all.
    let mut first = vec![(0, 0); data.len()];
    let mut learn = |content: Content| learnt(config, &lists, content, &mut first, stop);
    let (Some(texts), Some(tables)) = (learn(Content::Texts), learn(Content::Tables)) else {
        return Ok(Outcome::Stopped);
    };
    let first = data.iter().zip(first);
    let first: Vec<String> = first.map(|(data, (right, all))| format!("{} {right} of {all}", data.name)).collect();
    println!("right first choices of folds that were not learnt from: {}", first.join(", "));
    let layout = Layout::new(config);
    let card = card(config, &data, reached, [(Content::Texts, &texts), (Content::Tables, &tables)]);
    let choice = Choice::new(proposers.pop().context("no proposer")?, texts.chooser, tables.chooser);
    let staging = Staging::new(&layout.best())?;
    choice.write(staging.path())?;
    write_bytes_atomic(&staging.path().join("config.toml"), config.to_toml()?.as_bytes())?;
    write_bytes_atomic(&staging.path().join("README.md"), card.as_bytes())?;
    staging.commit()?;
    println!("answers: {}", layout.best().display());
    if config.evaluation.after_training {
        println!("\n{}", evaluate(config, &[layout.best()], &layout.report())?);
    }
    Ok(Outcome::Finished)
}

/// What chooses in documents of a content.
struct Learnt {
    chooser: Chooser,
    /// Share of its lists whose first choice is right where it has not learnt from the document.
    right: f64,
}

/// Grows the trees of a content; `first` counts the questions of each data set whose own document is of it. Nothing on a
/// request to stop.
fn learnt(
    config: &Config,
    lists: &[List],
    content: Content,
    first: &mut [(usize, usize)],
    stop: &AtomicBool,
) -> Option<Learnt> {
    let taught: Vec<&List> = lists.iter().filter(|list| list.teaches(content)).collect();
    let some = taught.iter().step_by((taught.len() / LISTS_OF_BINS).max(1));
    let some: Vec<f32> = some.flat_map(|list| list.proposals.rows(content).into_owned()).collect();
    let grown = |without: Option<usize>| -> Option<BoostedTrees> {
        let mut of = Lists::new(Bins::new(&some, Proposals::width()));
        let taught = taught.iter().filter(|list| Some(list.fold) != without);
        taught.for_each(|list| of.push(&list.proposals.rows(content), &list.gold));
        trees::grown(&of, &config.answers.boosting, config.task.seed, "choice", stop)
    };
    // How sure the trees are where they have not learnt from the document.
    let mut sure: Vec<(f32, bool)> = Vec::new();
    for fold in 0..FOLDS {
        let trees = grown(Some(fold))?;
        for list in lists.iter().filter(|list| list.fold == fold && list.content == content) {
            let best = list.proposals.best(&trees.scores(&list.proposals.rows(content)));
            let is_right = |place: usize| list.gold.get(place + 1).copied().unwrap_or(false);
            sure.extend(best.map(|(place, likelihood)| (likelihood, is_right(place))));
            if let Some((right, all)) = first.get_mut(list.data).filter(|_| list.to == To::Own) {
                *right += usize::from(best.is_some_and(|(place, _)| is_right(place)));
                *all += 1;
            }
        }
    }
    let right = sure.iter().filter(|(_, right)| *right).count() as f64 / sure.len().max(1) as f64;
    let calibration = calibrated(&sure, config.answers.lost);
    Some(Learnt { chooser: Chooser { trees: grown(None)?, calibration }, right })
}

/// What ranks training documents.
struct Rankers {
    all: Session,
    folds: Option<FoldRankers>,
}

impl Rankers {
    fn open(config: &Config) -> Result<Self> {
        let directory = &config.answers.fold_rankers;
        let folds = match directory.as_str() {
            "" => None,
            _ => Some(FoldRankers::open(Path::new(directory), &options())?),
        };
        Ok(Self { all: session(config)?, folds })
    }

    /// One that has not learnt from a document, where there is one.
    fn of(&self, document: &str) -> &Session {
        self.folds.as_ref().and_then(|folds| folds.of(document)).unwrap_or(&self.all)
    }
}

fn options() -> SessionOptions {
    SessionOptions { cache: None, ..SessionOptions::default() }
}

fn session(config: &Config) -> Result<Session> {
    Ok(Session::open_with(Path::new(&config.answers.checkpoint), &options())?)
}

/// Measures choices, and the rules beside them, on the dev part; a language model too, where the config names one.
///
/// # Errors
/// Files that cannot be read or written; a damaged choice; a language model that cannot be reached.
pub fn evaluate(config: &Config, directories: &[PathBuf], output: &Path) -> Result<String> {
    // Before anything is read: what is missing is said at once.
    let llm = language_model::LanguageModel::open(config)?;
    let mut data = read(config, Part::Dev)?;
    if llm.is_some() {
        data.retain(|data| data.rule != Rule::Nodes);
    }
    data.iter_mut().for_each(|data| data.keep(config.answers.questions));
    measuring::measure(&session(config)?, &data, directories, llm.as_ref(), output)
}

fn card(config: &Config, data: &[Data], reached: usize, learnt: [(Content, &Learnt); 2]) -> String {
    let mut parts = String::new();
    for data in data {
        let questions: usize = data.samples.iter().map(|sample| sample.questions.len()).sum();
        parts.push_str(&format!("- {}: {questions} questions on {} documents\n", data.name, data.samples.len()));
    }
    let mut contents = String::new();
    for (content, Learnt { chooser: Chooser { trees, calibration }, right }) in learnt {
        let of = match content {
            Content::Texts => "with sentences",
            Content::Tables => "of tables alone",
        };
        contents.push_str(&format!(
            "- documents {of} (`{}`, {} trees): the first choice is right for {:.1} % of all. A confidence is \
             1 / (1 + exp(−({:.3} · logit + {:.3}))) of the trees' likelihood, and nothing is said below {:.3}, which loses \
             {:.0} % of the right answers.\n",
            content.file(),
            trees.count(),
            right * 100.0,
            calibration.slope,
            calibration.intercept,
            calibration.threshold,
            config.answers.lost * 100.0,
        ));
    }
    let rankings = match config.answers.fold_rankers.is_empty() {
        false => "Their rankings come from rankers that have not learnt from them.",
        true => {
            "The rankings of these documents come from a ranker that has learnt from them, so that confidences are a little \
             too high elsewhere."
        }
    };
    format!(
        "# Answers from ranked nodes\n\nWhat `ask` chooses answers with: log-linear models that tell kinds of answers by the \
         question's words and propose candidates (`proposer.safetensors`), and boosted trees that choose one, or none. Nodes \
         come from `{}`. Trained with `train --config configs/answers.toml`, seed {}, on\n\n\
         {parts}\nof which {reached} have a right candidate; {:.0} % were also put to a document that has no answer, and those \
         whose gold stands in tables to these alone. {rankings}\n\nIn {FOLDS} folds by document, of\n\n{contents}\n\
         English, reports and statistics alone.\n",
        config.answers.checkpoint,
        config.task.seed,
        config.answers.foreign * 100.0,
    )
}

#[cfg(test)]
mod tests {
    use tabsegnet_datasets::sample::{Question, Sample};
    use tabsegnet_document::model::{Block, Document, Heading, Table, TableSource};

    use super::tables_alone;

    fn question(id: &str, gold: &[&str]) -> Question {
        Question {
            id: id.into(),
            text: "What were sales?".into(),
            gold: gold.iter().map(|node| (*node).to_owned()).collect(),
            segments: Vec::new(),
            answer: None,
        }
    }

    #[test]
    fn tables_alone_keep_the_questions_that_they_answer() {
        let rows = vec![vec!["".into(), "2016".into()], vec!["sales".into(), "120".into()]];
        let source = TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
        let table = Block::Table(Table::new(source).expect("a table"));
        let heading = Block::Heading(Heading { level: 1, text: "Results".into() });
        let sentence = Block::Passage("Sales rose.".into());
        let sample = |blocks: &[&Block]| Sample {
            document: Document { id: "d".into(), blocks: blocks.iter().map(|block| (*block).clone()).collect() },
            questions: vec![
                question("in tables", &["t0:r1c1"]),
                question("in both", &["t0:r1c1", "p0"]),
                question("unknown", &[]),
            ],
        };
        let alone = tables_alone(&sample(&[&heading, &sentence, &table])).expect("a question that tables answer");
        assert_eq!(alone.document.blocks, [heading, table.clone()]);
        assert_eq!(alone.questions, [question("in tables", &["t0:r1c1"])]);
        // Nothing new to learn from where there are tables alone anyway.
        assert_eq!(tables_alone(&sample(&[&table])), None);
    }
}
