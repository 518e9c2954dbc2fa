//! An answer held against the nodes that it cites.

use rust_decimal::Decimal;

use crate::answer::{Check, Citation};
use crate::checks::check;
use crate::program::Program;
use crate::quantity::{Quantity, Scale, Unit};
use crate::run::Outcome;
use crate::walk::cells::{CellGraph, plain};
use crate::walk::compute::{Computed, compute};
use crate::walk::episode::Proposal;
use crate::walk::units::{Kind, Reading};
use crate::walk::wording::{Said, SaidNumber, names_unit, stands_in, word_stands};

/// What was found when a proposal was looked at.
pub(crate) struct Verified {
    pub(crate) checks: Vec<Check>,
    pub(crate) citations: Vec<Citation>,
    pub(crate) program: Option<Program>,
    /// The program's result, or the only number that is said.
    pub(crate) value: Option<Outcome>,
    pub(crate) unit: Option<Unit>,
    pub(crate) scale: Option<Scale>,
}

impl Verified {
    pub(crate) fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }
}

/// What one answer says, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Stated {
    value: Option<Outcome>,
    unit: Option<Unit>,
    scale: Option<Scale>,
}

/// Looks at an answer to a question: every number of it stands in a cited node or is the result of a program over cited
/// nodes, in its unit and its scale; its words stand there too, or beside numbers in the question.
pub(crate) fn verify(graph: &CellGraph<'_>, question: &str, proposal: &Proposal, computed: &[Computed]) -> Verified {
    let all_said: Vec<Said> = proposal.answer.iter().map(|answer| Said::read(answer)).collect();
    let (mut cells, mut checks) = (proposal.cells.clone(), Vec::new());
    // The program that the answer names, else the last one whose result it gives.
    let ran = match proposal.operation.trim().parse::<Program>() {
        Ok(program) => match compute(graph, program, cells.clone()) {
            Ok(ran) => Some(ran),
            Err(what) => {
                checks.push(failed(what));
                None
            }
        },
        Err(_) => {
            let found = computed.iter().rev().find(|ran| {
                let evidence = Evidence::new(graph, question, &ran.cells);
                all_said.iter().any(|said| given(ran, said, &evidence).is_some())
            });
            found.cloned()
        }
    };
    if let Some(ran) = &ran {
        checks.extend(check(&ran.program, ran.outcome, &cited(graph, &ran.cells)));
        for &cell in &ran.cells {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    let evidence = Evidence::new(graph, question, &cells);
    let mut stated = Vec::new();
    let mut is_given = false;
    for (answer, said) in proposal.answer.iter().zip(&all_said) {
        if let Some((ran, found)) = ran.as_ref().and_then(|ran| Some((ran, given(ran, said, &evidence)?))) {
            is_given = true;
            checks.push(passed(format!("the program gives {answer}")));
            if matches!(ran.outcome, Outcome::Number(_)) {
                checks.extend(evidence.words(answer, said));
            }
            stated.push(found);
        } else {
            let (more, found) = evidence.look_up(answer, said);
            checks.extend(more);
            stated.push(found);
        }
    }
    if let (Some(ran), false) = (&ran, is_given) {
        checks.push(failed(format!("the answer is what the program gives, {}", ran.outcome)));
    }
    if checks.is_empty() {
        let shown = proposal.answer.join("; ");
        checks.push(failed(format!("{shown:?} says something that can be looked up")));
    }
    let only = match stated.as_slice() {
        [only] => *only,
        _ => Stated::default(),
    };
    Verified {
        checks,
        citations: evidence.citations,
        value: only.value.or_else(|| ran.as_ref().map(|ran| ran.outcome)),
        program: ran.map(|ran| ran.program),
        unit: only.unit,
        scale: only.scale,
    }
}

fn passed(what: String) -> Check {
    Check { what, passed: true }
}

fn failed(what: String) -> Check {
    Check { what, passed: false }
}

fn cited(graph: &CellGraph<'_>, cells: &[u32]) -> Vec<Citation> {
    cells.iter().filter_map(|&node| graph.citation(node)).collect()
}

/// What an answer says, where it is the result of a program: as exact as it is written, by amount, in the result's unit and
/// scale or another scale that says the same.
fn given(ran: &Computed, said: &Said, evidence: &Evidence<'_>) -> Option<Stated> {
    let result = match ran.outcome {
        Outcome::Verdict(yes) => {
            let same = matches!((said.text.as_str(), yes), ("yes" | "true", true) | ("no" | "false", false));
            return same.then(|| Stated { value: Some(ran.outcome), ..Stated::default() });
        }
        Outcome::Number(result) => result,
    };
    let [number] = said.numbers.as_slice() else { return None };
    let known = |kind: Kind| ran.readings.iter().all(|reading| reading.kind == kind);
    let fits = |kind: Kind| match (number.unit, kind) {
        (None, _) | (Some(Unit::Percent), Kind::Ratio) => true,
        (Some(unit), Kind::Money(of)) => unit == of && (known(kind) || evidence.names(unit)),
        (Some(_), Kind::Ratio | Kind::Other) => false,
    };
    let mut matching: Vec<(Reading, i32)> = Vec::new();
    for &reading in ran.readings.iter().filter(|reading| fits(reading.kind)) {
        let mut shifts = shifts(number, reading).into_iter().flatten();
        matching.extend(shifts.find(|&shift| is_result(number, result, shift)).map(|shift| (reading, shift)));
    }
    let (first, shift) = *matching.first()?;
    let same_kind = matching.iter().all(|(reading, _)| reading.kind == first.kind);
    let same_power = matching.iter().all(|(reading, _)| reading.power == first.power);
    let unit = match first.kind {
        Kind::Money(unit) if same_kind => Some(unit),
        _ => None,
    };
    let as_computed = shift == 0 || number.unit == Some(Unit::Percent);
    let scale =
        Scale::of_power(first.power).filter(|_| as_computed && same_power && number.unit != Some(Unit::Percent));
    Some(Stated {
        value: Some(Outcome::Number(if as_computed { result } else { number.value() })),
        unit: number.unit.or(unit),
        scale: number.scale.or(scale),
    })
}

/// The powers of ten by which a result with a reading may be multiplied to be what an answer says.
fn shifts(number: &SaidNumber, reading: Reading) -> [Option<i32>; 2] {
    let scale = number.scale.map(|scale| scale.power() as i32);
    match (number.unit, scale) {
        (Some(Unit::Percent), None) => [Some(reading.power + 2), None],
        (Some(Unit::Percent), Some(_)) => [None, None],
        (_, Some(_)) if reading.kind == Kind::Ratio => [None, None],
        (_, Some(power)) => [Some(reading.power - power), None],
        // As it stands, or in full.
        (_, None) => [Some(0), Some(reading.power).filter(|power| *power > 0)],
    }
}

/// Whether a number is a result times a power of ten, as exact as it is written.
fn is_result(number: &SaidNumber, result: Decimal, shift: i32) -> bool {
    if number.negative && !result.is_sign_negative() {
        return false;
    }
    // A rounded number that is nothing any more says nothing of the result.
    if number.amount.is_zero() || result.is_zero() {
        return number.amount.is_zero() && result.is_zero();
    }
    let rounded = |result: Decimal| result.abs().round_dp_with_strategy(number.amount.scale(), HALF_UP);
    shifted(result, shift).is_some_and(|result| rounded(result) == number.amount)
}

const HALF_UP: rust_decimal::RoundingStrategy = rust_decimal::RoundingStrategy::MidpointAwayFromZero;

/// A number times a power of ten.
fn shifted(number: Decimal, power: i32) -> Option<Decimal> {
    let factor = Decimal::from(10_u64.checked_pow(power.unsigned_abs())?);
    if power < 0 { number.checked_div(factor) } else { number.checked_mul(factor) }
}

/// What an answer may rest on.
struct Evidence<'e> {
    graph: &'e CellGraph<'e>,
    cells: Vec<u32>,
    citations: Vec<Citation>,
    /// The texts and headers of what is cited, as texts are compared.
    texts: Vec<String>,
    question: String,
}

impl<'e> Evidence<'e> {
    fn new(graph: &'e CellGraph<'e>, question: &str, cells: &[u32]) -> Self {
        let citations = cited(graph, cells);
        let of = |cited: &Citation| {
            let texts = [Some(&cited.text), cited.row_headers.as_ref(), cited.column_headers.as_ref()];
            texts.into_iter().flatten().map(|text| plain(text)).collect::<Vec<_>>()
        };
        let texts = citations.iter().flat_map(of).collect();
        Self { graph, cells: cells.to_vec(), citations, texts, question: plain(question) }
    }

    fn stands(&self, wanted: &str) -> bool {
        self.texts.iter().any(|text| stands_in(text, wanted))
    }

    /// Whether what is cited, its rows and columns or the question name a unit, so that a number that says none may have it.
    fn names(&self, unit: Unit) -> bool {
        let mut in_line = self.cells.iter().flat_map(|&cell| self.graph.texts_in_line(cell));
        names_unit(&self.question, unit)
            || self.texts.iter().any(|text| names_unit(text, unit))
            || in_line.any(|text| names_unit(text, unit))
    }

    fn names_scale(&self, scale: Scale) -> bool {
        let name = scale.to_string();
        let texts = self.texts.iter().chain([&self.question]).map(String::as_str).collect::<Vec<_>>();
        word_stands(&texts, &name)
    }

    /// Whether the words beside numbers stand in what is cited or in the question; nothing where there are none.
    fn words(&self, answer: &str, said: &Said) -> Option<Check> {
        let texts: Vec<&str> = self.texts.iter().chain([&self.question]).map(String::as_str).collect();
        let mut words = said.telling_words().peekable();
        words.peek()?;
        let missing: Vec<&str> = words.filter(|word| !word_stands(&texts, word)).collect();
        Some(match missing.as_slice() {
            [] => passed(format!("the words of {answer:?} stand in the cited nodes or the question")),
            missing => {
                let missing = missing.join(", ");
                failed(format!("the words of {answer:?} stand in the cited nodes or the question, but not {missing}"))
            }
        })
    }

    /// Whether what is said stands in what is cited.
    fn look_up(&self, answer: &str, said: &Said) -> (Vec<Check>, Stated) {
        let found: Vec<Option<Stated>> = said.numbers.iter().map(|number| self.number(number)).collect();
        let stated = match found.as_slice() {
            [only] => only.unwrap_or_default(),
            _ => Stated::default(),
        };
        if self.stands(&said.text) && !is_verdict(said) {
            return (vec![passed(format!("{answer:?} stands in a cited node"))], stated);
        }
        if said.numbers.is_empty() {
            return (vec![self.without_numbers(answer, said)], stated);
        }
        let mut checks: Vec<Check> = said
            .numbers
            .iter()
            .zip(&found)
            .map(|(number, found)| {
                let what = format!("{} stands in a cited node{}", number.digits, in_words(number));
                Check { what, passed: found.is_some() }
            })
            .collect();
        checks.extend(self.words(answer, said));
        (checks, stated)
    }

    fn without_numbers(&self, answer: &str, said: &Said) -> Check {
        if is_verdict(said) {
            return failed(format!("{answer:?} is what a program with greater gives"));
        }
        let texts: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        let mut words = said.telling_words().peekable();
        let all = words.peek().is_some() && words.all(|word| word_stands(&texts, word));
        Check { what: format!("the words of {answer:?} stand in the cited nodes"), passed: all }
    }

    /// What a number says, where a cited node says the same: the number itself with what it counts, or digits such as a year
    /// of a header.
    fn number(&self, number: &SaidNumber) -> Option<Stated> {
        let quantities = self.cells.iter().flat_map(|&cell| self.graph.quantities(cell));
        let same = quantities.filter(|of| self.fits(number, of)).find_map(|of| {
            let shift = self.shift(number, &of)?;
            let value = if shift { number.value() } else { of.value };
            Some(Stated {
                value: Some(Outcome::Number(value)),
                unit: number.unit.or(of.unit),
                scale: number.scale.or(of.scale.filter(|_| !shift)),
            })
        });
        let bare = number.unit.is_none() && number.scale.is_none() && !number.negative;
        same.or_else(|| {
            let value = Some(Outcome::Number(number.value()));
            (bare && self.stands(&number.digits)).then_some(Stated { value, ..Stated::default() })
        })
    }

    /// Whether a number of the document may have an answer's unit and sign.
    fn fits(&self, number: &SaidNumber, of: &Quantity) -> bool {
        let unit = match (number.unit, of.unit) {
            (None, _) => true,
            (Some(said), Some(unit)) => said == unit,
            (Some(Unit::Percent), None) => of.scale.is_none() && self.names(Unit::Percent),
            (Some(said), None) => self.names(said),
        };
        unit && (!number.negative || of.value.is_sign_negative())
    }

    /// Whether a number is one of the document in another scale; nothing where it is not that number at all.
    fn shift(&self, number: &SaidNumber, of: &Quantity) -> Option<bool> {
        let power = |scale: Option<Scale>| scale.map_or(0, |scale| scale.power() as i32);
        let in_full = shifted(of.value.abs(), power(of.scale));
        let same = number.amount == of.value.abs();
        let as_written = match (number.scale, of.scale) {
            (None, _) => same,
            (Some(said), Some(scale)) => same && said == scale,
            (Some(said), None) => same && self.names_scale(said),
        };
        let as_amount = in_full.is_some() && shifted(number.amount, power(number.scale)) == in_full;
        if as_written { Some(false) } else { as_amount.then_some(true) }
    }
}

/// Yes and no stand in many texts and answer nothing there.
fn is_verdict(said: &Said) -> bool {
    matches!(said.text.as_str(), "yes" | "no" | "true" | "false")
}

/// With which unit and scale a number is said, for messages.
fn in_words(number: &SaidNumber) -> String {
    let unit = number.unit.map(|unit| unit.to_string());
    let scale = number.scale.map(|scale| scale.to_string());
    let minus = number.negative.then(|| "a minus".to_owned());
    let all: Vec<String> = [minus, unit, scale].into_iter().flatten().collect();
    if all.is_empty() { String::new() } else { format!(" with {}", all.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::{Said, is_result, shifts};
    use crate::quantity::Unit;
    use crate::walk::units::{Kind, Reading};

    #[test]
    fn results_are_recognised_as_exact_as_they_are_written() {
        let ratio = |power| Reading { kind: Kind::Ratio, power };
        let dollars = |power| Reading { kind: Kind::Money(Unit::Dollar), power };
        for (result, reading, answer, same) in [
            ("15", dollars(6), "15", true),
            ("15", dollars(6), "$15 million", true),
            ("15", dollars(6), "$15 billion", false),
            ("15", dollars(6), "$15,000,000", true),
            ("15", dollars(3), "$15,000,000", false),
            ("1534", dollars(6), "1.5 billion", true),
            ("0.14634", ratio(0), "14.6 %", true),
            ("0.14634", ratio(0), "15%", true),
            ("0.14634", ratio(0), "0.15", true),
            ("0.14634", ratio(0), "0.16", false),
            ("0.14634", ratio(0), "14.6", false),
            ("14.634", ratio(-2), "14.6 %", true),
            ("14.634", ratio(-2), "14.6", true),
            ("0.14634", ratio(-2), "14.6 %", false),
            ("0.14634", ratio(0), "14.6 million", false),
            ("-5", dollars(0), "decreased by 5", true),
            ("-5", dollars(0), "-5", true),
            ("5", dollars(0), "-5", false),
            ("0.004", dollars(0), "0", false),
            ("0", dollars(0), "0", true),
            ("0.125", ratio(0), "0.13", true),
        ] {
            let said = Said::read(answer);
            let [number] = said.numbers.as_slice() else { panic!("{answer}") };
            let mut shifts = shifts(number, reading).into_iter().flatten();
            let is = shifts.any(|shift| is_result(number, result.parse().unwrap(), shift));
            assert_eq!(is, same, "{result} as {answer}");
        }
    }
}
