//! The best nodes as a context for a reader, such as a language model: sentences in order, tables
//! cut down to the rows and columns that hold the nodes, everything with ids to cite.
//!
//! ```text
//! Question: What did products bring in 2018?
//! Evidence from the report annual, to be cited as [p0] (sentence) or [t0:r1c1] (table, row, column).
//!
//! [p0] Revenue rose by 8 %.
//!
//! Table t0: Revenue
//! | | c1: 2018 | c2: 2017 |
//! | r1: Products | 12 | 11 |
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use tabsegnet_datasets::document::{Block, Cell, Document, Heading, Outline, Table};
use tabsegnet_datasets::node_id;
use tabsegnet_graph::NodeKind;

use crate::ranking::{Position, RankedNode, Ranking};
use crate::table::one_line;

/// A context within a budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// The text.
    pub text: String,
    /// What [`tokens`] counts in it.
    pub tokens: usize,
    /// How many of the ranked nodes it holds, the best ones.
    pub nodes: usize,
}

/// Not even the best node, or table of a corpus, fits.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "the best {what} alone takes about {tokens} tokens, the budget is {budget}; expected a budget of at least {tokens}"
)]
pub struct TooSmall {
    /// `node` or `table`.
    pub what: &'static str,
    /// What the context with one node takes.
    pub tokens: usize,
    /// What was allowed.
    pub budget: usize,
}

/// As many of the best nodes as fit into `budget` tokens.
///
/// # Errors
/// A budget too small for the best node.
pub fn context(document: &Document, ranking: &Ranking, budget: usize) -> Result<Context, TooSmall> {
    let with = |nodes: usize| {
        let text = render(document, ranking, &ranking.nodes[..nodes]);
        Context { tokens: tokens(&text), text, nodes }
    };
    // A node more never makes the text shorter: the most that fit are found by halving.
    let (mut fits, mut beyond) = (0, ranking.nodes.len() + 1);
    while beyond - fits > 1 {
        let middle = fits.midpoint(beyond);
        if with(middle).tokens <= budget { fits = middle } else { beyond = middle }
    }
    if fits == 0 && !ranking.nodes.is_empty() {
        return Err(TooSmall { what: "node", tokens: with(1).tokens, budget });
    }
    Ok(with(fits))
}

/// About how many tokens a language model makes of a text, rather more than fewer: one for every
/// four ASCII letters of a word begun, for every three digits begun, and for any other character
/// but blanks.
pub fn tokens(text: &str) -> usize {
    let (mut count, mut run, mut last) = (0, 0, None);
    for c in text.chars() {
        let kind = match c {
            _ if c.is_ascii_alphabetic() => Some((4, 'a')),
            _ if c.is_ascii_digit() => Some((3, '0')),
            _ => None,
        };
        run = if kind.is_some() && kind == last { run + 1 } else { 0 };
        last = kind;
        count += match kind {
            Some((length, _)) => usize::from(run % length == 0),
            None => usize::from(!c.is_whitespace()),
        };
    }
    count
}

/// What of a table is shown.
#[derive(Default)]
struct Cut {
    caption: bool,
    rows: BTreeSet<usize>,
    cols: BTreeSet<usize>,
}

impl Cut {
    fn add(&mut self, table: &Table, node: &RankedNode) {
        let Position::Cell { row, col, rowspan, colspan, .. } = node.position else {
            self.caption = true;
            return;
        };
        if node.kind != NodeKind::ColumnHeader {
            self.rows.extend((row..row + rowspan).filter(|&row| row >= table.num_header_rows()));
        }
        if node.kind != NodeKind::RowHeader {
            self.cols.extend((col..col + colspan).filter(|&col| col >= table.num_header_cols()));
        }
    }
}

fn render(document: &Document, ranking: &Ranking, nodes: &[RankedNode]) -> String {
    let tables: BTreeMap<usize, &Table> = document.tables().map(|table| (table.number(), table)).collect();
    let (mut headings, mut passages) = (BTreeSet::new(), BTreeSet::new());
    let mut cuts: BTreeMap<usize, Cut> = BTreeMap::new();
    for node in nodes {
        match node.position {
            Position::Heading { heading } => {
                headings.insert(heading);
            }
            Position::Passage { passage } => {
                passages.insert(passage);
            }
            Position::Table { table: number } | Position::Cell { table: number, .. } => {
                if let Some(table) = tables.get(&number) {
                    cuts.entry(number).or_default().add(table, node);
                }
            }
        }
    }
    let mut text = format!(
        "Question: {}\nEvidence from the report {}, to be cited as [p0] (sentence) or [t0:r1c1] (table, row, column).\n",
        one_line(&ranking.question),
        one_line(&document.id)
    );
    let (mut heading, mut passage, mut after_passage) = (0, 0, false);
    let mut sections = Sections::default();
    for block in &document.blocks {
        match block {
            Block::Heading(title) => {
                sections.enter(title);
                if headings.contains(&heading) {
                    after_passage &= !sections.write(&mut text);
                    let between = if after_passage { "" } else { "\n" };
                    let _ = writeln!(text, "{between}[{}] {}", node_id::heading(heading), one_line(&title.text));
                    after_passage = true;
                }
                heading += 1;
            }
            Block::Passage(sentence) => {
                if passages.contains(&passage) {
                    after_passage &= !sections.write(&mut text);
                    let between = if after_passage { "" } else { "\n" };
                    let _ = writeln!(text, "{between}[{}] {}", node_id::passage(passage), one_line(sentence));
                    after_passage = true;
                }
                passage += 1;
            }
            Block::Table(table) => {
                if let Some(cut) = cuts.get(&table.number()) {
                    sections.write(&mut text);
                    text.push('\n');
                    render_table(table, cut, &mut text);
                    after_passage = false;
                }
            }
        }
    }
    text
}

/// The headings that what is shown stands under.
#[derive(Default)]
struct Sections<'d> {
    outline: Outline<&'d Heading>,
    /// Whether what was shown last stands under the same ones.
    shown: bool,
}

impl<'d> Sections<'d> {
    fn enter(&mut self, heading: &'d Heading) {
        self.outline.enter(heading.level, heading);
        self.shown = false;
    }

    /// Writes a line with the headings where they are others than before; whether it did.
    fn write(&mut self, text: &mut String) -> bool {
        let path: Vec<String> = self.outline.path().map(|heading| one_line(&heading.text)).collect();
        let new = !std::mem::replace(&mut self.shown, true) && !path.is_empty();
        if new {
            let _ = writeln!(text, "\n# {}", path.join(" > "));
        }
        new
    }
}

fn render_table(table: &Table, cut: &Cut, text: &mut String) {
    let caption = if cut.caption { table.caption_text() } else { table.caption().to_owned() };
    let _ = write!(text, "Table {}", node_id::caption(table.number()));
    let _ = match caption.trim() {
        "" => writeln!(text),
        caption => writeln!(text, ": {}", one_line(caption)),
    };
    let place = |row, col| Cell { row, col, rowspan: 1, colspan: 1, text: String::new() };
    let named = |letter: char, number: usize, path: String| match path.as_str() {
        "" => format!("{letter}{number}"),
        path => format!("{letter}{number}: {}", in_table(path)),
    };
    if !cut.cols.is_empty() {
        text.push_str("| |");
        for &col in &cut.cols {
            let path = table.path(&table.column_headers_of(&place(table.num_header_rows(), col)));
            let _ = write!(text, " {} |", named('c', col, path));
        }
        text.push('\n');
    }
    for &row in &cut.rows {
        let path = table.path(&table.row_headers_of(&place(row, table.num_header_cols())));
        let _ = write!(text, "| {} |", named('r', row, path));
        for &col in &cut.cols {
            let Some(cell) = table.cell_at(row, col) else { continue };
            let _ = match (cell.row, cell.col) == (row, col) {
                true => write!(text, " {} |", in_table(&cell.text)),
                // Row and column do not give the id of a merged cell.
                false => write!(text, " {} [{}] |", in_table(&cell.text), node_id::cell(table, cell)),
            };
        }
        text.push('\n');
    }
}

fn in_table(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabsegnet_datasets::document::{CellSource, TableSource};
    use tabsegnet_graph::Graph;

    use super::*;
    use crate::duplicates::Distinct;
    use crate::ranking::{Subject, ranked};

    fn report() -> Document {
        let span = |text: &str, rowspan, colspan| CellSource { text: text.into(), rowspan, colspan };
        let rows = vec![
            vec!["".into(), span("Revenue", 1, 3)],
            vec!["".into(), "2018".into(), "2017".into(), "2016".into()],
            vec!["Products".into(), "12".into(), "11".into(), "a|b".into()],
            vec!["Services".into(), span("3", 1, 2), "4".into()],
            vec!["Rent".into(), "7".into(), "8".into(), "9".into()],
        ];
        let source =
            TableSource { caption: "By kind".into(), header_rows: 2, header_cols: 1, rows, ..Default::default() };
        let blocks = vec![
            Block::Passage("Revenue\nrose.".into()),
            Block::Passage("Costs fell.".into()),
            Block::Table(Table::new(source).unwrap()),
            Block::Passage("The end.".into()),
        ];
        Document { id: "annual".into(), blocks }
    }

    fn ranking(document: &Document, ids: &[&str]) -> Ranking {
        let graph = Graph::of(document);
        let number = |id: &&str| graph.nodes().iter().position(|node| node.id == *id).unwrap();
        let order: Vec<Distinct> = ids.iter().map(|id| Distinct::alone(number(id))).collect();
        let scores: Vec<f32> = vec![0.0; graph.nodes().len()];
        let subject = Subject {
            id: &document.id,
            nodes: graph.nodes(),
            locations: &tabsegnet_document::Locations::default(),
            vectors: &[],
            d_enc: 0,
        };
        ranked(&subject, "", "What\tnow?", &[], &[], &scores, &order)
    }

    #[test]
    fn tables_are_cut_to_the_rows_and_columns_of_the_nodes() {
        let document = report();
        let ranking = ranking(&document, &["t0:r2c3", "p2", "t0:r3c1", "p0", "p1"]);
        let context = context(&document, &ranking, 10_000).unwrap();
        let expected = "Question: What now?\n\
            Evidence from the report annual, to be cited as [p0] (sentence) or [t0:r1c1] (table, row, column).\n\
            \n[p0] Revenue rose.\n[p1] Costs fell.\n\
            \nTable t0: By kind\n\
            | | c1: Revenue > 2018 | c2: Revenue > 2017 | c3: Revenue > 2016 |\n\
            | r2: Products | 12 | 11 | a\\|b |\n\
            | r3: Services | 3 | 3 [t0:r3c1] | 4 |\n\
            \n[p2] The end.\n";
        assert_eq!(context.text, expected);
        assert_eq!((context.nodes, context.tokens), (5, tokens(expected)));
    }

    #[test]
    fn headers_and_captions_bring_what_they_head() {
        let document = report();
        let text = |ids: &[&str]| context(&document, &ranking(&document, ids), 10_000).unwrap().text;
        assert!(text(&["t0"]).ends_with("\nTable t0: By kind\n"));
        assert!(text(&["t0:h1c2"]).ends_with("Table t0: By kind\n| | c2: Revenue > 2017 |\n"));
        assert!(text(&["t0:r4h0"]).ends_with("Table t0: By kind\n| r4: Rent |\n"));
        assert!(text(&["t0:r4h0", "t0:h1c2"]).ends_with("| | c2: Revenue > 2017 |\n| r4: Rent | 8 |\n"));
    }

    #[test]
    fn what_stands_under_headings_comes_with_them_once() {
        let mut document = report();
        let heading = |level, text: &str| Block::Heading(Heading { level, text: text.into() });
        document.blocks.insert(1, heading(2, "Costs"));
        document.blocks.insert(0, heading(1, "Results"));
        let ranking = ranking(&document, &["p0", "p1", "t0:r4h0", "p2", "s1"]);
        let text = context(&document, &ranking, 10_000).unwrap().text;
        let expected = "\n# Results\n\n[p0] Revenue rose.\n\n# Results > Costs\n\n[s1] Costs\n[p1] Costs fell.\n\
            \nTable t0: By kind\n| r4: Rent |\n\n[p2] The end.\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn a_budget_below_the_best_node_says_what_would_do() {
        let document = report();
        let ranking = ranking(&document, &["t0:r2c3", "p2"]);
        let refused = context(&document, &ranking, 10).unwrap_err();
        assert!(refused.to_string().contains("the budget is 10; expected a budget of at least"), "{refused}");
        assert_eq!(context(&document, &ranking, refused.tokens).unwrap().nodes, 1);
    }

    #[test]
    fn tokens_are_counted_by_words_digits_and_signs() {
        assert_eq!([tokens(""), tokens("cash"), tokens("revenue"), tokens("$1,234.5"), tokens("Ω é")], [0, 1, 2, 6, 2]);
    }

    proptest! {
        #[test]
        fn no_budget_is_passed_and_no_node_left_out_that_fits(budget in 40_usize..200) {
            let document = report();
            let ids = ["t0:r2c3", "p2", "t0:r4c1", "t0:h1c1", "p0", "t0"];
            let ranking = ranking(&document, &ids);
            if let Ok(found) = context(&document, &ranking, budget) {
                prop_assert!(found.tokens <= budget);
                let next = Ranking { nodes: ranking.nodes[..(found.nodes + 1).min(ids.len())].to_vec(), ..ranking };
                let whole = render(&document, &next, &next.nodes);
                prop_assert!(found.nodes == ids.len() || tokens(&whole) > budget);
            }
        }
    }
}
