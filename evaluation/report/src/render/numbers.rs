//! Numbers as they are printed.

use crate::significance::Estimate;

/// A measure: three decimals.
pub(super) fn measure(value: f64) -> String {
    format!("{value:.3}")
}

/// The bounds of an interval.
pub(super) fn interval(estimate: &Estimate) -> String {
    format!("[{:.3}, {:.3}]", estimate.low, estimate.high)
}

/// A difference, always with its sign.
pub(super) fn difference(value: f64) -> String {
    format!("{value:+.3}")
}

/// The bounds of the interval of a difference.
pub(super) fn difference_interval(estimate: &Estimate) -> String {
    format!("[{:+.3}, {:+.3}]", estimate.low, estimate.high)
}

/// A p-value. Rounding never makes one 0.
pub(super) fn p(value: f64) -> String {
    if value < 0.0001 { "<0.0001".to_owned() } else { format!("{value:.4}") }
}

/// A time in the unit that suits it.
pub(super) fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        _ if value >= 1.0 => (value, "s"),
        _ if value >= 1e-3 => (value * 1e3, "ms"),
        _ => (value * 1e6, "µs"),
    };
    let decimals = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
    format!("{scaled:.decimals$} {unit}")
}

/// A count with its noun: "1 question", "2 questions".
pub(super) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(measure(0.8365), "0.837");
        assert_eq!(difference(-0.0214), "-0.021");
        assert_eq!(difference(0.5), "+0.500");
        assert_eq!(p(1.0 / 10_001.0), "<0.0001");
        assert_eq!(p(0.04321), "0.0432");
        let times = [0.0, 0.000_38, 0.0123, 0.123, 4.0, 250.0].map(seconds);
        assert_eq!(times, ["0.00 µs", "380 µs", "12.3 ms", "123 ms", "4.00 s", "250 s"]);
        assert_eq!([0, 1, 2].map(|n| count(n, "node")), ["0 nodes", "1 node", "2 nodes"]);
    }
}
