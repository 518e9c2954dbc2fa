//! What a shape adds to the columns that are shown and the rows that are kept: groups, statements within, an order.

use std::collections::BTreeSet;

use super::{Maker, log_logistic};
use crate::compose::reading::Role;
use crate::compose::shape::{By, Limit, Nested, Shape};
use crate::compose::sketch::{Condition, Function, Item, Operand, Order, Sketch, Without};
use crate::schema_graph::ColumnKind;

/// Columns that rows may be ordered by.
const ORDERS: usize = 4;
/// How likely a table must be that stands behind another one in what is left out.
const BEYOND: f32 = 0.1;
/// Columns of which a function may hold groups.
const HELD: usize = 2;

/// A statement in the making.
#[derive(Clone)]
pub(super) struct Draft {
    pub sketch: Sketch,
    pub shape: Shape,
    pub parts: Vec<(&'static str, f32)>,
    /// What else is known of the parts.
    pub beside: [(&'static str, f32); 4],
    pub numbers: Vec<usize>,
    pub words: Vec<std::ops::Range<usize>>,
}

impl Draft {
    pub fn score(&self) -> f32 {
        self.parts.iter().map(|(_, score)| score).sum()
    }

    /// Whether a part of it is for a word.
    pub fn takes(&self, at: usize) -> bool {
        self.words.iter().any(|words| words.contains(&at))
    }

    /// The same with another sketch, which takes `parts` and `numbers` more.
    fn with(
        &self,
        sketch: Sketch,
        parts: impl IntoIterator<Item = (&'static str, f32)>,
        numbers: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut draft = Self { sketch, ..self.clone() };
        draft.parts.extend(parts);
        draft.numbers.extend(numbers);
        draft
    }
}

impl Maker<'_, '_> {
    pub(super) fn grouped(&self, draft: Draft, plain: &[usize]) -> Vec<Draft> {
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
            None if draft.sketch.per.is_some() => ways.push((Vec::new(), "group shown", 0.0)),
            None => {
                for (column, odds) in self.by_role(Role::Group, 2) {
                    ways.push((vec![column], "group other", log_logistic(odds)));
                }
            }
        }
        let with = |(group, name, score): (Vec<usize>, &'static str, f32)| {
            draft.with(Sketch { group, ..draft.sketch.clone() }, [("group", score), (name, 0.0)], [])
        };
        ways.into_iter().map(with).collect()
    }

    pub(super) fn nested(&self, draft: Draft, plain: &[usize]) -> Vec<Draft> {
        let again = |sketch: Sketch, score: f32| draft.with(sketch, [("nested", score)], []);
        match draft.shape.nested {
            None => vec![draft],
            Some(Nested::Of(relation, function)) => {
                let columns = self.by_role(Role::Condition, 3).into_iter().filter(|(column, _)| {
                    self.graph().columns().get(*column).is_some_and(|c| c.kind != ColumnKind::Text && !c.is_key)
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
                            // "Books never borrowed" has no loan of a copy: the table beyond is the one that is named.
                            let mut ways = vec![(Vec::new(), self.reading.table_odds(other).max(0.01))];
                            let likely = |far: &usize| self.reading.table_odds(*far) > BEYOND;
                            let beyond = self.neighbours(other).filter(|far| *far != main && *far != other);
                            ways.extend(beyond.filter(likely).map(|far| (vec![far], self.reading.table_odds(far))));
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
                                for (tables, odds) in &ways {
                                    let (tables, conditions) = (tables.clone(), inside.clone());
                                    let without = Some(Without { outer, inner, tables, conditions });
                                    found.push(again(Sketch { without, ..sketch.clone() }, odds.ln()));
                                }
                            }
                        }
                    }
                    if let (true, [column]) = (conditions, plain) {
                        let mut sketch = draft.sketch.clone();
                        let inside = std::mem::take(&mut sketch.conditions);
                        let (outer, inner, tables) = (*column, *column, Vec::new());
                        sketch.without = Some(Without { outer, inner, tables, conditions: inside });
                        found.push(again(sketch, -1.0));
                    }
                }
                found
            }
        }
    }

    /// The tables that a table is joined with.
    fn neighbours(&self, table: usize) -> impl Iterator<Item = usize> {
        let ends = self.graph().joins().iter().flat_map(|join| [(join.from, join.to), (join.to, join.from)]);
        ends.filter(move |(from, _)| *from == table).map(|(_, to)| to).collect::<BTreeSet<usize>>().into_iter()
    }

    /// Numbers that no condition takes.
    fn free_numbers(&self, draft: &Draft) -> Vec<(usize, f64)> {
        let free = |at: usize| !draft.numbers.contains(&at) && !draft.words.iter().any(|words| words.contains(&at));
        self.reading.numbers.iter().copied().filter(|(at, _)| free(*at)).take(2).collect()
    }

    pub(super) fn held(&self, draft: Draft) -> Vec<Draft> {
        let Some((by, relation)) = draft.shape.having else { return vec![draft] };
        let items: Vec<(Item, f32)> = match by {
            By::Function(function) => {
                let item = |column| Item { function: Some(function), column: Some(column) };
                let role = if function == Function::Count { Function::CountDifferent } else { function };
                let columns = self.by_role(Role::ShownOf(role), HELD).into_iter();
                columns.map(|(column, odds)| (item(column), log_logistic(odds))).collect()
            }
            By::Rows | By::Column => vec![(Item::ROWS, 0.0)],
        };
        let mut found = Vec::new();
        let numbers = self.free_numbers(&draft).into_iter();
        let of_rows = |at: usize| {
            !self.reading.is_limit(at) && (by != By::Rows || !(self.reading.is_measure(at) || self.reading.is_year(at)))
        };
        for (at, number) in numbers.filter(|(at, _)| of_rows(*at)) {
            for (item, score) in &items {
                let sketch = Sketch { having: Some((*item, relation, number)), ..draft.sketch.clone() };
                found.push(draft.with(sketch, [("having", *score)], [at]));
            }
        }
        found
    }

    pub(super) fn ordered(&self, draft: Draft) -> Vec<Draft> {
        let limits: Vec<(Option<usize>, Option<usize>)> = match draft.shape.limit {
            Limit::All => vec![(None, None)],
            Limit::One => vec![(Some(1), None)],
            Limit::Number => self
                .free_numbers(&draft)
                .into_iter()
                .filter(|(_, number)| *number >= 2.0 && *number <= 1000.0 && number.fract() == 0.0)
                .filter(|(at, _)| !self.reading.is_compared(*at))
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
                let columns = self.by_role(Role::Order, ORDERS).into_iter();
                let columns = columns.filter(|(column, _)| {
                    !self.reading.is_other_way(*column, descending, draft.shape.limit != Limit::All)
                });
                let order = |(column, odds): (usize, f32)| {
                    let item = Item { function, column: Some(column) };
                    (Some(Order { item, descending }), log_logistic(odds))
                };
                columns.map(order).collect()
            }
        };
        let mut found = Vec::new();
        for (limit, at) in &limits {
            for (order, score) in &orders {
                let sketch = Sketch { order: *order, limit: *limit, ..draft.sketch.clone() };
                found.push(draft.with(sketch, [("order", *score)], *at));
            }
        }
        found
    }
}
