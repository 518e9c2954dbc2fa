//! The company that a report is about: a question names it, and next to nothing in the report does.

use std::ops::Range;

/// What stands under the name on the cover of a report to the U.S. Securities and Exchange Commission.
const UNDER_NAME: &str = "exact name of registrant";
/// Texts of a document among which its cover is.
const COVER: usize = 300;
/// Words that are no part of what people call a company.
const FORMS: &[&str] =
    &["inc", "corp", "corporation", "company", "co", "ltd", "plc", "llc", "group", "incorporated", "de", "the", "com"];

/// What people call a company: its name without its legal form; nothing where nothing is left.
pub fn short_name(name: &str) -> Option<String> {
    let words = name.split(|c: char| c.is_whitespace() || ",./".contains(c)).filter(|word| !word.is_empty());
    let kept = words.filter(|word| !FORMS.contains(&word.to_lowercase().as_str()));
    // In capitals throughout only what has five letters or more is no abbreviation.
    let capitals = |word: &str| word.len() > 4 && word.chars().all(char::is_uppercase);
    let of_word = |word: &str| match capitals(word) {
        true => word.chars().take(1).chain(word.to_lowercase().chars().skip(1)).collect(),
        false => word.to_owned(),
    };
    let kept: Vec<String> = kept.map(of_word).collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// The names of the company that a document is a report of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Company {
    /// In small letters, the longest first.
    names: Vec<String>,
}

impl Company {
    /// As the cover has it; `texts` are the document's, in order. Without such a cover no name is known.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut before = "";
        for text in texts.into_iter().take(COVER) {
            let lower = text.to_lowercase();
            if let Some(at) = lower.find(UNDER_NAME) {
                // In one text, or in the one before.
                let own = text.get(..at).unwrap_or_default().trim_end_matches(['(', ' ', '\u{a0}']);
                return Self::named(if own.trim().is_empty() { before } else { own });
            }
            if text.chars().any(char::is_alphabetic) {
                before = text;
            }
        }
        Self::default()
    }

    fn named(name: &str) -> Self {
        let Some(short) = short_name(name) else { return Self::default() };
        let short = short.to_lowercase();
        let mut names = vec![format!("the {short}"), short.clone()];
        if let [first, rest @ ..] = short.split_whitespace().collect::<Vec<_>>().as_slice()
            && rest.contains(&"&")
        {
            // `P&G`
            let letter = |word: &&str| word.chars().next().unwrap_or_default();
            names.push(std::iter::once(first).chain(rest).map(letter).collect());
        }
        if !name.trim().to_lowercase().starts_with("the ") {
            names.remove(0);
        }
        Self { names }
    }

    /// A question with "the company" for its name: the name tells a report from others and no place in it from another.
    /// A name that is part of another thing's ("the Nike brand", "Nike Direct") stays. Nothing where the question does not name it.
    pub fn unnamed(&self, question: &str) -> Option<String> {
        let (mut text, mut rest) = (String::new(), 0);
        while let Some(found) = self
            .names
            .iter()
            .filter_map(|name| find(question, name, rest))
            .min_by_key(|r| (r.start, usize::MAX - r.end))
        {
            let capital = text.is_empty() && question[..found.start].trim().is_empty();
            text += &question[rest..found.start];
            text += if capital { "The company" } else { "the company" };
            rest = found.end;
        }
        (rest > 0).then(|| text + &question[rest..])
    }
}

/// Where a question has a name as a word, or words, of its own, from a byte on.
fn find(question: &str, name: &str, from: usize) -> Option<Range<usize>> {
    let lower = question.to_ascii_lowercase();
    let joins = |c: char| c.is_alphanumeric() || c == '&' || c == '-';
    lower.get(from..)?.match_indices(name).map(|(at, _)| from + at..from + at + name.len()).find(|range| {
        let (before, after) = (&lower[..range.start], &lower[range.end..]);
        let apart = !before.ends_with(joins) && !after.starts_with(joins);
        let possessive = after.starts_with(['\'', '’']);
        let part_of_other = ["the", "a", "an"].iter().any(|word| {
            before.trim_end() != before
                && before.trim_end().ends_with(word)
                && !before.trim_end().trim_end_matches(word).ends_with(char::is_alphanumeric)
        });
        apart && (possessive || !part_of_other && !goes_on(&question[range.end..]))
    })
}

/// Whether what follows a name makes another of it: "Direct" of "NIKE Direct revenues", but no legal form and nothing in capitals
/// throughout, as in "NIKE EBITDA".
fn goes_on(after: &str) -> bool {
    let Some(next) = after.strip_prefix(' ').and_then(|after| after.split([' ', ',', '?', '.', '\'', '’']).next())
    else {
        return false;
    };
    let mut letters = next.chars();
    let named = letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
    named && !FORMS.contains(&next.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_forms_and_capitals_go() {
        let names = ["NIKE, Inc.", "The Procter & Gamble Company", "THE HOME DEPOT, INC.", "IBM Corp", "The Company"];
        assert_eq!(
            names.map(short_name).map(Option::unwrap_or_default),
            ["NIKE", "Procter & Gamble", "HOME Depot", "IBM", ""]
        );
    }

    #[test]
    fn a_question_about_the_company_is_about_no_part_of_its_report() {
        let company = Company::of([
            "FORM 10-K",
            "",
            "THE PROCTER & GAMBLE COMPANY",
            "(Exact name of registrant as specified in its charter)",
        ]);
        let read = |question: &str| company.unnamed(question);
        assert_eq!(read("P&G's D&A in 2025?").as_deref(), Some("The company's D&A in 2025?"));
        assert_eq!(
            read("What does Procter & Gamble owe P&G?").as_deref(),
            Some("What does the company owe the company?")
        );
        assert_eq!(read("Is the Procter & Gamble’s debt due?").as_deref(), Some("Is the company’s debt due?"));
        assert_eq!(read("What did Gamble say?"), None);
        let nike = Company::of(["NIKE, Inc. (Exact name of Registrant as specified)"]);
        assert_eq!(
            nike.unnamed("How much footwear did the Nike brand sell at Nike?").as_deref(),
            Some("How much footwear did the Nike brand sell at the company?")
        );
        assert_eq!(nike.unnamed("What were NIKE Direct revenues?"), None);
        assert_eq!(nike.unnamed("Nike Inc EBITDA?").as_deref(), Some("The company Inc EBITDA?"));
        assert_eq!(
            nike.unnamed("Nike EBITDA, and Nike's Direct revenues?").as_deref(),
            Some("The company EBITDA, and the company's Direct revenues?")
        );
        assert_eq!(nike.unnamed("Nikes and nike-like"), None);
        assert_eq!(Company::of(["Annual report", "Nike"]), Company::default());
        assert_eq!(Company::default().unnamed("Nike's sales?"), None);
    }
}
