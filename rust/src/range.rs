//! Byte ranges: which bytes of its stream a packet carries. A stream may be cut and joined on the
//! way, so that its packets are others at the next point and its bytes are the same.
//!
//! What is TCP's own about it is here: sequence numbers as starts, and that they wrap.

use crate::wire::Packet;

/// IP protocol number.
const TCP: i16 = 6;

/// The payload bytes of one packet: where in the stream they start, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    start: u32,
    length: u32,
}

impl Range {
    /// No bytes of a stream.
    pub const NONE: Self = Self {
        start: 0,
        length: 0,
    };

    /// Bytes of which the capture does not tell how many.
    const UNTOLD: u32 = u32::MAX;

    /// `length` bytes from `start` on.
    #[must_use]
    pub fn new(start: u32, length: u32) -> Self {
        Self {
            start,
            length: length.min(Self::UNTOLD - 1),
        }
    }

    /// There are bytes, though it may be unknown how many.
    #[must_use]
    pub fn has_bytes(self) -> bool {
        self.length > 0
    }

    /// How many bytes, where there are some and it is known.
    #[must_use]
    pub fn length(self) -> Option<u32> {
        (self.length > 0 && self.length < Self::UNTOLD).then_some(self.length)
    }

    /// The start as a number that does not wrap, given that of a packet of the stream sent about
    /// the same time: starts are compared modulo 2^32 (RFC 9293 §3.4).
    #[must_use]
    pub fn start_near(self, other: i64) -> i64 {
        let low = u32::try_from(other & 0xffff_ffff).unwrap_or(0);
        let ahead = self.start.wrapping_sub(low).cast_signed();
        other.saturating_add(i64::from(ahead))
    }

    /// The same bytes, of a stream whose numbers are `ahead` of those everywhere else.
    #[must_use]
    pub fn behind(self, ahead: u32) -> Self {
        Self {
            start: self.start.wrapping_sub(ahead),
            ..self
        }
    }

    /// The range of a TCP segment with payload; none of anything else, and of fragments.
    #[must_use]
    pub fn of(packet: &Packet, bytes: &[u8]) -> Self {
        /// A header with time stamps (RFC 7323 §3.2), where the snap length leaves its length unsaid.
        const USUAL_HEADER_BYTES: u32 = 32;
        if packet.protocol != TCP || packet.fragment != 0 {
            return Self::NONE;
        }
        let header = packet.transport(bytes);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_go_on_across_the_wrap() {
        let (before, after) = (Range::new(u32::MAX - 99, 200), Range::new(100, 50));
        let first = before.start_near(0);
        assert_eq!(first, -100);
        assert_eq!(after.start_near(first), 100);
        assert_eq!(before.start_near(after.start_near(first)), first);
        let much_later = 7 * (1 << 32) + 1_000;
        assert_eq!(Range::new(900, 1).start_near(much_later), much_later - 100);
        assert_eq!(Range::new(0, 1).start_near(i64::MAX), i64::MAX);
    }

    #[test]
    fn what_is_not_told_has_no_length() {
        assert_eq!(Range::NONE.length(), None);
        assert!(!Range::NONE.has_bytes());
        assert_eq!(
            Range::new(5, 0),
            Range {
                start: 5,
                length: 0
            }
        );
        assert_eq!(Range::new(5, u32::MAX).length(), Some(u32::MAX - 1));
    }
}
