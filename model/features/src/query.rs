//! What kind of question it is; the same for every node.

use crate::dates;
use crate::marks::flag;
use crate::numbers::numbers;
use crate::question::Question;

pub(crate) const NAMES: [&str; 15] = [
    "percent",
    "change",
    "average",
    "total",
    "ratio",
    "portion",
    "range",
    "how_many",
    "if",
    "cumulative",
    "compared",
    "extreme",
    "years",
    "numbers",
    "words",
];

/// Beginnings of words that make a question one of a kind, in the order of [`NAMES`].
const KINDS: [&[&str]; 12] = [
    &["percent", "%"],
    &["change", "increase", "decrease", "grow", "declin", "rise", "rose", "fell", "differen", "reduc", "variation"],
    &["average", "mean"],
    &["total", "sum", "combined", "aggregate"],
    &["ratio", "proportion"],
    &["portion", "share", "percent of", "percentage of", "% of", "% ) of", "represent"],
    &["between"],
    &["how many", "how much"],
    &[],
    &["cumulative", "return", "invest"],
    &["compar", "than", "more", "less", "higher", "lower"],
    &["greater", "highest", "lowest", "maximum", "minimum", "range"],
];

/// [`NAMES`] of a question.
pub(crate) fn kinds(question: &Question) -> [f32; NAMES.len()] {
    let text = question.text().to_lowercase();
    let mut out = [0.0; NAMES.len()];
    for (out, kind) in out.iter_mut().zip(KINDS) {
        *out = flag(kind.iter().any(|start| text.contains(start)));
    }
    let from_to = text.split_once("from ").is_some_and(|(_, rest)| rest.contains(" to "));
    out[6] = out[6].max(flag(from_to));
    let words = || text.split(|c: char| !c.is_alphanumeric());
    out[8] = flag(words().any(|word| word == "if") || text.contains("would") || text.contains("assum"));
    out[12] = dates::years(&text).len() as f32 / 3.0;
    out[13] = numbers(&text).iter().filter(|number| number.tells()).count() as f32 / 3.0;
    out[14] = question.stems().len() as f32 / 20.0;
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_apart() {
        let kinds = kinds(&Question::new("What was the percentage change in sales from 2018 to 2019, if any?"));
        let set: Vec<&str> = NAMES.iter().zip(kinds).filter(|(_, value)| *value > 0.0).map(|(name, _)| *name).collect();
        assert_eq!(set, ["percent", "change", "range", "if", "years", "words"]);
    }
}
