//! Statements that tell something else than a question asks for: a number for rows, a name for an amount, other things.

use super::Maker;
use crate::compose::sketch::{Function, Item, Sketch};

impl Maker<'_, '_> {
    /// Whether a statement gives one number where no word asks for one: "VIPs in finance" are rows, and no sum of a column of yes and no.
    pub(super) fn aggregates_unasked(&self, sketch: &Sketch) -> bool {
        #[rustfmt::skip]
        const COUNTS: [&str; 14] = [
            "mani", "number", "count", "total", "much", "often", "frequent", "quantiti", "amount", "time", "overal", "all", "altogeth", "sum",
        ];
        const MEANS: [&str; 5] = ["averag", "mean", "avg", "typic", "usual"];
        let asks = |of: &[&str]| self.reading.marks.iter().any(|mark| of.contains(&mark.as_str()));
        let is_unasked = |item: &Item| match item.function {
            Some(Function::Count | Function::CountDifferent | Function::Sum) => {
                !asks(&COUNTS) && !self.reading.has_superlative()
            }
            Some(Function::Mean) => !asks(&MEANS),
            _ => false,
        };
        sketch.group.is_empty() && sketch.per.is_none() && sketch.shown.iter().any(is_unasked)
    }

    /// Whether a statement tells names alone where the question asks how much.
    pub(super) fn tells_no_amount(&self, sketch: &Sketch) -> bool {
        let tells_none = |item: &Item| {
            let is_text = |column| self.reading.holds_texts(column) || self.is_key(column) || self.refers(column);
            item.function.is_none() && item.column.is_none_or(is_text)
        };
        self.reading.asks_how_much() && sketch.shown.iter().all(tells_none)
    }

    /// Whether a statement shows, of things that are wanted, what they refer to alone: tickets are no users, though each is of one.
    pub(super) fn shows_reference(&self, sketch: &Sketch) -> bool {
        let [Item { function: None, column: Some(column) }] = sketch.shown.as_slice() else { return false };
        let is_said = self.reading.columns.get(*column).is_some_and(|mention| !mention.words.is_empty());
        let to_said = |to: &usize| self.reading.tables.get(*to).is_some_and(|mention| !mention.words.is_empty());
        let refers = self.references.get(column).is_some_and(|to| !to_said(to));
        let is_thing = |mention: &crate::linking::Mention| mention.coverage > 0.99;
        let of_thing = self
            .graph()
            .columns()
            .get(*column)
            .and_then(|node| self.reading.tables.get(node.table))
            .is_some_and(is_thing);
        let wants = self.reading.wants_things() || self.reading.lists_things() || self.reading.begins_with_things();
        refers && of_thing && !is_said && wants
    }

    /// Whether a statement shows, where things are wanted, nothing of them nor what refers to them, but what another table has that the
    /// question names: "which crew members are on no vessel" are no vessels.
    pub(super) fn shows_others(&self, sketch: &Sketch) -> bool {
        let graph = self.graph();
        let shown: Vec<usize> = sketch.shown.iter().filter_map(|item| item.column).collect();
        let is_of_thing = |column: &usize| {
            let table = graph.columns().get(*column).map(|node| node.table);
            let to = self.references.get(column).copied();
            [table, to].into_iter().flatten().any(|of| self.counted.contains(&of))
        };
        // Of its own, beyond what the table is called.
        let is_said = |column: &usize| {
            let of = graph.columns().get(*column).and_then(|node| self.reading.tables.get(node.table));
            let mention = self.reading.columns.get(*column);
            mention.zip(of).is_some_and(|(mention, of)| mention.words.iter().any(|at| !of.words.contains(at)))
        };
        let is_other = |column: &usize| !is_of_thing(column) && !is_said(column);
        self.asks_which && !self.counted.is_empty() && !shown.is_empty() && shown.iter().all(is_other)
    }
}
