//! What the model reads and how its output is cut into segments.

use serde::{Deserialize, Serialize};

use crate::rules;

/// The file that holds it beside a model's weights.
pub(crate) const FILE: &str = "segmenter.json";

/// The text before a question and the word between segments; stored with a model, since a model
/// knows the one that it was trained with alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prompt {
    /// Stands before the question, blanks included.
    pub prefix: String,
    /// The word between two segments.
    pub separator: String,
    /// Whether segments are written in pointers to the question's words and the years it means ([`crate::Pointing`]).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pointers: bool,
    /// Whether the model reads behind each word which segments the rules put it into; with pointers alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub proposals: bool,
}

impl Default for Prompt {
    fn default() -> Self {
        Self {
            prefix: "Find segments of the given question which are needed to answer it. (separate segments by SEP) \
                     Query: "
                .to_owned(),
            separator: "SEP".to_owned(),
            pointers: false,
            proposals: false,
        }
    }
}

impl Prompt {
    /// The last so many sentinels stand for the segments that the rules propose, not for words.
    pub(crate) fn reserved(&self) -> usize {
        if self.proposals { rules::MOST } else { 0 }
    }

    /// What the model reads.
    pub fn input(&self, question: &str) -> String {
        format!("{}{}", self.prefix, question.trim())
    }

    /// What the model should write.
    pub fn target<S: AsRef<str>>(&self, segments: &[S]) -> String {
        let segments: Vec<&str> = segments.iter().map(|segment| segment.as_ref().trim()).collect();
        segments.join(&format!(" {} ", self.separator))
    }

    /// The segments of an output: cut at the separator where it stands as a word of its own, blanks
    /// at the ends and empty ones dropped, of those that differ in case alone the first.
    pub fn segments(&self, output: &str) -> Vec<String> {
        let mut segments: Vec<String> = Vec::new();
        let mut known: Vec<String> = Vec::new();
        let words: Vec<&str> = output.split_whitespace().collect();
        for words in words.split(|word| *word == self.separator) {
            let segment = words.join(" ");
            let key = segment.to_lowercase();
            if !segment.is_empty() && !known.contains(&key) {
                known.push(key);
                segments.push(segment);
            }
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn output_is_cut_at_the_separator_as_a_word() {
        let prompt = Prompt::default();
        assert_eq!(
            prompt.segments(" revenue  of 2019 SEP Revenue of 2018 SEP SEP revenue of 2018 SEP SEPTEMBER sales"),
            ["revenue of 2019", "Revenue of 2018", "SEPTEMBER sales"]
        );
        assert!(prompt.segments(" SEP  SEP ").is_empty());
        assert_eq!(prompt.segments("no separator"), ["no separator"]);
        assert!(prompt.input(" what? ").ends_with("(separate segments by SEP) Query: what?"));
    }

    proptest! {
        #[test]
        fn what_a_target_joins_is_cut_again(segments in proptest::collection::vec("[a-z]{1,6}( [0-9]{1,4})?", 1..6)) {
            let prompt = Prompt::default();
            let mut once: Vec<String> = Vec::new();
            for segment in &segments {
                if !once.contains(segment) {
                    once.push(segment.clone());
                }
            }
            prop_assert_eq!(prompt.segments(&prompt.target(&segments)), once);
        }

        #[test]
        fn no_segment_is_empty_or_twice(output in "[ aAbS\u{00df}EP\n]{0,60}") {
            let segments = Prompt::default().segments(&output);
            for (i, segment) in segments.iter().enumerate() {
                prop_assert!(!segment.trim().is_empty());
                prop_assert!(segments[..i].iter().all(|other| other.to_lowercase() != segment.to_lowercase()));
            }
        }
    }
}
