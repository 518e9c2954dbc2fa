//! From a config to documents and questions with vectors.

use std::path::Path;

use anyhow::{Context as _, Result};
use burn::tensor::Device;
use tabsegnet::Embedded;
use tabsegnet::embedded::View;
use tabsegnet::features::Featuriser;
use tabsegnet::settings::RankerSettings;
use tabsegnet_datasets::config::Part;
use tabsegnet_datasets::prepared::{Prepared, Statistics};
use tabsegnet_encoder::{EmbeddingCache, Encoder, load_on};
use tabsegnet_lexical::glossary::Glossary;
use tabsegnet_prepared::{Origin, prepare};
use tabsegnet_ranker::checkpoint::{Checkpoint, Manifest};
use tabsegnet_segmenter::{Segmenter, load_segmenter};
use tabsegnet_store::eprintln;

use crate::config::Config;
use crate::progress::Progress;

/// A part of the data, ready.
pub struct Input {
    /// Documents, questions, vectors.
    pub embedded: Embedded,
    /// Digest of the prepared data.
    pub digest: String,
    /// What is in it.
    pub statistics: Statistics,
}

/// What turns texts into vectors, and keeps them.
pub struct Encoding {
    /// The encoder.
    pub encoder: Box<dyn Encoder>,
    /// How questions are read.
    pub glossary: Glossary,
    /// The segmenter.
    pub segmenter: Box<dyn Segmenter>,
    /// Whether it is another than the config's: rankers are measured with segments of another kind than they learnt from.
    other_segmenter: bool,
    /// What makes features.
    pub featuriser: Featuriser,
    cache: EmbeddingCache,
}

impl Encoding {
    /// Opens what the config names; the encoder on a device.
    pub fn open(config: &Config, device: &Device) -> Result<Self> {
        let cache = EmbeddingCache::open(&config.cache()?)?;
        cache.notice().into_iter().for_each(|notice| eprintln!("{notice}"));
        Ok(Self {
            encoder: load_on(&config.encoder, device).context("the encoder cannot be opened")?,
            glossary: config.glossary.open()?,
            segmenter: load_segmenter(&config.segmenter)?,
            other_segmenter: false,
            featuriser: Featuriser::open(config.features, None)?,
            cache,
        })
    }

    /// With another segmenter than the config's, and than checkpoints have learnt from.
    #[must_use]
    pub fn with_segmenter(self, segmenter: Box<dyn Segmenter>) -> Self {
        Self { segmenter, other_segmenter: true, ..self }
    }

    /// The segmenter that a checkpoint has to be trained with: that of the config, or any where another is wanted.
    pub fn expected_segmenter<'a>(&'a self, manifest: &'a Manifest) -> &'a str {
        if self.other_segmenter { &manifest.segmenter } else { self.segmenter.identity() }
    }

    /// What a report calls the segmenter.
    pub fn segmenter_name(&self, config: &Config) -> String {
        match self.other_segmenter {
            true => format!("{}, not that of the training", self.segmenter.identity()),
            false => config.segmenter.kind.clone(),
        }
    }

    /// Whether a checkpoint's model sees the features that the config has; one that sees none does with any.
    ///
    /// # Errors
    /// A config of the checkpoint that cannot be read.
    pub fn has_features_of(&self, checkpoint: &Checkpoint) -> Result<bool> {
        let file = checkpoint.directory.join("config.toml");
        let features = RankerSettings::parse(&file, &checkpoint.config)?.features;
        Ok(checkpoint.manifest.model.features == 0 || features == self.featuriser.config())
    }

    /// Prepares and encodes a part; statistics go to stderr.
    pub fn input(&self, config: &Config, part: Part) -> Result<Input> {
        let Prepared { digest, documents, questions, statistics } = prepared(config, part)?;
        let name = format!("encode {}", part.name());
        let mut progress = Progress::new(&name, 0);
        let encoder = self.encoder.as_ref();
        let view = View {
            glossary: &self.glossary,
            encoder,
            segmenter: self.segmenter.as_ref(),
            featuriser: &self.featuriser,
            cell_text: config.graph.cell_text,
        };
        let embedded = Embedded::new(documents, questions, &view, &self.cache, &mut |done, of| {
            progress.set(done, of, "texts");
        })?;
        progress.finish(&format!("vectors of width {}, encoder {}", encoder.dim(), short(encoder.identity())));
        if self.segmenter.is_given() {
            eprintln!(
                "segments of {}: those that the data set gives, an upper bound; {} of {} questions have none and are their own",
                part.name(),
                embedded.without_segments(),
                embedded.questions.len()
            );
        }
        Ok(Input { embedded, digest, statistics })
    }
}

/// Prepares a part, or reads it prepared; statistics go to stderr.
pub fn prepared(config: &Config, part: Part) -> Result<Prepared> {
    let progress = Progress::new(&format!("prepare {}", part.name()), 1);
    let source = config.source(part)?;
    let (prepared, origin) = prepare(&source, &config.prepare(), &config.cache()?)?;
    progress.finish(&match &origin {
        Origin::Prepared(directory) => format!("wrote {}", directory.display()),
        Origin::Read(directory) => format!("read {}", directory.display()),
    });
    eprintln!("{}", prepared.statistics);
    anyhow::ensure!(
        !prepared.questions.is_empty(),
        "the {} part has no question with gold nodes; there is nothing to {}",
        part.name(),
        if part == Part::Train { "train on" } else { "measure on" }
    );
    Ok(prepared)
}

/// The first digits of a digest, for lines that people read.
pub fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// The directory for results, with a lock on it: two programs that write there would spoil each
/// other's files. The lock goes with the returned file.
pub fn lock(directory: &Path) -> Result<std::fs::File> {
    std::fs::create_dir_all(directory)
        .with_context(|| format!("{}: could not create the directory (output.directory)", directory.display()))?;
    let path = directory.join(".lock");
    let file = std::fs::File::create(&path).with_context(|| format!("{}: could not write", path.display()))?;
    match file.try_lock() {
        Ok(()) => {
            tabsegnet_store::recover(directory)?;
            Ok(file)
        }
        Err(std::fs::TryLockError::WouldBlock) => anyhow::bail!(
            "{}: another training is writing here; wait for it or set another output.directory",
            directory.display()
        ),
        Err(std::fs::TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("{}: could not lock", path.display()))
        }
    }
}
