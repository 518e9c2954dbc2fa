//! Threads that each answer a question alone.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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
            // A thread of another pool that waits takes on other work of that pool, which waits in turn: the stack would
            // grow with the number of questions. One that is no pool's only waits.
            Some(pool) if rayon::current_thread_index().is_some() => thread::scope(|scope| {
                let waiting = scope.spawn(|| pool.install(work));
                waiting.join().unwrap_or_else(|panic| resume_unwind(panic))
            }),
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

    /// Work within work, as many deep as there were questions.
    #[test]
    fn the_stack_does_not_grow_with_the_work() {
        let threads = Threads::new().unwrap();
        let deep = AtomicUsize::new(0);
        thread_local!(static DEPTH: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });
        (0..2000_usize).into_par_iter().for_each(|_| {
            let depth = DEPTH.get() + 1;
            DEPTH.set(depth);
            deep.fetch_max(depth, Ordering::Relaxed);
            threads.run(|| thread::sleep(std::time::Duration::from_micros(50)));
            DEPTH.set(depth - 1);
        });
        assert_eq!(deep.into_inner(), 1);
    }
}
