//! What a table states of a change that was worked out from it.

use rust_decimal::{Decimal, RoundingStrategy};
use tabsegnet::{NodeKind, RankedNode, Ranking};
use tabsegnet_document::numbers::parse_cell_number;

use crate::answer::{Answer, Citation};
use crate::checks::check_number;
use crate::facts::row_of;
use crate::program::{Argument, Operation, Program};
use crate::quantity::{Unit, to_decimal};

/// An answer as the table has it, where that is a percentage worked out from two numbers of a row, and a cell of the row says how
/// far apart they are, to its own places: 3.1 % and not 3.06 %. Of tables alone: people ask for what they state, in reports for
/// what follows from it.
pub(crate) fn as_stated(answer: Answer, ranking: &Ranking) -> Answer {
    if ranking.nodes.iter().any(|node| node.kind == NodeKind::Passage) {
        return answer;
    }
    let stated = || {
        let percentage = percent_change(answer.program.as_deref()?)?;
        let row = row_of(answer.citations.first().map(|cited| &cited.position)?)?;
        let in_row = answer.citations.iter().all(|cited| row_of(&cited.position) == Some(row));
        let says_it = |node: &&RankedNode| {
            let is_percentage =
                [node.text.as_str()].into_iter().chain(node.column_headers.as_deref()).any(|text| text.contains('%'));
            node.kind == NodeKind::Cell && row_of(&node.position) == Some(row) && is_percentage && {
                let rounded =
                    percentage.round_dp_with_strategy(places(&node.text), RoundingStrategy::MidpointAwayFromZero);
                number(node).is_some_and(|number| number.abs() == rounded.abs())
            }
        };
        let node = ranking.nodes.iter().filter(|_| in_row).find(says_it)?;
        Some((node, number(node)?))
    };
    let Some((node, number)) = stated() else { return answer };
    let text = node.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = if text.contains('%') { text } else { format!("{text} %") };
    let citations = vec![Citation::from(node)];
    let checks = vec![check_number(number, &citations)];
    let (unit, value) = (Some(Unit::Percent), Some(number.normalize().to_string()));
    Answer {
        answer: text.clone(),
        answers: vec![text],
        value,
        unit,
        scale: None,
        program: None,
        citations,
        checks,
        ..answer
    }
}

/// By how many hundredths of itself a number changed, where a program works that out.
fn percent_change(program: &str) -> Option<Decimal> {
    let program: Program = program.parse().ok()?;
    let [change, by] = program.steps() else { return None };
    let (Argument::Number { value: new, .. }, Argument::Number { value: old, .. }) = (&change.first, &change.second)
    else {
        return None;
    };
    let is_of_old = matches!(&by.second, Argument::Number { value, .. } if value == old);
    let is_one = (change.operation, by.operation) == (Operation::Subtract, Operation::Divide) && is_of_old;
    let change = new.checked_sub(*old).filter(|_| is_one)?;
    change.checked_mul(Decimal::ONE_HUNDRED)?.checked_div(*old)
}

fn number(node: &RankedNode) -> Option<Decimal> {
    to_decimal(parse_cell_number(&node.text)?)
}

/// Digits behind the point of a number as it is written.
fn places(text: &str) -> u32 {
    let behind = text.split_once('.').map_or("", |(_, behind)| behind);
    behind.chars().take_while(char::is_ascii_digit).map(|_| 1).sum()
}
