//! Questions that a sentence answers: why an amount changed, what is planned, how many there are, what happened when.
//! What is wanted is read off the sentence by its form; sentences that say it in another form give no question.

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet_document::months::MONTHS;

use super::filing::Filing;
use super::questions::{Draft, Sought};
use super::templates::pick;
use crate::dice::Dice;

/// What a sentence answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// Why something rose or fell.
    Reason { what: String, rose: bool, when: String },
    /// What is planned or expected: the verb, and what follows it.
    Plan { verb: String, what: String },
    /// How many of something there are.
    Count { verb: String, what: String },
    /// What happened in a month, in the words that follow.
    Event { when: String, what: String },
}

/// Bytes of a sentence that is looked at.
const LENGTH: std::ops::RangeInclusive<usize> = 40..=600;
/// Sentences that answer one question, at most; with more nobody would ask.
const MOST_PASSAGES: usize = 3;
/// Words of what is wanted.
const MOST_WORDS: usize = 9;

const REASONS: &[&str] = &[
    " due to ", " driven by ", " as a result of ", " because ", " reflecting ", " attributable to ",
    " resulting from ", " resulted from ", " caused by ",
];
const ROSE: &[&str] = &[" increased", " grew", " rose", " improved", " was higher", " were higher", " climbed"];
const FELL: &[&str] =
    &[" decreased", " declined", " fell", " dropped", " was lower", " were lower", " was down", " were down"];
const RISE: &[&str] = &["increase", "growth", "rise", "improvement"];
const FALL: &[&str] = &["decrease", "decline", "reduction", "drop"];

/// The questions that the sentences of a filing answer, in no particular order.
pub(super) fn questions(filing: &Filing, dice: &mut Dice) -> Vec<Draft> {
    let mut found: BTreeMap<Wanted, BTreeSet<usize>> = BTreeMap::new();
    for (number, text) in filing.read.document.passages().enumerate() {
        if LENGTH.contains(&text.len()) && is_english(text) && text.trim_end().ends_with('.') {
            let text = plain(text);
            let wanted = [reason(&text), plan(&text), count(&text), event(&text)];
            for wanted in wanted.into_iter().flatten() {
                found.entry(wanted).or_default().insert(number);
            }
        }
    }
    found.retain(|_, passages| passages.len() <= MOST_PASSAGES);
    let mut found: Vec<_> = found.into_iter().collect();
    dice.shuffle(&mut found);
    let company = filing.company_name();
    let question = |(wanted, passages)| {
        let text = words(&wanted, &company, dice);
        Draft { segments: vec![(text.clone(), Sought::Passages(passages))], text, answer: None }
    };
    found.into_iter().map(question).collect()
}

/// Letters of other alphabets, bullets and the like give no question.
fn is_english(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii() || matches!(c, '’' | '‘' | '“' | '”' | '–' | '—' | '\u{a0}' | '®' | '™'))
}

/// English with plain quotes and blanks: ASCII.
fn plain(text: &str) -> String {
    let text: String = text
        .chars()
        .filter_map(|c| match c {
            '’' | '‘' => Some('\''),
            '“' | '”' | '®' | '™' => None,
            '–' | '—' => Some('-'),
            c => Some(c),
        })
        .collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `Revenues increased 8% in 2024, primarily due to …`; `The decline in revenues was driven by …`.
fn reason(text: &str) -> Option<Wanted> {
    let marker = REASONS.iter().filter_map(|marker| text.find(marker)).min()?;
    let head = &text[..marker];
    let noun = |nouns: &[&str]| {
        nouns.iter().find_map(|noun| {
            let at = head.to_lowercase().find(&format!("{noun} in "))?;
            let what = &head[at + noun.len() + 4..];
            let end = [" was", " were", " is ", " in 20", " in fiscal", " during", " for ", " from ", " compared", ","]
                .iter();
            let end = end.filter_map(|end| what.find(end)).min().unwrap_or(what.len());
            subject(&what[..end])
        })
    };
    let verb = |verbs: &[&str]| {
        verbs.iter().find_map(|verb| {
            let at = head.find(verb)?;
            let before = head[..at].rsplit(", ").next()?;
            subject(before)
        })
    };
    let (what, rose) = verb(ROSE)
        .map(|what| (what, true))
        .or_else(|| verb(FELL).map(|what| (what, false)))
        .or_else(|| noun(RISE).map(|what| (what, true)))
        .or_else(|| noun(FALL).map(|what| (what, false)))?;
    Some(Wanted::Reason { what, rose, when: year(text).unwrap_or_default() })
}

/// What a clause is about, where a question can name it.
fn subject(text: &str) -> Option<String> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let stripped =
        ["our ", "the ", "we had ", "total "].iter().find_map(|first| lower.strip_prefix(first).map(str::len));
    let text = stripped.map_or(text, |rest| &text[text.len() - rest..]);
    let count = text.split(' ').count();
    let first = text.split(' ').next()?.to_lowercase();
    let named = text.len() >= 4
        && count <= MOST_WORDS
        && !text.contains(|c: char| c.is_ascii_digit() || "():;$%".contains(c))
        && ![
            "it", "this", "these", "that", "which", "they", "and", "as", "in", "while", "such", "those", "we", "there",
        ]
        .contains(&first.as_str());
    named.then(|| lowered(text))
}

/// With a small first letter unless the word is a name, which has others or stands for itself.
fn lowered(text: &str) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    let is_name = first.chars().skip(1).any(|c| c.is_uppercase());
    match text.chars().next() {
        Some(c) if !is_name && text.split(' ').nth(1).is_none_or(|next| next.chars().all(|c| !c.is_uppercase())) => {
            c.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// The first year of a text, `fiscal` before it where the text says so.
fn year(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || ",.;()".contains(c)).collect();
    let is_year = |word: &&str| word.len() == 4 && word.starts_with("20") && word.bytes().all(|b| b.is_ascii_digit());
    let at = words.iter().position(is_year)?;
    let fiscal = at > 0 && words[at - 1].eq_ignore_ascii_case("fiscal");
    Some(if fiscal { format!("fiscal {}", words[at]) } else { words[at].to_owned() })
}

/// `We expect capital expenditures to be …`.
fn plan(text: &str) -> Option<Wanted> {
    const VERBS: &[&str] = &["expect", "plan", "intend", "anticipate"];
    let verb = VERBS.iter().find(|verb| {
        let begin = [format!("We {verb} "), format!("The Company {verb}s "), format!("we {verb} ")];
        begin.iter().any(|begin| text.contains(begin.as_str()))
    })?;
    let at = text.find(&format!(" {verb}"))? + verb.len() + 1;
    let rest = text[at..].trim_start_matches('s').trim_start();
    let rest = rest.strip_prefix("that ").unwrap_or(rest);
    Some(Wanted::Plan { verb: (*verb).to_owned(), what: beginning(rest, 2)? })
}

/// The words that a clause begins with, up to an amount or its end, where there are at least so many.
fn beginning(clause: &str, least: usize) -> Option<String> {
    let end = clause.find(|c: char| c.is_ascii_digit() || "$,;.(".contains(c)).unwrap_or(clause.len());
    let mut words: Vec<&str> = clause[..end].split_whitespace().take(MOST_WORDS).collect();
    while words.last().is_some_and(|last| FILLERS.contains(last)) {
        words.pop();
    }
    (words.len() >= least).then(|| words.join(" "))
}

/// Words that nothing ends with.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "approximately", "about", "of", "to", "be", "in", "the", "a", "an", "and", "or", "over", "by", "between",
    "up", "our", "more", "than", "at", "for", "with", "on", "from", "as", "its", "total", "that", "will",
];

/// `We had approximately 77,800 employees worldwide`.
fn count(text: &str) -> Option<Wanted> {
    const VERBS: &[(&str, &str)] = &[
        ("had", "have"),
        ("have", "have"),
        ("employed", "employ"),
        ("operated", "operate"),
        ("owned", "own"),
        ("leased", "lease"),
        ("served", "serve"),
    ];
    VERBS.iter().find_map(|(past, verb)| {
        let at = [
            format!("we {past} "),
            format!("the Company {past} "),
            format!("We {past} "),
            format!("The Company {past} "),
        ]
        .iter()
        .find_map(|begin| text.find(begin.as_str()).map(|at| at + begin.len()))?;
        let mut words = text[at..].split_whitespace().skip_while(|word| FILLERS.contains(word));
        let number = words.next()?;
        let is_count =
            number.bytes().all(|b| b.is_ascii_digit() || b == b',') && number.len() <= 9 && !number.ends_with(',');
        let end =
            |word: &&str| !FILLERS.contains(word) && !word.contains(|c: char| !c.is_ascii_alphabetic() && c != '-');
        let what: Vec<&str> = words.take_while(end).take(4).collect();
        let wanted =
            is_count && !what.is_empty() && what[0].len() > 2 && !["million", "billion", "shares"].contains(&what[0]);
        wanted.then(|| Wanted::Count { verb: (*verb).to_owned(), what: what.join(" ") })
    })
}

/// `In January 2024, the court issued an opinion …`; `On March 28, 2024, we completed …`.
fn event(text: &str) -> Option<Wanted> {
    let rest = text.strip_prefix("In ").or_else(|| text.strip_prefix("On "))?;
    let month = rest.split(' ').next()?;
    MONTHS.iter().find(|name| name.eq_ignore_ascii_case(month))?;
    let year = year(rest.get(..24).unwrap_or(rest))?;
    let after = rest.find(&year)? + year.len();
    let rest = rest[after..].trim_start_matches([',', ' ']);
    let rest = ["we ", "the Company "].iter().find_map(|first| rest.strip_prefix(first)).unwrap_or(rest);
    Some(Wanted::Event { when: format!("{month} {year}"), what: beginning(rest, 3)? })
}

/// A question for what is wanted.
fn words(wanted: &Wanted, company: &str, dice: &mut Dice) -> String {
    let who = if dice.chance(50) { company } else { "the company" };
    let wordings = match wanted {
        Wanted::Reason { what, rose, when } => {
            let when = if when.is_empty() { String::new() } else { format!(" in {when}") };
            let (verbs, nouns, comparative): (&[&str], &[&str], _) = match rose {
                true => {
                    (&["increase", "rise", "grow", "go up", "climb"], &["increase", "rise", "growth", "jump"], "higher")
                }
                false => (
                    &["decrease", "decline", "fall", "go down", "drop", "shrink"],
                    &["decrease", "decline", "drop", "fall"],
                    "lower",
                ),
            };
            let what = if dice.chance(50) { format!("{who}'s {what}") } else { what.clone() };
            let (verb, noun) = (dice.pick(verbs), dice.pick(nouns));
            vec![
                format!("Why did {what} {verb}{when}?"),
                format!("What drove the {noun} in {what}{when}?"),
                format!("What explains the {noun} in {what}{when}?"),
                format!("What was behind the {noun} in {what}{when}?"),
                format!("What made {what} {verb}{when}?"),
                format!("What pushed {what} {comparative}{when}?"),
                format!("Why was {what} {comparative}{when}?"),
                format!("What caused {what} to {verb}{when}?"),
            ]
        }
        Wanted::Plan { verb, what } => vec![
            format!("What does {who} {verb} {what}?"),
            format!("How much does {who} {verb} {what}?"),
            format!("What are the expectations of {who}: {what}?"),
            format!("Does {who} {verb} {what}?"),
            format!("What is {who} guiding to: {what}?"),
        ],
        Wanted::Count { verb, what } => vec![
            format!("How many {what} did {who} {verb}?"),
            format!("What is the number of {what} at {who}?"),
            format!("How many {what} are there at {who}?"),
        ],
        Wanted::Event { when, what } => vec![
            format!("What happened in {when}: {what}?"),
            format!("What did {who} say about {what} in {when}?"),
            format!("When was it that {what}?"),
            format!("What is known of {what}?"),
        ],
    };
    pick(dice, wordings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons() {
        let read = |text: &str| match reason(&plain(text)) {
            Some(Wanted::Reason { what, rose, when }) => format!("{what}|{rose}|{when}"),
            _ => "none".into(),
        };
        assert_eq!(
            read("In fiscal 2024, our gross margin decreased 2%, primarily due to higher costs."),
            "gross margin|false|fiscal 2024"
        );
        assert_eq!(
            read("The decline in Services revenue in 2023 was driven by lower prices."),
            "services revenue|false|2023"
        );
        assert_eq!(read("It increased because of prices in 2023."), "none");
        assert_eq!(read("Revenue was 3 because of prices."), "none");
    }

    #[test]
    fn plans_counts_and_events() {
        let plan = plan("We expect capital expenditures to be approximately $4 billion.");
        assert_eq!(plan, Some(Wanted::Plan { verb: "expect".into(), what: "capital expenditures".into() }));
        let count = count("As of May 31, 2025, we had approximately 77,800 employees worldwide, including part-time.");
        assert_eq!(count, Some(Wanted::Count { verb: "have".into(), what: "employees".into() }));
        let event = event("On March 28, 2024, we completed the acquisition of Acme for $3 billion.");
        assert_eq!(
            event,
            Some(Wanted::Event { when: "March 2024".into(), what: "completed the acquisition of Acme".into() })
        );
    }
}
