//! What happens to a document before and after the model: graph, lexical index, measures.
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tabsegnet_benches::{rng, uniform};
use tabsegnet_datasets::config::{Part, SyntheticConfig};
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_evaluation::measures::{GoldRanks, QuestionMeasures};
use tabsegnet_generate::synthetic::generate;
use tabsegnet_graph::GraphConfig;
use tabsegnet_lexical::{Bm25Config, LexicalIndex};

fn documents(criterion: &mut Criterion) {
    let samples = generate(&SyntheticConfig { dev_documents: 20, ..SyntheticConfig::default() }, Part::Dev);
    let config = GraphConfig::default();
    let prepared: Vec<_> = samples.iter().map(|sample| PreparedDocument::new(&sample.document, &config)).collect();
    let nodes: usize = prepared.iter().map(|document| document.nodes().len()).sum();
    let mut group = criterion.benchmark_group("documents");
    group.throughput(Throughput::Elements(nodes as u64));
    group.bench_function("graph", |bencher| {
        bencher.iter(|| {
            for sample in &samples {
                black_box(PreparedDocument::new(&sample.document, &config));
            }
        });
    });
    group.bench_function("lexical index", |bencher| {
        bencher.iter(|| {
            for document in &prepared {
                black_box(LexicalIndex::new(&document.ranking_texts));
            }
        });
    });
    let indexes: Vec<_> = prepared.iter().map(|document| LexicalIndex::new(&document.ranking_texts)).collect();
    let question = "What was the change in deferred revenue from 2014 to 2015?";
    group.bench_function("BM25", |bencher| {
        bencher.iter(|| {
            for index in &indexes {
                black_box(index.bm25(question, Bm25Config::default()));
            }
        });
    });
    group.finish();
}

fn measures(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("measures");
    for nodes in [100, 10_000] {
        let scores = uniform(nodes, &mut rng(0));
        group.throughput(Throughput::Elements(nodes as u64));
        group.bench_function(format!("one question, {nodes} nodes"), |bencher| {
            bencher.iter(|| {
                GoldRanks::of_scores(&scores, &[1, 7, 40]).map(|ranks| black_box(QuestionMeasures::of(&ranks)))
            });
        });
    }
    group.finish();
}

criterion_group!(all, documents, measures);
criterion_main!(all);
