//! Batches over threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Runs `work` on every batch number below `batches`, on as many threads as rayon has here, each
/// with a scratch of its own; the results in order of the batch numbers.
///
/// Threads take the next batch as they get free, so that which thread does what is a matter of
/// chance: `work` must depend on the batch alone. The calling thread works too and calls
/// `progress` with the sum of `size` over the batches that are done. After an error no further
/// batch is begun; of several errors the one with the lowest batch number is returned.
pub(crate) fn run<S, T: Send, E: Send>(
    batches: usize,
    size: impl Fn(usize) -> usize + Sync,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
    progress: &mut dyn FnMut(usize),
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, Result<T, E>)>> = Mutex::new(Vec::with_capacity(batches));
    let worker = |after_each: &mut dyn FnMut()| {
        let mut scratch = scratch();
        while !failed.load(Ordering::Relaxed) {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if batch >= batches {
                break;
            }
            let result = work(&mut scratch, batch);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            // A poisoned lock means that another worker panicked; its panic is the one to report.
            results.lock().unwrap_or_else(|lock| lock.into_inner()).push((batch, result));
            done.fetch_add(size(batch), Ordering::Relaxed);
            after_each();
        }
    };
    let threads = rayon::current_num_threads().min(batches);
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| worker(&mut || ()));
        }
        worker(&mut || progress(done.load(Ordering::Relaxed)));
    });
    let mut results = results.into_inner().unwrap_or_else(|lock| lock.into_inner());
    results.sort_unstable_by_key(|(batch, _)| *batch);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    fn results_keep_the_order_and_progress_rises() {
        for threads in [1, 2, 5] {
            let mut seen = Vec::new();
            let results = pool(threads)
                .install(|| run(40, |batch| batch, || 0, |_, batch| Ok::<_, ()>(batch * batch), &mut |n| seen.push(n)));
            assert_eq!(results.unwrap(), (0..40).map(|n| n * n).collect::<Vec<_>>());
            assert!(seen.is_sorted() && *seen.last().unwrap_or(&0) <= 780, "{seen:?}");
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let result = pool(2)
            .install(|| run(1000, |_| 1, || (), |_, batch| if batch < 7 { Ok(()) } else { Err(batch) }, &mut |_| ()));
        assert_eq!(result.unwrap_err(), 7);
    }
}
