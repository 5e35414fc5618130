//! A trajectory that ends early or begins late, as it is kept until the end of the run.

use crate::base::hash::fold;
use crate::identity::message::Message;
use crate::identity::stream_bytes::StreamBytes;
use crate::matching::evidence::Evidence;
use crate::matching::loss::lost_packets::ToldBy;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::resolve::copies::Folded;
use crate::matching::streams::Lost;
use crate::plan::{Direction, Plan};

/// Numbers that a leftover is written as.
pub(crate) const N_VALUES: usize = 19;

/// A leftover as it is written: its packet ID first, then when it was seen.
pub(crate) type Record = [i64; N_VALUES];

const NO_POINT: u16 = u16::MAX;

/// Copies of one observation that are counted.
const MOST_COPIES: u8 = 15;

/// A trajectory of which another part may be found, or lost.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each may be so without the others"
)]
pub(crate) struct Leftover {
    /// Its first observation and its last: the same if there is one.
    pub(crate) first: Observation,
    pub(crate) last: Observation,
    /// The point before the last one.
    pub(crate) from: Option<u16>,
    pub(crate) direction: Direction,
    /// What was not seen after its last observation, if anything of it may be lost.
    pub(crate) lost: Option<Lost>,
    /// Nothing leads on from its only observation, but if it went in the opposite direction.
    pub(crate) is_lost_if_turned: bool,
    /// It, or bytes of it, entered the whole path in another packet.
    pub(crate) entered_in_another: bool,
    /// Of a packet with several receivers: the point that it did not come to.
    pub(crate) branch: Option<u16>,
    /// Copies of its first observation, and of its last.
    pub(crate) n_copies: [u8; 2],
    /// It is one packet, recognised by all that captures have of it.
    pub(crate) is_joinable: bool,
    /// Of a packet with several receivers: its first frame is also in another part, counted there, and may be
    /// the name of that.
    pub(crate) is_shared: bool,
    /// How its loss is told.
    pub(crate) told_by: ToldBy,
}

impl Leftover {
    /// What is kept of a trajectory, from the sender's side on.
    pub(crate) fn of(
        observations: &[Observation],
        direction: Direction,
        lost: Option<Lost>,
        entered_in_another: bool,
    ) -> Option<Self> {
        let before = observations
            .len()
            .checked_sub(2)
            .and_then(|at| observations.get(at));
        // of a datagram without a name nobody knows what it is elsewhere
        let may_be_lost = |last: &Observation| {
            last.directed && !observations.iter().all(|one| one.range.is_nameless())
        };
        let end = observations.last()?;
        Some(Self {
            first: *observations.first()?,
            last: *end,
            from: before.map(|observation| observation.point),
            direction,
            lost: lost.filter(|_| may_be_lost(end)),
            is_lost_if_turned: false,
            entered_in_another,
            branch: None,
            n_copies: [0; 2],
            is_joinable: false,
            is_shared: false,
            told_by: ToldBy::Packet,
        })
    }

    /// The same with what was folded into its ends.
    pub(crate) fn with_copies(mut self, folded: &Folded) -> Self {
        if !folded.is_empty() {
            self.n_copies = [self.first, self.last].map(|end| {
                let n = folded.copies_of(&end).count();
                u8::try_from(n).unwrap_or(MOST_COPIES).min(MOST_COPIES)
            });
        }
        self
    }

    pub(crate) fn has_copies(&self) -> bool {
        self.n_copies != [0; 2]
    }

    /// Whether it may be one slow packet with another part, or two.
    pub(crate) fn is_slow_or_two(&self) -> bool {
        self.first.evidence.is(Evidence::SLOW_OR_TWO)
    }

    /// Whether what it continues may have ended before the window.
    pub(crate) fn may_begin(&self) -> bool {
        self.is_joinable || self.first.evidence.is(Evidence::CONTINUES_NONE)
    }

    /// Whether it is told for nothing but that one more packet began.
    pub(crate) fn is_untold(&self) -> bool {
        !self.is_joinable && self.lost.is_none()
    }

    /// Whether nothing was counted of the status of its only frame.
    pub(crate) fn is_uncounted(&self) -> bool {
        self.is_joinable && self.is_single() && !self.is_shared
    }

    pub(crate) fn is_single(&self) -> bool {
        self.from.is_none()
    }

    /// Whether its only observation says nothing of its direction, nor do others of its addresses.
    pub(crate) fn is_guessed(&self, plan: &Plan) -> bool {
        let one = &self.first;
        self.is_single() && plan.direction_of(one.pair, one.toward).is_none()
    }

    /// The same in the opposite direction.
    pub(crate) fn turned(&self, plan: &Plan) -> Self {
        let direction = self.direction.turned();
        let turned = |one: &Observation| Observation {
            aligned_ns: plan.aligned_ns(direction, one.point, one.t_ns),
            ..*one
        };
        Self {
            first: turned(&self.first),
            last: turned(&self.last),
            direction,
            lost: self
                .lost
                .or(self.is_lost_if_turned.then(|| Lost::whole(&self.last))),
            ..*self
        }
    }

    /// Its flow, one way.
    pub(crate) fn flow_way(&self) -> u64 {
        flow_way(&self.first, self.direction)
    }

    /// As it is written.
    pub(crate) fn record(&self) -> Record {
        let points = [
            self.from.unwrap_or(NO_POINT),
            self.first.point,
            self.last.point,
        ];
        let packed = |places: i64, point: &u16| places << 16 | i64::from(*point);
        let [n_first, n_last] = self.n_copies.map(i64::from);
        let places = points.iter().rev().fold(n_last << 4 | n_first, packed);
        let n_bytes = self.lost.map_or(0, |lost| lost.bytes);
        let told = i64::try_from(n_bytes).unwrap_or(0) << 16 | self.flags();
        [
            self.first.key.cast_signed(),
            self.first.aligned_ns,
            self.first.flow.cast_signed(),
            self.first.pair.cast_signed(),
            places,
            told,
            self.first.t_ns,
            self.first.frame.packed(),
            self.first.evidence.packed(),
            self.first.range.packed(),
            self.first.packet_id.cast_signed(),
            self.last.aligned_ns,
            self.last.t_ns,
            self.last.frame.packed(),
            self.last.evidence.packed(),
            self.last.range.packed(),
            self.last.packet_id.cast_signed(),
            i64::from(self.first.copy_tag),
            i64::from(self.direction.route()) << 16 | i64::from(self.branch.unwrap_or(NO_POINT)),
        ]
    }

    fn flags(&self) -> i64 {
        let lost = self.lost.unwrap_or_default();
        let flags = [
            self.first.toward,
            self.first.directed,
            self.direction.is_reverse(),
            self.entered_in_another,
            self.is_joinable,
            self.is_shared,
            self.lost.is_some(),
            lost.packets > 0,
            lost.ends[0] > 0,
            lost.ends[1] > 0,
            self.told_by == ToldBy::EqualPackets,
            self.is_lost_if_turned,
        ];
        let packed = |flags: i64, flag: &bool| flags << 1 | i64::from(*flag);
        flags.iter().rev().fold(0, packed)
    }

    /// See [`Self::record`].
    pub(crate) fn from_record(record: &Record) -> Self {
        let [
            key,
            aligned_ns,
            flow,
            pair,
            places,
            told,
            ends @ ..,
            copy_tag,
            way,
        ] = record;
        let [t_ns, frame, evidence, range, packet_id, end @ ..] = ends;
        let first = [aligned_ns, t_ns, frame, evidence, range, packet_id];
        let is_set = |bit: u32| told >> bit & 1 == 1;
        let point = |at: u32| u16::try_from(places >> (16 * at) & 0xffff).unwrap_or(NO_POINT);
        let observation = |point: u16, values: [&i64; 6]| Observation {
            key: key.cast_unsigned(),
            flow: flow.cast_unsigned(),
            pair: pair.cast_unsigned(),
            copy_tag: u32::try_from(*copy_tag).unwrap_or(0),
            toward: is_set(0),
            directed: is_set(1),
            ..end_of(point, values)
        };
        Self {
            first: observation(point(1), first),
            last: observation(point(2), end.each_ref()),
            from: known(point(0)),
            direction: Direction::on(u16::try_from(way >> 16).unwrap_or(0), !is_set(2)),
            branch: u16::try_from(way & 0xffff).ok().and_then(known),
            n_copies: [0, 1].map(|end| n_copies(*places, end)),
            lost: is_set(6).then(|| lost_of(*told)),
            is_lost_if_turned: is_set(11),
            entered_in_another: is_set(3),
            is_joinable: is_set(4),
            is_shared: is_set(5),
            told_by: ToldBy::of(i64::from(is_set(10))),
        }
    }
}

/// Copies of the first end, or of the last.
fn n_copies(places: i64, end: u32) -> u8 {
    u8::try_from(places >> (48 + 4 * end) & 0xf).unwrap_or(0)
}

/// What is written of one end alone.
fn end_of(point: u16, values: [&i64; 6]) -> Observation {
    let [aligned_ns, t_ns, frame, evidence, range, packet_id] = values;
    Observation {
        key: 0,
        flow: 0,
        pair: 0,
        aligned_ns: *aligned_ns,
        t_ns: *t_ns,
        frame: FrameId::from_packed(*frame),
        copy_tag: 0,
        packet_id: packet_id.cast_unsigned(),
        point,
        toward: false,
        directed: false,
        range: StreamBytes::from_packed(*range),
        evidence: Evidence::from_packed(*evidence),
        message: Message::NONE,
    }
}

/// A point, unless it stands for none.
fn known(point: u16) -> Option<u16> {
    Some(point).filter(|point| *point != NO_POINT)
}

/// What was lost with an unfinished packet, by its record.
fn lost_of(told: i64) -> Lost {
    let is_set = |bit: u32| u64::from(told >> bit & 1 == 1);
    Lost {
        packets: is_set(7),
        ends: [is_set(8), is_set(9)],
        bytes: u64::try_from(told >> 16).unwrap_or(0),
    }
}

/// The flow of a packet, one way.
pub(crate) fn flow_way(observation: &Observation, direction: Direction) -> u64 {
    let way = u64::from(observation.toward) << 1 | u64::from(direction.is_reverse());
    fold(observation.flow, way)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;

    #[test]
    fn a_leftover_is_read_as_it_was_written() {
        let seen = |point: u16| Observation {
            key: u64::MAX - 5,
            flow: 1 << 63,
            pair: 77,
            t_ns: -5,
            toward: point == 2,
            packet_id: u64::MAX - u64::from(point),
            range: StreamBytes::new(u32::MAX, 1400),
            evidence: Evidence::with(Evidence::SHORT),
            ..observation(1, point, i64::MIN + 3)
        };
        let lost = Lost {
            packets: 0,
            ends: [0, 1],
            bytes: 1400,
        };
        let points: [&[u16]; 3] = [&[2], &[0, 65_534], &[3, 2, 1]];
        for (points, lost) in points.into_iter().zip([None, Some(lost), Some(lost)]) {
            let observations: Vec<Observation> = points.iter().map(|point| seen(*point)).collect();
            for direction in [Direction::Forward, Direction::Reverse] {
                let mut left = Leftover::of(&observations, direction, lost, true).unwrap();
                (left.is_joinable, left.is_shared) = (lost.is_none(), lost.is_some());
                left.told_by = ToldBy::of(i64::from(lost.is_some()));
                let read = Leftover::from_record(&left.record());
                // the two ends of a trajectory are of one flow and way
                let toward = left.first.toward;
                left.last.toward = toward;
                assert_eq!(format!("{read:?}"), format!("{left:?}"));
                assert_eq!(read.record(), left.record());
            }
        }
    }
}
