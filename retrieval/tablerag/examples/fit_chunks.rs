//! Fits what recalls and orders chunks on HybridQA's training part, and measures it.
//!
//!     fit_chunks DATA fit OUTPUT            weights and trees into OUTPUT
//!     fit_chunks DATA measure PART [EVERY]  Markdown rows of PART (train, dev), of the questions one in EVERY
//!     fit_chunks DATA cross                 the same of a fifth of train that was not learnt from
//!
//! DATA has HybridQA's `PART.questions.json` and `PART.tables.jsonl`. Each linked passage is a document of its own, with
//! the title that its link has; each table is one, with what its page says before it. All documents of a part are searched
//! together. Gold are the chunks that the answer was traced to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use tabsegnet_choice::{Example, Fitting, fit};
use tabsegnet_corpus::Weights;
use tabsegnet_document::model::{Block, Document};
use tabsegnet_document::{KnownTable, table_with};
use tabsegnet_encoder::{Encoder, EncoderConfig, load};
use tabsegnet_ranker::boosting::BoostedTrees;
use tabsegnet_ranker::boosting::bins::Bins;
use tabsegnet_ranker::boosting::training::{BoostingConfig, Lists, grow};
use tabsegnet_ranker::tensors::serialize;
use tabsegnet_tablerag::{Candidates, ChunkSettings, Library, PROPOSING, Reranker, Source, Span};

/// Chunks that are recalled, and that are left of them.
const RECALLED: usize = 30;
const KEPT: usize = 3;
/// What trees learn from.
const DEEP: usize = 150;

/// Trees one after the other; as many as three rows of 200, whose mean `cross` finds worse.
const TREES: usize = 600;

/// `[text, [row, column], link, "table" | "passage"]`; the header is row -1.
type AnswerNode = (String, (i64, usize), Option<String>, String);

#[derive(Deserialize)]
struct Question {
    question_id: String,
    question: String,
    table_id: String,
    #[serde(rename = "answer-node")]
    answer_node: Vec<AnswerNode>,
}

#[derive(Deserialize)]
struct Linked(String, #[allow(dead_code)] Vec<String>);

#[derive(Deserialize)]
struct Page {
    uid: String,
    title: String,
    section_title: String,
    section_text: String,
    intro: String,
    header: Vec<Linked>,
    data: Vec<Vec<Linked>>,
    passages: BTreeMap<String, String>,
}

/// A question with the chunks that its answer was traced to, and its table's chunks.
struct Put {
    text: String,
    gold: HashSet<usize>,
    table: HashSet<usize>,
    /// The documents of its own table and of what that links to.
    own: HashSet<usize>,
    in_table: bool,
    in_text: bool,
}

struct Part {
    library: Library,
    questions: Vec<Put>,
    without_gold: usize,
}

fn open(data: &Path, part: &str, only: impl Fn(usize) -> bool) -> Result<Part> {
    let file = data.join(format!("{part}.tables.jsonl"));
    let mut sources: Vec<Source> = Vec::new();
    let mut of_link: HashMap<String, usize> = HashMap::new();
    let mut of_table: HashMap<String, (usize, Vec<usize>)> = HashMap::new();
    let reader = std::io::BufReader::new(std::fs::File::open(&file).with_context(|| file.display().to_string())?);
    for line in reader.lines() {
        let page: Page = serde_json::from_str(&line?)?;
        let rows: Vec<Vec<String>> = std::iter::once(&page.header)
            .chain(&page.data)
            .map(|row| row.iter().map(|cell| cell.0.clone()).collect())
            .collect();
        let known = KnownTable { caption: page.section_title.clone(), header_rows: Some(1), ..KnownTable::default() };
        let (table, _) = table_with(&rows, &[], known)?;
        let before = [page.intro, page.section_text].into_iter().filter(|text| !text.trim().is_empty());
        let mut blocks: Vec<Block> = before.map(Block::Passage).collect();
        blocks.push(Block::Table(table));
        let place = sources.len();
        let document = Document { id: page.uid.clone(), blocks };
        sources.push(Source { name: PathBuf::from(&page.uid), title: page.title, place: String::new(), document });
        let mut linked = Vec::new();
        for (link, text) in page.passages {
            let place = *of_link.entry(link.clone()).or_insert_with(|| {
                let title = link.trim_start_matches("/wiki/").replace('_', " ");
                let document = Document { id: link.clone(), blocks: vec![Block::Passage(text)] };
                sources.push(Source { name: PathBuf::from(&link), title, place: String::new(), document });
                sources.len() - 1
            });
            linked.push(place);
        }
        of_table.insert(page.uid, (place, linked));
    }
    let config = EncoderConfig::default();
    let encoder: Arc<dyn Encoder> = load(&config)?.into();
    let start = Instant::now();
    let library = Library::new(sources, &encoder, &config, ChunkSettings::default())?;
    eprintln!(
        "{part}: {} documents, {} chunks, {} tables, taken in in {:.1} s",
        library.sources().len(),
        library.chunks().len(),
        library.tables().len(),
        start.elapsed().as_secs_f64()
    );
    let mut of_document: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, chunk) in library.chunks().iter().enumerate() {
        of_document.entry(chunk.document).or_default().push(number);
    }
    let file = data.join(format!("{part}.questions.json"));
    let records: Vec<Question> =
        serde_json::from_slice(&std::fs::read(&file)?).with_context(|| file.display().to_string())?;
    let (mut questions, mut without_gold) = (Vec::new(), 0);
    for (_, record) in records.iter().enumerate().filter(|(at, _)| only(*at)) {
        let (table, linked) = of_table.get(&record.table_id).with_context(|| record.question_id.clone())?;
        let mut gold = HashSet::new();
        let (mut in_table, mut in_text) = (false, false);
        let empty = Vec::new();
        for (_, (row, _), link, kind) in &record.answer_node {
            let document =
                if kind == "table" { Some(*table) } else { link.as_ref().and_then(|link| of_link.get(link)).copied() };
            let Some(document) = document else { continue };
            for &number in of_document.get(&document).unwrap_or(&empty) {
                let holds = match &library.chunks()[number].span {
                    Span::Table { rows, .. } => kind == "table" && (*row < 0 || rows.contains(&(*row as usize + 1))),
                    Span::Text { .. } => kind != "table",
                };
                if holds {
                    gold.insert(number);
                    in_table |= kind == "table";
                    in_text |= kind != "table";
                }
            }
        }
        let chunks_of_table = of_document.get(table).unwrap_or(&empty).iter().copied();
        let of_table = chunks_of_table.filter(|&number| library.table_of(number).is_some()).collect();
        if gold.is_empty() {
            without_gold += 1;
            continue;
        }
        let own = linked.iter().copied().chain([*table]).collect();
        questions.push(Put { text: record.question.clone(), gold, table: of_table, own, in_table, in_text });
    }
    Ok(Part { library, questions, without_gold })
}

/// Fits recall and trees on questions.
fn learn(library: &Library, questions: &[&Put]) -> Result<Reranker> {
    let width = Reranker::width();
    // Each question twice: put to all documents, and to its own.
    let twice: Vec<(&Put, bool)> = questions.iter().flat_map(|put| [(*put, false), (*put, true)]).collect();
    let all: Vec<Candidates> = twice
        .iter()
        .map(|(put, own)| Ok(library.candidates_among(&put.text, &PROPOSING, own.then_some(&put.own))?))
        .collect::<Result<_>>()?;
    let questions: Vec<&Put> = twice.iter().map(|(put, _)| *put).collect();
    let reached = questions.iter().zip(&all).filter(|(put, of)| of.chunks.iter().any(|c| put.gold.contains(c))).count();
    let mean = all.iter().map(|of| of.chunks.len()).sum::<usize>() / all.len().max(1);
    eprintln!("{reached} of {} lists have gold among their {mean} candidates", questions.len());
    let mut examples: Vec<Example<u16>> = Vec::new();
    for (put, of) in questions.iter().zip(&all) {
        let rows = of.rows.chunks_exact(width);
        let choices = rows.map(|row| (0..).zip(row).map(|(at, value)| (at, *value)).collect()).collect();
        examples.push(Example { choices, right: of.chunks.iter().map(|c| put.gold.contains(c)).collect() });
    }
    let fitting = Fitting { steps: 200, rate: 0.1, penalty: 1.0 };
    let recall = fit(&examples, width, fitting, |progress| {
        if progress.step % 50 == 0 {
            eprintln!("step {}: loss {:.4}", progress.step, progress.loss);
        }
    });
    drop(examples);
    let mut reranker = Reranker { weights: PROPOSING, recall, trees: BoostedTrees::default() };
    let lists: Vec<(Vec<f32>, Vec<bool>)> = questions
        .iter()
        .zip(&all)
        .map(|(put, of)| {
            let recalled = library.recalled(of, &reranker, DEEP)?;
            Ok((recalled.rows, recalled.found.iter().map(|found| put.gold.contains(&found.chunk)).collect()))
        })
        .collect::<Result<_>>()?;
    let sample: Vec<f32> = lists.iter().step_by(4).flat_map(|(rows, _)| rows.iter().copied()).collect();
    let mut grown_on = Lists::new(Bins::new(&sample, Reranker::width_of_trees()));
    lists.iter().for_each(|(rows, gold)| grown_on.push(rows, gold));
    reranker.trees = grow(
        &grown_on,
        &BoostingConfig { num_iterations: TREES, bagged_models: 1, ..BoostingConfig::default() },
        0,
        &mut |_| (),
    );
    Ok(reranker)
}

type Ranked = Vec<Vec<usize>>;

fn share(
    questions: &[&Put],
    ranked: &Ranked,
    top: usize,
    counts: impl Fn(&Put) -> bool,
    gold: impl Fn(&Put) -> &HashSet<usize>,
) -> String {
    let of: Vec<_> = questions.iter().zip(ranked).filter(|(put, _)| counts(put)).collect();
    let hit = of.iter().filter(|(put, found)| found.iter().take(top).any(|chunk| gold(put).contains(chunk))).count();
    if of.is_empty() { "–".to_owned() } else { format!("{:.3}", hit as f64 / of.len() as f64) }
}

fn measure(library: &Library, questions: &[&Put], reranker: &Reranker) -> Result<()> {
    let row = |name: &str, ranked: &Ranked, tops: &[usize]| {
        print!("| {name} |");
        for top in tops {
            print!(" {} |", share(questions, ranked, *top, |_| true, |put| &put.gold));
        }
        print!(" {} |", share(questions, ranked, RECALLED, |put| put.in_text && !put.in_table, |put| &put.gold));
        print!(" {} |", share(questions, ranked, RECALLED, |put| put.in_table, |put| &put.gold));
        println!(
            " {} | {} |",
            share(questions, ranked, RECALLED, |_| true, |put| &put.table),
            share(questions, ranked, KEPT, |_| true, |put| &put.table)
        );
    };
    for own in [false, true] {
        println!("\n{}:\n", if own { "Of the question's own table and what it links to" } else { "Of all documents" });
        println!(
            "| | gold in 3 | in 30 | in 30, answer in passages alone | in 30, answer in the table | the question's table in 30 | in 3 |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|");
        for (name, weights) in
            [("BM25 alone", Weights::FIELDS), ("vectors alone", Weights::DENSE), ("BM25 and vectors", PROPOSING)]
        {
            let deep = if own { library.chunks().len() } else { RECALLED };
            let is_own = |put: &Put, chunk: &usize| !own || put.own.contains(&library.chunks()[*chunk].document);
            let ranked: Ranked = questions
                .iter()
                .map(|put| {
                    let found = library.recall(&put.text, &weights, deep)?;
                    Ok(found.into_iter().map(|of| of.chunk).filter(|chunk| is_own(put, chunk)).take(RECALLED).collect())
                })
                .collect::<Result<_>>()?;
            row(name, &ranked, &[KEPT, RECALLED]);
        }
        let start = Instant::now();
        let (mut linked, mut ordered, mut deep): (Ranked, Ranked, Ranked) = (Vec::new(), Vec::new(), Vec::new());
        for put in questions {
            let candidates = library.candidates_among(&put.text, &reranker.weights, own.then_some(&put.own))?;
            for (top, into) in [(RECALLED, &mut ordered), (DEEP, &mut deep)] {
                let recalled = library.recalled(&candidates, reranker, top)?;
                if top == RECALLED {
                    linked.push(recalled.found.iter().map(|of| of.chunk).collect());
                }
                let found = recalled.ordered(reranker);
                into.push(found.iter().map(|of| of.chunk).collect());
            }
        }
        row("recall with links", &linked, &[KEPT, RECALLED]);
        row("the same, put in order by trees", &ordered, &[KEPT, RECALLED]);
        row("150 recalled, put in order by trees", &deep, &[KEPT, RECALLED]);
        eprintln!("{:.1} ms a question", start.elapsed().as_secs_f64() * 1000.0 / questions.len().max(1) as f64);
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [data, "fit", output] => {
            let part = open(Path::new(data), "train", |_| true)?;
            let reranker = learn(&part.library, &part.questions.iter().collect::<Vec<_>>())?;
            let output = Path::new(output);
            std::fs::write(output.join("reranker.json"), reranker.json()? + "\n")?;
            let file = output.join("reranker.safetensors");
            std::fs::write(&file, serialize(&reranker.trees.tensors(), &file)?)?;
        }
        [data, "measure", part, every @ ..] => {
            let every: usize = every.first().map_or(Ok(1), |text| text.parse())?;
            let part = open(Path::new(data), part, |at| at % every.max(1) == 0)?;
            println!(
                "{} questions; {} more have no traced answer. {} chunks of {} documents are searched.",
                part.questions.len(),
                part.without_gold,
                part.library.chunks().len(),
                part.library.sources().len()
            );
            measure(&part.library, &part.questions.iter().collect::<Vec<_>>(), Reranker::shipped()?)?;
        }
        [data, "cross"] => {
            let part = open(Path::new(data), "train", |_| true)?;
            let of = |rest: bool| {
                part.questions
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| (at % 5 == 0) == rest)
                    .map(|(_, put)| put)
                    .collect::<Vec<_>>()
            };
            let reranker = learn(&part.library, &of(false))?;
            let names: serde_json::Value = serde_json::from_str(&reranker.json()?)?;
            eprintln!("{}", serde_json::to_string(&names)?);
            measure(&part.library, &of(true), &reranker)?;
        }
        _ => bail!("see the head of this file"),
    }
    Ok(())
}
