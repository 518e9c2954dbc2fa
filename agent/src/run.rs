//! Programs run in decimals: 0.1 + 0.2 is 0.3, and what cannot be computed is an error with a name.

use std::fmt;

use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive as _, ToPrimitive as _};

use crate::program::{Argument, Operation, Program};

/// What a program gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A number.
    Number(Decimal),
    /// Yes or no.
    Verdict(bool),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{}", number.normalize()),
            Self::Verdict(yes) => f.write_str(if *yes { "yes" } else { "no" }),
        }
    }
}

/// A program that has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Division by zero.
    #[error("step {step} divides by zero")]
    DivisionByZero {
        /// From 0.
        step: usize,
    },
    /// Too large, or a power that no real number is.
    #[error("step {step}: the result of {operation} is no number of at most 28 digits")]
    OutOfRange {
        /// From 0.
        step: usize,
        /// Its operation.
        operation: &'static str,
    },
    /// Arithmetic on the yes or no of an earlier step.
    #[error("step {step} counts with the yes or no of step {of}")]
    Verdict {
        /// From 0.
        step: usize,
        /// Where it comes from.
        of: usize,
    },
    /// A row that the table does not have.
    #[error("no row has the header {header:?}")]
    NoRow {
        /// As the program writes it.
        header: String,
    },
    /// A cell of a row that is no number.
    #[error("row {header:?} holds {cell:?}, which is no number")]
    NoNumber {
        /// The row.
        header: String,
        /// The cell.
        cell: String,
    },
    /// Percent with dollars, and the like.
    #[error("{first} and {second} do not go together")]
    Units {
        /// The unit of one.
        first: String,
        /// That of the other.
        second: String,
    },
    /// No step at all.
    #[error("the program has no step")]
    Empty,
}

/// Where the rows come from that operations on rows work on.
pub trait Rows {
    /// The numbers of the row with this header, left to right, never none of them.
    ///
    /// # Errors
    /// [`RunError::NoRow`], [`RunError::NoNumber`].
    fn row(&self, header: &str) -> Result<Vec<Decimal>, RunError>;
}

/// No rows: for programs without operations on rows.
#[derive(Debug, Clone, Copy)]
pub struct NoRows;

impl Rows for NoRows {
    fn row(&self, header: &str) -> Result<Vec<Decimal>, RunError> {
        Err(RunError::NoRow { header: header.to_owned() })
    }
}

/// A table of texts, of which the first column holds headers, as FinQA has them; read as its script reads them: what
/// stands in brackets behind a number is dropped, a percentage is a hundredth.
#[derive(Debug, Clone, Copy)]
pub struct TextTable<'a>(pub &'a [Vec<String>]);

impl Rows for TextTable<'_> {
    fn row(&self, header: &str) -> Result<Vec<Decimal>, RunError> {
        let missing = || RunError::NoRow { header: header.to_owned() };
        let found = self.0.iter().find(|row| row.first().is_some_and(|first| first.trim() == header.trim()));
        let cells = found.and_then(|row| row.get(1..)).filter(|cells| !cells.is_empty()).ok_or_else(missing)?;
        cells.iter().map(|cell| number_of_script(cell).ok_or_else(|| no_number(header, cell))).collect()
    }
}

fn no_number(header: &str, cell: &str) -> RunError {
    RunError::NoNumber { header: header.to_owned(), cell: cell.to_owned() }
}

/// A cell as FinQA's script takes it.
fn number_of_script(cell: &str) -> Option<Decimal> {
    let shown = cell.replace('$', "");
    let shown: String = shown.split('(').next()?.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    match shown.strip_suffix('%') {
        Some(digits) => digits.parse::<Decimal>().ok()?.checked_div(Decimal::ONE_HUNDRED),
        None => shown.parse().ok(),
    }
}

impl Program {
    /// The result of the last step.
    ///
    /// # Errors
    /// What [`RunError`] lists; the same program on the same rows always gives the same.
    pub fn run(&self, rows: &dyn Rows) -> Result<Outcome, RunError> {
        let mut results: Vec<Outcome> = Vec::with_capacity(self.steps().len());
        for (number, step) in self.steps().iter().enumerate() {
            let range = RunError::OutOfRange { step: number, operation: step.operation.name() };
            let outcome = if let Argument::Row(header) = &step.first {
                let values = rows.row(header)?;
                let sum = || values.iter().try_fold(Decimal::ZERO, |sum, value| sum.checked_add(*value));
                let found = match step.operation {
                    Operation::TableMax => values.iter().max().copied(),
                    Operation::TableMin => values.iter().min().copied(),
                    Operation::TableSum => sum(),
                    _ => sum().and_then(|sum| sum.checked_div(Decimal::from(values.len()))),
                };
                Outcome::Number(found.ok_or(range)?)
            } else {
                let first = value(&step.first, &results, number)?;
                let second = value(&step.second, &results, number)?;
                let result = match step.operation {
                    Operation::Divide if second.is_zero() => return Err(RunError::DivisionByZero { step: number }),
                    Operation::Greater => {
                        results.push(Outcome::Verdict(first > second));
                        continue;
                    }
                    operation => arithmetic(operation, first, second),
                };
                Outcome::Number(result.ok_or(range)?)
            };
            results.push(outcome);
        }
        results.last().copied().ok_or(RunError::Empty)
    }
}

fn value(argument: &Argument, results: &[Outcome], step: usize) -> Result<Decimal, RunError> {
    match argument {
        Argument::Number { value, percent: true } => Ok(*value / Decimal::ONE_HUNDRED),
        Argument::Number { value, .. } | Argument::Constant(value) => Ok(*value),
        Argument::Step(of) => match results.get(*of) {
            Some(Outcome::Number(number)) => Ok(*number),
            Some(Outcome::Verdict(_)) => Err(RunError::Verdict { step, of: *of }),
            None => Err(RunError::Empty),
        },
        Argument::Row(header) => Err(RunError::NoRow { header: header.clone() }),
        Argument::Nothing => Err(RunError::Empty),
    }
}

/// The number that an operation makes of two; `None` for operations that make none, and where it has more than 28 digits.
pub(crate) fn arithmetic(operation: Operation, first: Decimal, second: Decimal) -> Option<Decimal> {
    match operation {
        Operation::Add => first.checked_add(second),
        Operation::Subtract => first.checked_sub(second),
        Operation::Multiply => first.checked_mul(second),
        Operation::Divide => first.checked_div(second),
        Operation::Exp => power(first, second),
        _ => None,
    }
}

/// Exact for whole exponents of at most 64 by amount, else through `f64`.
fn power(base: Decimal, exponent: Decimal) -> Option<Decimal> {
    if exponent.is_integer() && exponent.abs() <= Decimal::from(64) {
        let times = exponent.abs().to_u32()?;
        let power = (0..times).try_fold(Decimal::ONE, |power, _| power.checked_mul(base))?;
        return if exponent.is_sign_negative() { Decimal::ONE.checked_div(power) } else { Some(power) };
    }
    let power = base.to_f64()?.powf(exponent.to_f64()?);
    if power.is_finite() { Decimal::from_f64(power) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{NoRows, Outcome, RunError, TextTable};
    use crate::program::Program;

    fn run(text: &str) -> Result<String, RunError> {
        text.parse::<Program>().unwrap().run(&NoRows).map(|outcome| outcome.to_string())
    }

    #[test]
    fn arithmetic_is_decimal() {
        for (program, result) in [
            ("add(0.1, 0.2)", "0.3"),
            ("subtract(5829, 5735), divide(#0, 5735), multiply(#1, const_0)", "0"),
            ("divide(1, 8)", "0.125"),
            ("divide(9, 50%)", "18"),
            ("exp(1.1, const_2)", "1.21"),
            ("exp(2, const_m1)", "0.5"),
            ("greater(2, 1)", "yes"),
            ("greater(1, 1)", "no"),
        ] {
            assert_eq!(run(program).as_deref(), Ok(result), "{program}");
        }
        assert!(run("exp(2, 0.5)").unwrap().starts_with("1.41421356"));
    }

    #[test]
    fn what_cannot_be_computed_is_an_error() {
        assert_eq!(run("divide(1, 0)"), Err(RunError::DivisionByZero { step: 0 }));
        assert_eq!(run("subtract(1, 1), divide(2, #0)"), Err(RunError::DivisionByZero { step: 1 }));
        assert_eq!(run("greater(2, 1), add(#0, 1)"), Err(RunError::Verdict { step: 1, of: 0 }));
        let large = "9999999999999999999999999999";
        let range = |operation| Err(RunError::OutOfRange { step: 0, operation });
        assert_eq!(run(&format!("multiply({large}, {large})")), range("multiply"));
        assert_eq!(run("exp(10, 60)"), range("exp"));
        assert_eq!(run("exp(0, -1)"), range("exp"));
        assert_eq!(run("exp(-2, 0.5)"), range("exp"));
        assert_eq!(run("table_sum(a, none)"), Err(RunError::NoRow { header: "a".into() }));
    }

    #[test]
    fn rows_are_read_as_the_published_script_reads_them() {
        let table: Vec<Vec<String>> =
            [&["", "2018", "2017"][..], &["net", "$ 1,200", "-2 ( 2 )"], &["rate", "12 %", "n/a"]]
                .iter()
                .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
                .collect();
        let run = |text: &str| text.parse::<Program>().unwrap().run(&TextTable(&table));
        let number = |text: &str| Ok(Outcome::Number(text.parse().unwrap()));
        assert_eq!(run("table_sum(net, none)"), number("1198"));
        assert_eq!(run("table_max(net, none)"), number("1200"));
        assert_eq!(run("table_min(net, none)"), number("-2"));
        assert_eq!(run("table_average(net, none)"), number("599"));
        assert_eq!(run("table_sum(rate, none)"), Err(RunError::NoNumber { header: "rate".into(), cell: "n/a".into() }));
    }
}
