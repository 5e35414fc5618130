//! Streams that are cut and joined on the way: packets of different boundaries are paired where they
//! carry the same bytes about the same time. Streaming, after whole-packet matching: it takes what
//! that did not find everywhere along the path.
//!
//! It knows streams, starts and lengths; what those are of a protocol is said by [`crate::identity::stream_bytes`].

pub(crate) mod byte_set;
pub(crate) mod datagram_names;
pub(crate) mod decide;
pub(crate) mod fragment_bytes;
pub(crate) mod pairs;
pub(crate) mod segment;
pub(crate) mod stream;

use crate::base::hash::fold;
use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use crate::matching::outcome::Status;
use crate::matching::resolve::copies::Folded;
pub(crate) use crate::matching::streams::datagram_names::Alias;
use crate::matching::streams::datagram_names::{Called, Names};
pub(crate) use crate::matching::streams::segment::{Ending, Lost};
use crate::matching::streams::stream::Stream;
use crate::plan::{Direction, Plan, Topology};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes are looked for no farther than this from their usual time, half of the least time after
/// which senders resend what was lost (200 ms in practice, RFC 6298 §2.4 says 1 s).
const MOST_WITHIN_NS: i64 = 100_000_000;

/// What two packets that carry the same bytes have in common; the numbers are those of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum PairKind {
    /// All of their bytes: they are one packet.
    Packet = 0,
    /// The first byte.
    FirstByte = 1,
    /// The last, and not the first.
    LastByte = 2,
    /// Some bytes.
    Overlap = 3,
}

/// Names of these, by number.
pub const PAIR_KINDS: [&str; 4] = ["packet", "first-byte", "last-byte", "overlap"];

/// Two packets that carry the same bytes, cut or joined between their points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut<'a> {
    pub(crate) up: &'a Observation,
    pub(crate) down: &'a Observation,
    pub(crate) kind: PairKind,
    pub(crate) n_bytes: u64,
    /// Of the downstream packet, beyond those of the upstream one.
    pub(crate) n_copies: u64,
}

/// Takes what is decided.
pub(crate) trait Said {
    /// Of points where those bytes were seen one after the other.
    fn pair(&mut self, cut: &Cut<'_>);
    /// Of the ends of the whole path, and whether points between saw none of their bytes.
    fn whole_path(&mut self, cut: &Cut<'_>, is_leapt: bool);
    /// What became of a packet.
    fn packet(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        fate: Fate,
    );
}

/// What became of a packet, besides its pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    pub(crate) status: Status,
    /// `None`: that cannot be told.
    pub(crate) lost: Option<Lost>,
    /// Bytes that may be lost, of which that cannot be told.
    pub(crate) untold_bytes: u64,
    /// It, or some of its bytes, entered the whole path at its beginning.
    pub(crate) has_entered: bool,
}

/// The streams of one partition that are not decided yet.
pub(crate) struct Ranges {
    plan: Arc<Plan>,
    topology: Topology,
    within_ns: i64,
    streams: HashedMap<Stream>,
    names: Names,
    /// Streams by slice of time in which they may be decided.
    due: BTreeMap<i64, Vec<u64>>,
    now_ns: i64,
}

impl Ranges {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        let within_ns = plan.wide_ns.clamp(1, MOST_WITHIN_NS);
        Self {
            topology: Topology::new(plan),
            within_ns,
            plan: Arc::clone(plan),
            streams: HashedMap::default(),
            names: Names::new(within_ns.saturating_mul(2)),
            due: BTreeMap::new(),
            now_ns: i64::MIN,
        }
    }

    /// How long after it was due to be decided the last word about a packet may be said.
    pub(crate) fn lag_ns(&self) -> i64 {
        self.within_ns.saturating_mul(stream::MOST_LAG)
    }

    /// Whether bytes of a packet may be found in other packets.
    pub(crate) fn wants(&self, observations: &[Observation], direction: Direction) -> bool {
        let along = self.topology.along(direction);
        observations.iter().any(|one| one.range.length().is_some())
            && !along.is_complete(observations.iter().map(|one| one.point))
    }

    /// Takes names of datagrams, before what has them is held.
    pub(crate) fn know(&mut self, aliases: Vec<Alias>) {
        for alias in aliases {
            self.names.add(alias);
        }
    }

    /// Takes a packet of a stream.
    pub(crate) fn hold(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        ending: Ending,
    ) {
        let Some(first) = observations.first() else {
            return;
        };
        let mut piece = segment::StreamSegment::new(observations, folded, ending);
        let of = match self.names.called(observations, direction) {
            Called::Nothing => first.flow,
            Called::Name(name) => fold(first.pair, name.into()),
            // a stream of its own: nothing can be said to belong to it
            Called::Contested => {
                piece.doubt();
                fold(first.pair, first.frame.packed().cast_unsigned())
            }
        };
        let key = one_way(of, first, direction);
        let stream = self.streams.entry(key).or_insert_with(|| {
            let due_ns = piece.at_ns().max(self.now_ns);
            let slice = self.due.entry(due_ns / self.within_ns).or_default();
            slice.push(key);
            Stream::new(direction)
        });
        stream.hold(piece);
    }

    #[cfg(test)]
    fn n_held(&self) -> usize {
        self.streams.values().map(Stream::n_held).sum()
    }

    /// Decides all to which nothing newer than `until_ns` can belong.
    pub(crate) fn settle(&mut self, until_ns: i64, to: &mut dyn Said) {
        self.now_ns = self.now_ns.max(until_ns);
        self.names.forget(until_ns.saturating_sub(self.within_ns));
        while let Some(slice) = self.due.first_entry()
            && (until_ns == i64::MAX
                || *slice.key() < (until_ns / self.within_ns).saturating_sub(1))
        {
            for key in slice.remove() {
                let Some(stream) = self.streams.get_mut(&key) else {
                    continue;
                };
                let along = self.topology.along(stream.direction);
                stream.decide(&self.plan, along, self.within_ns, until_ns, to);
                if stream.is_empty() {
                    self.streams.remove(&key);
                } else {
                    let slice = self.due.entry(until_ns / self.within_ns).or_default();
                    slice.push(key);
                }
            }
        }
    }
}

/// A flow or datagram, one way. Ways differ for a flow of which it is not known yet which way it goes.
fn one_way(of: u64, observation: &Observation, direction: Direction) -> u64 {
    const TOWARD_MASK: u64 = 0x9e37_79b9_7f4a_7c15;
    const REVERSE_MASK: u64 = 0xc2b2_ae3d_27d4_eb4f;
    let way = if observation.toward { TOWARD_MASK } else { 0 };
    let side = if direction.is_reverse() {
        REVERSE_MASK
    } else {
        0
    };
    of ^ way ^ side
}

#[cfg(test)]
mod tests;
