//! How sure an answer is.

use tabsegnet_agent::choice::Calibration;

/// Logistic regression of right on the logit of the likelihood (Platt 1999), by Newton's steps; and the confidence below
/// which at most a share `lost` of the right answers lies.
pub(super) fn calibrated(sure: &[(f32, bool)], lost: f64) -> Calibration {
    let logit = |p: f32| {
        let p = f64::from(p.clamp(1e-6, 1.0 - 1e-6));
        (p / (1.0 - p)).ln()
    };
    let (mut slope, mut intercept) = (1.0_f64, 0.0_f64);
    for _ in 0..30 {
        // A little of both priors keeps it finite where all are right.
        let (mut ga, mut gb, mut aa, mut ab, mut bb) = (1e-3 * (slope - 1.0), 1e-3 * intercept, 1e-3, 0.0, 1e-3);
        for (likelihood, right) in sure {
            let x = logit(*likelihood);
            let p = 1.0 / (1.0 + (-(slope * x + intercept)).exp());
            let (error, weight) = (p - f64::from(u8::from(*right)), p * (1.0 - p));
            ga += error * x;
            gb += error;
            aa += weight * x * x;
            ab += weight * x;
            bb += weight;
        }
        let determinant = aa * bb - ab * ab;
        if determinant.abs() < 1e-12 {
            break;
        }
        slope -= (bb * ga - ab * gb) / determinant;
        intercept -= (aa * gb - ab * ga) / determinant;
    }
    let calibration = Calibration { slope: slope as f32, intercept: intercept as f32, threshold: 0.0 };
    let mut right: Vec<f32> =
        sure.iter().filter(|(_, right)| *right).map(|(likelihood, _)| calibration.confidence(*likelihood)).collect();
    right.sort_by(f32::total_cmp);
    let at = (right.len() as f64 * lost) as usize;
    Calibration { threshold: right.get(at).copied().unwrap_or(0.0), ..calibration }
}

#[cfg(test)]
mod tests {
    use super::calibrated;

    #[test]
    fn confidences_become_shares_of_right_answers() {
        // Likelihoods that are too high: .9 is right in 6 of 10, .3 in 1 of 10.
        let sure: Vec<(f32, bool)> = (0..1000)
            .map(|number| if number % 2 == 0 { (0.9, number % 20 < 12) } else { (0.3, number % 20 == 1) })
            .collect();
        let calibration = calibrated(&sure, 0.02);
        assert!((calibration.confidence(0.9) - 0.6).abs() < 0.02, "{}", calibration.confidence(0.9));
        assert!((calibration.confidence(0.3) - 0.1).abs() < 0.02, "{}", calibration.confidence(0.3));
        assert!(calibration.threshold <= calibration.confidence(0.3) + 1e-6);
        let all_right = calibrated(&[(0.9, true); 20], 0.02);
        assert!(all_right.slope.is_finite() && all_right.confidence(0.9) > 0.9);
        assert_eq!(calibrated(&[], 0.02).threshold, 0.0);
    }
}
