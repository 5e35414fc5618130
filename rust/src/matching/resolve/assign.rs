//! Identical packets: walks the points, extending what can be told (posterior.rs).

use crate::matching::observation::Observation;
use crate::matching::resolve::density::{
    Density, copied_frac, densities_of_copies, density, goes_on,
};
use crate::matching::resolve::piece::Piece;
use crate::matching::resolve::posterior::{
    Candidate, LEAST_LOST, LEAST_PHANTOM, NO_DOUBT, Verdict, likely_pairs,
};
use crate::matching::resolve::train_delay::{TrainMember, shifted};
use crate::matching::resolve::trellis::MOST_FRAMES;
use crate::plan::{Band, Direction, Plan};
use std::ops::Range;

/// An unfinished trajectory: indices of its observations.
struct OpenTrajectory {
    observations: Vec<usize>,
    is_ended: bool,
    /// If it ended in doubt: how likely it went on, unknown in which frame.
    continued: f64,
}

/// Observations of one identity that are close together, several of them at one point.
pub(crate) struct Cluster<'a> {
    plan: &'a Plan,
    direction: Direction,
    crowd: Density,
    /// In order of place and time.
    observations: &'a [Observation],
    open: Vec<OpenTrajectory>,
    /// Points that were asked for all that came before.
    passed: Vec<u16>,
    is_doubtful: Vec<bool>,
    /// Observations that continue others, and how likely that is.
    likely: Vec<(usize, f64)>,
    /// Per observation, the density of copies there.
    copied: Vec<f64>,
}

impl<'a> Cluster<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        direction: Direction,
        crowd: Density,
        observations: &'a mut [Observation],
    ) -> Self {
        observations.sort_by_cached_key(|observation| {
            (
                plan.place(direction, observation.point),
                observation.aligned_ns,
                observation.frame,
            )
        });
        let is_doubtful = vec![false; observations.len()];
        Self {
            plan,
            direction,
            crowd,
            observations,
            open: Vec::new(),
            passed: Vec::new(),
            is_doubtful,
            likely: Vec::new(),
            copied: densities_of_copies(plan, observations),
        }
    }

    /// Makes pieces of trajectories of what the bands tell.
    pub(crate) fn assign(mut self, to: &mut Vec<Piece>) {
        let mut start = 0;
        for at_point in self.observations.chunk_by(|a, b| a.point == b.point) {
            let frames = start..start + at_point.len();
            start = frames.end;
            self.extend(frames);
            self.passed.extend(at_point.first().map(|one| one.point));
        }
        self.likely.sort_unstable_by_key(|(frame, _)| *frame);
        let is_doubtful = |index: Option<&usize>| {
            index.is_some_and(|index| self.is_doubtful.get(*index) == Some(&true))
        };
        let first_copied = |index: Option<&usize>| {
            let copied = index.and_then(|index| self.copied.get(*index));
            copied.copied().unwrap_or(0.0)
        };
        to.extend(self.open.iter().map(|one| {
            Piece {
                observations: one
                    .observations
                    .iter()
                    .filter_map(|index| self.told(*index))
                    .collect(),
                has_doubtful_start: is_doubtful(one.observations.first()),
                has_doubtful_end: one.is_ended,
                copied: first_copied(one.observations.first()),
            }
        }));
    }

    /// Offers the frames of one point to the open trajectories.
    fn extend(&mut self, frames: Range<usize>) {
        let contests = self.contests(&frames).into_iter();
        let (heaps, rest): (Vec<Contest>, _) = contests.partition(Contest::is_heap);
        let mut verdict = likely_pairs(&self.candidates(&rest, &frames));
        for heap in &heaps {
            heap.doubt(&mut verdict);
        }
        self.doubt_shifted(&frames, &mut verdict);
        self.likely.append(&mut verdict.likely);
        let mut is_taken = vec![false; frames.len()];
        for (one, frame) in verdict.pairs {
            match self.open.get_mut(one) {
                Some(one) if !one.is_ended => {
                    one.observations.push(frame);
                    mark(&mut is_taken, frame - frames.start);
                }
                _ => mark(&mut self.is_doubtful, frame),
            }
        }
        for (one, continued) in verdict.doubtful_open {
            let Some(one) = self.open.get_mut(one) else {
                continue;
            };
            one.is_ended = true;
            one.continued = one.continued.max(continued);
            one.observations
                .last()
                .iter()
                .for_each(|last| mark(&mut self.is_doubtful, **last));
        }
        let doubtful = verdict.doubtful_frames.iter();
        doubtful.for_each(|(frame, _)| mark(&mut self.is_doubtful, *frame));
        for (frame, _) in frames.zip(is_taken).filter(|(_, is_taken)| !is_taken) {
            self.open.push(OpenTrajectory {
                observations: vec![frame],
                is_ended: false,
                continued: 0.0,
            });
        }
    }

    /// An observation with what it is matched by.
    fn told(&self, index: usize) -> Option<Observation> {
        let mut observation = *self.observations.get(index)?;
        let found = self
            .likely
            .binary_search_by_key(&index, |(frame, _)| *frame);
        if let Some((_, likely)) = found.ok().and_then(|at| self.likely.get(at)) {
            observation.evidence.likely(*likely);
        }
        Some(observation)
    }

    fn last_of(&self, open: usize) -> Option<(usize, &Observation)> {
        let last = *self.open.get(open)?.observations.last()?;
        Some((last, self.observations.get(last)?))
    }

    fn observations_of(&self, open: usize) -> impl Iterator<Item = &Observation> {
        let open = self.open.get(open).map_or(&[][..], |one| &one.observations);
        open.iter().filter_map(|at| self.observations.get(*at))
    }

    /// Takes back what packets that were all late together would explain as well.
    fn doubt_shifted(&self, frames: &Range<usize>, verdict: &mut Verdict) {
        let doubtful = shifted(self.seen(frames, verdict), self.reach_ns(frames));
        let mut index = 0..;
        verdict.pairs.retain(|(open, frame)| {
            let is_doubtful = index
                .next()
                .is_some_and(|index| doubtful.binary_search(&index).is_ok());
            if is_doubtful {
                verdict.doubtful_open.push((*open, 1.0));
                verdict.doubtful_frames.push((*frame, 1.0));
            }
            !is_doubtful
        });
    }

    /// What was made of each open trajectory and each frame of a point: pairs, and what may be left.
    fn seen(&self, frames: &Range<usize>, verdict: &Verdict) -> Vec<TrainMember> {
        let at_ns = |frame: usize| {
            self.observations
                .get(frame)
                .map(|observation| observation.aligned_ns)
        };
        let up_ns = |open: usize| {
            self.last_of(open)
                .map(|(_, observation)| observation.aligned_ns)
        };
        let mut is_taken = vec![false; frames.len()];
        let mut goes_on: Vec<bool> = self.open.iter().map(|one| one.is_ended).collect();
        let mut seen = Vec::with_capacity(frames.len());
        for (index, (open, frame)) in verdict.pairs.iter().enumerate() {
            if let (Some(up_ns), Some(down_ns)) = (up_ns(*open), at_ns(*frame)) {
                seen.push(TrainMember::pair(index, up_ns, down_ns));
            }
            mark(&mut is_taken, frame - frames.start);
            mark(&mut goes_on, *open);
        }
        // those that only crossed each other are not left
        let is_sure = |share: &f64| *share >= 1.0 - NO_DOUBT;
        let opens = verdict.doubtful_open.iter();
        opens
            .filter(|(_, share)| is_sure(share))
            .for_each(|(open, _)| mark(&mut goes_on, *open));
        let doubtful = verdict.doubtful_frames.iter();
        doubtful
            .filter(|(_, share)| is_sure(share))
            .for_each(|(frame, _)| mark(&mut is_taken, frame - frames.start));
        let left = (0..).zip(goes_on).filter(|(_, goes_on)| !goes_on);
        seen.extend(left.filter_map(|(open, _)| up_ns(open).map(TrainMember::lost)));
        let free = frames.clone().zip(is_taken).filter(|(_, taken)| !taken);
        seen.extend(free.filter_map(|(frame, _)| at_ns(frame).map(TrainMember::phantom)));
        seen
    }

    /// The farthest from its usual time that any packet is expected at a point.
    fn reach_ns(&self, frames: &Range<usize>) -> (i64, i64) {
        let point = self
            .observations
            .get(frames.start)
            .map_or(0, |one| one.point);
        let before = self.observations.get(..frames.start).unwrap_or(&[]);
        let ups = before
            .chunk_by(|a, b| a.point == b.point)
            .filter_map(<[Observation]>::first);
        let bands = ups.filter_map(|up| self.plan.band(self.direction, up.point, point));
        bands.fold((0, 0), |(least, most), band| {
            (least.min(band.reach_ns.0), most.max(band.reach_ns.1))
        })
    }

    /// The open trajectories that may go on with the same frames of a point.
    fn contests(&self, frames: &Range<usize>) -> Vec<Contest> {
        let here = self.observations.get(frames.clone()).unwrap_or(&[]);
        let of_open = |open| {
            let reach = self.reach_of(open, here)?;
            let n_frames = self.n_frames(open, here.get(reach.clone())?);
            Some((reach.start, reach.end, open, n_frames))
        };
        let mut reaches: Vec<_> = (0..self.open.len()).filter_map(of_open).collect();
        reaches.sort_unstable();
        let mut found: Vec<Contest> = Vec::new();
        for (from, to, open, n_frames) in reaches {
            let reach = frames.start + from..frames.start + to;
            match found.last_mut() {
                Some(last) if reach.start < last.frames.end => last.add(open, reach, n_frames),
                _ => found.push(Contest::new(open, reach, n_frames)),
            }
        }
        found
    }

    /// As how many of the frames in its reach an open trajectory may go on, or more than can be told.
    fn n_frames(&self, open: usize, reach: &[Observation]) -> usize {
        /// So many are looked at: of more, nothing is told.
        const LOOKED_AT: usize = 8 * MOST_FRAMES;
        if reach.len() > LOOKED_AT {
            return reach.len();
        }
        let may_be = |down: &&Observation| self.observations_of(open).all(|one| one.may_be(down));
        reach.iter().filter(may_be).take(MOST_FRAMES + 1).count()
    }

    /// The places at a point of the observations that may go on with an open trajectory, if there are any.
    fn reach_of(&self, open: usize, here: &[Observation]) -> Option<Range<usize>> {
        let (_, up) = self.last_of(open)?;
        let band = self
            .plan
            .band(self.direction, up.point, here.first()?.point)?;
        let residual_ns = |down: &Observation| down.aligned_ns.saturating_sub(up.aligned_ns);
        let (least_ns, most_ns) = band.near_ns();
        let from = here.partition_point(|down| residual_ns(down) < least_ns);
        let to = here.partition_point(|down| residual_ns(down) <= most_ns);
        (from < to).then_some(from..to)
    }

    fn candidates(&self, contests: &[Contest], frames: &Range<usize>) -> Vec<Candidate> {
        let here = self.observations.get(frames.clone()).unwrap_or(&[]);
        let Some(point) = here.first().map(|observation| observation.point) else {
            return Vec::new();
        };
        if contests.is_empty() {
            return Vec::new();
        }
        let phantom_frac = self.plan.phantom_frac(self.direction, point);
        let n_here = (0..here.len()).map(|at| self.crowd.at(here, at));
        let n_here: Vec<f64> = n_here.collect();
        let mut opens: Vec<usize> = contests
            .iter()
            .flat_map(|one| one.opens.iter().copied())
            .collect();
        opens.sort_unstable();
        let mut found = Vec::new();
        for open in opens {
            let all = self.candidates_of(open, (frames.start, here), (phantom_frac, &n_here));
            found.extend(all.into_iter().flatten());
        }
        self.put_in_order(point, &mut found);
        found
    }

    /// The observations at a point, the first of them at `from`, that may go on with an open trajectory;
    /// with the density of all about each of them.
    fn candidates_of(
        &self,
        open: usize,
        (from, here): (usize, &[Observation]),
        (phantom_frac, n_here): (f64, &[f64]),
    ) -> Option<impl Iterator<Item = Candidate>> {
        let point = here.first()?.point;
        let (last, up) = self.last_of(open)?;
        let band = self.plan.band(self.direction, up.point, point)?;
        let goes_on = goes_on(self.plan, self.direction, &self.passed, (up.point, point))
            * (1.0 - self.open.get(open)?.continued).max(LEAST_LOST);
        let residual_ns = |down: &Observation| down.aligned_ns.saturating_sub(up.aligned_ns);
        let gone = (band.lost_frac.max(LEAST_LOST) + band.far_frac)
            .max(self.copied_frac(last))
            .max(1.0 - goes_on);
        let phantom = phantom_frac.max(LEAST_PHANTOM) + band.far_frac;
        let candidate = move |(at, down): (usize, &Observation)| Candidate {
            open,
            frame: from + at,
            weight: density(band, residual_ns(down)) * goes_on,
            lost: gone,
            phantom: phantom * n_here.get(at).copied().unwrap_or(0.0)
                + self.copied.get(from + at).copied().unwrap_or(0.0),
            overtaken: band.overtaken(),
            sent_ns: up.aligned_ns,
            is_ordered: false,
        };
        let reach = self.reach_of(open, here)?;
        let admitted = reach
            .clone()
            .zip(here.get(reach)?)
            .filter(move |(_, down)| self.observations_of(open).all(|one| one.may_be(down)));
        Some(admitted.map(candidate))
    }

    /// Orders are known of what was seen at one point: the one that saw most of what may go on.
    fn put_in_order(&self, point: u16, found: &mut [Candidate]) {
        let mut likely: Vec<(u16, f64)> = self.passed.iter().map(|point| (*point, 0.0)).collect();
        for one in found.chunk_by(|a, b| a.open == b.open) {
            let Some(first) = one.first() else { continue };
            let weight = 1.0 - first.lost;
            for observation in self.observations_of(first.open) {
                let here = likely
                    .iter_mut()
                    .find(|(point, _)| *point == observation.point);
                if let Some((_, sum)) = here {
                    *sum += weight;
                }
            }
        }
        let most = likely.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((there, _)) = most else { return };
        let band = self.plan.band(self.direction, there, point);
        let least = band.map_or(1.0, Band::overtaken);
        for one in found {
            let mut observations = self.observations_of(one.open);
            if let Some(observation) = observations.find(|observation| observation.point == there) {
                (one.sent_ns, one.is_ordered) = (observation.aligned_ns, true);
                one.overtaken = one.overtaken.max(least);
            }
        }
    }

    fn copied_frac(&self, observation: usize) -> f64 {
        let copied = self.copied.get(observation).copied().unwrap_or(0.0);
        let one = self.observations.get(observation);
        one.map_or(0.0, |one| copied_frac(self.plan, one, copied))
    }
}

/// Open trajectories, each of which may go on with frames that another may go on with too.
struct Contest {
    opens: Vec<usize>,
    frames: Range<usize>,
    /// As many frames as one of them may go on with, at most.
    most_frames: usize,
}

impl Contest {
    fn new(open: usize, frames: Range<usize>, most_frames: usize) -> Self {
        Self {
            opens: vec![open],
            frames,
            most_frames,
        }
    }

    fn add(&mut self, open: usize, frames: Range<usize>, n_frames: usize) {
        self.opens.push(open);
        self.most_frames = self.most_frames.max(n_frames);
        self.frames.end = self.frames.end.max(frames.end);
    }

    /// Nothing can be told: not even the candidates are worth being listed.
    fn is_heap(&self) -> bool {
        self.most_frames > MOST_FRAMES
    }

    /// Each of them may go on or not, nobody knows where.
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    fn doubt(&self, verdict: &mut Verdict) {
        const EVEN: f64 = 0.5;
        let of_frame = EVEN * self.opens.len() as f64 / self.frames.len() as f64;
        let opens = self.opens.iter();
        verdict
            .doubtful_open
            .extend(opens.map(|open| (*open, EVEN)));
        let frames = self.frames.clone();
        verdict
            .doubtful_frames
            .extend(frames.map(|frame| (frame, of_frame)));
    }
}

fn mark(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

#[cfg(test)]
mod tests;
