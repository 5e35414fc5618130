//! One frame, as the stamps look at it.

use super::embedded::{Embedded, embedded};
use super::key::Key;
use crate::base::cursor::be;
use crate::file::Frame;
use crate::wire::{Carrier, Packet};
use std::cell::OnceCell;

/// A decoded frame, and what its file said before.
pub(super) struct StampedFrame<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) packet: &'a Packet,
    pub(super) key: Option<&'a Key>,
    embedded: OnceCell<Option<Embedded>>,
}

impl<'a> StampedFrame<'a> {
    pub(super) fn new(frame: &'a Frame<'a>, packet: &'a Packet, key: Option<&'a Key>) -> Self {
        Self {
            frame,
            packet,
            key,
            embedded: OnceCell::new(),
        }
    }

    /// The check sequence of the frame as it was before a trailer was put behind it.
    pub(super) fn embedded(&self) -> Option<Embedded> {
        *self
            .embedded
            .get_or_init(|| embedded(self.frame, self.packet))
    }

    /// Whether all of the frame was captured: else its end is not there.
    pub(super) fn is_whole(&self) -> bool {
        self.frame.bytes.len() >= self.frame.wire_bytes as usize
    }

    /// Whether a place is behind the packet, as far as IP says where it ends.
    pub(super) fn is_behind_packet(&self, at: usize) -> bool {
        self.packet.ip_version == 0 || self.packet.end_at <= at
    }

    /// `N` octets at a place.
    pub(super) fn octets<const N: usize>(&self, at: usize) -> Option<&'a [u8; N]> {
        let end = at.checked_add(N)?;
        self.frame.bytes.get(at..end)?.try_into().ok()
    }

    /// The four octets at a place, as a number.
    pub(super) fn word(&self, at: usize) -> Option<u32> {
        self.octets::<4>(at).map(|octets| be(octets))
    }

    /// Where the header stands that carries a stamp, if it is of this kind.
    pub(super) fn carrier(&self, kind: Carrier) -> Option<usize> {
        let (found, at) = self.packet.carrier?;
        (found == kind).then_some(at as usize)
    }
}
