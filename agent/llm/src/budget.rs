//! What may be spent, and what was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::BudgetError;

/// Tokens of one or several calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Read by the model.
    pub prompt: u64,
    /// Written by it.
    pub completion: u64,
    /// Whether some of it is an estimate, because the server did not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl Tokens {
    /// Read and written.
    pub fn total(&self) -> u64 {
        self.prompt.saturating_add(self.completion)
    }
}

impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.estimated = self.estimated || other.estimated;
    }
}

/// About how many tokens a text has, rather more than fewer: one for every three bytes begun.
pub fn estimated_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(3)
}

/// The most that may be spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Attempts, failed ones and repair turns too.
    pub calls: u32,
    /// Tokens read and written together.
    pub tokens: u64,
    /// Seconds from the beginning.
    pub seconds: f64,
    /// In the currency of the prices; absent: not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { calls: 16, tokens: 100_000, seconds: 300.0, cost: None }
    }
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Attempts.
    pub calls: u32,
    /// Tokens.
    pub tokens: Tokens,
    /// By the prices; `None` where they are not known.
    pub cost: Option<f64>,
}

impl Spent {
    /// What was spent after `before`, an earlier state of the same.
    pub fn since(&self, before: &Self) -> Self {
        let tokens = Tokens {
            prompt: self.tokens.prompt.saturating_sub(before.tokens.prompt),
            completion: self.tokens.completion.saturating_sub(before.tokens.completion),
            estimated: self.tokens.estimated,
        };
        let cost = self.cost.map(|cost| cost - before.cost.unwrap_or(0.0));
        Self { calls: self.calls.saturating_sub(before.calls), tokens, cost }
    }
}

/// What a whole run has taken so far; shared by all that spend in it, from any thread.
#[derive(Debug, Default)]
pub struct RunCost(Mutex<OfRun>);

#[derive(Debug, Default)]
struct OfRun {
    cost: Option<f64>,
    /// What calls that are on their way may cost.
    promised: f64,
    tokens: Tokens,
}

impl RunCost {
    fn lock(&self) -> MutexGuard<'_, OfRun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it has cost by the prices; `None` where no price is known.
    pub fn spent(&self) -> Option<f64> {
        self.lock().cost
    }

    /// The tokens of what was taken.
    pub fn tokens(&self) -> Tokens {
        self.lock().tokens
    }
}

/// What may still be spent on something, such as a question. Its cost is a limit of the whole run that it belongs to.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    started: Instant,
    spent: Spent,
    run: Arc<RunCost>,
    /// What of the run's cost is kept for the call that is on its way.
    promised: f64,
}

impl Budget {
    /// Nothing spent, of a run of its own; time runs from now.
    pub fn new(limits: Limits) -> Self {
        Self::of_run(limits, &Arc::default())
    }

    /// Nothing spent on this, in a run that others spend in too.
    pub fn of_run(limits: Limits, run: &Arc<RunCost>) -> Self {
        Self { limits, started: Instant::now(), spent: Spent::default(), run: Arc::clone(run), promised: 0.0 }
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Time left; none once it is over.
    pub fn time_left(&self) -> Duration {
        let seconds = self.limits.seconds;
        let all = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
        all.saturating_sub(self.started.elapsed())
    }

    /// Whether a call that may take so many tokens and cost so much can be made; its cost is kept for it until it is booked.
    ///
    /// # Errors
    /// What would be overspent.
    pub(crate) fn check(&mut self, tokens: u64, cost: Option<f64>) -> Result<(), BudgetError> {
        if self.spent.calls >= self.limits.calls {
            return Err(BudgetError::Calls { limit: self.limits.calls });
        }
        let spent = self.spent.tokens.total();
        if spent.saturating_add(tokens) > self.limits.tokens {
            return Err(BudgetError::Tokens { limit: self.limits.tokens, spent, wanted: tokens });
        }
        if self.time_left().is_zero() {
            return Err(BudgetError::Time { seconds: self.limits.seconds });
        }
        if let (Some(limit), Some(cost)) = (self.limits.cost, cost) {
            self.release();
            let mut run = self.run.lock();
            let spent = run.cost.unwrap_or(0.0) + run.promised;
            if spent + cost > limit {
                return Err(BudgetError::Cost { limit, spent, wanted: cost });
            }
            run.promised += cost;
            self.promised = cost;
        }
        Ok(())
    }

    fn release(&mut self) {
        let mut run = self.run.lock();
        run.promised = (run.promised - std::mem::take(&mut self.promised)).max(0.0);
    }

    /// Books an attempt before it is made.
    pub(crate) fn begin_call(&mut self) {
        self.spent.calls = self.spent.calls.saturating_add(1);
    }

    /// Books what an attempt took.
    pub(crate) fn book(&mut self, tokens: Tokens, cost: Option<f64>) {
        self.release();
        let mut run = self.run.lock();
        self.spent.tokens += tokens;
        run.tokens += tokens;
        if let Some(cost) = cost {
            self.spent.cost = Some(self.spent.cost.unwrap_or(0.0) + cost);
            run.cost = Some(run.cost.unwrap_or(0.0) + cost);
        }
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Budget, Limits, Tokens, estimated_tokens};
    use crate::error::BudgetError;

    #[test]
    fn what_a_run_may_cost_holds_for_calls_on_their_way_too() {
        let run = Arc::default();
        let limits = Limits { cost: Some(1.0), ..Limits::default() };
        let [mut one, mut two] = [&run, &run].map(|run| Budget::of_run(limits.clone(), run));
        assert_eq!(one.check(1, Some(0.6)), Ok(()));
        assert_eq!(two.check(1, Some(0.6)), Err(BudgetError::Cost { limit: 1.0, spent: 0.6, wanted: 0.6 }));
        one.book(Tokens { prompt: 1, completion: 2, estimated: false }, Some(0.25));
        assert_eq!(two.check(1, Some(0.6)), Ok(()));
        drop(two);
        assert_eq!(one.check(1, Some(0.75)), Ok(()));
        assert_eq!((run.spent(), run.tokens().total()), (Some(0.25), 3));
    }

    #[test]
    fn every_limit_holds() {
        let limits = Limits { calls: 2, tokens: 100, seconds: 60.0, cost: Some(1.0) };
        let mut budget = Budget::new(limits.clone());
        assert_eq!(budget.check(100, Some(1.0)), Ok(()));
        assert_eq!(budget.check(101, None), Err(BudgetError::Tokens { limit: 100, spent: 0, wanted: 101 }));
        assert_eq!(budget.check(1, Some(1.5)), Err(BudgetError::Cost { limit: 1.0, spent: 0.0, wanted: 1.5 }));
        budget.begin_call();
        budget.book(Tokens { prompt: 60, completion: 20, estimated: false }, Some(0.75));
        assert_eq!(budget.check(21, None), Err(BudgetError::Tokens { limit: 100, spent: 80, wanted: 21 }));
        assert_eq!(budget.check(20, Some(0.5)), Err(BudgetError::Cost { limit: 1.0, spent: 0.75, wanted: 0.5 }));
        budget.begin_call();
        assert_eq!(budget.check(1, None), Err(BudgetError::Calls { limit: 2 }));
        let mut late = Budget::new(Limits { seconds: 0.0, ..limits });
        assert_eq!(late.check(1, None), Err(BudgetError::Time { seconds: 0.0 }));
        for seconds in [f64::NAN, -1.0] {
            assert!(Budget::new(Limits { seconds, ..Limits::default() }).time_left().is_zero());
        }
        assert!(!Budget::new(Limits { seconds: f64::INFINITY, ..Limits::default() }).time_left().is_zero());
        assert_eq!((estimated_tokens(""), estimated_tokens("abcd")), (0, 2));
    }
}
