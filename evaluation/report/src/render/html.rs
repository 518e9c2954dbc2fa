//! The report as one HTML page: no scripts, nothing loaded from elsewhere.

use tabsegnet_page::kit::{BASE, DARK, colours, escape};

use super::bars::{self, BarGroup};
use super::content;
use super::curves::{Line, Plot};
use super::palette;
use crate::measures::Measure;
use crate::report::{Report, Slice};

const STYLE: &str = include_str!("style.css");

/// Where the axis of recall@k is marked, and its curves carry markers.
const RECALL_TICKS: [usize; 9] = [1, 2, 3, 5, 7, 10, 20, 30, 50];

/// With more pairs of methods than this, their table is folded at first.
const PAIRS_SHOWN: usize = 15;

/// The whole page.
pub(crate) fn render(report: &Report) -> String {
    let about =
        format!("{}, {}: {}. {}", report.dataset.name, report.dataset.part, content::extent(report), report.created);
    page(
        &report.title,
        &about,
        &[methods(report), curve(report), differences(report), parts(report), settings(report), computed(report)]
            .concat(),
    )
}

/// A page with a title, a line below it, and sections.
pub(super) fn page(title: &str, about: &str, sections: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>{title}</h1>\n<p>{}</p>\n</header>\n{sections}</main>\n</body>\n</html>\n",
        style(),
        escape(about),
    )
}

fn style() -> String {
    format!(
        "{BASE}{STYLE}:root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{DARK}{}}}}}\n{}\n",
        colours(false),
        colours(true),
        palette::rules()
    )
}

pub(super) fn section(id: &str, heading: &str, content: &str) -> String {
    format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{heading}</h2>\n{content}</section>\n")
}

pub(super) fn figure(caption: &str, plot: &str) -> String {
    format!("<figure>\n<figcaption>{caption}</figcaption>\n{plot}\n</figure>\n")
}

fn methods(report: &Report) -> String {
    let figures = Measure::MAIN.map(|measure| {
        let bars = report.methods.iter();
        let bars = bars.filter_map(|method| Some((method.name.as_str(), method.estimate(measure)?)));
        let group = BarGroup { heading: String::new(), bars: bars.collect() };
        figure_of_bars("methods", measure, &[group])
    });
    let content =
        format!("<div class=\"pair\">\n{}</div>\n{}", figures.concat(), content::measures(report, true).html());
    section("methods", "Methods", &content)
}

fn figure_of_bars(place: &str, measure: Measure, groups: &[BarGroup]) -> String {
    let name = measure.name();
    let id = format!("{place}-{}", name.replace('@', "-").to_lowercase());
    let caption = format!("{name}, mean and 95 % interval");
    figure(&caption, &bars::svg(&id, &caption, groups))
}

fn curve(report: &Report) -> String {
    let plot = recall(report);
    // Two plots, of which the style sheet shows the one that suits the page's width: one plot
    // scaled to a telephone would have labels too small to read.
    let wide = plot.svg("wide", "plot wide", (1040.0, 400.0), 200.0);
    let narrow = plot.svg("narrow", "plot narrow", (400.0, 380.0), 70.0);
    let plots = format!("{wide}{narrow}\n{}", plot.legend());
    let content = figure("Mean recall@k for k from 1 to 50", &plots) + &content::curve(report).html();
    section("recall", "Recall by number of nodes read", &content)
}

/// recall@k over k on a logarithmic axis: the first ranks are what a reader sees.
fn recall(report: &Report) -> Plot<'_> {
    let along = |k: usize| (k as f64).ln() / 50f64.ln();
    let ends = report.methods.iter().map(|method| {
        let at = |k: usize| method.recall_curve.get(k - 1).copied().unwrap_or_default();
        format!("{}: {:.3} at 1, {:.3} at 10, {:.3} at 50", method.name, at(1), at(10), at(50))
    });
    let ends: Vec<String> = ends.collect();
    let lines = report.methods.iter().enumerate().map(|(number, method)| Line {
        name: &method.name,
        legend: method.name.clone(),
        number,
        points: (1..).zip(&method.recall_curve).map(|(k, recall)| (along(k), *recall)).collect(),
        marked: RECALL_TICKS.map(|k| k - 1).to_vec(),
    });
    Plot {
        title: "Recall by number of nodes read".to_owned(),
        description: format!("One line a method, mean recall for k from 1 to 50. {}.", ends.join("; ")),
        axes: ["mean recall@k", "k, nodes read (logarithmic)"],
        ticks: RECALL_TICKS.map(|k| (along(k), k.to_string())).to_vec(),
        lines: lines.collect(),
    }
}

fn differences(report: &Report) -> String {
    let Some(table) = content::comparisons(report) else {
        return String::new();
    };
    let table_html = table.html();
    let content = if table.rows.len() > PAIRS_SHOWN {
        format!("<details><summary>{} pairs</summary>\n{table_html}</details>\n", table.rows.len())
    } else {
        table_html
    };
    section("differences", "Differences between methods", &content)
}

fn parts(report: &Report) -> String {
    let groups = content::slice_groups(report);
    let group = |(number, (group, slices)): (usize, &(&str, Vec<&Slice>))| {
        let figures = Measure::MAIN.map(|measure| {
            let groups: Vec<BarGroup> = slices.iter().map(|slice| bars_of_slice(slice, measure)).collect();
            figure_of_bars(&format!("slice-{number}"), measure, &groups)
        });
        let tables = Measure::MAIN.map(|measure| content::slices(group, slices, measure).html());
        format!(
            "<h3>{}</h3>\n<div class=\"pair\">\n{}</div>\n{}",
            escape(&content::group_title(group)),
            figures.concat(),
            tables.concat()
        )
    };
    section("parts", "Parts of the questions", &groups.iter().enumerate().map(group).collect::<String>())
}

fn bars_of_slice(slice: &Slice, measure: Measure) -> BarGroup<'_> {
    let bars = slice.methods.iter().map(|method| (method.name.as_str(), *method.main(measure)));
    BarGroup { heading: content::slice_title(slice), bars: bars.collect() }
}

fn settings(report: &Report) -> String {
    let fact =
        |(name, value): &(String, String)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(name), escape(value));
    let facts: String = content::facts(report).iter().map(fact).collect();
    section("settings", "Data and settings", &format!("<dl>\n{facts}</dl>\n"))
}

fn computed(report: &Report) -> String {
    let paragraphs =
        |texts: &[String]| -> String { texts.iter().map(|text| format!("<p>{}</p>\n", escape(text))).collect() };
    let computed = section("computed", "How the figures were computed", &paragraphs(&content::method(report)));
    if report.notes.is_empty() {
        return computed;
    }
    computed + &section("notes", "Notes", &paragraphs(&report.notes))
}
