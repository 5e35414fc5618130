//! Slices of the flows, matched by themselves and added up.

use super::matched_record;
use crate::base::hash::Seed;
use crate::file::{ExtentStart, FileExtent, RecordPlace};
use crate::matching::{
    Options, SliceResult, add_up, match_slice as run_match_slice, read_capture as run_read_capture,
};
use crate::plan::Plan;
use crate::py::interruptible::{interruptible, raise};
use crate::py::settings::Settings;
use crate::py::{Bound, PyAny, PyBytes, PyResult, Python, pyfunction};
use crate::reading::Progress;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads the capture of this `file`'s index from a byte behind so many frames, or from its beginning, to
/// another byte, or to its end, and writes what it shows into `directory`, which must be
/// the task's own, for as many slices of the flows. Returns counts as octets. `keep_rows` says whether
/// outcomes of single frames are kept. All tasks have one `seed`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(in crate::py) fn read_capture<'py>(
    py: Python<'py>,
    path: PathBuf,
    settings: &Settings,
    plan: Plan,
    directory: PathBuf,
    keep_rows: bool,
    file: usize,
    n_slices: usize,
    seed: u64,
    place: Option<(u64, u64)>,
    until_byte: Option<u64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut reading = settings.reading().map_err(|error| raise(py, error))?;
    reading.seed = Seed::new(seed);
    let progress = Progress::default();
    let options = Options::new(&directory, (keep_rows, false), 1);
    let place = place.map(|(at_byte, n_before)| RecordPlace { at_byte, n_before });
    let extent = FileExtent {
        start: place.map_or(ExtentStart::File, ExtentStart::Place),
        until_byte: until_byte.unwrap_or(u64::MAX),
    };
    let run = || {
        run_read_capture(
            (file, &path, &extent),
            &reading,
            &plan,
            n_slices,
            &options,
            &progress,
        )
    };
    let bytes = interruptible(py, &progress, None, || run()?.to_bytes())?;
    Ok(PyBytes::new(py, &bytes))
}

/// Matches one slice of the flows, of what `read_capture` wrote into `folders`, by capture,
/// and returns sums as octets. Of pairs and crossings `kept` says which are spilled, all into
/// `directory`, which must be the slice's own.
#[pyfunction]
pub(in crate::py) fn match_slice(
    py: Python<'_>,
    folders: Vec<Vec<PathBuf>>,
    plan: Plan,
    directory: PathBuf,
    kept: (bool, bool),
    slice: u32,
) -> PyResult<Bound<'_, PyBytes>> {
    let plan = Arc::new(plan);
    let options = Options::new(&directory, kept, 1);
    let run = || run_match_slice(&folders, &plan, slice, &options)?.to_bytes();
    let bytes = interruptible(py, &Progress::default(), None, run)?;
    Ok(PyBytes::new(py, &bytes))
}

/// Adds up what `read_capture` and `match_slice` returned for all of `n_files` captures and all slices.
#[pyfunction]
pub(in crate::py) fn add_slices(
    py: Python<'_>,
    slices: Vec<Vec<u8>>,
    n_files: usize,
    plan: Plan,
    directory: PathBuf,
    kept: (bool, bool),
) -> PyResult<Bound<'_, PyAny>> {
    let plan = Arc::new(plan);
    let options = Options::new(&directory, kept, 1);
    let job = || {
        let read = slices.iter().map(|bytes| SliceResult::from_bytes(bytes));
        add_up(&plan, &options, n_files, read)
    };
    let matched = interruptible(py, &Progress::default(), None, job)?;
    matched_record(py, &matched, plan.paired_one_in)
}
