//! What trait `Dataset` promises, for every registered data set, on a few records in its published form:
//! `tests/published/KIND` has the files, the section `[data]` as `config.json`, and what is read as `expected.jsonl`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tabsegnet_datasets::config::{DataConfig, Part};
use tabsegnet_datasets::native::sample_json;
use tabsegnet_datasets::prepared::{PrepareSettings, prepare_in_memory};
use tabsegnet_datasets::sample::{Labels, Question, Samples};
use tabsegnet_datasets::source::Source;
use tabsegnet_datasets::{Dataset, Inputs};
use tabsegnet_generate::registry;
use tabsegnet_store::Digest;

/// A data set with the section of its example.
struct Example {
    dataset: &'static dyn Dataset,
    config: DataConfig,
}

impl Example {
    fn all() -> impl Iterator<Item = Self> {
        registry().iter().map(Self::of).collect::<Vec<_>>().into_iter()
    }

    fn of(dataset: &'static dyn Dataset) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/published").join(dataset.name());
        let text = fs::read_to_string(root.join("config.json")).unwrap_or_else(|error| {
            panic!("{}: {error}; every data set has an example in its published form there", root.display())
        });
        let config: DataConfig = serde_json::from_str(&text).unwrap();
        let root = root.display().to_string();
        Self { dataset, config: DataConfig { kind: dataset.name().into(), root, ..config } }
    }

    fn inputs(&self, part: Part) -> Inputs {
        self.dataset.inputs(&self.config, part).unwrap()
    }

    fn read(&self, inputs: &Inputs, labels: Labels) -> Samples {
        self.dataset.read(inputs, &self.config, labels).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Both parts at once, as far as files are read.
    fn all_files(&self) -> Inputs {
        let mut inputs = self.inputs(Part::Dev);
        inputs.files.splice(..0, self.inputs(Part::Train).files);
        inputs
    }
}

fn documents(samples: &Samples) -> Vec<&str> {
    samples.samples.iter().map(|sample| sample.document.id.as_str()).collect()
}

fn questions(samples: &Samples) -> impl Iterator<Item = &Question> {
    samples.samples.iter().flat_map(|sample| &sample.questions)
}

fn ids(samples: &Samples) -> HashSet<&str> {
    questions(samples).map(|question| question.id.as_str()).collect()
}

#[test]
fn examples_are_read_as_expected() {
    for example in Example::all() {
        let inputs = example.all_files();
        let samples = example.read(&inputs, Labels::Required);
        let mut found: String = samples.samples.iter().map(|sample| sample_json(sample) + "\n").collect();
        for left_out in &samples.left_out {
            found += &format!("left out: {}: {}\n", left_out.question, left_out.reason);
        }
        let expected = Path::new(&example.config.root).join("expected.jsonl");
        let expected = fs::read_to_string(&expected).unwrap_or_else(|error| panic!("{}: {error}", expected.display()));
        for (found, expected) in found.lines().zip(expected.lines()) {
            assert_eq!(found, expected, "{}", example.dataset.name());
        }
        assert_eq!(found.lines().count(), expected.lines().count(), "{}", example.dataset.name());
    }
}

#[test]
fn the_same_inputs_give_the_same_samples_in_the_order_of_the_files() {
    for example in Example::all() {
        let [train, dev] = [Part::Train, Part::Dev].map(|part| example.inputs(part));
        let samples = example.read(&dev, Labels::Required);
        assert!(!samples.samples.is_empty(), "{}: the example's dev part is empty", example.dataset.name());
        assert_eq!(example.read(&dev, Labels::Required), samples);
        if dev.files.is_empty() {
            continue;
        }
        // What the first file names comes first.
        let first = example.read(&Inputs { files: train.files, ..dev.clone() }, Labels::Required);
        let both = example.read(&example.all_files(), Labels::Required);
        let mut expected = documents(&first);
        expected.extend(documents(&samples).into_iter().filter(|id| !documents(&first).contains(id)));
        assert_eq!(documents(&both), expected);
        let order = |samples: &Samples, id: &str| -> Vec<String> {
            let sample = samples.samples.iter().find(|sample| sample.document.id == id).unwrap();
            sample.questions.iter().map(|question| question.id.clone()).collect()
        };
        for id in documents(&first) {
            assert!(order(&both, id).starts_with(&order(&first, id)), "{id}");
        }
    }
}

#[test]
fn ids_are_unique_and_gold_and_segments_are_nodes() {
    for example in Example::all() {
        let inputs = example.all_files();
        let samples = example.read(&inputs, Labels::Required);
        let distinct: HashSet<&str> = documents(&samples).into_iter().collect();
        assert_eq!(distinct.len(), samples.samples.len(), "{}: documents", example.dataset.name());
        assert_eq!(ids(&samples).len(), questions(&samples).count(), "{}: questions", example.dataset.name());
        for question in questions(&samples) {
            assert!(!question.gold.is_empty(), "{question:?}");
            for segment in &question.segments {
                assert!(segment.nodes.iter().all(|node| question.gold.contains(node)), "{question:?}");
            }
        }
        // An id that names no node is an error here.
        let source = Source::new(example.dataset, inputs, &example.config, Labels::Required);
        prepare_in_memory(&source, &PrepareSettings::default()).unwrap();
    }
}

#[test]
fn without_need_of_gold_every_question_stays() {
    for example in Example::all() {
        let inputs = example.all_files();
        let (required, optional) = (example.read(&inputs, Labels::Required), example.read(&inputs, Labels::Optional));
        assert_eq!(documents(&optional), documents(&required));
        let (all, measured) = (ids(&optional), ids(&required));
        assert!(measured.is_subset(&all));
        assert!(all.difference(&measured).all(|id| required.left_out.iter().any(|left_out| left_out.question == *id)));
    }
}

#[test]
fn no_files_give_no_samples_and_a_file_without_records_is_named() {
    for example in Example::all() {
        let inputs = example.inputs(Part::Dev);
        let Some(file) = inputs.files.first() else { continue };
        let none = Inputs { files: Vec::new(), ..inputs.clone() };
        assert_eq!(example.read(&none, Labels::Required), Samples::default(), "{}", example.dataset.name());
        let directory = tempfile::tempdir().unwrap();
        let empty = directory.path().join(file.file_name().unwrap());
        fs::write(&empty, "").unwrap();
        let inputs = Inputs { files: vec![empty.clone()], ..inputs };
        let error = example.dataset.read(&inputs, &example.config, Labels::Required).unwrap_err().to_string();
        let name = empty.file_name().unwrap().to_str().unwrap();
        assert!(error.contains(name), "{}: {error}", example.dataset.name());
    }
}

#[test]
fn the_digest_has_every_file_and_the_part_of_what_is_generated() {
    for example in Example::all() {
        let name = example.dataset.name();
        let digest = |inputs: &Inputs| {
            let source = Source::new(example.dataset, inputs.clone(), &example.config, Labels::Required);
            source.digest(Digest::new()).unwrap().hex()
        };
        let inputs = example.inputs(Part::Dev);
        let before = digest(&inputs);
        assert_eq!(digest(&inputs), before);
        assert_ne!(digest(&example.inputs(Part::Train)), before, "{name}: the parts have one digest");
        let directory = tempfile::tempdir().unwrap();
        // Each file in turn is another one of the same name.
        let lists: [fn(&mut Inputs) -> &mut Vec<PathBuf>; 5] = [
            |inputs| &mut inputs.files,
            |inputs| &mut inputs.tables,
            |inputs| &mut inputs.passages,
            |inputs| &mut inputs.pool,
            |inputs| &mut inputs.documents,
        ];
        for list in lists {
            for index in 0..list(&mut inputs.clone()).len() {
                let mut changed = inputs.clone();
                let file = &mut list(&mut changed)[index];
                let other = directory.path().join(file.file_name().unwrap());
                fs::write(&other, [fs::read(&*file).unwrap(), b"\n".to_vec()].concat()).unwrap();
                *file = other;
                assert_ne!(digest(&changed), before, "{name}: {}", inputs.files[0].display());
            }
        }
    }
}
