//! The window of learning: packets of equal content, side by side.

use super::sessions::Sessions;
use super::weigh::{Due, weigh};
use super::witness::Witness;
use crate::base::hashed::HashedMap;

/// Packets of one content after which not all have to be settled, and of all after which none has to.
const MANY_ALIKE: usize = 4096;
const MOST_HELD: usize = 1 << 19;

/// Packets of equal content, until nothing more can belong to them.
#[derive(Default)]
pub(super) struct Gathered {
    of_content: HashedMap<EqualContent>,
    n_held: usize,
    swept_ns: Option<i64>,
}

/// Packets of one content, and until when they are weighed.
struct EqualContent {
    witnesses: Vec<Witness>,
    weighed_ns: i64,
}

impl Default for EqualContent {
    fn default() -> Self {
        Self {
            witnesses: Vec::new(),
            weighed_ns: i64::MIN,
        }
    }
}

impl Gathered {
    pub(super) fn insert(&mut self, witness: Witness) {
        let alike = self
            .of_content
            .entry(witness.unaddressed.content)
            .or_default();
        alike.witnesses.push(witness);
        self.n_held += 1;
    }

    /// Weighs all to which nothing newer than a time can belong; at `i64::MAX`, all.
    pub(super) fn sweep(&mut self, watermark_ns: i64, window_ns: i64, sessions: &mut Sessions) {
        let is_all = self.n_held > MOST_HELD || watermark_ns == i64::MAX;
        if !is_all && !self.is_due(watermark_ns, window_ns) {
            return;
        }
        self.swept_ns = Some(watermark_ns);
        let settled_ns = (!is_all).then(|| watermark_ns.saturating_sub(window_ns));
        for (_, content, until_ns) in self.due(settled_ns) {
            self.weigh(content, until_ns, window_ns, sessions);
        }
    }

    /// What can be weighed of each content, and until when, in order of time: what was evident later
    /// ends what was evident before.
    fn due(&self, settled_ns: Option<i64>) -> Vec<(Option<i64>, u64, i64)> {
        let until_ns =
            |alike: &EqualContent| settled_ns.map_or(Some(i64::MAX), |ns| alike.until_ns(ns));
        let all = self.of_content.iter();
        let all =
            all.filter_map(|(content, alike)| Some((alike.first_ns(), *content, until_ns(alike)?)));
        let mut due: Vec<_> = all.collect();
        due.sort_unstable();
        due
    }

    fn weigh(&mut self, content: u64, until_ns: i64, window_ns: i64, sessions: &mut Sessions) {
        let Some(mut alike) = self.of_content.remove(&content) else {
            return;
        };
        self.n_held -= alike.weigh(until_ns, window_ns, sessions);
        if !alike.witnesses.is_empty() {
            self.of_content.insert(content, alike);
        }
    }

    fn is_due(&self, watermark_ns: i64, window_ns: i64) -> bool {
        self.swept_ns
            .is_none_or(|swept| watermark_ns.saturating_sub(swept) > window_ns)
    }
}

impl EqualContent {
    /// Until when they can be weighed: all of them if none is open, and else those that are not if
    /// they are many, for packets without payload may never cease.
    fn until_ns(&self, settled_ns: i64) -> Option<i64> {
        let is_open = |one: &Witness| one.aligned_ns >= settled_ns;
        if !self.witnesses.iter().any(is_open) {
            return Some(i64::MAX);
        }
        (self.witnesses.len() >= MANY_ALIKE).then_some(settled_ns)
    }

    /// Weighs those before a time, and forgets those that tell nothing of later ones: says how many.
    fn weigh(&mut self, until_ns: i64, window_ns: i64, sessions: &mut Sessions) -> usize {
        let due = Due {
            from_ns: self.weighed_ns,
            until_ns,
            window_ns,
        };
        weigh(&mut self.witnesses, &due, sessions);
        self.weighed_ns = until_ns;
        let n_before = self.witnesses.len();
        // those of the last window stay: they tell what is equal to a packet that is weighed later
        let kept_ns = until_ns.saturating_sub(window_ns);
        let is_kept = |one: &Witness| until_ns < i64::MAX && one.aligned_ns >= kept_ns;
        self.witnesses.retain(is_kept);
        n_before - self.witnesses.len()
    }

    fn first_ns(&self) -> Option<i64> {
        let times_ns = self.witnesses.iter().map(|one| one.aligned_ns);
        times_ns.filter(|ns| *ns >= self.weighed_ns).min()
    }
}
