//! `ask`: answers questions about a document or a corpus, with the program and the cells behind each answer.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, ValueEnum};
use tabsegnet::progress::on_stderr;
use tabsegnet::questions::{GivenQuestion, Questions};
use tabsegnet::{
    Corpus, DeviceChoice, OpenDocument, Opening, Question, Ranking, ReadOptions, Session, SessionOptions, TableRanking,
    exit_code,
};
use tabsegnet_agent::{Answer, Choice, Learnt, Policy, Rules, WithDocument};
use tabsegnet_encoder::{Shipped, shipped};
use tabsegnet_llm::{LlmError, no_model};
use tabsegnet_segmenter::{SegmenterConfig, SegmenterError, load_segmenter};
use tabsegnet_tablerag::{RoundError, RoundSettings};

#[path = "ask/large.rs"]
mod large;
#[path = "ask/llm.rs"]
mod llm;
#[path = "ask/output.rs"]
mod output;
#[path = "ask/replay.rs"]
mod replay;

use large::LargeDocument;
use llm::{Llm, LlmArguments, Rounded};
use output::Writer;
use tabsegnet_store::{Paths, USAGE, UsageError, check_written, eprintln, exit};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Tables of a corpus whose nodes are ranked unless said.
const TABLES: usize = 10;

/// Answers questions about a document or a corpus of tables: the number or the words, the program that made it, the cells it
/// rests on.
///
/// Answers go to stdout, the rest to stderr. Exit codes: 0 done, also where it does not know; 1 failed; 2 wrong usage.
#[derive(Parser)]
#[command(name = "ask", version)]
struct Arguments {
    /// A checkpoint, such as `train` writes; the shipped checkpoints/general unless given.
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// A document: HTML, Markdown, XLSX, CSV, TSV, plain text, docling's JSON or the native JSON; or a folder of such: their
    /// tables go through SQL, and the ranker reads the documents that a question is about, but for tables that are too large.
    #[arg(long, value_name = "FILE|DIR", required_unless_present = "corpus")]
    document: Option<PathBuf>,
    /// A corpus of tables that `index` made: its best tables for a question are searched for the answer.
    #[arg(long, value_name = "DIR", conflicts_with = "document")]
    corpus: Option<PathBuf>,
    /// How the tables of --corpus are ranked: rerank, fusion, links, rrf, bm25, bm25-schema, dense, gtr, or the folder of a
    /// trained reranker of tables; rerank unless given.
    #[arg(long, value_name = "NAME")]
    retriever: Option<String>,
    /// How many tables of --corpus are searched; 10 unless given.
    #[arg(long, value_name = "N")]
    tables: Option<usize>,
    /// A question; may be given several times.
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["questions", "replay_trace"])]
    question: Vec<String>,
    /// A file of questions, one a line: the question itself, or {"id": "q7", "question": "…"}, whose other keys are
    /// left alone. With - they are read from stdin and each is answered at once.
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Carries out again what a trace that --trace wrote tells, over the same document or corpus and with the same settings,
    /// without a language model, and says of each of its walks whether the same comes out; exit code 1 where one does not.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["question", "questions", "format", "output", "policy"])]
    replay_trace: Option<PathBuf>,
    /// How to print answers.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Writes the result into a file, whole or not at all, instead of to stdout. Where a question fails, the answers before it
    /// are in FILE.partial.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Who answers.
    #[arg(long, value_enum, default_value_t = PolicyChoice::Auto)]
    policy: PolicyChoice,
    /// Who splits questions into segments for the ranker: rules, t5, none, the folder of a T5, or llm, the language model that is
    /// set. The one that the checkpoint was trained with unless given.
    #[arg(long, value_name = "NAME", value_parser = segmenter)]
    segmenter: Option<SegmenterChoice>,
    /// A glossary: what people say and what documents call it, as TOML ([[entry]] with terms, labels, source); may be given
    /// several times, the first that has a term counts. It goes before the one that comes with the project.
    #[arg(long, value_name = "FILE")]
    glossary: Vec<PathBuf>,
    /// Reads questions as they are, without any glossary.
    #[arg(long, conflicts_with = "glossary")]
    no_glossary: bool,
    /// The learnt choice of answers, such as `train` writes; the shipped one unless given.
    #[arg(long, value_name = "DIR")]
    answers: Option<PathBuf>,
    /// Abstains where the confidence of an answer is lower, from 0 to 1; docs/answers.md has how many answers, and how many right
    /// ones, are left at which. The learnt choice's own threshold holds too.
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = probability)]
    min_confidence: f32,
    /// auto, cpu, wgpu or cuda.
    #[arg(long, default_value = "auto")]
    device: DeviceChoice,
    /// Tables with at least so many cells go through SQL and not through the graph.
    #[arg(long, value_name = "N", default_value_t = tabsegnet_agent::large::CELLS)]
    sql_cells: usize,
    #[command(flatten)]
    llm: LlmArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines for a terminal.
    Table,
    /// One indented JSON list.
    Json,
    /// One JSON object a line and question.
    Jsonl,
    /// A page that shows the document, the answer, its program and checks, the cited cells, and the path to it; of tables that
    /// went through SQL the statement and the rows around what is cited.
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PolicyChoice {
    /// A language model where one is set, else, or where it fails, what learnt means; which, is said on stderr.
    Auto,
    /// The best node of the kind that the question's words want; nothing is computed.
    Rules,
    /// The learnt choice among programs, cells, names and sentences; over tables that go through SQL statements by rules.
    Learnt,
    /// A language model that walks the document's graph, or has SQL go through large tables; what learnt means only where its
    /// replies cannot be used.
    Llm,
}

/// Who splits questions.
#[derive(Debug, Clone)]
enum SegmenterChoice {
    Llm,
    Other(SegmenterConfig),
}

fn probability(text: &str) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

fn segmenter(name: &str) -> Result<SegmenterChoice, String> {
    let other = |error| match error {
        SegmenterError::UnknownName { name } => {
            format!("{name:?} is no segmenter; expected rules, t5, none, llm or the folder of a T5")
        }
        error => error.to_string(),
    };
    match name {
        "llm" => Ok(SegmenterChoice::Llm),
        name => SegmenterConfig::named(name).map(SegmenterChoice::Other).map_err(other),
    }
}

fn main() -> ExitCode {
    // SAFETY: the first that the program does.
    #[allow(unsafe_code)]
    unsafe {
        tabsegnet_segmenter::say_thread_count();
        tabsegnet_ranker::device::look_without_a_desktop();
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == tabsegnet_sql::worker::ARGUMENT) {
        return if tabsegnet_sql::worker::serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    exit(run(&Arguments::parse()), |cause| {
        matches!(cause.downcast_ref(), Some(LlmError::Settings { .. })).then_some(USAGE).or_else(|| exit_code(cause))
    })
}

impl Arguments {
    fn check(&self) -> Result<(), UsageError> {
        let waits = matches!(self.format, Format::Json | Format::Html) || self.output.is_some();
        if self.reads_stdin() && waits {
            return Err(UsageError(
                "--questions - answers each question on stdout as it comes; expected --format table or jsonl and no --output".into(),
            ));
        }
        // Its password is not to be printed.
        if self.document.as_ref().is_some_and(|path| path.to_string_lossy().contains("://")) {
            return Err(UsageError(
                "--document is a URL; expected a file or a folder (query --database URL puts questions to PostgreSQL)"
                    .into(),
            ));
        }
        if self.corpus.is_none() && (self.retriever.is_some() || self.tables.is_some()) {
            return Err(UsageError("--retriever and --tables go with --corpus".into()));
        }
        if self.tables == Some(0) {
            return Err(UsageError("--tables is 0; expected at least 1".into()));
        }
        if self.format == Format::Html && self.document.as_ref().is_some_and(|path| path.is_dir()) {
            return Err(UsageError(
                "--format html shows one document, and a folder was given; expected a file of it, or --format table, json or jsonl".into(),
            ));
        }
        if self.replay_trace.is_some() && self.splits_by_model() {
            return Err(UsageError(
                "--replay-trace asks no language model; expected another --segmenter than llm".into(),
            ));
        }
        if let (Some(name), false) = (self.llm.of_model(), self.wants_model() || self.splits_by_model()) {
            return Err(UsageError(format!(
                "{name} goes with a language model: --policy auto or llm, or --segmenter llm"
            )));
        }
        self.check_files()
    }

    /// That nothing which is read is overwritten.
    fn check_files(&self) -> Result<(), UsageError> {
        let questions = self.questions.iter().filter(|_| !self.reads_stdin());
        let read = Paths::default().and("--checkpoint", &self.checkpoint).and("--corpus", &self.corpus);
        let read =
            read.and("--document", &self.document).and("--questions", questions).and("--glossary", &self.glossary);
        let read = read.and("--replay-trace", &self.replay_trace).and("--answers", &self.answers);
        let (written, read) = self.llm.files(Paths::default().and("--output", &self.output), read);
        check_written(&written, &read)
    }

    /// Whether a language model may answer.
    fn wants_model(&self) -> bool {
        matches!(self.policy, PolicyChoice::Auto | PolicyChoice::Llm)
    }

    fn splits_by_model(&self) -> bool {
        matches!(self.segmenter, Some(SegmenterChoice::Llm))
    }

    fn checkpoint(&self) -> Result<PathBuf> {
        Ok(match &self.checkpoint {
            Some(directory) => directory.clone(),
            None => shipped(Shipped::General)?,
        })
    }

    fn reads_stdin(&self) -> bool {
        self.questions.as_deref() == Some(Path::new("-"))
    }

    fn retriever(&self) -> &str {
        self.retriever.as_deref().unwrap_or("rerank")
    }

    /// What is searched, for messages.
    fn place(&self) -> String {
        let path = self.corpus.as_ref().or(self.document.as_ref());
        path.map_or_else(String::new, |path| path.display().to_string())
    }
}

/// What is searched for answers, open between questions.
enum Searched {
    Document(OpenDocument),
    /// A document with tables too large for the graph.
    Large(Rc<LargeDocument>),
    Corpus {
        corpus: Corpus,
        session: Session,
        tables: usize,
        sql_cells: usize,
        /// Whether tables of records go through SQL whatever their size.
        records: bool,
    },
}

/// Where the answer to a question is looked for.
enum Place {
    /// In a graph.
    Graph(Box<Found>),
    /// In tables too large for one and what stands beside them, of a document or of these tables of a corpus.
    Large(Rc<LargeDocument>, Option<TableRanking>),
}

/// The document that a question is answered from: all of it, or the best tables of a corpus.
struct Found {
    document: OpenDocument,
    ranking: Ranking,
    tables: Option<(Corpus, TableRanking)>,
}

impl Searched {
    /// Tables of `records` go through SQL whatever their size, where that is wanted.
    fn open(arguments: &Arguments, opening: Opening, records: bool) -> Result<Self> {
        if let Some(directory) = &arguments.corpus {
            let corpus = Corpus::open_by_option(directory, arguments.retriever())?;
            if let Some(notice) = corpus.notice() {
                eprintln!("warning: {notice}");
            }
            if corpus.is_empty() {
                bail!("{}: the corpus has no table; add some with index --output {0} FILES…", directory.display());
            }
            let (tables, sql_cells) = (arguments.tables.unwrap_or(TABLES), arguments.sql_cells);
            return Ok(Self::Corpus { corpus, session: opening.finish()?, tables, sql_cells, records });
        }
        let path = arguments.document.as_deref().context("--document FILE is missing")?;
        if path.is_dir() {
            return Ok(Self::Large(Rc::new(LargeDocument::of_folder(path, arguments.sql_cells, opening)?)));
        }
        if let Some(large) = large::read(path, arguments.sql_cells, records)? {
            return Ok(Self::Large(Rc::new(LargeDocument::open(large, opening)?)));
        }
        let (_, document) = opening.finish_with(path, &ReadOptions::default())?;
        for warning in document.warnings() {
            eprintln!("warning: {}: {warning}", path.display());
        }
        Ok(Self::Document(document))
    }

    /// `None` where a corpus has no table for the question.
    fn find(&self, question: &GivenQuestion) -> Result<Option<Place>> {
        let query = Question::new(&question.text).id(&question.id);
        let (document, tables) = match self {
            Self::Document(document) => (document.clone(), None),
            Self::Large(large) => return Ok(Some(Place::Large(Rc::clone(large), None))),
            Self::Corpus { corpus, session, tables, sql_cells, records } => {
                let found = corpus.search(query.top(*tables))?;
                if found.tables.is_empty() {
                    return Ok(None);
                }
                let made = corpus.document(&found)?;
                if let Some(large) = LargeDocument::of_tables(&made, &found, session, *sql_cells)? {
                    return Ok(Some(Place::Large(Rc::new(large), Some(found))));
                }
                if *records && let Some(large) = LargeDocument::of_records(corpus, &made, &found, session)? {
                    return Ok(Some(Place::Large(Rc::new(large), Some(found))));
                }
                for table in &found.tables {
                    if let Some(rows) = table.rows_in_document {
                        let all = table.rows;
                        eprintln!("warning: {}: only the first {rows} of {all} rows are searched", table.id);
                    }
                }
                (session.open_made("corpus.json", &made)?, Some((corpus.clone(), found)))
            }
        };
        let ranking = document.rank(query.top(usize::MAX).each_place())?;
        Ok(Some(Place::Graph(Box::new(Found { document, ranking, tables }))))
    }
}

/// Who answers.
struct Answerer<'a> {
    llm: Option<&'a Llm>,
    /// Without a language model, and where its replies cannot be used.
    otherwise: Box<dyn Policy>,
    /// Whether the other policy answers where the model cannot be reached, too.
    or_otherwise: bool,
    /// How tables too large for the graph are gone through.
    rounds: RoundSettings,
}

impl Answerer<'_> {
    /// The model, unless its server failed so often that the other policy answers at once.
    fn model(&self) -> Option<&Llm> {
        self.llm.filter(|llm| !(self.or_otherwise && llm.is_given_up()))
    }

    fn answer(&self, found: &Found) -> Result<Answer> {
        let answer = match self.model() {
            Some(llm) => {
                let otherwise = WithDocument { document: &found.document, policy: self.otherwise.as_ref() };
                let policy = llm.policy(found, &otherwise)?;
                llm.answer(&policy, &found.ranking, self.or_otherwise)?
            }
            None => tabsegnet_agent::answer_with(&found.document, &found.ranking, self.otherwise.as_ref())?,
        };
        Ok(match &found.tables {
            Some((_, tables)) => answer.of_tables(tables),
            None => answer.located(found.document.locations()),
        })
    }
}

impl Answerer<'_> {
    /// Answers over a document with large tables. Where the language model's replies cannot be used, rules make statements,
    /// and the other policy answers from the rest of the document; where it fails otherwise, that is an error, or as well.
    fn answer_large(&self, large: &LargeDocument, question: &GivenQuestion) -> Result<Answer> {
        let question = (question.id.as_str(), question.text.as_str());
        let Some(llm) = self.model() else {
            return large.answer(question, self.otherwise.as_ref(), &self.rounds);
        };
        let Rounded { result, events, spent } = llm.rounds(large.tables(), question)?;
        let error = match result {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let unusable = matches!(error, RoundError::Planner(LlmError::Invalid { .. }));
        if !unusable && !self.or_otherwise {
            return Err(error.into());
        }
        llm.counts(if let RoundError::Planner(error) = &error { Some(error) } else { None });
        let (id, who) = (question.0, self.otherwise.name());
        eprintln!("warning: {id}: answered by SQL by rules, and by {who} from the rest of the document: {error}");
        let answer = large.answer(question, self.otherwise.as_ref(), &self.rounds)?;
        let rounds = events.into_iter().chain(answer.rounds).collect();
        Ok(Answer { rounds, tokens: Some(spent.tokens), cost: spent.cost, ..answer })
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    arguments.check()?;
    let config = arguments.llm.config().map_err(|error| UsageError(format!("{error:#}")))?;
    if let Some(trace) = &arguments.replay_trace {
        return replay::replay_trace(arguments, trace);
    }
    let mut questions = Questions::default();
    let file = arguments.questions.as_deref().filter(|_| !arguments.reads_stdin());
    let listed = questions.listed(&arguments.question, file)?;
    if arguments.corpus.is_some() && arguments.format == Format::Html && listed.len() > 1 {
        let given = listed.len();
        return Err(UsageError(format!(
            "--format html shows the tables of one question, and {given} were given; give one"
        ))
        .into());
    }
    let llm = language_model(arguments)?;
    let opening = opening(arguments, llm.as_ref())?;
    if arguments.wants_model() {
        match &llm {
            Some(llm) => eprintln!("policy: llm, {}", llm.name()),
            None => eprintln!("policy: learnt; no language model is set"),
        }
    }
    let otherwise = otherwise(arguments)?;
    let answering = llm.as_ref().filter(|_| arguments.wants_model());
    let or_otherwise = arguments.policy == PolicyChoice::Auto;
    let answerer = Answerer { llm: answering, otherwise, or_otherwise, rounds: config.tablerag };
    // A model walks the graph of a small table.
    let searched = Searched::open(arguments, opening, answering.is_none())?;
    let mut writer = Writer::new(arguments.format, arguments.output.as_deref(), about(arguments)?);
    let mut answer = |question: &GivenQuestion| -> Result<()> {
        let failed = || format!("{}: {}", arguments.place(), question.id);
        let before = llm.as_ref().map(Llm::spent);
        match searched.find(question).with_context(failed)? {
            Some(Place::Large(large, tables)) => {
                let answer = answerer.answer_large(&large, question).with_context(failed)?;
                let answer = answer.at_least(arguments.min_confidence);
                match tables {
                    Some(tables) => writer.add_large(&large, answer.of_tables(&tables)),
                    None => writer.add_large(&large, answer),
                }
            }
            Some(Place::Graph(found)) => {
                if arguments.segmenter.is_some() {
                    eprintln!("{}: segments: {}", question.id, segments(&found.ranking));
                }
                let mut answer = answerer.answer(&found).with_context(failed)?;
                if let (Some(llm), Some(before), true) = (&llm, before, arguments.splits_by_model()) {
                    let spent = llm.spent().since(&before);
                    (answer.tokens, answer.cost) = (Some(spent.tokens), spent.cost);
                }
                writer.add(&found, answer.at_least(arguments.min_confidence))
            }
            None => writer.add_without_document(Answer::nothing_found(&question.id, &question.text)),
        }
        .with_context(failed)
    };
    let mut done = listed.iter().try_for_each(&mut answer);
    if done.is_ok() && arguments.reads_stdin() {
        done = questions.answer_stdin(arguments.format == Format::Jsonl, &mut answer);
    }
    let Err(error) = done else { return writer.finish() };
    if let Err(error) = writer.finish_part() {
        eprintln!("warning: the answers that were finished cannot be written: {error:#}");
    }
    Err(error)
}

/// The checkpoint, with who splits questions; what is to be known of it is told on stderr.
fn opening(arguments: &Arguments, llm: Option<&Llm>) -> Result<Opening> {
    let segmenter = match &arguments.segmenter {
        Some(SegmenterChoice::Other(config)) => Some(config.clone()),
        Some(SegmenterChoice::Llm) | None => None,
    };
    let options = SessionOptions {
        device: arguments.device,
        segmenter,
        glossaries: arguments.glossary.clone(),
        without_glossary: arguments.no_glossary,
        ..SessionOptions::default()
    };
    let checkpoint = arguments.checkpoint()?;
    let opening = split_by(Opening::read(&checkpoint, &options)?, arguments, llm)?.with_progress(on_stderr());
    if let Some(notice) = opening.segmenter_notice() {
        eprintln!("{notice}");
    }
    opening.answers_own_questions().with_context(|| format!("{}: takes no questions", checkpoint.display()))?;
    if let Some(warning) = opening.warning() {
        eprintln!("warning: {warning}");
    }
    Ok(opening)
}

fn about(arguments: &Arguments) -> Result<Vec<(String, String)>> {
    let mut about = vec![("checkpoint", arguments.checkpoint()?.display().to_string())];
    if let Some(corpus) = &arguments.corpus {
        about.push(("corpus", corpus.display().to_string()));
        about.push(("retriever", arguments.retriever().to_owned()));
    }
    Ok(about.into_iter().map(|(what, value)| (what.to_owned(), value)).collect())
}

/// Who answers without a language model.
fn otherwise(arguments: &Arguments) -> Result<Box<dyn Policy>> {
    if arguments.policy == PolicyChoice::Rules {
        return Ok(Box::new(Rules));
    }
    let directory = match &arguments.answers {
        Some(directory) => directory.clone(),
        None => shipped(Shipped::Answers)?,
    };
    Ok(Box::new(Learnt(Choice::read(&directory)?)))
}

/// The segments of a ranking's question, for people.
fn segments(ranking: &Ranking) -> String {
    match ranking.segments.as_slice() {
        [] => "none; the question is its own".to_owned(),
        segments => segments.iter().map(|segment| format!("{segment:?}")).collect::<Vec<_>>().join(", "),
    }
}

/// With the language model as segmenter, where that is wanted and it is set.
fn split_by(opening: Opening, arguments: &Arguments, llm: Option<&Llm>) -> Result<Opening> {
    if !arguments.splits_by_model() {
        return Ok(opening);
    }
    let Some(llm) = llm else { return Ok(opening) };
    let otherwise = load_segmenter(opening.segmenter())?;
    Ok(opening.with_segmenter(llm.segmenter(otherwise, arguments.policy == PolicyChoice::Auto)))
}

/// The language model that is to answer or to split questions, where there is one.
fn language_model(arguments: &Arguments) -> Result<Option<Llm>> {
    if !arguments.wants_model() && !arguments.splits_by_model() {
        return Ok(None);
    }
    let llm = Llm::open(&arguments.llm, arguments.format == Format::Table)?;
    if llm.is_none() && (arguments.policy != PolicyChoice::Auto || arguments.splits_by_model()) {
        let what = if arguments.splits_by_model() { "--segmenter llm" } else { "--policy llm" };
        return Err(UsageError(format!("{what}: {}", no_model("--config"))).into());
    }
    Ok(llm)
}
