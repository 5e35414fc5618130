//! The frame as its sender made it: without what telemetry inserted between UDP's header and its payload,
//! or between IP and the header that was there before. Its packet then is the same at all points, those
//! without telemetry among them.

use crate::file::Frame;
use crate::wire::Packet;
use crate::wire::telemetry::{BeforeInsertion, Inserted};

const UDP_BYTES: usize = 8;
const UDP_PORT_AT: usize = 2;
const UDP_LENGTH_AT: usize = 4;

/// The frame without it, whose bytes are then in `sent`; `None` where its headers do not stand as they must.
#[cold]
pub(super) fn without<'a>(
    frame: &Frame<'a>,
    packet: &Packet,
    inserted: Inserted,
    sent: &'a mut Vec<u8>,
) -> Option<Frame<'a>> {
    let is_inside = matches!(inserted.before, BeforeInsertion::UdpPort(_));
    let from = inserted.udp_at as usize + if is_inside { UDP_BYTES } else { 0 };
    let end = inserted.end as usize;
    let n_removed = end.checked_sub(from)?;
    sent.clear();
    for part in [frame.bytes.get(..from)?, frame.bytes.get(end..)?] {
        sent.extend_from_slice(part);
    }
    restore(sent, packet, inserted, n_removed)?;
    let removed_bytes = u32::try_from(n_removed).ok()?;
    Some(Frame {
        bytes: sent,
        wire_bytes: frame.wire_bytes.saturating_sub(removed_bytes),
        ..*frame
    })
}

/// Where the IP header says its length and its protocol.
fn ip_fields(packet: &Packet) -> Option<(usize, usize)> {
    match packet.ip_version {
        4 => Some((packet.network_at + 2, packet.network_at + 9)),
        6 => Some((packet.network_at + 4, packet.network_at + 6)),
        _ => None,
    }
}

/// Gives the headers what they said before.
fn restore(sent: &mut [u8], packet: &Packet, inserted: Inserted, n_removed: usize) -> Option<()> {
    let udp_at = inserted.udp_at as usize;
    let (length_at, protocol_at) = ip_fields(packet)?;
    shorten(sent, length_at, n_removed)?;
    match inserted.before {
        BeforeInsertion::UdpPort(port) => {
            shorten(sent, udp_at + UDP_LENGTH_AT, n_removed)?;
            *sent.get_mut(udp_at + UDP_PORT_AT..)?.first_chunk_mut()? = port.to_be_bytes();
        }
        // behind extension headers the protocol stands elsewhere
        BeforeInsertion::IpProtocol(protocol) => {
            let is_direct = udp_at == packet.transport_at;
            *sent.get_mut(protocol_at).filter(|_| is_direct)? = protocol;
        }
    }
    Some(())
}

/// A length of 16 bits says so many bytes less; 0 leaves it open.
fn shorten(bytes: &mut [u8], at: usize, n_removed: usize) -> Option<()> {
    let field = bytes.get_mut(at..)?.first_chunk_mut::<2>()?;
    let length = usize::from(u16::from_be_bytes(*field));
    if length > 0 {
        let shorter = length.checked_sub(n_removed)?;
        *field = u16::try_from(shorter).ok()?.to_be_bytes();
    }
    Some(())
}
