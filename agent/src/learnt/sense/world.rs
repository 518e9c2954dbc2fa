//! Parts of the world of which a document has nothing.

use tabsegnet::{NodeKind, RankedNode};

use crate::candidates::Candidate;
use crate::question::Inquiry;

use super::texts;

/// Parts of the world, with what else a document may call them or what they are in.
#[rustfmt::skip]
const PLACES: [(&str, &[&str]); 36] = [
    ("africa", &["emea", "eame", "meaa"]), ("asia", &["apac", "amea"]), ("europe", &["emea", "eame"]), ("middle east", &["emea", "eame", "mena", "amea"]),
    ("latin america", &["latam", "americas"]), ("south america", &["latam", "latin america", "americas"]), ("oceania", &["apac", "asia"]),
    ("argentina", &[]), ("australia", &[]), ("austria", &[]), ("belgium", &[]), ("brazil", &[]), ("canada", &[]), ("chile", &[]),
    ("china", &["chinese", "prc"]), ("colombia", &[]), ("denmark", &["danish"]), ("egypt", &[]), ("france", &["french"]), ("germany", &["german"]),
    ("india", &[]), ("indonesia", &[]), ("ireland", &["irish"]), ("italy", &["italian"]), ("japan", &[]), ("korea", &[]), ("mexico", &["mexican"]),
    ("norway", &["norwegian"]), ("poland", &["polish"]), ("russia", &[]), ("saudi arabia", &[]), ("spain", &["spanish"]), ("sweden", &["swedish"]),
    ("switzerland", &["swiss"]), ("taiwan", &[]), ("turkey", &["turkish"]),
];

/// The question asks for what is in a part of the world that no text of the document names. Of a table alone the place that all
/// of it is of may stand outside, unless it names some.
pub(super) fn objection(candidate: &Candidate, nodes: &[RankedNode], inquiry: &Inquiry) -> Option<String> {
    candidate.outcome?;
    let is_asked_for = |place: &str| {
        ["in", "from"].iter().any(|before| {
            let called = format!(" {before} {place}");
            inquiry.text.split(&called).skip(1).any(|rest| !rest.starts_with(char::is_alphabetic))
        })
    };
    let (place, others) = PLACES.iter().find(|(place, _)| is_asked_for(place))?;
    let has = |names: &[&str]| {
        let says = |text: &str| names.iter().any(|name| text.to_lowercase().contains(name));
        nodes.iter().any(|node| texts(node).any(says))
    };
    // "South Asian" is no part of the world.
    let is_one = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        words.any(|word| PLACES.iter().any(|(place, _)| *place == word))
    };
    let names_places = || nodes.iter().any(|node| node.kind == NodeKind::Passage || texts(node).any(is_one));
    (!has(&[place]) && !has(others) && names_places())
        .then(|| format!("the question asks for what is in {place}, which the document does not name"))
}
