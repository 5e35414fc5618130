//! What was counted, as Arrow tables: points by their place on the path, directions by number.

use super::N_WAYS;
use super::connections::{Answered, Connections, known_clients};
use super::lengths::CrossingSizes;
use super::volumes::{Total, Volume};
use crate::base::error::{Error, Result};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tables.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Frames and bytes of each point, way and block.
    pub volumes: RecordBatch,
    /// Frames of each point, way and length.
    pub sizes: RecordBatch,
    /// Connections of which requests were answered; none where they are too many at any point.
    pub connections: RecordBatch,
    /// How many those are that are left out.
    pub n_left_out: i64,
    /// How many connections are open at each point, by block, and at most at one time.
    pub open: RecordBatch,
    /// Whole packets by segment, direction, and length at the near and the far end.
    pub overhead: RecordBatch,
}

pub(super) fn counted(
    volumes: &[[Total; N_WAYS]],
    connections: &[Connections],
    overhead: &BTreeMap<CrossingSizes, i64>,
) -> Result<Counted> {
    let is_left_out = connections.iter().any(Connections::is_left_out);
    let n_answered: usize = connections.iter().map(|one| one.n_answered).sum();
    Ok(Counted {
        n_left_out: if is_left_out { whole(n_answered) } else { 0 },
        volumes: table(&volume_columns(volumes))?,
        sizes: table(&size_columns(volumes))?,
        connections: connections_table(if is_left_out { &[] } else { connections })?,
        open: table(&open_columns(connections))?,
        overhead: table(&overhead_columns(overhead))?,
    })
}

type NumberColumns<const N: usize> = [(&'static str, Vec<i64>); N];

fn table<const N: usize>(columns: &NumberColumns<N>) -> Result<RecordBatch> {
    let columns = columns.iter().map(|(name, values)| {
        let column: ArrayRef = Arc::new(Int64Array::from(values.clone()));
        (*name, column)
    });
    RecordBatch::try_from_iter(columns).map_err(|error| Error::Bug(error.to_string()))
}

/// Columns of rows of numbers, by these names.
fn columns<const N: usize>(
    names: [&'static str; N],
    rows: impl Iterator<Item = [i64; N]>,
) -> NumberColumns<N> {
    let mut found = names.map(|name| (name, Vec::new()));
    for row in rows {
        for ((_, column), value) in found.iter_mut().zip(row) {
            column.push(value);
        }
    }
    found
}

fn whole(n: impl TryInto<i64>) -> i64 {
    n.try_into().unwrap_or(i64::MAX)
}

/// Every point and way that is not empty, with its numbers.
fn totals(volumes: &[[Total; N_WAYS]]) -> impl Iterator<Item = (i64, i64, &Total)> {
    let ways = volumes.iter().enumerate();
    ways.flat_map(|(place, ways)| {
        let ways = ways.iter().enumerate();
        ways.map(move |(way, total)| (whole(place), whole(way), total))
    })
}

fn volume_columns(volumes: &[[Total; N_WAYS]]) -> NumberColumns<16> {
    let names = [
        "point",
        "way",
        "block",
        "n_frames",
        "frame_bytes",
        "l3_bytes",
        "payload_bytes",
        "n_to_64_bytes",
        "n_to_127_bytes",
        "n_to_255_bytes",
        "n_to_511_bytes",
        "n_to_1023_bytes",
        "n_to_1518_bytes",
        "n_not_ethernet",
        "n_l3_unknown",
        "n_payload_unknown",
    ];
    let rows = totals(volumes).flat_map(|(place, way, total)| {
        let blocks = total.blocks.iter().enumerate();
        let occupied = blocks.filter(|(_, volume)| volume.n_frames > 0);
        occupied.map(move |(block, volume)| volume_row(place, way, whole(block), volume))
    });
    columns(names, rows)
}

fn volume_row(place: i64, way: i64, block: i64, volume: &Volume) -> [i64; 16] {
    let [n64, n127, n255, n511, n1023, n1518] = volume.of_size.map(whole);
    [
        place,
        way,
        block,
        whole(volume.n_frames),
        whole(volume.frame_bytes),
        volume.l3_bytes,
        whole(volume.payload_bytes),
        n64,
        n127,
        n255,
        n511,
        n1023,
        n1518,
        whole(volume.n_not_ethernet),
        whole(volume.n_l3_unknown),
        whole(volume.n_payload_unknown),
    ]
}

fn size_columns(volumes: &[[Total; N_WAYS]]) -> NumberColumns<4> {
    let rows = totals(volumes).flat_map(|(place, way, total)| {
        let sizes = total.sizes.iter();
        sizes.map(move |(size, n)| [place, way, i64::from(*size), whole(*n)])
    });
    columns(["point", "way", "frame_bytes", "n_frames"], rows)
}

fn open_columns(connections: &[Connections]) -> NumberColumns<4> {
    let rows = connections
        .iter()
        .enumerate()
        .flat_map(|(place, of_point)| {
            let blocks = of_point.n_open.iter().enumerate();
            blocks.map(move |(block, n)| [whole(place), whole(block), *n, of_point.n_at_once])
        });
    columns(["point", "block", "n_open", "n_at_once"], rows)
}

fn overhead_columns(overhead: &BTreeMap<CrossingSizes, i64>) -> NumberColumns<5> {
    let rows = overhead.iter().map(|(&(link, is_reverse, near, far), n)| {
        let (near, far) = (i64::from(near), i64::from(far));
        [whole(link), i64::from(is_reverse), near, far, *n]
    });
    columns(["link", "way", "near_bytes", "far_bytes", "n"], rows)
}

/// Connections of each point, and whether any point knows their client.
fn answered_rows(connections: &[Connections]) -> Vec<(i64, &Answered, bool)> {
    let known = known_clients(connections);
    let of_points = connections.iter().enumerate();
    of_points
        .flat_map(|(place, of_point)| of_point.answered.iter().map(move |one| (whole(place), one)))
        .filter_map(|(place, one)| Some((place, one, one.is_told(&known)?)))
        .collect()
}

fn text_column(rows: &[(i64, &Answered, bool)], of: fn(&Answered) -> &String) -> ArrayRef {
    let texts = rows.iter().map(|(_, one, _)| of(one));
    Arc::new(StringArray::from_iter_values(texts))
}

fn connections_table(connections: &[Connections]) -> Result<RecordBatch> {
    let rows = answered_rows(connections);
    let texts = |of: fn(&Answered) -> &String| text_column(&rows, of);
    let longs = |of: fn(&Answered) -> i64| -> ArrayRef {
        Arc::new(
            rows.iter()
                .map(|(_, one, _)| of(one))
                .collect::<Int64Array>(),
        )
    };
    let outstanding: Int64Array = rows.iter().map(|(_, one, _)| one.n_outstanding).collect();
    let told: Int64Array = rows
        .iter()
        .map(|(_, _, is_told)| i64::from(*is_told))
        .collect();
    let places: Int64Array = rows.iter().map(|(place, _, _)| *place).collect();
    let columns: [(&str, ArrayRef); 19] = [
        ("point", Arc::new(places)),
        ("client", texts(|one| &one.client)),
        ("server", texts(|one| &one.server)),
        ("server_port", longs(|one| one.server_port)),
        ("protocol", longs(|one| one.protocol)),
        ("n_requests", longs(|one| one.n_requests)),
        ("n_responses", longs(|one| one.n_responses)),
        ("request_bytes", longs(|one| one.request_bytes)),
        ("response_bytes", longs(|one| one.response_bytes)),
        ("n_turns", longs(|one| one.n_turns)),
        ("n_syn", longs(|one| one.n_syn)),
        ("first_request_ns", longs(|one| one.first_request_ns)),
        ("last_request_ns", longs(|one| one.last_request_ns)),
        ("busy_ns", longs(|one| one.busy_ns)),
        ("idle_ns", longs(|one| one.idle_ns)),
        ("n_outstanding", Arc::new(outstanding)),
        ("first_ns", longs(|one| one.first_ns)),
        ("last_ns", longs(|one| one.last_ns)),
        ("is_told", Arc::new(told)),
    ];
    RecordBatch::try_from_iter(columns).map_err(|error| Error::Bug(error.to_string()))
}
