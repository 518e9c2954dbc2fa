//! Measures header inference on HiTab's tables, whose header trees are the truth: for each data
//! cell, whether its row path and its column path are exactly the tree's. Only the texts and
//! merged regions are given to the inference.
//!
//! ```sh
//! cargo run --release -p tabsegnet-document --example headers_hitab -- FILE.tables.jsonl [--show N]
//! ```
//!
//! A tree names the place of a header once, its top-left one; how far a header reaches is in the
//! table's merged regions. "percent", merged over four columns below four years, stands in the tree
//! under the first year alone: it counts as a header of all four. The figure with the trees alone,
//! without merged regions, is printed too. Trees also hold titles over rows, as "goalkeepers" in a
//! list of players, without any row under them; the last figure leaves these out of the path.
//!
//! `--show N` prints the first N tables that are not all right.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, Result};
use serde::Deserialize;
use tabsegnet_document::model::{Cell, CellRole, Table};
use tabsegnet_document::{Region, table_of_texts};

#[derive(Deserialize)]
struct HitabTable {
    table_id: String,
    title: String,
    texts: Vec<Vec<String>>,
    merged_regions: Vec<HitabRegion>,
    top_root: HitabNode,
    left_root: HitabNode,
}

#[derive(Deserialize)]
struct HitabRegion {
    first_row: usize,
    last_row: usize,
    first_column: usize,
    last_column: usize,
}

#[derive(Deserialize)]
struct HitabNode {
    row_index: i64,
    column_index: i64,
    children: Vec<HitabNode>,
}

/// The texts from the root to each place along one axis; where a line has several nodes, the
/// innermost counts.
fn paths(root: &HitabNode, texts: &[Vec<String>], line: impl Fn(&HitabNode) -> i64) -> HashMap<usize, Vec<String>> {
    let mut found: HashMap<usize, Vec<String>> = HashMap::new();
    let mut open: Vec<(&HitabNode, Vec<String>)> = root.children.iter().map(|node| (node, Vec::new())).collect();
    while let Some((node, mut path)) = open.pop() {
        let (Ok(row), Ok(col)) = (usize::try_from(node.row_index), usize::try_from(node.column_index)) else {
            continue;
        };
        let text = texts.get(row).and_then(|row| row.get(col)).map_or("", |text| text.trim());
        if !text.is_empty() {
            path.push(text.to_owned());
        }
        open.extend(node.children.iter().map(|child| (child, path.clone())));
        if let Ok(line) = usize::try_from(line(node)) {
            let best = found.entry(line).or_default();
            if path.len() > best.len() {
                *best = path;
            }
        }
    }
    found
}

/// The column paths with each header under all that its merged region spans.
fn with_regions(
    table: &HitabTable,
    paths: &HashMap<usize, Vec<String>>,
    merged: &[Region],
) -> HashMap<usize, Vec<String>> {
    let mut places = Vec::new();
    let mut open: Vec<&HitabNode> = table.top_root.children.iter().collect();
    while let Some(node) = open.pop() {
        open.extend(&node.children);
        let (Ok(row), Ok(col)) = (usize::try_from(node.row_index), usize::try_from(node.column_index)) else {
            continue;
        };
        let wide = |region: &&Region| (region.first_row, region.first_col) == (row, col) && region.last_col > col;
        if let Some(region) = merged.iter().find(wide) {
            places.push((row, col, region.last_col));
        }
    }
    places.sort_unstable();
    let mut paths = paths.clone();
    for (row, first, last) in places {
        let text = table.texts.get(row).and_then(|row| row.get(first)).map_or("", |text| text.trim());
        for col in first + 1..=last {
            let Some(path) = paths.get_mut(&col) else { continue };
            if !text.is_empty() && !path.iter().any(|above| above == text) {
                path.push(text.to_owned());
            }
        }
    }
    paths
}

/// Rows with nothing but a title that the tree lets head no row.
fn titles_of_nothing(root: &HitabNode, texts: &[Vec<String>]) -> HashSet<i64> {
    let mut heads = HashSet::new();
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        if node.children.iter().any(|child| child.row_index != node.row_index) {
            heads.insert(node.row_index);
        }
        open.extend(&node.children);
    }
    let alone = |row: &[String]| row.iter().filter(|text| !text.trim().is_empty()).count() == 1;
    let titles = (0..).zip(texts).filter(|(_, row)| alone(row)).map(|(index, _)| index);
    titles.filter(|row| !heads.contains(row)).collect()
}

fn texts_of(table: &Table, cells: &[usize]) -> Vec<String> {
    let texts = cells.iter().map(|&index| table.cells()[index].text.trim().to_owned());
    texts.filter(|text| !text.is_empty()).collect()
}

#[derive(Default)]
struct Counts {
    cells: usize,
    rows_right: usize,
    columns_right: usize,
    both_right: usize,
    /// With the trees alone as the truth, without merged regions.
    right_by_trees_alone: usize,
    /// And with titles that head nothing in the tree right over the rows below them.
    right_but_for_gaps: usize,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("expected FILE.tables.jsonl")?;
    let show: usize = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--show"), Some(count)) => count.parse().context("--show takes a number")?,
        _ => 0,
    };
    let text = std::fs::read_to_string(&file).with_context(|| format!("{file}: could not be read"))?;
    let (mut all, mut tables, mut whole, mut shown) = (Counts::default(), 0, 0, 0);
    for (line, text) in text.lines().enumerate() {
        let source: HitabTable = serde_json::from_str(text).with_context(|| format!("{file}: line {}", line + 1))?;
        let merged: Vec<Region> = source
            .merged_regions
            .iter()
            .map(|region| Region {
                first_row: region.first_row,
                last_row: region.last_row,
                first_col: region.first_column,
                last_col: region.last_column,
            })
            .collect();
        let (table, why) = table_of_texts(&source.texts, &merged)?;
        let row_paths = paths(&source.left_root, &source.texts, |node| node.row_index);
        let trees_alone = paths(&source.top_root, &source.texts, |node| node.column_index);
        let column_paths = with_regions(&source, &trees_alone, &merged);
        let idle = titles_of_nothing(&source.left_root, &source.texts);
        let mut counts = Counts::default();
        let mut misses = Vec::new();
        for cell in table.cells() {
            let (Some(rows), Some(columns)) = (row_paths.get(&cell.row), column_paths.get(&cell.col)) else { continue };
            // A header in the truth is no data cell, whatever it was taken for.
            if cell.text.trim().is_empty() || rows.contains(&cell.text) || columns.contains(&cell.text) {
                continue;
            }
            let data = table.role(cell) == CellRole::Data;
            // The trees speak of single positions: of a merged cell its top-left one.
            let position = Cell { rowspan: 1, colspan: 1, ..cell.clone() };
            let row_headers = table.row_headers_of(&position);
            let found_rows = texts_of(&table, &row_headers);
            let is_idle = |&index: &usize| i64::try_from(table.cells()[index].row).is_ok_and(|row| idle.contains(&row));
            let headed: Vec<usize> = row_headers.iter().copied().filter(|index| !is_idle(index)).collect();
            let headers = table.column_headers_of(&position);
            let found_columns = texts_of(&table, &headers);
            let (row_right, column_right) = (data && found_rows == *rows, data && found_columns == *columns);
            counts.cells += 1;
            counts.rows_right += usize::from(row_right);
            counts.columns_right += usize::from(column_right);
            counts.both_right += usize::from(row_right && column_right);
            let tree_right = data && trees_alone.get(&cell.col) == Some(&found_columns);
            let row_fits = row_right || (data && texts_of(&table, &headed) == *rows);
            counts.right_by_trees_alone += usize::from(row_right && tree_right);
            counts.right_but_for_gaps += usize::from(row_fits && column_right);
            if !(row_right && column_right) && misses.len() < 3 {
                misses.push(format!("  {}: {rows:?} {columns:?}, found {found_rows:?} {found_columns:?}", cell.text));
            }
        }
        tables += 1;
        whole += usize::from(misses.is_empty());
        if !misses.is_empty() && shown < show {
            shown += 1;
            println!("== {} {} ({why}), {} of {}", source.table_id, source.title, counts.both_right, counts.cells);
            for row in source.texts.iter().take(14) {
                println!("    {row:?}");
            }
            misses.iter().for_each(|miss| println!("{miss}"));
        }
        all.cells += counts.cells;
        all.rows_right += counts.rows_right;
        all.columns_right += counts.columns_right;
        all.both_right += counts.both_right;
        all.right_by_trees_alone += counts.right_by_trees_alone;
        all.right_but_for_gaps += counts.right_but_for_gaps;
    }
    let share = |count: usize| 100.0 * count as f64 / all.cells.max(1) as f64;
    println!(
        "{tables} tables, {whole} all right; {} cells: row path {:.1} %, column path {:.1} %, both {:.1} %, \
         by the trees without merged regions {:.1} %, with titles that the tree lets head nothing {:.1} %",
        all.cells,
        share(all.rows_right),
        share(all.columns_right),
        share(all.both_right),
        share(all.right_by_trees_alone),
        share(all.right_but_for_gaps)
    );
    Ok(())
}
