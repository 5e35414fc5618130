use super::*;
use crate::matching::late::WaitingTimes;
use crate::matching::loss::allocate::allocate;
use crate::matching::streams::Lost;
use crate::matching::testing::{ANYTHING, SEGMENT_NS, fork, observation, path};
use crate::plan::N_BINS;

fn tally(plan: Plan) -> Tally {
    Tally::new(Arc::new(plan), &std::env::temp_dir(), 0, Keep::default()).unwrap()
}

fn count(tally: &mut Tally, observations: &[Observation], folded: &Folded) {
    tally.count(observations, Direction::Forward, folded);
    let lost = observations.last().map(Lost::whole);
    if let Some(left) = Leftover::of(observations, Direction::Forward, lost, false) {
        let plan = Arc::clone(&tally.plan);
        tally.losses.note_end(
            (&plan, &Topology::new(&plan)),
            &left,
            &WaitingTimes::default(),
        );
    }
}

fn seen(points: &[u16]) -> Vec<Observation> {
    let at = |point: &u16| Observation {
        t_ns: i64::from(*point) * SEGMENT_NS,
        ..observation(1, *point, 0)
    };
    points.iter().map(at).collect()
}

/// Pairs per link, forward.
fn n_pairs(totals: &Totals) -> Vec<u64> {
    totals.links.iter().map(|[forward, _]| forward.n).collect()
}

#[test]
fn each_segment_and_the_whole_path_are_counted_once() {
    let mut tally = tally(path(4));
    count(&mut tally, &seen(&[0, 1, 2, 3]), &Folded::default());
    count(&mut tally, &seen(&[1, 2]), &Folded::default());
    let (totals, _) = tally.finish().unwrap();
    assert_eq!(n_pairs(&totals), [1, 2, 1, 1]);
    let links = totals.links.iter();
    let sums = links.map(|[forward, _]| forward.blocks.histogram().sum_ns);
    assert!(sums.eq([1, 2, 1, 3].map(|n| n * i128::from(SEGMENT_NS))));
}

#[test]
fn a_jump_over_a_point_counts_in_no_segment() {
    let mut tally = tally(path(4));
    count(&mut tally, &seen(&[0, 2]), &Folded::default());
    count(&mut tally, &seen(&[0, 2, 3]), &Folded::default());
    count(&mut tally, &seen(&[0, 3]), &Folded::default());
    let (totals, losses) = tally.finish().unwrap();
    assert_eq!(n_pairs(&totals), [0, 0, 1, 2]);
    let plan = path(4);
    let n_lost = allocate(&plan, &losses, &totals.n_pairs())
        .links
        .into_iter();
    let n_lost: Vec<u64> = n_lost.map(|[forward, _]| forward.lost.packets).collect();
    assert_eq!(n_lost, [0, 0, 1, 1]);
}

#[test]
fn a_way_of_which_a_link_is_unknown_counts_once_on_the_whole_path() {
    let plan = Plan {
        links: vec![(0, 1), (0, 2), (1, 3), (0, 3)],
        torn: vec![false; 4],
        whole: Some(3),
        ..fork()
    };
    let mut tally = tally(plan);
    count(&mut tally, &seen(&[0, 2, 3]), &Folded::default());
    let (totals, _) = tally.finish().unwrap();
    assert_eq!(n_pairs(&totals), [0, 1, 0, 1]);
}

#[test]
fn a_doubted_packet_past_a_point_that_missed_it_may_be_late_behind_its_end() {
    let mut tally = tally(path(4));
    let (end, beginning) = (observation(1, 1, 0), observation(1, 3, 9 * SEGMENT_NS));
    for is_lost in [true, true, false] {
        tally.count_doubted((&end, &beginning), is_lost);
    }
    let (totals, _) = tally.finish().unwrap();
    let doubted = totals.links.iter().map(|[forward, _]| {
        let of = &forward.undecided;
        (of.n, of.n_maybe_late, of.n_maybe_lost)
    });
    let none = (0, 0, 0);
    assert!(doubted.eq([none, (0, 2, 1), none, none]));
}

#[test]
fn copies_made_on_the_way_are_counted_where_they_appear() {
    let mut folded = Folded::default();
    let copies = [
        observation(1, 1, 500),
        observation(1, 2, 500),
        observation(1, 2, 600),
    ];
    let run: Vec<Observation> = (0..3)
        .map(|point| observation(1, point, 0))
        .chain(copies)
        .collect();
    let kept = folded.fold(&run, &ANYTHING);
    let mut tally = tally(path(3));
    count(&mut tally, &kept, &folded);
    let (totals, _) = tally.finish().unwrap();
    let n_duplicated = totals.links.iter().map(|[forward, _]| forward.n_duplicated);
    assert_eq!(n_duplicated.collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn only_surveyed_packets_with_a_direction_bound_clocks() {
    let mut plan = path(2);
    plan.domain = vec![0, 1];
    plan.toward_is_forward.insert(0, true);
    plan.bins = (-1000, 100);
    let folder = std::env::temp_dir().join(format!("tally-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut tally = Tally::new(Arc::new(plan), &folder, 0, Keep::default()).unwrap();
    let both = |one: Observation| [0, 1].map(|point| Observation { point, ..one });
    let known = observation(1, 0, 0);
    let known_at = |aligned_ns| Observation {
        aligned_ns,
        ..known
    };
    for one in [
        known,
        Observation { pair: 7, ..known },
        Observation {
            directed: false,
            ..known
        },
        known_at(i64::MAX),
        known_at(i64::MIN),
    ] {
        count(&mut tally, &both(one), &Folded::default());
    }
    let (totals, _) = tally.finish().unwrap();
    let bins = &totals.least[&(0, 1, 0)];
    let occupied: Vec<usize> = (0..N_BINS).filter(|bin| bins[*bin].is_some()).collect();
    assert_eq!(occupied, [10, N_BINS - 1]);
    let forward = &totals.links[0][0];
    assert_eq!((forward.n, forward.blocks.histogram().n), (5, 0));
    assert_eq!(
        std::fs::metadata(&totals.spills[0][0][0]).unwrap().len(),
        5 * 24
    );
    std::fs::remove_dir_all(folder).unwrap();
}
