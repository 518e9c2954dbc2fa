//! What a report says, apart from how it is set: tables and sentences for both Markdown and HTML.

use super::numbers::{self, count};
use super::tables::{Cell, Table};
use crate::measures::Measure;
use crate::report::{Comparison, Report, Slice};
use crate::significance::Estimate;

/// The k of the table of recall@k.
const CURVE_COLUMNS: [usize; 9] = [1, 2, 3, 5, 10, 15, 20, 30, 50];

/// "900 questions on 360 documents".
pub(super) fn extent(report: &Report) -> String {
    let dataset = &report.dataset;
    format!("{} on {}", count(dataset.questions, "question"), count(dataset.documents, "document"))
}

/// Every method by every measure; with intervals, these stand below the means.
pub(super) fn measures(report: &Report, intervals: bool) -> Table {
    let timed = report.methods.iter().any(|method| method.seconds_per_question.is_some());
    let mut columns = vec!["Method".to_owned()];
    columns.extend(Measure::ALL.map(|measure| measure.name().to_owned()));
    if timed {
        columns.push("time / question".to_owned());
    }
    let rows = report.methods.iter().enumerate().map(|(number, method)| {
        let name = Cell::new(&method.name).method(number);
        let mut row = vec![if intervals { name.detail(&method.description) } else { name }];
        row.extend(Measure::ALL.map(|measure| match method.estimate(measure) {
            Some(estimate) if intervals => estimated(&estimate),
            Some(estimate) => Cell::new(numbers::measure(estimate.mean)),
            None => Cell::default(),
        }));
        if timed {
            let seconds = method.seconds_per_question.map(numbers::seconds);
            row.push(Cell::new(seconds.unwrap_or_else(|| "–".to_owned())));
        }
        row
    });
    let below = if intervals { ", with 95 % intervals" } else { "" };
    let caption = format!("Means over {}{below}; the best of a column in bold", extent(report));
    let mut table = Table { caption, label_columns: 1, columns, rows: rows.collect() };
    table.mark_best(1, 1 + Measure::ALL.len());
    table
}

/// The main measures with their intervals.
pub(super) fn intervals(report: &Report) -> Table {
    let mut columns = vec!["Method".to_owned()];
    columns.extend(Measure::MAIN.map(|measure| measure.name().to_owned()));
    let rows = report.methods.iter().map(|method| {
        let mut row = vec![Cell::new(&method.name)];
        row.extend(Measure::MAIN.map(|measure| method.estimate(measure).as_ref().map(estimated).unwrap_or_default()));
        row
    });
    Table { caption: "Means and 95 % intervals".to_owned(), label_columns: 1, columns, rows: rows.collect() }
}

/// recall@k for some k.
pub(super) fn curve(report: &Report) -> Table {
    let mut columns = vec!["Method".to_owned()];
    columns.extend(CURVE_COLUMNS.map(|k| format!("k = {k}")));
    let rows = report.methods.iter().enumerate().map(|(number, method)| {
        let mut row = vec![Cell::new(&method.name).method(number)];
        row.extend(CURVE_COLUMNS.map(|k| match method.recall_curve.get(k - 1) {
            Some(recall) => Cell::new(numbers::measure(*recall)),
            None => Cell::default(),
        }));
        row
    });
    let caption = "Mean recall@k; the best of a column in bold".to_owned();
    let mut table = Table { caption, label_columns: 1, columns, rows: rows.collect() };
    table.mark_best(1, 1 + CURVE_COLUMNS.len());
    table
}

/// Every pair of methods by the main measures; `None` with fewer than two methods.
pub(super) fn comparisons(report: &Report) -> Option<Table> {
    let mut columns = vec!["A".to_owned(), "B".to_owned()];
    for measure in Measure::MAIN {
        columns.extend([format!("{} A\u{a0}−\u{a0}B", measure.name()), "p".to_owned(), "p, Holm".to_owned()]);
    }
    let [first, ..] = Measure::MAIN;
    let rows: Vec<Vec<Cell>> = report
        .comparisons
        .iter()
        .filter(|pair| pair.measure == first)
        .map(|pair| {
            let mut row = vec![Cell::new(&pair.method_a), Cell::new(&pair.method_b)];
            row.extend(Measure::MAIN.iter().flat_map(|&measure| compared(report, pair, measure)));
            row
        })
        .collect();
    let caption = format!(
        "Differences of means with paired 95 % intervals, and how likely one as large is by chance, by document: for the \
         pair alone (p), and corrected over {} of methods in this report (p, Holm)",
        count(rows.len(), "pair")
    );
    (!rows.is_empty()).then_some(Table { caption, label_columns: 2, columns, rows })
}

fn compared(report: &Report, pair: &Comparison, measure: Measure) -> [Cell; 3] {
    let same = |other: &&Comparison| {
        other.measure == measure && other.method_a == pair.method_a && other.method_b == pair.method_b
    };
    let Some(found) = report.comparisons.iter().find(same) else {
        return Default::default();
    };
    let difference =
        Cell::new(numbers::difference(found.difference.mean)).detail(numbers::difference_interval(&found.difference));
    [difference, Cell::new(numbers::p(found.p)), Cell::new(numbers::p(found.p_adjusted))]
}

/// The groups of slices in order, each with its slices.
pub(super) fn slice_groups(report: &Report) -> Vec<(&str, Vec<&Slice>)> {
    let mut groups: Vec<(&str, Vec<&Slice>)> = Vec::new();
    for slice in &report.slices {
        match groups.iter_mut().find(|(group, _)| *group == slice.group) {
            Some((_, slices)) => slices.push(slice),
            None => groups.push((&slice.group, vec![slice])),
        }
    }
    groups
}

/// Heading of a group of slices.
pub(super) fn group_title(group: &str) -> String {
    match group {
        "evidence" => "By where the gold nodes lie".to_owned(),
        "gold nodes" => "By number of gold nodes".to_owned(),
        "document size" => "By size of the document".to_owned(),
        other => format!("By {other}"),
    }
}

/// "2 gold nodes (403 questions)".
pub(super) fn slice_title(slice: &Slice) -> String {
    let unit = match (slice.group.as_str(), slice.name.as_str()) {
        ("gold nodes", "1") => " gold node",
        ("gold nodes", _) => " gold nodes",
        _ => "",
    };
    format!("{}{unit} ({})", slice.name, count(slice.questions, "question"))
}

/// Every method on every slice of a group by one measure.
pub(super) fn slices(group: &str, slices: &[&Slice], measure: Measure) -> Table {
    let mut columns = vec!["Method".to_owned()];
    columns.extend(slices.iter().map(|slice| slice_title(slice)));
    let names = slices.first().map(|slice| slice.methods.as_slice()).unwrap_or_default();
    let rows = names.iter().enumerate().map(|(number, method)| {
        let mut row = vec![Cell::new(&method.name).method(number)];
        row.extend(slices.iter().map(|slice| match slice.methods.get(number) {
            Some(method) => estimated(method.main(measure)),
            None => Cell::default(),
        }));
        row
    });
    let caption = format!("{} by {group}, with 95 % intervals", measure.name());
    let mut table = Table { caption, label_columns: 1, columns, rows: rows.collect() };
    table.mark_best(1, 1 + slices.len());
    table
}

fn estimated(estimate: &Estimate) -> Cell {
    Cell::new(numbers::measure(estimate.mean)).detail(numbers::interval(estimate))
}

/// Names and values: the data set, then the settings.
pub(super) fn facts(report: &Report) -> Vec<(String, String)> {
    let dataset = &report.dataset;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("data set", format!("{}, {}", dataset.name, dataset.part)),
        fact("questions", extent(report)),
        fact("gold nodes per question", format!("{:.2} on average", dataset.gold_per_question)),
        fact(
            "nodes per document",
            format!("{:.1} on average, {} at most", dataset.mean_nodes_per_document, dataset.max_nodes_per_document),
        ),
    ];
    for (reason, number) in &dataset.questions_left_out {
        facts.push(fact("left out", format!("{}: {reason}", count(*number, "question"))));
    }
    facts.extend(report.settings.iter().cloned());
    facts
}

/// How the figures were computed, a paragraph an item.
pub(super) fn method(report: &Report) -> Vec<String> {
    let resampling = report.resampling;
    vec![
        "Means are over questions with gold nodes. recall@k is the share of a question's gold nodes \
         among the first k nodes of the ranking; MAP is mean average precision over all gold nodes, \
         MRR the mean of 1 / rank of the first one, nDCG@10 has binary gain. The definitions are \
         trec_eval's. Equal scores rank in document order."
            .to_owned(),
        format!(
            "Intervals hold 95 % of the means of {} bootstrap resamples. A resample draws documents, \
             each with all of its questions, and is the same for every method. p is that of a \
             two-sided paired randomisation test with {} rounds that swap the methods on whole \
             documents; Holm's adjustment is over all pairs compared by a measure. Seed {}.",
            resampling.resamples, resampling.rounds, resampling.seed
        ),
    ]
}
