//! Unit and scale, carried through the steps of a program: only like is added or compared, equal units cancel out, and a
//! result in a scale that nobody has a name for does not hold.
//!
//! What a number counts is often not said. Each number therefore has every reading that the document leaves open, and each
//! step keeps those that its operation allows.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;

use crate::program::{Argument, Operation, Program, Step};
use crate::quantity::{Quantity, Unit};
use crate::run::arithmetic;
use crate::walk::cells::CellGraph;

/// Powers of ten by amount beyond which no number of a document is.
const MOST: u32 = 30;
const MONEY: [Unit; 3] = [Unit::Dollar, Unit::Euro, Unit::Pound];

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One amount in terms of another: a percentage, a share, growth.
    Ratio,
    /// A currency, never [`Unit::Percent`].
    Money(Unit),
    /// Anything else: people, shares, tonnes.
    Other,
}

/// What a number may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) kind: Kind,
    /// The power of ten that it is to be multiplied by: 6 in millions, −2 for percentages.
    pub(crate) power: i32,
}

const FRACTION: Reading = Reading { kind: Kind::Ratio, power: 0 };
const PERCENT: Reading = Reading { kind: Kind::Ratio, power: -2 };
const COUNT: Reading = Reading { kind: Kind::Other, power: 0 };

impl Reading {
    /// What a number of the document leaves open.
    fn all_of(quantity: &Quantity) -> Vec<Self> {
        let power = quantity.scale.map_or(0, |scale| scale.power() as i32);
        match quantity.unit {
            Some(Unit::Percent) => vec![PERCENT],
            Some(unit) => vec![Self { kind: Kind::Money(unit), power }],
            None => {
                let kinds = MONEY.into_iter().map(Kind::Money).chain([Kind::Other]);
                kinds.map(|kind| Self { kind, power }).collect()
            }
        }
    }

    /// Whether an answer can say it: ones, thousands, millions, billions; fractions, percentages, basis points.
    fn has_name(self) -> bool {
        match self.kind {
            Kind::Ratio => matches!(self.power, 0 | -2 | -4),
            Kind::Money(_) | Kind::Other => matches!(self.power, 0 | 3 | 6 | 9),
        }
    }

    /// The same, written in another power of ten.
    fn rescaled(self, by: i32) -> Self {
        Self { power: self.power.saturating_add(by), ..self }
    }
}

/// The numbers of cited nodes, each with the row header of its cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CitedNumbers(Vec<(String, Quantity)>);

impl CitedNumbers {
    pub(crate) fn new(graph: &CellGraph<'_>, cells: &[u32]) -> Self {
        let of_cell = |&cell: &u32| {
            let header = graph.citation(cell).and_then(|cited| cited.row_headers).unwrap_or_default().to_lowercase();
            graph.quantities(cell).into_iter().map(move |quantity| (header.clone(), quantity))
        };
        Self(cells.iter().flat_map(of_cell).collect())
    }

    /// The readings of a number that a program writes.
    fn number(&self, value: Decimal, percent: bool) -> Result<Vec<Reading>, String> {
        let of_amount: Vec<Quantity> =
            self.0.iter().map(|(_, quantity)| *quantity).filter(|of| of.value.abs() == value.abs()).collect();
        let is_percent = |of: &Quantity| of.unit == Some(Unit::Percent);
        if percent {
            // 12% in a program is a hundredth of 12. What no sign and no scale stands beside may be a percentage.
            let fits = |of: &Quantity| is_percent(of) || of.unit.is_none() && of.scale.is_none();
            return match of_amount.is_empty() || of_amount.iter().any(fits) {
                true => Ok(vec![FRACTION]),
                false => Err(format!("{value}% is no percentage in the cells")),
            };
        }
        let mut found: Vec<Reading> = Vec::new();
        for reading in of_amount.iter().filter(|of| !is_percent(of)).flat_map(Reading::all_of) {
            if !found.contains(&reading) {
                found.push(reading);
            }
        }
        if found.is_empty() && !of_amount.is_empty() {
            found.push(PERCENT);
        }
        if found.is_empty() {
            // It stands there, in a way that says nothing of what it counts.
            found = Reading::all_of(&Quantity { value, unit: None, scale: None });
        }
        Ok(found)
    }

    /// The readings that all numbers of a row share.
    fn row(&self, header: &str) -> Result<Vec<Reading>, String> {
        let wanted = header.to_lowercase();
        let mut rows = self.0.iter().filter(|(of, _)| *of == wanted).map(|(_, quantity)| Reading::all_of(quantity));
        let first = rows.next().unwrap_or_else(|| vec![COUNT]);
        let shared = rows.fold(first, |shared, of| shared.into_iter().filter(|reading| of.contains(reading)).collect());
        match shared.is_empty() {
            true => Err(format!("the numbers of row {header:?} differ in unit or scale")),
            false => Ok(shared),
        }
    }
}

/// What a step works on.
#[derive(Debug, Clone, PartialEq)]
enum Carried {
    Constant(Decimal),
    Readings(Vec<Reading>),
    Verdict,
}

/// What the result of a program may mean; nothing for yes and no.
///
/// # Errors
/// Numbers that do not go together, in words for who wrote the program.
pub(crate) fn carried(program: &Program, cited: &CitedNumbers) -> Result<Vec<Reading>, String> {
    let mut results: Vec<Carried> = Vec::with_capacity(program.steps().len());
    for (number, step) in program.steps().iter().enumerate() {
        let of = |argument: &Argument| match argument {
            Argument::Number { value, percent } => cited.number(*value, *percent).map(Carried::Readings),
            Argument::Constant(value) => Ok(Carried::Constant(*value)),
            Argument::Step(of) => results.get(*of).cloned().ok_or_else(|| format!("there is no step {of}")),
            Argument::Row(header) => cited.row(header).map(Carried::Readings),
            Argument::Nothing => Ok(Carried::Constant(Decimal::ZERO)),
        };
        let result = of(&step.first).and_then(|first| match step.operation.of_row() {
            true => Ok(first),
            false => combined(step, first, of(&step.second)?),
        });
        results.push(result.map_err(|what| format!("step {number}: {what}"))?);
    }
    let readings = match results.pop() {
        Some(Carried::Readings(readings)) => readings,
        Some(Carried::Verdict) => return Ok(Vec::new()),
        Some(Carried::Constant(_)) | None => return Err("the result comes from constants alone".to_owned()),
    };
    let named: Vec<Reading> = readings.into_iter().filter(|reading| reading.has_name()).collect();
    if named.is_empty() {
        let what = "the scales do not cancel out; bring all numbers to one scale first, as divide(…, const_1000) does with \
                    thousands and millions";
        return Err(what.to_owned());
    }
    Ok(named)
}

fn combined(step: &Step, first: Carried, second: Carried) -> Result<Carried, String> {
    use Carried::{Constant, Readings, Verdict};
    use Operation::{Add, Divide, Exp, Greater, Multiply, Subtract};
    let found = match (step.operation, first, second) {
        (_, Verdict, _) | (_, _, Verdict) => return Err("yes and no are no numbers".to_owned()),
        (operation, Constant(a), Constant(b)) => return of_constants(operation, a, b),
        (Add | Subtract | Greater, Readings(a), Readings(b)) => {
            let found: Vec<Reading> = a.iter().copied().filter(|reading| b.contains(reading)).collect();
            if found.is_empty() {
                return Err(apart((&step.first, &a), (&step.second, &b)));
            }
            found
        }
        (Add | Subtract | Greater, Readings(of), Constant(constant)) => beside(&of, constant, &step.first)?,
        (Add | Subtract | Greater, Constant(constant), Readings(of)) => beside(&of, constant, &step.second)?,
        (Multiply, Readings(a), Readings(b)) => pairs(&a, &b, |a, b| vec![product(a, b)]),
        (Multiply, Readings(of), Constant(constant)) | (Multiply, Constant(constant), Readings(of)) => {
            times(&of, constant, -1)
        }
        (Divide, Readings(a), Readings(b)) => {
            let found = pairs(&a, &b, quotients);
            if found.is_empty() {
                return Err(apart((&step.first, &a), (&step.second, &b)));
            }
            found
        }
        (Divide, Readings(of), Constant(constant)) => times(&of, constant, 1),
        (Divide, Constant(constant), Readings(of)) => each(&of, |of| vec![inverse(constant, of)]),
        (Exp, Readings(of), Constant(exponent)) => raised(&of, Some(exponent)),
        (Exp, Readings(of), Readings(exponent)) if is_plain(&exponent) => raised(&of, None),
        (Exp, Constant(_), Readings(exponent)) if is_plain(&exponent) => vec![FRACTION, COUNT],
        _ => Vec::new(),
    };
    if found.is_empty() {
        return Err(format!("{step} has no unit or scale that could be named"));
    }
    Ok(if step.operation == Greater { Verdict } else { Readings(found) })
}

/// Constants among themselves make other constants, such as powers of ten and exponents of roots; what they could add up to
/// besides would be a number that stands nowhere.
fn of_constants(operation: Operation, a: Decimal, b: Decimal) -> Result<Carried, String> {
    match arithmetic(operation, a, b) {
        Some(value) if is_constant(value) || operation == Operation::Divide && a == Decimal::ONE => {
            Ok(Carried::Constant(value))
        }
        _ => Err("it has constants alone".to_owned()),
    }
}

const CONSTANTS: [i64; 22] = [
    -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 100, 365, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000,
    1_000_000_000,
];

/// Whether it is one of the numbers that no cell has to hold: those of FinQA's language, nothing, and the months and days of
/// a year.
pub(crate) fn is_constant(value: Decimal) -> bool {
    CONSTANTS.iter().any(|&constant| Decimal::from(constant) == value)
}

/// Each once, without those that no number of a document could have.
fn distinct(readings: impl Iterator<Item = Reading>) -> Vec<Reading> {
    let mut found = Vec::new();
    for reading in readings {
        if reading.power.unsigned_abs() <= MOST && !found.contains(&reading) {
            found.push(reading);
        }
    }
    found
}

fn each(readings: &[Reading], of: impl Fn(Reading) -> Vec<Reading>) -> Vec<Reading> {
    distinct(readings.iter().flat_map(|&reading| of(reading)))
}

fn pairs(a: &[Reading], b: &[Reading], of: impl Fn(Reading, Reading) -> Vec<Reading>) -> Vec<Reading> {
    let of = &of;
    distinct(a.iter().flat_map(|&a| b.iter().flat_map(move |&b| of(a, b))))
}

fn product(a: Reading, b: Reading) -> Reading {
    let kind = match (a.kind, b.kind) {
        (Kind::Ratio, kind) | (kind, Kind::Ratio) => kind,
        (Kind::Other, kind) | (kind, Kind::Other) => kind,
        (Kind::Money(_), Kind::Money(_)) => Kind::Other,
    };
    Reading { kind, power: a.power.saturating_add(b.power) }
}

/// Equal units cancel out; so may units that are not known.
fn quotients(a: Reading, b: Reading) -> Vec<Reading> {
    let kinds = match (a.kind, b.kind) {
        (kind, Kind::Ratio) => vec![kind],
        (Kind::Other, Kind::Other) => vec![Kind::Ratio, Kind::Other],
        (Kind::Money(a), Kind::Money(b)) if a == b => vec![Kind::Ratio],
        (Kind::Money(_), Kind::Money(_)) => Vec::new(),
        (kind @ Kind::Money(_), Kind::Other) => vec![kind],
        (Kind::Ratio | Kind::Other, _) => vec![Kind::Other],
    };
    kinds.into_iter().map(|kind| Reading { kind, power: a.power.saturating_sub(b.power) }).collect()
}

/// A constant divided by a number; of a percentage 100 is the whole.
fn inverse(constant: Decimal, of: Reading) -> Reading {
    match of.kind {
        Kind::Ratio if constant == Decimal::ONE_HUNDRED => {
            Reading { power: of.power.saturating_neg().saturating_sub(2), ..of }
        }
        Kind::Ratio => Reading { power: of.power.saturating_neg(), ..of },
        Kind::Money(_) | Kind::Other => Reading { kind: Kind::Other, power: of.power.saturating_neg() },
    }
}

/// Multiplied (`direction` −1) or divided (1) by a constant. A power of ten brings a number to another scale: 5,000 thousand by
/// const_1000 are 5 million; where no scale is known it may as well be arithmetic.
fn times(readings: &[Reading], constant: Decimal, direction: i32) -> Vec<Reading> {
    let power = (2..=9).find(|&power| constant == Decimal::from(10_i64.pow(power)));
    let Some(power) = power else { return readings.to_vec() };
    let by = direction.saturating_mul(power as i32);
    each(readings, |reading| match reading.kind {
        Kind::Ratio => vec![reading.rescaled(by)],
        // A hundred is no scale of amounts, unless percentages were multiplied with them.
        _ if power == 2 && reading.power % 3 == 0 => vec![reading],
        _ if reading.power == 0 => vec![reading.rescaled(by), reading],
        _ => vec![reading.rescaled(by)],
    })
}

/// Added to, subtracted from or compared with a constant: nothing, the whole of a fraction or a percentage, and the base of
/// an index, which is 100. Another one would be a number that stands nowhere.
fn beside(readings: &[Reading], constant: Decimal, argument: &Argument) -> Result<Vec<Reading>, String> {
    let found = if constant.is_zero() {
        readings.to_vec()
    } else if constant == Decimal::ONE {
        each(readings, |reading| match reading {
            FRACTION => vec![FRACTION],
            // A number without a sign may be a fraction.
            COUNT => vec![COUNT, FRACTION],
            _ => Vec::new(),
        })
    } else if constant == Decimal::ONE_HUNDRED {
        each(readings, |reading| match reading.kind {
            Kind::Ratio if reading == PERCENT => vec![PERCENT],
            Kind::Money(_) | Kind::Other if reading.power == 0 => vec![reading, PERCENT],
            _ => Vec::new(),
        })
    } else {
        return Err(format!(
            "{} is put beside {argument}, and stands in no cell; only const_1, the whole, and const_100, 100 % or the base of \
             an index, may be",
            Argument::Constant(constant)
        ));
    };
    match found.is_empty() {
        true => Err(format!("{argument} has a unit or a scale, and {} has none", Argument::Constant(constant))),
        false => Ok(found),
    }
}

/// Whether a number may be an exponent.
fn is_plain(readings: &[Reading]) -> bool {
    readings.iter().any(|reading| reading.power == 0)
}

/// To a power, where its constant is known.
fn raised(readings: &[Reading], exponent: Option<Decimal>) -> Vec<Reading> {
    let whole = exponent.filter(Decimal::is_integer).and_then(|exponent| exponent.to_i32());
    each(readings, |reading| match (reading.kind, reading.power) {
        (_, _) if exponent == Some(Decimal::ONE) => vec![reading],
        (Kind::Ratio, 0) => vec![FRACTION],
        (Kind::Ratio, _) => Vec::new(),
        (Kind::Money(_) | Kind::Other, 0) => vec![COUNT],
        (Kind::Money(_) | Kind::Other, power) => {
            let power = whole.map(|whole| power.saturating_mul(whole));
            power.map(|power| Reading { kind: Kind::Other, power }).into_iter().collect()
        }
    })
}

/// Why two arguments have no reading in common, in words.
fn apart((first, a): (&Argument, &[Reading]), (second, b): (&Argument, &[Reading])) -> String {
    let ratio = |of: &[Reading]| of.iter().any(|reading| reading.kind == Kind::Ratio);
    let kinds = |of: &[Reading]| of.iter().map(|reading| reading.kind).collect::<Vec<_>>();
    if !kinds(a).iter().any(|kind| kinds(b).contains(kind)) {
        if ratio(a) != ratio(b) {
            return format!("{first} and {second} do not go together: one of them is a percentage or a ratio");
        }
        let name = |argument: &Argument, of: &[Reading]| match of {
            [Reading { kind: Kind::Money(unit), .. }] => unit.to_string(),
            _ => argument.to_string(),
        };
        return format!("{} and {} do not go together", name(first, a), name(second, b));
    }
    if ratio(a) && ratio(b) {
        return "one percentage is written with %, or is a fraction, the other is not".to_owned();
    }
    let shown = |argument: &Argument, of: &[Reading]| match of.first().map_or(0, |reading| reading.power) {
        0 => format!("{argument} stands as it is"),
        3 => format!("{argument} is in thousands"),
        6 => format!("{argument} is in millions"),
        9 => format!("{argument} is in billions"),
        power => format!("{argument} is in 10^{power}"),
    };
    format!("{}, {}: bring both to one scale first", shown(first, a), shown(second, b))
}

#[cfg(test)]
mod tests {
    use super::{CitedNumbers, FRACTION, Kind, PERCENT, Reading, carried};
    use crate::quantity::{Quantity, Scale, Unit};

    /// Cells of a report: sales in millions of dollars, abroad of euros, wages in thousands, people, rates.
    fn cited() -> CitedNumbers {
        let quantity = |row: &str, value: &str, unit, scale| {
            (row.to_owned(), Quantity { value: value.parse().unwrap(), unit, scale })
        };
        CitedNumbers(vec![
            quantity("net sales", "120", Some(Unit::Dollar), Some(Scale::Million)),
            quantity("net sales", "100", Some(Unit::Dollar), Some(Scale::Million)),
            quantity("abroad", "40", Some(Unit::Euro), Some(Scale::Million)),
            quantity("wages", "5000", Some(Unit::Dollar), Some(Scale::Thousand)),
            quantity("people", "500", None, None),
            quantity("rate", "12", Some(Unit::Percent), None),
            quantity("rate", "15", Some(Unit::Percent), None),
            quantity("margin", "0.45", None, None),
            quantity("a share", "1.2", Some(Unit::Dollar), None),
            quantity("index", "134", Some(Unit::Dollar), None),
            quantity("mixed", "7", Some(Unit::Percent), None),
            quantity("mixed", "8", None, Some(Scale::Million)),
        ])
    }

    fn read(program: &str) -> Result<Vec<Reading>, String> {
        carried(&program.parse().unwrap(), &cited())
    }

    #[test]
    fn unit_and_scale_come_through() {
        let dollars = |power| Reading { kind: Kind::Money(Unit::Dollar), power };
        for (program, reading) in [
            ("subtract(120, 100)", dollars(6)),
            ("subtract(120, 100), divide(#0, 100)", FRACTION),
            ("divide(120, 100), subtract(#0, const_1), multiply(#0, const_100)", PERCENT),
            ("add(120, 100), divide(#0, const_2)", dollars(6)),
            ("divide(5000, const_1000), subtract(120, #0)", dollars(6)),
            ("multiply(120, const_1000), add(#0, 5000)", dollars(3)),
            ("multiply(120, const_1000), divide(5000, #0)", FRACTION),
            ("divide(5000, 120), divide(#0, const_1000)", FRACTION),
            ("multiply(120, 12%)", dollars(6)),
            ("multiply(120, 12), divide(#0, const_100)", dollars(6)),
            ("divide(120, 12%)", dollars(6)),
            ("subtract(15, 12)", PERCENT),
            ("subtract(15%, 12%)", FRACTION),
            ("subtract(const_1, 0.45)", FRACTION),
            ("subtract(134, const_100), divide(#0, const_100)", FRACTION),
            ("multiply(500, 1.2)", dollars(0)),
            ("multiply(120, const_1000000), divide(#0, 500)", dollars(0)),
            ("divide(120, 100), divide(const_1, const_3), exp(#0, #1), subtract(#2, const_1)", FRACTION),
            ("table_average(net sales, none)", dollars(6)),
            ("table_sum(rate, none)", PERCENT),
        ] {
            assert!(read(program).is_ok_and(|found| found.contains(&reading)), "{program}: {:?}", read(program));
        }
        assert_eq!(read("greater(120, 100)"), Ok(Vec::new()));
        assert_eq!(read("subtract(120, 100), greater(#0, const_0)"), Ok(Vec::new()));
    }

    #[test]
    fn what_does_not_go_together_is_found_behind_other_steps_too() {
        for (program, words) in [
            ("add(120, 40)", "$ and € do not go together"),
            ("multiply(120, const_1), add(#0, 40)", "step 1: $ and € do not go together"),
            ("divide(40, 120)", "€ and $ do not go together"),
            ("multiply(120, const_1), add(#0, 5000)", "5000 is in thousands: bring both to one scale"),
            ("divide(5000, 120)", "the scales do not cancel out"),
            ("multiply(120, 100)", "the scales do not cancel out"),
            ("subtract(0.45, 12%)", "a percentage"),
            ("multiply(0.45, const_1), subtract(#0, 12%)", "a percentage"),
            ("subtract(15, 12%)", "written with %"),
            ("greater(120, 12)", "a percentage"),
            ("multiply(120, 12%), add(#0, 12)", "a percentage"),
            ("multiply(120, 120%)", "120% is no percentage"),
            ("add(120, const_9)", "const_9 is put beside 120"),
            ("subtract(120, const_100)", "120 has a unit or a scale"),
            ("subtract(5000, 120), divide(#0, 120)", "bring both to one scale"),
            ("add(const_9, const_1)", "constants alone"),
            ("multiply(const_7, const_6)", "it has constants alone"),
            ("greater(const_2, const_1)", "it has constants alone"),
            ("greater(120, 100), add(#0, 120)", "yes and no are no numbers"),
            ("table_sum(mixed, none)", "differ in unit or scale"),
        ] {
            let error = read(program).unwrap_err();
            assert!(error.contains(words), "{program}: {error}");
        }
    }
}
