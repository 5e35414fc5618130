//! The distributions that intervals are made of, number by number.

use super::pyfunction;
use crate::base::distributions;

#[pyfunction]
pub(super) fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    distributions::beta_cdf(a, b, x)
}

#[pyfunction]
pub(super) fn beta_quantile(a: f64, b: f64, chance: f64) -> f64 {
    distributions::beta_quantile(a, b, chance)
}

#[pyfunction]
pub(super) fn gamma_quantile(shape: f64, chance: f64) -> f64 {
    distributions::gamma_quantile(shape, chance)
}

#[pyfunction]
pub(super) fn student_cdf(df: f64, t: f64) -> f64 {
    distributions::student_cdf(df, t)
}

#[pyfunction]
pub(super) fn student_quantile(df: f64, chance: f64) -> f64 {
    distributions::student_quantile(df, chance)
}
