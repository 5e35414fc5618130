//! Where the latencies between two points lie.

/// Where the latency residuals of one pair of points and direction lie.
#[derive(Clone, Debug, Default)]
pub struct Band {
    /// Lower edge, ns about the centre.
    pub lo_ns: i64,
    /// Upper edge.
    pub hi_ns: i64,
    /// Density over the band in equal bins, relative to a uniform one; empty means uniform.
    pub density: Vec<f64>,
    /// Share of packets of the upstream point that the downstream point does not see.
    pub lost_frac: f64,
    /// Share of packets of the downstream point that the upstream point did not see.
    pub phantom_frac: f64,
    /// Share of packets whose residual is outside.
    pub outside_frac: f64,
    /// The least and the greatest residual that is to be expected of any packet.
    pub reach_ns: (i64, i64),
    /// 0: packets of a flow overtake each other as often as their residuals alone would have it;
    /// towards 1: they stay in order.
    pub order_kept: f64,
}

impl Band {
    /// Whether a residual may be that of one packet.
    #[must_use]
    pub fn admits(&self, residual_ns: i64) -> bool {
        (self.lo_ns..=self.hi_ns).contains(&residual_ns)
    }

    /// How much less likely a packet is for being overtaken.
    #[must_use]
    pub fn overtaken(&self) -> f64 {
        (1.0 - self.order_kept).clamp(1e-9, 1.0)
    }

    /// Relative density at a residual.
    #[must_use]
    pub fn density_at(&self, residual_ns: i64) -> f64 {
        const FLOOR: f64 = 0.004;
        if self.density.is_empty() {
            return 1.0;
        }
        let width = self.hi_ns.saturating_sub(self.lo_ns).max(1);
        let n = i64::try_from(self.density.len()).unwrap_or(1);
        let bin =
            i128::from(residual_ns.saturating_sub(self.lo_ns)) * i128::from(n) / i128::from(width);
        let bin = usize::try_from(bin.clamp(0, i128::from(n - 1))).unwrap_or(0);
        self.density.get(bin).copied().unwrap_or(FLOOR).max(FLOOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "a few thousand")]
    fn a_density_is_read_by_bin_and_has_a_floor() {
        let band = Band {
            lo_ns: -100,
            hi_ns: 100,
            density: vec![0.5, 0.0, 3.0, 1.5],
            ..Band::default()
        };
        let at = [-100, -51, -50, -1, 0, 49, 50, 100, i64::MIN, i64::MAX]
            .map(|ns| (band.density_at(ns) * 1e3).round() as i64);
        assert_eq!(at, [500, 500, 4, 4, 3000, 3000, 1500, 1500, 500, 1500]);
        assert!(band.admits(-100) && band.admits(100) && !band.admits(101));
        assert!((Band::default().density_at(5) - 1.0).abs() < 1e-12);
    }
}
