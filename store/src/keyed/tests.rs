use std::fs;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};

use super::*;

fn key(number: usize) -> Key {
    crate::Digest::new().part(number.to_string()).bytes()
}

fn keep(store: &Store, space: Space, entries: &[(usize, &str)]) -> Result<(), StoreError> {
    store.keep(space, entries.iter().map(|(number, value)| (key(*number), value)), |_, _| Ok(()))
}

fn value(store: &Store, space: Space, number: usize) -> Option<String> {
    let kept = store.read(space).unwrap();
    kept.get(&key(number)).unwrap().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
}

/// This test program with one test, which sees that it is a child by `TABSEGNET_TEST_STORE`.
fn child(test: &str, dir: &Path) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", &format!("keyed::tests::{test}"), "--nocapture", "--test-threads=1"]);
    command.env("TABSEGNET_TEST_STORE", dir).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn values_come_back_and_the_first_one_stands() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    keep(&store, Space::Vectors, &[(1, "one"), (2, "")]).unwrap();
    let mut standing = Vec::new();
    let again = [(key(3), "three"), (key(1), "other")];
    store
        .keep(Space::Vectors, again.into_iter(), |number, value| {
            standing.push((number, value.to_vec()));
            Ok::<_, StoreError>(())
        })
        .unwrap();
    assert_eq!(standing, [(1, b"one".to_vec())]);
    // One process may open it twice, and again when it is closed.
    let second = Store::open(&dir.path().join(".")).unwrap();
    assert_eq!(value(&second, Space::Vectors, 3).as_deref(), Some("three"));
    drop((store, second));
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(
        [1, 2, 4].map(|number| value(&store, Space::Vectors, number)),
        [Some("one".into()), Some("".into()), None]
    );
    assert_eq!((value(&store, Space::Texts, 1), store.read(Space::Vectors).unwrap().count().unwrap()), (None, 3));
}

#[test]
fn many_threads_may_open_it() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let dir = dir.path();
            scope.spawn(move || {
                for number in (0..20).map(|round| thread * 100 + round) {
                    let store = Store::open(dir).unwrap();
                    keep(&store, Space::Texts, &[(number, "text")]).unwrap();
                    assert!(value(&store, Space::Texts, number).is_some());
                }
            });
        }
    });
}

#[test]
fn what_cannot_be_used_is_made_anew_and_this_is_reported() {
    if let Some(dir) = env::var_os("TABSEGNET_TEST_STORE") {
        let store = Store::open(Path::new(&dir)).unwrap();
        store.notice().into_iter().for_each(|notice| eprintln!("{notice}"));
        eprintln!("found {:?}", value(&store, Space::Texts, 1));
        return keep(&store, Space::Texts, &[(1, "text")]).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let (data, version) = (dir.path().join("store/data.mdb"), dir.path().join("store/version"));
    let open = || {
        let output =
            child("what_cannot_be_used_is_made_anew_and_this_is_reported", dir.path()).wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(open(), "found None\n");
    assert_eq!(open(), "found Some(\"text\")\n");
    for other in ["tabsegnet store 0\n", "", "\u{0}\u{ff}"] {
        fs::write(&version, other).unwrap();
        let stderr = open();
        assert!(stderr.contains("it is of another version and is made anew\nfound None"), "{stderr}");
    }
    let whole = fs::read(&data).unwrap();
    // A page that is not there would end the process when it is read.
    for damaged in [&whole[..whole.len() - 4096], &whole[..whole.len() / 2], &whole[..100], &[b'x'; 100_000]] {
        fs::write(&data, damaged).unwrap();
        let stderr = open();
        assert!(stderr.contains("data.mdb ") && stderr.contains("; it is made anew\nfound None"), "{stderr}");
    }
    // What was kept before there was a version.
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("data.mdb"), "x").unwrap();
    let notice = Store::open(other.path()).unwrap().notice().unwrap();
    assert!(notice.contains("of another version; delete them"), "{notice}");
    // LMDB takes an empty file for a new one.
    fs::write(&data, "").unwrap();
    assert_eq!(open(), "found None\n");
    assert_eq!(open(), "found Some(\"text\")\n");
}

/// One that has the files open goes on with them while another makes the store anew.
#[test]
fn a_store_made_anew_under_an_open_one_spoils_neither() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    keep(&store, Space::Texts, &[(1, "old")]).unwrap();
    fs::write(dir.path().join("store/version"), "tabsegnet store 0\n").unwrap();
    let opened = child("what_cannot_be_used_is_made_anew_and_this_is_reported", dir.path()).wait().unwrap();
    assert!(opened.success());
    keep(&store, Space::Texts, &[(2, "more")]).unwrap();
    assert_eq!([1, 2].map(|number| value(&store, Space::Texts, number).unwrap()), ["old", "more"]);
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!([1, 2].map(|number| value(&store, Space::Texts, number)), [Some("text".into()), None]);
}

#[test]
fn processes_may_use_it_at_once_and_be_killed() {
    let text = |number: usize| format!("{number} ").repeat(number % 3000);
    if let Some(dir) = env::var_os("TABSEGNET_TEST_STORE") {
        for round in 0..60 {
            let store = Store::open(Path::new(&dir)).unwrap();
            let entries = (0..100).map(|n| round * 50 + n);
            let same = |number: usize, kept: &[u8]| {
                assert_eq!(kept, text(round * 50 + number).as_bytes());
                Ok::<_, StoreError>(())
            };
            store.keep(Space::Texts, entries.clone().map(|n| (key(n), text(n))), same).unwrap();
            store.keep_within(Space::Documents, &key(round % 5), text(2999).as_bytes(), 40_000).unwrap();
            entries.for_each(|n| assert_eq!(value(&store, Space::Texts, n), Some(text(n))));
            println!("{round}");
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut children = [(); 4].map(|()| child("processes_may_use_it_at_once_and_be_killed", dir.path()));
    for killed in &mut children[..2] {
        // Once it has written something.
        let mut byte = [0; 64];
        let output = killed.stdout.as_mut().unwrap();
        while !byte.contains(&b'3') {
            assert!(output.read(&mut byte).unwrap() > 0, "it ended early");
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
    }
    for child in children.into_iter().skip(2) {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let store = Store::open(dir.path()).unwrap();
    (0..3050).for_each(|n| assert_eq!(value(&store, Space::Texts, n), Some(text(n))));
    assert_eq!(store.read(Space::Texts).unwrap().count().unwrap(), 3050);
}

#[test]
fn what_was_not_used_for_longest_makes_room() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let keep = |number: usize, length: usize| {
        store.keep_within(Space::Documents, &key(number), &vec![7; length], 300).unwrap();
    };
    let kept =
        || -> Vec<usize> { (1..6).filter(|number| value(&store, Space::Documents, *number).is_some()).collect() };
    for (number, hours) in [(1, 4), (2, 3), (3, 2)] {
        keep(number, 100);
        let used = now() - hours * 3_600_000_000_000;
        store.write(|txn| store.0.uses.put(txn, &key(number), &used.to_le_bytes())).unwrap();
    }
    // Used, so that 2 is the oldest now.
    store.note_use(&key(1)).unwrap();
    keep(4, 100);
    assert_eq!(kept(), [1, 3, 4]);
    keep(5, 301);
    assert_eq!(kept(), [1, 3, 4]);
    keep(5, 300);
    assert_eq!(kept(), [5]);
}

#[test]
fn a_directory_that_cannot_be_made_and_a_full_store_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let error = Store::open(&dir.path().join("file/cache")).err().unwrap().to_string();
    assert!(error.contains("file/cache: could not create the directory"), "{error}");

    let small = Store::open_sized(&dir.path().join("small"), 1 << 17).unwrap();
    let entries = (0..5_000).map(|n| (key(n), "x".repeat(100)));
    let error = small.keep(Space::Texts, entries, |_, _| Ok::<_, StoreError>(())).unwrap_err().to_string();
    assert!(error.contains("small/store") && error.contains("largest size"), "{error}");
    // What does not fit does no harm to what is kept.
    keep(&small, Space::Texts, &[(1, "text")]).unwrap();
    assert_eq!(value(&small, Space::Texts, 1).as_deref(), Some("text"));
}

#[cfg(unix)]
#[test]
fn its_owner_alone_may_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let _store = Store::open(dir.path()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let store = dir.path().join("store");
    assert_eq!(mode(&store), 0o700);
    let mut files: Vec<_> = fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files, ["data.mdb", "lock.mdb", "version"].map(|name| store.join(name)));
    files.iter().for_each(|file| assert_eq!(mode(file), 0o600, "{}", file.display()));
}
