use std::path::Path;

use proptest::prelude::*;

use super::bins::Bins;
use super::training::{BoostingConfig, Lists, grow};
use super::*;
use crate::open::tests::noise;
use crate::tensors::{Values, serialize};

/// Trees over four features.
fn trees() -> BoostedTrees {
    trees_of(15)
}

fn trees_of(num_leaves: usize) -> BoostedTrees {
    let rows = noise(4 * 300, 2);
    let mut lists = Lists::new(Bins::new(&rows, 4));
    for list in rows.chunks(4 * 10) {
        let gold: Vec<bool> = list.chunks(4).map(|row| row[2] > 0.4).collect();
        lists.push(list, &gold);
    }
    let growth = BoostingConfig {
        num_iterations: 10,
        bagged_models: 2,
        num_leaves,
        min_data_in_leaf: 2,
        min_sum_hessian_in_leaf: 0.0,
        ..BoostingConfig::default()
    };
    grow(&lists, &growth, 1, &mut |_| {})
}

fn tensors(trees: &BoostedTrees) -> NamedTensors {
    let path = Path::new("trees");
    NamedTensors::read(path, &serialize(&trees.tensors(), path).unwrap()).unwrap()
}

#[test]
fn trees_come_back_from_their_tensors() {
    let trees = trees();
    assert!(trees.nodes.len() > 40);
    assert_eq!(BoostedTrees::from_tensors(&tensors(&trees)).unwrap(), trees);
}

#[test]
fn tensors_that_make_no_trees_are_refused() {
    let refused = |change: &dyn Fn(&mut NamedTensors)| {
        let mut tensors = tensors(&trees());
        change(&mut tensors);
        BoostedTrees::from_tensors(&tensors).unwrap_err()
    };
    let set = |name: &'static str, value: f32| {
        refused(&move |tensors| match &mut tensors.0.get_mut(name).unwrap().1 {
            Values::F32(values) => values[0] = value,
            Values::I32(values) => values[0] = value as i32,
        })
    };
    let put = |name: &'static str, values: Values| {
        refused(&move |tensors| tensors.0.get_mut(name).unwrap().1 = values.clone())
    };
    assert!(refused(&|tensors| drop(tensors.0.remove("trees.value"))).contains("has no tensor trees.value"));
    assert!(put("trees.left", Values::I32(vec![-1])).contains("different lengths"));
    assert!(put("trees.features", Values::I32(vec![])).contains("one number"));
    assert!(put("trees.left", Values::F32(vec![-1.0])).contains("trees.left is F32, expected I32"));
    assert!(put("trees.value", Values::I32(vec![-1])).contains("trees.value is I32, expected F32"));
    assert!(set("trees.threshold", f32::NAN).contains("holds NaN"));
    assert!(set("trees.left", -2.0).contains("whole numbers"));
    // A tree that led back to its root would never end.
    assert!(set("trees.left", 0.0).contains("node 0 of its trees leads to no node after it"));
    assert!(set("trees.left", 1e6).contains("node 0"));
    assert!(set("trees.feature", 4.0).contains("looks at no feature"));
    assert!(set("trees.roots", 1e6).contains("is none of its"));
    assert!(set("trees.value", 1e30).contains("so that scores are finite"));
}

proptest! {
    #[test]
    fn effects_add_up_to_the_score(row in prop::collection::vec(-2.0..2.0_f32, 4)) {
        let trees = trees();
        let (alone, effects) = trees.effects(&row);
        let sum = alone + effects.iter().sum::<f32>();
        prop_assert!((sum - trees.score(&row)).abs() < 1e-5);
    }

    #[test]
    fn many_rows_at_once_score_as_one_by_one(rows in prop::collection::vec(-2.0..2.0_f32, 0..40), many in any::<bool>()) {
        // Trees of more leaves than there are bits are walked.
        let trees = trees_of(if many { 60 } else { 15 });
        let most = trees.roots.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap() as usize / 2 + 1;
        prop_assert_eq!(most > 32, many);
        let rows = &rows[..rows.len() / 4 * 4];
        let one_by_one: Vec<f32> = rows.chunks(4).map(|row| trees.score(row)).collect();
        prop_assert_eq!(trees.scores(rows), one_by_one);
    }
}
