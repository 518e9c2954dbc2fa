//! Questions whose answer is computed from a filing's facts, as analysts put them.

use super::templates::{Named, capital, pick};
use crate::dice::Dice;

/// One value.
pub(super) fn value(a: &Named, money: bool, dice: &mut Dice) -> String {
    let (thing, time) = (a.thing(), a.time());
    let mut wordings = vec![
        format!("What {} {thing} {time}?", a.was()),
        format!("{} {time}?", capital(&thing)),
        format!("{}, how much {} {thing}?", capital(&time), a.was()),
        format!("Tell me {thing} {time}."),
        format!("What did {thing} amount to {time}?"),
        format!("What number is reported for {thing} {time}?"),
        format!("What level did {thing} reach {time}?"),
    ];
    if money {
        wordings.push(format!("How many dollars {} {thing} {time}?", a.was()));
        wordings.push(format!("How much {thing} is shown {time}?"));
    }
    pick(dice, wordings)
}

/// From `a` to the next year's `b`, as a number.
pub(super) fn change(a: &Named, b: &Named, rose: bool, dice: &mut Dice) -> String {
    let (thing, from, to, time) = (b.thing(), &a.when, &b.when, b.time());
    let (verb, noun, more, up) =
        if rose { ("rise", "increase", "more", "higher") } else { ("fall", "decrease", "less", "lower") };
    let plain =
        *dice.pick(if rose { &["grow", "climb", "go up", "gain"] } else { &["shrink", "drop", "go down", "lose"] });
    pick(
        dice,
        vec![
            format!("By how much did {thing} {verb} from {from} to {to}?"),
            format!("How much did {thing} {plain} {time}?"),
            format!("How much did {thing} {plain} {time} against {from}?"),
            format!("Did {thing} rise or fall {time}, and by how much?"),
            format!("By what amount did {thing} {verb} {time} compared with {from}?"),
            format!("What was the {noun} in {thing} between {from} and {to}?"),
            format!("What was the net change in {thing} during {to}?"),
            format!("What was the year-over-year change in {thing} for {to}?"),
            format!("Change in {thing}, {to} against {from}?"),
            format!("How did {thing} change from {from} to {to}?"),
            format!("How much {up} {} {thing} in {to} than in {from}?", b.was()),
            format!("How much {more} {thing} did the company have in {to} than in {from}?"),
            format!("Between {from} and {to}, how much did {thing} {plain}?"),
            format!("What is the difference between {thing} in {to} and in {from}?"),
            format!("{} in {to} minus {from}?", capital(&thing)),
        ],
    )
}

/// The same in percent.
pub(super) fn growth(a: &Named, b: &Named, rose: bool, dice: &mut Dice) -> String {
    let (thing, from, to, time) = (b.thing(), &a.when, &b.when, b.time());
    let (verb, noun) = if rose { ("grow", "increase") } else { ("decline", "decrease") };
    pick(
        dice,
        vec![
            format!("By what percentage did {thing} {verb} {time}?"),
            format!("By what percent did {thing} {verb} from {from} to {to}?"),
            format!("What was the percentage change in {thing} from {from} to {to}?"),
            format!("What was the percent {noun} in {thing} between {from} and {to}?"),
            format!("What was the growth rate of {thing} in {to}?"),
            format!("How fast did {thing} {verb} {time}, in percent?"),
            format!("In percent, how did {thing} change {time} against {from}?"),
            format!("Year-over-year growth of {thing} in {to}?"),
            format!("What was the rate of {noun} of {thing} from {from} to {to}?"),
            format!("How many percent did {thing} {verb} {time}?"),
        ],
    )
}

/// Of consecutive years, the earliest first.
pub(super) fn average(a: &Named, z: &Named, count: usize, dice: &mut Dice) -> String {
    let (thing, from, to) = (a.thing(), &a.when, &z.when);
    let number = if count == 3 { "three" } else { "two" };
    pick(
        dice,
        vec![
            format!("What was the average of {thing} from {from} to {to}?"),
            format!("Average {thing} for {from} through {to}?"),
            format!("What was the mean of {thing} over the {number} years {from} to {to}?"),
            format!("On average, how much {} {thing} a year from {from} to {to}?", a.was()),
        ],
    )
}

/// Two amounts of one time.
pub(super) fn sum(a: &Named, b: &Named, dice: &mut Dice) -> String {
    let (first, second, time) = (a.thing(), b.thing(), a.time());
    pick(
        dice,
        vec![
            format!("What was the total of {first} and {second} {time}?"),
            format!("How much were {first} and {second} together {time}?"),
            format!("{} plus {second} {time}?", capital(&first)),
            format!("What was combined {first} and {second} {time}?"),
            format!("What do {first} and {second} add up to {time}?"),
            format!("{}, what was the sum of {first} and {second}?", capital(&time)),
            format!("{} and {second} combined {time}?", capital(&first)),
            format!("What total did {first} along with {second} reach {time}?"),
        ],
    )
}

/// Two amounts of one time; `a` is the larger.
pub(super) fn difference(a: &Named, b: &Named, dice: &mut Dice) -> String {
    let (first, second, time) = (a.thing(), b.thing(), a.time());
    pick(
        dice,
        vec![
            format!("What was {first} minus {second} {time}?"),
            format!("What was {first} less {second} {time}?"),
            format!("By how much did {first} exceed {second} {time}?"),
            format!("What was the difference between {first} and {second} {time}?"),
            format!("{}, how much more was {first} than {second}?", capital(&time)),
            format!("What remained of {first} after {second} {time}?"),
            format!("{} net of {second} {time}?", capital(&first)),
            format!("What is {first} {time} if {second} is taken off?"),
        ],
    )
}

/// A part and what it is measured by.
pub(super) fn ratio(a: &Named, base: &Named, dice: &mut Dice) -> String {
    let (thing, whole, time) = (a.thing(), base.thing(), a.time());
    pick(
        dice,
        vec![
            format!("What percentage of {whole} was {thing} {time}?"),
            format!("What percent of {whole} did {thing} make up {time}?"),
            format!("{} as a percentage of {whole} {time}?", capital(&thing)),
            format!("What {} {thing} as a percent of {whole} {time}?", a.was()),
            format!("What portion of {whole} was {thing} {time}?"),
            format!("What share of {whole} came from {thing} {time}?"),
            format!("What was the ratio of {thing} to {whole} {time}?"),
            format!("{} divided by {whole} {time}?", capital(&thing)),
            format!("{}, how large was {thing} relative to {whole}?", capital(&time)),
            format!("{} over {whole} {time}?", capital(&thing)),
        ],
    )
}
