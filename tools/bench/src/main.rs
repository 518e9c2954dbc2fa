//! What is measured beside other people's programs, by `tools/scripts/bench.py` and its like: one program, since each
//! would carry the same networks and kernels. Each measurement prints lines of JSON.

mod aggregate;
mod bm25;
mod corpus_speed;
mod encode;
mod peak;
mod rank_document;
mod step;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "bench")]
enum Measurement {
    /// Aggregation of messages alone, forward and backward.
    Aggregate(aggregate::Options),
    /// Building a BM25 index over texts and asking it.
    Bm25(bm25::Options),
    /// How fast a corpus of tables opens and answers.
    #[command(name = "corpus_speed")]
    CorpusSpeed(corpus_speed::Options),
    /// Encoding a file of texts.
    Encode(encode::Options),
    /// The greatest rate of f32 matrix products.
    Peak(peak::Options),
    /// Questions to a document of 10,000 nodes.
    #[command(name = "rank_document")]
    RankDocument(rank_document::Options),
    /// Training steps and inference passes on random graphs.
    Step(step::Options),
}

fn main() -> anyhow::Result<()> {
    match Measurement::parse() {
        Measurement::Aggregate(options) => aggregate::run(&options),
        Measurement::Bm25(options) => bm25::run(&options),
        Measurement::CorpusSpeed(options) => corpus_speed::run(&options),
        Measurement::Encode(options) => encode::run(&options),
        Measurement::Peak(options) => peak::run(&options),
        Measurement::RankDocument(options) => rank_document::run(&options),
        Measurement::Step(options) => step::run(&options),
    }
}
