use proptest::prelude::*;
use tabsegnet_data::document::{Block, CellSource, Document, Table, TableSource};
use tabsegnet_data::graph::DocumentGraph;

use super::*;

/// A sentence, then a table whose first row and column are headers.
fn document(rows: &[Vec<&str>]) -> Vec<Node> {
    let rows: Vec<Vec<CellSource>> =
        rows.iter().map(|row| row.iter().map(|text| CellSource::from((*text).to_owned())).collect()).collect();
    let source = TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
    let blocks = vec![Block::Passage("Revenue grew to 12.".into()), Block::Table(Table::new(source).unwrap())];
    DocumentGraph::new(&Document { id: "d".into(), blocks }).nodes().cloned().collect()
}

struct Told {
    nodes: Vec<Node>,
    values: Values,
}

impl Told {
    fn of(rows: &[Vec<&str>]) -> Self {
        let nodes = document(rows);
        let values = Values::new(&nodes);
        Self { nodes, values }
    }

    fn number(&self, id: &str) -> usize {
        self.nodes.iter().position(|node| node.id == id).unwrap()
    }

    fn value(&self, id: &str, name: &str) -> f32 {
        self.values.rows[self.number(id) * NAMES.len() + NAMES.iter().position(|known| *known == name).unwrap()]
    }

    /// Ids of the parts of a sum, and whether each says that it is part of it.
    fn parts(&self, along: usize, id: &str) -> Vec<&str> {
        let (sums, sum) = (&self.values.sums[along], self.number(id) as u32);
        let parts = sums.parts(sum);
        assert!(parts.iter().all(|part| sums.of(*part) == Some(sum)));
        parts.iter().map(|part| self.nodes[*part as usize].id.as_str()).collect()
    }
}

#[test]
fn sums_are_found_with_their_parts_along_columns_and_rows() {
    let told = Told::of(&[
        vec!["", "2019", "2018", "both"],
        vec!["Products", "$ 1,200", "900", "2,100"],
        vec!["Services", "300", "( 100 )", "200"],
        vec!["Total sales", "1500", "800", "2300"],
        vec!["Other", "2019", "1.5", "n/a"],
        vec!["All", "1500", "801.5", "—"],
    ]);
    assert_eq!(told.parts(0, "t0:r3c1"), ["t0:r2c1", "t0:r1c1"]);
    assert_eq!(told.parts(0, "t0:r3c2"), ["t0:r2c2", "t0:r1c2"], "brackets are a minus");
    assert_eq!(told.parts(0, "t0:r5c2"), ["t0:r4c2", "t0:r3c2"], "the total and what is added to it, not its parts");
    assert_eq!(told.parts(0, "t0:r5c1"), [""; 0], "2019 is a year");
    assert_eq!(told.parts(1, "t0:r1c3"), ["t0:r1c2", "t0:r1c1"]);
    let value = |id: &str, name: &str| told.value(id, name);
    assert_eq!([value("t0:r3c1", "parts_above"), value("t0:r1c1", "part_of_sum_below")], [2.0, 1.0]);
    assert_eq!([value("t0:r3c3", "parts_beside"), value("t0:r3c1", "part_of_sum_beside")], [2.0, 1.0]);
    assert_eq!([value("t0:r1h0", "sum_in_row"), value("t0:r5h0", "sum_in_row")], [1.0, 0.0]);
    assert_eq!([value("t0:h0c1", "sum_in_column"), value("t0:h0c1", "sum_in_row")], [1.0, -1.0]);
    assert_eq!([value("t0:r1c1", "total_in_table"), value("p0", "total_in_table")], [1.0, -1.0]);
}

#[test]
fn the_first_of_a_row_may_be_the_sum_of_the_others() {
    let told = Told::of(&[vec!["", "total", "2020", "2021"], vec!["Leases", "10", "4", "6"]]);
    assert_eq!(told.parts(1, "t0:r1c1"), ["t0:r1c2", "t0:r1c3"]);
    let told = Told::of(&[vec!["", "total"], vec!["Leases", "10"], vec!["Rents", "4"], vec!["Loans", "6"]]);
    assert_eq!(told.parts(0, "t0:r1c1"), [""; 0], "totals of columns stand below");
}

#[test]
fn what_shows_no_number_is_told_from_what_does() {
    let told = Told::of(&[
        vec!["", "$ 610", "2015"],
        vec!["Fund", "100.00", "–"],
        vec!["Index", "€ 100", "$ 739 million"],
        vec!["Rate", "12%", "( 12 )"],
    ]);
    let value = |id: &str, name: &str| told.value(id, name);
    let number = |id: &str| value(id, "number");
    assert_eq!([number("t0:r1c1"), number("t0:r2c1"), number("t0:r3c2")], [1.0; 3]);
    assert_eq!([number("t0:r1c2"), number("t0:r2c2")], [0.0; 2], "a dash, and an amount in words");
    assert_eq!([number("t0:r1h0"), number("p0")], [-1.0; 2]);
    assert_eq!([value("t0:r1h0", "numbers_of_row"), value("t0:h0c2", "numbers_of_column")], [0.5, 1.0 / 3.0]);
    assert_eq!(
        [value("t0:r1c1", "hundred"), value("t0:r1c2", "hundred"), value("t0:r1c2", "hundreds_of_row")],
        [1.0, 0.0, 1.0]
    );
    assert_eq!(value("t0:r1c1", "numbers_as_headers"), 1.0 / 3.0, "of three headers one is an amount; 2015 is a year");
    let [in_table, in_row] = &told.values.same;
    let same = |a: &str, b: &str| [in_table, in_row].map(|of| of[told.number(a)] == of[told.number(b)]);
    assert_eq!(same("t0:r1c1", "t0:r2c1"), [true, false]);
    assert_eq!(same("t0:r3c1", "t0:r3c2"), [true, true], "whatever the sign");
    assert_eq!(in_table[told.number("t0:r1c2")], 0);
}

#[test]
fn tables_are_told_apart() {
    let table = |number| {
        let rows = vec![vec![CellSource::from("x".to_owned()), CellSource::from("5".to_owned())]];
        Block::Table(Table::new(TableSource { number, header_cols: 1, rows, ..TableSource::default() }).unwrap())
    };
    let document = Document { id: "d".into(), blocks: vec![table(0), table(1)] };
    let nodes: Vec<Node> = DocumentGraph::new(&document).nodes().cloned().collect();
    let told = Values::new(&nodes);
    let at = |id: &str| told.same[0][nodes.iter().position(|node| node.id == id).unwrap()];
    assert!(at("t0:r0c1") > 0 && at("t0:r0c1") != at("t1:r0c1"));
}

proptest! {
    /// Parts add up to their sums, stand in one line with them and before them, or all behind the first of a row.
    #[test]
    fn parts_add_up(cols in 1..4_usize, numbers in prop::collection::vec(-9..10_i32, 1..40)) {
        let shown: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let header = vec!["h"; cols + 1];
        let rows = shown.chunks(cols).map(|line| {
            let own = line.iter().map(String::as_str).chain(std::iter::repeat("")).take(cols);
            std::iter::once("x").chain(own).collect::<Vec<&str>>()
        });
        let told = Told::of(&std::iter::once(header).chain(rows).collect::<Vec<_>>());
        let place = |node: u32| told.nodes[node as usize].place.as_ref().unwrap();
        let value = |node: u32| told.nodes[node as usize].text.parse::<f64>().unwrap();
        for (along, sums) in told.values.sums.iter().enumerate() {
            for (sum, parts) in &sums.parts {
                let off = parts.iter().map(|part| value(*part)).sum::<f64>() - value(*sum);
                prop_assert!(parts.len() >= 2 && off.abs() <= 0.51 * parts.len().min(4) as f64);
                for part in parts {
                    let (own, of) = (place(*part), place(*sum));
                    let (line, before) = match along {
                        0 => (own.col == of.col, own.row < of.row),
                        _ => (own.row == of.row, own.col < of.col || of.col == 1),
                    };
                    prop_assert!(line && before);
                }
            }
        }
    }
}
