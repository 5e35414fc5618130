//! Tunnel packets that the underlay cut into fragments: what is inside can be read only when all of
//! them are there (RFC 791, RFC 8200).
//!
//! One memory per file, while it is read. The frame that completes a packet carries it; the others
//! are its parts. Fragments of packets that are no tunnel's are packets of their own. What overlaps
//! otherwise than as a copy is not put together (RFC 5722): which bytes arrived nobody knows.

mod datagram;
mod fragment;
#[cfg(test)]
pub(crate) mod made;
#[cfg(test)]
mod tests;

use crate::base::hash::fold;
use crate::base::hashed::{HashedMap, HashedSet};
use crate::file::Frame;
use crate::identity::TCP;
use crate::wire::Packet;
use datagram::{Datagram, DatagramState};
use fragment::Fragment;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Fragments of one packet come within this. Senders reuse identifications: 2^16 of them last 0.65 s
/// at 100,000 packets a second.
const MOST_AGE_NS: i64 = 500_000_000;
/// Packets of which fragments are awaited, and bytes of theirs: beyond, the oldest are given up.
const MOST_DATAGRAMS: usize = 8_192;
const MOST_BYTES: usize = 16 << 20;
/// Ends of tunnels that are known; of more, a fragment without its first one is a packet of its own.
const MOST_TUNNELS: usize = 65_536;

/// Tunnels in fragments within each other, beside the outermost.
const MOST_WITHIN: usize = 4;

/// What came of the fragments of tunnel packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FragmentCounts {
    /// Frames that are a part of such a packet, without those that completed one.
    pub n_parts: u64,
    /// Packets put together.
    pub n_whole: u64,
    /// Packets of which fragments are missing.
    pub n_unfinished: u64,
    /// Packets whose fragments contradict each other.
    pub n_contradictory: u64,
}

/// What a fragment is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reassembly {
    /// A packet of its own.
    Own,
    /// A part of a tunnel packet.
    Part,
    /// The part that was missing: [`Fragments::whole`] has the packet.
    Whole,
}

/// The fragments of one file that wait for others.
#[derive(Debug, Default)]
pub struct Fragments {
    held: HashedMap<Datagram>,
    /// Addresses between which tunnel packets in fragments were seen.
    tunnels: HashedSet,
    /// Those held, the oldest first: since when, which, and its serial number.
    order: VecDeque<(i64, u64, u64)>,
    n_bytes: usize,
    n_begun: u64,
    whole: Vec<u8>,
    wire_bytes: u32,
    tally: FragmentCounts,
}

impl Fragments {
    /// What came of them up to here; what still waits counts as unfinished.
    #[must_use]
    pub fn tally(&self) -> FragmentCounts {
        let waiting = self.held.values().filter(|one| one.is_awaited()).count() as u64;
        FragmentCounts {
            n_unfinished: self.tally.n_unfinished + waiting,
            ..self.tally
        }
    }

    /// Whether no fragment came, so that what comes next does not depend on what came.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.n_begun == 0
    }

    /// The frame as it would have been, had nobody cut the packet that it completes.
    pub(crate) fn whole<'a>(&'a self, frame: &Frame<'a>) -> Frame<'a> {
        Frame {
            bytes: &self.whole,
            wire_bytes: self.wire_bytes,
            fcs_bytes: 0,
            ..*frame
        }
    }

    /// Takes a frame with a fragment in it, decoded as far as that goes. What is put together may be a
    /// fragment, or a segment, in its turn, and is then taken likewise; `packet` is what `decode` makes
    /// of the last that was put together.
    #[cold]
    pub(crate) fn take(
        &mut self,
        frame: &Frame<'_>,
        packet: &mut Packet,
        decode: impl Fn(&Frame<'_>, &mut Packet),
    ) -> Reassembly {
        let mut taken = self.take_one(frame, packet);
        let mut n_within = 0;
        while taken == Reassembly::Whole {
            let bytes = std::mem::take(&mut self.whole);
            let whole = Frame {
                bytes: &bytes,
                ..self.whole(frame)
            };
            decode(&whole, packet);
            let is_part = n_within < MOST_WITHIN && packet.is_in_parts();
            if !is_part || self.take_within(&whole, packet, &mut taken) {
                self.whole = bytes;
                break;
            }
            n_within += 1;
        }
        taken
    }

    /// Takes what was put together for a part in its turn; true if it is a packet of its own.
    fn take_within(&mut self, whole: &Frame<'_>, packet: &Packet, taken: &mut Reassembly) -> bool {
        let found = self.take_one(whole, packet);
        if found == Reassembly::Own {
            return true;
        }
        self.tally.n_whole -= 1;
        *taken = found;
        false
    }

    fn take_one(&mut self, frame: &Frame<'_>, packet: &Packet) -> Reassembly {
        let Some(part) = Fragment::of(frame, packet) else {
            return Reassembly::Own;
        };
        self.forget(frame.t_ns);
        if !self.held.contains_key(&part.key) || part.begins_anew(self.held.get(&part.key)) {
            self.begin(frame.t_ns, &part);
        }
        let Some(datagram) = self.held.get_mut(&part.key) else {
            return Reassembly::Own;
        };
        let n_before = datagram.n_bytes();
        let was_contradictory = datagram.state == DatagramState::Contradictory;
        let taken = datagram.take(frame.bytes, &part);
        if taken == Reassembly::Whole {
            self.wire_bytes = datagram.assemble(&mut self.whole);
        }
        self.n_bytes = (self.n_bytes + datagram.n_bytes()).saturating_sub(n_before);
        let is_contradictory = datagram.state == DatagramState::Contradictory;
        self.tally.n_contradictory += u64::from(is_contradictory && !was_contradictory);
        self.tally.n_parts += u64::from(taken == Reassembly::Part);
        self.tally.n_whole += u64::from(taken == Reassembly::Whole);
        taken
    }

    fn begin(&mut self, t_ns: i64, part: &Fragment<'_>) {
        self.n_begun += 1;
        self.order.push_back((t_ns, part.key, self.n_begun));
        if part.is_carriers && self.tunnels.len() < MOST_TUNNELS {
            self.tunnels.insert(part.ends);
        }
        let is_likely = self.tunnels.contains(&part.ends);
        let datagram = Datagram::new(self.n_begun, is_likely);
        if let Some(old) = self.held.insert(part.key, datagram) {
            self.give_up(&old);
        }
    }

    /// Gives up what waited too long, and the oldest where too much waits.
    fn forget(&mut self, now_ns: i64) {
        while let Some((since_ns, key, serial)) = self.order.front().copied()
            && (now_ns.saturating_sub(since_ns) > MOST_AGE_NS
                || self.order.len() >= MOST_DATAGRAMS
                || self.n_bytes > MOST_BYTES)
        {
            self.order.pop_front();
            let is_it = self.held.get(&key).is_some_and(|one| one.serial == serial);
            if let Some(old) = is_it.then(|| self.held.remove(&key)).flatten() {
                self.give_up(&old);
            }
        }
    }

    fn give_up(&mut self, old: &Datagram) {
        self.n_bytes = self.n_bytes.saturating_sub(old.n_bytes());
        self.tally.n_unfinished += u64::from(old.is_awaited());
    }
}

/// What address pairs with packets in fragments are known by: segments of TCP are cut and joined too,
/// so where only datagrams are in fragments they are followed by their own numbers.
pub(crate) fn cut_by(packet: &Packet, pair: u64) -> u64 {
    if packet.protocol == TCP {
        fold(pair, 1)
    } else {
        pair
    }
}
