//! Learning to answer from ranked nodes, and measuring answers.

mod calibration;
mod card;
mod language_model;
mod measuring;
mod posed;
mod rule;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result, ensure};
use rayon::prelude::*;
use tabsegnet::{OpenDocument, Question as Query, Ranking, Session};
use tabsegnet_agent::choice::{Chooser, Content, Proposals};
use tabsegnet_agent::proposer::{Families, Proposer, TrainingExample, fit, fit_families};
use tabsegnet_agent::{Candidates, Choice};
use tabsegnet_datasets::AnswerRule;
use tabsegnet_datasets::config::{DataConfig, Part};
use tabsegnet_datasets::sample::{Question, Sample, Samples};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::Lists;
use tabsegnet_store::{Staging, eprintln, write_bytes_atomic};

use crate::cli::print;
use crate::config::Config;
use crate::layout::Layout;
use crate::training::Outcome;
use crate::trees;

use calibration::calibrated;
use card::card;
use posed::{FOLDS, Posed, Rankers, To, for_each, session};
use rule::{is_right, right};

/// Lists that the bins of features are computed from.
const LISTS_OF_BINS: usize = 800;

/// Documents with questions of one data set.
struct Data {
    name: String,
    rule: AnswerRule,
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
    let known = tabsegnet_generate::registry();
    let rule = |data: &DataConfig| Ok((data.name().to_owned(), known.get(&data.kind)?.answers()));
    let parts: Vec<(String, AnswerRule)> = match config.data.is_mix() {
        true => config.data.parts.iter().map(rule).collect::<Result<_>>()?,
        false => vec![rule(&config.data)?],
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
        eprintln!(
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
    eprintln!("{} questions, {reached} with a right candidate", examples.len());
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
        Some(List { data, to, fold, content: candidates.content(), proposals, gold })
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
    eprintln!("right first choices of folds that were not learnt from: {}", first.join(", "));
    let layout = Layout::new(config);
    let card = card(config, &data, reached, [(Content::Texts, &texts), (Content::Tables, &tables)]);
    let choice = Choice::new(proposers.pop().context("no proposer")?, texts.chooser, tables.chooser);
    let staging = Staging::new(&layout.best())?;
    choice.write(staging.path())?;
    write_bytes_atomic(&staging.path().join("config.toml"), config.to_toml()?.as_bytes())?;
    write_bytes_atomic(&staging.path().join("README.md"), card.as_bytes())?;
    staging.commit()?;
    print(&format!("answers: {}\n", layout.best().display()))?;
    if config.evaluation.after_training {
        print(&format!("\n{}\n", evaluate(config, &[layout.best()], &layout.report())?))?;
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
    let bins = Bins::new(&some, Proposals::width());
    let grown = |without: Option<usize>| -> Option<BoostedTrees> {
        let mut of = Lists::new(bins.clone());
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

/// Measures choices, and the rules beside them, on the dev part; a language model too, where the config names one.
///
/// # Errors
/// Files that cannot be read or written; a damaged choice; a language model that cannot be reached.
pub fn evaluate(config: &Config, directories: &[PathBuf], output: &Path) -> Result<String> {
    // Before anything is read: what is missing is said at once.
    let llm = language_model::LanguageModel::open(config)?;
    let mut data = read(config, Part::Dev)?;
    if llm.is_some() {
        data.retain(|data| data.rule != AnswerRule::Nodes);
    }
    data.iter_mut().for_each(|data| data.keep(config.answers.questions));
    measuring::measure(&session(config)?, &data, directories, llm.as_ref(), output)
}
