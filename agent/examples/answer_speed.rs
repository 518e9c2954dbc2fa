//! What a question costs on an open document, without a language model.
//!
//!     cargo run --release -p tabsegnet-agent --example answer_speed -- [--document FILE] [--questions FILE] [--rounds 20]
//!
//! The document is opened once, as an application keeps it between questions; then each question is ranked and answered by the
//! learnt choice, `--rounds` times in turn, after a round that is not counted. Without --document: a made-up report of
//! 10,000 nodes. Times are of one question in ms: the median over questions of each one's median, the slowest of these, and the median of
//! each one's fastest round, which a busy machine changes least.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Parser;
use tabsegnet::questions::Questions;
use tabsegnet::{Question, Session};
use tabsegnet_agent::{Choice, Learnt, Policy as _};
use tabsegnet_document::model::{Block, CellSource, Document, Heading, Table, TableSource};
use tabsegnet_encoder::{Shipped, shipped};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Arguments {
    #[arg(long)]
    document: Option<PathBuf>,
    #[arg(long)]
    questions: Option<PathBuf>,
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    #[arg(long, default_value = "checkpoints/general")]
    checkpoint: PathBuf,
}

/// Put to the made-up report, and to every document without --questions.
const QUESTIONS: [&str; 8] = [
    "What was the percent change in net sales of segment 12 from 2015 to 2016?",
    "What were total operating expenses in 2014?",
    "What is the ratio of long-term debt to total assets of segment 3 in 2015?",
    "By how much did depreciation of segment 7 grow from 2014 to 2015?",
    "What was the average of net income over 2013 to 2016?",
    "Which segment had the highest income taxes in 2016?",
    "Why did interest expense of segment 5 increase?",
    "How many employees did segment 9 have in 2016?",
];

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let session = Session::open(&arguments.checkpoint)?;
    let document = match &arguments.document {
        Some(path) => session.open_document(path)?,
        None => session.open_made("report.json", &report()?)?,
    };
    let given: Vec<String> = match &arguments.questions {
        Some(_) => Vec::new(),
        None => QUESTIONS.map(str::to_owned).to_vec(),
    };
    let questions = Questions::default().listed(&given, arguments.questions.as_deref())?;
    let learnt = Learnt(Choice::read(&shipped(Shipped::Answers)?)?);
    let mut times: Vec<[Vec<f64>; 2]> = questions.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    for round in 0..=arguments.rounds {
        for (question, of) in questions.iter().zip(&mut times) {
            let begun = Instant::now();
            let ranking = document.rank(Question::new(&question.text).id(&question.id).top(usize::MAX).each_place())?;
            let ranked = begun.elapsed().as_secs_f64() * 1e3;
            learnt.answer(&ranking);
            if round > 0 {
                of[0].push(ranked);
                of[1].push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    let nodes = document.nodes().len();
    println!("{nodes} nodes, {} questions, {} rounds, ms:", questions.len(), arguments.rounds);
    for (what, part) in [("ranking", 0), ("ranking and answer", 1)] {
        let mut medians: Vec<f64> = times.iter_mut().filter_map(|of| median(&mut of[part])).collect();
        let mut fastest: Vec<f64> = times.iter().filter_map(|of| of[part].first().copied()).collect();
        let fastest = median(&mut fastest).context("there is no round")?;
        let middle = median(&mut medians).context("there is no question")?;
        let slowest = medians.last().copied().unwrap_or(middle);
        println!("{what}: p50 {middle:.1}, slowest question {slowest:.1}, p50 of the fastest rounds {fastest:.1}");
    }
    Ok(())
}

fn median(times: &mut [f64]) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied()
}

/// 40 segments, each with headings, sentences and tables of 24 rows and five years: 10,000 nodes.
fn report() -> Result<Document> {
    const ITEMS: [&str; 12] = [
        "Net sales", "Cost of goods sold", "Operating expenses", "Depreciation", "Interest expense", "Income taxes",
        "Net income", "Total assets", "Long-term debt", "Inventories", "Employees", "Capital expenditures",
    ];
    let mut blocks = vec![Block::Heading(Heading { level: 1, text: "Annual report".into() })];
    for segment in 0..32 {
        blocks.push(Block::Heading(Heading { level: 2, text: format!("Segment {segment}") }));
        for number in 0..2 {
            for sentence in 0..11 {
                let text = format!(
                    "{} of segment {segment} rose by {}.{sentence} % in {}, because of {} and prices.",
                    ITEMS[sentence],
                    sentence + segment,
                    2013 + sentence % 4,
                    ITEMS[(sentence + 3) % 12].to_lowercase()
                );
                blocks.push(Block::Passage(text));
            }
            let cell = |row: usize, column: usize| match (row, column) {
                (0, 0) => "(in millions)".to_owned(),
                (0, _) => format!("{}", 2018 - column),
                (_, 0) if row > 12 => format!("{}, discontinued", ITEMS[(row - 1) % 12]),
                (_, 0) => ITEMS[(row - 1) % 12].to_owned(),
                _ => format!(
                    "$ {},{:03}",
                    1 + (row * 7 + column * 3 + segment) % 90,
                    (row * 131 + column * 17 + segment * 29 + number) % 1000
                ),
            };
            let rows = (0..24)
                .map(|row| (0..6).map(|column| CellSource::from(cell(row, column))).collect::<Vec<_>>())
                .collect();
            let caption = format!("Results of segment {segment}, part {number}");
            let source = TableSource {
                number: segment * 2 + number,
                caption,
                header_rows: 1,
                header_cols: 1,
                rows,
                ..TableSource::default()
            };
            blocks.push(Block::Table(Table::new(source)?));
        }
    }
    Ok(Document { id: "report".to_owned(), blocks })
}
