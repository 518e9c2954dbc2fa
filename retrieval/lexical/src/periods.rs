//! Years that a question means without their number: "in 2024, and the year before".

use crate::tokenize;

/// The year before the one that a question names, and the one before that; a phrase before those that are its end.
const BEFORE: [(&str, u16); 19] = [
    ("two years before", 2),
    ("two years earlier", 2),
    ("two years prior", 2),
    ("two years ago", 2),
    ("the year before", 1),
    ("the year earlier", 1),
    ("the year prior", 1),
    ("a year before", 1),
    ("a year earlier", 1),
    ("one year before", 1),
    ("one year earlier", 1),
    ("twelve months before", 1),
    ("twelve months earlier", 1),
    ("12 months earlier", 1),
    ("the prior year", 1),
    ("the previous year", 1),
    ("the preceding year", 1),
    ("prior year", 1),
    ("previous year", 1),
];

/// Whether a token (see [`tokenize`]) is the number of a year of these times: 1900 to 2099.
pub fn is_year(token: &str) -> bool {
    token.len() == 4 && token.parse().is_ok_and(|year: u16| (1900..2100).contains(&year))
}

/// The year that a token is, or with the token before it: `2024`, `FY24`.
pub(crate) fn year_at(tokens: &[String], at: usize) -> Option<u16> {
    let token = tokens.get(at)?;
    let is_short = token.len() == 2 && at.checked_sub(1).is_some_and(|before| tokens[before] == "fy");
    match token.parse::<u16>() {
        Ok(year) if is_short => Some(2000 + year),
        Ok(year) if is_year(token) => Some(year),
        _ => None,
    }
}

/// The years that a text names, each once, in its order.
fn named(text: &str) -> Vec<u16> {
    let tokens = tokenize(text);
    let mut named = Vec::new();
    for year in (0..tokens.len()).filter_map(|at| year_at(&tokens, at)) {
        if !named.contains(&year) {
            named.push(year);
        }
    }
    named
}

/// Behind "the year before" what it was before: another thing than the year that the question names.
const OF_OTHERS: [&str; 9] = ["the", "a", "an", "its", "it", "they", "we", "he", "she"];

/// Whether a text says what the year before it is, or what that was before.
fn says_which(after: &str) -> bool {
    let tokens = tokenize(after);
    let mut tokens = tokens.iter().map(String::as_str);
    let next = tokens.next().unwrap_or_default();
    let apart = after.trim_start().starts_with([',', '(', '-', '–', '—', ':']);
    let mut number = next;
    let mut last = "";
    while matches!(number, "in" | "fiscal" | "fy" | "year") {
        (last, number) = (number, tokens.next().unwrap_or_default());
    }
    is_year(number) || (last == "fy" && number.len() == 2) || (!apart && OF_OTHERS.contains(&next))
}

/// A question with fiscal years in full: `FY24`, `FY'24`, `FY2024` and `YE24` as `fiscal 2024`; `None` where it has none.
pub fn with_full_years(question: &str) -> Option<String> {
    let mut full = String::with_capacity(question.len() + 8);
    let mut rest = 0;
    for (at, _) in question.char_indices() {
        let starts = at >= rest && !question[..at].ends_with(|c: char| c.is_alphanumeric());
        let short = question.get(at..at + 2).filter(|short| starts && ["FY", "YE", "fy"].contains(short));
        let Some(after) = short.and_then(|_| question.get(at + 2..)) else { continue };
        let digits = after.trim_start_matches([' ', '\'', '\u{2019}']);
        let number: String = digits.chars().take_while(char::is_ascii_digit).collect();
        let joined = digits[number.len()..].starts_with(|c: char| c.is_alphanumeric());
        let year = match (number.len(), number.parse::<u16>()) {
            (2, Ok(year)) => 2000 + year,
            (4, Ok(year)) if is_year(&number) => year,
            _ => continue,
        };
        if !joined {
            full += &question[rest..at];
            full += &format!("fiscal {year}");
            rest = question.len() - digits.len() + number.len();
        }
    }
    full += &question[rest..];
    (rest > 0).then_some(full)
}

/// A question with the number of a year that it names as the one before the only other one; `None` where it names none so.
pub fn with_years(question: &str) -> Option<String> {
    let [year] = named(question)[..] else { return None };
    let lower = question.to_ascii_lowercase();
    let apart = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    BEFORE.iter().find_map(|(phrase, earlier)| {
        let at = lower
            .match_indices(phrase)
            .map(|(at, _)| at)
            .find(|at| apart(lower[..*at].chars().next_back()) && apart(lower[at + phrase.len()..].chars().next()))?;
        let after = &question[at + phrase.len()..];
        // "the year before 2024"
        if let Some(rest) = after.trim_start().strip_prefix(&year.to_string()) {
            return Some(format!("{}{}{rest}", &question[..at], year - earlier));
        }
        if says_which(after) {
            return None;
        }
        Some(format!("{}{}{}", &question[..at], year - earlier, after))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_year_before_has_its_number() {
        for (question, read) in [
            ("Taxes paid in 2024, and the year before?", "Taxes paid in 2024, and 2023?"),
            ("Sales in FY25 against two years earlier", "Sales in FY25 against 2023"),
            ("Did the Prior Year, unlike 2024, have it?", "Did 2023, unlike 2024, have it?"),
            ("Sales in the year before 2023?", "Sales in 2022?"),
            ("Sales in 2024, the year before and growth?", "Sales in 2024, 2023 and growth?"),
            ("Was the year before, the one without growth, like 2024?", "Was 2023, the one without growth, like 2024?"),
        ] {
            assert_eq!(with_years(question).as_deref(), Some(read));
        }
        for question in [
            "Sales the year before?",
            "Sales in 2024 and 2022, and the year before",
            "2024 prior yearly sales",
            "2024",
            "Sales the year before, fiscal 2023?",
            "Sales the year before (FY23)?",
            "What were sales the year before, in fiscal year 2023?",
            "Sales in 2023, the year before it was sold?",
        ] {
            assert_eq!(with_years(question), None, "{question}");
        }
    }

    #[test]
    fn fiscal_years_are_written_out() {
        for (question, read) in [
            ("Sales FY24 vs FY'23?", "Sales fiscal 2024 vs fiscal 2023?"),
            ("Cash at YE24 and in FY 2023", "Cash at fiscal 2024 and in fiscal 2023"),
        ] {
            assert_eq!(with_full_years(question).as_deref(), Some(read));
        }
        for question in ["Sales in 2024", "FY", "FY245", "FY24x", "IFY24", "the FY\u{2019}s end", ""] {
            assert_eq!(with_full_years(question), None, "{question}");
        }
    }

    proptest! {
        #[test]
        fn any_year_is_written_out(text in "(FY|YE|fy|'|\u{2019}| |24|2024|é|x){0,12}") {
            let _ = with_full_years(&text);
        }

        #[test]
        fn any_text_is_read(before in "\\PC{0,20}", after in "\\PC{0,20}") {
            let _ = with_years(&format!("{before} the year before 2024 {after}"));
        }
    }
}
