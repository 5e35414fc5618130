use super::*;
use crate::matching::loss::End;
use crate::matching::loss::allocate::allocate;
use crate::matching::loss::lost_packets::ToldBy;
use crate::matching::loss::pair_segments::DirectedPair;
use crate::matching::loss::testing::Noted;
use crate::matching::testing::{fork, path};
use crate::plan::LinkCrossing;

impl Noted {
    /// Allocated losses per link, and the sum of what the rows of each link and pair weigh.
    fn weigh(&self, n_pairs: &[u64]) -> (Vec<u64>, Vec<Vec<f64>>) {
        let n_pairs: Vec<[u64; 2]> = n_pairs.iter().map(|n| [*n; 2]).collect();
        let side = self.direction.index();
        let allocated = allocate(&self.plan, &self.losses, &n_pairs);
        let books = Allocation::new(&self.plan, &self.losses, &n_pairs, &allocated.points);
        let mut sums = vec![vec![0.0; 4]; self.plan.links.len()];
        for one in &self.ended {
            let crossed = self.losses.crossed_of(&books.topology, &one.end);
            for part in parts(&self.plan, &books, &allocated.past_gaps_frac, one, crossed) {
                let link = (0..sums.len()).find(|link| {
                    books.topology.ends(LinkCrossing { link: *link, side })
                        == Some((part.up, part.down))
                });
                let pair = part.seen.0 & 0xff;
                sums[link.unwrap()][usize::try_from(pair).unwrap()] += part.weight;
            }
        }
        let n_lost = allocated.links.iter().map(|both| both[side].lost.packets);
        (n_lost.collect(), sums)
    }
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

#[test]
fn rows_weigh_what_was_booked() {
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut noted = Noted::new(path(3), direction);
        let along: [u16; 3] = if direction == Direction::Forward {
            [0, 1, 2]
        } else {
            [2, 1, 0]
        };
        for pair in 1..4 {
            noted.note(pair, &along, 10);
            noted.note(pair, &along[..1], pair);
            noted.note(pair, &along[..2], 4 - pair);
        }
        let (n_lost, sums) = noted.weigh(&[36, 30, 30]);
        let by_pair = [
            [0.0, 1.0, 2.0, 3.0],
            [0.0, 3.0, 2.0, 1.0],
            [0.0, 4.0, 4.0, 4.0],
        ];
        // in reverse the first link is the last that is crossed
        let order = if direction == Direction::Forward {
            [0, 1, 2]
        } else {
            [1, 0, 2]
        };
        assert_eq!(order.map(|at| n_lost[at]), [6, 6, 12]);
        for (at, expected) in order.into_iter().zip(by_pair) {
            assert_eq!(sums[at], expected, "{direction:?} {at}");
        }
    }
}

#[test]
fn what_a_point_missed_is_taken_off_by_those_it_saw() {
    let mut noted = Noted::new(path(4), Direction::Forward);
    noted.note(1, &[0], 100 + 25);
    noted.note(1, &[0, 1], 75);
    noted.note(1, &[0, 1, 2], 75);
    noted.note(1, &[0, 2], 25);
    noted.note(2, &[0, 1, 2, 3], 525);
    noted.note(1, &[0, 1, 2, 3], 525);
    noted.note(1, &[0, 2, 3], 175);
    noted.note(2, &[0, 2, 3], 175);
    let (n_lost, sums) = noted.weigh(&[1200, 1125, 1400, 1400]);
    for (n, of_pairs) in n_lost.iter().zip(&sums) {
        let all: f64 = of_pairs.iter().sum();
        assert!(
            (all - f64::from(u32::try_from(*n).unwrap())).abs() <= 0.5 && close(all, of_pairs[1]),
            "{all} of {n}"
        );
    }
    assert!(n_lost[0] > 70 && n_lost[0] < 110, "{n_lost:?}");
}

#[test]
fn a_loss_before_a_fork_is_on_each_branch_by_its_share() {
    let mut noted = Noted::new(fork(), Direction::Forward);
    noted.note(1, &[0, 1, 3], 60);
    noted.note(1, &[0, 2, 3], 20);
    noted.note(1, &[0], 8);
    let (n_lost, sums) = noted.weigh(&[60, 20, 60, 20, 80]);
    assert_eq!(n_lost, [6, 2, 0, 0, 8]);
    let of_links: Vec<f64> = sums.iter().map(|of_pairs| of_pairs[1]).collect();
    for (at, expected) in [6.0, 2.0, 0.0, 0.0, 8.0].into_iter().enumerate() {
        assert!(close(of_links[at], expected), "{of_links:?}");
    }
}

#[test]
fn what_entered_in_another_packet_has_the_time_of_its_entry() {
    let one = |first_point| Ended {
        end: End {
            way: DirectedPair {
                pair: 1,
                toward: true,
            },
            is_guessed: false,
            flow: 0,
            from: None,
            point: 2,
            direction: Direction::Forward,
            had_entered: true,
            was_cut: false,
            is_untold: false,
            unmirrored: None,
            branch: None,
            moment: 0,
            waited_for: 0,
        },
        first_point,
        first: (7, 50_000),
        last: (9, 60_000),
        told_by: ToldBy::Packet,
    };
    let plan = path(4);
    assert_eq!(entered(&plan, &one(0), Direction::Forward, 0), (7, 50_000));
    // two segments on, 10,000 ns each
    assert_eq!(entered(&plan, &one(2), Direction::Forward, 0), (7, 30_000));
}
