//! Packets that arrive before they left, between points that share a clock, with the frames that show
//! it best.

use crate::matching::observation::FrameId;
use serde::{Deserialize, Serialize};

use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use crate::plan::Plan;

/// The packet that arrives earliest of all before it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Early {
    /// Arrival less departure, negative.
    pub latency_ns: i64,
    /// Where it left.
    pub up: FrameId,
    /// Where it arrived.
    pub down: FrameId,
}

/// By upstream and downstream point.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Earliest(HashedMap<Early>);

impl Earliest {
    /// Looks at two observations of a packet, one after the other.
    #[inline]
    pub(crate) fn note(&mut self, plan: &Plan, up: &Observation, down: &Observation) {
        if down.t_ns < up.t_ns && plan.same_clock(up.point, down.point) {
            let early = Early {
                latency_ns: down.t_ns.saturating_sub(up.t_ns),
                up: up.frame,
                down: down.frame,
            };
            self.join(key(up.point, down.point), early);
        }
    }

    fn join(&mut self, key: u64, early: Early) {
        let known = self.0.entry(key).or_insert(early);
        *known = early.min(*known);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (key, early) in other.0 {
            self.join(key, early);
        }
    }

    /// Upstream and downstream point, and what was found between them.
    pub fn all(&self) -> impl Iterator<Item = (u64, u64, Early)> {
        let mut found: Vec<_> = self.0.iter().collect();
        found.sort_unstable_by_key(|(key, _)| **key);
        let found = found.into_iter();
        found.map(|(key, early)| (key >> 16, key & 0xffff, *early))
    }

    #[cfg(test)]
    fn between(&self, up: u16, down: u16) -> Option<Early> {
        self.0.get(&key(up, down)).copied()
    }
}

fn key(up: u16, down: u16) -> u64 {
    u64::from(up) << 16 | u64::from(down)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};

    fn noted(plan: &Plan, pairs: &[(i64, i64)]) -> Earliest {
        let mut earliest = Earliest::default();
        for (up_ns, down_ns) in pairs {
            earliest.note(
                plan,
                &observation(1, 0, *up_ns),
                &observation(1, 1, *down_ns),
            );
        }
        earliest
    }

    fn early(up_ns: i64, down_ns: i64) -> Early {
        Early {
            latency_ns: down_ns - up_ns,
            up: observation(1, 0, up_ns).frame,
            down: observation(1, 1, down_ns).frame,
        }
    }

    #[test]
    fn the_worst_of_those_that_arrive_before_they_left_is_kept() {
        let plan = path(2);
        let mut one = noted(&plan, &[(50, 60), (50, 10), (50, 30)]);
        assert_eq!(one.between(0, 1), Some(early(50, 10)));
        assert_eq!(one.between(1, 0), None);
        one.merge(noted(&plan, &[(90, 20)]));
        one.merge(noted(&plan, &[(90, 40)]));
        assert_eq!(one.between(0, 1), Some(early(90, 20)));
    }

    #[test]
    fn between_clocks_that_are_apart_it_says_nothing() {
        let mut plan = path(2);
        assert_eq!(noted(&plan, &[(50, 60)]).between(0, 1), None);
        plan.domain = vec![0, 1];
        assert_eq!(noted(&plan, &[(50, 10)]).between(0, 1), None);
    }

    #[test]
    fn what_takes_no_time_is_not_early() {
        assert_eq!(noted(&path(2), &[(50, 50)]).between(0, 1), None);
    }
}
