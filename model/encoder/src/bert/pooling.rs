//! What sentence-transformers does before and after the model: pooling, normalisation, limits.

use serde::Deserialize;
use tabsegnet_store::read_bytes;

use crate::EncoderError;
use crate::source::Source;

/// How the token states of a text become its vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pooling {
    /// Their mean, special tokens included.
    Mean,
    /// The first one.
    Cls,
    /// The largest of each component.
    Max,
}

/// The modules of `modules.json`.
pub(crate) struct Pipeline {
    /// Directory of the model's files, `""` for the top.
    transformer: String,
    pooling: Option<String>,
    pub(crate) normalise: bool,
}

#[derive(Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(alias = "word_embedding_dimension")]
    embedding_dimension: Option<usize>,
    pooling_mode: Option<Modes>,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Modes {
    One(String),
    Several(Vec<String>),
}

#[derive(Default, Deserialize)]
struct LimitsFile {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

impl Pipeline {
    /// Reads `modules.json`; without one the model's states are averaged and not normalised.
    pub(crate) fn read(source: &Source) -> Result<Self, EncoderError> {
        let mut pipeline = Self { transformer: String::new(), pooling: None, normalise: false };
        let Some(modules) = read_json::<Vec<Module>>(source, "modules.json")? else {
            return Ok(pipeline);
        };
        for module in modules {
            // "sentence_transformers.models.Pooling", in newer files a longer path.
            match module.kind.rsplit('.').next().unwrap_or_default() {
                "Transformer" => pipeline.transformer = module.path,
                "Pooling" => pipeline.pooling = Some(module.path),
                "Normalize" => pipeline.normalise = true,
                other => {
                    return Err(EncoderError::Malformed {
                        path: (source.place() + "/modules.json").into(),
                        reason: format!(
                            "module {other:?} is not supported; supported are Transformer, Pooling and Normalize"
                        ),
                    });
                }
            }
        }
        Ok(pipeline)
    }

    /// A file of the model, as a path in the source.
    pub(crate) fn file(&self, name: &str) -> String {
        join(&self.transformer, name)
    }

    /// The pooling for states of width `hidden`.
    pub(crate) fn pooling(&self, source: &Source, hidden: usize) -> Result<Pooling, EncoderError> {
        let Some(module) = &self.pooling else {
            return Ok(Pooling::Mean);
        };
        let name = join(module, "config.json");
        let Some(file) = read_json::<PoolingFile>(source, &name)? else {
            return Err(EncoderError::MissingFile {
                place: source.place(),
                file: name,
                kind: "bert",
                expected: "the config.json of every module that modules.json names",
            });
        };
        let malformed =
            |reason: String| EncoderError::Malformed { path: format!("{}/{name}", source.place()).into(), reason };
        if let Some(width) = file.embedding_dimension.filter(|width| *width != hidden) {
            return Err(malformed(format!("pools vectors of {width} numbers; the model's config.json has {hidden}")));
        }
        let modes: Vec<String> = match file.pooling_mode {
            Some(Modes::One(mode)) => vec![mode],
            Some(Modes::Several(modes)) => modes,
            // One flag for each mode, before sentence-transformers 5.
            None => {
                let set = file.rest.iter().filter(|(_, value)| value.as_bool() == Some(true));
                let names = set.filter_map(|(key, _)| key.strip_prefix("pooling_mode_"));
                names.map(|name| name.trim_end_matches("_tokens").trim_end_matches("_token").to_owned()).collect()
            }
        };
        match modes.as_slice() {
            [] => Ok(Pooling::Mean),
            [mode] if mode == "mean" => Ok(Pooling::Mean),
            [mode] if mode == "cls" => Ok(Pooling::Cls),
            [mode] if mode == "max" => Ok(Pooling::Max),
            other => {
                Err(malformed(format!("pooling {other:?} is not supported; supported is one of mean, cls and max")))
            }
        }
    }

    /// The model's own limit on tokens, and whether it lowers the case of its texts.
    pub(crate) fn limits(&self, source: &Source) -> Result<(Option<usize>, bool), EncoderError> {
        // sentence-transformers looks for these names, for models of before they were one.
        for model in ["bert", "roberta", "distilbert", "camembert", "xlm-roberta"] {
            if let Some(file) = read_json::<LimitsFile>(source, &self.file(&format!("sentence_{model}_config.json")))? {
                return Ok((file.max_seq_length, file.do_lower_case));
            }
        }
        Ok((None, false))
    }
}

impl Pooling {
    /// One vector of `width` numbers for each of `texts`, from their tokens' `states`.
    pub(crate) fn apply(self, states: &[f32], texts: &[&[u32]], width: usize) -> Vec<f32> {
        let mut vectors = vec![0.0; texts.len() * width];
        let mut rows = states.chunks_exact(width);
        for (ids, vector) in texts.iter().zip(vectors.chunks_exact_mut(width)) {
            for (at, state) in rows.by_ref().take(ids.len()).enumerate() {
                for (sum, x) in vector.iter_mut().zip(state) {
                    *sum = match self {
                        _ if at == 0 => *x,
                        Self::Mean => *sum + x,
                        Self::Cls => *sum,
                        Self::Max => sum.max(*x),
                    };
                }
            }
            if self == Self::Mean {
                let share = ids.len().max(1) as f32;
                vector.iter_mut().for_each(|sum| *sum /= share);
            }
        }
        vectors
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

fn read_json<T: for<'a> Deserialize<'a>>(source: &Source, name: &str) -> Result<Option<T>, EncoderError> {
    let Some(path) = source.get(name)? else {
        return Ok(None);
    };
    let bytes = read_bytes(&path)?;
    let value = serde_json::from_slice(&bytes).map_err(|error| EncoderError::Malformed {
        path,
        reason: format!("not what sentence-transformers writes: {error}"),
    })?;
    Ok(Some(value))
}
