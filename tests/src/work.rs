//! A place to run the programs in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::programs::{Outcome, program};

/// A training that takes a tenth of a second. Paths are relative to where the program runs.
pub const TINY: &str = r#"[data]
kind = "synthetic"
[data.synthetic]
train_documents = 12
dev_documents = 6
[model]
d_in = 16
d_out = 16
d_edge = 8
[optimisation]
epochs = 3
batch_size = 8
[evaluation]
resamples = 50
rounds = 50
after_training = false
[output]
directory = "out"
cache = "cache"
"#;

/// A directory of a test's own, with `config.toml`; programs run in it. It is removed at the end.
pub struct Work {
    directory: TempDir,
}

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}

impl Work {
    /// With [`TINY`] as the config.
    pub fn new() -> Self {
        Self::with(TINY)
    }

    /// With a config.
    pub fn with(config: &str) -> Self {
        let work = Self { directory: tempfile::tempdir().expect("a temporary directory") };
        work.write("config.toml", config);
        work
    }

    /// With files.
    pub fn of(files: &Files) -> Self {
        let work = Self::with("");
        for (name, content) in files {
            work.write(&name.display().to_string(), content);
        }
        work
    }

    /// With [`TINY`] trained: as it is after `train`, which runs once for all tests of a process.
    pub fn trained() -> Self {
        static TRAINED: LazyLock<Files> = LazyLock::new(|| Work::new().after_training());
        Self::of(&TRAINED)
    }

    /// Trains with the config, and gives all files that are there then.
    pub fn after_training(self) -> Files {
        self.train(&[]).ok();
        files(&self.path(""))
    }

    /// A path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is below the directory")).expect("a directory");
        fs::write(path, content).expect("a file");
    }

    /// The bytes of a file.
    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The text of a file.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("it is UTF-8")
    }

    /// The JSON of a file.
    #[track_caller]
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A program with arguments, not started; `train` and `evaluate` get `--config config.toml`.
    pub fn command(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = program(name);
        command.current_dir(self.directory.path()).env("TABSEGNET_CACHE", "cache");
        if ["train", "evaluate"].contains(&name) {
            command.args(["--config", "config.toml"]);
        }
        command.args(arguments);
        command
    }

    /// Runs `train`.
    pub fn train(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&mut self.command("train", arguments))
    }

    /// Starts a training; it handles signals from when `out/.lock` is there.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let _ = fs::remove_file(self.path("out/.lock"));
        let mut command = self.command("train", arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("train runs")
    }

    /// Runs `evaluate`.
    pub fn evaluate(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(&mut self.command("evaluate", arguments))
    }

    /// Runs `infer` with the checkpoint `out/best`.
    pub fn infer(&self, arguments: &[&str]) -> Outcome {
        let mut command = self.command("infer", &["--checkpoint", "out/best"]);
        Outcome::of(command.args(arguments))
    }

    /// Puts another text into `file` of a checkpoint and the digest that fits into its manifest.
    pub fn change_checkpoint(&self, checkpoint: &str, file: &str, content: impl AsRef<[u8]>) {
        let path = format!("{checkpoint}/{file}");
        self.write(&path, content);
        let manifest = format!("{checkpoint}/manifest.json");
        let mut json = self.json(&manifest);
        json["files"][file] = tabsegnet_store::sha256_file(&self.path(&path)).expect("it was written").into();
        self.write(&manifest, json.to_string());
    }

    /// Copies the files of a directory.
    pub fn copy(&self, from: &str, to: &str) {
        for (name, content) in files(&self.path(from)) {
            self.write(&format!("{to}/{}", name.display()), content);
        }
    }
}

/// Files by their names below a directory.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Every file below a directory with its bytes; lock files are left out.
pub fn files(directory: &Path) -> Files {
    let mut found = BTreeMap::new();
    collect(directory, Path::new(""), &mut found);
    found
}

fn collect(directory: &Path, below: &Path, found: &mut Files) {
    for entry in fs::read_dir(directory.join(below)).unwrap_or_else(|error| panic!("{}: {error}", directory.display()))
    {
        let entry = entry.expect("an entry");
        let name = below.join(entry.file_name());
        if entry.path().is_dir() {
            collect(directory, &name, found);
        } else if entry.file_name() != ".lock" && entry.file_name() != "lock.mdb" {
            found.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
}
