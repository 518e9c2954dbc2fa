//! A corpus for tests.

use std::path::Path;
use std::sync::Arc;

use tabsegnet_encoder::{Encoder, EncoderConfig, load};

use crate::corpus::Corpus;
use crate::writer::{IndexConfig, Writer};

/// A corpus of lines of JSON over the static encoder, in a folder.
pub(crate) fn corpus_of(folder: &Path, lines: &[String]) -> Corpus {
    let file = folder.join("tables.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let settings = EncoderConfig::default();
    let encoder: Arc<dyn Encoder> = load(&settings).unwrap().into();
    let path = folder.join("corpus");
    let mut writer = Writer::open(&path, encoder.as_ref(), &settings, &IndexConfig::default()).unwrap();
    writer.add_file(&file, &mut |_| ()).unwrap();
    writer.commit(&mut |_| ()).unwrap();
    Corpus::open_with(&path, encoder).unwrap()
}
