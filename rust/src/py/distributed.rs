//! What intervals are made of: distributions, number by number, distinct values, and resamples.

use super::record::{floats, ints};
use super::{
    Bound, PyAny, PyAnyMethods, PyModule, PyModuleMethods, PyResult, Python, pyfunction,
    wrap_pyfunction,
};
use crate::base::distinct::distinct;
use crate::base::distributions;
use crate::base::distributions::autocorrelation::autocorrelation;
use crate::base::distributions::chance::{Chance, Resampler};

/// Adds all of them to the module.
pub(super) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(autocorrelation_of, module)?)?;
    module.add_function(wrap_pyfunction!(distinct_of, module)?)?;
    module.add_function(wrap_pyfunction!(beta_cdf, module)?)?;
    module.add_function(wrap_pyfunction!(beta_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(gamma_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(student_cdf, module)?)?;
    module.add_function(wrap_pyfunction!(student_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(resamples, module)?)?;
    module.add_function(wrap_pyfunction!(random_order, module)?)?;
    Ok(())
}

/// The autocorrelation at lag 1 and the integrated autocorrelation time of 64-bit floats.
#[pyfunction]
fn autocorrelation_of(floats: &[u8]) -> (f64, f64) {
    autocorrelation(&numbers(floats).collect::<Vec<_>>())
}

/// The distinct ones of 64-bit floats, ascending, and which of them each is.
#[pyfunction]
fn distinct_of<'py>(py: Python<'py>, values: &[u8]) -> PyResult<[Bound<'py, PyAny>; 2]> {
    let (values, which) = distinct(numbers(values));
    let which = which.into_iter().map(i64::from);
    Ok([floats(py, values.into_iter())?, ints(py, which)?])
}

/// 64-bit floats, as numpy gives their octets.
fn numbers(octets: &[u8]) -> impl Iterator<Item = f64> {
    let (each, _) = octets.as_chunks();
    each.iter().map(|one| f64::from_ne_bytes(*one))
}

#[pyfunction]
fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    distributions::beta_cdf(a, b, x)
}

#[pyfunction]
fn beta_quantile(a: f64, b: f64, chance: f64) -> f64 {
    distributions::beta_quantile(a, b, chance)
}

#[pyfunction]
fn gamma_quantile(shape: f64, chance: f64) -> f64 {
    distributions::gamma_quantile(shape, chance)
}

#[pyfunction]
fn student_cdf(df: f64, t: f64) -> f64 {
    distributions::student_cdf(df, t)
}

#[pyfunction]
fn student_quantile(df: f64, chance: f64) -> f64 {
    distributions::student_quantile(df, chance)
}

/// How often each block stands in each of some resamples, which are the same in every run.
#[pyfunction]
fn resamples(py: Python<'_>, n_blocks: usize, n: usize) -> PyResult<Bound<'_, PyAny>> {
    let (mut resampler, mut counts) = (Resampler::new(n_blocks), Vec::with_capacity(n * n_blocks));
    for _ in 0..n {
        resampler.draw(&mut counts);
    }
    floats(py, counts.into_iter())?.call_method1("reshape", (n, n_blocks))
}

/// The numbers below `n` in an order of chance, which is the same in every run.
#[pyfunction]
fn random_order(py: Python<'_>, n: u32) -> PyResult<Bound<'_, PyAny>> {
    ints(py, Chance::OF_ORDERS.order(n).into_iter().map(i64::from))
}
