//! One table of a page as it is written: no column or row is joined with another or left out, so
//! that positions of the markup's grid stay positions of the table.

use super::dom::{Dom, ROOT, Step};
use super::table::cell;
use super::text::read_all;
use crate::grid::{Grid, RawCell};

/// The first table of the markup; `None` where there is none. The second value is that of
/// [`Grid::place`].
pub(super) fn first_table(text: &str, max_depth: u32, max_cells: usize) -> Option<(Grid, Option<(usize, usize)>)> {
    let dom = Dom::parse(text, max_depth);
    let table = dom.subtree(ROOT).find(|&id| dom.name(id) == "table")?;
    let mut rows: Vec<Vec<RawCell>> = Vec::new();
    let mut in_head = false;
    let mut walk = dom.walk(table);
    while let Some(step) = walk.next() {
        let (Step::Enter(id) | Step::Leave(id)) = step;
        let entered = matches!(step, Step::Enter(_));
        match dom.name(id) {
            "table" | "caption" if entered && id != table => walk.pass_over(id),
            "thead" => in_head = entered,
            "tr" if entered => rows.push(Vec::new()),
            "td" | "th" if entered => {
                let run = read_all(&dom, id, &mut Vec::new());
                let header = in_head || dom.name(id) == "th";
                if let Some(row) = rows.last_mut() {
                    row.push(cell(&dom, id, &run, header));
                }
                walk.pass_over(id);
            }
            _ => {}
        }
    }
    Some(Grid::place(rows, max_cells))
}
