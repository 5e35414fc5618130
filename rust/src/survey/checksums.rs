//! Checksums that a host leaves to its network card: they hold the sum of the pseudo-header alone.
//!
//! That takes no payload to tell, so no snap length is in the way; by chance, or by damage, one
//! checksum in 65,536 is like it.

use crate::identity::{TCP, UDP};
use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// What one interface saw of them, by whether the source is the smaller address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksums {
    /// Packets of TCP and UDP with a checksum.
    pub n: [u64; 2],
    /// Those whose checksum is still to be computed.
    pub n_partial: [u64; 2],
}

impl Checksums {
    /// Adds those of frames that come later.
    pub(super) fn join(&mut self, later: &Self) {
        let ours = self.n.iter_mut().chain(&mut self.n_partial);
        for (n, more) in ours.zip(later.n.iter().chain(&later.n_partial)) {
            *n += more;
        }
    }

    /// Takes the interface's next packet.
    #[inline]
    pub(super) fn note(&mut self, packet: &Packet, bytes: &[u8], is_toward: bool) {
        let at = match packet.protocol {
            TCP => 16,
            UDP => 6,
            _ => return,
        };
        let field = packet.transport(bytes).get(at..);
        let stored = field.and_then(<[u8]>::first_chunk).copied();
        let stored = u16::from_be_bytes(stored.unwrap_or_default());
        // UDP need not have one; of a fragment it covers more than is here
        if stored == 0 || packet.fragment != 0 {
            return;
        }
        let [back, toward] = &mut self.n;
        *(if is_toward { toward } else { back }) += 1;
        if is_partial(packet, stored) {
            let [back, toward] = &mut self.n_partial;
            *(if is_toward { toward } else { back }) += 1;
        }
    }
}

fn is_partial(packet: &Packet, stored: u16) -> bool {
    partial_length(packet, stored).is_some()
}

/// The length in the pseudo-header (RFC 9293 §3.1, RFC 768, RFC 8200 §8.1) whose sum is what is stored; for
/// what the card is to cut, some leave it out. `None` where the checksum is none of both.
pub(crate) fn partial_length(packet: &Packet, stored: u16) -> Option<u64> {
    let lengths = [u64::from(packet.transport_wire_bytes), 0];
    lengths
        .into_iter()
        .find(|length| partial_checksum(packet, *length) == stored)
}

/// The sum of the pseudo-header with this length.
pub(crate) fn partial_checksum(packet: &Packet, n_bytes: u64) -> u16 {
    let sum = sum_of_words(packet.src) + sum_of_words(packet.dst);
    folded(sum + u64::from(packet.protocol.unsigned_abs()) + n_bytes)
}

/// Words of 16 bits.
#[expect(clippy::cast_possible_truncation, reason = "the halves of 128 bits")]
#[inline]
fn sum_of_words(address: u128) -> u64 {
    /// One word in two.
    const MASK: u64 = 0x0000_ffff_0000_ffff;
    let pairs = |half: u64| (half & MASK) + (half >> 16 & MASK);
    let sums = pairs(address as u64) + pairs((address >> 64) as u64);
    (sums >> 32) + (sums & u64::from(u32::MAX))
}

#[expect(clippy::cast_possible_truncation, reason = "folded to the low word")]
#[inline]
fn folded(sum: u64) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10.0.0.1 to 10.0.0.2.
    fn noted(stored: u16, change: impl Fn(&mut Packet)) -> Checksums {
        let mut bytes = [0; 28];
        bytes[6..8].copy_from_slice(&stored.to_be_bytes());
        let mut packet = Packet::new();
        packet.protocol = UDP;
        (packet.src, packet.dst) = (0x0a00_0001, 0x0a00_0002);
        (packet.end_at, packet.transport_wire_bytes) = (bytes.len(), 28);
        change(&mut packet);
        let mut found = Checksums::default();
        found.note(&packet, &bytes, true);
        found
    }

    #[test]
    fn the_sum_of_the_pseudo_header_is_not_a_checksum_yet() {
        // 0a00 + 0001 + 0a00 + 0002 + 17 + 28
        let partial = Checksums {
            n: [0, 1],
            n_partial: [0, 1],
        };
        assert_eq!(noted(0x1430, |_| ()), partial);
        assert_eq!(noted(0x1414, |_| ()), partial, "without a length");
        let other = Checksums {
            n_partial: [0, 0],
            ..partial
        };
        assert_eq!(noted(0x1431, |_| ()), other);
    }

    #[test]
    fn what_has_no_checksum_is_not_counted() {
        let nothing = Checksums::default();
        assert_eq!(noted(0, |_| ()), nothing);
        assert_eq!(noted(0x1430, |packet| packet.fragment = 1), nothing);
        assert_eq!(noted(0x1430, |packet| packet.protocol = 1), nothing);
        assert_eq!(
            noted(0x1430, |packet| packet.end_at = 7),
            nothing,
            "cut before it"
        );
    }
}
