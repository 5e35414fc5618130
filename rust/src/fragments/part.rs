//! One fragment, as its frame says it.

use super::datagram::{Datagram, State};
use crate::file::Frame;
use crate::identity::{address_hash, fold};
use crate::vantage::place_of;
use crate::wire::Packet;

const HEADER_BYTES_4: usize = 20;
const HEADER_BYTES_6: usize = 40;
const FRAGMENT: u8 = 44;
const FRAGMENT_BYTES: usize = 8;
const MOST_DATAGRAM_BYTES: u32 = 65_535;

/// A fragment of an IP packet.
#[derive(Debug)]
pub(super) struct Part<'a> {
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
}

/// Where its headers are, and what they say.
struct Headers {
    body_at: usize,
    end: usize,
    offset_and_more: u32,
    ends: u64,
    which: u64,
}

impl<'a> Part<'a> {
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
        }?;
        let n_bytes = u32::try_from(headers.end.checked_sub(headers.body_at)?).ok()?;
        let from = headers.offset_and_more & !7;
        let is_last = headers.offset_and_more & 1 == 0;
        let is_possible = n_bytes > 0
            && from + n_bytes <= MOST_DATAGRAM_BYTES
            && (is_last || n_bytes.is_multiple_of(8));
        let end = headers.end.min(frame.bytes.len());
        is_possible.then(|| Self {
            key: fold(fold(headers.ends, headers.which), place_of(frame)),
            ends: headers.ends,
            at,
            body_at: headers.body_at,
            from,
            to: from + n_bytes,
            is_last,
            body: frame.bytes.get(headers.body_at..end).unwrap_or(&[]),
            is_carriers,
        })
    }

    /// True for the first fragment of another packet than the one known by the same numbers.
    pub(super) fn begins_anew(&self, known: Option<&Datagram>) -> bool {
        self.from == 0
            && known.is_some_and(|known| {
                !matches!(known.state, State::Headless) && !known.has_copy_of(self)
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
        offset_and_more: (field & 0x1fff) << 3 | (field >> 13 & 1),
        ends: fold(u64::from(protocol), ends),
        which: u64::from_be_bytes([0, 0, 0, 4, 0, ttl, id_high, id_low]),
    })
}

fn of_ipv6(bytes: &[u8], at: usize) -> Option<Headers> {
    let header: &[u8; HEADER_BYTES_6] = bytes.get(at..)?.first_chunk()?;
    let [_, _, _, _, high, low, next, ttl, ends @ ..] = header;
    let end = at + HEADER_BYTES_6 + usize::from(u16::from_be_bytes([*high, *low]));
    let fragment_at = fragment_header(bytes, at + HEADER_BYTES_6, *next)?;
    let header: &[u8; FRAGMENT_BYTES] = bytes.get(fragment_at..)?.first_chunk()?;
    let [protocol, _, high, low, id @ ..] = *header;
    let (src, dst) = ends.split_at(16);
    let hash = |address: &[u8]| {
        address
            .try_into()
            .map(u128::from_be_bytes)
            .map(address_hash)
    };
    let ends = fold(hash(src).ok()?, hash(dst).ok()?);
    let id = u64::from(u32::from_be_bytes(id));
    Some(Headers {
        body_at: fragment_at + FRAGMENT_BYTES,
        end,
        offset_and_more: u32::from(u16::from_be_bytes([high, low])) & 0xfff9,
        ends: fold(u64::from(protocol), ends),
        which: id << 16 | u64::from(u16::from_be_bytes([6, *ttl])),
    })
}

/// Hop-by-hop options, routing and destination options stand before it (RFC 8200 §4.1).
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
