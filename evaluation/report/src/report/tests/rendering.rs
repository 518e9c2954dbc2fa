//! What must hold of the HTML and Markdown of any report.

use std::collections::BTreeMap;

use super::*;
use crate::risk_coverage::{risk_coverage, to_html};

/// A report whose every text tries to break out of its place.
fn hostile() -> Report {
    let evil = "</title><script>alert('x')</script> a|b [l](http://e.org) \"quoted\" & `c`\n# h";
    let mut input = small();
    for text in [&mut input.title, &mut input.created, &mut input.dataset, &mut input.part] {
        *text = evil.to_owned();
    }
    input.questions_left_out = vec![(evil.to_owned(), 2)];
    input.settings = vec![(evil.to_owned(), evil.to_owned())];
    input.notes = vec![evil.to_owned()];
    for (number, method) in input.methods.iter_mut().enumerate() {
        method.name = format!("{number}{evil}");
        method.description = evil.to_owned();
    }
    let mut report = Report::build(input).unwrap();
    for slice in &mut report.slices {
        slice.group += evil;
        slice.name += evil;
    }
    report
}

/// Checks that tags are closed in order and returns the values of all attributes called `wanted`.
pub(super) fn well_formed(html: &str, wanted: &str) -> Vec<String> {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    let (mut open, mut values) = (Vec::new(), Vec::new());
    for part in html.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag is closed by >");
        let name = tag.split([' ', '/']).find(|word| !word.is_empty()).unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "closing {name} near {part}");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
        let marker = format!(" {wanted}=\"");
        values.extend(tag.split(&marker).skip(1).filter_map(|v| v.split('"').next()).map(str::to_owned));
    }
    assert_eq!(open, [""; 0]);
    values
}

/// Checks that a page is well formed, loads nothing and refers to ids that it has, each once.
fn whole_page(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"));
    let mut ids = well_formed(html, "id");
    for labels in well_formed(html, "aria-labelledby") {
        assert!(labels.split(' ').all(|label| ids.iter().any(|id| id == label)), "{labels}");
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids are unique");
    for loaded in ["<script", "src=", "href=", "url(", "@import", "NaN", "alert('"] {
        assert!(!html.contains(loaded), "{loaded}");
    }
}

#[test]
fn html_is_well_formed_self_contained_and_escapes_everything() {
    for report in [Report::build(small()).unwrap(), hostile()] {
        whole_page(&report.to_html());
    }
}

#[test]
fn risk_over_coverage_is_drawn_with_a_line_a_policy() {
    let evil = "</title><script>alert('x')</script>";
    let sure = risk_coverage(&[(0.9, 1.0), (0.8, 1.0), (0.4, 0.0), (0.3, 0.0)], 4);
    let wrong_first = risk_coverage(&[(0.9, 0.0), (0.8, 1.0)], 4);
    let silent = risk_coverage(&[], 4);
    let policies = BTreeMap::from([("learnt", sure.clone()), ("rules", wrong_first), ("silent", silent)]);
    let html = to_html(&BTreeMap::from([("one", policies), (evil, BTreeMap::from([(evil, sure)]))]));
    whole_page(&html);
    for said in ["learnt, AURC 0.208", "rules, AURC 0.750", "silent, AURC –", ">risk (", ">coverage ("] {
        assert!(html.contains(said), "{said}");
    }
    let lines: Vec<&str> = html.split("<path class=\"curve\" d=\"M").skip(1).collect();
    assert_eq!(lines.len(), 3, "one that answers nothing has no line");
    // Of the plot's 300 units the axes leave 28 to 256, from risk 1 to 0.
    let (_, learnt) = html.split_once("<title>learnt</title><path class=\"curve\" d=\"M").unwrap();
    let (points, _) = learnt.split_once('"').unwrap();
    let points = points.split('L').map(|point| point.split_once(' ').unwrap());
    let (x, y): (Vec<f64>, Vec<f64>) =
        points.map(|(x, y)| (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap())).unzip();
    assert_eq!((y.len(), y[0], y[9]), (10, 256.0, 142.0), "no risk at first, a half at last: {y:?}");
    assert!(x.is_sorted_by(|a, b| a < b) && x[0] > 40.0 && x[9] < 460.0, "{x:?}");
    whole_page(&to_html(&BTreeMap::new()));
}

#[test]
fn markdown_tables_keep_their_columns_whatever_the_names_hold() {
    let markdown = hostile().to_markdown();
    assert!(!markdown.replace("\\<", "").contains('<'));
    assert!(markdown.contains("\\](h") && !markdown.replace("\\]", "").contains("]("));
    assert_eq!(markdown.lines().filter(|line| line.starts_with("# ")).count(), 1);
    let mut columns = None;
    for line in markdown.lines() {
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let bars = line.replace("\\|", "").matches('|').count();
        assert_eq!(*columns.get_or_insert((bars, line.chars().count())), (bars, line.chars().count()));
    }
}

#[test]
fn both_pages_say_what_p_values_are_corrected_for() {
    let mut three = small();
    let third = MethodRun { name: "third".to_owned(), ..three.methods[0].clone() };
    three.methods.push(third);
    for (input, pairs) in [(small(), "1 pair"), (three, "3 pairs")] {
        let report = Report::build(input).unwrap();
        let said = format!("corrected over {pairs} of methods in this report (p, Holm)");
        assert!(report.to_html().contains(&said) && report.to_markdown().contains(&said), "{}", report.to_markdown());
    }
}

#[test]
fn reports_at_the_edge_render() {
    let one = |ranking| input(vec![question(0, 1, 60, Evidence::Text)], vec![method("only", vec![ranking])]);
    for ranking in [ranks(&[1], 1), ranks(&[], 1), ranks(&[60], 1)] {
        let report = Report::build(one(ranking)).unwrap();
        assert!(report.comparisons.is_empty());
        let html = report.to_html();
        well_formed(&html, "id");
        assert!(!html.contains("NaN") && !html.contains("inf ") && !html.contains("Differences"));
        assert!(!report.to_markdown().contains("Differences"));
    }
}
