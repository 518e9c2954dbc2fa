//! How people ask for something worked out, in the words that usually ask for arithmetic: "how far did sales come down in
//! 2024" asks for the change in sales from 2023 to 2024.

use tabsegnet_lexical::periods::with_years;

use crate::walk::wording::place;
use crate::years::named_years;

/// What begins a question for an amount of change where a verb of [`MOVES`] follows.
const AMOUNTS: [&str; 14] = [
    "by how much did", "by how many dollars did", "by how many points did", "by how many percentage points did",
    "by how many basis points did", "by what amount did", "how much did", "how many dollars did",
    "how many points did", "how far did", "how far has", "how much has", "how much have", "how far have",
];

/// Verbs of change; a phrase before the phrases that begin it.
#[rustfmt::skip]
pub(crate) const MOVES: [&str; 53] = [
    "go up", "gone up", "went up", "go down", "gone down", "went down", "come down", "came down", "build up", "built up",
    "rise", "risen", "rose", "climbed", "climb", "jumped", "jump", "widened", "widen", "narrowed", "narrow", "swelled",
    "swell", "deepened", "deepen", "expanded", "expand", "improved", "improve", "fallen", "fall", "fell", "dropped", "drop",
    "slid", "slide", "shrunk", "shrink", "shrank", "dipped", "dip", "slipped", "slip", "trimmed", "trim", "grown", "grow",
    "grew", "move", "increase", "decrease", "decline", "gain in",
];

/// Comparatives of amounts.
#[rustfmt::skip]
const COMPARED: [&str; 13] = [
    "how many more dollars of", "how many more dollars", "how many dollars more", "how much more", "how many more", "how much higher", "how much larger",
    "how much bigger", "how much deeper", "how much less", "how much lower", "how much smaller", "how many fewer",
];

/// How far one is from another.
const FAR: [&str; 4] = ["how far was", "how far were", "how far is", "how far are"];
const FROM: [&str; 5] = ["below", "above", "short of", "under", "over"];

/// Words for a part of a whole.
const PARTS: [&str; 5] = ["slice of", "fraction of", "share of", "proportion of", "part of"];

/// Words for several things taken together.
const TOGETHER: [&str; 6] = ["together", "all told", "put together", "taken together", "in combination", "add up to"];

/// A question in lower case with a space before and behind, as it would be put in usual words.
pub(crate) fn usual(text: &str) -> String {
    let text = with_percentages(&with_years(text).unwrap_or_else(|| text.to_owned()));
    let text = judged(&replaced(&text, "fewest", "lowest number of"));
    if let Some(amount) = AMOUNTS.iter().find(|amount| place(&text, amount).is_some())
        && let Some(verb) = MOVES.iter().find(|verb| place(&text, verb).is_some())
    {
        let with = if *verb == "gain in" { "in" } else { "" };
        return over_a_year(replaced(&replaced(&text, verb, with), amount, "what was the change in"));
    }
    if let Some(far) = FAR.iter().find(|far| place(&text, far).is_some())
        && let Some(from) = FROM.iter().find(|from| place(&text, from).is_some())
    {
        return replaced(&replaced(&text, far, "what was the difference between"), from, "and");
    }
    if let Some(compared) = COMPARED.iter().find(|compared| place(&text, compared).is_some()) {
        let what = if named_years(&text).len() > 1 { "change" } else { "difference" };
        return replaced(&text, compared, &format!("what was the {what} in"));
    }
    if let Some(part) = PARTS.iter().find(|part| place(&text, part).is_some()) {
        let start = text.trim_start();
        if ["what", "which"].iter().any(|word| start.starts_with(&format!("{word} {part}"))) {
            return replaced(&text, part, "percentage of");
        }
    }
    if TOGETHER.iter().any(|together| place(&text, together).is_some()) {
        return format!(" what was the total of{text}");
    }
    text
}

/// "Which plant had the worst availability": the lowest, and of costs the highest.
fn judged(text: &str) -> String {
    const WORDS: [(&str, bool); 8] = [
        ("best", true),
        ("strongest", true),
        ("fattest", true),
        ("richest", true),
        ("worst", false),
        ("weakest", false),
        ("poorest", false),
        ("thinnest", false),
    ];
    #[rustfmt::skip]
    const BETTER_LOW: [&str; 12] = [
        "cost", "expense", "loss", "debt", "accident", "complaint", "churn", "delay", "error", "defect", "emission", "downtime",
    ];
    let asks = place(text, "which").is_some_and(|at| text[..at].trim().split(' ').count() < 3);
    let Some((word, good)) = WORDS.iter().find(|(word, _)| asks && place(text, word).is_some()) else {
        return text.to_owned();
    };
    let behind = text.split_once(word).map_or("", |(_, behind)| behind);
    let is_reversed = BETTER_LOW.iter().any(|of| behind.contains(of));
    replaced(text, word, if *good == is_reversed { "lowest" } else { "highest" })
}

/// `%` that stands behind no number is the word.
fn with_percentages(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' if !read.trim_end().ends_with(|before: char| before.is_ascii_digit()) => read += "percentage",
            other => read.push(other),
        }
    }
    read
}

/// With the year before where one year is named: a change in a year is one from the year before.
fn over_a_year(text: String) -> String {
    match named_years(&text)[..] {
        [year] => format!("{}from {} to {year} ", text.trim_end_matches(['?', ' ', '.']).to_owned() + " ", year - 1),
        _ => text,
    }
}

/// With another phrase in the place of its first.
fn replaced(text: &str, phrase: &str, by: &str) -> String {
    match place(text, phrase) {
        Some(at) => format!("{}{by}{}", &text[..at], &text[at + phrase.len()..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::usual;

    #[test]
    fn arithmetic_is_asked_for_in_usual_words() {
        for (question, expected) in [
            (
                "by how many dollars did r&d spend go up in 2025?",
                "what was the change in r&d spend  in 2025 from 2024 to 2025",
            ),
            (
                "how far did its reserve come down in the course of 2024?",
                "what was the change in its reserve  in the course of 2024 from 2023 to 2024",
            ),
            ("how much did sales slide between 2023 and 2024?", "what was the change in sales  between 2023 and 2024?"),
            (
                "how many dollars did the top line gain in 2024?",
                "what was the change in the top line in 2024 from 2023 to 2024",
            ),
            (
                "how far was the fair value of debt below its carrying amount at the end of 2007?",
                "what was the difference between the fair value of debt and its carrying amount at the end of 2007?",
            ),
            ("what part of sales was made abroad?", "what percentage of sales was made abroad?"),
            (
                "how many more dollars of profit did it make in 2024 than the year before?",
                "what was the change in profit did it make in 2024 than 2023?",
            ),
            (
                "how much more did it pay for a than for b in 2024?",
                "what was the difference in did it pay for a than for b in 2024?",
            ),
            ("which plant had the worst availability?", "which plant had the lowest availability?"),
            ("which of them has the worst cost per seat?", "which of them has the highest cost per seat?"),
            ("what was the best estimate of the loss?", "what was the best estimate of the loss?"),
            ("which month had the fewest visits?", "which month had the lowest number of visits?"),
            ("what slice of 2025 sales was in europe?", "what percentage of 2025 sales was in europe?"),
            ("what % of sales was made abroad, 5% or 6 %?", "what percentage of sales was made abroad, 5% or 6 %?"),
            (
                "dividends and buybacks together in 2024?",
                "what was the total of dividends and buybacks together in 2024?",
            ),
        ] {
            assert_eq!(usual(&format!(" {question} ")).trim(), expected);
        }
        for same in [
            "what were dividends per share of common stock in 2024?",
            "how much did it pay in 2024?",
            "gains in 2024?",
            "",
        ] {
            assert_eq!(usual(&format!(" {same} ")).trim(), same);
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "\\PC{0,20}(how far did|share of|the year before|fall)?\\PC{0,20}(2024|1)?\\PC{0,5}") {
            usual(&text.to_lowercase());
        }
    }
}
