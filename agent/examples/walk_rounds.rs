//! What the agent adds to a model's own time: a model that answers at once walks over tables of several sizes.
//!
//!     cargo run --release -p tabsegnet-agent --example walk_rounds
//!
//! A round is the prompt, reading the reply, the actions, the links of the visited nodes and the trace. Each walk has four
//! rounds with searches, neighbours, three hops and a program, then an answer.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use tabsegnet::{Graph, Ranking};
use tabsegnet_agent::walk::{CellGraph, LlmPolicy, WalkSettings};
use tabsegnet_document::model::{Block, CellSource, Document, Table, TableSource};
use tabsegnet_llm::{LlmSettings, Scripted};

const WALKS: usize = 50;

fn main() -> Result<()> {
    for (tables, rows, columns) in [(1, 20, 6), (50, 40, 8), (1, 1000, 10), (1, 100, 100)] {
        let graph = graph(tables, rows, columns)?;
        let (walk, llm) = (WalkSettings::default(), LlmSettings::default());
        let begun = Instant::now();
        let _ = CellGraph::new(&graph, &walk);
        let opening = begun.elapsed();
        let mut times = Vec::new();
        let mut rounds = 0;
        for number in 0..WALKS {
            let model = Scripted::new(replies(number, rows, columns).map(|reply| reply.to_string()));
            let policy = LlmPolicy::new(&graph, &walk, &model, &llm, &());
            let ranking = ranking(&graph);
            let begun = Instant::now();
            let answer = policy.try_answer(&ranking)?;
            let time = begun.elapsed().as_secs_f64() * 1e3;
            ensure!(!answer.abstained, "{:?}", answer.checks);
            rounds = answer
                .trace
                .iter()
                .filter(|event| matches!(event, tabsegnet_agent::walk::TraceEvent::Round { .. }))
                .count();
            times.push(time / rounds as f64);
        }
        times.sort_by(f64::total_cmp);
        println!(
            "{:>6} nodes in {tables:>2} tables of {rows} x {columns}: {:.2} ms a round (median of {WALKS} walks of {rounds} rounds; \
             slowest {:.2}), graph laid out in {:.2} ms",
            graph.nodes().len(),
            times[times.len() / 2],
            times[times.len() - 1],
            opening.as_secs_f64() * 1e3,
        );
    }
    Ok(())
}

fn graph(tables: usize, rows: usize, columns: usize) -> Result<Graph> {
    let mut blocks = Vec::new();
    for number in 0..tables {
        let cell = |row: usize, column: usize| match (row, column) {
            (0, _) => format!("year {}", 2000 + column),
            (_, 0) => format!("item {row} of part {number}"),
            _ => format!("{}", row * 1000 + column),
        };
        let row = |row: usize| (0..columns).map(|column| CellSource::from(cell(row, column))).collect();
        let rows = (0..rows).map(row).collect();
        let source = TableSource { number, header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
        blocks.push(Block::Passage(format!("Part {number} of the report.")));
        blocks.push(Block::Table(Table::new(source)?));
    }
    Ok(Graph::of(&Document { id: "report".to_owned(), blocks }))
}

fn ranking(graph: &Graph) -> Ranking {
    let ranked = |(rank, node): (usize, &tabsegnet::Node)| tabsegnet::RankedNode {
        rank: rank + 1,
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
        score: 0.0,
        explanation: None,
    };
    // Far apart, so that links have something to find.
    let nodes = graph.nodes().iter().skip(2).step_by((graph.nodes().len() / 8).max(1)).take(8).enumerate().map(ranked);
    Ranking {
        question_id: "q1".to_owned(),
        question: "By how much did item 3 grow from year 2001 to year 2002?".to_owned(),
        read_as: None,
        document: "report".to_owned(),
        nodes_in_document: graph.nodes().len(),
        warnings: Vec::new(),
        segments: Vec::new(),
        edge_strengths: Vec::new(),
        nodes: nodes.collect(),
    }
}

fn replies(number: usize, rows: usize, columns: usize) -> [Value; 5] {
    let (row, column) = (3 + number % (rows - 4), 2 + number % (columns - 3));
    let (a, b) = (row * 1000 + column, row * 1000 + column + 1);
    let cells = json!([format!("t0:r{row}c{column}"), format!("t0:r{row}c{}", column + 1)]);
    let program = format!("subtract({b}, {a})");
    [
        json!({"thought": "Look for the row.", "actions": [
            {"action": "VisitNode", "reason": "", "node": "", "text": format!("item {row} of part 0")},
            {"action": "VisitNode", "reason": "", "node": "", "text": "year"}]}),
        json!({"thought": "See what is around it.", "actions": [
            {"action": "GetAllNeighbours", "reason": "", "node": format!("t0:r{row}c{column}"), "text": "", "page": 1},
            {"action": "GetNodesWithin", "reason": "", "node": format!("t0:r{row}c{column}"), "text": "", "hops": 2, "page": 1}]}),
        json!({"thought": "Where they cross.", "actions": [
            {"action": "GetSharedNeighbours", "reason": "", "node": format!("t0:r{row}h0"), "text": "", "page": 1,
             "other": format!("t0:h0c{column}")},
            {"action": "VisitNode", "reason": "", "node": format!("t0:r{row}c{column}"), "text": ""}]}),
        json!({"thought": "Compute.", "actions": [
            {"action": "Compute", "reason": "", "program": program, "cells": cells}]}),
        json!({"thought": "Done.", "actions": [
            {"action": "AnswerQuestion", "reason": "", "cells": cells, "operation": program, "explanation": "", "answer": ["1"]}]}),
    ]
}
