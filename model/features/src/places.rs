//! What a node is and where in its table it stands.

use tabsegnet_graph::{Node, NodeKind, TablePlace};

use crate::schema::flag;

crate::features! {
    /// Of a `node` whose table has so many rows and columns.
    pub(crate) struct NodePlace(node: &Node, size: Option<(usize, usize)>) {
        passage: flag(node.kind == NodeKind::Passage),
        caption: flag(node.kind == NodeKind::Caption),
        column_header: flag(node.kind == NodeKind::ColumnHeader),
        row_header: flag(node.kind == NodeKind::RowHeader),
        cell: flag(node.kind == NodeKind::Cell),
        row: in_table(node, size, |place, (rows, _)| place.row as f32 / (rows - 1).max(1) as f32),
        column: in_table(node, size, |place, (_, cols)| place.col as f32 / (cols - 1).max(1) as f32),
        second_column: in_table(node, size, |place, _| flag(place.col == 1)),
        last_row: in_table(node, size, |place, (rows, _)| flag(place.row + 1 == rows)),
        columns: in_table(node, size, |_, (_, cols)| cols.min(10) as f32 / 10.0),
        rows: in_table(node, size, |_, (rows, _)| rows.min(30) as f32 / 30.0),
        digit: flag(node.text.contains(|c: char| c.is_ascii_digit())),
    }
}

/// 0 of a node without a table.
fn in_table(node: &Node, size: Option<(usize, usize)>, of: impl Fn(&TablePlace, (usize, usize)) -> f32) -> f32 {
    node.place.as_ref().zip(size).map_or(0.0, |(place, size)| of(place, size))
}
