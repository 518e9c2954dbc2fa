//! What stands beside the document: for each question its segments, ranks and edge strengths, and
//! a place for the chosen node.

use std::fmt::Write as _;

use crate::answer::EdgeStrength;
use crate::kit::{class, escape};
use crate::marks::{Marks, WORST_RANK};
use crate::nodes::{Node, Nodes};
use crate::reading::badge;
use crate::text::{edge_type, number, shorten};
use crate::{palette, reply};

/// Most characters of a node's text in the list of ranks, and of a question in the switch.
const SHOWN: usize = 120;

/// The panel.
pub(crate) fn render(answers: &[Marks], nodes: &Nodes) -> String {
    let sections: String =
        answers.iter().enumerate().map(|(position, marks)| section(position, marks, nodes)).collect();
    let sections = if answers.is_empty() { "<p>No question was given.</p>\n".to_owned() } else { sections };
    let walk = if answers.iter().any(|marks| !marks.path.is_empty()) { reply::WALK } else { "" };
    format!(
        "<aside class=\"panel\" aria-label=\"Answers\">\n{walk}<div class=\"answers\">\n{}{sections}{KEYS}</div>\n{NODE}</aside>\n",
        switch(answers)
    )
}

/// Shown by the script, without which no key does anything.
const KEYS: &str = "<p id=\"keys\" class=\"legend\" hidden>↑ ↓ look through the ranks, Enter goes to the place, arrows go \
    on from there, Esc comes back. A click on any cell or sentence says where its score comes from.</p>\n";

/// Filled by the script.
const NODE: &str = "<section id=\"node\" aria-labelledby=\"node-title\" hidden>\n<header>\n<h2 id=\"node-title\"></h2>\n\
    <button type=\"button\" id=\"previous\" title=\"Previous rank\" aria-label=\"Previous rank\">‹</button>\n\
    <button type=\"button\" id=\"next\" title=\"Next rank\" aria-label=\"Next rank\">›</button>\n\
    <button type=\"button\" id=\"close\" title=\"Close\" aria-label=\"Close\">×</button>\n</header>\n\
    <div id=\"node-body\"></div>\n</section>\n<p id=\"status\" class=\"vh\" role=\"status\"></p>\n";

fn switch(answers: &[Marks]) -> String {
    if answers.len() < 2 {
        return String::new();
    }
    let mut html =
        String::from("<p class=\"switch\" hidden><label for=\"question\">Question</label> <select id=\"question\">\n");
    for (position, marks) in answers.iter().enumerate() {
        let question = escape(&shorten(&marks.answer.question, SHOWN));
        let _ = writeln!(html, "<option value=\"{position}\">{}. {question}</option>", position + 1);
    }
    html + "</select></p>\n"
}

fn section(position: usize, marks: &Marks, nodes: &Nodes) -> String {
    let hidden = if position > 0 { " hidden" } else { "" };
    format!(
        "<section class=\"answer\" aria-labelledby=\"q{position}\"{hidden}>\n<h2 id=\"q{position}\" dir=\"auto\">{}</h2>\n{}{}{}{}{}</section>\n",
        escape(&marks.answer.question),
        marks.answer.reply.as_ref().map_or_else(String::new, reply::said),
        segments(marks),
        ranks(position, marks, nodes),
        strengths(&marks.answer.strengths),
        marks.answer.reply.as_ref().map_or_else(String::new, |of| reply::how(of, marks, nodes)),
    )
}

fn segments(marks: &Marks) -> String {
    if marks.answer.segments.is_empty() {
        return String::new();
    }
    let mut html = String::from("<h3>Segments</h3>\n<ul class=\"segments\" role=\"list\">\n");
    for (segment, text) in marks.answer.segments.iter().enumerate() {
        let _ = write!(
            html,
            "<li class=\"{}\"><b class=\"g\">{}</b> <span><bdi>{}</bdi>",
            class(segment),
            palette::letters(segment),
            escape(text)
        );
        let covered = marks.ranked.iter().filter(|ranked| ranked.segment == Some(segment));
        let links = covered.map(|ranked| format!("<a href=\"#n{}\">{}</a>", ranked.number, ranked.rank));
        let links: Vec<String> = links.collect();
        html += &match links.as_slice() {
            [] => " <small>no ranked node</small>".to_owned(),
            _ => format!(" <small>rank {}</small>", links.join(" ")),
        };
        html += "</span></li>\n";
    }
    html + "</ul>\n"
}

fn ranks(position: usize, marks: &Marks, nodes: &Nodes) -> String {
    let (title, none) = match marks.answer.reply {
        Some(_) => ("Cited, by rank", ""),
        None => ("Ranks", "<p>No node was ranked.</p>\n"),
    };
    if marks.ranked.is_empty() {
        return none.to_owned();
    }
    let mut html = format!(
        "<h3 id=\"r{position}\">{title}</h3>\n<ol class=\"ranks\" role=\"list\" aria-labelledby=\"r{position}\">\n"
    );
    for ranked in &marks.ranked {
        let Some(node) = nodes.get(ranked.number) else { continue };
        let score = match marks.scored() {
            true => format!("<span class=\"score\"><span class=\"vh\">score </span>{}</span>", number(ranked.score)),
            false => String::new(),
        };
        let text = match node.text.trim() {
            "" => "<i>no text</i>".to_owned(),
            text => escape(&shorten(text, SHOWN)),
        };
        let _ = writeln!(
            html,
            "<li><a href=\"#n{}\">{}<span class=\"what\"><bdi>{text}</bdi> <small><bdi>{}</bdi></small>{}</span> {score}</a>{}</li>",
            ranked.number,
            badge(ranked),
            escape(&node.place()),
            within(node),
            duplicates(&ranked.duplicates, nodes)
        );
    }
    html += "</ol>\n";
    if !marks.answer.scores.is_empty() {
        html += &legend();
    }
    html
}

/// Links to other places of the same fact.
fn duplicates(numbers: &[usize], nodes: &Nodes) -> String {
    let link = |number: &usize| {
        let id = &nodes.get(*number)?.id;
        Some(format!("<a href=\"#n{number}\">{}</a>", escape(id)))
    };
    let links: Vec<String> = numbers.iter().filter_map(link).collect();
    match links.as_slice() {
        [] => String::new(),
        _ => format!("<p class=\"same\">the same: {}</p>", links.join(", ")),
    }
}

/// Where two tables look alike, what they stand in tells them apart.
fn within(node: &Node) -> String {
    match node.within().as_str() {
        "" => String::new(),
        text => format!(" <small class=\"in\"><bdi>{}</bdi></small>", escape(text)),
    }
}

fn legend() -> String {
    let mut html = String::from("<p class=\"legend\">Shaded by rank, to ");
    let shades: Vec<String> = WORST_RANK
        .iter()
        .enumerate()
        .rev()
        .map(|(level, worst)| format!("<span class=\"l{}\">{worst}</span>", level + 1))
        .collect();
    html += &shades.join(" ");
    html + "</p>\n"
}

fn strengths(strengths: &[EdgeStrength]) -> String {
    if strengths.is_empty() {
        return String::new();
    }
    let mut sorted: Vec<&EdgeStrength> = strengths.iter().collect();
    sorted.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    let most = strengths.iter().fold(0.0, |most: f32, strength| most.max(strength.strength.abs()));
    // Zero is at the left, or in the middle where some bars go the other way.
    let both = strengths.iter().any(|strength| strength.strength < 0.0);
    let mut html = String::from(
        "<details class=\"strengths\" open><summary><h3>Edge strengths</h3></summary>\n<table>\n\
         <caption class=\"vh\">How strongly the question lets each type of edge speak</caption>\n\
         <thead class=\"vh\"><tr><th scope=\"col\">Edge type</th><th scope=\"col\">Strength</th></tr></thead>\n<tbody>\n",
    );
    for strength in sorted {
        let share = if most > 0.0 { strength.strength / most } else { 0.0 };
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{}</th><td><span class=\"bar{}{}\" style=\"--v:{:.3}\"></span>{}</td></tr>",
            escape(&edge_type(&strength.edge_type)),
            if both { " both" } else { "" },
            if strength.strength < 0.0 { " less" } else { "" },
            share.abs(),
            number(strength.strength)
        );
    }
    html + "</tbody>\n</table>\n</details>\n"
}
