//! A language model beside rankers: as a baseline that names nodes, and as the segmenter of their questions.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use tabsegnet::baselines::{Baseline, Retriever};
use tabsegnet_agent::segmenter::LlmSegmenter;
use tabsegnet_agent::walk::{CellGraph, WalkSettings, retrieve};
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_llm::{Budget, ChatModel, LlmError, LlmSettings, OpenModel, RunCost, no_model};
use tabsegnet_segmenter::{NoSegments, Segmenter};
use tabsegnet_store::{UsageError, eprintln};

use crate::config::Config;

/// Nodes that a model names: as many as the first measure of a report looks at.
const NAMED: usize = 10;

/// The model that `[llm]` names.
pub struct LanguageModel {
    model: Arc<dyn ChatModel>,
    settings: LlmSettings,
    cost: Arc<RunCost>,
}

impl LanguageModel {
    /// That of the baseline `llm`; `None` where the report has no such baseline.
    pub fn of_baselines(config: &Config) -> Option<Result<Self>> {
        let wanted = config.evaluation.baselines.contains(&Baseline::Llm);
        wanted.then(|| Self::open(config, "evaluation.baselines"))
    }

    /// Opens it; `what` wants it, for messages.
    ///
    /// # Errors
    /// Settings that cannot be used, none at all among them; a record that cannot be read.
    pub fn open(config: &Config, what: &str) -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        let settings = config.llm.clone().with_environment(&variable);
        let record = Some(config.evaluation.record.as_str()).filter(|file| !file.is_empty()).map(Path::new);
        let opened = OpenModel::open(&settings, record, None, &variable).context("[llm]")?;
        let opened = opened.ok_or_else(|| UsageError(format!("{what}: {}", no_model("the config"))))?;
        eprintln!("{what}: {}", opened.name());
        let model = opened.model;
        if let Some(notice) = model.notice() {
            eprintln!("warning: {notice}");
        }
        Ok(Self { model, settings, cost: Arc::default() })
    }

    /// The segmenter. Where a reply cannot be used the question has no segments, and is its own: what another segmenter finds
    /// does not count for the model.
    pub fn segmenter(&self) -> Box<dyn Segmenter> {
        let notice = |text: &str| eprintln!("warning: {text}");
        let segmenter = LlmSegmenter::new(Arc::clone(&self.model), self.settings.clone(), Box::new(NoSegments), notice);
        Box::new(segmenter.charged_to(Arc::clone(&self.cost)))
    }

    /// The baseline, which reads documents as `[agent]` says.
    pub fn retriever(&self, config: &Config) -> ModelRetriever {
        ModelRetriever {
            model: Arc::clone(&self.model),
            settings: self.settings.clone(),
            walk: config.agent.clone(),
            cost: Arc::clone(&self.cost),
            tally: Mutex::default(),
        }
    }
}

/// A language model that names nodes.
pub struct ModelRetriever {
    model: Arc<dyn ChatModel>,
    settings: LlmSettings,
    walk: WalkSettings,
    cost: Arc<RunCost>,
    tally: Mutex<Tally>,
}

/// What happened to the questions.
#[derive(Default)]
struct Tally {
    questions: usize,
    named: usize,
    unknown: usize,
    failed: usize,
    /// Why the first failed.
    why: Option<String>,
    tokens: u64,
}

impl ModelRetriever {
    /// What happened, in words.
    ///
    /// # Errors
    /// Where all questions failed: what comes out is no measurement of the model.
    pub fn said(&self) -> Result<String> {
        let Tally { questions, named, unknown, failed, why, tokens } =
            &*self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        let name = self.model.name();
        let first = why.as_deref().unwrap_or_default();
        ensure!(
            *failed == 0 || failed < questions,
            "evaluation.baselines: llm ({name}): all {questions} questions failed, the first: {first}"
        );
        let why = if *failed > 0 { format!(" (the first: {first})") } else { String::new() };
        let cost = self.cost.spent().map_or_else(String::new, |cost| format!(", cost {cost:.4}"));
        Ok(format!(
            "llm ({name}): {questions} questions, {named} nodes named, {unknown} ids that no document has left out, {failed} \
             questions failed and count as nothing named{why}; {tokens} tokens{cost}."
        ))
    }
}

impl Retriever for ModelRetriever {
    fn retrieve(
        &self,
        document: &PreparedDocument,
        question: &str,
    ) -> Result<Vec<u32>, Box<dyn std::error::Error + Send + Sync>> {
        let cells = CellGraph::new(&document.graph, &self.walk);
        let mut budget = Budget::of_run(self.settings.budget.clone(), &self.cost);
        let model = (self.model.as_ref(), &self.settings);
        let found = retrieve(&cells, question, NAMED, model, &mut budget, &mut |_| {});
        let spent = budget.spent();
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.questions += 1;
        tally.tokens += spent.tokens.total();
        match found {
            Ok(found) => {
                tally.named += found.nodes.len();
                tally.unknown += found.unknown;
                Ok(found.nodes.iter().filter_map(|id| cells.find(id).ok()).collect())
            }
            Err(error) => {
                let went_well = tally.questions > tally.failed + 1;
                let why = match error.passing() {
                    Ok(error) => error.to_string(),
                    // Key, server and settings have served a question: what others cost and brought is not given up.
                    Err(error) if went_well && !matches!(error, LlmError::Record { .. }) => error.to_string(),
                    Err(error) => return Err(error.into()),
                };
                tally.failed += 1;
                tally.why.get_or_insert(why);
                Ok(Vec::new())
            }
        }
    }
}
