//! Sums of 8-bit products, a tile at a time.

use super::GROUP;

/// Most rows of a tile.
pub(super) const ROWS: usize = 6;
/// Most columns of a tile.
pub(super) const MOST_COLS: usize = 64;

/// A kernel that this processor can run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kernel(Set);

/// The instructions of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Set {
    Portable,
    /// Products in 16 bits, sums of pairs in 32.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// `vpdpbusd` on 256 bits.
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    /// `vpdpbusd` on 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

impl Kernel {
    pub(crate) fn portable() -> Self {
        Self(Set::Portable)
    }

    #[cfg(target_arch = "x86_64")]
    pub(crate) fn avx2() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(Set::Avx2))
    }

    /// The fastest.
    pub(crate) fn best() -> Self {
        Self::all().last().copied().unwrap_or(Self::portable())
    }

    /// All that this processor can run, the fastest last.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self::portable()];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(Self::avx2());
            all.extend(is_x86_feature_detected!("avxvnni").then_some(Self(Set::AvxVnni)));
            let vnni = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni");
            all.extend(vnni.then_some(Self(Set::Avx512Vnni)));
        }
        all
    }

    /// Columns of a panel.
    pub(super) fn width(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512Vnni => 64,
            _ => 16,
        }
    }

    /// `sums[r][j] = Σₖ left[r, k] · panel[k, j]` for `rows` rows, at most [`ROWS`], `stride`
    /// apart. The panel is `[depth / 4, width, 4]`.
    pub(super) fn tile(
        self,
        left: &[u8],
        stride: usize,
        rows: usize,
        panel: &[i8],
        sums: &mut [[i32; MOST_COLS]; ROWS],
    ) {
        match self.0 {
            Set::Portable => portable(left, stride, rows, panel, sums),
            // SAFETY, for all three: a kernel is constructed only where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Set::Avx2 => {
                for (at, sums) in sums.chunks_mut(3).enumerate().take(rows.div_ceil(3)) {
                    let left = &left[3 * at * stride..];
                    match rows - 3 * at {
                        1 => unsafe { x86::avx2::<1>(left, stride, panel, sums) },
                        2 => unsafe { x86::avx2::<2>(left, stride, panel, sums) },
                        _ => unsafe { x86::avx2::<3>(left, stride, panel, sums) },
                    }
                }
            }
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Set::AvxVnni => match rows {
                1 => unsafe { x86::avx_vnni::<1>(left, stride, panel, sums) },
                2 => unsafe { x86::avx_vnni::<2>(left, stride, panel, sums) },
                3 => unsafe { x86::avx_vnni::<3>(left, stride, panel, sums) },
                4 => unsafe { x86::avx_vnni::<4>(left, stride, panel, sums) },
                5 => unsafe { x86::avx_vnni::<5>(left, stride, panel, sums) },
                _ => unsafe { x86::avx_vnni::<ROWS>(left, stride, panel, sums) },
            },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            Set::Avx512Vnni => match rows {
                1 => unsafe { x86::avx512_vnni::<1>(left, stride, panel, sums) },
                2 => unsafe { x86::avx512_vnni::<2>(left, stride, panel, sums) },
                3 => unsafe { x86::avx512_vnni::<3>(left, stride, panel, sums) },
                4 => unsafe { x86::avx512_vnni::<4>(left, stride, panel, sums) },
                5 => unsafe { x86::avx512_vnni::<5>(left, stride, panel, sums) },
                _ => unsafe { x86::avx512_vnni::<ROWS>(left, stride, panel, sums) },
            },
        }
    }
}

fn portable(left: &[u8], stride: usize, rows: usize, panel: &[i8], sums: &mut [[i32; MOST_COLS]; ROWS]) {
    const WIDTH: usize = 16;
    for (row, sums) in sums.iter_mut().enumerate().take(rows) {
        let mut totals = [0; WIDTH];
        for (left, panel) in left[row * stride..].chunks_exact(GROUP).zip(panel.chunks_exact(WIDTH * GROUP)) {
            for (total, weights) in totals.iter_mut().zip(panel.chunks_exact(GROUP)) {
                *total += left.iter().zip(weights).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum::<i32>();
            }
        }
        sums[..WIDTH].copy_from_slice(&totals);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{GROUP, MOST_COLS};

    /// The groups of numbers of `M` rows, as many as a panel has.
    fn groups<const M: usize>(left: &[u8], stride: usize, count: usize) -> [&[[u8; GROUP]]; M] {
        std::array::from_fn(|row| &left[row * stride..][..count * GROUP].as_chunks().0[..count])
    }

    /// A kernel with VNNI's dot products of groups: `bytes` a register, `vectors` of them a panel's group.
    macro_rules! vnni {
        ($name:ident, $features:literal, bytes $bytes:literal, vectors $vectors:literal,
         $zero:ident, $load:ident, $store:ident, $broadcast:ident, $dot:ident) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name<const M: usize>(
                left: &[u8],
                stride: usize,
                panel: &[i8],
                sums: &mut [[i32; MOST_COLS]],
            ) {
                let (panel, _) = panel.as_chunks::<{ $vectors * $bytes }>();
                let left = groups::<M>(left, stride, panel.len());
                let mut totals = [[$zero(); $vectors]; M];
                for (group, weights) in panel.iter().enumerate() {
                    let mut vectors = [$zero(); $vectors];
                    for (vector, weights) in vectors.iter_mut().zip(weights.as_chunks::<$bytes>().0) {
                        // SAFETY: as many bytes as a register has.
                        #[allow(unsafe_code)]
                        let loaded = unsafe { $load(weights.as_ptr().cast()) };
                        *vector = loaded;
                    }
                    for (totals, left) in totals.iter_mut().zip(&left) {
                        let x = $broadcast(i32::from_ne_bytes(left[group]));
                        for (total, weights) in totals.iter_mut().zip(vectors) {
                            *total = $dot(*total, x, weights);
                        }
                    }
                }
                for (sums, totals) in sums.iter_mut().zip(totals) {
                    for (sums, total) in sums.as_chunks_mut::<{ $bytes / 4 }>().0.iter_mut().zip(totals) {
                        // SAFETY: as many numbers of 4 bytes as a register has.
                        #[allow(unsafe_code)]
                        unsafe {
                            $store(sums.as_mut_ptr().cast(), total);
                        }
                    }
                }
            }
        };
    }

    vnni!(
        avx512_vnni, "avx512f,avx512vnni", bytes 64, vectors 4,
        _mm512_setzero_si512, _mm512_loadu_si512, _mm512_storeu_si512, _mm512_set1_epi32, _mm512_dpbusd_epi32
    );
    vnni!(
        avx_vnni, "avx2,avxvnni", bytes 32, vectors 2,
        _mm256_setzero_si256, _mm256_loadu_si256, _mm256_storeu_si256, _mm256_set1_epi32, _mm256_dpbusd_avx_epi32
    );

    /// `vpmaddubsw` would add its pairs in 16 bits and saturate; 16-bit inputs are exact.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2<const M: usize>(left: &[u8], stride: usize, panel: &[i8], sums: &mut [[i32; MOST_COLS]]) {
        // Of 4 columns each.
        const VECTORS: usize = 4;
        let (panel, _) = panel.as_chunks::<{ VECTORS * 16 }>();
        let left = groups::<M>(left, stride, panel.len());
        let mut totals = [[_mm256_setzero_si256(); VECTORS]; M];
        for (group, weights) in panel.iter().enumerate() {
            let mut rows = [_mm256_setzero_si256(); M];
            for (row, left) in rows.iter_mut().zip(&left) {
                *row = _mm256_cvtepu8_epi16(_mm_set1_epi32(i32::from_ne_bytes(left[group])));
            }
            for (at, weights) in weights.as_chunks::<16>().0.iter().enumerate() {
                // SAFETY: 16 bytes.
                #[allow(unsafe_code)]
                let weights = unsafe { _mm_loadu_si128(weights.as_ptr().cast()) };
                let weights = _mm256_cvtepi8_epi16(weights);
                for (totals, row) in totals.iter_mut().zip(rows) {
                    totals[at] = _mm256_add_epi32(totals[at], _mm256_madd_epi16(row, weights));
                }
            }
        }
        for (sums, totals) in sums.iter_mut().zip(totals) {
            for (sums, total) in sums.as_chunks_mut::<4>().0.iter_mut().zip(totals) {
                let mut halves = [0; 8];
                // SAFETY: 8 numbers of 4 bytes.
                #[allow(unsafe_code)]
                unsafe {
                    _mm256_storeu_si256(halves.as_mut_ptr().cast(), total);
                }
                for (sum, halves) in sums.iter_mut().zip(halves.chunks_exact(2)) {
                    *sum = halves.iter().sum();
                }
            }
        }
    }
}
