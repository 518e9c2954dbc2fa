//! A ranking as lines for a terminal.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, stdout};

use tabsegnet_document::model::path_in_short;
use tabsegnet_graph::NodeKind;
use terminal_size::terminal_size;
use unicode_width::UnicodeWidthChar as _;

use crate::corpus::{TableNode, TableRanking};
use crate::ranking::{RankedNode, Ranking};

/// Lines that the text of a node may take where the width is bounded.
const LINES: usize = 2;
/// Columns that are enough for a text beside the rest of its line.
const BESIDE: usize = 24;
/// The indent of a text that stands below the rest of its line.
const BELOW: usize = 6;

/// The columns that lines for stdout may have: those that the environment variable `COLUMNS` names, else those of the
/// terminal that stdout is; none where it is no terminal.
pub fn columns() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    let terminal = || stdout().is_terminal().then(terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    named.or_else(terminal).filter(|&columns| columns > 0)
}

/// The question, then each node with its text in one line; nodes in `gold` get a star. Where `columns` says how wide
/// lines may be, texts are wrapped, those of nodes to two lines that end in "…" where they do not suffice; ids and
/// scores are always whole.
pub fn render(ranking: &Ranking, gold: &[&str], columns: Option<usize>) -> String {
    let widest =
        |least: usize, width: fn(&RankedNode) -> usize| ranking.nodes.iter().map(width).fold(least, usize::max);
    let score_width = widest(5, |node| format!("{:.4}", node.score).len());
    let id_width = widest(4, |node| width(&node.id));
    let kind_width = widest(4, |node| node.kind.name().len());
    let mut text = String::new();
    let question = format!(
        "{}  ({}, {} nodes)",
        one_line(&ranking.question),
        one_line(&ranking.document),
        ranking.nodes_in_document
    );
    let read_as = ranking.read_as.as_ref().map(|read_as| format!("read as: {}", one_line(read_as)));
    for line in [Some(question), read_as].into_iter().flatten() {
        wrapped(&line, columns, usize::MAX).iter().for_each(|line| text += &format!("{line}\n"));
    }
    let before = 5 + 1 + score_width + 2 + id_width + 2 + kind_width + 2;
    let beside = columns.is_none_or(|columns| columns >= before + BESIDE);
    let indent = if beside { before } else { BELOW };
    let fits = columns.map(|columns| columns.saturating_sub(indent));
    let _ = write!(text, "{:>4}  {:>score_width$}  {:id_width$}  kind", "rank", "score", "node");
    let _ = if beside { writeln!(text, "{:1$}  text", "", kind_width - 4) } else { writeln!(text) };
    for node in &ranking.nodes {
        let star = if gold.contains(&node.id.as_str()) { '*' } else { ' ' };
        let id = one_line(&node.id) + &" ".repeat(id_width - width(&node.id).min(id_width));
        let _ = write!(text, "{:>4}{star} {:>score_width$.4}  {id}  {}", node.rank, node.score, node.kind.name());
        let lines = wrapped(&described(node, fits), fits, LINES).into_iter().filter(|line| !line.is_empty());
        for (number, line) in lines.enumerate() {
            let _ = match number {
                0 if beside => write!(text, "{:1$}  {line}", "", kind_width - node.kind.name().len()),
                _ => write!(text, "\n{:indent$}{line}", ""),
            };
        }
        text.push('\n');
    }
    text
}

/// A ranking of tables, and the best nodes of them where they were wanted.
pub fn render_tables(ranking: &TableRanking, columns: Option<usize>) -> String {
    let mut text = String::new();
    let question =
        format!("{}  ({} tables, {})", one_line(&ranking.question), ranking.tables_in_corpus, ranking.retriever);
    wrapped(&question, columns, usize::MAX).iter().for_each(|line| text += &format!("{line}\n"));
    let score_width = ranking.tables.iter().map(|table| format!("{:.4}", table.score).len()).fold(5, usize::max);
    let _ = writeln!(text, "{:>4}  {:>score_width$}  table", "rank", "score");
    let fits = columns.map(|columns| columns.saturating_sub(BELOW));
    for table in &ranking.tables {
        let _ = writeln!(text, "{:>4}  {:>score_width$.4}  {}", table.rank, table.score, one_line(&table.id));
        let names = [&table.title, &table.section, &table.caption].map(|text| one_line(text));
        // A caption is often the title of its page once more.
        let is_new = |at: &usize| !names[*at].is_empty() && !names[..*at].contains(&names[*at]);
        let names: Vec<&str> = (0..names.len()).filter(is_new).map(|at| names[at].as_str()).collect();
        let header = table.column_headers.iter().map(|text| one_line(text)).collect::<Vec<_>>().join(" | ");
        let rows = match table.rows_in_document {
            Some(fit) => format!("{} rows, of which a document holds the first {fit}", table.rows),
            None => format!("{} rows", table.rows),
        };
        let file = one_line(&table.file);
        // The id of a table of a document begins with it.
        let file = if table.id.starts_with(&table.file) { "" } else { &file };
        for line in [names.join(", "), format!("{header}  ({rows})"), file.to_owned()] {
            for line in wrapped(&line, fits, LINES).into_iter().filter(|line| !line.is_empty()) {
                let _ = writeln!(text, "{:BELOW$}{line}", "");
            }
        }
    }
    if !ranking.nodes.is_empty() {
        let _ = writeln!(text, "\n{:>4}  {:>8}  node", "rank", "score");
        for TableNode { table, id_in_file, node, .. } in &ranking.nodes {
            let id = id_in_file.as_ref().unwrap_or(&node.id);
            let _ = writeln!(text, "{:>4}  {:>8.4}  {} {}", node.rank, node.score, one_line(table), one_line(id));
            for line in wrapped(&described(node, fits), fits, LINES).into_iter().filter(|line| !line.is_empty()) {
                let _ = writeln!(text, "{:BELOW$}{line}", "");
            }
        }
    }
    text
}

/// Columns of a caption that are shown.
const CAPTION: usize = 60;

/// A cell reads with its headers behind it and its table's caption, every node with its nearest heading; every text is one line.
/// Where there is no room for the outer row headers the innermost stands for all, so that the column is seen.
fn described(node: &RankedNode, columns: Option<usize>) -> String {
    let whole = described_by(node, node.row_headers.as_deref());
    let outer = node.row_headers.as_deref().and_then(|path| path.rsplit_once(" > "));
    match outer {
        Some((_, innermost)) if columns.is_some_and(|columns| width(&whole) > columns * LINES) => {
            described_by(node, Some(&format!("… > {innermost}")))
        }
        _ => whole,
    }
}

fn described_by(node: &RankedNode, row: Option<&str>) -> String {
    let mut text = node.text.clone();
    if node.kind == NodeKind::Cell {
        let headers: Vec<&str> = row.into_iter().chain(node.column_headers.as_deref()).collect();
        if !headers.is_empty() {
            text += &format!("  ← {}", headers.join(" | "));
        }
    }
    if let Some(caption) = node.caption.as_ref().filter(|_| node.kind == NodeKind::Cell) {
        text += &format!("  [{}]", beginning(&one_line(caption), CAPTION));
    }
    if !node.section.is_empty() {
        text += &format!("  § {}", path_in_short(node.section.iter().map(String::as_str)));
    }
    if let Some(location) = &node.location {
        text += &format!("  @ {location}");
    }
    if !node.duplicates.is_empty() {
        let ids: Vec<&str> = node.duplicates.iter().map(|duplicate| duplicate.id.as_str()).collect();
        text += &format!("  (also {})", ids.join(", "));
    }
    one_line(&text)
}

/// On one line, without control characters, which could move the cursor or change colours.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Columns that a text takes in a terminal at most: characters that join into one are counted one by one.
fn width(text: &str) -> usize {
    // The mark after a sign that makes it an emoji, which is wide, has no width of its own.
    text.chars().map(|c| if c == '\u{fe0f}' { 1 } else { c.width().unwrap_or(0) }).sum()
}

/// A text in lines of so many columns, parted at blanks where there are any; one line where there is no bound. What
/// does not fit into `most` lines is left out, with "…" at the end of the last.
fn wrapped(text: &str, columns: Option<usize>, most: usize) -> Vec<String> {
    let Some(columns) = columns.map(|columns| columns.max(3)) else { return vec![text.to_owned()] };
    let mut lines = Vec::new();
    let mut rest = text;
    while width(rest) > columns && lines.len() + 1 < most {
        let fit = beginning(rest, columns);
        // The next line may begin right behind this one.
        let whole = rest[fit.len()..].starts_with(' ');
        let end = if whole { fit.len() } else { fit.rfind(' ').unwrap_or(fit.len()) };
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    lines.push(match width(rest) <= columns {
        true => rest.to_owned(),
        false => beginning(rest, columns - 1).trim_end().to_owned() + "…",
    });
    lines
}

/// As much of the beginning as takes so many columns, at least one character.
fn beginning(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(at, c)| {
        taken += width(c.encode_utf8(&mut [0; 4]));
        taken > columns && *at > 0
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ranking::Position;

    fn ranking(texts: &[&str]) -> Ranking {
        let node = |(number, text): (usize, &&str)| RankedNode {
            rank: number + 1,
            id: format!("t104:r{number}c12"),
            kind: if number == 0 { NodeKind::Cell } else { NodeKind::Passage },
            text: (*text).to_owned(),
            section: [].into(),
            row_headers: Some("Current assets: > Cash and cash equivalents".into()),
            column_headers: None,
            caption: Some("(In millions)".into()),
            position: Position::Passage { passage: 0 },
            location: None,
            duplicates: Vec::new(),
            segment: None,
            score: 5.0 - number as f32,
            explanation: None,
        };
        Ranking {
            question_id: String::new(),
            question: "What were cash and cash equivalents at the end of the fiscal year that ended in January?".into(),
            read_as: None,
            document: "report".into(),
            nodes_in_document: 20_000,
            warnings: Vec::new(),
            segments: Vec::new(),
            edge_strengths: Vec::new(),
            nodes: texts.iter().enumerate().map(node).collect(),
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_text_is_cut_without_one() {
        let long = "Revenue rose because of the demand for accelerated computing ".repeat(5);
        let ranking = ranking(&[
            "$ 8,589",
            &long,
            "現金及び現金同等物の期末残高は前年より増加した。主な要因は営業活動である。",
            &"x".repeat(300),
        ]);
        for columns in [40, 60, 80, 132] {
            let text = render(&ranking, &["t104:r0c12"], Some(columns));
            for line in text.lines() {
                assert!(width(line) <= columns, "{columns}: {line:?}");
            }
            assert!(text.contains("   1* ") && text.contains("$ 8,589 ←") && text.contains('…'), "{text}");
            // Two lines a text at most; where it stands below, one more.
            assert!(text.lines().count() <= 6 + 4 * 3, "{text}");
        }
        let whole = render(&ranking, &[], None);
        assert!(whole.contains(&format!("  {}\n", long.trim_end())) && whole.contains(&"x".repeat(300)));
        assert_eq!(whole.lines().count(), 2 + 4);
    }

    #[test]
    fn columns_stand_below_their_names() {
        let text = render(&ranking(&["$ 8,589", "Cash fell."]), &[], Some(80));
        let at = |line: &str, part: &str| text.lines().find(|l| l.contains(line)).and_then(|line| line.find(part));
        assert_eq!(at("rank", "text"), at("Cash fell.", "Cash fell."), "{text}");
        assert_eq!(at("rank", "node"), at("8,589", "t104:"), "{text}");
        assert_eq!(at("rank", "kind"), at("8,589", "cell"), "{text}");
    }

    proptest! {
        #[test]
        fn wrapped_lines_fit_and_hold_the_text(text in any::<String>(), columns in 3..30_usize, most in 1..5_usize) {
            let text = one_line(&text);
            let lines = wrapped(&text, Some(columns), most);
            prop_assert!(!lines.is_empty() && lines.len() <= most);
            for line in &lines {
                prop_assert!(width(line) <= columns, "{line:?}");
            }
            let all = wrapped(&text, Some(columns), usize::MAX);
            let solid = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            prop_assert_eq!(solid(&all.concat()), solid(&text));
        }
    }
}
