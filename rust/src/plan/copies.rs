//! What a point sees more than once.

use super::per_us;

/// How often a point sees a packet again, and how much later.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Copies {
    /// Share of its packets.
    pub copied_frac: f64,
    /// The least time from an original to its copy.
    pub lo_ns: i64,
    /// The greatest.
    pub hi_ns: i64,
}

impl Copies {
    /// Whether a copy may come that much later.
    #[must_use]
    pub fn admits(&self, gap_ns: i64) -> bool {
        self.copied_frac > 0.0 && self.lies_between(gap_ns)
    }

    /// Whether that much later is where copies come, if there are any.
    #[must_use]
    pub fn lies_between(&self, gap_ns: i64) -> bool {
        (self.lo_ns..=self.hi_ns).contains(&gap_ns)
    }

    /// Density of copies that much later, per µs.
    #[must_use]
    pub fn density_at(&self, gap_ns: i64) -> f64 {
        if self.admits(gap_ns) {
            self.copied_frac * per_us(self.hi_ns.saturating_sub(self.lo_ns))
        } else {
            0.0
        }
    }
}
