//! What was linked and joined, in words.

use std::io::{self, Write};

use serde::Serialize;
use tabsegnet_store::printable;

use super::{Linked, Linker, Words};
use crate::schema_graph::{Cardinality, SchemaGraph};

/// What of a schema a question needs, in names and with reasons.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The columns, the likeliest first.
    pub columns: Vec<ExplainedColumn>,
    /// The likeliest tables together.
    pub tables: Vec<String>,
    /// How likely it is these.
    pub probability: f32,
    /// What joins them.
    pub joins: Vec<ExplainedJoin>,
    /// What else may be needed, or join them, the likeliest first.
    pub alternatives: Vec<Alternative>,
    /// Traps, tables that nothing connects, and what is wrong with the schema.
    pub warnings: Vec<String>,
}

/// A column with how likely it is needed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedColumn {
    /// `table.column`.
    pub column: String,
    /// How likely a statement for the question has it.
    pub probability: f32,
    /// How likely the question mentions it.
    pub mentioned: f32,
    /// Values of it that the question names.
    pub values: Vec<String>,
    /// The columns of tables that it is made of, where it is of a view.
    pub base: Vec<String>,
}

/// A join with its reason.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedJoin {
    /// The condition: `a.x = b.y`, of a composite key all parts.
    pub on: String,
    /// How many rows meet how many.
    pub cardinality: Cardinality,
    /// Why it is joined so.
    pub reason: String,
}

/// Other tables, or other joins of the same.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// The tables.
    pub tables: Vec<String>,
    /// The conditions.
    pub joins: Vec<String>,
    /// Why it is none or the other one: its probability, or how many joins it has.
    pub reason: String,
}

/// So many columns are told of, and those that are as likely as not.
const COLUMNS: usize = 10;

/// So many alternatives of each kind.
const ALTERNATIVES: usize = 3;

fn on(graph: &SchemaGraph, join: usize) -> String {
    let pairs = graph.joins().get(join).map(|join| join.pairs.as_slice()).unwrap_or_default();
    let pair = |&(a, b): &(usize, usize)| format!("{} = {}", graph.column_id(a), graph.column_id(b));
    pairs.iter().map(pair).collect::<Vec<_>>().join(" AND ")
}

fn names(graph: &SchemaGraph, tables: &[usize]) -> Vec<String> {
    tables.iter().filter_map(|&table| graph.tables().get(table)).map(|table| table.name.clone()).collect()
}

impl ExplainedJoin {
    /// The joins of a tree, with the `needed` tables that it joins.
    pub(crate) fn of_tree(linker: &Linker<'_>, words: &Words, joins: &[usize], needed: &[usize]) -> Vec<Self> {
        let graph = linker.graph();
        let explained = |&join: &usize| Self {
            on: on(graph, join),
            cardinality: graph.joins().get(join).map(|join| join.cardinality).unwrap_or_default(),
            reason: linker.joiner().reason(join, needed, words),
        };
        joins.iter().map(explained).collect()
    }
}

impl std::fmt::Display for ExplainedJoin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}  ({}; {})", self.on, self.cardinality.in_words(), self.reason)
    }
}

impl Explanation {
    /// Puts in words what the linker found.
    pub fn new(linker: &Linker<'_>, question: &str, linked: &Linked) -> Self {
        let graph = linker.graph();
        let words = Words::of(question);
        let columns = linked
            .columns
            .iter()
            .enumerate()
            .filter(|(place, column)| *place < COLUMNS || column.probability >= 0.5)
            .map(|(_, column)| {
                let base = graph.base_columns(column.column);
                ExplainedColumn {
                    column: graph.column_id(column.column),
                    probability: column.probability,
                    mentioned: column.mentioned,
                    values: linked.values.get(&column.column).into_iter().flatten().map(|v| v.value.clone()).collect(),
                    base: base.into_iter().filter(|&of| of != column.column).map(|of| graph.column_id(of)).collect(),
                }
            })
            .collect();
        let mut this = Self {
            columns,
            tables: Vec::new(),
            probability: 0.0,
            joins: Vec::new(),
            alternatives: Vec::new(),
            warnings: linked.traps.iter().map(ToString::to_string).collect(),
        };
        if let Some(best) = linked.sets.first() {
            this.tables = names(graph, &best.tree.tables);
            this.probability = best.probability;
            let needed: Vec<usize> = best
                .tree
                .tables
                .iter()
                .copied()
                .filter(|&table| {
                    let of = |column: usize| graph.columns().get(column).is_some_and(|column| column.table == table);
                    linked.columns.iter().any(|column| column.mentioned >= 0.5 && of(column.column))
                })
                .collect();
            this.joins = ExplainedJoin::of_tree(linker, &words, &best.tree.joins, &needed);
            if !best.tree.is_connected() {
                this.warnings.push("nothing in the schema joins some of these tables with the others".to_owned());
            }
            let costs = linker.joiner().costs(&words);
            for other in linker.joiner().alternatives(&best.tree.tables, &costs, &best.tree).iter().take(ALTERNATIVES) {
                this.alternatives.push(Alternative {
                    tables: names(graph, &other.tables),
                    joins: other.joins.iter().map(|&join| on(graph, join)).collect(),
                    reason: match other.joins.len() {
                        1 => "joins the same tables, by 1 join".to_owned(),
                        joins => format!("joins the same tables, by {joins} joins"),
                    },
                });
            }
        }
        for set in linked.sets.iter().skip(1).take(ALTERNATIVES).filter(|set| set.probability >= 0.01) {
            this.alternatives.push(Alternative {
                tables: names(graph, &set.tree.tables),
                joins: set.tree.joins.iter().map(|&join| on(graph, join)).collect(),
                reason: format!("probability {:.2}", set.probability),
            });
        }
        if graph.tables().is_empty() {
            this.warnings.push("there are no tables".to_owned());
        }
        this.warnings.extend(graph.problems().iter().map(ToString::to_string));
        this
    }

    /// Writes it for people to read.
    ///
    /// # Errors
    /// What the output gives.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        if !self.columns.is_empty() {
            writeln!(output, "columns")?;
        }
        for column in &self.columns {
            write!(output, "  {:.2}  {}", column.probability, printable(&column.column))?;
            if !column.values.is_empty() {
                write!(output, "  value {}", printable(&format!("{:?}", column.values.join(", "))))?;
            }
            if !column.base.is_empty() {
                write!(output, "  from {}", printable(&column.base.join(", ")))?;
            }
            writeln!(output)?;
        }
        if !self.tables.is_empty() {
            writeln!(output, "tables\n  {:.2}  {}", self.probability, printable(&self.tables.join(", ")))?;
        }
        if !self.joins.is_empty() {
            writeln!(output, "joins")?;
        }
        for join in &self.joins {
            writeln!(output, "  {}", printable(&join.to_string()))?;
        }
        if !self.alternatives.is_empty() {
            writeln!(output, "alternatives")?;
        }
        for other in &self.alternatives {
            let joins = if other.joins.is_empty() { String::new() } else { format!(" on {}", other.joins.join(", ")) };
            writeln!(output, "  {}{}  ({})", printable(&other.tables.join(", ")), printable(&joins), other.reason)?;
        }
        if !self.warnings.is_empty() {
            writeln!(output, "warnings")?;
        }
        for warning in &self.warnings {
            writeln!(output, "  {}", printable(warning))?;
        }
        Ok(())
    }
}
