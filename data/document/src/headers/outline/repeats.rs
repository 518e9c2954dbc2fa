//! What names that come again say: "men" and "women" under each of several provinces.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::label;
use super::totals::MOST_ROWS;
use crate::grid::Grid;
use crate::headers::rows::is_unit_row;

/// Titles, or rows with numbers, that come once and head titles that come again under each of them.
/// None where indents tell the levels.
pub(super) fn outer_titles(grid: &Grid, header_rows: usize, titles: &[bool]) -> HashSet<usize> {
    if grid.rows > MOST_ROWS {
        return HashSet::new();
    }
    let rows: Vec<usize> = (0..grid.rows).filter(|&row| titles[row] && !is_unit_row(grid, row)).collect();
    let indent = |row: usize| label(grid, row).map_or(0.0, |cell| cell.style.indent);
    if rows.windows(2).any(|pair| indent(pair[0]) != indent(pair[1])) {
        return HashSet::new();
    }
    let named = named_outer(grid, header_rows, &rows);
    if !named.is_empty() {
        return named;
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

/// Rows with numbers that come once, each right above the same row of titles: "good health: sex,
/// age; good sleep: sex, age".
fn named_outer(grid: &Grid, header_rows: usize, titles: &[usize]) -> HashSet<usize> {
    let names: Vec<String> = titles.iter().map(|&row| name(grid, row)).collect();
    let Some(first) = names.first() else { return HashSet::new() };
    let starts: Vec<usize> = (0..names.len()).filter(|&index| names[index] == *first).collect();
    let ends = starts.iter().skip(1).copied().chain([names.len()]);
    let parts: Vec<&[String]> = starts.iter().zip(ends).map(|(&start, end)| &names[start..end]).collect();
    if parts.len() < 2 || parts.iter().any(|part| *part != parts[0]) {
        return HashSet::new();
    }
    let body: Vec<String> = (header_rows..grid.rows).map(|row| name(grid, row)).collect();
    let times = count(&body);
    let heads: Vec<usize> = starts.iter().filter_map(|&start| titles[start].checked_sub(1)).collect();
    let once = |row: &usize| {
        *row >= header_rows && grid.filled(*row).count() > 1 && times.get(name(grid, *row).as_str()) == Some(&1)
    };
    // Most other rows come again too; else the last row of a part may pass for the head of the next.
    let again = times.values().filter(|&&times| times > 1).count();
    let alike = times.len() <= 2 * again + heads.len();
    if heads.first() == Some(&header_rows) && heads.iter().all(once) && alike {
        heads.into_iter().collect()
    } else {
        HashSet::new()
    }
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
