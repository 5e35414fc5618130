//! What a frame's innermost TCP header says.

use crate::wire::Packet;

const TCP: i16 = 6;

/// Fields of a TCP header; none where there is none, or too little of it was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number.
    pub seq: Option<u32>,
    /// Acknowledgment number.
    pub ack: Option<u32>,
    /// The octet of flags.
    pub flags: Option<u8>,
    /// What the IP header's length leaves for the payload.
    pub payload_bytes: Option<u32>,
}

impl Segment {
    /// Reads the header of a packet that was decoded from `bytes`.
    #[must_use]
    pub fn of(packet: &Packet, bytes: &[u8]) -> Self {
        let is_ip = packet.stop.is_none() && packet.ip_version != 0;
        if !is_ip || packet.protocol != TCP || packet.src_port < 0 {
            return Self::default();
        }
        let header = packet.transport(bytes);
        let long = |at: usize| {
            let octets = header.get(at..).and_then(<[u8]>::first_chunk);
            octets.map(|octets| u32::from_be_bytes(*octets))
        };
        let n_header = header.get(12).map(|octet| u32::from(octet >> 4) * 4);
        Self {
            seq: long(4),
            ack: long(8),
            flags: header.get(13).copied(),
            payload_bytes: n_header.map(|n| packet.transport_wire_bytes.saturating_sub(n)),
        }
    }
}
