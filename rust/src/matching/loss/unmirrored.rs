//! Packets that a mirror lost at the end of the path: nothing behind tells them from losses, but the
//! mirror's own numbers do.

use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan, Topology};

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
