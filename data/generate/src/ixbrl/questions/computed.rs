//! Questions whose answer is known too: the number that is computed, or what states the one that is wanted.

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet_datasets::sample::GoldAnswer;

use super::{Draft, Kind, MOST_OF_CONCEPT, QuestionWriter, TRIES, segments};
use crate::dice::Dice;
use crate::ixbrl::analysts as a;
use crate::ixbrl::filing::Unit;

/// Kinds, as often as they stand here.
#[rustfmt::skip]
const KINDS: &[Kind] = &[
    Kind::Single, Kind::Single, Kind::Single, Kind::Single, Kind::Change, Kind::Change, Kind::Change,
    Kind::Growth, Kind::Growth, Kind::Average, Kind::Share, Kind::Ratio, Kind::Ratio, Kind::Difference,
    Kind::Sum, Kind::Sum,
];

impl QuestionWriter<'_> {
    /// At most `count` questions; those of equal meaning are put once.
    pub fn computed(&self, count: usize, dice: &mut Dice) -> Vec<Draft> {
        let mut of_concept: BTreeMap<&str, usize> = BTreeMap::new();
        let mut meanings = BTreeSet::new();
        let mut drafts = Vec::new();
        for _ in 0..count {
            for _ in 0..TRIES {
                let kind = *dice.pick(KINDS);
                // What is added need not be of one sort.
                let like = if kind == Kind::Sum && dice.chance(60) { Kind::Difference } else { kind };
                let Some(numbers) = self.facts_for(like, false, dice) else { continue };
                let concept = numbers.first().map_or("", |first| self.fact(*first).concept.as_str());
                if of_concept.get(concept).is_some_and(|&count| count >= MOST_OF_CONCEPT)
                    || !meanings.insert((kind, numbers.clone()))
                {
                    continue;
                }
                let Some(draft) = self.put_computed(kind, &numbers, dice) else { continue };
                *of_concept.entry(concept).or_default() += 1;
                drafts.push(draft);
                break;
            }
        }
        drafts
    }

    fn put_computed(&self, kind: Kind, numbers: &[usize], dice: &mut Dice) -> Option<Draft> {
        let (facts, mut named) = self.in_words(numbers, dice)?;
        if dice.chance(35) {
            for named in named.iter_mut().filter(|named| !named.name.starts_with("the ")) {
                named.name = format!("{}'s {}", self.company, named.name);
            }
        }
        let (text, value) = match (kind, &named[..], &facts[..]) {
            (Kind::Single, [of], [fact]) => {
                // What states it answers it.
                (a::value(of, matches!(fact.unit, Unit::Money(_)), dice), None)
            }
            (Kind::Change, [from, to], [first, second]) => {
                let text = a::change(from, to, second.value >= first.value, dice);
                (text, Some(second.value - first.value))
            }
            (Kind::Growth, [from, to], [first, second]) => {
                let text = a::growth(from, to, second.value >= first.value, dice);
                (text, Some((second.value - first.value) / first.value))
            }
            (Kind::Average, [from, .., to], all) => {
                let sum: f64 = all.iter().map(|fact| fact.value).sum();
                (a::average(from, to, all.len(), dice), Some(sum / all.len() as f64))
            }
            (Kind::Share | Kind::Ratio, [part, whole], [first, second]) => {
                (a::ratio(part, whole, dice), Some(first.value / second.value))
            }
            (Kind::Difference, [larger, smaller], [first, second]) => {
                (a::difference(larger, smaller, dice), Some(first.value - second.value))
            }
            (Kind::Sum, [larger, smaller], [first, second]) => {
                (a::sum(larger, smaller, dice), Some(first.value + second.value))
            }
            _ => return None,
        };
        let answer = value.filter(|value| value.is_finite()).map(|value| GoldAnswer {
            values: vec![value.to_string()],
            kind: "arithmetic".into(),
            ..GoldAnswer::default()
        });
        Some(Draft { text, segments: segments(&named, numbers), answer })
    }
}
