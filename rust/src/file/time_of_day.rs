//! Times of tracers that print no date: an instant of the day, and of the day by the order of the lines.

const DAY_NS: i64 = 86_400 * 1_000_000_000;
/// No text runs for a century: more midnights are of a hostile one, and would leave the range of times.
const MAX_DAYS_NS: i64 = 36_525 * DAY_NS;

/// Times as they follow each other: a day later where they go back by half of one; 1970 is the first.
#[derive(Default)]
pub(super) struct DayClock {
    day_ns: i64,
    last_ns: i64,
}

impl DayClock {
    /// The instant that a time of day is.
    pub(super) fn instant_ns(&mut self, text: &str) -> Option<i64> {
        let t_ns = time_of_day_ns(text)?;
        let has_days_left = self.day_ns < MAX_DAYS_NS;
        if has_days_left && t_ns + self.day_ns + DAY_NS / 2 < self.last_ns {
            self.day_ns += DAY_NS;
        }
        let is_of_the_day_before =
            self.day_ns > 0 && t_ns + self.day_ns - DAY_NS / 2 > self.last_ns;
        let back_ns = if is_of_the_day_before { DAY_NS } else { 0 };
        let t_ns = t_ns + self.day_ns - back_ns;
        self.last_ns = self.last_ns.max(t_ns);
        Some(t_ns)
    }
}

/// `12:58:49.760069`.
pub(super) fn time_of_day_ns(text: &str) -> Option<i64> {
    let (whole, fraction) = text.trim().split_once('.')?;
    let mut parts = whole.split(':');
    let seconds = parts.by_ref().take(3).try_fold(0_i64, |sum, part| {
        let part: i64 = part.parse().ok().filter(|part| (0..60).contains(part))?;
        Some(sum * 60 + part)
    })?;
    let digits = fraction.get(..9).unwrap_or(fraction);
    let scale = 10_i64.checked_pow(9_u32.checked_sub(u32::try_from(digits.len()).ok()?)?)?;
    let fraction: i64 = digits.parse().ok().filter(|fraction| *fraction >= 0)?;
    let is_time = seconds < 86_400 && parts.next().is_none();
    is_time.then_some(seconds * 1_000_000_000 + fraction * scale)
}

/// The instant at which a day begins: `2026-08-18`.
pub(super) fn date_ns(text: &str) -> Option<i64> {
    let mut parts = text.trim().splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    let is_date =
        (1970..2262).contains(&year) && (1..13).contains(&month) && (1..32).contains(&day);
    // years begin in March, so that the day that is sometimes missing is the last
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = 365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468;
    is_date.then(|| days * DAY_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midnight_is_passed() {
        let mut clock = DayClock::default();
        let late = clock.instant_ns("23:59:59.999999").unwrap();
        let next = clock.instant_ns("00:00:00.000001").unwrap();
        assert_eq!(next - late, 2_000);
        assert_eq!(clock.instant_ns("23:59:59.999999"), Some(late));
        for text in [
            "",
            "1",
            "25:61:00.1",
            "12:00:00",
            "a:b:c.d",
            "24:00:00.0",
            "1:2.-3",
            "1:2:3:4.5",
        ] {
            assert_eq!(clock.instant_ns(text), None, "{text}");
        }
    }

    #[test]
    fn midnights_without_end_stay_within_the_range_of_times() {
        let mut clock = DayClock::default();
        let day = ["01:00:00.0", "12:00:00.0", "23:00:00.0"];
        for _ in 0..110_000 {
            for time in day {
                assert!(clock.instant_ns(time) >= Some(0));
            }
        }
        assert_eq!(clock.day_ns, MAX_DAYS_NS);
    }

    #[test]
    fn dates_are_days_since_1970() {
        let days = |text| date_ns(text).map(|ns| ns / DAY_NS);
        assert_eq!(days("1970-01-01"), Some(0));
        assert_eq!(days("2000-02-29"), Some(11_016));
        assert_eq!(days("2026-08-18"), Some(20_683));
        for text in [
            "",
            "2026",
            "2026-13-01",
            "1969-12-31",
            "2026-1-x",
            "9999-01-01",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
    }
}
