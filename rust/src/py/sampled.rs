//! What the survey's reading brought home, as a dictionary.

use super::{Bound, PyDict, PyDictMethods, PyList, PyListMethods, PyResult, Python, numbers};
use crate::file::Interface;
use crate::reading::fragments::FragmentCounts;
use crate::survey::{
    FileFacts, FlowStart, InterfaceFacts, Queue, RATES, Sample, SampledPacket, StampFacts,
    StampOrder,
};
use crate::wire::why_unread;

/// The dictionary of a sample.
pub(super) fn sample_dict<'py>(py: Python<'py>, sample: &Sample) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("packets", packets_dict(py, &sample.rows)?)?;
    out.set_item("more", packets_dict(py, &sample.more)?)?;
    out.set_item("alike", packets_dict(py, &sample.alike)?)?;
    out.set_item("flows", flows_dict(py, &sample.flows)?)?;
    let fragmented = sample.fragmented.iter();
    let fragmented = fragmented.map(|(pair, n_bytes)| (pair.cast_signed(), *n_bytes));
    out.set_item("fragmented", fragmented.collect::<Vec<_>>())?;
    out.set_item("prefixes", sample.prefixes.to_vec())?;
    out.set_item("is_whole", sample.threshold == u64::MAX)?;
    out.set_item("stamps", super::stamped::values(&sample.stamps))?;
    out.set_item("facts", facts_list(py, &sample.facts)?)?;
    Ok(out)
}

/// A column's name, and its value in a row of a file.
type Column<T> = (&'static str, fn(usize, &T) -> i64);

/// Rows of all files as columns of numbers.
fn columns_dict<'py, T>(
    py: Python<'py>,
    files: &[Vec<T>],
    columns: &[Column<T>],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let of_file = files.iter().enumerate();
    let rows = of_file.flat_map(|(file, rows)| rows.iter().map(move |row| (file, row)));
    let rows: Vec<(usize, &T)> = rows.collect();
    for (name, value) in columns {
        let values = rows.iter().map(|(file, row)| value(*file, row));
        dict.set_item(*name, numbers(py, values))?;
    }
    Ok(dict)
}

fn index(file: usize) -> i64 {
    i64::try_from(file).unwrap_or(-1)
}

fn packets_dict<'py>(py: Python<'py>, rows: &[Vec<SampledPacket>]) -> PyResult<Bound<'py, PyDict>> {
    let columns: [Column<SampledPacket>; 25] = [
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
    columns_dict(py, rows, &columns)
}

fn flows_dict<'py>(py: Python<'py>, flows: &[Vec<FlowStart>]) -> PyResult<Bound<'py, PyDict>> {
    let columns: [Column<FlowStart>; 21] = [
        ("file", |file, _| index(file)),
        ("interface", |_, flow| flow.interface.into()),
        ("flow", |_, flow| flow.flow.cast_signed()),
        ("pair", |_, flow| flow.pair.cast_signed()),
        ("first_t_ns", |_, flow| flow.first_t_ns),
        ("is_first_toward", |_, flow| flow.first_toward.into()),
        ("opens", |_, flow| flow.opens.into()),
        ("n_turns_back", |_, flow| flow.dialogue.n_turns[0].into()),
        ("n_turns_toward", |_, flow| flow.dialogue.n_turns[1].into()),
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
    columns_dict(py, flows, &columns)
}

fn facts_list<'py>(py: Python<'py>, facts: &[FileFacts]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for file in facts {
        let dict = PyDict::new(py);
        dict.set_item("format", file.format)?;
        dict.set_item("is_truncated", file.is_truncated)?;
        let damage = file
            .damage
            .iter()
            .map(|damage| (damage.at_byte, damage.text.clone()));
        dict.set_item("damage", damage.collect::<Vec<_>>())?;
        dict.set_item("prefixes", file.prefixes.to_vec())?;
        dict.set_item("fragments", fragments_dict(py, file.fragments)?)?;
        let interfaces = PyList::empty(py);
        for (index, seen) in file.interfaces.iter().enumerate() {
            if let Some(seen) = seen {
                interfaces.append(interface_dict(py, index, seen, file.declared.get(index))?)?;
            }
        }
        dict.set_item("interfaces", interfaces)?;
        list.append(dict)?;
    }
    Ok(list)
}

fn fragments_dict(py: Python<'_>, tally: FragmentCounts) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("n_parts", tally.n_parts)?;
    dict.set_item("n_whole", tally.n_whole)?;
    dict.set_item("n_unfinished", tally.n_unfinished)?;
    dict.set_item("n_contradictory", tally.n_contradictory)?;
    Ok(dict)
}

fn interface_dict<'py>(
    py: Python<'py>,
    index: usize,
    seen: &InterfaceFacts,
    declared: Option<&Interface>,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let stamps = seen.stamps.filter(|stamps| stamps.is_used);
    let of_file_ns = declared.map_or(1000.0, |declared| declared.resolution_ns);
    let resolution_ns = stamps.map_or(of_file_ns, |stamps| stamps.resolution_ns);
    dict.set_item("interface", index)?;
    dict.set_item("name", declared.and_then(|declared| declared.name.clone()))?;
    dict.set_item("link", seen.link)?;
    dict.set_item("why_unread", why_unread(seen.link))?;
    dict.set_item(
        "snap_bytes",
        declared.map_or(0, |declared| declared.snap_bytes),
    )?;
    dict.set_item("declared_resolution_ns", resolution_ns)?;
    dict.set_item(
        "n_dropped",
        declared.and_then(|declared| declared.n_dropped),
    )?;
    put_seen(py, &dict, seen)?;
    Ok(dict)
}

/// What the frames showed.
fn put_seen(py: Python<'_>, dict: &Bound<'_, PyDict>, seen: &InterfaceFacts) -> PyResult<()> {
    let stamps = seen.stamps.map(|stamps| stamps_dict(py, &stamps));
    dict.set_item("stamps", stamps.transpose()?)?;
    dict.set_item("observed_resolution_ns", seen.observed_resolution_ns)?;
    dict.set_item("n_frames", seen.n_frames)?;
    dict.set_item("n_undecoded", seen.n_undecoded)?;
    dict.set_item("n_cut", seen.n_cut)?;
    dict.set_item("longest_bytes", seen.longest_bytes)?;
    dict.set_item("first_t_ns", seen.first_t_ns)?;
    dict.set_item("last_t_ns", seen.last_t_ns)?;
    dict.set_item("disorder_ns", seen.disorder_ns)?;
    dict.set_item("order", order_dict(py, &seen.order)?)?;
    dict.set_item("queue", queue_rows(&seen.queue))?;
    dict.set_item("hidden_ports", seen.hidden.ports.clone())?;
    dict.set_item("n_encrypted", seen.hidden.n_encrypted)?;
    dict.set_item("mirrors", seen.mirrors.sessions())?;
    dict.set_item("n_by_depth", seen.hidden.n_by_depth.to_vec())?;
    dict.set_item("n_checksums", seen.checksums.n.to_vec())?;
    dict.set_item("n_partial", seen.checksums.n_partial.to_vec())?;
    Ok(())
}

fn order_dict<'py>(py: Python<'py>, order: &StampOrder) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("n_backward", order.n_backward)?;
    dict.set_item("longest_behind", order.longest_behind)?;
    dict.set_item("behind_from", order.behind_from)?;
    dict.set_item("behind_ns", order.behind_ns)?;
    dict.set_item("n_in_bursts", order.n_in_bursts.to_vec())?;
    dict.set_item("longest_burst", order.longest_burst)?;
    dict.set_item("burst_from", order.burst_from)?;
    dict.set_item("least_wait_ns", order.least_wait_ns)?;
    Ok(dict)
}

/// Rate; of short and of long frames: how many, how many at its time, how many sooner; the longest
/// wait, ns.
type QueueRow = (u32, Vec<u64>, Vec<u64>, Vec<u64>, i64);

fn queue_rows(queue: &Queue) -> Vec<QueueRow> {
    let counts = queue.n_at.iter().zip(&queue.n_sooner);
    let rows = RATES.iter().zip(counts).zip(queue.longest_busy_ns);
    rows.map(|((rate, (at, sooner)), busy_ns)| {
        let n = queue.n.to_vec();
        (*rate, n, at.to_vec(), sooner.to_vec(), busy_ns)
    })
    .collect()
}

fn stamps_dict<'py>(py: Python<'py>, stamps: &StampFacts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", stamps.name)?;
    dict.set_item("resolution_ns", stamps.resolution_ns)?;
    dict.set_item("timescale", stamps.timescale)?;
    dict.set_item("offset_ns", stamps.offset_ns)?;
    dict.set_item("n_stamped", stamps.n_stamped)?;
    dict.set_item("n_bad", stamps.n_damaged)?;
    dict.set_item("n_without", stamps.n_without)?;
    dict.set_item("is_used", stamps.is_used)?;
    Ok(dict)
}
