//! Made-up documents and answers: what the sample page, the tests and the benchmark show.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tabsegnet_document::model::{Block, CellRole, Document, Heading};
use tabsegnet_document::{ReadDocument, ReadOptions, node_id, read_bytes};
use tabsegnet_page::{Answer, EdgeStrength, Explanation, InEdge, RankedNode};

/// Edge types and how strongly they are let to speak.
const STRENGTHS: [(&str, f32); 12] = [
    ("row_header_to_cell", 0.91),
    ("column_header_to_cell", 0.84),
    ("cell_right_cell", 0.22),
    ("cell_left_cell", 0.18),
    ("cell_below_cell", 0.07),
    ("cell_above_cell", -0.11),
    ("caption_to_cell", 0.47),
    ("cell_to_row_header", 0.35),
    ("cell_to_column_header", 0.12),
    ("caption_to_row_header", 0.29),
    ("passage_next_passage", 0.31),
    ("passage_previous_passage", -0.25),
];

/// A short report with what a page has to cope with: headings of several levels, merged header
/// cells, rows under rows, text from right to left, markup in the text.
const REPORT: &str = "# Annual report of Kingsford Group\n\n\
This report covers fiscal 2024, which ended on June 30, 2024. We manage our business in two segments, Wholesale and \
Retail. Forward-looking statements in it are uncertain.\n\n\
## Results of operations\n\n\
Net revenue of the Wholesale segment rose by 8 % in 2024, mostly from price. Retail revenue fell because 12 stores \
were closed. Notes say `<b>2024</b>` & `</script>` as they stand.\n\n\
<table><caption>Net revenue by segment (in millions)</caption>\n\
<thead><tr><th rowspan=\"2\">Segment</th><th colspan=\"2\">Net revenue</th><th colspan=\"2\">Change</th></tr>\n\
<tr><th>2024</th><th>2023</th><th>amount</th><th>percent</th></tr></thead>\n\
<tbody><tr><th>Wholesale</th><td>$ 1,482.0</td><td>$ 1,372.2</td><td>109.8</td><td>8.0 %</td></tr>\n\
<tr><th>Retail</th><td>655.1</td><td>701.9</td><td>(46.8)</td><td>(6.7) %</td></tr>\n\
<tr><th>Total</th><td>$ 2,137.1</td><td>$ 2,074.1</td><td>63.0</td><td>3.0 %</td></tr></tbody></table>\n\n\
### Prices and volumes\n\n\
Prices added 92.4 million to revenue in 2024; volumes took 29.4 million away. Exchange rates had next to no effect.\n\n\
## Financial position\n\n\
Cash at the end of 2024 was higher than a year before. Inventories were written down by 4.1 million.\n\n\
**Consolidated balance sheet (in millions)**\n\n\
| | 2024 | 2023 |\n|:--|--:|--:|\n| Current assets: | | |\n| Cash | 312.5 | 268.0 |\n| Receivables | 201.7 | 214.3 |\n\
| Inventories | 388.9 | 402.6 |\n| Total current assets | 903.1 | 884.9 |\n| Property and equipment | 1,120.4 | 1,098.7 |\n\
| Total assets | 2,023.5 | 1,983.6 |\n\n\
- Receivables fell because customers paid sooner.\n- Inventories fell with the closed stores.\n\n\
## Subsidiary in Israel\n\n\
הכנסות החברה הבת עלו ב-2024 ל-12.4 מיליון. המנהלים מצפים לצמיחה נוספת.\n\n\
| סעיף | 2024 | 2023 |\n|:--|--:|--:|\n| הכנסות | 12.4 | 11.0 |\n| הוצאות | 9.8 | 9.1 |\n";

/// The short report, or one of about as many nodes with as many rows a table.
pub fn document(size: Option<(usize, usize)>, seed: u64) -> Result<ReadDocument, Box<dyn Error>> {
    let text = size.map_or_else(|| REPORT.to_owned(), |(nodes, rows)| long_report(nodes, rows, seed));
    Ok(read_bytes(Path::new("kingsford-2024.md"), text.into_bytes(), &ReadOptions::default())?)
}

/// Sections of four paragraphs and a table of seven columns.
fn long_report(nodes: usize, rows: usize, seed: u64) -> String {
    const LINES: [&str; 8] =
        ["Net revenue", "Cost of sales", "Gross profit", "Marketing", "Research", "Interest", "Taxes", "Net income"];
    const PLACES: [&str; 6] = ["Europe", "Asia", "Americas", "Africa", "Wholesale", "Retail"];
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = String::from("# A long report\n\n");
    let mut written = 1;
    for section in 0.. {
        let place = PLACES.get(section % PLACES.len()).unwrap_or(&"Europe");
        let _ = write!(text, "## {place}, part {section}\n\n");
        for paragraph in 0..4 {
            for line in LINES.iter().skip(paragraph % 4).take(3) {
                let (percent, year) = (rng.random_range(1..40), rng.random_range(2018..2025));
                let _ = write!(
                    text,
                    "{line} of {place} changed by {percent} % in {year}, which management puts down to prices, volumes and \
                     the closing of stores that no longer paid their way. "
                );
                written += 1;
            }
            text += "\n\n";
        }
        text += "| (in millions) | 2024 | 2023 | 2022 | 2021 | 2020 | 2019 |\n|:--|--:|--:|--:|--:|--:|--:|\n";
        written += 9;
        for row in 0..rows {
            let line = LINES.get(row % LINES.len()).unwrap_or(&"Other");
            let _ = write!(text, "| {line} of {place}, unit {row} |");
            for _ in 0..6 {
                let _ = write!(text, " {:.1} |", rng.random_range(-900.0..9000.0_f64));
            }
            text += "\n";
            written += 7;
            if written >= nodes {
                break;
            }
        }
        text += "\n";
        if written >= nodes {
            break;
        }
    }
    text
}

/// A node as the made-up ranker sees it.
struct Seen {
    id: String,
    /// Its own words and those of its headers.
    words: HashSet<String>,
    own: f32,
    /// Node and edge type of what speaks to it.
    neighbours: Vec<(usize, &'static str)>,
}

/// Answers to two questions, found by counting the words that a node and the question share.
pub fn answers(document: &Document, top: usize, seed: u64) -> Vec<Answer> {
    let questions = [
        (
            "What was the change of net revenue of Wholesale from 2023 to 2024, and how did prices and volumes add to it?",
            vec!["net revenue of Wholesale 2023", "net revenue of Wholesale 2024", "prices and volumes"],
        ),
        ("What were cash and receivables at the end of 2024?", vec![]),
    ];
    let questions = questions.into_iter().enumerate();
    questions
        .map(|(number, (question, segments))| answer(document, question, &segments, top, seed + number as u64))
        .collect()
}

fn answer(document: &Document, question: &str, segments: &[&str], top: usize, seed: u64) -> Answer {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let query = words(question);
    let mut seen = look(document);
    for node in &mut seen {
        let shared = node.words.intersection(&query).count() as f32;
        node.own = shared / (1.0 + node.words.len() as f32).sqrt() + rng.random_range(-0.1..0.1);
    }
    let strength: BTreeMap<&str, f32> = STRENGTHS.into_iter().collect();
    let edges = |node: &Seen| -> Vec<InEdge> {
        let edge = |&(from, edge_type): &(usize, &'static str)| {
            let (from, strength) = (seen.get(from)?, strength.get(edge_type).copied().unwrap_or_default());
            let (node, edge_type) = (from.id.clone(), edge_type.to_owned());
            Some(InEdge { node, edge_type, strength, effect: strength * from.own })
        };
        node.neighbours.iter().filter_map(edge).collect()
    };
    let explain = |node: &Seen| Explanation { before: None, alone: node.own, edges: edges(node) };
    let score = |node: &Seen| node.own + edges(node).iter().map(|edge| edge.effect).sum::<f32>();
    let scores: Vec<f32> = seen.iter().map(score).collect();
    let mut order: Vec<usize> = (0..seen.len()).collect();
    order.sort_by(|a, b| scores.get(*b).unwrap_or(&0.0).total_cmp(scores.get(*a).unwrap_or(&0.0)));
    let segment = |node: &Seen| {
        let shared = |segment: &str| node.words.intersection(&words(segment)).count();
        (0..segments.len()).rev().max_by_key(|number| segments.get(*number).map_or(0, |segment| shared(segment)))
    };
    let nodes = order.iter().take(top).enumerate().filter_map(|(position, number)| {
        let (node, score) = (seen.get(*number)?, *scores.get(*number)?);
        let explanation = Some(explain(node));
        Some(RankedNode {
            id: node.id.clone(),
            rank: position + 1,
            score,
            segment: segment(node),
            duplicates: Vec::new(),
            explanation,
        })
    });
    Answer {
        question: question.to_owned(),
        segments: segments.iter().map(|segment| (*segment).to_owned()).collect(),
        strengths: STRENGTHS
            .map(|(edge_type, strength)| EdgeStrength { edge_type: edge_type.to_owned(), strength })
            .to_vec(),
        nodes: nodes.collect(),
        scores: seen.iter().zip(&scores).map(|(node, score)| (node.id.clone(), *score)).collect(),
        reply: None,
    }
}

/// All nodes in document order with some of the edges that the graph would have.
fn look(document: &Document) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    let (mut headings, mut passages) = (0, 0);
    for block in &document.blocks {
        let first = all.len();
        match block {
            Block::Heading(Heading { text, .. }) => {
                let id = node_id::heading(headings);
                all.push(Seen { id, words: words(text), own: 0.0, neighbours: Vec::new() });
                headings += 1;
            }
            Block::Passage(text) => {
                let mut neighbours = Vec::new();
                if let Some(before) = first.checked_sub(1) {
                    neighbours.push((before, "passage_next_passage"));
                }
                all.push(Seen { id: node_id::passage(passages), words: words(text), own: 0.0, neighbours });
                passages += 1;
            }
            Block::Table(table) => {
                let (id, words_of) = (node_id::caption(table.number()), words(table.caption()));
                all.push(Seen { id, words: words_of, own: 0.0, neighbours: Vec::new() });
                for cell in table.cells() {
                    let (rows, columns) = (table.row_headers_of(cell), table.column_headers_of(cell));
                    let text = format!("{} {} {}", table.path(&rows), table.path(&columns), cell.text);
                    let mut neighbours = vec![(first, "caption_to_cell")];
                    if table.role(cell) == CellRole::Data {
                        neighbours.extend(rows.iter().map(|row| (first + 1 + row, "row_header_to_cell")));
                        neighbours.extend(columns.iter().map(|column| (first + 1 + column, "column_header_to_cell")));
                        let beside = cell.col.checked_sub(1).and_then(|left| table.cell_index_at(cell.row, left));
                        neighbours.extend(beside.map(|left| (first + 1 + left, "cell_right_cell")));
                        let above = cell.row.checked_sub(1).and_then(|above| table.cell_index_at(above, cell.col));
                        neighbours.extend(above.map(|above| (first + 1 + above, "cell_above_cell")));
                    }
                    all.push(Seen { id: node_id::cell(table, cell), words: words(&text), own: 0.0, neighbours });
                }
            }
        }
    }
    all
}

fn words(text: &str) -> HashSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    words.map(str::to_lowercase).collect()
}
