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

/// The same as nouns.
const CHANGES: [&str; 10] = [
    "the rise in", "the fall in", "the drop in", "the jump in", "the increase in", "the decrease in", "the decline in",
    "the growth in", "the climb in", "the slide in",
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
    let text = replaced(&text, "fewest", "lowest number of");
    if let Some(amount) = AMOUNTS.iter().find(|amount| place(&text, amount).is_some()) {
        if place(&text, "exceed").is_some() {
            return replaced(&replaced(&text, amount, "what was the difference between"), "exceed", "and");
        }
        if let Some(verb) = MOVES.iter().find(|verb| place(&text, verb).is_some()) {
            let with = if *verb == "gain in" { "in" } else { "" };
            return over_a_year(replaced(&replaced(&text, verb, with), amount, "what was the change in"));
        }
    }
    if let Some(far) = FAR.iter().find(|far| place(&text, far).is_some())
        && let Some(from) = FROM.iter().find(|from| place(&text, from).is_some())
    {
        return replaced(&replaced(&text, far, "what was the difference between"), from, "and");
    }
    if let Some(change) = CHANGES.iter().find(|change| place(&text, change).is_some())
        && text.trim_start().starts_with("how ")
    {
        let (at, _) = text.split_at(place(&text, change).unwrap_or_default());
        return over_a_year(text.replacen(&format!("{at}{change}"), " what was the change in", 1));
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
        if start.starts_with(part) {
            return replaced(&text, part, "what percentage of");
        }
    }
    if TOGETHER.iter().any(|together| place(&text, together).is_some()) {
        return format!(" what was the total of{text}");
    }
    text
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
                "by how much did the tax paid exceed the charge?",
                "what was the difference between the tax paid and the charge?",
            ),
            (
                "how far was the fair value of debt below its carrying amount at the end of 2007?",
                "what was the difference between the fair value of debt and its carrying amount at the end of 2007?",
            ),
            (
                "by how many percentage points did its ratio exceed the minimum?",
                "what was the difference between its ratio and the minimum?",
            ),
            ("what part of sales was made abroad?", "what percentage of sales was made abroad?"),
            ("how steep was the fall in profit from 2024 to 2025?", "what was the change in profit from 2024 to 2025?"),
            (
                "how many more dollars of profit did it make in 2024 than the year before?",
                "what was the change in profit did it make in 2024 than 2023?",
            ),
            (
                "how much more did it pay for a than for b in 2024?",
                "what was the difference in did it pay for a than for b in 2024?",
            ),
            ("which month had the fewest visits?", "which month had the lowest number of visits?"),
            ("what slice of 2025 sales was in europe?", "what percentage of 2025 sales was in europe?"),
            ("what % of sales was made abroad, 5% or 6 %?", "what percentage of sales was made abroad, 5% or 6 %?"),
            ("share of sales made abroad?", "what percentage of sales made abroad?"),
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
