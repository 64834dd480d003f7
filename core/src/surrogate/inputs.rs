//! The points of the process and the kernel that compares them: rows of the covariance matrix.

use super::geometry::Geometry;
use super::gp::Gp;
use super::kernel::Hyper;
use super::noise::Hypothesis;
use super::observations::{Observations, Point};
use super::product::Product;
use crate::math::cholesky::CholeskyError;
use crate::space::Space;

/// The noise of an observation that says next to nothing about costs, as a share of the signal
/// variance. With 1000, which says nothing at all, runs beside failures were not better.
const NOTHING: f32 = 10.0;

/// Everything a covariance depends on.
pub(super) struct Inputs<'a, const K: usize, const M: usize, const D: usize, const T: usize> {
    pub(super) space: &'a Space<K>,
    pub(super) geometry: &'a Geometry<K, M, D>,
    pub(super) observations: &'a Observations<K, D, T>,
    pub(super) product: &'a Product<K, M>,
    pub(super) hyper: &'a Hyper,
}

impl<const K: usize, const M: usize, const D: usize, const T: usize> Inputs<'_, K, M, D, T> {
    /// The prior variance of a combination.
    pub(super) fn variance(&self, point: Point<'_, K, D>) -> f32 {
        if D == 0 {
            return self.product.covariance(point.combination, point.combination);
        }
        self.hyper.variance(self.geometry.own_pair(self.space, point))
    }

    /// [`covariances`](Self::covariances), and returns the prior variance.
    pub(super) fn all(&self, point: Point<'_, K, D>, first: usize, row: &mut [f32]) -> f32 {
        self.covariances(point, first, row);
        self.variance(point)
    }

    /// Writes the prior covariances of a combination with the points from `first` on, as many as
    /// `row` has room for.
    #[inline(never)]
    pub(super) fn covariances(&self, point: Point<'_, K, D>, first: usize, row: &mut [f32]) {
        let Self { space, geometry, hyper, .. } = self;
        let points = self.observations.points_from(first);
        if D == 0 {
            let own = point.combination;
            let others = self.observations.combinations().get(first..).unwrap_or_default();
            if M == 0 {
                let all = row.iter_mut().zip(others);
                all.for_each(|(k, other)| *k = self.product.covariance(own, other));
            } else {
                self.product.products(own, others, K, row);
                row.iter_mut().for_each(|k| *k = self.product.normalised(*k));
            }
            return;
        }
        // The counts first take the place of the covariances: two loops are faster than one that
        // does both.
        geometry.encoder().count_differing(
            space,
            point.combination,
            points.clone().map(|other| other.combination),
            row,
        );
        row.iter_mut().zip(points).for_each(|(k, other)| *k = hyper.covariance(geometry.pair(space, *k, point, other)));
    }

    /// One step of two towards a factor with one more point: its covariances, which take as long as the
    /// rest, then the rest. Under a prior the covariances and its own are known. Noise is added on the
    /// diagonal; a mean of n measurements has 1/n of it.
    #[inline(never)]
    pub(super) fn extend<const P: usize>(
        &self,
        gp: &mut Gp<T, P>,
        noise: &Hypothesis,
        visited: Option<(&[f32; T], f32)>,
    ) -> Result<(), CholeskyError> {
        if !gp.is_written() {
            let i = gp.len();
            gp.write_row(|row| {
                let Some(point) = self.observations.points_from(i).next() else { return };
                if let Some((column, variance)) = visited {
                    row.iter_mut().zip(column).for_each(|(k, known)| *k = *known);
                    row.iter_mut().skip(i).for_each(|own| *own = variance);
                } else {
                    self.covariances(point, 0, row);
                }
                if let Some(own) = row.last_mut() {
                    let more = if self.observations.is_failure(i) { NOTHING } else { 0.0 };
                    *own += noise.of_mean(self.observations.repeats(i)) + more;
                }
            })
        } else {
            gp.append_written()
        }
    }
}
