//! Lines between knots: what a clock, and what a usual delay, amount to over time.

/// How a point's raw stamps relate to those of the reference for packets of one direction: clock
/// offset and usual delay together. Linear between knots, of constant slope outside.
#[derive(Clone, Debug, Default)]
pub struct Centre {
    /// Raw times of the knots, ascending.
    pub t_ns: Vec<i64>,
    /// Offset at each knot.
    pub offset_ns: Vec<i64>,
    /// Slope before the first and after the last knot, ns per ns.
    pub slope: f64,
}

impl Centre {
    /// The offset at raw time `t_ns`; 0 without knots.
    #[must_use]
    #[inline]
    pub fn at(&self, t_ns: i64) -> i64 {
        let after = if self.t_ns.len() > 1 {
            self.t_ns.partition_point(|knot| *knot <= t_ns)
        } else {
            0
        };
        let before = after.saturating_sub(1);
        let (Some(t0), Some(c0)) = (self.t_ns.get(before), self.offset_ns.get(before)) else {
            return 0;
        };
        let slope = match (self.t_ns.get(after), self.offset_ns.get(after)) {
            (Some(t1), Some(c1)) if after > before => {
                ratio(c1.saturating_sub(*c0), t1.saturating_sub(*t0))
            }
            _ => self.slope,
        };
        c0.saturating_add(scaled(slope, t_ns.saturating_sub(*t0)))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a slope of clocks needs no more than 52 bits"
)]
fn ratio(rise_ns: i64, run_ns: i64) -> f64 {
    rise_ns as f64 / run_ns.max(1) as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "saturates"
)]
fn scaled(slope: f64, run_ns: i64) -> i64 {
    let exact = slope * run_ns as f64;
    let whole = exact as i64;
    // f64::round is a call; what is left behind the point is exact, and halves go away from zero
    match exact - whole as f64 {
        rest if rest >= 0.5 => whole.saturating_add(1),
        rest if rest <= -0.5 => whole.saturating_sub(1),
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START_NS: i64 = 1_700_000_000_000_000_000;

    fn centre(knots: &[(i64, i64)], slope: f64) -> Centre {
        let (t_ns, offset_ns) = knots.iter().copied().unzip();
        Centre {
            t_ns,
            offset_ns,
            slope,
        }
    }

    /// The line through two knots, in whole numbers, rounded to the nearest.
    fn line_ns((t0, c0): (i64, i64), (t1, c1): (i64, i64), t_ns: i64) -> i128 {
        let run = i128::from(t1) - i128::from(t0);
        let rise = (i128::from(c1) - i128::from(c0)) * (i128::from(t_ns) - i128::from(t0));
        i128::from(c0) + (2 * rise + run).div_euclid(2 * run)
    }

    #[test]
    fn knots_are_exact_and_between_them_are_lines() {
        let hour_ns = 3_600_000_000_000;
        for slope_ppm in [-200, -1, 0, 3, 150] {
            let knot = |i: i64| {
                (
                    START_NS + i * hour_ns,
                    -37_000_000_000 + i * slope_ppm * hour_ns / 1_000_000,
                )
            };
            let knots: Vec<_> = (0..24).map(knot).collect();
            let centre = centre(&knots, 0.0);
            for two in knots.windows(2) {
                assert_eq!(centre.at(two[0].0), two[0].1);
                for part in 1..97 {
                    let t_ns = two[0].0 + part * hour_ns / 97;
                    let off = i128::from(centre.at(t_ns)) - line_ns(two[0], two[1], t_ns);
                    assert!(off.abs() <= 1, "{off} ns off at {t_ns}");
                }
            }
        }
    }

    #[test]
    fn outside_the_knots_the_slope_goes_on() {
        for slope in [-5e-6, 0.0, 2e-5] {
            let centre = centre(&[(START_NS, 100), (START_NS + 1000, 300)], slope);
            #[expect(clippy::cast_possible_truncation, reason = "a few thousand")]
            let gone = (slope * 1e9).round() as i64;
            assert_eq!(centre.at(START_NS - 1_000_000_000), 100 - gone);
            assert_eq!(centre.at(START_NS + 1000 + 1_000_000_000), 300 + gone);
        }
    }

    #[test]
    fn no_knot_is_no_offset_and_one_is_a_line() {
        assert_eq!(Centre::default().at(START_NS), 0);
        let one = centre(&[(START_NS, -7)], 1e-6);
        assert_eq!(one.at(START_NS - 2_000_000), -9);
        assert_eq!(one.at(START_NS + 2_000_000), -5);
    }

    #[test]
    fn what_is_scaled_is_rounded_as_floats_are() {
        let slopes = [
            0.0,
            0.5,
            -0.5,
            1e-6,
            -3e-6,
            0.1,
            -2.5,
            1e9,
            f64::INFINITY,
            f64::NAN,
        ];
        let runs = [
            0,
            1,
            -1,
            3,
            5,
            -7,
            999_999,
            1 << 51,
            (1 << 52) + 1,
            i64::MIN,
            i64::MAX,
        ];
        for (slope, run_ns) in slopes
            .iter()
            .flat_map(|one| runs.map(|run_ns| (*one, run_ns)))
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "likewise"
            )]
            let rounded = (slope * run_ns as f64).round() as i64;
            assert_eq!(scaled(slope, run_ns), rounded, "{slope} x {run_ns}");
        }
    }

    #[test]
    fn the_ends_of_time_saturate() {
        let steep = centre(&[(i64::MIN, i64::MIN), (i64::MAX, i64::MAX)], 1.0);
        assert_eq!(
            (steep.at(i64::MIN), steep.at(i64::MAX)),
            (i64::MIN, i64::MAX)
        );
        let one = centre(&[(0, i64::MAX)], 1e9);
        assert_eq!((one.at(i64::MAX), one.at(i64::MIN)), (i64::MAX, -1));
    }
}
