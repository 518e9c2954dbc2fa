//! One report over several methods on the same questions.
//!
//! [`Report::build`] computes every figure from the ranks of the gold nodes; [`Report::write`]
//! puts it into a directory as `report.json` (complete, read back by [`Report::read`]),
//! `report.md` and `report.html`.

mod build;
mod error;
mod files;
mod slices;

use serde::{Deserialize, Serialize};

use crate::measures::{GoldRanks, Measure};
use crate::significance::{Estimate, Resampling};

pub use error::ReportError;

/// Version of the JSON form; raised when an older reader could not make sense of a newer file.
pub const FORMAT: u32 = 1;

/// Where the gold nodes of a question lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// All in tables.
    Table,
    /// All in sentences.
    Text,
    /// Some in tables, some in sentences.
    Both,
}

impl Evidence {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Table, Self::Text, Self::Both];

    /// From whether there are gold nodes in tables and in sentences; `None` where in neither.
    pub fn of(in_tables: bool, in_sentences: bool) -> Option<Self> {
        match (in_tables, in_sentences) {
            (true, true) => Some(Self::Both),
            (true, false) => Some(Self::Table),
            (false, true) => Some(Self::Text),
            (false, false) => None,
        }
    }
}

/// What a report needs to know of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionInfo {
    /// Its id, unique in the report.
    pub id: String,
    /// The data set that it is from, where the report is on several; else empty.
    pub dataset: String,
    /// Id of its document. Questions with the same one are resampled together.
    pub document: String,
    /// Where its gold nodes lie.
    pub evidence: Evidence,
    /// Number of its gold nodes, at least 1.
    pub gold: usize,
    /// Number of nodes of its document.
    pub nodes: usize,
}

/// The rankings of one method.
#[derive(Clone, Debug, PartialEq)]
pub struct MethodRun {
    /// A short name, unique in the report.
    pub name: String,
    /// What it is, in a sentence; may be empty.
    pub description: String,
    /// One a question, in the order of the questions.
    pub rankings: Vec<GoldRanks>,
    /// Mean wall-clock seconds to rank one question, if measured.
    pub seconds_per_question: Option<f64>,
}

/// What a report is built from.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportInput {
    /// Heading of the report.
    pub title: String,
    /// When it was built, as it shall be printed.
    pub created: String,
    /// Name of the data set.
    pub dataset: String,
    /// Part of the data set ("dev").
    pub part: String,
    /// Questions of the part that are not in the report: reason and number.
    pub questions_left_out: Vec<(String, usize)>,
    /// Names and values of settings, in the order to print them in.
    pub settings: Vec<(String, String)>,
    /// The questions, each with at least one gold node.
    pub questions: Vec<QuestionInfo>,
    /// The methods, in the order to print them in.
    pub methods: Vec<MethodRun>,
    /// Remarks to print under the figures, one a paragraph.
    pub notes: Vec<String>,
    /// Resamples, rounds and seed of intervals and p-values.
    pub resampling: Resampling,
}

/// A complete report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// Heading.
    pub title: String,
    /// When it was built.
    pub created: String,
    /// What was measured on.
    pub dataset: DatasetSummary,
    /// Names and values of settings.
    pub settings: Vec<(String, String)>,
    /// Resamples, rounds and seed of intervals and p-values.
    pub resampling: Resampling,
    /// The methods.
    pub methods: Vec<MethodReport>,
    /// Every pair of methods by each of [`Measure::MAIN`].
    pub comparisons: Vec<Comparison>,
    /// Parts of the questions.
    pub slices: Vec<Slice>,
    /// Remarks.
    pub notes: Vec<String>,
}

/// What was measured on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetSummary {
    /// Name of the data set.
    pub name: String,
    /// Its part.
    pub part: String,
    /// Number of documents with a question in the report.
    pub documents: usize,
    /// Number of questions in the report.
    pub questions: usize,
    /// Questions that are not in the report: reason and number.
    pub questions_left_out: Vec<(String, usize)>,
    /// Mean number of nodes of a document.
    pub mean_nodes_per_document: f64,
    /// Nodes of the largest document.
    pub max_nodes_per_document: usize,
    /// Mean number of gold nodes of a question.
    pub gold_per_question: f64,
}

/// The figures of one method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodReport {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// One entry for each of [`Measure::ALL`], in that order.
    pub measures: Vec<Measured>,
    /// Mean recall@k for k = 1..=[`CURVE_LENGTH`](crate::CURVE_LENGTH).
    pub recall_curve: Vec<f64>,
    /// Mean wall-clock seconds to rank one question, if measured.
    pub seconds_per_question: Option<f64>,
}

impl MethodReport {
    /// The estimate of one measure; `None` only in a report that was edited by hand.
    pub fn estimate(&self, measure: Measure) -> Option<Estimate> {
        self.measures.iter().find(|m| m.measure == measure).map(|m| m.estimate)
    }
}

/// A measure with its mean over questions and the interval of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Which measure.
    pub measure: Measure,
    /// Its mean and 95 % interval.
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// Two methods by one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the method that comes first in the report.
    pub method_a: String,
    /// Name of the other.
    pub method_b: String,
    /// Which measure.
    pub measure: Measure,
    /// Mean of a minus mean of b, with its paired 95 % interval.
    pub difference: Estimate,
    /// Two-sided p of the paired randomisation test.
    pub p: f64,
    /// p after Holm's adjustment for all pairs compared by this measure.
    pub p_adjusted: f64,
}

/// Questions with something in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// "data set", "evidence", "gold nodes" or "document size".
    pub group: String,
    /// Name within the group.
    pub name: String,
    /// Number of questions.
    pub questions: usize,
    /// One entry a method, in the order of the report.
    pub methods: Vec<SliceMethod>,
}

/// The figures of one method on a slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceMethod {
    /// Name of the method.
    pub name: String,
    /// Recall at 10.
    pub recall_10: Estimate,
    /// Mean average precision.
    pub map: Estimate,
}

impl SliceMethod {
    /// One of the two measures of a slice: recall at 10, or MAP for every other measure.
    pub(crate) fn main(&self, measure: Measure) -> &Estimate {
        if measure == Measure::Recall10 { &self.recall_10 } else { &self.map }
    }
}

#[cfg(test)]
mod tests;
