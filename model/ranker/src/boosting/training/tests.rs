use std::path::Path;

use super::*;
use crate::tensors::NamedTensors;

fn lists(rows: &[f32], features: usize, gold: &[bool], lengths: &[usize]) -> Lists {
    let mut lists = Lists::new(Bins::new(rows, features));
    let mut start = 0;
    for &length in lengths {
        lists.push(&rows[start * features..(start + length) * features], &gold[start..start + length]);
        start += length;
    }
    lists
}

/// Lists of ten rows; what is gold depends on two of the six features.
fn made(count: usize) -> (Vec<f32>, Vec<bool>) {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let rows: Vec<f32> = (0..count * 10 * 6).map(|_| rng.random_range(-1.0..1.0)).collect();
    let wanted = |row: &[f32]| row[1] * row[4] + 0.2 * row[0];
    let gold = rows.chunks(60).flat_map(|list| {
        let wanted: Vec<f32> = list.chunks(6).map(wanted).collect();
        let greatest = wanted.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        wanted.into_iter().map(move |wanted| wanted == greatest)
    });
    (rows.clone(), gold.collect())
}

fn growth() -> BoostingConfig {
    BoostingConfig {
        num_iterations: 40,
        bagged_models: 2,
        learning_rate: 0.2,
        min_data_in_leaf: 5,
        ..BoostingConfig::default()
    }
}

fn firsts(trees: &BoostedTrees, rows: &[f32], gold: &[bool]) -> usize {
    let best = |list: &[f32]| {
        let scores: Vec<f32> = list.chunks(6).map(|row| trees.score(row)).collect();
        (0..10).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap()
    };
    rows.chunks(60).zip(gold.chunks(10)).filter(|(list, gold)| gold[best(list)]).count()
}

/// Of equal gains one or the other may be taken first, and f32 sums differ: the scores, not the trees, are
/// compared.
#[test]
fn scores_are_those_of_lightgbm() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/trees.safetensors");
    let tensors = NamedTensors::read(&path, &std::fs::read(&path).unwrap()).unwrap();
    let values = |name: &str| tensors.floats(name).unwrap().1.to_vec();
    let (rows, gold) = (values("rows"), values("gold").iter().map(|&gold| gold > 0.0).collect::<Vec<_>>());
    let lengths: Vec<usize> = values("lengths").iter().map(|&length| length as usize).collect();
    let lists = lists(&rows, 7, &gold, &lengths);
    let growth = BoostingConfig {
        num_iterations: 20,
        bagged_models: 1,
        learning_rate: 0.2,
        num_leaves: 6,
        min_data_in_leaf: 1,
        min_sum_hessian_in_leaf: 0.5,
        lambda_l2: 0.7,
        feature_fraction: 1.0,
        bagging_fraction: 1.0,
    };
    let trees = grow(&lists, &growth, 0, &mut |_| {});
    assert_eq!(trees.count(), 20);
    for (row, expected) in rows.chunks(7).zip(values("scores")) {
        assert!((trees.score(row) - expected).abs() < 1e-4, "{} instead of {expected}", trees.score(row));
    }
}

#[test]
fn what_two_features_say_together_is_learned() {
    let (rows, gold) = made(400);
    let trees = grow(&lists(&rows[..300 * 60], 6, &gold[..3000], &[10; 300]), &growth(), 1, &mut |_| {});
    let found = firsts(&trees, &rows[300 * 60..], &gold[3000..]);
    assert!(found > 45, "{found} of 100 lists not seen before, 10 by chance");
}

#[test]
fn threads_change_no_bit_and_another_seed_does() {
    let (rows, gold) = made(60);
    let lists = lists(&rows, 6, &gold, &[10; 60]);
    let with = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| grow(&lists, &growth(), seed, &mut |_| {}))
    };
    let one = with(1, 4);
    assert!(one == with(3, 4));
    assert!(one != with(1, 5));
}

#[test]
fn growing_ends_between_trees_where_it_is_to_and_leaves_none() {
    let (rows, gold) = made(20);
    let lists = lists(&rows, 6, &gold, &[10; 20]);
    let mut seen = Vec::new();
    let mut goes_on = |trees| {
        seen.push(trees);
        trees < 43
    };
    assert!(grow_while(&lists, &growth(), 1, &mut goes_on).is_none());
    assert_eq!(seen, (1..=43).collect::<Vec<_>>(), "in the second of the bagged models");
    assert!(grow_while(&lists, &growth(), 1, &mut |_| true) == Some(grow(&lists, &growth(), 1, &mut |_| {})));
}

#[test]
fn a_leaf_has_no_fewer_rows_than_allowed_and_lists_without_gold_are_passed_over() {
    let (rows, mut gold) = made(30);
    gold[..100].fill(false);
    let lists = lists(&rows, 6, &gold, &[10; 30]);
    assert_eq!(lists.len(), 20);
    let growth = BoostingConfig {
        num_iterations: 1,
        bagged_models: 1,
        min_data_in_leaf: 101,
        bagging_fraction: 1.0,
        ..growth()
    };
    let trees = grow(&lists, &growth, 1, &mut |_| {});
    assert_eq!(trees.nodes.len(), 1, "of 200 rows no two leaves have 101");
    let few = BoostingConfig {
        min_data_in_leaf: 40,
        lambda_l2: 0.0,
        min_sum_hessian_in_leaf: 0.0,
        feature_fraction: 1.0,
        ..growth
    };
    let trees = grow(&lists, &few, 1, &mut |_| {});
    let leaf = |row: &[f32]| trees.score(row).to_bits();
    let mut rows_of = std::collections::BTreeMap::new();
    rows[10 * 60..].chunks(6).for_each(|row| *rows_of.entry(leaf(row)).or_insert(0) += 1);
    assert!(rows_of.len() > 1 && rows_of.values().all(|&rows| rows >= 40), "{rows_of:?}");
}

#[test]
fn regression_a_tree_of_no_rows_says_nothing() {
    let (rows, gold) = made(2);
    let growth = BoostingConfig { bagging_fraction: 1e-9, lambda_l2: 0.0, min_sum_hessian_in_leaf: 0.0, ..growth() };
    let trees = grow(&lists(&rows, 6, &gold, &[10; 2]), &growth, 1, &mut |_| {});
    assert!(rows.chunks(6).all(|row| trees.score(row) == 0.0));
}
