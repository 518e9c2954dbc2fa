//! The highest of many scores.

/// Indices of the `top_k` highest scores, highest first; equal ones in order of index. Only those
/// are sorted.
pub fn best(scores: &[f32], top_k: usize) -> Vec<usize> {
    let before = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
    let mut order: Vec<usize> = (0..scores.len()).collect();
    if top_k < order.len() {
        order.select_nth_unstable_by(top_k, before);
        order.truncate(top_k);
    }
    order.sort_unstable_by(before);
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_the_head_of_the_sorted_scores(scores in prop::collection::vec(-3..3_i8, 0..40), top_k in 0..50_usize) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let mut order: Vec<usize> = (0..scores.len()).collect();
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a])); // stable: equal scores in order
            order.truncate(top_k);
            prop_assert_eq!(super::best(&scores, top_k), order);
        }
    }
}
