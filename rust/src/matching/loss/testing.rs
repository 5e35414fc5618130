//! Packets that ended, as a test notes them.

use crate::matching::counts::segment_rows::Ended;
use crate::matching::late::{Leftover, WaitingTimes};
use crate::matching::loss::Losses;
use crate::matching::loss::lost_packets::ToldBy;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::streams::Lost;
use crate::matching::testing::observation;
use crate::plan::{Direction, Plan, Topology};

/// What was noted of packets, as the tally does, and what of it is kept.
pub(crate) struct Noted {
    pub(crate) plan: Plan,
    pub(crate) losses: Losses,
    pub(crate) ended: Vec<Ended>,
    pub(crate) direction: Direction,
}

impl Noted {
    pub(crate) fn new(plan: Plan, direction: Direction) -> Self {
        Self {
            plan,
            losses: Losses::default(),
            ended: Vec::new(),
            direction,
        }
    }

    /// Packets of a pair, seen at these points; their frames have the pair's number.
    pub(crate) fn note(&mut self, pair: u64, points: &[u16], n: u64) {
        let seen = |point: &u16| Observation {
            pair,
            frame: FrameId::new(usize::from(*point), pair),
            ..observation(1, *point, 0)
        };
        let observations: Vec<Observation> = points.iter().map(seen).collect();
        let topology = Topology::new(&self.plan);
        let (first, last) = (observations[0], observations[observations.len() - 1]);
        let whole = [[first, last]];
        let pairs = observations
            .windows(2)
            .chain(whole.iter().map(<[Observation; 2]>::as_slice));
        let crossed = pairs
            .filter_map(|two| topology.between(two[0].point, two[1].point))
            .fold(0, |all, one| all | one.bit());
        for _ in 0..n {
            let (plan, direction) = (&self.plan, self.direction);
            self.losses
                .note_way(&topology, &observations, direction, crossed);
            let all = Lost::whole(&last);
            let left = Leftover::of(&observations, direction, Some(all), false).unwrap();
            let at = (plan, &topology);
            let end = self.losses.note_end(at, &left, &WaitingTimes::default());
            let place = |one: Observation| (one.frame.packed(), one.t_ns);
            self.ended.extend(end.map(|end| Ended {
                end,
                first_point: first.point,
                first: place(first),
                last: place(last),
                told_by: ToldBy::Packet,
            }));
        }
    }
}
