//! Whether a trace comes out again.

use tabsegnet::Ranking;

use crate::walk::cells::CellGraph;
use crate::walk::chooser::Script;
use crate::walk::rounds::walk;
use crate::walk::trace::TraceEvent;

/// Characters of an event that are shown before and behind the first that differs.
const BEFORE: usize = 40;
const BEHIND: usize = 80;

/// Where a walk came out otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("otherwise at {place}; the trace has …{recorded}… and now it is …{replayed}…")]
pub struct Difference {
    /// The event, in words.
    pub place: String,
    /// The part of it that differs, as the trace has it; empty where it has none.
    pub recorded: String,
    /// The same as it comes out.
    pub replayed: String,
}

/// The walks of a trace, each from its start to before the next.
pub fn walks(events: &[TraceEvent]) -> Vec<&[TraceEvent]> {
    events.chunk_by(|_, next| !matches!(next, TraceEvent::Start { .. })).collect()
}

/// Carries out the actions of one walk again, from the ranking of its question.
///
/// Requests to a model before the start are not compared, nor why a walk ended that its budget, an error or the user cut
/// short: neither comes from actions.
///
/// # Errors
/// The first event that comes out otherwise.
pub fn replay(cells: &CellGraph<'_>, ranking: &Ranking, recorded: &[TraceEvent]) -> Result<(), Difference> {
    let mut again = Vec::new();
    let done = walk(cells, ranking, &mut Script::of_trace(recorded), &mut |event| again.push(event.clone()));
    let recorded = match recorded {
        // There was no further choice: both end without one.
        [events @ .., TraceEvent::End { abstained: true, .. }] if done.is_err() => events,
        events => events,
    };
    if done.is_err() {
        again.pop();
    }
    if !matches!(recorded.last(), Some(TraceEvent::End { .. })) {
        again.truncate(recorded.len());
    }
    for number in 0..recorded.len().max(again.len()) {
        let (was, is) = (recorded.get(number).map(compared), again.get(number).map(compared));
        if was != is {
            let place = was.as_ref().or(is.as_ref()).map_or_else(String::new, named);
            let [recorded, replayed] = shown(&text(was.as_ref()), &text(is.as_ref()));
            return Err(Difference { place, recorded, replayed });
        }
    }
    Ok(())
}

/// An event without what does not come from actions.
fn compared(event: &TraceEvent) -> TraceEvent {
    let mut event = event.clone();
    if let TraceEvent::Start { retrieved, note, .. } = &mut event {
        (*retrieved, *note) = (None, None);
    }
    event
}

fn named(event: &TraceEvent) -> String {
    match event {
        TraceEvent::Start { .. } => "the start".to_owned(),
        TraceEvent::Round { round, .. } => format!("round {round}"),
        TraceEvent::Checked { round, .. } => format!("the check of round {round}"),
        TraceEvent::End { .. } => "the end".to_owned(),
    }
}

fn text(event: Option<&TraceEvent>) -> String {
    event.and_then(|event| serde_json::to_string(event).ok()).unwrap_or_default()
}

/// Two texts around the first character that differs.
fn shown(one: &str, other: &str) -> [String; 2] {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    [one, other].map(|text| text.chars().skip(same.saturating_sub(BEFORE)).take(BEFORE + BEHIND).collect())
}
