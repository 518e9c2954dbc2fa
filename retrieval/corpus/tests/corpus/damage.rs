//! Files of a corpus that are cut off, changed or of something else: an error or an answer, no panic.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use serde_json::{Value, json};
use tabsegnet_corpus::{Corpus, CorpusError, IndexConfig, Manifest, VectorKind, Writer, join};
use tempfile::TempDir;

use crate::support::{
    TableFile, WordHashes, add, answers, answers_of, copy, open, segments, settings, table_files, take_in, writer,
};

/// Bytes of the end of a segment's file.
const END: usize = 304;

/// Two segments, of one a table removed.
fn whole(kind: VectorKind) -> &'static TempDir {
    static WHOLE: [OnceLock<TempDir>; 2] = [const { OnceLock::new() }; 2];
    WHOLE[usize::from(kind == VectorKind::Int8)].get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        let config = IndexConfig { vectors: kind, ..settings(9) };
        let files = table_files(&[14, 9], 41);
        take_in(dir.path(), &config, &files[..1]).unwrap();
        let taken = TableFile { name: "taken".into(), tables: files[0].tables[..1].to_vec() };
        take_in(dir.path(), &config, [&files[1], &taken]).unwrap();
        dir
    })
}

/// Does all that can be done with a corpus.
fn use_it(directory: &Path) -> Result<(), CorpusError> {
    let corpus = open(directory)?;
    let answered = answers_of(&corpus).map(|_| ());
    for at in corpus.tables() {
        let _ = (corpus.table(at), corpus.source(at), corpus.find(corpus.id(at)));
    }
    drop(corpus);
    let mut change = writer(directory, &settings(1))?;
    change.remove("file-1");
    let mut new = table_files(&[14], 41).remove(0);
    new.tables[3].id = String::new();
    add(&mut change, &new);
    change.commit(&mut |_| ())?;
    open(directory)?;
    answered
}

#[test]
fn segments_that_are_cut_off_are_said() {
    let dir = whole(VectorKind::F32);
    for segment in segments(dir.path()) {
        let bytes = std::fs::read(&segment).unwrap();
        let end = bytes.len();
        for length in
            [0, 1, 7, 8, 64, END - 1, END, END + 1, end / 4, end / 2, end - END - 1, end - END, end - 8, end - 1]
        {
            let at = copy(dir.path());
            let path = at.path().join(segment.file_name().unwrap());
            std::fs::write(&path, &bytes[..length]).unwrap();
            let error = open(at.path()).unwrap_err();
            assert!(matches!(&error, CorpusError::Damaged { .. }), "{length}: {error}");
            let message = error.to_string();
            assert!(message.starts_with(&path.display().to_string()), "{message}");
            assert!(message.ends_with("; make the corpus anew"), "{message}");
            assert!(writer(at.path(), &settings(2)).is_err());
        }
        let at = copy(dir.path());
        std::fs::remove_file(at.path().join(segment.file_name().unwrap())).unwrap();
        assert!(matches!(open(at.path()), Err(CorpusError::File(_))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn changed_bytes_never_panic(
        int8: bool,
        which in 0..2_usize,
        at_end: bool,
        flips in proptest::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..4),
    ) {
        let kind = if int8 { VectorKind::Int8 } else { VectorKind::F32 };
        let at = copy(whole(kind).path());
        let path = &segments(at.path())[which];
        let mut bytes = std::fs::read(path).unwrap();
        let first = if at_end { bytes.len() - END } else { 0 };
        for (place, change) in flips {
            let place = first + place.index(bytes.len() - first);
            bytes[place] ^= change;
        }
        std::fs::write(path, bytes).unwrap();
        let _ = use_it(at.path());
    }

    /// Numbers of the end table that are far beyond.
    #[test]
    fn places_far_beyond_never_panic(
        field in 0..END / 8 - 1,
        value in prop_oneof![Just(u64::MAX), Just(u64::MAX - 7), Just(u64::MAX / 8), Just(1 << 61), 0..100_000_u64],
    ) {
        let at = copy(whole(VectorKind::F32).path());
        let path = &segments(at.path())[0];
        let mut bytes = std::fs::read(path).unwrap();
        let place = bytes.len() - END + field * 8;
        bytes[place..place + 8].copy_from_slice(&value.to_le_bytes());
        std::fs::write(path, bytes).unwrap();
        let _ = use_it(at.path());
    }
}

/// What opening says of a corpus whose manifest is changed.
fn with_manifest(change: impl FnOnce(&mut Value)) -> Result<Corpus, CorpusError> {
    let at = copy(whole(VectorKind::F32).path());
    let path = at.path().join("corpus.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    std::fs::write(&path, manifest.to_string()).unwrap();
    // Nothing is changed by a writer that is refused.
    let before = crate::support::names(at.path());
    let opened = open(at.path());
    if opened.is_err() && writer(at.path(), &settings(2)).is_err() {
        let mut after = crate::support::names(at.path());
        after.remove("corpus.lock");
        assert!(
            matches!(opened, Err(CorpusError::Damaged { .. } | CorpusError::OtherVersion { .. })) || after == before
        );
    }
    let _ = join(&at.path().join("joined"), &[at.path().to_owned()]);
    opened
}

#[test]
fn a_manifest_of_something_else_is_said() {
    let says = |change: fn(&mut Value), expected: &str| {
        let message = with_manifest(change).unwrap_err().to_string();
        assert!(message.contains(expected), "{message:?} without {expected:?}");
    };
    assert!(with_manifest(|_| ()).is_ok());
    says(
        |manifest| manifest["format"] = json!(1),
        "corpus.json: is of version 1 of corpora, this program reads 5; index its files again",
    );
    says(|manifest| manifest["format"] = json!("1"), "corpus.json");
    says(|manifest| manifest["colour"] = json!("red"), "unknown field `colour`");
    says(|manifest| manifest["segments"][0]["colour"] = json!(1), "unknown field `colour`");
    says(|manifest| *manifest = json!([1]), "corpus.json");
    for name in ["../00000001.segment", "/etc/passwd", "a/b", "a/", "..", ".", ""] {
        let message =
            with_manifest(|manifest| manifest["segments"][0]["file"]["name"] = json!(name)).unwrap_err().to_string();
        assert!(message.contains(&format!("{name:?} is no file's name")), "{message}");
        let message =
            with_manifest(|manifest| manifest["segments"][0]["removed"]["name"] = json!(name)).unwrap_err().to_string();
        assert!(message.contains(&format!("{name:?} is no file's name")), "{message}");
        let message = with_manifest(|manifest| manifest["files"]["name"] = json!(name)).unwrap_err().to_string();
        assert!(message.contains(&format!("{name:?} is no file's name")), "{message}");
    }
    says(|manifest| manifest["segments"][0]["tables"] = json!(99), "holds 13 tables, expected 99");
    says(|manifest| manifest["segments"][0]["file"]["name"] = json!("corpus.json"), "is no whole segment");
    says(|manifest| manifest["segments"][1]["removed"] = json!({"name": "00000001.segment", "sha256": ""}), "");
    says(
        |manifest| manifest["dim"] = json!(9),
        "are of the static encoder (words of width 9), this encoder is words of width 8",
    );
    says(|manifest| manifest["dim"] = json!(u64::MAX / 2), "of width");
    says(
        |manifest| manifest["encoder_identity"] = json!("else"),
        "of the static encoder (else of width 8), this encoder is words of",
    );
    says(|manifest| manifest["vectors"] = json!("int8"), "Vectors has another length than");
    let words = with_manifest(|manifest| {
        manifest["segments"][0]["words"] = json!(vec![u64::MAX; 6]);
        manifest["segments"][1]["words"] = json!(vec![u64::MAX; 6]);
    });
    answers_of(&words.unwrap()).unwrap();
}

#[test]
fn what_is_not_there_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let error = open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("holds no corpus (no corpus.json); make one with index --output"), "{error}");
    std::fs::write(dir.path().join("corpus.json"), "{").unwrap();
    assert!(matches!(open(dir.path()), Err(CorpusError::Damaged { .. })));
    assert!(matches!(writer(dir.path(), &settings(1)), Err(CorpusError::Damaged { .. })));
    let at = copy(whole(VectorKind::F32).path());
    assert!(open(at.path()).unwrap().find("nobody").unwrap_err().to_string().ends_with("holds no table \"nobody\""));
}

#[test]
fn the_list_of_removed_tables_is_looked_at_too() {
    for (bytes, expected) in [
        (vec![0, 0, 0], "is cut off"),
        (99_u32.to_le_bytes().to_vec(), "fewer tables than are removed"),
        (Vec::new(), "holds 14 tables, expected 13"),
    ] {
        let at = copy(whole(VectorKind::F32).path());
        let all = crate::support::names(at.path());
        let name = all.iter().find(|name| name.ends_with(".removed")).unwrap();
        std::fs::write(at.path().join(name), bytes).unwrap();
        let message = open(at.path()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

/// Questions do not need it.
#[test]
fn a_list_of_files_that_is_damaged_stops_changes_alone() {
    let at = copy(whole(VectorKind::F32).path());
    let all = crate::support::names(at.path());
    let list = at.path().join(all.iter().find(|name| name.ends_with(".files")).unwrap());
    std::fs::write(&list, "{\"file-0\":").unwrap();
    assert_eq!(answers(at.path()), answers(whole(VectorKind::F32).path()));
    for error in [writer(at.path(), &settings(2)).err(), join(&at.path().join("joined"), &[at.path().to_owned()]).err()]
    {
        let message = error.unwrap().to_string();
        assert!(message.starts_with(&list.display().to_string()), "{message}");
        assert!(message.ends_with("; make the corpus anew"), "{message}");
    }
}

/// Opening does not see a flipped byte of a text; the digests do.
#[test]
fn a_check_finds_every_changed_byte() {
    let whole = whole(VectorKind::F32);
    let check = |directory: &Path| -> Vec<String> {
        Manifest::read(directory).unwrap().check(directory).iter().map(ToString::to_string).collect()
    };
    assert!(check(whole.path()).is_empty());
    let files = crate::support::names(whole.path());
    let files: Vec<&String> = files.iter().filter(|name| !name.starts_with("corpus.")).collect();
    assert_eq!(files.len(), 4);
    for name in files {
        let at = copy(whole.path());
        let path = at.path().join(name);
        let bytes = std::fs::read(&path).unwrap();
        for place in [0, bytes.len() / 3, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[place] ^= 1;
            std::fs::write(&path, changed).unwrap();
            let [found] = &check(at.path())[..] else { panic!("{name}: one file is damaged") };
            assert!(found.starts_with(&format!("{}: its content has SHA-256 ", path.display())), "{found}");
            assert!(found.ends_with("; make the corpus anew"), "{found}");
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(check(at.path()).len(), 1);
    }
    // What is changed later, merged and joined has digests too.
    let at = copy(whole.path());
    take_in(at.path(), &settings(1), &table_files(&[5, 3], 8)).unwrap();
    let joined = at.path().join("joined");
    join(&joined, &[at.path().to_owned()]).unwrap();
    assert!(check(at.path()).is_empty() && check(&joined).is_empty());
}

#[test]
fn another_encoder_is_refused_by_readers_and_writers() {
    let at = copy(whole(VectorKind::F32).path());
    let expected = format!(
        "{}: its vectors are of the static encoder (words of width 8), this encoder is letters of width 8; open it with the one that it was \
         made with, or make it anew",
        at.path().display()
    );
    let other = WordHashes { identity: "letters" };
    let error = Corpus::open_with(at.path(), Arc::new(WordHashes { identity: "letters" })).unwrap_err();
    assert_eq!(error.to_string(), expected);
    let error = Writer::open(at.path(), &other, &Default::default(), &settings(1)).err().unwrap();
    assert_eq!(error.to_string(), expected);
    assert_eq!(answers(at.path()), answers(whole(VectorKind::F32).path()));
}
