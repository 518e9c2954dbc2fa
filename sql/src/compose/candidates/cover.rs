//! Whether a statement has something for each word of the question that says what is wanted.

use std::collections::BTreeSet;

use super::Maker;
use super::drafts::Draft;
use crate::compose::sketch::{Condition, Operand, Sketch, tables_of};
use crate::joins::JoinTree;
use crate::linking::words::kin;
use crate::linking::{Words, alike};

/// Words that say that something is so, was done or is there, and nothing of what it is.
#[rustfmt::skip]
const SAY_NOTHING: [&str; 66] = [
    "got", "get", "gets", "come", "comes", "came", "go", "goes", "went", "gone", "made", "make", "makes", "done", "took", "take", "takes",
    "taken", "place", "been", "being", "still", "yet", "currently", "ever", "exist", "exists", "different", "distinct", "total", "number",
    "name", "names", "us", "so", "far", "where", "when", "whom", "if", "other", "also", "only", "just", "some", "every", "during", "between",
    "recorded", "registered", "like", "per", "don", "doesn", "didn", "haven", "hasn", "hadn", "isn", "aren", "wasn", "weren", "use", "used",
    "uses", "having",
];

/// How alike a word and one of a name are at least that say the same: "hiring" and "hired".
const ALIKE: f32 = 0.5;

impl Maker<'_, '_> {
    /// The words of those that are left, and of values that nothing takes, which say something of what is wanted.
    pub(super) fn uncovered(
        &self,
        draft: &Draft,
        columns: &BTreeSet<usize>,
        tables: &BTreeSet<usize>,
        left: &[usize],
    ) -> Vec<usize> {
        let graph = self.graph();
        let said = self.said(columns, tables);
        let names: Vec<String> = columns
            .iter()
            .flat_map(|column| self.reading.stems(*column).map(str::to_owned))
            .chain(tables.iter().flat_map(|table| Words::of_name(graph.tables()[*table].own_name()).stems()))
            .collect();
        let is_covered = |at: &usize| {
            let Some(word) = self.reading.words.words.get(*at) else { return true };
            // "5 stars", "10 years".
            let is_unit = at.checked_sub(1).is_some_and(|at| draft.takes(at) && self.is_number(at));
            let is_alike =
                || names.iter().any(|name| alike(name, &word.stem) >= ALIKE || kin(&word.stem).contains(name));
            is_unit || SAY_NOTHING.contains(&word.text.as_str()) || self.reading.is_cue(*at) || is_alike()
        };
        let values = self.words_of_values().into_iter().filter(|at| !draft.takes(*at) && !said.contains(at));
        let all: BTreeSet<usize> = left.iter().copied().chain(values).collect();
        all.into_iter().filter(|at| !is_covered(at)).collect()
    }

    fn is_number(&self, at: usize) -> bool {
        self.reading.numbers.iter().any(|(number, _)| *number == at)
    }

    /// Whether the question says all that a statement shows, but for what rows are told by, and names the tables of what is left out.
    pub(super) fn is_told(&self, sketch: &Sketch, tree: &JoinTree) -> bool {
        let is_named = |column: usize| {
            self.reading.columns.get(column).is_some_and(|of| of.coverage > 0.4 || !of.spans.is_empty())
        };
        let is_said = |table: usize| self.reading.tables.get(table).is_some_and(|of| of.coverage > 0.4);
        let mut shown = sketch.shown.iter().filter_map(|item| item.column);
        let orders = sketch.order_column().is_none_or(is_named);
        let conditions = sketch.conditions.iter().map(|of| of.column);
        let held = tables_of(self.graph(), conditions);
        let without = sketch.without.as_ref().is_none_or(|without| {
            without.own_tables(self.graph()).into_iter().all(|table| is_said(table) || held.contains(&table))
        });
        let is_key_of_said = |column: usize| {
            let node = self.graph().columns().get(column).filter(|node| node.is_key);
            node.is_some_and(|node| is_said(node.table))
        };
        // A span of time is of the one day that there is, or of one that is named.
        let days =
            tree.tables.iter().filter_map(|table| self.graph().tables().get(*table)).flat_map(|of| of.columns.clone());
        let is_one_day = days.filter(|column| self.reading.holds_dates(*column)).count() < 2;
        let is_span = |of: &&Condition| matches!(of.operand, Operand::Within(..));
        let spans = is_one_day || sketch.all_conditions().filter(is_span).all(|of| is_named(of.column));
        // Nor does it join what nothing is said of.
        let used = tables_of(self.graph(), sketch.columns());
        let joins =
            |table: usize| tree.joins_in(self.graph()).filter(|join| [join.from, join.to].contains(&table)).count();
        let mut tables = tree.tables.iter().copied().filter(|table| tree.tables.len() > 1 && joins(*table) < 2);
        let is_whole = |column: usize| self.reading.columns.get(column).is_some_and(|of| of.coverage > 0.99);
        let is_shown = |column: usize| match self.refers(column) {
            true => is_whole(column),
            false => self.reading.tells(column) || is_named(column) || is_key_of_said(column),
        };
        shown.all(is_shown) && orders && spans && without && tables.all(|table| used.contains(&table) || is_said(table))
    }
}
