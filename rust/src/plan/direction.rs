//! The two ways along a route.

use serde::{Deserialize, Serialize};

/// Which way a packet travels, and along which of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Direction {
    /// 0 is the path as it is written.
    route: u16,
    is_reverse: bool,
}

#[expect(
    non_upper_case_globals,
    reason = "they are the two kinds of a direction"
)]
impl Direction {
    /// As the path is written.
    pub const Forward: Self = Self::on(0, true);
    /// Against it.
    pub const Reverse: Self = Self::on(0, false);
}

impl Direction {
    /// Forward along the path or not.
    #[must_use]
    pub const fn of(is_forward: bool) -> Self {
        Self::on(0, is_forward)
    }

    /// Forward along a route or not.
    #[must_use]
    pub const fn on(route: u16, is_forward: bool) -> Self {
        Self {
            route,
            is_reverse: !is_forward,
        }
    }

    /// The other one, on the same route.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self::on(self.route, self.is_reverse)
    }

    /// Against the route.
    #[must_use]
    pub const fn is_reverse(self) -> bool {
        self.is_reverse
    }

    /// The route.
    #[must_use]
    pub const fn route(self) -> u16 {
        self.route
    }

    /// 0 forward, 1 reverse.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.is_reverse)
    }
}
