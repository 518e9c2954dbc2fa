//! Which tables a report has.

use super::dice::Dice;
use super::names;
use super::report::Report;
use super::sheet::Built;
use super::{payments, schedules, segments, statements};

/// A kind of table. Numbers say which segment, year back, reserve, award or plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Income,
    Assets,
    Liabilities,
    CashFlows,
    Overview,
    Segment(usize),
    RegionRevenue,
    RegionAssets,
    RegionStaff,
    Quarters(usize),
    Goodwill,
    Debt,
    Leases,
    Awards(usize),
    AwardsCost,
    Reserve(usize),
    Pension(usize),
    TaxRates,
    Staff,
    FairValues,
}

/// Tables whose rows look the same, so that a question on one of them has a close wrong answer.
fn twins(report: &Report, dice: &mut Dice) -> [Kind; 2] {
    let mut reserves: Vec<usize> = (0..names::RESERVES.len()).collect();
    dice.shuffle(&mut reserves);
    // Every company has at least two segments.
    let segment = dice.below(report.segments.len() - 1);
    *dice.pick(&[
        [Kind::Segment(segment), Kind::Segment(segment + 1)],
        [Kind::Segment(segment + 1), Kind::Income],
        [Kind::RegionRevenue, Kind::RegionStaff],
        [Kind::RegionAssets, Kind::RegionRevenue],
        [Kind::Quarters(0), Kind::Quarters(1)],
        [Kind::Debt, Kind::Leases],
        [Kind::Awards(0), Kind::Awards(1)],
        [Kind::AwardsCost, Kind::Income],
        [Kind::Reserve(reserves[0]), Kind::Reserve(reserves[1])],
        [Kind::Pension(0), Kind::Pension(1)],
    ])
}

/// The other tables a report may have; some stand twice to come up more often.
#[rustfmt::skip]
const SINGLES: &[Kind] = &[
    Kind::Income, Kind::Income, Kind::Assets, Kind::Assets, Kind::Liabilities, Kind::Liabilities,
    Kind::CashFlows, Kind::CashFlows, Kind::Overview, Kind::RegionRevenue, Kind::RegionAssets,
    Kind::RegionStaff, Kind::Goodwill, Kind::Debt, Kind::Leases, Kind::AwardsCost, Kind::Reserve(0),
    Kind::TaxRates, Kind::Staff, Kind::FairValues,
];

fn build(kind: Kind, report: &Report, dice: &mut Dice) -> Built {
    match kind {
        Kind::Income => statements::income(report, dice),
        Kind::Assets => statements::assets(report, dice),
        Kind::Liabilities => statements::liabilities(report, dice),
        Kind::CashFlows => statements::cash_flows(report, dice),
        Kind::Overview => segments::overview(report, dice),
        Kind::Segment(segment) => segments::results(report, dice, segment),
        Kind::RegionRevenue => segments::region_revenue(report, dice),
        Kind::RegionAssets => segments::region_assets(report, dice),
        Kind::RegionStaff => segments::region_staff(report, dice),
        Kind::Quarters(back) => segments::quarters(report, dice, back),
        Kind::Goodwill => segments::goodwill(report, dice),
        Kind::Debt => payments::debt(report, dice),
        Kind::Leases => payments::leases(report, dice),
        Kind::Awards(kind) => schedules::awards(report, dice, kind),
        Kind::AwardsCost => schedules::awards_cost(report, dice),
        Kind::Reserve(kind) => schedules::reserve(report, dice, kind),
        Kind::Pension(plan) => schedules::pension(report, dice, plan),
        Kind::TaxRates => schedules::tax_rates(report, dice),
        Kind::Staff => schedules::staff(report, dice),
        Kind::FairValues => schedules::fair_values(report, dice),
    }
}

/// Fewest and most nodes that the tables of a report have together, captions included.
pub(super) const TABLE_NODES: [usize; 2] = [90, 222];

/// Three to five tables, numbered in reading order, with nodes within [`TABLE_NODES`].
pub(super) fn draw(report: &Report, dice: &mut Dice) -> Vec<Built> {
    let wanted = 3 + dice.below(3);
    let mut kinds = SINGLES.to_vec();
    dice.shuffle(&mut kinds);
    if dice.chance(85) {
        kinds.splice(0..0, twins(report, dice));
    }
    let mut kept: Vec<Kind> = Vec::new();
    let mut tables: Vec<Built> = Vec::new();
    let mut nodes = 0;
    for kind in kinds {
        if kept.len() == 5 || (kept.len() >= wanted && nodes >= TABLE_NODES[0]) {
            break;
        }
        if kept.iter().any(|&other| other == kind || clash(kind, other)) {
            continue;
        }
        // Three tables must fit, so the first two leave room for a third.
        let room = TABLE_NODES[1] - 30 * 2_usize.saturating_sub(kept.len());
        let built = build(kind, report, dice);
        // The last table must bring what is missing.
        let enough = kept.len() < 4 || nodes + count(&built) >= TABLE_NODES[0];
        if enough && nodes + count(&built) <= room {
            nodes += count(&built);
            kept.push(kind);
            tables.push(built);
        }
    }
    dice.shuffle(&mut tables);
    tables.into_iter().enumerate().map(|(number, built)| built.numbered(number)).collect()
}

/// Whether two kinds state the same in amounts that differ: what falls due within a year stands in
/// the balance sheet without issue costs.
fn clash(one: Kind, other: Kind) -> bool {
    matches!((one, other), (Kind::Debt, Kind::Liabilities) | (Kind::Liabilities, Kind::Debt))
}

/// Nodes of a table: its cells and its caption.
pub(super) fn count(built: &Built) -> usize {
    built.table.cells().len() + 1
}
