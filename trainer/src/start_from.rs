//! The checkpoint that a training begins with.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};
use burn::tensor::Device;
use serde::Serialize;
use tabsegnet::check_identities;
use tabsegnet::settings::RankerSettings;
use tabsegnet_ranker::ModelConfig;
use tabsegnet_ranker::checkpoint::{self, Checkpoint};

use crate::config::Config;
use crate::inputs::Encoding;

/// The checkpoint of `optimisation.start_from`, where it is set. It may know fewer edge types than the graph has
/// ([`with_edge_types_of`]).
///
/// # Errors
/// One that is damaged, or whose model, encoder, features or word vectors are not those of the config.
pub fn beginning(config: &Config, encoding: &Encoding, device: &Device) -> Result<Option<Checkpoint>> {
    let directory = Path::new(&config.optimisation.start_from);
    if directory.as_os_str().is_empty() {
        return Ok(None);
    }
    let beginning =
        checkpoint::read(directory, &device.clone().autodiff()).context("optimisation.start_from cannot be used")?;
    let manifest = &beginning.manifest;
    let refused = |what: &str, differences: String| {
        anyhow!(
            "optimisation.start_from: {} was trained with other {what} than the config has: {differences}; give one like \
             the config's, or leave the key out to start with random weights",
            directory.display()
        )
    };
    let other = differences(&manifest.model, &config.model)?;
    ensure!(other.is_empty(), refused("settings of [model]", other));
    let parts = [
        ("encoder", manifest.encoder.as_str(), encoding.encoder.identity()),
        ("word vectors", &manifest.words, encoding.featuriser.words()),
    ];
    check_identities(directory, &parts).context("optimisation.start_from cannot be used")?;
    if !encoding.has_features_of(&beginning)? {
        let file = directory.join("config.toml");
        let features = RankerSettings::parse(&file, &beginning.config)?.features;
        return Err(refused("settings of [features]", differences(&features, &config.features)?));
    }
    Ok(Some(beginning))
}

/// The config of a training that begins with a checkpoint: with the edge types that its weights know. Edges of others carry
/// no message, as where such a checkpoint ranks.
#[must_use]
pub fn with_edge_types_of(beginning: &Checkpoint, config: &Config) -> Config {
    let edge_type_names = beginning.manifest.model.edge_type_names.clone();
    Config { model: ModelConfig { edge_type_names, ..config.model.clone() }, ..config.clone() }
}

/// The settings that are not the same in both: `d_in: 64 there, 5 here`.
fn differences(there: &impl Serialize, here: &impl Serialize) -> Result<String> {
    let settings = |of: Result<serde_json::Value, serde_json::Error>| -> Result<serde_json::Map<_, _>> {
        Ok(of?.as_object().cloned().unwrap_or_default())
    };
    let (there, here) = (settings(serde_json::to_value(there))?, settings(serde_json::to_value(here))?);
    let keys: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let shown = |of: Option<&serde_json::Value>| of.map_or_else(|| "none".to_owned(), serde_json::Value::to_string);
    let different = keys.into_iter().filter(|key| there.get(*key) != here.get(*key));
    let different: Vec<String> =
        different.map(|key| format!("{key}: {} there, {} here", shown(there.get(key)), shown(here.get(key)))).collect();
    Ok(different.join(", "))
}
