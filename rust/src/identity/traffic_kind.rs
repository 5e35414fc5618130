//! Kinds of traffic: what a packet is to its exchange, how large it is, which way it goes, and of which
//! connections it is one. Packets of a kind have latencies that scatter about one mean, where those of all traffic scatter about several.

use super::message::MessageKind;
use super::stream_bytes::StreamBytes;
use super::{ICMP, ICMPV6, TCP, UDP};
use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// A kind of traffic, as one number below [`N_TRAFFIC_KINDS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrafficKind(u16);

/// How many kinds there are.
pub const N_TRAFFIC_KINDS: usize = 1 << (ROLE_BITS + ROLE_AT);

/// The lowest bits tell connections apart: several share a number.
pub const CONNECTION_BITS: u32 = 3;

const ROLE_BITS: u32 = 3;
const SIZE_BITS: u32 = 3;
const SIDE_AT: u32 = CONNECTION_BITS;
const SIZE_AT: u32 = SIDE_AT + 1;
const ROLE_AT: u32 = SIZE_AT + SIZE_BITS;

/// What a packet is to its exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
enum PlaceInExchange {
    /// No IP packet.
    Frame,
    /// SYN, with or without ACK.
    Handshake,
    /// The first bytes that a side of a connection sends.
    FirstData,
    /// Any later ones.
    Data,
    /// TCP without data.
    Control,
    Datagram,
    /// Echoes and errors.
    Icmp,
    /// Any other protocol.
    Other,
}

impl TrafficKind {
    /// The kind of a packet, given what it asks or answers and the bytes it carries.
    #[must_use]
    #[inline]
    pub fn of(packet: &Packet, message: MessageKind, range: StreamBytes) -> Self {
        let role = match packet.protocol {
            _ if packet.ip_version == 0 => PlaceInExchange::Frame,
            TCP if matches!(message, MessageKind::Syn | MessageKind::SynAck) => {
                PlaceInExchange::Handshake
            }
            TCP if range.has_bytes() => PlaceInExchange::Data,
            TCP => PlaceInExchange::Control,
            UDP => PlaceInExchange::Datagram,
            ICMP | ICMPV6 => PlaceInExchange::Icmp,
            _ => PlaceInExchange::Other,
        };
        // a client's port is the higher one
        let is_from_client = packet.src_port > packet.dst_port;
        let size = size_class(packet.transport_wire_bytes) << SIZE_AT;
        let sender = u16::from(is_from_client) << SIDE_AT;
        Self((role as u16) << ROLE_AT | size | sender | connection(packet))
    }

    /// Whether these are data that may be the first of their side.
    #[must_use]
    #[inline]
    pub fn is_data(self) -> bool {
        self.0 >> ROLE_AT == PlaceInExchange::Data as u16
    }

    /// The same, of the first data of a side.
    #[must_use]
    pub fn first(self) -> Self {
        let rest = self.0 & ((1 << ROLE_AT) - 1);
        Self((PlaceInExchange::FirstData as u16) << ROLE_AT | rest)
    }

    /// As a number.
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }

    /// See [`Self::number`].
    #[must_use]
    pub fn from_number(number: u16) -> Self {
        Self(number & ((1 << (ROLE_BITS + ROLE_AT)) - 1))
    }
}

/// Below 128 bytes of layer 4, and so on, doubling.
#[inline]
fn size_class(n_bytes: u32) -> u16 {
    const SMALL_BITS: u32 = 7;
    let n_bits = u32::BITS - n_bytes.leading_zeros();
    let class = n_bits.saturating_sub(SMALL_BITS).min((1 << SIZE_BITS) - 1);
    u16::try_from(class).unwrap_or(0)
}

/// The same for both sides, in every run.
#[inline]
fn connection(packet: &Packet) -> u16 {
    /// 2^32 over the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
    const GOLDEN: u32 = 0x9e37_79b9;
    let ports = packet.src_port.cast_unsigned() ^ packet.dst_port.cast_unsigned();
    let hash = ports.wrapping_mul(GOLDEN) >> (u32::BITS - CONNECTION_BITS);
    u16::try_from(hash).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(protocol: i16, n_bytes: u32, ports: (i32, i32), data: u32) -> TrafficKind {
        let mut packet = Packet::new();
        (packet.ip_version, packet.protocol) = (4, protocol);
        (packet.src_port, packet.dst_port) = ports;
        packet.transport_wire_bytes = n_bytes;
        TrafficKind::of(&packet, MessageKind::Ack, StreamBytes::new(5, data))
    }

    #[test]
    fn kinds_differ_by_exchange_size_and_side() {
        let all = [
            kind(TCP, 32, (40_000, 80), 0),
            kind(TCP, 32, (80, 40_000), 0),
            kind(TCP, 100, (40_000, 80), 68),
            kind(TCP, 128, (40_000, 80), 96),
            kind(TCP, 100, (40_000, 80), 68).first(),
            kind(UDP, 100, (40_000, 80), 68),
            kind(ICMP, 100, (-1, -1), 0),
            kind(47, 100, (-1, -1), 0),
            kind(47, u32::MAX, (-1, -1), 0),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|other| other != one), "{i}");
            assert!(usize::from(one.number()) < N_TRAFFIC_KINDS);
            assert_eq!(TrafficKind::from_number(one.number()), *one);
        }
        assert_eq!(kind(UDP, 64, (1, 2), 0), kind(UDP, 127, (1, 2), 0));
        let of_connection = |port: i32| {
            let [to, back] = [(port, 80), (80, port)].map(|ports| kind(UDP, 64, ports, 0).number());
            assert_eq!(to ^ back, 1 << SIDE_AT);
            to
        };
        let mut several: Vec<u16> = (40_000..40_100).map(of_connection).collect();
        several.sort_unstable();
        several.dedup();
        assert_eq!(several.len(), 1 << CONNECTION_BITS);
        assert!(all[2].is_data() && !all[4].is_data() && !all[5].is_data());
    }
}
