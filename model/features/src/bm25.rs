//! BM25 of a document's nodes for a question.

use tabsegnet_lexical::{Bm25Config, LexicalIndex};

use crate::question::Question;
use crate::strings::{NodeStrings, Strings};

/// What BM25 scores are divided by.
const UNIT: f32 = 10.0;

crate::features! {
    /// Of a node of a table, or of none.
    pub(crate) struct NodeBm25(bm25: &Bm25, node: usize, table: Option<usize>) {
        path: bm25.path.of_nodes[node] / UNIT,
        path_of_best: bm25.path.of_nodes[node] / bm25.path.best,
        bare: bm25.bare.of_nodes[node] / UNIT,
        bare_of_best: bm25.bare.of_nodes[node] / bm25.bare.best,
        table_of_best: table.map_or(0.0, |table| bm25.of_table[table]) / bm25.path.best,
    }
}

/// The texts of a document's nodes.
#[derive(Debug, Clone)]
pub(crate) struct Indices {
    /// With their headers.
    path: LexicalIndex,
    /// Without.
    bare: LexicalIndex,
}

impl Indices {
    pub(crate) fn new(strings: &Strings) -> Self {
        let index = |text: fn(&NodeStrings) -> u32| {
            LexicalIndex::new(strings.nodes.iter().map(|node| strings.text(text(node))))
        };
        let (path, bare) = rayon::join(|| index(|node| node.parts.own), || index(|node| node.bare));
        Self { path, bare }
    }
}

/// The scores of all nodes.
struct Scores {
    /// `[nodes]`
    of_nodes: Vec<f32>,
    best: f32,
}

impl Scores {
    fn new(index: &LexicalIndex, question: &Question) -> Self {
        let of_nodes = index.bm25(question.text(), Bm25Config::default());
        Self { best: of_nodes.iter().fold(1e-6, |best: f32, score| best.max(*score)), of_nodes }
    }
}

/// BM25 of each node.
pub(crate) struct Bm25 {
    path: Scores,
    bare: Scores,
    /// Of each table's best node, by its path.
    of_table: Vec<f32>,
}

impl Bm25 {
    pub(crate) fn new(indices: &Indices, question: &Question, strings: &Strings) -> Self {
        let [path, bare] = [&indices.path, &indices.bare].map(|index| Scores::new(index, question));
        let mut of_table = vec![0.0_f32; strings.tables];
        for (score, table) in path.of_nodes.iter().zip(strings.tables_of_nodes()) {
            if let Some(table) = table {
                of_table[table] = of_table[table].max(*score);
            }
        }
        Self { path, bare, of_table }
    }
}
