//! Whether a slow packet explains two leftovers better than two packets of one packet ID do.
//!
//! Two packets are taken for a slow one if the first was lost and the points before the second part
//! did not capture the second. How often a packet ID comes again shows in the leftovers themselves:
//! after a loss, a retransmission, a heartbeat or a script's next round is found in the log of what
//! was decided. As many as were found, times the share that a point does not capture, look like slow
//! packets and are none; but for those that came again much later than the packet in question would be late
//! ([`Intervals`]). That share shows in the leftovers too: packets that arrived, and were not
//! captured where they came from, of IDs that were decided. A late copy of a packet looks so as well, and
//! tells nothing of losses. Both shares are those of the flow and of all flows together: a flow that is
//! seldom may be the only one that repeats itself. So is the number of slow packets that is to be
//! expected, in which the two leftovers in question do not count for themselves.

mod elsewhere;
mod intervals;

use crate::matching::resolve::posterior::LEAST_PHANTOM;

use crate::base::hash::mixed;
use crate::base::hashed::HashedMap;
use crate::matching::late::decided::Decided;
use crate::matching::late::leftover::Leftover;
use crate::matching::late::occasions::MUCH;
use crate::matching::late::odds::elsewhere::{Elsewhere, Others};
use crate::matching::late::odds::intervals::Intervals;
use crate::matching::late::verdict::{Kinship, is_alone, joints};
use crate::matching::resolve::posterior::NO_DOUBT;
use crate::plan::{Direction, Plan};

/// How likely packet IDs come again where nothing is known of them: a flow repeats itself, or not.
const UNKNOWN: f64 = 0.5;
/// Of a flow that repeats itself, so many leftovers are not seen again, unless more are seen not to be.
const SELDOM: f64 = 0.5;
/// Packets of a flow that may all be late.
const FEW: f64 = 2.0;
/// Of leftovers like these, more are slow packets than not.
const LIKELY: f64 = 0.5;
/// Most packets of a flow.
const MOST: f64 = 0.5;

/// Numbers of leftovers of one flow and way, or of all.
#[derive(Clone, Copy, Debug, Default)]
struct Recurrences {
    leftovers: f64,
    /// Those that end early: what was lost, if it is not slow.
    ended: f64,
    /// The same, each of those that one packet ID has.
    all_ended: f64,
    /// Those of them whose packet ID was seen again, and when.
    again: Intervals,
    slow: f64,
    /// The same, of packet IDs that were decided at other times, much farther away.
    slow_again: f64,
    reversed: f64,
    /// Those that begin late, of packet IDs that were decided.
    begun: f64,
    /// Packets that were decided.
    decided: f64,
}

/// What is known of leftovers.
#[derive(Debug, Default)]
pub(crate) struct Odds {
    of_flow: HashedMap<Recurrences>,
    all: Recurrences,
    /// What else was seen of packet IDs, of those that are asked for.
    others: Elsewhere,
    /// One in so many packet IDs is asked for that may not be of slow packets.
    one_in: u64,
    /// The share of leftovers that is not seen again, of flows that repeat themselves.
    once_frac: f64,
}

/// Packet IDs that are asked for at most, beyond those of what may be slow packets: in memory all at once.
const MOST_ASKED: u64 = 1 << 20;

impl Odds {
    /// Nothing is known yet of so many leftovers.
    pub(crate) fn new(n_leftovers: u64) -> Self {
        Self {
            one_in: n_leftovers / MOST_ASKED + 1,
            once_frac: SELDOM,
            ..Self::default()
        }
    }

    /// Asks about leftovers whether their packet ID was decided, and about those of their flow. Packet IDs are asked
    /// about in order, as leftovers are read.
    pub(crate) fn ask(&mut self, kinship: &Kinship) {
        match kinship {
            Kinship::Slow(parts) | Kinship::Reversed(parts) => {
                for part in parts.iter().take(1) {
                    self.others.ask(part);
                    self.of_flow.entry(part.flow_way()).or_default();
                }
            }
            Kinship::Alone(one) | Kinship::Several { one, .. } => {
                // by its frame: a packet ID is another in every run
                let frame = mixed(one.first.frame.packed().unsigned_abs());
                if frame.is_multiple_of(self.one_in) {
                    self.others.ask(one);
                }
            }
            Kinship::Moved(_) => {}
        }
    }

    /// Takes leftovers of one packet ID, and when others of it were seen before them and after, once they are asked
    /// about: those of other occasions are others.
    pub(crate) fn note_left(&mut self, occasions: &[Vec<Leftover>], around: [Option<i64>; 2]) {
        let mut all = occasions.iter().flatten();
        if !all.next().is_some_and(|one| self.others.is_last(one)) {
            return;
        }
        for (one, left_ns) in apart_ns(occasions, around) {
            self.others.note_left(one, left_ns);
        }
    }

    /// Takes that all is asked: what was decided is noted from now on.
    pub(crate) fn settle_asked(&mut self) {
        self.others.settle_asked();
    }

    pub(crate) fn is_asked(&self) -> bool {
        !self.of_flow.is_empty()
    }

    /// Takes a packet that was decided.
    pub(crate) fn note_decided(&mut self, decided: &Decided) {
        self.all.decided += 1.0;
        self.note_others(decided, Others::Decided);
        if let Some(of_flow) = self.of_flow.get_mut(&decided.flow_way) {
            of_flow.decided += 1.0;
        }
    }

    /// Takes an observation of which it cannot be told what it is of.
    pub(crate) fn note_untold(&mut self, untold: &Decided) {
        self.note_others(untold, Others::Untold);
    }

    /// Takes that all that was decided is noted.
    pub(crate) fn settle_others(&mut self) {
        self.others.settle();
    }

    fn note_others(&mut self, seen: &Decided, others: Others) {
        self.others.note(seen.key, seen.aligned_ns, others);
    }

    /// Notes the leftovers of a packet ID, once all that was decided is known.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    pub(crate) fn note(&mut self, plan: &Plan, kinship: &Kinship) {
        let (Kinship::Slow(parts) | Kinship::Reversed(parts)) = kinship else {
            return self.note_other(kinship);
        };
        let Some(first) = parts.first() else { return };
        let n = (parts.len() - 1) as f64;
        let mut more = Recurrences {
            leftovers: 1.0,
            ended: 1.0,
            all_ended: 1.0,
            ..Recurrences::default()
        };
        let again = self.again_ns(first, kinship);
        more.again = again.map(Intervals::one).unwrap_or_default();
        match (again, kinship) {
            (None, Kinship::Slow(_)) => more.slow = n,
            (None, _) => more.reversed = n,
            (Some(again), Kinship::Slow(parts)) if is_apart(plan, parts, again) => {
                more.slow_again = n;
            }
            _ => {}
        }
        self.add(first, &more);
    }

    /// After what time the packet ID of some parts came again. Parts that were faster than any may be so at each time.
    fn again_ns(&self, first: &Leftover, kinship: &Kinship) -> Option<u64> {
        let elsewhere = self.others.nearest(first)?;
        let is_again = matches!(kinship, Kinship::Slow(_)) || elsewhere.others != Others::Nothing;
        elsewhere.apart_ns.filter(|_| is_again)
    }

    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    fn note_other(&mut self, kinship: &Kinship) {
        let (one, apart_ns, n_begun, n_ended) = match kinship {
            Kinship::Alone(one) => {
                let n_ended = usize::from(one.lost.is_some());
                (one, None, 1 - n_ended, n_ended)
            }
            Kinship::Several {
                one,
                apart_ns,
                n_begun,
                n_ended,
            } => (one, Some(*apart_ns), *n_begun, *n_ended),
            _ => return,
        };
        let Some(elsewhere) = self.others.nearest(one) else {
            return;
        };
        let again_ns = [elsewhere.apart_ns, apart_ns].into_iter().flatten().min();
        let is_end = one.lost.is_some();
        let one_in = self.one_in as f64;
        let mut more = Recurrences {
            leftovers: one_in,
            ended: if is_end { one_in } else { 0.0 },
            all_ended: one_in * n_ended as f64,
            begun: if elsewhere.others == Others::Decided {
                one_in * n_begun as f64
            } else {
                0.0
            },
            ..Recurrences::default()
        };
        if let Some(again_ns) = again_ns.filter(|_| is_end) {
            let weight = u32::try_from(self.one_in).unwrap_or(u32::MAX);
            more.again.add(&Intervals::one(again_ns), weight);
        }
        self.add(one, &more);
    }

    fn add(&mut self, one: &Leftover, more: &Recurrences) {
        self.all.add(more);
        if let Some(of_flow) = self.of_flow.get_mut(&one.flow_way()) {
            of_flow.add(more);
        }
    }

    /// Sums up what was noted. Of flows that repeat themselves all repetitions but one count: that one made them so.
    pub(crate) fn settle(&mut self) {
        let (mut n_once, mut n) = (SELDOM, 1.0);
        for of_flow in self.of_flow.values() {
            let n_again = of_flow.again.n();
            let n_ended = of_flow.n_plain().max(n_again);
            n_once += n_again * (n_ended - n_again);
            n += n_again * (n_ended - 1.0).max(0.0);
        }
        self.once_frac = f64::max(n_once / n, SELDOM);
    }

    /// The probability that leftovers are no parts of one slow packet; `None` unless it is negligible.
    pub(crate) fn doubt(&self, plan: &Plan, parts: &[Leftover]) -> Option<f64> {
        self.false_frac(plan, parts)
            .filter(|doubt| *doubt <= NO_DOUBT)
    }

    /// Whether leftovers are parts of one slow packet rather than of two.
    pub(crate) fn is_likely(&self, plan: &Plan, parts: &[Leftover]) -> bool {
        let false_frac = self.false_frac(plan, parts);
        false_frac.is_some_and(|doubt| doubt <= LIKELY)
    }

    /// Whether leftovers that would be one packet had it been faster than any are rather that than two packets.
    pub(crate) fn is_likely_fast(&self, plan: &Plan, parts: &[Leftover]) -> bool {
        let Some(first) = parts.first() else {
            return false;
        };
        // one that was decided at another time is no evidence of a route
        let elsewhere = self.others.nearest(first);
        let is_only = elsewhere.is_some_and(|nearest| nearest.others == Others::Nothing);
        let Some(of_flow) = self.of_flow.get(&first.flow_way()).filter(|_| is_only) else {
            return false;
        };
        let n_again = self.n_again(of_flow, again_within_ns(plan, parts));
        let n_false = n_again * self.most_missed(plan, of_flow, parts);
        let expected = self.expected(of_flow, |of| of.reversed);
        n_false <= LIKELY * (of_flow.reversed - 1.0 + expected)
    }

    /// The share of leftovers like these that are of two packets; `None` if nothing says so.
    fn false_frac(&self, plan: &Plan, parts: &[Leftover]) -> Option<f64> {
        let first = parts.first()?;
        let elsewhere = self.others.nearest(first)?;
        let is_again = elsewhere.apart_ns.is_some();
        if elsewhere
            .apart_ns
            .is_some_and(|apart_ns| !is_apart(plan, parts, apart_ns))
        {
            return None;
        }
        let of_flow = self.of_flow.get(&first.flow_way())?;
        // a run of packets that all seem late is as likely a script's, lost once, and once not captured
        if of_flow.slow > FEW && of_flow.decided < of_flow.slow {
            return None;
        }
        let n_like = |of: &Recurrences| if is_again { of.slow_again } else { of.slow };
        let (n_again, missed) = if is_again && !is_alone(plan, parts) {
            self.again_and_missed(plan, of_flow, parts)
        } else {
            (
                self.n_again(of_flow, again_within_ns(plan, parts)),
                self.most_missed(plan, of_flow, parts),
            )
        };
        let n_false = n_again * missed + of_flow.reversed;
        Some(n_false / (n_like(of_flow) - 1.0 + self.expected(of_flow, n_like)))
    }

    /// How much came again of what a flow lost whose packet IDs come again, and the share that a point misses.
    /// The survey knows neither of such packets: what a flow is not seen to miss, it may have missed once.
    fn again_and_missed(
        &self,
        plan: &Plan,
        of_flow: &Recurrences,
        parts: &[Leftover],
    ) -> (f64, f64) {
        let n_lost = (of_flow.all_ended - of_flow.slow_again).max(0.0) + 1.0;
        let of_one =
            self.n_again(of_flow, again_within_ns(plan, parts)) / (of_flow.n_plain() + 1.0);
        let of_others = self.all.begun_frac(0.0);
        let missed = of_flow.begun_frac(1.0).max(of_others);
        let missed = missed.max(self.most_missed(plan, of_flow, parts));
        (of_one * n_lost, missed)
    }

    /// How much of what a flow lost came again, not much later than this; with the packet in question, were it lost.
    fn n_again(&self, of_flow: &Recurrences, late_ns: u64) -> f64 {
        let all_again = &self.all.again;
        let soon_frac = (all_again.n_within(late_ns) + UNKNOWN) / (all_again.n() + 1.0);
        let soon = (late_ns, soon_frac);
        let of_all = self.all.again_frac(soon, UNKNOWN, SELDOM);
        of_flow.again_frac(soon, of_all, self.once_frac) * (of_flow.n_plain() + 1.0)
    }

    /// The largest share that one of the points misses which saw parts of a packet begin.
    fn most_missed(&self, plan: &Plan, of_flow: &Recurrences, parts: &[Leftover]) -> f64 {
        // the survey knows packets that come once: of a flow most of which come again it says nothing
        let is_told = of_flow.again.n() <= MOST * of_flow.decided;
        let of_others = if is_told {
            self.all.begun_frac(0.0)
        } else {
            1.0
        };
        let least_missed = of_flow.begun_frac(of_others).max(LEAST_PHANTOM);
        let missed = parts.windows(2).filter_map(|two| match two {
            [up, down] => Some(plan.phantom_frac(up.direction, down.first.point)),
            _ => None,
        });
        missed.fold(least_missed, f64::max)
    }

    /// How many of a kind a flow has, by the share that all flows have: one at most.
    fn expected(&self, of_flow: &Recurrences, n_of: impl Fn(&Recurrences) -> f64) -> f64 {
        (of_flow.leftovers * n_of(&self.all) / self.all.leftovers.max(1.0)).min(1.0)
    }

    /// Of leftovers in the order that causality forbids, those that would be taken for slow packets.
    pub(crate) fn n_false(&self, plan: &Plan, parts: &[Leftover]) -> u64 {
        self.doubt(plan, parts)
            .map_or(0, |_| parts.len() as u64 - 1)
    }
}

impl Recurrences {
    /// The share of what was lost whose packet ID comes again, not much later than this: at least as many of
    /// those that come again as do of all flows. Where none came again, that of others, the less the more are known.
    fn again_frac(&self, (late_ns, soon_frac): (u64, f64), of_others: f64, once_frac: f64) -> f64 {
        let n_plain = self.n_plain();
        if self.again.n() > 0.0 {
            let n_again = f64::max(self.again.n_within(late_ns), self.again.n() * soon_frac);
            return n_again / n_plain.max(n_again);
        }
        of_others * once_frac.powf(n_plain)
    }

    /// Those that are neither slow nor reversed.
    fn n_plain(&self) -> f64 {
        (self.ended - self.slow - self.reversed).max(0.0)
    }

    /// The share of packets that was not captured where they came from; with that of others, as if
    /// one more packet were known.
    fn begun_frac(&self, of_others: f64) -> f64 {
        (self.begun + of_others) / (self.begun + self.decided + 1.0)
    }

    fn add(&mut self, more: &Self) {
        self.leftovers += more.leftovers;
        self.ended += more.ended;
        self.all_ended += more.all_ended;
        self.begun += more.begun;
        self.again.add(&more.again, 1);
        self.slow += more.slow;
        self.slow_again += more.slow_again;
        self.reversed += more.reversed;
    }
}

/// Whether others of their packet ID were much farther away than parts of a packet would be late.
fn is_apart(plan: &Plan, parts: &[Leftover], apart_ns: u64) -> bool {
    let far_ns = lateness_ns(parts).saturating_mul(MUCH);
    is_alone(plan, parts) || apart_ns > far_ns
}

/// How far off the nearest leftovers of other occasions are, of each that has any.
fn apart_ns(
    occasions: &[Vec<Leftover>],
    [before, after]: [Option<i64>; 2],
) -> impl Iterator<Item = (&Leftover, u64)> {
    let numbered = occasions.iter().enumerate();
    let mut all: Vec<(usize, &Leftover)> = numbered
        .flat_map(|(occasion, parts)| parts.iter().map(move |part| (occasion, part)))
        .collect();
    all.sort_by_key(|(_, part)| part.first.aligned_ns);
    let nearest_ns = move |at: usize| {
        let (occasion, one) = *all.get(at)?;
        let is_other = |(other, _): &&(usize, &Leftover)| *other != occasion;
        let seen_ns = |(_, part): &(usize, &Leftover)| part.first.aligned_ns;
        let earlier = all.iter().take(at).rev().find(is_other).map(seen_ns);
        let later = all.iter().skip(at + 1).find(is_other).map(seen_ns);
        let nearest = [earlier.or(before), later.or(after)].into_iter().flatten();
        let apart = nearest.map(|seen_ns| seen_ns.abs_diff(one.first.aligned_ns));
        Some((one, apart.min()?))
    };
    (0..occasions.iter().map(Vec::len).sum()).filter_map(nearest_ns)
}

/// After what time at most a second packet came again, if it looks so late: either of the two may have been as slow or
/// as fast as packets usually are.
fn again_within_ns(plan: &Plan, parts: &[Leftover]) -> u64 {
    let apart = joints(parts).map(|(up, down)| {
        let direction = parts
            .first()
            .map_or(Direction::Forward, |one| one.direction);
        let band = plan.band(direction, up.point, down.point);
        let jitter_ns = band.map_or(0, |band| band.hi_ns.abs_diff(band.lo_ns));
        down.aligned_ns
            .abs_diff(up.aligned_ns)
            .saturating_add(jitter_ns)
    });
    apart.max().unwrap_or(0)
}

/// How much later than usual a packet would be, or earlier, of which these are the parts.
fn lateness_ns(parts: &[Leftover]) -> u64 {
    let apart = joints(parts).map(|(up, down)| down.aligned_ns.abs_diff(up.aligned_ns));
    apart.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::evidence::Evidence;
    use crate::matching::observation::Observation;
    use crate::matching::streams::Lost;
    use crate::matching::testing::{observation, path};
    use crate::plan::Direction;
    use std::ops::Range;

    const S_NS: i64 = 1_000_000_000;

    /// The second point of a path misses one in a hundred packets.
    fn plan() -> Plan {
        let mut plan = path(2);
        for band in plan.bands.iter_mut().flatten() {
            band.phantom_frac = 0.01;
        }
        plan
    }

    fn part(key: u64, flow: u64, point: u16) -> Leftover {
        let one = Observation {
            flow,
            ..observation(key, point, i64::from(point) * 1_000_000)
        };
        let lost = (point == 0).then(Lost::default);
        Leftover::of(&[one], Direction::Forward, lost, false).unwrap()
    }

    fn end(key: u64, flow: u64, lost: Option<Lost>) -> Kinship {
        Kinship::Alone(Leftover {
            lost,
            ..part(key, flow, 0)
        })
    }

    fn slow(key: u64, flow: u64) -> Kinship {
        Kinship::Slow(vec![part(key, flow, 0), part(key, flow, 1)])
    }

    /// Packets that come once, of a flow that has many of them.
    const MANY: f64 = 1e5;

    /// All is asked about these, of flows of which so many other packets were decided.
    fn asked(n_decided: f64, kinships: &[Kinship]) -> Odds {
        let key = |of: &&Kinship| match of {
            Kinship::Slow(parts) | Kinship::Reversed(parts) | Kinship::Moved(parts) => {
                parts.first().map(|one| one.first.key)
            }
            Kinship::Alone(one) | Kinship::Several { one, .. } => Some(one.first.key),
        };
        let mut in_order: Vec<&Kinship> = kinships.iter().collect();
        in_order.sort_by_key(key);
        let mut odds = Odds::new(0);
        for one in in_order {
            odds.ask(one);
        }
        odds.settle_asked();
        for of_flow in odds.of_flow.values_mut() {
            of_flow.decided = n_decided;
        }
        odds
    }

    /// What is known of these, of which some packet IDs were decided.
    fn odds(kinships: &[Kinship], decided: &[u64]) -> Odds {
        let mut odds = asked(MANY, kinships);
        for key in decided {
            odds.note_decided(&Decided {
                key: *key,
                flow_way: 0,
                aligned_ns: 0,
            });
        }
        odds.settle_others();
        for one in kinships {
            odds.note(&plan(), one);
        }
        odds
    }

    fn is_slow(odds: &Odds, key: u64, flow: u64) -> bool {
        let Kinship::Slow(parts) = slow(key, flow) else {
            return false;
        };
        odds.doubt(&plan(), &parts).is_some()
    }

    #[test]
    fn a_slow_packet_among_losses_that_never_come_again_is_one() {
        let mut all: Vec<Kinship> = (0..100)
            .map(|key| Kinship::Alone(part(key, 7, 0)))
            .collect();
        all.push(slow(1000, 7));
        assert!(is_slow(&odds(&all, &[]), 1000, 7));
        assert!(!is_slow(&odds(&all, &[1000]), 1000, 7), "it was seen again");
    }

    #[test]
    fn where_losses_come_again_one_that_was_missed_looks_slow() {
        let mut all: Vec<Kinship> = (0..100)
            .map(|key| Kinship::Alone(part(key, 7, 0)))
            .collect();
        all.push(slow(1000, 7));
        let again: Vec<u64> = (0..50).collect();
        assert!(!is_slow(&odds(&all, &again), 1000, 7));
    }

    #[test]
    fn of_a_flow_whose_losses_come_again_a_point_may_have_missed_one_for_the_first_time() {
        let lost = Some(Lost::default());
        let mut all: Vec<Kinship> = (0..250).map(|key| end(key, 7, lost)).collect();
        all.extend((1000..1008).map(|key| slow(key, 7)));
        let doubt = |again: &[u64], n_decided: f64| {
            let mut odds = odds(&all, again);
            for of_flow in odds.of_flow.values_mut() {
                of_flow.decided = n_decided;
            }
            let Kinship::Slow(parts) = slow(1000, 7) else {
                return None;
            };
            odds.doubt(&path(2), &parts)
        };
        let again: Vec<u64> = (0..250).collect();
        assert_eq!(doubt(&again, 250.0), None, "one in 250 may be missed");
        assert!(doubt(&again, MANY).is_some(), "none of many was missed");
        assert!(
            doubt(&[], 250.0).is_some(),
            "what was lost never came again"
        );
    }

    /// Whether a packet late by 1 ms is slow, where some packet IDs were decided after so long.
    fn is_slow_if(again: Range<u64>, again_ns: i64) -> bool {
        let mut all: Vec<Kinship> = (0..100)
            .map(|key| end(key, 7, Some(Lost::default())))
            .collect();
        all.extend((1000..1020).map(|key| slow(key, 7)));
        let mut odds = asked(0.0, &all);
        for key in again {
            odds.note_decided(&Decided {
                key,
                flow_way: part(0, 7, 0).flow_way(),
                aligned_ns: again_ns,
            });
        }
        odds.settle_others();
        for one in &all {
            odds.note(&plan(), one);
        }
        is_slow(&odds, 1000, 7)
    }

    #[test]
    fn losses_that_come_again_much_later_than_a_packet_is_late_do_not_look_like_it() {
        assert!(is_slow_if(0..50, S_NS) && is_slow_if(0..50, -S_NS));
        assert!(!is_slow_if(0..50, 2_000_000), "it is late by 1 ms");
        let mut jittery = plan();
        jittery.bands[0][1].hi_ns = 3_000_000;
        let parts = [part(0, 7, 0), part(0, 7, 1)];
        let within_ns = [plan(), jittery].map(|plan| again_within_ns(&plan, &parts));
        let [least_ns, most_ns] = within_ns.map(|ns| ns - lateness_ns(&parts));
        assert!(
            least_ns < 3_000_000 && most_ns >= 3_000_000,
            "as jittery as it is late"
        );
    }

    #[test]
    fn a_packet_that_comes_again_much_later_may_be_slow() {
        assert!(is_slow_if(1000..3000, S_NS) && is_slow_if(1000..3000, -S_NS));
        assert!(!is_slow_if(1000..3000, 1_500_000), "it is late by 1 ms");
        assert!(
            !is_slow_if(1000..1020, S_NS),
            "of so few, a point may miss some"
        );
        assert!(
            !is_slow_if(0..3000, 2_050_000),
            "losses come again soon after"
        );
    }

    #[test]
    fn other_flows_count_where_little_is_known_of_its_own() {
        let of_flow = |flow: u64, n: u64| {
            let keys = flow * 1000..flow * 1000 + n;
            keys.map(move |key| Kinship::Alone(part(key, flow, 0)))
        };
        let scripted: Vec<u64> = (1000..1100).collect();
        let mut all: Vec<Kinship> = of_flow(1, 100).chain(of_flow(2, 1000)).collect();
        all.extend([slow(1, 2), slow(2, 3)]);
        let odds = odds(&all, &scripted);
        assert!(is_slow(&odds, 1, 2), "none of its own came again");
        assert!(!is_slow(&odds, 2, 3), "one in eleven of all did");
    }

    #[test]
    fn what_a_point_did_not_capture_shows_in_the_leftovers_themselves() {
        let is_slow = |lost: Option<Lost>| {
            let mut all: Vec<Kinship> = (0..500).map(|key| end(key, 7, lost)).collect();
            all.push(slow(1000, 7));
            // others of what begins late were decided
            let again: Vec<u64> = (0..500).filter(|_| lost.is_none()).collect();
            let Kinship::Slow(parts) = slow(1000, 7) else {
                return false;
            };
            odds(&all, &again).doubt(&path(2), &parts).is_some()
        };
        assert!(is_slow(Some(Lost::default())), "all of them were lost");
        assert!(!is_slow(None), "all of them arrived from nowhere");
    }

    /// Ends of packets that were lost and came again, one slow packet, and what cannot be told or was decided of
    /// packets that begin late; so many others of the flow were decided.
    fn begun(others: Others, n_decided: f64) -> Odds {
        let mut all: Vec<Kinship> = (0..5)
            .map(|key| end(key, 7, Some(Lost::default())))
            .collect();
        all.extend((50..55).map(|key| end(key, 7, None)));
        all.push(slow(1000, 7));
        let mut odds = asked(n_decided, &all);
        for key in (0..5).chain(50..55) {
            let seen = Decided {
                key,
                flow_way: 0,
                aligned_ns: 0,
            };
            odds.note_others(&seen, others);
        }
        odds.settle_others();
        for one in &all {
            odds.note(&plan(), one);
        }
        odds
    }

    #[test]
    fn what_comes_once_in_flows_that_repeat_themselves_is_measured() {
        let once_frac = |n_again: usize| {
            let lost = Some(Lost::default());
            let flows = 0..20;
            let keys = |flow: u64| flow * 100 + 1..flow * 100 + 11;
            let of_flow = |flow: u64| keys(flow).map(move |key| end(key, flow, lost));
            let late = flows.clone().map(|flow| slow(flow * 100, flow));
            let all: Vec<Kinship> = late.chain(flows.clone().flat_map(of_flow)).collect();
            let again = flows.flat_map(|flow| keys(flow).take(n_again));
            let mut odds = odds(&all, &again.collect::<Vec<u64>>());
            odds.settle();
            odds.once_frac
        };
        assert!((once_frac(0) - SELDOM).abs() < f64::EPSILON, "none does");
        assert!(once_frac(1) > 0.99, "each does once");
        assert!((once_frac(10) - SELDOM).abs() < f64::EPSILON, "all of it");
    }

    #[test]
    fn what_may_be_of_equal_packets_tells_nothing_of_what_points_did_not_capture() {
        let Kinship::Slow(parts) = slow(1000, 7) else {
            return;
        };
        let doubt = |others| begun(others, MANY / 5.0).doubt(&path(2), &parts);
        assert_eq!(doubt(Others::Decided), None);
        assert!(doubt(Others::Untold).is_some());
    }

    #[test]
    fn what_is_rather_slow_than_two_packets_is_likely_and_open() {
        let is_likely = |others| {
            let Kinship::Slow(parts) = slow(1000, 7) else {
                return false;
            };
            begun(others, 20.0).is_likely(&plan(), &parts)
        };
        assert!(is_likely(Others::Untold));
        assert!(
            !is_likely(Others::Decided),
            "half of what begins was missed"
        );
    }

    #[test]
    fn a_slow_packet_alone_in_its_time_is_one_though_its_packet_id_came_at_other_times() {
        let wide = Plan {
            wide_ns: 2_000_000,
            ..path(2)
        };
        let doubt = |evidence: u8| {
            let mut parts = vec![part(1000, 7, 0), part(1000, 7, 1)];
            if let Some(down) = parts.last_mut() {
                down.first.evidence.add(evidence);
            }
            let slow = Kinship::Slow(parts.clone());
            let mut odds = asked(MANY, std::slice::from_ref(&slow));
            odds.note_decided(&Decided {
                key: 1000,
                flow_way: 0,
                aligned_ns: 0,
            });
            odds.settle_others();
            odds.note(&wide, &slow);
            odds.doubt(&wide, &parts)
        };
        assert!(doubt(Evidence::SLOW_OR_TWO).is_some());
        assert_eq!(doubt(0), None, "others may lie between");
    }

    /// Whether one of so many packets is rather faster than any than one of two, of a flow of which so many that
    /// were lost came again.
    fn is_likely_fast(n: u64, n_again: u64) -> bool {
        let parts = |key| vec![part(key, 7, 0), part(key, 7, 1)];
        let mut all: Vec<Kinship> = (0..n).map(|key| Kinship::Reversed(parts(key))).collect();
        let again = 1000..1000 + n_again;
        let lost = Some(Lost::default());
        all.extend(again.clone().map(|key| end(key, 7, lost)));
        let again: Vec<u64> = again.collect();
        odds(&all, &again).is_likely_fast(&plan(), &parts(0))
    }

    #[test]
    fn more_that_seem_faster_than_any_than_come_again_uncaptured_are_packets() {
        assert!(is_likely_fast(1, 0) && is_likely_fast(4, 0));
        assert!(!is_likely_fast(1, 100), "one in a hundred was missed");
        assert!(is_likely_fast(4, 100));
        assert!(!is_likely_fast(4, 400));
    }

    #[test]
    fn of_a_packet_id_that_was_decided_at_another_time_no_part_is_faster_than_any() {
        let parts = |key| vec![part(key, 7, 0), part(key, 7, 1)];
        let all: Vec<Kinship> = (0..4).map(|key| Kinship::Reversed(parts(key))).collect();
        let odds = odds(&all, &[3]);
        assert!(odds.is_likely_fast(&plan(), &parts(0)));
        assert!(!odds.is_likely_fast(&plan(), &parts(3)));
    }

    #[test]
    fn one_that_looks_slow_is_no_evidence_that_packets_are() {
        let lost = Some(Lost::default());
        let again: Vec<u64> = (0..12).collect();
        let others = (0..2000).map(|key| end(key, 100 + key / 3, lost));
        let mut all: Vec<Kinship> = others.collect();
        all.extend((0..2).map(|key| end(3000 + key, 7, lost)));
        all.push(slow(5000, 7));
        assert!(!is_slow(&odds(&all, &again), 5000, 7));
        all.extend((0..500).map(|key| slow(6000 + key, 10_000 + key)));
        assert!(is_slow(&odds(&all, &again), 5000, 7));
    }

    #[test]
    fn pairs_in_the_order_that_causality_forbids_speak_against_the_others() {
        let mut all: Vec<Kinship> = (10..40)
            .map(|key| Kinship::Alone(part(key, 7, 0)))
            .collect();
        all.extend([slow(1, 7), slow(2, 7)]);
        assert!(is_slow(&odds(&all, &[]), 1, 7));
        all.push(Kinship::Reversed(vec![part(3, 7, 0), part(3, 7, 1)]));
        assert!(!is_slow(&odds(&all, &[]), 1, 7));
    }
}
