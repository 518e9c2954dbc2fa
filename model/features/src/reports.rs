//! Where in a report what a question wants stands, and where it does not: how many there are of something in no amount of money, how
//! many people a company employs in the sentence that tells all of them, a total under a header that says so, in the statement that the question names, and neither in the parent company's own
//! statements nor in the graph of what its stock returned.
//!
//! All annual reports have these parts, which tell the same numbers of another kind, and what is learnt from the few reports that
//! come with tags knows them poorly.

use tabsegnet_document::months::MONTHS;
use tabsegnet_lexical::tokenize;

/// What a question says of where what it wants stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whereabouts {
    counts: bool,
    spends: bool,
    of_all: bool,
    statement: Option<Statement>,
    of_parent: bool,
    of_stock: bool,
    headcount: bool,
}

/// A statement by what its headings are called.
type Statement = &'static [&'static str];

/// How questions name statements.
const STATEMENTS: [(&[&str], Statement); 3] = [
    (
        &["cash flow statement", "cash flows statement", "statement of cash flow", "statements of cash flow"],
        &["cash flow"],
    ),
    (&["balance sheet"], &["balance sheet", "financial position"]),
    (
        &["income statement", "statement of income", "statements of income", "statement of operations"],
        &["of income", "of earnings", "of operations", "income statement"],
    ),
];

/// Behind "how many", a question for an amount.
#[rustfmt::skip]
const MONEY: [&str; 15] = [
    "dollar", "dollars", "usd", "cent", "cents", "euro", "euros", "pounds", "million", "millions", "billion", "billions", "percent",
    "percentage", "points",
];
const SPENDS: [&str; 8] = ["much", "spend", "spent", "capex", "buyback", "buybacks", "dividend", "dividends"];
const OF_ALL: [&str; 5] = ["worldwide", "overall", "altogether", "globally", "companywide"];
const OF_STOCK: [&str; 9] =
    ["stock", "share", "shares", "shareholder", "return", "returns", "index", "invest", "invested"];

/// Who is employed.
const EMPLOYED: [&str; 9] =
    ["employees", "people", "persons", "associates", "colleagues", "workers", "teammates", "staff", "headcount"];
/// What a question for all of them has beside.
#[rustfmt::skip]
const BESIDE: [&str; 47] = [
    "how", "many", "what", "was", "is", "were", "are", "the", "of", "number", "size", "workforce", "total", "does", "do", "did",
    "have", "has", "had", "company", "work", "works", "worked", "working", "for", "at", "there", "employ", "employed", "employs", "in",
    "on", "as", "by", "end", "year", "fiscal", "it", "its", "they", "their", "worldwide", "globally", "overall", "currently", "now", "s",
];
/// What may stand between a number and who is employed.
const ALL_OF: [&str; 8] = ["full-time", "regular", "active", "global", "permanent", "full", "time", "equivalent"];

/// Headings of a parent company's own statements, and of the graph that holds its stock against an index.
const PARENT: [&str; 5] = [
    "financial statement schedule", "information of registrant", "information of the registrant", "parent company",
    "condensed financial information",
];
const PERFORMANCE: [&str; 4] =
    ["performance graph", "stock performance", "cumulative total return", "cumulative total shareholder"];

impl Whereabouts {
    /// Those of a question.
    pub fn of(question: &str) -> Self {
        let tokens = tokenize(question);
        let has = |words: &[&str]| tokens.iter().any(|token| words.contains(&token.as_str()));
        let mut pairs = tokens.windows(2).enumerate();
        let how_many = pairs.find(|(_, pair)| pair[0] == "how" && pair[1] == "many").map(|(at, _)| at + 2);
        // "How many more dollars".
        let of_money = |at: usize| tokens[at..].iter().take(3).any(|token| MONEY.contains(&token.as_str()));
        let lower = question.to_lowercase();
        let named = |(names, _): &&(&[&str], Statement)| names.iter().any(|name| lower.contains(name));
        Self {
            counts: how_many.is_some_and(|at| !of_money(at)),
            spends: how_many.is_none() && has(&SPENDS) && !has(&["shares", "stock"]),
            of_all: has(&OF_ALL) || lower.contains("in total"),
            statement: STATEMENTS.iter().find(named).map(|(_, headings)| *headings),
            of_parent: has(&["parent", "registrant"]),
            of_stock: has(&OF_STOCK),
            headcount: is_headcount(&tokens),
        }
    }

    /// Whether a sentence tells how many people are employed in all, where the question asks for no more than that.
    pub fn is_headcount(&self, sentence: &str) -> bool {
        self.headcount && tells_headcount(sentence)
    }

    /// Whether a cell is of another kind than the question wants: money or a percentage where it asks how many, shares where it asks
    /// how much. `row` and `column` are its headers, outermost first with ` > ` between.
    pub fn is_other_kind(&self, cell: &str, row: &str, column: &str) -> bool {
        let is_money = cell.contains(['$', '€', '£']);
        let counts = |path: &str| {
            let path = path.to_lowercase();
            path.rsplit(" > ").next().is_some_and(|innermost| innermost.contains("shares"))
                || path.contains("number of ")
        };
        self.counts && (is_money || cell.contains('%') || column.contains('%'))
            || self.spends && !is_money && (counts(row) || counts(column))
    }

    /// Whether a cell is of all where the question wants that.
    pub fn is_of_all(&self, row: &str, column: &str) -> bool {
        let says = |path: &str| tokenize(path).iter().any(|token| token == "total");
        self.of_all && (says(row) || says(column))
    }

    /// Whether headings are those of the statement that the question names.
    pub fn is_in_statement(&self, headings: &[String]) -> bool {
        self.statement.is_some_and(|names| has_any(headings, names))
    }

    /// Whether under headings stands what is of the parent company alone, which the question does not ask for.
    pub fn is_of_parent(&self, headings: &[String]) -> bool {
        !self.of_parent && has_any(headings, &PARENT)
    }

    /// Whether under headings stands what a stock returned, which the question does not ask for.
    pub fn is_of_stock(&self, headings: &[String]) -> bool {
        !self.of_stock && has_any(headings, &PERFORMANCE)
    }
}

/// Whether a question asks how many people a company employs, and of no part of them.
fn is_headcount(tokens: &[String]) -> bool {
    let is = |token: &str, words: &[&str]| words.contains(&token);
    let is_time = |token: &str| MONTHS.contains(&token) || token.chars().all(|c| c.is_ascii_digit());
    let asks = ["how many", "headcount", "number of", "size of"].iter().any(|cue| tokens.join(" ").contains(cue));
    asks && (tokens.iter().any(|token| is(token, &EMPLOYED) || token == "workforce"))
        && tokens.iter().all(|token| is(token, &EMPLOYED) || is(token, &BESIDE) || is_time(token))
}

/// Whether a sentence tells a number of people that are employed: "we had approximately 36,000 employees".
fn tells_headcount(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%' && c != '$'))
        .collect();
    let is_count = |word: &str| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        digits >= 2 && word.chars().all(|c| c.is_ascii_digit() || c == ',')
    };
    let all = |at: usize| {
        let behind = words.iter().skip(at + 1).find(|word| !ALL_OF.contains(word));
        let has_noun = behind.is_some_and(|word| EMPLOYED.contains(word) || *word == "team");
        let employs = words[at.saturating_sub(3)..at].iter().any(|word| *word == "employed" || *word == "employ");
        has_noun || employs && behind.is_none_or(|word| !word.ends_with("year") && !word.ends_with("years"))
    };
    (0..words.len()).any(|at| is_count(words[at]) && all(at))
}

fn has_any(headings: &[String], names: &[&str]) -> bool {
    headings.iter().any(|heading| {
        let heading = heading.to_lowercase();
        names.iter().any(|name| heading.contains(name))
    })
}

#[cfg(test)]
mod tests {
    use super::Whereabouts;

    #[test]
    fn numbers_of_another_kind_are_told() {
        let other = |question: &str, cell: &str, row: &str, column: &str| {
            Whereabouts::of(question).is_other_kind(cell, row, column)
        };
        assert!(other("How many people work there?", "$ 12,000", "Total", "2024"));
        assert!(other("How many stores did it open?", "12", "Stores", "2024 > % Change"));
        assert!(!other("How many people work there?", "12,000", "Employees", "2024"));
        assert!(!other("How many more dollars did it make?", "$ 5", "Sales", "2024"));
        assert!(other("How much did it lay out on buybacks?", "3,515", "Total", "Number of Shares Purchased > 2024"));
        assert!(!other("How much did it lay out on buybacks?", "$ 5", "Repurchased shares", "2024"));
        assert!(!other("How many shares did it buy?", "3,515", "Shares bought", "2024"));
    }

    #[test]
    fn how_many_are_employed_is_told_by_a_sentence() {
        let tells = |question: &str, sentence: &str| Whereabouts::of(question).is_headcount(sentence);
        let all = "As of May 31, 2025, we had approximately 77,800 employees worldwide, including retail employees.";
        for question in [
            "How many employees does the company have?",
            "How many employees the company?",
            "How many people does the company employ in total?",
            "The company headcount at the end of 2024",
        ] {
            assert!(tells(question, all), "{question}");
        }
        let asks = "How many employees does the company have?";
        assert!(tells(asks, "We employed 30,709 people.") && tells(asks, "We had 36,000 full-time employees."));
        for other in [
            "Approximately 50% of our employees are abroad.",
            "We also had approximately 5,000 contingent workers.",
            "Employees purchased 1.2 million shares.",
            "The plan of 2019 is for employees.",
        ] {
            assert!(!tells(asks, other), "{other}");
        }
        // Some of them.
        assert!(!tells("How many employees work in research?", all) && !tells("How many stores are there?", all));
    }

    #[test]
    fn parts_of_reports_are_told() {
        let headings = |heading: &str| vec!["PART II".to_owned(), heading.to_owned()];
        let of = Whereabouts::of;
        let flows = headings("CONSOLIDATED STATEMENTS OF CASH FLOWS");
        assert!(of("What were dividends per the cash flow statement?").is_in_statement(&flows));
        assert!(!of("What were dividends?").is_in_statement(&flows));
        assert!(!of("What are assets on the balance sheet?").is_in_statement(&flows));
        let schedule = headings("FINANCIAL STATEMENT SCHEDULES");
        assert!(of("What is due in 2028?").is_of_parent(&schedule));
        assert!(!of("What does the parent company owe?").is_of_parent(&schedule));
        assert!(!of("What is due?").is_of_parent(&headings("Market for Registrant's Common Equity")));
        let graph = headings("STOCK PERFORMANCE GRAPH");
        assert!(
            of("What did a customer spend?").is_of_stock(&graph)
                && !of("What did its stock return?").is_of_stock(&graph)
        );
        assert!(of("Skyrizi sales worldwide").is_of_all("Skyrizi > Total", "2024"));
        assert!(!of("Skyrizi sales").is_of_all("Skyrizi > Total", "2024"));
        assert!(!of("Skyrizi sales worldwide").is_of_all("Skyrizi > International", "2024"));
    }
}
