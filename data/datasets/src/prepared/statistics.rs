//! What a prepared data set holds, in numbers.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{PreparedDocument, PreparedQuestion};
use crate::mix::dataset_of;
use crate::sample::LeftOut;

/// Counts over a prepared data set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Documents, with or without questions.
    pub documents: usize,
    /// Tables, distractors included.
    pub tables: usize,
    /// Nodes of all documents.
    pub nodes: usize,
    /// Most nodes of one document.
    pub largest_document: usize,
    /// Nodes by kind.
    pub nodes_by_kind: BTreeMap<String, usize>,
    /// Directed edges of all documents.
    pub edges: usize,
    /// Directed edges by type.
    pub edges_by_type: BTreeMap<String, usize>,
    /// Questions that can be measured.
    pub questions: usize,
    /// Gold nodes of all questions.
    pub gold: usize,
    /// How many questions have so many gold nodes.
    pub questions_by_gold: BTreeMap<usize, usize>,
    /// Questions left out, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// The data sets of a mix; empty where there is one data set.
    pub datasets: BTreeMap<String, DatasetCounts>,
}

/// Counts over one data set of a mix.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetCounts {
    /// Documents, with or without questions.
    pub documents: usize,
    /// Questions that can be measured.
    pub questions: usize,
    /// Gold nodes of all questions.
    pub gold: usize,
    /// Questions left out.
    pub left_out: usize,
}

impl Statistics {
    pub(super) fn new(
        documents: &[PreparedDocument],
        questions: &[PreparedQuestion],
        left_out: &[LeftOut],
        datasets: &[&str],
    ) -> Self {
        let mut statistics = Self { documents: documents.len(), questions: questions.len(), ..Self::default() };
        let count = |map: &mut BTreeMap<String, usize>, name: &str| *map.entry(name.to_owned()).or_default() += 1;
        for document in documents {
            statistics.nodes += document.nodes().len();
            statistics.largest_document = statistics.largest_document.max(document.nodes().len());
            let adjacency = document.graph.adjacency();
            statistics.edges += adjacency.edges();
            for node in document.nodes() {
                count(&mut statistics.nodes_by_kind, node.kind.name());
            }
            for edge in 0..adjacency.edges() {
                count(&mut statistics.edges_by_type, adjacency.type_name(edge));
            }
        }
        statistics.tables = statistics.nodes_by_kind.get("caption").copied().unwrap_or_default();
        for question in questions {
            statistics.gold += question.gold.len();
            *statistics.questions_by_gold.entry(question.gold.len()).or_default() += 1;
        }
        for question in left_out {
            count(&mut statistics.left_out, question.reason);
        }
        for &name in datasets {
            let of = |id: &str| dataset_of(id) == name;
            let measured = || questions.iter().filter(|question| of(&question.id));
            let counts = DatasetCounts {
                documents: documents.iter().filter(|document| of(&document.id)).count(),
                questions: measured().count(),
                gold: measured().map(|question| question.gold.len()).sum(),
                left_out: left_out.iter().filter(|left_out| of(&left_out.question)).count(),
            };
            statistics.datasets.insert(name.to_owned(), counts);
        }
        statistics
    }
}

impl fmt::Display for Statistics {
    /// Several lines, without one at the end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = |sum: usize, count: usize| if count == 0 { 0.0 } else { sum as f64 / count as f64 };
        writeln!(f, "documents {:>9}   tables {}", self.documents, self.tables)?;
        writeln!(
            f,
            "nodes     {:>9}   {:.1} a document, {} at most",
            self.nodes,
            mean(self.nodes, self.documents),
            self.largest_document
        )?;
        for (kind, count) in &self.nodes_by_kind {
            writeln!(f, "  {kind:<26} {count:>9}")?;
        }
        writeln!(f, "edges     {:>9}   {:.1} a document", self.edges, mean(self.edges, self.documents))?;
        for (edge_type, count) in &self.edges_by_type {
            writeln!(f, "  {edge_type:<26} {count:>9}")?;
        }
        write!(
            f,
            "questions {:>9}   {} gold nodes, {:.2} a question;",
            self.questions,
            self.gold,
            mean(self.gold, self.questions)
        )?;
        let mut separator = " by number of gold nodes:";
        for (gold, questions) in &self.questions_by_gold {
            write!(f, "{separator} {gold}: {questions}")?;
            separator = ",";
        }
        let left_out: usize = self.left_out.values().sum();
        write!(f, "\nleft out  {left_out:>9}")?;
        for (reason, count) in &self.left_out {
            write!(f, "\n  {count}: {reason}")?;
        }
        for (name, DatasetCounts { documents, questions, gold, left_out }) in &self.datasets {
            write!(
                f,
                "\n{name}: {documents} documents, {questions} questions, {gold} gold nodes, {left_out} left out"
            )?;
        }
        Ok(())
    }
}
