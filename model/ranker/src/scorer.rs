//! The model: edge strengths, node initialisation, graph convolutions, scorer.
#![allow(non_snake_case)] // the paper's symbols

use burn::module::{Module, Param, ParamId};
use burn::tensor::{Device, Tensor, TensorData};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use tabsegnet_features::TableScorer;

use crate::activation::{relu_of_sum, tanh_of_sum};
use crate::aggregate::aggregate;
use crate::batch::Batch;
use crate::config::{Aggregation, ModelConfig, Strength};
use crate::linear::{biased, linear};
use crate::precision::Precision;

/// s(e | q) = (q W_q) · tanh(R[t(e)] A + b) (5), or what [`Strength`] makes of it, for all edge types
/// at once.
#[derive(Module, Debug)]
pub struct EdgeStrength {
    /// `[edge_types, d_edge]`
    pub R: Param<Tensor<2>>,
    /// `[d_edge, d_in]`
    pub A: Param<Tensor<2>>,
    /// `[d_in]`
    pub b: Param<Tensor<1>>,
    /// `[d_enc, d_in]`
    pub W_q: Param<Tensor<2>>,
    #[module(skip)]
    form: Strength,
}

impl EdgeStrength {
    /// `q` `[questions, d_enc]` → `[questions, edge_types]`
    pub fn forward(&self, q: Tensor<2>) -> Tensor<2> {
        let r = linear(linear(q, self.W_q.val()), self.types().transpose()); // [questions, edge_types]
        match self.form {
            Strength::Paper => r,
            Strength::Residual => r.tanh() + 1.0,
        }
    }

    /// tanh(R A + b), which no question changes: `[edge_types, d_in]`.
    pub(crate) fn types(&self) -> Tensor<2> {
        biased(self.R.val().matmul(self.A.val()), self.b.val()).tanh()
    }
}

/// x⁰(u) = tanh([u, q, s*(u)] C + d) (7), or [u, q] without segments (6); within the tanh also f C_f where the
/// model has features.
#[derive(Module, Debug)]
pub struct NodeInit {
    /// `[2 d_enc, d_in]`, or `[3 d_enc, d_in]` with segments.
    pub C: Param<Tensor<2>>,
    /// `[d_in]`
    pub d: Param<Tensor<1>>,
    /// `[features, d_in]`
    pub C_f: Option<Param<Tensor<2>>>,
}

impl NodeInit {
    /// u C_u, the part of a node that no question changes: `[nodes, d_enc]` → `[nodes, d_in]`.
    pub fn own(&self, u: Tensor<2>, precision: Precision) -> Tensor<2> {
        let C_u = self.rows(0, u.dims()[1]);
        precision.product(u, C_u)
    }

    /// q C_q + d, and below it s C_s: the part of a question, computed once a question, and that of
    /// a segment, once a segment. `[questions + segments, d_in]`.
    pub(crate) fn shared(&self, q: Tensor<2>, segments: Option<Tensor<2>>) -> Tensor<2> {
        let d_enc = q.dims()[1];
        let q = biased(linear(q, self.rows(1, d_enc)), self.d.val()); // [questions, d_in]
        match segments {
            Some(s) => Tensor::cat(vec![q, linear(s, self.rows(2, d_enc))], 0),
            None => q,
        }
    }

    /// x⁰ `[nodes, d_in]` of a batch from the nodes' own part and their features `[nodes, features]`.
    pub fn forward(
        &self,
        mut own: Tensor<2>,
        features: Option<Tensor<2>>,
        batch: &Batch,
        precision: Precision,
    ) -> Tensor<2> {
        if let (Some(C_f), Some(features)) = (&self.C_f, features) {
            own = own + precision.product(features, C_f.val());
        }
        tanh_of_sum(own, self.shared(batch.q.clone(), batch.segments.clone()), &batch.shared)
    }

    /// The rows of C that meet a part of `[u, q, s*]`, u being part 0: `[d_enc, d_in]`.
    pub(crate) fn rows(&self, part: usize, d_enc: usize) -> Tensor<2> {
        self.C.val().slice_dim(0, part * d_enc..(part + 1) * d_enc)
    }
}

/// x^{l+1}(u) = ReLU(W_1 x^l(u) + W_2 agg s(e | q) x^l(v) + b) (8). The bias is not in the paper;
/// the peer (PyG's GraphConv) has it.
#[derive(Module, Debug)]
pub struct GraphConv {
    /// `[d, d_out]`
    pub W_1: Param<Tensor<2>>,
    /// `[d, d_out]`
    pub W_2: Param<Tensor<2>>,
    /// `[d_out]`
    pub b: Param<Tensor<1>>,
}

impl GraphConv {
    /// `x` `[nodes, d]` and the strength table `[questions, edge_types]` → `[nodes, d_out]`
    pub fn forward(
        &self,
        x: Tensor<2>,
        strength: Tensor<2>,
        batch: &Batch,
        aggregation: Aggregation,
        precision: Precision,
    ) -> Tensor<2> {
        let messages = aggregate(x.clone(), strength, &batch.edges, aggregation); // [nodes, d]
        let own = precision.product(x, self.W_1.val()); // [nodes, d_out]
        relu_of_sum(own, precision.product(messages, self.W_2.val()), self.b.val())
    }
}

/// The score of a node: one linear layer on x^L (9), and on its features where the model has them.
#[derive(Module, Debug)]
pub struct Scorer {
    /// `[d_out, 1]`
    pub w: Param<Tensor<2>>,
    /// `[features, 1]`
    pub w_f: Option<Param<Tensor<2>>>,
    /// `[1]`
    pub b: Param<Tensor<1>>,
}

/// Brings features to mean 0 and deviation 1 over the training part; not trained.
#[derive(Module, Debug)]
pub struct FeatureScale {
    /// `[features]`
    pub mean: Param<Tensor<1>>,
    /// `[features]`: 1 / deviation.
    pub scale: Param<Tensor<1>>,
}

/// The weights of a [`TableScorer`], which is trained before the model is; not trained here.
#[derive(Module, Debug)]
pub struct FixedTableScorer {
    /// `[inputs of a table]`
    pub mean: Param<Tensor<1>>,
    /// `[inputs of a table]`
    pub scale: Param<Tensor<1>>,
    /// `[inputs of a table, hidden]`
    pub W_1: Param<Tensor<2>>,
    /// `[hidden]`
    pub b_1: Param<Tensor<1>>,
    /// `[hidden]`
    pub w_2: Param<Tensor<1>>,
}

/// Standardised features beyond this many deviations are cut.
pub(crate) const FEATURE_LIMIT: f32 = 5.0;

impl FeatureScale {
    /// `[nodes, features]`, within ±[`FEATURE_LIMIT`].
    fn forward(&self, features: Tensor<2>) -> Tensor<2> {
        let centred = features - self.mean.val().unsqueeze();
        (centred * self.scale.val().unsqueeze()).clamp(-FEATURE_LIMIT, FEATURE_LIMIT)
    }
}

/// The whole model.
#[derive(Module, Debug)]
pub struct TabSegNet {
    /// (5)
    pub edge_strength: EdgeStrength,
    /// (6), (7)
    pub node_init: NodeInit,
    /// (8), L of them
    pub graph_conv: Vec<GraphConv>,
    /// (9)
    pub scorer: Scorer,
    /// Where the model has features.
    pub feature_scale: Option<FeatureScale>,
    /// Where the features have a table scorer.
    pub table_scorer: Option<FixedTableScorer>,
    #[module(skip)]
    aggregation: Aggregation,
    #[module(skip)]
    precision: Precision,
}

impl TabSegNet {
    /// A model with Xavier-uniform weights and biases of 0. The same seed gives the same bits on
    /// every device.
    pub fn new(config: &ModelConfig, d_enc: usize, seed: u64, device: &Device) -> Self {
        let mut init = XavierUniform { rng: ChaCha8Rng::seed_from_u64(seed), device };
        Self::build(config, d_enc, &mut |_, shape| Ok::<_, std::convert::Infallible>(init.tensor(shape)))
            .unwrap_or_else(|never| match never {})
    }

    /// A model with the parameters that `parameter` gives for a name and a shape; a shape of one
    /// number is a vector.
    pub(crate) fn build<E>(
        config: &ModelConfig,
        d_enc: usize,
        parameter: &mut impl FnMut(&str, &[usize]) -> Result<Tensor<1>, E>,
    ) -> Result<Self, E> {
        let config = config.resolved();
        let ModelConfig { d_in, d_out, d_edge, layers, .. } = config;
        // Numbered ids instead of burn's random ones: the optimiser's state is saved under them.
        let mut id = 0;
        let mut flat = |name: &str, shape: &[usize]| {
            id += 1;
            Ok((ParamId::from(id), parameter(name, shape)?))
        };
        let mut matrix = |name: &str, shape: [usize; 2]| {
            let (id, values) = flat(name, &shape)?;
            Ok(Param::initialized(id, trainable(values.reshape(shape))))
        };
        let parts = if config.segments { 3 } else { 2 };
        let R = matrix("edge_strength.R", [config.edge_rows(), d_edge])?;
        let A = matrix("edge_strength.A", [d_edge, d_in])?;
        let W_q = matrix("edge_strength.W_q", [d_enc, d_in])?;
        let C = matrix("node_init.C", [parts * d_enc, d_in])?;
        let mut weights = Vec::with_capacity(layers);
        for layer in 0..layers {
            let d = if layer == 0 { d_in } else { d_out };
            weights.push((
                matrix(&format!("graph_conv.{layer}.W_1"), [d, d_out])?,
                matrix(&format!("graph_conv.{layer}.W_2"), [d, d_out])?,
            ));
        }
        let w = matrix("scorer.w", [d_out, 1])?;
        // Behind the others, so that the paper's parameters keep their numbers and first weights.
        let has_features = config.features > 0;
        let C_f = has_features.then(|| matrix("node_init.C_f", [config.features, d_in])).transpose()?;
        let w_f = has_features.then(|| matrix("scorer.w_f", [config.features, 1])).transpose()?;

        let mut vector = |name: &str, length: usize| {
            let (id, values) = flat(name, &[length])?;
            Ok(Param::initialized(id, trainable(values)))
        };
        let edge_strength = EdgeStrength { R, A, b: vector("edge_strength.b", d_in)?, W_q, form: config.strength };
        let node_init = NodeInit { C, d: vector("node_init.d", d_in)?, C_f };
        let mut graph_conv = Vec::with_capacity(layers);
        for (layer, (W_1, W_2)) in weights.into_iter().enumerate() {
            graph_conv.push(GraphConv { W_1, W_2, b: vector(&format!("graph_conv.{layer}.b"), d_out)? });
        }
        let scorer = Scorer { w, w_f, b: vector("scorer.b", 1)? };
        let (inputs, hidden) = (TableScorer::INPUTS, TableScorer::HIDDEN);
        let W_1 = config.table_scorer.then(|| flat("table_scorer.W_1", &[inputs, hidden])).transpose()?;
        let mut fixed = |name: &str, length: usize| {
            let (id, values) = flat(name, &[length])?;
            Ok(Param::initialized(id, values))
        };
        let features = config.features;
        let feature_scale = has_features
            .then(|| {
                Ok(FeatureScale {
                    mean: fixed("feature_scale.mean", features)?,
                    scale: fixed("feature_scale.scale", features)?,
                })
            })
            .transpose()?;
        let table_scorer = W_1
            .map(|(id, W_1)| {
                Ok(FixedTableScorer {
                    mean: fixed("table_scorer.mean", inputs)?,
                    scale: fixed("table_scorer.scale", inputs)?,
                    W_1: Param::initialized(id, W_1.reshape([inputs, hidden])),
                    b_1: fixed("table_scorer.b_1", hidden)?,
                    w_2: fixed("table_scorer.w_2", hidden)?,
                })
            })
            .transpose()?;
        Ok(Self {
            edge_strength,
            node_init,
            graph_conv,
            scorer,
            feature_scale,
            table_scorer,
            aggregation: config.aggregation,
            precision: Precision::F32,
        })
    }

    /// The same model with its products over all nodes in another precision; f32 before. The device
    /// must have it ([`Precision::check`]).
    #[must_use]
    pub fn with_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// The same model with the mean and 1 / deviation of its features, `[features]` each; a model
    /// without features stays as it is.
    #[must_use]
    pub fn with_feature_scale(mut self, mean: &[f32], scale: &[f32]) -> Self {
        if let Some(known) = &mut self.feature_scale {
            let replace = |param: &Param<Tensor<1>>, values: &[f32]| {
                let device = param.val().device();
                let tensor = Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), &device);
                Param::initialized(param.id, tensor)
            };
            *known = FeatureScale { mean: replace(&known.mean, mean), scale: replace(&known.scale, scale) };
        }
        self
    }

    /// The same model with a trained table scorer; a model without one stays as it is.
    #[must_use]
    pub fn with_table_scorer(mut self, scorer: &TableScorer) -> Self {
        fn replace<const D: usize>(param: &Param<Tensor<D>>, values: &[f32]) -> Param<Tensor<D>> {
            let (device, shape) = (param.val().device(), param.val().shape());
            Param::initialized(param.id, Tensor::from_data(TensorData::new(values.to_vec(), shape), &device))
        }
        if let Some(known) = &mut self.table_scorer {
            *known = FixedTableScorer {
                mean: replace(&known.mean, &scorer.mean),
                scale: replace(&known.scale, &scorer.scale),
                W_1: replace(&known.W_1, &scorer.w_1),
                b_1: replace(&known.b_1, &scorer.b_1),
                w_2: replace(&known.w_2, &scorer.w_2),
            };
        }
        self
    }

    /// The table scorer that its features need.
    pub fn table_scorer(&self) -> Option<TableScorer> {
        fn values<const D: usize>(param: &Param<Tensor<D>>) -> Vec<f32> {
            param.val().into_data().iter::<f32>().collect()
        }
        self.table_scorer.as_ref().map(|scorer| TableScorer {
            mean: values(&scorer.mean),
            scale: values(&scorer.scale),
            w_1: values(&scorer.W_1),
            b_1: values(&scorer.b_1),
            w_2: values(&scorer.w_2),
        })
    }

    /// Scores `[nodes]` of a batch, higher is more relevant.
    pub fn forward(&self, batch: &Batch) -> Tensor<1> {
        self.forward_from(self.project(batch.u.clone()), batch)
    }

    /// u C_u, the part of a node that no question changes: `[nodes, d_enc]` → `[nodes, d_in]`.
    pub fn project(&self, u: Tensor<2>) -> Tensor<2> {
        self.node_init.own(u, self.precision)
    }

    /// [`TabSegNet::forward`] with [`TabSegNet::project`] computed before.
    pub fn forward_from(&self, own: Tensor<2>, batch: &Batch) -> Tensor<1> {
        self.score(own, batch, &mut |x| x)
    }

    /// [`TabSegNet::forward`] for training: `dropout` sees x⁰ … x^L and the features, `[nodes, d]` each.
    #[cfg(feature = "training")]
    pub fn forward_dropping(&self, batch: &Batch, dropout: &mut crate::dropout::Dropout) -> Tensor<1> {
        self.score(self.project(batch.u.clone()), batch, &mut |x| dropout.forward(x))
    }

    fn score(&self, own: Tensor<2>, batch: &Batch, drop: &mut dyn FnMut(Tensor<2>) -> Tensor<2>) -> Tensor<1> {
        let strength = self.edge_strength.forward(batch.q.clone()); // [questions, edge_types]
        let features = match (&self.feature_scale, &batch.features) {
            (Some(scale), Some(features)) => Some(scale.forward(features.clone())), // [nodes, features]
            _ => None,
        };
        let mut x = drop(self.node_init.forward(own, features.clone(), batch, self.precision)); // [nodes, d_in]
        for conv in &self.graph_conv {
            x = conv.forward(x, strength.clone(), batch, self.aggregation, self.precision); // [nodes, d_out]
            x = drop(x);
        }
        let mut score = linear(x, self.scorer.w.val());
        if let (Some(w_f), Some(features)) = (&self.scorer.w_f, features) {
            score = score + linear(features, w_f.val());
        }
        biased(score, self.scorer.b.val()).squeeze_dim(1) // [nodes]
    }

    /// Every parameter with its name and shape, in a fixed order.
    pub fn parameters(&self) -> Vec<(String, TensorData)> {
        let EdgeStrength { R, A, b, W_q, form: _ } = &self.edge_strength;
        let NodeInit { C, d, C_f } = &self.node_init;
        let matrix = |name: String, tensor: &Param<Tensor<2>>| (name, tensor.val().into_data());
        let vector = |name: String, tensor: &Param<Tensor<1>>| (name, tensor.val().into_data());
        let mut parameters = vec![
            matrix("edge_strength.R".into(), R),
            matrix("edge_strength.A".into(), A),
            vector("edge_strength.b".into(), b),
            matrix("edge_strength.W_q".into(), W_q),
            matrix("node_init.C".into(), C),
            vector("node_init.d".into(), d),
        ];
        for (layer, conv) in self.graph_conv.iter().enumerate() {
            parameters.push(matrix(format!("graph_conv.{layer}.W_1"), &conv.W_1));
            parameters.push(matrix(format!("graph_conv.{layer}.W_2"), &conv.W_2));
            parameters.push(vector(format!("graph_conv.{layer}.b"), &conv.b));
        }
        parameters.push(matrix("scorer.w".into(), &self.scorer.w));
        parameters.push(vector("scorer.b".into(), &self.scorer.b));
        for (name, tensor) in [("node_init.C_f", C_f), ("scorer.w_f", &self.scorer.w_f)] {
            parameters.extend(tensor.as_ref().map(|tensor| matrix(name.into(), tensor)));
        }
        if let Some(FeatureScale { mean, scale }) = &self.feature_scale {
            parameters.push(vector("feature_scale.mean".into(), mean));
            parameters.push(vector("feature_scale.scale".into(), scale));
        }
        if let Some(FixedTableScorer { mean, scale, W_1, b_1, w_2 }) = &self.table_scorer {
            parameters.push(matrix("table_scorer.W_1".into(), W_1));
            let vectors = [("mean", mean), ("scale", scale), ("b_1", b_1), ("w_2", w_2)];
            parameters.extend(vectors.map(|(name, tensor)| vector(format!("table_scorer.{name}"), tensor)));
        }
        parameters
    }
}

/// On a device with autodiff a parameter asks for its gradient.
fn trainable<const D: usize>(values: Tensor<D>) -> Tensor<D> {
    #[cfg(feature = "training")]
    if values.device().is_autodiff() {
        return values.require_grad();
    }
    values
}

/// Glorot and Bengio (2010): uniform in ±√(6 / (fan_in + fan_out)); vectors start at 0.
struct XavierUniform<'a> {
    rng: ChaCha8Rng,
    device: &'a Device,
}

impl XavierUniform<'_> {
    fn tensor(&mut self, shape: &[usize]) -> Tensor<1> {
        let count = shape.iter().product();
        let values: Vec<f32> = match shape {
            [fan_in, fan_out] => {
                let bound = (6.0 / (fan_in + fan_out) as f32).sqrt();
                (0..count).map(|_| self.rng.random_range(-bound..bound)).collect()
            }
            _ => vec![0.0; count],
        };
        Tensor::from_data(TensorData::new(values, [count]), self.device)
    }
}

#[cfg(test)]
mod tests;
