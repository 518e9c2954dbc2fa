//! TAT-QA's gold nodes: cells and paragraphs whose value the derivation or the
//! answer uses.

use std::collections::BTreeSet;

use tabsegnet_document::model::{Cell, CellRole, Table};
use tabsegnet_document::node_id;

use super::{Answer, AnswerType};
use crate::values::{amount, holds, normalised, numbers_in};

/// A value that the derivation or the answer uses.
enum Value {
    /// Without its sign: derivations write `(12)` and `-12` for one another.
    Number(f64),
    /// Normalised.
    Text(String),
}

impl Value {
    fn of(text: &str) -> Self {
        amount(text).map_or_else(|| Self::Text(normalised(text)), Self::Number)
    }

    fn is(&self, cell: &Cell) -> bool {
        match self {
            Self::Number(number) => amount(&cell.text) == Some(*number),
            Self::Text(text) => !text.is_empty() && normalised(&cell.text) == *text,
        }
    }

    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Number(number) => numbers_in(text).iter().any(|(_, other)| other == number),
            Self::Text(phrase) => holds(&normalised(text), phrase),
        }
    }
}

/// The gold nodes:
/// - of the table, where the answer is from it, the cells that show a value; for a value that no
///   cell shows alone, the headers that hold it ("2018" in "December 31, 2018"), else the cells;
/// - of the `related` paragraphs, where the answer is from text, those that hold a value; all of
///   them where the answer is from text alone and put together from several places.
///
/// A value is a number of an arithmetic derivation, a thing that a count lists, a text of the
/// answer, or a number that the answer was compared by.
pub(super) fn gold_nodes(
    table: &Table,
    paragraphs: &[String],
    related: &[usize],
    answer: &Answer,
    derivation: &str,
) -> Vec<String> {
    let values = values(answer, derivation);
    let mut gold = BTreeSet::new();
    if answer.in_table {
        for value in &values {
            gold.extend(cells(table, value).map(|cell| node_id::cell(table, cell)));
        }
    }
    if answer.in_text {
        let holds_value =
            |&&place: &&usize| paragraphs.get(place).is_some_and(|text| values.iter().any(|value| value.is_in(text)));
        let mut places: Vec<usize> = related.iter().filter(holds_value).copied().collect();
        if places.is_empty() && !answer.in_table {
            places = related.to_vec();
        }
        gold.extend(places.into_iter().map(node_id::passage));
    }
    gold.into_iter().collect()
}

fn cells<'a>(table: &'a Table, value: &Value) -> impl Iterator<Item = &'a Cell> {
    let of = |matches: &dyn Fn(&Cell) -> bool| table.cells().iter().filter(|cell| matches(cell)).collect::<Vec<_>>();
    let mut found = of(&|cell| value.is(cell));
    if found.is_empty() {
        found = of(&|cell| table.role(cell) != CellRole::Data && value.is_in(&cell.text));
    }
    if found.is_empty() {
        found = of(&|cell| value.is_in(&cell.text));
    }
    found.into_iter()
}

fn values(answer: &Answer, derivation: &str) -> Vec<Value> {
    match answer.kind {
        AnswerType::Arithmetic => operands(derivation).into_iter().map(Value::Number).collect(),
        AnswerType::Count => derivation.split("##").map(Value::of).collect(),
        AnswerType::Spans => {
            let compared = if is_comparison(derivation) { operands(derivation) } else { Vec::new() };
            let answers = answer.values.iter().map(|value| Value::of(value));
            answers.chain(compared.into_iter().map(Value::Number)).collect()
        }
    }
}

/// Whether a derivation compares numbers (`24,193 > 20,402`, `79,046 (2019) vs 63,954 (2018)`) and
/// does not explain in words where to look ("net income in row 5").
fn is_comparison(derivation: &str) -> bool {
    !derivation.replace("vs", "").contains(char::is_alphabetic)
}

/// The numbers of a derivation that come from the document. The 1 and 100 of growth rates and
/// percentages do not, nor does the divisor of a mean, `(4 + 5 + 6) / 3`; but where nothing else is
/// left, all count.
fn operands(derivation: &str) -> Vec<f64> {
    let numbers = numbers_in(derivation);
    let is_operand = |&&(at, number): &&(usize, f64)| {
        let written = derivation[at..].split(|c: char| !c.is_ascii_digit()).next().map_or(0, str::len);
        let whole = number.fract() == 0.0 && !derivation[at + written..].starts_with(['.', ',']);
        let before = derivation[..at].trim_end();
        let mean = before.strip_suffix('/').is_some_and(|group| last_group(group) == Some(number as usize));
        !(whole && (number == 1.0 || number == 100.0 || mean))
    };
    let operands: Vec<f64> = numbers.iter().filter(is_operand).map(|&(_, number)| number).collect();
    if operands.is_empty() { numbers.into_iter().map(|(_, number)| number).collect() } else { operands }
}

/// How many numbers the bracket holds that a text ends with.
fn last_group(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (at + c.len_utf8() < text.len()).then(|| numbers_in(&text[at..]).len());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_a_derivation_are_no_operands() {
        for (derivation, expected) in [
            ("(27,633+ 32,389)/2", vec![27633.0, 32389.0]),
            ("(4+4)/2", vec![4.0, 4.0]),
            ("24.9 / 33.5 - 1", vec![24.9, 33.5]),
            ("(436-392)/392", vec![436.0, 392.0, 392.0]),
            ("53.0/1,027", vec![53.0, 1027.0]),
            ("-(0.9 + 0.1) / 2", vec![0.9, 0.1]),
            ("[(1+2)/2] - [(3+4)/2]", vec![2.0, 3.0, 4.0]),
            ("8/2", vec![8.0, 2.0]),
            ("100 - 1", vec![100.0, 1.0]),
            ("1.5 * 100", vec![1.5]),
            ("", vec![]),
        ] {
            assert_eq!(operands(derivation), expected, "{derivation}");
        }
    }

    #[test]
    fn words_in_a_derivation_are_no_comparison() {
        assert!(is_comparison("79,046 (2019) vs 63,954 (2018)"));
        assert!(!is_comparison("locate and analyze net income in row 5"));
    }
}
