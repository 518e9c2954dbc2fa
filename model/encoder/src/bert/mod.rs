//! The `bert` encoder: BERT-family sentence encoders in Hugging Face layout.

mod config;
mod forward;
mod pooling;
mod tensors;
mod weights;
mod words;

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use burn::tensor::Device;
use tabsegnet_store::Digest;

use crate::error::check_finite;
use crate::math::{Isa, MOST_DEPTH, Precision, Team, unit_rows};
use crate::source::Source;
use crate::tensors::Tensors;
use crate::tokens::Tokens;
use crate::{Encoder, EncoderConfig, EncoderError, work};
use config::ModelConfig;
use forward::{Model, Scratch};
use pooling::{Pipeline, Pooling};
use tensors::{Pending, TensorModel};
use weights::Weights;
use words::{WeightsFile, Words};

const KIND: &str = "bert";
/// With fewer batches a thread than this, all threads share each batch: a question alone uses them
/// all, and none waits long for the last batch of another.
const BATCHES_A_THREAD: usize = 4;
/// Times the tokens of a thread's batch that a batch on a device has, padding included.
const DEVICE_BATCH: usize = 32;
/// Batches that a device has before the first of them is read.
const AHEAD: usize = 3;

/// A sentence encoder of the BERT family (model types `bert`, `roberta`, `xlm-roberta`,
/// `camembert`, `distilbert`), on the CPU or, in f32, on another device.
///
/// Reads what sentence-transformers writes: `config.json`, `model.safetensors` and
/// `tokenizer.json`; the pooling and whether vectors get length 1 from `modules.json` and the
/// pooling module's `config.json` (mean and no normalisation where there is no `modules.json`, as
/// sentence-transformers does). A text counts up to the lowest of the configured limit, the
/// `max_seq_length` of `sentence_bert_config.json` and the positions that the model has.
///
/// Equal texts are encoded once. Texts are sorted by length and laid one after the other, never
/// padded, so a token costs the same in any batch. Many batches go to as many threads as rayon has;
/// few are shared by all threads, one after the other. On a GPU texts are padded to the longest of
/// their batch.
pub struct BertEncoder {
    tokens: Tokens,
    hidden: usize,
    forward: Forward,
    pooling: Pooling,
    normalise: bool,
    lowercase: bool,
    batch_tokens: usize,
    identity: String,
}

/// The forward pass: on the CPU kernels for its vector instructions, without padding and on all cores;
/// elsewhere in the tensors that the ranker runs on, padded.
enum Forward {
    Native(Box<Model>),
    Tensors(Box<TensorModel>),
}

impl BertEncoder {
    /// Opens the encoder in `dir` with the default limits.
    ///
    /// # Errors
    ///
    /// A directory or file that is not there, an architecture or module that is not supported,
    /// weights or a tokenizer that do not fit the configuration.
    pub fn load(dir: &Path) -> Result<Self, EncoderError> {
        if !dir.is_dir() {
            return Err(EncoderError::NoDirectory { path: dir.to_owned(), kind: KIND });
        }
        Self::open(&Source::directory(dir), &EncoderConfig::default(), &Device::flex(), false)
    }

    pub(crate) fn open(
        source: &Source,
        settings: &EncoderConfig,
        device: &Device,
        in_tensors: bool,
    ) -> Result<Self, EncoderError> {
        let EncoderConfig { max_tokens, batch_tokens, precision, .. } = *settings;
        Isa::choose()?;
        let pipeline = Pipeline::read(source)?;
        let (config_path, config_json) = source.read(KIND, &pipeline.file("config.json"))?;
        let config = ModelConfig::parse(&config_path, &config_json)?;
        let pooling = pipeline.pooling(source, config.hidden)?;
        let (limit, lowercase) = pipeline.limits(source)?;
        let limit =
            [max_tokens, limit.unwrap_or(usize::MAX), config.positions()].into_iter().fold(usize::MAX, usize::min);

        let (tokenizer_path, tokenizer) = source.read(KIND, &pipeline.file("tokenizer.json"))?;
        let weights_path = source.path(KIND, &pipeline.file("model.safetensors"))?;
        let (file, weights) = WeightsFile::open(&weights_path)?;
        let widest = config.hidden.max(config.inner);
        if precision == Precision::Int8 && widest > MOST_DEPTH {
            return Err(EncoderError::Config {
                key: "precision",
                value: "\"int8\"".to_owned(),
                expected: format!("the model is {widest} wide and int8 has room for {MOST_DEPTH}; expected \"f32\""),
            });
        }
        let digest = || {
            let kind = match precision {
                Precision::F32 => "bert 2",
                Precision::Int8 => "bert 2 int8",
            };
            let pipeline = format!("{config:?} {pooling:?} {} {lowercase} {limit}", pipeline.normalise);
            Digest::new().part(kind).part(blake3::hash(&weights).as_bytes()).part(&tokenizer).part(pipeline).hex()
        };
        let read_tokens = || {
            let tokens = Tokens::parse(&tokenizer_path, &tokenizer, true, limit)?;
            tokens.check_rows(config.vocab, &weights_path)?;
            Ok::<_, EncoderError>(tokens)
        };
        let open = || {
            let stored = Tensors::parse(&weights_path, &weights)?;
            let model = Weights::read(&stored, &config)?;
            let words = [config.vocab, config.hidden];
            Ok::<_, EncoderError>(if in_tensors {
                let words = stored.floats(&model.embeddings.words, &words, "config.json")?;
                Forward::Tensors(Box::new(TensorModel::new(&words, &model, device)?))
            } else {
                let place = stored.place(&model.embeddings.words, words, "config.json")?;
                Forward::Native(Box::new(Model::new(Words::new(file, place, config.vocab), model, precision)?))
            })
        };
        // The tokeniser and the digest of all weights take as long as the weights.
        let (identity, tokens, forward) = std::thread::scope(|scope| {
            let beside = scope.spawn(|| (digest(), read_tokens()));
            let forward = open();
            let (identity, tokens) = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (identity, tokens, forward)
        });
        let (tokens, forward) = (tokens?, forward?);
        Ok(Self {
            tokens,
            hidden: config.hidden,
            forward,
            pooling,
            normalise: pipeline.normalise,
            lowercase,
            batch_tokens,
            identity,
        })
    }

    fn token_ids(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, EncoderError> {
        if self.lowercase {
            let lower: Vec<String> = texts.iter().map(|text| text.to_lowercase()).collect();
            let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
            self.tokens.ids(&lower)
        } else {
            self.tokens.ids(texts)
        }
    }

    fn encode_on_cpu(
        &self,
        unique: &Unique<'_>,
        ids: &[Vec<u32>],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Batches, EncoderError> {
        let batches = batches(ids, self.batch_tokens, false);
        let threads = rayon::current_num_threads();
        if threads == 1 || batches.len() >= BATCHES_A_THREAD * threads {
            let batch = |batch: usize| batches.get(batch).map(Vec::as_slice).unwrap_or_default();
            let vectors = work::run(
                batches.len(),
                |number| unique.size(batch(number)),
                Scratch::default,
                |scratch, number| self.encode_batch(unique, ids, batch(number), scratch, Team::One),
                progress,
            )?;
            return Ok((batches, vectors));
        }
        let mut scratch = Scratch::default();
        let mut done = 0;
        let mut vectors = Vec::with_capacity(batches.len());
        for batch in &batches {
            // In rayon's pool, so that its threads share the batch.
            vectors.push(rayon::scope(|_| self.encode_batch(unique, ids, batch, &mut scratch, Team::All))?);
            done += unique.size(batch);
            progress(done);
        }
        Ok((batches, vectors))
    }

    /// Vectors of the texts of one batch, `[texts, dim]`.
    fn encode_batch(
        &self,
        unique: &Unique<'_>,
        ids: &[Vec<u32>],
        batch: &[usize],
        scratch: &mut Scratch,
        team: Team,
    ) -> Result<Vec<f32>, EncoderError> {
        let ids = select(ids, batch);
        let vectors = match &self.forward {
            Forward::Native(model) => self.pooling.apply(model.forward(&ids, scratch, team)?, &ids, self.hidden),
            Forward::Tensors(model) => read(model.vectors(&ids, self.pooling))?,
        };
        self.finished(unique, batch, vectors)
    }

    /// One batch after the other, a few of them ahead of the one that is read, so that the device
    /// never waits for the next.
    fn encode_on_device(
        &self,
        model: &TensorModel,
        unique: &Unique<'_>,
        ids: &[Vec<u32>],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Batches, EncoderError> {
        let batches = batches(ids, self.batch_tokens.saturating_mul(DEVICE_BATCH), true);
        let mut pending = VecDeque::with_capacity(AHEAD + 1);
        let mut vectors = Vec::with_capacity(batches.len());
        let mut done = 0;
        let mut next = batches.iter();
        loop {
            let batch = next.next();
            if let Some(batch) = batch {
                pending.push_back((batch, model.vectors(&select(ids, batch), self.pooling)));
            }
            if batch.is_some() && pending.len() <= AHEAD {
                continue;
            }
            let Some((batch, tensor)) = pending.pop_front() else { break };
            vectors.push(self.finished(unique, batch, read(tensor)?)?);
            done += unique.size(batch);
            progress(done);
        }
        Ok((batches, vectors))
    }

    /// The pooled vectors of a batch, normalised if need be, all numbers finite.
    fn finished(&self, unique: &Unique<'_>, batch: &[usize], mut vectors: Vec<f32>) -> Result<Vec<f32>, EncoderError> {
        if self.normalise {
            unit_rows(&mut vectors, self.hidden);
        }
        let texts: Vec<&str> = batch.iter().filter_map(|text| unique.texts.get(*text)).copied().collect();
        check_finite(&texts, &vectors, self.hidden)?;
        Ok(vectors)
    }
}

/// Which texts each batch has, and their vectors.
type Batches = (Vec<Vec<usize>>, Vec<Vec<f32>>);

/// Whether a device is the processor.
pub(crate) fn is_cpu(device: &Device) -> bool {
    device.clone().without_autodiff() == Device::flex()
}

fn select<'a>(ids: &'a [Vec<u32>], batch: &[usize]) -> Vec<&'a [u32]> {
    batch.iter().filter_map(|text| ids.get(*text)).map(Vec::as_slice).collect()
}

fn read(pending: Pending) -> Result<Vec<f32>, EncoderError> {
    pending.read().map_err(|error| EncoderError::Device { reason: error.to_string() })
}

impl Encoder for BertEncoder {
    fn dim(&self) -> usize {
        self.hidden
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn encode(&self, texts: &[&str], progress: &mut dyn FnMut(usize)) -> Result<Vec<f32>, EncoderError> {
        let dim = self.dim();
        let unique = Unique::of(texts);
        let ids = self.token_ids(&unique.texts)?;
        let (batches, vectors) = match &self.forward {
            Forward::Tensors(model) => self.encode_on_device(model, &unique, &ids, progress)?,
            _ => self.encode_on_cpu(&unique, &ids, progress)?,
        };
        let mut by_text: Vec<&[f32]> = vec![&[]; unique.texts.len()];
        for (batch, vectors) in batches.iter().zip(&vectors) {
            for (text, vector) in batch.iter().zip(vectors.chunks_exact(dim)) {
                if let Some(place) = by_text.get_mut(*text) {
                    *place = vector;
                }
            }
        }
        progress(texts.len());
        Ok(unique
            .of_text
            .iter()
            .filter_map(|text| by_text.get(*text))
            .flat_map(|vector| vector.iter().copied())
            .collect())
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EncoderError> {
        let unique = Unique::of(texts);
        let ids = self.token_ids(&unique.texts)?;
        let special = self.tokens.ids_of("")?;
        let batches = batches(&ids, self.batch_tokens, false);
        let batch = |number: usize| batches.get(number).map(Vec::as_slice).unwrap_or_default();
        let vectors = work::run(
            batches.len(),
            |number| unique.size(batch(number)),
            Scratch::default,
            |scratch, number| {
                let vectors = self.token_batch(&select(&ids, batch(number)), &special, scratch)?;
                for (text, vectors) in batch(number).iter().zip(&vectors) {
                    let text = unique.texts.get(*text).copied().unwrap_or_default();
                    vectors
                        .chunks_exact(self.hidden)
                        .try_for_each(|vector| check_finite(&[text], vector, self.hidden))?;
                }
                Ok::<_, EncoderError>(vectors)
            },
            &mut |_| {},
        )?;
        let mut of_text = vec![Vec::new(); unique.texts.len()];
        for (text, vectors) in batches.iter().flatten().zip(vectors.into_iter().flatten()) {
            if let Some(place) = of_text.get_mut(*text) {
                *place = vectors;
            }
        }
        Ok(unique.of_text.iter().filter_map(|text| of_text.get(*text).cloned()).collect())
    }
}

impl BertEncoder {
    /// Last hidden states of the texts of one batch without those of special tokens, each of length 1:
    /// `[tokens, dim]` a text.
    fn token_batch(
        &self,
        ids: &[&[u32]],
        special: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<f32>>, EncoderError> {
        let Forward::Native(model) = &self.forward else {
            return Err(EncoderError::NoTokenVectors { reason: "on this device; it does with --device cpu" });
        };
        let states = model.forward(ids, scratch, Team::One)?;
        let mut states = states.chunks_exact(self.hidden);
        let mut vectors = Vec::with_capacity(ids.len());
        for ids in ids {
            let states = ids.iter().zip(states.by_ref());
            let own = states.filter(|(id, _)| !special.contains(id)).flat_map(|(_, state)| state.iter().copied());
            let mut own: Vec<f32> = own.collect();
            unit_rows(&mut own, self.hidden);
            vectors.push(own);
        }
        Ok(vectors)
    }
}

/// Texts, each once, and which of them each text is.
struct Unique<'a> {
    texts: Vec<&'a str>,
    of_text: Vec<usize>,
    copies: Vec<usize>,
}

impl<'a> Unique<'a> {
    fn of(texts: &[&'a str]) -> Self {
        let mut seen = HashMap::with_capacity(texts.len());
        let mut unique = Self { texts: Vec::new(), of_text: Vec::with_capacity(texts.len()), copies: Vec::new() };
        for text in texts {
            let at = *seen.entry(*text).or_insert(unique.texts.len());
            match unique.copies.get_mut(at) {
                Some(copies) => *copies += 1,
                None => {
                    unique.texts.push(text);
                    unique.copies.push(1);
                }
            }
            unique.of_text.push(at);
        }
        unique
    }

    /// How many of all texts the texts of a batch are.
    fn size(&self, batch: &[usize]) -> usize {
        batch.iter().filter_map(|text| self.copies.get(*text)).sum()
    }
}

/// Texts in batches of at most `budget` tokens (or one text), the longest first: the last batches
/// are the small ones, so that all threads end at about the same time. With `padded`, every text
/// counts as long as the longest of its batch. Depends on the texts and the budget alone.
fn batches(ids: &[Vec<u32>], budget: usize, padded: bool) -> Vec<Vec<usize>> {
    let length = |text: &usize| ids.get(*text).map_or(0, Vec::len);
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|text| std::cmp::Reverse(length(text)));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let (mut room, mut longest) = (0, 0);
    for text in order {
        let length = length(&text).max(1);
        let cost = if padded { length.max(longest) } else { length };
        match batches.last_mut() {
            Some(batch) if cost <= room => {
                batch.push(text);
                room -= cost;
            }
            _ => {
                batches.push(vec![text]);
                room = budget.saturating_sub(length);
                longest = length;
            }
        }
    }
    batches
}
