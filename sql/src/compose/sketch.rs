//! What a statement says, free of its wording.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::catalogue::literal;
use crate::joins::{JoinTree, Joiner};
use crate::schema_graph::{SchemaGraph, SqlDialect, TableNode};

/// A function over a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// How many rows, or values where `different`.
    Count,
    /// The number of different values.
    CountDifferent,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The mean.
    Mean,
    /// The sum.
    Sum,
}

impl Function {
    /// All.
    pub const ALL: [Self; 6] = [Self::Count, Self::CountDifferent, Self::Max, Self::Min, Self::Mean, Self::Sum];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::CountDifferent => "different",
            Self::Max => "max",
            Self::Min => "min",
            Self::Mean => "mean",
            Self::Sum => "sum",
        }
    }

    fn sql(self, of: &str) -> String {
        match self {
            Self::Count => format!("count({of})"),
            Self::CountDifferent => format!("count(DISTINCT {of})"),
            Self::Max => format!("max({of})"),
            Self::Min => format!("min({of})"),
            Self::Mean => format!("avg({of})"),
            Self::Sum => format!("sum({of})"),
        }
    }
}

/// What is shown, ordered by, or held against a number: a column, or a function of it; without a column the count of
/// rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// The function, if any.
    pub function: Option<Function>,
    /// The column by its number in the graph; none counts rows.
    pub column: Option<usize>,
}

impl Item {
    /// The count of rows.
    pub const ROWS: Self = Self { function: Some(Function::Count), column: None };

    /// A column as it is.
    pub fn plain(column: usize) -> Self {
        Self { function: None, column: Some(column) }
    }
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Relation {
    /// =
    Equal,
    /// !=
    Unequal,
    /// \>
    Above,
    /// <
    Below,
    /// \>=
    AtLeast,
    /// <=
    AtMost,
    /// LIKE
    Like,
    /// NOT LIKE
    Unlike,
}

impl Relation {
    /// All.
    pub const ALL: [Self; 8] =
        [Self::Equal, Self::Unequal, Self::Above, Self::Below, Self::AtLeast, Self::AtMost, Self::Like, Self::Unlike];

    /// As in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Above => ">",
            Self::Below => "<",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Like => "LIKE",
            Self::Unlike => "NOT LIKE",
        }
    }
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub enum Operand {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A function of all values of the same column.
    Of(Function),
    /// A span of time of which the column's dates are: from the first of these on, before the second.
    Within(Option<String>, Option<String>),
    /// Nothing: the column is NULL.
    Nothing,
}

/// A condition on rows.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub struct Condition {
    /// The column.
    pub column: usize,
    /// The relation.
    pub relation: Relation,
    /// What it is compared with.
    pub operand: Operand,
}

impl Condition {
    /// As in SQL, with the names of tables or without.
    pub(super) fn sql(&self, graph: &SchemaGraph, qualified: bool) -> String {
        Names { graph, qualified }.condition(self)
    }
}

/// What dates are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DatePart {
    /// `2024`.
    Year,
    /// `2024-Q1`.
    Quarter,
    /// `2024-03`.
    Month,
    /// `2024-03-05`.
    Day,
}

/// How several conditions go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Joined {
    /// All hold in one row.
    #[default]
    And,
    /// One holds.
    Or,
    /// What is shown is so in one row by the first, and in one, perhaps another, by the second.
    Intersect,
}

impl Joined {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::And => "and",
            Self::Or => "or",
            Self::Intersect => "intersect",
        }
    }
}

/// Rows that are left out: those whose `outer` is an `inner` of the rows with the conditions.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub struct Without {
    /// A column of the statement.
    pub outer: usize,
    /// A column of what is left out.
    pub inner: usize,
    /// Tables there besides those of the columns.
    pub tables: Vec<usize>,
    /// Conditions there.
    pub conditions: Vec<Condition>,
}

impl Without {
    /// The tables of what is left out, but for those in between.
    pub(super) fn own_tables(&self, graph: &SchemaGraph) -> BTreeSet<usize> {
        let columns = self.conditions.iter().map(|condition| condition.column).chain([self.inner]);
        tables_of(graph, columns).into_iter().chain(self.tables.iter().copied()).collect()
    }
}

/// Largest or smallest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Order {
    /// By what.
    pub item: Item,
    /// Whether the largest is first.
    pub descending: bool,
}

/// A statement without its wording: what [`Sketch::sql`] writes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sketch {
    /// What is shown.
    pub shown: Vec<Item>,
    /// Whether equal rows are shown once.
    pub distinct: bool,
    /// Tables besides those of the columns.
    pub tables: Vec<usize>,
    /// Conditions.
    pub conditions: Vec<Condition>,
    /// How they go together.
    pub joined: Joined,
    /// Rows that are left out.
    pub without: Option<Without>,
    /// Columns that rows are grouped by.
    pub group: Vec<usize>,
    /// The part of a column's dates that rows are grouped by as well, which is shown first.
    pub per: Option<(DatePart, usize)>,
    /// A condition on groups.
    pub having: Option<(Item, Relation, f64)>,
    /// How rows are ordered.
    pub order: Option<Order>,
    /// How many rows at most.
    pub limit: Option<usize>,
}

impl Sketch {
    /// What is shown, what groups are held to and what rows are ordered by.
    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        let items = self.shown.iter().chain(self.having.iter().map(|(item, ..)| item));
        items.chain(self.order.iter().map(|order| &order.item))
    }

    /// The conditions, also of what is left out.
    pub(super) fn all_conditions(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().chain(self.without.iter().flat_map(|without| &without.conditions))
    }

    /// Whether it keeps all rows of its tables.
    pub(super) fn has_all_rows(&self) -> bool {
        let Self { conditions, without, having, limit, per, .. } = self;
        conditions.is_empty() && without.is_none() && having.is_none() && limit.is_none() && per.is_none()
    }

    /// How many numbers it shows of each group or of all rows; where it shows none, how many columns.
    pub(super) fn shown_numbers(&self) -> usize {
        match self.shown.iter().filter(|item| item.function.is_some()).count() {
            0 => self.shown.len(),
            functions => functions,
        }
    }

    /// The column as it is that rows are ordered by.
    pub(super) fn order_column(&self) -> Option<usize> {
        self.order.filter(|order| order.item.function.is_none())?.item.column
    }

    /// Columns that the statement has outside what it leaves out, but for joins.
    pub fn columns(&self) -> BTreeSet<usize> {
        let items = self.items().filter_map(|item| item.column);
        let conditions = self.conditions.iter().map(|condition| condition.column);
        let without = self.without.iter().map(|without| without.outer);
        let per = self.per.iter().map(|(_, column)| *column);
        items.chain(conditions).chain(self.group.iter().copied()).chain(per).chain(without).collect()
    }

    /// Tables that the statement has outside what it leaves out, but for those in between.
    pub fn own_tables(&self, graph: &SchemaGraph) -> BTreeSet<usize> {
        let of_columns = tables_of(graph, self.columns());
        of_columns.into_iter().chain(self.tables.iter().copied()).collect()
    }

    /// The statement, and the tree that joins its tables; none where nothing connects them, or it shows nothing.
    pub fn sql(&self, graph: &SchemaGraph, joiner: &Joiner<'_>, costs: &[f64]) -> Option<(String, JoinTree)> {
        let tables: Vec<usize> = self.own_tables(graph).into_iter().collect();
        let tree = joiner.tree(&tables, costs);
        let from = from(graph, &tree)?;
        let names = Names { graph, qualified: tree.tables.len() > 1 };
        let per = self.per.map(|(part, column)| names.part(part, column));
        let shown: Vec<String> = per.iter().cloned().chain(self.shown.iter().map(|item| names.item(*item))).collect();
        if shown.is_empty() {
            return None;
        }
        // Each is wanted once.
        let once = self.order.is_none() && self.joined != Joined::Intersect;
        let distinct = if self.distinct || once && self.repeats(graph, &tree) { "DISTINCT " } else { "" };
        let select = format!("SELECT {distinct}{} FROM {from}", shown.join(", "));
        let mut sql = select.clone();
        let conditions = self.of_rows(&names);
        let without = match &self.without {
            Some(without) => Some(self.without(without, &names, joiner, costs)?),
            None => None,
        };
        match (self.joined, conditions.as_slice()) {
            (_, []) => {}
            (Joined::Intersect, [first, rest @ ..]) if self.group.is_empty() && self.order.is_none() => {
                write!(sql, " WHERE {first}").ok()?;
                for other in rest {
                    write!(sql, " INTERSECT {select} WHERE {other}").ok()?;
                }
                return without.is_none().then_some((sql, tree));
            }
            (Joined::Or, several @ [_, _, ..]) if without.is_some() => {
                write!(sql, " WHERE ({})", several.join(" OR ")).ok()?;
            }
            (Joined::Or, several) => write!(sql, " WHERE {}", several.join(" OR ")).ok()?,
            (_, several) => write!(sql, " WHERE {}", several.join(" AND ")).ok()?,
        }
        if let Some(without) = without {
            let word = if conditions.is_empty() { "WHERE" } else { "AND" };
            write!(sql, " {word} {without}").ok()?;
        }
        let columns = self.group.iter().map(|column| names.column(*column));
        let columns: Vec<String> = per.iter().cloned().chain(columns).collect();
        if !columns.is_empty() {
            write!(sql, " GROUP BY {}", columns.join(", ")).ok()?;
        }
        if let Some((item, relation, number)) = &self.having {
            write!(sql, " HAVING {} {} {}", names.item(*item), relation.sql(), number).ok()?;
        }
        if let Some(order) = &self.order {
            let descending = if order.descending { " DESC" } else { "" };
            write!(sql, " ORDER BY {}{descending}", names.item(order.item)).ok()?;
        } else if let Some(per) = per {
            write!(sql, " ORDER BY {per}").ok()?;
        }
        if let Some(limit) = self.limit {
            write!(sql, " LIMIT {limit}").ok()?;
        }
        Some((sql, tree))
    }

    /// The conditions on rows; with "or", several values of one column stand together and what others are held to holds beside them:
    /// `(town = 'York' OR town = 'Leeds') AND status = 'late'`.
    fn of_rows(&self, names: &Names<'_>) -> Vec<String> {
        let all = || self.conditions.iter().map(|condition| names.condition(condition));
        let of_column = |column: usize| self.conditions.iter().filter(move |of| of.column == column).count();
        let several = self.conditions.iter().find(|condition| of_column(condition.column) > 1);
        match several.filter(|of| self.joined == Joined::Or && of_column(of.column) < self.conditions.len()) {
            Some(Condition { column, .. }) => {
                let (one, others): (Vec<_>, Vec<_>) =
                    self.conditions.iter().zip(all()).partition(|(of, _)| of.column == *column);
                let text = |of: Vec<(_, String)>, with: &str| {
                    of.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(with)
                };
                vec![format!("({}) AND {}", text(one, " OR "), text(others, " AND "))]
            }
            None => all().collect(),
        }
    }

    /// Whether joins give rows of the one table that is shown several times.
    fn repeats(&self, graph: &SchemaGraph, tree: &JoinTree) -> bool {
        let is_plain =
            self.shown.iter().all(|item| item.function.is_none()) && self.group.is_empty() && self.per.is_none();
        let shown = tables_of(graph, self.shown.iter().filter_map(|item| item.column));
        let [table] = Vec::from_iter(shown)[..] else { return false };
        is_plain && tree.repeats(graph, table)
    }

    fn without(&self, without: &Without, outer: &Names<'_>, joiner: &Joiner<'_>, costs: &[f64]) -> Option<String> {
        let graph = outer.graph;
        let tables: Vec<usize> = without.own_tables(graph).into_iter().collect();
        let tree = joiner.tree(&tables, costs);
        let inner = Names { graph, qualified: true };
        let from = from(graph, &tree)?;
        let mut sql =
            format!("{} NOT IN (SELECT {} FROM {from}", outer.column(without.outer), inner.column(without.inner));
        let conditions: Vec<String> = without.conditions.iter().map(|condition| inner.condition(condition)).collect();
        // A NULL among them would leave nothing.
        let known = format!("{} IS NOT NULL", inner.column(without.inner));
        write!(sql, " WHERE {})", conditions.into_iter().chain([known]).collect::<Vec<_>>().join(" AND ")).ok()?;
        Some(sql)
    }
}

pub(super) fn tables_of(graph: &SchemaGraph, columns: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
    columns.into_iter().filter_map(|column| Some(graph.columns().get(column)?.table)).collect()
}

/// The `FROM` clause without its first word; none where the tree is in parts.
pub(super) fn from(graph: &SchemaGraph, tree: &JoinTree) -> Option<String> {
    let name = |table: usize| graph.tables().get(table).map(TableNode::quoted);
    let first = *tree.tables.first()?;
    let (mut sql, mut has) = (name(first)?, BTreeSet::from([first]));
    let mut left = tree.joins.clone();
    while !left.is_empty() {
        let at = left.iter().position(|join| {
            graph.joins().get(*join).is_some_and(|join| has.contains(&join.from) != has.contains(&join.to))
        })?;
        let join = graph.joins().get(left.remove(at))?;
        let other = if has.contains(&join.from) { join.to } else { join.from };
        has.insert(other);
        let names = Names { graph, qualified: true };
        let pairs: Vec<String> =
            join.pairs.iter().map(|&(a, b)| format!("{} = {}", names.column(a), names.column(b))).collect();
        write!(sql, " JOIN {} ON {}", name(other)?, pairs.join(" AND ")).ok()?;
    }
    (has.len() == tree.tables.len()).then_some(sql)
}

struct Names<'g> {
    graph: &'g SchemaGraph,
    qualified: bool,
}

impl Names<'_> {
    fn column(&self, column: usize) -> String {
        self.graph.column_sql(column, self.qualified)
    }

    /// The part of a column's dates, which are texts as ISO writes them.
    fn part(&self, part: DatePart, column: usize) -> String {
        let date = match self.graph.dialect() {
            SqlDialect::Sqlite => self.column(column),
            _ => format!("CAST({} AS TEXT)", self.column(column)),
        };
        let year = format!("substr({date}, 1, 4)");
        match part {
            DatePart::Year => year,
            DatePart::Quarter => format!("{year} || '-Q' || ((CAST(substr({date}, 6, 2) AS INTEGER) + 2) / 3)"),
            DatePart::Month => format!("substr({date}, 1, 7)"),
            DatePart::Day => format!("substr({date}, 1, 10)"),
        }
    }

    fn item(&self, item: Item) -> String {
        let of = item.column.map_or_else(|| "*".to_owned(), |column| self.column(column));
        match item.function {
            Some(function) => function.sql(&of),
            None => of,
        }
    }

    fn condition(&self, condition: &Condition) -> String {
        let column = self.column(condition.column);
        let operand = match &condition.operand {
            Operand::Within(from, to) => {
                return match (from, to) {
                    (Some(from), Some(to)) => {
                        format!("({column} >= {} AND {column} < {})", literal(from), literal(to))
                    }
                    (Some(from), None) => format!("{column} >= {}", literal(from)),
                    (None, to) => format!("{column} < {}", literal(to.as_deref().unwrap_or_default())),
                };
            }
            Operand::Nothing if condition.relation == Relation::Unequal => return format!("{column} IS NOT NULL"),
            Operand::Nothing => return format!("{column} IS NULL"),
            Operand::Text(text) => literal(text),
            Operand::Number(number) => format!("{number}"),
            Operand::Of(function) => {
                let table = self.graph.columns().get(condition.column).and_then(|c| self.graph.tables().get(c.table));
                let table = table.map(TableNode::quoted).unwrap_or_default();
                format!("(SELECT {} FROM {table})", function.sql(&column))
            }
        };
        format!("{column} {} {operand}", condition.relation.sql())
    }
}
