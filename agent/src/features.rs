//! What speaks for a candidate, as numbers: a row of [`WIDTH`], of which those that are not 0 are kept.

use rust_decimal::Decimal;
use tabsegnet_features::{Schema, features};

use crate::candidates::check_units;
use crate::facts::{Fact, Facts};
use crate::family::Family;
use crate::program::{Operation, Step};
use crate::question::{CUES, Inquiry};
use crate::run::Outcome;

/// Places in a row and their values; what is not named is 0.
pub(crate) type Features = tabsegnet_choice::Features<u16>;

features! {
    /// What is known of one number.
    struct FactFeatures(fact: &Fact, inquiry: &Inquiry, asks: bool, known: bool) {
        rank: ((fact.node + 1) as f32).ln() / 3.0,
        gap: fact.gap / 5.0,
        covers: fact.covers,
        covered: fact.covered,
        year_asked: flag(asks && fact.has_year(&inquiry.years)),
        other_year: flag(asks && known && !fact.has_year(&inquiry.years)),
        no_year: flag(asks && !known),
        cell: flag(fact.place.is_some()),
        total: flag(fact.label.contains("total")),
        percent: flag(fact.is_percent()),
        first_three: flag(fact.node < 3),
        beyond_ten: flag(fact.node >= 10),
        likelihood: fact.likelihood,
        row_name: fact.named[0],
        row_outer: fact.named[1],
        column_name: fact.named[2],
        column_outer: fact.named[3],
        best_of_row: flag(fact.best_of_row),
        best_of_column: flag(fact.best_of_column),
        header: flag(fact.is_header),
        heading: fact.heading,
        names_operation: fact.operations[0],
        another_operation: fact.operations[1],
        operation_unnamed: fact.operations[2],
        said_by_question: flag(inquiry.names(fact.quantity.value)),
    }
}

features! {
    /// What is known of two numbers and of what is computed from them.
    struct PairFeatures(pair: &Pair<'_>, a: &Fact, b: &Fact, value: Decimal) {
        same_row: flag(pair.same_row),
        same_column: flag(is_same(a.column(), b.column())),
        same_table: flag(a.table().is_some() && a.table() == b.table()),
        same_sentence: flag(pair.same_sentence),
        first_later: flag(pair.years.is_some_and(|(a, b)| a > b)),
        first_earlier: flag(pair.years.is_some_and(|(a, b)| a < b)),
        same_year: flag(pair.years.is_some_and(|(a, b)| a == b)),
        same_label: flag(a.place.is_some() && b.place.is_some() && a.label == b.label),
        first_smaller: flag(a.quantity.value.abs() < b.quantity.value.abs()),
        other_unit: flag(check_units(a.quantity.unit, b.quantity.unit).is_err()),
        years_covered: flag(pair.covers_years(b, a)),
        years_reversed: flag(pair.covers_years(a, b)),
        first_said_first: flag(pair.said.is_some_and(|(a, b)| a < b)),
        first_said_last: flag(pair.said.is_some_and(|(a, b)| a > b)),
        neighbours: flag(are_neighbours(a, b)),
        second_total: flag(b.label.contains("total")),
        negative: flag(value.is_sign_negative()),
        beyond_ten: flag(value.abs() > Decimal::TEN),
        equal: flag(a.quantity.value == b.quantity.value),
        next_in_sentence: flag(pair.same_sentence && a.number.abs_diff(b.number) == 1),
        year_before: flag(pair.is_year_before()),
        scaled: flag(pair.scaled),
        one_is_sentence: flag(a.place.is_some() != b.place.is_some()),
        percent_points: flag(a.is_percent() && b.is_percent()),
        whole_and_percent_asked: flag(pair.inquiry.has("percent") && value > Decimal::ZERO && value < Decimal::ONE),
        same_row_other_year: flag(pair.same_row && pair.years.is_some_and(|(a, b)| a != b)),
        one_percent: flag(a.is_percent() != b.is_percent()),
    }
}

features! {
    /// What is known of a run of numbers.
    pub(crate) struct RunFeatures {
        row,
        column,
        three,
        four,
        /// Five and more.
        many,
        /// With all years of the question, which names two and more.
        all_years,
        /// All of the line.
        whole,
        /// The best cells of one column.
        best_of_column,
    }
}

features! {
    /// What is known of words of the document, and of the row or column that they were found along.
    pub(crate) struct WordFeatures {
        length,
        all_in_question,
        share_in_question,
        covers,
        date,
        behind_verb,
        whole_sentence,
        capitals,
        digits,
        members,
        named_or_near,
        group_or_behind,
        first_sentence,
        along_row,
        reason_or_below,
        place,
        whole_line,
    }
}

const YEARS: usize = CUES.len();
const FAMILIES: usize = YEARS + 4;
const FACTS: usize = FAMILIES + Family::ALL.len();
const PAIR: usize = FACTS + 2 * FactFeatures::COUNT;
const RUN: usize = PAIR + PairFeatures::COUNT;
const WORDS: usize = RUN + RunFeatures::COUNT;

/// Numbers of a row: cues and years of the question, the family, two facts, what is between them, a run, words.
pub(crate) const WIDTH: usize = WORDS + WordFeatures::COUNT;

/// The names of a row's numbers.
pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<String> = CUES.iter().map(|cue| format!("cue: {cue}")).collect();
    names.extend((0..4).map(|years| format!("years {years}")));
    names.extend(Family::ALL.iter().map(|(_, name)| (*name).to_owned()));
    let blocks = [
        ("first", FactFeatures::names()),
        ("second", FactFeatures::names()),
        ("pair", PairFeatures::names()),
        ("run", RunFeatures::names()),
        ("words", WordFeatures::names()),
    ];
    names.extend(blocks.iter().flat_map(|(block, of)| of.iter().map(move |name| format!("{block}: {name}"))));
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

/// What is known of the first fact of a candidate, or the second.
pub(crate) fn of_fact(features: &mut Features, place: usize, fact: &Fact, inquiry: &Inquiry) {
    let (asks, known) = (!inquiry.years.is_empty(), !fact.years.is_empty());
    let start = FACTS + place * FactFeatures::COUNT;
    push::<{ FactFeatures::COUNT }>(features, start, FactFeatures::of(fact, inquiry, asks, known));
}

fn push<const COUNT: usize>(features: &mut Features, start: usize, of: impl Schema) {
    let mut values = [0.0; COUNT];
    of.write(&mut values);
    features.extend((start..).zip(values).filter(|(_, value)| *value != 0.0).map(|(at, value)| (at as u16, value)));
}

/// What several features of two facts look at.
struct Pair<'a> {
    inquiry: &'a Inquiry,
    same_row: bool,
    same_sentence: bool,
    /// The years of both.
    years: Option<(u16, u16)>,
    /// Where the question says both.
    said: Option<(usize, usize)>,
    /// Whether one was brought to the other's scale.
    scaled: bool,
}

impl Pair<'_> {
    /// Whether they are of the first and of the last year that the question names.
    fn covers_years(&self, first: &Fact, last: &Fact) -> bool {
        let years = &self.inquiry.years;
        years.len() >= 2
            && first.latest() == years.iter().min().copied()
            && last.latest() == years.iter().max().copied()
    }

    /// Whether the first is of the one year that the question names, the second of the year before.
    fn is_year_before(&self) -> bool {
        let named = self.inquiry.years.iter().min();
        self.inquiry.years.len() == 1 && self.years.is_some_and(|(a, b)| Some(&a) == named && a == b + 1)
    }
}

fn is_same(a: Option<(usize, usize)>, b: Option<(usize, usize)>) -> bool {
    a.is_some() && a == b
}

fn are_neighbours(a: &Fact, b: &Fact) -> bool {
    match (a.place, b.place) {
        (Some((table, row, column)), Some((other, of_row, of_column))) => {
            table == other && row.abs_diff(of_row) + column.abs_diff(of_column) == 1
        }
        _ => false,
    }
}

/// What is known of two facts and of what is computed from them.
pub(crate) fn of_pair(
    features: &mut Features,
    family: Family,
    (a, b): (&Fact, &Fact),
    outcome: Outcome,
    steps: &[Step],
    inquiry: &Inquiry,
) {
    let value = match outcome {
        Outcome::Number(value) => value,
        Outcome::Verdict(_) => Decimal::ONE,
    };
    let pair = Pair {
        inquiry,
        same_row: is_same(a.row(), b.row()),
        same_sentence: a.place.is_none() && a.node == b.node,
        years: a.latest().zip(b.latest()),
        said: a.mentioned.zip(b.mentioned),
        scaled: steps.iter().any(|step| step.operation == Operation::Multiply) && family != Family::Product,
    };
    push::<{ PairFeatures::COUNT }>(features, PAIR, PairFeatures::of(&pair, a, b, value));
}

/// What is known of a run.
pub(crate) fn of_run(features: &mut Features, run: RunFeatures) {
    push::<{ RunFeatures::COUNT }>(features, RUN, run);
}

/// What is known of words.
pub(crate) fn of_words(features: &mut Features, words: &WordFeatures) {
    push::<{ WordFeatures::COUNT }>(features, WORDS, *words);
}

pub(crate) fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}
