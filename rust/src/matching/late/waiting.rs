//! The waiting time after which a packet is lost (RFC 7679 §3.6, RFC 7680 §2.4): by default the
//! slowest delay that was found on a segment, so that nothing that was found is called lost.

use crate::base::blocks::N_BLOCKS;
use crate::matching::counts::totals::Totals;
use crate::matching::observation::Observation;
use crate::plan::{Band, Direction, LinkCrossing, Plan};

/// Times the usual delay that is waited for at least.
const LEAST_TIMES: i64 = 20;
/// Instants whose median stands for the run.
const N_INSTANTS: usize = 15;

/// How long a packet is waited for, per link, forward and reverse.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingTimes(Vec<[i64; 2]>);

impl WaitingTimes {
    /// Those of a run: what was asked for, or what the slowest took, twenty times the usual at least.
    pub(crate) fn found(plan: &Plan, counted: [&Totals; 2]) -> Self {
        Self::of_slowest(plan, counted, 1)
    }

    /// The same, were the slowest twice as slow.
    pub(crate) fn found_twice(plan: &Plan, counted: [&Totals; 2]) -> Self {
        Self::of_slowest(plan, counted, 2)
    }

    fn of_slowest(plan: &Plan, counted: [&Totals; 2], times: i64) -> Self {
        let slowest_ns = |index: usize, side: usize| {
            let tallies = counted
                .iter()
                .filter_map(|totals| totals.links.get(index)?.get(side));
            tallies.filter_map(|tally| tally.slowest_ns).max()
        };
        let of_link = |(index, (near, far)): (usize, &(u16, u16))| {
            [(0, (*near, *far)), (1, (*far, *near))].map(|(side, ends)| {
                let found = slowest_ns(index, side).map(|ns| threshold_ns(plan, ends, ns, times));
                plan.lost_after_ns.or(found).unwrap_or(0)
            })
        };
        Self(plan.links.iter().enumerate().map(of_link).collect())
    }

    pub(crate) fn of_links(both_ways: Vec<[i64; 2]>) -> Self {
        Self(both_ways)
    }

    /// As long as here or there, whichever is longer.
    pub(crate) fn longest(&self, others: &Self) -> Self {
        let of_link = |(link, [one, other]): (usize, &[i64; 2])| {
            let [this, that] = [0, 1].map(|side| others.of(LinkCrossing { link, side }));
            [this.max(*one), that.max(*other)]
        };
        Self(self.0.iter().enumerate().map(of_link).collect())
    }

    /// How long is waited for what crosses a link.
    pub(crate) fn of(&self, LinkCrossing { link, side }: LinkCrossing) -> i64 {
        let both = self.0.get(link);
        both.and_then(|both| both.get(side)).copied().unwrap_or(0)
    }
}

/// The direction in which packets go from one point to another.
fn direction_of(plan: &Plan, (up, down): (u16, u16)) -> Direction {
    let place = |point: u16| plan.place(Direction::Forward, point);
    Direction::of(place(up) <= place(down))
}

/// The slowest that was found is told as [`crate::matching::counts::totals::LinkTally::slowest_ns`] does.
fn threshold_ns(plan: &Plan, (up, down): (u16, u16), slowest_ns: i64, times: i64) -> i64 {
    let direction = direction_of(plan, (up, down));
    let usual_ns = usual_ns(plan, direction, up, down);
    let width_ns = |band: &Band| band.hi_ns.saturating_sub(band.lo_ns);
    let scale_ns = usual_ns.or_else(|| plan.band(direction, up, down).map(width_ns));
    let beside_ns = usual_ns.filter(|_| !plan.same_clock(up, down)).unwrap_or(0);
    let slowest_ns = slowest_ns.saturating_add(beside_ns);
    let least_ns = scale_ns.unwrap_or(0).saturating_mul(LEAST_TIMES);
    slowest_ns.saturating_mul(times).max(least_ns)
}

/// How long a packet took from one point to another, as far as their clocks tell: between clocks that
/// differ, its deviation from the usual delay and what that delay is on average of both directions.
pub(crate) fn delay_ns(
    plan: &Plan,
    direction: Direction,
    up: &Observation,
    down: &Observation,
) -> i64 {
    if plan.same_clock(up.point, down.point) {
        return down.t_ns.saturating_sub(up.t_ns);
    }
    let deviation_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
    let usual_ns = usual_ns(plan, direction, up.point, down.point);
    deviation_ns.saturating_add(usual_ns.unwrap_or(0))
}

/// The usual delay, by the clock of both points, or else half of that in both directions.
fn usual_ns(plan: &Plan, direction: Direction, up: u16, down: u16) -> Option<i64> {
    let back = direction.turned();
    let median_ns = |apart_ns: &dyn Fn(i64) -> i64| {
        let mut all_ns = instants_ns(plan).map(apart_ns);
        all_ns.sort_unstable();
        all_ns.get(N_INSTANTS / 2).copied().unwrap_or(0).max(0)
    };
    let offset_ns = |way: Direction, point: u16, at_ns: i64| {
        at_ns.saturating_sub(plan.aligned_ns(way, point, at_ns))
    };
    let apart_ns = |way: Direction, at_ns: i64| {
        offset_ns(way, down, at_ns).saturating_sub(offset_ns(way, up, at_ns))
    };
    if plan.same_clock(up, down) {
        return Some(median_ns(&|at_ns| apart_ns(direction, at_ns)));
    }
    let is_seen = |way: Direction, up, down| {
        let band = plan.band(way, up, down);
        band.is_some_and(|band| !band.is_guessed())
    };
    let are_both = is_seen(direction, up, down) && is_seen(back, down, up);
    let both_ns = |at_ns: i64| apart_ns(direction, at_ns).saturating_sub(apart_ns(back, at_ns));
    are_both.then(|| median_ns(&|at_ns| both_ns(at_ns) / 2))
}

/// Instants in equal distances over the run: late packets may lift the usual delay of some.
fn instants_ns(plan: &Plan) -> [i64; N_INSTANTS] {
    let length_ns = plan
        .blocks
        .length_ns
        .saturating_mul(i64::try_from(N_BLOCKS).unwrap_or(1));
    let n = i64::try_from(N_INSTANTS).unwrap_or(1);
    std::array::from_fn(|index| {
        let index = i64::try_from(index).unwrap_or(0);
        let after_ns = (length_ns / n).saturating_mul(index);
        plan.blocks.start_ns.saturating_add(after_ns)
    })
}

/// What is late: a delay of so many times the usual, beyond the band.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateEdge {
    delay_ns: i64,
    /// The usual delay, which a deviation does not have in.
    beside_ns: i64,
}

impl LateEdge {
    pub(crate) fn of(plan: &Plan, (up, down): (u16, u16)) -> Self {
        let direction = direction_of(plan, (up, down));
        let band = plan.band(direction, up, down);
        let Some(band) = band.filter(|band| !band.is_guessed()) else {
            return Self {
                delay_ns: i64::MAX,
                beside_ns: 0,
            };
        };
        let usual_ns = usual_ns(plan, direction, up, down);
        let scale_ns = usual_ns.unwrap_or_else(|| band.hi_ns.saturating_sub(band.lo_ns));
        let usual_ns = usual_ns.unwrap_or(0);
        let beyond_ns = usual_ns.saturating_add(band.hi_ns);
        Self {
            delay_ns: scale_ns.saturating_mul(LEAST_TIMES).max(beyond_ns),
            beside_ns: usual_ns,
        }
    }

    /// How far apart observations of one packet may be that is not late, at most and beyond the usual.
    pub(crate) fn reach_ns(self) -> i64 {
        self.delay_ns.saturating_sub(self.beside_ns)
    }

    /// Whether it is passed: between points of one clock by their difference, else by the deviation
    /// from the usual one.
    #[inline]
    pub(crate) fn is_passed(self, is_exact: bool, took_ns: i64) -> bool {
        let beside_ns = if is_exact { 0 } else { self.beside_ns };
        took_ns.saturating_add(beside_ns) > self.delay_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{SEGMENT_NS, path};

    /// How long is waited forward on the first link, of which the slowest took so long; and for equal packets.
    fn waited_ns(slowest_ns: i64) -> [i64; 2] {
        let plan = path(2);
        let mut totals = Totals::of_links(1);
        if let Some([forward, _]) = totals.links.first_mut() {
            forward.slowest_ns = Some(slowest_ns);
        }
        let crossing = LinkCrossing { link: 0, side: 0 };
        let counted = [&totals, &Totals::default()];
        [
            WaitingTimes::found(&plan, counted).of(crossing),
            WaitingTimes::found_twice(&plan, counted).of(crossing),
        ]
    }

    #[test]
    fn the_slowest_that_was_found_is_waited_for_and_twice_as_long_for_equal_packets() {
        let least_ns = LEAST_TIMES * SEGMENT_NS;
        assert_eq!(waited_ns(SEGMENT_NS), [least_ns, least_ns]);
        assert_eq!(waited_ns(2 * least_ns), [2 * least_ns, 4 * least_ns]);
    }
}
