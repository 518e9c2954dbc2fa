//! Which nodes of a large document a training step looks at.
//!
//! A whole report has ten thousand nodes and more; a step on each question and all of them would take most of its time
//! for nodes that nothing can be learnt from. So a document with more than `optimisation.sampled_nodes` is cut into
//! pieces, tables and short runs of sentences, and of each question are taken those with gold, those that have most in
//! common with it by BM25, for half of what is left, and others at random, other ones each epoch. Features are those of
//! the whole document. What stands beside gold is no longer a sign of it than what stands beside anything else: all
//! pieces are whole.

use std::ops::Range;

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use tabsegnet::Embedded;
use tabsegnet_graph::{Node, NodeKind};
use tabsegnet_lexical::{Bm25Config, LexicalIndex};

/// Sentences and headings of a piece without a table.
const RUN: usize = 8;
/// Digits of a number that a node shares with a gold node only if it states the same.
const FEWEST_DIGITS: usize = 3;
/// Streams of the random number generator that other purposes have, below this.
const FIRST_STREAM: u64 = 1 << 32;

/// Nodes of the training questions, each epoch anew.
pub struct Sampling {
    /// Nodes of a question, about.
    budget: usize,
    seed: u64,
    /// Of each document its pieces, in order; none of one that is taken whole.
    pieces: Vec<Option<Vec<Range<u32>>>>,
    /// Of each question about a document in pieces which of them have most in common with it, the most first, and the
    /// nodes that state what a gold node states and are not marked as gold.
    questions: Vec<(Vec<u32>, Vec<u32>)>,
}

impl Sampling {
    /// Of documents with more than `budget` nodes; 0 takes all of all.
    pub fn new(embedded: &Embedded, budget: usize, seed: u64) -> Self {
        let is_large = |nodes: usize| budget > 0 && nodes > budget;
        let cut = |nodes: &[Node]| is_large(nodes.len()).then(|| pieces(nodes));
        let pieces: Vec<_> = embedded.documents.iter().map(|document| cut(document.nodes())).collect();
        let index = |(document, pieces): (usize, &Option<Vec<Range<u32>>>)| {
            pieces.as_ref().map(|_| LexicalIndex::new(embedded.documents[document].ranking_texts.iter()))
        };
        let indices: Vec<_> = pieces.par_iter().enumerate().map(index).collect();
        let texts = embedded.texts();
        let of_question = |(number, question): (usize, &tabsegnet_datasets::prepared::PreparedQuestion)| {
            let document = question.document;
            let (Some(index), Some(pieces)) = (&indices[document], &pieces[document]) else {
                return Default::default();
            };
            let scores = index.bm25(texts[number], Bm25Config::default());
            let best = |piece: &Range<u32>| {
                scores[piece.start as usize..piece.end as usize].iter().copied().fold(0.0, f32::max)
            };
            let mut order: Vec<(f32, u32)> = pieces.iter().map(best).zip(0..).filter(|(best, _)| *best > 0.0).collect();
            order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let nodes = embedded.documents[document].nodes();
            (order.into_iter().map(|(_, piece)| piece).collect(), same_number(nodes, &question.gold))
        };
        let questions = embedded.questions.par_iter().enumerate().map(of_question).collect();
        Self { budget, seed, pieces, questions }
    }

    /// The nodes of a question for an epoch, rising; nothing where all of its document are taken. The same for the same
    /// seed, question and epoch.
    pub fn nodes(&self, embedded: &Embedded, question: usize, epoch: usize) -> Option<Vec<u32>> {
        let query = &embedded.questions[question];
        let pieces = self.pieces[query.document].as_ref()?;
        let (order, left_out) = &self.questions[question];
        let mut taken = vec![false; pieces.len()];
        let mut count = 0;
        let mut take = |piece: usize, limit: usize| {
            let size = pieces[piece].len();
            if !taken[piece] && count + size <= limit {
                taken[piece] = true;
                count += size;
            }
            count
        };
        for &node in &query.gold {
            take(pieces.partition_point(|piece| piece.end <= node), usize::MAX);
        }
        let with_gold = take(0, 0);
        let half = with_gold + self.budget.saturating_sub(with_gold) / 2;
        for &piece in order {
            if take(piece as usize, half) >= half {
                break;
            }
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(FIRST_STREAM + ((epoch as u64) << 32) + question as u64);
        let mut others: Vec<usize> = (0..pieces.len()).collect();
        others.shuffle(&mut rng);
        for piece in others {
            if take(piece, self.budget) >= self.budget {
                break;
            }
        }
        let nodes = pieces.iter().zip(taken).filter(|(_, taken)| *taken).flat_map(|(piece, _)| piece.clone());
        Some(nodes.filter(|node| left_out.binary_search(node).is_err()).collect())
    }
}

/// A table is one piece; what stands between tables falls into runs.
fn pieces(nodes: &[Node]) -> Vec<Range<u32>> {
    let table = |node: &Node| node.place.as_ref().map(|place| place.table);
    let mut pieces: Vec<Range<u32>> = Vec::new();
    for (number, node) in (0..).zip(nodes) {
        let joins = pieces.last().is_some_and(|last| {
            let own = table(node);
            own == table(&nodes[last.start as usize]) && (own.is_some() || last.len() < RUN)
        });
        match pieces.last_mut().filter(|_| joins) {
            Some(last) => last.end = number + 1,
            None => pieces.push(number..number + 1),
        }
    }
    pieces
}

/// Cells that show the number of a gold cell and are not gold: whether they state the same is not known.
fn same_number(nodes: &[Node], gold: &[u32]) -> Vec<u32> {
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    let shown = |text: &str| text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect::<String>();
    let is_cell = |node: &Node| node.kind == NodeKind::Cell && digits(&node.text) >= FEWEST_DIGITS;
    let wanted: Vec<String> = gold
        .iter()
        .filter_map(|&node| nodes.get(node as usize))
        .filter(|node| is_cell(node))
        .map(|node| shown(&node.text))
        .collect();
    let same = |(number, node): (u32, &Node)| {
        let unknown = is_cell(node) && gold.binary_search(&number).is_err() && wanted.contains(&shown(&node.text));
        unknown.then_some(number)
    };
    (0..).zip(nodes).filter_map(same).collect()
}

#[cfg(test)]
mod tests {
    use tabsegnet_datasets::document::{Block, Document, Heading, Table, TableSource};
    use tabsegnet_graph::Graph;

    use super::*;

    /// A heading, 20 sentences, a table of 2 x 3, a sentence, and the table again.
    fn nodes() -> Vec<Node> {
        let table = |number| {
            let rows =
                vec![vec!["".into(), "2024".into(), "2023".into()], vec!["Sales".into(), "1,234".into(), "12".into()]];
            let source = TableSource { number, header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
            Block::Table(Table::new(source).unwrap())
        };
        let mut blocks = vec![Block::Heading(Heading { level: 1, text: "Results".into() })];
        blocks.extend((0..20).map(|number| Block::Passage(format!("Sentence {number}."))));
        blocks.extend([table(0), Block::Passage("Sales were $ 1,234.".into()), table(1)]);
        Graph::of(&Document { id: "d".into(), blocks }).nodes().to_vec()
    }

    #[test]
    fn tables_are_whole_pieces_and_all_nodes_are_in_one() {
        let pieces = pieces(&nodes());
        assert_eq!(pieces, [0..8, 8..16, 16..21, 21..28, 28..29, 29..36]);
    }

    #[test]
    fn cells_that_show_a_gold_number_are_not_taken_for_others() {
        let nodes = nodes();
        let place = |id: &str| nodes.iter().position(|node| node.id == id).unwrap() as u32;
        assert_eq!(same_number(&nodes, &[place("t0:r1c1")]), [place("t1:r1c1")]);
        // Two digits are no number to know again, and a sentence states more than its numbers.
        assert_eq!(same_number(&nodes, &[place("t0:r1c2")]), [0; 0]);
        assert_eq!(same_number(&nodes, &[place("p20")]), [0; 0]);
    }
}
