//! A company's books: amounts that agree with each other wherever they are shown.

use std::collections::BTreeMap;

use super::dice::{Dice, split_by};
use super::vocabulary::{self as v, Concept};

/// Amounts of the report's year and of the two before it, in that order.
pub(super) type Years = [i64; 3];

/// The books of one segment.
#[derive(Debug, Clone, Default)]
pub(super) struct SegmentBooks {
    pub revenue: Years,
    pub cost: Years,
    pub profit: Years,
    pub capex: Years,
    pub goodwill: Years,
    /// What goodwill rose by through acquisitions, the first two years.
    pub goodwill_added: Years,
    /// What goodwill rose by through exchange rates, the first two years.
    pub goodwill_fx: Years,
}

/// The books of a company over three years.
#[derive(Debug)]
pub(super) struct Books {
    whole: BTreeMap<&'static str, Years>,
    pub segments: Vec<SegmentBooks>,
    /// By region, for as many regions as the company has.
    pub region_revenue: Vec<Years>,
    pub region_assets: Vec<Years>,
    pub region_staff: Vec<Years>,
    pub function_staff: Vec<Years>,
    /// Share-based compensation by cost line.
    pub awards_cost: Vec<Years>,
    /// Four quarters of each of the first two years, for net revenue, gross profit, net earnings.
    pub quarters: [[Vec<i64>; 3]; 2],
}

impl Books {
    /// An amount of the whole company; zeros for what the books do not hold.
    pub fn of(&self, concept: &Concept) -> Years {
        self.whole.get(concept.id).copied().unwrap_or_default()
    }

    fn set(&mut self, concept: &Concept, year: usize, amount: i64) -> i64 {
        self.whole.entry(concept.id).or_default()[year] = amount;
        amount
    }

    /// Draws the books. `scale` is the yearly revenue of a small company in the report's unit.
    pub fn draw(dice: &mut Dice, scale: i64, segments: usize, regions: usize) -> Self {
        let mut books = Self {
            whole: BTreeMap::new(),
            segments: draw_segments(dice, scale, segments),
            region_revenue: vec![[0; 3]; regions],
            region_assets: vec![[0; 3]; regions],
            region_staff: vec![[0; 3]; regions],
            function_staff: vec![[0; 3]; 4],
            awards_cost: vec![[0; 3]; 3],
            quarters: Default::default(),
        };
        let region_weights: Vec<i64> = (0..regions).map(|i| dice.range(60, 240 - 30 * i as i64)).collect();
        for year in (0..3).rev() {
            books.draw_income(dice, year);
            books.draw_balance(dice, year);
            books.draw_cash_flow(dice, year);
            books.draw_parts(dice, year, &region_weights);
        }
        books
    }

    fn draw_income(&mut self, dice: &mut Dice, year: usize) {
        let revenue = self.segments.iter().map(|s| s.revenue[year]).sum();
        let cost = self.segments.iter().map(|s| s.cost[year]).sum::<i64>();
        self.set(&v::NET_REVENUE, year, revenue);
        self.set(&v::COST_OF_REVENUE, year, cost);
        let gross = self.set(&v::GROSS_PROFIT, year, revenue - cost);
        let research = dice.share(revenue, 40, 110);
        let research = self.set(&v::RESEARCH, year, research);
        let overhead = dice.share(revenue, 110, 180);
        let overhead = self.set(&v::OVERHEAD, year, overhead);
        let amortization = dice.share(revenue, 8, 25);
        let amortization = self.set(&v::AMORTIZATION, year, amortization);
        let operating = gross - research - overhead - amortization;
        self.set(&v::OPERATING_INCOME, year, operating);
        // Head office costs are in no segment, so the segments earn more than the company.
        let unallocated = dice.share(revenue, 15, 60);
        let weights: Vec<i64> = self.segments.iter().map(|s| s.revenue[year] * dice.range(70, 130) / 100).collect();
        for (segment, profit) in self.segments.iter_mut().zip(split_by(operating + unallocated, &weights)) {
            segment.profit[year] = profit;
        }
        let interest = dice.share(revenue, 8, 20);
        let interest = self.set(&v::INTEREST, year, interest);
        let other = dice.share(revenue, -6, 6);
        let other = self.set(&v::OTHER_INCOME, year, other);
        let pretax = self.set(&v::PRETAX, year, operating - interest + other);
        let tax = dice.share(pretax, 160, 270);
        let tax = self.set(&v::TAX, year, tax);
        let net = self.set(&v::NET_EARNINGS, year, pretax - tax);
        // About the number of shares at which a share earns some dollars.
        let shares = self.of(&v::NET_REVENUE)[2] / 30;
        self.set(&v::EPS, year, net * 100 / shares.max(1));
    }

    fn draw_balance(&mut self, dice: &mut Dice, year: usize) {
        let revenue = self.of(&v::NET_REVENUE)[year];
        let goodwill = self.segments.iter().map(|s| s.goodwill[year]).sum();
        self.set(&v::GOODWILL, year, goodwill);
        for (concept, low, high) in [
            (&v::CASH, 80, 250),
            (&v::SHORT_INVESTMENTS, 30, 150),
            (&v::RECEIVABLES, 90, 200),
            (&v::INVENTORIES, 60, 160),
            (&v::OTHER_CURRENT_ASSETS, 10, 40),
            (&v::PPE, 250, 450),
            (&v::INTANGIBLES, 40, 200),
            (&v::OTHER_ASSETS, 20, 80),
            (&v::PAYABLES, 50, 140),
            (&v::ACCRUED_PAY, 20, 60),
            (&v::DEFERRED_CURRENT, 15, 70),
            (&v::DEBT_CURRENT, 10, 40),
            (&v::OTHER_CURRENT, 10, 50),
            (&v::DEBT_LONG, 80, 220),
            (&v::DEFERRED_LONG, 10, 40),
            (&v::OTHER_LONG, 20, 70),
        ] {
            let amount = dice.share(revenue, low, high);
            self.set(concept, year, amount);
        }
        let total = |concepts: &[&Concept]| concepts.iter().map(|c| self.of(c)[year]).sum::<i64>();
        let current =
            total(&[&v::CASH, &v::SHORT_INVESTMENTS, &v::RECEIVABLES, &v::INVENTORIES, &v::OTHER_CURRENT_ASSETS]);
        let assets = current + total(&[&v::PPE, &v::GOODWILL, &v::INTANGIBLES, &v::OTHER_ASSETS]);
        let owed = total(&[&v::PAYABLES, &v::ACCRUED_PAY, &v::DEFERRED_CURRENT, &v::DEBT_CURRENT, &v::OTHER_CURRENT]);
        let liabilities = owed + total(&[&v::DEBT_LONG, &v::DEFERRED_LONG, &v::OTHER_LONG]);
        self.set(&v::CURRENT_ASSETS, year, current);
        self.set(&v::TOTAL_ASSETS, year, assets);
        self.set(&v::CURRENT_LIABILITIES, year, owed);
        self.set(&v::LIABILITIES, year, liabilities);
        self.set(&v::EQUITY, year, assets - liabilities);
    }

    fn draw_cash_flow(&mut self, dice: &mut Dice, year: usize) {
        let revenue = self.of(&v::NET_REVENUE)[year];
        let mut draw = |concept: &Concept, low, high| {
            let amount = dice.share(revenue, low, high);
            self.set(concept, year, amount)
        };
        let inflow =
            draw(&v::DEPRECIATION, 30, 70) + draw(&v::SHARE_COMPENSATION, 10, 40) + draw(&v::WORKING_CAPITAL, -25, 25);
        let outflow = draw(&v::ACQUISITIONS, -60, -5);
        let owners = draw(&v::BUYBACKS, -60, -10) + draw(&v::DIVIDENDS, -30, -8);
        let (borrowed, repaid) = (draw(&v::BORROWED, 10, 40), draw(&v::REPAID, -40, -10));
        let operating = self.of(&v::NET_EARNINGS)[year] + inflow;
        self.set(&v::OPERATING_CASH, year, operating);
        let capex = -self.segments.iter().map(|s| s.capex[year]).sum::<i64>();
        self.set(&v::CAPEX, year, capex);
        let investing = self.set(&v::INVESTING_CASH, year, capex + outflow);
        // Cash of the year before the earliest is drawn; later years start from the last balance.
        let cash = self.of(&v::CASH);
        let before = cash.get(year + 1).copied().unwrap_or(cash[2] - revenue / 50);
        let change = self.set(&v::CASH_CHANGE, year, cash[year] - before);
        // Loans make up for what is missing, or take what is left.
        let gap = change - (operating + investing + owners + borrowed + repaid);
        self.set(&v::BORROWED, year, borrowed + gap.max(0));
        self.set(&v::REPAID, year, repaid + gap.min(0));
        self.set(&v::FINANCING_CASH, year, change - operating - investing);
    }

    fn draw_parts(&mut self, dice: &mut Dice, year: usize, region_weights: &[i64]) {
        let revenue = self.of(&v::NET_REVENUE)[year];
        let mut spread = |total: i64, weights: &[i64], rows: &mut [Years]| {
            let weights: Vec<i64> = weights.iter().map(|w| w * dice.range(90, 110)).collect();
            for (row, amount) in rows.iter_mut().zip(split_by(total, &weights)) {
                row[year] = amount;
            }
        };
        let staff = 900 + self.of(&v::NET_REVENUE)[2] % 7_919 + (2 - year as i64) * 83;
        spread(revenue, region_weights, &mut self.region_revenue);
        spread(self.whole.get(v::PPE.id).copied().unwrap_or_default()[year], region_weights, &mut self.region_assets);
        spread(staff, region_weights, &mut self.region_staff);
        spread(staff, &[50, 18, 22, 10], &mut self.function_staff);
        let awards = self.whole.get(v::SHARE_COMPENSATION.id).copied().unwrap_or_default()[year];
        spread(awards, &[15, 35, 50], &mut self.awards_cost);
        self.set(&v::HEADCOUNT, year, staff);
        if year < 2 {
            for (row, concept) in [&v::NET_REVENUE, &v::GROSS_PROFIT, &v::NET_EARNINGS].into_iter().enumerate() {
                self.quarters[year][row] = dice.split(self.of(concept)[year], 4);
            }
        }
    }
}

fn draw_segments(dice: &mut Dice, scale: i64, count: usize) -> Vec<SegmentBooks> {
    (0..count)
        .map(|_| {
            let mut books = SegmentBooks::default();
            let mut revenue = dice.range(scale / 4, scale * 2);
            let margin = dice.range(440, 600);
            let mut goodwill = dice.share(revenue, 80, 400);
            for year in (0..3).rev() {
                books.revenue[year] = revenue;
                books.cost[year] = dice.share(revenue, margin, margin + 40);
                books.capex[year] = dice.share(revenue, 25, 80);
                if year < 2 {
                    books.goodwill_added[year] = if dice.chance(75) { dice.share(revenue, 5, 60) } else { 0 };
                    books.goodwill_fx[year] = dice.share(goodwill, -40, 40);
                    goodwill += books.goodwill_added[year] + books.goodwill_fx[year];
                }
                books.goodwill[year] = goodwill;
                revenue += dice.share(revenue, -80, 180);
            }
            books
        })
        .collect()
}
