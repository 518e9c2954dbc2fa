//! Places of one document that show the same fact: revenue stands in the statement of income, in the segments' note and in
//! the discussion of results, and one of them is enough for an answer.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_graph::{Node, NodeKind, TablePlace, section_path};
use tabsegnet_lexical::periods::is_year;
use tabsegnet_lexical::tokenize;
use tabsegnet_ranker::best;

use crate::ranking::{Position, Subject, location_of};

/// Numbers with so many digits, zeros at the end not counted, are of one fact wherever they stand: 12,791 is, 12,000 and
/// 45.1 may be of several.
const TELLING: usize = 4;

/// Words that rows of all tables have.
const ROWS_OF_ALL: [&str; 5] = ["total", "totals", "subtotal", "other", "balance"];

/// So many of the best nodes at least are looked at for duplicates.
const LOOKED_AT: usize = 100;

/// Another place of a document that shows what a ranked cell shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicate {
    /// The node's id.
    pub id: String,
    /// The headings that it stands under, outermost first; empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub section: Vec<String>,
    /// Where it stands.
    pub position: Position,
    /// Where that is in the file; absent where the file does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

impl Duplicate {
    pub(crate) fn of(subject: &Subject<'_>, node: &Node) -> Self {
        let position = node.into();
        let location = location_of(subject.locations, &position);
        Self { id: node.id.clone(), section: section_path(subject.nodes, node), position, location }
    }
}

/// A node of a ranking by number, with those that show the same fact and rank behind it.
pub(crate) struct Distinct {
    pub(crate) node: usize,
    pub(crate) duplicates: Vec<usize>,
}

impl Distinct {
    pub(crate) fn alone(node: usize) -> Self {
        Self { node, duplicates: Vec::new() }
    }
}

/// The `top_k` best nodes by `scores` `[nodes]`, each fact once: a node that shows what a better one shows is among the
/// duplicates of that one, where it is among the best [`LOOKED_AT`], or twice as many as are wanted.
pub(crate) fn distinct(nodes: &[Node], scores: &[f32], top_k: usize) -> Vec<Distinct> {
    let mut looked_at = top_k.saturating_mul(2).max(LOOKED_AT);
    loop {
        let found = first(nodes, &best(scores, looked_at), top_k);
        if found.len() == top_k || looked_at >= scores.len() {
            return found;
        }
        looked_at = looked_at.saturating_mul(2);
    }
}

fn first(nodes: &[Node], order: &[usize], top_k: usize) -> Vec<Distinct> {
    let mut found: Vec<Distinct> = Vec::new();
    // By number, where it is among `found` and what tells whether another place shows the same.
    let mut shown: HashMap<(u64, bool), Vec<(usize, Fact<'_>)>> = HashMap::new();
    for &number in order {
        let fact = nodes.get(number).and_then(Fact::of);
        let same = fact.as_ref().and_then(|fact| {
            let (at, _) = shown.get(&fact.key())?.iter().find(|(_, other)| fact.is(other))?;
            found.get_mut(*at)
        });
        if let Some(same) = same {
            same.duplicates.push(number);
        } else if found.len() < top_k {
            if let Some(fact) = fact {
                shown.entry(fact.key()).or_default().push((found.len(), fact));
            }
            found.push(Distinct::alone(number));
        }
    }
    found
}

/// The number that a cell shows, and what its headers say of it.
struct Fact<'n> {
    place: &'n TablePlace,
    /// Without its sign, as payments stand in brackets in one table and not in another.
    amount: f64,
    is_percentage: bool,
    is_telling: bool,
}

impl<'n> Fact<'n> {
    fn of(node: &'n Node) -> Option<Self> {
        let place = node.place.as_ref().filter(|_| node.kind == NodeKind::Cell)?;
        let amount = parse_cell_number(&node.text)?.abs();
        let digits: String = amount.to_string().chars().filter(char::is_ascii_digit).collect();
        let digits = digits.trim_matches('0').len();
        let may_be_year = is_year(&node.text);
        let fact = Self {
            place,
            amount,
            is_percentage: node.text.contains('%'),
            is_telling: digits >= TELLING && !may_be_year,
        };
        // 0 to 9 stand everywhere.
        (amount >= 10.0 || digits > 1).then_some(fact)
    }

    fn key(&self) -> (u64, bool) {
        (self.amount.to_bits(), self.is_percentage)
    }

    /// Whether both are of one fact, where their amounts are equal. Two cells of one table never are: there the headers
    /// say what the difference is.
    fn is(&self, other: &Self) -> bool {
        if self.place.table == other.place.table {
            return false;
        }
        let (own, others) = (years(self.place), years(other.place));
        if !own.is_empty() && !others.is_empty() && !own.iter().any(|year| others.contains(year)) {
            return false;
        }
        let label = label(self.place);
        let names = label.iter().any(|word| !ROWS_OF_ALL.contains(&word.as_str()));
        self.is_telling || names && label == self::label(other.place)
    }
}

/// The years that a cell's headers name.
fn years(place: &TablePlace) -> Vec<String> {
    let headers = format!("{} {}", place.row_path, place.column_path);
    tokenize(&headers).into_iter().filter(|token| is_year(token)).collect()
}

/// The words of its innermost row header.
fn label(place: &TablePlace) -> Vec<String> {
    let innermost = place.row_path.rsplit(" > ").next().unwrap_or_default();
    tokenize(innermost).into_iter().filter(|token| token.chars().all(char::is_alphabetic)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A cell of a table: text, row and column path.
    fn cell(number: usize, (table, text, row, column): (usize, &str, &str, &str)) -> Node {
        let (row_path, column_path) = (row.to_owned(), column.to_owned());
        let place = TablePlace { table, row: number, row_path, column_path, ..TablePlace::default() };
        let id = format!("t{table}:r{number}c1");
        Node { id, kind: NodeKind::Cell, text: text.to_owned(), place: Some(place), section: None }
    }

    fn nodes(cells: &[(usize, &str, &str, &str)]) -> Vec<Node> {
        cells.iter().enumerate().map(|(number, of)| cell(number, *of)).collect()
    }

    /// Node numbers with their duplicates, of nodes that rank in their order.
    fn ranked(cells: &[(usize, &str, &str, &str)], top_k: usize) -> Vec<(usize, Vec<usize>)> {
        let scores: Vec<f32> = (0..cells.len()).map(|number| -(number as f32)).collect();
        distinct(&nodes(cells), &scores, top_k).into_iter().map(|of| (of.node, of.duplicates)).collect()
    }

    #[test]
    fn a_fact_that_several_tables_show_is_ranked_once() {
        let revenue = [
            (1, "$ 12,791", "Net sales", "2024"),
            (1, "12,165", "Net sales", "2023"),
            (7, "12791", "Revenue: > Total", "Year ended > December 31, 2024"),
            (9, "(12,791)", "Sales", ""),
            (3, "45.1%", "Margin", "2024"),
        ];
        assert_eq!(ranked(&revenue, 10), [(0, vec![2, 3]), (1, vec![]), (4, vec![])]);
        assert_eq!(ranked(&revenue, 1), [(0, vec![2, 3])]);
        assert_eq!(ranked(&revenue, 2), [(0, vec![2, 3]), (1, vec![])]);
    }

    #[test]
    fn what_only_looks_alike_stays_apart() {
        // One table; other years; a short or round number with another label; a year; a percentage; digits.
        for (one, other) in [
            ((1, "1,512", "Bonds", "Total"), (1, "1,512", "Bonds", "Level 2")),
            ((1, "1,512", "Bonds", "2024"), (2, "1,512", "Bonds", "2023")),
            ((1, "415", "Leases", "2024"), (2, "415", "Taxes", "2024")),
            ((1, "12,000", "Notes due 2050", ""), (2, "12,000", "Stores", "")),
            ((1, "2024", "Founded", ""), (2, "2024", "Year", "")),
            ((1, "21", "Rate", ""), (2, "21%", "Rate", "")),
            ((1, "7", "Stores", ""), (2, "7", "Stores", "")),
            ((1, "Yes", "Listed", ""), (2, "Yes", "Listed", "")),
            ((1, "415", "", "2024"), (2, "415", "", "2024")),
            ((1, "415", "Leases > Total", "2024"), (2, "415", "Restructuring > Total", "2024")),
        ] {
            assert_eq!(ranked(&[one, other], 10), [(0, vec![]), (1, vec![])], "{one:?} {other:?}");
        }
        let labelled = [(1, "415", "Leases: > Cost (1)", "2024"), (2, "415", "cost", "Dec. 31, 2024")];
        assert_eq!(ranked(&labelled, 10), [(0, vec![1])]);
    }

    proptest! {
        #[test]
        fn every_node_of_the_whole_ranking_is_there_once(
            amounts in prop::collection::vec((0..4_usize, 0..6_usize, -2..2_i8), 0..60), top_k in 1..70_usize
        ) {
            let texts = ["12,791", "415", "7", "text", "12.5%", "2024"];
            let cells: Vec<_> = amounts.iter().map(|&(table, text, _)| (table, texts[text], "Net", "2024")).collect();
            let scores: Vec<f32> = amounts.iter().map(|&(_, _, score)| score.into()).collect();
            let nodes = nodes(&cells);
            let whole = distinct(&nodes, &scores, usize::MAX);
            let mut all: Vec<usize> = whole.iter().flat_map(|of| of.duplicates.iter().copied().chain([of.node])).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..nodes.len()));
            // So many of them are its beginning.
            let head: Vec<usize> = distinct(&nodes, &scores, top_k).iter().map(|of| of.node).collect();
            let beginning: Vec<usize> = whole.iter().map(|of| of.node).take(top_k).collect();
            prop_assert_eq!(head, beginning);
        }
    }
}
