//! Spilled raw differences, counted as latencies.

use super::attend::attend;
use super::matched::{blocks_dict, histogram_dict};
use super::paired::counted_list;
use super::planned::{Knots, centre, grid};
use super::{Bound, PyDict, PyDictMethods, PyList, PyResult, Python, pyfunction};
use crate::attribute::{Counting, TripFiles, latencies, round_trips};
use crate::base::error::Result;
use crate::plan::Direction;
use crate::reading::Progress;
use std::path::PathBuf;

/// The latencies of spilled raw differences, given the far clock's offset against the near one.
#[pyfunction]
pub(super) fn attribute(
    py: Python<'_>,
    spills: Vec<PathBuf>,
    is_reverse: bool,
    clock: Knots,
    usual: Knots,
    blocks: (i64, i64),
) -> PyResult<Bound<'_, PyDict>> {
    let direction = Direction::of(!is_reverse);
    let counted = count(py, direction, (clock, usual), blocks, |counting| {
        latencies(&spills, counting)
    })?;
    let dict = histogram_dict(py, &counted.histogram)?;
    dict.set_item("blocks", blocks_dict(py, &counted.blocks)?)?;
    Ok(dict)
}

/// The two-way contributions of spilled pairs of requests and responses, by kind, given the same.
#[pyfunction]
pub(super) fn attribute_round_trips(
    py: Python<'_>,
    files: Vec<TripFiles>,
    clock: Knots,
    usual: Knots,
    blocks: (i64, i64),
) -> PyResult<Bound<'_, PyList>> {
    let clocks = (clock, usual);
    let counted = count(py, Direction::Forward, clocks, blocks, |counting| {
        round_trips(&files, counting)
    })?;
    counted_list(py, &counted)
}

fn count<T: Send>(
    py: Python<'_>,
    direction: Direction,
    (clock, usual): (Knots, Knots),
    blocks: (i64, i64),
    job: impl Fn(&Counting<'_>) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    let counting = Counting {
        direction,
        clock: &centre(clock),
        centre: &centre(usual),
        grid: grid(blocks),
    };
    attend(py, &Progress::default(), None, || job(&counting))
}
