//! Facts stated in words.

use super::amounts::{Measure, words};
use super::dice::Dice;
use super::names::Scope;
use super::period::Period;
use super::report::{Report, capitalized};
use super::sheet::{Built, Fact};
use super::vocabulary::{self as v, Concept};

/// A sentence and the facts it states.
#[derive(Debug, Clone)]
pub(super) struct FactSentence {
    pub text: String,
    pub facts: Vec<Fact>,
}

/// The time a sentence speaks of.
#[derive(Clone, Copy)]
enum When {
    During,
    AtEnd,
    NextYear,
}

/// A fact that stands in no table. `{v}` is the figure, `{y}` the year, `{d}` its last day.
struct Pattern {
    concept: &'static Concept,
    when: When,
    measure: Measure,
    /// Bounds of the figure; of money, in thousandths of revenue.
    range: (i64, i64),
    texts: &'static [&'static str],
}

const fn pattern(
    concept: &'static Concept,
    when: When,
    measure: Measure,
    range: (i64, i64),
    texts: &'static [&'static str],
) -> Pattern {
    Pattern { concept, when, measure, range, texts }
}

static PATTERNS: &[Pattern] = &[
    pattern(
        &v::BUYBACK_LEFT,
        When::AtEnd,
        Measure::Money,
        (20, 120),
        &[
            "As of {d} , {v} remained available under the repurchase authorization approved by our board .",
            "The board ' s repurchase authorization had {v} remaining at {d} .",
        ],
    ),
    pattern(
        &v::BUYBACK_PRICE,
        When::During,
        Measure::PerShare,
        (1_500, 14_000),
        &[
            "Shares repurchased in {y} were acquired at an average price of {v} per share .",
            "In {y} the average price per repurchased share was {v} .",
        ],
    ),
    pattern(
        &v::BACKLOG,
        When::AtEnd,
        Measure::Money,
        (150, 700),
        &["Our order backlog was {v} as of {d} .", "Order backlog believed to be firm stood at {v} at {d} ."],
    ),
    pattern(
        &v::CAPEX_PLAN,
        When::NextYear,
        Measure::Money,
        (30, 90),
        &[
            "We expect capital expenditures of approximately {v} in {y} .",
            "Capital expenditures are expected to total about {v} in {y} .",
        ],
    ),
    pattern(
        &v::UNDRAWN,
        When::AtEnd,
        Measure::Money,
        (60, 250),
        &[
            "Available borrowing capacity under our revolving credit facility was {v} as of {d} .",
            "At {d} we had {v} of available borrowing capacity under committed facilities .",
        ],
    ),
    pattern(
        &v::UNRECOGNIZED,
        When::AtEnd,
        Measure::Money,
        (8, 50),
        &[
            "As of {d} , there was {v} of unrecognized compensation cost related to unvested awards .",
            "Unrecognized compensation cost of unvested awards totaled {v} at {d} .",
        ],
    ),
    pattern(
        &v::ADVERTISING,
        When::During,
        Measure::Money,
        (10, 60),
        &[
            "Advertising expense was {v} in {y} .",
            "Costs of advertising are expensed as incurred and were {v} in {y} .",
        ],
    ),
    pattern(
        &v::CUSTOMER_SHARE,
        When::During,
        Measure::Rate,
        (101, 290),
        &[
            "Our largest customer accounted for {v} of our business in {y} .",
            "In {y} , {v} of what we billed went to a single customer , our largest .",
        ],
    ),
    pattern(
        &v::DEAL_COSTS,
        When::During,
        Measure::Money,
        (2, 12),
        &[
            "We incurred transaction costs of {v} in {y} in connection with business combinations .",
            "Transaction costs of {v} were expensed in {y} .",
        ],
    ),
    pattern(
        &v::LEGAL,
        When::AtEnd,
        Measure::Money,
        (4, 30),
        &["Our accrual for legal matters was {v} as of {d} .", "We had accrued {v} for legal matters at {d} ."],
    ),
    pattern(
        &v::PENSION_PLAN,
        When::NextYear,
        Measure::Money,
        (3, 15),
        &[
            "We expect to contribute {v} to our pension plans in {y} .",
            "Expected pension contributions for {y} are {v} .",
        ],
    ),
    pattern(
        &v::DIVIDEND_PER_SHARE,
        When::During,
        Measure::PerShare,
        (40, 320),
        &["We declared dividends of {v} per share in {y} .", "Dividends declared per share were {v} in {y} ."],
    ),
    pattern(
        &v::STORES,
        When::AtEnd,
        Measure::Count,
        (110, 2_400),
        &["We operated {v} retail locations as of {d} .", "At {d} our network comprised {v} retail locations ."],
    ),
    pattern(
        &v::CREDIT_LETTERS,
        When::AtEnd,
        Measure::Money,
        (5, 40),
        &[
            "Outstanding letters of credit totaled {v} as of {d} .",
            "We had {v} of outstanding letters of credit at {d} .",
        ],
    ),
    pattern(
        &v::PROFITS_ABROAD,
        When::AtEnd,
        Measure::Money,
        (80, 400),
        &[
            "Undistributed foreign earnings , considered indefinitely reinvested , were {v} as of {d} .",
            "At {d} , undistributed earnings of foreign subsidiaries amounted to {v} .",
        ],
    ),
    pattern(
        &v::IMPAIRMENT,
        When::During,
        Measure::Money,
        (3, 35),
        &["We recorded impairment charges of {v} in {y} .", "Impairment charges of {v} were recognized in {y} ."],
    ),
    pattern(
        &v::PATENTS,
        When::AtEnd,
        Measure::Count,
        (60, 5_200),
        &["We held {v} issued patents as of {d} .", "As of {d} our portfolio contained {v} issued patents ."],
    ),
];

impl Pattern {
    /// The fact and the sentence of the report's year, or of one so many years before it.
    fn sentence(&self, report: &Report, dice: &mut Dice, back: usize) -> FactSentence {
        let year = report.year_ago(back);
        let (period, year) = match self.when {
            When::During => (Period::Year(year), year),
            When::AtEnd => (Period::End(year), year),
            When::NextYear => (Period::Year(year + 1), year + 1),
        };
        let (low, high) = self.range;
        let value = match self.measure {
            Measure::Money => dice.share(report.books.of(&v::NET_REVENUE)[back.min(2)], low, high).max(1),
            _ => dice.range(low, high),
        };
        let text = dice
            .pick(self.texts)
            .replace("{v}", &words(value, self.measure, report.unit))
            .replace("{d}", &format!("{} , {year}", report.year_end))
            .replace("{y}", &if dice.chance(50) { format!("fiscal {year}") } else { format!("{year}") });
        FactSentence {
            text: capitalized(&text),
            facts: vec![Fact::new(self.concept, Scope::company(), period, self.measure, value)],
        }
    }
}

/// Figures of the books in words, for concepts that no table of the report holds.
fn from_books(report: &Report, dice: &mut Dice, concept: &'static Concept) -> FactSentence {
    let amounts = report.books.of(concept);
    let label = report.label(concept);
    let show = |back: usize| words(amounts[back], Measure::Money, report.unit);
    let text = dice.pick(&[
        "{l} came to {v} in {y} , compared with {w} in {x} .",
        "For {y} we report {m} of {v} ; the figure for {x} was {w} .",
        "In {y} , {m} was {v} , after {w} in {x} .",
    ]);
    let text = text
        .replace("{l}", label)
        .replace("{m}", &v::in_sentence(label))
        .replace("{v}", &show(0))
        .replace("{w}", &show(1))
        .replace("{y}", &report.year.to_string())
        .replace("{x}", &report.year_ago(1).to_string());
    let facts = [0, 1].map(|back| {
        Fact::new(concept, Scope::company(), Period::Year(report.year_ago(back)), Measure::Money, amounts[back])
    });
    FactSentence { text, facts: facts.to_vec() }
}

/// Sentences that state facts: four to seven of them, some followed by last year's figure.
pub(super) fn draw(report: &Report, dice: &mut Dice, tables: &[Built]) -> Vec<FactSentence> {
    let mut patterns: Vec<&Pattern> = PATTERNS.iter().collect();
    dice.shuffle(&mut patterns);
    let mut sentences = Vec::new();
    for pattern in &patterns[..3 + dice.below(3)] {
        sentences.push(pattern.sentence(report, dice, 0));
        if !matches!(pattern.when, When::NextYear) && dice.chance(40) {
            sentences.push(pattern.sentence(report, dice, 1));
        }
    }
    let concepts: [&'static Concept; 5] =
        [&v::NET_REVENUE, &v::OPERATING_INCOME, &v::NET_EARNINGS, &v::INTEREST, &v::RESEARCH];
    let in_tables = |concept: &Concept| tables.iter().flat_map(|t| &t.facts).any(|f| f.concept.id == concept.id);
    let absent: Vec<&'static Concept> = concepts.into_iter().filter(|concept| !in_tables(concept)).collect();
    if let Some(concept) = dice.choose(&absent) {
        sentences.push(from_books(report, dice, concept));
    }
    sentences
}
