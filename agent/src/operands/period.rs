//! The time that a question is about, taken out of a question.

use crate::years::{is_month, named_years, years};

/// What a question says beside when, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dated {
    /// The question without its period and its mark.
    pub rest: String,
    /// `in 2024`, `at the end of fiscal 2023 and 2024`; empty where no year is named.
    pub period: String,
    /// Its years, in their order.
    pub years: Vec<u16>,
}

/// What a period begins with.
const BEGINS: [&str; 12] =
    ["in", "for", "during", "at", "as", "from", "between", "over", "since", "through", "by", "on"];
/// What stands within one.
const WITHIN: [&str; 17] = [
    "of", "the", "end", "year", "year-end", "fiscal", "fy", "ended", "ending", "calendar", "to", "and", "than",
    "years", "versus", "vs", "with",
];

/// Years that are looked up one by one.
const SPAN: u16 = 6;

impl Dated {
    /// That of a question.
    pub fn of(question: &str) -> Self {
        let words: Vec<&str> = question.split_whitespace().collect();
        let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let is_year = |word: &&str| !years(word).is_empty();
        let is_day = |word: &str| word.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
        let is = |word: &str, of: &[&str]| of.contains(&word);
        let belongs = |word: &str| is(word, &WITHIN) || is(word, &BEGINS) || is_month(word) || is_day(word);
        let rest = |words: Vec<&str>| {
            let text = words.join(" ").replace(" ,", ",");
            text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '.' | ',' | ':')).to_owned()
        };
        let (Some(first), Some(last)) = (words.iter().position(is_year), words.iter().rposition(is_year)) else {
            return Self { rest: rest(words), period: String::new(), years: Vec::new() };
        };
        // Years that are apart are of two things.
        let is_one = words[first..last].iter().all(|word| is_year(word) || belongs(&bare(word)));
        let last = if is_one { last } else { first };
        let before = words[..first]
            .iter()
            .rev()
            .take_while(|word| belongs(&bare(word)) && (!word.ends_with(',') || is_day(&bare(word))))
            .count();
        let begins = |word: &&&str| {
            let word = bare(word);
            is(&word, &BEGINS) || is(&word, &["fiscal", "fy", "calendar"]) || is_month(&word)
        };
        let mut start = (first - before..first).find(|at| begins(&&words[*at])).unwrap_or(first);
        // "Take in during 2023".
        while start + 1 < first && [start, start + 1].iter().all(|at| is(&bare(words[*at]), &BEGINS)) {
            start += 1;
        }
        let period = words[start..=last].join(" ");
        let period = period.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let named = named_years(&period);
        let mut others: Vec<&str> = words[..start].to_vec();
        // The comma behind the period ends what stands before it.
        if words[last].ends_with(',') && start > 0 {
            others.push(",");
        }
        others.extend(&words[last + 1..]);
        Self { rest: rest(others), years: named, period }
    }

    /// Its years with those between two that it reaches from and to; of more than [`SPAN`] the named ones.
    pub fn span(&self) -> Vec<u16> {
        let reaches = ["to", "through", "between", "until"];
        let words = self.period.to_lowercase();
        let is_span = words.split(' ').any(|word| reaches.contains(&word)) && !words.contains(" than ");
        match self.years[..] {
            [from, to] if is_span && from < to && to - from < SPAN => (from..=to).collect(),
            _ => self.years.clone(),
        }
    }

    /// The period as it stands behind what it is of: `in 2024`.
    pub fn suffix(&self) -> String {
        let begins = self.period.split(' ').next().is_some_and(|word| BEGINS.contains(&word.to_lowercase().as_str()));
        match self.period.is_empty() {
            true => String::new(),
            false if begins => format!(" {}", self.period),
            false => format!(" in {}", self.period),
        }
    }

    /// The same for one of its years, or one beside them.
    pub fn suffix_of(&self, year: u16) -> String {
        let period = self.period.to_lowercase();
        let fiscal = if period.contains("fiscal") || period.contains("fy") { "fiscal " } else { "" };
        let at_end = ["end", "year-end"].iter().any(|word| period.split(' ').any(|of| of == *word));
        if at_end { format!(" at the end of {fiscal}{year}") } else { format!(" in {fiscal}{year}") }
    }
}

#[cfg(test)]
mod tests {
    use super::Dated;

    #[test]
    fn periods_are_taken_out_of_questions() {
        for (question, rest, period, years) in [
            ("What was capex in 2024?", "What was capex", "in 2024", &[2024][..]),
            ("In fiscal 2024, what was capex?", "what was capex", "In fiscal 2024", &[2024]),
            ("What share of 2023 revenue was cost?", "What share of revenue was cost", "2023", &[2023]),
            (
                "By how much did capex go up from 2022 to 2023?",
                "By how much did capex go up",
                "from 2022 to 2023",
                &[2022, 2023],
            ),
            (
                "How much bigger was cash at the end of 2023 than at the end of 2024?",
                "How much bigger was cash",
                "at the end of 2023 than at the end of 2024",
                &[2023, 2024],
            ),
            (
                "How much debt is there at the end of 2024, short and long?",
                "How much debt is there, short and long",
                "at the end of 2024",
                &[2024],
            ),
            ("What was debt on December 31, 2024?", "What was debt", "on December 31, 2024", &[2024]),
            ("What did it take in during 2024?", "What did it take in", "during 2024", &[2024]),
            ("Sales plus rent?", "Sales plus rent", "", &[]),
            ("", "", "", &[]),
        ] {
            let dated = Dated::of(question);
            assert_eq!(
                (dated.rest.as_str(), dated.period.as_str(), &dated.years[..]),
                (rest, period, years),
                "{question}"
            );
        }
        assert_eq!(Dated::of("What was 2023 revenue?").suffix(), " in 2023");
        assert_eq!(Dated::of("Cash at the end of fiscal 2024?").suffix_of(2023), " at the end of fiscal 2023");
    }
}
