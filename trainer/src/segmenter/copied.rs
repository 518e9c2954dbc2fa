//! Targets for a model that writes words of the question alone.

use std::collections::HashSet;

use tabsegnet_segmenter::data::LabelledQuestion;

/// The question with segments of its own words, years aside: other words are left out of them, and of segments
/// that are then alike one stays. None where a segment has fewer than half of its words in the question: a table
/// has other names for what is asked for, and what is left says nothing.
pub(super) fn projected(labelled: &LabelledQuestion) -> Option<LabelledQuestion> {
    let words: HashSet<String> = labelled.question.split_whitespace().map(key).collect();
    let mut segments: Vec<String> = Vec::new();
    for segment in &labelled.segments {
        let all: Vec<&str> = segment.split_whitespace().collect();
        let kept: Vec<&str> = all.iter().copied().filter(|word| words.contains(&key(word)) || is_year(word)).collect();
        if kept.is_empty() || kept.len() * 2 < all.len() {
            return None;
        }
        let text = kept.join(" ");
        if !segments.contains(&text) {
            segments.push(text);
        }
    }
    Some(LabelledQuestion { segments, ..labelled.clone() })
}

/// A word in lower case, without marks around it.
fn key(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u32>().is_ok_and(|year| (1900..2100).contains(&year))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(question: &str, segments: &[&str]) -> Option<Vec<String>> {
        let segments = segments.iter().map(|&segment| segment.to_owned()).collect();
        projected(&LabelledQuestion { id: "q".into(), question: question.into(), segments }).map(|q| q.segments)
    }

    #[test]
    fn words_that_the_question_does_not_have_are_left_out() {
        let question = "What was the change in (net) revenue from 2015 to 2016?";
        assert_eq!(
            of(question, &["Net revenue 2015", "Net revenue 2016"]).unwrap(),
            ["Net revenue 2015", "Net revenue 2016"]
        );
        assert_eq!(of(question, &["Total net revenue 2015"]).unwrap(), ["net revenue 2015"]);
        assert_eq!(of(question, &["net revenue 2014 total", "net revenue 2014"]).unwrap(), ["net revenue 2014"]);
        assert_eq!(of(question, &["net revenue 2015", "cost of goods sold 2016"]), None);
    }
}
