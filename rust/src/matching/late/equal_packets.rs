//! Packets of one packet ID of which it cannot be told which is which: how many arrived, and how late they may be.

use crate::matching::evidence::Evidence;
use crate::matching::late::leftover::Leftover;
use crate::matching::late::verdict::{Surveyed, is_undecided, may_be_one};
use crate::matching::late::waiting::{WaitingTimes, delay_ns};
use crate::matching::observation::Observation;
use crate::matching::resolve::posterior::NO_DOUBT;
use crate::plan::{Direction, LinkCrossing};
use std::cmp::Reverse;

/// Of equal packets that seem late, at most such a share is two packets by chance: where they are waited for, and
/// where they may be late.
const FEW: f64 = 0.05;
const SOME: f64 = 0.1;
/// More late ones than early ones by so many standard deviations are no chance, however late.
const CERTAINLY: f64 = 3.0;

/// Ends and beginnings of one packet ID that may be of one packet each, by their places among the parts:
/// each beginning with the earliest end at the nearest point that came within the waiting time, those last that
/// may continue another within the window.
/// Of packets that are equal, and slow, that tells how many arrived, and not which: at most they are that slow.
pub(crate) fn pairs_in_number(
    at: &Surveyed<'_>,
    parts: &[Leftover],
    waits: &WaitingTimes,
) -> Vec<(usize, usize)> {
    let place = |direction, point: u16| at.plan.place(direction, point);
    let mut beginnings: Vec<(usize, &Leftover)> = parts.iter().enumerate().collect();
    beginnings.sort_by_key(|(_, part)| {
        let from = place(part.direction, part.first.point);
        let is_counted = continues_one(&part.first);
        (is_counted, from, part.first.aligned_ns, part.first.frame)
    });
    let mut is_taken = vec![false; parts.len()];
    let mut found = Vec::new();
    for (beginning, down) in beginnings {
        let continues = |(end, up): &(usize, &Leftover)| {
            !is_taken.get(*end).copied().unwrap_or(true) && is_continued(at, up, down, waits)
        };
        let ends = parts.iter().enumerate().filter(continues);
        let first = ends.max_by_key(|(_, up)| {
            let to = place(up.direction, up.last.point);
            (to, Reverse((up.last.aligned_ns, up.last.frame)))
        });
        if let Some((end, _)) = first {
            if let Some(taken) = is_taken.get_mut(end) {
                *taken = true;
            }
            found.push((end, beginning));
        }
    }
    found
}

/// Whether a packet that ended here may be the one that began there: later than the window allows, and
/// within the waiting time.
fn is_continued(at: &Surveyed<'_>, up: &Leftover, down: &Leftover, waits: &WaitingTimes) -> bool {
    let ends = (&up.last, &down.first);
    are_end_and_beginning(at, up, down)
        && at.may_follow(up.direction, ends)
        && is_within(at, up, down, waits)
}

/// Whether a beginning came within the waiting time.
pub(crate) fn is_within(
    at: &Surveyed<'_>,
    up: &Leftover,
    down: &Leftover,
    waits: &WaitingTimes,
) -> bool {
    let (from, to) = (&up.last, &down.first);
    let waited_ns = waited_ns(at, up.direction, (from.point, to.point), waits);
    delay_ns(at.plan, up.direction, from, to) <= waited_ns
}

/// How long is waited from one point to another: over points that may have missed the packet, as long as on one of
/// the segments.
fn waited_ns(
    at: &Surveyed<'_>,
    direction: Direction,
    (up, down): (u16, u16),
    waits: &WaitingTimes,
) -> i64 {
    if let Some(crossing) = at.topology.between(up, down) {
        return waits.of(crossing);
    }
    let along = at.topology.along(direction);
    let may_miss = |point: u16| {
        let onward = at.plan.band(direction, point, down);
        onward.is_some_and(|band| band.phantom_frac > NO_DOUBT)
    };
    if !along.is_led((up, down), |_, next| next == down || may_miss(next)) {
        return 0;
    }
    let leads = |from: u16, to: u16| from == to || along.leads(from, to);
    let between = along.neighbours.iter();
    let between = between.filter(|(from, to)| leads(up, *from) && leads(*to, down));
    let crossings = between.filter_map(|(from, to)| at.topology.between(*from, *to));
    crossings.map(|one| waits.of(one)).max().unwrap_or(0)
}

/// Whether a packet that ended here may be one that began there, whenever that was.
fn are_end_and_beginning(at: &Surveyed<'_>, up: &Leftover, down: &Leftover) -> bool {
    let (from, to) = (&up.last, &down.first);
    let is_one_way = up.direction == down.direction && from.toward == to.toward;
    let is_lost = up.lost.is_some_and(|lost| lost.packets > 0);
    let leads = || at.topology.along(up.direction).leads(from.point, to.point);
    // what continues another within the window is counted there, if none is later
    let is_counted = continues_one(to) && !at.plan.has_later();
    let may_begin = down.may_begin() && !is_counted;
    let may_be = is_one_way && is_lost && may_begin && leads();
    may_be && is_undecided(at.plan, from, to) && may_be_one(&[*up, *down])
}

/// Whether it seems to continue one of the equal packets within the window, and it is open which.
fn continues_one(head: &Observation) -> bool {
    head.evidence.is(Evidence::BEGINS_IN_DOUBT) && !head.evidence.is(Evidence::CONTINUES_NONE)
}

/// How late equal packets seem to be, per link, forward and reverse. Two packets seem so too: one that was lost, and
/// one that a point did not capture. But these come at any time, and in any order.
#[derive(Debug, Default)]
pub(crate) struct EqualDelays(Vec<[DelaysOfLink; 2]>);

#[derive(Clone, Debug, Default)]
struct DelaysOfLink {
    /// From an end to a beginning after it.
    late_ns: Vec<i64>,
    /// From an end back to a beginning before it.
    early_ns: Vec<i64>,
    /// So many of two packets are expected, for each nanosecond that they may be apart.
    by_chance: f64,
}

impl EqualDelays {
    pub(crate) fn of_links(n_links: usize) -> Self {
        Self(vec![Default::default(); n_links])
    }

    /// Takes leftovers of one packet ID, and when others of it were left before them and after.
    pub(crate) fn note(&mut self, at: &Surveyed<'_>, parts: &[Leftover], around: [Option<i64>; 2]) {
        let mut all = Vec::new();
        for (end, up) in parts.iter().enumerate() {
            for (beginning, down) in parts.iter().enumerate() {
                if are_end_and_beginning(at, up, down)
                    && let Some(delay_ns) = self.expect(at, (up, down), around)
                {
                    all.push((delay_ns, end, beginning));
                }
            }
        }
        all.sort_unstable_by_key(|(delay_ns, end, _)| (delay_ns.unsigned_abs(), *end));
        for is_late in [true, false] {
            let mut are_taken = [vec![false; parts.len()], vec![false; parts.len()]];
            for (delay_ns, end, beginning) in all.iter().filter(|(ns, ..)| (*ns > 0) == is_late) {
                let [ends, beginnings] = &mut are_taken;
                let (Some(end), Some(beginning), Some(up), Some(down)) = (
                    ends.get_mut(*end),
                    beginnings.get_mut(*beginning),
                    parts.get(*end),
                    parts.get(*beginning),
                ) else {
                    continue;
                };
                if !*end && !*beginning {
                    (*end, *beginning) = (true, true);
                    self.add(at, (up, down), *delay_ns);
                }
            }
        }
    }

    fn add(&mut self, at: &Surveyed<'_>, ends: (&Leftover, &Leftover), delay_ns: i64) {
        if let Some(of_link) = self.of_link(at, ends) {
            if delay_ns > 0 {
                of_link.late_ns.push(delay_ns);
            } else {
                of_link.early_ns.push(-delay_ns);
            }
        }
    }

    /// Counts an end and a beginning that may lie so by chance, and gives how late that would be. What one point alone
    /// was there to capture is not late.
    fn expect(
        &mut self,
        at: &Surveyed<'_>,
        (up, down): (&Leftover, &Leftover),
        [before, after]: [Option<i64>; 2],
    ) -> Option<i64> {
        let (from, to) = (&up.last, &down.first);
        let LinkCrossing { link, .. } = at.topology.between(from.point, to.point)?;
        let (start_ns, end_ns) = at.plan.cover_of(link);
        let is_covered = |ns: i64| (start_ns..=end_ns).contains(&ns);
        let (start_ns, end_ns) = (before.unwrap_or(start_ns), after.unwrap_or(end_ns));
        let of_link = self.of_link(at, (up, down))?;
        if !is_covered(from.aligned_ns) || !is_covered(to.aligned_ns) {
            return None;
        }
        of_link.by_chance += 1.0 / length_of(start_ns, end_ns);
        Some(delay_ns(at.plan, up.direction, from, to))
    }

    fn of_link(
        &mut self,
        at: &Surveyed<'_>,
        (up, down): (&Leftover, &Leftover),
    ) -> Option<&mut DelaysOfLink> {
        let LinkCrossing { link, side } = at.topology.between(up.last.point, down.first.point)?;
        self.0.get_mut(link)?.get_mut(side)
    }

    /// How late equal packets are, and how late they may be.
    pub(crate) fn waits(mut self) -> [WaitingTimes; 2] {
        let both = self.0.iter_mut().flatten();
        both.for_each(|of_link| {
            of_link.late_ns.sort_unstable();
            of_link.early_ns.sort_unstable();
        });
        [FEW, SOME].map(|share| {
            let latest = |both: &[DelaysOfLink; 2]| both.each_ref().map(|of| of.latest_ns(share));
            WaitingTimes::of_links(self.0.iter().map(latest).collect())
        })
    }
}

impl DelaysOfLink {
    /// The latest up to which at most such a share is chance, or beyond which chance does not explain how few are early.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    fn latest_ns(&self, share: f64) -> i64 {
        let is_late = |ns: i64, n: usize| self.by_chance * ns as f64 <= share * n as f64;
        let numbered = (1..).zip(&self.late_ns);
        let told = numbered.filter(|(n, ns)| is_late(**ns, *n)).last();
        let (n_told, told_ns) = told.map_or((0, 0), |(n, ns)| (n, *ns));
        let n_early = |ns: i64| self.early_ns.partition_point(|early_ns| *early_ns <= ns);
        let is_no_chance = |ns: i64, n: usize| {
            let late = (n - n_told) as f64;
            let early = (n_early(ns) - n_early(told_ns)) as f64;
            late - early > CERTAINLY * (late + early).sqrt()
        };
        let others = (1..).zip(&self.late_ns).skip(n_told);
        let latest = others.filter(|(n, ns)| is_no_chance(**ns, *n)).last();
        latest.map_or(told_ns, |(_, ns)| *ns)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
fn length_of(start_ns: i64, end_ns: i64) -> f64 {
    end_ns.saturating_sub(start_ns).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::counts::totals::Totals;
    use crate::matching::late::verdict::tests::{LATE_NS, part};
    use crate::matching::testing::path;
    use crate::plan::Plan;

    /// Ends and beginnings of one packet ID that may be of one packet each.
    fn paired(parts: &[Leftover]) -> Vec<(usize, usize)> {
        paired_by(path(4), parts)
    }

    fn paired_by(plan: Plan, parts: &[Leftover]) -> Vec<(usize, usize)> {
        let plan = Plan {
            lost_after_ns: Some(2 * LATE_NS),
            ..plan
        };
        let waits = WaitingTimes::found(&plan, [&Totals::default(), &Totals::default()]);
        pairs_in_number(&Surveyed::of(&plan), parts, &waits)
    }

    #[test]
    fn of_equal_slow_packets_as_many_arrive_as_beginnings_are_in_time() {
        let ends = [part(&[(0, 0)]), part(&[(0, 10)]), part(&[(0, 20)])];
        let beginning = |at_ns: i64| part(&[(1, at_ns), (3, at_ns)]);
        let all = [
            ends.as_slice(),
            &[beginning(LATE_NS), beginning(LATE_NS + 5)],
        ]
        .concat();
        assert_eq!(paired(&all), [(0, 3), (1, 4)]);
        let too_late = [ends.as_slice(), &[beginning(3 * LATE_NS)]].concat();
        assert_eq!(paired(&too_late), []);
        let mut counted = beginning(LATE_NS);
        counted.first.evidence.add(Evidence::BEGINS_IN_DOUBT);
        assert_eq!(paired(&[ends.as_slice(), &[counted]].concat()), []);
    }

    #[test]
    fn a_beginning_in_doubt_continues_an_earlier_end_if_no_other_does() {
        let later = |beyond_frac: f64| Plan {
            beyond_frac,
            ..path(4)
        };
        let end = part(&[(0, 0), (1, 5)]);
        let begun = |at_ns: i64, traits: u8| {
            let mut begun = part(&[(2, at_ns)]);
            begun.first.evidence.add(traits);
            begun
        };
        let counted = begun(LATE_NS, Evidence::BEGINS_IN_DOUBT);
        assert_eq!(paired_by(later(0.0), &[end, counted]), []);
        assert_eq!(paired_by(later(0.01), &[end, counted]), [(0, 1)]);
        let both = Evidence::BEGINS_IN_DOUBT | Evidence::CONTINUES_NONE;
        let mut free = begun(LATE_NS + 5, both);
        free.is_joinable = false;
        for plan in [later(0.0), later(0.01)] {
            assert_eq!(paired_by(plan, &[end, counted, free]), [(0, 2)]);
        }
    }

    #[test]
    fn points_between_an_end_and_a_beginning_may_have_missed_the_packet() {
        let across = [part(&[(0, 0)]), part(&[(2, LATE_NS), (3, LATE_NS)])];
        assert_eq!(paired(&across), []);
        let mut misses = path(4);
        for band in misses.bands.iter_mut().flatten() {
            band.phantom_frac = 0.01;
        }
        assert_eq!(paired_by(misses.clone(), &across), [(0, 1)]);
        let too_late = [across[0], part(&[(2, 3 * LATE_NS), (3, 3 * LATE_NS)])];
        assert_eq!(paired_by(misses, &too_late), []);
    }

    /// How late equal packets are and may be, ms; `by_chance`: a second.
    fn latest(late: &[i64], early: &[i64], by_chance: f64) -> [i64; 2] {
        let in_ns = |all: &[i64]| all.iter().map(|ms| ms * LATE_NS).collect();
        let of_link = DelaysOfLink {
            late_ns: in_ns(late),
            early_ns: in_ns(early),
            by_chance: by_chance / 1e9,
        };
        [FEW, SOME].map(|share| of_link.latest_ns(share) / LATE_NS)
    }

    #[test]
    fn what_chance_does_not_explain_is_late() {
        assert_eq!(latest(&[], &[], 1.0), [0, 0]);
        assert_eq!(latest(&[50], &[], 1.0), [50, 50]);
        assert_eq!(latest(&[51], &[], 1.0), [0, 51]);
        assert_eq!(latest(&[101], &[], 1.0), [0, 0]);
        assert_eq!(latest(&[100, 100], &[], 1.0), [100, 100]);
        assert_eq!(latest(&[40, 40, 90, 90, 1_001], &[], 1.0), [90, 90]);
    }

    #[test]
    fn what_is_never_early_is_late() {
        let nine: Vec<i64> = (1_001..=1_009).collect();
        let ten: Vec<i64> = (1_001..=1_010).collect();
        assert_eq!(latest(&nine, &[], 1e3), [0, 0]);
        assert_eq!(latest(&ten, &[], 1e3), [1_010, 1_010]);
        assert_eq!(latest(&ten, &[1_010], 1e3), [0, 0]);
        assert_eq!(latest(&ten, &[1_011], 1e3), [1_010, 1_010]);
        let some = [&[1], nine.as_slice()].concat();
        assert_eq!(latest(&some, &[], 1.0), [1, 1]);
    }

    #[test]
    fn each_beginning_is_with_the_nearest_end() {
        let plan = Plan {
            point_covers: vec![(0, 1_000 * LATE_NS); 4],
            ..path(4)
        };
        let at = Surveyed::of(&plan);
        let waited = |parts: &[Leftover], around: [Option<i64>; 2]| {
            let mut delays = EqualDelays::of_links(plan.links.len());
            delays.note(&at, parts, around);
            let crossing = LinkCrossing { link: 0, side: 0 };
            delays.waits().map(|waits| waits.of(crossing) / LATE_NS)
        };
        let end = |ms| part(&[(0, ms * LATE_NS)]);
        let beginning = |ms| part(&[(1, ms * LATE_NS), (2, ms * LATE_NS), (3, ms * LATE_NS)]);
        let all = [None; 2];
        assert_eq!(waited(&[end(10), beginning(11)], all), [1, 1]);
        assert_eq!(
            waited(
                &[end(10), beginning(11)],
                [Some(5 * LATE_NS), Some(15 * LATE_NS)]
            ),
            [0, 1]
        );
        assert_eq!(waited(&[beginning(10), end(11)], all), [0, 0]);
        assert_eq!(
            waited(&[end(10), end(11), beginning(13), beginning(14)], all),
            [4, 4]
        );
        assert_eq!(waited(&[end(10), end(20), beginning(22)], all), [2, 2]);
        assert_eq!(waited(&[end(10), beginning(410)], all), [0, 0]);
        assert_eq!(waited(&[end(10), beginning(1_001)], all), [0, 0]);
    }
}
