//! Times in which a clock was being set: how its stamps lie to those of other clocks is not known then.

use crate::base::piecewise::{OffsetStep, PiecewiseLinear};
use crate::matching::late::leftover::Leftover;
use crate::matching::late::verdict::joints;
use crate::matching::observation::Observation;
use crate::plan::Plan;
use std::ops::RangeInclusive;

/// When clocks were set, and by how much, by direction.
#[derive(Debug)]
pub(crate) struct ClockSteps([Vec<ClockStep>; 2]);

/// While the clock of a point was being set against that of the reference, some of its stamps are wrong by the
/// step.
#[derive(Clone, Debug)]
struct ClockStep {
    point: usize,
    span: RangeInclusive<i64>,
    /// What has an offset in between is wrong by less.
    between: RangeInclusive<i64>,
    by_ns: i64,
}

impl ClockSteps {
    pub(crate) fn of(plan: &Plan) -> Self {
        let [forward, reverse] = &plan.centres;
        let mut found = [vec![], vec![]];
        for (point, centres) in forward.iter().zip(reverse).enumerate() {
            let [one, other] = [centres.0, centres.1].map(|centre| steps_of(point, centre));
            // another route moves the level of one direction, or of both against each other
            let [a, b] = &mut found;
            a.extend(one.iter().filter(|step| step.is_among(&other)).cloned());
            b.extend(other.iter().filter(|step| step.is_among(&one)).cloned());
        }
        Self(found)
    }

    /// Whether leftovers, in the order of their path, lie as those of one packet of which a clock that was
    /// being set moved some stamps.
    pub(crate) fn explain(&self, plan: &Plan, parts: &[Leftover]) -> bool {
        let of_direction = |first: &Leftover| self.0.get(first.direction.index());
        let Some(steps) = parts.first().and_then(of_direction) else {
            return false;
        };
        let is_moved = |(up, down): (&Observation, &Observation)| {
            let later_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
            let between = [up, down].map(|one| usize::from(one.point));
            !plan.same_clock(up.point, down.point)
                && steps.iter().any(|step| {
                    let ends = [up.aligned_ns, down.aligned_ns];
                    step.moves(later_ns, ends) && step.is_between(between, steps)
                })
        };
        parts.len() > 1 && !steps.is_empty() && joints(parts).all(is_moved)
    }
}

impl ClockStep {
    /// Whether that much later is what the step makes of the usual time.
    fn moves(&self, later_ns: i64, ends_ns: [i64; 2]) -> bool {
        let (by_ns, later_ns) = (self.by_ns.unsigned_abs(), later_ns.unsigned_abs());
        let is_in = |span: &RangeInclusive<i64>| ends_ns.iter().any(|ns| span.contains(ns));
        let is_by_step = later_ns.abs_diff(by_ns) <= by_ns / 4;
        is_by_step && is_in(&self.span) || later_ns <= by_ns && is_in(&self.between)
    }

    /// Whether it moves one of two clocks against the other.
    fn is_between(&self, points: [usize; 2], all: &[Self]) -> bool {
        let moves = |point: usize| {
            let mut of_point = all.iter().filter(|step| step.point == point);
            of_point.any(|step| self.is_same(step))
        };
        let [one, other] = points.map(moves);
        one != other
    }

    /// Whether the other direction shows it too.
    fn is_among(&self, others: &[Self]) -> bool {
        others.iter().any(|other| self.is_same(other))
    }

    fn is_same(&self, other: &Self) -> bool {
        self.span.start() <= other.span.end()
            && other.span.start() <= self.span.end()
            && self.by_ns.abs_diff(other.by_ns) <= self.by_ns.unsigned_abs() / 10
    }
}

fn steps_of(point: usize, centre: &PiecewiseLinear) -> Vec<ClockStep> {
    let clock_step = |step: OffsetStep| {
        let moved_ns = step.by_ns.saturating_abs();
        let (first_ns, last_ns) = step.around;
        ClockStep {
            point,
            span: first_ns.saturating_sub(moved_ns)..=last_ns.saturating_add(moved_ns),
            between: step.between.0..=step.between.1,
            by_ns: step.by_ns,
        }
    };
    centre.steps().map(clock_step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};
    use crate::plan::Direction;

    const STEP_NS: i64 = 1_000_000;

    const BOTH: [i64; 2] = [-STEP_NS, -STEP_NS];

    /// Two points; by how much the level of the second moves at 10 ms, each way.
    fn plan(by_ns: [i64; 2]) -> Plan {
        let set_at = 10 * STEP_NS;
        let centre = |by_ns: i64| {
            let knots = [
                (0, 0),
                (set_at, 0),
                (set_at + 1, by_ns),
                (20 * STEP_NS, by_ns),
            ];
            PiecewiseLinear::new(&knots, 0.0)
        };
        let level = centre(0);
        Plan {
            centres: by_ns.map(|by_ns| vec![level.clone(), centre(by_ns)]),
            domain: vec![0, 1],
            ..path(2)
        }
    }

    fn is_told(by_ns: [i64; 2], (up_ns, down_ns): (i64, i64)) -> bool {
        let part = |point, ns| {
            let seen = [observation(1, point, ns)];
            Leftover::of(&seen, Direction::Forward, None, false)
        };
        let parts: Vec<_> = [part(0, up_ns), part(1, down_ns)]
            .into_iter()
            .flatten()
            .collect();
        let plan = plan(by_ns);
        ClockSteps::of(&plan).explain(&plan, &parts)
    }

    #[test]
    fn a_clock_that_is_set_moves_stamps_by_the_step_and_then_alone() {
        let at = 10 * STEP_NS;
        assert!(is_told(BOTH, (at, at - STEP_NS)));
        assert!(is_told(BOTH, (at, at + STEP_NS)), "moved either way");
        assert!(!is_told(BOTH, (at, at - 3 * STEP_NS)), "farther");
        let before = at - STEP_NS;
        assert!(
            !is_told(BOTH, (before, before + STEP_NS / 2)),
            "late, and by less"
        );
        assert!(is_told(BOTH, (before, at + 1)), "an offset in between");
        let long_before = -5 * STEP_NS;
        assert!(!is_told(BOTH, (long_before, long_before - STEP_NS)));
    }

    #[test]
    fn a_way_that_becomes_longer_sets_no_clock() {
        let at = 10 * STEP_NS;
        for by_ns in [[-STEP_NS, 0], [-STEP_NS, STEP_NS]] {
            assert!(!is_told(by_ns, (at, at - STEP_NS)));
        }
    }

    #[test]
    fn the_clock_of_the_reference_is_set_against_all_others_and_none_of_these_against_another() {
        let at = 10 * STEP_NS;
        let mut plan = plan(BOTH);
        for centres in &mut plan.centres {
            let other = centres[1].clone();
            centres.push(other);
        }
        plan.domain = vec![0, 1, 2];
        let steps = ClockSteps::of(&plan);
        let part = |point, ns| {
            let seen = [observation(1, point, ns)];
            Leftover::of(&seen, Direction::Forward, None, false).unwrap()
        };
        assert!(steps.explain(&plan, &[part(0, at), part(2, at - STEP_NS)]));
        assert!(!steps.explain(&plan, &[part(1, at), part(2, at - STEP_NS)]));
    }
}
