//! Frames that a mirror session lost: ERSPAN numbers them (draft-foschiano-erspan §4.1, in GRE's
//! sequence number, RFC 2890 §2.2), so what is missing was lost between the mirror and the capture.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Frames that come later than so many others are not told from numbers that start anew.
const REORDERED: i64 = 1 << 12;
/// Sessions and gaps that are kept.
const MOST_SESSIONS: usize = 256;
const MOST_GAPS: usize = 1 << 16;

/// Numbers that are missing: from the frame before to the one after, raw time, and how many.
pub type Gap = (i64, i64, u64);

/// A session: its number, frames seen, how many are missing, and when.
pub type Mirrored = (u64, u64, u64, Vec<Gap>);

/// The sessions of one interface.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Mirrors(HashMap<u64, MirrorSession>);

impl Mirrors {
    /// Takes the interface's next frame: its session, its number in it, and its time.
    #[inline]
    pub(super) fn note(&mut self, mirror: Option<(u64, u32)>, t_ns: i64) {
        let Some((session, number)) = mirror else {
            return;
        };
        if self.0.len() < MOST_SESSIONS || self.0.contains_key(&session) {
            self.0.entry(session).or_default().take(number, t_ns);
        }
    }

    /// Whether no mirror sent anything.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sessions that count their frames.
    #[must_use]
    pub fn sessions(&self) -> Vec<Mirrored> {
        let counted = self.0.iter().filter(|(_, one)| one.n_seen > 1);
        let mut found: Vec<_> = counted
            .map(|(id, one)| (id & SESSION_MASK, one.n_seen, one.gaps()))
            .map(|(id, n_seen, gaps)| (id, n_seen, gaps.iter().map(|gap| gap.2).sum(), gaps))
            .collect();
        found.sort_unstable();
        found
    }
}

/// Of a session's key the part that people know it by.
const SESSION_MASK: u64 = 0x3ff;

/// One session: the gaps behind its highest number, the latest ones open to frames that come late.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct MirrorSession {
    /// Frames, copies left out.
    n_seen: u64,
    /// Highest number, unwrapped, and its time.
    last: Option<(i64, i64)>,
    /// First missing number, number behind the last one, times around.
    missing: Vec<(i64, i64, i64, i64)>,
    /// A number far off, which starts a new count if another follows it.
    stray: Option<u32>,
}

impl MirrorSession {
    fn take(&mut self, number: u32, t_ns: i64) {
        let Some((last, last_ns)) = self.last else {
            return self.start(number, t_ns);
        };
        let low = u32::try_from(last & i64::from(u32::MAX)).unwrap_or(0);
        let ahead = i64::from(number.wrapping_sub(low).cast_signed());
        if ahead <= -REORDERED {
            return self.come_from_far_behind(number, t_ns);
        }
        self.stray = None;
        if ahead > 0 {
            self.n_seen += 1;
            if ahead > 1 && self.missing.len() < MOST_GAPS {
                self.missing.push((last + 1, last + ahead, last_ns, t_ns));
            }
            self.last = Some((last + ahead, t_ns));
        } else {
            self.come_late(last + ahead);
        }
    }

    fn start(&mut self, number: u32, t_ns: i64) {
        // far from what was counted before, so that no gap is taken for one of the new count
        let base = self.last.map_or(0, |(last, _)| ((last >> 32) + 2) << 32);
        self.last = Some((base + i64::from(number), t_ns));
        self.stray = None;
        self.n_seen += 1;
    }

    /// Takes a number that nothing delayed so long: with another one behind it, a new count began.
    fn come_from_far_behind(&mut self, number: u32, t_ns: i64) {
        let follows = |stray: u32| (1..=REORDERED).contains(&i64::from(number.wrapping_sub(stray)));
        if self.stray.is_some_and(follows) {
            // what it was behind no more: the mirror was set up anew
            self.n_seen += 1;
            return self.start(number, t_ns);
        }
        self.stray = Some(number);
    }

    /// Takes a number out of its gap, if it was missing.
    fn come_late(&mut self, number: i64) {
        let at = self
            .missing
            .iter()
            .rposition(|(from, to, ..)| (*from..*to).contains(&number));
        let Some((from, to, before_ns, after_ns)) = at.map(|at| self.missing.swap_remove(at))
        else {
            return; // before the first, or a copy
        };
        self.n_seen += 1;
        let halves = [(from, number), (number + 1, to)];
        let left = halves.into_iter().filter(|(from, to)| from < to);
        self.missing
            .extend(left.map(|(from, to)| (from, to, before_ns, after_ns)));
    }

    fn gaps(&self) -> Vec<Gap> {
        let count = |from: i64, to: i64| u64::try_from(to - from).unwrap_or(0);
        let rows = self.missing.iter();
        let mut gaps: Vec<Gap> = rows
            .map(|(from, to, before_ns, after_ns)| (*before_ns, *after_ns, count(*from, *to)))
            .collect();
        gaps.sort_unstable();
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(numbers: impl IntoIterator<Item = u32>) -> (u64, u64, Vec<Gap>) {
        let mut mirrors = Mirrors::default();
        for (t_ns, number) in (0..).zip(numbers) {
            mirrors.note(Some((7, number)), t_ns);
        }
        let (_, n, n_missing, gaps) = mirrors.sessions().remove(0);
        (n, n_missing, gaps)
    }

    #[test]
    fn gaps_are_counted_across_the_wrap() {
        assert_eq!(seen([5, 6, 9, 10]), (4, 2, vec![(1, 2, 2)]));
        assert_eq!(
            seen([u32::MAX - 1, u32::MAX, 1, 2]),
            (4, 1, vec![(1, 2, 1)])
        );
    }

    #[test]
    fn what_comes_late_is_not_missing() {
        assert_eq!(seen([5, 7, 6, 8]), (4, 0, vec![]));
        assert_eq!(seen([5, 9, 7, 10]), (4, 2, vec![(0, 1, 1), (0, 1, 1)]));
        assert_eq!(seen([6, 5, 7]).1, 0, "the first one late");
    }

    #[test]
    fn copies_and_numbers_that_do_not_count_miss_nothing() {
        // from where the number before was seen first
        assert_eq!(seen([1, 1, 2, 2, 4, 4]), (3, 1, vec![(2, 4, 1)]));
        let mut mirrors = Mirrors::default();
        (0..50).for_each(|t_ns| mirrors.note(Some((7, 0)), t_ns));
        mirrors.note(None, 50);
        assert_eq!(mirrors.sessions(), []);
    }

    #[test]
    fn a_count_that_starts_anew_is_no_gap() {
        let again = (100_000..100_010).chain(0..10);
        assert_eq!(seen(again).1, 0);
        let stray = (100_000..100_005).chain([3]).chain(100_005..100_010);
        assert_eq!(seen(stray).1, 0);
    }

    #[test]
    fn sessions_count_by_themselves() {
        let mut mirrors = Mirrors::default();
        for (t_ns, number) in (0..).zip([1, 2, 3, 4]) {
            mirrors.note(Some((1 << 10 | 7, number)), t_ns);
            mirrors.note(Some((2 << 10 | 7, 900 + number * 2)), t_ns);
        }
        let missing: Vec<_> = mirrors
            .sessions()
            .iter()
            .map(|one| (one.0, one.2))
            .collect();
        assert_eq!(missing, [(7, 0), (7, 3)]);
    }
}
