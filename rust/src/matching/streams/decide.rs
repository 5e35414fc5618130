//! The decision about pieces of one stream that were seen about the same time.

use crate::matching::late::alone::alone_within_ns;
use crate::matching::observation::Observation;
use crate::matching::streams::byte_set::Span;
use crate::matching::streams::pairs::{ByteEnd, Pair, PairRules, PairVerdict, common, find, judge};
use crate::matching::streams::segment::{Joined, StreamSegment};
use crate::matching::streams::{Cut, PairKind, Said};
use crate::plan::{Along, Direction, Plan};

/// Bytes may be later by so many times what whole packets are.
const TIMES_AS_LATE: i64 = 20;

/// Pieces of one stream and direction, in order of time.
pub(crate) struct Batch<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) along: &'a Along,
    pub(crate) direction: Direction,
    pub(crate) within_ns: i64,
    pub(crate) pieces: &'a mut Vec<StreamSegment>,
    /// Pairs are told whose earlier piece is before this, unless they were told before: those of
    /// old pieces are, up to the second.
    pub(crate) told_ns: (i64, i64),
}

impl Batch<'_> {
    /// Finds all pairs, and tells them.
    pub(crate) fn decide(&mut self, to: &mut dyn Said) {
        self.unwrap();
        self.split_jumps();
        for (up, down) in self.along.neighbours.iter().copied() {
            self.join((up, down), Joined::Next, to);
        }
        for (up, down) in self.along.leaps.iter().copied() {
            self.join((up, down), Joined::Leapt, to);
        }
        if let Some(ends) = self.along.whole {
            self.join_whole(ends, to);
        }
    }

    /// Gives the bytes of all pieces numbers that do not wrap, and forgets what was found of them.
    fn unwrap(&mut self) {
        self.pieces.sort_by_cached_key(|piece| {
            let frame = piece.observations.first().map(|first| first.frame);
            (piece.at_ns(), frame)
        });
        let mut near = 0;
        for piece in self.pieces.iter_mut() {
            if let Some(bytes) = piece.unwrapped(near) {
                near = bytes.0;
                piece.bytes = bytes;
            }
            let found = &mut piece.found;
            found.before.clear();
            found.after.clear();
            (found.joined, found.is_doubtful) = (Joined::Not, false);
            found.has_entered = self.along.whole.is_some_and(|(up, _)| {
                piece
                    .observations
                    .first()
                    .is_some_and(|one| one.point == up)
            });
        }
    }

    /// A packet that jumps points which saw its bytes in other packets is not one packet.
    fn split_jumps(&mut self) {
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        let bytes_of = |piece: usize| self.pieces.get(piece).map_or((0, 0), |one| one.bytes);
        order.sort_unstable_by_key(|piece| bytes_of(*piece));
        let mut far = i64::MIN;
        let reach: Vec<i64> = order
            .iter()
            .map(|piece| {
                far = far.max(bytes_of(*piece).1);
                far
            })
            .collect();
        let mut cuts = Vec::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            if piece.is_done {
                continue;
            }
            let jumps = piece.observations.windows(2).enumerate();
            for (at, two) in jumps.filter(|(_, two)| self.is_jump(two)) {
                let n_before = order.partition_point(|other| bytes_of(*other).0 < piece.bytes.1);
                let before = order.iter().zip(&reach).take(n_before).rev();
                let mut near = before
                    .take_while(|(_, reach)| **reach > piece.bytes.0)
                    .take(MOST_LOOKS)
                    .filter_map(|(other, _)| self.pieces.get(*other));
                if near.any(|other| self.is_seen_between(piece, two, other)) {
                    cuts.push((index, at));
                }
            }
        }
        // from the last on, so that what is before a cut keeps its index
        for (index, at) in cuts.into_iter().rev() {
            let rest = self.pieces.get_mut(index).map(|one| one.split_after(at));
            self.pieces.extend(rest.flatten());
        }
    }

    /// Whether two observations of one packet leave out a point between them.
    fn is_jump(&self, two: &[Observation]) -> bool {
        matches!(two, [up, down] if self.along.is_jump(up.point, down.point))
    }

    /// Whether a point that a piece jumped saw bytes of it in another packet, on their way from where the piece
    /// was before to where it was next.
    fn is_seen_between(
        &self,
        piece: &StreamSegment,
        two: &[Observation],
        other: &StreamSegment,
    ) -> bool {
        let [up, down] = two else { return false };
        let is_later = |up: &Observation, down: &Observation| {
            down.aligned_ns.saturating_sub(up.aligned_ns) >= -self.plan.usual_ns
        };
        common(piece.bytes, other.bytes).is_some()
            && piece.bytes != other.bytes
            && other.observations.iter().any(|between| {
                self.along.is_between(between.point, up.point, down.point)
                    && is_later(up, between)
                    && is_later(between, down)
            })
    }

    /// Pairs last observations at one point with first observations at another, for bytes not found yet.
    fn join(&mut self, (up, down): (u16, u16), joined: Joined, to: &mut dyn Said) {
        let may_be = |piece: &StreamSegment| joined == Joined::Next || !piece.found.is_doubtful;
        let ups = self.ends(up, |piece| {
            let last = piece.observations.last().filter(|last| last.point == up)?;
            (may_be(piece) && piece.found.after.n_missing(piece.bytes) > 0).then_some(*last)
        });
        let mut downs = self.ends(up, |piece| {
            let first = piece
                .observations
                .first()
                .filter(|first| first.point == down)?;
            (may_be(piece) && piece.found.before.n_missing(piece.bytes) > 0).then_some(*first)
        });
        if ups.is_empty() || downs.is_empty() {
            return;
        }
        let rules = PairRules {
            least_ns: -self.within_ns.min(self.plan.usual_ns),
            most_ns: self.within_ns,
            band: self.plan.band(self.direction, up, down),
        };
        let (mut pairs, crowded) = find(&ups, &mut downs, rules);
        pairs.retain(|pair| !self.open(pair).is_empty());
        judge(&mut pairs, self.pieces.len(), rules);
        for piece in crowded {
            self.doubt(piece);
        }
        for pair in &pairs {
            match pair.verdict {
                PairVerdict::Right => self.take(pair, joined, to),
                PairVerdict::Wrong => {}
                PairVerdict::Doubtful => [pair.up, pair.down]
                    .into_iter()
                    .for_each(|piece| self.doubt(piece)),
            }
        }
    }

    /// Observations of pieces that may be of a pair with one at a point.
    fn ends(
        &self,
        up: u16,
        observation_of: impl Fn(&StreamSegment) -> Option<Observation>,
    ) -> Vec<ByteEnd> {
        let pieces = self.pieces.iter().enumerate();
        let ends = pieces.filter_map(|(piece, one)| {
            let (observation, first) = (observation_of(one)?, one.observations.first()?);
            Some(ByteEnd {
                piece,
                key: observation.key,
                bytes: one.bytes,
                aligned_ns: observation.aligned_ns,
                ending: one.ending,
                was_cut: !one.found.after.is_empty(),
                alone_within_ns: self.bytes_within_ns((up, first.point)),
            })
        });
        ends.collect()
    }

    /// How much earlier and later than usual bytes at two points surely are of one transmission. Those of a
    /// segment that is cut leave one after another, and where segments are joined, the first wait for the last.
    fn bytes_within_ns(&self, ends: (u16, u16)) -> (i64, i64) {
        alone_within_ns(self.plan, self.direction, ends, TIMES_AS_LATE)
    }

    /// The bytes of a pair that neither side has found elsewhere.
    fn open(&self, pair: &Pair) -> Vec<Span> {
        let (Some(up), Some(down)) = (self.pieces.get(pair.up), self.pieces.get(pair.down)) else {
            return Vec::new();
        };
        let of_up = up.found.after.gaps(pair.bytes);
        of_up
            .flat_map(|span| down.found.before.gaps(span).collect::<Vec<_>>())
            .collect()
    }

    fn doubt(&mut self, piece: usize) {
        if let Some(piece) = self.pieces.get_mut(piece) {
            piece.found.is_doubtful = true;
        }
    }

    /// Notes a pair, and tells it.
    fn take(&mut self, pair: &Pair, joined: Joined, to: &mut dyn Said) {
        let open = self.open(pair);
        let has_entered = self
            .pieces
            .get(pair.up)
            .is_some_and(|up| up.found.has_entered);
        if let Some(up) = self.pieces.get_mut(pair.up) {
            for span in &open {
                up.found.after.add(*span);
            }
            up.found.joined = up.found.joined.max(joined);
        }
        if let Some(down) = self.pieces.get_mut(pair.down) {
            for span in &open {
                down.found.before.add(*span);
            }
            down.found.joined = down.found.joined.max(joined);
            down.found.has_entered |= has_entered;
        }
        let n_bytes = open.iter().map(|(lo, hi)| hi.abs_diff(*lo)).sum();
        if let Some((up, down)) = self.untold(pair)
            && let (Some(from), Some(at)) = (up.observations.last(), down.observations.first())
        {
            let n_copies = n_copies((up, from), (down, at));
            let kind = kind(up, down);
            to.pair(&Cut {
                up: from,
                down: at,
                kind,
                n_bytes,
                n_copies,
            });
        }
    }

    /// The two pieces of a pair, if it is to be told now.
    fn untold(&self, pair: &Pair) -> Option<(&StreamSegment, &StreamSegment)> {
        let (up, down) = (self.pieces.get(pair.up)?, self.pieces.get(pair.down)?);
        let (now_ns, before_ns) = self.told_ns;
        let at_ns = up.at_ns().min(down.at_ns());
        let was_told = up.is_old && down.is_old && at_ns < before_ns;
        (at_ns < now_ns && !was_told).then_some((up, down))
    }

    /// Whether all bytes of a pair were found where they went after the one piece, and before the other.
    fn is_followed(&self, pair: &Pair) -> bool {
        let [up, down] = [pair.up, pair.down].map(|piece| self.pieces.get(piece));
        up.is_some_and(|up| up.found.after.n_missing(pair.bytes) == 0)
            && down.is_some_and(|down| down.found.before.n_missing(pair.bytes) == 0)
    }

    /// Whether a piece, or one that it was joined with, came past points that saw nothing of it.
    fn is_leapt(&self, piece: &StreamSegment) -> bool {
        let mut steps = piece.observations.windows(2);
        piece.found.joined == Joined::Leapt || steps.any(|two| self.is_jump(two))
    }

    /// The whole path, over bytes seen at both of its ends in different packets: of those alone that were
    /// followed over its segments. A packet that took longer than the window is asked about later, whole.
    fn join_whole(&mut self, (up, down): (u16, u16), to: &mut dyn Said) {
        let at = |piece: &StreamSegment, point: u16| {
            let mut observations = piece.observations.iter();
            observations
                .find(|observation| observation.point == point)
                .copied()
        };
        let only = |piece: &StreamSegment, here: u16, there: u16| {
            at(piece, here).filter(|_| at(piece, there).is_none())
        };
        let ups = self.ends(up, |piece| only(piece, up, down));
        let mut downs = self.ends(up, |piece| only(piece, down, up));
        let rules = PairRules {
            least_ns: -self.within_ns.min(self.plan.usual_ns),
            most_ns: self.within_ns,
            band: self.plan.band(self.direction, up, down),
        };
        let (mut pairs, _) = find(&ups, &mut downs, rules);
        judge(&mut pairs, self.pieces.len(), rules);
        let right = pairs
            .iter()
            .filter(|pair| pair.verdict == PairVerdict::Right && self.is_followed(pair));
        for pair in right {
            if let Some((one, other)) = self.untold(pair)
                && let (Some(from), Some(last)) = (at(one, up), at(other, down))
            {
                let n_bytes = pair.bytes.1.abs_diff(pair.bytes.0);
                let n_copies = n_copies((one, &from), (other, &last));
                let is_leapt = self.is_leapt(one) || self.is_leapt(other);
                let cut = Cut {
                    up: &from,
                    down: &last,
                    kind: kind(one, other),
                    n_bytes,
                    n_copies,
                };
                to.whole_path(&cut, is_leapt);
            }
        }
    }
}

/// Copies of the packet that came out, beyond those of the one that went in.
fn n_copies(up: (&StreamSegment, &Observation), down: (&StreamSegment, &Observation)) -> u64 {
    let [before, after] =
        [up, down].map(|(piece, observation)| piece.folded.copies_of(observation).count() as u64);
    after.saturating_sub(before)
}

/// Packets of the same stream that are looked at for one that jumped points.
const MOST_LOOKS: usize = 1024;

fn kind(up: &StreamSegment, down: &StreamSegment) -> PairKind {
    if up.bytes.0 == down.bytes.0 {
        PairKind::FirstByte
    } else if up.bytes.1 == down.bytes.1 {
        PairKind::LastByte
    } else {
        PairKind::Overlap
    }
}
