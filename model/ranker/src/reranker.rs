//! A reranking at the nodes that the ranker puts first: boosted trees see, beside a candidate's features, where the ranker's
//! scores put it among the others and what it adds to them, and order the candidates anew. The nodes after them keep their order.
//! Where a question asks why, sentences go before all that is none, and those that give a reason before others as good; where it
//! asks how much, sentences without an amount go behind; where it asks for a change, columns of changes come first.

mod candidates;
mod duplicates;
mod score_context;
mod sheet;

use std::path::Path;

use burn::tensor::TensorData;
use tabsegnet_features::Schema as _;
use tabsegnet_features::reports::Whereabouts;
use tabsegnet_features::wanted::{
    Change, asks_for_amount, asks_for_level, asks_for_reason, change_in, change_under, gives_reason, has_amount,
    tells_change,
};
use tabsegnet_graph::{Node, NodeKind, section_path};
use tabsegnet_store::{read_bytes, write_bytes_atomic};

use crate::boosting::BoostedTrees;
use crate::checkpoint::CheckpointError;
use crate::tensors::{NamedTensors, serialize};

use score_context::{NamingScores, SectionScores};

pub use candidates::{Candidates, QueryContext, names};

/// Trees and how many nodes they look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Reranker {
    candidates: usize,
    trees: BoostedTrees,
}

/// How the reranker comes to the score of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct RerankEffects {
    /// Score of a row of which nothing is known.
    pub alone: f32,
    /// `[Candidates::width]`: the numbers looked at.
    pub values: Vec<f32>,
    /// `[Candidates::width]`: what each adds to the score; with `alone` and `wanted` they are the score.
    pub effects: Vec<f32>,
    /// What is added because the question asks why, how much, by how much it changed, or what it was.
    pub wanted: f32,
}

/// What a sentence that gives a reason gets where the question asks why: the whole number at which most of 37 such questions
/// on annual reports find theirs among the first five (.865; without .784).
const GIVES_REASON: f32 = 1.0;
/// What cannot answer the question gets: more than the trees tell apart.
const CANNOT_ANSWER: f32 = -10.0;

/// What a sentence that says by how much something changed gets where the question asks what it was: of 2, 3, 4 and 10 the
/// least that finds most of 507 questions on annual reports first (.520; without .514).
const TELLS_CHANGE: f32 = -3.0;

/// What a cell of a column of changes gets where the question is about one: of 1, 2 and 3 the one with which most questions of
/// the data sets' dev parts find their cell first.
const CHANGE_WANTED: f32 = 2.0;
/// And where it is not: 2 less would find as many there, and fewer of HiTab's training part.
const CHANGE_UNWANTED: f32 = -1.0;

/// What a cell of another kind than the question wants gets, and one of all where that is wanted; a cell of the statement that the
/// question names, what is of the parent company alone, and what its stock returned. Whole and half numbers by which more of 119
/// questions on annual reports find their place first (.607 with all of them, .580 without), and of 93 others none fewer.
const OTHER_KIND: f32 = -2.0;
const OF_ALL: f32 = 2.0;
const IN_STATEMENT: f32 = 2.0;
const OF_PARENT: f32 = -1.5;
const OF_STOCK: f32 = -3.0;
/// What the sentence that tells how many people are employed gets where that is wanted: of thirteen reports it is first in twelve with
/// this, and in five without.
const HEADCOUNT: f32 = 6.0;

fn of_change(question: Change, cell: Change) -> f32 {
    match (question, cell) {
        // A percentage would have to be worked out from the change, for which the amounts of the years are as good.
        (_, Change::Absent) | (Change::InPercent, Change::Present) => 0.0,
        (Change::Absent, _) => CHANGE_UNWANTED,
        _ => CHANGE_WANTED,
    }
}

/// What is added to the score of each of `nodes` of a document for a question that asks why, how much, by how much it changed, or
/// what it was, and for where in a report it stands.
fn wanted_of(context: &QueryContext<'_>, nodes: &[u32]) -> Vec<f32> {
    let question = context.query.map_or("", |(_, query)| query.text());
    let (reason, amount, level) = (asks_for_reason(question), asks_for_amount(question), asks_for_level(question));
    let (change, whereabouts) = (change_in(question), Whereabouts::of(question));
    let of_place = |node: &Node| {
        let headings = section_path(context.nodes, node);
        let given = |is: bool, what: f32| if is { what } else { 0.0 };
        let of_part =
            given(whereabouts.is_of_parent(&headings), OF_PARENT) + given(whereabouts.is_of_stock(&headings), OF_STOCK);
        match &node.place {
            Some(place) if node.kind == NodeKind::Cell => {
                let (row, column) = (place.row_path.as_str(), place.column_path.as_str());
                of_part
                    + given(whereabouts.is_other_kind(&node.text, row, column), OTHER_KIND)
                    + given(whereabouts.is_of_all(row, column), OF_ALL)
                    + given(whereabouts.is_in_statement(&headings), IN_STATEMENT)
            }
            _ => of_part,
        }
    };
    let of_words = |node: &Node| match node.kind {
        NodeKind::Passage if reason && gives_reason(&node.text) => GIVES_REASON,
        NodeKind::Passage if reason => 0.0,
        _ if reason => CANNOT_ANSWER,
        NodeKind::Passage if whereabouts.is_headcount(&node.text) => HEADCOUNT,
        NodeKind::Passage if amount && !has_amount(&node.text) => CANNOT_ANSWER,
        NodeKind::Passage if level && tells_change(&node.text) => TELLS_CHANGE,
        NodeKind::Cell => {
            let headers = node.place.as_ref().map_or("", |place| place.column_path.as_str());
            of_change(change, change_under(headers, &node.text))
        }
        _ => 0.0,
    };
    let of = |node: &Node| of_words(node) + of_place(node);
    nodes.iter().map(|&node| context.nodes.get(node as usize).map_or(0.0, of)).collect()
}

impl Reranker {
    /// `trees` that look at so many candidates.
    pub fn new(trees: BoostedTrees, candidates: usize) -> Self {
        Self { candidates, trees }
    }

    /// Numbers of a row.
    fn width(&self) -> usize {
        self.trees.features()
    }

    /// Puts the trees' scores in the place of the ranker's `scores` `[nodes]`: the candidates' in order of the
    /// trees, the others' below all of them, as far from the last candidate as they were.
    pub fn rescore(&self, context: &QueryContext<'_>, scores: &mut [f32]) {
        let Candidates { nodes: order, rows } = Candidates::new(context, scores, self.candidates);
        let Some(&last) = order.last() else { return };
        let mut reranked = self.trees.scores(&rows);
        reranked.iter_mut().zip(wanted_of(context, &order)).for_each(|(score, wanted)| *score += wanted);
        let least = reranked.iter().copied().fold(f32::INFINITY, f32::min);
        let lower = least - scores[last as usize];
        // One that had the last candidate's score would share its place with it.
        scores.iter_mut().for_each(|score| *score = (*score + lower).min(least.next_down()));
        order.iter().zip(reranked).for_each(|(&node, reranked)| scores[node as usize] = reranked);
    }

    /// How each of `wanted` gets its score, by the ranker's `scores`; nothing of one that is no candidate.
    pub fn explain(&self, context: &QueryContext<'_>, scores: &[f32], wanted: &[u32]) -> Vec<Option<RerankEffects>> {
        let Candidates { nodes: order, rows } = Candidates::new(context, scores, self.candidates);
        let of_wanted = wanted_of(context, &order);
        let look = |node: &u32| {
            let at = order.iter().position(|candidate| candidate == node)?;
            let values = &rows[at * self.width()..(at + 1) * self.width()];
            let (alone, effects) = self.trees.effects(values);
            Some(RerankEffects { alone, values: values.to_vec(), effects, wanted: of_wanted[at] })
        };
        wanted.iter().map(look).collect()
    }

    /// Writes it as a safetensors file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), CheckpointError> {
        let mut tensors = self.trees.tensors();
        tensors.push(("candidates".into(), TensorData::new(vec![self.candidates as i32], [1])));
        Ok(write_bytes_atomic(path, &serialize(&tensors, path)?)?)
    }

    /// Reads what [`Reranker::write`] wrote, for nodes with so many features.
    ///
    /// # Errors
    /// A file that is cut short or holds something else, or trees for another number of features.
    pub fn read(path: &Path, features: usize) -> Result<Self, CheckpointError> {
        let wrong = |message: String| CheckpointError::Content { file: path.display().to_string(), message };
        let tensors = NamedTensors::read(path, &read_bytes(path)?)?;
        let trees = BoostedTrees::from_tensors(&tensors).map_err(wrong)?;
        let candidates = match tensors.integers("candidates") {
            Ok(&[count @ 1..1_000_000]) => count as usize,
            _ => return Err(wrong("has no tensor candidates with one whole number from 1".into())),
        };
        let expected = Candidates::width(features);
        // Trees from before sections, or from before what names what, know nothing of what stands last in a row.
        let before_naming = expected - NamingScores::COUNT;
        if ![expected, before_naming, before_naming - SectionScores::COUNT].contains(&trees.features()) {
            return Err(wrong(format!(
                "its trees look at {} numbers, expected {expected}: another version wrote it; train the ranker again",
                trees.features()
            )));
        }
        Ok(Self { candidates, trees: trees.widened(expected) })
    }
}

#[cfg(test)]
mod tests;
