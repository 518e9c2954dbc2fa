//! A graph with an edge type that a checkpoint was not trained with.

use std::path::Path;

use burn::tensor::Device;
use tabsegnet_document::{ReadOptions, read};
use tabsegnet_graph::{Adjacency, Graph, NodeKind, TypeNames};
use tabsegnet_ranker::{Inference, ModelInput, checkpoint};

/// Numbers in [−1, 1) that look random.
fn noise(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// A graph with more edges (source, destination) of a type, which may be a new one.
fn with_edges(graph: &Graph, name: &str, more: &[(u32, u32)]) -> Graph {
    let known = graph.adjacency().type_names();
    let names = known.iter().chain((known.number(name).is_err()).then_some(name)).map(str::to_owned);
    let mut other = graph.to_petgraph().map(|_, node| (*node).clone(), |_, &(name, weight)| (name.to_owned(), weight));
    more.iter().for_each(|&(source, destination)| {
        other.add_edge(source.into(), destination.into(), (name.to_owned(), 1.0));
    });
    Graph::from_petgraph(other, TypeNames::new(names).unwrap()).unwrap()
}

fn bits(scores: &[f32]) -> Vec<u32> {
    scores.iter().map(|score| score.to_bits()).collect()
}

#[test]
fn a_new_edge_type_in_a_document_changes_no_score_of_the_shipped_checkpoint() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let report = read(&root.join("tabsegnet/examples/report.json"), &ReadOptions::default()).unwrap();
    let graph = Graph::of(&report.document);
    let nodes = graph.nodes().len();
    // From what stands for a table to everything.
    let captions = (0..nodes as u32).filter(|&node| graph.nodes()[node as usize].kind == NodeKind::Caption);
    let more: Vec<(u32, u32)> = captions.flat_map(|from| (0..nodes as u32).map(move |to| (from, to))).collect();
    assert!(!more.is_empty());
    let wider = with_edges(&graph, "table_unionable_table", &more);
    assert_eq!(wider.adjacency().edges(), graph.adjacency().edges() + more.len());

    let device = Device::flex();
    let checkpoint = checkpoint::read(&root.join("checkpoints/general"), &device).unwrap();
    let (model, d_enc) = (checkpoint.manifest.model, checkpoint.manifest.d_enc);
    let inference = Inference::new(checkpoint.model, &model, d_enc, &device);
    let (u, q, features) = (noise(nodes * d_enc), noise(d_enc), noise(nodes * model.features));
    let query = ModelInput { u: &u, q: &q, segments: &[], features: &features, products: &[] };
    let scores = |edges: &Adjacency| inference.scores(&inference.open(edges, &u).unwrap(), &query).unwrap();
    let expected = scores(graph.adjacency());
    assert_eq!(bits(&scores(wider.adjacency())), bits(&expected));

    // The same edges of a type that it was trained with are heard.
    let heard = with_edges(&graph, "caption_to_cell", &more);
    assert_ne!(bits(&scores(heard.adjacency())), bits(&expected));
}
