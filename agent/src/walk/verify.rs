//! An answer held against the nodes that it cites.

use rust_decimal::Decimal;

use crate::answer::{Check, Citation};
use crate::candidates::check_units;
use crate::checks::{check, check_number};
use crate::program::{Argument, Operation, Program};
use crate::quantity::{Quantity, Unit};
use crate::run::Outcome;
use crate::walk::cells::{CellGraph, plain};
use crate::walk::episode::{Computed, Proposal};

/// What was found when a proposal was looked at.
pub(crate) struct Verified {
    pub(crate) checks: Vec<Check>,
    pub(crate) citations: Vec<Citation>,
    pub(crate) program: Option<Program>,
    /// The program's result, or the number of the only cell.
    pub(crate) value: Option<Outcome>,
    pub(crate) quantity: Option<Quantity>,
}

impl Verified {
    pub(crate) fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }
}

/// Whether the numbers of a program stand in the cells, and what is added up or compared goes together: the same unit, the
/// same scale.
///
/// # Errors
/// What does not hold, in words.
pub(crate) fn check_program(graph: &CellGraph<'_>, program: &Program, cells: &[u32]) -> Result<(), String> {
    let citations: Vec<Citation> = cells.iter().filter_map(|&node| graph.citation(node)).collect();
    for number in program.numbers() {
        if !check_number(number, &citations).passed {
            return Err(format!("{number} does not stand in the cells that are named"));
        }
    }
    let of_cells: Vec<Quantity> = cells.iter().flat_map(|&node| graph.quantities(node)).collect();
    let quantity = |argument: &Argument| match argument {
        Argument::Number { value, percent } => {
            let mut found = of_cells.iter().filter(|quantity| quantity.value.abs() == value.abs());
            let written_as = found.clone().find(|quantity| (quantity.unit == Some(Unit::Percent)) == *percent);
            written_as.or_else(|| found.next()).copied()
        }
        _ => None,
    };
    for step in program.steps() {
        if !matches!(step.operation, Operation::Add | Operation::Subtract | Operation::Greater) {
            continue;
        }
        let (Some(first), Some(second)) = (quantity(&step.first), quantity(&step.second)) else { continue };
        check_units(first.unit, second.unit).map_err(|error| error.to_string())?;
        let percent = [first.unit, second.unit].map(|unit| unit == Some(Unit::Percent));
        if percent == [true, false] || percent == [false, true] {
            return Err(format!(
                "{} and {} do not go together: one of them is a percentage",
                first.value, second.value
            ));
        }
        if percent == [true, true] {
            // 12% in a program is a hundredth of 12: both have to be written the same way.
            let written =
                [&step.first, &step.second].map(|argument| matches!(argument, Argument::Number { percent: true, .. }));
            if written == [true, false] || written == [false, true] {
                return Err("one percentage is written with %, the other without".to_owned());
            }
        } else if first.scale != second.scale {
            let shown = |quantity: Quantity| match quantity.scale {
                Some(scale) => format!("{} is in {scale}s", quantity.value),
                None => format!("{} stands as it is", quantity.value),
            };
            return Err(format!("{}, {}: bring both to one scale first", shown(first), shown(second)));
        }
    }
    Ok(())
}

/// Looks at an answer: every number of it stands in a cited node or is the result of a program over cited nodes, and its
/// words stand there too.
pub(crate) fn verify(graph: &CellGraph<'_>, proposal: &Proposal, computed: &[Computed]) -> Verified {
    let mut cells = proposal.cells.clone();
    let mut checks = Vec::new();
    let shown = proposal.answer.join("; ");
    // The program that the answer names, else the last one whose result it gives.
    let mut program: Option<Program> = proposal.operation.trim().parse().ok();
    if program.is_none() {
        let gives = |computed: &&Computed| proposal.answer.iter().any(|answer| gives(computed.outcome, answer));
        if let Some(found) = computed.iter().rev().find(gives) {
            program = Some(found.program.clone());
            cells.extend(found.cells.iter().copied().filter(|cell| !proposal.cells.contains(cell)));
        }
    }
    let citations: Vec<Citation> = cells.iter().filter_map(|&node| graph.citation(node)).collect();
    let mut outcome = None;
    if let Some(program) = &program {
        match program.run(&crate::checks::CitedRows::new(&citations)) {
            Ok(result) => {
                checks.extend(check(program, result, &citations));
                outcome = Some(result);
            }
            Err(error) => checks.push(Check { what: format!("the program runs: {error}"), passed: false }),
        }
        if let Err(what) = check_program(graph, program, &cells) {
            checks.push(Check { what: format!("its numbers go together: {what}"), passed: false });
        }
    }
    for answer in &proposal.answer {
        match outcome {
            Some(result) if gives(result, answer) => {
                checks.push(Check { what: format!("the program gives {answer}"), passed: true });
            }
            _ => checks.extend(stands(graph, answer, &cells, &citations)),
        }
    }
    if checks.is_empty() {
        checks.push(Check { what: format!("{shown:?} says something that can be looked up"), passed: false });
    }
    let quantity = match (cells.as_slice(), proposal.answer.as_slice()) {
        (&[cell], [_]) if outcome.is_none() => graph.quantities(cell).into_iter().next(),
        _ => None,
    };
    let only = match proposal.answer.as_slice() {
        [answer] => number_of(answer),
        _ => None,
    };
    let value = outcome.or_else(|| {
        let number = only?;
        Some(Outcome::Number(
            quantity.filter(|quantity| quantity.value.abs() == number.abs()).map_or(number, |it| it.value),
        ))
    });
    Verified { checks, citations, program, value, quantity: quantity.filter(|_| only.is_some()) }
}

/// Whether an answer is the result of a program, as exact as it is written: rounded to its places, as a percentage where it
/// has a percent sign, by amount.
fn gives(outcome: Outcome, answer: &str) -> bool {
    let result = match outcome {
        Outcome::Verdict(yes) => {
            let said = plain(answer);
            let said = said.trim_end_matches(['.', '!']);
            return matches!((said, yes), ("yes" | "true", true) | ("no" | "false", false));
        }
        Outcome::Number(result) => result,
    };
    let Some(number) = number_of(answer) else { return false };
    // A rounded answer that is nothing any more says nothing of the result.
    if number.is_zero() {
        return result.is_zero();
    }
    let same = |result: Decimal| result.abs().round_dp_with_strategy(number.scale(), HALF_UP) == number.abs();
    let hundred = result.checked_mul(Decimal::ONE_HUNDRED);
    if answer.contains('%') { hundred.is_some_and(same) || same(result) } else { same(result) }
}

const HALF_UP: rust_decimal::RoundingStrategy = rust_decimal::RoundingStrategy::MidpointAwayFromZero;

/// The only number of an answer, as it is written.
fn number_of(answer: &str) -> Option<Decimal> {
    let runs = digit_runs(answer);
    let [run] = runs.as_slice() else { return None };
    let number: Decimal = run.replace(',', "").parse().ok()?;
    let before = answer.split(run.as_str()).next()?.trim_end_matches(['$', '€', '£', ' ']);
    Some(if before.ends_with(['-', '−', '–', '(']) { -number } else { number })
}

/// Runs of digits with the points and commas within.
fn digit_runs(text: &str) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    let mut run = String::new();
    for c in text.chars().chain([' ']) {
        if c.is_ascii_digit() || !run.is_empty() && matches!(c, '.' | ',') {
            run.push(c);
        } else if !run.is_empty() {
            runs.push(run.trim_end_matches(['.', ',']).to_owned());
            run.clear();
        }
    }
    runs
}

/// Whether the numbers and the words of an answer stand in the cited nodes or their headers.
fn stands(graph: &CellGraph<'_>, answer: &str, cells: &[u32], citations: &[Citation]) -> Vec<Check> {
    let texts: Vec<String> = citations
        .iter()
        .flat_map(|cited| [Some(&cited.text), cited.row_headers.as_ref(), cited.column_headers.as_ref()])
        .flatten()
        .map(|text| plain(text))
        .collect();
    let said = plain(answer);
    let whole = |wanted: &str| {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        texts.iter().any(|text| {
            text.match_indices(wanted).any(|(at, found)| {
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
                edge(before) && edge(after)
            })
        })
    };
    let runs = digit_runs(answer);
    let mut checks: Vec<Check> = runs
        .iter()
        .map(|run| {
            let number: Option<Decimal> = run.replace(',', "").parse().ok();
            let by_number = number.map(|number| check_number(number, citations)).filter(|check| check.passed);
            let by_scale = || number.is_some_and(|number| at_another_scale(graph, number, &said, cells));
            by_number.unwrap_or_else(|| Check {
                what: format!("{run} stands in a cited node"),
                passed: whole(run) || by_scale(),
            })
        })
        .collect();
    if runs.is_empty() && !said.is_empty() {
        let verdict = matches!(said.trim_end_matches('.'), "yes" | "no" | "true" | "false");
        let words: Vec<&str> =
            said.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3).collect();
        let all = !words.is_empty() && words.iter().all(|word| whole(word));
        let what = match verdict {
            true => format!("{answer:?} is what a program with greater gives"),
            false => format!("the words of {answer:?} stand in the cited nodes"),
        };
        checks.push(Check { what, passed: !verdict && (whole(said.trim_end_matches('.')) || all) });
    }
    checks
}

/// Whether `1.2 billion` is what a cell with 1,200 in millions says.
fn at_another_scale(graph: &CellGraph<'_>, number: Decimal, said: &str, cells: &[u32]) -> bool {
    let scaled = |value: Decimal, power: u32| value.abs().checked_mul(Decimal::from(10_u64.pow(power)));
    let said = crate::quantity::of_sentence(said).into_iter().map(|written| written.quantity);
    let Some(power) = said.filter(|said| said.value.abs() == number.abs()).find_map(|said| said.scale) else {
        return false;
    };
    cells.iter().flat_map(|&cell| graph.quantities(cell)).any(|quantity| {
        let own = quantity.scale.map_or(0, crate::quantity::Scale::power);
        scaled(quantity.value, own).is_some() && scaled(quantity.value, own) == scaled(number, power.power())
    })
}

#[cfg(test)]
mod tests {
    use super::{digit_runs, gives, number_of};
    use crate::run::Outcome;

    #[test]
    fn answers_are_read() {
        assert_eq!(digit_runs("in 2016, $1,234.50 and 12%."), ["2016", "1,234.50", "12"]);
        for (answer, number) in [("(12,760)", "-12760"), ("-$5.0 million", "-5.0"), ("55.0", "55.0"), ("12 %", "12")] {
            assert_eq!(number_of(answer), Some(number.parse().unwrap()), "{answer}");
        }
        for none in ["", "none", "12 or 13", "…"] {
            assert_eq!(number_of(none), None, "{none}");
        }
    }

    #[test]
    fn results_are_recognised_as_exact_as_they_are_written() {
        let number = |text: &str| Outcome::Number(text.parse().unwrap());
        for (result, answer, same) in [
            ("15", "15", true),
            ("15", "$15 million", true),
            ("0.14634", "14.6 %", true),
            ("0.14634", "15%", true),
            ("0.14634", "0.15", true),
            ("0.14634", "0.16", false),
            ("0.14634", "14.6", false),
            ("-5", "decreased by 5", true),
            ("0.004", "0", false),
            ("0.125", "0.13", true),
            ("15", "fifteen", false),
        ] {
            assert_eq!(gives(number(result), answer), same, "{result} as {answer}");
        }
        assert!(gives(Outcome::Verdict(true), "Yes.") && !gives(Outcome::Verdict(true), "no"));
    }
}
