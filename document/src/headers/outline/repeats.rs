//! What names that come again say: "men" and "women" under each of several provinces.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::label;
use super::totals::MOST_ROWS;
use crate::grid::Grid;
use crate::headers::rows::is_unit_row;

/// Titles that come once and head others that come again under each of them. None where indents
/// tell the levels.
pub(super) fn outer_titles(grid: &Grid, titles: &[bool]) -> HashSet<usize> {
    if grid.rows > MOST_ROWS {
        return HashSet::new();
    }
    let rows: Vec<usize> = (0..grid.rows).filter(|&row| titles[row] && !is_unit_row(grid, row)).collect();
    let indent = |row: usize| label(grid, row).map_or(0.0, |cell| cell.style.indent);
    if rows.windows(2).any(|pair| indent(pair[0]) != indent(pair[1])) {
        return HashSet::new();
    }
    let names: Vec<String> = rows.iter().map(|&row| name(grid, row)).collect();
    let times = count(&names);
    let again = |name: &String| times.get(name.as_str()).is_some_and(|&times| times > 1);
    let mut outer = HashSet::new();
    let mut once = None;
    for (&row, name) in rows.iter().zip(&names) {
        if !again(name) {
            once = Some(row);
        } else if let Some(row) = once.take() {
            outer.insert(row);
        }
    }
    // Under each outer title a name comes once, and none comes before the first.
    let mut part = 0;
    let mut seen = HashSet::new();
    for (row, name) in rows.iter().zip(&names) {
        part += usize::from(outer.contains(row));
        if again(name) && (part == 0 || !seen.insert((part, name))) {
            return HashSet::new();
        }
    }
    if outer.len() < 2 { HashSet::new() } else { outer }
}

/// Puts rows whose names come again after each of several names that come once under those: "all,
/// physics, life sciences; women, physics, life sciences".
pub(super) fn by_names(grid: &Grid, rows: Range<usize>, parents: &mut [Option<usize>]) {
    let names: Vec<String> = rows.clone().map(|row| name(grid, row)).collect();
    let times = count(&names);
    let mut groups: Vec<(usize, Vec<(usize, &str)>)> = Vec::new();
    for (row, name) in rows.zip(&names) {
        if times.get(name.as_str()) == Some(&1) {
            groups.push((row, Vec::new()));
        } else if let Some((_, members)) = groups.last_mut() {
            members.push((row, name));
        } else {
            return;
        }
    }
    groups.retain(|(_, members)| !members.is_empty());
    let sets: Vec<HashSet<&str>> =
        groups.iter().map(|(_, members)| members.iter().map(|&(_, name)| name).collect()).collect();
    let Some(first) = sets.first().filter(|first| sets.len() > 1 && first.len() > 1) else { return };
    let alike = sets.iter().all(|set| set.intersection(first).count() * 2 >= first.len());
    let single = sets.iter().zip(&groups).all(|(set, (_, members))| set.len() == members.len());
    if !(alike && single) {
        return;
    }
    for (head, members) in groups {
        for (row, _) in members {
            if parents[row] == parents[head] {
                parents[row] = Some(head);
            }
        }
    }
}

fn count(names: &[String]) -> HashMap<&str, usize> {
    let mut times = HashMap::new();
    for name in names {
        *times.entry(name.as_str()).or_insert(0) += 1;
    }
    times
}

fn name(grid: &Grid, row: usize) -> String {
    label(grid, row).map_or_else(String::new, |cell| cell.text.trim().to_lowercase())
}
