//! Traces carried out again.

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use tabsegnet::questions::GivenQuestion;
use tabsegnet_agent::walk::{CellGraph, TraceEvent, read_trace, replay, walks};
use tabsegnet_store::read_text;

use crate::output::print;
use crate::{Arguments, Place, Searched, opening};

/// Says of each walk of a trace on stdout whether the same states and the same answer come out.
///
/// # Errors
/// A file that is no trace, a question that is not looked for in a graph, and where a walk comes out otherwise.
pub fn replay_trace(arguments: &Arguments, file: &Path) -> Result<()> {
    let shown = file.display();
    let text = read_text(file)?;
    ensure!(
        !text.starts_with("{\"event\":\"start\",\"question\""),
        "{shown}: is a trace of questions that went through SQL, and walks alone are carried out again; \
         --record and --replay keep the model's replies to such questions"
    );
    let events = read_trace(&text).map_err(|problem| anyhow!("{shown}: {problem}"))?;
    let walks = walks(&events);
    ensure!(!walks.is_empty(), "{shown}: holds no walk; expected a trace, such as --trace writes");
    let settings = arguments.llm.config()?.agent;
    let searched = Searched::open(arguments, opening(arguments, None)?, false)?;
    let mut others = 0;
    for walk in &walks {
        let [TraceEvent::Start { id, question, .. }, ..] = walk else {
            bail!("{shown}: begins in the midst of a walk; expected its start first, as --trace writes it");
        };
        let question = GivenQuestion { id: id.clone(), text: question.clone() };
        let found = searched.find(&question).with_context(|| format!("{}: {id}", arguments.place()))?;
        let Some(Place::Graph(found)) = found else {
            bail!("{shown}: {id}: {} has no graph for it to be walked; give what was walked", arguments.place());
        };
        let cells = CellGraph::new(found.document.graph(), &settings);
        match replay(&cells, &found.ranking, walk) {
            Ok(()) => print(&format!("{id}: the same; {}\n", ended(walk)))?,
            Err(difference) => {
                others += 1;
                print(&format!("{id}: {difference}\n"))?;
            }
        }
    }
    ensure!(others == 0, "{shown}: {others} of {} walks come out otherwise", walks.len());
    Ok(())
}

/// How a walk ended, in words.
fn ended(walk: &[TraceEvent]) -> String {
    match walk.last() {
        Some(TraceEvent::End { answer, abstained: false, .. }) => format!("answer {answer:?}"),
        Some(TraceEvent::End { reason, .. }) => format!("no answer: {reason}"),
        _ => "it was cut off".to_owned(),
    }
}
