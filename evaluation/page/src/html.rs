//! The page as a whole.

use std::collections::BTreeMap;

use crate::kit::{BASE, DARK, escape};
use crate::marks::Marks;
use crate::nodes::Nodes;
use crate::{Page, PageError, data, palette, panel, reading};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// A browser refuses whatever the page would load.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

pub(crate) fn render(page: &Page, rows: &BTreeMap<usize, Vec<usize>>) -> Result<String, PageError> {
    let nodes = Nodes::new(page.document, page.layout, rows);
    let answers: Vec<Marks> = page
        .answers
        .iter()
        .map(|answer| Marks::new(answer, &nodes, &page.document.id))
        .collect::<Result<_, PageError>>()?;
    let title = escape(page.title);
    let panel = panel::render(&answers, &nodes);
    let document = reading::render(page.document, page.layout, &answers);
    Ok([
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
        "<meta name=\"color-scheme\" content=\"light dark\">\n",
        &format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<title>{title}</title>\n"),
        &format!("<style>\n{}</style>\n</head>\n<body>\n", style()),
        "<a class=\"skip\" href=\"#document\">Skip to the document</a>\n",
        &format!("<header class=\"top\">\n<h1 dir=\"auto\">{title}</h1>\n{}", about(page.about)),
        "<button type=\"button\" id=\"theme\" aria-pressed=\"false\" hidden>Dark</button>\n</header>\n",
        "<div class=\"sides\">\n",
        &panel,
        "<main id=\"document\" tabindex=\"-1\" aria-labelledby=\"document-title\">\n",
        "<h2 id=\"document-title\" class=\"vh\">Document</h2>\n",
        &document,
        "</main>\n</div>\n",
        &format!("<script type=\"application/json\" id=\"data\">{}</script>\n", data::json(&answers, &nodes)),
        &format!("<script>\n{SCRIPT}</script>\n</body>\n</html>\n"),
    ]
    .concat())
}

fn style() -> String {
    let (light, dark) = (palette::properties(false), palette::properties(true));
    format!(
        "{BASE}{STYLE}:root{{{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{DARK}{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{{DARK}{dark}}}}}\n{}\n",
        palette::rules()
    )
}

fn about(facts: &[(String, String)]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let fact =
        |(name, value): &(String, String)| format!("<div><dt>{}</dt> <dd>{}</dd></div>\n", escape(name), escape(value));
    format!("<dl>\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
}
