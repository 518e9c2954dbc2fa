//! The tagged numbers of a filing as facts that questions can be about.

use std::collections::{BTreeMap, BTreeSet};

use tabsegnet_document::facts::{self, FactPlace};
use tabsegnet_document::model::{CellRole, Table};
use tabsegnet_document::numbers::parse_cell_number;
use tabsegnet_document::{ReadDocument, node_id};
use tabsegnet_lexical::company::short_name;

use super::members;
use super::period::{Calendar, Span};
use super::restated;
use super::words;

/// What a value counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// An amount of a currency.
    Money(String),
    /// A number of shares.
    Shares,
    /// An amount a share.
    PerShare,
    /// A ratio, mostly shown in percent.
    Ratio,
}

impl Unit {
    /// `None` for the many units that filers make up.
    fn of(unit: &facts::Unit) -> Option<Self> {
        let local = |measure: &String| measure.rsplit(':').next().unwrap_or_default().to_owned();
        match (&unit.measures[..], &unit.per[..]) {
            ([measure], []) if measure.starts_with("iso4217:") => Some(Self::Money(local(measure))),
            ([measure], []) if local(measure) == "shares" => Some(Self::Shares),
            ([measure], []) if local(measure) == "pure" => Some(Self::Ratio),
            ([measure], [per]) if measure.starts_with("iso4217:") && local(per) == "shares" => Some(Self::PerShare),
            _ => None,
        }
    }
}

/// A cell that states a fact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellPlace {
    pub table: usize,
    /// The node's id.
    pub node: String,
    /// The number shown, without its sign, where it is long enough to be known again.
    pub shown: Option<u64>,
}

/// A fact of a filing, and all places that state it.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    /// The concept with its prefix.
    pub concept: String,
    /// What it is called, most exact first; never empty.
    pub names: Vec<String>,
    /// Axes and members, sorted.
    pub members: Vec<(String, String)>,
    /// The members as words, with prepositions.
    pub member_words: Vec<String>,
    pub span: Span,
    pub unit: Unit,
    pub value: f64,
    /// Never empty.
    pub cells: BTreeSet<CellPlace>,
    /// Sentences by their index in the filing.
    pub passages: BTreeSet<usize>,
    /// Ids of nodes that state it without a tag.
    pub restated: Vec<String>,
}

/// A filing whose facts have names.
pub(super) struct Filing {
    pub read: ReadDocument,
    pub calendar: Calendar,
    pub facts: Vec<Fact>,
}

/// What makes two tagged numbers one fact.
type Key = (String, Vec<(String, String)>, Span, Unit);

/// Concepts that nobody wants, or whose value stands in their own name.
const LEFT_OUT: &[&str] = &[
    "ParOrStatedValue", "SharesAuthorized", "InterestRateStatedPercentage", "ConcentrationRisk",
    "StatutoryIncomeTaxRate", "StatutoryTaxRate", "NumberOf", "ConversionBasis", "VestingPercentage",
];

impl Filing {
    pub fn new(read: ReadDocument) -> Self {
        let calendar = Calendar::of(&read.facts);
        let tables: BTreeMap<usize, &Table> = read.document.tables().map(|t| (t.number(), t)).collect();
        let mut facts = unambiguous(merged(&read, &tables));
        restated::add(&mut facts, &read, &tables, &calendar);
        let mut filing = Self { read, calendar, facts };
        filing.drop_shared_names();
        filing
    }

    /// Who files, by the page's contexts; `None` where it has none.
    pub fn company(read: &ReadDocument) -> Option<String> {
        let key = read.facts.about.iter().find(|about| about.name == "dei:EntityCentralIndexKey");
        let key = key.map(|about| &about.text).or_else(|| read.facts.contexts.values().map(|c| &c.entity).next())?;
        let key = key.trim().trim_start_matches('0');
        (!key.is_empty()).then(|| key.to_owned())
    }

    /// What people call the company: its name without its legal form; "the company" where the page does not say.
    pub fn company_name(&self) -> String {
        let about = self.read.facts.about.iter().find(|about| about.name == "dei:EntityRegistrantName");
        about.and_then(|about| short_name(about.text.trim())).unwrap_or_else(|| "the company".into())
    }

    /// Leaves each concept only names that no other concept of the filing has.
    fn drop_shared_names(&mut self) {
        let mut concepts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for fact in &self.facts {
            for name in &fact.names {
                concepts.entry(bare(name)).or_default().insert(fact.concept.clone());
            }
        }
        for fact in &mut self.facts {
            let formal = fact.names.remove(0);
            fact.names.retain(|name| concepts.get(&bare(name)).is_some_and(|of| of.len() == 1));
            fact.names.insert(0, formal);
        }
    }
}

/// A name as it is compared.
fn bare(name: &str) -> String {
    let words = name.split_whitespace().filter(|word| *word != "the" && *word != "total");
    words.map(|word| word.trim_end_matches('s').to_lowercase()).collect::<Vec<_>>().join(" ")
}

/// The page's numbers, those of one meaning together.
fn merged(read: &ReadDocument, tables: &BTreeMap<usize, &Table>) -> Vec<Fact> {
    let mut facts: BTreeMap<Key, Fact> = BTreeMap::new();
    let mut in_passages: Vec<(Key, usize)> = Vec::new();
    for tagged in &read.facts.numbers {
        let Some(key) = key(read, tagged) else { continue };
        if let FactPlace::Passage(passage) = tagged.place {
            in_passages.push((key, passage));
            continue;
        }
        let Some(value) = tagged.value().filter(|value| *value != 0.0) else { continue };
        let Some(cell) = cell_place(tables, tagged, value) else { continue };
        if let Some(fact) = facts.get_mut(&key) {
            // Rounded elsewhere, or a mistake: the first place counts.
            if same(fact.value, value) {
                fact.cells.insert(cell);
            }
        } else if let Some(fact) = named(read, tagged, &key, value, cell) {
            facts.insert(key, fact);
        }
    }
    for (key, passage) in in_passages {
        if let Some(fact) = facts.get_mut(&key) {
            fact.passages.insert(passage);
        }
    }
    facts.into_values().collect()
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn key(read: &ReadDocument, tagged: &facts::Fact) -> Option<Key> {
    let context = read.facts.contexts.get(&tagged.context)?;
    let mut members: Vec<(String, String)> =
        context.dimensions.iter().map(|d| (d.axis.clone(), d.member.clone())).collect();
    members.sort();
    let unit = Unit::of(read.facts.units.get(tagged.unit.as_ref()?)?)?;
    Some((tagged.name.clone(), members, Span::of(&context.period)?, unit))
}

/// The data cell of a tagged number, where it shows that number and a row header names it.
fn cell_place(tables: &BTreeMap<usize, &Table>, tagged: &facts::Fact, value: f64) -> Option<CellPlace> {
    let FactPlace::Cell { table: number, row, col } = tagged.place else { return None };
    let table = tables.get(&number)?;
    let cell = table.cell_at(row, col)?;
    let shown = parse_cell_number(&cell.text).filter(|&shown| same(tagged.apply(shown), value))?;
    if table.role(cell) != CellRole::Data || table.path(&table.row_headers_of(cell)).is_empty() {
        return None;
    }
    Some(CellPlace { table: number, node: node_id::cell(table, cell), shown: recognizable(&cell.text, shown) })
}

/// A number of three digits or more, as what can be compared exactly; years are too common.
pub(super) fn recognizable(text: &str, shown: f64) -> Option<u64> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let year = digits == 4 && !text.contains([',', '.']) && (1900.0..2100.0).contains(&shown.abs());
    (digits >= 3 && !year).then(|| shown.abs().to_bits())
}

fn named(read: &ReadDocument, tagged: &facts::Fact, key: &Key, value: f64, cell: CellPlace) -> Option<Fact> {
    let (concept, members, span, unit) = key.clone();
    let prefix = concept.split(':').next().unwrap_or_default();
    let local = words::local(&concept);
    if ["dei", "ecd", "cyd"].contains(&prefix) || LEFT_OUT.iter().any(|part| local.contains(part)) {
        return None;
    }
    let broken_down = members::words_of(&concept, &read.facts.contexts.get(&tagged.context)?.dimensions)?;
    let names = match broken_down.name {
        Some(name) => vec![name.to_owned()],
        None => {
            let mut formal = words::concept(&concept)?;
            // Members say of which plan.
            if let Some(rest) = formal.strip_prefix("defined benefit plan ")
                && broken_down.parts.iter().any(|part| part.ends_with("plans"))
            {
                formal = if rest.starts_with("assets") { format!("plan {rest}") } else { rest.to_owned() };
            }
            let plain = words::plain_names(&concept).iter().map(|&name| name.to_owned());
            std::iter::once(formal.clone()).chain(plain.filter(|name| *name != formal)).collect()
        }
    };
    let cells = BTreeSet::from([cell]);
    let member_words = broken_down.parts;
    let (passages, restated) = (BTreeSet::new(), Vec::new());
    Some(Fact { concept, names, members, member_words, span, unit, value, cells, passages, restated })
}

/// Facts that have the same words are one where they have one value, and none where not.
fn unambiguous(facts: Vec<Fact>) -> Vec<Fact> {
    let mut by_words: BTreeMap<(String, Vec<String>, Span), Option<Fact>> = BTreeMap::new();
    for fact in facts {
        let words = (fact.names[0].clone(), fact.member_words.clone(), fact.span);
        match by_words.get_mut(&words) {
            None => {
                by_words.insert(words, Some(fact));
            }
            Some(known) => match known {
                Some(first) if same(first.value, fact.value) && first.unit == fact.unit => {
                    first.cells.extend(fact.cells);
                    first.passages.extend(fact.passages);
                }
                _ => *known = None,
            },
        }
    }
    by_words.into_values().flatten().collect()
}
