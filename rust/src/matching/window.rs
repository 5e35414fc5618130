//! The window: gathers the sights of each identity until no more of them can come.

use super::Sight;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// Identities are hashes already.
#[derive(Default)]
pub(super) struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// A map whose keys are hashes.
pub(super) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<AlreadyHashed>>;

const NONE: u32 = u32::MAX;
/// Sights of one identity in one unbroken run after which a part is decided early.
const LONG_RUN: u32 = 4096;

struct Held {
    sight: Sight,
    next: u32,
}

struct Group {
    key: u64,
    head: u32,
    tail: u32,
    n: u32,
    first_ns: i64,
    last_ns: i64,
}

/// All sights that are not decided yet.
pub(super) struct Window {
    horizon_ns: i64,
    /// Sights farther apart than this are never the same packet, however dense the run.
    gap_ns: i64,
    held: Vec<Held>,
    free_held: u32,
    groups: Vec<Group>,
    free_groups: Vec<u32>,
    of_key: HashedMap<u32>,
    /// Groups by time of their first sight.
    queue: VecDeque<u32>,
}

impl Window {
    pub(super) fn new(horizon_ns: i64, gap_ns: i64) -> Self {
        Self {
            horizon_ns,
            gap_ns,
            held: Vec::new(),
            free_held: NONE,
            groups: Vec::new(),
            free_groups: Vec::new(),
            of_key: HashedMap::default(),
            queue: VecDeque::new(),
        }
    }

    pub(super) fn insert(&mut self, sight: &Sight) {
        let place = self.hold(sight);
        if let Some(index) = self.of_key.get(&sight.key) {
            let Some(group) = self.groups.get_mut(*index as usize) else { return };
            group.first_ns = group.first_ns.min(sight.aligned_ns);
            group.last_ns = group.last_ns.max(sight.aligned_ns);
            group.n += 1;
            let tail = std::mem::replace(&mut group.tail, place);
            if let Some(tail) = self.held.get_mut(tail as usize) {
                tail.next = place;
            }
        } else {
            self.begin(sight, place);
        }
    }

    fn hold(&mut self, sight: &Sight) -> u32 {
        let held = Held { sight: *sight, next: NONE };
        if let Some(free) = self.held.get_mut(self.free_held as usize) {
            let place = std::mem::replace(&mut self.free_held, free.next);
            *free = held;
            return place;
        }
        self.held.push(held);
        u32::try_from(self.held.len() - 1).unwrap_or(NONE)
    }

    fn begin(&mut self, sight: &Sight, place: u32) {
        let group = Group {
            key: sight.key,
            head: place,
            tail: place,
            n: 1,
            first_ns: sight.aligned_ns,
            last_ns: sight.aligned_ns,
        };
        let index = match self.free_groups.pop() {
            Some(index) => {
                if let Some(slot) = self.groups.get_mut(index as usize) {
                    *slot = group;
                }
                index
            }
            None => {
                self.groups.push(group);
                u32::try_from(self.groups.len() - 1).unwrap_or(NONE)
            }
        };
        self.of_key.insert(sight.key, index);
        self.queue.push_back(index);
    }

    /// Hands out every group to which nothing newer than `watermark_ns` can belong.
    pub(super) fn sweep(&mut self, watermark_ns: i64, out: &mut Vec<Sight>, decide: &mut dyn FnMut(&mut Vec<Sight>)) {
        let settled_ns = watermark_ns.saturating_sub(self.horizon_ns);
        for _ in 0..self.queue.len() {
            let Some(index) = self.queue.front().copied() else { return };
            let Some(group) = self.groups.get(index as usize) else { return };
            if group.last_ns < settled_ns {
                self.queue.pop_front();
                self.take(index, out);
                decide(out);
            } else if group.n > LONG_RUN || group.first_ns < settled_ns.saturating_sub(4 * self.horizon_ns) {
                self.queue.pop_front();
                self.split(index, settled_ns, out);
                if !out.is_empty() {
                    decide(out);
                }
            } else {
                return;
            }
            out.clear();
        }
    }

    /// Takes all sights of a group out of the window.
    fn take(&mut self, index: u32, out: &mut Vec<Sight>) {
        let Some(group) = self.groups.get_mut(index as usize) else { return };
        let mut place = std::mem::replace(&mut group.head, NONE);
        self.of_key.remove(&group.key);
        self.free_groups.push(index);
        while let Some(held) = self.held.get_mut(place as usize) {
            out.push(held.sight);
            let next = std::mem::replace(&mut held.next, self.free_held);
            self.free_held = std::mem::replace(&mut place, next);
        }
    }

    /// Of a run of one identity without an end, takes the part before its last settled gap.
    fn split(&mut self, index: u32, settled_ns: i64, out: &mut Vec<Sight>) {
        self.take(index, out);
        out.sort_unstable_by_key(|sight| (sight.aligned_ns, sight.frame));
        let settled = out.partition_point(|sight| sight.aligned_ns < settled_ns);
        let gap = out
            .windows(2)
            .take(settled)
            .rposition(|two| matches!(two, [a, b] if b.aligned_ns - a.aligned_ns > self.gap_ns));
        let cut = match gap {
            Some(before) => before + 1,
            None if out.len() > LONG_RUN as usize => settled,
            None => 0,
        };
        for sight in out.drain(cut..) {
            self.insert(&sight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::FrameId;
    use super::*;

    fn sight(key: u64, aligned_ns: i64) -> Sight {
        Sight {
            key,
            flow: 0,
            pair: 0,
            aligned_ns,
            t_ns: aligned_ns,
            frame: FrameId::new(0, u64::try_from(aligned_ns).unwrap()),
            copy_tag: 0,
            point: 0,
            toward: true,
            directed: true,
        }
    }

    #[test]
    fn every_sight_comes_out_once_with_its_own() {
        let mut window = Window::new(100, 10);
        let mut groups: Vec<Vec<i64>> = Vec::new();
        let mut out = Vec::new();
        for t in 0..5000_i64 {
            window.insert(&sight(u64::try_from(t / 3).unwrap() % 700, t));
            window.sweep(t, &mut out, &mut |sights| {
                groups.push(sights.iter().map(|one| one.aligned_ns).collect());
            });
        }
        window.sweep(i64::MAX, &mut out, &mut |sights| {
            groups.push(sights.iter().map(|one| one.aligned_ns).collect());
        });
        assert!(groups.iter().all(|group| group.len() == 3 && group[2] - group[0] == 2));
        assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 5000 - 5000 % 3 + 5000 % 3);
        assert!(window.held.len() < 1000, "held {}", window.held.len());
    }

    #[test]
    fn a_run_without_end_is_decided_in_parts() {
        let mut window = Window::new(100, 10);
        let (mut n, mut out) = (0, Vec::new());
        for t in 0..100_000_i64 {
            window.insert(&sight(1, t * 20));
            window.sweep(t * 20, &mut out, &mut |sights| n += sights.len());
            assert!(window.held.len() < 200);
        }
        window.sweep(i64::MAX, &mut out, &mut |sights| n += sights.len());
        assert_eq!(n, 100_000);
    }
}
