//! `[segmenter_training]`: how a segmenter is trained.

use serde::{Deserialize, Serialize};
use tabsegnet_ranker::Precision;
use tabsegnet_segmenter::rules;

use super::{ConfigError, in_range};

/// The number type of a segmenter's stored weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Store {
    /// As trained.
    #[default]
    F32,
    /// Half the size.
    F16,
}

/// What the best epoch is chosen by, on the dev questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The least loss, of the epochs on labelled questions.
    #[default]
    Loss,
    /// The largest token F1 of generated segments, of these epochs and those on generated questions.
    TokenF1,
}

/// `[segmenter_training.new]`: the shape of a model that starts from nothing (T5 v1.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewModelConfig {
    /// Tokens, learnt from the training texts.
    pub vocabulary: usize,
    /// Tokens of the vocabulary beside words: T5's `<extra_id_0>` and on, the markers of `pointers`.
    pub sentinels: usize,
    /// Width between layers.
    pub d_model: usize,
    /// Width of a head.
    pub d_kv: usize,
    /// Heads.
    pub heads: usize,
    /// Width inside feed-forward layers.
    pub d_ff: usize,
    /// Layers of the encoder.
    pub layers: usize,
    /// Layers of the decoder.
    pub decoder_layers: usize,
    /// Whether feed-forward layers are gated GELUs, else plain ReLUs.
    pub gated: bool,
    /// Whether the head is the embedding.
    pub tied: bool,
    /// What stands before a question.
    pub prompt: String,
    /// The word between two segments.
    pub separator: String,
    /// Whether texts are read and written in lower case: fewer tokens say the same.
    pub lower_case: bool,
    /// Whether it writes pointers to the question's words and the years it means; the sentinels are its markers.
    pub pointers: bool,
    /// Whether it reads behind each word which segments the rules put it into, so that it has to learn where they are
    /// wrong; with `pointers` alone. Eight of the sentinels stand for those segments.
    pub proposals: bool,
}

impl Default for NewModelConfig {
    fn default() -> Self {
        Self {
            vocabulary: 8000,
            sentinels: 32,
            d_model: 224,
            d_kv: 32,
            heads: 7,
            d_ff: 448,
            layers: 4,
            decoder_layers: 2,
            gated: true,
            tied: true,
            prompt: "Segments: ".into(),
            separator: "SEP".into(),
            lower_case: false,
            pointers: false,
            proposals: false,
        }
    }
}

impl NewModelConfig {
    /// A word, which a tokenizer without upper case can write.
    fn check_separator(&self) -> Result<(), ConfigError> {
        let (key, value) = ("segmenter_training.new.separator", format!("{:?}", self.separator));
        let word = !self.separator.is_empty() && !self.separator.contains(char::is_whitespace);
        in_range(word, key, &value, "a word")?;
        let lower = !self.lower_case || self.separator.to_lowercase() == self.separator;
        in_range(lower, key, value, "a word in lower case, such as \"|\", with segmenter_training.new.lower_case")
    }
}

/// `[segmenter_training]`: AdamW (Loshchilov and Hutter 2019) on the cross-entropy of the target's
/// tokens; the step size rises over the warm-up and falls to 0 along a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SegmenterTrainingConfig {
    /// Files of questions with their segments, JSON lines; without any the questions of `[data]` that have
    /// segments are taken.
    pub train: Vec<String>,
    /// The same, to measure on.
    pub dev: Vec<String>,
    /// What to start from: a directory or hub name of a T5; empty for a new model.
    pub model: String,
    /// Branch, tag or commit of a hub name.
    pub revision: String,
    /// Passes over the questions.
    pub epochs: usize,
    /// Questions a step.
    pub batch_size: usize,
    /// Questions that go through the model at a time; on a CPU the parts of a step run side by side.
    pub micro_batch: usize,
    /// The largest step size.
    pub learning_rate: f64,
    /// Share of all steps over which the step size rises.
    pub warm_up: f64,
    /// Decay of all weights.
    pub weight_decay: f32,
    /// Largest norm of the gradient; 0 leaves it as it is.
    pub clip_norm: f64,
    /// Share of numbers dropped in training.
    pub dropout: f64,
    /// Number type of the matrix products in training; half precision is for GPUs.
    pub precision: Precision,
    /// Number type of the stored weights.
    pub store: Store,
    /// Dev questions whose segments are generated after an epoch; 0 for none.
    pub generate: usize,
    /// What the best epoch is chosen by.
    pub choose: Choice,
    /// Questions generated for each epoch of a stage before the labelled ones, from the headers of the tables
    /// of `[data]`'s training part; 0 for no such stage.
    pub generated: usize,
    /// Epochs of that stage, each with questions of its own.
    pub generated_epochs: usize,
    /// The largest step size in it.
    pub generated_learning_rate: f64,
    /// Whether the labelled questions are in it as well, with the segments that the rules find.
    pub generated_by_rules: bool,
    /// Whether about as many again are in it that have the beginning of one labelled question and the end of
    /// another, as the rules cut them. Needs `generated_by_rules`.
    pub concatenated: bool,
    /// Whether each labelled question comes a second time in an epoch with other names, those of the tables' rows, and
    /// other years; in that stage as the rules cut it, after it with its segments. Needs `generated`.
    pub renamed: bool,
    /// From which token F1 on between the rules' segments of a question and those that the data give the rules' are
    /// learnt: what the data give is noisier. At 1 those that are the same, that is, none others.
    pub rules_from: f64,
    /// The shape of a new model.
    pub new: NewModelConfig,
}

impl Default for SegmenterTrainingConfig {
    fn default() -> Self {
        Self {
            train: Vec::new(),
            dev: Vec::new(),
            model: String::new(),
            revision: "main".into(),
            epochs: 10,
            batch_size: 32,
            micro_batch: 8,
            learning_rate: 2e-5,
            warm_up: 0.1,
            weight_decay: 0.0,
            clip_norm: 1.0,
            dropout: 0.1,
            precision: Precision::F32,
            store: Store::F32,
            generate: 500,
            choose: Choice::Loss,
            generated: 0,
            generated_epochs: 1,
            generated_learning_rate: 1e-3,
            generated_by_rules: false,
            concatenated: false,
            renamed: false,
            rules_from: 1.0,
            new: NewModelConfig::default(),
        }
    }
}

impl SegmenterTrainingConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let new = &self.new;
        for (key, value) in [
            ("segmenter_training.epochs", self.epochs),
            ("segmenter_training.batch_size", self.batch_size),
            ("segmenter_training.micro_batch", self.micro_batch),
            ("segmenter_training.generated_epochs", self.generated_epochs),
            ("segmenter_training.new.sentinels", new.sentinels),
            ("segmenter_training.new.d_model", new.d_model),
            ("segmenter_training.new.d_kv", new.d_kv),
            ("segmenter_training.new.heads", new.heads),
            ("segmenter_training.new.d_ff", new.d_ff),
            ("segmenter_training.new.layers", new.layers),
            ("segmenter_training.new.decoder_layers", new.decoder_layers),
        ] {
            in_range(value > 0, key, value, "at least 1")?;
        }
        let positive = |key, value: f64| in_range(value.is_finite() && value > 0.0, key, value, "a number above 0");
        let share = |key, value: f64| in_range((0.0..1.0).contains(&value), key, value, "a number from 0, below 1");
        positive("segmenter_training.learning_rate", self.learning_rate)?;
        positive("segmenter_training.generated_learning_rate", self.generated_learning_rate)?;
        new.check_separator()?;
        let proposals = !new.proposals || (new.pointers && new.sentinels > rules::MOST);
        let expected = "false without segmenter_training.new.pointers and more than 8 segmenter_training.new.sentinels";
        in_range(proposals, "segmenter_training.new.proposals", true, expected)?;
        let generate = self.choose != Choice::TokenF1 || self.generate > 0;
        let expected = "at least 1 with segmenter_training.choose = \"token_f1\"";
        in_range(generate, "segmenter_training.generate", 0, expected)?;
        let expected = "at least 1 with segmenter_training.renamed = true: the names are those of its tables";
        in_range(!self.renamed || self.generated > 0, "segmenter_training.generated", 0, expected)?;
        let by_rules = self.generated_by_rules;
        let concatenated = !self.concatenated || (by_rules && self.generated > 0);
        let expected = "true, and segmenter_training.generated at least 1, with segmenter_training.concatenated = true";
        in_range(concatenated, "segmenter_training.generated_by_rules", by_rules, expected)?;
        let from = self.rules_from;
        in_range((0.0..=1.0).contains(&from), "segmenter_training.rules_from", from, "from 0 to 1")?;
        share("segmenter_training.warm_up", self.warm_up)?;
        share("segmenter_training.dropout", self.dropout)?;
        let from_0 = |key, value: f64| in_range(value.is_finite() && value >= 0.0, key, value, "a number from 0");
        from_0("segmenter_training.weight_decay", self.weight_decay.into())?;
        from_0("segmenter_training.clip_norm", self.clip_norm)
    }
}
