//! The two ways along the path.

/// Which way a packet travels on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// As the path is written.
    Forward,
    /// Against it.
    Reverse,
}

impl Direction {
    /// Forward or not.
    #[must_use]
    pub fn of(is_forward: bool) -> Self {
        if is_forward {
            Self::Forward
        } else {
            Self::Reverse
        }
    }

    /// The other one.
    #[must_use]
    pub fn turned(self) -> Self {
        Self::of(self == Self::Reverse)
    }

    /// 0 forward, 1 reverse.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self == Self::Reverse)
    }
}
