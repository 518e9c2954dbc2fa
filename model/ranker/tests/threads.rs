//! The number of threads does not change a bit of a training.

use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::Device;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_graph::{Adjacency, TypeNames};
use tabsegnet_ranker::loss::pairwise_hinge;
use tabsegnet_ranker::{Batch, Example, ModelConfig, TabSegNet};

// Wide enough that matrix products are shared out among threads.
const DOCUMENTS: usize = 8;
const NODES: usize = 100;
const EDGES: usize = 700;
const D_ENC: usize = 384;
const STEPS: usize = 4;

fn vectors(count: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    (0..count * D_ENC).map(|_| rng.random_range(-0.1..0.1)).collect()
}

/// Names and bytes of the parameters after some steps.
fn train() -> Vec<(String, Vec<u8>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let config = ModelConfig { segments: true, layers: 2, ..ModelConfig::default() };
    let graphs: Vec<_> = (0..DOCUMENTS)
        .map(|_| {
            let mut below = |limit: usize| rng.random_range(0..limit);
            let edges: Vec<_> =
                (0..EDGES).map(|_| (below(NODES) as u32, below(NODES) as u32, below(22) as u8)).collect();
            Adjacency::new(NODES, TypeNames::default(), &edges).unwrap()
        })
        .collect();
    let inputs: Vec<_> = (0..DOCUMENTS).map(|_| [NODES, 1, 3].map(|count| vectors(count, &mut rng))).collect();
    let examples: Vec<_> = graphs
        .iter()
        .zip(&inputs)
        .map(|(graph, [u, q, segments])| Example { graph, u, q, segments, features: &[], gold: &[3, 50] })
        .collect();
    let device = Device::flex().autodiff();
    let batch = Batch::new(&examples, &config, D_ENC, &device).unwrap();
    let mut model = TabSegNet::new(&config, D_ENC, 1, &device);
    let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
    for _ in 0..STEPS {
        let loss = pairwise_hinge(model.forward(&batch), batch.pairs.as_ref().unwrap(), 1.0);
        let gradients = GradientsParams::from_grads(loss.backward(), &model);
        model = optimiser.step(1e-3, model, gradients);
    }
    model.parameters().into_iter().map(|(name, data)| (name, data.as_bytes().to_vec())).collect()
}

#[test]
fn a_training_has_the_same_bits_on_any_number_of_threads() {
    let on = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(train);
    let one = on(1);
    for threads in [2, 3, 8] {
        for ((name, expected), (_, found)) in one.iter().zip(on(threads)) {
            assert!(*expected == found, "{name} differs between 1 and {threads} threads");
        }
    }
}
