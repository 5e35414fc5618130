//! Copies: frames of one packet that one point saw more than once.

pub(crate) mod doubling;
pub(crate) mod resent;

use crate::matching::resolve::copies::resent::is_on_its_own_way;

use crate::matching::observation::{FrameId, Observation};
use crate::matching::resolve::copies::resent::is_resend;
use crate::plan::Copies;
use std::collections::HashMap;

/// Copies of a frame at one point lie within this (docs/method/match.md, copies).
pub(crate) const COPIES_WITHIN_NS: i64 = 2_000_000;

/// A point that sees that share of its packets twice sees all of them so.
pub(crate) const NEARLY_ALL: f64 = 0.9;
/// A packet has no more copies than this.
const MOST_COPIES: i64 = 4;
/// More frames than this that are equal and numbered, at two points, are numbers that come around.
const MOST_EQUAL: usize = 2;
/// A copy is one of the last so many that are equal to it.
const MOST_LOOKED_AT: usize = 8;

/// What tells copies from packets that repeat themselves.
pub(crate) struct CopyRules<'a> {
    /// How often the point of some observations sees a packet more than once.
    pub(crate) copies: &'a dyn Fn(&[Observation]) -> Copies,
    /// Whether two observations lie as those of one packet do.
    pub(crate) fits: &'a dyn Fn(&Observation, &Observation) -> bool,
    /// Where on the way of these packets an observation is.
    pub(crate) place: &'a dyn Fn(&Observation) -> i64,
    /// Packets of this flow are known to be equal to each other.
    pub(crate) repeats: bool,
}

/// Later copies, each with the frame it is a copy of.
#[derive(Debug, Default)]
pub(crate) struct Folded(Vec<(FrameId, Observation)>);

impl Folded {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Those of these observations alone.
    pub(crate) fn of(&self, observations: &[Observation]) -> Self {
        let is_one = |frame: FrameId| {
            observations
                .iter()
                .any(|observation| observation.frame == frame)
        };
        let mine = self.0.iter().filter(|(original, _)| is_one(*original));
        Self(mine.copied().collect())
    }

    /// The copies of one observation.
    pub(crate) fn copies_of(&self, original: &Observation) -> impl Iterator<Item = &Observation> {
        let start = self.0.partition_point(|(frame, _)| *frame < original.frame);
        let rest = self.0.get(start..).unwrap_or(&[]).iter();
        let frame = original.frame;
        rest.take_while(move |(of, _)| *of == frame)
            .map(|(_, copy)| copy)
    }

    /// Of one packet's observations the first copy where there is one, which the original is then a copy of.
    pub(crate) fn seconds_of(&self, kept: &[Observation]) -> (Vec<Observation>, Self) {
        let mut folded = Vec::new();
        let second_of = |original: &Observation| {
            let mut copies = self.copies_of(original);
            let second = *copies.next().unwrap_or(original);
            let others = copies.chain((second.frame != original.frame).then_some(original));
            folded.extend(others.map(|copy| (second.frame, *copy)));
            second
        };
        let mut seconds: Vec<Observation> = kept.iter().map(second_of).collect();
        seconds.sort_by_key(|observation| (observation.aligned_ns, observation.frame));
        folded.sort_unstable_by_key(|(original, copy)| (*original, copy.frame));
        (seconds, Self(folded))
    }

    /// Copies of a packet at the end of a segment beyond those at its beginning.
    pub(crate) fn n_made_between(&self, up: &Observation, down: &Observation) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let n_at = |observation| self.copies_of(observation).count() as u64;
        n_at(down).saturating_sub(n_at(up))
    }

    /// Takes later copies out of a run and returns the rest in order of time. "Same bytes soon after"
    /// alone is not a copy. What is: the second of two that lie as copies do, at a point that sees
    /// nearly everything twice; a frame that is equal to the byte and numbered, unless another point
    /// saw it too, for numbers come around; and a packet that some point saw once and none saw far
    /// apart, unless its flow `repeats` itself. None is a resend after a loss, which is where the
    /// packet seen once elsewhere `fits`, while the first is not.
    pub(crate) fn fold(&mut self, run: &[Observation], rules: &CopyRules<'_>) -> Vec<Observation> {
        let mut by_point: Vec<Observation> = run.to_vec();
        by_point.sort_by_cached_key(|observation| {
            (observation.point, observation.t_ns, observation.frame)
        });
        let at_points = by_point.chunk_by(|a, b| a.point == b.point);
        let mut left = Vec::with_capacity(run.len());
        for observations in at_points {
            self.take_seconds(observations, (rules.copies)(observations), &mut left);
        }
        drop(by_point); // of many equal packets each list is large
        let points = || left.chunk_by(|a, b| a.point == b.point);
        let is_one_packet = !rules.repeats
            && points().any(|observations| observations.len() == 1)
            && points().all(|observations| is_within(observations, (rules.copies)(observations)))
            && !points().any(|one| points().any(|other| is_resend(one, other, rules.fits)));
        let n_crowded = points()
            .filter(|observations| observations.len() > MOST_EQUAL)
            .count();
        let is_numbered = n_crowded < 2;
        let mut kept: Vec<Observation> = Vec::with_capacity(left.len());
        for observations in points() {
            match observations {
                _ if is_one_packet => self.take_close(observations, &mut kept),
                [_, _, ..] if is_numbered => self.take_same(observations, &left, rules, &mut kept),
                _ => kept.extend(observations),
            }
        }
        self.0
            .sort_unstable_by_key(|(original, copy)| (*original, copy.frame));
        drop(left);
        // stable, for it is in order at each point: such runs need only be merged
        kept.sort_by_key(|observation| (observation.aligned_ns, observation.frame));
        kept
    }

    /// Of one packet's observations at a point, those close to the one that is kept before them.
    fn take_close(&mut self, observations: &[Observation], kept: &mut Vec<Observation>) {
        let mut original: Option<Observation> = None;
        for observation in observations {
            let is_copy = |original: &Observation| {
                is_close(original, observation) && original.may_be(observation)
            };
            if let Some(original) = original.filter(is_copy) {
                self.0.push((original.frame, *observation));
            } else {
                original = Some(*observation);
                kept.push(*observation);
            }
        }
    }

    /// Of the observations at a point, those that are equal to the byte to one close before them; of many
    /// equal ones the last few are looked at.
    fn take_same(
        &mut self,
        observations: &[Observation],
        all: &[Observation],
        rules: &CopyRules<'_>,
        kept: &mut Vec<Observation>,
    ) {
        let here = observations.first().map(|first| first.point);
        let elsewhere = all.iter().filter(|one| Some(one.point) != here);
        let elsewhere: Vec<Observation> = elsewhere.copied().collect();
        let entry = all.iter().map(rules.place).min();
        let mut of_tag: HashMap<u32, Vec<Observation>> = HashMap::new();
        for observation in observations {
            let same = of_tag.entry(observation.copy_tag).or_default();
            let near = same.iter().rev().take(MOST_LOOKED_AT);
            let mut near = near.take_while(|original| is_close(original, observation));
            let is_copy = |original: &Observation| {
                let is_packet =
                    is_on_its_own_way(original, observation, (&elsewhere, entry), rules);
                observation.copy_tag != 0 && !is_packet && original.may_be(observation)
            };
            if let Some(original) = near.find(|original| is_copy(original)) {
                self.0.push((original.frame, *observation));
            } else {
                same.push(*observation);
                kept.push(*observation);
            }
        }
    }

    /// Of a point that sees nearly everything twice: the second observation of each two that lie as a copy
    /// does and that have no other to be a copy of, or to be copied.
    fn take_seconds(
        &mut self,
        observations: &[Observation],
        copies: Copies,
        left: &mut Vec<Observation>,
    ) {
        if copies.copied_frac < NEARLY_ALL || observations.len() < 2 {
            return left.extend(observations);
        }
        let mut is_copy = vec![false; observations.len()];
        for (at, observation) in observations.iter().enumerate() {
            let original = match firsts_of(at, observations, &is_copy, copies).as_slice() {
                [first] if firsts_of(*first, observations, &is_copy, copies).is_empty() => {
                    Some(*first)
                }
                _ => None,
            };
            let original =
                original.filter(|first| second_of(*first, observations, copies) == Some(at));
            if let Some(original) = original.and_then(|first| observations.get(first)) {
                let here = is_copy.iter_mut().skip(at).take(1);
                here.for_each(|flag| *flag = true);
                self.0.push((original.frame, *observation));
            } else {
                left.push(*observation);
            }
        }
    }
}

fn gap_ns(one: &Observation, other: &Observation) -> i64 {
    other.t_ns.saturating_sub(one.t_ns)
}

/// Of the observations before one that are no copies themselves, up to two that it may be a copy of; all are
/// in order of time.
fn firsts_of(
    at: usize,
    observations: &[Observation],
    is_copy: &[bool],
    copies: Copies,
) -> Vec<usize> {
    let Some((copy, before)) = observations.get(at).zip(observations.get(..at)) else {
        return Vec::new();
    };
    let from = before.partition_point(|one| gap_ns(one, copy) > copies.hi_ns);
    let to = before.partition_point(|one| gap_ns(one, copy) >= copies.lo_ns);
    let is_first = |first: &usize| is_copy.get(*first) == Some(&false);
    (from..to).rev().filter(is_first).take(2).collect()
}

/// The only one after an observation that may be a copy of it.
fn second_of(at: usize, observations: &[Observation], copies: Copies) -> Option<usize> {
    let (original, after) = observations.get(at).zip(observations.get(at + 1..))?;
    let from = after.partition_point(|one| gap_ns(original, one) < copies.lo_ns);
    let second = after.get(from..)?.iter().take(2);
    let mut second = second.take_while(|one| gap_ns(original, one) <= copies.hi_ns);
    (second.next().is_some() && second.next().is_none()).then_some(at + 1 + from)
}

/// All within what copies of the first take.
fn is_within(observations: &[Observation], copies: Copies) -> bool {
    let [first, later @ ..] = observations else {
        return true;
    };
    let gap_ns = |one: &Observation| one.t_ns.saturating_sub(first.t_ns);
    let most_ns = MOST_COPIES
        .saturating_mul(copies.hi_ns)
        .min(COPIES_WITHIN_NS);
    later.is_empty() || copies.copied_frac > 0.0 && later.iter().all(|one| gap_ns(one) <= most_ns)
}

fn is_close(original: &Observation, copy: &Observation) -> bool {
    copy.t_ns.saturating_sub(original.t_ns) <= COPIES_WITHIN_NS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{SOME_COPIES, observation};

    const US: i64 = 1000;

    fn rules(fits: &dyn Fn(&Observation, &Observation) -> bool) -> CopyRules<'_> {
        CopyRules {
            copies: &|_| SOME_COPIES,
            fits,
            place: &|observation| observation.point.into(),
            repeats: false,
        }
    }

    fn fold(run: &[Observation]) -> (Vec<i64>, Vec<(i64, i64)>) {
        let mut folded = Folded::default();
        let kept = folded.fold(run, &rules(&|_, _| true));
        let copies = kept
            .iter()
            .flat_map(|one| folded.copies_of(one).map(|copy| (one.t_ns, copy.t_ns)))
            .collect::<Vec<_>>();
        assert_eq!(kept.len() + copies.len(), run.len());
        (kept.iter().map(|one| one.t_ns).collect(), copies)
    }

    #[test]
    fn what_another_point_saw_once_is_one_packet() {
        let run = [
            observation(1, 0, 0),
            observation(1, 1, 10 * US),
            observation(1, 1, 30 * US),
            observation(1, 1, 35 * US),
        ];
        let (kept, copies) = fold(&run);
        assert_eq!(kept, [0, 10 * US]);
        assert_eq!(copies, [(10 * US, 30 * US), (10 * US, 35 * US)]);
    }

    #[test]
    fn the_same_bytes_soon_after_are_no_copy() {
        let run = [
            observation(1, 0, 0),
            observation(1, 0, 34 * US),
            observation(1, 1, 9 * US),
            observation(1, 1, 43 * US),
        ];
        assert_eq!(fold(&run).1, []);
    }

    #[test]
    fn what_recurs_far_apart_is_no_copy() {
        let run = [
            observation(1, 0, 0),
            observation(1, 1, 9 * US),
            observation(1, 1, 9 * US + COPIES_WITHIN_NS + 1),
        ];
        assert_eq!(fold(&run).1, []);
        let run = [
            observation(1, 0, 0),
            observation(1, 1, 9 * US),
            observation(1, 1, 9 * US + COPIES_WITHIN_NS),
        ];
        assert_eq!(fold(&run).1.len(), 1);
    }

    #[test]
    fn numbered_frames_equal_to_the_byte_are_copies() {
        let tagged = |point, t_ns, copy_tag| Observation {
            copy_tag,
            ..observation(1, point, t_ns)
        };
        let run = [
            tagged(0, 0, 5),
            tagged(0, 3 * US, 6),
            tagged(0, 7 * US, 5),
            tagged(0, 9 * US, 6),
        ];
        let (kept, copies) = fold(&run);
        assert_eq!(kept, [0, 3 * US]);
        assert_eq!(copies, [(0, 7 * US), (3 * US, 9 * US)]);
        let unnumbered = [tagged(0, 0, 0), tagged(0, 3 * US, 0)];
        assert_eq!(fold(&unnumbered).1, []);
    }

    #[test]
    fn extreme_stamps_do_not_overflow() {
        let (kept, copies) = fold(&[
            observation(1, 0, i64::MIN),
            observation(1, 0, i64::MAX),
            observation(1, 1, 0),
        ]);
        assert_eq!((kept.len(), copies.len()), (3, 0));
    }
}
