//! The language models of a measurement: one that answers, one that judges.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, bail, ensure};
use tabsegnet::{OpenDocument, Ranking};
use tabsegnet_agent::judge::judge;
use tabsegnet_agent::walk::{Attempt, LlmPolicy, WalkSettings};
use tabsegnet_agent::{Answer, Check, Policy};
use tabsegnet_datasets::sample::{GoldAnswer, Question};
use tabsegnet_llm::{Budget, ChatModel, LlmError, LlmSettings, OpenModel, RunCost, no_model};

use crate::config::{Config, MeasuredPolicy};

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
    failures: Failures,
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
        let opened = OpenModel::open(&settings, record, None, &variable)?.with_context(|| no_model("the config"))?;
        Ok(Self { settings, model: opened.model, failures: Failures::default() })
    }
}

/// Where the key of a judge's own endpoint is, unless `judge.key_variable` says otherwise.
const JUDGE_KEY: &str = "TABSEGNET_JUDGE_KEY";

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
                let mut judge = config.judge.clone();
                // The key of one provider is not for another.
                if judge.base_url != answers.settings.base_url
                    && judge.key_variable == LlmSettings::default().key_variable
                {
                    JUDGE_KEY.clone_into(&mut judge.key_variable);
                }
                Some(Judge::Other(Box::new(Endpoint::open(judge, &record).context("[judge]")?)))
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
    /// What would fail at every question: a wrong key, settings, a server that refuses the first questions or several in a
    /// row.
    pub(super) fn answer(&self, document: &OpenDocument, ranking: &Ranking) -> Result<Answer> {
        let Endpoint { settings, model, failures } = &self.answers;
        let policy = LlmPolicy::new(document.graph(), &self.walk, model.as_ref(), settings, &())
            .or_else(&Silence)
            .charged_to(Arc::clone(&self.cost));
        let Attempt { result, instead_of, spent, .. } = policy.attempt(ranking);
        let result = match (result, instead_of) {
            (Ok(answer), Some(error)) => {
                failures.count::<()>(Err(error))?.err();
                Ok(answer)
            }
            (result, _) => failures.count(result)?,
        };
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => Answer { tokens: Some(spent.tokens), cost: spent.cost, ..failed(&error) },
        };
        // A trace of every question would fill the memory.
        Ok(Answer { trace: Vec::new(), ..answer })
    }

    /// What failed, for the report; empty where nothing did.
    ///
    /// # Errors
    /// Where the model never answered and its server refused or was not there.
    pub(super) fn failures(&self) -> Result<String> {
        let mut said = self.answers.failures.said("questions failed and count as wrong")?;
        if let Some(Judge::Other(judge)) = &self.judge {
            said += &judge.failures.said("verdicts failed and are left out")?;
        }
        Ok(said)
    }

    /// What the judge says of an answer; `None` without one, and where it gives no verdict.
    ///
    /// # Errors
    /// As [`LanguageModel::answer`].
    pub(super) fn verdict(&self, question: &Question, gold: &GoldAnswer, answer: &Answer) -> Result<Option<bool>> {
        let Endpoint { settings, model, failures } = match &self.judge {
            None => return Ok(None),
            Some(Judge::Same) => &self.answers,
            Some(Judge::Other(other)) => other,
        };
        if answer.abstained {
            return Ok(Some(false));
        }
        let mut budget = Budget::of_run(settings.budget.clone(), &self.cost);
        let expected = format!("{} {}", gold.values.join("; "), gold.scale);
        let judged = judge(model.as_ref(), settings, &mut budget, &question.text, expected.trim(), &answer.said());
        Ok(failures.count(judged)?.ok())
    }
}

fn failed(error: &LlmError) -> Answer {
    Answer {
        policy: "llm".to_owned(),
        ..Answer::abstention(0.0, vec![Check { what: error.to_string(), passed: false }])
    }
}

/// Failures in a row that end a measurement.
const IN_A_ROW: usize = 5;
/// Failures that end it where nothing went well before.
const AT_FIRST: usize = 2;

/// How a server's calls went, over all threads.
#[derive(Default)]
struct Failures(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    went_well: bool,
    /// Since something went well: refusals, no server, no chat.
    in_a_row: usize,
    all: usize,
    first: Option<String>,
}

/// What a failure says of the next question.
#[derive(Debug, PartialEq, Eq)]
enum Reach {
    /// Nothing: this one was too long, too slow, or its reply could not be used.
    One,
    /// It may fail likewise: one refusal may be of this question's length, several are of the setup.
    Perhaps,
    /// It fails likewise.
    All,
}

fn reach(error: &LlmError) -> Reach {
    match error {
        LlmError::Busy { .. }
        | LlmError::Timeout { .. }
        | LlmError::Budget(_)
        | LlmError::Context { .. }
        | LlmError::Invalid { .. } => Reach::One,
        LlmError::Refused { .. } | LlmError::NotChat { .. } | LlmError::Unreachable { .. } => Reach::Perhaps,
        _ => Reach::All,
    }
}

impl Failures {
    /// Counts how a question went.
    ///
    /// # Errors
    /// What would fail at the next questions too.
    fn count<T>(&self, result: Result<T, LlmError>) -> Result<Result<T, LlmError>> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let error = match result {
            Ok(value) => {
                (counts.went_well, counts.in_a_row) = (true, 0);
                return Ok(Ok(value));
            }
            Err(error) => error,
        };
        counts.all += 1;
        counts.first.get_or_insert_with(|| error.to_string());
        match reach(&error) {
            Reach::All => return Err(error.into()),
            Reach::Perhaps => counts.in_a_row += 1,
            Reach::One => {}
        }
        let most = if counts.went_well { IN_A_ROW } else { AT_FIRST };
        if counts.in_a_row >= most {
            let failures = counts.in_a_row;
            return Err(anyhow::Error::new(error).context(format!("{failures} questions in a row failed, the last")));
        }
        Ok(Err(error))
    }

    fn said(&self, what: &str) -> Result<String> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &counts.first {
            None => Ok(String::new()),
            Some(first) if !counts.went_well && counts.in_a_row > 0 => bail!("nothing was answered: {first}"),
            Some(first) => Ok(format!("llm: {} {what}; the first: {first}\n\n", counts.all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Failures, LlmError};

    fn refused() -> Result<(), LlmError> {
        let (url, said) = ("http://127.0.0.1/v1".to_owned(), "too long".to_owned());
        Err(LlmError::Refused { url, status: 400, said, hint: "shorten it" })
    }

    #[test]
    fn one_refusal_is_one_question_and_several_in_a_row_are_the_end() {
        let failures = Failures::default();
        assert_eq!(failures.said("failed").unwrap(), "");
        assert!(failures.count(Ok(())).is_ok());
        for _ in 0..3 {
            for _ in 0..4 {
                assert!(failures.count(refused()).is_ok_and(|result| result.is_err()));
            }
            assert!(failures.count(Ok(())).is_ok_and(|result| result.is_ok()));
        }
        let said = failures.said("questions failed").unwrap();
        assert!(said.starts_with("llm: 12 questions failed; the first: ") && said.contains("too long"), "{said}");
        let last = (0..5).find_map(|_| failures.count(refused()).err());
        let error = format!("{:#}", last.unwrap());
        assert!(error.contains("5 questions in a row failed") && error.contains("too long"), "{error}");
    }

    #[test]
    fn what_fails_from_the_first_on_is_no_measurement() {
        let failures = Failures::default();
        assert!(failures.count(refused()).is_ok());
        assert!(failures.said("").unwrap_err().to_string().contains("nothing was answered"));
        assert!(failures.count(refused()).is_err());
        // What is of the question alone does not count towards the end.
        let failures = Failures::default();
        for _ in 0..9 {
            assert!(failures.count::<()>(Err(LlmError::Invalid { reason: "no JSON".into() })).is_ok());
        }
        assert!(failures.said("failed").unwrap().contains("9 failed"));
        // A wrong key is wrong for all.
        let (url, said, variable) = (String::new(), String::new(), String::new());
        assert!(failures.count::<()>(Err(LlmError::Key { url, status: 401, said, variable })).is_err());
    }
}
