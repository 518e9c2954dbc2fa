//! The command line, and what it means.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Parser, ValueEnum};
use tabsegnet::SessionOptions;
use tabsegnet::questions::{GivenQuestion, QuestionError, Questions};
use tabsegnet_datasets::{Dataset, Extra, registry};
use tabsegnet_document::{Format as InputFormat, ReadOptions};
use tabsegnet_ranker::device::DeviceChoice;
use tabsegnet_segmenter::SegmenterConfig;
use tabsegnet_store::{Paths, UsageError, check_written};

/// Ranks the nodes (cells, headers, sentences) of a document for questions.
///
/// Either --document or --corpus with --question or --questions, or --dataset with --input. Results go to
/// stdout, the rest to stderr. Exit codes: 0 done, 1 failed, 2 wrong usage.
#[derive(Parser)]
#[command(name = "infer", version)]
pub struct Arguments {
    /// A checkpoint, such as `train` writes; for --corpus only with --nodes.
    #[arg(long, value_name = "DIR", required_unless_present = "corpus")]
    pub checkpoint: Option<PathBuf>,
    /// A corpus of tables that `index` made; ranks its tables.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["document", "dataset", "explain", "graph"])]
    corpus: Option<PathBuf>,
    /// How the tables of --corpus are ranked: rerank, fusion, links, rrf, bm25, bm25-schema, dense, gtr (with settings as
    /// gtr:tau=0.5,K=20), or the folder of a trained reranker of tables.
    #[arg(long, value_name = "NAME", requires = "corpus", default_value = RETRIEVER)]
    pub retriever: String,
    /// Goes on from the tables of --corpus to their cells and the sentences beside them, the N best (10 unless said), with the
    /// ranker of --checkpoint.
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10",
        requires = "corpus",
        requires = "checkpoint"
    )]
    pub nodes: Option<usize>,
    /// A document: HTML, Markdown, XLSX, CSV, TSV, plain text, docling's JSON or the native JSON.
    #[arg(long, value_name = "FILE", conflicts_with = "dataset")]
    document: Option<PathBuf>,
    /// A question about the document or corpus; may be given several times.
    #[arg(long, value_name = "TEXT", conflicts_with = "dataset")]
    question: Vec<String>,
    /// A file of questions about the document or corpus, one a line: the question itself, or
    /// {"id": "q7", "question": "…"}. With - they are read from stdin and each is answered at once,
    /// so that another program can go on asking.
    #[arg(long, value_name = "FILE", conflicts_with = "dataset")]
    questions: Option<PathBuf>,
    /// A glossary: what people say and what documents call it, as TOML ([[entry]] with terms, labels, source); may be
    /// given several times. What it says goes before what the one says that comes with the project.
    #[arg(long, value_name = "FILE")]
    pub glossary: Vec<PathBuf>,
    /// Reads questions as they are, without any glossary.
    #[arg(long, conflicts_with = "glossary")]
    pub no_glossary: bool,
    /// Who splits questions into segments for the ranker: rules, t5, none, or the folder of a T5. The one that the checkpoint was
    /// trained with unless given.
    #[arg(long, value_name = "NAME", requires = "checkpoint", value_parser = SegmenterConfig::named)]
    pub segmenter: Option<SegmenterConfig>,
    /// The form of --document (native, html, markdown, xlsx, csv, docling, text); by its name and
    /// content unless given.
    #[arg(long, value_name = "FORM", requires = "document")]
    input_format: Option<InputFormat>,
    /// Header rows of every table of --document; inferred unless given.
    #[arg(long, value_name = "N", requires = "document")]
    header_rows: Option<usize>,
    /// Header columns of every table of --document; inferred unless given.
    #[arg(long, value_name = "N", requires = "document")]
    header_cols: Option<usize>,
    /// Says on stderr what was read and inferred for each table of --document.
    #[arg(long, requires = "document")]
    pub show_tables: bool,
    /// The data set that the files of --input are of.
    #[arg(long, value_name = "KIND", requires = "input", value_parser = dataset_names())]
    dataset: Option<String>,
    /// A file with questions; may be given several times.
    #[arg(long, value_name = "FILE", requires = "dataset")]
    input: Vec<PathBuf>,
    /// A file whose tables may become distractors; may be given several times. The input files
    /// themselves unless given.
    #[arg(long, value_name = "FILE", requires = "dataset")]
    pool: Vec<PathBuf>,
    /// A file of tables, or a directory of them, where a data set has them apart; may be given several times.
    #[arg(long, value_name = "PATH", requires = "dataset")]
    tables: Vec<PathBuf>,
    /// A file of linked passages, or a directory of them, where tables do not hold them; may be given several times.
    #[arg(long, value_name = "PATH", requires = "dataset")]
    passages: Vec<PathBuf>,
    /// How many nodes, or tables of --corpus (400 at most by its reranker), to give a question; unless said all of them for
    /// --format trec, and for html as many as --likely says.
    #[arg(long, value_name = "N")]
    top_k: Option<usize>,
    /// Lists every node at its own place. Otherwise a fact that several tables of --document show is listed once, at the
    /// best place, with the others beside it; --format trec always lists each place.
    #[arg(long, requires = "document")]
    each_place: bool,
    /// How many nodes --format html marks: the best ones that hold this share of the likelihood (0 to 1) together, at
    /// least 1 and at most 20; 0.7 unless given.
    #[arg(long, value_name = "SHARE", conflicts_with = "top_k")]
    likely: Option<f32>,
    /// About how many tokens the context of --format prompt may have; 1000 unless given.
    #[arg(long, value_name = "N")]
    tokens: Option<usize>,
    /// Says of each node in --format json and jsonl where its score comes from: the edges into it, its
    /// features, the question's segments and the reranker, with what each adds. --format html always does.
    #[arg(long, requires = "document")]
    explain: bool,
    /// How to print the ranking.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Writes the result into a file, whole or not at all, instead of to stdout.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also writes the document's graph: GraphML, or DOT where the name ends in .dot.
    #[arg(long, value_name = "FILE")]
    pub graph: Option<PathBuf>,
    /// Where vectors are kept between runs; $TABSEGNET_CACHE or the user's cache directory unless
    /// given.
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// auto, cpu, wgpu or cuda.
    #[arg(long, default_value = "auto")]
    pub device: DeviceChoice,
}

/// The names that --dataset can have.
fn dataset_names() -> PossibleValuesParser {
    let name = |dataset: &dyn Dataset| PossibleValue::new(dataset.name()).help(dataset.about());
    PossibleValuesParser::new(registry().iter().map(name).collect::<Vec<_>>())
}

/// How to print rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines for a terminal.
    Table,
    /// One indented JSON value: an object for one question, a list for several.
    Json,
    /// One JSON object a line and question.
    Jsonl,
    /// `question_id Q0 node_id rank score tag`.
    Trec,
    /// A context for a language model: the best nodes of --document with ids to cite, tables cut to
    /// their rows and columns, or the best tables of --corpus with how they belong together, within --tokens.
    Prompt,
    /// A page that shows --document with the best nodes marked in it, or the tables of --corpus.
    Html,
}

impl Format {
    /// Whether the document itself is needed, not only its nodes.
    pub fn shows_document(self) -> bool {
        matches!(self, Self::Prompt | Self::Html)
    }

    /// Whether it waits for the last answer.
    fn waits(self) -> bool {
        matches!(self, Self::Json | Self::Html)
    }
}

/// How the tables of a corpus are ranked unless said.
const RETRIEVER: &str = "rerank";

/// Nodes a question unless said.
const TOP_K: usize = 10;
/// Nodes that a page numbers at most unless said.
const HTML_TOP_K: usize = 20;
/// The share of the likelihood that they hold unless said.
const LIKELY: f32 = 0.7;
/// Nodes that a context holds at most unless said.
const PROMPT_TOP_K: usize = 50;
/// Tables a question of a TREC run unless said.
const TREC_TABLES: usize = 100;
/// Tokens of a context unless said.
const TOKENS: usize = 1000;

/// What to rank.
pub enum Input<'a> {
    /// Questions on one document.
    Document(Request<'a>),
    /// Questions to a corpus of tables.
    Corpus(Request<'a>),
    /// Every question of the files.
    Dataset(Files<'a>),
}

/// A document or a corpus and what is put to it.
pub struct Request<'a> {
    /// The document's file, or the corpus' folder.
    pub path: &'a Path,
    /// Questions of the command line.
    pub questions: &'a [String],
    /// Where further ones stand.
    pub more: More<'a>,
}

impl Request<'_> {
    /// Those of the command line and of a file, whose ids `questions` sees to; where there can be only one, it has none.
    pub fn listed(&self, questions: &mut Questions) -> Result<Vec<GivenQuestion>, QuestionError> {
        let file = if let More::File(file) = self.more { Some(file) } else { None };
        let mut listed = questions.listed(self.questions, file)?;
        if let ([question], More::None) = (listed.as_mut_slice(), self.more) {
            question.id.clear();
        }
        Ok(listed)
    }
}

/// Questions that are not on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More<'a> {
    /// There are none.
    None,
    /// In a file.
    File(&'a Path),
    /// On stdin, to be answered as they come.
    Stdin,
}

/// Files of a data set.
pub struct Files<'a> {
    /// Of which.
    pub dataset: &'static dyn Dataset,
    /// Files with questions.
    pub input: &'a [PathBuf],
    /// Files with distractors.
    pub pool: &'a [PathBuf],
    /// Files or directories of tables.
    pub tables: &'a [PathBuf],
    /// Files or directories of linked passages.
    pub passages: &'a [PathBuf],
}

impl Arguments {
    /// What to rank.
    pub fn input(&self) -> Result<Input<'_>, UsageError> {
        for (name, count) in [("--top-k", self.top_k), ("--nodes", self.nodes)] {
            if count == Some(0) {
                return Err(UsageError(format!("{name} is 0; expected at least 1")));
            }
        }
        // Its password is not to be printed.
        if self.document.as_ref().is_some_and(|path| path.to_string_lossy().contains("://")) {
            return Err(UsageError(
                "--document is a URL; expected a file (query --database URL puts questions to PostgreSQL)".into(),
            ));
        }
        if self.graph.is_some() && self.document.is_none() {
            return Err(UsageError("--graph goes with --document".into()));
        }
        if self.tokens.is_some() && self.format != Format::Prompt {
            return Err(UsageError("--tokens goes with --format prompt".into()));
        }
        if self.format.shows_document() && self.document.is_none() && self.corpus.is_none() {
            return Err(UsageError("--format prompt and html go with --document or --corpus".into()));
        }
        if let Some(share) = self.likely
            && (self.format != Format::Html || !(0.0..=1.0).contains(&share))
        {
            return Err(UsageError(format!("--likely is {share}; expected a share from 0 to 1, with --format html")));
        }
        if self.explain && !matches!(self.format, Format::Json | Format::Jsonl | Format::Html) {
            return Err(UsageError("--explain goes with --format json, jsonl or html".into()));
        }
        self.check_files()?;
        let more = match self.questions.as_deref() {
            None => More::None,
            Some(path) if path == Path::new("-") => More::Stdin,
            Some(path) => More::File(path),
        };
        if more == More::Stdin && (self.output.is_some() || self.format.waits()) {
            return Err(UsageError(
                "--questions - answers each question on stdout as it comes; expected --format table, jsonl, trec or prompt and no --output".into(),
            ));
        }
        if let Some(corpus) = &self.corpus {
            if more == More::None && self.question.is_empty() {
                return Err(UsageError("--corpus goes with --question TEXT or --questions FILE".into()));
            }
            if self.checkpoint.is_some() && self.nodes.is_none() {
                return Err(UsageError(
                    "--checkpoint ranks the nodes of tables: it goes with --nodes for --corpus".into(),
                ));
            }
            self.check_for_corpus()?;
            return Ok(Input::Corpus(Request { path: corpus, questions: &self.question, more }));
        }
        if self.nodes.is_some() || self.retriever != RETRIEVER {
            return Err(UsageError("--nodes and --retriever go with --corpus".into()));
        }
        match (&self.document, &self.dataset) {
            (Some(document), None) if more != More::None || !self.question.is_empty() => {
                Ok(Input::Document(Request { path: document, questions: &self.question, more }))
            }
            (None, Some(name)) => {
                self.check_without_document()?;
                let Self { input, tables, passages, pool, .. } = self;
                let dataset = registry().get(name).map_err(|error| UsageError(error.to_string()))?;
                let given = |extra| match extra {
                    Extra::Tables => !tables.is_empty(),
                    Extra::Passages => !passages.is_empty(),
                    Extra::Pool => !pool.is_empty(),
                };
                registry()
                    .check(dataset, given)
                    .map_err(|(extra, message)| UsageError(format!("--{} {message}", extra.name())))?;
                let pool = if pool.is_empty() { input } else { pool };
                Ok(Input::Dataset(Files { dataset, input, pool, tables, passages }))
            }
            _ => Err(UsageError(
                "expected --document FILE or --corpus DIR with --question TEXT or --questions FILE, or --dataset KIND --input FILE (--help shows all)"
                    .into(),
            )),
        }
    }

    /// That nothing which is read is overwritten.
    fn check_files(&self) -> Result<(), UsageError> {
        let questions = self.questions.iter().filter(|path| *path != Path::new("-"));
        let read = Paths::default().and("--checkpoint", &self.checkpoint).and("--corpus", &self.corpus);
        let read =
            read.and("--document", &self.document).and("--questions", questions).and("--glossary", &self.glossary);
        let read = read.and("--input", &self.input).and("--pool", &self.pool).and("--tables", &self.tables);
        let written = Paths::default().and("--output", &self.output).and("--graph", &self.graph);
        check_written(&written, &read.and("--passages", &self.passages))
    }

    /// What says nothing of a corpus or a data set: clap asks for no --document where they exclude it.
    fn check_without_document(&self) -> Result<(), UsageError> {
        let of_document = [
            ("--input-format", self.input_format.is_some()),
            ("--header-rows", self.header_rows.is_some()),
            ("--header-cols", self.header_cols.is_some()),
            ("--show-tables", self.show_tables),
            ("--each-place", self.each_place),
        ];
        match of_document.into_iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(UsageError(format!("{name} goes with --document"))),
            None => Ok(()),
        }
    }

    /// What says nothing of a corpus.
    fn check_for_corpus(&self) -> Result<(), UsageError> {
        self.check_without_document()?;
        let of_nodes = [
            ("--device", self.device != DeviceChoice::Auto),
            ("--cache", self.cache.is_some()),
            ("--glossary", !self.glossary.is_empty()),
            ("--no-glossary", self.no_glossary),
            ("--segmenter", self.segmenter.is_some()),
        ];
        if let Some((name, _)) = of_nodes.into_iter().find(|(_, given)| *given && self.nodes.is_none()) {
            return Err(UsageError(format!("{name} is for a ranker of nodes: it goes with --nodes for --corpus")));
        }
        Ok(())
    }

    /// How a checkpoint is opened; `cache` is where vectors are kept between runs, if anywhere.
    pub fn session_options(&self, cache: Option<PathBuf>) -> SessionOptions {
        SessionOptions {
            device: self.device,
            cache,
            glossaries: self.glossary.clone(),
            without_glossary: self.no_glossary,
            segmenter: self.segmenter.clone(),
            ..SessionOptions::default()
        }
    }

    /// How to read the document.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            format: self.input_format,
            header_rows: self.header_rows,
            header_cols: self.header_cols,
            ..ReadOptions::default()
        }
    }

    /// How many nodes a question.
    pub fn top_k(&self) -> usize {
        self.top_k.unwrap_or(match self.format {
            Format::Trec => usize::MAX,
            Format::Prompt => PROMPT_TOP_K,
            Format::Html => HTML_TOP_K,
            _ => TOP_K,
        })
    }

    /// Whether a fact is listed at each of its places.
    pub fn each_place(&self) -> bool {
        self.each_place || self.format == Format::Trec
    }

    /// How many tables a question.
    pub fn top_tables(&self) -> usize {
        self.top_k.unwrap_or(match self.format {
            // Nodes are those of the tables that a question has otherwise.
            Format::Trec if self.nodes.is_none() => TREC_TABLES,
            _ => TOP_K,
        })
    }

    /// The share of the likelihood that decides how many of them are shown; none where their number is given.
    pub fn likely(&self) -> Option<f32> {
        (self.format == Format::Html && self.top_k.is_none()).then(|| self.likely.unwrap_or(LIKELY))
    }

    /// Whether scores are explained.
    pub fn explains(&self) -> bool {
        self.explain || self.format == Format::Html
    }

    /// About how many tokens a context may have.
    pub fn tokens(&self) -> usize {
        self.tokens.unwrap_or(TOKENS)
    }
}
