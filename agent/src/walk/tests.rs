//! Walks over small documents, by scripts.

use serde_json::{Value, json};
use tabsegnet::{Graph, RankedNode, Ranking};
use tabsegnet_document::model::{Block, CellSource, Document, Table, TableSource};

use super::*;
use crate::answer::Answer;

mod actions;
mod answers;
mod graph;
mod model;
mod properties;
mod replay;
mod start;

fn cell(text: &str, rowspan: usize, colspan: usize) -> CellSource {
    CellSource { text: text.into(), rowspan, colspan }
}

fn document(tables: Vec<TableSource>) -> Graph {
    let mut blocks = vec![Block::Passage("The staff was counted in May; 7 firms gave no answer.".into())];
    let numbered = tables.into_iter().zip(0..).map(|(table, number)| TableSource { number, ..table });
    blocks.extend(numbered.map(|table| Block::Table(Table::new(table).unwrap())));
    Graph::of(&Document { id: "staff".into(), blocks })
}

fn source(caption: &str, rows: &[&[&str]]) -> TableSource {
    let rows = rows.iter().map(|row| row.iter().map(|text| (*text).into()).collect()).collect();
    TableSource { caption: caption.into(), header_rows: 1, header_cols: 1, rows, ..TableSource::default() }
}

/// Two header rows, merged headers: t0.
fn shares() -> Graph {
    let rows = vec![
        vec![cell("branch", 2, 1), cell("coast", 1, 2), cell("hills", 1, 2)],
        ["part-time", "full-time", "part-time", "full-time"].map(CellSource::from).to_vec(),
        vec![cell("", 1, 1), cell("percent", 1, 4)],
        ["bakeries", "2.9", "2.1", "2.9", "1.3"].map(CellSource::from).to_vec(),
        ["shops", "35.3", "31.3", "39.1", "37.3"].map(CellSource::from).to_vec(),
        ["kitchens", "52.1", "60.6", "55.0", "58.1"].map(CellSource::from).to_vec(),
    ];
    let caption = "Shares of staff by branch".into();
    document(vec![TableSource { caption, header_rows: 2, header_cols: 1, rows, ..TableSource::default() }])
}

fn sales() -> Graph {
    document(vec![
        source(
            "Sales (in millions)",
            &[
                &["", "2016", "2015", "margin"],
                &["Net sales", "$ 120", "$ 100", "12 %"],
                &["Net loss", "(12,760)", "—", "n/a"],
                &["Taxes 1)", "7 (a)", "6", "0.12"],
            ],
        ),
        source(
            "Wages (in thousands)",
            &[&["", "2016", "2015"], &["Wages", "$ 5,000", "$ 4,000"], &["Staff", "€ 7", ""]],
        ),
    ])
}

fn ranking(graph: &Graph, question: &str, start: &[&str]) -> Ranking {
    let nodes = start.iter().zip(1..).filter_map(|(id, rank)| {
        let node = graph.nodes().iter().find(|node| node.id == *id)?;
        Some(RankedNode {
            rank,
            id: node.id.clone(),
            kind: node.kind,
            text: node.text.clone(),
            section: [].into(),
            row_headers: None,
            column_headers: None,
            caption: None,
            position: node.into(),
            location: None,
            duplicates: Vec::new(),
            segment: None,
            score: 1.0 / rank as f32,
            explanation: None,
        })
    });
    let nodes: Vec<RankedNode> = nodes.collect();
    Ranking {
        question_id: "q1".into(),
        question: question.into(),
        read_as: None,
        document: "staff".into(),
        nodes_in_document: graph.nodes().len(),
        warnings: Vec::new(),
        segments: Vec::new(),
        edge_strengths: Vec::new(),
        nodes,
    }
}

/// A walk whose rounds do these actions.
fn run_with(graph: &Graph, settings: &WalkSettings, rounds: Vec<Value>) -> Answer {
    run_about(graph, settings, "What?", rounds)
}

fn run_about(graph: &Graph, settings: &WalkSettings, question: &str, rounds: Vec<Value>) -> Answer {
    let choices = rounds
        .into_iter()
        .map(|actions| Choice { actions: actions.as_array().cloned().unwrap_or_default(), ..Choice::default() });
    let cells = CellGraph::new(graph, settings);
    let ranking = ranking(graph, question, &["t0:r1h0", "t0:h0c1"]);
    walk(&cells, &ranking, &mut Script::new(choices), &mut |_| {}).unwrap()
}

fn run(graph: &Graph, rounds: Vec<Value>) -> Answer {
    run_with(graph, &WalkSettings::default(), rounds)
}

/// What the first action of the n-th round brought.
fn seen(answer: &Answer, round: usize, action: usize) -> &Observation {
    answer
        .trace
        .iter()
        .find_map(|event| match event {
            TraceEvent::Round { round: of, observations, .. } if *of == round => observations.get(action),
            _ => None,
        })
        .unwrap()
}

fn look(action: Value) -> (String, Vec<String>) {
    let give_up = json!([{"action": "Abstain", "explanation": "enough"}]);
    let answer = run(&sales(), vec![json!([action]), give_up]);
    let seen = seen(&answer, 1, 0).clone();
    (seen.text, seen.nodes)
}

fn answers(cells: Value, operation: &str, answer: Value) -> Value {
    json!([{"action": "AnswerQuestion", "cells": cells, "operation": operation, "explanation": "", "answer": answer}])
}
