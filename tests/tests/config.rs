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
    let work = Work::new();
    work.train(&["--set", "task.seed=7"]).ok();
    assert_eq!(work.text("out/best/config.toml"), print_config(&work, &["--set", "task.seed=7"]));
}

#[test]
fn a_wrong_config_is_wrong_usage_and_says_what_was_meant() {
    let cases: [(&str, &str, &[&str]); 8] = [
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
        ("no files", "[data]\nkind = \"finqa\"", &["data.train: names no file"]),
        (
            "no data",
            "[data]\nroot = \"nowhere\"\ntrain = [\"t.json\"]\ndev = [\"d.json\"]",
            &["data.train: nowhere/t.json: there is no such file"],
        ),
    ];
    for (what, text, parts) in cases {
        let work = Work::with(text);
        eprintln!("{what}");
        work.train(&["--set", "output.cache=cache", "--set", "output.directory=out"]).fails(2, parts);
        assert!(!work.path("out/state").exists() && !work.path("out/best").exists());
    }
    let work = Work::new();
    for (set, parts) in [
        ("optimisation.epoch=1", ["--set: unknown key optimisation.epoch", "optimisation.epochs"]),
        ("optimisation.epochs=ten", ["--set optimisation.epochs=ten", "invalid type"]),
        ("task=1", ["--set task=1", "is a section"]),
        ("task.seed", ["--set task.seed", "expected section.key=value"]),
    ] {
        work.train(&["--set", set]).fails(2, &parts);
        work.evaluate(&["--set", set]).fails(2, &parts);
    }
    work.train(&["--config", "nowhere.toml"]).fails(2, &["--config"]);
    std::fs::remove_file(work.path("config.toml")).expect("it was there");
    work.train(&[]).fails(2, &["config.toml: could not read"]);
}

#[test]
fn a_named_device_that_is_not_there_is_an_error() {
    let work = Work::new();
    work.train(&[]).ok();
    work.write("report.json", tabsegnet_tests::report().to_string());
    let ask = ["--document", "report.json", "--question", "revenue?", "--device"];
    let mut missing = vec![("gpu", 2, "expected auto, cpu, wgpu or cuda"), ("cuda", 1, "--features cuda")];
    if cfg!(not(feature = "wgpu")) {
        missing.push(("wgpu", 1, "--features wgpu"));
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
fn infer_refuses_arguments_that_do_not_go_together() {
    let work = Work::new();
    for arguments in [
        &[][..],
        &["--document", "d.json"],
        &["--question", "revenue?"],
        &["--dataset", "native"],
        &["--input", "d.json"],
        &["--document", "d.json", "--question", "q", "--dataset", "native", "--input", "d.json"],
        &["--document", "d.json", "--question", "q", "--format", "yaml"],
        &["--document", "d.json", "--question", "q", "--top-k", "0"],
        &["--document", "d.json", "--question", "q", "--top-k", "-1"],
        &["--dataset", "native", "--input", "d.json", "--graph", "g.dot"],
    ] {
        work.infer(arguments).fails(2, &[]);
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
