//! Fitting the weights of [`Model`](super::Model) to questions with their statements.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use tabsegnet_choice::{Example, Features, Fitting, fit};

use super::candidates::WORD_LEFT;
use super::model::{Compiled, Model};
use super::reading::{Reading, Role};
use super::shape::Shape;
use super::sketch::{Function, Operand, Sketch};
use super::{Composer, none};
use crate::error::QueryError;
use crate::generate::ranked;
use crate::linking::{Linker, Weights};
use crate::rows::Rows;

/// A question with what is right.
pub struct Labelled<'l, 'g> {
    /// The question.
    pub question: String,
    /// What links it.
    pub linker: &'l Linker<'g>,
    /// The statement.
    pub sketch: Sketch,
}

/// A shape, and a feature, of fewer questions gets no weight.
const LEAST_QUESTIONS: usize = 5;
const LEAST_FEATURES: usize = 6;
/// A word that a statement leaves out, in fewer questions, gets no weight of its own.
const LEAST_OF_WORD: usize = 15;

const PARTS: Fitting = Fitting { steps: 120, rate: 0.1, penalty: 0.5 };
const RANK: Fitting = Fitting { steps: 400, rate: 0.05, penalty: 0.1 };

/// Numbers of names.
#[derive(Default)]
struct Names {
    ids: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.ids.insert(name.to_owned(), id);
        self.names.push(name.to_owned());
        id
    }

    fn ids(&mut self, names: &[String]) -> Features<u32> {
        names.iter().map(|name| (self.id(name), 1.0)).collect()
    }
}

/// Two places after the point; what is next to nothing is left out.
fn kept(names: &[String], weights: &[f32], least: f32) -> Weights {
    let rounded = names.iter().zip(weights).map(|(name, weight)| (name.clone(), (weight * 100.0).round() / 100.0));
    Weights(rounded.filter(|(_, weight)| weight.abs() >= least).collect())
}

/// Drops features that few examples have.
fn without_rare(examples: &mut [Example<u32>], count: usize) {
    let mut seen = vec![0_usize; count];
    for features in examples.iter().flat_map(|example| &example.choices) {
        for (id, _) in features {
            seen.get_mut(*id as usize).into_iter().for_each(|seen| *seen += 1);
        }
    }
    for features in examples.iter_mut().flat_map(|example| &mut example.choices) {
        features.retain(|(id, _)| seen.get(*id as usize).is_some_and(|seen| *seen >= LEAST_FEATURES));
    }
}

/// Drops the features of words that few questions have: such a word is as strange as one of a later question, of which is known
/// that it is left, and no more.
fn without_strange(examples: &mut [Example<u32>], names: &[String]) {
    let is_word = |id: u32| names.get(id as usize).is_some_and(|name| name.starts_with(WORD_LEFT));
    let mut questions: HashMap<u32, usize> = HashMap::new();
    for example in examples.iter() {
        let words = example.choices.iter().flatten().map(|(id, _)| *id).filter(|id| is_word(*id));
        words.collect::<BTreeSet<u32>>().into_iter().for_each(|id| *questions.entry(id).or_default() += 1);
    }
    let is_strange = |id: u32| is_word(id) && questions.get(&id).is_none_or(|count| *count < LEAST_OF_WORD);
    examples.iter_mut().flat_map(|example| &mut example.choices).for_each(|of| of.retain(|(id, _)| !is_strange(*id)));
}

fn fit_binary(mut names: Names, mut examples: Vec<Example<u32>>) -> Weights {
    without_rare(&mut examples, names.names.len());
    let weights = fit(&examples, names.names.len(), PARTS, |_| {});
    kept(&std::mem::take(&mut names.names), &weights, 0.08)
}

fn fit_classes(
    questions: &[Features<u32>],
    names: &Names,
    of: &[usize],
    classes: &[String],
) -> BTreeMap<String, Weights> {
    let width = names.names.len() as u32;
    let mut seen = vec![0_usize; width as usize];
    for (id, _) in questions.iter().flatten() {
        seen.get_mut(*id as usize).into_iter().for_each(|seen| *seen += 1);
    }
    let enough = |id: u32| seen.get(id as usize).is_some_and(|seen| *seen >= LEAST_FEATURES);
    let examples: Vec<Example<u32>> = questions
        .iter()
        .zip(of)
        .map(|(features, of)| Example {
            choices: (0..classes.len() as u32)
                .map(|class| {
                    features
                        .iter()
                        .filter(|(id, _)| enough(*id))
                        .map(|(id, value)| (class * width + id, *value))
                        .collect()
                })
                .collect(),
            right: (0..classes.len()).map(|class| class == *of).collect(),
        })
        .collect();
    let weights = fit(&examples, classes.len() * width as usize, PARTS, |_| {});
    classes
        .iter()
        .zip(weights.chunks(width.max(1) as usize))
        .map(|(class, weights)| (class.clone(), kept(&names.names, weights, 0.08)))
        .collect()
}

/// Fits all weights but those of the last choice.
pub fn fit_parts<'f, 'l: 'f, 'g: 'l>(labelled: impl IntoIterator<Item = &'f Labelled<'l, 'g>>) -> Model {
    let mut role_names = Names::default();
    let mut of_roles: Vec<(Role, Vec<Example<u32>>)> = Role::ALL.into_iter().map(|role| (role, Vec::new())).collect();
    let (mut condition_names, mut conditions) = (Names::default(), Vec::new());
    let (mut question_names, mut questions) = (Names::default(), Vec::new());
    let (mut shapes, mut joined, mut distinct) = (Vec::new(), Vec::new(), Vec::new());
    for each in labelled {
        let reading = Reading::new(&each.question, each.linker);
        let sketch = &each.sketch;
        for column in reading.looked_at() {
            let features = role_names.ids(&reading.of_column(column));
            for (role, examples) in &mut of_roles {
                let right = has_role(sketch, column, *role);
                examples.push(Example { choices: vec![Vec::new(), features.clone()], right: vec![!right, right] });
            }
        }
        let gold: Vec<_> = sketch.all_conditions().collect();
        for stated in reading.conditions() {
            let right = gold.iter().any(|gold| same(gold, &stated.condition));
            let features = condition_names.ids(&stated.features);
            conditions.push(Example { choices: vec![Vec::new(), features], right: vec![!right, right] });
        }
        questions.push(question_names.ids(&reading.of_question()));
        shapes.push(Shape::of(sketch).map(Shape::name));
        joined.push((gold.len() > 1 && sketch.without.is_none()).then(|| sketch.joined.name().to_owned()));
        distinct.push(sketch.distinct);
    }
    let roles = of_roles
        .into_iter()
        .map(|(role, examples)| {
            let names = Names { ids: HashMap::new(), names: role_names.names.clone() };
            (role.name().to_owned(), fit_binary(names, examples))
        })
        .collect();
    let classes = |of: &[Option<String>]| {
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        of.iter().flatten().for_each(|name| *counts.entry(name).or_default() += 1);
        let enough = counts.into_iter().filter(|(_, count)| *count >= LEAST_QUESTIONS);
        enough.map(|(name, _)| name.clone()).collect::<Vec<String>>()
    };
    let fit_some = |of: &[Option<String>]| {
        let classes = classes(of);
        let at = |name: &Option<String>| classes.iter().position(|class| Some(class) == name.as_ref());
        let (features, of): (Vec<Features<u32>>, Vec<usize>) =
            questions.iter().zip(of).filter_map(|(features, name)| Some((features.clone(), at(name)?))).unzip();
        fit_classes(&features, &question_names, &of, &classes)
    };
    let shapes = fit_some(&shapes);
    let joined = fit_some(&joined);
    let examples = questions
        .iter()
        .zip(&distinct)
        .map(|(features, right)| Example { choices: vec![Vec::new(), features.clone()], right: vec![!right, *right] });
    let examples = examples.collect();
    let distinct = fit_binary(Names { ids: HashMap::new(), names: question_names.names.clone() }, examples);
    Model {
        roles,
        shapes,
        joined,
        distinct,
        condition: fit_binary(condition_names, conditions),
        rank: Weights::default(),
    }
}

fn has_role(sketch: &Sketch, column: usize, role: Role) -> bool {
    let shown = |function: Option<Function>| {
        sketch.shown.iter().any(|item| item.column == Some(column) && item.function == function)
    };
    match role {
        Role::Shown => shown(None),
        Role::ShownOf(function) => {
            shown(Some(function)) || function == Function::CountDifferent && shown(Some(Function::Count))
        }
        Role::Order => sketch.order.is_some_and(|order| order.item.column == Some(column)),
        Role::Group => sketch.group.contains(&column) && !shown(None),
        Role::Condition => sketch.all_conditions().any(|condition| condition.column == column),
    }
}

fn same(one: &super::Condition, other: &super::Condition) -> bool {
    let operand = match (&one.operand, &other.operand) {
        (Operand::Text(a), Operand::Text(b)) => a.to_lowercase() == b.to_lowercase(),
        (Operand::Number(a), Operand::Number(b)) => (a - b).abs() < 1e-9,
        (Operand::Number(a), Operand::Text(b)) | (Operand::Text(b), Operand::Number(a)) => {
            b.parse::<f64>().is_ok_and(|b| (a - b).abs() < 1e-9)
        }
        _ => false,
    };
    one.column == other.column && one.relation == other.relation && operand
}

/// What the last choice learns from: the features of a question's statements, and which are right.
#[derive(Default)]
pub struct Scored {
    features: Vec<Vec<(String, f32)>>,
    right: Vec<bool>,
    keys: Vec<String>,
}

impl Scored {
    /// Whether one is right.
    pub fn any(&self) -> bool {
        self.right.contains(&true)
    }
}

/// The statements that a model puts together for a question; `right` says of each with its rows whether it is right.
pub fn scored(
    linker: &Linker<'_>,
    model: &Model,
    question: &str,
    run: &mut dyn FnMut(&str) -> Result<Rows, QueryError>,
    right: &mut dyn FnMut(&str, &Rows) -> bool,
) -> Scored {
    let mut scored = Scored::default();
    Composer::new(linker, model).each(question, TIME, run, &mut |ran| {
        scored.right.push(right(&ran.candidate.sql, &ran.rows));
        scored.features.push(ran.features);
        scored.keys.push(ran.key);
    });
    scored
}

/// Time for a question.
const TIME: Duration = Duration::from_secs(1);

/// How likely the likeliest answer of each question is, and whether it is right.
pub fn confidences(questions: &[Scored], model: &Model) -> Vec<(f32, bool)> {
    let compiled = Compiled::new(model);
    let of = |scored: &Scored| {
        let scores: Vec<f32> = scored.features.iter().map(|features| compiled.rank(features)).collect();
        let ranked = ranked(compiled.rank(&none()), &scores, scored.keys.iter());
        ranked.first().map_or((0.0, false), |(confidence, at)| (*confidence, scored.right.get(*at) == Some(&true)))
    };
    questions.iter().map(of).collect()
}

/// Fits the weights of the last choice: by question the statements, and which are right.
pub fn fit_rank(questions: &[Scored]) -> Weights {
    let mut names = Names::default();
    let mut examples = Vec::new();
    for scored in questions {
        let mut of = |features: &[(String, f32)]| -> Features<u32> {
            features.iter().map(|(name, value)| (names.id(name), *value)).collect()
        };
        let mut example = Example { choices: vec![of(&none())], right: vec![!scored.any()] };
        for (features, right) in scored.features.iter().zip(&scored.right) {
            example.choices.push(of(features));
            example.right.push(*right);
        }
        examples.push(example);
    }
    without_rare(&mut examples, names.names.len());
    without_strange(&mut examples, &names.names);
    let weights = fit(&examples, names.names.len(), RANK, |_| {});
    kept(&names.names, &weights, 0.01)
}
