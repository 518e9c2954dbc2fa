//! A schema as one HTML page.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::graph::{JoinOrigin, SchemaGraph};

const STYLE: &str = "body{font:14px system-ui,sans-serif;margin:1rem;color:#222;background:#fff}\
#t{display:flex;flex-wrap:wrap;gap:2rem 3rem;align-items:flex-start;position:relative}\
section{border:1px solid #888;border-radius:4px;background:#fff;min-width:9rem;z-index:1}\
section.v{border-style:dashed}h2{font-size:1em;margin:0;padding:.3rem .6rem;background:#eef}\
ul{list-style:none;margin:0;padding:.3rem .6rem}li span{color:#666}b{font-weight:600}\
svg{position:absolute;inset:0;width:100%;height:100%;pointer-events:none;z-index:0}\
path{fill:none;stroke:#68c;stroke-width:1.3}path.d{stroke:#b85;stroke-dasharray:4 3}path.c{stroke:#9a9;stroke-dasharray:1 3}\
.l{color:#666}.l i{font-style:normal;color:#68c}.l .d{color:#b85}.l .c{color:#797}\
.on path:not(.hit){opacity:.08}.on section:not(.hit){opacity:.3}";

/// Draws the lines once the boxes stand, and shows what one table is joined with.
const SCRIPT: &str = r#"const t=document.getElementById('t'),s=t.querySelector('svg');
function draw(){s.innerHTML='';const o=t.getBoundingClientRect();for(const[a,b,k]of E){const f=document.getElementById('c'+a),
g=document.getElementById('c'+b);if(!f||!g||!f.offsetParent||!g.offsetParent)continue;const p=f.getBoundingClientRect(),
q=g.getBoundingClientRect(),r=q.left>p.right,x1=(r?p.right:p.left)-o.left,x2=(r?q.left:q.right)-o.left,
y1=p.top+p.height/2-o.top,y2=q.top+q.height/2-o.top,m=r?30:-30,e=document.createElementNS('http://www.w3.org/2000/svg','path');
e.setAttribute('d',`M${x1},${y1}C${x1+m},${y1} ${x2-m},${y2} ${x2},${y2}`);if(k)e.setAttribute('class',k);
e.dataset.t=f.closest('section').id+' '+g.closest('section').id;s.append(e)}}
draw();addEventListener('resize',draw);
for(const c of t.querySelectorAll('section')){c.onmouseenter=()=>{t.classList.add('on');c.classList.add('hit');
for(const p of s.children){const w=p.dataset.t.split(' ');if(w.includes(c.id)){p.classList.add('hit');
w.forEach(i=>document.getElementById(i).classList.add('hit'))}}};
c.onmouseleave=()=>{t.classList.remove('on');t.querySelectorAll('.hit').forEach(e=>e.classList.remove('hit'))}}
document.getElementById('f').oninput=e=>{const w=e.target.value.toLowerCase();
for(const c of t.querySelectorAll('section'))c.hidden=!c.textContent.toLowerCase().includes(w);draw()}"#;

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

/// What columns join their tables to, by their numbers: ` → city.id, many to one (home)`.
fn joins_of_columns(graph: &SchemaGraph) -> HashMap<usize, String> {
    let mut texts: HashMap<usize, String> = HashMap::new();
    for join in graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied) {
        let role = join.role.as_ref().map_or_else(String::new, |role| format!(" ({role})"));
        for (from, to) in &join.pairs {
            let text = texts.entry(*from).or_default();
            let _ = write!(text, " → {}, {}{role}", graph.column_id(*to), join.cardinality.in_words());
        }
    }
    texts
}

/// One page that needs nothing else: a box for each table and view with its columns, keys bold, lines for joins and
/// dashed ones for what views are made of, dotted ones to the columns without which others have no meaning; how many rows
/// a join has meet how many, and in which role; a field that filters by name; what is wrong with the schema.
pub fn html(graph: &SchemaGraph, title: &str) -> String {
    let mut page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>{0}</title><style>{STYLE}</style><h1>{0}</h1>\
         <p>{1} tables and views, {2} columns, {3} joins. <input id=f placeholder=filter></p>\
         <p class=l>Bold: keys. <i>Lines</i>: joins. <i class=d>Dashed</i>: what a view's column is made of. \
         <i class=c>Dotted</i>: a column and the one without which it has no meaning. Dashed box: a view.</p>",
        escaped(title),
        graph.tables().len(),
        graph.columns().len(),
        graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied).count()
    );
    if !graph.problems().is_empty() {
        page.push_str("<ul>");
        for problem in graph.problems() {
            let _ = write!(page, "<li>{}</li>", escaped(&problem.to_string()));
        }
        page.push_str("</ul>");
    }
    let joins = joins_of_columns(graph);
    page.push_str("<div id=t><svg></svg>");
    for (number, table) in graph.tables().iter().enumerate() {
        let class = if table.is_view { " class=v" } else { "" };
        let title = escaped(table.description.as_deref().unwrap_or_default());
        let _ = write!(page, "<section id=t{number}{class} title=\"{title}\"><h2>{}</h2><ul>", escaped(&table.name));
        for at in table.columns.clone() {
            let Some(column) = graph.columns().get(at) else { continue };
            let name = escaped(&column.name);
            let name = if column.is_key { format!("<b>{name}</b>") } else { name };
            let title = escaped(column.description.as_deref().unwrap_or_default());
            let kind = escaped(&column.declared_type);
            let joins = escaped(joins.get(&at).map_or("", String::as_str));
            let _ = write!(page, "<li id=c{at} title=\"{title}\">{name} <span>{kind}{joins}</span></li>");
        }
        page.push_str("</ul></section>");
    }
    page.push_str("</div><script>const E=[");
    for join in graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied) {
        for (from, to) in &join.pairs {
            let _ = write!(page, "[{from},{to},''],");
        }
    }
    for (column, source) in graph.derivations() {
        let _ = write!(page, "[{column},{source},'d'],");
    }
    for (column, context) in graph.contexts() {
        let _ = write!(page, "[{column},{context},'c'],");
    }
    let _ = write!(page, "];{SCRIPT}</script></html>");
    page
}
