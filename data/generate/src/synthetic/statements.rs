//! The three financial statements.

use super::amounts::Measure;
use super::dice::Dice;
use super::names::Scope;
use super::report::{Report, YearSheet};
use super::sheet::Built;
use super::vocabulary as v;

/// Net revenue down to net earnings.
pub(super) fn income(report: &Report, dice: &mut Dice) -> Built {
    let mut sheet = YearSheet::new(report, dice, 3, false);
    let revenue = sheet.line(&v::NET_REVENUE);
    let cost = sheet.line(&v::COST_OF_REVENUE);
    let gross = sheet.line(&v::GROSS_PROFIT);
    sheet.sheet.sum_rows(gross, &[(1, revenue), (-1, cost)]);
    if dice.chance(50) {
        sheet.sheet.heading("Operating expenses :");
    }
    let research = sheet.line(&v::RESEARCH);
    let overhead = sheet.line(&v::OVERHEAD);
    let amortization = sheet.line(&v::AMORTIZATION);
    let operating = sheet.line(&v::OPERATING_INCOME);
    sheet.sheet.sum_rows(operating, &[(1, gross), (-1, research), (-1, overhead), (-1, amortization)]);
    let interest = sheet.line(&v::INTEREST);
    let other = sheet.line(&v::OTHER_INCOME);
    let pretax = sheet.line(&v::PRETAX);
    sheet.sheet.sum_rows(pretax, &[(1, operating), (-1, interest), (1, other)]);
    let tax = sheet.line(&v::TAX);
    let net = sheet.line(&v::NET_EARNINGS);
    sheet.sheet.sum_rows(net, &[(1, pretax), (-1, tax)]);
    if dice.chance(60) {
        sheet.row(&v::EPS, &Scope::company(), Measure::PerShare, report.books.of(&v::EPS));
    }
    let title = *dice.pick(&["our consolidated results of operations", "the consolidated statements of income"]);
    sheet.build(dice, title)
}

/// Assets.
pub(super) fn assets(report: &Report, dice: &mut Dice) -> Built {
    let mut sheet = YearSheet::new(report, dice, 2, true);
    if dice.chance(50) {
        sheet.sheet.heading("Current assets :");
    }
    let current = [&v::CASH, &v::SHORT_INVESTMENTS, &v::RECEIVABLES, &v::INVENTORIES, &v::OTHER_CURRENT_ASSETS]
        .map(|concept| sheet.line(concept));
    let total_current = sheet.line(&v::CURRENT_ASSETS);
    sheet.sum(total_current, &current);
    let rest = [&v::PPE, &v::GOODWILL, &v::INTANGIBLES, &v::OTHER_ASSETS].map(|concept| sheet.line(concept));
    let total = sheet.line(&v::TOTAL_ASSETS);
    sheet.sum(total, &[&[total_current], &rest[..]].concat());
    let title = *dice
        .pick(&["the assets shown in our consolidated balance sheets", "our consolidated financial position , assets"]);
    sheet.build(dice, title)
}

/// Liabilities and equity.
pub(super) fn liabilities(report: &Report, dice: &mut Dice) -> Built {
    let mut sheet = YearSheet::new(report, dice, 2, true);
    if dice.chance(50) {
        sheet.sheet.heading("Current liabilities :");
    }
    let current = [&v::PAYABLES, &v::ACCRUED_PAY, &v::DEFERRED_CURRENT, &v::DEBT_CURRENT, &v::OTHER_CURRENT]
        .map(|concept| sheet.line(concept));
    let total_current = sheet.line(&v::CURRENT_LIABILITIES);
    sheet.sum(total_current, &current);
    let rest = [&v::DEBT_LONG, &v::DEFERRED_LONG, &v::OTHER_LONG].map(|concept| sheet.line(concept));
    let total = sheet.line(&v::LIABILITIES);
    sheet.sum(total, &[&[total_current], &rest[..]].concat());
    sheet.line(&v::EQUITY);
    let title = *dice.pick(&[
        "the liabilities and equity in our consolidated balance sheets",
        "our consolidated financial position , liabilities and equity",
    ]);
    sheet.build(dice, title)
}

/// Cash flows of the three kinds of activity.
pub(super) fn cash_flows(report: &Report, dice: &mut Dice) -> Built {
    let mut sheet = YearSheet::new(report, dice, 3, false);
    let headings = dice.chance(50);
    let mut totals = Vec::new();
    for (heading, parts, total) in [
        (
            "Operating activities :",
            &[&v::NET_EARNINGS, &v::DEPRECIATION, &v::SHARE_COMPENSATION, &v::WORKING_CAPITAL][..],
            &v::OPERATING_CASH,
        ),
        ("Investing activities :", &[&v::CAPEX, &v::ACQUISITIONS][..], &v::INVESTING_CASH),
        ("Financing activities :", &[&v::BORROWED, &v::REPAID, &v::BUYBACKS, &v::DIVIDENDS][..], &v::FINANCING_CASH),
    ] {
        if headings {
            sheet.sheet.heading(heading);
        }
        let parts: Vec<usize> = parts.iter().map(|concept| sheet.line(concept)).collect();
        let total = sheet.line(total);
        sheet.sum(total, &parts);
        totals.push(total);
    }
    let change = sheet.line(&v::CASH_CHANGE);
    sheet.sum(change, &totals);
    let title = *dice.pick(&["our consolidated cash flows", "sources and uses of funds"]);
    sheet.build(dice, title)
}
