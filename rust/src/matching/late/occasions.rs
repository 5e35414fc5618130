//! Leftovers of a packet ID that comes again, by the time at which it did: what is much farther from all others
//! than its parts are from each other was one occasion.

use crate::matching::late::leftover::Leftover;
use std::ops::Range;

/// What is so many times farther from others than it is late is not of them.
pub(crate) const MUCH: u64 = 2;

/// Parts of each occasion that may be one packet, of so many at most; at the end all others. `around`: when what
/// else is left of the packet ID was seen, before these parts and after them.
pub(crate) fn occasions(
    mut parts: Vec<Leftover>,
    around: [Option<i64>; 2],
    most_parts: usize,
    may_be_one: impl Fn(&[Leftover]) -> bool,
) -> Vec<Vec<Leftover>> {
    if parts.len() <= 2 {
        return vec![parts];
    }
    parts.sort_by_key(|part| (part.first.aligned_ns, part.first.frame));
    let (mut found, mut others) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < parts.len() {
        let most = parts.len().min(at + most_parts);
        let end = (at + 2..=most).rev().find(|end| {
            let some = parts.get(at..*end).unwrap_or_default();
            is_apart(&parts, around, at..*end) && may_be_one(some)
        });
        let end = end.unwrap_or(at + 1);
        let some = parts.get(at..end).unwrap_or_default();
        if some.len() > 1 {
            found.push(some.to_vec());
        } else {
            others.extend_from_slice(some);
        }
        at = end;
    }
    found.extend(Some(others).filter(|others| !others.is_empty()));
    found
}

/// Whether what was before some parts, and what came after, is much farther away than they are from each other.
fn is_apart(parts: &[Leftover], [before, after]: [Option<i64>; 2], some: Range<usize>) -> bool {
    let gap_ns = |at: usize| {
        let one = at.checked_sub(1).and_then(|at| parts.get(at));
        let one_ns = one.map(|one| one.last.aligned_ns).or(before);
        let next_ns = parts.get(at).map(|next| next.first.aligned_ns).or(after);
        one_ns
            .zip(next_ns)
            .map_or(u64::MAX, |(one_ns, next_ns)| next_ns.abs_diff(one_ns))
    };
    let within_ns = (some.start + 1..some.end).map(gap_ns).max().unwrap_or(0);
    let far_ns = within_ns.saturating_mul(MUCH);
    [some.start, some.end]
        .into_iter()
        .all(|at| gap_ns(at) > far_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;
    use crate::plan::Direction;

    /// Parts of these points and times, in groups.
    fn grouped(parts: &[(u16, i64)]) -> Vec<Vec<(u16, i64)>> {
        grouped_among(parts, [None; 2])
    }

    fn grouped_among(parts: &[(u16, i64)], around: [Option<i64>; 2]) -> Vec<Vec<(u16, i64)>> {
        let part = |(point, ns): &(u16, i64)| {
            let one = observation(1, *point, *ns);
            Leftover::of(&[one], Direction::Forward, None, false).unwrap()
        };
        let may_be_one = |some: &[Leftover]| {
            let follow = |two: &[Leftover]| two[0].first.point < two[1].first.point;
            some.windows(2).all(follow)
        };
        let groups = occasions(parts.iter().map(part).collect(), around, 3, may_be_one);
        let seen = |part: Leftover| (part.first.point, part.first.aligned_ns);
        let seen = |group: Vec<Leftover>| group.into_iter().map(seen).collect();
        groups.into_iter().map(seen).collect()
    }

    #[test]
    fn what_is_much_nearer_to_each_other_than_to_others_is_one_occasion() {
        let rounds = [(0, 0), (1, 10), (0, 100), (1, 120), (0, 200)];
        let groups = [
            vec![(0, 0), (1, 10)],
            vec![(0, 100), (1, 120)],
            vec![(0, 200)],
        ];
        assert_eq!(grouped(&rounds), groups);
        let slow_twice = [(0, 0), (1, 10), (2, 15), (2, 100)];
        assert_eq!(
            grouped(&slow_twice),
            [vec![(0, 0), (1, 10), (2, 15)], vec![(2, 100)]]
        );
    }

    #[test]
    fn what_others_are_near_to_is_no_occasion_of_its_own() {
        let rounds = [(0, 0), (1, 10), (0, 100), (1, 110)];
        let [one, other] = [0, 2].map(|at| rounds[at..at + 2].to_vec());
        for [before, after] in [[None; 2], [Some(-100), Some(200)]] {
            assert_eq!(
                grouped_among(&rounds, [before, after]),
                [one.clone(), other.clone()]
            );
        }
        assert_eq!(grouped_among(&rounds, [Some(-20), None]), [other, one]);
    }

    #[test]
    fn what_is_no_nearer_stays_together() {
        let near = [(0, 0), (1, 10), (0, 29), (1, 39)];
        assert_eq!(grouped(&near), [near.to_vec()]);
        let of_one_point = [(0, 0), (0, 1), (0, 100)];
        assert_eq!(grouped(&of_one_point), [of_one_point.to_vec()]);
        let two = [(1, 0), (0, 5)];
        assert_eq!(grouped(&two), [two.to_vec()]);
    }
}
