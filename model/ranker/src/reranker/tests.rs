use proptest::prelude::*;
use tabsegnet_document::model::{Block, CellSource, Document, Table, TableSource};
use tabsegnet_features::rows::NO_FEATURES;
use tabsegnet_features::{DocumentFeatures, FeatureRows, FeaturesConfig, Query, Strings};
use tabsegnet_graph::{CellText, Graph, Node, NodeKind};

use super::*;
use crate::boosting::bins::Bins;
use crate::boosting::training::{BoostingConfig, Lists, grow};

/// Two sentences and a table of two rows and two columns, with headers.
fn nodes() -> Vec<Node> {
    let row = |texts: [&str; 3]| texts.map(|text| CellSource::from(text.to_owned())).to_vec();
    let table = Table::new(TableSource {
        number: 0,
        caption: "Revenue".into(),
        header_rows: 1,
        header_cols: 1,
        row_parents: Vec::new(),
        rows: vec![row(["", "2019", "2018"]), row(["Products", "12", "11"]), row(["Services", "5", "4"])],
    })
    .unwrap();
    let blocks =
        vec![Block::Passage("Revenue rose.".into()), Block::Table(table), Block::Passage("Costs fell.".into())];
    Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec()
}

fn number(nodes: &[Node], id: &str) -> usize {
    nodes.iter().position(|node| node.id == id).unwrap()
}

/// A document's own features.
fn features_of(config: FeaturesConfig, nodes: &[Node]) -> DocumentFeatures {
    let own: Vec<String> = nodes.iter().map(|node| node.ranking_text(CellText::Path)).collect();
    DocumentFeatures::new(config, nodes, Strings::new(nodes, &own), &[], &[], &[])
}

/// Without a question.
fn context<'a>(nodes: &'a [Node], features: &'a dyn FeatureRows) -> QueryContext<'a> {
    QueryContext { nodes, features, query: None }
}

/// A value of a node's row by name, without features of nodes.
fn value(nodes: &[Node], candidates: &Candidates, id: &str, name: &str) -> f32 {
    let node = number(nodes, id) as u32;
    let at = candidates.nodes.iter().position(|candidate| *candidate == node).unwrap();
    candidates.rows[at * Candidates::width(0) + names().iter().position(|known| known == name).unwrap()]
}

fn scores(nodes: &[Node]) -> Vec<f32> {
    let mut scores = vec![0.0; nodes.len()];
    for (id, score) in [("t0:r1c1", 5.0), ("t0:r1c2", 4.0), ("t0:r2c1", 3.0), ("p1", 2.0), ("t0:r1h0", 1.0)] {
        scores[number(nodes, id)] = score;
    }
    scores
}

#[test]
fn a_candidate_has_its_place_among_the_others() {
    let nodes = nodes();
    let scores = scores(&nodes);
    let all = Candidates::new(&context(&nodes, NO_FEATURES), &scores, 100);
    assert_eq!(all.nodes.len(), nodes.len());
    assert_eq!(all.nodes[0] as usize, number(&nodes, "t0:r1c1"));
    let value = |id: &str, name: &str| value(&nodes, &all, id, name);
    assert_eq!(value("t0:r2c1", "ranked.score"), 3.0);
    assert_eq!(value("t0:r2c1", "ranked.rank"), 2.0);
    assert_eq!(value("t0:r2c1", "ranked.below_best"), -2.0);
    assert_eq!(value("t0:r2c1", "ranked.row_below_best"), -2.0, "the best of its row is itself");
    assert_eq!(value("t0:r2c1", "ranked.column_below_best"), 0.0, "the best of all is in its column");
    assert_eq!(value("t0:r1h0", "ranked.below_row"), 4.0);
    assert_eq!(value("t0:r1h0", "ranked.rank_in_row"), 2.0);
    assert_eq!(value("p1", "ranked.table_below_best"), -3.0, "sentences are a table of their own");
    assert_eq!(value("p1", "ranked.text_above_tables"), -3.0);
    assert_eq!(value("p0", "ranked.first_above_second"), 1.0);
    let shares: f32 = nodes.iter().map(|node| value(&node.id, "ranked.log_share").exp()).sum();
    assert!((shares - 1.0).abs() < 1e-5);
    let mut named: Vec<String> = FeaturesConfig::ALL.names().into_iter().chain(names()).collect();
    assert_eq!(named.len(), Candidates::width(FeaturesConfig::ALL.count()));
    named.sort_unstable();
    assert!(named.array_windows().all(|[a, b]| a != b), "two of the same name");
    // The nodes that are looked at know no less than if all were.
    let few = Candidates::new(&context(&nodes, NO_FEATURES), &scores, 10);
    assert!(few.nodes == all.nodes[..10] && all.nodes.len() > 10);
    assert_eq!(few.rows, all.rows[..10 * Candidates::width(0)]);
}

#[test]
fn a_candidate_has_the_scores_of_its_context() {
    let nodes = nodes();
    let scores = scores(&nodes);
    let all = Candidates::new(&context(&nodes, NO_FEATURES), &scores, 100);
    let value = |id: &str, name: &str| value(&nodes, &all, id, &format!("scores.{name}"));
    let shares: Vec<f64> = scores.iter().map(|score| f64::from(*score).exp()).collect();
    let all_shares: f64 = shares.iter().sum();
    let share = |ids: &[&str]| (ids.iter().map(|id| shares[number(&nodes, id)]).sum::<f64>() / all_shares) as f32;
    let near = |a: f32, b: f32| (a - b).abs() < 1e-5;

    let row = share(&["t0:r1h0", "t0:r1c1", "t0:r1c2"]);
    let column = share(&["t0:h0c1", "t0:r1c1", "t0:r2c1"]);
    let text = share(&["p0", "p1"]);
    assert!(near(value("t0:r1c1", "row_log_share"), row.ln()));
    assert!(near(value("t0:r1c1", "column_log_share"), column.ln()));
    assert!(near(value("t0:r1c1", "table_log_share"), (1.0 - text).ln()));
    assert_eq!(value("t0:r1c1", "table_below_best"), 0.0, "there is but one table");
    assert!(near(value("t0:r1c1", "text_log_share"), text.ln()) && near(value("p0", "table_log_share"), text.ln()));
    assert!(near(value("t0:r1c1", "share_of_row"), share(&["t0:r1c1"]) / row));
    assert!(near(value("t0:r1c1", "share_of_column"), share(&["t0:r1c1"]) / column));
    assert!(near(value("p1", "share_of_table"), share(&["p1"]) / text));
    assert_eq!([value("p0", "share_of_row"), value("t0:h0c1", "share_of_row")], [1.0, 1.0], "no part of a row");

    assert_eq!([value("t0:r2c1", "row_header"), value("t0:r2c1", "column_header")], [-5.0, -5.0]);
    assert_eq!(value("t0:r1c1", "row_header"), -4.0);
    let beside = |id: &str| ["left", "right", "above", "below"].map(|name| value(id, name));
    assert_eq!(beside("t0:r1c1"), [-4.0, -1.0, -5.0, -2.0]);
    assert_eq!(beside("t0:r2c2"), [-2.0, -30.0, -1.0, -30.0]);
    assert_eq!(beside("p0")[2..], [-30.0, -30.0]);
    assert_eq!([value("t0:r1c1", "best_of_row"), value("t0:r1c1", "second_of_row")], [-1.0, -4.0]);
    assert_eq!([value("t0:r2c1", "best_of_column"), value("t0:r2c1", "second_of_column")], [0.0, -5.0]);
    assert_eq!([value("t0:r1c1", "nodes_of_row"), value("t0:r1c1", "nodes_of_column")], [3.0, 3.0]);
    assert_eq!([value("t0:r2c1", "rank_in_column"), value("t0:r1h0", "rank_in_table")], [1.0, 3.0]);
    assert_eq!([value("p1", "rank_in_table"), value("p0", "rank_in_table")], [0.0, 1.0]);

    let entropy: f64 = shares.iter().map(|share| share / all_shares).map(|share| -share * share.ln()).sum();
    assert!(near(value("p0", "entropy"), entropy as f32));
    assert_eq!(value("p0", "nodes"), nodes.len() as f32);
    let ten =
        |kinds: &[NodeKind]| all.nodes[..10].iter().filter(|&&node| kinds.contains(&nodes[node as usize].kind)).count();
    assert_eq!(value("p0", "ten_in_table"), ten(&[NodeKind::Passage]) as f32);
    assert_eq!(value("p0", "ten_cells"), ten(&[NodeKind::Cell]) as f32);
    assert_eq!(value("p0", "ten_row_headers"), ten(&[NodeKind::RowHeader]) as f32);
    assert_eq!(value("t0:r1c1", "ten_in_row"), 3.0);
}

#[test]
fn a_sentence_has_the_shares_of_the_tables_before_and_after_it() {
    let table = |number| {
        let rows = vec![vec![CellSource::from("".to_owned()), "2019".into()], vec!["Sales".into(), "7".into()]];
        Block::Table(
            Table::new(TableSource { number, header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap(),
        )
    };
    let text = |text: &str| Block::Passage(text.into());
    let blocks = vec![text("a"), text("b"), table(0), text("c"), table(1), text("d"), text("e")];
    let nodes: Vec<Node> = Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec();
    let mut scores = vec![0.0; nodes.len()];
    scores[number(&nodes, "t1:r1c1")] = 5.0;
    let all = Candidates::new(&context(&nodes, NO_FEATURES), &scores, 100);
    let value = |id: &str, name: &str| value(&nodes, &all, id, &format!("scores.{name}"));
    let distances = |id: &str| {
        ["sentences_to_next_table", "sentences_to_previous_table", "sentences_to_best_table"]
            .map(|name| value(id, name))
    };
    assert_eq!(distances("p0"), [1.0, 20.0, 3.0]);
    assert_eq!(distances("p1"), [0.0, 20.0, 2.0]);
    assert_eq!(distances("p2"), [0.0, 0.0, 1.0]);
    assert_eq!(distances("p3"), [20.0, 0.0, -1.0]);
    assert_eq!(distances("p4"), [20.0, 1.0, -2.0]);
    assert_eq!(distances("t1:r1c1"), [0.0; 3]);
    let share = |id: &str| value(id, "table_log_share");
    assert_eq!(value("p2", "next_table_log_share"), share("t1:r1c1"));
    assert_eq!(value("p2", "previous_table_log_share"), share("t0:r1c1"));
    assert_eq!(value("p3", "next_table_log_share"), -30.0);
}

#[test]
fn a_candidate_has_the_scores_of_its_duplicates_and_what_it_holds_of_the_question() {
    // Two tables of the same headers, and a value that stands three times.
    let row = |texts: [&str; 3]| texts.map(|text| CellSource::from(text.to_owned())).to_vec();
    let table = |number, values: [&str; 2]| {
        let rows = vec![row(["", "2019", "2018"]), row(["Products", values[0], values[1]])];
        let source = TableSource {
            number,
            caption: String::new(),
            header_rows: 1,
            header_cols: 1,
            row_parents: Vec::new(),
            rows,
        };
        Block::Table(Table::new(source).unwrap())
    };
    let blocks = vec![table(0, ["12", "12"]), table(1, ["7", "12"])];
    let nodes: Vec<Node> = Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec();
    let config = FeaturesConfig { phrases: true, ..FeaturesConfig::default() };
    let features = features_of(config, &nodes);
    let mut scores = vec![0.0; nodes.len()];
    for (id, score) in [("t0:r1c1", 5.0), ("t0:r1c2", 4.0), ("t1:r1c1", 3.0), ("t1:r1c2", 2.0)] {
        scores[number(&nodes, id)] = score;
    }
    let query = Query::new::<&str>("products in 2018", &[]);
    let context = QueryContext { nodes: &nodes, features: NO_FEATURES, query: Some((&features, &query)) };
    let all = Candidates::new(&context, &scores, 100);
    let held = |id: &str, name: &str| value(&nodes, &all, id, &format!("covered.{name}"));
    assert_eq!([held("t0:r1c1", "years_new_after_first"), held("t0:r1c2", "years_new_after_first")], [0.0, 1.0]);
    assert_eq!([held("t0:r1c2", "held"), held("t0:h0c2", "row_of_first")], [1.0, 0.0]);
    let value = |id: &str, name: &str| value(&nodes, &all, id, &format!("scores.{name}"));
    let same_text = |id: &str| [value(id, "cells_of_same_text"), value(id, "best_of_same_text")];
    assert_eq!([same_text("t0:r1c1"), same_text("t0:r1c2")], [[2.0, -1.0], [2.0, 0.0]]);
    assert_eq!([same_text("t1:r1c2"), same_text("t1:r1c1")], [[2.0, 0.0], [0.0, -30.0]]);
    let same_headers = |id: &str| [value(id, "tables_of_same_headers"), value(id, "best_of_same_headers")];
    assert_eq!([same_headers("t0:r1c1"), same_headers("t1:r1c1")], [[1.0, -2.0], [1.0, 0.0]]);
    assert_eq!([same_headers("t0:r1c2"), same_headers("t1:r1c2")], [[1.0, -3.0], [1.0, -1.0]]);
    assert_eq!(same_headers("t0:r1h0"), [1.0, -5.0], "a header is like a header, not like a cell");
}

#[test]
fn a_candidate_has_the_scores_of_what_names_it_and_of_what_it_names() {
    let row = |texts: [&str; 2]| texts.map(|text| CellSource::from(text.to_owned())).to_vec();
    let rows = vec![row(["Athlete", "Town"]), row(["Chi Cheng", "Hsinchu"]), row(["Karin Balzer", "Magdeburg"])];
    let table = Table::new(TableSource { header_rows: 1, rows, ..TableSource::default() }).unwrap();
    let texts = ["They ran.", "Chi Cheng ran.", "Karin Balzer ran.", "Magdeburg is a town."];
    let passages = texts.map(|text| Block::Passage(text.into()));
    let blocks = [Block::Table(table)].into_iter().chain(passages).collect();
    let nodes: Vec<Node> = Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec();
    let config = FeaturesConfig { naming: true, ..FeaturesConfig::default() };
    let features = features_of(config, &nodes);
    let mut scores = vec![0.0; nodes.len()];
    for (id, score) in [("t0:r2c0", 5.0), ("p1", 4.0), ("p2", 3.0), ("p3", 1.0)] {
        scores[number(&nodes, id)] = score;
    }
    let query = Query::new::<&str>("who ran?", &[]);
    let context = QueryContext { nodes: &nodes, features: NO_FEATURES, query: Some((&features, &query)) };
    let all = Candidates::new(&context, &scores, 100);
    let shares: Vec<f64> = scores.iter().map(|score| f64::from(*score).exp()).collect();
    let share = |ids: &[&str]| {
        let sum = ids.iter().map(|id| shares[number(&nodes, id)]).sum::<f64>() / shares.iter().sum::<f64>();
        (sum + 1e-9).ln() as f32
    };
    let value = |id: &str, name: &str| value(&nodes, &all, id, &format!("naming_scores.{name}"));
    let bests = |id: &str| ["best", "best_of_row", "best_of_others", "best_of_column"].map(|name| value(id, name));
    assert_eq!(bests("p2"), [0.0, 0.0, -4.0, -1.0]);
    assert_eq!(bests("p3"), [-5.0, 0.0, -2.0, -4.0]);
    assert_eq!(bests("p1"), [-5.0, -5.0, -30.0, -1.0]);
    assert_eq!(bests("p0"), [-30.0; 4], "nothing names it");
    assert_eq!(bests("t0:r2c0"), [-2.0, -2.0, -30.0, -30.0]);
    assert_eq!(bests("t0:r2c1"), [-4.0, -2.0, -30.0, -30.0]);
    let close = |id: &str, name: &str, ids: &[&str]| (value(id, name) - share(ids)).abs() < 1e-4;
    assert!(close("p2", "log_share", &["t0:r2c0", "t0:r2c1"]) && close("t0:r2c1", "log_share", &["p2", "p3"]));
    assert!(close("p2", "others_log_share", &["p3"]) && close("p2", "column_log_share", &["p1", "p2"]));
}

/// Rows, columns, header rows, header columns, and bits for the rest.
type Drawn = (usize, usize, usize, usize, u64);

/// Documents of sentences and tables with merged cells, and a score for each node.
fn arbitrary() -> impl Strategy<Value = (Vec<Node>, Vec<f32>)> {
    let table = (1..5_usize, 1..5_usize, 0..3_usize, 0..3_usize, any::<u64>());
    (prop::collection::vec(prop::option::of(table), 1..5), prop::collection::vec(-4..4_i8, 40)).prop_map(
        |(blocks, scores)| {
            let block = |(number, block): (usize, Option<Drawn>)| match block {
                None => Block::Passage("Costs fell.".into()),
                Some((rows, cols, header_rows, header_cols, bits)) => {
                    // A row's first cell covers the row below it, or the column beside it.
                    let cell = |row: usize, col: usize| CellSource {
                        text: format!("{}", (bits >> ((row * cols + col) % 60)) & 3),
                        rowspan: if bits >> 60 & 1 == 1 && row == 0 && col == 0 { rows.min(2) } else { 1 },
                        colspan: if bits >> 61 & 1 == 1 && row + 1 == rows && rows > 2 && col == 0 {
                            cols.min(2)
                        } else {
                            1
                        },
                    };
                    let covered = |row: usize, col: usize| {
                        (bits >> 60 & 1 == 1 && row == 1 && col == 0)
                            || (bits >> 61 & 1 == 1 && row + 1 == rows && rows > 2 && col == 1)
                    };
                    let line =
                        |row: usize| (0..cols).filter(|&col| !covered(row, col)).map(|col| cell(row, col)).collect();
                    let (header_rows, header_cols) = (header_rows.min(rows), header_cols.min(cols));
                    let rows = (0..rows).map(line).collect();
                    let source = TableSource { number, header_rows, header_cols, rows, ..TableSource::default() };
                    Block::Table(Table::new(source).expect("the spans do not overlap"))
                }
            };
            let blocks = blocks.into_iter().enumerate().map(block).collect();
            let nodes: Vec<Node> = Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec();
            let scores = (0..nodes.len()).map(|node| f32::from(scores[node % scores.len()])).collect();
            (nodes, scores)
        },
    )
}

proptest! {
    /// Whatever stands in a file, it is refused, or orders the candidates.
    #[test]
    fn a_damaged_file_is_refused_or_ranks(
        places in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6), whole in any::<bool>(),
        numbers in proptest::collection::vec((any::<proptest::sample::Index>(), any::<f32>()), 0..3),
    ) {
        let nodes = nodes();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("reranker.safetensors");
        contrary(&nodes, NO_FEATURES).write(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        // Behind the head numbers of four bytes stand.
        let head = 8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
        let from = if whole { head } else { 0 };
        for (place, byte) in places {
            let at = from + place.index(bytes.len() - from);
            bytes[at] = byte;
        }
        for (place, number) in numbers {
            let at = head + 4 * place.index((bytes.len() - head) / 4);
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        std::fs::write(&path, bytes).unwrap();
        if let Ok(second) = Reranker::read(&path, 0) {
            let mut after = scores(&nodes);
            second.rescore(&context(&nodes, NO_FEATURES), &mut after);
            prop_assert!(after.iter().all(|score| score.is_finite()), "{:?}", after);
            second.explain(&context(&nodes, NO_FEATURES), &after, &[0, 1]);
        }
    }

    /// Also those that had the score of the last candidate.
    #[test]
    fn regression_no_other_node_comes_up_to_a_candidate((nodes, scores) in arbitrary(), scale in 0.1..9_f32) {
        let before: Vec<f32> = scores.iter().map(|score| score * scale).collect();
        let candidates = Candidates::new(&context(&nodes, NO_FEATURES), &before, 4).nodes;
        let mut after = before;
        contrary(&self::nodes(), NO_FEATURES).rescore(&context(&nodes, NO_FEATURES), &mut after);
        let least = candidates.iter().map(|&node| after[node as usize]).fold(f32::INFINITY, f32::min);
        let others = (0..after.len()).filter(|&node| !candidates.contains(&(node as u32)));
        for other in others {
            prop_assert!(after[other] < least, "{} {least}", after[other]);
        }
    }

    /// Node by node, from all others.
    #[test]
    fn lines_are_as_by_looking_at_every_node((nodes, scores) in arbitrary()) {
        let all = Candidates::new(&context(&nodes, NO_FEATURES), &scores, 20);
        let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = scores.iter().map(|score| f64::from(score - best).exp()).sum();
        let in_row = |kind| matches!(kind, NodeKind::Cell | NodeKind::RowHeader);
        let in_column = |kind| matches!(kind, NodeKind::Cell | NodeKind::ColumnHeader);
        for &number in &all.nodes {
            let number = number as usize;
            let node = &nodes[number];
            let value = |name: &str| value(&nodes, &all, &node.id, &format!("scores.{name}"));
            let Some(own) = &node.place else {
                prop_assert_eq!(value("nodes_of_row"), 0.0);
                continue;
            };
            let near = |line: &dyn Fn(&Node) -> bool| {
                let of = |(other, score): (usize, f32)| line(&nodes[other]).then_some((other, score));
                scores.iter().copied().enumerate().filter_map(of).collect::<Vec<(usize, f32)>>()
            };
            let row = near(&|other| other.place.as_ref().is_some_and(|place| {
                in_row(other.kind) && place.table == own.table && (place.row..place.row + place.rowspan).contains(&own.row)
            }));
            let column = near(&|other| other.place.as_ref().is_some_and(|place| {
                in_column(other.kind)
                    && place.table == own.table
                    && (place.col..place.col + place.colspan).contains(&own.col)
            }));
            for (line, part, share, count, first, second) in [
                (row, in_row(node.kind), "row_log_share", "nodes_of_row", "best_of_row", "second_of_row"),
                (column, in_column(node.kind), "column_log_share", "nodes_of_column", "best_of_column", "second_of_column"),
            ] {
                let line = if part { line } else { Vec::new() };
                prop_assert_eq!(value(count), line.len() as f32);
                let expected = line.iter().map(|(_, score)| f64::from(score - best).exp()).sum::<f64>() / sum;
                prop_assert!((value(share) - (expected + 1e-9).ln() as f32).abs() < 1e-4);
                let mut others: Vec<f32> =
                    line.iter().filter(|(other, _)| *other != number).map(|(_, score)| score - best).collect();
                others.sort_by(|a, b| b.total_cmp(a));
                let of = |at: usize| others.get(at).copied().unwrap_or(-30.0);
                prop_assert_eq!([value(first), value(second)], [of(0), of(1)]);
            }
        }
    }
}

/// Trees that put high what the ranker puts low.
fn contrary(nodes: &[Node], features: &dyn FeatureRows) -> Reranker {
    let scores = scores(nodes);
    let Candidates { nodes: order, rows } = Candidates::new(&context(nodes, features), &scores, 4);
    let width = rows.len() / order.len();
    let mut lists = Lists::new(Bins::new(&rows, width));
    for _ in 0..30 {
        lists.push(&rows, &[false, false, false, true]);
    }
    let growth =
        BoostingConfig { num_iterations: 20, min_data_in_leaf: 1, feature_fraction: 1.0, ..BoostingConfig::default() };
    Reranker::new(grow(&lists, &growth, 0, &mut |_| {}), 4)
}

#[test]
fn candidates_change_places_and_the_others_keep_theirs() {
    let nodes = nodes();
    let features: Vec<f32> = (0..2 * nodes.len()).map(|at| at as f32).collect();
    let second = contrary(&nodes, &features);
    let before = scores(&nodes);
    let mut after = before.clone();
    second.rescore(&context(&nodes, &features), &mut after);
    let order = Candidates::new(&context(&nodes, &features), &after, 100).nodes;
    let at = |rank: usize| nodes[order[rank] as usize].id.as_str();
    assert_eq!(at(0), "p1");
    assert_eq!(at(4), "t0:r1h0", "the first after the candidates");
    let least = order[..4].iter().map(|&node| after[node as usize]).fold(f32::INFINITY, f32::min);
    assert!((least - after[number(&nodes, "t0:r1h0")] - 1.0).abs() < 1e-5, "as far below as before");

    let wanted = [number(&nodes, "p1") as u32, number(&nodes, "t0:r1h0") as u32];
    let looks = second.explain(&context(&nodes, &features), &before, &wanted);
    let look = looks[0].as_ref().unwrap();
    let sum = look.alone + look.effects.iter().sum::<f32>();
    assert!((sum - after[number(&nodes, "p1")]).abs() < 1e-5);
    assert_eq!(look.values[..2], features[2 * number(&nodes, "p1")..][..2]);
    assert_eq!(looks[1], None, "no candidate");
    second.rescore(&context(&[], NO_FEATURES), &mut []);
}

#[test]
fn cells_of_changes_are_for_questions_of_changes() {
    let row = |texts: [&str; 4]| texts.map(|text| CellSource::from(text.to_owned())).to_vec();
    let rows = vec![row(["", "2019", "Change", "% Change"]), row(["Products", "12", "1", "9"])];
    let table = Table::new(TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() }).unwrap();
    let nodes = Graph::of(&Document { id: "d".into(), blocks: vec![Block::Table(table)] }).nodes().to_vec();
    let features = features_of(FeaturesConfig::default(), &nodes);
    let cells: Vec<u32> = ["t0:r1c1", "t0:r1c2", "t0:r1c3"].map(|id| number(&nodes, id) as u32).to_vec();
    let of = |question: &str| {
        let query = Query::new::<&str>(question, &[]);
        wanted_of(&QueryContext { nodes: &nodes, features: NO_FEATURES, query: Some((&features, &query)) }, &cells)
    };
    assert_eq!(of("How did products change in 2019?"), [0.0, CHANGE_WANTED, CHANGE_WANTED]);
    assert_eq!(of("By what percentage did products grow?"), [0.0, 0.0, CHANGE_WANTED]);
    assert_eq!(of("What were products in 2019?"), [0.0, CHANGE_UNWANTED, CHANGE_UNWANTED]);
    assert_eq!(of("Why did products change?"), [CANNOT_ANSWER; 3]);
}

#[test]
fn it_comes_back_from_its_file_and_damage_is_named() {
    let nodes = nodes();
    let second = contrary(&nodes, &vec![0.0; 2 * nodes.len()]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reranker.safetensors");
    second.write(&path).unwrap();
    assert_eq!(Reranker::read(&path, 2).unwrap(), second);
    let reranked = |features| Reranker::read(&path, features).unwrap_err().to_string();
    let (own, other) = (Candidates::width(2), Candidates::width(3));
    assert!(reranked(3).contains(&format!("look at {own} numbers, expected {other}")), "{}", reranked(3));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
    assert!(reranked(2).contains("reranker.safetensors: is no whole safetensors file"));
    write_bytes_atomic(&path, &serialize(&second.trees.tensors(), &path).unwrap()).unwrap();
    assert!(reranked(2).contains("has no tensor candidates"));
}
