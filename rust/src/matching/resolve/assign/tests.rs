//! Identical packets on a straight path.

use super::*;
use crate::matching::resolve::copies::Folded;
use crate::matching::testing::{Taken, observation, path};

fn assign(plan: &Plan, mut observations: Vec<Observation>) -> Taken {
    let (mut taken, mut pieces) = (Taken::default(), Vec::new());
    let crowd = Density {
        gap_ns: 1000,
        rate: 1e-3,
    };
    Cluster::new(plan, Direction::Forward, crowd, &mut observations).assign(&mut pieces);
    for piece in pieces {
        piece.hand_to(&mut taken, Direction::Forward, &Folded::default());
    }
    taken
}

#[test]
fn identical_packets_apart_are_told_by_their_bands() {
    let plan = path(3);
    let observations = (0..10)
        .flat_map(|i| (0..3).map(move |point| observation(1, point, i * 700 + i64::from(point))));
    let taken = assign(&plan, observations.collect());
    assert_eq!(taken.trajectories.len(), 10);
    let is_one = |packet: &Vec<Observation>| {
        packet.len() == 3 && packet[2].aligned_ns - packet[0].aligned_ns == 2
    };
    assert!(taken.trajectories.iter().all(is_one));
}

#[test]
fn a_point_that_missed_a_packet_is_skipped() {
    let plan = path(3);
    let taken = assign(
        &plan,
        vec![
            observation(1, 0, 0),
            observation(1, 0, 5000),
            observation(1, 2, 9),
            observation(1, 1, 5003),
        ],
    );
    let mut points: Vec<Vec<u16>> = taken
        .trajectories
        .iter()
        .map(|packet| packet.iter().map(|one| one.point).collect())
        .collect();
    points.sort();
    assert_eq!(points, [[0, 1], [0, 2]]);
}

#[test]
fn what_is_told_further_on_is_told_though_its_start_is_not() {
    let mut plan = path(3);
    for band in plan.bands.iter_mut().flatten() {
        band.lost_frac = 0.01;
    }
    let observations = vec![
        observation(1, 0, 0),
        observation(1, 0, 10),
        observation(1, 1, 5),
        observation(1, 2, 5),
    ];
    let taken = assign(&plan, observations);
    // one of the first two was lost; neither passed the second point unseen
    let [packet] = taken.trajectories.as_slice() else {
        panic!("{taken:?}");
    };
    assert_eq!(
        packet.iter().map(|one| one.point).collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(taken.ambiguous.len(), 2);
}

#[test]
fn a_packet_slower_than_the_band_allows_may_be_the_one() {
    let observations = || {
        vec![
            observation(1, 0, 0),
            observation(1, 0, 60),
            observation(1, 1, 110),
        ]
    };
    let mut plan = path(2);
    assert_eq!(
        assign(&plan, observations()).trajectories.len(),
        2,
        "lost, and found"
    );
    for band in plan.bands.iter_mut().flatten() {
        band.outside_frac = 0.01;
    }
    assert!(assign(&plan, observations()).trajectories.is_empty());
}

#[test]
fn heaps_are_ambiguous_and_stay_quick() {
    let plan = path(2);
    let observations = (0..8000).map(|i| observation(1, u16::from(i % 2 == 1), i * 10));
    let start = std::time::Instant::now();
    let taken = assign(&plan, observations.collect());
    assert_eq!(taken.ambiguous.len(), 8000);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}
