//! Risk and coverage of answers that say how sure they are: how many of the surest are wrong, the more of them are taken
//! (El-Yaniv and Wiener 2010).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::render;

/// Steps of coverage from no question to all.
pub(crate) const STEPS: usize = 10;

/// The curve of risk over coverage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RiskCoverage {
    /// The area under it: the mean risk of the surest 1, 2, … answers up to all that were given (AURC, Geifman and El-Yaniv
    /// 2017); absent where none was.
    pub area: Option<f64>,
    /// A point for each tenth of the questions, as far as so many were answered.
    pub points: Vec<RiskPoint>,
}

/// A point of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RiskPoint {
    /// Share of the questions that are answered.
    pub coverage: f64,
    /// Share of these answers that is wrong.
    pub risk: f64,
    /// Confidence from which on answers are taken for it.
    pub confidence: f32,
}

/// The curve of answers to `questions` questions: of each answer its confidence and how right it is, from 0 to 1.
///
/// What always holds: the order of the answers changes nothing; answers of one confidence count as their mean, since any of them
/// may come first; a question without an answer is never covered.
pub fn risk_coverage(answers: &[(f32, f32)], questions: usize) -> RiskCoverage {
    let mut sorted = answers.to_vec();
    sorted.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    // Of the first answer, of the first two, …
    let mut risks: Vec<f64> = Vec::with_capacity(sorted.len());
    let mut wrong = 0.0;
    for same in sorted.chunk_by(|(a, _), (b, _)| a.total_cmp(b).is_eq()) {
        let mean = same.iter().map(|(_, right)| 1.0 - f64::from(*right)).sum::<f64>() / same.len() as f64;
        for _ in same {
            wrong += mean;
            risks.push(wrong / (risks.len() + 1) as f64);
        }
    }
    let points = (1..=STEPS).filter_map(|step| {
        let last = (questions * step).div_ceil(STEPS).checked_sub(1)?;
        let (risk, (confidence, _)) = (*risks.get(last)?, *sorted.get(last)?);
        Some(RiskPoint { coverage: step as f64 / STEPS as f64, risk, confidence })
    });
    let points = points.collect();
    let area = (!risks.is_empty()).then(|| risks.iter().sum::<f64>() / risks.len() as f64);
    RiskCoverage { area, points }
}

/// The curves of policies on data sets, both by name, as one HTML page that loads nothing: a plot with a line a policy and a
/// table for each data set.
pub fn to_html(curves: &BTreeMap<&str, BTreeMap<&str, RiskCoverage>>) -> String {
    render::risk_coverage::html(curves)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_surest_come_first_and_equals_share_their_risk() {
        let answers = [(0.5, 0.0), (0.9, 1.0), (0.8, 0.0), (0.8, 1.0)];
        let curve = risk_coverage(&answers, 10);
        let point = |coverage, risk, confidence| RiskPoint { coverage, risk, confidence };
        let expected = [point(0.1, 0.0, 0.9), point(0.2, 0.25, 0.8), point(0.3, 1.0 / 3.0, 0.8), point(0.4, 0.5, 0.5)];
        assert_eq!(curve.points, expected);
        assert!((curve.area.unwrap() - (0.25 + 1.0 / 3.0 + 0.5) / 4.0).abs() < 1e-12);
        // Of two questions each tenth is one or both.
        let few = risk_coverage(&[(0.2, 1.0), (0.1, 0.0)], 2).points;
        assert_eq!((few.len(), few[4].risk, few[5].risk), (10, 0.0, 0.5));
        assert_eq!(risk_coverage(&[], 10), RiskCoverage { area: None, points: Vec::new() });
        assert!(risk_coverage(&[], 0).points.is_empty());
    }

    proptest! {
        #[test]
        fn order_changes_nothing(answers in prop::collection::vec((0..4u8, 0..2u8), 0..30)) {
            let mut answers: Vec<(f32, f32)> =
                answers.into_iter().map(|(sure, right)| (f32::from(sure) / 4.0, f32::from(right))).collect();
            let curve = risk_coverage(&answers, answers.len());
            answers.reverse();
            prop_assert_eq!(&curve, &risk_coverage(&answers, answers.len()));
            prop_assert!(curve.points.iter().all(|point| (0.0..=1.0 + 1e-9).contains(&point.risk)));
        }
    }
}
