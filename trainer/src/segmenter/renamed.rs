//! Questions about other things in other years: what a question asks for gets other names, in it and in its segments,
//! so that a model learns how questions ask rather than what for.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet_segmenter::data::LabelledQuestion;
use tabsegnet_segmenter::pointing::{Place, bare, places};

/// The share of names that are changed.
const CHANGED: f64 = 0.75;
/// Years move by a common number of at most so much.
const SHIFT: i64 = 7;
const YEARS: std::ops::Range<i64> = 1950..2100;

/// The question with names drawn from `names`. A name is words that stand together in the question and in the same
/// segments; such that have digits stay, but for years, which all move by one number.
pub(super) fn renamed(labelled: &LabelledQuestion, names: &[&str], rng: &mut ChaCha8Rng) -> LabelledQuestion {
    let words: Vec<&str> = labelled.question.split_whitespace().collect();
    let segments = places(&words, &labelled.segments);
    let shift = rng.random_range(-SHIFT..=SHIFT);
    let mut texts: Vec<String> = words.iter().map(|word| moved(word, shift)).collect();
    // The word of a segment at each place.
    let mut in_segments: Vec<String> = texts.iter().map(|text| bare(text).to_owned()).collect();
    let members = |word: &str, at: usize| -> Vec<usize> {
        let digits = word.contains(|c: char| c.is_ascii_digit());
        let has = |segment: &&usize| segments.get(**segment).is_some_and(|places| places.contains(&Place::Word(at)));
        let all: Vec<usize> = (0..segments.len()).collect();
        all.iter().filter(has).filter(|_| !digits && !bare(word).is_empty()).copied().collect()
    };
    let members: Vec<Vec<usize>> = words.iter().enumerate().map(|(at, word)| members(word, at)).collect();
    let mut at = 0;
    for name in members.chunk_by(|a, b| a == b) {
        let (first, last) = (at, at + name.len() - 1);
        at += name.len();
        let is_name = name.first().is_some_and(|members| !members.is_empty());
        if !is_name || names.is_empty() || !rng.random_bool(CHANGED) {
            continue;
        }
        let new = names.get(rng.random_range(0..names.len())).copied().unwrap_or_default();
        let end: String = {
            let word = words.get(last).copied().unwrap_or_default();
            let marks = word.rfind(bare(word)).map_or(0, |start| start + bare(word).len());
            word.get(marks..).unwrap_or_default().to_owned()
        };
        for place in first..=last {
            let (text, segment_word) = (texts.get_mut(place), in_segments.get_mut(place));
            let (Some(text), Some(segment_word)) = (text, segment_word) else { continue };
            text.clear();
            segment_word.clear();
            if place == first {
                segment_word.push_str(new);
                text.push_str(new);
                text.push_str(&end);
            }
        }
    }
    let word = |place: &Place| match place {
        Place::Word(at) => in_segments.get(*at).cloned().unwrap_or_default(),
        Place::Other(word) => moved(word, shift),
    };
    let segments = segments.iter().map(|places| joined(places.iter().map(word))).collect();
    LabelledQuestion { id: labelled.id.clone(), question: joined(texts.into_iter()), segments }
}

fn joined(words: impl Iterator<Item = String>) -> String {
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A word with each year in it moved.
fn moved(word: &str, shift: i64) -> String {
    let (mut text, mut digits) = (String::new(), String::new());
    for c in word.chars().map(Some).chain([None]) {
        match c {
            Some(c) if c.is_ascii_digit() => digits.push(c),
            _ => {
                let year = digits.parse().ok().filter(|year| digits.len() == 4 && YEARS.contains(year));
                text.push_str(&year.map_or_else(|| digits.clone(), |year: i64| (year + shift).to_string()));
                digits.clear();
                text.extend(c);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    fn of(question: &str, segments: &[&str], seed: u64) -> LabelledQuestion {
        let segments = segments.iter().map(|&segment| segment.to_owned()).collect();
        let labelled = LabelledQuestion { id: "q".into(), question: question.into(), segments };
        renamed(&labelled, &["other thing"], &mut ChaCha8Rng::seed_from_u64(seed))
    }

    #[test]
    fn names_and_years_change_in_question_and_segments_alike() {
        let question = "What was the ratio of (net) revenue, to cost in 2015 and 2016?";
        let all: Vec<LabelledQuestion> = (0..900)
            .map(|seed| of(question, &["net revenue 2015", "net revenue 2016", "cost 2015", "cost 2016"], seed))
            .collect();
        let both = all.iter().find(|one| one.question.matches("other thing").count() == 2).unwrap();
        assert!(both.question.starts_with("What was the ratio of other thing, to other thing in "), "{both:?}");
        let one = all.iter().find(|one| one.question.contains("other thing, to cost in 2011 and 2012?")).unwrap();
        assert_eq!(one.segments, ["other thing 2011", "other thing 2012", "cost 2011", "cost 2012"]);
        let none = all.iter().find(|one| !one.question.contains("other")).unwrap();
        assert!(none.question.contains("(net) revenue, to cost"), "{none:?}");
    }

    #[test]
    fn years_that_the_question_does_not_have_move_with_it() {
        assert_eq!(moved("FY2015-2016,", 2), "FY2017-2018,");
        assert_eq!(moved("20151", 2), "20151");
        let changed = of("change in 2010", &["change 2009", "change 2010"], 3);
        let years: Vec<i64> = changed.segments.iter().map(|text| text[text.len() - 4..].parse().unwrap()).collect();
        assert_eq!(years[1] - years[0], 1, "{changed:?}");
    }
}
