//! A report over made-up rankings, to see what reports look like:
//!
//! ```sh
//! cargo run --release -p tabsegnet-evaluation --example synthetic_report -- DIRECTORY
//! ```

use std::path::Path;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_evaluation::{Evidence, GoldRanks, MethodRun, QuestionInfo, Report, ReportInput, Resampling};

/// Name, description, how far the scores of gold nodes stand above the others, seconds a question.
const METHODS: [(&str, &str, f32, Option<f64>); 5] = [
    ("BM25", "lexical, node text with header paths", 1.75, Some(0.000_41)),
    ("TF-IDF", "lexical, cosine of tf-idf vectors", 1.7, Some(0.000_38)),
    ("dense", "cosine of sentence embeddings", 1.9, Some(0.0123)),
    ("BM25 + dense", "ranks of both, fused", 2.0, None),
    ("graph ranker, 2 layers", "graph network over cells, headers and sentences", 2.6, Some(0.0167)),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: synthetic_report DIRECTORY")?;
    let report = Report::build(synthetic(900))?;
    report.write(Path::new(&directory))?;
    println!("{}", report.to_markdown());
    Ok(())
}

fn synthetic(questions: usize) -> ReportInput {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let questions: Vec<QuestionInfo> = (0..questions)
        .map(|number| {
            let document = number * 2 / 5;
            QuestionInfo {
                id: format!("question {number}"),
                dataset: String::new(),
                document: format!("page {document}"),
                evidence: match rng.random_range(0..10) {
                    0..6 => Evidence::Table,
                    6..8 => Evidence::Text,
                    _ => Evidence::Both,
                },
                gold: [1, 1, 2, 2, 2, 2, 3, 4, 4, 6].get(rng.random_range(0..10)).copied().unwrap_or(1),
                nodes: 60 + document * 7919 % 173,
            }
        })
        .collect();
    // A question is as hard for one method as for the other, mostly.
    let hardness: Vec<f32> = questions.iter().map(|_| normal(&mut rng)).collect();
    let method = |(name, description, lead, seconds): &(&str, &str, f32, Option<f64>)| MethodRun {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        rankings: questions.iter().zip(&hardness).map(|(q, h)| ranking(&mut rng, q, lead - h)).collect(),
        seconds_per_question: *seconds,
    };
    let methods = METHODS.iter().map(method).collect();
    ReportInput {
        title: "Synthetic report".to_owned(),
        created: "2026-01-01 12:00 UTC".to_owned(),
        dataset: "made-up pages".to_owned(),
        part: "dev".to_owned(),
        questions_left_out: vec![("no gold node found".to_owned(), 17)],
        settings: vec![
            ("graph.cell_text".to_owned(), "path".to_owned()),
            ("graph.distractors".to_owned(), "3".to_owned()),
            ("encoder".to_owned(), "none".to_owned()),
        ],
        questions,
        methods,
        notes: vec!["Every figure here is drawn at random and measures nothing.".to_owned()],
        resampling: Resampling::default(),
    }
}

/// Gold nodes score `lead` more than the others, in standard deviations.
fn ranking(rng: &mut ChaCha8Rng, question: &QuestionInfo, lead: f32) -> GoldRanks {
    let gold: Vec<u32> = (0..).take(question.gold).collect();
    let lead = |node: usize| if node < question.gold { lead } else { 0.0 };
    let scores: Vec<f32> = (0..question.nodes).map(|node| normal(rng) + lead(node)).collect();
    GoldRanks::of_scores(&scores, &gold).expect("every made-up question has gold")
}

fn normal(rng: &mut ChaCha8Rng) -> f32 {
    (0..12).map(|_| rng.random_range(0.0..1.0f32)).sum::<f32>() - 6.0
}
