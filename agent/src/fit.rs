//! Fitting the proposing model.

use tabsegnet_choice::{Example, Fitting};

use crate::choice::{Weights, feature_names};

const FITTING: Fitting = Fitting { steps: 200, rate: 0.05, penalty: 0.4 };

/// The weights of the proposing model, fitted to what is right: of each question "none of them" and then its candidates.
pub fn fit(examples: &[Example<u16>]) -> Weights {
    Weights(tabsegnet_choice::fit(examples, feature_names().len(), FITTING, |_| {}))
}
