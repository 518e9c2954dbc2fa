//! Statements that a question does not mean, whatever speaks for them: they are not made.

use std::collections::BTreeSet;

use super::Maker;
use super::drafts::Draft;
use crate::compose::sketch::{Condition, Function, Item, Joined, Operand, Relation, Sketch};
use crate::joins::JoinTree;
use crate::linking::Words;
use crate::schema_graph::{ColumnKind, JoinOrigin};

impl Maker<'_, '_> {
    /// Whether a span of time is left out that rows of the statement's tables could be held to; "before 2019" is one, and nothing
    /// that an amount is compared with.
    pub(super) fn leaves_time_out(&self, draft: &Draft, sketch: &Sketch, tables: &BTreeSet<usize>) -> bool {
        const WHEN: [&str; 7] = ["before", "after", "in", "since", "during", "until", "till"];
        if self.reading.periods().is_empty() {
            return false;
        }
        let graph = self.graph();
        let has_dates = || {
            let columns = tables.iter().filter_map(|table| graph.tables().get(*table)).flat_map(|t| t.columns.clone());
            columns.into_iter().any(|column| self.reading.holds_dates(column))
        };
        let held = |of: &Condition| match &of.operand {
            Operand::Within(..) => true,
            Operand::Text(text) => text.contains(|c: char| c.is_ascii_digit()),
            _ => self.reading.has_stem(of.column, &["year", "season", "date", "time"]),
        };
        let is_held = sketch.all_conditions().any(held);
        let is_left = |span: &std::ops::Range<usize>| {
            let before = span.start.checked_sub(1).and_then(|at| self.reading.words.words.get(at));
            let says_when = before.is_some_and(|word| WHEN.contains(&word.text.as_str()));
            let is_taken = span.clone().any(|at| draft.takes(at) || draft.numbers.contains(&at));
            !is_taken || says_when && !is_held
        };
        self.reading.periods().iter().any(|period| is_left(&period.words)) && has_dates()
    }

    /// Whether a mean that the question wants is in neither a function nor the name of a column: "average gift by method" is not
    /// how many gifts.
    pub(super) fn leaves_mean_out(&self, sketch: &Sketch) -> bool {
        const MEANS: [&str; 3] = ["averag", "mean", "avg"];
        if !self.reading.marks.iter().any(|mark| MEANS.contains(&mark.as_str())) {
            return false;
        }
        let is_named = |column: usize| self.reading.has_stem(column, &MEANS);
        !(sketch.items().any(|item| item.function == Some(Function::Mean))
            || sketch.all_conditions().any(|of| of.operand == Operand::Of(Function::Mean) || is_named(of.column))
            || sketch.columns().into_iter().any(is_named))
    }

    /// Whether a statement says nothing whatever the question is: a function of a column that is held to one value, an order of
    /// a single row, groups of one row each, the rows whose reference is not there where each is, half of a name, or what is
    /// neither a name nor a key of the things that are wanted.
    pub(super) fn is_senseless(&self, sketch: &Sketch, tree: &JoinTree) -> bool {
        let graph = self.graph();
        let fixed = |column: usize| {
            let is = |of: &Condition| of.column == column && of.relation == Relation::Equal;
            sketch.joined == Joined::And && sketch.conditions.iter().any(is)
        };
        let of_fixed = |item: &Item| item.function.is_some_and(|_| item.column.is_some_and(fixed));
        let aggregates = sketch.shown.iter().any(|item| item.function.is_some());
        let is_ordered_row = aggregates && sketch.group.is_empty() && sketch.per.is_none() && sketch.order.is_some();
        let is_alone = |column: &usize| {
            let table = graph.columns().get(*column).and_then(|node| graph.tables().get(node.table));
            table.is_some_and(|table| table.primary_key == [*column]) || self.reading.is_unique(*column)
        };
        // No table has several rows for one of this one.
        let has_one_row =
            |column: &usize| graph.columns().get(*column).is_none_or(|node| !tree.repeats(graph, node.table));
        let groups_of_one = sketch.group.iter().any(|column| is_alone(column) && has_one_row(column));
        let refers_to_all = sketch.without.as_ref().is_some_and(|without| {
            let same = |pairs: &[(usize, usize)]| pairs == [(without.outer, without.inner)];
            let refers = graph.joins().iter().any(|join| join.origin != JoinOrigin::Implied && same(&join.pairs));
            refers && without.conditions.is_empty() && without.tables.is_empty()
        });
        sketch.shown.iter().any(of_fixed)
            || is_ordered_row
            || groups_of_one
            || refers_to_all
            || self.halves_name(sketch)
            || self.names_nothing(sketch)
            || self.is_no_one(sketch)
            || self.is_number_for_none(sketch)
            || self.counts_others(sketch)
            || self.shows_order_alone(sketch)
            || self.orders_by_key(sketch)
            || self.shows_whose_value(sketch)
            || self.names_others(sketch)
            || self.leaves_out_unsaid(sketch)
            || self.is_first_of_words(sketch)
            || self.groups_unasked(sketch)
            || self.shows_what_is_held(sketch)
            || self.is_of_other_day(sketch)
            || self.is_of_later_day(sketch)
            || self.holds_to_own_name(sketch)
            || self.lists_half(sketch)
            || self.aggregates_unasked(sketch)
            || self.tells_no_amount(sketch)
            || self.shows_reference(sketch)
            || self.shows_others(sketch)
            || self.limit.is_some() && sketch.limit != self.limit
            || sketch.shown_numbers() < self.numbers
            || self.reading.has_hard_not() && !is_negative(sketch)
    }

    /// Whether a statement lists, of things that are wanted, what they are held to: "agents hired before 2012" are no days.
    fn shows_what_is_held(&self, sketch: &Sketch) -> bool {
        let [Item { function: None, column: Some(column) }] = sketch.shown.as_slice() else { return false };
        let is_held = sketch.conditions.iter().any(|of| of.column == *column);
        is_held && self.measures(*column) && (self.reading.wants_things() || self.reading.lists_things())
    }

    /// Whether rows are held to a span of time by another day than the word before it names: "sold in March" is not listed then.
    fn is_of_other_day(&self, sketch: &Sketch) -> bool {
        let graph = self.graph();
        let says = |column: usize, at: usize| {
            self.reading.columns.get(column).is_some_and(|mention| mention.words.contains(&at))
        };
        let verbs = self.reading.periods().iter().filter_map(|period| period.words.start.checked_sub(2));
        let verbs: Vec<usize> = verbs.collect();
        let is_other = |of: &Condition| {
            let is_span = matches!(of.operand, Operand::Within(..));
            let table = graph.columns().get(of.column).and_then(|node| graph.tables().get(node.table));
            let others = || table.into_iter().flat_map(|table| table.columns.clone());
            let of_other = |at: &usize| others().any(|other| self.reading.holds_dates(other) && says(other, *at));
            is_span && verbs.iter().any(|at| !says(of.column, *at) && of_other(at))
        };
        sketch.conditions.iter().any(is_other)
    }

    /// Whether rows are grouped by another day than that by which they are held to a span of time, or are held to one of two days of
    /// which the question names none, and not to the first, on which they begin.
    fn is_of_later_day(&self, sketch: &Sketch) -> bool {
        let graph = self.graph();
        let held =
            || sketch.conditions.iter().filter(|of| matches!(of.operand, Operand::Within(..))).map(|of| of.column);
        let table = |column: usize| graph.columns().get(column).map(|node| node.table);
        let is_said = |column: usize| self.reading.columns.get(column).is_some_and(|of| !of.words.is_empty());
        let is_later = |column: usize| {
            let mut before =
                table(column).and_then(|table| graph.tables().get(table)).map_or(0..0, |of| of.columns.start..column);
            !is_said(column) && before.any(|other| self.reading.holds_dates(other) && !graph.columns()[other].hidden)
        };
        let grouped = sketch.per.map(|(_, column)| column);
        let is_other = |column: usize| grouped.is_some_and(|of| of != column && table(of) == table(column));
        // What is added up has a day of its own.
        let is_amount = |item: &&Item| matches!(item.function, Some(Function::Sum | Function::Mean));
        let has_day = |of: &usize| graph.tables()[*of].columns.clone().any(|column| self.reading.holds_dates(column));
        let amounts = sketch.shown.iter().filter(is_amount).filter_map(|item| table(item.column?));
        let amounts: Vec<usize> = amounts.filter(has_day).collect();
        let is_elsewhere = |column: usize| {
            !is_said(column) && !amounts.is_empty() && table(column).is_some_and(|of| !amounts.contains(&of))
        };
        held().any(is_other) || held().any(is_elsewhere) || held().chain(grouped).any(is_later)
    }

    /// Whether a statement has a row for each of what no word of the question is for: the average salary is none by active or not.
    fn groups_unasked(&self, sketch: &Sketch) -> bool {
        const EACH: [&str; 8] = ["each", "every", "per", "by", "which", "across", "between", "among"];
        let says = |at: &usize| self.reading.words.words.get(*at).is_some_and(|word| !word.is_stop);
        let is_unsaid = |column: &usize| {
            let is_said = self.reading.columns.get(*column).is_none_or(|mention| mention.words.iter().any(says));
            !is_said && self.reading.is_flag(*column)
        };
        let asks = || self.reading.words.words.iter().any(|word| EACH.contains(&word.text.as_str()));
        !sketch.group.is_empty() && sketch.group.iter().all(is_unsaid) && !asks()
    }

    /// Whether rows of a table are held to what the table is called: all lecturers are meant, and not those of the rank "lecturer".
    fn holds_to_own_name(&self, sketch: &Sketch) -> bool {
        let graph = self.graph();
        let is_own = |of: &Condition| {
            let (Operand::Text(text), Relation::Equal) = (&of.operand, of.relation) else { return false };
            let table = graph.columns()[of.column].table;
            let word = |at: &usize| self.reading.words.words.get(*at).map(|word| word.stem.clone());
            let called: Vec<String> = self.reading.tables[table].words.iter().filter_map(word).collect();
            self.counted.contains(&table) && Words::of(text).stems() == called
        };
        sketch.conditions.iter().any(is_own)
    }

    /// Whether a statement shows one alone of two that the question wants together: "names and emails", "suppliers and their ratings".
    fn lists_half(&self, sketch: &Sketch) -> bool {
        let shows =
            |of: &[usize]| sketch.shown.iter().filter_map(|item| item.column).any(|column| of.contains(&column));
        match &self.pair {
            Some((Some(first), second)) => shows(first) != shows(second),
            // Things, and something of theirs.
            Some((None, second)) => shows(second) && sketch.shown.len() == 1,
            None => false,
        }
    }

    /// Whether the question names a column whole.
    fn is_said_whole(&self, column: usize) -> bool {
        self.reading.columns.get(column).is_some_and(|mention| mention.coverage > 0.99)
    }

    /// Whether a statement answers "who" with days or amounts, or with what else a table of people has beside their names.
    fn is_no_one(&self, sketch: &Sketch) -> bool {
        let measures = |item: &Item| item.function.is_some() || item.column.is_none_or(|column| self.measures(column));
        let is_beside_name = |item: &Item| {
            let column = item.column.filter(|column| !self.refers(*column) && !self.is_key(*column));
            column.and_then(|column| self.halves_of(column).map(|halves| !halves.contains(&column))).unwrap_or(false)
        };
        // Nor by a key of those who have names.
        let is_key_of_named = |item: &Item| {
            let column = item.column.filter(|column| item.function.is_none() && !self.is_said_whole(*column));
            let has_names = || (0..self.graph().columns().len()).any(|of| self.reading.has_stem(of, &["name"]));
            column.is_some_and(|column| self.is_key(column) || self.refers(column)) && has_names()
        };
        let is_none = |item: &Item| measures(item) || is_beside_name(item) || is_key_of_named(item);
        // "The oldest" wants no day.
        let by = sketch.order_column().filter(|by| sketch.limit.is_some() && !self.is_said_whole(*by));
        let shows_order = by.is_some_and(|by| sketch.shown.contains(&Item::plain(by)));
        self.reading.asks_who() && sketch.per.is_none() && (shows_order || sketch.shown.iter().all(is_none))
    }

    /// Whether a statement gives one number where none is wanted: to "when" and "where" how many there are, and to the name of
    /// things something of all of them.
    fn is_number_for_none(&self, sketch: &Sketch) -> bool {
        let counts = |item: &Item| matches!(item.function, Some(Function::Count | Function::CountDifferent));
        let is_one = sketch.group.is_empty() && sketch.per.is_none();
        let counts_only = sketch.shown.iter().all(counts);
        let is_other =
            self.reading.asks_when_or_where() || self.reading.lists_things() || self.reading.wants_a_number();
        is_one && counts_only && is_other
    }

    /// Whether a statement counts the rows of other things than the question: "how many artworks are in no gallery" are no galleries.
    fn counts_others(&self, sketch: &Sketch) -> bool {
        let graph = self.graph();
        let own = sketch.own_tables(graph);
        let counts_rows = sketch.shown.contains(&Item::ROWS) && !self.counted.is_empty();
        // Of red cards a player may have two, and of bookings a status many.
        let refers = |table: &usize| {
            let of = |(from, to): (&usize, &usize)| {
                let from = graph.columns()[*from].table;
                own.contains(&from) && to == table || own.contains(to) && from == *table
            };
            self.references.iter().any(of)
        };
        // What each has may be told by the rows that link both.
        let links =
            |(from, to): (&usize, &usize)| own.contains(&graph.columns()[*from].table) && self.counted.contains(to);
        let is_of_groups = || !sketch.group.is_empty() && !self.references.iter().any(links);
        let may_repeat = || sketch.group.is_empty() && self.counted.iter().any(refers);
        counts_rows
            && !self.counted.iter().any(|table| own.contains(table))
            && (sketch.without.is_some() || is_of_groups() || may_repeat())
    }

    /// Whether a statement takes the first rows in the order of a key that is not named.
    fn orders_by_key(&self, sketch: &Sketch) -> bool {
        const KEYS: [&str; 7] = ["id", "ids", "key", "number", "code", "first", "last"];
        let says_key = || self.reading.words.words.iter().any(|word| KEYS.contains(&word.text.as_str()));
        let is_said = |column: usize| self.reading.columns.get(column).is_some_and(|mention| mention.coverage > 0.6);
        let by = sketch.order_column().filter(|column| self.is_key(*column) || self.refers(*column));
        sketch.limit.is_some() && by.is_some_and(|column| !is_said(column) || !says_key())
    }

    /// Whether a statement shows whose value it is where the value is wanted: "what was the highest temperature".
    fn shows_whose_value(&self, sketch: &Sketch) -> bool {
        let Some(by) = sketch.order_column().filter(|_| sketch.limit == Some(1)) else { return false };
        let shows = |column: usize| sketch.shown.iter().any(|item| item.column == Some(column));
        let wanted = &self.ends;
        // Nor is it in the order of something else.
        let is_other = !wanted.contains(&by) && wanted.iter().any(|column| shows(*column));
        let is_grouped = wanted.iter().any(|column| sketch.group.contains(column));
        is_other || is_grouped || wanted.contains(&by) && !shows(by)
    }

    /// Whether a statement shows what is of other things than those that a value is of: "captains on active ships" are no ships.
    fn names_others(&self, sketch: &Sketch) -> bool {
        let graph = self.graph();
        let words = &self.reading.words.words;
        let of_value = |at: usize| {
            let stem = words.get(at).map(|word| word.stem.as_str())?;
            let holds = |of: &&Condition| match &of.operand {
                Operand::Text(text) => Words::of(text).words.iter().any(|word| word.stem == stem),
                _ => false,
            };
            sketch.conditions.iter().find(holds).map(|of| graph.columns()[of.column].table)
        };
        let is_name = |column: usize| self.reading.is_label(column);
        let is_said =
            |column: &usize| self.reading.columns.get(*column).is_some_and(|mention| !mention.spans.is_empty());
        let shown: Vec<usize> = sketch.shown.iter().filter_map(|item| item.column).collect();
        let is_of_other = |table: usize| {
            let has_name = graph.tables()[table].columns.clone().any(is_name);
            has_name && shown.iter().all(|column| graph.columns()[*column].table != table)
        };
        let mut tables = self.heads.iter().copied().filter(|at| self.is_value(*at)).filter_map(of_value);
        !shown.is_empty() && !shown.iter().any(is_said) && tables.any(is_of_other)
    }

    /// Whether a statement leaves out what rows of a table refer to that the question does not name, where its own rows refer to the
    /// same: those that refer to nothing are meant.
    fn leaves_out_unsaid(&self, sketch: &Sketch) -> bool {
        let Some(without) = &sketch.without else { return false };
        let to = |column: usize| self.references.get(&column);
        let both_refer = to(without.outer).is_some() && to(without.outer) == to(without.inner);
        let of_inner = self.graph().columns().get(without.inner).map(|node| node.table);
        let is_said = of_inner.and_then(|table| self.reading.tables.get(table)).is_some_and(|of| of.coverage > 0.4);
        both_refer && without.conditions.is_empty() && !is_said && !self.is_key(without.outer)
    }

    /// Whether a statement shows of the first of some things how much they have, and not which they are: "top 5 ships by tonnage".
    fn shows_order_alone(&self, sketch: &Sketch) -> bool {
        let by = sketch.order.and_then(|order| order.item.column).filter(|column| self.measures(*column));
        let is_by = |item: &Item| item.column.is_some() && item.column == by;
        let wants_things = sketch.limit > Some(1) && self.reading.begins_with_things() || self.reading.wants_things();
        sketch.shown.iter().all(is_by) && sketch.limit.is_some() && wants_things
    }

    /// Whether a column says how much or when, and not what.
    fn measures(&self, column: usize) -> bool {
        self.graph().columns().get(column).is_none_or(|node| {
            let is_measure =
                matches!(node.kind, ColumnKind::Number | ColumnKind::Date) || self.reading.holds_dates(column);
            is_measure && !node.is_key && !self.refers(column)
        })
    }

    /// Whether a statement takes the first rows in an order of words where none is wanted.
    fn is_first_of_words(&self, sketch: &Sketch) -> bool {
        let of_words = |column| self.reading.holds_texts(column) && !self.reading.holds_dates(column);
        sketch.order_column().is_some_and(of_words) && sketch.limit.is_some() && !self.reading.sorts_words()
    }

    /// Whether a statement shows, where things are wanted and nothing is said of what of them, neither names nor keys: "which
    /// aircraft" is not answered by days on which they came.
    fn names_nothing(&self, sketch: &Sketch) -> bool {
        const NAMES: [&str; 6] = ["name", "titl", "label", "descript", "code", "number"];
        // "Which order" names no date of an order.
        let is_of_thing = |column: usize, table: usize| {
            let (said, thing) = (self.reading.columns.get(column), self.reading.tables.get(table));
            said.zip(thing).is_some_and(|(said, thing)| {
                let is_thing = said.words.iter().all(|word| thing.words.contains(word));
                said.coverage < 0.99 && !said.words.is_empty() && is_thing
            })
        };
        let is_measure_of_thing = |column: usize| {
            let node = self.graph().columns().get(column);
            self.measures(column) && node.is_some_and(|node| is_of_thing(column, node.table))
        };
        let says_nothing = |column: usize| {
            let Some(node) = self.graph().columns().get(column) else { return false };
            let mention = self.reading.columns.get(column);
            // "Which properties" does not name their type.
            let of_table = self.reading.tables.get(node.table).filter(|of| of.coverage > 0.99);
            let is_thing = mention.zip(of_table).is_some_and(|(mention, table)| {
                mention.coverage < 0.99
                    && !mention.words.is_empty()
                    && mention.words.iter().all(|at| table.words.contains(at))
            });
            let is_said = mention.is_none_or(|mention| mention.coverage > 0.0 || mention.similar > 0.0) && !is_thing;
            let is_named = is_said || !is_thing && self.reading.mentioned(column) > 0.2;
            !(is_named || node.is_key || self.refers(column) || self.reading.has_stem(column, &NAMES))
        };
        let mut plain = sketch.shown.iter().filter(|item| item.function.is_none()).filter_map(|item| item.column);
        let is_grouped = !sketch.group.is_empty();
        (self.reading.wants_things() || self.reading.begins_with_things())
            && plain.any(|column| {
                let is_flag = self.reading.is_flag(column) && !self.is_said_whole(column);
                is_measure_of_thing(column) || is_flag || !is_grouped && says_nothing(column)
            })
    }

    /// Whether a statement shows one half of the name of people whose other half stands beside it, and neither is wanted.
    fn halves_name(&self, sketch: &Sketch) -> bool {
        const HALVES: [&str; 8] =
            ["first name", "last name", "fname", "lname", "given name", "surname", "family name", "forename"];
        let graph = self.graph();
        let half = |column: usize| {
            let node = graph.columns().get(column)?;
            let name = self.reading.name(column);
            HALVES.iter().any(|half| name.ends_with(half)).then_some(node.table)
        };
        let is_said = |column: usize| self.reading.columns.get(column).is_some_and(|mention| mention.coverage > 0.6);
        let shown: Vec<usize> = sketch.shown.iter().filter_map(|item| item.column).collect();
        shown.iter().any(|&column| {
            let Some(table) = half(column).and_then(|table| graph.tables().get(table)) else { return false };
            let mut others = table.columns.clone().filter(|other| *other != column && half(*other).is_some());
            !is_said(column) && others.any(|other| !shown.contains(&other) && !is_said(other))
        })
    }

    /// Whether a statement counts all rows of a table, and the question says more of them than how many there are: "How many
    /// employees speak French?"
    pub(super) fn counts_too_much(&self, draft: &Draft, sketch: &Sketch, tables: &BTreeSet<usize>) -> bool {
        const OF_COUNTS: [&str; 16] = [
            "total", "number", "count", "list", "exist", "record", "entri", "row", "databas", "tabl", "overal",
            "altogeth", "regist", "store", "current", "known",
        ];
        let all = sketch.shown == [Item::ROWS] && sketch.conditions.is_empty() && sketch.without.is_none();
        let stem = |at: &usize| self.reading.words.words.get(*at).map_or("", |word| word.stem.as_str());
        all && sketch.group.is_empty()
            && tables.len() == 1
            && self
                .words_left(draft, &self.said(&BTreeSet::new(), tables))
                .iter()
                .any(|at| !OF_COUNTS.contains(&stem(at)))
    }
}

/// Whether something of a statement is for what is not so: rows left out, another value, a missing one, or what a column of yes and
/// no has.
fn is_negative(sketch: &Sketch) -> bool {
    let is_flag = |operand: &Operand| match operand {
        Operand::Number(number) => *number == 0.0 || *number == 1.0,
        Operand::Text(text) => {
            text.len() <= 5 || text.to_lowercase().starts_with("no") || text.to_lowercase().starts_with("un")
        }
        Operand::Nothing => true,
        _ => false,
    };
    let is_other = |of: &Condition| matches!(of.relation, Relation::Unequal | Relation::Unlike) || is_flag(&of.operand);
    sketch.without.is_some() || sketch.conditions.iter().any(is_other)
}
