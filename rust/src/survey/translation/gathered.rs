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
    of_content: HashedMap<Alike>,
    n_held: usize,
    swept_ns: Option<i64>,
}

/// Packets of one content, and until when they are weighed.
struct Alike {
    witnesses: Vec<Witness>,
    weighed_ns: i64,
}

impl Default for Alike {
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
        let settled_ns = watermark_ns.saturating_sub(window_ns);
        let mut due = Vec::new();
        for (content, alike) in &self.of_content {
            let until_ns = if is_all {
                Some(i64::MAX)
            } else {
                alike.until_ns(settled_ns)
            };
            due.extend(until_ns.map(|until_ns| (alike.first_ns(), *content, until_ns)));
        }
        // in order of time: what was evident later ends what was evident before
        due.sort_unstable();
        for (_, content, until_ns) in due {
            self.weigh(content, until_ns, window_ns, sessions);
        }
    }

    fn weigh(&mut self, content: u64, until_ns: i64, window_ns: i64, sessions: &mut Sessions) {
        let Some(mut alike) = self.of_content.remove(&content) else {
            return;
        };
        let n_before = alike.witnesses.len();
        let due = Due {
            from_ns: alike.weighed_ns,
            until_ns,
            window_ns,
        };
        weigh(&mut alike.witnesses, &due, sessions);
        // those of the last window stay: they tell what is equal to a packet that is weighed later
        let kept_ns = until_ns.saturating_sub(window_ns);
        let is_kept = |one: &Witness| until_ns < i64::MAX && one.aligned_ns >= kept_ns;
        alike.witnesses.retain(is_kept);
        alike.weighed_ns = until_ns;
        self.n_held -= n_before - alike.witnesses.len();
        if !alike.witnesses.is_empty() {
            self.of_content.insert(content, alike);
        }
    }

    fn is_due(&self, watermark_ns: i64, window_ns: i64) -> bool {
        self.swept_ns
            .is_none_or(|swept| watermark_ns.saturating_sub(swept) > window_ns)
    }
}

impl Alike {
    /// Until when they can be weighed: all of them if none is open, and else those that are not if
    /// they are many, for packets without payload may never cease.
    fn until_ns(&self, settled_ns: i64) -> Option<i64> {
        let is_open = |one: &Witness| one.aligned_ns >= settled_ns;
        if !self.witnesses.iter().any(is_open) {
            return Some(i64::MAX);
        }
        (self.witnesses.len() >= MANY_ALIKE).then_some(settled_ns)
    }

    fn first_ns(&self) -> Option<i64> {
        let times_ns = self.witnesses.iter().map(|one| one.aligned_ns);
        times_ns.filter(|ns| *ns >= self.weighed_ns).min()
    }
}
