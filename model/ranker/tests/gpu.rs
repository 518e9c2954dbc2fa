//! The whole model on a GPU, one of software too, against the processor. TABSEGNET_TEST_DEVICE names it, as for the
//! tests beside the code: wgpu or cuda.
#![cfg(feature = "gpu")]

use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_graph::{Adjacency, TypeNames};
use tabsegnet_ranker::checkpoint::{self, Manifest};
use tabsegnet_ranker::config::Aggregation;
use tabsegnet_ranker::device::{DeviceChoice, DeviceFailure, guard, open_device};
use tabsegnet_ranker::loss::pairwise_hinge;
use tabsegnet_ranker::{Batch, Example, ModelConfig, Precision, TabSegNet};

const NODES: usize = 40;
const D_ENC: usize = 24;

fn choice() -> DeviceChoice {
    let usual = if cfg!(feature = "wgpu") { "wgpu" } else { "cuda" };
    std::env::var("TABSEGNET_TEST_DEVICE").unwrap_or_else(|_| usual.to_owned()).parse().unwrap()
}

fn gpu() -> Device {
    open_device(choice()).unwrap_or_else(|error| panic!("the tests on GPUs cannot run: {error}")).0
}

/// What a device's result may differ from the processor's by.
fn tolerance(device: &Device) -> f32 {
    if Precision::f32_is_tf32(device) { 2e-2 } else { 1e-4 }
}

/// Graphs and vectors of a few questions.
struct Made(Vec<(Adjacency, [Vec<f32>; 3])>);

impl Made {
    fn new() -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let question = |_| {
            let edges: Vec<_> = (0..200)
                .map(|_| {
                    let mut below = |limit: usize| rng.random_range(0..limit);
                    (below(NODES) as u32, below(NODES) as u32, below(22) as u8)
                })
                .collect();
            let vectors = [NODES, 1, 3].map(|n| (0..n * D_ENC).map(|_| rng.random_range(-0.3..0.3)).collect());
            (Adjacency::new(NODES, TypeNames::default(), &edges).unwrap(), vectors)
        };
        Self((0..3).map(question).collect())
    }

    fn batch(&self, config: &ModelConfig, device: &Device) -> Batch {
        let examples: Vec<_> = self
            .0
            .iter()
            .map(|(graph, [u, q, segments])| Example { graph, u, q, segments, features: &[], gold: &[3, 20] })
            .collect();
        Batch::new(&examples, config, D_ENC, device).unwrap()
    }

    fn scores(&self, model: &TabSegNet, config: &ModelConfig, device: &Device) -> Vec<f32> {
        model.forward(&self.batch(config, device)).into_data().iter::<f32>().collect()
    }
}

fn config(aggregation: Aggregation) -> ModelConfig {
    ModelConfig { d_in: 20, d_out: 33, d_edge: 7, layers: 2, aggregation, segments: true, ..ModelConfig::default() }
}

/// The losses of some steps, and the model after them.
fn train(made: &Made, config: &ModelConfig, device: &Device, precision: Precision) -> (Vec<f32>, TabSegNet) {
    let device = device.clone().autodiff();
    let batch = made.batch(config, &device);
    let mut model = TabSegNet::new(config, D_ENC, 1, &device).with_precision(precision);
    // A large ε: with the usual one Adam makes whole steps of gradients that are all rounding.
    let mut optimiser = AdamConfig::new().with_epsilon(1e-5).init();
    let losses = (0..5)
        .map(|_| {
            let loss = pairwise_hinge(model.forward(&batch), batch.pairs.as_ref().unwrap(), 1.0);
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            model = optimiser.step(1e-3, model.clone(), gradients);
            loss.into_data().iter::<f32>().sum()
        })
        .collect();
    (losses, model)
}

#[track_caller]
fn close(what: &str, found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{what}: {found}, expected {expected}"
        );
    }
}

#[test]
fn training_steps_equal_the_processors_and_checkpoints_open_on_either() {
    let made = Made::new();
    let devices = [Device::flex(), gpu()];
    let tolerance = tolerance(&devices[1]);
    for aggregation in [Aggregation::Max, Aggregation::Sum, Aggregation::Mean] {
        let config = config(aggregation);
        let trained = devices.each_ref().map(|device| train(&made, &config, device, Precision::F32));
        let [(losses, model), (gpu_losses, gpu_model)] = &trained;
        close("losses", gpu_losses, losses, tolerance);
        for ((name, found), (_, expected)) in gpu_model.parameters().iter().zip(model.parameters()) {
            // The loss does not change when all scores shift: this gradient is rounding alone.
            if name == "scorer.b" {
                continue;
            }
            let [found, expected] = [found, &expected].map(|data| data.iter::<f32>().collect::<Vec<_>>());
            close(name, &found, &expected, tolerance);
        }
        // Each device's checkpoint on both devices.
        for (_, model) in &trained {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("best");
            checkpoint::write(&path, model, &[], None, Manifest::new(&config, D_ENC, "encoder", "none", 1), "", "")
                .unwrap();
            let [on_cpu, on_gpu] = devices
                .each_ref()
                .map(|device| made.scores(&checkpoint::read(&path, device).unwrap().model, &config, device));
            close("scores", &on_gpu, &on_cpu, tolerance);
        }
    }
}

#[test]
fn half_precision_trains_where_the_gpu_has_it_and_is_refused_elsewhere() {
    let (made, config, gpu) = (Made::new(), config(Aggregation::Max), gpu());
    // bf16 is CUDA's alone.
    assert_eq!(Precision::Bf16.check(&gpu).is_ok(), choice() == DeviceChoice::Cuda);
    for (half, missing, tolerance) in [(Precision::F16, "16-bit floats", 1e-2), (Precision::Bf16, "bf16", 5e-2)] {
        let refused = half.check(&Device::flex()).unwrap_err().to_string();
        assert!(refused.contains(half.name()) && refused.contains("the processor computes in f32 alone"), "{refused}");
        match half.check(&gpu) {
            Ok(()) => {
                let (expected, _) = train(&made, &config, &gpu, Precision::F32);
                let (found, _) = train(&made, &config, &gpu, half);
                assert_ne!(found, expected);
                close("losses", &found, &expected, tolerance);
            }
            Err(error) => {
                let refused = error.to_string();
                assert!(refused.contains(missing) && refused.contains("precision = \"f32\""), "{refused}");
            }
        }
    }
}

#[test]
fn a_tensor_too_large_for_the_gpu_is_an_error_and_the_gpu_goes_on() {
    let gpu = gpu();
    // 8 GiB: more than Vulkan lets a kernel see of an array. 8 TiB: more than any GPU has.
    let rows = if choice() == DeviceChoice::Cuda { 1 << 26 } else { 1 << 16 };
    let failure = guard(&gpu, || (Tensor::<2>::zeros([rows, 1 << 15], &gpu) + 1.0).sum_dim(0).into_data()).unwrap_err();
    assert!(matches!(failure, DeviceFailure::OutOfMemory(_)), "{failure:?}");
    let message = failure.to_string();
    assert!(message.contains("out of memory") && message.len() < 400, "{message}");
    // What a thread of rayon's that works for the guarded one says is told as well.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let elsewhere = guard::<()>(&gpu, || pool.install(|| panic!("out of memory, said elsewhere"))).unwrap_err();
    assert!(matches!(elsewhere, DeviceFailure::OutOfMemory(_)), "{elsewhere:?}");
    let two = guard(&gpu, || (Tensor::<1>::ones([1], &gpu) + 1.0).into_data()).unwrap();
    assert_eq!(two.iter::<f32>().collect::<Vec<_>>(), [2.0]);
}
