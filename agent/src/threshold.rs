//! Questions whether an amount passes a number that they name: "did net sales exceed $150 billion in fiscal 2024" is the
//! question for net sales, and a comparison of what it gives.

use std::cmp::Ordering;
use std::str::FromStr as _;

use rust_decimal::Decimal;
use tabsegnet::Ranking;

use crate::answer::{Answer, Check, Citation};
use crate::candidates::is_outflow;
use crate::choice::Candidates;
use crate::program::{Argument, Operation, Program, Step};
use crate::quantity::{Quantity, Scale, Unit, of_sentence};
use crate::run::{NoRows, Outcome};

/// How a question holds an amount against a number: what stands before the number, whether the lesser is wanted, and
/// whether the number itself will do.
#[rustfmt::skip]
const COMPARISONS: [(&str, bool, bool); 26] = [
    ("no more than", true, true), ("not more than", true, true), ("no less than", false, true), ("at least", false, true),
    ("at most", true, true), ("more than", false, false), ("greater than", false, false), ("higher than", false, false),
    ("larger than", false, false), ("bigger than", false, false), ("in excess of", false, false), ("exceeding", false, false),
    ("exceeded", false, false), ("exceed", false, false), ("surpassed", false, false), ("surpass", false, false),
    ("topped", false, false), ("top", false, false), ("above", false, false), ("over", false, false),
    ("less than", true, false), ("fewer than", true, false), ("lower than", true, false), ("smaller than", true, false),
    ("below", true, false), ("under", true, false),
];

/// What stands before a comparison that adds nothing to it.
const FILLERS: [&str; 5] = ["to", "be", "amount to", "come to", "run"];

/// Verbs that a question for yes or no begins with.
const VERBS: [&str; 9] = ["was", "is", "were", "are", "did", "does", "do", "has", "have"];

/// Scales may be unknown; what differs by as much is hardly of one.
const FAR: i64 = 300;

/// The number that a question holds an amount against.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Threshold {
    /// The question for the amount: "What was net sales in fiscal 2024?"
    question: String,
    number: Quantity,
    less: bool,
    or_equal: bool,
}

impl Threshold {
    /// That of a question, `None` where it holds nothing against one number.
    pub(crate) fn of(question: &str) -> Option<Self> {
        let text = question.trim();
        let (verb, rest) = text.split_once(' ')?;
        let verb = VERBS.iter().find(|known| known.eq_ignore_ascii_case(verb))?;
        let [number] = &of_sentence(rest)[..] else { return None };
        let before = rest.get(..number.start)?.trim_end_matches(['$', '€', '£', ' ']);
        let ((comparison, less, or_equal), before) =
            COMPARISONS.iter().find_map(|of| Some((of, without_end(before, of.0)?)))?;
        let before = FILLERS.iter().find_map(|filler| without_end(before, filler)).unwrap_or(before);
        let after = behind(rest.get(number.end..)?, &number.quantity);
        let after = after.trim_end_matches(['?', '.', ' ']);
        let is_verb = ["exceed", "surpass", "topp", "top"].iter().any(|verb| comparison.starts_with(verb));
        let counted = after.split_whitespace().next().filter(|word| !BREAKS.contains(&word.to_lowercase().as_str()));
        let question = match counted {
            // "Does it have more than 100,000 employees in Texas"
            Some(_) if number.quantity.unit.is_none() => format!("How many {after} {verb} {before}?"),
            _ if is_verb || !matches!(*verb, "did" | "does" | "do" | "has" | "have") => {
                format!("What was {before} {after}?")
            }
            _ if number.quantity.unit == Some(Unit::Percent) => format!("By what percentage {verb} {before} {after}?"),
            _ => format!("How much {verb} {before} {after}?"),
        };
        let question = question.replace(" ?", "?");
        (!before.is_empty()).then_some(Self { question, number: number.quantity, less: *less, or_equal: *or_equal })
    }

    /// The candidates for the amount.
    pub(crate) fn candidates(&self, ranking: &Ranking) -> Candidates {
        let read_as = ranking.read_as.as_deref().and_then(Self::of).map(|of| of.question);
        Candidates::of_question(ranking, &self.question, read_as.as_deref())
    }

    /// Yes or no, by the answer to the question for the amount; an abstention where the two cannot be compared.
    pub(crate) fn verdict(&self, answer: Answer) -> Answer {
        if answer.abstained {
            return answer;
        }
        let Some((amount, number)) = self.amounts(&answer) else {
            let what = format!("{} can be held against {}", answer.said(), self.shown());
            return answer.withheld(what);
        };
        let yes = match amount.cmp(&number) {
            Ordering::Equal => self.or_equal,
            order => self.less == (order == Ordering::Less),
        };
        let program = self.program(&answer, amount, number).filter(|of| of.run(&NoRows) == Ok(Outcome::Verdict(yes)));
        let text = Outcome::Verdict(yes).to_string();
        let what = format!("{} is held against {}: {text}", answer.said(), self.shown());
        let checks = answer.checks.iter().cloned().chain([Check { what, passed: true }]).collect();
        Answer { program: program.map(|program| program.to_string()), checks, ..answer.saying(text) }
    }

    /// The amount of an answer and the number, both in the answer's scale.
    fn amounts(&self, answer: &Answer) -> Option<(Decimal, Decimal)> {
        let value = Decimal::from_str(answer.value.as_deref()?).ok()?;
        let percent = answer.unit == Some(Unit::Percent);
        if percent != (self.number.unit == Some(Unit::Percent))
            || self.number.unit.is_some() && answer.unit.is_some() && answer.unit != self.number.unit
        {
            return None;
        }
        // Percentages that were computed are fractions.
        let computed = percent && answer.program.is_some();
        let paid = |cited: &Citation| is_outflow(&cited.text, cited.row_headers.as_deref().unwrap_or_default());
        let is_paid = value.is_sign_negative() && answer.program.is_none() && answer.citations.iter().all(paid);
        let value = if is_paid && !answer.citations.is_empty() { value.abs() } else { value };
        let value = if computed { value.checked_mul(Decimal::ONE_HUNDRED)? } else { value };
        let power = |scale: Option<Scale>| scale.map_or(0, Scale::power);
        let raised = self.number.value.checked_mul(Decimal::from(10_i64.pow(power(self.number.scale))))?;
        let number = raised.checked_div(Decimal::from(10_i64.pow(power(answer.scale))))?.normalize();
        let far = |a: Decimal, b: Decimal| a.abs().checked_mul(Decimal::from(FAR)).is_none_or(|a| a < b.abs());
        // In brackets stands what was lost as well.
        let unlike = value.is_sign_negative() && !value.is_zero() && number.is_sign_positive();
        let other_scale = !percent && (far(value, number) || far(number, value));
        (!unlike && !other_scale).then_some((value, number))
    }

    /// The answer's program, with the comparison as its last step.
    fn program(&self, answer: &Answer, amount: Decimal, number: Decimal) -> Option<Program> {
        let mut steps = match &answer.program {
            Some(program) => Program::from_str(program).ok()?.steps().to_vec(),
            None => Vec::new(),
        };
        let computed = steps.len().checked_sub(1).map(Argument::Step);
        let percent = computed.is_some() && answer.unit == Some(Unit::Percent);
        let number = if percent { number.checked_div(Decimal::ONE_HUNDRED)?.normalize() } else { number };
        let (amount, number) = (computed.unwrap_or(Argument::number(amount)), Argument::Constant(number));
        let (first, second) = if self.less { (number, amount) } else { (amount, number) };
        steps.push(Step { operation: Operation::Greater, first, second });
        Program::new(steps).ok()
    }

    /// The number as the question has it.
    fn shown(&self) -> String {
        let shown = crate::prediction::shown_number(self.number.value, self.number.unit);
        self.number.scale.map_or(shown.clone(), |scale| format!("{shown} {scale}"))
    }
}

/// Words that nothing is counted by.
const BREAKS: [&str; 16] =
    ["in", "for", "on", "at", "by", "as", "during", "from", "to", "last", "this", "of", "per", "when", "a", "under"];

/// What stands before a phrase that ends a text.
fn without_end<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let at = text.len().checked_sub(phrase.len())?;
    let (before, end) = (text.get(..at)?, text.get(at..)?);
    (end.eq_ignore_ascii_case(phrase) && before.ends_with(' ')).then(|| before.trim_end())
}

/// What stands behind a number, its scale and unit left out.
fn behind<'t>(after: &'t str, number: &Quantity) -> &'t str {
    let mut after = after.trim_start();
    if let Some(scale) = number.scale {
        after = after.get(scale.to_string().len()..).unwrap_or("").trim_start();
    }
    if number.unit == Some(Unit::Percent) {
        after = after.trim_start_matches("%").trim_start_matches("percent").trim_start();
    }
    let of_currency = ["us dollars", "dollars", "euros", "pounds"];
    let unit = of_currency.iter().find(|name| after.get(..name.len()).is_some_and(|of| of.eq_ignore_ascii_case(name)));
    unit.map_or(after, |name| after.get(name.len()..).unwrap_or("").trim_start())
}

#[cfg(test)]
mod tests {
    use super::Threshold;
    use crate::answer::Answer;
    use crate::quantity::{Scale, Unit};

    #[test]
    fn the_amount_is_asked_for() {
        for (question, plain) in [
            ("Did net sales exceed $150 billion in fiscal 2024?", "What was net sales in fiscal 2024?"),
            ("Was the tax rate below 20%?", "What was the tax rate?"),
            ("Did it spend more than 5 billion dollars on R&D?", "How much did it spend on R&D?"),
            ("Does Nike have at least 70,000 employees worldwide?", "How many employees worldwide does Nike have?"),
        ] {
            assert_eq!(Threshold::of(question).map(|of| of.question).as_deref(), Some(plain));
        }
        for question in [
            "Did sales rise?",
            "What was above $5 million?",
            "Was revenue higher than in 2023?",
            "Did it exceed $5 million or $6 million?",
            "Did it pay $5 million?",
            "Exceed $5?",
        ] {
            assert_eq!(Threshold::of(question), None, "{question}");
        }
    }

    #[test]
    fn amounts_are_held_against_the_number() {
        let verdict = |question: &str, value: &str, unit, scale, program: Option<&str>| {
            let answer = Answer { value: Some(value.into()), answer: value.into(), unit, scale, ..Answer::default() };
            let answer = Answer { program: program.map(str::to_owned), confidence: 0.5, ..answer };
            let answer = Threshold::of(question).unwrap().verdict(answer);
            (answer.answer, answer.program.unwrap_or_default())
        };
        let dollars = Some(Unit::Dollar);
        let over = "Did net sales exceed $150 billion in 2024?";
        let million = Some(Scale::Million);
        let program = "greater(159514, const_150000)".to_owned();
        assert_eq!(verdict(over, "159514", dollars, million, None), ("yes".into(), program));
        assert_eq!(verdict(over, "140000", None, million, None).0, "no");
        // Another unit, an unknown scale, and what may be a loss or a payment.
        assert_eq!(verdict(over, "159514", Some(Unit::Percent), None, None).0, "");
        assert_eq!(verdict(over, "159514", dollars, None, None).0, "");
        assert_eq!(verdict(over, "-159514", dollars, million, None).0, "");
        let under = "Was the margin below 20%?";
        assert_eq!(
            verdict(under, "19", Some(Unit::Percent), None, None),
            ("yes".into(), "greater(const_20, 19)".into())
        );
        let program = "divide(1, 4), greater(const_0.2, #0)".to_owned();
        assert_eq!(verdict(under, "0.25", Some(Unit::Percent), None, Some("divide(1, 4)")), ("no".into(), program));
        let least = "Did it have at least 5,000 employees?";
        assert_eq!(verdict(least, "5000", None, None, None), ("yes".into(), String::new()));
    }
}
