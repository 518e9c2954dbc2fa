//! Span corruption (Raffel et al. 2020, section 3.1.4): spans of a text are cut out, a sentinel stands
//! for each; the target has each sentinel with what it stands for.

use anyhow::{Context as _, Result, bail};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_segmenter::t5::Pair;

/// Share of tokens that is cut out.
const CUT: f64 = 0.15;
/// Mean length of a span.
const SPAN: f64 = 3.0;

/// The lines of text files.
pub(super) fn texts(files: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for file in files {
        let text = tabsegnet_store::read_text(file.as_ref()).context("segmenter_training.pretrain")?;
        all.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
    }
    if !files.is_empty() && all.is_empty() {
        bail!("segmenter_training.pretrain: the files hold no text");
    }
    Ok(all)
}

/// A pair of each text. A function of text, seed and epoch.
pub(super) fn pairs(texts: &[Vec<u32>], sentinels: &[u32], eos: u32, seed: u64, epoch: usize) -> Vec<Pair> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Apart from the streams that make the weights (0) and the orders (the epochs).
    rng.set_stream((1 << 32) + epoch as u64);
    texts.iter().map(|text| pair(text, sentinels, eos, &mut rng)).collect()
}

fn pair(text: &[u32], sentinels: &[u32], eos: u32, rng: &mut ChaCha8Rng) -> Pair {
    let cut = ((text.len() as f64 * CUT).round() as usize).clamp(1, text.len().saturating_sub(1).max(1));
    let spans = ((cut as f64 / SPAN).round() as usize).clamp(1, cut).min(sentinels.len()).min(text.len() - cut);
    let spans = spans.max(1);
    // Kept and cut parts take turns, a kept one first.
    let (cuts, kept) = (parts(cut, spans, rng), parts(text.len() - cut, spans, rng));
    let (mut input, mut target, mut rest) = (Vec::new(), Vec::new(), text);
    for ((kept, cut), sentinel) in kept.into_iter().zip(cuts).zip(sentinels) {
        let (before, after) = rest.split_at(kept.min(rest.len()));
        let (span, after) = after.split_at(cut.min(after.len()));
        rest = after;
        input.extend_from_slice(before);
        input.push(*sentinel);
        target.push(*sentinel);
        target.extend_from_slice(span);
    }
    input.extend_from_slice(rest);
    input.push(eos);
    target.push(eos);
    Pair { input, target }
}

/// `whole` in `count` parts of at least 1, all ways equally likely.
fn parts(whole: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    // Without repetition, by the first `count − 1` of a shuffle of the places between.
    let mut places: Vec<usize> = (1..whole).collect();
    for at in 0..count.saturating_sub(1).min(places.len()) {
        let other = rng.random_range(at..places.len());
        places.swap(at, other);
    }
    places.truncate(count.saturating_sub(1));
    places.sort_unstable();
    places.push(whole);
    let mut before = 0;
    places.iter().map(|&place| place - std::mem::replace(&mut before, place)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn input_and_target_together_are_the_text(length in 2..200_usize, seed in 0..50_u64) {
            let text: Vec<u32> = (10..10 + length as u32).collect();
            let sentinels: Vec<u32> = (1000..1032).rev().collect();
            let pair = &pairs(std::slice::from_ref(&text), &sentinels, 1, seed, 1)[0];
            let mut spans: std::collections::BTreeMap<u32, Vec<u32>> = Default::default();
            let mut sentinel = 0;
            for &token in &pair.target[..pair.target.len() - 1] {
                if token >= 1000 { sentinel = token; spans.insert(token, Vec::new()); }
                else { spans.get_mut(&sentinel).unwrap().push(token); }
            }
            let whole: Vec<u32> = pair.input[..pair.input.len() - 1]
                .iter()
                .flat_map(|token| spans.get(token).cloned().unwrap_or_else(|| vec![*token]))
                .collect();
            prop_assert_eq!(whole, text);
            prop_assert_eq!((pair.input.last(), pair.target.last()), (Some(&1), Some(&1)));
            prop_assert_eq!(&pairs(&[(10..10 + length as u32).collect()], &sentinels, 1, seed, 1)[0], pair);
        }
    }
}
