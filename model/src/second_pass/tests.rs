use tabsegnet_data::document::{Block, CellSource, Document, Table, TableSource};
use tabsegnet_data::graph::DocumentGraph;

use super::*;
use crate::trees::bins::Bins;
use crate::trees::growing::{Growth, Lists, grow};

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
    DocumentGraph::new(&Document { id: "d".into(), blocks }).nodes().cloned().collect()
}

fn number(nodes: &[Node], id: &str) -> usize {
    nodes.iter().position(|node| node.id == id).unwrap()
}

/// What the row of a node says under a name, without features of nodes.
fn value(nodes: &[Node], candidates: &Candidates, id: &str, name: &str) -> f32 {
    let node = number(nodes, id) as u32;
    let at = candidates.nodes.iter().position(|candidate| *candidate == node).unwrap();
    candidates.rows[at * NAMES.len() + NAMES.iter().position(|known| *known == name).unwrap()]
}

fn scores(nodes: &[Node]) -> Vec<f32> {
    let mut scores = vec![0.0; nodes.len()];
    for (id, score) in [("t0:r1c1", 5.0), ("t0:r1c2", 4.0), ("t0:r2c1", 3.0), ("p1", 2.0), ("t0:r1h0", 1.0)] {
        scores[number(nodes, id)] = score;
    }
    scores
}

#[test]
fn a_candidate_is_told_where_it_stands_among_the_others() {
    let nodes = nodes();
    let scores = scores(&nodes);
    let all = Candidates::new(&nodes, &[], &scores, 100);
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
    // The nodes that are looked at know no less than if all were.
    let few = Candidates::new(&nodes, &[], &scores, 10);
    assert!(few.nodes == all.nodes[..10] && all.nodes.len() > 10);
    assert_eq!(few.rows, all.rows[..10 * NAMES.len()]);
}

/// Trees that put high what the ranker puts low.
fn contrary(nodes: &[Node], features: &[f32]) -> SecondPass {
    let scores = scores(nodes);
    let Candidates { nodes: order, rows } = Candidates::new(nodes, features, &scores, 4);
    let width = rows.len() / order.len();
    let mut lists = Lists::new(Bins::new(&rows, width));
    for _ in 0..30 {
        lists.push(&rows, &[false, false, false, true]);
    }
    let growth = Growth { rounds: 20, least_rows: 1, feature_share: 1.0, ..Growth::default() };
    SecondPass::new(grow(&lists, &growth, 0, &mut |_| {}), 4)
}

#[test]
fn candidates_change_places_and_the_others_keep_theirs() {
    let nodes = nodes();
    let features: Vec<f32> = (0..2 * nodes.len()).map(|at| at as f32).collect();
    let second = contrary(&nodes, &features);
    let before = scores(&nodes);
    let mut after = before.clone();
    second.rescore(&nodes, &features, &mut after);
    let order = Candidates::new(&nodes, &features, &after, 100).nodes;
    let at = |rank: usize| nodes[order[rank] as usize].id.as_str();
    assert_eq!(at(0), "p1");
    assert_eq!(at(4), "t0:r1h0", "the first after the candidates");
    let least = order[..4].iter().map(|&node| after[node as usize]).fold(f32::INFINITY, f32::min);
    assert!((least - after[number(&nodes, "t0:r1h0")] - 1.0).abs() < 1e-5, "as far below as before");

    let wanted = [number(&nodes, "p1") as u32, number(&nodes, "t0:r1h0") as u32];
    let looks = second.explain(&nodes, &features, &before, &wanted);
    let look = looks[0].as_ref().unwrap();
    let sum = look.alone + look.effects.iter().sum::<f32>();
    assert!((sum - after[number(&nodes, "p1")]).abs() < 1e-5);
    assert_eq!(look.values[..2], features[2 * number(&nodes, "p1")..][..2]);
    assert_eq!(looks[1], None, "no candidate");
    second.rescore(&[], &[], &mut []);
}

#[test]
fn it_comes_back_from_its_file_and_damage_is_named() {
    let nodes = nodes();
    let second = contrary(&nodes, &vec![0.0; 2 * nodes.len()]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("second_pass.safetensors");
    second.write(&path).unwrap();
    assert_eq!(SecondPass::read(&path, 2).unwrap(), second);
    let said = |features| SecondPass::read(&path, features).unwrap_err().to_string();
    assert!(said(3).contains("look at 16 numbers, expected 17"), "{}", said(3));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 4]).unwrap();
    assert!(said(2).contains("second_pass.safetensors: is no whole safetensors file"));
    write_bytes_atomic(&path, &serialize(&second.trees.tensors(), &path).unwrap()).unwrap();
    assert!(said(2).contains("has no tensor candidates"));
}
