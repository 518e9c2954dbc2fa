//! Comparisons of rankings of tables, as Markdown.

use super::markdown::aligned;
use super::numbers;
use super::tables::{Cell, Table};
use crate::significance::Estimate;
use crate::table_retrieval::{TableComparison, TableMeasure};

/// The measures with an interval and a test in print; the comparison itself has all.
const TESTED: [TableMeasure; 2] = [TableMeasure::Acc(10), TableMeasure::Acc(50)];

pub(crate) fn markdown(comparison: &TableComparison) -> String {
    let measures: Vec<TableMeasure> = TableMeasure::all().collect();
    let mut columns = vec!["method".to_owned()];
    columns.extend(measures.iter().map(|measure| measure.name()));
    let rows = comparison.methods.iter().map(|method| {
        let figures = method.figures.iter().map(|(_, estimate)| Cell::new(percent(estimate.mean)));
        std::iter::once(Cell::new(&method.name)).chain(figures).collect()
    });
    let mut means = Table { caption: String::new(), label_columns: 1, columns, rows: rows.collect() };
    means.mark_best(1, measures.len() + 1);

    let mut columns = vec!["method".to_owned()];
    columns.extend(TESTED.map(|measure| format!("{}, 95 %", measure.name())));
    let against = comparison.against.as_deref();
    if let Some(against) = against {
        for measure in TESTED {
            let difference = format!("{} − that of {against}", measure.name());
            columns.extend([difference, "p".to_owned(), "p, Holm".to_owned()]);
        }
    }
    let rows = comparison.methods.iter().map(|method| {
        let mut row = vec![Cell::new(&method.name)];
        for measure in TESTED {
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
    let intervals = Table { caption: String::new(), label_columns: 1, columns, rows: rows.collect() };
    let said = format!(
        "{} on {}; means in percent. Intervals: {} bootstrap resamples of source tables, p: {} rounds of the paired \
         randomisation test by source tables; seed {}.",
        numbers::count(comparison.questions, "question"),
        numbers::count(comparison.groups, "source table"),
        comparison.resampling.resamples,
        comparison.resampling.rounds,
        comparison.resampling.seed,
    );
    format!("{}\n\n{}\n\n{said}\n", aligned(&means), aligned(&intervals))
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn signed(difference: &Estimate) -> String {
    let Estimate { mean, low, high } = difference;
    format!("{:+.1} [{:+.1}, {:+.1}]", 100.0 * mean, 100.0 * low, 100.0 * high)
}
