//! One frame, for documentation and debugging.

use super::{PyResult, Python, pyclass, pyfunction, raise};
use crate::wire::{Decoder, Packet, layer_path};

/// What was decoded of a frame.
#[pyclass(frozen, get_all, module = "pcaplat._native")]
pub(super) struct DecodedFrame {
    layers: String,
    tunnel_id: Option<i64>,
    ttl: u8,
    ip_id: u32,
    transport: Vec<u8>,
    stop: Option<String>,
}

/// One frame, decoded: for documentation and debugging.
#[pyfunction]
pub(super) fn decode(py: Python<'_>, frame: &[u8], link: u16) -> PyResult<DecodedFrame> {
    let decoder = Decoder::new(&[]).map_err(|error| raise(py, error))?;
    let mut packet = Packet::new();
    let wire_bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    decoder.decode(link, frame, wire_bytes, 0, &mut packet);
    let stop = packet.stop;
    Ok(DecodedFrame {
        layers: layer_path(&packet),
        tunnel_id: (packet.tunnel_id >= 0).then_some(packet.tunnel_id),
        ttl: packet.ttl,
        ip_id: packet.ip_id,
        transport: packet.transport(frame).to_vec(),
        stop: stop.map(|stop| format!("{:?} at byte {}", stop.reason, stop.at_byte)),
    })
}
