use proptest::prelude::*;

use super::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn a_ranking_worked_out_by_hand() {
    // Gold at ranks 1, 4 and 12; a fourth gold node was not ranked.
    let ranks = GoldRanks::new(vec![12, 1, 4], 4).unwrap();
    let measures = QuestionMeasures::of(&ranks);
    assert_eq!(measures.recall_at, [0.25, 0.25, 0.5, 0.5, 0.75]);
    assert!(close(measures.average_precision, (1.0 + 2.0 / 4.0 + 3.0 / 12.0) / 4.0));
    assert_eq!(measures.reciprocal_rank, 1.0);
    let ideal = 1.0 + 1.0 / 3f64.log2() + 0.5 + 1.0 / 5f64.log2();
    assert!(close(measures.ndcg_10, (1.0 + 1.0 / 5f64.log2()) / ideal));
    assert!(close(QuestionMeasures::mean([&measures, &measures]).unwrap().ndcg_10, measures.ndcg_10));
    assert_eq!(QuestionMeasures::mean([]), None);
}

#[test]
fn equal_scores_rank_in_document_order_and_nan_last() {
    let scores = [0.0, f32::NAN, 2.0, -0.0, f32::NEG_INFINITY, 2.0, f32::INFINITY, f32::NAN];
    assert_eq!(rank_order(&scores), [6, 2, 5, 0, 3, 4, 1, 7]);
    assert_eq!(rank_order(&[]), [0u32; 0]);
}

#[test]
fn ranks_that_are_no_ranking_are_refused() {
    assert_eq!(GoldRanks::new(vec![], 0), Err(MeasureError::NoGold));
    assert_eq!(GoldRanks::new(vec![3, 0], 2), Err(MeasureError::RankZero));
    assert_eq!(GoldRanks::new(vec![3, 7, 3], 3), Err(MeasureError::SameRank(3)));
    assert_eq!(GoldRanks::new(vec![1, 2], 1), Err(MeasureError::TooMany { ranks: 2, gold: 1 }));
    assert_eq!(GoldRanks::of_scores(&[1.0], &[]), Err(MeasureError::NoGold));
}

#[test]
fn a_node_given_twice_counts_once() {
    let ranks = GoldRanks::in_ranking(["a", "b", "a", "c"], ["a", "c", "c", "z"]).unwrap();
    assert_eq!((ranks.ranks(), ranks.gold()), (&[1, 4][..], 3));
}

#[test]
fn names_are_those_of_json() {
    for measure in Measure::ALL {
        assert_eq!(serde_json::to_value(measure).unwrap(), measure.name());
    }
    for (measure, k) in Measure::ALL.iter().zip(CUTOFFS) {
        assert_eq!(measure.name(), format!("recall@{k}"));
    }
}

/// Scores with many ties, and some gold nodes among them.
fn scored() -> impl Strategy<Value = (Vec<f32>, Vec<u32>)> {
    (1usize..60).prop_flat_map(|nodes| {
        let scores = prop::collection::vec((0u8..12).prop_map(|s| f32::from(s) / 4.0 - 1.0), nodes);
        let gold = prop::collection::btree_set(0..nodes as u32, 1..=nodes.min(15));
        (scores, gold.prop_map(|gold| gold.into_iter().collect()))
    })
}

proptest! {
    #[test]
    fn measures_lie_in_0_to_1((scores, gold) in scored()) {
        let measures = QuestionMeasures::of(&GoldRanks::of_scores(&scores, &gold).unwrap());
        for measure in Measure::ALL {
            let value = measure.of(&measures);
            prop_assert!((0.0..=1.0).contains(&value), "{} = {value}", measure.name());
        }
    }

    #[test]
    fn recall_never_falls_in_k_and_reaches_1((scores, gold) in scored()) {
        let ranks = GoldRanks::of_scores(&scores, &gold).unwrap();
        let curve = recall_curve(&ranks);
        prop_assert!(curve.is_sorted());
        prop_assert_eq!(ranks.recall_at(scores.len()), 1.0);
        for (k, recall) in CUTOFFS.into_iter().zip(QuestionMeasures::of(&ranks).recall_at) {
            prop_assert_eq!(curve[k - 1], recall);
        }
    }

    #[test]
    fn average_precision_is_1_exactly_when_all_gold_is_on_top((scores, gold) in scored()) {
        let ranks = GoldRanks::of_scores(&scores, &gold).unwrap();
        let on_top = ranks.recall_at(gold.len()) == 1.0;
        prop_assert_eq!(QuestionMeasures::of(&ranks).average_precision == 1.0, on_top);
        // Gold on top is also enough for the others to be perfect.
        let best = GoldRanks::new((1..=gold.len() as u32).collect(), gold.len()).unwrap();
        let best = QuestionMeasures::of(&best);
        prop_assert_eq!((best.average_precision, best.reciprocal_rank, best.ndcg_10), (1.0, 1.0, 1.0));
    }

    #[test]
    fn with_distinct_scores_the_order_of_the_nodes_does_not_matter(
        (order, gold) in (2usize..60).prop_flat_map(|n| {
            let order = Just((0..n as u32).collect::<Vec<_>>()).prop_shuffle();
            (order, prop::collection::btree_set(0..n as u32, 1..n))
        })
    ) {
        let scores: Vec<f32> = (0..order.len()).map(|node| node as f32).collect();
        let moved: Vec<f32> = order.iter().map(|&node| node as f32).collect();
        let gold: Vec<u32> = gold.into_iter().collect();
        let moved_gold: Vec<u32> = gold
            .iter()
            .map(|g| order.iter().position(|node| node == g).unwrap() as u32)
            .collect();
        prop_assert_eq!(
            GoldRanks::of_scores(&scores, &gold).unwrap(),
            GoldRanks::of_scores(&moved, &moved_gold).unwrap()
        );
    }

    #[test]
    fn the_rank_order_is_a_permutation_and_falls((scores, _) in scored()) {
        let order = rank_order(&scores);
        let falls = order.array_windows().all(|&[a, b]| {
            let (x, y) = (scores[a as usize], scores[b as usize]);
            x > y || (x == y && a < b)
        });
        prop_assert!(falls);
        let mut sorted = order;
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..scores.len() as u32).collect::<Vec<_>>());
    }
}
