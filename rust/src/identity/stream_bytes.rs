//! Byte ranges: which bytes of its stream a packet carries. A stream may be cut and joined on the
//! way, so that its packets are others at the next point and its bytes are the same.
//!
//! What is TCP's own about it is here: sequence numbers as starts, and that they wrap. Of anything
//! else a datagram is a stream of its own, whose bytes fragments carry.

use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// IP protocol number.
const TCP: i16 = 6;

/// The payload bytes of one packet: where in the stream they start, and how many there are.
///
/// Of a datagram: `start` has 16 bits of its name and the offset, `length` a mark, 15 bits more of
/// the name, and the length, so that a range stays within eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamBytes {
    start: u32,
    length: u32,
}

impl StreamBytes {
    /// No bytes of a stream.
    pub const NONE: Self = Self {
        start: 0,
        length: 0,
    };

    /// Bytes of which the capture does not tell how many.
    const UNTOLD: u32 = Self::DATAGRAM - 1;

    /// Marks the bytes of a datagram.
    const DATAGRAM: u32 = 1 << 31;

    /// Of the longest datagram.
    const MOST_DATAGRAM_BYTES: u32 = 0xffff;

    /// `length` bytes from `start` on.
    #[must_use]
    pub fn new(start: u32, length: u32) -> Self {
        Self {
            start,
            length: length.min(Self::UNTOLD - 1),
        }
    }

    /// Bytes behind the IP header of the datagram of a name (of 31 bits), from its byte `from` on.
    #[must_use]
    pub fn of_datagram(name: u32, from: u32, n_bytes: u32) -> Self {
        let end = from.saturating_add(n_bytes);
        if n_bytes == 0 || end > Self::MOST_DATAGRAM_BYTES {
            return Self::NONE;
        }
        Self {
            start: name << 16 | from,
            length: Self::DATAGRAM | (name & !0xffff) | n_bytes,
        }
    }

    /// Bytes of a datagram without a name.
    #[must_use]
    pub fn of_nameless() -> Self {
        Self {
            start: 0,
            length: Self::DATAGRAM,
        }
    }

    /// True of bytes of a datagram without a name.
    #[must_use]
    pub fn is_nameless(self) -> bool {
        self == Self::of_nameless()
    }

    /// The name of the datagram whose bytes these are.
    #[must_use]
    pub fn datagram(self) -> Option<u32> {
        let high = self.length & !Self::DATAGRAM & !0xffff;
        (self.length & Self::DATAGRAM != 0 && !self.is_nameless())
            .then_some(high | self.start >> 16)
    }

    /// There are bytes, though it may be unknown how many.
    #[must_use]
    pub fn has_bytes(self) -> bool {
        self.length > 0
    }

    /// How many bytes, where there are some and it is known.
    #[must_use]
    pub fn length(self) -> Option<u32> {
        if self.datagram().is_some() {
            return Some(self.length & 0xffff);
        }
        (1..Self::UNTOLD)
            .contains(&self.length)
            .then_some(self.length)
    }

    /// Where the stream goes on behind it, where that is known.
    #[must_use]
    pub fn end(self) -> Option<u32> {
        (self.length < Self::UNTOLD).then(|| self.start.wrapping_add(self.length))
    }

    /// Where its bytes start, or would.
    #[must_use]
    pub fn start(self) -> u32 {
        self.start
    }

    /// The start as a number that does not wrap, given that of a packet of the stream sent about
    /// the same time: starts are compared modulo 2^32 (RFC 9293 §3.4). A datagram's start at 0.
    #[must_use]
    pub fn start_near(self, other: i64) -> i64 {
        if self.datagram().is_some() {
            return i64::from(self.start & 0xffff);
        }
        let low = u32::try_from(other & 0xffff_ffff).unwrap_or(0);
        let ahead = self.start.wrapping_sub(low).cast_signed();
        other.saturating_add(i64::from(ahead))
    }

    /// Both numbers as one, to be written.
    #[must_use]
    pub fn packed(self) -> i64 {
        i64::from(self.start) | i64::from(self.length) << 32
    }

    /// See [`Self::packed`].
    #[must_use]
    pub fn from_packed(packed: i64) -> Self {
        let low = |bits: i64| u32::try_from(bits & 0xffff_ffff).unwrap_or(0);
        Self {
            start: low(packed),
            length: low(packed >> 32),
        }
    }

    /// The same bytes, of a stream whose numbers are `ahead` of those everywhere else.
    #[must_use]
    pub fn behind(self, ahead: u32) -> Self {
        if self.datagram().is_some() {
            return self;
        }
        Self {
            start: self.start.wrapping_sub(ahead),
            ..self
        }
    }

    /// The same bytes where the IP identification is another one: a datagram's name is lost.
    #[must_use]
    pub fn without_ip_id(self) -> Self {
        if self.datagram().is_some() {
            Self::NONE
        } else {
            self
        }
    }

    /// The range of a TCP segment with payload, and of an IPv4 datagram of any other protocol, or a
    /// fragment of it, with an identification; none of anything else, and of fragments of TCP.
    #[must_use]
    #[inline]
    pub fn of(packet: &Packet, transport: &[u8]) -> Self {
        match (packet.protocol, packet.fragment) {
            (TCP, 0) => Self::by_sequence(packet, transport),
            (TCP, _) => Self::NONE,
            _ => Self::by_ip_id(packet),
        }
    }

    #[inline]
    fn by_sequence(packet: &Packet, header: &[u8]) -> Self {
        /// A header with time stamps (RFC 7323 §3.2), where the snap length leaves its length unsaid.
        const USUAL_HEADER_BYTES: u32 = 32;
        let start = header.get(4..8).and_then(|octets| octets.try_into().ok());
        let offset = header.get(12).map(|octet| u32::from(octet >> 4) * 4);
        let n_bytes = packet.transport_wire_bytes;
        match (start, offset) {
            (Some(start), Some(offset)) => {
                // a SYN takes the number before the data's (RFC 9293 §3.4)
                let n_syn = header.get(13).map_or(0, |flags| u32::from(flags >> 1 & 1));
                let start = u32::from_be_bytes(start).wrapping_add(n_syn);
                Self::new(start, n_bytes.saturating_sub(offset))
            }
            _ if n_bytes > USUAL_HEADER_BYTES => Self {
                start: 0,
                length: Self::UNTOLD,
            },
            _ => Self::NONE,
        }
    }

    /// The bytes of an IPv4 datagram or fragment, if it has an identification; these are told apart by
    /// protocol (RFC 791).
    #[must_use]
    pub fn by_ip_id(packet: &Packet) -> Self {
        if packet.ip_version != 4 || packet.ip_id == 0 {
            return Self::NONE;
        }
        let protocol = u32::from(packet.protocol.cast_unsigned());
        let name = protocol << 16 | packet.ip_id;
        Self::of_datagram(name, packet.fragment & !7, packet.transport_wire_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_go_on_across_the_wrap() {
        let (before, after) = (
            StreamBytes::new(u32::MAX - 99, 200),
            StreamBytes::new(100, 50),
        );
        let first = before.start_near(0);
        assert_eq!(first, -100);
        assert_eq!(after.start_near(first), 100);
        assert_eq!(before.start_near(after.start_near(first)), first);
        let much_later = 7 * (1 << 32) + 1_000;
        assert_eq!(
            StreamBytes::new(900, 1).start_near(much_later),
            much_later - 100
        );
        assert_eq!(StreamBytes::new(0, 1).start_near(i64::MAX), i64::MAX);
    }

    #[test]
    fn what_is_not_told_has_no_length() {
        assert_eq!(StreamBytes::NONE.length(), None);
        assert!(!StreamBytes::NONE.has_bytes());
        assert_eq!(
            StreamBytes::new(5, 0),
            StreamBytes {
                start: 5,
                length: 0
            }
        );
        assert_eq!(StreamBytes::new(5, u32::MAX).length(), Some((1 << 31) - 2));
    }

    #[test]
    fn a_datagram_is_a_stream_of_its_own() {
        for (name, from, n_bytes) in [
            (0x11_1234, 0, 1),
            (0x11_1234, 65_528, 7),
            (0x7fff_ffff, 1480, 1480),
        ] {
            let range = StreamBytes::of_datagram(name, from, n_bytes);
            assert_eq!(range.datagram(), Some(name));
            assert_eq!(range.length(), Some(n_bytes));
            assert_eq!(range.start_near(1 << 40), i64::from(from));
            assert_eq!(range.behind(99), range);
            assert_eq!(range.without_ip_id(), StreamBytes::NONE);
        }
        for (from, n_bytes) in [(0, 0), (65_528, 8), (0, 65_536), (u32::MAX, u32::MAX)] {
            assert_eq!(
                StreamBytes::of_datagram(1, from, n_bytes),
                StreamBytes::NONE
            );
        }
        let segment = StreamBytes::new(u32::MAX, 1 << 30);
        assert_eq!(segment.datagram(), None);
        assert_eq!(segment.without_ip_id(), segment);
        let nameless = StreamBytes::of_nameless();
        assert!(nameless.has_bytes() && nameless.is_nameless());
        assert_eq!((nameless.length(), nameless.datagram()), (None, None));
    }

    #[test]
    fn an_identification_of_0_names_nothing() {
        let of = |ip_id| {
            let packet = Packet {
                ip_version: 4,
                protocol: 17,
                ip_id,
                transport_wire_bytes: 100,
                ..Packet::new()
            };
            StreamBytes::of(&packet, &[]).datagram()
        };
        assert_eq!((of(0), of(5)), (None, Some(17 << 16 | 5)));
    }
}
