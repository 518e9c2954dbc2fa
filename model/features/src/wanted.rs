//! Questions for a reason or an amount, and sentences that give one.
//!
//! No cell says why, and no sentence without a number says how much. What is learnt knows that poorly: of the questions that
//! come with numbers next to none asks why, and each has its number in sight.

use tabsegnet_document::months::MONTHS;
use tabsegnet_lexical::periods::is_year;
use tabsegnet_lexical::tokenize;

/// What may stand between "what" and what it did.
const BETWEEN: [&str; 11] = ["s", "is", "was", "were", "lay", "lies", "has", "had", "have", "been", "really"];

/// What something did that is a reason.
const CAUSES: [&str; 25] = [
    "behind",
    "driving",
    "driven",
    "drove",
    "caused",
    "causing",
    "pushed",
    "lifted",
    "dragged",
    "led",
    "prompted",
    "explains",
    "explained",
    "triggered",
    "hurt",
    "helped",
    "weighed",
    "boosted",
    "sank",
    "dented",
    "ate",
    "fuelled",
    "fueled",
    "accounts",
    "factors",
];

/// Behind "how", a question for an amount; "what" and "by" are followed by the others.
const HOW: [&str; 9] = ["much", "many", "big", "large", "far", "high", "low", "deep", "steep"];
const WHAT: [&str; 9] = ["share", "percentage", "percent", "portion", "amount", "total", "rate", "price", "value"];

/// A question without any of these is the name of what is wanted: "capex in 2024?".
#[rustfmt::skip]
const ASKING: [&str; 29] = [
    "who", "whom", "whose", "why", "which", "where", "when", "what", "how", "did", "does", "do", "is", "are", "was", "were", "has",
    "have", "had", "will", "would", "could", "can", "if", "explain", "describe", "because", "whether", "reason",
];

/// Before a number that is no amount.
const REFERS: [&str; 12] =
    ["note", "notes", "item", "part", "section", "level", "form", "rule", "asc", "asu", "topic", "exhibit"];

/// Numbers in words.
const NUMBERS: [&str; 16] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "dozen", "hundred",
    "thousand", "million", "billion",
];

/// Phrases of a sentence that gives a reason, in its words with one blank between.
const GIVEN: [&str; 23] = [
    "due to",
    "driven by",
    "because",
    "result of",
    "resulted from",
    "resulting from",
    "attributable to",
    "attributed to",
    "reflect",
    "reflects",
    "reflected",
    "reflecting",
    "owing to",
    "caused by",
    "in response to",
    "offset by",
    "led to",
    "contributed to",
    "in order to",
    "so that",
    "therefore",
    "impact of",
    "effect of",
];

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether a question asks why: with that word, for reasons, or what it was that did something ("what drove", "what's
/// behind").
pub fn asks_for_reason(question: &str) -> bool {
    let words: Vec<String> = words(question).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let did = |rest: &[&str]| {
        let mut rest = rest.iter().skip_while(|word| BETWEEN.contains(word));
        rest.next().is_some_and(|word| CAUSES.contains(word))
    };
    (0..words.len()).any(|at| match &words[at..] {
        ["why" | "reason" | "reasons" | "explain", ..] | ["how", "come", ..] => true,
        ["what", rest @ ..] => did(rest),
        _ => false,
    })
}

/// Whether a question asks how much, or names something and a year, and no more.
pub fn asks_for_amount(question: &str) -> bool {
    let words: Vec<String> = words(question).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let asks = words.windows(2).any(|pair| match pair {
        ["how", next] => HOW.contains(next),
        ["what", next] => WHAT.contains(next),
        ["by", next] => *next == "how",
        _ => false,
    });
    let names = || {
        let of_year =
            question.contains("last year") || tokenize(question).iter().any(|token| is_year(token) || token == "fy");
        of_year && !words.iter().any(|word| ASKING.contains(word))
    };
    asks || names()
}

/// Whether a text has a number that may be an amount: no year, no day of a month, no number of a note.
pub fn has_amount(text: &str) -> bool {
    let tokens = tokenize(text);
    tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map_or("", String::as_str);
        let is_day = MONTHS.iter().any(|month| before.len() >= 3 && month.starts_with(before));
        let is_number = token.starts_with(|c: char| c.is_ascii_digit()) && !is_year(token) && !is_day;
        (is_number || NUMBERS.contains(&token.as_str())) && !REFERS.contains(&before)
    })
}

/// Whether a sentence says what something comes from.
pub fn gives_reason(sentence: &str) -> bool {
    let mut text = String::from(" ");
    words(sentence).for_each(|word| text += &(word + " "));
    GIVEN.iter().any(|phrase| text.contains(&format!(" {phrase} ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn some_questions_ask_for_a_reason() {
        for question in [
            "Why did margins fall?",
            "Margins fell in 2024 - why?",
            "What's behind the slump in sales?",
            "what drove R&D up",
            "What was driving costs?",
            "What factors led to the decline?",
            "Give the reason for the impairment.",
            "How come taxes rose?",
        ] {
            assert!(asks_for_reason(question), "{question}");
        }
        for question in [
            "What was revenue in 2024?",
            "What percentage of sales was driven by services?",
            "What is the change in net income?",
            "How much did costs come to?",
            "What made up total assets?",
            "",
        ] {
            assert!(!asks_for_reason(question), "{question}");
        }
    }

    #[test]
    fn some_questions_ask_for_an_amount() {
        for question in [
            "How much did it cost?",
            "By how many points did margins move?",
            "And what share of sales is that?",
            "data center revenue FY25?",
            "Capex for 2024, please",
            "effective tax rate, last year",
        ] {
            assert!(asks_for_amount(question), "{question}");
        }
        for question in
            ["Which law is a risk in 2024?", "What became of the plan?", "Tell me of the plan.", "Brands?", ""]
        {
            assert!(!asks_for_amount(question), "{question}");
        }
    }

    #[test]
    fn some_texts_have_an_amount() {
        for text in
            ["It was up 142% from a year ago.", "$5 million in 2024", "On May 3, 12 stores were shut.", "Three events"]
        {
            assert!(has_amount(text), "{text}");
        }
        for text in ["In 2024 it rose.", "See Note 12 as of December 31, 2024.", "Sales", "On Dec. 5 of 1999"] {
            assert!(!has_amount(text), "{text}");
        }
    }

    #[test]
    fn some_sentences_give_one() {
        assert!(gives_reason("The decrease was primarily due to lower volumes."));
        assert!(gives_reason("This reflects, in part, higher wages"));
        assert!(!gives_reason("Net sales were $5 million; duet, overdue torts."));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(text in "\\PC{0,60}") {
            let _ = (asks_for_reason(&text), gives_reason(&text), asks_for_amount(&text), has_amount(&text));
        }
    }
}
