//! The frame check sequence inside a frame: that of the frame before a trailer was put behind it.

use super::{Mark, StampedFrame};
use crate::base::crc::Crc;
use crate::file::Frame;
use crate::wire::Packet;

/// Where a frame ended before its trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Embedded {
    /// Its old check sequence starts here.
    pub(super) at: usize,
    /// The last four octets are the check sequence of all that is before them.
    pub(super) has_new: bool,
}

const ETHERNET: u16 = 1;
const FCS_BYTES: usize = 4;
const MIN_FRAME_BYTES: usize = 14;
const MACS_BYTES: usize = 12;
const TAG_BYTES: usize = 4;
const TAGS: [[u8; 2]; 3] = [[0x81, 0x00], [0x88, 0xA8], [0x91, 0x00]];

/// Octets from the old check sequence to the frame's end, most first: Gigamon's trailer has 14, the
/// others 16, and words before it; a new check sequence is four more.
const BEHIND: [usize; 19] = [
    80, 76, 72, 68, 64, 60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 18, 16, 14,
];

/// Finds the old check sequence: in the frame as it is, in the one that a mirror carries, or in the
/// frame without the VLAN tag that a mirror put in front.
pub(super) fn embedded(frame: &Frame<'_>, packet: &Packet) -> Option<Embedded> {
    if let Some((from, to)) = packet.mirrored {
        let inner = frame.bytes.get(from as usize..to as usize)?;
        let found = find(&[inner], inner.len())?;
        return Some(Embedded {
            at: found.at + from as usize,
            ..found
        });
    }
    if frame.link != ETHERNET || frame.bytes.len() < frame.wire_bytes as usize {
        return None;
    }
    let whole = frame.bytes;
    find(&[whole], whole.len()).or_else(|| untagged(whole))
}

/// Where a mirrored frame, or else the frame, ends.
pub(super) fn end(frame: &Frame<'_>, packet: &Packet) -> usize {
    packet
        .mirrored
        .map_or(frame.bytes.len(), |(_, to)| to as usize)
}

/// Reads a trailer of `n_bytes` behind the check sequence that the frame had before: `mark` is told
/// where the trailer is and where the frame ended. Without that sequence the trailer is damaged.
pub(super) fn behind_old_fcs(
    look: &StampedFrame<'_>,
    n_bytes: usize,
    mark: impl Fn(usize, usize) -> Option<Mark>,
) -> Option<Mark> {
    let end = end(look.frame, look.packet);
    if let Some(old) = look.embedded() {
        let at = old.at + FCS_BYTES;
        let new = if old.has_new { FCS_BYTES } else { 0 };
        let fits = at + n_bytes + new == end || at + n_bytes + FCS_BYTES == end;
        return fits.then(|| mark(at, old.at))?;
    }
    look.is_whole().then_some(())?;
    let at = end.checked_sub(n_bytes + FCS_BYTES)?;
    Some(Mark {
        is_sound: false,
        ..mark(at, at.checked_sub(FCS_BYTES)?)?
    })
}

fn untagged(whole: &[u8]) -> Option<Embedded> {
    let (macs, rest) = whole.split_at_checked(MACS_BYTES)?;
    let (tag, rest) = rest.split_at_checked(TAG_BYTES)?;
    if !TAGS.iter().any(|known| tag.starts_with(known)) {
        return None;
    }
    let found = find(&[macs, rest], whole.len() - TAG_BYTES)?;
    Some(Embedded {
        at: found.at + TAG_BYTES,
        ..found
    })
}

/// `parts` are one frame of `n_bytes`; only the last is long.
fn find(parts: &[&[u8]], n_bytes: usize) -> Option<Embedded> {
    let (last, before) = parts.split_last()?;
    let mut crc = Crc::new();
    for part in before {
        crc.update(part);
    }
    let n_before = n_bytes.checked_sub(last.len())?;
    let mut done = 0;
    let mut old_at = None;
    for behind in BEHIND.into_iter().chain([FCS_BYTES]) {
        let Some(at) = n_bytes
            .checked_sub(behind)
            .filter(|at| *at >= MIN_FRAME_BYTES)
        else {
            continue;
        };
        let at = at.checked_sub(n_before)?;
        crc.update(last.get(done..at)?);
        done = at;
        let is_fcs = last.get(at..at + FCS_BYTES)? == crc.sum().to_le_bytes();
        if behind == FCS_BYTES {
            return old_at.map(|at| Embedded {
                at,
                has_new: is_fcs,
            });
        }
        if is_fcs && old_at.is_none() {
            old_at = Some(at + n_before);
        }
    }
    None
}

/// Whether the last four octets are the frame's check sequence.
pub(super) fn has_fcs(bytes: &[u8]) -> bool {
    bytes.split_last_chunk().is_some_and(|(rest, fcs)| {
        let mut crc = Crc::new();
        crc.update(rest);
        *fcs == crc.sum().to_le_bytes()
    })
}
