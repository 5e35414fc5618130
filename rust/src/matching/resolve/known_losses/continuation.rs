//! Equal packets that nobody can tell apart: which ends the beginnings farther on continue, so that as many as
//! may be go on.
//!
//! A maximum matching of a bipartite graph, whose edges join ends and beginnings at a later place that are
//! close in time (Hopcroft and Karp, 1973: in rounds, each along paths that share no end).

use std::collections::{BTreeMap, VecDeque};

/// Rounds in which paths are looked for; most need one, and what is left afterwards may go on too.
const MOST_ROUNDS: usize = 32;
/// Instead of a piece.
const NONE: u32 = u32::MAX;

/// Where and when a piece begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tip {
    pub(crate) place: i32,
    pub(crate) at_ns: i64,
    pub(crate) piece: u32,
}

/// Which pieces continue which.
pub(crate) struct Continuations {
    /// Per piece, what begins with its first observation.
    heads: Vec<Option<(i32, i64)>>,
    /// Per piece, the piece that it continues, and the one that continues it.
    before: Vec<u32>,
    after: Vec<u32>,
    /// No more are found.
    is_most: bool,
}

impl Continuations {
    /// None of so many pieces continues another.
    pub(crate) fn none(n_pieces: usize) -> Self {
        Self {
            heads: vec![None; n_pieces],
            before: vec![NONE; n_pieces],
            after: vec![NONE; n_pieces],
            is_most: true,
        }
    }

    /// The piece that a piece continues.
    pub(crate) fn before(&self, piece: u32) -> Option<u32> {
        get(&self.before, piece)
    }

    /// The piece that continues a piece.
    pub(crate) fn after(&self, piece: u32) -> Option<u32> {
        get(&self.after, piece)
    }

    /// The pieces of those of these ends that nothing continues.
    pub(crate) fn left(&self, ends: &[Tip]) -> Vec<u32> {
        let pieces = ends.iter().map(|end| end.piece);
        pieces
            .filter(|piece| self.after(*piece).is_none())
            .collect()
    }

    /// Whether no others would leave fewer ends.
    pub(crate) fn is_most(&self) -> bool {
        self.is_most
    }

    /// As many of these beginnings continue one of these ends as may be: those that are near each other first.
    /// What goes on, or was continued, before still does, if by another piece.
    pub(crate) fn extend(&mut self, heads: &[Tip], ends: &[Tip], within_ns: [i64; 2]) {
        for head in heads {
            put(&mut self.heads, head.piece, Some((head.place, head.at_ns)));
        }
        for within_ns in within_ns {
            let mut rounds = 0..MOST_ROUNDS;
            while self.extend_once(heads, ends, within_ns) {
                if rounds.next().is_none() {
                    self.is_most = false;
                    break;
                }
            }
        }
    }

    /// Looks for a path from each beginning that continues nothing. Whether one was found, and others may be.
    fn extend_once(&mut self, heads: &[Tip], ends: &[Tip], within_ns: i64) -> bool {
        let mut n_free = heads
            .iter()
            .filter(|head| self.before(head.piece).is_none());
        if n_free.next().is_none() || ends.iter().all(|end| self.after(end.piece).is_some()) {
            return false;
        }
        let mut search = Search {
            unseen: Ends::of(ends),
            within_ns,
            seen_from: vec![NONE; self.heads.len()],
        };
        let mut has_found = false;
        for head in heads {
            if self.before(head.piece).is_none() {
                has_found |= self.extend_from(*head, &mut search);
            }
        }
        has_found
    }

    /// Takes a path from a beginning that continues nothing to an end that nothing continues, if there is one:
    /// each beginning on it continues the next end instead of the one before.
    fn extend_from(&mut self, head: Tip, search: &mut Search) -> bool {
        let mut asked = VecDeque::from([head]);
        while let Some(head) = asked.pop_front() {
            while let Some(end) = search.next(&head) {
                let Some(piece) = self.after(end) else {
                    self.take_path(end, search);
                    return true;
                };
                asked.extend(self.head_of(piece));
            }
        }
        false
    }

    fn head_of(&self, piece: u32) -> Option<Tip> {
        let (place, at_ns) = self.heads.get(piece as usize).copied().flatten()?;
        Some(Tip {
            place,
            at_ns,
            piece,
        })
    }

    fn take_path(&mut self, last: u32, search: &Search) {
        let mut end = Some(last);
        while let Some(now) = end {
            let Some(head) = get(&search.seen_from, now) else {
                return;
            };
            end = self.before(head);
            put(&mut self.before, head, now);
            put(&mut self.after, now, head);
        }
    }
}

fn get(all: &[u32], at: u32) -> Option<u32> {
    all.get(at as usize).copied().filter(|one| *one != NONE)
}

fn put<T>(all: &mut [T], at: u32, what: T) {
    if let Some(one) = all.get_mut(at as usize) {
        *one = what;
    }
}

/// Ends that were not looked at yet, and from which beginning the others were.
struct Search {
    unseen: Ends,
    within_ns: i64,
    seen_from: Vec<u32>,
}

impl Search {
    /// The piece of the next end that a beginning may continue.
    fn next(&mut self, head: &Tip) -> Option<u32> {
        let end = self.unseen.take(head, self.within_ns)?;
        put(&mut self.seen_from, end, head.piece);
        Some(end)
    }
}

/// By place, ends in order of time.
struct Ends(BTreeMap<i32, EndsHere>);

impl Ends {
    fn of(ends: &[Tip]) -> Self {
        let mut at: BTreeMap<i32, EndsHere> = BTreeMap::new();
        for end in ends {
            let here = at.entry(end.place).or_default();
            here.ends.push((end.at_ns, end.piece));
        }
        at.values_mut().for_each(EndsHere::sort);
        Self(at)
    }

    /// Takes an end that a beginning may continue: of those at the nearest place the latest before it, or the
    /// next one.
    fn take(&mut self, head: &Tip, within_ns: i64) -> Option<u32> {
        let earlier = self.0.range_mut(..head.place).rev();
        let mut found = earlier.map(|(_, here)| here.take(head.at_ns, within_ns));
        found.find_map(|end| end)
    }
}

/// Ends at one place, and of each place in their order the next one down and up that is still there: at 1 the
/// first end, 0 and behind the last is nothing.
#[derive(Default)]
struct EndsHere {
    ends: Vec<(i64, u32)>,
    down: Vec<u32>,
    up: Vec<u32>,
}

impl EndsHere {
    fn sort(&mut self) {
        self.ends.sort_unstable();
        let n_places = u32::try_from(self.ends.len() + 2).unwrap_or(NONE);
        self.down = (0..n_places).collect();
        self.up = (0..n_places).collect();
    }

    fn take(&mut self, at_ns: i64, within_ns: i64) -> Option<u32> {
        let n_before = self.ends.partition_point(|(ns, _)| *ns <= at_ns);
        let below = still_there(&mut self.down, n_before);
        let near = |place: usize| {
            let end = self.ends.get(place.checked_sub(1)?)?;
            let is_near = end.0.abs_diff(at_ns) <= within_ns.unsigned_abs();
            is_near.then_some((place, end.1))
        };
        let found = near(below).or_else(|| near(still_there(&mut self.up, n_before + 1)));
        let (place, piece) = found?;
        let beside = |place: usize| u32::try_from(place).unwrap_or(NONE);
        put(&mut self.down, beside(place), beside(place - 1));
        put(&mut self.up, beside(place), beside(place + 1));
        Some(piece)
    }
}

/// Follows places that were left to the next that was not, and shortens the way there.
fn still_there(next: &mut [u32], from: usize) -> usize {
    let mut place = from;
    loop {
        let beyond = next.get(place).map_or(place, |to| *to as usize);
        if beyond == place {
            return place;
        }
        let farther = next.get(beyond).copied().unwrap_or(NONE);
        if let Some(one) = next.get_mut(place) {
            *one = farther;
        }
        place = beyond;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN_NS: [i64; 2] = [10, 40];

    /// Pieces that each have a beginning and an end at one place, by place and time.
    fn tips(at: &[(i32, i64)]) -> Vec<Tip> {
        let tip = |(piece, (place, at_ns)): (u32, &(i32, i64))| Tip {
            place: *place,
            at_ns: *at_ns,
            piece,
        };
        (0..).zip(at).map(tip).collect()
    }

    /// What each piece continues.
    fn continued(at: &[(i32, i64)]) -> Vec<Option<u32>> {
        let tips = tips(at);
        let mut found = Continuations::none(at.len());
        found.extend(&tips, &tips, WITHIN_NS);
        assert!(found.is_most());
        let pieces = || tips.iter().map(|tip| tip.piece);
        for piece in pieces() {
            if let Some(before) = found.before(piece) {
                assert_eq!(found.after(before), Some(piece));
            }
        }
        pieces().map(|piece| found.before(piece)).collect()
    }

    /// The most that may go on, by trying all.
    fn most(at: &[(i32, i64)], head: usize, taken: u32) -> usize {
        let Some((place, ns)) = at.get(head) else {
            return 0;
        };
        let fits = |end: &(i32, i64)| end.0 < *place && end.1.abs_diff(*ns) <= 40;
        let free = |index: &usize| taken & 1 << index == 0 && fits(&at[*index]);
        let taking = (0..at.len()).filter(free);
        let best = taking.map(|end| 1 + most(at, head + 1, taken | 1 << end));
        best.max().unwrap_or(0).max(most(at, head + 1, taken))
    }

    #[test]
    fn what_is_near_goes_on_first_at_the_nearest_place() {
        assert_eq!(
            continued(&[(0, 0), (0, 20), (1, 1), (2, 2), (2, 21)]),
            [None, None, Some(0), Some(2), Some(1)]
        );
    }

    #[test]
    fn one_gives_way_where_both_go_on_then() {
        // the third may continue either, the fourth only the second
        let found = continued(&[(0, 0), (0, 30), (1, 25), (1, 65)]);
        assert_eq!(found, [None, None, Some(0), Some(1)]);
    }

    #[test]
    fn as_many_go_on_as_may_be() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((seed >> 33) % below).unwrap()
        };
        for _ in 0..300 {
            let mut place = || i32::try_from(random(4)).unwrap();
            let places: Vec<i32> = (0..8).map(|_| place()).collect();
            let at: Vec<(i32, i64)> = places.iter().map(|one| (*one, random(150))).collect();
            let n = continued(&at).iter().flatten().count();
            assert_eq!(n, most(&at, 0, 0), "{at:?}");
        }
    }

    #[test]
    fn as_many_as_are_equal_in_one_instant_go_on_at_once() {
        let at: Vec<(i32, i64)> = (0..90_000).map(|piece| (piece % 3, 0)).collect();
        assert_eq!(continued(&at).iter().flatten().count(), 60_000);
    }
}
