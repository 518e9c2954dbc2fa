//! How questions are put. Wording is chosen by the dice; what is sought is not.

use super::words::is_plural;
use crate::dice::Dice;

/// A fact's name and time within a question.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// The concept's name.
    pub name: String,
    /// The members with their prepositions; may be empty.
    pub members: String,
    /// The preposition of `when`.
    pub preposition: &'static str,
    /// The time, such as `fiscal 2024`.
    pub when: String,
}

impl Named {
    /// `revenue of the Google Cloud segment`.
    pub fn thing(&self) -> String {
        if self.members.is_empty() { self.name.clone() } else { format!("{} {}", self.name, self.members) }
    }

    /// `in fiscal 2024`.
    pub fn time(&self) -> String {
        format!("{} {}", self.preposition, self.when)
    }

    /// The segment: `revenue of the Google Cloud segment in fiscal 2024`.
    pub fn segment(&self) -> String {
        format!("{} {}", self.thing(), self.time())
    }

    pub fn was(&self) -> &'static str {
        if is_plural(&self.name) { "were" } else { "was" }
    }
}

pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// One of the wordings.
pub(super) fn pick(dice: &mut Dice, wordings: Vec<String>) -> String {
    dice.choose(&wordings).cloned().unwrap_or_default()
}

/// One value.
pub(super) fn single(a: &Named, money: bool, dice: &mut Dice) -> String {
    let (thing, time, was) = (a.thing(), a.time(), a.was());
    let mut wordings = vec![
        format!("What {was} {thing} {time}?"),
        format!("State {thing} {time}."),
        format!("{}, what {was} {thing}?", capital(&time)),
        format!("What did the company report as {thing} {time}?"),
        format!("{} {time}?", capital(&thing)),
        format!("Give me {thing} {time}."),
        format!("Look up {thing} {time}."),
        format!("How high {was} {thing} {time}?"),
    ];
    if money {
        wordings.push(format!("How much {was} {thing} {time}?"));
        wordings.push(format!("How much {thing} did the company have {time}?"));
        wordings.push(format!("{}: how many dollars {time}?", capital(&thing)));
        let spoken = super::spoken::amount(a);
        // As often as all others together.
        if !spoken.is_empty() && dice.chance(50) {
            return pick(dice, spoken);
        }
    }
    if !a.name.starts_with("the ") && !a.name.contains("'s ") && a.members.is_empty() {
        wordings.push(format!("What {was} the company's {thing} {time}?"));
    }
    pick(dice, wordings)
}

/// From `a` to the later `b`. `rose` is known where both are positive.
pub(super) fn change(a: &Named, b: &Named, rose: Option<bool>, dice: &mut Dice) -> String {
    let (thing, from, to) = (a.thing(), &a.when, &b.when);
    let mut wordings = vec![
        format!("What was the change in {thing} from {from} to {to}?"),
        format!("By how much did {thing} change from {from} to {to}?"),
        format!("What is the difference in {thing} between {from} and {to}?"),
        format!("How did {thing} move from {from} to {to}?"),
        format!("{}: {to} against {from}?", capital(&thing)),
        format!("How did {thing} in {to} compare with {from}?"),
    ];
    if let Some(rose) = rose {
        let (verb, noun) = if rose { ("increase", "increase") } else { ("fall", "decrease") };
        let (plain, far) = if rose { ("climb", "swell") } else { ("drop", "slide") };
        let more = if rose { "more" } else { "less" };
        wordings.push(format!("How much did {thing} {plain} in {to} against {from}?"));
        wordings.push(format!("By how much did {thing} {verb} from {from} to {to}?"));
        wordings.push(format!("How large was the {noun} in {thing} between {from} and {to}?"));
        wordings.push(format!("How much {more} was {thing} in {to} than in {from}?"));
        // The year before goes without saying.
        wordings.push(format!("By how much did {thing} {verb} {}?", b.time()));
        wordings.push(format!("How far did {thing} {far} {}?", b.time()));
        wordings.push(format!("Did {thing} rise or fall {}, and by how much?", b.time()));
    }
    pick(dice, wordings)
}

/// As [`change`], in percent; both values are positive.
pub(super) fn growth(a: &Named, b: &Named, rose: bool, dice: &mut Dice) -> String {
    let (thing, from, to) = (a.thing(), &a.when, &b.when);
    let verb = if rose { "grow" } else { "decline" };
    pick(
        dice,
        vec![
            format!("What was the percentage change in {thing} from {from} to {to}?"),
            format!("By what percentage did {thing} {verb} from {from} to {to}?"),
            format!("What was the rate of change of {thing} between {from} and {to}?"),
        ],
    )
}

/// Over consecutive years, earliest first.
pub(super) fn average(all: &[Named], dice: &mut Dice) -> String {
    let [a, .., z] = all else { return String::new() };
    let (thing, from, to) = (a.thing(), &a.when, &z.when);
    let count = if all.len() == 3 { "three" } else { "two" };
    let whens: Vec<&str> = all.iter().map(|named| named.when.as_str()).collect();
    let listed = match whens.split_last() {
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    };
    pick(
        dice,
        vec![
            format!("What was the average of {thing} over {listed}?"),
            format!("What did {thing} average over the {count} years from {from} to {to}?"),
            format!("What was the mean of {thing} for {listed}?"),
        ],
    )
}

/// One concept of two members at one time; `a` is the larger.
pub(super) fn members(a: &Named, b: &Named, dice: &mut Dice) -> String {
    let (name, time, was) = (&a.name, a.time(), a.was());
    let (first, second) = (&a.members, &b.members);
    let that = if is_plural(name) { "those" } else { "that" };
    pick(
        dice,
        vec![
            format!("What {was} {name} {first} and {second} together {time}?"),
            format!("By how much did {name} {first} exceed {that} {second} {time}?"),
            format!("What was the sum of {name} {second} and {that} {first} {time}?"),
            format!("{}, how much larger {was} {name} {first} than {that} {second}?", capital(&time)),
        ],
    )
}

/// A part of a total: one concept with members and without.
pub(super) fn share(part: &Named, total: &Named, dice: &mut Dice) -> String {
    let (name, time, was) = (&total.name, total.time(), total.was());
    let whole =
        if name.starts_with("total ") || name.starts_with("the ") { name.clone() } else { format!("total {name}") };
    let that = if is_plural(name) { "those" } else { "that" };
    pick(
        dice,
        vec![
            format!("What percentage of {whole} {time} {was} {that} {}?", part.members),
            format!("What share of {whole} {time} did {} make up?", part.thing()),
            format!("What was the ratio of {} to {whole} {time}?", part.thing()),
            format!("What portion of {whole} {time} was {}?", part.members),
        ],
    )
}

/// Two concepts at one time, the second a measure of size.
pub(super) fn ratio(a: &Named, base: &Named, smaller: bool, dice: &mut Dice) -> String {
    let (thing, whole, time) = (a.thing(), base.thing(), a.time());
    let mut wordings = vec![format!("What was the ratio of {thing} to {whole} {time}?")];
    if smaller {
        wordings.push(format!("What {} {thing} {time} as a percentage of {whole}?", a.was()));
        wordings.push(format!("How large {} {thing} relative to {whole} {time}?", a.was()));
        wordings.push(format!("{}, what percentage of {whole} did {thing} amount to?", capital(&time)));
    }
    pick(dice, wordings)
}

/// Two amounts at one time; `a` is the larger.
pub(super) fn difference(a: &Named, b: &Named, dice: &mut Dice) -> String {
    at_one_time(a, b, dice, |first, second, time| {
        vec![
            format!("By how much did {first} exceed {second} {time}?"),
            format!("What was the difference between {first} and {second} {time}?"),
            format!("Which was larger {time}, {second} or {first}?"),
        ]
    })
}

/// Two amounts of one sort at one time.
pub(super) fn sum(a: &Named, b: &Named, dice: &mut Dice) -> String {
    at_one_time(a, b, dice, |first, second, time| {
        vec![
            format!("What was the sum of {first} and {second} {time}?"),
            format!("What do {first} and {second} come to together {time}?"),
            format!("Add {first} and {second} {time}."),
            format!("{} and {second}, combined, {time}?", capital(first)),
            format!("{}, what did {first} plus {second} add up to?", capital(time)),
        ]
    })
}

/// A wording that names both things and the time of the first.
fn at_one_time(a: &Named, b: &Named, dice: &mut Dice, wordings: fn(&str, &str, &str) -> Vec<String>) -> String {
    pick(dice, wordings(&a.thing(), &b.thing(), &a.time()))
}

/// Two facts, one after the other.
pub(super) fn both(a: &Named, b: &Named, dice: &mut Dice) -> String {
    let (first, second) = (a.thing(), b.thing());
    if a.time() == b.time() {
        let time = a.time();
        return pick(
            dice,
            vec![
                format!("What were {first} and {second} {time}?"),
                format!("State {first} and {second} {time}."),
                format!("{}, what {} {first}, and what {} {second}?", capital(&time), a.was(), b.was()),
            ],
        );
    }
    let (then, later) = (a.time(), b.time());
    pick(
        dice,
        vec![
            format!("What {} {first} {then}, and what {} {second} {later}?", a.was(), b.was()),
            format!("State {first} {then} and {second} {later}."),
        ],
    )
}
