//! What the tests of all crates share: saying that a test is skipped, and what tests on real data need.

mod chat_server;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

pub use chat_server::{ChatServer, Received, Step, completion, status, streamed};

/// Says on stderr that a test could not do what it is for. Not by `eprintln`, which the harness shows for tests that
/// fail only.
pub fn skipped(test: &str, because: &str) {
    say(&format!("SKIPPED: {test} because {because}"));
}

/// A line on stderr that is shown whether the test fails or not.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "\n{line}\n");
}

/// The path that an environment variable names, for a test on real files; where it names none, the test is
/// [`skipped`].
pub fn path_in(variable: &str, test: &str, what: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    if path.is_none() {
        skipped(test, &format!("{variable} does not name {what}"));
    }
    path
}

/// A Python with pytrec_eval: the one in `TABSEGNET_PYTHON`, which then must have it, else `python3`; without one the
/// test is [`skipped`].
///
/// # Panics
/// Where `TABSEGNET_PYTHON` names one without pytrec_eval.
pub fn python_with_trec_eval(test: &str) -> Option<String> {
    let named = std::env::var("TABSEGNET_PYTHON").ok();
    let python = named.clone().unwrap_or_else(|| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import pytrec_eval"]).output();
    let usable = found.is_ok_and(|output| output.status.success());
    assert!(usable || named.is_none(), "TABSEGNET_PYTHON={python} has no pytrec_eval");
    if !usable {
        skipped(test, "there is no Python with pytrec_eval; name one in TABSEGNET_PYTHON");
    }
    usable.then_some(python)
}
