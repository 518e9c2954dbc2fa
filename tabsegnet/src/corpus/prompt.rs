//! Tables of a corpus as a context for a language model, with what relates them (GTR, "graph-aware prompting"): each with
//! an id to cite, the relations with their strengths, and how to answer.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use tabsegnet_corpus::terms;
use tabsegnet_datasets::tables::TableRecord;

use super::{Corpus, RankedTable, Standing, TableRanking};
use crate::RankingError;
use crate::context::{Context, TooSmall, tokens};

/// The weakest relation that is shown: cosine of the tables' vectors.
const LEAST: f32 = 0.3;

/// How much of a table is shown, from all to little: characters of a cell, and columns.
const CUTS: [(usize, usize); 6] = [(usize::MAX, usize::MAX), (200, usize::MAX), (80, 40), (40, 20), (20, 10), (12, 5)];

/// A table of the ranking with what of it is worth being shown first.
struct Shown {
    table: TableRecord,
    /// Its rows, the best first.
    rows: Vec<usize>,
    /// Its columns, the best first.
    columns: Vec<usize>,
    /// Rows of its header: row 0 below it is `r{header}`, as in the ids of nodes.
    header: usize,
    /// Ids and texts of ranked sentences beside it.
    sentences: Vec<(String, String)>,
}

impl Corpus {
    /// As many tables of a ranking as fit into a budget of tokens, whole rows of each: those that share the most words with
    /// the question, and those that a ranker of nodes put first, whose tables then come first. Of a table that is too large
    /// for the budget long cells are cut, and columns are left out.
    ///
    /// # Errors
    /// A budget too small for the best table even so; a table that is there no more.
    pub fn prompt(&self, ranking: &TableRanking, budget: usize) -> Result<Context, RankingError> {
        let wanted: BTreeSet<String> = terms(&ranking.question).into_iter().collect();
        let place =
            |table: &RankedTable| ranking.nodes.iter().position(|node| node.table == table.id).unwrap_or(usize::MAX);
        let mut order: Vec<usize> = (0..ranking.tables.len()).collect();
        order.sort_by_key(|&table| ranking.tables.get(table).map(place));
        let tables: Vec<Shown> = order
            .iter()
            .filter_map(|&table| ranking.tables.get(table))
            .map(|ranked| Ok(Shown::new(ranking, self.table(&ranked.id)?, &wanted)))
            .collect::<Result<_, RankingError>>()?;
        let relations = self.relations(ranking, &order)?;
        let text_of =
            |count: usize, rows: usize, cut| text(ranking, tables.get(..count).unwrap_or(&[]), rows, cut, &relations);
        let fits = |count: usize, rows: usize, cut| tokens(&text_of(count, rows, cut)) <= budget;
        let least = 1.min(tables.len());
        let Some(cut) = CUTS.into_iter().find(|&cut| fits(least, least, cut)) else {
            let [.., last] = CUTS;
            return Err(TooSmall { what: "table", tokens: tokens(&text_of(least, least, last)), budget }.into());
        };
        // Tables first, with a row each; then as many rows of each as fit.
        let count = (least..=tables.len()).rev().find(|&count| fits(count, 1, cut)).unwrap_or(least);
        let most = tables.iter().take(count).map(|shown| shown.table.rows.len()).max().unwrap_or(0);
        let (mut fit, mut beyond) = (1.min(most), most + 1);
        while beyond - fit > 1 {
            let middle = fit.midpoint(beyond);
            if fits(count, middle, cut) { fit = middle } else { beyond = middle }
        }
        let text = text_of(count, fit, cut);
        Ok(Context { tokens: tokens(&text), text, nodes: count })
    }

    /// Pairs of tables by how near their vectors are, by their places in `order`.
    fn relations(&self, ranking: &TableRanking, order: &[usize]) -> Result<Vec<(usize, usize, f32)>, RankingError> {
        let tables = &self.0.tables;
        let vector = |ranked: &RankedTable| Ok(tables.vector(tables.find(&ranked.id)?));
        let ranked = order.iter().filter_map(|&table| ranking.tables.get(table));
        let vectors: Vec<Vec<f32>> = ranked.map(vector).collect::<Result<_, RankingError>>()?;
        let mut found = Vec::new();
        for (a, of_a) in vectors.iter().enumerate() {
            for (b, of_b) in vectors.iter().enumerate().skip(a + 1) {
                let product: f32 = of_a.iter().zip(of_b).map(|(x, y)| x * y).sum();
                if product >= LEAST {
                    found.push((a, b, product));
                }
            }
        }
        found.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        Ok(found)
    }
}

impl crate::ranking::Position {
    /// The table that it is in.
    pub fn table(&self) -> Option<usize> {
        match self {
            Self::Cell { table, .. } | Self::Table { table } => Some(*table),
            Self::Heading { .. } | Self::Passage { .. } => None,
        }
    }

    /// The column of a cell.
    pub(crate) fn column(&self) -> Option<usize> {
        match self {
            Self::Cell { col, .. } => Some(*col),
            _ => None,
        }
    }

    /// The sentence that it is.
    pub(crate) fn passage(&self) -> Option<usize> {
        match self {
            Self::Passage { passage } => Some(*passage),
            _ => None,
        }
    }

    /// The row of a cell.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Cell { row, .. } => Some(*row),
            _ => None,
        }
    }
}

impl Shown {
    /// Rows and columns with the best nodes come first, then rows by how many of the `wanted` words they have.
    fn new(ranking: &TableRanking, table: TableRecord, wanted: &BTreeSet<String>) -> Self {
        let header = match Standing::of(&table) {
            Ok(Some(standing)) => standing.table.num_header_rows(),
            _ => usize::from(table.column_headers.iter().any(|text| !text.trim().is_empty())),
        };
        let nodes = || ranking.nodes.iter().filter(|node| node.table == table.id);
        let rows_of: Vec<usize> = nodes().filter_map(|node| node.node.position.row()?.checked_sub(header)).collect();
        let columns_of: Vec<usize> = nodes().filter_map(|node| node.node.position.column()).collect();
        let place = |of: &[usize], number: usize| of.iter().position(|of| *of == number).unwrap_or(usize::MAX);
        let shared = |row: &[String]| {
            let words: BTreeSet<String> = row.iter().flat_map(|cell| terms(cell)).collect();
            words.intersection(wanted).count()
        };
        let mut rows: Vec<(usize, usize, usize)> = table
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| (place(&rows_of, number), usize::MAX - shared(row), number))
            .collect();
        rows.sort_unstable();
        let width = table.rows.iter().map(Vec::len).chain([table.column_headers.len()]).max().unwrap_or(0);
        let mut columns: Vec<usize> = (0..width).collect();
        // The first one names the rows.
        columns.sort_by_key(|&column| if column == 0 { 0 } else { place(&columns_of, column).saturating_add(1) });
        let sentences = nodes().filter(|node| node.node.position.passage().is_some());
        let sentences = sentences.map(|node| (node.node.id.clone(), node.node.text.clone())).collect();
        let rows = rows.into_iter().map(|(.., row)| row).collect();
        Self { table, rows, columns, header, sentences }
    }
}

fn one_line(text: &str) -> String {
    tabsegnet_store::one_line(text).replace('|', "/")
}

/// A text of at most so many characters.
fn short(text: &str, most: usize) -> String {
    let text = one_line(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text,
    }
}

/// Pairs of tables whose relation is said.
const RELATIONS: usize = 15;

fn text(
    ranking: &TableRanking,
    tables: &[Shown],
    rows: usize,
    (width, columns): (usize, usize),
    relations: &[(usize, usize, f32)],
) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Question: {}", one_line(&ranking.question));
    let has_sentences = tables.iter().any(|shown| !shown.sentences.is_empty());
    let sentence = if has_sentences { ", a sentence as [p4]" } else { "" };
    let _ = writeln!(
        out,
        "Below are tables that may hold the answer, the likeliest first, each with an id, and how near two tables are, from 0 \
         to 1: near ones may be parts of one. First, between <reasoning> and </reasoning>: name the tables that the question \
         needs; say how they are connected; read the rows and columns that it is about. Cite the cell of every value that \
         you use as [T1:r2c3] (table, row, column){sentence}. Then answer between <answer> and </answer>, from \
         the tables alone; where they do not say it, answer unknown."
    );
    for (number, Shown { table, rows: order, columns: best, header, sentences }) in tables.iter().enumerate() {
        let names = [&table.title, &table.section, &table.caption].map(|text| short(text, width));
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let _ = writeln!(out, "\nT{} ({}): {}", number + 1, one_line(&table.id), names.join(", "));
        let mut kept: Vec<usize> = best.iter().copied().take(columns).collect();
        kept.sort_unstable();
        let cell = |row: &[String], column: usize| row.get(column).map_or_else(String::new, |text| short(text, width));
        let headers: Vec<String> =
            kept.iter().map(|&column| format!("c{column}: {}", cell(&table.column_headers, column))).collect();
        let _ = writeln!(out, "| | {} |", headers.join(" | "));
        let mut shown: Vec<usize> = order.iter().copied().take(rows).collect();
        shown.sort_unstable();
        let left = [(order.len() - shown.len(), "rows"), (best.len() - kept.len(), "columns")];
        for row in shown {
            let cells: Vec<String> =
                kept.iter().map(|&column| cell(table.rows.get(row).map_or(&[], Vec::as_slice), column)).collect();
            let _ = writeln!(out, "| r{}: | {} |", row + header, cells.join(" | "));
        }
        for (count, what) in left.into_iter().filter(|(count, _)| *count > 0) {
            let _ = writeln!(out, "({count} more {what})");
        }
        for (id, sentence) in sentences {
            let _ = writeln!(out, "[{id}] {}", short(sentence, width));
        }
    }
    let shown_relations: Vec<String> = relations
        .iter()
        .filter(|(a, b, _)| *a < tables.len() && *b < tables.len())
        .take(RELATIONS)
        .map(|(a, b, strength)| format!("T{}–T{} {strength:.2}", a + 1, b + 1))
        .collect();
    if !shown_relations.is_empty() {
        let _ = writeln!(out, "\nRelations: {}", shown_relations.join(", "));
    }
    out
}
