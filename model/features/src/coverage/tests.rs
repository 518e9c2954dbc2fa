use tabsegnet_document::model::{Block, CellSource, Document, Table, TableSource};
use tabsegnet_graph::{CellText, Graph, Node};

use super::*;
use crate::schema::Schema as _;
use crate::strings::Strings;

/// Two sentences and a table of revenue and costs in two years.
fn document() -> (Vec<Node>, Strings) {
    let row = |texts: [&str; 3]| texts.map(|text| CellSource::from(text.to_owned())).to_vec();
    let table = Table::new(TableSource {
        number: 0,
        caption: String::new(),
        header_rows: 1,
        header_cols: 1,
        row_parents: Vec::new(),
        rows: vec![row(["", "2019", "2018"]), row(["Revenue", "12", "11"]), row(["Operating costs", "5", "4"])],
    })
    .unwrap();
    let blocks = vec![
        Block::Passage("Operating costs of 2019 fell.".into()),
        Block::Table(table),
        Block::Passage("Fin.".into()),
    ];
    let nodes: Vec<Node> = Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec();
    let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
    let strings = Strings::new(&nodes, &own);
    (nodes, strings)
}

fn column(name: &str) -> usize {
    Coverage::names().iter().position(|known| known == name).unwrap()
}

/// Of nodes by id, what each has under a name.
struct Found {
    ids: Vec<String>,
    rows: Vec<f32>,
}

impl Found {
    fn of(question: &str, segments: &[&str], ids: &[&str]) -> Self {
        let (nodes, strings) = document();
        let phrases = Phrases::new(&nodes, &strings);
        let number = |id: &&str| nodes.iter().position(|node| node.id == **id).unwrap() as u32;
        let order: Vec<u32> = ids.iter().map(number).collect();
        let mut rows = vec![0.0; order.len() * Coverage::COUNT];
        let found = coverage(&phrases, &strings.table, &Query::new(question, segments), &order);
        found.iter().zip(rows.chunks_mut(Coverage::COUNT)).for_each(|(coverage, out)| coverage.write(out));
        Self { ids: ids.iter().map(|id| (*id).to_owned()).collect(), rows }
    }

    fn value(&self, id: &str, name: &str) -> f32 {
        let at = self.ids.iter().position(|known| known == id).unwrap();
        self.rows[at * Coverage::COUNT + column(name)]
    }
}

#[test]
fn a_node_counts_what_it_adds_to_those_before_it() {
    let order = ["t0:r1c1", "t0:r1c2", "t0:r2c1", "p0"];
    let segments = ["revenue 2019", "operating costs 2019"];
    let found = Found::of("revenue less operating costs in 2019", &segments, &order);
    let value = |id: &str, name: &str| found.value(id, name);
    assert!(value("t0:r1c1", "held") > 0.0 && value("t0:r1c1", "new_after_all_before") == value("t0:r1c1", "held"));
    assert_eq!(value("t0:r1c2", "new_after_first"), 0.0, "the same row, and not the question's year");
    assert!(value("t0:r2c1", "new_after_second") > 0.0, "costs are not mentioned by revenue");
    assert!((value("t0:r2c1", "with_first") - 1.0).abs() < 1e-6, "less and in are in no node");
    assert_eq!(value("p0", "new_after_third"), 0.0, "the cell of costs was before");
    assert_eq!(value("p0", "left_by_third"), 0.0);
    assert_eq!(value("t0:r1c2", "years"), 0.0);
    assert_eq!(value("t0:r1c2", "other_years"), 1.0);
    assert_eq!([value("t0:r2c1", "years"), value("t0:r2c1", "years_new_after_first")], [1.0, 0.0]);
    assert_eq!(value("t0:r1c2", "segment_of_first"), 1.0);
    assert_eq!(value("t0:r2c1", "segment_of_first"), 0.0);
    assert_eq!(value("t0:r1c2", "rank_in_segment"), 1.0);
    assert_eq!([value("t0:r2c1", "rank_in_segment"), value("p0", "rank_in_segment")], [0.0, 1.0]);
    assert!(value("t0:r2c1", "segment_above_first") > 0.0 && value("p0", "segment_above_third") <= 0.0);
    assert_eq!([value("t0:r1c2", "row_of_first"), value("t0:r2c1", "row_of_first")], [1.0, 0.0]);
    assert_eq!([value("t0:r1c2", "column_of_first"), value("t0:r2c1", "column_of_first")], [0.0, 1.0]);
    assert_eq!([value("t0:r2c1", "table_of_first"), value("p0", "table_of_first")], [1.0, 0.0]);
    assert!(value("t0:r1c1", "like_first") == 1.0 && value("p0", "like_first") < 0.5);
}

#[test]
fn questions_that_share_nothing_and_empty_rankings_are_covered_too() {
    let found = Found::of("zebra", &[], &["p1", "t0:r1c1"]);
    assert!(found.rows.iter().all(|value| value.is_finite()));
    assert_eq!(found.value("t0:r1c1", "held"), 0.0);
    assert!(Found::of("revenue", &["revenue"], &[]).rows.is_empty());
    // More stems than bits.
    let long: Vec<String> = (0..400).map(|word| format!("word{word}")).collect();
    let long = format!("{} revenue", long.join(" "));
    assert!(Found::of(&long, &[&long], &["t0:r1c1"]).value("t0:r1c1", "held") > 0.0);
}

#[test]
fn long_rankings_are_counted_to_their_end() {
    let found = Found::of("revenue", &["revenue"], &["t0:r1c1"; 70_000]);
    let ranks = found.rows.iter().skip(column("rank_in_segment"));
    assert_eq!(ranks.step_by(Coverage::COUNT).next_back(), Some(&69_999.0));
}
