//! A config file: what is read is printed as a config that reads the same.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tabsegnet_trainer::config::Config;

/// One file in a directory that goes with the process.
static FILE: LazyLock<(tempfile::TempDir, PathBuf)> = LazyLock::new(|| {
    let directory = tempfile::tempdir().unwrap_or_else(|error| panic!("no temporary directory: {error}"));
    let file = directory.path().join("x.toml");
    (directory, file)
});

fuzz_target!(|bytes: &[u8]| {
    let file = &FILE.1;
    put(file, bytes);
    let Ok(config) = Config::load(file, &[]) else { return };
    let printed = config.to_toml().unwrap_or_else(|error| panic!("a config that was read cannot be printed: {error}"));
    put(file, printed.as_bytes());
    match Config::load(file, &[]) {
        Ok(again) => assert_eq!(again, config),
        Err(error) => panic!("a config that was printed cannot be read: {error}"),
    }
});

fn put(file: &Path, bytes: &[u8]) {
    if let Err(error) = std::fs::write(file, bytes) {
        panic!("{}: {error}", file.display());
    }
}
