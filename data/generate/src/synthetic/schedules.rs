//! Tables from the notes: share awards, reserves, pensions, taxes, fair values.

use super::amounts::Measure;
use super::books::Years;
use super::dice::Dice;
use super::names::{self, Scope};
use super::period::Period;
use super::report::{Report, YearSheet, titled};
use super::sheet::{Built, Fact, Sheet, span};
use super::vocabulary::{self as v, Concept};

/// A year's movements of one kind of share awards, in number and value.
pub(super) fn awards(report: &Report, dice: &mut Dice, kind: usize) -> Built {
    let (name, ask) = names::AWARDS[kind];
    let columns =
        [("Number of units", "by number"), ("Weighted-average grant-date fair value", "by average value at grant")];
    let header = vec![std::iter::once("").chain(columns.map(|column| column.0)).map(Into::into).collect()];
    let mut sheet = Sheet::new(header, 1);
    let scopes = columns.map(|(column, counted)| {
        Scope::part(format!("{name}/{column}"), [format!("of {name} , {counted}"), format!("{ask} , {counted}")])
    });
    let open = dice.range(400, 6_000);
    let (granted, vested) = (dice.share(open, 200, 600), dice.share(open, 150, 400));
    let forfeited = dice.share(open, 20, 120);
    let price = dice.range(1_500, 12_000);
    let mut parts = Vec::new();
    for (concept, count) in [
        (&v::AWARDS_OPEN, open),
        (&v::AWARDS_GRANTED, granted),
        (&v::AWARDS_VESTED, -vested),
        (&v::AWARDS_FORFEITED, -forfeited),
        (&v::AWARDS_CLOSE, open + granted - vested - forfeited),
    ] {
        let [number, value] = scopes.clone();
        let period = Period::Year(report.year);
        let facts = vec![
            Fact::new(concept, number, period, Measure::Count, count),
            Fact::new(concept, value, period, Measure::PerShare, price + dice.range(-400, 400)),
        ];
        parts.push((1, sheet.row(vec![report.label(concept).into()], facts, true)));
    }
    if let Some((_, close)) = parts.pop() {
        sheet.sum_rows_in(1, close, &parts);
    }
    titled(sheet, report, dice, &format!("activity of our {name} in fiscal {}", report.year))
}

/// How a reserve moved over the years. All reserves have the same rows.
pub(super) fn reserve(report: &Report, dice: &mut Dice, kind: usize) -> Built {
    let (name, ask) = names::RESERVES[kind];
    let scope = Scope::named("in the", (name, ask));
    let mut sheet = YearSheet::new(report, dice, 3, false);
    let mut open = dice.share(report.books.of(&v::NET_REVENUE)[2], 8, 25);
    let mut amounts = [[0; 3]; 4];
    for year in (0..3).rev() {
        let (added, used) = (dice.share(open, 200, 600), -dice.share(open, 150, 500));
        for (row, amount) in amounts.iter_mut().zip([open, added, used, open + added + used]) {
            row[year] = amount;
        }
        open += added + used;
    }
    let mut rows = Vec::new();
    let concepts: [&'static Concept; 4] = [&v::ROLL_OPEN, &v::ROLL_ADDED, &v::ROLL_USED, &v::ROLL_CLOSE];
    for (concept, amounts) in concepts.into_iter().zip(amounts) {
        let mut facts = sheet.columns.facts(report, concept, &scope, Measure::Money, amounts);
        for (fact, &back) in facts.iter_mut().zip(&sheet.columns.back) {
            let year = report.year_ago(back);
            if std::ptr::eq(concept, &v::ROLL_CLOSE) {
                *fact = Fact::new(concept, scope.clone(), Period::End(year), Measure::Money, amounts[back]);
            } else if std::ptr::eq(concept, &v::ROLL_OPEN) {
                *fact = fact.clone().same_as(&v::ROLL_CLOSE, Period::End(year - 1));
            }
        }
        rows.push(sheet.sheet.row(vec![report.label(concept).into()], facts, false));
    }
    if let Some(close) = rows.pop() {
        sheet.sum(close, &rows);
    }
    sheet.build(dice, &format!("changes in the {}", name.to_lowercase()))
}

/// What a group of pension plans cost.
pub(super) fn pension(report: &Report, dice: &mut Dice, plan: usize) -> Built {
    let scope = Scope::named("for the", names::PENSIONS[plan]);
    let mut sheet = YearSheet::new(report, dice, 3, false);
    let revenue = report.books.of(&v::NET_REVENUE);
    let mut total: Years = [0; 3];
    let mut rows = Vec::new();
    for (concept, low, high) in [
        (&v::PENSION_SERVICE, 6, 14),
        (&v::PENSION_INTEREST, 5, 12),
        (&v::PENSION_RETURN, -10, -5),
        (&v::PENSION_LOSS, 2, 6),
    ] {
        let amounts = revenue.map(|revenue| dice.share(revenue, low, high));
        for (sum, amount) in total.iter_mut().zip(amounts) {
            *sum += amount;
        }
        rows.push(sheet.row(concept, &scope, Measure::Money, amounts));
    }
    let cost = sheet.row(&v::PENSION_COST, &scope, Measure::Money, total);
    sheet.sum(cost, &rows);
    sheet.build(dice, &format!("the components of pension cost for our {}", names::PENSIONS[plan].0))
}

/// From the statutory to the effective tax rate.
pub(super) fn tax_rates(report: &Report, dice: &mut Dice) -> Built {
    let mut sheet = YearSheet::without_unit(report, dice, 3, false);
    let (tax, pretax) = (report.books.of(&v::TAX), report.books.of(&v::PRETAX));
    let mut rates = [[0; 3]; 6];
    for year in 0..3 {
        let effective = tax[year] * 1000 / pretax[year].max(1);
        let statutory = if report.year_ago(year) >= 2018 { 210 } else { 350 };
        let (state, foreign, credits) = (dice.range(8, 35), dice.range(-60, -10), dice.range(-25, -4));
        let other = effective - statutory - state - foreign - credits;
        for (row, rate) in rates.iter_mut().zip([statutory, state, foreign, credits, other, effective]) {
            row[year] = rate;
        }
    }
    let concepts: [&'static Concept; 6] =
        [&v::STATUTORY_RATE, &v::STATE_RATE, &v::FOREIGN_RATE, &v::CREDIT_RATE, &v::OTHER_RATE, &v::EFFECTIVE_RATE];
    let mut rows: Vec<usize> = Vec::new();
    for (concept, rates) in concepts.into_iter().zip(rates) {
        rows.push(sheet.row(concept, &Scope::company(), Measure::Rate, rates));
    }
    if let Some(effective) = rows.pop() {
        sheet.sum(effective, &rows);
    }
    sheet.build(dice, "the reconciliation of our income tax rate")
}

/// A figure by named lines with its total.
fn by_line(
    mut sheet: YearSheet<'_>,
    dice: &mut Dice,
    concept: &'static Concept,
    lines: &[(&str, &str)],
    amounts: &[Years],
    measure: Measure,
    title: &str,
) -> Built {
    let mut rows = Vec::new();
    for (&line, &amounts) in lines.iter().zip(amounts) {
        rows.push(sheet.labelled(line.0, concept, &Scope::named("in", line), measure, amounts));
    }
    let total = sheet.labelled("Total", concept, &Scope::company(), measure, sheet.report.books.of(concept));
    sheet.sum(total, &rows);
    sheet.build(dice, title)
}

/// Share-based compensation by the cost line that bears it: the income statement's row headers.
pub(super) fn awards_cost(report: &Report, dice: &mut Dice) -> Built {
    let sheet = YearSheet::new(report, dice, 3, false);
    let title = format!("{} by income statement line", report.label(&v::SHARE_COMPENSATION).to_lowercase());
    by_line(sheet, dice, &v::SHARE_COMPENSATION, names::COST_LINES, &report.books.awards_cost, Measure::Money, &title)
}

/// Employees by what they do.
pub(super) fn staff(report: &Report, dice: &mut Dice) -> Built {
    let sheet = YearSheet::without_unit(report, dice, 3, true);
    let title = format!("{} by function", report.label(&v::HEADCOUNT).to_lowercase());
    by_line(sheet, dice, &v::HEADCOUNT, names::FUNCTIONS, &report.books.function_staff, Measure::Count, &title)
}

/// Financial assets by level of the fair value hierarchy, two years, grouped rows.
pub(super) fn fair_values(report: &Report, dice: &mut Dice) -> Built {
    let levels = [("Level 1", "at quoted prices"), ("Level 2", "from observable inputs other than quoted prices")];
    let years = [report.year, report.year - 1];
    let header = vec![
        std::iter::once(span("", 2, 2))
            .chain(years.map(|y| span(&format!("{} , {y}", report.year_end), 1, 2)))
            .collect(),
        [levels, levels].concat().into_iter().map(|level| level.0.into()).collect(),
    ];
    let mut sheet = Sheet::new(header, 2);
    let groups: [(&str, &str, &Concept, &[&'static Concept]); 2] = [
        ("Cash equivalents", "held for less than three months", &v::CASH, &[&v::MONEY_FUNDS, &v::COMMERCIAL_PAPER]),
        (
            "Short-term investments",
            "placed for over three months",
            &v::SHORT_INVESTMENTS,
            &[&v::COMMERCIAL_PAPER, &v::CORPORATE_BONDS, &v::TREASURIES],
        ),
    ];
    let mut rows = Vec::new();
    let mut totals = [0; 4];
    for (group, group_ask, source, concepts) in groups {
        let held = report.books.of(source);
        let held = if rows.is_empty() { held.map(|cash| cash * 6 / 10) } else { held };
        let split = [dice.split(held[0], 2 * concepts.len()), dice.split(held[1], 2 * concepts.len())];
        for (line, &concept) in concepts.iter().enumerate() {
            let mut facts = Vec::new();
            for col in 0..4 {
                let (year, (level, level_ask)) = (col / 2, levels[col % 2]);
                let amount = split[year][2 * line + col % 2];
                totals[col] += amount;
                let wordings = [
                    format!("among {} and valued at {level}", group.to_lowercase()),
                    format!("{group_ask} and valued {level_ask}"),
                    format!("{group_ask} and valued at {level}"),
                ];
                let scope = Scope::part(format!("{group}/{level}"), wordings);
                facts.push(Fact::new(concept, scope, Period::End(years[year]), Measure::Money, amount));
            }
            let label = report.label(concept).into();
            let heads = if line == 0 { vec![span(group, concepts.len(), 1), label] } else { vec![label] };
            rows.push((1, sheet.row(heads, facts, false)));
        }
    }
    let facts = (0..4).map(|col| {
        let (level, ask) = levels[col % 2];
        let scope = Scope::part(level, [format!("valued at {level}"), format!("valued {ask}")]);
        Fact::new(&v::HELD_AT_FAIR_VALUE, scope, Period::End(years[col / 2]), Measure::Money, totals[col])
    });
    let facts = facts.collect();
    let total = sheet.row(vec![span(report.label(&v::HELD_AT_FAIR_VALUE), 1, 2)], facts, false);
    sheet.sum_rows(total, &rows);
    titled(sheet, report, dice, "financial assets measured at fair value on a recurring basis")
}
