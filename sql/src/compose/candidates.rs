//! Statements that may be meant: parts put together, the likeliest first.

mod cover;
mod drafts;
mod features;
mod parts;
mod senseless;
mod told;
mod unasked;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use drafts::Draft;

use super::model::Compiled;
use super::reading::{Reading, Role};
use super::shape::{Limit, Nested, Shape};
use super::sketch::{Condition, DatePart, Item, Joined, Sketch};
use crate::joins::{JoinTree, Joiner};
use crate::linking::Words;
use crate::schema_graph::{ColumnKind, JoinOrigin, SchemaGraph};

/// How many of each part are put together, and how many statements are made.
const SHAPES: usize = 8;
const ITEMS: usize = 9;
const LISTS: usize = 24;
const STATED: usize = 14;
const FILTERS: usize = 12;
const KEPT: usize = 400;
const MADE: usize = 150;

/// What the features of words begin with that a statement leaves out.
pub(super) const WORD_LEFT: &str = "left ";

/// A statement that may be meant.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub sketch: Sketch,
    /// The same with people's first and last names as one, as what speaks for it has it.
    pub described: Sketch,
    pub sql: String,
    /// All tables that it has.
    pub tables: Vec<usize>,
    /// What joins them.
    pub tree: JoinTree,
    /// What it says whatever columns it shows a thing by.
    pub meaning: String,
    /// What speaks for it before it is run.
    pub features: Vec<(String, f32)>,
    /// Whether it shows nothing that rows are told by, or that the question names.
    pub shows_key: bool,
    /// Words of the question that nothing of it is for: right before one of a name that it has, or for what is wanted.
    pub unread: Vec<String>,
    /// Words that say something of what is wanted, for which it has nothing.
    pub uncovered: Vec<String>,
    /// Whether the question says all that it shows and leaves out.
    pub is_told: bool,
    /// The tables whose rows the question counts, where the statement may count one of them several times.
    pub counted: Vec<usize>,
    score: f32,
}

/// Things that are chosen together, with the logarithm of how likely.
struct Choice<T> {
    of: T,
    score: f32,
    /// The logarithm of how likely the least likely of them is, and of how likely the likeliest of the others is not.
    weakest: f32,
    strongest_left: f32,
}

/// ln(1 / (1 + e^−x)).
fn log_logistic(x: f32) -> f32 {
    if x > 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

/// How likely, in steps.
fn step(log: f32) -> &'static str {
    match log {
        log if log > -0.1 => "sure",
        log if log > -0.4 => "likely",
        log if log > -1.0 => "perhaps",
        log if log > -2.0 => "doubtful",
        log if log > -4.0 => "unlikely",
        _ => "hardly",
    }
}

fn best<T>(mut choices: Vec<Choice<T>>, most: usize) -> Vec<Choice<T>> {
    choices.sort_by(|a, b| b.score.total_cmp(&a.score));
    choices.truncate(most);
    choices
}

/// A filter of rows: conditions with the words they take.
#[derive(Clone)]
struct Filter {
    conditions: Vec<Condition>,
    words: Vec<std::ops::Range<usize>>,
}

/// Columns of dates at most by which a question's rows may be grouped.
const DATES: usize = 3;

/// The columns whose dates may be grouped by the part that the question says, with the logarithm of how likely each is.
fn per(reading: &Reading<'_>) -> Vec<((DatePart, usize), f32)> {
    let Some((part, _)) = &reading.per else { return Vec::new() };
    let table = |column: usize| reading.graph.columns().get(column).map_or(0.0, |node| reading.table_odds(node.table));
    let dates = reading.looked_at().into_iter().filter(|column| reading.holds_dates(*column));
    let odds = |column: usize| 0.5 * (reading.mentioned(column) + table(column)).max(0.02);
    let mut found: Vec<_> = dates.map(|column| ((*part, column), odds(column).ln())).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(DATES);
    found
}

pub(super) struct Maker<'a, 'g> {
    reading: &'a Reading<'g>,
    model: &'a Compiled,
    joiner: &'a Joiner<'g>,
    costs: Vec<f64>,
    /// By column, the log-odds of what it does.
    roles: Vec<(usize, Vec<(Role, f32)>)>,
    asks_which: bool,
    /// The word for what a row is wanted for each of.
    wants_groups: Option<usize>,
    wants_totals: bool,
    /// The words for each thing that the question asks for, and the tables with such a name.
    things: Vec<Vec<usize>>,
    counted: Vec<usize>,
    /// The words for whom or what the question is about.
    heads: Vec<usize>,
    /// The columns of which the most or least is wanted.
    ends: Vec<usize>,
    /// Two that are wanted together, by their columns.
    pair: Option<(Option<Vec<usize>>, Vec<usize>)>,
    /// The words of each table's name.
    table_names: Vec<Words>,
    /// The table that a column refers to.
    references: BTreeMap<usize, usize>,
    /// How many rows are wanted, and how many numbers of each group or of all.
    limit: Option<usize>,
    numbers: usize,
    /// What dates may be grouped by, if they are to be, and how likely.
    per: Vec<((DatePart, usize), f32)>,
}

impl<'a, 'g> Maker<'a, 'g> {
    pub fn new(reading: &'a Reading<'g>, model: &'a Compiled, joiner: &'a Joiner<'g>) -> Self {
        let roles = reading.looked_at().into_iter().map(|column| (column, model.roles(reading, column))).collect();
        let (asks_which, wants_groups) = (reading.asks_which(), reading.wants_groups());
        let per = per(reading);
        let joins = reading.graph.joins().iter().filter(|join| join.origin != JoinOrigin::Implied);
        let references = joins.flat_map(|join| join.pairs.iter().map(|(from, _)| (*from, join.to))).collect();
        let costs = joiner.costs(&reading.words);
        let wants_totals = reading.wants_totals();
        let things = reading.things();
        let (counted, heads) = (reading.tables_of(&things), reading.heads(&things));
        let ends = (0..reading.graph.columns().len()).filter(|column| reading.wants_end_of(*column)).collect();
        let table_names = reading.graph.tables().iter().map(|table| Words::of_name(&table.name)).collect();
        Self {
            reading,
            model,
            joiner,
            costs,
            roles,
            asks_which,
            wants_groups,
            wants_totals,
            things,
            counted,
            heads,
            ends,
            pair: reading.pair(),
            table_names,
            references,
            limit: reading.limit(),
            numbers: reading.functions(),
            per,
        }
    }

    fn graph(&self) -> &'g SchemaGraph {
        self.reading.graph
    }

    /// Whether the sum of a column's values says something: texts have none, and of keys it says nothing.
    fn has_sum(&self, column: usize) -> bool {
        const KEYS: [&str; 6] = ["id", "key", "code", "uuid", "zip", "number"];
        let is_key = self.graph().columns().get(column).is_none_or(|node| node.is_key)
            || self.reading.stems(column).next_back().is_some_and(|last| KEYS.contains(&last));
        !(is_key || self.reading.holds_texts(column) || self.refers(column))
    }

    /// Whether a column's numbers are how much or how many there is of something: "how many schools" over a column of numbers
    /// of schools is their sum, and not how many different ones there are.
    fn is_quantity(&self, column: usize) -> bool {
        const NUMBERED: [&str; 14] = [
            "id", "year", "season", "number", "no", "rank", "code", "round", "week", "month", "day", "level", "grade",
            "floor",
        ];
        const DIFFERENT: [&str; 4] = ["differ", "distinct", "uniqu", "kind"];
        let is_different = |mark: &String| DIFFERENT.contains(&mark.as_str());
        let is_number = self.graph().columns().get(column).is_some_and(|node| node.kind == ColumnKind::Number);
        is_number
            && !self.reading.has_stem(column, &NUMBERED)
            && self.has_sum(column)
            && !self.reading.marks.iter().any(is_different)
    }

    /// Whether a column refers to the key of another table.
    fn refers(&self, column: usize) -> bool {
        self.references.contains_key(&column)
    }

    /// Columns by how likely they have a role.
    fn by_role(&self, role: Role, most: usize) -> Vec<(usize, f32)> {
        let odds =
            |(column, roles): &(usize, Vec<(Role, f32)>)| Some((*column, roles.iter().find(|(of, _)| *of == role)?.1));
        let mut found: Vec<(usize, f32)> = self.roles.iter().filter_map(odds).collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.truncate(most);
        found
    }

    fn is_key(&self, column: usize) -> bool {
        self.graph().columns().get(column).is_some_and(|node| node.is_key)
    }

    /// The statements, the likeliest first.
    pub fn candidates(&self) -> Vec<Candidate> {
        let question = self.reading.of_question();
        let (lists, stated) = (self.lists(), self.reading.conditions());
        let filters = self.filters(&stated);
        let may_want_first = self.reading.may_want_first();
        let wanted = |(shape, _): &(Shape, f32)| shape.limit != Limit::One || may_want_first;
        let mut shapes: Vec<(Shape, f32)> =
            self.model.shapes(&question).into_iter().filter(wanted).take(SHAPES).collect();
        let may_sum = |shape: &Shape| self.wants_totals || shape.limit == Limit::Number;
        let summed = shapes.iter().filter(|(shape, _)| may_sum(shape));
        let summed: Vec<_> = summed.filter_map(|(shape, score)| Some((shape.of_sums()?, *score))).collect();
        let firsts = shapes.iter().filter(|(shape, _)| self.limit.is_some() && shape.limit == Limit::One);
        let firsts = firsts.map(|(shape, score)| (Shape { limit: Limit::Number, ..*shape }, *score));
        for of in firsts.chain(summed).collect::<Vec<_>>() {
            if !shapes.iter().any(|(shape, _)| *shape == of.0) {
                shapes.push(of);
            }
        }
        let joined = self.model.joined(&question);
        let distinct = self.model.distinct(&question) > 0.0;
        let mut drafts = Vec::new();
        for (shape, of_shape) in &shapes {
            for list in &lists {
                for filter in &filters {
                    self.draft(*shape, *of_shape, list, filter, &joined, distinct, &mut drafts);
                }
            }
        }
        drafts.sort_by(|a: &Draft, b| b.score().total_cmp(&a.score()));
        drafts.truncate(KEPT);
        let values = self.words_of_values();
        let (mut seen, mut made) = (HashSet::new(), Vec::new());
        for draft in &drafts {
            self.with_tables(draft, &values, &mut seen, &mut made);
        }
        let mut made = self.by_nearest(made);
        made.sort_by(|a: &Candidate, b| b.score.total_cmp(&a.score));
        made.truncate(MADE);
        made
    }

    /// Without statements that say the same as another and join it through more tables, which the question does not name: the titles
    /// of a branch are those of its copies, and not what its members have reserved.
    fn by_nearest(&self, made: Vec<Candidate>) -> Vec<Candidate> {
        let is_said = |table: usize| self.reading.tables.get(table).is_some_and(|mention| mention.coverage >= 0.4);
        let says = |of: &Candidate| format!("{:?}", Sketch { tables: Vec::new(), ..of.sketch.clone() });
        let mut by_saying: HashMap<String, Vec<Vec<usize>>> = HashMap::new();
        made.iter().for_each(|of| by_saying.entry(says(of)).or_default().push(of.tables.clone()));
        let is_farther = |of: &Candidate, other: &Vec<usize>| {
            let mut more = of.tables.iter().filter(|table| !other.contains(table));
            // What a table is joined to at all may be what the question says of it.
            (2..of.tables.len()).contains(&other.len()) && more.all(|table| !is_said(*table))
        };
        let is_nearest = |of: &Candidate| !by_saying[&says(of)].iter().any(|other| is_farther(of, other));
        let nearest: Vec<bool> = made.iter().map(is_nearest).collect();
        made.into_iter().zip(nearest).filter(|(_, nearest)| *nearest).map(|(of, _)| of).collect()
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a statement")]
    fn draft(
        &self,
        shape: Shape,
        of_shape: f32,
        list: &Choice<Vec<Item>>,
        filter: &Choice<Filter>,
        joined: &[(Joined, f32)],
        distinct: bool,
        drafts: &mut Vec<Draft>,
    ) {
        let plain: Vec<usize> =
            list.of.iter().filter(|item| item.function.is_none()).filter_map(|item| item.column).collect();
        match shape.rows {
            Some(false) if !list.of.is_empty() => return,
            // "Which month had the most orders" shows the month alone.
            None if list.of.is_empty() && (!shape.group || self.per.is_empty()) => return,
            Some(true) if list.of.is_empty() => return,
            _ => {}
        }
        let aggregated = plain.len() < list.of.len() || shape.rows.is_some();
        // Columns beside functions of others say of which group they are.
        if !shape.group && aggregated && !plain.is_empty() {
            return;
        }
        // "Which doctors" is not answered by a number, "how much" by how many, nor "per course" by one number for all.
        let is_number = plain.is_empty() && aggregated && !shape.group && self.per.is_empty();
        if self.asks_which && is_number || self.reading.asks_how_much() && shape.rows == Some(false) {
            return;
        }
        let is_grouped = match self.wants_groups {
            _ if !self.per.is_empty() => aggregated || shape.group,
            Some(at) => aggregated && shape.group && plain.iter().any(|column| self.reading.is_for(at, *column)),
            None => true,
        };
        let is_row_of_each =
            self.wants_groups.is_some() && shape.limit == Limit::One && !self.reading.has_superlative();
        if !is_grouped || is_row_of_each {
            return;
        }
        let mut shown = list.of.clone();
        if shape.rows.is_some() {
            shown.push(Item::ROWS);
        }
        let mut sketch = Sketch { shown, distinct: distinct && !aggregated && !shape.group, ..Sketch::default() };
        sketch.conditions.clone_from(&filter.of.conditions);
        let mut parts = vec![("shape", of_shape), ("shown", list.score), ("filter", filter.score)];
        let beside = [
            ("weakest shown", list.weakest),
            ("strongest not shown", list.strongest_left),
            ("weakest condition", filter.weakest),
            ("strongest not held", filter.strongest_left),
        ];
        let (mut starts, mut words) = (Vec::new(), filter.of.words.clone());
        // Of several conditions.
        if sketch.conditions.len() > 1 && !matches!(shape.nested, Some(Nested::Without { conditions: true })) {
            for (way, score) in joined {
                let fits = match way {
                    Joined::And => true,
                    Joined::Or => self.reading.may_want_either(),
                    Joined::Intersect => {
                        self.reading.may_want_both()
                            && sketch.conditions.len() == 2
                            && !aggregated
                            && !shape.group
                            && shape.order.is_none()
                            && shape.nested.is_none()
                    }
                };
                if fits {
                    let mut parts = parts.clone();
                    parts.push(("joined", *score));
                    starts.push((Sketch { joined: *way, ..sketch.clone() }, parts));
                }
            }
        } else {
            starts.push((sketch, std::mem::take(&mut parts)));
        }
        if let Some((_, said)) = &self.reading.per {
            words.push(said.clone());
            let with = |(sketch, parts): &(Sketch, Vec<_>)| {
                let each = |(per, score): &((DatePart, usize), f32)| {
                    let parts = parts.iter().copied().chain([("group", *score)]).collect();
                    (Sketch { per: Some(*per), ..sketch.clone() }, parts)
                };
                self.per.iter().map(each).collect::<Vec<_>>()
            };
            starts = starts.iter().flat_map(with).collect();
        }
        for (sketch, parts) in starts {
            let draft = Draft { sketch, shape, parts, beside, numbers: Vec::new(), words: words.clone() };
            let grouped = if shape.group { self.grouped(draft, &plain) } else { vec![draft] };
            let nested = grouped.into_iter().flat_map(|draft| self.nested(draft, &plain));
            let held = nested.flat_map(|draft| self.held(draft));
            drafts.extend(held.flat_map(|draft| self.ordered(draft)));
        }
    }

    fn words_of_values(&self) -> BTreeSet<usize> {
        let marks = self.reading.marks.iter().enumerate();
        marks.filter(|(_, mark)| *mark == "@").map(|(at, _)| at).collect()
    }

    /// The statement with its own tables, and with those of likely sets that hold them.
    fn with_tables(
        &self,
        draft: &Draft,
        values: &BTreeSet<usize>,
        seen: &mut HashSet<String>,
        made: &mut Vec<Candidate>,
    ) {
        let own = draft.sketch.own_tables(self.graph());
        let mut ways: Vec<Vec<usize>> = Vec::new();
        if !own.is_empty() {
            ways.push(draft.sketch.tables.clone());
        }
        if draft.sketch.without.is_none() {
            for set in self.reading.linked.sets.iter().take(4) {
                if own.iter().all(|table| set.tree.tables.contains(table)) && set.tree.tables.len() > own.len() {
                    ways.push(set.tree.tables.clone());
                }
            }
        }
        for tables in ways {
            let sketch = Sketch { tables, ..draft.sketch.clone() };
            let apart = self.apart(sketch.clone());
            let Some((mut sql, tree)) = apart.sql(self.graph(), self.joiner, &self.costs) else { continue };
            let mut counted = self.counted.clone();
            if let Some(once) = self.counting_once(&apart, &tree, &counted)
                && let Some((of_once, _)) = once.sql(self.graph(), self.joiner, &self.costs)
            {
                (sql, counted) = (of_once, Vec::new());
            }
            if !seen.insert(sql.clone()) {
                continue;
            }
            let mut all: BTreeSet<usize> = tree.tables.iter().copied().collect();
            if let Some(without) = &sketch.without {
                all.extend(without.own_tables(self.graph()));
            }
            let is_left_out = self.is_senseless(&sketch, &tree)
                || self.counts_too_much(draft, &sketch, &all)
                || self.leaves_time_out(draft, &sketch, &all)
                || self.leaves_mean_out(&sketch);
            if is_left_out {
                continue;
            }
            let set = self.reading.linked.sets.iter().find(|set| set.tree.tables.iter().eq(all.iter()));
            let of_tables = set.map_or(0.003, |set| set.probability.max(0.003)).ln();
            let mut features: Vec<(String, f32)> = Vec::new();
            for (name, score) in &draft.parts {
                features.push(((*name).to_owned(), *score));
                if name.starts_with("group ") {
                    features.push((format!("is {name}"), 1.0));
                }
            }
            // How likely each part is, in steps as well: a doubtful part is worse than two likely ones.
            for (name, score) in draft.parts.iter().filter(|(_, score)| *score < 0.0) {
                features.push((format!("{name} {}", step(*score)), 1.0));
            }
            features.push((format!("tables {}", step(of_tables)), 1.0));
            features.extend(draft.beside.iter().map(|(name, score)| ((*name).to_owned(), score.max(-8.0))));
            features.push(("tables".to_owned(), of_tables));
            let weakest = tree.tables.iter().map(|table| self.reading.table_odds(*table)).fold(1.0, f32::min);
            features.push(("weakest table".to_owned(), weakest.max(0.003).ln()));
            let described = self.with_one_name(&sketch);
            let inner = described.without.iter().flat_map(|without| without.conditions.iter().map(|of| of.column));
            let columns: BTreeSet<usize> = described.columns().into_iter().chain(inner).collect();
            self.features((draft, &described), &columns, tree.tables.len(), values, &mut features);
            self.of_spans(&sketch, &mut features);
            self.of_leaves(&sketch, &tree, &mut features);
            let joined = sketch.without.iter().map(|without| without.inner);
            let with_joined = columns.iter().copied().chain(joined).collect();
            let unread = self.of_words_left(draft, &with_joined, &all, &mut features);
            let left = self.words_left(draft, &self.said(&columns, &all));
            let uncovered = self.uncovered(draft, &columns, &all, &left).into_iter();
            let word = |at: usize| self.reading.words.words.get(at).map_or_else(String::new, |word| word.text.clone());
            let uncovered: Vec<String> = uncovered.map(word).collect();
            let is_told = self.is_told(&sketch, &tree);
            made.push(Candidate {
                meaning: self.meaning(&sketch, &tree),
                shows_key: self.shows_key(&sketch),
                sketch,
                described,
                sql,
                tables: all.into_iter().collect(),
                tree,
                features,
                unread,
                uncovered,
                is_told,
                counted,
                score: draft.score() + of_tables,
            });
        }
    }
}
