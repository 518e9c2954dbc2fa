//! Segments from a T5.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use tabsegnet_store::{Digest, eprintln};

use crate::prompt::{self, Prompt};
use crate::{Generator, Limits, ModelFiles, Segmenter, SegmenterError, T5Config, T5Tokenizer, WeightKind, rules};

/// Questions whose segments are kept in memory; then all are forgotten.
const KEPT: usize = 1 << 16;
/// Questions between two words of progress.
const CHUNK: usize = 64;

/// A T5 in Hugging Face layout as a segmenter.
///
/// What always holds: at least one segment, the whole question where the model writes none; a blank
/// question has none.
pub struct T5Segmenter {
    generator: Generator,
    tokenizer: T5Tokenizer,
    prompt: Prompt,
    identity: String,
    kept: Mutex<HashMap<String, Vec<String>>>,
    warned: [AtomicBool; 3],
}

/// The segments of a question and what there is to say of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// None where the model wrote none.
    pub segments: Vec<String>,
    /// Tokens of prompt and question, of which no more than the limit counted.
    pub input: usize,
    /// Whether the output came to an end before the limit.
    pub finished: bool,
}

/// What a model writes for a question, cut into segments.
///
/// # Errors
/// A question that cannot be tokenised; a model that fails.
pub fn segments_of(
    generator: &Generator,
    tokenizer: &T5Tokenizer,
    prompt: &Prompt,
    question: &str,
) -> Result<Found, SegmenterError> {
    let limit = generator.limits.input;
    let (text, input, finished) = if prompt.pointers {
        let (pointing, input) = tokenizer.pointing(prompt, question, limit)?;
        let output = generator.generate_of(pointing.input(), Some(&pointing))?;
        (pointing.text(&output.tokens, &prompt.separator), input, output.finished)
    } else {
        let (tokens, input) = tokenizer.encode(&prompt.input(question), limit)?;
        let output = generator.generate(&tokens)?;
        (tokenizer.decode(&output.tokens)?, input, output.finished)
    };
    Ok(Found { segments: prompt.segments(&text), input, finished })
}

impl T5Segmenter {
    /// Opens a model.
    ///
    /// # Errors
    /// A file that is not there or is not what it should be; limits out of range, or below the prompt.
    pub fn open(files: &ModelFiles, limits: Limits, kind: WeightKind) -> Result<Self, SegmenterError> {
        check_version(files)?;
        let (path, config_bytes) = files.read("config.json")?;
        let config = T5Config::parse(&path, &config_bytes)?;
        let (path, tokenizer_bytes) = files.read("tokenizer.json")?;
        let tokenizer = T5Tokenizer::parse(&path, &tokenizer_bytes, &config)?;
        let prompt = Prompt::of(files)?;
        let (last, file) = (prompt.reserved(), prompt::FILE);
        if prompt.pointers && tokenizer.sentinels().len() <= last {
            let for_what = if last > 0 { "pointers and proposals" } else { "pointers" };
            let reason = format!("has no token <extra_id_{last}>, which {file} ({for_what}) needs as a marker");
            return Err(SegmenterError::Malformed { path, reason });
        }
        let (_, least) = tokenizer.encode(&prompt.prefix, limits.input)?;
        if least >= limits.input {
            return Err(SegmenterError::Setting {
                key: "segmenter.max_input_tokens",
                value: limits.input.to_string(),
                expected: format!("more than the {least} tokens of the model's prompt"),
            });
        }
        let weights = files.weights()?;
        let own_head = weights.has("lm_head.weight");
        let generator =
            Generator::new(&config, own_head, limits, kind, &mut |name, shape| weights.floats(name, shape))?;
        let mut digest = Digest::new().part("segmenter t5 1").part(&config_bytes).part(&tokenizer_bytes);
        for file in weights.digests()? {
            digest = digest.part(file);
        }
        if prompt.pointers {
            digest = digest.part("pointers");
        }
        if prompt.proposals {
            digest = digest.part("proposals, the likelier a token").part(rules::IDENTITY);
        }
        if let Some(name) = kind.blocks() {
            digest = digest.part(format!("{name:?}"));
        }
        let identity = digest
            .part(&prompt.prefix)
            .part(&prompt.separator)
            .part(format!("{} {} {}", limits.beams, limits.input, limits.output))
            .hex();
        Ok(Self { generator, tokenizer, prompt, identity, kept: Mutex::default(), warned: Default::default() })
    }

    fn find(&self, question: &str) -> Result<Vec<String>, SegmenterError> {
        let whole = question.split_whitespace().collect::<Vec<_>>().join(" ");
        if whole.is_empty() {
            return Ok(Vec::new());
        }
        let Found { segments, input, finished } =
            segments_of(&self.generator, &self.tokenizer, &self.prompt, question)?;
        let limits = self.generator.limits;
        if input > limits.input {
            self.say(0, question, || {
                format!(
                    "has {input} tokens with the prompt; the first {} count (segmenter.max_input_tokens)",
                    limits.input
                )
            });
        }
        if !finished {
            self.say(1, question, || {
                format!("got {} tokens of segments without an end (segmenter.max_output_tokens)", limits.output)
            });
        }
        if segments.is_empty() {
            self.say(2, question, || "got no segment; the whole question is taken as one".to_owned());
            return Ok(vec![whole]);
        }
        Ok(segments)
    }

    /// Says something of a question on stderr, the first time.
    fn say(&self, kind: usize, question: &str, what: impl Fn() -> String) {
        if self.warned.get(kind).is_some_and(|warned| !warned.swap(true, Ordering::Relaxed)) {
            let start: String = question.chars().take(60).collect();
            eprintln!("warning: segmenter: the question {start:?} {}; not repeated for others", what());
        }
    }

    fn kept(&self, question: &str) -> Option<Vec<String>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(question).cloned()
    }
}

impl Segmenter for T5Segmenter {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn is_costly(&self) -> bool {
        true
    }

    fn segments(&self, question: &str) -> Result<Vec<String>, SegmenterError> {
        if let Some(segments) = self.kept(question) {
            return Ok(segments);
        }
        let segments = self.find(question)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(question.to_owned(), segments.clone());
        Ok(segments)
    }

    /// Several at a time, one a thread: candle's T5 has no mask for padding, so that questions of
    /// different lengths cannot share a batch.
    fn segments_of_all(
        &self,
        questions: &[&str],
        progress: &mut dyn FnMut(usize),
    ) -> Result<Vec<Vec<String>>, SegmenterError> {
        let mut all = Vec::with_capacity(questions.len());
        for chunk in questions.chunks(CHUNK) {
            let found: Result<Vec<_>, SegmenterError> =
                chunk.par_iter().map(|question| self.segments(question)).collect();
            all.extend(found?);
            progress(all.len());
        }
        Ok(all)
    }
}

/// What `train` writes a segmenter's manifest as.
pub const FORMAT_VERSION: u64 = 1;

/// A T5 that `train` wrote has a manifest; others have none.
fn check_version(files: &ModelFiles) -> Result<(), SegmenterError> {
    let Some((path, bytes)) = files.read_if_there("manifest.json")? else { return Ok(()) };
    let manifest: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    match manifest.and_then(|manifest| manifest.get("format_version")?.as_u64()) {
        Some(FORMAT_VERSION) => Ok(()),
        found => {
            let found = found.map_or_else(|| "none".to_owned(), |version| version.to_string());
            let reason = format!(
                "has format_version {found}, this program reads {FORMAT_VERSION}; make a new segmenter with: train --config \
                 configs/segmenter-finqa.toml"
            );
            Err(SegmenterError::Malformed { path, reason })
        }
    }
}

impl Prompt {
    /// That of a model: its `segmenter.json`, else the default.
    ///
    /// # Errors
    /// A file that is no prompt.
    pub fn of(files: &ModelFiles) -> Result<Self, SegmenterError> {
        let Some((path, bytes)) = files.read_if_there(prompt::FILE)? else { return Ok(Self::default()) };
        let malformed = |reason: String| SegmenterError::Malformed { path: path.clone(), reason };
        let prompt: Self = serde_json::from_slice(&bytes)
            .map_err(|error| malformed(format!("is no prompt of a segmenter: {error}")))?;
        if prompt.separator.is_empty() || prompt.separator.contains(char::is_whitespace) {
            return Err(malformed(format!("separator is {:?}; expected a word", prompt.separator)));
        }
        if prompt.proposals && !prompt.pointers {
            return Err(malformed(
                "has proposals without pointers; proposals are written beside words that are pointed at".into(),
            ));
        }
        Ok(prompt)
    }
}
