//! What the link layer says of where a frame was seen.
//!
//! Spec: `LINKTYPE_LINUX_SLL`, `LINKTYPE_LINUX_SLL2`, `LINKTYPE_NFLOG`, `LINKTYPE_PKTAP`, IEEE 802.3.

use crate::base::hash::word;
use crate::file::Frame;

const ETHERNET: u16 = 1;
const SLL: u16 = 113;
const SLL2: u16 = 276;
const NFLOG: u16 = 239;
const PKTAP: [u16; 2] = [258, 149];

/// `PACKET_OUTGOING` of `packet(7)`; all other types were received.
const OUTGOING: u8 = 4;
const IPV4: u64 = 0x0800;
const IPV6: u64 = 0x86dd;
const TAGS: [u64; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// More tags than any network stacks.
const MAX_TAGS: usize = 4;
const VLAN_ID: u64 = 0x0fff;
/// `NFULA_IFINDEX_INDEV` and `NFULA_IFINDEX_OUTDEV` of `linux/netfilter/nfnetlink_log.h`.
const IN_DEVICE: u64 = 4;
const OUT_DEVICE: u64 = 5;
/// `NFULA_PAYLOAD`.
const PAYLOAD: u64 = 9;
const MAX_ATTRIBUTES: usize = 32;
/// `PTH_FLAG_DIR_IN` and `PTH_FLAG_DIR_OUT`.
const PKTAP_DIRECTION: u8 = 3;

/// What an Ethernet header says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ethernet {
    /// Source and destination; a group is no place, so it counts as 0.
    pub(super) macs: [i64; 2],
    /// Twelve bits a tag.
    pub(super) vlans: i64,
    /// Where the tags end, and what follows.
    network_at: usize,
    ether_type: u64,
}

/// What the outermost header says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) port: i64,
    pub(super) direction: u8,
    pub(super) ethernet: Ethernet,
    pub(super) ttl: u8,
}

/// Big-endian, as far as it was captured.
fn number(bytes: &[u8], at: usize, n: usize) -> Option<u64> {
    let octets = bytes.get(at..at.checked_add(n)?)?;
    Some(
        octets
            .iter()
            .fold(0, |value, octet| value << 8 | u64::from(*octet)),
    )
}

fn signed(value: Option<u64>) -> i64 {
    value.map_or(-1, u64::cast_signed)
}

/// Reads the outermost header of a frame.
pub(super) fn read(frame: &Frame<'_>) -> Link {
    let bytes = frame.bytes;
    let none = Link {
        port: -1,
        ..Link::default()
    };
    match frame.link {
        ETHERNET => of_ethernet(bytes, none),
        SLL | SLL2 => of_cooked(frame.link, bytes, none),
        NFLOG => nflog(bytes),
        link if PKTAP.contains(&link) => Link {
            port: name_as_number(bytes.get(12..36).unwrap_or_default()),
            direction: bytes.get(36).map_or(0, |flags| flags & PKTAP_DIRECTION) % 3,
            ..none
        },
        _ => none,
    }
}

fn of_ethernet(bytes: &[u8], none: Link) -> Link {
    let ethernet = ethernet(bytes, 0);
    let ttl = ttl(bytes, ethernet.network_at, ethernet.ether_type);
    Link {
        ethernet,
        ttl,
        ..none
    }
}

/// Linux's cooked captures: the second version names the interface.
fn of_cooked(link: u16, bytes: &[u8], none: Link) -> Link {
    if link == SLL {
        return Link {
            direction: way(number(bytes, 0, 2)),
            ttl: ttl(bytes, 16, number(bytes, 14, 2).unwrap_or(0)),
            ..none
        };
    }
    Link {
        port: signed(number(bytes, 4, 4)),
        direction: way(number(bytes, 10, 1)),
        ttl: ttl(bytes, 20, number(bytes, 0, 2).unwrap_or(0)),
        ..none
    }
}

fn way(packet_type: Option<u64>) -> u8 {
    packet_type.map_or(0, |kind| if kind == u64::from(OUTGOING) { 2 } else { 1 })
}

fn ttl(bytes: &[u8], at: usize, ether_type: u64) -> u8 {
    let octet = match ether_type {
        IPV4 => at + 8,
        IPV6 => at + 7,
        _ => return 0,
    };
    bytes.get(octet).copied().unwrap_or(0)
}

/// The Ethernet header at a place, if there is one.
pub(super) fn ethernet(bytes: &[u8], at: usize) -> Ethernet {
    let Some(header) = bytes.get(at..).filter(|header| header.len() >= 14) else {
        return Ethernet::default();
    };
    let (vlans, type_at) = tags(header);
    Ethernet {
        macs: [mac(header, 6), mac(header, 0)],
        vlans,
        network_at: at + type_at + 2,
        ether_type: two_octets(header, type_at).unwrap_or(0),
    }
}

/// The address at a place; 0 for a group's, and where there is none.
fn mac(header: &[u8], at: usize) -> i64 {
    const GROUP: u8 = 1;
    let octets = header.get(at..).and_then(<[u8]>::first_chunk::<6>);
    let Some(octets) = octets.filter(|octets| octets[0] & GROUP == 0) else {
        return 0;
    };
    word(octets, 0, octets.len()).cast_signed()
}

fn two_octets(bytes: &[u8], at: usize) -> Option<u64> {
    let octets = bytes.get(at..)?.first_chunk().copied();
    octets.map(|octets| u16::from_be_bytes(octets).into())
}

/// The tags of an Ethernet header, and where the type behind them is.
#[inline]
fn tags(header: &[u8]) -> (i64, usize) {
    let (mut vlans, mut type_at) = (0, 12);
    for _ in 0..MAX_TAGS {
        let is_tag = two_octets(header, type_at).is_some_and(|kind| TAGS.contains(&kind));
        let Some(tag) = two_octets(header, type_at + 2).filter(|_| is_tag) else {
            break;
        };
        // a priority tag has id 0 and is a tag nevertheless
        vlans = vlans << 13 | 1 << 12 | (tag & VLAN_ID).cast_signed();
        type_at += 4;
    }
    (vlans, type_at)
}

/// The device a packet came in by, else the one it leaves by. Lengths and types are in the order of
/// the machine that captured: the one in which the attributes fit.
fn nflog(bytes: &[u8]) -> Link {
    let found = devices(bytes, true).or_else(|| devices(bytes, false));
    let (came_in, leaves) = found.unwrap_or((None, None));
    Link {
        port: signed(came_in.or(leaves)),
        direction: match (came_in, leaves) {
            (Some(_), None) => 1,
            (None, Some(_)) => 2,
            _ => 0,
        },
        ..Link::default()
    }
}

type Devices = (Option<u64>, Option<u64>);

fn devices(bytes: &[u8], is_little: bool) -> Option<Devices> {
    let (mut at, mut found) = (4, (None, None));
    for _ in 0..MAX_ATTRIBUTES {
        if at + 4 > bytes.len() {
            break;
        }
        let read = |at| {
            let value = number(bytes, at, 2)?;
            Some(if is_little {
                value >> 8 | (value & 0xff) << 8
            } else {
                value
            })
        };
        let (n_bytes, kind) = (read(at)?, read(at + 2)?);
        let n_bytes = usize::try_from(n_bytes).ok().filter(|n| *n >= 4)?;
        // a packet may be cut by a snap length, what is before it may not
        if kind != PAYLOAD && at + n_bytes > bytes.len() {
            return None;
        }
        match kind {
            IN_DEVICE => found.0 = number(bytes, at + 4, 4),
            OUT_DEVICE => found.1 = number(bytes, at + 4, 4),
            _ => {}
        }
        at = at.checked_add(n_bytes.next_multiple_of(4))?;
    }
    (at >= bytes.len()).then_some(found)
}

/// The last eight characters of a name; numbers that interfaces have are smaller.
fn name_as_number(name: &[u8]) -> i64 {
    let end = name.iter().position(|octet| *octet == 0);
    let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
    let tail = name.get(name.len().saturating_sub(8)..).unwrap_or_default();
    if tail.is_empty() {
        return -1;
    }
    let padded = tail.iter().chain(std::iter::repeat(&0)).take(8);
    let number = padded.fold(0, |value, octet| value << 8 | u64::from(*octet & 0x7f));
    number.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(link: u16, bytes: &[u8]) -> Link {
        read(&Frame {
            number: 1,
            t_ns: 0,
            stamp_ns: None,
            late_ns: 0,
            packet_id: 0,
            has_time: true,
            interface: 0,
            link,
            wire_bytes: 0,
            fcs_bytes: 0,
            direction: crate::file::FrameDirection::Unknown,
            bytes,
        })
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u32> = text.chars().filter_map(|one| one.to_digit(16)).collect();
        let octet = |pair: &[u32]| u8::try_from(pair[0] << 4 | pair[1]).unwrap();
        digits.chunks_exact(2).map(octet).collect()
    }

    #[test]
    fn cooked_captures_have_ports_and_ways() {
        let sent = of(276, &hex("0800 0000 00000007 0001 04 06 0200000000010000"));
        assert_eq!((sent.port, sent.direction), (7, 2));
        let received = of(
            113,
            &hex("0003 0001 0006 0200000000010000 0800 4500000000000000 3f"),
        );
        assert_eq!(
            (received.port, received.direction, received.ttl),
            (-1, 1, 0x3f)
        );
    }

    #[test]
    fn tags_are_read_from_the_outside_and_priority_tags_count() {
        let tagged = |tags: &str| {
            let frame = hex(&format!(
                "020000000002 020000000001 {tags} 0800 4500000000000000 40"
            ));
            of(1, &frame)
        };
        let plain = tagged("");
        assert_eq!((plain.ethernet.vlans, plain.ttl), (0, 0x40));
        assert_eq!(plain.ethernet.macs, [0x0200_0000_0001, 0x0200_0000_0002]);
        let values = ["8100 0000", "8100 0007", "88a8 0001 8100 0007", "8100 e007"]
            .map(|tags| tagged(tags).ethernet.vlans);
        assert_eq!(values, [0x1000, 0x1007, 0x1001 << 13 | 0x1007, 0x1007]);
    }

    #[test]
    fn a_group_is_no_place() {
        let frame = hex("ffffffffffff 020000000001 0806");
        assert_eq!(of(1, &frame).ethernet.macs, [0x0200_0000_0001, 0]);
    }

    #[test]
    fn devices_are_read_in_either_order() {
        let little = hex("02 00 0000  0800 0500 00000003  0800 0400 00000002");
        let big = hex("02 00 0000  0008 0005 00000003");
        assert_eq!((of(239, &little).port, of(239, &little).direction), (2, 0));
        assert_eq!((of(239, &big).port, of(239, &big).direction), (3, 2));
    }

    #[test]
    fn names_of_taps_are_numbers_that_no_index_reaches() {
        let tap = |name: &str| {
            let mut frame = vec![0; 12];
            frame.extend(name.bytes());
            frame.resize(40, 0);
            of(258, &frame).port
        };
        assert_eq!(tap(""), -1);
        assert!(tap("en0") > i64::from(u32::MAX));
        assert_eq!(tap("en0").to_be_bytes(), *b"en0\0\0\0\0\0");
        assert_eq!(tap("bridge100").to_be_bytes(), *b"ridge100");
    }

    #[test]
    fn what_is_cut_is_not_known() {
        for link in [1, 113, 276, 239, 258, 999] {
            for n in 0..40 {
                let _ = of(link, &vec![0xff; n]);
            }
        }
        assert_eq!(of(276, &[0; 5]).port, -1);
    }
}
