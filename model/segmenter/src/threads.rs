//! Threads that each answer a question alone.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::SegmenterError;

const THREADS: &str = "RAYON_NUM_THREADS";

/// Says in the environment (`RAYON_NUM_THREADS`) how many threads there are, unless it is said there. candle asks before each
/// product, and where the environment does not say it reads /proc/cpuinfo: longer than a T5 of a few million parameters
/// multiplies. A program that uses one calls this first; with a T5 it then takes less than half the time.
///
/// # Safety
/// No other thread runs yet: it could read the environment while it changes.
#[allow(unsafe_code)]
pub unsafe fn say_thread_count() {
    if std::env::var_os(THREADS).is_none()
        && let Ok(count) = thread::available_parallelism()
    {
        // SAFETY: there is no other thread, as the caller sees to.
        unsafe { std::env::set_var(THREADS, count.to_string()) };
    }
}

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
    use std::process::Command;

    use rayon::prelude::*;

    use super::*;

    /// In a process of its own, in which no other test runs.
    #[test]
    fn the_count_of_threads_is_what_the_environment_says_or_else_that_of_processors() {
        const INNER: &str = "TABSEGNET_TEST_THREAD_COUNT";
        if std::env::var_os(INNER).is_some() {
            // SAFETY: the harness's other thread waits for this one.
            #[allow(unsafe_code)]
            unsafe {
                say_thread_count();
            }
            println!("threads: {}", std::env::var(THREADS).unwrap());
            return;
        }
        let said = |count: Option<&str>| {
            let mut program = Command::new(std::env::current_exe().unwrap());
            program.args([
                "--exact",
                "--nocapture",
                "threads::tests::the_count_of_threads_is_what_the_environment_says_or_else_that_of_processors",
            ]);
            program.env_remove(THREADS).env(INNER, "1").envs(count.map(|count| (THREADS, count)));
            String::from_utf8(program.output().unwrap().stdout).unwrap()
        };
        let processors = thread::available_parallelism().unwrap();
        assert!(said(None).contains(&format!("threads: {processors}\n")), "{}", said(None));
        assert!(said(Some("7")).contains("threads: 7\n"), "{}", said(Some("7")));
    }

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
