//! Wordings of generated questions.
//!
//! `{a}`, `{b}` stand for rows, `{y}`, `{z}` for columns, `{@y}`, `{@z}` for a year with what may stand before
//! one, `{years}` for a list of three or four. Each wording names every row and column of its shape.

/// What a question asks for, by the rows and columns that its wordings name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A row in a year.
    One,
    /// A row in two years.
    Change,
    /// A row in three or four years.
    Years,
    /// Two rows in a year.
    Rows,
    /// Two rows, each in a year of its own.
    Each,
    /// Two rows in two years each.
    Square,
    /// A row and a column that is no year.
    Column,
    /// A row and two such columns.
    Columns,
    /// Two rows and such a column.
    RowsColumn,
    /// A row as a whole.
    Row,
    /// Two rows as wholes.
    Pair,
}

/// A shape, how many of 100 questions have it, its wordings.
pub(super) type Wordings = (Shape, usize, &'static [&'static str]);

pub(super) const WORDINGS: &[Wordings] = &[
    (Shape::One, 17, ONE),
    (Shape::Change, 26, CHANGE),
    (Shape::Years, 9, YEARS),
    (Shape::Rows, 19, ROWS),
    (Shape::Each, 4, EACH),
    (Shape::Square, 4, SQUARE),
    (Shape::Column, 8, COLUMN),
    (Shape::Columns, 3, COLUMNS),
    (Shape::RowsColumn, 3, ROWS_COLUMN),
    (Shape::Row, 3, ROW),
    (Shape::Pair, 4, PAIR),
];

const ONE: &[&str] = &[
    "what was {a} {@y}",
    "what is the {a} {@y}",
    "how much was {a} {@y}",
    "what was the total {a} {@y}",
    "{@y}, what was {a}",
    "how much {a} did the company report {@y}",
    "what is the amount of {a} {@y}",
    "what was the value of {a} {@y}",
    "what were {a} {@y}",
    "what was the company's {a} {@y}",
    "how many {a} were there {@y}",
    "what is the {y} {a}",
    "what was the reported {a} {@y}",
];

const CHANGE: &[&str] = &[
    "what was the change in {a} from {y} to {z}",
    "what was the percentage change in {a} from {y} to {z}",
    "what is the percent change in {a} between {y} and {z}",
    "what was the change in {a} between {y} and {z}",
    "by how much did {a} increase from {y} to {z}",
    "how much did {a} change between {y} and {z}",
    "what is the growth rate in {a} in {y} compared to {z}",
    "what was the percentage increase in {a} from {y} to {z}",
    "what is the increase / (decrease) in {a} from {y} to {z}",
    "was {a} {@y} greater than {@z}",
    "what was the net change in {a} during {y} and {z}",
    "what is the rate of decline of {a} from {y} to {z}",
    "what is the ratio of {a} in {y} to that in {z}",
    "{a} fell by what percent from {y} to {z}",
    "considering the years {y} and {z}, what is the variation of {a}",
    "in which year was {a} larger, {y} or {z}",
    "what were {a} in {y} and {z}, respectively",
    "between {y} and {z}, what was the percentage increase in {a}",
    "from {y} to {z}, how much did {a} decline",
    "what is the difference in {a} between {y} and {z}",
    "what was the difference between {a} {@y} and {@z}",
    "what is the average {a} for {y} and {z}",
    "what is the total {a} for {y} and {z}",
    "what is the sum of {a} {@y} and {@z}",
    "{@y}, how much more was {a} than {@z}",
    "how much did the {y} {a} differ from that of {z}",
    "what was the year over year growth in {a} from {y} to {z}",
];

const YEARS: &[&str] = &[
    "what is the average {a} for {years}",
    "what was the total {a} over {years}",
    "what is the sum of {a} in {years}",
    "what was the average {a} in {years}",
    "across {years}, what was the mean {a}",
    "what was the highest {a} in {years}",
    "what were {a} in {years}, respectively",
    "in which of the years {years} was {a} lowest",
    "for {years}, what was the combined {a}",
    "in {years}, what was the total of {a}",
];

const ROWS: &[&str] = &[
    "what is the ratio of {a} to {b} {@y}",
    "what was the sum of {a} and {b} {@y}",
    "what is the difference between {a} and {b} {@y}",
    "what portion of {a} is {b} {@y}",
    "what percentage of {a} was {b} {@y}",
    "{a} accounted for what share of {b} {@y}",
    "how much of {a} is attributable to {b} {@y}",
    "{@y}, what was the total of {a} and {b}",
    "what are {a} and {b} {@y}, respectively",
    "what was {a} as a percentage of {b} {@y}",
    "what percent of {a} relates to {b} {@y}",
    "what is the combined {a} and {b} {@y}",
    "how much greater was {a} than {b} {@y}",
    "what is the average of {a} and {b} {@y}",
    "{@y}, what percent of {a} was due to {b}",
    "what is both {a} and {b} {@y}",
    "what was {a} divided by {b} {@y}",
    "what was {a} net of {b} {@y}",
    "what is the proportion of {a} over {b} {@y}",
    "{@y}, was {a} larger than {b}",
    "excluding {a}, what was {b} {@y}",
];

const EACH: &[&str] = &[
    "what was {a} {@y} and {b} {@z}",
    "what is the difference between {a} in {y} and {b} in {z}",
    "how does {a} {@y} compare to {b} {@z}",
    "what is the ratio of {a} in {y} to {b} in {z}",
    "{@y}, what was {a}, and {@z}, what was {b}",
];

const SQUARE: &[&str] = &[
    "what was the change in {a} and {b} from {y} to {z}",
    "what is the difference between the change in {a} and that in {b} from {y} to {z}",
    "how did the ratio of {a} to {b} change from {y} to {z}",
    "what were {a} and {b} in {y} and {z}",
    "between {y} and {z}, which grew faster, {a} or {b}",
];

const COLUMN: &[&str] = &[
    "what is the {y} of {a}", "what was the {y} for {a}", "for {a}, what was the {y}", "how much was the {y} of {a}",
    "which {y} did {a} have", "what is {a} in terms of {y}", "what are the {y} for {a}",
    "how many {y} are there for {a}",
];

const COLUMNS: &[&str] = &[
    "what is the ratio of {y} to {z} for {a}",
    "for {a}, what is the difference between {y} and {z}",
    "what are the {y} and the {z} of {a}",
    "what is the sum of {y} and {z} for {a}",
];

const ROWS_COLUMN: &[&str] = &[
    "what is the difference in {y} between {a} and {b}",
    "what is the total {y} of {a} and {b}",
    "which has the larger {y}, {a} or {b}",
    "what are the {y} of {a} and {b} respectively",
];

const ROW: &[&str] = &[
    "what is the {a}", "what was the company's {a}", "what is the average {a}", "what is the total of {a}",
    "in which year was {a} the highest",
];

const PAIR: &[&str] = &[
    "what percentage of {a} is {b}",
    "what is the ratio of {a} to {b}",
    "what is the total of {a} and {b}",
    "what is the difference between {a} and {b}",
    "what was {a} as a percent of {b}",
];

/// What may stand before a year, most often nothing but `in`.
pub(super) const TIMES: &[&str] = &[
    "in", "in", "in", "in", "for", "during", "in fiscal", "in fiscal year", "for the year", "as of december 31,",
    "as of december 31 ,", "at december 31,", "at the end of", "for the year ended december 31,", "in the year",
    "at year end", "as of", "in the year ended september 30,",
];

/// Said of no segment: before a question.
pub(super) const BEFORE: &[&str] = &[
    "according to the table, ", "based on the information provided, ", "in millions, ", "for the company, ",
    "in the consolidated statements, ", "assuming no other changes, ", "using the data above, ",
    "on a consolidated basis, ",
];

/// Said of no segment: after a question.
pub(super) const AFTER: &[&str] = &[
    " in millions", " ( in millions )", ", in millions of dollars", " in thousands", " according to the table",
    ", as reported by the company", " for the company", " for the group", " to the nearest percent",
    ", rounded to two decimals", " in percent", " on a consolidated basis",
];
