//! Which tokens may follow where segments hold words of the question alone.

use std::collections::HashMap;

/// What may be written for one question: its tokens, in a segment no more often than they stand in it, and years
/// once each. A small model otherwise goes round in circles at words that it does not know.
#[derive(Debug, Clone)]
pub struct Copying {
    counts: HashMap<u32, usize>,
    /// May always follow; the last of them begins a new segment.
    separator: Vec<u32>,
}

impl Copying {
    /// Of the question's tokens, those of the separator, and of years.
    pub(crate) fn new(question: &[u32], separator: &[u32], years: &[u32]) -> Self {
        let mut counts: HashMap<u32, usize> = years.iter().map(|&year| (year, 1)).collect();
        let mut own: HashMap<u32, usize> = HashMap::new();
        for &token in question {
            *own.entry(token).or_default() += 1;
        }
        counts.extend(own);
        Self { counts, separator: separator.to_vec() }
    }

    /// Makes what may not follow `written` impossible; the end always may.
    pub(crate) fn bar(&self, written: &[u32], end: u32, logits: &mut [f32]) {
        let begins = self.separator.last();
        let start = written.iter().rposition(|token| Some(token) == begins).map_or(0, |at| at + 1);
        let segment = written.get(start..).unwrap_or_default();
        let used = |token: u32| segment.iter().filter(|&&other| other == token).count();
        for (token, logit) in (0..).zip(logits) {
            let left = self.counts.get(&token).is_some_and(|&count| used(token) < count);
            if !left && token != end && !self.separator.contains(&token) {
                *logit = f32::NEG_INFINITY;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_segment_has_a_token_no_more_often_than_the_question() {
        let copying = Copying::new(&[5, 6, 5], &[9], &[7, 6]);
        let open = |written: &[u32]| {
            let mut logits = vec![0.0; 10];
            copying.bar(written, 1, &mut logits);
            (0..10).filter(|&token| logits[token] == 0.0).collect::<Vec<_>>()
        };
        assert_eq!(open(&[]), [1, 5, 6, 7, 9]);
        assert_eq!(open(&[5, 6, 7]), [1, 5, 9]);
        assert_eq!(open(&[5, 6, 5, 7]), [1, 9]);
        assert_eq!(open(&[5, 6, 5, 9, 6]), [1, 5, 7, 9]);
    }

    proptest! {
        #[test]
        fn the_end_may_always_follow_and_likelier_tokens_stay_so(
            question in proptest::collection::vec(2..12_u32, 0..8),
            written in proptest::collection::vec(2..12_u32, 0..8),
        ) {
            let mut logits: Vec<f32> = (0..12).map(|token| token as f32).collect();
            Copying::new(&question, &[3, 4], &[]).bar(&written, 1, &mut logits);
            prop_assert!(logits[1] == 1.0 && logits[3] == 3.0 && logits[4] == 4.0);
            for (token, logit) in logits.iter().enumerate() {
                prop_assert!(*logit == token as f32 || *logit == f32::NEG_INFINITY);
                let copied = question.contains(&(token as u32)) || [1, 3, 4].contains(&token);
                prop_assert!(copied || *logit == f32::NEG_INFINITY);
            }
        }
    }
}
