//! Tables by segment, region and quarter. Row headers recur from one to the next, so that the
//! caption, the sentence before the table or the column tells them apart.

use super::amounts::Measure;
use super::books::Years;
use super::dice::Dice;
use super::names::Scope;
use super::period::Period;
use super::report::{Report, YearSheet, titled};
use super::sheet::{Built, Fact, Sheet, span};
use super::vocabulary::{self as v, Concept};

/// Net revenue and profit of every segment, two years each below a merged header.
pub(super) fn overview(report: &Report, dice: &mut Dice) -> Built {
    let (revenue, profit) = (report.label(&v::NET_REVENUE), report.label(&v::SEGMENT_PROFIT));
    let years = [report.year, report.year - 1].map(|year| year.to_string());
    let header = vec![
        vec![span("", 2, 1), span(revenue, 1, 2), span(profit, 1, 2)],
        years.iter().chain(&years).map(|year| year.as_str().into()).collect(),
    ];
    let mut sheet = Sheet::new(header, 1);
    let facts = |scope: &Scope, all: &Scope, revenue: Years, profit: Years| -> Vec<Fact> {
        let fact = |concept, scope: &Scope, amounts: Years, back: usize| {
            let period = Period::Year(report.year_ago(back));
            Fact::new(concept, scope.clone(), period, Measure::Money, amounts[back])
        };
        [0, 1]
            .map(|back| fact(&v::NET_REVENUE, scope, revenue, back))
            .into_iter()
            .chain([0, 1].map(|back| fact(&v::SEGMENT_PROFIT, all, profit, back)))
            .collect()
    };
    let mut parts = Vec::new();
    let mut total_profit = [0; 3];
    for (&segment, books) in report.segments.iter().zip(&report.books.segments) {
        let scope = Scope::segment(segment);
        parts.push((1, sheet.row(vec![segment.0.into()], facts(&scope, &scope, books.revenue, books.profit), true)));
        for (sum, profit) in total_profit.iter_mut().zip(books.profit) {
            *sum += profit;
        }
    }
    let all = Scope::part("all segments", ["of all segments together", "of the divisions combined"].map(str::to_owned));
    let total = facts(&Scope::company(), &all, report.books.of(&v::NET_REVENUE), total_profit);
    let total = sheet.row(vec!["Total".into()], total, true);
    sheet.sum_rows(total, &parts);
    titled(sheet, report, dice, "our results by reportable segment")
}

/// One segment's results. The rows are those of every other segment's table.
pub(super) fn results(report: &Report, dice: &mut Dice, segment: usize) -> Built {
    let (name, books) = (report.segments[segment], &report.books.segments[segment]);
    let scope = Scope::segment(name);
    let mut sheet = YearSheet::new(report, dice, 3, false);
    for (concept, amounts) in [
        (&v::NET_REVENUE, books.revenue),
        (&v::COST_OF_REVENUE, books.cost),
        (&v::SEGMENT_PROFIT, books.profit),
        (&v::CAPEX, books.capex),
    ] {
        sheet.row(concept, &scope, Measure::Money, amounts);
    }
    let title = match dice.below(3) {
        0 => format!("the results of our {} segment", name.0),
        1 => format!("selected financial information for {}", name.0),
        _ => format!("the performance of the {} segment", name.0),
    };
    sheet.build(dice, &title)
}

/// A figure by region with its total.
fn by_region(
    report: &Report,
    dice: &mut Dice,
    concept: &'static Concept,
    amounts: &[Years],
    measure: Measure,
    title: &str,
) -> Built {
    let balances = !std::ptr::eq(concept, &v::NET_REVENUE);
    let at_most = if balances { 2 } else { 3 };
    let mut sheet = match measure {
        Measure::Money => YearSheet::new(report, dice, at_most, balances),
        _ => YearSheet::without_unit(report, dice, at_most, balances),
    };
    let mut parts = Vec::new();
    let mut sums = [0; 3];
    for (&region, &amounts) in report.regions.iter().zip(amounts) {
        parts.push(sheet.labelled(region.0, concept, &Scope::region(region), measure, amounts));
        for (sum, amount) in sums.iter_mut().zip(amounts) {
            *sum += amount;
        }
    }
    let mut facts = sheet.columns.facts(report, concept, &Scope::company(), measure, sums);
    if std::ptr::eq(concept, &v::LONG_LIVED) {
        // The balance sheet has the same amounts.
        facts = facts
            .into_iter()
            .map(|fact| {
                let period = fact.period;
                fact.same_as(&v::PPE, period)
            })
            .collect();
    }
    let total = sheet.sheet.row(vec!["Total".into()], facts, false);
    sheet.sum(total, &parts);
    sheet.build(dice, title)
}

/// Net revenue by region.
pub(super) fn region_revenue(report: &Report, dice: &mut Dice) -> Built {
    let title = format!("{} by geographic region", report.label(&v::NET_REVENUE).to_lowercase());
    by_region(report, dice, &v::NET_REVENUE, &report.books.region_revenue, Measure::Money, &title)
}

/// Long-lived assets by region.
pub(super) fn region_assets(report: &Report, dice: &mut Dice) -> Built {
    by_region(
        report,
        dice,
        &v::LONG_LIVED,
        &report.books.region_assets,
        Measure::Money,
        "long-lived assets by geographic region",
    )
}

/// Employees by region.
pub(super) fn region_staff(report: &Report, dice: &mut Dice) -> Built {
    let title = format!("{} by geographic region", report.label(&v::HEADCOUNT).to_lowercase());
    by_region(report, dice, &v::HEADCOUNT, &report.books.region_staff, Measure::Count, &title)
}

/// The four quarters of a year. Only the title says which year.
pub(super) fn quarters(report: &Report, dice: &mut Dice, back: usize) -> Built {
    let year = report.year_ago(back);
    let names =
        dice.pick(&[["First Quarter", "Second Quarter", "Third Quarter", "Fourth Quarter"], ["Q1", "Q2", "Q3", "Q4"]]);
    let header = std::iter::once("").chain(*names).map(Into::into).collect();
    let mut sheet = Sheet::new(vec![header], 1);
    let concepts: [&'static Concept; 3] = [&v::NET_REVENUE, &v::GROSS_PROFIT, &v::NET_EARNINGS];
    for (concept, amounts) in concepts.into_iter().zip(&report.books.quarters[back.min(1)]) {
        let facts = (1..).zip(amounts).map(|(quarter, &amount)| {
            Fact::new(concept, Scope::company(), Period::Quarter(quarter, year), Measure::Money, amount)
        });
        sheet.row(vec![report.label(concept).into()], facts.collect(), true);
    }
    let title =
        format!("{} for fiscal {year}", dice.pick(&["quarterly financial data", "our unaudited quarterly results"]));
    titled(sheet, report, dice, &title)
}

/// Goodwill by segment over two years.
pub(super) fn goodwill(report: &Report, dice: &mut Dice) -> Built {
    let names = report.segments.iter().map(|segment| segment.0).chain(["Total"]);
    let header = std::iter::once(report.unit.note()).chain(names).map(Into::into).collect();
    let mut sheet = Sheet::new(vec![header], 1);
    let row = |sheet: &mut Sheet, label: &str, concept: &'static Concept, period: Period, amounts: Vec<i64>| {
        let scopes = report.segments.iter().map(|&segment| Scope::segment(segment)).chain([Scope::company()]);
        let total = amounts.iter().sum();
        let facts = scopes
            .zip(amounts.into_iter().chain([total]))
            .map(|(scope, amount)| Fact::new(concept, scope, period, Measure::Money, amount));
        sheet.row(vec![label.into()], facts.collect(), false)
    };
    let books = &report.books.segments;
    let balance = |back: usize| format!("Balance at {} , {}", report.year_end, report.year_ago(back));
    let first = Period::End(report.year_ago(2));
    let mut open = row(&mut sheet, &balance(2), &v::GOODWILL, first, books.iter().map(|s| s.goodwill[2]).collect());
    let start = open;
    for back in [1, 0] {
        let year = report.year_ago(back);
        let movement = |sheet: &mut Sheet, concept: &'static Concept, amounts| {
            row(sheet, report.label(concept), concept, Period::Year(year), amounts)
        };
        let added = movement(&mut sheet, &v::GOODWILL_ADDED, books.iter().map(|s| s.goodwill_added[back]).collect());
        let moved = movement(&mut sheet, &v::GOODWILL_FX, books.iter().map(|s| s.goodwill_fx[back]).collect());
        let amounts = books.iter().map(|s| s.goodwill[back]).collect();
        let close = row(&mut sheet, &balance(back), &v::GOODWILL, Period::End(year), amounts);
        sheet.sum_rows(close, &[(1, open), (1, added), (1, moved)]);
        open = close;
    }
    sheet.sum_columns(start..open + 1);
    titled(sheet, report, dice, "changes in the carrying amount of goodwill by segment")
}
