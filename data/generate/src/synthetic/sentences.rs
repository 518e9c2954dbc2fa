//! The sentences of a report that state no fact of a question.

use super::amounts::Measure;
use super::dice::Dice;
use super::report::{Report, capitalized};
use super::sheet::Fact;
use super::vocabulary::in_sentence;

/// The opening sentences: whose report this is, and on which year.
pub(super) fn opening(report: &Report, dice: &mut Dice) -> Vec<String> {
    let (company, year, end) = (&report.company, report.year, report.year_end);
    let segments: Vec<&str> = report.segments.iter().map(|segment| segment.0).collect();
    vec![
        dice.pick(&[
            "{c} reports on the fiscal year ended {e} , {y} ( \" fiscal {y} \" ) .",
            "This report of {c} covers fiscal {y} , which ended on {e} , {y} .",
        ])
        .replace("{c}", company)
        .replace("{e}", end)
        .replace("{y}", &year.to_string()),
        format!("We manage our business in {} segments : {} .", segments.len(), segments.join(" , ")),
    ]
}

/// Talk about a figure. `{l}` is a label, `{a}` other words for it, `{y}` the year, `{s}` a
/// segment, `{r}` a region.
const TALK: &[&str] = &[
    "Management regards {a} as a key measure of performance .",
    "{L} may vary from quarter to quarter for reasons beyond our control .",
    "The increase in {m} during {y} reflected favorable conditions in our {s} segment .",
    "Our auditors reviewed the estimates behind {m} for fiscal {y} without objection .",
    "Changes in {a} are discussed by the board every quarter .",
    "In {r} , {m} developed in line with our expectations in {y} .",
    "We do not expect a recently issued accounting standard to change {m} materially .",
    "A weaker U.S. dollar affected {m} in {r} during fiscal {y} .",
    "{A} cannot be compared with that of other companies , which may define it differently .",
    "The accounting policy for {m} involves significant judgment .",
    "Compared with the prior year , {m} benefited from cost savings in our {s} segment .",
    "The determination of {m} requires management to make estimates .",
];

/// Talk that names no figure at all.
const GENERAL: &[&str] = &[
    "Competition in {r} intensified in {y} , and we responded with new offerings of our {s} segment .",
    "We have operations in many countries and are exposed to changes in exchange rates .",
    "Certain amounts of prior years have been reclassified to conform to the presentation of fiscal {y} .",
    "The weather in {r} was unusually mild in the final quarter of {y} .",
    "We believe that existing funds are sufficient for at least the next twelve months .",
    "In fiscal {y} the head of our {s} segment retired after long service .",
    "Amounts may not add due to rounding in periods before those presented .",
    "Our {s} segment depends on a limited number of suppliers of raw materials .",
    "We are subject to examination by tax authorities in various jurisdictions .",
    "None of our employees in {r} is covered by a collective bargaining agreement .",
    "The share price fluctuated during {y} , as did those of our competitors .",
    "Forward-looking statements in this report involve risks and uncertainties .",
];

/// Sentences without a fact, most of them in words that questions on this report use too.
pub(super) fn talk(report: &Report, dice: &mut Dice, facts: &[Fact], count: usize) -> Vec<String> {
    let mut talk: Vec<&str> = TALK.to_vec();
    let mut general: Vec<&str> = GENERAL.to_vec();
    dice.shuffle(&mut talk);
    dice.shuffle(&mut general);
    // Words for a part's figure, such as "deductions", mean nothing without the part.
    let whole: Vec<&Fact> =
        facts.iter().filter(|fact| fact.scope.is_company() && fact.measure == Measure::Money).collect();
    let mut sentences = Vec::new();
    while sentences.len() < count {
        let fact = dice.choose(&whole);
        let first = if dice.chance(60) && fact.is_some() { talk.pop() } else { general.pop() };
        let last = || if fact.is_some() { talk.pop() } else { None };
        let Some(mut text) = first.or_else(|| general.pop()).or_else(last).map(str::to_owned) else {
            break;
        };
        if let Some(fact) = fact {
            let (label, synonym) = (report.label(fact.concept), *dice.pick(fact.concept.synonyms));
            text = text
                .replace("{L}", label)
                .replace("{m}", &in_sentence(label))
                .replace("{A}", &capitalized(synonym))
                .replace("{a}", synonym);
        }
        let text = text
            .replace("{y}", &report.year_ago(dice.below(2)).to_string())
            .replace("{s}", dice.pick(&report.segments).0)
            .replace("{r}", dice.pick(&report.regions).0);
        sentences.push(text);
    }
    sentences
}
