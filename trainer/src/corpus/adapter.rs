//! The adapter of questions' vectors: −log of the share that a gold table has among tables of its corpus by exp(40 cos), by
//! Adam over batches of the parts in turn.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, ensure};
use burn::module::{Module, Param, ParamId};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use rand::seq::{IndexedRandom as _, index};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_corpus::{Corpus, QueryAdapter, TableRef};

use super::{Part, fold_of};
use crate::batches::floats;
use crate::progress::Progress;

/// Numbers between the two maps; of 128 all are worth little more on questions that were held out.
const RANK: usize = 48;
/// What cosines are multiplied by.
const SCALE: f64 = 40.0;
/// What the squares of D U count in the loss.
const PENALTY: f64 = 0.01;
const LEARNING_RATE: f64 = 1e-3;
/// Steps with each part.
const STEPS: usize = 100;
/// Questions of a step, and tables beside their gold.
const QUESTIONS: usize = 256;
const TABLES: usize = 1024;
/// What is added for a table that is gold too: it is neither right nor wrong.
const MASKED: f32 = -1e9;

/// The questions of a part that are learnt from.
struct Taught<'a> {
    corpus: &'a Corpus,
    tables: Vec<TableRef>,
    /// `[questions, dim]`
    vectors: Vec<f32>,
    /// Of each question.
    gold: Vec<Vec<TableRef>>,
}

#[derive(Module, Debug)]
struct Maps {
    /// D, `[dim, rank]`
    down: Param<Tensor<2>>,
    /// U, `[rank, dim]`
    up: Param<Tensor<2>>,
}

impl Maps {
    fn new(dim: usize, rng: &mut ChaCha8Rng, device: &Device) -> Self {
        let parameter = |id: u64, values: Vec<f32>, shape: [usize; 2]| {
            let values = Tensor::from_data(TensorData::new(values, shape), device).require_grad();
            Param::initialized(ParamId::from(id), values)
        };
        let most = (3.0 / dim as f32).sqrt();
        let down = (0..dim * RANK).map(|_| rng.random_range(-most..most)).collect();
        Self { down: parameter(1, down, [dim, RANK]), up: parameter(2, vec![0.0; RANK * dim], [RANK, dim]) }
    }

    /// Unit vectors `[questions, dim]` of unit vectors.
    fn forward(&self, questions: Tensor<2>) -> Tensor<2> {
        let moved = questions.clone() + questions.matmul(self.down.val()).matmul(self.up.val());
        let square = moved.clone().powi_scalar(2).sum_dim(1);
        moved / (square + 1e-12).sqrt()
    }
}

/// An adapter learnt from all train questions but those of a fold; nothing on a request to stop.
pub(super) fn learnt(
    parts: &[Part],
    seed: u64,
    without: Option<usize>,
    stop: &AtomicBool,
) -> Result<Option<QueryAdapter>> {
    let taught: Vec<Taught<'_>> = parts.iter().map(|part| taught(part, without)).collect::<Result<_>>()?;
    let taught: Vec<Taught<'_>> = taught.into_iter().filter(|part| !part.gold.is_empty()).collect();
    let Some(first) = taught.first() else { return Ok(None) };
    let (dim, device) = (first.corpus.encoder().dim(), Device::flex().autodiff());
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut maps = Maps::new(dim, &mut rng, &device);
    let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
    let steps = STEPS * taught.len();
    let name = without.map_or_else(|| "adapter".to_owned(), |fold| format!("adapter, fold {fold}"));
    let mut progress = Progress::new(&name, steps);
    for (step, part) in (0..steps).zip(taught.iter().cycle()) {
        if stop.load(Ordering::Relaxed) {
            progress.finish("stopped");
            return Ok(None);
        }
        let (questions, tables, masks) = part.draw(dim, &mut rng, &device);
        let drawn = questions.dims()[0];
        let cosines = maps.forward(questions).matmul(tables.transpose()); // [questions, drawn + TABLES]
        let shares = log_softmax(cosines.mul_scalar(SCALE) + masks, 1);
        let own = Tensor::<2>::eye(drawn, &device);
        let right = (shares.narrow(1, 0, drawn) * own).sum();
        let moved = maps.down.val().matmul(maps.up.val()).powi_scalar(2).sum();
        let loss = moved.mul_scalar(PENALTY) - right.div_scalar(drawn as f64);
        let gradients = GradientsParams::from_grads(loss.backward(), &maps);
        // The last steps settle.
        let learning_rate = LEARNING_RATE * (1.0 - step as f64 / steps as f64);
        maps = optimiser.step(learning_rate, maps, gradients);
        let loss: f32 = floats(loss.into_data()).into_iter().sum();
        ensure!(loss.is_finite(), "the loss of the adapter is {loss} at step {}", step + 1);
        progress.set(step + 1, steps, &format!("loss {loss:.3}"));
    }
    progress.finish(&format!("of {} questions", taught.iter().map(|part| part.gold.len()).sum::<usize>()));
    let [down, up] = [&maps.down, &maps.up].map(|map| floats(map.val().into_data()));
    Ok(Some(QueryAdapter::new(down, up, RANK)))
}

fn taught(part: &Part, without: Option<usize>) -> Result<Taught<'_>> {
    let corpus = &part.corpus;
    let questions = part.train.iter().zip(&part.queries);
    let (mut vectors, mut gold) = (Vec::new(), Vec::new());
    for (question, query) in questions.filter(|(question, _)| without != Some(fold_of(question))) {
        gold.push(question.tables.iter().map(|id| corpus.find(id)).collect::<Result<_, _>>()?);
        vectors.extend_from_slice(&query.vector);
    }
    Ok(Taught { corpus, tables: corpus.tables(), vectors, gold })
}

impl Taught<'_> {
    /// Vectors of some questions and of tables, the first of which are gold of these, and what is added to their products.
    fn draw(&self, dim: usize, rng: &mut ChaCha8Rng, device: &Device) -> (Tensor<2>, Tensor<2>, Tensor<2>) {
        let drawn = index::sample(rng, self.gold.len(), QUESTIONS.min(self.gold.len())).into_vec();
        let own = drawn.iter().filter_map(|&question| self.gold[question].choose(rng).copied());
        let mut tables: Vec<TableRef> = own.collect();
        tables.extend((0..TABLES).filter_map(|_| self.tables.choose(rng)));
        let questions = drawn.iter().flat_map(|&question| &self.vectors[question * dim..(question + 1) * dim]).copied();
        let mut masks = Vec::with_capacity(drawn.len() * tables.len());
        for (row, &question) in drawn.iter().enumerate() {
            let gold: HashSet<TableRef> = self.gold[question].iter().copied().collect();
            let mask = |(at, table): (usize, &TableRef)| if at != row && gold.contains(table) { MASKED } else { 0.0 };
            masks.extend(tables.iter().enumerate().map(mask));
        }
        let tensor = |values: Vec<f32>, width: usize| {
            let shape = [values.len() / width.max(1), width];
            Tensor::from_data(TensorData::new(values, shape), device)
        };
        let vectors = tables.iter().flat_map(|table| self.corpus.vector(*table)).collect();
        (tensor(questions.collect(), dim), tensor(vectors, dim), tensor(masks, tables.len()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tabsegnet_corpus::Writer;
    use tabsegnet_datasets::tables::TableQuestion;
    use tabsegnet_encoder::{Encoder, load};

    use super::*;
    use crate::config::Config;

    const THINGS: [(&str, &str); 4] =
        [("football", "surgeon"), ("rainfall", "violin"), ("mountains", "parliament"), ("recipes", "railway")];

    /// Tables of things, and questions that speak of others: which belongs to which only they tell.
    fn part(directory: &std::path::Path) -> Part {
        let encoder: Arc<dyn Encoder> = load(&Config::default().encoder).unwrap().into();
        let file = directory.join("tables.jsonl");
        let table = |(at, (title, _)): (usize, &(&str, &str))| {
            format!(r#"{{"id": "t{at}", "title": "List of {title}", "header": ["Name"], "rows": [["a"]]}}"#)
        };
        let tables: Vec<String> = THINGS.iter().enumerate().map(table).collect();
        std::fs::write(&file, tables.join("\n")).unwrap();
        let corpus = directory.join("corpus");
        let mut writer =
            Writer::open(&corpus, encoder.as_ref(), &Config::default().encoder, &Default::default()).unwrap();
        writer.add_file(&file, &mut |_| ()).unwrap();
        writer.commit(&mut |_| ()).unwrap();
        let question = |(at, (_, about)): (usize, &(&str, &str))| TableQuestion {
            question: format!("Which {about} was the first one?"),
            tables: vec![format!("t{at}")],
            ..TableQuestion::default()
        };
        let corpus = Corpus::open_with(&corpus, encoder).unwrap();
        let train: Vec<TableQuestion> = THINGS.iter().enumerate().map(question).collect();
        let queries = train.iter().map(|question| corpus.query(&question.question).unwrap()).collect();
        Part { name: "things".into(), corpus, train, queries, dev: Vec::new() }
    }

    #[test]
    fn questions_come_to_their_tables_with_any_number_of_threads() {
        let directory = tempfile::tempdir().unwrap();
        let parts = [part(directory.path())];
        let stop = AtomicBool::new(false);
        let adapter = learnt(&parts, 0, None, &stop).unwrap().unwrap();
        let [Part { corpus, train, .. }] = &parts;
        let first = |query: &tabsegnet_corpus::Query| {
            let cosine =
                |table: &TableRef| -> f32 { corpus.vector(*table).iter().zip(&query.vector).map(|(a, b)| a * b).sum() };
            let tables = corpus.tables();
            let best = tables.iter().max_by(|a, b| cosine(a).total_cmp(&cosine(b))).unwrap();
            corpus.id(*best).to_owned()
        };
        let (mut before, mut after) = (0, 0);
        for question in train {
            let query = corpus.query(&question.question).unwrap();
            before += usize::from(first(&query) == question.tables[0]);
            after += usize::from(first(&adapter.apply(&query)) == question.tables[0]);
        }
        assert!(before < 4 && after == 4, "{before} {after}");
        let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(three.install(|| learnt(&parts, 0, None, &stop).unwrap().unwrap()), adapter);
        // Without the fold of all of them nothing is left to learn from, and a stop is heard.
        assert!(learnt(&parts, 0, None, &AtomicBool::new(true)).unwrap().is_none());
        let of_fold = |fold: usize| train.iter().filter(|question| fold_of(question) == fold).count();
        assert_eq!(of_fold(0) + of_fold(1), 4);
    }
}
