//! HiTab's header trees, and what they say of a table's rows and columns.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;
use tabsegnet_document::Region;

/// A header with the headers below it. The root, and what holds for a place that has no header of
/// its own, has negative indices.
#[derive(Deserialize)]
pub(super) struct HeaderNode {
    row_index: i64,
    column_index: i64,
    #[serde(default)]
    children: Vec<HeaderNode>,
}

/// Row and column.
type Place = (usize, usize);

impl HeaderNode {
    /// The places of the tree inside a table, each with the place it stands under, parents first.
    fn places(&self, inside: impl Fn(Place) -> bool) -> Vec<(Place, Option<Place>)> {
        let mut places = Vec::new();
        let mut open: Vec<(&Self, Option<Place>)> = vec![(self, None)];
        while let Some((node, parent)) = open.pop() {
            let place = usize::try_from(node.row_index).ok().zip(usize::try_from(node.column_index).ok());
            let place = place.filter(|&place| inside(place));
            if let Some(place) = place {
                places.push((place, parent));
            }
            open.extend(node.children.iter().rev().map(|child| (child, place.or(parent))));
        }
        places
    }
}

/// What the trees say.
pub(super) struct Headers {
    /// Header rows.
    pub rows: usize,
    /// Header columns.
    pub cols: usize,
    /// For each row the earlier row whose header, in the same column, it stands under.
    pub row_parents: Vec<Option<usize>>,
    /// What headers cover beyond their own cell because they have children there, where the table
    /// leaves it blank and no merged region says so.
    pub spans: Vec<Region>,
}

impl Headers {
    pub fn new(texts: &[Vec<String>], merged: &[Region], top: &HeaderNode, left: &HeaderNode) -> Self {
        let height = texts.len();
        let width = texts.iter().map(Vec::len).max().unwrap_or(0);
        let inside = |(row, col): Place| row < height && col < width;
        let (top, left) = (top.places(inside), left.places(inside));
        let mut row_parents = vec![None; height];
        for &((row, col), parent) in &left {
            if let Some((parent_row, parent_col)) = parent
                && parent_col >= col
                && parent_row < row
            {
                row_parents[row] = Some(parent_row);
            }
        }
        let over_columns =
            reach(&top, |place| place.0).into_iter().map(|((row, col), last)| ((row, col), (row, last.1)));
        let over_rows = reach(&left, |place| place.1).into_iter().map(|((row, col), last)| ((row, col), (last.0, col)));
        let spans = over_columns
            .chain(over_rows)
            .map(|((first_row, first_col), (last_row, last_col))| Region { first_row, last_row, first_col, last_col })
            .filter(|span| (span.first_row, span.first_col) != (span.last_row, span.last_col))
            .filter(|span| is_free(texts, merged, span));
        Self {
            rows: top.iter().map(|((row, _), _)| row + 1).max().unwrap_or(0),
            cols: header_columns(&left),
            row_parents,
            spans: spans.collect(),
        }
    }
}

/// How many columns the row headers take. What stands over data columns ("percent") and has the
/// names of the rows below it under it is a title among the rows, not a row header.
fn header_columns(left: &[(Place, Option<Place>)]) -> usize {
    let over_data: HashSet<Place> =
        left.iter().filter_map(|&((_, col), parent)| parent.filter(|&(_, parent_col)| parent_col > col)).collect();
    let headers = left.iter().filter(|(place, _)| !over_data.contains(place));
    headers.map(|((_, col), _)| col + 1).max().unwrap_or(0)
}

/// Of the headers that have children on a deeper level, the last row and the last column that
/// anything below them is in.
fn reach(places: &[(Place, Option<Place>)], level: impl Fn(Place) -> usize) -> BTreeMap<Place, Place> {
    let mut extent: HashMap<Place, Place> = HashMap::new();
    let mut reach = BTreeMap::new();
    let farther = |a: Place, b: Place| (a.0.max(b.0), a.1.max(b.1));
    for &(place, parent) in places.iter().rev() {
        let Some(parent) = parent else { continue };
        let below = extent.get(&place).copied().unwrap_or(place);
        let whole = extent.entry(parent).or_insert(parent);
        *whole = farther(*whole, below);
        if level(place) > level(parent) {
            let own = reach.entry(parent).or_insert(parent);
            *own = farther(*own, below);
        }
    }
    reach
}

/// Whether a span has no text but its first cell's, and touches no merged region.
fn is_free(texts: &[Vec<String>], merged: &[Region], span: &Region) -> bool {
    let blank =
        |row: usize, col: usize| texts.get(row).and_then(|row| row.get(col)).is_none_or(|text| text.trim().is_empty());
    let cells =
        || (span.first_row..=span.last_row).flat_map(|row| (span.first_col..=span.last_col).map(move |col| (row, col)));
    let touches = merged.iter().any(|region| {
        region.first_row <= span.last_row
            && span.first_row <= region.last_row
            && region.first_col <= span.last_col
            && span.first_col <= region.last_col
    });
    !touches && cells().skip(1).all(|(row, col)| blank(row, col))
}
