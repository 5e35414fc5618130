//! Flows whose packets are equal to each other, and how often an identity of them comes again.

use super::Sight;
use super::crowd::repeats;
use crate::hashed::HashedMap;
use crate::plan::per_us;

/// What was seen of a flow since it first repeated itself.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    n_more: i64,
    /// Time in which more could have been seen.
    watched_ns: i64,
}

/// The flows that repeat themselves.
#[derive(Debug, Default)]
pub(super) struct Recurrence(HashedMap<Seen>);

impl Recurrence {
    /// How many more of an identity of this flow come, per µs; `None` if none ever did.
    #[expect(clippy::cast_precision_loss, reason = "a density needs few digits")]
    pub(super) fn rate_of(&self, flow: u64) -> Option<f64> {
        if self.0.is_empty() {
            return None;
        }
        let seen = self.0.get(&flow)?;
        Some(seen.n_more as f64 * per_us(seen.watched_ns))
    }

    /// Takes note of a run without its copies, after which nothing was seen for a horizon.
    pub(super) fn note(&mut self, kept: &[Sight], horizon_ns: i64) {
        let Some(first) = kept.first() else { return };
        let does_repeat = repeats(kept);
        if !does_repeat && !self.0.contains_key(&first.flow) {
            return;
        }
        let seen = self.0.entry(first.flow).or_default();
        let times = || kept.iter().map(|sight| sight.aligned_ns);
        let span_ns = times()
            .max()
            .unwrap_or(0)
            .saturating_sub(times().min().unwrap_or(0));
        seen.watched_ns = seen
            .watched_ns
            .saturating_add(span_ns.saturating_add(horizon_ns));
        if does_repeat {
            seen.n_more = seen.n_more.saturating_add(most_at_a_point(kept) - 1);
        }
    }
}

fn most_at_a_point(kept: &[Sight]) -> i64 {
    let mut points: Vec<u16> = kept.iter().map(|sight| sight.point).collect();
    points.sort_unstable();
    let most = points.chunk_by(|a, b| a == b).map(<[u16]>::len).max();
    i64::try_from(most.unwrap_or(1)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::testing::sight;
    use super::*;

    #[test]
    fn the_rate_is_that_of_further_ones_in_the_time_they_could_come() {
        let mut recurrence = Recurrence::default();
        let once = [sight(1, 0, 0), sight(1, 1, 0)];
        recurrence.note(&once, 999_000);
        assert_eq!(recurrence.rate_of(0), None);
        let twice = [once[0], once[1], sight(1, 0, 1000), sight(1, 1, 1000)];
        recurrence.note(&twice, 999_000);
        assert_eq!(recurrence.rate_of(0), Some(1e-3));
        recurrence.note(&once, 1_000_000);
        assert_eq!(recurrence.rate_of(0), Some(0.5e-3));
        assert_eq!(recurrence.rate_of(7), None);
    }
}
