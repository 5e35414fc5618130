//! Slices of the flows, matched by themselves and added up.

use super::matched_record;
use crate::base::hash::Seed;
use crate::matching::{Options, Slice, SliceResult, add_up, match_slice as run_match_slice};
use crate::plan::Plan;
use crate::py::interruptible::{interruptible, raise};
use crate::py::settings::Settings;
use crate::py::{Bound, PyAny, PyBytes, PyResult, PyValueError, Python, pyfunction};
use crate::reading::Progress;
use std::path::PathBuf;
use std::sync::Arc;

/// Matches the frames of a `part` of the flows, number and number of all, as `match_files` does with
/// those of all flows, and returns sums as octets. Of pairs and crossings `kept` says which are spilled,
/// all into `directory`, which must be the part's own. All parts have one `seed`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(in crate::py) fn match_slice<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    settings: &Settings,
    plan: Plan,
    directory: PathBuf,
    kept: (bool, bool),
    part: (u64, u64),
    seed: u64,
) -> PyResult<Bound<'py, PyBytes>> {
    let slice = Slice::new(part.0, part.1).ok_or_else(|| PyValueError::new_err(part))?;
    let mut reading = settings.reading().map_err(|error| raise(py, error))?;
    reading.seed = Seed::new(seed);
    let (plan, progress) = (Arc::new(plan), Progress::default());
    let options = Options::new(&directory, kept, 1);
    let run = || run_match_slice(&files, &reading, &plan, slice, &options, &progress);
    let bytes = interruptible(py, &progress, None, || run()?.to_bytes())?;
    Ok(PyBytes::new(py, &bytes))
}

/// Adds up what `match_slice` returned for all slices of `n_files` files.
#[pyfunction]
pub(in crate::py) fn add_slices<'py>(
    py: Python<'py>,
    slices: Vec<Vec<u8>>,
    n_files: usize,
    plan: Plan,
    directory: PathBuf,
    kept: (bool, bool),
) -> PyResult<Bound<'py, PyAny>> {
    let plan = Arc::new(plan);
    let options = Options::new(&directory, kept, 1);
    let job = || {
        let read = slices.iter().map(|bytes| SliceResult::from_bytes(bytes));
        add_up(&plan, &options, n_files, read)
    };
    let matched = interruptible(py, &Progress::default(), None, job)?;
    matched_record(py, &matched, plan.paired_one_in)
}
