//! Disks that are full and directories that cannot be written.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use tabsegnet_test_support::skipped;
use tabsegnet_tests::{Work, files, native_lines};

/// A small disk at a directory of a [`Work`], while it lives.
struct Disk(PathBuf);

impl Disk {
    /// Nothing where disks cannot be mounted, which takes root.
    fn mount(work: &Work, name: &str, size: &str) -> Option<Self> {
        let path = work.path(name);
        fs::create_dir_all(&path).expect("a directory");
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tabsegnet-test"]).arg(&path).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Self(path))
    }

    /// Leaves no room.
    fn fill(&self) {
        let mut filler = fs::File::create(self.0.join("filler")).expect("a file");
        for piece in [vec![1; 4096], vec![1; 1]] {
            while filler.write_all(&piece).is_ok() {}
        }
    }

    /// Makes room again.
    fn empty(&self) {
        fs::remove_file(self.0.join("filler")).expect("it was there");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

const NO_DISK: &str = "a small disk could not be mounted, which takes root";

#[test]
fn a_full_disk_ends_a_training_and_earlier_files_stay_whole() {
    let work = Work::new();
    let Some(disk) = Disk::mount(&work, "disk", "1m") else {
        return skipped("a_full_disk_ends_a_training_and_earlier_files_stay_whole", NO_DISK);
    };
    let output = ["--set", "output.directory=disk/out"];
    work.train(&output).ok();
    let before = files(&work.path("disk/out"));
    disk.fill();
    work.train(&output).fails(1, &["disk/out/", "No space left"]);
    assert!(files(&work.path("disk/out")) == before, "earlier files were changed");
    work.evaluate(&["--set", "output.directory=disk/out"]).fails(1, &["disk/out/report", "No space left"]);
    work.write("dev.jsonl", native_lines());
    let arguments =
        ["--checkpoint", "disk/out/best", "--dataset", "native", "--input", "dev.jsonl", "--output", "disk/run"];
    for format in ["trec", "json"] {
        let mut infer = work.command("infer", &arguments);
        tabsegnet_tests::Outcome::of(infer.args(["--format", format]))
            .fails(1, &["disk/run: could not write", "No space left"]);
    }
    assert!(files(&work.path("disk/out")) == before, "earlier files were changed");
    disk.empty();
    work.train(&output).ok();
    let mut after = files(&work.path("disk/out"));
    after.retain(|name, _| name.ends_with("model.safetensors"));
    assert!(after.iter().all(|(name, content)| before.get(name) == Some(content)));
}

/// Wherever the room ends, the checkpoint that is there is whole, and what was cut off goes on. A
/// training anew over a finished one left a state that called the checkpoint of its first epoch
/// finished.
#[test]
fn regression_a_disk_that_fills_up_at_any_file_leaves_whole_files_and_a_state_that_fits() {
    let work = Work::new();
    let Some(disk) = Disk::mount(&work, "disk", "1m") else {
        return skipped(
            "regression_a_disk_that_fills_up_at_any_file_leaves_whole_files_and_a_state_that_fits",
            NO_DISK,
        );
    };
    let output = ["--set", "output.directory=disk/out"];
    work.train(&output).ok();
    let expected = work.read("disk/out/best/model.safetensors");
    for kib in [4, 20, 40, 60, 90, 130, 180] {
        disk.fill();
        let filler = fs::File::options().write(true).open(work.path("disk/filler")).expect("the filler");
        let length = filler.metadata().expect("the filler").len();
        filler.set_len(length - kib * 1024).expect("it can be cut");
        drop(filler);
        let run = work.train(&[output.as_slice(), &["--resume"]].concat());
        assert_eq!(run.code, Some(0), "nothing is left to do: {}", run.stderr);
        let run = work.train(&output);
        assert!(matches!(run.code, Some(0 | 1)) && !run.stderr.contains("panicked"), "{}", run.stderr);
        assert!(run.code == Some(0) || run.stderr.contains("No space left"), "{kib}: {}", run.stderr);
        assert!(work.read("disk/out/best/model.safetensors").len() == expected.len());
        disk.empty();
        // Whatever was cut off goes on.
        work.train(&[output.as_slice(), &["--resume"]].concat()).ok();
        assert!(work.read("disk/out/best/model.safetensors") == expected, "after {kib} KiB");
    }
}

#[test]
fn a_full_disk_behind_the_cache_is_an_error_and_the_cache_stays_whole() {
    let work = Work::new();
    let Some(disk) = Disk::mount(&work, "disk", "32m") else {
        return skipped("a_full_disk_behind_the_cache_is_an_error_and_the_cache_stays_whole", NO_DISK);
    };
    let tiny = ["--set", "output.cache=disk/cache"];
    work.train(&tiny).ok();
    // Prepared already, so that the vectors are what there is no room for.
    let other = [tiny.as_slice(), &["--set", "data.synthetic.seed=1", "--set", "output.directory=other"]].concat();
    work.train(&[other.as_slice(), &["--prepare"]].concat()).ok();
    disk.fill();
    work.train(&other).fails(1, &["store ", "disk/cache/store", "the disk is full"]);
    let third = [tiny.as_slice(), &["--set", "data.synthetic.seed=2", "--set", "output.directory=third"]].concat();
    work.train(&third).fails(1, &["disk/cache/prepared", "No space left"]);
    // What was kept can be read while the disk is full, and filled up when there is room.
    work.train(&tiny).ok();
    disk.empty();
    work.train(&other).ok();
    work.train(&third).ok();
}

/// What cannot be kept is encoded again the next time.
#[test]
fn a_document_that_cannot_be_kept_is_ranked_all_the_same() {
    let work = Work::trained();
    let Some(disk) = Disk::mount(&work, "disk", "32m") else {
        return skipped("a_document_that_cannot_be_kept_is_ranked_all_the_same", NO_DISK);
    };
    work.write("d.json", tabsegnet_tests::report().to_string());
    work.write("small.json", r#"{"id": "one", "blocks": [{"passage": "Revenue rose."}]}"#);
    let infer = |document, cache| {
        work.infer(&["--document", document, "--question", "revenue?", "--format", "trec", "--cache", cache]).ok()
    };
    infer("small.json", "disk/cache");
    disk.fill();
    let run = infer("d.json", "disk/cache");
    assert_eq!(run.stdout, infer("d.json", "cache").stdout);
    assert!(
        run.stderr.contains("encoded form is not kept") && run.stderr.contains("the disk is full"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_full_disk_under_a_new_cache_is_an_error() {
    let work = Work::new();
    let Some(disk) = Disk::mount(&work, "disk", "1m") else {
        return skipped("a_full_disk_under_a_new_cache_is_an_error", NO_DISK);
    };
    disk.fill();
    work.train(&["--set", "output.cache=disk"]).fails(1, &["disk"]);
}

/// Root may write everywhere, but not below a file.
#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let work = Work::new();
    work.write("file", "");
    work.train(&["--set", "output.directory=file/out"]).fails(1, &["file/out: could not create the directory"]);
    work.train(&["--set", "output.directory=/proc/out"]).fails(1, &["/proc/out: could not create the directory"]);
    work.train(&["--set", "output.cache=file/cache"]).fails(1, &["file/cache"]);
    work.evaluate(&["--baselines", "--output", "file/report"]).fails(1, &["file/report"]);
    let work = Work::trained();
    work.write("file", "");
    work.write("d.json", tabsegnet_tests::report().to_string());
    let ask = ["--document", "d.json", "--question", "revenue?"];
    work.infer(&[ask.as_slice(), &["--output", "file/run.json"]].concat()).fails(1, &["file"]);
    work.infer(&[ask.as_slice(), &["--graph", "file/graph.dot"]].concat()).fails(1, &["file"]);
    work.infer(&[ask.as_slice(), &["--cache", "file/cache"]].concat()).fails(1, &["file/cache"]);
}
