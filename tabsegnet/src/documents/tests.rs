use proptest::prelude::*;
use tabsegnet_datasets::document::{Block, Document, Table, TableSource};
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_graph::CellText;

use super::*;
use crate::RankingError;

fn document(passages: &[&str], cells: &[&[&str]]) -> EncodedDocument {
    let mut blocks: Vec<Block> = passages.iter().map(|text| Block::Passage((*text).into())).collect();
    if !cells.is_empty() {
        let rows = cells.iter().map(|row| row.iter().map(|cell| (*cell).into()).collect()).collect();
        let source = TableSource { header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
        blocks.push(Block::Table(Table::new(source).unwrap()));
    }
    let prepared = PreparedDocument::new(&Document { id: "Ω".into(), blocks }, &GraphConfig::default());
    let vectors = (0..prepared.nodes().len() * 3).map(|i| i as f32 - 1.5).collect();
    EncodedDocument::new(prepared, 3, vectors).unwrap()
}

fn report() -> EncodedDocument {
    document(&["Revenue rose.", ""], &[&["", "2018"], &["Products", "12"], &["Dienste", "−7 €"]])
}

fn key(text: &str) -> DocumentKey {
    DocumentKey::new(text.as_bytes(), "", &GraphConfig::default(), "encoder", false)
}

fn cache(limit: u64) -> (tempfile::TempDir, DocumentCache) {
    let directory = tempfile::tempdir().unwrap();
    let cache = DocumentCache::open(directory.path(), limit).unwrap();
    (directory, cache)
}

#[test]
fn a_document_comes_back_as_it_went_in() {
    let (_directory, cache) = cache(LIMIT);
    for (name, document) in [("report", report()), ("one node", document(&["A sentence."], &[]))] {
        assert!(cache.read(key(name)).unwrap().is_none());
        cache.write(key(name), &document).unwrap();
        assert_eq!(cache.read(key(name)).unwrap(), Some(document));
    }
}

#[test]
fn another_text_setting_or_encoder_has_another_key() {
    let bare = GraphConfig { cell_text: CellText::Bare };
    let keys = [
        key("a"),
        key("b"),
        DocumentKey::new(b"a", "", &bare, "encoder", false),
        DocumentKey::new(b"a", "", &GraphConfig::default(), "other", false),
        DocumentKey::new(b"a", "as csv", &GraphConfig::default(), "encoder", false),
    ];
    for (i, a) in keys.iter().enumerate() {
        assert!(keys[..i].iter().all(|b| a != b));
    }
}

#[test]
fn a_value_that_was_cut_short_changed_or_put_there_is_not_trusted() {
    let whole = encode(key("a"), &report()).unwrap();
    assert_eq!(decode(key("a"), &whole), Some(report()));
    for length in 0..whole.len() {
        assert!(decode(key("a"), &whole[..length]).is_none(), "the first {length} bytes");
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        assert!(decode(key("a"), &changed).is_none(), "byte {at}");
    }
    for other in [[&whole, b"x".as_slice()].concat(), b"{}".to_vec(), encode(key("b"), &report()).unwrap()] {
        assert!(decode(key("a"), &other).is_none());
    }
    let (_directory, cache) = cache(LIMIT);
    cache.store.keep_within(Space::Documents, &key("a").0, &whole[1..], LIMIT).unwrap();
    let error = cache.read(key("a")).unwrap_err().to_string();
    assert!(error.contains("could not read a document: its bytes do not have their digest"), "{error}");
    cache.write(key("a"), &report()).unwrap();
    assert_eq!(cache.read(key("a")).unwrap(), Some(report()));
}

#[test]
fn the_limit_holds() {
    let size = encode(key("a"), &report()).unwrap().len() as u64;
    let kept = |limit: u64| {
        let (_directory, cache) = cache(limit);
        ["a", "b", "c"].iter().for_each(|name| cache.write(key(name), &report()).unwrap());
        ["a", "b", "c"].map(|name| cache.read(key(name)).unwrap().is_some())
    };
    assert_eq!(kept(LIMIT), [true, true, true]);
    assert_eq!(kept(2 * size), [false, true, true]);
    assert_eq!(kept(size - 1), [false, false, false]);
}

#[test]
fn what_takes_longer_to_read_than_to_make_is_not_kept() {
    let of_numbers = |numbers: usize| {
        let blocks = vec![Block::Passage("Revenue rose.".into())];
        let prepared = PreparedDocument::new(&Document { id: "r".into(), blocks }, &GraphConfig::default());
        EncodedDocument::new(prepared, 1024, vec![0.0; numbers]).unwrap()
    };
    let (_directory, cache) = cache(LIMIT);
    cache.write(key("large"), &of_numbers(LARGEST + 1024)).unwrap();
    cache.write(key("small"), &of_numbers(2048)).unwrap();
    assert!(cache.read(key("large")).unwrap().is_none() && cache.read(key("small")).unwrap().is_some());
}

#[test]
fn several_writers_and_readers_may_use_one_directory() {
    let size = encode(key("a"), &report()).unwrap().len() as u64;
    let (directory, _) = cache(LIMIT);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let directory = directory.path();
            scope.spawn(move || {
                let cache = DocumentCache::open(directory, 2 * size).unwrap();
                for round in 0..30 {
                    let key = key(&((round + thread) % 5).to_string());
                    cache.write(key, &report()).unwrap();
                    // Removed meanwhile, or whole.
                    if let Some(document) = cache.read(key).unwrap() {
                        assert_eq!(document, report());
                    }
                }
            });
        }
    });
}

#[test]
fn a_vector_that_is_not_finite_is_named_by_its_node() {
    let prepared = PreparedDocument::new(
        &Document { id: "r".into(), blocks: vec![Block::Passage("a".into()), Block::Passage("b".into())] },
        &GraphConfig::default(),
    );
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let error = EncodedDocument::new(prepared.clone(), 2, vec![1.0, 2.0, 3.0, bad]).unwrap_err();
        assert!(matches!(error, RankingError::VectorNotFinite { component: 1, .. }));
        assert!(error.to_string().starts_with("node p1 of document r: component 1"), "{error}");
    }
    assert!(EncodedDocument::new(prepared, 2, vec![0.0; 3]).is_err());
}

proptest! {
    #[test]
    fn texts_of_any_kind_come_back(passages in prop::collection::vec("\\PC*", 0..5), cell in "\\PC*") {
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let document = document(&passages, &[&["", "h"], &["r", &cell]]);
        let bytes = document.to_bytes().unwrap();
        prop_assert_eq!(EncodedDocument::from_bytes(&bytes), Some(document));
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), from in 0..4000_usize) {
        let mut whole = report().to_bytes().unwrap();
        for kept in [0, 8, 64, whole.len() / 2] {
            prop_assert!(EncodedDocument::from_bytes(&[&whole[..kept], &bytes].concat()).is_none());
        }
        // In place of what was there, as if the digest did not hold it up.
        let from = from % whole.len();
        whole.iter_mut().skip(from).zip(&bytes).for_each(|(byte, other)| *byte = *other);
        let _ = EncodedDocument::from_bytes(&whole);
    }
}
