//! Risk over coverage, as an HTML page.

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet_page::kit::escape;

use super::curves::{Line, Plot};
use super::html::{figure, page, section};
use super::numbers;
use super::tables::{Cell, Table};
use crate::risk_coverage::{RiskCoverage, STEPS};

/// The curves of policies on data sets, both by name: a plot and a table for each data set.
pub(crate) fn html(curves: &BTreeMap<&str, BTreeMap<&str, RiskCoverage>>) -> String {
    let policies: BTreeSet<&str> = curves.values().flat_map(|policies| policies.keys().copied()).collect();
    // A policy looks the same on every data set.
    let number = |policy: &str| policies.iter().position(|name| *name == policy).unwrap_or_default();
    let figures = curves.iter().enumerate().map(|(place, (data, of))| {
        let plot = plot(data, of, &number);
        let drawn = plot.svg(&format!("risk-{place}"), "plot", (460.0, 300.0), 110.0);
        figure(&escape(data), &format!("{drawn}\n{}", plot.legend()))
    });
    let said = "<p>The surest answers first: coverage is the share of the questions that they answer, risk the share of them that \
                is wrong. AURC is the mean risk over all answers that were given (Geifman and El-Yaniv 2017).</p>\n";
    let figures = format!("{said}<div class=\"pair\">\n{}</div>\n", figures.collect::<String>());
    let tables: String = curves.iter().map(|(data, of)| table(data, of, &number).html()).collect();
    let sections = section("risk", "Risk and coverage", &figures) + &section("figures", "In figures", &tables);
    page("Answers", &format!("On {}", numbers::count(curves.len(), "data set")), &sections)
}

fn plot<'a>(data: &str, curves: &BTreeMap<&'a str, RiskCoverage>, number: &dyn Fn(&str) -> usize) -> Plot<'a> {
    let lines: Vec<Line<'a>> = curves
        .iter()
        .map(|(&name, curve)| Line {
            name,
            legend: format!("{name}, AURC {}", area(curve)),
            number: number(name),
            points: curve.points.iter().map(|point| (point.coverage, point.risk)).collect(),
            marked: (0..curve.points.len()).collect(),
        })
        .collect();
    let legends: Vec<&str> = lines.iter().map(|line| line.legend.as_str()).collect();
    Plot {
        title: format!("Risk and coverage of answers to {data}"),
        description: format!(
            "One line a policy: the share that is wrong of the answers to the surest tenth of the questions, to two tenths and \
             so on. {}.",
            legends.join("; ")
        ),
        axes: ["risk (share of the answers that is wrong)", "coverage (share of the questions)"],
        ticks: (0..=5).map(|fifth| f64::from(fifth) / 5.0).map(|share| (share, format!("{share:.1}"))).collect(),
        lines,
    }
}

fn table(data: &str, curves: &BTreeMap<&str, RiskCoverage>, number: &dyn Fn(&str) -> usize) -> Table {
    let mut columns = vec!["Policy".to_owned(), "AURC".to_owned()];
    columns.extend((1..=STEPS).map(|step| format!("{:.1}", step as f64 / STEPS as f64)));
    let rows = curves.iter().map(|(&name, curve)| {
        let mut row = vec![Cell::new(name).method(number(name)), Cell::new(area(curve))];
        row.extend((0..STEPS).map(|step| match curve.points.get(step) {
            Some(point) => Cell::new(numbers::measure(point.risk)),
            None => Cell::new("–"),
        }));
        row
    });
    let caption = format!("{data}: risk by coverage");
    Table { caption, label_columns: 1, columns, rows: rows.collect() }
}

fn area(curve: &RiskCoverage) -> String {
    curve.area.map_or_else(|| "–".to_owned(), numbers::measure)
}
