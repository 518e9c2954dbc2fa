//! What a language model is told: GraphOTTER's steps in our words, the state of the walk anew each round.

use std::fmt::Write as _;

use tabsegnet_llm::estimated_tokens;
use tabsegnet_store::one_line;

use crate::walk::chooser::View;
use crate::walk::trace::TraceEvent;

/// What holds in every round.
pub(crate) fn system() -> &'static str {
    include_str!("prompt.txt").trim_ascii_end()
}

/// The state before a round; `found` is what is known of the tables of a corpus, and may be empty.
pub(crate) fn user(view: &View<'_>, found: &str) -> String {
    let mut head = format!("Question: {}\n", one_line(view.question));
    if !found.is_empty() {
        let _ = write!(head, "\n{found}");
    }
    if !view.tables.is_empty() {
        let _ = write!(head, "\nTables:\n{}", view.tables);
    }
    head += "\nVisited nodes:\n";
    for node in view.visited {
        let _ = writeln!(head, "- {node}");
    }
    if !view.links.is_empty() {
        head += "\nHow they stand to each other:\n";
        for link in view.links {
            let _ = writeln!(head, "- {link}");
        }
    }
    let end = match view.last {
        false => format!("\nThis is round {} of {}. Think, then choose actions.\n", view.round, view.settings.rounds),
        true => "\nThis is the last round: AnswerQuestion now, or Abstain.\n".to_owned(),
    };
    // The oldest observations give way; the thoughts stay.
    let room = (view.settings.prompt_tokens as u64)
        .saturating_sub(estimated_tokens(system()) + estimated_tokens(&head) + estimated_tokens(&end));
    let mut rounds: Vec<String> = Vec::new();
    let mut used = 0;
    for event in view.events.iter().rev() {
        let (long, brief) = told(event);
        let text = if used + estimated_tokens(&long) <= room { long } else { brief };
        used += estimated_tokens(&text);
        if used > room {
            break;
        }
        rounds.push(text);
    }
    rounds.reverse();
    if rounds.iter().any(|round| !round.is_empty()) {
        head += "\nSo far:\n";
        head.extend(rounds);
    }
    head + &end
}

/// An event in words, with what was seen and without.
fn told(event: &TraceEvent) -> (String, String) {
    match event {
        TraceEvent::Round { round, thought, observations, .. } => {
            let mut long = format!("Round {round}\nThought: {}\n", one_line(thought));
            let mut brief = long.clone();
            for observation in observations {
                let _ = writeln!(long, "- {}: {}", observation.action, observation.text);
                let _ = writeln!(brief, "- {}: (no room)", observation.action);
            }
            (long, brief)
        }
        TraceEvent::Checked { answer, checks, .. } => {
            let failed: Vec<&str> =
                checks.iter().filter(|check| !check.passed).map(|check| check.what.as_str()).collect();
            let text = format!(
                "The answer {:?} was not taken. These do not hold: {}. Answer again with the cells that hold its numbers and a \
                 program as the operation, or Abstain.\n",
                answer,
                failed.join("; ")
            );
            (text.clone(), text)
        }
        TraceEvent::Start { .. } | TraceEvent::End { .. } => (String::new(), String::new()),
    }
}
