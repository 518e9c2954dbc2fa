//! What `infer` says of a command line that it cannot use. That there is a test of the program also has `cargo test`
//! build it, for the end-to-end tests.

use std::process::Command;

/// Wrong usage: exit code 2, nothing on stdout, each part in the message.
#[track_caller]
fn refused(arguments: &[&str], parts: &[&str]) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_infer")).args(["--checkpoint", "none"]).args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{arguments:?}: {message}");
    for part in parts {
        assert!(message.contains(part), "expected {part:?} in the message:\n{message}");
    }
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let document = ["--document", "d.json", "--question", "q"];
    for arguments in [
        &[][..],
        &["--document", "d.json"],
        &["--question", "revenue?"],
        &["--dataset", "native"],
        &["--input", "d.json"],
        &[&document[..], &["--dataset", "native", "--input", "d.json"]].concat(),
        &[&document[..], &["--format", "yaml"]].concat(),
        &[&document[..], &["--top-k", "0"]].concat(),
        &[&document[..], &["--top-k", "-1"]].concat(),
        &["--dataset", "native", "--input", "d.json", "--graph", "g.dot"],
    ] {
        refused(arguments, &[]);
    }
    refused(&[&document[..], &["--tokens", "5"]].concat(), &["--tokens goes with --format prompt"]);
    for likely in
        [&["--likely", "0.5"][..], &["--likely", "1.5", "--format", "html"], &["--likely", "NaN", "--format", "html"]]
    {
        refused(
            &[&document[..], likely].concat(),
            &["--likely is", "expected a share from 0 to 1, with --format html"],
        );
    }
    refused(&[&document[..], &["--likely", "0.5", "--top-k", "3", "--format", "html"]].concat(), &["--top-k"]);
    let dataset = ["--dataset", "native", "--input", "d.json", "--each-place"];
    refused(&dataset, &["--each-place goes with --document"]);
    let explained = ["--format", "trec", "--explain"];
    refused(&[&document[..], &explained].concat(), &["--explain goes with --format json, jsonl or html"]);
}

#[test]
fn a_data_set_that_is_not_read_from_files_is_refused_with_those_that_are() {
    for name in ["ixbrl", "synthetic", "mix", "finqq"] {
        let known = "possible values: finqa, multihiertt, tatqa, hybridqa, hitab, aitqa, native";
        refused(&["--dataset", name, "--input", "d.json"], &[name, known]);
    }
}

#[test]
fn files_of_other_data_sets_are_refused() {
    for (dataset, option, message) in [
        ("tatqa", "--pool", "--pool is for finqa, not for tatqa"),
        ("finqa", "--passages", "--passages is for hybridqa, not for finqa"),
        ("native", "--tables", "--tables is for hybridqa, hitab and aitqa, not for native"),
    ] {
        refused(&["--dataset", dataset, "--input", "d.json", option, "d.json"], &[message]);
    }
    refused(&["--dataset", "hitab", "--input", "d.json"], &["--tables names no file; hitab has its tables in files"]);
}
