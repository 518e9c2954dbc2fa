//! What a training writes, and its dev segments.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use burn::module::Module as _;
use rayon::prelude::*;
use serde_json::json;
use tabsegnet_segmenter::measures::SegmentMeasures;
use tabsegnet_segmenter::{FORMAT_VERSION, Generator, Limits, SegmenterError, WeightKind, segments_of, serialize};
use tabsegnet_store::{Staging, sha256_file, write_bytes_atomic};

use super::{SegmenterEpoch, SegmenterTraining};
use crate::config::Store;

impl SegmenterTraining<'_> {
    /// Segments of dev questions, generated as they will be when the model is used.
    pub(super) fn dev_segments(&self) -> Result<Option<SegmentMeasures>> {
        let count = self.settings.generate.min(self.dev_questions.len());
        let Some(questions) = self.dev_questions.get(..count).filter(|some| !some.is_empty()) else { return Ok(None) };
        let limits = &self.config.segmenter;
        let limits = Limits { beams: limits.beams, input: limits.max_input_tokens, output: limits.max_output_tokens };
        let model = self.model.valid();
        let mut tensors: HashMap<_, _> =
            model.parameters().into_iter().map(|(name, _, values)| (name, values)).collect();
        let mut floats = |name: &str, _: &[usize]| {
            tensors.remove(name).ok_or_else(|| SegmenterError::Engine { reason: format!("{name} is not of the model") })
        };
        let generator = Generator::new(&self.base.config, model.own_head(), limits, WeightKind::F32, &mut floats)?;
        let measured: Vec<SegmentMeasures> = questions
            .par_iter()
            .map(|question| {
                let found = segments_of(&generator, &self.base.tokenizer, &self.base.prompt, &question.question)?;
                Ok(SegmentMeasures::of(&found.segments, &question.segments))
            })
            .collect::<Result<_, SegmenterError>>()?;
        Ok(Some(SegmentMeasures::mean(&measured)))
    }

    /// A model in Hugging Face layout, with its prompt, card and manifest.
    pub(super) fn write_checkpoint(&self, directory: &Path, epoch: &SegmenterEpoch) -> Result<()> {
        self.write_files(directory, epoch).with_context(|| {
            format!("the checkpoint of epoch {} was not written; earlier files are whole", epoch.epoch)
        })
    }

    fn write_files(&self, directory: &Path, epoch: &SegmenterEpoch) -> Result<()> {
        let staging = Staging::new(directory)?;
        let at = |name: &str| staging.path().join(name);
        let weights = at("model.safetensors");
        let half = self.settings.store == Store::F16;
        let base = &self.base;
        let mut files: Vec<(&str, Vec<u8>)> = vec![
            ("model.safetensors", serialize(&self.model.valid().parameters(), half, &weights)?),
            ("config.json", serde_json::to_vec_pretty(&base.config.json())?),
            ("tokenizer.json", base.tokenizer_bytes.clone()),
            ("segmenter.json", serde_json::to_vec_pretty(&base.prompt)?),
            ("training.toml", self.config.to_toml()?.into_bytes()),
            ("README.md", self.card(epoch).into_bytes()),
        ];
        files.extend(base.kept.iter().cloned());
        let mut digests = BTreeMap::new();
        for (name, bytes) in files {
            write_bytes_atomic(&at(name), &bytes)?;
            digests.insert(name, sha256_file(&at(name))?);
        }
        let manifest = json!({
            "format_version": FORMAT_VERSION,
            "kind": "segmenter",
            "files": digests,
            "seed": self.config.task.seed,
            "epoch": epoch.epoch,
            "data": {"train": self.data[0], "dev": self.data[1]},
            "dev": {"loss": epoch.dev_loss, "segments": epoch.segments},
        });
        write_bytes_atomic(&at("manifest.json"), &serde_json::to_vec_pretty(&manifest)?)?;
        Ok(staging.commit()?)
    }

    fn card(&self, epoch: &SegmenterEpoch) -> String {
        let config = &self.base.config;
        let mut card = String::from(
            "# Segmenter\n\nA T5 that writes the segments of a question: the parts that each ask for one thing.\n\n",
        );
        let mut line = |name: &str, value: String| {
            let _ = writeln!(card, "- {name}: {value}");
        };
        let start = match self.settings.model.as_str() {
            "" => "random weights and a tokenizer of the training texts",
            model => model,
        };
        line("Started from", start.to_owned());
        line(
            "Shape",
            format!(
                "d_model {}, {} heads of {}, d_ff {}, {} + {} layers, {} tokens",
                config.d_model,
                config.num_heads,
                config.d_kv,
                config.d_ff,
                config.num_layers,
                config.num_decoder_layers,
                config.vocab_size
            ),
        );
        line(
            "Prompt",
            format!(
                "{:?} before the question, {:?} between segments",
                self.base.prompt.prefix, self.base.prompt.separator
            ),
        );
        line("Trained on", format!("{} questions, seed {}", self.train.len(), self.config.task.seed));
        line("Dev, epoch", format!("{}: {epoch}", epoch.epoch));
        card.push_str(
            "\nLimits: the epoch was chosen on the dev part, so the figures above are a little too good for new questions. \
             `segmenter.json` holds the prompt, `training.toml` every setting, `manifest.json` the digests of all files.\n",
        );
        card
    }
}
