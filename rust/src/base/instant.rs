//! The only arithmetic on time stamps: what a capture file counts becomes ns since 1970.
//!
//! Integers only, 128 bits wide inside, rounded down. An instant never is a float: at today's
//! dates a double resolves 238 ns.

/// Nanoseconds in a second.
pub const NS_PER_S: i64 = 1_000_000_000;

/// The digits a nanosecond has behind the second.
const NS_DIGITS: u8 = 9;

/// How long one tick of a clock is, as `if_tsresol` writes it.
///
/// Spec: draft-ietf-opsawg-pcapng §4.2 (`if_tsresol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// 10^-n seconds.
    Decimal(u8),
    /// 2^-n seconds.
    Binary(u8),
}

impl Resolution {
    /// Microseconds: what a file means that does not say.
    pub const MICROSECOND: Self = Self::Decimal(6);

    /// The meaning of an `if_tsresol` octet; each of the 256 has one.
    #[must_use]
    pub const fn from_tsresol(octet: u8) -> Self {
        if octet & 0x80 == 0 {
            Self::Decimal(octet)
        } else {
            Self::Binary(octet & 0x7f)
        }
    }

    /// The length of one tick, ns.
    #[must_use]
    pub fn tick_ns(self) -> f64 {
        match self {
            Self::Decimal(n) => 10_f64.powi(i32::from(NS_DIGITS) - i32::from(n)),
            Self::Binary(n) => 1e9 * 2_f64.powi(-i32::from(n)),
        }
    }

    /// `ticks` in whole ns; 2^64 ticks of a second each need 94 bits.
    const fn ticks_to_ns(self, ticks: u64) -> u128 {
        match self {
            Self::Decimal(n) if n <= NS_DIGITS => {
                ticks as u128 * 10_u64.pow((NS_DIGITS - n) as u32) as u128
            }
            Self::Decimal(n) => match 10_u64.checked_pow((n - NS_DIGITS) as u32) {
                Some(ticks_per_ns) => (ticks / ticks_per_ns) as u128,
                None => 0,
            },
            Self::Binary(n) => (ticks as u128 * NS_PER_S as u128) >> n,
        }
    }
}

/// How one interface of a file counts time: ticks since `offset` seconds after 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    resolution: Resolution,
    offset_ns: i128,
}

impl Scale {
    /// A scale of `resolution` whose zero lies `offset_s` seconds after 1970 (`if_tsoffset`).
    #[must_use]
    pub fn new(resolution: Resolution, offset_s: i64) -> Self {
        Self {
            resolution,
            offset_ns: i128::from(offset_s) * i128::from(NS_PER_S),
        }
    }

    /// The length of one tick, ns.
    #[must_use]
    pub fn tick_ns(&self) -> f64 {
        self.resolution.tick_ns()
    }

    /// The instant `ticks` stands for, ns since 1970, or the limit of the range that it exceeds:
    /// an instant in ns lies in the years 1677 to 2262.
    ///
    /// # Errors
    /// The nearest instant there is, where the true one is outside that range.
    #[inline]
    pub fn instant_ns(&self, ticks: u64) -> Result<i64, i64> {
        let ns = self.resolution.ticks_to_ns(ticks).cast_signed() + self.offset_ns;
        i64::try_from(ns).map_err(|_| if ns < 0 { i64::MIN } else { i64::MAX })
    }
}

/// The instant of a classic pcap record, ns since 1970; `fraction_ns` is what one unit of the
/// fraction is worth (1000 or 1).
///
/// Seconds are unsigned (good until 2106). A fraction above 2^31 is a negative one, as tools
/// wrote that subtracted without borrowing; one of a second and more carries.
#[inline]
#[must_use]
pub fn from_seconds_and_fraction_ns(seconds: u32, fraction: u32, fraction_ns: u32) -> i64 {
    i64::from(seconds) * NS_PER_S + i64::from(fraction.cast_signed()) * i64::from(fraction_ns)
}

/// How far ahead a clock is at its own time `t_ns`, ns: between `knots` of (time, offset) a
/// straight line, before and after them as at the nearest, 0 without any. Rounded down.
///
/// The knots must be in order of time.
#[must_use]
pub fn offset_ns(knots: &[(i64, i64)], t_ns: i64) -> i64 {
    let n_before = knots.partition_point(|(knot_ns, _)| *knot_ns <= t_ns);
    let before = n_before.checked_sub(1).and_then(|last| knots.get(last));
    match (before, knots.get(n_before)) {
        (Some(before), Some(after)) => interpolated_ns(*before, *after, t_ns),
        (Some((_, offset_ns)), None) | (None, Some((_, offset_ns))) => *offset_ns,
        (None, None) => 0,
    }
}

fn interpolated_ns(before: (i64, i64), after: (i64, i64), t_ns: i64) -> i64 {
    let since = i128::from(t_ns) - i128::from(before.0);
    let span = (i128::from(after.0) - i128::from(before.0)).max(1);
    let rise = i128::from(after.1) - i128::from(before.1);
    // since ≤ span < 2^64 and |rise| < 2^64, whose product may exceed 127 bits
    let gained = match rise.checked_mul(since) {
        Some(product) => product.div_euclid(span),
        None => rise.div_euclid(span).saturating_mul(since),
    };
    let offset = i128::from(before.1) + gained;
    i64::try_from(offset).unwrap_or(if offset < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long division digit by digit, where the code multiplies and shifts.
    fn reference_ns(octet: u8, ticks: u64, offset_s: i64) -> i128 {
        let base = if octet & 0x80 == 0 { 10 } else { 2 };
        let mut remainders = vec![u128::from(ticks) * 1_000_000_000];
        for _ in 0..octet & 0x7f {
            let last = *remainders.last().unwrap();
            remainders.push(last / base);
        }
        i128::try_from(*remainders.last().unwrap()).unwrap() + i128::from(offset_s) * 1_000_000_000
    }

    #[test]
    fn all_256_resolutions_agree_with_long_division() {
        let ticks = [0, 1, 999_999_999, 1 << 32, 1_700_000_000_123_456, u64::MAX];
        let offsets_s = [0, 1, -3600, 1_700_000_000, i64::MIN, i64::MAX];
        for octet in 0..=255 {
            for (ticks, offset_s) in ticks.iter().flat_map(|t| offsets_s.map(|o| (*t, o))) {
                let true_ns = reference_ns(octet, ticks, offset_s);
                let scale = Scale::new(Resolution::from_tsresol(octet), offset_s);
                match scale.instant_ns(ticks) {
                    Ok(ns) => assert_eq!(i128::from(ns), true_ns, "{octet} {ticks} {offset_s}"),
                    Err(limit) => {
                        assert!(i64::try_from(true_ns).is_err());
                        assert_eq!(limit, if true_ns < 0 { i64::MIN } else { i64::MAX });
                    }
                }
            }
        }
    }

    #[test]
    fn rounds_down_also_before_1970() {
        let scale = Scale::new(Resolution::Decimal(12), -1);
        assert_eq!(scale.instant_ns(1_999), Ok(-999_999_999));
    }

    #[test]
    fn ticks_have_the_length_the_octet_says() {
        for (octet, tick_ns) in [(6, 1000.0), (9, 1.0), (12, 0.001), (0, 1e9), (0x81, 5e8)] {
            let found_ns = Resolution::from_tsresol(octet).tick_ns();
            assert!(
                (found_ns - tick_ns).abs() < tick_ns * 1e-12,
                "{octet}: {found_ns}"
            );
        }
    }

    #[test]
    fn records_carry_borrow_and_reach_2106() {
        let at_ns = from_seconds_and_fraction_ns;
        assert_eq!(
            at_ns(1_700_000_000, 123_456, 1000),
            1_700_000_000_123_456_000
        );
        assert_eq!(
            at_ns(1_700_000_000, 2_500_000, 1000),
            1_700_000_002_500_000_000
        );
        assert_eq!(
            at_ns(1_700_000_000, u32::MAX - 18_999, 1000),
            1_699_999_999_981_000_000
        );
        assert_eq!(at_ns(1 << 31, 1, 1), 2_147_483_648_000_000_001);
        assert_eq!(at_ns(u32::MAX, 999_999_999, 1), 4_294_967_295_999_999_999);
        assert_eq!(at_ns(0, u32::MAX, 1), -1);
    }

    #[test]
    fn offsets_are_lines_between_knots_and_constant_outside() {
        let knots = [(100, 10), (200, 20), (300, -20)];
        for (t_ns, true_ns) in [(i64::MIN, 10), (100, 10), (155, 15), (200, 20), (201, 19)] {
            assert_eq!(offset_ns(&knots, t_ns), true_ns, "{t_ns}");
        }
        assert_eq!(offset_ns(&knots, i64::MAX), -20);
        assert_eq!(offset_ns(&[], 5), 0);
        let widest = [(i64::MIN, i64::MIN), (i64::MAX, i64::MAX)];
        assert_eq!(offset_ns(&widest, i64::MAX), i64::MAX);
    }
}
