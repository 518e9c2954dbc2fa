//! Statements that may be meant: parts put together, the likeliest first.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::model::Compiled;
use super::reading::{Reading, Role, Stated};
use super::shape::{By, Limit, Nested, Shape};
use super::sketch::{Condition, Function, Item, Joined, Operand, Order, Sketch, Without, tables_of};
use crate::joins::{JoinTree, Joiner};
use crate::schema_graph::{ColumnKind, SchemaGraph};

/// How many of each part are put together, and how many statements are made.
const SHAPES: usize = 8;
const ITEMS: usize = 9;
const LISTS: usize = 24;
const STATED: usize = 14;
const FILTERS: usize = 12;
const ORDERS: usize = 4;
const KEPT: usize = 400;
const MADE: usize = 150;

/// A statement that may be meant.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub sketch: Sketch,
    pub sql: String,
    /// What speaks for it before it is run.
    pub features: Vec<(String, f32)>,
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

pub(super) struct Maker<'a, 'g> {
    reading: &'a Reading<'g>,
    model: &'a Compiled,
    joiner: &'a Joiner<'g>,
    costs: Vec<f64>,
    /// By column, the log-odds of what it does.
    roles: Vec<(usize, Vec<(Role, f32)>)>,
}

/// A statement in the making.
struct Draft {
    sketch: Sketch,
    shape: Shape,
    parts: Vec<(&'static str, f32)>,
    /// What else is known of the parts.
    beside: [(&'static str, f32); 4],
    numbers: Vec<usize>,
    words: Vec<std::ops::Range<usize>>,
}

impl Draft {
    fn score(&self) -> f32 {
        self.parts.iter().map(|(_, score)| score).sum()
    }
}

impl<'a, 'g> Maker<'a, 'g> {
    pub fn new(reading: &'a Reading<'g>, model: &'a Compiled, joiner: &'a Joiner<'g>) -> Self {
        let roles = reading.looked_at().into_iter().map(|column| (column, model.roles(reading, column))).collect();
        Self { reading, model, joiner, costs: joiner.costs(&reading.words), roles }
    }

    fn graph(&self) -> &'g SchemaGraph {
        self.reading.graph
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

    /// Lists of what is shown, the empty one too.
    fn lists(&self) -> Vec<Choice<Vec<Item>>> {
        let mut items: Vec<(Item, f32)> = Vec::new();
        for (column, roles) in &self.roles {
            for (role, odds) in roles {
                match role {
                    Role::Shown => items.push((Item::plain(*column), *odds)),
                    Role::ShownOf(function) => {
                        items.push((Item { function: Some(*function), column: Some(*column) }, *odds));
                    }
                    _ => {}
                }
            }
        }
        items.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        items.truncate(ITEMS);
        let mut lists = Vec::new();
        for chosen in 0_u32..1 << items.len() {
            if chosen.count_ones() > 4 {
                continue;
            }
            let has = |at: usize| chosen & (1 << at) != 0;
            let score = items
                .iter()
                .enumerate()
                .map(|(at, (_, odds))| if has(at) { log_logistic(*odds) } else { log_logistic(-odds) })
                .sum();
            let mut list: Vec<Item> =
                items.iter().enumerate().filter(|(at, _)| has(*at)).map(|(_, (item, _))| *item).collect();
            list.sort_by_key(|item| {
                let mention = item.column.and_then(|column| self.reading.columns.get(column));
                let at = mention.and_then(|m| m.spans.first().map(|s| s.0).or_else(|| m.words.first().copied()));
                (at.unwrap_or_default(), item.column, item.function)
            });
            let odds = |chosen: bool| {
                let of = items.iter().enumerate().filter(move |(at, _)| has(*at) == chosen);
                of.map(|(_, (_, odds))| if chosen { *odds } else { -odds }).fold(f32::INFINITY, f32::min)
            };
            let (weakest, strongest_left) = (log_logistic(odds(true)), log_logistic(odds(false)));
            lists.push(Choice { of: list, score, weakest, strongest_left });
        }
        best(lists, LISTS)
    }

    /// Filters, the empty one too.
    fn filters(&self, stated: &[Stated]) -> Vec<Choice<Filter>> {
        let mut odds: Vec<(&Stated, f32)> =
            stated.iter().map(|stated| (stated, self.model.condition(&stated.features))).collect();
        odds.sort_by(|a, b| b.1.total_cmp(&a.1));
        odds.truncate(STATED);
        let mut spans: Vec<(std::ops::Range<usize>, f32)> = Vec::new();
        for (stated, odds) in &odds {
            match spans.iter_mut().find(|(words, _)| *words == stated.words) {
                Some((_, best)) => *best = best.max(*odds),
                None => spans.push((stated.words.clone(), *odds)),
            }
        }
        let overlap = |a: &std::ops::Range<usize>, b: &std::ops::Range<usize>| a.start < b.end && b.start < a.end;
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
        for at in 0..odds.len() {
            let mut more = Vec::new();
            for list in chosen.iter().filter(|list| list.len() < 3) {
                let free = list.iter().all(|other| {
                    odds.get(*other).zip(odds.get(at)).is_some_and(|((a, _), (b, _))| !overlap(&a.words, &b.words))
                });
                if free {
                    more.push(list.iter().copied().chain([at]).collect());
                }
            }
            chosen.extend(more);
        }
        let filters = chosen.into_iter().map(|list| {
            let picked: Vec<&(&Stated, f32)> = list.iter().filter_map(|at| odds.get(*at)).collect();
            let words: Vec<_> = picked.iter().map(|(stated, _)| stated.words.clone()).collect();
            let taken: f32 = picked.iter().map(|(_, odds)| log_logistic(*odds)).sum();
            let left = spans.iter().filter(|(span, _)| !words.iter().any(|words| overlap(words, span)));
            let left: Vec<f32> = left.map(|(_, odds)| log_logistic(-odds)).collect();
            let weakest = picked.iter().map(|(_, odds)| log_logistic(*odds)).fold(0.0, f32::min);
            let strongest_left = left.iter().copied().fold(0.0, f32::min);
            let score = taken + left.iter().sum::<f32>();
            let mut conditions: Vec<(usize, Condition)> =
                picked.iter().map(|(stated, _)| (stated.words.start, stated.condition.clone())).collect();
            conditions.sort_by_key(|(at, _)| *at);
            Choice {
                of: Filter { conditions: conditions.into_iter().map(|(_, of)| of).collect(), words },
                score,
                weakest,
                strongest_left,
            }
        });
        best(filters.collect(), FILTERS)
    }

    /// The statements, the likeliest first.
    pub fn candidates(&self) -> Vec<Candidate> {
        let question = self.reading.of_question();
        let (lists, stated) = (self.lists(), self.reading.conditions());
        let filters = self.filters(&stated);
        let shapes: Vec<(Shape, f32)> = self.model.shapes(&question).into_iter().take(SHAPES).collect();
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
        made.sort_by(|a: &Candidate, b| b.score.total_cmp(&a.score));
        made.truncate(MADE);
        made
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
            None | Some(true) if list.of.is_empty() => return,
            _ => {}
        }
        let aggregated = plain.len() < list.of.len() || shape.rows.is_some();
        // Columns beside functions of others say of which group they are.
        if !shape.group && aggregated && !plain.is_empty() {
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
        let mut starts = Vec::new();
        // Of several conditions.
        if sketch.conditions.len() > 1 && !matches!(shape.nested, Some(Nested::Without { conditions: true })) {
            for (way, score) in joined {
                let fits = match way {
                    Joined::And => true,
                    Joined::Or => true,
                    Joined::Intersect => {
                        sketch.conditions.len() == 2
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
        for (sketch, parts) in starts {
            let draft = Draft { sketch, shape, parts, beside, numbers: Vec::new(), words: filter.of.words.clone() };
            let grouped = if shape.group { self.grouped(draft, &plain) } else { vec![draft] };
            let nested = grouped.into_iter().flat_map(|draft| self.nested(draft, &plain));
            let held = nested.flat_map(|draft| self.held(draft));
            drafts.extend(held.flat_map(|draft| self.ordered(draft)));
        }
    }

    fn grouped(&self, draft: Draft, plain: &[usize]) -> Vec<Draft> {
        let mut ways: Vec<(Vec<usize>, &'static str, f32)> = Vec::new();
        match plain.first() {
            Some(first) => {
                ways.push((plain.to_vec(), "group shown", 0.0));
                let table = self.graph().columns().get(*first).and_then(|c| self.graph().tables().get(c.table));
                if let Some(table) = table
                    && !table.primary_key.is_empty()
                    && !plain.iter().any(|column| table.primary_key.contains(column))
                {
                    ways.push((table.primary_key.clone(), "group key", 0.0));
                }
            }
            None => {
                for (column, odds) in self.by_role(Role::Group, 2) {
                    ways.push((vec![column], "group other", log_logistic(odds)));
                }
            }
        }
        let with = |(group, name, score): (Vec<usize>, &'static str, f32)| Draft {
            sketch: Sketch { group, ..draft.sketch.clone() },
            shape: draft.shape,
            beside: draft.beside,
            parts: draft.parts.iter().copied().chain([("group", score), (name, 0.0)]).collect(),
            numbers: draft.numbers.clone(),
            words: draft.words.clone(),
        };
        ways.into_iter().map(with).collect()
    }

    fn nested(&self, draft: Draft, plain: &[usize]) -> Vec<Draft> {
        let again = |sketch: Sketch, score: f32| Draft {
            sketch,
            shape: draft.shape,
            beside: draft.beside,
            parts: draft.parts.iter().copied().chain([("nested", score)]).collect(),
            numbers: draft.numbers.clone(),
            words: draft.words.clone(),
        };
        match draft.shape.nested {
            None => vec![draft],
            Some(Nested::Of(relation, function)) => {
                let columns = self.by_role(Role::Condition, 3).into_iter().filter(|(column, _)| {
                    self.graph().columns().get(*column).is_some_and(|c| c.kind != ColumnKind::Text)
                });
                columns
                    .map(|(column, odds)| {
                        let mut sketch = draft.sketch.clone();
                        sketch.conditions.push(Condition { column, relation, operand: Operand::Of(function) });
                        again(sketch, log_logistic(odds))
                    })
                    .collect()
            }
            Some(Nested::Without { conditions }) => {
                if conditions == draft.sketch.conditions.is_empty() {
                    return Vec::new();
                }
                let mains: Vec<usize> = match plain.first().and_then(|column| self.graph().columns().get(*column)) {
                    Some(column) => vec![column.table],
                    None => self.reading.linked.tables.iter().take(2).map(|table| table.table).collect(),
                };
                let mut found = Vec::new();
                for main in mains {
                    for join in self.graph().joins() {
                        let [pair] = join.pairs.as_slice() else { continue };
                        let ends = [(join.from, join.to, pair.0, pair.1), (join.to, join.from, pair.1, pair.0)];
                        for (of, other, outer, inner) in ends {
                            if of != main || other == main {
                                continue;
                            }
                            let odds = self.reading.table_odds(other).max(0.01);
                            // All that is stated of what is left out, or the last alone.
                            let all = draft.sketch.conditions.len();
                            let outside: &[usize] = if conditions && all > 1 { &[0, all - 1] } else { &[0] };
                            for outside in outside {
                                let mut sketch = draft.sketch.clone();
                                let inside =
                                    if conditions { sketch.conditions.split_off(*outside) } else { Vec::new() };
                                if plain.is_empty() {
                                    sketch.tables = vec![main];
                                }
                                sketch.without = Some(Without { outer, inner, conditions: inside });
                                found.push(again(sketch, odds.ln()));
                            }
                        }
                    }
                    if let (true, [column]) = (conditions, plain) {
                        let mut sketch = draft.sketch.clone();
                        let inside = std::mem::take(&mut sketch.conditions);
                        sketch.without = Some(Without { outer: *column, inner: *column, conditions: inside });
                        found.push(again(sketch, -1.0));
                    }
                }
                found
            }
        }
    }

    /// Numbers that no condition takes.
    fn free_numbers(&self, draft: &Draft) -> Vec<(usize, f64)> {
        let free = |at: usize| !draft.numbers.contains(&at) && !draft.words.iter().any(|words| words.contains(&at));
        self.reading.numbers.iter().copied().filter(|(at, _)| free(*at)).take(2).collect()
    }

    fn held(&self, draft: Draft) -> Vec<Draft> {
        let Some(relation) = draft.shape.having else { return vec![draft] };
        let numbers = self.free_numbers(&draft);
        let with = |(at, number): (usize, f64)| Draft {
            sketch: Sketch { having: Some((Item::ROWS, relation, number)), ..draft.sketch.clone() },
            shape: draft.shape,
            beside: draft.beside,
            parts: draft.parts.clone(),
            numbers: draft.numbers.iter().copied().chain([at]).collect(),
            words: draft.words.clone(),
        };
        numbers.into_iter().map(with).collect()
    }

    fn ordered(&self, draft: Draft) -> Vec<Draft> {
        let limits: Vec<(Option<usize>, Option<usize>)> = match draft.shape.limit {
            Limit::All => vec![(None, None)],
            Limit::One => vec![(Some(1), None)],
            Limit::Number => self
                .free_numbers(&draft)
                .into_iter()
                .filter(|(_, number)| *number >= 2.0 && *number <= 1000.0 && number.fract() == 0.0)
                .map(|(at, number)| (Some(number as usize), Some(at)))
                .collect(),
        };
        let orders: Vec<(Option<Order>, f32)> = match draft.shape.order {
            None => vec![(None, 0.0)],
            Some((By::Rows, descending)) => vec![(Some(Order { item: Item::ROWS, descending }), 0.0)],
            Some((by, descending)) => {
                let function = match by {
                    By::Function(function) => Some(function),
                    _ => None,
                };
                let columns = self.by_role(Role::Order, ORDERS);
                let order = |(column, odds): (usize, f32)| {
                    let item = Item { function, column: Some(column) };
                    (Some(Order { item, descending }), log_logistic(odds))
                };
                columns.into_iter().map(order).collect()
            }
        };
        let mut found = Vec::new();
        for (limit, at) in &limits {
            for (order, score) in &orders {
                found.push(Draft {
                    sketch: Sketch { order: *order, limit: *limit, ..draft.sketch.clone() },
                    shape: draft.shape,
                    beside: draft.beside,
                    parts: draft.parts.iter().copied().chain([("order", *score)]).collect(),
                    numbers: draft.numbers.iter().copied().chain(*at).collect(),
                    words: draft.words.clone(),
                });
            }
        }
        found
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
            let Some((sql, tree)) = sketch.sql(self.graph(), self.joiner, &self.costs) else { continue };
            if !seen.insert(sql.clone()) {
                continue;
            }
            let mut all: BTreeSet<usize> = tree.tables.iter().copied().collect();
            if let Some(without) = &sketch.without {
                let columns = without.conditions.iter().map(|condition| condition.column).chain([without.inner]);
                all.extend(tables_of(self.graph(), columns));
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
            self.features(draft, &sketch, tree.tables.len(), values, &mut features);
            self.of_spans(&sketch, &mut features);
            self.of_leaves(&sketch, &tree, &mut features);
            made.push(Candidate { sketch, sql, features, score: draft.score() + of_tables });
        }
    }

    /// Features of the places where the question has whole names of columns: whether something is made of each, and
    /// whether of two with an "and" between them one is shown and the other is not.
    fn of_spans(&self, sketch: &Sketch, features: &mut Vec<(String, f32)>) {
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

    /// Features of tables at the ends of the joins of which no column is used.
    fn of_leaves(&self, sketch: &Sketch, tree: &JoinTree, features: &mut Vec<(String, f32)>) {
        if tree.tables.len() < 2 {
            return;
        }
        let with_columns = tables_of(self.graph(), sketch.columns());
        for table in tree.tables.iter().filter(|table| !with_columns.contains(table)) {
            let joins = tree.joins.iter().filter_map(|join| self.graph().joins().get(*join));
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

    fn features(
        &self,
        draft: &Draft,
        sketch: &Sketch,
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
        let used: BTreeSet<usize> = sketch
            .columns()
            .into_iter()
            .chain(sketch.without.iter().flat_map(|w| w.conditions.iter().map(|c| c.column)))
            .collect();
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
                self.graph().columns().get(column).is_some_and(|node| node.is_key)
                    && self.reading.columns.get(column).is_some_and(|mention| mention.coverage < 0.99)
            })
        });
        add("a key unsaid shown".to_owned(), if keys.count() > 0 { 1.0 } else { 0.0 });
        // Two columns that the same words name.
        let plain: Vec<&crate::linking::Mention> = sketch
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
            condition.relation == super::sketch::Relation::Equal
                && sketch.joined == Joined::And
                && sketch.shown.contains(&Item::plain(condition.column))
        });
        add("shown and fixed".to_owned(), if fixed { 1.0 } else { 0.0 });
        let twice =
            sketch.order.is_some_and(|order| order.item.function.is_none() && sketch.shown.contains(&order.item));
        add(format!("order shown {twice} {shape}"), if sketch.order.is_some() { 1.0 } else { 0.0 });
        let mixed = sketch.conditions.iter().any(|a| {
            sketch.conditions.iter().any(|b| a.column == b.column && a != b && sketch.joined == Joined::And)
                && a.relation == super::sketch::Relation::Equal
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
