//! Candidate answers to a question, programs over its facts among them, with what speaks for each as features of the
//! models that choose.

use std::collections::HashSet;

use rust_decimal::Decimal;

use crate::facts::{Fact, Facts};
use crate::program::{Argument, Operation, Program, Step};
use crate::quantity::{Scale, Unit};
use crate::question::{CUES, Inquiry};
use crate::run::{NoRows, Outcome, RunError};
use crate::words::words_candidates;

/// What a program computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// Nothing fits: what stands for all programs that are not candidates.
    Nothing,
    Lookup,
    Change,
    PercentChange,
    Ratio,
    Sum,
    Average,
    Greater,
    Product,
    /// Of 100 that were invested.
    Return,
    ReturnDifference,
    /// first / (first + second)
    Share,
    RunSum,
    RunAverage,
    RunMax,
    RunMin,
    /// The words of a cell.
    Word,
    /// The header of a row or column.
    Header,
    /// A sentence.
    Sentence,
    /// A part of one.
    Span,
    /// The name of the largest along a row or column.
    ArgMax,
    ArgMin,
    /// Names of what is beyond a bound.
    Which,
    /// How many are beyond a bound.
    Count,
    /// Cells, one for each name in the question.
    List,
}

impl Candidate {
    /// Whether it is computed, or found along a row or column.
    pub fn is_computed(&self) -> bool {
        let along_line = matches!(
            self.family,
            Family::RunSum
                | Family::RunAverage
                | Family::RunMax
                | Family::RunMin
                | Family::ArgMax
                | Family::ArgMin
                | Family::Which
                | Family::Count
                | Family::List
        );
        self.program.is_some() || along_line
    }
}

impl Family {
    const ALL: [(Self, &'static str); 25] = [
        (Self::Nothing, "nothing"),
        (Self::Lookup, "lookup"),
        (Self::Change, "change"),
        (Self::PercentChange, "percent_change"),
        (Self::Ratio, "ratio"),
        (Self::Sum, "sum"),
        (Self::Average, "average"),
        (Self::Greater, "greater"),
        (Self::Product, "product"),
        (Self::Return, "return"),
        (Self::ReturnDifference, "return_difference"),
        (Self::Share, "share"),
        (Self::RunSum, "run_sum"),
        (Self::RunAverage, "run_average"),
        (Self::RunMax, "run_max"),
        (Self::RunMin, "run_min"),
        (Self::Word, "word"),
        (Self::Header, "header"),
        (Self::Sentence, "sentence"),
        (Self::Span, "span"),
        (Self::ArgMax, "arg_max"),
        (Self::ArgMin, "arg_min"),
        (Self::Which, "which"),
        (Self::Count, "count"),
        (Self::List, "list"),
    ];

    /// Families whose arguments are alike share what is learnt of these.
    fn group(self) -> usize {
        match self {
            Self::Nothing | Self::Lookup => 0,
            Self::Change | Self::PercentChange | Self::Greater => 1,
            Self::Ratio | Self::Share => 2,
            Self::Sum | Self::Average => 3,
            Self::Product | Self::Return | Self::ReturnDifference => 4,
            Self::RunSum | Self::RunAverage | Self::RunMax | Self::RunMin => 5,
            Self::Word | Self::Header => 6,
            Self::Sentence | Self::Span => 7,
            Self::ArgMax | Self::ArgMin | Self::Which | Self::Count | Self::List => 8,
        }
    }
}

const GROUPS: [&str; 9] = ["single", "change", "ratio", "sum", "other", "run", "name", "span", "line"];
const OF_FACT: [&str; 24] = [
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
];
const OF_PAIR: [&str; 26] = [
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
];
const OF_RUN: [&str; 8] = ["row", "column", "three", "four", "many", "all_years", "whole", "best_of_column"];
/// Declares features once: a field each, their names, and their values in that order.
macro_rules! word_features {
    ($($feature:ident),* $(,)?) => {
        /// What is known of words of the document, and of the row or column that they were found along.
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct WordFeatures {
            $(pub $feature: f32,)*
        }

        const OF_WORDS: &[&str] = &[$(stringify!($feature)),*];

        impl WordFeatures {
            fn values(&self) -> [f32; OF_WORDS.len()] {
                [$(self.$feature),*]
            }
        }
    };
}

word_features! {
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
}

const CUE_FEATURES: usize = Family::ALL.len() * CUES.len();
const YEAR_FEATURES: usize = Family::ALL.len() * 4;
const BIAS: usize = CUE_FEATURES + YEAR_FEATURES;
const FACT_FEATURES: usize = BIAS + Family::ALL.len();
const PAIR_FEATURES: usize = FACT_FEATURES + GROUPS.len() * 2 * OF_FACT.len();
const RUN_FEATURES: usize = PAIR_FEATURES + GROUPS.len() * OF_PAIR.len();
const WORD_FEATURES: usize = RUN_FEATURES + OF_RUN.len();

/// Numbers of a dense row: cues, years, families, two facts, a pair, a run, words.
pub(crate) const DENSE: usize =
    CUES.len() + 4 + Family::ALL.len() + 2 * OF_FACT.len() + OF_PAIR.len() + OF_RUN.len() + OF_WORDS.len();

/// Where a feature stands in a dense row: there families and groups are columns of their own.
pub(crate) fn dense(feature: usize) -> usize {
    let years = CUES.len();
    let families = years + 4;
    let facts = families + Family::ALL.len();
    let pairs = facts + 2 * OF_FACT.len();
    let runs = pairs + OF_PAIR.len();
    match feature {
        _ if feature < CUE_FEATURES => feature % CUES.len(),
        _ if feature < BIAS => years + (feature - CUE_FEATURES) % 4,
        _ if feature < FACT_FEATURES => families + feature - BIAS,
        _ if feature < PAIR_FEATURES => facts + (feature - FACT_FEATURES) % (2 * OF_FACT.len()),
        _ if feature < RUN_FEATURES => pairs + (feature - PAIR_FEATURES) % OF_PAIR.len(),
        _ if feature < WORD_FEATURES => runs + feature - RUN_FEATURES,
        _ => runs + OF_RUN.len() + (feature - WORD_FEATURES) % OF_WORDS.len(),
    }
}

/// The names of a dense row's numbers.
pub(crate) fn dense_names() -> Vec<String> {
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

/// The names of all features, as the table of weights has them.
pub(crate) fn names() -> Vec<String> {
    let mut names = Vec::new();
    let family = || Family::ALL.iter().map(|(_, name)| name);
    names.extend(family().flat_map(|family| CUES.iter().map(move |cue| format!("{family}: {cue}"))));
    names.extend(family().flat_map(|family| (0..4).map(move |years| format!("{family}: years {years}"))));
    names.extend(family().map(|family| format!("{family}:")));
    for group in GROUPS {
        for place in ["first", "second"] {
            names.extend(OF_FACT.iter().map(|feature| format!("{group} {place}: {feature}")));
        }
    }
    names.extend(GROUPS.iter().flat_map(|group| OF_PAIR.iter().map(move |feature| format!("{group} pair: {feature}"))));
    names.extend(OF_RUN.iter().map(|feature| format!("run: {feature}")));
    names.extend(
        GROUPS.iter().flat_map(|group| OF_WORDS.iter().map(move |feature| format!("{group} words: {feature}"))),
    );
    names
}

/// What might answer: a program, run, or words of the document.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub family: Family,
    /// What it rests on; the first of a lookup, a word, a name is where that stands.
    pub facts: Vec<Fact>,
    /// `None` where nothing is computed, and for what is found along a line.
    pub program: Option<Program>,
    /// `None` for words.
    pub outcome: Option<Outcome>,
    /// Empty for a number.
    pub words: Vec<String>,
    pub scale: Option<Scale>,
    /// Number of a feature in [`names`] and its value.
    pub features: Vec<(u16, f32)>,
}

/// The features of no answer.
pub(crate) fn nothing(facts: &Facts<'_>, inquiry: &Inquiry) -> Vec<(u16, f32)> {
    let mut features = of_family(Family::Nothing, inquiry);
    if let Some(best) = facts.facts.first() {
        of_fact(&mut features, Family::Nothing, 0, best, inquiry);
    }
    features
}

/// All candidates of a question, in a fixed order.
pub(crate) fn candidates(facts: &Facts<'_>, inquiry: &Inquiry) -> Vec<Candidate> {
    let mut found = Vec::new();
    let list = &facts.facts;
    for fact in list {
        let value = fact.quantity.value;
        let mut features = of_family(Family::Lookup, inquiry);
        of_fact(&mut features, Family::Lookup, 0, fact, inquiry);
        found.push(Candidate {
            family: Family::Lookup,
            facts: vec![fact.clone()],
            program: None,
            outcome: Some(Outcome::Number(value)),
            words: Vec::new(),
            scale: fact.quantity.scale,
            features,
        });
    }
    let alone = list.iter().filter(|fact| fact.quantity.unit != Some(Unit::Percent));
    for fact in alone {
        let steps = vec![minus_hundred(fact.argument()), of_hundred(0)];
        found.extend(made(Family::Return, &[fact], steps, None, inquiry));
    }
    for (at, a) in list.iter().enumerate() {
        for (other, b) in list.iter().enumerate() {
            if at != other {
                pair(&mut found, a, b, at < other, inquiry);
            }
        }
    }
    runs(&mut found, facts, inquiry);
    words_candidates(&mut found, facts, inquiry);
    found
}

/// A candidate of words, or of a number that was counted, with what is known of them.
pub(crate) fn words_candidate(
    family: Family,
    facts: Vec<Fact>,
    words: Vec<String>,
    outcome: Option<Outcome>,
    of_words: &WordFeatures,
    inquiry: &Inquiry,
) -> Candidate {
    let mut features = of_family(family, inquiry);
    if let Some(first) = facts.first() {
        of_fact(&mut features, family, 0, first, inquiry);
    }
    push(&mut features, WORD_FEATURES + family.group() * OF_WORDS.len(), &of_words.values());
    let scale = if family == Family::List { facts.first().and_then(|fact| fact.quantity.scale) } else { None };
    Candidate { family, facts, program: None, outcome, words, scale, features }
}

fn step(operation: Operation, first: Argument, second: Argument) -> Step {
    Step { operation, first, second }
}

fn constant(value: i64) -> Argument {
    Argument::Constant(Decimal::from(value))
}

fn minus_hundred(value: Argument) -> Step {
    step(Operation::Subtract, value, constant(100))
}

fn of_hundred(of: usize) -> Step {
    step(Operation::Divide, Argument::Step(of), constant(100))
}

/// Two facts in one scale: the steps that see to it, and what stands for each; the scale of both.
fn aligned(a: &Fact, b: &Fact) -> (Vec<Step>, Argument, Argument, Option<Scale>) {
    let (first, second) = (a.argument(), b.argument());
    let (Some(of_a), Some(of_b)) = (a.quantity.scale, b.quantity.scale) else {
        return (Vec::new(), first, second, a.quantity.scale.or(b.quantity.scale));
    };
    let factor = constant(10_i64.pow(of_a.power().abs_diff(of_b.power())));
    match of_a.cmp(&of_b) {
        std::cmp::Ordering::Equal => (Vec::new(), first, second, Some(of_a)),
        std::cmp::Ordering::Greater => {
            (vec![step(Operation::Multiply, first, factor)], Argument::Step(0), second, Some(of_b))
        }
        std::cmp::Ordering::Less => {
            (vec![step(Operation::Multiply, second, factor)], first, Argument::Step(0), Some(of_a))
        }
    }
}

/// That two numbers can be added, subtracted or compared.
///
/// # Errors
/// [`RunError::Units`] where both units are known and differ.
pub fn check_units(a: Option<Unit>, b: Option<Unit>) -> Result<(), RunError> {
    match (a, b) {
        (Some(first), Some(second)) if first != second => {
            Err(RunError::Units { first: first.to_string(), second: second.to_string() })
        }
        _ => Ok(()),
    }
}

fn pair(found: &mut Vec<Candidate>, a: &Fact, b: &Fact, ordered: bool, inquiry: &Inquiry) {
    use Operation::{Add, Divide, Greater, Multiply, Subtract};
    let (before, first, second, scale) = aligned(a, b);
    let number = before.len();
    let last = |more: usize| Argument::Step(number + more);
    let with = |steps: Vec<Step>| before.iter().cloned().chain(steps).collect::<Vec<_>>();
    let both = [a, b];
    let mut add = |family, steps, scale| found.extend(made(family, &both, steps, scale, inquiry));
    if check_units(a.quantity.unit, b.quantity.unit).is_ok() {
        let difference = || step(Subtract, first.clone(), second.clone());
        let sum = || step(Add, first.clone(), second.clone());
        add(Family::Change, with(vec![difference()]), scale);
        add(Family::PercentChange, with(vec![difference(), step(Divide, last(0), second.clone())]), None);
        add(Family::Greater, with(vec![step(Greater, first.clone(), second.clone())]), None);
        add(Family::Share, with(vec![sum(), step(Divide, first.clone(), last(0))]), None);
        if ordered {
            add(Family::Sum, with(vec![sum()]), scale);
            add(Family::Average, with(vec![sum(), step(Divide, last(0), constant(2))]), scale);
        }
        if inquiry.has("return") || inquiry.has("roi") || inquiry.has("performance") {
            let returns = vec![
                minus_hundred(a.argument()),
                of_hundred(0),
                minus_hundred(b.argument()),
                of_hundred(2),
                step(Subtract, Argument::Step(1), Argument::Step(3)),
            ];
            add(Family::ReturnDifference, returns, None);
        }
    }
    add(Family::Ratio, with(vec![step(Divide, first, second)]), None);
    // A price or mean of one is what a product is made of, not the product.
    let of_one = inquiry.has(" per ") || inquiry.has("average");
    if ordered && !of_one {
        add(Family::Product, vec![step(Multiply, a.argument(), b.argument())], a.quantity.scale.or(b.quantity.scale));
    }
}

/// A candidate; `None` where the program has no result.
fn made(
    family: Family,
    facts: &[&Fact],
    steps: Vec<Step>,
    scale: Option<Scale>,
    inquiry: &Inquiry,
) -> Option<Candidate> {
    let program = Program::new(steps).ok()?;
    let outcome = program.run(&NoRows).ok()?;
    let mut features = of_family(family, inquiry);
    for (place, fact) in facts.iter().enumerate().take(2) {
        of_fact(&mut features, family, place, fact, inquiry);
    }
    if let &[a, b] = facts {
        of_pair(&mut features, family, a, b, outcome, program.steps(), inquiry);
    }
    let facts = facts.iter().map(|&fact| fact.clone()).collect();
    Some(Candidate {
        family,
        facts,
        program: Some(program),
        outcome: Some(outcome),
        words: Vec::new(),
        scale,
        features,
    })
}

fn of_family(family: Family, inquiry: &Inquiry) -> Vec<(u16, f32)> {
    let number = Family::ALL.iter().position(|(of, _)| *of == family).unwrap_or(0);
    let cue = |cue: &u16| ((number * CUES.len()) as u16 + cue, 1.0);
    let mut features: Vec<(u16, f32)> = inquiry.cues.iter().map(cue).collect();
    features.push(((CUE_FEATURES + number * 4 + inquiry.years.len().min(3)) as u16, 1.0));
    features.push(((BIAS + number) as u16, 1.0));
    features
}

fn of_fact(features: &mut Vec<(u16, f32)>, family: Family, place: usize, fact: &Fact, inquiry: &Inquiry) {
    let start = FACT_FEATURES + (family.group() * 2 + place) * OF_FACT.len();
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
        flag(fact.quantity.unit == Some(Unit::Percent)),
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
    ];
    push(features, start, &values);
}

fn push(features: &mut Vec<(u16, f32)>, start: usize, values: &[f32]) {
    features.extend((start..).zip(values).filter(|(_, value)| **value != 0.0).map(|(at, value)| (at as u16, *value)));
}

fn of_pair(
    features: &mut Vec<(u16, f32)>,
    family: Family,
    a: &Fact,
    b: &Fact,
    outcome: Outcome,
    steps: &[Step],
    inquiry: &Inquiry,
) {
    let start = PAIR_FEATURES + family.group() * OF_PAIR.len();
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
    let is_percent = |fact: &Fact| fact.quantity.unit == Some(Unit::Percent);
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
        flag(is_percent(a) && is_percent(b)),
        flag(inquiry.has("percent") && value > Decimal::ZERO && value < Decimal::ONE),
        flag(same(a.row(), b.row()) && both.is_some_and(|(a, b)| a != b)),
    ];
    push(features, start, &values);
}

/// Sums, means and extremes over three facts and more: rows and columns of the best cells, and the best of one column.
fn runs(found: &mut Vec<Candidate>, facts: &Facts<'_>, inquiry: &Inquiry) {
    let list = &facts.facts;
    let mut seen = HashSet::new();
    let mut lines: Vec<(Vec<Fact>, [f32; 4])> = Vec::new();
    let span = inquiry.years.iter().min().zip(inquiry.years.iter().max());
    let within = |fact: &Fact| span.is_some_and(|(min, max)| fact.years.iter().any(|year| (min..=max).contains(&year)));
    for fact in list.iter().filter(|fact| fact.place.is_some()).take(6) {
        for (line, is_row) in [(fact.row(), true), (fact.column(), false)] {
            let Some(line) = line else { continue };
            if !seen.insert((line, is_row)) {
                continue;
            }
            let numbers = if is_row { facts.row(line, inquiry) } else { facts.column(line, inquiry) };
            if numbers.len() > 40 {
                continue;
            }
            let asked_for: Vec<Fact> = numbers.iter().filter(|fact| within(fact)).cloned().collect();
            let kind = [flag(is_row), flag(!is_row)];
            if asked_for.len() < numbers.len() {
                lines.push((asked_for, [kind[0], kind[1], 0.0, 0.0]));
            } else if !is_row && numbers.last().is_some_and(|last| last.label.contains("total")) {
                lines.push((numbers[..numbers.len() - 1].to_vec(), [0.0, 1.0, 0.0, 0.0]));
            }
            lines.push((numbers, [kind[0], kind[1], 1.0, 0.0]));
        }
        let Some(column) = fact.column() else { continue };
        let best: Vec<Fact> = list.iter().filter(|other| other.column() == Some(column)).cloned().collect();
        for count in 3..=best.len().min(5) {
            lines.push((best.iter().take(count).cloned().collect(), [0.0, 1.0, 0.0, 1.0]));
        }
    }
    let mut made: HashSet<Vec<usize>> = HashSet::new();
    for (line, kind) in lines {
        let mut key: Vec<usize> = line.iter().map(|fact| fact.node).collect();
        key.sort_unstable();
        let units = line.windows(2).all(|two| match two {
            [a, b] => check_units(a.quantity.unit, b.quantity.unit).is_ok() && a.quantity.scale == b.quantity.scale,
            _ => true,
        });
        if line.len() >= 2 && units && made.insert(key) {
            run(found, &line, kind, inquiry);
        }
    }
}

pub(crate) fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

fn run(found: &mut Vec<Candidate>, line: &[Fact], [row, column, whole, best]: [f32; 4], inquiry: &Inquiry) {
    let (mut steps, mut all) = (Vec::new(), line.iter().map(Fact::argument));
    let Some(mut sum) = all.next() else { return };
    for next in all {
        steps.push(step(Operation::Add, sum, next));
        sum = Argument::Step(steps.len() - 1);
    }
    let covered = inquiry.years.iter().all(|year| line.iter().any(|fact| fact.years.contains(year)));
    let years = inquiry.years.len() >= 2 && covered;
    let count = line.len();
    let of_run = [row, column, flag(count == 3), flag(count == 4), flag(count > 4), flag(years), whole, best];
    let mean = [steps.clone(), vec![step(Operation::Divide, sum, constant(count as i64))]].concat();
    let extreme = |largest: bool| {
        let values = line.iter().map(|fact| fact.quantity.value);
        let of = if largest { values.max() } else { values.min() };
        line.iter().find(|fact| Some(fact.quantity.value) == of)
    };
    let scale = line.first().and_then(|fact| fact.quantity.scale);
    let mut add = |family: Family, program: Option<Program>, outcome: Outcome, facts: Vec<Fact>| {
        let mut features = of_family(family, inquiry);
        // The mean of what speaks for its facts.
        let mut of_facts = Vec::new();
        line.iter().for_each(|fact| of_fact(&mut of_facts, family, 0, fact, inquiry));
        let mut sums = std::collections::BTreeMap::<u16, f32>::new();
        of_facts.into_iter().for_each(|(at, value)| *sums.entry(at).or_default() += value / count as f32);
        features.extend(sums);
        push(&mut features, RUN_FEATURES, &of_run);
        found.push(Candidate { family, facts, program, outcome: Some(outcome), words: Vec::new(), scale, features });
    };
    if count >= 3 {
        for (family, steps) in [(Family::RunSum, steps), (Family::RunAverage, mean)] {
            let Ok(program) = Program::new(steps) else { continue };
            let Ok(outcome) = program.run(&NoRows) else { continue };
            add(family, Some(program), outcome, line.to_vec());
        }
    }
    for (family, largest, cues) in [
        (Family::RunMax, true, ["highest", "maximum", "largest", "greatest"]),
        (Family::RunMin, false, ["lowest", "minimum", "smallest", "least"]),
    ] {
        // Only where it is wanted: else every lookup of the largest would count as one.
        if !cues.iter().any(|cue| inquiry.has(cue)) {
            continue;
        }
        if let Some(fact) = extreme(largest) {
            add(family, None, Outcome::Number(fact.quantity.value), vec![fact.clone()]);
        }
    }
}
