//! Pointers to a question's words (Vinyals et al. 2015): each word stands behind a marker of its own, and a segment is
//! written in markers. So a model that starts from nothing needs not learn to spell words that it has never seen. Years
//! that a question means without naming them (a change in 2010 is one from 2009) follow it, each behind a marker as well.

use std::ops::Range;

use crate::rules;

/// What numbers are years.
const YEARS: Range<u32> = 1950..2100;
/// Years that lie further apart have none between them that is meant.
const LONGEST: u32 = 6;
/// Of segments, the most words that the question does not have, 1 in so many.
const OTHER_WORDS: usize = 2;

/// A question as a model with pointers reads it, and what its markers stand for.
#[derive(Debug, Clone)]
pub struct Pointing {
    input: Vec<u32>,
    /// Marker and word, without its punctuation, in the order of the question.
    words: Vec<(u32, String)>,
    separator: Vec<u32>,
    /// What the rules find, for a model that reads it: written in markers, where it can be.
    proposal: Option<Vec<u32>>,
}

/// What a pointing depends on beside the question.
pub(crate) struct Tokens<'t> {
    pub(crate) prefix: Vec<u32>,
    pub(crate) markers: &'t [u32],
    /// One for each segment of the rules, for a model that reads what they propose.
    pub(crate) proposals: &'t [u32],
    pub(crate) separator: Vec<u32>,
    pub(crate) end: u32,
    pub(crate) limit: usize,
}

impl Pointing {
    /// `encoded` gives the tokens of a word. Words beyond the markers or the limit cannot be pointed at.
    pub(crate) fn new<E>(
        question: &str,
        tokens: Tokens<'_>,
        encoded: impl Fn(&str) -> Result<Vec<u32>, E>,
    ) -> Result<(Self, usize), E> {
        let (mut input, mut words) = (tokens.prefix, Vec::new());
        let mut markers = tokens.markers.iter();
        let own: Vec<&str> = question.split_whitespace().collect();
        let meant = meant_years(&own);
        let all: Vec<&str> = own.into_iter().chain(meant.iter().map(String::as_str)).collect();
        // Behind a word's marker stand those of the segments that the rules put it into.
        let of_rules = if tokens.proposals.is_empty() { Vec::new() } else { rules::segments(question) };
        let proposed = places(&all, &of_rules);
        for (at, &word) in all.iter().enumerate() {
            let bare = bare(word);
            if !bare.is_empty()
                && let Some(&marker) = markers.next()
            {
                if input.len() + 1 < tokens.limit {
                    words.push((marker, bare.to_owned()));
                }
                input.push(marker);
                let of_word =
                    proposed.iter().zip(tokens.proposals).filter(|(places, _)| places.contains(&Place::Word(at)));
                input.extend(of_word.map(|(_, token)| token));
            }
            input.extend(encoded(word)?);
        }
        let whole = input.len() + 1;
        input.truncate(tokens.limit.saturating_sub(1));
        input.push(tokens.end);
        let mut pointing = Self { input, words, separator: tokens.separator, proposal: None };
        pointing.proposal = pointing.target(&of_rules).filter(|tokens| !tokens.is_empty());
        Ok((pointing, whole))
    }

    /// What the rules find, in markers and without the end token; none where the model does not read it.
    pub(crate) fn proposal(&self) -> Option<&[u32]> {
        self.proposal.as_deref()
    }

    /// What is read, the end token last.
    pub fn input(&self) -> &[u32] {
        &self.input
    }

    /// The tokens of segments, without the end token: markers of their words. Other words are left out, and
    /// of segments that are then equal one stays. None where more than half of the words of one are left out: it has
    /// other names for what is wanted.
    pub fn target<S: AsRef<str>>(&self, segments: &[S]) -> Option<Vec<u32>> {
        let words: Vec<&str> = self.words.iter().map(|(_, word)| word.as_str()).collect();
        let mut written: Vec<Vec<u32>> = Vec::new();
        for (segment, places) in segments.iter().zip(places(&words, segments)) {
            let token = |place: Place| match place {
                Place::Word(at) => self.words.get(at).map(|(marker, _)| *marker),
                Place::Other(_) => None,
            };
            let mut tokens: Vec<u32> = Vec::new();
            for token in places.into_iter().filter_map(token) {
                if !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
            if tokens.is_empty() || tokens.len() * OTHER_WORDS < segment.as_ref().split_whitespace().count() {
                return None;
            }
            if !written.contains(&tokens) {
                written.push(tokens);
            }
        }
        Some(written.join(self.separator.as_slice()))
    }

    /// Makes what may not follow `written` impossible: all but markers that the segment does not have, the
    /// separator and the end. No other segment follows one that was written before: a small model else goes round in
    /// circles.
    pub(crate) fn bar(&self, written: &[u32], end: u32, logits: &mut [f32]) {
        let begins = self.separator.last();
        let start = written.iter().rposition(|token| Some(token) == begins).map_or(0, |at| at + 1);
        let segment = written.get(start..).unwrap_or_default();
        let own = self.words.iter().map(|(token, _)| token);
        let before = written.get(..start).unwrap_or_default();
        let again = before.split(|token| Some(token) == begins).any(|other| other == segment);
        let separator = if segment.is_empty() || again { &[] } else { self.separator.as_slice() };
        let open = own.filter(|token| !segment.contains(token)).chain(separator).chain([&end]);
        let kept: Vec<(usize, f32)> =
            open.filter_map(|&token| Some((token as usize, *logits.get(token as usize)?))).collect();
        logits.fill(f32::NEG_INFINITY);
        for (token, logit) in kept {
            if let Some(place) = logits.get_mut(token) {
                *place = logit;
            }
        }
    }

    /// What was written, `separator` between segments.
    pub(crate) fn text(&self, written: &[u32], separator: &str) -> String {
        let word = |token: &u32| {
            let own = self.words.iter().find(|(other, _)| other == token);
            let own = own.map(|(_, word)| word.as_str());
            own.or_else(|| (self.separator.last() == Some(token)).then_some(separator))
        };
        written.iter().filter_map(word).collect::<Vec<_>>().join(" ")
    }
}

/// Years that a question can mean and does not have as words, in order: the one before all that it names, and those
/// between them.
fn meant_years(words: &[&str]) -> Vec<String> {
    let digits = |word: &&str| -> Vec<String> {
        word.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).map(str::to_owned).collect()
    };
    let mut named: Vec<u32> = Vec::new();
    for numbers in words.iter().map(digits) {
        let mut century = None;
        for number in numbers {
            let year = match (number.len(), century) {
                (4, _) => number.parse().ok(),
                // "2016-18"
                (2, Some(century)) => number.parse().ok().map(|year: u32| century + year),
                _ => None,
            };
            let year = year.filter(|year| YEARS.contains(year));
            century = year.map(|year| year / 100 * 100);
            named.extend(year);
        }
    }
    let (Some(&first), Some(&last)) = (named.iter().min(), named.iter().max()) else { return Vec::new() };
    let last = if last - first < LONGEST { last } else { first };
    let years = (first.saturating_sub(1)..=last).map(|year| year.to_string());
    years.filter(|year| !words.iter().any(|word| bare(word) == year)).collect()
}

/// Where a word of a segment stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In the question, by number.
    Word(usize),
    /// Nowhere.
    Other(String),
}

/// Where each word of each segment stands among the words of a question: of several places where most words after it
/// follow as well, of such the first that the segment has not used.
pub fn places<W: AsRef<str>, S: AsRef<str>>(words: &[W], segments: &[S]) -> Vec<Vec<Place>> {
    let known: Vec<String> = words.iter().map(|word| key(word.as_ref())).collect();
    let of_segment = |segment: &S| {
        let wanted: Vec<String> = segment.as_ref().split_whitespace().map(key).collect();
        let mut places: Vec<Place> = Vec::new();
        for (at, word) in wanted.iter().enumerate() {
            let run = |place: usize| known.iter().skip(place).zip(wanted.iter().skip(at)).take_while(|(a, b)| a == b);
            let mut best = (0, Place::Other(word.clone()));
            for place in 0..known.len() {
                let length = run(place).count();
                if length > best.0 && !places.contains(&Place::Word(place)) {
                    best = (length, Place::Word(place));
                }
            }
            places.push(best.1);
        }
        places
    };
    segments.iter().map(of_segment).collect()
}

/// A word without its punctuation.
pub fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '$' | '€' | '£' | '¥' | '%' | '&')))
}

/// What words have in common that are the same.
fn key(word: &str) -> String {
    let letters = word.trim_matches(|c: char| !c.is_alphanumeric());
    if letters.is_empty() { word.to_owned() } else { letters.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MARKERS: [u32; 40] = {
        let mut markers = [0; 40];
        let mut at = 0;
        while at < 40 {
            markers[at] = 100 + at as u32;
            at += 1;
        }
        markers
    };

    /// Words are one token, 10 and their length; 9 is the separator, 1 is the end.
    fn pointing(question: &str, limit: usize) -> Pointing {
        let (prefix, separator) = (vec![8], vec![9]);
        let tokens = Tokens { prefix, markers: &MARKERS, proposals: &[], separator, end: 1, limit };
        let encoded = |word: &str| Ok::<_, std::convert::Infallible>(vec![10 + word.chars().count() as u32]);
        Pointing::new(question, tokens, encoded).unwrap().0
    }

    #[test]
    fn each_word_stands_behind_its_marker_and_what_is_none_has_none() {
        let whole = pointing("net (revenue) ?", 99);
        assert_eq!(whole.input(), [8, 100, 13, 101, 19, 11, 1]);
        assert_eq!(whole.text(&[101, 50, 9, 100], "|"), "revenue | net");
        // A word whose marker is cut off cannot be pointed at.
        let cut = pointing("net (revenue) ?", 4);
        assert_eq!(cut.input(), [8, 100, 13, 1]);
        assert_eq!((cut.target(&["net"]), cut.target(&["revenue"])), (Some(vec![100]), None));
    }

    #[test]
    fn what_the_rules_propose_stands_behind_the_markers() {
        let tokens =
            Tokens { prefix: vec![], markers: &MARKERS, proposals: &[7, 6], separator: vec![9], end: 1, limit: 99 };
        let encoded = |word: &str| Ok::<_, std::convert::Infallible>(vec![10 + word.chars().count() as u32]);
        let question = "change in revenue from 2015 to 2016";
        assert_eq!(rules::segments(question), ["revenue 2015", "revenue 2016"]);
        let (pointing, _) = Pointing::new(question, tokens, encoded).unwrap();
        // The years before stand behind the question, in no segment of the rules.
        let expected = [100, 16, 101, 12, 102, 7, 6, 17, 103, 14, 104, 7, 14, 105, 12, 106, 6, 14, 107, 14, 1];
        assert_eq!(pointing.input(), expected);
    }

    #[test]
    fn segments_are_written_in_markers() {
        let question = pointing("what was the change in (net) revenue in 2010, and the net cost?", 99);
        let of = |segments: &[&str]| question.target(segments);
        // The thirteen words of the question, then the year before.
        assert_eq!(of(&["net revenue 2009", "Net Revenue 2010"]), Some(vec![105, 106, 113, 9, 105, 106, 108]));
        // The second "net" stands before what follows.
        assert_eq!(of(&["the net cost"]), Some(vec![110, 111, 112]));
        assert_eq!(of(&["total revenue", "revenue"]), Some(vec![106]));
        assert_eq!(of(&["revenue", "cost of goods sold"]), None);
        assert_eq!(of(&[""]), None);
    }

    #[test]
    fn years_that_are_meant_follow_the_question() {
        let of = |question: &str| meant_years(&question.split_whitespace().collect::<Vec<_>>());
        assert_eq!(of("change in 2010?"), ["2009"]);
        assert_eq!(of("average from 2014 to (2016)"), ["2013", "2015"]);
        assert_eq!(of("FY2016-18"), ["2015", "2016", "2017", "2018"]);
        assert_eq!(of("in 1999 and 2019"), ["1998"]);
        assert!(of("30 of 12345 items, 18").is_empty());
        assert_eq!(pointing("in 2010", 99).input(), [8, 100, 12, 101, 14, 102, 14, 1]);
    }

    #[test]
    fn a_segment_has_a_word_once() {
        let question = pointing("revenue costs", 99);
        let open = |written: &[u32]| {
            let mut logits = vec![0.0; 110];
            question.bar(written, 1, &mut logits);
            (0..110).filter(|&token| logits[token] == 0.0).collect::<Vec<_>>()
        };
        assert_eq!(open(&[]), [1, 100, 101]);
        assert_eq!(open(&[101]), [1, 9, 100]);
        assert_eq!(open(&[101, 9]), [1, 100, 101]);
        // What was written before may grow, or end.
        assert_eq!(open(&[101, 9, 101]), [1, 100]);
        assert_eq!(open(&[101, 9, 100]), [1, 9, 101]);
    }

    proptest! {
        #[test]
        fn segments_of_the_questions_words_come_back(
            words in proptest::collection::vec("[a-z]{1,5}[,?]?", 1..30),
            spans in proptest::collection::vec((0..30_usize, 1..6_usize), 1..5),
        ) {
            let question = pointing(&words.join(" "), 999);
            let bare = |word: &String| word.trim_matches([',', '?']).to_owned();
            let mut wanted: Vec<String> = Vec::new();
            for (start, length) in spans {
                let span: Vec<String> = words.iter().skip(start % words.len()).take(length).map(bare).collect();
                let known: std::collections::BTreeSet<&String> = span.iter().collect();
                let text = span.join(" ");
                if known.len() == span.len() && !wanted.contains(&text) {
                    wanted.push(text);
                }
            }
            let target = question.target(&wanted).unwrap();
            prop_assert_eq!(question.text(&target, "|"), wanted.join(" | "));
            // What should be written may be written.
            for at in 0..target.len() {
                let mut logits = vec![0.0; 200];
                question.bar(&target[..at], 1, &mut logits);
                prop_assert_eq!(logits[target[at] as usize], 0.0);
            }
        }

        #[test]
        fn any_question_and_any_tokens_are_answered(
            question in "\\PC{0,60}", tokens in proptest::collection::vec(0..200_u32, 0..20), limit in 0..30_usize,
        ) {
            let pointing = pointing(&question, limit);
            prop_assert!(pointing.input().len() <= limit.max(1));
            let mut logits: Vec<f32> = (0..120).map(|token| token as f32).collect();
            pointing.bar(&tokens, 1, &mut logits);
            prop_assert_eq!(logits[1], 1.0);
            pointing.text(&tokens, "|");
        }
    }
}
