//! Equal packets of which it is known how many were lost, and not which: as many as end in doubt,
//! less those that begin farther on, with or without doubt.
//!
//! Whichever of them went on, each that did begins again somewhere. So a packet that was too slow
//! to be known again is no loss; nor is one that was lost while an earlier point missed another.
//!
//! What may be a copy begins a packet or none, and ends one or none: what it continues, or ends, may be lost.

pub(crate) mod continuation;

use crate::matching::evidence::Evidence;
use crate::matching::observation::Observation;
use crate::matching::resolve::known_losses::continuation::{Continuations, Tip};
use crate::matching::resolve::piece::Piece;
use crate::matching::resolve::posterior::NO_DOUBT;
use crate::plan::{Direction, Plan};

/// A piece whose end stands for a loss, or for one that may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LostUntold {
    pub(crate) piece: usize,
    /// The packet, whichever it is, had entered the whole path.
    pub(crate) has_entered: bool,
    pub(crate) is_certain: bool,
}

/// Ends in doubt that nothing can have continued, and marks as such those that seemed lost for certain.
/// All pieces of one identity within a window.
pub(crate) fn lost_untold(
    plan: &Plan,
    direction: Direction,
    pieces: &mut [Piece],
) -> Vec<LostUntold> {
    for piece in pieces.iter_mut().filter(|one| one.has_doubtful_start) {
        if let Some(first) = piece.observations.first_mut() {
            first.evidence.add(Evidence::BEGINS_IN_DOUBT);
        }
    }
    let is_in_doubt = |piece: &Piece| piece.has_doubtful_start || piece.has_doubtful_end;
    if !pieces.iter().any(is_in_doubt) {
        return Vec::new();
    }
    let mut tips = PieceTips::of(plan, direction, pieces);
    let mut balance = tips.continued(plan, pieces.len());
    if tips.doubt_ends(&mut balance.all, (plan, direction), pieces) {
        tips = PieceTips::of(plan, direction, pieces);
        balance = tips.continued(plan, pieces.len());
    }
    balance.mark_heads(&tips, pieces);
    if !pieces.iter().any(|piece| piece.has_doubtful_end) {
        return Vec::new();
    }
    balance.left(&tips, plan.entry(direction), pieces)
}

/// Where the pieces of one identity begin and end, in order of place and time: those that can continue
/// another, and those of which it is open whether they go on, or which seem lost.
#[derive(Default)]
struct PieceTips {
    heads: Vec<Tip>,
    heads_of_copies: Vec<Tip>,
    ends: Vec<Tip>,
    ends_of_copies: Vec<Tip>,
    certain_ends: Vec<Tip>,
}

impl PieceTips {
    fn of(plan: &Plan, direction: Direction, pieces: &[Piece]) -> Self {
        let mut tips = Self::default();
        let tip = |piece: u32, one: &Observation| Tip {
            place: i32::try_from(plan.place(direction, one.point)).unwrap_or(i32::MAX),
            at_ns: one.aligned_ns,
            piece,
        };
        for (index, piece) in (0..).zip(pieces) {
            let [first, ..] = piece.observations.as_slice() else {
                continue;
            };
            let heads = if piece.may_begin_as_copy() {
                &mut tips.heads_of_copies
            } else {
                &mut tips.heads
            };
            heads.push(tip(index, first));
            let ends = match (piece.is_open(), piece.may_be_copy()) {
                (true, false) => &mut tips.ends,
                (true, true) => &mut tips.ends_of_copies,
                (false, false) => &mut tips.certain_ends,
                (false, true) => continue,
            };
            ends.extend(piece.observations.last().map(|last| tip(index, last)));
        }
        for sorted in [&mut tips.heads, &mut tips.heads_of_copies] {
            sorted.sort_unstable();
        }
        tips
    }

    /// As many ends in doubt as may be go on: in what is no copy first, then in what may be one; what
    /// is left begins what may be a copy of another.
    fn continued(&self, plan: &Plan, n_pieces: usize) -> PieceBalance {
        let mut all = Continuations::none(n_pieces);
        all.extend(&self.heads, &self.ends, within_ns(plan));
        let mut hidden = Vec::new();
        if !self.heads_of_copies.is_empty() {
            hidden = all.left(&self.ends);
            all.extend(&self.heads_of_copies, &self.ends, within_ns(plan));
            hidden.retain(|piece| all.after(*piece).is_some());
        }
        for heads in [&self.heads, &self.heads_of_copies] {
            all.extend(heads, &self.ends_of_copies, within_ns(plan));
        }
        PieceBalance { all, hidden }
    }

    /// Marks ends that seem lost, and are in doubt too: a beginning of which it is open what it continues, and
    /// that no end in doubt accounts for, continues one of them. Not where captures miss packets: there it
    /// may be one of these. Whether there were any.
    fn doubt_ends(
        &self,
        all: &mut Continuations,
        (plan, direction): (&Plan, Direction),
        pieces: &mut [Piece],
    ) -> bool {
        if self.certain_ends.is_empty() {
            return false;
        }
        let heads = self.heads.iter().chain(&self.heads_of_copies);
        let is_unexplained = |head: &&Tip| {
            let piece = pieces.get(head.piece as usize);
            let piece = piece.filter(|piece| piece.has_doubtful_start);
            let first = piece.and_then(|piece| piece.observations.first());
            all.before(head.piece).is_none()
                && first.is_some_and(|one| plan.phantom_frac(direction, one.point) <= NO_DOUBT)
        };
        let unexplained: Vec<Tip> = heads.filter(is_unexplained).copied().collect();
        all.extend(&unexplained, &self.certain_ends, within_ns(plan));
        let mut has_any = false;
        for end in &self.certain_ends {
            if let Some(piece) = pieces.get_mut(end.piece as usize)
                && all.after(end.piece).is_some()
            {
                piece.has_doubtful_end = true;
                has_any = true;
            }
        }
        has_any
    }
}

/// What continues what.
struct PieceBalance {
    all: Continuations,
    /// Ends that only what may be a copy continues.
    hidden: Vec<u32>,
}

impl PieceBalance {
    /// Marks what begins in doubt and continues nothing: one of them may be of a packet that is later than the window.
    fn mark_heads(&self, tips: &PieceTips, pieces: &mut [Piece]) {
        for head in &tips.heads {
            let piece = pieces.get_mut(head.piece as usize);
            let piece = piece.filter(|piece| piece.has_doubtful_start);
            if let Some(first) = piece.and_then(|piece| piece.observations.first_mut())
                && self.all.before(head.piece).is_none()
            {
                first.evidence.add(Evidence::CONTINUES_NONE);
            }
        }
    }

    /// The ends that nothing continues, or only what may be a copy.
    fn left(self, tips: &PieceTips, entry: Option<u16>, pieces: &[Piece]) -> Vec<LostUntold> {
        let has_entered = self.have_entered(tips, entry, pieces);
        let is_certain = self.all.is_most();
        let certain = self.all.left(&tips.ends).into_iter();
        let certain = certain.map(|piece| (piece, is_certain));
        let maybe = self.hidden.iter().copied();
        let maybe = maybe.chain(self.all.left(&tips.ends_of_copies));
        let found = certain.chain(maybe.map(|piece| (piece, false)));
        let lost = found.map(|(piece, is_certain)| LostUntold {
            piece: piece as usize,
            has_entered: has_entered.get(piece as usize) == Some(&true),
            is_certain,
        });
        lost.collect()
    }

    /// Per piece, whether its packet had entered the whole path: there it began, or what it continues did.
    fn have_entered(&self, tips: &PieceTips, entry: Option<u16>, pieces: &[Piece]) -> Vec<bool> {
        let mut heads = [tips.heads.as_slice(), &tips.heads_of_copies].concat();
        // what a piece continues began at an earlier place
        heads.sort_unstable();
        let mut found = vec![false; pieces.len()];
        for head in heads {
            let piece = pieces.get(head.piece as usize);
            let first = piece.and_then(|piece| piece.observations.first());
            let is_at_entry = first.is_some_and(|one| Some(one.point) == entry);
            let before = self.all.before(head.piece);
            let before = before.and_then(|one| found.get(one as usize).copied());
            if let Some(one) = found.get_mut(head.piece as usize) {
                *one = is_at_entry || before == Some(true);
            }
        }
        found
    }
}

/// How far apart two observations of one packet are, usually and at most.
fn within_ns(plan: &Plan) -> [i64; 2] {
    [plan.usual_ns.min(plan.wide_ns), plan.wide_ns]
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
        let found = lost_untold(plan, Direction::Forward, &mut made(pieces)).into_iter();
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
        lost_untold(plan, Direction::Forward, &mut pieces);
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
        let mut pieces: Vec<Piece> = pieces.iter().map(in_doubt).collect();
        let found = lost_untold(&path(3), Direction::Forward, &mut pieces);
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
