//! The beginning of one question and the end of another, concatenated at a word that both have: new wordings that need
//! no labels by hand.

use std::collections::HashMap;

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// The most words of such a question.
const LONGEST: usize = 40;

/// As many questions as there are, each with the beginning of one of them; fewer where one shares no word with another.
pub(super) fn concatenated(questions: &[&str], rng: &mut ChaCha8Rng) -> Vec<String> {
    let words: Vec<Vec<&str>> = questions.iter().map(|question| question.split_whitespace().collect()).collect();
    let mut places: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for (question, words) in words.iter().enumerate() {
        for (at, word) in words.iter().enumerate().skip(1) {
            places.entry(word.to_lowercase()).or_default().push((question, at));
        }
    }
    let mut concatenate = |first: &Vec<&str>| -> Option<String> {
        let at = rng.random_range(1..first.len().max(2));
        let (begin, word) = (first.get(..at)?, first.get(at)?);
        let others = places.get(&word.to_lowercase())?;
        let (other, from) = others.get(rng.random_range(0..others.len()))?;
        let end = words.get(*other)?.get(*from..)?;
        let whole = [begin, end].concat();
        (whole.len() <= LONGEST).then(|| whole.join(" "))
    };
    words.iter().filter_map(&mut concatenate).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn a_question_goes_on_as_another_from_a_word_of_both() {
        let questions = ["What was revenue in 2015?", "how did costs grow In Europe", "single"];
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let all: Vec<String> = (0..50).flat_map(|_| concatenated(&questions, &mut rng)).collect();
        for expected in ["What was revenue In Europe", "how did costs grow in 2015?", "What was revenue in 2015?"] {
            assert!(all.iter().any(|question| question == expected), "{expected}: {all:?}");
        }
        assert!(all.iter().all(|question| questions.iter().any(|other| question.starts_with(&other[..4]))));
    }
}
