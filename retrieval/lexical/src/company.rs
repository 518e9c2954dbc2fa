//! The company that a report is about: a question names it, and next to nothing in the report does.

use std::ops::Range;

/// What stands under the name on the cover of a report to the U.S. Securities and Exchange Commission.
const UNDER_NAME: &str = "exact name of registrant";
/// Texts of a document among which its cover is.
const COVER: usize = 300;
/// Texts among which a report without such a cover says what it calls its company, and the most words of that name.
const DEFINED: usize = 1000;
const LONGEST: usize = 7;
/// Words that are no part of what people call a company.
const FORMS: &[&str] =
    &["inc", "corp", "corporation", "company", "co", "ltd", "plc", "llc", "group", "incorporated", "de", "the", "com"];

/// Above the symbols of its shares there, and how many texts further the first of them stands at most.
const ABOVE_SYMBOL: &str = "trading symbol";
const TO_SYMBOL: usize = 12;

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
    let mut kept: Vec<String> = kept.map(of_word).collect();
    // `Wells Fargo & Company`
    while kept.last().is_some_and(|word| matches!(word.as_str(), "&" | "and")) {
        kept.pop();
    }
    (!kept.is_empty()).then(|| kept.join(" "))
}

/// The names of the company that a document is a report of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Company {
    /// In small letters.
    names: Vec<String>,
    /// Its initials and the symbol of its shares, which count in capitals alone.
    abbreviations: Vec<String>,
}

impl Company {
    /// As the cover has it; `texts` are the document's, in order. Without such a cover the one by
    /// which it calls itself the company; else no name is known.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str> + Clone) -> Self {
        let mut before = "";
        for text in texts.clone().into_iter().take(COVER) {
            if let Some(at) = small(text).find(UNDER_NAME) {
                // In one text, or in the one before.
                let own = text.get(..at).unwrap_or_default().trim_end_matches(['(', ' ', '\u{a0}']);
                return Self::named(if own.trim().is_empty() { before } else { own }, texts);
            }
            if text.chars().any(char::is_alphabetic) {
                before = text;
            }
        }
        let defined = texts.clone().into_iter().take(DEFINED).find_map(calls_itself);
        defined.map_or_else(Self::default, |name| Self::named(name, texts))
    }

    fn named<'t>(name: &str, texts: impl IntoIterator<Item = &'t str> + Clone) -> Self {
        let Some(short) = short_name(name) else { return Self::default() };
        let lower = small(&short);
        let mut names = Vec::new();
        if name.trim().to_lowercase().starts_with("the ") {
            names.push(format!("the {lower}"));
        }
        names.push(lower.clone());
        let words: Vec<&str> = lower.split_whitespace().collect();
        let initials: String = words.iter().filter_map(|word| word.chars().next()).collect();
        let mut abbreviations = Vec::new();
        if words[1..].contains(&"&") {
            names.push(initials); // `P&G`
        } else if words.len() > 2 {
            abbreviations.push(initials.to_uppercase()); // `IBM`
        }
        names.extend((1..words.len()).map(|count| words[..count].join(" ")).find(|part| is_used(part, texts.clone())));
        abbreviations.extend(symbol(texts));
        abbreviations.dedup();
        Self { names, abbreviations }
    }

    /// A question with "the company" for its name: the name tells a report from others and no place in it from another.
    /// A name that is part of another thing's ("the Nike brand", "Nike Direct") stays. Nothing where the question does not name it.
    pub fn unnamed(&self, question: &str) -> Option<String> {
        let (mut text, mut rest) = (String::new(), 0);
        while let Some(found) = self
            .names
            .iter()
            .filter_map(|name| find(question, name, rest, false))
            .chain(self.abbreviations.iter().filter_map(|name| find(question, name, rest, true)))
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

/// A text in small letters, each of as many bytes as its large one, so that places in one are places in the other; a letter whose
/// small one is longer or shorter stays as it is.
fn small(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let letter = |c: char| {
        let mut lower = c.to_lowercase();
        lower.next().filter(|small| lower.next().is_none() && small.len_utf8() == c.len_utf8()).unwrap_or(c)
    };
    text.chars().map(letter).collect()
}

/// The symbol of a company's shares, as the cover has it, where the document uses it for nothing else: Salesforce's is CRM.
fn symbol<'t>(texts: impl IntoIterator<Item = &'t str> + Clone) -> Option<String> {
    let mut further = texts.clone().into_iter().skip_while(|text| !text.to_lowercase().contains(ABOVE_SYMBOL));
    let is_symbol = |text: &&str| (2..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let symbol = further.by_ref().take(TO_SYMBOL).map(str::trim).find(is_symbol)?;
    let elsewhere = texts.into_iter().any(|text| text.trim() != symbol && find(text, symbol, 0, true).is_some());
    (!elsewhere).then(|| symbol.to_owned())
}

/// Whether a document calls its company by the beginning of its name, `part` in small letters: something is that name's
/// ("Meta's"), and it never stands in small letters, as "home" of The Home Depot does.
fn is_used<'t>(part: &str, texts: impl IntoIterator<Item = &'t str>) -> bool {
    let mut used = false;
    for text in texts {
        let (lower, mut rest) = (small(text), 0);
        while let Some(found) = word(&lower, part, rest) {
            if text[found.clone()].starts_with(char::is_lowercase) {
                return false;
            }
            used |= ["'s", "’s"].iter().any(|of| text[found.end..].starts_with(of));
            rest = found.end;
        }
    }
    used
}

/// The name that a text begins with and calls the company from there on: `The Procter & Gamble Company (the Company) is`.
fn calls_itself(text: &str) -> Option<&str> {
    const CALLED: [&str; 6] = [
        "(the Company)", "(the \u{201c}Company\u{201d}", "(the \"Company\"", "(\u{201c}the Company\u{201d}",
        "(\"the Company\"", "(\u{201c}Company\u{201d})",
    ];
    let at = CALLED.iter().filter_map(|called| text.find(called)).min()?;
    let name = text.get(..at)?.trim();
    let is_part = |word: &str| word == "&" || word == "of" || word == "and" || word.starts_with(char::is_uppercase);
    let words: Vec<&str> = name.split_whitespace().collect();
    (1..=LONGEST).contains(&words.len()).then_some(name).filter(|_| words.iter().all(|word| is_part(word)))
}

/// Where a text has a name as a word, or words, of its own, from a byte on.
fn word(text: &str, name: &str, from: usize) -> Option<Range<usize>> {
    let joins = |c: char| c.is_alphanumeric() || c == '&' || c == '-';
    let mut found = text.get(from..)?.match_indices(name).map(|(at, _)| from + at..from + at + name.len());
    found.find(|range| !text[..range.start].ends_with(joins) && !text[range.end..].starts_with(joins))
}

/// Where a question has a name, as a word of its own that is no part of another thing's, from a byte on; in capitals alone or
/// in any letters, and then `name` is in small ones.
fn find(question: &str, name: &str, mut from: usize, capitals: bool) -> Option<Range<usize>> {
    let lower = small(question);
    loop {
        let range = word(if capitals { question } else { &lower }, name, from)?;
        let (before, after) = (&lower[..range.start], &question[range.end..]);
        let possessive = after.starts_with(['\'', '’']);
        let part_of_other = ["the", "a", "an"].iter().any(|word| {
            before.trim_end() != before
                && before.trim_end().ends_with(word)
                && !before.trim_end().trim_end_matches(word).ends_with(char::is_alphanumeric)
        });
        if possessive || !part_of_other && !goes_on(after) {
            return Some(range);
        }
        from = range.end;
    }
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
        assert_eq!(
            nike.unnamed("The Nike brand's sales at Nike").as_deref(),
            Some("The Nike brand's sales at the company")
        );
        assert_eq!(Company::of(["Annual report", "Nike"]), Company::default());
        assert_eq!(Company::default().unnamed("Nike's sales?"), None);
    }

    #[test]
    fn regression_a_name_that_begins_with_another_letter_than_ascii_is_found() {
        for (cover, question) in [
            ("Ørsted Inc.", "How much wind power did Ørsted sell?"),
            ("ŠKODA CORP", "How much wind power did Škoda sell?"),
            // Its small letter has more bytes.
            ("Ⱥtlas Ltd", "How much wind power did ȺTLAS sell?"),
        ] {
            let company = Company::of([cover, "(Exact name of registrant as specified in its charter)"]);
            assert_eq!(
                company.unnamed(question).as_deref(),
                Some("How much wind power did the company sell?"),
                "{company:?}"
            );
        }
        let company = Company::of(["İzmir Holding", "(Exact name of registrant)"]);
        assert_eq!(
            company.unnamed("İĲ ȺȾ İzmir holding's ẞ?").as_deref(),
            Some("İĲ ȺȾ the company's ẞ?"),
            "{company:?}"
        );
    }

    #[test]
    fn a_company_is_called_by_a_part_of_its_name_by_its_initials_and_by_its_symbol() {
        let cover = |name: &'static str, more: &[&'static str]| {
            let mut texts = vec!["FORM 10-K", name, "(Exact name of registrant as specified in its charter)"];
            texts.extend(more);
            Company::of(texts)
        };
        let read = |company: &Company, question: &str| company.unnamed(question);
        let meta =
            cover("Meta Platforms, Inc.", &["Trading Symbol(s)", "Class A", "META", "Meta's products and Meta Quest"]);
        assert_eq!(read(&meta, "What did Meta's R&D cost?").as_deref(), Some("What did the company's R&D cost?"));
        assert_eq!(read(&meta, "Did Meta Platforms pay META?").as_deref(), Some("Did the company pay the company?"));
        assert_eq!(read(&meta, "How many own a Meta Quest?"), None);
        // Without a use of it, and where it is a word beside, the beginning is no name.
        let meta = cover("Meta Platforms, Inc.", &["Meta Quest"]);
        assert_eq!(read(&meta, "What did Meta's R&D cost?"), None);
        let home = cover("THE HOME DEPOT, INC.", &["the home's owner", "Home's"]);
        assert_eq!(read(&home, "Who pays for a Home's repair?"), None);
        let ibm =
            cover("INTERNATIONAL BUSINESS MACHINES CORPORATION", &["Trading Symbol", "IBM", "International sales"]);
        assert_eq!(read(&ibm, "How old is IBM's CFO?").as_deref(), Some("How old is the company's CFO?"));
        assert_eq!(read(&ibm, "International and ibm sales?"), None);
        let wells = cover("WELLS FARGO & COMPANY", &["Trading Symbols", "WFC"]);
        assert_eq!(
            read(&wells, "Did Wells Fargo buy WFC stock?").as_deref(),
            Some("Did the company buy the company stock?")
        );
        // A symbol that stands for something else in the document.
        let crm = cover("Salesforce, Inc.", &["Trading Symbol(s)", "CRM", "Our CRM has grown."]);
        assert_eq!(
            read(&crm, "What did CRM bring in for Salesforce?").as_deref(),
            Some("What did CRM bring in for the company?")
        );
    }
}
