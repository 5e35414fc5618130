//! Observations of a packet ID that are alone within the window: one packet, unless what is later than the
//! usual is as well explained by a loss, and a repetition that no point before captured.
//!
//! How often what was lost is sent again nobody knows before the end of the run. Here it is taken to be
//! always; where that leaves a doubt, the odds of late packets decide, for which it is counted.

use crate::matching::evidence::Evidence;
use crate::matching::observation::Observation;
use crate::matching::resolve::posterior::{LEAST_LOST, NO_DOUBT};
use crate::plan::{Direction, Plan};

/// How far apart observations that are alone at two points are surely of one packet.
pub(crate) fn alone_within_ns(plan: &Plan, direction: Direction, (up, down): (u16, u16)) -> i64 {
    let phantom_frac = plan.phantom_frac(direction, down);
    let is_rather_slow = || {
        plan.band(direction, up, down).is_none_or(|band| {
            band.lost_frac.max(LEAST_LOST) * phantom_frac <= NO_DOUBT * band.far_frac
        })
    };
    if phantom_frac <= NO_DOUBT || is_rather_slow() {
        plan.wide_ns
    } else {
        usual_ns(plan, direction, (up, down))
    }
}

/// Of the jitter between these points alone: another segment may be as jittery as it takes to send again.
fn usual_ns(plan: &Plan, direction: Direction, (up, down): (u16, u16)) -> i64 {
    let band = plan.band(direction, up, down);
    band.map_or(plan.usual_ns, |band| band.usual_ns)
}

/// The same of any two points.
pub(crate) fn alone_anywhere_ns(plan: &Plan) -> i64 {
    let points = || 0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX);
    let both_ways = [Direction::Forward, Direction::Reverse].into_iter();
    let within_ns = both_ways.flat_map(|direction| {
        let is_along = move |(up, down): &(u16, u16)| {
            plan.place(direction, *up) < plan.place(direction, *down)
        };
        let pairs = points().flat_map(move |up| points().map(move |down| (up, down)));
        let along = pairs.filter(is_along);
        along.map(move |ends| alone_within_ns(plan, direction, ends))
    });
    within_ns.min().unwrap_or(plan.usual_ns)
}

/// Whether two neighbours that are alone are one packet. Of what is known by few bytes only, or as a fragment,
/// no odds are taken.
pub(crate) fn is_one(
    plan: &Plan,
    direction: Direction,
    up: &Observation,
    down: &Observation,
) -> bool {
    let later_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
    let usual_ns = usual_ns(plan, direction, (up.point, down.point));
    if later_ns <= usual_ns || later_ns > plan.wide_ns {
        return (-plan.wide_ns..=usual_ns).contains(&later_ns);
    }
    let is_whole = |one: &Observation| {
        one.directed && !one.evidence.is(Evidence::SHORT) && !one.evidence.is(Evidence::FRAGMENT)
    };
    !(is_whole(up) && is_whole(down))
        || later_ns <= alone_within_ns(plan, direction, (up.point, down.point))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};

    const APART_NS: i64 = 1_000_000;

    /// A path whose slow packets are ten times later than usual, and of which points do not capture some.
    fn plan(lost_frac: f64, phantom_frac: f64) -> Plan {
        let mut plan = path(2);
        plan.wide_ns = 10 * plan.usual_ns;
        for band in plan.bands.iter_mut().flatten() {
            (band.lost_frac, band.phantom_frac, band.far_frac) = (lost_frac, phantom_frac, 1e-3);
        }
        plan
    }

    fn is_one_after(plan: &Plan, apart_ns: i64) -> bool {
        let (up, mut down) = (observation(1, 0, 0), observation(1, 1, apart_ns));
        down.directed = true;
        is_one(plan, Direction::Forward, &up, &down)
    }

    #[test]
    fn what_is_much_later_is_one_packet_where_points_capture_all() {
        assert!(is_one_after(&plan(0.02, 0.0), APART_NS));
        assert!(!is_one_after(&plan(0.02, 0.0), APART_NS + 1));
        assert_eq!(alone_anywhere_ns(&plan(0.02, 0.0)), APART_NS);
    }

    #[test]
    fn where_some_are_lost_and_some_not_captured_the_odds_of_late_packets_decide() {
        let plan = plan(0.02, 0.02);
        assert!(is_one_after(&plan, plan.usual_ns));
        assert!(!is_one_after(&plan, plan.usual_ns + 1));
        assert_eq!(alone_anywhere_ns(&plan), plan.usual_ns);
    }

    #[test]
    fn where_next_to_none_is_lost_slow_packets_explain_it_better() {
        assert!(is_one_after(&plan(0.0, 0.004), APART_NS));
    }

    #[test]
    fn that_none_was_seen_to_be_lost_does_not_say_that_none_is() {
        let mut plan = plan(0.0, 0.02);
        for band in plan.bands.iter_mut().flatten() {
            band.far_frac = LEAST_LOST * 0.02 / NO_DOUBT / 2.0;
        }
        assert!(!is_one_after(&plan, APART_NS));
    }

    #[test]
    fn of_what_few_bytes_were_captured_no_odds_are_taken() {
        let plan = plan(0.02, 0.02);
        let short = |point: u16, at_ns: i64| {
            let mut one = observation(1, point, at_ns);
            one.evidence.add(Evidence::SHORT);
            one
        };
        let (up, down) = (short(0, 0), short(1, APART_NS));
        assert!(is_one(&plan, Direction::Forward, &up, &down));
    }
}
