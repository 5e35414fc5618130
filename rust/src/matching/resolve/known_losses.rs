//! Equal packets of which it is known how many were lost, and not which: as many as end in doubt,
//! less those that begin farther on, with or without doubt.
//!
//! Whichever of them went on, each that did begins again somewhere. So a packet that was too slow
//! to be known again is no loss; nor is one that was lost while an earlier point missed another.
//!
//! What may be a copy begins a packet or none, and ends one or none: what it continues, or ends, may be lost.

use crate::matching::evidence::Evidence;
use crate::matching::observation::Observation;
use crate::matching::resolve::piece::Piece;
use crate::matching::resolve::posterior::NO_DOUBT;
use crate::plan::{Direction, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// A piece whose end stands for a loss, or for one that may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostUntold {
    pub(crate) piece: usize,
    /// The packet, whichever it is, had entered the whole path.
    pub(crate) has_entered: bool,
    pub(crate) is_certain: bool,
}

/// Ends in doubt that nothing can have continued. All pieces of one identity within a window.
pub(crate) fn lost_untold(plan: &Plan, direction: Direction, pieces: &[Piece]) -> Vec<LostUntold> {
    if !pieces.iter().any(|piece| piece.has_doubtful_end) {
        return Vec::new();
    }
    let counted = count_along(plan, direction, pieces);
    let lost = |is_certain: bool| {
        move |(_, piece, has_entered): PieceEnd| LostUntold {
            piece,
            has_entered,
            is_certain,
        }
    };
    let maybe = counted.hidden.into_iter().chain(counted.of_copies.left());
    let certain = counted.ends.left().map(lost(true));
    certain.chain(maybe.map(lost(false))).collect()
}

/// Marks ends that seem lost, and are in doubt too: a beginning of which it is open what it continues, and
/// that no end in doubt accounts for, continues one of them. Not where captures miss packets: there it may
/// be one of these.
pub(crate) fn doubt_ends(plan: &Plan, direction: Direction, pieces: &mut [Piece]) {
    if !pieces.iter().any(|piece| piece.has_doubtful_start) {
        return;
    }
    for piece in pieces.iter_mut().filter(|one| one.has_doubtful_start) {
        if let Some(first) = piece.observations.first_mut() {
            first.evidence.add(Evidence::BEGINS_IN_DOUBT);
        }
    }
    let mut certain = OpenEnds::new(plan);
    for (index, piece) in pieces.iter().enumerate() {
        let is_certain = !piece.is_open() && !piece.may_be_copy();
        if let Some(last) = piece.observations.last().filter(|_| is_certain) {
            let place = plan.place(direction, last.point);
            certain.add(place, (last.aligned_ns, index, true));
        }
    }
    for (at, head) in count_along(plan, direction, pieces).beginnings {
        let is_captured = plan.phantom_frac(direction, head.point) <= NO_DOUBT;
        let end = is_captured.then(|| certain.take(at, head.aligned_ns));
        if let Some((_, index, _)) = end.flatten()
            && let Some(piece) = pieces.get_mut(index)
        {
            piece.has_doubtful_end = true;
        }
    }
}

/// Ends in doubt that nothing continued, and beginnings in doubt that continue none of them, with their
/// places.
struct PieceBalance {
    ends: OpenEnds,
    /// Those of what may be copies.
    of_copies: OpenEnds,
    /// Those that only what may be a copy continues.
    hidden: Vec<PieceEnd>,
    beginnings: Vec<(i64, Observation)>,
}

impl PieceBalance {
    fn new(plan: &Plan) -> Self {
        Self {
            ends: OpenEnds::new(plan),
            of_copies: OpenEnds::new(plan),
            hidden: Vec::new(),
            beginnings: Vec::new(),
        }
    }

    /// Finds what the beginning of a piece continues.
    fn begin(&mut self, piece: &Piece, (at, head): (i64, &Observation)) -> Option<PieceEnd> {
        let end = self.ends.take(at, head.aligned_ns);
        if piece.may_begin_as_copy() {
            self.hidden.extend(end);
        }
        if end.is_none() {
            self.of_copies.take(at, head.aligned_ns);
            let in_doubt = piece.has_doubtful_start.then_some((at, *head));
            self.beginnings.extend(in_doubt);
        }
        end
    }
}

/// Goes along the way: each beginning continues an end in doubt before it, if one is left.
fn count_along(plan: &Plan, direction: Direction, pieces: &[Piece]) -> PieceBalance {
    let place = |at: u16| plan.place(direction, at);
    let first_of = |piece: &Piece| piece.observations.first().map(|one| place(one.point));
    let mut along: Vec<(usize, &Piece)> = pieces.iter().enumerate().collect();
    // what a piece may continue ended at an earlier place, so it is known already; copies come last
    along.sort_by_key(|(_, piece)| (first_of(piece), piece.may_begin_as_copy()));
    let first = along.first().and_then(|(_, piece)| first_of(piece));
    let entry = plan.entry(direction);
    let mut counted = PieceBalance::new(plan);
    for (index, piece) in along {
        let [head, ..] = piece.observations.as_slice() else {
            continue;
        };
        let at = place(head.point);
        let mut has_entered = Some(head.point) == entry;
        if Some(at) > first {
            let end = counted.begin(piece, (at, head));
            has_entered = end.is_some_and(|(_, _, has_entered)| has_entered);
        }
        if let Some(last) = piece.observations.last()
            && piece.is_open()
        {
            let ends = if piece.may_be_copy() {
                &mut counted.of_copies
            } else {
                &mut counted.ends
            };
            ends.add(place(last.point), (last.aligned_ns, index, has_entered));
        }
    }
    counted
}

/// When an end is, of which piece, and whether that had entered.
type PieceEnd = (i64, usize, bool);

/// Ends that nothing continued so far.
struct OpenEnds {
    /// How far apart two observations of one packet are, usually and at most.
    within_ns: [i64; 2],
    at: BTreeMap<i64, BTreeSet<PieceEnd>>,
}

impl OpenEnds {
    fn new(plan: &Plan) -> Self {
        Self {
            within_ns: [plan.usual_ns.min(plan.wide_ns), plan.wide_ns],
            at: BTreeMap::new(),
        }
    }

    fn add(&mut self, place: i64, end: PieceEnd) {
        self.at.entry(place).or_default().insert(end);
    }

    /// Takes an end that what begins here and now may continue: one that is usually near before others, of
    /// those one at the nearest place, the latest before it, or the next one.
    fn take(&mut self, place: i64, at_ns: i64) -> Option<PieceEnd> {
        let [usual_ns, wide_ns] = self.within_ns;
        let near = self.take_within(place, at_ns, usual_ns);
        near.or_else(|| self.take_within(place, at_ns, wide_ns))
    }

    fn take_within(&mut self, place: i64, at_ns: i64, within_ns: i64) -> Option<PieceEnd> {
        let near = |end: &&PieceEnd| end.0.abs_diff(at_ns) <= within_ns.unsigned_abs();
        for ends in self.at.range_mut(..place).rev().map(|(_, ends)| ends) {
            let now = (at_ns, usize::MAX, true);
            let before = ends.range(..=now).next_back().filter(near);
            let found = before.or_else(|| ends.range(now..).next().filter(near));
            if let Some(end) = found.copied() {
                ends.remove(&end);
                return Some(end);
            }
        }
        None
    }

    fn left(self) -> impl Iterator<Item = PieceEnd> {
        self.at.into_values().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};

    const FAR_NS: i64 = 1_000_000;

    /// Seen at these points, and whether it begins and ends in doubt.
    type Seen<'a> = (&'a [(u16, i64)], bool, bool);

    /// A path whose points copy nothing.
    fn plain(n: u16) -> Plan {
        Plan {
            copies: Vec::new(),
            ..path(n)
        }
    }

    fn made(pieces: &[Seen<'_>]) -> Vec<Piece> {
        let piece = |(seen, has_doubtful_start, has_doubtful_end): &Seen<'_>| {
            let observations = seen
                .iter()
                .map(|(point, at_ns)| observation(1, *point, *at_ns));
            Piece {
                has_doubtful_start: *has_doubtful_start,
                has_doubtful_end: *has_doubtful_end,
                ..Piece::new(observations.collect())
            }
        };
        pieces.iter().map(piece).collect()
    }

    fn lost(plan: &Plan, pieces: &[Seen<'_>]) -> Vec<(usize, bool)> {
        let found = lost_untold(plan, Direction::Forward, &made(pieces)).into_iter();
        found.map(|one| (one.piece, one.has_entered)).collect()
    }

    #[test]
    fn of_three_ends_and_two_beginnings_one_is_lost() {
        let pieces: [Seen<'_>; 5] = [
            (&[(0, 0)], true, true),
            (&[(0, 10)], true, true),
            (&[(0, 20)], true, true),
            (&[(1, 5), (2, 5)], true, false),
            (&[(1, 15), (2, 15)], true, false),
        ];
        assert_eq!(lost(&plain(3), &pieces), [(2, true)]);
    }

    #[test]
    fn what_is_slow_again_and_again_is_not_lost() {
        let pieces: [Seen<'_>; 4] = [
            (&[(0, 0)], true, true),
            (&[(1, 40), (2, 50)], false, true),
            (&[(3, 90)], true, true),
            (&[(4, 130)], true, false),
        ];
        // where it arrived nothing leads on
        assert_eq!(lost(&plain(5), &pieces), [(3, true)]);
    }

    #[test]
    fn what_begins_long_after_continues_nothing() {
        let pieces: [Seen<'_>; 2] = [(&[(0, 0)], true, true), (&[(1, FAR_NS)], true, false)];
        assert_eq!(lost(&plain(3), &pieces), [(0, true), (1, false)]);
    }

    #[test]
    fn without_doubt_nothing_is_told_twice() {
        let pieces: [Seen<'_>; 2] = [(&[(0, 0)], false, false), (&[(1, 5)], false, false)];
        assert_eq!(lost(&plain(3), &pieces), []);
    }

    /// Which pieces end in doubt once beginnings were counted.
    fn doubted(plan: &Plan, pieces: &[Seen<'_>]) -> Vec<usize> {
        let mut pieces = made(pieces);
        doubt_ends(plan, Direction::Forward, &mut pieces);
        let ends = pieces.iter().enumerate();
        ends.filter(|(_, piece)| piece.has_doubtful_end)
            .map(|(index, _)| index)
            .collect()
    }

    #[test]
    fn a_beginning_in_doubt_that_is_one_too_many_continues_what_seemed_lost() {
        // the first of two equal packets was slow: either beginning may continue the second
        let pieces: [Seen<'_>; 4] = [
            (&[(0, 0)], false, false),
            (&[(0, 60)], false, true),
            (&[(1, 90), (2, 95)], true, false),
            (&[(1, 110), (2, 115)], true, false),
        ];
        assert_eq!(doubted(&plain(3), &pieces), [0, 1]);
        let one_beginning = pieces.get(..3).unwrap();
        assert_eq!(doubted(&plain(3), one_beginning), [1]);
    }

    #[test]
    fn where_captures_miss_packets_a_beginning_may_be_one_of_these() {
        let mut plan = plain(3);
        for band in plan.bands.iter_mut().flatten() {
            band.phantom_frac = 0.1;
        }
        let pieces: [Seen<'_>; 2] = [
            (&[(0, 0)], false, false),
            (&[(1, 90), (2, 95)], true, false),
        ];
        assert!(doubted(&plan, &pieces).is_empty());
    }

    /// At a point and a time, in doubt; whether it may be a copy.
    fn told(pieces: &[(u16, i64, bool)]) -> Vec<(usize, bool)> {
        let in_doubt = |(point, at_ns, may_be_copy): &(u16, i64, bool)| Piece {
            has_doubtful_start: true,
            has_doubtful_end: true,
            copied: f64::from(*may_be_copy),
            ..Piece::new(vec![observation(1, *point, *at_ns)])
        };
        let pieces: Vec<Piece> = pieces.iter().map(in_doubt).collect();
        let found = lost_untold(&path(3), Direction::Forward, &pieces);
        let mut told: Vec<_> = found
            .iter()
            .map(|one| (one.piece, one.is_certain))
            .collect();
        told.sort_unstable();
        told
    }

    #[test]
    fn what_may_be_a_copy_may_be_lost_and_its_original_is() {
        assert_eq!(
            told(&[(0, 0, false), (0, 10, true)]),
            [(0, true), (1, false)]
        );
    }

    #[test]
    fn what_only_a_copy_continues_may_be_lost_wherever_the_copy_is() {
        let copy_beyond = [
            (0, 0, false),
            (0, 10, false),
            (1, 5, false),
            (2, 6, false),
            (2, 16, true),
        ];
        assert_eq!(told(&copy_beyond), [(1, false), (3, true), (4, false)]);
        // what is no copy continues first, whenever it was
        let packet_after = [(0, 0, false), (1, 5, true), (1, 6, false)];
        assert_eq!(told(&packet_after), [(1, false), (2, true)]);
    }

    #[test]
    fn a_nearer_point_is_not_looked_at_before_an_end_that_is_near() {
        let mut plan = plain(3);
        (plan.usual_ns, plan.wide_ns) = (20, 61);
        // the second point missed the first of two packets
        let pieces: [Seen<'_>; 5] = [
            (&[(0, 0)], true, true),
            (&[(0, 60)], true, true),
            (&[(1, 61)], true, true),
            (&[(2, 1)], true, false),
            (&[(2, 62)], true, false),
        ];
        assert_eq!(lost(&plan, &pieces), [(3, true), (4, true)]);
    }
}
