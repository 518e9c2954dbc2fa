//! Exponential, error function and activations in f32, as straight-line code that the compiler can
//! turn into vector instructions.

/// Activations of the feed-forward layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Activation {
    /// x Φ(x), by the error function.
    Gelu,
    /// x Φ(x), by the tanh approximation.
    GeluTanh,
    /// max(x, 0).
    Relu,
}

/// eˣ to 2 units in the last place, for x ≤ 88; 0 below −87.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding 1.5 · 2²³ rounds to an integer and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let clamped = if x > -87.0 { x } else { -87.0 };
    let shifted = clamped.mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    // x − n ln 2, with ln 2 in two parts
    let r = n.mul_add(2.121_944_4e-4, n.mul_add(-0.693_359_4, clamped));
    // Cephes expf: eʳ on [−½ ln 2, ½ ln 2]
    let p = 1.987_569_2e-4_f32
        .mul_add(r, 1.398_2e-3)
        .mul_add(r, 8.333_452e-3)
        .mul_add(r, 4.166_579_6e-2)
        .mul_add(r, 1.666_666_5e-1)
        .mul_add(r, 0.5);
    let y = p.mul_add(r * r, r + 1.0);
    let y = f32::from_bits(y.to_bits().wrapping_add(shifted.to_bits() << 23));
    if x > -87.0 { y } else { 0.0 }
}

/// x Φ(x) = ½ x (1 + erf(x / √2))
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))
#[inline(always)]
pub(super) fn gelu_tanh(x: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    let inner = SQRT_2_OVER_PI * (0.044_715 * x * x).mul_add(x, x);
    // ½ (1 + tanh(z)) = 1 / (1 + e^(−2z))
    let z = -2.0 * inner;
    let z = if z < 87.0 { z } else { 87.0 };
    x / (1.0 + exp(z))
}

/// The error function to 4 units in the last place: a rational function on [−4, 4], beyond which
/// f32 cannot tell it from ±1.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = if x > 4.0 { 4.0 } else { x };
    let x = if x < -4.0 { -4.0 } else { x };
    let s = x * x;
    let p = (-2.726_142_3e-10_f32)
        .mul_add(s, 2.770_681_4e-8)
        .mul_add(s, -2.101_024e-6)
        .mul_add(s, -5.692_506_4e-5)
        .mul_add(s, -7.349_906e-4)
        .mul_add(s, -2.954_6e-3)
        .mul_add(s, -1.609_603_3e-2);
    let q = (-1.456_607_2e-5_f32)
        .mul_add(s, -2.133_740_6e-4)
        .mul_add(s, -1.682_827e-3)
        .mul_add(s, -7.373_329e-3)
        .mul_add(s, -1.426_473_9e-2);
    x * p / q
}

#[cfg(test)]
mod tests {
    use super::*;

    /// erf by its Taylor series in f64.
    fn erf_series(x: f64) -> f64 {
        let (mut term, mut total, mut n) = (x, x, 0.0);
        while term.abs() > 1e-17 * total.abs() && n < 200.0 {
            n += 1.0;
            term *= -x * x / n;
            total += term / (2.0 * n + 1.0);
        }
        total * std::f64::consts::FRAC_2_SQRT_PI
    }

    #[test]
    fn the_functions_follow_their_definitions() {
        for i in -3_900..=3_900 {
            let x = i as f32 / 1000.0;
            let exact = erf_series(f64::from(x));
            assert!((f64::from(erf(x)) - exact).abs() <= 4e-7 * exact.abs().max(1e-3), "erf({x})");
            let wide = x * 20.0;
            let exact = f64::from(wide).exp();
            assert!((f64::from(exp(wide)) - exact).abs() <= 3e-7 * exact, "exp({wide})");
            let phi = 0.5 * (1.0 + erf_series(f64::from(x) / std::f64::consts::SQRT_2));
            assert!((f64::from(gelu(x)) - f64::from(x) * phi).abs() < 1e-6, "gelu({x})");
            let z = (2.0 / std::f64::consts::PI).sqrt() * (f64::from(x) + 0.044_715 * f64::from(x).powi(3));
            let exact = 0.5 * f64::from(x) * (1.0 + z.tanh());
            assert!((f64::from(gelu_tanh(x)) - exact).abs() < 1e-6, "gelu_tanh({x})");
        }
        assert_eq!((exp(-90.0), exp(f32::NEG_INFINITY), exp(0.0)), (0.0, 0.0, 1.0));
        assert!((gelu(30.0) - 30.0).abs() < 1e-5 && gelu(-30.0).abs() < 1e-5 && gelu(0.0) == 0.0);
        assert_eq!((gelu_tanh(30.0), gelu_tanh(-1e4).abs() < 1e-30), (30.0, true));
    }
}
