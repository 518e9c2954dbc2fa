use std::collections::BTreeSet;
use std::fs;

use super::*;

fn load(text: &str, overrides: &[&str]) -> Result<Config, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    fs::write(&file, text).unwrap();
    Config::load(&file, &overrides.iter().map(|&s| s.to_owned()).collect::<Vec<_>>())
}

fn message(text: &str, overrides: &[&str]) -> String {
    load(text, overrides).unwrap_err().to_string()
}

#[test]
fn an_empty_file_is_the_defaults_with_widths_filled_in() {
    let config = load("", &[]).unwrap();
    assert_eq!((config.model.d_in, config.model.d_out, config.model.d_edge, config.model.layers), (128, 256, 128, 1));
    let base = load("[model]\npreset = \"base\"\nd_out = 7", &[]).unwrap();
    assert_eq!((base.model.d_in, base.model.d_out, base.model.d_edge), (120, 7, 10));
}

#[test]
fn what_print_config_prints_reads_back_as_the_same() {
    let config = load("[task]\nseed = 9\n[data]\ntrain = [\"a\"]", &[]).unwrap();
    assert_eq!(load(&config.to_toml().unwrap(), &[]).unwrap(), config);
    let keys: Vec<String> = config.to_toml().unwrap().lines().map(str::to_owned).collect();
    assert!(keys.contains(&"learning_rate = 0.001".to_owned()));
    assert!(keys.contains(&"precision = \"f32\"".to_owned()));
}

#[test]
fn the_page_of_settings_has_every_key_with_its_default() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md")).unwrap();
    let mut paths = Vec::new();
    keys::paths("", &known().unwrap(), &mut paths);
    let is_section = |path: &&String| paths.iter().any(|other| other.starts_with(&format!("{path}.")));
    // A judge has the keys of a language model, a part of a mix those of the section that it is in.
    let is_elsewhere = |path: &&String| path.starts_with("judge.") || path.starts_with("data.parts[0].");
    let keys = paths.iter().filter(|path| !is_section(path) && !is_elsewhere(path));
    let keys: BTreeSet<String> = keys.map(|path| path.replace("[0]", "[]")).collect();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let listed: BTreeSet<String> = rows.map(|(key, _)| key.to_owned()).collect();
    assert_eq!(listed, keys, "tools/scripts/settings.py writes the page anew");
    let (defaults, mut section) = (load("", &[]).unwrap().to_toml().unwrap(), "");
    for line in defaults.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if let Some((key, value)) = line.split_once(" = ")
            && !section.starts_with("judge")
        {
            let row = format!("| `{section}.{key}` | `{value}` |");
            assert!(page.contains(&row), "{row}: tools/scripts/settings.py writes the page anew");
        }
    }
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let typo = message("[optimisation]\nlerning_rate = 1", &[]);
    assert!(
        typo.contains("unknown key optimisation.lerning_rate; the nearest known key is optimisation.learning_rate"),
        "{typo}"
    );
    let misplaced = message("epochs = 1", &[]);
    assert!(misplaced.contains("nearest known key is optimisation.epochs"), "{misplaced}");
    assert!(message("[modle]\n", &[]).contains("nearest known key is model "));
    // One letter from data.root, too.
    assert!(message("[data]\npoot = []", &[]).contains("nearest known key is data.pool "));
    assert!(message("[data.bm25]\nk2 = 1", &[]).contains("nearest known key is data.bm25.k1"));
    assert!(
        message("", &["model.layer=1"])
            .contains("--set: unknown key model.layer; the nearest known key is model.layers")
    );
}

#[test]
fn settings_of_gtr_have_the_papers_symbols_too() {
    let config = load("[corpus.gtr]\nK = 5\nk = 7\n\"τ\" = 0.4", &["corpus.gtr.α=0.5", "corpus.gtr.k=8"]).unwrap();
    let gtr = config.corpus.gtr;
    assert_eq!((gtr.clusters, gtr.typical, gtr.tau, gtr.alpha), (5, 8, 0.4, 0.5));
}

#[test]
fn wrong_types_name_the_line() {
    let wrong = message("[task]\nseed = 1\n[optimisation]\nepochs = \"ten\"", &[]);
    assert!(wrong.contains("line 4") && wrong.contains("epochs"), "{wrong}");
    assert!(
        message("[task]\nkind = \"rankr\"", &[])
            .contains("unknown variant `rankr`, expected one of `ranker`, `segmenter`, `static-encoder`")
    );
    assert!(message("[task\n", &[]).contains("line 1"));
    assert!(
        message("", &["optimisation.precision=f64"])
            .contains("unknown variant `f64`, expected one of `f32`, `bf16`, `f16`")
    );
    assert!(message("", &["optimisation.epochs=ten"]).contains("--set optimisation.epochs=ten: invalid type"));
}

#[test]
fn keys_of_a_mix_are_checked_part_by_part() {
    let mix = "[data]\nkind = \"mix\"\n[[data.parts]]\nkind = \"tatqa\"\n[[data.parts]]\nkind = \"hitab\"\nlimit = 9\n";
    let config = load(mix, &[]).unwrap();
    assert_eq!((config.data.parts.len(), config.data.parts[1].limit), (2, 9));
    assert_eq!(load(&config.to_toml().unwrap(), &[]).unwrap(), config);
    let typo = message(&format!("{mix}tabels = [\"t\"]\n"), &[]);
    assert!(typo.contains("unknown key data.parts[1].tabels; the nearest known key is data"), "{typo}");
    assert!(typo.contains("tables (--print-config"), "{typo}");
    let below = message(&format!("{mix}[data.parts.bm25]\nk2 = 1\n"), &[]);
    assert!(below.contains("unknown key data.parts[1].bm25.k2"), "{below}");
}

#[test]
fn set_overrides_one_key() {
    let config =
        load("[task]\nseed = 1", &["task.seed=2", "data.train=[\"a b\"]", "output.directory=runs/x y"]).unwrap();
    assert_eq!((config.task.seed, config.output.directory.as_str()), (2, "runs/x y"));
    assert_eq!(config.data.train, ["a b"]);
    assert!(message("", &["task.seed"]).contains("expected section.key=value"));
    assert!(message("", &["task=1"]).contains("is a section"));
    assert!(message("", &["task.seed.x=1"]).contains("unknown key task.seed.x"));
}

#[test]
fn values_out_of_range_are_refused() {
    for (set, expected) in [
        ("optimisation.epochs=0", "optimisation.epochs is 0; expected at least 1"),
        ("optimisation.learning_rate=nan", "learning_rate is NaN"),
        ("optimisation.learning_rate=-1.0", "learning_rate is -1"),
        ("optimisation.beta_1=1.0", "beta_1 is 1"),
        ("optimisation.weight_decay=-0.1", "weight_decay"),
        ("data.bm25.k1=-1.0", "data.bm25.k1 is -1; expected 0 or more"),
        ("data.bm25.b=1.5", "data.bm25.b is 1.5; expected from 0 to 1"),
        ("data.synthetic.train_documents=1000000000000", "data.synthetic is 1000000000000; expected a million"),
        ("segmenter_training.new.proposals=true", "false without segmenter_training.new.pointers"),
    ] {
        assert!(message("", &[set]).contains(expected), "{}", message("", &[set]));
    }
}

#[test]
fn the_digest_covers_what_weights_depend_on() {
    let digest = |overrides: &[&str]| load("", overrides).unwrap().digest().unwrap();
    assert_eq!(digest(&[]), digest(&["output.directory=elsewhere"]));
    assert_ne!(digest(&[]), digest(&["task.seed=1"]));
}

#[test]
fn a_contrastive_stage_needs_filings_and_a_temperature() {
    let section = |keys: &str| message(&format!("[static_encoder.contrastive]\n{keys}"), &[]);
    assert!(section("epochs = 1").contains("static_encoder.contrastive.filings is []; expected filings"));
    assert!(section("held_out = [\"a.html\"]").contains("static_encoder.contrastive.filings is []"));
    assert!(
        section("temperature = 0.0").contains("static_encoder.contrastive.temperature is 0; expected a number above")
    );
    assert!(section("weight = -1.0").contains("static_encoder.contrastive.weight is -1"));
    assert!(
        message("", &["static_encoder.batch_size=0"]).contains("static_encoder.batch_size is 0; expected at least 1")
    );
    load("[static_encoder.contrastive]\nepochs = 1\nfilings = [\"a\"]", &[]).unwrap();
}

#[test]
fn regression_the_config_of_finqa_begins_with_weights_of_its_own_features_and_model() {
    let shipped = |name: &str| {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/").to_owned() + name;
        Config::load(Path::new(&file), &[]).unwrap()
    };
    let (first, then) = (shipped("pretraining.toml"), shipped("finqa.toml"));
    assert_eq!(first.features, then.features);
    assert_eq!(first.model, then.model);
    assert_eq!(first.encoder, then.encoder);
}
