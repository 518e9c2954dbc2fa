//! Dropout with masks of our own making: a step's masks depend on the seed and the step alone, so
//! that a training that was interrupted ends with the same weights.

use burn::tensor::{Tensor, TensorData};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Sets a share of all values to 0 and raises the others to make up for it (Srivastava et al. 2014).
#[derive(Debug)]
pub struct Dropout {
    /// Of 256 values so many are dropped.
    dropped: u8,
    rng: ChaCha8Rng,
}

impl Dropout {
    /// Drops a share `rate` below 1, to the nearest 256th, as `seed` and `step` say.
    pub fn new(rate: f32, seed: u64, step: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x0064_726f_706f_7574);
        rng.set_stream(step);
        Self { dropped: (rate * 256.0).round().clamp(0.0, 255.0) as u8, rng }
    }

    /// `x` `[rows, d]` with a mask of its own.
    pub fn forward(&mut self, x: Tensor<2>) -> Tensor<2> {
        if self.dropped == 0 {
            return x;
        }
        let shape = x.dims();
        let mut bytes = vec![0; shape[0] * shape[1]];
        self.rng.fill_bytes(&mut bytes);
        let kept = 256.0 / (256.0 - f32::from(self.dropped));
        let mask: Vec<f32> = bytes.into_iter().map(|byte| if byte < self.dropped { 0.0 } else { kept }).collect();
        let mask = Tensor::from_data(TensorData::new(mask, shape), &x.device());
        x * mask
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn dropped(rate: f32, step: u64) -> Vec<f32> {
        let x = Tensor::ones([200, 50], &Device::flex());
        Dropout::new(rate, 7, step).forward(x).into_data().iter::<f32>().collect()
    }

    #[test]
    fn the_share_is_dropped_and_the_mean_kept() {
        let values = dropped(0.25, 1);
        let zeros = values.iter().filter(|&&value| value == 0.0).count() as f32 / values.len() as f32;
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        assert!((zeros - 0.25).abs() < 0.02 && (mean - 1.0).abs() < 0.03, "{zeros} {mean}");
        assert!(values.iter().all(|&value| value == 0.0 || (value - 4.0 / 3.0).abs() < 1e-6));
        assert!(dropped(0.0, 1).iter().all(|&value| value == 1.0));
    }

    #[test]
    fn masks_follow_seed_and_step() {
        assert_eq!(dropped(0.5, 3), dropped(0.5, 3));
        assert_ne!(dropped(0.5, 3), dropped(0.5, 4));
    }
}
