//! The window of learning: packets of equal content, side by side.

use super::sessions::Sessions;
use super::weigh::weigh;
use super::witness::Witness;
use crate::base::hashed::HashedMap;

/// Packets of one content after which they are weighed early, and of all.
const MANY_ALIKE: usize = 4096;
const MOST_HELD: usize = 1 << 19;

/// Packets of equal content, until nothing more can belong to them.
#[derive(Default)]
pub(super) struct Gathered {
    of_content: HashedMap<Vec<Witness>>,
    n_held: usize,
    swept_ns: Option<i64>,
}

impl Gathered {
    pub(super) fn insert(&mut self, witness: Witness) {
        let group = self
            .of_content
            .entry(witness.unaddressed.content)
            .or_default();
        group.push(witness);
        self.n_held += 1;
    }

    /// Weighs all to which nothing newer than a time can belong; at `i64::MAX`, all.
    pub(super) fn sweep(&mut self, watermark_ns: i64, window_ns: i64, sessions: &mut Sessions) {
        let is_crowded = self.n_held > MOST_HELD;
        if !is_crowded && !self.is_due(watermark_ns, window_ns) {
            return;
        }
        self.swept_ns = Some(watermark_ns);
        let settled_ns = watermark_ns.saturating_sub(window_ns);
        let is_settled = |group: &Vec<Witness>| {
            let is_open = group.iter().any(|one| one.aligned_ns >= settled_ns);
            !is_open || is_crowded || group.len() >= MANY_ALIKE || watermark_ns == i64::MAX
        };
        let settled = self.of_content.extract_if(|_, group| is_settled(group));
        let mut settled: Vec<(u64, Vec<Witness>)> = settled.collect();
        // in order of time: what was evident later ends what was evident before
        settled.sort_by_key(|(content, group)| (first_ns(group), *content));
        for (_, mut group) in settled {
            self.n_held -= group.len();
            weigh(&mut group, window_ns, sessions);
        }
    }

    fn is_due(&self, watermark_ns: i64, window_ns: i64) -> bool {
        self.swept_ns
            .is_none_or(|swept| watermark_ns.saturating_sub(swept) > window_ns)
    }
}

fn first_ns(group: &[Witness]) -> Option<i64> {
    group.iter().map(|one| one.aligned_ns).min()
}
