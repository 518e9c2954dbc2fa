//! What holds for a whole report: its company, its year, its ways of writing.

use tabsegnet_document::model::CellSource;

use super::amounts::{Measure, Unit};
use super::books::{Books, Years};
use super::dice::Dice;
use super::names::{self, Scope};
use super::period::Period;
use super::sheet::{Built, Fact, Sheet, span};
use super::vocabulary::Concept;

/// A company's report before it is written down.
pub(super) struct Report {
    pub company: String,
    /// The fiscal year reported on.
    pub year: i32,
    /// The day the year ends, such as `September 30`.
    pub year_end: &'static str,
    pub unit: Unit,
    pub segments: Vec<(&'static str, &'static str)>,
    pub regions: Vec<(&'static str, &'static str)>,
    pub books: Books,
    /// Picks the labels of the concepts.
    pub salt: usize,
}

const YEAR_ENDS: &[&str] = &["December 31", "December 31", "September 30", "June 30", "March 31"];

impl Report {
    /// Draws a company and its books.
    pub fn draw(dice: &mut Dice, stems: &[&str]) -> Self {
        let company = names::company(dice, stems);
        let mut segments = dice.pick(names::INDUSTRIES).to_vec();
        dice.shuffle(&mut segments);
        segments.truncate(2 + dice.below(3));
        let mut regions = names::REGIONS.to_vec();
        regions.truncate(3 + dice.below(3));
        let unit = if dice.chance(60) { Unit::Millions } else { Unit::Thousands };
        let scale = match unit {
            Unit::Millions => dice.range(1_500, 12_000),
            Unit::Thousands => dice.range(60_000, 900_000),
        };
        let books = Books::draw(dice, scale, segments.len(), regions.len());
        Self {
            company,
            year: dice.range(2009, 2023) as i32,
            year_end: *dice.pick(YEAR_ENDS),
            unit,
            segments,
            regions,
            books,
            salt: dice.below(1 << 20),
        }
    }

    /// The label this report uses for a concept.
    pub fn label(&self, concept: &Concept) -> &'static str {
        concept.label(self.salt)
    }

    /// The report's year, or one so many years before it.
    pub fn year_ago(&self, back: usize) -> i32 {
        self.year - back as i32
    }
}

/// Columns of years, in the order shown, as years back from the report's.
pub(super) struct YearColumns {
    pub back: Vec<usize>,
    /// Balances at the year's end rather than flows during it.
    pub balances: bool,
}

impl YearColumns {
    /// Two or three years, latest first or last. `at_most` bounds their number.
    pub fn draw(dice: &mut Dice, at_most: usize, balances: bool) -> Self {
        let count = if at_most > 2 && dice.chance(60) { 3 } else { 2.min(at_most) };
        let mut back: Vec<usize> = (0..count).collect();
        if dice.chance(25) {
            back.reverse();
        }
        Self { back, balances }
    }

    /// The period of a column.
    pub fn period(&self, report: &Report, back: usize) -> Period {
        let year = report.year_ago(back);
        if self.balances { Period::End(year) } else { Period::Year(year) }
    }

    /// The header rows: years alone, spelled out, or below one heading over all of them.
    pub fn header(&self, report: &Report, dice: &mut Dice, corner: &str, header_cols: usize) -> Vec<Vec<CellSource>> {
        let style = dice.below(4);
        let years = self.back.iter().map(|&back| {
            let year = report.year_ago(back);
            match style {
                0 if self.balances => format!("{} , {year}", report.year_end),
                1 if !self.balances => format!("Fiscal {year}"),
                _ => format!("{year}"),
            }
        });
        let years: Vec<CellSource> = years.map(CellSource::from).collect();
        if style < 3 {
            return vec![[vec![span(corner, 1, header_cols)], years].concat()];
        }
        let over = if self.balances { "As of" } else { "Year ended" };
        let over = span(&format!("{over} {} ,", report.year_end), 1, self.back.len());
        vec![vec![span(corner, 2, header_cols), over], years]
    }

    /// One fact a column, from amounts by years back.
    pub fn facts(
        &self,
        report: &Report,
        concept: &'static Concept,
        scope: &Scope,
        measure: Measure,
        amounts: Years,
    ) -> Vec<Fact> {
        let fact = |&back: &usize| Fact::new(concept, scope.clone(), self.period(report, back), measure, amounts[back]);
        self.back.iter().map(fact).collect()
    }
}

/// A table of years: rows are added by concept.
pub(super) struct YearSheet<'a> {
    pub report: &'a Report,
    pub columns: YearColumns,
    pub sheet: Sheet,
}

impl<'a> YearSheet<'a> {
    /// A table with one header column, for amounts of money.
    pub fn new(report: &'a Report, dice: &mut Dice, at_most: usize, balances: bool) -> Self {
        let corner = if dice.chance(40) { report.unit.note() } else { "" };
        Self::under(corner, report, dice, at_most, balances)
    }

    /// A table with one header column, for people or rates.
    pub fn without_unit(report: &'a Report, dice: &mut Dice, at_most: usize, balances: bool) -> Self {
        Self::under("", report, dice, at_most, balances)
    }

    fn under(corner: &str, report: &'a Report, dice: &mut Dice, at_most: usize, balances: bool) -> Self {
        let columns = YearColumns::draw(dice, at_most, balances);
        let sheet = Sheet::new(columns.header(report, dice, corner, 1), 1);
        Self { report, columns, sheet }
    }

    /// A row of the company's books.
    pub fn line(&mut self, concept: &'static Concept) -> usize {
        self.row(concept, &Scope::company(), Measure::Money, self.report.books.of(concept))
    }

    /// A row under the concept's own label.
    pub fn row(&mut self, concept: &'static Concept, scope: &Scope, measure: Measure, amounts: Years) -> usize {
        self.labelled(self.report.label(concept), concept, scope, measure, amounts)
    }

    /// A row under another label, such as a region's name.
    pub fn labelled(
        &mut self,
        label: &str,
        concept: &'static Concept,
        scope: &Scope,
        measure: Measure,
        amounts: Years,
    ) -> usize {
        let facts = self.columns.facts(self.report, concept, scope, measure, amounts);
        let dollar = self.report.salt.is_multiple_of(3);
        self.sheet.row(vec![label.into()], facts, dollar)
    }

    /// Notes a sum of rows, all added.
    pub fn sum(&mut self, total: usize, parts: &[usize]) {
        let parts: Vec<(i64, usize)> = parts.iter().map(|&row| (1, row)).collect();
        self.sheet.sum_rows(total, &parts);
    }

    /// The finished table under a title; see [`titled`].
    pub fn build(self, dice: &mut Dice, title: &str) -> Built {
        titled(self.sheet, self.report, dice, title)
    }
}

/// Finishes a table whose subject is `title`, a noun phrase: the subject stands in the caption, or
/// in the sentence before the table, or in both.
pub(super) fn titled(sheet: Sheet, report: &Report, dice: &mut Dice, title: &str) -> Built {
    let lead = dice.pick(&[
        "The following table summarizes {title} :",
        "The table below sets forth {title} :",
        "The table that follows presents {title} {unit} :",
        "Details of {title} are as follows :",
    ]);
    let unit = if sheet.in_money() { report.unit.note() } else { "" };
    let lead = lead.replace("{title}", title).replace("{unit} :", format!("{unit} :").trim_start());
    match dice.below(10) {
        0..=3 => sheet.build(String::new(), vec![lead]),
        4..=7 => sheet.build(capitalized(title), vec![]),
        _ => sheet.build(capitalized(title), vec![lead]),
    }
}

/// With its first letter as a capital.
pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
