//! What a run counted, as a dictionary.

use super::paired::trips_dict;
use super::{Bound, PyDict, PyDictMethods, PyList, PyListMethods, PyResult, Python, numbers};
use crate::base::blocks::{Blocks, Sums};
use crate::base::histogram::{Histogram, middle_ns};
use crate::matching::decoys::{Harvested, N_TURNS, ONE_IN};
use crate::matching::misses::Missed;
use crate::matching::reasons::REASONS;
use crate::matching::totals::{Bins, EndTally, LinkTally};
use crate::matching::{FrameId, Matched, STATUSES};
use std::path::PathBuf;

/// The dictionary of a run's counts.
pub(super) fn matched_dict<'py>(
    py: Python<'py>,
    matched: &Matched,
    one_in: u32,
) -> PyResult<Bound<'py, PyDict>> {
    let counts: Vec<Vec<u64>> = matched.counts.iter().map(|of| of.to_vec()).collect();
    let mut parts: Vec<(usize, Vec<Vec<u64>>)> = matched
        .parts
        .iter()
        .map(|(file, parts)| (*file, parts.iter().map(|of| of.to_vec()).collect()))
        .collect();
    parts.sort_unstable_by_key(|(file, _)| *file);
    let links = PyList::empty(py);
    for (tallies, spills) in matched.totals.links.iter().zip(&matched.totals.spills) {
        let both = PyList::empty(py);
        for (tally, spills) in tallies.iter().zip(spills) {
            both.append(link_dict(py, tally, spills)?)?;
        }
        links.append(both)?;
    }
    let out = PyDict::new(py);
    out.set_item("statuses", STATUSES.to_vec())?;
    out.set_item("counts", counts)?;
    let missed = |both: &[Missed; 2]| both.iter().map(|one| (one.n_seen, one.n_missed)).collect();
    let missed: Vec<Vec<_>> = matched.totals.missed.iter().map(missed).collect();
    out.set_item("missed", missed)?;
    out.set_item("reasons", REASONS.to_vec())?;
    let of_point = matched.reasons.iter().map(|of| of.to_vec());
    out.set_item("n_by_reason", of_point.collect::<Vec<_>>())?;
    out.set_item("elsewhere", matched.elsewhere.clone())?;
    out.set_item("parts", parts)?;
    out.set_item("links", links)?;
    out.set_item("least", least_list(py, matched)?)?;
    let place = |frame: FrameId| (frame.file(), frame.number());
    let early = matched.earliest.all();
    let early = early.map(|(up, down, one)| ((up, down), (place(one.up), place(one.down))));
    out.set_item("early", early.collect::<Vec<_>>())?;
    out.set_item("decoys", decoys_dict(py, &matched.decoys)?)?;
    out.set_item("rows", texts(&matched.totals.rows))?;
    let crossings = &matched.totals.crossings;
    out.set_item("crossed", texts(&crossings.crossed))?;
    out.set_item("lost", texts(crossings.lost.as_slice()))?;
    out.set_item("trips", trips_dict(py, &matched.totals.trips, one_in)?)?;
    Ok(out)
}

/// What decoys say of false pairs, and what it takes to weigh that.
fn decoys_dict<'py>(py: Python<'py>, decoys: &Harvested) -> PyResult<Bound<'py, PyDict>> {
    let of_ends = decoys.false_pairs.iter();
    let false_pairs: Vec<_> = of_ends.map(|(ends, n)| (*ends, n.to_vec())).collect();
    let dict = PyDict::new(py);
    dict.set_item("false_pairs", false_pairs)?;
    dict.set_item("packets", decoys.packets.to_vec())?;
    dict.set_item("n_pairs", decoys.n_pairs)?;
    dict.set_item("n_eligible", decoys.n_eligible)?;
    dict.set_item("n_tried", decoys.n_tried)?;
    dict.set_item("n_hit", decoys.n_hit)?;
    let place = |frame: FrameId| (frame.file(), frame.number());
    let closed = decoys.closed.iter().map(|(three, one)| {
        let open = one
            .open
            .map(|open| [open.up, open.down, open.through].map(place));
        (*three, one.n, one.n_open, open.map(Vec::from))
    });
    dict.set_item("closed", closed.collect::<Vec<_>>())?;
    dict.set_item("n_turns", N_TURNS)?;
    dict.set_item("one_in", ONE_IN)?;
    Ok(dict)
}

pub(super) fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}

fn link_dict<'py>(
    py: Python<'py>,
    tally: &LinkTally,
    spills: &[PathBuf],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("n", tally.n)?;
    dict.set_item("n_lost", tally.n_lost)?;
    dict.set_item("lost_spread", tally.lost_spread)?;
    dict.set_item("lost_blocks", tally.lost_blocks.clone())?;
    dict.set_item("matched_bytes", tally.matched_bytes)?;
    dict.set_item("lost_bytes", tally.lost_bytes)?;
    dict.set_item("n_duplicated", tally.n_duplicated)?;
    dict.set_item("n_reordered", tally.n_reordered)?;
    dict.set_item("histogram", histogram_dict(py, &tally.histogram)?)?;
    dict.set_item("blocks", blocks_dict(py, &tally.blocks)?)?;
    dict.set_item("variation", histogram_dict(py, &tally.variation)?)?;
    dict.set_item("spills", texts(spills))?;
    for (name, end) in ["first-byte", "last-byte"].into_iter().zip(&tally.ends) {
        dict.set_item(name, end_dict(py, end)?)?;
    }
    Ok(dict)
}

fn end_dict<'py>(py: Python<'py>, end: &EndTally) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("n", end.n)?;
    dict.set_item("n_lost", end.n_lost)?;
    dict.set_item("n_reordered", end.n_reordered)?;
    dict.set_item("n_duplicated", end.n_duplicated)?;
    dict.set_item("histogram", histogram_dict(py, &end.histogram)?)?;
    dict.set_item("spills", texts(&end.spills))?;
    Ok(dict)
}

/// The dictionary of a histogram: occupied bins by their middles.
pub(super) fn histogram_dict<'py>(
    py: Python<'py>,
    histogram: &Histogram,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (bins, counts): (Vec<i32>, Vec<u64>) = histogram.bins().unzip();
    dict.set_item("n", histogram.n)?;
    dict.set_item("sum_ns", histogram.sum_ns)?;
    dict.set_item("sum_of_squares", histogram.sum_of_squares)?;
    dict.set_item("min_ns", histogram.min_ns)?;
    dict.set_item("max_ns", histogram.max_ns)?;
    dict.set_item(
        "middles_ns",
        bins.into_iter().map(middle_ns).collect::<Vec<_>>(),
    )?;
    dict.set_item("counts", counts)?;
    Ok(dict)
}

/// The dictionary of blocks of time, as arrays that numpy reads in place.
pub(super) fn blocks_dict<'py>(py: Python<'py>, blocks: &Blocks) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let sums = || blocks.sums().iter();
    dict.set_item("n", numbers(py, sums().map(|one| count(one.n))))?;
    let total = |sum: i128| i64::try_from(sum).unwrap_or(i64::MAX);
    dict.set_item("sum_ns", numbers(py, sums().map(|one| total(one.sum_ns))))?;
    #[expect(clippy::cast_precision_loss, reason = "a variance needs no more")]
    let squares = |one: &Sums| (one.sum_of_squares as f64).to_bits().cast_signed();
    dict.set_item("sum_of_squares", numbers(py, sums().map(squares)))?;
    let bins = || blocks.bins();
    let block = |at: usize| i64::try_from(at).unwrap_or(0);
    dict.set_item("bin_of", numbers(py, bins().map(|(at, _, _)| block(at))))?;
    let middle = |at_ns: f64| at_ns.to_bits().cast_signed();
    dict.set_item(
        "middles_ns",
        numbers(py, bins().map(|(_, at, _)| middle(at))),
    )?;
    dict.set_item("counts", numbers(py, bins().map(|(_, _, n)| i64::from(n))))?;
    Ok(dict)
}

fn least_list<'py>(py: Python<'py>, matched: &Matched) -> PyResult<Bound<'py, PyList>> {
    let mut all: Vec<_> = matched.totals.least.iter().collect();
    all.sort_unstable_by_key(|(key, _)| **key);
    let list = PyList::empty(py);
    for ((up, down, side), bins) in all {
        let dict = least_dict(py, bins)?;
        dict.set_item("up", up)?;
        dict.set_item("down", down)?;
        dict.set_item("is_reverse", *side == 1)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn least_dict<'py>(py: Python<'py>, bins: &Bins) -> PyResult<Bound<'py, PyDict>> {
    let occupied = || bins.iter().flatten();
    let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let dict = PyDict::new(py);
    dict.set_item(
        "aligned_ns",
        numbers(py, occupied().map(|least| least.aligned_ns)),
    )?;
    dict.set_item("up_ns", numbers(py, occupied().map(|least| least.up_ns)))?;
    dict.set_item("raw_ns", numbers(py, occupied().map(|least| least.raw_ns)))?;
    dict.set_item("n", numbers(py, occupied().map(|least| count(least.n))))?;
    for (at, end) in ["up", "down"].into_iter().enumerate() {
        let frames = || occupied().filter_map(|least| least.frames.get(at).copied());
        let files = frames().map(|one| i64::try_from(one.file()).unwrap_or(0));
        dict.set_item(format!("{end}_file"), numbers(py, files))?;
        dict.set_item(
            format!("{end}_frame"),
            numbers(py, frames().map(FrameId::number)),
        )?;
    }
    Ok(dict)
}
