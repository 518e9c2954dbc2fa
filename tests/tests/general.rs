//! The ranker that comes with the project, put to a page that it has not seen, in every form of
//! answer that shows the document.

use std::path::Path;

use serde_json::Value;
use tabsegnet_tests::{Outcome, Work};

const PAGE: &str = "<html><body><h1>Annual report</h1>
<p>Net revenue rose by 8 % in 2024. The company has 1,200 employees at 14 places.</p>
<table><caption>Net revenue by region</caption>
<tr><th>In millions</th><th>2024</th><th>2023</th></tr>
<tr><td>United States</td><td>$ 1,203</td><td>$ 1,101</td></tr>
<tr><td>Europe</td><td>640</td><td>611</td></tr>
<tr><td>Total net revenue</td><td>1,843</td><td>1,712</td></tr></table>
<p>Costs fell, since fewer people were hired.</p>
<table><caption>Employees</caption>
<tr><th></th><th>2024</th><th>2023</th></tr>
<tr><td>United States</td><td>700</td><td>690</td></tr>
<tr><td>Europe</td><td>500</td><td>480</td></tr></table></body></html>";
const QUESTION: &str = "What was net revenue in the United States in 2024?";

fn infer(work: &Work, arguments: &[&str]) -> Outcome {
    let checkpoint = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkpoints/general");
    let checkpoint = checkpoint.to_str().expect("the path is UTF-8");
    let query = ["--checkpoint", checkpoint, "--document", "page.html", "--question", QUESTION];
    Outcome::of(&mut work.command("infer", &[&query, arguments].concat()))
}

fn work() -> Work {
    let work = Work::new();
    work.write("page.html", PAGE);
    work
}

#[test]
fn the_wanted_cell_is_among_the_first() {
    let work = work();
    let ranking: Value = serde_json::from_str(&infer(&work, &["--format", "json", "--explain"]).ok().stdout).unwrap();
    let nodes = ranking["nodes"].as_array().unwrap();
    let place = nodes.iter().position(|node| node["id"] == "t0:r1c1").unwrap();
    assert!(place < 3, "{ranking:#}");
    let explanation = &nodes[place]["explanation"];
    let edges = explanation["edges"].as_array().unwrap();
    assert!(
        edges.iter().any(|edge| edge["node"] == "t0:r1h0" && edge["edge_type"] == "row_header_to_cell"),
        "{edges:?}"
    );
    assert!(edges.iter().all(|edge| edge["effect"].is_number() && edge["strength"].is_number()));
    let features = explanation["features"].as_array().unwrap();
    let of_column = features.iter().find(|feature| feature["feature"] == "column.year").unwrap();
    assert!(of_column["value"].as_f64().unwrap() > 0.0, "its column has the year that is wanted: {of_column}");
    let effects: Vec<f64> = features.iter().map(|feature| feature["effect"].as_f64().unwrap().abs()).collect();
    assert!(effects.is_sorted_by(|a, b| a >= b), "{effects:?}");
    assert!(!ranking["edge_strengths"].as_array().unwrap().is_empty());
}

#[test]
fn another_segmenter_is_taken_when_it_is_named_and_that_is_said() {
    let work = work();
    let ranking = |arguments: &[&str]| {
        let run = infer(&work, &[&["--format", "json"], arguments].concat()).ok();
        (serde_json::from_str::<Value>(&run.stdout).unwrap()["segments"].clone(), run.stderr)
    };
    let (own, said) = ranking(&[]);
    assert!(own.as_array().is_some_and(|segments| !segments.is_empty()) && !said.contains("segments: by"), "{said}");
    let (none, said) = ranking(&["--segmenter", "none"]);
    assert!(none.as_array().is_none_or(Vec::is_empty), "{none}");
    assert!(said.contains("segments: by none; the ranker learnt from those by rules"), "{said}");
    let (rules, said) = ranking(&["--segmenter", "rules"]);
    assert!(rules == own && !said.contains("segments: by"), "{said}");
    let wrong = infer(&work, &["--segmenter", "llm"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("expected rules, t5, none or the folder of a T5"), "{}", wrong.stderr);
}

#[test]
fn pages_and_contexts_show_it_kept_or_read_anew() {
    let work = work();
    for _ in 0..2 {
        let context = infer(&work, &["--format", "prompt", "--tokens", "200"]).ok().stdout;
        assert!(context.contains("| r1: United States | $ 1,203 |"), "{context}");
        let page = infer(&work, &["--format", "html"]).ok().stdout;
        assert!(
            page.starts_with("<!DOCTYPE html>") && page.contains("$ 1,203") && page.contains("Net revenue by region")
        );
    }
    let marked = |arguments: &[&str]| {
        let page = infer(&work, &[&["--format", "html"], arguments].concat()).ok().stdout;
        page.split_once("</ol>").map_or(0, |(list, _)| list.matches("<li><a href=\"#n").count())
    };
    assert!((1..=20).contains(&marked(&[])));
    assert!(marked(&["--likely", "0"]) == 1 && marked(&["--likely", "1"]) == 20 && marked(&["--top-k", "7"]) == 7);
    infer(&work, &["--format", "prompt", "--tokens", "5"]).fails(1, &["--tokens: the best node alone takes about"]);
}
