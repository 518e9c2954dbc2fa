//! The model's kernels and the whole step at sizes from one document to a large batch.
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use tabsegnet_benches::{Document, EDGE_TYPES, graph, rng, uniform};
use tabsegnet_ranker::aggregate::aggregate;
use tabsegnet_ranker::config::Aggregation;
use tabsegnet_ranker::edges::EdgeIndex;
use tabsegnet_ranker::loss::pairwise_hinge;
use tabsegnet_ranker::{Batch, ModelConfig, TabSegNet};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const D_ENC: usize = 384;

fn aggregation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("aggregate");
    for nodes in [1_000, 10_000] {
        let mut rng = rng(0);
        let edges = 7 * nodes;
        let graph = graph(nodes, edges, &mut rng);
        let strengths = graph.types().iter().map(|&edge_type| u32::from(edge_type)).collect();
        let index = EdgeIndex::new(graph.offsets().to_vec(), graph.sources().to_vec(), strengths).into();
        for aggregation in [Aggregation::Max, Aggregation::Sum, Aggregation::Mean] {
            for backward in [false, true] {
                let device = if backward { Device::flex().autodiff() } else { Device::flex() };
                let mut tensor = |rows: usize, columns: usize| {
                    let data = TensorData::new(uniform(rows * columns, &mut rng), [rows, columns]);
                    let tensor = Tensor::<2>::from_data(data, &device);
                    if backward { tensor.require_grad() } else { tensor }
                };
                let (x, strength) = (tensor(nodes, 128), tensor(1, EDGE_TYPES));
                let name = format!("{aggregation:?} forward{}", if backward { " and backward" } else { "" });
                group.throughput(Throughput::Elements(edges as u64));
                group.bench_function(BenchmarkId::new(name, nodes), |bencher| {
                    bencher.iter(|| {
                        let out = aggregate(x.clone(), strength.clone(), &index, aggregation);
                        if backward {
                            drop(black_box(out.sum().backward()));
                        } else {
                            drop(black_box(out));
                        }
                    });
                });
            }
        }
    }
    group.finish();
}

fn model(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("model");
    group.sample_size(20);
    let config = ModelConfig::default();
    for documents in [1, 8, 32] {
        let mut rng = rng(0);
        let documents: Vec<_> = (0..documents).map(|_| Document::random(128, 896, 2, D_ENC, &mut rng)).collect();
        let examples: Vec<_> = documents.iter().map(Document::example).collect();
        group.throughput(Throughput::Elements(documents.len() as u64));

        let plain = Device::flex();
        let model = TabSegNet::new(&config, D_ENC, 0, &plain);
        let batch = Batch::new(&examples, &config, D_ENC, &plain).expect("the examples fit");
        group.bench_function(BenchmarkId::new("inference", documents.len()), |bencher| {
            bencher.iter(|| black_box(model.forward(&batch)));
        });
        group.bench_function(BenchmarkId::new("batch", documents.len()), |bencher| {
            bencher.iter(|| black_box(Batch::new(&examples, &config, D_ENC, &plain)));
        });

        let device = plain.autodiff();
        let mut model = TabSegNet::new(&config, D_ENC, 0, &device);
        let batch = Batch::new(&examples, &config, D_ENC, &device).expect("the examples fit");
        let pairs = batch.pairs.as_ref().expect("every document has gold and other nodes");
        let mut optimiser = AdamConfig::new().init();
        group.bench_function(BenchmarkId::new("training step", documents.len()), |bencher| {
            bencher.iter(|| {
                let loss = pairwise_hinge(model.forward(&batch), pairs, 1.0);
                let gradients = GradientsParams::from_grads(loss.backward(), &model);
                model = optimiser.step(1e-3, model.clone(), gradients);
            });
        });
    }
    group.finish();
}

criterion_group!(kernels, aggregation, model);
criterion_main!(kernels);
