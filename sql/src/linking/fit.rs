//! Fitting the weights to questions with known tables and columns.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::evidence::Evidence;
use super::model::{Compiled, Model, Weights, logistic};
use super::words::Words;
use super::{Linker, Marginals};

/// A question with what a statement for it needs.
#[derive(Debug, Clone)]
pub struct Example {
    /// The question.
    pub question: String,
    /// Which of the linkers it is for, by its place.
    pub linker: usize,
    /// Numbers of the tables.
    pub tables: BTreeSet<usize>,
    /// Numbers of all columns.
    pub columns: BTreeSet<usize>,
    /// Numbers of those that the statement only joins by.
    pub only_joined: BTreeSet<usize>,
}

/// How weights are fitted.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Passes over the examples.
    pub passes: usize,
    /// The penalty on squares of the weights of features, for each example.
    pub penalty: f32,
    /// The penalty for pairs of words.
    pub pair_penalty: f32,
    /// In so many databases a pair must be met where it is right.
    pub databases: usize,
    /// In so many parts the databases are put; what is learnt of a part's sets is learnt from what the others teach.
    pub parts: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { passes: 12, penalty: 1e-6, pair_penalty: 3e-5, databases: 3, parts: 5 }
    }
}

/// Rows of numbered features with a label and the size of a step, AdaGrad over them in their order.
#[derive(Clone)]
struct Logistic {
    names: HashMap<String, usize>,
    weights: Vec<f32>,
    squares: Vec<f32>,
    penalties: Vec<f32>,
}

/// Numbers of features and their values.
type FeatureRow = Vec<(usize, f32)>;
type Row = (FeatureRow, bool);

impl Logistic {
    fn new() -> Self {
        Self { names: HashMap::new(), weights: Vec::new(), squares: Vec::new(), penalties: Vec::new() }
    }

    fn number(&mut self, name: &str, penalty: f32) -> usize {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        let number = self.weights.len();
        self.names.insert(name.to_owned(), number);
        self.weights.push(0.0);
        self.squares.push(1.0);
        self.penalties.push(penalty);
        number
    }

    fn row<N: AsRef<str>>(&mut self, features: &[(N, f32)], penalty: f32) -> FeatureRow {
        features.iter().map(|(name, value)| (self.number(name.as_ref(), penalty), *value)).collect()
    }

    fn score(&self, row: &[(usize, f32)]) -> f32 {
        row.iter().map(|&(at, value)| self.weights.get(at).copied().unwrap_or_default() * value).sum()
    }

    fn step(&mut self, row: &[(usize, f32)], error: f32, rate: f32) {
        for &(at, value) in row {
            let (Some(weight), Some(square)) = (self.weights.get_mut(at), self.squares.get_mut(at)) else { continue };
            let penalty = self.penalties.get(at).copied().unwrap_or_default();
            let gradient = error * value + penalty * *weight;
            *square += gradient * gradient;
            *weight -= rate * gradient / square.sqrt();
        }
    }

    fn fit(&mut self, rows: &[Row], passes: usize) {
        for pass in 0..passes {
            let rate = 0.5 / (1.0 + 0.3 * pass as f32);
            // A stride that is prime to the number of rows mixes databases, the same way each time.
            let stride = stride(rows.len());
            for step in 0..rows.len() {
                let Some((row, label)) = rows.get(step.wrapping_mul(stride) % rows.len()) else { continue };
                let error = logistic(self.score(row)) - f32::from(u8::from(*label));
                self.step(row, error, rate);
            }
        }
    }

    fn weights(&self) -> Weights {
        let rounded = |weight: f32| (weight * 1000.0).round() / 1000.0;
        let all = self
            .names
            .iter()
            .map(|(name, &at)| (name.clone(), rounded(self.weights.get(at).copied().unwrap_or_default())));
        Weights(all.filter(|(_, weight)| weight.abs() >= 0.05).collect())
    }
}

fn stride(length: usize) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (0..).map(|more| length / 3 + 1 + more).find(|&stride| gcd(stride, length.max(1)) == 1).unwrap_or(1)
}

/// Fits all weights, one model after the other. What a model sees of those before it is what they say of databases
/// that they have not learnt from, as it will be later: the databases are put into [`Settings::parts`], and each part's
/// examples are weighed by models of the others. The same examples in the same order give the same weights.
pub fn fit(linkers: &mut [Linker<'_>], examples: &[Example], settings: Settings) -> Model {
    let mut parts: Vec<Part> = parted(examples, settings)
        .map(|(own, others)| Part {
            own,
            model: Model { mention: mentions(linkers, &others, settings), ..Model::default() },
        })
        .collect();
    let mut model = Model { mention: mentions(linkers, examples, settings), ..Model::default() };

    let mut rows = Rows::new();
    for (number, part) in parts.iter().enumerate() {
        give(linkers, &part.model);
        tables(linkers, &part.own, |features, is_right| rows.add(number, features, is_right, settings.penalty));
    }
    model.table = rows.fit(settings, |_| true);
    for (number, part) in parts.iter_mut().enumerate() {
        part.model.table = rows.fit(settings, |other| other != number);
    }

    let usual = usual_words(linkers, examples);
    let mut choices = Choices::new(&usual);
    for part in &parts {
        give(linkers, &part.model);
        choices.add(linkers, &part.own, settings);
    }
    model.set = choices.fit(settings);

    let mut rows = Rows::new();
    for part in &mut parts {
        part.model.set = model.set.clone();
        give(linkers, &part.model);
        columns(linkers, &part.own, |features, is_right| rows.add(0, features, is_right, settings.penalty));
    }
    model.column = rows.fit(settings, |_| true);
    give(linkers, &model);
    model
}

/// Links each database by what is learnt from the others alone: those of a part of the databases by a model fitted to
/// all other parts.
pub fn hold_out(linkers: &mut [Linker<'_>], examples: &[Example], settings: Settings) {
    let models: Vec<Model> = parted(examples, settings).map(|(_, others)| fit(linkers, &others, settings)).collect();
    for (number, linker) in linkers.iter_mut().enumerate() {
        linker.model = Compiled::new(&models[number % models.len()]);
    }
}

/// The examples of each part, and those of all others.
fn parted(examples: &[Example], settings: Settings) -> impl Iterator<Item = (Vec<Example>, Vec<Example>)> {
    let parts = settings.parts.max(2);
    (0..parts).map(move |part| examples.iter().cloned().partition(|example| example.linker % parts == part))
}

/// Examples, and a model of the examples of all other parts.
struct Part {
    own: Vec<Example>,
    model: Model,
}

fn give(linkers: &mut [Linker<'_>], model: &Model) {
    linkers.iter_mut().for_each(|linker| linker.model = Compiled::new(model));
}

/// Rows of a model, each of a part.
struct Rows {
    logistic: Logistic,
    rows: Vec<(usize, Row)>,
}

impl Rows {
    fn new() -> Self {
        Self { logistic: Logistic::new(), rows: Vec::new() }
    }

    fn add(&mut self, part: usize, features: &[(&'static str, f32)], is_right: bool, penalty: f32) {
        self.rows.push((part, (self.logistic.row(features, penalty), is_right)));
    }

    /// The weights of the rows of some parts.
    fn fit(&self, settings: Settings, is_taken: impl Fn(usize) -> bool) -> Weights {
        let rows = self.rows.iter().filter(|(part, _)| is_taken(*part)).map(|(_, row)| row.clone());
        let mut logistic = self.logistic.clone();
        logistic.fit(&rows.collect::<Vec<Row>>(), settings.passes);
        logistic.weights()
    }
}

/// Calls with the evidence of each example.
fn each<'l>(
    linkers: &'l [Linker<'_>],
    examples: &[Example],
    mut with: impl FnMut(&Example, &'l Linker<'_>, &Evidence<'_>),
) {
    for example in examples {
        let Some(linker) = linkers.get(example.linker) else { continue };
        let words = Words::of(&example.question);
        let values = linker.values.find(&words);
        let evidence = Evidence::new(&words, linker.graph, &linker.vocabulary, &values);
        with(example, linker, &evidence);
    }
}

fn mentions(linkers: &[Linker<'_>], examples: &[Example], settings: Settings) -> Weights {
    // In which databases a pair is right.
    let mut right: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    let named = |(kind, word, meets): (&str, &str, &str)| format!("{kind}:{word}:{meets}");
    each(linkers, examples, |example, _, evidence| {
        for &column in example.columns.difference(&example.only_joined) {
            for pair in evidence.pairs(column) {
                right.entry(named(pair)).or_default().insert(example.linker);
            }
        }
    });
    right.retain(|_, databases| databases.len() >= settings.databases);
    let mut logistic = Logistic::new();
    let mut rows: Vec<Row> = Vec::new();
    each(linkers, examples, |example, linker, evidence| {
        for column in 0..linker.graph.columns().len() {
            if example.only_joined.contains(&column) {
                continue;
            }
            let features = evidence.column_features(column);
            let mut row = logistic.row(&features, settings.penalty);
            for pair in evidence.pairs(column) {
                let name = named(pair);
                if right.contains_key(&name) {
                    row.push((logistic.number(&name, settings.pair_penalty), 1.0));
                }
            }
            rows.push((row, example.columns.contains(&column)));
        }
    });
    logistic.fit(&rows, settings.passes);
    logistic.weights()
}

fn tables(linkers: &[Linker<'_>], examples: &[Example], mut add: impl FnMut(&[(&'static str, f32)], bool)) {
    each(linkers, examples, |example, linker, evidence| {
        let weighed = linker.weigh(evidence);
        for table in 0..linker.graph.tables().len() {
            add(&evidence.table_features(table, &weighed.mentioned), example.tables.contains(&table));
        }
    });
}

/// Words that say how many tables there are must be in questions on a quarter of the databases.
fn usual_words(linkers: &[Linker<'_>], examples: &[Example]) -> BTreeSet<String> {
    let mut places: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for example in examples {
        for stem in Words::of(&example.question).stems() {
            places.entry(stem).or_default().insert(example.linker);
        }
    }
    places.into_iter().filter(|(_, databases)| databases.len() * 4 >= linkers.len()).map(|(stem, _)| stem).collect()
}

/// Candidates of many questions, of each the right one.
struct Choices<'w> {
    logistic: Logistic,
    usual: &'w BTreeSet<String>,
    choices: Vec<(Vec<FeatureRow>, usize)>,
}

impl<'w> Choices<'w> {
    fn new(usual: &'w BTreeSet<String>) -> Self {
        Self { logistic: Logistic::new(), usual, choices: Vec::new() }
    }

    fn add(&mut self, linkers: &[Linker<'_>], examples: &[Example], settings: Settings) {
        each(linkers, examples, |example, linker, evidence| {
            let weighed = linker.weigh(evidence);
            let is_right = |candidate: &super::Candidate| {
                candidate.tree.tables.iter().copied().collect::<BTreeSet<_>>() == example.tables
            };
            let Some(right) = weighed.candidates.iter().position(is_right) else { return };
            let stems: BTreeSet<&str> = evidence.question.words.iter().map(|word| word.stem.as_str()).collect();
            let stems: Vec<&str> = stems.into_iter().filter(|stem| self.usual.contains(*stem)).collect();
            let rows = weighed.candidates.iter().map(|candidate| {
                let mut row = self.logistic.row(&candidate.features, settings.penalty);
                for stem in &stems {
                    let name = format!("size:{stem}:{}", super::sets::size(&candidate.tree));
                    row.push((self.logistic.number(&name, settings.pair_penalty), 1.0));
                }
                row
            });
            self.choices.push((rows.collect(), right));
        });
    }

    fn fit(mut self, settings: Settings) -> Weights {
        for pass in 0..settings.passes * 2 {
            let rate = 0.3 / (1.0 + 0.3 * pass as f32);
            let stride = stride(self.choices.len());
            for step in 0..self.choices.len() {
                let at = step.wrapping_mul(stride) % self.choices.len();
                let Some((rows, right)) = self.choices.get(at) else { continue };
                let scores: Vec<f32> = rows.iter().map(|row| self.logistic.score(row)).collect();
                let likelihoods = tabsegnet_choice::likelihoods(&scores);
                let mut gradient: BTreeMap<usize, f32> = BTreeMap::new();
                for (at, (row, likelihood)) in rows.iter().zip(likelihoods).enumerate() {
                    let error = likelihood - f32::from(u8::from(at == *right));
                    row.iter().for_each(|&(feature, value)| *gradient.entry(feature).or_default() += error * value);
                }
                let gradient: Vec<(usize, f32)> = gradient.into_iter().collect();
                self.logistic.step(&gradient, 1.0, rate);
            }
        }
        self.logistic.weights()
    }
}

fn columns(linkers: &[Linker<'_>], examples: &[Example], mut add: impl FnMut(&[(&'static str, f32)], bool)) {
    each(linkers, examples, |example, linker, evidence| {
        let weighed = linker.weigh(evidence);
        let marginals = Marginals::new(linker.graph, &linker.sets(evidence.question, &weighed.candidates, &|_| 1.0));
        for (column, mentioned) in weighed.mentioned.iter().enumerate() {
            let features = marginals.features(linker.graph, &linker.vocabulary, column, *mentioned);
            add(&features, example.columns.contains(&column));
        }
    });
}
