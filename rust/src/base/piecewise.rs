//! Lines between knots: what a clock, and what a usual delay, amount to over time.

use serde::{Deserialize, Serialize};

/// How a point's raw stamps relate to those of the reference for packets of one direction: clock
/// offset and usual delay together. Linear between knots, of constant slope outside.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PiecewiseLinear {
    /// Ascending.
    knots: Vec<Knot>,
    /// Before the first knot, ns per ns.
    slope: f64,
    /// By slice of time from the first knot on: how many knots are before it. There are some times as many
    /// slices as knots, so that a time is mostly behind the last of these.
    n_before: Vec<usize>,
    slice_bits: u32,
}

/// Slices of time in which a time is looked up.
const SLICES_PER_KNOT: u64 = 4;

/// Where a line is too steep for the drift of a clock. Times are those without the offset, first and last.
#[derive(Clone, Copy, Debug)]
pub struct OffsetStep {
    /// Of its two ends: what lies between has an offset in between.
    pub between: (i64, i64),
    /// Of its ends and the knots around.
    pub around: (i64, i64),
    /// By how much the offset rises.
    pub by_ns: i64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Knot {
    t_ns: i64,
    offset_ns: i64,
    /// From here on, ns per ns.
    slope: f64,
}

impl PiecewiseLinear {
    /// The line through knots: raw times, ascending, and offsets. Before the first and after the last
    /// it has a slope, ns per ns.
    #[must_use]
    pub fn new(knots: &[(i64, i64)], slope: f64) -> Self {
        let knots = with_slopes(knots, slope);
        let ends = knots.first().zip(knots.last());
        let span_ns = ends.map_or(0, |(first, last)| last.t_ns.abs_diff(first.t_ns));
        let n_slices = knots.len().max(1) as u64 * SLICES_PER_KNOT;
        let slice_bits = (span_ns / n_slices).max(1).ilog2();
        let slice_of =
            |knot: &Knot| ends.map_or(0, |(first, _)| slice(first, knot.t_ns, slice_bits));
        let before = |slice: usize| knots.partition_point(|knot| slice_of(knot) < slice);
        let n_slices = knots.last().map_or(0, slice_of) + 1;
        let n_before = (0..=n_slices).map(before).collect();
        Self {
            knots,
            slope,
            n_before,
            slice_bits,
        }
    }

    /// The offset at raw time `t_ns`; 0 without knots.
    #[must_use]
    #[inline]
    pub fn at(&self, t_ns: i64) -> i64 {
        let Some(first) = self.knots.first() else {
            return 0;
        };
        let (knot, slope) = if t_ns < first.t_ns {
            (first, self.slope)
        } else {
            let (knot, _) = self.around(first, t_ns);
            (knot, knot.slope)
        };
        Knot { slope, ..*knot }.at(t_ns)
    }

    /// The times of its knots.
    pub(crate) fn knots_ns(&self) -> impl Iterator<Item = i64> {
        self.knots.iter().map(|knot| knot.t_ns)
    }

    /// Where it is too steep for the drift of a clock.
    pub fn steps(&self) -> impl Iterator<Item = OffsetStep> {
        let ends = |from: usize, n: usize| {
            let knots = self.knots.get(from..).unwrap_or(&[]).iter().take(n);
            let times = knots.map(|knot| knot.t_ns.saturating_sub(knot.offset_ns));
            Some((times.clone().min()?, times.max()?))
        };
        let pairs = self.knots.iter().zip(self.knots.iter().skip(1)).enumerate();
        pairs.filter_map(move |(at, (knot, next))| {
            let by_ns = next.offset_ns.saturating_sub(knot.offset_ns);
            let is_step = by_ns.unsigned_abs() > next.t_ns.abs_diff(knot.t_ns) / 2;
            let step = || {
                Some(OffsetStep {
                    between: ends(at, 2)?,
                    around: ends(at.saturating_sub(1), 4)?,
                    by_ns,
                })
            };
            is_step.then(step).flatten()
        })
    }

    /// The stretch of it that a time is in.
    fn stretch_at(&self, t_ns: i64) -> Stretch {
        let Some(first) = self.knots.first() else {
            return Stretch::ALL;
        };
        if t_ns < first.t_ns {
            return Stretch {
                until_ns: Some(first.t_ns),
                knot: Knot {
                    slope: self.slope,
                    ..*first
                },
                ..Stretch::ALL
            };
        }
        let (knot, next) = self.around(first, t_ns);
        Stretch {
            from_ns: knot.t_ns,
            until_ns: next.map(|next| next.t_ns),
            knot: *knot,
        }
    }

    /// The last knot that is not later, and the next one.
    #[inline]
    fn around<'a>(&'a self, first: &'a Knot, t_ns: i64) -> (&'a Knot, Option<&'a Knot>) {
        let slice = slice(first, t_ns, self.slice_bits);
        let n_before = self.n_before.get(slice).copied();
        let from = n_before.unwrap_or(self.knots.len()).saturating_sub(1);
        let mut last = first;
        for knot in self.knots.get(from..).unwrap_or(&[]) {
            if knot.t_ns > t_ns {
                return (last, Some(knot));
            }
            last = knot;
        }
        (last, None)
    }
}

impl Knot {
    #[inline]
    fn at(&self, t_ns: i64) -> i64 {
        let run_ns = t_ns.saturating_sub(self.t_ns);
        self.offset_ns.saturating_add(scaled(self.slope, run_ns))
    }
}

/// A line from one knot to the next.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from_ns: i64,
    /// The next one begins then, if there is one.
    until_ns: Option<i64>,
    knot: Knot,
}

impl Stretch {
    /// No offset, ever.
    const ALL: Self = Self {
        from_ns: i64::MIN,
        until_ns: None,
        knot: Knot {
            t_ns: 0,
            offset_ns: 0,
            slope: 0.0,
        },
    };

    #[inline]
    fn has(&self, t_ns: i64) -> bool {
        self.from_ns <= t_ns && self.until_ns.is_none_or(|until_ns| t_ns < until_ns)
    }
}

/// Looks up times that mostly are near the one before.
#[derive(Clone, Copy, Debug)]
pub struct PiecewiseCursor<'a> {
    of: &'a PiecewiseLinear,
    /// That of the time before.
    present: Stretch,
}

impl<'a> PiecewiseCursor<'a> {
    /// For a first time about this one.
    #[must_use]
    pub fn new(of: &'a PiecewiseLinear, t_ns: i64) -> Self {
        let present = of.stretch_at(t_ns);
        Self { of, present }
    }

    /// See [`PiecewiseLinear::at`].
    #[must_use]
    #[inline]
    pub fn at(&mut self, t_ns: i64) -> i64 {
        if !self.present.has(t_ns) {
            self.present = self.of.stretch_at(t_ns);
        }
        self.present.knot.at(t_ns)
    }
}

/// Each knot with the slope to the next one; the last one goes on with `slope`.
fn with_slopes(knots: &[(i64, i64)], slope: f64) -> Vec<Knot> {
    let between = knots.windows(2).map(|two| match two {
        [(t0, c0), (t1, c1)] => ratio(c1.saturating_sub(*c0), t1.saturating_sub(*t0)),
        _ => slope,
    });
    let places = knots.iter().zip(between.chain([slope]));
    places
        .map(|(&(t_ns, offset_ns), slope)| Knot {
            t_ns,
            offset_ns,
            slope,
        })
        .collect()
}

/// The slice of time of an instant that is not before the first knot.
#[inline]
fn slice(first: &Knot, t_ns: i64, slice_bits: u32) -> usize {
    usize::try_from(t_ns.abs_diff(first.t_ns) >> slice_bits).unwrap_or(usize::MAX)
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
            let centre = PiecewiseLinear::new(&knots, 0.0);
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
            let centre = PiecewiseLinear::new(&[(START_NS, 100), (START_NS + 1000, 300)], slope);
            #[expect(clippy::cast_possible_truncation, reason = "a few thousand")]
            let gone = (slope * 1e9).round() as i64;
            assert_eq!(centre.at(START_NS - 1_000_000_000), 100 - gone);
            assert_eq!(centre.at(START_NS + 1000 + 1_000_000_000), 300 + gone);
        }
    }

    #[test]
    fn knots_are_found_however_they_are_spaced() {
        let crowded = (0..500).map(|i| (START_NS + i, i * i));
        let far = (1..40).map(|i| (START_NS + i * i * 1_000_000_007, -i));
        let again = (0..7).map(|_| (START_NS + 5_000_000_000_000, 3));
        let knots: Vec<_> = crowded.chain(far).chain(again).collect();
        let centre = PiecewiseLinear::new(&knots, 0.25);
        let mut cursor = PiecewiseCursor::new(&centre, 0);
        let near = knots
            .iter()
            .flat_map(|(t_ns, _)| [t_ns - 1, *t_ns, t_ns + 1]);
        for t_ns in near.chain((0..10_000).map(|i| START_NS - 1000 + i * 600_000_011)) {
            let after = knots.iter().take_while(|knot| knot.0 <= t_ns).count();
            let (t0, c0) = knots[after.saturating_sub(1)];
            let slope = match knots.get(after) {
                Some((t1, c1)) if after > 0 => ratio(c1 - c0, t1 - t0),
                _ => 0.25,
            };
            assert_eq!(centre.at(t_ns), c0 + scaled(slope, t_ns - t0), "{t_ns}");
            assert_eq!(cursor.at(t_ns), centre.at(t_ns), "{t_ns}");
        }
    }

    #[test]
    fn no_knot_is_no_offset_and_one_is_a_line() {
        assert_eq!(PiecewiseLinear::default().at(START_NS), 0);
        let one = PiecewiseLinear::new(&[(START_NS, -7)], 1e-6);
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
        let steep = PiecewiseLinear::new(&[(i64::MIN, i64::MIN), (i64::MAX, i64::MAX)], 1.0);
        assert_eq!(
            (steep.at(i64::MIN), steep.at(i64::MAX)),
            (i64::MIN, i64::MAX)
        );
        let one = PiecewiseLinear::new(&[(0, i64::MAX)], 1e9);
        assert_eq!((one.at(i64::MAX), one.at(i64::MIN)), (i64::MAX, -1));
    }
}
