//! What a question asks for, as far as its words say it.

use std::collections::{BTreeSet, HashSet};

use rust_decimal::Decimal;
use tabsegnet_lexical::names::{self, STOP};

use crate::phrasing::usual;
use crate::quantity::{Quantity, Scale, of_sentence};
use crate::years::{FiscalEnd, named_years};

/// Words and phrases that say what is to be done with numbers; matched at the beginning of a word.
pub(crate) const CUES: [&str; 86] = [
    "percent", "percentage change", "percent change", "change", "increas", "decreas", "growth", "grow", "declin",
    "differen", "ratio", "portion", "proportion", "share of", "as a percent", "percent of", "percentage of",
    "of total", "of the total", "total", "sum ", "combined", "aggregate", "average", "mean", "how much", "how many",
    "what was the", "what is the", "what were", "in millions", "greater", "exceed", "more than", "did ", "between",
    " from ", " to ", "return", "roi", "rate", " per ", "net change", "variation", "range", "higher", "lower", "less",
    "compared", "tax", "price", "fair value", "would", "assuming", "remaining", "outstanding", "due", "year-over-year",
    "invest", "performance", "cumulative", "which", "why", "highest", "lowest", "largest", "smallest", "value",
    " and ", "in 20", "considering", "respective", " or ", "both", "times", "multiple", "when ", "who ", "year",
    "first", "second", "last", "list", "most", "likely", "component",
];

/// What kind of answer a question wants, by its first words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// A number, a word of a table, yes or no.
    Value,
    /// A sentence: why, how, what somebody says or expects.
    Sentence,
    /// The name of a row, column or year that is largest or smallest.
    Extreme {
        /// Whether the largest is wanted.
        largest: bool,
        /// Whether a year is wanted.
        year: bool,
    },
}

/// A question with what its words say.
#[derive(Debug, Clone)]
pub struct Inquiry {
    /// In lower case, with a space before and behind.
    pub(crate) text: String,
    /// The same with a glossary's words.
    read_as: String,
    /// Positions in [`CUES`] of those that it has.
    pub(crate) cues: Vec<u16>,
    /// The years that it names, each once, in its order; `2008-2010` and `between 2008 and 2010` are as written.
    pub years: Vec<u16>,
    /// The day on which the fiscal year that it names ends, where that is one of the year after.
    fiscal_end: Option<FiscalEnd>,
    /// The numbers that it names, but for years.
    pub(crate) quantities: Vec<Quantity>,
    /// The scale that the answer is to have.
    pub scale: Option<Scale>,
    /// What kind of answer.
    pub wanted: Wanted,
    /// What it names with a capital that a glossary does not know: `Slack`, `Germany`.
    pub(crate) proper: Vec<String>,
    /// Stems of words that carry meaning.
    pub(crate) words: HashSet<String>,
    /// The same in order, with the byte of `text` where each begins.
    pub(crate) places: Vec<(String, usize)>,
}

/// Words that name an operation where a question has them, and what a number already is where its headers have them.
const OPERATIONS: [&[&str]; 6] = [
    &["percent", "%"],
    &["change", "increase", "decrease", "variance", "growth", "difference", "decline"],
    &["average", "mean"],
    &["total", "sum"],
    &[" per ", "ratio", "rate"],
    &["price", "cost", "expense"],
];

/// Which of them a text in lower case has.
pub(crate) fn operations(text: &str) -> [bool; 6] {
    OPERATIONS.map(|words| words.iter().any(|word| text.contains(word)))
}

/// What a noun with the words before it ends at.
const NOUN_ENDS: [&str; 9] = ["of", "for", "in", "on", "at", "by", "to", "from", "when"];

impl Inquiry {
    /// What a question asks for. `read_as` is the same with a glossary's words, where there is one.
    pub fn new(question: &str, read_as: Option<&str>) -> Self {
        let text = usual(&format!(" {} ", question.trim().to_lowercase()));
        let starts_word =
            |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric()));
        let has = |cue: &str| text.match_indices(cue).any(|(at, _)| cue.starts_with(' ') || starts_word(at));
        let cues = (0..).zip(CUES).filter(|(_, cue)| has(cue)).map(|(cue, _)| cue).collect();
        let named = named_years(&text);
        let scale = [("in million", Scale::Million), ("in thousand", Scale::Thousand), ("in billion", Scale::Billion)]
            .into_iter()
            .find_map(|(phrase, scale)| text.contains(phrase).then_some(scale));
        let places = words(&text);
        let mut all: HashSet<String> = places.iter().map(|(word, _)| word.clone()).collect();
        all.extend(stems(&read_as.unwrap_or("").to_lowercase()));
        let wanted = wanted(&text);
        let quantities = of_sentence(&text).into_iter().map(|written| written.quantity).collect();
        let proper = names::of(question, read_as);
        let fiscal_end = FiscalEnd::of(&text, read_as.unwrap_or(""));
        let read_as = read_as.unwrap_or("").to_lowercase();
        Self { read_as, cues, years: named, fiscal_end, quantities, scale, wanted, proper, words: all, places, text }
    }

    /// The years that a text of the document names, as the question counts them, with the byte where each begins.
    pub(crate) fn years_at(&self, text: &str) -> Vec<(u16, usize)> {
        FiscalEnd::years(self.fiscal_end, text)
    }

    /// The years alone.
    pub(crate) fn years_in(&self, text: &str) -> Vec<u16> {
        self.years_at(text).into_iter().map(|(year, _)| year).collect()
    }

    /// Whether a year is named, or lies between two that `to` joins where several answers are wanted.
    pub(crate) fn names_year(&self, year: u16) -> bool {
        let between = match self.years.as_slice() {
            [a, b] if self.has("respective") && (self.has(" to ") || self.has("-")) => {
                (*a.min(b)..=*a.max(b)).contains(&year)
            }
            _ => false,
        };
        between || self.years.contains(&year)
    }

    /// Whether it names a number, as a year or otherwise: what it knows it does not want.
    pub(crate) fn names(&self, number: Decimal) -> bool {
        self.quantities.iter().any(|of| of.value == number) || self.names_as_year(number)
    }

    /// Whether it has all words of a cell, or the year that a cell is.
    pub(crate) fn tells(&self, cell: &str) -> bool {
        let mut words = stems(&cell.to_lowercase()).peekable();
        match words.peek() {
            Some(_) => words.all(|word| self.words.contains(&word)),
            None => cell.trim().parse().is_ok_and(|year| self.years.contains(&year)),
        }
    }

    /// Whether a number is one of the years that it names.
    pub(crate) fn names_as_year(&self, number: Decimal) -> bool {
        self.years.iter().any(|year| Decimal::from(*year) == number)
    }

    /// Whether a date is wanted.
    pub(crate) fn wants_date(&self) -> bool {
        let start = self.text.trim_start();
        let begins = |words: &[&str]| words.iter().any(|word| start.starts_with(word));
        begins(&["when ", "since when ", "by when ", "what date", "which date", "on what date", "on which date"])
            || begins(&["what is the ", "what was the "])
                && start.split_whitespace().take_while(|word| !NOUN_ENDS.contains(word)).any(|word| word == "date")
    }

    /// Whether it asks for one of what a heading calls so: "which city", over a column "City".
    pub(crate) fn wants_one_of(&self, headings: &[&str]) -> bool {
        let after = ["which ", "what "].iter().find_map(|first| self.text.trim_start().strip_prefix(first));
        let noun = after.and_then(|after| first_word(after.split(' ').next().unwrap_or_default()));
        noun.is_some_and(|noun| have_word(headings.iter().copied(), &noun))
    }

    /// Whether it asks how many there are of what a header calls so: "how many floors", over a column "Floors".
    pub(crate) fn counts(&self, left: Option<&str>, above: Option<&str>) -> bool {
        let noun = self.text.split_once("how many ").and_then(|(_, after)| first_word(after));
        // Shares are told in thousands and millions, and often by a sentence alone.
        noun.is_some_and(|noun| noun != stem("shares") && have_word(left.into_iter().chain(above), &noun))
    }

    /// Whether yes or no is wanted.
    pub(crate) fn wants_verdict(&self) -> bool {
        let start = self.text.trim_start();
        let verbs = ["was ", "is ", "were ", "are ", "did ", "does ", "do ", "has ", "have ", "had "];
        let asks_more = [" or ", " how ", " what ", " which ", " why ", " when ", " who ", " where "];
        verbs.iter().any(|verb| start.starts_with(verb)) && !asks_more.iter().any(|word| self.has(word))
    }

    /// Whether it asks whether one of two is greater, or less, than the other, and no more than these is needed to say so.
    pub(crate) fn is_comparison(&self) -> bool {
        self.wants_verdict() && self.compares().is_some() && self.quantities.is_empty()
    }

    /// Whether it asks if something is more, or less, than it was before.
    pub(crate) fn compares_with_before(&self) -> bool {
        self.is_comparison() && !self.has(" than ") && self.changes().is_some()
    }

    /// Whether what it names became less, `None` where it says of nothing that it became more or less.
    fn changes(&self) -> Option<bool> {
        let has = |words: &[&str]| words.iter().any(|word| self.has(word));
        #[rustfmt::skip]
        let less = has(&[
            " decreas", " declin", " fall", " fell", " drop", " shrink", " shrank", " go down", " gone down", " went down",
            " come down", " came down", " narrow", " dip ", " dipped", " down in ", " down from ",
        ]);
        #[rustfmt::skip]
        let more = has(&[
            " increas", " rise", " rose", " risen", " grow", " grew", " go up", " gone up", " went up", " climb", " jump",
            " expand", " widen", " up in ", " up from ",
        ]);
        (less != more).then_some(less)
    }

    /// Whether it asks if the first that it names is the lesser of two, `None` where it compares nothing.
    pub(crate) fn compares(&self) -> Option<bool> {
        let before_than = self.text.split_once(" than ").map(|(before, _)| before);
        let has = |words: &[&str]| {
            let of = |before: &str| before.split(' ').any(|word| words.contains(&word));
            before_than.is_some_and(of)
        };
        let less = has(&["less", "lower", "smaller", "fewer"]) || self.has("below");
        let more = has(&["more", "higher", "larger", "greater", "bigger"])
            || ["greater", "exceed", "higher", "larger", "above"].iter().any(|cue| self.has(cue));
        if less || more { Some(less) } else { self.changes() }
    }

    /// Whether both of two years that it compares stand behind the verb: "did it exceed its 2023 level in 2024".
    pub(crate) fn compares_behind(&self) -> bool {
        let verb = [" exceed", " surpass", " above ", " below "].iter().find_map(|verb| self.text.find(verb));
        let first = self.years_at(&self.text).first().map(|(_, at)| *at);
        self.years.len() == 2 && verb.zip(first).is_some_and(|(verb, first)| verb < first) && !self.has(" than ")
    }

    /// Whether it asks for a quarter of a year.
    pub(crate) fn names_quarter(&self) -> bool {
        names_quarter(&self.text)
    }

    /// Whether it asks by how many percent something changed.
    pub(crate) fn wants_percent_change(&self) -> bool {
        let changes = ["change", "increase", "decrease", "growth", "decline"];
        ["percent ", "percentage "].iter().any(|of| changes.iter().any(|change| self.has(&format!("{of}{change}"))))
    }

    /// Whether it asks for a percentage.
    pub(crate) fn wants_percentage(&self) -> bool {
        #[rustfmt::skip]
        let cues = [
            "percentage of", "percent of", "what percent", "growth rate", "rate of growth", "year-over-year growth", "how fast did",
        ];
        cues.iter().any(|cue| self.has(cue))
    }

    pub(crate) fn has(&self, cue: &str) -> bool {
        self.text.contains(cue)
    }

    /// Whether it has a phrase as it is put, or with a glossary's words.
    pub(crate) fn means(&self, cue: &str) -> bool {
        self.has(cue) || self.read_as.contains(cue)
    }
}

/// Whether a text in lower case names a quarter of a year.
pub(crate) fn names_quarter(text: &str) -> bool {
    ["quarter", "three months"].iter().any(|cue| text.contains(cue)) || !quarters(text).is_empty()
}

/// The quarters that a text in lower case names, from 1: `q3 2024`, `third quarter`.
pub(crate) fn quarters(text: &str) -> BTreeSet<usize> {
    const SHORT: [&str; 4] = ["q1", "q2", "q3", "q4"];
    const LONG: [&str; 4] = ["first", "second", "third", "fourth"];
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let place = |names: [&str; 4], word: &str| names.iter().position(|name| *name == word).map(|at| at + 1);
    let short = words.iter().filter_map(|word| place(SHORT, word));
    let long = words.windows(2).filter(|two| two[1].starts_with("quarter")).filter_map(|two| place(LONG, two[0]));
    short.chain(long).collect()
}

/// The stem of the first word that carries meaning.
fn first_word(text: &str) -> Option<String> {
    words(text).into_iter().next().map(|(word, _)| word)
}

/// Whether one of the texts has a word of that stem.
fn have_word<'t>(mut texts: impl Iterator<Item = &'t str>, stem: &str) -> bool {
    texts.any(|text| words(&text.to_lowercase()).iter().any(|(word, _)| word == stem))
}

fn wanted(text: &str) -> Wanted {
    let start = text.trim_start();
    let begins = |words: &[&str]| words.iter().any(|word| start.starts_with(word));
    let contains = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let asks_number = begins(&["how much", "how many", "how big", "how large", "how high"])
        || contains(&["how much", "how many", "what percent", "by what amount"]);
    let largest = contains(&[" highest", " largest", " greatest", " biggest", " most "]);
    let smallest = contains(&[" lowest", " smallest", " least "]);
    if begins(&["which ", "in which ", "what year", "in what year", "who "]) && (largest || smallest) {
        return Wanted::Extreme { largest, year: contains(&["which year", "what year", "which fiscal year"]) };
    }
    let says = [
        "why ", "what drove", "what caused", "what led", "explain", "describe", "how does ", "how did ", "how is ",
        "how are ", "how do ", "what happened", "what does ", "what reason", "what were the reasons", "what kept",
        "what pushed", "who ", "where ", "on what grounds", "what made", "what lifted", "what was behind",
        "what is behind", "what lay behind", "what boosted", "what weighed", "what explains", "what explained",
        "what hurt", "what helped",
    ];
    if !asks_number && begins(&says) && !contains(&["how does the", " percent", " what was the total"]) {
        return Wanted::Sentence;
    }
    Wanted::Value
}

/// Stems of words, with the byte where each begins.
pub(crate) fn words(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphabetic(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let word = text.get(from..at).unwrap_or("");
                if word.len() > 1 && !STOP.contains(&word) {
                    found.push((stem(word), from));
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

/// The stems alone.
pub(crate) fn stems(text: &str) -> impl Iterator<Item = String> + use<> {
    words(text).into_iter().map(|(stem, _)| stem)
}

/// Without the endings that singular and plural, verb and noun differ in.
fn stem(word: &str) -> String {
    let endings = ["ations", "ation", "ments", "ment", "ings", "ing", "ies", "ed", "es", "s", "y", "e"];
    let cut = endings.iter().filter_map(|ending| word.strip_suffix(ending)).find(|stem| stem.chars().count() >= 3);
    cut.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Inquiry, Wanted};
    use crate::quantity::Scale;

    #[test]
    fn words_say_what_is_asked() {
        let inquiry = Inquiry::new("What was the percent change in net sales, in millions, from 2015 to 2016?", None);
        assert_eq!((inquiry.years.as_slice(), inquiry.scale), (&[2015, 2016][..], Some(Scale::Million)));
        assert!(inquiry.has("percent change") && inquiry.words.contains("net"));
        for (question, wanted) in [
            ("Why did sales fall?", Wanted::Sentence),
            ("How much did sales fall?", Wanted::Value),
            ("What were sales?", Wanted::Value),
            ("Which year had the highest sales?", Wanted::Extreme { largest: true, year: true }),
            ("Which segment had the lowest sales in 2019?", Wanted::Extreme { largest: false, year: false }),
        ] {
            assert_eq!(Inquiry::new(question, None).wanted, wanted, "{question}");
        }
        assert!(Inquiry::new("", None).words.is_empty());
    }

    #[test]
    fn regression_which_city_asks_for_one_of_a_column_called_so() {
        let wants = |question: &str, headings: &[&str]| Inquiry::new(question, None).wants_one_of(headings);
        assert!(wants("Which city is the largest by population?", &["City"]));
        assert!(wants("What cities are in Norway?", &["City | Country"]));
        assert!(!wants("Which year was the best?", &["City"]) && !wants("How large is the city?", &["City"]));
        let counts = |question: &str, above: &str| Inquiry::new(question, None).counts(Some("Madrid"), Some(above));
        assert!(counts("How many floors does Madrid have?", "Floors"));
        assert!(!counts("How many shares were issued?", "Shares") && !counts("How much is the rent?", "Rent"));
    }

    #[test]
    fn comparisons_are_told() {
        for (question, less) in [
            ("Was net income lower in 2024 than in 2023?", true),
            ("Did Adobe spend more on R&D in FY23 than in FY24?", false),
            ("Did operating income exceed that of the prior year?", false),
        ] {
            let inquiry = Inquiry::new(question, None);
            assert!(inquiry.is_comparison() && inquiry.compares() == Some(less), "{question}");
        }
        for question in [
            "How much more did it spend in 2024 than in 2023?",
            "Was revenue higher in 2024 or in 2023?",
            "Was revenue greater than 5 million?",
            "Is it incorporated in Delaware?",
            "By how much did revenue rise?",
        ] {
            assert!(!Inquiry::new(question, None).is_comparison(), "{question}");
        }
        for (question, less) in [("Did revenue rise?", false), ("Has net income fallen in 2024?", true)] {
            let inquiry = Inquiry::new(question, None);
            assert!(inquiry.compares_with_before() && inquiry.compares() == Some(less), "{question}");
        }
        let verdict = |question| Inquiry::new(question, None).wants_verdict();
        assert!(verdict("Is it incorporated in Delaware?") && verdict("Was revenue greater than 5 million?"));
        assert!(!verdict("Did revenue rise, and by how much?") && !verdict("What did it do?"));
        assert!(Inquiry::new("Revenue in Q3 2024?", None).names_quarter());
        assert!(!Inquiry::new("FAQ12 of 2024?", None).names_quarter());
    }

    #[test]
    fn questions_for_dates() {
        for question in [
            "When does the lease end?",
            "What is the amendable date for pilots in 2019?",
            "On what date was it signed?",
        ] {
            assert!(Inquiry::new(question, None).wants_date(), "{question}");
        }
        for question in
            ["What were sales when the plant closed?", "What was the price of the shares on the grant date?"]
        {
            assert!(!Inquiry::new(question, None).wants_date(), "{question}");
        }
    }
}
