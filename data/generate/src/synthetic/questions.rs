//! Questions on a report: which facts they need, and how they are put. Those on figures of one
//! line or one sum are here, the others in [`super::comparisons`].

use super::amounts::Measure;
use super::dice::Dice;
use super::nouns::Nouns;
use super::period::Period;
use super::report::{Report, capitalized};
use super::sheet::{Fact, Sum};
use super::vocabulary::{self as v, in_sentence};
use tabsegnet_datasets::sample::Segment;

/// A question without its id.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub text: String,
    pub gold: Vec<String>,
    /// One a fact.
    pub segments: Vec<Segment>,
}

/// Most gold nodes a question may have.
pub(super) const MOST_GOLD: usize = 8;

/// Writes questions on one report.
pub(super) struct QuestionWriter<'a> {
    pub(super) report: &'a Report,
    pub(super) nouns: Nouns<'a>,
    /// Facts of tables, those of nothing (`—`) left out.
    pub(super) in_tables: Vec<&'a Fact>,
    pub(super) in_text: Vec<&'a Fact>,
    all: &'a [Fact],
    sums: &'a [Sum],
}

impl<'a> QuestionWriter<'a> {
    /// All facts and sums of a report, with the node ids of their final places.
    pub fn new(report: &'a Report, all: &'a [Fact], sums: &'a [Sum]) -> Self {
        let (in_tables, in_text) = all.iter().filter(|fact| fact.value != 0).partition(|fact| fact.table.is_some());
        Self { report, nouns: Nouns::new(report, all), in_tables, in_text, all, sums }
    }

    /// Questions with distinct gold; fewer than `count` only where the report runs out of them.
    pub fn draw(&self, dice: &mut Dice, count: usize) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = Vec::new();
        for _ in 0..count {
            // A kind that this report cannot give is drawn anew.
            for _ in 0..200 {
                let Some(mut draft) = self.draft(dice) else { continue };
                let known = drafts.iter().any(|other| other.gold == draft.gold);
                if !known && draft.gold.len() <= MOST_GOLD {
                    if dice.chance(15) {
                        draft.text = self.with_company(&draft.text);
                    }
                    drafts.push(draft);
                    break;
                }
            }
        }
        drafts
    }

    fn with_company(&self, text: &str) -> String {
        let company = self.report.company.replace(" .", ".").replace(" ,", ",");
        format!("For {company}, {}", in_sentence(text))
    }

    fn draft(&self, dice: &mut Dice) -> Option<Draft> {
        match dice.below(100) {
            0..=27 => self.ratio(dice),
            28..=40 => self.same_line_of_two_parts(dice),
            41..=51 => self.race(dice),
            52..=61 => self.value(dice, false),
            62..=70 => self.change(dice, false),
            71..=77 => self.share(dice),
            78..=82 => self.total(dice),
            83..=92 => self.text_and_table(dice),
            93..=95 => self.value(dice, true),
            96..=97 => self.change(dice, true),
            _ => self.two_sentences(dice),
        }
    }

    /// Gold nodes of facts: all nodes that state one of them, cells before sentences.
    fn gold(&self, facts: &[&Fact]) -> Vec<String> {
        let all = self.all.iter().filter(|fact| facts.iter().any(|other| other.key == fact.key));
        let mut nodes: Vec<String> = Vec::new();
        for fact in all {
            if !nodes.contains(&fact.node) {
                nodes.push(fact.node.clone());
            }
        }
        nodes
    }

    pub(super) fn finish(&self, text: String, facts: &[&Fact]) -> Draft {
        let mut named: Vec<(usize, String, &Fact)> = Vec::with_capacity(facts.len());
        for &fact in facts {
            let (place, name) = self.nouns.segment(fact, &text);
            named.push((place, name, fact));
        }
        named.sort_by_key(|(place, ..)| *place);
        let mut segments: Vec<Segment> = Vec::with_capacity(facts.len());
        for (_, text, fact) in named {
            let nodes = self.gold(&[fact]);
            match segments.iter_mut().find(|known| known.text == text) {
                Some(known) => known.nodes.extend(nodes),
                None => segments.push(Segment { text, nodes }),
            }
        }
        Draft { text: capitalized(&text), gold: self.gold(facts), segments }
    }

    /// Whether some table states all of the facts.
    pub(super) fn in_one_table(&self, facts: &[&Fact]) -> bool {
        self.tables_of(facts[0]).any(|table| facts.iter().all(|fact| self.tables_of(fact).any(|other| other == table)))
    }

    fn tables_of(&self, fact: &Fact) -> impl Iterator<Item = usize> {
        let key = fact.key.clone();
        self.in_tables.iter().filter(move |other| other.key == key).filter_map(|other| other.table)
    }

    fn pool(&self, text: bool) -> &[&'a Fact] {
        if text { &self.in_text } else { &self.in_tables }
    }

    /// One figure.
    fn value(&self, dice: &mut Dice, text: bool) -> Option<Draft> {
        let fact = *dice.choose(self.pool(text))?;
        let (a, p) = (self.nouns.of(fact, dice), fact.period.phrase(self.report.year, dice));
        let template = dice.pick(&[
            "How much did {a} come to {p}?",
            "What was the figure for {a} {p}?",
            "{p}, what did {a} amount to?",
            "What did the company report as {a} {p}?",
            "State {a} {p}.",
        ]);
        Some(self.finish(template.replace("{a}", &a).replace("{p}", &p), &[fact]))
    }

    /// The same figure a year earlier, stated by the same kind of node.
    pub(super) fn year_before(&self, fact: &Fact) -> Option<&'a Fact> {
        let before = fact.period.year_before()?;
        self.pool(fact.table.is_none()).iter().copied().find(|other| {
            other.concept.id == fact.concept.id && other.scope.key == fact.scope.key && other.period == before
        })
    }

    /// A change from one year to the next.
    fn change(&self, dice: &mut Dice, text: bool) -> Option<Draft> {
        let fact = *dice.choose(self.pool(text))?;
        // The cash flow statement tells this change in one cell of its own.
        if fact.concept.id == v::CASH.id {
            return None;
        }
        let before = self.year_before(fact)?;
        let a = self.nouns.of(fact, dice);
        let text = if dice.chance(70) {
            let template = dice.pick(&[
                "By how much did {a} change {s}?", "What was the difference in {a} {s}?",
                "How far did {a} rise or fall {s}?",
            ]);
            template.replace("{s}", &self.nouns.change_span(before, fact, dice))
        } else {
            let template = dice.pick(&[
                "How much more or less did {a} come to {p} than a year earlier?",
                "{p}, how far did {a} move against the prior year?",
            ]);
            template.replace("{p}", &fact.period.phrase(self.report.year, dice))
        };
        Some(self.finish(text.replace("{a}", &a), &[before, fact]))
    }

    /// A part of a total of the same column.
    fn share(&self, dice: &mut Dice) -> Option<Draft> {
        let sum = dice.choose(self.sums)?;
        let (_, part) = dice.choose(&sum.parts)?;
        let find = |node: &str| self.in_tables.iter().copied().find(|fact| fact.node == node);
        let (total, part) = (find(&sum.total)?, find(part)?);
        let whole = [
            v::TOTAL_ASSETS.id,
            v::CURRENT_ASSETS.id,
            v::LIABILITIES.id,
            v::CURRENT_LIABILITIES.id,
            v::PENSION_COST.id,
            v::HELD_AT_FAIR_VALUE.id,
        ];
        let sensible = total.concept.id == part.concept.id || whole.contains(&total.concept.id);
        if !sensible || part.measure == Measure::Rate || total.key == part.key {
            return None;
        }
        let (a, b) = (self.nouns.of(part, dice), self.nouns.of(total, dice));
        let both = if part.period == total.period {
            total.period.phrase(self.report.year, dice)
        } else {
            return self.due_share(dice, part, total);
        };
        let template = dice.pick(&[
            "What share of {b} did {a} make up {p}?",
            "{p}, what percentage of {b} did {a} account for?",
            "How large a part of {b} did {a} represent {p}?",
        ]);
        let text = template.replace("{a}", &a).replace("{b}", &b).replace("{p}", &both);
        Some(self.finish(text, &[part, total]))
    }

    /// What part of all payments is due in a year.
    fn due_share(&self, dice: &mut Dice, part: &Fact, total: &Fact) -> Option<Draft> {
        if total.period != Period::AllDue || part.scope != total.scope {
            return None;
        }
        let a = self.nouns.of(part, dice);
        let text = format!("What share of all {a} is {}?", part.period.phrase(self.report.year, dice));
        Some(self.finish(text, &[part, total]))
    }

    /// Several columns or rows of one line taken together.
    fn total(&self, dice: &mut Dice) -> Option<Draft> {
        let last = *dice.choose(&self.in_tables)?;
        if !matches!(last.measure, Measure::Money) {
            return None;
        }
        let step = |period: Period, back: i32| match period {
            Period::Year(y) => Some(Period::Year(y - back)),
            Period::Due(y) => Some(Period::Due(y - back)),
            Period::Quarter(q, y) if q > back as usize => Some(Period::Quarter(q - back as usize, y)),
            _ => None,
        };
        let count = 2 + dice.below(2) as i32;
        let mut facts = Vec::new();
        for back in (0..count).rev() {
            let period = step(last.period, back)?;
            facts.push(self.in_tables.iter().copied().find(|fact| {
                (fact.period, fact.table, fact.concept.id) == (period, last.table, last.concept.id)
                    && fact.scope == last.scope
            })?);
        }
        // A reserve's opening amounts add up to nothing.
        if facts.iter().any(|fact| fact.concept.id == v::ROLL_OPEN.id) {
            return None;
        }
        let a = self.nouns.of(last, dice);
        let periods = self.nouns.list(&facts, dice);
        let template = dice.pick(&[
            "How much did {a} come to {p} taken together?",
            "What is the combined amount of {a} {p}?",
            "Add up {a} {p}.",
        ]);
        Some(self.finish(template.replace("{a}", &a).replace("{p}", &periods), &facts))
    }
}
