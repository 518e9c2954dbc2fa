//! Statements by a language model: which one, and what it writes, run behind the fence.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tabsegnet_llm::{Budget, LlmError, LlmSettings, OpenModel, read_config, without_address};
use tabsegnet_sql::llm::{WriteError, answer};
use tabsegnet_sql::{Origins, QueryError, Rows, Sandbox, Target, linked};

use tabsegnet_store::{Paths, UsageError};

use super::source::Source;
use super::{Arguments, PolicyChoice, SEARCH, note, semantics, warn};

/// What is said about a language model.
#[derive(Args)]
pub struct LlmArguments {
    /// A TOML file with the table [llm] (base_url, model, budget, …). TABSEGNET_LLM_URL and TABSEGNET_LLM_MODEL go before
    /// it; a key is taken from TABSEGNET_LLM_KEY alone.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A JSONL file of replies: known ones are taken from it, new ones written to it.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Take replies from such a file alone, without a network.
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    replay: Option<PathBuf>,
}

/// The config; one file serves `ask` too.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Config {
    llm: LlmSettings,
    #[serde(rename = "agent")]
    _agent: IgnoredAny,
    #[serde(rename = "tablerag")]
    _tablerag: IgnoredAny,
}

impl LlmArguments {
    /// The files that are written, and those that are read with these of others.
    pub fn files<'a>(&'a self, read: Paths<'a>) -> (Paths<'a>, Paths<'a>) {
        let read = read.and("--config", &self.config).and("--replay", &self.replay);
        (Paths::default().and("--record", &self.record), read)
    }
}

impl Config {
    fn read(file: &Path) -> Result<Self, UsageError> {
        let name = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| UsageError(format!("{name}: {error}")))?;
        read_config(&name.to_string(), &text).map_err(|error| UsageError(error.to_string()))
    }
}

/// A language model that is set.
pub struct Llm {
    settings: LlmSettings,
    opened: OpenModel,
}

/// A statement of it that ran.
pub struct Statement {
    pub sql: String,
    pub rows: Rows,
    pub origins: Origins,
    pub model: String,
    pub repaired: Option<(String, String)>,
    /// What was not looked at, and what it may count more than once.
    pub notes: Vec<String>,
}

impl Llm {
    /// The model that arguments, environment and config name; `None` where they name none.
    pub fn open(arguments: &LlmArguments) -> Result<Option<Self>> {
        let config = arguments.config.as_deref().map(Config::read).transpose()?.unwrap_or_default();
        let variable = |name: &str| std::env::var(name).ok();
        let settings = config.llm.with_environment(&variable);
        let opened = OpenModel::open(&settings, arguments.record.as_deref(), arguments.replay.as_deref(), &variable)?;
        let warning = match &opened {
            Some(opened) => opened.model.notice(),
            None => without_address(&settings).map(str::to_owned),
        };
        warning.into_iter().for_each(|warning| warn(&warning));
        Ok(opened.map(|opened| Self { settings, opened }))
    }

    /// The model and where it is.
    pub fn name(&self) -> String {
        self.opened.name()
    }

    /// A statement that runs; none, said aloud, where the learnt one is to be taken: no statement could be used, or with
    /// `--policy auto` the model could not be reached.
    pub fn answer(
        &self,
        arguments: &Arguments,
        source: &Source,
        sandbox: &Sandbox,
        question: &str,
    ) -> Result<Option<Statement>> {
        source.with_rows()?;
        let mut known = source.known(&sandbox.for_reading(), semantics(arguments)?)?;
        let target = Target {
            schema: &known.schema,
            semantics: &known.semantics,
            dialect: known.dialect,
            labels: &known.labels,
        };
        let mut budget = Budget::new(self.settings.budget.clone());
        let model = (self.opened.model.as_ref(), &self.settings);
        let mut origins = Origins::new();
        let mut failed = None;
        let (dialect, labels) = (known.dialect, &known.labels);
        let found = linked(question, target, SEARCH / 2, &mut |sql| known.reader.query(sql), &mut |linker, read| {
            // Each statement in the same fence as one of the user's, in a process of its own.
            let mut run = |sql: &str| match source.run(sandbox, sql, arguments.provenance) {
                Ok(ran) => {
                    origins = ran.origins;
                    Ok(ran.rows)
                }
                Err(error) => Err(match error.downcast::<QueryError>() {
                    Ok(error) => error,
                    Err(other) => {
                        let message = other.to_string();
                        failed = Some(other);
                        QueryError::Failed { message }
                    }
                }),
            };
            answer((question, dialect), linker, labels, model, &mut budget, read, &mut run)
        });
        let (written, mut notes) = found?;
        if let Some(error) = failed {
            return Err(error);
        }
        known.not_there.iter().for_each(|name| super::hidden_is_not_there(name));
        let model = self.name();
        match written {
            Ok(written) => {
                notes.extend(written.traps.iter().map(ToString::to_string));
                notes.iter().for_each(|text| note(text));
                if let Some((_, reason)) = &written.repaired {
                    warn(&format!("the language model's first statement was not run: {reason}"));
                }
                let (sql, rows, repaired) = (written.sql, written.rows, written.repaired);
                Ok(Some(Statement { sql, rows, origins, model, repaired, notes }))
            }
            Err(WriteError::Database(error)) => Err(error.into()),
            Err(WriteError::Model(error)) if arguments.policy == PolicyChoice::Llm && !is_reply(&error) => {
                Err(error.into())
            }
            Err(error) => {
                warn(&format!("{error}; the learnt statement is taken"));
                Ok(None)
            }
        }
    }
}

/// Whether the model did answer, only not as it should.
fn is_reply(error: &LlmError) -> bool {
    matches!(error, LlmError::Invalid { .. })
}
