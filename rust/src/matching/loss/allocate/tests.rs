use super::*;
use crate::matching::late::{Leftover, WaitingTimes};
use crate::matching::loss::flows::end_times::EndTimes;
use crate::matching::observation::Observation;
use crate::matching::testing::{fork, observation, path};
use crate::plan::Direction;

/// Notes forward packets of a pair, seen at these points, as the tally does.
fn note(losses: &mut Losses, plan: &Plan, pair: u64, points: &[u16], n: u64) {
    let seen = |point: &u16| Observation {
        pair,
        ..observation(1, *point, 0)
    };
    let observations: Vec<Observation> = points.iter().map(seen).collect();
    let topology = Topology::new(plan);
    let ends = [&observations[0], &observations[observations.len() - 1]];
    let whole = [[*ends[0], *ends[1]]];
    let pairs = observations
        .windows(2)
        .chain(whole.iter().map(<[Observation; 2]>::as_slice));
    let between = pairs.filter_map(|two| topology.between(two[0].point, two[1].point));
    let crossed = between.fold(0, |all, one| all | one.bit());
    for _ in 0..n {
        losses.note_way(&topology, &observations, Direction::Forward, crossed);
        let lost = Lost::whole(ends[1]);
        let left = Leftover::of(&observations, Direction::Forward, Some(lost), false);
        losses.note_end((plan, &topology), &left.unwrap(), &WaitingTimes::default());
    }
}

fn n_lost(plan: &Plan, losses: &Losses, n_pairs: &[u64]) -> Vec<u64> {
    let n_pairs: Vec<[u64; 2]> = n_pairs.iter().map(|n| [*n, 0]).collect();
    let links = allocate(plan, losses, &n_pairs).links.into_iter();
    links.map(|[to, _]| to.lost.packets).collect()
}

#[test]
fn what_a_point_missed_and_was_lost_farther_on_is_booked_there() {
    let plan = path(4);
    let mut losses = Losses::default();
    // of 1,000, 100 are lost on each segment, and point 1 misses a quarter
    note(&mut losses, &plan, 1, &[0], 100 + 25);
    note(&mut losses, &plan, 1, &[0, 1], 75);
    note(&mut losses, &plan, 1, &[0, 1, 2], 75);
    note(&mut losses, &plan, 1, &[0, 2], 25);
    note(&mut losses, &plan, 1, &[0, 1, 2, 3], 525);
    note(&mut losses, &plan, 1, &[0, 2, 3], 175);
    // a quarter of the 100 is what point 1 would not have witnessed: n is less by as much
    let lost = n_lost(&plan, &losses, &[675, 600, 700, 700]);
    assert_eq!(lost, [75, 75, 100, 300]);
}

#[test]
fn a_loss_before_a_fork_is_on_the_branch_that_its_flow_takes() {
    let plan = fork();
    let topology = Topology::new(&plan);
    let mut losses = Losses::default();
    let mut note = |flow: u64, points: &[u16]| {
        let seen = |point: &u16| Observation {
            pair: 1,
            flow,
            ..observation(1, *point, 0)
        };
        let observations: Vec<Observation> = points.iter().map(seen).collect();
        let pairs = observations.windows(2);
        let between = pairs.filter_map(|two| topology.between(two[0].point, two[1].point));
        let crossed = between.fold(0, |all, one| all | one.bit());
        losses.note_way(&topology, &observations, Direction::Forward, crossed);
        let lost = Lost::whole(&observations[observations.len() - 1]);
        let left = Leftover::of(&observations, Direction::Forward, Some(lost), false);
        losses.note_end((&plan, &topology), &left.unwrap(), &WaitingTimes::default());
    };
    for (flow, branch) in [(7, 1), (8, 2)] {
        (0..50).for_each(|_| note(flow, &[0, branch, 3]));
    }
    (0..6).for_each(|_| note(8, &[0]));
    // which way this one would have gone, nobody knows
    (0..4).for_each(|_| note(9, &[0]));
    assert_eq!(n_lost(&plan, &losses, &[50, 50, 50, 50, 0])[..2], [2, 8]);
}

#[test]
fn a_loss_before_a_fork_is_divided_as_what_came_through() {
    let plan = fork();
    let mut losses = Losses::default();
    note(&mut losses, &plan, 1, &[0, 1, 3], 60);
    note(&mut losses, &plan, 1, &[0, 2, 3], 20);
    note(&mut losses, &plan, 2, &[0, 2, 3], 10);
    note(&mut losses, &plan, 1, &[0], 8);
    note(&mut losses, &plan, 2, &[0], 5);
    let n_pairs = [60, 30, 60, 30, 90].map(|n| [n, 0]);
    let found = allocate(&plan, &losses, &n_pairs);
    let told =
        [0, 1].map(|link: usize| (found.links[link][0].lost.packets, found.uncertain[link][0]));
    // the five of the second pair are certain
    let shared = |more, divided| Uncertain {
        more,
        fewer: divided,
        divided,
    };
    assert_eq!(told, [(5, shared(3, 5)), (3 + 5, shared(5, 3))]);
}

#[test]
fn what_arrives_at_another_end_is_not_lost_on_the_whole_path() {
    // 0, then 1, then 2 or 3; the whole path ends at 3
    let plan = Plan {
        position: vec![0, 1, 2, 2],
        links: vec![(0, 1), (1, 2), (1, 3), (0, 3)],
        torn: vec![false; 4],
        whole: Some(3),
        ..path(4)
    };
    let mut losses = Losses::default();
    note(&mut losses, &plan, 1, &[0, 1, 2], 30);
    note(&mut losses, &plan, 1, &[0, 1, 3], 10);
    note(&mut losses, &plan, 1, &[0], 4);
    assert_eq!(n_lost(&plan, &losses, &[40, 30, 10, 10]), [4, 0, 0, 1]);
    // of one that was sent to both, each lost its own
    for branch in [2, 3] {
        let seen = [0, 1].map(|point| Observation {
            pair: 1,
            ..observation(1, point, 0)
        });
        let lost = Some(Lost::whole(&seen[1]));
        let left = Leftover {
            branch: Some(branch),
            ..Leftover::of(&seen, Direction::Forward, lost, false).unwrap()
        };
        let at = (&plan, &Topology::new(&plan));
        losses.note_end(at, &left, &WaitingTimes::default());
    }
    assert_eq!(n_lost(&plan, &losses, &[40, 30, 10, 10]), [4, 1, 1, 1 + 1]);
}

#[test]
fn what_a_point_would_not_have_had_is_lost_on_either_side_of_it() {
    let plan = path(3);
    let topology = Topology::new(&plan);
    let mut losses = Losses::default();
    note(&mut losses, &plan, 1, &[0, 1, 2], 50);
    let seen = [Observation {
        pair: 1,
        flow: 9,
        ..observation(1, 0, 0)
    }];
    let lost = Some(Lost::whole(&seen[0]));
    let mut left = Leftover::of(&seen, Direction::Forward, lost, false).unwrap();
    let waits = WaitingTimes::default();
    losses.note_end((&plan, &topology), &left, &waits);
    losses.passed_by.add(1, 0);
    let found = allocate(&plan, &losses, &[[50, 0]; 3]);
    let told = |link: usize| {
        let (n, maybe) = (&found.links[link][0].lost, &found.uncertain[link][0]);
        (n.packets, maybe.more)
    };
    assert_eq!([0, 1, 2].map(told), [(0, 1), (0, 1), (1, 0)]);
    // one of several receivers has a loss of its own
    left.branch = Some(1);
    losses.ended = EndTimes::default();
    losses.note_end((&plan, &topology), &left, &waits);
    assert_eq!(n_lost(&plan, &losses, &[50, 50, 50])[..2], [1, 0]);
}
