//! What the packet brokers of Gigamon and Ixia share: fields, of which one is a time, and a trailer of
//! them with a checksum.

use super::embedded::end;
use super::{Mark, StampedFrame};
use crate::base::cursor::be;
use crate::base::tlv::Fields;

/// By the broker's own clock, NTP, GPS, IEEE 1588; Ixia has one more for a clock on its own.
const TIMES: std::ops::RangeInclusive<u8> = 3..=7;
const TIME_BYTES: usize = 8;
/// Length, magic number, checksum.
const BEHIND_FIELDS: usize = 5;
const FCS_BYTES: usize = 4;

/// The time among fields, of a frame that ends at `cut_at`.
pub(super) fn time(fields: &[u8], cut_at: usize) -> Option<Mark> {
    let is_time = |(kind, value): &(u8, &[u8])| TIMES.contains(kind) && value.len() == TIME_BYTES;
    let (_, value) = Fields(fields).find(is_time)?;
    let (seconds, ns) = value.split_first_chunk::<4>()?;
    Some(Mark::of_seconds(
        be(seconds),
        be(ns.first_chunk::<4>()?),
        cut_at,
    ))
}

/// The time in a trailer, with and without a check sequence of the frame behind it:
///
/// ```text
/// | fields | their length (8) | magic (16) | Internet checksum of all three (16) | [FCS] |
/// ```
pub(super) fn trailer(look: &StampedFrame<'_>, magic: [u8; 2]) -> Option<Mark> {
    if !look.is_whole() {
        return None;
    }
    let end = end(look.frame, look.packet);
    let ends = [Some(end), end.checked_sub(FCS_BYTES)];
    let found = ends.into_iter().flatten();
    found
        .filter_map(|end| trailer_until(look, magic, end))
        .max_by_key(|mark| mark.is_sound)
}

fn trailer_until(look: &StampedFrame<'_>, magic: [u8; 2], end: usize) -> Option<Mark> {
    let length_at = end.checked_sub(BEHIND_FIELDS)?;
    let [n_bytes, high, low, sum @ ..] = *look.octets::<BEHIND_FIELDS>(length_at)?;
    let at = length_at.checked_sub(n_bytes.into())?;
    if [high, low] != magic || !look.is_behind_packet(at) {
        return None;
    }
    let fields = look.frame.bytes.get(at..length_at)?;
    let summed = look.frame.bytes.get(at..length_at + 3)?;
    let mark = time(fields, at)?;
    Some(Mark {
        is_sound: mark.is_sound && checksum(summed) == u16::from_be_bytes(sum),
        ..mark
    })
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| match *pair {
        [high, low] => u32::from(high) << 8 | u32::from(low),
        [high] => u32::from(high) << 8,
        _ => 0,
    };
    let sum: u32 = bytes.chunks(2).map(word).sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    let [.., high, low] = ((folded & 0xFFFF) + (folded >> 16)).to_be_bytes();
    !u16::from_be_bytes([high, low])
}
