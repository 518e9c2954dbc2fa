//! Answers to questions about a document: the number or the words, the program that made it and the cells it rests
//! on, or that nothing fits.
//!
//! ```
//! use tabsegnet::{Question, Session};
//! use tabsegnet_agent::{Policy, Rules};
//!
//! # std::env::set_current_dir("..")?;
//! let session = Session::open("checkpoints/general")?;
//! let report = session.open_document("tabsegnet/examples/report.json")?;
//! let question = "What was long-term deferred revenue on June 30, 2009?";
//! let answer = Rules.answer(&report.rank(Question::new(question).top(usize::MAX).each_place())?);
//! println!("{} ({:.2}): {:?}", answer.answer, answer.confidence, answer.program);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Program`] is the program language of FinQA, run in decimals; a [`Policy`] answers from ranked nodes: [`Learnt`] by
//! the trees of a checkpoint, [`Rules`] by the question's words alone, [`walk::LlmPolicy`] with a language model.

pub mod answer;
mod candidates;
pub mod checks;
pub mod choice;
pub mod config;
mod either;
mod facts;
mod family;
mod features;
mod folder;
pub mod judge;
pub mod large;
mod learnt;
mod measures;
mod names;
mod operands;
pub mod page;
mod phrasing;
pub mod prediction;
pub mod program;
mod proposals;
pub mod proposer;
pub mod quantity;
pub mod question;
mod quotient;
mod rules;
pub mod run;
pub mod segmenter;
mod stated;
mod table_units;
mod threshold;
pub mod walk;
mod words;
mod years;

pub use answer::{Answer, Check, Citation};
pub use candidates::check_units;
pub use choice::{Candidates, Choice};
pub use folder::Folder;
pub use learnt::Learnt;
pub use measures::{WithDocument, answer_with};
pub use prediction::Prediction;
pub use program::{ParseError, Program};
pub use rules::{Policy, Rules};
pub use run::{Outcome, RunError};
