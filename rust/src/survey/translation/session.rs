//! A session: which flow at one point was which flow at another, for how long, on what evidence.

use super::renumbered::Unsure;
use super::witness::Witness;
use crate::base::hashed::HashedSet;
use crate::identity::{TCP, TranslationKind, halves};
use std::net::IpAddr;

/// Distinct packets that make a mapping.
pub(super) const ENOUGH: usize = 3;
/// So many mappings of a translator, or ways of flows with new identifications between two points: one packet then
/// shows a further one.
pub(super) const MANY: usize = 20;
/// What is evident twice is evident, one packet each way.
const THERE_AND_BACK: usize = 2;
/// Packets of a session that ended may be seen so long after the next one on the same ports began.
pub(super) const OVERLAP_NS: i64 = 2_000_000;
/// Shifted numbers of a flow whose addresses are the same must differ by more than any window: what
/// lies closer may be another segment with the same content.
const FAR_AHEAD: u32 = 1 << 24;

/// Addresses and ports of a packet, as it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Sender, and its port or echo identifier; -1 if it has none.
    pub src: (IpAddr, i32),
    /// Receiver.
    pub dst: (IpAddr, i32),
    /// IP protocol.
    pub protocol: i16,
}

/// One end of a session.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The point.
    pub place: u16,
    /// File and interface of the first packet.
    pub source: (usize, u32),
    /// The flow there.
    pub tuple_hash: u64,
    /// Its identity's flow and address pair.
    pub flow: u64,
    /// See `flow`.
    pub pair: u64,
    /// Of the first packet: its source is the smaller address.
    pub toward: bool,
    /// That packet's addresses.
    pub addresses: Addresses,
    /// Earliest evidence, coarse reference time.
    pub first_ns: i64,
    /// Latest.
    pub last_ns: i64,
    /// The same by the point's own clock.
    pub raw_ns: (i64, i64),
    /// The earliest is a SYN.
    pub opens: bool,
}

impl Side {
    fn of(witness: &Witness) -> Self {
        Self {
            place: witness.place,
            source: witness.source,
            tuple_hash: witness.unaddressed.tuple_hash,
            flow: witness.flow,
            pair: witness.pair,
            toward: witness.unaddressed.toward,
            addresses: witness.addresses,
            first_ns: witness.aligned_ns,
            last_ns: witness.aligned_ns,
            raw_ns: (witness.t_ns, witness.t_ns),
            opens: witness.opens,
        }
    }

    fn extend(&mut self, witness: &Witness) {
        if witness.aligned_ns < self.first_ns {
            self.first_ns = witness.aligned_ns;
            self.opens = witness.opens;
        }
        self.last_ns = self.last_ns.max(witness.aligned_ns);
        self.raw_ns.0 = self.raw_ns.0.min(witness.t_ns);
        self.raw_ns.1 = self.raw_ns.1.max(witness.t_ns);
    }
}

/// Evidence that one flow here is one flow there.
#[derive(Clone, Debug)]
pub struct Session {
    /// Here, and there.
    pub sides: [Side; 2],
    /// Packets that say so.
    pub n: u64,
    /// How far the numbers there are ahead, of packets from the greater address here, and of those
    /// from the smaller.
    pub ahead: [Option<u32>; 2],
    /// Of packets from the greater address here and from the smaller: those that kept an IP
    /// identification, and those that had another there. No identification (0) on both sides is neither.
    n_of_id: [(u64, u64); 2],
    /// Of the packet noted last, here.
    numbers: u64,
    keys: [u64; ENOUGH],
    pub(super) n_keys: usize,
    /// Packets whose numbers are equal too, or shifted as before, so that equal content is no chance.
    n_strong: u64,
    /// Packets from the greater address here, and from the smaller one.
    n_of_way: [u64; 2],
}

impl Session {
    pub(super) fn of(here: &Witness, there: &Witness) -> Self {
        Self {
            sides: [Side::of(here), Side::of(there)],
            n: 0,
            ahead: [None; 2],
            numbers: here.unaddressed.numbers,
            n_of_id: [(0, 0); 2],
            keys: [0; ENOUGH],
            n_keys: 0,
            n_strong: 0,
            n_of_way: [0; 2],
        }
    }

    /// Whether the smaller address here is the greater there.
    #[must_use]
    pub fn is_turned(&self) -> bool {
        self.sides[0].toward != self.sides[1].toward
    }

    /// Whether the IP identification of packets from the greater address here, and from the smaller,
    /// is the same there, as far as any says so. Of equal packets that were lost here and there, one
    /// may be taken for another, so not every packet has to say it.
    #[must_use]
    pub(super) fn keeps_ip_id(&self, unexplained: &HashedSet) -> [bool; 2] {
        let may_be = !unexplained.contains(&self.mixed().key());
        self.n_of_id
            .map(|(n_same, n_other)| n_other == 0 || n_same >= n_other && may_be)
    }

    /// Once for each way that seems to keep identifications of most packets, not of all.
    pub(super) fn unsure(&self) -> impl Iterator<Item = Unsure> {
        let mixed = self.mixed();
        let ways = self.n_of_id.into_iter();
        let ways = ways.filter(|(n_same, n_other)| *n_other > 0 && n_same >= n_other);
        ways.map(move |_| mixed)
    }

    fn mixed(&self) -> Unsure {
        let [here, there] = self.sides.map(|side| side.place);
        Unsure {
            places: (here, there),
            is_mixed: true,
        }
    }

    /// Packets from the greater address on one side, and from the smaller one.
    pub(super) fn n_of_way(&self, side: usize) -> [u64; 2] {
        let [away, toward] = self.n_of_way;
        if side == 1 && self.is_turned() {
            [toward, away]
        } else {
            [away, toward]
        }
    }

    /// Whether equal numbers of 64 bits say that packets are the same ones.
    pub(super) fn is_numbered(&self) -> bool {
        let [here, _] = &self.sides;
        here.addresses.protocol == TCP
    }

    pub(super) fn agrees(&self, here: &Witness, there: &Witness) -> bool {
        let is_turned = here.unaddressed.toward != there.unaddressed.toward;
        let shifts = shifts(here, there);
        is_turned == self.is_turned()
            && self
                .ahead
                .iter()
                .zip(shifts)
                .all(|(known, new)| known.is_none() || new.is_none() || *known == new)
    }

    pub(super) fn add(&mut self, here: &Witness, there: &Witness) {
        self.n += 1;
        self.sides[0].extend(here);
        self.sides[1].extend(there);
        self.n_strong += u64::from(is_strong(here, there) || self.is_shifted_again(here, there));
        for (known, new) in self.ahead.iter_mut().zip(shifts(here, there)) {
            *known = known.or(new);
        }
        let way = usize::from(here.unaddressed.toward);
        if let (Some(n), Some((n_same, n_other))) =
            (self.n_of_way.get_mut(way), self.n_of_id.get_mut(way))
        {
            *n += 1;
            match (here.unaddressed.ip_id, there.unaddressed.ip_id) {
                (0, 0) => {}
                (one, other) if one == other => *n_same += 1,
                _ => *n_other += 1,
            }
        }
        self.note_key(here.unaddressed.digest());
    }

    /// Counts packets that differ, as far as that matters.
    fn note_key(&mut self, key: u64) {
        if self.n_keys < ENOUGH && !self.keys.contains(&key) {
            if let Some(slot) = self.keys.get_mut(self.n_keys) {
                *slot = key;
            }
            self.n_keys += 1;
        }
    }

    /// Other numbers than the packet before had, and as far ahead as all before: both that it sends
    /// and that it acknowledges. `add` was told by `agrees` that they are no other.
    fn is_shifted_again(&mut self, here: &Witness, there: &Witness) -> bool {
        let is_other = std::mem::replace(&mut self.numbers, here.unaddressed.numbers)
            != here.unaddressed.numbers;
        let is_known = |known: &Option<u32>| known.is_some();
        is_other && self.ahead.iter().all(is_known) && shifts(here, there).iter().all(is_known)
    }

    /// Whether equal content is no chance of most packets.
    pub(super) fn is_strong(&self) -> bool {
        self.n_strong.saturating_mul(2) > self.n
    }

    /// Whether the evidence is enough: distinct packets that no chance makes equal, or, where the
    /// numbers do not survive, packets both ways.
    pub(super) fn is_evident(&self) -> bool {
        self.is_enough() && self.is_possible()
    }

    /// The same, whatever it says.
    pub(super) fn is_enough(&self) -> bool {
        let both_ways = self.n_of_way.iter().all(|n| *n > 0);
        let enough = if both_ways { THERE_AND_BACK } else { ENOUGH };
        let enough = if self.is_shifted() { ENOUGH } else { enough };
        (self.is_strong() || both_ways) && self.n_keys >= enough
    }

    /// By these two points a flow passes as it is.
    #[must_use]
    pub(super) fn is_untouched(&self) -> bool {
        self.sides[0].tuple_hash == self.sides[1].tuple_hash && !self.is_shifted()
    }

    pub(super) fn is_shifted(&self) -> bool {
        self.ahead.iter().flatten().any(|ahead| *ahead != 0)
    }

    /// Numbers of a flow that keeps its addresses are shifted.
    pub(super) fn shifts_only(&self) -> bool {
        let far = |ahead: &u32| ahead.wrapping_add(FAR_AHEAD) > 2 * FAR_AHEAD;
        self.sides[0].tuple_hash == self.sides[1].tuple_hash && self.ahead.iter().flatten().any(far)
    }

    /// The same by so little that it may be another segment with the same content, unless a device is known that
    /// shifts numbers, and most packets of the flow say so.
    pub(super) fn shifts_little(&self) -> bool {
        self.sides[0].tuple_hash == self.sides[1].tuple_hash
            && self.is_shifted()
            && !self.shifts_only()
    }

    fn is_possible(&self) -> bool {
        self.sides[0].tuple_hash != self.sides[1].tuple_hash
            || self.shifts_only()
            || self.is_untouched()
    }

    /// The same flows on both sides.
    pub(super) fn has_legs_of(&self, other: &Self) -> bool {
        let legs = |one: &Self| one.sides.map(|side| side.tuple_hash);
        legs(self) == legs(other)
    }

    /// The same flows, with the same shift: evidence that was taken for that of two sessions.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let agree = self.ahead.iter().zip(other.ahead);
        self.has_legs_of(other)
            && self.is_turned() == other.is_turned()
            && agree
                .into_iter()
                .all(|(one, two)| one.is_none() || two.is_none() || *one == two)
    }

    /// Whether they overlap, or nearly.
    pub(super) fn is_beside(&self, other: &Self, side: usize) -> bool {
        self.common_ns(other, side) >= -OVERLAP_NS
    }

    pub(super) fn overlaps(&self, other: &Self, side: usize) -> bool {
        self.common_ns(other, side) > OVERLAP_NS
    }

    /// How long both were seen at one side; less than 0: so long after one of them the other was.
    fn common_ns(&self, other: &Self, side: usize) -> i64 {
        let (Some(one), Some(two)) = (self.sides.get(side), other.sides.get(side)) else {
            return i64::MIN;
        };
        let until_ns = one.last_ns.min(two.last_ns);
        until_ns.saturating_sub(one.first_ns.max(two.first_ns))
    }
}

/// Equal numbers are no chance: sequence numbers, or an IP identification that is not 0.
pub(super) fn is_strong(here: &Witness, there: &Witness) -> bool {
    let (here, there) = (&here.unaddressed, &there.unaddressed);
    let same_id = here.ip_id == there.ip_id && here.ip_id != 0;
    let same_numbers = here.numbers == there.numbers && here.kind == TranslationKind::Tcp;
    same_id || same_numbers
}

/// How far the numbers there are ahead, of packets from the greater address here and from the
/// smaller: of TCP its sequence tells one, its acknowledgment the other.
fn shifts(here: &Witness, there: &Witness) -> [Option<u32>; 2] {
    if here.unaddressed.kind != TranslationKind::Tcp {
        return [None; 2];
    }
    let (sequence, acknowledged) = halves(here.unaddressed.numbers);
    let (sequence_there, acknowledged_there) = halves(there.unaddressed.numbers);
    let sent = Some(sequence_there.wrapping_sub(sequence));
    let is_heard = acknowledged != 0 && acknowledged_there != 0;
    let heard = is_heard.then(|| acknowledged_there.wrapping_sub(acknowledged));
    if here.unaddressed.toward {
        [heard, sent]
    } else {
        [sent, heard]
    }
}
