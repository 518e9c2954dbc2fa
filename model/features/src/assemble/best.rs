//! The best of a document.

use std::collections::BTreeSet;

use crate::compare::{COLUMNS, Column, Comparison};
use crate::strings::{Parts, Strings};

/// Greatest values.
pub(super) struct Best {
    pub(super) of_document: Parts<Comparison>,
    /// For each table.
    pub(super) of_table: Vec<Paths<Comparison>>,
}

/// One of the row path and the column path.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths<T> {
    pub(super) row: T,
    pub(super) column: T,
}

impl Best {
    /// Of the distinct strings of `places` as they are `compared`, with the cosines `[nodes]` of whole nodes, which may
    /// be empty.
    pub(super) fn of(places: &Distinct, compared: &[Comparison], cosines: &[f32]) -> Self {
        let best = |strings: &Vec<u32>| {
            let mut best = [f32::NEG_INFINITY; COLUMNS];
            for &string in strings {
                let values = &compared[string as usize];
                best.iter_mut().zip(values).for_each(|(best, value)| *best = best.max(*value));
            }
            best
        };
        let mut of_document = places.of_document.each_ref().map(best);
        if !cosines.is_empty() {
            of_document.own[Column::Cosine as usize] = cosines.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        }
        let of_table = |Paths { row, column }: &Paths<Vec<u32>>| Paths { row: best(row), column: best(column) };
        Self { of_document, of_table: places.of_table.iter().map(of_table).collect() }
    }
}

/// The distinct strings that stand somewhere.
#[derive(Debug, Clone)]
pub(super) struct Distinct {
    of_document: Parts<Vec<u32>>,
    /// For each table.
    of_table: Vec<Paths<Vec<u32>>>,
}

impl Distinct {
    pub(super) fn new(strings: &Strings) -> Self {
        let mut of_document: Parts<BTreeSet<u32>> = Parts::default();
        let mut of_table: Vec<Paths<BTreeSet<u32>>> = vec![Paths::default(); strings.tables];
        for (node, table) in strings.nodes.iter().zip(strings.tables_of_nodes()) {
            of_document.own.insert(node.parts.own);
            of_document.row.insert(node.parts.row);
            of_document.column.insert(node.parts.column);
            of_document.table.insert(node.parts.table);
            if let Some(table) = table {
                of_table[table].row.insert(node.parts.row);
                of_table[table].column.insert(node.parts.column);
            }
        }
        let list = |set: BTreeSet<u32>| set.into_iter().collect();
        let of_table = of_table.into_iter().map(|Paths { row, column }| Paths { row: list(row), column: list(column) });
        Self { of_table: of_table.collect(), of_document: of_document.map(list) }
    }
}
