//! The survey of captures that are read elsewhere, extent by extent.

use super::sample_record;
use crate::base::error::{Error, Result};
use crate::base::panics;
use crate::file::{ExtentStart, FileExtent, RecordPlace};
use crate::py::interruptible::{interruptible, raise};
use crate::py::settings::Settings;
use crate::py::{Bound, PyAny, PyResult, Python, pyclass, pyfunction, pymethods};
use crate::reading::Progress;
use crate::survey::{
    ExtentSelection, Sample, SurveyRounds, seekable_bytes, survey_extent as run_extent,
};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What files are read as, while they are surveyed; opaque to Python but for what tasks need.
#[pyclass(frozen, module = "pcaplat._native")]
pub(in crate::py) struct Survey {
    files: Vec<PathBuf>,
    settings: Settings,
    state: Mutex<SurveyRounds>,
}

#[pymethods]
impl Survey {
    /// Looks at the beginnings of all files.
    #[new]
    fn new(py: Python<'_>, files: Vec<PathBuf>, settings: &Settings) -> PyResult<Self> {
        let reading = settings.reading().map_err(|error| raise(py, error))?;
        let settings = settings.again(&reading);
        let progress = Progress::default();
        let begin = || SurveyRounds::begin(&files, reading, &progress);
        let state = Mutex::new(interruptible(py, &progress, None, begin)?);
        Ok(Self {
            files,
            settings,
            state,
        })
    }

    /// How files are read now.
    fn settings(&self, py: Python<'_>) -> PyResult<Settings> {
        let state = self
            .state
            .lock()
            .map_err(|_| raise(py, panics::message()))?;
        Ok(self.settings.again(state.reading()))
    }

    /// By file: its length, if it may be read from its middle.
    fn seekable_bytes(&self, py: Python<'_>) -> PyResult<Vec<Option<u64>>> {
        let job = || -> Result<Vec<Option<u64>>> {
            let state = self.state.lock().map_err(|_| panics::message())?;
            let files = self.files.iter().enumerate();
            let lengths = files.map(|(file, path)| seekable_bytes((file, path), state.reading()));
            lengths.collect()
        };
        interruptible(py, &Progress::default(), None, job)
    }

    /// Adds up what `survey_extent` wrote, by file in the order of extents: the dataclass of a sample; none
    /// where the files have to be read again, as `settings` has it then.
    fn settle<'py>(
        &self,
        py: Python<'py>,
        written: Vec<Vec<PathBuf>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let job = || -> Result<Option<Sample>> {
            let joined = written.iter().map(|of_file| join(of_file));
            let joined = joined.collect::<Result<Vec<_>>>()?;
            let mut state = self.state.lock().map_err(|_| panics::message())?;
            Ok(state.settle(joined))
        };
        let found = interruptible(py, &Progress::default(), None, job)?;
        found.map(|sample| sample_record(py, &sample)).transpose()
    }
}

fn join(extents: &[PathBuf]) -> Result<ExtentSelection> {
    let read = |path: &PathBuf| -> Result<ExtentSelection> {
        let bytes = std::fs::read(path).map_err(|source| failed(path, source))?;
        ExtentSelection::from_bytes(&bytes)
    };
    let mut extents = extents.iter();
    let first = extents.next().map(read).transpose()?;
    let mut all = first.ok_or_else(|| Error::Bug("a file without an extent".to_owned()))?;
    for path in extents {
        all.join(read(path)?)?;
    }
    Ok(all)
}

fn failed(path: &Path, source: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        source,
    }
}

/// Where an extent begins: with the file; behind so many frames at a byte; or, if nobody has counted them, at
/// the first place from a byte on that looks like one.
type StartValues = Option<(u64, Option<u64>)>;

/// Where it began and ended: bytes, and frames before them; whether the file ends in it, whether something is
/// damaged, and whether the file has to be read in one.
type RangeValues = ((u64, u64), (u64, u64), bool, bool, bool);

/// Surveys an extent of the capture of this `file`'s index, and writes what it selected to a path.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub(in crate::py) fn survey_extent(
    py: Python<'_>,
    path: PathBuf,
    settings: &Settings,
    to: PathBuf,
    file: usize,
    limits: (usize, usize),
    start: StartValues,
    until_byte: Option<u64>,
) -> PyResult<RangeValues> {
    let reading = settings.reading().map_err(|error| raise(py, error))?;
    let progress = Progress::default();
    let start = match start {
        None => ExtentStart::File,
        Some((at_byte, None)) => ExtentStart::Sought(at_byte),
        Some((at_byte, Some(n_before))) => ExtentStart::Place(RecordPlace { at_byte, n_before }),
    };
    let until_byte = until_byte.unwrap_or(u64::MAX);
    let extent = FileExtent { start, until_byte };
    let job = || -> Result<ExtentSelection> {
        let found = run_extent((file, &path), &extent, &reading, limits, &progress)?;
        std::fs::write(&to, found.to_bytes()?).map_err(|source| failed(&to, source))?;
        Ok(found)
    };
    let found = interruptible(py, &progress, None, job)?;
    let [from, to] = found.range();
    Ok((
        (from.at_byte, from.n_before),
        (to.at_byte, to.n_before),
        found.is_over(),
        found.is_damaged(),
        found.needs_whole(),
    ))
}
