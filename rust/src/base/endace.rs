//! Endace's record: a file format, and a link type in other files.
//!
//! Spec: Endace ERF types reference, as Wireshark's wiretap/erf.c has it.
//!
//! ```text
//! |  stamp (64, LE): seconds in the high half, 2^-32 s in the low  |
//! |  type (8)  |  flags (8)  |  record length (16)  |  lost or colour (16)  |  wire length (16)  |
//! |  extension (64), while the top bit of the octet before says so  |
//! |  Ethernet: offset (8), padding (8); multi-channel: header (32)   |  frame  |
//! ```

use crate::base::instant::NS_PER_S;

/// What every record starts with.
pub(crate) const HEADER_BYTES: usize = 16;
const EXTENSION_BYTES: usize = 8;
/// Of a type: extensions follow; of an extension: another follows.
const MORE: u8 = 0x80;
/// Of flags: the interface.
const INTERFACE: u8 = 0x03;
const ETHERNET: u16 = 1;
const ETHERNET_CHECK_BYTES: u8 = 4;

/// Records of this type hold nothing.
pub(crate) const PADDING: u8 = 48;
/// Records of this type describe the capture.
pub(crate) const METADATA: u8 = 27;
/// Types above it, other than padding, were never assigned.
const MAX_KIND: u8 = 33;

/// A record header.
#[derive(Clone, Copy)]
pub(crate) struct EndaceRecord {
    pub(crate) t_ns: i64,
    pub(crate) kind: u8,
    pub(crate) interface: u8,
    has_extensions: bool,
    /// The whole record, its header included.
    pub(crate) n_bytes: usize,
    lost_or_colour: u16,
    pub(crate) wire_bytes: u16,
}

/// What a record carries.
#[derive(Clone, Copy)]
pub(crate) struct EndaceContent {
    /// Link type, where there is one that is known.
    pub(crate) link: Option<u16>,
    /// Where it starts, from the start of the record.
    pub(crate) at: usize,
    /// Octets of check sequence at the end of the wire frame.
    pub(crate) fcs_bytes: u8,
}

impl EndaceRecord {
    pub(crate) fn read(header: &[u8; HEADER_BYTES]) -> Self {
        let [t0, t1, t2, t3, t4, t5, t6, t7, kind, flags, rest @ ..] = *header;
        let [n_high, n_low, lost_high, lost_low, wire_high, wire_low] = rest;
        Self {
            t_ns: instant_ns(u64::from_le_bytes([t0, t1, t2, t3, t4, t5, t6, t7])),
            kind: kind & !MORE,
            interface: flags & INTERFACE,
            has_extensions: kind & MORE != 0,
            n_bytes: u16::from_be_bytes([n_high, n_low]).into(),
            lost_or_colour: u16::from_be_bytes([lost_high, lost_low]),
            wire_bytes: u16::from_be_bytes([wire_high, wire_low]),
        }
    }

    /// Could a record start like this? Nothing marks one.
    pub(crate) fn is_plausible(&self) -> bool {
        let is_assigned = (1..=MAX_KIND).contains(&self.kind) || self.kind == PADDING;
        is_assigned && self.n_bytes >= HEADER_BYTES
    }

    /// Packets that were lost before this one; some types have a colour in its place.
    pub(crate) fn n_lost(&self) -> u64 {
        match self.kind {
            1..=9 | 12 | 18 | 22..=24 => self.lost_or_colour.into(),
            _ => 0,
        }
    }

    /// Link type, octets before its frame, octets of check sequence behind it.
    fn link(&self) -> (Option<u16>, usize, u8) {
        match self.kind {
            2 | 11 | 16 | 20 => (Some(ETHERNET), 2, ETHERNET_CHECK_BYTES),
            // HDLC of either kind, and with channels.
            1 | 10 | 15 | 19 => (Some(50), 0, 0),
            5 | 17 => (Some(50), 4, 0),
            22 => (Some(228), 0, 0),
            23 => (Some(229), 0, 0),
            _ => (None, 0, 0),
        }
    }

    /// What the record that starts with `bytes` carries; none if its headers are longer than it.
    pub(crate) fn content(&self, bytes: &[u8]) -> Option<EndaceContent> {
        let mut at = HEADER_BYTES;
        let mut is_more = self.has_extensions;
        while is_more {
            is_more = bytes.get(at)? & MORE != 0;
            at += EXTENSION_BYTES;
        }
        let (link, n_before, fcs_bytes) = self.link();
        let at = at + n_before;
        (at <= bytes.len().min(self.n_bytes)).then_some(EndaceContent {
            link,
            at,
            fcs_bytes,
        })
    }
}

/// Rounded to the nearest, as Endace's own tools do.
fn instant_ns(stamp: u64) -> i64 {
    let fraction = (stamp & 0xffff_ffff) * NS_PER_S.cast_unsigned();
    let ns = (fraction + (1 << 31)) >> 32;
    (stamp >> 32).cast_signed() * NS_PER_S + ns.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_rounded() {
        assert_eq!(instant_ns(0x6553_f100_1f9a_dd38), 1_700_000_000_123_456_789);
        assert_eq!(instant_ns(0x6553_f100_ffff_ffff), 1_700_000_001_000_000_000);
        assert_eq!(instant_ns(0), 0);
    }
}
