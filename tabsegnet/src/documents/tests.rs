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
fn a_file_that_was_cut_short_changed_or_put_there_is_not_trusted() {
    let (_directory, cache) = cache(LIMIT);
    cache.write(key("a"), &report()).unwrap();
    let path = cache.path(key("a"));
    let whole = fs::read(&path).unwrap();
    let said = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        cache.read(key("a")).unwrap_err().to_string()
    };
    for length in 0..whole.len() {
        let message = said(&whole[..length]);
        assert!(message.starts_with(&path.display().to_string()), "{message}");
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        said(&changed);
    }
    assert!(said(&[whole.as_slice(), b"x"].concat()).contains("something behind its end"));
    assert!(said(b"{}").contains("is no encoded document of this version"));
    let other = report().to_bytes(&key("b").0);
    assert!(said(&other).contains("made from something else"));
    fs::write(&path, &whole).unwrap();
    assert!(cache.read(key("a")).unwrap().is_some());
}

#[test]
fn what_was_not_used_for_longest_makes_room() {
    let size = report().to_bytes(&key("a").0).len() as u64;
    let (_directory, cache) = cache(3 * size);
    let kept =
        |names: &str| -> String { names.chars().filter(|name| cache.path(key(&name.to_string())).exists()).collect() };
    for (name, age) in [("a", 400), ("b", 300), ("c", 200)] {
        cache.write(key(name), &report()).unwrap();
        let file = File::options().append(true).open(cache.path(key(name))).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    // Used, so that b is the oldest now.
    cache.read(key("a")).unwrap().unwrap();
    cache.write(key("d"), &report()).unwrap();
    assert_eq!(kept("abcd"), "acd");
    // More than all the room there is.
    let (_other, small) = self::cache(size - 1);
    small.write(key("a"), &report()).unwrap();
    assert!(small.read(key("a")).unwrap().is_none());
}

#[test]
fn abandoned_files_go_and_those_of_others_stay() {
    let (_directory, cache) = cache(LIMIT);
    for (name, age) in [(".writing-old", 7200), (".writing-new", 0), ("notes.txt", 7200)] {
        let file = File::create(cache.directory.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
    }
    cache.write(key("a"), &report()).unwrap();
    let mut left: Vec<_> = fs::read_dir(&cache.directory).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.retain(|name| !name.to_string_lossy().ends_with(EXTENSION));
    left.sort();
    assert_eq!(left, [".writing-new", "notes.txt"]);
}

#[test]
fn several_writers_and_readers_may_use_one_directory() {
    let size = report().to_bytes(&key("a").0).len() as u64;
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
        let bytes = document.to_bytes(&key("a").0);
        prop_assert_eq!(EncodedDocument::from_bytes(&bytes, &key("a").0), Ok(document));
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let whole = report().to_bytes(&key("a").0);
        for kept in [0, 16, 48, 64, 128] {
            let bytes = [&whole[..kept], &bytes].concat();
            prop_assert!(EncodedDocument::from_bytes(&bytes, &key("a").0).is_err());
        }
    }
}
