//! A change that is cut off, by a kill or a full disk, is none.

use std::io::BufRead as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::support::{
    TableFile, add, answers, assert_clean, child, copy, segments, settings, table_files, take_in, writer,
};

const KILLS: u32 = 50;
const UPDATE: &str = "TABSEGNET_TEST_UPDATE";
const FULL: &str = "TABSEGNET_TEST_FULL";

fn files() -> Vec<TableFile> {
    let mut files = table_files(&[150, 120, 90, 60, 200, 140], 21);
    files[4].name = files[0].name.clone();
    files
}

/// Replaces a file, removes one, adds one, and makes one segment of all.
fn update(directory: &Path) {
    let files = files();
    let mut change = writer(directory, &settings(1)).unwrap();
    add(&mut change, &files[4]);
    change.remove(&files[1].name);
    add(&mut change, &files[5]);
    change.commit(&mut |_| ()).unwrap();
}

fn before() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in &files()[..4] {
        take_in(dir.path(), &settings(9), [file]).unwrap();
    }
    dir
}

/// Starts the update in a child, and comes back when it begins, with the end of the pipe that the child writes to.
#[cfg(unix)]
fn start(directory: &Path) -> (std::process::Child, impl Sized) {
    let test = "crash::a_change_that_is_killed_is_none_or_whole";
    let mut child = child(test, UPDATE, directory).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("begins")), "the child did not start");
    (child, lines)
}

#[cfg(unix)]
#[test]
fn a_change_that_is_killed_is_none_or_whole() {
    if let Some(directory) = std::env::var_os(UPDATE) {
        println!("begins");
        return update(Path::new(&directory));
    }
    let dir = before();
    let old = answers(dir.path());
    let after = copy(dir.path());
    update(after.path());
    let new = answers(after.path());
    assert_ne!(old, new);

    // How long it takes in a child; kills are spread over somewhat more.
    let whole = copy(dir.path());
    let (mut child, _pipe) = start(whole.path());
    let begun = Instant::now();
    assert!(child.wait().unwrap().success());
    let takes = begun.elapsed().max(Duration::from_millis(5));
    assert_eq!(answers(whole.path()), new);

    let (mut olds, mut news, mut left_over) = (0, 0, 0);
    for kill in 0..KILLS {
        let at = copy(dir.path());
        let (mut child, _pipe) = start(at.path());
        std::thread::sleep(takes * kill / (KILLS - 5));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = answers(at.path());
        match (found == old, found == new) {
            (true, _) => olds += 1,
            (_, true) => news += 1,
            _ => panic!("kill {kill}: neither the corpus before nor the one after"),
        }
        left_over += usize::from(segments(at.path()).len() > if found == old { 4 } else { 1 });
        drop(writer(at.path(), &settings(9)).unwrap());
        assert_clean(at.path());
        assert_eq!(answers(at.path()), found, "kill {kill}: cleared");
        update(at.path());
        assert_eq!(answers(at.path()), new, "kill {kill}: and changed");
        assert_clean(at.path());
    }
    println!("{KILLS} kills over {takes:?}: {olds} before, {news} after, {left_over} with files left over");
    assert!(olds > 0, "no kill came before the end");
}

/// Beyond a size the system writes no more to a file in the child. What is added fits, all segments as one do not.
#[cfg(unix)]
#[test]
fn a_full_disk_is_said_with_the_file_and_the_corpus_is_as_before() {
    if let Some(directory) = std::env::var_os(FULL) {
        let directory = Path::new(&directory);
        let mut change = writer(directory, &settings(1)).unwrap();
        let added = &files()[5];
        let added = match directory.join("large").exists() {
            true => TableFile { name: "large".into(), tables: table_files(&[900], 2).remove(0).tables },
            false => TableFile { name: "small".into(), tables: added.tables[..3].to_vec() },
        };
        add(&mut change, &added);
        let error = change.commit(&mut |_| ()).expect_err("the disk is full").to_string();
        return println!("said: {error}");
    }
    let dir = tempfile::tempdir().unwrap();
    for file in &files()[..4] {
        take_in(dir.path(), &settings(9), [file]).unwrap();
    }
    let sizes: Vec<u64> = segments(dir.path()).iter().map(|path| path.metadata().unwrap().len()).collect();
    // Blocks of 512 or 1024 bytes, as the shell has it.
    let blocks = sizes.iter().max().unwrap().div_ceil(512) + 4;
    assert!(blocks * 1024 < sizes.iter().sum::<u64>() * 9 / 10, "{sizes:?}");
    let old = answers(dir.path());
    for (large, name) in [(false, "00000010.segment"), (true, "00000009.segment")] {
        if large {
            std::fs::write(dir.path().join("large"), "").unwrap();
        }
        let test = "crash::a_full_disk_is_said_with_the_file_and_the_corpus_is_as_before";
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "trap '' XFSZ && ulimit -f $1 && exec \"$0\" --exact $2 --nocapture"]);
        limited.arg(std::env::current_exe().unwrap()).arg(blocks.to_string()).arg(test).env(FULL, dir.path());
        let output = limited.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let said = text.lines().find_map(|line| line.split_once("said: ")).unwrap().1.to_owned();
        let expected = dir.path().join(name).display().to_string();
        assert!(said.starts_with(&expected) && said.contains("could not write"), "{said}");
        assert_eq!(answers(dir.path()), old);
    }
    std::fs::remove_file(dir.path().join("large")).unwrap();
    drop(writer(dir.path(), &settings(9)).unwrap());
    assert_clean(dir.path());
    assert_eq!(answers(dir.path()), old);
    take_in(dir.path(), &settings(1), &files()[4..]).unwrap();
    assert_clean(dir.path());
}
