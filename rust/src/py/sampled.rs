//! What the survey's reading brought home: the dataclasses of `pcaplat.model.sampled`.

pub(super) mod extents;

use super::record::{ints, record, records};
use super::stamped::{hop_values, layout_name};
use super::{Bound, IntoPyObject, PyAny, PyDict, PyDictMethods, PyErr, PyResult, Python};
use crate::file::Interface;
use crate::reading::fragments::FragmentCounts;
use crate::survey::{
    FileFacts, FlowStart, HopTimes, InterfaceFacts, NodeTimes, Queue, RATES, Sample, SampledPacket,
    StampFacts, StampOrder,
};
use crate::wire::telemetry::{HopKey, TimeLayout};
use crate::wire::why_unread;

records! {
    FragmentCounts as "sampled"."FragmentCounts" {
        n_parts, n_whole, n_unfinished, n_contradictory,
    }
    StampFacts as "sampled"."StampFacts" {
        name, resolution_ns, timescale, offset_ns, n_stamped, n_damaged, n_without, is_used,
    }
}

/// The dataclass of a sample.
pub(super) fn sample_record<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyAny>> {
    let Sample {
        rows,
        more,
        alike,
        flows,
        facts,
        fragmented,
        prefixes,
        threshold,
        stamps,
    } = sample;
    let fragmented = fragmented.iter();
    let fragmented = fragmented.map(|(pair, n_bytes)| (pair.cast_signed(), *n_bytes));
    record!(py, "sampled", "Sampled", {
        packets: packets_dict(py, rows)?,
        more: packets_dict(py, more)?,
        alike: packets_dict(py, alike)?,
        flows: flows_dict(py, flows)?,
        fragmented: fragmented.collect::<Vec<_>>(),
        prefixes: prefixes.to_vec(),
        is_whole: *threshold == u64::MAX,
        stamps: super::stamped::values(stamps),
        facts,
    })
}

/// A column's name, and its value in a row of a file.
type Column<T> = (&'static str, fn(usize, &T) -> i64);

/// Rows of all files as columns of numbers.
fn columns_dict<'py, 'a, T: 'a>(
    py: Python<'py>,
    files: &[Vec<T>],
    columns: impl Iterator<Item = &'a Column<T>>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let of_file = files.iter().enumerate();
    let rows = of_file.flat_map(|(file, rows)| rows.iter().map(move |row| (file, row)));
    let rows: Vec<(usize, &T)> = rows.collect();
    for (name, value) in columns {
        let values = rows.iter().map(|(file, row)| value(*file, row));
        dict.set_item(*name, ints(py, values)?)?;
    }
    Ok(dict)
}

fn index(file: usize) -> i64 {
    i64::try_from(file).unwrap_or(-1)
}

/// See [`SampledPacket`], and the location that it has.
const PACKET_COLUMNS: [Column<SampledPacket>; 25] = [
    ("file", |file, _| index(file)),
    ("key", |_, row| row.key.cast_signed()),
    ("bare", |_, row| row.unaddressed.cast_signed()),
    ("content", |_, row| row.content.cast_signed()),
    ("leg", |_, row| row.tuple_and_seq.cast_signed()),
    ("pair", |_, row| row.pair.cast_signed()),
    ("flow", |_, row| row.flow.cast_signed()),
    ("is_toward", |_, row| row.toward.into()),
    ("is_directed", |_, row| row.directed.into()),
    ("copy_tag", |_, row| row.copy_tag.into()),
    ("t_ns", |_, row| row.t_ns),
    ("tcp_bytes", |_, row| row.tcp_bytes.into()),
    ("interface", |_, row| row.location.interface.into()),
    ("port", |_, row| row.location.port),
    ("direction", |_, row| row.location.direction.into()),
    ("depth", |_, row| row.location.depth.into()),
    ("tunnel", |_, row| row.location.tunnel),
    ("vlans", |_, row| row.location.vlans),
    ("outer_src_mac", |_, row| row.location.outer_macs[0]),
    ("outer_dst_mac", |_, row| row.location.outer_macs[1]),
    ("inner_src_mac", |_, row| row.location.inner_macs[0]),
    ("inner_dst_mac", |_, row| row.location.inner_macs[1]),
    ("outer_ttl", |_, row| row.location.outer_ttl.into()),
    ("ttl", |_, row| row.location.ttl.into()),
    ("source", |_, row| row.location.source),
];

/// See [`FlowStart`].
const FLOW_COLUMNS: [Column<FlowStart>; 7] = [
    ("file", |file, _| index(file)),
    ("interface", |_, flow| flow.interface.into()),
    ("flow", |_, flow| flow.flow.cast_signed()),
    ("pair", |_, flow| flow.pair.cast_signed()),
    ("first_t_ns", |_, flow| flow.first_t_ns),
    ("is_first_toward", |_, flow| flow.first_toward.into()),
    ("opens", |_, flow| flow.opens.into()),
];

/// See the flow's dialogue.
const DIALOGUE_COLUMNS: [Column<FlowStart>; 14] = [
    ("n_turns_back", |_, flow| {
        flow.dialogue.n_direction_changes[0].into()
    }),
    ("n_turns_toward", |_, flow| {
        flow.dialogue.n_direction_changes[1].into()
    }),
    ("n_backward_back", |_, flow| {
        flow.dialogue.n_backward[0].into()
    }),
    ("n_backward_toward", |_, flow| {
        flow.dialogue.n_backward[1].into()
    }),
    ("least_back_ns", |_, flow| {
        flow.dialogue.least_ns[0].unwrap_or(0)
    }),
    ("least_toward_ns", |_, flow| {
        flow.dialogue.least_ns[1].unwrap_or(0)
    }),
    ("unseen_bytes", |_, flow| {
        flow.dialogue.unseen_bytes.cast_signed()
    }),
    ("n_unseen", |_, flow| flow.dialogue.n_unseen.into()),
    ("early_bytes", |_, flow| {
        flow.dialogue.early_bytes.cast_signed()
    }),
    ("n_early_back", |_, flow| flow.dialogue.n_early[0].into()),
    ("n_early_toward", |_, flow| flow.dialogue.n_early[1].into()),
    ("early_ns", |_, flow| flow.dialogue.early_ns),
    ("n_data_back", |_, flow| flow.dialogue.n_data[0].into()),
    ("n_data_toward", |_, flow| flow.dialogue.n_data[1].into()),
];

fn packets_dict<'py>(py: Python<'py>, rows: &[Vec<SampledPacket>]) -> PyResult<Bound<'py, PyDict>> {
    columns_dict(py, rows, PACKET_COLUMNS.iter())
}

fn flows_dict<'py>(py: Python<'py>, flows: &[Vec<FlowStart>]) -> PyResult<Bound<'py, PyDict>> {
    columns_dict(py, flows, FLOW_COLUMNS.iter().chain(&DIALOGUE_COLUMNS))
}

impl<'py> IntoPyObject<'py> for &FileFacts {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let FileFacts {
            interfaces,
            declared,
            format,
            digest_key,
            damage,
            is_truncated,
            prefixes,
            fragments,
            places,
        } = self;
        let places = places.iter().map(|one| (one.at_byte, one.n_before));
        let damage = damage.iter().map(|one| (one.at_byte, &one.text));
        let interfaces = interfaces.iter().enumerate();
        let interfaces = interfaces.filter_map(|(index, seen)| Some((index, seen.as_ref()?)));
        record!(py, "sampled", "FileFacts", {
            format,
            digest_key,
            is_truncated,
            damage: damage.collect::<Vec<_>>(),
            prefixes: prefixes.to_vec(),
            fragments,
            places: places.collect::<Vec<_>>(),
            interfaces: interfaces
                .map(|(index, seen)| interface_record(py, index, seen, declared.get(index)))
                .collect::<PyResult<Vec<_>>>()?,
        })
    }
}

/// What the file declares of an interface, and what its frames showed.
fn interface_record<'py>(
    py: Python<'py>,
    index: usize,
    seen: &InterfaceFacts,
    declared: Option<&Interface>,
) -> PyResult<Bound<'py, PyAny>> {
    let stamps = seen.stamps.as_ref().filter(|stamps| stamps.is_used);
    let of_file_ns = declared.map_or(1000.0, |declared| declared.resolution_ns);
    record!(py, "sampled", "InterfaceFacts", {
        interface: index,
        name: declared.and_then(|declared| declared.name.as_ref()),
        link: seen.link,
        why_unread: why_unread(seen.link),
        snap_bytes: declared.map_or(0, |declared| declared.snap_bytes),
        clock: declared.and_then(|declared| declared.clock),
        is_aligned: declared.is_some_and(|declared| declared.is_aligned),
        declared_resolution_ns: stamps.map_or(of_file_ns, |stamps| stamps.resolution_ns),
        n_dropped: declared.and_then(|declared| declared.n_dropped),
        stamps: &seen.stamps,
        observed_resolution_ns: seen.observed_resolution_ns,
        n_frames: seen.n_frames,
        n_undecoded: seen.n_undecoded,
        n_cut: seen.n_cut,
        longest_bytes: seen.longest_bytes,
        first_t_ns: seen.first_t_ns,
        last_t_ns: seen.last_t_ns,
        disorder_ns: seen.disorder_ns,
        order: &seen.order,
        queue: queue_rows(&seen.queue),
        hidden_ports: &seen.hidden.ports,
        n_encrypted: seen.hidden.n_encrypted,
        mirrors: seen.mirrors.sessions(),
        hop_times: hop_records(py, &seen.hop_times)?,
        n_nodes_beyond: seen.hop_times.n_beyond,
        n_by_depth: seen.hidden.n_by_depth,
        n_checksums: seen.checksums.n,
        n_partial: seen.checksums.n_partial,
    })
}

impl<'py> IntoPyObject<'py> for &StampOrder {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        record!(py, "sampled", "StampOrder", {
            n_backward: self.n_backward,
            longest_behind: self.longest_behind,
            behind_from: self.behind_from,
            behind_ns: self.behind_ns,
            n_in_bursts: self.n_in_bursts,
            longest_burst: self.longest_burst,
            burst_from: self.burst_from,
            least_wait_ns: self.least_wait_ns,
        })
    }
}

/// Rate; of short and of long frames: how many, how many at its time, how many sooner; the longest
/// wait, ns.
type QueueRow = (u32, [u64; 2], [u64; 2], [u64; 2], i64);

fn hop_records<'py>(py: Python<'py>, times: &HopTimes) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let record = |(key, layout, node): (&HopKey, &TimeLayout, &NodeTimes)| {
        let pairs = node.pairs.iter().chain(node.last.iter()).copied();
        record!(py, "sampled", "NodeTimes", {
            key: hop_values(key),
            layout: layout_name(*layout),
            n: node.n,
            largest_fraction: node.largest_fraction,
            pairs: pairs.collect::<Vec<_>>(),
        })
    };
    times.nodes().map(record).collect()
}

fn queue_rows(queue: &Queue) -> Vec<QueueRow> {
    let counts = queue.n_at.iter().zip(&queue.n_sooner);
    let rows = RATES.iter().zip(counts).zip(queue.longest_busy_ns);
    rows.map(|((rate, (at, sooner)), busy_ns)| (*rate, queue.n, *at, *sooner, busy_ns))
        .collect()
}
