//! Questions for a reason, an amount, a change or what it was in one year, and sentences and columns that give one.
//!
//! No cell says why, no sentence without a number says how much, and one that says by how much it rose seldom says what it
//! was; a column of changes says nothing else. What is learnt knows that poorly: of the questions that come with numbers next to
//! none asks why, each has its number in sight, and what changed is mostly to be worked out.

use tabsegnet_document::months::MONTHS;
use tabsegnet_lexical::periods::is_year;
use tabsegnet_lexical::tokenize;

/// What may stand between "what" and what it did.
const BETWEEN: [&str; 11] = ["s", "is", "was", "were", "lay", "lies", "has", "had", "have", "been", "really"];

/// Between "what" or "give" and a reason, beside these.
const OF_REASONS: [&str; 11] =
    ["the", "are", "me", "any", "main", "key", "primary", "principal", "chief", "biggest", "stated"];

/// What something did that is a reason.
const CAUSES: [&str; 24] = [
    "behind", "driving", "driven", "drove", "caused", "causing", "pushed", "lifted", "dragged", "led", "prompted",
    "explains", "explained", "triggered", "hurt", "helped", "weighed", "boosted", "sank", "dented", "ate", "fuelled",
    "fueled", "factors",
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
    "due to", "driven by", "because", "result of", "resulted from", "resulting from", "attributable to",
    "attributed to", "reflect", "reflects", "reflected", "reflecting", "owing to", "caused by", "in response to",
    "offset by", "led to", "contributed to", "in order to", "so that", "therefore", "impact of", "effect of",
];

/// What a text about a change has, and no other.
#[rustfmt::skip]
const CHANGES: [&str; 24] = [
    "rose", "rise", "rises", "risen", "rising", "grew", "grow", "grows", "grown", "growing", "growth", "fell", "fall", "falls",
    "fallen", "falling", "drop", "drops", "dropped", "contracted", "contraction", "expand", "expanded", "expansion",
];
const CHANGES_BEGIN: [&str; 6] = ["increas", "decreas", "declin", "improv", "chang", "reduc"];

/// And what it may have where nothing changed: "the lower of cost and market", "down payment".
const DIRECTIONS: [&str; 4] = ["up", "down", "higher", "lower"];

/// Between two years of a header: it is about what changed.
const BETWEEN_YEARS: [&str; 5] = ["over", "to", "vs", "v", "versus"];

/// Between a change and the number that says by how much, before it and behind it.
const TO_SIZE: [&str; 8] = ["by", "of", "an", "a", "approximately", "about", "nearly", "additional"];
const OF_SIZE: [&str; 8] = ["percent", "percentage", "basis", "points", "million", "billion", "net", "overall"];

/// What a question that compares, or asks for a name, has beside them.
#[rustfmt::skip]
const NO_LEVEL: [&str; 40] = [
    "who", "whom", "whose", "which", "where", "when",
    "more", "less", "fewer", "versus", "vs", "trend", "move", "moved", "gain", "gained", "lose", "lost", "shrink", "shrank",
    "swing", "swung", "jump", "jumped", "surge", "surged", "slump", "slumped", "dip", "dipped", "difference", "differ", "climb",
    "climbed", "slide", "slid", "cut", "yoy", "happened", "compare",
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
        match rest.next() {
            // Not the accounts receivable.
            Some(&"accounts") => rest.next() == Some(&"for"),
            word => word.is_some_and(|word| CAUSES.contains(word)),
        }
    };
    // Not whom a table counts by the reason that they gave.
    let reason = |rest: &[&str]| {
        let mut rest = rest.iter().skip_while(|word| BETWEEN.contains(word) || OF_REASONS.contains(word));
        rest.next().is_some_and(|word| matches!(*word, "reason" | "reasons"))
    };
    (0..words.len()).any(|at| match &words[at..] {
        ["why" | "explain", ..] | ["how", "come", ..] => true,
        ["what", rest @ ..] => did(rest) || reason(rest),
        ["give" | "state" | "tell", rest @ ..] => reason(rest),
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

fn names_change(word: &str) -> bool {
    CHANGES.contains(&word) || CHANGES_BEGIN.iter().any(|begin| word.starts_with(begin))
}

fn is_change(word: &str) -> bool {
    names_change(word) || DIRECTIONS.contains(&word)
}

fn names_difference(word: &str) -> bool {
    names_change(word) || word.starts_with("differ") || word == "variance"
}

fn is_of_percent(text: &str) -> bool {
    text.contains('%') || words(text).any(|word| word.starts_with("percent"))
}

/// Whether a question, or what stands over a cell, is about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is not.
    Absent,
    /// It is.
    Present,
    /// About one in percent: from any other it would have to be worked out.
    InPercent,
}

/// Whether a question is about a change.
pub fn change_in(question: &str) -> Change {
    match words(question).any(|word| names_difference(&word)) {
        false => Change::Absent,
        true if is_of_percent(question) => Change::InPercent,
        true => Change::Present,
    }
}

/// Whether a cell is one of a change, by itself and the headers over it, outermost first with ` > ` between.
pub fn change_under(headers: &str, cell: &str) -> Change {
    let two_years = |header: &str| {
        let tokens = tokenize(header);
        let year = |token: Option<&String>| token.is_some_and(|token| is_year(token));
        (0..tokens.len()).any(|at| {
            let second =
                at + 1 + usize::from(tokens.get(at + 1).is_some_and(|token| BETWEEN_YEARS.contains(&token.as_str())));
            year(tokens.get(at)) && year(tokens.get(second))
        })
    };
    match words(headers).any(|word| names_difference(&word)) || headers.split(" > ").any(two_years) {
        false => Change::Absent,
        true if is_of_percent(headers) || cell.contains('%') => Change::InPercent,
        true => Change::Present,
    }
}

/// Whether a question asks what something was: how much, or in a year, and not how it changed or why.
pub fn asks_for_level(question: &str) -> bool {
    let other = |word: &str| is_change(word) || NO_LEVEL.contains(&word) || word.starts_with("compar");
    let of_year = || {
        let year = ["last year", "this year"].iter().any(|year| question.contains(year));
        year || tokenize(question).iter().any(|token| is_year(token) || token == "fy")
    };
    !words(question).any(|word| other(&word)) && (asks_for_amount(question) || of_year()) && !asks_for_reason(question)
}

/// Whether a sentence says by how much something changed, "up 5%" or "a $3 million decrease", and not to which amount.
pub fn tells_change(sentence: &str) -> bool {
    let tokens = tokenize(sentence);
    let is_amount = |token: &String| token.starts_with(|c: char| c.is_ascii_digit()) && !is_year(token);
    let to_amount = tokens.windows(2).any(|pair| pair[0] == "to" && is_amount(&pair[1]));
    let sized = |at: usize| {
        let mut after = tokens[at + 1..].iter().skip_while(|token| TO_SIZE.contains(&token.as_str()));
        let mut before = tokens[..at].iter().rev().skip_while(|token| OF_SIZE.contains(&token.as_str()));
        after.next().is_some_and(is_amount) || before.next().is_some_and(is_amount)
    };
    !to_amount && (0..tokens.len()).any(|at| is_change(&tokens[at]) && sized(at))
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

/// Words within such a phrase: "due primarily to".
const ADVERBS: [&str; 7] = ["primarily", "mainly", "largely", "principally", "mostly", "partially", "partly"];

/// Whether a sentence says what something comes from. One that says that it follows does not.
pub fn gives_reason(sentence: &str) -> bool {
    let mut text = String::from(" ");
    words(sentence).filter(|word| !ADVERBS.contains(&word.as_str())).for_each(|word| text += &(word + " "));
    let announces = [" following ", " as follows ", " below "].iter().any(|end| text.ends_with(end));
    !announces && GIVEN.iter().any(|phrase| text.contains(&format!(" {phrase} ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn some_questions_ask_for_a_reason() {
        for question in [
            "Why did margins fall?", "Margins fell in 2024 - why?", "What's behind the slump in sales?",
            "what drove R&D up", "What was driving costs?", "What factors led to the decline?",
            "What accounts for the drop?", "Give the reason for the impairment.", "What were the main reasons for it?",
            "Tell me the reason.", "How come taxes rose?",
        ] {
            assert!(asks_for_reason(question), "{question}");
        }
        for question in [
            "What was revenue in 2024?",
            "What percentage of sales was driven by services?",
            "What is the change in net income?",
            "How much did costs come to?",
            "What made up total assets?",
            "What were accounts receivable at year end?",
            "How many women cited abuse as the reason?",
            "Who hunted for reasons of sharing?",
            "",
        ] {
            assert!(!asks_for_reason(question), "{question}");
        }
    }

    #[test]
    fn some_questions_ask_for_an_amount() {
        for question in [
            "How much did it cost?", "By how many points did margins move?", "And what share of sales is that?",
            "data center revenue FY25?", "Capex for 2024, please", "effective tax rate, last year",
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
    fn some_questions_ask_what_it_was() {
        for question in ["What was R&D in 2024?", "How much is tax?", "Sales, last year", "G&A at ACME, FY24?"] {
            assert!(asks_for_level(question), "{question}");
        }
        for question in [
            "How much did R&D rise in 2024?", "Is tax higher than in 2023?", "Compare 2024 with 2023",
            "Why did it cost 5 in 2024?", "What was the growth in 2024?", "What is the plan?", "Who was it in 2024?",
        ] {
            assert!(!asks_for_level(question), "{question}");
        }
    }

    #[test]
    fn some_sentences_tell_a_change_alone() {
        for text in [
            "R&D increased $4.6 billion from 2023 to 2024.",
            "It was up 142% from a year ago.",
            "Driven by a $3 million net decrease in costs",
        ] {
            assert!(tells_change(text), "{text}");
        }
        for text in [
            "R&D increased 5% to $4.6 billion.", "R&D was $5 million in 2024.", "A cost of $5 million that grew later.",
        ] {
            assert!(!tells_change(text), "{text}");
        }
    }

    #[test]
    fn some_questions_are_about_a_change() {
        for question in
            ["By how much did sales grow in 2024?", "What was the difference?", "change in net income, 2024"]
        {
            assert_eq!(change_in(question), Change::Present, "{question}");
        }
        for question in ["What was the percentage increase in tax?", "Sales growth in %?"] {
            assert_eq!(change_in(question), Change::InPercent, "{question}");
        }
        for question in ["What was the lower of cost and market?", "What percentage of sales is tax?", ""] {
            assert_eq!(change_in(question), Change::Absent, "{question}");
        }
    }

    #[test]
    fn some_columns_are_of_changes() {
        for headers in
            ["Increase (Decrease)", "2018 > $ Change", "2018 over 2017", "Year ended > 2018/2017", "2018 vs. 2017"]
        {
            assert_eq!(change_under(headers, "283"), Change::Present, "{headers}");
        }
        for (headers, cell) in [("% Change", "3.1"), ("Change", "3.1 %"), ("percent change in rate 2014 to 2015", "-2")]
        {
            assert_eq!(change_under(headers, cell), Change::InPercent, "{headers}");
        }
        for headers in ["2018 > 2017", "Years ended December 31, 2018 and 2017 > 2018", "2018 > % of total", ""] {
            assert_eq!(change_under(headers, "283"), Change::Absent, "{headers}");
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
        assert!(gives_reason("The decrease was due primarily to lower volumes."));
        assert!(!gives_reason("Expenses increased due to the following:"));
        assert!(gives_reason("This reflects, in part, higher wages"));
        assert!(!gives_reason("Net sales were $5 million; duet, overdue torts."));
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at(text in "\\PC{0,60}") {
            let _ = (asks_for_reason(&text), gives_reason(&text), asks_for_amount(&text), has_amount(&text));
            let _ = (asks_for_level(&text), tells_change(&text), change_in(&text), change_under(&text, &text));
        }
    }
}
