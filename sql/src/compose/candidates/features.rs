//! What speaks for a statement before it is run.

use std::collections::{BTreeMap, BTreeSet};

use super::drafts::Draft;
use super::{Maker, WORD_LEFT};
use crate::compose::sketch::{Function, Item, Joined, Relation, Sketch, tables_of};
use crate::joins::JoinTree;
use crate::linking::words::Word;
use crate::linking::{Mention, Words};
use crate::schema_graph::ColumnKind;

impl Maker<'_, '_> {
    /// Features of the places where the question has whole names of columns: whether something is made of each, and
    /// whether of two with an "and" between them one is shown and the other is not.
    pub(super) fn of_spans(&self, sketch: &Sketch, features: &mut Vec<(String, f32)>) {
        let mut spans: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (column, mention) in self.reading.columns.iter().enumerate() {
            if self.reading.mentioned(column) > 0.2 {
                mention.spans.iter().for_each(|span| spans.entry(*span).or_default().push(column));
            }
        }
        // Those within longer ones say nothing more.
        let all: Vec<(usize, usize)> = spans.keys().copied().collect();
        let longest =
            |span: &(usize, usize)| !all.iter().any(|other| other != span && other.0 <= span.0 && span.1 <= other.1);
        spans.retain(|span, _| longest(span));
        let columns = sketch.columns();
        let inner = |column: &usize| {
            sketch.without.iter().any(|w| w.inner == *column || w.conditions.iter().any(|c| c.column == *column))
        };
        let used = |of: &Vec<usize>| of.iter().any(|column| columns.contains(column) || inner(column));
        let shown =
            |of: &Vec<usize>| of.iter().any(|column| sketch.shown.iter().any(|item| item.column == Some(*column)));
        let unused = spans.values().filter(|of| !used(of)).count();
        let (mut split, mut fused) = (0, 0);
        for ((span, of), (next, other)) in spans.iter().zip(spans.iter().skip(1)) {
            let gap = self.reading.marks.get(span.1..next.0).unwrap_or_default();
            const BETWEEN: [&str; 9] = ["and", "the", "its", "their", "as", "well", "both", "or", "a"];
            if gap.len() <= 3 && gap.iter().all(|mark| BETWEEN.contains(&mark.as_str())) {
                split += usize::from(shown(of) != shown(other));
                fused += usize::from(shown(of) && shown(other));
            }
        }
        for (name, count) in [("names unused", unused), ("listed apart", split), ("listed together", fused)] {
            if count > 0 {
                features.push((name.to_owned(), count.min(3) as f32));
                features.push((format!("{name}, some"), 1.0));
            }
        }
    }

    /// Features of the words that nothing of the statement is for: neither a column or table that it has, nor a value, a number or
    /// a cue. Of such words those of the training questions have weights of their own. Given back are those right before a name, and
    /// those for a thing that is wanted.
    pub(super) fn of_words_left(
        &self,
        draft: &Draft,
        columns: &BTreeSet<usize>,
        tables: &BTreeSet<usize>,
        features: &mut Vec<(String, f32)>,
    ) -> Vec<String> {
        let said = self.said(columns, tables);
        let left = self.words_left(draft, &said);
        for &at in &left {
            let stem = self.reading.words.words.get(at).map_or("", |word| word.stem.as_str());
            features.push((format!("{WORD_LEFT}{stem}"), 1.0));
        }
        // "The outstanding amount", where only the amount is read.
        let before_name = left.iter().filter(|at| said.contains(&(**at + 1)) && !self.reading.is_cue(**at));
        let text = |at: &usize| self.reading.words.words.get(*at).map_or_else(String::new, |word| word.text.clone());
        let mut unread: Vec<String> = before_name.map(text).collect();
        if !unread.is_empty() {
            features.push(("left before a name".to_owned(), unread.len().min(3) as f32));
        }
        let is_left = |at: &usize| left.contains(at) || self.is_value(*at) && !draft.takes(*at) && !said.contains(at);
        // "What is the office rent" wants a rent, and no office.
        let asks = self.reading.asks_what_is();
        let is_missed = |thing: &&Vec<usize>| {
            let is_asked = asks && thing.first() == Some(&3);
            thing.iter().all(is_left) || is_asked && thing.last().is_some_and(is_left)
        };
        let unsaid = self.things.iter().filter(is_missed);
        unread.extend(unsaid.filter_map(|thing| thing.last().map(text)));
        // Of rows that nothing narrows down each word may have been meant to: "which clubs are in debt".
        if draft.sketch.has_all_rows() {
            unread
                .extend(left.iter().filter(|at| !self.reading.is_cue(**at) && self.reading.says_which(**at)).map(text));
        }
        unread.extend(self.numbers_left(draft, &said).iter().map(text));
        unread.extend(self.names_left(draft, columns, tables, &said, &left).iter().map(text));
        // "How many products does it supply" is about suppliers.
        let is_of = |word: &str| tables.iter().any(|table| is_kin(word, &self.table_names[*table]));
        let is_empty = |word: &str| EMPTY.contains(&word) || !draft.sketch.has_all_rows() && OF_NOW.contains(&word);
        let mut told = BTreeSet::new();
        unread.retain(|word| !is_empty(word) && !is_of(word) && told.insert(word.clone()));
        let count = left.len();
        if count > 0 {
            features.push(("words left".to_owned(), count.min(5) as f32));
            features.push(("a word left".to_owned(), 1.0));
        }
        // Tables that are named whole and not there, beyond words that a column which is there has too; and those that are
        // there without a word.
        let whole = |table: usize| self.reading.tables.get(table).filter(|mention| mention.coverage > 0.99);
        let missed = (0..self.reading.tables.len()).filter(|table| !tables.contains(table));
        let missed = missed.filter_map(whole).filter(|mention| !mention.words.iter().all(|at| said.contains(at)));
        let unsaid =
            tables.iter().filter(|table| self.reading.tables.get(**table).is_none_or(|mention| mention.coverage < 0.4));
        for (name, count) in [("tables missed", missed.count()), ("tables unsaid", unsaid.count())] {
            if count > 0 {
                features.push((name.to_owned(), count.min(4) as f32));
                features.push((format!("{name}, of {}", tables.len().min(4)), 1.0));
            }
        }
        unread
    }

    /// Whether a word is of a value.
    pub(super) fn is_value(&self, at: usize) -> bool {
        self.reading.marks.get(at).is_some_and(|mark| mark == "@")
    }

    /// The words of the columns and tables of a statement.
    pub(super) fn said(&self, columns: &BTreeSet<usize>, tables: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mentions = columns.iter().filter_map(|column| self.reading.columns.get(*column));
        let mentions = mentions.chain(tables.iter().filter_map(|table| self.reading.tables.get(*table)));
        mentions.flat_map(|mention| mention.words.iter().copied()).collect()
    }

    /// The words that nothing of a statement is for.
    pub(super) fn words_left(&self, draft: &Draft, said: &BTreeSet<usize>) -> Vec<usize> {
        let is_left = |(at, word): &(usize, &Word)| {
            let is_mark = self.reading.marks.get(*at).is_some_and(|mark| ["@", "#"].contains(&mark.as_str()));
            let is_taken = said.contains(at) || draft.takes(*at);
            !(is_mark || is_taken || word.is_stop || draft.numbers.contains(at))
        };
        self.reading.words.words.iter().enumerate().filter(is_left).map(|(at, _)| at).collect()
    }

    /// Words that nothing of a statement is for, of a value that was found or in the name of a column beside those that it has:
    /// "how many patients have asthma", "customers who have an email".
    fn names_left(
        &self,
        draft: &Draft,
        columns: &BTreeSet<usize>,
        tables: &BTreeSet<usize>,
        said: &BTreeSet<usize>,
        left: &[usize],
    ) -> Vec<usize> {
        let is_taken = |at: usize| said.contains(&at) || draft.takes(at) || draft.numbers.contains(&at);
        let is_meant = |at: usize| !is_taken(at) && !self.reading.is_cue(at);
        let values = self.words_of_values().into_iter().filter(|at| is_meant(*at));
        let beside = |at: usize| {
            let graph = self.graph();
            let of = tables.iter().filter_map(|table| graph.tables().get(*table)).flat_map(|of| of.columns.clone());
            let mut others = of.filter(|column| !columns.contains(column) && !graph.columns()[*column].hidden);
            others.any(|column| self.reading.columns.get(column).is_some_and(|mention| mention.words.contains(&at)))
        };
        let names = left.iter().copied().filter(|at| is_meant(*at) && beside(*at));
        values.chain(names).collect()
    }

    /// The numbers in digits that nothing of a statement is for.
    fn numbers_left(&self, draft: &Draft, said: &BTreeSet<usize>) -> Vec<usize> {
        let is_left = |at: &usize| {
            let in_digits = self.reading.words.words.get(*at).is_some_and(|word| is_in_digits(&word.text));
            let is_taken = said.contains(at) || draft.takes(*at) || draft.numbers.contains(at);
            in_digits && !is_taken
        };
        self.reading.numbers.iter().map(|(at, _)| *at).filter(is_left).collect()
    }

    /// What a statement says whatever columns it shows a thing by: equal for statements of which one shows the name of what the
    /// question is about, and another its key, over the same tables in between.
    pub(super) fn meaning(&self, sketch: &Sketch, tree: &JoinTree) -> String {
        let group = self.things(&sketch.group, true);
        // What the first are first by may be shown beside them.
        let by = sketch.order.filter(|_| sketch.limit.is_some() && sketch.shown.len() > 1).map(|order| order.item);
        let items = || sketch.shown.iter().filter(|item| by != Some(**item));
        let plain: Vec<usize> = items().filter(|item| item.function.is_none()).filter_map(|item| item.column).collect();
        let shown = self.things(&plain, !sketch.group.is_empty());
        let functions: Vec<&Item> = items().filter(|item| item.function.is_some()).collect();
        // A reference that stands for a thing is one join more to it.
        let stands = |column: &usize| {
            let is_said = self.reading.columns.get(*column).is_some_and(|mention| !mention.spans.is_empty());
            (plain.contains(column) || sketch.group.contains(column)) && self.refers(*column) && !is_said
        };
        let (standing, columns): (Vec<usize>, Vec<usize>) = sketch.columns().into_iter().partition(stands);
        let used = tables_of(self.graph(), columns);
        let standing = tables_of(self.graph(), standing);
        let joins = |table: usize| {
            let of_tree = tree.joins_in(self.graph()).filter(|join| [join.from, join.to].contains(&table));
            of_tree.count() + usize::from(standing.contains(&table))
        };
        let is_thing = |table: &usize| shown.contains(&(false, *table)) || group.contains(&(false, *table));
        let is_between = |table: &&usize| !used.contains(table) && !is_thing(table) && joins(**table) > 1;
        let between: Vec<&usize> = tree.tables.iter().filter(is_between).collect();
        let Sketch { conditions, joined, without, per, having, order, limit, .. } = sketch;
        let joined = if conditions.len() > 1 { joined.name() } else { "" };
        format!(
            "{group:?} {shown:?} {functions:?} {conditions:?} {joined} {without:?} {per:?} {having:?} {order:?} {limit:?} {between:?}"
        )
    }

    /// What columns that are not named whole stand for: their tables, a reference that which it refers to. Of groups only
    /// keys and names do; what else rows are grouped by is itself.
    fn things(&self, columns: &[usize], grouped: bool) -> BTreeSet<(bool, usize)> {
        let thing = |&column: &usize| {
            let is_said = self.reading.columns.get(column).is_some_and(|mention| !mention.spans.is_empty());
            let Some(node) = self.graph().columns().get(column).filter(|_| !is_said) else { return (true, column) };
            let is_name = || self.reading.is_label(column);
            match self.references.get(&column) {
                Some(to) => (false, *to),
                None if !grouped || node.is_key || is_name() => (false, node.table),
                None => (true, column),
            }
        };
        columns.iter().map(thing).collect()
    }

    /// Features of tables at the ends of the joins of which no column is used.
    pub(super) fn of_leaves(&self, sketch: &Sketch, tree: &JoinTree, features: &mut Vec<(String, f32)>) {
        if tree.tables.len() < 2 {
            return;
        }
        let with_columns = tables_of(self.graph(), sketch.columns());
        for table in tree.tables.iter().filter(|table| !with_columns.contains(table)) {
            let joins = tree.joins_in(self.graph());
            if joins.filter(|join| join.from == *table || join.to == *table).count() > 1 {
                continue;
            }
            let said = self.reading.tables.get(*table).is_some_and(|mention| mention.coverage > 0.99);
            let counted =
                if sketch.shown.contains(&Item::ROWS) || sketch.having.is_some() { "counted" } else { "idle" };
            features.push((format!("leaf said {said}"), 1.0));
            features.push((format!("leaf {counted} said {said}"), 1.0));
        }
    }

    pub(super) fn features(
        &self,
        (draft, sketch): (&Draft, &Sketch),
        used: &BTreeSet<usize>,
        tables: usize,
        values: &BTreeSet<usize>,
        features: &mut Vec<(String, f32)>,
    ) {
        let mut add = |name: String, value: f32| {
            if value != 0.0 {
                features.push((name, value));
            }
        };
        let shape = draft.shape.name();
        add(format!("shape {shape}"), 1.0);
        add(format!("joined {}", tables.min(4)), 1.0);
        add(format!("shown {}", sketch.shown.len()), 1.0);
        add(format!("conditions {} {}", sketch.conditions.len(), sketch.joined.name()), 1.0);
        let left = values.iter().filter(|at| !draft.words.iter().any(|words| words.contains(at))).count();
        add("values left".to_owned(), left.min(4) as f32);
        add(format!("a value left, {} conditions", sketch.conditions.len()), if left > 0 { 1.0 } else { 0.0 });
        add("a value left".to_owned(), if left > 0 { 1.0 } else { 0.0 });
        let digits = |at: usize| self.reading.marks.get(at).is_some_and(|mark| mark == "#");
        let numbers = self.reading.numbers.iter().filter(|(at, _)| digits(*at));
        let numbers = numbers
            .filter(|(at, _)| !draft.numbers.contains(at) && !draft.words.iter().any(|words| words.contains(at)));
        add("numbers left".to_owned(), numbers.count().min(3) as f32);
        let missed: f32 = self
            .reading
            .linked
            .columns
            .iter()
            .filter(|column| !used.contains(&column.column) && column.mentioned > 0.3)
            .map(|column| column.mentioned)
            .sum();
        add("columns missed".to_owned(), missed.min(4.0));
        add("a column missed".to_owned(), if missed > 0.5 { 1.0 } else { 0.0 });
        let unsaid = used.iter().filter(|column| self.reading.mentioned(**column) < 0.2).count();
        add("columns unsaid".to_owned(), unsaid.min(4) as f32);
        let keys = sketch.shown.iter().filter(|item| {
            item.column.is_some_and(|column| {
                self.is_key(column) && self.reading.columns.get(column).is_some_and(|mention| mention.coverage < 0.99)
            })
        });
        add("a key unsaid shown".to_owned(), if keys.count() > 0 { 1.0 } else { 0.0 });
        // Two columns that the same words name.
        let plain: Vec<&Mention> = sketch
            .shown
            .iter()
            .filter(|item| item.function.is_none())
            .filter_map(|item| self.reading.columns.get(item.column?))
            .collect();
        let same = plain
            .iter()
            .enumerate()
            .any(|(at, one)| plain.iter().skip(at + 1).any(|other| !one.words.is_empty() && one.words == other.words));
        add("same words shown".to_owned(), if same { 1.0 } else { 0.0 });
        let functions = sketch.shown.len() - plain.len();
        add(format!("functions {functions} plain {}", plain.len()), 1.0);
        add(format!("listed {} shown {}", self.reading.listed().min(4), plain.len()), 1.0);
        // A column both shown and held to a value says nothing.
        let fixed = sketch.conditions.iter().any(|condition| {
            condition.relation == Relation::Equal
                && sketch.joined == Joined::And
                && sketch.shown.contains(&Item::plain(condition.column))
        });
        add("shown and fixed".to_owned(), if fixed { 1.0 } else { 0.0 });
        let twice =
            sketch.order.is_some_and(|order| order.item.function.is_none() && sketch.shown.contains(&order.item));
        add(format!("order shown {twice} {shape}"), if sketch.order.is_some() { 1.0 } else { 0.0 });
        // Groups that are shown with a function of theirs, and stand in the order of another one.
        let other = sketch.order.is_some_and(|order| {
            let functions = sketch.shown.iter().filter(|item| item.function.is_some());
            order.item.function.is_some()
                && functions.clone().count() > 0
                && !functions.into_iter().any(|of| *of == order.item)
        });
        add("another order".to_owned(), if other { 1.0 } else { 0.0 });
        let mixed = sketch.conditions.iter().any(|a| {
            sketch.conditions.iter().any(|b| a.column == b.column && a != b && sketch.joined == Joined::And)
                && a.relation == Relation::Equal
        });
        add("impossible".to_owned(), if mixed { 1.0 } else { 0.0 });
        let sums = sketch.shown.iter().any(|item| {
            matches!(item.function, Some(Function::Mean | Function::Sum))
                && item
                    .column
                    .and_then(|c| self.graph().columns().get(c))
                    .is_some_and(|c| c.kind == ColumnKind::Text || c.is_key)
        });
        add("sum of texts".to_owned(), if sums { 1.0 } else { 0.0 });
    }
}

/// Verbs that say nothing of what is wanted: "how many bags got lost".
const EMPTY: [&str; 12] =
    ["got", "get", "gets", "come", "comes", "came", "go", "goes", "went", "gone", "whole", "entire"];
/// Words that say no more than what rows are held to: "still active", "new members who joined in 2021".
const OF_NOW: [&str; 2] = ["still", "new"];

/// Whether a word begins as one of a table's name does.
fn is_kin(word: &str, table: &Words) -> bool {
    let shares = |name: &str| {
        let same = word.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
        same >= 5 && same + 2 >= word.len().min(name.len())
    };
    table.words.iter().any(|name| shares(&name.text))
}

fn is_in_digits(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}
