//! Comparisons of rankings of tables, as Markdown and as an HTML page.

use std::collections::BTreeMap;

use tabsegnet_page::kit::escape;

use super::bars::{self, BarGroup};
use super::html::{figure, page, section};
use super::markdown::aligned;
use super::numbers;
use super::tables::{Cell, Table};
use crate::significance::Estimate;
use crate::table_retrieval::{TableComparison, TableMeasure};

/// The measures with a test in print, and those with an interval; the comparison itself has all.
const TESTED: [TableMeasure; 2] = [TableMeasure::Acc(10), TableMeasure::Acc(50)];
const WITH_INTERVAL: [TableMeasure; 4] =
    [TableMeasure::Acc(10), TableMeasure::Acc(50), TableMeasure::Recall(10), TableMeasure::Mrr];

pub(crate) fn markdown(comparison: &TableComparison) -> String {
    format!("{}\n\n{}\n\n{}\n", aligned(&means(comparison)), aligned(&intervals(comparison)), said(comparison))
}

/// A section for each of the comparisons, which have names.
pub(crate) fn html(comparisons: &BTreeMap<String, TableComparison>) -> String {
    let sections = comparisons.iter().enumerate().map(|(number, (name, comparison))| {
        let figures = TESTED.map(|measure| {
            let caption = format!("{}, mean and 95 % interval", measure.name());
            let bars = comparison.methods.iter();
            let bars =
                bars.filter_map(|method| Some((method.name.as_str(), comparison.estimate(&method.name, measure)?)));
            let group = BarGroup { heading: String::new(), bars: bars.collect() };
            figure(
                &caption,
                &bars::svg(&format!("corpus-{number}-{}", measure.name().replace('@', "-")), &caption, &[group]),
            )
        });
        let content = format!(
            "<div class=\"pair\">\n{}</div>\n{}{}<p>{}</p>\n",
            figures.concat(),
            means(comparison).html(),
            intervals(comparison).html(),
            escape(&said(comparison))
        );
        section(&format!("corpus-{number}"), &escape(name), &content)
    });
    let about = format!("On {} of questions", numbers::count(comparisons.len(), "set"));
    page("Rankings of tables", &about, &sections.collect::<String>())
}

fn means(comparison: &TableComparison) -> Table {
    let measures: Vec<TableMeasure> = TableMeasure::all().collect();
    let mut columns = vec!["method".to_owned()];
    columns.extend(measures.iter().map(|measure| measure.name()));
    let rows = comparison.methods.iter().map(|method| {
        let figures = method.figures.iter().map(|(_, estimate)| Cell::new(percent(estimate.mean)));
        std::iter::once(Cell::new(&method.name)).chain(figures).collect()
    });
    let mut means = Table { caption: "Means in percent".to_owned(), label_columns: 1, columns, rows: rows.collect() };
    means.mark_best(1, measures.len() + 1);
    means
}

fn intervals(comparison: &TableComparison) -> Table {
    let mut columns = vec!["method".to_owned()];
    columns.extend(WITH_INTERVAL.map(|measure| format!("{}, 95 %", measure.name())));
    let against = comparison.against.as_deref();
    if let Some(against) = against {
        for measure in TESTED {
            let difference = format!("{} − that of {against}", measure.name());
            columns.extend([difference, "p".to_owned(), "p, Holm".to_owned()]);
        }
    }
    let rows = comparison.methods.iter().map(|method| {
        let mut row = vec![Cell::new(&method.name)];
        for measure in WITH_INTERVAL {
            let estimate = comparison.estimate(&method.name, measure);
            row.push(Cell::new(estimate.map_or_else(String::new, |estimate| {
                format!("{} [{}, {}]", percent(estimate.mean), percent(estimate.low), percent(estimate.high))
            })));
        }
        for measure in against.iter().flat_map(|_| TESTED) {
            let found = comparison.differences.iter().find(|d| d.method == method.name && d.measure == measure);
            row.extend(match found {
                Some(found) => {
                    [signed(&found.difference), numbers::p(found.p), numbers::p(found.p_holm)].map(Cell::new)
                }
                None => std::array::from_fn(|_| Cell::new("")),
            });
        }
        row
    });
    Table { caption: "Intervals and tests".to_owned(), label_columns: 1, columns, rows: rows.collect() }
}

fn said(comparison: &TableComparison) -> String {
    format!(
        "{} on {}; means in percent. Intervals: {} bootstrap resamples of source tables, p: {} rounds of the paired \
         randomisation test by source tables; seed {}.",
        numbers::count(comparison.questions, "question"),
        numbers::count(comparison.groups, "source table"),
        comparison.resampling.resamples,
        comparison.resampling.rounds,
        comparison.resampling.seed,
    )
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn signed(difference: &Estimate) -> String {
    let Estimate { mean, low, high } = difference;
    format!("{:+.1} [{:+.1}, {:+.1}]", 100.0 * mean, 100.0 * low, 100.0 * high)
}
