//! A checkpoint opened for ranking.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use burn::tensor::Device;
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_document::model::Document;
use tabsegnet_document::native::document_json;
use tabsegnet_document::{Format, ReadOptions, read_bytes, read_source};
use tabsegnet_encoder::{EmbeddingCache, Encoder, EncoderKind, load_for};
use tabsegnet_features::Strings;
use tabsegnet_lexical::glossary::{Glossary, GlossaryConfig};
use tabsegnet_ranker::Inference;
use tabsegnet_ranker::checkpoint::{self, Checkpoint, Manifest};
use tabsegnet_ranker::device::{DeviceChoice, guard, open_device};
use tabsegnet_ranker::reranker::Reranker;
use tabsegnet_segmenter::{Segmenter, SegmenterConfig, SegmenterError, load_segmenter_for};

use crate::documents::{DocumentCache, DocumentKey, LIMIT};
use crate::embedded::View;
use crate::encoded::EncodedDocument;
use crate::features::Featuriser;
use crate::open::{OpenDocument, Source};
use crate::scores::Scorer;
use crate::settings::RankerSettings;
use crate::{RankingError, check_identities, language};

/// How a checkpoint is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// The device that the model runs on; the best one unless said. Nothing falls back to another.
    pub device: DeviceChoice,
    /// Where encoded documents, and vectors that cost something, are kept between runs; nowhere unless said.
    pub cache: Option<PathBuf>,
    /// The encoder's directory, where it is not where the checkpoint's config says. It has to be the same encoder.
    pub encoder: Option<PathBuf>,
    /// Files of glossaries; what they say goes before what the checkpoint's config names.
    pub glossaries: Vec<PathBuf>,
    /// Whether questions are read as they are, whatever glossaries there are.
    pub without_glossary: bool,
    /// Another segmenter than the one that the ranker was trained with, which it is used with unless said.
    /// [`Opening::segmenter_notice`] tells of it.
    pub segmenter: Option<SegmenterConfig>,
}

/// A trained ranker with the encoder that it was trained with, and the segmenter too unless another is wanted. Cheap to clone: all clones are one
/// session, for any number of threads.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    manifest: Manifest,
    inference: Inference,
    reranker: Option<Reranker>,
    settings: RankerSettings,
    glossary: Glossary,
    encoder: Box<dyn Encoder>,
    segmenter: Box<dyn Segmenter>,
    featuriser: Featuriser,
    device: Device,
    device_name: String,
    cache: Option<PathBuf>,
    progress: Option<OnProgress>,
}

/// A checkpoint that was read, before the encoder and segmenter that its config names are opened: what it says of
/// documents is known, so that one can be read meanwhile ([`Opening::finish_with`]).
pub struct Opening {
    checkpoint: Checkpoint,
    settings: RankerSettings,
    device: Device,
    device_name: String,
    cache: Option<PathBuf>,
    /// Another than the one that the ranker was trained with.
    segmenter: Other,
    progress: Option<OnProgress>,
}

/// Hears how many of how many texts are encoded.
type OnProgress = Box<dyn Fn(usize, usize) + Send + Sync>;

/// Whether questions are split as they were in training.
enum Other {
    /// They are.
    No,
    /// By what the settings name now.
    Named,
    /// By one from elsewhere.
    Given(Box<dyn Segmenter>),
}

impl Opening {
    /// Opens the device and reads a checkpoint onto it.
    ///
    /// # Errors
    /// A device that is not there; a checkpoint that is damaged.
    pub fn read(checkpoint: impl AsRef<Path>, options: &SessionOptions) -> Result<Self, RankingError> {
        let directory = checkpoint.as_ref();
        let (device, device_name) = open_device(options.device)?;
        let checkpoint = guard(&device, || checkpoint::read(directory, &device))??;
        let mut settings = RankerSettings::parse(&directory.join("config.toml"), &checkpoint.config)?;
        if let Some(encoder) = &options.encoder {
            settings.encoder.model = encoder.display().to_string();
        }
        match options.without_glossary {
            true => settings.glossary = GlossaryConfig { shipped: false, files: Vec::new() },
            false => settings.glossary.files = [&options.glossaries[..], &settings.glossary.files].concat(),
        }
        let mut segmenter = Other::No;
        if let Some(other) = options.segmenter.as_ref().filter(|other| **other != settings.segmenter) {
            settings.segmenter = other.clone();
            segmenter = Other::Named;
        }
        Ok(Self { checkpoint, settings, device, device_name, cache: options.cache.clone(), segmenter, progress: None })
    }

    /// With a listener that hears how many of how many texts of a document are encoded, where that takes its time: with an encoder
    /// that is not static. [`crate::progress::on_stderr`] draws a bar.
    #[must_use]
    pub fn with_progress(self, progress: impl Fn(usize, usize) + Send + Sync + 'static) -> Self {
        Self { progress: Some(Box::new(progress)), ..self }
    }

    /// With a segmenter of the caller's instead of the one that the ranker was trained with. What a ranking is worth with
    /// segments of another kind than it has learnt from was measured by nobody.
    #[must_use]
    pub fn with_segmenter(self, segmenter: Box<dyn Segmenter>) -> Self {
        Self { segmenter: Other::Given(segmenter), ..self }
    }

    /// The segmenter that the ranker is used with unless [`Opening::with_segmenter`] gives another.
    pub fn segmenter(&self) -> &SegmenterConfig {
        &self.settings.segmenter
    }

    /// Whose segments are used, where they are not those of the segmenter that the ranker was trained with.
    pub fn segmenter_notice(&self) -> Option<String> {
        let found = match &self.segmenter {
            Other::No => return None,
            Other::Named => &self.settings.segmenter.kind,
            Other::Given(given) => given.identity(),
        };
        Some(format!("segments: by {found}; the ranker learnt from those by {}", self.checkpoint.manifest.segmenter))
    }

    /// The device, in words that a user can check.
    pub fn device(&self) -> &str {
        &self.device_name
    }

    /// What a user should know who ranks with it before its training has ended.
    pub fn warning(&self) -> Option<String> {
        self.checkpoint.warning()
    }

    /// Whether it takes questions that are of no data set.
    ///
    /// # Errors
    /// Segments that a data set gives (`segmenter.kind = "given"`): there are none.
    pub fn answers_own_questions(&self) -> Result<(), RankingError> {
        let given = match &self.segmenter {
            Other::Given(segmenter) => segmenter.is_given(),
            Other::No | Other::Named => self.settings.segmenter.is_given(),
        };
        if given { Err(SegmenterError::Given.into()) } else { Ok(()) }
    }

    /// Opens encoder and segmenter.
    ///
    /// # Errors
    /// An encoder or segmenter that is not there or is not the one that the checkpoint was trained with.
    pub fn finish(self) -> Result<Session, RankingError> {
        let Self { checkpoint, settings, device, device_name, cache, segmenter, progress } = self;
        let Checkpoint { directory, model, others, reranker, manifest, .. } = checkpoint;
        guard(&device.clone(), || {
            let encoder = load_for(&settings.encoder, &device, &directory)?;
            let glossary = settings.glossary.open()?;
            let (segmenter, is_own) = match segmenter {
                Other::Given(segmenter) => (segmenter, false),
                other => (load_segmenter_for(&settings.segmenter, Some(&directory))?, matches!(other, Other::No)),
            };
            let featuriser = Featuriser::open(settings.features, Some(&directory))?;
            let own = if is_own { segmenter.identity() } else { &manifest.segmenter };
            let parts = [
                ("encoder", manifest.encoder.as_str(), encoder.identity()),
                ("segmenter", &manifest.segmenter, own),
                ("word vectors", &manifest.words, featuriser.words()),
            ];
            check_identities(&directory, &parts)?;
            let inference = Inference::new(model, &manifest.model, manifest.d_enc, &device).with(others);
            let inner = Inner {
                manifest,
                inference,
                reranker,
                settings,
                glossary,
                encoder,
                segmenter,
                featuriser,
                device,
                device_name,
                cache,
                progress,
            };
            Ok(Session(Arc::new(inner)))
        })?
    }

    /// [`Opening::finish`] and [`Session::open_document`], of which each does its part while the other is at work.
    ///
    /// # Errors
    /// As these.
    pub fn finish_with(
        self,
        path: impl AsRef<Path>,
        options: &ReadOptions,
    ) -> Result<(Session, OpenDocument), RankingError> {
        self.answers_own_questions()?;
        let path = path.as_ref();
        let source = read_source(path, options)?;
        let loading = Loading {
            settings: self.settings.clone(),
            encoder: self.checkpoint.manifest.encoder.clone(),
            cache: self.cache.clone(),
        };
        let (session, loaded) = rayon::join(|| self.finish(), || loading.load(path, source, options));
        let (session, loaded) = (session?, loaded?);
        let open = session.open_loaded(loaded)?;
        Ok((session, open))
    }
}

/// What the encoded form of a document depends on, known before the encoder is open.
struct Loading {
    settings: RankerSettings,
    /// Its identity.
    encoder: String,
    cache: Option<PathBuf>,
}

/// A document on its way to be opened.
struct Loaded {
    source: Source,
    form: Form,
}

enum Form {
    /// From the cache.
    Kept(EncodedDocument),
    /// It has to be encoded.
    Prepared(PreparedDocument),
}

impl Loading {
    fn load(&self, path: &Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<Loaded, RankingError> {
        let mut source = Source {
            path: path.to_owned(),
            bytes,
            options: options.clone(),
            read: OnceLock::new(),
            place: None,
            notices: Vec::new(),
        };
        if let Some(cache) = &self.cache {
            let documents = DocumentCache::open(cache, LIMIT)?;
            source.notices.extend(documents.notice());
            // The name gives a document its id, and its form where nothing else does.
            let reading = format!("{:?} {options:?}", path.file_name());
            let compares = self.settings.features.compares();
            let key = DocumentKey::new(&source.bytes, &reading, &self.settings.graph, &self.encoder, compares);
            match documents.read(key) {
                Ok(Some(document)) => return Ok(Loaded { source, form: Form::Kept(document) }),
                Ok(None) => {}
                Err(damaged) => source.notices.push(format!("{damaged}; the document is encoded anew")),
            }
            source.place = Some((documents, key));
        }
        let read = read_bytes(path, source.bytes.clone(), options)?;
        let prepared = PreparedDocument::new(&read.document, &self.settings.graph);
        source.read = OnceLock::from(read);
        Ok(Loaded { source, form: Form::Prepared(prepared) })
    }
}

impl Session {
    /// Opens a checkpoint, and what its config names, on the best device there is.
    ///
    /// # Errors
    /// A checkpoint that is damaged or old; an encoder or segmenter that is not there or is not the one that the
    /// checkpoint was trained with.
    pub fn open(checkpoint: impl AsRef<Path>) -> Result<Self, RankingError> {
        Self::open_with(checkpoint, &SessionOptions::default())
    }

    /// [`Session::open`] with options.
    ///
    /// # Errors
    /// As [`Session::open`]; a device that is not there.
    pub fn open_with(checkpoint: impl AsRef<Path>, options: &SessionOptions) -> Result<Self, RankingError> {
        Opening::read(checkpoint, options)?.finish()
    }

    /// Reads a file and opens it for questions: HTML, Markdown, XLSX, CSV, plain text, docling's JSON or the native
    /// JSON. Where the session has a cache and the document's encoded form is in it, that is taken;
    /// [`OpenDocument::keep`] puts it there.
    ///
    /// # Errors
    /// A file that cannot be read or is of no such form; a ranker whose segments a data set gives
    /// (`segmenter.kind = "given"`); whatever encoder and device say.
    pub fn open_document(&self, path: impl AsRef<Path>) -> Result<OpenDocument, RankingError> {
        self.open_document_with(path, &ReadOptions::default())
    }

    /// [`Session::open_document`] where more is known of the file than its name says.
    ///
    /// # Errors
    /// As [`Session::open_document`].
    pub fn open_document_with(
        &self,
        path: impl AsRef<Path>,
        options: &ReadOptions,
    ) -> Result<OpenDocument, RankingError> {
        let bytes = read_source(path.as_ref(), options)?;
        self.open_bytes(path, bytes, options)
    }

    /// Opens a document that is in memory. `name` is what its file would be called: it gives the document's id, and
    /// its form where `options` do not.
    ///
    /// # Errors
    /// As [`Session::open_document`].
    pub fn open_bytes(
        &self,
        name: impl AsRef<Path>,
        bytes: impl Into<Vec<u8>>,
        options: &ReadOptions,
    ) -> Result<OpenDocument, RankingError> {
        let Inner { settings, manifest, cache, .. } = self.0.as_ref();
        let loading = Loading { settings: settings.clone(), encoder: manifest.encoder.clone(), cache: cache.clone() };
        self.open_loaded(loading.load(name.as_ref(), bytes.into(), options)?)
    }

    /// Opens a document that was read or made already. `name` is what its file would be called.
    ///
    /// # Errors
    /// As [`Session::open_document`].
    pub fn open_made(&self, name: impl AsRef<Path>, document: &Document) -> Result<OpenDocument, RankingError> {
        let options = ReadOptions { format: Some(Format::Native), ..ReadOptions::default() };
        self.open_bytes(name, document_json(document), &options)
    }

    fn open_loaded(&self, Loaded { source, form }: Loaded) -> Result<OpenDocument, RankingError> {
        let (document, strings) = match form {
            Form::Kept(document) => (document, None),
            Form::Prepared(prepared) => {
                let (mut document, strings) = self.encode(prepared)?;
                if let Some(read) = source.read.get() {
                    document.warnings.clone_from(&read.warnings);
                    document.locations.clone_from(&read.layout.locations);
                }
                document.warnings.extend(language::warning(document.nodes()));
                (document, strings)
            }
        };
        guard(self.raw_device(), || OpenDocument::new(self.clone(), document, strings, source))?
    }

    /// A document with its vectors, and its strings where the features compare some.
    ///
    /// # Errors
    /// What the encoder or the cache says; a vector that is not finite.
    fn encode(&self, document: PreparedDocument) -> Result<(EncodedDocument, Option<Strings>), RankingError> {
        let mut texts: Vec<&str> = document.ranking_texts.iter().map(String::as_str).collect();
        let strings = self.featuriser().compares().then(|| Strings::new(document.nodes(), &document.ranking_texts));
        texts.extend(strings.iter().flat_map(Strings::compared));
        let listener = self.0.progress.as_ref().filter(|_| self.settings().encoder.kind != EncoderKind::Static);
        let mut progress = |done: usize| {
            if let Some(listener) = listener {
                listener(done, texts.len());
            }
        };
        let vectors = match self.vectors()? {
            Some(cache) => cache.embed(self.encoder(), &texts, &mut progress)?,
            None => guard(self.raw_device(), || self.encoder().encode(&texts, &mut progress))??,
        };
        progress(texts.len());
        Ok((EncodedDocument::new(document, self.encoder().dim(), vectors)?, strings))
    }

    /// Where vectors are kept; nowhere where the session has no cache, and for a static encoder, whose vectors cost
    /// less than a look into it.
    pub(crate) fn vectors(&self) -> Result<Option<EmbeddingCache>, RankingError> {
        match &self.0.cache {
            Some(cache) if self.settings().encoder.kind != EncoderKind::Static => {
                Ok(Some(EmbeddingCache::open(cache)?))
            }
            _ => Ok(None),
        }
    }

    /// The device, in words that a user can check.
    pub fn device(&self) -> &str {
        &self.0.device_name
    }

    pub(crate) fn raw_device(&self) -> &Device {
        &self.0.device
    }

    /// What the checkpoint says of itself.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// What its config says about ranking.
    pub fn settings(&self) -> &RankerSettings {
        &self.0.settings
    }

    pub(crate) fn scorer(&self) -> Scorer<'_> {
        Scorer { inference: &self.0.inference, reranker: self.0.reranker.as_ref() }
    }

    pub(crate) fn encoder(&self) -> &dyn Encoder {
        self.0.encoder.as_ref()
    }

    pub(crate) fn glossary(&self) -> &Glossary {
        &self.0.glossary
    }

    pub(crate) fn segmenter(&self) -> &dyn Segmenter {
        self.0.segmenter.as_ref()
    }

    pub(crate) fn featuriser(&self) -> &Featuriser {
        &self.0.featuriser
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            glossary: self.glossary(),
            encoder: self.encoder(),
            segmenter: self.segmenter(),
            featuriser: self.featuriser(),
            cell_text: self.settings().graph.cell_text,
        }
    }
}
