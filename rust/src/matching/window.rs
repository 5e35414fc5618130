//! The window: gathers the observations of each identity until no more of them can come.

use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use std::collections::BTreeMap;

const NONE: u32 = u32::MAX;
/// Observations of one identity in one unbroken run after which a part is decided early.
const LONG_RUN: u32 = 4096;
/// Horizons after which a run is looked at for gaps, though it has no end.
const LONG_HORIZONS: i64 = 4;

struct Held {
    observation: Observation,
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

/// All observations that are not decided yet.
pub(crate) struct Window {
    horizon_ns: i64,
    /// Observations farther apart than this are never the same packet, however dense the run.
    gap_ns: i64,
    held: Vec<Held>,
    free_held: u32,
    groups: Vec<Group>,
    free_groups: Vec<u32>,
    of_key: HashedMap<u32>,
    /// Groups by slice of time in which they may be settled; a stamp far off delays no other group.
    due: BTreeMap<i64, Vec<u32>>,
    /// The slice of the group before, which most often is that of the next.
    latest: (i64, Vec<u32>),
    spare: Vec<Vec<u32>>,
    slice_bits: u32,
}

impl Window {
    pub(crate) fn new(horizon_ns: i64, gap_ns: i64) -> Self {
        const SLICES_PER_HORIZON: i64 = 16;
        Self {
            horizon_ns,
            gap_ns,
            held: Vec::new(),
            free_held: NONE,
            groups: Vec::new(),
            free_groups: Vec::new(),
            of_key: HashedMap::default(),
            due: BTreeMap::new(),
            latest: (i64::MIN, Vec::new()),
            spare: Vec::new(),
            slice_bits: (horizon_ns / SLICES_PER_HORIZON).max(1).ilog2(),
        }
    }

    pub(crate) fn insert(&mut self, observation: &Observation) {
        let place = self.hold(observation);
        if let Some(index) = self.of_key.get(&observation.key) {
            let Some(group) = self.groups.get_mut(*index as usize) else {
                return;
            };
            group.first_ns = group.first_ns.min(observation.aligned_ns);
            group.last_ns = group.last_ns.max(observation.aligned_ns);
            group.n += 1;
            let tail = std::mem::replace(&mut group.tail, place);
            if let Some(tail) = self.held.get_mut(tail as usize) {
                tail.next = place;
            }
        } else {
            let index = self.begin(observation, place);
            self.schedule(index, observation.aligned_ns);
        }
    }

    fn hold(&mut self, observation: &Observation) -> u32 {
        let held = Held {
            observation: *observation,
            next: NONE,
        };
        if let Some(free) = self.held.get_mut(self.free_held as usize) {
            let place = std::mem::replace(&mut self.free_held, free.next);
            *free = held;
            return place;
        }
        self.held.push(held);
        u32::try_from(self.held.len() - 1).unwrap_or(NONE)
    }

    fn begin(&mut self, observation: &Observation, place: u32) -> u32 {
        let group = Group {
            key: observation.key,
            head: place,
            tail: place,
            n: 1,
            first_ns: observation.aligned_ns,
            last_ns: observation.aligned_ns,
        };
        let free = self.free_groups.pop();
        let index = free.unwrap_or_else(|| u32::try_from(self.groups.len()).unwrap_or(NONE));
        if let Some(slot) = self.groups.get_mut(index as usize) {
            *slot = group;
        } else {
            self.groups.push(group);
        }
        self.of_key.insert(observation.key, index);
        index
    }

    fn schedule(&mut self, index: u32, at_ns: i64) {
        let slice = at_ns >> self.slice_bits;
        if slice != self.latest.0 {
            self.put_back();
            let groups = self.due.remove(&slice);
            let groups = groups.unwrap_or_else(|| self.spare.pop().unwrap_or_default());
            self.latest = (slice, groups);
        }
        self.latest.1.push(index);
    }

    fn put_back(&mut self) {
        let (slice, groups) = &mut self.latest;
        if !groups.is_empty() {
            self.due.insert(*slice, std::mem::take(groups));
        }
    }

    /// Hands out every group to which nothing newer than `watermark_ns` can belong; at `i64::MAX`,
    /// all of them.
    pub(crate) fn sweep(
        &mut self,
        watermark_ns: i64,
        out: &mut Vec<Observation>,
        decide: &mut dyn FnMut(&mut Vec<Observation>),
    ) {
        let is_end = watermark_ns == i64::MAX;
        let settled_ns = watermark_ns.saturating_sub(self.horizon_ns);
        self.put_back();
        self.latest.0 = i64::MIN;
        while let Some(slice) = self.due.first_entry()
            && (is_end || *slice.key() < settled_ns >> self.slice_bits)
        {
            let mut indices = slice.remove();
            self.fetch(&indices);
            for index in indices.drain(..) {
                self.settle(index, settled_ns, is_end, out);
                if !out.is_empty() {
                    decide(out);
                    out.clear();
                }
            }
            self.spare.push(indices);
        }
    }

    /// Looks at what will be taken: memory that is far away comes for many groups at once, and not for
    /// one after the other.
    fn fetch(&self, indices: &[u32]) {
        let next = |place: u32| self.held.get(place as usize).map_or(NONE, |held| held.next);
        let groups = indices
            .iter()
            .filter_map(|index| self.groups.get(*index as usize));
        let ends = groups.map(|group| next(next(group.head)) ^ next(group.tail));
        std::hint::black_box(ends.fold(0, std::ops::BitXor::bitxor));
    }

    fn settle(&mut self, index: u32, settled_ns: i64, is_end: bool, out: &mut Vec<Observation>) {
        let Some(group) = self.groups.get(index as usize) else {
            return;
        };
        let long_ago_ns = settled_ns.saturating_sub(LONG_HORIZONS.saturating_mul(self.horizon_ns));
        if is_end || group.last_ns < settled_ns {
            self.take(index, out);
        } else if group.n > LONG_RUN || group.first_ns < long_ago_ns {
            self.split(index, settled_ns, out);
        } else {
            self.schedule(index, group.last_ns);
        }
    }

    /// Takes all observations of a group out of the window.
    fn take(&mut self, index: u32, out: &mut Vec<Observation>) {
        let Some(group) = self.groups.get_mut(index as usize) else {
            return;
        };
        let mut place = std::mem::replace(&mut group.head, NONE);
        self.of_key.remove(&group.key);
        self.free_groups.push(index);
        while let Some(held) = self.held.get_mut(place as usize) {
            out.push(held.observation);
            let next = std::mem::replace(&mut held.next, self.free_held);
            self.free_held = std::mem::replace(&mut place, next);
        }
    }

    /// Of a run of one identity without an end, takes the part before its last settled gap.
    fn split(&mut self, index: u32, settled_ns: i64, out: &mut Vec<Observation>) {
        self.take(index, out);
        out.sort_unstable_by_key(|observation| (observation.aligned_ns, observation.frame));
        let settled = out.partition_point(|observation| observation.aligned_ns < settled_ns);
        let is_gap = |two: &[Observation]| matches!(two, [a, b] if b.aligned_ns.saturating_sub(a.aligned_ns) > self.gap_ns);
        let cut = match out.windows(2).take(settled).rposition(is_gap) {
            Some(before) => before + 1,
            None if out.len() > LONG_RUN as usize => settled,
            None => 0,
        };
        self.keep(out.get(cut..).unwrap_or(&[]));
        out.truncate(cut);
    }

    /// Puts the rest of a run back, to be looked at when its newest observation may be settled.
    fn keep(&mut self, rest: &[Observation]) {
        let [first, others @ .., last] = rest else {
            return rest.iter().for_each(|only| self.insert(only));
        };
        let place = self.hold(first);
        let index = self.begin(first, place);
        self.schedule(index, last.aligned_ns);
        others
            .iter()
            .chain([last])
            .for_each(|observation| self.insert(observation));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;

    /// Inserts observations one by one, sweeping after each; returns the groups, and the most held.
    fn groups(
        window: &mut Window,
        observations: &[Observation],
        until_ns: impl Fn(&Observation) -> i64,
    ) -> Vec<Vec<i64>> {
        let (mut groups, mut out) = (Vec::new(), Vec::new());
        let mut decide = |observations: &mut Vec<Observation>| {
            groups.push(observations.iter().map(|one| one.aligned_ns).collect());
        };
        for observation in observations {
            window.insert(observation);
            window.sweep(until_ns(observation), &mut out, &mut decide);
        }
        window.sweep(i64::MAX, &mut out, &mut decide);
        groups
    }

    #[test]
    fn every_sight_comes_out_once_with_its_own() {
        let mut window = Window::new(100, 10);
        let observations: Vec<_> = (0..5001_i64)
            .map(|t| observation(t.unsigned_abs() / 3 % 700, 0, t))
            .collect();
        let groups = groups(&mut window, &observations, |one| one.aligned_ns);
        assert!(
            groups
                .iter()
                .all(|group| group.len() == 3 && group[2] - group[0] == 2)
        );
        assert_eq!(groups.len(), 1667);
        assert!(window.held.len() < 1000, "held {}", window.held.len());
        assert!(window.due.is_empty() && window.of_key.is_empty());
    }

    #[test]
    fn a_run_without_end_is_decided_in_parts() {
        // with gaps, and without
        for (step_ns, most) in [(20, 200), (1, 2 * LONG_RUN as usize)] {
            let mut window = Window::new(100, 10);
            let at = |i: i64| observation(1, 0, i * step_ns);
            let observations: Vec<_> = (0..100_000).map(at).collect();
            let groups = groups(&mut window, &observations, |one| one.aligned_ns);
            assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 100_000);
            assert!(window.held.len() < most, "held {}", window.held.len());
        }
    }

    #[test]
    fn a_stamp_far_off_delays_no_other_group() {
        let mut window = Window::new(100, 10);
        let mut observations: Vec<_> = (0..10_000_i64)
            .map(|t| observation(t.unsigned_abs(), 0, t))
            .collect();
        observations.insert(0, observation(20_000, 0, i64::MAX));
        observations.insert(0, observation(20_001, 0, i64::MIN));
        let clock = |one: &Observation| if one.key < 10_000 { one.aligned_ns } else { 0 };
        let groups = groups(&mut window, &observations, clock);
        assert_eq!(groups.len(), 10_002);
        assert_eq!(groups.last(), Some(&vec![i64::MAX]));
        assert!(window.held.len() < 300, "held {}", window.held.len());
    }

    #[test]
    fn unsorted_observations_within_the_horizon_stay_together() {
        let mut window = Window::new(400, 10);
        // pairs 100 apart, shuffled by steps of up to 128
        let stamp = |i: i64| i / 256 * 256 + (i % 256) * 77 % 256;
        let order: Vec<i64> = (0..25_600).map(stamp).collect();
        let observations: Vec<_> = order
            .iter()
            .map(|t| observation((t % 128 + t / 256 * 128).unsigned_abs(), 0, *t))
            .collect();
        let groups = groups(&mut window, &observations, |one| one.aligned_ns);
        assert_eq!(groups.iter().find(|group| group.len() != 2), None);
        assert_eq!(groups.len(), 12_800);
    }
}
