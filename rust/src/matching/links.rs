//! Which measured segment lies between two points.

use super::Sight;
use crate::plan::{Direction, Plan};

/// Links of the plan by their ends.
#[derive(Debug)]
pub(super) struct Links {
    n_points: usize,
    /// Per near × n + far.
    of_ends: Vec<Option<usize>>,
}

impl Links {
    pub(super) fn new(plan: &Plan) -> Self {
        let n_points = plan.n_points();
        let mut of_ends = vec![None; n_points * n_points];
        for (index, (near, far)) in plan.links.iter().enumerate() {
            if let Some(slot) = of_ends.get_mut(usize::from(*near) * n_points + usize::from(*far)) {
                *slot = Some(index);
            }
        }
        Self { n_points, of_ends }
    }

    /// The index of the link that a packet crossed between two sights, if that is one.
    pub(super) fn between(&self, up: &Sight, down: &Sight, direction: Direction) -> Option<usize> {
        let (near, far) = match direction {
            Direction::Forward => (up.point, down.point),
            Direction::Reverse => (down.point, up.point),
        };
        let index = usize::from(near) * self.n_points + usize::from(far);
        self.of_ends.get(index).copied().flatten()
    }
}
