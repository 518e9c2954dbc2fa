//! The greatest rate of f32 matrix products that this machine shows: square ones, all threads, the
//! best of many runs. What the share of the peak of other programs is measured by. Prints one line
//! of JSON.

use anyhow::Result;
use clap::Args;
use gemm::Parallelism;
use serde_json::json;
use tabsegnet_benches::{Times, rng, uniform};

#[derive(Args)]
pub struct Options {
    /// Threads.
    #[arg(default_value_t = 2)]
    threads: usize,
}

pub fn run(options: &Options) -> Result<()> {
    let threads = options.threads;
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let mut rng = rng(0);
    let mut best = (0.0, 0);
    for n in [512, 1024, 2048] {
        let (a, b) = (uniform(n * n, &mut rng), uniform(n * n, &mut rng));
        let mut y = vec![0.0; n * n];
        let stride = n as isize;
        let times = Times::of_sure(2, 20, || {
            // SAFETY: the three matrices are [n, n], row-major and apart; `y` is only written.
            #[allow(unsafe_code)]
            unsafe {
                gemm::gemm(
                    n,
                    n,
                    n,
                    y.as_mut_ptr(),
                    1,
                    stride,
                    false,
                    a.as_ptr(),
                    1,
                    stride,
                    b.as_ptr(),
                    1,
                    stride,
                    0.0,
                    1.0,
                    false,
                    false,
                    false,
                    Parallelism::Rayon(threads),
                );
            }
        });
        let rate = 2.0 * (n as f64).powi(3) / times.min() / 1e6;
        if rate > best.0 {
            best = (rate, n);
        }
    }
    println!("{}", json!({ "gflop_per_s": best.0, "size": best.1, "threads": threads }));
    Ok(())
}
