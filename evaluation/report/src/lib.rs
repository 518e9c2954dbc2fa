//! Measures of rankings, what chance alone would do to them, and the files that report them.
//!
//! A ranking comes in as the ranks of its gold nodes ([`GoldRanks`]). [`measures`] turns them into
//! the figures of a question, [`significance`] into intervals and p-values over questions,
//! [`report`] into one [`Report`] over several methods, written as JSON, Markdown and HTML.
//! [`answers`] says whether an answer is right, [`risk_coverage`] how many of the surest are, drawn too. [`table_retrieval`]
//! measures and compares rankings of the tables of a corpus. [`trec`] writes and reads the rankings themselves, for `trec_eval`
//! and other tools.
//!
//! Every result is a function of its input and a seed: neither the number of threads nor the order
//! in which a hash map iterates enters a figure.

pub mod answers;
pub mod measures;
pub mod programs;
mod render;
pub mod report;
pub mod risk_coverage;
pub mod significance;
pub mod table_retrieval;
pub mod trec;

pub use measures::{CURVE_LENGTH, CUTOFFS, GoldRanks, Measure, QuestionMeasures, rank_order, recall_curve};
pub use report::{Evidence, MethodRun, QuestionInfo, Report, ReportInput};
pub use significance::{Estimate, Resampling};
pub use table_retrieval::{TableComparison, TableGold, TableMeasure, TableMethod, TableRanking, compare_tables};
