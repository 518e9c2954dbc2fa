//! Buckets of relative positions (Raffel et al. 2020, section 2.1): near distances have one each,
//! farther ones share more and more, beyond a largest one all share the last.

/// The bucket of a key that stands at `offset` = key − query, of `buckets` in all. With
/// `bidirectional` (an encoder) the upper half is for keys after the query; without (a decoder)
/// these are never seen and count as distance 0.
///
/// In f32, as the models were trained: at the borders other precision gives other buckets.
pub fn bucket(offset: i64, bidirectional: bool, buckets: usize, max_distance: usize) -> usize {
    let (first, buckets, distance) = match (bidirectional, offset) {
        (true, 1..) => (buckets / 2, buckets / 2, offset.unsigned_abs() as usize),
        (true, _) => (0, buckets / 2, offset.unsigned_abs() as usize),
        (false, 1..) => (0, buckets, 0),
        (false, _) => (0, buckets, offset.unsigned_abs() as usize),
    };
    let exact = buckets / 2;
    if distance < exact {
        return first + distance;
    }
    let scale = (max_distance as f64 / exact as f64).ln() as f32;
    let farther = (distance as f32 / exact as f32).ln() / scale * (buckets - exact) as f32;
    first + (exact + farther as usize).min(buckets - 1)
}

/// The table of biases `[buckets, heads]` as one of `4 × positions` buckets, of which every distance
/// below `positions` has its own.
///
/// candle buckets a decoder's distances as an encoder's and so gives those from 8 on another bias
/// than the model was trained with. With a bucket for each distance both ways agree.
pub fn widen(table: &[f32], heads: usize, bidirectional: bool, max_distance: usize, positions: usize) -> Vec<f32> {
    let buckets = table.len() / heads.max(1);
    let row = |offset: i64| {
        let at = bucket(offset, bidirectional, buckets, max_distance) * heads;
        table.get(at..at + heads).unwrap_or_default().iter().copied()
    };
    let half = 2 * positions;
    let mut wide = Vec::with_capacity(2 * half * heads);
    for side in [-1, 1] {
        for distance in 0..half {
            // Buckets from `positions` on are those of distances that no text has.
            wide.extend(row(side * distance.min(positions) as i64));
        }
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_distances_have_their_own_bucket_and_the_farthest_share_the_last() {
        let both = |offset| bucket(offset, true, 32, 128);
        assert_eq!([0, -1, -7, -8, -128, -9999].map(both), [0, 1, 7, 8, 15, 15]);
        assert_eq!([1, 7, 8, 9999].map(both), [17, 23, 24, 31]);
        let back = |offset| bucket(offset, false, 32, 128);
        assert_eq!([0, 5, -15, -16, -128, -9999].map(back), [0, 0, 15, 16, 31, 31]);
    }

    #[test]
    fn a_wide_table_has_the_bias_of_each_distance() {
        let (heads, buckets) = (2, 32);
        let table: Vec<f32> = (0..heads * buckets).map(|i| i as f32).collect();
        for bidirectional in [true, false] {
            let wide = widen(&table, heads, bidirectional, 128, 200);
            assert_eq!(wide.len(), 4 * 200 * heads);
            for distance in 0..200_i64 {
                let expected = table[bucket(-distance, bidirectional, buckets, 128) * heads + 1];
                assert_eq!(wide[distance as usize * heads + 1], expected);
                let expected = table[bucket(distance, bidirectional, buckets, 128) * heads];
                assert_eq!(wide[(400 + distance as usize) * heads], expected);
            }
        }
    }
}
