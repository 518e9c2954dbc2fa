//! A sheet's cells as tables and lines of text: what blank rows and columns set apart.

use std::collections::BTreeSet;

use super::Cells;
use crate::builder::Builder;
use crate::grid::{Grid, GridCell};
use crate::kind::Kind;
use crate::locations::{Location, TableLocation, letters};
use crate::options::Limits;
use crate::texts::Region;

/// Rows and columns of a block, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Block {
    top: u32,
    bottom: u32,
    left: u32,
    right: u32,
}

/// Reads one sheet.
pub(super) fn read(sheet: &str, mut cells: Cells, merged: Vec<Region>, limits: &Limits, builder: &mut Builder) {
    for region in merged {
        let at = (region.first_row as u32, region.first_col as u32);
        if let Some(cell) = cells.get_mut(&at) {
            cell.rowspan = region.last_row.saturating_sub(region.first_row) + 1;
            cell.colspan = region.last_col.saturating_sub(region.first_col) + 1;
        }
    }
    if cells.is_empty() {
        return;
    }
    let at = |(row, col): (u32, u32)| Location::Cell { sheet: sheet.to_owned(), row, col };
    // The sheet's name heads what is on it.
    builder.at = Some(at((0, 0)));
    builder.heading(sheet, 1);
    for block in blocks(&cells) {
        let inside: Vec<(&(u32, u32), _)> = cells
            .range((block.top, 0)..=(block.bottom, u32::MAX))
            .filter(|((_, col), _)| (block.left..=block.right).contains(col))
            .collect();
        if let [(place, only)] = inside[..] {
            builder.at = Some(at(*place));
            match only.style.bold && only.text.len() <= 160 {
                true => builder.heading(&only.text, 2),
                false => drop(builder.paragraph::<()>(&only.text, &[])),
            }
            continue;
        }
        if block.left == block.right {
            inside.iter().for_each(|(place, cell)| {
                builder.at = Some(at(**place));
                builder.paragraph::<()>(&cell.text, &[]);
            });
            continue;
        }
        let place = format!(
            "sheet {sheet:?}, {}{}:{}{}",
            letters(block.left),
            block.top + 1,
            letters(block.right),
            block.bottom + 1
        );
        // Rows and columns without a text take no place in the grid.
        let rows: Vec<u32> = inside.iter().map(|((row, _), _)| *row).collect::<BTreeSet<_>>().into_iter().collect();
        let cols: Vec<u32> = inside.iter().map(|((_, col), _)| *col).collect::<BTreeSet<_>>().into_iter().collect();
        let fit = limits.max_cells_per_table / cols.len().max(1);
        if fit < rows.len() {
            let of = rows.len();
            builder.cut(fit, Some(of), format!("{place}: the table is cut off after {fit} of {of} rows"));
        }
        let height = rows.len().min(fit);
        let grid_cells = inside.iter().filter_map(|((row, col), cell)| {
            let (at_row, at_col) = (rows.binary_search(row).ok()?, cols.binary_search(col).ok()?);
            let mut cell = (*cell).clone();
            let last_row = row.saturating_add(u32::try_from(cell.rowspan).unwrap_or(u32::MAX));
            let last_col = col.saturating_add(u32::try_from(cell.colspan).unwrap_or(u32::MAX));
            cell.rowspan = rows.partition_point(|row| *row < last_row) - at_row;
            cell.colspan = cols.partition_point(|col| *col < last_col) - at_col;
            (at_row < height).then(|| GridCell::new(at_row, at_col, cell))
        });
        let grid = Grid::from_cells(height, cols.len(), grid_cells.collect());
        let location = TableLocation { first: at((block.top, block.left)), rows, cols };
        builder.table(grid, "", place, Some(location));
    }
}

/// Blocks from top to bottom, those side by side from the left.
fn blocks(cells: &Cells) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for band in bands(cells) {
        for block in columns(cells, band) {
            match blocks.last_mut() {
                Some(above) if continues(cells, above, &block) => above.bottom = block.bottom,
                _ => blocks.push(block),
            }
        }
    }
    blocks
}

/// Runs of rows without a blank one between them.
fn bands(cells: &Cells) -> Vec<(u32, u32)> {
    let mut bands: Vec<(u32, u32)> = Vec::new();
    for (&(row, _), cell) in cells {
        let bottom = row.saturating_add(u32::try_from(cell.rowspan.max(1) - 1).unwrap_or(0));
        match bands.last_mut() {
            Some((_, last)) if row <= last.saturating_add(1) => *last = (*last).max(bottom),
            _ => bands.push((row, bottom)),
        }
    }
    bands
}

/// Parts of a band that blank columns set apart. A part of one column is no table of its own but
/// belongs to what is beside it: narrow blank columns only make room.
fn columns(cells: &Cells, (top, bottom): (u32, u32)) -> Vec<Block> {
    let mut used: BTreeSet<u32> = BTreeSet::new();
    for ((_, col), cell) in cells.range((top, 0)..=(bottom, u32::MAX)) {
        let right = col.saturating_add(u32::try_from(cell.colspan.clamp(1, 20_000) - 1).unwrap_or(0));
        used.extend(*col..=right);
    }
    let mut parts: Vec<Block> = Vec::new();
    for col in used {
        match parts.last_mut() {
            Some(part) if col == part.right + 1 => part.right = col,
            _ => parts.push(Block { top, bottom, left: col, right: col }),
        }
    }
    // Of each block whether it is of such parts alone, which go on to the next one.
    let mut joined: Vec<(Block, bool)> = Vec::new();
    for part in parts {
        let narrow = part.left == part.right;
        match joined.last_mut() {
            Some((block, narrow_alone)) if narrow || *narrow_alone => {
                block.right = part.right;
                *narrow_alone &= narrow;
            }
            _ => joined.push((part, narrow)),
        }
    }
    joined.into_iter().map(|(block, _)| block).collect()
}

/// Whether a block goes on after a blank row: within the same columns, and without column headers
/// of its own.
fn continues(cells: &Cells, above: &Block, below: &Block) -> bool {
    let near = below.top <= above.bottom.saturating_add(2);
    let inside = above.left <= below.left && below.right <= above.right && above.left < above.right;
    let row = |row: u32| cells.range((row, below.left)..=(row, below.right));
    // A title stands before the column headers.
    let first = (below.top..=below.bottom).find(|&of| row(of).count() > 1).unwrap_or(below.top);
    let kinds: Vec<Kind> = row(first).map(|(_, cell)| Kind::of(&cell.text)).collect();
    let has_name = row(first).next().is_some_and(|((_, col), _)| *col == below.left);
    let words = kinds.iter().skip(usize::from(has_name)).filter(|kind| matches!(kind, Kind::Text | Kind::Year)).count();
    let alone = below.top == below.bottom && kinds.len() == 1;
    near && inside && words == 0 && !alone && kinds.len() + 2 > (below.right - below.left) as usize / 2
}
