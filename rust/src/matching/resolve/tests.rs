//! Observations of one identity on a straight path.

use super::*;
use crate::matching::resolve::copies::COPIES_WITHIN_NS;
use crate::matching::testing::{BAND_NS, SEGMENT_NS, Taken, observation, path};
use crate::plan::Copies;

fn resolve(mut plan: Plan, mut observations: Vec<Observation>) -> Taken {
    plan.toward_is_forward.insert(0, true);
    let mut taken = Taken::default();
    Resolver::new(Arc::new(plan), 1000).resolve(&mut observations, &mut taken);
    let n_out = taken.trajectories.iter().map(Vec::len).sum::<usize>();
    assert_eq!(
        n_out + taken.copies.len() + taken.ambiguous.len(),
        observations.len()
    );
    taken
}

fn points(taken: &Taken) -> Vec<Vec<u16>> {
    let of = |packet: &Vec<Observation>| packet.iter().map(|one| one.point).collect();
    let mut all: Vec<Vec<u16>> = taken.trajectories.iter().map(of).collect();
    all.sort();
    all
}

#[test]
fn one_packet_goes_from_sender_to_receiver() {
    let seen = vec![
        observation(1, 2, 40),
        observation(1, 0, 90),
        observation(1, 1, 0),
    ];
    assert_eq!(points(&resolve(path(3), seen)), [[0, 1, 2]]);
}

#[test]
fn where_most_packets_come_again_one_that_seems_faster_by_as_much_is_not_plain() {
    let seen = |later_ns| vec![observation(1, 0, 0), observation(1, 1, later_ns)];
    let mut plan = path(2);
    assert_eq!(points(&resolve(plan.clone(), seen(-50_000))), [[0, 1]]);
    plan.recurring.insert(!0, 50_000);
    assert_eq!(points(&resolve(plan.clone(), seen(10))), [[0, 1]]);
    assert_eq!(points(&resolve(plan, seen(-50_000))), [vec![0], vec![1]]);
}

#[test]
fn where_most_packets_come_again_the_band_is_too_wide_for_a_flow_that_was_seen_to_repeat() {
    let twice = [(0, 0), (1, 0), (0, 50_000), (1, 50_000)];
    let twice = twice.map(|(point, at_ns)| observation(2, point, at_ns));
    let after = |plan: &Plan, later_ns| {
        let mut resolver = Resolver::new(Arc::new(plan.clone()), 1000);
        resolver.resolve(&mut twice.clone(), &mut Taken::default());
        let mut taken = Taken::default();
        let mut alone = [observation(1, 0, 0), observation(1, 1, later_ns)];
        resolver.resolve(&mut alone, &mut taken);
        points(&taken)
    };
    let mut plan = path(2);
    plan.toward_is_forward.insert(0, true);
    assert_eq!(after(&plan, BAND_NS - 10), [[0, 1]]);
    plan.recurring.insert(!0, 2 * BAND_NS + 50);
    assert_eq!(after(&plan, 10), [[0, 1]]);
    assert_eq!(after(&plan, BAND_NS - 10), [[0], [1]]);
}

#[test]
fn a_reverse_packet_is_aligned_as_such() {
    let back = |point: u16| {
        let t_ns = i64::from(2 - point) * SEGMENT_NS;
        Observation {
            t_ns,
            aligned_ns: t_ns - i64::from(point) * SEGMENT_NS,
            pair: 9,
            ..observation(1, point, 0)
        }
    };
    let taken = resolve(path(3), vec![back(0), back(1), back(2)]);
    assert_eq!(taken.directions, [Direction::Reverse]);
    assert_eq!(points(&taken), [[2, 1, 0]]);
    assert!(
        taken.trajectories[0]
            .iter()
            .all(|one| one.aligned_ns == 2 * SEGMENT_NS)
    );
}

#[test]
fn far_apart_is_not_one_packet() {
    let beyond_the_window = vec![
        observation(1, 0, 0),
        observation(1, 1, 100_001),
        observation(1, 2, 100_002),
    ];
    assert_eq!(
        points(&resolve(path(3), beyond_the_window)),
        [vec![0], vec![1, 2]]
    );
    let beyond_the_horizon = vec![
        observation(1, 0, 0),
        observation(1, 1, 2),
        observation(1, 0, 900_000),
        observation(1, 1, 900_001),
    ];
    let taken = resolve(path(3), beyond_the_horizon);
    assert_eq!(points(&taken), [[0, 1], [0, 1]]);
    assert!(taken.copies.is_empty());
}

#[test]
fn points_that_share_no_packet_are_never_joined() {
    let mut plan = path(4);
    plan.component = vec![0, 0, 1, 1];
    let seen = (0..4).map(|point| observation(1, point, 0)).collect();
    assert_eq!(points(&resolve(plan, seen)), [[0, 1], [2, 3]]);
}

#[test]
fn copies_share_their_originals_trajectory() {
    let taken = resolve(
        path(3),
        vec![
            observation(1, 0, 0),
            observation(1, 1, 3),
            observation(1, 1, 500),
            observation(1, 2, 5),
        ],
    );
    assert_eq!(points(&taken), [[0, 1, 2]]);
    let frame = |t_ns| observation(1, 1, t_ns).frame;
    assert_eq!(taken.copies, [(frame(3), frame(500))]);
}

#[test]
fn a_copy_that_follows_where_its_original_does_not_is_a_packet() {
    let later_ns = 60_000;
    let tagged = |point, t_ns| Observation {
        copy_tag: 5,
        ..observation(1, point, t_ns)
    };
    let seen = vec![
        tagged(0, 0),
        tagged(2, 2),
        tagged(1, later_ns),
        tagged(2, later_ns + 2),
    ];
    let taken = resolve(path(3), seen);
    assert_eq!(points(&taken), [vec![0, 2], vec![1, 2]]);
    assert!(taken.copies.is_empty());
}

#[test]
fn where_all_is_seen_twice_a_copy_is_none_however_slow_its_original_was() {
    let gap_ns = 60_000;
    let mut plan = path(3);
    plan.copies[1] = Copies {
        copied_frac: 1.0,
        lo_ns: gap_ns,
        hi_ns: gap_ns,
    };
    let seen = vec![
        observation(1, 0, 0),
        observation(1, 1, 1),
        observation(1, 1, 1 + gap_ns),
        observation(1, 2, 3 + gap_ns),
    ];
    let taken = resolve(plan, seen);
    assert_eq!(points(&taken), [[0, 1, 2]]);
    let frame = |t_ns| observation(1, 1, t_ns).frame;
    assert_eq!(taken.copies, [(frame(1), frame(1 + gap_ns))]);
}

#[test]
fn a_retransmission_is_another_packet_and_no_copy() {
    let mut plan = path(2);
    plan.horizon_ns = 10 * COPIES_WITHIN_NS;
    let again_ns = 2 * COPIES_WITHIN_NS;
    let seen = vec![
        observation(1, 0, 0),
        observation(1, 0, again_ns),
        observation(1, 1, again_ns + 4),
    ];
    let taken = resolve(plan, seen);
    assert_eq!(points(&taken), [vec![0], vec![0, 1]]);
}

#[test]
fn what_is_alone_and_much_later_is_left_to_the_odds_where_points_miss_packets() {
    let after = |after_ns| vec![observation(1, 0, 0), observation(1, 1, after_ns)];
    let mut plan = path(2);
    (plan.wide_ns, plan.horizon_ns) = (50 * plan.usual_ns, 100 * plan.usual_ns);
    let beyond_ns = 2 * plan.usual_ns;
    assert_eq!(points(&resolve(plan.clone(), after(beyond_ns))), [[0, 1]]);
    for band in plan.bands.iter_mut().flatten() {
        (band.lost_frac, band.phantom_frac) = (0.02, 0.02);
    }
    let taken = resolve(plan.clone(), after(beyond_ns));
    assert_eq!(points(&taken), [[0], [1]]);
    assert_eq!(points(&resolve(plan, after(50))), [[0, 1]]);
}

#[test]
fn the_same_bytes_in_one_band_are_ambiguous() {
    let seen = vec![
        observation(1, 0, 0),
        observation(1, 0, 34),
        observation(1, 1, 9),
        observation(1, 1, 41),
    ];
    let taken = resolve(path(2), seen);
    assert_eq!(taken.ambiguous.len(), 4);
    assert!(taken.copies.is_empty());
}

#[test]
fn stamps_at_the_ends_of_time_are_resolved() {
    let seen = vec![
        observation(1, 0, i64::MIN),
        observation(1, 1, i64::MAX),
        observation(1, 0, i64::MAX),
    ];
    assert_eq!(points(&resolve(path(2), seen)), [vec![0], vec![0, 1]]);
}

#[test]
fn equal_packets_of_a_way_that_nobody_charted_are_ambiguous() {
    let uncharted = |n: u16| {
        let mut plan = path(n);
        for band in plan.bands.iter_mut().flatten() {
            band.reach_ns = (0, 0);
        }
        plan
    };
    let seen = |points: &[u16]| -> Vec<Observation> {
        let at = |point: &u16| [0, 3 * BAND_NS].map(|later_ns| observation(1, *point, later_ns));
        points.iter().flat_map(at).collect()
    };
    assert_eq!(resolve(uncharted(2), seen(&[0, 1])).ambiguous.len(), 4);
    assert_eq!(points(&resolve(path(2), seen(&[0, 1]))), [[0, 1], [0, 1]]);
    let of_one_point = resolve(uncharted(2), seen(&[1]));
    assert_eq!(points(&of_one_point), [[1], [1]]);
    let once = vec![observation(1, 0, 0), observation(1, 1, 50)];
    assert_eq!(points(&resolve(uncharted(2), once)), [[0, 1]]);
}
