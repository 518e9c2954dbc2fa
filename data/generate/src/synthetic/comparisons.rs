//! Questions that set one figure against another: of two tables, of a sentence and a table, of two
//! sentences.

use super::amounts::Measure;
use super::dice::Dice;
use super::questions::{Draft, QuestionWriter};
use super::sheet::Fact;
use super::vocabulary as v;

impl<'a> QuestionWriter<'a> {
    /// Another fact for the same time, in no table with the first, that can be set against it.
    fn partner(&self, fact: &Fact, dice: &mut Dice, fits: impl Fn(&Fact) -> bool) -> Option<&'a Fact> {
        let others: Vec<&'a Fact> = self
            .in_tables
            .iter()
            .copied()
            .filter(|other| self.nouns.same_time(fact, other) && fits(other) && !self.in_one_table(&[fact, other]))
            .collect();
        dice.choose(&others).copied()
    }

    /// One figure over another, of two tables.
    pub(super) fn ratio(&self, dice: &mut Dice) -> Option<Draft> {
        let first = *dice.choose(&self.in_tables)?;
        let second = self.partner(first, dice, |other| comparable(first, other))?;
        Some(self.finish(self.nouns.ratio(first, second, dice), &[first, second]))
    }

    /// The same line of two tables, such as two segments' or two plans'.
    pub(super) fn same_line_of_two_parts(&self, dice: &mut Dice) -> Option<Draft> {
        let first = *dice.choose(&self.in_tables)?;
        let second = self.partner(first, dice, |other| {
            other.concept.id == first.concept.id
                && other.measure == first.measure
                && other.scope.key != first.scope.key
                && !other.scope.is_company()
                && !first.scope.is_company()
                && self.nouns.same_detail(first, other)
        })?;
        let (a, s) = (self.nouns.bare(first, dice), self.nouns.scope(first, dice));
        let (t, p) = (self.nouns.scope(second, dice), first.period.phrase(self.report.year, dice));
        let template = dice.pick(&[
            "Which was higher {p}: {a} {s} or {a} {t}?",
            "How far apart were {a} {s} and {a} {t} {p}?",
            "{p}, how did {a} {s} compare with that {t}?",
            "By how much did {a} {s} and {a} {t} differ {p}?",
        ]);
        let text = template.replace("{a}", &a).replace("{s}", &s).replace("{t}", &t).replace("{p}", &p);
        Some(self.finish(text, &[first, second]))
    }

    /// Which of two lines of two tables changed more.
    pub(super) fn race(&self, dice: &mut Dice) -> Option<Draft> {
        let first = *dice.choose(&self.in_tables)?;
        let first_before = self.year_before(first)?;
        let second = self.partner(first, dice, |other| comparable(first, other) && other.period == first.period)?;
        if [first, second].iter().any(|fact| fact.concept.id == v::CASH.id) {
            return None;
        }
        let second_before = self.year_before(second)?;
        let (a, b) = (self.nouns.of(first, dice), self.nouns.of(second, dice));
        let template = dice.pick(&[
            "Did {a} or {b} change by more {s}?",
            "Which moved further {s}: {a} or {b}?",
            "Compare the change in {a} {s} with the change in {b}.",
        ]);
        let span = self.nouns.change_span(first_before, first, dice);
        let text = template.replace("{a}", &a).replace("{b}", &b).replace("{s}", &span);
        let facts = [first_before, first, second_before, second];
        (!self.in_one_table(&facts)).then(|| self.finish(text, &facts))
    }

    pub(super) fn text_and_table(&self, dice: &mut Dice) -> Option<Draft> {
        let stated = *dice.choose(&self.in_text)?;
        let others: Vec<&Fact> = self
            .in_tables
            .iter()
            .copied()
            .filter(|other| comparable(stated, other) && self.nouns.close_in_time(stated, other))
            .collect();
        let fact = *dice.choose(&others)?;
        let text =
            if dice.chance(50) { self.nouns.ratio(stated, fact, dice) } else { self.nouns.ratio(fact, stated, dice) };
        Some(self.finish(text, &[stated, fact]))
    }

    pub(super) fn two_sentences(&self, dice: &mut Dice) -> Option<Draft> {
        let first = *dice.choose(&self.in_text)?;
        let others: Vec<&Fact> = self
            .in_text
            .iter()
            .copied()
            .filter(|other| comparable(first, other) && self.nouns.same_time(first, other))
            .collect();
        let second = *dice.choose(&others)?;
        Some(self.finish(self.nouns.ratio(first, second, dice), &[first, second]))
    }
}

/// Whether one figure can be divided by the other: money by money or by people, not by itself.
fn comparable(one: &Fact, other: &Fact) -> bool {
    let money = |fact: &Fact| fact.measure == Measure::Money;
    let people = |fact: &Fact| fact.concept.id == v::HEADCOUNT.id;
    (money(one) && (money(other) || people(other)) || people(one) && people(other))
        && (one.concept.id != other.concept.id || one.scope.key != other.scope.key)
}
