//! What a document's graph holds; [`operations`] tests those of any graph.

mod operations;

use std::collections::{BTreeSet, HashMap, HashSet};

use proptest::prelude::*;
use tabsegnet_document::model::{Block, CellSource, Document, Heading, Table, TableSource};

use super::*;

/// Tables with random header sizes and random merged cells.
fn arbitrary_table() -> impl Strategy<Value = Table> {
    (1..6_usize, 1..6_usize, 0..3_usize, 0..3_usize, any::<u64>()).prop_map(|(rows, cols, hr, hc, bits)| {
        let mut taken = vec![false; rows * cols];
        let mut source = Vec::new();
        let mut bits = bits;
        for row in 0..rows {
            let mut line = Vec::new();
            for col in 0..cols {
                if taken[row * cols + col] {
                    continue;
                }
                let wide = bits & 3 == 1 && col + 1 < cols && !taken[row * cols + col + 1];
                let tall = bits & 12 == 4 && row + 1 < rows;
                bits = bits.rotate_right(4);
                let (rowspan, colspan) = (1 + usize::from(tall), 1 + usize::from(wide));
                for r in row..row + rowspan {
                    for c in col..col + colspan {
                        taken[r * cols + c] = true;
                    }
                }
                line.push(CellSource { text: format!("{row},{col}"), rowspan, colspan });
            }
            source.push(line);
        }
        Table::new(TableSource {
            header_rows: hr.min(rows),
            header_cols: hc.min(cols),
            rows: source,
            ..TableSource::default()
        })
        .expect("the spans were laid out without overlap")
    })
}

fn arbitrary_document() -> impl Strategy<Value = Document> {
    let heading = (1..5_u8, "[a-z]{0,6}").prop_map(|(level, text)| Block::Heading(Heading { level, text }));
    let block = prop_oneof![heading, "[a-z]{0,6}".prop_map(Block::Passage), arbitrary_table().prop_map(Block::Table)];
    prop::collection::vec(block, 0..7).prop_map(|mut blocks| {
        let mut number = 0;
        for block in &mut blocks {
            if let Block::Table(table) = block {
                *table = table.clone().with_number(number);
                number += 1;
            }
        }
        Document { id: "d".into(), blocks }
    })
}

proptest! {
    #[test]
    fn every_edge_has_its_reverse_and_stands_once(document in arbitrary_document()) {
        let graph = Graph::of(&document);
        let typed = |(a, b, number)| (a, b, EdgeType::from_number(number).unwrap());
        let edges: Vec<_> = graph.adjacency().iter().map(typed).collect();
        let set: HashSet<_> = edges.iter().copied().collect();
        prop_assert_eq!(set.len(), edges.len());
        for (a, b, edge_type) in edges {
            prop_assert!(a != b);
            prop_assert!(set.contains(&(b, a, edge_type.reverse())));
        }
    }

    #[test]
    fn node_count_is_what_the_grid_says(document in arbitrary_document()) {
        let graph = Graph::of(&document);
        let expected: usize = document
            .blocks
            .iter()
            .map(|block| match block {
                Block::Heading(_) | Block::Passage(_) => 1,
                Block::Table(table) => {
                    let merged_away: usize =
                        table.cells().iter().map(|cell| cell.rowspan * cell.colspan - 1).sum();
                    1 + table.rows() * table.cols() - merged_away
                }
            })
            .sum();
        prop_assert_eq!(graph.nodes().len(), expected);
        let ids: HashSet<_> = graph.nodes().iter().map(|node| &node.id).collect();
        prop_assert_eq!(ids.len(), expected);
        for (number, node) in graph.nodes().iter().enumerate() {
            prop_assert!(node.section.is_none_or(|section| (section as usize) < number));
        }
    }

    #[test]
    fn edges_are_sorted_by_destination_source_and_type(document in arbitrary_document()) {
        let graph = Graph::of(&document);
        let edges: Vec<_> = graph.adjacency().iter().map(|(s, d, t)| (d, s, t)).collect();
        let sorted: BTreeSet<_> = edges.iter().copied().collect();
        prop_assert!(edges.iter().eq(&sorted));
        prop_assert!(graph.adjacency().weights().is_empty());
    }
}

fn table(number: usize) -> Block {
    Block::Table(
        Table::new(TableSource {
            number,
            header_rows: 2,
            header_cols: 1,
            rows: vec![
                vec![
                    CellSource { text: "".into(), rowspan: 2, colspan: 1 },
                    CellSource { text: "Revenue".into(), rowspan: 1, colspan: 2 },
                ],
                vec!["2018".into(), "2019".into()],
                vec!["Products".into(), "1".into(), "2".into()],
                vec!["Services".into(), "3".into(), "4".into()],
            ],
            ..TableSource::default()
        })
        .unwrap(),
    )
}

/// Ids of the ends of edges, sorted, by the name of their type.
fn edges_of(document: &Document) -> HashMap<String, Vec<(String, String)>> {
    let graph = Graph::of(document);
    let id = |node: u32| graph.nodes()[node as usize].id.clone();
    let mut edges: HashMap<_, Vec<_>> = HashMap::new();
    for (edge, (source, destination, _)) in graph.adjacency().iter().enumerate() {
        let ends = (id(source), id(destination));
        edges.entry(graph.adjacency().type_name(edge).to_owned()).or_default().push(ends);
    }
    edges.values_mut().for_each(|ends| ends.sort());
    edges
}

#[test]
fn a_document_gives_the_edges_of_the_design() {
    let passage = |text: &str| Block::Passage(text.into());
    let blocks = vec![passage("a"), table(0), table(1), passage("b")];
    let edges = edges_of(&Document { id: "d".into(), blocks });
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(edges["passage_next_passage"], [pair("p0", "p1")]);
    assert_eq!(edges["passage_to_caption"], [pair("p0", "t0"), pair("p0", "t1"), pair("p1", "t0"), pair("p1", "t1")]);
    assert_eq!(edges["caption_next_caption"], [pair("t0", "t1")]);
    let of_first = |name: &str| {
        let own = |(a, b): &&(String, String)| a.starts_with("t0") && b.starts_with("t0");
        edges[name].iter().filter(own).map(|(a, b)| format!("{a} {b}")).collect::<Vec<_>>()
    };
    assert_eq!(of_first("caption_to_row_header"), ["t0 t0:r2h0", "t0 t0:r3h0"]);
    assert_eq!(of_first("caption_to_column_header").len(), 4);
    assert_eq!(of_first("caption_to_cell").len(), 4);
    assert_eq!(
        of_first("row_header_to_cell"),
        ["t0:r2h0 t0:r2c1", "t0:r2h0 t0:r2c2", "t0:r3h0 t0:r3c1", "t0:r3h0 t0:r3c2"]
    );
    assert!(of_first("column_header_to_cell").contains(&"t0:h0c1 t0:r3c2".to_owned()));
    assert!(of_first("column_header_to_cell").contains(&"t0:h1c2 t0:r3c2".to_owned()));
    assert_eq!(of_first("cell_right_cell"), ["t0:r2c1 t0:r2c2", "t0:r3c1 t0:r3c2"]);
    assert_eq!(of_first("cell_below_cell"), ["t0:r2c1 t0:r3c1", "t0:r2c2 t0:r3c2"]);
    assert_eq!(of_first("header_child_header"), ["t0:h0c1 t0:h1c1", "t0:h0c1 t0:h1c2"]);
}

#[test]
fn headings_lead_to_what_stands_under_them() {
    let heading = |level, text: &str| Block::Heading(Heading { level, text: text.into() });
    let passage = |text: &str| Block::Passage(text.into());
    let blocks = vec![
        passage("before"),
        heading(2, "Item 8"),
        heading(5, "Note 1"),
        passage("a"),
        table(0),
        heading(5, "Note 2"),
        heading(1, "Part IV"),
        passage("b"),
    ];
    let document = Document { id: "d".into(), blocks };
    let edges = edges_of(&document);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(edges["heading_child_heading"], [pair("s0", "s1"), pair("s0", "s2")]);
    assert_eq!(edges["heading_to_passage"], [pair("s1", "p1"), pair("s3", "p2")]);
    assert_eq!(edges["heading_to_caption"], [pair("s1", "t0")]);
    let graph = Graph::of(&document);
    let path = |id: &str| {
        let node = graph.nodes().iter().find(|node| node.id == id).unwrap();
        section_path(graph.nodes(), node).join(" > ")
    };
    assert_eq!(
        ["p0", "p1", "t0:r2c1", "s1", "p2"].map(path),
        ["", "Item 8 > Note 1", "Item 8 > Note 1", "Item 8", "Part IV"]
    );
}

#[test]
fn a_row_s_outer_titles_are_headers_of_its_cells() {
    let rows = [["", "2018"], ["Assets", ""], ["Cash", "1"]].map(|row| row.map(CellSource::from).to_vec()).to_vec();
    let row_parents = vec![None, None, Some(1)];
    let source = TableSource { header_rows: 1, header_cols: 1, rows, row_parents, ..TableSource::default() };
    let document = Document { id: "d".into(), blocks: vec![Block::Table(Table::new(source).unwrap())] };
    let edges = edges_of(&document);
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert!(edges["row_header_to_cell"].contains(&pair("t0:r1h0", "t0:r2c1")));
    assert!(edges["header_child_header"].contains(&pair("t0:r1h0", "t0:r2h0")));
    let graph = Graph::of(&document);
    let cell = graph.nodes().iter().find(|node| node.id == "t0:r2c1").unwrap();
    assert_eq!(cell.place.as_ref().unwrap().row_path, "Assets > Cash");
}

#[test]
fn exports_hold_every_node_and_edge() {
    let blocks = vec![Block::Passage("say \"a\" & <b> \\ \u{1}".into()), table(0)];
    let graph = Graph::of(&Document { id: "d".into(), blocks });
    let (nodes, edges) = (graph.nodes().len(), graph.adjacency().edges());
    let xml = graph.to_graphml();
    assert_eq!(xml.matches("<node ").count(), nodes);
    assert_eq!(xml.matches("<edge ").count(), edges);
    assert!(xml.contains("&lt;b&gt;") && !xml.contains('\u{1}'));
    let dot = graph.to_dot();
    assert_eq!(dot.matches(" -> ").count(), edges);
    assert!(dot.contains(r#"label="p0\nsay \"a\" & <b> \\  ""#), "{dot}");
}

#[test]
fn ranking_text_is_the_path_or_the_bare_value() {
    let graph = Graph::of(&Document { id: "d".into(), blocks: vec![table(0)] });
    let cell = graph.nodes().iter().find(|node| node.id == "t0:r3c2").unwrap();
    assert_eq!(cell.ranking_text(CellText::Path), "Services | Revenue > 2019 | 4");
    assert_eq!(cell.ranking_text(CellText::Bare), "4");
}

#[test]
fn names_and_numbers_are_unique_and_reversible() {
    let names: HashSet<_> = EdgeType::ALL.iter().map(|t| t.name()).collect();
    assert_eq!(names.len(), 28);
    for (number, edge_type) in EdgeType::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(edge_type.number()), number);
        assert_eq!(EdgeType::from_number(number as u8), Some(edge_type));
        assert_eq!(edge_type.reverse().reverse(), edge_type);
    }
    assert_eq!(EdgeType::from_number(28), None);
}
