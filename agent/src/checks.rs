//! What must hold of an answer: every number of its program stands in a cited node, and the program gives the value.

use std::collections::HashMap;

use rust_decimal::Decimal;
use tabsegnet_document::numbers::{has_decimal_comma, parse_cell_number, with_points};

use crate::answer::{Check, Citation};
use crate::program::Program;
use crate::quantity::of_sentence;
use crate::run::{Outcome, Rows, RunError};

/// Rows of the cited cells, by their row headers.
#[derive(Debug)]
pub struct CitedRows(HashMap<String, Vec<Decimal>>);

impl CitedRows {
    /// The cited cells that are numbers, a row each header, in the order of the citations.
    pub fn new(citations: &[Citation]) -> Self {
        let mut rows: HashMap<String, Vec<Decimal>> = HashMap::new();
        for citation in citations {
            if let (Some(header), Some(number)) = (&citation.row_headers, number(&citation.text)) {
                rows.entry(header.to_lowercase()).or_default().push(number);
            }
        }
        Self(rows)
    }
}

impl Rows for CitedRows {
    fn row(&self, header: &str) -> Result<Vec<Decimal>, RunError> {
        self.0.get(&header.to_lowercase()).cloned().ok_or_else(|| RunError::NoRow { header: header.to_owned() })
    }
}

fn number(text: &str) -> Option<Decimal> {
    use rust_decimal::prelude::FromPrimitive as _;
    parse_cell_number(text).and_then(Decimal::from_f64)
}

/// Looks at a program: each of its numbers in a cited node, by amount, and that it gives `value`.
pub fn check(program: &Program, value: Outcome, citations: &[Citation]) -> Vec<Check> {
    let mut checks: Vec<Check> = program.numbers().map(|number| check_number(number, citations)).collect();
    let (what, passed) = match program.run(&CitedRows::new(citations)) {
        Ok(outcome) => (format!("the program gives {outcome}"), outcome == value),
        Err(error) => (format!("the program runs: {error}"), false),
    };
    checks.push(Check { what, passed });
    checks
}

/// Whether a number stands in a cited node, by amount: a sentence may say `decreased by 5`.
pub fn check_number(number: Decimal, citations: &[Citation]) -> Check {
    let holds = |citation: &&Citation| {
        let is = |text: &str| self::number(text).is_some_and(|found| found.abs() == number.abs());
        // Which it is its table says.
        let of_cell = is(&citation.text) || has_decimal_comma(&citation.text) && is(&with_points(&citation.text));
        let mut within = of_sentence(&citation.text).into_iter();
        of_cell || within.any(|found| found.quantity.value.abs() == number.abs())
    };
    match citations.iter().find(holds) {
        Some(citation) => Check { what: format!("{number} stands in {}", citation.node), passed: true },
        None => Check { what: format!("{number} stands in a cited node"), passed: false },
    }
}

#[cfg(test)]
mod tests {
    use tabsegnet::ranking::Position;

    use super::check;
    use crate::answer::Citation;
    use crate::program::Program;
    use crate::run::Outcome;

    #[test]
    fn numbers_that_no_cited_node_holds_are_found_out() {
        let cited = |text: &str| Citation {
            node: "t0:r1c1".into(),
            text: text.into(),
            row_headers: Some("Net sales".into()),
            column_headers: None,
            position: Position::Cell { table: 0, row: 1, col: 1, rowspan: 1, colspan: 1 },
            location: None,
            table: None,
            file: None,
            id_in_file: None,
        };
        let citations = [cited("(12)"), cited("it fell by $ 5 million")];
        let passed = |program: &str, value: &str| -> Vec<bool> {
            let program: Program = program.parse().unwrap();
            check(&program, Outcome::Number(value.parse().unwrap()), &citations)
                .iter()
                .map(|check| check.passed)
                .collect()
        };
        assert_eq!(passed("subtract(-12, 5), multiply(#0, const_1000)", "-17000"), [true, true, true]);
        assert_eq!(passed("subtract(-12, 6)", "-18"), [true, false, true]);
        assert_eq!(passed("subtract(-12, 5)", "17"), [true, true, false]);
        assert_eq!(passed("divide(5, const_0)", "0"), [true, false]);
        assert_eq!(passed("table_max(net sales, none)", "-12"), [true]);
        assert_eq!(passed("table_max(gross sales, none)", "-12"), [false]);
    }
}
