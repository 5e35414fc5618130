//! Equal packets that ended at one point and began at the next, of which nobody knows which is which:
//! what they took all together lies between two bounds whichever they are.
//!
//! As many as may be pairs are taken to be some. Where all of both points are, the sum of the times
//! downstream less that of the times upstream is what they took, however they are assigned. Where a point
//! saw more, the earliest and the latest of it bound the sum (order statistics). What begins too late for
//! every end near it continues an end in doubt that was left before, as it does where losses are counted.

use crate::matching::counts::undecided::UndecidedTally;
use crate::matching::late::LateEdge;
use crate::matching::observation::Observation;
use crate::matching::resolve::piece::Piece;
use crate::plan::{Along, Direction, LinkCrossing, Plan, Topology};

/// When an observation was: for all points, and by the clock that latencies between two are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Instant {
    aligned_ns: i64,
    is_down: bool,
    timed_ns: i64,
    /// An end of which it is open what continues it.
    is_in_doubt: bool,
    may_be_copy: bool,
}

/// What of one identity's pieces is undecided, per segment, the whole path too.
pub(crate) fn undecided(
    plan: &Plan,
    topology: &Topology,
    direction: Direction,
    pieces: &[Piece],
) -> Vec<(LinkCrossing, UndecidedTally)> {
    let along = topology.along(direction);
    let segments = along.neighbours.iter().map(|ends| (*ends, false));
    let whole = along.whole.map(|ends| (ends, true));
    let asked = segments.chain(whole);
    let found = asked.filter_map(|(ends, is_whole)| {
        let crossing = topology.between(ends.0, ends.1)?;
        let band = plan.band(direction, ends.0, ends.1);
        // where nobody knows how long packets take, none were paired
        band.filter(|band| !band.is_guessed())?;
        let mut all = open_ends(plan, along, pieces, (ends, is_whole));
        all.sort_unstable();
        let reach_ns = LateEdge::of(plan, ends).reach_ns();
        let (mut tally, mut left) = (UndecidedTally::default(), LeftEnds::default());
        let is_near = |one: &Instant, other: &Instant| {
            other.aligned_ns.saturating_sub(one.aligned_ns) <= reach_ns
        };
        for group in all.chunk_by(is_near) {
            let near = bounds(group, plan.same_clock(ends.0, ends.1));
            tally.merge(near);
            tally.merge(left.continued(group, near.n, plan.wide_ns));
        }
        (tally.n > 0).then_some((crossing, tally))
    });
    found.collect()
}

/// Where pieces end at the upstream point of a segment, and begin at its downstream one.
fn open_ends(
    plan: &Plan,
    along: &Along,
    pieces: &[Piece],
    ((up, down), is_whole): ((u16, u16), bool),
) -> Vec<Instant> {
    let is_exact = plan.same_clock(up, down);
    let instant = |one: &Observation, piece: &Piece, is_down: bool| Instant {
        aligned_ns: one.aligned_ns,
        is_down,
        timed_ns: if is_exact { one.t_ns } else { one.aligned_ns },
        is_in_doubt: !is_down && piece.is_open(),
        may_be_copy: piece.may_be_copy(),
    };
    let at = |piece: &Piece, point: u16| {
        let mut observations = piece.observations.iter();
        observations.find(|one| one.point == point).copied()
    };
    let mut found = Vec::new();
    for piece in pieces {
        let (first, last) = (piece.observations.first(), piece.observations.last());
        let ends_at = |point: u16| last.is_some_and(|one| is_whole || one.point == point);
        let begins_at = |point: u16| first.is_some_and(|one| is_whole || one.point == point);
        let (here, there) = (at(piece, up), at(piece, down));
        if there.is_none() && ends_at(up) && !is_beyond(along, last, down) {
            found.extend(here.map(|one| instant(&one, piece, false)));
        }
        if here.is_none() && begins_at(down) {
            found.extend(there.map(|one| instant(&one, piece, true)));
        }
    }
    found
}

/// Whether a piece ends where nothing leads on to a point.
fn is_beyond(along: &Along, last: Option<&Observation>, down: u16) -> bool {
    last.is_some_and(|one| !along.leads(one.point, down))
}

/// Bounds of what the pairs of a group took, as many as may be: each observation downstream takes one
/// upstream that was there before it. Two that may be copies are no packet.
fn bounds(group: &[Instant], is_exact: bool) -> UndecidedTally {
    let of = |is_down: bool| {
        let side = group.iter().filter(|one| one.is_down == is_down);
        let mut times_ns: Vec<i64> = side.map(|one| one.timed_ns).collect();
        times_ns.sort_unstable();
        times_ns
    };
    let (ups, downs) = (of(false), of(true));
    let (Some(first), Some(last)) = (ups.first(), downs.last()) else {
        return UndecidedTally::default();
    };
    let n_likely = if is_exact {
        n_pairs(&ups, &downs)
    } else {
        ups.len().min(downs.len())
    };
    // of a complete graph without edges between copies (König)
    let n = n_likely.min(group.iter().filter(|one| !one.may_be_copy).count());
    let sum = |times_ns: &[i64]| times_ns.iter().map(|ns| i128::from(*ns)).sum::<i128>();
    let early = |times_ns: &[i64]| sum(times_ns.get(..n).unwrap_or_default());
    let late = |times_ns: &[i64]| sum(times_ns.get(times_ns.len() - n..).unwrap_or_default());
    let least_sum_ns = early(&downs) - late(&ups);
    let (nearest_ns, farthest_ns) = (nearest_ns(&ups, &downs), last.saturating_sub(*first));
    UndecidedTally {
        n: n as u64,
        n_maybe_lost: 0,
        n_maybe_late: 0,
        maybe_lost_bytes: 0,
        least_sum_ns: if is_exact {
            least_sum_ns.max(0)
        } else {
            least_sum_ns
        },
        least_n: n as u64,
        most_sum_ns: late(&downs) - early(&ups),
        most_n: n as u64,
        least_ns: nearest_ns.min(farthest_ns),
        most_ns: farthest_ns,
    }
}

/// Ends that nothing near them continued, by groups in order of time.
#[derive(Default)]
struct LeftEnds(Vec<LeftGroup>);

/// The first and the last time at which a group ended, and how many of it are left.
struct LeftGroup {
    first_ns: i64,
    last_ns: i64,
    n: usize,
}

impl LeftEnds {
    /// What may continue an end of an earlier group, if so many pairs are in a group itself.
    fn continued(&mut self, group: &[Instant], n_near: u64, within_ns: i64) -> UndecidedTally {
        let n_near = usize::try_from(n_near).unwrap_or(usize::MAX);
        let times_ns = |is_one: &dyn Fn(&&Instant) -> bool| {
            let times = group.iter().filter(is_one).map(|one| one.timed_ns);
            times.collect::<Vec<i64>>()
        };
        let n_ups = times_ns(&|one| !one.is_down).len();
        let (downs, open) = (
            times_ns(&|one| one.is_down),
            times_ns(&|one| one.is_in_doubt),
        );
        let mut tally = UndecidedTally::default();
        let ends = |times: &[i64]| times.iter().min().copied().zip(times.iter().max().copied());
        if let Some((first_ns, last_ns)) = ends(&downs) {
            let is_near = |left: &LeftGroup| first_ns.saturating_sub(left.last_ns) <= within_ns;
            self.0.retain(is_near);
            for _ in 0..downs.len().saturating_sub(n_near) {
                tally.merge(self.take((first_ns, last_ns)));
            }
        }
        if let Some((first_ns, last_ns)) = ends(&open) {
            let n = n_ups.saturating_sub(n_near).min(open.len());
            self.0.extend((n > 0).then_some(LeftGroup {
                first_ns,
                last_ns,
                n,
            }));
        }
        tally
    }

    /// One that began between two times and continues any of those that are left.
    fn take(&mut self, (from_ns, to_ns): (i64, i64)) -> UndecidedTally {
        let (Some(oldest), Some(newest)) = (self.0.first(), self.0.last()) else {
            return UndecidedTally::default();
        };
        let least_ns = from_ns.saturating_sub(newest.last_ns);
        let most_ns = to_ns.saturating_sub(oldest.first_ns);
        if let Some(newest) = self.0.last_mut() {
            newest.n -= 1;
        }
        self.0.retain(|group| group.n > 0);
        UndecidedTally {
            n: 1,
            n_maybe_lost: 1,
            n_maybe_late: 0,
            maybe_lost_bytes: 0,
            least_sum_ns: i128::from(least_ns),
            least_n: 1,
            most_sum_ns: i128::from(most_ns),
            most_n: 1,
            least_ns,
            most_ns,
        }
    }
}

/// As many pairs as there may be of which the observation upstream is before the one downstream.
fn n_pairs(ups: &[i64], downs: &[i64]) -> usize {
    let mut left = ups.iter().peekable();
    let mut n = 0;
    for down in downs {
        if left.next_if(|up| *up <= down).is_some() {
            n += 1;
        }
    }
    n
}

/// The least difference of an observation downstream and one before it upstream.
fn nearest_ns(ups: &[i64], downs: &[i64]) -> i64 {
    let before = |down: &i64| {
        let n = ups.partition_point(|up| up <= down);
        let up = n.checked_sub(1).and_then(|at| ups.get(at));
        up.map(|up| down.saturating_sub(*up))
    };
    downs.iter().filter_map(before).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(ups: &[i64], downs: &[i64]) -> Vec<Instant> {
        let instant = |is_down: bool| {
            move |ns: &i64| Instant {
                aligned_ns: *ns,
                is_down,
                timed_ns: *ns,
                is_in_doubt: !is_down,
                may_be_copy: false,
            }
        };
        let ups = ups.iter().map(instant(false));
        ups.chain(downs.iter().map(instant(true))).collect()
    }

    fn told(ups: &[i64], downs: &[i64]) -> (u64, i128, i128, i64, i64) {
        let found = bounds(&group(ups, downs), true);
        let (least, most) = (found.least_sum_ns, found.most_sum_ns);
        (found.n, least, most, found.least_ns, found.most_ns)
    }

    #[test]
    fn of_as_many_at_both_points_the_sum_is_known() {
        assert_eq!(told(&[0, 10, 20], &[15, 25, 35]), (3, 45, 45, 5, 35));
    }

    #[test]
    fn of_fewer_downstream_the_first_or_the_last_were_lost() {
        assert_eq!(told(&[0, 10, 20], &[25, 35]), (2, 30, 50, 5, 35));
    }

    #[test]
    fn of_more_downstream_the_first_or_the_last_came_from_nowhere() {
        assert_eq!(told(&[10], &[15, 35]), (1, 5, 25, 5, 25));
    }

    #[test]
    fn what_was_downstream_before_is_no_pair() {
        assert_eq!(told(&[100], &[15, 35]).0, 0);
        assert_eq!(told(&[10, 100], &[15, 35]), (1, 0, 25, 5, 25));
    }

    #[test]
    fn what_begins_too_late_for_the_ends_near_it_continues_one_that_was_left() {
        let mut left = LeftEnds::default();
        let mut late_ones = |ups: &[i64], downs: &[i64]| {
            let group = group(ups, downs);
            let found = left.continued(&group, bounds(&group, true).n, 1_000);
            (found.n, found.least_sum_ns, found.most_sum_ns)
        };
        assert_eq!(late_ones(&[0, 10, 20], &[15, 25]), (0, 0, 0));
        assert_eq!(late_ones(&[], &[900]), (1, 880, 900));
        assert_eq!(late_ones(&[], &[910]), (0, 0, 0), "none is left");
        assert_eq!(late_ones(&[1_000], &[]), (0, 0, 0));
        assert_eq!(late_ones(&[], &[2_001]), (0, 0, 0), "too late for that");
    }

    #[test]
    fn an_end_that_is_lost_for_certain_is_continued_by_nothing() {
        let mut left = LeftEnds::default();
        let mut lost = group(&[0, 10], &[15]);
        for one in &mut lost {
            one.is_in_doubt = false;
        }
        assert_eq!(left.continued(&lost, 1, 1_000).n, 0);
        assert_eq!(left.continued(&group(&[], &[900]), 0, 1_000).n, 0);
    }

    #[test]
    fn two_that_may_be_copies_are_no_packet() {
        let n = |copies: &[i64]| {
            let mut all = group(&[0, 10], &[15, 25]);
            for one in &mut all {
                one.may_be_copy = copies.contains(&one.timed_ns);
            }
            bounds(&all, true).n
        };
        assert_eq!([n(&[]), n(&[25]), n(&[10, 25])], [2, 2, 2]);
        assert_eq!([n(&[0, 10, 25]), n(&[0, 10, 15, 25])], [1, 0]);
    }

    #[test]
    fn every_assignment_lies_between_the_bounds() {
        let (ups, downs) = ([0, 7, 9, 30], [11, 13, 41]);
        let (n, least, most, ..) = told(&ups, &downs);
        assert_eq!(n, 3);
        for left_out in 0..ups.len() {
            let taken = ups.iter().enumerate().filter(|(at, _)| *at != left_out);
            let sum = i128::from(downs.iter().sum::<i64>() - taken.map(|(_, ns)| ns).sum::<i64>());
            assert!((least..=most).contains(&sum));
        }
    }
}
