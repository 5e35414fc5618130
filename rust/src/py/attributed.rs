//! Spilled raw differences, counted as latencies.

use super::interruptible::interruptible;
use super::matched::Latencies;
use super::{Bound, IntoPyObject, PyAny, PyResult, Python, pyfunction};
use crate::attribute::{Counting, TripFiles, latencies, round_trips};
use crate::base::blocks::Grid;
use crate::base::error::Result;
use crate::base::piecewise::PiecewiseLinear;
use crate::plan::Direction;
use crate::reading::Progress;
use std::path::PathBuf;

/// The latencies of spilled raw differences, given the far clock's offset against the near one.
#[pyfunction]
pub(super) fn attribute(
    py: Python<'_>,
    spills: Vec<PathBuf>,
    is_reverse: bool,
    clock: PiecewiseLinear,
    usual: PiecewiseLinear,
    blocks: Grid,
) -> PyResult<Bound<'_, PyAny>> {
    let direction = Direction::of(!is_reverse);
    let counted = &count(py, direction, (&clock, &usual), blocks, |counting| {
        latencies(&spills, counting)
    })?;
    Latencies(counted).into_pyobject(py)
}

/// The two-way contributions of spilled pairs of requests and responses, by kind, given the same.
#[pyfunction]
pub(super) fn attribute_round_trips(
    py: Python<'_>,
    files: Vec<TripFiles>,
    clock: PiecewiseLinear,
    usual: PiecewiseLinear,
    blocks: Grid,
) -> PyResult<Bound<'_, PyAny>> {
    let clocks = (&clock, &usual);
    let counted = &count(py, Direction::Forward, clocks, blocks, |counting| {
        round_trips(&files, counting)
    })?;
    counted.each_ref().map(Latencies).into_pyobject(py)
}

fn count<T: Send>(
    py: Python<'_>,
    direction: Direction,
    (clock, usual): (&PiecewiseLinear, &PiecewiseLinear),
    grid: Grid,
    job: impl Fn(&Counting<'_>) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    let counting = Counting {
        direction,
        clock,
        centre: usual,
        grid,
    };
    interruptible(py, &Progress::default(), None, || job(&counting))
}
