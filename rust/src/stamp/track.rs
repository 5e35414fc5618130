//! How far a device's clock is from the file's: what unfolds a counter, and tells damage.

use super::Mark;

/// The usual difference of stamp and file time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Track {
    base_ns: i64,
    /// Where stamps lie that lately were elsewhere, and how many in a row.
    elsewhere_ns: i64,
    n_elsewhere: u32,
}

/// So many in a row that agree with each other: a clock was set.
const ENOUGH_ELSEWHERE: u32 = 8;
/// The usual difference follows by this part.
const FOLLOWS_BY: i64 = 8;

impl Track {
    pub(super) fn new(base_ns: i64) -> Self {
        Self {
            base_ns,
            elsewhere_ns: 0,
            n_elsewhere: 0,
        }
    }

    /// The stamp with its counter unfolded, unless it is damaged.
    pub(super) fn unfold(&mut self, mark: &Mark, t_ns: i64) -> Option<i64> {
        if !mark.is_sound {
            return None;
        }
        let ns = unfolded(mark, t_ns, self.base_ns)?;
        let off_ns = ns.checked_sub(t_ns)?;
        let strays_ns = off_ns.checked_sub(self.base_ns)?;
        let tolerance_ns = mark.within_ns;
        if strays_ns.abs() <= tolerance_ns {
            self.base_ns += strays_ns / FOLLOWS_BY;
            self.n_elsewhere = 0;
            return Some(ns);
        }
        if !self.was_set(off_ns, tolerance_ns) {
            return None;
        }
        *self = Self::new(off_ns);
        Some(ns)
    }

    /// Notes a stamp that lies elsewhere: whether enough of them agree that the clock was set.
    fn was_set(&mut self, off_ns: i64, tolerance_ns: i64) -> bool {
        let apart_ns = off_ns.saturating_sub(self.elsewhere_ns).saturating_abs();
        if apart_ns > tolerance_ns {
            self.n_elsewhere = 0;
        }
        self.elsewhere_ns = off_ns;
        self.n_elsewhere += 1;
        self.n_elsewhere >= ENOUGH_ELSEWHERE
    }

    /// Whether a value that is not sound is a stamp all the same, and not something else.
    pub(super) fn is_near(&self, mark: &Mark, t_ns: i64) -> bool {
        let strays_ns = unfolded(mark, t_ns, self.base_ns)
            .and_then(|ns| ns.checked_sub(t_ns)?.checked_sub(self.base_ns));
        strays_ns.is_some_and(|ns| ns.abs() <= mark.within_ns)
    }
}

/// The value, and so many times around as brings it nearest to the file's time plus `base_ns`.
pub(super) fn unfolded(mark: &Mark, t_ns: i64, base_ns: i64) -> Option<i64> {
    if mark.wrap_ns == 0 {
        return Some(mark.ns);
    }
    let wrap_ns = i128::from(mark.wrap_ns);
    let behind_ns = i128::from(t_ns) + i128::from(base_ns) - i128::from(mark.ns);
    let n_around = (behind_ns + wrap_ns / 2).div_euclid(wrap_ns);
    i64::try_from(i128::from(mark.ns) + n_around * wrap_ns).ok()
}

#[cfg(test)]
mod tests {
    use super::super::{NS_PER_S, Timescale};
    use super::*;

    const T_NS: i64 = 1_700_000_000 * NS_PER_S;

    fn value(ns: i64, wrap_ns: i64) -> Mark {
        Mark {
            ns,
            wrap_ns,
            within_ns: if wrap_ns == 0 {
                NS_PER_S
            } else {
                NS_PER_S.min(wrap_ns / 8)
            },
            resolution_ns: 1.0,
            timescale: Timescale::Unknown,
            cut_at: 0,
            is_sound: true,
        }
    }

    #[test]
    fn counters_unfold_whatever_the_clocks_differ_by() {
        let hour_ns = 3_600 * NS_PER_S;
        for wrap_ns in [NS_PER_S, 1 << 32, 65_536 * NS_PER_S, 100_000 << 32] {
            for offset_ns in [0, wrap_ns / 2 - 1, -wrap_ns / 2, 37 * NS_PER_S, -hour_ns] {
                let base_ns = unfolded(
                    &value((T_NS + offset_ns).rem_euclid(wrap_ns), wrap_ns),
                    T_NS,
                    0,
                )
                .unwrap()
                    - T_NS;
                let mut track = Track::new(base_ns);
                for step in 0..2_000_i64 {
                    // the file's time wobbles by 80 ms, the clock drifts by 50 ppm
                    let true_ns = T_NS + step * 777_777_777;
                    let t_ns = true_ns + (step * 37 % 160 - 80) * 1_000_000;
                    let clock_ns = true_ns + base_ns + step * 777_777_777 / 20_000;
                    let mark = value(clock_ns.rem_euclid(wrap_ns), wrap_ns);
                    assert_eq!(
                        track.unfold(&mark, t_ns),
                        Some(clock_ns),
                        "{wrap_ns} {offset_ns} {step}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_damaged_stamp_is_left_out_and_changes_nothing() {
        let mut track = Track::new(0);
        for step in 0..100 {
            let t_ns = T_NS + step * 1_000;
            let is_damaged = step % 5 == 0;
            let ns = if is_damaged {
                t_ns + (step + 2) * NS_PER_S
            } else {
                t_ns
            };
            let found = track.unfold(&value(ns, 0), t_ns);
            assert_eq!(found, (!is_damaged).then_some(t_ns), "{step}");
        }
        assert_eq!(track.unfold(&value(i64::MIN, 0), i64::MAX), None);
        assert_eq!(track.unfold(&value(i64::MAX, 1 << 32), i64::MIN), None);
    }

    #[test]
    fn a_clock_that_was_set_is_followed() {
        let mut track = Track::new(0);
        let set_ns = 37 * NS_PER_S;
        let found: Vec<bool> = (0..20)
            .map(|step| {
                track
                    .unfold(&value(T_NS + step + set_ns, 0), T_NS + step)
                    .is_some()
            })
            .collect();
        let n_lost = found.iter().take_while(|is_there| !**is_there).count();
        assert_eq!(n_lost, 7);
        assert!(found[7..].iter().all(|is_there| *is_there));
    }
}
