//! Distilling a static encoder: a vector and a weight a token, whose mean over a text comes near
//! the vector that a sentence encoder (the teacher) gives the text.
//!
//! 1. The teacher's vectors of the training texts are projected onto their first `dim` principal
//!    directions, which keeps as much of their dot products as `dim` numbers can.
//! 2. A token starts with the projected vector of itself as a text, and the weight
//!    a / (a + frequency), a = 10⁻³ (Arora et al. 2017), so that tokens that the texts do not hold
//!    have sensible vectors too.
//! 3. Vectors and weights are trained so that the cosine of weighted mean and target rises.
//! 4. With `static_encoder.contrastive` they are trained further, for that and for what filings call one concept to come
//!    near each other ([`paraphrases`]).

mod nearest;
mod paraphrases;
mod projection;
mod table;
mod vocabulary;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use burn::module::Module as _;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use tabsegnet_datasets::config::Part;
use tabsegnet_encoder::{EmbeddingCache, EncoderKind, load_on, read_static, save_static, tokenizer_json};

use crate::batches::floats;
use crate::cli::print;
use crate::config::Config;
use crate::inputs::{prepared, short};
use crate::progress::Progress;
use crate::training::Outcome;
use nearest::Nearest;
use paraphrases::{FromFilings, Paraphrases};
use projection::Projection;
use table::TokenTable;
use tabsegnet_store::eprintln;
use vocabulary::Vocabulary;

/// a of the starting weights.
const SIF: f32 = 1e-3;

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

    let projection = Projection::new(&train_vectors, teacher.dim(), settings.dim);
    let corpus = |texts: &[String], vectors: &[f32]| -> Result<Corpus> {
        Ok(Corpus {
            tokens: vocabulary.encode(&refs(texts), config.encoder.max_tokens)?,
            targets: projection.unit(vectors),
        })
    };
    let (train, dev) = (corpus(&train_texts, &train_vectors)?, corpus(&dev_texts, &dev_vectors)?);
    let filings =
        FromFilings::read(&settings.contrastive, &config.glossary.open()?, &vocabulary, config.encoder.max_tokens)?;
    let (start, weights) = match settings.start_from.as_str() {
        "" => {
            let token_vectors = embed("encode tokens", &vocabulary.texts().collect::<Vec<_>>())?;
            (projection.project(&token_vectors), starting_weights(&train.tokens, vocabulary.len()))
        }
        directory => started(directory.as_ref(), &vocabulary, settings.dim)?,
    };

    let table = TokenTable::new(start, weights, settings.dim, &device.clone().autodiff());
    let paraphrases = filings.as_ref().map(|filings| &filings.paraphrases);
    let nearest = filings.as_ref().and_then(|filings| filings.nearest.as_ref());
    let learning = Learning { config, train: &train, dev: &dev, nearest, device };
    learning.say("before training", &table);
    let distillation = Stage { name: "epoch", epochs: settings.epochs, paraphrases: None, stream: 0 };
    let contrastive = settings.contrastive.epochs;
    let contrastive = Stage { name: "contrastive epoch", epochs: contrastive, paraphrases, stream: 1 << 32 };
    let mut table = table;
    for stage in [distillation, contrastive] {
        let Some(trained) = learning.learn(&stage, table, stop)? else { return Ok(Outcome::Stopped) };
        table = trained;
    }

    let cosine = mean_cosine(&table.valid(), &dev, settings.dim, device);
    let learnt = Learnt { train: train_texts.len(), dev: dev_texts.len(), cosine, paraphrases };
    let card = card(config, teacher.identity(), &vocabulary, &learnt);
    let directory = config.output.directory.as_ref();
    let (embedding, weight) = table.values();
    save_static(directory, &vocabulary.tokenizer, &embedding, &weight, settings.dim, &card, settings.quantise)?;
    print(&format!("static encoder: {}\n", directory.display()))?;
    Ok(Outcome::Finished)
}

/// Vectors and weights of the static encoder in a directory.
fn started(directory: &Path, vocabulary: &Vocabulary, dim: usize) -> Result<(Vec<f32>, Vec<f32>)> {
    let start = read_static(directory).context("static_encoder.start_from cannot be read")?;
    ensure!(
        start.dim == dim && start.tokenizer_json == vocabulary.tokenizer && start.weight.len() == vocabulary.len(),
        "static_encoder.start_from: {} has width {} and {} tokens; expected width {dim} and the {} tokens of this teacher's \
         tokenizer, as an encoder distilled from it has",
        directory.display(),
        start.dim,
        start.weight.len(),
        vocabulary.len()
    );
    Ok((start.embedding, start.weight))
}

/// Passes over the texts.
struct Stage<'a> {
    /// Of a pass.
    name: &'static str,
    epochs: usize,
    /// Learnt in each step beside the texts.
    paraphrases: Option<&'a Paraphrases>,
    /// Added to the epoch's number: its random numbers.
    stream: u64,
}

/// What a table is trained with and measured on.
struct Learning<'a> {
    config: &'a Config,
    train: &'a Corpus,
    dev: &'a Corpus,
    nearest: Option<&'a Nearest>,
    /// Without autodiff.
    device: &'a Device,
}

impl Learning<'_> {
    /// Trains a table; nothing on a request to stop.
    fn learn(&self, stage: &Stage, mut table: TokenTable, stop: &AtomicBool) -> Result<Option<TokenTable>> {
        let settings = &self.config.static_encoder;
        let dim = settings.dim;
        let autodiff = self.device.clone().autodiff();
        let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
        for epoch in 1..=stage.epochs {
            let name = format!("{} {epoch}/{}", stage.name, stage.epochs);
            let mut progress = Progress::new(&name, 0);
            let mut order: Vec<usize> = (0..self.train.tokens.len()).collect();
            let mut rng = ChaCha8Rng::seed_from_u64(self.config.task.seed);
            rng.set_stream(stage.stream + epoch as u64);
            order.shuffle(&mut rng);
            let batches = order.len().div_ceil(settings.batch_size);
            // The step size falls to a tenth along a line: the last epochs settle.
            let learning_rate = settings.learning_rate * (1.0 - 0.9 * (epoch - 1) as f64 / stage.epochs.max(2) as f64);
            for (step, texts) in order.chunks(settings.batch_size).enumerate() {
                let mut loss = cosines(&table, self.train, texts, dim, &autodiff).neg().add_scalar(1.0).mean();
                if let Some(paraphrases) = stage.paraphrases {
                    let pairs = paraphrases.draw(settings.batch_size, &mut rng);
                    let of_pairs = paraphrases.loss(&table, &pairs, settings.contrastive.temperature);
                    loss = loss + of_pairs.mul_scalar(settings.contrastive.weight);
                }
                let gradients = GradientsParams::from_grads(loss.backward(), &table);
                table = optimiser.step(learning_rate, table, gradients);
                let loss: f32 = floats(loss.into_data()).into_iter().sum();
                ensure!(
                    loss.is_finite(),
                    "the loss is {loss} at {name}, step {}; try a lower static_encoder.learning_rate",
                    step + 1
                );
                progress.set(step + 1, batches, &format!("loss {loss:.4}"));
                if stop.load(Ordering::Relaxed) {
                    progress.finish("stopped; nothing was written");
                    return Ok(None);
                }
            }
            progress.finish(&self.measured(&table));
            if epoch == stage.epochs {
                self.say(&format!("after {name}"), &table);
            }
        }
        Ok(Some(table))
    }

    fn measured(&self, table: &TokenTable) -> String {
        let cosine = mean_cosine(&table.valid(), self.dev, self.config.static_encoder.dim, self.device);
        format!("mean cosine to the teacher on dev {cosine:.4}")
    }

    /// Prints how near a table is to the teacher and, where filings are held out, paraphrases to each other.
    fn say(&self, when: &str, table: &TokenTable) {
        eprintln!("{when}: {}", self.measured(table));
        if let Some(nearest) = self.nearest {
            let [all, reworded] = nearest.measure(&table.valid());
            eprintln!("{when}: labels of held-out filings: {all}");
            eprintln!("{when}: those that no filing learnt from has word for word: {reworded}");
        }
    }
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

/// The cosine of each text's vector and target, `[texts, 1]`.
fn cosines(table: &TokenTable, corpus: &Corpus, texts: &[usize], dim: usize, device: &Device) -> Tensor<2> {
    let targets: Vec<f32> =
        texts.iter().flat_map(|&text| corpus.targets[text * dim..(text + 1) * dim].iter().copied()).collect();
    let targets = Tensor::from_data(TensorData::new(targets, [texts.len(), dim]), device); // [texts, dim]
    (table.forward(texts.iter().map(|&text| corpus.tokens[text].as_slice())) * targets).sum_dim(1)
}

fn mean_cosine(table: &TokenTable, corpus: &Corpus, dim: usize, device: &Device) -> f64 {
    let all: Vec<usize> = (0..corpus.tokens.len()).collect();
    let mut sum = 0.0;
    for texts in all.chunks(4096) {
        sum += floats(cosines(table, corpus, texts, dim, device).into_data()).into_iter().map(f64::from).sum::<f64>();
    }
    sum / all.len().max(1) as f64
}

/// What an encoder was trained and measured on.
struct Learnt<'a> {
    train: usize,
    dev: usize,
    cosine: f64,
    paraphrases: Option<&'a Paraphrases>,
}

fn card(config: &Config, teacher: &str, vocabulary: &Vocabulary, learnt: &Learnt) -> String {
    let settings = &config.static_encoder;
    let Learnt { train, dev, cosine, paraphrases } = learnt;
    let distilled = match settings.start_from.as_str() {
        "" => format!("{} epochs", settings.epochs),
        _ => format!("{} epochs after those of the encoder that it started from", settings.epochs),
    };
    let contrastive = match paraphrases {
        Some(paraphrases) if settings.contrastive.epochs > 0 => format!(
            "- Then on paraphrases too: {} names of concepts from filings with inline XBRL, their taxonomies and the glossary, \
             {} epochs, temperature {}, weight {}\n",
            paraphrases.texts.len(),
            settings.contrastive.epochs,
            settings.contrastive.temperature,
            settings.contrastive.weight
        ),
        _ => String::new(),
    };
    let file = if contrastive.is_empty() { "static-encoder" } else { "static-encoder-paraphrases" };
    format!(
        "---\nlicense: apache-2.0\nbase_model: {model}\n---\n\n# Static encoder\n\nA vector of width {dim} and a weight a \
         token; a text's vector is the weighted mean of its tokens', scaled to length 1. No transformer runs: a text \
         takes microseconds.\n\n- Distilled from: {model} (identity {teacher}), Apache-2.0; this encoder is a derived \
         work under the same licence\n- Tokens: {tokens} of the teacher's WordPiece vocabulary (those in Latin script, \
         digits, punctuation)\n- Trained on: {train} different texts (node texts and questions of the training part), \
         {distilled}, seed {seed}\n{contrastive}- Dev: mean cosine to the teacher's projected vectors {cosine:.4} over {dev} \
         texts\n- Storage: {storage}\n\nLimits: word order does not count; English financial reports are what it was \
         trained on; other scripts become the unknown token. Made again by `train --config \
         configs/{file}.toml`.\n",
        model = std::path::Path::new(&config.encoder.model)
            .file_name()
            .map_or_else(|| config.encoder.model.clone(), |name| name.to_string_lossy().into_owned()),
        dim = settings.dim,
        teacher = short(teacher),
        tokens = vocabulary.len(),
        seed = config.task.seed,
        storage = if settings.quantise { "8-bit integers with a scale a token" } else { "32-bit floats" },
    )
}
