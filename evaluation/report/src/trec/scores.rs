//! Scores that strictly fall.

/// The lowest key: that of `f32::MIN`.
const LOWEST: i64 = -(f32::MAX.to_bits() as i64);

/// Lowers scores just far enough that each is below the one before, and raises those at the very
/// bottom of the range of f32 where no room would be left below. Finite for every input.
pub(super) fn strictly_falling(scores: impl DoubleEndedIterator<Item = f32> + ExactSizeIterator) -> Vec<f32> {
    let count = scores.len() as i64;
    let mut before = i64::MAX;
    scores
        .zip((0..count).rev())
        .map(|(score, below)| {
            // `below` more scores follow, each of which needs a float of its own. The larger of
            // two strictly falling sequences is strictly falling.
            before = key(score).min(before - 1);
            float(before.max(LOWEST + below))
        })
        .collect()
}

/// Numbers the finite floats in order, without gaps: key(next_down(x)) = key(x) - 1, with 0 for
/// both zeros.
fn key(score: f32) -> i64 {
    let finite = if score.is_nan() { f32::MIN } else { score.clamp(f32::MIN, f32::MAX) };
    let magnitude = i64::from(finite.abs().to_bits());
    if finite < 0.0 { -magnitude } else { magnitude }
}

/// Undoes [`key`].
fn float(key: i64) -> f32 {
    let magnitude = f32::from_bits(key.unsigned_abs() as u32);
    if key < 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lowered(scores: &[f32]) -> Vec<f32> {
        strictly_falling(scores.iter().copied())
    }

    #[test]
    fn ties_go_to_the_next_lower_float() {
        assert_eq!(lowered(&[2.0, 1.0, 1.0, 0.5]), [2.0, 1.0, 1.0f32.next_down(), 0.5]);
        let tiny = f32::from_bits(1);
        assert_eq!(lowered(&[0.0, -0.0, 0.0]), [0.0, -tiny, -2.0 * tiny]);
        // A score that rises again is not believed: the order given is the ranking.
        assert_eq!(lowered(&[1.0, 3.0]), [1.0, 1.0f32.next_down()]);
    }

    #[test]
    fn the_ends_of_the_range_stay_finite() {
        let (min, infinity) = (f32::MIN, f32::INFINITY);
        assert_eq!(
            lowered(&[infinity, infinity, min, -infinity, f32::NAN]),
            [f32::MAX, f32::MAX.next_down(), min.next_up().next_up(), min.next_up(), min]
        );
    }

    proptest! {
        #[test]
        fn any_scores_fall_strictly_and_falling_ones_stay(bits: Vec<u32>) {
            let mut scores: Vec<f32> = bits.into_iter().map(f32::from_bits).collect();
            let fallen = lowered(&scores);
            prop_assert!(fallen.iter().all(|score| score.is_finite()));
            prop_assert!(fallen.array_windows().all(|[a, b]| a > b));
            prop_assert_eq!(&lowered(&fallen), &fallen);
            scores.retain(|score| score.is_finite());
            scores.sort_by(|a, b| b.total_cmp(a));
            scores.dedup();
            prop_assert_eq!(lowered(&scores), scores);
        }
    }
}
