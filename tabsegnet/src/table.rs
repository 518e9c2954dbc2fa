//! A ranking as lines for a terminal.

use std::fmt::Write as _;

use tabsegnet_graph::NodeKind;

use crate::ranking::{RankedNode, Ranking};

/// Characters of a node's text that are shown.
const TEXT: usize = 90;

/// The question, then one line a node; nodes in `gold` get a star.
pub fn render(ranking: &Ranking, gold: &[&str]) -> String {
    let id_width = ranking.nodes.iter().map(|node| node.id.len()).max().unwrap_or_default().max(4);
    let mut text =
        format!("{}  ({}, {} nodes)\n", one_line(&ranking.question), ranking.document, ranking.nodes_in_document);
    if let Some(read_as) = &ranking.read_as {
        let _ = writeln!(text, "read as: {}", one_line(read_as));
    }
    let _ = writeln!(text, "{:>4}  {:>9}  {:id_width$}  {:13}  text", "rank", "score", "node", "kind");
    for node in &ranking.nodes {
        let star = if gold.contains(&node.id.as_str()) { '*' } else { ' ' };
        let _ = writeln!(
            text,
            "{:>4}{star} {:>9.4}  {:id_width$}  {:13}  {}",
            node.rank,
            node.score,
            node.id,
            node.kind.name(),
            described(node)
        );
    }
    text
}

/// A cell reads with its headers behind it; every text is cut to one line.
fn described(node: &RankedNode) -> String {
    let mut text = node.text.clone();
    if node.kind == NodeKind::Cell {
        let headers: Vec<&str> =
            [&node.row_headers, &node.column_headers].into_iter().flatten().map(String::as_str).collect();
        if !headers.is_empty() {
            text += &format!("  ← {}", headers.join(" | "));
        }
    }
    let text = one_line(&text);
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Control characters could move the cursor or change colours.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
