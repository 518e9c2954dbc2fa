//! Dense math on row-major f32 slices.
//!
//! Loops are written so that the compiler turns them into vector instructions; [`pulp`] picks the
//! widest that the processor has. Every row of a result is computed by itself, each number of it
//! in a fixed order: neither the other rows nor the number of threads change a bit.

mod attention;
mod functions;
mod int8;
mod isa;
mod line;
mod linear;
mod rows;
mod team;
mod tile;

use pulp::{Simd, WithSimd};

pub(crate) use attention::attend;
pub(crate) use functions::Activation;
pub(crate) use int8::MOST_DEPTH;
pub(crate) use isa::{Isa, isa};
pub use linear::Precision;
pub(crate) use linear::{Linear, Scratch as LinearScratch};
pub(crate) use rows::{Norm, add_norm, layer_norm, unit_rows};
pub(crate) use team::Team;

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

    isa().arch.dispatch(Call(args, op));
}
