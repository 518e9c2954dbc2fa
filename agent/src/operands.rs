//! Questions that name two things and what is done with them: each is looked up by a question of its own, and the operation is
//! done with what is found. One ranking of the whole question often holds only one of the two among its best nodes.

mod period;
mod reading;

use std::collections::HashSet;
use std::str::FromStr as _;

use rust_decimal::Decimal;
use tabsegnet::{OpenDocument, Question, RankingError};

use crate::answer::{Answer, Citation};
use crate::candidates::is_outflow;
use crate::checks::check;
use crate::prediction::shown_number;
use crate::program::{Argument, Operation, Program, Step};
use crate::quantity::Unit;
use crate::question::words;
use crate::rules::Policy;
use crate::run::{NoRows, Outcome};
use crate::years::named_years;

/// What is done with two things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// How much of the second the first is, in percent.
    Share,
    /// The first by the second.
    Ratio,
    /// The first less the second.
    Difference,
    Sum,
    /// The name of the greater, or the lesser.
    Larger {
        less: bool,
    },
    /// The first less the second, which is the same thing at another time; in percent of the second.
    Change {
        percent: bool,
    },
}

/// Two things that a question names, and what is done with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operands {
    form: Form,
    /// A question for each.
    questions: [String; 2],
    names: [String; 2],
    /// The years that are named.
    years: Vec<u16>,
}

/// One of them, as it is found.
struct Found {
    value: Decimal,
    answer: Answer,
}

impl Operands {
    /// The answer of a policy to the whole question where that does what is asked for, else what is worked out from the answers to
    /// a question for each of the two; the same answer where these do not go together.
    ///
    /// # Errors
    /// What [`OpenDocument::rank`] says of these questions.
    pub(crate) fn or_from_parts(
        &self,
        document: &OpenDocument,
        policy: &dyn Policy,
        whole: Answer,
    ) -> Result<Answer, RankingError> {
        if self.is_done_by(&whole) {
            return Ok(whole);
        }
        let mut found = Vec::new();
        for question in &self.questions {
            let query = Question::new(question).id(&whole.id).top(usize::MAX).each_place();
            let Some(part) = Found::of(policy.answer(&document.rank(query)?)) else { return Ok(whole) };
            found.push(part);
        }
        let combined = <[Found; 2]>::try_from(found).ok().and_then(|parts| self.combined(&parts));
        Ok(match combined {
            Some(combined) => combined.said_to(&whole, self.questions.join(" ")),
            None => whole,
        })
    }

    /// Whether an answer does with two places of a document what is asked for, or says what the document states so.
    fn is_done_by(&self, answer: &Answer) -> bool {
        if answer.abstained {
            return false;
        }
        let Some(program) = answer.program.as_deref().and_then(|program| Program::from_str(program).ok()) else {
            return self.is_stated_by(answer);
        };
        let operations: Vec<Operation> = program.steps().iter().map(|step| step.operation).collect();
        let rows: HashSet<Option<String>> =
            answer.citations.iter().map(|cited| cited.row_headers.as_deref().map(str::to_lowercase)).collect();
        let years = || {
            let of = |cited: &Citation| named_years(cited.column_headers.as_deref().unwrap_or_default());
            let named: HashSet<u16> = answer.citations.iter().flat_map(of).collect();
            self.years.iter().all(|year| named.contains(year))
        };
        match self.form {
            Form::Share | Form::Ratio => rows.len() > 1 && operations == [Operation::Divide],
            Form::Difference => rows.len() > 1 && operations == [Operation::Subtract],
            Form::Sum => rows.len() > 1 && operations == [Operation::Add],
            Form::Larger { .. } => self.names.iter().any(|name| name.to_lowercase() == answer.answer.to_lowercase()),
            Form::Change { percent: true } => {
                rows.len() == 1 && years() && operations == [Operation::Subtract, Operation::Divide]
            }
            Form::Change { percent: false } => rows.len() == 1 && years() && operations == [Operation::Subtract],
        }
    }

    /// Whether a document states what is asked for: a percentage, or a number that both names stand at.
    fn is_stated_by(&self, answer: &Answer) -> bool {
        let headers = |cited: &Citation| cited.headers().map(str::to_lowercase).collect::<Vec<_>>();
        let stems: HashSet<String> =
            answer.citations.iter().flat_map(headers).flat_map(|path| words(&path)).map(|(stem, _)| stem).collect();
        let has_name = |name: &String| words(&name.to_lowercase()).iter().all(|(stem, _)| stems.contains(stem));
        match self.form {
            Form::Share | Form::Change { percent: true } => answer.unit == Some(Unit::Percent),
            Form::Sum | Form::Ratio | Form::Difference => self.names.iter().all(has_name),
            Form::Larger { .. } => self.names.iter().any(|name| name.to_lowercase() == answer.answer.to_lowercase()),
            Form::Change { percent: false } => {
                stems.contains("change") || stems.contains("increas") || stems.contains("decreas")
            }
        }
    }

    /// What is worked out from the two, `None` where they do not go together.
    fn combined(&self, parts: &[Found; 2]) -> Option<Answer> {
        let [first, second] = parts;
        let [a, b] = [&first.answer, &second.answer];
        let (of_first, of_second) = (a.citations.first()?, b.citations.first()?);
        let is_percent = |answer: &Answer| answer.unit == Some(Unit::Percent);
        let alike = is_percent(a) == is_percent(b) && a.scale == b.scale && of_first.node != of_second.node;
        let row = |cited: &Citation| cited.row_headers.as_deref().map(str::to_lowercase);
        let years = |cited: &Citation| named_years(cited.column_headers.as_deref().unwrap_or_default());
        let (of_a, of_b) = (years(of_first), years(of_second));
        let same_time = of_a.is_empty() || of_b.is_empty() || of_a.iter().any(|year| of_b.contains(year));
        let of_form = match self.form {
            Form::Change { percent } => {
                !(percent && is_percent(a)) && row(of_first).is_some() && row(of_first) == row(of_second)
            }
            Form::Share | Form::Ratio | Form::Sum => same_time && !is_percent(a),
            Form::Difference | Form::Larger { .. } => same_time,
        };
        if !alike || !of_form {
            return None;
        }
        let (program, outcome) = self.worked_out(first.value, second.value)?;
        let Outcome::Number(number) = outcome else {
            let name = match outcome == Outcome::Verdict(true) {
                true => &self.names[0],
                false => &self.names[1],
            };
            return Some(self.answer(parts, &program, outcome)?.saying(name.clone()));
        };
        // No part is more than its whole.
        let is_possible = self.form != Form::Share || number.abs() <= Decimal::ONE;
        is_possible.then(|| self.answer(parts, &program, outcome)).flatten()
    }

    fn worked_out(&self, first: Decimal, second: Decimal) -> Option<(Program, Outcome)> {
        let step = |operation, first, second| Step { operation, first, second };
        let (a, b) = (Argument::number(first), Argument::number(second));
        let steps = match self.form {
            Form::Share | Form::Ratio => vec![step(Operation::Divide, a, b)],
            Form::Difference | Form::Change { percent: false } => vec![step(Operation::Subtract, a, b)],
            Form::Sum => vec![step(Operation::Add, a, b)],
            Form::Larger { less: false } => vec![step(Operation::Greater, a, b)],
            Form::Larger { less: true } => vec![step(Operation::Greater, b, a)],
            Form::Change { percent: true } => {
                let by = Argument::number(second);
                vec![step(Operation::Subtract, a, b), step(Operation::Divide, Argument::Step(0), by)]
            }
        };
        let program = Program::new(steps).ok()?;
        let outcome = program.run(&NoRows).ok()?;
        Some((program, outcome))
    }

    fn answer(&self, [first, second]: &[Found; 2], program: &Program, outcome: Outcome) -> Option<Answer> {
        let fraction = matches!(self.form, Form::Share | Form::Change { percent: true });
        let (unit, scale) = match self.form {
            _ if fraction => (Some(Unit::Percent), None),
            Form::Ratio | Form::Larger { .. } => (None, None),
            _ => (first.answer.unit.or(second.answer.unit), first.answer.scale),
        };
        let citations: Vec<Citation> = [first, second].iter().flat_map(|part| part.answer.citations.clone()).collect();
        let mut checks = check(program, outcome, &citations);
        checks.retain(|check| !check.passed);
        if !checks.is_empty() {
            return None;
        }
        let (text, value) = match outcome {
            Outcome::Number(number) => {
                let shown = match fraction {
                    true => number.checked_mul(Decimal::ONE_HUNDRED)?.round_dp(2),
                    false => number.round_dp(if number.abs() < Decimal::TEN { 5 } else { 2 }),
                };
                (shown_number(shown, unit), number.round_dp(5).normalize().to_string())
            }
            verdict @ Outcome::Verdict(_) => (verdict.to_string(), verdict.to_string()),
        };
        Some(Answer {
            answers: vec![text.clone()],
            answer: text,
            value: Some(value),
            unit,
            scale,
            program: Some(program.to_string()),
            confidence: first.answer.confidence.min(second.answer.confidence),
            checks: check(program, outcome, &citations),
            citations,
            ..Answer::default()
        })
    }
}

impl Found {
    /// A number that stands in one place.
    fn of(answer: Answer) -> Option<Self> {
        let [cited] = answer.citations.as_slice() else { return None };
        if answer.abstained || answer.program.is_some() || answer.answers.len() > 1 {
            return None;
        }
        let value = Decimal::from_str(answer.value.as_deref()?).ok()?;
        // What is paid stands in brackets.
        let is_paid = is_outflow(&cited.text, cited.row_headers.as_deref().unwrap_or_default());
        Some(Self { value: if is_paid { value.abs() } else { value }, answer })
    }
}

impl Answer {
    /// The same as an answer to the question of another, read as `read_as`.
    fn said_to(self, other: &Self, read_as: String) -> Self {
        Self {
            id: other.id.clone(),
            question: other.question.clone(),
            read_as: Some(read_as),
            policy: other.policy.clone(),
            warnings: other.warnings.clone(),
            ..self
        }
    }
}
