//! What a run counted: the dataclasses of `pcaplat.model.matched`.

pub(super) mod sliced;

use super::record::{counts, floats, ints, record, records};
use super::{Bound, IntoPyObject, PyAny, PyErr, PyResult, Python};
use crate::base::blocks::strata::Cell;
use crate::base::blocks::{Blocks, Sums};
use crate::base::histogram::Histogram;
use crate::matching::FrameId;
use crate::matching::Matched;
use crate::matching::counts::totals::Bins;
use crate::matching::counts::totals::EndTally;
use crate::matching::counts::totals::LateTally;
use crate::matching::counts::totals::LinkTally;
use crate::matching::counts::undecided::UndecidedTally;
use crate::matching::decoys::DecoyCounts;
use crate::matching::decoys::N_ROUNDS;
use crate::matching::decoys::ONE_IN;
use crate::matching::decoys::triangle::Closed;
use crate::matching::decoys::triangle::OpenTriangle;
use crate::matching::exchange::round_trips::Shares;
use crate::matching::late::LatePairs;
use crate::matching::loss::missed::Missed;
use std::collections::BTreeMap;
use std::path::PathBuf;

records! {
    EndTally as "matched"."EndCounts" {
        n, histogram, n_lost, n_reordered, n_duplicated, spills: texts(spills),
    }
    LateTally as "matched"."LateCounts" { n, sum_ns, n_too_late }
    UndecidedTally as "matched"."UndecidedCounts" {
        n, n_maybe_lost, n_maybe_late, least_sum_ns, least_n, most_sum_ns, most_n, least_ns, most_ns,
        maybe_lost_bytes
    }
    LatePairs as "matched"."LatePairs" { n, n_false }
    Missed as "matched"."MissedCounts" { n_seen, n_missed, n_maybe_missed, n_paused }
    OpenTriangle as "matched"."OpenTriangle" { up, down, through }
    Closed as "matched"."TriangleCounts" { n, n_open, open }
}

/// The dataclass of a run's counts.
pub(super) fn matched_record<'py>(
    py: Python<'py>,
    matched: &Matched,
    one_in: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let (totals, parts) = (&matched.totals, &matched.parts);
    let early = matched.earliest.all();
    let early = early.map(|(up, down, one)| ((up, down), (one.up, one.down)));
    let links = totals.links.iter().zip(&totals.spills);
    let links = links
        .map(|([to, back], [of_to, of_back])| (LinkRecord(to, of_to), LinkRecord(back, of_back)));
    let least = totals.least.iter();
    let min_delays = least.map(|((up, down, _), bins)| min_delays_record(py, (*up, *down), bins));
    record!(py, "matched", "Matched", {
        counts: &matched.counts,
        elsewhere: &matched.elsewhere,
        parts: parts.iter().map(|(file, parts)| (*file, parts)).collect::<BTreeMap<_, _>>(),
        n_by_reason: &matched.reasons,
        missed: &totals.missed,
        links: links.collect::<Vec<_>>(),
        min_delays: min_delays.collect::<PyResult<Vec<_>>>()?,
        early: early.collect::<BTreeMap<_, _>>(),
        decoys: decoys_record(py, &matched.decoys)?,
        n_plain: matched.n_plain,
        n_without_direction: totals.n_without_direction,
        late: &matched.late,
        rows: texts(&totals.rows),
        crossed: texts(&totals.crossings.crossed),
        lost: texts(totals.crossings.lost.as_slice()),
        lost_packets: texts(totals.crossings.lost_packets.as_slice()),
        trips: trips_record(py, &totals.trips, one_in)?,
    })
}

/// Counts of a link in one direction, and its files.
struct LinkRecord<'a>(&'a LinkTally, &'a [PathBuf]);

impl<'py> IntoPyObject<'py> for LinkRecord<'_> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let LinkTally {
            n,
            blocks,
            variation,
            n_duplicated,
            n_reordered,
            n_lost,
            lost_spread,
            n_lost_divided,
            lost_blocks,
            matched_bytes,
            lost_bytes,
            ends,
            late,
            undecided,
            took_sum_ns,
            loss_threshold_ns,
            ..
        } = self.0;
        record!(py, "matched", "LinkCounts", {
            n, histogram: &blocks.histogram(), blocks, variation, n_duplicated, n_reordered, n_lost, lost_spread,
            n_lost_divided, lost_blocks, matched_bytes, lost_bytes, ends, late, undecided, took_sum_ns,
            loss_threshold_ns,
            spills: texts(self.1),
        })
    }
}

/// Latencies, of all blocks together and block by block.
pub(super) struct Latencies<'a>(pub(super) &'a Blocks);

impl<'py> IntoPyObject<'py> for Latencies<'_> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        record!(py, "matched", "Latencies", { histogram: &self.0.histogram(), blocks: self.0 })
    }
}

/// What decoys say of false pairs, and what it takes to weigh that.
fn decoys_record<'py>(py: Python<'py>, decoys: &DecoyCounts) -> PyResult<Bound<'py, PyAny>> {
    let DecoyCounts {
        false_pairs,
        n_pairs,
        packets,
        n_eligible,
        n_tried,
        n_hit,
        closed,
    } = decoys;
    record!(py, "matched", "DecoyCounts", {
        false_pairs, n_pairs, packets, n_eligible, n_tried, n_hit, closed,
        n_turns: N_ROUNDS,
        one_in: ONE_IN,
    })
}

/// Requests and their responses.
fn trips_record<'py>(py: Python<'py>, shares: &Shares, one_in: u32) -> PyResult<Bound<'py, PyAny>> {
    let Shares {
        n_left_out,
        links,
        seen,
        spills,
    } = shares;
    let spills = spills.iter().map(|of| of.each_ref().map(|one| texts(one)));
    let links = links.iter().map(|of| of.each_ref().map(Latencies));
    record!(py, "matched", "TripCounts", {
        one_in,
        n_left_out,
        links: links.collect::<Vec<_>>(),
        seen: seen.each_ref().map(|of| of.each_ref().map(|ends| ends.each_ref().map(Latencies))),
        spills: spills.collect::<Vec<_>>(),
    })
}

fn min_delays_record<'py>(
    py: Python<'py>,
    (up, down): (u16, u16),
    bins: &Bins,
) -> PyResult<Bound<'py, PyAny>> {
    let occupied = || bins.iter().flatten();
    let files = |end: usize| {
        let frames = occupied().filter_map(move |least| least.frames.get(end));
        frames.map(|frame| i64::try_from(frame.file()).unwrap_or(0))
    };
    let numbers = |end: usize| {
        let frames = occupied().filter_map(move |least| least.frames.get(end));
        frames.map(|frame| frame.number())
    };
    record!(py, "matched", "MinDelays", {
        up,
        down,
        aligned_ns: ints(py, occupied().map(|least| least.aligned_ns))?,
        up_ns: ints(py, occupied().map(|least| least.up_ns))?,
        raw_ns: ints(py, occupied().map(|least| least.raw_ns))?,
        n: counts(py, occupied().map(|least| least.n))?,
        gap_ns: ints(py, occupied().map(|least| least.second_ns.saturating_sub(least.residual_ns)))?,
        up_file: ints(py, files(0))?,
        up_frame: ints(py, numbers(0))?,
        down_file: ints(py, files(1))?,
        down_frame: ints(py, numbers(1))?,
    })
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    let paths = paths.iter();
    paths.map(|path| path.display().to_string()).collect()
}

/// Its file's index and its number there.
impl<'py> IntoPyObject<'py> for &FrameId {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        Ok((self.file(), self.number()).into_pyobject(py)?.into_any())
    }
}

impl<'py> IntoPyObject<'py> for FrameId {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        (&self).into_pyobject(py)
    }
}

/// Values, or occupied bins by their middles.
impl<'py> IntoPyObject<'py> for &Histogram {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let (values_ns, counts): (Vec<f64>, Vec<u64>) = self.values().into_iter().unzip();
        #[expect(clippy::cast_precision_loss, reason = "a variance needs no more")]
        let sum_of_squares = self.sum_of_squares as f64;
        record!(py, "latencies.segments", "Distribution", {
            n: self.n,
            sum_ns: self.sum_ns,
            sum_of_squares: sum_of_squares,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            middles_ns: values_ns,
            counts,
        })
    }
}

/// Columns by block, and by block and bin.
impl<'py> IntoPyObject<'py> for &Blocks {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let sums = || self.sums().iter();
        let total = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
        #[expect(clippy::cast_precision_loss, reason = "a variance needs no more")]
        let squares = |one: &Sums| one.sum_of_squares as f64;
        let block = |at: usize| i64::try_from(at).unwrap_or(0);
        let values = self.values();
        let cells = || self.strata().cells();
        let kind = |kind: usize| i64::try_from(kind).unwrap_or(0);
        #[expect(clippy::cast_precision_loss, reason = "a variance needs no more")]
        let cell_squares = |(_, cell): (usize, &Cell)| cell.sum_of_squares as f64;
        record!(py, "blocks", "CountedBlocks", {
            n: counts(py, sums().map(|one| one.n))?,
            sum_ns: ints(py, sums().map(|one| total(one.sum_ns)))?,
            sum_of_squares: floats(py, sums().map(squares))?,
            bin_of: ints(py, values.iter().map(|(at, _, _)| block(*at)))?,
            middles_ns: floats(py, values.iter().map(|(_, value, _)| *value))?,
            counts: ints(py, values.iter().map(|(_, _, n)| (*n).into()))?,
            strata: record!(py, "blocks", "Strata", {
                kind: ints(py, cells().map(|(of, _)| kind(of)))?,
                at: ints(py, cells().map(|(_, cell)| cell.at.into()))?,
                n: ints(py, cells().map(|(_, cell)| cell.n.into()))?,
                sum_ns: ints(py, cells().map(|(_, cell)| cell.sum_ns))?,
                sum_of_squares: floats(py, cells().map(cell_squares))?,
            })?,
        })
    }
}
