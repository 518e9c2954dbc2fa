//! Programs: steps of arithmetic as FinQA writes them, `subtract(5829, 5735), divide(#0, 5735)` (Chen et al. 2021).

use std::fmt;
use std::str::FromStr;

use rust_decimal::Decimal;

/// Steps a program may have at most: FinQA's longest has nine.
pub const MAX_STEPS: usize = 64;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// first + second
    Add,
    /// first − second
    Subtract,
    /// first · second
    Multiply,
    /// first / second
    Divide,
    /// first to the power of second
    Exp,
    /// yes or no: first > second
    Greater,
    /// The largest number of a row.
    TableMax,
    /// The smallest number of a row.
    TableMin,
    /// The sum of a row.
    TableSum,
    /// The mean of a row.
    TableAverage,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Exp,
        Self::Greater,
        Self::TableMax,
        Self::TableMin,
        Self::TableSum,
        Self::TableAverage,
    ];

    /// As programs write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Exp => "exp",
            Self::Greater => "greater",
            Self::TableMax => "table_max",
            Self::TableMin => "table_min",
            Self::TableSum => "table_sum",
            Self::TableAverage => "table_average",
        }
    }

    /// Whether its first argument is the header of a row.
    pub fn of_row(self) -> bool {
        matches!(self, Self::TableMax | Self::TableMin | Self::TableSum | Self::TableAverage)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// What a step works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A number of the document. `percent`: written with a percent sign, so that it counts as a hundredth.
    Number {
        /// As written.
        value: Decimal,
        /// Whether `%` follows.
        percent: bool,
    },
    /// `const_100`, `const_m1`: a number that no document has to hold.
    Constant(Decimal),
    /// `#0`: the result of an earlier step.
    Step(usize),
    /// The header of a row, for operations on rows.
    Row(String),
    /// `none`, the second argument of operations on rows.
    Nothing,
}

impl Argument {
    /// A number as a document writes it.
    pub fn number(value: Decimal) -> Self {
        Self::Number { value, percent: false }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { value, percent } => write!(f, "{value}{}", if *percent { "%" } else { "" }),
            Self::Constant(value) if value.is_sign_negative() => write!(f, "const_m{}", value.abs()),
            Self::Constant(value) => write!(f, "const_{value}"),
            Self::Step(step) => write!(f, "#{step}"),
            Self::Row(header) => f.write_str(header),
            Self::Nothing => f.write_str("none"),
        }
    }
}

/// One operation with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub operation: Operation,
    /// On what.
    pub first: Argument,
    /// And what.
    pub second: Argument,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", self.operation.name(), self.first, self.second)
    }
}

/// Steps, of which the last gives the result. A program without steps has no result; a step refers only to steps
/// before it. [`Program::from_str`] and [`fmt::Display`] undo each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program(Vec<Step>);

impl Program {
    /// A program of these steps.
    ///
    /// # Errors
    /// No step or too many; a step that refers to itself or a later one; arguments that the operation does not take.
    pub fn new(steps: Vec<Step>) -> Result<Self, ParseError> {
        if steps.is_empty() {
            return Err(ParseError::Empty);
        }
        if steps.len() > MAX_STEPS {
            return Err(ParseError::TooLong { steps: steps.len() });
        }
        for (number, step) in steps.iter().enumerate() {
            let row = step.operation.of_row();
            for (argument, first) in [(&step.first, true), (&step.second, false)] {
                let fits = match argument {
                    Argument::Step(earlier) if *earlier >= number => {
                        return Err(ParseError::Reference { step: number, to: *earlier });
                    }
                    Argument::Row(_) => row && first,
                    Argument::Nothing => row && !first,
                    _ => !row,
                };
                if !fits {
                    return Err(ParseError::Argument {
                        operation: step.operation.name(),
                        argument: argument.to_string(),
                    });
                }
            }
        }
        Ok(Self(steps))
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Numbers that the document has to hold, in the order of the steps.
    pub fn numbers(&self) -> impl Iterator<Item = Decimal> {
        self.0.iter().flat_map(|step| [&step.first, &step.second]).filter_map(|argument| match argument {
            Argument::Number { value, .. } => Some(*value),
            _ => None,
        })
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            write!(f, "{}{step}", if number == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A text that is no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Nothing there.
    #[error("a program has at least one step, such as add(1, 2)")]
    Empty,
    /// More steps than anybody writes.
    #[error("the program has {steps} steps; at most {MAX_STEPS} are run")]
    TooLong {
        /// How many.
        steps: usize,
    },
    /// Not `operation(first, second), …`.
    #[error("expected operation(first, second), …, found {found:?}")]
    Form {
        /// From where on.
        found: String,
    },
    /// An operation that there is not.
    #[error(
        "there is no operation {name:?}; expected add, subtract, multiply, divide, exp, greater, table_max, table_min, table_sum or table_average"
    )]
    Operation {
        /// As written.
        name: String,
    },
    /// An argument that its operation does not take.
    #[error("{operation} does not take {argument:?}")]
    Argument {
        /// The operation.
        operation: &'static str,
        /// As written.
        argument: String,
    },
    /// A step that refers to one that is not before it.
    #[error("step {step} refers to #{to}, which is not before it")]
    Reference {
        /// The step, from 0.
        step: usize,
        /// To which.
        to: usize,
    },
}

impl FromStr for Program {
    type Err = ParseError;

    /// The header of a row may hold commas and brackets (`table_sum(total , net ( a ), none)`): a step ends at `)`
    /// before the end or before `, operation(`, and its last comma parts the two arguments.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut steps = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let form = || ParseError::Form { found: rest.chars().take(80).collect() };
            let (name, after) = rest.split_once('(').ok_or_else(form)?;
            let name = name.trim();
            let operation = Operation::named(name).ok_or_else(|| ParseError::Operation { name: name.to_owned() })?;
            let ends = after.match_indices(')').map(|(at, _)| at);
            let (inside, next) = ends
                .filter_map(|at| after.split_at_checked(at))
                .find_map(|(inside, next)| {
                    let next = next.strip_prefix(')')?.trim_start();
                    starts_step(next).then_some((inside, next))
                })
                .ok_or_else(form)?;
            let (first, second) = inside.rsplit_once(',').ok_or_else(form)?;
            steps.push(Step {
                operation,
                first: argument(operation, first.trim(), true)?,
                second: argument(operation, second.trim(), false)?,
            });
            if steps.len() > MAX_STEPS {
                return Err(ParseError::TooLong { steps: steps.len() });
            }
            rest = next.trim_start_matches(',').trim_start();
        }
        Self::new(steps)
    }
}

/// Whether what follows a step is the end or another step.
fn starts_step(text: &str) -> bool {
    let next = text.strip_prefix(',').and_then(|next| next.split_once('('));
    text.is_empty() || next.is_some_and(|(name, _)| Operation::named(name.trim()).is_some())
}

fn argument(operation: Operation, text: &str, first: bool) -> Result<Argument, ParseError> {
    let refused = || ParseError::Argument { operation: operation.name(), argument: text.to_owned() };
    if operation.of_row() {
        return match (first, text) {
            (_, "") => Err(refused()),
            (true, header) => Ok(Argument::Row(header.to_owned())),
            (false, "none") => Ok(Argument::Nothing),
            (false, _) => Err(refused()),
        };
    }
    if let Some(step) = text.strip_prefix('#') {
        return step.parse().map(Argument::Step).map_err(|_| refused());
    }
    if let Some(constant) = text.strip_prefix("const_") {
        let (negative, digits) = match constant.strip_prefix('m') {
            Some(digits) => (true, digits),
            None => (false, constant),
        };
        let value: Decimal = digits.parse().map_err(|_| refused())?;
        return Ok(Argument::Constant(if negative { -value } else { value }));
    }
    let compact: String = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let (digits, percent) = match compact.strip_suffix('%') {
        Some(digits) => (digits, true),
        None => (compact.as_str(), false),
    };
    let value: Decimal = digits.parse().map_err(|_| refused())?;
    Ok(Argument::Number { value, percent })
}

#[cfg(test)]
mod tests {
    use super::{Argument, Operation, ParseError, Program};

    #[test]
    fn programs_are_read_and_written() {
        for text in [
            "subtract(5829, 5735), divide(#0, 5735)",
            "divide(9896, 23.6%)",
            "add(-1.5, const_100), multiply(#0, const_m1)",
            "table_sum(total , net ( a ), none), divide(#0, const_1000)",
            "greater(1, 2)",
        ] {
            let program: Program = text.parse().unwrap();
            assert_eq!(program.to_string(), text);
        }
        let program: Program = "table_max(a, b (c), none)".parse().unwrap();
        assert_eq!(program.steps()[0].first, Argument::Row("a, b (c)".into()));
        assert_eq!(program.steps()[0].operation, Operation::TableMax);
    }

    #[test]
    fn what_is_no_program_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", "at least one step"),
            ("add(1, 2", "expected operation(first, second)"),
            ("add", "expected operation(first, second)"),
            ("add(1)", "expected operation(first, second)"),
            ("plus(1, 2)", "there is no operation \"plus\""),
            ("add(one, 2)", "add does not take \"one\""),
            ("add(#0, 2)", "step 0 refers to #0"),
            ("add(#99999999999999999999, 2)", "does not take"),
            ("add(1, none)", "does not take"),
            ("table_sum(, none)", "does not take"),
            ("add(const_, 2)", "does not take"),
        ] {
            let error = text.parse::<Program>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let long = vec!["add(1, 2)"; 65].join(", ");
        assert_eq!(long.parse::<Program>().unwrap_err(), ParseError::TooLong { steps: 65 });
    }
}
