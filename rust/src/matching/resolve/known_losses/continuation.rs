//! Equal packets that nobody can tell apart: which ends the beginnings farther on continue, so that as many as
//! may be go on.
//!
//! A maximum matching of a bipartite graph, whose edges join ends and beginnings at a later place that are
//! close in time (Hopcroft and Karp, 1973: in rounds, each along paths that share no end).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Rounds in which paths are looked for; most need one, and what is left afterwards may go on too.
const MOST_ROUNDS: usize = 32;

/// Where and when a piece begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tip {
    pub(crate) place: i64,
    pub(crate) at_ns: i64,
    pub(crate) piece: usize,
}

/// Which pieces continue which.
pub(crate) struct Continuations {
    /// Per piece, what begins with its first observation.
    heads: Vec<Option<Tip>>,
    /// Per piece, the piece that it continues, and the one that continues it.
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
    /// No more are found.
    is_most: bool,
}

impl Continuations {
    /// None of so many pieces continues another.
    pub(crate) fn none(n_pieces: usize) -> Self {
        Self {
            heads: vec![None; n_pieces],
            before: vec![None; n_pieces],
            after: vec![None; n_pieces],
            is_most: true,
        }
    }

    /// The piece that a piece continues.
    pub(crate) fn before(&self, piece: usize) -> Option<usize> {
        self.before.get(piece).copied().flatten()
    }

    /// The piece that continues a piece.
    pub(crate) fn after(&self, piece: usize) -> Option<usize> {
        self.after.get(piece).copied().flatten()
    }

    /// Whether no others would leave fewer ends.
    pub(crate) fn is_most(&self) -> bool {
        self.is_most
    }

    /// As many of these beginnings continue one of these ends as may be: those that are near each other first.
    /// What goes on, or was continued, before still does, if by another piece.
    pub(crate) fn extend(&mut self, heads: &[Tip], ends: &[Tip], within_ns: [i64; 2]) {
        for head in heads {
            put(&mut self.heads, head.piece, Some(*head));
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
        let free = heads
            .iter()
            .filter(|head| self.before(head.piece).is_none());
        let free: Vec<Tip> = free.copied().collect();
        if free.is_empty() || ends.iter().all(|end| self.after(end.piece).is_some()) {
            return false;
        }
        let mut search = Search {
            unseen: Ends::of(ends),
            within_ns,
            seen_from: BTreeMap::new(),
        };
        let mut has_found = false;
        for head in free {
            has_found |= self.extend_from(head, &mut search);
        }
        has_found
    }

    /// Takes a path from a beginning that continues nothing to an end that nothing continues, if there is one:
    /// each beginning on it continues the next end instead of the one before.
    fn extend_from(&mut self, head: Tip, search: &mut Search) -> bool {
        let mut asked = VecDeque::from([head]);
        while let Some(head) = asked.pop_front() {
            while let Some(end) = search.next(&head) {
                let Some(next) = self.after(end) else {
                    self.take_path(end, search);
                    return true;
                };
                asked.extend(self.heads.get(next).copied().flatten());
            }
        }
        false
    }

    fn take_path(&mut self, last: usize, search: &Search) {
        let mut end = Some(last);
        while let Some(now) = end {
            let Some(head) = search.seen_from.get(&now).copied() else {
                return;
            };
            end = self.before(head);
            put(&mut self.before, head, Some(now));
            put(&mut self.after, now, Some(head));
        }
    }
}

fn put<T>(all: &mut [T], at: usize, what: T) {
    if let Some(one) = all.get_mut(at) {
        *one = what;
    }
}

/// Ends that were not looked at yet, and from which beginning the others were.
struct Search {
    unseen: Ends,
    within_ns: i64,
    seen_from: BTreeMap<usize, usize>,
}

impl Search {
    /// The piece of the next end that a beginning may continue.
    fn next(&mut self, head: &Tip) -> Option<usize> {
        let end = self.unseen.take(head, self.within_ns)?;
        self.seen_from.insert(end, head.piece);
        Some(end)
    }
}

/// By place: when pieces end there, and which.
struct Ends(BTreeMap<i64, BTreeSet<(i64, usize)>>);

impl Ends {
    fn of(ends: &[Tip]) -> Self {
        let mut at: BTreeMap<i64, BTreeSet<(i64, usize)>> = BTreeMap::new();
        for end in ends {
            at.entry(end.place)
                .or_default()
                .insert((end.at_ns, end.piece));
        }
        Self(at)
    }

    /// Takes an end that a beginning may continue: of those at the nearest place the latest before it, or the
    /// next one.
    fn take(&mut self, head: &Tip, within_ns: i64) -> Option<usize> {
        let near = |end: &&(i64, usize)| end.0.abs_diff(head.at_ns) <= within_ns.unsigned_abs();
        for ends in self.0.range_mut(..head.place).rev().map(|(_, ends)| ends) {
            let now = (head.at_ns, usize::MAX);
            let before = ends.range(..=now).next_back().filter(near);
            let found = before.or_else(|| ends.range(now..).next().filter(near));
            if let Some(end) = found.copied() {
                ends.remove(&end);
                return Some(end.1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WITHIN_NS: [i64; 2] = [10, 40];

    /// Pieces that each have a beginning and an end at one place, by place and time.
    fn tips(at: &[(i64, i64)]) -> Vec<Tip> {
        let tip = |(piece, (place, at_ns)): (usize, &(i64, i64))| Tip {
            place: *place,
            at_ns: *at_ns,
            piece,
        };
        at.iter().enumerate().map(tip).collect()
    }

    /// What each piece continues.
    fn continued(at: &[(i64, i64)]) -> Vec<Option<usize>> {
        let tips = tips(at);
        let mut found = Continuations::none(at.len());
        found.extend(&tips, &tips, WITHIN_NS);
        assert!(found.is_most());
        for piece in 0..at.len() {
            if let Some(before) = found.before(piece) {
                assert_eq!(found.after(before), Some(piece));
            }
        }
        (0..at.len()).map(|piece| found.before(piece)).collect()
    }

    /// The most that may go on, by trying all.
    fn most(at: &[(i64, i64)], head: usize, taken: u32) -> usize {
        let Some((place, ns)) = at.get(head) else {
            return 0;
        };
        let fits = |end: &(i64, i64)| end.0 < *place && end.1.abs_diff(*ns) <= 40;
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
            let at: Vec<(i64, i64)> = (0..8).map(|_| (random(4), random(150))).collect();
            let n = continued(&at).iter().flatten().count();
            assert_eq!(n, most(&at, 0, 0), "{at:?}");
        }
    }

    #[test]
    fn as_many_as_are_equal_in_one_instant_go_on_at_once() {
        let at: Vec<(i64, i64)> = (0..90_000).map(|piece| (piece % 3, 0)).collect();
        assert_eq!(continued(&at).iter().flatten().count(), 60_000);
    }
}
