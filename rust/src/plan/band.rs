//! Where the latencies between two points lie.

use super::per_us;

/// Where the latency residuals of one pair of points and direction lie.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
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
    /// Share of those whose residual is farther outside than half the band's width.
    pub far_frac: f64,
    /// The least and the greatest residual that is to be expected of any packet; both 0 where none
    /// was seen.
    pub reach_ns: (i64, i64),
    /// Within this time more, what is alone at either point is one packet: hardly any come again so soon, and
    /// are missed before.
    pub alone_ns: i64,
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

    /// Whether it stands for what nobody saw: no packet that can be told from others went that way.
    #[must_use]
    pub fn is_guessed(&self) -> bool {
        self.reach_ns == (0, 0)
    }

    /// The least and the greatest residual of what is just faster or slower than the band allows.
    #[must_use]
    pub fn near_ns(&self) -> (i64, i64) {
        let more_ns = self.width_ns() / 2;
        (
            self.lo_ns.saturating_sub(more_ns),
            self.hi_ns.saturating_add(more_ns),
        )
    }

    fn width_ns(&self) -> i64 {
        self.hi_ns.saturating_sub(self.lo_ns).max(1)
    }

    /// How much less likely a packet is for being overtaken.
    #[must_use]
    pub fn overtaken(&self) -> f64 {
        (1.0 - self.order_kept).clamp(1e-9, 1.0)
    }

    /// Density at a residual, per µs. Outside, on either side half of what is there, ever rarer the
    /// farther: how far, nobody knows, so that a third of it is beyond twice half the width.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a density needs few digits")]
    pub fn density_per_us(&self, residual_ns: i64) -> f64 {
        if self.admits(residual_ns) {
            return self.density_at(residual_ns) * per_us(self.width_ns());
        }
        let above_ns = residual_ns.saturating_sub(self.hi_ns);
        let beyond_ns = above_ns.max(self.lo_ns.saturating_sub(residual_ns));
        let half_ns = (self.width_ns() / 2).max(1);
        let apart_ns = beyond_ns.saturating_add(half_ns);
        let part = half_ns as f64 / apart_ns as f64;
        self.outside_frac / 2.0 * part * per_us(apart_ns)
    }

    /// Whether a residual is in the band, and not far rarer than the most frequent ones.
    #[must_use]
    pub fn is_frequent(&self, residual_ns: i64) -> bool {
        const RARE: f64 = 0.01;
        let most = self.density.iter().copied().fold(0.0, f64::max);
        self.admits(residual_ns) && self.density_at(residual_ns) >= RARE * most
    }

    /// Relative density at a residual.
    #[must_use]
    pub fn density_at(&self, residual_ns: i64) -> f64 {
        const FLOOR: f64 = 0.004;
        if self.density.is_empty() {
            return 1.0;
        }
        let width = self.width_ns();
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

    #[test]
    fn outside_it_is_ever_rarer_and_half_is_on_either_side() {
        let band = Band {
            lo_ns: -1_000,
            hi_ns: 3_000,
            outside_frac: 0.01,
            ..Band::default()
        };
        assert_eq!(band.near_ns(), (-3_000, 5_000));
        let inside = band.density_per_us(3_000);
        assert!((inside - 0.25).abs() < 1e-12, "{inside}");
        let step_ns = 10;
        let side = |edge_ns: i64, away: i64| -> f64 {
            let at_ns = |n: i64| edge_ns + away * (n * step_ns + 1);
            let densities = (0..100_000_i64).map(|n| band.density_per_us(at_ns(n)));
            densities.sum::<f64>() * 1e-3 * 10.0
        };
        for share in [side(3_000, 1), side(-1_000, -1)] {
            assert!((share - 0.005).abs() < 1e-4, "{share}");
        }
        assert!(band.density_per_us(4_000) < band.density_per_us(3_500));
        assert!(band.density_per_us(i64::MAX) >= 0.0 && band.density_per_us(i64::MIN) >= 0.0);
    }
}
