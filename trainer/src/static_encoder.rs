//! Distilling a static encoder: a vector and a weight a token, whose mean over a text comes near
//! the vector that a sentence encoder (the teacher) gives the text.
//!
//! 1. The teacher's vectors of the training texts are projected onto their first `dim` principal
//!    directions, which keeps as much of their dot products as `dim` numbers can.
//! 2. A token starts with the projected vector of itself as a text, and the weight
//!    a / (a + frequency), a = 10⁻³ (Arora et al. 2017), so that tokens that the texts do not hold
//!    have sensible vectors too.
//! 3. Vectors and weights are trained so that the cosine of weighted mean and target rises.

mod projection;
mod vocabulary;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use burn::module::{Module, Param, ParamId};
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet_datasets::config::Part;
use tabsegnet_encoder::{EmbeddingCache, EncoderKind, load_on, save_static, tokenizer_json};
use tabsegnet_ranker::aggregate::aggregate;
use tabsegnet_ranker::config::Aggregation;
use tabsegnet_ranker::edges::EdgeIndex;

use crate::batches::floats;
use crate::config::Config;
use crate::inputs::{prepared, short};
use crate::progress::Progress;
use crate::training::Outcome;
use projection::Projection;
use vocabulary::Vocabulary;

/// a of the starting weights.
const SIF: f32 = 1e-3;

/// What is trained.
#[derive(Module, Debug)]
struct TokenTable {
    /// `[tokens, dim]`
    embedding: Param<Tensor<2>>,
    /// `[tokens, 1]`
    weight: Param<Tensor<2>>,
}

impl TokenTable {
    /// Unit vectors `[texts, dim]` of texts given as edges from tokens.
    fn forward(&self, texts: &Arc<EdgeIndex>) -> Tensor<2> {
        let embedding = self.embedding.val();
        let one = Tensor::ones([1, 1], &embedding.device());
        let tokens = embedding * self.weight.val(); // [tokens, dim]
        let mean = aggregate(tokens, one, texts, Aggregation::Mean); // [texts, dim]
        let square = mean.clone().powi_scalar(2).sum_dim(1); // [texts, 1]
        mean / (square + 1e-12).sqrt()
    }
}

/// Texts as token numbers with the vectors they should have.
struct Corpus {
    tokens: Vec<Vec<u32>>,
    /// `[texts, dim]`, unit length.
    targets: Vec<f32>,
}

/// Trains and writes a static encoder to `output.directory`.
pub fn train(config: &Config, device: &Device, stop: &AtomicBool) -> Result<Outcome> {
    ensure!(
        config.encoder.kind == EncoderKind::Bert,
        "encoder.kind is static; a static encoder is distilled from one of kind bert"
    );
    let teacher = load_on(&config.encoder, device).context("the teacher (encoder.model) cannot be opened")?;
    let settings = &config.static_encoder;
    ensure!(
        settings.dim <= teacher.dim(),
        "static_encoder.dim is {}, the teacher's width {}; expected at most that",
        settings.dim,
        teacher.dim()
    );
    let cache = EmbeddingCache::open(&config.cache()?)?;
    cache.notice().into_iter().for_each(|notice| eprintln!("{notice}"));
    let vocabulary = Vocabulary::of_teacher(&tokenizer_json(&config.encoder)?)?;
    let embed = |name: &str, texts: &[&str]| -> Result<Vec<f32>> {
        let mut progress = Progress::new(name, texts.len());
        let vectors = cache.embed(teacher.as_ref(), texts, &mut |done| progress.set(done, texts.len(), "texts"))?;
        progress.finish(&format!("{} texts", texts.len()));
        Ok(vectors)
    };

    let (train_texts, dev_texts) = (texts(config, Part::Train)?, texts(config, Part::Dev)?);
    let train_vectors = embed("encode train", &refs(&train_texts))?;
    let dev_vectors = embed("encode dev", &refs(&dev_texts))?;
    let token_texts: Vec<&str> = vocabulary.texts().collect();
    let token_vectors = embed("encode tokens", &token_texts)?;

    let projection = Projection::new(&train_vectors, teacher.dim(), settings.dim);
    let corpus = |texts: &[String], vectors: &[f32]| -> Result<Corpus> {
        Ok(Corpus {
            tokens: vocabulary.encode(&refs(texts), config.encoder.max_tokens)?,
            targets: projection.unit(vectors),
        })
    };
    let (train, dev) = (corpus(&train_texts, &train_vectors)?, corpus(&dev_texts, &dev_vectors)?);
    let start = projection.project(&token_vectors);
    let weights = starting_weights(&train.tokens, vocabulary.len());

    let autodiff = device.clone().autodiff();
    let parameter = |id: u64, values: Vec<f32>, width: usize| {
        let shape = [values.len() / width, width];
        Param::initialized(
            ParamId::from(id),
            Tensor::from_data(TensorData::new(values, shape), &autodiff).require_grad(),
        )
    };
    let mut table = TokenTable { embedding: parameter(1, start, settings.dim), weight: parameter(2, weights, 1) };
    eprintln!(
        "before training: mean cosine to the teacher on dev {:.4}",
        mean_cosine(&table.valid(), &dev, settings.dim, device)
    );

    let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
    for epoch in 1..=settings.epochs {
        let mut progress = Progress::new(&format!("epoch {epoch}/{}", settings.epochs), 0);
        let mut order: Vec<usize> = (0..train.tokens.len()).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(config.task.seed);
        rng.set_stream(epoch as u64);
        order.shuffle(&mut rng);
        let batches = order.len().div_ceil(settings.batch_size);
        // The step size falls to a tenth along a line: the last epochs settle.
        let learning_rate = settings.learning_rate * (1.0 - 0.9 * (epoch - 1) as f64 / settings.epochs.max(2) as f64);
        for (step, texts) in order.chunks(settings.batch_size).enumerate() {
            let loss;
            (table, loss) = step_on(table, &mut optimiser, &train, texts, settings.dim, learning_rate, &autodiff);
            ensure!(
                loss.is_finite(),
                "the loss is {loss} at epoch {epoch}, step {}; try a lower static_encoder.learning_rate",
                step + 1
            );
            progress.set(step + 1, batches, &format!("loss {loss:.4}"));
            if stop.load(Ordering::Relaxed) {
                progress.finish("stopped; nothing was written");
                return Ok(Outcome::Stopped);
            }
        }
        progress.finish(&format!(
            "mean cosine to the teacher on dev {:.4}",
            mean_cosine(&table.valid(), &dev, settings.dim, device)
        ));
    }

    let cosine = mean_cosine(&table.valid(), &dev, settings.dim, device);
    let card = card(config, teacher.identity(), &vocabulary, train_texts.len(), dev_texts.len(), cosine);
    let directory = config.output.directory.as_ref();
    let values = |parameter: &Param<Tensor<2>>| floats(parameter.val().into_data());
    let (embedding, weight) = (values(&table.embedding), values(&table.weight));
    save_static(directory, &vocabulary.tokenizer, &embedding, &weight, settings.dim, &card, settings.quantise)?;
    println!("static encoder: {}", directory.display());
    Ok(Outcome::Finished)
}

/// The different texts of a part: node texts and questions.
fn texts(config: &Config, part: Part) -> Result<Vec<String>> {
    let prepared = prepared(config, part)?;
    let mut texts: Vec<String> = prepared.documents.into_iter().flat_map(|document| document.ranking_texts).collect();
    texts.extend(prepared.questions.into_iter().map(|question| question.text));
    texts.retain(|text| !text.trim().is_empty());
    texts.sort_unstable();
    texts.dedup();
    Ok(texts)
}

fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn starting_weights(texts: &[Vec<u32>], tokens: usize) -> Vec<f32> {
    let mut counts = vec![0_u32; tokens];
    for &token in texts.iter().flatten() {
        counts[token as usize] += 1;
    }
    let total = counts.iter().map(|&count| count as f32).sum::<f32>().max(1.0);
    counts.into_iter().map(|count| SIF / (SIF + count as f32 / total)).collect()
}

/// Texts as edges from tokens.
fn edges(corpus: &Corpus, texts: &[usize], tokens: usize) -> Arc<EdgeIndex> {
    let mut offsets = vec![0];
    let mut sources = Vec::new();
    for &text in texts {
        sources.extend_from_slice(&corpus.tokens[text]);
        offsets.push(sources.len() as u32);
    }
    let strengths = vec![0; sources.len()];
    Arc::new(EdgeIndex::bipartite(tokens, offsets, sources, strengths))
}

/// The cosine of each text's vector and target, `[texts, 1]`.
fn cosines(table: &TokenTable, corpus: &Corpus, texts: &[usize], dim: usize, device: &Device) -> Tensor<2> {
    let targets: Vec<f32> =
        texts.iter().flat_map(|&text| corpus.targets[text * dim..(text + 1) * dim].iter().copied()).collect();
    let targets = Tensor::from_data(TensorData::new(targets, [texts.len(), dim]), device); // [texts, dim]
    let tokens = table.embedding.val().dims()[0];
    (table.forward(&edges(corpus, texts, tokens)) * targets).sum_dim(1)
}

fn step_on(
    table: TokenTable,
    optimiser: &mut ModuleOptimizer,
    corpus: &Corpus,
    texts: &[usize],
    dim: usize,
    learning_rate: f64,
    device: &Device,
) -> (TokenTable, f32) {
    let loss = cosines(&table, corpus, texts, dim, device).neg().add_scalar(1.0).mean();
    let gradients = GradientsParams::from_grads(loss.backward(), &table);
    let table = optimiser.step(learning_rate, table, gradients);
    (table, floats(loss.into_data()).into_iter().sum())
}

fn mean_cosine(table: &TokenTable, corpus: &Corpus, dim: usize, device: &Device) -> f64 {
    let all: Vec<usize> = (0..corpus.tokens.len()).collect();
    let mut sum = 0.0;
    for texts in all.chunks(4096) {
        sum += floats(cosines(table, corpus, texts, dim, device).into_data()).into_iter().map(f64::from).sum::<f64>();
    }
    sum / all.len().max(1) as f64
}

fn card(config: &Config, teacher: &str, vocabulary: &Vocabulary, train: usize, dev: usize, cosine: f64) -> String {
    format!(
        "---\nlicense: apache-2.0\nbase_model: {model}\n---\n\n# Static encoder\n\nA vector of width {dim} and a weight a \
         token; a text's vector is the weighted mean of its tokens', scaled to length 1. No transformer runs: a text \
         takes microseconds.\n\n- Distilled from: {model} (identity {teacher}), Apache-2.0; this encoder is a derived \
         work under the same licence\n- Tokens: {tokens} of the teacher's WordPiece vocabulary (those in Latin script, \
         digits, punctuation)\n- Trained on: {train} different texts (node texts and questions of the training part), \
         {epochs} epochs, seed {seed}\n- Dev: mean cosine to the teacher's projected vectors {cosine:.4} over {dev} \
         texts\n- Storage: {storage}\n\nLimits: word order does not count; English financial reports are what it was \
         trained on; other scripts become the unknown token. Made again by `train --config \
         configs/static-encoder.toml`.\n",
        model = std::path::Path::new(&config.encoder.model)
            .file_name()
            .map_or_else(|| config.encoder.model.clone(), |name| name.to_string_lossy().into_owned()),
        dim = config.static_encoder.dim,
        teacher = short(teacher),
        tokens = vocabulary.len(),
        epochs = config.static_encoder.epochs,
        seed = config.task.seed,
        storage = if config.static_encoder.quantise { "8-bit integers with a scale a token" } else { "32-bit floats" },
    )
}
