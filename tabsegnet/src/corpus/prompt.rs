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

impl Corpus {
    /// As many tables of a ranking as fit into a budget of tokens, whole rows of each: those that share the most words with
    /// the question, and those that a ranker of nodes put first.
    ///
    /// # Errors
    /// A budget too small for the best table without rows; a table that is there no more.
    pub fn prompt(&self, ranking: &TableRanking, budget: usize) -> Result<Context, RankingError> {
        let tables: Vec<TableRecord> =
            ranking.tables.iter().map(|ranked| self.table(&ranked.id)).collect::<Result<_, _>>()?;
        let wanted: BTreeSet<String> = terms(&ranking.question).into_iter().collect();
        let order: Vec<Vec<usize>> = tables.iter().map(|table| self.rows_by_worth(ranking, table, &wanted)).collect();
        let relations = self.relations(ranking)?;
        let text_of = |count: usize, rows: usize| text(ranking, &tables[..count], &order, rows, &relations);
        // Tables first, without rows; then as many rows of each as fit.
        let count = (1..=tables.len()).rev().find(|&count| tokens(&text_of(count, 1)) <= budget);
        let Some(count) = count.or_else(|| tables.is_empty().then_some(0)) else {
            return Err(TooSmall { tokens: tokens(&text_of(1, 1)), budget }.into());
        };
        let most = tables.iter().take(count).map(|table| table.rows.len()).max().unwrap_or(0);
        let (mut fits, mut beyond) = (1.min(most), most + 1);
        while beyond - fits > 1 {
            let middle = fits.midpoint(beyond);
            if tokens(&text_of(count, middle)) <= budget { fits = middle } else { beyond = middle }
        }
        let text = text_of(count, fits);
        Ok(Context { tokens: tokens(&text), text, nodes: count })
    }

    /// Rows of a table, those with the best nodes first, then by how many of the question's words they have.
    fn rows_by_worth(&self, ranking: &TableRanking, table: &TableRecord, wanted: &BTreeSet<String>) -> Vec<usize> {
        let lines = match Standing::of(table) {
            Ok(Some(standing)) => standing.table.num_header_rows(),
            _ => usize::from(table.column_headers.iter().any(|text| !text.trim().is_empty())),
        };
        let of_nodes: Vec<usize> = ranking
            .nodes
            .iter()
            .filter(|node| node.table == table.id)
            .filter_map(|node| node.node.position.row()?.checked_sub(lines))
            .collect();
        let shared = |row: &[String]| {
            let words: BTreeSet<String> = row.iter().flat_map(|cell| terms(cell)).collect();
            words.intersection(wanted).count()
        };
        let worth: Vec<(usize, usize)> = table
            .rows
            .iter()
            .enumerate()
            .map(|(number, row)| {
                let place = of_nodes.iter().position(|of| *of == number).unwrap_or(usize::MAX);
                (place, usize::MAX - shared(row))
            })
            .collect();
        let mut order: Vec<usize> = (0..table.rows.len()).collect();
        order.sort_by_key(|&row| (worth[row], row));
        order
    }

    /// Pairs of tables by how near their vectors are.
    fn relations(&self, ranking: &TableRanking) -> Result<Vec<(usize, usize, f32)>, RankingError> {
        let tables = &self.0.tables;
        let vector = |ranked: &RankedTable| Ok(tables.vector(tables.find(&ranked.id)?));
        let vectors: Vec<Vec<f32>> = ranking.tables.iter().map(vector).collect::<Result<_, RankingError>>()?;
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

    /// The row of a cell.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::Cell { row, .. } => Some(*row),
            _ => None,
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "/")
}

fn text(
    ranking: &TableRanking,
    tables: &[TableRecord],
    order: &[Vec<usize>],
    rows: usize,
    relations: &[(usize, usize, f32)],
) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Question: {}", one_line(&ranking.question));
    let _ = writeln!(
        out,
        "Tables that may hold the answer, the likeliest first; each has an id. Cite a cell as [T1:r2c3] (table, row, \
         column). Relations say how near two tables are, from 0 to 1; related tables may be parts of one. Answer from the \
         tables alone, between <answer> and </answer>; where they do not say it, answer unknown."
    );
    for (number, (table, order)) in tables.iter().zip(order).enumerate() {
        let names = [&table.title, &table.section, &table.caption].map(|text| one_line(text));
        let names: Vec<&str> = names.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let _ = writeln!(out, "\nT{} ({}): {}", number + 1, one_line(&table.id), names.join(", "));
        let header: Vec<String> = table
            .column_headers
            .iter()
            .enumerate()
            .map(|(column, text)| format!("c{column}: {}", one_line(text)))
            .collect();
        let _ = writeln!(out, "| | {} |", header.join(" | "));
        let mut shown: Vec<usize> = order.iter().copied().take(rows).collect();
        shown.sort_unstable();
        let left = order.len() - shown.len();
        for row in shown {
            let cells: Vec<String> = table.rows[row].iter().map(|cell| one_line(cell)).collect();
            let _ = writeln!(out, "| r{}: | {} |", row + 1, cells.join(" | "));
        }
        if left > 0 {
            let _ = writeln!(out, "({left} more rows)");
        }
    }
    let shown_relations: Vec<String> = relations
        .iter()
        .filter(|(a, b, _)| *a < tables.len() && *b < tables.len())
        .take(10)
        .map(|(a, b, strength)| format!("T{}–T{} {strength:.2}", a + 1, b + 1))
        .collect();
    if !shown_relations.is_empty() {
        let _ = writeln!(out, "\nRelations: {}", shown_relations.join(", "));
    }
    out
}
