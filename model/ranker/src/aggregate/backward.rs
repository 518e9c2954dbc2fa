//! The operation under burn's autodiff.

use std::fmt::Debug;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, Backend, Flex, tensor::FloatTensor};
#[cfg(feature = "gpu")]
use burn_cubecl::{CubeBackend, tensor::CubeTensor};

use super::{AggregateBackend, cpu};
use crate::config::Aggregation;
use crate::edges::EdgeIndex;

/// The two passes of a backend.
pub(super) trait Passes: Backend {
    /// Which edge won each channel of a max.
    type Winners: Clone + Debug + Send + 'static;

    fn forward(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: &EdgeIndex,
        aggregation: Aggregation,
    ) -> (FloatTensor<Self>, Self::Winners);

    /// The gradients of `x` and, where it is wanted, of `strength` from that of the result.
    fn backward(
        gradient: FloatTensor<Self>,
        state: State<Self>,
        of_strength: bool,
    ) -> (FloatTensor<Self>, Option<FloatTensor<Self>>);
}

impl Passes for Flex {
    type Winners = Arc<Vec<u32>>;

    fn forward(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: &EdgeIndex,
        aggregation: Aggregation,
    ) -> (FloatTensor<Self>, Self::Winners) {
        let (out, winners) = cpu::forward(&x, &strength, edges, aggregation, true);
        (out, Arc::new(winners))
    }

    fn backward(
        gradient: FloatTensor<Self>,
        state: State<Self>,
        of_strength: bool,
    ) -> (FloatTensor<Self>, Option<FloatTensor<Self>>) {
        let State { x, strength, winners, edges, aggregation } = state;
        // The dot products fall out of the pass over `x`.
        let (x, strength) = cpu::backward(&gradient, &x, &strength, &winners, &edges, aggregation);
        (x, of_strength.then_some(strength))
    }
}

#[cfg(feature = "gpu")]
impl Passes for CubeBackend {
    type Winners = CubeTensor;

    fn forward(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: &EdgeIndex,
        aggregation: Aggregation,
    ) -> (FloatTensor<Self>, Self::Winners) {
        super::gpu::forward(x, strength, edges, aggregation, true)
    }

    fn backward(
        gradient: FloatTensor<Self>,
        state: State<Self>,
        of_strength: bool,
    ) -> (FloatTensor<Self>, Option<FloatTensor<Self>>) {
        super::gpu::backward(gradient, state, of_strength)
    }
}

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
pub(super) struct State<B: Passes> {
    pub(super) x: FloatTensor<B>,
    pub(super) strength: FloatTensor<B>,
    pub(super) winners: B::Winners,
    pub(super) edges: Arc<EdgeIndex>,
    pub(super) aggregation: Aggregation,
}

#[derive(Debug)]
struct Aggregate;

impl<B: Passes> Backward<B, 2> for Aggregate {
    type State = State<B>;

    fn backward(self, ops: Ops<Self::State, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let [of_x, of_strength] = ops.parents;
        let (x, strength) = B::backward(gradient, ops.state, of_strength.is_some());
        if let Some(parent) = of_x {
            gradients.register::<B>(parent.id, x);
        }
        if let (Some(parent), Some(strength)) = (of_strength, strength) {
            gradients.register::<B>(parent.id, strength);
        }
    }
}

impl<B: Passes, C: CheckpointStrategy> AggregateBackend for Autodiff<B, C> {
    fn aggregate(
        x: FloatTensor<Self>,
        strength: FloatTensor<Self>,
        edges: Arc<EdgeIndex>,
        aggregation: Aggregation,
    ) -> FloatTensor<Self> {
        let nodes = [x.node(), strength.node()];
        let (x, strength) = (x.into_primitive(), strength.into_primitive());
        let (out, winners) = B::forward(x.clone(), strength.clone(), &edges, aggregation);
        match Backward::<B, 2>::prepare::<C>(Aggregate, nodes).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(State { x, strength, winners, edges, aggregation }, out),
            OpsKind::UnTracked(prep) => prep.finish(out),
        }
    }
}
