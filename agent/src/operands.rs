//! Questions that name several numbers and what is done with them: each is looked up by a question of its own, and the operation is
//! done with what is found. A ranking of the whole question often holds only one of them among its best nodes.

mod period;
mod reading;
mod text;

use std::collections::HashSet;
use std::str::FromStr as _;

use rust_decimal::Decimal;
use tabsegnet::{OpenDocument, Question, RankedNode, Ranking, RankingError};
use tabsegnet_document::numbers::parse_cell_number;

use crate::answer::{Answer, Citation};
use crate::candidates::is_outflow;
use crate::checks::check;
use crate::facts::row_of;
use crate::measures::{all_sales, is_of_all_sales};
use crate::prediction::shown_number;
use crate::program::{Argument, Operation, Program, Step};
use crate::quantity::{Unit, to_decimal};
use crate::question::{stems, words};
use crate::rules::Policy;
use crate::run::{NoRows, Outcome};
use crate::years::named_years;

/// What is done with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// How much of the second the first is, in percent.
    Share,
    /// The first by the second.
    Ratio,
    /// The first for each of what the second counts, in the unit and scale of the first.
    Each,
    /// The first less the second.
    Difference,
    /// The same in percent of the second.
    PercentChange,
    Sum,
    Average,
    /// The name of the greater, or the lesser, of two.
    Larger {
        less: bool,
    },
    /// Whether the first is greater, or less, than the second.
    Greater {
        less: bool,
    },
}

/// What a question names, and what is done with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operands {
    form: Form,
    /// A question for each.
    questions: Vec<String>,
    /// Each as the question has it.
    names: Vec<String>,
    /// Whether they are one thing at several times.
    of_one: bool,
    /// The years that are meant.
    years: Vec<u16>,
}

/// One of them, as it is found.
#[derive(Clone)]
struct Found {
    value: Decimal,
    cited: Citation,
    answer: Answer,
}

/// Confidence from which an answer that does what is wanted stands without a look at its parts.
const SURE: f32 = 0.5;

impl Operands {
    /// The answer of a policy to the whole question where that surely does what is wanted, else what is worked out from the
    /// answers to a question for each part; the same answer where these do not go together.
    ///
    /// # Errors
    /// What [`OpenDocument::rank`] says of these questions.
    pub(crate) fn or_from_parts(
        &self,
        document: &OpenDocument,
        ranking: &Ranking,
        policy: &dyn Policy,
        whole: Answer,
    ) -> Result<Answer, RankingError> {
        let whole = self.unless_of_one(whole);
        let is_done = self.is_done_by(&whole);
        if is_done && self.is_of_all(&whole) && whole.confidence >= SURE {
            return Ok(whole);
        }
        // Of a share of sales those of the whole company are meant.
        let sales = self.names.last().filter(|_| self.form == Form::Share).and_then(|name| all_sales(name, ranking));
        let mut questions = self.questions.clone();
        if let (Some(sales), Some(name), Some(question)) = (sales, self.names.last(), questions.last_mut()) {
            *question = question.replacen(name, sales, 1);
        }
        let mut parts: Vec<Found> = Vec::new();
        for (number, question) in questions.iter().enumerate() {
            let query = Question::new(question).id(&whole.id).top(usize::MAX).each_place();
            let beside =
                parts.first().filter(|_| number > 0).and_then(|first| self.beside((0, first), number, ranking));
            let part = match beside {
                Some(part) => Some(part),
                None => Found::of(policy.answer(&document.rank(query)?)),
            };
            let Some(part) = part else { return Ok(whole) };
            parts.push(part);
        }
        // What a sentence tells of one year stands in the row of the other, too.
        if let Some(of) = parts.iter().position(|part| row(&part.cited).is_some()).filter(|of| *of > 0) {
            let beside = (0..of).map(|number| self.beside((of, &parts[of]), number, ranking));
            if let Some(beside) = beside.collect::<Option<Vec<Found>>>() {
                parts.splice(..of, beside);
            }
        }
        let is_of_all = sales.is_none() || parts.last().is_some_and(|part| is_of_all_sales(&part.cited, ranking));
        let is_surer = |of: &Answer| is_of_all && (!is_done || of.confidence > whole.confidence);
        Ok(match self.combined(&parts).filter(is_surer) {
            Some(combined) => combined.said_to(&whole, questions.join(" ")),
            None => whole,
        })
    }

    /// The part of a number that stands in the row of another part under the same header of another year.
    fn beside(&self, (of, first): (usize, &Found), number: usize, ranking: &Ranking) -> Option<Found> {
        let (from, to) = (*self.years.get(of).filter(|_| self.of_one)?, *self.years.get(number)?);
        let (row, header) = (row_of(&first.cited.position)?, first.cited.column_headers.as_ref()?);
        let other = header.replace(&from.to_string(), &to.to_string());
        // "FY19" has no such number.
        let header = Some(other).filter(|other| named_years(header) == [from] && other != header)?;
        let is_beside =
            |node: &&RankedNode| row_of(&node.position) == Some(row) && node.column_headers.as_deref() == Some(&header);
        let node = ranking.nodes.iter().find(is_beside)?;
        let value = to_decimal(parse_cell_number(&node.text)?)?;
        let answer = Answer {
            unit: first.answer.unit,
            scale: first.answer.scale,
            confidence: first.answer.confidence,
            ..Answer::default()
        };
        Some(Found::new(value, node.into(), answer))
    }

    /// An answer, but no quotient of one thing at two times where two things are named.
    fn unless_of_one(&self, answer: Answer) -> Answer {
        let ([a, b], false, true) = (answer.citations.as_slice(), self.of_one, self.names.len() == 2) else {
            return answer;
        };
        // Two columns of one row may be the two, unless their headers differ in digits alone.
        let of = |cited: &Citation| {
            let path = cited.column_headers.as_deref().unwrap_or_default();
            stems(&path.to_lowercase()).filter(|word| word.len() > 1).collect::<HashSet<String>>()
        };
        let is_one = row(a).is_some() && row(a) == row(b) && of(a) == of(b);
        if !is_one || operations(&answer).as_deref() != Some(&[Operation::Divide]) {
            return answer;
        }
        let what = format!("{} is worked out from one thing at two times, and the question names two", answer.said());
        answer.withheld(what)
    }

    /// Whether an answer does what is wanted, or says what the document states so.
    fn is_done_by(&self, answer: &Answer) -> bool {
        if answer.abstained {
            return false;
        }
        let Some(operations) = operations(answer) else { return self.is_stated_by(answer) };
        let is_sum = |of: &[Operation]| {
            !of.is_empty() && of.iter().all(|step| matches!(step, Operation::Add | Operation::TableSum))
        };
        let percent = operations == [Operation::Subtract, Operation::Divide];
        match self.form {
            Form::Share | Form::Ratio | Form::Each => operations == [Operation::Divide],
            // "By how much did it grow" may be in percent, too.
            Form::Difference => operations == [Operation::Subtract] || self.of_one && percent,
            Form::PercentChange => percent,
            Form::Sum => is_sum(&operations),
            Form::Average => match operations.as_slice() {
                [before @ .., Operation::Divide] => is_sum(before),
                of => of == [Operation::TableAverage],
            },
            Form::Larger { .. } => self.is_one_of_names(answer),
            Form::Greater { .. } => operations == [Operation::Greater],
        }
    }

    /// Whether what an answer is worked out from is one row in the years that are meant, or several rows.
    fn is_of_all(&self, answer: &Answer) -> bool {
        let rows: HashSet<Option<String>> = answer.citations.iter().map(row).collect();
        let years: HashSet<u16> = answer.citations.iter().flat_map(years).collect();
        match self.of_one {
            _ if answer.program.is_none() => true,
            true => rows.len() == 1 && self.years.iter().all(|year| years.contains(year)),
            false => rows.len() > 1,
        }
    }

    /// Whether a document states what is wanted: a percentage, a change, or a number at which all names stand.
    fn is_stated_by(&self, answer: &Answer) -> bool {
        let headers = |cited: &Citation| cited.headers().map(str::to_lowercase).collect::<Vec<_>>();
        let stems: HashSet<String> = answer.citations.iter().flat_map(headers).flat_map(|path| stems(&path)).collect();
        let has_name = |name: &String| words(&name.to_lowercase()).iter().any(|(stem, _)| stems.contains(stem));
        let has = |cues: &[&str]| cues.iter().any(|cue| stems.iter().any(|stem| stem.starts_with(cue)));
        match self.form {
            Form::Share | Form::PercentChange => answer.unit == Some(Unit::Percent),
            Form::Greater { .. } => false,
            Form::Larger { .. } => self.is_one_of_names(answer),
            Form::Average => has(&["averag"]),
            _ if self.of_one => has(&["change", "increas", "decreas", "total"]),
            _ => self.names.iter().all(has_name),
        }
    }

    fn is_one_of_names(&self, answer: &Answer) -> bool {
        self.names.iter().any(|name| name.to_lowercase() == answer.answer.to_lowercase())
    }

    /// What is worked out from the parts, `None` where they do not go together.
    fn combined(&self, parts: &[Found]) -> Option<Answer> {
        let first = parts.first()?;
        let is_percent = first.is_percent();
        let is_count = |part: &Found| part.answer.scale.is_none() && part.answer.unit.is_none();
        let alike = |part: &Found| match self.form {
            Form::Each if !std::ptr::eq(part, first) => is_count(part) && !part.value.is_zero(),
            _ => part.is_percent() == is_percent && part.answer.scale == first.answer.scale,
        };
        let places: HashSet<&str> = parts.iter().map(|part| part.cited.node.as_str()).collect();
        // One number of one row, in two tables.
        let is_twice = |part: &Found| part.value == first.value && row(&part.cited) == row(&first.cited);
        if !self.of_one && row(&first.cited).is_some() && parts.iter().skip(1).any(is_twice) {
            return None;
        }
        let at_one_time = |part: &Found| {
            let (of, others) = (years(&first.cited), years(&part.cited));
            of.is_empty() || others.is_empty() || of.iter().any(|year| others.contains(year))
        };
        let go_together = match self.of_one {
            true => {
                let of = row(&first.cited);
                of.is_some() && parts.iter().all(|part| row(&part.cited) == of)
            }
            false => parts.iter().all(at_one_time),
        };
        let of_amounts = matches!(self.form, Form::Share | Form::Ratio | Form::Sum | Form::PercentChange);
        if !parts.iter().all(alike) || places.len() < parts.len() || !go_together || is_percent && of_amounts {
            return None;
        }
        let program = self.program(&parts.iter().map(|part| part.value).collect::<Vec<_>>())?;
        let outcome = program.run(&NoRows).ok()?;
        match outcome {
            Outcome::Verdict(verdict) if matches!(self.form, Form::Larger { .. }) => {
                let name = self.names.get(usize::from(!verdict))?;
                Some(Self::answer(parts, &program, outcome, None)?.saying(name.clone()))
            }
            Outcome::Verdict(_) => Self::answer(parts, &program, outcome, None),
            // No part is more than its whole.
            Outcome::Number(number) if self.form == Form::Share && number.abs() >= Decimal::ONE => None,
            Outcome::Number(_) => {
                let unit = match self.form {
                    Form::Share | Form::PercentChange => Some(Unit::Percent),
                    Form::Ratio => None,
                    _ => parts.iter().find_map(|part| part.answer.unit),
                };
                let answer = Self::answer(parts, &program, outcome, unit)?;
                let scale = if self.form == Form::Each { first.answer.scale } else { answer.scale };
                Some(Answer { scale, ..answer })
            }
        }
    }

    fn program(&self, values: &[Decimal]) -> Option<Program> {
        let step = |operation, first, second| Step { operation, first, second };
        let number = |at: usize| values.get(at).copied().map(Argument::number);
        let (a, b) = (number(0)?, number(1)?);
        let steps = match self.form {
            Form::Share | Form::Ratio | Form::Each => vec![step(Operation::Divide, a, b)],
            Form::Difference => vec![step(Operation::Subtract, a, b)],
            Form::PercentChange => {
                let by = b.clone();
                vec![step(Operation::Subtract, a, b), step(Operation::Divide, Argument::Step(0), by)]
            }
            Form::Larger { less: false } | Form::Greater { less: false } => vec![step(Operation::Greater, a, b)],
            Form::Larger { less: true } | Form::Greater { less: true } => vec![step(Operation::Greater, b, a)],
            Form::Sum | Form::Average => {
                let mut steps = vec![step(Operation::Add, a, b)];
                for (done, value) in values.iter().skip(2).enumerate() {
                    steps.push(step(Operation::Add, Argument::Step(done), Argument::number(*value)));
                }
                if self.form == Form::Average {
                    let count = Argument::Constant(Decimal::from(values.len()));
                    steps.push(step(Operation::Divide, Argument::Step(steps.len() - 1), count));
                }
                steps
            }
        };
        Program::new(steps).ok()
    }

    /// The answer of a program, where all its checks hold. A number in percent is a fraction; without a unit it is a ratio.
    fn answer(parts: &[Found], program: &Program, outcome: Outcome, unit: Option<Unit>) -> Option<Answer> {
        let citations: Vec<Citation> = parts.iter().map(|part| part.cited.clone()).collect();
        let checks = check(program, outcome, &citations);
        if checks.iter().any(|check| !check.passed) {
            return None;
        }
        let first = parts.first()?;
        let is_fraction = unit == Some(Unit::Percent) && !first.is_percent();
        let is_quotient = program.steps().iter().all(|step| step.operation == Operation::Divide);
        let (text, value) = match outcome {
            Outcome::Number(number) => {
                let shown = match is_fraction {
                    true => number.checked_mul(Decimal::ONE_HUNDRED)?.round_dp(2),
                    false => number.round_dp(if number.abs() < Decimal::TEN { 5 } else { 2 }),
                };
                (shown_number(shown, unit), number.round_dp(5).normalize().to_string())
            }
            verdict @ Outcome::Verdict(_) => (verdict.to_string(), verdict.to_string()),
        };
        let is_amount = matches!(outcome, Outcome::Number(_)) && !is_fraction && !is_quotient;
        Some(Answer {
            answers: vec![text.clone()],
            answer: text,
            value: Some(value),
            unit,
            scale: first.answer.scale.filter(|_| is_amount),
            program: Some(program.to_string()),
            confidence: parts.iter().map(|part| part.answer.confidence).fold(1.0, f32::min),
            citations,
            checks,
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
        Some(Self::new(value, cited.clone(), answer))
    }

    /// What is paid stands in brackets, and beside what is paid what is earned: both are meant without their signs.
    fn new(value: Decimal, cited: Citation, answer: Answer) -> Self {
        let label = cited.row_headers.as_deref().unwrap_or_default();
        let is_unsigned = is_outflow(&cited.text, label) || label.to_lowercase().ends_with("interest income");
        Self { value: if is_unsigned { value.abs() } else { value }, cited, answer }
    }

    fn is_percent(&self) -> bool {
        self.answer.unit == Some(Unit::Percent)
    }
}

/// What an answer's program does; `None` where it has none.
fn operations(answer: &Answer) -> Option<Vec<Operation>> {
    let program = Program::from_str(answer.program.as_deref()?).ok()?;
    Some(program.steps().iter().map(|step| step.operation).collect())
}

fn row(cited: &Citation) -> Option<String> {
    cited.row_headers.as_deref().map(str::to_lowercase)
}

fn years(cited: &Citation) -> Vec<u16> {
    named_years(cited.column_headers.as_deref().unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use tabsegnet::ranking::Position;

    use super::{Form, Found, Operands};
    use crate::answer::{Answer, Citation};
    use crate::quantity::{Scale, Unit};

    fn cited((row, column, text): (&str, &str, &str)) -> Citation {
        Citation {
            node: format!("{row} {column}"),
            text: text.into(),
            row_headers: Some(row.into()),
            column_headers: Some(column.into()),
            position: Position::Cell { table: 0, row: 1, col: 1, rowspan: 1, colspan: 1 },
            location: None,
            table: None,
            file: None,
            id_in_file: None,
        }
    }

    fn found(cell: (&str, &str, &str), unit: Option<Unit>) -> Found {
        let answer = Answer {
            answer: cell.2.into(),
            value: Some(cell.2.replace(['(', ')'], "")),
            unit,
            scale: Some(Scale::Million),
            confidence: 0.75,
            citations: vec![cited(cell)],
            ..Answer::default()
        };
        Found::of(answer).unwrap()
    }

    fn said(question: &str, cells: &[(&str, &str, &str)]) -> Option<(String, Option<Scale>, String)> {
        let parts: Vec<Found> = cells.iter().map(|cell| found(*cell, Some(Unit::Dollar))).collect();
        let answer = Operands::of(question).unwrap().combined(&parts)?;
        Some((answer.answer, answer.scale, answer.program.unwrap()))
    }

    #[test]
    fn parts_are_put_together() {
        let (rent, wages) = (("Rent", "2023", "20"), ("Wages", "2023", "80"));
        let million = Some(Scale::Million);
        for (question, cells, answer, scale, program) in [
            ("Rent as a share of wages in 2023?", vec![rent, wages], "25 %", None, "divide(20, 80)"),
            ("Ratio of wages to rent in 2023?", vec![wages, rent], "4", None, "divide(80, 20)"),
            ("Wages less rent in 2023?", vec![wages, rent], "$60", million, "subtract(80, 20)"),
            ("Rent plus wages in 2023?", vec![rent, wages], "$100", million, "add(20, 80)"),
            ("Was rent above wages in 2023?", vec![rent, wages], "no", None, "greater(20, 80)"),
            ("Which cost less in 2023, rent or wages?", vec![rent, wages], "rent", None, "greater(80, 20)"),
            (
                "By what percentage did rent rise in 2023?",
                vec![rent, ("Rent", "2022", "16")],
                "25 %",
                None,
                "subtract(20, 16), divide(#0, 16)",
            ),
            (
                "Average rent over 2021 to 2023?",
                vec![("Rent", "2021", "10"), ("Rent", "2022", "15"), rent],
                "$15",
                million,
                "add(10, 15), add(#0, 20), divide(#1, const_3)",
            ),
        ] {
            assert_eq!(said(question, &cells), Some((answer.into(), scale, program.into())), "{question}");
        }
    }

    #[test]
    fn parts_that_do_not_go_together_are_not() {
        let rent = ("Rent", "2023", "20");
        for (question, cells) in [
            // A part of more than its whole, of another year, one place twice, another row for another year.
            ("Wages as a share of rent in 2023?", [("Wages", "2023", "80"), rent]),
            ("Rent plus wages?", [rent, ("Wages", "2022", "80")]),
            ("Rent plus wages?", [rent, rent]),
            ("Did rent rise in 2023?", [rent, ("Rent of offices", "2022", "16")]),
        ] {
            assert_eq!(said(question, &cells), None, "{question}");
        }
        let people = [found(("Wages", "2023", "80"), Some(Unit::Dollar)), found(("Employees", "2023", "20"), None)];
        let of_people = |scale| {
            let [wages, mut people] = people.clone();
            people.answer.scale = scale;
            let answer = Operands::of("Wages per head in 2023?").unwrap().combined(&[wages, people])?;
            Some((answer.answer, answer.scale))
        };
        assert_eq!(
            (of_people(None), of_people(Some(Scale::Million))),
            (Some(("$4".into(), Some(Scale::Million))), None)
        );
        let shares = [("Margin", "2023"), ("Tax rate", "2023")]
            .map(|(row, column)| found((row, column, "20"), Some(Unit::Percent)));
        let of = |question: &str| Operands::of(question).unwrap().combined(&shares).is_some();
        assert!(!of("Margin as a share of tax rate?") && of("Was margin above tax rate?"));
    }

    #[test]
    fn what_a_policy_does_with_the_right_places_is_left() {
        let done = |question: &str, program: Option<&str>, cells: &[(&str, &str, &str)]| {
            let citations = cells.iter().map(|cell| cited(*cell)).collect();
            let answer = Answer { program: program.map(str::to_owned), citations, ..Answer::default() };
            let operands = Operands::of(question).unwrap();
            operands.is_done_by(&answer) && operands.is_of_all(&answer)
        };
        let (old, new) = (("Rent", "2022", "16"), ("Rent", "2023", "20"));
        let rise = "By what percentage did rent rise in 2023?";
        assert!(done(rise, Some("subtract(20, 16), divide(#0, 16)"), &[new, old]));
        assert!(!done(rise, Some("subtract(20, 16)"), &[new, old]) && !done(rise, None, &[new]));
        assert!(!done(rise, Some("subtract(20, 20), divide(#0, 20)"), &[new, new]));
        let sum = "Rent and wages together in 2023?";
        assert!(done(sum, Some("add(20, 80)"), &[new, ("Wages", "2023", "80")]));
        // What is worked out from one thing at two times is no share of another.
        let share = Operands::of("Rent as a percentage of wages in 2023?").unwrap();
        let of_one = |cells: [(&str, &str, &str); 2]| {
            let citations = cells.into_iter().map(cited).collect();
            let answer = Answer { program: Some("divide(16, 20)".into()), citations, ..Answer::default() };
            share.unless_of_one(answer).abstained
        };
        assert!(of_one([old, new]) && !of_one([new, ("Wages", "2023", "20")]));
        assert!(done(sum, None, &[("Rent and wages", "2023", "100")]) && !done(sum, None, &[new]));
        assert_eq!(Operands::of(sum).unwrap().form, Form::Sum);
    }
}
