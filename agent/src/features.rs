//! What speaks for a candidate, as numbers: a row of [`WIDTH`], of which those that are not 0 are kept.

use rust_decimal::Decimal;

use crate::candidates::check_units;
use crate::facts::{Fact, Facts};
use crate::family::Family;
use crate::program::{Operation, Step};
use crate::question::{CUES, Inquiry};
use crate::run::Outcome;

/// Places in a row and their values; what is not named is 0.
pub(crate) type Features = tabsegnet_choice::Features<u16>;

const OF_FACT: [&str; 25] = [
    "rank",
    "gap",
    "covers",
    "covered",
    "year_asked",
    "other_year",
    "no_year",
    "cell",
    "total",
    "percent",
    "first_three",
    "beyond_ten",
    "likelihood",
    "row_name",
    "row_outer",
    "column_name",
    "column_outer",
    "best_of_row",
    "best_of_column",
    "header",
    "heading",
    "names_operation",
    "another_operation",
    "operation_unnamed",
    "said_by_question",
];
const OF_PAIR: [&str; 27] = [
    "same_row",
    "same_column",
    "same_table",
    "same_sentence",
    "first_later",
    "first_earlier",
    "same_year",
    "same_label",
    "first_smaller",
    "other_unit",
    "years_covered",
    "years_reversed",
    "first_said_first",
    "first_said_last",
    "neighbours",
    "second_total",
    "negative",
    "beyond_ten",
    "equal",
    "next_in_sentence",
    "year_before",
    "scaled",
    "one_is_sentence",
    "percent_points",
    "whole_and_percent_asked",
    "same_row_other_year",
    "one_percent",
];
const OF_RUN: [&str; 8] = ["row", "column", "three", "four", "many", "all_years", "whole", "best_of_column"];
/// Declares features once: a field each, their names, and their values in that order.
macro_rules! named_features {
    ($(#[$doc:meta])* $features:ident, $names:ident { $($feature:ident: $name:expr),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct $features {
            $(pub $feature: f32,)*
        }

        const $names: &[&str] = &[$($name),*];

        impl $features {
            fn values(&self) -> [f32; $names.len()] {
                [$(self.$feature),*]
            }
        }
    };
}
pub(crate) use named_features;

named_features! {
    /// What is known of words of the document, and of the row or column that they were found along.
    WordFeatures, OF_WORDS {
        length: "length",
        all_in_question: "all_in_question",
        share_in_question: "share_in_question",
        covers: "covers",
        date: "date",
        behind_verb: "behind_verb",
        whole_sentence: "whole_sentence",
        capitals: "capitals",
        digits: "digits",
        members: "members",
        named_or_near: "named_or_near",
        group_or_behind: "group_or_behind",
        first_sentence: "first_sentence",
        along_row: "along_row",
        reason_or_below: "reason_or_below",
        place: "place",
        whole_line: "whole_line",
    }
}

const YEARS: usize = CUES.len();
const FAMILIES: usize = YEARS + 4;
const FACTS: usize = FAMILIES + Family::ALL.len();
const PAIR: usize = FACTS + 2 * OF_FACT.len();
const RUN: usize = PAIR + OF_PAIR.len();
const WORDS: usize = RUN + OF_RUN.len();

/// Numbers of a row: cues and years of the question, the family, two facts, what is between them, a run, words.
pub(crate) const WIDTH: usize = WORDS + OF_WORDS.len();

/// The names of a row's numbers.
pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<String> = CUES.iter().map(|cue| format!("cue: {cue}")).collect();
    names.extend((0..4).map(|years| format!("years {years}")));
    names.extend(Family::ALL.iter().map(|(_, name)| (*name).to_owned()));
    names.extend(
        ["first", "second"].into_iter().flat_map(|place| OF_FACT.iter().map(move |of| format!("{place}: {of}"))),
    );
    names.extend(OF_PAIR.iter().map(|of| format!("pair: {of}")));
    names.extend(OF_RUN.iter().map(|of| format!("run: {of}")));
    names.extend(OF_WORDS.iter().map(|of| format!("words: {of}")));
    names
}

/// The features of no answer.
pub(crate) fn nothing(facts: &Facts<'_>, inquiry: &Inquiry) -> Features {
    let mut features = of_family(Family::Nothing, inquiry);
    if let Some(best) = facts.facts.first() {
        of_fact(&mut features, 0, best, inquiry);
    }
    features
}

pub(crate) fn of_family(family: Family, inquiry: &Inquiry) -> Features {
    let mut features: Features = inquiry.cues.iter().map(|cue| (*cue, 1.0)).collect();
    features.push(((YEARS + inquiry.years.len().min(3)) as u16, 1.0));
    features.push(((FAMILIES + family.number()) as u16, 1.0));
    features
}

pub(crate) fn of_fact(features: &mut Features, place: usize, fact: &Fact, inquiry: &Inquiry) {
    let start = FACTS + place * OF_FACT.len();
    let (asks, known) = (!inquiry.years.is_empty(), !fact.years.is_empty());
    let values: [f32; OF_FACT.len()] = [
        ((fact.node + 1) as f32).ln() / 3.0,
        fact.gap / 5.0,
        fact.covers,
        fact.covered,
        flag(asks && fact.has_year(&inquiry.years)),
        flag(asks && known && !fact.has_year(&inquiry.years)),
        flag(asks && !known),
        flag(fact.place.is_some()),
        flag(fact.label.contains("total")),
        flag(fact.is_percent()),
        flag(fact.node < 3),
        flag(fact.node >= 10),
        fact.likelihood,
        fact.named[0],
        fact.named[1],
        fact.named[2],
        fact.named[3],
        flag(fact.best_of_row),
        flag(fact.best_of_column),
        flag(fact.is_header),
        fact.heading,
        fact.operations[0],
        fact.operations[1],
        fact.operations[2],
        flag(inquiry.names(fact.quantity.value)),
    ];
    push(features, start, &values);
}

fn push(features: &mut Features, start: usize, values: &[f32]) {
    features.extend((start..).zip(values).filter(|(_, value)| **value != 0.0).map(|(at, value)| (at as u16, *value)));
}

pub(crate) fn of_pair(
    features: &mut Features,
    family: Family,
    a: &Fact,
    b: &Fact,
    outcome: Outcome,
    steps: &[Step],
    inquiry: &Inquiry,
) {
    let same = |of_a: Option<(usize, usize)>, of_b| of_a.is_some() && of_a == of_b;
    let sentence = a.place.is_none() && a.node == b.node;
    let (first, last) = (inquiry.years.iter().min().copied(), inquiry.years.iter().max().copied());
    let two_years = inquiry.years.len() >= 2;
    let (of_a, of_b) = (a.latest(), b.latest());
    let both = of_a.zip(of_b);
    let said = a.mentioned.zip(b.mentioned);
    let value = match outcome {
        Outcome::Number(value) => value,
        Outcome::Verdict(_) => Decimal::ONE,
    };
    let neighbours = match (a.place, b.place) {
        (Some((table, row, column)), Some((other, of_row, of_column))) => {
            table == other && row.abs_diff(of_row) + column.abs_diff(of_column) == 1
        }
        _ => false,
    };
    let values: [f32; OF_PAIR.len()] = [
        flag(same(a.row(), b.row())),
        flag(same(a.column(), b.column())),
        flag(a.table().is_some() && a.table() == b.table()),
        flag(sentence),
        flag(both.is_some_and(|(a, b)| a > b)),
        flag(both.is_some_and(|(a, b)| a < b)),
        flag(both.is_some_and(|(a, b)| a == b)),
        flag(a.place.is_some() && b.place.is_some() && a.label == b.label),
        flag(a.quantity.value.abs() < b.quantity.value.abs()),
        flag(check_units(a.quantity.unit, b.quantity.unit).is_err()),
        flag(two_years && of_a == last && of_b == first),
        flag(two_years && of_a == first && of_b == last),
        flag(said.is_some_and(|(a, b)| a < b)),
        flag(said.is_some_and(|(a, b)| a > b)),
        flag(neighbours),
        flag(b.label.contains("total")),
        flag(value.is_sign_negative()),
        flag(value.abs() > Decimal::TEN),
        flag(a.quantity.value == b.quantity.value),
        flag(sentence && a.number.abs_diff(b.number) == 1),
        flag(inquiry.years.len() == 1 && of_a == last && both.is_some_and(|(a, b)| a == b + 1)),
        flag(steps.iter().any(|step| step.operation == Operation::Multiply) && family != Family::Product),
        flag(a.place.is_some() != b.place.is_some()),
        flag(a.is_percent() && b.is_percent()),
        flag(inquiry.has("percent") && value > Decimal::ZERO && value < Decimal::ONE),
        flag(same(a.row(), b.row()) && both.is_some_and(|(a, b)| a != b)),
        flag(a.is_percent() != b.is_percent()),
    ];
    push(features, PAIR, &values);
}

/// What is known of a run: along a row, a column, of three numbers, four, more, with all years of the question, the whole
/// line, the best cells of one column.
pub(crate) fn of_run(features: &mut Features, values: &[f32; OF_RUN.len()]) {
    push(features, RUN, values);
}

/// What is known of words.
pub(crate) fn of_words(features: &mut Features, words: &WordFeatures) {
    push(features, WORDS, &words.values());
}

pub(crate) fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}
