//! Features cut into at most 255 bins, so that a split is looked for among so many places.

use rayon::prelude::*;

/// The most bins of a feature; a bin's number is a byte.
const MOST_BINS: usize = 255;

/// Upper bounds of the bins of each feature; the last bin has none.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    pub(super) bounds: Vec<Vec<f32>>,
}

impl Bins {
    /// From a sample of rows `[rows, features]`: about as many rows a bin, equal values together, and a bound
    /// halfway between two values.
    pub fn new(rows: &[f32], features: usize) -> Self {
        let bounds = (0..features).into_par_iter().map(|feature| {
            let mut values: Vec<f32> = rows.iter().skip(feature).step_by(features).copied().collect();
            values.sort_unstable_by(f32::total_cmp);
            bounds(&values)
        });
        Self { bounds: bounds.collect() }
    }

    /// How many features.
    pub fn features(&self) -> usize {
        self.bounds.len()
    }

    /// The bins of a row's features, `[features]`.
    pub fn of<'a>(&'a self, row: &'a [f32]) -> impl Iterator<Item = u8> + 'a {
        // Fewer than 255 bounds.
        row.iter().zip(&self.bounds).map(|(value, bounds)| bounds.partition_point(|bound| bound < value) as u8)
    }
}

/// The bounds between the bins of sorted values.
fn bounds(sorted: &[f32]) -> Vec<f32> {
    let mut distinct: Vec<(f32, usize)> = Vec::new();
    for &value in sorted {
        match distinct.last_mut() {
            Some((last, count)) if *last == value => *count += 1,
            _ => distinct.push((value, 1)),
        }
    }
    let between = |at: usize| {
        let (low, high) = (distinct[at].0, distinct[at + 1].0);
        // Of two neighbouring numbers the middle may round to the upper one.
        let middle = low / 2.0 + high / 2.0;
        if middle < high { middle.max(low) } else { low }
    };
    if distinct.len() <= MOST_BINS {
        return (0..distinct.len().saturating_sub(1)).map(between).collect();
    }
    // Each bin takes values until it has its share of the rows that are left.
    let (mut bounds, mut rows, mut left) = (Vec::new(), 0, sorted.len());
    for (at, (_, count)) in distinct[..distinct.len() - 1].iter().enumerate() {
        rows += count;
        let bins = MOST_BINS - bounds.len();
        if bins > 1 && rows * bins >= left {
            bounds.push(between(at));
            left -= rows;
            rows = 0;
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bins_lie_between_values_and_many_values_share_them() {
        assert_eq!(bounds(&[1.0, 1.0, 2.0, 4.0]), [1.5, 3.0]);
        assert!(bounds(&[7.0; 5]).is_empty());
        let many: Vec<f32> = (0..10_000_u16).map(f32::from).collect();
        let found = bounds(&many);
        assert_eq!(found.len(), MOST_BINS - 1);
        assert!(found.windows(2).all(|pair| (30.0..50.0).contains(&(pair[1] - pair[0]))), "{found:?}");
    }

    proptest! {
        #[test]
        fn a_bin_says_on_which_side_of_each_bound_a_value_is(values in prop::collection::vec(any::<f32>().prop_filter("finite", |v| v.is_finite()), 1..600)) {
            let bins = Bins::new(&values, 1);
            for &value in &values {
                let bin = usize::from(bins.of(&[value]).next().unwrap());
                for (at, &bound) in bins.bounds[0].iter().enumerate() {
                    prop_assert_eq!(value <= bound, bin <= at);
                }
            }
        }
    }
}
