//! The border: here and in the files below, and nowhere else, the core knows Python. Large tables
//! cross as Arrow streams, small ones as numpy arrays, the rest as frozen dataclasses of `pcaplat.model`
//! whose fields are those of the core's structs.
#![expect(
    clippy::needless_pass_by_value,
    reason = "Python's arguments are converted to owned values"
)]

mod attributed;
mod digested;
mod distributed;
mod formats;
mod frame;
mod interruptible;
mod live;
mod matched;
mod planned;
mod record;
mod sampled;
mod settings;
mod stamped;
mod stream;
mod translated;

use crate::base::hash::Seed;
use crate::export::merged::{
    FrameSelection, MergeFile, MergePoint, RunFiles, write_merged as run_write_merged,
};
use crate::location::PointTree;
use crate::matching::IDENTITIES;
use crate::matching::MATCHED_BY;
use crate::matching::Options;
use crate::matching::PAIR_KINDS;
use crate::matching::STATUSES;
use crate::matching::TOLD_BY;
use crate::matching::exchange::round_trips::KINDS as TRIP_KINDS;
use crate::matching::match_files as run_match;
use crate::matching::outcome::reasons::REASONS;
use crate::plan::Plan;
use crate::reading::{Progress, Reading};
use crate::survey::sample as run_sample;
use interruptible::{interruptible, raise};
use matched::matched_record;
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyTuple};
use sampled::sample_record;
use settings::Settings;
use std::path::PathBuf;
use std::sync::Arc;
use stream::{ArrowTable, Follow, PacketStream};

/// Selects the same packets of all files, and states the facts about each file.
#[pyfunction]
#[pyo3(signature = (files, settings, limit, tell=None, *, n_parts=Vec::new()))]
fn sample<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    settings: &Settings,
    limit: usize,
    tell: Option<Bound<'py, PyAny>>,
    n_parts: Vec<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut reading = settings.reading().map_err(|error| raise(py, error))?;
    let progress = Progress::default();
    let job = || run_sample(&files, &mut reading, limit, &n_parts, &progress);
    let sample = interruptible(py, &progress, tell.as_ref(), job)?;
    sample_record(py, &sample)
}

/// Matches the frames of all files as the plan says; spilled files go into `directory`. What packets
/// are recognised by begins with a `seed`, a secret one if none is given.
#[pyfunction]
#[pyo3(signature = (files, settings, plan, directory, keep_rows, keep_crossings=false, n_partitions=0, tell=None, *, seed=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
fn match_files<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    settings: &Settings,
    plan: Plan,
    directory: PathBuf,
    keep_rows: bool,
    keep_crossings: bool,
    n_partitions: usize,
    tell: Option<Bound<'py, PyAny>>,
    seed: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut reading = settings.reading().map_err(|error| raise(py, error))?;
    reading.seed = seed.map_or_else(Seed::secret, Seed::new);
    let plan = Arc::new(plan);
    let progress = Progress::default();
    let options = Options::new(&directory, (keep_rows, keep_crossings), n_partitions);
    let job = || run_match(&files, &reading, &plan, &options, &progress);
    let matched = interruptible(py, &progress, tell.as_ref(), job)?;
    matched_record(py, &matched, plan.paired_one_in)
}

/// A file's place among all, its path, the part of it that is meant, and how it is divided.
type FileValues = (usize, PathBuf, Option<u32>, Option<PointTree>);

/// A point of merged.pcapng: name, description, number of its clock, files, clock knots.
type MergeValues = (
    String,
    String,
    Option<u32>,
    Vec<FileValues>,
    Vec<(i64, i64)>,
);

fn merge_point(
    reading: &Reading,
    (name, description, clock_domain, files, clock): MergeValues,
    only: &dyn Fn(usize) -> Option<FrameSelection>,
) -> MergePoint {
    let file = |(place, path, part, tree): FileValues| {
        let only = only(place);
        // what was matched nowhere is to be as it was captured
        let is_as_captured = matches!(only, Some(FrameSelection::Unmatched(..)));
        let stamps = reading.stamps(place).filter(|_| !is_as_captured);
        MergeFile {
            path,
            part,
            tree: tree.map(Arc::new),
            stamps: stamps.cloned().unwrap_or_default(),
            only,
        }
    };
    MergePoint {
        name,
        description,
        clock_domain,
        files: files.into_iter().map(file).collect(),
        clock,
    }
}

/// Writes all frames of some points as one pcapng and returns how many there are; with
/// `unmatched_in`, where a run spilled its outcomes, those that it matched nowhere; with `lost`, its list
/// of lost packets and the names of all points, those. With `found`, where a run spilled its outcomes and
/// by file the latency of each frame, each has a comment.
#[pyfunction]
#[pyo3(signature = (points, settings, out, unmatched_in=None, lost=None, found=None, tell=None))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
fn write_merged(
    py: Python<'_>,
    points: Vec<MergeValues>,
    settings: &Settings,
    out: PathBuf,
    unmatched_in: Option<PathBuf>,
    lost: Option<(PathBuf, Vec<String>)>,
    found: Option<(PathBuf, Vec<PathBuf>)>,
    tell: Option<Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let reading = settings.reading().map_err(|error| raise(py, error))?;
    let lost = lost.map(|(list, names)| (list, Arc::from(names)));
    let points_of: Arc<[String]> = points.iter().map(|point| point.0.clone()).collect();
    let only = |place: usize| match (&unmatched_in, &lost, &found) {
        (Some(folder), ..) => Some(FrameSelection::Unmatched(folder.clone(), place)),
        (_, Some((packets, names)), _) => Some(FrameSelection::Lost(
            packets.clone(),
            Arc::clone(names),
            place,
        )),
        (.., Some((folder, latencies))) => {
            let run = RunFiles {
                folder: folder.clone(),
                file: place,
                latencies: latencies.get(place).cloned()?,
            };
            Some(FrameSelection::All(run, Arc::clone(&points_of)))
        }
        _ => None,
    };
    let points: Vec<MergePoint> = points
        .into_iter()
        .map(|point| merge_point(&reading, point, &only))
        .collect();
    let progress = Progress::default();
    let job = || run_write_merged(&points, &reading.decoder, &out, &|| progress.is_cancelled());
    interruptible(py, &progress, tell.as_ref(), job)
}

/// The native module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    crate::base::panics::keep();
    module.add_class::<Settings>()?;
    module.add_class::<PacketStream>()?;
    module.add_class::<ArrowTable>()?;
    module.add_class::<translated::Learned>()?;
    module.add_class::<Follow>()?;
    module.add_class::<frame::DecodedFrame>()?;
    module.add_class::<frame::CapturedFrame>()?;
    module.add_class::<formats::Formats>()?;
    module.add_class::<live::LivePoints>()?;
    module.add_class::<sampled::extents::Survey>()?;
    module.add_function(wrap_pyfunction!(sample, module)?)?;
    module.add_function(wrap_pyfunction!(sampled::extents::survey_extent, module)?)?;
    module.add_function(wrap_pyfunction!(translated::learn, module)?)?;
    module.add_function(wrap_pyfunction!(match_files, module)?)?;
    module.add_function(wrap_pyfunction!(matched::sliced::read_capture, module)?)?;
    module.add_function(wrap_pyfunction!(matched::sliced::match_slice, module)?)?;
    module.add_function(wrap_pyfunction!(matched::sliced::add_slices, module)?)?;
    module.add_function(wrap_pyfunction!(attributed::attribute, module)?)?;
    module.add_function(wrap_pyfunction!(attributed::attribute_round_trips, module)?)?;
    module.add_function(wrap_pyfunction!(write_merged, module)?)?;
    module.add_function(wrap_pyfunction!(digested::write_digest, module)?)?;
    module.add_function(wrap_pyfunction!(formats::formats, module)?)?;
    module.add_function(wrap_pyfunction!(frame::decode, module)?)?;
    module.add_function(wrap_pyfunction!(frame::frames_at, module)?)?;
    distributed::add_to(module)?;
    module.add("STATUSES", PyTuple::new(module.py(), STATUSES)?)?;
    module.add("REASONS", PyTuple::new(module.py(), REASONS)?)?;
    module.add("PAIR_KINDS", PyTuple::new(module.py(), PAIR_KINDS)?)?;
    module.add("MATCHED_BY", PyTuple::new(module.py(), MATCHED_BY)?)?;
    module.add("TOLD_BY", PyTuple::new(module.py(), TOLD_BY)?)?;
    module.add("IDENTITIES", PyTuple::new(module.py(), IDENTITIES)?)?;
    module.add("TRIP_KINDS", PyTuple::new(module.py(), TRIP_KINDS)?)?;
    module.add("IS_DEBUG_BUILD", cfg!(debug_assertions))?;
    Ok(())
}
