//! How fast packets are by the shortest route that they usually took at some time of the run.

use crate::base::piecewise::PiecewiseLinear;
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan};
use std::cell::RefCell;
use std::collections::HashMap;

/// The least of the usual delays of a run, by direction and points, of those that were asked for.
#[derive(Debug, Default)]
pub(crate) struct ShortestRoutes(RefCell<HashMap<(usize, u16, u16), i64>>);

impl ShortestRoutes {
    /// Whether a packet may have been at one point before it was at another: if it was slower than usual, or
    /// at least as fast as usual by the shortest route. Two packets that seem one, the second of
    /// which arrived first, are faster than any.
    pub(crate) fn may_follow(
        &self,
        plan: &Plan,
        direction: Direction,
        (up, down): (&Observation, &Observation),
    ) -> bool {
        if down.aligned_ns > up.aligned_ns {
            return true;
        }
        let mut known_ns = self.0.borrow_mut();
        let least_ns = *known_ns
            .entry((direction.index(), up.point, down.point))
            .or_insert_with(|| least_ns(plan, direction, (up.point, down.point)));
        let took_ns = took_ns(plan, direction, (up, down));
        took_ns > 0 && took_ns >= least_ns
    }
}

/// Whether causality allows that a packet was at one point before it was at another.
pub(crate) fn can_follow(
    plan: &Plan,
    direction: Direction,
    (up, down): (&Observation, &Observation),
) -> bool {
    took_ns(plan, direction, (up, down)) > 0
}

/// How long a packet took; between clocks that differ, a round trip of which it is one way.
fn took_ns(plan: &Plan, direction: Direction, (up, down): (&Observation, &Observation)) -> i64 {
    let ends = (up.point, down.point);
    let [sent_ns, came_ns] =
        [up, down].map(|one| without_clock_ns(plan, direction, ends, (one.point, one.t_ns)));
    came_ns.saturating_sub(sent_ns)
}

/// A time of a point, by one clock for both points; where they have none, by what packets of the other
/// direction make of it, so that a difference is a round trip.
fn without_clock_ns(
    plan: &Plan,
    direction: Direction,
    (up, down): (u16, u16),
    (point, t_ns): (u16, i64),
) -> i64 {
    if plan.same_clock(up, down) {
        t_ns
    } else {
        plan.aligned_ns(direction.turned(), point, t_ns)
    }
}

/// The least time between two points, at any time of the run, of a packet that was as fast as usual then.
fn least_ns(plan: &Plan, direction: Direction, (up, down): (u16, u16)) -> i64 {
    let beyond_ns = |way: Direction, point: u16, t_ns: i64| {
        let (here_ns, back_ns) = (
            plan.aligned_ns(way, point, t_ns),
            without_clock_ns(plan, way, (up, down), (point, t_ns)),
        );
        back_ns.saturating_sub(here_ns)
    };
    let usual_ns =
        |t_ns: i64| beyond_ns(direction, down, t_ns).saturating_sub(beyond_ns(direction, up, t_ns));
    let centres = plan.centres.get(direction.index());
    let knots_ns = [up, down].into_iter().flat_map(|point| {
        let centre = centres.and_then(|centres| centres.get(usize::from(point)));
        centre.into_iter().flat_map(PiecewiseLinear::knots_ns)
    });
    let band = plan.band(direction, up, down);
    let faster_ns = band.map_or(0, |band| band.lo_ns);
    let least_ns = knots_ns.map(usual_ns).min();
    least_ns.map_or(i64::MAX, |ns| ns.saturating_add(faster_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{BAND_NS, observation, path};

    const MS_NS: i64 = 1_000_000;

    /// Two points between which packets take 100 ms, and 40 ms from 5 s on; 100 ms back. The clock of the
    /// second is 1 s ahead.
    fn plan(domain: [u16; 2]) -> Plan {
        let line = |knots: &[(i64, i64)]| {
            let knots: Vec<_> = knots
                .iter()
                .map(|(t, ms)| (t * MS_NS, ms * MS_NS))
                .collect();
            PiecewiseLinear::new(&knots, 0.0)
        };
        let there = line(&[(0, 1_100), (5_000, 1_100), (5_001, 1_040), (9_000, 1_040)]);
        Plan {
            centres: [
                vec![line(&[(0, 0)]), there],
                vec![line(&[(0, 0)]), line(&[(0, 900), (9_000, 900)])],
            ],
            domain: domain.to_vec(),
            ..path(2)
        }
    }

    /// Whether one packet may be seen at 1 s at the first point, and so long after at the second, by its clock.
    fn follows(plan: &Plan, after_ns: i64) -> bool {
        let [up, down] = [(0, 0), (1, after_ns)].map(|(point, after_ns)| {
            let t_ns = 1_000 * MS_NS + after_ns;
            let aligned_ns = plan.aligned_ns(Direction::Forward, point, t_ns);
            Observation {
                t_ns,
                ..observation(1, point, aligned_ns)
            }
        });
        ShortestRoutes::default().may_follow(plan, Direction::Forward, (&up, &down))
    }

    #[test]
    fn a_packet_is_as_fast_as_by_the_shortest_route() {
        for domain in [[0, 1], [0, 0]] {
            let plan = plan(domain);
            assert!(follows(&plan, 1_300 * MS_NS), "late");
            assert!(follows(&plan, 1_040 * MS_NS), "as later ones");
            assert!(follows(&plan, 1_040 * MS_NS - BAND_NS));
            assert!(!follows(&plan, 1_039 * MS_NS), "faster than any");
            assert!(!follows(&plan, 500 * MS_NS));
        }
    }
}
