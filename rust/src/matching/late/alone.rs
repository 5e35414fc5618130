//! Observations of a packet ID that are alone within the window: one packet, unless two packets explain as
//! well that it took longer or shorter than usual. Longer: the first was lost, and no point before captured its
//! repetition. Shorter: no point before captured the first, and its repetition was lost.
//!
//! How often packets come again nobody knows before the end of the run, nor how many of those that came again
//! were lost: at the next point they look like one. Where points do not capture some packets, the odds of late
//! packets decide, for which all of that is counted.

use crate::matching::evidence::Evidence;
use crate::matching::observation::Observation;
use crate::matching::resolve::posterior::NO_DOUBT;
use crate::plan::{Band, Direction, Plan};

/// How much earlier and later than usual what is alone at two points is surely of one packet. It may be later
/// by `times_as_late` what whole packets are.
pub(crate) fn alone_within_ns(
    plan: &Plan,
    direction: Direction,
    (up, down): (u16, u16),
    times_as_late: i64,
) -> (i64, i64) {
    if plan.phantom_frac(direction, down) <= NO_DOUBT {
        return (plan.wide_ns, plan.wide_ns);
    }
    // of the jitter between these points alone: another segment may be as jittery as it takes to send again
    let of_band = |band: &Band| {
        let (least_ns, most_ns) = band.near_ns();
        (
            band.alone_ns.saturating_sub(least_ns),
            most_ns
                .saturating_mul(times_as_late)
                .saturating_add(band.alone_ns),
        )
    };
    let band = plan.band(direction, up, down);
    band.map_or((plan.usual_ns, plan.usual_ns), of_band)
}

/// Where most packets come again: how much earlier and later than usual none seems to be that came again. How many
/// a point misses of them nobody knows before the end of the run. Where packets are later than the window is wide, what
/// is late in it may be another one of these, and what is earlier than any packet is one.
fn sooner_than_again_ns(
    plan: &Plan,
    direction: Direction,
    (up, down): (&Observation, &Observation),
) -> (i64, i64) {
    let Some(again_ns) = plan.again_after_ns(up.pair, up.toward) else {
        return (i64::MAX, i64::MAX);
    };
    let band = plan.band(direction, up.point, down.point);
    let (least_ns, most_ns) = band.map_or((0, 0), Band::near_ns);
    let sooner_ns = again_ns.saturating_sub(most_ns.max(least_ns.saturating_neg()));
    if !plan.has_later() {
        return (sooner_ns, sooner_ns);
    }
    let alone_ns = band.map_or(plan.usual_ns, |band| band.alone_ns);
    let late_ns = alone_ns.saturating_add(most_ns);
    let early_ns = if plan.same_clock(up.point, down.point) {
        // none arrives before it was sent, but for what stamps leave open
        usual_ns(up, down).saturating_add(alone_ns.saturating_sub(least_ns))
    } else {
        plan.usual_ns
    };
    (sooner_ns.min(early_ns), sooner_ns.min(late_ns))
}

/// How long a packet usually takes between two points of one clock at that time.
fn usual_ns(up: &Observation, down: &Observation) -> i64 {
    let took_ns = down.t_ns.saturating_sub(up.t_ns);
    let more_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
    took_ns.saturating_sub(more_ns).max(0)
}

/// The same, earlier or later, of any two points.
pub(crate) fn alone_anywhere_ns(plan: &Plan) -> i64 {
    let points = || 0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX);
    let both_ways = [Direction::Forward, Direction::Reverse].into_iter();
    let least_ns = both_ways.flat_map(|direction| {
        let is_along = move |(up, down): &(u16, u16)| {
            plan.place(direction, *up) < plan.place(direction, *down)
        };
        let pairs = points().flat_map(move |up| points().map(move |down| (up, down)));
        let along = pairs.filter(is_along);
        along.map(move |ends| {
            let (early_ns, late_ns) = alone_within_ns(plan, direction, ends, 1);
            early_ns.min(late_ns)
        })
    });
    least_ns.min().unwrap_or(plan.usual_ns)
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
    let is_whole = |one: &Observation| {
        one.directed && !one.evidence.is(Evidence::SHORT) && !one.evidence.is(Evidence::FRAGMENT)
    };
    let ends = (up.point, down.point);
    let (before_ns, after_ns) = if is_whole(up) && is_whole(down) {
        let (before_ns, after_ns) = alone_within_ns(plan, direction, ends, 1);
        let most_ns = sooner_than_again_ns(plan, direction, (up, down));
        (before_ns.min(most_ns.0), after_ns.min(most_ns.1))
    } else {
        (plan.wide_ns, plan.wide_ns)
    };
    (-before_ns..=after_ns).contains(&later_ns) && later_ns.saturating_abs() <= plan.wide_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};

    const APART_NS: i64 = 1_000_000;

    /// A path whose slow packets are ten times later than usual, and of which points do not capture some.
    fn plan(phantom_frac: f64) -> Plan {
        let mut plan = path(2);
        plan.wide_ns = 10 * plan.usual_ns;
        for band in plan.bands.iter_mut().flatten() {
            band.phantom_frac = phantom_frac;
        }
        plan
    }

    fn is_one_after(plan: &Plan, apart_ns: i64) -> bool {
        let (up, mut down) = (observation(1, 0, 0), observation(1, 1, apart_ns));
        down.directed = true;
        is_one(plan, Direction::Forward, &up, &down)
    }

    #[test]
    fn what_is_much_later_or_earlier_is_one_packet_where_points_capture_all() {
        for apart_ns in [APART_NS, -APART_NS] {
            assert!(is_one_after(&plan(0.0), apart_ns));
            assert!(!is_one_after(&plan(0.0), apart_ns + apart_ns.signum()));
        }
        assert_eq!(alone_anywhere_ns(&plan(0.0)), APART_NS);
    }

    #[test]
    fn where_some_are_lost_and_some_not_captured_the_odds_of_late_packets_decide() {
        let plan = plan(0.02);
        let (early_ns, late_ns) = alone_within_ns(&plan, Direction::Forward, (0, 1), 1);
        assert!(is_one_after(&plan, late_ns) && !is_one_after(&plan, late_ns + 1));
        assert!(is_one_after(&plan, -early_ns) && !is_one_after(&plan, -early_ns - 1));
        assert_eq!(alone_anywhere_ns(&plan), early_ns.min(late_ns));
        assert!(early_ns < APART_NS && late_ns < APART_NS);
    }

    #[test]
    fn where_packets_come_again_soon_the_band_alone_decides() {
        let mut plan = plan(0.02);
        let (early_ns, late_ns) = alone_within_ns(&plan, Direction::Forward, (0, 1), 1);
        for band in plan.bands.iter_mut().flatten() {
            band.alone_ns -= 1_000;
        }
        let sooner = alone_within_ns(&plan, Direction::Forward, (0, 1), 1);
        assert_eq!(sooner, (early_ns - 1_000, late_ns - 1_000));
    }

    #[test]
    fn of_packets_that_come_again_none_is_one_that_seems_as_far_off_as_the_next() {
        let again_after = |again_ns: i64| {
            let mut plan = plan(0.0);
            plan.recurring.insert(!0, again_ns);
            plan
        };
        let (lo_ns, hi_ns) = plan(0.02).bands[0][0].near_ns();
        let jitter_ns = hi_ns.max(-lo_ns);
        for (again_ns, most_ns) in [
            (10 * APART_NS, APART_NS),
            (jitter_ns + 50_000, 50_000),
            (jitter_ns, 0),
        ] {
            let plan = again_after(again_ns);
            for side in [-1, 1] {
                assert!(is_one_after(&plan, side * most_ns), "{again_ns}");
                assert!(!is_one_after(&plan, side * (most_ns + 1)), "{again_ns}");
            }
        }
        // where others are later than the window, they may be what is early or late in it
        let mut plan = Plan {
            beyond_frac: 0.01,
            ..again_after(10 * APART_NS)
        };
        let alone_ns = plan.bands[0][0].alone_ns;
        let is_within = |plan: &Plan, side: i64, most_ns: i64| {
            [most_ns, most_ns + 1].map(|ns| is_one_after(plan, side * ns)) == [true, false]
        };
        assert!(is_within(&plan, 1, alone_ns + hi_ns));
        assert!(is_within(&plan, -1, alone_ns - lo_ns));
        // by two clocks nobody knows when it was sent
        plan.domain = vec![0, 1];
        assert!(is_within(&plan, -1, plan.usual_ns));
        assert!(
            !is_one_after(&again_after(jitter_ns - 1), 0),
            "nothing is sure"
        );
    }

    #[test]
    fn of_what_few_bytes_were_captured_no_odds_are_taken() {
        let plan = plan(0.02);
        let short = |point: u16, at_ns: i64| {
            let mut one = observation(1, point, at_ns);
            one.evidence.add(Evidence::SHORT);
            one
        };
        let (up, down) = (short(0, 0), short(1, APART_NS));
        assert!(is_one(&plan, Direction::Forward, &up, &down));
    }
}
