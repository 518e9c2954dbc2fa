//! Threads that share one batch.

use std::marker::PhantomData;

use rayon::prelude::*;

/// Who computes a batch: one thread, or those of rayon's pool together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Team {
    /// The calling thread; the others have batches of their own.
    One,
    /// All threads of the pool that the caller is in.
    All,
}

impl Team {
    /// Calls `work` with every number below `parts`, in any order and on any of the team.
    pub(crate) fn each(self, parts: usize, work: impl Fn(usize) + Send + Sync) {
        match self {
            Self::All if parts > 1 => (0..parts).into_par_iter().for_each(work),
            _ => (0..parts).for_each(work),
        }
    }
}

/// A row-major matrix of which several threads write different parts.
pub(crate) struct SharedRows<'a, T> {
    data: *mut T,
    len: usize,
    stride: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: it is a mutable borrow of plain numbers; `part` says what its callers owe.
#[allow(unsafe_code)]
unsafe impl<T: Send> Sync for SharedRows<'_, T> {}

impl<'a, T> SharedRows<'a, T> {
    pub(crate) fn new(data: &'a mut [T], stride: usize) -> Self {
        Self { data: data.as_mut_ptr(), len: data.len(), stride, borrow: PhantomData }
    }

    /// `len` numbers of a row from `col` on.
    ///
    /// # Safety
    ///
    /// No two parts that are in use at one time overlap.
    #[allow(unsafe_code)]
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub(crate) unsafe fn part(&self, row: usize, col: usize, len: usize) -> &mut [T] {
        let start = row * self.stride + col;
        assert!(start + len <= self.len, "a part reaches over its matrix");
        // SAFETY: inside the borrowed slice, by the line before; the caller keeps parts apart.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(start), len) }
    }
}
