//! Flows whose packets are equal to each other, and how often an identity of them comes again.
//!
//! Of a stream what carries bytes is apart from what does not: acknowledgments repeat themselves where
//! something is missing, bytes have numbers.

use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use crate::matching::resolve::density::repeats;
use crate::plan::per_us;

/// What was seen of a flow since it first repeated itself.
#[derive(Clone, Copy, Debug, Default)]
struct FlowRecurrence {
    n_more: i64,
    /// Time in which more could have been seen.
    watched_ns: i64,
}

/// The flows that repeat themselves.
#[derive(Debug, Default)]
pub(crate) struct Recurrence(HashedMap<FlowRecurrence>);

impl Recurrence {
    /// How many more of an identity like this one's come, per µs; `None` if none ever did.
    #[expect(clippy::cast_precision_loss, reason = "a density needs few digits")]
    pub(crate) fn rate_of(&self, one: &Observation) -> Option<f64> {
        if self.0.is_empty() {
            return None;
        }
        let seen = self.0.get(&alike(one))?;
        Some(seen.n_more as f64 * per_us(seen.watched_ns))
    }

    /// Takes note of a run without its copies, after which nothing was seen for a horizon.
    pub(crate) fn note(&mut self, kept: &[Observation], horizon_ns: i64) {
        let Some(first) = kept.first() else { return };
        let does_repeat = repeats(kept);
        let alike = alike(first);
        if !does_repeat && !self.0.contains_key(&alike) {
            return;
        }
        let seen = self.0.entry(alike).or_default();
        let times = || kept.iter().map(|observation| observation.aligned_ns);
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

/// The flow; another number for what carries its bytes.
fn alike(one: &Observation) -> u64 {
    const BYTES_MASK: u64 = 0xd6e8_feb8_6659_fd93;
    let mask = if one.range.has_bytes() { BYTES_MASK } else { 0 };
    one.flow ^ mask
}

fn most_at_a_point(kept: &[Observation]) -> i64 {
    let mut points: Vec<u16> = kept.iter().map(|observation| observation.point).collect();
    points.sort_unstable();
    let most = points.chunk_by(|a, b| a == b).map(<[u16]>::len).max();
    i64::try_from(most.unwrap_or(1)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::stream_bytes::StreamBytes;
    use crate::matching::testing::observation;

    #[test]
    fn the_rate_is_that_of_further_ones_in_the_time_they_could_come() {
        let mut recurrence = Recurrence::default();
        let once = [observation(1, 0, 0), observation(1, 1, 0)];
        recurrence.note(&once, 999_000);
        assert_eq!(recurrence.rate_of(&once[0]), None);
        let twice = [
            once[0],
            once[1],
            observation(1, 0, 1000),
            observation(1, 1, 1000),
        ];
        recurrence.note(&twice, 999_000);
        assert_eq!(recurrence.rate_of(&once[0]), Some(1e-3));
        recurrence.note(&once, 1_000_000);
        assert_eq!(recurrence.rate_of(&once[0]), Some(0.5e-3));
        let other = Observation { flow: 7, ..once[0] };
        assert_eq!(recurrence.rate_of(&other), None);
    }

    #[test]
    fn acknowledgments_that_repeat_say_nothing_of_bytes() {
        let mut recurrence = Recurrence::default();
        let times = [(0, 0), (1, 0), (0, 1000), (1, 1000)];
        let acknowledged = times.map(|(point, at_ns)| observation(1, point, at_ns));
        recurrence.note(&acknowledged, 999_000);
        let bytes = Observation {
            range: StreamBytes::new(5, 100),
            ..acknowledged[0]
        };
        assert!(recurrence.rate_of(&acknowledged[0]).is_some());
        assert_eq!(recurrence.rate_of(&bytes), None);
    }
}
