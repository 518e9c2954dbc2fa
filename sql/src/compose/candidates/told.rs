//! By what the things that a question wants are told: their names, both halves of people's, labels instead of codes.

use super::{Choice, Maker};
use crate::compose::sketch::{Function, Item, Sketch};
use crate::joins::JoinTree;
use crate::linking::Mention;

impl Maker<'_, '_> {
    /// The same with what rows of another table are told by instead of a reference to them that is not named whole: the labels of codes.
    pub(super) fn told_by_label(&self, list: &Choice<Vec<Item>>) -> Option<Choice<Vec<Item>>> {
        let is_said = |column: usize| self.reading.columns.get(column).is_some_and(|mention| mention.coverage > 0.99);
        let labels = |item: &Item| -> Option<Vec<Item>> {
            let column = item.column.filter(|column| item.function.is_none() && !is_said(*column))?;
            let table = self.graph().tables().get(*self.references.get(&column)?)?;
            let found: Vec<usize> = table.columns.clone().filter(|of| self.reading.is_label(*of)).collect();
            // A name may be in two.
            (1..=2).contains(&found.len()).then(|| found.into_iter().map(Item::plain).collect())
        };
        let told: Vec<Vec<Item>> = list.of.iter().filter_map(labels).collect();
        let [told] = told.as_slice() else { return None };
        let is_new = list.of.iter().all(|item| !told.contains(item));
        let of = list.of.iter().flat_map(|item| labels(item).unwrap_or_else(|| vec![*item])).collect();
        is_new.then_some(Choice { of, ..*list })
    }

    /// First and last name beside a key, where the table has both.
    pub(super) fn halves_of(&self, key: usize) -> Option<[usize; 2]> {
        let table = self.graph().tables().get(self.graph().columns().get(key)?.table)?;
        let find = |half: &str| table.columns.clone().find(|column| self.reading.name(*column).ends_with(half));
        Some([find("first name")?, find("last name").or_else(|| find("surname"))?])
    }

    /// A statement that counts rows, with each row of a table that the question counts and joins repeat counted once: doctors who
    /// prescribed something are not prescriptions.
    pub(super) fn counting_once(&self, sketch: &Sketch, tree: &JoinTree, counted: &[usize]) -> Option<Sketch> {
        let key = counted.iter().find_map(|table| {
            let key = self.graph().tables().get(*table)?.primary_key.as_slice();
            let is_repeated = tree.tables.contains(table) && tree.repeats(self.graph(), *table);
            if let ([key], true) = (key, is_repeated) { Some(*key) } else { None }
        })?;
        let mut once = sketch.clone();
        let rows = once.shown.iter_mut().find(|item| **item == Item::ROWS)?;
        *rows = Item { function: Some(Function::CountDifferent), column: Some(key) };
        Some(once)
    }

    /// A statement with the first name alone of people of whom it shows the last name too, where the question names neither.
    pub(super) fn with_one_name(&self, sketch: &Sketch) -> Sketch {
        let mut described = sketch.clone();
        let halves = sketch.shown.iter().filter_map(|item| self.halves_of(item.column?)).next();
        let is_said = |column: usize| self.reading.columns.get(column).is_some_and(|of| !of.spans.is_empty());
        if let Some([first, last]) = halves.filter(|halves| !halves.iter().any(|column| is_said(*column)))
            && sketch.shown.contains(&Item::plain(first))
        {
            described.shown.retain(|item| *item != Item::plain(last));
        }
        described
    }

    /// Whether a statement shows nothing, beside what is counted, that rows are told by or that the question names: keys, the jobs of
    /// people.
    pub(super) fn shows_key(&self, sketch: &Sketch) -> bool {
        let is_said = |column: usize| {
            let of = self.graph().columns().get(column).and_then(|node| self.reading.tables.get(node.table));
            let mention = self.reading.columns.get(column);
            // Of its own, beyond what the table is called.
            let is_own = |of: &Mention, at: &usize| !of.words.contains(at);
            let is_half = |(mention, of): (&Mention, &Mention)| mention.words.iter().any(|at| is_own(of, at));
            let may_be_half = !self.refers(column) && !self.is_key(column);
            mention.is_some_and(|mention| mention.coverage > 0.99)
                || may_be_half && mention.zip(of).is_some_and(is_half)
        };
        let plain = sketch.shown.iter().filter(|item| item.function.is_none()).filter_map(|item| item.column);
        let mut plain = plain.filter(|column| !is_said(*column)).peekable();
        plain.peek().is_some() && plain.all(|column| !self.reading.tells(column))
    }

    /// A statement that groups rows by what people or things are called, with those who share a name apart.
    pub(super) fn apart(&self, sketch: Sketch) -> Sketch {
        let of_table = |column: usize| self.graph().columns().get(column).map(|node| node.table);
        let table = sketch.group.first().and_then(|first| of_table(*first));
        let key =
            table.and_then(|table| self.graph().tables().get(table)).map_or(&[][..], |of| of.primary_key.as_slice());
        let ([key], true) = (key, sketch.group.iter().all(|column| of_table(*column) == table)) else { return sketch };
        let are_halves = self.halves_of(*key).is_some_and(|halves| halves.iter().all(|of| sketch.group.contains(of)));
        let is_name = |column: &usize| self.reading.is_nearly_unique(*column);
        match are_halves || sketch.group.iter().any(is_name) {
            true => Sketch { group: vec![*key], ..sketch },
            false => sketch,
        }
    }
}
