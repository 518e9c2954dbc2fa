//! What a candidate says, as people and programs read it.

use rust_decimal::Decimal;

use crate::candidates::Candidate;
use crate::family::Family;
use crate::quantity::{Scale, Unit};
use crate::question::Inquiry;
use crate::run::Outcome;
use tabsegnet_lexical::periods::is_year;

/// An answer's words and number.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// One text, or several where the answer is a list: a cell's as it stands, a number with its currency or `%`.
    pub texts: Vec<String>,
    /// The bare number to five places, or yes or no; percentages that were computed are fractions.
    pub value: Option<String>,
    /// What the number counts, as far as it is known.
    pub unit: Option<Unit>,
    /// What the number is to be multiplied by, as far as it is known.
    pub scale: Option<Scale>,
    key: String,
}

impl Prediction {
    pub(crate) fn new(candidate: &Candidate, inquiry: &Inquiry) -> Self {
        let first = candidate.facts.first();
        let Some(outcome) = candidate.outcome else {
            let unit = if candidate.family == Family::List { first.and_then(|fact| fact.quantity.unit) } else { None };
            let key = candidate.words.join("\n").to_lowercase();
            return Self { texts: candidate.words.clone(), value: None, unit, scale: candidate.scale, key };
        };
        let fraction = match candidate.family {
            Family::PercentChange | Family::Return | Family::ReturnDifference | Family::Share => true,
            Family::Ratio => ["percent", "portion", "share of", "%"].iter().any(|cue| inquiry.has(cue)),
            _ => false,
        };
        // A number whose own percent sign made it a hundredth in the program.
        let hundredth = candidate.program.is_some() && candidate.facts.iter().all(|fact| fact.percent_sign);
        let unit = match candidate.family {
            _ if fraction => Some(Unit::Percent),
            Family::Ratio if candidate.facts.get(1).is_some_and(|of| of.percent_sign) => {
                first.and_then(|fact| fact.quantity.unit).filter(|unit| *unit != Unit::Percent)
            }
            Family::Ratio | Family::Greater | Family::Count => None,
            Family::Product => {
                candidate.facts.iter().filter_map(|fact| fact.quantity.unit).find(|unit| *unit != Unit::Percent)
            }
            _ => first.and_then(|fact| fact.quantity.unit),
        };
        let text = match outcome {
            Outcome::Verdict(_) => outcome.to_string(),
            // As it stands in the document.
            Outcome::Number(_) if candidate.program.is_none() && first.is_some_and(|fact| fact.place.is_some()) => {
                let text = first.map_or_else(String::new, |fact| fact.text.clone());
                let bare = !text.contains(|c: char| c == '%' || c.is_alphabetic());
                match candidate.family {
                    Family::Count => outcome.to_string(),
                    _ if unit == Some(Unit::Percent) && bare => format!("{text} %"),
                    _ => text,
                }
            }
            // A year in a sentence.
            Outcome::Number(_)
                if candidate.program.is_none()
                    && unit.is_none()
                    && first.is_some_and(|fact| fact.text.len() == 4 && is_year(&fact.text)) =>
            {
                first.map_or_else(String::new, |fact| fact.text.clone())
            }
            Outcome::Number(number) => {
                let percent = unit == Some(Unit::Percent) && (fraction || hundredth);
                let shown = if percent {
                    number.checked_mul(Decimal::ONE_HUNDRED).unwrap_or(number).round_dp(2)
                } else {
                    number.round_dp(if number.abs() < Decimal::TEN { 5 } else { 2 })
                };
                shown_number(shown, unit)
            }
        };
        // A dash has none.
        let has_scale = unit != Some(Unit::Percent) && text.contains(|c: char| c.is_ascii_digit());
        let scale = candidate.scale.filter(|_| has_scale);
        let value = rounded(outcome).to_string();
        Self { texts: vec![text], key: value.clone(), value: Some(value), unit, scale }
    }

    /// The same for what says the same.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// As one text.
    pub fn text(&self) -> String {
        self.texts.join("; ")
    }
}

/// To the five places that FinQA's script compares.
fn rounded(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Number(number) => Outcome::Number(number.round_dp(5).normalize()),
        verdict => verdict,
    }
}

/// `-$1,234.5`, `12.3 %`.
pub(crate) fn shown_number(number: Decimal, unit: Option<Unit>) -> String {
    let text = number.abs().normalize().to_string();
    let (whole, rest) =
        text.split_once('.').map_or((text.as_str(), String::new()), |(whole, rest)| (whole, format!(".{rest}")));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let minus = if number.is_sign_negative() && !number.is_zero() { "-" } else { "" };
    match unit {
        Some(Unit::Percent) => format!("{minus}{grouped}{rest} %"),
        Some(sign) => format!("{minus}{sign}{grouped}{rest}"),
        None => format!("{minus}{grouped}{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::shown_number;
    use crate::quantity::Unit;

    #[test]
    fn numbers_are_grouped() {
        let shown = |number: &str, unit| shown_number(number.parse::<Decimal>().unwrap(), unit);
        assert_eq!(shown("-1234567.50", Some(Unit::Dollar)), "-$1,234,567.5");
        assert_eq!(shown("12.30", Some(Unit::Percent)), "12.3 %");
        assert_eq!(shown("0", None), "0");
    }
}
