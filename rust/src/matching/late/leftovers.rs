//! What a partition leaves for the end of the run, and logs of what it decided.

use crate::base::error::Result;
use crate::matching::counts::steps::TreeEnds;
use crate::matching::evidence::Evidence;
use crate::matching::late::decided::DecidedLog;
use crate::matching::late::leftover::{Leftover, N_VALUES};
use crate::matching::late::sorted_runs::SortedRuns;
use crate::matching::loss::lost_packets::ToldBy;
use crate::matching::observation::Observation;
use crate::matching::outcome::Status;
use crate::matching::resolve::copies::Folded;
use crate::matching::streams::{Fate, Lost};
use crate::plan::{Along, Direction, Plan, Topology};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The leftovers of one partition, or of all.
#[derive(Serialize, Deserialize)]
pub(crate) struct Leftovers {
    pub(crate) runs: SortedRuns<N_VALUES>,
    /// The logs in the making, and those that are done: of what was decided, and of what cannot be told.
    #[serde(skip)]
    logging: Option<[DecidedLog; 2]>,
    pub(crate) logs: [Vec<PathBuf>; 2],
    /// Per route, direction and point: whether a link begins there, and whether one ends there.
    #[serde(skip)]
    begins: Vec<[Vec<bool>; 2]>,
    #[serde(skip)]
    ends: Vec<[Vec<bool>; 2]>,
}

impl Leftovers {
    pub(crate) fn of_partition(plan: &Plan, directory: &Path, partition: usize) -> Result<Self> {
        let topology = Topology::new(plan);
        let points = 0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX);
        let marked = |is_marked: &dyn Fn(&Along, u16) -> bool| {
            let of_direction = |direction| {
                let along = topology.along(direction);
                let points = points.clone();
                points.map(|point| is_marked(along, point)).collect()
            };
            let of_route = |route| [true, false].map(|way| of_direction(Direction::on(route, way)));
            topology.routes().map(of_route).collect()
        };
        let begins = marked(&|along, point| along.onward(point).next().is_some());
        let ends = marked(&|along, point| along.neighbours.iter().any(|(_, down)| *down == point));
        Ok(Self {
            begins,
            ends,
            runs: SortedRuns::new(directory, format!("left-{partition}")),
            logging: Some(DecidedLog::create(directory, partition)?),
            logs: Default::default(),
        })
    }

    /// None so far.
    pub(crate) fn none(directory: &Path) -> Self {
        Self {
            runs: SortedRuns::new(directory, "left".into()),
            logging: None,
            logs: Default::default(),
            begins: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Takes a packet that was decided. Returns whether its only frame is left without a status.
    pub(crate) fn take(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        fate: &Fate,
    ) -> bool {
        let (Some(first), Some(last)) = (observations.first(), observations.last()) else {
            return false;
        };
        let may_go_on = is_marked(&self.begins, direction, last.point);
        let is_left = may_go_on || is_marked(&self.ends, direction, first.point);
        let left = || Leftover::of(observations, direction, fate.lost, fate.has_entered);
        let is_told = fate.status != Status::Ambiguous;
        let Some(left) = is_left.then(left).flatten() else {
            self.log(first, direction, is_told);
            return false;
        };
        let mut left = left.with_copies(folded);
        left.is_lost_if_turned = !may_go_on && left.is_single() && left.lost.is_some();
        left.lost = left.lost.filter(|_| may_go_on);
        let is_open = fate.lost.is_some_and(|lost| lost.packets > 0);
        let is_directed = observations.iter().all(|one| one.directed);
        left.is_joinable = is_open && is_directed && is_known(observations, fate);
        if !left.is_joinable && left.lost.is_none() {
            self.log(first, direction, is_told);
            if left.may_begin() && is_marked(&self.ends, direction, first.point) {
                self.runs.push(left.record());
            }
            return false;
        }
        self.runs.push(left.record());
        left.is_uncounted()
    }

    /// Takes a packet with several receivers that was decided. Returns whether its only frame is left without
    /// a status.
    pub(crate) fn take_of_tree(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        tree: &TreeEnds,
        is_known: bool,
    ) -> bool {
        let left_of = |seen: &[Observation]| {
            Leftover::of(seen, direction, None, false).map(|left| left.with_copies(folded))
        };
        let is_only = observations.len() == 1 && is_known;
        for (at, (seen, branch)) in tree.missing.iter().enumerate() {
            if let Some(mut left) = left_of(seen) {
                left.lost = Some(Lost::whole(&left.last));
                left.branch = Some(*branch);
                left.is_joinable = is_known;
                left.is_shared = !is_only || at > 0 || !tree.behind.is_empty();
                self.runs.push(left.record());
            }
        }
        for part in tree.behind.iter().filter(|_| is_known) {
            if let Some(mut left) = left_of(part) {
                left.is_joinable = true;
                left.is_shared = part.len() < observations.len();
                self.runs.push(left.record());
            }
        }
        let is_left = !tree.behind.is_empty() && is_known;
        let is_whole = !is_left && tree.missing.is_empty();
        if let Some(first) = observations.first().filter(|_| is_whole) {
            self.log(first, direction, true);
        }
        is_only && !is_whole
    }

    /// Takes a loss of one of several equal packets, of which this one may stand for it.
    pub(crate) fn take_lost(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        lost: Lost,
        has_entered: bool,
    ) {
        let left = Leftover::of(observations, direction, Some(lost), has_entered);
        let left = left.filter(|one| is_marked(&self.begins, direction, one.last.point));
        if let Some(mut left) = left {
            left.told_by = ToldBy::EqualPackets;
            self.runs.push(left.record());
        }
    }

    fn log(&mut self, first: &Observation, direction: Direction, is_told: bool) {
        if let Some([decided, untold]) = &mut self.logging {
            let log = if is_told { decided } else { untold };
            log.write(first, direction);
        }
    }

    /// Nothing more is left.
    pub(crate) fn finish(mut self) -> Result<Self> {
        for (log, done) in self
            .logging
            .take()
            .into_iter()
            .flatten()
            .zip(&mut self.logs)
        {
            done.push(log.finish()?);
        }
        Ok(self)
    }

    /// Adds those of another partition.
    pub(crate) fn join(&mut self, other: Self) {
        self.runs.join(other.runs);
        for (logs, others) in self.logs.iter_mut().zip(other.logs) {
            logs.extend(others);
        }
    }

    /// Removes the files.
    pub(crate) fn remove(self) {
        self.runs.remove();
        for log in self.logs.into_iter().flatten() {
            // they lie in a folder that goes with the run
            let _ = std::fs::remove_file(log);
        }
    }
}

fn is_marked(marks: &[[Vec<bool>; 2]], direction: Direction, point: u16) -> bool {
    let of_route = marks.get(usize::from(direction.route()));
    let of_direction = of_route.and_then(|both| both.get(direction.index()));
    of_direction.and_then(|of| of.get(usize::from(point))) == Some(&true)
}

/// Whether it is known by itself, so that it may be a part of a packet of which another was seen at another
/// time: it is recognised by all of its bytes.
pub(crate) fn is_known(observations: &[Observation], fate: &Fate) -> bool {
    let is_decided = matches!(fate.status, Status::Matched | Status::Unmatched);
    let is_all = |one: &Observation| {
        !one.evidence.is(Evidence::SHORT) && !one.evidence.is(Evidence::FRAGMENT)
    };
    is_decided && observations.iter().all(is_all)
}
