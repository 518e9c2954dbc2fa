//! What `train` and `evaluate` say of a config that they cannot use. That there is a test of the programs also has
//! `cargo test` build them, for the end-to-end tests.

use std::path::Path;
use std::process::Command;

/// Runs a program in a directory with `config.toml`: exit code 2, nothing on stdout, each part in the message, nothing
/// written.
#[track_caller]
fn refused(program: &str, directory: &Path, arguments: &[&str], parts: &[&str]) {
    let mut command = Command::new(program);
    command.args(["--config", "config.toml"]).args(arguments).current_dir(directory).env("TABSEGNET_CACHE", "cache");
    let output = command.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{message}");
    for part in parts {
        assert!(message.contains(part), "expected {part:?} in the message:\n{message}");
    }
    assert!(!directory.join("out/state").exists() && !directory.join("out/best").exists());
}

const TRAIN: &str = env!("CARGO_BIN_EXE_train");
const EVALUATE: &str = env!("CARGO_BIN_EXE_evaluate");

#[test]
fn a_wrong_config_is_wrong_usage_and_says_what_was_meant() {
    let cases: [(&str, &str, &[&str]); 9] = [
        (
            "unknown key",
            "[optimisation]\nlerning_rate = 1",
            &["config.toml: unknown key optimisation.lerning_rate", "optimisation.learning_rate"],
        ),
        ("unknown section", "[optimization]\n", &["unknown key optimization", "optimisation"]),
        ("wrong type", "[task]\nseed = 1\n[optimisation]\nepochs = \"ten\"", &["config.toml: ", "line 4", "epochs"]),
        ("no such choice", "[model]\naggregation = \"min\"", &["line 2", "unknown variant `min`", "`max`"]),
        ("no TOML", "[task\n", &["config.toml", "line 1"]),
        ("out of range", "[optimisation]\nepochs = 0", &["optimisation.epochs is 0; expected at least 1"]),
        (
            "no such data set",
            "[data]\nkind = \"finqq\"",
            &["data.kind: is \"finqq\"; expected finqa, ", "ixbrl, synthetic or mix"],
        ),
        ("no files", "[data]\nkind = \"finqa\"", &["data.train: names no file"]),
        (
            "no data",
            "[data]\nroot = \"nowhere\"\ntrain = [\"t.json\"]\ndev = [\"d.json\"]",
            &["data.train: nowhere/t.json: there is no such file"],
        ),
    ];
    let work = tempfile::tempdir().unwrap();
    let config = work.path().join("config.toml");
    for (what, text, parts) in cases {
        eprintln!("{what}");
        std::fs::write(&config, text).unwrap();
        refused(TRAIN, work.path(), &["--set", "output.cache=cache", "--set", "output.directory=out"], parts);
    }
    std::fs::write(&config, "").unwrap();
    for (set, parts) in [
        ("optimisation.epoch=1", ["--set: unknown key optimisation.epoch", "optimisation.epochs"]),
        ("optimisation.epochs=ten", ["--set optimisation.epochs=ten", "expected a whole number"]),
        ("task=1", ["--set task=1", "is a section"]),
        ("task.seed", ["--set task.seed", "expected section.key=value"]),
    ] {
        refused(TRAIN, work.path(), &["--set", set], &parts);
        refused(EVALUATE, work.path(), &["--set", set], &parts);
    }
    refused(TRAIN, work.path(), &["--config", "nowhere.toml"], &["--config"]);
    std::fs::remove_file(config).unwrap();
    refused(TRAIN, work.path(), &[], &["config.toml: could not read"]);
}
