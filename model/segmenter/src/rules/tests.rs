use proptest::prelude::*;

use super::segments;

#[track_caller]
fn is(question: &str, expected: &[&str]) {
    assert_eq!(segments(question), expected, "{question}");
}

#[test]
fn regression_a_long_text_of_ands_is_split_in_time() {
    assert!(segments(&"and ".repeat(50_000)).len() < 2);
}

#[test]
fn years_make_one_segment_each() {
    is("what was the percentage change in net revenue from 2015 to 2016?", &["net revenue 2015", "net revenue 2016"]);
    is("What was Revenue in 2014 , 2015 and 2016?", &["Revenue 2014", "Revenue 2015", "Revenue 2016"]);
    is("what was total debt between 2008 and 2010", &["total debt 2008", "total debt 2010"]);
    is(
        "what is the average amortization amount , in millions , from 2016-2018?",
        &["amortization amount 2016", "amortization amount 2017", "amortization amount 2018"],
    );
    is("what is the growth in sales for 2016-2018?", &["sales 2016", "sales 2018"]);
    is("orders at december 31 , 2009 and december 31 , 2008", &["orders 2009", "orders 2008"]);
}

#[test]
fn a_change_in_a_year_is_from_the_year_before() {
    is("what was the growth in operating income in 2010?", &["operating income 2009", "operating income 2010"]);
    is("what was the operating income in 2010?", &["operating income 2010"]);
    is("what is the change in the 2010 budget?", &["budget 2010"]);
}

#[test]
fn shares_and_ratios_are_two_things() {
    is("what were dividends paid as a percentage of net income in 2012?", &["dividends paid 2012", "net income 2012"]);
    is(
        "ratio of IMFT's total assets to total liabilities in 2019",
        &["IMFT's total assets 2019", "total liabilities 2019"],
    );
    is(
        "what percentage of operating cash were dividends paid in 2012?",
        &["operating cash 2012", "dividends paid 2012"],
    );
    is("what portion of the total loss is related to guarantees in 2017?", &["total loss 2017", "guarantees 2017"]);
}

#[test]
fn comparisons_cross_things_and_years() {
    is(
        "difference between gross profit and net income in 2010 and 2009?",
        &["gross profit 2010", "gross profit 2009", "net income 2010", "net income 2009"],
    );
    is(
        "what is the difference in net sales between Europe and Asia in 2019?",
        &["net sales Europe 2019", "net sales Asia 2019"],
    );
    is("revenue in 2010 and cost of sales in 2011", &["revenue 2010", "cost of sales 2011"]);
}

#[test]
fn names_with_and_stay_whole() {
    is("what was research and development expense in 2012?", &["research and development expense 2012"]);
    is("what is the sum of cash and cash equivalents and goodwill?", &["cash and cash equivalents", "goodwill"]);
    is("what was property , plant and equipment in 2012?", &["property plant and equipment 2012"]);
    is("what were sales and purchases , respectively?", &["sales", "purchases"]);
}

#[test]
fn what_names_nothing_is_its_own_segment() {
    is("what was the change?", &["what was the change?"]);
    is("  what\nwas the change in 2010? ", &["what was the change in 2010?"]);
    is(" \n", &[]);
    is("?", &["?"]);
    is("Größe der ÄPFEL in 2010", &["Größe der ÄPFEL 2010"]);
}

#[rustfmt::skip]
const WORDS: [&str; 34] = [
    "what", "percentage", "of", "is", "the", "difference", "between", "and", "ratio", "to", "2010", "2012-2014",
    "from", ",", "in", "change", "revenue", "İstanbul", "ß-x", "both", "as", "a", "percent", "compared", "with",
    "-", "december", "31", "1900", "FY2019", "(net)", "2019's", "millions", "respectively",
];

proptest! {
    #[test]
    fn segments_are_whole_distinct_and_one_line_each(
        words in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..24),
        other in "\\PC{0,30}",
    ) {
        for question in [words.join(" "), other.clone(), format!("{}\n{other} {}", words.join(" "), words.concat())] {
            let found = segments(&question);
            prop_assert_eq!(found.is_empty(), question.trim().is_empty());
            prop_assert!(found.len() <= super::MOST);
            for (i, segment) in found.iter().enumerate() {
                prop_assert!(!segment.trim().is_empty() && !segment.contains(['\n', '\r']));
                prop_assert!(found[..i].iter().all(|other| other.to_lowercase() != segment.to_lowercase()));
            }
            prop_assert_eq!(segments(&question), found);
        }
    }
}
