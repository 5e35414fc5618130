//! Times in which a point captured little or nothing of what passed it: pauses, as between two files of which one is
//! missing, bursts that a capture dropped, and frames that a mirror lost by its own numbers.

use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan, Topology};
use serde::{Deserialize, Serialize};

/// Of a point and a direction.
pub(super) type PointSide = (u16, usize);

/// Per point and direction: how many packets it saw in each moment that others saw too.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SeenThen(Vec<[Vec<u16>; 2]>);

impl SeenThen {
    #[inline]
    pub(crate) fn add(&mut self, side: PointSide, moment: u32) {
        let at = moment as usize;
        if let Some(moments) = of_side(&mut self.0, side) {
            if moments.len() <= at {
                moments.resize(at + 1, 0);
            }
            if let Some(n) = moments.get_mut(at) {
                *n = n.saturating_add(1);
            }
        }
    }

    /// Adds what another partition saw.
    pub(crate) fn merge(&mut self, other: Self) {
        for (point, both) in (0..).zip(other.0) {
            for (side, moments) in both.into_iter().enumerate() {
                let Some(own) = of_side(&mut self.0, (point, side)) else {
                    continue;
                };
                own.resize(own.len().max(moments.len()), 0);
                for (n, more) in own.iter_mut().zip(moments) {
                    *n = n.saturating_add(more);
                }
            }
        }
    }

    fn of(&self, (point, side): PointSide) -> &[u16] {
        let both = self.0.get(usize::from(point));
        let moments = both.and_then(|both| both.get(side));
        moments.map_or(&[], Vec::as_slice)
    }
}

fn of_side<T: Clone + Default>(all: &mut Vec<[T; 2]>, (point, side): PointSide) -> Option<&mut T> {
    let at = usize::from(point);
    if all.len() <= at {
        all.resize_with(at + 1, <[T; 2]>::default);
    }
    all.get_mut(at).and_then(|both| both.get_mut(side))
}

/// How much more likely, as a logarithm, what a point saw and missed is where it pauses than where it misses the usual
/// share. Where it pauses, it misses that much and half of the rest, or more.
struct PauseEvidence {
    of_missed: f64,
    of_seen: f64,
}

impl PauseEvidence {
    /// What is as much more likely is no accident: there are many times.
    const ENOUGH: f64 = 20.0;

    fn new(missed_frac: f64) -> Self {
        let then_frac = f64::midpoint(1.0, missed_frac);
        Self {
            of_missed: (then_frac / missed_frac).ln(),
            of_seen: 0.5_f64.ln(),
        }
    }

    fn of(&self, n_missed: f64, n_seen: u16) -> f64 {
        n_missed * self.of_missed + f64::from(n_seen) * self.of_seen
    }

    /// The spans, first and last moment, that have enough of it: from where it begins to add up to where it is most.
    fn spans(&self, missed: &[f64], seen: &[u16]) -> Vec<(usize, usize)> {
        let (mut found, mut span, mut sum, mut most) = (Vec::new(), (0, 0), 0.0_f64, 0.0);
        for (moment, n_missed) in missed.iter().enumerate() {
            if sum <= 0.0 {
                (span, sum, most) = ((moment, moment), 0.0, 0.0);
            }
            sum += self.of(*n_missed, seen.get(moment).copied().unwrap_or(0));
            if sum > most {
                (span.1, most) = (moment, sum);
            }
            let is_last = moment + 1 == missed.len();
            if sum <= 0.0 || sum < most - Self::ENOUGH || is_last {
                found.extend((most > Self::ENOUGH).then_some(span));
                sum = 0.0;
            }
        }
        found
    }
}

/// In which of these moments a point has seen some packets more.
fn awake(seen: &[u16], mut moments: impl Iterator<Item = usize>) -> Option<usize> {
    const SOME: u16 = 8;
    let mut n_seen = 0_u16;
    moments.find(|moment| {
        n_seen = n_seen.saturating_add(seen.get(*moment).copied().unwrap_or(0));
        n_seen >= SOME
    })
}

/// Per point and direction: from which moment to which it paused, ascending. It began and ended within these two.
#[derive(Debug, Default)]
pub(crate) struct Pauses(Vec<[Vec<(u32, u32)>; 2]>);

impl Pauses {
    /// Finds the pauses of a point in one direction: of how many packets it missed in each moment, and the share that
    /// it misses of all.
    pub(crate) fn find(
        &mut self,
        seen_then: &SeenThen,
        side: PointSide,
        missed: &[f64],
        missed_frac: f64,
    ) {
        let seen = seen_then.of(side);
        let with_ends = |(first, last): (usize, usize)| {
            let from = awake(seen, (0..first).rev()).unwrap_or(0);
            let to = awake(seen, last + 1..seen.len());
            let to = to.and_then(|to| u32::try_from(to).ok());
            (u32::try_from(from).unwrap_or(0), to.unwrap_or(u32::MAX))
        };
        if let Some(found) = of_side(&mut self.0, side) {
            let spans = PauseEvidence::new(missed_frac).spans(missed, seen);
            *found = spans.into_iter().map(with_ends).collect();
        }
    }

    pub(crate) fn has(&self, (point, side): PointSide, moment: u32) -> bool {
        let both = self.0.get(usize::from(point));
        let pauses = both.and_then(|both| both.get(side));
        pauses.is_some_and(|pauses| {
            let at = pauses.partition_point(|(_, to)| *to < moment);
            pauses.get(at).is_some_and(|(from, _)| *from <= moment)
        })
    }
}

/// The only point that leads on, where the path ends, if frames of its mirror are missing then.
pub(crate) fn unmirrored_at(
    plan: &Plan,
    topology: &Topology,
    last: &Observation,
    direction: Direction,
) -> Option<u16> {
    if plan.mirror_gaps.iter().all(|(gaps, _)| gaps.is_empty()) {
        return None;
    }
    let along = topology.along(direction);
    let down = along.onward(last.point).next()?;
    let is_only = along.onward(last.point).all(|other| other == down);
    let is_end = is_only && along.onward(down).next().is_none();
    let band = plan.band(direction, last.point, down)?;
    let (gaps, _) = plan.mirror_gaps.get(usize::from(down))?;
    let aligned_ns = |t_ns: i64| plan.aligned_ns(direction, down, t_ns);
    let earliest_ns = last.aligned_ns.saturating_add(band.lo_ns);
    let latest_ns = last.aligned_ns.saturating_add(band.hi_ns);
    let at = gaps.partition_point(|(_, after_ns)| aligned_ns(*after_ns) < earliest_ns);
    let is_missing = gaps
        .get(at)
        .is_some_and(|(before_ns, _)| aligned_ns(*before_ns) <= latest_ns);
    (is_end && is_missing).then_some(down)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: PointSide = (1, 1);
    const N: u32 = 300;

    /// When it paused that saw so many in each moment, and of which others saw so many before it and after it.
    fn paused(n_seen: impl Fn(u32) -> u16, n_passed: u16, missed_frac: f64) -> Vec<u32> {
        let mut seen = SeenThen::default();
        let mut missed = vec![0.0; N as usize];
        for moment in 0..N {
            let n = n_seen(moment);
            (0..n).for_each(|_| seen.add(SIDE, moment));
            missed[moment as usize] = f64::from(n_passed - n);
        }
        let mut pauses = Pauses::default();
        pauses.find(&seen, SIDE, &missed, missed_frac);
        assert!(!(0..N).any(|moment| pauses.has((1, 0), moment) || pauses.has((2, 1), moment)));
        (0..N).filter(|moment| pauses.has(SIDE, *moment)).collect()
    }

    fn but(from: u32, to: u32, n: u16, then: u16) -> impl Fn(u32) -> u16 {
        move |moment| {
            if (from..to).contains(&moment) {
                then
            } else {
                n
            }
        }
    }

    fn span(from: u32, to: u32) -> Vec<u32> {
        (from..=to).collect()
    }

    #[test]
    fn a_point_pauses_where_it_has_nothing_of_many_packets() {
        assert_eq!(paused(but(10, 13, 5, 0), 5, 0.1), span(8, 14));
        assert_eq!(paused(but(60, 200, 1, 0), 1, 0.1), span(52, 207));
        assert_eq!(paused(but(290, N, 5, 0), 5, 0.1), span(288, N - 1));
        assert_eq!(paused(but(0, 5, 5, 0), 5, 0.1), span(0, 6));
        let both = |moment| but(10, 13, 5, 0)(moment).min(but(128, 131, 5, 0)(moment));
        assert_eq!(paused(both, 5, 0.1), [span(8, 14), span(126, 132)].concat());
        let some = paused(but(10, 12, 5, 0), 5, 0.1);
        assert!(some.is_empty(), "it may miss ten");
        assert!(
            paused(but(10, 13, 20, 0), 20, 0.99).is_empty(),
            "it samples"
        );
        assert!(paused(but(0, 0, 50, 0), 50, 0.1).is_empty());
        let none = paused(but(10, 13, 0, 0), 0, 0.0);
        assert!(none.is_empty(), "nothing passed");
    }

    #[test]
    fn a_point_pauses_where_it_has_little_of_many_packets() {
        assert_eq!(paused(but(10, 30, 8, 2), 8, 0.05), span(9, 30));
        let some = paused(but(10, 30, 8, 7), 8, 0.05);
        assert!(some.is_empty(), "it has most");
        let usual = paused(|moment| 1 + u16::try_from(moment % 2).unwrap(), 6, 0.75);
        assert!(usual.is_empty(), "it samples");
    }

    #[test]
    fn parts_of_what_points_saw_add_up() {
        let (mut one, mut other) = (SeenThen::default(), SeenThen::default());
        one.add((0, 0), 1);
        other.add((0, 0), 1);
        other.add((0, 0), 3);
        other.add(SIDE, 0);
        one.merge(other);
        assert_eq!(one.of((0, 0)), [0, 2, 0, 1]);
        assert_eq!((one.of(SIDE), one.of((0, 1))), (&[1][..], &[][..]));
    }
}
