//! Answers: what is said, how it was computed, what it rests on and how sure it is.

use serde::{Deserialize, Serialize};
use tabsegnet::ranking::{Position, location_of};
use tabsegnet::{RankedNode, Ranking, TableRanking};
use tabsegnet_document::Locations;
use tabsegnet_llm::Tokens;
pub use tabsegnet_tablerag::Check;
use tabsegnet_tablerag::RoundEvent;

use crate::quantity::{Scale, Unit};
use crate::walk::TraceEvent;

/// A node that an answer rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// Its id, such as `t0:r3c2`.
    pub node: String,
    /// Its text as the document has it.
    pub text: String,
    /// Row-header path of a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_headers: Option<String>,
    /// Column-header path of a cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column_headers: Option<String>,
    /// Where it stands; in a corpus tables are numbered by their place in the ranking, from 0.
    pub position: Position,
    /// Where that is in the file, such as `'Q3 results'!E4`, `line 7` or `page 3`; absent where the file does not tell, and in
    /// corpora and folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Its table of a corpus, by the table's id; absent for a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The file that this table is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What that file calls the node, where it is a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_in_file: Option<String>,
}

impl Citation {
    /// The paths of its row headers and of its column headers, where it has them.
    pub fn headers(&self) -> impl Iterator<Item = &str> + Clone {
        [&self.row_headers, &self.column_headers].into_iter().flatten().map(String::as_str)
    }
}

impl From<&RankedNode> for Citation {
    fn from(node: &RankedNode) -> Self {
        Self {
            node: node.id.clone(),
            text: node.text.clone(),
            row_headers: node.row_headers.clone(),
            column_headers: node.column_headers.clone(),
            position: node.position.clone(),
            location: node.location.clone(),
            table: None,
            file: None,
            id_in_file: None,
        }
    }
}

/// What is said to a question.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The question's id.
    pub id: String,
    /// The question.
    pub question: String,
    /// As it was read, in the words of the document; absent where these are its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
    /// The number with its currency or percent sign, the words or the sentence, a list with semicolons; empty where it
    /// abstains. A scale is in `scale`, whether a language model writes it here too or not.
    pub answer: String,
    /// The same, one by one where it is a list.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Whether nothing fits.
    pub abstained: bool,
    /// How likely the answer is right, from 0 to 1; where it abstains, how likely the best of what was refused.
    pub confidence: f32,
    /// The bare number, or yes or no; percentages that were computed are fractions, as FinQA has them. Absent for words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What the number counts, as far as it is known.
    pub unit: Option<Unit>,
    /// What the number is to be multiplied by, as far as it is known.
    pub scale: Option<Scale>,
    /// The program that gives the value; absent where the answer stands in the document.
    pub program: Option<String>,
    /// The statement that gives it, where it comes from a table too large for the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// What it rests on; of a statement that counts or sums rows the first ones.
    pub citations: Vec<Citation>,
    /// What was looked at; all hold, unless it abstains.
    pub checks: Vec<Check>,
    /// Who answers.
    pub policy: String,
    /// What is not sure enough to be said. Where a language model abstains after all: the best that it had, which did not hold or was
    /// not finished; where it had nothing when its budget was spent, what another policy says, else the likeliest cell that it saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// How a language model came to it; empty without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceEvent>,
    /// How it was looked for, where tables went through SQL; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<RoundEvent>,
    /// What a language model read and wrote; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// What it cost, where prices are set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// What was cut off or guessed when the document was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Answer {
    /// A corpus has no table that could answer the question.
    pub fn nothing_found(id: &str, question: &str) -> Self {
        let what = "the corpus has a table for the question".to_owned();
        let answer = Self::abstention(0.0, vec![Check { what, passed: false }]);
        Self { id: id.to_owned(), question: question.to_owned(), policy: "none".to_owned(), ..answer }
    }

    /// What is said, with its scale; empty where it abstains.
    pub fn said(&self) -> String {
        let named = |scale: &Scale| self.answer.to_lowercase().contains(&scale.to_string());
        match self.scale.filter(|scale| !self.abstained && !named(scale)) {
            // A percent sign is the scale already.
            Some(scale) => format!("{} {scale}", self.answer),
            None => self.answer.clone(),
        }
    }

    /// The same with what follows from it said in its place: a word that is the value too, of no unit and no scale.
    pub(crate) fn saying(self, text: String) -> Self {
        Self { answers: vec![text.clone()], value: Some(text.clone()), answer: text, unit: None, scale: None, ..self }
    }

    /// Nothing is said.
    pub fn abstention(confidence: f32, checks: Vec<Check>) -> Self {
        Self { abstained: true, confidence, checks, ..Self::default() }
    }

    /// An abstention where the confidence is lower; what would have been said is in `unverified`.
    #[must_use]
    pub fn at_least(self, confidence: f32) -> Self {
        if self.abstained || self.confidence >= confidence {
            return self;
        }
        let what = format!("the confidence {:.2} is at least {confidence}", self.confidence);
        let unverified = Some(self.said());
        Self { unverified, sql: None, ..self.withheld(what) }
    }

    /// Not said after all, for what does not hold; how it was looked for and what that took stays.
    #[must_use]
    pub(crate) fn withheld(mut self, what: String) -> Self {
        self.checks.push(Check { what, passed: false });
        Self {
            answer: String::new(),
            answers: Vec::new(),
            abstained: true,
            value: None,
            unit: None,
            scale: None,
            program: None,
            citations: Vec::new(),
            ..self
        }
    }

    /// The same with where in the file the citations stand.
    #[must_use]
    pub fn located(mut self, locations: &Locations) -> Self {
        for citation in &mut self.citations {
            citation.location = location_of(locations, &citation.position);
        }
        self
    }

    /// With the tables of a corpus that its citations are of, whose document the answer is from.
    #[must_use]
    pub fn of_tables(mut self, tables: &TableRanking) -> Self {
        for citation in &mut self.citations {
            if let Some(table) = tables.table_of(&citation.position) {
                (citation.table, citation.file) = (Some(table.id.clone()), Some(table.file.clone()));
                citation.id_in_file = tables.id_in_file(&citation.node, &citation.position);
            }
        }
        self
    }

    /// With the question that a ranking is of, what was said of its document, and who answers.
    pub(crate) fn of(self, ranking: &Ranking, policy: &str) -> Self {
        Self {
            id: ranking.question_id.clone(),
            question: ranking.question.clone(),
            read_as: ranking.read_as.clone(),
            warnings: ranking.warnings.clone(),
            policy: policy.to_owned(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Answer;
    use crate::quantity::Scale;

    #[test]
    fn a_scale_is_said_once() {
        let said = |answer: &str, scale| Answer { answer: answer.into(), scale, ..Answer::default() }.said();
        assert_eq!(said("$ 120", Some(Scale::Million)), "$ 120 million");
        assert_eq!(said("120 Million", Some(Scale::Million)), "120 Million");
        assert_eq!(said("12 %", None), "12 %");
        let abstained = Answer { abstained: true, scale: Some(Scale::Million), ..Answer::default() };
        assert_eq!(abstained.said(), "");
    }
}
