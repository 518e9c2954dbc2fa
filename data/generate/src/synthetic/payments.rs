//! Payments that fall due by year. Debt and leases have the same row headers.

use super::amounts::Measure;
use super::dice::{Dice, split_by};
use super::names::{self, Scope};
use super::period::Period;
use super::report::{Report, titled};
use super::sheet::{Built, Fact, Sheet};
use super::vocabulary::{self as v, Concept};

/// Payments by year for some columns, with a column of totals where there are several.
fn due_table(
    report: &Report,
    dice: &mut Dice,
    concept: &'static Concept,
    columns: &[(&str, &str)],
    totals: &[i64],
    title: &str,
) -> Built {
    let single = columns.len() < 2;
    let mut names: Vec<&str> = columns.iter().map(|column| column.0).collect();
    let mut scopes: Vec<Scope> = columns.iter().map(|&column| Scope::named("for the", column)).collect();
    if single {
        (names, scopes) = (vec!["Amount"], vec![]);
    } else {
        names.push("Total");
    }
    scopes.push(Scope::company());
    let corner = format!("Years ending {} ,", report.year_end);
    let header = std::iter::once(corner.as_str()).chain(names).map(Into::into).collect();
    let mut sheet = Sheet::new(vec![header], 1);

    let years = 3 + dice.below(3);
    let mut periods: Vec<Period> = (1..=years as i32).map(|ahead| Period::Due(report.year + ahead)).collect();
    periods.push(Period::After(report.year + years as i32));
    let split: Vec<Vec<i64>> = totals.iter().map(|&total| dice.split(total, periods.len())).collect();
    let row = |sheet: &mut Sheet, label: &str, period: Period, amounts: Vec<i64>| {
        let total: i64 = amounts.iter().sum();
        let amounts = if single { amounts } else { [amounts, vec![total]].concat() };
        let facts = scopes
            .iter()
            .zip(amounts)
            .map(|(scope, amount)| Fact::new(concept, scope.clone(), period, Measure::Money, amount));
        sheet.row(vec![label.into()], facts.collect(), false)
    };
    let mut parts = Vec::new();
    for (line, &period) in periods.iter().enumerate() {
        let label = match period {
            Period::Due(year) => year.to_string(),
            _ => "Thereafter".into(),
        };
        let amounts = split.iter().map(|column| column[line]).collect();
        parts.push((1, row(&mut sheet, &label, period, amounts)));
    }
    let total = row(&mut sheet, "Total", Period::AllDue, totals.to_vec());
    sheet.sum_rows(total, &parts);
    if !single {
        sheet.sum_columns(parts[0].1..total + 1);
    }
    titled(sheet, report, dice, title)
}

/// Principal of debt by year, in one column or by instrument.
pub(super) fn debt(report: &Report, dice: &mut Dice) -> Built {
    // Principal is a little more than the carrying amount: issue costs are taken off the latter.
    let owed = report.books.of(&v::DEBT_LONG)[0] + report.books.of(&v::DEBT_CURRENT)[0];
    let owed = owed + owed * dice.range(8, 20) / 1000 + 1;
    let columns = if dice.chance(40) { &names::LOANS[..1] } else { names::LOANS };
    let totals = dice.split(owed, columns.len());
    let title = format!("{} of our borrowings", report.label(&v::DEBT_DUE).to_lowercase());
    due_table(report, dice, &v::DEBT_DUE, columns, &totals, &title)
}

/// Lease payments by year, in one column or by kind of lease.
pub(super) fn leases(report: &Report, dice: &mut Dice) -> Built {
    let owed = dice.share(report.books.of(&v::NET_REVENUE)[0], 40, 120);
    let columns = if dice.chance(40) { &names::LEASES[..1] } else { names::LEASES };
    let totals = split_by(owed, &[80, 20][..columns.len()]);
    let title = format!("{} under non-cancelable leases", report.label(&v::LEASE_DUE).to_lowercase());
    due_table(report, dice, &v::LEASE_DUE, columns, &totals, &title)
}
