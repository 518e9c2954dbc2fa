//! Memory for packed matrices.

use pulp::bytemuck::{Pod, Zeroable};

/// A cache line, so that no vector of a packed matrix lies in two of them.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Line([u8; Self::BYTES]);

impl Line {
    pub(super) const BYTES: usize = 64;
    pub(super) const ZERO: Self = Self([0; Self::BYTES]);
}

// SAFETY: bytes, which may be 0, fill it.
#[allow(unsafe_code)]
unsafe impl Zeroable for Line {}
// SAFETY: as above; any bits are a byte and none is padding.
#[allow(unsafe_code)]
unsafe impl Pod for Line {}
