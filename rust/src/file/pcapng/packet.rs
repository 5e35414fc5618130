//! The three kinds of packet block.

use super::super::order::Order;
use super::super::{Checksum, FrameDirection, Marks, NO_LINK, PacketVerdict};
use super::block::{body_from, options as options_in};
use super::retis;

const EPB_FLAGS: u16 = 2;
const EPB_DROPCOUNT: u16 = 4;
const EPB_PACKETID: u16 = 5;
const EPB_VERDICT: u16 = 7;

const CHECKSUM_NOT_READY: u32 = 1 << 9;
const CHECKSUM_VALID: u32 = 1 << 10;
const SEGMENTATION_OFFLOADED: u32 = 1 << 11;
/// By these and those above, a writer shows that it knows the bits at all.
const OFFLOAD_BITS: u32 = CHECKSUM_NOT_READY | CHECKSUM_VALID | SEGMENTATION_OFFLOADED;
/// The obsolete block's 16-bit count where it is not known.
const UNKNOWN: u16 = u16::MAX;

/// What a packet block says; not yet compared with what it holds.
pub(super) struct Claim {
    pub(super) interface: usize,
    pub(super) ticks: Option<u64>,
    pub(super) wire_bytes: u32,
    pub(super) at: usize,
    pub(super) captured_bytes: usize,
    pub(super) n_dropped: Option<u64>,
}

/// A record that Wireshark gives a number; positions are into its block.
pub(super) struct PacketRecord {
    pub(super) t_ns: Option<i64>,
    pub(super) interface: usize,
    pub(super) link: u16,
    pub(super) wire_bytes: u32,
    pub(super) fcs_bytes: u8,
    pub(super) direction: FrameDirection,
    pub(super) at: usize,
    pub(super) captured_bytes: usize,
}

impl PacketRecord {
    /// A custom or journal block: numbered, but no packet.
    pub(super) const NO_PACKET: Self = Self {
        t_ns: None,
        interface: 0,
        link: NO_LINK,
        wire_bytes: 0,
        fcs_bytes: 0,
        direction: FrameDirection::Unknown,
        at: 0,
        captured_bytes: 0,
    };
}

/// An enhanced packet block.
#[inline]
pub(super) fn enhanced(order: Order, bytes: &[u8]) -> Result<Claim, String> {
    let interface = order.u32_at(bytes, 8).ok_or_else(|| cut(bytes))?;
    timed(order, bytes, interface as usize).ok_or_else(|| cut(bytes))
}

/// An obsolete packet block: it differs in how it numbers interfaces and counts drops.
pub(super) fn obsolete(order: Order, bytes: &[u8]) -> Result<Claim, String> {
    let interface = order.u16_at(bytes, 8).ok_or_else(|| cut(bytes))?;
    let n_dropped = order
        .u16_at(bytes, 10)
        .filter(|n_dropped| *n_dropped != UNKNOWN);
    let claim = timed(order, bytes, interface.into()).ok_or_else(|| cut(bytes))?;
    Ok(Claim {
        n_dropped: n_dropped.map(u64::from),
        ..claim
    })
}

#[inline]
fn timed(order: Order, bytes: &[u8], interface: usize) -> Option<Claim> {
    let head = bytes.first_chunk::<32>()?;
    Some(Claim {
        interface,
        ticks: Some(order.ticks_at(head, 12)?),
        wire_bytes: order.u32_at(head, 24)?,
        at: 28,
        captured_bytes: order.u32_at(head, 20)? as usize,
        n_dropped: None,
    })
}

/// A simple packet block: no stamp, the first interface, as much as its snap length allows.
pub(super) fn simple(order: Order, bytes: &[u8], snap_bytes: u32) -> Result<Claim, String> {
    let wire_bytes = order.u32_at(bytes, 8).ok_or_else(|| cut(bytes))?;
    let allowed = if snap_bytes == 0 {
        wire_bytes
    } else {
        wire_bytes.min(snap_bytes)
    };
    Ok(Claim {
        interface: 0,
        ticks: None,
        wire_bytes,
        at: 12,
        captured_bytes: (allowed as usize).min(body_from(bytes, 12).len()),
        n_dropped: None,
    })
}

#[cold]
fn cut(bytes: &[u8]) -> String {
    format!(
        "a packet block of {} bytes is too short for its fields",
        bytes.len()
    )
}

/// The options that matter here.
#[derive(Default)]
pub(super) struct PacketOptions {
    pub(super) fcs_bytes: Option<u8>,
    pub(super) direction: FrameDirection,
    pub(super) n_dropped: Option<u64>,
    pub(super) marks: Option<Marks>,
}

/// The options behind the captured bytes, which must lie within the block.
#[inline]
pub(super) fn options(order: Order, claim: &Claim, bytes: &[u8]) -> Result<PacketOptions, String> {
    let held_bytes = body_from(bytes, claim.at).len();
    if claim.captured_bytes > held_bytes {
        let claimed = claim.captured_bytes;
        return Err(format!(
            "a packet block claims {claimed} bytes and holds {held_bytes}"
        ));
    }
    let options_at = claim.at + claim.captured_bytes.next_multiple_of(4);
    let rest = body_from(bytes, options_at);
    if rest.is_empty() || claim.ticks.is_none() {
        return Ok(PacketOptions::default());
    }
    Ok(read_options(order, rest))
}

fn read_options(order: Order, rest: &[u8]) -> PacketOptions {
    let mut found = PacketOptions::default();
    let mut marks = Marks::default();
    for (code, value) in options_in(order, rest) {
        match code {
            EPB_FLAGS => {
                let flags = order.u32_at(value, 0).unwrap_or_default();
                found.fcs_bytes = fcs_bytes_of(flags);
                found.direction = direction_of(flags);
                marks.checksum = checksum_of(flags);
                marks.is_offloaded = offload_of(flags);
            }
            EPB_DROPCOUNT => found.n_dropped = order.u64_at(value, 0),
            EPB_PACKETID => marks.packet_id = order.u64_at(value, 0),
            retis::CUSTOM_TEXT => {
                marks.packet_id = marks.packet_id.or_else(|| retis::packet_id(order, value));
            }
            EPB_VERDICT => marks.verdict = verdict_of(order, value),
            _ => {}
        }
    }
    found.marks = (marks != Marks::default()).then_some(marks);
    found
}

fn checksum_of(flags: u32) -> Checksum {
    if flags & CHECKSUM_NOT_READY != 0 {
        Checksum::NotReady
    } else if flags & CHECKSUM_VALID != 0 {
        Checksum::Valid
    } else {
        Checksum::Unknown
    }
}

fn offload_of(flags: u32) -> Option<bool> {
    (flags & OFFLOAD_BITS != 0).then_some(flags & SEGMENTATION_OFFLOADED != 0)
}

/// Of eBPF, 64 bits follow; of hardware, whatever it likes.
fn verdict_of(order: Order, value: &[u8]) -> Option<PacketVerdict> {
    let by = *value.first()?;
    let value = value.get(1..).and_then(|rest| order.u64_at(rest, 0));
    Some(PacketVerdict {
        by,
        value: value.filter(|_| by != 0),
    })
}

/// Bits 5 to 8, in octets; 0 says nothing.
fn fcs_bytes_of(flags: u32) -> Option<u8> {
    u8::try_from(flags >> 5 & 0xf)
        .ok()
        .filter(|octets| *octets != 0)
}

/// Bits 0 and 1.
fn direction_of(flags: u32) -> FrameDirection {
    match flags & 0x3 {
        1 => FrameDirection::In,
        2 => FrameDirection::Out,
        _ => FrameDirection::Unknown,
    }
}
