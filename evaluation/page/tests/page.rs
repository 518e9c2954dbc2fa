//! What a page holds.

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;
use tabsegnet_document::layout::Layout;
use tabsegnet_document::model::{Block, CellSource, Document, Heading, Table, TableSource};
use tabsegnet_document::{ReadOptions, read_bytes};
use tabsegnet_page::{Answer, Explanation, InEdge, Move, Page, PageError, PathStep, RankedNode, Reply};

#[path = "../examples/sample/mod.rs"]
mod sample;

fn page(document: &Document, layout: Option<&Layout>, answers: &[Answer]) -> Result<String, PageError> {
    Page { title: "a page", about: &[], document, layout, answers }.html()
}

fn passages(texts: &[&str]) -> Document {
    Document { id: "d".into(), blocks: texts.iter().map(|text| Block::Passage((*text).to_owned())).collect() }
}

fn span(text: &str, rowspan: usize, colspan: usize) -> CellSource {
    CellSource { text: text.into(), rowspan, colspan }
}

fn table(source: TableSource) -> Document {
    Document { id: "d".into(), blocks: vec![Block::Table(Table::new(source).unwrap())] }
}

fn ranked(id: &str, rank: usize) -> RankedNode {
    RankedNode { id: id.into(), rank, score: 1.0, segment: None, duplicates: Vec::new(), explanation: None }
}

/// An answer with the same words everywhere, whose path has a move a step to these nodes.
fn reply(words: &str, path: &[&[&str]]) -> Reply {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let steps = path.iter().map(|to| PathStep {
        title: words.into(),
        thought: words.into(),
        moves: vec![Move { action: words.into(), seen: words.into(), from: ids(&path[0][..1]), to: ids(to) }],
    });
    Reply {
        text: words.into(),
        note: words.into(),
        confidence: 0.25,
        facts: vec![(words.into(), words.into())],
        program: vec![(words.into(), words.into())],
        checks: vec![(words.into(), true), (words.into(), false)],
        path: steps.collect(),
    }
}

/// The page's part between two texts.
fn between<'a>(html: &'a str, from: &str, to: &str) -> &'a str {
    let start = html.find(from).unwrap_or_else(|| panic!("{from} not in the page")) + from.len();
    &html[start..start + html[start..].find(to).unwrap()]
}

fn data(html: &str) -> Value {
    serde_json::from_str(between(html, "<script type=\"application/json\" id=\"data\">", "</script>")).unwrap()
}

fn main_part(html: &str) -> &str {
    between(html, "<h2 id=\"document-title\" class=\"vh\">Document</h2>\n", "</main>")
}

#[test]
fn whatever_comes_from_outside_stays_text() {
    const BAD: &str = "</script><script>alert(1)</script><!-- \u{2028}\" ' &amp; <b onclick=x>";
    let rows = vec![vec![BAD.into(), BAD.into()], vec![BAD.into(), "1".into()]];
    let source = TableSource { caption: BAD.into(), header_rows: 1, header_cols: 1, rows, ..TableSource::default() };
    let mut document = table(source);
    document.blocks.push(Block::Passage(BAD.into()));
    document.id = BAD.into();
    let edges = vec![InEdge { node: "p0".into(), edge_type: BAD.into(), strength: 1.0, effect: 1.0 }];
    let explanation = Some(Explanation { before: None, alone: 0.0, edges });
    let top = ["t0", "t0:h0c1", "t0:r1h0", "t0:r1c1", "p0"].iter().enumerate();
    let top =
        top.map(|(at, id)| RankedNode { segment: Some(0), explanation: explanation.clone(), ..ranked(id, at + 1) });
    let answer = Answer {
        question: BAD.into(),
        segments: vec![BAD.into()],
        strengths: vec![tabsegnet_page::EdgeStrength { edge_type: BAD.into(), strength: 1.0 }],
        nodes: top.collect(),
        scores: vec![("p0".into(), 1.0)],
        reply: Some(reply(BAD, &[&["t0:r1h0"], &["t0:r1c1", "p0"]])),
    };
    let about = [(BAD.to_owned(), BAD.to_owned())];
    let answers = [answer.clone(), answer];
    let html = Page { title: BAD, about: &about, document: &document, layout: None, answers: &answers }.html().unwrap();
    assert!(!html.contains("alert(1)<") && !html.contains("<b onclick") && !html.contains("<!-- "));
    assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (2, 2));
    assert_eq!(data(&html)["answers"][0]["segments"][0], BAD);
}

#[test]
fn an_answer_is_shown_with_its_program_checks_and_path() {
    let document = passages(&["Revenue was 12.", "It rose by 2."]);
    let answer = Answer {
        question: "By how much?".into(),
        nodes: vec![ranked("p1", 2)],
        reply: Some(Reply {
            program: vec![("subtract(12, 10)".into(), "2".into()), ("divide(#0, 10)".into(), "0.20000000001".into())],
            ..reply("two", &[&["p0"], &["p1"]])
        }),
        ..Answer::default()
    };
    let html = page(&document, None, std::slice::from_ref(&answer)).unwrap();
    for part in [
        "<p class=\"said\" dir=\"auto\">two</p>",
        "0.25</dd>",
        "Cited, by rank",
        "<code>subtract(12, 10)</code></td><td class=\"n\">2</td>",
        "0.20000000…</td>",
        "<li class=\"fails\"><span aria-hidden=\"true\">✗</span><span class=\"vh\">does not hold: </span> <span>two</span>",
        "<li data-step=\"1\"><h4>two</h4>",
        "<a href=\"#n1\" title=\"sentence\">p1</a>",
        "id=\"n0\"",
        "id=\"walk\"",
    ] {
        assert!(html.contains(part), "{part} is not in the page");
    }
    assert_eq!(data(&html)["answers"][0]["path"], serde_json::json!([[[[0], [0]]], [[[0], [1]]]]));
    let silent = Answer { reply: Some(Reply::default()), nodes: Vec::new(), ..answer.clone() };
    let html = page(&document, None, &[silent]).unwrap();
    assert!(
        html.contains("It does not know.") && !html.contains("id=\"walk\"") && !html.contains("No node was ranked")
    );
    let elsewhere = Answer { reply: Some(reply("x", &[&["p7"]])), ..answer };
    let error = page(&document, None, &[elsewhere]).unwrap_err().to_string();
    assert!(error.contains("path names the node \"p7\""), "{error}");
}

#[test]
fn nodes_are_numbered_as_their_elements_stand() {
    let read = sample::document(None, 1).unwrap();
    let html = page(&read.document, Some(&read.layout), &sample::answers(&read.document, 10, 1)).unwrap();
    let main = main_part(&html);
    let elements = ["<caption", "<th ", "<th>", "<td ", "<td>", "<span class=\"s"].map(|tag| main.matches(tag).count());
    let ids: Vec<String> = data(&html)["ids"].as_str().unwrap().split(' ').map(str::to_owned).collect();
    assert_eq!(elements.iter().sum::<usize>(), ids.len());
    // Captions stand where their ids do.
    let mut at = Vec::new();
    for (number, element) in main
        .split('<')
        .filter(|tag| {
            ["caption", "th ", "th>", "td ", "td>", "span class=\"s"].iter().any(|start| tag.starts_with(start))
        })
        .enumerate()
    {
        if element.starts_with("caption") {
            at.push(ids[number].as_str());
        }
    }
    assert_eq!(at, ["t0", "t1", "t2"]);
    // Every rank leads to an element.
    for link in html.split("<a href=\"#n").skip(1) {
        let number = link.split('"').next().unwrap();
        assert_eq!(html.matches(&format!(" id=\"n{number}\"")).count(), 1);
    }
}

#[test]
fn headers_have_scopes_and_merged_cells_their_spans() {
    let rows = vec![
        vec![span("", 2, 1), span("Revenue", 1, 2)],
        vec!["2018".into(), "2019".into()],
        vec![span("Products", 2, 1), "1".into(), "2".into()],
        vec![span("both", 1, 2)],
        vec!["Services".into(), "3".into(), "הכנסות".into()],
    ];
    let row_parents = vec![None, None, None, None, Some(2)];
    let source = TableSource {
        caption: "Sales".into(),
        header_rows: 2,
        header_cols: 1,
        rows,
        row_parents,
        ..TableSource::default()
    };
    let html = page(&table(source), None, &[]).unwrap();
    let expected = "<caption><span><span class=\"tag\">Table 0</span> Sales</span></caption>\n<thead>\n\
        <tr><td rowspan=\"2\"></td><th scope=\"colgroup\" colspan=\"2\">Revenue</th></tr>\n\
        <tr><th class=\"r\" scope=\"col\">2018</th><th scope=\"col\">2019</th></tr>\n</thead>\n<tbody>\n\
        <tr><th scope=\"rowgroup\" rowspan=\"2\">Products</th><td class=\"r\">1</td><td class=\"r\">2</td></tr>\n\
        <tr><td colspan=\"2\">both</td></tr>\n\
        <tr><th class=\"i1\" scope=\"row\">Services</th><td class=\"r\">3</td><td dir=\"auto\">הכנסות</td></tr>\n</tbody>\n";
    assert!(html.contains(expected), "{}", main_part(&html));
}

#[test]
fn a_head_that_reaches_into_the_body_is_not_cut_off() {
    let rows = vec![vec![span("a", 2, 1), "b".into()], vec!["c".into()]];
    let html = page(&table(TableSource { header_rows: 1, rows, ..TableSource::default() }), None, &[]).unwrap();
    assert!(!main_part(&html).contains("<thead"), "{}", main_part(&html));
    let rows = vec![vec!["a".into(), "b".into()]];
    let html = page(&table(TableSource { header_rows: 1, rows, ..TableSource::default() }), None, &[]).unwrap();
    assert!(main_part(&html).contains("</tr>\n</thead>\n</table>"), "{}", main_part(&html));
    assert!(main_part(&html).contains("Table 0</span> <i>without a caption</i>"));
}

#[test]
fn paragraphs_read_as_paragraphs_where_the_layout_is_known() {
    let mut document = passages(&["We sold.", "We bought.", "", "Alone."]);
    document.blocks.insert(0, Block::Heading(Heading { level: 1, text: "Sales".into() }));
    let paragraphs = vec![0..2, 3..99];
    let html = page(&document, Some(&Layout { paragraphs, ..Layout::default() }), &[]).unwrap();
    let expected = "<h3 dir=\"auto\"><span class=\"s\">Sales</span></h3>\n\
        <p dir=\"auto\"><span class=\"s\">We sold.</span> <span class=\"s\">We bought.</span></p>\n\
        <p dir=\"auto\"><span class=\"s blank\"></span></p>\n<p dir=\"auto\"><span class=\"s\">Alone.</span></p>\n";
    assert!(html.contains(expected), "{}", main_part(&html));
    let html = page(&document, None, &[]).unwrap();
    assert_eq!(main_part(&html).matches("<p ").count(), 4);
}

#[test]
fn entries_of_two_tables_that_look_alike_say_what_they_stand_in() {
    let text = "# Report\n\nWe sold.\n\n## Segments\n\n| | 2024 |\n|--|--|\n| Cash | 1 |\n\n## Notes\n\n\
        <table><caption>Balance sheet</caption><tr><th></th><th>2024</th></tr><tr><th>Cash</th><td>1</td></tr></table>\n\n\
        They are audited.\n";
    let read = read_bytes(Path::new("r.md"), text.into(), &ReadOptions::default()).unwrap();
    let ids = ["t0:r1c1", "t1:r1c1", "t1", "p1", "s2", "s0"];
    let nodes = ids.iter().enumerate().map(|(at, id)| ranked(id, at + 1)).collect();
    let html = page(&read.document, Some(&read.layout), &[Answer { nodes, ..Answer::default() }]).unwrap();
    let within: Vec<&str> = between(&html, "<ol class=\"ranks\"", "</ol>")
        .split("<li>")
        .skip(1)
        .map(|entry| if entry.contains("class=\"in\"") { between(entry, "class=\"in\"><bdi>", "</bdi>") } else { "" })
        .collect();
    // A heading stands in the one above it, the table that took its caption from the heading names it once.
    let expected = [
        "Report · Table 0: Segments · line 9",
        "Report &gt; Notes · Table 1: Balance sheet · line 13",
        "Report &gt; Notes · line 13",
        "Report &gt; Notes · line 15",
        "Report · line 11",
        "line 1",
    ];
    assert_eq!(within, expected);
}

#[test]
fn nothing_to_show_is_a_page_too() {
    let html = page(&passages(&[]), None, &[]).unwrap();
    assert_eq!(main_part(&html), "");
    assert!(html.contains("No question was given."));
    let html = page(&passages(&["a"]), None, &[Answer::default()]).unwrap();
    assert!(html.contains("No node was ranked."));
    assert_eq!(data(&html)["answers"][0]["scores"], serde_json::json!([]));
}

#[test]
fn each_question_has_its_panel_and_the_first_its_marks() {
    let document = passages(&["a", "b", "c", "d"]);
    let scores =
        |best: &str| ["p0", "p1", "p2", "p3"].map(|id| (id.to_owned(), f32::from(u8::from(id == best)))).to_vec();
    let first = RankedNode { segment: Some(1), ..ranked("p1", 1) };
    let segments = vec!["x".to_owned(), "y".to_owned()];
    let first =
        Answer { question: "1?".into(), segments, nodes: vec![first], scores: scores("p1"), ..Answer::default() };
    let second =
        Answer { question: "2?".into(), nodes: vec![ranked("p3", 1)], scores: scores("p3"), ..Answer::default() };
    let html = page(&document, None, &[first, second]).unwrap();
    let main = main_part(&html);
    assert!(
        main.contains(
            "<span class=\"s l5 k m1\" id=\"n1\"><span class=\"b m1\"><span class=\"vh\">rank </span>1\
         <span class=\"vh\">, segment </span><b>B</b></span> b</span>"
        ),
        "{main}"
    );
    assert!(main.contains("<span class=\"s\" id=\"n3\">d</span>"), "{main}");
    assert_eq!(html.matches("<section class=\"answer\"").count(), 2);
    assert!(html.contains("<section class=\"answer\" aria-labelledby=\"q1\" hidden>"));
    assert_eq!(html.matches("<option ").count(), 2);
    let answers = &data(&html)["answers"];
    assert_eq!(answers[1]["ranked"], serde_json::json!([[3, 1, -1, 1.0]]));
    assert_eq!(answers[1]["shades"], serde_json::json!([[], [], [], [], [3]]));
    // A single question needs no switch.
    assert!(!page(&document, None, &[Answer::default()]).unwrap().contains("<select"));
}

#[test]
fn answers_that_do_not_fit_the_document_are_refused() {
    let document = passages(&["a", "b"]);
    let refused = |answer: Answer| page(&document, None, &[answer]).unwrap_err();
    let unknown = refused(Answer { question: "q".into(), nodes: vec![ranked("t9:r1c1", 1)], ..Answer::default() });
    assert_eq!(
        unknown.to_string(),
        "question \"q\": nodes names the node \"t9:r1c1\", which document \"d\" has not; give the document that was ranked"
    );
    let unknown = refused(Answer { scores: vec![("p2".into(), 0.0)], ..Answer::default() });
    assert!(matches!(unknown, PageError::UnknownNode { place, .. } if place == "scores"));
    let edges = vec![InEdge { node: "p7".into(), edge_type: "e".into(), strength: 1.0, effect: 1.0 }];
    let explained =
        RankedNode { explanation: Some(Explanation { before: None, alone: 0.0, edges }), ..ranked("p0", 1) };
    let unknown = refused(Answer { nodes: vec![explained], ..Answer::default() });
    assert!(matches!(unknown, PageError::UnknownNode { place, .. } if place == "the explanation of p0"));
    let segment = RankedNode { segment: Some(2), ..ranked("p0", 1) };
    let segment = refused(Answer { nodes: vec![segment], segments: vec!["s".into(); 2], ..Answer::default() });
    assert!(matches!(segment, PageError::UnknownSegment { segment: 2, segments: 2, .. }));
    let twice = refused(Answer { nodes: vec![ranked("p0", 1), ranked("p0", 2)], ..Answer::default() });
    assert!(matches!(twice, PageError::RankedTwice { .. }));
    let score = refused(Answer { scores: vec![("p0".into(), f32::NAN)], ..Answer::default() });
    assert!(matches!(score, PageError::NotFinite { .. }));
    let score =
        refused(Answer { nodes: vec![RankedNode { score: f32::INFINITY, ..ranked("p0", 1) }], ..Answer::default() });
    assert!(matches!(score, PageError::NotFinite { .. }));
}

#[test]
fn ten_thousand_nodes_take_less_than_5_mb_and_are_the_same_each_time() {
    let read = sample::document(Some((10_000, 24)), 1).unwrap();
    let answers = sample::answers(&read.document, 50, 1);
    assert!(answers[0].scores.len() >= 10_000, "{}", answers[0].scores.len());
    let html = page(&read.document, Some(&read.layout), &answers).unwrap();
    assert!(html.len() < 5_000_000, "{}", html.len());
    assert_eq!(html, page(&read.document, Some(&read.layout), &answers).unwrap());
}

proptest! {
    /// Tags of the document open and close, whatever the texts.
    #[test]
    fn any_texts_make_a_page_of_as_many_nodes(texts in prop::collection::vec(any::<String>(), 1..12), width in 1..4_usize, header_rows in 0..2_usize) {
        let rows: Vec<Vec<CellSource>> = texts.chunks(width).filter(|row| row.len() == width).map(|row| row.iter().map(|text| text.as_str().into()).collect()).collect();
        let mut document = passages(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let mut nodes = texts.len();
        if !rows.is_empty() {
            nodes += 1 + rows.len() * width;
            document.blocks.insert(texts.len() / 2, Block::Table(Table::new(TableSource { caption: texts[0].clone(), header_rows, rows, ..TableSource::default() }).unwrap()));
        }
        let html = page(&document, None, &[]).unwrap();
        let main = main_part(&html);
        for tag in ["p", "span", "div", "table", "caption", "tr", "td", "th", "thead", "tbody"] {
            let open = main.matches(&format!("<{tag} ")).count() + main.matches(&format!("<{tag}>")).count();
            prop_assert_eq!(open, main.matches(&format!("</{tag}>")).count());
        }
        prop_assert_eq!(data(&html)["ids"].as_str().unwrap().split(' ').count(), nodes);
        prop_assert_eq!(html.matches("<script").count(), 2);
    }
}

#[test]
fn entries_say_where_they_stand_in_the_file() {
    let text = "# Fruit\n\nPears were short.\n\n| | sold |\n|---|---|\n| pears | 312 |\n";
    let read = read_bytes(Path::new("x.md"), text.into(), &ReadOptions::default()).unwrap();
    let nodes = vec![ranked("t0:r1c1", 1), ranked("p0", 2)];
    let html = page(&read.document, Some(&read.layout), &[Answer { nodes, ..Answer::default() }]).unwrap();
    let entries = between(&html, "<ol class=\"ranks\"", "</ol>");
    assert!(entries.contains(" · line 7</bdi>") && entries.contains(" · line 3</bdi>"), "{entries}");
}
