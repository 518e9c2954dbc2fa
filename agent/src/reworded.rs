//! Questions that ask in other words for what the choice among candidates knows: one of two years by which of them had more, a
//! measure by what it is worked out from.

use std::collections::HashSet;

use tabsegnet::{NodeKind, OpenDocument, Question, RankedNode, Ranking, RankingError};

use crate::answer::Answer;
use crate::rules::Policy;
use crate::words::last;
use crate::years::years;

/// Measures of a company by what they are worked out from, where its report does not state them.
#[rustfmt::skip]
const MEASURES: [(&[&str], &str); 8] = [
    (&["operating profit margin", "operating margin"], "{operating} as a percentage of {revenue}"),
    (&["pre-tax profit margin", "pre-tax margin", "pretax margin"], "{pretax} as a percentage of {revenue}"),
    (&["net profit margin", "net income margin", "net margin", "profit margin"], "{net} as a percentage of {revenue}"),
    (&["return on equity"], "{net} as a percentage of total equity"),
    (&["return on assets"], "{net} as a percentage of total assets"),
    (&["current ratio"], "ratio of total current assets to total current liabilities"),
    (&["free cash flow"], "difference between net cash provided by operating activities and capital expenditures"),
    (&["working capital"], "difference between total current assets and total current liabilities"),
];

/// What reports call the same, each by its place in [`MEASURES`], the usual name first.
#[rustfmt::skip]
const NAMES: [(&str, &[&str]); 4] = [
    ("{revenue}", &[
        "total revenues", "total net revenues", "total revenue", "total net sales", "net revenues", "net revenue", "net sales", "total sales",
        "revenues", "revenue", "sales",
    ]),
    ("{operating}", &["operating income", "income from operations", "operating profit", "operating earnings", "earnings from operations"]),
    ("{pretax}", &[
        "income before income taxes", "earnings before income taxes", "income before taxes", "pre-tax earnings",
        "income before provision for income taxes",
    ]),
    ("{net}", &["net income", "net earnings", "net profit"]),
];

/// A definition with what the document calls its parts: of the names of rows the first of the list that is one.
fn in_words_of(ranking: &Ranking, definition: &str) -> String {
    let rows: HashSet<String> =
        ranking.nodes.iter().filter_map(|node| node.row_headers.as_deref()).map(last_of).collect();
    let mut words = definition.to_owned();
    for (part, names) in NAMES {
        let name = names.iter().find(|name| rows.contains(**name)).or(names.first());
        words = words.replace(part, name.copied().unwrap_or_default());
    }
    words
}

/// The innermost header of a path, in lower case, without what stands in brackets: "income (loss) from operations".
fn last_of(path: &str) -> String {
    let mut words = last(path).to_lowercase();
    while let Some((start, end)) = words.find('(').and_then(|start| Some((start, start + words[start..].find(')')?))) {
        words.replace_range(start..=end, "");
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The answer of a policy to the question of a ranking of all nodes of a document. Where the question names a measure that the
/// document does not state, it is put as the question for what the measure is worked out from, which is in
/// [`Answer::read_as`]: "net margin" as "{net} as a percentage of {revenue}".
///
/// # Errors
/// What [`OpenDocument::rank`] says of that question.
pub fn answer_with(document: &OpenDocument, ranking: &Ranking, policy: &dyn Policy) -> Result<Answer, RankingError> {
    let Some(question) = by_definition(ranking) else { return Ok(policy.answer(ranking)) };
    let query = Question::new(&question).id(&ranking.question_id).top(usize::MAX).each_place();
    let answer = policy.answer(&document.rank(query)?);
    Ok(Answer { question: ranking.question.clone(), read_as: Some(question), ..answer })
}

/// The question for what a measure is worked out from, `None` where the question names none, or one that the document states.
fn by_definition(ranking: &Ranking) -> Option<String> {
    let text = &ranking.question;
    let lower = text.to_lowercase();
    let named = |names: &[&'static str]| names.iter().find_map(|name| Some((lower.find(name)?, *name)));
    let (names, by, (at, name)) = MEASURES.iter().find_map(|(names, by)| Some((names, by, named(names)?)))?;
    let has = |text: &str| names.iter().any(|name| text.to_lowercase().contains(name));
    let states = |node: &RankedNode| match node.kind {
        NodeKind::Cell => node.row_headers.iter().chain(&node.column_headers).any(|header| has(header)),
        NodeKind::Passage => node.text.contains(|c: char| c.is_ascii_digit()) && has(&node.text),
        _ => false,
    };
    if lower.len() != text.len() || ranking.nodes.iter().any(states) {
        return None;
    }
    let by = in_words_of(ranking, by);
    Some(format!("{}{by}{}", text.get(..at)?, text.get(at + name.len()..)?))
}

/// A question in which of two years there was more, or less, of something: "was it larger in 2016 or 2017".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Either {
    /// Whether it was more, or less, in the first year than in the second.
    question: String,
    years: [u16; 2],
}

impl Either {
    /// That of a question, `None` where it is no such one.
    pub fn of(question: &str) -> Option<Self> {
        const VERBS: [&str; 5] = ["was ", "were ", "did ", "is ", "are "];
        const MORE: [&str; 11] = [
            "larger", "higher", "bigger", "greater", "stronger", "more", "lower", "smaller", "weaker", "less", "fewer",
        ];
        let lower = question.to_lowercase();
        let (first, second) = question.split_once(" or ")?;
        let compares = lower.split(|c: char| !c.is_alphabetic()).any(|word| MORE.contains(&word));
        let is_asked = VERBS.iter().any(|verb| lower.starts_with(verb)) && compares;
        // Behind the second year stands nothing more.
        let last: u16 = second.trim_end_matches(['?', ' ', '.']).rsplit(' ').next()?.parse().ok()?;
        let ([(year, _)], [(other, _)]) = (&years(first)[..], &years(second)[..]) else { return None };
        let is_year = is_asked && *other == last && year != other;
        is_year.then(|| Self { question: format!("{first} than in {other}?"), years: [*year, *other] })
    }

    /// The ranking, of the question for yes or no.
    pub fn ranking(&self, ranking: &Ranking) -> Ranking {
        let read_as = ranking.read_as.as_deref().and_then(Self::of).map(|of| of.question);
        Ranking { question: self.question.clone(), read_as, ..ranking.clone() }
    }

    /// The year that yes or no means.
    pub fn year(&self, answer: Answer) -> Answer {
        let [first, second] = self.years;
        let year = match answer.answer.as_str() {
            "yes" => first,
            "no" => second,
            _ => return Answer::abstention(answer.confidence, answer.checks),
        };
        let text = year.to_string();
        Answer {
            answers: vec![text.clone()],
            value: Some(text.clone()),
            answer: text,
            unit: None,
            scale: None,
            ..answer
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Either, last_of};
    use crate::answer::Answer;

    #[test]
    fn rows_are_named_by_their_innermost_header() {
        assert_eq!(last_of("Total > Income (loss) from operations (a)"), "income from operations");
        assert_eq!(last_of("Sales ("), "sales (");
    }

    #[test]
    fn one_of_two_years_is_more_or_less_than_the_other() {
        let either = Either::of("Was Citizens' automobile book larger at the end of 2016 or 2017?").unwrap();
        assert_eq!(either.question, "Was Citizens' automobile book larger at the end of 2016 than in 2017?");
        let said = |answer: &str| either.year(Answer { answer: answer.into(), ..Answer::default() });
        assert_eq!((said("yes").answer, said("no").answer), ("2016".into(), "2017".into()));
        assert!(said("13,938").abstained);
        for question in [
            "Was it larger in 2016 than in 2017?",
            "Was the loan made in 2016 or 2017?",
            "Which was larger in 2016 or 2017?",
            "Was it larger in 2016 or 2017 in Europe?",
            "Was income or revenue larger in 2016?",
        ] {
            assert_eq!(Either::of(question), None, "{question}");
        }
    }
}
