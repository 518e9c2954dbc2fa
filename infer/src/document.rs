//! One document, many questions.

use std::path::Path;
use std::thread;

use anyhow::{Context as _, Error, Result};
use tabsegnet::questions::{GivenQuestion, Questions};
use tabsegnet::ranking::likely;
use tabsegnet::{OpenDocument, Opening, Question as Asking, RankingError};
use tabsegnet_store::eprintln;

use crate::arguments::{Arguments, Format, More, Request};
use crate::output::Writer;

/// Answers the questions in order: the listed ones when all have been read, those of stdin as they
/// come.
pub fn rank(
    opening: Opening,
    checkpoint: &Path,
    arguments: &Arguments,
    request: &Request<'_>,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let Request { path, more, .. } = *request;
    let failed = || format!("{}: could not be ranked", path.display());
    let mut questions = Questions::default();
    let listed = request.listed(&mut questions)?;

    opening.answers_own_questions().with_context(|| format!("{}: takes no questions", checkpoint.display()))?;
    let (_, document) = opening.finish_with(path, &arguments.read_options())?;
    for notice in document.notices() {
        eprintln!("{notice}");
    }
    if arguments.show_tables {
        document.read()?.tables.iter().for_each(|table| eprintln!("{table}"));
    }
    for warning in document.warnings() {
        eprintln!("warning: {}: {warning}", path.display());
    }

    let mut answer = |question: &GivenQuestion| -> Result<()> {
        let question = Asking::new(&question.text).id(&question.id).top(arguments.top_k());
        let question = if arguments.each_place() { question.each_place() } else { question };
        match arguments.format {
            Format::Prompt => {
                let context = document.context(question, arguments.tokens()).map_err(|error| match error {
                    RankingError::Context(small) => Error::new(small).context("--tokens"),
                    other => Error::new(other).context(failed()),
                })?;
                writer.add_context(&context)
            }
            _ if arguments.explains() => {
                let mut explained = document.explain(question).with_context(failed)?;
                if let Some(share) = arguments.likely() {
                    // Each fact counts once.
                    let scores: Vec<f32> = explained.ranking.nodes.iter().map(|node| node.score).collect();
                    explained.ranking.nodes.truncate(likely(&scores, share));
                }
                writer.add_explained(&document, explained)
            }
            _ => writer.add(document.rank(question).with_context(failed)?, &[]),
        }
    };
    listed.iter().try_for_each(&mut answer)?;
    if more != More::Stdin {
        writer.finish(Some(&document))?;
        // Nobody waits for the file.
        keep(&document);
        return Ok(());
    }
    thread::scope(|scope| {
        scope.spawn(|| keep(&document));
        questions.answer_stdin(arguments.format == Format::Jsonl, answer)
    })
}

/// The answers are given: that the next run has to encode anew is worth a message, not a failure.
fn keep(document: &OpenDocument) {
    if let Err(error) = document.keep() {
        eprintln!("the document's encoded form is not kept: {error}");
    }
}
