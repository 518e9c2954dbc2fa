//! Computing a report.

use std::collections::{BTreeMap, HashSet};

use rayon::prelude::*;

use super::slices::{Group, groups};
use super::{
    Comparison, DatasetSummary, FORMAT, Measured, MethodReport, MethodRun, QuestionInfo, Report, ReportError,
    ReportInput, Slice, SliceMethod,
};
use crate::measures::{CURVE_LENGTH, Measure, QuestionMeasures, recall_curve};
use crate::significance::{Bootstrap, Resampling, Units, holm, randomisation_p};

impl Report {
    /// Computes every figure of a report.
    ///
    /// # Errors
    /// No questions or methods, names that are not unique, and rankings that are not those of the
    /// questions: another number of them, another number of gold nodes, a rank beyond the
    /// document's nodes.
    pub fn build(input: ReportInput) -> Result<Self, ReportError> {
        check(&input)?;
        let ReportInput { questions, methods, resampling, .. } = input;
        let units = Units::grouped(questions.iter().map(|question| &question.document));
        let columns = columns(&methods);
        let bootstrap = Bootstrap::new(&columns, &units, &resampling)?;
        let slices = slices(&questions, &methods, &columns, &resampling)?;
        let comparisons = comparisons(&methods, &columns, &bootstrap, &units, &resampling)?;
        let method_report = |(number, method): (usize, MethodRun)| MethodReport {
            measures: Measure::ALL
                .into_iter()
                .filter_map(|measure| {
                    let estimate = bootstrap.estimate(column(number, measure))?;
                    Some(Measured { measure, estimate })
                })
                .collect(),
            recall_curve: mean_curve(&method),
            name: method.name,
            description: method.description,
            seconds_per_question: method.seconds_per_question,
        };
        Ok(Self {
            format: FORMAT,
            title: input.title,
            created: input.created,
            dataset: summary(input.dataset, input.part, &questions, input.questions_left_out),
            settings: input.settings,
            resampling,
            methods: methods.into_iter().enumerate().map(method_report).collect(),
            comparisons,
            slices,
            notes: input.notes,
        })
    }
}

/// Column of a method's measure: methods one after the other, each with [`Measure::ALL`].
fn column(method: usize, measure: Measure) -> usize {
    method * Measure::ALL.len() + measure as usize
}

/// One value a question, for each method and measure, in the order of [`column`].
fn columns(methods: &[MethodRun]) -> Vec<Vec<f64>> {
    methods
        .iter()
        .flat_map(|method| {
            let measures: Vec<_> = method.rankings.iter().map(QuestionMeasures::of).collect();
            Measure::ALL.map(|measure| measures.iter().map(|q| measure.of(q)).collect())
        })
        .collect()
}

fn mean_curve(method: &MethodRun) -> Vec<f64> {
    let mut curve = vec![0.0; CURVE_LENGTH];
    for ranks in &method.rankings {
        for (sum, recall) in curve.iter_mut().zip(recall_curve(ranks)) {
            *sum += recall;
        }
    }
    let questions = method.rankings.len() as f64;
    curve.into_iter().map(|sum| sum / questions).collect()
}

fn summary(
    name: String,
    part: String,
    questions: &[QuestionInfo],
    questions_left_out: Vec<(String, usize)>,
) -> DatasetSummary {
    let mut nodes = BTreeMap::new();
    for question in questions {
        let largest = nodes.entry(&question.document).or_insert(question.nodes);
        *largest = question.nodes.max(*largest);
    }
    let gold: usize = questions.iter().map(|question| question.gold).sum();
    DatasetSummary {
        name,
        part,
        documents: nodes.len(),
        questions: questions.len(),
        questions_left_out,
        mean_nodes_per_document: nodes.values().sum::<usize>() as f64 / nodes.len() as f64,
        max_nodes_per_document: nodes.values().copied().max().unwrap_or(0),
        gold_per_question: gold as f64 / questions.len() as f64,
    }
}

fn comparisons(
    methods: &[MethodRun],
    columns: &[Vec<f64>],
    bootstrap: &Bootstrap,
    units: &Units,
    resampling: &Resampling,
) -> Result<Vec<Comparison>, ReportError> {
    let mut all = Vec::new();
    for measure in Measure::MAIN {
        let mut pairs = Vec::new();
        for (a, method_a) in methods.iter().enumerate() {
            for (b, method_b) in methods.iter().enumerate().skip(a + 1) {
                let (column_a, column_b) = (column(a, measure), column(b, measure));
                let (Some(values_a), Some(values_b), Some(difference)) =
                    (columns.get(column_a), columns.get(column_b), bootstrap.difference(column_a, column_b))
                else {
                    continue;
                };
                pairs.push(Comparison {
                    method_a: method_a.name.clone(),
                    method_b: method_b.name.clone(),
                    measure,
                    difference,
                    p: randomisation_p(values_a, values_b, units, resampling)?,
                    p_adjusted: 1.0,
                });
            }
        }
        let p: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
        for (pair, adjusted) in pairs.iter_mut().zip(holm(&p)) {
            pair.p_adjusted = adjusted;
        }
        all.append(&mut pairs);
    }
    Ok(all)
}

fn slices(
    questions: &[QuestionInfo],
    methods: &[MethodRun],
    columns: &[Vec<f64>],
    resampling: &Resampling,
) -> Result<Vec<Slice>, ReportError> {
    let main: Vec<&Vec<f64>> = (0..methods.len())
        .flat_map(|method| Measure::MAIN.map(|measure| columns.get(column(method, measure))))
        .flatten()
        .collect();
    let slice = |Group { group, name, members }: Group| {
        let chosen: Vec<Vec<f64>> = main
            .iter()
            .map(|values| values.iter().zip(&members).filter(|(_, m)| **m).map(|(v, _)| *v).collect())
            .collect();
        let documents = questions.iter().zip(&members).filter(|(_, m)| **m);
        let units = Units::grouped(documents.map(|(question, _)| &question.document));
        let bootstrap = Bootstrap::new(&chosen, &units, resampling)?;
        let [recall, map] = [0, 1];
        let method = |(number, method): (usize, &MethodRun)| {
            Some(SliceMethod {
                name: method.name.clone(),
                recall_10: bootstrap.estimate(2 * number + recall)?,
                map: bootstrap.estimate(2 * number + map)?,
            })
        };
        Ok(Slice {
            group: group.to_owned(),
            name,
            questions: units.questions(),
            methods: methods.iter().enumerate().filter_map(method).collect(),
        })
    };
    groups(questions).into_par_iter().map(slice).collect()
}

fn check(input: &ReportInput) -> Result<(), ReportError> {
    let ReportInput { questions, methods, .. } = input;
    if questions.is_empty() {
        return Err(ReportError::Empty("question"));
    }
    if methods.is_empty() {
        return Err(ReportError::Empty("method"));
    }
    check_unique("question", questions.iter().map(|question| question.id.as_str()))?;
    check_unique("method", methods.iter().map(|method| method.name.as_str()))?;
    methods.iter().try_for_each(|method| check_method(method, questions))
}

fn check_unique<'a>(what: &'static str, names: impl Iterator<Item = &'a str>) -> Result<(), ReportError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(ReportError::NotUnique { what, name: name.to_owned() });
        }
    }
    Ok(())
}

fn check_method(method: &MethodRun, questions: &[QuestionInfo]) -> Result<(), ReportError> {
    let (found, expected) = (method.rankings.len(), questions.len());
    if found != expected {
        return Err(ReportError::Rankings { method: method.name.clone(), found, expected });
    }
    if let Some(seconds) = method.seconds_per_question
        && !(seconds.is_finite() && seconds >= 0.0)
    {
        return Err(ReportError::Seconds { method: method.name.clone(), seconds });
    }
    for (ranking, question) in method.rankings.iter().zip(questions) {
        let mismatch = |found: String, expected: String| ReportError::Mismatch {
            method: method.name.clone(),
            question: question.id.clone(),
            found,
            expected,
        };
        if ranking.gold() != question.gold {
            let gold = |count: usize| format!("{count} gold nodes");
            return Err(mismatch(gold(ranking.gold()), gold(question.gold)));
        }
        if let Some(&last) = ranking.ranks().last()
            && last as usize > question.nodes
        {
            let nodes = format!("{} nodes", question.nodes);
            return Err(mismatch(format!("a gold node at rank {last}"), nodes));
        }
    }
    Ok(())
}
