//! One frame, for documentation and debugging.

use super::{Bound, PyDict, PyDictMethods, PyResult, Python, pyfunction, raise};
use crate::wire::{Decoder, Packet, layer_path};

/// One frame, decoded: for documentation and debugging.
#[pyfunction]
pub(super) fn decode<'py>(
    py: Python<'py>,
    frame: &[u8],
    link: u16,
) -> PyResult<Bound<'py, PyDict>> {
    let decoder = Decoder::new(&[]).map_err(|error| raise(py, error))?;
    let mut packet = Packet::new();
    let wire_bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    decoder.decode(link, frame, wire_bytes, 0, &mut packet);
    let dict = PyDict::new(py);
    dict.set_item("layers", layer_path(&packet))?;
    dict.set_item(
        "tunnel_id",
        (packet.tunnel_id >= 0).then_some(packet.tunnel_id),
    )?;
    dict.set_item("ttl", packet.ttl)?;
    dict.set_item("ip_id", packet.ip_id)?;
    dict.set_item("transport", packet.transport(frame))?;
    dict.set_item(
        "stop",
        packet
            .stop
            .map(|stop| format!("{:?} at byte {}", stop.reason, stop.at_byte)),
    )?;
    Ok(dict)
}
