//! Which facts are wanted together.

mod computed;

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet_datasets::sample::{GoldAnswer, Question, Segment};
use tabsegnet_document::node_id;

use super::filing::{Fact, Filing, Unit};
use super::period::Span;
use super::templates::{self as t, Named};
use super::words::local;
use crate::dice::Dice;

/// A question without its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Draft {
    pub text: String,
    /// What is wanted: the phrase for it, and what answers it.
    pub segments: Vec<(String, Sought)>,
    /// The number in full, where the question has one.
    pub answer: Option<GoldAnswer>,
}

/// What answers a part of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sought {
    /// A fact, by its number.
    Fact(usize),
    /// Sentences, by their index in the filing.
    Passages(BTreeSet<usize>),
}

impl Draft {
    /// The question with its gold nodes: all places that state what is sought.
    pub fn question(self, id: String, filing: &Filing) -> Question {
        let nodes = |sought: &Sought| -> Vec<String> {
            let (fact, passages) = match sought {
                Sought::Fact(fact) => {
                    let fact = &filing.facts[*fact];
                    (Some(fact), &fact.passages)
                }
                Sought::Passages(passages) => (None, passages),
            };
            let cells = fact.into_iter().flat_map(|fact| &fact.cells).map(|cell| cell.node.clone());
            let restated = fact.into_iter().flat_map(|fact| fact.restated.iter().cloned());
            cells.chain(passages.iter().map(|&passage| node_id::passage(passage))).chain(restated).collect()
        };
        let segments: Vec<Segment> =
            self.segments.into_iter().map(|(text, sought)| Segment { text, nodes: nodes(&sought) }).collect();
        let gold: BTreeSet<String> = segments.iter().flat_map(|segment| segment.nodes.clone()).collect();
        Question { id, text: self.text, gold: gold.into_iter().collect(), segments, answer: self.answer }
    }
}

/// What is put to facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Single,
    Change,
    Growth,
    Average,
    Members,
    Share,
    Ratio,
    Difference,
    Sum,
    Both,
}

/// Kinds for questions that one table may answer, as often as they stand here.
#[rustfmt::skip]
const ONE_TABLE: &[Kind] = &[
    Kind::Single, Kind::Single, Kind::Single, Kind::Single, Kind::Single, Kind::Single, Kind::Change,
    Kind::Change, Kind::Growth, Kind::Average, Kind::Members, Kind::Share, Kind::Ratio, Kind::Sum,
];

/// Kinds for questions that need two tables.
#[rustfmt::skip]
const TWO_TABLES: &[Kind] = &[
    Kind::Share, Kind::Share, Kind::Ratio, Kind::Ratio, Kind::Ratio, Kind::Difference, Kind::Sum, Kind::Both,
    Kind::Both, Kind::Change,
];

/// Amounts of a time that others are measured by.
const BASES: &[&str] = &[
    "Revenues",
    "RevenueFromContractWithCustomerExcludingAssessedTax",
    "RevenueFromContractWithCustomerIncludingAssessedTax",
    "SalesRevenueNet",
    "NetIncomeLoss",
    "OperatingIncomeLoss",
    "CostsAndExpenses",
    "OperatingExpenses",
    "NetCashProvidedByUsedInOperatingActivities",
];

/// Amounts of a day that others are measured by.
const BALANCE_BASES: &[&str] = &["Assets", "Liabilities", "StockholdersEquity", "AssetsCurrent", "LiabilitiesCurrent"];

/// How often a question of each kind is tried before the filing is taken to have none.
const TRIES: usize = 200;
/// Most questions of a filing about one concept.
const MOST_OF_CONCEPT: usize = 4;
/// Most gold nodes of a question; a fact on every page is no question of finding.
const MOST_PLACES: usize = 10;

/// Writes questions on a filing's facts.
pub(super) struct QuestionWriter<'a> {
    filing: &'a Filing,
    company: String,
    /// Facts by axes, then by concept.
    groups: BTreeMap<Vec<&'a str>, BTreeMap<&'a str, Vec<usize>>>,
    /// The tables that state each fact with a tag.
    tables: BTreeMap<usize, BTreeSet<usize>>,
    /// Facts that two tables or more state.
    prominent: Vec<usize>,
}

impl<'a> QuestionWriter<'a> {
    pub fn new(filing: &'a Filing) -> Self {
        let mut groups: BTreeMap<Vec<&str>, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
        let mut tables = BTreeMap::new();
        for (number, fact) in filing.facts.iter().enumerate() {
            let of: Vec<usize> = fact.cells.iter().map(|cell| cell.table).collect();
            if of.len() + fact.passages.len() > MOST_PLACES {
                continue;
            }
            tables.insert(number, of.into_iter().collect());
            let axes = fact.members.iter().map(|(axis, _)| axis.as_str()).collect();
            groups.entry(axes).or_default().entry(fact.concept.as_str()).or_default().push(number);
        }
        let prominent = tables.iter().filter(|(_, tables): &(_, &BTreeSet<usize>)| tables.len() >= 2);
        let prominent = prominent.map(|(fact, _)| *fact).collect();
        Self { filing, company: filing.company_name(), groups, tables, prominent }
    }

    /// At most `count` questions, a third of them or more over two tables: no one table states all their facts with tags.
    /// Questions of equal meaning are put once.
    pub fn draw(&self, count: usize, dice: &mut Dice) -> Vec<Draft> {
        let mut of_concept: BTreeMap<&str, usize> = BTreeMap::new();
        let mut meanings = BTreeSet::new();
        let mut texts = BTreeSet::new();
        let mut drafts: Vec<(Draft, bool)> = Vec::new();
        for number in 0..count {
            let two_tables = matches!(number % 5, 0 | 2);
            for _ in 0..TRIES {
                let kind = *dice.pick(if two_tables { TWO_TABLES } else { ONE_TABLE });
                let Some(facts) = self.facts_for(kind, two_tables, dice) else { continue };
                let needs_two = self.needs_two_tables(&facts);
                let mut meaning: Vec<&Fact> = facts.iter().map(|&fact| self.fact(fact)).collect();
                let concept = meaning.first().map_or("", |fact| fact.concept.as_str());
                meaning.sort_by_key(|fact| (&fact.concept, &fact.members));
                let meaning: Vec<_> = meaning.into_iter().map(|fact| (&fact.concept, &fact.members)).collect();
                if two_tables && !needs_two
                    || of_concept.get(concept).is_some_and(|&count| count >= MOST_OF_CONCEPT)
                    || meanings.contains(&(kind, meaning.clone()))
                {
                    continue;
                }
                let Some(draft) = self.put(kind, &facts, dice) else { continue };
                if !texts.insert(draft.text.to_lowercase()) {
                    continue;
                }
                *of_concept.entry(concept).or_default() += 1;
                meanings.insert((kind, meaning));
                drafts.push((draft, needs_two));
                break;
            }
        }
        // Where a filing has few such questions it has few of the others too.
        let mut others = 2 * drafts.iter().filter(|(_, needs_two)| *needs_two).count();
        drafts.retain(|(_, needs_two)| {
            let keep = *needs_two || others > 0;
            others -= usize::from(keep && !needs_two);
            keep
        });
        drafts.into_iter().map(|(draft, _)| draft).collect()
    }

    fn fact(&self, number: usize) -> &'a Fact {
        &self.filing.facts[number]
    }

    fn needs_two_tables(&self, facts: &[usize]) -> bool {
        let mut tables = facts.iter().filter_map(|fact| self.tables.get(fact));
        let Some(first) = tables.next() else { return false };
        let common = tables.fold(first.clone(), |common, tables| common.intersection(tables).copied().collect());
        common.is_empty()
    }

    /// A fact: a third of them such as several tables state, which people ask about most; of the others half without members,
    /// then by axes, concepts and facts.
    fn any(&self, dice: &mut Dice) -> Option<usize> {
        if dice.chance(33)
            && let Some(fact) = dice.choose(&self.prominent)
        {
            return Some(*fact);
        }
        let whole: Vec<&str> = Vec::new();
        let concepts = match self.groups.get(&whole) {
            Some(concepts) if dice.chance(50) => concepts,
            _ => {
                let groups: Vec<_> = self.groups.values().collect();
                *dice.choose(&groups)?
            }
        };
        let concepts: Vec<&Vec<usize>> = concepts.values().collect();
        let facts = *dice.choose(&concepts)?;
        dice.choose(facts).copied()
    }

    /// One of the facts that go with another.
    fn partner(&self, dice: &mut Dice, fits: impl Fn(&Fact) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = self.tables.keys().copied().filter(|&fact| fits(self.fact(fact))).collect();
        dice.choose(&fitting).copied()
    }

    /// Facts that a question of a kind can be about, in the order in which it names them.
    fn facts_for(&self, kind: Kind, two_tables: bool, dice: &mut Dice) -> Option<Vec<usize>> {
        let first = self.any(dice)?;
        let a = self.fact(first);
        let money = matches!(a.unit, Unit::Money(_));
        // A change of a change says nothing.
        let level = !a.names[0].starts_with("change") && !local(&a.concept).contains("IncreaseDecrease");
        let same_breakdown = |b: &Fact| b.concept == a.concept && b.members == a.members && b.unit == a.unit;
        let apart = |other: usize| !two_tables || self.needs_two_tables(&[first, other]);
        match kind {
            Kind::Single => Some(vec![first]),
            Kind::Change | Kind::Growth => {
                let fits = |b: &Fact| same_breakdown(b) && is_next(b.span, a.span);
                let before = self.partner(dice, fits).filter(|_| level)?;
                let positive = a.value > 0.0 && self.fact(before).value > 0.0;
                (kind == Kind::Change || (positive && a.unit != Unit::Ratio)).then(|| vec![before, first])
            }
            Kind::Average => {
                let fits = |b: &Fact| same_breakdown(b) && is_next(b.span, a.span);
                let before = self.partner(dice, fits).filter(|_| level && matches!(a.span, Span::Year(_)))?;
                let middle = self.fact(before).span;
                let earliest = self.partner(dice, |b| same_breakdown(b) && is_next(b.span, middle))?;
                Some(vec![earliest, before, first])
            }
            Kind::Members => {
                let fits = |b: &Fact| {
                    b.concept == a.concept
                        && b.span == a.span
                        && b.unit == a.unit
                        && b.value.abs() <= a.value.abs()
                        && b.value.is_sign_positive() == a.value.is_sign_positive()
                        && one_member_differs(a, b)
                };
                let other = self.partner(dice, fits).filter(|_| a.unit != Unit::Ratio && a.unit != Unit::PerShare)?;
                Some(vec![first, other])
            }
            Kind::Share => {
                let fits = |b: &Fact| {
                    b.concept == a.concept && b.span == a.span && b.unit == a.unit && b.member_words.is_empty()
                };
                let total = self.partner(dice, fits).filter(|_| !a.member_words.is_empty())?;
                let whole = self.fact(total).value;
                let sensible = (money || a.unit == Unit::Shares) && a.value > 0.0 && a.value < whole && apart(total);
                sensible.then(|| vec![first, total])
            }
            Kind::Ratio => {
                let bases = if matches!(a.span, Span::At(_)) { BALANCE_BASES } else { BASES };
                let fits = |b: &Fact| {
                    bases.contains(&local(&b.concept))
                        && b.concept != a.concept
                        && b.member_words.is_empty()
                        && b.span == a.span
                        && b.unit == a.unit
                        && b.value > 0.0
                };
                let base = self.partner(dice, fits).filter(|&base| money && level && a.value > 0.0 && apart(base))?;
                // Above all else the base itself is what others are measured by.
                (!bases.contains(&local(&a.concept)) || dice.chance(30)).then(|| vec![first, base])
            }
            Kind::Difference | Kind::Sum => {
                let fits = |b: &Fact| {
                    b.concept != a.concept
                        && b.span == a.span
                        && b.unit == a.unit
                        && b.value > 0.0
                        && b.value <= a.value
                        && b.member_words == a.member_words
                        && (kind == Kind::Difference || is_like(a, b))
                };
                let other = self.partner(dice, fits).filter(|&other| money && level && apart(other))?;
                Some(vec![first, other])
            }
            Kind::Both => {
                let same_time = dice.chance(60);
                let fits = |b: &Fact| {
                    b.concept != a.concept
                        && if same_time { b.span == a.span } else { b.span.end() <= a.span.end() && b.span != a.span }
                };
                let other = self.partner(dice, fits).filter(|&other| apart(other))?;
                Some(vec![first, other])
            }
        }
    }

    fn put(&self, kind: Kind, numbers: &[usize], dice: &mut Dice) -> Option<Draft> {
        let (facts, mut named) = self.in_words(numbers, dice)?;
        if dice.chance(35)
            && let Some(first) = named.first_mut()
            && !first.name.starts_with("the ")
        {
            // As people ask who have many reports.
            first.name = format!("{}'s {}", self.company, first.name);
        }
        if kind == Kind::Average {
            // Three times over, only the shortest way to say a year can be read.
            for (named, fact) in named.iter_mut().zip(&facts) {
                let (preposition, when) = fact.span.names(&self.filing.calendar).into_iter().next()?;
                (named.preposition, named.when) = (preposition, when);
            }
        }
        let text = match (kind, &named[..], &facts[..]) {
            (Kind::Single, [a], [fact]) => t::single(a, matches!(fact.unit, Unit::Money(_)), dice),
            (Kind::Change, [a, b], [first, second]) => {
                let positive = first.value > 0.0 && second.value > 0.0 && first.value != second.value;
                t::change(a, b, positive.then_some(second.value > first.value), dice)
            }
            (Kind::Growth, [a, b], [first, second]) => t::growth(a, b, second.value >= first.value, dice),
            (Kind::Average, all, _) => t::average(all, dice),
            (Kind::Members, [a, b], _) => t::members(a, b, dice),
            (Kind::Share, [a, b], _) => t::share(a, b, dice),
            (Kind::Ratio, [a, b], [first, second]) => t::ratio(a, b, first.value < second.value, dice),
            (Kind::Difference, [a, b], _) => t::difference(a, b, dice),
            (Kind::Sum, [a, b], _) => t::sum(a, b, dice),
            (Kind::Both, [a, b], _) => t::both(a, b, dice),
            _ => return None,
        };
        Some(Draft { text, segments: segments(&named, numbers), answer: None })
    }

    /// The facts of a question, and each in words.
    fn in_words(&self, numbers: &[usize], dice: &mut Dice) -> Option<(Vec<&'a Fact>, Vec<Named>)> {
        let facts: Vec<&Fact> = numbers.iter().map(|&number| self.fact(number)).collect();
        let (ways, style) = (dice.below(12), dice.below(2));
        let named = facts.iter().map(|fact| self.named(fact, ways, style)).collect::<Option<Vec<Named>>>()?;
        Some((facts, named))
    }

    /// A fact in words. Facts of one question get their times in one way, and one concept one name.
    fn named(&self, fact: &Fact, ways: usize, style: usize) -> Option<Named> {
        // The exact name half of the time, else one of the others where there are any.
        let other = ways.checked_rem(fact.names.len() - 1).map(|other| other + 1);
        let name = fact.names.get(if style == 0 { 0 } else { other.unwrap_or(0) })?.clone();
        let times = fact.span.names(&self.filing.calendar);
        let (preposition, when) = times.get(ways % times.len().max(1))?.clone();
        Some(Named { name, members: fact.member_words.join(" "), preposition, when })
    }
}

/// What is wanted: each fact by its words.
fn segments(named: &[Named], numbers: &[usize]) -> Vec<(String, Sought)> {
    named.iter().map(Named::segment).zip(numbers.iter().map(|&fact| Sought::Fact(fact))).collect()
}

/// Whether `before` is a year, or as long as the two last, before `after`.
fn is_next(before: Span, after: Span) -> bool {
    let days = after.end().days() - before.end().days();
    before.is_like(after) && (355..=375).contains(&days)
}

/// Whether two facts have the same axes and one member that differs.
fn one_member_differs(a: &Fact, b: &Fact) -> bool {
    let axes = |fact: &Fact| fact.members.iter().map(|(axis, _)| axis.clone()).collect::<Vec<_>>();
    let differing = a.members.iter().zip(&b.members).filter(|(a, b)| a.1 != b.1).count();
    let named = a.member_words.len() == b.member_words.len() && a.member_words != b.member_words;
    axes(a) == axes(b) && differing == 1 && named && !a.member_words.is_empty()
}

/// Whether two concepts are of one sort: their names have one head, as `… expense` and `… expense`.
fn is_like(a: &Fact, b: &Fact) -> bool {
    let head = |fact: &Fact| {
        let name = fact.names.first().map_or("", String::as_str);
        let name = name.split([',', ':']).next().unwrap_or_default();
        let before = name.split(' ').take_while(|word| !["of", "from", "in", "for", "to", "at", "by"].contains(word));
        before.last().unwrap_or_default().trim_end_matches('s').to_owned()
    };
    head(a) == head(b) && head(a).len() > 3
}
