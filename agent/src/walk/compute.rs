//! Programs that a model writes, held against the cells that they name.

use rust_decimal::Decimal;

use crate::answer::Citation;
use crate::checks::{CitedRows, check_number};
use crate::program::{Argument, Operation, Program, Step};
use crate::run::{Outcome, Rows, RunError};
use crate::walk::cells::CellGraph;
use crate::walk::units::{CitedNumbers, Reading, carried, is_constant};

/// What a program gave, from which cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Computed {
    pub(crate) program: Program,
    pub(crate) outcome: Outcome,
    /// What the number may mean; nothing for yes and no.
    pub(crate) readings: Vec<Reading>,
    pub(crate) cells: Vec<u32>,
}

/// Runs a program over the numbers of cells.
///
/// What always holds of a result: each number of the program stands in one of the cells, its constants are of the fixed list,
/// a number of a cell bears on it, and unit and scale came through all steps.
///
/// # Errors
/// What does not hold, in words for who wrote the program.
pub(crate) fn compute(graph: &CellGraph<'_>, program: Program, cells: Vec<u32>) -> Result<Computed, String> {
    let citations: Vec<Citation> = cells.iter().filter_map(|&node| graph.citation(node)).collect();
    for number in program.numbers() {
        if !check_number(number, &citations).passed {
            let hint = match is_constant(number) {
                true => format!("; a number that stands in no cell is written {}", Argument::Constant(number)),
                false => String::new(),
            };
            return Err(format!("{number} does not stand in the cells that are named{hint}"));
        }
    }
    check_constants(&program, cells.len())?;
    let rows = CitedRows::new(&citations);
    let outcome = program.run(&rows).map_err(|error| format!("no result: {error}"))?;
    let readings = carried(&program, &CitedNumbers::new(graph, &cells))?;
    if !bears(&program, &rows, &citations) {
        return Err("no number of the cells bears on the result".to_owned());
    }
    Ok(Computed { program, outcome, readings, cells })
}

/// Beside the fixed constants only the number of cells is one, to divide a sum of them by.
fn check_constants(program: &Program, cells: usize) -> Result<(), String> {
    for step in program.steps() {
        for (argument, second) in [(&step.first, false), (&step.second, true)] {
            let Argument::Constant(value) = argument else { continue };
            let count = second && step.operation == Operation::Divide && *value == Decimal::from(cells);
            if !is_constant(*value) && !count {
                return Err(format!(
                    "there is no {argument}; constants are 0 to 10, 12, 100, 365, powers of ten from 1000 on and m1, which is \
                     minus one"
                ));
            }
        }
    }
    Ok(())
}

/// Whether the result changes with the numbers of the cells: that of `divide(#0, #0)` does not, nor does a product with
/// nothing. Where a comparison is last, what it compares has to change.
fn bears(program: &Program, rows: &CitedRows, citations: &[Citation]) -> bool {
    let last = program.steps().len().saturating_sub(1);
    let mut moves = Moves { citations, known: Vec::new(), made: 0 };
    let [mut plain, mut moved]: [Vec<Step>; 2] = Default::default();
    for (number, step) in program.steps().iter().enumerate() {
        let operation = match step.operation {
            Operation::Greater if number == last => Operation::Subtract,
            operation => operation,
        };
        moved.push(Step { operation, first: moves.of(&step.first), second: moves.of(&step.second) });
        plain.push(Step { operation, ..step.clone() });
    }
    let (Ok(plain), Ok(moved)) = (Program::new(plain), Program::new(moved)) else { return false };
    match (plain.run(rows), moved.run(&MovedRows(rows))) {
        (Ok(Outcome::Number(plain)), Ok(Outcome::Number(moved))) => {
            // Divisions leave a rest in the last of 28 digits.
            let rest = plain.abs().max(moved.abs()).checked_mul(Decimal::new(1, 12));
            rest.is_some_and(|rest| plain.checked_sub(moved).is_none_or(|apart| apart.abs() > rest))
        }
        // What has a result only with the numbers that there are rests on them.
        (Ok(_), Err(_)) => true,
        _ => false,
    }
}

/// Numbers a little beside those of the cells.
struct Moves<'a> {
    citations: &'a [Citation],
    /// Amounts that one cell alone holds, with what they were moved to.
    known: Vec<(Decimal, Decimal)>,
    made: i64,
}

impl Moves<'_> {
    fn of(&mut self, argument: &Argument) -> Argument {
        let Argument::Number { value, percent } = argument else { return argument.clone() };
        let amount = value.abs();
        let known = self.known.iter().find(|(known, _)| *known == amount).map(|(_, moved)| *moved);
        let moved = known.unwrap_or_else(|| self.moved(amount));
        Argument::Number { value: if value.is_sign_negative() { -moved } else { moved }, percent: *percent }
    }

    /// By another share for each number, so that no two moves cancel out.
    fn moved(&mut self, amount: Decimal) -> Decimal {
        self.made += 1;
        let by = Decimal::new(self.made.saturating_mul(self.made), 4);
        let share = amount.checked_mul(by).and_then(|share| share.checked_add(by));
        let moved = share.and_then(|share| amount.checked_add(share)).unwrap_or(amount);
        let holders = self.citations.iter().filter(|cited| check_number(amount, std::slice::from_ref(*cited)).passed);
        // Where several cells hold the number, each place of the program may be another cell.
        if holders.count() < 2 {
            self.known.push((amount, moved));
        }
        moved
    }
}

/// Rows of cells, each number a little beside itself.
struct MovedRows<'a>(&'a CitedRows);

impl Rows for MovedRows<'_> {
    fn row(&self, header: &str) -> Result<Vec<Decimal>, RunError> {
        let by = Decimal::new(1, 3);
        let moved = |value: Decimal| value.checked_mul(by).and_then(|share| value.checked_add(share + by));
        Ok(self.0.row(header)?.into_iter().map(|value| moved(value).unwrap_or(value)).collect())
    }
}

#[cfg(test)]
mod tests {
    use tabsegnet::ranking::Position;

    use super::{bears, check_constants};
    use crate::answer::Citation;
    use crate::checks::CitedRows;
    use crate::program::Program;

    fn cited(texts: &[&str]) -> Vec<Citation> {
        let cited = |text: &&str| Citation {
            node: "t0:r1c1".into(),
            text: (*text).into(),
            row_headers: Some("Net sales".into()),
            column_headers: None,
            position: Position::Cell { table: 0, row: 1, col: 1, rowspan: 1, colspan: 1 },
            location: None,
            table: None,
            file: None,
            id_in_file: None,
        };
        texts.iter().map(cited).collect()
    }

    #[test]
    fn a_result_that_is_the_same_whatever_cells_say_rests_on_none() {
        let bears = |program: &str, texts: &[&str]| {
            let citations = cited(texts);
            bears(&program.parse().unwrap(), &CitedRows::new(&citations), &citations)
        };
        for program in [
            "subtract(120, 100)",
            "divide(120, 100), subtract(#0, const_1)",
            "greater(120, 100)",
            "table_sum(net sales, none)",
            "add(0, const_0)",
            "multiply(120, const_1000000000)",
            "divide(const_1, 120)",
        ] {
            assert!(bears(program, &["120", "100", "—"]), "{program}");
        }
        for program in [
            "add(const_9, const_1)",
            "divide(120, 120)",
            "subtract(120, 100), divide(#0, #0), multiply(#1, const_7)",
            "subtract(120, 120)",
            "multiply(120, const_7), divide(#0, 120)",
            "multiply(120, const_0)",
            "multiply(120, const_0), greater(const_2, const_1)",
            "exp(120, const_0)",
            "table_sum(net sales, none), multiply(#0, const_0)",
        ] {
            assert!(!bears(program, &["120", "100"]), "{program}");
        }
        // Two cells that hold the same are two numbers.
        assert!(bears("subtract(120, 120)", &["120", "120"]) && bears("divide(120, 120)", &["120", "(120)"]));
    }

    #[test]
    fn constants_are_those_of_a_list() {
        let check = |program: &str, cells| check_constants(&program.parse::<Program>().unwrap(), cells);
        for program in
            ["divide(1, const_2)", "multiply(1, const_m1)", "divide(1, const_1000000)", "divide(1, const_12)"]
        {
            assert_eq!(check(program, 1), Ok(()), "{program}");
        }
        for (program, cells) in [("add(1, const_42)", 42), ("divide(const_42, 1)", 42), ("divide(1, const_11)", 3)] {
            assert!(check(program, cells).unwrap_err().contains("there is no const_"), "{program}");
        }
        assert_eq!(check("divide(1, const_11)", 11), Ok(()), "the mean of eleven cells");
    }
}
