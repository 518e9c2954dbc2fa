//! What is said to a question, its program and checks, and the way over the nodes, for the panel.

use std::fmt::Write as _;

use crate::answer::{Move, Reply};
use crate::kit::escape;
use crate::marks::Marks;
use crate::nodes::Nodes;
use crate::text::shorten;

/// Most characters of what a move saw.
const SHOWN: usize = 240;
/// Most nodes of a move that are links.
const LINKS: usize = 8;

/// Goes through the steps of a path; filled by the script.
pub(crate) const WALK: &str = "<nav id=\"walk\" aria-label=\"Steps of the path\" hidden>\n\
    <button type=\"button\" id=\"walk-back\" title=\"Previous step\" aria-label=\"Previous step\">‹</button>\n\
    <span id=\"walk-at\" role=\"status\"></span>\n\
    <button type=\"button\" id=\"walk-on\" title=\"Next step\" aria-label=\"Next step\">›</button>\n</nav>\n";

/// The answer and how sure it is.
pub(crate) fn said(reply: &Reply) -> String {
    let mut html = match reply.text.trim() {
        "" => "<p class=\"said none\">It does not know.</p>\n".to_owned(),
        text => format!("<p class=\"said\" dir=\"auto\">{}</p>\n", escape(text)),
    };
    if !reply.note.is_empty() {
        let _ = writeln!(html, "<p class=\"note\" dir=\"auto\">{}</p>", escape(&reply.note));
    }
    let confidence = reply.confidence.clamp(0.0, 1.0);
    let _ = writeln!(
        html,
        "<dl class=\"facts\">\n<div><dt>confidence</dt> <dd><span class=\"meter\" style=\"--v:{confidence:.3}\"></span>{confidence:.2}</dd></div>"
    );
    for (name, value) in &reply.facts {
        let _ = writeln!(html, "<div><dt>{}</dt> <dd>{}</dd></div>", escape(name), escape(value));
    }
    html + "</dl>\n"
}

/// Program, checks and path.
pub(crate) fn how(reply: &Reply, marks: &Marks, nodes: &Nodes) -> String {
    let mut html = String::new();
    if !reply.program.is_empty() {
        html += "<h3>Program</h3>\n<table class=\"program\">\n<thead class=\"vh\"><tr><th scope=\"col\">Result</th>\
                 <th scope=\"col\">Step</th><th scope=\"col\">Value</th></tr></thead>\n<tbody>\n";
        for (number, (step, result)) in reply.program.iter().enumerate() {
            let _ = writeln!(
                html,
                "<tr><th scope=\"row\">#{number}</th><td><code>{}</code></td><td class=\"n\">{}</td></tr>",
                escape(step),
                escape(&rounded(result))
            );
        }
        html += "</tbody>\n</table>\n";
    }
    if !reply.checks.is_empty() {
        html += "<h3>Checks</h3>\n<ul class=\"checks\" role=\"list\">\n";
        for (what, holds) in &reply.checks {
            let (class, sign, word) =
                if *holds { ("holds", "✓", "holds") } else { ("fails", "✗", "does not hold") };
            let _ = writeln!(
                html,
                "<li class=\"{class}\"><span aria-hidden=\"true\">{sign}</span><span class=\"vh\">{word}: </span> <span>{}</span></li>",
                escape(what)
            );
        }
        html += "</ul>\n";
    }
    if !reply.path.is_empty() {
        html += "<h3>Path</h3>\n<ol class=\"path\" role=\"list\">\n";
        for (number, (step, moves)) in reply.path.iter().zip(&marks.path).enumerate() {
            let _ = writeln!(html, "<li data-step=\"{number}\"><h4>{}</h4>", escape(&step.title));
            if !step.thought.trim().is_empty() {
                let _ = writeln!(html, "<p dir=\"auto\">{}</p>", escape(&step.thought));
            }
            html += "<ul role=\"list\">\n";
            step.moves.iter().zip(moves).for_each(|(of, (_, to))| html += &moved(of, to, nodes));
            html += "</ul>\n</li>\n";
        }
        html += "</ol>\n";
    }
    html
}

fn moved(of: &Move, to: &[usize], nodes: &Nodes) -> String {
    let mut html = format!("<li><code>{}</code>", escape(&shorten(&of.action, SHOWN)));
    if !of.seen.trim().is_empty() {
        let _ = write!(html, " <span class=\"seen\" dir=\"auto\">{}</span>", escape(&shorten(&of.seen, SHOWN)));
    }
    let links = to.iter().take(LINKS).filter_map(|number| {
        let node = nodes.get(*number)?;
        Some(format!("<a href=\"#n{number}\" title=\"{}\">{}</a>", escape(&node.place()), escape(&node.id)))
    });
    let links: Vec<String> = links.collect();
    if !links.is_empty() {
        let more = to.len().saturating_sub(LINKS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = write!(html, " <small class=\"to\">→ {}{more}</small>", links.join(" "));
    }
    html + "</li>\n"
}

/// A long decimal to eight places.
fn rounded(result: &str) -> String {
    match result.split_once('.') {
        Some((whole, places)) if places.chars().count() > 8 && places.chars().all(|c| c.is_ascii_digit()) => {
            format!("{whole}.{}…", places.chars().take(8).collect::<String>())
        }
        _ => result.to_owned(),
    }
}
