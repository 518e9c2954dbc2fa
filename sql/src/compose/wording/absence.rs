//! What was never done, by what each doing would have left: members who never borrowed anything are those without loans.

use super::phrase::Phrase;

const NONE: [&str; 8] = ["anything", "anyone", "anybody", "nothing", "any", "one", "a", "an"];
const HAVE: [&str; 8] = ["have", "has", "had", "did", "do", "does", "who", "that"];
const BESIDE: [&str; 8] = ["for", "to", "in", "with", "at", "from", "by", "yet"];

/// "Crops nobody planted", "members who never borrowed anything", "farms that haven't delivered".
pub(super) fn without(phrase: &Phrase<'_, '_>) -> Option<String> {
    let (things, of_things) = (0..phrase.len().min(4)).find_map(|at| phrase.table_at(at))?;
    let begin = things.end;
    let not = (begin..phrase.len()).find(|at| {
        matches!(phrase.word(*at), "never" | "nobody" | "not" | "t")
            || phrase.word(*at) == "no" && phrase.word(at + 1) == "one"
    })?;
    let verb = not + if phrase.word(not) == "no" { 2 } else { 1 };
    let verb = if matches!(phrase.word(verb), "been" | "ever" | "yet" | "has" | "have") { verb + 1 } else { verb };
    let is_before =
        |at: usize| HAVE.contains(&phrase.word(at)) || phrase.word(at).ends_with('n') && phrase.word(at + 1) == "t";
    // Nothing else may be said of them, neither before nor behind.
    let is_plain = (begin..not).all(is_before);
    let is_nothing = |at: usize| NONE.contains(&phrase.word(at)) || BESIDE.contains(&phrase.word(at));
    let mut rest = verb + 1..phrase.len();
    let done = done_by(phrase, verb, of_things)?;
    if !is_plain
        || phrase.is_value(verb)
        || !rest.all(|at| is_nothing(at) || phrase.table_at(at).is_some_and(|(_, of)| of == done))
    {
        return None;
    }
    phrase.with(&[(begin..phrase.len(), &format!("without {}", phrase.table_name(done)))])
}

/// The table that is called after what a word says is done, and refers to those by whom or to whom it is.
fn done_by(phrase: &Phrase<'_, '_>, verb: usize, of: usize) -> Option<usize> {
    let graph = phrase.graph();
    let named = |table: &usize| {
        let names = crate::linking::Words::of_name(graph.tables()[*table].own_name()).stems();
        let kin = crate::linking::words::kin(phrase.stem(verb));
        let is_it = |stem: &String| crate::linking::alike(phrase.stem(verb), stem) > 0.6 || kin.contains(stem);
        names.last().is_some_and(is_it)
    };
    let mut refer = graph.joins().iter().filter(|join| join.to == of && join.from != of).map(|join| join.from);
    refer.find(named)
}
