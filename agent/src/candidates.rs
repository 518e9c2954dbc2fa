//! Candidate answers to a question, programs over its facts among them, with what speaks for each as features of the
//! models that choose.

use std::collections::{HashMap, HashSet};

use rust_decimal::Decimal;
use tabsegnet_document::months::MONTHS;

use crate::facts::{Fact, Facts, Said};
use crate::family::Family;
use crate::features::{Features, RunFeatures, WordFeatures, flag, of_fact, of_family, of_pair, of_run, of_words};
use crate::program::{Argument, Operation, Program, Step};
use crate::quantity::{Scale, Unit};
use crate::question::{Inquiry, stems};
use crate::run::{NoRows, Outcome, RunError};
use crate::words::words_candidates;
use crate::years::may_be_year;

impl Candidate {
    /// Number of the ranking's node that it begins with.
    pub fn first_node(&self) -> usize {
        self.facts.first().map_or(usize::MAX, |fact| fact.node)
    }

    /// Whether it says, without computing it, a year that the question names.
    pub fn says_year_of(&self, inquiry: &Inquiry) -> bool {
        let is_named = |word: &String| word.trim().parse().is_ok_and(|year| inquiry.years.contains(&year));
        let is_year = match (self.family, self.outcome) {
            (Family::Lookup, Some(Outcome::Number(number))) => inquiry.names_as_year(number),
            _ => false,
        };
        is_year || self.words.iter().any(is_named)
    }

    /// Whether it may say when: what a table says names a month or has a digit, a number is written as a year.
    pub fn may_be_date(&self) -> bool {
        let is_date = |word: &String| {
            let word = word.to_lowercase();
            word.contains(|c: char| c.is_ascii_digit()) || MONTHS.iter().any(|month| word.contains(month))
        };
        match (self.family, self.outcome) {
            (Family::Word | Family::Header | Family::ArgMax | Family::ArgMin | Family::Which, _) => {
                self.words.iter().all(is_date)
            }
            (Family::Lookup, Some(Outcome::Number(number))) => may_be_year(number),
            (_, outcome) => outcome.is_none(),
        }
    }

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
    /// What speaks for it.
    pub features: Features,
}

/// All candidates of a question, in a fixed order.
pub(crate) fn candidates(facts: &Facts<'_>, inquiry: &Inquiry) -> Vec<Candidate> {
    let mut found = Vec::new();
    let list = &facts.facts;
    for fact in list {
        let value = fact.quantity.value;
        let mut features = of_family(Family::Lookup, inquiry);
        of_fact(&mut features, 0, fact, inquiry);
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
    let alone = list.iter().filter(|fact| !fact.is_percent());
    for fact in alone {
        let steps = vec![minus_hundred(fact.argument()), of_hundred(0)];
        found.extend(made(Family::Return, &[fact], steps, None, inquiry));
    }
    let comparable = inquiry.is_comparison().then(|| Comparable::new(facts, inquiry));
    for (at, a) in list.iter().enumerate() {
        for (other, b) in list.iter().enumerate() {
            if at != other {
                pair(&mut found, (a, b), at < other, comparable.as_ref(), inquiry);
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
    described: &WordFeatures,
    inquiry: &Inquiry,
) -> Candidate {
    let mut features = of_family(family, inquiry);
    if let Some(first) = facts.first() {
        of_fact(&mut features, 0, first, inquiry);
    }
    of_words(&mut features, described);
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

/// Whether a question whether one is greater, or less, than the other names them in the other order.
fn is_other_way_round(a: &Fact, b: &Fact, inquiry: &Inquiry) -> bool {
    let Some(less) = inquiry.compares() else { return false };
    // What became more is now more than it was.
    let by_years = || a.latest().zip(b.latest()).filter(|(a, b)| a != b).map(|(a, b)| a < b);
    let is_before = |fact: &Fact| fact.said == Said::Before;
    let before = if is_before(a) == is_before(b) { by_years() } else { Some(is_before(a)) };
    if inquiry.compares_with_before() {
        // Which of them came first has to be known.
        return before.is_none_or(|before| before != less);
    }
    // "Did it exceed its 2023 level in 2024": what is behind the verb first is what it is held against.
    let is_turned = inquiry.compares_behind();
    let place = |fact: &Fact| {
        let place = inquiry.years.iter().position(|year| fact.latest() == Some(*year));
        place.map(|place| if is_turned { inquiry.years.len() - place } else { place })
    };
    let of = |fact: &Fact| stems(&fact.label).collect::<HashSet<String>>();
    let (of_a, of_b) = (of(a), of(b));
    // By a word that the other one's label has not.
    let first = |own: &HashSet<String>, other: &HashSet<String>| {
        let is_own = |(word, _): &&(String, usize)| own.contains(word) && !other.contains(word);
        inquiry.places.iter().find(is_own).map(|(_, at)| *at)
    };
    let middle = [" than ", " exceed", " above ", " below "].iter().find_map(|cue| inquiry.text.find(cue));
    let by_label = match (first(&of_a, &of_b), first(&of_b, &of_a), middle) {
        (Some(a), Some(b), _) => Some(a > b),
        // Where the question calls one by another name, the other one's side tells.
        (Some(a), None, Some(middle)) => Some(a > middle),
        (None, Some(b), Some(middle)) => Some(b < middle),
        _ => None,
    };
    let by_year = || place(a).zip(place(b)).filter(|(a, b)| a != b).map(|(a, b)| a > b);
    by_label.or_else(by_year).or(before).is_some_and(|is_second| is_second != less)
}

/// Which numbers a question whether one is greater than the other may mean.
struct Comparable<'q> {
    inquiry: &'q Inquiry,
    /// Of each fact the words of its headers, years left out, that the question has, and the others.
    words: HashMap<usize, [HashSet<String>; 2]>,
    /// The same of the best cells, each once.
    cells: Vec<[HashSet<String>; 2]>,
    /// The latest year of the facts.
    latest: Option<u16>,
    /// Whether percentages may be compared.
    of_percentages: bool,
}

/// Best nodes whose headers are held against each other.
const COMPARED: usize = 400;

impl<'q> Comparable<'q> {
    fn new(facts: &Facts<'_>, inquiry: &'q Inquiry) -> Self {
        const PERCENTAGES: [&str; 12] = [
            "percent", "%", " rate", "margin", "growth", "share", "ratio", "yield", "return", "proportion", "portion",
            "grow",
        ];
        let headers = |number: usize| {
            let node = facts.nodes.get(number).into_iter();
            let headers: Vec<&str> = node.flat_map(|node| node.headers()).collect();
            headers.join(" ").to_lowercase()
        };
        let mut cells = Vec::new();
        for number in 0..facts.nodes.len().min(COMPARED) {
            let words = shared(&headers(number), inquiry);
            if !words[0].is_empty() && !cells.contains(&words) {
                cells.push(words);
            }
        }
        let words = facts.facts.iter().map(|fact| (fact.node, shared(&headers(fact.node), inquiry))).collect();
        let latest = facts.facts.iter().filter_map(Fact::latest).max();
        let of_percentages = PERCENTAGES.iter().any(|word| inquiry.has(word));
        Self { inquiry, words, cells, latest, of_percentages }
    }

    /// Whether both are of one row or column under headers that say the same but for the year, where no others fit the
    /// question better, and of the years that are meant; or of one column and of two rows that the question names; or of
    /// one sentence about it.
    fn are(&self, a: &Fact, b: &Fact) -> bool {
        let inquiry = self.inquiry;
        let percentages = [a, b].into_iter().filter(|fact| fact.is_percent()).count();
        if percentages > 0 && !self.of_percentages || percentages < 2 && inquiry.wants_percentage() {
            return false;
        }
        if a.place.is_none() || b.place.is_none() {
            let about = |fact: &Fact| fact.covers >= 0.5 && fact.said != Said::Difference;
            return a.place == b.place && a.node == b.node && about(a) && about(b);
        }
        let (Some(of_a), Some(of_b)) = (self.words.get(&a.node), self.words.get(&b.node)) else { return false };
        let in_line = a.row() == b.row() || a.column() == b.column();
        if in_line && of_a == of_b {
            let Some((year, other)) = a.latest().zip(b.latest()).filter(|(year, other)| year != other) else {
                return false;
            };
            let are_meant = match inquiry.years.as_slice() {
                [] => year.abs_diff(other) == 1 && self.latest == Some(year.max(other)),
                [named] => year.abs_diff(other) == 1 && (year == *named || other == *named),
                named => named.contains(&year) && named.contains(&other),
            };
            return are_meant && !self.is_outdone(of_a);
        }
        let is_own = |own: &HashSet<String>, other: &HashSet<String>| own.iter().any(|word| !other.contains(word));
        let of_year = |fact: &Fact| inquiry.years.is_empty() || fact.years.is_empty() || fact.has_year(&inquiry.years);
        let one_column = a.column() == b.column() && of_year(a) && of_year(b);
        one_column && is_own(&of_a[0], &of_b[0]) && is_own(&of_b[0], &of_a[0])
    }

    /// Whether the headers of another cell have more of the question's words, or as many and fewer others.
    fn is_outdone(&self, [named, others]: &[HashSet<String>; 2]) -> bool {
        let outdoes = |[cell, rest]: &[HashSet<String>; 2]| match cell.len().cmp(&named.len()) {
            std::cmp::Ordering::Greater => cell.is_superset(named),
            std::cmp::Ordering::Equal => cell == named && rest.len() < others.len() && rest.is_subset(others),
            std::cmp::Ordering::Less => false,
        };
        named.is_empty() || self.cells.iter().any(outdoes)
    }
}

/// The words of a label that the question has, and those that it has not; months are neither.
fn shared(label: &str, inquiry: &Inquiry) -> [HashSet<String>; 2] {
    let is_month = |word: &str| MONTHS.iter().any(|month| month.starts_with(word) || word == *month);
    let words = stems(label).filter(|word| !is_month(word));
    let (named, others) = words.partition(|word| inquiry.words.contains(word));
    [named, others]
}

/// Whether a cell in brackets is meant without its sign, as what is paid out or taken off is; not what may be a loss.
pub(crate) fn is_outflow(text: &str, label: &str) -> bool {
    let signed = ["income", "profit", "earnings", "margin", "provided", "gain", "loss", "change", "effect"];
    let spent = ["expense", "paid", "payment", "purchase", "dividend", "settlement", "expenditure", "repayment"];
    let bare = text.trim_start_matches(['$', '€', '£', ' ']);
    // Interest expense stands under "Other income (expense)".
    let label = label.rsplit(" > ").next().unwrap_or_default().to_lowercase().replace("income tax", "tax");
    // With a minus as well, where the header says that it is one.
    let is_one = bare.starts_with('(') || bare.starts_with('-') && spent.iter().any(|word| label.contains(word));
    is_one && !signed.iter().any(|word| label.contains(word))
}

/// Whether two amounts below nothing are.
fn are_outflows(a: &Fact, b: &Fact) -> bool {
    [a, b].into_iter().all(|fact| fact.quantity.value.is_sign_negative() && is_outflow(&fact.text, &fact.label))
}

fn pair(
    found: &mut Vec<Candidate>,
    (a, b): (&Fact, &Fact),
    ordered: bool,
    comparable: Option<&Comparable<'_>>,
    inquiry: &Inquiry,
) {
    use Operation::{Add, Divide, Greater, Multiply, Subtract};
    let (before, first, second, scale) = aligned(a, b);
    let number = before.len();
    let last = |more: usize| Argument::Step(number + more);
    let with = |steps: Vec<Step>| before.iter().cloned().chain(steps).collect::<Vec<_>>();
    let both = [a, b];
    let mut add = |family, steps, scale| found.extend(made(family, &both, steps, scale, inquiry));
    if check_units(a.quantity.unit, b.quantity.unit).is_ok() {
        let outflows = are_outflows(a, b);
        let [more, less] = if outflows { [&second, &first] } else { [&first, &second] };
        let difference = || step(Subtract, first.clone(), second.clone());
        let sum = || step(Add, first.clone(), second.clone());
        add(Family::Change, with(vec![step(Subtract, more.clone(), less.clone())]), scale);
        add(Family::PercentChange, with(vec![difference(), step(Divide, last(0), second.clone())]), None);
        if comparable.is_none_or(|comparable| comparable.are(a, b)) && !is_other_way_round(a, b, inquiry) {
            add(Family::Greater, with(vec![step(Greater, more.clone(), less.clone())]), None);
        }
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
    // Of a share one takes amounts; it is no amount itself. An amount over a share is one, and no share.
    let share_of_amount = a.is_percent() && !b.is_percent();
    let no_share = b.is_percent() && !a.is_percent() && inquiry.has("percent");
    if !share_of_amount && !no_share {
        // What a share is of counts as the amount does.
        let of_share = if b.percent_sign && !a.is_percent() { a.quantity.scale } else { None };
        add(Family::Ratio, with(vec![step(Divide, first, second)]), of_share);
    }
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
        of_fact(&mut features, place, fact, inquiry);
    }
    if let &[a, b] = facts {
        of_pair(&mut features, family, (a, b), outcome, program.steps(), inquiry);
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

/// Sums, means and extremes over three facts and more: rows and columns of the best cells, and the best of one column.
fn runs(found: &mut Vec<Candidate>, facts: &Facts<'_>, inquiry: &Inquiry) {
    let list = &facts.facts;
    let mut seen = HashSet::new();
    let mut lines: Vec<(Vec<Fact>, RunFeatures)> = Vec::new();
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
            let part = RunFeatures { row: flag(is_row), column: flag(!is_row), ..RunFeatures::default() };
            if asked_for.len() < numbers.len() {
                lines.push((asked_for, part));
            } else if !is_row && numbers.last().is_some_and(|last| last.label.contains("total")) {
                // With the total of the others it would count them twice.
                lines.push((numbers[..numbers.len() - 1].to_vec(), part));
                continue;
            }
            lines.push((numbers, RunFeatures { whole: 1.0, ..part }));
        }
        let Some(column) = fact.column() else { continue };
        let best: Vec<Fact> = list.iter().filter(|other| other.column() == Some(column)).cloned().collect();
        let of_column = RunFeatures { column: 1.0, best_of_column: 1.0, ..RunFeatures::default() };
        for count in 3..=best.len().min(5) {
            lines.push((best.iter().take(count).cloned().collect(), of_column));
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

fn run(found: &mut Vec<Candidate>, line: &[Fact], kind: RunFeatures, inquiry: &Inquiry) {
    let (mut steps, mut all) = (Vec::new(), line.iter().map(Fact::argument));
    let Some(mut sum) = all.next() else { return };
    for next in all {
        steps.push(step(Operation::Add, sum, next));
        sum = Argument::Step(steps.len() - 1);
    }
    let covered = inquiry.years.iter().all(|year| line.iter().any(|fact| fact.years.contains(year)));
    let years = inquiry.years.len() >= 2 && covered;
    let count = line.len();
    let of = RunFeatures {
        three: flag(count == 3),
        four: flag(count == 4),
        many: flag(count > 4),
        all_years: flag(years),
        ..kind
    };
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
        line.iter().for_each(|fact| of_fact(&mut of_facts, 0, fact, inquiry));
        let mut sums = std::collections::BTreeMap::<u16, f32>::new();
        of_facts.into_iter().for_each(|(at, value)| *sums.entry(at).or_default() += value / count as f32);
        features.extend(sums);
        of_run(&mut features, of);
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
