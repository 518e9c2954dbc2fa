//! What speaks for a statement before it is run.

use std::collections::{BTreeMap, BTreeSet};

use super::drafts::Draft;
use super::{Maker, WORD_LEFT};
use crate::compose::sketch::{Condition, Function, Item, Joined, Operand, Relation, Sketch, tables_of};
use crate::joins::JoinTree;
use crate::linking::Mention;
use crate::linking::words::Word;
use crate::schema_graph::{ColumnKind, JoinOrigin};

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
        let unsaid = self.things.iter().filter(|thing| thing.iter().all(|at| left.contains(at)));
        unread.extend(unsaid.filter_map(|thing| thing.last().map(text)));
        unread.extend(self.numbers_left(draft, &said).iter().map(text));
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

    /// The words of the columns and tables of a statement.
    fn said(&self, columns: &BTreeSet<usize>, tables: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mentions = columns.iter().filter_map(|column| self.reading.columns.get(*column));
        let mentions = mentions.chain(tables.iter().filter_map(|table| self.reading.tables.get(*table)));
        mentions.flat_map(|mention| mention.words.iter().copied()).collect()
    }

    /// The words that nothing of a statement is for.
    fn words_left(&self, draft: &Draft, said: &BTreeSet<usize>) -> Vec<usize> {
        let is_left = |(at, word): &(usize, &Word)| {
            let is_mark = self.reading.marks.get(*at).is_some_and(|mark| ["@", "#"].contains(&mark.as_str()));
            let is_taken = said.contains(at) || draft.takes(*at);
            !(is_mark || is_taken || word.is_stop || draft.numbers.contains(at))
        };
        self.reading.words.words.iter().enumerate().filter(is_left).map(|(at, _)| at).collect()
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
            || self.is_first_of_words(sketch)
            || self.compares_keys(sketch)
            || self.is_of_one_row(sketch, tree)
            || self.joins_nothing(sketch, tree)
            || self.reading.has_hard_not() && !is_negative(sketch)
    }

    /// Whether a statement wants what joins it to another table to be missing.
    fn joins_nothing(&self, sketch: &Sketch, tree: &JoinTree) -> bool {
        let joins = tree.joins_in(self.graph());
        let pairs: Vec<(usize, usize)> = joins.flat_map(|join| join.pairs.iter().copied()).collect();
        let is_missing = |of: &Condition| of.operand == Operand::Nothing && of.relation == Relation::Equal;
        let joined = |column: usize| pairs.iter().any(|(from, to)| [*from, *to].contains(&column));
        sketch.joined == Joined::And && sketch.conditions.iter().any(|of| is_missing(of) && joined(of.column))
    }

    /// Whether a statement takes single rows with the most of something, or counts rows, where the totals of things are wanted; or
    /// several times a thing that joins repeat: "top 5 beers by kegs" are not five orders.
    fn is_of_one_row(&self, sketch: &Sketch, tree: &JoinTree) -> bool {
        let table = |column: usize| self.graph().columns().get(column).map(|node| node.table);
        let is_one = |item: &Item| item.column.is_some_and(|column| self.reading.is_unique(column));
        let by = sketch
            .order_column()
            .filter(|column| self.has_sum(*column) && sketch.limit.is_some() && sketch.group.is_empty());
        let takes_rows = by.is_some_and(|column| !self.reading.is_unique(column)) && !sketch.shown.iter().all(is_one);
        let repeats = sketch.limit > Some(1)
            && sketch.repeats(self.graph(), tree)
            && by.is_some_and(|by| sketch.shown.iter().filter_map(|item| item.column).all(|of| table(of) != table(by)));
        repeats || self.wants_totals && (takes_rows || self.counts_amounts(sketch))
    }

    /// Whether a statement holds how many rows there are against a number of something that a column has: "more than 1000 kegs".
    fn counts_amounts(&self, sketch: &Sketch) -> bool {
        let Some((Item::ROWS, _, number)) = sketch.having else { return false };
        let of_number = self.reading.numbers.iter().filter(|(_, of)| *of == number).map(|(at, _)| at + 1);
        let is_amount = |at: usize| {
            let mut columns =
                self.reading.columns.iter().enumerate().filter(|(_, mention)| mention.words.contains(&at));
            let is_table = self.reading.tables.iter().any(|mention| mention.words.contains(&at));
            !is_table && columns.any(|(column, _)| self.is_quantity(column))
        };
        of_number.into_iter().any(is_amount)
    }

    /// Whether a statement answers "who" with days or amounts.
    fn is_no_one(&self, sketch: &Sketch) -> bool {
        let measures = |item: &Item| item.function.is_some() || item.column.is_none_or(|column| self.measures(column));
        self.reading.asks_who() && sketch.per.is_none() && sketch.shown.iter().all(measures)
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

    /// Whether a statement holds keys that are not named to be above or below something.
    fn compares_keys(&self, sketch: &Sketch) -> bool {
        use Relation::{Above, AtLeast, AtMost, Below};
        let is_key = |column: usize| self.is_key(column) || self.refers(column);
        let is_said = |column: usize| self.reading.columns.get(column).is_some_and(|mention| mention.coverage > 0.6);
        sketch.conditions.iter().any(|Condition { column, relation, .. }| {
            matches!(relation, Above | Below | AtLeast | AtMost) && is_key(*column) && !is_said(*column)
        })
    }

    /// What a statement says whatever columns it shows a thing by: equal for statements of which one shows the name of what the
    /// question is about, and another its key.
    pub(super) fn meaning(&self, sketch: &Sketch) -> String {
        let group = self.things(&sketch.group, true);
        let plain: Vec<usize> =
            sketch.shown.iter().filter(|item| item.function.is_none()).filter_map(|item| item.column).collect();
        let shown = self.things(&plain, !sketch.group.is_empty());
        let functions: Vec<&Item> = sketch.shown.iter().filter(|item| item.function.is_some()).collect();
        let Sketch { conditions, joined, without, per, having, order, limit, .. } = sketch;
        let joined = if conditions.len() > 1 { joined.name() } else { "" };
        format!(
            "{group:?} {shown:?} {functions:?} {conditions:?} {joined} {without:?} {per:?} {having:?} {order:?} {limit:?}"
        )
    }

    /// What columns that are not named whole stand for: their tables, a reference that which it refers to. Of groups only
    /// keys and names do; what else rows are grouped by is itself.
    fn things(&self, columns: &[usize], grouped: bool) -> BTreeSet<(bool, usize)> {
        let thing = |&column: &usize| {
            let is_said = self.reading.columns.get(column).is_some_and(|mention| !mention.spans.is_empty());
            let Some(node) = self.graph().columns().get(column).filter(|_| !is_said) else { return (true, column) };
            let is_name = || self.reading.has_stem(column, &["name", "titl"]);
            match self.references.get(&column) {
                Some(to) => (false, *to),
                None if !grouped || node.is_key || is_name() => (false, node.table),
                None => (true, column),
            }
        };
        columns.iter().map(thing).collect()
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
            let is_said = mention.is_none_or(|mention| mention.coverage > 0.0 || mention.similar > 0.0);
            let is_named = is_said || self.reading.mentioned(column) > 0.2;
            !(is_named || node.is_key || self.refers(column) || self.reading.has_stem(column, &NAMES))
        };
        let mut plain = sketch.shown.iter().filter(|item| item.function.is_none()).filter_map(|item| item.column);
        let is_grouped = !sketch.group.is_empty();
        self.reading.wants_things()
            && plain.any(|column| is_measure_of_thing(column) || !is_grouped && says_nothing(column))
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

fn is_in_digits(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}
