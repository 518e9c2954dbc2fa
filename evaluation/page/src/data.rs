//! What the script needs beyond the page's elements, as JSON.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::marks::{Marks, Moved, SHADES};
use crate::nodes::Nodes;
use crate::text::{edge_type, for_script};

#[derive(Serialize)]
struct Data<'a> {
    /// Ids of all nodes by number, parted by blanks; there is none within them.
    ids: String,
    /// Parts of places, each once.
    places: Vec<&'a str>,
    /// Two indices into `places` a node.
    at: Vec<usize>,
    /// Names of edge types, in words.
    types: Vec<String>,
    answers: Vec<AnswerData<'a>>,
}

#[derive(Serialize)]
struct AnswerData<'a> {
    segments: &'a [String],
    /// Node, rank, segment or −1, score where there is one.
    ranked: Vec<(usize, usize, i64, Option<f32>)>,
    shades: &'a [Vec<usize>; SHADES],
    /// By node number, five digits; empty where there are none.
    scores: Vec<Option<f64>>,
    /// By node number.
    why: BTreeMap<usize, Why>,
    /// Steps of moves.
    path: &'a [Vec<Moved>],
}

/// Edges of an explanation that are shown; a caption may have one from every cell of its table.
const EDGES_SHOWN: usize = 40;

/// The score alone; the edges of the greatest effect; how many are left out, and the greatest
/// effect of those; the score before a reranker.
type Why = (f32, Vec<EdgeData>, usize, f32, Option<f32>);

/// Node, edge type, strength, effect.
type EdgeData = (usize, usize, f32, f32);

/// The JSON, safe within a script element.
pub(crate) fn json(answers: &[Marks], nodes: &Nodes) -> String {
    let mut places = Interned::default();
    let at = nodes.all.iter().flat_map(|node| &node.place).map(|part| places.number(part)).collect();
    let mut types = Interned::default();
    let answers = answers.iter().map(|marks| answer_data(marks, &mut types)).collect();
    let ids: Vec<&str> = nodes.all.iter().map(|node| node.id.as_str()).collect();
    let data = Data {
        ids: ids.join(" "),
        places: places.all,
        at,
        types: types.all.into_iter().map(edge_type).collect(),
        answers,
    };
    // Strings, finite numbers and lists only: there is nothing here that JSON cannot hold.
    for_script(&serde_json::to_string(&data).unwrap_or_default())
}

fn answer_data<'a>(marks: &'a Marks, types: &mut Interned<'a>) -> AnswerData<'a> {
    let mut why = BTreeMap::new();
    for ranked in &marks.ranked {
        let Some((explanation, from)) = &ranked.explanation else { continue };
        let mut edges: Vec<EdgeData> = explanation
            .edges
            .iter()
            .zip(from)
            .map(|(edge, from)| (*from, types.number(&edge.edge_type), edge.strength, edge.effect))
            .collect();
        // What matters most first; sorted stably, so that equal effects stay in the given order.
        edges.sort_by(|a, b| b.3.abs().total_cmp(&a.3.abs()));
        let left_out = edges.split_off(edges.len().min(EDGES_SHOWN));
        let greatest = left_out.first().map_or(0.0, |edge| edge.3.abs());
        why.insert(ranked.number, (explanation.alone, edges, left_out.len(), greatest, explanation.before));
    }
    let segment = |segment: Option<usize>| segment.and_then(|segment| i64::try_from(segment).ok()).unwrap_or(-1);
    let mut scores: Vec<Option<f64>> = marks.scores.iter().map(|score| score.map(five_digits)).collect();
    if scores.iter().all(Option::is_none) {
        scores.clear();
    }
    let ranked = marks.ranked.iter();
    let ranked =
        ranked.map(|node| (node.number, node.rank, segment(node.segment), marks.scored().then_some(node.score)));
    let (segments, path) = (&marks.answer.segments, &marks.path);
    AnswerData { segments, ranked: ranked.collect(), shades: &marks.shades, scores, why, path }
}

/// Enough for people, half the bytes.
fn five_digits(value: f32) -> f64 {
    format!("{value:.4e}").parse().unwrap_or_default()
}

/// Texts, each kept once.
#[derive(Default)]
struct Interned<'a> {
    all: Vec<&'a str>,
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Interned<'a> {
    fn number(&mut self, text: &'a str) -> usize {
        *self.numbers.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.all.len() - 1
        })
    }
}
