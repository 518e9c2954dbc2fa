//! The order of pairs: random, but pairs of like length in one batch.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet_segmenter::t5::Pair;

/// Batches that are grouped by length together.
const BUCKET: usize = 32;

/// Batches of pairs by number. A function of lengths, seed and epoch, so that a resumed training takes
/// them in the same order.
pub(super) fn batches(pairs: &[Pair], size: usize, seed: u64, epoch: usize) -> Vec<Vec<usize>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(epoch as u64); // stream 0 made the weights
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.shuffle(&mut rng);
    let length = |pair: &usize| pairs.get(*pair).map_or((0, 0), |pair| (pair.input.len(), pair.target.len()));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for bucket in order.chunks_mut(size * BUCKET) {
        bucket.sort_by_key(length);
        batches.extend(bucket.chunks(size).map(<[usize]>::to_vec));
    }
    batches.shuffle(&mut rng);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_comes_once_and_an_epoch_has_its_own_order() {
        let pairs: Vec<Pair> =
            (0..100).map(|i| Pair { input: vec![0; 1 + i * 7 % 40], target: vec![0; 1 + i % 5] }).collect();
        let of = |seed, epoch| batches(&pairs, 8, seed, epoch);
        let mut all: Vec<usize> = of(1, 1).concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        assert_eq!(of(1, 1), of(1, 1));
        assert!(of(1, 1) != of(1, 2) && of(1, 1) != of(2, 1));
        // Less padding than in a random order.
        let padded: usize = of(1, 1)
            .iter()
            .map(|batch| batch.len() * batch.iter().map(|&pair| pairs[pair].input.len()).max().unwrap())
            .sum();
        let tokens: usize = pairs.iter().map(|pair| pair.input.len()).sum();
        assert!(padded < tokens * 12 / 10, "{padded} of {tokens}");
    }
}
