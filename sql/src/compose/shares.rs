//! Shares: how many of some rows are so, of a hundred.

use super::sketch::{Item, Joined, Sketch, from};
use crate::joins::JoinTree;
use crate::linking::Linker;
use crate::schema_graph::SchemaGraph;

const SHARES: [&str; 5] = ["percentage", "percent", "proportion", "share", "fraction"];

/// The question for how many they are: "what percentage of orders were late" as "how many orders were late".
pub(super) fn counted(question: &str) -> Option<String> {
    let words: Vec<&str> = question.split_whitespace().collect();
    let opening: Vec<String> = words.iter().take(5).map(|word| word.to_lowercase()).collect();
    let at = opening.iter().position(|word| SHARES.contains(&word.as_str()))?;
    let is_opening = |word: &String| ["what", "what's", "which", "is", "was", "the"].contains(&word.as_str());
    let mut rest = words.get(at + 1..)?.iter().peekable();
    if !opening.get(..at)?.iter().all(is_opening) || *rest.next()? != "of" {
        return None;
    }
    rest.next_if(|word| ["the", "our", "all"].contains(&word.to_lowercase().as_str()));
    let rest: Vec<&str> = rest.copied().collect();
    (!rest.is_empty()).then(|| format!("How many {}", rest.join(" ")))
}

/// The share of all rows that those have which a statement counts; none where it holds them to several conditions, of which some may
/// say of which rows the share is.
pub(super) fn share(sketch: &Sketch, tree: &JoinTree, linker: &Linker<'_>) -> Option<String> {
    let graph = linker.graph();
    let Sketch {
        shown,
        conditions,
        joined: Joined::And,
        without: None,
        group,
        having: None,
        order: None,
        limit: None,
        per: None,
        ..
    } = sketch
    else {
        return None;
    };
    let ([Item::ROWS], [condition], []) = (shown.as_slice(), conditions.as_slice(), group.as_slice()) else {
        return None;
    };
    // A row without what joins it would be none of all.
    let is_whole = |graph: &SchemaGraph| {
        let mut pairs = tree.joins_in(graph).flat_map(|join| join.pairs.iter());
        pairs.all(|(from, _)| !linker.values().has_nulls(*from))
    };
    let repeats = tree.tables.len() > 2 || !is_whole(graph);
    let is = condition.sql(graph, tree.tables.len() > 1);
    let from = from(graph, tree)?;
    (!repeats).then(|| format!("SELECT 100.0 * sum(CASE WHEN {is} THEN 1 ELSE 0 END) / count(*) FROM {from}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_is_counted() {
        assert_eq!(
            counted("What percentage of bookings were no-shows?").as_deref(),
            Some("How many bookings were no-shows?")
        );
        assert_eq!(counted("Share of the orders that are late").as_deref(), Some("How many orders that are late"));
        assert_eq!(counted("Which pupils share a room?"), None);
        assert_eq!(counted("What is the percentage?"), None);
    }
}
