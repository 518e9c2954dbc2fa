//! A ranker's scores of a node's row, column and table.

use std::collections::HashMap;

use tabsegnet_features::{Naming, features};
use tabsegnet_graph::{Node, NodeKind};

use super::candidates::OfLines;
use super::duplicates::Groups;
use super::sheet::{Line, Sheet};

features! {
    /// Of a node. Shares are of the softmax over the document's scores; scores of other nodes are less the document's best,
    /// [`NONE`] where there is none. Of a sentence "left" and "right" are those before and after it.
    pub(super) struct ContextScores {
        row_log_share,
        column_log_share,
        table_log_share,
        table_below_best,
        text_log_share,
        share_of_row,
        share_of_column,
        share_of_table,
        row_header,
        column_header,
        left,
        right,
        above,
        below,
        best_of_row,
        second_of_row,
        best_of_column,
        second_of_column,
        nodes_of_row,
        nodes_of_column,
        rank_in_column,
        rank_in_table,
        cells_of_same_text,
        best_of_same_text,
        tables_of_same_headers,
        best_of_same_headers,
        entropy,
        nodes,
        ten_in_row,
        ten_in_column,
        ten_in_table,
        ten_cells,
        ten_sentences,
        ten_row_headers,
        ten_column_headers,
        next_table_log_share,
        previous_table_log_share,
        sentences_to_next_table,
        sentences_to_previous_table,
        sentences_to_best_table,
    }
}

features! {
    /// Of a node's section: what stands under its heading before the next one.
    pub(crate) struct SectionScores {
        log_share,
        below_best,
        /// The node's share of the section's.
        share,
    }
}

features! {
    /// Of a passage and the cells that name it, or of a node of a row and the passages that the row names: as
    /// [`ContextScores`].
    pub(crate) struct NamingScores {
        /// The best cell that names the passage, or passage that the cell names.
        best,
        /// Of the rows that name the passage the one with the greatest share, its share and its best node; of a row the share
        /// of the passages that it names and the best.
        log_share,
        best_of_row,
        /// The same of the other passages that these rows name.
        others_log_share,
        best_of_others,
        /// Of all passages that the passage's columns name.
        column_log_share,
        best_of_column,
    }
}

/// More sentences between a sentence and a table do not count.
const FARTHEST: f32 = 20.0;

/// The score of a node that is not there: lower than any that matters.
const NONE: f32 = -30.0;

/// The logarithm of a share, which may be 0.
fn log(share: f64) -> f32 {
    (share + 1e-9).ln() as f32
}

/// Where a node's section stands in [`ScoreContext::sections`].
fn section_of(node: &Node) -> usize {
    node.section.map_or(0, |heading| heading as usize + 1)
}

/// Whether nodes of a kind are part of a row.
pub(super) fn in_row(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Cell | NodeKind::RowHeader)
}

/// Whether nodes of a kind are part of columns.
pub(super) fn in_column(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Cell | NodeKind::ColumnHeader)
}

/// What the ranking has of a node's lines.
pub(super) struct Counts<'a> {
    /// Nodes with higher scores.
    pub(super) above: OfLines<f32>,
    /// Nodes of the best ten.
    pub(super) in_ten: OfLines<f32>,
    /// Nodes of the best ten of a kind, in any line.
    pub(super) of_kind: &'a dyn Fn(NodeKind) -> f32,
}

/// The tables before and after a sentence.
#[derive(Default)]
struct TablesNear {
    next_log_share: f32,
    previous_log_share: f32,
    sentences_to_next: f32,
    sentences_to_previous: f32,
    /// To the table with the greatest share, below 0 after it.
    sentences_to_best: f32,
}

/// A document's scores by place.
pub(super) struct ScoreContext<'a> {
    scores: &'a [f32],
    best: f32,
    /// ln of the sum of e^(score − best).
    log_sum: f64,
    entropy: f64,
    /// The highest scores of sentences and of tables' nodes.
    bests: [Option<f32>; 2],
    text: f64,
    /// The share of what stands under each heading before the next one, by the heading's node from 1; of what stands under
    /// none before. And the greatest.
    sections: Vec<f64>,
    best_section: f64,
    /// The table with the greatest share, the first of several.
    best_table: Option<usize>,
    /// Of each node the number of its table's sheet.
    sheet_of: Vec<Option<usize>>,
    sheets: Vec<Sheet>,
    /// Of each node how many sentences stand before it.
    sentences: Vec<u32>,
    same_text: Groups<'a>,
    same_headers: Groups<'a>,
}

impl<'a> ScoreContext<'a> {
    /// Of the `scores` `[nodes]`, for the nodes of `order`, best first; `duplicates` are the numbers of the nodes' texts
    /// and paths ([`tabsegnet_features::DocumentFeatures::duplicates`]).
    pub(super) fn new(nodes: &[Node], scores: &'a [f32], order: &[u32], duplicates: [&'a [u32]; 2]) -> Self {
        let best = order.first().map_or(0.0, |&first| scores[first as usize]);
        let exp: Vec<f64> = scores.iter().map(|score| f64::from(score - best).exp()).collect();
        let sum: f64 = exp.iter().sum();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut sizes: Vec<(usize, usize)> = Vec::new();
        // The nodes of a table stand together: its number is looked up once.
        let mut last = None;
        let sheet_of: Vec<Option<usize>> = nodes
            .iter()
            .map(|node| {
                let place = node.place.as_ref()?;
                let sheet = match last {
                    Some((table, sheet)) if table == place.table => sheet,
                    _ => *numbers.entry(place.table).or_insert_with(|| {
                        sizes.push((0, 0));
                        sizes.len() - 1
                    }),
                };
                last = Some((place.table, sheet));
                let (rows, columns) = &mut sizes[sheet];
                *rows = (*rows).max(place.row + place.rowspan.max(1));
                *columns = (*columns).max(place.col + place.colspan.max(1));
                Some(sheet)
            })
            .collect();
        let mut sheets: Vec<Sheet> = sizes
            .into_iter()
            .map(|(rows, columns)| Sheet {
                share: 0.0,
                sentences: 0,
                rows: vec![Line::EMPTY; rows],
                columns: vec![Line::EMPTY; columns],
                grid: vec![None; rows * columns],
            })
            .collect();
        let [mut same_text, mut same_headers] = duplicates.map(|numbers| Groups::new(numbers, order));
        let (mut text, mut below) = (0.0, 0.0);
        let mut sections = vec![0.0; nodes.len() + 1];
        let mut bests = [None; 2];
        let mut sentences = Vec::with_capacity(nodes.len());
        let mut passed = 0;
        // Nodes are large: they are gone through as seldom as may be.
        for (number, (((node, sheet), &score), exp)) in nodes.iter().zip(&sheet_of).zip(scores).zip(&exp).enumerate() {
            let share = exp / sum;
            sentences.push(passed);
            let greatest = &mut bests[usize::from(node.place.is_some())];
            *greatest = Some(greatest.map_or(score, |greatest: f32| greatest.max(score)));
            below += share * f64::from(score - best);
            sections[section_of(node)] += share;
            let (Some(place), Some(sheet)) = (&node.place, sheet) else {
                text += share;
                passed += 1;
                continue;
            };
            let sheet = &mut sheets[*sheet];
            sheet.share += share;
            sheet.sentences = passed;
            if node.kind != NodeKind::Caption {
                let width = sheet.columns.len();
                sheet.grid[place.row * width + place.col] = Some(score);
            }
            if node.kind == NodeKind::Cell {
                same_text.push(number, score, place.table);
            }
            same_headers.push(number, score, place.table);
            if in_row(node.kind) {
                for row in &mut sheet.rows[place.row..place.row + place.rowspan.max(1)] {
                    row.push(score, share);
                    if node.kind == NodeKind::RowHeader {
                        row.header = row.header.or(Some(score)); // the first of several
                    }
                }
            }
            if in_column(node.kind) {
                for column in &mut sheet.columns[place.col..place.col + place.colspan.max(1)] {
                    column.push(score, share);
                    if node.kind == NodeKind::ColumnHeader {
                        column.header = Some(score); // the lowest of several
                    }
                }
            }
        }
        let best_table =
            (0..sheets.len()).reduce(|best, next| if sheets[next].share > sheets[best].share { next } else { best });
        Self {
            scores,
            best,
            log_sum: sum.ln(),
            entropy: sum.ln() - below,
            bests,
            text,
            best_section: sections.iter().copied().fold(0.0, f64::max),
            sections,
            best_table,
            sheet_of,
            sheets,
            sentences,
            same_text,
            same_headers,
        }
    }

    /// Of a sentence.
    fn tables_near(&self, number: usize) -> TablesNear {
        // Sheets are in the order of their tables. A sentence counts itself among those before what follows it.
        let sentences = self.sentences[number];
        let after = self.sheets.partition_point(|sheet| sheet.sentences <= sentences);
        let (next, previous) = (self.sheets.get(after), after.checked_sub(1).map(|before| &self.sheets[before]));
        let log = |sheet: &Sheet| log(sheet.share);
        let until = |sheet: &Sheet| (sheet.sentences - sentences - 1) as f32;
        let since = |sheet: &Sheet| (sentences - sheet.sentences) as f32;
        let to_best = self.best_table.map(|best| {
            let table = &self.sheets[best];
            if best >= after { 1.0 + until(table) } else { -1.0 - since(table) }
        });
        TablesNear {
            next_log_share: next.map_or(NONE, log),
            previous_log_share: previous.map_or(NONE, log),
            sentences_to_next: next.map_or(FARTHEST, until).min(FARTHEST),
            sentences_to_previous: previous.map_or(FARTHEST, since).min(FARTHEST),
            sentences_to_best: to_best.unwrap_or_default().clamp(-FARTHEST, FARTHEST),
        }
    }

    /// How far the best sentence is above the best node of a table; far, where there is none of either.
    pub(super) fn text_above_tables(&self) -> f32 {
        match self.bests {
            [Some(text), Some(tables)] => text - tables,
            [Some(_), None] => 20.0,
            [None, _] => -20.0,
        }
    }

    /// ln of a score's share.
    pub(super) fn log_share(&self, score: f32) -> f32 {
        (f64::from(score - self.best) - self.log_sum) as f32
    }

    /// Of the section of a node by number.
    pub(super) fn of_section(&self, nodes: &[Node], number: u32) -> SectionScores {
        let of_section = self.sections[section_of(&nodes[number as usize])];
        let log_share = log(of_section);
        let own = self.log_share(self.scores[number as usize]);
        SectionScores { log_share, below_best: log_share - log(self.best_section), share: (own - log_share).exp() }
    }

    /// Of a node and what names it or what it names.
    pub(super) fn of_naming(&self, naming: &Naming, nodes: &[Node], number: u32) -> NamingScores {
        let score = |node: u32| self.scores[node as usize] - self.best;
        let share = |node: u32| f64::from(self.log_share(self.scores[node as usize])).exp();
        let best = |nodes: &mut dyn Iterator<Item = u32>| nodes.map(score).fold(NONE, f32::max);
        let mut found = NamingScores {
            best: NONE,
            log_share: log(0.0),
            best_of_row: NONE,
            others_log_share: log(0.0),
            best_of_others: NONE,
            column_log_share: log(0.0),
            best_of_column: NONE,
        };
        let named_by = naming.named_by(number);
        if named_by.is_empty() {
            let passages = naming.passages_of_row(number);
            found.best = best(&mut naming.passages_of(number).iter().copied());
            found.log_share = log(passages.iter().map(|passage| share(*passage)).sum());
            found.best_of_row = best(&mut passages.iter().copied());
            return found;
        }
        found.best = best(&mut named_by.iter().copied());
        for &cell in named_by {
            let place = nodes[cell as usize].place.as_ref();
            let place = place.zip(self.sheet_of[cell as usize].map(|sheet| &self.sheets[sheet]));
            let Some((place, sheet)) = place else { continue };
            let row = &sheet.rows[place.row];
            found.log_share = found.log_share.max(log(row.share));
            found.best_of_row = found.best_of_row.max(row.best().map_or(NONE, |best| best - self.best));
            let others = || naming.passages_of_row(cell).iter().copied().filter(|other| *other != number);
            found.others_log_share = found.others_log_share.max(log(others().map(share).sum()));
            found.best_of_others = found.best_of_others.max(best(&mut others()));
        }
        for column in naming.columns_of(number) {
            found.column_log_share =
                found.column_log_share.max(log(column.iter().map(|passage| share(*passage)).sum()));
            found.best_of_column = found.best_of_column.max(best(&mut column.iter().copied()));
        }
        found
    }

    /// Of a node by number.
    pub(super) fn of(&self, nodes: &[Node], number: u32, counts: &Counts<'_>) -> ContextScores {
        let number = number as usize;
        let (node, own) = (&nodes[number], self.scores[number]);
        let share = (f64::from(own - self.best) - self.log_sum).exp();
        let below_best = |score: Option<f32>| score.map_or(NONE, |score| score - self.best);
        let place = node.place.as_ref().zip(self.sheet_of[number].map(|sheet| &self.sheets[sheet]));
        let (mut row, mut column) = (None, None);
        let (mut left, mut right, mut above, mut below) = (None, None, None, None);
        if let Some((place, sheet)) = place {
            row = in_row(node.kind).then(|| &sheet.rows[place.row]);
            column = in_column(node.kind).then(|| &sheet.columns[place.col]);
            if node.kind != NodeKind::Caption {
                let (at_row, at_column) = (Some(place.row), Some(place.col));
                left = sheet.at(at_row, place.col.checked_sub(1));
                right = sheet.at(at_row, Some(place.col + 1));
                above = sheet.at(place.row.checked_sub(1), at_column);
                below = sheet.at(Some(place.row + 1), at_column);
            }
        } else {
            let sentence = |at: usize| nodes.get(at).is_some_and(|node| node.place.is_none()).then(|| self.scores[at]);
            left = number.checked_sub(1).and_then(sentence);
            right = sentence(number + 1);
        }
        let share_of_line = |line: Option<&Line>| line.map_or(0.0, |line| line.share);
        let (of_row, of_column) = (share_of_line(row), share_of_line(column));
        let of_table = place.map_or(self.text, |(_, sheet)| sheet.share);
        let of = |whole: f64| if whole > 0.0 { (share / whole) as f32 } else { 1.0 };
        let others = |line: Option<&Line>| line.map_or([None; 2], |line| line.others(own)).map(below_best);
        let ([best_of_row, second_of_row], [best_of_column, second_of_column]) = (others(row), others(column));
        let nodes_of = |line: Option<&Line>| line.map_or(0.0, |line| line.nodes as f32);
        let near = if node.place.is_none() { self.tables_near(number) } else { TablesNear::default() };
        let same_text = self.same_text.get(number).filter(|_| node.kind == NodeKind::Cell);
        let (cells, best_of_same_text) = same_text.map_or((0, None), |duplicates| duplicates.others(own));
        let (tables, best_of_same_headers) = match (self.same_headers.get(number), &node.place) {
            (Some(duplicates), Some(place)) => duplicates.other_tables(place.table),
            _ => (0, None),
        };
        let table_below_best = place.and(self.best_table).map(|best| log(of_table) - log(self.sheets[best].share));
        ContextScores {
            row_log_share: log(of_row),
            column_log_share: log(of_column),
            table_log_share: log(of_table),
            table_below_best: table_below_best.unwrap_or_default(),
            text_log_share: log(self.text),
            share_of_row: of(of_row),
            share_of_column: of(of_column),
            share_of_table: of(of_table),
            row_header: below_best(row.and_then(|row| row.header)),
            column_header: below_best(column.and_then(|column| column.header)),
            left: below_best(left),
            right: below_best(right),
            above: below_best(above),
            below: below_best(below),
            best_of_row,
            second_of_row,
            best_of_column,
            second_of_column,
            nodes_of_row: nodes_of(row),
            nodes_of_column: nodes_of(column),
            rank_in_column: counts.above.column,
            rank_in_table: counts.above.table,
            cells_of_same_text: cells as f32,
            best_of_same_text: below_best(best_of_same_text),
            tables_of_same_headers: tables as f32,
            best_of_same_headers: below_best(best_of_same_headers),
            entropy: self.entropy as f32,
            nodes: nodes.len() as f32,
            ten_in_row: counts.in_ten.row,
            ten_in_column: counts.in_ten.column,
            ten_in_table: counts.in_ten.table,
            ten_cells: (counts.of_kind)(NodeKind::Cell),
            ten_sentences: (counts.of_kind)(NodeKind::Passage),
            ten_row_headers: (counts.of_kind)(NodeKind::RowHeader),
            ten_column_headers: (counts.of_kind)(NodeKind::ColumnHeader),
            next_table_log_share: near.next_log_share,
            previous_table_log_share: near.previous_log_share,
            sentences_to_next_table: near.sentences_to_next,
            sentences_to_previous_table: near.sentences_to_previous,
            sentences_to_best_table: near.sentences_to_best,
        }
    }
}
