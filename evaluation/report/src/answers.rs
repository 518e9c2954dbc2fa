//! Whether answers are right, counted as the data sets' own scripts count it.

use std::collections::BTreeSet;

/// Whether a value is what FinQA's program gives: a number to five places, or `yes` or `no` (Chen et al. 2021, its
/// `evaluate.py`).
pub fn executes_to(value: &str, expected: &str) -> bool {
    match (value.trim().parse::<f64>(), expected.trim().parse::<f64>()) {
        // Half a unit of the fifth place more, since both are rounded.
        (Ok(value), Ok(expected)) => (value - expected).abs() < 1.1e-5,
        (Err(_), Err(_)) => value.trim().eq_ignore_ascii_case(expected.trim()),
        _ => false,
    }
}

/// How far a hundredth may be from what is written without `%`, as a share of it: 3 is no 3.4 percent.
const UNSIGNED: f64 = 0.06;

/// Whether a value is what people wrote: the same number to the places that they wrote, a percentage as its hundredth too,
/// with its sign or without; `yes` or `no`.
pub fn rounds_to(value: &str, written: &str) -> bool {
    let Ok(value) = value.trim().parse::<f64>() else {
        return value.trim().eq_ignore_ascii_case(written.trim());
    };
    let digits: String = written.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let places = digits.trim_end_matches('.').split_once('.').map_or(0, |(_, places)| places.len().min(9));
    let Some(expected) = number_of(&written.replace('%', "")) else { return false };
    let half = 0.5001 * 10_f64.powi(-(places as i32));
    let near = |value: f64, most: f64| (value.abs() - expected.abs()).abs() <= half.min(most);
    if written.contains('%') {
        return near(value * 100.0, half);
    }
    expected != 0.0 && (near(value, half) || near(value * 100.0, UNSIGNED * expected.abs()))
}

/// Exact match and F1 of TAT-QA (Zhu et al. 2021, its `tatqa_metric.py`): numbers with their scale to four places, texts
/// by their words. F1 counts of `arithmetic` and `count` what exact match does.
///
/// `found` and `expected` are lists of answers, `scale` and `expected_scale` `thousand`, `million`, `billion`, `percent` or
/// nothing.
pub fn tatqa(found: &[String], scale: &str, expected: &[String], expected_scale: &str, kind: &str) -> (f32, f32) {
    if found.iter().all(|text| text.trim().is_empty()) {
        return (0.0, 0.0);
    }
    let gold = with_scale(expected, expected_scale);
    let mut strings = vec![with_scale(found, scale)];
    // 0.2342 for 23.42 percent.
    if let [text] = found
        && scale.is_empty()
        && !text.contains('%')
        && let Some(number) = number_of(text)
    {
        strings.push(format!("{number:.4}"));
    }
    let scores = strings.iter().map(|string| {
        let (of_found, of_gold) = (tokens(string), tokens(&gold));
        let exact = normalised(string) == normalised(&gold);
        (f32::from(u8::from(exact)), f1(&of_found, &of_gold))
    });
    let (exact, overlap) = scores.fold((0.0_f32, 0.0_f32), |best, of| (best.0.max(of.0), best.1.max(of.1)));
    if matches!(kind, "arithmetic" | "count") { (exact, exact) } else { (exact, overlap) }
}

/// Answers in alphabetic order as one text, numbers times their scale.
fn with_scale(answers: &[String], scale: &str) -> String {
    let mut sorted: Vec<&str> = answers.iter().map(|answer| answer.trim()).collect();
    sorted.sort_unstable();
    let texts: Vec<String> = sorted
        .into_iter()
        .map(|answer| match number_of(answer) {
            Some(number) if answer.contains('%') => format!("{number:.4}"),
            Some(number) => format!("{:.4}", (number * 100.0).round() / 100.0 * factor(scale)),
            None if scale.is_empty() => answer.to_owned(),
            None => format!("{answer} {scale}"),
        })
        .collect();
    texts.join(" ")
}

fn factor(scale: &str) -> f64 {
    match scale {
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        "percent" => 0.01,
        _ => 1.0,
    }
}

/// The number that a text is, brackets and minus signs read as negative, a percentage as a hundredth, a word of scale
/// multiplied out; `None` for words.
fn number_of(text: &str) -> Option<f64> {
    let lower = text.trim().to_lowercase();
    let scale = ["thousand", "million", "billion"].into_iter().find(|scale| lower.contains(scale));
    let bare = scale.map_or_else(|| lower.clone(), |scale| lower.replace(scale, ""));
    let negative = bare.contains('(') || bare.trim_start_matches(['$', '€', '£', ' ']).starts_with(['-', '−', '–']);
    let digits: String = bare.chars().filter(|c| !"$€£,()%-−– ".contains(*c)).collect();
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let number: f64 = digits.parse().ok()?;
    let number = number * scale.map_or(1.0, factor) * if bare.contains('%') { 0.01 } else { 1.0 };
    number.is_finite().then_some(if negative { -number } else { number })
}

fn normalised(text: &str) -> String {
    tokens(text).join(" ")
}

/// Words in lower case without articles and marks, numbers as they print.
fn tokens(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| c.is_whitespace() || c == '-').filter_map(|word| {
        if let Ok(number) = word.parse::<f64>() {
            return Some(number.to_string());
        }
        let bare: String = word.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
        let number = bare.parse::<f64>().map(|number| number.to_string());
        let bare = number.unwrap_or(bare);
        (!bare.is_empty() && !matches!(bare.as_str(), "a" | "an" | "the")).then_some(bare)
    });
    words.collect()
}

/// F1 over the sets of words, rounded to two places as DROP's script has it.
fn f1(found: &[String], expected: &[String]) -> f32 {
    let (found, expected): (BTreeSet<&String>, BTreeSet<&String>) = (found.iter().collect(), expected.iter().collect());
    let shared = found.intersection(&expected).count() as f32;
    if shared == 0.0 {
        return 0.0;
    }
    let (precision, recall) = (shared / found.len() as f32, shared / expected.len() as f32);
    (200.0 * precision * recall / (precision + recall)).round() / 100.0
}

/// How near two answers must be to be the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// As GraphOTTER's script: signs and percent signs count nothing, numbers may differ by .01.
    Authors,
    /// Numbers to rounding errors with their sign, texts but for case, spaces and currency signs.
    Strict,
}

/// Whether lists of answers are the same in any order: HiTab's and AIT-QA's exact match.
pub fn same(found: &[String], expected: &[String], strictness: Strictness) -> bool {
    let mut left: Vec<&String> = expected.iter().collect();
    found.len() == expected.len()
        && !found.is_empty()
        && found.iter().all(|found| {
            let at = left.iter().position(|expected| same_text(found, expected, strictness));
            at.map(|at| left.swap_remove(at)).is_some()
        })
}

fn same_text(found: &str, expected: &str, strictness: Strictness) -> bool {
    let bare = |text: &str| -> String {
        text.to_lowercase().chars().filter(|c| !c.is_whitespace() && !"$€£".contains(*c)).collect()
    };
    if !bare(found).is_empty() && bare(found) == bare(expected) {
        return true;
    }
    let number = |text: &str| number_of(&text.replace('%', ""));
    let near = |found: f64, expected: f64, rounding: f64| match strictness {
        Strictness::Authors => (found.abs() - expected.abs()).abs() <= 0.01 + 1e-9,
        Strictness::Strict => (found - expected).abs() <= 1e-5 * expected.abs().max(1.0) + rounding,
    };
    let (Some(shown), Some(expected)) = (number(found), number(expected)) else { return false };
    // 63.44 % is .6344 too where that is nearer: some data sets write shares so.
    let as_share =
        found.contains('%') && (expected.abs() - shown.abs() / 100.0).abs() < (expected.abs() - shown.abs()).abs();
    if as_share { near(shown / 100.0, expected, 5e-5) } else { near(shown, expected, 0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn finqa_counts_to_five_places() {
        assert!(executes_to("0.14464", "0.144643") && !executes_to("0.1447", "0.14464"));
        assert!(executes_to("yes", "yes") && !executes_to("no", "yes") && !executes_to("1", "yes"));
    }

    #[test]
    fn what_people_wrote_is_rounded() {
        assert!(rounds_to("0.14464", "14.5%") && rounds_to("0.14464", "14%") && !rounds_to("0.14464", "14.4%"));
        assert!(rounds_to("0.4709", "47.1") && rounds_to("0.118", "12") && !rounds_to("0.034", "3"));
        assert!(rounds_to("-12.34", "$ -12.3") && rounds_to("yes", "Yes") && !rounds_to("12", "twelve"));
    }

    #[test]
    fn tatqa_counts_scales_and_words() {
        let score = |found: &[&str], scale, gold: &[&str], of_gold, kind| {
            tatqa(&list(found), scale, &list(gold), of_gold, kind)
        };
        assert_eq!(score(&["87,128"], "", &["87,128"], "", "span"), (1.0, 1.0));
        assert_eq!(score(&["18,778"], "thousand", &["18778"], "thousand", "arithmetic"), (1.0, 1.0));
        assert_eq!(score(&["18,778"], "", &["18778"], "thousand", "arithmetic"), (0.0, 0.0));
        assert_eq!(score(&["-5.93 %"], "", &["-5.93"], "percent", "arithmetic"), (1.0, 1.0));
        assert_eq!(score(&["-0.0593"], "", &["-5.93"], "percent", "arithmetic"), (1.0, 1.0));
        assert_eq!(score(&["155", "113"], "thousand", &["113", "155"], "thousand", "multi-span"), (1.0, 1.0));
        assert_eq!(score(&["The May, 2014"], "", &["May 2014"], "", "span"), (1.0, 1.0));
        assert_eq!(score(&["in May 2014"], "", &["May 2014"], "", "span"), (0.0, 0.8));
        assert_eq!(score(&["$1,082"], "thousand", &["$1,082"], "thousand", "span"), (1.0, 1.0));
        assert_eq!(score(&[""], "", &["1"], "", "span"), (0.0, 0.0));
    }

    #[test]
    fn exact_match_is_the_authors_or_strict() {
        let is = |found: &[&str], gold: &[&str], strictness| same(&list(found), &list(gold), strictness);
        assert!(is(&["$5,813"], &["5813.0"], Strictness::Strict));
        assert!(is(&["(12)"], &["12"], Strictness::Authors) && !is(&["(12)"], &["12"], Strictness::Strict));
        assert!(is(&["11.304 %"], &["11.3"], Strictness::Authors) && !is(&["11.304 %"], &["11.3"], Strictness::Strict));
        assert!(
            is(&["Women", "men"], &["men", "women"], Strictness::Strict)
                && !is(&["men"], &["men", "men"], Strictness::Authors)
        );
        assert!(
            is(&["63.44 %"], &["0.634422"], Strictness::Strict) && !is(&["63.44 %"], &["0.6"], Strictness::Authors)
        );
        assert!(!is(&[], &[], Strictness::Authors) && !is(&["12 years"], &["12"], Strictness::Authors));
    }
}
