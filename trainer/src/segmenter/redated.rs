//! Questions whose years are told in another way: a range for a pair, a list for one. What needs no labels by hand may
//! ask for many things as often as it asks for two, which people seldom do.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet_segmenter::pointing::bare;

/// Years that stand no further apart belong together: "from 2015 to 2016", "2019, 2018 and 2017".
const NEAR: usize = 3;
/// Words that may come before a first year in `FORMS`.
const JOINED: [&str; 6] = ["from", "between", "in", "for", "of", "during"];
/// Ways to tell years: `{0}` is the first of them, `{1}` the next, and so on.
const FORMS: [&str; 14] = [
    "in {0}",
    "from {0} to {1}",
    "between {0} and {1}",
    "in {1} and {0}, respectively",
    "in {0} compared to {1}",
    "from {0} to {2}",
    "from {0}-{2}",
    "in {2}, {1} and {0}, respectively",
    "for fiscal years {2}, {1}, and {0}",
    "for {0}, {1} and {2}",
    "over the years {0} through {2}",
    "from {0} to {3}",
    "in {0}, {1}, {2} and {3}",
    "in the years {3}, {2}, {1} and {0}",
];

/// The question with the years that stand together in it, and the word before them that leads to them, told in another
/// way. None where it has no year, or years in several places.
pub(super) fn redated(question: &str, rng: &mut ChaCha8Rng) -> Option<String> {
    let words: Vec<&str> = question.split_whitespace().collect();
    let years: Vec<(usize, u32)> =
        words.iter().enumerate().filter_map(|(at, word)| Some((at, year(bare(word))?))).collect();
    let (&(first, _), &(last, _)) = (years.first()?, years.last()?);
    let least = years.iter().map(|(_, year)| *year).min()?;
    if years.windows(2).any(|pair| pair[1].0 - pair[0].0 > NEAR) {
        return None;
    }
    let form = FORMS.get(rng.random_range(0..FORMS.len()))?;
    let told =
        (0..4).fold((*form).to_owned(), |told, nth| told.replace(&format!("{{{nth}}}"), &(least + nth).to_string()));
    let leads = first.checked_sub(1).filter(|&before| words.get(before).is_some_and(|word| is_joined(word)));
    let begin = words.get(..leads.unwrap_or(first))?;
    // Marks behind the last year stay where they are.
    let end = words.get(last).and_then(|word| word.rsplit(|c: char| c.is_ascii_digit()).next()).unwrap_or_default();
    let told = told + end;
    Some([begin, &[told.as_str()], words.get(last + 1..)?].concat().join(" "))
}

fn is_joined(word: &str) -> bool {
    JOINED.iter().any(|joined| word.eq_ignore_ascii_case(joined))
}

fn year(word: &str) -> Option<u32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1950..2095).contains(year))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng as _;

    use super::*;

    fn all(question: &str) -> BTreeSet<String> {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        (0..300).filter_map(|_| redated(question, &mut rng)).collect()
    }

    #[test]
    fn years_that_stand_together_are_told_in_another_way() {
        let found = all("What was the change in revenue from 2015 to 2016?");
        assert_eq!(found.len(), FORMS.len(), "{found:?}");
        for expected in [
            "What was the change in revenue in 2015?",
            "What was the change in revenue for 2015, 2016 and 2017?",
            "What was the change in revenue from 2015-2017?",
        ] {
            assert!(found.contains(expected), "{found:?}");
        }
        assert!(all("in 2019, 2018 and 2017 what was revenue").contains("from 2017 to 2020 what was revenue"));
    }

    #[test]
    fn questions_without_years_or_with_some_here_and_some_there_stay_out() {
        assert!(all("What was revenue of the 12 stores?").is_empty());
        assert!(all("What was revenue in 2015 as a percentage of that in 2016?").is_empty());
        assert!(all("").is_empty());
    }
}
