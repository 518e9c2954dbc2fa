//! Questions in which of two years there was more, which is the one in which there was more than in the other.

use tabsegnet::Ranking;

use crate::answer::Answer;
use crate::choice::Candidates;
use crate::years::years;

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

    /// The candidates for yes or no.
    pub fn candidates(&self, ranking: &Ranking) -> Candidates {
        let read_as = ranking.read_as.as_deref().and_then(Self::of).map(|of| of.question);
        Candidates::of_question(ranking, &self.question, read_as.as_deref())
    }

    /// The year that yes or no means.
    pub fn year(&self, answer: Answer) -> Answer {
        let [first, second] = self.years;
        let year = match answer.answer.as_str() {
            "yes" => first,
            "no" => second,
            _ => return Answer::abstention(answer.confidence, answer.checks),
        };
        answer.saying(year.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::Either;
    use crate::answer::Answer;

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
