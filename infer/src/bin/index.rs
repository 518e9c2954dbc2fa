//! `index`: makes and changes corpora of tables, which `infer --corpus` searches.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Error, Result, bail};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use tabsegnet::corpus::index::{
    Change, CorpusError, IndexConfig, Manifest, VectorKind, Writer, files, folders_below, join,
};
use tabsegnet_encoder::{EncoderConfig, EncoderError, EncoderKind, Precision, load};
use tabsegnet_store::{USAGE, UsageError, check_folder, counted, eprintln, exit, print_if_read, printable};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Time between lines of progress where there is no terminal for a bar.
const A_LINE_EACH: Duration = Duration::from_secs(5);
/// Exit code where some of what was given could not be taken in.
const PARTLY: u8 = 3;

/// Makes a corpus of tables, or changes one: what is given is added, and takes the place of what the corpus has from the
/// same file. Files are documents of every form that `infer` reads, and lines of JSON, plain or packed (.jsonl, .jsonl.gz):
/// {"id", "title", "section", "caption", "header": […], "rows": [[…]…]}.
///
/// A change counts at once or, where it is cut off, not at all; who reads meanwhile sees the corpus as it was. Exit codes:
/// 0 done, 1 nothing was done, 2 wrong usage, 3 done but for what is listed.
#[derive(Parser)]
#[command(name = "index", version)]
struct Arguments {
    /// The corpus: a folder, made where there is none.
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// Files, and folders with all files below them but hidden ones (.name) and those of corpora; links to folders are not followed.
    #[arg(value_name = "FILE-OR-FOLDER")]
    inputs: Vec<PathBuf>,
    /// Removes the tables of a file, or of all files below a folder; may be given several times.
    #[arg(long, value_name = "FILE-OR-FOLDER")]
    remove: Vec<PathBuf>,
    /// Puts corpora together into a new one, such as those that several machines made of a part of the files each; may be
    /// given several times. Tables are not read again.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["inputs", "remove", "vectors", "encoder"])]
    join: Vec<PathBuf>,
    /// A sentence encoder in Hugging Face layout (a folder) for the tables' vectors, such as all-MiniLM-L6-v2; the static
    /// encoder that comes with the project unless given. A corpus keeps the one that it was made with; this says where it lies
    /// now, where its folder was moved.
    #[arg(long, value_name = "DIR")]
    encoder: Option<PathBuf>,
    /// f32 or int8: the numbers that --encoder computes with.
    #[arg(long, value_name = "KIND", requires = "encoder", default_value = "int8", value_parser = ["f32", "int8"])]
    precision: String,
    /// f32 or int8: how vectors are kept; int8 takes a quarter of the space. A corpus keeps the one that it was made with;
    /// f32 for a new one.
    #[arg(long, value_name = "KIND", value_parser = ["f32", "int8"])]
    vectors: Option<String>,
    /// Megabytes that tables take before they are written.
    #[arg(long, value_name = "MB", default_value_t = IndexConfig::default().memory)]
    memory: usize,
    /// Segments beyond which the smallest are made one; 1 makes one of all.
    #[arg(long, value_name = "N", default_value_t = IndexConfig::default().segments)]
    segments: usize,
    /// Prints the corpus' files, one a line.
    #[arg(long, conflicts_with_all = ["inputs", "remove", "join"])]
    list: bool,
    /// Reads the whole corpus and compares it with its digests; exit code 1 where something is not as it was written.
    #[arg(long, conflicts_with_all = ["inputs", "remove", "join", "list"])]
    check: bool,
}

fn main() -> ExitCode {
    exit(run(&Arguments::parse()), |cause| {
        cause.downcast_ref().is_some_and(CorpusError::is_of_settings).then_some(USAGE)
    })
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    check_folder("--output", &arguments.output)?;
    if !arguments.join.is_empty() {
        let (change, problems) = join(&arguments.output, &arguments.join)?;
        told(&change);
        return Ok(ended(&problems, false));
    }
    if arguments.list {
        return list(&arguments.output);
    }
    if arguments.check {
        return check(&arguments.output);
    }
    add_and_remove(arguments)
}

fn list(corpus: &Path) -> Result<ExitCode> {
    let manifest = Manifest::read(corpus)?;
    let files = manifest.files(corpus)?;
    let listed: String = files.keys().map(|file| format!("{}\n", printable(file))).collect();
    print_if_read(&listed).context("stdout: could not write")?;
    eprintln!("{} of {}", counted(manifest.tables(), "table"), counted(files.len(), "file"));
    Ok(ExitCode::SUCCESS)
}

fn check(corpus: &Path) -> Result<ExitCode> {
    let manifest = Manifest::read(corpus)?;
    let damaged = manifest.check(corpus);
    damaged.iter().for_each(|error| eprintln!("error: {error}"));
    if !damaged.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let (tables, segments) = (counted(manifest.tables(), "table"), counted(manifest.segments.len(), "segment"));
    eprintln!("{tables} in {segments}, all as they were written");
    Ok(ExitCode::SUCCESS)
}

fn add_and_remove(arguments: &Arguments) -> Result<ExitCode> {
    let there = match Manifest::read(&arguments.output) {
        Ok(manifest) => Some(manifest),
        Err(CorpusError::Missing { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let is_new = there.is_none();
    let finds_encoder = !is_new && arguments.encoder.is_some();
    if let Some(wrong) = wrong_inputs(arguments, is_new, finds_encoder)? {
        eprintln!("error: {wrong}");
        return Ok(ExitCode::from(USAGE));
    }
    let (inputs, mut problems) = files(&arguments.inputs);
    if inputs.is_empty() && arguments.remove.is_empty() && !finds_encoder {
        let given: Vec<String> = arguments.inputs.iter().map(|path| path.display().to_string()).collect();
        let told = if problems.is_empty() { vec![format!("{}: holds no file", given.join(", "))] } else { problems };
        bail!("{}; expected files with tables", told.join("; "));
    }
    let kept = there.as_ref().map(|manifest| manifest.vectors);
    let encoder_config = encoder_config(arguments, there);
    let encoder = load(&encoder_config).map_err(|error| match (error, &arguments.encoder) {
        (EncoderError::NoDirectory { .. }, Some(folder)) => {
            let expected = "expected that of a sentence encoder in Hugging Face layout, such as all-MiniLM-L6-v2";
            Error::new(UsageError(format!("--encoder {}: there is no such folder; {expected}", folder.display())))
        }
        (other, _) => other.into(),
    })?;
    let Some(vectors) = vectors(arguments, kept) else {
        eprintln!(
            "error: --vectors: {} keeps the other kind; leave it out to add to that corpus, or make a new one",
            arguments.output.display()
        );
        return Ok(ExitCode::from(USAGE));
    };
    let config = IndexConfig { vectors, memory: arguments.memory, segments: arguments.segments };
    let mut writer = Writer::open(&arguments.output, encoder.as_ref(), &encoder_config, &config)?;

    let mut shown = Shown::new(inputs.len())?;
    problems.extend(remove(&mut writer, &arguments.remove));
    let Added { unchanged, problems: of_files, mut warnings } =
        add(&mut writer, &arguments.inputs, &inputs, &mut shown)?;
    problems.extend(of_files);
    let folders = arguments.inputs.iter().filter(|input| input.is_dir());
    warnings.extend(folders.filter_map(|folder| gone(folder, &writer.gone_from(folder))));
    if is_new && shown.tables == 0 {
        shown.bar.finish_and_clear();
        eprintln!("error: {}: no table was read, and no corpus is made", arguments.output.display());
        return Ok(ended(&problems, true));
    }
    shown.commits();
    let change = writer.commit(&mut |tables| shown.encoded(tables))?;
    shown.bar.finish_and_clear();
    told(&change);
    match unchanged {
        0 => {}
        1 => eprintln!("1 file is as it was and was not read again"),
        _ => eprintln!("{unchanged} files are as they were and were not read again"),
    }
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    Ok(ended(&problems, change.added == 0 && change.removed == 0 && unchanged == 0))
}

/// What is wrong with the command line of a change, where something is.
fn wrong_inputs(arguments: &Arguments, is_new: bool, finds_encoder: bool) -> Result<Option<String>> {
    if arguments.inputs.is_empty() && arguments.remove.is_empty() && !finds_encoder {
        return Ok(Some(
            "nothing to do; expected FILES or FOLDERS to add, --remove, --join, --check, --list, or --encoder to say where \
             that of a corpus lies (--help shows all)"
                .to_owned(),
        ));
    }
    if is_new && arguments.inputs.is_empty() {
        bail!("{}: there is no corpus; expected FILES or FOLDERS to make one of", arguments.output.display());
    }
    Ok(arguments.inputs.iter().find(|input| is_same(input, &arguments.output)).map(|folder| {
        let folder = folder.display();
        format!(
            "--output {folder}: is what is to be indexed; expected a folder of its own for the corpus, such as {folder}/corpus"
        )
    }))
}

/// The encoder that is named; else that of the corpus, where there is one.
fn encoder_config(arguments: &Arguments, there: Option<Manifest>) -> EncoderConfig {
    match (&arguments.encoder, there) {
        (Some(model), _) => EncoderConfig {
            kind: EncoderKind::Bert,
            // It is looked for there from whatever folder the corpus is opened.
            model: std::fs::canonicalize(model).as_deref().unwrap_or(model).display().to_string(),
            precision: if arguments.precision == "int8" { Precision::Int8 } else { Precision::F32 },
            ..EncoderConfig::default()
        },
        (None, Some(manifest)) => manifest.encoder,
        (None, None) => EncoderConfig::default(),
    }
}

/// How vectors are kept; nothing where the corpus keeps them in another way than is wanted.
fn vectors(arguments: &Arguments, kept: Option<VectorKind>) -> Option<VectorKind> {
    let wanted =
        arguments.vectors.as_deref().map(|kind| if kind == "int8" { VectorKind::Int8 } else { VectorKind::F32 });
    match (kept, wanted) {
        (Some(kept), Some(wanted)) if kept != wanted => None,
        _ => Some(kept.or(wanted).unwrap_or(VectorKind::F32)),
    }
}

/// Removes the files that paths mean; says which paths mean none.
fn remove(writer: &mut Writer<'_>, paths: &[PathBuf]) -> Vec<String> {
    let mut problems = Vec::new();
    for path in paths {
        let meant = writer.files_of(path);
        meant.iter().for_each(|file| {
            writer.remove(file);
        });
        if meant.is_empty() {
            let path = path.display();
            problems.push(format!("{path}: the corpus has no such file, nor one below it (--list shows which it has)"));
        }
    }
    problems
}

/// What came of files that were to be added.
#[derive(Default)]
struct Added {
    /// Those that were not read again.
    unchanged: usize,
    /// What could not be taken in.
    problems: Vec<String>,
    warnings: Vec<String>,
}

/// Adds files, which are those of what was `given`.
fn add(writer: &mut Writer<'_>, given: &[PathBuf], files: &[PathBuf], shown: &mut Shown) -> Result<Added> {
    let mut added = Added::default();
    for path in files {
        let folders = folders_below(given, path);
        let change = writer.add_file_in(&folders, path, &mut |tables| shown.encoded(tables))?;
        added.unchanged += usize::from(change.unchanged);
        if !change.unchanged && change.problems.is_empty() && change.tables == 0 {
            added.problems.push(format!("{}: holds no table", path.display()));
        }
        added.problems.extend(change.problems);
        added.warnings.extend(change.warnings);
        shown.read(change.tables);
    }
    Ok(added)
}

fn is_same(a: &Path, b: &Path) -> bool {
    std::fs::canonicalize(a).is_ok_and(|a| std::fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// How far it is: files that were read, then tables that were encoded; without a terminal a line from time to time.
struct Shown {
    bar: ProgressBar,
    files: usize,
    files_read: usize,
    tables: usize,
    encoded: usize,
    said: Instant,
}

impl Shown {
    fn new(files: usize) -> Result<Self> {
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::new(files as u64),
            false => ProgressBar::hidden(),
        };
        bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} files, {msg}")?);
        Ok(Self { bar, files, files_read: 0, tables: 0, encoded: 0, said: Instant::now() })
    }

    /// A file was read.
    fn read(&mut self, tables: usize) {
        self.files_read += 1;
        self.tables += tables;
        self.bar.inc(1);
        self.say();
    }

    /// All files were read: what is left to be done is counted in tables.
    fn commits(&mut self) {
        self.bar.set_length(self.tables as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} tables encoded, {eta} left") {
            self.bar.set_style(style);
        }
        self.bar.reset_eta();
        self.bar.set_position(self.encoded as u64);
    }

    /// So many more tables were encoded.
    fn encoded(&mut self, tables: usize) {
        self.encoded += tables;
        if self.files_read == self.files {
            self.bar.set_position(self.encoded as u64);
        } else {
            self.bar.set_message(format!("{} tables encoded", self.encoded));
        }
        self.say();
    }

    fn say(&mut self) {
        let &mut Self { files, files_read, tables, encoded, .. } = self;
        if self.bar.is_hidden() && self.said.elapsed() > A_LINE_EACH {
            // Of the file that is being read the tables are not counted yet.
            eprintln!("{files_read} of {files} files, {encoded} of {} tables encoded", tables.max(encoded));
            self.said = Instant::now();
        }
    }
}

/// What is said of files that the corpus has and a folder has no longer.
fn gone(folder: &Path, files: &[String]) -> Option<String> {
    let folder = folder.display();
    let files = match files {
        [] => return None,
        [file] => format!("{file} is"),
        [file, more @ ..] => format!("{file} and {} more are", more.len()),
    };
    Some(format!(
        "{folder}: {files} not there any more, and still in the corpus; --remove FILE takes a file's tables out"
    ))
}

/// Says what could not be taken in, and how the program ends; whether `nothing` was.
fn ended(problems: &[String], nothing: bool) -> ExitCode {
    if problems.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("not taken in:");
    problems.iter().for_each(|problem| eprintln!("  {problem}"));
    if nothing { ExitCode::FAILURE } else { ExitCode::from(PARTLY) }
}

fn told(change: &Change) {
    let Change { added, removed, tables, segments } = change;
    eprintln!(
        "{} added, {removed} removed or replaced; the corpus has {} in {}",
        counted(*added, "table"),
        counted(*tables, "table"),
        counted(*segments, "segment")
    );
}
