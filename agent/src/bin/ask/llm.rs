//! Answers by a language model: which one, what it thinks on stderr, the trace in a file.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, IsTerminal as _, Stderr, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use clap::Args;
use serde::Serialize;
use tabsegnet::Ranking;
use tabsegnet_agent::config::Config;
use tabsegnet_agent::large::Large;
use tabsegnet_agent::segmenter::LlmSegmenter;
use tabsegnet_agent::walk::{Listener, LlmPolicy, Thoughts, TraceEvent, found_tables};
use tabsegnet_agent::{Answer, Policy};
use tabsegnet_llm::{Budget, LlmError, OpenModel, Piece, RunCost, Spent, without_address};
use tabsegnet_segmenter::Segmenter;
use tabsegnet_store::{Paths, eprintln};
use tabsegnet_tablerag::{RoundError, RoundEvent};

use crate::Found;

/// What is said about a language model.
#[derive(Args)]
pub struct LlmArguments {
    /// A TOML file with the tables [llm] (base_url, which may be gguf:PATH; model, budget, …), [agent] (rounds, start, …) and
    /// [tablerag]. TABSEGNET_LLM_URL and TABSEGNET_LLM_MODEL go before it; a key is taken from TABSEGNET_LLM_KEY alone.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where to write what the language model thought, did and saw: a JSON object a line, as it happens.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// A JSONL file of replies: known ones are taken from it, new ones written to it.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Answer from such a file alone, without a network.
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    replay: Option<PathBuf>,
}

impl LlmArguments {
    /// The file of --config, or what holds without one.
    pub fn config(&self) -> Result<Config> {
        Ok(self.config.as_deref().map(Config::read).transpose()?.unwrap_or_default())
    }

    /// The files that are written and read, with those that others say.
    pub fn files<'a>(&'a self, written: Paths<'a>, read: Paths<'a>) -> (Paths<'a>, Paths<'a>) {
        let written = written.and("--trace", &self.trace).and("--record", &self.record);
        (written, read.and("--config", &self.config).and("--replay", &self.replay))
    }

    /// What is given that says nothing without a language model.
    pub fn of_model(&self) -> Option<&'static str> {
        let of_model = [("--trace", &self.trace), ("--record", &self.record), ("--replay", &self.replay)];
        of_model.into_iter().find(|(_, given)| given.is_some()).map(|(name, _)| name)
    }
}

/// A language model that is set.
pub struct Llm {
    config: Config,
    opened: OpenModel,
    terminal: Terminal,
    /// Of all questions.
    cost: Arc<RunCost>,
    /// How often, one time after the other, there was no server that could be used.
    failures: Cell<u32>,
}

/// Failures after which the server is not called again where another policy answers: each takes its attempts and their waits.
const FAILURES: u32 = 2;

impl Llm {
    /// The model that arguments, environment and config name; `None` where they name none.
    pub fn open(arguments: &LlmArguments, show_thoughts: bool) -> Result<Option<Self>> {
        let LlmArguments { trace, record, replay, .. } = arguments;
        let config = arguments.config()?;
        let variable = |name: &str| std::env::var(name).ok();
        let config = Config { llm: config.llm.with_environment(&variable), ..config };
        let opened = OpenModel::open(&config.llm, record.as_deref(), replay.as_deref(), &variable)?;
        let Some(opened) = opened else {
            without_address(&config.llm).into_iter().for_each(|warning| eprintln!("warning: {warning}"));
            return Ok(None);
        };
        if let Some(notice) = opened.model.notice() {
            eprintln!("warning: {notice}");
        }
        let terminal = Terminal::new(trace.as_deref(), show_thoughts || io::stderr().is_terminal())?;
        Ok(Some(Self { config, opened, terminal, cost: Arc::default(), failures: Cell::default() }))
    }

    /// The model and where it is.
    pub fn name(&self) -> String {
        self.opened.name()
    }

    /// The policy for a document, or for tables of a corpus, of which the model is told; where its replies cannot be used,
    /// `otherwise` answers.
    pub fn policy<'a>(&'a self, found: &'a Found, otherwise: &'a dyn Policy) -> Result<LlmPolicy<'a>> {
        let Config { llm, agent, .. } = &self.config;
        let policy = LlmPolicy::new(found.document.graph(), agent, self.opened.model.as_ref(), llm, &self.terminal)
            .or_else(otherwise)
            .charged_to(Arc::clone(&self.cost));
        Ok(match &found.tables {
            Some((corpus, tables)) => policy.with_found(found_tables(corpus, tables, agent)?),
            None => policy,
        })
    }

    /// The model as a segmenter; `otherwise` where its replies cannot be used, and if `always`, where it fails too.
    pub fn segmenter(&self, otherwise: Box<dyn Segmenter>, always: bool) -> Box<dyn Segmenter> {
        let notice = |text: &str| eprintln!("warning: {text}");
        let segmenter = LlmSegmenter::new(Arc::clone(&self.opened.model), self.config.llm.clone(), otherwise, notice)
            .charged_to(Arc::clone(&self.cost));
        Box::new(if always { segmenter.or_always() } else { segmenter })
    }

    /// What was taken so far.
    pub fn spent(&self) -> Spent {
        Spent { calls: 0, tokens: self.cost.tokens(), cost: self.cost.spent() }
    }

    /// Has the model answer over a document with such tables.
    ///
    /// # Errors
    /// The trace cannot be written; what the model failed with is in the result.
    pub fn rounds(&self, large: &Large, question: (&str, &str)) -> Result<Rounded> {
        let Config { llm, tablerag, .. } = &self.config;
        let mut on_piece = |piece: Piece<'_>| self.terminal.piece(piece);
        let mut events = Vec::new();
        let mut sink = |event: &RoundEvent| {
            self.terminal.round(event);
            events.push(event.clone());
        };
        let mut budget = Budget::of_run(llm.budget.clone(), &self.cost);
        let model = (self.opened.model.as_ref(), llm, &mut budget);
        let result = large.answer_by_model(question, model, tablerag, &mut on_piece, &mut sink);
        let spent = budget.spent();
        self.terminal.check()?;
        Ok(Rounded { result, events, spent })
    }

    /// Whether the server failed so often that it is not called any more.
    pub fn is_given_up(&self) -> bool {
        self.failures.get() >= FAILURES
    }

    /// Counts what the model failed with, if it did.
    pub fn counts(&self, error: Option<&LlmError>) {
        let is_server = |error: &LlmError| {
            matches!(
                error,
                LlmError::Unreachable { .. } | LlmError::Key { .. } | LlmError::NotChat { .. } | LlmError::NoTls { .. }
            )
        };
        self.failures.set(if error.is_some_and(is_server) { self.failures.get() + 1 } else { 0 });
        if self.failures.get() == FAILURES {
            eprintln!("warning: the language model is not called any more: it failed {FAILURES} times");
        }
    }

    /// Answers; where the model fails, that is an error, or, where `or_policy`, what the other policy says.
    pub fn answer(&self, policy: &LlmPolicy<'_>, ranking: &Ranking, or_policy: bool) -> Result<Answer> {
        let (answer, error) = match or_policy {
            true => policy.answer_or_else(ranking),
            false => (policy.try_answer(ranking)?, None),
        };
        self.counts(error.as_ref());
        self.terminal.check()?;
        Ok(answer)
    }
}

/// How a question over large tables went with a model.
pub struct Rounded {
    /// The answer, or why the model gave none.
    pub result: Result<Answer, RoundError>,
    /// What happened, up to where it failed.
    pub events: Vec<RoundEvent>,
    /// What it took, failed calls too.
    pub spent: Spent,
}

/// Thoughts on stderr, events in the file of the trace.
struct Terminal {
    thoughts: Option<Mutex<Thoughts<Stderr>>>,
    trace: Option<(PathBuf, Mutex<File>)>,
    /// The first error of the trace.
    failed: Mutex<Option<io::Error>>,
}

impl Terminal {
    fn new(trace: Option<&Path>, show_thoughts: bool) -> Result<Self> {
        let open = |path: &Path| -> Result<_> {
            let file =
                File::create(path).with_context(|| format!("{}: the trace cannot be written", path.display()))?;
            Ok((path.to_owned(), Mutex::new(file)))
        };
        let thoughts = show_thoughts.then(|| Mutex::new(Thoughts::new(io::stderr())));
        Ok(Self { thoughts, trace: trace.map(open).transpose()?, failed: Mutex::new(None) })
    }

    /// Whether the trace was written up to now.
    fn check(&self) -> Result<()> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (failed, &self.trace) {
            (Some(error), Some((path, _))) => {
                Err(error).with_context(|| format!("{}: the trace could not be written", path.display()))
            }
            _ => Ok(()),
        }
    }
}

impl Terminal {
    /// What happened in rounds over large tables.
    fn round(&self, event: &RoundEvent) {
        if let Some(thoughts) = &self.thoughts {
            thoughts.lock().unwrap_or_else(PoisonError::into_inner).end();
        }
        self.write(event);
    }

    /// A line in one piece and at once: whoever ends the program keeps what there is.
    fn write(&self, event: &impl Serialize) {
        let Some((_, file)) = &self.trace else { return };
        let written = serde_json::to_string(event).map_err(io::Error::other).and_then(|line| {
            file.lock().unwrap_or_else(PoisonError::into_inner).write_all(format!("{line}\n").as_bytes())
        });
        if let Err(error) = written {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

impl Listener for Terminal {
    fn piece(&self, piece: Piece<'_>) {
        if let Some(thoughts) = &self.thoughts {
            thoughts.lock().unwrap_or_else(PoisonError::into_inner).take(piece);
        }
    }

    fn event(&self, event: &TraceEvent) {
        if let Some(thoughts) = &self.thoughts {
            thoughts.lock().unwrap_or_else(PoisonError::into_inner).end();
            if let TraceEvent::Round { observations, .. } = event {
                for observation in observations {
                    let shown: String = observation.action.chars().filter(|c| !c.is_control()).collect();
                    eprintln!("  > {shown}");
                }
            }
        }
        self.write(event);
    }

    fn notice(&self, text: &str) {
        eprintln!("warning: {text}");
    }
}
