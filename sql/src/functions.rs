//! Mathematical functions and medians, which the SQLite that is built in lacks, with the names and rules of its own extensions.

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

/// Functions of one number. What is no number, and what has none for an answer, is NULL.
const OF_ONE: [(&str, OfOne); 20] = [
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", f64::to_degrees),
    ("exp", f64::exp),
    ("ln", f64::ln),
    ("log", f64::log10),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("radians", f64::to_radians),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
];

/// Functions that leave an integer as it is.
const TO_WHOLE: [(&str, OfOne); 4] =
    [("ceil", f64::ceil), ("ceiling", f64::ceil), ("floor", f64::floor), ("trunc", f64::trunc)];

/// Functions of two numbers; the base of a logarithm comes first.
const OF_TWO: [(&str, OfTwo); 5] = [
    ("atan2", f64::atan2),
    ("log", |base, number| number.log(base)),
    ("mod", |a, b| a % b),
    ("pow", f64::powf),
    ("power", f64::powf),
];

/// Values of a group that a median is taken of; they lie in memory.
const MOST_VALUES: usize = 4_000_000;

/// Gives a connection the functions. They compute from their arguments alone, so that views may call them.
pub(crate) fn add(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, function) in OF_ONE {
        connection
            .create_scalar_function(name, 1, flags, move |of| Ok(number(of, 0).and_then(|x| known(function(x)))))?;
    }
    for (name, function) in TO_WHOLE {
        connection.create_scalar_function(name, 1, flags, move |of| {
            Ok(match of.get_raw(0) {
                ValueRef::Integer(whole) => Value::Integer(whole),
                _ => number(of, 0).and_then(|x| known(function(x))).map_or(Value::Null, Value::Real),
            })
        })?;
    }
    for (name, function) in OF_TWO {
        connection.create_scalar_function(name, 2, flags, move |of| {
            Ok(number(of, 0).zip(number(of, 1)).and_then(|(x, y)| known(function(x, y))))
        })?;
    }
    connection.create_scalar_function("pi", 0, flags, |_| Ok(std::f64::consts::PI))?;
    connection.create_aggregate_function("median", 1, flags, Quantile { whole: 1.0, share: Some(0.5) })?;
    connection.create_aggregate_function("percentile", 2, flags, Quantile { whole: 100.0, share: None })?;
    connection.create_aggregate_function("percentile_cont", 2, flags, Quantile { whole: 1.0, share: None })
}

/// An argument as a number; texts that are written as numbers are.
fn number(of: &Context<'_>, at: usize) -> Option<f64> {
    match of.get_raw(at) {
        #[allow(clippy::cast_precision_loss, reason = "as SQLite's own functions take it")]
        ValueRef::Integer(whole) => Some(whole as f64),
        ValueRef::Real(real) => Some(real),
        ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok().filter(|x: &f64| x.is_finite()),
        ValueRef::Null | ValueRef::Blob(_) => None,
    }
}

fn known(number: f64) -> Option<f64> {
    (!number.is_nan()).then_some(number)
}

/// The value below which a share of the values lies, between neighbours in proportion.
struct Quantile {
    /// What the share is counted in: hundredths, or 1.
    whole: f64,
    /// The share, where it is no argument.
    share: Option<f64>,
}

#[derive(Default)]
struct Values {
    values: Vec<f64>,
    share: f64,
}

impl Aggregate<Values, Option<f64>> for Quantile {
    fn init(&self, _: &mut Context<'_>) -> Result<Values> {
        Ok(Values::default())
    }

    fn step(&self, of: &mut Context<'_>, found: &mut Values) -> Result<()> {
        let failed = |message: String| Err(Error::UserFunctionError(message.into()));
        let share = self.share.or_else(|| number(of, 1)).unwrap_or(-1.0);
        if !(0.0..=self.whole).contains(&share) {
            return failed(format!("the second argument is no number from 0 to {}", self.whole));
        }
        found.share = share / self.whole;
        if found.values.len() >= MOST_VALUES {
            return failed(format!("a group has more than {MOST_VALUES} values"));
        }
        found.values.extend(number(of, 0));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, found: Option<Values>) -> Result<Option<f64>> {
        let Values { mut values, share } = found.unwrap_or_default();
        values.sort_unstable_by(f64::total_cmp);
        #[allow(clippy::cast_precision_loss, reason = "there are at most four million")]
        let place = share * values.len().saturating_sub(1) as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among them")]
        let (low, high) = (values.get(place.floor() as usize), values.get(place.ceil() as usize));
        Ok(low.zip(high).map(|(low, high)| low + (high - low) * place.fract()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_answer_as_sqlites_own() {
        let connection = Connection::open_in_memory().unwrap();
        add(&connection).unwrap();
        let of = |sql: &str| connection.query_row(&format!("SELECT {sql}"), [], |row| row.get::<_, Value>(0)).unwrap();
        for (sql, expected) in [
            ("sqrt(9)", Value::Real(3.0)),
            ("sqrt(-1)", Value::Null),
            ("sqrt('x')", Value::Null),
            ("sqrt('16')", Value::Real(4.0)),
            ("ceil(1.2)", Value::Real(2.0)),
            ("ceil(7)", Value::Integer(7)),
            ("floor(-1.5)", Value::Real(-2.0)),
            ("trunc(-1.5)", Value::Real(-1.0)),
            ("power(2, 10)", Value::Real(1024.0)),
            ("mod(7, 4)", Value::Real(3.0)),
            ("mod(7, 0)", Value::Null),
            ("log(2, 8)", Value::Real(3.0)),
            ("log(100)", Value::Real(2.0)),
            ("round(degrees(pi()))", Value::Real(180.0)),
            ("exp(NULL)", Value::Null),
        ] {
            assert_eq!(of(sql), expected, "{sql}");
        }
        let values =
            "FROM (SELECT 4 AS x UNION ALL SELECT 1 UNION ALL SELECT NULL UNION ALL SELECT 2 UNION ALL SELECT 8)";
        assert_eq!(of(&format!("median(x) {values}")), Value::Real(3.0));
        assert_eq!(of(&format!("percentile(x, 50) {values}")), Value::Real(3.0));
        assert_eq!(of(&format!("percentile_cont(x, 1) {values}")), Value::Real(8.0));
        assert_eq!(of(&format!("median(x) {values} WHERE x > 99")), Value::Null);
        assert!(connection.query_row(&format!("SELECT percentile(x, 101) {values}"), [], |_| Ok(())).is_err());
    }
}
