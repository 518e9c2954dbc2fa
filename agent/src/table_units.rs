//! What tables say of the units and scales of their numbers, in headers and around the table, and what the sentences beside
//! them give away.

use std::collections::{BTreeMap, HashMap, HashSet};

use rust_decimal::Decimal;
use tabsegnet::ranking::Position;
use tabsegnet::{NodeKind, RankedNode};
use tabsegnet_document::numbers::{has_decimal_comma, parse_cell_number};

use crate::quantity::{Quantity, Scale, of_sentence, to_decimal};
use crate::words::last;

/// Rows from the top of which one without numbers that names a scale, header or not, names it for the table: `(in thousands)`.
const TOP: usize = 4;
/// Digits behind their first that amounts of sentences must have together for the scale to be a table's in which they are its numbers:
/// two of three digits, but not 31.2 and 4.8, which any table may have.
const DIGITS: usize = 4;
/// Numbers of a table that are held against sentences.
const NUMBERS: usize = 400;

/// Of some tables of a ranking.
#[derive(Debug, Default)]
pub(crate) struct TableUnits<'r> {
    /// By table: its caption, the headers over its header columns, and what names a scale in its first rows.
    headings: HashMap<usize, Vec<&'r str>>,
    /// By table that names no scale: that in which amounts of sentences are its numbers.
    inferred: HashMap<usize, Scale>,
    /// Table and column: percentages of which the first alone has the sign, as it is 100 % or the header says what they are.
    percentages: HashSet<(usize, usize)>,
    /// The scale that the sentences of a section, which a report is or one of its parts, say most often of all amounts, for
    /// tables that say nothing; of no section what stands before the first.
    stated: HashMap<Option<&'r str>, Stated<'r>>,
    /// By table its headings, outermost first.
    sections: HashMap<usize, &'r [String]>,
    /// Tables whose numbers have a comma before the fraction.
    with_commas: HashSet<usize>,
}

impl<'r> TableUnits<'r> {
    pub fn new(nodes: &'r [RankedNode], tables: &HashSet<usize>) -> Self {
        let mut found = Self { stated: stated(nodes), ..Self::default() };
        // By table: numbers with a comma before the fraction, and other numbers with a comma.
        let mut commas: HashMap<usize, [usize; 2]> = HashMap::new();
        let mut numbers: HashMap<usize, Vec<Decimal>> = HashMap::new();
        // By table and column: the first row with a number, and whether that is 100 %, or a rate, as its header says.
        let (mut on_top, mut rows) = (Vec::new(), HashSet::new());
        let mut first: HashMap<(usize, usize), (usize, bool)> = HashMap::new();
        for node in nodes {
            match node.position {
                // A caption that is made of column headers says of each column what one says.
                Position::Table { table } if tables.contains(&table) && !node.text.contains(" | ") => {
                    found.headings.entry(table).or_default().push(&node.text);
                }
                Position::Cell { table, row, col, .. } if tables.contains(&table) => {
                    let number = parse_cell_number(&node.text).and_then(to_decimal);
                    if node.kind == NodeKind::ColumnHeader {
                        if col == 0 {
                            found.headings.entry(table).or_default().push(&node.text);
                        }
                    } else if row < TOP && number.is_none() && Scale::of_heading(&node.text).is_some() {
                        on_top.push((table, row, &node.text));
                    }
                    if !node.section.is_empty() {
                        found.sections.insert(table, &node.section);
                    }
                    if number.is_some() && node.text.contains(',') {
                        commas.entry(table).or_default()[usize::from(!has_decimal_comma(&node.text))] += 1;
                    }
                    let Some(number) = number.filter(|_| node.kind == NodeKind::Cell) else { continue };
                    rows.insert((table, row));
                    let of_all = node.text.contains('%') && (number == Decimal::ONE_HUNDRED || is_of_rates(node));
                    let of_column = first.entry((table, col)).or_insert((row, of_all));
                    if row < of_column.0 {
                        *of_column = (row, of_all);
                    }
                    let of_table = numbers.entry(table).or_default();
                    if of_table.len() < NUMBERS && !node.text.contains('%') {
                        of_table.push(number.abs());
                    }
                }
                _ => {}
            }
        }
        // One among many is a misprint.
        let most = |[before, others]: &[usize; 2]| before > others;
        found.with_commas = commas.iter().filter(|(_, of)| most(of)).map(|(table, _)| *table).collect();
        // Beside numbers it is of these alone.
        for (table, _, text) in on_top.into_iter().filter(|(table, row, _)| !rows.contains(&(*table, *row))) {
            found.headings.entry(table).or_default().push(text);
        }
        found.percentages = first.into_iter().filter(|(_, (_, of_all))| *of_all).map(|(column, _)| column).collect();
        let says_nothing = |table: &usize| {
            let headings = found.headings.get(table).into_iter().flatten();
            !headings.into_iter().any(|heading| Scale::of_heading(heading).is_some())
        };
        let silent: Vec<(usize, Vec<Decimal>)> = numbers.into_iter().filter(|(table, _)| says_nothing(table)).collect();
        if !silent.is_empty() {
            let amounts = amounts(nodes);
            found.inferred = silent
                .into_iter()
                .filter_map(|(table, numbers)| Some((table, inferred(&numbers, &amounts)?)))
                .collect();
        }
        found
    }

    /// What stands over a table.
    pub fn headings(&self, table: usize) -> &[&'r str] {
        self.headings.get(&table).map_or(&[], Vec::as_slice)
    }

    /// The scale of a table of which neither its headings nor its section say one.
    pub fn silent(&self, table: usize) -> Option<Scale> {
        let section = self.sections.get(&table).copied().unwrap_or_default();
        let of_section = || self.stated.get(&Some(section.first()?.as_str())).filter(|stated| stated.holds(section));
        let stated = || of_section().or_else(|| self.stated.get(&None)).map(|stated| stated.scale);
        self.inferred.get(&table).copied().or_else(stated)
    }

    /// Whether the numbers of a table have a comma before the fraction.
    pub fn has_commas(&self, table: usize) -> bool {
        self.with_commas.contains(&table)
    }

    /// Whether the numbers of a column are percentages whose sign only the first has.
    pub fn are_percentages(&self, table: usize, column: usize) -> bool {
        self.percentages.contains(&(table, column))
    }
}

/// Whether a column header says that its numbers are rates.
fn is_of_rates(node: &RankedNode) -> bool {
    let innermost = node.column_headers.as_deref().map_or("", last).to_lowercase();
    ["rate", "percent", "%", "growth"].iter().any(|of| innermost.contains(of))
}

/// A scale that sentences of a section say.
#[derive(Debug, Clone, Copy)]
struct Stated<'r> {
    scale: Scale,
    /// The headings of these sentences, where all of them stand under a heading within the section: it holds there alone.
    within: Option<&'r [String]>,
}

impl Stated<'_> {
    /// Whether it holds below these headings.
    fn holds(&self, section: &[String]) -> bool {
        self.within.is_none_or(|within| section.starts_with(within))
    }
}

/// The scale that most sentences of a section give for the tables beside them, of equals the smaller.
fn stated(nodes: &[RankedNode]) -> HashMap<Option<&str>, Stated<'_>> {
    let said = |node: &&RankedNode| matches!(node.kind, NodeKind::Passage | NodeKind::Caption | NodeKind::Heading);
    let mut said_in: HashMap<Option<&str>, BTreeMap<Scale, Vec<&[String]>>> = HashMap::new();
    for node in nodes.iter().filter(said) {
        let Some(scale) = Scale::of_passage(&node.text) else { continue };
        let of_section = said_in.entry(node.section.first().map(String::as_str)).or_default();
        of_section.entry(scale).or_default().push(&node.section);
    }
    let stated = said_in.into_iter().filter_map(|(section, of_section)| {
        let (scale, places) = of_section.into_iter().rev().max_by_key(|(_, places)| places.len())?;
        let first = *places.first()?;
        let is_one = first.len() > 1 && places.iter().all(|place| *place == first);
        Some((section, Stated { scale, within: is_one.then_some(first) }))
    });
    stated.collect()
}

/// The amounts of sentences that say their scale, in two digits at least: `$24.2 million`.
fn amounts(nodes: &[RankedNode]) -> Vec<(Decimal, Scale)> {
    let passages = nodes.iter().filter(|node| node.kind == NodeKind::Passage);
    let written = passages.flat_map(|node| of_sentence(&node.text)).map(|written| written.quantity);
    let found: HashSet<(Decimal, Scale)> = written
        .filter_map(|Quantity { value, scale, .. }| Some((value.abs(), scale?)))
        .filter(|(value, _)| value.mantissa() >= 10)
        .collect();
    found.into_iter().collect()
}

/// The scale in which most amounts are numbers of a table, rounded as the amounts are: $24.2 million is 24,193 in thousands.
fn inferred(numbers: &[Decimal], amounts: &[(Decimal, Scale)]) -> Option<Scale> {
    let powers = [None, Some(Scale::Thousand), Some(Scale::Million), Some(Scale::Billion)];
    let met = |scale: Option<Scale>| {
        let is_number =
            |&&(amount, of): &&(Decimal, Scale)| numbers.iter().any(|number| is_rounded(*number, scale, amount, of));
        let more = |(amount, _): &(Decimal, Scale)| amount.mantissa().unsigned_abs().to_string().len() - 1;
        amounts.iter().filter(is_number).map(more).sum::<usize>()
    };
    let counts = powers.map(met);
    let most = *counts.iter().max()?;
    let mut best = powers.iter().zip(counts).filter(|(_, count)| *count == most);
    let (scale, others) = (best.next()?.0, best.next());
    scale.filter(|_| most >= DIGITS && others.is_none())
}

/// Whether a number in a scale is an amount in its own scale, to the amount's places.
fn is_rounded(number: Decimal, scale: Option<Scale>, amount: Decimal, of: Scale) -> bool {
    let power = scale.map_or(0, Scale::power);
    let Some(less) = of.power().checked_sub(power) else { return false };
    // A number that is coarser than the amount says less than it.
    let fine = number.scale() + less >= amount.scale();
    let divided = Decimal::from(10_i64.pow(less));
    fine && number.checked_div(divided).is_some_and(|number| number.round_dp(amount.scale()) == amount)
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::{inferred, is_rounded};
    use crate::quantity::Scale;

    fn decimals(texts: &[&str]) -> Vec<Decimal> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn sentences_give_the_scale_of_a_silent_table_away() {
        let amounts: Vec<(Decimal, Scale)> =
            decimals(&["45.0", "24.2", "47.6"]).into_iter().map(|amount| (amount, Scale::Million)).collect();
        let thousands = decimals(&["24193", "20402", "47625", "45007"]);
        assert_eq!(inferred(&thousands, &amounts), Some(Scale::Thousand));
        assert_eq!(inferred(&decimals(&["24.2", "47.6", "1.3"]), &amounts), Some(Scale::Million));
        // Amounts in full have no scale, one amount is a coincidence, and a table in which as many meet two ways is silent.
        assert_eq!(inferred(&decimals(&["24193000", "47625000"]), &amounts), None);
        assert_eq!(inferred(&decimals(&["24193"]), &amounts), None);
        assert_eq!(inferred(&decimals(&["24193", "47625", "24.2", "47.6"]), &amounts), None);
        // Births and admissions are no thousands of pounds because £31.2 million and £4.8 million were spent.
        let amounts: Vec<_> = decimals(&["31.2", "4.8"]).into_iter().map(|amount| (amount, Scale::Million)).collect();
        assert_eq!(inferred(&decimals(&["31240", "52600", "4812"]), &amounts), None);
        assert_eq!(inferred(&[], &[]), None);
    }

    #[test]
    fn a_coarse_number_is_no_finer_amount() {
        let is = |number: &str, scale, amount: &str| {
            is_rounded(number.parse().unwrap(), scale, amount.parse().unwrap(), Scale::Million)
        };
        assert!(is("24", Some(Scale::Million), "24") && !is("24", Some(Scale::Million), "24.0"));
        assert!(is("24000", Some(Scale::Thousand), "24.000") && !is("24049", Some(Scale::Thousand), "24.1"));
        assert!(!is("24", Some(Scale::Billion), "24000"));
    }
}
