//! Single frames: of a capture by their numbers, and decoded for documentation and debugging.

use super::{Progress, PyResult, Python, Settings, interruptible, pyclass, pyfunction, raise};
use crate::export::frames::{FrameByNumber, frames_at as run_frames_at};
use crate::file::{Frame, FrameDirection};
use crate::wire::{Decoder, Packet, layer_path};
use std::borrow::Cow;
use std::path::PathBuf;

/// A frame as it was captured, and where its headers are.
#[pyclass(frozen, get_all, module = "pcaplat._native")]
pub(super) struct CapturedFrame {
    number: u64,
    link: u16,
    wire_bytes: u32,
    data: Cow<'static, [u8]>,
    layers: String,
    starts: Vec<usize>,
}

impl From<FrameByNumber> for CapturedFrame {
    fn from(frame: FrameByNumber) -> Self {
        Self {
            number: frame.number,
            link: frame.link,
            wire_bytes: frame.wire_bytes,
            data: Cow::Owned(frame.bytes),
            layers: frame.layers,
            starts: frame.starts,
        }
    }
}

/// The frames of a capture that have these numbers.
#[pyfunction]
pub(super) fn frames_at(
    py: Python<'_>,
    path: PathBuf,
    numbers: Vec<u64>,
    settings: &Settings,
) -> PyResult<Vec<CapturedFrame>> {
    let decoder = settings.decoder().map_err(|error| raise(py, error))?;
    let progress = Progress::default();
    let job = || run_frames_at(&path, &numbers, &decoder, &|| progress.is_cancelled());
    let found = interruptible(py, &progress, None, job)?;
    Ok(found.into_iter().map(CapturedFrame::from).collect())
}

/// What was decoded of a frame.
#[pyclass(frozen, get_all, module = "pcaplat._native")]
pub(super) struct DecodedFrame {
    layers: String,
    starts: Vec<usize>,
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
    let whole = Frame {
        number: 1,
        t_ns: 0,
        stamp_ns: None,
        late_ns: 0,
        packet_id: 0,
        has_time: false,
        interface: 0,
        link,
        wire_bytes: u32::try_from(frame.len()).unwrap_or(u32::MAX),
        fcs_bytes: 0,
        direction: FrameDirection::Unknown,
        bytes: frame,
    };
    let starts = decoder.layer_starts(&whole, &mut packet);
    let stop = packet.stop;
    Ok(DecodedFrame {
        layers: layer_path(&packet),
        starts,
        tunnel_id: (packet.tunnel_id >= 0).then_some(packet.tunnel_id),
        ttl: packet.ttl,
        ip_id: packet.ip_id,
        transport: packet.transport(frame).to_vec(),
        stop: stop.map(|stop| format!("{:?} at byte {}", stop.reason, stop.at_byte)),
    })
}
