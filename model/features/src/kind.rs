//! What kind of question it is; the same for every node.

use crate::dates;
use crate::numbers::numbers;
use crate::question::Question;
use crate::schema::flag;

crate::features! {
    /// What kind of question it is, by beginnings of words.
    pub(crate) struct Kind(text: &str, question: &Question) {
        percent: has(text, &["percent", "%"]),
        change: has(text, &CHANGES),
        average: has(text, &["average", "mean"]),
        total: has(text, &["total", "sum", "combined", "aggregate"]),
        ratio: has(text, &["ratio", "proportion"]),
        portion: has(text, &["portion", "share", "percent of", "percentage of", "% of", "% ) of", "represent"]),
        range: has(text, &["between"]).max(flag(text.split_once("from ").is_some_and(|(_, rest)| rest.contains(" to ")))),
        how_many: has(text, &["how many", "how much"]),
        conditional = "if": has(text, &["would", "assum"])
            .max(flag(text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "if"))),
        cumulative: has(text, &["cumulative", "return", "invest"]),
        compared: has(text, &["compar", "than", "more", "less", "higher", "lower"]),
        extreme: has(text, &["greater", "highest", "lowest", "maximum", "minimum", "range"]),
        years: dates::years(text).len() as f32 / 3.0,
        numbers: numbers(text).iter().filter(|number| number.is_distinctive()).count() as f32 / 3.0,
        words: question.stems().len() as f32 / 20.0,
    }
}

const CHANGES: [&str; 11] =
    ["change", "increase", "decrease", "grow", "declin", "rise", "rose", "fell", "differen", "reduc", "variation"];

fn has(text: &str, any: &[&str]) -> f32 {
    flag(any.iter().any(|part| text.contains(part)))
}

/// The kind of a question.
pub(crate) fn kind(question: &Question) -> Kind {
    Kind::of(&question.text().to_lowercase(), question)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema as _;

    #[test]
    fn questions_are_of_several_kinds_at_once() {
        let kind = kind(&Question::new("What was the percentage change in sales from 2018 to 2019, if any?"));
        let mut values = [0.0; Kind::COUNT];
        kind.write(&mut values);
        let names = Kind::names().into_iter().zip(values).filter(|(_, value)| *value > 0.0);
        let names: Vec<String> = names.map(|(name, _)| name).collect();
        assert_eq!(names, ["percent", "change", "range", "if", "years", "words"]);
    }
}
