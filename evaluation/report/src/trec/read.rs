//! Reading run and qrels files, one's own and others'.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use tabsegnet_store::read_text;

use super::ids::decode_id;
use super::{JudgedQuestion, RankedQuestion, TrecError};
use crate::measures::falling;

const RUN_FORM: &str = "question_id Q0 node_id rank score tag";
const QRELS_FORM: &str = "question_id 0 node_id relevance";

/// The content of a run file.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The name in the last field, the same on every line.
    pub tag: String,
    /// The rankings, in order of first appearance.
    pub questions: Vec<RankedQuestion>,
}

/// Reads a run file. Each ranking is in the order that `trec_eval` gives it: falling score as a
/// 32-bit float, equal scores by falling node id, whatever the ranks and the order of the lines
/// say. On files of [`write_run`](super::write_run) that is the order that was written.
pub fn read_run(path: &Path) -> Result<Run, TrecError> {
    let text = read_text(path)?;
    let mut questions = Grouped::default();
    let mut tag: Option<String> = None;
    for line in lines(path, &text, RUN_FORM) {
        let (at, [question, _, node, rank, score, run]) = line?;
        if rank.parse::<u64>().is_err() {
            return Err(at.unexpected("rank", rank, "a whole number"));
        }
        let score = match score.parse::<f32>() {
            Ok(score) if score.is_finite() => score,
            _ => return Err(at.unexpected("score", score, "a finite 32-bit decimal number")),
        };
        let run = at.id("tag", run)?;
        match &tag {
            Some(first) if *first != run => {
                let expected = format!("{first:?} as on the lines before: one method a file");
                return Err(at.unexpected("tag", &run, &expected));
            }
            Some(_) => {}
            None => tag = Some(run),
        }
        questions.add(&at, question, node, score)?;
    }
    let Some(tag) = tag else {
        return Err(no_lines(path, RUN_FORM));
    };
    let rank = |(question, mut nodes): (_, Vec<(String, f32)>)| {
        nodes.sort_by(|(a, x), (b, y)| falling(*x, *y).then_with(|| b.cmp(a)));
        RankedQuestion { question, nodes }
    };
    Ok(Run { tag, questions: questions.questions.into_iter().map(rank).collect() })
}

/// Reads a qrels file. A relevance above 0 makes a node gold; a question whose nodes are all
/// judged 0 or less comes back without gold.
pub fn read_qrels(path: &Path) -> Result<Vec<JudgedQuestion>, TrecError> {
    let text = read_text(path)?;
    let mut questions = Grouped::default();
    for line in lines(path, &text, QRELS_FORM) {
        let (at, [question, _, node, relevance]) = line?;
        let Ok(relevance) = relevance.parse::<i64>() else {
            return Err(at.unexpected("relevance", relevance, "a whole number, 1 for gold"));
        };
        questions.add(&at, question, node, relevance > 0)?;
    }
    if questions.questions.is_empty() {
        return Err(no_lines(path, QRELS_FORM));
    }
    let judge = |(question, nodes): (_, Vec<(String, bool)>)| JudgedQuestion {
        question,
        gold: nodes.into_iter().filter(|(_, gold)| *gold).map(|(node, _)| node).collect(),
    };
    Ok(questions.questions.into_iter().map(judge).collect())
}

fn no_lines(path: &Path, form: &'static str) -> TrecError {
    TrecError::NoLines { path: path.display().to_string(), form }
}

/// The lines that are not blank, as exactly `N` fields.
fn lines<'a, const N: usize>(
    path: &'a Path,
    text: &'a str,
    form: &'static str,
) -> impl Iterator<Item = Result<(Place<'a>, [&'a str; N]), TrecError>> {
    (1..).zip(text.lines()).filter(|(_, line)| !line.trim_ascii().is_empty()).map(move |(number, line)| {
        let at = Place { path, line: number };
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let count = fields.len();
        match <[&str; N]>::try_from(fields) {
            Ok(fields) => Ok((at, fields)),
            Err(_) => {
                let expected = format!("{N} fields instead of {count}: {form}");
                Err(at.unexpected("1 and on", line, &expected))
            }
        }
    })
}

/// A line of a file, for errors.
struct Place<'a> {
    path: &'a Path,
    line: usize,
}

impl Place<'_> {
    fn unexpected(&self, field: &'static str, found: &str, expected: &str) -> TrecError {
        TrecError::Field {
            path: self.path.display().to_string(),
            line: self.line,
            field,
            found: found.to_owned(),
            expected: expected.to_owned(),
        }
    }

    fn id(&self, field: &'static str, found: &str) -> Result<String, TrecError> {
        decode_id(found).ok_or_else(|| {
            let expected = "two hexadecimal digits after each %, UTF-8 when decoded; write % as %25";
            self.unexpected(field, found, expected)
        })
    }
}

/// Values by question and node, in order of first appearance.
struct Grouped<T> {
    questions: Vec<(String, Vec<(String, T)>)>,
    numbers: HashMap<String, usize>,
    seen: HashSet<(usize, String)>,
}

impl<T> Default for Grouped<T> {
    fn default() -> Self {
        Self { questions: Vec::new(), numbers: HashMap::new(), seen: HashSet::new() }
    }
}

impl<T> Grouped<T> {
    fn add(&mut self, at: &Place, question: &str, node: &str, value: T) -> Result<(), TrecError> {
        let (question, node) = (at.id("question_id", question)?, at.id("node_id", node)?);
        let number = *self.numbers.entry(question.clone()).or_insert_with(|| {
            self.questions.push((question, Vec::new()));
            self.questions.len() - 1
        });
        if !self.seen.insert((number, node.clone())) {
            return Err(at.unexpected("node_id", &node, "each node once for each question"));
        }
        if let Some((_, nodes)) = self.questions.get_mut(number) {
            nodes.push((node, value));
        }
        Ok(())
    }
}
