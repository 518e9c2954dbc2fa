//! Measuring methods on the dev part and writing the report.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use burn::tensor::Device;
use tabsegnet::baselines::{Baseline, FeatureTrees, Fusion, Resources, Retriever};
use tabsegnet::ranking::ranking;
use tabsegnet::scores::Scorer;
use tabsegnet::{Embedded, check_identities, table};
use tabsegnet_datasets::mix::dataset_of;
use tabsegnet_encoder::Splade;
use tabsegnet_evaluation::trec::{JudgedQuestion, RankedQuestion, write_qrels, write_run};
use tabsegnet_evaluation::{
    Evidence, GoldRanks, Measure, MethodRun, QuestionInfo, QuestionMeasures, Report, ReportInput, Resampling,
    rank_order,
};
use tabsegnet_graph::NodeKind;
use tabsegnet_lexical::Bm25Config;
use tabsegnet_ranker::Inference;
use tabsegnet_ranker::checkpoint::{self, Checkpoint};
use tabsegnet_store::eprintln;

use crate::config::{Config, EvaluationConfig};
use crate::inputs::{Encoding, Input, short};
use crate::language_model::{LanguageModel, ModelRetriever};
use crate::progress::Progress;
use crate::trees::feature_trees;

/// The scores of one method: for each question one a node.
struct Scored {
    name: String,
    description: String,
    scores: Vec<Vec<f32>>,
    seconds: f64,
}

/// Reads checkpoints that fit the config's encoder and segmenter.
pub fn open_checkpoints(directories: &[PathBuf], encoding: &Encoding, device: &Device) -> Result<Vec<Checkpoint>> {
    let mut checkpoints = Vec::with_capacity(directories.len());
    for directory in directories {
        let checkpoint = checkpoint::read(directory, device)?;
        let parts = [
            ("encoder", checkpoint.manifest.encoder.as_str(), encoding.encoder.identity()),
            ("segmenter", &checkpoint.manifest.segmenter, encoding.expected_segmenter(&checkpoint.manifest)),
        ];
        check_identities(directory, &parts)?;
        anyhow::ensure!(
            encoding.has_features_of(&checkpoint)?,
            "{}: was trained with other features ([features]) than the config has; measure it with a config of its own, or \
             with --config {}",
            directory.display(),
            directory.join("config.toml").display()
        );
        anyhow::ensure!(
            checkpoint.manifest.model.features == 0 || checkpoint.manifest.words == encoding.featuriser.words(),
            "{}: was trained with other word vectors; use the static encoder that it was trained with",
            directory.display()
        );
        if let Some(warning) = checkpoint.warning() {
            eprintln!("warning: {warning}");
        }
        checkpoints.push(checkpoint);
    }
    Ok(checkpoints)
}

/// What is measured on, and what with.
pub struct Inputs<'a> {
    /// The encoder and what else turns texts into vectors.
    pub encoding: &'a Encoding,
    /// The part that is measured.
    pub dev: &'a Input,
    /// The part that baselines learn from; needed where [`needs_training`].
    pub training: Option<&'a Input>,
    /// For the baseline `llm`.
    pub model: Option<&'a LanguageModel>,
}

/// Whether a baseline learns from the training part.
pub fn needs_training(config: &Config) -> bool {
    config.evaluation.baselines.iter().any(|baseline| matches!(baseline, Baseline::Sum | Baseline::Trees))
}

/// What baselines take that has to be opened or tuned first.
struct Prepared {
    splade: Option<Splade>,
    dense_weight: Option<f32>,
    trees: Option<FeatureTrees>,
    retriever: Option<ModelRetriever>,
}

impl Prepared {
    fn new(config: &Config, inputs: &Inputs<'_>) -> Result<Self> {
        let EvaluationConfig { baselines, splade, splade_revision, .. } = &config.evaluation;
        let open = || Splade::open(splade, splade_revision, "evaluation.splade");
        let learns = |baseline| inputs.training.filter(|_| baselines.contains(&baseline));
        Ok(Self {
            splade: baselines.contains(&Baseline::Splade).then(open).transpose()?,
            dense_weight: learns(Baseline::Sum)
                .map(|training| dense_weight(&training.embedded, config.data.bm25))
                .transpose()?,
            trees: learns(Baseline::Trees).map(|training| feature_trees(config, &training.embedded)).transpose()?,
            retriever: inputs.model.filter(|_| baselines.contains(&Baseline::Llm)).map(|model| model.retriever(config)),
        })
    }

    fn borrow<'a>(&'a self, config: &Config, encoding: &'a Encoding) -> Resources<'a> {
        Resources {
            bm25: config.data.bm25,
            encoder: encoding.encoder.as_ref(),
            splade: self.splade.as_ref(),
            dense_weight: self.dense_weight,
            trees: self.trees.as_ref(),
            retriever: self.retriever.as_ref().map(|retriever| retriever as &dyn Retriever),
        }
    }
}

/// The weight of dense beside BM25 with the highest MAP on `training`, in steps of 0.05.
fn dense_weight(training: &Embedded, bm25: Bm25Config) -> Result<f32> {
    let fusion = Fusion::new(training, bm25);
    let mut best = (f64::NEG_INFINITY, 0.0);
    for step in 0..=20_u8 {
        let weight = f32::from(step) / 20.0;
        let mut total = 0.0;
        for (question, scores) in training.questions.iter().zip(fusion.sum(weight)) {
            if !question.gold.is_empty() {
                total += QuestionMeasures::of(&GoldRanks::of_scores(&scores, &question.gold)?).average_precision;
            }
        }
        if total > best.0 {
            best = (total, weight);
        }
    }
    Ok(best.1)
}

/// Measures the checkpoints and the baselines, writes `report.json`, `report.md`, `report.html`,
/// `qrels.trec` and `runs/METHOD.trec` into `output`, and returns the report.
///
/// # Errors
/// A baseline without what it takes: the weighted sum and trees without a training part, from which they
/// learn; trees without features.
pub fn evaluate(
    config: &Config,
    inputs: &Inputs<'_>,
    checkpoints: &[Checkpoint],
    device: &Device,
    output: &Path,
) -> Result<Report> {
    let dev = inputs.dev;
    let embedded = &dev.embedded;
    let baselines = &config.evaluation.baselines;
    let count = checkpoints.len() + baselines.len();
    let measured: Vec<usize> =
        (0..embedded.questions.len()).filter(|&question| !embedded.questions[question].gold.is_empty()).collect();
    let mut methods = Vec::new();
    let mut progress = Progress::new("evaluate", count);
    let mut add = |name: String, description: String, score: &mut dyn FnMut() -> Result<Vec<Vec<f32>>>| -> Result<()> {
        let started = Instant::now();
        let scores = score()?;
        let seconds = started.elapsed().as_secs_f64() / scores.len().max(1) as f64;
        methods.push(Scored { name, description, scores, seconds });
        progress.set(methods.len(), count, "methods");
        Ok(())
    };
    for (checkpoint, name) in checkpoints.iter().zip(names(checkpoints)) {
        let manifest = &checkpoint.manifest;
        let due = if manifest.reranker_pending { ", its reranker not trained yet" } else { "" };
        let description = format!("checkpoint, epoch {}, seed {}{due}", manifest.epoch, manifest.seed);
        add(name, description, &mut || scored(checkpoint, embedded, device))?;
    }
    let resources = Prepared::new(config, inputs)?;
    for baseline in baselines {
        let mut description = baseline.description().to_owned();
        if let (Baseline::Sum, Some(weight)) = (baseline, resources.dense_weight) {
            description += &format!(": {weight:.2} for dense");
        }
        let borrowed = resources.borrow(config, inputs.encoding);
        add(baseline.name().to_owned(), description, &mut || Ok(baseline.scores(embedded, &borrowed)?))?;
    }
    let mut notes = Vec::new();
    if let Some(retriever) = &resources.retriever {
        let said = retriever.said()?;
        eprintln!("{said}");
        notes.push(said);
    }
    progress.finish(&format!("{} methods on {} questions", methods.len(), measured.len()));

    write_trec(embedded, &measured, &methods, output)?;
    let report = Report::build(input(config, inputs, &measured, methods, notes)?)?;
    report.write(output)?;
    Ok(report)
}

fn scored(checkpoint: &Checkpoint, embedded: &Embedded, device: &Device) -> Result<Vec<Vec<f32>>> {
    let Checkpoint { model, others, reranker, manifest, .. } = checkpoint;
    let inference = Inference::new(model.clone(), &manifest.model, manifest.d_enc, device).with(others.iter().cloned());
    let scorer = Scorer { inference: &inference, reranker: reranker.as_ref() };
    Ok(scorer.scores(embedded)?)
}

/// A checkpoint is called after its directory; several of one name by their whole paths.
fn names(checkpoints: &[Checkpoint]) -> Vec<String> {
    let short = |checkpoint: &Checkpoint| {
        let name = checkpoint.directory.file_name().map(|name| name.to_string_lossy().into_owned());
        format!("tabsegnet-{}", name.unwrap_or_else(|| "checkpoint".into()))
    };
    let whole = |checkpoint: &Checkpoint| {
        format!("tabsegnet-{}", checkpoint.directory.display()).replace(['/', '\\', ' '], "-")
    };
    let shorts: Vec<String> = checkpoints.iter().map(short).collect();
    let unique = |name: &String| shorts.iter().filter(|other| *other == name).count() == 1;
    if shorts.iter().all(unique) { shorts } else { checkpoints.iter().map(whole).collect() }
}

fn write_trec(embedded: &Embedded, measured: &[usize], methods: &[Scored], output: &Path) -> Result<()> {
    let node_id = |question: usize, node: u32| embedded.document_of(question).nodes()[node as usize].id.clone();
    let judged: Vec<JudgedQuestion> = measured
        .iter()
        .map(|&question| {
            let query = &embedded.questions[question];
            let gold = query.gold.iter().map(|&node| node_id(question, node)).collect();
            JudgedQuestion { question: query.id.clone(), gold }
        })
        .collect();
    write_qrels(&output.join("qrels.trec"), &judged)?;
    for method in methods {
        let ranked: Vec<RankedQuestion> = measured
            .iter()
            .map(|&question| {
                let scores = &method.scores[question];
                let order = rank_order(scores).into_iter();
                let nodes = order.map(|node| (node_id(question, node), scores[node as usize])).collect();
                RankedQuestion { question: embedded.questions[question].id.clone(), nodes }
            })
            .collect();
        write_run(&output.join("runs").join(format!("{}.trec", method.name)), &method.name, &ranked)?;
    }
    Ok(())
}

fn input(
    config: &Config,
    inputs: &Inputs<'_>,
    measured: &[usize],
    methods: Vec<Scored>,
    notes: Vec<String>,
) -> Result<ReportInput> {
    let dev = inputs.dev;
    let embedded = &dev.embedded;
    let mut left_out: Vec<(String, usize)> =
        dev.statistics.left_out.iter().map(|(reason, &count)| (reason.clone(), count)).collect();
    if measured.len() < embedded.questions.len() {
        left_out.push(("no gold node is known".into(), embedded.questions.len() - measured.len()));
    }
    let questions = measured
        .iter()
        .map(|&question| {
            let query = &embedded.questions[question];
            let document = embedded.document_of(question);
            let in_text = |&&node: &&u32| document.nodes()[node as usize].kind == NodeKind::Passage;
            let sentences = query.gold.iter().filter(in_text).count();
            Ok(QuestionInfo {
                id: query.id.clone(),
                dataset: match config.data.is_mix() {
                    true => dataset_of(&query.id).to_owned(),
                    false => String::new(),
                },
                document: document.id.clone(),
                evidence: Evidence::of(sentences < query.gold.len(), sentences > 0)
                    .context("a question without gold")?,
                gold: query.gold.len(),
                nodes: document.nodes().len(),
            })
        })
        .collect::<Result<_>>()?;
    let methods = methods
        .into_iter()
        .map(|method| {
            let ranks =
                |&question: &usize| GoldRanks::of_scores(&method.scores[question], &embedded.questions[question].gold);
            Ok(MethodRun {
                rankings: measured.iter().map(ranks).collect::<Result<_, _>>()?,
                name: method.name,
                description: method.description,
                seconds_per_question: Some(method.seconds),
            })
        })
        .collect::<Result<_>>()?;
    let encoder = match config.encoder.model.as_str() {
        "" => "static, shipped".to_owned(),
        model => model.to_owned(),
    };
    Ok(ReportInput {
        title: "Evidence retrieval".into(),
        created: chrono::Utc::now().format("%Y-%m-%d %H:%M UTC").to_string(),
        dataset: config.data.name().to_owned(),
        part: "dev".into(),
        questions_left_out: left_out,
        settings: vec![
            ("data".into(), short(&dev.digest).to_owned()),
            ("distractor tables".into(), crate::card::distractors(&config.data)),
            ("cell text".into(), format!("{:?}", config.graph.cell_text).to_lowercase()),
            ("encoder".into(), encoder),
            ("segmenter".into(), inputs.encoding.segmenter_name(config)),
        ],
        questions,
        methods,
        notes: [vec![
            "Intervals are 95 % bootstrap intervals of the mean, p-values those of a paired randomisation test, both by \
             document; \"p, Holm\" corrects for all pairs of methods of this report. Seconds a question are the scoring \
             alone, texts already encoded."
                .into(),
        ], notes].concat(),
        resampling: Resampling {
            resamples: config.evaluation.resamples,
            rounds: config.evaluation.rounds,
            seed: config.task.seed,
        },
    })
}

/// The main measures as lines for a terminal.
pub fn summary(report: &Report) -> String {
    let shown = [
        Measure::Recall1,
        Measure::Recall5,
        Measure::Recall10,
        Measure::Recall20,
        Measure::Map,
        Measure::Mrr,
        Measure::Ndcg10,
    ];
    let width = report.methods.iter().map(|method| method.name.len()).max().unwrap_or_default().max(6);
    let mut text = format!("{:width$}", "method");
    for measure in shown {
        text += &format!(" {:>9}", measure.name());
    }
    for method in &report.methods {
        text += &format!("\n{:width$}", method.name);
        for measure in shown {
            text += &method.estimate(measure).map_or_else(String::new, |estimate| format!(" {:>9.4}", estimate.mean));
        }
    }
    text
}

/// Example rankings: the first questions, five nodes each, gold nodes marked.
pub fn examples(embedded: &Embedded, checkpoint: &Checkpoint, device: &Device, count: usize) -> Result<String> {
    let scores = scored(checkpoint, embedded, device)?;
    let mut text = String::new();
    for (question, scores) in scores.iter().enumerate().take(count) {
        let gold = &embedded.questions[question].gold;
        let nodes = embedded.document_of(question).nodes();
        let ids: Vec<&str> = gold.iter().map(|&node| nodes[node as usize].id.as_str()).collect();
        text += &table::render(&ranking(embedded, question, scores, 5), &ids, table::columns());
        text.push('\n');
    }
    Ok(text)
}
