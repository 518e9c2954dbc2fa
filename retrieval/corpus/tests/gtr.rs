//! Graph-table retrieval: what scikit-learn, scipy and numpy find (`tools/scripts/gtr_reference.py`), and what must hold of
//! any corpus.

use proptest::prelude::*;
use serde::Deserialize;
use tabsegnet_corpus::gtr::kmeans::kmeans_from;
use tabsegnet_corpus::gtr::{
    Direction, Feature, Gtr, GtrConfig, GtrError, KMeansError, PageRankConfig, PageRankError, SparseGraph, Walk,
    kmeans, linearised, personalised_pagerank,
};

#[derive(Deserialize)]
struct Reference {
    kmeans: Vec<KMeansCase>,
    pagerank: PageRankCase,
    gtr: GtrCase,
}

#[derive(Deserialize)]
struct KMeansCase {
    name: String,
    width: usize,
    points: Vec<f32>,
    from: Vec<f32>,
    centroids: Vec<f32>,
    assignment: Vec<u32>,
    inertia: f64,
}

#[derive(Deserialize)]
struct PageRankCase {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    weights: Vec<f32>,
    restart: Vec<f32>,
    forward: Vec<f32>,
    forward_steps: usize,
    forward_limit: Vec<f32>,
    transposed: Vec<f32>,
    transposed_steps: usize,
    transposed_limit: Vec<f32>,
}

#[derive(Deserialize)]
struct GtrCase {
    clusters: usize,
    typical: usize,
    width: usize,
    tau: f32,
    tables: Vec<f32>,
    queries: Vec<f32>,
    coarse: Vec<Vec<u32>>,
    edges: Vec<usize>,
    scores: Vec<Vec<(u32, f32)>>,
    scores_transposed: Vec<Vec<(u32, f32)>>,
}

fn reference() -> Reference {
    serde_json::from_str(include_str!("reference/gtr.json")).unwrap()
}

fn assert_near(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "{what}: {a} at {at}, expected {b}");
    }
}

/// The same on one thread and on four.
fn on_threads<T: PartialEq + std::fmt::Debug + Send>(compute: impl Fn() -> T + Sync) -> T {
    let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(&compute);
    let (one, four) = (with(1), with(4));
    assert_eq!(one, four);
    one
}

/// Numbers that look drawn, the same on every machine.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn texts(count: usize) -> Vec<String> {
    let words = ["wins", "losses", "population", "year", "revenue", "name of club", "Rank", "city"];
    let word = |at: usize| words[at % words.len()];
    (0..count)
        .map(|at| linearised(&format!("{} in {}", word(at), 1990 + at % 20), &[word(at / 3), word(at * 5)]))
        .collect()
}

#[test]
fn kmeans_as_scikit_learn() {
    for case in reference().kmeans {
        let found = kmeans_from(&case.points, case.width, case.from, 300).unwrap();
        assert_eq!(found.assignment, case.assignment, "{}", case.name);
        assert_near(&found.centroids, &case.centroids, 1e-5, &case.name);
        assert!((found.inertia / case.inertia - 1.0).abs() < 1e-5, "{}: {}", case.name, found.inertia);
        assert!(found.converged);
    }
}

#[test]
fn pagerank_as_scipy_and_as_the_linear_system() {
    let case = reference().pagerank;
    let graph = SparseGraph::new(case.offsets, case.columns, case.weights).unwrap();
    let config = PageRankConfig::default();
    for (direction, expected, steps, limit) in [
        (Direction::Forward, case.forward, case.forward_steps, case.forward_limit),
        (Direction::Transposed, case.transposed, case.transposed_steps, case.transposed_limit),
    ] {
        let found = personalised_pagerank(graph.clone(), direction, &case.restart, &config).unwrap();
        assert_near(&found.scores, &expected, 2e-7, "steps");
        assert_eq!(found.steps, steps);
        let long = PageRankConfig { epsilon: 0.0, steps: 300, ..config };
        let found = personalised_pagerank(graph.clone(), direction, &case.restart, &long).unwrap();
        assert_near(&found.scores, &limit, 2e-7, "limit");
    }
}

#[test]
fn both_stages_as_the_formulas() {
    let case = reference().gtr;
    let count = case.tables.len() / case.width;
    for (transposed, expected) in [(false, case.scores), (true, case.scores_transposed)] {
        let config = GtrConfig {
            clusters: case.clusters,
            typical: case.typical,
            tau: case.tau,
            semantic_only: true,
            transposed,
            ..GtrConfig::default()
        };
        let gtr = Gtr::build(&texts(count), &case.tables, case.width, config).unwrap();
        for (number, query) in case.queries.chunks_exact(case.width).enumerate() {
            let ranked = gtr.rank(&gtr.query("wins", query).unwrap(), count).unwrap();
            assert_eq!(ranked.coarse.tables, case.coarse[number]);
            assert_eq!(ranked.edges, case.edges[number]);
            let mut ranking = ranked.fine.ranking;
            assert!(ranking.is_sorted_by(|a, b| a.1 >= b.1));
            ranking.sort_by_key(|(table, _)| *table);
            let (tables, scores): (Vec<u32>, Vec<f32>) = ranking.into_iter().unzip();
            let (members, wanted): (Vec<u32>, Vec<f32>) = expected[number].iter().copied().unzip();
            assert_eq!(tables, members);
            assert_near(&scores, &wanted, 1e-6, "scores");
        }
    }
}

#[test]
fn many_points_cluster_alike_on_any_number_of_threads() {
    let points = numbers(20_000 * 9, 3);
    let found = on_threads(|| kmeans(&points, 9, 12, 7, 5).unwrap());
    assert_eq!((found.count(9), found.iterations, found.assignment.len()), (12, 5, 20_000));
    assert_ne!(found.centroids, kmeans(&points, 9, 12, 8, 5).unwrap().centroids);
}

#[test]
fn many_edges_are_walked_alike_on_any_number_of_threads() {
    let nodes = 900_u32;
    let edges: Vec<(u32, u32, f32)> = numbers(60_000, 1)
        .chunks_exact(3)
        .map(|x| {
            let node = |x: f32| ((x + 1.0) / 2.0 * nodes as f32) as u32;
            (node(x[0]).min(880), node(x[1]), x[2].abs())
        })
        .collect();
    let edges: Vec<_> = edges.iter().chain(&edges).chain(&edges).copied().collect();
    let graph = SparseGraph::from_edges(nodes as usize, &edges).unwrap();
    let restarts: Vec<Vec<f32>> =
        (0..11).map(|seed| numbers(nodes as usize, seed).into_iter().map(f32::abs).collect()).collect();
    for direction in [Direction::Forward, Direction::Transposed] {
        let walk = Walk::new(graph.clone(), direction);
        assert_eq!(walk.empty(), 19);
        let config = PageRankConfig::default();
        let together = on_threads(|| walk.scores_of_all(&restarts, &config).unwrap());
        for (restart, together) in restarts.iter().zip(together) {
            assert_eq!(walk.scores(restart, &config).unwrap(), together);
        }
    }
}

#[test]
fn what_is_no_number_is_an_error() {
    for bad in [f32::NAN, f32::INFINITY, 1e20] {
        let mut vectors = numbers(12, 1);
        vectors[7] = bad;
        assert_eq!(kmeans(&vectors, 3, 2, 0, 10), Err(KMeansError::NotFinite { row: 2 }));
        let built = Gtr::build(&texts(4), &vectors, 3, GtrConfig::default());
        assert!(matches!(built, Err(GtrError::KMeans(KMeansError::NotFinite { row: 2 }))));
    }
    let gtr = Gtr::build(&texts(4), &numbers(12, 1), 3, GtrConfig::default()).unwrap();
    assert!(matches!(gtr.query("wins", &[0.0, f32::NAN, 0.0]), Err(GtrError::NotFinite)));
    assert!(matches!(gtr.query("wins", &[0.0]), Err(GtrError::Vectors { .. })));
    assert!(matches!(gtr.local_graph(&[4]), Err(GtrError::NoSuchTable { table: 4, tables: 4 })));
}

#[test]
fn graphs_and_restarts_that_do_not_fit_are_errors() {
    for (offsets, columns, weights) in [
        (vec![], vec![], vec![]),
        (vec![0, 2], vec![0], vec![1.0]),
        (vec![0, 1], vec![1], vec![1.0]),
        (vec![0, 1], vec![0], vec![]),
        (vec![0, 2, 1, 2], vec![0, 0], vec![1.0, 1.0]),
    ] {
        assert!(matches!(SparseGraph::new(offsets, columns, weights), Err(PageRankError::Shape { .. })));
    }
    for weight in [-1.0, f32::NAN, f32::INFINITY] {
        assert!(matches!(
            SparseGraph::new(vec![0, 1], vec![0], vec![weight]),
            Err(PageRankError::Weight { edge: 0, .. })
        ));
    }
    assert!(matches!(SparseGraph::from_edges(1, &[(1, 0, 1.0)]), Err(PageRankError::Shape { nodes: 1 })));
    let walk = Walk::new(SparseGraph::from_edges(2, &[(0, 1, 1.0)]).unwrap(), Direction::Forward);
    let config = PageRankConfig::default();
    assert!(matches!(walk.scores(&[1.0], &config), Err(PageRankError::RestartLength { .. })));
    for restart in [[0.0, 0.0], [1.0, -1.0], [1.0, f32::NAN]] {
        assert_eq!(walk.scores(&restart, &config), Err(PageRankError::Restart));
    }
    for alpha in [1.0, -0.1, f64::NAN] {
        assert!(matches!(walk.scores(&[1.0, 1.0], &PageRankConfig { alpha, ..config }), Err(PageRankError::Alpha(_))));
    }
}

#[test]
fn settings_that_cannot_be_are_errors() {
    let default = GtrConfig::default;
    for config in [
        GtrConfig { clusters: 0, ..default() },
        GtrConfig { typical: 0, ..default() },
        GtrConfig { tau: 1.1, ..default() },
        GtrConfig { tau: f32::NAN, ..default() },
        GtrConfig { alpha: 1.0, ..default() },
        GtrConfig { epsilon: f64::NAN, ..default() },
    ] {
        assert!(matches!(Gtr::build(&texts(1), &[1.0], 1, config), Err(GtrError::Setting { .. })));
    }
    let read: GtrConfig = serde_json::from_str(r#"{"K": 4, "k": 7, "transposed": true}"#).unwrap();
    assert_eq!(read, GtrConfig { clusters: 4, typical: 7, transposed: true, ..default() });
    assert!(serde_json::from_str::<GtrConfig>(r#"{"clusterz": 4}"#).is_err());
}

#[test]
fn a_graph_beyond_the_bound_is_an_error_that_says_what_to_do() {
    let config = GtrConfig { clusters: 1, most_edges: 99, tau: 0.0, ..GtrConfig::default() };
    let gtr = Gtr::build(&texts(10), &[1.0; 40], 4, config).unwrap();
    let error = gtr.rank(&gtr.query("wins", &[1.0; 4]).unwrap(), 5).unwrap_err();
    assert!(matches!(error, GtrError::GraphTooLarge { nodes: 10, edges: 100, most_edges: 99, .. }));
    assert!(error.to_string().contains("raise tau"), "{error}");
}

#[test]
fn without_an_edge_to_another_table_the_cosines_rank() {
    let vectors = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    for transposed in [false, true] {
        let config = GtrConfig { clusters: 1, transposed, ..GtrConfig::default() };
        let gtr = Gtr::build(&texts(3), &vectors, 3, config).unwrap();
        let ranked = gtr.rank(&gtr.query("wins", &[0.2, 0.9, -0.5]).unwrap(), 3).unwrap();
        assert_eq!(ranked.edges, 3);
        assert_eq!(ranked.fine.ranking.iter().map(|(table, _)| *table).collect::<Vec<_>>(), [1, 0, 2]);
    }
}

#[test]
fn an_unknown_word_picks_no_cluster_of_terms() {
    let gtr = Gtr::build(&texts(30), &numbers(30 * 4, 2), 4, GtrConfig::default()).unwrap();
    let picked = |text: &str, vector: &[f32]| -> Vec<Feature> {
        let coarse = gtr.coarse(&gtr.query(text, vector).unwrap());
        coarse.picked.iter().map(|picked| picked.feature).collect()
    };
    let vector = [1.0, 0.0, 0.0, 0.0];
    assert_eq!(picked("wins", &vector), [Feature::Semantic, Feature::Structural, Feature::Heuristic]);
    assert_eq!(picked("xyzzy", &vector), [Feature::Semantic, Feature::Structural]);
    assert_eq!(picked("", &vector), [Feature::Semantic]);
    assert_eq!(picked("", &[0.0; 4]), []);
    let nothing = gtr.rank(&gtr.query("", &[0.0; 4]).unwrap(), 10).unwrap();
    assert!(nothing.fine.ranking.is_empty() && nothing.coarse.tables.is_empty());
}

#[test]
fn an_empty_corpus_ranks_nothing() {
    let gtr = Gtr::build::<String>(&[], &[], 3, GtrConfig::default()).unwrap();
    assert!(gtr.is_empty());
    assert!(gtr.rank(&gtr.query("wins", &[1.0, 0.0, 0.0]).unwrap(), 10).unwrap().fine.ranking.is_empty());
}

#[test]
fn equal_tables_are_one_cluster_and_rank_by_number() {
    let gtr = Gtr::build(&vec!["same"; 40], &[0.5; 80], 2, GtrConfig::default()).unwrap();
    assert!(gtr.clusters().iter().all(|(_, sizes)| sizes == &[40]));
    let ranked = gtr.rank(&gtr.query("same", &[1.0, 1.0]).unwrap(), 3).unwrap();
    assert_eq!(ranked.fine.ranking.iter().map(|(table, _)| *table).collect::<Vec<_>>(), [0, 1, 2]);
}

proptest! {
    #[test]
    fn every_point_is_with_its_nearest_centroid(
        (width, points) in (1_usize..5, 0_usize..40)
            .prop_flat_map(|(width, n)| (Just(width), prop::collection::vec(-3_i8..3, n * width))),
        k in 1_usize..8,
        seed in 0_u64..5,
    ) {
        let points: Vec<f32> = points.into_iter().map(f32::from).collect();
        let found = kmeans(&points, width, k, seed, 100).unwrap();
        let mut distinct: Vec<Vec<u32>> = points.chunks(width).map(|p| p.iter().map(|x| x.to_bits()).collect()).collect();
        distinct.sort();
        distinct.dedup();
        prop_assert_eq!(found.count(width), k.min(distinct.len()));
        prop_assert_eq!(found.assignment.len(), points.len() / width);
        let distance = |p: &[f32], c: &[f32]| p.iter().zip(c).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        let mut inertia = 0.0;
        for (point, &cluster) in points.chunks(width).zip(&found.assignment) {
            let own = distance(point, &found.centroids[cluster as usize * width..][..width]);
            inertia += own;
            for centroid in found.centroids.chunks(width) {
                prop_assert!(own <= distance(point, centroid) + 1e-4);
            }
        }
        prop_assert!((inertia - found.inertia).abs() < 1e-3 * (1.0 + inertia));
    }

    #[test]
    fn transposed_scores_sum_to_one_and_forward_ones_stay_below_the_restart(
        edges in prop::collection::vec((0_u32..12, 0_u32..12, 0.0_f32..2.0), 0..60),
        restart in prop::collection::vec(0.0_f32..1.0, 12),
    ) {
        prop_assume!(restart.iter().any(|h| *h > 0.0));
        let graph = SparseGraph::from_edges(12, &edges).unwrap();
        let config = PageRankConfig::default();
        let most = restart.iter().fold(0.0_f32, |a, &b| a.max(b)) / restart.iter().sum::<f32>();
        let forward = personalised_pagerank(graph.clone(), Direction::Forward, &restart, &config).unwrap();
        prop_assert!(forward.scores.iter().all(|v| *v >= 0.0 && *v <= most + 1e-5));
        let transposed = personalised_pagerank(graph, Direction::Transposed, &restart, &config).unwrap();
        prop_assert!((transposed.scores.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        for found in [forward, transposed] {
            prop_assert!(found.change < config.epsilon || found.steps == config.steps);
        }
    }

    #[test]
    fn a_corpus_of_any_size_is_ranked_alike_alone_and_among_others(
        count in 1_usize..40,
        clusters in 1_usize..12,
        typical in 1_usize..6,
        transposed: bool,
        seed in 0_u64..100,
    ) {
        let width = 5;
        let config = GtrConfig { clusters, typical, transposed, seed, ..GtrConfig::default() };
        let vectors = numbers(count * width, seed);
        let gtr = on_threads(|| {
            let gtr = Gtr::build(&texts(count), &vectors, width, config.clone()).unwrap();
            format!("{:?}", gtr.clusters())
        });
        let built = Gtr::build(&texts(count), &vectors, width, config).unwrap();
        prop_assert_eq!(gtr, format!("{:?}", built.clusters()));
        for (_, sizes) in built.clusters() {
            prop_assert_eq!(sizes.iter().sum::<usize>(), count);
            prop_assert!(sizes.len() <= clusters && !sizes.contains(&0));
        }
        let queries: Vec<_> = texts(9)
            .iter()
            .zip(numbers(9 * width, seed + 1).chunks_exact(width))
            .map(|(text, vector)| built.query(text, vector).unwrap())
            .collect();
        let all = on_threads(|| built.rank_all(&queries, 6).unwrap());
        for (query, among) in queries.iter().zip(all) {
            let alone = built.rank(query, 6).unwrap();
            prop_assert_eq!(&alone, &among);
            prop_assert_eq!(alone.fine.ranking.len(), alone.coarse.tables.len().min(6));
            for picked in &alone.coarse.picked {
                let members = built.members(picked);
                prop_assert_eq!(members.len(), picked.tables);
                prop_assert!(members.iter().all(|table| alone.coarse.tables.contains(table)));
            }
            prop_assert!(alone.coarse.tables.is_sorted_by(|a, b| a < b));
        }
    }
}
