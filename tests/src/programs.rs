//! Running the programs under test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::built;

/// A command that runs one of the project's programs: `train`, `evaluate`, `infer`, `index` or `ask`.
///
/// # Panics
/// Where the program is missing or older than its sources.
pub fn program(name: &str) -> Command {
    // Looked at once a process.
    static PATHS: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let path = {
        let mut paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
        paths.entry(name.to_owned()).or_insert_with(|| built::path(name)).clone()
    };
    let mut command = Command::new(path);
    for (variable, _) in std::env::vars_os() {
        if variable.to_string_lossy().starts_with("TABSEGNET_") {
            command.env_remove(variable);
        }
    }
    command
        .env("TABSEGNET_CHECKPOINTS", Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkpoints"))
        .env_remove("RAYON_NUM_THREADS")
        .env("RUST_BACKTRACE", "0");
    command
}

/// How a program ended.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// The results.
    pub stdout: String,
    /// Messages and progress.
    pub stderr: String,
}

impl Outcome {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        output.into()
    }

    /// Waits for a program that was started with its output piped.
    pub fn after(child: Child) -> Self {
        child.wait_with_output().expect("the program can be waited for").into()
    }

    /// The exit code must be 0.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// The exit code must be `code`, stdout empty, and the message (from the first line that starts
    /// with `error: `) hold each of `parts`.
    #[track_caller]
    pub fn fails(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        let lines = self.stderr.split_inclusive('\n').skip_while(|line| !line.starts_with("error: "));
        let message: String = lines.collect();
        for part in parts {
            assert!(message.contains(part), "expected {part:?} in the message:\n{}", self.stderr);
        }
        self
    }
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// Waits until `reached`, or the program has ended.
pub fn wait_for(child: &mut Child, mut reached: impl FnMut() -> bool) {
    let started = Instant::now();
    while !reached() && child.try_wait().expect("a child").is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing happens");
        sleep(Duration::from_micros(200));
    }
}

/// Sends SIGINT, as Ctrl-C does.
pub fn interrupt(child: &Child) {
    let sent = Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status();
    assert!(sent.expect("sh runs").success(), "the program has ended already");
}
