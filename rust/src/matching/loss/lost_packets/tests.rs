use super::*;
use crate::matching::loss::allocate::allocate;
use crate::matching::loss::testing::Noted;
use crate::matching::testing::{fork, path};

/// What each segment lost, and the weights of its rows, by the pair that its packets are of.
fn listed(noted: &Noted, n_pairs: &[u64]) -> Vec<(u64, BTreeMap<i64, f64>)> {
    let n_pairs: Vec<[u64; 2]> = n_pairs.iter().map(|n| [*n; 2]).collect();
    let allocated = allocate(&noted.plan, &noted.losses, &n_pairs);
    let mut list = LostPackets::new(&noted.plan, &noted.losses, (&n_pairs, &allocated));
    noted.ended.iter().for_each(|one| list.weigh(one));
    let links = allocated.links.iter().map(|both| both[0].lost.packets);
    let mut found: Vec<_> = links.map(|n| (n, BTreeMap::new())).collect();
    for [frame, points, _, _, weight] in noted.ended.iter().flat_map(|one| list.rows(one)) {
        let ends = [points & 0xffff, points >> 16 & 0xffff].map(|end| u16::try_from(end).unwrap());
        let link = noted
            .plan
            .links
            .iter()
            .position(|link| *link == ends.into());
        let of_pair = found[link.unwrap()].1.entry(frame & 0xff).or_default();
        *of_pair += f64::from_bits(weight.cast_unsigned());
    }
    found
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

#[test]
fn what_was_lost_on_a_segment_is_on_that_one() {
    let mut noted = Noted::new(path(3), Direction::Forward);
    noted.note(1, &[0, 1, 2], 30);
    noted.note(1, &[0], 2);
    noted.note(1, &[0, 1], 3);
    let found = listed(&noted, &[33, 30, 30]);
    assert_eq!(found[0], (2, BTreeMap::from([(1, 2.0)])));
    assert_eq!(found[1], (3, BTreeMap::from([(1, 3.0)])));
    // the whole path is no segment
    assert_eq!(found[2], (5, BTreeMap::new()));
}

#[test]
fn behind_a_point_that_misses_packets_it_may_have_been_lost_too() {
    let mut noted = Noted::new(path(4), Direction::Forward);
    noted.note(1, &[0], 125);
    noted.note(2, &[0, 1], 75);
    noted.note(2, &[0, 1, 2, 3], 750);
    noted.note(1, &[0, 2, 3], 250);
    noted.note(1, &[0, 1, 2, 3], 1);
    let found = listed(&noted, &[826, 751, 1001, 1001]);
    for (n_lost, of_pairs) in &found[..3] {
        let sum: f64 = of_pairs.values().sum();
        assert!(
            close(sum, f64::from(u32::try_from(*n_lost).unwrap())),
            "{found:?}"
        );
    }
    // a quarter of those that were lost behind the point that misses a quarter were seen before it last
    let [(n_here, here), (_, farther), ..] = found.as_slice() else {
        unreachable!()
    };
    assert!(*n_here < 95 && here[&1] > 70.0, "{found:?}");
    assert!(farther[&1] > 10.0 && farther[&2] > farther[&1], "{found:?}");
}

#[test]
fn before_a_fork_it_may_have_been_lost_on_either_branch() {
    let mut noted = Noted::new(fork(), Direction::Forward);
    noted.note(1, &[0, 1, 3], 60);
    noted.note(1, &[0, 2, 3], 20);
    noted.note(1, &[0], 8);
    let found = listed(&noted, &[60, 20, 60, 20, 80]);
    assert!(
        close(found[0].1[&1], 6.0) && close(found[1].1[&1], 2.0),
        "{found:?}"
    );
}
