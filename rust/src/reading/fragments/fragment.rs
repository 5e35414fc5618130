//! One fragment, or segment of STT, as its frame says it.

use super::datagram::{Datagram, DatagramState};
use crate::base::hash::{address_hash, fold};
use crate::file::Frame;
use crate::location::place_of;
use crate::wire::Packet;

const HEADER_BYTES_4: usize = 20;
const HEADER_BYTES_6: usize = 40;
const FRAGMENT: u8 = 44;
const FRAGMENT_BYTES: usize = 8;
/// What looks like TCP's header without options.
const SEGMENT_BYTES: usize = 20;
/// Tells ends with segments from those with fragments.
const SEGMENTS: u64 = 7471;
const MOST_DATAGRAM_BYTES: u32 = 65_535;

/// A fragment of an IP packet, or a segment of a frame of STT.
#[derive(Debug)]
pub(super) struct Fragment<'a> {
    /// Of which packet, seen where: addresses, protocol, identification, link layer, hops left.
    pub(super) key: u64,
    /// Addresses and protocol.
    pub(super) ends: u64,
    /// Where in the frame its IP header starts.
    pub(super) at: usize,
    /// Where its own bytes start, behind all headers that every fragment has.
    pub(super) body_at: usize,
    /// Which bytes of the packet it has.
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) is_last: bool,
    /// As far as they were captured.
    pub(super) body: &'a [u8],
    /// The first fragment of a packet in which another one begins.
    pub(super) is_carriers: bool,
    /// It has no header of a fragment, but one that looks like TCP's.
    pub(super) is_segment: bool,
}

/// Where its headers are, and what they say.
struct Headers {
    body_at: usize,
    end: usize,
    from: u32,
    /// Of a fragment whether more follow, of a segment how long all of them are.
    whole: Whole,
    ends: u64,
    which: u64,
}

/// What a part says of how much there is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    HasMore,
    EndsHere,
    Bytes(u32),
}

impl<'a> Fragment<'a> {
    /// None for what could not be put together in any case.
    pub(super) fn of(frame: &Frame<'a>, packet: &Packet) -> Option<Self> {
        let is_carriers = packet.carrier_at != usize::MAX;
        let at = if is_carriers {
            packet.carrier_at
        } else {
            packet.network_at
        };
        let headers = match frame.bytes.get(at)? >> 4 {
            4 => of_ipv4(frame.bytes, at),
            6 => of_ipv6(frame.bytes, at),
            _ => None,
        };
        let headers = headers
            .filter(|headers| headers.from != 0 || headers.whole == Whole::HasMore)
            .or_else(|| of_stt(frame.bytes, at, packet.segment_at))?;
        let is_segment = matches!(headers.whole, Whole::Bytes(_));
        let n_bytes = u32::try_from(headers.end.checked_sub(headers.body_at)?).ok()?;
        let from = headers.from;
        let to = from.checked_add(n_bytes)?;
        let (is_last, is_possible) = match headers.whole {
            Whole::HasMore => (false, n_bytes.is_multiple_of(8)),
            Whole::EndsHere => (true, true),
            Whole::Bytes(n_whole) => (to == n_whole, to <= n_whole),
        };
        let is_possible = is_possible && n_bytes > 0 && to <= MOST_DATAGRAM_BYTES;
        let end = headers.end.min(frame.bytes.len());
        is_possible.then(|| Self {
            key: fold(fold(headers.ends, headers.which), place_of(frame)),
            ends: headers.ends,
            at,
            body_at: headers.body_at,
            from,
            to,
            is_last,
            body: frame.bytes.get(headers.body_at..end).unwrap_or(&[]),
            is_carriers: if is_segment { from == 0 } else { is_carriers },
            is_segment,
        })
    }

    /// True for the first fragment of another packet than the one known by the same numbers.
    pub(super) fn begins_anew(&self, known: Option<&Datagram>) -> bool {
        self.from == 0
            && known.is_some_and(|known| {
                !matches!(known.state, DatagramState::Headless) && !known.has_copy_of(self)
            })
    }
}

fn of_ipv4(bytes: &[u8], at: usize) -> Option<Headers> {
    let header: &[u8; HEADER_BYTES_4] = bytes.get(at..)?.first_chunk()?;
    let [first, _, total @ .., _, _, _, _, _, _, _, _, _, _, _, _] = header;
    let [total_high, total_low, id_high, id_low, high, low] = *total;
    let field = u32::from(u16::from_be_bytes([high, low]));
    let [.., ttl, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = *header;
    let body_at = at + usize::from(first & 15) * 4;
    let ends = u64::from_be_bytes([s0, s1, s2, s3, d0, d1, d2, d3]);
    Some(Headers {
        body_at,
        end: at + usize::from(u16::from_be_bytes([total_high, total_low])),
        // in words of 8 octets; bit 13 says that more follow
        from: (field & 0x1fff) << 3,
        whole: whole_of(field >> 13 & 1 == 1),
        ends: fold(u64::from(protocol), ends),
        which: u64::from_be_bytes([0, 0, 0, 4, 0, ttl, id_high, id_low]),
    })
}

fn of_ipv6(bytes: &[u8], at: usize) -> Option<Headers> {
    let header: &[u8; HEADER_BYTES_6] = bytes.get(at..)?.first_chunk()?;
    let [_, _, _, _, _, _, next, ttl, ..] = header;
    let fragment_at = fragment_header(bytes, at + HEADER_BYTES_6, *next)?;
    let fragment: &[u8; FRAGMENT_BYTES] = bytes.get(fragment_at..)?.first_chunk()?;
    let [protocol, _, high, low, id @ ..] = *fragment;
    let field = u32::from(u16::from_be_bytes([high, low]));
    let id = u64::from(u32::from_be_bytes(id));
    Some(Headers {
        body_at: fragment_at + FRAGMENT_BYTES,
        end: end_of_ipv6(header, at),
        from: field & 0xfff8,
        whole: whole_of(field & 1 == 1),
        ends: fold(u64::from(protocol), addresses_of_ipv6(header)?),
        which: id << 16 | u64::from(u16::from_be_bytes([6, *ttl])),
    })
}

fn whole_of(has_more: bool) -> Whole {
    if has_more {
        Whole::HasMore
    } else {
        Whole::EndsHere
    }
}

fn end_of_ipv6(header: &[u8; HEADER_BYTES_6], at: usize) -> usize {
    let [_, _, _, _, high, low, ..] = *header;
    at + HEADER_BYTES_6 + usize::from(u16::from_be_bytes([high, low]))
}

fn addresses_of_ipv6(header: &[u8; HEADER_BYTES_6]) -> Option<u64> {
    let [_, _, _, _, _, _, _, _, ends @ ..] = header;
    let (src, dst) = ends.split_at(16);
    let hash = |address: &[u8]| {
        address
            .try_into()
            .map(u128::from_be_bytes)
            .map(address_hash)
    };
    Some(fold(hash(src).ok()?, hash(dst).ok()?))
}

/// A segment whose header starts at `segment_at`, in the IP packet at `at` (draft-davie-stt).
fn of_stt(bytes: &[u8], at: usize, segment_at: usize) -> Option<Headers> {
    let [s0, s1, d0, d1, n_high, n_low, at_high, at_low, id @ ..] =
        *bytes.get(segment_at..)?.first_chunk::<12>()?;
    let (ends, end, ttl) = carrier_of_stt(bytes, at)?;
    let id = u64::from(u32::from_be_bytes(id));
    Some(Headers {
        body_at: segment_at + SEGMENT_BYTES,
        end,
        from: u16::from_be_bytes([at_high, at_low]).into(),
        whole: Whole::Bytes(u16::from_be_bytes([n_high, n_low]).into()),
        ends: fold(SEGMENTS, ends),
        which: fold(
            id << 16 | u64::from(u16::from_be_bytes([n_high, n_low])),
            u64::from_be_bytes([0, 0, 0, ttl, s0, s1, d0, d1]),
        ),
    })
}

/// Addresses, end and hops left of the IP packet at `at`.
fn carrier_of_stt(bytes: &[u8], at: usize) -> Option<(u64, usize, u8)> {
    if bytes.get(at)? >> 4 == 4 {
        let ip = of_ipv4(bytes, at)?;
        return Some((ip.ends, ip.end, *bytes.get(at + 8)?));
    }
    let header: &[u8; HEADER_BYTES_6] = bytes.get(at..)?.first_chunk()?;
    let ends = addresses_of_ipv6(header)?;
    Some((ends, end_of_ipv6(header, at), header[7]))
}

/// Hop-by-hop options, routing and destination options stand before it (RFC 8200).
fn fragment_header(bytes: &[u8], mut at: usize, mut next: u8) -> Option<usize> {
    while next != FRAGMENT {
        if !matches!(next, 0 | 43 | 60) {
            return None;
        }
        let [following, n_words] = *bytes.get(at..)?.first_chunk()?;
        at += 8 + 8 * usize::from(n_words);
        next = following;
    }
    Some(at)
}
