//! A corpus of tables, many questions.

use std::path::Path;

use anyhow::{Context as _, Error, Result, bail};
use rayon::prelude::*;
use tabsegnet::progress::on_stderr;
use tabsegnet::questions::{GivenQuestion, Questions};
use tabsegnet::{Corpus, Opening, Question as Asking, RankingError, Session, TableRanking};
use tabsegnet_store::eprintln;

use crate::arguments::{Arguments, Format, More, Request};
use crate::output::Writer;

/// Questions whose answers are worked out at a time.
const AT_ONCE: usize = 256;

/// Answers the questions in order.
pub fn rank(arguments: &Arguments, request: &Request<'_>) -> Result<()> {
    let Request { path: directory, more, .. } = *request;
    let mut questions = Questions::default();
    let listed = request.listed(&mut questions)?;
    let corpus = Corpus::open_by_option(directory, &arguments.retriever)?;
    if corpus.is_empty() {
        bail!("{}: the corpus has no table; add some with index --output {0} FILES…", directory.display());
    }
    if let Some(notice) = corpus.notice() {
        eprintln!("warning: {notice}");
    }
    let ranker = match (&arguments.checkpoint, arguments.nodes) {
        (Some(checkpoint), Some(nodes)) => Some((open_session(arguments, checkpoint)?, nodes)),
        _ => None,
    };
    let about = [("corpus", directory.display().to_string()), ("retriever", corpus.retriever())];
    let about = about.map(|(what, value)| (what.to_owned(), value)).to_vec();
    let mut writer = Writer::new(arguments.format, arguments.output.as_deref(), about);
    let search = |question: &GivenQuestion| -> Result<TableRanking> {
        let asking = Asking::new(&question.text).id(&question.id).top(arguments.top_tables());
        let failed = || format!("{}: {:?} could not be answered", directory.display(), question.text);
        let mut ranking = corpus.search(asking).with_context(failed)?;
        if let Some((session, nodes)) = &ranker {
            corpus.rank_nodes(session, &mut ranking, *nodes).with_context(failed)?;
        }
        Ok(ranking)
    };
    let print = |ranking: TableRanking, writer: &mut Writer<'_>| -> Result<()> {
        match arguments.format {
            Format::Prompt => {
                let context = corpus.prompt(&ranking, arguments.tokens()).map_err(|error| match error {
                    RankingError::Context(small) => Error::new(small).context("--tokens"),
                    other => Error::new(other),
                })?;
                writer.add_context(&context)
            }
            Format::Html => writer.add_tables_page(corpus.document(&ranking)?, ranking),
            _ => writer.add_tables(ranking),
        }
    };
    if more == More::Stdin {
        let answer = |question: &GivenQuestion| print(search(question)?, &mut writer);
        return questions.answer_stdin(arguments.format == Format::Jsonl, answer);
    }
    for questions in listed.chunks(AT_ONCE) {
        let rankings: Vec<Result<TableRanking>> = questions.par_iter().map(search).collect();
        for ranking in rankings {
            print(ranking?, &mut writer)?;
        }
    }
    writer.finish_tables()
}

fn open_session(arguments: &Arguments, checkpoint: &Path) -> Result<Session> {
    // What is opened is a choice of tables for one question: there is nothing to keep.
    let options = arguments.session_options(None);
    let opening = Opening::read(checkpoint, &options)?.with_progress(on_stderr());
    if let Some(notice) = opening.segmenter_notice() {
        eprintln!("{notice}");
    }
    Ok(opening.finish()?)
}
