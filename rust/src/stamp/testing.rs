//! What the tests of the stamps share: frames of hex digits, and what is read from them.

use super::frame::StampedFrame;
use super::key::Key;
use super::{Mark, Stamp};
use crate::file::{Frame, FrameDirection};
use crate::wire::vectors::frame as octets;
use crate::wire::{Decoder, Packet};

/// When the file says that the frames came.
pub(super) const T_NS: i64 = 1_700_000_000_123_456_789;

/// A UDP packet in 60 octets, and its check sequence.
pub(super) const PADDED: &str = "EU 00000000000000000000000000000000 ad2557d3";

/// What a stamp reads from a frame.
pub(super) fn mark(stamp: &Stamp, text: &str) -> Option<Mark> {
    marked(stamp, &octets(text), None)
}

/// What a stamp reads from a frame of which the last octets were not captured.
pub(super) fn mark_cut(stamp: &Stamp, text: &str, n_cut: usize) -> Option<Mark> {
    let bytes = octets(text);
    let n = bytes.len();
    let frame = Frame {
        bytes: &bytes[..n - n_cut],
        ..frame_of(&bytes)
    };
    (stamp.read)(&StampedFrame::new(&frame, &packet_of(&frame), None))
}

pub(super) fn marked(stamp: &Stamp, bytes: &[u8], key: Option<&Key>) -> Option<Mark> {
    let frame = frame_of(bytes);
    (stamp.read)(&StampedFrame::new(&frame, &packet_of(&frame), key))
}

/// What a key frame says.
pub(super) fn key(text: &str) -> Option<Key> {
    let bytes = octets(text);
    let frame = frame_of(&bytes);
    Key::of(&frame, &packet_of(&frame))
}

pub(super) fn frame_of(bytes: &[u8]) -> Frame<'_> {
    Frame {
        number: 1,
        t_ns: T_NS,
        stamp_ns: None,
        late_ns: 0,
        packet_id: 0,
        has_time: true,
        interface: 0,
        link: 1,
        wire_bytes: u32::try_from(bytes.len()).unwrap(),
        fcs_bytes: 0,
        direction: FrameDirection::Unknown,
        bytes,
    }
}

fn packet_of(frame: &Frame<'_>) -> Packet {
    let mut packet = Packet::new();
    Decoder::new(&[]).unwrap().decode_frame(frame, &mut packet);
    packet
}
