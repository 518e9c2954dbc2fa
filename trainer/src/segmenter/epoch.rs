//! The figures of an epoch.

use std::fmt;

use serde::{Deserialize, Serialize};
use tabsegnet_segmenter::measures::SegmentMeasures;

use crate::config::Choice;
use crate::state::Epoch;

/// What an epoch trains on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Generated questions and their segments.
    Generated,
    /// Questions and their segments.
    Segments,
}

/// The figures of one epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmenterEpoch {
    /// From 1, over all stages.
    pub epoch: usize,
    /// What it trained on.
    pub stage: Stage,
    /// Optimiser steps taken so far.
    pub steps: usize,
    /// Mean over the steps of the loss a target token, each before its update.
    pub train_loss: f64,
    /// Mean loss a token of the dev segments.
    pub dev_loss: f64,
    /// Generated segments of dev questions beside the wanted ones; none where none were generated.
    pub segments: Option<SegmentMeasures>,
    /// What the best epoch has least; none where it is not to be chosen.
    pub chosen_by: Option<f64>,
    /// Wall-clock time of the epoch.
    pub seconds: f64,
}

impl SegmenterEpoch {
    /// What the best epoch has least, of one with these figures.
    pub(super) fn criterion(
        choice: Choice,
        stage: Stage,
        dev_loss: f64,
        segments: Option<&SegmentMeasures>,
    ) -> Option<f64> {
        match choice {
            Choice::Loss => (stage == Stage::Segments).then_some(dev_loss),
            Choice::TokenF1 => segments.map(|measures| 1.0 - measures.token_f1),
        }
    }
}

impl Epoch for SegmenterEpoch {
    fn chosen_by(&self) -> Option<f64> {
        self.chosen_by
    }
}

impl fmt::Display for SegmenterEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage {
            Stage::Generated => " (generated)",
            Stage::Segments => "",
        };
        write!(f, "train loss{stage} {:.4}, dev loss {:.4}", self.train_loss, self.dev_loss)?;
        match &self.segments {
            None => Ok(()),
            Some(SegmentMeasures { exact, token_f1, found, wanted }) => {
                write!(f, ", dev exact {exact:.3}, token F1 {token_f1:.3}, {found:.2} segments of {wanted:.2}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_chooses_among_labelled_epochs_and_f1_among_all_that_wrote_segments() {
        let measures = SegmentMeasures { token_f1: 0.75, ..SegmentMeasures::default() };
        let of = |choice, stage, segments| SegmenterEpoch::criterion(choice, stage, 2.0, segments);
        assert_eq!(of(Choice::Loss, Stage::Segments, None), Some(2.0));
        assert_eq!(of(Choice::Loss, Stage::Generated, Some(&measures)), None);
        assert_eq!(of(Choice::TokenF1, Stage::Generated, Some(&measures)), Some(0.25));
        assert_eq!(of(Choice::TokenF1, Stage::Generated, None), None);
    }
}
