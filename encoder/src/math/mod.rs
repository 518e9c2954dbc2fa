//! Single-threaded dense math on row-major f32 slices.
//!
//! Loops are written so that the compiler turns them into vector instructions; [`pulp`] picks the
//! widest that the processor has. Nothing here depends on the number of threads.

mod functions;
mod matmul;
mod rows;

use pulp::{Arch, Simd, WithSimd};

pub(crate) use functions::Activation;
pub(crate) use matmul::{View, matmul, transpose};
pub(crate) use rows::{Norm, add_bias, add_bias_activate, add_norm, layer_norm, padded, softmax, unit_rows};

/// Calls `op` with `args`, compiled for the widest vector instructions of this processor.
///
/// `op` must be a closure marked `#[inline(always)]`: what is not inlined here is compiled for the
/// oldest processor. A closure is passed with its arguments, rather than one that captures them,
/// because a closure that is called once and for all goes through a function of its own.
pub(crate) fn vectorised<A>(args: A, op: impl Fn(A)) {
    struct Call<A, F>(A, F);

    impl<A, F: Fn(A)> WithSimd for Call<A, F> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) {
            (self.1)(self.0);
        }
    }

    Arch::new().dispatch(Call(args, op));
}
