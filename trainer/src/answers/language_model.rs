//! The language models of a measurement: one that answers, one that judges.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use tabsegnet::{OpenDocument, Ranking};
use tabsegnet_agent::judge::judge;
use tabsegnet_agent::walk::{LlmPolicy, WalkSettings};
use tabsegnet_agent::{Answer, Check, Policy};
use tabsegnet_datasets::sample::{GoldAnswer, Question};
use tabsegnet_llm::{Budget, ChatModel, LlmError, LlmSettings, OpenModel, RunCost};

use crate::config::{Config, MeasuredPolicy};
use crate::language_model::NO_MODEL;

/// A language model whose answers are measured.
pub(super) struct LanguageModel {
    answers: Endpoint,
    walk: WalkSettings,
    judge: Option<Judge>,
    cost: Arc<RunCost>,
}

struct Endpoint {
    settings: LlmSettings,
    model: Arc<dyn ChatModel>,
}

enum Judge {
    /// The model that answers.
    Same,
    Other(Box<Endpoint>),
}

impl Endpoint {
    fn open(settings: LlmSettings, record: &str) -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        let record = Some(record).filter(|file| !file.is_empty()).map(Path::new);
        let opened = OpenModel::open(&settings, record, None, &variable)?.context(NO_MODEL)?;
        Ok(Self { settings, model: opened.model })
    }
}

/// Says nothing where a model's replies cannot be used: what somebody else would say does not count for it.
struct Silence;

impl Policy for Silence {
    fn name(&self) -> &'static str {
        "nobody"
    }

    fn answer(&self, _: &Ranking) -> Answer {
        let what = "the model's replies can be used".to_owned();
        Answer::abstention(0.0, vec![Check { what, passed: false }])
    }
}

impl LanguageModel {
    /// What the config names; `None` where it wants none.
    ///
    /// # Errors
    /// Settings that cannot be used, none at all among them; a record that cannot be read.
    pub(super) fn open(config: &Config) -> Result<Option<Self>> {
        if config.answers.policy != MeasuredPolicy::Llm {
            let message = "answers.judge goes with answers.policy = \"llm\"";
            ensure!(!config.answers.judge, "{message}");
            return Ok(None);
        }
        let settings = config.llm.clone().with_environment(&|name| std::env::var(name).ok());
        let record = &config.answers.record;
        let answers = Endpoint::open(settings, record).context("[llm]")?;
        let judge = match (config.answers.judge, config.judge.has_endpoint()) {
            (false, _) => None,
            (true, false) => Some(Judge::Same),
            (true, true) => {
                let record = if record.is_empty() { String::new() } else { format!("{record}.judge") };
                Some(Judge::Other(Box::new(Endpoint::open(config.judge.clone(), &record).context("[judge]")?)))
            }
        };
        Ok(Some(Self { answers, walk: config.agent.clone(), judge, cost: Arc::default() }))
    }

    /// The model and where it is.
    pub(super) fn name(&self) -> String {
        format!("{} at {}", self.answers.model.name(), self.answers.settings.base_url)
    }

    /// Who judges, if somebody does.
    pub(super) fn judge_name(&self) -> Option<&str> {
        Some(match self.judge.as_ref()? {
            Judge::Same => self.answers.model.name(),
            Judge::Other(other) => other.model.name(),
        })
    }

    /// Answers, or says nothing and why: what fails counts as wrong.
    ///
    /// # Errors
    /// What would fail at every question: a wrong key, nobody there, settings.
    pub(super) fn answer(&self, document: &OpenDocument, ranking: &Ranking) -> Result<Answer> {
        let Endpoint { settings, model } = &self.answers;
        let policy = LlmPolicy::new(document.graph(), &self.walk, model.as_ref(), settings, &())
            .or_else(&Silence)
            .charged_to(Arc::clone(&self.cost));
        let answer = policy.try_answer(ranking).or_else(|error| passing(error).map(failed))?;
        // A trace of every question would fill the memory.
        Ok(Answer { trace: Vec::new(), ..answer })
    }

    /// What the judge says of an answer; `None` without one, and where it gives no verdict.
    ///
    /// # Errors
    /// As [`LanguageModel::answer`].
    pub(super) fn verdict(&self, question: &Question, gold: &GoldAnswer, answer: &Answer) -> Result<Option<bool>> {
        let Endpoint { settings, model } = match &self.judge {
            None => return Ok(None),
            Some(Judge::Same) => &self.answers,
            Some(Judge::Other(other)) => other,
        };
        if answer.abstained {
            return Ok(Some(false));
        }
        let mut budget = Budget::new(self.cost.left(&settings.budget));
        let expected = format!("{} {}", gold.values.join("; "), gold.scale);
        let judged = judge(model.as_ref(), settings, &mut budget, &question.text, expected.trim(), &answer.said());
        self.cost.add(budget.spent().cost);
        Ok(match judged {
            Ok(same) => Some(same),
            Err(error) => passing(error).map(|_| None)?,
        })
    }
}

fn failed(error: LlmError) -> Answer {
    Answer {
        policy: "llm".to_owned(),
        ..Answer::abstention(0.0, vec![Check { what: error.to_string(), passed: false }])
    }
}

/// An error of one question alone; others end the measurement.
fn passing(error: LlmError) -> Result<LlmError, LlmError> {
    match error {
        LlmError::Busy { .. } | LlmError::Timeout { .. } | LlmError::Budget(_) | LlmError::Invalid { .. } => Ok(error),
        error => Err(error),
    }
}
