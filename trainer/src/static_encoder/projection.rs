//! Principal directions of vectors.

use nalgebra::{DMatrix, SymmetricEigen};

/// A projection from width `from` onto `to` orthonormal directions.
pub(super) struct Projection {
    from: usize,
    to: usize,
    /// `[to, from]`, the direction of most variance first.
    directions: Vec<f32>,
}

impl Projection {
    /// The first `to` eigenvectors of the second moment of `vectors` `[n, from]`; the mean stays
    /// in, since cosines are what is to be kept.
    pub(super) fn new(vectors: &[f32], from: usize, to: usize) -> Self {
        let mut moment = DMatrix::<f64>::zeros(from, from);
        for vector in vectors.chunks_exact(from) {
            for (i, &a) in vector.iter().enumerate() {
                let column = &mut moment.as_mut_slice()[i * from..(i + 1) * from];
                for (sum, &b) in column.iter_mut().zip(vector) {
                    *sum += f64::from(a) * f64::from(b);
                }
            }
        }
        let eigen = SymmetricEigen::new(moment);
        let mut order: Vec<usize> = (0..from).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]).then(a.cmp(&b)));
        let directions = order
            .iter()
            .take(to)
            .flat_map(|&i| eigen.eigenvectors.column(i).iter().map(|&v| v as f32).collect::<Vec<_>>());
        Self { from, to, directions: directions.collect() }
    }

    /// `[n, from]` → `[n, to]`
    pub(super) fn project(&self, vectors: &[f32]) -> Vec<f32> {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        vectors
            .chunks_exact(self.from)
            .flat_map(|vector| self.directions.chunks_exact(self.from).map(move |direction| dot(vector, direction)))
            .collect()
    }

    /// [`Projection::project`], each scaled to length 1.
    pub(super) fn unit(&self, vectors: &[f32]) -> Vec<f32> {
        let mut projected = self.project(vectors);
        for vector in projected.chunks_exact_mut(self.to) {
            let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            vector.iter_mut().for_each(|v| *v /= length);
        }
        projected
    }
}

#[cfg(test)]
mod tests {
    use super::Projection;

    #[test]
    fn vectors_in_a_plane_keep_their_dot_products_in_two_directions() {
        let (a, b) = ([0.6, 0.0, 0.8, 0.0], [0.0, 1.0, 0.0, 0.0]);
        let mix = |x: f32, y: f32| (0..4).map(move |i| x * a[i] + y * b[i]);
        let vectors: Vec<f32> =
            [(1.0, 0.0), (0.5, 0.5), (-0.3, 0.9), (2.0, 1.0)].into_iter().flat_map(|(x, y)| mix(x, y)).collect();
        let projected = Projection::new(&vectors, 4, 2).project(&vectors);
        let dot =
            |v: &[f32], w: usize, i: usize, j: usize| -> f32 { (0..w).map(|k| v[i * w + k] * v[j * w + k]).sum() };
        for i in 0..4 {
            for j in 0..4 {
                assert!((dot(&projected, 2, i, j) - dot(&vectors, 4, i, j)).abs() < 1e-5);
            }
        }
    }
}
