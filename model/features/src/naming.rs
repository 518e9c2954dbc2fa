//! What rows and the passages that they name have of a question together.

mod links;

use std::collections::HashMap;

use tabsegnet_graph::{Node, NodeKind};

use crate::phrases::idf;
use crate::question::Question;
use crate::schema::Schema as _;
use crate::stems::stems;

crate::blocks! {
    /// Of a node: as it is, and less the best of the document.
    pub(crate) struct NodeNaming {
        own: Named = "{}",
        of_document: Named = "{}.of_document",
    }
}

crate::features! {
    /// Of a passage and the best row that names it, or of a row and what it names. Shares are of the question's stems by idf;
    /// those of rare stems count a stem less the more rows of the table, or passages that it names, have it.
    pub(crate) struct Named {
        /// ln(1 + the rows that name the passage, or the passages that the row names).
        count,
        /// What the row holds.
        row,
        rare_row,
        rare_row_below_best,
        /// What the row holds with this passage; of a cell with the one that it names itself and that adds most.
        with_passage,
        /// That less what the row alone holds.
        gain,
        /// What the row holds with the other passages that it names.
        with_others,
        /// What the row holds with all passages that it names.
        rare_with_passages,
        rare_with_passages_below_best,
        /// Of the passage, among those that the table names.
        rare_passage,
        /// What the headers over the cell that names it hold.
        header,
    }
}

/// Stems of a question that are looked at: bits of a mask.
const STEMS: usize = 64;

/// Which passages the rows of a document name.
#[derive(Debug, Clone, Default)]
pub struct Naming {
    vocabulary: Vocabulary,
    /// Those that name a passage.
    tables: Vec<Vec<Row>>,
    /// Of each cell and row header of theirs the place of its table and of its row.
    rows: HashMap<u32, (usize, usize)>,
    /// Those that are named, by node.
    passages: HashMap<u32, Passage>,
    /// Of each node that names passages these.
    passages_of: HashMap<u32, Vec<u32>>,
    /// Of each column by its table's number and its own all passages that it names.
    passages_of_column: HashMap<(usize, usize), Vec<u32>>,
}

/// Stems by number.
#[derive(Debug, Clone, Default)]
struct Vocabulary {
    numbers: HashMap<String, u32>,
    /// Of each stem over rows and passages ([`idf`]).
    idf: Vec<f32>,
}

#[derive(Debug, Clone, Default)]
struct Row {
    /// Distinct, rising.
    stems: Vec<u32>,
    /// Each once.
    passages: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct Passage {
    /// Distinct, rising.
    stems: Vec<u32>,
    /// The same of the headers over the cells that name it.
    headers: Vec<u32>,
    /// The nodes that name it.
    named_by: Vec<u32>,
    /// Their columns, as in [`Naming::passages_of_column`].
    columns: Vec<(usize, usize)>,
}

impl Vocabulary {
    /// Adds a text's stems to some.
    fn add(&mut self, text: &str, into: &mut Vec<u32>) {
        for stem in stems(text) {
            let next = self.numbers.len() as u32;
            into.push(*self.numbers.entry(stem).or_insert(next));
        }
        into.sort_unstable();
        into.dedup();
    }

    fn weigh<'a>(&mut self, units: impl Iterator<Item = &'a [u32]>) {
        let (mut holding, mut count) = (vec![0; self.numbers.len()], 0);
        for stems in units.filter(|stems| !stems.is_empty()) {
            count += 1;
            stems.iter().for_each(|stem| holding[*stem as usize] += 1);
        }
        self.idf = holding.into_iter().map(|holding| idf(holding, count)).collect();
    }
}

impl Naming {
    pub(crate) fn new(nodes: &[Node]) -> Self {
        let mut of = Self::default();
        let mut tables: HashMap<usize, usize> = HashMap::new();
        for (number, passage) in links::links(nodes) {
            let Some(place) = &nodes[number as usize].place else { continue };
            let next = tables.len();
            tables.entry(place.table).or_insert(next);
            of.passages_of.entry(number).or_default().push(passage);
            let named = of.passages.entry(passage).or_default();
            named.named_by.push(number);
            of.vocabulary.add(&place.column_path, &mut named.headers);
            let column = (place.table, place.col);
            if !named.columns.contains(&column) {
                named.columns.push(column);
                of.passages_of_column.entry(column).or_default().push(passage);
            }
        }
        of.tables = vec![Vec::new(); tables.len()];
        for (number, node) in (0..).zip(nodes) {
            if let Some(passage) = of.passages.get_mut(&number) {
                of.vocabulary.add(&node.text, &mut passage.stems);
            }
            let place = node.place.as_ref().filter(|_| matches!(node.kind, NodeKind::Cell | NodeKind::RowHeader));
            let Some((place, &table)) = place.and_then(|place| Some((place, tables.get(&place.table)?))) else {
                continue;
            };
            let rows = &mut of.tables[table];
            if rows.len() <= place.row {
                rows.resize_with(place.row + 1, Row::default);
            }
            let row = &mut rows[place.row];
            of.vocabulary.add(&node.text, &mut row.stems);
            for passage in of.passages_of.get(&number).into_iter().flatten() {
                if !row.passages.contains(passage) {
                    row.passages.push(*passage);
                }
            }
            of.rows.insert(number, (table, place.row));
        }
        let of_rows = of.tables.iter().flatten().map(|row| row.stems.as_slice());
        of.vocabulary.weigh(of_rows.chain(of.passages.values().map(|passage| passage.stems.as_slice())));
        of
    }

    /// The passages that a cell or row header names, by node.
    pub fn passages_of(&self, node: u32) -> &[u32] {
        self.passages_of.get(&node).map_or(&[], Vec::as_slice)
    }

    /// The cells and row headers that name a passage.
    pub fn named_by(&self, passage: u32) -> &[u32] {
        self.passages.get(&passage).map_or(&[], |passage| passage.named_by.as_slice())
    }

    /// All passages that the row of a node names.
    pub fn passages_of_row(&self, node: u32) -> &[u32] {
        self.rows.get(&node).map_or(&[], |(table, row)| self.tables[*table][*row].passages.as_slice())
    }

    /// Of each column whose cells name a passage all that it names.
    pub fn columns_of(&self, passage: u32) -> impl Iterator<Item = &[u32]> {
        let columns = self.passages.get(&passage).map_or(&[][..], |passage| passage.columns.as_slice());
        columns.iter().filter_map(|column| self.passages_of_column.get(column)).map(Vec::as_slice)
    }

    /// Of each of `nodes` nodes; 0 of those of tables that name nothing and of passages that are not named.
    pub(crate) fn of_question(&self, question: &Question, nodes: usize) -> Vec<NodeNaming> {
        let wanted = Wanted::new(self, question);
        let passages: HashMap<u32, u64> =
            self.passages.iter().map(|(node, passage)| (*node, wanted.mask(&passage.stems))).collect();
        let seen: Vec<Seen> = self.tables.iter().map(|rows| Seen::new(rows, &wanted, &passages)).collect();
        let mut own = vec![Named::default(); nodes];
        for (&node, &(table, row)) in &self.rows {
            let (seen, of_row) = (&seen[table], &self.tables[table][row]);
            let mask = seen.rows[row];
            let with = |passage: &u32| wanted.share(mask | passages[passage]);
            let alone = wanted.share(mask);
            let with_passage = self.passages_of(node).iter().map(with).fold(alone, f32::max);
            let mut found = seen.of_row(row, &wanted);
            found.count = (of_row.passages.len() as f32).ln_1p();
            found.with_passage = with_passage;
            found.gain = with_passage - alone;
            found.with_others = wanted.share(seen.with_passages[row]);
            own[node as usize] = found;
        }
        for (&node, passage) in &self.passages {
            let mask = passages[&node];
            let mut best: Option<(f32, Named)> = None;
            for (table, row) in passage.named_by.iter().filter_map(|node| self.rows.get(node)) {
                let (seen, of_row) = (&seen[*table], &self.tables[*table][*row]);
                let of_cells = seen.rows[*row];
                let mut found = seen.of_row(*row, &wanted);
                found.with_passage = wanted.share(of_cells | mask);
                let goodness = found.with_passage + found.rare_row;
                if best.is_some_and(|(best, _)| best >= goodness) {
                    continue;
                }
                let others = of_row.passages.iter().filter(|other| **other != node);
                let others = others.fold(of_cells, |all, other| all | passages[other]);
                found.gain = found.with_passage - found.row;
                found.with_others = wanted.share(others);
                found.rare_passage = weight(&seen.rarity_of_passages, mask) / wanted.all;
                best = Some((goodness, found));
            }
            if let Some((_, mut found)) = best {
                found.count = (passage.named_by.len() as f32).ln_1p();
                found.header = wanted.share(wanted.mask(&passage.headers));
                own[node as usize] = found;
            }
        }
        let greatest = Named::greatest(own.iter().copied());
        own.into_iter().map(|own| NodeNaming { own, of_document: own.below(greatest) }).collect()
    }
}

/// A question's stems as bits, with their idf.
struct Wanted {
    bits: Vec<(u32, usize)>,
    weights: Vec<f32>,
    all: f32,
}

impl Wanted {
    fn new(naming: &Naming, question: &Question) -> Self {
        let mut bits: Vec<(u32, usize)> = Vec::new();
        let mut weights = Vec::new();
        for stem in question.stems() {
            let Some(&number) = naming.vocabulary.numbers.get(stem) else { continue };
            if weights.len() < STEMS && bits.iter().all(|(known, _)| *known != number) {
                bits.push((number, weights.len()));
                weights.push(naming.vocabulary.idf[number as usize]);
            }
        }
        bits.sort_unstable();
        let all: f32 = weights.iter().sum();
        Self { bits, weights, all: if all > 0.0 { all } else { 1.0 } }
    }

    fn mask(&self, stems: &[u32]) -> u64 {
        let bit = |stem: &u32| self.bits.binary_search_by_key(stem, |(known, _)| *known).ok();
        stems.iter().filter_map(bit).fold(0, |mask, at| mask | 1 << self.bits[at].1)
    }

    fn share(&self, mask: u64) -> f32 {
        weight(&self.weights, mask) / self.all
    }
}

fn weight(weights: &[f32], mask: u64) -> f32 {
    weights.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, weight)| weight).sum()
}

/// What a table's rows have of a question.
struct Seen {
    rows: Vec<u64>,
    with_passages: Vec<u64>,
    rarity: Vec<f32>,
    rarity_with_passages: Vec<f32>,
    rarity_of_passages: Vec<f32>,
    best: f32,
    best_with_passages: f32,
}

impl Seen {
    fn new(rows: &[Row], wanted: &Wanted, passages: &HashMap<u32, u64>) -> Self {
        let masks: Vec<u64> = rows.iter().map(|row| wanted.mask(&row.stems)).collect();
        let of_passages = |row: &Row| row.passages.iter().fold(0, |all, passage| all | passages[passage]);
        let with_passages: Vec<u64> = rows.iter().zip(&masks).map(|(row, mask)| mask | of_passages(row)).collect();
        let mut all: Vec<u32> = rows.iter().flat_map(|row| row.passages.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        let of_passages: Vec<u64> = all.iter().map(|passage| passages[passage]).collect();
        let rarity = |masks: &[u64]| -> Vec<f32> {
            let count = masks.len().max(1) as f32;
            let having = |bit: usize| masks.iter().filter(|mask| *mask >> bit & 1 == 1).count() as f32;
            wanted.weights.iter().enumerate().map(|(bit, weight)| weight * (1.0 - having(bit) / count)).collect()
        };
        let best = |weights: &[f32], masks: &[u64]| masks.iter().map(|mask| weight(weights, *mask)).fold(0.0, f32::max);
        let (rare, rare_with) = (rarity(&masks), rarity(&with_passages));
        Self {
            best: best(&rare, &masks),
            best_with_passages: best(&rare_with, &with_passages),
            rarity_of_passages: rarity(&of_passages),
            rarity: rare,
            rarity_with_passages: rare_with,
            rows: masks,
            with_passages,
        }
    }

    fn of_row(&self, row: usize, wanted: &Wanted) -> Named {
        let (mask, with) = (self.rows[row], self.with_passages[row]);
        let (rare, rare_with) = (weight(&self.rarity, mask), weight(&self.rarity_with_passages, with));
        Named {
            row: wanted.share(mask),
            rare_row: rare / wanted.all,
            rare_row_below_best: (rare - self.best) / wanted.all,
            rare_with_passages: rare_with / wanted.all,
            rare_with_passages_below_best: (rare_with - self.best_with_passages) / wanted.all,
            ..Named::default()
        }
    }
}
