//! Times in which a clock was being set: how its stamps lie to those of other clocks is not known then.

use crate::base::piecewise::PiecewiseLinear;
use crate::matching::late::leftover::Leftover;
use crate::matching::late::verdict::joints;
use crate::matching::observation::Observation;
use crate::plan::Plan;
use std::ops::RangeInclusive;

/// When clocks were set, and by how much, by direction.
#[derive(Debug)]
pub(crate) struct ClockSteps([Vec<ClockStep>; 2]);

/// A stamp of the clock that was set may lie so far from where it belongs.
#[derive(Clone, Debug)]
struct ClockStep {
    span: RangeInclusive<i64>,
    by_ns: u64,
}

impl ClockSteps {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut found = [vec![], vec![]];
        let [forward, reverse] = &plan.centres;
        for centres in forward.iter().zip(reverse) {
            let [one, other] = [centres.0, centres.1].map(steps_of);
            // another route moves the level of one direction
            let [a, b] = &mut found;
            a.extend(one.iter().filter(|step| step.is_among(&other)).cloned());
            b.extend(other.iter().filter(|step| step.is_among(&one)).cloned());
        }
        Self(found)
    }

    /// Whether leftovers, in the order of their path, may be one packet, of which a clock that was being set
    /// moved some stamps.
    pub(crate) fn explain(&self, parts: &[Leftover]) -> bool {
        let Some(first) = parts.first() else {
            return false;
        };
        let steps = self.0.get(first.direction.index());
        let within = |step: &ClockStep| {
            let moved = |(up, down): (&Observation, &Observation)| {
                down.aligned_ns.abs_diff(up.aligned_ns) <= step.by_ns.saturating_mul(2)
            };
            let is_then = |one: &Observation| step.span.contains(&one.aligned_ns);
            joints(parts).all(|two| moved(two) && (is_then(two.0) || is_then(two.1)))
        };
        parts.len() > 1 && steps.is_some_and(|steps| steps.iter().any(within))
    }
}

impl ClockStep {
    /// Whether the other direction shows it too.
    fn is_among(&self, others: &[Self]) -> bool {
        let is_same = |other: &Self| {
            self.span.start() <= other.span.end()
                && other.span.start() <= self.span.end()
                && self.by_ns.abs_diff(other.by_ns) <= self.by_ns / 10
        };
        others.iter().any(is_same)
    }
}

fn steps_of(centre: &PiecewiseLinear) -> Vec<ClockStep> {
    let step = |((first_ns, last_ns), by_ns): ((i64, i64), u64)| ClockStep {
        span: first_ns.saturating_sub_unsigned(by_ns)..=last_ns.saturating_add_unsigned(by_ns),
        by_ns,
    };
    centre.steps().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};
    use crate::plan::Direction;

    const STEP_NS: i64 = 1_000_000;

    /// Two points; the clock of the second was set back at 10 ms, or the way there became longer.
    fn steps(both: bool) -> ClockSteps {
        let level = PiecewiseLinear::new(&[(0, 0)], 0.0);
        let set_at = 10 * STEP_NS;
        let knots = [
            (0, 0),
            (set_at, 0),
            (set_at + 1, -STEP_NS),
            (20 * STEP_NS, -STEP_NS),
        ];
        let set = PiecewiseLinear::new(&knots, 0.0);
        let back = if both { set.clone() } else { level.clone() };
        ClockSteps::of(&Plan {
            centres: [vec![level.clone(), set], vec![level, back]],
            ..path(2)
        })
    }

    fn parts(up_ns: i64, down_ns: i64) -> Vec<Leftover> {
        let part = |point, ns| {
            Leftover::of(
                &[observation(1, point, ns)],
                Direction::Forward,
                None,
                false,
            )
        };
        [part(0, up_ns), part(1, down_ns)]
            .into_iter()
            .flatten()
            .collect()
    }

    #[test]
    fn a_clock_that_is_set_moves_stamps_by_the_step_and_then_alone() {
        let at = 10 * STEP_NS;
        assert!(steps(true).explain(&parts(at, at - STEP_NS)));
        assert!(
            steps(true).explain(&parts(at, at + STEP_NS)),
            "moved either way"
        );
        assert!(
            !steps(true).explain(&parts(at, at - 3 * STEP_NS)),
            "farther"
        );
        let long_before = -5 * STEP_NS;
        assert!(!steps(true).explain(&parts(long_before, long_before - STEP_NS)));
        assert!(!steps(true).explain(&parts(at, at).split_off(1)), "alone");
    }

    #[test]
    fn a_way_that_becomes_longer_sets_no_clock() {
        let at = 10 * STEP_NS;
        assert!(!steps(false).explain(&parts(at, at - STEP_NS)));
    }
}
