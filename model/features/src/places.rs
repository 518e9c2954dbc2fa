//! What a node is and where in its table it stands.

use tabsegnet_graph::{Node, NodeKind};

use crate::strings::Strings;

pub(crate) const NAMES: [&str; 12] = [
    "passage",
    "caption",
    "column_header",
    "row_header",
    "cell",
    "row",
    "column",
    "second_column",
    "last_row",
    "columns",
    "rows",
    "digit",
];

/// `[nodes, 12]`
pub(crate) fn places(nodes: &[Node], strings: &Strings) -> Vec<f32> {
    let mut size = vec![(1, 1); strings.tables];
    let tables = || strings.table.iter().map(|table| table.map(|table| table as usize));
    for (node, table) in nodes.iter().zip(tables()) {
        if let (Some(place), Some(table)) = (&node.place, table) {
            let (rows, cols) = &mut size[table];
            *rows = (*rows).max(place.row + place.rowspan);
            *cols = (*cols).max(place.col + place.colspan);
        }
    }
    let mut values = vec![0.0; nodes.len() * NAMES.len()];
    for ((node, table), out) in nodes.iter().zip(tables()).zip(values.chunks_exact_mut(NAMES.len())) {
        out[NodeKind::ALL.iter().position(|kind| *kind == node.kind).unwrap_or_default()] = 1.0;
        if let (Some(place), Some(table)) = (&node.place, table) {
            let (rows, cols) = size[table];
            out[5] = place.row as f32 / (rows - 1).max(1) as f32;
            out[6] = place.col as f32 / (cols - 1).max(1) as f32;
            out[7] = f32::from(u8::from(place.col == 1));
            out[8] = f32::from(u8::from(place.row + 1 == rows));
            out[9] = cols.min(10) as f32 / 10.0;
            out[10] = rows.min(30) as f32 / 30.0;
        }
        out[11] = f32::from(u8::from(node.text.contains(|c: char| c.is_ascii_digit())));
    }
    values
}
