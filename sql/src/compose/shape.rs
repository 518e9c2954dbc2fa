//! The shape of a statement: all of it but columns, tables and values.

use super::sketch::{Function, Item, Operand, Relation, Sketch};

/// What a statement is ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum By {
    Column,
    Rows,
    Function(Function),
}

/// How many rows are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Limit {
    All,
    One,
    Number,
}

/// A statement within the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Nested {
    Without { conditions: bool },
    Of(Relation, Function),
}

/// The shape of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Shape {
    /// Whether rows are counted: not, alone, or beside something else.
    pub rows: Option<bool>,
    pub group: bool,
    /// A condition on groups: on what, and how it is held against a number.
    pub having: Option<(By, Relation)>,
    pub order: Option<(By, bool)>,
    pub limit: Limit,
    pub nested: Option<Nested>,
}

impl Shape {
    /// That of a statement; none where a group is held by a column itself, or there are two statements within.
    pub fn of(sketch: &Sketch) -> Option<Self> {
        let counts = sketch.shown.contains(&Item::ROWS);
        let by = |item: Item| match (item.function, item.column) {
            (None, Some(_)) => By::Column,
            (Some(Function::Count), None) => By::Rows,
            (Some(function), _) => By::Function(function),
            (None, None) => By::Rows,
        };
        let having = sketch.having.as_ref().map(|(item, relation, _)| (by(*item), *relation));
        if matches!(having, Some((By::Column, _))) {
            return None;
        }
        let of = sketch.conditions.iter().find_map(|condition| match condition.operand {
            Operand::Of(function) => Some(Nested::Of(condition.relation, function)),
            _ => None,
        });
        let without =
            sketch.without.as_ref().map(|without| Nested::Without { conditions: !without.conditions.is_empty() });
        if of.is_some() && without.is_some() {
            return None;
        }
        Some(Self {
            rows: counts.then_some(sketch.shown.len() > 1),
            group: !sketch.group.is_empty(),
            having,
            order: sketch.order.map(|order| (by(order.item), order.descending)),
            limit: match sketch.limit {
                None => Limit::All,
                Some(1) => Limit::One,
                Some(_) => Limit::Number,
            },
            nested: of.or(without),
        })
    }

    /// The same of sums: groups in the order of, or held by, the sum of a column instead of single rows or how many rows there are.
    pub fn of_sums(self) -> Option<Self> {
        let sum = By::Function(Function::Sum);
        match (self.order, self.having) {
            (Some((By::Column, down)), None) if !self.group && self.rows.is_none() && self.limit != Limit::All => {
                Some(Self { group: true, order: Some((sum, down)), ..self })
            }
            (Some((By::Rows, down)), None) if self.group => Some(Self { order: Some((sum, down)), ..self }),
            (None, Some((By::Rows, relation))) => Some(Self { having: Some((sum, relation)), ..self }),
            _ => None,
        }
    }

    /// Its name in the file of weights.
    pub fn name(self) -> String {
        let mut parts = Vec::new();
        match self.rows {
            None => {}
            Some(false) => parts.push("rows".to_owned()),
            Some(true) => parts.push("with-rows".to_owned()),
        }
        if self.group {
            parts.push("group".to_owned());
        }
        if let Some((by, relation)) = self.having {
            let function = if let By::Function(function) = by { function.name() } else { "" };
            parts.push(format!("having{}{function}", relation.sql()));
        }
        if let Some((by, descending)) = self.order {
            let by = match by {
                By::Column => "column",
                By::Rows => "rows",
                By::Function(function) => function.name(),
            };
            parts.push(format!("by-{by}-{}", if descending { "down" } else { "up" }));
        }
        match self.limit {
            Limit::All => {}
            Limit::One => parts.push("one".to_owned()),
            Limit::Number => parts.push("number".to_owned()),
        }
        match self.nested {
            None => {}
            Some(Nested::Without { conditions }) => {
                parts.push(if conditions { "without-those" } else { "without" }.to_owned());
            }
            Some(Nested::Of(relation, function)) => parts.push(format!("of{}{}", relation.sql(), function.name())),
        }
        if parts.is_empty() { "plain".to_owned() } else { parts.join(" ") }
    }

    /// The shape with a name.
    pub fn named(name: &str) -> Option<Self> {
        let mut shape = Self { rows: None, group: false, having: None, order: None, limit: Limit::All, nested: None };
        let relation = |sign: &str| Relation::ALL.into_iter().find(|relation| relation.sql() == sign);
        let function = |name: &str| Function::ALL.into_iter().find(|function| function.name() == name);
        for part in name.split(' ') {
            match part {
                "plain" => {}
                "rows" => shape.rows = Some(false),
                "with-rows" => shape.rows = Some(true),
                "group" => shape.group = true,
                "one" => shape.limit = Limit::One,
                "number" => shape.limit = Limit::Number,
                "without" => shape.nested = Some(Nested::Without { conditions: false }),
                "without-those" => shape.nested = Some(Nested::Without { conditions: true }),
                _ => {
                    if let Some(rest) = part.strip_prefix("having") {
                        let at = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
                        let (sign, name) = rest.split_at_checked(at)?;
                        let by = if name.is_empty() { By::Rows } else { By::Function(function(name)?) };
                        shape.having = Some((by, relation(sign)?));
                    } else if let Some(rest) = part.strip_prefix("by-") {
                        let (by, way) = rest.rsplit_once('-')?;
                        let by = match by {
                            "column" => By::Column,
                            "rows" => By::Rows,
                            other => By::Function(function(other)?),
                        };
                        shape.order = Some((by, way == "down"));
                    } else if let Some(rest) = part.strip_prefix("of") {
                        let at = rest.find(|c: char| c.is_ascii_alphabetic())?;
                        let (sign, name) = rest.split_at_checked(at)?;
                        shape.nested = Some(Nested::Of(relation(sign)?, function(name)?));
                    } else {
                        return None;
                    }
                }
            }
        }
        Some(shape)
    }
}
