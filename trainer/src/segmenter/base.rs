//! What a training starts from: shapes, tokenizer, prompt, weights.

use anyhow::{Result, ensure};
use burn::tensor::Device;
use std::path::Path;
use tabsegnet_segmenter::data::LabelledQuestion;
use tabsegnet_segmenter::t5::{Pair, T5};
use tabsegnet_segmenter::{FeedForward, ModelFiles, Prompt, SegmenterConfig, T5Config, T5Tokenizer, train_unigram};
use tabsegnet_store::{Digest, eprintln};

use crate::config::{Config, NewModelConfig};

/// Files that go from the model that is started from into what is written, where it has them.
const KEPT: [&str; 3] = ["tokenizer_config.json", "special_tokens_map.json", "generation_config.json"];

pub(super) struct Base {
    pub(super) config: T5Config,
    pub(super) prompt: Prompt,
    pub(super) tokenizer: T5Tokenizer,
    pub(super) tokenizer_bytes: Vec<u8>,
    /// Name and content.
    pub(super) kept: Vec<(&'static str, Vec<u8>)>,
    pub(super) sentinels: Vec<u32>,
    /// Digest of what the weights depend on.
    pub(super) identity: String,
    /// None for a new model.
    files: Option<ModelFiles>,
}

impl Base {
    /// A new model's tokenizer is learnt from the questions.
    pub(super) fn open<'q>(config: &Config, questions: impl IntoIterator<Item = &'q LabelledQuestion>) -> Result<Self> {
        let settings = &config.segmenter_training;
        if settings.model.is_empty() { Self::new(&settings.new, questions) } else { Self::of_model(config) }
    }

    fn of_model(config: &Config) -> Result<Self> {
        let settings = &config.segmenter_training;
        let files = ModelFiles::named(&settings.model, &settings.revision, "segmenter_training.model")?;
        let (path, config_bytes) = files.read("config.json")?;
        let model_config = T5Config::parse(&path, &config_bytes)?;
        let (path, tokenizer_bytes) = files.read("tokenizer.json")?;
        let tokenizer = T5Tokenizer::parse(&path, &tokenizer_bytes, &model_config)?;
        let mut kept = Vec::new();
        for name in KEPT {
            if let Some((_, bytes)) = files.read_if_there(name)? {
                kept.push((name, bytes));
            }
        }
        let mut identity = Digest::new().part(&config_bytes).part(&tokenizer_bytes);
        for file in files.weights()?.digests()? {
            identity = identity.part(file);
        }
        Ok(Self {
            prompt: Prompt::of(&files)?,
            sentinels: tokenizer.sentinels(),
            config: model_config,
            tokenizer,
            tokenizer_bytes,
            kept,
            identity: identity.hex(),
            files: Some(files),
        })
    }

    /// A model of its own, with a tokenizer learnt from the training texts.
    fn new<'q>(new: &NewModelConfig, questions: impl IntoIterator<Item = &'q LabelledQuestion>) -> Result<Self> {
        let prompt = Prompt {
            prefix: new.prompt.clone(),
            separator: new.separator.clone(),
            pointers: new.pointers,
            proposals: new.proposals,
        };
        let mut seen = Vec::new();
        for question in questions {
            seen.push(prompt.input(&question.question));
            seen.push(prompt.target(&question.segments));
        }
        let tokenizer_bytes = train_unigram(&seen, new.vocabulary, new.sentinels, new.lower_case)?;
        // The vocabulary may be smaller than requested, where the texts are few.
        let path = Path::new("the new tokenizer");
        let mut config = T5Config {
            vocab_size: usize::MAX,
            d_model: new.d_model,
            d_kv: new.d_kv,
            d_ff: new.d_ff,
            num_layers: new.layers,
            num_decoder_layers: new.decoder_layers,
            num_heads: new.heads,
            buckets: 32,
            max_distance: 128,
            eps: 1e-6,
            feed_forward: if new.gated { FeedForward::GatedGelu } else { FeedForward::Relu },
            scaled_output: new.tied,
            pad: 0,
            eos: 1,
            start: 0,
        };
        let tokenizer = T5Tokenizer::parse(path, &tokenizer_bytes, &config)?;
        config.vocab_size = tokenizer.len();
        let tokenizer_config = serde_json::json!({
            "tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>",
            "model_max_length": 512,
        });
        let identity = Digest::new().part(&tokenizer_bytes).part(config.json().to_string()).hex();
        Ok(Self {
            prompt,
            sentinels: tokenizer.sentinels(),
            config,
            tokenizer,
            tokenizer_bytes,
            kept: vec![("tokenizer_config.json", tokenizer_config.to_string().into_bytes())],
            identity,
            files: None,
        })
    }

    /// The weights to start from.
    pub(super) fn model(&self, config: &Config, device: &Device) -> Result<T5> {
        Ok(match &self.files {
            Some(files) => T5::read(&self.config, &files.weights()?, device)?,
            None => {
                let markers = if self.prompt.pointers { self.sentinels.as_slice() } else { &[] };
                T5::new(&self.config, !config.segmenter_training.new.tied, markers, config.task.seed, device)
            }
        })
    }

    /// Questions and segments as tokens; says how many are cut, and how many cannot be answered in pointers.
    pub(super) fn pairs(
        &self,
        questions: &[LabelledQuestion],
        part: &str,
        limits: &SegmenterConfig,
    ) -> Result<Vec<Pair>> {
        let (mut pairs, mut cut) = (Vec::with_capacity(questions.len()), 0);
        for question in questions {
            if let Some((pair, whole)) = self.pair(question, limits)? {
                cut += usize::from(!whole);
                pairs.push(pair);
            }
        }
        if pairs.len() < questions.len() {
            eprintln!(
                "{} of {} {part} questions are left out, whose segments have other words than they",
                questions.len() - pairs.len(),
                questions.len()
            );
        }
        if cut > 0 {
            eprintln!(
                "warning: {cut} of {} {part} questions are longer than segmenter.max_input_tokens or their segments than \
                 segmenter.max_output_tokens; they are cut",
                questions.len()
            );
        }
        ensure!(
            !pairs.is_empty(),
            "segmenter_training.new.pointers: no {part} question has segments of its own words; set it to false"
        );
        Ok(pairs)
    }

    /// The tokens of a question and whether they are all; none where segments cannot be written in pointers.
    fn pair(&self, question: &LabelledQuestion, limits: &SegmenterConfig) -> Result<Option<(Pair, bool)>> {
        if !self.prompt.pointers {
            let (input, whole) =
                self.tokenizer.encode(&self.prompt.input(&question.question), limits.max_input_tokens)?;
            let (target, whole_target) =
                self.tokenizer.encode(&self.prompt.target(&question.segments), limits.max_output_tokens)?;
            let whole = whole == input.len() && whole_target == target.len();
            return Ok(Some((Pair { input, target }, whole)));
        }
        let (pointing, whole) = self.tokenizer.pointing(&self.prompt, &question.question, limits.max_input_tokens)?;
        let Some(mut target) = pointing.target(&question.segments) else { return Ok(None) };
        let whole = whole == pointing.input().len() && target.len() < limits.max_output_tokens;
        target.truncate(limits.max_output_tokens.saturating_sub(1));
        target.push(self.config.eos);
        Ok(Some((Pair { input: pointing.input().to_vec(), target }, whole)))
    }
}
