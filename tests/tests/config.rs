//! Configs: what can be said, and what is said about a wrong one.

use std::collections::BTreeSet;
use std::path::Path;

use tabsegnet_tests::{TINY, Work};
use toml::{Table, Value};

/// Every key with its value, as `section.key`.
fn keys(text: &str) -> Vec<(String, Value)> {
    fn collect(prefix: &str, table: Table, keys: &mut Vec<(String, Value)>) {
        for (key, value) in table {
            match value {
                Value::Table(below) => collect(&format!("{prefix}{key}."), below, keys),
                value => keys.push((format!("{prefix}{key}"), value)),
            }
        }
    }
    let mut found = Vec::new();
    collect("", toml::from_str(text).expect("TOML"), &mut found);
    found
}

fn print_config(work: &Work, arguments: &[&str]) -> String {
    work.train(&[&["--print-config"], arguments].concat()).ok().stdout
}

#[test]
fn print_config_holds_every_key_and_reads_back_the_same() {
    let work = Work::new();
    let printed = print_config(&work, &["--set", "task.seed=7"]);
    assert!(!work.path("out").exists(), "--print-config trains");
    work.write("config.toml", &printed);
    assert_eq!(print_config(&work, &[]), printed);

    // A config that says nothing prints the same keys; those of the files that come with the
    // project are among them.
    let names = |text: &str| keys(text).into_iter().map(|(key, _)| key).collect::<BTreeSet<String>>();
    let all = names(&printed);
    work.write("config.toml", "");
    assert_eq!(names(&print_config(&work, &[])), all);
    let configs = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs");
    // Under their names, since they extend each other.
    for directory in ["", "parts/"] {
        for file in std::fs::read_dir(format!("{configs}/{directory}")).expect("configs") {
            let path = file.expect("an entry").path();
            if path.is_file() {
                let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
                work.write(&format!("{directory}{name}"), std::fs::read(&path).expect("a file"));
            }
        }
    }
    let shipped =
        ["", "paper"].map(|directory| std::fs::read_dir(Path::new(configs).join(directory)).expect("configs"));
    for shipped in shipped.into_iter().flatten() {
        let path = shipped.expect("an entry").path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a file");
        let mut own = names(&text);
        own.remove("extends"); // what is printed stands by itself
        assert!(own.is_subset(&all), "{own:?}");
        work.write("config.toml", &text);
        assert_eq!(names(&print_config(&work, &[])), all);
    }
    for key in ["task.kind", "data.bm25.k1", "graph.cell_text", "encoder.max_tokens", "segmenter.kind", "model.layers"]
    {
        assert!(all.contains(key), "{key}");
    }
}

#[test]
fn every_printed_key_can_be_set() {
    let work = Work::new();
    let printed = print_config(&work, &[]);
    work.write("config.toml", "");
    let arguments: Vec<String> = keys(&printed).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
    let set: Vec<&str> = arguments.iter().flat_map(|argument| ["--set", argument]).collect();
    assert_eq!(print_config(&work, &set), printed);
}

#[test]
fn the_config_in_a_checkpoint_is_the_whole_config() {
    let work = Work::trained();
    assert_eq!(work.text("out/best/config.toml"), print_config(&work, &[]));
}

#[test]
fn a_named_device_that_is_not_there_is_an_error() {
    let work = Work::trained();
    work.write("report.json", tabsegnet_tests::report().to_string());
    let ask = ["--document", "report.json", "--question", "revenue?", "--device"];
    let mut missing = vec![("gpu", 2, "expected auto, cpu, wgpu or cuda"), ("cuda", 2, "--features cuda")];
    if cfg!(not(feature = "wgpu")) {
        missing.push(("wgpu", 2, "--features wgpu"));
    }
    for (device, code, message) in missing {
        work.train(&["--device", device]).fails(code, &[message]);
        work.evaluate(&["--device", device]).fails(code, &[message]);
        work.infer(&[ask.as_slice(), &[device]].concat()).fails(code, &[message]);
    }
    for device in ["auto", "cpu"] {
        work.infer(&[ask.as_slice(), &[device]].concat()).ok();
    }
}

#[test]
fn an_encoder_that_is_not_there_is_wrong_usage() {
    let work = Work::with(TINY);
    work.train(&["--set", "encoder.model=./nowhere"])
        .fails(2, &["./nowhere: there is no such directory", "encoder.model"]);
    work.train(&["--set", "encoder.kind=bert"]).fails(2, &["encoder.model"]);
    work.train(&["--set", "segmenter.kind=t6"]).fails(2, &["t6"]);
    std::fs::create_dir(work.path("empty")).expect("a directory");
    work.train(&["--set", "encoder.model=empty"]).fails(1, &["empty", "config.json"]);
}
