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
    let (udp_at, end) = (inserted.udp_at as usize, inserted.end as usize);
    let from = match inserted.before {
        BeforeInsertion::UdpPort(_) => udp_at + UDP_BYTES,
        BeforeInsertion::IpProtocol(_) => udp_at,
    };
    let n_removed = end.checked_sub(from)?;
    sent.clear();
    for part in [frame.bytes.get(..from)?, frame.bytes.get(end..)?] {
        sent.extend_from_slice(part);
    }
    let (length_at, protocol_at) = match packet.ip_version {
        4 => (packet.network_at + 2, packet.network_at + 9),
        6 => (packet.network_at + 4, packet.network_at + 6),
        _ => return None,
    };
    shorten(sent, length_at, n_removed)?;
    match inserted.before {
        BeforeInsertion::UdpPort(port) => {
            shorten(sent, udp_at + UDP_LENGTH_AT, n_removed)?;
            *sent.get_mut(udp_at + UDP_PORT_AT..)?.first_chunk_mut()? = port.to_be_bytes();
        }
        // behind extension headers the protocol stands elsewhere
        BeforeInsertion::IpProtocol(_) if udp_at != packet.transport_at => return None,
        BeforeInsertion::IpProtocol(protocol) => {
            *sent.get_mut(protocol_at).filter(|field| **field == 17)? = protocol;
        }
    }
    let n_removed = u32::try_from(n_removed).ok()?;
    Some(Frame {
        bytes: sent,
        wire_bytes: frame.wire_bytes.saturating_sub(n_removed),
        ..*frame
    })
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
