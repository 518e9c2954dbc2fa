//! Threads that each answer a question alone.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::SegmenterError;

/// As many pools of one thread as there are threads. candle shares each product among all threads of the pool that it
/// is called in; products of one question are so small that this takes several times as long as they do.
pub(crate) struct Threads {
    pools: Vec<ThreadPool>,
    next: AtomicUsize,
}

impl Threads {
    pub(crate) fn new() -> Result<Self, SegmenterError> {
        let pool = |_| ThreadPoolBuilder::new().num_threads(1).build();
        let pools: Result<Vec<ThreadPool>, _> = (0..rayon::current_num_threads()).map(pool).collect();
        let failed = |error| SegmenterError::Engine { reason: format!("a thread cannot be started: {error}") };
        Ok(Self { pools: pools.map_err(failed)?, next: AtomicUsize::new(0) })
    }

    /// Runs it on the next of the threads.
    pub(crate) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.pools.len().max(1);
        match self.pools.get(next) {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn work_has_a_thread_of_its_own_wherever_it_is_called() {
        let threads = Threads::new().unwrap();
        let alone = || threads.run(rayon::current_num_threads);
        assert_eq!(alone(), 1);
        let sums: Vec<usize> = (0..200_usize).into_par_iter().map(|i| threads.run(|| i) + alone()).collect();
        assert_eq!(sums, (1..=200).collect::<Vec<_>>());
    }
}
