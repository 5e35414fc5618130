//! Slices of the flows, matched by themselves and added up.

use super::interruptible::{interruptible, raise};
use super::matched::matched_record;
use super::settings::Settings;
use super::{Bound, PyAny, PyBytes, PyResult, PyValueError, Python, pyfunction};
use crate::base::hash::Seed;
use crate::matching::{Keep, Options, Slice, SliceResult, add_up, match_slice as run_match_slice};
use crate::plan::Plan;
use crate::reading::Progress;
use std::path::PathBuf;
use std::sync::Arc;

/// Matches the frames of slice `index` of `n_slices`, as `match_files` does with all, and returns sums
/// as octets; spilled files go into `directory`, which must be the slice's own. All slices have one
/// `seed`.
#[pyfunction]
#[pyo3(signature = (files, settings, plan, directory, keep_rows, keep_crossings, *, index, n_slices, seed, n_partitions=1))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(super) fn match_slice<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    settings: &Settings,
    plan: Plan,
    directory: PathBuf,
    keep_rows: bool,
    keep_crossings: bool,
    index: u64,
    n_slices: u64,
    seed: u64,
    n_partitions: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let slice = Slice::new(index, n_slices);
    let slice = slice.ok_or_else(|| PyValueError::new_err((index, n_slices)))?;
    let mut reading = settings.reading().map_err(|error| raise(py, error))?;
    reading.seed = Seed::new(seed);
    let (plan, progress) = (Arc::new(plan), Progress::default());
    let options = Options {
        directory: &directory,
        keep: Keep {
            rows: keep_rows,
            crossings: keep_crossings,
        },
        n_partitions,
    };
    let job = || {
        let result = run_match_slice(&files, &reading, &plan, slice, &options, &progress)?;
        result.to_bytes()
    };
    let bytes = interruptible(py, &progress, None, job)?;
    Ok(PyBytes::new(py, &bytes))
}

/// Adds up what `match_slice` returned for all slices of `n_files` files.
#[pyfunction]
pub(super) fn add_slices<'py>(
    py: Python<'py>,
    slices: Vec<Vec<u8>>,
    n_files: usize,
    plan: Plan,
    directory: PathBuf,
    keep_rows: bool,
    keep_crossings: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = Arc::new(plan);
    let options = Options {
        directory: &directory,
        keep: Keep {
            rows: keep_rows,
            crossings: keep_crossings,
        },
        n_partitions: 1,
    };
    let job = || {
        let read = slices.iter().map(|bytes| SliceResult::from_bytes(bytes));
        add_up(&plan, &options, n_files, read)
    };
    let matched = interruptible(py, &Progress::default(), None, job)?;
    matched_record(py, &matched, plan.paired_one_in)
}
