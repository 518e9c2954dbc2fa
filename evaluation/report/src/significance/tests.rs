use proptest::prelude::*;

use super::*;

const FEW: Resampling = Resampling { resamples: 400, rounds: 400, seed: 7 };

fn estimate(values: &[f64], units: &Units, resampling: &Resampling) -> Estimate {
    Bootstrap::new(&[values.to_vec()], units, resampling).unwrap().estimate(0).unwrap()
}

#[test]
fn the_interval_is_near_the_normal_one_for_many_questions() {
    // 1,000 questions, half 0 and half 1: standard error 0.5 / sqrt(1000) = 0.0158.
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i % 2)).collect();
    let Estimate { mean, low, high } = estimate(&values, &Units::independent(1000), &Resampling::default());
    assert_eq!(mean, 0.5);
    assert!((low - 0.469).abs() < 0.003, "{low}");
    assert!((high - 0.531).abs() < 0.003, "{high}");
}

#[test]
fn questions_that_repeat_each_other_do_not_narrow_the_interval() {
    let once: Vec<f64> = (0..200).map(|i| f64::from(i % 2)).collect();
    let thrice: Vec<f64> = once.iter().flat_map(|&value| [value; 3]).collect();
    let documents = Units::grouped((0..600).map(|question| question / 3));
    assert_eq!((documents.count(), documents.questions()), (200, 600));
    let wide = estimate(&once, &Units::independent(200), &FEW);
    let grouped = estimate(&thrice, &documents, &FEW);
    assert!((wide.low - grouped.low).abs() < 1e-12 && (wide.high - grouped.high).abs() < 1e-12);
    let naive = estimate(&thrice, &Units::independent(600), &FEW);
    assert!(naive.high - naive.low < 0.7 * (wide.high - wide.low));
}

#[test]
fn results_are_the_same_for_any_number_of_threads() {
    let a: Vec<f64> = (0..300).map(|i| f64::from(i * 37 % 101) / 101.0).collect();
    let b: Vec<f64> = (0..300).map(|i| f64::from(i * 53 % 97) / 97.0).collect();
    let units = Units::grouped((0..300).map(|i| i / 2));
    let run = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
            let bootstrap = Bootstrap::new(&[a.clone(), b.clone()], &units, &FEW).unwrap();
            let p = randomisation_p(&a, &b, &units, &FEW).unwrap();
            (bootstrap.estimate(0), bootstrap.difference(0, 1), p)
        })
    };
    assert_eq!(run(1), run(5));
}

#[test]
fn the_test_finds_what_is_there_and_not_what_is_not() {
    let units = Units::independent(60);
    let base: Vec<f64> = (0..60).map(|i| f64::from(i % 7) / 7.0).collect();
    let better: Vec<f64> = base.iter().map(|value| value + 0.1).collect();
    let default = Resampling::default();
    // Only the two rounds in 2⁶⁰ without any mixed signs are as large.
    assert_eq!(randomisation_p(&better, &base, &units, &default), Ok(1.0 / 10_001.0));
    assert_eq!(randomisation_p(&base, &base, &units, &default), Ok(1.0));
    // Differences +0.1 and -0.1 in turn: the sum is 0, and nothing is smaller.
    let shifted: Vec<f64> = base.iter().enumerate().map(|(i, v)| v + if i % 2 == 0 { 0.1 } else { -0.1 }).collect();
    assert_eq!(randomisation_p(&shifted, &base, &units, &default), Ok(1.0));
}

#[test]
fn p_agrees_with_all_sign_patterns_of_a_small_sample() {
    let d = [0.3, -0.1, 0.4, 0.2, 0.05, -0.15, 0.25, 0.1];
    let observed = d.iter().sum::<f64>() - 1e-9;
    let as_large = (0..1u32 << d.len())
        .filter(|signs| {
            let signed = d.iter().enumerate().map(|(i, d)| if signs >> i & 1 == 0 { *d } else { -d });
            signed.sum::<f64>().abs() >= observed
        })
        .count();
    let exact = as_large as f64 / f64::from(1u32 << d.len());
    let resampling = Resampling { rounds: 40_000, ..FEW };
    let p = randomisation_p(&d, &[0.0; 8], &Units::independent(8), &resampling).unwrap();
    assert!((p - exact).abs() < 0.01, "{p} against {exact}");
}

#[test]
fn holm_as_in_a_textbook() {
    let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
    let expected = [0.03, 0.06, 0.06, 0.02];
    assert!(adjusted.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-12), "{adjusted:?}");
    assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
}

#[test]
fn what_is_no_sample_is_refused() {
    let units = Units::independent(2);
    let short = SignificanceError::Length { found: 1, expected: 2 };
    assert_eq!(Bootstrap::new(&[vec![1.0]], &units, &FEW).unwrap_err(), short);
    assert_eq!(randomisation_p(&[1.0, 2.0], &[1.0], &units, &FEW), Err(short));
    let none = Units::independent(0);
    assert_eq!(randomisation_p(&[], &[], &none, &FEW), Err(SignificanceError::Empty));
    let no_resamples = Resampling { resamples: 0, ..FEW };
    assert_eq!(Bootstrap::new(&[vec![1.0, 2.0]], &units, &no_resamples).unwrap_err(), SignificanceError::NoResamples);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn intervals_contain_the_mean_and_stay_in_the_range_of_the_values(
        values in prop::collection::vec((0.0..=1.0f64, 0u8..20), 1..80), seed: u64
    ) {
        let units = Units::grouped(values.iter().map(|(_, document)| document));
        let values: Vec<f64> = values.iter().map(|(value, _)| *value).collect();
        let Estimate { mean, low, high } = estimate(&values, &units, &Resampling { seed, ..FEW });
        prop_assert!(low <= mean && mean <= high);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(0.0, f64::max);
        prop_assert!(low >= smallest - 1e-12 && high <= largest + 1e-12);
    }

    #[test]
    fn p_lies_in_0_to_1_and_does_not_depend_on_the_order_of_the_pair(
        pairs in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64), 1..80), seed: u64
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let units = Units::independent(a.len());
        let resampling = Resampling { seed, ..FEW };
        let p = randomisation_p(&a, &b, &units, &resampling).unwrap();
        prop_assert!(p > 0.0 && p <= 1.0);
        prop_assert_eq!(p, randomisation_p(&b, &a, &units, &resampling).unwrap());
        prop_assert_eq!(randomisation_p(&a, &a, &units, &resampling).unwrap(), 1.0);
    }

    #[test]
    fn holm_never_lowers_a_p_and_keeps_their_order(p in prop::collection::vec(0.0..=1.0f64, 0..30)) {
        let adjusted = holm(&p);
        prop_assert!(p.iter().zip(&adjusted).all(|(p, a)| p <= a && *a <= 1.0));
        for (i, j) in (0..p.len()).flat_map(|i| (0..p.len()).map(move |j| (i, j))) {
            prop_assert!(p[i] >= p[j] || adjusted[i] <= adjusted[j]);
        }
    }
}
