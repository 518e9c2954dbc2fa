//! The loss.

use burn::tensor::activation::log_softmax;
use burn::tensor::{IndexingUpdateOp, Int, Tensor};

/// A loss as its value and as what its gradients are taken of.
pub struct Loss {
    /// Σ −log p(target) over a batch's targets, without autodiff: `[1]`.
    pub value: Tensor<1>,
    /// A sum with the same gradients: `[1]`.
    pub slope: Tensor<1>,
}

/// Σ −log softmax(z)[target], with `z` `[targets, vocabulary]`.
///
/// The gradient by z is softmax(z) − one-hot(target). It is computed here once and multiplied by z, so that
/// autodiff has one product to go back through instead of the passes of a logarithm, an exponential and
/// two sums over `[targets, vocabulary]`.
pub(super) fn cross_entropy(z: Tensor<2>, targets: Tensor<1, Int>) -> Loss {
    let log_p = log_softmax(z.clone().inner(), 1); // [targets, vocabulary]
    let targets = targets.unsqueeze_dim::<2>(1); // [targets, 1]
    let value = log_p.clone().gather(1, targets.clone()).sum().neg();
    let minus_one = Tensor::<2>::ones(targets.dims(), &value.device()).neg();
    let gradient = log_p.exp().scatter(1, targets, minus_one, IndexingUpdateOp::Add);
    Loss { value, slope: (z * gradient).sum() }
}
