//! Sentences of running text.

use std::ops::Range;

/// Words that end in a point and never end a sentence: something always follows.
const BEFORE: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "rev", "hon", "gen", "col", "lt", "sgt", "capt", "sen", "rep", "gov", "pres",
    "messrs", "no", "nos", "fig", "figs", "sec", "secs", "art", "ch", "vol", "vols", "pp", "p", "para", "ex", "exh",
    "ref", "eq", "tab", "approx", "ca", "cf", "vs", "v", "viz", "e.g", "i.e", "eg", "ie", "al", "est", "st", "mt",
    "ft", "avg", "max", "min", "incl", "excl", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct",
    "nov", "dec", "fn",
];

/// Words that end in a point inside a sentence as well as at the end of one.
const EITHER: &[&str] = &[
    "inc", "corp", "co", "cos", "ltd", "llc", "lp", "plc", "bros", "jr", "sr", "esq", "etc", "dept", "div", "assn",
    "ave", "blvd", "rd", "n.a", "s.a", "n.v", "a.g", "b.v", "mfg", "intl", "natl", "univ", "gmbh", "a.m", "p.m", "u.s",
    "u.k", "u.n", "e.u", "ph.d", "m.d", "d.c",
];

/// Words that begin sentences and seldom names: after an abbreviation they tell that it was the
/// last word.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "the", "a", "an", "in", "on", "at", "as", "for", "we", "our", "it", "its", "this", "these", "that", "those",
    "there", "if", "when", "while", "although", "because", "such", "under", "however", "he", "she", "they",
    "their", "from", "during", "to", "additionally", "each", "all", "any", "see", "with", "no", "both", "after",
    "before", "since", "upon", "certain", "other",
];

/// The sentences of a text as ranges of bytes, blanks at their ends left out. Put together they
/// are the text but for blanks between them.
pub fn split(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices().filter(|&(_, c)| matches!(c, '.' | '!' | '?' | '。' | '！' | '？')) {
        if at < start {
            continue;
        }
        let after = at + c.len_utf8();
        let rest = &text[after..];
        let closers = rest.len() - rest.trim_start_matches(['"', '\'', ')', ']', '”', '’', '»']).len();
        let end = after + closers;
        if ends_sentence(&text[start..at], c, &text[end..]) {
            push(&mut sentences, text, start..end);
            start = end;
        }
    }
    push(&mut sentences, text, start..text.len());
    sentences
}

fn push(sentences: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = range.start + part.trim_end().len();
    if start < end {
        sentences.push(start..end);
    }
}

/// Whether a mark ends the sentence that has begun before it.
fn ends_sentence(before: &str, mark: char, after: &str) -> bool {
    if matches!(mark, '。' | '！' | '？') {
        return true;
    }
    let next = after.trim_start();
    if next.is_empty() || next.len() == after.len() {
        return false;
    }
    let opening = next.trim_start_matches(['"', '\'', '(', '[', '“', '‘', '«', '$', '•', '*']);
    if opening.starts_with(char::is_lowercase) {
        return false;
    }
    if mark != '.' {
        return true;
    }
    let word = before.rsplit([' ', '\u{a0}', '(', '[', '"', '“', '/', '\n', '\t']).next().unwrap_or_default();
    // "1. Business", "(a). First": the number of what follows.
    if word.len() == before.trim().len() && word.len() <= 4 {
        return false;
    }
    let lower = word.to_lowercase();
    let next_word: String = opening.chars().take_while(|c| c.is_alphanumeric()).collect();
    let starter = STARTERS.contains(&next_word.to_lowercase().as_str());
    if BEFORE.contains(&lower.as_str()) {
        // "No." is also an answer, and months end sentences: before a capital that begins one.
        return starter
            && !next_word.is_empty()
            && !matches!(lower.as_str(), "mr" | "mrs" | "ms" | "dr" | "e.g" | "i.e" | "vs" | "v");
    }
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    if initial || EITHER.contains(&lower.as_str()) || is_dotted(word) {
        return starter;
    }
    true
}

/// Single letters with points between them: `U.S.A`, `N.Y`.
fn is_dotted(word: &str) -> bool {
    word.contains('.') && word.split('.').all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split;

    fn sentences(text: &str) -> Vec<&str> {
        split(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn what_is_one_sentence_stays_whole() {
        for text in [
            "Sales in the U.S. Government segment rose to $1.2 billion.",
            "See Note No. 5 for details.",
            "Apple Inc. Class A shares fell 3.5 % vs. Dec. 31, 2023.",
            "Dr. J. R. Smith joined Acme Corp. International in St. Louis.",
            "It rose (see Fig. 3) e.g. by 1.5 million, i.e. Approx. 3 %.",
            "1. Business",
            "At 5 p.m. Eastern Time it closed.",
            "Revenue was up 10.5% to approx. $3.4 bn.",
            "Item 7A. Quantitative disclosures".get(..7).unwrap_or_default(),
            "the company (formerly Foo, Inc.) was sold.",
            "www.sec.gov has it.",
            "a sentence without an end",
            "Section 1.3.2 applies",
            "ended Sept. 30",
        ] {
            assert_eq!(sentences(text), [text]);
        }
    }

    #[test]
    fn sentences_end_where_they_end() {
        for (text, parts) in [
            ("Revenue rose. Costs fell.", &["Revenue rose.", "Costs fell."][..]),
            ("We operate in the U.S. The rest is abroad.", &["We operate in the U.S.", "The rest is abroad."]),
            ("It was bought by Acme Inc. We agreed.", &["It was bought by Acme Inc.", "We agreed."]),
            ("Why? Because! 3 reasons.", &["Why?", "Because!", "3 reasons."]),
            ("He said \"no.\" She left.", &["He said \"no.\"", "She left."]),
            ("It fell by 3.5%. (See Note 2.) It rose.", &["It fell by 3.5%.", "(See Note 2.)", "It rose."]),
            ("Up to $1.2 billion. $3 was paid.", &["Up to $1.2 billion.", "$3 was paid."]),
            ("It ended in 2023. In 2024 it rose.", &["It ended in 2023.", "In 2024 it rose."]),
        ] {
            assert_eq!(sentences(text), parts);
        }
    }

    proptest! {
        /// Nothing is lost and nothing is twice.
        #[test]
        fn sentences_make_up_the_text(text in "[ -~\u{a0}é“”。]{0,80}|[A-Z. ]{0,40}") {
            let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(solid(&sentences(&text).concat()), solid(&text));
            prop_assert!(split(&text).windows(2).all(|pair| pair[0].end <= pair[1].start));
        }
    }
}
