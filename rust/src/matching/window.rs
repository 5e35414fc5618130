//! The window: gathers the observations of each identity until no more of them can come.
//!
//! What is decided together, and in which order, depends on the packets alone, however often the window is
//! swept. For stamps that go back by more than the horizon that is not so: whoever reads a capture, it is
//! swept behind the same frames.

mod run;

use crate::base::hashed::HashedMap;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::window::run::{LONG_RUN, RunRules};
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

const NONE: u32 = u32::MAX;
/// Of a group that is no longer due.
const NEVER: i64 = i64::MIN;
/// Slices after which a run without an end is looked at for gaps: a horizon at least, and two at most.
const LOOK_SLICES: i64 = 32;

struct Held {
    observation: Observation,
    next: u32,
}

/// Observations of one identity: a run, or several that are not told from each other yet.
struct Group {
    key: u64,
    head: u32,
    tail: u32,
    n: u32,
    first_ns: i64,
    last_ns: i64,
    /// The slice in which it is looked at next.
    due: i64,
}

/// When a packet was seen, aligned for the way that it goes; nothing where that way is not known.
pub(crate) type AlignedTime = Box<dyn Fn(&Observation) -> Option<i64> + Send>;

/// All observations that are not decided yet.
pub(crate) struct Window {
    horizon_ns: i64,
    rules: RunRules,
    along_ns: AlignedTime,
    held: Vec<Held>,
    free_held: u32,
    groups: Vec<Group>,
    free_groups: Vec<u32>,
    /// The group to which further observations of an identity are added.
    of_key: HashedMap<u32>,
    /// Groups by slice of time in which they may be settled; a stamp far off delays no other group.
    due: BTreeMap<i64, Vec<u32>>,
    /// The slice of the group before, which most often is that of the next.
    latest: (i64, Vec<u32>),
    spare: Vec<Vec<u32>>,
    /// Groups that end in the present slice, with their last times.
    ready: Vec<(i64, u32)>,
    parting: Vec<Observation>,
    slice_bits: u32,
}

impl Window {
    /// Observations farther apart than `gap_ns` are never the same packet, however dense the run.
    /// Along the way that a packet goes, that is; observations are in the order of one way.
    pub(crate) fn new(horizon_ns: i64, gap_ns: i64, along_ns: AlignedTime) -> Self {
        const SLICES_PER_HORIZON: i64 = 16;
        Self {
            horizon_ns,
            rules: RunRules { horizon_ns, gap_ns },
            along_ns,
            held: Vec::new(),
            free_held: NONE,
            groups: Vec::new(),
            free_groups: Vec::new(),
            of_key: HashedMap::default(),
            due: BTreeMap::new(),
            latest: (i64::MIN, Vec::new()),
            spare: Vec::new(),
            ready: Vec::new(),
            parting: Vec::new(),
            slice_bits: (horizon_ns / SLICES_PER_HORIZON).max(1).ilog2(),
        }
    }

    fn slice_of(&self, at_ns: i64) -> i64 {
        at_ns >> self.slice_bits
    }

    pub(crate) fn insert(&mut self, observation: &Observation) {
        if let Some(index) = self.of_key.get(&observation.key) {
            self.add(*index, observation);
        } else {
            let index = self.begin(observation);
            self.of_key.insert(observation.key, index);
            self.schedule(index, self.slice_of(observation.aligned_ns));
        }
    }

    fn add(&mut self, index: u32, observation: &Observation) {
        let (place, slice) = (
            self.hold(observation),
            self.slice_of(observation.aligned_ns),
        );
        let Some(group) = self.groups.get_mut(index as usize) else {
            return;
        };
        group.last_ns = group.last_ns.max(observation.aligned_ns);
        group.n += 1;
        let tail = std::mem::replace(&mut group.tail, place);
        if let Some(tail) = self.held.get_mut(tail as usize) {
            tail.next = place;
        }
        if observation.aligned_ns < group.first_ns {
            group.first_ns = observation.aligned_ns;
            if slice < group.due {
                self.schedule(index, slice);
            }
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

    /// A group of its own, which is not due yet.
    fn begin(&mut self, observation: &Observation) -> u32 {
        let place = self.hold(observation);
        let group = Group {
            key: observation.key,
            head: place,
            tail: place,
            n: 1,
            first_ns: observation.aligned_ns,
            last_ns: observation.aligned_ns,
            due: NEVER,
        };
        let free = self.free_groups.pop();
        let index = free.unwrap_or_else(|| u32::try_from(self.groups.len()).unwrap_or(NONE));
        if let Some(slot) = self.groups.get_mut(index as usize) {
            *slot = group;
        } else {
            self.groups.push(group);
        }
        index
    }

    /// Where it was due before, it will be passed over.
    fn schedule(&mut self, index: u32, slice: i64) {
        if let Some(group) = self.groups.get_mut(index as usize) {
            group.due = slice;
        }
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
        *slice = i64::MIN;
    }

    /// Hands out every run to which nothing newer than `watermark_ns` can belong, in the order of their last
    /// times; at `i64::MAX`, all of them.
    pub(crate) fn sweep(
        &mut self,
        watermark_ns: i64,
        out: &mut Vec<Observation>,
        decide: &mut dyn FnMut(&mut Vec<Observation>),
    ) {
        let is_end = watermark_ns == i64::MAX;
        let settled = self.slice_of(watermark_ns.saturating_sub(self.horizon_ns));
        let settled = if is_end { i64::MAX } else { settled };
        self.put_back();
        while let Some(slice) = self.due.first_entry()
            && (is_end || *slice.key() < settled)
        {
            let (now, mut indices) = slice.remove_entry();
            self.fetch(&indices);
            for index in indices.drain(..) {
                self.look_at(index, now, settled);
            }
            self.spare.push(indices);
            self.hand_out(out, decide);
            self.put_back();
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

    /// Hands out what is ready, in an order that no key has a part in.
    fn hand_out(
        &mut self,
        out: &mut Vec<Observation>,
        decide: &mut dyn FnMut(&mut Vec<Observation>),
    ) {
        let mut ready = std::mem::take(&mut self.ready);
        if self.parting.capacity() > out.capacity() {
            // of a long run one copy is enough
            std::mem::swap(&mut self.parting, out);
        }
        ready.sort_unstable_by_key(|(at_ns, _)| *at_ns);
        for same in ready.chunk_by_mut(|(one_ns, _), (other_ns, _)| one_ns == other_ns) {
            // very many may be of one instant
            same.sort_by_cached_key(|(_, index)| self.first_frame(*index));
        }
        for (_, index) in ready.drain(..) {
            self.take(index, out);
            if !out.is_empty() {
                decide(out);
                out.clear();
            }
        }
        self.ready = ready;
    }

    #[cold]
    fn first_frame(&self, index: u32) -> Option<FrameId> {
        let mut place = self.groups.get(index as usize)?.head;
        let all = std::iter::from_fn(|| {
            let held = self.held.get(place as usize)?;
            place = held.next;
            Some(held.observation.frame)
        });
        all.min()
    }

    /// Makes a group ready that is due, if it is one run and ends in the present slice.
    fn look_at(&mut self, index: u32, now: i64, settled: i64) {
        let group = self.groups.get_mut(index as usize);
        let Some(group) = group.filter(|group| group.due == now) else {
            return;
        };
        let is_plain = group.n as usize <= LONG_RUN
            && group.last_ns.saturating_sub(group.first_ns) <= self.horizon_ns;
        if !is_plain {
            return self.part(index, now, settled);
        }
        let last = group.last_ns >> self.slice_bits;
        if last > now {
            return self.schedule(index, last);
        }
        group.due = NEVER;
        self.ready.push((group.last_ns, index));
    }

    /// Takes all observations of a group out of the window, and tells whether further ones were added to it.
    fn take(&mut self, index: u32, out: &mut Vec<Observation>) -> bool {
        let Some(group) = self.groups.get_mut(index as usize) else {
            return false;
        };
        let mut place = std::mem::replace(&mut group.head, NONE);
        group.due = NEVER;
        self.free_groups.push(index);
        while let Some(held) = self.held.get_mut(place as usize) {
            // a push would copy it twice
            out.extend_from_slice(std::slice::from_ref(&held.observation));
            let next = std::mem::replace(&mut held.next, self.free_held);
            self.free_held = std::mem::replace(&mut place, next);
        }
        match self.of_key.entry(group.key) {
            Entry::Occupied(open) if *open.get() == index => {
                open.remove();
                true
            }
            _ => false,
        }
    }

    /// Parts a group that may be several runs, or one without an end: all that nothing can be added to
    /// are groups of their own.
    fn part(&mut self, index: u32, now: i64, settled: i64) {
        let mut all = std::mem::take(&mut self.parting);
        let is_open = self.take(index, &mut all);
        all.sort_unstable_by_key(|observation| (observation.aligned_ns, observation.frame));
        let mut rest = all.as_mut_slice();
        while let Some(first) = rest.first().copied() {
            let n_run = self.rules.length(rest);
            let (run, _) = rest.split_at_mut(n_run);
            let last_ns = run.last().unwrap_or(&first).aligned_ns;
            let due = self.slice_of(last_ns).min(self.next_look(&first, now));
            let n_cut = self.cut(run, now);
            let is_ready = n_cut.is_some() || due <= now;
            if !is_ready && self.slice_of(last_ns) >= settled {
                let index = self.begin_due(rest, due).filter(|_| is_open);
                index.map(|index| self.of_key.insert(first.key, index));
                break;
            }
            let (run, others) = rest.split_at_mut(n_cut.unwrap_or(n_run));
            if is_ready {
                self.make_ready(run);
            } else {
                self.begin_due(run, due);
            }
            rest = others;
        }
        all.clear();
        self.parting = all;
    }

    /// The next slice in which a run is looked at for gaps.
    fn next_look(&self, first: &Observation, now: i64) -> i64 {
        let start = self.slice_of(first.aligned_ns);
        let n_looks = now.saturating_sub(start).max(0) / LOOK_SLICES;
        start.saturating_add((n_looks + 1) * LOOK_SLICES)
    }

    /// How many of a run's first observations are decided now, if it is looked at now.
    fn cut(&self, run: &mut [Observation], now: i64) -> Option<usize> {
        let start = self.slice_of(run.first()?.aligned_ns);
        let n_slices = now.saturating_sub(start);
        if n_slices <= 0 || n_slices % LOOK_SLICES != 0 {
            return None;
        }
        let n = run.partition_point(|one| self.slice_of(one.aligned_ns) <= now);
        let run = run.get_mut(..n)?;
        let aligned_ns: Vec<i64> = run.iter().map(|one| one.aligned_ns).collect();
        let along_ns: Option<Vec<i64>> = run.iter().map(&self.along_ns).collect();
        let Some(mut times_ns) = along_ns else {
            // the observations of one packet may be apart by as much as both ways take
            return self.rules.cut(&aligned_ns, 0);
        };
        if times_ns == aligned_ns {
            return self.rules.cut(&times_ns, n);
        }
        times_ns.sort_unstable();
        let complete_ns = (now << self.slice_bits).saturating_sub(self.horizon_ns);
        let complete = times_ns.partition_point(|at_ns| *at_ns < complete_ns);
        let n = self.rules.cut(&times_ns, complete)?;
        let last_ns = times_ns.get(n.checked_sub(1)?)?;
        let is_rest = |one: &Observation| (self.along_ns)(one) > Some(*last_ns);
        // stable: either part stays in order
        run.sort_by_cached_key(is_rest);
        Some(run.partition_point(|one| !is_rest(one)))
    }

    fn make_ready(&mut self, run: &[Observation]) {
        if let (Some(index), [.., last]) = (self.begin_with(run), run) {
            self.ready.push((last.aligned_ns, index));
        }
    }

    fn begin_due(&mut self, run: &[Observation], due: i64) -> Option<u32> {
        let index = self.begin_with(run)?;
        self.schedule(index, due);
        Some(index)
    }

    fn begin_with(&mut self, run: &[Observation]) -> Option<u32> {
        let (first, others) = run.split_first()?;
        let index = self.begin(first);
        for other in others {
            self.add(index, other);
        }
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::mixed;
    use crate::matching::testing::observation;

    fn window(horizon_ns: i64) -> Window {
        Window::new(horizon_ns, 10, Box::new(|one| Some(one.aligned_ns)))
    }

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

    /// Of some identities, observations at two points, the second of which is read in blocks of its own:
    /// some come again at once, some after a horizon or so, and some without a pause.
    fn repeated(seed: u64) -> Vec<Observation> {
        let mut all: Vec<Observation> = (0..12_000_i64)
            .map(|i| {
                let drawn = mixed(i.unsigned_abs() ^ seed << 32);
                let point = u16::from(drawn.is_multiple_of(2));
                let key = drawn >> 8 & if i % 5000 < 2500 { 7 } else { 127 };
                let at_ns = i * 3 + (drawn >> 16 & 15).cast_signed();
                let frame = FrameId::new(point.into(), i.unsigned_abs());
                Observation {
                    frame,
                    ..observation(key, point, at_ns)
                }
            })
            .collect();
        all.sort_by_key(|one| one.aligned_ns);
        all
    }

    #[test]
    fn groups_and_their_order_are_the_same_however_often_it_is_swept() {
        for seed in 0..20 {
            let all = repeated(seed);
            let decided = |n: usize| {
                let (mut window, mut out, mut groups) = (window(100), Vec::new(), Vec::new());
                let mut decide = |group: &mut Vec<Observation>| {
                    let mut frames: Vec<i64> = group.iter().map(|one| one.frame.packed()).collect();
                    frames.sort_unstable();
                    groups.push(frames);
                };
                // the second point's observations of a block come before the first one's
                for block in all.chunks(n) {
                    for point in [1, 0] {
                        block
                            .iter()
                            .filter(|one| one.point == point)
                            .for_each(|one| window.insert(one));
                    }
                    let until_ns = block.last().map_or(0, |one| one.aligned_ns);
                    window.sweep(until_ns, &mut out, &mut decide);
                }
                window.sweep(i64::MAX, &mut out, &mut decide);
                groups
            };
            let often = decided(1);
            assert_eq!(often.iter().map(Vec::len).sum::<usize>(), all.len());
            for n in [2, 7, 64, 1024, 20_000] {
                assert!(decided(n) == often, "blocks of {n}");
            }
        }
    }

    #[test]
    fn every_sight_comes_out_once_with_its_own() {
        let mut window = window(100);
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
        for (step_ns, most) in [(20, 200), (1, 2 * LONG_RUN)] {
            let mut window = window(100);
            let at = |i: i64| observation(1, 0, i * step_ns);
            let observations: Vec<_> = (0..100_000).map(at).collect();
            let groups = groups(&mut window, &observations, |one| one.aligned_ns);
            assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), 100_000);
            assert!(window.held.len() < most, "held {}", window.held.len());
        }
    }

    #[test]
    fn a_stamp_far_off_delays_no_other_group() {
        let mut window = window(100);
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
        let mut window = window(400);
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

    #[test]
    fn a_long_run_is_cut_between_packets_of_its_own_way() {
        const LATER_NS: i64 = 30;
        let along = |one: &Observation| Some(one.aligned_ns - i64::from(one.point) * LATER_NS);
        let mut window = Window::new(100, 10, Box::new(along));
        let of_packet = |n: i64| [(0, n * 60), (1, n * 60 + LATER_NS)];
        let seen: Vec<Observation> = (0..500)
            .flat_map(of_packet)
            .map(|(point, at_ns)| observation(1, point, at_ns))
            .collect();
        let groups = groups(&mut window, &seen, |one| one.aligned_ns);
        assert!(groups.len() > 10, "{}", groups.len());
        for group in groups {
            let n_first = group.iter().filter(|at_ns| *at_ns % 60 == 0).count();
            assert_eq!(group.len(), 2 * n_first, "{group:?}");
        }
    }
}
